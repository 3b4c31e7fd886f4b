//go:build unix

package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/fault"
)

// role names, in the environment, what this test binary is to be.
const role = "MCPX_TEST_ROLE"

var roles = map[string]func(){
	// A program that starts a child of its own and reports it, until it is killed.
	"parent": func() {
		p, err := Start(Spec{Path: os.Args[1], Args: os.Args[2:], Env: os.Environ(), Stdout: os.Stdout})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.Pid())
		time.Sleep(time.Hour)
	},
	// A program that ends at once when its child has told of a child of its own.
	"hasty": func() {
		r, w, _ := os.Pipe()
		if _, err := Start(Spec{Path: "/bin/sh", Args: os.Args[1:], Env: os.Environ(), Stdout: w}); err != nil {
			fmt.Println(err)
			return
		}
		pid, _ := bufio.NewReader(r).ReadString('\n')
		fmt.Print(pid)
		KillAll()
		os.Exit(0)
	},
	// A program that starts itself where there is nothing but itself.
	"empty root": func() {
		r, w, _ := os.Pipe()
		p, err := Start(Spec{Path: "/self", Env: []string{role + "=hello"}, Stdout: w})
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = w.Close()
		out, _ := io.ReadAll(r)
		<-p.Done()
		fmt.Printf("%s, and %s", out, Ended(p.State()))
	},
	"hello": func() {
		in, err := io.ReadAll(os.Stdin)
		_, errErr := fmt.Fprintln(os.Stderr, "discarded")
		fmt.Printf("hello, stdin %q %v, stderr %v, %d variables", in, err, errErr, len(os.Environ()))
		os.Exit(3)
	},
}

func TestMain(m *testing.M) {
	Dispatch(os.Args[1:])
	if name, ok := os.LookupEnv(role); ok {
		_ = os.Unsetenv(role)
		roles[name]()
		return
	}
	os.Exit(m.Run())
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shell starts a shell script; its standard output comes line by line.
func shell(t *testing.T, script string, stdin *os.File) (*Process, *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(Spec{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}, Stdin: stdin, Stdout: w})
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		<-p.Done()
		_ = r.Close()
	})
	return p, bufio.NewReader(r)
}

func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	s, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("reading the child's output: %v", err)
	}
	return strings.TrimSpace(s)
}

// gone waits until a process is dead. One that nobody reaps counts as dead.
func gone(pid int) bool {
	for range 3000 {
		if syscall.Kill(pid, 0) != nil || zombie(pid) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func zombie(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, ok := strings.Cut(string(stat), ") ")
	return ok && state[0] == 'Z'
}

func TestEndedSaysHow(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"exit 0":        "exited with code 0",
		"exit 3":        "exited with code 3",
		"kill -KILL $$": "was killed by SIGKILL",
		"kill -TERM $$": "was killed by SIGTERM",
	} {
		p, _ := shell(t, script, nil)
		<-p.Done()
		if got := Ended(p.State()); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
		signal, _ := strings.CutPrefix(want, "was killed by ")
		if signal == want {
			signal = ""
		}
		if got := Signal(p.State()); got != signal {
			t.Errorf("%s: Signal = %q, want %q", script, got, signal)
		}
	}
	if got := Ended(nil) + Signal(nil); got != "ended" {
		t.Errorf("nobody knows how it ended, and yet: %s", got)
	}
}

func TestStateIsUnknownWhileTheProcessRuns(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p, _ := shell(t, "read x", in)
	if st := p.State(); st != nil {
		t.Errorf("State = %v", st)
	}
	_ = out.Close()
	p.End(20 * time.Second)
	if got := Ended(p.State()); got != "exited with code 1" {
		t.Errorf("the shell %s, want it to leave when its input ends", got)
	}
}

func TestStreamsThatAreNotGivenAreEmptyAndDiscarded(t *testing.T) {
	t.Parallel()
	p, out := shell(t, `cat; yes 0123456789 | head -c 1000000 >&2 && echo whole`, nil)
	if got := line(t, out); got != "whole" {
		t.Errorf("the shell said %q", got)
	}
	<-p.Done()
}

func TestExtraFilesAndNothingElseAreInherited(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("lists descriptors by /proc")
	}
	t.Parallel()
	extra, err := os.CreateTemp(t.TempDir(), "extra")
	if err != nil {
		t.Fatal(err)
	}
	defer extra.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := Start(Spec{
		Path: "/bin/sh", Args: []string{"-c", `for f in /proc/self/fd/*; do readlink $f; done >&3; echo >&3`},
		Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: w, Extra: []*os.File{extra},
	})
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	list, err := os.ReadFile(extra.Name())
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	for f := range strings.FieldsSeq(string(list)) {
		if f != extra.Name() && !strings.HasPrefix(f, "pipe:") && !strings.HasPrefix(f, "/proc/") {
			others = append(others, f)
		}
	}
	if !bytes.Contains(list, []byte(extra.Name())) || len(others) > 0 {
		t.Errorf("the child has %q", list)
	}
	pipes := map[string]bool{}
	for f := range strings.FieldsSeq(string(list)) {
		if strings.HasPrefix(f, "pipe:") {
			pipes[f] = true
		}
	}
	if len(pipes) > 3 { // its own three; a pipe of ours would be one more
		t.Errorf("the child has pipes of its parent: %q", list)
	}
}

func TestEndEscalates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		trap, want string
		grace      time.Duration
	}{
		{``, "was killed by SIGTERM", 20 * time.Second},
		{`trap "exit 7" TERM;`, "exited with code 7", 20 * time.Second},
		{`trap "" TERM;`, "was killed by SIGKILL", 200 * time.Millisecond},
	} {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			p, out := shell(t, tt.trap+`echo ready; while :; do sleep 0.05; done`, nil)
			line(t, out)
			p.End(tt.grace)
			if got := Ended(p.State()); got != tt.want {
				t.Errorf("with %q it %s, want that it %s", tt.trap, got, tt.want)
			}
		})
	}
}

// A launcher ends; what it started ignores everything but SIGKILL.
func TestTheRestOfTheGroupDiesWithItsLeader(t *testing.T) {
	t.Parallel()
	const family = `sh -c 'trap "" TERM HUP INT; echo $$; exec >&-; while :; do sleep 0.1; done' & `
	for _, tt := range []struct {
		name, script string
		end          func(p *Process)
	}{
		{"ended", family + "wait", func(p *Process) { p.End(200 * time.Millisecond) }},
		{"killed", family + "wait", func(p *Process) { p.Kill() }},
		{"gone by itself", family + "read x", func(*Process) {}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			p, lines := shell(t, tt.script, in)
			pid, err := strconv.Atoi(line(t, lines))
			if err != nil {
				t.Fatal(err)
			}
			_ = out.Close()
			tt.end(p)
			<-p.Done()
			if !gone(pid) {
				t.Errorf("process %d of the group is still there", pid)
			}
			p.Kill() // touches nobody any more
		})
	}
}

func TestProcessesAreLetGoOf(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			p, err := Start(Spec{Path: "/bin/sh", Args: []string{"-c", "exit 0"}})
			if err != nil {
				t.Error(err)
				return
			}
			<-p.Done()
			if syscall.Kill(p.Pid(), 0) == nil && zombie(p.Pid()) {
				t.Errorf("process %d was not reaped", p.Pid())
			}
		})
	}
	wg.Wait()
}

func TestStartErrorsNameWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		name       string
		spec       Spec
		want, hint string
	}{
		{"no file", Spec{Path: dir + "/none"}, "cannot start " + dir + "/none: no such file or directory", "check the path"},
		{"no directory", Spec{Path: "/bin/sh", Dir: dir + "/none"}, "cannot start /bin/sh in " + dir + "/none: no such directory", "cwd"},
		{"not executable", Spec{Path: file("plain", "x", 0o600)}, "cannot start " + dir + "/plain: permission denied", "chmod +x"},
		{"no interpreter", Spec{Path: file("script", "#!/no/such/node --x\nx", 0o700)}, "cannot start " + dir + "/script: its interpreter is missing (#!/no/such/node --x)", "interpreter"},
		{"no program", Spec{Path: file("data", "\x00\x01\x02", 0o700)}, "cannot start " + dir + "/data: exec format error", "architecture"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Start(tt.spec)
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != fault.Unavailable || e.Message != tt.want || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("error = %#v, want %q with a hint of %q", err, tt.want, tt.hint)
			}
		})
	}
}

func TestWhatTheSystemRefusesIsNoFaultOfTheFile(t *testing.T) {
	t.Parallel()
	for cause, hint := range map[error]string{
		os.NewSyscallError("pipe2", syscall.EMFILE):                                            "ulimit -n",
		&os.PathError{Op: "fork/exec", Path: "/bin/sh", Err: syscall.ENFILE}:                   "ulimit -n",
		&os.PathError{Op: "fork/exec", Path: "/bin/sh", Err: syscall.EAGAIN}:                   "ulimit -u",
		&os.PathError{Op: "fork/exec", Path: "/bin/sh", Err: syscall.EPERM}:                    "forbids it",
		&os.PathError{Op: "fork/exec", Path: "/bin/sh", Err: fmt.Errorf("%w", syscall.EACCES)}: "chmod +x",
	} {
		var e *fault.Error
		if err := startError("/bin/sh", cause); !errors.As(err, &e) || e.Kind != fault.Unavailable || !strings.Contains(e.Hint, hint) {
			t.Errorf("startError(%v) = %v, want a hint of %q", cause, err, hint)
		}
	}
}

func TestChildrenDieWithTheirParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no parent-death signal here")
	}
	t.Parallel()
	cmd := exec.Command(self(t), "/bin/sh", "-c", "trap '' TERM HUP; while :; do sleep 1; done")
	cmd.Env = append(slices.Clone(os.Environ()), role+"=parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(line(t, bufio.NewReader(out)))
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !gone(pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d outlived its parent", pid)
	}
}

func TestKillAllReachesTheChildrenOfChildren(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(self(t), "-c", `trap "" TERM HUP INT; sh -c 'trap "" TERM HUP INT; echo $$; exec >&-; while :; do sleep 0.1; done' & wait`)
	cmd.Env = append(slices.Clone(os.Environ()), role+"=hasty")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	if !gone(pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d outlived the program", pid)
	}
}

func TestASignalIsForTheChildAlone(t *testing.T) {
	t.Parallel()
	p, lines := shell(t, `trap 'echo caught; exit 4' USR1; sh -c 'trap "echo wrong" USR1; echo up; while :; do sleep 0.05; done' & while :; do sleep 0.05; done`, nil)
	if got := line(t, lines); got != "up" {
		t.Fatalf("wrote %q", got)
	}
	if !p.Send(syscall.SIGUSR1) {
		t.Error("there was nobody to take the signal")
	}
	if got := line(t, lines); got != "caught" {
		t.Errorf("wrote %q", got)
	}
	<-p.Done()
	if p.Send(syscall.SIGUSR1) {
		t.Error("a child that is gone took a signal")
	}
}

func TestAProgramIsCalledAsItsStarterSays(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := Start(Spec{Path: "/bin/sh", Name: "own", Args: []string{"-c", "echo $0"}, Stdout: w})
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if got := line(t, bufio.NewReader(r)); got != "own" {
		t.Errorf("it is called %q", got)
	}
	<-p.Done()
}

// The parent-death signal is one of threads; the end of the thread that asked for a
// child must not be the child's.
func TestChildrenOutliveTheThreadThatAskedForThem(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	started := make(chan *Process, 1)
	go func() {
		runtime.LockOSThread() // and never unlock it: the thread ends with the goroutine
		p, err := Start(Spec{Path: "/bin/sh", Args: []string{"-c", "read x; exit 5"}, Stdin: in})
		if err != nil {
			t.Error(err)
		}
		started <- p
	}()
	p := <-started
	if p == nil {
		return
	}
	select {
	case <-p.Done():
		t.Errorf("the child %s", Ended(p.State()))
	case <-time.After(300 * time.Millisecond):
	}
	_, _ = out.Write([]byte("x\n"))
	<-p.Done()
	if got := Ended(p.State()); got != "exited with code 5" {
		t.Errorf("the child %s", got)
	}
}

func TestProcessesStartInAnEmptyRoot(t *testing.T) {
	if os.Getuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("only root may change its root directory")
	}
	t.Parallel()
	dir := t.TempDir()
	program, err := os.ReadFile(self(t))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(program, []byte("ld-linux")) && bytes.Contains(program, []byte("libc.so.6")) {
		t.Skip("the test binary is not static; it is with CGO_ENABLED=0")
	}
	if out, err := exec.Command("cp", self(t), filepath.Join(dir, "self")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command("/self")
	cmd.Env = []string{role + "=empty root"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: dir}
	out, err := cmd.CombinedOutput()
	want := `hello, stdin "" <nil>, stderr <nil>, 0 variables, and exited with code 3`
	if err != nil || string(out) != want {
		t.Errorf("output %q, %v, want %q", out, err, want)
	}
}

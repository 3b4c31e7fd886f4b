//go:build unix

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/process"
)

// TestMain is also what the children of these tests run.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "child" {
		os.Exit(child(os.Args[2]))
	}
	os.Exit(m.Run())
}

// surroundings is what a child finds.
type surroundings struct {
	Env   []string
	Dir   string
	Files []string
	Stdin string
}

func child(act string) int {
	if act == "startedBy" {
		path, err := startedBy()
		fmt.Print(path, err)
		return 0
	}
	socket, err := Inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	if done, code := childOfSystem(act, socket); done {
		return code
	}
	switch act {
	case "look":
		var s surroundings
		s.Env = os.Environ()
		s.Dir, _ = os.Getwd()
		if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
			for _, e := range entries {
				to, _ := os.Readlink("/proc/self/fd/" + e.Name())
				if !ofTheRuntime(to) {
					s.Files = append(s.Files, e.Name())
				}
			}
		}
		in, err := io.ReadAll(os.Stdin)
		s.Stdin = fmt.Sprint(len(in), err)
		_ = json.NewEncoder(socket).Encode(s)
	case "echo":
		_, _ = io.Copy(socket, socket)
	case "noise":
		_, _ = fmt.Fprint(os.Stderr, "the first words")
		_, _ = os.Stdout.Write(make([]byte, 1<<20))
		return 3
	case "hang":
		_, _ = socket.Write([]byte("x"))
		time.Sleep(time.Hour) // not select: Go calls that a deadlock and ends the process
	}
	return 0
}

// ofTheRuntime reports whether a descriptor was not inherited but opened by Go itself:
// its poller, the processor limits that it watches, the directory being read.
func ofTheRuntime(to string) bool {
	return to == "" || strings.HasPrefix(to, "anon_inode:") || strings.HasPrefix(to, "/sys/fs/cgroup/") ||
		strings.HasPrefix(to, "/proc/")
}

func spawn(t testing.TB, act string) *Child {
	t.Helper()
	self, err := Program()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Spawn(self, "child", act)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestAChildInheritsThreeStreamsAndASocket(t *testing.T) {
	t.Parallel()
	// Something to inherit by mistake: a descriptor as a shell would leave it.
	left, err := syscall.Open(os.Args[0], syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(left)
	seal()
	var got surroundings
	if err := json.NewDecoder(spawn(t, "look")).Decode(&got); err != nil {
		t.Fatal(err)
	}
	for _, e := range got.Env {
		if (!strings.HasPrefix(e, "GORACE=") || !raceDetector) && (e != "MALLOC_ARENA_MAX=1" || !throughC) {
			t.Errorf("the child's environment has %s, want nothing", e)
		}
	}
	if got.Dir != "/" {
		t.Errorf("the child works in %s, want /", got.Dir)
	}
	if want := "0 1 2 3"; runtime.GOOS == "linux" && strings.Join(got.Files, " ") != want {
		t.Errorf("the child has descriptors %v, want %s", got.Files, want)
	}
	if want := "0 <nil>"; got.Stdin != want {
		t.Errorf("the child's standard input is %s, want %s", got.Stdin, want)
	}
}

func TestTheSocketGoesBothWays(t *testing.T) {
	t.Parallel()
	c := spawn(t, "echo")
	message := strings.Repeat("there and back ", 100000)
	go func() { _, _ = io.WriteString(c, message) }()
	got := make([]byte, len(message))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != message {
		t.Errorf("what came back differs from what was sent: %v", err)
	}
}

func TestTheFirstWordsOfADyingChildAreKept(t *testing.T) {
	t.Parallel()
	state, words := spawn(t, "noise").Ended()
	if got, want := process.Ended(state), "exited with code 3"; got != want {
		t.Errorf("the child %s, want %s", got, want)
	}
	if !strings.HasPrefix(words, "the first words") || len(words) != maxNoise {
		t.Errorf("%d bytes were kept, beginning %.20q, want %d, beginning %q", len(words), words, maxNoise, "the first words")
	}
}

func TestAKilledChildIsTheEndOfItsSocket(t *testing.T) {
	t.Parallel()
	c := spawn(t, "hang")
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	c.Kill()
	if n, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("Read() = %d, %v, want the end", n, err)
	}
	if state, _ := c.Ended(); process.Ended(state) != "was killed by SIGKILL" {
		t.Errorf("the child %s, want it killed", process.Ended(state))
	}
}

func TestSpawnSaysWhichProgramIsMissing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gone")
	c, err := Spawn(path, "child", "look")
	if c != nil || fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), path) {
		t.Errorf("Spawn(%s) = %v, %v, want an error of kind unavailable that names it", path, c, err)
	}
}

// Not parallel: it counts what the whole process has open.
func TestCloseLeavesNothingBehind(t *testing.T) {
	spawn(t, "hang").Close() // what is made once a process is made now
	files, routines := openFiles(t), runtime.NumGoroutine()
	for range 10 {
		for _, act := range []string{"hang", "noise", "echo", "look"} {
			spawn(t, act).Close()
		}
		if _, err := Spawn("/nowhere/gone"); err == nil {
			t.Error("Spawn of a file that does not exist = nil, want an error")
		}
	}
	settle(t, "descriptors", files, func() int { return openFiles(t) })
	settle(t, "goroutines", routines, runtime.NumGoroutine)
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(entries)
}

// settle waits until count is at most want: what ends may take its time to be gone.
func settle(t *testing.T, what string, want int, count func() int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); count() > want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d %s are left, want %d", count(), what, want)
		}
	}
}

func TestProgramIsThisFile(t *testing.T) {
	t.Parallel()
	self, err := Program()
	if err != nil {
		t.Fatal(err)
	}
	sameFile(t, self, os.Args[0])
}

func TestTheProgramKnowsItsPathWithoutProc(t *testing.T) {
	t.Parallel()
	dir, name := filepath.Split(os.Args[0])
	link := filepath.Join(t.TempDir(), "by another name")
	if err := os.Symlink(os.Args[0], link); err != nil {
		t.Skip(err)
	}
	for _, tt := range []struct{ path, dir string }{
		{os.Args[0], "/"},
		{"./" + name, dir},
		{link, "/"},
	} {
		cmd := exec.Command(tt.path, "child", "startedBy")
		cmd.Dir = tt.dir
		cmd.Args[0] = "a lie"
		out, err := cmd.Output()
		got, ok := strings.CutSuffix(string(out), "<nil>")
		if err != nil || !ok {
			t.Fatalf("started as %s: %s, %v", tt.path, out, err)
		}
		if !filepath.IsAbs(got) {
			got = filepath.Join(tt.dir, got)
		}
		sameFile(t, got, os.Args[0])
	}
}

func sameFile(t *testing.T, got, want string) {
	t.Helper()
	a, err := os.Stat(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.Stat(want)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(a, b) {
		t.Errorf("%s is not %s", got, want)
	}
}

func TestAPathThatDoesNotExistIsSaid(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gone")
	if got, err := absolute(path); fault.KindOf(err) != fault.Unavailable || fault.From(err).Hint == "" {
		t.Errorf("absolute(%s) = %q, %v, want an error of kind unavailable with a hint", path, got, err)
	}
}

func TestInheritedWithoutASocketSaysWhatToDo(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(os.Args[0], "child", "look").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "a worker is started by mcpx itself") {
		t.Errorf("a child without a socket said %q, %v", out, err)
	}
}

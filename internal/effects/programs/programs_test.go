//go:build linux

package programs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

var environ = []string{
	"PATH=" + os.Getenv("PATH"), "HOME=/home/me", "LANG=C", "MCPX_TOKEN=secret", "PROBE_TOKEN=secret", "LD_LIBRARY_PATH=/opt/lib", "SSH_AUTH_SOCK=/secret", "=odd",
}

// open makes the programs of a run in dir.
func open(t *testing.T, dir, allow string, files *grant.Files) *Programs {
	t.Helper()
	gate, err := grant.OpenPrograms(grant.Words{Allow: strings.Fields(allow)})
	if err != nil {
		t.Fatal(err)
	}
	p := New(gate, files, dir, environ)
	t.Cleanup(p.Close)
	return p
}

// answer is the head of every answer.
type answer struct {
	ID, PID int64
	End     bool
	Sent    bool
	Code    *int
	Signal  string
}

func call(t *testing.T, p *Programs, op string, head any, body []byte) (answer, []byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return callUntil(ctx, p, op, head, body)
}

func callUntil(ctx context.Context, p *Programs, op string, head any, body []byte) (a answer, out []byte, err error) {
	text, err := json.Marshal(head)
	if err != nil {
		return a, nil, err
	}
	raw, out, err := p.Call(ctx, op, text, body)
	if err == nil && raw != nil {
		err = json.Unmarshal(raw, &a)
	}
	return a, out, err
}

// all reads an output to its end.
func all(t *testing.T, p *Programs, id int64, stream int) string {
	t.Helper()
	var text strings.Builder
	for {
		a, b, err := call(t, p, "run.read", request{ID: id, Stream: stream, Max: 1 << 20}, nil)
		if err != nil || len(b) == 0 && !a.End {
			t.Fatalf("reading: %v, %+v, %d bytes", err, a, len(b))
		}
		text.Write(b)
		if a.End {
			return text.String()
		}
	}
}

// run runs a program to its end, without input.
func run(t *testing.T, p *Programs, r request) (stdout string, end answer, err error) {
	t.Helper()
	r.Stdout = true
	if r.Argv0 == "" {
		r.Argv0 = strings.ReplaceAll(filepath.Base(r.File), "\x00", "")
	}
	a, _, err := call(t, p, "run.start", r, nil)
	if err != nil {
		return "", a, err
	}
	stdout = all(t, p, a.ID, 1)
	end, _, err = call(t, p, "run.wait", request{ID: a.ID}, nil)
	return stdout, end, err
}

// gone waits until a process has ended. One that nobody waits for yet has ended, too.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return
		}
		if _, state, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(state, "Z") {
			return
		}
	}
	t.Errorf("process %d is left", pid)
}

func pids(t *testing.T, text string) []int {
	t.Helper()
	var list []int
	for word := range strings.FieldsSeq(text) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatalf("%q is no process", word)
		}
		list = append(list, pid)
	}
	return list
}

func TestAProgramFromItsStartToItsEnd(t *testing.T) {
	t.Parallel()
	p := open(t, "/", "/bin/sh", nil)
	a, _, err := call(t, p, "run.start", request{File: "sh", Argv0: "own/sh", Args: []string{"-c", `cat; echo "$0" >&2; exit 3`}, Stdin: true, Stdout: true, Stderr: true}, nil)
	if err != nil || a.PID == 0 {
		t.Fatalf("%v, %+v", err, a)
	}
	big := strings.Repeat("0123456789", 50_000)
	wrote := make(chan error)
	go func() {
		for i := range 4 {
			if _, _, err := callUntil(t.Context(), p, "run.write", request{ID: a.ID, End: i == 3}, []byte(big)); err != nil {
				wrote <- err
				return
			}
		}
		wrote <- nil
	}()
	if got := all(t, p, a.ID, 1); got != strings.Repeat(big, 4) {
		t.Errorf("%d bytes came back, want %d", len(got), 4*len(big))
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	if got := all(t, p, a.ID, 2); got != "own/sh\n" {
		t.Errorf("the program is called %q", got)
	}
	end, _, err := call(t, p, "run.wait", request{ID: a.ID}, nil)
	if err != nil || end.Code == nil || *end.Code != 3 {
		t.Errorf("%v, %+v, want the code 3", err, end)
	}
	if len(p.running) != 0 {
		t.Error("it is not forgotten")
	}
	if a, _, err := call(t, p, "run.kill", request{ID: a.ID, Signal: "SIGTERM"}, nil); err != nil || a.Sent {
		t.Errorf("a signal to a program that is over: %v, %+v", err, a)
	}
	if _, _, err := call(t, p, "run.read", request{ID: a.ID, Stream: 1, Max: 1}, nil); err == nil {
		t.Error("a program that is over has an output")
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	p := open(t, "/", "/bin/sleep /bin/sh", nil)
	names := []string{"SIGTERM", "SIGKILL", "SIGINT", "SIGUSR1"}
	if !signal.Ignored(syscall.SIGHUP) { // nohup has programs ignore it, and theirs as well
		names = append(names, "SIGHUP")
	}
	for _, name := range names {
		a, _, err := call(t, p, "run.start", request{File: "/bin/sleep", Argv0: "sleep", Args: []string{"300"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if probe, _, err := call(t, p, "run.kill", request{ID: a.ID, Signal: "0"}, nil); err != nil || !probe.Sent {
			t.Errorf("%v, %+v, want it to be there", err, probe)
		}
		if _, _, err := call(t, p, "run.kill", request{ID: a.ID, Signal: "SIGNOTHING"}, nil); fault.KindOf(err) != fault.Usage {
			t.Errorf("an unknown signal: %v", err)
		}
		if sent, _, err := call(t, p, "run.kill", request{ID: a.ID, Signal: name}, nil); err != nil || !sent.Sent {
			t.Errorf("%s: %v, %+v", name, err, sent)
		}
		if end, _, err := call(t, p, "run.wait", request{ID: a.ID}, nil); err != nil || end.Signal != name {
			t.Errorf("%s: %v, %+v", name, err, end)
		}
	}
	// The program decides what a signal means.
	a, _, err := call(t, p, "run.start", request{File: "sh", Args: []string{"-c", "trap 'echo caught; exit 7' TERM; echo ready; while :; do sleep 0.01; done"}, Stdout: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, b, err := call(t, p, "run.read", request{ID: a.ID, Stream: 1, Max: 100}, nil); err != nil || string(b) != "ready\n" {
		t.Fatalf("%v, %q", err, b)
	}
	if _, _, err := call(t, p, "run.kill", request{ID: a.ID, Signal: "SIGTERM"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := all(t, p, a.ID, 1); got != "caught\n" {
		t.Errorf("wrote %q", got)
	}
}

func TestWhatIsNotGrantedIsNotStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lookalike := filepath.Join(dir, "echo")
	if err := os.WriteFile(lookalike, []byte("#!/bin/sh\necho lookalike\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := open(t, dir, "/bin/echo", nil)
	for _, file := range []string{"/bin/../bin/sh", "/bin/sh", "sh", "./echo", lookalike, "/bin/echo\x00sh", "/bin/echo /bin/sh", "ECHO", "/proc/self/exe", "/bin/echo/../sh", ""} {
		_, _, err := run(t, p, request{File: file, Args: []string{"-c", "true"}, Env: map[string]string{"PATH": dir}})
		if kind := fault.KindOf(err); kind != fault.Denied {
			t.Errorf("%q: %v, want a denial", file, err)
		}
	}
	// Neither PATH nor the working directory have a part in what a name means.
	out, _, err := run(t, p, request{File: "echo", Args: []string{"-c", "true"}, Env: map[string]string{"PATH": dir}})
	if err != nil || out != "-c true\n" {
		t.Errorf("echo wrote %q, %v", out, err)
	}
	for _, r := range []request{{Args: []string{"a\x00b"}}, {Argv0: "a\x00b"}, {Cwd: "a\x00b"}, {Env: map[string]string{"A": "\x00"}}, {Env: map[string]string{"A=B": "c"}}, {Env: map[string]string{"": "c"}}} {
		r.File = "/bin/echo"
		if _, _, err := run(t, p, r); fault.KindOf(err) != fault.Usage {
			t.Errorf("%+v: %v, want an error of the kind usage", r, err)
		}
	}
	for _, op := range []string{"run.read", "run.write", "run.wait", "run.other"} {
		if _, _, err := call(t, p, op, request{ID: 99}, nil); err == nil {
			t.Errorf("%s of nothing is answered", op)
		}
	}
	if _, _, err := p.Call(t.Context(), "run.start", []byte(`{"args":5}`), nil); fault.KindOf(err) != fault.Internal {
		t.Errorf("a malformed head: %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	env := func(p *Programs, r request) []string {
		t.Helper()
		r.File = "/usr/bin/env"
		out, _, err := run(t, p, r)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(out)
	}
	one, every := open(t, "/", "/usr/bin/env", nil), open(t, "/", "*", nil)
	path := "PATH=" + os.Getenv("PATH")
	for _, tt := range []struct {
		name string
		p    *Programs
		r    request
		want []string
	}{
		{"the script's own", one, request{Env: map[string]string{"B": "2", "A": "1"}}, []string{"A=1", "B=2"}},
		{"none", one, request{Env: map[string]string{}}, nil},
		{"what every program needs", one, request{Inherit: true}, []string{"HOME=/home/me", "LANG=C", path}},
		{"besides the script's process.env", one, request{Inherit: true, Env: map[string]string{"HOME": "/own", "A": "1"}}, []string{"A=1", "HOME=/own", "LANG=C", path}},
		{"mcpx's variables are not handed on", one, request{Env: map[string]string{"MCPX_TOKEN": "secret", "mcpx_x": "1", "A": "1"}}, []string{"A=1"}},
		{"a loader's variable as the caller has it", one, request{Env: map[string]string{"LD_LIBRARY_PATH": "/opt/lib"}}, []string{"LD_LIBRARY_PATH=/opt/lib"}},
		{"with every program, everything", every, request{Env: map[string]string{"MCPX_X": "1", "LD_X": "2"}}, []string{"LD_X=2", "MCPX_X=1"}},
	} {
		got := env(tt.p, tt.r)
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, name := range []string{"LD_PRELOAD", "LD_LIBRARY_PATH", "ld_preload", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "GCONV_PATH", "BASH_ENV", "BASH_FUNC_ls%%", "OPENSSL_CONF", "NODE_OPTIONS", "ZDOTDIR", "LUA_INIT_5_4", "PHPRC", "PYTHONUSERBASE", "PYTHONWARNINGS"} {
		_, _, err := run(t, one, request{File: "/usr/bin/env", Env: map[string]string{name: "/tmp/evil.so"}})
		if fault.KindOf(err) != fault.Denied || !strings.Contains(fault.From(err).Message, name) {
			t.Errorf("%s: %v, want a denial", name, err)
		}
	}
}

func TestAProgramIsNotCalledByTheNameOfAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"sh", "/bin/sh", "-sh", "busybox"} {
		_, _, err := run(t, open(t, dir, "/bin/cat", nil), request{File: "/bin/cat", Args: []string{"/dev/null"}, Argv0: name})
		if fault.KindOf(err) != fault.Denied || !strings.Contains(fault.From(err).Message, name) {
			t.Errorf("argv0 %s: %v, want a denial", name, err)
		}
	}
	for _, name := range []string{"cat", "/usr/bin/cat"} {
		if _, _, err := run(t, open(t, dir, "/bin/cat", nil), request{File: "cat", Args: []string{"/dev/null"}, Argv0: name}); err != nil {
			t.Errorf("argv0 %s: %v", name, err)
		}
	}
}

func TestWorkingDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"run", "run/sub", "granted", "outside"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "granted/file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	files, err := grant.OpenFiles(at("run"), grant.Set{Read: grant.Words{Allow: []string{at("granted"), at("run/sub")}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(files.Close)
	reading, every, none := open(t, at("run"), "/bin/pwd", files), open(t, at("run"), "*", nil), open(t, at("run"), "/bin/pwd", nil)
	for _, tt := range []struct {
		name string
		p    *Programs
		cwd  string
		want string // or a kind or code in parentheses
	}{
		{"that of the run", none, "", at("run")},
		{"that of the run, by its name", none, at("run") + "/", at("run")},
		{"that of the run, by a dot", none, ".", at("run")},
		{"another", none, "sub", "(denied)"},
		{"one that may be read", reading, at("granted"), at("granted")},
		{"one below", reading, "sub", at("run/sub")},
		{"one that may not be read", reading, at("outside"), "(denied)"},
		{"nowhere", reading, at("nowhere"), "(denied)"},
		{"out of one that may be read", reading, at("granted") + "/../outside", "(denied)"},
		// What is outside is looked at by nobody: not by the system either.
		{"past one that may not be read", reading, at("outside") + "/../granted", at("granted")},
		{"past nowhere", reading, at("nowhere") + "/../granted", at("granted")},
		{"nowhere in one that may be read", reading, at("granted/none"), "(ENOENT)"},
		{"a file", reading, at("granted/file"), "(ENOTDIR)"},
		{"any", every, at("outside"), at("outside")},
		{"any that is there", every, at("nowhere"), "(ENOENT)"},
		{"any that is a directory", every, at("granted/file"), "(ENOTDIR)"},
	} {
		out, _, err := run(t, tt.p, request{File: "/bin/pwd", Cwd: tt.cwd, Env: map[string]string{}})
		got := strings.TrimSuffix(out, "\n")
		if err != nil {
			code := fault.From(err).Details["code"]
			if code == nil {
				code = fault.KindOf(err)
			}
			got = fmt.Sprintf("(%v)", code)
		}
		if got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestProgramsThatDoNotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"plain": "text", "lost": "#!/no/such/interpreter\n", "binary": "\x7fELF nonsense"} {
		mode := os.FileMode(0o700)
		if name == "plain" {
			mode = 0o600
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	p := open(t, dir, "* /gone/away", nil)
	for file, code := range map[string]string{
		"no-such-program": "ENOENT", "/gone/away": "ENOENT", "away": "ENOENT", "./plain": "EACCES", "./lost": "ENOENT", "./binary": "ENOEXEC", dir: "EACCES", "./plain/x": "ENOTDIR",
	} {
		_, _, err := run(t, p, request{File: file})
		if e := fault.From(err); e == nil || e.Details["code"] != code || strings.Contains(e.Message, dir) && file != dir {
			t.Errorf("%s: %v, %+v, want %s", file, err, e, code)
		}
	}
	if _, _, err := run(t, p, request{File: "/bin/echo", Args: []string{strings.Repeat("x", 4<<20)}}); fault.From(err).Details["code"] != "E2BIG" {
		t.Errorf("too many arguments: %v", err)
	}
	if n := len(p.running); n != 0 {
		t.Errorf("%d programs are kept", n)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := open(t, "/", "/bin/sleep", nil)
	a, _, err := call(t, p, "run.start", request{File: "/bin/sleep", Args: []string{"300"}, Stdin: true, Stdout: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("why")
	for _, op := range []string{"run.read", "run.wait", "run.write", "run.read", "run.write"} {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, why)
		_, _, err := callUntil(ctx, p, op, request{ID: a.ID, Stream: 1, Max: 10}, make([]byte, 1<<20))
		if !errors.Is(err, why) {
			t.Errorf("%s: %v", op, err)
		}
		cancel()
	}
	// What was given up can be asked again.
	if _, _, err := call(t, p, "run.kill", request{ID: a.ID, Signal: "SIGKILL"}, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := call(t, p, "run.write", request{ID: a.ID, End: true}, make([]byte, 1<<20)); fault.From(err).Details["code"] != "EPIPE" {
		t.Errorf("writing to a program that is dead: %v", err)
	}
	if got := all(t, p, a.ID, 1); got != "" {
		t.Errorf("sleep wrote %q", got)
	}
	for range 2 { // a program is told of its end once, and hears of it twice
		if _, _, err := call(t, p, "run.write", request{ID: a.ID, End: true}, nil); err != nil {
			t.Errorf("ending the input: %v", err)
		}
	}
	if end, _, err := call(t, p, "run.wait", request{ID: a.ID}, nil); err != nil || end.Signal != "SIGKILL" {
		t.Errorf("%v, %+v", err, end)
	}
}

func TestAProgramWaitsWhileNobodyReads(t *testing.T) {
	t.Parallel()
	p := open(t, "/", "/usr/bin/yes", nil)
	a, _, err := call(t, p, "run.start", request{File: "yes", Stdout: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, b, err := call(t, p, "run.read", request{ID: a.ID, Stream: 1, Max: 1 << 30}, nil); err != nil || len(b) == 0 || len(b) > maxRead {
			t.Fatalf("%v, %d bytes", err, len(b))
		}
	}
	p.Close()
	gone(t, int(a.PID))
}

func TestNothingOutlivesTheRun(t *testing.T) {
	t.Parallel()
	p := open(t, "/", "/bin/sh", nil)
	// A child that ignores what it is told, its child, and one whose parent has ended.
	const tree = `trap '' TERM INT HUP; (sleep 300 & echo $!; exec sleep 300) & echo $!; (sleep 300 & echo $!) ; echo $$; wait; sleep 300`
	var list []int
	for range 3 {
		a, _, err := call(t, p, "run.start", request{File: "sh", Args: []string{"-c", tree}, Stdout: true, Inherit: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for text := ""; strings.Count(text, "\n") < 4; {
			_, b, err := call(t, p, "run.read", request{ID: a.ID, Stream: 1, Max: 1000}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if text += string(b); strings.Count(text, "\n") == 4 {
				list = append(list, pids(t, text)...)
			}
		}
	}
	begun := time.Now()
	p.Close()
	if d := time.Since(begun); d > time.Minute {
		t.Errorf("it took %s", d)
	}
	for _, pid := range list {
		gone(t, pid)
	}
	if len(list) != 12 {
		t.Errorf("%d processes were started", len(list))
	}
	if _, _, err := call(t, p, "run.start", request{File: "sh"}, nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a program after the end: %v", err)
	}
}

func TestWhatAProgramLeavesEndsWithIt(t *testing.T) {
	t.Parallel()
	p := open(t, "/", "/bin/sh", nil)
	out, end, err := run(t, p, request{File: "sh", Args: []string{"-c", "sleep 300 & echo $!"}, Inherit: true})
	if err != nil || end.Code == nil || *end.Code != 0 {
		t.Fatalf("%v, %+v", err, end)
	}
	for _, pid := range pids(t, out) {
		gone(t, pid)
	}
}

func TestProgramsAreCounted(t *testing.T) {
	t.Parallel()
	p := open(t, "/", "/bin/sleep", nil)
	for range maxPrograms {
		if _, _, err := call(t, p, "run.start", request{File: "sleep", Args: []string{"300"}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := call(t, p, "run.start", request{File: "sleep", Args: []string{"300"}, Stdin: true, Stdout: true, Stderr: true}, nil)
	if fault.KindOf(err) != fault.Limit || fault.From(err).Details["code"] != "EAGAIN" {
		t.Errorf("one more: %v", err)
	}
}

// It counts the files and goroutines of the process, so it is not parallel.
func TestNothingIsLeftOpen(t *testing.T) {
	count := func() (int, int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), runtime.NumGoroutine()
	}
	warm := open(t, "/", "/bin/true", nil)
	if _, _, err := run(t, warm, request{File: "true"}); err != nil {
		t.Fatal(err)
	}
	files, goroutines := count()
	p := open(t, "/", "/bin/true /bin/sleep /gone/away", nil)
	for range 20 {
		if _, _, err := run(t, p, request{File: "true", Stdin: true, Stderr: false}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := run(t, p, request{File: "/gone/away", Stdin: true, Stderr: true}); err == nil {
			t.Fatal("it was started")
		}
		if _, _, err := call(t, p, "run.start", request{File: "sleep", Args: []string{"300"}, Stdin: true, Stdout: true, Stderr: true}, nil); err != nil {
			t.Fatal(err)
		}
	}
	p.Close()
	p.Close()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if f, g := count(); f <= files && g <= goroutines {
			return
		}
	}
	f, g := count()
	t.Errorf("%d files and %d goroutines more than before", f-files, g-goroutines)
}

func TestStopsAreNotEnds(t *testing.T) {
	t.Parallel()
	p := open(t, "/", "/bin/sleep", nil)
	a, _, err := call(t, p, "run.start", request{File: "sleep", Args: []string{"300"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SIGSTOP", "SIGCONT", "SIGSTOP"} {
		if sent, _, err := call(t, p, "run.kill", request{ID: a.ID, Signal: name}, nil); err != nil || !sent.Sent {
			t.Errorf("%s: %v, %+v", name, err, sent)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, _, err := callUntil(ctx, p, "run.wait", request{ID: a.ID}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a stopped program: %v, want it to be there", err)
	}
	p.Close() // it is killed although it is stopped
	gone(t, int(a.PID))
	if err := syscall.Kill(int(a.PID), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("it is not reaped: %v", err)
	}
}

//go:build unix

package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/frame"
	"mcpx/internal/worker"
)

func TestMain(m *testing.M) {
	worker.Dispatch(os.Args[1:])
	os.Exit(m.Run())
}

// runner runs scripts in real workers on a stage.
func (s stage) runner() *Runner {
	return &Runner{Caller: s, Tools: s, Dir: "/somewhere", Log: s.log, Settings: s.settings}
}

// exec runs a script and fails the test if no run took place.
func exec(t testing.TB, r *Runner, code string, in api.ExecInput) *api.ExecOutput {
	t.Helper()
	in.Name, in.Code, in.Expression = "exec", code, true
	out, err := r.Run(t.Context(), in, api.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// hang is a tool that never answers.
func hang(ctx context.Context, _ api.CallInput) (*api.CallOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// structured is a tool that answers with its arguments as structured content.
func structured(_ context.Context, in api.CallInput) (*api.CallOutput, error) {
	return &api.CallOutput{Result: fmt.Appendf(nil, `{"content":[],"structuredContent":%s}`, in.Arguments)}, nil
}

func TestScriptsRun(t *testing.T) {
	t.Parallel()
	s := stage{call: func(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
		if in.Tool == "missing" {
			return nil, fault.NotFoundf("demo has no tool %q", in.Tool).Hintf("the nearest is echo").With("nearest", []string{"echo"})
		}
		return structured(ctx, in)
	}}
	for _, tt := range []struct {
		name   string
		code   string
		value  string
		stdout string
		stderr string
		exit   int
		fails  string // what the error says
	}{
		{name: "a return", code: `return 1`, value: `1`},
		{name: "nothing", code: `const x = 1`},
		{name: "null", code: `return null`, value: `null`},
		{name: "an expression", code: `await Promise.resolve({b: 1, a: [2]})`, value: `{"b":1,"a":[2]}`},
		{name: "output", code: `console.log("a"); console.error("b"); console.log("c")`, stdout: "a\nc\n", stderr: "b\n"},
		{name: "a log", code: `log("a", 1); log.warn("b")`, stderr: "a 1\nwarn: b\n"},
		{name: "a timer", code: `await new Promise(r => setTimeout(r, 20)); return "later"`, value: `"later"`},
		{name: "a throw", code: "\n  throw new TypeError('oh')", exit: 1, fails: "TypeError: oh\n  at exec:2:9"},
		{name: "a source that does not parse", code: `const = 1`, exit: 2, fails: "at exec:1:7"},
		{name: "an await that waits for nothing", code: "const x = 1;\nawait new Promise(() => {})", exit: 1, fails: "exec:2:1"},
		{name: "a tool", code: `return await tools.demo.echo({z: 1, a: "é", n: 9007199254740993n})`, value: `{"z":1,"a":"é","n":9007199254740992}`},
		{name: "a bare namespace", code: `return (await demo.echo({a: 1})).a`, value: `1`},
		{name: "a tool that is not there", code: `try { await tools.demo.missing() } catch (e) { return [e.name, e.kind, e.message, e.nearest] }`, value: `["NotFoundError","not_found","demo has no tool \"missing\"",["echo"]]`},
		{name: "classes of errors", code: `try { await tools.demo.missing() } catch (e) { return [e instanceof NotFoundError, e instanceof ToolError, e.constructor.name] }`, value: `[true,false,"NotFoundError"]`},
		{name: "a name that a module does not have", code: `import { jion } from "node:path"; jion()`, exit: 2, fails: "\"node:path\" has no export \"jion\"\n  at exec:1:10"},
		{name: "a thrown object", code: `throw new Map([[1, { a: 'b' }]])`, exit: 1, fails: "the script threw Map(1) { 1 => { a: 'b' } }\n  at exec:1:1"},
		{name: "tools at once", code: `return (await Promise.all([1,2,3].map(n => demo.slow({n})))).map(r => r.n)`, value: `[1,2,3]`},
		{name: "synchronous calls", code: `return [Object.keys(tools.demo), "fancyName" in tools.demo, describe("demo.echo"), search("words", {limit: 2})[0].name]`, value: `[["echo","fancy-name"],true,"declare const demo.echo","words  2"]`},
		{name: "no server that is switched off", code: `return Object.keys(tools)`, value: `["demo"]`},
		{name: "six hundred small calls", code: `return (await Promise.all(Array.from({length: 600}, (_, n) => demo.echo({n})))).reduce((sum, r) => sum + r.n, 0)`, value: `179700`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := exec(t, s.runner(), tt.code, api.ExecInput{})
			fails := ""
			if out.Error != nil {
				fails = out.Error.Text()
			}
			if !strings.Contains(fails, tt.fails) || (fails == "") != (tt.fails == "") {
				t.Errorf("the run failed with %q, want %q", fails, tt.fails)
			}
			if string(out.Value) != tt.value || out.ExitCode != tt.exit {
				t.Errorf("the run ended with %s and code %d, want %s and %d", out.Value, out.ExitCode, tt.value, tt.exit)
			}
			if out.Stdout != tt.stdout || out.Stderr != tt.stderr || out.Printed != (tt.stdout != "") {
				t.Errorf("the run printed %q and %q (%v), want %q and %q", out.Stdout, out.Stderr, out.Printed, tt.stdout, tt.stderr)
			}
			if out.RunID == "" || out.Duration <= 0 {
				t.Errorf("the run has the id %q and took %s", out.RunID, out.Duration)
			}
		})
	}
}

func TestNotesReachTheCaller(t *testing.T) {
	t.Parallel()
	out := exec(t, stage{}.runner(), "return { headers: new Headers() }", api.ExecInput{})
	if string(out.Value) != `{"headers":{}}` || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "has a Headers at .headers") {
		t.Errorf("the run gave %s and %q", out.Value, out.Notes)
	}
}

func TestATimeLimitEndsWhateverAScriptDoes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code string }{
		{"a loop", "let i = 0\nwhile (true) { i++ }"},
		{"an empty loop", "for (;;) {}"},
		{"a loop of awaits", "for (;;) await null"},
		{"a loop that catches", "for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }"},
		{"a timer far away", "await new Promise(r => setTimeout(r, 1e6))"},
		{"an interval", "setInterval(() => {}, 1); await new Promise(() => {})"},
		{"a tool that does not answer", "await tools.demo.hang()"},
		{"a loop that prints", "for (;;) console.log('x'.repeat(1000))"},
		{"a pattern that backtracks", `/^(a+)+\1$/.test("a".repeat(40) + "c")`},
		{"a native loop", "new Array(2**31).includes(1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := stage{call: hang}
			const limit = 400 * time.Millisecond
			out := exec(t, s.runner(), tt.code, api.ExecInput{Timeout: limit})
			if out.ExitCode != 124 || out.Error == nil || out.Error.Kind != fault.Timeout || out.Error.Message != "time limit of 400ms exceeded" || out.Error.Hint == "" {
				t.Fatalf("the run ended with code %d and %+v, want 124 and a timeout with a hint", out.ExitCode, out.Error)
			}
			if d := out.Error.Details; d["limit"] != "time" || d["value"] != "400ms" {
				t.Errorf("its details are %v, want the limit and its value", d)
			}
			if got := out.Duration; got < limit || got > limit+stopGrace+time.Minute {
				t.Errorf("the run took %s, want %s and a little more", got, limit)
			}
		})
	}
}

func TestATimeLimitSaysWhereTheScriptWas(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, want string }{
		{"in a loop", "console.log('here')\nlet i = 0\nwhile (true) { i++ }", "exec:3:"},
		{"in a call", "const p = demo.hang()\nconsole.log('here')\nawait p", "exec:3:1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// A worker that is slow to answer an interrupt is killed and says nothing.
			for attempt := range 5 {
				ctx, cancel := context.WithCancelCause(t.Context())
				stdout := writerFunc(func(p []byte) (int, error) {
					time.AfterFunc(50*time.Millisecond, func() { cancel(fault.Timeoutf("time is up")) })
					return len(p), nil
				})
				out, err := stage{call: hang}.runner().Run(ctx, api.ExecInput{Name: "exec", Code: tt.code}, api.Streams{Stdout: stdout})
				cancel(nil)
				if err != nil || out.Error == nil || out.Error.Message != "time is up" {
					t.Fatalf("Run() = %+v, %v, want a timeout", out, err)
				}
				if out.Error.At != nil && strings.HasPrefix(out.Error.At.String(), tt.want) {
					return
				}
				t.Logf("attempt %d: the error is %s", attempt, out.Error.Text())
			}
			t.Errorf("the place %s is never said", tt.want)
		})
	}
}

func TestALimitOfTheCallerCounts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	out, err := stage{}.runner().Run(ctx, api.ExecInput{Name: "exec", Code: "for (;;) {}"}, api.Streams{})
	if err != nil || out.ExitCode != 124 {
		t.Errorf("Run() = %+v, %v, want code 124", out, err)
	}
}

func TestCancellingEndsARunInEachPhase(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code string
		after      string // output that is waited for
	}{
		{"before it starts", "", ""},
		{"in a loop", "console.log('here'); for (;;) {}", "here\n"},
		{"in a wait", "console.log('here'); await new Promise(r => setTimeout(r, 1e6))", "here\n"},
		{"in a call", "const p = demo.hang(); console.log('here'); await p", "here\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := stage{call: hang}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.after == "" {
				cancel()
			}
			stdout := writerFunc(func(p []byte) (int, error) {
				if string(p) == tt.after {
					cancel()
				}
				return len(p), nil
			})
			out, err := s.runner().Run(ctx, api.ExecInput{Name: "exec", Code: tt.code}, api.Streams{Stdout: stdout})
			if err != nil || out.ExitCode != 130 || out.Error != nil || out.Value != nil {
				t.Errorf("Run() = %+v, %v, want code 130 and nothing else", out, err)
			}
		})
	}
}

func TestEverythingThatIsPrintedArrives(t *testing.T) {
	t.Parallel()
	const lines = 200_000
	var want bytes.Buffer
	for i := range lines {
		fmt.Fprintln(&want, i)
	}
	for _, slow := range []bool{false, true} {
		t.Run(fmt.Sprintf("slow=%v", slow), func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			writes := 0
			stdout := writerFunc(func(p []byte) (int, error) {
				if writes++; slow && writes%5 == 0 {
					time.Sleep(time.Millisecond) // a reader that is slower than the script
				}
				return got.Write(p)
			})
			code := fmt.Sprintf("for (let i = 0; i < %d; i++) console.log(i)", lines)
			out, err := stage{}.runner().Run(t.Context(), api.ExecInput{Name: "exec", Code: code}, api.Streams{Stdout: stdout})
			if err != nil || out.Error != nil {
				t.Fatalf("Run() = %+v, %v", out, err)
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%d bytes arrived in %d writes, want %d", got.Len(), writes, want.Len())
			}
		})
	}
}

func TestOneWriteMayBeLarge(t *testing.T) {
	t.Parallel()
	out := exec(t, stage{}.runner(), `console.log("x".repeat(5_000_000)); console.error("y".repeat(3_000_000))`, api.ExecInput{})
	if len(out.Stdout) != 5_000_001 || len(out.Stderr) != 3_000_001 || out.Error != nil {
		t.Errorf("%d and %d bytes arrived, %+v", len(out.Stdout), len(out.Stderr), out.Error)
	}
}

func TestOutputIsSeenWhileTheScriptRuns(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{})
	s := stage{call: func(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
		<-seen
		return structured(ctx, in)
	}}
	var once sync.Once
	stdout := writerFunc(func(p []byte) (int, error) { once.Do(func() { close(seen) }); return len(p), nil })
	out, err := s.runner().Run(t.Context(), api.ExecInput{
		Name: "exec", Code: "console.log('first'); return (await demo.x({ok: true})).ok",
	}, api.Streams{Stdout: stdout})
	if err != nil || string(out.Value) != "true" {
		t.Errorf("Run() = %+v, %v, want true", out, err)
	}
}

func TestAClosedStandardOutputEndsARunQuietly(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	go func() {
		_, _ = io.ReadFull(r, make([]byte, 10))
		_ = r.Close()
	}()
	var stderr bytes.Buffer
	out, err := stage{}.runner().Run(t.Context(), api.ExecInput{
		Name: "exec", Code: "for (;;) console.log('x')",
	}, api.Streams{Stdout: w, Stderr: &stderr})
	if err != nil || out.Error != nil || out.ExitCode != 141 || stderr.Len() > 0 {
		t.Errorf("Run() = %+v, %v and said %q, want code 141 and nothing", out, err, &stderr)
	}
}

func TestAWorkerThatIsKilledIsSaid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		signal syscall.Signal
		exit   int
		want   string
	}{
		{syscall.SIGKILL, 125, "the script's process was killed by SIGKILL, and not by mcpx"},
		{syscall.SIGTERM, 70, "the script's process was killed by SIGTERM"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			s := (&Runner{}).spawn(worker.Plain)
			if s.err != nil {
				t.Fatal(s.err)
			}
			child := s.child
			defer child.Close()
			stdout := writerFunc(func(p []byte) (int, error) { return len(p), syscall.Kill(child.Pid(), tt.signal) })
			head := worker.Run{Name: "exec", InFlight: 4, MaxBody: 1 << 20}
			b := newBroker(child, stage{}, stage{}, head, api.Streams{Stdout: stdout})
			b.build = worker.Build()
			out, err := b.run(t.Context(), head, "console.log('here'); for (;;) {}")
			if err != nil || out.Error == nil || !strings.HasPrefix(out.Error.Message, tt.want) || out.Error.Hint == "" || out.ExitCode != tt.exit {
				t.Errorf("the run ended with %+v (%+v), %v, want code %d and %q", out, out.Error, err, tt.exit, tt.want)
			}
		})
	}
}

func TestWhatTheGoRuntimeDiesOfIsExplained(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, want string }{
		{"a proxy that is its own prototype", "const p = new Proxy({}, {}); Object.setPrototypeOf(p, p); p.x", "Error: "},
		{"deep JSON", `let s = "["; for (let i = 0; i < 22; i++) s += s; JSON.parse(s)`, "Error: "},
		{"a deep source", "return " + strings.Repeat("[", 1_000_000), "nest"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := exec(t, stage{}.runner(), tt.code, api.ExecInput{Timeout: time.Minute})
			if out.Error == nil || out.ExitCode > 2 || strings.Contains(out.Error.Text(), "goroutine") || !strings.Contains(out.Error.Text(), tt.want) {
				t.Errorf("the run ended with %+v (%+v), want an error of the script with %q", out, out.Error, tt.want)
			}
		})
	}
}

func TestAWorkerOfAnotherBuildIsRefused(t *testing.T) {
	t.Parallel()
	r := stage{}.runner()
	r.Build = "another"
	_, err := r.Run(t.Context(), api.ExecInput{Name: "exec", Code: "1"}, api.Streams{})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "another build") {
		t.Errorf("Run() = %v, want an error of kind unavailable", err)
	}
}

func TestAProgramThatIsNotThereIsSaid(t *testing.T) {
	t.Parallel()
	r := stage{}.runner()
	r.Self = "/nowhere/mcpx"
	_, err := r.Run(t.Context(), api.ExecInput{Name: "exec", Code: "1"}, api.Streams{})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "/nowhere/mcpx") {
		t.Errorf("Run() = %v, want an error of kind unavailable", err)
	}
}

func TestNoRunTakesPlaceUnderABrokenConfiguration(t *testing.T) {
	t.Parallel()
	r := stage{}.runner()
	r.Tools = brokenConfig{}
	_, err := r.Run(t.Context(), api.ExecInput{Name: "exec", Code: "1"}, api.Streams{})
	if fault.KindOf(err) != fault.Usage || err.Error() != "x.json:1:1: no" {
		t.Errorf("Run() = %v, want the error of the configuration", err)
	}
}

type brokenConfig struct{ stage }

func (brokenConfig) Config(context.Context, api.ConfigInput) (*api.ConfigOutput, error) {
	return nil, fault.Usagef("x.json:1:1: no")
}

func TestAWorkerStartedAheadIsTakenOnceOrClosed(t *testing.T) {
	t.Parallel()
	r := stage{}.runner()
	r.Start(false)
	r.Start(false)
	for range 2 {
		if out := exec(t, r, "1", api.ExecInput{}); string(out.Value) != "1" {
			t.Errorf("the run ended with %+v", out)
		}
	}
	r.Start(false)
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
}

func TestFiftyRunsAtOnce(t *testing.T) {
	t.Parallel()
	r := stage{call: structured}.runner()
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			code := fmt.Sprintf("console.log(%d); return (await demo.echo({n: %d})).n", i, i)
			out, err := r.Run(t.Context(), api.ExecInput{Name: "exec", Code: code}, api.Streams{})
			if err != nil || string(out.Value) != fmt.Sprint(i) || out.Stdout != fmt.Sprintln(i) {
				t.Errorf("run %d = %+v, %v", i, out, err)
			}
		})
	}
	wg.Wait()
}

// Not parallel: it counts what the whole process has.
func TestRunsLeaveNothingBehind(t *testing.T) {
	s := stage{call: hang}
	codes := []string{
		"return 1",
		"throw 1",
		"for (;;) {}",
		"await tools.demo.hang()",
		"for (let i = 0; i < 1000; i++) tools.demo.hang()",
		"for (;;) console.log('x'.repeat(10000))",
		"const = 1",
	}
	round := func() {
		r := s.runner()
		r.Start(false)
		defer r.Close()
		for _, code := range codes {
			exec(t, r, code, api.ExecInput{Timeout: 200 * time.Millisecond})
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Run(ctx, api.ExecInput{Code: "1"}, api.Streams{}); err != nil {
			t.Error(err)
		}
		r.Start(false)
	}
	round() // what is made once a process is made now
	files, routines, children := count(t, "/proc/self/fd"), runtime.NumGoroutine(), childProcesses(t)
	for range 3 {
		round()
	}
	settle(t, "descriptors", files, func() int { return count(t, "/proc/self/fd") })
	settle(t, "goroutines", routines, runtime.NumGoroutine)
	settle(t, "processes", children, func() int { return childProcesses(t) })
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Skip(err)
	}
	return len(entries)
}

// childProcesses counts the children of this process, living and dead.
func childProcesses(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip(err)
	}
	n := 0
	for _, task := range tasks {
		b, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err == nil {
			n += len(strings.Fields(string(b)))
		}
	}
	return n
}

// settle waits until count is at most want: what ends may take its time to be gone.
func settle(t *testing.T, what string, want int, count func() int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); count() > want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d %s are left, want %d\n%s", count(), what, want, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// A worker that dies of nobody knows what before its script has done anything is no
// reason to give up: the machine did something to it. One that has done something may
// have done it for good.
func TestAStillbornWorkerIsStartedAgain(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, first, again string
		want               string
	}{
		{"it dies once", "exit 2", `exec "$SELF" "$@"`, "1"},
		{"it dies every time", "exit 2", "exit 2", ""},
		{"it gets no threads", fmt.Sprintf("echo 'runtime: failed to create new OS thread (have 5 already; errno=%d)' >&2; exit 2", syscall.EAGAIN), `exec "$SELF" "$@"`, "1"},
		{"it is told to", "kill -TERM $$", `exec "$SELF" "$@"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script := "#!/bin/sh\nSELF='" + self + "'\necho . >> " + dir + "/starts\n" +
				"if [ ! -e " + dir + "/once ]; then : > " + dir + "/once; " + tt.first + "; fi\n" + tt.again + "\n"
			program := filepath.Join(dir, "worker")
			syscall.ForkLock.RLock() // a child that is forked meanwhile could still write to it, and it would not start
			err := os.WriteFile(program, []byte(script), 0o755)
			syscall.ForkLock.RUnlock()
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			r := stage{log: slog.New(slog.NewTextHandler(&log, nil))}.runner()
			r.Self = program
			out := exec(t, r, "1", api.ExecInput{})
			starts, _ := os.ReadFile(filepath.Join(dir, "starts"))
			most := 2
			if strings.HasPrefix(tt.first, "kill") {
				most = 1
			}
			if string(out.Value) != tt.want || len(starts) != most*2 || tt.want == "" && out.Error == nil {
				t.Errorf("%d starts, the value is %s and the error %v\n%s", len(starts)/2, out.Value, out.Error, &log)
			}
			if retried := strings.Contains(log.String(), "worker.retried"); retried != (most == 2) {
				t.Errorf("the log does not tell of it:\n%s", &log)
			}
		})
	}
}

// What a script has printed is not printed twice.
func TestAWorkerThatHasSpokenIsNotStartedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newActor()
		b := newBroker(a, stage{}, stage{}, worker.Run{InFlight: inFlight, MaxBody: 1 << 20}, api.Streams{})
		b.build = worker.Build()
		go func() {
			_ = a.greet()
			_ = a.send(frame.Stdout, 1, nil, "x")
			a.Kill()
		}()
		out, err := b.run(t.Context(), worker.Run{InFlight: inFlight, MaxBody: 1 << 20}, "code")
		_ = a.near.Close()
		if err != nil || out.Error == nil || !b.crashed || b.stillborn() {
			t.Errorf("%+v, %v: crashed %t, stillborn %t", out, err, b.crashed, b.stillborn())
		}
	})
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dop251/goja"

	"mcpx/internal/fault"
)

func TestOrderOfCallbacks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{
			"microtasks before timers", `
			setTimeout(() => log("timer"), 0); setImmediate(() => log("immediate"))
			Promise.resolve().then(() => log("then")); microtask(() => log("microtask")); log("sync")`,
			"sync then microtask immediate timer",
		},
		{
			"microtasks after each timer", `
			setTimeout(() => { log("a"); Promise.resolve().then(() => log("a then")) }, 1)
			setTimeout(() => { log("b"); Promise.resolve().then(() => log("b then")) }, 1)`,
			"a a then b b then",
		},
		{
			"by due time, then creation", `
			setTimeout(() => log("30"), 30); setTimeout(() => log("10 first"), 10); setTimeout(() => log("10 second"), 10); setTimeout(() => log("0"), 0)`,
			"0 10 first 10 second 30",
		},
		{
			"a repeated timer", `
			let n = 0; const id = setInterval(() => { log(++n); if (n === 3) clearTimeout(id) }, 5); setTimeout(() => log("late"), 12)`,
			"1 2 late 3",
		},
		{
			"clearing", `
			const a = setTimeout(() => log("never"), 5); const b = setImmediate(() => log("nor this"))
			setTimeout(() => { clearTimeout(a) }, 1); clearTimeout(b); clearTimeout(99); clearTimeout(undefined)`,
			"",
		},
		{
			"clearing another timer that is due", `
			let b; setTimeout(() => { log("a"); clearTimeout(b) }, 5); b = setTimeout(() => log("b"), 5)`,
			"a",
		},
		{
			"an unreferenced timer keeps nothing alive", `
			unref(setTimeout(() => log("never"), 50)); setTimeout(() => log("done"), 10)`,
			"done",
		},
		{
			"floating work after the end of the script", `
			echo("later").then(log); setTimeout(() => echo("last").then(log), 5); log("script")`,
			"script later last",
		},
		{
			"an immediate set by an immediate waits a turn", `
			setImmediate(() => { log("a"); setImmediate(() => log("c")) }); setImmediate(() => log("b"))`,
			"a b c",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := testProgram(t, c.text) // outside: esbuild leaves a goroutine asleep
			synctest.Test(t, func(t *testing.T) {
				o, out := run(context.Background())
				if got := strings.TrimSpace(strings.ReplaceAll(out, "\n", " ")); got != c.want || o.Report != nil {
					t.Errorf("printed %q, %v, want %q", got, o.Report, c.want)
				}
			})
		})
	}
}

func TestAnImmediateOfTheFirstGoComesBeforeATimer(t *testing.T) {
	t.Parallel()
	// By the time that the script has had its first go, the timer is due as well.
	_, out := testRun(t, "setTimeout(() => log('timer'), 1); setImmediate(() => log('immediate')); const end = Date.now() + 5; while (Date.now() < end);")
	if want := "immediate\ntimer\n"; out != want {
		t.Errorf("printed %q, want %q", out, want)
	}
}

func TestARunThatCanNeverEndSaysWhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, at string
		frames         int
	}{
		{"at the top", "const a = 1\nawait new Promise(() => {})", "exec:2:1", 1},
		{"after other awaits", "await 0\nawait 0; await new Promise(() => {})", "exec:2:10", 1},
		{"in a function that awaits for the first time", "async function f() { await new Promise(() => {}) }\nawait f()", "exec:1:22", 2},
		{"in a function that has awaited", "async function f() { await 0; await new Promise(() => {}) }\nawait 0; await f()", "exec:1:31", 2},
		{"two functions down", "const g = async () => { await 0; await new Promise(() => {}) }\nasync function f() { await 0; await g() }\nawait f()", "exec:1:34", 3},
		{"a method", "class A { async m() { await echo('x'); await new Promise(() => {}) } }\nawait new A().m()", "exec:1:40", 2},
		{"all of several", "const never = new Promise(() => {})\nawait Promise.all([1, never])", "exec:2:1", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, _ := testRun(t, c.text)
			if o.ExitCode != 1 || o.Report == nil || o.Report.At == nil || o.Report.At.String() != c.at || len(o.Report.Frames) != c.frames {
				t.Fatalf("exit %d, %+v, want exit 1 at %s with %d frames", o.ExitCode, o.Report, c.at, c.frames)
			}
			want := "the script can never end: this await waits for a promise that nothing is left to settle"
			if o.Report.Message != want {
				t.Errorf("message %q, want %q", o.Report.Message, want)
			}
			if text := o.Report.Text(); strings.Count(text, "at "+c.at+"\n") != 1 {
				t.Errorf("the place is not shown once:\n%s", text)
			}
		})
	}
	o, _ := testRun(t, "export default new Promise(() => {})")
	if o.ExitCode != 1 || o.Report == nil || !strings.Contains(o.Report.Message, "can never end") {
		t.Errorf("a default promise that never settles: exit %d, %+v", o.ExitCode, o.Report)
	}
}

func TestUnhandledRejections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"reported", "Promise.reject(new Error('lost')); await echo('x'); log('on')", "lost"},
		{"before a timer", "setTimeout(() => log('timer'), 1); Promise.reject(new Error('lost'))", "lost"},
		{"handled in the same turn", "const p = Promise.reject(new Error('lost')); await 0; p.catch(() => log('on'))", "on"},
		{"of a host's work", "fail('of the host'); await echo('x'); await new Promise(r => setTimeout(r, 5)); log('on')", "of the host"},
		{"in a floating function", "(async () => { await 0; null.x })(); await echo('x'); log('on')", "Cannot read properties of null"},
		{"not an Error", "Promise.reject(5)", "5"},
		{"in a timer", "setTimeout(() => { throw new Error('in a timer') }, 1); await new Promise(r => setTimeout(r, 20)); log('on')", "in a timer"},
		{"in a microtask", "microtask(() => { throw new Error('in a microtask') }); await echo('x'); log('on')", "in a microtask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, out := testRun(t, c.text)
			if c.want == "on" {
				if o.Report != nil || out != "on\n" {
					t.Errorf("%q: %v, printed %q", c.text, o.Report, out)
				}
				return
			}
			if o.ExitCode != 1 || o.Report == nil || !strings.Contains(o.Report.Message, c.want) || out != "" {
				t.Errorf("%q: exit %d, %+v, printed %q, want %q", c.text, o.ExitCode, o.Report, out, c.want)
			}
		})
	}
}

func TestADeadlineEndsAScriptWhereverItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, at string }{
		{"loop", "let n = 0\nwhile (true) n++", "exec:2:"},
		{"loop in a promise job", "await 0\nlet n = 0; for (;;) n++", "exec:2:"},
		{"loop in a timer", "setTimeout(() => { for (;;); }, 1)", "exec:1:"},
		{"loop in a callback of a built-in", "[1].forEach(() => { for (;;) {} })", "exec:1:"},
		{"loop that catches", "for (;;) { try { for (;;) {} } catch { log('caught') } finally { log('finally') } }", ""},
		{"await of work", "await echo('x')\nawait never()", "exec:2:1"},
		{"timers without end", "setInterval(() => {}, 1); await new Promise(() => {})", "exec:1:"},
		{"promise jobs without end", "const again = () => Promise.resolve().then(again); again()", ""},
		{"toJSON of the value", "return { toJSON() { for (;;) {} } }", "exec:1:"},
		{"getter of an error", "throw { get message() { for (;;) {} } }", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := testProgram(t, c.text)
			limit := 500 * time.Millisecond
			if c.at == "" { // it need not have got anywhere
				limit = 20 * time.Millisecond
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errors.New("exec.timeout passed"))
			defer cancel()
			start := time.Now()
			o, out := run(ctx)
			if o.ExitCode != 124 || o.Report == nil || o.Report.Kind != fault.Timeout || o.Report.Message != "exec.timeout passed" {
				t.Fatalf("exit %d, %+v", o.ExitCode, o.Report)
			}
			if c.at != "" && (o.Report.At == nil || !strings.HasPrefix(o.Report.At.String(), c.at)) {
				t.Errorf("at %v, want %s", o.Report.At, c.at)
			}
			if out != "" {
				t.Errorf("printed %q: nothing of a script runs after its end", out)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestTheCauseOfACancellationIsReported(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fault.Limitf("memory limit of 128 MiB exceeded"))
	o, _ := testRunContext(ctx, t, "await never()")
	if o.ExitCode != 125 || o.Report == nil || o.Report.Message != "memory limit of 128 MiB exceeded" {
		t.Errorf("exit %d, %+v", o.ExitCode, o.Report)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	o, _ = testRunContext(ctx, t, "await never()")
	if o.ExitCode != 130 || o.Report == nil || o.Report.Message != "the run was interrupted" {
		t.Errorf("exit %d, %+v", o.ExitCode, o.Report)
	}
}

func TestExitRunsNothingAfterIt(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"log('a'); exit(3); log('b')",
		"log('a'); try { exit(3) } catch { log('b') } finally { log('c') }",
		"log('a'); [1, 2].forEach(() => { exit(3); log('b') })",
		"log('a'); await echo('x'); setTimeout(() => log('b'), 0); Promise.resolve().then(() => log('c')); exit(3)",
		"log('a'); Promise.reject(new Error('b')); exit(3)",
		"log('a'); setTimeout(() => exit(3), 1); await new Promise(() => {})",
		"log('a'); export default { toJSON() { exit(3); log('b') } }",
	} {
		o, out := testRun(t, text)
		if o.ExitCode != 3 || o.Report != nil || o.Value != nil || out != "a\n" {
			t.Errorf("%q: exit %d, %v, value %s, printed %q", text, o.ExitCode, o.Report, o.Value, out)
		}
	}
	if o, _ := testRun(t, "exit(0)"); o.ExitCode != 0 || o.Report != nil {
		t.Errorf("exit(0): %+v", o)
	}
}

func TestAPanicIsAFaultOfTheEngine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"panics()", "await 0; panics()", "try { panics() } catch { log('caught') }", "setTimeout(() => panics(), 1)",
		"await work()", "work(); await new Promise(r => setTimeout(r, 1000))", "return { toJSON() { panics() } }",
	} {
		o, out := testRun(t, text)
		if o.ExitCode != 70 || o.Report == nil || o.Report.Kind != fault.Internal || out != "" {
			t.Errorf("%q: exit %d, %+v, printed %q", text, o.ExitCode, o.Report, out)
			continue
		}
		if shown := o.Report.Text(); strings.Contains(shown, "goroutine") || strings.Contains(shown, ".go:") || !strings.Contains(shown, "not of the script") {
			t.Errorf("%q: report reads %s", text, shown)
		}
	}
}

func TestEndlessRecursionIsReported(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"function r(n) { return 1 + r(n + 1) }\nr(0)",
		"const r = () => [1].map(r)\nr()",
	} {
		o, _ := testRun(t, text)
		if o.ExitCode != 1 || o.Report == nil || o.Report.Name != "RangeError" || o.Report.At == nil || o.Report.At.Line > 2 {
			t.Errorf("%q: exit %d, %+v", text, o.ExitCode, o.Report)
		}
	}
}

func TestGlobalsAreLazyAndHideNothing(t *testing.T) {
	t.Parallel()
	if got := testValue(t, "echo = 1; const log = 2; setTimeout = setTimeout; return [echo, log, typeof setTimeout, Object.keys(globalThis)]"); got != `[1,2,"function",[]]` {
		t.Errorf("value %s", got)
	}
	made := 0
	modules := testModules()
	make0 := modules[3].Make
	modules[3].Globals = []string{"answer", "Math", "missing"}
	modules[3].Make = func(rt *Runtime) *goja.Object { made++; return make0(rt) }
	run := func(text string) string {
		t.Helper()
		p, report := Compile(Source{Name: "exec", Text: text}, modules)
		if report != nil {
			t.Fatal(report.Text())
		}
		o := New(Options{Modules: modules}).Run(t.Context(), p)
		if o.Report != nil {
			t.Fatal(o.Report.Text())
		}
		return string(o.Value)
	}
	if got := run("return 1"); got != "1" || made != 0 {
		t.Errorf("value %s, made %d times, want 0", got, made)
	}
	if got := run("import { twice } from 'node:demo'; return [answer, answer, Math.max(1), typeof missing, twice(1)]"); got != `[42,42,1,"undefined",2]` || made != 1 {
		t.Errorf("value %s, made %d times, want 1", got, made)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	// Not parallel: it counts goroutines.
	before := runtime.NumGoroutine()
	for i, text := range []string{
		"await Promise.all([echo('a'), echo('b')])",
		"never(); exit(1)",
		"never(); throw new Error('x')",
		"for (let i = 0; i < 200; i++) never(); await echo('x'); exit(0)",
		"setInterval(() => {}, 1); never(); await never()",
		"while (true) {}",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		testRunContext(ctx, t, text)
		cancel()
		if n := runtime.NumGoroutine(); n > before+1 { // the timer of ctx may be ending
			t.Logf("script %d: %d goroutines", i, n)
		}
	}
	goroutines(t, before)
}

func ExampleRuntime_Run() {
	p, report := Compile(Source{Name: "example.ts", Text: "const n: number = await Promise.resolve(41)\nreturn { n: n + 1 }"}, nil)
	if report != nil {
		fmt.Println(report.Text())
		return
	}
	o := New(Options{}).Run(context.Background(), p)
	fmt.Println(string(o.Value), o.ExitCode)
	// Output: {"n":42} 0
}

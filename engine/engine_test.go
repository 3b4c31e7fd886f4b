package engine

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"mcpx/internal/fault"
)

// testModules are what the scripts of tests find: log(text), sleep(ms) as a promise of
// Async, echo(value), fail(message), panics(), timers, and the module node:demo.
func testModules() []Module {
	return []Module{
		{Globals: []string{"log"}, Make: func(rt *Runtime) *goja.Object {
			o := rt.VM().NewObject()
			_ = o.Set("log", rt.Function("log", func(c goja.FunctionCall) goja.Value {
				rt.Write(Stdout, []byte(c.Argument(0).String()+"\n"))
				return nil
			}))
			return o
		}},
		{Globals: []string{"echo", "swap", "fail", "never", "panics", "exit", "work", "microtask"}, Make: hostFunctions},
		{Globals: []string{"setTimeout", "setInterval", "setImmediate", "clearTimeout", "unref"}, Make: timerFunctions},
		{Name: "node:demo", Make: func(rt *Runtime) *goja.Object {
			o := rt.VM().NewObject()
			_ = o.Set("answer", 42)
			_ = o.Set("twice", rt.Function("twice", func(c goja.FunctionCall) goja.Value {
				return rt.VM().ToValue(2 * c.Argument(0).ToInteger())
			}))
			return o
		}},
	}
}

func hostFunctions(rt *Runtime) *goja.Object {
	o := rt.VM().NewObject()
	define := func(name string, fn func(c goja.FunctionCall) goja.Value) { _ = o.Set(name, rt.Function(name, fn)) }
	// swap reads an object and makes another.
	define("swap", func(c goja.FunctionCall) goja.Value {
		in, out := c.Argument(0).ToObject(rt.VM()), rt.VM().NewObject()
		_ = out.Set("a", in.Get("b"))
		_ = out.Set("b", in.Get("a"))
		return out
	})
	define("echo", func(c goja.FunctionCall) goja.Value {
		text := c.Argument(0).String()
		return Async(rt, "echo", func(context.Context) (string, error) { return text, nil },
			func(s string) goja.Value { return rt.VM().ToValue(s) })
	})
	define("fail", func(c goja.FunctionCall) goja.Value {
		text := c.Argument(0).String()
		return Async(rt, "echo", func(context.Context) (string, error) { return "", fault.New(fault.Tool, "%s", text) }, nil)
	})
	define("never", func(goja.FunctionCall) goja.Value {
		return Async(rt, "never", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, nil)
	})
	define("work", func(goja.FunctionCall) goja.Value {
		return Async(rt, "echo", func(context.Context) (string, error) { panic("a work panics") }, nil)
	})
	define("panics", func(goja.FunctionCall) goja.Value { panic("a native function panics") })
	define("exit", func(c goja.FunctionCall) goja.Value {
		rt.Exit(int(c.Argument(0).ToInteger()))
		return nil
	})
	define("microtask", func(c goja.FunctionCall) goja.Value {
		fn, _ := goja.AssertFunction(c.Argument(0))
		rt.Microtask(func() { rt.Call(fn, nil) })
		return nil
	})
	return o
}

func timerFunctions(rt *Runtime) *goja.Object {
	o := rt.VM().NewObject()
	define := func(name string, fn func(c goja.FunctionCall) goja.Value) { _ = o.Set(name, rt.Function(name, fn)) }
	callback := func(v goja.Value) func() {
		fn, _ := goja.AssertFunction(v)
		return func() { rt.Call(fn, goja.Undefined()) }
	}
	set := func(repeat bool) func(c goja.FunctionCall) goja.Value {
		return func(c goja.FunctionCall) goja.Value {
			d := time.Duration(c.Argument(1).ToInteger()) * time.Millisecond
			return rt.VM().ToValue(rt.SetTimer(d, repeat, callback(c.Argument(0))))
		}
	}
	define("setTimeout", set(false))
	define("setInterval", set(true))
	define("setImmediate", func(c goja.FunctionCall) goja.Value {
		return rt.VM().ToValue(rt.SetImmediate(callback(c.Argument(0))))
	})
	define("clearTimeout", func(c goja.FunctionCall) goja.Value {
		rt.ClearTimer(c.Argument(0).ToInteger())
		return nil
	})
	define("unref", func(c goja.FunctionCall) goja.Value {
		rt.RefTimer(c.Argument(0).ToInteger(), false)
		return nil
	})
	return o
}

// testRun runs text as exec does and returns how it ended and what it printed.
func testRun(t testing.TB, text string) (*Outcome, string) {
	t.Helper()
	return testRunContext(t.Context(), t, text)
}

func testRunContext(ctx context.Context, t testing.TB, text string) (*Outcome, string) {
	t.Helper()
	return testProgram(t, text)(ctx)
}

// testProgram compiles text, to be run later.
func testProgram(t testing.TB, text string) func(context.Context) (*Outcome, string) {
	t.Helper()
	modules := testModules()
	p, report := Compile(Source{Name: "exec", Text: text, Expression: true}, modules)
	if report != nil {
		t.Fatalf("compiling %q: %s", text, report.Text())
	}
	return func(ctx context.Context) (*Outcome, string) {
		var out strings.Builder
		o := New(Options{Modules: modules, Output: func(_ int, b []byte) { out.Write(b) }}).Run(ctx, p)
		return o, out.String()
	}
}

// testValue runs text and returns its value as JSON.
func testValue(t testing.TB, text string) string {
	t.Helper()
	o, _ := testRun(t, text)
	if o.Report != nil {
		t.Fatalf("running %q: %s", text, o.Report.Text())
	}
	return string(o.Value)
}

// goroutines waits until their number is what it was, and fails if it does not come down.
func goroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
		runtime.Gosched()
	}
}

// jsonText is v as JSON, for comparing what JSON texts mean.
func jsonText(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

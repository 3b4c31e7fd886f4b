package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"mcpx/internal/fault"
)

func TestManyCallsInOneTurn(t *testing.T) {
	t.Parallel()
	got := testValue(t, `
		const calls = []; for (let i = 0; i < 20000; i++) calls.push(echo(i))
		const all = await Promise.all(calls); return [all.length, all[0], all[19999], all.every((x, i) => x === String(i))]`)
	if got != `[20000,"0","19999",true]` {
		t.Errorf("value %s", got)
	}
}

func TestWorksOfAClassAreLimitedAndInOrder(t *testing.T) {
	t.Parallel()
	const limit, calls = 3, 20
	started, free, gate := make(chan int, calls), make(chan bool), make(chan bool)
	module := Module{Globals: []string{"slow", "free"}, Make: func(rt *Runtime) *goja.Object {
		o := rt.VM().NewObject()
		_ = o.Set("slow", rt.Function("slow", func(c goja.FunctionCall) goja.Value {
			n := int(c.Argument(0).ToInteger())
			return Async(rt, "slow", func(context.Context) (int, error) {
				started <- n
				<-gate
				return n, nil
			}, func(n int) goja.Value { return rt.VM().ToValue(n) })
		}))
		_ = o.Set("free", rt.Function("free", func(goja.FunctionCall) goja.Value {
			return Async(rt, "free", func(context.Context) (bool, error) {
				free <- true
				return true, nil
			}, nil)
		}))
		return o
	}}
	p, report := Compile(Source{Name: "exec", Text: `
		const all = Array.from({ length: 20 }, (_, i) => slow(i))
		await free()
		return (await Promise.all(all)).join()`}, []Module{module})
	if report != nil {
		t.Fatal(report.Text())
	}
	done := make(chan *Outcome)
	go func() {
		done <- New(Options{Modules: []Module{module}, InFlight: limit}).Run(context.Background(), p)
	}()
	seen := map[int]bool{}
	for range limit {
		seen[<-started] = true
	}
	if !seen[0] || !seen[1] || !seen[2] {
		t.Errorf("the first to start were %v", seen)
	}
	<-free // another class is not held up
	for n := limit; n < calls; n++ {
		if len(started) != 0 {
			t.Fatalf("more than %d works run", limit)
		}
		gate <- true
		if got := <-started; got != n {
			t.Errorf("work %d started, want %d", got, n)
		}
	}
	for range limit {
		gate <- true
	}
	o := <-done
	if got := string(o.Value); !strings.HasPrefix(got, `"0,1,2,3,`) || !strings.HasSuffix(got, `,18,19"`) {
		t.Errorf("value %s, %v", got, o.Report)
	}
}

func TestErrorsOfWorksAreErrorsOfTheirKind(t *testing.T) {
	t.Parallel()
	module := Module{Globals: []string{"tool"}, Make: func(rt *Runtime) *goja.Object {
		o := rt.VM().NewObject()
		_ = o.Set("tool", rt.Function("tool", func(goja.FunctionCall) goja.Value {
			return Async(rt, "tool", func(context.Context) (string, error) {
				err := fault.New(fault.Tool, "the tool said no").Hintf("ask again").
					With("server", "demo").With("code", 7).With("content", []map[string]string{{"type": "text"}}).With("message", "not this").With("stack", "nor this")
				return "", fmt.Errorf("calling demo.boom: %w", err)
			}, nil)
		}))
		return o
	}}
	run := func(text string) *Outcome {
		t.Helper()
		p, report := Compile(Source{Name: "exec", Text: text}, []Module{module})
		if report != nil {
			t.Fatal(report.Text())
		}
		return New(Options{Modules: []Module{module}}).Run(t.Context(), p)
	}
	o := run(`try { await tool() } catch (e) {
		return [e instanceof Error, e.name, e.message, e.kind, e.hint, e.server, e.code, e.content, Object.keys(e), String(e), /exec:1:/.test(e.stack)] }`)
	want := `[true,"ToolError","calling demo.boom: the tool said no","tool","ask again","demo",7,[{"type":"text"}],["kind","hint","code","content","server"],"ToolError: calling demo.boom: the tool said no",true]`
	if got := string(o.Value); got != want {
		t.Errorf("the error is %s, %v\nwant %s", got, o.Report, want)
	}

	o = run("async function ask() {\n  return await tool()\n}\nawait ask()")
	r := o.Report
	if o.ExitCode != 1 || r == nil || r.Kind != fault.Tool || r.Name != "ToolError" || r.Hint != "ask again" || r.At == nil || r.At.String() != "exec:2:16" {
		t.Fatalf("exit %d, report %+v", o.ExitCode, r)
	}
	if got := jsonText(t, r.Details); got != `{"code":7,"content":[{"type":"text"}],"server":"demo"}` {
		t.Errorf("details %s", got)
	}
	if len(r.Frames) != 2 || r.Frames[0].Function != "ask" || r.Frames[1].Line != 4 {
		t.Errorf("frames %+v", r.Frames)
	}
	if !strings.HasPrefix(r.Text(), "calling demo.boom: the tool said no\n  at ask (exec:2:16)\n") {
		t.Errorf("reads %s", r.Text())
	}
}

func TestAnErrorInDeliverRejects(t *testing.T) {
	t.Parallel()
	module := Module{Globals: []string{"work"}, Make: func(rt *Runtime) *goja.Object {
		o := rt.VM().NewObject()
		_ = o.Set("work", rt.Function("work", func(goja.FunctionCall) goja.Value {
			return Async(rt, "x", func(context.Context) (int, error) { return 1, nil },
				func(int) goja.Value { panic(rt.VM().NewTypeError("not delivered")) })
		}))
		return o
	}}
	p, report := Compile(Source{Name: "exec", Text: "try { await work() } catch (e) { return e.message }"}, []Module{module})
	if report != nil {
		t.Fatal(report.Text())
	}
	if o := New(Options{Modules: []Module{module}}).Run(t.Context(), p); string(o.Value) != `"not delivered"` {
		t.Errorf("value %s, %v", o.Value, o.Report)
	}
}

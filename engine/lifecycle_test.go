package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
)

// lifeline exports functions that use what modules may use of the course of a run.
func lifeline(l Lifecycle) Module {
	return Module{
		Globals: []string{"tick", "get", "set", "hold", "background", "later"},
		Make: func(rt *Runtime) *goja.Object {
			o := rt.VM().NewObject()
			export := func(name string, fn func(c goja.FunctionCall) goja.Value) { _ = o.Set(name, rt.Function(name, fn)) }
			call := func(v goja.Value) func() {
				fn, _ := goja.AssertFunction(v)
				return func() { rt.Call(fn, goja.Undefined()) }
			}
			export("tick", func(c goja.FunctionCall) goja.Value {
				rt.NextTick(call(c.Argument(0)))
				return nil
			})
			export("later", func(c goja.FunctionCall) goja.Value {
				rt.SetTimer(time.Millisecond, false, call(c.Argument(0)))
				return nil
			})
			export("get", func(goja.FunctionCall) goja.Value { return rt.VM().ToValue(rt.AsyncContext()) })
			export("set", func(c goja.FunctionCall) goja.Value {
				rt.SetAsyncContext(c.Argument(0).Export())
				return nil
			})
			release := func() {}
			export("hold", func(c goja.FunctionCall) goja.Value {
				if c.Argument(0).ToBoolean() {
					release = rt.Hold()
				} else {
					release()
					release()
				}
				return nil
			})
			export("background", func(goja.FunctionCall) goja.Value {
				return Background(rt, "never", func(ctx context.Context) (int, error) {
					<-ctx.Done()
					return 0, context.Cause(ctx)
				}, nil)
			})
			rt.SetLifecycle(l)
			return o
		},
	}
}

func lived(t *testing.T, code string, l Lifecycle) *Outcome {
	t.Helper()
	m := lifeline(l)
	p, report := Compile(Source{Name: "exec", Text: code}, []Module{m})
	if report != nil {
		t.Fatal(report.Text())
	}
	return New(Options{Modules: []Module{m}}).Run(t.Context(), p)
}

func TestTicksRunBeforePromiseJobs(t *testing.T) {
	t.Parallel()
	const code = `const log = []; await new Promise(done => later(() => {
		Promise.resolve().then(() => { log.push("p1"); tick(() => log.push("t3")) }).then(() => log.push("p2"));
		tick(() => { log.push("t1"); tick(() => log.push("t2")); Promise.resolve().then(() => log.push("p3")) });
		log.push("sync"); later(done) })); return log.join()`
	if o := lived(t, code, Lifecycle{}); string(o.Value) != `"sync,t1,t2,p1,p3,p2,t3"` {
		t.Errorf("the order is %s, %v", o.Value, o.Report)
	}
	if o := lived(t, `tick(() => { throw new TypeError("boom") }); tick(() => { throw new Error("no") })`, Lifecycle{}); o.Report == nil || o.Report.Name != "TypeError" {
		t.Errorf("a tick that throws gives %+v", o.Report)
	}
}

func TestTheAsyncContextFollowsTheScript(t *testing.T) {
	t.Parallel()
	const code = `const log = []; const note = what => log.push(what + get());
		async function branch(name) { set(name); note(""); await null; note(""); await new Promise(r => later(r)); note("") }
		const a = branch("a"), b = branch("b"); note("after "); set(undefined);
		later(() => { set("t"); tick(() => note("tick ")); later(() => note("timer ")); Promise.resolve().then(() => note("then ")) }); later(() => note("other "));
		await Promise.all([a, b, new Promise(r => later(() => later(() => later(r))))]); return log.sort().join()`
	if o := lived(t, code, Lifecycle{}); string(o.Value) != `"a,a,a,after b,b,b,b,other null,then t,tick t,timer t"` {
		t.Errorf("the contexts are %s, %v", o.Value, o.Report)
	}
}

func TestTheCourseOfARunIsTold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, told, ended string }{
		{"its end", `tick(() => {})`, "idle exit0", "7"},
		{"an exception", `later(() => { throw new Error("boom") }); tick(() => {})`, "uncaught:boom:false exit1", "7 boom"},
		{"a rejection", `tick(() => {}); Promise.reject(new Error("late"))`, "rejected:late uncaught:late:true exit1", "7 late"},
		{"the script's own rejection", `tick(() => {}); throw new Error("mine")`, "uncaught:mine:true exit1", "7 mine"},
		{"one that was handled", `tick(() => {}); Promise.reject(new Error("ok"))`, "rejected:ok idle exit0", "7"},
		{"nothing to wait for", `tick(() => {}); await new Promise(() => {})`, "idle exit1", "7 the script can never end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var told []string
			message := func(v goja.Value) string { return v.(*goja.Object).Get("message").String() }
			o := lived(t, tt.code, Lifecycle{
				Rejected: func(reason, promise goja.Value) bool {
					told = append(told, "rejected:"+message(reason))
					return message(reason) == "ok"
				},
				Uncaught: func(v goja.Value, rejection bool) bool {
					told = append(told, "uncaught:"+message(v)+map[bool]string{true: ":true", false: ":false"}[rejection])
					return false
				},
				Idle: func() { told = append(told, "idle") },
				Exit: func(code int) int {
					told = append(told, "exit"+string(rune('0'+code)))
					return 7
				},
			})
			ended := string(rune('0' + o.ExitCode))
			if o.Report != nil {
				ended += " " + o.Report.Message
			}
			if got := strings.Join(told, " "); got != tt.told || !strings.HasPrefix(ended, tt.ended) {
				t.Errorf("told %s, ended %s; want %s and %s", got, ended, tt.told, tt.ended)
			}
		})
	}
}

func TestBackgroundWorkKeepsNothingAlive(t *testing.T) {
	t.Parallel()
	if o := lived(t, `background(); return 1`, Lifecycle{}); string(o.Value) != "1" {
		t.Errorf("the value is %s, %v", o.Value, o.Report)
	}
	if o := lived(t, `background(); hold(true); later(() => hold(false)); return 2`, Lifecycle{}); string(o.Value) != "2" {
		t.Errorf("the value is %s, %v", o.Value, o.Report)
	}
}

func TestCaptureStackTrace(t *testing.T) {
	t.Parallel()
	const code = `class Mine extends Error { constructor(m) { super(m); Error.captureStackTrace(this, Mine) } }
function make() { return new Mine("x") }
const made = make().stack.split("\n");
const o = {}; Error.captureStackTrace(o); const d = Object.getOwnPropertyDescriptor(o, "stack");
Error.stackTraceLimit = 1; const short = {}; (function deep() { Error.captureStackTrace(short) })();
Error.stackTraceLimit = 0; const none = {}; Error.captureStackTrace(none);
let bad; try { Error.captureStackTrace(5) } catch (e) { bad = e.name }
return [made[0], /^\s+at make/.test(made[1]), o.stack.split("\n")[0], d.enumerable, short.stack.split("\n").length, none.stack, bad, Error.captureStackTrace.name]`
	want := `["Error: x",true,"Error",false,2,"Error","TypeError","captureStackTrace"]`
	if o := lived(t, code, Lifecycle{}); string(o.Value) != want {
		t.Errorf("got %s, %v\nwant %s", o.Value, o.Report, want)
	}
}

package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"mcpx/internal/fault"
	"mcpx/internal/schema"
)

// result finds the value of a run: the top-level return; the default export, called if
// it is a function; the last expression.
type result struct {
	exports *goja.Object // the module's namespace
	last    goja.Value   // of the last expression statement; nil without one
	start   goja.Callable

	pending *goja.Promise // what the run waits for
	stage   int           // how far the search is
	value   goja.Value
	implied bool
	final   bool // a return at the top level was reached
	mark    int  // of the return or expression that the value is from, plus one; 0 without one
	notes   []string
}

// Stages of the search.
const (
	stageScript = iota // the script itself runs
	stageCalled        // a function of it, or a promise that is its value
	stageDone
)

func (r *result) setExports(c goja.FunctionCall) goja.Value {
	r.exports, _ = c.Argument(0).(*goja.Object)
	return nil
}

func (r *result) setLast(c goja.FunctionCall) goja.Value {
	r.last, r.mark = c.Argument(0), int(c.Argument(1).ToInteger())+1
	return r.last
}

func (r *result) setReturn(c goja.FunctionCall) goja.Value {
	r.final = true
	r.mark = int(c.Argument(1).ToInteger()) + 1
	return c.Argument(0)
}

func (r *result) setStart(c goja.FunctionCall) goja.Value {
	r.start, _ = goja.AssertFunction(c.Argument(0))
	return nil
}

// awaitOn makes v the value if it is no promise, and what it is fulfilled with otherwise.
func (rt *Runtime) awaitOn(v goja.Value) {
	r := &rt.value
	if r.pending = promiseOf(v); r.pending != nil {
		rt.expected.forget(r.pending)
		return
	}
	r.value, r.stage = v, stageDone
}

// settle takes the search one stage further if what it waited for is fulfilled, and
// reports whether it did.
func (rt *Runtime) settle() bool {
	r := &rt.value
	if r.stage == stageDone || r.pending == nil || r.pending.State() != goja.PromiseStateFulfilled {
		return false
	}
	v := r.pending.Result()
	if r.stage == stageCalled || !goja.IsUndefined(v) {
		rt.awaitOn(v)
		return true
	}
	r.stage = stageCalled
	rt.enter(func() { rt.awaitOn(rt.impliedValue()) })
	return true
}

// returned reports whether the script has returned and its value is there: that is its
// end, and nothing of it runs any more.
func (rt *Runtime) returned() bool { return rt.value.final && rt.value.stage == stageDone }

// impliedValue is the value of a script that returned none.
func (rt *Runtime) impliedValue() goja.Value {
	r := &rt.value
	start, name := r.start, "default"
	if given := rt.program.src.Export; given != "" {
		if name = given; r.exports == nil || r.exports.Get(name) == nil {
			rt.failed(rt.noExport(name))
			return goja.Undefined()
		}
	}
	if r.exports != nil {
		if v := r.exports.Get(name); v != nil {
			r.mark = 0
			fn, callable := goja.AssertFunction(v)
			class := callable && rt.intrinsics.isClass(v)
			if class && rt.program.src.Export == "" {
				return goja.Undefined()
			}
			if !callable || class {
				r.implied = rt.program.wrapped
				if r.implied && !rt.program.src.Expression {
					return goja.Undefined()
				}
				return v
			}
			start = fn
		}
	}
	if start != nil {
		r.mark = 0
		return rt.callStart(start)
	}
	if r.last != nil && rt.program.src.Expression {
		r.implied = true
		return r.last
	}
	return goja.Undefined()
}

// noExport reports that the script has no export of that name.
func (rt *Runtime) noExport(name string) *fault.Report {
	r := &fault.Report{Kind: fault.Usage, Name: "ImportError", Message: fmt.Sprintf("the script has no export %q", name), Hint: "it exports nothing"}
	if rt.value.exports == nil {
		return r
	}
	names := rt.value.exports.GetOwnPropertyNames()
	if near := schema.Nearest(name, names, 1); len(near) > 0 {
		r.Hint = "did you mean " + near[0] + "?"
	} else if len(names) > 0 {
		slices.Sort(names)
		r.Hint = "it has " + strings.Join(names[:min(len(names), maxNames)], ", ")
	}
	return r
}

// callStart calls the function that is the script, with the script's arguments.
func (rt *Runtime) callStart(start goja.Callable) goja.Value {
	args := make([]goja.Value, len(rt.o.Ambient.Args))
	for i, a := range rt.o.Ambient.Args {
		args[i] = rt.vm.ToValue(a)
	}
	v, err := start(goja.Undefined(), args...)
	if err != nil {
		rt.uncaught(err)
		return goja.Undefined()
	}
	return v
}

// encodeValue is the run's value as JSON, nil if it is undefined. What JSON cannot hold
// of it is noted; if there is no JSON of it, that ends the run.
func (rt *Runtime) encodeValue() json.RawMessage {
	r := &rt.value
	if r.value == nil {
		return nil
	}
	e := &encoder{rt: rt, o: EncodeOptions{BigInt: true}, buf: make([]byte, 0, 256)}
	e.lost = func(l loss) {
		if len(r.notes) == 0 {
			r.notes = []string{l.note()}
		}
	}
	var ok bool
	if ex := rt.vm.Try(func() { ok = e.value("", -1, r.value) }); ex != nil {
		report := rt.reportError(ex)
		report.Message = "the value that the script returned cannot be JSON: " + report.Message
		if report.At == nil && r.mark > 0 {
			report.At = rt.program.at(rt.program.file.Position(rt.program.marks[r.mark-1].offset))
		}
		rt.failed(report)
		return nil
	}
	if !ok {
		return nil
	}
	return e.buf
}

// idle says why a script that only defines functions did nothing: silence would look
// like success.
func (rt *Runtime) idle(value json.RawMessage) {
	if rt.program.shape.idle && value == nil && !rt.written {
		rt.Write(Stderr, []byte("mcpx: the script defines functions and calls none of them; call one, or name it main\n"))
	}
}

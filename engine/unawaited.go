package engine

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/dop251/goja"

	"mcpx/internal/fault"
)

// expected are promises whose results a script is expected to take. Those that nothing has
// taken by the end of a run are told of: an await that was forgotten is no error of the
// language, and shows as {}, as [object Promise] or not at all.
type expected struct {
	rt   *Runtime
	list []expectation
	skip int // how many are passed over before the list is swept again
}

type expectation struct {
	promise *goja.Promise
	work    int // its number
	what    string
	stack   []goja.StackFrame // of the call
}

// What is kept of promises whose results nothing has taken yet: so many, since results stay
// in memory with them, and so many frames of each call.
const (
	maxExpected   = 32
	expectedDepth = 8
)

// Expect notes a promise that Async has just made, as one whose result the script is to take.
// what is how a script writes the call.
func (rt *Runtime) Expect(v goja.Value, what string) {
	p := promiseOf(v)
	if p == nil {
		return
	}
	e := &rt.expected
	if len(e.list) >= maxExpected {
		if e.skip > 0 {
			e.skip--
			return
		}
		if e.sweep(); len(e.list) > maxExpected/2 {
			e.skip = maxExpected // many calls that wait must not cost a sweep each
		}
		if len(e.list) >= maxExpected {
			return
		}
	}
	e.list = append(e.list, expectation{p, rt.works.last, what, rt.vm.CaptureCallStack(expectedDepth, nil)})
}

// promiseOf is the promise that a value is; nil if it is none.
func promiseOf(v goja.Value) *goja.Promise {
	// Export of any other object would run its getters.
	if o, ok := v.(*goja.Object); ok && o.ExportType() == reflect.TypeFor[*goja.Promise]() {
		p, _ := o.Export().(*goja.Promise)
		return p
	}
	return nil
}

// sweep forgets the promises that something has taken.
func (e *expected) sweep() {
	e.list = slices.DeleteFunc(e.list, func(x expectation) bool { return isHandled(x.promise) })
}

// forget is called with a promise whose result is not wanted, or is taken by the engine.
func (e *expected) forget(p *goja.Promise) {
	e.list = slices.DeleteFunc(e.list, func(x expectation) bool { return x.promise == p })
}

// unwanted is called with what the operator void is applied to: by that a script says that
// it does not want a result.
func (e *expected) unwanted(c goja.FunctionCall) goja.Value {
	if p := promiseOf(c.Argument(0)); p != nil {
		e.forget(p)
	}
	return nil
}

// handledField says where goja keeps whether anything has asked a promise for its result. Its
// API tells only of promises that were rejected. If it is not there, nothing is told of, and
// a test fails.
var handledField = sync.OnceValue(func() []int {
	f, ok := reflect.TypeFor[goja.Promise]().FieldByName("handled")
	if !ok || f.Type.Kind() != reflect.Bool {
		return nil
	}
	return f.Index
})

// isHandled reports whether an await, then, catch or finally has taken a promise's result.
func isHandled(p *goja.Promise) bool {
	field := handledField()
	return field == nil || reflect.ValueOf(p).Elem().FieldByIndex(field).Bool()
}

// text is one of them in words.
func (x expectation) text(rt *Runtime) string {
	where := ""
	if at, _ := rt.place(framesOf(x.stack)); at != nil {
		where = fmt.Sprintf(" at %s:%d:%d", at.File, at.Line, at.Column)
	}
	return fmt.Sprintf("the result of %s%s", x.what, where)
}

// maxUnawaited is how many promises are told that nothing has taken.
const maxUnawaited = 3

// notes tells of the promises whose results nothing has taken. Those of works that have
// failed unheard are told of as such.
func (e *expected) notes() []string {
	e.sweep()
	var out []string
	for _, x := range e.list {
		if e.rt.works.isUnheard(x.work) {
			continue
		}
		note := x.text(e.rt) + " was never awaited: write await " + x.what + "(…)"
		switch {
		case slices.Contains(out, note): // as in a loop
		case len(out) == maxUnawaited:
			return append(out, "the results of more calls were not awaited either")
		default:
			out = append(out, note)
		}
	}
	return out
}

// blame adds to the report of an error that a promise causes where its result was meant, that
// there is such a promise.
func (e *expected) blame(r *fault.Report) {
	if r.Kind != fault.Script || r.Name != "TypeError" && r.Name != "SyntaxError" {
		return
	}
	if e.sweep(); len(e.list) == 0 {
		return
	}
	x := e.list[len(e.list)-1]
	hint := x.text(e.rt) + " is not awaited: write await " + x.what + "(…)"
	if r.Hint != "" {
		hint = r.Hint + "; " + hint
	}
	r.Hint = hint
}

package engine

import (
	"strings"

	"github.com/dop251/goja"

	"mcpx/internal/fault"
)

// rejections are the promises that were rejected while nothing handled them. What is
// still among them when a turn and its microtasks are over is an error, as in Node.
type rejections struct {
	vm        *goja.Runtime
	order     []*goja.Promise
	unhandled map[*goja.Promise][]goja.StackFrame // where each was rejected
	reason    goja.Value                          // of the last, and where it first was one
	place     []goja.StackFrame
}

// rejectionDepth is how many calls are kept of where a promise was rejected.
const rejectionDepth = 8

func (r *rejections) track(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionHandle {
		delete(r.unhandled, p)
		return
	}
	if r.unhandled == nil {
		r.unhandled = map[*goja.Promise][]goja.StackFrame{}
	}
	stack := r.vm.CaptureCallStack(rejectionDepth, nil)
	if reason := p.Result(); r.reason == nil || !r.reason.SameAs(reason) {
		r.reason, r.place = reason, stack
	}
	r.unhandled[p] = stack
	r.order = append(r.order, p)
}

// of is where a promise was first rejected with v, if that was the last reason of one.
func (r *rejections) of(v goja.Value) []goja.StackFrame {
	if r.reason == nil || v == nil || !r.reason.SameAs(v) {
		return nil
	}
	return r.place
}

// next returns the first that nothing has handled and where it was rejected, and forgets it.
func (r *rejections) next() (*goja.Promise, []goja.StackFrame) {
	for len(r.order) > 0 {
		p := r.order[0]
		r.order = r.order[1:]
		if stack, ok := r.unhandled[p]; ok {
			delete(r.unhandled, p)
			return p, stack
		}
	}
	return nil, nil
}

// unhandledHint is what to do about a rejection that nothing handled.
const unhandledHint = "the promise was rejected and nothing handled it: await it, or add .catch"

// rejection reports why a promise was rejected that nothing handled.
func (rt *Runtime) rejection(p *goja.Promise, stack []goja.StackFrame) *fault.Report {
	r := rt.report(p.Result(), stack)
	if p == rt.value.pending {
		return r // the script itself failed, which is its caller's to handle
	}
	if r.Name == "" {
		r.Message = "unhandled rejection: " + strings.TrimPrefix(r.Message, threw)
	}
	if r.Hint != "" {
		r.Hint += "; "
	}
	r.Hint += unhandledHint
	return r
}

// unhandled tells the script of a rejection, and ends the run if the script does not
// handle it.
func (rt *Runtime) unhandled(p *goja.Promise, stack []goja.StackFrame) {
	reason, l := p.Result(), rt.lifecycle
	script := p == rt.value.pending // the script itself failed
	if !script && l.Rejected != nil && l.Rejected(reason, rt.vm.ToValue(p)) {
		return
	}
	if l.Uncaught == nil || !l.Uncaught(reason, true) {
		rt.failed(rt.rejection(p, stack))
		return
	}
	if script {
		rt.value.pending, rt.value.stage = nil, stageDone
	}
}

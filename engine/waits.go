package engine

import (
	"cmp"
	"slices"

	"github.com/dop251/goja"

	"mcpx/internal/fault"
)

// waits knows which awaits of the script wait at the moment, so that a run that can
// never end can say where. It is told of each by a call that the compiler adds before
// an await, and of its end as goja's AsyncContextTracker.
type waits struct {
	rt    *Runtime
	list  wait // head of a ring of those that wait
	next  int  // mark of the await that is about to begin, plus one; 0 without one
	jobs  int  // promise jobs so far
	began int
}

// wait is one await that waits.
type wait struct {
	mark       int
	job, order int // in which promise job it began, and its number
	context    any // the async context
	prev, next *wait
}

// before is called with the awaited value and the mark of the await.
func (w *waits) before(c goja.FunctionCall) goja.Value {
	w.next = int(c.Argument(1).ToInteger()) + 1
	return c.Argument(0)
}

// Grab is called when a reaction is added to a promise: by an await, or by then.
func (w *waits) Grab() any {
	if w.next == 0 {
		return w.rt.context
	}
	if w.list.next == nil {
		w.list.next, w.list.prev = &w.list, &w.list
	}
	w.began++
	n := &wait{mark: w.next - 1, job: w.jobs, order: w.began, context: w.rt.context, prev: w.list.prev, next: &w.list}
	n.prev.next, w.list.prev = n, n
	w.next = 0
	return n
}

// Resumed is called when the reaction runs.
func (w *waits) Resumed(tracked any) {
	w.jobs++
	if n, ok := tracked.(*wait); ok {
		n.prev.next, n.next.prev = n.next, n.prev
		tracked = n.context
	}
	w.rt.context = tracked
}

// Exited is called when the reaction has run. No reaction runs inside another.
func (w *waits) Exited() { w.rt.context = nil }

// pending returns the marks of the awaits that wait, innermost first. Along one chain of
// async functions that is the order of a stack: what began in a later job was called by
// what began before, and within a job the callee waits first.
func (w *waits) pending(p *Program) []mark {
	var list []*wait
	for n := w.list.next; n != nil && n != &w.list; n = n.next {
		list = append(list, n)
	}
	top := func(n *wait) int {
		if p.marks[n.mark].top {
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(a, b *wait) int {
		return cmp.Or(cmp.Compare(top(a), top(b)), cmp.Compare(b.job, a.job), cmp.Compare(a.order, b.order))
	})
	marks := make([]mark, len(list))
	for i, n := range list {
		marks[i] = p.marks[n.mark]
	}
	return marks
}

// maxWaits bounds how many awaits a report lists.
const maxWaits = 16

// waiting returns where the script waits: the innermost place, and all of them as frames.
func (rt *Runtime) waiting() (at *fault.Position, frames []fault.Frame) {
	p := rt.program
	for _, m := range rt.waits.pending(p) {
		pos := p.at(p.file.Position(m.offset))
		if pos == nil {
			continue
		}
		if at == nil {
			at = pos
		}
		frames = append(frames, fault.Frame{File: pos.File, Line: pos.Line, Column: pos.Column})
		if len(frames) == maxWaits {
			break
		}
	}
	return at, frames
}

// stuck ends the run if its promise is pending: it is called when nothing is left that
// could settle it.
func (rt *Runtime) stuck() {
	if rt.value.stage == stageDone {
		return
	}
	at, frames := rt.waiting()
	r := &fault.Report{
		Kind: fault.Script, Name: "DeadlockError", At: at, Frames: frames,
		Message: "the script can never end: it waits for a promise that nothing is left to settle",
		Hint:    "no timer is set and no call is under way; make sure that every path resolves or rejects the promise",
	}
	if at != nil { // which the report shows by itself
		r.Message = "the script can never end: this await waits for a promise that nothing is left to settle"
	}
	rt.failed(r)
}

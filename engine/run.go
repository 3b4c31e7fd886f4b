package engine

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/dop251/goja"

	"mcpx/internal/fault"
)

// exitInterrupted is the exit code of a run that its caller gave up.
const exitInterrupted = 130

// Run runs p to its end: until its promise is settled and no timer and no work of Async
// is left. A return at the top level is the end too: nothing of the script runs after its
// value is there, and works that were begun by then take place. When ctx is done, the script is interrupted wherever it is, and the context's
// cause says why. No panic leaves Run, and no goroutine that it started outlives it.
func (rt *Runtime) Run(ctx context.Context, p *Program) *Outcome {
	rt.program = p
	cancelled := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		defer close(cancelled)
		rt.cancel(ctx)
	})
	rt.enter(func() {
		if r := rt.link(p); r != nil {
			rt.failed(r)
			return
		}
		rt.start(p)
	})
	for !rt.end.reached() && (rt.settle() || !rt.returned() && (rt.turn() || rt.idled())) {
	}
	if rt.returned() {
		rt.works.finish() // what was begun takes place
	}
	var value json.RawMessage
	if !rt.end.reached() {
		rt.stuck()
		rt.enter(func() { value = rt.encodeValue() })
		rt.idle(value)
		rt.exit(0, nil)
	}
	if !release() {
		<-cancelled
	}
	rt.end.locateWait(rt)
	code, report := rt.end.close()
	rt.stop(context.Canceled)
	rt.works.close()
	out := &Outcome{ExitCode: code, Report: report}
	if report == nil && value != nil {
		out.Value, out.Implied = value, rt.value.implied
	}
	if report == nil && (value != nil || !rt.value.implied) {
		out.Notes = rt.value.notes
	}
	if report == nil && rt.returned() {
		out.Notes = append(out.Notes, rt.works.unheard()...)
	}
	if report == nil {
		out.Notes = append(out.Notes, rt.expected.notes()...)
	}
	return out
}

// start runs the script's function up to its first await.
func (rt *Runtime) start(p *Program) {
	rt.add(p.wants)
	if len(p.literals) > 0 || p.uses&(1<<regexpHelper) != 0 {
		rt.installRegExp()
		rt.regexps.register(p.literals)
	}
	function, err := rt.vm.RunProgram(p.code)
	if err != nil {
		rt.uncaught(err)
		return
	}
	run, _ := goja.AssertFunction(function)
	rt.modules.function = rt.Function("", rt.modules.require)
	args := []goja.Value{rt.Function("", rt.value.setExports), rt.modules.function}
	for i, h := range helpers {
		if p.uses&(1<<i) != 0 {
			args = append(args, rt.Function("", h.make(rt)))
		}
	}
	promise, err := run(goja.Undefined(), args...)
	if err != nil {
		rt.uncaught(err)
		return
	}
	rt.awaitOn(promise)
}

// cancel ends the run because ctx is done.
func (rt *Runtime) cancel(ctx context.Context) {
	cause := context.Cause(ctx)
	r := fault.ReportOf(cause)
	var e *fault.Error
	switch {
	case errors.As(cause, &e):
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.Kind, r.Name = fault.Timeout, fault.Timeout.ErrorName()
	default:
		rt.finish(exitInterrupted, &fault.Report{Kind: fault.Script, Message: "the run was interrupted"}, cause)
		return
	}
	rt.finish(r.Kind.ExitCode(), r, cause)
}

// fail ends the run with a report.
func (rt *Runtime) fail(r *fault.Report) {
	rt.finish(r.Kind.ExitCode(), r, errors.New(r.Message))
}

// Exit ends the run with an exit code. Nothing of the script runs after it, not even a
// finally block.
func (rt *Runtime) Exit(code int) { rt.finish(code, nil, context.Canceled) }

// finish ends the run, if it has not ended. Any goroutine may call it.
func (rt *Runtime) finish(code int, r *fault.Report, cause error) {
	if rt.end.set(code, r) {
		rt.vm.Interrupt(endOfRun{})
		rt.stop(cause)
		rt.loop.rouse()
	}
}

// endOfRun is the value of the interrupt by which a run ends.
type endOfRun struct{}

// uncaught ends the run with an error that reached the engine from JavaScript.
func (rt *Runtime) uncaught(err error) {
	if interrupted, ok := errors.AsType[*goja.InterruptedError](err); ok {
		rt.end.locate(rt, interrupted.Stack())
		return
	}
	v, ok := thrownValue(err)
	if handle := rt.lifecycle.Uncaught; ok && handle != nil {
		handled := false
		rt.inside(func() { handled = handle(v, false) })
		if handled {
			return
		}
	}
	rt.failed(rt.reportError(err))
}

// failed ends the run with a report of what the script did. The script is told.
func (rt *Runtime) failed(r *fault.Report) {
	rt.expected.blame(r)
	rt.exit(r.Kind.ExitCode(), r)
}

// exit ends the run where the script can see it.
func (rt *Runtime) exit(code int, r *fault.Report) {
	cause := context.Canceled
	if r != nil {
		cause = errors.New(r.Message)
	}
	tell := rt.lifecycle.Exit
	rt.lifecycle = Lifecycle{}
	if tell == nil || rt.end.reached() {
		rt.finish(code, r, cause)
		return
	}
	rt.inside(func() { rt.finish(tell(code), r, cause) })
}

// ending is how a run ended. It is set once.
type ending struct {
	done   atomic.Bool
	mu     sync.Mutex
	code   int
	report *fault.Report
}

func (e *ending) reached() bool { return e.done.Load() }

func (e *ending) set(code int, r *fault.Report) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done.Load() {
		return false
	}
	e.code, e.report = code, r
	e.done.Store(true)
	return true
}

// locate adds where the script was when it was interrupted.
func (e *ending) locate(rt *Runtime, stack []goja.StackFrame) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.report != nil && e.report.At == nil {
		e.report.At, e.report.Frames = rt.place(framesOf(stack))
	}
}

// locateWait adds where the script waited when its time was up, if it was not running.
func (e *ending) locateWait(rt *Runtime) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.report != nil && e.report.Kind == fault.Timeout && e.report.At == nil {
		e.report.At, e.report.Frames = rt.waiting()
	}
}

// close makes the ending final and returns it.
func (e *ending) close() (code int, r *fault.Report) {
	e.set(0, nil)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.code, e.report
}

package engine

import (
	"sync"

	"github.com/dop251/goja"
)

// entry is how Go enters JavaScript: through a frame of JavaScript that calls back, so
// that promise jobs wait until the whole callback has returned, as in other engines,
// and not only until the first function that it calls.
type entry struct {
	call goja.Callable
	task goja.Value // a native function that runs next
	next func()

	inside bool // JavaScript is running
	nested int  // tasks under way
}

var frameProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("mcpx:loop", "(function (task) { task() })", true)
})

func (e *entry) init(rt *Runtime) {
	frame, err := rt.vm.RunProgram(frameProgram())
	if err != nil {
		panic(err)
	}
	e.call, _ = goja.AssertFunction(frame)
	e.task = rt.Function("", func(goja.FunctionCall) goja.Value {
		next := e.next
		e.nested++
		defer func() { e.nested-- }()
		e.run(rt, next)
		if e.nested == 1 {
			rt.runJobs()
		}
		return nil
	})
	rt.overflowing(e.task.(*goja.Object))
}

// run runs what is next, and its ticks.
func (e *entry) run(rt *Runtime, next func()) {
	e.next, e.inside = nil, true
	defer func() { e.inside, rt.context, rt.kept = false, nil, nil }()
	next()
	rt.context = nil
	rt.tick()
}

// Function makes a native function. Unlike goja's own it has the name that a script is
// to see, not that of the Go function, and fn may return nil for undefined even where
// the function is a promise's reaction.
func (rt *Runtime) Function(name string, fn func(goja.FunctionCall) goja.Value) *goja.Object {
	o := rt.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		if v := fn(c); v != nil {
			return v
		}
		return goja.Undefined()
	}).(*goja.Object)
	if err := o.DefineDataProperty("name", rt.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		panic(err)
	}
	return o
}

// enter runs one callback, its ticks, and then the promise jobs that are due. What it
// throws, or rejects and leaves unhandled, ends the run unless the script asked to be
// told. It is where a fault of the engine stops.
func (rt *Runtime) enter(fn func()) {
	defer func() {
		if x := recover(); x != nil {
			rt.fail(panicReport(x))
		}
	}()
	for fn != nil && !rt.end.reached() {
		rt.entry.next = fn
		if _, err := rt.entry.call(goja.Undefined(), rt.entry.task); err != nil {
			rt.uncaught(err)
			return
		}
		fn = rt.left()
	}
}

// left returns what a callback and its promise jobs left to do at once.
func (rt *Runtime) left() func() {
	if len(rt.ticks.queue) > 0 {
		return func() {} // entry runs them
	}
	p, stack := rt.rejected.next()
	if p == nil {
		return nil
	}
	if rt.lifecycle.Rejected == nil && rt.lifecycle.Uncaught == nil {
		rt.failed(rt.rejection(p, stack))
		return nil
	}
	return func() { rt.unhandled(p, stack) }
}

// inside runs fn with JavaScript around it.
func (rt *Runtime) inside(fn func()) {
	if rt.entry.inside {
		fn()
	} else {
		rt.enter(fn)
	}
}

// Call calls fn from a callback that runs on the script's goroutine, such as a timer's.
// What fn throws becomes the run's uncaught error.
func (rt *Runtime) Call(fn goja.Callable, this goja.Value, args ...goja.Value) {
	if rt.end.reached() {
		return
	}
	if _, err := fn(this, args...); err != nil {
		rt.uncaught(err)
	}
}

// Microtask calls fn in order with the reactions of promises.
func (rt *Runtime) Microtask(fn func()) {
	promise, resolve, _ := rt.vm.NewPromise()
	job := func(goja.FunctionCall) goja.Value {
		fn()
		return nil
	}
	if _, err := rt.intrinsics.then(rt.vm.ToValue(promise), rt.Function("", job)); err != nil {
		rt.uncaught(err)
	}
	_ = resolve(goja.Undefined())
}

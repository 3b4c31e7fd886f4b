package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/dop251/goja"
)

// Lifecycle is what a module is told of the course of the run. Each function is called
// on the script's goroutine, from the loop, and may be nil.
type Lifecycle struct {
	// Rejected is called for a promise that was rejected and that nothing handles. If it
	// returns false the rejection ends the run.
	Rejected func(reason, promise goja.Value) (handled bool)
	// Uncaught is called with a value that nothing caught, thrown or, if rejection, the
	// reason of a promise. If it returns false the value ends the run.
	Uncaught func(v goja.Value, rejection bool) (handled bool)
	// Idle is called when nothing is left to run. What it sets going is still run, and
	// then it is called again.
	Idle func()
	// Exit is called once when the run has come to an end that the script can see: its
	// own, an uncaught error, or a promise that can never settle. It may run script code,
	// but nothing that this sets going. It returns the exit code.
	Exit func(code int) int
}

// SetLifecycle says who is told. There is one for a runtime.
func (rt *Runtime) SetLifecycle(l Lifecycle) { rt.lifecycle = l }

// Source is the script that runs.
func (rt *Runtime) Source() Source {
	if rt.program == nil {
		return Source{}
	}
	return rt.program.src
}

// Require returns the exports of a module of the runtime, nil if there is none of that
// name. It is how modules that do not know of each other meet.
func (rt *Runtime) Require(name string) *goja.Object {
	for i, module := range rt.o.Modules {
		if module.Name == name && name != "" {
			return rt.modules.exports(i)
		}
	}
	return nil
}

// Modules lists the names that Require knows.
func (rt *Runtime) Modules() []string {
	var names []string
	for _, m := range rt.o.Modules {
		if m.Name != "" {
			names = append(names, m.Name)
		}
	}
	return names
}

// Hold keeps the run alive until release is called, which may be called again.
func (rt *Runtime) Hold() (release func()) {
	rt.loop.refs++
	held := true
	return func() {
		if held {
			held = false
			rt.loop.refs--
		}
	}
}

// idled tells that nothing is left to run, and reports whether there is something again.
func (rt *Runtime) idled() bool {
	if rt.lifecycle.Idle == nil || rt.end.reached() {
		return false
	}
	rt.enter(rt.lifecycle.Idle)
	return rt.loop.refs > 0 || rt.works.pending()
}

// thrownValue is what a script threw.
func thrownValue(err error) (v goja.Value, ok bool) {
	if exception, ok := errors.AsType[*goja.Exception](err); ok {
		return exception.Value(), true
	}
	return nil, false
}

// Age is how long the run has lasted.
func (rt *Runtime) Age() time.Duration { return time.Since(rt.loop.start) }

// Began is when the run began.
func (rt *Runtime) Began() time.Time { return rt.loop.start }

// Globals returns what the module that provides a global has made, whatever the script
// has done to the global; nil if no module provides it.
func (rt *Runtime) Globals(name string) *goja.Object {
	for i, module := range rt.o.Modules {
		if slices.Contains(module.Globals, name) {
			return rt.modules.exports(i)
		}
	}
	return nil
}

// ScriptFile is how positions inside the runtime call the script itself.
const ScriptFile = scriptSource

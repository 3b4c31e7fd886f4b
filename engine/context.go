package engine

// AsyncContext is the value that SetAsyncContext gave to what is running, or to what set
// it going: it follows the script through awaits, reactions of promises, timers,
// immediates and ticks. It is nil at first.
func (rt *Runtime) AsyncContext() any { return rt.context }

// SetAsyncContext changes the value for the rest of the callback that is running and for
// all that it sets going from now on.
func (rt *Runtime) SetAsyncContext(v any) { rt.context = v }

// bound makes fn run in the async context of now.
func (rt *Runtime) bound(fn func()) func() {
	context := rt.context
	if context == nil {
		return fn
	}
	return func() {
		before := rt.context
		rt.context = context
		defer func() { rt.context = before }()
		fn()
	}
}

package engine

// ticks are callbacks that run when the callback being run has returned, before the
// promise jobs that it left.
type ticks struct {
	queue []func()
}

// NextTick calls fn on the script's goroutine as soon as the callback that is running
// has returned, before any reaction of a promise. What fn throws by way of Call is the
// run's uncaught error.
func (rt *Runtime) NextTick(fn func()) {
	rt.ticks.queue = append(rt.ticks.queue, rt.bound(fn))
}

// tick runs the ticks, also those that they add.
func (rt *Runtime) tick() {
	for len(rt.ticks.queue) > 0 {
		batch := rt.ticks.queue
		rt.ticks.queue = nil
		for _, fn := range batch {
			if rt.end.reached() {
				return
			}
			fn()
		}
	}
}

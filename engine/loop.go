package engine

import (
	"container/heap"
	"sync"
	"time"
)

// loop is what a run does next: callbacks that other goroutines posted, timers, and
// immediates. Only post may be called by a goroutine other than the script's.
type loop struct {
	mu     sync.Mutex
	posted []func()
	wake   chan struct{} // has room for one

	spare      []func() // the slice that posted had before
	start      time.Time
	timers     timers
	immediates []*timer
	byID       map[int64]*timer
	created    int64
	refs       int // timers and immediates that keep the run alive
	turned     bool
}

// timer is a timer or an immediate.
type timer struct {
	id    int64 // also the order of creation
	due   time.Duration
	order int64 // decides between timers due at once
	every time.Duration
	fn    func()
	index int // in the heap; -1 if it is not there
	unref bool
}

func (l *loop) init() {
	l.wake = make(chan struct{}, 1)
	l.start = time.Now()
	l.byID = map[int64]*timer{}
}

// post queues a callback for the script's goroutine.
func (l *loop) post(fn func()) {
	l.mu.Lock()
	l.posted = append(l.posted, fn)
	l.mu.Unlock()
	l.rouse()
}

// rouse ends a wait of the script's goroutine.
func (l *loop) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *loop) take() []func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch := l.posted
	l.posted = l.spare[:0]
	l.spare = batch
	return batch
}

// now is the age of the run. Like Node's it ticks in milliseconds, so that timers set in
// one go fall due in the order of their delays.
func (l *loop) now() time.Duration { return time.Since(l.start).Truncate(time.Millisecond) }

// SetTimer calls fn on the script's goroutine once d has passed, and then every d if
// repeat. Timers that fall due together run in the order of their creation. A timer
// keeps the run alive, unless RefTimer says otherwise.
func (rt *Runtime) SetTimer(d time.Duration, repeat bool, fn func()) (id int64) {
	l := &rt.loop
	t := l.create(rt.bound(fn))
	d = max(d, time.Millisecond)
	t.due, t.order = l.now()+d, t.id
	if repeat {
		t.every = d
	}
	heap.Push(&l.timers, t)
	return t.id
}

// SetImmediate calls fn when the timers that are due and the results that have arrived
// have been dealt with. Its id is one of a timer.
func (rt *Runtime) SetImmediate(fn func()) (id int64) {
	t := rt.loop.create(rt.bound(fn))
	rt.loop.immediates = append(rt.loop.immediates, t)
	return t.id
}

func (l *loop) create(fn func()) *timer {
	l.created++
	t := &timer{id: l.created, fn: fn, index: -1}
	l.byID[t.id] = t
	l.refs++
	return t
}

// ClearTimer forgets a timer or an immediate. An id that is none is ignored.
func (rt *Runtime) ClearTimer(id int64) {
	l := &rt.loop
	t := l.byID[id]
	if t == nil {
		return
	}
	l.forget(t)
	if t.index >= 0 {
		heap.Remove(&l.timers, t.index)
	}
}

func (l *loop) forget(t *timer) {
	delete(l.byID, t.id)
	if !t.unref {
		l.refs--
	}
	t.fn = nil
}

// RefTimer says whether a timer keeps the run alive.
func (rt *Runtime) RefTimer(id int64, keep bool) {
	t := rt.loop.byID[id]
	if t == nil || t.unref == !keep {
		return
	}
	t.unref = !keep
	if keep {
		rt.loop.refs++
	} else {
		rt.loop.refs--
	}
}

// TimerRef reports whether a timer exists and keeps the run alive.
func (rt *Runtime) TimerRef(id int64) bool {
	t := rt.loop.byID[id]
	return t != nil && !t.unref
}

// turn runs what is due: timers, then what was posted, then immediates, each followed by
// its microtasks; but in the first turn what the script set at once as immediates. If
// there is nothing, it waits. It returns false when nothing is left that could ever run.
func (rt *Runtime) turn() bool {
	l := &rt.loop
	first := !l.turned
	l.turned = true
	if first && rt.runImmediates() {
		return true // whether a short timer is due as well is up to the machine
	}
	ran := rt.runTimers()
	batch := l.take()
	for i, fn := range batch {
		batch[i] = nil
		rt.enter(fn)
	}
	if rt.runImmediates() || ran || len(batch) > 0 {
		return true
	}
	if l.refs == 0 && !rt.works.pending() {
		return false
	}
	l.wait()
	return true
}

func (rt *Runtime) runImmediates() (ran bool) {
	l := &rt.loop
	immediates := l.immediates
	l.immediates = nil
	for _, t := range immediates {
		if fn := t.fn; fn != nil {
			l.forget(t)
			rt.enter(fn)
		}
	}
	return len(immediates) > 0
}

func (rt *Runtime) runTimers() (ran bool) {
	l := &rt.loop
	now := l.now()
	for len(l.timers) > 0 && l.timers[0].due <= now && !rt.end.reached() {
		t := heap.Pop(&l.timers).(*timer)
		fn := t.fn
		if t.every == 0 {
			l.forget(t)
		}
		rt.enter(fn)
		ran = true
		if t.every > 0 && t.fn != nil {
			l.created++
			t.due, t.order = l.now()+t.every, l.created
			heap.Push(&l.timers, t)
		}
	}
	return ran
}

// wait returns when a timer is due or rouse was called.
func (l *loop) wait() {
	if len(l.timers) == 0 {
		<-l.wake
		return
	}
	t := time.NewTimer(l.timers[0].due - time.Since(l.start))
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.wake:
	}
}

// timers is a heap by due time and then order.
type timers []*timer

func (h timers) Len() int { return len(h) }

func (h timers) Less(i, j int) bool {
	if h[i].due != h[j].due {
		return h[i].due < h[j].due
	}
	return h[i].order < h[j].order
}

func (h timers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timers) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *timers) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	t.index = -1
	return t
}

package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"mcpx/internal/fault"

	"github.com/dop251/goja"
)

// Async runs work on another goroutine and returns a promise that is settled on the
// script's: with deliver's value, or with the error as NewError makes it. A deliver that
// is nil or returns nil means undefined. work must not touch JavaScript and must return soon after its context is
// done, which is when the run ends: Run waits for it.
//
// At most Options.InFlight works of one class run at a time; the others wait in order,
// without a goroutine. A work keeps the run alive until its promise is settled.
func Async[T any](rt *Runtime, class string, work func(ctx context.Context) (T, error), deliver func(T) goja.Value) goja.Value {
	rt.works.count++
	id := rt.works.begin()
	begun := func(ctx context.Context) (v T, err error) {
		defer func() { rt.works.returned(id, err) }()
		return work(ctx)
	}
	return async(rt, class, rt.works.limit, begun, deliver, func() {
		rt.works.count--
		rt.works.heard(id)
	})
}

// maxWaiting is how many works of one class Background runs at a time.
const maxWaiting = 1024

// Background is Async for a work that does not keep the run alive, such as waiting for
// what may never come. See Hold. Those that wait must not hold up the others: many more
// works of a class run at a time.
func Background[T any](rt *Runtime, class string, work func(ctx context.Context) (T, error), deliver func(T) goja.Value) goja.Value {
	return async(rt, class, max(maxWaiting, rt.works.limit), work, deliver, func() {})
}

// async starts a work, of whose class limit run at a time. done is called on the script's
// goroutine before its promise is settled.
func async[T any](rt *Runtime, class string, limit int, work func(ctx context.Context) (T, error), deliver func(T) goja.Value, done func()) goja.Value {
	promise, resolve, reject := rt.vm.NewPromise()
	origin := rt.origin()
	rt.works.start(class, limit, func() func() {
		v, err := work(rt.ctx)
		return func() {
			done()
			if err != nil {
				_ = reject(rt.newError(err, origin))
				return
			}
			var value goja.Value
			if deliver != nil {
				if ex := rt.vm.Try(func() { value = deliver(v) }); ex != nil {
					_ = reject(ex.Value())
					return
				}
			}
			if value == nil {
				value = goja.Undefined()
			}
			_ = resolve(value)
		}
	})
	return rt.vm.ToValue(promise)
}

// works runs the works of Async, by class.
type works struct {
	rt    *Runtime
	limit int
	count int // those of Async that are pending; belongs to the script's goroutine
	done  sync.WaitGroup

	mu    sync.Mutex
	lanes map[string]*lane
	over  bool
	begun int           // those of Async that have not returned, or wait for room
	quiet chan struct{} // is closed when there are none of those; nil if nobody waits for it
	last  int           // the number of the last one of Async

	failed map[int]error // of those of Async that have failed, what the script has not heard
}

// lane holds the works of one class.
type lane struct {
	running int
	waiting []func() func() // from head
	head    int
}

func (w *works) init(rt *Runtime, limit int) {
	w.rt, w.limit, w.lanes = rt, limit, map[string]*lane{}
}

func (w *works) pending() bool { return w.count > 0 }

// start runs a work, now or when its class has room. What the work returns runs on the
// script's goroutine.
func (w *works) start(class string, limit int, work func() func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	l := w.lanes[class]
	if l == nil {
		l = &lane{}
		w.lanes[class] = l
	}
	if l.running >= limit {
		l.waiting = append(l.waiting, work)
		return
	}
	l.running++
	w.done.Go(func() { w.run(l, work) })
}

// run runs a work and then those of its class that wait.
func (w *works) run(l *lane, work func() func()) {
	for work != nil {
		then := guarded(w.rt, work)
		w.rt.loop.post(then)
		work = w.next(l)
	}
}

// guarded runs work. A panic of it is a fault of mcpx, which ends the run.
func guarded(rt *Runtime, work func() func()) (then func()) {
	defer func() {
		if x := recover(); x != nil {
			then = func() { rt.fail(panicReport(x)) }
		}
	}()
	return work()
}

func (w *works) next(l *lane) func() func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || l.head == len(l.waiting) {
		l.running--
		l.waiting, l.head = nil, 0
		return nil
	}
	work := l.waiting[l.head]
	l.waiting[l.head] = nil
	l.head++
	return work
}

// begin counts a work of Async, and numbers it.
func (w *works) begin() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun++
	w.last++
	return w.last
}

func (w *works) returned(id int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && w.rt.ctx.Err() == nil { // else the end of the run is why
		if w.failed == nil {
			w.failed = map[int]error{}
		}
		w.failed[id] = err
	}
	if w.begun--; w.begun == 0 && w.quiet != nil {
		close(w.quiet)
		w.quiet = nil
	}
}

// heard forgets what became of a work: the script is told.
func (w *works) heard(id int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.failed, id)
}

// isUnheard reports whether a work has failed and the script has not heard of it.
func (w *works) isUnheard(id int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed[id] != nil
}

// maxUnheard is how many failures are told that no script has heard of.
const maxUnheard = 3

// unheard tells of what has failed after the script had returned.
func (w *works) unheard() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var notes []string
	for i, id := range slices.Sorted(maps.Keys(w.failed)) {
		if i == maxUnheard {
			return append(notes, fmt.Sprintf("%d more failed likewise", len(w.failed)-i))
		}
		e := fault.From(w.failed[id])
		what := "what was begun"
		if server, tool := fault.Text(e.Details, "server"), fault.Text(e.Details, "tool"); server != "" && tool != "" {
			what = server + "." + tool
		}
		message, _, _ := strings.Cut(e.Message, "\n")
		notes = append(notes, fmt.Sprintf("%s failed after the script had returned: %s; await it to learn of that in time", what, message))
	}
	return notes
}

// finish returns when all works of Async have returned, or the run has ended.
func (w *works) finish() {
	w.mu.Lock()
	if w.begun == 0 {
		w.mu.Unlock()
		return
	}
	quiet := make(chan struct{})
	w.quiet = quiet
	w.mu.Unlock()
	select {
	case <-quiet:
	case <-w.rt.ctx.Done():
	}
}

// close drops the works that wait and returns when those that run have returned.
func (w *works) close() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	w.done.Wait()
}

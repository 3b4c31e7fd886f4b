package worker

import (
	"runtime/metrics"
	"sync"
	"time"

	"mcpx/internal/fault"
	"mcpx/stdlib/sql"
)

const (
	// watchEvery is how often a worker looks at what it uses.
	watchEvery = 2 * time.Millisecond
	// memoryGrace and cpuGrace are what a script over a limit has to be interrupted in,
	// and so to say where it was. Native code may not notice in time.
	memoryGrace = 20 * time.Millisecond
	cpuGrace    = 100 * time.Millisecond
)

// watcher looks at what the process uses while a script runs.
type watcher struct {
	limits Limits
	// interrupt is told first, and ended when that did not help in time.
	interrupt func(why error)
	ended     func(why error)

	mu     sync.Mutex // held while it looks
	timer  *time.Timer
	sample []metrics.Sample
	why    error     // what interrupt was told
	last   time.Time // when the grace is over
	over   bool      // nothing is looked at any more
}

// watch begins to look. stop ends it.
func watch(l Limits, interrupt, ended func(why error)) *watcher {
	w := &watcher{
		limits: l, interrupt: interrupt, ended: ended,
		sample: []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}},
	}
	if l.Memory > 0 || l.CPU > 0 {
		w.mu.Lock()
		// Not a ticker: under the race detector of Go 1.26 its channel kills the process.
		w.timer = time.AfterFunc(watchEvery, w.look)
		w.mu.Unlock()
	}
	return w
}

// stop returns when nothing is looked at any more.
func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *watcher) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over:
		return
	case w.why == nil:
		if limit, grace := w.exceeded(); limit != "" {
			// The words are the broker's: it knows what it set.
			w.why = fault.Limitf("the %s limit was exceeded", limit).With("limit", limit)
			w.last = time.Now().Add(grace)
			w.interrupt(w.why)
		}
	case time.Now().After(w.last), w.tooMuch():
		w.over = true
		w.ended(w.why)
		return
	}
	w.timer.Reset(watchEvery)
}

// exceeded says which limit the process is over, and how long its script has to notice.
func (w *watcher) exceeded() (limit string, grace time.Duration) {
	if w.limits.Memory > 0 {
		// What lives counts; what is only not collected yet may be a quarter more.
		live, objects := w.held()
		if budget := uint64(w.limits.Memory); live > budget || objects > budget+budget/4 {
			return LimitMemory, memoryGrace
		}
	}
	if w.limits.CPU > 0 && cpuTime() > w.limits.CPU {
		return LimitCPU, cpuGrace
	}
	return "", 0
}

// tooMuch reports whether there is no time for a grace.
func (w *watcher) tooMuch() bool {
	const room = 48 << 20
	_, objects := w.held()
	budget := uint64(max(w.limits.Memory, 0))
	return budget > 0 && objects > budget+budget/4+room
}

// held is what the script holds: on Go's heap, and in its databases, which are outside of it.
func (w *watcher) held() (live, objects uint64) {
	metrics.Read(w.sample)
	databases := sql.Held()
	return w.sample[0].Value.Uint64() + databases, w.sample[1].Value.Uint64() + databases
}

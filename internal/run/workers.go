package run

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/frame"
	"mcpx/internal/sandbox"
	"mcpx/internal/worker"
)

// refillAfter is how long after one was taken the next warm worker is started: by then
// most runs are over, and do not share the processor with it.
const refillAfter = 5 * time.Millisecond

// workers are the workers of a Runner that wait for a script.
type workers struct {
	mu     sync.Mutex
	ahead  chan started // one that was started ahead; nil without one
	warm   []*sandbox.Child
	keep   int // how many are kept warm
	coming int // are being started
	closed bool
	filler sync.WaitGroup
}

type started struct {
	child *sandbox.Child
	kind  worker.Kind
	err   error
}

// Start starts a worker ahead of the next Run, which will take it. reads says that the
// script is a file, and may import others. It does not wait. Close must be called then.
func (r *Runner) Start(reads bool) {
	w := &r.workers
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ahead == nil {
		kind := worker.Plain
		if reads {
			kind = worker.Reading
		}
		w.ahead = make(chan started, 1)
		go func(to chan<- started) { to <- r.spawn(kind) }(w.ahead)
	}
}

// KeepWarm keeps n workers ready that have compiled and run something already. Runs of
// text, and of files that import none, take them. Close must be called then.
func (r *Runner) KeepWarm(n int) {
	w := &r.workers
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep = n
	r.refill(0)
}

// refill starts what is missing. The caller holds the lock.
func (r *Runner) refill(after time.Duration) {
	w := &r.workers
	for ; len(w.warm)+w.coming < w.keep && !w.closed; w.coming++ {
		w.filler.Go(func() {
			if after > 0 {
				<-time.After(after)
			}
			s := r.spawn(worker.Warm)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.coming--
			switch {
			case s.err != nil: // the next run tries again, and says so
			case w.closed:
				s.child.Close()
			default:
				w.warm = append(w.warm, s.child)
			}
		})
	}
}

// Close ends the workers that no run has taken.
func (r *Runner) Close() error {
	w := &r.workers
	w.mu.Lock()
	w.closed = true
	idle := w.warm
	w.warm = nil
	ahead := w.ahead
	w.ahead = nil
	w.mu.Unlock()
	for _, c := range idle {
		c.Close()
	}
	if ahead != nil {
		if s := <-ahead; s.child != nil {
			s.child.Close()
		}
	}
	w.filler.Wait()
	return nil
}

// take returns a worker for a script: the one that was started ahead, a warm one, or
// a new one. reads says that it has to read files.
func (r *Runner) take(reads bool) started {
	w := &r.owner().workers
	w.mu.Lock()
	ahead := w.ahead
	w.ahead = nil
	w.mu.Unlock()
	if ahead != nil {
		s := <-ahead
		if s.err != nil || !reads || s.kind == worker.Reading {
			return s
		}
		s.child.Close()
	}
	if reads {
		return r.spawn(worker.Reading)
	}
	if c := r.owner().takeWarm(); c != nil {
		return started{child: c, kind: worker.Warm}
	}
	return r.spawn(worker.Plain)
}

// takeWarm returns a warm worker, nil if there is none, and has another one started.
func (r *Runner) takeWarm() *sandbox.Child {
	w := &r.workers
	w.mu.Lock()
	defer w.mu.Unlock()
	defer r.refill(refillAfter)
	for len(w.warm) > 0 {
		c := w.warm[0]
		w.warm = w.warm[1:]
		select {
		case <-c.Done(): // something has killed it while it waited
			c.Close()
		default:
			return c
		}
	}
	return nil
}

func (r *Runner) spawn(kind worker.Kind) started {
	self := r.Self
	if self == "" {
		var err error
		if self, err = sandbox.Program(); err != nil {
			return started{err: err}
		}
	}
	child, err := sandbox.Spawn(self, worker.Args(kind)...)
	return started{child, kind, err}
}

// Examine starts a worker and says how far the system holds it.
func (r *Runner) Examine(ctx context.Context) api.Finding {
	f := api.Finding{Subject: "sandbox", State: "failed"}
	s := r.spawn(worker.Plain)
	if s.err != nil {
		e := fault.From(s.err)
		f.Message, f.Hint = e.Message, e.Hint
		return f
	}
	defer s.child.Close()
	defer context.AfterFunc(ctx, s.child.Kill)()
	var ready worker.Ready
	first, err := frame.NewConn(s.child, frame.MaxHead).Receive()
	if err == nil {
		err = json.Unmarshal(first.Head, &ready)
	}
	if err != nil {
		f.Message = "the process that holds scripts does not start: " + err.Error()
		f.Hint = pleaseReport
		return f
	}
	return examined(ready)
}

// examined is what a worker that is ready says of how far it is held.
func examined(ready worker.Ready) api.Finding {
	f := api.Finding{Subject: "sandbox", State: "ok", Message: string(ready.Level)}
	if ready.Missing != "" {
		f.Message += " (" + ready.Missing + ")"
	}
	if ready.Level == sandbox.LevelBestEffort {
		f.State = "warning"
		f.Message += ": a script that breaks out of its engine can do what you can"
		f.Hint = "Linux 5.13 or newer locks scripts down by itself, unless a container forbids it"
	}
	return f
}

// MayImport reports whether a script may name a file to import.
func MayImport(code string) bool { return mayImport(code) }

// mayImport reports whether a script may name a file to import: it has one of the words
// that such an import needs. Words in comments and texts count too; it only decides which
// worker takes the script.
func mayImport(code string) bool {
	exports, from := false, false
	for i := 0; i < len(code); {
		if !identifier(code[i]) {
			i++
			continue
		}
		start := i
		for i < len(code) && identifier(code[i]) {
			i++
		}
		switch word := code[start:i]; word {
		case "import", "require":
			return true
		case "export":
			exports = true
		case "from":
			from = true
		}
	}
	// Names may be written with escapes, the words of the language may not; require may.
	return exports && from || strings.Contains(code, `\u`)
}

func identifier(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

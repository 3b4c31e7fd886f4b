package server

import (
	"context"
	"sync"

	"mcpx/mcp"
)

// maxFed is how many messages a feed holds.
const maxFed = 256

// feed hands messages on in their order, while whoever has them to say does not wait. It
// holds so many; then the oldest is lost for a new one.
type feed struct {
	send  func(m *mcp.Message)
	start func(func()) // runs what sends; whoever made the feed waits for it

	mu      sync.Mutex
	closed  bool
	waiting []fed
	idle    chan struct{} // closed when nothing is left to send; nil if nothing was
	running bool
}

type fed struct {
	key     string
	message *mcp.Message
}

// put hands on a message. One with a key takes the place of another with this key that
// still waits: it says the same, or more.
func (f *feed) put(key string, m *mcp.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	if key != "" {
		for i := range f.waiting {
			if f.waiting[i].key == key {
				f.waiting[i].message = m
				return
			}
		}
	}
	if len(f.waiting) >= maxFed {
		f.waiting = f.waiting[1:]
	}
	f.waiting = append(f.waiting, fed{key, m})
	if !f.running {
		f.running, f.idle = true, make(chan struct{})
		f.start(f.run)
	}
}

func (f *feed) run() {
	for {
		f.mu.Lock()
		if len(f.waiting) == 0 {
			f.running, f.waiting = false, nil
			close(f.idle)
			f.mu.Unlock()
			return
		}
		next := f.waiting[0].message
		f.waiting = f.waiting[1:]
		f.mu.Unlock()
		f.send(next)
	}
}

// flush returns when all that was put before has been sent, or ctx is done.
func (f *feed) flush(ctx context.Context) {
	f.mu.Lock()
	idle := f.idle
	f.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// close drops what waits and takes no more.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed, f.waiting = true, nil
}

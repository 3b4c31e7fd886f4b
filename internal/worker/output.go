package worker

import (
	"context"
	"sync"
	"time"

	"mcpx/engine"
	"mcpx/internal/frame"
)

// flushEvery is how long output waits for more.
const flushEvery = 5 * time.Millisecond

// output gathers what a script writes into frames. They are sent when they are full,
// before any other frame, and when nothing follows for a moment. The two streams share
// one buffer, so that what was written first is sent first.
type output struct {
	host *host

	mu     sync.Mutex // held across a send, so that frames keep their order
	stream int
	buf    []byte
	timer  *time.Timer
	armed  bool
}

// write takes p. It waits while the broker has as much unwritten output as it has room
// for, and drops p when ctx is done meanwhile: the script has ended.
func (o *output) write(ctx context.Context, stream int, p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if stream != o.stream {
		if len(o.buf) > 0 && !o.send(ctx, true) {
			return
		}
		o.stream = stream
	}
	for len(p) > 0 {
		n := min(len(p), outputFrame-len(o.buf))
		o.buf = append(o.buf, p[:n]...)
		p = p[n:]
		if len(o.buf) == outputFrame && !o.send(ctx, true) {
			return
		}
	}
	o.arm()
}

// settle sends what there is, or waits until ctx is done.
func (o *output) settle(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send(ctx, true)
}

// flush sends what there is, unless the broker has no room for it just now.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send(context.Background(), false)
}

// drain sends everything, however long the broker takes.
func (o *output) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send(context.Background(), true)
	if o.timer != nil {
		o.timer.Stop()
	}
}

// send reports whether the buffer is empty now.
func (o *output) send(ctx context.Context, wait bool) bool {
	if len(o.buf) == 0 {
		return true
	}
	room := o.host.room[Output]
	select {
	case room <- struct{}{}:
	default:
		if !wait {
			return false
		}
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
	id, err := o.host.register(request{class: Output})
	if err == nil {
		typ := frame.Stdout
		if o.stream == engine.Stderr {
			typ = frame.Stderr
		}
		// An error means that the broker is gone; this process ends by that.
		_ = o.host.conn.Send(frame.Frame{Type: typ, ID: id, Body: o.buf})
	}
	o.buf = o.buf[:0]
	return true
}

// arm sees to it that what is in the buffer is sent soon.
func (o *output) arm() {
	switch {
	case o.armed || len(o.buf) == 0:
		return
	case o.timer == nil:
		o.timer = time.AfterFunc(flushEvery, o.tick)
	default:
		o.timer.Reset(flushEvery)
	}
	o.armed = true
}

func (o *output) tick() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.armed = false
	o.send(context.Background(), false)
	o.arm()
}

package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"mcpx/internal/fault"
	"mcpx/internal/frame"
)

// host is engine.Host over the socket. Any goroutine may call; requests of one class
// beyond what the broker has room for wait here.
type host struct {
	conn    *frame.Conn
	out     *output
	maxBody int64
	room    [classes]chan struct{} // a token is inside for every request without an answer

	mu      sync.Mutex
	last    uint32
	pending map[uint32]request
	gone    error // why no answer will come any more
}

// request is one that has no answer yet. A nil answer says that nobody waits for it.
type request struct {
	class  Class
	answer chan frame.Frame // has room for the one answer, so that the reader never waits
}

func newHost(conn *frame.Conn, run Run) *host {
	h := &host{conn: conn, maxBody: run.MaxBody, pending: map[uint32]request{}}
	for c := range h.room {
		h.room[c] = make(chan struct{}, Class(c).Room(run.InFlight))
	}
	h.out = &output{host: h}
	return h
}

// Call implements engine.Host.
func (h *host) Call(ctx context.Context, op string, head any, body []byte) (json.RawMessage, []byte, error) {
	encoded, err := json.Marshal(head)
	if err == nil {
		encoded, err = json.Marshal(Call{Op: op, Head: encoded})
	}
	if err != nil {
		return nil, nil, fault.Internalf("encoding the request %q: %w", op, err)
	}
	if int64(len(body)) > h.maxBody {
		return nil, nil, fault.Limitf("%d bytes are more than one request may hold (%d)", len(body), h.maxBody).
			Hintf("send less at a time, or raise limits.result")
	}
	class := ClassOf(op)
	if class == Output {
		// It has a place in the order of what the script prints, which must not still be
		// waiting for room when this takes the last of it.
		h.out.settle(ctx)
	}
	select {
	case h.room[class] <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	answer := make(chan frame.Frame, 1)
	id, err := h.register(request{class, answer})
	if err != nil {
		return nil, nil, err
	}
	// What the script printed before it asked is seen before what the answer causes.
	h.out.flush()
	if err := h.conn.Send(frame.Frame{Type: frame.Call, ID: id, Head: encoded, Body: body}); err != nil {
		h.take(id)
		if errors.Is(err, frame.ErrTooLarge) {
			return nil, nil, fault.Limitf("the request %q is too large: %w", op, err)
		}
		return nil, nil, lost(err)
	}
	select {
	case f, ok := <-answer:
		if !ok {
			return nil, nil, lost(h.gone)
		}
		return read(f)
	case <-ctx.Done():
		// The place in the class is free when the answer comes, not before: the broker
		// is still at it.
		_ = h.conn.Send(frame.Frame{Type: frame.Cancel, ID: id})
		return nil, nil, context.Cause(ctx)
	}
}

func read(f frame.Frame) (json.RawMessage, []byte, error) {
	if f.Type == frame.Answer {
		return f.Head, f.Body, nil
	}
	refusal := &fault.Error{}
	if err := json.Unmarshal(f.Body, refusal); err != nil {
		return nil, nil, fault.Internalf("reading an error of the host: %w", err)
	}
	return nil, nil, refusal
}

func lost(err error) error {
	return fault.Internalf("the host is gone: %w", err)
}

// register gives a request its id. The place in its class must have been taken.
func (h *host) register(r request) (uint32, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone != nil {
		<-h.room[r.class]
		return 0, lost(h.gone)
	}
	for {
		h.last++
		if _, taken := h.pending[h.last]; !taken {
			break
		}
	}
	h.pending[h.last] = r
	return h.last, nil
}

// take forgets a request and frees its place.
func (h *host) take(id uint32) (request, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, ok := h.pending[id]
	if ok {
		delete(h.pending, id)
		<-h.room[r.class]
	}
	return r, ok
}

// serve reads what the broker sends until there is no more, and hands it on without
// ever waiting for anybody. The error says why there is no more.
func (h *host) serve(interrupt context.CancelCauseFunc) error {
	for {
		f, err := h.conn.Receive()
		if err == nil {
			err = h.receive(f, interrupt)
		}
		if err != nil {
			h.mu.Lock()
			h.gone = err
			for _, r := range h.pending {
				<-h.room[r.class]
				if r.answer != nil {
					close(r.answer)
				}
			}
			clear(h.pending)
			h.mu.Unlock()
			return err
		}
	}
}

func (h *host) receive(f frame.Frame, interrupt context.CancelCauseFunc) error {
	switch f.Type {
	case frame.Answer, frame.Refusal:
		r, ok := h.take(f.ID)
		if !ok {
			return fmt.Errorf("an answer to request %d, which was not made", f.ID)
		}
		if r.answer != nil {
			r.answer <- f
		}
	case frame.Interrupt:
		why := &fault.Error{}
		if err := json.Unmarshal(f.Body, why); err != nil {
			return fmt.Errorf("reading why to stop: %w", err)
		}
		interrupt(why)
	default:
		return fmt.Errorf("a frame %s at the wrong time", f.Type)
	}
	return nil
}

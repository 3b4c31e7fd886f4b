package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

const (
	acceptBoth   = "application/json, text/event-stream"
	acceptEvents = "text/event-stream"
	// noticeTimeout bounds how long a server may take to accept a notification or a
	// response.
	noticeTimeout = 30 * time.Second
	// closeGrace bounds what is done for the server's sake when all is over.
	closeGrace = time.Second
	// streamGrace is how long a server may take to end a stream that has said what it was
	// for, so that its connection can be used again.
	streamGrace = time.Second
)

var errForgotten = errors.New("nobody waits for the answer any more")

// remote is what the transports over HTTP have in common: requests that run beside each
// other, and the messages that come of them.
type remote struct {
	*web
	inbox   chan received
	ctx     context.Context // done when the transport is closed
	cancel  context.CancelFunc
	skipped atomic.Int64

	background sync.WaitGroup // all goroutines
	notices    sync.WaitGroup // those that hand over what needs no answer

	mu        sync.Mutex
	closed    bool
	era       mcp.Era
	revision  string                             // settled; empty before
	exchanges map[string]context.CancelCauseFunc // requests under way, by the key of their id
}

// received is what Receive returns. Of is the id of the request that it came in answer
// to; nil if it came on a stream of its own.
type received struct {
	line []byte
	err  error
	of   mcp.Raw
}

func newRemote(w *web) *remote {
	r := &remote{web: w, inbox: make(chan received), exchanges: map[string]context.CancelCauseFunc{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Receive returns the next message of the server, whichever stream it came on.
func (r *remote) Receive() ([]byte, error) {
	line, _, err := r.ReceiveOf()
	return line, err
}

// ReceiveOf is Receive, with the id of the request that it came in answer to.
func (r *remote) ReceiveOf() (line []byte, request mcp.Raw, err error) {
	select {
	case in := <-r.inbox:
		return in.line, in.of, in.err
	case <-r.ctx.Done():
		return nil, nil, io.EOF
	}
}

// push hands something to Receive.
func (r *remote) push(in received) {
	select {
	case r.inbox <- in:
	case <-r.ctx.Done():
	}
}

// Settled tells the transport what the session speaks.
func (r *remote) Settled(era mcp.Era, revision string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.era, r.revision = era, revision
}

// Forget ends the request with an id: nobody waits for its answer.
func (r *remote) Forget(id mcp.Raw) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel := r.exchanges[mcp.IDKey(id)]; cancel != nil {
		cancel(errForgotten)
	}
}

// Skip counts what came in place of a message.
func (r *remote) Skip([]byte) { r.skipped.Add(1) }

// Noise returns how often something came in place of a message.
func (r *remote) Noise() int { return int(r.skipped.Load()) }

// exchange runs f for a request, beside everything else, until Forget or the end. If f
// fails, so does the request.
func (r *remote) exchange(id mcp.Raw, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(r.ctx)
	key := mcp.IDKey(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		cancel(nil)
		return io.ErrClosedPipe
	}
	r.exchanges[key] = cancel
	r.background.Go(func() {
		err := f(ctx)
		r.mu.Lock()
		delete(r.exchanges, key)
		r.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			r.push(received{err: &RequestError{ID: id, Err: err}})
		}
		cancel(nil)
	})
	return nil
}

// notice runs f for a message that needs no answer. Close lets it finish if it can.
func (r *remote) notice(f func(ctx context.Context)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return io.ErrClosedPipe
	}
	r.notices.Add(1)
	r.background.Go(func() {
		defer r.notices.Done()
		ctx, cancel := context.WithTimeout(r.ctx, noticeTimeout)
		defer cancel()
		f(ctx)
	})
	return nil
}

// close ends everything: requests and streams at once, notices after a moment. Farewell,
// if there is one, is what the server is told at last.
func (r *remote) close(farewell func(ctx context.Context)) {
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	for _, cancel := range r.exchanges {
		cancel(errClosed)
	}
	r.mu.Unlock()
	if first {
		told := make(chan struct{})
		go func() {
			defer close(told)
			r.notices.Wait()
		}()
		t := time.AfterFunc(closeGrace, r.cancel)
		<-told
		if t.Stop() && farewell != nil {
			ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
			farewell(ctx)
			cancel()
		}
		r.cancel()
	}
	r.background.Wait()
	r.web.close()
}

// kindOf returns the media type of an answer.
func kindOf(resp *http.Response) string {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		kind, _, _ = strings.Cut(resp.Header.Get("Content-Type"), ";")
	}
	return strings.ToLower(strings.TrimSpace(kind))
}

// isStream reports whether an answer is a stream of events. Servers, and what stands before
// them, leave out the type or name a wrong one; how it begins tells as well.
func (a *answer) isStream() bool {
	r := bufio.NewReader(a.Body)
	a.Body = struct {
		io.Reader
		io.Closer
	}{r, a.Body}
	said := kindOf(a.Response) == acceptEvents
	begin, _ := r.Peek(len("event:"))
	switch begin = bytes.TrimLeft(bytes.TrimPrefix(begin, []byte("\ufeff")), " \t\r\n"); {
	case bytes.HasPrefix(begin, []byte("{")), bytes.HasPrefix(begin, []byte("[")):
		return false
	case said:
		return true
	}
	return slices.ContainsFunc([]string{":", "id:", "data:", "event:", "retry:"}, func(field string) bool { return bytes.HasPrefix(begin, []byte(field)) })
}

// A hearing is the reading of what answers one request, or of a stream that answers none.
type hearing struct {
	*remote
	id      mcp.Raw // of the request; nil for a stream of its own
	deliver func(received)
	doubts  bool         // an error that speaks of the session is held back
	held    *mcp.Message // that error
	said    string       // what came on a stream last that was no message
}

// accept hands over the messages of a text and reports whether the response to the
// request is among them. Responses to other requests do not belong there and are left
// out; one without an id is about this request.
func (h *hearing) accept(line []byte) (answered bool) {
	messages, others := mcp.Hear(line)
	if messages == nil {
		h.Skip(line)
		for _, b := range brokenAnswers(line) {
			if h.id == nil || mcp.SameID(b.id, h.id) {
				answered = h.id != nil
				h.deliver(received{err: &RequestError{ID: b.id, Err: b.fault(h.name)}})
			}
		}
		return answered
	}
	whole := true
	kept := messages[:0]
	for _, m := range messages {
		own := h.id != nil && m.Kind() == mcp.Response && !answered && (m.ID == nil || mcp.SameID(m.ID, h.id))
		switch {
		case h.id == nil || m.Kind() != mcp.Response:
		case own && h.doubts && m.Error != nil && saysSession(m.Error.Message):
			m.ID, h.held, whole, answered = h.id, m, false, true
			continue
		case m.ID == nil && !answered:
			m.ID, whole, answered = h.id, false, true
		case mcp.SameID(m.ID, h.id) && !answered:
			answered = true
		default:
			whole = false
			h.Skip(line)
			continue
		}
		kept = append(kept, m)
	}
	if whole {
		h.deliver(received{line: line, of: h.id})
		return answered
	}
	for _, o := range others {
		h.Skip(o)
	}
	for _, m := range kept {
		h.deliver(received{line: m.Encode(), of: h.id})
	}
	return answered
}

// isAnswer reports whether a text is the response to the request.
func (h *hearing) isAnswer(line []byte) bool {
	messages, _ := mcp.Hear(line)
	return h.id != nil && slices.ContainsFunc(messages, func(m *mcp.Message) bool { return m.Kind() == mcp.Response && mcp.SameID(m.ID, h.id) })
}

// body reads an answer that is one JSON text. The error says why it is none.
func (h *hearing) body(resp *answer) error {
	text, err := h.whole(resp.Body)
	var long *LongLineError
	switch {
	case errors.As(err, &long):
		h.deliver(received{err: long})
		return nil
	case err != nil:
		return h.cut("broke off its answer")
	case h.accept(text):
		return nil
	}
	said := h.redact(quoteBody(text))
	if kind := kindOf(resp.Response); kind != "application/json" {
		s := &StatusError{Code: resp.StatusCode, Text: said}
		return h.about(fault.Unavailablef("%s answered with %s where JSON is needed: %w", h.name, cmp.Or(kind, "something without a type"), s), true).
			With("status", s.Code).Hintf("see whether the url of its entry is the address of an MCP server, and whether it wants a login")
	}
	if said == "" {
		return h.cut("answered with nothing")
	}
	return h.cut("answered with something that is no answer (" + said + ")")
}

// whole reads a text to its end.
func (h *hearing) whole(from io.Reader) ([]byte, error) {
	text := h.room.message(h.max, h.ctx.Done())
	part := make([]byte, 32<<10)
	for {
		n, err := from.Read(part)
		if text.n+n > h.max {
			text.drop()
			return nil, &LongLineError{Max: h.max, ID: h.id}
		}
		if text.add(part[:n]) != nil {
			text.drop()
			return nil, &LongLineError{Max: h.max, ID: h.id, Full: true}
		}
		if err == nil {
			continue
		}
		whole, full := text.end()
		switch {
		case full != nil:
			return nil, &LongLineError{Max: h.max, ID: h.id, Full: true}
		case errors.Is(err, io.EOF):
			return whole, nil
		}
		return whole, err
	}
}

// eventsOf reads a stream of events.
func (r *remote) eventsOf(body io.Reader) *eventReader {
	e := newEventReader(body, r.max)
	e.room, e.done = r.room, r.ctx.Done()
	return e
}

// events reads a stream of events to its end, or to the moment after the response to
// the request. Stop ends the stream.
func (h *hearing) events(r *eventReader, stop context.CancelFunc) (answered, some bool) {
	for {
		ev, err := r.next()
		var long *LongLineError
		switch {
		case errors.As(err, &long):
			some = true
			answers := h.id != nil && long.ID != nil && mcp.SameID(long.ID, h.id)
			if answered || !answers && h.id != nil {
				h.Skip(nil)
				continue
			}
			h.deliver(received{err: long})
			if !answers {
				continue
			}
		case err != nil:
			return answered, some
		default:
			some = true
			foreign := ev.name != "" && ev.name != "message"
			if len(bytes.TrimSpace(ev.data)) == 0 {
				continue
			}
			if foreign && !h.isAnswer(ev.data) {
				h.said = h.redact(quoteBody(ev.data))
				continue
			}
			if !h.accept(ev.data) || h.id == nil {
				continue
			}
			if h.held != nil {
				return true, some // whoever holds it does not wait for the end
			}
		}
		if !answered {
			answered = true
			// More than the end is not expected.
			defer time.AfterFunc(streamGrace, stop).Stop()
		}
	}
}

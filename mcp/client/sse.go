package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

// SSE is a server that says everything on one stream of events and takes messages at
// another address, which it names there first: HTTP+SSE, the transport before
// Streamable HTTP. When the stream ends, so does the connection.
type SSE struct {
	*remote
	endpoint *url.URL
	// elsewhere is the origin that the server named for its messages, if that is not its own;
	// none goes there.
	elsewhere string
	body      sync.Once
	stream    *answer
	reader    *eventReader
}

// OpenSSE opens the stream and waits for the address that the server names. The error
// is of kind Unavailable, or ctx's cause. The stream does not end with ctx, but with
// Close.
func OpenSSE(ctx context.Context, e Endpoint) (*SSE, error) {
	w, err := newWeb(e)
	if err != nil {
		return nil, err
	}
	s := &SSE{remote: newRemote(w)}
	unhook := context.AfterFunc(ctx, s.cancel)
	err = s.open()
	if !unhook() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = s.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	s.background.Go(s.read)
	return s, nil
}

func (s *SSE) open() error {
	header := http.Header{}
	header.Set("Accept", acceptEvents)
	resp, err := s.do(s.ctx, request{http.MethodGet, s.url, nil, header, session{}})
	if err != nil {
		return err
	}
	s.stream = resp
	if resp.StatusCode != http.StatusOK {
		return s.refused(resp, quoted(resp))
	}
	if kind := kindOf(resp.Response); kind != acceptEvents {
		e := &StatusError{Code: resp.StatusCode, Text: s.redact(quoteBody(quoted(resp)))}
		return s.about(fault.Unavailablef("%s answered with %q where a stream of events is needed: %w", s.name, kind, e), false).
			With("status", e.Code).Hintf("see whether the url of its entry is the address of an MCP server")
	}
	s.reader = s.eventsOf(resp.Body)
	for {
		ev, err := s.reader.next()
		switch {
		case err != nil:
			return s.about(fault.Unavailablef("%s ended its stream before it named the address for messages", s.name), false).
				Hintf("see whether the url of its entry is that of an HTTP+SSE server")
		case ev.name != "endpoint":
			s.Skip(ev.data)
			continue
		}
		at, err := resp.Request.URL.Parse(strings.TrimSpace(string(ev.data)))
		switch {
		case err != nil:
			return s.about(fault.Unavailablef("%s named an address for messages that is none: %s", s.name, s.redact(brief(ev.data))), false)
		case origin(at) != origin(resp.Request.URL):
			// Behind a proxy servers name the address that they have there. What the entry sends
			// along is for its own server alone, so only the path counts.
			s.elsewhere = origin(at)
			at.Scheme, at.Host, at.User = resp.Request.URL.Scheme, resp.Request.URL.Host, nil
		}
		s.endpoint = at
		return nil
	}
}

// read hands over what the server says until it stops.
func (s *SSE) read() {
	h := &hearing{remote: s.remote, deliver: s.push}
	h.events(s.reader, nil)
	_ = s.stream.Body.Close()
	s.cancel() // Receive says so
}

// Send hands over one message. It returns at once, except for the message that ends
// the opening of a session.
func (s *SSE) Send(line []byte) error {
	m, err := mcp.Split(line)
	if err != nil {
		return err
	}
	switch {
	case m.Kind() == mcp.Request:
		return s.exchange(m.ID, func(ctx context.Context) error { return s.post(ctx, m, line) })
	case m.Method == mcp.NotificationInitialized:
		ctx, cancel := context.WithTimeout(s.ctx, noticeTimeout)
		defer cancel()
		_ = s.post(ctx, m, line) // the calls that come after will say what is wrong
		return nil
	}
	return s.notice(func(ctx context.Context) { _ = s.post(ctx, m, line) })
}

// post sends a message. Its answer comes on the stream, as a rule.
func (s *SSE) post(ctx context.Context, m *mcp.Message, line []byte) error {
	header := http.Header{}
	header.Set("Accept", acceptBoth)
	s.mu.Lock()
	if s.revision != "" && headerText(s.revision) {
		header.Set(headerRevision, s.revision)
	}
	s.mu.Unlock()
	resp, err := s.do(ctx, request{http.MethodPost, s.endpoint, line, header, session{}})
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		defer resp.Body.Close()
		err := s.refusedCall(m.Method, resp, quoted(resp))
		if e, ok := errors.AsType[*fault.Error](err); ok && s.elsewhere != "" {
			return fault.New(e.Kind, "%s wants its messages sent elsewhere, to %s; they were sent to the same path at %s: %w", s.name, s.elsewhere, s.where(), e).
				Hintf("what its entry sends along is for %s alone; the server has to name its address as it is seen from outside", s.where())
		}
		return err
	}
	if m.Kind() != mcp.Request || kindOf(resp.Response) != "application/json" {
		discard(resp.Response)
		return nil
	}
	defer resp.Body.Close()
	h := &hearing{remote: s.remote, id: m.ID, deliver: s.push} // some servers answer here as well, or only here
	if text, err := h.whole(resp.Body); err == nil && h.isAnswer(text) {
		h.accept(text)
	}
	return nil
}

// Ending says how the connection ended.
func (s *SSE) Ending() Ending { return Ending{How: "ended its stream of events"} }

// Close ends all requests and the stream, and returns when nothing runs any more.
func (s *SSE) Close() error {
	s.close(nil)
	if s.stream != nil {
		s.body.Do(func() { _ = s.stream.Body.Close() })
	}
	return nil
}

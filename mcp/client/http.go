package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

const (
	// listenGrace is how long the first call waits for the stream on which the server
	// speaks of its own accord.
	listenGrace = time.Second
	// openedGrace is how long what follows waits for the server to take note that the session
	// is open.
	openedGrace = 3 * time.Second
	// firstPause is how long a stream stays closed before it is asked for again, if the
	// server does not say; it doubles with every attempt that brings nothing.
	firstPause = 500 * time.Millisecond
	lastPause  = time.Minute
	// leastPause is the least that a server gets whatever it says.
	leastPause = 50 * time.Millisecond
	// maxResumes is how often in a row the rest of an answer is asked for and nothing comes.
	maxResumes = 5
	// maxBusy is how long, and how often, a server may say that it is busy before the call
	// fails.
	maxBusy      = 10 * time.Second
	maxBusyTimes = 3
	maxSessionID = 4 << 10
)

// HTTP is a server behind one address, which takes each message as a request of its own
// and answers with JSON or a stream of events: Streamable HTTP, in both eras.
type HTTP struct {
	*remote

	renewing  chan struct{} // holds a token while a session is being opened again
	listening atomic.Bool   // the server's own stream is open

	// guarded by mu of remote
	opening *mcp.Message // the last initialize
	session session
	deaf    context.CancelFunc // ends the server's own stream
}

// OpenHTTP makes a transport. Nothing is sent before the first message.
func OpenHTTP(e Endpoint) (*HTTP, error) {
	w, err := newWeb(e)
	if err != nil {
		return nil, err
	}
	return &HTTP{remote: newRemote(w), renewing: make(chan struct{}, 1)}, nil
}

// Send hands over one message. It returns at once, except for the message that ends
// the opening of a session: what follows must not overtake that.
func (h *HTTP) Send(line []byte) error { return h.SendCall(line, nil) }

// SendCall is Send for a call of a tool with this input schema, which may say that
// arguments are repeated as headers.
func (h *HTTP) SendCall(line []byte, schema mcp.Raw) error {
	m, err := mcp.Split(line)
	if err != nil {
		return err
	}
	modern := h.modern()
	switch {
	case m.Kind() == mcp.Request:
		return h.request(m, line, schema)
	case modern && (m.Kind() == mcp.Response || m.Method == mcp.NotificationCancelled):
		return nil // the modern revision has neither over HTTP: Forget closes the stream, which says it
	case m.Method == mcp.NotificationInitialized:
		return h.opened(m, line)
	}
	return h.notice(func(ctx context.Context) { h.tell(ctx, m, line) })
}

// Settled tells the transport what the session speaks.
func (h *HTTP) Settled(era mcp.Era, revision string) {
	h.remote.Settled(era, revision)
	if era == mcp.Modern {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.session = session{} // of an initialize that came to nothing
	}
}

func (h *HTTP) modern() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.era == mcp.Modern
}

func (h *HTTP) current() session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session
}

// header makes the headers of the protocol for a message; nil stands for none.
func (h *HTTP) header(m *mcp.Message, accept string, schema mcp.Raw) (http.Header, error) {
	header := http.Header{}
	h.mu.Lock()
	settled, era := h.revision, h.era
	h.mu.Unlock()
	if m != nil {
		asked := text(mcp.Member(mcp.Member(m.Params, "_meta"), mcp.MetaProtocolVersion))
		if asked == "" && era == mcp.Modern {
			asked = settled
		}
		if asked != "" {
			var err error
			if header, err = modernHeaders(m, asked, schema); err != nil {
				return nil, err
			}
		}
	}
	if header.Get(headerRevision) == "" && settled != "" && (m == nil || m.Method != mcp.MethodInitialize) && headerText(settled) {
		header.Set(headerRevision, settled)
	}
	if accept != "" {
		header.Set("Accept", accept)
	}
	return header, nil
}

func (h *HTTP) request(m *mcp.Message, line []byte, schema mcp.Raw) error {
	if m.Method == mcp.MethodInitialize {
		h.mu.Lock()
		h.opening, h.session = m, session{}
		h.mu.Unlock()
	}
	return h.exchange(m.ID, func(ctx context.Context) error {
		return h.converse(ctx, m, line, schema)
	})
}

// converse sends a request and takes what answers it. If the server has lost the
// session, another one is opened, and the request goes there: it was refused, so it has
// not run.
func (h *HTTP) converse(ctx context.Context, m *mcp.Message, line []byte, schema mcp.Raw) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	renewed := false
	for busy := 0; ; {
		header, err := h.header(m, acceptBoth, schema)
		if err != nil {
			return fault.Usagef("%s of %s cannot be called: %w", text(mcp.Member(m.Params, "name")), h.name, err).
				With("server", h.name).With("mayHaveRun", false)
		}
		s := h.current()
		if header.Get(headerMethod) != "" {
			s = session{} // the modern revision has none
		}
		resp, err := h.do(ctx, request{http.MethodPost, h.url, line, header, s})
		if err != nil {
			return err
		}
		known := !renewed && s.id != ""
		if resp.StatusCode < http.StatusBadRequest {
			held, err := h.hear(ctx, stop, m, resp, known)
			_ = resp.Body.Close()
			switch {
			case held == nil:
				return err
			case h.gone(ctx, s):
				renewed = true
				if err := h.renew(ctx, s); err != nil {
					return err
				}
				continue
			}
			h.push(received{line: held.Encode(), of: m.ID})
			return nil
		}
		body := quoted(resp)
		_ = resp.Body.Close()
		switch pause, ok := busyFor(resp.Response); {
		case ok && busy < maxBusyTimes:
			busy++
			if err := wait(ctx, pause); err != nil {
				return err
			}
		case known && lost(resp.StatusCode, body):
			renewed = true
			if err := h.renew(ctx, s); err != nil {
				return err
			}
		case known && resp.StatusCode >= http.StatusInternalServerError && ofSession(body) && h.gone(ctx, s):
			err := h.refusedCall(m.Method, resp, body)
			again := h.renew(ctx, s) // for the next call
			if e, ok := errors.AsType[*fault.Error](err); ok && again == nil {
				return e.With("sessionLost", true)
			}
			return err
		default:
			return h.refusedCall(m.Method, resp, body)
		}
	}
}

// hear takes the answer to a request, in whichever form it comes. If doubts, an error that
// speaks of the session is not handed over, but returned.
func (h *HTTP) hear(ctx context.Context, stop context.CancelFunc, m *mcp.Message, resp *answer, doubts bool) (*mcp.Message, error) {
	if m.Method == mcp.MethodInitialize {
		h.adopt(resp)
	}
	hearing := &hearing{remote: h.remote, id: m.ID, deliver: h.push, doubts: doubts}
	switch {
	case resp.StatusCode == http.StatusAccepted && kindOf(resp.Response) != acceptEvents || resp.StatusCode == http.StatusNoContent:
		if h.listening.Load() {
			return nil, nil // some servers answer there
		}
		s := &StatusError{Code: resp.StatusCode}
		return nil, h.about(fault.Unavailablef("%s accepted %s (%w) and has no stream on which it could answer", h.name, m.Method, s), true)
	case resp.isStream():
		err := h.follow(ctx, stop, hearing, resp)
		return hearing.held, err
	}
	err := hearing.body(resp)
	return hearing.held, err
}

// gone asks a server whether it still knows a session, after an answer that is no refusal by its
// status and speaks of one: the words may be those of a tool that has sessions of its own.
func (h *HTTP) gone(ctx context.Context, s session) bool {
	ping := &mcp.Message{ID: mcp.Raw(`"known"`), Method: mcp.MethodPing}
	header, err := h.header(ping, acceptBoth, nil)
	if err != nil {
		return false
	}
	resp, err := h.do(ctx, request{http.MethodPost, h.url, ping.Encode(), header, s})
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		body := quoted(resp)
		return lost(resp.StatusCode, body) || ofSession(body)
	}
	_, err = h.replyOf(ping.ID, resp)
	refused, ok := errors.AsType[*mcp.Error](err)
	return ok && saysSession(refused.Message)
}

// adopt takes the session that a server gives with its answer to initialize.
func (h *HTTP) adopt(resp *answer) {
	id := resp.Header.Get(headerSession)
	if len(id) > maxSessionID || !headerText(id) {
		id = ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.session = session{id, resp.origin}
}

// follow reads the stream that answers a request, and asks for its rest if it breaks off.
func (h *HTTP) follow(ctx context.Context, stop context.CancelFunc, hearing *hearing, resp *answer) error {
	lastID, misses := "", 0
	for {
		r := h.eventsOf(resp.Body)
		answered, some := hearing.events(r, stop)
		_ = resp.Body.Close()
		switch {
		case answered:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if r.lastID != "" {
			lastID = r.lastID
		}
		if some {
			misses = 0
		}
		if lastID == "" || h.modern() {
			how := "ended the stream before the answer"
			if hearing.said != "" {
				how += " (" + hearing.said + ")"
			}
			return h.cut(how)
		}
		var err error
		if resp, err = h.resume(ctx, lastID, r, &misses); err != nil {
			return err
		}
	}
}

// resume asks for what follows an event, until there is a stream again. A server that
// says when to ask may be asked for ever; it is up to the caller how long.
func (h *HTTP) resume(ctx context.Context, lastID string, r *eventReader, misses *int) (*answer, error) {
	for {
		if err := wait(ctx, pause(r, *misses)); err != nil {
			return nil, err
		}
		if *misses++; *misses > maxResumes && !r.asked {
			return nil, h.cut("broke off its answer, and does not go on with it")
		}
		s := h.current()
		header, err := h.header(nil, acceptEvents, nil)
		if err != nil {
			return nil, err
		}
		header.Set(headerLastID, lastID)
		resp, err := h.do(ctx, request{http.MethodGet, h.url, nil, header, s})
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = resp.Body.Close()
			}
			return nil, context.Cause(ctx)
		case err != nil:
			if *misses > maxResumes {
				return nil, h.cut("broke off its answer, and cannot be reached to go on with it")
			}
			continue
		case resp.StatusCode == http.StatusOK && kindOf(resp.Response) == acceptEvents:
			return resp, nil
		}
		body := quoted(resp)
		_ = resp.Body.Close()
		switch {
		case s.id != "" && lost(resp.StatusCode, body):
			return nil, h.cut("broke off its answer and lost the session").With("sessionLost", true)
		case resp.StatusCode < http.StatusInternalServerError || *misses > maxResumes:
			return nil, h.cut("broke off its answer, and does not go on with it (" + (&StatusError{Code: resp.StatusCode}).Error() + ")")
		}
	}
}

// pause is how long to wait before a stream is asked for again.
func pause(r *eventReader, misses int) time.Duration {
	if r.asked {
		return max(r.retry, leastPause)
	}
	return min(firstPause<<min(misses, 16), lastPause)
}

// lost reports whether a refusal says that the session is not known any more. The
// specification has 404 for it; servers made after its examples say it with a 400, and
// others with what else may refuse a request, in words.
func lost(code int, body []byte) bool {
	e := rpcError(body)
	switch code {
	case http.StatusNotFound:
		return e == nil || e.Code != mcp.CodeMethodNotFound
	case http.StatusGone:
		return true
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusUnprocessableEntity:
		return ofSession(body)
	}
	return false
}

// ofSession reports whether a refusal speaks of the session.
func ofSession(body []byte) bool {
	if e := rpcError(body); e != nil {
		return saysSession(e.Message)
	}
	return saysSession(quoteBody(body))
}

func saysSession(words string) bool { return strings.Contains(strings.ToLower(words), "session") }

// busyFor returns how long a server asks to wait before the same request is made again,
// if it does and the time is worth waiting for.
func busyFor(resp *http.Response) (time.Duration, bool) {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	after := resp.Header.Get("Retry-After")
	d := time.Duration(-1)
	if s, err := strconv.ParseUint(after, 10, 16); err == nil {
		d = time.Duration(s) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		d = max(time.Until(at), 0)
	}
	return max(d, leastPause), d >= 0 && d <= maxBusy
}

// wait waits, or returns ctx's cause.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tell hands over a message that needs no answer. If it cannot be done, the calls that
// come after will say why.
func (h *HTTP) tell(ctx context.Context, m *mcp.Message, line []byte) {
	header, err := h.header(m, acceptBoth, nil)
	if err != nil {
		return
	}
	if resp, err := h.do(ctx, request{http.MethodPost, h.url, line, header, h.current()}); err == nil {
		discard(resp.Response)
	}
}

// opened ends the opening of a legacy session, and listens to what the server says of
// its own accord.
func (h *HTTP) opened(m *mcp.Message, line []byte) error {
	if h.ctx.Err() != nil {
		return io.ErrClosedPipe
	}
	told := make(chan struct{})
	if err := h.notice(func(ctx context.Context) {
		defer close(told)
		h.tell(ctx, m, line)
	}); err != nil {
		return err
	}
	t := time.NewTimer(openedGrace)
	defer t.Stop()
	select {
	case <-told:
	case <-t.C:
	}
	h.listen(h.ctx)
	return nil
}

// listen opens the server's own stream and waits for it, but not long.
func (h *HTTP) listen(ctx context.Context) {
	open := make(chan struct{})
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	if h.deaf != nil {
		h.deaf()
	}
	own, stop := context.WithCancel(h.ctx)
	h.deaf = stop
	h.background.Go(func() {
		defer stop()
		h.overhear(own, open)
	})
	h.mu.Unlock()
	t := time.NewTimer(listenGrace)
	defer t.Stop()
	select {
	case <-open:
	case <-t.C:
	case <-ctx.Done():
	}
}

// overhear reads the server's own stream, opening it again when it ends, until ctx is
// done or the server has none. Open is closed when the first attempt has come out.
func (h *HTTP) overhear(ctx context.Context, open chan struct{}) {
	defer func() {
		if open != nil {
			close(open)
		}
	}()
	s, lastID := h.current(), ""
	hearing := &hearing{remote: h.remote, deliver: h.push}
	for misses := 0; ; misses++ {
		header, err := h.header(nil, acceptEvents, nil)
		if err != nil {
			return
		}
		if lastID != "" {
			header.Set(headerLastID, lastID)
		}
		r := &eventReader{}
		resp, err := h.do(ctx, request{http.MethodGet, h.url, nil, header, s})
		if err == nil {
			if resp.StatusCode < http.StatusInternalServerError && (resp.StatusCode != http.StatusOK || kindOf(resp.Response) != acceptEvents) {
				discard(resp.Response)
				return
			}
			if resp.StatusCode == http.StatusOK {
				h.listening.Store(true)
				if open != nil {
					close(open)
					open = nil
				}
				r = h.eventsOf(resp.Body)
				if _, some := hearing.events(r, nil); some {
					misses = 0
				}
				h.listening.Store(false)
			}
			_ = resp.Body.Close()
		}
		if open != nil {
			close(open)
			open = nil
		}
		if r.lastID != "" {
			lastID = r.lastID
		}
		if wait(ctx, pause(r, misses)) != nil {
			return
		}
	}
}

// renew opens a session in place of one that the server has lost, unless that has been
// done meanwhile. The session above does not change: it has said who it is.
func (h *HTTP) renew(ctx context.Context, old session) error {
	select {
	case h.renewing <- struct{}{}:
		defer func() { <-h.renewing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	h.mu.Lock()
	opening, done := h.opening, h.session != old
	h.mu.Unlock()
	if done {
		return nil
	}
	header, err := h.header(opening, acceptBoth, nil)
	if err != nil {
		return err
	}
	resp, err := h.do(ctx, request{http.MethodPost, h.url, opening.Encode(), header, session{}})
	if err != nil {
		return notRun(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		return notRun(h.refused(resp, quoted(resp)))
	}
	reply, err := h.replyOf(opening.ID, resp)
	if err != nil {
		return notRun(err)
	}
	h.adopt(resp)
	if revision := text(mcp.Member(reply, "protocolVersion")); revision != "" {
		h.Settled(mcp.Legacy, revision)
	}
	m := &mcp.Message{Method: mcp.NotificationInitialized}
	h.tell(ctx, m, m.Encode())
	h.listen(ctx)
	h.push(received{err: errRenewed})
	return nil
}

// replyOf reads the result of a request that nobody above knows of. What else comes
// with it is handed over as usual.
func (h *HTTP) replyOf(id mcp.Raw, resp *answer) (mcp.Raw, error) {
	var reply *mcp.Message
	var failed error
	hearing := &hearing{remote: h.remote, id: id, deliver: func(in received) {
		if in.err != nil {
			failed = in.err
			return
		}
		messages, _ := mcp.Hear(in.line)
		for _, m := range messages {
			if m.Kind() == mcp.Response {
				reply = m
			} else {
				h.push(received{line: m.Encode()})
			}
		}
	}}
	if resp.isStream() {
		hearing.events(h.eventsOf(resp.Body), func() { _ = resp.Body.Close() })
	} else if err := hearing.body(resp); err != nil {
		return nil, err
	}
	switch {
	case failed != nil:
		return nil, failed
	case reply == nil:
		return nil, h.cut("ended the stream before the answer")
	case reply.Error != nil:
		return nil, reply.Error
	}
	return reply.Result, nil
}

// notRun is an error of the opening of another session: what the call asked for was
// never sent there.
func notRun(err error) error {
	if _, refused := errors.AsType[*mcp.Error](err); refused {
		return fault.Unavailablef("the server lost the session and refused to open another one: %w", err).With("mayHaveRun", false).With("status", status(err))
	}
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	return fault.New(e.Kind, "opening another session after the last one was lost: %w", e).With("mayHaveRun", false)
}

// Ending says how the connection ended. Of its own it does not.
func (h *HTTP) Ending() Ending { return Ending{How: "was closed"} }

// Close ends all requests and streams, tells the server that the session is over, and
// returns when nothing runs any more.
func (h *HTTP) Close() error {
	h.close(func(ctx context.Context) {
		s := h.current()
		header, err := h.header(nil, "", nil)
		if s.id == "" || err != nil {
			return
		}
		if resp, err := h.do(ctx, request{http.MethodDelete, h.url, nil, header, s}); err == nil {
			discard(resp.Response)
		}
	})
	return nil
}

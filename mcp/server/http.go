package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"mcpx/internal/body"
	"mcpx/mcp"
)

// Path is where HTTP serves.
const Path = "/mcp"

// Headers of Streamable HTTP.
const (
	headerSession  = "Mcp-Session-Id"
	headerRevision = "Mcp-Protocol-Version"
	headerMethod   = "Mcp-Method"
	headerName     = "Mcp-Name"
	headerParam    = "Mcp-Param-"
	headerLast     = "Last-Event-ID"
)

// What one front holds at most.
const (
	maxBody      = 32 << 20    // bytes of one request
	shortBody    = 256 << 10   // of one that needs no room among the longer ones
	maxBodies    = 4 * maxBody // of all longer ones that are read or served
	maxBatch     = 100         // messages of one request, and
	maxBatchBody = 4 << 20     // their bytes
	maxHeader    = 64 << 10
	maxPending   = 256 // requests that are being served
	maxSessions  = 1000
	maxConns     = 1024
)

// How long things may take.
const (
	headerTimeout = 10 * time.Second // until the headers of a request are there
	bodyTimeout   = time.Minute      // until its body is
	writeTimeout  = 30 * time.Second // until a client has taken a piece of an answer
	keepAlive     = 15 * time.Second // between signs of life
	idleConn      = 2 * time.Minute  // of a connection between two requests
	idleSession   = time.Hour        // of a session that nothing happens in
	closeGrace    = 2 * time.Second  // for connections when the server ends
	endGrace      = time.Second      // for the last word of what was ended
	reconnect     = 1000             // milliseconds until a client takes up a stream that it has lost
)

// codeNoSession is what a request of a session that is over is refused with.
const codeNoSession = -32001

var errClosing = errors.New("the server is being ended")

// HTTPOptions says whom a front for HTTP lets in, and to what.
type HTTPOptions struct {
	Handler Handler
	// Token is what every request must carry as a bearer token; empty asks for none.
	Token string
	// Hosts are names that clients may call the server by, besides localhost on a
	// loopback address and the address that they connect to.
	Hosts []string
	Log   *slog.Logger // told of requests that are refused; nil logs nothing
}

// definer is a Handler that knows the definitions of its tools.
type definer interface {
	Definition(ctx context.Context, tool string) mcp.Raw
}

// HTTP is the front for Streamable HTTP, both eras on one endpoint, Path. Legacy clients
// get a session; requests of modern ones stand alone, and are cancelled when their
// connection ends. A request is answered with JSON, or as a stream of events once there
// is more to send than its answer, if the client takes that.
//
// A request is refused if its Host, or its Origin if it has one, is not this server's: so
// no web page reaches it by a name of its own that leads here.
type HTTP struct {
	o      HTTPOptions
	token  [sha256.Size]byte
	slots  chan struct{} // one for each request that is being served
	bodies *body.Room
	lot    *lot
	// listens has one element for each subscription of a modern client.
	listens chan struct{}
	held    atomic.Int64 // bytes of all tapes

	ctx     context.Context
	stop    context.CancelCauseFunc
	serving sync.WaitGroup // exchanges under way

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	ended    []*session // their calls may still run

	// What tests change.
	now                                  func() time.Time
	keepAlive, bodyTimeout, writeTimeout time.Duration
	sessionsN                            int // how many there may be
}

// NewHTTP makes a front. Close must be called in the end.
func NewHTTP(o HTTPOptions) *HTTP {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &HTTP{
		o: o, token: sha256.Sum256([]byte(o.Token)), slots: make(chan struct{}, maxPending), bodies: body.NewRoom(maxBodies, shortBody, bodyTimeout), listens: make(chan struct{}, maxListens),
		sessions: map[string]*session{}, now: time.Now, keepAlive: keepAlive, bodyTimeout: bodyTimeout, writeTimeout: writeTimeout, sessionsN: maxSessions,
	}
	h.ctx, h.stop = context.WithCancelCause(context.Background())
	h.lot = newLot(h.ctx, o.Handler)
	return h
}

// Close ends all sessions and what is being served, and returns when nothing of it runs.
func (h *HTTP) Close() {
	h.mu.Lock()
	h.closed = true
	all := slices.Clone(h.ended)
	for _, s := range h.sessions {
		all = append(all, s)
	}
	h.sessions, h.ended = map[string]*session{}, nil
	h.mu.Unlock()
	h.stop(errClosing)
	h.serving.Wait()
	for _, s := range all {
		s.stop(errClosing)
		s.shut()
		s.forget()
	}
	h.lot.close()
}

// ServeHTTP serves clients that connect to l until ctx is done or l fails, and closes l.
// It returns ctx's cause or the failure, when no connection and no call is left.
func ServeHTTP(ctx context.Context, l net.Listener, o HTTPOptions) error {
	h := NewHTTP(o)
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleConn,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(io.Discard, "", 0), // what clients do wrong is answered to them
	}
	var err error
	failed := make(chan struct{})
	go func() {
		defer close(failed)
		err = s.Serve(netutil.LimitListener(l, maxConns))
	}()
	select {
	case <-failed:
		_ = s.Close()
		h.Close()
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
		defer cancel()
		closed := make(chan struct{})
		go func() { h.Close(); close(closed) }()
		select {
		case <-closed:
			_ = s.Shutdown(grace) // what does not go by itself is closed below
		case <-grace.Done(): // a client does not take what is written to it
		}
		_ = s.Close()
		<-closed
		<-failed
		err = context.Cause(ctx) // not that it was closed
	}
	return err
}

// session is what lasts between the requests of a legacy client.
type session struct {
	*conn
	id   string
	stop context.CancelCauseFunc

	// Guarded by HTTP.mu.
	busy int // exchanges under way
	used time.Time

	standing *tape // for what belongs to no request

	tapeMu   sync.Mutex
	tapes    []*tape // of requests, the oldest first
	lastTape int
}

// ServeHTTP answers one request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	closed := h.closed
	if !closed {
		h.serving.Add(1)
	}
	h.mu.Unlock()
	e := &exchange{h: h, w: w, r: r, control: http.NewResponseController(w)}
	if closed {
		e.refuse(http.StatusServiceUnavailable, nil, mcp.Errorf(mcp.CodeInternalError, "%v", errClosing))
		return
	}
	defer h.serving.Done()
	_ = e.control.SetReadDeadline(time.Now().Add(h.bodyTimeout)) // what cannot have one is no connection
	e.extend()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if e.admitted() {
		e.serve()
	}
}

// exchange is one request and its answer.
type exchange struct {
	h       *HTTP
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	session *session // nil for a request that stands alone

	json, events bool // what the client takes
	streaming    bool // the answer is a stream of events
	primes       bool // the client takes events without data
	read         bool // the body has been read to its end
	failed       bool // a request was answered with an error

	others []mcp.Raw // of the batch that is no message

	let func() // gives back the room of the body, when nothing of it is in use
}

// extend gives the client more time to take what is written.
func (e *exchange) extend() { _ = e.control.SetWriteDeadline(time.Now().Add(e.h.writeTimeout)) }

// refuse answers with an error.
func (e *exchange) refuse(status int, id mcp.Raw, err *mcp.Error) {
	e.h.o.Log.LogAttrs(e.r.Context(), slog.LevelInfo, "request.refused",
		slog.String("method", e.r.Method), slog.Int("status", status), slog.String("reason", err.Message))
	if !e.read {
		e.w.Header().Set("Connection", "close") // the rest of the body is not worth reading
	}
	e.document(status, response(id, nil, err).Encode())
}

// invalid refuses a request for its form.
func (e *exchange) invalid(status int, format string, args ...any) {
	e.refuse(status, nil, mcp.Errorf(mcp.CodeInvalidRequest, format, args...))
}

// document writes a whole answer.
func (e *exchange) document(status int, text []byte) {
	e.w.Header().Set("Content-Type", "application/json")
	e.w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	e.extend()
	e.w.WriteHeader(status)
	_ = e.write(text) // a client that is gone needs none
}

// write writes as fast as the client reads, if it reads at all.
func (e *exchange) write(text []byte) error {
	const piece = 64 << 10
	for len(text) > 0 {
		n := min(piece, len(text))
		e.extend()
		if _, err := e.w.Write(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// begin makes the answer a stream of events. A client that knows how is told at once how it
// takes up the stream after an event.
func (e *exchange) begin(t *tape, after int) error {
	if e.streaming {
		return nil
	}
	e.streaming = true
	if e.session != nil && t != e.session.standing && t.id == 0 {
		e.session.register(t)
	}
	e.w.Header().Set("Content-Type", "text/event-stream")
	e.w.Header().Set("Cache-Control", "no-cache, no-transform")
	e.w.Header().Set("X-Accel-Buffering", "no")
	e.extend()
	e.w.WriteHeader(http.StatusOK)
	if e.primes {
		if err := e.write(fmt.Appendf(nil, "id: %s\nretry: %d\ndata:\n\n", t.name(after), reconnect)); err != nil {
			return err
		}
	}
	return e.control.Flush()
}

// event sends one message as an event.
func (e *exchange) event(t *tape, ev event) error {
	head := "event: message\n"
	if t.keep {
		head += "id: " + t.name(ev.number) + "\n"
	}
	if err := e.write(slices.Concat([]byte(head+"data: "), ev.text, []byte("\n\n"))); err != nil {
		return err
	}
	return e.control.Flush()
}

// sign shows the client, and whoever stands between, that the answer will come.
func (e *exchange) sign() error {
	if err := e.write([]byte(": still here\n\n")); err != nil {
		return err
	}
	return e.control.Flush()
}

// admitted reports whether whoever asks may. If not, it is told.
func (e *exchange) admitted() bool {
	switch {
	case !e.h.names(e.r.Host, "http", e.r):
		e.invalid(http.StatusForbidden, "the Host %q is not this server's", e.r.Host)
		return false
	case !e.h.sameOrigin(e.r):
		e.invalid(http.StatusForbidden, "the Origin %q is not this server's", e.r.Header.Get("Origin"))
		return false
	}
	if e.h.o.Token == "" {
		return true
	}
	scheme, given, _ := strings.Cut(e.r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(sum[:], e.h.token[:]) != 1 {
		e.w.Header().Set("WWW-Authenticate", `Bearer realm="mcpx"`)
		e.invalid(http.StatusUnauthorized, "this server wants its token: Authorization: Bearer TOKEN")
		return false
	}
	return true
}

// names reports whether a host with its port means this server: the address that the
// connection came to, localhost if that is a loopback address, or a name of HTTPOptions.
// Any other name may be one that was made to lead here.
func (h *HTTP) names(hostport, scheme string, r *http.Request) bool {
	host, port := hostport, ""
	if a, p, err := net.SplitHostPort(hostport); err == nil {
		host, port = a, p
	} else if bare, ok := strings.CutPrefix(hostport, "["); ok {
		if bare, ok = strings.CutSuffix(bare, "]"); !ok {
			return false
		}
		host = bare
	}
	for _, name := range h.o.Hosts {
		if strings.EqualFold(host, name) || strings.EqualFold(hostport, name) {
			return true
		}
	}
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	local, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return false
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	if port != strconv.Itoa(int(local.Port())) {
		return false
	}
	here := local.Addr().Unmap().WithZone("")
	if strings.EqualFold(host, "localhost") {
		return here.IsLoopback()
	}
	asked, err := netip.ParseAddr(host)
	return err == nil && (asked.Unmap().WithZone("") == here || asked.IsLoopback() && here.IsLoopback())
}

// sameOrigin reports whether a request comes from no web page, or from one of this server.
func (h *HTTP) sameOrigin(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !h.names(u.Host, u.Scheme, r) {
			return false
		}
	}
	return true
}

// serve answers a request that was let in.
func (e *exchange) serve() {
	if e.r.URL.Path != Path {
		e.invalid(http.StatusNotFound, "there is nothing at %q: this server speaks MCP at %s", e.r.URL.Path, Path)
		return
	}
	e.accepts()
	session := e.r.Header.Get(headerSession)
	modern := slices.Contains(mcp.ModernRevisions(), e.r.Header.Get(headerRevision))
	switch {
	case e.r.Method == http.MethodPost:
		e.post()
	case modern || session == "" || e.r.Method != http.MethodGet && e.r.Method != http.MethodDelete:
		e.w.Header().Set("Allow", "POST")
		e.invalid(http.StatusMethodNotAllowed, "%s is not served here: messages are sent with POST, and %s opens a session", e.r.Method, mcp.MethodInitialize)
	case e.r.Method == http.MethodGet:
		e.listen(session)
	default:
		e.end(session)
	}
}

// accepts reads what the client takes. One that does not say takes JSON.
func (e *exchange) accepts() {
	all := e.r.Header.Values("Accept")
	if len(all) == 0 {
		e.json = true
		return
	}
	for part := range strings.SplitSeq(strings.Join(all, ","), ",") {
		kind, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if q, bad := strconv.ParseFloat(params["q"], 64); err != nil || bad == nil && q == 0 {
			continue
		}
		switch kind {
		case "application/json", "application/*":
			e.json = true
		case "text/event-stream", "text/*":
			e.events = true
		case "*/*":
			e.json, e.events = true, true
		}
	}
}

// post takes messages, and answers those that are requests.
func (e *exchange) post() {
	kind, _, err := mime.ParseMediaType(e.r.Header.Get("Content-Type"))
	switch {
	case err != nil || kind != "application/json":
		e.invalid(http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
		return
	case e.r.Header.Get("Content-Encoding") != "" && e.r.Header.Get("Content-Encoding") != "identity":
		e.invalid(http.StatusUnsupportedMediaType, "a body with Content-Encoding %q is not read", e.r.Header.Get("Content-Encoding"))
		return
	case !e.json && !e.events:
		e.invalid(http.StatusNotAcceptable, "answers are application/json or text/event-stream, and Accept takes neither")
		return
	}
	text, let, err := e.h.bodies.Read(e.h.ctx, e.w, e.r, maxBody)
	e.let = let
	defer func() { e.let() }()
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		e.invalid(http.StatusRequestEntityTooLarge, "the body is longer than %d bytes", maxBody)
		return
	case errors.Is(err, body.ErrNoRoom):
		e.w.Header().Set("Retry-After", "1")
		e.invalid(http.StatusServiceUnavailable, "%v: send it again", err)
		return
	case err != nil:
		e.invalid(http.StatusBadRequest, "the body cannot be read to its end: %v", err)
		return
	}
	e.read = true
	_ = e.control.SetReadDeadline(time.Time{}) // from now on reading only tells that the client is gone
	batch := bytes.HasPrefix(bytes.TrimSpace(text), []byte("["))
	if batch && len(text) > maxBatchBody {
		e.invalid(http.StatusRequestEntityTooLarge, "a batch is longer than %d bytes: send its messages one by one", maxBatchBody)
		return
	}
	messages, others, err := mcp.SplitBatch(text)
	if err != nil {
		no := noMessage(text)
		e.refuse(http.StatusBadRequest, no.ID, no.Error)
		return
	}
	if e.isModern(messages) {
		e.modern(messages, batch)
	} else {
		e.legacy(messages, others, batch)
	}
}

// isModern reports whether messages are to be understood in the modern era.
func (e *exchange) isModern(messages []*mcp.Message) bool {
	revision := e.r.Header.Get(headerRevision)
	if revision != "" && !slices.Contains(mcp.LegacyRevisions(), revision) {
		return true
	}
	return slices.ContainsFunc(messages, func(m *mcp.Message) bool {
		return m.Method == mcp.MethodDiscover || mcp.Member(mcp.Member(m.Params, "_meta"), mcp.MetaProtocolVersion) != nil
	})
}

// modern serves one message that stands alone.
func (e *exchange) modern(messages []*mcp.Message, batch bool) {
	m := messages[0]
	switch {
	case batch:
		e.invalid(http.StatusBadRequest, "revision %s has no batches", mcp.ModernRevisions()[0])
		return
	case m.Kind() == mcp.Response:
		e.invalid(http.StatusBadRequest, "in revision %s clients do not answer requests", mcp.ModernRevisions()[0])
		return
	}
	if err := e.check(m); err != nil {
		e.refuse(statusOf(err), m.ID, err)
		return
	}
	ctx, cancel := context.WithCancelCause(e.r.Context())
	defer cancel(errGone)
	defer context.AfterFunc(e.h.ctx, func() { cancel(errClosing) })()
	c := newConn(ctx, e.h.o.Handler, e.h.lot, e.h.listens, nil)
	defer c.shut()
	defer cancel(errGone)
	if m.Method == mcp.MethodListen && !e.events {
		e.invalid(http.StatusNotAcceptable, "what %s answers with is text/event-stream, and Accept does not take it", m.Method)
		return
	}
	t := newTape(false, &e.h.held)
	defer t.drop()
	e.answer(c, t, messages, false, func(m *mcp.Message) error { return nil }, statusOf)
}

// legacy serves messages of a session, or opens one.
func (e *exchange) legacy(messages []*mcp.Message, others []mcp.Raw, batch bool) {
	opens := slices.ContainsFunc(messages, func(m *mcp.Message) bool { return m.Method == mcp.MethodInitialize })
	ok := func(*mcp.Error) int { return http.StatusOK }
	if opens {
		if batch || messages[0].Kind() != mcp.Request {
			e.invalid(http.StatusBadRequest, "%s is a request, and comes alone", mcp.MethodInitialize)
			return
		}
		s, err := e.h.open()
		if err != nil {
			e.w.Header().Set("Retry-After", "10")
			e.refuse(http.StatusServiceUnavailable, messages[0].ID, err)
			return
		}
		defer e.h.leave(s)
		e.session = s
		e.w.Header().Set(headerSession, s.id)
		if !e.answer(s.conn, newTape(true, &e.h.held), messages, false, s.aside, ok) || e.failed {
			e.h.drop(s, errGone)
		}
		return
	}
	s := e.enter(e.r.Header.Get(headerSession), messages[0].ID)
	if s == nil {
		return
	}
	defer e.h.leave(s)
	if batch && (s.agreed() != mcp.Revision20250326 || len(messages)+len(others) > maxBatch) {
		e.invalid(http.StatusBadRequest, "revision %s has no batches, and %s has them of at most %d messages", s.agreed(), mcp.Revision20250326, maxBatch)
		return
	}
	e.primes = s.agreed() >= mcp.Revision20251125
	e.others = others
	e.answer(s.conn, newTape(true, &e.h.held), messages, batch, s.aside, ok)
}

// enter enters the session of a request. If there is none the client is told, and it is
// nil.
func (e *exchange) enter(id string, request mcp.Raw) *session {
	if id == "" {
		e.refuse(http.StatusBadRequest, request, mcp.Errorf(mcp.CodeInvalidRequest, "the header %s is missing: %s opens a session and tells its id", headerSession, mcp.MethodInitialize))
		return nil
	}
	s := e.h.enter(id)
	if s == nil {
		e.refuse(http.StatusNotFound, request, mcp.Errorf(codeNoSession, "there is no such session: it was ended, or nothing happened in it for %s; %s opens another", idleSession, mcp.MethodInitialize))
	}
	e.session = s
	return s
}

// statusOf is the status that a modern request is refused with.
func statusOf(err *mcp.Error) int {
	switch err.Code {
	case mcp.CodeMethodNotFound:
		return http.StatusNotFound
	case mcp.CodeInvalidParams, mcp.CodeInvalidRequest, mcp.CodeParseError, mcp.CodeUnsupportedVersion, mcp.CodeHeaderMismatch, mcp.CodeMissingCapability:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// replies are the answers to the requests of one exchange.
type replies struct {
	mu   sync.Mutex
	left int
	got  []*mcp.Message
}

// add notes an answer, nil for a request that gets none, and reports whether it is the last.
func (r *replies) add(a *mcp.Message) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a != nil {
		r.got = append(r.got, a)
	}
	r.left--
	return r.left == 0
}

func (r *replies) all() []*mcp.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

// answer serves messages and answers those that are requests. What belongs to them goes
// onto t, with the answers, if the client takes events, else aside. It reports whether all
// that was wanted has been sent.
func (e *exchange) answer(c *conn, t *tape, messages []*mcp.Message, batch bool, aside sink, status func(*mcp.Error) int) bool {
	r := &replies{}
	for _, o := range e.others {
		r.got = append(r.got, noMessage(o))
	}
	for _, m := range messages {
		if m.Kind() == mcp.Request {
			r.left++
		}
	}
	requests := r.left
	bounded := requests > 0 && messages[0].Method != mcp.MethodListen // those have a bound of their own
	if bounded {
		select {
		case e.h.slots <- struct{}{}:
		default:
			t.drop()
			e.w.Header().Set("Retry-After", "1")
			e.refuse(http.StatusServiceUnavailable, messages[0].ID, mcp.Errorf(mcp.CodeInternalError, "%d requests are being served, and more are not taken", maxPending))
			return false
		}
	}
	let := func() {}
	if bounded {
		let, e.let = e.let, let // the calls may outlast this exchange
	}
	out := aside
	if e.events {
		out = func(m *mcp.Message) error {
			if t.put(m, false) == nil {
				return nil
			}
			return aside(m) // this exchange is over, the session may not be
		}
	}
	reads := t.attach(0)
	for _, a := range r.all() {
		_ = t.put(a, true)
	}
	c.calls.Go(func() {
		for _, m := range messages {
			c.begin(m, out, func(a *mcp.Message) {
				if m.Kind() != mcp.Request {
					return
				}
				if a != nil {
					_ = t.put(a, true) // nobody may want it any more
				}
				if r.add(a) {
					t.end()
					if bounded {
						<-e.h.slots
						let()
					}
				}
			})
		}
	})
	if requests == 0 {
		t.drop()
		if refused := r.all(); refused != nil {
			return e.whole(c, refused, batch, status)
		}
		e.w.WriteHeader(http.StatusAccepted)
		return true
	}
	sent := e.wait(c, t, reads, r, batch, status)
	if !e.streaming {
		t.drop() // the client knows of no stream that it could take up
	}
	t.detach(reads)
	return sent
}

// wait writes the answers: as a document if there is nothing else to send until then, else
// as a stream of events.
func (e *exchange) wait(c *conn, t *tape, reads *reader, r *replies, batch bool, status func(*mcp.Error) int) bool {
	tick := time.NewTimer(e.h.keepAlive)
	defer tick.Stop()
	done := c.ctx.Done()
	var grace <-chan time.Time
	for {
		events, ended, moved := t.next(reads)
		late := false // the answer takes so long that the client wants to see something
		stream := !e.json || slices.ContainsFunc(events, func(ev event) bool { return !ev.answer })
		switch {
		case stream:
		case ended:
			return e.whole(c, r.all(), batch, status)
		default:
			select {
			case <-moved:
			case <-tick.C:
				late = e.events
				stream = late
			case <-done:
				done, grace = nil, time.After(endGrace)
			case <-grace:
				return e.whole(c, nil, batch, status)
			case <-e.r.Context().Done():
				return false
			}
		}
		if !stream {
			continue
		}
		if e.begin(t, 0) != nil || late && e.sign() != nil {
			return false
		}
		sent := e.play(c.ctx, t, reads)
		for _, a := range r.all() {
			e.failed = e.failed || a.Error != nil
		}
		return sent
	}
}

// whole writes all answers as one document.
func (e *exchange) whole(c *conn, answers []*mcp.Message, batch bool, status func(*mcp.Error) int) bool {
	for _, a := range answers {
		e.failed = e.failed || a.Error != nil
	}
	switch {
	case len(answers) == 0 && c.ctx.Err() != nil:
		if e.r.Context().Err() == nil {
			e.refuse(http.StatusServiceUnavailable, nil, mcp.Errorf(mcp.CodeInternalError, "the request was ended: %v", context.Cause(c.ctx)))
		}
		return false
	case len(answers) == 0: // the client has cancelled it
		e.w.WriteHeader(http.StatusAccepted)
	case batch:
		var texts [][]byte
		for _, m := range answers {
			texts = append(texts, m.Encode())
		}
		e.document(http.StatusOK, slices.Concat([]byte("["), bytes.Join(texts, []byte(",")), []byte("]")))
	default:
		code := http.StatusOK
		if answers[0].Error != nil {
			e.w.Header().Del(headerSession) // one that was not opened
			code = status(answers[0].Error)
		}
		e.document(code, answers[0].Encode())
	}
	return true
}

// listen sends what belongs to no request of a session, for as long as the client stays,
// or the rest of a stream that the client has lost.
func (e *exchange) listen(id string) {
	if !e.events {
		e.invalid(http.StatusNotAcceptable, "what is sent here is text/event-stream, and Accept does not take it")
		return
	}
	s := e.enter(id, nil)
	if s == nil {
		return
	}
	defer e.h.leave(s)
	t, after := s.standing, -1
	if last := e.r.Header.Get(headerLast); last != "" {
		stream, number, ok := parseEvent(last)
		if ok {
			t, after = s.find(stream), number
		}
		if !ok || t == nil {
			e.invalid(http.StatusBadRequest, "the stream of the event %q is not kept", last)
			return
		}
	}
	_ = e.control.SetReadDeadline(time.Time{})
	r := t.attach(after)
	defer t.detach(r)
	e.primes = s.agreed() >= mcp.Revision20251125
	if e.begin(t, r.at) == nil {
		e.play(s.ctx, t, r)
	}
}

// end ends a session, because its client says so.
func (e *exchange) end(id string) {
	s := e.enter(id, nil)
	if s == nil {
		return
	}
	e.h.drop(s, errGone)
	e.h.leave(s)
	e.w.WriteHeader(http.StatusNoContent)
}

// open makes a session and enters it.
func (h *HTTP) open() (*session, *mcp.Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, mcp.Errorf(mcp.CodeInternalError, "%v", errClosing)
	}
	var oldest *session
	for _, s := range h.sessions {
		switch {
		case h.idle(s):
			h.endLocked(s, errGone)
		case s.busy == 0 && !s.isServing() && (oldest == nil || s.used.Before(oldest.used)):
			oldest = s
		}
	}
	h.ended = slices.DeleteFunc(h.ended, func(s *session) bool { return !s.isServing() })
	if len(h.sessions) >= h.sessionsN {
		if oldest == nil {
			return nil, mcp.Errorf(mcp.CodeInternalError, "there are %d sessions, all in use, and more are not opened", len(h.sessions))
		}
		h.endLocked(oldest, errGone)
	}
	s := &session{id: rand.Text(), busy: 1, used: h.now(), standing: newTape(true, &h.held)}
	ctx, stop := context.WithCancelCause(h.ctx)
	s.conn, s.stop = newConn(ctx, h.o.Handler, h.lot, h.listens, s.aside), stop
	h.sessions[s.id] = s
	return s, nil
}

// idle reports whether a session has lasted long enough. The caller holds mu.
func (h *HTTP) idle(s *session) bool {
	return s.busy == 0 && !s.isServing() && h.now().Sub(s.used) > idleSession
}

// enter returns a session, nil if there is none. leave must be called then.
func (h *HTTP) enter(id string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[id]
	if s == nil {
		return nil
	}
	if h.idle(s) {
		h.endLocked(s, errGone)
		return nil
	}
	s.busy++
	return s
}

func (h *HTTP) leave(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.busy--
	s.used = h.now()
}

// drop ends a session with all that is served in it.
func (h *HTTP) drop(s *session, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endLocked(s, why)
}

func (h *HTTP) endLocked(s *session, why error) {
	if h.sessions[s.id] != s {
		return
	}
	delete(h.sessions, s.id)
	h.ended = append(h.ended, s)
	s.stop(why)
	s.client.close()
	s.forget()
}

// aside is where messages of a session go that no exchange can take: to its stream. Without
// one notifications wait for it, and requests cannot be put: somebody waits for the answer.
func (s *session) aside(m *mcp.Message) error {
	if m.Kind() == mcp.Request && !s.standing.attached() {
		return errors.New("the client cannot be asked: it neither takes text/event-stream as an answer nor has a stream open")
	}
	return s.standing.put(m, false)
}

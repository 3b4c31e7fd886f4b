// Package web is the broker's half of fetch: it answers the operations that the package
// stdlib/fetch asks for, by HTTP/1.1 of its own, through the gate of a run.
//
// Whatever is connected to was decided on by the grant.Net, for a redirect as for what the
// script asked for. There is no proxy, no cookie jar, no cache, and nothing of the
// environment but the roots that TLS trusts. As browsers do, it leaves out the headers
// that are not a script's to set: those that frame a message or speak to proxies, and
// Host. At a redirect to another origin it leaves out all but what describes the body and
// what is accepted, and it follows no more than 10.
//
// Errors of the kind unavailable carry Node's code, such as ECONNREFUSED, as the detail
// code, where Node has one. They name the host as the script spelled it and no address that
// was found for it.
//
// A request and its response are an exchange. It begins with fetch.open, has a goroutine
// (send) that makes the round trips and reads the content ahead of the script, and is
// forgotten when the script has read all of it or gives it up.
package web

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

const (
	connectTimeout = 10 * time.Second // looking up a name and connecting; and TLS, once more
	headersTimeout = 5 * time.Minute
	bodyTimeout    = 5 * time.Minute        // without a byte
	placeTimeout   = 200 * time.Millisecond // for one of maxConnections; stdlib/fetch asks again

	maxConnections = 256      // whose response has not arrived whole
	maxExchanges   = 1024     // that the script has not read to their end
	maxHeaders     = 64 << 10 // bytes of the headers of a response
	maxRead        = 1 << 20  // bytes of one answer to fetch.read

	// firstWait is how long an answer waits for the content that comes with its headers.
	firstWait = time.Millisecond
)

// Web is the network of one run.
type Web struct {
	gate      *grant.Net
	limit     int64
	transport *http.Transport
	headers   time.Duration // headersTimeout, but in tests
	idle      time.Duration // bodyTimeout, but in tests

	ctx    context.Context // of everything that goes on
	stop   context.CancelCauseFunc
	places chan struct{} // one for each connection that is in use
	owned  sync.WaitGroup

	mu        sync.Mutex
	last      int64
	exchanges map[int64]*exchange
	conns     map[*conn]struct{}
	closed    bool
}

// New makes the network of a run. limit is how many bytes of content one answer of Call may
// have. The caller must Close it.
func New(gate *grant.Net, limit int64) *Web {
	w := &Web{
		gate: gate, limit: min(limit, maxRead), headers: headersTimeout, idle: bodyTimeout,
		places: make(chan struct{}, maxConnections), exchanges: map[int64]*exchange{}, conns: map[*conn]struct{}{},
	}
	w.ctx, w.stop = context.WithCancelCause(context.Background())
	w.transport = &http.Transport{
		DialContext:            w.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 only, as Node's fetch
		TLSHandshakeTimeout:    connectTimeout,
		MaxResponseHeaderBytes: maxHeaders,
		DisableCompression:     true, // content is decoded here
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        30 * time.Second,
		ReadBufferSize:         32 << 10,
	}
	return w
}

// errEnded is the error of what was under way when the run ended.
var errEnded = fault.New(fault.Unavailable, "the run has ended")

// Close ends every exchange and connection, and returns when nothing of it goes on.
func (w *Web) Close() {
	w.stop(errEnded)
	w.mu.Lock()
	w.closed = true
	conns := w.conns
	w.conns = nil
	w.exchanges = nil
	w.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close()
	}
	w.transport.CloseIdleConnections()
	w.owned.Wait()
}

// enter makes Close wait for a call of owned.Done. It fails once Close was called.
func (w *Web) enter() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errEnded
	}
	w.owned.Add(1)
	return nil
}

// conn is a connection that Close knows of.
type conn struct {
	net.Conn
	web *Web
}

func (c *conn) Close() error {
	c.web.mu.Lock()
	delete(c.web.conns, c)
	c.web.mu.Unlock()
	return c.Conn.Close()
}

// errConnectTimeout is the cause of a connection that took too long.
var errConnectTimeout = errors.New("connecting took too long")

// dial connects through the gate. net/http may ask for a connection on behalf of one
// request and give it to another, and goes on when the first is given up.
func (w *Web) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTimeout, errConnectTimeout)
	defer cancel()
	defer context.AfterFunc(w.ctx, cancel)()
	if err := w.enter(); err != nil {
		return nil, err
	}
	defer w.owned.Done()
	dialled, err := w.gate.DialContext(ctx, network, address)
	if err != nil {
		if errors.Is(context.Cause(ctx), errConnectTimeout) {
			return nil, errConnectTimeout
		}
		return nil, err
	}
	c := &conn{dialled, w}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		_ = dialled.Close()
		return nil, errEnded
	}
	w.conns[c] = struct{}{}
	return c, nil
}

// request is the head of every operation.
type request struct {
	ID       int64       `json:"id"`
	URL      string      `json:"url"`
	Method   string      `json:"method"`
	Headers  [][2]string `json:"headers"`
	Redirect string      `json:"redirect"`
	Stream   bool        `json:"stream"`
	End      bool        `json:"end"`
	Max      int64       `json:"max"`
}

// Call answers one operation of stdlib/fetch. It may be called from several goroutines. A
// call whose context ends gives up the exchange that it is about, at once.
func (w *Web) Call(ctx context.Context, op string, head json.RawMessage, body []byte) (answer, content []byte, err error) {
	var in request
	if err := json.Unmarshal(head, &in); err != nil {
		return nil, nil, fault.Internalf("reading the request %s of the script: %w", op, err)
	}
	if op == "fetch.open" {
		return w.open(ctx, in, body)
	}
	w.mu.Lock()
	x := w.exchanges[in.ID]
	w.mu.Unlock()
	if op == "fetch.close" {
		if x != nil {
			w.forget(x)
		}
		return nil, nil, nil
	}
	if x == nil {
		return nil, nil, fault.Unavailablef("the exchange is over: its response was read to the end, or it was given up")
	}
	switch op {
	case "fetch.head":
		return w.head(ctx, x)
	case "fetch.write":
		return w.write(ctx, x, body, in.End)
	case "fetch.read":
		return w.read(ctx, x, in.Max)
	}
	return nil, nil, fault.Internalf("the host knows no request %q", op)
}

// exchange is one request and its response.
type exchange struct {
	id     int64
	ctx    context.Context
	cancel context.CancelCauseFunc
	upload *io.PipeWriter // of a streamed request

	arrived  chan struct{} // closed when response or err is there
	response *response
	err      error
}

// errGivenUp is the cause of an exchange that nobody wants any more.
var errGivenUp = fault.New(fault.Unavailable, "the request was given up")

// begin makes an exchange, which takes one of the places for connections.
func (w *Web) begin(ctx context.Context) (*exchange, error) {
	w.mu.Lock()
	open := len(w.exchanges)
	w.mu.Unlock()
	const advice = "read every response to its end, or cancel its body: await response.body?.cancel()"
	if open >= maxExchanges {
		return nil, fault.Limitf("%d responses are open that the script has not read", open).Hintf(advice).With("busy", true)
	}
	select {
	case w.places <- struct{}{}:
	default:
		t := time.NewTimer(placeTimeout)
		defer t.Stop()
		select {
		case w.places <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-w.ctx.Done():
			return nil, context.Cause(w.ctx)
		case <-t.C:
			return nil, fault.Limitf("%d connections are in use, and none has become free", maxConnections).Hintf(advice).With("busy", true)
		}
	}
	x := &exchange{arrived: make(chan struct{})}
	x.ctx, x.cancel = context.WithCancelCause(w.ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		<-w.places
		x.cancel(errEnded)
		return nil, errEnded
	}
	w.last++
	x.id = w.last
	w.exchanges[x.id] = x
	return x, nil
}

// forget ends an exchange.
func (w *Web) forget(x *exchange) {
	x.cancel(errGivenUp)
	w.mu.Lock()
	delete(w.exchanges, x.id)
	w.mu.Unlock()
}

// open sends a request. If its body is a stream, the answer comes with fetch.head.
func (w *Web) open(ctx context.Context, in request, body []byte) (answer, content []byte, err error) {
	m, err := newMessage(in, body)
	if err == nil {
		err = w.admit(m.to)
	}
	if err != nil {
		return nil, nil, err
	}
	x, err := w.begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	if in.Stream {
		m.stream, x.upload = io.Pipe()
	}
	if err := w.enter(); err != nil {
		<-w.places
		w.forget(x)
		return nil, nil, err
	}
	go func() {
		defer w.owned.Done()
		w.send(x, m)
	}()
	if !in.Stream {
		return w.head(ctx, x)
	}
	answer, err = json.Marshal(struct {
		ID int64 `json:"id"`
	}{x.id})
	return answer, nil, err
}

// send gets the response to a request and then reads its content. It ends when that was
// taken or the exchange was given up.
func (w *Web) send(x *exchange, m *message) {
	stream := m.stream
	defer func() {
		if stream != nil {
			_ = stream.Close() // whoever still writes need not wait
		}
		<-w.places
	}()
	x.response, x.err = w.follow(x.ctx, m)
	if x.err != nil && context.Cause(x.ctx) != nil {
		x.err = context.Cause(x.ctx)
	}
	if x.err == nil {
		// Known before the answer is made, so that a response without content is whole.
		x.response.content = newContent(x.ctx, x.response)
	}
	close(x.arrived)
	if x.err == nil {
		x.response.content.fill()
	}
}

// head waits for the response of an exchange and describes it.
func (w *Web) head(ctx context.Context, x *exchange) (answer, content []byte, err error) {
	select {
	case <-x.arrived:
	case <-ctx.Done():
		w.forget(x)
		return nil, nil, context.Cause(ctx)
	}
	if x.err != nil {
		w.forget(x)
		return nil, nil, x.err
	}
	wait, cancel := context.WithTimeout(ctx, firstWait)
	defer cancel()
	content, end, err := x.response.content.take(wait, w.limit, 0)
	if err != nil {
		content, end = nil, false // fetch.read says it
	}
	if end {
		w.forget(x)
	}
	answer, err = json.Marshal(x.response.describe(x.id, end))
	return answer, content, err
}

// write hands a piece of the request's body on. The answer says if no more is wanted.
func (w *Web) write(ctx context.Context, x *exchange, body []byte, end bool) (answer, _ []byte, err error) {
	if x.upload == nil {
		return nil, nil, fault.Internalf("the body of the request was sent already")
	}
	defer context.AfterFunc(ctx, func() { x.cancel(errGivenUp) })()
	if _, err := x.upload.Write(body); err != nil {
		// The server has answered, or the request failed: either is told by fetch.head.
		return []byte(`{"over":true}`), nil, nil
	}
	if end {
		_ = x.upload.Close()
	}
	return []byte(`{}`), nil, nil
}

// read returns the next bytes of a response.
func (w *Web) read(ctx context.Context, x *exchange, most int64) (answer, content []byte, err error) {
	select {
	case <-x.arrived:
	default:
		return nil, nil, fault.Internalf("the response has not been asked for")
	}
	if x.err != nil {
		return nil, nil, x.err
	}
	content, end, err := x.response.content.take(ctx, max(min(most, w.limit), 1), w.idle)
	if err != nil {
		w.forget(x)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		return nil, nil, x.response.failure(err)
	}
	if end {
		w.forget(x)
	}
	return fmt.Appendf(nil, `{"end":%t}`, end), content, nil
}

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"sync"

	"mcpx/mcp"
)

// maxDeclared is how many bytes of capabilities are kept of a client.
const maxDeclared = 64 << 10

var (
	errCancelled = errors.New("cancelled by the client")
	errGone      = errors.New("the client is gone")
)

// sink sends one message to a client. The error says that it cannot have got there; a
// notification that there is no way for may also be dropped without one.
type sink func(m *mcp.Message) error

// conn is what is known of one client: what it agreed on, and which requests are being
// served in either direction. Fronts feed it messages.
type conn struct {
	ctx      context.Context // of the client; every request ends with it
	handler  Handler
	lot      *lot
	listens  chan struct{}  // one for each subscription that stands
	calls    sync.WaitGroup // requests being served
	client   *Client
	standing sink // for what belongs to no request

	mu           sync.Mutex
	revision     string  // what initialize agreed on
	capabilities mcp.Raw // what initialize declared
	level        string  // what logging/setLevel asked for
	running      map[string]context.CancelCauseFunc
	asked        map[string]chan *mcp.Message
	lastAsked    int
}

// newConn makes what is known of a client that nothing has come from yet. Calls that wait
// for answers wait in l. standing may be nil. shut must be called in the end.
func newConn(ctx context.Context, h Handler, l *lot, listens chan struct{}, standing sink) *conn {
	if standing == nil {
		standing = func(*mcp.Message) error { return nil } // a request that stands alone
	}
	c := &conn{
		ctx: ctx, handler: h, lot: l, listens: listens, standing: standing,
		revision: mcp.LegacyRevisions()[0],
		running:  map[string]context.CancelCauseFunc{},
		asked:    map[string]chan *mcp.Message{},
	}
	c.client = newClient(c)
	return c
}

// shut waits for what is being served; the context must be done.
func (c *conn) shut() {
	c.client.close()
	c.calls.Wait()
}

// begin starts to serve one message. What belongs to it goes to out. answer is called
// once: with the response, or with nil if there is none.
func (c *conn) begin(m *mcp.Message, out sink, answer func(*mcp.Message)) {
	switch m.Kind() {
	case mcp.Response:
		c.settle(m)
		answer(nil)
		return
	case mcp.Notification:
		if m.Method == mcp.NotificationCancelled {
			c.cancel(mcp.Member(m.Params, "requestId"))
		} else if caller, err := c.caller(m, out); err == nil {
			_, _ = c.handler.Serve(c.ctx, caller, m) // a notification has no answer, not even an error
		}
		answer(nil)
		return
	case mcp.Request:
		if !isID(m.ID) {
			answer(response(nil, nil, mcp.Errorf(mcp.CodeInvalidRequest, "the id of a request is a text or a number")))
			return
		}
	}

	caller, err := c.caller(m, out)
	if err != nil {
		answer(response(m.ID, nil, err))
		return
	}
	key := mcp.IDKey(m.ID)
	ctx, cancel := context.WithCancelCause(c.ctx)
	c.mu.Lock()
	_, taken := c.running[key]
	if !taken {
		c.running[key] = cancel
	}
	c.mu.Unlock()
	if taken {
		cancel(nil)
		answer(response(m.ID, nil, mcp.Errorf(mcp.CodeInvalidRequest, "a request with the id %s is being served", m.ID)))
		return
	}
	serve := func() {
		result, err := c.serve(ctx, caller, m)
		caller.flush(ctx) // what belongs to a request comes before its answer
		c.mu.Lock()
		delete(c.running, key)
		c.mu.Unlock()
		unwanted := context.Cause(ctx)
		cancel(nil)
		if errors.Is(unwanted, errCancelled) || unwanted != nil && err != nil {
			answer(nil)
			return
		}
		r := response(m.ID, result, err)
		r.Complete = m.Method == mcp.MethodToolsCall && caller.era == mcp.Modern && mcp.Member(r.Result, "resultType") == nil
		answer(r)
	}
	if m.Method == mcp.MethodInitialize {
		serve() // what comes next is understood in the light of it
		return
	}
	c.calls.Go(serve)
}

// isID reports whether a value can be the id of a request.
func isID(id mcp.Raw) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || '0' <= id[0] && id[0] <= '9')
}

// serve lets the handler answer a request.
func (c *conn) serve(ctx context.Context, caller *caller, m *mcp.Message) (mcp.Raw, error) {
	if m.Method == mcp.MethodListen {
		select {
		case c.listens <- struct{}{}:
			defer func() { <-c.listens }()
		default:
			return nil, mcp.Errorf(mcp.CodeInternalError, "there are %d subscriptions, and more are not taken", cap(c.listens))
		}
		return c.handler.Serve(ctx, caller, m)
	}
	if !parks(m.Method) {
		return c.handler.Serve(ctx, caller, m)
	}
	c.client.serving(1)
	defer c.client.serving(-1)
	if caller.era == mcp.Modern {
		return c.lot.serve(ctx, c.handler, caller, m)
	}
	return c.handler.Serve(ctx, caller, m)
}

func response(id, result mcp.Raw, err error) *mcp.Message {
	if err == nil {
		return &mcp.Message{ID: id, Result: result}
	}
	var e *mcp.Error
	if !errors.As(err, &e) {
		e = mcp.Errorf(mcp.CodeInternalError, "%v", err)
	}
	return &mcp.Message{ID: id, Error: e}
}

// noMessage answers a text that is no message, under its id if it was meant as a request.
func noMessage(text []byte) *mcp.Message {
	if !json.Valid(text) {
		return response(nil, nil, mcp.Errorf(mcp.CodeParseError, "not JSON"))
	}
	id := mcp.Member(text, "id")
	if mcp.Member(text, "method") == nil || len(id) == 0 || bytes.IndexByte([]byte(`"-0123456789`), id[0]) < 0 {
		id = nil
	}
	return response(id, nil, mcp.Errorf(mcp.CodeInvalidRequest, "not a JSON-RPC message"))
}

func (c *conn) cancel(id mcp.Raw) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop := c.running[mcp.IDKey(id)]; stop != nil {
		stop(errCancelled)
	}
}

// settle hands the client's response to whoever asked.
func (c *conn) settle(m *mcp.Message) {
	key := mcp.IDKey(m.ID)
	c.mu.Lock()
	answer := c.asked[key]
	delete(c.asked, key)
	c.mu.Unlock()
	if answer != nil {
		answer <- m
	}
}

// caller makes the Caller of a message, after it has noted what the message changes of
// the connection.
func (c *conn) caller(m *mcp.Message, out sink) (*caller, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	meta := mcp.Member(m.Params, "_meta")
	era, revision, err := understand(m.Method, meta, c.revision)
	if err != nil {
		return nil, err
	}
	token := mcp.Member(meta, "progressToken")
	if era == mcp.Modern {
		level := textOf(mcp.Member(meta, mcp.MetaLogLevel))
		return newCaller(c, era, revision, mcp.Member(meta, mcp.MetaClientCapabilities), round{out: out, token: token, level: level}), nil
	}
	switch m.Method {
	case mcp.MethodInitialize:
		declared := mcp.Member(m.Params, "capabilities")
		if len(declared) > maxDeclared {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "capabilities of %d bytes are more than a client can have: %d", len(declared), maxDeclared)
		}
		c.revision = Negotiate(textOf(mcp.Member(m.Params, "protocolVersion")))
		c.capabilities = bytes.Clone(declared) // the rest of the message is not kept for it
	case mcp.MethodSetLevel:
		level := textOf(mcp.Member(m.Params, "level"))
		if !slices.Contains(levels(), level) {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown log level: %s", mcp.Member(m.Params, "level"))
		}
		c.level = level
	}
	return newCaller(c, era, c.revision, c.capabilities, round{out: out, token: token, level: c.level}), nil
}

// wants reports whether a legacy client wants log messages of a level that belong to none
// of its requests.
func (c *conn) wants(level string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return reaches(level, c.level)
}

func textOf(v mcp.Raw) string {
	var s string
	_ = json.Unmarshal(v, &s) // anything but a text counts as none
	return s
}

// levels are the levels of log messages, from the least to the most severe.
func levels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// reaches reports whether a level is at least as severe as another; without that one every
// level is.
func reaches(level, least string) bool {
	return least == "" || slices.Index(levels(), level) >= slices.Index(levels(), least)
}

// caller is the Caller of one message on a connection.
type caller struct {
	conn         *conn
	era          mcp.Era
	revision     string
	capabilities mcp.Raw
	parked       *parked         // how a modern caller is asked; nil if it cannot be
	group        *sync.WaitGroup // of what it started
	feed         feed

	mu   sync.Mutex
	now  round
	done float64 // the progress that was told last
}

// round is one request of a call: a modern client makes several to answer questions.
type round struct {
	out   sink    // nil while the client is not there
	token mcp.Raw // for progress; nil if the client wants none
	level string  // least severe log messages that are wanted; empty if that was not said
}

func newCaller(c *conn, era mcp.Era, revision string, capabilities mcp.Raw, r round) *caller {
	cl := &caller{conn: c, era: era, revision: revision, capabilities: capabilities, group: &c.calls, now: r, done: math.Inf(-1)}
	cl.feed.start = func(f func()) { cl.group.Go(f) }
	cl.feed.send = func(m *mcp.Message) { _ = cl.send(m) } // who is gone misses it
	return cl
}

func (c *caller) Era() mcp.Era     { return c.era }
func (c *caller) Revision() string { return c.revision }
func (c *caller) Capabilities() mcp.Raw {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.capabilities
}
func (c *caller) Client() *Client { return c.conn.client }
func (c *caller) Level() string   { return c.current().level }

func (c *caller) Logs(level string) bool {
	least := c.Level()
	return slices.Contains(levels(), level) && reaches(level, least) && (least != "" || c.era == mcp.Legacy)
}

// enter has the call go on with another request, and starts its progress anew: that
// request may have another token.
func (c *caller) enter(r round) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.done = r, math.Inf(-1)
}

// declare notes what the client declares with the request that the call goes on with: what
// it said with an earlier one is not to be relied on.
func (c *caller) declare(capabilities mcp.Raw) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.capabilities = capabilities
}

func (c *caller) current() round {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *caller) send(m *mcp.Message) error {
	if out := c.current().out; out != nil {
		return out(m)
	}
	return errGone
}

func (c *caller) flush(ctx context.Context) { c.feed.flush(ctx) }

func (c *caller) Notify(ctx context.Context, method string, params mcp.Raw) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	c.flush(ctx)
	return c.send(&mcp.Message{Method: method, Params: params})
}

func (c *caller) Tell(method string, params mcp.Raw) {
	switch method {
	case mcp.NotificationProgress:
		var done float64
		r := c.current()
		if r.token == nil || json.Unmarshal(mcp.Member(params, "progress"), &done) != nil {
			return
		}
		c.mu.Lock()
		grows := done > c.done
		if grows {
			c.done = done
		}
		c.mu.Unlock()
		with, err := mcp.SetMember(params, "progressToken", r.token)
		if !grows || err != nil {
			return // the protocol wants it to grow
		}
		params = with
	case mcp.NotificationMessage:
		if !c.Logs(textOf(mcp.Member(params, "level"))) || !c.conn.client.news(params) {
			return
		}
	}
	c.feed.put("", &mcp.Message{Method: method, Params: params})
}

func (c *caller) Request(ctx context.Context, method string, params mcp.Raw) (mcp.Raw, error) {
	switch {
	case c.parked != nil:
		return c.parked.ask(ctx, method, params)
	case c.era == mcp.Modern:
		return nil, errors.New("clients of revision " + c.revision + " cannot be asked by the answer of such a request")
	}
	answer := make(chan *mcp.Message, 1)
	c.conn.mu.Lock()
	c.conn.lastAsked++
	id := mcp.Raw(strconv.Itoa(c.conn.lastAsked))
	key := mcp.IDKey(id)
	c.conn.asked[key] = answer
	c.conn.mu.Unlock()
	defer func() {
		c.conn.mu.Lock()
		delete(c.conn.asked, key)
		c.conn.mu.Unlock()
	}()

	if err := c.send(&mcp.Message{ID: id, Method: method, Params: params}); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, m.Error
		}
		return m.Result, nil
	case <-ctx.Done():
		if c.conn.ctx.Err() == nil {
			_ = c.send(&mcp.Message{Method: mcp.NotificationCancelled, Params: encode(object{"requestId": id})}) // a courtesy
		}
		return nil, context.Cause(ctx)
	}
}

// isServing reports whether a request of the client is being served.
func (c *conn) isServing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.running) > 0
}

// agreed is the revision that initialize settled on.
func (c *conn) agreed() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.revision
}

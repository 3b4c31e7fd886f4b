package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/mcp"
	"mcpx/mcp/client"
	"mcpx/pool"
)

// request is one request to a server, with the way back to whoever made it.
type request struct {
	method string
	params mcp.Checked
	what   string    // what errors call it
	tool   *mcp.Tool // that is called; nil if none is
	peer   api.Peer
}

// exchange sends a request on an instance of the server and returns the result. What the
// server asks meanwhile is asked of the peer; with one that takes it the result may be one
// that asks for input.
func (s *server) exchange(ctx context.Context, r request) (result mcp.Checked, err error) {
	def, err := s.definition()
	if err != nil {
		return result, s.warned(err)
	}
	if n, ok := r.peer.(named); ok {
		r.peer = n.For(s.entry.Name)
	}
	clock := s.clock(r.what)
	way := &relay{s: s, r: r, clock: clock, over: make(chan struct{})}
	defer close(way.over)
	want, err := s.want(ctx, r.peer)
	if err != nil {
		return result, err
	}
	lease, err := s.g.o.Pool.Acquire(ctx, pool.Request{Def: def, Process: s.resolved().process, Era: s.era(), Want: want, Caller: s.g.caller, Peer: way})
	if err != nil {
		return result, err
	}
	defer lease.Release()
	ctx = clock.start(ctx)
	defer clock.stop()
	if lease.Fresh() {
		s.freshen()
	}
	session := lease.Session()
	if want == mcp.Unknown {
		s.learned(session.Era())
	}
	if want == mcp.Modern && session.Era() == mcp.Legacy {
		s.resolved().remembers()
	}
	options := way.options()
	level := s.g.news.level(options.LogLevel)
	options.LogLevel = level
	if level != "" {
		// Without it the server says what it likes, and the call is made all the same.
		if err := session.LogLevel(ctx, level); err != nil && ctx.Err() != nil {
			return result, context.Cause(ctx)
		}
	}
	result, err = session.Request(ctx, r.method, r.params, options)
	if why := clock.why(); why != nil {
		return mcp.Checked{}, why // the server was told something meanwhile, and may have answered
	}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind == fault.InputRequired && e.Details["tool"] == nil {
		if all, ok := e.Details["inputRequests"].(mcp.Raw); ok {
			return mcp.Checked{}, way.refused(all, err)
		}
	}
	return result, err
}

// A named peer is one that is used for calls to several servers, and wants to know which
// one speaks.
type named interface{ For(server string) api.Peer }

// called is how errors name a request.
func (s *server) called(what string) string { return s.entry.Name + "." + what }

func (s *server) about(r request, e *fault.Error) *fault.Error {
	e = e.With("server", s.entry.Name).With("mayHaveRun", true)
	if r.tool != nil {
		e = e.With("tool", r.tool.Name)
	}
	return e
}

// want is the era in which a server is to be spoken to for a peer that speaks MCP itself,
// if it may speak both.
func (s *server) want(ctx context.Context, peer api.Peer) (mcp.Era, error) {
	c, ok := peer.(api.Client)
	if !ok {
		return mcp.Unknown, nil
	}
	known := s.era()
	if known == mcp.Unknown {
		lease, err := s.acquire(ctx, pool.Request{Look: true})
		if err != nil {
			return mcp.Unknown, err
		}
		known = lease.Session().Era() // the catalog learns it later
		lease.Release()
	}
	stdio := s.entry.Transport == "stdio"
	switch {
	case c.Modern():
		// Over a pipe the modern way is tried first: who was found to be legacy is.
		v := s.resolved()
		v.mu.Lock()
		defer v.mu.Unlock()
		if known == mcp.Modern || stdio || v.onlyLegacy {
			return mcp.Unknown, nil
		}
		return mcp.Modern, nil
	case known == mcp.Modern && stdio:
		return mcp.Legacy, nil
	}
	return mcp.Unknown, nil // it was found to be legacy, or refused the legacy way
}

// remembers that the server has no modern era.
func (v *variant) remembers() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.onlyLegacy = true
}

// relay is the way from a server back to whoever made a call.
type relay struct {
	s     *server
	r     request
	clock *clock
	over  chan struct{} // closed with the call
}

var _ client.Sink = (*relay)(nil)

// Same is equal for relays that lead to one caller.
func (w *relay) Same() any {
	if k, ok := w.r.peer.(interface{ Same() any }); ok {
		return k.Same()
	}
	if w.r.peer != nil {
		return w.r.peer
	}
	return w
}

// Hold keeps the call from running out of time until release.
func (w *relay) Hold() (release func()) { return w.clock.hold() }

func (w *relay) options() client.CallOptions {
	o := client.CallOptions{Sink: w, OnProgress: w.progress, TakesUnfinished: w.r.peer != nil && w.r.peer.TakesUnfinished()}
	if w.r.tool != nil {
		o.InputSchema = w.r.tool.InputSchema
	}
	if c, ok := w.r.peer.(api.Client); ok {
		if o.Capabilities = c.Capabilities(); o.Capabilities == nil {
			o.Capabilities = mcp.Raw("{}")
		}
		o.LogLevel = c.LogLevel()
	}
	return o
}

func (w *relay) progress(params mcp.Raw) {
	w.clock.reset()
	if w.r.peer != nil {
		w.r.peer.Notify(mcp.NotificationProgress, mcp.WithoutMember(params, "progressToken"))
	}
}

// Notify passes on what the server says.
func (w *relay) Notify(method string, params mcp.Raw) {
	if w.r.peer != nil && method != mcp.NotificationProgress {
		w.r.peer.Notify(method, params)
	}
}

// Request passes on what the server asks, and the answer. If there is nobody to ask, or
// the question cannot be put, the call ends.
func (w *relay) Request(ctx context.Context, method string, params mcp.Raw) (mcp.Raw, *mcp.Error) {
	if !askable(method) {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s is not offered by this client", method)
	}
	result, err := w.ask(ctx, method, params)
	var refused *mcp.Error
	switch {
	case err == nil:
		return result, nil
	case errors.As(err, &refused) && refused.Code == mcp.CodeMethodNotFound && method == mcp.MethodElicitation:
		w.clock.end(w.unanswered([]asked{{Method: method, Params: params}}, nil))
		return mcp.Raw(`{"action":"cancel"}`), nil
	case errors.As(err, &refused):
		return nil, refused
	case ctx.Err() == nil:
		w.clock.end(err)
	}
	return nil, mcp.Errorf(mcp.CodeInternalError, "the question could not be put to anybody")
}

// ask asks the peer. The call does not run out of time meanwhile.
func (w *relay) ask(ctx context.Context, method string, params mcp.Raw) (mcp.Raw, error) {
	if w.r.peer == nil {
		return nil, api.Nobody(method)
	}
	release := w.clock.hold()
	defer release()
	return w.r.peer.Ask(ctx, method, params)
}

func askable(method string) bool {
	return method == mcp.MethodElicitation || method == mcp.MethodSampling || method == mcp.MethodRootsList
}

// asked is a question of a server.
type asked struct {
	Method string  `json:"method"`
	Params mcp.Raw `json:"params,omitempty"`
}

// refused is the error of a call whose server asked, in the modern way, for what it did
// not get.
func (w *relay) refused(requests mcp.Raw, err error) error {
	var all []asked
	for _, q := range mcp.Members(requests) {
		all = append(all, asked{text(q, "method"), mcp.Member(q, "params")})
	}
	if refusal, ok := errors.AsType[*mcp.Error](err); ok {
		return w.unanswered(all, refusal)
	}
	return w.unanswered(all, nil)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// unanswered is the error of a call whose server asked what nobody answers. It says what
// is asked, in which form, and what can be done.
func (w *relay) unanswered(all []asked, why error) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s asks for input and nobody can be asked here", w.s.called(w.r.what))
	if why != nil {
		fmt.Fprintf(&b, " (%v)", why)
	}
	for _, q := range all {
		b.WriteString("\n" + inWords(q.Method, q.Params))
	}
	return w.s.about(w.r, fault.New(fault.InputRequired, "%s", b.String())).With("inputRequests", all).
		Hintf("call it at a terminal, where it is asked, or give what it asks for as an argument if the tool takes it; nothing was answered")
}

const (
	// maxQuestion bounds the words of a server that an error quotes, maxFields the fields
	// that it lists, and maxPages the pages to open.
	maxQuestion = 1000
	maxFields   = 32
	maxPages    = 8
)

// inWords says in words what a server asks: its message, and each field with its type.
func inWords(method string, params json.RawMessage) string {
	switch method {
	case mcp.MethodSampling:
		return "  a language model's answer (sampling/createMessage)"
	case mcp.MethodRootsList:
		return "  which folders it may work in (roots/list)"
	case mcp.MethodElicitation:
	default:
		return "  " + clip(method)
	}
	lines := []string{"  " + clip(text(params, "message"))}
	if url := text(params, "url"); url != "" {
		lines = append(lines, "    to be opened in a browser: "+clip(url))
	}
	schema := mcp.Member(params, "requestedSchema")
	required := []string{}
	for name := range mcp.Elements(mcp.Member(schema, "required")) {
		required = append(required, string(name))
	}
	fields := 0
	for name, of := range mcp.Members(mcp.Member(schema, "properties")) {
		if fields++; fields > maxFields {
			lines = append(lines, "    …")
			break
		}
		line := "    " + clip(name) + ": " + kindOfField(of)
		quoted, _ := json.Marshal(name) // a text can always be encoded
		if !slices.Contains(required, string(quoted)) {
			line += ", optional"
		}
		if about := text(of, "title"); about != "" {
			line += " — " + clip(about)
		} else if about := text(of, "description"); about != "" {
			line += " — " + clip(about)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// kindOfField is the type of a field of a form, with the values that it may have.
func kindOfField(of mcp.Raw) string {
	var values []string
	for v := range mcp.Elements(mcp.Member(of, "enum")) {
		values = append(values, string(v))
	}
	for v := range mcp.Elements(mcp.Member(of, "oneOf")) {
		values = append(values, string(mcp.Member(v, "const")))
	}
	kind := text(of, "type")
	if kind == "" {
		kind = "any"
	}
	if len(values) > 0 {
		kind = "one of " + clip(strings.Join(values, ", "))
	}
	if d := mcp.Member(of, "default"); d != nil {
		kind += ", else " + clip(string(d))
	}
	return kind
}

// clip is the beginning of a text of a server, on one line.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxQuestion {
		s = strings.ToValidUTF8(s[:maxQuestion], "") + "…"
	}
	return s
}

// clock ends a call that has been silent for pool.callTimeout, or has lasted pool.callMax.
// It stands still, as far as silence goes, while a question of the server waits.
type clock struct {
	idle, longest time.Duration
	silent, long  func() error // why the call ends

	mu      sync.Mutex
	cancel  context.CancelCauseFunc // nil before it is started
	ended   error                   // why end was called; nil if it was not
	held    int
	silence *time.Timer
	max     *time.Timer
}

// start begins to count, and returns the context of the call.
func (c *clock) start(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	if c.ended != nil {
		cancel(c.ended)
	}
	c.silence = time.AfterFunc(c.idle, func() {
		c.mu.Lock()
		held := c.held > 0
		c.mu.Unlock()
		if !held { // a question may have come at the same moment
			cancel(c.silent())
		}
	})
	if c.held > 0 {
		c.silence.Stop()
	}
	c.max = time.AfterFunc(c.longest, func() { cancel(c.long()) })
	return ctx
}

// reset starts the silence anew: the server has shown progress.
func (c *clock) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silence != nil && c.silence.Stop() {
		c.silence.Reset(c.idle)
	}
}

// hold stops counting the silence until release, which may be called more than once.
func (c *clock) hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held++; c.silence != nil {
		c.silence.Stop()
	}
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held--; c.held == 0 && c.silence != nil {
			c.silence.Reset(c.idle)
		}
	})
}

// end ends the call for a reason.
func (c *clock) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		c.ended = why
	}
	if c.cancel != nil {
		c.cancel(why)
	}
}

// why is the reason for which the call was ended; nil if it was not.
func (c *clock) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// stop ends the counting. What is released later starts nothing.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silence != nil {
		c.silence.Stop()
		c.silence = nil
		c.max.Stop()
		c.cancel(nil)
	}
}

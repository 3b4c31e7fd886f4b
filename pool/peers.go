package pool

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"

	"mcpx/mcp"
	"mcpx/mcp/client"
)

// peerCapabilities is what every server hears of us: that it may ask. Whether there is
// anybody to answer is known only when it does.
var peerCapabilities = mcp.Raw(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`)

// A kin is a peer that may stand for the same caller as another one: their Same are
// equal then.
type kin interface{ Same() any }

// A holder is a peer whose call can be kept from running out of time while its caller
// thinks.
type holder interface{ Hold() (release func()) }

// callers are those whose calls are under way on one instance. A server of the legacy
// era that speaks over a pipe does not say which call it speaks about; what it says
// goes to those who may be meant, and what it asks to the one who must be.
type callers struct {
	mu        sync.Mutex
	turns     []*turn // in the order in which they began
	questions []*question
}

// turn is one lease as far as its caller can be reached.
type turn struct {
	of   *callers
	peer client.Sink
}

// question is one that waits for an answer. It ends with the last call of its caller.
type question struct {
	peer   client.Sink
	cancel context.CancelFunc
	held   []func()
}

// enter notes that a call of peer is under way. A nil peer is not counted.
func (c *callers) enter(peer client.Sink) *turn {
	t := &turn{of: c, peer: peer}
	if peer == nil {
		return t
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turns = append(c.turns, t)
	for _, q := range c.questions {
		if same(q.peer, peer) {
			q.hold(peer)
		}
	}
	return t
}

// leave notes that the call is over. Questions that nobody is left to answer end. It may
// be called more than once.
func (t *turn) leave() {
	c := t.of
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.turns, t)
	if i < 0 {
		return
	}
	c.turns = slices.Delete(c.turns, i, i+1)
	for _, q := range c.questions {
		if !slices.ContainsFunc(c.turns, func(t *turn) bool { return same(t.peer, q.peer) }) {
			q.cancel()
		}
	}
}

// each returns one peer of each caller.
func (c *callers) each() []client.Sink {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []client.Sink
	for _, t := range c.turns {
		if !slices.ContainsFunc(out, func(p client.Sink) bool { return same(p, t.peer) }) {
			out = append(out, t.peer)
		}
	}
	return out
}

// ask begins a question for the one caller whose calls are under way. Without one, or
// with several, there is nobody to ask.
func (c *callers) ask(cancel context.CancelFunc) (q *question, several bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.turns) == 0 {
		return nil, false
	}
	peer := c.turns[0].peer
	for _, t := range c.turns[1:] {
		if !same(t.peer, peer) {
			return nil, true
		}
	}
	q = &question{peer: peer, cancel: cancel}
	for _, t := range c.turns {
		q.hold(t.peer)
	}
	c.questions = append(c.questions, q)
	return q, false
}

// hold keeps a call from running out of time: it may be the one that waits.
func (q *question) hold(peer client.Sink) {
	if h, ok := peer.(holder); ok {
		q.held = append(q.held, h.Hold())
	}
}

func (c *callers) answered(q *question) {
	c.mu.Lock()
	c.questions = slices.DeleteFunc(c.questions, func(other *question) bool { return other == q })
	held := q.held
	c.mu.Unlock()
	for _, release := range held {
		release()
	}
}

// same reports whether two peers stand for one caller.
func same(a, b client.Sink) bool {
	x, y := any(a), any(b)
	if k, ok := a.(kin); ok {
		x = k.Same()
	}
	if k, ok := b.(kin); ok {
		y = k.Same()
	}
	return reflect.TypeOf(x) == reflect.TypeOf(y) && x != nil && reflect.TypeOf(x).Comparable() && x == y
}

// sink takes what the server of the instance says and asks without saying to whom.
func (i *instance) sink() client.Sink { return unaddressed{i} }

type unaddressed struct{ i *instance }

// Notify tells all callers whose calls are under way, and those who listen.
func (u unaddressed) Notify(method string, params mcp.Raw) {
	switch method {
	case mcp.NotificationToolsListChanged, mcp.NotificationPromptsListChanged, mcp.NotificationResourcesListChanged,
		mcp.NotificationResourcesUpdated, mcp.NotificationProgress:
		return // they have listeners of their own, or come too late
	}
	for _, p := range u.i.callers.each() {
		p.Notify(method, params)
	}
	u.i.pool.hearers.tell(u.i.set.of, method, params)
}

// Request asks the caller whose call is under way. If calls of several are, it cannot be
// known whose it is about: it is refused, and from then on calls to this server are made
// one after the other.
func (u unaddressed) Request(ctx context.Context, method string, params mcp.Raw) (mcp.Raw, *mcp.Error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q, several := u.i.callers.ask(cancel)
	switch {
	case several:
		if u.i.serialize() { // a server that asks without end does not fill the log
			u.i.pool.o.Log.LogAttrs(ctx, slog.LevelWarn, "question.ambiguous", slog.String("server", u.i.def.Name), slog.String("method", method))
		}
		return nil, mcp.Errorf(mcp.CodeInternalError, "calls of several callers are under way, and the protocol does not say whose call asks; from now on they are made one after the other, so call again")
	case q == nil:
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s can be answered only while a call is under way", method)
	}
	defer u.i.callers.answered(q)
	result, err := q.peer.Request(ctx, method, params)
	if ctx.Err() != nil && err == nil && result == nil {
		err = mcp.Errorf(mcp.CodeInternalError, "the call is over")
	}
	return result, err
}

// opened follows what the server says of its own accord, as long as the session lasts.
func (i *instance) opened(s *client.Session) {
	s.Follow(client.Interest{Tools: true, Prompts: true, Resources: true}, func(method string, params mcp.Raw) {
		i.pool.hearers.tell(i.set.of, method, params)
	})
}

// hearers are told what servers say to nobody in particular.
type hearers struct {
	mu  sync.Mutex
	all []*hearer
}

type hearer struct {
	hear func(process, method string, params mcp.Raw)
}

// Hear has f told what servers say to nobody in particular: that a list has changed, and
// messages of their logs. Process is the ProcessKey of the definition of the server. F must
// not block. Once stop has returned no call of f begins; one may still be under way.
func (p *Pool) Hear(f func(process, method string, params mcp.Raw)) (stop func()) {
	h := &hearer{f}
	p.hearers.mu.Lock()
	p.hearers.all = append(slices.Clip(p.hearers.all), h)
	p.hearers.mu.Unlock()
	return func() {
		p.hearers.mu.Lock()
		defer p.hearers.mu.Unlock()
		p.hearers.all = slices.DeleteFunc(slices.Clone(p.hearers.all), func(other *hearer) bool { return other == h })
	}
}

func (h *hearers) tell(process, method string, params mcp.Raw) {
	h.mu.Lock()
	all := h.all
	h.mu.Unlock()
	for _, one := range all {
		one.hear(process, method, params)
	}
}

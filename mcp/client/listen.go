package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"mcpx/mcp"
)

const (
	// unsubscribeTimeout bounds what is done for the server's sake when nobody listens any
	// more.
	unsubscribeTimeout = 10 * time.Second
	// acknowledgeTimeout is how long a server may take to acknowledge a subscription before
	// the call for it fails. It is not given up then.
	acknowledgeTimeout = 30 * time.Second
)

// Interest is what somebody wants to hear of a server.
type Interest struct {
	Tools, Prompts, Resources bool     // that a list has changed
	URIs                      []string // that a resource has changed
}

func (i Interest) empty() bool { return !i.Tools && !i.Prompts && !i.Resources && len(i.URIs) == 0 }

// covers reports whether a notification is one that was wanted.
func (i Interest) covers(method string, params mcp.Raw) bool {
	switch method {
	case mcp.NotificationToolsListChanged:
		return i.Tools
	case mcp.NotificationPromptsListChanged:
		return i.Prompts
	case mcp.NotificationResourcesListChanged:
		return i.Resources
	case mcp.NotificationResourcesUpdated:
		at := text(mcp.Member(params, "uri"))
		// What changes may be a part of what was subscribed to.
		return slices.ContainsFunc(i.URIs, func(uri string) bool {
			rest, ok := strings.CutPrefix(at, uri)
			return ok && (rest == "" || strings.HasSuffix(uri, "/") || strings.ContainsRune("/#?", rune(rest[0])))
		})
	}
	return false
}

// listener is told what it wants to hear.
type listener struct {
	want  Interest
	hear  func(method string, params mcp.Raw)
	acked chan mcp.Raw // what the server of a modern session agrees to; it has room for one
}

// listening is what a legacy server was told to remember of us. The token in turn is
// held while the server is asked for something about it.
type listening struct {
	once  sync.Once
	turn  chan struct{}
	uris  map[string]int // how many listen
	level string
}

func (l *listening) take(ctx context.Context) error {
	l.once.Do(func() { l.turn, l.uris = make(chan struct{}, 1), map[string]int{} })
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *listening) give() { <-l.turn }

// declared returns what of an interest the server declares that it can tell.
func (s *Session) declared(want Interest) Interest {
	says := func(of, what string) bool {
		return string(mcp.Member(mcp.Member(s.capabilities, of), what)) == "true"
	}
	got := Interest{
		Tools:     want.Tools && says("tools", "listChanged"),
		Prompts:   want.Prompts && says("prompts", "listChanged"),
		Resources: want.Resources && says("resources", "listChanged"),
	}
	if says("resources", "subscribe") {
		got.URIs = want.URIs
	}
	return got
}

// Listen has hear told what the server says about what is wanted, until ctx is done or the
// session is over. It returns when the server has agreed, with what it agreed to; what it
// does not offer is left out. Hear must not block: nothing else is read from the server
// meanwhile.
func (s *Session) Listen(ctx context.Context, want Interest, hear func(method string, params mcp.Raw)) (Interest, error) {
	want = s.declared(want)
	if want.empty() {
		return want, nil
	}
	if s.era == mcp.Modern {
		return s.subscribe(ctx, want, hear)
	}
	l := &listener{want: want, hear: hear}
	s.conn.add(l)
	var refused error
	var stand []string
	for _, uri := range want.URIs {
		if err := s.remember(ctx, uri); err != nil {
			if !errors.As(err, new(*mcp.Error)) {
				refused = err
				break
			}
			continue
		}
		stand = append(stand, uri)
	}
	end := func() {
		s.conn.remove(l)
		for _, uri := range stand {
			s.forget(uri)
		}
	}
	if refused != nil {
		s.conn.aside(end)
		return Interest{}, refused
	}
	want.URIs = stand
	s.conn.aside(func() {
		select {
		case <-ctx.Done():
			end()
		case <-s.conn.done:
		}
	})
	return want, nil
}

// Follow is Listen for as long as the session lasts, without waiting for the server.
func (s *Session) Follow(want Interest, hear func(method string, params mcp.Raw)) {
	want.URIs = nil
	switch want := s.declared(want); {
	case s.era != mcp.Modern:
		// Who forgot to declare it may say it all the same.
		s.conn.add(&listener{want: Interest{Tools: true, Prompts: true, Resources: true}, hear: hear})
	case !want.empty():
		s.conn.aside(func() { s.keep(s.conn.ctx, &listener{want: want, hear: hear, acked: make(chan mcp.Raw, 1)}, nil) })
	}
}

// remember tells a legacy server that a resource is of interest, if it does not know.
func (s *Session) remember(ctx context.Context, uri string) error {
	l := &s.conn.listening
	if err := l.take(ctx); err != nil {
		return err
	}
	defer l.give()
	if l.uris[uri] == 0 {
		if _, err := s.Call(ctx, mcp.MethodSubscribe, encode(map[string]string{"uri": uri})); err != nil {
			return err
		}
	}
	l.uris[uri]++
	return nil
}

// forget takes back what remember did.
func (s *Session) forget(uri string) {
	ctx, cancel := context.WithTimeout(s.conn.ctx, unsubscribeTimeout)
	defer cancel()
	l := &s.conn.listening
	if l.take(ctx) != nil {
		return
	}
	defer l.give()
	if l.uris[uri]--; l.uris[uri] > 0 {
		return
	}
	delete(l.uris, uri)
	_, _ = s.Call(ctx, mcp.MethodUnsubscribe, encode(map[string]string{"uri": uri})) // it may go on: nobody listens
}

// Levels of messages of a log, the most talkative first.
func severity(level string) int {
	return slices.Index([]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}, level)
}

// LogLevel asks a legacy server for the messages of its log from a level on, unless it was
// asked for them before or has no log. A modern server is asked with each call.
func (s *Session) LogLevel(ctx context.Context, level string) error {
	if s.era == mcp.Modern || severity(level) < 0 || mcp.Member(s.capabilities, "logging") == nil {
		return nil
	}
	l := &s.conn.listening
	if err := l.take(ctx); err != nil {
		return err
	}
	defer l.give()
	if l.level != "" && severity(l.level) <= severity(level) {
		return nil
	}
	if _, err := s.Call(ctx, mcp.MethodSetLevel, encode(map[string]string{"level": level})); err != nil {
		return err
	}
	l.level = level
	return nil
}

// renewed tells a server that has lost the session what it had been told before, and
// those who listen that they may have missed something.
func (s *Session) renewed() {
	ctx, cancel := context.WithTimeout(s.conn.ctx, unsubscribeTimeout)
	defer cancel()
	l := &s.conn.listening
	if l.take(ctx) != nil {
		return
	}
	defer l.give()
	if l.level != "" {
		_, _ = s.Call(ctx, mcp.MethodSetLevel, encode(map[string]string{"level": l.level}))
	}
	for uri := range l.uris {
		if _, err := s.Call(ctx, mcp.MethodSubscribe, encode(map[string]string{"uri": uri})); err == nil {
			m := &mcp.Message{Method: mcp.NotificationResourcesUpdated, Params: encode(map[string]string{"uri": uri})}
			s.conn.heard(m, nil)
		}
	}
}

// renewed is called when the transport has opened another session with the server.
func (c *conn) renewed() {
	if s := c.session.Load(); s != nil {
		c.aside(s.renewed)
	}
}

// subscribe opens a subscription of a modern session.
func (s *Session) subscribe(ctx context.Context, want Interest, hear func(string, mcp.Raw)) (Interest, error) {
	l := &listener{want: want, hear: hear, acked: make(chan mcp.Raw, 1)}
	first := make(chan answered, 1)
	s.conn.aside(func() { s.keep(ctx, l, first) })
	t := time.NewTimer(acknowledgeTimeout)
	defer t.Stop()
	select {
	case a := <-first:
		return a.agreed, a.err
	case <-t.C:
		return want, nil // it may be one that forgets to; what it says is heard
	case <-ctx.Done():
		return Interest{}, context.Cause(ctx)
	case <-s.conn.done:
		return Interest{}, s.conn.ended()
	}
}

// answered is what came of the first attempt to subscribe.
type answered struct {
	agreed Interest
	err    error
}

// keep holds a subscription open, and opens it again if it ends, until ctx is done, the
// session is over or the server refuses. First, if it is not nil, gets what comes of the
// first attempt.
func (s *Session) keep(ctx context.Context, l *listener, first chan<- answered) {
	params := checked(map[string]any{"notifications": l.want.filter()})
	tell := func(a answered) {
		if first != nil {
			first <- a
			first = nil
		}
	}
	for misses := 0; ; misses++ {
		with, err := s.prepare(params)
		if err != nil {
			tell(answered{err: err})
			return
		}
		k := s.conn.begin(mcp.MethodListen, with, CallOptions{listener: l})
		if k == nil {
			tell(answered{err: s.conn.ended()})
			return
		}
		acked := false
		for open := true; open; {
			select {
			case agreed := <-l.acked:
				acked, misses = true, 0
				tell(answered{agreed: l.want.within(agreed)})
			case r := <-k.reply:
				open = false
				var refused *mcp.Error
				if errors.As(r.err, &refused) && !acked {
					if refused.Code == mcp.CodeMethodNotFound {
						r.err = nil // it declared what it does not do
					}
					tell(answered{err: r.err})
					return
				}
			case <-ctx.Done():
				s.conn.giveUp(k, context.Cause(ctx))
				return
			case <-s.conn.done:
				return
			}
		}
		pause := time.NewTimer(min(firstPause<<min(misses, 16), lastPause))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		case <-s.conn.done:
			pause.Stop()
			return
		}
	}
}

// filter is an interest as a modern server wants it.
func (i Interest) filter() map[string]any {
	f := map[string]any{}
	for key, on := range map[string]bool{"toolsListChanged": i.Tools, "promptsListChanged": i.Prompts, "resourcesListChanged": i.Resources} {
		if on {
			f[key] = true
		}
	}
	if len(i.URIs) > 0 {
		f["resourceSubscriptions"] = i.URIs
	}
	return f
}

// within returns what of an interest a server has agreed to.
func (i Interest) within(agreed mcp.Raw) Interest {
	on := func(key string) bool { return string(mcp.Member(agreed, key)) == "true" }
	out := Interest{
		Tools: i.Tools && on("toolsListChanged"), Prompts: i.Prompts && on("promptsListChanged"),
		Resources: i.Resources && on("resourcesListChanged"),
	}
	offered := texts(mcp.Member(agreed, "resourceSubscriptions"))
	for _, uri := range i.URIs {
		if slices.Contains(offered, uri) {
			out.URIs = append(out.URIs, uri)
		}
	}
	return out
}

// aside runs f beside everything else, unless the connection is over. Close waits for it.
func (c *conn) aside(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.background.Go(f)
	}
}

func (c *conn) add(l *listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = append(slices.Clip(c.listeners), l)
}

func (c *conn) remove(l *listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = slices.DeleteFunc(slices.Clone(c.listeners), func(other *listener) bool { return other == l })
}

// heard gives a notification to those who listen for it. Of is the id of the request that
// it came in answer to, or nil. It reports whether it belonged to a subscription, and so to
// nobody else.
func (c *conn) heard(m *mcp.Message, of mcp.Raw) bool {
	id := mcp.Member(mcp.Member(m.Params, "_meta"), mcp.MetaSubscriptionID)
	tagged := id != nil
	if !tagged {
		id = of
	}
	var k *call
	if id != nil {
		c.mu.Lock()
		k = c.calls[mcp.IDKey(id)]
		c.mu.Unlock()
	}
	if tagged || k != nil && k.listener != nil {
		switch {
		case k == nil || k.listener == nil:
		case m.Method == mcp.NotificationAcknowledged:
			select {
			case k.listener.acked <- mcp.Member(m.Params, "notifications"):
			default: // it has said so before
			}
		case k.listener.want.covers(m.Method, m.Params):
			k.listener.hear(m.Method, mcp.WithoutMember(m.Params, "_meta"))
		}
		return true
	}
	c.mu.Lock()
	all := c.listeners
	c.mu.Unlock()
	for _, l := range all {
		if l.want.covers(m.Method, m.Params) {
			l.hear(m.Method, m.Params)
		}
	}
	return false
}

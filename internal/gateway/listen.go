package gateway

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/mcp"
	"mcpx/mcp/client"
	"mcpx/pool"
)

const (
	// quiet is how long after a change of a list the next one is told: changes that come
	// meanwhile are told together.
	quiet = 250 * time.Millisecond
	// firstRetry is how long a server that has ended is left alone before it is started
	// again for those who listen to it; it doubles with every failure, up to lastRetry.
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// ListenInput is what somebody wants to hear of Server, or of all servers if it is empty.
type ListenInput struct {
	Server                    string
	Tools, Prompts, Resources bool     // that the list has changed
	URIs                      []string // that a resource of Server has changed
	Level                     string   // messages of the log, from this level on; empty is none
	// Peer is who listens: a server is spoken to as for its calls. It may be nil.
	Peer api.Peer
}

// Heard is what a listener will hear.
type Heard struct {
	Tools, Prompts, Resources bool
	URIs                      []string
	Logging                   bool
}

// Listen has hear told what servers say of their own accord, until ctx is done. It returns
// when what is wanted is agreed with the server, with what there will be to hear: the named
// server is started for that. Of all servers, the lists and logs of those that run are
// heard, and none is started.
//
// The subscription to resources outlives the process of the server: it is started again,
// and what changed meanwhile is not known, so each resource is said to have changed. Hear
// must not block.
func (g *Gateway) Listen(ctx context.Context, in ListenInput, hear func(server, method string, params json.RawMessage)) (Heard, error) {
	l := &listener{in: in, hear: hear}
	heard := Heard{Tools: in.Tools, Prompts: in.Prompts, Resources: in.Resources, Logging: in.Level != ""}
	if in.Server == "" {
		if err := g.o.Config.Err(); err != nil {
			return Heard{}, err
		}
		g.news.add(l)
		context.AfterFunc(ctx, func() { g.news.remove(l) })
		return heard, nil
	}
	s, err := g.server(in.Server)
	if err != nil {
		return Heard{}, err
	}
	l.in.Server = s.entry.Name
	want, err := s.want(ctx, in.Peer)
	if err != nil {
		return Heard{}, err
	}
	lease, err := s.acquire(ctx, pool.Request{Listening: true, Want: want})
	if err != nil {
		return Heard{}, err
	}
	caps := lease.Session().Capabilities()
	says := func(of string) bool { return string(mcp.Member(mcp.Member(caps, of), "listChanged")) == "true" }
	heard.Tools = heard.Tools && says("tools")
	heard.Prompts = heard.Prompts && says("prompts")
	heard.Resources = heard.Resources && says("resources")
	heard.Logging = heard.Logging && mcp.Member(caps, "logging") != nil
	g.news.add(l)
	gone := context.AfterFunc(ctx, func() { g.news.remove(l) })
	fail := func(err error) (Heard, error) {
		gone()
		g.news.remove(l)
		lease.Release()
		return Heard{}, err
	}
	if heard.Logging {
		if err := lease.Session().LogLevel(ctx, in.Level); err != nil {
			return fail(s.warned(err))
		}
	}
	if len(in.URIs) == 0 {
		lease.Release()
		return heard, nil
	}
	got, err := s.subscribe(ctx, lease, l)
	if err != nil {
		return fail(s.warned(err))
	}
	heard.URIs = got.URIs
	if len(got.URIs) == 0 {
		lease.Release()
		return heard, nil
	}
	l.in.URIs = got.URIs
	if !g.spawn(func() { s.keep(ctx, lease, want, l) }) {
		return fail(errClosed)
	}
	return heard, nil
}

// subscribe has the server of a lease tell a listener of its resources.
func (s *server) subscribe(ctx context.Context, lease *pool.Lease, l *listener) (client.Interest, error) {
	return lease.Session().Listen(ctx, client.Interest{URIs: l.in.URIs}, func(method string, params mcp.Raw) {
		l.hear(s.entry.Name, method, params)
	})
}

// keep holds the subscription of a listener until ctx is done, on whichever instance of the
// server there is.
func (s *server) keep(ctx context.Context, lease *pool.Lease, want mcp.Era, l *listener) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.g.ctx, cancel)()
	for {
		select {
		case <-lease.Session().Done():
		case <-ctx.Done():
		}
		lease.Release()
		wait := firstRetry
		for lease = nil; lease == nil; wait = min(2*wait, lastRetry) {
			if pause(ctx, wait) != nil {
				return
			}
			again, err := s.acquire(ctx, pool.Request{Listening: true, Want: want})
			if err != nil {
				continue
			}
			if _, err := s.subscribe(ctx, again, l); err != nil {
				again.Release()
				continue
			}
			lease = again
		}
		for _, uri := range l.in.URIs {
			params, _ := json.Marshal(map[string]string{"uri": uri}) // a text can always be encoded
			l.hear(s.entry.Name, mcp.NotificationResourcesUpdated, params)
		}
	}
}

// listener is told what servers say of their own accord.
type listener struct {
	in   ListenInput
	hear func(server, method string, params json.RawMessage)
}

// wants reports whether the listener wants to hear something.
func (l *listener) wants(server, method string, params mcp.Raw) bool {
	if l.in.Server != "" && l.in.Server != server {
		return false
	}
	switch method {
	case mcp.NotificationToolsListChanged:
		return l.in.Tools
	case mcp.NotificationPromptsListChanged:
		return l.in.Prompts
	case mcp.NotificationResourcesListChanged:
		return l.in.Resources
	case mcp.NotificationMessage:
		return l.in.Level != "" && severity(text(params, "level")) >= severity(l.in.Level)
	}
	return false
}

// severity orders the levels of messages of a log. A level that is not known is the least.
func severity(level string) int {
	return slices.Index([]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}, level)
}

// news tells listeners what servers say of their own accord.
type news struct {
	house *house

	mu      sync.Mutex
	all     []*listener
	waiting map[topic]bool // told lately; true if it is to be told again
}

// topic is a list of a server.
type topic struct{ server, method string }

func (n *news) add(l *listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(slices.Clip(n.all), l)
}

func (n *news) remove(l *listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = slices.DeleteFunc(slices.Clone(n.all), func(other *listener) bool { return other == l })
}

// level is the more talkative of a level and those that listeners want.
func (n *news) level(level string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.all {
		if l.in.Level != "" && (level == "" || severity(l.in.Level) < severity(level)) {
			level = l.in.Level
		}
	}
	return level
}

// tell tells those who want to hear it. Of a list that changes again and again it tells the
// first change at once, and those that follow together.
func (n *news) tell(server, method string, params mcp.Raw) {
	n.mu.Lock()
	if method != mcp.NotificationMessage {
		t := topic{server, method}
		if _, lately := n.waiting[t]; lately {
			n.waiting[t] = true
			n.mu.Unlock()
			return
		}
		if n.waiting == nil {
			n.waiting = map[topic]bool{}
		}
		n.waiting[t] = false
		n.house.later(quiet, func() {
			n.mu.Lock()
			again := n.waiting[t]
			delete(n.waiting, t)
			n.mu.Unlock()
			if again {
				n.tell(server, method, params)
			}
		})
	}
	all := n.all
	n.mu.Unlock()
	for _, l := range all {
		if l.wants(server, method, params) {
			l.hear(server, method, params)
		}
	}
}

// later runs f after a while, unless the gateway is closed before.
func (h *house) later(d time.Duration, f func()) {
	h.spawn(func() {
		if pause(h.ctx, d) == nil {
			f()
		}
	})
}

// hear takes what a server says to nobody in particular.
func (h *house) hear(process, method string, params mcp.Raw) {
	if h.ctx.Err() != nil {
		return
	}
	for i, p := range h.places {
		v := p.holds(process)
		if v == nil {
			continue
		}
		if method == mcp.NotificationToolsListChanged {
			h.reread(i, v)
			continue
		}
		h.news.tell(h.o.Config.Servers[i].Name, method, params)
	}
}

// holds returns a variant that a process serves, or nil.
func (p *place) holds(process string) *variant {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, v := range p.variants {
		if v.process == process {
			return v
		}
	}
	return nil
}

// reread reads the tools of a server that says that they have changed, and tells of it. It
// is done once for all changes that come meanwhile.
func (h *house) reread(i int, v *variant) {
	v.mu.Lock()
	v.again = true
	busy := v.changing
	v.changing = true
	reader := v.reader
	v.mu.Unlock()
	if busy {
		return
	}
	h.spawn(func() {
		for {
			v.mu.Lock()
			if !v.again || h.ctx.Err() != nil {
				v.changing = false
				v.mu.Unlock()
				return
			}
			v.again = false
			v.mu.Unlock()
			if _, err := reader.list(h.ctx); err != nil && h.ctx.Err() == nil {
				h.o.Log.LogAttrs(h.ctx, slog.LevelInfo, "catalog.refresh", slog.String("server", h.o.Config.Servers[i].Name), slog.Any("error", err))
			}
			h.news.tell(h.o.Config.Servers[i].Name, mcp.NotificationToolsListChanged, nil)
			_ = pause(h.ctx, quiet)
		}
	})
}

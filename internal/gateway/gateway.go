// Package gateway is the one path of a tool call: which server and tool a name means,
// what the arguments become, on which instance the call runs, how long it may take and
// how its failure reads. Everything that wants a tool called comes through Call, so that
// what holds for one caller holds for all.
//
// It also answers for what the servers offer, from the catalog on disk where that knows
// them: a server is started when it is called, or asked for the first time. Gateway
// implements api.Servers and api.Offers.
package gateway

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/catalog"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/schema"
	"mcpx/internal/settings"
	"mcpx/pool"
)

// Options is what a gateway is made of. Globals, Notes, Demo and Log may be left out.
type Options struct {
	Config *config.Config
	// Demo says that the configuration holds the built-in demo server because it holds
	// nothing else.
	Demo bool
	// Carried says that this is a program built of a script, which has the configuration
	// that it carries or what it finds where it runs.
	Carried  bool
	Env      config.Env // in which placeholders are filled in, unless a caller has its own
	Settings *settings.Set
	Pool     *pool.Pool
	// KeepPool says that the pool belongs to others as well: Close leaves it alone.
	KeepPool bool
	Catalog  *catalog.Catalog
	Log      *slog.Logger
	// Artifacts is the folder where media are kept for callers that take artifacts; empty
	// keeps none: they stay in the results.
	Artifacts string
	// Globals declares in TypeScript what a script finds besides its tools.
	Globals func() string
	// Notes are findings about the machine that Doctor reports beside its own.
	Notes func(ctx context.Context) []api.Finding
}

// Gateway answers for the configured servers, to one caller.
type Gateway struct {
	*house
	caller   api.Caller
	env      config.Env
	settings *settings.Set
	servers  []*server // in the order of the configuration
}

// house is what the gateways of all callers share.
type house struct {
	o       Options
	places  []*place       // by the order of the configuration
	index   map[string]int // of a server, by its name
	names   []string       // of the servers that are not disabled
	ungated *grant.Tools   // the gate of whoever is not bound

	shelf   shelf
	news    news
	permits permits
	inputs  inputs

	ctx    context.Context
	cancel context.CancelFunc
	deaf   func() // ends what the pool tells

	mu         sync.Mutex // orders the start of goroutines and the end
	closed     bool
	background sync.WaitGroup
}

// spawn runs f in the background. It reports false, and does nothing, after Close.
func (h *house) spawn(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.background.Go(f)
	return true
}

var _ api.Servers = (*Gateway)(nil)

// New makes a gateway. Nothing is started.
func New(o Options) *Gateway {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &house{o: o, index: map[string]int{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	for i, s := range o.Config.Servers {
		h.places = append(h.places, &place{identity: sync.OnceValue(func() string { return catalog.Identity(s.Origin.File, s.Name) })})
		h.index[s.Name] = i
		if !s.Disabled {
			h.names = append(h.names, s.Name)
		}
	}
	h.ungated = grant.OpenTools(grant.Words{Allow: []string{grant.Any}}, h.names)
	h.news.house = h
	h.deaf = o.Pool.Hear(h.hear)
	return h.open(api.Caller{}, o.Env, o.Settings)
}

// As returns the gateway as another caller sees it: placeholders are filled in from the
// caller's variables and working directory, and servers are started and shared as it is
// due to it. A nil set stands for the settings of this gateway. Servers, what is known of
// them and what goes on in the background are common to all; Close is for the gateway
// that New made.
func (g *Gateway) As(c api.Caller, set *settings.Set) *Gateway {
	if set == nil {
		set = g.settings
	}
	env := g.o.Env
	if c.Dir != "" {
		env.Dir = c.Dir
	}
	if c.Environ != nil {
		env.Lookup = lookup(c.Environ)
		if home, ok := env.Lookup("HOME"); ok && filepath.IsAbs(home) {
			env.Home = home
		}
	}
	return g.house.open(c, env, set)
}

// lookup finds variables. Of those that are there twice the last one counts, as for a
// program that is started with them.
func lookup(environ []string) func(name string) (string, bool) {
	values := sync.OnceValue(func() map[string]string {
		m := make(map[string]string, len(environ))
		for _, kv := range environ {
			if name, value, ok := strings.Cut(kv, "="); ok {
				m[name] = value
			}
		}
		return m
	})
	return func(name string) (string, bool) {
		value, ok := values()[name]
		return value, ok
	}
}

func (h *house) open(c api.Caller, env config.Env, set *settings.Set) *Gateway {
	g := &Gateway{house: h, caller: c, env: env, settings: set, servers: make([]*server, len(h.places))}
	block := make([]server, len(h.places))
	for i, of := range h.places {
		s := &block[i]
		s.g, s.entry, s.of = g, h.o.Config.Servers[i], of
		g.servers[i] = s
	}
	return g
}

// named returns the server of that very name, or nil.
func (g *Gateway) named(name string) *server {
	if i, ok := g.index[name]; ok {
		return g.servers[i]
	}
	return nil
}

// Close ends the servers and everything that the gateway does in the background.
func (g *Gateway) Close() {
	g.deaf()
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.cancel()
	if !g.o.KeepPool {
		g.o.Pool.Close()
	}
	g.background.Wait()
}

// server finds a server by its own name or an alias.
func (g *Gateway) server(name string) (*server, error) {
	if err := g.o.Config.Err(); err != nil {
		return nil, err
	}
	if s := g.named(name); s != nil {
		if s.entry.Disabled {
			return nil, fault.NotFoundf("server %q is disabled", name).With("server", name).
				Hintf("mcpx servers enable %s uses it again; its entry is in %s", fault.ShellWord(s.entry.Name), s.entry.Origin)
		}
		return s, nil
	}
	if raw, ok := schema.Resolve(g.names, name); ok {
		return g.named(raw), nil
	}
	e := fault.NotFoundf("no server is called %q", name).With("server", name)
	if near := schema.Nearest(name, g.names, 3); len(near) > 0 {
		return nil, withWarnings(e.With("nearest", near).Hintf("did you mean %s?", list(near)), g.o.Config.Unread)
	}
	if name == "demo" && len(g.names) > 0 {
		return nil, withWarnings(e.Hintf("the built-in demo server stands in only where no server is configured; mcpx ls lists those that are"), g.o.Config.Unread)
	}
	if len(g.names) == 0 && g.o.Carried {
		return nil, withWarnings(e.Hintf("no server is configured here; build the program with mcpx build --config FILE, and it carries the configuration"), g.o.Config.Unread)
	}
	if len(g.names) == 0 {
		return nil, withWarnings(e.Hintf("no server is configured; mcpx config shows where entries are looked for"), g.o.Config.Unread)
	}
	return nil, withWarnings(e.Hintf("mcpx ls lists the servers"), g.o.Config.Unread)
}

// list writes names as people do: a, b or c.
func list(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return names[0]
	default:
		out := names[0]
		for _, name := range names[1 : n-1] {
			out += ", " + name
		}
		return out + " or " + names[n-1]
	}
}

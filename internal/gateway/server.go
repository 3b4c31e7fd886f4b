package gateway

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"mcpx/internal/catalog"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/schema"
	"mcpx/mcp"
	"mcpx/pool"
)

// server is one entry of the configuration, for the caller of a gateway.
type server struct {
	g     *Gateway
	entry *config.Server
	of    *place

	mu  sync.Mutex
	v   *variant // once it was wanted
	key string   // under which the catalog keeps the server's tools; set with v
}

// maxVariants is how many of an entry are kept: those that were wanted last.
const maxVariants = 64

// place holds what an entry means to the callers that there were.
type place struct {
	identity func() string // the key of the server's history

	mu       sync.Mutex
	variants []*variant // the one that was wanted last in front
	shown    []shown    // what rules make of its entries, the newest in front
}

// variant is an entry with its placeholders filled in, with what is known of the tools of
// that server. Callers share it if they would fill them in alike.
type variant struct {
	def       *config.Definition
	process   string // the key of the processes that serve it
	dir, home string
	took      []variable // what the placeholders asked for, and got
	answers   []answer   // likewise, of inputs
	files     []textOf   // likewise, of files

	mu         sync.Mutex // never held while something is asked of the server
	key        string     // under which the catalog keeps the tools
	keyed      time.Time  // when that was found out
	listing    *listing   // under way, or the last one
	failure    error      // of the last attempt to learn the tools, if it failed
	failed     time.Time
	era        mcp.Era // that the server spoke when nothing else was asked for
	onlyLegacy bool    // was asked for a modern session and opened a legacy one
	reader     *server // reads the tools when they have changed
	changing   bool    // they are read for that reason
	again      bool    // and have changed meanwhile
}

var errClosed = fault.Unavailablef("the servers of this run have been ended")

type variable struct {
	name, value string
	set         bool
}

// answer is what an input was when an entry was resolved.
type answer struct {
	key, id, value string
	set            bool
}

// textOf is what a file held when an entry was resolved.
type textOf struct {
	path, text string
	read       bool
}

// fits reports whether an entry means the same in another environment.
func (v *variant) fits(e config.Env) bool {
	if v.dir != e.Dir || v.home != e.Home {
		return false
	}
	for _, t := range v.took {
		if value, set := e.Lookup(t.name); value != t.value || set != t.set {
			return false
		}
	}
	for _, a := range v.answers {
		if value, set := e.Input(a.key, a.id); value != a.value || set != a.set {
			return false
		}
	}
	for _, f := range v.files {
		if text, err := config.Text(f.path); string(text) != f.text || (err == nil) != f.read {
			return false
		}
	}
	return true
}

// variant returns what an entry means in an environment.
func (p *place) variant(s *config.Server, e config.Env) (*variant, error) {
	if e.Lookup == nil {
		e.Lookup = func(string) (string, bool) { return "", false }
	}
	if e.Input == nil {
		e.Input = func(string, string) (string, bool) { return "", false }
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, v := range p.variants {
		if v.fits(e) {
			copy(p.variants[1:i+1], p.variants[:i])
			p.variants[0] = v
			return v, nil
		}
	}
	v := &variant{dir: e.Dir, home: e.Home}
	noting := e
	noting.Lookup = func(name string) (string, bool) {
		value, set := e.Lookup(name)
		v.took = append(v.took, variable{name, value, set})
		return value, set
	}
	noting.Input = func(key, id string) (string, bool) {
		value, set := e.Input(key, id)
		v.answers = append(v.answers, answer{key, id, value, set})
		return value, set
	}
	noting.Read = func(path string) ([]byte, error) {
		text, err := config.Text(path)
		v.files = append(v.files, textOf{path, string(text), err == nil})
		return text, err
	}
	def, err := s.Resolve(noting)
	if err != nil {
		return nil, err
	}
	v.def, v.process = def, def.ProcessKey(os.Stat)
	p.variants = append([]*variant{v}, p.variants[:min(len(p.variants), maxVariants-1)]...)
	return v, nil
}

// glance is how long the files that a command line names are not looked at again.
const glance = 5 * time.Millisecond

// catalogKey is the key of the definition in the catalog.
func (v *variant) catalogKey() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if time.Since(v.keyed) >= glance {
		v.key, v.keyed = v.def.CatalogKey(os.Stat), time.Now()
	}
	return v.key
}

// listing is one reading of a server's tools, shared by all who wait for it.
type listing struct {
	done  chan struct{}
	entry *catalog.Entry
	err   error
	sight sight // what was seen of the server meanwhile
}

// definition fills in the placeholders of the entry.
func (s *server) definition() (*config.Definition, error) {
	if s.entry.Problem != nil {
		return nil, s.entry.Problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.v == nil {
		v, err := s.of.variant(s.entry, s.g.env)
		if err != nil {
			return nil, err
		}
		s.v, s.key = v, v.catalogKey()
		v.mu.Lock()
		if v.reader == nil {
			v.reader = s
		}
		v.mu.Unlock()
	}
	return s.v.def, nil
}

// all returns the server's tools: from the catalog, or from the server if the catalog
// does not know them or refresh is set. Those that rules hide are among them: what is
// shown to anybody comes from tools.
func (s *server) all(ctx context.Context, refresh bool) (*catalog.Entry, error) {
	entry, err := s.known(ctx, refresh)
	err = s.warned(err)
	if v := s.resolved(); ctx.Err() == nil && v != nil {
		v.mu.Lock()
		v.failure, v.failed = err, time.Now()
		v.mu.Unlock()
	}
	return entry, err
}

// lately is how long a failure answers for a server whose tools are wanted among those
// of others.
const lately = 30 * time.Second

// failedLately returns why the server's tools could not be learned just now.
func (s *server) failedLately() error {
	if _, err := s.definition(); err != nil {
		return s.warned(err)
	}
	v := s.resolved()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.failure != nil && time.Since(v.failed) < lately {
		return v.failure
	}
	return nil
}

// resolved returns what the entry means, if that is known and it means anything.
func (s *server) resolved() *variant {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.v
}

// warned adds to a failure of the server what the configuration warns of in its entry:
// that may well be the reason.
func (s *server) warned(err error) error {
	kind := fault.KindOf(err)
	if len(s.entry.Warnings) == 0 || kind != fault.Unavailable && kind != fault.NotFound {
		return err
	}
	e := fault.New(kind, "%w", err)
	if _, said := e.Details["warnings"]; said {
		return err
	}
	return withWarnings(e, s.entry.Warnings)
}

// withWarnings puts warnings of the configuration below the hint of an error.
func withWarnings(e *fault.Error, warnings []string) *fault.Error {
	if len(warnings) == 0 {
		return e
	}
	lines := warnings
	if e.Hint != "" {
		lines = append([]string{e.Hint}, warnings...)
	}
	return e.Hintf("%s", strings.Join(lines, "\n")).With("warnings", warnings)
}

func (s *server) known(ctx context.Context, refresh bool) (*catalog.Entry, error) {
	if _, err := s.definition(); err != nil {
		return nil, err
	}
	if !refresh {
		if entry, ok := s.g.o.Catalog.Get(s.key); ok {
			return entry, nil
		}
	}
	l, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	return l.entry, nil
}

// list asks the server for its tools and keeps the answer. Callers that come while it
// is asked share one request, which goes on when one of them leaves. The listing is there
// with an error too.
func (s *server) list(ctx context.Context) (*listing, error) {
	v := s.resolved()
	v.mu.Lock()
	l := v.listing
	if l == nil || isDone(l.done) {
		l = &listing{done: make(chan struct{})}
		v.listing = l
		if !s.g.spawn(func() {
			defer close(l.done)
			l.entry, l.err = s.read(s.g.ctx, &l.sight)
		}) {
			l.err = errClosed
			close(l.done)
		}
	}
	v.mu.Unlock()
	select {
	case <-l.done:
		return l, l.err
	case <-ctx.Done():
		return l, context.Cause(ctx)
	}
}

func (s *server) read(ctx context.Context, seen *sight) (*catalog.Entry, error) {
	def, err := s.definition()
	if err != nil {
		return nil, err
	}
	lease, err := s.g.o.Pool.Acquire(ctx, pool.Request{Def: def, Process: s.resolved().process, Era: s.era(), Caller: s.g.caller, Look: true})
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	defer seen.of(lease, time.Now())
	session := lease.Session()
	s.learned(session.Era())
	ctx, cancel := s.deadline(ctx, "tools/list")
	defer cancel.stop()
	tools, warnings, err := session.Tools(ctx)
	var answer *mcp.Error
	switch {
	case errors.As(err, &answer) && answer.Code == mcp.CodeMethodNotFound:
		warnings = append(warnings, "the server does not list tools")
	case errors.As(err, &answer):
		return nil, fault.New(fault.Tool, "listing the tools of %s: %w", s.entry.Name, err).With("server", s.entry.Name)
	case err != nil:
		return nil, err
	}
	entry := &catalog.Entry{
		Fingerprint:  s.key,
		Era:          session.Era(),
		Server:       s.entry.Name,
		Tools:        tools,
		Instructions: session.Instructions(),
		Fetched:      time.Now().UTC(),
		Warnings:     warnings,
	}
	s.note(ctx, entry)
	if err := s.g.o.Catalog.Put(entry); err != nil {
		// Without the catalog the next run asks the server again; nothing else is lost.
		s.g.o.Log.LogAttrs(ctx, slog.LevelWarn, "catalog.write", slog.String("server", s.entry.Name), slog.Any("error", err))
	}
	return entry, nil
}

// identity is the key of the server's history.
func (s *server) identity() string { return s.of.identity() }

// note keeps what changed in the server's tools since they were last listed.
func (s *server) note(ctx context.Context, entry *catalog.Entry) {
	changes, err := s.g.o.Catalog.Note(s.identity(), entry)
	if err != nil {
		s.g.o.Log.LogAttrs(ctx, slog.LevelWarn, "catalog.history", slog.String("server", s.entry.Name), slog.Any("error", err))
	}
	if len(changes) > 0 {
		s.g.news.tell(s.entry.Name, mcp.NotificationToolsListChanged, nil)
		s.g.o.Log.LogAttrs(ctx, slog.LevelInfo, "catalog.changed", slog.String("server", s.entry.Name), slog.Int("tools", len(changes)))
	}
}

// era is the one that the server spoke when it was last asked.
func (s *server) era() mcp.Era {
	if v := s.resolved(); v != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.era != mcp.Unknown {
			return v.era
		}
	}
	if entry, ok := s.g.o.Catalog.Get(s.key); ok {
		return entry.Era
	}
	return mcp.Unknown
}

// learned notes which era the server speaks if nothing else is asked for.
func (s *server) learned(era mcp.Era) {
	v := s.resolved()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.era = era
}

// freshen reads the tools of an instance that was just started again, beside the call
// that started it, so that the catalog follows servers that change.
func (s *server) freshen() {
	s.g.spawn(func() {
		if _, err := s.list(s.g.ctx); err != nil && s.g.ctx.Err() == nil {
			s.g.o.Log.LogAttrs(s.g.ctx, slog.LevelInfo, "catalog.refresh", slog.String("server", s.entry.Name), slog.Any("error", err))
		}
	})
}

// tool finds a tool by its own name or an alias. A name that the catalog does not hold
// is looked for once more in the server's own list.
func (s *server) tool(ctx context.Context, name string) (*mcp.Tool, error) {
	for refresh := range 2 {
		entry, err := s.all(ctx, refresh == 1)
		if err != nil {
			return nil, err
		}
		names, tool, err := s.find(entry, name)
		if err != nil || tool != nil {
			return tool, err
		}
		if len(entry.Tools) == 0 && len(entry.Warnings) > 0 {
			return &mcp.Tool{Name: name}, s.hidden(name) // it lists nothing, so only it can say
		}
		if refresh == 1 {
			e := fault.NotFoundf("%s has no tool called %q", s.entry.Name, name).With("server", s.entry.Name).With("tool", name)
			if near := schema.Nearest(name, names, 3); len(near) > 0 {
				return nil, s.warned(e.With("nearest", near).Hintf("did you mean %s?", list(near)))
			}
			if all := list(names); len(names) <= 8 && len(all) <= 160 {
				return nil, s.warned(e.Hintf("it has %s", cmp.Or(all, "none")))
			}
			return nil, s.warned(e.Hintf("mcpx ls lists its tools"))
		}
	}
	panic("unreachable")
}

func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

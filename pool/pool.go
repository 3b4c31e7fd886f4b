// Package pool holds the server processes: it starts one when a call needs it, and
// ends it with everything that it started.
//
// A server is an entry of the configuration; an instance is one running process of
// it, or one session with it if it runs elsewhere, behind a url. A call leases an
// instance by a key, the definition of the process and the scope that its caller is in,
// and gives it back. Which tools a server has, and whether a call may be made, is decided
// above.
package pool

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/process"
	"mcpx/internal/scope"
	"mcpx/internal/settings"
	"mcpx/mcp"
	"mcpx/mcp/auth"
	"mcpx/mcp/client"
)

// Options is what a pool is made of. All but Settings may be left out.
type Options struct {
	Settings *settings.Set
	// Environ is the environment, NAME=VALUE, for callers that bring none; children get
	// what of it they need.
	Environ []string
	// Caller stands in for that of a request which has no directory.
	Caller api.Caller
	// Told is what every server finds in its environment besides, NAME=VALUE.
	Told []string
	// Watch is told what becomes of instances. It must not block.
	Watch   func(Event)
	Version string // told to servers in clientInfo
	// Tokens keeps what was given out to who logged in; nil keeps nothing.
	Tokens auth.Store
	Log    *slog.Logger
}

// Event is something that became of an instance.
type Event struct {
	Kind     string // started, ended, failed
	Instance Instance
	Err      error // why it failed, or ended by itself
}

// Pool is the running servers of one process. Close ends them all.
type Pool struct {
	o    Options
	room *client.Room // for the long messages of all servers

	mu       sync.Mutex
	sets     map[string]*set // by key
	sessions map[string]*session
	serial   map[string]bool // the processes whose calls must not be under way together, by their key
	said     map[string]bool // the notices that were given
	notices  []string
	numbered int64 // calls that have an instance of their own
	leases   int   // that occupy an instance
	used     time.Time
	closed   bool

	closing    chan struct{}
	background sync.WaitGroup // the instances, and the goroutine that reaps
	reaping    sync.Once

	hearers hearers
}

// New makes a pool in which nothing runs.
func New(o Options) *Pool {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Pool{
		room: client.NewRoom(settings.StdioMaxHeld.Get(o.Settings)),
		o:    o, sets: map[string]*set{}, sessions: map[string]*session{}, serial: map[string]bool{}, said: map[string]bool{},
		used: time.Now(), closing: make(chan struct{}),
	}
}

// Request asks for an instance.
type Request struct {
	Def *config.Definition
	// Process is the ProcessKey of Def, if it is known; it is found out otherwise.
	Process string
	// Era is the one in which the server was spoken to before; mcp.Unknown if it never was.
	Era mcp.Era
	// Want is the era that must be asked for; mcp.Unknown if it does not matter.
	Want mcp.Era
	// Listening says that the lease is held only to hear what the server says: it keeps the
	// instance, and does not occupy it.
	Listening bool
	// Look says that the lease is for a look at what the server offers: it is not counted as
	// a call.
	Look bool
	// Caller is who asks.
	Caller api.Caller
	// Peer takes what the server says and asks while the lease lasts, as far as it can be
	// told that it belongs to it; nil is told nothing and cannot be asked.
	Peer client.Sink
}

// Acquire leases an instance of a definition for the scope that the caller is in. It
// starts one if there is none, if the last one has ended, or if all there are are busy
// and there may be more; where calls must not be under way together it waits for its
// turn. The caller must Release the lease.
//
// If the instance cannot be started the error's kind is Unavailable; for a while after a
// failed start the same error is given again without another attempt. If ctx is done
// first the error wraps its cause and says what was waited for.
func (p *Pool) Acquire(ctx context.Context, r Request) (*Lease, error) {
	if r.Caller.Dir == "" {
		r.Caller = p.o.Caller
	}
	if r.Caller.Environ == nil {
		r.Caller.Environ = p.o.Environ
	}
	key := p.scopeOf(r)
	for {
		l, err := p.lease(ctx, r, key)
		if err != nil {
			return nil, err
		}
		select {
		case <-l.inst.ready:
		case <-ctx.Done():
			l.Release()
			return nil, context.Cause(ctx)
		}
		switch {
		case l.inst.err == nil && (l.fresh || l.inst.running()):
			l.turn = l.inst.callers.enter(r.Peer)
			return l, nil
		case l.inst.err != nil && !l.inst.calledOff():
			l.Release()
			return nil, l.inst.err
		}
		l.Release() // it ended since: the next turn gets another
	}
}

// calls reports whether the request is for a call.
func (r *Request) calls() bool { return !r.Listening && !r.Look }

// scopeOf says whom the caller of a request shares with.
func (p *Pool) scopeOf(r Request) scope.Key {
	name := p.scopeName(r.Def)
	c := r.Caller
	key := scope.Resolve(name, scope.Caller{Dir: c.Dir, Session: c.Session, Pid: c.Pid, Environ: c.Environ})
	if key.Why != "" {
		p.notice(r.Def.Name + ": the scope is " + key.Scope + " instead of " + name + ": " + key.Why)
	}
	return key
}

func (p *Pool) scopeName(def *config.Definition) string {
	if def.Process.Scope != "" {
		return def.Process.Scope
	}
	return settings.PoolScope.Get(p.o.Settings)
}

// Unshared says why what a caller leaves in a server ends with its call, although the
// server's scope has it last as long as a session or a process; empty if it does last.
func (p *Pool) Unshared(def *config.Definition, c api.Caller) string {
	if c.Dir == "" {
		c = p.o.Caller
	}
	name := p.scopeName(def)
	if name != scope.Session && name != scope.Pid {
		return ""
	}
	return scope.Resolve(name, scope.Caller{Session: c.Session, Pid: c.Pid}).Why
}

// notice keeps and logs what is said once.
func (p *Pool) notice(text string) {
	const most = 100
	p.mu.Lock()
	first := !p.said[text] && len(p.notices) < most
	if first {
		p.said[text] = true
		p.notices = append(p.notices, text)
	}
	p.mu.Unlock()
	if first {
		p.o.Log.LogAttrs(context.Background(), slog.LevelWarn, "scope.degraded", slog.String("why", text))
	}
}

// Notices returns what was not as it was asked for: scopes that callers had nothing for.
func (p *Pool) Notices() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.notices)
}

// lease takes a place at an instance, which may still be starting. It waits for one if
// it must.
func (p *Pool) lease(ctx context.Context, r Request, key scope.Key) (*Lease, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errClosed
	}
	p.touch(r)
	s := p.set(r, key)
	var inst *instance
	var fresh bool
	var err error
	if len(s.waiting) == 0 || r.Listening {
		inst, fresh, err = s.pick(r)
	}
	if err != nil {
		s.drop()
		p.mu.Unlock()
		return nil, err
	}
	if inst != nil {
		l := s.give(inst, fresh, r)
		p.mu.Unlock()
		return l, nil
	}
	w := &waiter{r: r, answer: make(chan granted, 1)}
	s.waiting = append(s.waiting, w)
	p.mu.Unlock()

	select {
	case g := <-w.answer:
		return g.lease, g.err
	case <-p.closing:
		err = errClosed
	case <-ctx.Done():
		err = fault.New(fault.KindOf(context.Cause(ctx)), "waiting for another call of %s to end: %w", r.Def.Name, context.Cause(ctx)).
			With("server", r.Def.Name).With("mayHaveRun", false)
	}
	p.mu.Lock()
	s.waiting = slices.DeleteFunc(s.waiting, func(other *waiter) bool { return other == w })
	p.mu.Unlock()
	select {
	case g := <-w.answer: // it was given one in the meantime
		if g.lease != nil {
			g.lease.Release()
		}
	default:
	}
	return nil, err
}

// set returns the instances that a request may use. The caller holds mu.
func (p *Pool) set(r Request, key scope.Key) *set {
	of := r.Process
	if of == "" {
		of = r.Def.ProcessKey(os.Stat)
	}
	name := of + " " + key.String()
	if r.Want != mcp.Unknown {
		name += " " + r.Want.String()
	}
	if key.Scope == scope.Call {
		p.numbered++
		key.Of = strconv.FormatInt(p.numbered, 10)
		name += ":" + key.Of
	}
	s := p.sets[name]
	if s == nil {
		s = &set{pool: p, name: name, of: of, def: r.Def, key: key, era: r.Era, caller: r.Caller}
		p.sets[name] = s
	}
	// What an entry says about its processes may have changed since.
	s.limits(r.Def.Process)
	return s
}

// Close ends every instance, together, and returns when no process of them is left.
// Calls under way settle with an error.
func (p *Pool) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.closing)
	}
	for _, s := range p.sets {
		for _, inst := range s.instances {
			inst.stop()
		}
	}
	p.mu.Unlock()
	p.background.Wait()
	process.RestKeeper()
}

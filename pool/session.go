package pool

import (
	"cmp"
	"slices"
	"time"

	"mcpx/internal/scope"
	"mcpx/internal/settings"
)

// session is a group of calls by the name that their callers give it.
type session struct {
	lasting bool // it was named, so it lives on between calls
	calls   int64
	used    time.Time
}

// Session is what is known of a session.
type Session struct {
	Name    string
	Lasting bool     // it was named by its user, rather than found in an environment
	Servers []string // those with an instance of this session alone
	Calls   int64
	Used    time.Time
}

// touch notes that a caller uses a server. The pool's mu is held.
func (p *Pool) touch(r Request) {
	c := r.Caller
	if c.Session == "" {
		return
	}
	s := p.sessions[c.Session]
	if s == nil {
		s = &session{}
		p.sessions[c.Session] = s
	}
	s.lasting = s.lasting || c.Lasting
	if r.calls() {
		s.calls++
	}
	s.used = time.Now()
}

// lives reports whether a session was named and used lately. The pool's mu is held.
func (p *Pool) lives(name string, now time.Time) bool {
	s := p.sessions[name]
	return s != nil && s.lasting && now.Sub(s.used) < settings.DaemonLeaseTTL.Get(p.o.Settings)
}

// Sessions lists the sessions that are known, by name.
func (p *Pool) Sessions() []Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Session
	for name, s := range p.sessions {
		one := Session{Name: name, Lasting: s.lasting, Calls: s.calls, Used: s.used}
		for _, set := range p.sets {
			if set.ofSession(name) && len(set.instances) > 0 && !slices.Contains(one.Servers, set.def.Name) {
				one.Servers = append(one.Servers, set.def.Name)
			}
		}
		slices.Sort(one.Servers)
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Session) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (s *set) ofSession(name string) bool { return s.key.Scope == scope.Session && s.key.Of == name }

// ReleaseSession ends the instances that a session has for itself, once their calls are
// over, and forgets the session. It returns how many they are, and whether the session
// was known.
func (p *Pool) ReleaseSession(name string) (ended int, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known = p.sessions[name]
	delete(p.sessions, name)
	for _, s := range p.sets {
		if s.ofSession(name) {
			ended += s.retire()
		}
	}
	return ended, known
}

// retire lets the instances take no new call, and ends each when its last is over.
func (s *set) retire() int {
	n := 0
	for _, inst := range s.instances {
		if !inst.retired {
			n++
			inst.retired = true
			if inst.load == 0 {
				inst.stop()
			}
		}
	}
	s.err, s.failures = nil, 0 // it may be started again at once
	s.dispatch()
	return n
}

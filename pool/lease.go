package pool

import (
	"strconv"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/scope"
	"mcpx/mcp/client"
)

// Lease is the use of one instance. Release must be called.
type Lease struct {
	inst      *instance
	fresh     bool
	listening bool
	holder    string
	turn      *turn // nil until the instance is there
	giving    sync.Once
}

// Session returns the session with the instance.
func (l *Lease) Session() *client.Session { return l.inst.session }

// Fresh says that the instance was started for this lease.
func (l *Lease) Fresh() bool { return l.fresh }

// Release gives the instance back. It may be called more than once.
func (l *Lease) Release() {
	l.giving.Do(func() {
		if l.turn != nil {
			l.turn.leave()
		}
		l.inst.set.release(l)
	})
}

func (s *set) release(l *Lease) {
	p, inst := s.pool, l.inst
	p.mu.Lock()
	defer p.mu.Unlock()
	inst.used = time.Now()
	if l.listening {
		inst.listeners--
		return
	}
	p.used = inst.used
	p.leases--
	inst.load--
	if inst.holders[l.holder]--; inst.holders[l.holder] == 0 {
		delete(inst.holders, l.holder)
	}
	if !inst.starting() && inst.useful() {
		s.failures, s.err = 0, nil
	}
	if inst.load == 0 && (inst.retired || s.key.Scope == scope.Call) {
		inst.retired = true
		inst.stop()
	}
	s.dispatch()
}

// holderOf names a caller as a holder of an instance.
func holderOf(c api.Caller) string {
	switch {
	case c.Session != "":
		return scope.Session + ":" + c.Session
	case c.Pid > 0:
		return scope.Pid + ":" + strconv.Itoa(c.Pid)
	}
	return scope.Cwd + ":" + c.Dir
}

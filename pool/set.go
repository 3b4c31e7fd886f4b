package pool

import (
	"slices"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/scope"
	"mcpx/internal/settings"
	"mcpx/mcp"
)

// patience is how many instances in a row may end before they have answered a call until
// the next start is put off.
const patience = 3

// set is the instances of one key. They are interchangeable. Its fields are guarded by
// the pool's mu, and its methods are called under it.
type set struct {
	pool   *Pool
	name   string // in the pool's sets
	of     string // the key of the process
	def    *config.Definition
	key    scope.Key
	era    mcp.Era
	caller api.Caller // for whom the next one is started

	exclusive bool // one instance, and one call at a time
	max       int
	busy      int           // calls under way that make an instance a busy one
	idle      time.Duration // after which one ends that is not used; 0: as the settings say

	instances []*instance
	waiting   []*waiter // calls in the order in which they came

	failures int       // starts that failed in a row, and instances that ended before they were of use
	err      error     // the last of those failures
	retry    time.Time // when there may be another attempt
}

// waiter is a call that waits for its turn.
type waiter struct {
	r      Request
	answer chan granted // receives once
}

type granted struct {
	lease *Lease
	err   error
}

// limits takes what an entry says about its processes, and the settings for the rest.
func (s *set) limits(p config.Process) {
	set := s.pool.o.Settings
	sharing := p.Sharing
	if sharing == "" {
		sharing = settings.PoolSharing.Get(set)
	}
	s.exclusive = sharing == "exclusive" || s.key.Scope == scope.Call
	s.max = p.Max
	if s.max == 0 {
		s.max = settings.PoolMax.Get(set)
		if s.def.Transport != config.Stdio {
			s.max = 1 // a server behind a url shares itself out
		}
	}
	s.busy = settings.PoolBusy.Get(set)
	s.idle = p.IdleTimeout
}

// pick chooses the instance for a request, and starts one if there is none. It returns nil
// if the request must wait.
func (s *set) pick(r Request) (inst *instance, fresh bool, err error) {
	alone := s.exclusive || s.pool.serial[s.of] && r.Peer != nil
	var best *instance
	alive := 0
	for _, inst := range s.instances {
		if inst.retired || inst.over() {
			continue
		}
		alive++
		full := alone && inst.load > 0 && !r.Listening
		if !full && (best == nil || better(inst, best)) {
			best = inst
		}
	}
	switch {
	case alive == 0:
		if s.err != nil && time.Now().Before(s.retry) {
			return nil, false, s.err
		}
		return s.start(r), true, nil
	case best == nil:
		return nil, false, nil
	}
	if !alone && !r.Listening && s.allBusy() && alive < s.max && (s.err == nil || !time.Now().Before(s.retry)) {
		another := s.start(r)
		if best.starting() {
			return another, true, nil
		}
		// It is for those that come when it is there; until then this one will do.
	}
	return best, false, nil
}

// allBusy reports whether every instance has as many calls under way as make it a busy one.
func (s *set) allBusy() bool {
	return !slices.ContainsFunc(s.instances, func(inst *instance) bool {
		return !inst.retired && !inst.over() && inst.load < s.busy
	})
}

// better reports whether an instance is to be preferred: one that runs, then one that has
// less to do.
func better(a, b *instance) bool {
	if a.starting() != b.starting() {
		return b.starting()
	}
	return a.load < b.load
}

// start adds an instance.
func (s *set) start(r Request) *instance {
	s.def, s.caller = r.Def, r.Caller
	era := s.era
	if r.Era != mcp.Unknown {
		era = r.Era
	}
	if r.Want != mcp.Unknown {
		era = r.Want
	}
	var before []*instance
	if s.exclusive { // what they hold alone must be free
		before = slices.Clone(s.instances)
	}
	inst := newInstance(s, era, before)
	s.instances = append(s.instances, inst)
	s.pool.reaping.Do(func() { s.pool.background.Go(s.pool.reap) })
	return inst
}

// give counts a lease.
func (s *set) give(inst *instance, fresh bool, r Request) *Lease {
	l := &Lease{inst: inst, fresh: fresh, listening: r.Listening, holder: holderOf(r.Caller)}
	inst.used = time.Now()
	if r.Listening {
		inst.listeners++
		return l
	}
	inst.load++
	if r.calls() {
		inst.calls++
	}
	inst.holders[l.holder]++
	s.pool.leases++
	return l
}

// dispatch hands instances to those who wait, as far as there are any.
func (s *set) dispatch() {
	for len(s.waiting) > 0 && !s.pool.closed {
		w := s.waiting[0]
		inst, fresh, err := s.pick(w.r)
		if inst == nil && err == nil {
			return
		}
		s.waiting = s.waiting[1:]
		if err != nil {
			w.answer <- granted{err: err}
			continue
		}
		w.answer <- granted{lease: s.give(inst, fresh, w.r)}
	}
	s.drop()
}

// drop forgets a set of which nothing is left to know. Leases of instances that are gone
// may outlive it, and another set may have its name then.
func (s *set) drop() {
	known := s.failures > 0 && time.Since(s.retry) < lastBackoff
	if len(s.instances) == 0 && len(s.waiting) == 0 && !known && s.pool.sets[s.name] == s {
		delete(s.pool.sets, s.name)
	}
}

// gone takes an instance out that has ended. It is called without the pool's mu.
func (s *set) gone(inst *instance) {
	p := s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	s.instances = slices.DeleteFunc(s.instances, func(other *instance) bool { return other == inst })
	switch {
	case inst.retired || p.closed:
	case wantsLogin(inst.err): // it may start as soon as somebody has
	case inst.err != nil:
		s.failed(inst.err)
	case inst.useful() || inst.calls > patience: // one call may have done it, among many
	case s.failures < patience:
		s.failures++
		s.retry = time.Now()
	default:
		s.failed(s.crashed(inst))
	}
	s.dispatch()
}

// failed puts off the next start.
func (s *set) failed(err error) {
	s.retry = time.Now().Add(min(firstBackoff<<min(s.failures, 8), lastBackoff))
	s.failures++
	s.err = err
}

// crashed is what is said of a server that keeps ending.
func (s *set) crashed(inst *instance) error {
	e := fault.Unavailablef("%s ends again and again before it has answered a call: %w", s.def.Name, inst.session.Err())
	return e.With("server", s.def.Name).With("mayHaveRun", false).
		Hintf("it will be started again in a moment\nrun it by hand: %s", s.def.ByHand())
}

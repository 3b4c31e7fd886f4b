package pool

import (
	"cmp"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"mcpx/internal/config"
	"mcpx/internal/process"
	"mcpx/internal/scope"
	"mcpx/internal/settings"
	"mcpx/mcp"
)

// Instance is what is known of one instance.
type Instance struct {
	Server    string
	Transport string
	Key       string // repo:/src/x/.git
	Pid       int    // 0 while there is none, and behind a url
	Era       mcp.Era
	State     string // starting, running, ending
	Calls     int64  // so far
	UnderWay  int
	Started   time.Time
	Used      time.Time // the last call began or ended
	Holders   []string  // whose calls are under way: session:abc, pid:123
	Noise     int       // lines of its output that were no messages
	Note      string    // why its scope is not the one that was asked for
}

// Instances lists the instances, by server and key.
func (p *Pool) Instances() []Instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Instance
	for _, s := range p.sets {
		for _, inst := range s.instances {
			if !inst.over() {
				out = append(out, inst.snapshot())
			}
		}
	}
	slices.SortFunc(out, func(a, b Instance) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Key, b.Key), a.Started.Compare(b.Started), cmp.Compare(a.Pid, b.Pid))
	})
	return out
}

// snapshot is called under the pool's mu.
func (i *instance) snapshot() Instance {
	out := Instance{
		Server: i.def.Name, Transport: i.def.Transport, Key: i.set.key.String(), Pid: int(i.pid.Load()), State: "starting",
		Calls: i.calls, UnderWay: i.load, Started: i.started, Used: i.used, Noise: i.noise(), Note: i.set.key.Why,
	}
	if !i.starting() && i.session != nil {
		out.State, out.Era = "running", i.session.Era()
	}
	if i.retired {
		out.State = "ending"
	}
	for holder := range i.holders {
		out.Holders = append(out.Holders, holder)
	}
	slices.Sort(out.Holders)
	return out
}

// Running returns the names of the running servers, sorted.
func (p *Pool) Running() []string {
	var names []string
	for _, inst := range p.Instances() {
		if inst.State == "running" && !slices.Contains(names, inst.Server) {
			names = append(names, inst.Server)
		}
	}
	return names
}

// Noise returns how many lines of a definition's running instances were no messages.
func (p *Pool) Noise(def *config.Definition) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, fingerprint := 0, def.Fingerprint()
	for _, s := range p.sets {
		for _, inst := range s.instances {
			if inst.def.Fingerprint() == fingerprint {
				n += inst.noise()
			}
		}
	}
	return n
}

// End ends the instances that chosen picks, with the calls that are under way on them, and
// returns how many. The next call starts them again.
func (p *Pool) End(chosen func(Instance) bool) int {
	p.mu.Lock()
	var all []*instance
	for _, s := range p.sets {
		all = append(all, s.instances...)
	}
	p.mu.Unlock()
	n := 0
	for _, inst := range all {
		p.mu.Lock()
		snapshot := inst.snapshot()
		p.mu.Unlock()
		if !chosen(snapshot) {
			continue
		}
		n++
		p.mu.Lock()
		inst.retired = true
		inst.set.err, inst.set.failures = nil, 0
		inst.stop()
		inst.set.dispatch()
		p.mu.Unlock()
	}
	return n
}

// Retire lets the instances of the definitions that are gone take no new call, and ends
// each when its last is over. It returns how many they are.
func (p *Pool) Retire(gone func(def *config.Definition) bool) int {
	p.mu.Lock()
	sets := make([]*set, 0, len(p.sets))
	for _, s := range p.sets {
		sets = append(sets, s)
	}
	p.mu.Unlock()
	n := 0
	for _, s := range sets {
		p.mu.Lock()
		def := s.def
		p.mu.Unlock()
		if gone(def) {
			p.mu.Lock()
			n += s.retire()
			p.mu.Unlock()
		}
	}
	return n
}

// Idle returns for how long no call has been under way; 0 while one is, or a session
// lives that was named.
func (p *Pool) Idle() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for name := range p.sessions {
		if p.lives(name, now) {
			return 0
		}
	}
	if p.leases > 0 {
		return 0
	}
	return now.Sub(p.used)
}

// Busy reports whether a call is under way, or a session lives that was named.
func (p *Pool) Busy() bool { return p.Idle() == 0 }

// reap ends what is not needed any more, from time to time, until the pool is closed.
func (p *Pool) reap() {
	t := time.NewTicker(settings.DaemonReapInterval.Get(p.o.Settings))
	defer t.Stop()
	for {
		select {
		case <-p.closing:
			return
		case now := <-t.C:
			p.Reap(now)
		}
	}
}

// Reap ends the instances that nobody has used for pool.idleTimeout and those of
// processes that are gone, and forgets sessions. A pool does it every
// daemon.reapInterval.
func (p *Pool) Reap(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	for _, s := range p.sets {
		for _, inst := range s.instances {
			why := s.unneeded(inst, now)
			if why == "" || inst.retired {
				continue
			}
			inst.log(slog.LevelInfo, "instance.reaped", slog.String("why", why))
			inst.retired = true
			inst.stop()
		}
		s.drop()
	}
	for name, s := range p.sessions {
		if now.Sub(s.used) >= settings.DaemonLeaseTTL.Get(p.o.Settings) && !p.hasOwn(name) {
			delete(p.sessions, name)
		}
	}
}

func (p *Pool) hasOwn(session string) bool {
	for _, s := range p.sets {
		if s.ofSession(session) && len(s.instances) > 0 {
			return true
		}
	}
	return false
}

// unneeded says why an instance is not needed any more; empty if it is.
func (s *set) unneeded(inst *instance, now time.Time) string {
	if inst.load > 0 || inst.starting() {
		return ""
	}
	if s.key.Scope == scope.Pid {
		if pid, err := strconv.Atoi(s.key.Of); err == nil && !process.Alive(pid) {
			return "its process is gone"
		}
	}
	idle := s.idle
	if idle == 0 {
		idle = settings.PoolIdleTimeout.Get(s.pool.o.Settings)
	}
	switch {
	case inst.listeners > 0, now.Sub(inst.used) < idle:
		return ""
	case s.key.Scope == scope.Session && s.pool.lives(s.key.Of, now):
		return ""
	}
	return "nobody used it for " + settings.FormatDuration(idle)
}

package main

import (
	"slices"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/daemon"
	"mcpx/pool"
)

// instances tells of a pool in the words of package api.
type instances struct{ pool *pool.Pool }

var _ daemon.Pool = instances{}

// Instances lists what runs.
func (p instances) Instances() []api.Instance {
	out := []api.Instance{}
	for _, i := range p.pool.Instances() {
		out = append(out, instanceOf(i))
	}
	return out
}

func instanceOf(i pool.Instance) api.Instance {
	return api.Instance{
		Server: i.Server, Key: i.Key, Pid: i.Pid, Era: i.Era.String(), State: i.State,
		Calls: i.Calls, InFlight: i.UnderWay, IdleMillis: max(0, time.Since(i.Used).Milliseconds()),
		Started: i.Started, Holders: i.Holders, Noise: i.Noise, Note: i.Note,
	}
}

// Sessions lists the sessions that have been used and not been released.
func (p instances) Sessions() []api.Session {
	out := []api.Session{}
	for _, s := range p.pool.Sessions() {
		out = append(out, api.Session{
			Name: s.Name, Lasting: s.Lasting, Servers: append([]string{}, s.Servers...), Calls: s.Calls, Used: s.Used,
		})
	}
	return out
}

// Retire implements daemon.Pool.
func (p instances) Retire(over func(server string) bool) {
	p.pool.Retire(func(def *config.Definition) bool { return over(def.Name) })
}

// ReleaseSession implements daemon.Pool.
func (p instances) ReleaseSession(name string) (int, bool) { return p.pool.ReleaseSession(name) }

// RestartSession implements daemon.Pool.
func (p instances) RestartSession(name string) (int, bool) {
	if !slices.ContainsFunc(p.pool.Sessions(), func(s pool.Session) bool { return s.Name == name }) {
		return 0, false
	}
	return p.pool.End(func(i pool.Instance) bool { return i.Key == "session:"+name }), true
}

// Busy implements daemon.Pool.
func (p instances) Busy() bool { return p.pool.Busy() }

// Notices implements daemon.Pool.
func (p instances) Notices() []string { return p.pool.Notices() }

package daemon

import (
	"context"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

var _ api.Process = (*View)(nil)

// Health implements api.Process.
func (v *View) Health(context.Context, api.HealthInput) (*api.HealthOutput, error) {
	h := v.l.health()
	return &h, nil
}

func (l *Live) health() api.HealthOutput {
	l.mu.Lock()
	defer l.mu.Unlock()
	return api.HealthOutput{Version: l.record.Version, Daemon: true, Pid: l.record.Pid, Started: l.record.Started}
}

// Status implements api.Process.
func (v *View) Status(ctx context.Context, _ api.StatusInput) (*api.StatusOutput, error) {
	cfg, err := v.Config(ctx, api.ConfigInput{})
	if err != nil {
		return nil, err
	}
	out := &api.StatusOutput{
		HealthOutput: v.l.health(), State: v.l.o.State,
		Files: cfg.Files, Instances: v.l.o.Pool.Instances(), Warnings: append(cfg.Warnings, v.l.o.Pool.Notices()...),
	}
	v.l.mu.Lock()
	defer v.l.mu.Unlock()
	out.Endpoint, out.Problem = v.l.record.Endpoint, v.l.problem
	return out, nil
}

// Refresh implements api.Process. The error is that of the files if they cannot be read.
func (v *View) Refresh(ctx context.Context, in api.RefreshInput) (*api.RefreshOutput, error) {
	v.l.look(true)
	v.l.mu.Lock()
	problem := v.l.problem
	v.l.mu.Unlock()
	if problem != nil {
		return nil, problem
	}
	return RefreshAll(ctx, v, in)
}

// RefreshAll asks servers again for their tools.
func RefreshAll(ctx context.Context, s api.Servers, in api.RefreshInput) (*api.RefreshOutput, error) {
	out := &api.RefreshOutput{Servers: []api.RefreshedServer{}}
	if in.Server != "" {
		tools, err := s.Tools(ctx, api.ToolsInput{Namespace: in.Server, Refresh: true})
		if err != nil {
			return nil, err
		}
		name := in.Server
		if len(tools.Tools) > 0 {
			name = tools.Tools[0].Namespace
		}
		out.Servers = append(out.Servers, api.RefreshedServer{Name: name, Tools: len(tools.Tools)})
		return out, nil
	}
	all, err := s.Namespaces(ctx, api.NamespacesInput{Refresh: true})
	if err != nil {
		return nil, err
	}
	for _, n := range all.Namespaces {
		if !n.Disabled {
			out.Servers = append(out.Servers, api.RefreshedServer{Name: n.Name, Tools: len(n.Tools), Error: n.Error})
		}
	}
	return out, nil
}

// SessionList implements api.Process.
func (v *View) SessionList(context.Context, api.SessionListInput) (*api.SessionListOutput, error) {
	return &api.SessionListOutput{Sessions: v.l.o.Pool.Sessions()}, nil
}

// SessionRelease implements api.Process.
func (v *View) SessionRelease(_ context.Context, in api.SessionReleaseInput) (*api.SessionReleaseOutput, error) {
	n, ok := v.l.o.Pool.ReleaseSession(in.Name)
	if !ok {
		return nil, NoSession(in.Name)
	}
	return &api.SessionReleaseOutput{Name: in.Name, Ended: n}, nil
}

// SessionRestart implements api.Process.
func (v *View) SessionRestart(_ context.Context, in api.SessionRestartInput) (*api.SessionRestartOutput, error) {
	n, ok := v.l.o.Pool.RestartSession(in.Name)
	if !ok {
		return nil, NoSession(in.Name)
	}
	return &api.SessionRestartOutput{Name: in.Name, Ended: n}, nil
}

// NoSession is the error for a session that there is not.
func NoSession(name string) error {
	return fault.NotFoundf("there is no session %q", name).Hintf("mcpx session list shows them")
}

// Restart implements api.Process.
func (v *View) Restart(context.Context, api.RestartInput) (*api.RestartOutput, error) {
	return &api.RestartOutput{Pid: v.l.end(true)}, nil
}

// Shutdown implements api.Process.
func (v *View) Shutdown(context.Context, api.ShutdownInput) (*api.ShutdownOutput, error) {
	return &api.ShutdownOutput{Pid: v.l.end(false)}, nil
}

// end has the daemon leave. The answer to whoever asked is still given.
func (l *Live) end(restart bool) (pid int) {
	l.mu.Lock()
	leave, pid := l.leave, l.record.Pid
	l.mu.Unlock()
	leave(restart)
	return pid
}

// Events implements api.Process.
func (v *View) Events(ctx context.Context, in api.EventsInput, deliver func(api.Event) error) error {
	following, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(v.l.ctx, cancel)()
	err := v.l.o.Events.Follow(following, in.After, deliver)
	if err != nil && v.l.ctx.Err() != nil && ctx.Err() == nil {
		return fault.Unavailablef("the daemon has ended")
	}
	return err
}

// EndFollowing ends what waits for something to happen: events and listeners.
func (l *Live) EndFollowing() { l.cancel() }

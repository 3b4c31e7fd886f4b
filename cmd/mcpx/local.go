package main

import (
	"context"
	"os"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/daemon"
	"mcpx/internal/fault"
)

// itself answers for this process where there is no daemon: the servers of a command end
// with it.
type itself struct {
	servers   api.Servers
	instances func() []api.Instance
	state     string // the state directory; empty if there is none
	started   time.Time
}

var _ api.Process = (*itself)(nil)

// Health implements api.Process.
func (p *itself) Health(context.Context, api.HealthInput) (*api.HealthOutput, error) {
	return &api.HealthOutput{Version: version, Pid: os.Getpid(), Started: p.started}, nil
}

// Status implements api.Process.
func (p *itself) Status(ctx context.Context, _ api.StatusInput) (*api.StatusOutput, error) {
	health, err := p.Health(ctx, api.HealthInput{})
	if err != nil {
		return nil, err
	}
	config, err := p.servers.Config(ctx, api.ConfigInput{})
	if err != nil {
		return nil, err
	}
	out := &api.StatusOutput{
		HealthOutput: *health, State: p.state, Files: config.Files, Warnings: config.Warnings,
		Instances: append([]api.Instance{}, p.instances()...),
	}
	return out, nil
}

// Refresh implements api.Process. The configuration has just been read.
func (p *itself) Refresh(ctx context.Context, in api.RefreshInput) (*api.RefreshOutput, error) {
	return daemon.RefreshAll(ctx, p.servers, in)
}

// SessionList implements api.Process. No session outlives the command.
func (p *itself) SessionList(context.Context, api.SessionListInput) (*api.SessionListOutput, error) {
	return &api.SessionListOutput{Sessions: []api.Session{}}, nil
}

// SessionRelease implements api.Process.
func (p *itself) SessionRelease(_ context.Context, in api.SessionReleaseInput) (*api.SessionReleaseOutput, error) {
	return nil, noSession(in.Name)
}

// SessionRestart implements api.Process.
func (p *itself) SessionRestart(_ context.Context, in api.SessionRestartInput) (*api.SessionRestartOutput, error) {
	return nil, noSession(in.Name)
}

func noSession(name string) error {
	return fault.NotFoundf("no session is called %q: %w", name, api.ErrNoDaemon).
		Hintf("a daemon keeps sessions; the servers of a command without one end with it")
}

// Restart implements api.Process.
func (p *itself) Restart(context.Context, api.RestartInput) (*api.RestartOutput, error) {
	return nil, fault.Unavailablef("%w", api.ErrNoDaemon)
}

// Shutdown implements api.Process.
func (p *itself) Shutdown(context.Context, api.ShutdownInput) (*api.ShutdownOutput, error) {
	return nil, fault.Unavailablef("%w", api.ErrNoDaemon)
}

// Events implements api.Process.
func (p *itself) Events(context.Context, api.EventsInput, func(api.Event) error) error {
	return fault.Unavailablef("%w", api.ErrNoDaemon)
}

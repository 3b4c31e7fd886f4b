package main

import (
	"context"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/daemon"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// Exec implements api.Scripts: the script runs in a worker of this process.
func (b *inline) Exec(ctx context.Context, in api.ExecInput) (*api.ExecOutput, error) {
	if in.Task != nil {
		return nil, noTask()
	}
	streams := api.Streams{Frames: in.Frames, Peer: in.Peer, Consent: in.Consent}
	if in.Stdin != "" {
		streams.Stdin = strings.NewReader(in.Stdin)
	}
	return b.runner.Run(ctx, in, streams)
}

// there says which daemon runs the scripts of this command; nil is this process. In an
// endpoint's stead, own says that it is the daemon of this machine.
func (c *command) there() (e *daemon.Endpoint, own bool, err error) {
	if e, err = c.endpoint(); err != nil {
		return nil, false, err
	}
	switch settings.ExecWhere.Get(c.Settings) {
	case "remote":
		return e, e == nil, nil
	case "local":
		if e != nil && !e.Here() {
			return nil, false, fault.Usagef("a script cannot run here and call the tools of the daemon at %s", settings.DaemonEndpoint.Get(c.Settings)).
				Hintf("leave --local out, or daemon.endpoint")
		}
		return nil, false, nil
	}
	if e != nil && !e.Here() {
		return e, false, nil
	}
	return nil, false, nil
}

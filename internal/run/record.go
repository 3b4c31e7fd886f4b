package run

import (
	"context"
	"fmt"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/record"
)

// catalog is Tools under another name: one of its methods has that.
type catalog = Tools

// asked is who answers the scripts of a Runner.
type asked struct {
	Caller
	catalog
}

// taped runs a script whose calls are recorded, or answered from a recording: then no
// server is asked anything.
func (r *Runner) taped(ctx context.Context, in api.ExecInput, streams api.Streams) (*api.ExecOutput, error) {
	if in.Record && in.Replay != "" {
		return nil, fault.Usagef("a run is either recorded or answered from a recording").Hintf("give one of record and replay")
	}
	var servers record.Servers
	var recorder *record.Recorder
	var player *record.Player
	if in.Replay != "" {
		var err error
		if player, err = record.Read(in.Replay); err != nil {
			return nil, err
		}
		servers = player
	} else {
		recorder = record.New(asked{r.Caller, r.Tools})
		servers = recorder
	}
	in.Record, in.Replay = false, ""
	out, err := r.As(func(c *Runner) { c.Caller, c.Tools = servers, servers }).Run(ctx, in, streams)
	if err != nil {
		return nil, err
	}
	if player != nil {
		if n := player.Unused(); n > 0 && out.Error == nil {
			out.Warnings = append(out.Warnings, fmt.Sprintf("the script did not make %d of the calls that the recording holds", n))
		}
		return out, nil
	}
	if out.Recording, err = recorder.Text(); err != nil {
		return nil, fault.From(err)
	}
	return out, nil
}

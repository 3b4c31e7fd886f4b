package daemon

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

// Exec implements api.Scripts. The script has the caller's working directory and
// environment, and waits for its turn: as many run at a time as exec.concurrency says.
func (v *View) Exec(ctx context.Context, in api.ExecInput) (*api.ExecOutput, error) {
	if v.l.o.Runner == nil {
		return nil, fault.Unavailablef("no scripts are run here")
	}
	if in.Task != nil {
		return v.execTask(ctx, in)
	}
	if w := in.Artifacts; v.foreign && w != nil && (w.Dir != "" || w.SharedFS) {
		return nil, fault.Deniedf("artifacts are not put onto this machine for those who come over TCP").
			Hintf("take them with artifacts.delivery, or with GET /v1/artifacts/ID")
	}
	c := v.c
	if in.Session != "" {
		c.Session, c.Lasting = in.Session, true
	}
	if len(in.Limits) > 0 {
		c.Settings = maps.Clone(c.Settings)
		if c.Settings == nil {
			c.Settings = map[string]string{}
		}
		for name, text := range in.Limits {
			c.Settings["limits."+name] = text
		}
		in.Limits = nil
	}
	if v.foreign {
		in.Consent = nil // nobody knows that it is the user who answers
		// As a setting it would not count, and then the script had more than was asked for.
		in.Permissions = cmp.Or(in.Permissions, c.Settings["script.permissions"])
	} else {
		if in.Cwd != "" {
			c.Dir = in.Cwd
		}
		if len(in.Env) > 0 && c.Environ != nil {
			c.Environ = slices.Clone(c.Environ)
			for _, name := range slices.Sorted(maps.Keys(in.Env)) {
				c.Environ = append(c.Environ, name+"="+in.Env[name])
			}
		}
	}
	own := &View{l: v.l, c: c, foreign: v.foreign}
	set, err := own.settings()
	if err != nil {
		return nil, err
	}
	set = Limited(set, !v.foreign)
	unheeded := v.unheeded(set, c.Settings)
	select {
	case v.l.turns <- struct{}{}:
		defer func() { <-v.l.turns }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if in.Name == "" && in.File == "" {
		in.Expression = true
	}
	if in.Output == "" {
		in.Output = api.OutputStructured
	}
	streams := api.Streams{Frames: in.Frames, Peer: in.Peer, Consent: in.Consent}
	if in.Stdin != "" {
		streams.Stdin = strings.NewReader(in.Stdin)
	}
	out, err := v.l.o.Runner(c, own, set, v.foreign).Run(ctx, in, streams)
	if err == nil {
		out.Warnings = append(out.Warnings, unheeded...)
	}
	if err == nil && (in.Artifacts == nil || !in.Artifacts.SharedFS) {
		for i := range out.Artifacts {
			out.Artifacts[i].Path = "" // whoever asked may be on another machine
		}
	}
	if err != nil || in.Output == api.OutputStructured {
		return out, err
	}
	// It has been told as it happened.
	out.Stdout, out.Stderr, out.Emits, out.Logs, out.Calls = "", "", nil, nil, nil
	return out, nil
}

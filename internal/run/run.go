// Package run runs a script: it is the broker above the worker that holds it.
//
// A Runner starts a worker, gives it the script with the facts that surround it,
// answers what the script asks (tools through Caller, listings through Tools), passes
// its output on, and says how and why it ended. A worker is taken to be hostile: what
// it sends is bounded in size and number, and what it asks is decided here and below.
//
// Nothing is left behind when Run returns: no process, descriptor or goroutine. The one
// exception is a Read or Write of the caller's streams, or a Call, that does not return
// although the run has been ended; its goroutine ends when that does.
package run

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/sandbox"
	"mcpx/internal/settings"
	"mcpx/internal/worker"
)

// Caller reaches a tool. Call must return soon after ctx is done.
type Caller interface {
	Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error)
}

// Tools knows which tools there are. An api.Service is one. Config must not start
// anything: it gives the names of the namespaces of every run.
type Tools interface {
	Config(ctx context.Context, in api.ConfigInput) (*api.ConfigOutput, error)
	Tools(ctx context.Context, in api.ToolsInput) (*api.ToolsOutput, error)
	Types(ctx context.Context, in api.TypesInput) (*api.TypesOutput, error)
	Search(ctx context.Context, in api.SearchInput) (*api.SearchOutput, error)
}

// Runner runs scripts. It implements api.Runner, and may run several at once. The
// fields must not change while it runs one; Caller and Tools may be set after Start.
type Runner struct {
	Caller   Caller
	Tools    Tools
	Settings *settings.Set

	Self   string                           // this program's file; empty means sandbox.Program
	Build  string                           // what a worker must say it is; empty means worker.Build
	Dir    string                           // the caller's working directory
	Home   string                           // the user's; empty if there is none
	Lookup func(name string) (string, bool) // the caller's environment; nil is an empty one
	Log    *slog.Logger                     // nil logs nothing

	Profiles grant.Profiles // those that are configured; their defaults are the settings'
	Environ  []string       // the caller's environment, as of os.Environ

	// Foreign says that the caller is not known to be the user: what it asks for can only be
	// less than what a run is given that asks for nothing, and it brings no files.
	Foreign bool

	// Longest is how long a caller may ask that a run takes; 0 is as long as it likes.
	Longest time.Duration

	Artifacts string // the folder that artifacts are kept in, absolute; empty keeps none

	Own      []netip.AddrPort // the listeners of this program, which no script may reach
	Resolver *net.Resolver    // nil is the system's

	workers workers
	of      *Runner // whose workers are used; nil is its own
}

// As is a Runner with r's workers for one caller: set changes what is the caller's. It
// needs no Close.
func (r *Runner) As(set func(*Runner)) *Runner {
	c := &Runner{
		Caller: r.Caller, Tools: r.Tools, Settings: r.Settings, Self: r.Self, Build: r.Build, Dir: r.Dir, Home: r.Home,
		Lookup: r.Lookup, Log: r.Log, Profiles: r.Profiles, Environ: r.Environ, Artifacts: r.Artifacts, Own: r.Own, Resolver: r.Resolver, Foreign: r.Foreign, Longest: r.Longest,
		of: r.owner(),
	}
	set(c)
	return c
}

// owner is the Runner whose workers are used.
func (r *Runner) owner() *Runner {
	if r.of != nil {
		return r.of
	}
	return r
}

// once runs one script, which may be one of those around another. out holds what the
// caller is told of it.
func (r *Runner) once(ctx context.Context, id string, in api.ExecInput, streams api.Streams, tell *telling) (*api.ExecOutput, error) {
	begin, timeout := time.Now(), in.Timeout
	set, err := r.grants(in)
	if err != nil {
		return nil, fault.From(err)
	}
	longest := settings.ExecMax.Get(r.Settings)
	exceeded := func(d time.Duration) *fault.Error {
		return fault.Timeoutf("time limit of %s exceeded", settings.FormatDuration(d)).
			With("limit", "time").With("value", settings.FormatDuration(d))
	}
	ctx, limit, end := limited(ctx,
		timeout, exceeded(timeout).Hintf("%s", r.longer(timeout)),
		longest, exceeded(longest).Hintf("questions waited too long for their answers; give it longer with %s", settings.ExecMax.Give(2*longest)))
	defer end()

	budget := r.budget()
	if int64(len(in.Code)) > budget.source {
		report := fault.ReportOf(budget.exceeded(limitSource))
		return &api.ExecOutput{RunID: id, Error: report, ExitCode: report.Kind.ExitCode(), Profile: set.Profile}, nil
	}
	if in.Runtime != "" {
		out, err := r.abroad(ctx, in, set, streams, budget, tell)
		if err != nil {
			return nil, fault.From(err)
		}
		out.RunID, out.Duration = id, time.Since(begin)
		out.Millis = out.Duration.Milliseconds()
		return out, nil
	}
	if in.File != "" {
		program, err := interpreterOf(in.File, in.Code)
		if err != nil {
			return nil, fault.From(err)
		}
		if program != nil {
			out, err := r.interpret(ctx, program, in, set, streams, budget)
			if err != nil {
				return nil, fault.From(err)
			}
			out.RunID, out.Duration = id, time.Since(begin)
			out.Millis = out.Duration.Milliseconds()
			return out, nil
		}
	}
	reads := in.File != "" && !set.Imports.None() && mayImport(in.Code)
	s := r.take(reads)
	if s.err != nil {
		return nil, fault.From(s.err)
	}
	defer s.child.Close()

	// The worker comes up meanwhile.
	config, err := r.Tools.Config(ctx, api.ConfigInput{})
	if err != nil && ctx.Err() != nil {
		out := &api.ExecOutput{RunID: id}
		out.Error, out.ExitCode = ended(context.Cause(ctx))
		return out, nil
	}
	if err != nil {
		return nil, fault.From(err)
	}
	if broken := config.Err(); broken != nil {
		return nil, broken // a script would find some of its tools missing
	}
	var names []string
	for _, server := range config.Servers {
		if !server.Disabled && (len(in.NS) == 0 || slices.Contains(in.NS, server.Name)) {
			names = append(names, server.Name)
		}
	}
	dir := r.Dir
	if set.Profile == "none" && set.Read.None() && set.Write.None() {
		dir = "/" // a script that may only compute is not told where
	}
	head := worker.Run{
		Name:       in.Name,
		File:       in.File,
		Expression: in.Expression,
		Ambient:    ambient(r.Lookup, dir, in.Args, streams),
		InFlight:   settings.LimitsInFlight.Get(r.Settings),
		MaxBody:    settings.LimitsResult.Get(r.Settings),
		Namespaces: names,
		Limits:     worker.Limits{Memory: budget.memory, CPU: budget.cpu},
		Export:     in.Export,
		Prefix:     in.Phases.Prefix,
		Given:      tell.given(in),
	}
	if reads {
		head.Imports, head.Reads = set.Imports, set.Read
	}

	streams = bounded(set, streams)
	log := r.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	log = log.With(slog.String("run", id))
	attempt := func(child *sandbox.Child) (*broker, *api.ExecOutput, error) {
		b := newBroker(child, r.Caller, r.Tools, head, streams)
		b.tell, b.out.tell = tell, tell
		b.out.lines = newLines(in.CaptureConsole)
		if len(in.NS) > 0 {
			b.spaces = names
		}
		b.effects = r.effects(set, names)
		b.effects.kept.tell = tell
		b.out.media = r.media(in, &b.effects.kept)
		b.out.spillTo(&b.effects.kept, settings.ArtifactsOutputMaxBytes.Get(r.Settings))
		b.budget = budget
		b.peer = &asker{peer: streams.Peer, limit: limit, script: b.script}
		if streams.Consent != nil {
			b.consent = &consenter{streams.Consent, limit}
		}
		b.build = cmp.Or(r.Build, worker.Build())
		b.log = log
		b.log.LogAttrs(ctx, slog.LevelDebug, "run.started", slog.Int("pid", child.Pid()))
		out, err := b.run(ctx, head, in.Code)
		return b, out, err
	}
	b, out, err := attempt(s.child)
	if b.stillborn() && ctx.Err() == nil {
		// Nobody has seen anything of the run: it may begin again. What a script does to
		// its engine it does twice, and is told.
		if again := r.spawn(s.kind); again.err == nil {
			defer again.child.Close()
			log.LogAttrs(ctx, slog.LevelWarn, "worker.retried")
			b, out, err = attempt(again.child)
		}
	}
	if err != nil {
		return nil, fault.From(err)
	}
	out.RunID, out.Warnings = id, append(out.Warnings, b.warned.all()...)
	out.Duration = time.Since(begin)
	out.Millis = out.Duration.Milliseconds()
	log.LogAttrs(ctx, slog.LevelInfo, "run.ended",
		slog.Int("exit", out.ExitCode), slog.String("permissions", out.Profile), slog.String("sandbox", out.Sandbox), slog.Int("denials", len(out.Denials)), slog.Int64("calls", b.calls.Load()), slog.Duration("took", out.Duration))
	return out, nil
}

var _ api.Runner = (*Runner)(nil)

package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"mcpx/engine"
	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/frame"
	"mcpx/internal/grant"
	"mcpx/internal/runtimes"
	"mcpx/internal/settings"
	"mcpx/internal/worker"
)

// foreignModules are the modules of Node that the other runtimes have as well.
const foreignModules = "assert assert/strict async_hooks buffer child_process console constants crypto dgram diagnostics_channel dns dns/promises " +
	"events fs fs/promises http http2 https module net os path path/posix path/win32 perf_hooks process punycode querystring readline " +
	"readline/promises stream stream/consumers stream/promises stream/web string_decoder timers timers/promises tls tty url util " +
	"util/types v8 vm worker_threads zlib"

// abroad runs a script on another runtime. What that cannot hold of its grants is refused.
func (r *Runner) abroad(ctx context.Context, in api.ExecInput, set grant.Set, streams api.Streams, budget budget, tell *telling) (*api.ExecOutput, error) {
	for _, has := range []struct {
		what  string
		given bool
	}{
		{"export", in.Export != ""},
		{"captureConsole", in.CaptureConsole},
		{"placeholders", len(in.Placeholders) > 0},
		{"prefix", len(in.Phases.Prefix) > 0},
		{"ns", len(in.NS) > 0},
	} {
		if has.given {
			return nil, fault.Usagef("%s is given, which only mcpx itself has, and not %s", has.what, in.Runtime).Hintf("leave out one of the two")
		}
	}
	lookup := r.Lookup
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	rt, err := runtimes.Find(ctx, in.Runtime, lookup, r.Home)
	if err != nil {
		return nil, err
	}
	var modules []string
	for name := range strings.FieldsSeq(foreignModules) {
		modules = append(modules, "node:"+name)
	}
	made, err := r.make(ctx, in, worker.Run{Make: worker.MakeTranslation, Modules: modules})
	out := &api.ExecOutput{Profile: set.Profile, Held: []string{limitCalls, limitOutput}}
	if err != nil {
		e := fault.From(err)
		if e.Kind != fault.Usage && e.Kind != fault.Denied {
			return nil, e
		}
		out.Error = fault.ReportOf(e)
		out.Error.At, _ = e.Details["at"].(*fault.Position)
		out.ExitCode = e.Kind.ExitCode()
		return out, nil
	}
	places, err := engine.ReadMap(made.Map)
	if err != nil {
		return nil, fault.Internalf("reading the map of the script: %w", err)
	}
	config, err := r.Tools.Config(ctx, api.ConfigInput{})
	if err != nil {
		return nil, fault.From(err)
	}
	var names []string
	for _, server := range config.Servers {
		if !server.Disabled {
			names = append(names, server.Name)
		}
	}

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	head := worker.Run{InFlight: settings.LimitsInFlight.Get(r.Settings), MaxBody: settings.LimitsResult.Get(r.Settings), Namespaces: names}
	// The broker that answers is the same as that of a worker: only the socket is another.
	b := newBroker(nil, r.Caller, r.Tools, head, streams)
	b.stop, b.budget = stop, budget
	b.tell, b.out.tell = tell, tell
	b.effects = r.effects(set, names)
	b.effects.kept.tell = tell
	b.out.spillTo(&b.effects.kept, settings.ArtifactsOutputMaxBytes.Get(r.Settings))
	defer b.effects.close()
	streams = bounded(set, streams)
	b.peer, b.consent = streams.Peer, streams.Consent
	if r.Log != nil {
		b.log = r.Log
	}
	f := &foreigner{broker: b, streams: streams}
	env := []string{}
	granted := b.env.Granted(r.Environ)
	for _, name := range slices.Sorted(maps.Keys(granted)) {
		env = append(env, name+"="+granted[name])
	}
	script := in.File
	if script == "" {
		script = in.Name
	}
	b.log.LogAttrs(ctx, slog.LevelInfo, "run.foreign", slog.String("runtime", rt.Name), slog.String("version", rt.Version))
	over, err := rt.Run(ctx, runtimes.Spec{
		Set: set, Dir: r.Dir, Environ: env, Script: script, Args: in.Args,
		Code: made.Code, Requires: made.Requires, Starts: made.Starts, Find: places.Find,
		Namespaces: names, Text: streams.Stdout != nil, Stdin: streams.Stdin,
		Stdout: &metered{f, b.out.stdout, true}, Stderr: &metered{f, b.out.stderr, false},
		Broker: f, InFlight: head.InFlight, MaxLine: 2*head.MaxBody + frame.MaxHead, // bytes are longer in base64
	})
	b.out.given(ctx, out)
	out.Printed, out.Emits = f.printed, f.emits
	out.Denials, out.Artifacts, out.Warnings = b.denials.all(), b.kept.all(), b.warned.all()
	out.Notes = []string{fmt.Sprintf("%s %s has run the script: of the limits those of time, tool calls, output and results held", rt.Name, rt.Version)}
	switch {
	case err != nil && ctx.Err() == nil:
		return nil, fault.From(err) // it never ran
	case err != nil:
		out.Error, out.ExitCode = ended(err)
		return out, nil
	}
	out.Value, out.Error, out.ExitCode = over.Value, over.Failed, over.ExitCode
	if n := len(out.Value); int64(n) > head.MaxBody {
		out.Value, out.Error = nil, fault.ReportOf(worker.ValueTooLarge(n, head.MaxBody))
		out.ExitCode = out.Error.Kind.ExitCode()
	}
	return out, nil
}

// foreigner answers a script on another runtime.
type foreigner struct {
	broker  *broker
	streams api.Streams

	mu      sync.Mutex
	printed bool
	emits   []json.RawMessage
}

var _ runtimes.Broker = (*foreigner)(nil)

// metered counts what a script prints.
type metered struct {
	f      *foreigner
	to     io.Writer
	stdout bool
}

func (m *metered) Write(p []byte) (int, error) {
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	m.f.printed = m.f.printed || m.stdout
	if fits := m.f.broker.charge(len(p)); fits < len(p) {
		return 0, m.f.broker.budget.exceeded(limitOutput)
	}
	if _, err := m.to.Write(p); err != nil && m.stdout {
		m.f.broker.stop(errClosed)
		return 0, err
	}
	return len(p), nil // standard error may fail without harm
}

// answered notes what is denied.
func (f *foreigner) answered(value any, err error) (any, error) {
	err = f.broker.explain(err)
	f.broker.denials.note(err)
	return value, err
}

// Call implements runtimes.Broker.
func (f *foreigner) Call(ctx context.Context, server, tool string, args json.RawMessage) (any, error) {
	b := f.broker
	if n := b.calls.Add(1); b.budget.calls > 0 && n > int64(b.budget.calls) {
		return nil, b.overspent()
	}
	out, err := b.caller.Call(ctx, api.CallInput{Server: server, Tool: tool, Arguments: args, Grant: b.toolGrant(), Peer: b.peer, Consent: b.consent})
	if err != nil {
		return f.answered(nil, err)
	}
	b.warned.add(out.Warnings)
	if int64(len(out.Result)) > b.limit.MaxBody {
		return f.answered(nil, b.tooLarge(out.Result))
	}
	return out, nil
}

// Ask implements runtimes.Broker.
func (f *foreigner) Ask(ctx context.Context, op string, head json.RawMessage, body []byte) (any, error) {
	var answer []byte
	var err error
	switch op {
	case "search":
		_, answer, err = f.broker.search(ctx, head)
	case "artifact":
		answer, err = f.broker.keep(ctx, head, body)
	case "describe":
		var text []byte
		_, text, err = f.broker.describe(ctx, head)
		return f.answered(string(text), err)
	default:
		err = fault.Internalf("the host knows no request %q", op)
	}
	return f.answered(json.RawMessage(answer), err)
}

// Tell implements runtimes.Broker.
func (f *foreigner) Tell(op string, head json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if op == "emit" {
		if f.broker.charge(len(head)) == len(head) {
			f.emits = append(f.emits, head)
		}
		return
	}
	var p api.Progress
	if f.streams.Progress != nil && json.Unmarshal(head, &p) == nil {
		f.streams.Progress(p)
	}
}

package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// The phases of a run, as frames and hooks call them.
const (
	phaseBefore    = "before"
	phaseOnSuccess = "onSuccess"
	phaseOnError   = "onError"
	phaseSuffix    = "suffix"
)

// maxHook is how much a script around another can be told of its value.
const maxHook = 512 << 10

// Run runs one script, and those around it, and waits for their end.
//
// The error is of package fault and says why no run took place. Everything else is in
// the output: a limit of time has kind timeout there; a run whose ctx was cancelled has
// exit code 130, and one whose standard output was closed by its reader 141, both
// without an error. If streams.Stdout or Stderr is nil, the output holds the text.
//
// Each script around it has the limits of the run for itself.
func (r *Runner) Run(ctx context.Context, in api.ExecInput, streams api.Streams) (*api.ExecOutput, error) {
	if in.Record || in.Replay != "" {
		return r.taped(ctx, in, streams)
	}
	begin, id := time.Now(), strings.ToLower(rand.Text())
	r, in, err := r.prepare(in)
	if err != nil {
		return nil, fault.From(err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var tell *telling
	if streams.Frames != nil || streams.Stdout == nil {
		tell = newTelling(streams.Frames, stop)
	}
	if in.Typecheck == api.TypecheckOn || in.Typecheck == api.TypecheckStrict {
		report, err := r.typecheck(ctx, in)
		if err != nil {
			return nil, fault.From(err)
		}
		if report != nil {
			out := &api.ExecOutput{RunID: id, Error: report, ExitCode: report.Kind.ExitCode()}
			tell.frame(api.Frame{Type: "start", RunID: id})
			r.close(out, begin, tell, in)
			return out, nil
		}
	}
	p := &play{r: r, id: id, in: in, streams: streams, tell: tell}
	out, err := p.play(ctx)
	if err != nil {
		return nil, err
	}
	r.deliver(ctx, in, out)
	r.close(out, begin, tell, in)
	tell.stream(ctx, in, out)
	return out, nil
}

// close says how a run ended, in the end of its frames and what is the same in every output.
func (r *Runner) close(out *api.ExecOutput, begin time.Time, tell *telling, in api.ExecInput) {
	out.Duration = time.Since(begin)
	out.Millis = out.Duration.Milliseconds()
	b := r.budget()
	out.Limits = map[string]string{"time": settings.FormatDuration(in.Timeout)}
	for name, value := range map[string]string{
		"memory": strings.ReplaceAll(sizeText(b.memory), " ", ""), "output": strings.ReplaceAll(sizeText(b.output), " ", ""),
		"cpu": settings.FormatDuration(b.cpu), limitCalls: fmt.Sprint(b.calls),
	} {
		if value != "0B" && value != "0s" && value != "0" && (out.Held == nil || slices.Contains(out.Held, name)) {
			out.Limits[name] = value
		}
	}
	if tell == nil {
		return
	}
	if tell.to != nil && !tell.ended() {
		tell.outcome(out)
	}
	tell.frame(api.Frame{Type: "end", ExitCode: &out.ExitCode, Millis: &out.Millis})
}

// prepare reads what a run asks for, and returns a Runner that has it.
func (r *Runner) prepare(in api.ExecInput) (*Runner, api.ExecInput, error) {
	in.Name = cmp.Or(in.Name, "exec")
	var err error
	if in.Timeout == 0 && in.Within != "" {
		if in.Timeout, err = settings.ParseDuration(in.Within); err != nil {
			return nil, in, fault.Usagef("timeout: %q is no duration", in.Within).Hintf("give one such as 30s or 10m")
		}
		if in.Timeout == 0 {
			return nil, in, fault.Usagef("a time limit of 0 is none").Hintf("give a duration such as 30s or 10m")
		}
	}
	set := r.Settings
	if len(in.Limits) > 0 {
		asked := map[string]string{}
		for name, text := range in.Limits {
			asked["limits."+name] = text
		}
		if set, err = r.Settings.Below(asked); err != nil {
			return nil, in, err
		}
		if more := set.Unheeded(asked); in.Most != nil && len(more) > 0 {
			return nil, in, fault.Deniedf("%s", more[0]).Hintf("ask for less, or leave it out")
		}
	}
	if in.Timeout == 0 {
		in.Timeout = settings.ExecTimeout.Get(set)
	}
	if in.Timeout < 0 {
		return nil, in, fault.Usagef("a time limit of %s is none", in.Timeout).Hintf("give a duration such as 30s or 10m")
	}
	if r.Longest > 0 {
		in.Timeout = min(in.Timeout, r.Longest)
	}
	if in.Cwd != "" && !filepath.IsAbs(in.Cwd) {
		return nil, in, fault.Usagef("cwd: %q is not absolute", in.Cwd).Hintf("give the whole path")
	}
	if in.File != "" && !filepath.IsAbs(in.File) {
		return nil, in, fault.Usagef("file: %q is not absolute", in.File).Hintf("give the whole path, or name instead")
	}
	if r.Foreign {
		if in, err = r.foreign(in, set); err != nil {
			return nil, in, err
		}
	}
	for name := range in.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(in.Env[name], "\x00") {
			return nil, in, fault.Usagef("env: %q cannot be a variable", name)
		}
	}
	for _, word := range []struct {
		name, value string
		words       []string
	}{
		{"typecheck", in.Typecheck, []string{"", api.TypecheckOff, api.TypecheckOn, api.TypecheckStrict}},
		{"output", in.Output, []string{"", api.OutputText, api.OutputStructured, api.OutputStream}},
	} {
		if !slices.Contains(word.words, word.value) {
			return nil, in, fault.Usagef("%s: %q is not one of its values", word.name, word.value).Hintf("write %s", strings.Join(word.words[1:], " or "))
		}
	}
	if err := r.wish(in); err != nil {
		return nil, in, err
	}
	if err := r.spaces(in.NS); err != nil {
		return nil, in, err
	}
	if len(in.Placeholders) > 0 {
		if in.Code, err = fill(in.Code, in.Placeholders); err != nil {
			return nil, in, err
		}
	}
	if set == r.Settings && in.Cwd == "" && len(in.Env) == 0 {
		return r, in, nil
	}
	return r.As(func(c *Runner) {
		c.Settings = set
		c.Dir = cmp.Or(in.Cwd, c.Dir)
		if len(in.Env) > 0 {
			c.Environ = slices.Clone(c.Environ)
			for _, name := range slices.Sorted(maps.Keys(in.Env)) {
				c.Environ = slices.DeleteFunc(c.Environ, func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
				c.Environ = append(c.Environ, name+"="+in.Env[name])
			}
			before := c.Lookup
			c.Lookup = func(name string) (string, bool) {
				if value, ok := in.Env[name]; ok {
					return value, true
				}
				if before == nil {
					return "", false
				}
				return before(name)
			}
		}
	}), in, nil
}

// foreign refuses what a caller may not ask for that is not known to be the user.
func (r *Runner) foreign(in api.ExecInput, set *settings.Set) (api.ExecInput, error) {
	in.Timeout = min(in.Timeout, settings.ExecTimeout.Get(set))
	switch {
	case in.Cwd != "":
		return in, fault.Deniedf("cwd cannot be given over TCP: it is a folder of this machine").Hintf("leave it out")
	case in.File != "":
		return in, fault.Deniedf("file cannot be given over TCP: it is a file of this machine").Hintf("send what it imports with it: mcpx bundle makes one text of both")
	case in.Runtime != "":
		return in, fault.Deniedf("runtime cannot be asked for over TCP: it is a program of this machine").Hintf("leave it out")
	case in.Typecheck == api.TypecheckOn || in.Typecheck == api.TypecheckStrict:
		return in, fault.Deniedf("typecheck cannot be asked for over TCP: it would read files of this machine").Hintf("check it where it is written")
	}
	if len(in.Env) > 0 {
		granted, err := r.grants(in)
		if err != nil {
			return in, err
		}
		if !granted.Run.None() {
			return in, fault.Deniedf("env cannot be given over TCP to a script that may start programs").Hintf("take that away with deny: {\"run\": []}")
		}
	}
	return in, nil
}

// spaces refuses namespaces that there are not.
func (r *Runner) spaces(ns []string) error {
	if len(ns) == 0 {
		return nil
	}
	config, err := r.Tools.Config(context.Background(), api.ConfigInput{})
	if err != nil {
		return err
	}
	var names []string
	for _, s := range config.Servers {
		if !s.Disabled {
			names = append(names, s.Name)
		}
	}
	for _, name := range ns {
		if !slices.Contains(names, name) {
			return fault.NotFoundf("there is no namespace %q", name).Hintf("there are %s", strings.Join(names, ", "))
		}
	}
	return nil
}

// play is one script with those around it.
type play struct {
	r       *Runner
	id      string
	in      api.ExecInput
	streams api.Streams
	tell    *telling
	all     *api.ExecOutput // what was printed, emitted, called and kept so far
}

// play runs the phases in their order.
func (p *play) play(ctx context.Context) (*api.ExecOutput, error) {
	p.all = &api.ExecOutput{}
	p.tell.frame(api.Frame{Type: "start", RunID: p.id})
	var out *api.ExecOutput
	for i, source := range p.in.Phases.Before {
		hooked, err := p.around(ctx, phaseBefore, i, source, &api.ExecOutput{})
		if err != nil {
			return nil, err
		}
		p.tell.frame(hookFrame(phaseBefore, hooked))
		if failed(hooked) {
			out = hooked
			out.Value, out.Implied = nil, false
			break
		}
	}
	if out == nil {
		var err error
		if out, err = p.r.once(ctx, p.id, p.in, p.streams, p.tell); err != nil {
			return nil, err
		}
		p.add(out)
		p.tell.flush()
		out = p.outcome(ctx, out)
	}
	k := &kept{store: artifact.In(p.r.Artifacts, p.r.Settings), tell: p.tell}
	if media := p.r.media(p.in, k); media != nil && out.Value != nil {
		out.Value = media(ctx, out.Value)
		p.all.Artifacts = append(p.all.Artifacts, k.all()...)
		p.all.Warnings = append(p.all.Warnings, k.warnings()...)
	}
	if p.in.Output == api.OutputStructured && out.Value == nil && out.Error == nil {
		if text := strings.TrimSpace(p.all.Stdout); text != "" && json.Valid([]byte(text)) {
			out.Value, out.Implied = json.RawMessage(text), true
		}
	}
	if len(p.in.Phases.Suffix) > 0 && p.tell != nil {
		p.tell.outcome(out)
	}
	for i, source := range p.in.Phases.Suffix {
		hooked, err := p.around(ctx, phaseSuffix, i, source, out)
		if err != nil {
			return nil, err
		}
		p.tell.frame(hookFrame(phaseSuffix, hooked))
		if failed(hooked) && !failed(out) {
			out.ExitCode = hooked.ExitCode
			if hooked.Error != nil {
				out.Warnings = append(out.Warnings, "suffix: "+hooked.Error.Message)
			}
		}
	}
	p.give(out)
	return out, nil
}

// outcome has the scripts for success or for errors see how the run ended.
func (p *play) outcome(ctx context.Context, out *api.ExecOutput) *api.ExecOutput {
	phase, sources := phaseOnSuccess, p.in.Phases.OnSuccess
	if failed(out) {
		phase, sources = phaseOnError, p.in.Phases.OnError
	}
	for i, source := range sources {
		hooked, err := p.around(ctx, phase, i, source, out)
		if err != nil {
			hooked = &api.ExecOutput{Error: fault.ReportOf(err), ExitCode: fault.KindOf(err).ExitCode()}
		}
		f := hookFrame(phase, hooked)
		switch {
		case failed(hooked):
			if hooked.Error != nil {
				f.OriginalError, f.Original = out.Error, out.Value
			}
			out.Error, out.ExitCode, out.Value, out.Implied, out.Notes = hooked.Error, hooked.ExitCode, nil, false, nil
		case hooked.Value != nil:
			f.Value, f.Original, f.OriginalError = hooked.Value, out.Value, out.Error
			out.Value, out.Implied, out.Notes = hooked.Value, false, hooked.Notes
			out.Error, out.ExitCode = nil, 0
		}
		p.tell.frame(f)
	}
	return out
}

func failed(out *api.ExecOutput) bool { return out.Error != nil || out.ExitCode != 0 }

func hookFrame(phase string, out *api.ExecOutput) api.Frame {
	ok := !failed(out)
	return api.Frame{Type: "hook", Phase: phase, OK: &ok, Error: out.Error, ExitCode: &out.ExitCode, Millis: &out.Millis}
}

// around runs one script around the run, which is told how it stands.
func (p *play) around(ctx context.Context, phase string, i int, source string, so *api.ExecOutput) (*api.ExecOutput, error) {
	hook, err := json.Marshal(struct {
		Phase    string          `json:"phase"`
		Value    json.RawMessage `json:"value,omitempty"`
		Error    *fault.Report   `json:"error,omitempty"`
		ExitCode int             `json:"exitCode"`
	}{phase, so.Value, so.Error, so.ExitCode})
	if err != nil {
		return nil, fault.Internalf("telling the phase %s: %w", phase, err)
	}
	if len(hook) > maxHook {
		return nil, fault.Limitf("the value is too large for the phase %s: it has %d bytes, %d are taken", phase, len(so.Value), maxHook)
	}
	in := p.in
	in.Name, in.Code, in.File, in.Expression, in.Export = fmt.Sprintf("%s:%d", phase, i+1), source, "", true, ""
	in.Phases, in.Placeholders = api.Phases{}, nil
	streams := p.streams
	streams.Stdin = nil
	tell := p.tell
	if tell == nil {
		tell = newTelling(nil, func(error) {})
	}
	tell.hook = hook
	begin := time.Now()
	out, err := p.r.once(ctx, p.id, in, streams, tell)
	tell.hook = nil
	if err != nil {
		return nil, err
	}
	tell.flush()
	out.Millis = time.Since(begin).Milliseconds()
	p.add(out)
	return out, nil
}

// add gathers what one script has left besides its value.
func (p *play) add(out *api.ExecOutput) {
	a := p.all
	a.Printed = a.Printed || out.Printed
	a.Stdout += out.Stdout
	a.Stderr += out.Stderr
	a.Spilled = append(a.Spilled, out.Spilled...)
	a.Emits = append(a.Emits, out.Emits...)
	a.Logs = append(a.Logs, out.Logs...)
	a.Artifacts = append(a.Artifacts, out.Artifacts...)
	a.Denials = append(a.Denials, out.Denials...)
	a.Warnings = append(a.Warnings, out.Warnings...)
}

// give puts what was gathered into the output of the run.
func (p *play) give(out *api.ExecOutput) {
	a := p.all
	out.RunID, out.Printed, out.Stdout, out.Stderr, out.Denials = p.id, a.Printed, a.Stdout, a.Stderr, a.Denials
	for _, w := range out.Warnings {
		if !slices.Contains(a.Warnings, w) {
			a.Warnings = append(a.Warnings, w)
		}
	}
	out.Warnings, out.Spilled = a.Warnings, a.Spilled
	out.Emits = append([]json.RawMessage{}, a.Emits...)
	out.Logs = append([]api.Log{}, a.Logs...)
	out.Artifacts = append([]api.Artifact{}, a.Artifacts...)
	out.Calls = []api.ToolCall{}
	if p.tell != nil {
		out.Calls = append(out.Calls, p.tell.noted()...)
	}
	restore(out.Error, p.in.Placeholders)
}

// outcome tells the value or the error, once.
func (t *telling) outcome(out *api.ExecOutput) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.over = true
	if out.Error != nil {
		t.send(api.Frame{Type: "error", Error: out.Error})
		return
	}
	t.send(api.Frame{Type: "result", Value: out.Value, Implied: out.Implied, Notes: out.Notes})
}

func (t *telling) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

package run

import (
	"context"
	"encoding/json"

	"mcpx/engine"
	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
	"mcpx/internal/worker"
)

// Bundle makes one text of a script and the files that it imports, which runs as the script
// does. What it may import is what a run of it might. The error is of package fault: what is
// wrong with the script is of kind usage, and has its place in the detail at.
func (r *Runner) Bundle(ctx context.Context, in api.ExecInput) (*api.BundleOutput, error) {
	made, err := r.make(ctx, in, worker.Run{Make: worker.MakeBundle})
	if err != nil {
		return nil, err
	}
	return &api.BundleOutput{Code: made.Code}, nil
}

// Whole is the text of a script with what it imports, to be run elsewhere with the same
// placeholders. A script that cannot be made one has the report that a run of it had.
func (r *Runner) Whole(ctx context.Context, in api.ExecInput) (code string, report *fault.Report, err error) {
	if len(in.Placeholders) > 0 {
		if in.Code, err = fill(in.Code, in.Placeholders); err != nil {
			return "", nil, fault.From(err)
		}
	}
	made, report, err := r.made(ctx, in, worker.Run{Make: worker.MakeBundle})
	if made == nil {
		restore(report, in.Placeholders)
		return "", report, err
	}
	return made.Code, nil, nil
}

// make has a worker make something of a script.
func (r *Runner) make(ctx context.Context, in api.ExecInput, head worker.Run) (*engine.Bundled, error) {
	made, report, err := r.made(ctx, in, head)
	if report != nil {
		err = errorOf(report)
	}
	return made, err
}

// made is make, with the report of a script of which nothing can be made.
func (r *Runner) made(ctx context.Context, in api.ExecInput, head worker.Run) (*engine.Bundled, *fault.Report, error) {
	set, err := r.grants(in)
	if err != nil {
		return nil, nil, fault.From(err)
	}
	budget := r.budget()
	if budget.source > 0 && int64(len(in.Code)) > budget.source {
		return nil, nil, budget.exceeded(limitSource)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, settings.ExecTimeout.Get(r.Settings), fault.Timeoutf("making one text of the script took too long"))
	defer cancel()
	reads := in.File != "" && !set.Imports.None() && mayImport(in.Code)
	s := r.take(reads)
	if s.err != nil {
		return nil, nil, fault.From(s.err)
	}
	defer s.child.Close()
	head.Name, head.File, head.Expression = in.Name, in.File, in.Expression
	head.Ambient = ambient(r.Lookup, "/", nil, api.Streams{})
	head.InFlight, head.MaxBody = settings.LimitsInFlight.Get(r.Settings), settings.LimitsResult.Get(r.Settings)
	head.Limits = worker.Limits{Memory: budget.memory, CPU: budget.cpu}
	if reads {
		head.Imports, head.Reads = set.Imports, set.Read
	}
	b := newBroker(s.child, nil, nil, head, api.Streams{})
	b.budget, b.build = budget, r.Build
	if b.build == "" {
		b.build = worker.Build()
	}
	if r.Log != nil {
		b.log = r.Log
	}
	out, err := b.run(ctx, head, in.Code)
	switch {
	case err != nil:
		return nil, nil, fault.From(err)
	case out.Error != nil:
		return nil, out.Error, nil
	case out.Value == nil:
		return nil, nil, fault.From(context.Canceled)
	}
	made := &engine.Bundled{}
	if err := json.Unmarshal(out.Value, made); err != nil {
		return nil, nil, fault.Internalf("reading what was made of the script: %w", err)
	}
	return made, nil, nil
}

// errorOf is a report as an error.
func errorOf(r *fault.Report) *fault.Error {
	e := fault.New(r.Kind, "%s", r.Message)
	if r.Hint != "" {
		e = e.Hintf("%s", r.Hint)
	}
	for k, v := range r.Details {
		e = e.With(k, v)
	}
	if r.At != nil {
		e = e.With("at", r.At)
	}
	return e
}

// Profile is the profile that a run would begin with.
func (r *Runner) Profile(in api.ExecInput) (string, error) {
	set, err := r.grants(in)
	if err != nil {
		return "", fault.From(err)
	}
	return set.Profile, nil
}

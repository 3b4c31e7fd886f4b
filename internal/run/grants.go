package run

import (
	"errors"
	"slices"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/settings"
)

// grants makes the Set of a run: what the caller asks for it, on top of what the settings
// say for those who ask for nothing. A foreign caller gets no more than those.
func (r *Runner) grants(in api.ExecInput) (grant.Set, error) {
	set, err := r.bound(in)
	if err != nil || !r.Foreign {
		return set, err
	}
	most, err := r.asked(api.ExecInput{})
	if err != nil {
		return set, err
	}
	return grant.Narrow(set, most), nil
}

// bound is what a run asks for, which is denied if it is more than in.Most.
func (r *Runner) bound(in api.ExecInput) (grant.Set, error) {
	if in.Most == nil {
		return r.asked(in)
	}
	own := in
	own.Permissions, own.Allow, own.Deny = in.Most.Profile, in.Most.Allow, in.Most.Deny
	most, err := r.asked(own)
	if err != nil {
		return grant.Set{}, err
	}
	var set grant.Set
	if in.Permissions != "" {
		set, err = r.asked(in)
	} else {
		set, err = most.Further(grant.Request{Allow: in.Allow, Deny: in.Deny}, grant.Place{Dir: r.Dir, File: in.File, Home: r.Home})
	}
	if err != nil {
		return grant.Set{}, err
	}
	return set.Within(most)
}

func (r *Runner) asked(in api.ExecInput) (grant.Set, error) {
	said := settings.ScriptPermissions.Said(r.Settings)
	p := r.Profiles
	p.Default = grant.Default
	for _, by := range []struct {
		given *settings.Given[string]
		to    *string
	}{{said.User, &p.Default}, {said.Project, &p.Guest}, {said.Asked, &in.Permissions}} {
		asked := in.Permissions != "" || said.Asked != nil
		if by.given == nil || by.to == &in.Permissions && in.Permissions != "" || by.to == &p.Guest && asked {
			continue
		}
		if err := p.Check(by.given.Value); err != nil {
			e := *fault.From(err)
			e.Message = by.given.Origin + ": " + e.Message
			return grant.Set{}, &e
		}
		*by.to = by.given.Value
	}
	return p.Resolve(
		grant.Request{Profile: in.Permissions, Allow: in.Allow, Deny: in.Deny},
		grant.Place{Dir: r.Dir, File: in.File, Home: r.Home},
	)
}

// ToolGrant is what a run would be granted to call; nil is everything. The error is that
// of a run which asks for what it cannot be given.
func (r *Runner) ToolGrant(in api.ExecInput) (*api.ToolGrant, error) {
	set, err := r.grants(in)
	if err != nil {
		return nil, fault.From(err)
	}
	return (&effects{set: set}).toolGrant(), nil
}

// maxDenials is how many things that were denied are remembered.
const maxDenials = 100

// denials are the things that a run asked for and was not granted, each once.
type denials struct {
	mu   sync.Mutex
	list []api.Denial
}

// note remembers err if it is a denial, and reports whether it is one that is new.
func (d *denials) note(err error) (api.Denial, bool) {
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Denied {
		return api.Denial{}, false
	}
	text := func(key string) string { s, _ := e.Details[key].(string); return s }
	n := api.Denial{Grant: text("grant"), Thing: text("thing"), Flag: text("flag")}
	if n.Grant == "" {
		return n, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.list) >= maxDenials || slices.Contains(d.list, n) {
		return n, false
	}
	d.list = append(d.list, n)
	return n, true
}

func (d *denials) all() []api.Denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}

// explain adds to a denial that nothing helps against what was taken away, where
// something of its grant was: which of the two it is, is not told, unless all else is allowed.
func (e *effects) explain(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Denied {
		return err
	}
	name, _ := f.Details["grant"].(string)
	if !e.set.TakesAway(name) {
		return err
	}
	told := *f
	if e.set.AllElse(name) {
		told.Hint = "--deny-" + name + " or a profile takes it away, and no --allow-" + name + " gives it back"
	} else {
		told.Hint += "; what --deny-" + name + " or a profile takes away stays away"
	}
	return &told
}

package settings

import (
	"fmt"
	"maps"
	"slices"

	"mcpx/internal/fault"
)

// Asked returns what flags and variables say, as it was written, by path: what travels
// with the requests of this process. A flag wins over a variable.
func (s *Set) Asked() map[string]string {
	out := map[string]string{}
	for path := range s.values() {
		if v, ok := s.asked(path); ok {
			out[path] = v.text
		}
	}
	return out
}

// Travels is what of those goes with a request: the settings that are about one call.
func Travels(asked map[string]string) map[string]string {
	out := map[string]string{}
	for path, text := range asked {
		if d := byPath(path); d != nil && d.scope() == Call {
			out[path] = text
		}
	}
	return out
}

// With returns what s says to a caller: what its files and the process itself were given,
// and over that what the caller's flags and variables say. Only what is about a call can be
// said by a caller; anything else is an error of kind Usage. s stays as it is, and may be nil.
func (s *Set) With(asked map[string]string) (*Set, error) {
	out := &Set{}
	if s != nil {
		for path, values := range s.values() {
			for _, v := range values {
				if v.level != environment && v.level != flagged {
					out.add(path, v)
				}
			}
			if v, ok := s.asked(path); ok {
				v.level, v.origin = served, v.origin+" of the daemon"
				out.add(path, v)
			}
		}
	}
	var errs []*fault.Error
	for _, path := range slices.Sorted(maps.Keys(asked)) {
		d := byPath(path)
		if d == nil {
			errs = append(errs, unknown("the caller", path))
			continue
		}
		if d.scope() != Call {
			errs = append(errs, fault.Usagef("the caller: %s is not about one call, and cannot be given with a request", path).
				Hintf("mcpx settings get %s says what is in force", path))
			continue
		}
		value, p := d.read(asked[path])
		if p != nil {
			errs = append(errs, fault.Usagef("the caller: %s: %s", path, p.what).Hintf("%s", p.hint))
			continue
		}
		out.add(path, given{flagged, "the caller", asked[path], value})
	}
	return out, join(errs)
}

// Unheeded says, a sentence each, what of that which a caller asks for is not in force in s,
// although it is a value of its setting: s allows less, or was told otherwise.
func (s *Set) Unheeded(asked map[string]string) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(asked)) {
		d := byPath(path)
		if d == nil {
			continue
		}
		value, p := d.read(asked[path])
		if p != nil {
			continue
		}
		got, said := s.inForce(d)
		wanted, is := d.write(value), d.write(got.value)
		switch {
		case wanted == is:
		case said:
			out = append(out, fmt.Sprintf("the caller asks for %s of %s; %s is in force, by %s", wanted, path, is, got.origin))
		default:
			out = append(out, fmt.Sprintf("the caller asks for %s of %s; %s is in force, by default", wanted, path, is))
		}
	}
	return out
}

// Below is as With, for a caller that is not known to be the user: what can only be
// tightened stays within what s says, or the default.
func (s *Set) Below(asked map[string]string) (*Set, error) {
	all, err := s.With(asked)
	if err != nil {
		return nil, err
	}
	base, err := s.With(nil)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(asked)
	for path := range asked {
		d := byPath(path)
		// A profile is not more or less than another by its name: a run narrows the one that it
		// is asked for, and goes by what is said here otherwise.
		if !d.ceiling() && d.project() == Anything && path != ScriptPermissions.path() {
			continue
		}
		wanted, _ := all.inForce(d)
		allowed, _ := base.inForce(d)
		if !d.tighter(wanted.value, allowed.value) {
			delete(out, path)
		}
	}
	return s.With(out)
}

package settings

import (
	"maps"
	"slices"

	"mcpx/internal/fault"
)

// byRuntime is the origin of what was set while the daemon runs.
const byRuntime = "mcpx settings set"

// Runtime returns what was set while the daemon runs, as it was written, by path.
func (s *Set) Runtime() map[string]string {
	out := map[string]string{}
	for path := range s.values() {
		if v, ok := s.first(path, runtime); ok {
			out[path] = v.text
		}
	}
	return out
}

// Override puts these values, by path, in the place of all that were set at runtime. Those
// of a version that knows other settings are left out.
func (s *Set) Override(values map[string]string) {
	next := map[string][]given{}
	for path, held := range s.values() {
		next[path] = slices.DeleteFunc(slices.Clone(held), func(v given) bool { return v.level == runtime })
	}
	for path, text := range values {
		d := byPath(path)
		if d == nil {
			continue
		}
		if value, p := d.read(text); p == nil {
			next[path] = append(next[path], given{runtime, byRuntime, text, value})
		}
	}
	s.held.Store(&next)
}

// Become has s say what next says from now on, but for the cold settings of a daemon: those
// stay as they are until it is started again.
func (s *Set) Become(next *Set) {
	now, then := s.values(), maps.Clone(next.values())
	if then == nil {
		then = map[string][]given{}
	}
	for _, d := range registry {
		if path := d.path(); d.scope() == Daemon && !d.hot() {
			if held, ok := now[path]; ok {
				then[path] = held
			} else {
				delete(then, path)
			}
		}
	}
	s.held.Store(&then)
}

// Overridden returns the values set at runtime with one more, or one other. s stays as it
// is. The error is of kind Usage if there is no such setting, if the value is none of its
// values, if it is not read again while the daemon runs, or if it is a ceiling and the value
// allows more than what has been set.
func (s *Set) Overridden(path, text string) (map[string]string, error) {
	d := byPath(path)
	if d == nil {
		return nil, unknown("mcpx settings set", path)
	}
	value, p := d.read(text)
	if p != nil {
		return nil, fault.Usagef("%s: %s", path, p.what).Hintf("%s", p.hint)
	}
	if err := changeable(d); err != nil {
		return nil, err
	}
	out := s.Runtime()
	delete(out, path)
	if d.ceiling() {
		base := s.overriding(out)
		if bound, ok := base.inForce(d); ok && d.tighter(bound.value, value) {
			return nil, fault.Usagef("%s can only be tightened: %s says %s, and %s allows more", path, bound.origin, bound.text, text).
				Hintf("change it there")
		}
	}
	out[path] = d.write(value)
	return out, nil
}

// changeable reports why a setting cannot be changed while a daemon runs.
func changeable(d declared) error {
	path := d.path()
	i := d.info()
	switch {
	case d.scope() == Client:
		return fault.Usagef("%s is read by each command before it asks the daemon, so that there is nothing to set there", path).
			Hintf("%s sets it for a command, and --persist user for all of them", i.Env)
	case !d.hot():
		return fault.Usagef("%s is read when the daemon starts, and cannot be changed while it runs", path).
			Hintf("write it into your file with --persist user, and then start the daemon again: mcpx daemon restart")
	}
	return nil
}

// Restored returns the values set at runtime without one, and whether it was there.
func (s *Set) Restored(path string) (map[string]string, bool, error) {
	if byPath(path) == nil {
		return nil, false, unknown("mcpx settings unset", path)
	}
	out := s.Runtime()
	_, was := out[path]
	delete(out, path)
	return out, was, nil
}

// overriding is s with other values set at runtime.
func (s *Set) overriding(values map[string]string) *Set {
	out := &Set{}
	if s != nil {
		out.held.Store(s.held.Load())
	}
	out.Override(values)
	return out
}

// Loosens reports whether other values set at runtime would allow more, or something else,
// than s does. Somebody who is not known to be the user may not do that.
func (s *Set) Loosens(values map[string]string) bool {
	next := s.overriding(values)
	return slices.ContainsFunc(registry, func(d declared) bool {
		now, _ := s.inForce(d)
		then, _ := next.inForce(d)
		return d.write(now.value) != d.write(then.value) && !d.tighter(then.value, now.value)
	})
}

// OfDaemon returns what is in force of the settings that a daemon runs by, by path.
func (s *Set) OfDaemon() map[string]string {
	out := map[string]string{}
	for _, d := range registry {
		if d.scope() == Daemon {
			v, _ := s.inForce(d)
			out[d.path()] = d.write(v.value)
		}
	}
	return out
}

// Canonical writes a value as settings are written: 300s is 5m.
func Canonical(path, text string) (string, error) {
	d := byPath(path)
	if d == nil {
		return "", unknown("mcpx settings set", path)
	}
	value, p := d.read(text)
	if p != nil {
		return "", fault.Usagef("%s: %s", path, p.what).Hintf("%s", p.hint)
	}
	return d.write(value), nil
}

// ForProject reports whether a project's file has a say in a setting.
func ForProject(path string) bool {
	d := byPath(path)
	return d != nil && (d.ceiling() || d.project() != Nothing)
}

// IsBare reports whether the values of a setting stand without quotes in JSON: numbers, true
// and false.
func IsBare(path string) bool {
	d := byPath(path)
	if d == nil {
		return false
	}
	i := d.info()
	return i.Type == "integer" || i.Type == "port" || slices.Contains(i.Words, "true")
}

package settings

import "maps"

// Most is the most that a run is given of what one setting bounds.
type Most struct {
	of    declared
	value any
	by    declared
}

// Most says that a run is given at most a value of k, which is what another setting says.
func (k *Key[T]) Most(value T, by *Key[T]) Most { return Most{k, value, by} }

// Within is s for a run that other settings bound: what they say is in the place of what s
// says, but for what of that allows less. Where such a setting has its default, that gives
// way to what the caller itself asks for, if user says that this is the user. s stays as it
// is, and may be nil.
func (s *Set) Within(user bool, bounds ...Most) *Set {
	next := map[string][]given{}
	if s == nil {
		s = &Set{}
	}
	maps.Copy(next, s.values())
	for _, m := range bounds {
		path := m.of.path()
		own, said := s.inForce(m.of)
		_, asked := s.first(path, flagged)
		switch {
		case said && m.of.tighter(own.value, m.value):
		case user && asked && s.isDefault(m.by):
		default:
			next[path] = []given{{runtime, m.by.path(), m.by.write(m.value), m.value}}
		}
	}
	out := &Set{}
	out.held.Store(&next)
	return out
}

// Raise is the path of the setting that gives a run more of k: k, or what bounds it in its
// place.
func (k *Key[T]) Raise(s *Set) string {
	if s != nil {
		if v, ok := s.inForce(k); ok && IsPath(v.origin) {
			return v.origin
		}
	}
	return k.path()
}

// Held says why no flag gives a run more of k, and what does: mcpx settings set, or for a
// ceiling a file or the daemon, has said how much it is. Empty if a flag does.
func (k *Key[T]) Held(s *Set) string {
	if s == nil {
		return ""
	}
	v, said := s.inForce(k)
	switch {
	case !said || IsPath(v.origin) || v.level == flagged || v.level == environment:
		return ""
	case v.level == runtime:
		return byRuntime + " says so; take it back with mcpx settings unset " + k.path()
	case k.ceiling():
		return v.origin + " says so, and no flag allows more; change it there"
	}
	return ""
}

// IsDefault reports whether the default is in force: nobody who may says otherwise.
func (k *Key[T]) IsDefault(s *Set) bool { return s == nil || s.isDefault(k) }

func (s *Set) isDefault(d declared) bool {
	_, said := s.inForce(d)
	return !said
}

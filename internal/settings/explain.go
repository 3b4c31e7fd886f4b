package settings

import "slices"

// Layer says which kind of source a value has.
type Layer string

// The layers, lowest first.
const (
	ByDefault Layer = "default"
	ByFile    Layer = "file"
	ByEnv     Layer = "environment"
	ByFlag    Layer = "flag"
	ByRuntime Layer = "runtime"
)

// Value is what one source says about a setting.
type Value struct {
	Text    string
	Layer   Layer
	Origin  string // FILE:LINE:COLUMN, the variable, the flag or the command; empty for a default
	Project bool   // by a file of a project that the user does not vouch for
	Daemon  bool   // by what the daemon was started with
}

// Explained is a setting with the value in force, and with those that it displaced, the
// highest first.
type Explained struct {
	Info
	Value
	Displaced []Value
}

// Explain says what is in force of a setting, and why. The error is of kind Usage if there
// is no setting of that path, and names the nearest.
func (s *Set) Explain(path string) (Explained, error) {
	d := byPath(path)
	if d == nil {
		return Explained{}, unknown("settings", path)
	}
	return s.explain(d), nil
}

// ExplainAll explains every setting, in the order of their paths.
func (s *Set) ExplainAll() []Explained {
	out := make([]Explained, 0, len(registry))
	for _, i := range All() {
		out = append(out, s.explain(byPath(i.Path)))
	}
	return out
}

func (s *Set) explain(d declared) Explained {
	out := Explained{Info: d.info(), Value: Value{Text: d.write(nil), Layer: ByDefault}}
	if s == nil {
		return out
	}
	got, ok := s.inForce(d)
	if ok {
		out.Value = shown(d, got)
	}
	held := slices.Clone(s.values()[d.path()])
	slices.SortStableFunc(held, func(a, b given) int { return int(b.level - a.level) })
	for _, v := range held {
		if v.level != got.level || v.origin != got.origin || v.value != got.value {
			out.Displaced = append(out.Displaced, shown(d, v))
		}
	}
	if ok {
		out.Displaced = append(out.Displaced, Value{Text: d.write(nil), Layer: ByDefault})
	}
	return out
}

func shown(d declared, v given) Value {
	out := Value{Text: d.write(v.value), Origin: v.origin, Layer: ByFile}
	switch v.level {
	case userFile:
	case projectFile:
		out.Project = true
	case served:
		out.Layer, out.Daemon = ByEnv, true
	case environment:
		out.Layer = ByEnv
	case flagged:
		out.Layer = ByFlag
	case runtime:
		out.Layer = ByRuntime
	}
	return out
}

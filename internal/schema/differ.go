package schema

import (
	"bytes"
	"encoding/json"
)

// Difference is one way in which two versions of a schema differ. Before and After are
// types in TypeScript; of what was not there, or is not any more, they are empty.
type Difference struct {
	Kind   DifferenceKind `json:"kind"`
	Field  string         `json:"field,omitempty"` // the member: a, a.b, a[].b; empty for the whole
	Before string         `json:"before,omitempty"`
	After  string         `json:"after,omitempty"`
}

// DifferenceKind says what happened to a member.
type DifferenceKind string

// The kinds of differences.
const (
	Added    DifferenceKind = "added"    // it may be given
	Required DifferenceKind = "required" // it must be given, and needed not before or was not there
	Optional DifferenceKind = "optional" // it need not be given any more
	Removed  DifferenceKind = "removed"
	Retyped  DifferenceKind = "retyped"
	Reworded DifferenceKind = "reworded" // no type shows it: descriptions, formats, bounds
)

// Bounds of what is told of two schemas.
const (
	maxDifferences = 50
	differDepth    = 4
	differText     = 120
)

// Differences compares two versions of a schema, member by member as far as both are
// of objects. It returns none if they are the same but for space and the order of
// members within objects.
func Differences(before, after json.RawMessage) []Difference {
	if Same(before, after) {
		return nil
	}
	d := differ{before: compilerOf(before), after: compilerOf(after), open: map[[2]*value]bool{}}
	switch {
	case d.before == nil && d.after == nil:
		return []Difference{{Kind: Reworded}}
	case d.before == nil:
		return []Difference{{Kind: Added, After: d.after.brief(rootOf(d.after), argument, differText)}}
	case d.after == nil:
		return []Difference{{Kind: Removed, Before: d.before.brief(rootOf(d.before), argument, differText)}}
	}
	d.shapes("", rootOf(d.before), rootOf(d.after), 0)
	if len(d.found) == 0 {
		return []Difference{{Kind: Reworded}}
	}
	return d.found
}

// Same reports whether two texts are the same JSON but for space, the order of members
// and how strings and numbers are spelled.
func Same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, xok := parse(a)
	y, yok := parse(b)
	return xok && yok && equal(x, y)
}

// differ compares the shapes of two schemas.
type differ struct {
	before, after *compiler
	found         []Difference
	open          map[[2]*value]bool // pairs of parts that are being compared: what contains itself is told once
}

func (d *differ) add(kind DifferenceKind, field string, before, after *shape) {
	if len(d.found) >= maxDifferences {
		return
	}
	difference := Difference{Kind: kind, Field: field}
	if before != nil {
		difference.Before = d.before.brief(before, argument, differText)
	}
	if after != nil {
		difference.After = d.after.brief(after, argument, differText)
	}
	d.found = append(d.found, difference)
}

func (d *differ) shapes(field string, before, after *shape, depth int) {
	if before.form == named && after.form == named {
		pair := [2]*value{before.target, after.target}
		if d.open[pair] {
			return
		}
		d.open[pair] = true
		defer delete(d.open, pair)
	}
	x, xok := d.before.behind(before)
	y, yok := d.after.behind(after)
	if depth < differDepth && xok && yok {
		switch {
		case x.form == object && y.form == object:
			d.members(field, x, y, depth)
			return
		case x.form == list && y.form == list && x.rest != nil && y.rest != nil:
			d.shapes(field+"[]", x.rest, y.rest, depth+1)
			return
		}
	}
	if d.before.brief(before, argument, differText) != d.after.brief(after, argument, differText) {
		d.add(Retyped, field, before, after)
	}
}

func (d *differ) members(field string, before, after *shape, depth int) {
	if field != "" {
		field += "."
	}
	of := make(map[string]*prop, len(after.props))
	for i := range after.props {
		of[after.props[i].name] = &after.props[i]
	}
	was := make(map[string]bool, len(before.props))
	for i := range before.props {
		old := &before.props[i]
		was[old.name] = true
		now, ok := of[old.name]
		if !ok {
			d.add(Removed, field+printable(old.name, 80), old.shape, nil)
			continue
		}
		d.shapes(field+printable(old.name, 80), old.shape, now.shape, depth+1)
		switch {
		case now.required && !old.required:
			d.add(Required, field+printable(old.name, 80), old.shape, now.shape)
		case old.required && !now.required:
			d.add(Optional, field+printable(old.name, 80), old.shape, now.shape)
		}
	}
	for i := range after.props {
		m := &after.props[i]
		switch {
		case was[m.name]:
		case m.required:
			d.add(Required, field+printable(m.name, 80), nil, m.shape)
		default:
			d.add(Added, field+printable(m.name, 80), nil, m.shape)
		}
	}
	if rest := func(s *shape) *shape {
		if s.rest == nil {
			return neverShape
		}
		return s.rest
	}; len(before.props)+len(after.props) == 0 {
		d.shapes(field+"*", rest(before), rest(after), depth+1)
	}
}

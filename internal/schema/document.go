package schema

import (
	"net/url"
	"strconv"
	"strings"
)

// document is a schema with its references resolved. A part of it is a *value, and
// two references to the same part give the same pointer.
type document struct {
	root *value
	refs map[*value]*value   // a part with a reference → the part that it refers to, nil if there is none
	defs map[string]*value   // definitions by name, nil if there are several, once one is looked for
	ids  map[string]*value   // parts by identifier or anchor, once one is asked for
	cut  map[[2]*value]bool  // steps between parts that would lead round in a circle without leaving the value described
	uses map[*value]int      // how many references lead to a part
	ring map[*value]bool     // parts that contain themselves through references
	at   map[*value]string   // the last word of the pointer that first led to a part
	mark map[*value]progress // of the walks below
	over []*value            // the parts that the walk over everything has come to by reference and is still in
}

type progress uint8

const (
	underWay progress = 1 << iota // of the walk over everything
	finished
	inPlaceUnderWay // of the walk over what describes the same value
	inPlaceFinished
)

func newDocument(root *value) *document {
	return &document{
		root: root,
		refs: map[*value]*value{},
		cut:  map[[2]*value]bool{},
		uses: map[*value]int{},
		ring: map[*value]bool{},
		at:   map[*value]string{},
		mark: map[*value]progress{},
	}
}

// isSchema reports whether a value can be a schema.
func isSchema(v *value) bool { return v.is(kindObject | kindBoolean) }

// walk visits everything that a schema can describe: it counts references and finds
// the parts that contain themselves.
func (d *document) walk(v *value) {
	if !isSchema(v) || d.mark[v]&(underWay|finished) != 0 {
		return
	}
	d.mark[v] |= underWay
	d.circles(v)
	if target := d.target(v); target != nil {
		d.uses[target]++
		if d.mark[target]&underWay != 0 {
			d.ring[target] = true
		}
		d.over = append(d.over, target)
		d.walk(target)
		d.over = d.over[:len(d.over)-1]
	}
	for part := range d.parts(v) {
		if d.mark[part]&underWay != 0 && len(d.over) > 0 {
			// A reference led into the middle of what is walked here, so what was last
			// come to by reference is on the way round.
			d.ring[d.over[len(d.over)-1]] = true
		}
		d.walk(part)
	}
	d.mark[v] = d.mark[v]&^underWay | finished
}

// circles marks the steps at which parts that describe the same value come back to
// where they started: {"$ref":"#"} says nothing, and must not be followed for ever.
func (d *document) circles(v *value) {
	if !isSchema(v) || d.mark[v]&(inPlaceUnderWay|inPlaceFinished) != 0 {
		return
	}
	d.mark[v] |= inPlaceUnderWay
	step := func(to *value) {
		if d.mark[to]&inPlaceUnderWay != 0 {
			d.cut[[2]*value{v, to}] = true
			return
		}
		d.circles(to)
	}
	if target := d.target(v); target != nil {
		step(target)
	}
	for part := range inPlace(v) {
		step(part)
	}
	d.mark[v] = d.mark[v]&^inPlaceUnderWay | inPlaceFinished
}

// isCut reports whether the step from one part to another is to be left out.
func (d *document) isCut(from, to *value) bool {
	d.circles(from)
	return d.cut[[2]*value{from, to}]
}

// inPlace yields the parts that describe the same value as v, other than by reference.
func inPlace(v *value) func(yield func(*value) bool) {
	return func(yield func(*value) bool) {
		for _, key := range [...]string{"allOf", "anyOf", "oneOf", "extends", "type"} {
			m := v.get(key)
			if key == "extends" && m.is(kindObject) && !yield(m) {
				return
			}
			if !m.is(kindArray) {
				continue
			}
			for i := range m.items {
				if isSchema(&m.items[i]) && !yield(&m.items[i]) {
					return
				}
			}
		}
		conditional(v)(yield)
	}
}

// conditional yields the parts that describe the same value as v if something holds.
func conditional(v *value) func(yield func(*value) bool) {
	return func(yield func(*value) bool) {
		for _, key := range [...]string{"then", "else"} {
			if m := v.get(key); m.is(kindObject) && !yield(m) {
				return
			}
		}
		for _, key := range [...]string{"dependentSchemas", "dependencies"} {
			for _, m := range v.get(key).distinct() {
				if m.value.is(kindObject) && !yield(&m.value) {
					return
				}
			}
		}
	}
}

// parts yields every part of v that is a schema and has a bearing on types.
func (d *document) parts(v *value) func(yield func(*value) bool) {
	return func(yield func(*value) bool) {
		for part := range inPlace(v) {
			if !yield(part) {
				return
			}
		}
		for _, key := range [...]string{"properties", "patternProperties"} {
			if m := v.get(key); m.is(kindObject) {
				for i := range m.members {
					if part := &m.members[i].value; isSchema(part) && !yield(part) {
						return
					}
				}
			}
		}
		for _, key := range [...]string{"additionalProperties", "unevaluatedProperties", "items", "prefixItems", "additionalItems"} {
			m := v.get(key)
			if isSchema(m) && !yield(m) {
				return
			}
			if m.is(kindArray) {
				for i := range m.items {
					if isSchema(&m.items[i]) && !yield(&m.items[i]) {
						return
					}
				}
			}
		}
	}
}

// reference returns the text of v's reference, or "".
func reference(v *value) string {
	for _, key := range [...]string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if m := v.get(key); m.is(kindString) {
			return m.str
		}
	}
	return ""
}

// target returns the part that v refers to, or nil. A reference to what is nothing
// but another reference counts as that other one.
func (d *document) target(v *value) *value {
	if t, ok := d.refs[v]; ok {
		return t
	}
	ref := reference(v)
	if ref == "" {
		return nil
	}
	d.refs[v] = nil // what leads back here refers to nothing
	t := d.find(ref)
	if t != nil && reference(t) != "" && isOnlyReference(t) {
		name := d.at[t]
		if t = d.target(t); t != nil && d.at[t] == "" {
			d.at[t] = name
		}
	}
	d.refs[v] = t
	return t
}

func isOnlyReference(v *value) bool {
	for _, m := range v.members {
		switch m.name {
		case "$ref", "$dynamicRef", "$recursiveRef", "title", "description", "$comment":
		default:
			return false
		}
	}
	return true
}

// find returns the part of the document that a reference names, or nil: other
// documents are never fetched.
func (d *document) find(ref string) *value {
	base, fragment, _ := strings.Cut(ref, "#")
	v := d.root
	if base != "" {
		if v = d.identified(base); v == nil && fragment == "" && !strings.Contains(base, ":") {
			word := strings.TrimSuffix(base[strings.LastIndexByte(base, '/')+1:], ".json")
			return d.found(d.defined(word), word)
		}
		if v == nil {
			return nil
		}
	}
	if fragment == "" {
		return d.found(v, "")
	}
	if u, err := url.PathUnescape(fragment); err == nil {
		fragment = u
	}
	if fragment[0] != '/' {
		return d.found(d.identified("#"+fragment), fragment)
	}
	word := ""
	for word = range strings.SplitSeq(fragment[1:], "/") {
		word = unescape(word)
		if v.is(kindArray) {
			i, err := strconv.Atoi(word)
			if err != nil || i < 0 || i >= len(v.items) {
				return nil
			}
			v = &v.items[i]
			continue
		}
		if v = v.get(word); v == nil {
			if of, name, ok := strings.Cut(fragment[1:], "/"); ok && base == "" && (of == "$defs" || of == "definitions") {
				name = unescape(name)
				return d.found(d.defined(name), name)
			}
			return nil
		}
	}
	return d.found(v, word)
}

// unescape reads a word of a JSON Pointer.
func unescape(word string) string {
	return strings.ReplaceAll(strings.ReplaceAll(word, "~1", "/"), "~0", "~")
}

// defined returns the definition with a name if there is one anywhere in the document
// and no other: some generators put a schema with its definitions into another and
// leave the references as they were.
func (d *document) defined(name string) *value {
	if d.defs == nil {
		d.defs = map[string]*value{}
		d.define(d.root)
	}
	return d.defs[name]
}

func (d *document) define(v *value) {
	for i := range v.items {
		d.define(&v.items[i])
	}
	for i := range v.members {
		m := &v.members[i]
		if m.name == "$defs" || m.name == "definitions" {
			for _, def := range m.value.distinct() {
				if _, several := d.defs[def.name]; several {
					d.defs[def.name] = nil
				} else {
					d.defs[def.name] = &def.value
				}
			}
		}
		d.define(&m.value)
	}
}

func (d *document) found(v *value, name string) *value {
	if !isSchema(v) {
		return nil
	}
	if d.at[v] == "" {
		d.at[v] = name
	}
	return v
}

// identified returns the part with an identifier, as it is written or by its last
// path element, or with "#" and an anchor.
func (d *document) identified(id string) *value {
	if d.ids == nil {
		d.ids = map[string]*value{}
		d.identify(d.root)
	}
	if v, ok := d.ids[id]; ok {
		return v
	}
	return d.ids[id[strings.LastIndexByte(id, '/')+1:]]
}

func (d *document) identify(v *value) {
	set := func(id string, v *value) {
		if _, taken := d.ids[id]; !taken && id != "" {
			d.ids[id] = v
		}
	}
	for i := range v.items {
		d.identify(&v.items[i])
	}
	for i := range v.members {
		m := &v.members[i]
		if m.value.is(kindString) {
			switch m.name {
			case "$id", "id":
				set(m.value.str, v)
				set(m.value.str[strings.LastIndexByte(m.value.str, '/')+1:], v)
			case "$anchor", "$dynamicAnchor":
				set("#"+m.value.str, v)
			}
		}
		d.identify(&m.value)
	}
}

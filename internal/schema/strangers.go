package schema

import (
	"encoding/json"
	"strconv"
)

// Stranger is an argument that a schema has no name for.
type Stranger struct {
	Path string // as "filter.lable"
	Hint string // the name that it may have been meant to have, or those that there are
}

// What is looked at for strangers: they are slips of whoever wrote the arguments by hand.
const (
	maxStrangers    = 5
	maxStrangeBytes = 64 << 10
)

// Strangers returns arguments that the schema has no name for where it names others. Where it
// says that others may be given, or where what it names depends on something, there are none.
// The arguments are JSON.
func (in *Input) Strangers(args json.RawMessage) []Stranger {
	if in.doc == nil || len(args) > maxStrangeBytes || manifold(args) {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	s := &strangers{doc: in.doc}
	s.look(in.doc.root, outline(args), "")
	return s.found
}

type strangers struct {
	doc    *document
	looked int
	found  []Stranger
}

func (s *strangers) look(part, v *value, path string) {
	if s.looked++; s.looked > maxDemands || len(s.found) == maxStrangers {
		return
	}
	for part.is(kindObject) && isOnlyReference(part) {
		if part = s.doc.target(part); s.looked > maxDemands {
			return
		}
		s.looked++
	}
	if !part.is(kindObject) || reference(part) != "" {
		return
	}
	switch v.kind {
	case kindArray:
		items := part.get("items")
		for i := range v.items {
			if items.is(kindObject) {
				s.look(items, &v.items[i], path+"["+strconv.Itoa(i)+"]")
			}
		}
	case kindObject:
		s.members(part, v, path)
	}
}

func (s *strangers) members(part, v *value, path string) {
	properties := part.get("properties")
	named := properties.is(kindObject) && len(properties.members) > 0
	for _, key := range [...]string{"additionalProperties", "unevaluatedProperties"} {
		named = named && (part.get(key) == nil || part.get(key).isFalse())
	}
	for _, key := range [...]string{"patternProperties", "allOf", "anyOf", "oneOf", "extends", "if", "dependentSchemas", "dependencies"} {
		named = named && part.get(key) == nil
	}
	if !named {
		return
	}
	for i := range v.members {
		m := &v.members[i]
		if known := properties.get(m.name); known != nil {
			s.look(known, &m.value, childPath(path, m.name))
		} else if len(s.found) < maxStrangers {
			s.found = append(s.found, Stranger{printable(childPath(path, m.name), 120), knownHint(m, properties, v, lacking(part, v))})
		}
	}
}

// lacking are the members that a part requires and a value does not have.
func lacking(part, v *value) []string {
	var missing []string
	if m := part.get("required"); m.is(kindArray) {
		for i := range m.items {
			if name := &m.items[i]; name.is(kindString) && v.get(name.str) == nil {
				missing = append(missing, name.str)
			}
		}
	}
	return missing
}

package schema

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// Sound reports whether a validator can be made of a schema as it stands: its keywords have
// values of their kinds, its patterns can be read, and its references lead to parts of it. A
// client that makes one for each tool may refuse all of them for one that cannot be.
func Sound(schema json.RawMessage) bool {
	root, ok := parse(schema)
	if !ok || !isSchema(root) {
		return false
	}
	s := soundness{doc: newDocument(root), seen: map[*value]bool{}}
	return s.holds(root)
}

type soundness struct {
	doc  *document
	seen map[*value]bool
}

// demanded is of which kind the values of keywords have to be, if they are there.
var demanded = map[string]kind{
	"maximum": kindNumber, "minimum": kindNumber, "exclusiveMaximum": kindNumber, "exclusiveMinimum": kindNumber, "multipleOf": kindNumber,
	"maxLength": kindNumber, "minLength": kindNumber, "maxItems": kindNumber, "minItems": kindNumber, "maxProperties": kindNumber, "minProperties": kindNumber,
	"required": kindArray, "enum": kindArray, "allOf": kindArray, "anyOf": kindArray, "oneOf": kindArray, "prefixItems": kindArray,
	"properties": kindObject, "patternProperties": kindObject, "dependentSchemas": kindObject, "dependencies": kindObject,
	"additionalProperties": kindObject | kindBoolean, "unevaluatedProperties": kindObject | kindBoolean, "additionalItems": kindObject | kindBoolean,
	"unevaluatedItems": kindObject | kindBoolean, "not": kindObject | kindBoolean, "if": kindObject | kindBoolean, "then": kindObject | kindBoolean,
	"else": kindObject | kindBoolean, "contains": kindObject | kindBoolean, "propertyNames": kindObject | kindBoolean,
	"items": kindObject | kindBoolean | kindArray, "type": kindString | kindArray,
	"pattern": kindString, "format": kindString, "$ref": kindString, "uniqueItems": kindBoolean, "nullable": kindBoolean,
}

// holds reports whether one part is sound, and all that it has and refers to.
func (s *soundness) holds(v *value) bool {
	if !v.is(kindObject) {
		return v.is(kindBoolean)
	}
	if s.seen[v] {
		return true
	}
	s.seen[v] = true
	for _, m := range v.distinct() {
		if want, known := demanded[m.name]; known && (!m.value.is(want) || !s.keyword(v, m.name, &m.value)) {
			return false
		}
	}
	return true
}

// keyword reports whether the value of a keyword of v, which is of its kind, is sound.
func (s *soundness) keyword(v *value, name string, of *value) bool {
	switch name {
	case "type":
		return isTypeWord(of) || of.is(kindArray) && len(of.items) > 0 && each(of.items, isTypeWord)
	case "required":
		return each(of.items, func(e *value) bool { return e.is(kindString) })
	case "enum":
		return len(of.items) > 0
	case "nullable":
		return !of.isTrue() || v.get("type") != nil
	case "pattern":
		return readable(of.str)
	case "$ref":
		target := s.leadsTo(of.str)
		return target != nil && s.holds(target)
	case "properties", "patternProperties", "dependentSchemas", "dependencies":
		for _, m := range of.distinct() {
			if name == "dependencies" && m.value.is(kindArray) {
				continue
			}
			if !s.holds(&m.value) {
				return false
			}
		}
		return true
	}
	if of.is(kindArray) {
		return each(of.items, s.holds)
	}
	return !of.is(kindObject) || s.holds(of)
}

func each(items []value, holds func(*value) bool) bool {
	for i := range items {
		if !holds(&items[i]) {
			return false
		}
	}
	return true
}

func isTypeWord(v *value) bool {
	if !v.is(kindString) {
		return false
	}
	switch v.str {
	case "string", "number", "integer", "boolean", "array", "object", "null":
		return true
	}
	return false
}

// leadsTo is the part that a reference names by a pointer or an anchor, to the letter; nil if
// there is none.
func (s *soundness) leadsTo(ref string) *value {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if u, err := url.PathUnescape(fragment); err == nil {
		fragment = u
	}
	if fragment == "" {
		return s.doc.root
	}
	if fragment[0] != '/' {
		return s.doc.identified("#" + fragment)
	}
	v := s.doc.root
	for word := range strings.SplitSeq(fragment[1:], "/") {
		word = unescape(word)
		if i, err := strconv.Atoi(word); err == nil && v.is(kindArray) && i >= 0 && i < len(v.items) {
			v = &v.items[i]
			continue
		}
		if v = v.get(word); v == nil {
			return nil
		}
	}
	return v
}

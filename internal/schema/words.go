package schema

import "encoding/json"

// Words is what a schema can be found by.
type Words struct {
	Names        []string // of members, at any depth
	Values       []string // strings that a member may be
	Descriptions []string
}

// Bounds of the words of one schema.
const (
	maxWords     = 500
	maxWordDepth = 12
)

// WordsOf returns the words of a schema, in the order of its text and no more than a
// few hundred of each.
func WordsOf(schema json.RawMessage) Words {
	root, ok := parse(schema)
	if !ok {
		return Words{}
	}
	var w Words
	w.collect(root, 0)
	return w
}

func (w *Words) collect(v *value, depth int) {
	if depth > maxWordDepth || !v.is(kindObject) || len(w.Names) >= maxWords {
		return
	}
	if text := v.string("description"); text != "" && depth > 0 && len(w.Descriptions) < maxWords {
		w.Descriptions = append(w.Descriptions, text)
	}
	allowed := v.get("enum").itemsOrSelf()
	if m := v.get("const"); m.is(kindString) {
		allowed = []value{*m}
	}
	for i := range allowed {
		if allowed[i].kind == kindString && len(w.Values) < maxWords {
			w.Values = append(w.Values, allowed[i].str)
		}
	}
	for i := range v.members {
		m := &v.members[i]
		switch m.name {
		case "properties":
			for _, p := range m.value.distinct() {
				if len(w.Names) < maxWords {
					w.Names = append(w.Names, p.name)
				}
				w.collect(&p.value, depth+1)
			}
		case "$defs", "definitions":
			for _, p := range m.value.distinct() {
				w.collect(&p.value, depth+1)
			}
		case "items", "additionalProperties", "allOf", "anyOf", "oneOf", "prefixItems":
			w.collect(&m.value, depth+1)
			for j := range m.value.items {
				w.collect(&m.value.items[j], depth+1)
			}
		}
	}
}

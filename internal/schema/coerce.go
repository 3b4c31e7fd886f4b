package schema

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"mcpx/internal/jsontext"
)

// Coerce converts arguments that are strings where a schema names another type:
// a string becomes an integer, a number, a boolean, an array or an object if it is
// exactly the text of one. Where the schema leaves room for a string nothing is
// changed. Everything else of args stays as it is, byte for byte. changed holds the
// paths of what was converted, as "filter.ids[0]". Arguments of very many values, and
// those that are not JSON, stay as they are.
func Coerce(schema, args json.RawMessage) (out json.RawMessage, changed []string) {
	if !jsontext.Valid(args) {
		return args, nil
	}
	return NewInput(schema).Coerce(args)
}

// Input is what a schema asks of arguments, made ready for many calls. It may be used by
// several goroutines at once.
type Input struct {
	mu  sync.Mutex // guards what is found out about the schema
	doc *document  // nil of a schema that asks nothing
	of  map[*value]kind
}

// NewInput makes ready what a schema asks.
func NewInput(schema json.RawMessage) *Input {
	root, ok := parse(schema)
	if !ok || !root.is(kindObject) {
		return &Input{}
	}
	return &Input{doc: newDocument(root), of: map[*value]kind{}}
}

// Coerce is the function Coerce for arguments that are known to be JSON.
func (in *Input) Coerce(args json.RawMessage) (out json.RawMessage, changed []string) {
	if in.doc == nil || manifold(args) {
		return args, nil
	}
	v := outline(args)
	if !v.hasString() {
		return args, nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	c := &coercer{doc: in.doc, known: in.of}
	return c.rewrite(args, v, demand{part: in.doc.root}, ""), c.changed
}

// hasString reports whether a value that is or contains a string is within v.
func (v *value) hasString() bool {
	if v.kind == kindString {
		return true
	}
	for i := range v.items {
		if v.items[i].hasString() {
			return true
		}
	}
	for i := range v.members {
		if v.members[i].value.hasString() {
			return true
		}
	}
	return false
}

// demand is what a schema asks of one value: to fit a part, to fit all of several
// demands, or to fit any of them. The zero demand asks nothing.
type demand struct {
	part *value
	all  []demand
	any  []demand
}

func (d demand) isNothing() bool { return d.part == nil && d.all == nil && d.any == nil }

// everything is the kinds that a demand of nothing leaves.
const everything = allKinds | kindInteger

// maxDemands bounds how much of a schema is looked at for one set of arguments.
// What lies beyond asks nothing.
const maxDemands = 100_000

type coercer struct {
	doc     *document
	known   map[*value]kind
	changed []string
	looked  int
}

// rewrite returns the text of v with its strings converted; whole is the text that v
// was read from.
func (c *coercer) rewrite(whole []byte, v *value, d demand, path string) []byte {
	type edit struct {
		from, to int
		text     []byte
	}
	var edits []edit
	var visit func(v *value, d demand, path string)
	visit = func(v *value, d demand, path string) {
		if d.isNothing() {
			return
		}
		switch v.kind {
		case kindString:
			if text, ok := c.convert(v, d, path); ok {
				edits = append(edits, edit{v.from, v.from + len(v.text), text})
			}
		case kindArray:
			for i := range v.items {
				visit(&v.items[i], c.element(d, i), path+"["+strconv.Itoa(i)+"]")
			}
		case kindObject:
			for i := range v.members {
				m := &v.members[i]
				visit(&m.value, c.member(d, m.name), childPath(path, m.name))
			}
		}
	}
	visit(v, d, path)
	if len(edits) == 0 {
		return whole
	}
	out := make([]byte, 0, len(whole))
	at := 0
	for _, e := range edits {
		out = append(append(out, whole[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, whole[at:]...)
}

// childPath appends a member to a path.
func childPath(path, name string) string {
	switch {
	case !isPlain(name):
		return path + "[" + quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

// convert returns the text of the value that a string is the exact text of, if the
// demand leaves room for that value and for no string.
func (c *coercer) convert(from *value, d demand, path string) ([]byte, bool) {
	kinds := c.kinds(d)
	if kinds&kindString != 0 {
		return nil, false
	}
	text := from.says()
	if text == "" {
		return nil, false
	}
	at := len(c.changed)
	c.changed = append(c.changed, path)
	switch first := text[0]; {
	case kinds&kindBoolean != 0 && (text == "true" || text == "false"):
		return []byte(text), true
	case kinds&kindInteger != 0 && isIntegerText(text), kinds&kindNumber != 0 && isNumberText(text):
		return []byte(text), true
	case kinds&kindObject != 0 && first == '{' && text[len(text)-1] == '}',
		kinds&kindArray != 0 && first == '[' && text[len(text)-1] == ']':
		if whole := []byte(text); jsontext.Valid(whole) {
			return c.rewrite(whole, outline(whole), d, path), true
		}
	}
	c.changed = c.changed[:at]
	return nil, false
}

// isIntegerText reports whether s is how an integer is written, of any size.
func isIntegerText(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || digits[0] == '0' && s != "0" {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}

// isNumberText reports whether s is how JavaScript writes a number.
func isNumberText(s string) bool {
	if isIntegerText(s) {
		return true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return false
	}
	text, err := json.Marshal(f) // as ECMAScript has it; not of NaN and infinities
	return err == nil && string(text) == s
}

// kinds returns the kinds of values that a demand leaves room for.
func (c *coercer) kinds(d demand) kind {
	switch {
	case d.part != nil:
		return c.kindsOf(d.part)
	case d.any != nil:
		var all kind
		for _, e := range d.any {
			all |= c.kinds(e)
		}
		return all
	}
	all := everything
	for _, e := range d.all {
		all &= c.kinds(e)
	}
	return all
}

func (c *coercer) kindsOf(v *value) kind {
	switch {
	case v.isFalse():
		return 0
	case !v.is(kindObject):
		return everything
	}
	if k, ok := c.known[v]; ok {
		return k
	}
	k := c.typeKinds(v)
	for _, e := range c.applied(v) {
		k &= c.kinds(e)
	}
	if v.get("nullable").isTrue() {
		k |= kindNull
	}
	c.known[v] = k
	return k
}

// typeKinds returns the kinds that type, enum and const leave.
func (c *coercer) typeKinds(v *value) kind {
	k := everything
	if t := v.get("type"); t.is(kindString) {
		k = wordKinds(t.str)
	} else if t.is(kindArray) && len(t.items) > 0 {
		k = 0
		for i := range t.items {
			switch m := &t.items[i]; {
			case m.is(kindString):
				k |= wordKinds(m.str)
			case isSchema(m) && !c.doc.isCut(v, m):
				k |= c.kindsOf(m)
			default:
				k = everything
			}
		}
	}
	var values []value
	if m := v.get("enum"); m.is(kindArray) {
		values = m.items
	}
	if m := v.get("const"); m != nil {
		values = []value{*m}
	}
	if len(values) > 0 {
		var among kind
		for i := range values {
			among |= values[i].kind
			if values[i].kind == kindNumber {
				among |= kindInteger
			}
		}
		if k&among != 0 {
			k &= among
		} else {
			k |= among // one of the two is a mistake
		}
	}
	return k
}

func wordKinds(word string) kind {
	switch k, known := kindNamed(word); {
	case !known || k == allKinds:
		return everything
	case k == kindNumber:
		return kindNumber | kindInteger
	default:
		return k
	}
}

// applied returns what a part asks by reference to other parts.
func (c *coercer) applied(v *value) []demand {
	var out []demand
	if reference(v) != "" {
		if target := c.doc.target(v); target != nil && !c.doc.isCut(v, target) {
			out = append(out, demand{part: target})
		}
	}
	for _, key := range [...]string{"allOf", "extends", "anyOf", "oneOf"} {
		m := v.get(key)
		if key == "extends" && m.is(kindObject) && !c.doc.isCut(v, m) {
			out = append(out, demand{part: m})
		}
		if !m.is(kindArray) {
			continue
		}
		var parts []demand
		for i := range m.items {
			if part := &m.items[i]; isSchema(part) && !c.doc.isCut(v, part) {
				parts = append(parts, demand{part: part})
			}
		}
		switch {
		case len(parts) == 0:
		case key == "anyOf" || key == "oneOf":
			out = append(out, demand{any: parts})
		default:
			out = append(out, parts...)
		}
	}
	return out
}

// member returns what a demand of an object asks of one of its members.
func (c *coercer) member(d demand, name string) demand {
	return c.within(d, func(v *value) demand {
		var out []demand
		if m := v.get("properties").get(name); isSchema(m) {
			out = append(out, demand{part: m})
		}
		if v.get("patternProperties").is(kindObject) {
			return demand{} // whose pattern fits is not decided here
		}
		if m := v.get("additionalProperties"); len(out) == 0 && m.is(kindObject) {
			out = append(out, demand{part: m})
		}
		return all(out)
	})
}

// element returns what a demand of an array asks of one of its elements.
func (c *coercer) element(d demand, i int) demand {
	return c.within(d, func(v *value) demand {
		first, more := v.get("prefixItems"), v.get("items")
		if !first.is(kindArray) && more.is(kindArray) {
			first, more = more, v.get("additionalItems")
		}
		switch {
		case first.is(kindArray) && i < len(first.items):
			if isSchema(&first.items[i]) {
				return demand{part: &first.items[i]}
			}
		case more.is(kindObject):
			return demand{part: more}
		}
		return demand{}
	})
}

// within carries a demand of a whole over to what lies within it; own says what the
// keywords of one part ask there.
func (c *coercer) within(d demand, own func(*value) demand) demand {
	if c.looked++; c.looked > maxDemands {
		return demand{}
	}
	switch {
	case d.part.is(kindObject):
		parts := []demand{own(d.part)}
		for _, e := range c.applied(d.part) {
			parts = append(parts, c.within(e, own))
		}
		return all(parts)
	case d.any != nil:
		var parts []demand
		for _, e := range d.any {
			if e.part != nil && c.kindsOf(e.part)&(kindObject|kindArray) == 0 {
				continue // an arm that is no whole has nothing within
			}
			part := c.within(e, own)
			if part.isNothing() {
				return demand{} // this arm leaves room for anything
			}
			parts = append(parts, part)
		}
		if len(parts) == 0 {
			return demand{}
		}
		return demand{any: parts}
	case d.all != nil:
		var parts []demand
		for _, e := range d.all {
			parts = append(parts, c.within(e, own))
		}
		return all(parts)
	}
	return demand{}
}

// all returns the demand to fit every one of several.
func all(parts []demand) demand {
	var out []demand
	for _, p := range parts {
		if !p.isNothing() {
			out = append(out, p)
		}
	}
	switch len(out) {
	case 0:
		return demand{}
	case 1:
		return out[0]
	}
	return demand{all: out}
}

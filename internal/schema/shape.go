package schema

import (
	"fmt"
	"slices"
	"strings"
)

// shape is what a schema says about a value, as far as TypeScript can say it too.
// Shapes are shared and never changed once made.
type shape struct {
	form    form
	kind    kind     // of a primitive or a literal
	text    string   // of a literal, in TypeScript; of anything, why nothing is known, if there is a reason
	props   []prop   // of an object
	rest    *shape   // of an object: its other members, nil if nothing is said of them; of a list and a tuple: its other elements
	items   []*shape // of a tuple, a union and an intersection
	least   int      // of a tuple: how many elements it has at least
	target  *value   // of a reference
	implied bool     // of an object or a list: the schema speaks of members or elements, but other kinds of value are not ruled out
}

type prop struct {
	name     string
	shape    *shape
	required bool
	doc      string
}

type form uint8

const (
	anything form = iota
	nothing
	primitive
	literal
	object
	list
	tuple
	union
	intersection
	named // a reference
)

var (
	anyShape   = &shape{form: anything}
	neverShape = &shape{form: nothing}
	// circle is the shape of what refers to itself and says nothing else: {"$ref":"#"}.
	circle = &shape{form: anything, text: "refers to itself"}
)

func unknown(format string, args ...any) *shape {
	return &shape{form: anything, text: fmt.Sprintf(format, args...)}
}

// Bounds of what one schema may turn into.
const (
	maxWork     = 400_000 // shapes, and members of shapes, made for one schema
	maxLiterals = 400     // literals of one enum
	maxTuple    = 64      // elements of one tuple
	maxConst    = 64      // values within the literal of an object or a list
)

// compiler makes shapes of the parts of a document.
type compiler struct {
	doc     *document
	made    map[*value]*shape // nil while it is under way
	objects map[*value]bool   // whether what a part describes is always an object
	needing map[*value]bool   // and whether it must have some member
	work    int
}

func newCompiler(doc *document) *compiler {
	return &compiler{doc: doc, made: map[*value]*shape{}, objects: map[*value]bool{}, needing: map[*value]bool{}}
}

// tooLarge stands for what no shape was made of.
var tooLarge = &shape{form: anything, text: "cut: the schema is too large"}

func (c *compiler) spend(n int) bool {
	c.work += n
	return c.work <= maxWork
}

// shape returns the shape of a part.
func (c *compiler) shape(v *value) *shape {
	switch {
	case v.isTrue():
		return anyShape
	case v.isFalse():
		return neverShape
	case !v.is(kindObject):
		return unknown("not a schema")
	}
	if s, ok := c.made[v]; ok {
		return s
	}
	if !c.spend(1) {
		return tooLarge
	}
	c.made[v] = nil // under way
	s := c.compile(v)
	c.made[v] = s
	return s
}

// behind returns the shape that a reference leads to. Of a part whose shape is under
// way there is none: it contains the reference.
func (c *compiler) behind(s *shape) (*shape, bool) {
	if s.form != named {
		return s, true
	}
	if made, ok := c.made[s.target]; ok {
		return made, made != nil
	}
	return c.shape(s.target), true
}

func (c *compiler) compile(v *value) *shape {
	s := c.own(v)
	if ref := reference(v); ref != "" {
		switch target := c.doc.target(v); {
		case target == nil:
			s = c.meet(unknown("$ref %s is not in the schema", printable(ref, 80)), s, true)
		case !c.doc.isCut(v, target):
			s = c.meet(&shape{form: named, target: target}, s, true)
		default:
			s = c.meet(circle, s, true)
		}
	}
	for _, key := range [...]string{"allOf", "extends"} {
		m := v.get(key)
		if m.is(kindObject) && key == "extends" && !c.doc.isCut(v, m) {
			s = c.meet(s, c.shape(m), true)
		}
		if m.is(kindArray) {
			for i := range m.items {
				if part := &m.items[i]; isSchema(part) && !c.doc.isCut(v, part) {
					s = c.meet(s, c.shape(part), true)
				}
			}
		}
	}
	for _, key := range [...]string{"anyOf", "oneOf"} {
		m := v.get(key)
		if !m.is(kindArray) {
			continue
		}
		var arms []*shape
		for i := range m.items {
			if part := &m.items[i]; isSchema(part) && !c.doc.isCut(v, part) {
				if arm := c.shape(part); arm != circle { // what it allows the other arms allow
					arms = append(arms, arm)
				}
			}
		}
		if len(arms) > 0 {
			s = c.meet(s, c.union(arms), true)
		}
	}
	for part := range conditional(v) {
		if !c.doc.isCut(v, part) {
			s = c.lend(s, c.shape(part))
		}
	}
	if v.get("nullable").isTrue() || v.get("x-nullable").isTrue() {
		s = c.union([]*shape{s, {form: primitive, kind: kindNull}})
	}
	return s
}

// lend adds to an object the members that it has under some condition, as optional
// ones: which condition holds no type can say, and none may be refused.
func (c *compiler) lend(s, part *shape) *shape {
	more, ok := c.behind(part)
	if !ok || s.form != object || more.form != object || !c.spend(len(s.props)+len(more.props)) {
		return s
	}
	out := *s
	out.props = slices.Clone(s.props)
	for _, p := range more.props {
		if !slices.ContainsFunc(s.props, func(q prop) bool { return q.name == p.name }) {
			p.required = false
			out.props = append(out.props, p)
		}
	}
	return &out
}

// own returns the shape that the keywords of v give by themselves.
func (c *compiler) own(v *value) *shape {
	if not := v.get("not"); not.isTrue() || not.is(kindObject) && len(not.members) == 0 {
		return neverShape // how some generators write "undefined"
	}
	kinds := c.typed(v)
	if m := v.get("const"); m != nil {
		return among(kinds, []*shape{literalOf(m, new(int))})
	}
	if m := v.get("enum"); m.is(kindArray) {
		return c.enum(kinds, m.items)
	}
	return kinds
}

// typed returns the shape that the keyword type gives, or that the keywords for
// members or elements imply where there is none.
func (c *compiler) typed(v *value) *shape {
	t := v.get("type")
	if t.is(kindString) {
		return c.typeNamed(v, t.str)
	}
	if t.is(kindArray) {
		var arms []*shape
		for i := range t.items {
			switch m := &t.items[i]; {
			case m.is(kindString):
				arms = append(arms, c.typeNamed(v, m.str))
			case isSchema(m) && !c.doc.isCut(v, m): // draft 3
				arms = append(arms, c.shape(m))
			}
		}
		if len(arms) > 0 {
			return c.union(arms)
		}
	}
	switch {
	case v.get("properties").is(kindObject), v.get("patternProperties").is(kindObject), v.get("additionalProperties") != nil,
		len(required(v)) > 0, v.get("propertyNames") != nil:
		s := *c.object(v)
		s.implied = true
		return &s
	case isSchema(v.get("items")), v.get("items").is(kindArray), v.get("prefixItems").is(kindArray):
		s := *c.array(v)
		s.implied = true
		return &s
	}
	return anyShape
}

// typeNamed returns the shape for a word of the keyword type. Words of other
// languages that can mean only one thing are taken to mean it.
func (c *compiler) typeNamed(v *value, word string) *shape {
	switch k, known := kindNamed(word); {
	case !known:
		return unknown("type %s", printable(word, 40))
	case k == kindObject:
		return c.object(v)
	case k == kindArray:
		return c.array(v)
	case k == allKinds:
		return anyShape
	default:
		return &shape{form: primitive, kind: k}
	}
}

// kindNamed returns the kind that a word of the keyword type means; an integer is
// kindInteger, and "any" is all of them.
func kindNamed(word string) (kind, bool) {
	switch strings.ToLower(word) {
	case "string", "str", "text":
		return kindString, true
	case "number", "float", "double", "decimal":
		return kindNumber, true
	case "integer", "int", "int32", "int64", "long":
		return kindInteger, true
	case "boolean", "bool":
		return kindBoolean, true
	case "null", "none", "nil":
		return kindNull, true
	case "object", "dict", "map":
		return kindObject, true
	case "array", "list":
		return kindArray, true
	case "any":
		return allKinds, true
	}
	return 0, false
}

// enum returns the union of literals that the types of the schema allow. Where they
// allow none of them the types are taken to be the mistake.
func (c *compiler) enum(kinds *shape, values []value) *shape {
	if len(values) == 0 {
		return neverShape
	}
	var arms []*shape
	if len(values) > maxLiterals {
		var seen kind
		for i := range values {
			if k := values[i].kind; seen&k == 0 {
				seen |= k
				arms = append(arms, kindShape(k))
			}
		}
		s := *among(kinds, arms)
		s.text = fmt.Sprintf("one of %d values", len(values))
		return &s
	}
	size := new(int)
	for i := range values {
		arms = append(arms, literalOf(&values[i], size))
	}
	c.spend(*size)
	return among(kinds, arms)
}

// among returns the union of those arms that a shape allows, of all if it allows none.
func among(allowed *shape, arms []*shape) *shape {
	var fit []*shape
	for _, a := range arms {
		if allowed.admits(a.kinds()) {
			fit = append(fit, a)
		}
	}
	if len(fit) == 0 {
		fit = arms
	}
	return join(fit)
}

// admits reports whether a shape leaves room for values of one of these kinds.
func (s *shape) admits(k kind) bool { return s.kinds()&k != 0 }

// kinds returns the kinds of values that a shape allows, too many rather than too
// few. Numbers are not told apart from integers.
func (s *shape) kinds() kind {
	switch s.form {
	case nothing:
		return 0
	case primitive, literal:
		if s.kind == kindInteger {
			return kindNumber
		}
		return s.kind
	case object:
		if !s.implied {
			return kindObject
		}
	case list, tuple:
		if !s.implied {
			return kindArray
		}
	case union:
		var all kind
		for _, arm := range s.items {
			all |= arm.kinds()
		}
		return all
	case intersection:
		all := allKinds
		for _, arm := range s.items {
			all &= arm.kinds()
		}
		return all
	case anything, named:
	}
	return allKinds
}

func kindShape(k kind) *shape {
	switch k {
	case kindObject:
		return &shape{form: object, rest: anyShape}
	case kindArray:
		return &shape{form: list, rest: anyShape}
	}
	return &shape{form: primitive, kind: k}
}

// literalOf returns the shape of exactly one value; of a value with many parts only
// its kind. It adds the number of parts to size.
func literalOf(v *value, size *int) *shape {
	if *size++; *size > maxLiterals+maxConst {
		return kindShape(v.kind)
	}
	switch v.kind {
	case kindNull:
		return &shape{form: primitive, kind: kindNull}
	case kindString:
		return &shape{form: literal, kind: kindString, text: quote(v.str)}
	case kindArray:
		if len(v.items) > maxTuple {
			return kindShape(kindArray)
		}
		s := &shape{form: tuple, least: len(v.items)}
		for i := range v.items {
			s.items = append(s.items, literalOf(&v.items[i], size))
		}
		return s
	case kindObject:
		if len(v.members) > maxConst {
			return kindShape(kindObject)
		}
		s := &shape{form: object}
		for _, m := range v.distinct() {
			s.props = append(s.props, prop{name: m.name, shape: literalOf(&m.value, size), required: true})
		}
		return s
	}
	return &shape{form: literal, kind: v.kind, text: string(v.text)}
}

// required returns the names in the keyword required, as a set.
func required(v *value) map[string]bool {
	m := v.get("required")
	if !m.is(kindArray) {
		return nil
	}
	names := make(map[string]bool, len(m.items))
	for i := range m.items {
		if m.items[i].is(kindString) {
			names[m.items[i].str] = true
		}
	}
	return names
}

func (c *compiler) object(v *value) *shape {
	s := &shape{form: object}
	must := required(v)
	declared := map[string]bool{}
	properties := v.get("properties")
	for _, m := range properties.distinct() {
		if !c.spend(1) {
			break
		}
		declared[m.name] = true
		s.props = append(s.props, prop{
			name: m.name, shape: c.shape(&m.value), doc: c.doc.comment(&m.value),
			required: must[m.name] || m.value.get("required").isTrue(), // a flag in draft 3
		})
	}
	if m := v.get("required"); m.is(kindArray) {
		for i := range m.items {
			if name := &m.items[i]; name.is(kindString) && !declared[name.str] {
				declared[name.str] = true
				s.props = append(s.props, prop{name: name.str, shape: anyShape, required: true})
			}
		}
	}
	additional := v.get("additionalProperties")
	if m := v.get("unevaluatedProperties"); additional == nil && !m.isFalse() {
		additional = m
	}
	patterns := v.get("patternProperties").distinct()
	switch {
	case additional.is(kindObject) || additional.isTrue():
		s.rest = c.shape(additional)
	case len(patterns) > 0 && !additional.isFalse():
		s.rest = anyShape
	case len(patterns) > 0:
		s.rest = neverShape
	case additional.isFalse() && len(s.props) == 0:
		s.rest = neverShape
	case !properties.is(kindObject) && len(s.props) == 0:
		s.rest = anyShape
	}
	for _, p := range patterns {
		s.rest = c.union([]*shape{s.rest, c.shape(&p.value)})
	}
	if names := v.get("propertyNames").get("enum"); names.is(kindArray) && len(names.items) <= maxConst && s.rest != nil && len(patterns) == 0 {
		for i := range names.items {
			if name := &names.items[i]; name.is(kindString) && !declared[name.str] {
				declared[name.str] = true
				s.props = append(s.props, prop{name: name.str, shape: s.rest})
			} else if name.is(kindString) {
				for j := range s.props {
					if p := &s.props[j]; p.name == name.str && p.shape == anyShape {
						p.shape = s.rest
					}
				}
			}
		}
		s.rest = nil
	}
	return s
}

func (c *compiler) array(v *value) *shape {
	first, more := v.get("prefixItems"), v.get("items")
	if !first.is(kindArray) {
		first = nil
	}
	if first == nil && more.is(kindArray) { // before 2020-12
		first, more = more, v.get("additionalItems")
	}
	if first == nil || len(first.items) == 0 || len(first.items) > maxTuple {
		if first == nil && isSchema(more) {
			return &shape{form: list, rest: c.shape(more)}
		}
		return &shape{form: list, rest: anyShape}
	}
	s := &shape{form: tuple, least: min(v.count("minItems", 0), len(first.items))}
	for i := range first.items {
		s.items = append(s.items, c.shape(&first.items[i]))
	}
	switch {
	case more.isFalse() || v.count("maxItems", len(first.items)+1) <= len(first.items):
	case isSchema(more):
		s.rest = c.shape(more)
	default:
		s.rest = anyShape
	}
	return s
}

// union returns the shape of a value that fits one of the arms.
func (c *compiler) union(arms []*shape) *shape {
	s := join(arms)
	if !c.spend(len(s.items)) {
		return tooLarge
	}
	return s
}

func join(arms []*shape) *shape {
	var flat []*shape
	seen := map[string]bool{}
	targets := map[*value]bool{}
	var add func(arms []*shape) *shape
	add = func(arms []*shape) *shape {
		for _, a := range arms {
			switch a.form {
			case nothing:
				continue
			case anything:
				return a
			case union:
				if a.text == "" {
					if whole := add(a.items); whole != nil {
						return whole
					}
					continue
				}
			case primitive, literal:
				key := a.text
				if a.form == primitive {
					key = keyword(a.kind) + a.text
				}
				if seen[key] {
					continue
				}
				seen[key] = true
			case named:
				if targets[a.target] {
					continue
				}
				targets[a.target] = true
			case object, list, tuple, intersection:
			}
			flat = append(flat, a)
		}
		return nil
	}
	if whole := add(arms); whole != nil {
		return whole
	}
	if seen["true"] && seen["false"] || seen["boolean"] {
		flat = slices.DeleteFunc(flat, func(a *shape) bool { return a.form == literal && a.kind == kindBoolean })
		if !seen["boolean"] {
			flat = append(flat, &shape{form: primitive, kind: kindBoolean})
		}
	}
	switch len(flat) {
	case 0:
		return neverShape
	case 1:
		return flat[0]
	}
	return &shape{form: union, items: flat}
}

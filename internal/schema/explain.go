package schema

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcpx/internal/fault"
)

// problem is why a value does not fit.
type problem struct {
	path string // of the value; empty for the arguments as a whole
	says string // what is wrong with it, to follow its name
	hint string
}

func (p *problem) fault() error {
	subject := "the argument object"
	if p.path != "" {
		subject = `argument "` + p.path + `"`
	}
	separator := " "
	if strings.HasPrefix(p.says, ":") {
		separator = ""
	}
	e := fault.New(fault.Tool, "%s", subject+separator+p.says)
	if p.path != "" {
		e = e.With("path", p.path)
	}
	if p.hint != "" {
		e = e.Hintf("%s", p.hint)
	}
	return e
}

// explainer finds the first reason why a value that was refused does not fit. It
// knows the keywords that servers use, and what it finds is true; of the others it
// says nothing.
type explainer struct {
	doc  *document
	left int
}

func (e *explainer) problem(part, v *value, path string) *problem {
	if e.left--; e.left < 0 {
		return nil
	}
	at := func(format string, args ...any) *problem {
		return &problem{path: path, says: fmt.Sprintf(format, args...)}
	}
	if part.isFalse() {
		return at("must not be given")
	}
	if !part.is(kindObject) || v.kind == kindNull && part.get("nullable").isTrue() {
		return nil
	}
	if p := e.kind(part, v, at); p != nil {
		return p
	}
	if m := part.get("const"); m != nil && isExact(m) && !equal(m, v) {
		return at(": %s is not %s", excerpt(v), excerpt(m))
	}
	if m := part.get("enum"); m.is(kindArray) && isExact(m) && !slices.ContainsFunc(m.items, func(x value) bool { return equal(&x, v) }) {
		p := at(": %s is none of %s", excerpt(v), choices(m.items))
		p.hint = nearestChoice(v, m.items)
		return p
	}
	switch v.kind {
	case kindNumber:
		if p := number(part, v, at); p != nil {
			return p
		}
	case kindString:
		if p := text(part, v, at); p != nil {
			return p
		}
	case kindArray:
		if p := e.array(part, v, path, at); p != nil {
			return p
		}
	case kindObject:
		if p := e.object(part, v, path, at); p != nil {
			return p
		}
	}
	return e.inPlace(part, v, path)
}

// inPlace follows what describes the same value.
func (e *explainer) inPlace(part, v *value, path string) *problem {
	if target := e.doc.target(part); target != nil && !e.doc.isCut(part, target) {
		if p := e.problem(target, v, path); p != nil {
			return p
		}
	}
	for _, key := range [...]string{"allOf", "anyOf", "oneOf"} {
		m := part.get(key)
		if !m.is(kindArray) {
			continue
		}
		var best *problem
		fits := 0
		for i := range m.items {
			arm := &m.items[i]
			if !isSchema(arm) || e.doc.isCut(part, arm) {
				fits++
				continue
			}
			p := e.problem(arm, v, path)
			switch {
			case p == nil:
				fits++
			case key == "allOf":
				return p
			case best == nil || len(p.path) > len(best.path): // the arm that fits furthest is the one that was meant
				best = p
			}
		}
		if key != "allOf" && fits == 0 && best != nil {
			if len(m.items) > 1 && best.path == path {
				return &problem{path: path, says: fmt.Sprintf(": %s fits none of the %d forms it may have", excerpt(v), len(m.items))}
			}
			return best
		}
	}
	return nil
}

// names of kinds, with their article.
func kindWords(k kind) string {
	switch k {
	case kindNull:
		return "null"
	case kindBoolean:
		return "a boolean"
	case kindNumber:
		return "a number"
	case kindInteger:
		return "an integer"
	case kindString:
		return "a string"
	case kindArray:
		return "an array"
	}
	return "an object"
}

func (e *explainer) kind(part, v *value, at func(string, ...any) *problem) *problem {
	t := part.get("type")
	items := t.itemsOrSelf()
	var wanted []string
	for i := range items {
		k, known := kindNamed(items[i].str)
		if !items[i].is(kindString) || !known || k == allKinds || k == v.kind || k == kindInteger && isWhole(v) {
			return nil
		}
		wanted = append(wanted, kindWords(k))
	}
	if len(wanted) == 0 {
		return nil
	}
	if v.kind == kindNull {
		return at(": null is not %s", strings.Join(wanted, " or "))
	}
	return at(": %s is %s, not %s", excerpt(v), kindWords(v.kind), strings.Join(wanted, " or "))
}

func (v *value) itemsOrSelf() []value {
	switch {
	case v.is(kindString):
		return []value{*v}
	case v.is(kindArray):
		return v.items
	}
	return nil
}

func isWhole(v *value) bool {
	r, ok := rational(v)
	return ok && r.IsInt()
}

// rational returns the exact number of a value, unless its exponent is absurd.
func rational(v *value) (*big.Rat, bool) {
	if !v.is(kindNumber) || len(v.text) > 1000 {
		return nil, false
	}
	if i := strings.IndexAny(string(v.text), "eE"); i >= 0 {
		if n, err := strconv.Atoi(string(v.text[i+1:])); err != nil || n > 400 || n < -400 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(string(v.text))
}

func number(part, v *value, at func(string, ...any) *problem) *problem {
	n, ok := rational(v)
	if !ok {
		return nil
	}
	bound := func(name string) (*big.Rat, string) {
		m := part.get(name)
		r, ok := rational(m)
		if !ok {
			return nil, ""
		}
		return r, string(m.text)
	}
	if r, text := bound("minimum"); r != nil {
		if n.Cmp(r) < 0 {
			return at(": %s is less than the minimum %s", v.text, text)
		}
		if n.Cmp(r) == 0 && part.get("exclusiveMinimum").isTrue() {
			return at(": %s is not more than %s", v.text, text)
		}
	}
	if r, text := bound("exclusiveMinimum"); r != nil && n.Cmp(r) <= 0 {
		return at(": %s is not more than %s", v.text, text)
	}
	if r, text := bound("maximum"); r != nil {
		if n.Cmp(r) > 0 {
			return at(": %s is more than the maximum %s", v.text, text)
		}
		if n.Cmp(r) == 0 && part.get("exclusiveMaximum").isTrue() {
			return at(": %s is not less than %s", v.text, text)
		}
	}
	if r, text := bound("exclusiveMaximum"); r != nil && n.Cmp(r) >= 0 {
		return at(": %s is not less than %s", v.text, text)
	}
	if r, text := bound("multipleOf"); r != nil && r.Sign() > 0 && !new(big.Rat).Quo(n, r).IsInt() {
		return at(": %s is not a multiple of %s", v.text, text)
	}
	return nil
}

func text(part, v *value, at func(string, ...any) *problem) *problem {
	n := utf8.RuneCountInString(v.str)
	if least := part.count("minLength", 0); n < least {
		return at(": %s has %s, fewer than the minimum %d", excerpt(v), count(n, "character"), least)
	}
	if most := part.count("maxLength", n); n > most {
		return at(": %s has %s, more than the maximum %d", excerpt(v), count(n, "character"), most)
	}
	if p, ok := translate(part.get("pattern")); ok && !regexp.MustCompile(p).MatchString(v.str) {
		return at(": %s does not match the pattern %s", excerpt(v), printable(part.string("pattern"), 200))
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (e *explainer) array(part, v *value, path string, at func(string, ...any) *problem) *problem {
	if least := part.count("minItems", 0); len(v.items) < least {
		return at("has %s, fewer than the minimum %d", count(len(v.items), "item"), least)
	}
	if most := part.count("maxItems", len(v.items)); len(v.items) > most {
		return at("has %s, more than the maximum %d", count(len(v.items), "item"), most)
	}
	first, more := part.get("prefixItems"), part.get("items")
	if !first.is(kindArray) && more.is(kindArray) {
		first, more = more, part.get("additionalItems")
	}
	for i := range v.items {
		sub := more
		if first.is(kindArray) && i < len(first.items) {
			sub = &first.items[i]
		}
		if !isSchema(sub) {
			continue
		}
		if p := e.problem(sub, &v.items[i], path+"["+strconv.Itoa(i)+"]"); p != nil {
			return p
		}
	}
	if part.get("uniqueItems").isTrue() && len(v.items) <= 1000 {
		for i := range v.items {
			for j := range i {
				if equal(&v.items[i], &v.items[j]) {
					return at("holds %s twice, and its items must differ", excerpt(&v.items[i]))
				}
			}
		}
	}
	return nil
}

func (e *explainer) object(part, v *value, path string, at func(string, ...any) *problem) *problem {
	properties := part.get("properties")
	patterns := part.get("patternProperties")
	additional := part.get("additionalProperties")
	missing := lacking(part, v)
	for _, m := range v.distinct() {
		sub := properties.get(m.name)
		if !isSchema(sub) && sub == nil && !patterns.is(kindObject) {
			if sub = additional; sub.isFalse() {
				p := &problem{path: childPath(path, m.name), says: "is not one that the tool knows"}
				p.hint = knownHint(m, properties, v, missing)
				return p
			}
		}
		if !isSchema(sub) {
			continue
		}
		if p := e.problem(sub, &m.value, childPath(path, m.name)); p != nil {
			return p
		}
	}
	if len(missing) > 0 {
		return absent(path, missing, v, properties)
	}
	if least := part.count("minProperties", 0); len(v.distinct()) < least {
		return at("has %s, fewer than the minimum %d", count(len(v.distinct()), "member"), least)
	}
	if most := part.count("maxProperties", len(v.members)); len(v.distinct()) > most {
		return at("has %s, more than the maximum %d", count(len(v.distinct()), "member"), most)
	}
	return nil
}

// absent says that a member is missing, and which one that nothing is known of may have been
// meant for it.
func absent(path string, missing []string, v, properties *value) *problem {
	p := &problem{path: childPath(path, missing[0]), says: "is required"}
	var strange []string
	for _, m := range v.distinct() {
		if properties.get(m.name) == nil {
			strange = append(strange, m.name)
		}
	}
	for _, name := range missing {
		if near := Nearest(name, strange, 1); len(near) > 0 {
			return &problem{path: childPath(path, name), says: "is required", hint: "did you mean it by " + quote(near[0]) + "?"}
		}
	}
	if len(missing) == 1 && len(strange) == 1 {
		p.hint = "did you mean it by " + quote(strange[0]) + "?"
	}
	return p
}

// knownHint names the members that an unknown one of v may have been meant to be: one that
// its name is near to or an abbreviation of, or else the only one that is missing.
func knownHint(m *member, properties, v *value, missing []string) string {
	var known []string
	for _, m := range properties.distinct() {
		known = append(known, m.name)
	}
	if near := Nearest(m.name, known, 1); len(near) > 0 {
		return "did you mean " + quote(near[0]) + "?"
	}
	for _, k := range known {
		if v.get(k) == nil && abbreviates(m.name, k) && mayHold(properties.get(k), &m.value) {
			return "did you mean " + quote(k) + "?"
		}
	}
	if len(missing) == 1 && mayHold(properties.get(missing[0]), &m.value) {
		return "did you mean " + quote(missing[0]) + "?"
	}
	if len(known) == 0 {
		return "it takes no arguments"
	}
	var quoted []string
	for _, k := range known[:min(len(known), 12)] {
		quoted = append(quoted, printable(k, 60))
	}
	if len(known) > len(quoted) {
		quoted = append(quoted, "…")
	}
	return "it knows " + strings.Join(quoted, ", ")
}

// abbreviates reports whether short begins as name does, and has its other letters in their
// order.
func abbreviates(short, name string) bool {
	if len(short) < 3 || name == "" || short[0] != name[0] {
		return false
	}
	for _, letter := range short {
		_, rest, ok := strings.Cut(name, string(letter))
		if !ok {
			return false
		}
		name = rest
	}
	return true
}

// mayHold reports whether a value is of the one type that a schema names, if it names one.
func mayHold(part, v *value) bool {
	named := part.get("type")
	if !named.is(kindString) {
		return true
	}
	k, ok := kindNamed(named.str)
	if k == kindInteger {
		k = kindNumber
	}
	return !ok || k&v.kind != 0
}

// excerpt is the JSON of a value, cut.
func excerpt(v *value) string { return printable(string(v.text), 60) }

func choices(items []value) string {
	var out []string
	for i := range items[:min(len(items), 12)] {
		out = append(out, excerpt(&items[i]))
	}
	if len(items) > len(out) {
		out = append(out, fmt.Sprintf("… (%d in all)", len(items)))
	}
	return strings.Join(out, ", ")
}

func nearestChoice(v *value, items []value) string {
	if v.kind != kindString {
		return ""
	}
	var words []string
	for i := range items {
		if items[i].kind == kindString {
			words = append(words, items[i].str)
		}
	}
	if near := Nearest(v.str, words, 1); len(near) > 0 {
		return "did you mean " + quote(near[0]) + "?"
	}
	return ""
}

// equal reports whether two values are the same, numbers by what they mean.
func equal(a, b *value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case kindNumber:
		x, xok := rational(a)
		y, yok := rational(b)
		return xok && yok && x.Cmp(y) == 0 || string(a.text) == string(b.text)
	case kindString:
		return a.str == b.str
	case kindBoolean:
		return a.isTrue() == b.isTrue()
	case kindArray:
		if len(a.items) != len(b.items) {
			return false
		}
		for i := range a.items {
			if !equal(&a.items[i], &b.items[i]) {
				return false
			}
		}
	case kindObject:
		members := a.distinct()
		if len(members) != len(b.distinct()) {
			return false
		}
		for _, m := range members {
			if other := b.get(m.name); other == nil || !equal(&m.value, other) {
				return false
			}
		}
	}
	return true
}

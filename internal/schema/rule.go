package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mcpx/internal/fault"
	"mcpx/internal/spelling"
)

// Rule is a JSON Schema (draft 2020-12) that decides what is allowed. Unlike Validate,
// which lets through what it cannot judge, it has been understood whole, and refuses what
// it cannot judge. It is safe for concurrent use.
type Rule struct {
	root     *value
	targets  map[*value]*value  // of references
	patterns map[string]*Regexp // by source
}

// Bounds of a check: of the pairs of a part of a rule and a value that are looked at, and
// of how deep they lie.
const (
	maxJudged = 1_000_000
	maxRule   = 1 << 20 // bytes
)

// CompileRule reads a rule: a JSON Schema object. The error is a sentence that names the
// place in the schema.
func CompileRule(text json.RawMessage) (*Rule, error) {
	if len(text) > maxRule {
		return nil, fmt.Errorf("it has %d bytes, %d are allowed", len(text), maxRule)
	}
	root, ok := parse(bytes.Clone(text))
	if !ok || !root.is(kindObject) {
		return nil, errors.New("it is no JSON Schema object")
	}
	r := &Rule{root: root, targets: map[*value]*value{}, patterns: map[string]*Regexp{}}
	c := ruleCompiler{r: r, doc: newDocument(root)}
	if err := c.schema(root, ""); err != nil {
		return nil, err
	}
	return r, nil
}

type ruleCompiler struct {
	r    *Rule
	doc  *document
	seen int
	deep int
}

// annotations are the keywords that say nothing about what is allowed.
var annotations = []string{
	"$schema", "$id", "$anchor", "$comment", "$vocabulary", "title", "description", "default", "examples", "example",
	"deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType", "contentSchema",
}

// asserts are those that do.
var asserts = []string{
	"$ref", "$defs", "definitions", "type", "const", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"multipleOf", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "items", "prefixItems",
	"additionalItems", "contains", "minContains", "maxContains", "minProperties", "maxProperties", "required", "properties",
	"patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties", "dependentRequired",
	"dependentSchemas", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
}

// schema looks at a schema and all within it. Its place is a JSON Pointer.
func (c *ruleCompiler) schema(v *value, at string) error {
	if c.seen++; c.seen > maxChecks || c.deep > maxNested {
		return errors.New("it is too large, or nested too deep")
	}
	if v.is(kindBoolean) {
		return nil
	}
	if !v.is(kindObject) {
		return fmt.Errorf("at %s: %s where a schema is needed", pointer(at), kindWords(v.kind))
	}
	c.deep++
	defer func() { c.deep-- }()
	if len(v.distinct()) != len(v.members) {
		return fmt.Errorf("at %s: a keyword is written twice", pointer(at))
	}
	for i := range v.members {
		m := &v.members[i]
		place := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(m.name)
		if err := c.keyword(v, m, place); err != nil {
			return err
		}
	}
	return nil
}

func pointer(at string) string {
	if at == "" {
		return "the top"
	}
	return printable(at, 200)
}

func (c *ruleCompiler) keyword(v *value, m *member, at string) error {
	x := &m.value
	wrong := func(want string) error {
		return fmt.Errorf("at %s: %s where %s is needed", pointer(at), excerpt(x), want)
	}
	switch m.name {
	case "$ref":
		if !x.is(kindString) {
			return wrong("a string")
		}
		t := c.doc.find(x.str)
		if t == nil {
			return fmt.Errorf("at %s: %s is nowhere in the rule; other documents are not fetched", pointer(at), excerpt(x))
		}
		c.r.targets[v] = t
	case "type":
		if _, ok := typeWords(x); !ok {
			return wrong("the name of a JSON type, or a list of them")
		}
	case "enum":
		if !x.is(kindArray) {
			return wrong("a list")
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		if _, ok := rational(x); !ok {
			return wrong("a number")
		}
	case "multipleOf":
		if n, ok := rational(x); !ok || n.Sign() <= 0 {
			return wrong("a number of more than 0")
		}
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		if n, ok := rational(x); !ok || n.Sign() < 0 || !n.IsInt() {
			return wrong("a whole number")
		}
	case "uniqueItems":
		if !x.is(kindBoolean) {
			return wrong("true or false")
		}
	case "pattern":
		if !x.is(kindString) {
			return wrong("a regular expression")
		}
		return c.pattern(x.str, at)
	case "format":
		if !x.is(kindString) || !slices.Contains(formats, x.str) {
			return fmt.Errorf("at %s: the format %s is not checked here; those that are: %s; write a pattern instead",
				pointer(at), excerpt(x), strings.Join(formats, ", "))
		}
	case "required":
		if _, ok := stringList(x); !ok {
			return wrong("a list of names")
		}
	case "dependentRequired":
		for _, d := range x.distinct() {
			if _, ok := stringList(&d.value); !ok {
				return wrong("an object of lists of names")
			}
		}
		if !x.is(kindObject) {
			return wrong("an object of lists of names")
		}
	case "$defs", "definitions", "properties", "patternProperties", "dependentSchemas":
		if !x.is(kindObject) {
			return wrong("an object of schemas")
		}
		for i := range x.members {
			sub := &x.members[i]
			if m.name == "patternProperties" {
				if err := c.pattern(sub.name, at); err != nil {
					return err
				}
			}
			if err := c.schema(&sub.value, at+"/"+sub.name); err != nil {
				return err
			}
		}
	case "items", "additionalItems", "contains", "additionalProperties", "unevaluatedProperties", "propertyNames", "not", "if", "then", "else":
		if m.name == "items" && x.is(kindArray) && v.get("prefixItems") == nil { // before 2020-12
			return c.list(x, at)
		}
		return c.schema(x, at)
	case "prefixItems", "allOf", "anyOf", "oneOf":
		if !x.is(kindArray) || len(x.items) == 0 {
			return wrong("a list of schemas")
		}
		return c.list(x, at)
	case "dependencies", "unevaluatedItems", "$dynamicRef", "$recursiveRef", "extends", "disallow", "divisibleBy":
		return fmt.Errorf("at %s: the keyword %s is not supported", pointer(at), m.name)
	default:
		return c.unknown(m.name, at)
	}
	return nil
}

// unknown refuses a keyword that looks like a slip of the pen: it would allow what was
// meant to be forbidden. Others say nothing, as the specification has it.
func (c *ruleCompiler) unknown(name, at string) error {
	if slices.Contains(annotations, name) || slices.Contains(asserts, name) || strings.HasPrefix(name, "x-") {
		return nil
	}
	nearest, fewest := "", 3
	for _, known := range asserts {
		if d := spelling.Distance(strings.ToLower(name), strings.ToLower(known), 2); d < fewest && len(known) > 3 {
			nearest, fewest = known, d
		}
	}
	if nearest != "" {
		return fmt.Errorf("at %s: there is no keyword %s; did you mean %s?", pointer(at), printable(name, 60), nearest)
	}
	return nil
}

func (c *ruleCompiler) list(x *value, at string) error {
	for i := range x.items {
		if err := c.schema(&x.items[i], at+"/"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

func (c *ruleCompiler) pattern(source, at string) error {
	if c.r.patterns[source] != nil {
		return nil
	}
	re, err := CompileRegexp(source)
	if err != nil {
		return fmt.Errorf("at %s: the pattern %s: %w", pointer(at), printable(source, 200), err)
	}
	c.r.patterns[source] = re
	return nil
}

// Text is the schema as it was given. It must not be changed.
func (r *Rule) Text() json.RawMessage { return r.root.text }

// Violation is why a rule refuses arguments.
type Violation struct {
	Path       string // of the argument; empty for the arguments as a whole
	Value      string // an excerpt of its JSON; empty if it is missing, or looks like a secret
	Constraint string // what the rule wants, to follow the value

	value *value // whose excerpt Value is to be; nil if it is not shown
}

func (v *Violation) Error() string {
	subject := "the arguments"
	if v.Path != "" {
		subject = `argument "` + v.Path + `"`
	}
	if v.Value != "" {
		return subject + ": " + v.Value + " " + v.Constraint
	}
	return subject + " " + v.Constraint
}

// Check reports why the rule refuses arguments, or nil.
func (r *Rule) Check(args json.RawMessage) *Violation {
	v, ok := parse(args)
	if !ok {
		return &Violation{Constraint: "are not valid JSON"}
	}
	if manifold(args) {
		return &Violation{Constraint: "hold more values than a rule looks at"}
	}
	if path, twice := repeated(v, ""); twice {
		// Which of the two the server would take, nobody knows.
		return &Violation{Path: path, Constraint: "is given twice"}
	}
	if !v.is(kindObject) {
		return &Violation{Constraint: "are no JSON object"}
	}
	j := &judge{r: r, left: maxJudged}
	found := j.judge(r.root, v, "", false)
	switch {
	case j.left < 0:
		return &Violation{Constraint: "take too long to check against the rule"}
	case found != nil && found.value != nil && !holdsSecret(found.value):
		found.Value = excerpt(found.value)
	}
	return found
}

// repeated finds a member that an object has twice.
func repeated(v *value, path string) (string, bool) {
	for i := range v.members {
		m := &v.members[i]
		if v.get(m.name) != &m.value {
			return childPath(path, m.name), true
		}
		if at, ok := repeated(&m.value, childPath(path, m.name)); ok {
			return at, true
		}
	}
	for i := range v.items {
		if at, ok := repeated(&v.items[i], path+"["+strconv.Itoa(i)+"]"); ok {
			return at, true
		}
	}
	return "", false
}

// holdsSecret reports whether something within a value has the name of a secret.
func holdsSecret(v *value) bool {
	return slices.ContainsFunc(v.members, func(m member) bool { return isSecret(m.name) || holdsSecret(&m.value) }) ||
		slices.ContainsFunc(v.items, func(x value) bool { return holdsSecret(&x) })
}

// judge checks one set of arguments.
type judge struct {
	r    *Rule
	left int
	deep int
	// loose is how many parts around this one are such that what fits them may be refused
	// for it.
	loose int
}

// about are the keywords that say something of one type only, by that type.
var about = [...]struct {
	kind  kind
	word  string
	names []string
}{
	{kindString, "string", []string{"pattern", "minLength", "maxLength", "format"}},
	{kindNumber, "number", []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
	{kindArray, "array", []string{"items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"}},
	{kindObject, "object", []string{
		"properties", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties",
		"required", "dependentRequired", "dependentSchemas", "minProperties", "maxProperties",
	}},
}

// beside reports a value of a type that a part says nothing about, although it is there to
// say something: {"pattern": "^/srv/"} is meant to forbid ["/etc"] as well. Types that are
// named decide for themselves.
func (j *judge) beside(part, v *value, fail failure) *Violation {
	if j.loose > 0 || part.get("type") != nil {
		return nil
	}
	var first *Violation
	for _, a := range about {
		for _, name := range a.names {
			switch {
			case part.get(name) == nil:
			case a.kind == v.kind:
				return nil
			case first == nil:
				first = fail("is not of the type %s, which %s is about", a.word, name)
			}
		}
	}
	return first
}

// loosely judges a part for one that refuses what fits it, or asks only whether it fits.
func (j *judge) loosely(part, v *value, path string, secret bool) *Violation {
	j.loose++
	defer func() { j.loose-- }()
	return j.judge(part, v, path, secret)
}

// secrets are parts of the names of arguments whose values are not repeated.
var secrets = []string{
	"password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "api_key", "api-key", "accesskey", "access_key", "access-key", "one-time",
	"onetimecode", "one_time", "authorization", "credential", "privatekey", "private_key", "cookie",
}

func isSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(name, s) })
}

func (j *judge) judge(part, v *value, path string, secret bool) *Violation {
	if j.left--; j.left < 0 || j.deep > maxNested {
		j.left = -1
		return &Violation{Path: path, Constraint: "takes too long to check"}
	}
	j.deep++
	defer func() { j.deep-- }()
	secret = secret || part.get("writeOnly").isTrue() || part.string("format") == "password"
	fail := func(format string, args ...any) *Violation {
		out := &Violation{Path: path, Constraint: fmt.Sprintf(format, args...)}
		if !secret {
			out.value = v
		}
		return out
	}
	if part.isFalse() {
		return &Violation{Path: path, Constraint: "must not be given"}
	}
	if !part.is(kindObject) {
		return nil
	}
	if t := part.get("type"); t != nil && !isOfType(t, v) {
		return fail("is not of the type %s", strings.ReplaceAll(strings.Trim(string(t.text), "[]"), `"`, ""))
	}
	if m := part.get("const"); m != nil && !equal(m, v) {
		return fail("is not %s", excerpt(m))
	}
	if m := part.get("enum"); m != nil && !slices.ContainsFunc(m.items, func(x value) bool { return equal(&x, v) }) {
		j.left -= len(m.items)
		return fail("is none of %s", choices(m.items))
	}
	found := j.beside(part, v, fail)
	if found != nil {
		return found
	}
	switch v.kind {
	case kindNumber:
		found = j.number(part, v, fail)
	case kindString:
		found = j.text(part, v, fail)
	case kindArray:
		found = j.array(part, v, path, secret, fail)
	case kindObject:
		found = j.object(part, v, path, secret, fail)
	}
	if found != nil {
		return found
	}
	return j.inPlace(part, v, path, secret, fail)
}

func isOfType(t, v *value) bool {
	for _, word := range t.itemsOrSelf() {
		k, _ := kindNamed(word.str)
		if k == v.kind || k == kindInteger && isWhole(v) {
			return true
		}
	}
	return false
}

type failure func(format string, args ...any) *Violation

func (j *judge) number(part, v *value, fail failure) *Violation {
	n, known := rational(v)
	check := func(name, words string, ok func(bound *big.Rat) bool) *Violation {
		m := part.get(name)
		if m == nil {
			return nil
		}
		bound, _ := rational(m)
		if !known {
			return fail("cannot be compared with %s", m.text)
		}
		if ok(bound) {
			return nil
		}
		return fail("%s %s", words, m.text)
	}
	if f := check("minimum", "is less than the minimum", func(b *big.Rat) bool { return n.Cmp(b) >= 0 }); f != nil {
		return f
	}
	if f := check("maximum", "is more than the maximum", func(b *big.Rat) bool { return n.Cmp(b) <= 0 }); f != nil {
		return f
	}
	if f := check("exclusiveMinimum", "is not more than", func(b *big.Rat) bool { return n.Cmp(b) > 0 }); f != nil {
		return f
	}
	if f := check("exclusiveMaximum", "is not less than", func(b *big.Rat) bool { return n.Cmp(b) < 0 }); f != nil {
		return f
	}
	return check("multipleOf", "is not a multiple of", func(b *big.Rat) bool { return new(big.Rat).Quo(n, b).IsInt() })
}

func (j *judge) text(part, v *value, fail failure) *Violation {
	n := utf8.RuneCountInString(v.str)
	if f := counted(part, "minLength", "maxLength", n, "character", fail); f != nil {
		return f
	}
	if p := part.get("pattern"); p != nil {
		j.left -= len(v.str) / 64
		found, err := j.r.patterns[p.str].Match(v.str)
		switch {
		case err != nil:
			j.left = -1
			return fail("takes too long to match with the pattern %s", printable(p.str, 200))
		case !found:
			return fail("does not match the pattern %s", printable(p.str, 200))
		}
	}
	if f := part.get("format"); f != nil && !hasFormat(f.str, v.str) {
		return fail("is not of the format %s", f.str)
	}
	return nil
}

// counted checks a number of things against two bounds.
func counted(part *value, least, most string, n int, what string, fail failure) *Violation {
	if m := part.get(least); m != nil {
		if b, ok := rational(m); ok && big.NewRat(int64(n), 1).Cmp(b) < 0 {
			return fail("has %s, fewer than %s %s", count(n, what), least, m.text)
		}
	}
	if m := part.get(most); m != nil {
		if b, ok := rational(m); ok && big.NewRat(int64(n), 1).Cmp(b) > 0 {
			return fail("has %s, more than %s %s", count(n, what), most, m.text)
		}
	}
	return nil
}

func (j *judge) array(part, v *value, path string, secret bool, fail failure) *Violation {
	if f := counted(part, "minItems", "maxItems", len(v.items), "item", fail); f != nil {
		return f
	}
	first, more := part.get("prefixItems"), part.get("items")
	if first == nil && more.is(kindArray) { // before 2020-12
		first, more = more, part.get("additionalItems")
	}
	contains, contained := part.get("contains"), 0
	for i := range v.items {
		sub, at := more, path+"["+strconv.Itoa(i)+"]"
		if first != nil && i < len(first.items) {
			sub = &first.items[i]
		}
		if f := j.sub(sub, &v.items[i], at, secret); f != nil {
			return f
		}
		if contains != nil && j.loosely(contains, &v.items[i], at, secret) == nil {
			contained++
		}
	}
	if contains != nil {
		least := big.NewRat(1, 1)
		if m, ok := rational(part.get("minContains")); ok {
			least = m
		}
		n := big.NewRat(int64(contained), 1)
		most, bounded := rational(part.get("maxContains"))
		if n.Cmp(least) < 0 || bounded && n.Cmp(most) > 0 {
			return fail("holds %s of those that contains wants", count(contained, "item"))
		}
	}
	if part.get("uniqueItems").isTrue() {
		for i := range v.items {
			j.left -= i
			if j.left < 0 {
				return fail("takes too long to check")
			}
			for k := range i {
				if equal(&v.items[i], &v.items[k]) {
					return fail("holds an item twice")
				}
			}
		}
	}
	return nil
}

// sub checks a value against a part that may not be there.
func (j *judge) sub(part, v *value, path string, secret bool) *Violation {
	if part == nil {
		return nil
	}
	return j.judge(part, v, path, secret)
}

func (j *judge) object(part, v *value, path string, secret bool, fail failure) *Violation {
	for _, name := range part.get("required").itemsOrSelf() {
		if v.get(name.str) == nil {
			return &Violation{Path: childPath(path, name.str), Constraint: "is required"}
		}
	}
	if f := counted(part, "minProperties", "maxProperties", len(v.members), "member", fail); f != nil {
		return f
	}
	for _, d := range part.get("dependentRequired").distinct() {
		if v.get(d.name) == nil {
			continue
		}
		for _, name := range d.value.items {
			if v.get(name.str) == nil {
				return &Violation{Path: childPath(path, name.str), Constraint: "is required beside " + printable(d.name, 60)}
			}
		}
	}
	properties, patterns := part.get("properties"), part.get("patternProperties")
	additional, names := part.get("additionalProperties"), part.get("propertyNames")
	for i := range v.members {
		m := &v.members[i]
		at, hide := childPath(path, m.name), secret || isSecret(m.name)
		if names != nil {
			name := value{kind: kindString, str: m.name, text: m.key}
			if f := j.judge(names, &name, at, false); f != nil {
				f.Constraint += ", as the name of an argument"
				return f
			}
		}
		described := false
		if sub := properties.get(m.name); sub != nil {
			described = true
			if f := j.judge(sub, &m.value, at, hide); f != nil {
				return f
			}
		}
		for _, p := range patterns.distinct() {
			j.left--
			matches, err := j.r.patterns[p.name].Match(m.name)
			if err != nil {
				j.left = -1
			}
			if matches {
				described = true
				if f := j.judge(&p.value, &m.value, at, hide); f != nil {
					return f
				}
			}
		}
		if !described && additional != nil {
			if f := j.judge(additional, &m.value, at, hide); f != nil {
				return f
			}
		}
	}
	if sub := part.get("unevaluatedProperties"); sub != nil {
		seen := map[string]bool{}
		j.evaluated(part, v, path, seen)
		for i := range v.members {
			m := &v.members[i]
			if !seen[m.name] {
				if f := j.judge(sub, &m.value, childPath(path, m.name), secret || isSecret(m.name)); f != nil {
					return f
				}
			}
		}
	}
	return nil
}

// evaluated notes the members of an object that a part describes, other than as the rest.
func (j *judge) evaluated(part, v *value, path string, seen map[string]bool) {
	if j.left--; j.left < 0 || j.deep > maxNested || !part.is(kindObject) {
		return
	}
	j.deep++
	defer func() { j.deep-- }()
	for i := range v.members {
		name := v.members[i].name
		if part.get("properties").get(name) != nil || part.get("additionalProperties") != nil {
			seen[name] = true
		}
		for _, p := range part.get("patternProperties").distinct() {
			if found, err := j.r.patterns[p.name].Match(name); found && err == nil {
				seen[name] = true
			}
		}
	}
	fits := func(sub *value, judge func(part, v *value, path string, secret bool) *Violation) bool {
		if sub == nil || judge(sub, v, path, false) != nil {
			return false
		}
		j.evaluated(sub, v, path, seen)
		return true
	}
	follow := func(sub *value) { fits(sub, j.judge) }
	follow(j.r.targets[part])
	for _, key := range [...]string{"allOf", "anyOf", "oneOf"} {
		judge := j.judge
		if key == "oneOf" {
			judge = j.loosely
		}
		if m := part.get(key); m != nil {
			for i := range m.items {
				fits(&m.items[i], judge)
			}
		}
	}
	for _, d := range part.get("dependentSchemas").distinct() {
		if v.get(d.name) != nil {
			follow(&d.value)
		}
	}
	if test := part.get("if"); test != nil {
		if fits(test, j.loosely) {
			follow(part.get("then"))
		} else {
			follow(part.get("else"))
		}
	}
}

// inPlace follows what describes the same value.
func (j *judge) inPlace(part, v *value, path string, secret bool, fail failure) *Violation {
	if f := j.sub(j.r.targets[part], v, path, secret); f != nil {
		return f
	}
	for _, key := range [...]string{"allOf", "anyOf", "oneOf"} {
		m := part.get(key)
		if m == nil {
			continue
		}
		var first *Violation
		fits := 0
		for i := range m.items {
			judge := j.judge
			if key == "oneOf" {
				judge = j.loosely
			}
			f := judge(&m.items[i], v, path, secret)
			switch {
			case f == nil:
				fits++
			case key == "allOf":
				return f
			case first == nil || len(f.Path) > len(first.Path): // the arm that fits furthest is the one that was meant
				first = f
			}
		}
		switch {
		case key == "allOf":
		case fits == 0 && len(m.items) > 1 && first.Path == path:
			return fail("fits none of the %d forms of %s", len(m.items), key)
		case fits == 0:
			return first
		case key == "oneOf" && fits > 1:
			return fail("fits %d forms of oneOf, and one is wanted", fits)
		}
	}
	if m := part.get("not"); m != nil && j.loosely(m, v, path, secret) == nil {
		return fail("is what the rule excludes: not %s", printable(string(m.text), 200))
	}
	if test := part.get("if"); test != nil {
		arm := "else"
		if j.loosely(test, v, path, secret) == nil {
			arm = "then"
		}
		if f := j.sub(part.get(arm), v, path, secret); f != nil {
			return f
		}
	}
	if v.is(kindObject) {
		for _, d := range part.get("dependentSchemas").distinct() {
			if v.get(d.name) != nil {
				if f := j.judge(&d.value, v, path, secret); f != nil {
					return f
				}
			}
		}
	}
	return nil
}

// formats are those that are checked. The format password hides a value from errors.
var formats = []string{"date", "date-time", "time", "email", "hostname", "ipv4", "ipv6", "uri", "uuid", "regex", "password"}

func hasFormat(format, text string) bool {
	parses := func(layout string) bool {
		_, err := time.Parse(layout, strings.ToUpper(text))
		return err == nil
	}
	switch format {
	case "date":
		return parses(time.DateOnly)
	case "date-time":
		return parses(time.RFC3339)
	case "time":
		return parses("15:04:05Z07:00")
	case "email":
		a, err := mail.ParseAddress(text)
		return err == nil && a.Name == "" && a.Address == text
	case "hostname":
		return isHostname(text)
	case "ipv4", "ipv6":
		a, err := netip.ParseAddr(text)
		return err == nil && a.Zone() == "" && a.Is4() == (format == "ipv4")
	case "uri":
		u, err := url.Parse(text)
		return err == nil && u.IsAbs()
	case "uuid":
		for i := range len(text) {
			dash := i == 8 || i == 13 || i == 18 || i == 23
			if dash != (text[i] == '-') || !dash && !isHex(text[i:i+1]) {
				return false
			}
		}
		return len(text) == 36
	case "regex":
		_, err := CompileRegexp(text)
		return err == nil
	}
	return true
}

func isHostname(text string) bool {
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) {
			return false
		}
	}
	return len(text) <= 253
}

// Denial is the violation as an error of kind denied, with where the rule stands.
func (v *Violation) Denial(tool, rule string) *fault.Error {
	e := fault.Deniedf("%s: %s", tool, v.Error()).Hintf("the rule is in %s", rule).With("rule", rule)
	if v.Path != "" {
		e = e.With("path", v.Path)
	}
	return e
}

// Tighten returns a schema together with rules, as allOf. Without rules it is the schema
// as it was; one that is no object becomes one.
func Tighten(input json.RawMessage, rules []*Rule) json.RawMessage {
	if len(rules) == 0 {
		return input
	}
	root, ok := parse(input)
	if !ok || !root.is(kindObject) {
		root, _ = parse([]byte(`{"type":"object"}`))
	}
	var parts []string
	if all := root.get("allOf"); all.is(kindArray) {
		for i := range all.items {
			parts = append(parts, string(all.items[i].text))
		}
	}
	for _, r := range rules {
		parts = append(parts, r.within("#/allOf/"+strconv.Itoa(len(parts))))
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for _, m := range root.distinct() {
		if m.name != "allOf" {
			b.Write(m.key)
			b.WriteByte(':')
			b.Write(m.value.text)
			b.WriteByte(',')
		}
	}
	b.WriteString(`"allOf":[` + strings.Join(parts, ",") + "]}")
	return b.Bytes()
}

// within is the text of the rule for a place in another schema: references within the
// rule lead from there.
func (r *Rule) within(at string) string {
	var b strings.Builder
	text, from := r.root.text, 0
	for _, ref := range r.references(r.root, nil) {
		if !strings.HasPrefix(ref.str, "#/") && ref.str != "#" {
			continue
		}
		start := ref.from - r.root.from
		b.Write(text[from:start])
		b.WriteString(quoteJSON(at + strings.TrimPrefix(ref.str, "#")))
		from = start + len(ref.text)
	}
	b.Write(text[from:])
	return b.String()
}

// references are the texts of those within a part, in their order.
func (r *Rule) references(v *value, out []*value) []*value {
	for i := range v.members {
		m := &v.members[i]
		if _, isReference := r.targets[v]; isReference && m.name == "$ref" {
			out = append(out, &m.value)
			continue
		}
		out = r.references(&m.value, out)
	}
	for i := range v.items {
		out = r.references(&v.items[i], out)
	}
	return out
}

package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"mcpx/internal/fault"

	"github.com/google/jsonschema-go/jsonschema"
)

// Validate checks arguments against a schema. The error, of kind Tool, is a sentence
// that names the argument and what the schema wants of it; its details hold the path.
//
// A schema that cannot be compiled, or takes too long to check against, refuses
// nothing, nor are arguments of very many values looked at: then only the server can say.
func Validate(schema, args json.RawMessage) error {
	if manifold(args) {
		return nil
	}
	root, ok := parse(schema)
	if !ok || !isSchema(root) {
		return nil
	}
	v, ok := parse(args)
	if !ok {
		return fault.Usagef("the arguments are not valid JSON")
	}
	doc := newDocument(root)
	if b := (&budget{doc: doc, left: maxChecks}); !b.spend(root, v) {
		return nil
	}
	instance, ok := decode(v)
	if !ok {
		return nil
	}
	err := verdict(doc, instance)
	if err == nil {
		return nil
	}
	e := &explainer{doc: doc, left: maxChecks}
	p := e.problem(root, v, "")
	if p == nil {
		for errors.Unwrap(err) != nil {
			err = errors.Unwrap(err)
		}
		p = &problem{says: "does not fit the schema: " + printable(err.Error(), 200)}
	}
	return p.fault()
}

// verdict asks the library. Its errors say where in the schema the trouble is, and
// only nil is relied on. A schema that it cannot compile refuses nothing.
func verdict(doc *document, instance any) (err error) {
	defer func() {
		if recover() != nil { // the library meant the schema to be better than it is
			err = nil
		}
	}()
	var s jsonschema.Schema
	text, ok := cleaned(doc)
	if !ok || json.Unmarshal(text, &s) != nil {
		return nil
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return resolved.Validate(instance)
}

// decode returns a value as the library takes it. It cannot if a number is too large
// for a float.
func decode(v *value) (any, bool) {
	switch v.kind {
	case kindNull:
		return nil, true
	case kindBoolean:
		return v.isTrue(), true
	case kindString:
		return strings.ToValidUTF8(v.str, "\uFFFD"), true
	case kindArray:
		out := make([]any, len(v.items))
		for i := range v.items {
			e, ok := decode(&v.items[i])
			if !ok {
				return nil, false
			}
			out[i] = e
		}
		return out, true
	case kindObject:
		out := make(map[string]any, len(v.members))
		for i := range v.members {
			e, ok := decode(&v.members[i].value)
			if !ok {
				return nil, false
			}
			out[v.members[i].name] = e
		}
		return out, true
	}
	if n, err := strconv.ParseInt(string(v.text), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(v.text), 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// Bounds of a check: of the pairs of a part and a value that are looked at, and of how
// deep they lie. Schemas can be written that would take for ever.
const (
	maxChecks = 100_000
	maxNested = 200
)

// budget counts, without checking anything, what a check would look at.
type budget struct {
	doc  *document
	left int
	deep int
}

// spend reports whether checking v against a part stays within the budget.
func (b *budget) spend(part, v *value) bool {
	// The library repeats an error from far within at every step on its way out.
	if b.left -= 1 + b.deep/4; b.left < 0 || b.deep > maxNested {
		return false
	}
	if !part.is(kindObject) {
		return true
	}
	b.deep++
	defer func() { b.deep-- }()
	if m := part.get("enum"); m.is(kindArray) {
		b.left -= len(m.items)
	}
	if target := b.doc.target(part); target != nil && !b.doc.isCut(part, target) && !b.spend(target, v) {
		return false
	}
	for sub := range inPlace(part) {
		if !b.doc.isCut(part, sub) && !b.spend(sub, v) {
			return false
		}
	}
	for _, key := range [...]string{"not", "if", "then", "else"} {
		if m := part.get(key); m.is(kindObject) && !b.spend(m, v) {
			return false
		}
	}
	for _, key := range [...]string{"dependentSchemas", "dependencies"} {
		if m := part.get(key); m.is(kindObject) {
			for i := range m.members {
				if !b.spend(&m.members[i].value, v) {
					return false
				}
			}
		}
	}
	for i := range v.members {
		m := &v.members[i]
		if sub := part.get("properties").get(m.name); sub.is(kindObject) && !b.spend(sub, &m.value) {
			return false
		}
		for _, key := range [...]string{"additionalProperties", "unevaluatedProperties"} {
			if sub := part.get(key); sub.is(kindObject) && !b.spend(sub, &m.value) {
				return false
			}
		}
		if patterns := part.get("patternProperties"); patterns.is(kindObject) {
			for j := range patterns.members {
				if !b.spend(&patterns.members[j].value, &m.value) {
					return false
				}
			}
		}
	}
	for i := range v.items {
		for _, key := range [...]string{"items", "prefixItems", "additionalItems", "contains", "unevaluatedItems"} {
			sub := part.get(key)
			if sub.is(kindArray) && i < len(sub.items) {
				sub = &sub.items[i]
			}
			if sub.is(kindObject) && !b.spend(sub, &v.items[i]) {
				return false
			}
		}
	}
	return true
}

// cleaned writes a document as a schema of draft 2020-12 that says the same, without
// what is malformed. The root and every part that is referred to become definitions.
// It does not write one that the library would take seconds to compile.
func cleaned(doc *document) ([]byte, bool) {
	w := &cleaner{doc: doc, numbers: map[*value]int{}}
	w.legacy = strings.Contains(doc.root.string("$schema"), "draft-0")
	w.out.WriteString(`{"$ref":"#/$defs/0","$defs":{`)
	w.number(doc.root)
	for i := 0; i < len(w.queue) && !w.tooMuch(); i++ {
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.out.WriteString(`"` + strconv.Itoa(i) + `":`)
		w.schema(w.queue[i])
	}
	w.out.WriteString("}}")
	return w.out.Bytes(), !w.tooMuch()
}

// Bounds of a schema that the library compiles.
const (
	maxCompiled = 512 << 10 // bytes
	maxSchemas  = 64        // within each other
)

type cleaner struct {
	doc     *document
	legacy  bool // before 2019-09, what stands beside a reference says nothing
	numbers map[*value]int
	queue   []*value
	depth   int
	deepest int
	out     bytes.Buffer
}

func (w *cleaner) tooMuch() bool { return w.out.Len() > maxCompiled || w.deepest > maxSchemas }

func (w *cleaner) number(part *value) int {
	n, ok := w.numbers[part]
	if !ok {
		n = len(w.queue)
		w.numbers[part] = n
		w.queue = append(w.queue, part)
	}
	return n
}

func (w *cleaner) schema(v *value) {
	if !v.is(kindObject) {
		w.out.Write(v.text)
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	if w.deepest = max(w.deepest, w.depth); w.tooMuch() {
		w.out.WriteString("{}")
		return
	}
	nullable := v.get("nullable").isTrue()
	if nullable {
		w.out.WriteString(`{"anyOf":[{"type":"null"},`)
	}
	w.out.WriteByte('{')
	first := true
	key := func(name string) {
		if !first {
			w.out.WriteByte(',')
		}
		first = false
		w.out.WriteString(quoteJSON(name) + ":")
	}
	if target := w.doc.target(v); target != nil && !w.doc.isCut(v, target) {
		key("$ref")
		w.out.WriteString(`"#/$defs/` + strconv.Itoa(w.number(target)) + `"`)
	}
	if reference(v) == "" || !w.legacy {
		for _, m := range v.distinct() {
			w.keyword(v, m, key)
		}
	}
	w.out.WriteByte('}')
	if nullable {
		w.out.WriteString("]}")
	}
}

// keyword writes one member of a schema, if it means something and is well formed.
func (w *cleaner) keyword(v *value, m *member, key func(string)) {
	x := &m.value
	switch m.name {
	case "type":
		if words, ok := typeWords(x); ok {
			key("type")
			w.out.WriteString(words)
		}
	case "const":
		if isExact(x) {
			key(m.name)
			w.out.Write(x.text)
		}
	case "enum":
		if x.is(kindArray) && isExact(x) {
			key(m.name)
			w.out.Write(x.text)
		}
	case "minimum", "maximum":
		exclusive := "exclusiveM" + m.name[1:]
		if isFinite(x) && v.get(exclusive).isTrue() { // draft 4
			key(exclusive)
			w.out.Write(x.text)
		} else if isFinite(x) {
			key(m.name)
			w.out.Write(x.text)
		}
	case "exclusiveMinimum", "exclusiveMaximum":
		if isFinite(x) {
			key(m.name)
			w.out.Write(x.text)
		}
	case "multipleOf":
		if f, err := strconv.ParseFloat(string(x.text), 64); x.is(kindNumber) && err == nil && f > 0 {
			key(m.name)
			w.out.Write(x.text)
		}
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		if n := v.count(m.name, -1); n >= 0 {
			key(m.name)
			w.out.WriteString(strconv.Itoa(n))
		}
	case "uniqueItems":
		if x.is(kindBoolean) {
			key(m.name)
			w.out.Write(x.text)
		}
	case "pattern":
		if p, ok := translate(x); ok {
			key(m.name)
			w.out.WriteString(quoteJSON(p))
		}
	case "required":
		if names, ok := stringList(x); ok {
			key(m.name)
			w.out.WriteString(names)
		}
	case "properties":
		if x.is(kindObject) {
			key(m.name)
			w.members(x, true, verbatim)
		}
	case "dependentSchemas":
		if x.is(kindObject) {
			key(m.name)
			w.members(x, false, verbatim)
		}
	case "patternProperties":
		if x.is(kindObject) {
			key(m.name)
			w.members(x, false, func(name string) (string, bool) { return translate(&value{kind: kindString, str: name}) })
		}
	case "dependentRequired":
		w.dependencies(x, key)
	case "dependencies":
		w.dependencies(x, key)
		if x.is(kindObject) && v.get("dependentSchemas") == nil {
			key("dependentSchemas")
			w.members(x, false, verbatim)
		}
	case "additionalProperties", "unevaluatedProperties":
		if isSchema(x) && (!x.isFalse() || allTranslate(v.get("patternProperties"))) {
			key(m.name)
			w.schema(x)
		}
	case "propertyNames", "contains", "unevaluatedItems", "not", "if", "then", "else":
		if isSchema(x) {
			key(m.name)
			w.schema(x)
		}
	case "items":
		switch {
		case isSchema(x):
			key(m.name)
			w.schema(x)
		case x.is(kindArray) && v.get("prefixItems") == nil: // before 2020-12
			w.list(v, "prefixItems", x, key)
			if more := v.get("additionalItems"); isSchema(more) {
				key("items")
				w.schema(more)
			}
		}
	case "prefixItems", "allOf", "anyOf", "oneOf":
		w.list(v, m.name, x, key)
	case "extends": // draft 3
		if v.get("allOf") == nil {
			w.list(v, "allOf", x, key)
		}
	}
}

// list writes the schemas of an array. Of one that holds something else nothing is
// written, or the rest would mean something new.
func (w *cleaner) list(v *value, name string, x *value, key func(string)) {
	if !x.is(kindArray) || len(x.items) == 0 {
		return
	}
	var parts []*value
	for i := range x.items {
		switch part := &x.items[i]; {
		case !isSchema(part):
			return
		case w.doc.isCut(v, part):
		default:
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return
	}
	key(name)
	w.out.WriteByte('[')
	for i, part := range parts {
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.schema(part)
	}
	w.out.WriteByte(']')
}

func verbatim(name string) (string, bool) { return name, true }

// members writes the schemas of an object under names that rename gives them. With
// all, a member that is no schema allows anything; without, it is left out.
func (w *cleaner) members(x *value, all bool, rename func(string) (string, bool)) {
	w.out.WriteByte('{')
	first := true
	for _, m := range x.distinct() {
		name, ok := rename(m.name)
		if !ok || !all && !isSchema(&m.value) {
			continue
		}
		if !first {
			w.out.WriteByte(',')
		}
		first = false
		w.out.WriteString(quoteJSON(name) + ":")
		if isSchema(&m.value) {
			w.schema(&m.value)
		} else {
			w.out.WriteString("true")
		}
	}
	w.out.WriteByte('}')
}

// dependencies writes the members that are lists of names.
func (w *cleaner) dependencies(x *value, key func(string)) {
	if !x.is(kindObject) {
		return
	}
	var parts []string
	for _, m := range x.distinct() {
		if names, ok := stringList(&m.value); ok {
			parts = append(parts, quoteJSON(m.name)+":"+names)
		}
	}
	if len(parts) > 0 {
		key("dependentRequired")
		w.out.WriteString("{" + strings.Join(parts, ",") + "}")
	}
}

func quoteJSON(s string) string {
	b, _ := json.Marshal(s) // a string always can be
	return string(b)
}

func stringList(x *value) (string, bool) {
	if !x.is(kindArray) {
		return "", false
	}
	for i := range x.items {
		if !x.items[i].is(kindString) {
			return "", false
		}
	}
	return string(x.text), true
}

// typeWords returns the keyword type with words of the specification. One that holds
// anything else allows anything.
func typeWords(x *value) (string, bool) {
	items := x.items
	if x.is(kindString) {
		items = []value{*x}
	}
	var words []string
	for i := range items {
		k, known := kindNamed(items[i].str)
		if !items[i].is(kindString) || !known || k == allKinds {
			return "", false
		}
		word := map[kind]string{
			kindNull: "null", kindBoolean: "boolean", kindNumber: "number", kindInteger: "integer",
			kindString: "string", kindArray: "array", kindObject: "object",
		}[k]
		words = append(words, quoteJSON(word))
	}
	return "[" + strings.Join(words, ",") + "]", len(words) > 0
}

// isFinite reports whether x is a number that a float holds.
func isFinite(x *value) bool {
	if !x.is(kindNumber) {
		return false
	}
	f, err := strconv.ParseFloat(string(x.text), 64)
	return err == nil && !math.IsInf(f, 0)
}

// isExact reports whether a float holds every number within x as it is written. The
// library compares the numbers of a schema as floats.
func isExact(x *value) bool {
	switch x.kind {
	case kindNumber:
		f, err := strconv.ParseFloat(string(x.text), 64)
		return err == nil && math.Abs(f) < 1<<53
	case kindArray:
		for i := range x.items {
			if !isExact(&x.items[i]) {
				return false
			}
		}
	case kindObject:
		for i := range x.members {
			if !isExact(&x.members[i].value) {
				return false
			}
		}
	}
	return true
}

// translate returns a pattern of ECMA-262 as Go understands it. Some it does not.
func translate(x *value) (string, bool) {
	if !x.is(kindString) || len(x.str) > 2000 {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(x.str); i++ {
		if x.str[i] != '\\' || i+1 == len(x.str) {
			b.WriteByte(x.str[i])
			continue
		}
		i++
		switch c := x.str[i]; {
		case c == 'u' && i+4 < len(x.str) && isHex(x.str[i+1:i+5]):
			b.WriteString(`\x{` + x.str[i+1:i+5] + "}")
			i += 4
		case c == 'c' && i+1 < len(x.str):
			b.WriteString(`\x{` + strconv.FormatUint(uint64(x.str[i+1]%32), 16) + "}")
			i++
		case c == '0':
			b.WriteString(`\x{0}`)
		default:
			b.WriteString(x.str[i-1 : i+1])
		}
	}
	_, err := regexp.Compile(b.String())
	return b.String(), err == nil
}

func isHex(s string) bool {
	_, err := strconv.ParseUint(s, 16, 32)
	return err == nil
}

func allTranslate(patterns *value) bool {
	if !patterns.is(kindObject) {
		return true
	}
	for i := range patterns.members {
		if _, ok := translate(&value{kind: kindString, str: patterns.members[i].name}); !ok {
			return false
		}
	}
	return true
}

package inspect

import (
	"math"
	"strings"

	"github.com/dop251/goja"
)

// nature is what is known of an object before its properties are looked at.
type nature struct {
	kind        kind
	constructor string // name; empty with noConstructor
	orphan      bool   // there is no constructor: a null prototype
	tag         string // Symbol.toStringTag, where it says something that is not shown anyway
	depth       int
	proto       []string // properties of prototypes, if hidden ones are shown
}

// form is how an object is going to be written.
type form struct {
	base        string // text in front of the bracket: a function, an error, a date
	open, close string
	extras      extras
	keys        []goja.Value
	entries     func(depth int) []string // what comes before the properties
}

// object writes an object that is no proxy.
func (p *printer) object(o *goja.Object, depth int, inView bool) string {
	n := nature{kind: p.own.kindOf(o), depth: depth}
	var hidden *[]string
	if p.ShowHidden && depth <= p.Depth {
		hidden = &n.proto
	}
	n.constructor, n.orphan = p.constructorName(o, depth, hidden)
	n.tag = p.tag(o)

	f, done := p.form(o, &n, inView)
	if done != "" {
		return done
	}
	if depth > p.Depth || p.nesting > maxNesting {
		name := strings.TrimSuffix(p.prefix(n, fallbackName(n), ""), " ")
		if p.nesting > maxNesting && depth <= p.Depth {
			return p.style("["+name+": Inspection interrupted prematurely. Maximum call stack size exceeded.]", "special")
		}
		if !n.orphan {
			name = "[" + name + "]"
		}
		return p.style(name, "special")
	}
	depth++

	p.seen = append(p.seen, o)
	p.deepest = depth
	var entries []string
	if f.entries != nil {
		entries = f.entries(depth)
	}
	for _, key := range f.keys {
		entries = append(entries, p.property(o, depth, key, f.extras))
	}
	entries = append(entries, n.proto...)
	p.seen = p.seen[:len(p.seen)-1]

	if number, ok := p.circular[o]; ok {
		reference := p.style("<ref *"+itoa(number)+">", "special")
		switch {
		case p.Compact == CompactAlways:
			f.open = reference + " " + f.open
		case f.base == "":
			f.base = reference
		default:
			f.base = reference + " " + f.base
		}
	}
	p.sort(entries, f.extras, len(f.keys))
	s := p.join(entries, f.base, f.open, f.close, f.extras, depth, o)
	if p.written == nil {
		p.written = map[int]int{}
	}
	if p.written[p.indent] += len(s); p.written[p.indent] > maxOutput {
		p.Depth = -1
	}
	return s
}

// tag returns the object's Symbol.toStringTag, unless it is among the properties that
// are shown.
func (p *printer) tag(o *goja.Object) string {
	tag, ok := o.GetSymbol(goja.SymToStringTag).(goja.String)
	if !ok || tag.Length() == 0 {
		return ""
	}
	shown := p.own.enumerable
	if p.ShowHidden {
		shown = p.own.ownsProperty
	}
	if shown(o, goja.SymToStringTag) {
		return ""
	}
	return tag.String()
}

// form decides how an object is written. If that needs no properties, the text is
// returned at once.
func (p *printer) form(o *goja.Object, n *nature, inView bool) (f form, done string) {
	f = form{open: "{", close: "}"}
	bare := func() bool { return len(f.keys) == 0 && len(n.proto) == 0 }
	size := func(n int) string { return "(" + itoa(n) + ")" }

	switch n.kind {
	case kindArray, kindTypedArray:
		fallback, count := "Array", 0
		if n.kind == kindArray {
			count = int(o.Get("length").ToInteger())
		} else {
			fallback, count = text(p.own.viewTag, o), int(call(p.own.viewLength, o).ToInteger())
		}
		prefix := ""
		if n.kind == kindTypedArray || n.constructor != "Array" || n.tag != "" {
			prefix = p.prefix(*n, fallback, size(count))
		}
		f.open, f.close, f.extras = prefix+"[", "]", extrasOfArray
		f.keys = p.namedKeys(o, count)
		if n.kind == kindArray {
			matchOrder(f.keys)
		}
		if count == 0 && bare() && (n.kind == kindArray || !p.ShowHidden) {
			return f, f.open + "]"
		}
		f.entries = func(depth int) []string { return p.elements(o, n.kind, count, depth) }
		return f, ""
	case kindSet, kindMap:
		sizeOf := p.own.setSize
		if n.kind == kindMap {
			sizeOf = p.own.mapSize
		}
		count := int(call(sizeOf, o).ToInteger())
		prefix := p.prefix(*n, string(n.kind), size(count))
		f.open, f.keys = prefix+"{", p.keysOf(o)
		if count == 0 && bare() {
			return f, prefix + "{}"
		}
		f.entries = func(depth int) []string { return p.members(o, n.kind, count, depth) }
		return f, ""
	}

	f.keys = p.keysOf(o)
	// A form whose base says it all if there are no properties.
	withBase := func(base, style string) (form, string) {
		if bare() {
			return f, p.style(base, style)
		}
		f.base = base
		return f, ""
	}
	k := n.kind
	if n.constructor == "Object" && k != kindFunction && k != kindArguments {
		k = kindObject // a prototype of the language, or one made to look plain
	}
	switch k {
	case kindFunction:
		return withBase(p.functionBase(o, *n), "special")
	case kindArguments:
		f.open = "[Arguments] {"
		if bare() {
			return f, f.open + "}"
		}
	case kindRegExp:
		base := text(p.own.regexpText, o)
		if prefix := p.prefix(*n, "RegExp", ""); prefix != "RegExp " {
			base = prefix + base
		}
		if n.depth > p.Depth {
			return f, p.style(base, "regexp")
		}
		return withBase(base, "regexp")
	case kindDate:
		base := "Invalid Date"
		if !math.IsNaN(call(p.own.getTime, o).ToFloat()) {
			base = text(p.own.isoTime, o)
		}
		if prefix := p.prefix(*n, "Date", ""); prefix != "Date " {
			base = prefix + base
		}
		return withBase(base, "date")
	case kindError:
		base, keys := p.errorBase(o, *n, f.keys)
		f.keys = keys
		if bare() {
			return f, base
		}
		f.base = base
	case kindArrayBuffer:
		prefix := p.prefix(*n, "ArrayBuffer", "")
		f.keys = append([]goja.Value{p.vm.ToValue("byteLength")}, f.keys...)
		f.open = prefix + "{"
		if !inView {
			f.entries = func(int) []string { return p.bytes(o) }
		} else if len(f.keys) == 1 && len(n.proto) == 0 {
			return f, prefix + "{ byteLength: " + numberText(o.Get("byteLength"), false) + " }"
		}
	case kindDataView:
		f.open = p.prefix(*n, "DataView", "") + "{"
		f.keys = append([]goja.Value{p.vm.ToValue("byteLength"), p.vm.ToValue("byteOffset"), p.vm.ToValue("buffer")}, f.keys...)
	case kindPromise:
		f.open = p.prefix(*n, "Promise", "") + "{"
		f.entries = func(depth int) []string { return p.promise(o.Export().(*goja.Promise), depth) }
	case kindWeakSet, kindWeakMap:
		f.open = p.prefix(*n, string(n.kind), "") + "{"
		f.entries = func(int) []string { return []string{p.style("<items unknown>", "special")} }
	case kindNumber, kindString, kindBoolean, kindBigInt, kindSymbol:
		if n.kind == kindString {
			f.keys = f.keys[min(len(f.keys), int(o.Get("length").ToInteger())):] // its characters
		}
		base := p.boxedBase(o, *n)
		if !bare() {
			f.base = base
			return f, ""
		}
		return f, p.style(base, strings.ToLower(string(n.kind)))
	default:
		if entries, brace := p.iteration(o); entries != nil {
			f.open = brace
			f.entries = entries
			return f, ""
		}
		if n.orphan && n.tag == "Module" { // the exports of one
			f.open = "[Module: null prototype] {"
			if bare() {
				return f, f.open + "}"
			}
			names := f.keys
			f.keys = nil
			f.entries = func(depth int) []string { return p.exports(o, names, depth) }
			return f, ""
		}
		if n.constructor == "Object" && !n.orphan {
			if n.tag != "" {
				f.open = p.prefix(*n, "Object", "") + "{"
			}
		} else {
			f.open = p.prefix(*n, fallbackName(*n), "") + "{"
		}
		if bare() {
			return f, f.open + "}"
		}
	}
	return f, ""
}

// exports writes what a module exports.
func (p *printer) exports(o *goja.Object, names []goja.Value, depth int) []string {
	entries := make([]string, 0, len(names))
	for _, name := range names {
		s := p.style("<uninitialized>", "special")
		var v goja.Value
		if p.vm.Try(func() { v = o.Get(name.String()) }) == nil {
			p.indent += 2
			s = p.value(v, depth, false)
			p.indent -= 2
		}
		entries = append(entries, p.keyText(name, true)+": "+s)
	}
	return entries
}

// fallbackName is what an object without a constructor is called.
func fallbackName(n nature) string {
	if !n.orphan {
		return ""
	}
	name := string(n.kind)
	if name == n.tag {
		return "Object"
	}
	return name
}

// prefix names what an object is: "Foo ", "Foo(2) [Tag] ", "[Object: null prototype] ".
func (p *printer) prefix(n nature, fallback, size string) string {
	if n.orphan {
		s := "[" + fallback + size + ": null prototype] "
		if n.tag != "" && n.tag != fallback {
			s += "[" + n.tag + "] "
		}
		return s
	}
	if n.tag != "" && n.tag != n.constructor {
		return n.constructor + size + " [" + n.tag + "] "
	}
	return n.constructor + size + " "
}

// keysOf lists the own properties that are shown.
func (p *printer) keysOf(o *goja.Object) []goja.Value {
	names := p.own.keys
	if p.ShowHidden {
		names = p.own.names
	}
	keys := list(names, o)
	for _, symbol := range list(p.own.symbols, o) {
		if p.ShowHidden || p.own.enumerable(o, symbol) {
			keys = append(keys, symbol)
		}
	}
	return keys
}

// maxNamed is up to how many elements an array is searched for other properties.
const maxNamed = 1 << 16

// namedKeys lists the properties of an array that are not its elements.
func (p *printer) namedKeys(o *goja.Object, count int) []goja.Value {
	if count > maxNamed {
		return nil
	}
	keys := p.keysOf(o)
	for i, key := range keys {
		if !isIndex(key) {
			return keys[i:] // indices come first
		}
	}
	return nil
}

// matchOrder puts the properties of what a regular expression matched in the order that
// V8 makes them in.
func matchOrder(keys []goja.Value) {
	if len(keys) >= 2 && keys[0].String() == "input" && keys[1].String() == "index" {
		keys[0], keys[1] = keys[1], keys[0]
	}
}

func isIndex(key goja.Value) bool {
	s, ok := key.(goja.String)
	if !ok || s.Length() == 0 || s.Length() > 10 {
		return false
	}
	n := int64(0)
	for i := range s.Length() {
		c := s.CharAt(i)
		if c < '0' || c > '9' || c == '0' && i == 0 && s.Length() > 1 {
			return false
		}
		n = n*10 + int64(c-'0')
	}
	return n < math.MaxUint32
}

// property writes one property of o with its key, or an element without it.
func (p *printer) property(o *goja.Object, depth int, key goja.Value, ex extras) string {
	return p.describe(o, depth, key, ex, call(p.own.descriptor, goja.Undefined(), o, key), o)
}

// describe is property for a descriptor at hand; receiver is what a getter is called on.
func (p *printer) describe(o *goja.Object, depth int, key goja.Value, ex extras, descriptor goja.Value, receiver *goja.Object) string {
	var value, get, set goja.Value
	enumerable := true
	if d, ok := descriptor.(*goja.Object); ok {
		value, get, set = d.Get("value"), d.Get("get"), d.Get("set")
		enumerable = d.Get("enumerable").ToBoolean()
	} else { // inherited, such as the length of a buffer
		value = o.Get(key.String())
	}

	var s string
	gap := " "
	switch {
	case defined(value):
		in := 2
		if p.Compact == CompactAlways && ex == extrasNone {
			in = 3
		}
		p.indent += in
		s = p.value(value, depth, false)
		if in == 3 && Width(s) > p.BreakLength {
			gap = "\n" + strings.Repeat(" ", p.indent)
		}
		p.indent -= in
	case defined(get):
		s = p.getter(get, receiver, depth, defined(set))
	case defined(set):
		s = p.style("[Setter]", "special")
	default:
		s = p.style("undefined", "undefined")
	}
	if ex == extrasElement {
		return s
	}
	return p.keyText(key, enumerable) + ":" + gap + s
}

func defined(v goja.Value) bool { return v != nil && !goja.IsUndefined(v) }

func (p *printer) keyText(key goja.Value, enumerable bool) string {
	if symbol, ok := key.(*goja.Symbol); ok {
		return "[" + p.style(escaped(call(p.own.symbolText, symbol).(goja.String)), "symbol") + "]"
	}
	name, ok := key.(goja.String)
	switch {
	case !ok:
		return key.String()
	case key.String() == "__proto__":
		return "['__proto__']"
	case !enumerable:
		return "[" + escaped(name) + "]"
	case isIdentifier(key.String()):
		return p.style(key.String(), "name")
	}
	return p.style(quote(unitsOf(name)), "string")
}

func (p *printer) getter(get goja.Value, receiver *goja.Object, depth int, settable bool) string {
	label := "Getter"
	if settable {
		label = "Getter/Setter"
	}
	if p.Getters == "" || p.Getters == "get" && settable || p.Getters == "set" && !settable {
		return p.style("["+label+"]", "special")
	}
	special := func(s string) string { return p.style(s, "special") }
	fn, _ := goja.AssertFunction(get)
	v, err := fn(receiver)
	if err != nil {
		thrown, ok := err.(*goja.Exception) //nolint:errorlint // what fn returns is not wrapped
		if !ok {
			panic(err)
		}
		message := thrown.Value().String()
		if e, ok := thrown.Value().(*goja.Object); ok {
			message = e.Get("message").String()
		}
		return special("["+label+":") + " <Inspection threw (" + message + ")>" + special("]")
	}
	p.indent += 2
	defer func() { p.indent -= 2 }()
	if _, ok := v.(*goja.Object); ok {
		return special("["+label+"]") + " " + p.value(v, depth, false)
	}
	return special("["+label+":") + " " + p.primitive(v, p.style) + special("]")
}

package inspect

import (
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// constructorName finds what made an object: the name of the first constructor on its
// prototype chain that it is an instance of. Orphan says that there is none because
// the prototype is null. If hidden is given, what prototypes of the script's own
// classes add to the object is written to it.
func (p *printer) constructorName(o *goja.Object, depth int, hidden *[]string) (name string, orphan bool) {
	var first *goja.Object
	at := o
	for hops := 0; at != nil; hops++ {
		wellKnown := ""
		switch at {
		case p.own.objectPrototype:
			wellKnown = "Object"
		case p.own.functionPrototype:
			wellKnown = "Function"
		}
		if wellKnown != "" && at != o {
			if hidden != nil && first != at {
				p.inherited(o, orObject(first, o), depth, hidden)
			}
			return wellKnown, false
		}
		if name := p.constructorAt(at, o); name != "" {
			if hidden != nil && (first != at || !builtIn(name)) {
				p.inherited(o, orObject(first, o), depth, hidden)
			}
			return name, false
		}
		at = at.Prototype()
		if hops == 0 {
			first = at
		}
	}
	if first == nil {
		return "", true
	}
	self := string(p.own.kindOf(o))
	if depth > p.Depth {
		return self + " <Complex prototype>", false
	}
	of, none := p.constructorName(first, depth+1, hidden)
	if none {
		bare := p.Options
		bare.CustomInspect, bare.Depth = false, -1
		return self + " <" + p.Inspect(first, bare) + ">", false
	}
	return self + " <" + of + ">", false
}

func orObject(o, other *goja.Object) *goja.Object {
	if o != nil {
		return o
	}
	return other
}

// constructorAt returns the name of the constructor that is named at proto, if o is an
// instance of it.
func (p *printer) constructorAt(proto, o *goja.Object) string {
	d, ok := call(p.own.descriptor, goja.Undefined(), proto, p.vm.ToValue("constructor")).(*goja.Object)
	if !ok {
		return ""
	}
	constructor, ok := d.Get("value").(*goja.Object)
	if !ok {
		return ""
	}
	if _, ok := goja.AssertFunction(constructor); !ok {
		return ""
	}
	name := constructor.Get("name")
	if s, ok := name.(goja.String); ok && s.Length() == 0 {
		return ""
	}
	instance := false
	if p.vm.Try(func() { instance = p.vm.InstanceOf(o, constructor) }) != nil || !instance {
		return ""
	}
	if name == nil {
		return "undefined"
	}
	return text(p.own.str, goja.Undefined(), name)
}

// inherited writes the accessors and values that up to three prototypes give to o, as
// far as they are the script's own.
func (p *printer) inherited(o, from *goja.Object, depth int, out *[]string) {
	var known []goja.Value
	for layer := range 3 {
		if layer > 0 || o == from {
			if from = from.Prototype(); from == nil {
				return
			}
			if d, ok := call(p.own.descriptor, goja.Undefined(), from, p.vm.ToValue("constructor")).(*goja.Object); ok {
				if constructor, ok := d.Get("value").(*goja.Object); ok && builtIn(constructor.Get("name").String()) {
					return
				}
			}
		}
		keys := append(list(p.own.names, from), list(p.own.symbols, from)...)
		p.seen = append(p.seen, o)
		for _, key := range keys {
			same := func(other goja.Value) bool { return other.SameAs(key) }
			if key.SameAs(p.vm.ToValue("constructor")) || p.own.ownsProperty(o, key) || slices.ContainsFunc(known, same) {
				continue
			}
			d, ok := call(p.own.descriptor, goja.Undefined(), from, key).(*goja.Object)
			if !ok {
				continue
			}
			if _, ok := goja.AssertFunction(d.Get("value")); ok {
				continue
			}
			s := p.describe(from, depth, key, extrasNone, d, o)
			if p.Colors {
				s = "\x1b[2m" + s + "\x1b[22m"
			}
			*out = append(*out, s)
		}
		p.seen = p.seen[:len(p.seen)-1]
		known = append(known, keys...)
	}
}

// builtIn reports whether a constructor of this name belongs to the language.
func builtIn(name string) bool {
	switch name {
	case "Object", "Function", "Array", "Number", "Boolean", "String", "Symbol", "BigInt",
		"Date", "Promise", "RegExp", "Error", "AggregateError", "EvalError", "RangeError",
		"ReferenceError", "SyntaxError", "TypeError", "URIError", "ArrayBuffer",
		"SharedArrayBuffer", "Uint8Array", "Int8Array", "Uint16Array", "Int16Array",
		"Uint32Array", "Int32Array", "Float32Array", "Float64Array", "Uint8ClampedArray",
		"BigUint64Array", "BigInt64Array", "DataView", "Map", "Set", "WeakMap", "WeakSet",
		"WeakRef", "FinalizationRegistry", "Proxy", "Iterator":
		return true
	}
	return false
}

// functionBase writes a function or a class: [Function: f], [class A extends B].
func (p *printer) functionBase(o *goja.Object, n nature) string {
	kind := "Function"
	constructor := n.constructor
	switch source := text(p.own.sourceOf, o); {
	case isClass(source):
		return p.classBase(o, n)
	case inherits(o, p.own.generatorPrototype):
		kind = "GeneratorFunction"
	case inherits(o, p.own.asyncPrototype):
		kind = "AsyncFunction"
	case isAsyncGenerator(source):
		kind = "AsyncGeneratorFunction"
	case isAsyncMethod(o):
		kind = "AsyncFunction"
	}
	if constructor == "Function" {
		constructor = kind // goja does not tell these apart
	}
	s := "[" + kind
	if n.orphan {
		s += " (null prototype)"
	}
	switch name := o.Get("name"); {
	case isEmpty(name):
		s += " (anonymous)"
	case name == nil:
		s += ": undefined"
	default:
		s += ": " + text(p.own.str, goja.Undefined(), name)
	}
	s += "]"
	if !n.orphan && constructor != kind {
		s += " " + constructor
	}
	if n.tag != "" && n.tag != n.constructor {
		s += " [" + n.tag + "]"
	}
	return s
}

// isAsyncGenerator reports whether the source of a function is what esbuild makes of an
// async generator.
func isAsyncGenerator(source string) bool {
	_, body, ok := strings.Cut(source, ") {")
	return ok && strings.HasPrefix(strings.TrimLeft(body, " \n"), "return __asyncGenerator(")
}

func inherits(o, ancestor *goja.Object) bool {
	for ; o != nil; o = o.Prototype() {
		if o == ancestor {
			return true
		}
	}
	return false
}

func isEmpty(v goja.Value) bool {
	s, ok := v.(goja.String)
	return ok && s.Length() == 0
}

// isClass reports whether the source of a function is that of a class, and not of a
// function whose name begins with "class".
func isClass(source string) bool {
	rest, ok := strings.CutPrefix(source, "class")
	return ok && strings.HasSuffix(source, "}") && rest != "" && strings.ContainsRune(" \t\r\n{/", rune(rest[0]))
}

func (p *printer) classBase(o *goja.Object, n nature) string {
	name := "(anonymous)"
	if p.own.ownsProperty(o, p.vm.ToValue("name")) {
		if v := o.Get("name"); v != nil && v.ToBoolean() {
			name = text(p.own.str, goja.Undefined(), v)
		}
	}
	s := "class " + name
	if !n.orphan && n.constructor != "Function" {
		s += " [" + n.constructor + "]"
	}
	if n.tag != "" && n.tag != n.constructor {
		s += " [" + n.tag + "]"
	}
	if n.orphan {
		return "[" + s + " extends [null prototype]]"
	}
	if parent := o.Prototype(); parent != nil {
		if v := parent.Get("name"); v != nil && v.ToBoolean() {
			s += " extends " + text(p.own.str, goja.Undefined(), v)
		}
	}
	return "[" + s + "]"
}

package engine

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// indentMax is how many characters of an indent JSON.stringify takes.
const indentMax = 10

// installJSON puts JSON.parse and JSON.stringify over the engine's own reader and
// writer. Those of goja indent wrongly after an empty list, refuse numbers that are too
// large, lose lone surrogates and have messages of their own.
func (rt *Runtime) installJSON() {
	object := rt.vm.Get("JSON").ToObject(rt.vm)
	define := func(name string, length int, fn func(goja.FunctionCall) goja.Value) {
		f := rt.Function(name, fn)
		if err := f.DefineDataProperty("length", rt.vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			panic(err)
		}
		if err := object.DefineDataProperty(name, f, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			panic(err)
		}
	}
	define("stringify", 3, rt.stringify)
	define("parse", 2, rt.parse)
}

func (rt *Runtime) stringify(c goja.FunctionCall) goja.Value {
	e := &encoder{rt: rt, buf: make([]byte, 0, 256)}
	if o, ok := c.Argument(1).(*goja.Object); ok {
		if fn, callable := goja.AssertFunction(o); callable {
			e.replace = fn
		} else if o.ClassName() == "Array" || isArrayProxy(o) {
			e.only = rt.allowed(o)
		}
	}
	e.o.Indent = indent(c.Argument(2))
	if !e.value("", -1, c.Argument(0)) {
		return nil
	}
	return rt.vm.ToValue(string(e.buf))
}

// allowed is a list of names of members: the strings and numbers in it.
func (rt *Runtime) allowed(list *goja.Object) []string {
	names := []string{}
	for i := range int(list.Get("length").ToInteger()) {
		v := list.Get(strconv.Itoa(i))
		switch o, isObject := v.(*goja.Object); {
		case v == nil:
			continue
		case isObject && (o.ClassName() == "Number" || o.ClassName() == "String"):
		case !isText(v) && !goja.IsNumber(v):
			continue
		}
		if name := v.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func indent(v goja.Value) string {
	if o, ok := v.(*goja.Object); ok {
		switch o.ClassName() {
		case "Number":
			v = o.ToNumber()
		case "String":
			v = o.ToString()
		}
	}
	switch s, isString := v.(goja.String); {
	case goja.IsNumber(v):
		return strings.Repeat(" ", int(min(max(v.ToInteger(), 0), indentMax)))
	case isString:
		return s.Substring(0, min(s.Length(), indentMax)).String()
	}
	return ""
}

func (rt *Runtime) parse(c goja.FunctionCall) goja.Value {
	text := rt.toText(c.Argument(0))
	d := &decoder{rt: rt, b: []byte(text.String())}
	if strings.Contains(text.String(), string(utf8.RuneError)) {
		d.b, d.wtf = wtf8(text), true
	}
	reviver, ok := goja.AssertFunction(c.Argument(1))
	if !ok {
		return rt.decoded(d)
	}
	r := &reviving{rt: rt, text: d.b, reviver: reviver}
	d.observer = r
	v := rt.decoded(d)
	holder := rt.vm.NewObject()
	if err := holder.Set("", v); err != nil {
		panic(err)
	}
	return r.revive(holder, rt.vm.ToValue(""), r.last())
}

func (rt *Runtime) decoded(d *decoder) goja.Value {
	v, err := d.decode()
	if err != nil {
		e, failed := rt.vm.New(rt.vm.Get("SyntaxError"), rt.vm.ToValue(err.Error()))
		if failed != nil {
			panic(failed)
		}
		panic(e)
	}
	return v
}

// toText is the conversion of the language to a string.
func (rt *Runtime) toText(v goja.Value) goja.String {
	if o, ok := v.(*goja.Object); ok {
		v = o.ToString()
	}
	if _, ok := v.(*goja.Symbol); ok {
		panic(rt.vm.NewTypeError("Cannot convert a Symbol value to a string"))
	}
	if s, ok := v.(goja.String); ok {
		return s
	}
	return rt.vm.ToValue(v.String()).(goja.String)
}

// wtf8 is a string as UTF-8, with lone surrogates as appendSurrogate writes them.
func wtf8(s goja.String) []byte {
	b := make([]byte, 0, s.Length())
	for i := 0; i < s.Length(); i++ {
		r := rune(s.CharAt(i))
		if i+1 < s.Length() {
			if pair := utf16.DecodeRune(r, rune(s.CharAt(i+1))); pair != utf8.RuneError {
				r = pair
				i++
			}
		}
		if utf16.IsSurrogate(r) {
			b = appendSurrogate(b, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// reviving gives what was parsed to a function, from the inside out.
type reviving struct {
	rt      *Runtime
	text    []byte
	reviver goja.Callable
	read    []*written // not yet part of another
}

// written is a value and where it stands in the text.
type written struct {
	name     string // of a member
	value    goja.Value
	from, to int
	parts    []*written // in the order of the text
}

func (r *reviving) name(name string) { r.last().name = name }

func (r *reviving) value(v goja.Value, from, to int) {
	w := &written{value: v, from: from, to: to}
	first := len(r.read)
	for first > 0 && r.read[first-1].from >= from {
		first--
	}
	w.parts = append(w.parts, r.read[first:]...)
	r.read = append(r.read[:first], w)
}

func (r *reviving) last() *written { return r.read[len(r.read)-1] }

// revive returns what the reviver makes of a member. w is what was parsed there, and nil
// if the reviver has put something else in its place.
func (r *reviving) revive(holder *goja.Object, key goja.Value, w *written) goja.Value {
	v := r.rt.intrinsics.get(holder, key)
	if w != nil && !w.value.SameAs(v) {
		w = nil
	}
	context := r.rt.vm.NewObject()
	if o, ok := v.(*goja.Object); ok {
		r.members(o, w)
	} else if w != nil {
		if err := context.Set("source", string(r.text[w.from:w.to])); err != nil {
			panic(err)
		}
	}
	v, err := r.reviver(holder, key, v, context)
	if err != nil {
		panic(err)
	}
	return v
}

// members revives those of an object or list.
func (r *reviving) members(o *goja.Object, w *written) {
	in := &r.rt.intrinsics
	set := func(key goja.Value, part *written) {
		if v := r.revive(o, key, part); goja.IsUndefined(v) {
			in.call("Reflect", "deleteProperty", o, key)
		} else {
			in.define(o, key, v)
		}
	}
	if o.ClassName() == "Array" || isArrayProxy(o) {
		for i := range int(o.Get("length").ToInteger()) {
			var part *written
			if w != nil && i < len(w.parts) {
				part = w.parts[i]
			}
			set(r.rt.vm.ToValue(strconv.Itoa(i)), part)
		}
		return
	}
	parts := map[string]*written{}
	if w != nil {
		for _, part := range w.parts {
			parts[part.name] = part
		}
	}
	r.rt.vm.ForOf(in.keys(o), func(key goja.Value) bool {
		set(key, parts[key.String()])
		return true
	})
}

package engine

import (
	"encoding/base64"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"mcpx/internal/jsontext"
)

// EncodeOptions widens what EncodeJSON writes.
type EncodeOptions struct {
	BigInt bool   // as an integer literal instead of a TypeError
	Bytes  bool   // ArrayBuffer and its views as base64 text
	Indent string // as the third argument of JSON.stringify
}

// maxJSONDepth is how deep JSON may nest, both ways.
const maxJSONDepth = 10_000

// EncodeJSON is JSON.stringify: it returns the text of v, or false if v is undefined, a
// function or a symbol. toJSON and getters run. What they throw, a cycle, and a BigInt
// without the option end it with a panic that is a JavaScript exception, so it must be
// called under JavaScript or Runtime.VM().Try.
func EncodeJSON(rt *Runtime, v goja.Value, o EncodeOptions) ([]byte, bool) {
	e := &encoder{rt: rt, o: o, buf: make([]byte, 0, 256)}
	if !e.value("", -1, v) {
		return nil, false
	}
	return e.buf, true
}

// encoder writes one JSON text.
type encoder struct {
	rt    *Runtime
	o     EncodeOptions
	buf   []byte
	stack []nesting // being written, from outside to inside

	replace goja.Callable // changes each value before it is written, unless nil
	only    []string      // the members to write of an object, unless nil
	lost    func(loss)    // is told of what has no form, unless nil
}

// nesting is an object that is being written, and the way there from the one outside.
type nesting struct {
	object *goja.Object
	key    string
	index  int // of an element, -1 of a member
}

// value writes v, the member called key or, if index is not negative, the element at
// index. It writes nothing and returns false if JSON has no form for v.
func (e *encoder) value(key string, index int, v goja.Value) bool {
	if e.replace != nil {
		return e.replaced(key, index, v)
	}
	switch v := v.(type) {
	case nil:
		return false
	case *goja.Object:
		return e.object(key, index, v)
	case goja.String:
		e.text(v)
		return true
	case *goja.Symbol:
		e.lose(v, key, index, len(e.buf))
		return false
	}
	switch {
	case goja.IsUndefined(v):
		return false
	case goja.IsNull(v):
		e.buf = append(e.buf, "null"...)
	case goja.IsNumber(v):
		e.number(v)
	case goja.IsBigInt(v):
		return e.bigInt(key, index, v)
	default:
		e.buf = strconv.AppendBool(e.buf, v.ToBoolean())
	}
	return true
}

func (e *encoder) number(v goja.Value) {
	f := v.ToFloat()
	if n := int64(f); float64(n) == f && n > -1<<53 && n < 1<<53 {
		e.buf = strconv.AppendInt(e.buf, n, 10) // -0 is 0 in JSON
		return
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.buf = append(e.buf, "null"...)
		return
	}
	e.buf = append(e.buf, v.String()...)
}

func (e *encoder) bigInt(key string, index int, v goja.Value) bool {
	if toJSON := v.ToObject(e.rt.vm).Get("toJSON"); toJSON != nil {
		if fn, ok := goja.AssertFunction(toJSON); ok {
			return e.plain(key, index, e.call(fn, v, key, index))
		}
	}
	if !e.o.BigInt {
		panic(e.rt.vm.NewTypeError("Do not know how to serialize a BigInt"))
	}
	e.buf = append(e.buf, v.String()...)
	return true
}

// replaced writes what the replacer makes of v, or of what v's toJSON returns.
func (e *encoder) replaced(key string, index int, v goja.Value) bool {
	if index >= 0 {
		key = strconv.Itoa(index)
	}
	if v == nil {
		v = goja.Undefined()
	}
	o, isObject := v.(*goja.Object)
	if isObject || goja.IsBigInt(v) {
		if !isObject {
			o = v.ToObject(e.rt.vm)
		}
		if fn, ok := goja.AssertFunction(o.Get("toJSON")); ok {
			v = e.call(fn, v, key, -1)
		}
	}
	var holder *goja.Object
	if len(e.stack) > 0 {
		holder = e.stack[len(e.stack)-1].object
	} else {
		holder = e.rt.vm.NewObject()
		if err := holder.Set("", v); err != nil {
			panic(err)
		}
	}
	v, err := e.replace(holder, e.rt.vm.ToValue(key), v)
	if err != nil {
		panic(err)
	}
	if _, isObject = v.(*goja.Object); isObject || goja.IsBigInt(v) {
		return e.plain(key, -1, v)
	}
	replace := e.replace
	e.replace = nil
	defer func() { e.replace = replace }()
	return e.value(key, -1, v)
}

// plain writes what toJSON returned, whose own toJSON does not count.
func (e *encoder) plain(key string, index int, v goja.Value) bool {
	switch {
	case v != nil && goja.IsBigInt(v):
		if !e.o.BigInt {
			panic(e.rt.vm.NewTypeError("Do not know how to serialize a BigInt"))
		}
		e.buf = append(e.buf, v.String()...)
		return true
	default:
		if o, ok := v.(*goja.Object); ok {
			return e.structure(key, index, o)
		}
		return e.value(key, index, v)
	}
}

func (e *encoder) call(fn goja.Callable, this goja.Value, key string, index int) goja.Value {
	if index >= 0 {
		key = strconv.Itoa(index)
	}
	v, err := fn(this, e.rt.vm.ToValue(key))
	if err != nil {
		panic(err)
	}
	return v
}

func (e *encoder) object(key string, index int, o *goja.Object) bool {
	if e.o.Bytes {
		if b, ok := e.bytesOf(o); ok {
			e.buf = append(e.buf, '"')
			e.buf = base64.StdEncoding.AppendEncode(e.buf, b)
			e.buf = append(e.buf, '"')
			return true
		}
	}
	if toJSON := o.Get("toJSON"); toJSON != nil {
		if fn, ok := goja.AssertFunction(toJSON); ok {
			return e.plain(key, index, e.call(fn, o, key, index))
		}
	}
	return e.structure(key, index, o)
}

// structure writes an object without regard to toJSON.
func (e *encoder) structure(key string, index int, o *goja.Object) bool {
	switch o.ClassName() {
	case "Array":
		e.nested(nesting{o, key, index}, e.array)
		return true
	case "Number":
		e.number(o.ToNumber())
		return true
	case "String":
		e.text(o.ToString().(goja.String))
		return true
	case "Boolean":
		e.buf = strconv.AppendBool(e.buf, o.Export() == true)
		return true
	case "RawJSON":
		e.buf = append(e.buf, o.Get("rawJSON").String()...)
		return true
	}
	if _, callable := goja.AssertFunction(o); callable {
		e.lose(o, key, index, len(e.buf))
		return false
	}
	if o.ExportType() == reflect.TypeFor[*big.Int]() {
		return e.plain("", -1, e.rt.vm.ToValue(o.Export()))
	}
	if isArrayProxy(o) {
		e.nested(nesting{o, key, index}, e.array)
		return true
	}
	start := len(e.buf)
	e.nested(nesting{o, key, index}, e.members)
	if e.lost != nil && (o.ClassName() == "Error" || len(e.buf) == start+len("{}") && e.isHollow(o)) {
		e.lose(o, key, index, start)
	}
	return true
}

// isArrayProxy reports whether o is a proxy of an array.
func isArrayProxy(o *goja.Object) bool {
	for range maxJSONDepth {
		if o == nil || o.ExportType() != reflect.TypeFor[goja.Proxy]() {
			break
		}
		if o = o.Export().(goja.Proxy).Target(); o != nil && o.ClassName() == "Array" {
			return true
		}
	}
	return false
}

func (e *encoder) nested(n nesting, write func(*goja.Object)) {
	if i := slices.IndexFunc(e.stack, func(outer nesting) bool { return outer.object == n.object }); i >= 0 {
		panic(e.rt.vm.NewTypeError("%s", circle(append(e.stack[i:], n))))
	}
	if len(e.stack) == maxJSONDepth {
		panic(e.rt.rangeError("the value is nested too deeply for JSON"))
	}
	e.stack = append(e.stack, n)
	write(n.object)
	e.stack = e.stack[:len(e.stack)-1]
}

// circle says how an object contains itself: the first of the path is also the last.
func circle(path []nesting) string {
	var b strings.Builder
	b.WriteString("Converting circular structure to JSON")
	step := func(n nesting) string {
		if n.index >= 0 {
			return "index " + strconv.Itoa(n.index)
		}
		return "property '" + n.key + "'"
	}
	constructor := func(n nesting) string {
		if c, ok := n.object.Get("constructor").(*goja.Object); ok {
			return "object with constructor '" + text(c.Get("name")) + "'"
		}
		return "object"
	}
	last := len(path) - 1
	b.WriteString("\n    --> starting at " + constructor(path[0]))
	for i := 1; i < last; i++ {
		if i > 1 && i < last-1 {
			if i == 2 {
				b.WriteString("\n    |     ...")
			}
			continue
		}
		b.WriteString("\n    |     " + step(path[i]) + " -> " + constructor(path[i]))
	}
	b.WriteString("\n    --- " + step(path[last]) + " closes the circle")
	return b.String()
}

func (e *encoder) array(o *goja.Object) {
	length := o.Get("length").ToInteger()
	e.buf = append(e.buf, '[')
	for i := range int(length) {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.newline()
		if !e.value("", i, o.Get(strconv.Itoa(i))) {
			e.buf = append(e.buf, "null"...)
		}
	}
	e.close(']', length > 0)
}

func (e *encoder) members(o *goja.Object) {
	e.buf = append(e.buf, '{')
	some := false
	keys := e.only
	if keys == nil {
		keys = o.Keys()
	}
	for _, key := range keys {
		if strings.ContainsRune(key, utf8.RuneError) {
			// The name may have lone surrogates, which a Go string cannot name.
			e.oddMembers(o, &some)
			break
		}
		name := func() { e.quote(key) }
		some = e.member(some, name, key, o.Get(key)) || some
	}
	e.close('}', some)
}

// oddMembers writes the members of o from the first with an odd name on.
func (e *encoder) oddMembers(o *goja.Object, some *bool) {
	odd := false
	e.rt.vm.ForOf(e.rt.intrinsics.keys(o), func(key goja.Value) bool {
		s := key.String()
		if odd = odd || strings.ContainsRune(s, utf8.RuneError); odd {
			name := func() { e.text(key.(goja.String)) }
			*some = e.member(*some, name, s, e.rt.intrinsics.get(o, key)) || *some
		}
		return true
	})
}

// member writes one member of an object, unless JSON has no form for its value.
func (e *encoder) member(some bool, name func(), key string, v goja.Value) bool {
	before := len(e.buf)
	if some {
		e.buf = append(e.buf, ',')
	}
	e.newline()
	name()
	e.buf = append(e.buf, ':')
	if e.o.Indent != "" {
		e.buf = append(e.buf, ' ')
	}
	if !e.value(key, -1, v) {
		e.buf = e.buf[:before]
		return false
	}
	return true
}

// newline starts a member or element on a line of its own, if there is an indent.
func (e *encoder) newline() {
	if e.o.Indent == "" {
		return
	}
	e.buf = append(e.buf, '\n')
	for range e.stack {
		e.buf = append(e.buf, e.o.Indent...)
	}
}

func (e *encoder) close(bracket byte, some bool) {
	if some && e.o.Indent != "" {
		e.buf = append(e.buf, '\n')
		for range len(e.stack) - 1 {
			e.buf = append(e.buf, e.o.Indent...)
		}
	}
	e.buf = append(e.buf, bracket)
}

// text writes a string. Only one with the replacement character can hold a lone
// surrogate, which UTF-8 cannot.
func (e *encoder) text(v goja.String) {
	s := v.String()
	if !strings.Contains(s, string(utf8.RuneError)) {
		e.quote(s)
		return
	}
	e.buf = append(e.buf, '"')
	length := v.Length()
	for i := 0; i < length; i++ {
		unit := rune(v.CharAt(i))
		switch {
		case unit >= 0xD800 && unit < 0xDC00 && i+1 < length && v.CharAt(i+1)&0xFC00 == 0xDC00:
			e.buf = utf8.AppendRune(e.buf, (unit-0xD800)<<10+rune(v.CharAt(i+1))-0xDC00+0x10000)
			i++
		case unit >= 0xD800 && unit < 0xE000:
			e.escape(unit)
		case unit < utf8.RuneSelf:
			e.ascii(byte(unit))
		default:
			e.buf = utf8.AppendRune(e.buf, unit)
		}
	}
	e.buf = append(e.buf, '"')
}

// quote writes valid UTF-8 as a JSON string.
func (e *encoder) quote(s string) {
	const behind = 64 // for what is written next, so that a long string is not copied for it
	e.buf = append(slices.Grow(e.buf, len(s)+behind), '"')
	for from := 0; ; from++ {
		i := jsontext.Special(s, from)
		e.buf = append(e.buf, s[from:i]...)
		if i == len(s) {
			break
		}
		e.ascii(s[i])
		from = i
	}
	e.buf = append(e.buf, '"')
}

// ascii writes one character of a string.
func (e *encoder) ascii(c byte) {
	switch c {
	case '"', '\\':
		e.buf = append(e.buf, '\\', c)
	case '\b':
		e.buf = append(e.buf, `\b`...)
	case '\f':
		e.buf = append(e.buf, `\f`...)
	case '\n':
		e.buf = append(e.buf, `\n`...)
	case '\r':
		e.buf = append(e.buf, `\r`...)
	case '\t':
		e.buf = append(e.buf, `\t`...)
	default:
		if c < ' ' {
			e.escape(rune(c))
			return
		}
		e.buf = append(e.buf, c)
	}
}

func (e *encoder) escape(unit rune) {
	const digits = "0123456789abcdef"
	e.buf = append(e.buf, '\\', 'u', digits[unit>>12&15], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}

// bytesOf returns the bytes of an ArrayBuffer or a view of one, which share its memory.
func (e *encoder) bytesOf(o *goja.Object) ([]byte, bool) {
	t := o.ExportType()
	switch {
	case t == reflect.TypeFor[goja.ArrayBuffer]():
		return o.Export().(goja.ArrayBuffer).Bytes(), true
	case t.Kind() != reflect.Slice && !e.rt.intrinsics.isDataView(o):
		return nil, false
	}
	buffer, ok := o.Get("buffer").(*goja.Object)
	if !ok || buffer.ExportType() != reflect.TypeFor[goja.ArrayBuffer]() {
		return nil, false
	}
	b := buffer.Export().(goja.ArrayBuffer).Bytes()
	from, length := o.Get("byteOffset").ToInteger(), o.Get("byteLength").ToInteger()
	if from < 0 || length < 0 || from+length > int64(len(b)) {
		return nil, false
	}
	return b[from : from+length], true
}

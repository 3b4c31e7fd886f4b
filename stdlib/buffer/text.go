package buffer

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/inspect"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

// texts adds the methods between bytes and text.
func (m *module) texts() {
	c := m.class
	c.Alias("toLocaleString", c.Method("toString", 3, m.toString))
	c.Method("write", 4, m.write)
	for _, e := range []octets.Encoding{octets.UTF8, octets.UTF16LE, octets.Latin1, octets.ASCII, octets.Hex, octets.Base64, octets.Base64URL} {
		name := e.String()
		if e == octets.UTF16LE {
			name = "ucs2"
		}
		c.Method(name+"Slice", 2, func(call goja.FunctionCall) goja.Value {
			b := m.self(call)
			start, end := m.span(call.Argument(0), call.Argument(1), len(b))
			return m.text(e, b[start:end])
		})
		c.Method(name+"Write", 3, func(call goja.FunctionCall) goja.Value {
			b := m.self(call)
			s := native.Text(m.vm, call.Argument(0), "argument")
			start, end := m.span(call.Argument(1), goja.Undefined(), len(b))
			if v := call.Argument(2); !goja.IsUndefined(v) {
				end = start + int(min(max(v.ToInteger(), 0), int64(end-start)))
			}
			return m.vm.ToValue(put(b[start:end], s, e))
		})
	}
	c.Method("toJSON", 0, func(call goja.FunctionCall) goja.Value {
		b := m.self(call)
		data := make([]any, len(b))
		for i, n := range b {
			data[i] = m.vm.ToValue(int64(n))
		}
		o := m.vm.NewObject()
		native.Must(o.Set("type", "Buffer"))
		native.Must(o.Set("data", m.vm.NewArray(data...)))
		return o
	})
	f := c.Method("inspect", 2, m.inspect)
	symbol := native.Invoke(m.vm, m.vm.Get("Symbol").(*goja.Object), "for", m.vm.ToValue("nodejs.util.inspect.custom"))
	c.Symbol(symbol.(*goja.Symbol), f)
}

// text is b as text, if a string can be that long.
func (m *module) text(e octets.Encoding, b []byte) goja.Value {
	if e.Size(len(b)) > octets.MaxString {
		panic(native.Error(m.vm, "Error", "ERR_STRING_TOO_LONG",
			fmt.Sprintf("Cannot create a string longer than 0x%x characters", octets.MaxString)))
	}
	return e.Decode(m.vm, b)
}

// span reads a part of n bytes, given as a start and an end that may be missing.
func (m *module) span(from, to goja.Value, n int) (start, end int) {
	start, end = 0, n
	clamp := func(v goja.Value) int {
		f := v.ToNumber().ToFloat()
		switch {
		case math.IsNaN(f), f < 0:
			return 0
		case f > float64(n):
			return n
		}
		return int(f)
	}
	if !goja.IsUndefined(from) {
		start = clamp(from)
	}
	if !goja.IsUndefined(to) {
		end = clamp(to)
	}
	return start, max(start, end)
}

func (m *module) toString(call goja.FunctionCall) goja.Value {
	b := m.self(call)
	start, end := m.span(call.Argument(1), call.Argument(2), len(b))
	if start == end {
		return m.vm.ToValue("")
	}
	e := octets.UTF8
	if v := call.Argument(0); !goja.IsUndefined(v) {
		e = m.encoding(v)
	}
	return m.text(e, b[start:end])
}

// put writes as much of s into b as is made of whole characters, and returns how many
// bytes those are.
func put(b []byte, s goja.String, e octets.Encoding) int {
	encoded := e.Encode(s)
	n := min(len(b), len(encoded))
	if n < len(encoded) {
		switch e {
		case octets.UTF8:
			for n > 0 && !utf8.RuneStart(encoded[n]) {
				n--
			}
		case octets.UTF16LE:
			n &^= 1
		}
	}
	return copy(b[:n], encoded)
}

func (m *module) write(call goja.FunctionCall) goja.Value {
	b := m.self(call)
	s, ok := call.Argument(0).(goja.String)
	if !ok {
		panic(native.Error(m.vm, "TypeError", "ERR_INVALID_ARG_TYPE", "argument must be a string"))
	}
	offset, length, encoding := call.Argument(1), call.Argument(2), call.Argument(3)
	from, n := 0, len(b)
	switch {
	case goja.IsUndefined(offset):
		encoding = goja.Undefined()
	case goja.IsString(offset) && goja.IsUndefined(length):
		encoding = offset
	default:
		from = int(native.Integer(m.vm, offset, "offset", 0, float64(len(b))))
		n = len(b) - from
		switch {
		case goja.IsUndefined(length):
		case goja.IsString(length):
			encoding = length
		default:
			n = min(n, int(native.Integer(m.vm, length, "length", 0, float64(len(b)))))
		}
	}
	e := octets.UTF8
	if encoding.ToBoolean() {
		e = m.encoding(encoding)
	}
	return m.vm.ToValue(put(b[from:from+n], s, e))
}

// manyBytes is how long a Buffer may be for properties of its own to be looked for.
const manyBytes = 1 << 16

// inspect writes <Buffer 01 02>.
func (m *module) inspect(call goja.FunctionCall) goja.Value {
	b := m.self(call)
	this := call.This.(*goja.Object)
	var text strings.Builder
	name := "Buffer"
	if constructor, ok := get(this, "constructor").(*goja.Object); ok {
		name = get(constructor, "name").String()
	}
	text.WriteString("<" + name + " ")
	for i, c := range b[:min(len(b), m.shown)] {
		if i > 0 {
			text.WriteByte(' ')
		}
		fmt.Fprintf(&text, "%02x", c)
	}
	if more := len(b) - m.shown; more > 0 {
		plural := "s"
		if more == 1 {
			plural = ""
		}
		fmt.Fprintf(&text, " ... %d more byte%s", more, plural)
	}
	if len(b) < manyBytes {
		text.WriteString(m.own(this, len(b)))
	}
	text.WriteByte('>')
	return m.vm.ToValue(text.String())
}

// own writes the properties that a script gave to a Buffer of n bytes.
func (m *module) own(o *goja.Object, n int) string {
	keys := o.Keys()
	if len(keys) <= n {
		return ""
	}
	shown := m.vm.NewObject()
	for _, key := range keys[n:] {
		native.Must(shown.Set(key, get(o, key)))
	}
	options := inspect.Default()
	options.BreakLength, options.Compact = inspect.Unlimited, inspect.CompactAlways
	text := inspect.New(m.vm).Inspect(shown, options)
	text = strings.TrimSuffix(strings.TrimPrefix(text, "{ "), " }")
	if n > 0 {
		return ", " + text
	}
	return text
}

// transcode turns text from one encoding into another. What the other does not have
// becomes a question mark.
func (m *module) transcode(call goja.FunctionCall) goja.Value {
	b := m.bytesOf(call.Argument(0), "source")
	from, ok := octets.Named(call.Argument(1).String())
	to, also := octets.Named(call.Argument(2).String())
	if !ok || !also || from >= octets.Hex || to >= octets.Hex {
		e := native.Error(m.vm, "Error", "U_ILLEGAL_ARGUMENT_ERROR", "Unable to transcode Buffer [U_ILLEGAL_ARGUMENT_ERROR]")
		native.Must(e.Set("errno", 1))
		panic(e)
	}
	s := from.Decode(m.vm, b).(goja.String)
	most := rune(utf8.MaxRune)
	switch to {
	case octets.ASCII:
		most = 0x7f
	case octets.Latin1:
		most = 0xff
	}
	if most < utf8.MaxRune {
		s = m.vm.ToValue(strings.Map(func(r rune) rune {
			if r > most {
				return '?'
			}
			return r
		}, s.String())).(goja.String)
	}
	return m.of(to.Encode(s))
}

// Package encoding is what a script turns text into bytes with and back: the globals
// TextEncoder, TextDecoder, atob and btoa.
//
// TextDecoder knows the encodings of the Encoding Standard by all their labels, but for
// x-user-defined and replacement. Where Node 20 decodes windows-1252 as Latin-1, it
// follows the standard.
package encoding

import (
	_ "embed"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

//go:embed encoding.d.ts
var declarations string

// Module returns the globals.
func Module() engine.Module {
	return engine.Module{
		Globals:      []string{"TextEncoder", "TextDecoder", "atob", "btoa"},
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{vm: rt.VM(), octets: octets.New(rt.VM()), decoders: native.NewSlot[*decoder](), encoders: native.NewSlot[struct{}]()}
			exports := native.NewExports(m.vm)
			exports.Lazy("TextEncoder", m.textEncoder)
			exports.Lazy("TextDecoder", m.textDecoder)
			exports.Func("atob", 1, m.atob)
			exports.Func("btoa", 1, m.btoa)
			return exports.Object
		},
	}
}

type module struct {
	vm       *goja.Runtime
	octets   *octets.Octets
	encoders *native.Slot[struct{}]
	decoders *native.Slot[*decoder]
}

func (m *module) invalidThis(class string) *goja.Object {
	return native.Error(m.vm, "TypeError", "ERR_INVALID_THIS", `Value of "this" must be of type `+class)
}

func (m *module) textEncoder() goja.Value {
	c := native.NewClass(m.vm, "TextEncoder", 0, func(call goja.ConstructorCall) *goja.Object {
		m.encoders.Set(call.This, struct{}{})
		return nil
	})
	check := func(this goja.Value) {
		if _, ok := m.encoders.Get(this); !ok {
			panic(m.invalidThis("TextEncoder"))
		}
	}
	c.Tag("TextEncoder")
	c.Getter("encoding", func(this goja.Value) goja.Value {
		check(this)
		return m.vm.ToValue("utf-8")
	})
	c.Method("encode", 0, func(call goja.FunctionCall) goja.Value {
		check(call.This)
		if goja.IsUndefined(call.Argument(0)) {
			return m.octets.Uint8Array(nil)
		}
		return m.octets.Uint8Array(octets.UTF8.Encode(native.String(m.vm, call.Argument(0))))
	})
	c.Method("encodeInto", 2, func(call goja.FunctionCall) goja.Value {
		check(call.This)
		text := native.Text(m.vm, call.Argument(0), "src")
		if !m.octets.IsUint8Array(call.Argument(1)) {
			panic(native.InvalidType(m.vm, "dest", "an instance of Uint8Array", call.Argument(1)))
		}
		into, _ := m.octets.Bytes(call.Argument(1))
		read, written := encodeInto(text, into)
		o := m.vm.NewObject()
		native.Must(o.Set("read", read))
		native.Must(o.Set("written", written))
		return o
	})
	c.Inspected(0, func(this goja.Value) *goja.Object {
		check(this)
		o := m.vm.NewObject()
		native.Must(o.Set("encoding", "utf-8"))
		return o
	})
	return c.Constructor
}

// encodeInto writes whole characters as long as there is room. It returns how many code
// units it read and how many bytes it wrote.
func encodeInto(s goja.String, into []byte) (read, written int) {
	for _, r := range s.String() {
		if written+utf8.RuneLen(r) > len(into) {
			break
		}
		written += utf8.EncodeRune(into[written:], r)
		if read++; r >= 0x10000 {
			read++
		}
	}
	return read, written
}

func (m *module) textDecoder() goja.Value {
	c := native.NewClass(m.vm, "TextDecoder", 0, func(call goja.ConstructorCall) *goja.Object {
		label := "utf-8"
		if v := call.Argument(0); !goja.IsUndefined(v) {
			label = native.String(m.vm, v).String()
		}
		options := m.options(call.Argument(1))
		d := newDecoder(label)
		if d == nil {
			panic(native.Error(m.vm, "RangeError", "ERR_ENCODING_NOT_SUPPORTED", `The "`+label+`" encoding is not supported`))
		}
		d.fatal, d.ignoreBOM = option(options, "fatal"), option(options, "ignoreBOM")
		m.decoders.Set(call.This, d)
		return nil
	})
	of := func(this goja.Value) *decoder {
		d, ok := m.decoders.Get(this)
		if !ok {
			panic(m.invalidThis("TextDecoder"))
		}
		return d
	}
	c.Tag("TextDecoder")
	c.Method("decode", 0, func(call goja.FunctionCall) goja.Value {
		d := of(call.This)
		var input []byte
		if v := call.Argument(0); !goja.IsUndefined(v) {
			b, ok := m.octets.Bytes(v)
			if !ok {
				panic(native.InvalidType(m.vm, "input", "an instance of ArrayBuffer or ArrayBufferView", v))
			}
			input = b
		}
		stream := option(m.options(call.Argument(1)), "stream")
		text, ok := d.decode(input, !stream)
		if !ok {
			panic(native.Error(m.vm, "TypeError", "ERR_ENCODING_INVALID_ENCODED_DATA", "The encoded data was not valid for encoding "+d.name))
		}
		return m.vm.ToValue(text)
	})
	read := map[string]func(*decoder) any{
		"encoding":  func(d *decoder) any { return d.name },
		"fatal":     func(d *decoder) any { return d.fatal },
		"ignoreBOM": func(d *decoder) any { return d.ignoreBOM },
	}
	names := []string{"encoding", "fatal", "ignoreBOM"}
	for _, name := range names {
		c.Getter(name, func(this goja.Value) goja.Value { return m.vm.ToValue(read[name](of(this))) })
	}
	c.Inspected(0, func(this goja.Value) *goja.Object {
		o := m.vm.NewObject()
		for _, name := range names {
			native.Must(o.Set(name, read[name](of(this))))
		}
		return o
	})
	return c.Constructor
}

// options checks an argument that holds options, which may be missing.
func (m *module) options(v goja.Value) *goja.Object {
	if goja.IsUndefined(v) || goja.IsNull(v) {
		return nil
	}
	o, ok := v.(*goja.Object)
	if !ok {
		panic(native.InvalidType(m.vm, "options", "of type object", v))
	}
	return o
}

func option(o *goja.Object, name string) bool {
	if o == nil {
		return false
	}
	v := o.Get(name)
	return v != nil && v.ToBoolean()
}

func (m *module) missing(call goja.FunctionCall) {
	if len(call.Arguments) == 0 {
		panic(native.Error(m.vm, "TypeError", "ERR_MISSING_ARGS", `The "input" argument must be specified`))
	}
}

func (m *module) btoa(call goja.FunctionCall) goja.Value {
	m.missing(call)
	s := native.String(m.vm, call.Argument(0))
	if !octets.IsLatin1(s) {
		panic(native.DOMException(m.vm, "InvalidCharacterError", "Invalid character"))
	}
	return octets.Base64.Decode(m.vm, octets.Latin1.Encode(s))
}

func (m *module) atob(call goja.FunctionCall) goja.Value {
	m.missing(call)
	text := native.String(m.vm, call.Argument(0)).String()
	if strings.ContainsAny(text, " \t\n\f\r") {
		text = strings.NewReplacer(" ", "", "\t", "", "\n", "", "\f", "", "\r", "").Replace(text)
	}
	digits := strings.TrimRight(text, "=")
	switch padding := len(text) - len(digits); {
	case strings.TrimLeft(digits, alphabet) != "", padding > 2, padding > 0 && len(text)%4 != 0 && len(digits)%4 != 1:
		panic(native.DOMException(m.vm, "InvalidCharacterError", "Invalid character"))
	case len(digits)%4 == 1:
		panic(native.DOMException(m.vm, "InvalidCharacterError", "The string to be decoded is not correctly encoded."))
	}
	return octets.Latin1.Decode(m.vm, octets.Base64.Encode(m.vm.ToValue(digits).(goja.String)))
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

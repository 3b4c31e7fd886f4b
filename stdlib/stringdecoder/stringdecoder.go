// Package stringdecoder is node:string_decoder: text out of chunks of bytes that may end
// in the middle of a character.
package stringdecoder

import (
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

//go:embed stringdecoder.d.ts
var declarations string

// Module returns node:string_decoder.
func Module() engine.Module {
	return engine.Module{
		Name:         "node:string_decoder",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{vm: rt.VM(), octets: octets.New(rt.VM()), decoders: native.NewSlot[*decoder]()}
			e := native.NewExports(m.vm)
			e.Value("StringDecoder", m.class())
			return e.Object
		},
	}
}

type module struct {
	vm       *goja.Runtime
	octets   *octets.Octets
	decoders *native.Slot[*decoder]
}

// decoder is the state behind a StringDecoder.
type decoder struct {
	encoding octets.Encoding
	pending  []byte // the start of a character
	missing  int    // how many bytes it lacks
}

func (m *module) class() *goja.Object {
	c := native.NewClass(m.vm, "StringDecoder", 1, func(call goja.ConstructorCall) *goja.Object {
		d := &decoder{}
		if v := call.Argument(0); !goja.IsUndefined(v) && !goja.IsNull(v) && v.String() != "" {
			e, ok := octets.Named(native.String(m.vm, v).String())
			if !ok {
				panic(native.Error(m.vm, "TypeError", "ERR_UNKNOWN_ENCODING", "Unknown encoding: "+v.String()))
			}
			d.encoding = e
		}
		native.Must(call.This.Set("encoding", d.encoding.String()))
		m.decoders.Set(call.This, d)
		return nil
	})
	c.Method("write", 1, func(call goja.FunctionCall) goja.Value {
		return m.write(m.of(call.This), call.Argument(0))
	})
	c.Method("end", 1, func(call goja.FunctionCall) goja.Value {
		d := m.of(call.This)
		text := m.vm.ToValue("").(goja.String)
		if v := call.Argument(0); !goja.IsUndefined(v) {
			text = m.write(d, v)
		}
		return text.Concat(d.flush(m.vm))
	})
	c.Method("text", 2, func(call goja.FunctionCall) goja.Value {
		d := m.of(call.This)
		d.pending, d.missing = nil, 0
		o := call.Argument(0).ToObject(m.vm)
		return m.write(d, native.Invoke(m.vm, o, "slice", call.Argument(1)))
	})
	c.Getter("lastNeed", func(this goja.Value) goja.Value { return m.vm.ToValue(m.of(this).missing) })
	c.Getter("lastTotal", func(this goja.Value) goja.Value {
		d := m.of(this)
		return m.vm.ToValue(len(d.pending) + d.missing)
	})
	c.Getter("lastChar", func(this goja.Value) goja.Value {
		b := make([]byte, 4)
		copy(b, m.of(this).pending)
		return m.octets.Buffer(b)
	})
	return c.Constructor
}

func (m *module) of(this goja.Value) *decoder {
	d, ok := m.decoders.Get(this)
	if !ok {
		panic(native.Error(m.vm, "TypeError", "ERR_INVALID_THIS", `Value of "this" must be of type StringDecoder`))
	}
	return d
}

func (m *module) write(d *decoder, v goja.Value) goja.String {
	if s, ok := v.(goja.String); ok {
		return s
	}
	if !m.octets.IsView(v) {
		panic(native.InvalidType(m.vm, "buf", "an instance of Buffer, TypedArray, or DataView", v))
	}
	b, _ := m.octets.Bytes(v)
	return d.write(m.vm, b)
}

// write decodes what is complete and keeps the rest.
func (d *decoder) write(vm *goja.Runtime, b []byte) goja.String {
	if len(d.pending) > 0 {
		b = append(d.pending, b...)
	}
	have, missing := 0, 0
	switch d.encoding {
	case octets.UTF8:
		have, missing = octets.Unfinished(b)
	case octets.UTF16LE:
		have, missing = len(b)%2, len(b)%2
		if n := len(b) - have; n >= 2 && b[n-1]&0xfc == 0xd8 {
			have, missing = have+2, 2-have
		}
	case octets.Base64, octets.Base64URL:
		if have = len(b) % 3; have > 0 {
			missing = 3 - have
		}
	}
	text := d.encoding.Decode(vm, b[:len(b)-have]).(goja.String)
	d.pending, d.missing = append([]byte(nil), b[len(b)-have:]...), missing
	return text
}

// flush decodes what is left although it is not complete.
func (d *decoder) flush(vm *goja.Runtime) goja.String {
	text := d.encoding.Decode(vm, d.pending).(goja.String)
	d.pending, d.missing = nil, 0
	return text
}

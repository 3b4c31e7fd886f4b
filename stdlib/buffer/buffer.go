// Package buffer is Node's Buffer: the global, and the module node:buffer.
//
// A Buffer is a Uint8Array with the prototype of Buffer. Its memory is the script's own;
// small ones do not share a pool as Node's do. Whatever works on many bytes at a time is
// done here, in Go.
package buffer

import (
	_ "embed"
	"unicode/utf8"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

//go:embed buffer.d.ts
var declarations string

// Module returns the global and the module.
func Module() engine.Module {
	return engine.Module{
		Name:         "node:buffer",
		Globals:      []string{"Buffer"},
		Declarations: declarations,
		Make:         func(rt *engine.Runtime) *goja.Object { return newModule(rt).exports() },
	}
}

type module struct {
	rt     *engine.Runtime
	vm     *goja.Runtime
	octets *octets.Octets
	class  *native.Class

	// Getters of the prototype of all typed arrays.
	buffer, offset goja.Callable

	shown int // bytes of a Buffer that are shown
}

func newModule(rt *engine.Runtime) *module {
	m := &module{rt: rt, vm: rt.VM(), octets: octets.New(rt.VM()), shown: 50}
	bytes := m.vm.Get("Uint8Array").(*goja.Object)
	views := bytes.Prototype().Get("prototype").(*goja.Object)
	m.buffer, m.offset = m.getter(views, "buffer"), m.getter(views, "byteOffset")

	m.class = native.NewClass(m.vm, "Buffer", 3, m.construct)
	m.class.Extends(bytes)
	m.statics()
	m.texts()
	m.numbers()
	m.searches()
	m.parts()
	return m
}

func (m *module) getter(o *goja.Object, name string) goja.Callable {
	object := m.vm.Get("Object").(*goja.Object)
	d := native.Invoke(m.vm, object, "getOwnPropertyDescriptor", o, m.vm.ToValue(name)).(*goja.Object)
	get, _ := goja.AssertFunction(d.Get("get"))
	return get
}

func (m *module) exports() *goja.Object {
	e := native.NewExports(m.vm)
	e.Value("Buffer", m.class.Constructor)
	e.Func("SlowBuffer", 1, func(call goja.FunctionCall) goja.Value { return m.make(m.size(call.Argument(0))) })
	e.Func("transcode", 3, m.transcode)
	e.Func("isUtf8", 1, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(utf8.Valid(m.source(call.Argument(0))))
	})
	e.Func("isAscii", 1, func(call goja.FunctionCall) goja.Value {
		for _, c := range m.source(call.Argument(0)) {
			if c >= utf8.RuneSelf {
				return m.vm.ToValue(false)
			}
		}
		return m.vm.ToValue(true)
	})
	e.Value("kMaxLength", octets.MaxLength)
	e.Value("kStringMaxLength", octets.MaxString)
	constants := m.vm.NewObject()
	for name, n := range map[string]int{"MAX_LENGTH": octets.MaxLength, "MAX_STRING_LENGTH": octets.MaxString} {
		native.Must(constants.DefineDataProperty(name, m.vm.ToValue(n), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE))
	}
	e.Value("constants", constants)
	get := native.Func(m.vm, "get INSPECT_MAX_BYTES", 0, func(goja.FunctionCall) goja.Value { return m.vm.ToValue(m.shown) })
	set := native.Func(m.vm, "set INSPECT_MAX_BYTES", 1, func(call goja.FunctionCall) goja.Value {
		m.shown = int(native.Integer(m.vm, call.Argument(0), "INSPECT_MAX_BYTES", 0, native.MaxSafe))
		return nil
	})
	native.Must(e.DefineAccessorProperty("INSPECT_MAX_BYTES", get, set, goja.FLAG_TRUE, goja.FLAG_TRUE))
	for _, name := range []string{"atob", "btoa", "Blob", "File"} {
		e.Global(name)
	}
	return e.Object
}

// source reads an argument that may be any kind of memory.
func (m *module) source(v goja.Value) []byte {
	b, ok := m.octets.Bytes(v)
	if !ok {
		panic(native.InvalidType(m.vm, "input", "an instance of ArrayBuffer, Buffer, or TypedArray", v))
	}
	return b
}

// self returns the bytes of the Buffer, or Uint8Array, that a method is called on.
func (m *module) self(call goja.FunctionCall) []byte {
	if b, ok := m.octets.Under(m.class.Prototype, call.This); ok {
		return b
	}
	if !m.octets.IsUint8Array(call.This) {
		panic(native.InvalidType(m.vm, "this", "an instance of Buffer or Uint8Array", call.This))
	}
	b, _ := m.octets.Bytes(call.This)
	return b
}

// bytesOf reads an argument that must be a Uint8Array.
func (m *module) bytesOf(v goja.Value, name string) []byte {
	if b, ok := m.octets.Under(m.class.Prototype, v); ok {
		return b
	}
	if !m.octets.IsUint8Array(v) {
		panic(native.InvalidType(m.vm, name, "an instance of Buffer or Uint8Array", v))
	}
	b, _ := m.octets.Bytes(v)
	return b
}

// of returns a Buffer over b, which then belongs to the script.
func (m *module) of(b []byte) *goja.Object {
	return m.octets.View(m.class.Constructor, m.octets.ArrayBuffer(b))
}

// make returns a Buffer of n zeros.
func (m *module) make(n int64) *goja.Object { return m.of(m.octets.Make(n)) }

// size checks the size of a Buffer to be.
func (m *module) size(v goja.Value) int64 {
	if !goja.IsNumber(v) {
		panic(native.InvalidType(m.vm, "size", "of type number", v))
	}
	f := v.ToFloat()
	if !(f >= 0 && f <= octets.MaxLength) {
		panic(native.OutOfRange(m.vm, "size", ">= 0 && <= 4294967296", v))
	}
	return int64(f)
}

// construct is new Buffer(…), which is the same as Buffer.alloc or Buffer.from, but that
// heirs of the class get instances of their own.
func (m *module) construct(call goja.ConstructorCall) *goja.Object {
	arg := call.Argument(0)
	var o *goja.Object
	if goja.IsNumber(arg) {
		if goja.IsString(call.Argument(1)) {
			panic(native.InvalidType(m.vm, "string", "of type string", arg))
		}
		o = m.make(m.size(arg))
	} else {
		o = m.from(arg, call.Argument(1), call.Argument(2))
	}
	if p := call.This.Prototype(); p != m.class.Prototype {
		native.Must(o.SetPrototype(p))
	}
	return o
}

// encoding reads an argument that names an encoding and throws if there is none of that
// name.
func (m *module) encoding(v goja.Value) octets.Encoding {
	e, ok := octets.Named(native.String(m.vm, v).String())
	if !ok {
		panic(native.Error(m.vm, "TypeError", "ERR_UNKNOWN_ENCODING", "Unknown encoding: "+v.String()))
	}
	return e
}

func (m *module) outOfBounds(message string) *goja.Object {
	return native.Error(m.vm, "RangeError", "ERR_BUFFER_OUT_OF_BOUNDS", message)
}

const outside = "Attempt to access memory outside buffer bounds"

// Package octets moves bytes between Go and a script: the memory behind ArrayBuffers and
// their views, and text in the encodings that Node knows by name.
//
// All of it belongs to the goroutine of the runtime.
package octets

import (
	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// MaxLength is how many bytes one buffer may have, and MaxString how many code units
// one string: Node's limits.
const (
	MaxLength = 1 << 32
	MaxString = 1<<29 - 24
)

// maxAllocation is the largest buffer that is really made.
const maxAllocation = 1 << 30

// Octets makes and reads the buffers of one runtime.
type Octets struct {
	vm         *goja.Runtime
	isView     goja.Callable
	uint8Array *goja.Object
}

// New takes hold of the built-in functions that it needs.
func New(vm *goja.Runtime) *Octets {
	o := &Octets{vm: vm, uint8Array: vm.Get("Uint8Array").(*goja.Object)}
	o.isView, _ = goja.AssertFunction(vm.Get("ArrayBuffer").(*goja.Object).Get("isView"))
	return o
}

// Bytes returns the memory of an ArrayBuffer or of a view of one, not a copy. Memory
// that was given away has no bytes.
func (oc *Octets) Bytes(v goja.Value) (b []byte, ok bool) {
	o, isObject := v.(*goja.Object)
	if !isObject {
		return nil, false
	}
	defer func() {
		if recover() != nil { // a view of memory that was given away
			b = nil
		}
	}()
	switch o.ExportType() {
	case typeBytes:
		ok = true
		b, _ = o.Export().([]byte)
		return b, true
	case typeArrayBuffer:
		buffer, is := o.Export().(goja.ArrayBuffer)
		if !is {
			return nil, false
		}
		return buffer.Bytes(), true
	}
	if !native.Call(oc.isView, goja.Undefined(), o).ToBoolean() {
		return nil, false
	}
	ok = true
	if err := oc.vm.ExportTo(o, &b); err != nil {
		return nil, false
	}
	return b, true
}

// Under returns the bytes of an object whose prototype is the given one: that of an heir
// of Uint8Array. It is what Bytes returns, faster.
func (oc *Octets) Under(prototype *goja.Object, v goja.Value) (b []byte, ok bool) {
	o, isObject := v.(*goja.Object)
	if !isObject || o.Prototype() != prototype || o.ExportType() != typeBytes {
		return nil, false
	}
	defer func() {
		if recover() != nil { // a view of memory that was given away
			b = nil
		}
	}()
	ok = true
	b, _ = o.Export().([]byte)
	return b, true
}

// IsView reports whether v is a typed array or a DataView, whatever its prototype says.
func (oc *Octets) IsView(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	return ok && native.Call(oc.isView, goja.Undefined(), o).ToBoolean()
}

// IsUint8Array reports whether v is one, whatever its prototype says.
func (oc *Octets) IsUint8Array(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok || o.ExportType() != typeBytes {
		return false
	}
	return native.Call(oc.isView, goja.Undefined(), o).ToBoolean() && !oc.isClamped(o)
}

// isClamped tells the other array of bytes from a Uint8Array: it has the getter of the
// class's name.
func (oc *Octets) isClamped(o *goja.Object) bool {
	tag := o.GetSymbol(goja.SymToStringTag)
	return tag != nil && tag.String() == "Uint8ClampedArray"
}

// IsArrayBuffer reports whether v is one, whatever its prototype says.
func (oc *Octets) IsArrayBuffer(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	return ok && o.ExportType() == typeArrayBuffer
}

// ArrayBuffer returns an ArrayBuffer over b, which then belongs to the script.
func (oc *Octets) ArrayBuffer(b []byte) *goja.Object {
	return oc.vm.ToValue(oc.vm.NewArrayBuffer(b)).(*goja.Object)
}

// Uint8Array returns a Uint8Array over b, which then belongs to the script.
func (oc *Octets) Uint8Array(b []byte) *goja.Object {
	return native.Construct(oc.uint8Array, oc.uint8Array, oc.ArrayBuffer(b))
}

// Buffer returns a Buffer over b, or a Uint8Array where the runtime has no Buffer.
func (oc *Octets) Buffer(b []byte) *goja.Object {
	class, ok := oc.vm.GlobalObject().Get("Buffer").(*goja.Object)
	if ok {
		_, ok = goja.AssertConstructor(class)
	}
	if !ok {
		class = oc.uint8Array
	}
	return oc.View(class, oc.ArrayBuffer(b))
}

// View is an instance of class, which is Uint8Array or an heir, over an ArrayBuffer.
func (oc *Octets) View(class *goja.Object, args ...goja.Value) *goja.Object {
	return native.Construct(oc.uint8Array, class, args...)
}

// Make allocates n bytes, or throws what engines throw when there is no memory.
func (oc *Octets) Make(n int64) []byte {
	if n > maxAllocation || n < 0 {
		e, err := oc.vm.New(oc.vm.Get("RangeError"), oc.vm.ToValue("Array buffer allocation failed"))
		native.Must(err)
		panic(e)
	}
	return make([]byte, n)
}

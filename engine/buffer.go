package engine

import (
	"math"

	"github.com/dop251/goja"
)

// installTransfer gives ArrayBuffer what ECMAScript 2024 gave it. No buffer can be
// resized: goja's typed arrays hold on to the memory that they began with.
func (rt *Runtime) installTransfer() {
	prototype := rt.vm.Get("ArrayBuffer").ToObject(rt.vm).Get("prototype").ToObject(rt.vm)
	buffer := func(v goja.Value, method string) goja.ArrayBuffer {
		if o, ok := v.(*goja.Object); ok {
			if b, ok := o.Export().(goja.ArrayBuffer); ok {
				return b
			}
		}
		panic(rt.vm.NewTypeError("Method ArrayBuffer.prototype.%s called on incompatible receiver %s", method, v))
	}
	getter := func(name string, get func(b goja.ArrayBuffer) any) {
		fn := rt.Function("get "+name, func(c goja.FunctionCall) goja.Value { return rt.vm.ToValue(get(buffer(c.This, name))) })
		if err := prototype.DefineAccessorProperty(name, fn, nil, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			panic(err)
		}
	}
	getter("detached", func(b goja.ArrayBuffer) any { return b.Detached() })
	getter("resizable", func(goja.ArrayBuffer) any { return false })
	getter("maxByteLength", func(b goja.ArrayBuffer) any { return len(b.Bytes()) })
	for _, name := range []string{"transfer", "transferToFixedLength"} {
		fn := rt.Function(name, func(c goja.FunctionCall) goja.Value {
			b := buffer(c.This, name)
			length := len(b.Bytes())
			if v := c.Argument(0); !goja.IsUndefined(v) {
				f := v.ToFloat()
				if math.IsNaN(f) {
					f = 0
				}
				if f < 0 || f > math.MaxInt32 {
					panic(rt.rangeError("Invalid array buffer length"))
				}
				length = int(f)
			}
			if b.Detached() {
				panic(rt.vm.NewTypeError("Cannot perform ArrayBuffer.prototype.%s on a detached ArrayBuffer", name))
			}
			data := b.Bytes()
			if length != len(data) {
				data = make([]byte, length)
				copy(data, b.Bytes())
			}
			b.Detach()
			return rt.vm.ToValue(rt.vm.NewArrayBuffer(data))
		})
		if err := prototype.DefineDataProperty(name, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			panic(err)
		}
	}
}

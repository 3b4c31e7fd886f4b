package clone

import (
	"github.com/dop251/goja"

	"mcpx/engine"
)

// intrinsics are built-ins of one runtime as they were when the module was made.
type intrinsics struct {
	rt *engine.Runtime
	vm *goja.Runtime

	objectPrototype, arrayConstructor                     *goja.Object
	mapConstructor, setConstructor, dateConstructor       *goja.Object
	regexpConstructor, dataViewConstructor, objectFactory *goja.Object
	named                                                 map[string]*goja.Object // constructors of errors and of views
	isView, viewTag, mapEach, mapSet, setEach, setAdd     goja.Callable
	getTime, stringValue, descriptor                      goja.Callable
}

var errorNames = []string{"Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"}

var viewNames = []string{
	"Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
	"Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
}

func capture(rt *engine.Runtime) *intrinsics {
	vm := rt.VM()
	global := func(name string) *goja.Object { return vm.Get(name).ToObject(vm) }
	proto := func(name string) *goja.Object { return global(name).Get("prototype").ToObject(vm) }
	method := func(o *goja.Object, name string) goja.Callable {
		fn, ok := goja.AssertFunction(o.Get(name))
		if !ok {
			panic(vm.NewTypeError("%s was removed by the script", name))
		}
		return fn
	}
	in := &intrinsics{rt: rt, vm: vm, named: map[string]*goja.Object{}}
	in.objectPrototype, in.objectFactory = proto("Object"), global("Object")
	in.arrayConstructor = global("Array")
	in.mapConstructor, in.setConstructor = global("Map"), global("Set")
	in.dateConstructor, in.regexpConstructor = global("Date"), global("RegExp")
	in.dataViewConstructor = global("DataView")
	for _, name := range errorNames {
		in.named[name] = global(name)
	}
	for _, name := range viewNames {
		if c, ok := vm.Get(name).(*goja.Object); ok {
			in.named[name] = c
		}
	}
	in.isView = method(global("ArrayBuffer"), "isView")
	in.mapEach, in.mapSet = method(proto("Map"), "forEach"), method(proto("Map"), "set")
	in.setEach, in.setAdd = method(proto("Set"), "forEach"), method(proto("Set"), "add")
	in.stringValue = method(proto("String"), "valueOf")
	in.getTime = method(proto("Date"), "getTime")
	in.descriptor = method(in.objectFactory, "getOwnPropertyDescriptor")
	views := proto("Uint8Array").Prototype()
	d, err := in.descriptor(goja.Undefined(), views, goja.SymToStringTag)
	must(err)
	in.viewTag = method(d.ToObject(vm), "get")
	return in
}

// construct is new c(…).
func (in *intrinsics) construct(c *goja.Object, args ...goja.Value) *goja.Object {
	o, err := in.vm.New(c, args...)
	must(err)
	return o
}

// call calls fn and throws on what it throws.
func call(fn goja.Callable, this goja.Value, args ...goja.Value) goja.Value {
	v, err := fn(this, args...)
	must(err)
	return v
}

// coded makes a TypeError with a code of Node's.
func (in *intrinsics) coded(code, message string) *goja.Object {
	e := in.vm.NewTypeError("%s", message)
	must(e.Set("code", code))
	return e
}

// cloneError makes a DataCloneError.
func (in *intrinsics) cloneError(message string) *goja.Object {
	c, ok := in.vm.Get("DOMException").(*goja.Object)
	if !ok {
		return in.vm.NewTypeError("%s", message)
	}
	return in.construct(c, in.vm.ToValue(message), in.vm.ToValue("DataCloneError"))
}

// rangeError makes the error of a stack that is too deep.
func (in *intrinsics) rangeError(message string) *goja.Object {
	return in.construct(in.named["RangeError"], in.vm.ToValue(message))
}

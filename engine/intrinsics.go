package engine

import (
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// intrinsics are built-ins of JavaScript that the engine uses, as they were before the
// script could change them.
type intrinsics struct {
	vm              *goja.Runtime
	newErrorObject  *goja.Object  // Error
	then            goja.Callable // Promise.prototype.then
	objectPrototype *goja.Object  // Object.prototype
	kind            *goja.Symbol  // hidden property of errors that NewError made
	viewPrototype   *goja.Object  // DataView.prototype, once it is needed
}

func (in *intrinsics) init(vm *goja.Runtime) {
	in.vm = vm
	in.newErrorObject = vm.Get("Error").(*goja.Object)
	in.objectPrototype = vm.Get("Object").(*goja.Object).Get("prototype").(*goja.Object)
	prototype := vm.Get("Promise").(*goja.Object).Get("prototype").(*goja.Object)
	in.then, _ = goja.AssertFunction(prototype.Get("then"))
	in.kind = goja.NewSymbol("mcpx.kind")
}

func (in *intrinsics) isDataView(o *goja.Object) bool {
	if in.viewPrototype == nil {
		in.viewPrototype = in.vm.Get("DataView").(*goja.Object).Get("prototype").(*goja.Object)
	}
	return o.Prototype() == in.viewPrototype
}

// isClass reports whether a function can only be called with new: unlike that of others its prototype is fixed.
func (in *intrinsics) isClass(function goja.Value) bool {
	d, ok := in.call("Object", "getOwnPropertyDescriptor", function, in.vm.ToValue("prototype")).(*goja.Object)
	return ok && !d.Get("writable").ToBoolean()
}

// The following reach properties whose names may have lone surrogates, which the
// functions of goja that take a Go string cannot. Those are rare enough to be looked up
// each time.

func (in *intrinsics) keys(o *goja.Object) goja.Value {
	return in.call("Object", "keys", o)
}

// odd reports whether a name may have lone surrogates.
func odd(key goja.Value) bool { return strings.ContainsRune(key.String(), utf8.RuneError) }

func (in *intrinsics) get(o *goja.Object, key goja.Value) goja.Value {
	if !odd(key) {
		if v := o.Get(key.String()); v != nil {
			return v
		}
		return goja.Undefined()
	}
	return in.call("Reflect", "get", o, key)
}

// define makes a plain property, or nothing if o does not take it.
func (in *intrinsics) define(o *goja.Object, key, v goja.Value) {
	if !odd(key) {
		_ = o.DefineDataProperty(key.String(), v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		return
	}
	descriptor := in.vm.NewObject()
	for name, v := range map[string]goja.Value{
		"value": v, "writable": in.vm.ToValue(true), "configurable": in.vm.ToValue(true), "enumerable": in.vm.ToValue(true),
	} {
		if err := descriptor.Set(name, v); err != nil {
			panic(err)
		}
	}
	in.call("Reflect", "defineProperty", o, key, descriptor)
}

func (in *intrinsics) call(object, method string, args ...goja.Value) goja.Value {
	fn, ok := goja.AssertFunction(in.vm.Get(object).ToObject(in.vm).Get(method))
	if !ok {
		panic(in.vm.NewTypeError("%s.%s is not a function", object, method))
	}
	v, err := fn(goja.Undefined(), args...)
	if err != nil {
		panic(err)
	}
	return v
}

// rangeError makes a RangeError.
func (rt *Runtime) rangeError(message string) *goja.Object {
	o, err := rt.vm.New(rt.vm.Get("RangeError"), rt.vm.ToValue(message))
	if err != nil {
		panic(err)
	}
	return o
}

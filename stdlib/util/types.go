package util

import (
	"slices"
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// types makes util.types: what a value is by its internal slots.
func (m *module) types() *goja.Object {
	vm := m.vm
	o := vm.NewObject()
	tags := vm.Get("Uint8Array").(*goja.Object).Prototype().Get("prototype").(*goja.Object)
	describe, _ := goja.AssertFunction(vm.Get("Object").(*goja.Object).Get("getOwnPropertyDescriptor"))
	tag, _ := goja.AssertFunction(native.Call(describe, goja.Undefined(), tags, goja.SymToStringTag).(*goja.Object).Get("get"))
	objectTag, _ := goja.AssertFunction(vm.Get("Object").(*goja.Object).Get("prototype").(*goja.Object).Get("toString"))
	test := func(name string, is func(o *goja.Object) bool) {
		native.Set(vm, o, name, 1, func(c goja.FunctionCall) goja.Value {
			o, ok := c.Argument(0).(*goja.Object)
			return vm.ToValue(ok && is(o))
		})
	}
	class := func(name string, classes ...string) {
		test(name, func(o *goja.Object) bool {
			is := m.in.Class(o)
			return slices.Contains(classes, is)
		})
	}
	class("isDate", "Date")
	class("isArgumentsObject", "Arguments")
	class("isBigIntObject", "BigInt")
	class("isBooleanObject", "Boolean")
	class("isNumberObject", "Number")
	class("isStringObject", "String")
	class("isSymbolObject", "Symbol")
	class("isNativeError", "Error")
	class("isRegExp", "RegExp")
	kinds := m.functionKinds()
	test("isAsyncFunction", func(o *goja.Object) bool { return inherits(o, kinds.async) && callable(o) })
	test("isGeneratorFunction", func(o *goja.Object) bool { return inherits(o, kinds.generator) && callable(o) })
	tagged := func(text string) func(o *goja.Object) bool {
		return func(o *goja.Object) bool {
			return m.in.Class(o) != "Proxy" && native.Call(objectTag, o).String() == "[object "+text+"]"
		}
	}
	test("isGeneratorObject", tagged("Generator"))
	class("isPromise", "Promise")
	class("isMap", "Map")
	class("isSet", "Set")
	test("isMapIterator", tagged("Map Iterator"))
	test("isSetIterator", tagged("Set Iterator"))
	class("isWeakMap", "WeakMap")
	class("isWeakSet", "WeakSet")
	class("isArrayBuffer", "ArrayBuffer")
	class("isDataView", "DataView")
	test("isSharedArrayBuffer", func(*goja.Object) bool { return false })
	class("isProxy", "Proxy")
	test("isModuleNamespaceObject", func(*goja.Object) bool { return false })
	class("isAnyArrayBuffer", "ArrayBuffer")
	class("isBoxedPrimitive", "Number", "String", "Boolean", "BigInt", "Symbol")
	class("isArrayBufferView", "TypedArray", "DataView")
	class("isTypedArray", "TypedArray")
	for _, name := range []string{
		"Uint8Array", "Uint8ClampedArray", "Uint16Array", "Uint32Array", "Int8Array", "Int16Array", "Int32Array",
		"Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
	} {
		test("is"+name, func(o *goja.Object) bool {
			return m.in.Class(o) == "TypedArray" && native.Call(tag, o).String() == name
		})
	}
	instance := func(name, of string) {
		test(name, func(o *goja.Object) bool {
			c, ok := vm.GlobalObject().Get(of).(*goja.Object)
			return ok && m.in.Class(o) != "Proxy" && vm.InstanceOf(o, c)
		})
	}
	instance("isCryptoKey", "CryptoKey")
	test("isExternal", func(*goja.Object) bool { return false })
	return o
}

// functionKinds are the prototypes of kinds of functions that no global names.
type functionKinds struct{ async, generator *goja.Object }

func (m *module) functionKinds() functionKinds {
	v, err := m.vm.RunProgram(kindsProgram())
	native.Must(err)
	o := v.(*goja.Object)
	return functionKinds{o.Get("async").(*goja.Object).Prototype(), o.Get("generator").(*goja.Object).Prototype()}
}

func inherits(o, ancestor *goja.Object) bool {
	for p := o.Prototype(); p != nil; p = p.Prototype() {
		if p == ancestor {
			return true
		}
	}
	return false
}

// withoutEscapes takes terminal control sequences out of a text.
func withoutEscapes(s string) string {
	if !strings.ContainsAny(s, "\x1b\u009b") {
		return s
	}
	return escapes().ReplaceAllString(s, "")
}

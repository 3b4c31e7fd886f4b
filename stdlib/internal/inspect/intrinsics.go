package inspect

import (
	"math/big"
	"reflect"
	"sync"

	"github.com/dop251/goja"
)

// intrinsics are built-in functions and objects of one runtime, held since before the
// script could replace them.
type intrinsics struct {
	vm *goja.Runtime

	objectPrototype, functionPrototype   *goja.Object
	object, functionConstructor          *goja.Object
	weakMapPrototype, weakSetPrototype   *goja.Object
	dataViewPrototype                    *goja.Object
	asyncPrototype, generatorPrototype   *goja.Object
	custom                               *goja.Symbol // Symbol.for("nodejs.util.inspect.custom")
	rangeErrorConstructor                goja.Constructor
	descriptor, keys, names, symbols     goja.Callable
	isEnumerable, hasOwn, has            goja.Callable
	isArray, sourceOf, errorText         goja.Callable
	mapEntries, mapNext, mapSize         goja.Callable
	setValues, setNext, setSize          goja.Callable
	weakMapHas, weakSetHas               goja.Callable
	viewTag, viewLength                  goja.Callable
	dataViewLength                       goja.Callable
	symbolText, regexpText               goja.Callable
	isoTime, getTime                     goja.Callable
	numberValue, stringValue, boolValue  goja.Callable
	bigintValue, symbolValue             goja.Callable
	stringify, parseInt, parseFloat, str goja.Callable
	nothing                              goja.Callable
}

func capture(vm *goja.Runtime) *intrinsics {
	global := func(name string) *goja.Object { return member(vm, vm.GlobalObject(), name) }
	proto := func(name string) *goja.Object { return member(vm, global(name), "prototype") }
	method := func(o *goja.Object, name string) goja.Callable { return function(vm, o.Get(name), name) }

	in := &intrinsics{vm: vm}
	in.object, in.functionConstructor = global("Object"), global("Function")
	in.objectPrototype, in.functionPrototype = proto("Object"), proto("Function")
	in.weakMapPrototype, in.weakSetPrototype = proto("WeakMap"), proto("WeakSet")
	in.dataViewPrototype = proto("DataView")

	in.descriptor = method(in.object, "getOwnPropertyDescriptor")
	in.keys = method(in.object, "keys")
	in.names = method(in.object, "getOwnPropertyNames")
	in.symbols = method(in.object, "getOwnPropertySymbols")
	in.isEnumerable = method(in.objectPrototype, "propertyIsEnumerable")
	in.hasOwn = method(in.objectPrototype, "hasOwnProperty")
	in.has = method(global("Reflect"), "has")
	in.isArray = method(global("Array"), "isArray")
	in.sourceOf = method(in.functionPrototype, "toString")
	in.errorText = method(proto("Error"), "toString")

	getter := func(o *goja.Object, key goja.Value) goja.Callable {
		d, err := in.descriptor(goja.Undefined(), o, key)
		must(err)
		return function(vm, d.ToObject(vm).Get("get"), key.String())
	}
	next := func(start goja.Callable, constructor string) goja.Callable {
		empty, err := vm.New(global(constructor))
		must(err)
		it, err := start(empty)
		must(err)
		return method(it.ToObject(vm), "next")
	}
	size := vm.ToValue("size")
	in.mapEntries, in.mapSize = method(proto("Map"), "entries"), getter(proto("Map"), size)
	in.mapNext = next(in.mapEntries, "Map")
	in.setValues, in.setSize = method(proto("Set"), "values"), getter(proto("Set"), size)
	in.setNext = next(in.setValues, "Set")
	in.weakMapHas, in.weakSetHas = method(in.weakMapPrototype, "has"), method(in.weakSetPrototype, "has")

	views := member(vm, global("Uint8Array").Prototype(), "prototype")
	in.viewTag, in.viewLength = getter(views, goja.SymToStringTag), getter(views, vm.ToValue("length"))
	in.dataViewLength = getter(in.dataViewPrototype, vm.ToValue("byteLength"))

	in.symbolText = method(proto("Symbol"), "toString")
	in.regexpText = method(proto("RegExp"), "toString")
	in.isoTime, in.getTime = method(proto("Date"), "toISOString"), method(proto("Date"), "getTime")
	in.numberValue, in.stringValue = method(proto("Number"), "valueOf"), method(proto("String"), "valueOf")
	in.boolValue, in.bigintValue = method(proto("Boolean"), "valueOf"), method(proto("BigInt"), "valueOf")
	in.symbolValue = method(proto("Symbol"), "valueOf")

	in.stringify = method(global("JSON"), "stringify")
	in.parseInt, in.parseFloat = method(global("Number"), "parseInt"), method(global("Number"), "parseFloat")
	in.str = function(vm, global("String"), "String")

	forKey, err := method(global("Symbol"), "for")(global("Symbol"), vm.ToValue("nodejs.util.inspect.custom"))
	must(err)
	in.custom = forKey.(*goja.Symbol)
	in.rangeErrorConstructor, _ = goja.AssertConstructor(global("RangeError"))

	literals, err := vm.RunProgram(literals())
	must(err)
	of := literals.ToObject(vm)
	in.nothing = method(of, "nothing")
	in.asyncPrototype, in.generatorPrototype = member(vm, of, "async").Prototype(), member(vm, of, "generator").Prototype()
	return in
}

// literals are functions of the kinds that no global names.
var literals = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("inspect", "({nothing: function () {}, async: async function () {}, generator: function* () {}})", true)
})

func member(vm *goja.Runtime, o *goja.Object, name string) *goja.Object {
	if m, ok := o.Get(name).(*goja.Object); ok {
		return m
	}
	panic(vm.NewTypeError("%s was removed by the script", name))
}

func function(vm *goja.Runtime, v goja.Value, name string) goja.Callable {
	if f, ok := goja.AssertFunction(v); ok {
		return f
	}
	panic(vm.NewTypeError("%s was removed by the script", name))
}

// call calls f and throws on what it throws.
func call(f goja.Callable, this goja.Value, args ...goja.Value) goja.Value {
	v, err := f(this, args...)
	must(err)
	return v
}

// text calls f and returns what it returns as a string.
func text(f goja.Callable, this goja.Value, args ...goja.Value) string {
	return call(f, this, args...).String()
}

// list calls f, which returns an array, and returns its elements.
func list(f goja.Callable, o *goja.Object) []goja.Value {
	array := call(f, goja.Undefined(), o).(*goja.Object)
	elements := make([]goja.Value, array.Get("length").ToInteger())
	for i := range elements {
		elements[i] = array.Get(itoa(i))
	}
	return elements
}

// poll enters the runtime, which is where an interrupt of it is noticed.
func (in *intrinsics) poll() { call(in.nothing, goja.Undefined()) }

func (in *intrinsics) rangeError(message string) goja.Value {
	if in.rangeErrorConstructor == nil {
		return in.vm.NewTypeError(message)
	}
	e, err := in.rangeErrorConstructor(nil, in.vm.ToValue(message))
	must(err)
	return e
}

// ownsProperty reports whether o itself has the property.
func (in *intrinsics) ownsProperty(o *goja.Object, key goja.Value) bool {
	return call(in.hasOwn, o, key).ToBoolean()
}

// enumerable reports whether o itself has the property, and it is enumerable.
func (in *intrinsics) enumerable(o *goja.Object, key goja.Value) bool {
	return call(in.isEnumerable, o, key).ToBoolean()
}

// kind is what an object is by its internal slots, whatever its prototype says.
type kind string

const (
	kindObject      kind = "Object"
	kindArguments   kind = "Arguments"
	kindArray       kind = "Array"
	kindFunction    kind = "Function"
	kindMap         kind = "Map"
	kindSet         kind = "Set"
	kindWeakMap     kind = "WeakMap"
	kindWeakSet     kind = "WeakSet"
	kindTypedArray  kind = "TypedArray"
	kindArrayBuffer kind = "ArrayBuffer"
	kindDataView    kind = "DataView"
	kindDate        kind = "Date"
	kindRegExp      kind = "RegExp"
	kindError       kind = "Error"
	kindPromise     kind = "Promise"
	kindNumber      kind = "Number"
	kindString      kind = "String"
	kindBoolean     kind = "Boolean"
	kindBigInt      kind = "BigInt"
	kindSymbol      kind = "Symbol"
)

// What goja says that objects without a class of their own export to.
var (
	typeProxy   = reflect.TypeFor[goja.Proxy]()
	typeMap     = reflect.TypeFor[[][2]any]()
	typeSet     = reflect.TypeFor[[]any]()
	typeBuffer  = reflect.TypeFor[goja.ArrayBuffer]()
	typePromise = reflect.TypeFor[*goja.Promise]()
	typeBigInt  = reflect.TypeFor[*big.Int]()
	typeString  = reflect.TypeFor[string]()
	typeBool    = reflect.TypeFor[bool]()
)

func asProxy(o *goja.Object) (goja.Proxy, bool) {
	if o.ExportType() != typeProxy {
		return goja.Proxy{}, false
	}
	return o.Export().(goja.Proxy), true
}

// kindOf classifies an object that is no proxy.
func (in *intrinsics) kindOf(o *goja.Object) kind {
	switch class := o.ClassName(); class {
	case "Array", "Date", "RegExp", "Error", "Number", "String", "Boolean", "Arguments":
		return kind(class)
	}
	if _, ok := goja.AssertFunction(o); ok {
		return kindFunction
	}
	switch t := o.ExportType(); t {
	case typeMap:
		return kindMap
	case typeSet:
		return kindSet
	case typeBuffer:
		return kindArrayBuffer
	case typePromise:
		return kindPromise
	case typeBigInt:
		return kindBigInt
	case typeString:
		return kindSymbol
	default:
		if t != nil && t.Kind() == reflect.Slice && !goja.IsUndefined(call(in.viewTag, o)) {
			return kindTypedArray
		}
	}
	for proto := o.Prototype(); proto != nil; proto = proto.Prototype() {
		switch proto {
		case in.weakMapPrototype:
			if _, err := in.weakMapHas(o, in.object); err == nil {
				return kindWeakMap
			}
		case in.weakSetPrototype:
			if _, err := in.weakSetHas(o, in.object); err == nil {
				return kindWeakSet
			}
		case in.dataViewPrototype:
			if _, err := in.dataViewLength(o); err == nil {
				return kindDataView
			}
		}
		if _, ok := asProxy(proto); ok {
			break
		}
	}
	return kindObject
}

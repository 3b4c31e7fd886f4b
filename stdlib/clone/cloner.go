package clone

import (
	"math/big"
	"reflect"
	"slices"

	"github.com/dop251/goja"
)

// maxDepth is how deep a value may nest that is cloned.
const maxDepth = 10_000

// cloner makes one clone.
type cloner struct {
	*intrinsics
	seen   map[*goja.Object]*goja.Object // clones by their originals
	leaves []goja.ArrayBuffer            // buffers that are given away in the end
	depth  int
}

func (in *intrinsics) cloner() *cloner {
	return &cloner{intrinsics: in, seen: map[*goja.Object]*goja.Object{}}
}

// transfer reads the list of what is moved rather than copied. Nothing moves before
// finish.
func (c *cloner) transfer(list goja.Value) {
	n := 0
	c.rt.ForOf(list, func(v goja.Value) bool {
		if n++; n > maxTransfer {
			panic(c.rangeError("the transfer list is too long"))
		}
		o, ok := v.(*goja.Object)
		if !ok {
			panic(c.coded("ERR_INVALID_TRANSFER_OBJECT", "Found invalid object in transferList"))
		}
		buffer, isBuffer := o.Export().(goja.ArrayBuffer)
		switch _, known := c.seen[o]; {
		case known && isBuffer:
			panic(c.cloneError("Transfer list contains duplicate ArrayBuffer"))
		case known:
			return true // a port
		case !isBuffer:
			panic(c.coded("ERR_INVALID_TRANSFER_OBJECT", "Found invalid object in transferList"))
		case buffer.Detached():
			return true // Node lets it pass, unless it is in the value
		}
		c.seen[o] = c.buffer(buffer.Bytes())
		c.leaves = append(c.leaves, buffer)
		return true
	})
}

const maxTransfer = 1 << 16

// finish clones v and gives away what was to be transferred.
func (c *cloner) finish(v goja.Value) goja.Value {
	v = c.value(v)
	for _, b := range c.leaves {
		b.Detach()
	}
	return v
}

func (c *cloner) buffer(b []byte) *goja.Object {
	return c.vm.ToValue(c.vm.NewArrayBuffer(b)).(*goja.Object)
}

func (c *cloner) value(v goja.Value) goja.Value {
	switch v := v.(type) {
	case nil:
		return goja.Undefined()
	case *goja.Object:
		return c.object(v)
	case *goja.Symbol:
		panic(c.cloneError("Symbol(" + v.String() + ") could not be cloned."))
	}
	return v
}

// What goja says that objects without a class of their own export to.
var (
	typeProxy   = reflect.TypeFor[goja.Proxy]()
	typeMap     = reflect.TypeFor[[][2]any]()
	typeSet     = reflect.TypeFor[[]any]()
	typeBuffer  = reflect.TypeFor[goja.ArrayBuffer]()
	typePromise = reflect.TypeFor[*goja.Promise]()
	typeBigInt  = reflect.TypeFor[*big.Int]()
	typeString  = reflect.TypeFor[string]()
)

func (c *cloner) object(o *goja.Object) *goja.Object {
	if clone, ok := c.seen[o]; ok {
		return clone
	}
	if c.depth == maxDepth {
		panic(c.rangeError("Maximum call stack size exceeded"))
	}
	c.depth++
	defer func() { c.depth-- }()

	exported := o.ExportType()
	if exported == typeProxy {
		c.refuse(o)
	}
	switch o.ClassName() {
	case "Array":
		return c.array(o)
	case "Date":
		return c.keep(o, c.construct(c.dateConstructor, call(c.getTime, o)))
	case "RegExp":
		return c.keep(o, c.construct(c.regexpConstructor, o.Get("source"), o.Get("flags")))
	case "Error":
		if tagOf(o) != "DOMException" {
			return c.failure(o)
		}
	case "Number", "String", "Boolean":
		return c.keep(o, c.box(o))
	}
	if _, callable := goja.AssertFunction(o); callable {
		c.refuse(o)
	}
	switch exported {
	case typeMap:
		return c.mapping(o)
	case typeSet:
		return c.set(o)
	case typeBuffer:
		b := o.Export().(goja.ArrayBuffer)
		if b.Detached() {
			panic(c.cloneError("An ArrayBuffer is detached and could not be cloned."))
		}
		return c.keep(o, c.buffer(slices.Clone(b.Bytes())))
	case typeBigInt:
		return c.keep(o, c.box(o))
	case typePromise, typeString: // a string outside its class is a symbol
		c.refuse(o)
	}
	if call(c.isView, goja.Undefined(), o).ToBoolean() {
		return c.view(o)
	}
	if proto := o.Prototype(); proto != nil && proto != c.objectPrototype {
		if clone := c.special(o); clone != nil {
			return clone
		}
	}
	clone := c.keep(o, c.vm.NewObject())
	c.members(o, clone)
	return clone
}

// keep remembers a clone before what is inside is cloned, which may refer to it.
func (c *cloner) keep(o, clone *goja.Object) *goja.Object {
	c.seen[o] = clone
	return clone
}

// refuse throws because there is no clone of o.
func (c *cloner) refuse(o *goja.Object) {
	text := "#<Object>"
	if _, callable := goja.AssertFunction(o); callable && o.ExportType() != typeProxy {
		text = o.String()
	} else if o.ExportType() != typeProxy {
		if constructor, ok := o.Get("constructor").(*goja.Object); ok {
			switch name := constructor.Get("name"); {
			case name != nil && name.String() == "Iterator": // which Node 20 does not have
			case name != nil && goja.IsString(name) && name.String() != "":
				text = "#<" + name.String() + ">"
			}
		}
	}
	panic(c.cloneError(text + " could not be cloned."))
}

// box boxes the primitive inside of o again.
func (c *cloner) box(o *goja.Object) *goja.Object {
	fn, _ := goja.AssertFunction(c.objectFactory)
	primitive := c.vm.ToValue(o.Export())
	if o.ClassName() == "String" {
		primitive = call(c.stringValue, o)
	}
	return call(fn, goja.Undefined(), primitive).(*goja.Object)
}

// members copies the own enumerable properties.
func (c *cloner) members(o, clone *goja.Object) {
	for _, key := range o.Keys() {
		define(clone, key, c.value(o.Get(key)))
	}
}

func define(o *goja.Object, key string, v goja.Value) {
	must(o.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE))
}

func (c *cloner) array(o *goja.Object) *goja.Object {
	length := o.Get("length")
	clone := c.keep(o, c.construct(c.arrayConstructor))
	must(clone.Set("length", length))
	c.members(o, clone)
	return clone
}

func (c *cloner) mapping(o *goja.Object) *goja.Object {
	clone := c.keep(o, c.construct(c.mapConstructor))
	var entries []goja.Value
	call(c.mapEach, o, c.collect(func(fc goja.FunctionCall) {
		entries = append(entries, fc.Argument(1), fc.Argument(0))
	}))
	for i := 0; i < len(entries); i += 2 {
		key := c.value(entries[i])
		call(c.mapSet, clone, key, c.value(entries[i+1]))
	}
	return clone
}

func (c *cloner) set(o *goja.Object) *goja.Object {
	clone := c.keep(o, c.construct(c.setConstructor))
	var values []goja.Value
	call(c.setEach, o, c.collect(func(fc goja.FunctionCall) { values = append(values, fc.Argument(0)) }))
	for _, v := range values {
		call(c.setAdd, clone, c.value(v))
	}
	return clone
}

// collect makes a callback for forEach.
func (c *cloner) collect(fn func(goja.FunctionCall)) goja.Value {
	return c.vm.ToValue(func(fc goja.FunctionCall) goja.Value {
		fn(fc)
		return goja.Undefined()
	})
}

// view clones a typed array or a DataView together with the memory that it shares.
func (c *cloner) view(o *goja.Object) *goja.Object {
	constructor, length := c.dataViewConstructor, o.Get("byteLength")
	if tag := call(c.viewTag, o); !goja.IsUndefined(tag) {
		constructor, length = c.named[tag.String()], o.Get("length")
	}
	buffer, ok := o.Get("buffer").(*goja.Object)
	if !ok || constructor == nil {
		c.refuse(o)
	}
	return c.keep(o, c.construct(constructor, c.object(buffer), o.Get("byteOffset"), length))
}

// failure clones an Error.
func (c *cloner) failure(o *goja.Object) *goja.Object {
	name := "Error"
	if v := o.Get("name"); v != nil && slices.Contains(errorNames, v.String()) {
		name = v.String()
	}
	clone := c.keep(o, c.construct(c.named[name]))
	hidden := func(key string, v goja.Value) {
		must(clone.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
	own := func(key string) goja.Value {
		d, ok := call(c.descriptor, goja.Undefined(), o, c.vm.ToValue(key)).(*goja.Object)
		if !ok {
			return nil
		}
		return d.Get("value")
	}
	if stack := own("stack"); stack != nil && goja.IsString(stack) {
		hidden("stack", stack)
	}
	if message := own("message"); message != nil {
		hidden("message", message.ToString())
	}
	if cause := own("cause"); cause != nil {
		hidden("cause", c.value(cause))
	}
	return clone
}

// tagOf names the interface of an object, if its prototypes do.
func tagOf(o *goja.Object) string {
	if tag := o.GetSymbol(goja.SymToStringTag); tag != nil && goja.IsString(tag) {
		return tag.String()
	}
	return ""
}

// special clones an object of a class that has clones of its own, or refuses one that
// has none. It returns nil for instances of other classes, which become plain objects.
func (c *cloner) special(o *goja.Object) *goja.Object {
	tag := tagOf(o)
	switch tag {
	case "WeakMap", "WeakSet", "WeakRef", "FinalizationRegistry", "Generator", "AsyncGenerator",
		"Array Iterator", "Map Iterator", "Set Iterator", "String Iterator", "RegExp String Iterator":
		c.refuse(o)
	case "MessagePort", "ReadableStream", "WritableStream", "TransformStream":
		if c.is(o, tag) {
			panic(c.coded("ERR_MISSING_TRANSFERABLE_IN_TRANSFER_LIST", "Object that needs transfer was found in message but not listed in transferList"))
		}
	case "Blob":
		if c.is(o, tag) {
			slice, _ := goja.AssertFunction(o.Get("slice"))
			return c.keep(o, call(slice, o, c.vm.ToValue(0), o.Get("size"), o.Get("type")).(*goja.Object))
		}
	case "File":
		if c.is(o, tag) {
			options := c.vm.NewObject()
			define(options, "type", o.Get("type"))
			define(options, "lastModified", o.Get("lastModified"))
			return c.keep(o, c.construct(c.vm.Get(tag).(*goja.Object), c.vm.NewArray(o), o.Get("name"), options))
		}
	case "DOMException":
		if c.is(o, tag) {
			clone := c.keep(o, c.construct(c.vm.Get(tag).(*goja.Object), o.Get("message"), o.Get("name")))
			must(clone.DefineDataProperty("stack", o.Get("stack"), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
			return clone
		}
	}
	return nil
}

// is reports whether o is an instance of a global class.
func (c *cloner) is(o *goja.Object, class string) bool {
	constructor, ok := c.vm.Get(class).(*goja.Object)
	return ok && c.vm.InstanceOf(o, constructor)
}

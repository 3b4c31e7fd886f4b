// Package equal compares values as Node's assert.deepEqual and util.isDeepStrictEqual
// do. Getters and traps of proxies run.
package equal

import (
	"bytes"
	"math"
	"strconv"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/inspect"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

// deepest is how deep values may nest: beyond it a comparison throws, as a recursion of
// the script would.
const deepest = 4000

// Comparer compares the values of one runtime.
type Comparer struct {
	vm     *goja.Runtime
	in     *inspect.Inspector
	octets *octets.Octets

	tag, enumerable, isArray, is goja.Callable
}

// New makes a comparer.
func New(vm *goja.Runtime) *Comparer {
	c := &Comparer{vm: vm, in: inspect.New(vm), octets: octets.New(vm)}
	object := vm.Get("Object").(*goja.Object)
	prototype := object.Get("prototype").(*goja.Object)
	c.tag, _ = goja.AssertFunction(prototype.Get("toString"))
	c.enumerable, _ = goja.AssertFunction(prototype.Get("propertyIsEnumerable"))
	c.is, _ = goja.AssertFunction(object.Get("is"))
	c.isArray, _ = goja.AssertFunction(vm.Get("Array").(*goja.Object).Get("isArray"))
	return c
}

// Deep reports whether two values are deeply equal, strictly or as == has it.
func (c *Comparer) Deep(a, b goja.Value, strict bool) bool {
	return (&comparison{Comparer: c, strict: strict}).equal(a, b)
}

// comparison is one run of Deep.
type comparison struct {
	*Comparer
	strict bool
	depth  int
	pairs  map[[2]*goja.Object]bool // being compared further up
}

// equal compares two values.
func (c *comparison) equal(a, b goja.Value) bool {
	if a == nil {
		a = goja.Undefined()
	}
	if b == nil {
		b = goja.Undefined()
	}
	x, isObject := a.(*goja.Object)
	y, bothObjects := b.(*goja.Object)
	bothObjects = bothObjects && isObject
	if bothObjects && x == y {
		return true
	}
	if !bothObjects {
		if c.strict {
			return a.SameAs(b) || isNaN(a) && isNaN(b)
		}
		// An object is never loosely equal to what is none.
		return !isObject && !is(b) && (a.Equals(b) || isNaN(a) && isNaN(b))
	}
	return !callable(x) && !callable(y) && c.objects(x, y)
}

func is(v goja.Value) bool {
	_, ok := v.(*goja.Object)
	return ok
}

func callable(o *goja.Object) bool {
	_, ok := goja.AssertFunction(o)
	return ok
}

func isNaN(v goja.Value) bool { return goja.IsNumber(v) && math.IsNaN(v.ToFloat()) }

// class is what an object is by its slots; a proxy is what it looks like.
func (c *comparison) class(o *goja.Object) string {
	class := c.in.Class(o)
	if class == "Proxy" {
		if c.array(o) {
			return "Array"
		}
		return "Object"
	}
	return class
}

func (c *comparison) array(o *goja.Object) bool {
	return native.Call(c.isArray, goja.Undefined(), o).ToBoolean()
}

func (c *comparison) objects(a, b *goja.Object) bool {
	if c.strict && a.Prototype() != b.Prototype() {
		return false
	}
	if native.Call(c.tag, a).String() != native.Call(c.tag, b).String() {
		return false
	}
	class := c.class(a)
	if class != c.class(b) {
		return false
	}
	number := func(o *goja.Object, name string) int64 { return orUndefined(o.Get(name)).ToInteger() }
	text := func(o *goja.Object, name string) string { return orUndefined(o.Get(name)).String() }
	switch class {
	case "Array":
		n := number(a, "length")
		if n != number(b, "length") {
			return false
		}
		return c.members(a, b, func() bool { return c.elements(a, b, n) }, named)
	case "Date":
		if !c.sameTime(a, b) {
			return false
		}
	case "RegExp":
		if text(a, "source") != text(b, "source") || text(a, "flags") != text(b, "flags") || number(a, "lastIndex") != number(b, "lastIndex") {
			return false
		}
	case "Error":
		for _, name := range []string{"message", "name"} {
			if !orUndefined(a.Get(name)).StrictEquals(orUndefined(b.Get(name))) {
				return false
			}
		}
		return c.members(a, b, func() bool {
			for _, name := range []string{"cause", "errors"} {
				x, y := a.Get(name), b.Get(name)
				if (x == nil) != (y == nil) || !c.equal(x, y) {
					return false
				}
			}
			return true
		}, everyKey)
	case "TypedArray":
		return c.sameBytes(a, b) && c.members(a, b, nil, named)
	case "ArrayBuffer", "DataView":
		if !c.sameBytes(a, b) {
			return false
		}
	case "Number", "String", "Boolean", "BigInt", "Symbol":
		if !c.sameBoxed(a, b, class) {
			return false
		}
	case "Set":
		return c.members(a, b, func() bool { return c.sets(a, b) }, everyKey)
	case "Map":
		return c.members(a, b, func() bool { return c.maps(a, b) }, everyKey)
	}
	return c.members(a, b, nil, everyKey)
}

func orUndefined(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}

// sameTime compares dates, without what the script made of their methods.
func (c *comparison) sameTime(a, b *goja.Object) bool {
	getTime, _ := goja.AssertFunction(c.vm.Get("Date").(*goja.Object).Get("prototype").(*goja.Object).Get("getTime"))
	return native.Call(getTime, a).StrictEquals(native.Call(getTime, b))
}

func (c *comparison) sameBytes(a, b *goja.Object) bool {
	x, _ := c.octets.Bytes(a)
	y, _ := c.octets.Bytes(b)
	tag := native.Call(c.tag, a).String()
	if c.strict || len(x) != len(y) || tag != "[object Float32Array]" && tag != "[object Float64Array]" {
		return bytes.Equal(x, y)
	}
	for i := range int(orUndefined(a.Get("length")).ToInteger()) {
		if !a.Get(strconv.Itoa(i)).StrictEquals(b.Get(strconv.Itoa(i))) {
			return false
		}
	}
	return true
}

func (c *comparison) sameBoxed(a, b *goja.Object, class string) bool {
	valueOf, ok := goja.AssertFunction(c.vm.Get(class).(*goja.Object).Get("prototype").(*goja.Object).Get("valueOf"))
	if !ok {
		return false
	}
	x, y := native.Call(valueOf, a), native.Call(valueOf, b)
	return x.SameAs(y) || isNaN(x) && isNaN(y)
}

// Which keys are compared by name.
func everyKey(string) bool { return true }

// named are the keys that are no indices.
func named(key string) bool {
	n, err := strconv.ParseUint(key, 10, 32)
	return err != nil || n == math.MaxUint32 || strconv.FormatUint(n, 10) != key
}

func (c *comparison) keys(o *goja.Object, which func(string) bool) []string {
	var keys []string
	for _, k := range o.Keys() {
		if which(k) {
			keys = append(keys, k)
		}
	}
	return keys
}

func (c *comparison) symbols(o *goja.Object) []*goja.Symbol {
	var symbols []*goja.Symbol
	for _, s := range o.Symbols() {
		if native.Call(c.enumerable, o, s).ToBoolean() {
			symbols = append(symbols, s)
		}
	}
	return symbols
}

// members compares the properties of two objects of one class, and by more what else
// they hold.
func (c *comparison) members(a, b *goja.Object, more func() bool, which func(string) bool) bool {
	keys := c.keys(a, which)
	if len(keys) != len(c.keys(b, which)) {
		return false
	}
	for _, k := range keys {
		if !native.Call(c.enumerable, b, c.vm.ToValue(k)).ToBoolean() {
			return false
		}
	}
	var symbols []*goja.Symbol
	if c.strict {
		symbols = c.symbols(a)
		if len(symbols) != len(c.symbols(b)) {
			return false
		}
		for _, s := range symbols {
			if !native.Call(c.enumerable, b, s).ToBoolean() {
				return false
			}
		}
	}
	if len(keys) == 0 && len(symbols) == 0 && more == nil {
		return true
	}
	return c.nested(a, b, func() bool {
		if more != nil && !more() {
			return false
		}
		for _, k := range keys {
			if !c.equal(a.Get(k), b.Get(k)) {
				return false
			}
		}
		for _, s := range symbols {
			if !c.equal(a.GetSymbol(s), b.GetSymbol(s)) {
				return false
			}
		}
		return true
	})
}

// nested compares inside two objects. If they are being compared already they are equal
// as far as this round is concerned.
func (c *comparison) nested(a, b *goja.Object, inside func() bool) bool {
	pair := [2]*goja.Object{a, b}
	if c.pairs[pair] {
		return true
	}
	if c.pairs == nil {
		c.pairs = map[[2]*goja.Object]bool{}
	}
	if c.depth++; c.depth > deepest {
		e, err := c.vm.New(c.vm.Get("RangeError"), c.vm.ToValue("Maximum call stack size exceeded"))
		native.Must(err)
		panic(e)
	}
	c.pairs[pair] = true
	defer func() {
		delete(c.pairs, pair)
		c.depth--
	}()
	return inside()
}

// elements compares arrays of one length. A hole is no undefined.
func (c *comparison) elements(a, b *goja.Object, n int64) bool {
	for i := range n {
		key := strconv.FormatInt(i, 10)
		x, y := a.Get(key), b.Get(key)
		if (x == nil || y == nil || goja.IsUndefined(x)) && c.owns(a, key) != c.owns(b, key) {
			return false
		}
		if !c.equal(x, y) {
			return false
		}
		if x == nil && y == nil && n > 1<<16 {
			// A sparse array: the rest is compared by the keys that there are.
			return c.sparse(a, b)
		}
	}
	return true
}

func (c *comparison) sparse(a, b *goja.Object) bool {
	index := func(key string) bool { return !named(key) }
	keys := c.keys(a, index)
	if len(keys) != len(c.keys(b, index)) {
		return false
	}
	for _, k := range keys {
		if !c.owns(b, k) || !c.equal(a.Get(k), b.Get(k)) {
			return false
		}
	}
	return true
}

func (c *comparison) owns(o *goja.Object, key string) bool {
	return native.Call(c.enumerable, o, c.vm.ToValue(key)).ToBoolean()
}

// list returns what an iteration over a Map or Set gives: keys and values in turn, or
// elements.
func (c *comparison) list(o *goja.Object) []goja.Value {
	var list []goja.Value
	add := native.Func(c.vm, "", 2, func(call goja.FunctionCall) goja.Value {
		list = append(list, call.Argument(1), call.Argument(0))
		return nil
	})
	class := c.class(o)
	forEach, _ := goja.AssertFunction(c.vm.Get(class).(*goja.Object).Get("prototype").(*goja.Object).Get("forEach"))
	native.Call(forEach, o, add)
	return list
}

// entries is a Map or a Set taken apart: pairs of key and value, which are the same in a Set.
type entries struct {
	simple map[any]int // index of the keys that are no objects
	keys   []goja.Value
	values []goja.Value
	gone   []bool
}

func (c *comparison) entries(o *goja.Object) *entries {
	list := c.list(o)
	e := &entries{simple: map[any]int{}}
	for i := 0; i < len(list); i += 2 {
		if !is(list[i]) {
			e.simple[identity(list[i])] = len(e.keys)
		}
		e.keys, e.values = append(e.keys, list[i]), append(e.values, list[i+1])
	}
	e.gone = make([]bool, len(e.keys))
	return e
}

// identity is the same for primitive values that a Map takes for the same.
func identity(v goja.Value) any {
	switch {
	case goja.IsNumber(v):
		f := v.ToFloat()
		if math.IsNaN(f) {
			return "NaN"
		}
		return f + 0
	case goja.IsString(v):
		return v.String() + "\x00string"
	case goja.IsBigInt(v):
		return v.String() + "\x00bigint"
	}
	return v
}

func (c *comparison) sets(a, b *goja.Object) bool {
	return c.sameEntries(c.entries(a), c.entries(b), func(x, y goja.Value, _, _ goja.Value) bool { return c.equal(x, y) })
}

func (c *comparison) maps(a, b *goja.Object) bool {
	return c.sameEntries(c.entries(a), c.entries(b), func(x, y, v, w goja.Value) bool { return c.equal(x, y) && c.equal(v, w) })
}

// sameEntries finds a partner for each entry: first those whose key decides, then the
// others by comparing them with all that are left.
func (c *comparison) sameEntries(a, b *entries, same func(x, y, v, w goja.Value) bool) bool {
	if len(a.keys) != len(b.keys) {
		return false
	}
	var rest []int
	for i, key := range a.keys {
		if is(key) {
			rest = append(rest, i)
			continue
		}
		j, ok := b.simple[identity(key)]
		if ok && c.equal(a.values[i], b.values[j]) {
			b.gone[j] = true
			continue
		}
		if c.strict {
			return false
		}
		rest = append(rest, i)
	}
	for _, i := range rest {
		found := false
		for j := range b.keys {
			if !b.gone[j] && (is(a.keys[i]) == is(b.keys[j])) && same(a.keys[i], b.keys[j], a.values[i], b.values[j]) {
				b.gone[j], found = true, true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

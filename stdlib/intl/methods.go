package intl

import (
	"math"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

// install replaces what of the language's own objects depends on the locale. The module
// behind it is made when a method is first called, Date when it is first touched.
func install(rt *engine.Runtime) {
	vm := rt.VM()
	made := func() *module { return of(rt) }
	method := func(class, name string, length int, fn func(m *module, call goja.FunctionCall) goja.Value) {
		prototype := vm.Get(class).(*goja.Object).Get("prototype").(*goja.Object)
		native.Hide(prototype, name, native.Func(vm, name, length, func(call goja.FunctionCall) goja.Value { return fn(made(), call) }))
	}
	method("Number", "toLocaleString", 0, (*module).numberText)
	method("BigInt", "toLocaleString", 0, (*module).bigIntText)
	method("String", "localeCompare", 1, (*module).localeCompare)
	method("String", "toLocaleUpperCase", 0, (*module).upperCase)
	method("String", "toLocaleLowerCase", 0, (*module).lowerCase)
	method("Array", "toLocaleString", 0, (*module).listText)
	lazyDate(rt, made)
}

// lazyDate puts the repaired Date in place when it is first read.
func lazyDate(rt *engine.Runtime, made func() *module) {
	global := rt.VM().GlobalObject()
	class, ok := global.Get("Date").(*goja.Object)
	if !ok {
		return
	}
	settle := func(v goja.Value) { native.Hide(global, "Date", v) }
	get := native.Func(rt.VM(), "get Date", 0, func(goja.FunctionCall) goja.Value {
		v := newDates(rt, class, made)
		settle(v)
		return v
	})
	set := native.Func(rt.VM(), "set Date", 1, func(call goja.FunctionCall) goja.Value {
		settle(call.Argument(0))
		return nil
	})
	native.Must(global.DefineAccessorProperty("Date", get, set, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// cache keeps the formats of the methods that were called last, as engines do: a loop
// calls them with the same arguments.
type cache struct {
	numbers   map[string]*numberFormat
	dates     map[string]*dateTimeFormat
	collators map[string]*collator
	orders    map[orderKey]*order
}

// maxCached is how many different locales a cache keeps.
const maxCached = 32

// cachedBy makes a value or takes it from the cache, where the locale is a text and there
// are no options: an object may answer otherwise the next time.
func cachedBy[T any](values *map[string]T, call goja.FunctionCall, locales int, kind string, build func() T) T {
	locale := call.Argument(locales)
	if defined(call.Argument(locales+1)) || defined(locale) && !goja.IsString(locale) {
		return build()
	}
	key := kind
	if defined(locale) {
		key += " " + locale.String()
	}
	if v, ok := (*values)[key]; ok {
		return v
	}
	v := build()
	if *values == nil || len(*values) >= maxCached {
		*values = map[string]T{}
	}
	(*values)[key] = v
	return v
}

func (m *module) dateFormat(call goja.FunctionCall, required, defaults string) *dateTimeFormat {
	return cachedBy(&m.cached.dates, call, 0, required+defaults, func() *dateTimeFormat {
		return m.newDateTimeFormat(call.Argument(0), call.Argument(1), required, defaults)
	})
}

func (m *module) numberFormat(call goja.FunctionCall) *numberFormat {
	return cachedBy(&m.cached.numbers, call, 0, "", func() *numberFormat {
		return m.newNumberFormat(call.Argument(0), call.Argument(1))
	})
}

func (m *module) numberText(call goja.FunctionCall) goja.Value {
	v := call.This
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "Number" {
		v = m.vm.ToValue(o.Export())
	}
	if !goja.IsNumber(v) {
		panic(m.vm.NewTypeError("Number.prototype.toLocaleString requires that 'this' be a Number"))
	}
	return m.vm.ToValue(join(m.numberFormat(call).parts(decimalOf(v.ToFloat()))))
}

func (m *module) bigIntText(call goja.FunctionCall) goja.Value {
	v := call.This
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "BigInt" {
		v = m.vm.ToValue(o.Export())
	}
	if !goja.IsBigInt(v) {
		panic(m.vm.NewTypeError("BigInt.prototype.toLocaleString requires that 'this' be a BigInt"))
	}
	return m.vm.ToValue(join(m.numberFormat(call).parts(m.decimal(v))))
}

// text is this as a text, of which null has none.
func (m *module) text(call goja.FunctionCall, method string) string {
	if !defined(call.This) || goja.IsNull(call.This) {
		panic(m.vm.NewTypeError("String.prototype." + method + " called on null or undefined"))
	}
	return native.String(m.vm, call.This).String()
}

func (m *module) localeCompare(call goja.FunctionCall) goja.Value {
	a := m.text(call, "localeCompare")
	b := native.String(m.vm, call.Argument(0)).String()
	c := cachedBy(&m.cached.collators, call, 1, "", func() *collator { return m.newCollator(call.Argument(1), call.Argument(2)) })
	return m.vm.ToValue(c.compare(a, b))
}

func (m *module) upperCase(call goja.FunctionCall) goja.Value {
	return m.changeCase(call, "toLocaleUpperCase", "toUpperCase", cases.Upper)
}

func (m *module) lowerCase(call goja.FunctionCall) goja.Value {
	return m.changeCase(call, "toLocaleLowerCase", "toLowerCase", cases.Lower)
}

// changeCase is the change of any language, but for the few that have rules of their own.
func (m *module) changeCase(call goja.FunctionCall, method, plain string, change func(language.Tag, ...cases.Option) cases.Caser) goja.Value {
	text := m.text(call, method)
	name := m.usual().language
	if tags := m.requested(call.Argument(0)); len(tags) > 0 {
		name = tags[0].language
	}
	if strings.Contains(" tr az lt el ", " "+name+" ") {
		return m.vm.ToValue(change(language.Make(name)).String(text))
	}
	fn, ok := goja.AssertFunction(m.vm.ToValue(text).ToObject(m.vm).Get(plain))
	if !ok {
		panic(m.vm.NewTypeError(plain + " is not a function"))
	}
	return native.Call(fn, native.String(m.vm, call.This))
}

// maxNested is how deep lists may stand in lists for toLocaleString.
const maxNested = 2000

// listText is Array.prototype.toLocaleString, which hands its arguments on.
func (m *module) listText(call goja.FunctionCall) goja.Value {
	if !defined(call.This) || goja.IsNull(call.This) {
		panic(m.vm.NewTypeError("Array.prototype.toLocaleString called on null or undefined"))
	}
	o := call.This.ToObject(m.vm)
	if slices.Contains(m.joining, o) {
		return m.vm.ToValue("")
	}
	if len(m.joining) == maxNested {
		panic(m.rangeError("Maximum call stack size exceeded"))
	}
	m.joining = append(m.joining, o)
	defer func() { m.joining = m.joining[:len(m.joining)-1] }()
	n := 0.0
	if length := o.Get("length"); length != nil {
		n = math.Min(m.number(length), maxList)
	}
	var b strings.Builder
	for i := range int(math.Max(n, 0)) {
		if i > 0 {
			b.WriteByte(',')
		}
		item := o.Get(itoa(i))
		if !defined(item) || goja.IsNull(item) {
			continue
		}
		fn, ok := goja.AssertFunction(m.member(item, "toLocaleString"))
		if !ok {
			panic(m.vm.NewTypeError("toLocaleString is not a function"))
		}
		b.WriteString(native.String(m.vm, native.Call(fn, item, call.Argument(0), call.Argument(1))).String())
	}
	return m.vm.ToValue(b.String())
}

func (m *module) member(v goja.Value, name string) goja.Value { return v.ToObject(m.vm).Get(name) }

// Package util is node:util and node:util/types, on top of the inspector and the
// comparer that console and node:assert have as well. TextEncoder and TextDecoder are
// the globals of those names; what experimental or deprecated parts of Node's module it
// has not (MIMEType, transferable signals) do not exist here either.
package util

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/equal"
	"mcpx/stdlib/internal/inspect"
	"mcpx/stdlib/internal/native"
)

//go:embed util.d.ts
var declarations string

//go:embed types.d.ts
var typesDeclarations string

// Modules returns node:util and node:util/types.
func Modules() []engine.Module {
	return []engine.Module{
		{
			Name:         "node:util",
			Declarations: declarations,
			Make:         func(rt *engine.Runtime) *goja.Object { return newModule(rt).exports() },
		},
		{
			Name:         "node:util/types",
			Declarations: typesDeclarations,
			Make: func(rt *engine.Runtime) *goja.Object {
				return rt.Require("node:util").Get("types").(*goja.Object)
			},
		},
	}
}

// module is node:util of one runtime.
type module struct {
	rt  *engine.Runtime
	vm  *goja.Runtime
	in  *inspect.Inspector
	out *goja.Object

	promisifyCustom *goja.Symbol
}

func newModule(rt *engine.Runtime) *module {
	vm := rt.VM()
	return &module{rt: rt, vm: vm, in: inspect.New(vm), out: vm.NewObject(), promisifyCustom: symbolFor(vm, "nodejs.util.promisify.custom")}
}

func symbolFor(vm *goja.Runtime, name string) *goja.Symbol {
	fn, _ := goja.AssertFunction(vm.Get("Symbol").(*goja.Object).Get("for"))
	return native.Call(fn, goja.Undefined(), vm.ToValue(name)).(*goja.Symbol)
}

func (m *module) set(name string, length int, fn func(c goja.FunctionCall) any) *goja.Object {
	f := native.Func(m.vm, name, length, func(c goja.FunctionCall) goja.Value {
		switch v := fn(c).(type) {
		case nil:
			return nil
		case goja.Value:
			return v
		default:
			return m.vm.ToValue(v)
		}
	})
	native.Must(m.out.Set(name, f))
	return f
}

func (m *module) exports() *goja.Object {
	vm := m.vm
	m.set("callbackify", 1, m.callbackify)
	m.set("debuglog", 2, m.debuglog)
	native.Must(m.out.Set("debug", m.out.Get("debuglog")))
	m.set("deprecate", 4, m.deprecate)
	m.set("format", 0, func(c goja.FunctionCall) any { return m.in.Format(m.in.Defaults(), c.Arguments...) })
	m.set("formatWithOptions", 1, func(c goja.FunctionCall) any {
		given, ok := c.Argument(0).(*goja.Object)
		if !ok {
			panic(native.InvalidType(vm, "inspectOptions", "of type object", c.Argument(0)))
		}
		return m.in.Format(m.in.ReadOptions(given, m.in.Defaults()), c.Arguments[1:]...)
	})
	m.set("styleText", 3, m.styleText)
	m.set("getSystemErrorName", 1, func(c goja.FunctionCall) any {
		number := c.Argument(0)
		if !goja.IsNumber(number) {
			panic(native.InvalidType(vm, "err", "of type number", number))
		}
		if f := number.ToFloat(); f >= 0 || f != math.Trunc(f) {
			panic(native.OutOfRange(vm, "err", "a negative integer", number))
		}
		for _, e := range systemErrors {
			if e.number == number.ToInteger() {
				return e.name
			}
		}
		return "Unknown system error " + number.String()
	})
	m.set("getSystemErrorMap", 0, func(goja.FunctionCall) any { return m.systemErrorMap() })
	m.set("inherits", 2, m.inherits)
	native.Must(m.out.Set("inspect", m.in.Function()))
	comparer := equal.New(vm)
	m.set("isDeepStrictEqual", 2, func(c goja.FunctionCall) any { return comparer.Deep(c.Argument(0), c.Argument(1), true) })
	m.legacy()
	m.set("log", 0, func(c goja.FunctionCall) any {
		line := time.Now().Format("2 Jan 15:04:05") + " - " + m.in.Format(m.in.Defaults(), c.Arguments...)
		m.rt.Write(engine.Stdout, []byte(line+"\n"))
		return nil
	})
	promisify := m.set("promisify", 1, m.promisify)
	native.Must(promisify.Set("custom", m.promisifyCustom))
	m.set("stripVTControlCharacters", 1, func(c goja.FunctionCall) any {
		return withoutEscapes(native.Text(vm, c.Argument(0), "str").String())
	})
	m.set("toUSVString", 1, func(c goja.FunctionCall) any {
		return strings.ToValidUTF8(native.String(vm, c.Argument(0)).String(), "\ufffd")
	})
	m.set("aborted", 2, m.aborted)
	m.set("parseArgs", 0, m.parseArgs)
	m.set("parseEnv", 1, func(c goja.FunctionCall) any { return m.parseEnv(native.Text(vm, c.Argument(0), "content").String()) })
	native.Lazy(vm, m.out, "types", func() goja.Value { return m.types() })
	for _, name := range []string{"TextEncoder", "TextDecoder"} {
		native.Lazy(vm, m.out, name, func() goja.Value {
			if v := vm.GlobalObject().Get(name); v != nil {
				return v
			}
			return goja.Undefined()
		})
	}
	return m.out
}

// inherits makes one constructor inherit from another, as before there were classes.
func (m *module) inherits(c goja.FunctionCall) any {
	child, ok := c.Argument(0).(*goja.Object)
	if !ok || !callable(child) {
		panic(native.InvalidType(m.vm, "ctor", "of type function", c.Argument(0)))
	}
	if goja.IsUndefined(c.Argument(1)) || goja.IsNull(c.Argument(1)) {
		panic(native.InvalidType(m.vm, "superCtor", "of type function", c.Argument(1)))
	}
	parent := c.Argument(1).ToObject(m.vm)
	prototype, ok := parent.Get("prototype").(*goja.Object)
	if !ok {
		panic(native.InvalidType(m.vm, "superCtor.prototype", "of type object", orUndefined(parent.Get("prototype"))))
	}
	native.Hide(child, "super_", parent)
	own, ok := child.Get("prototype").(*goja.Object)
	if !ok {
		panic(native.InvalidType(m.vm, "ctor.prototype", "of type object", orUndefined(child.Get("prototype"))))
	}
	native.Must(own.SetPrototype(prototype))
	return nil
}

func callable(v goja.Value) bool {
	_, ok := goja.AssertFunction(v)
	return ok
}

func orUndefined(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}

// legacy adds the tests that the language has long had itself.
func (m *module) legacy() {
	test := func(name string, is func(v goja.Value) bool) {
		m.set(name, 1, func(c goja.FunctionCall) any { return is(c.Argument(0)) })
	}
	object := func(v goja.Value) bool {
		_, ok := v.(*goja.Object)
		return ok
	}
	class := func(names ...string) func(v goja.Value) bool {
		return func(v goja.Value) bool {
			o, ok := v.(*goja.Object)
			if !ok {
				return false
			}
			is := m.in.Class(o)
			return slices.Contains(names, is)
		}
	}
	symbol := func(v goja.Value) bool {
		_, ok := v.(*goja.Symbol)
		return ok
	}
	nothing := func(v goja.Value) bool { return goja.IsUndefined(v) || goja.IsNull(v) }
	boolean := func(v goja.Value) bool {
		return !object(v) && (v.StrictEquals(m.vm.ToValue(true)) || v.StrictEquals(m.vm.ToValue(false)))
	}
	native.Must(m.out.Set("isArray", m.vm.Get("Array").(*goja.Object).Get("isArray")))
	test("isBoolean", boolean)
	test("isBuffer", func(v goja.Value) bool {
		buffer, ok := m.vm.GlobalObject().Get("Buffer").(*goja.Object)
		return ok && object(v) && m.vm.InstanceOf(v, buffer)
	})
	test("isNull", goja.IsNull)
	test("isNullOrUndefined", nothing)
	test("isNumber", goja.IsNumber)
	test("isString", goja.IsString)
	test("isSymbol", symbol)
	test("isUndefined", goja.IsUndefined)
	test("isRegExp", class("RegExp"))
	test("isObject", func(v goja.Value) bool { return object(v) && !callable(v) })
	test("isDate", class("Date"))
	test("isError", func(v goja.Value) bool {
		return class("Error")(v) || object(v) && m.vm.InstanceOf(v, m.vm.Get("Error").(*goja.Object))
	})
	test("isFunction", callable)
	test("isPrimitive", func(v goja.Value) bool { return !object(v) })
	m.set("_extend", 2, func(c goja.FunctionCall) any {
		target := c.Argument(0)
		if source, ok := c.Argument(1).(*goja.Object); ok && object(target) {
			for _, key := range source.Keys() {
				native.Must(target.(*goja.Object).Set(key, source.Get(key)))
			}
		}
		return target
	})
}

// debuglog returns a function that writes to standard error if NODE_DEBUG, as far as the
// run was granted it, names the section.
func (m *module) debuglog(c goja.FunctionCall) any {
	section := native.String(m.vm, c.Argument(0)).String()
	enabled := func() bool {
		process, ok := m.vm.GlobalObject().Get("process").(*goja.Object)
		if !ok {
			return false
		}
		env, ok := process.Get("env").(*goja.Object)
		if !ok {
			return false
		}
		debug := env.Get("NODE_DEBUG")
		if debug == nil {
			return false
		}
		for name := range strings.FieldsFuncSeq(debug.String(), func(r rune) bool { return r == ',' || r == ' ' }) {
			if strings.EqualFold(name, section) || name == "*" {
				return true
			}
		}
		return false
	}
	log := native.Func(m.vm, "logger", 0, func(c goja.FunctionCall) goja.Value {
		if enabled() {
			line := strings.ToUpper(section) + " 1: " + m.in.Format(m.in.Defaults(), c.Arguments...)
			m.rt.Write(engine.Stderr, []byte(line+"\n"))
		}
		return nil
	})
	get := native.Func(m.vm, "get enabled", 0, func(goja.FunctionCall) goja.Value { return m.vm.ToValue(enabled()) })
	native.Must(log.DefineAccessorProperty("enabled", get, nil, goja.FLAG_TRUE, goja.FLAG_TRUE))
	if fn, ok := goja.AssertFunction(c.Argument(1)); ok {
		native.Call(fn, goja.Undefined(), log)
	}
	return log
}

// deprecate wraps a function so that its first call warns.
func (m *module) deprecate(c goja.FunctionCall) any {
	original, ok := c.Argument(0).(*goja.Object)
	if !ok || !callable(original) {
		panic(native.InvalidType(m.vm, "fn", "of type function", c.Argument(0)))
	}
	message, code := c.Argument(1), c.Argument(2)
	if !goja.IsUndefined(code) {
		native.Text(m.vm, code, "code")
	}
	fn, _ := goja.AssertFunction(original)
	warned := false
	warn := func() {
		if warned {
			return
		}
		warned = true
		if process, ok := m.vm.GlobalObject().Get("process").(*goja.Object); ok {
			if emit, ok := goja.AssertFunction(process.Get("emitWarning")); ok {
				native.Call(emit, process, native.String(m.vm, message), m.vm.ToValue("DeprecationWarning"), code)
			}
		}
	}
	deprecated := native.Func(m.vm, "deprecated", 0, func(call goja.FunctionCall) goja.Value {
		warn()
		return native.Call(fn, call.This, call.Arguments...)
	})
	native.Must(deprecated.SetPrototype(original))
	if p := original.Get("prototype"); p != nil {
		native.Must(deprecated.Set("prototype", p))
	}
	return deprecated
}

// aborted returns a promise that is fulfilled when a signal aborts.
func (m *module) aborted(c goja.FunctionCall) any {
	signal, ok := c.Argument(0).(*goja.Object)
	if !ok || signal.Get("aborted") == nil {
		panic(native.InvalidType(m.vm, "signal", "an instance of AbortSignal", c.Argument(0)))
	}
	if !is(c.Argument(1)) {
		panic(native.InvalidType(m.vm, "resource", "of type object", c.Argument(1)))
	}
	promise, resolve, _ := m.vm.NewPromise()
	if signal.Get("aborted").ToBoolean() {
		_ = resolve(goja.Undefined())
		return m.vm.ToValue(promise)
	}
	done := native.Func(m.vm, "", 0, func(goja.FunctionCall) goja.Value {
		_ = resolve(goja.Undefined())
		return nil
	})
	once := m.vm.NewObject()
	native.Must(once.Set("once", true))
	add, ok := goja.AssertFunction(signal.Get("addEventListener"))
	if !ok {
		panic(native.InvalidType(m.vm, "signal", "an instance of AbortSignal", signal))
	}
	native.Call(add, signal, m.vm.ToValue("abort"), done, once)
	return m.vm.ToValue(promise)
}

func is(v goja.Value) bool {
	_, ok := v.(*goja.Object)
	return ok
}

package engine

import (
	"runtime"
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// goja calls some functions of a script without care, which ends the engine: native callbacks get
// nothing at all for an element that is not there, which a function of a script takes for undefined,
// and what an object has to have is called though it is no function.

func (rt *Runtime) installArrayFrom() {
	rt.replaceCallback(rt.vm.Get("Array").(*goja.Object), "from", 1)
}

func (rt *Runtime) installFind() {
	prototype := rt.vm.Get("Array").(*goja.Object).Get("prototype").(*goja.Object)
	for _, name := range []string{"find", "findIndex", "findLast", "findLastIndex"} {
		rt.replaceCallback(prototype, name, 0)
	}
}

// replaceCallback puts a method in front of goja's, whose argument at is the callback.
func (rt *Runtime) replaceCallback(o *goja.Object, name string, at int) {
	plain, ok := nativeOf(o.Get(name))
	if !ok {
		return
	}
	source, _ := goja.AssertFunction(rt.vm.Get("Function").(*goja.Object).Get("prototype").(*goja.Object).Get("toString"))
	fn := rt.Function(name, func(c goja.FunctionCall) goja.Value {
		list := c.This
		if at > 0 {
			list = c.Argument(0)
		}
		if _, whole := arrayOf(list); whole {
			return plain(c)
		}
		callback, ok := goja.AssertFunction(c.Argument(at))
		if !ok {
			return plain(c)
		}
		// A script may have given the function a toString of its own.
		if text, err := source(c.Argument(at)); err == nil && !strings.HasSuffix(text.String(), "[native code] }") {
			return plain(c)
		}
		c.Arguments = slices.Clone(c.Arguments)
		c.Arguments[at] = rt.Function("", func(c goja.FunctionCall) goja.Value {
			args := slices.Clone(c.Arguments)
			for i, v := range args {
				args[i] = orUndefined(v)
			}
			v, err := callback(c.This, args...)
			must(err)
			return v
		})
		return plain(c)
	})
	must(fn.DefineDataProperty("length", rt.vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	define(o, name, fn)
}

func (rt *Runtime) installToLocaleString() {
	prototype := rt.vm.Get("Object").(*goja.Object).Get("prototype").(*goja.Object)
	if plain, ok := nativeOf(prototype.Get("toLocaleString")); ok {
		define(prototype, "toLocaleString", rt.careful("toLocaleString", 0, plain, "objectproto_toLocaleString", "toString"))
	}
}

func (rt *Runtime) installRegExpMethods() {
	prototype := rt.vm.Get("RegExp").(*goja.Object).Get("prototype").(*goja.Object)
	for name, symbol := range map[string]*goja.Symbol{"[Symbol.replace]": goja.SymReplace, "[Symbol.split]": goja.SymSplit} {
		if plain, ok := nativeOf(prototype.GetSymbol(symbol)); ok {
			must(prototype.DefineDataPropertySymbol(symbol, rt.careful(name, 2, plain, "regExpExec", "exec"), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		}
	}
}

// careful is a method of goja that throws where a function of goja, caller, calls a member of an
// object that is no function.
func (rt *Runtime) careful(name string, length int, plain func(goja.FunctionCall) goja.Value, caller, member string) *goja.Object {
	caller = "github.com/dop251/goja.(*Runtime)." + caller
	fn := rt.Function(name, func(c goja.FunctionCall) goja.Value {
		v, thrown, at := attempt(plain, c)
		switch {
		case thrown == nil:
			return v
		case at == caller:
			panic(rt.vm.NewTypeError("%s is not a function", member))
		}
		panic(thrown)
	})
	must(fn.DefineDataProperty("length", rt.vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return fn
}

// attempt calls fn and returns what it panics with, and which function of Go called one that is
// not there, if that is why.
func attempt(fn func(goja.FunctionCall) goja.Value, c goja.FunctionCall) (v goja.Value, thrown any, at string) {
	defer func() {
		thrown = recover()
		if e, ok := thrown.(runtime.Error); ok && strings.Contains(e.Error(), "nil pointer") {
			at = faulted()
		}
	}()
	return fn(c), nil, ""
}

// faulted is the function that a fault of memory has just ended, to be asked before the stack is
// unwound.
func faulted() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	for {
		frame, more := frames.Next()
		if !more {
			return ""
		}
		if frame.Function == "runtime.sigpanic" {
			frame, _ = frames.Next()
			return frame.Function
		}
	}
}

// nativeOf is the function of Go that a function of goja's own is.
func nativeOf(v goja.Value) (func(goja.FunctionCall) goja.Value, bool) {
	if v == nil {
		return nil, false
	}
	fn, ok := v.Export().(func(goja.FunctionCall) goja.Value)
	return fn, ok
}

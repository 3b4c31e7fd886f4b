package engine

import (
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// Some methods hand their callback nothing at all for an element that is not there. A function
// of a script takes it for undefined, a native one ends the engine.

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
	plain, ok := o.Get(name).Export().(func(goja.FunctionCall) goja.Value)
	if !ok {
		return
	}
	fn := rt.Function(name, func(c goja.FunctionCall) goja.Value {
		if callback, ok := goja.AssertFunction(c.Argument(at)); ok && isNative(c.Argument(at)) {
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
		}
		return plain(c)
	})
	must(fn.DefineDataProperty("length", rt.vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	define(o, name, fn)
}

// isNative reports whether a function is none of the script's.
func isNative(function goja.Value) bool {
	return strings.HasSuffix(function.String(), "[native code] }")
}

package engine

import (
	"strings"
	"sync"

	"github.com/dop251/goja"
)

// iteratorMethods are those of iterators that goja lacks. Most scripts that have an
// iterator call none of them: they are made when the first is read.
const iteratorMethods = "map filter take drop flatMap reduce toArray forEach some every find"

var iteratorPrototypeProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("mcpx:iterators", "Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))", true)
})

var installIterators = inText("iterator", nil)

// installIterator adds Iterator with all its methods.
func (rt *Runtime) installIterator() {
	rt.iterators = true
	installIterators(rt)
}

// installIteratorLazily adds the methods of iterators as accessors that become methods.
func (rt *Runtime) installIteratorLazily() {
	if rt.iterators {
		return
	}
	v, err := rt.vm.RunProgram(iteratorPrototypeProgram())
	must(err)
	prototype := v.(*goja.Object)
	names := strings.Fields(iteratorMethods)
	for _, name := range names {
		get := rt.Function("get "+name, func(c goja.FunctionCall) goja.Value {
			if !rt.iterators {
				for _, name := range names {
					must(prototype.Delete(name))
				}
				rt.installIterator()
			}
			return c.This.ToObject(rt.vm).Get(name)
		})
		set := rt.Function("set "+name, func(c goja.FunctionCall) goja.Value {
			must(c.This.ToObject(rt.vm).DefineDataProperty(name, c.Argument(0), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE))
			return nil
		})
		must(prototype.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
}

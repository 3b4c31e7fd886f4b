package engine

import (
	"github.com/dop251/goja"
)

// An overflow of the stack would end a run of goja, past every catch and finally, in a time
// that grows with the square of how often calls go through native functions. But before it
// gives up, goja takes a picture of the stack, for which it asks native functions for their
// names. The lowest one, which all of a script runs in (entry), has a name that is computed,
// and whose computation throws the RangeError of the language when calls nest too deep: an
// exception like any other.

const overflowMessage = "Maximum call stack size exceeded"

// overflowing makes a native function, the lowest on the stack, throw when it overflows.
func (rt *Runtime) overflowing(fn *goja.Object) {
	l := machine()
	if !l.known {
		return
	}
	measuring := false
	name := rt.vm.ToValue(func(goja.FunctionCall) goja.Value {
		if !measuring && l.depth(rt.vm) > maxCallStack {
			measuring = true // an error takes a picture of the stack as well
			defer func() { measuring = false }()
			e := rt.rangeError(overflowMessage)
			stack := rt.vm.CaptureCallStack(stackLimit, nil)
			define(e, "stack", rt.vm.ToValue(rt.stackOf("RangeError: "+overflowMessage, framesOf(stack))))
			l.unwind(rt.vm)
			panic(e)
		}
		return goja.Undefined()
	})
	must(fn.DefineAccessorProperty("name", name, nil, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

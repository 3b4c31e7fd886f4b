// Package native makes what modules written in Go export: functions with names and
// lengths of their own, classes, iterators, objects with hidden Go values, and errors
// with the codes and words of Node.
package native

import "github.com/dop251/goja"

// Function is a native function.
type Function = func(goja.FunctionCall) goja.Value

// Func makes a function with the name and length that a script is to see. fn may return
// nil for undefined.
func Func(vm *goja.Runtime, name string, length int, fn Function) *goja.Object {
	o := vm.ToValue(func(call goja.FunctionCall) goja.Value {
		if v := fn(call); v != nil {
			return v
		}
		return goja.Undefined()
	}).(*goja.Object)
	label(vm, o, name, length)
	return o
}

// label gives a function its name and length.
func label(vm *goja.Runtime, o *goja.Object, name string, length int) {
	Must(o.DefineDataProperty("name", vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	Must(o.DefineDataProperty("length", vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// Must throws what went wrong.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// Call calls a function and throws on what it throws.
func Call(fn goja.Callable, this goja.Value, args ...goja.Value) goja.Value {
	v, err := fn(this, args...)
	Must(err)
	return v
}

// Construct makes an instance of a class as new does, and throws on what it throws.
func Construct(class, newTarget *goja.Object, args ...goja.Value) *goja.Object {
	constructor, ok := goja.AssertConstructor(class)
	if !ok {
		panic("native: not a constructor")
	}
	o, err := constructor(newTarget, args...)
	Must(err)
	return o
}

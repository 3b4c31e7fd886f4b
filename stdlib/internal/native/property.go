package native

import "github.com/dop251/goja"

// Set adds a function to an object, where enumeration shows it.
func Set(vm *goja.Runtime, o *goja.Object, name string, length int, fn Function) {
	Must(o.Set(name, Func(vm, name, length, fn)))
}

// Hide defines a property that enumeration does not show.
func Hide(o *goja.Object, name string, v goja.Value) {
	Must(o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// Lazy defines a property that is made when it is first read. It can be assigned.
func Lazy(vm *goja.Runtime, o *goja.Object, name string, value func() goja.Value) {
	settle := func(v goja.Value) {
		Must(o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE))
	}
	get := Func(vm, "get "+name, 0, func(goja.FunctionCall) goja.Value {
		v := value()
		settle(v)
		return v
	})
	set := Func(vm, "set "+name, 1, func(c goja.FunctionCall) goja.Value {
		settle(c.Argument(0))
		return nil
	})
	Must(o.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_TRUE))
}

// Invoke calls a method of an object.
func Invoke(vm *goja.Runtime, o *goja.Object, name string, args ...goja.Value) goja.Value {
	fn, ok := goja.AssertFunction(o.Get(name))
	if !ok {
		panic(vm.NewTypeError("%s is not a function", name))
	}
	return Call(fn, o, args...)
}

package native

import "github.com/dop251/goja"

// Exports is an object that is being filled with what a module provides.
type Exports struct {
	*goja.Object
	vm *goja.Runtime
}

// NewExports returns an empty object of exports.
func NewExports(vm *goja.Runtime) Exports { return Exports{vm.NewObject(), vm} }

// Func adds a function.
func (e Exports) Func(name string, length int, fn Function) *goja.Object {
	f := Func(e.vm, name, length, fn)
	Must(e.Set(name, f))
	return f
}

// Value adds a value.
func (e Exports) Value(name string, v any) { Must(e.Set(name, v)) }

// Lazy adds a property that is made when it is first read.
func (e Exports) Lazy(name string, value func() goja.Value) { Lazy(e.vm, e.Object, name, value) }

// Global adds what the script finds under a global name when it is read first, so that
// one module can hand on what another provides.
func (e Exports) Global(name string) {
	e.Lazy(name, func() goja.Value {
		if v := e.vm.GlobalObject().Get(name); v != nil {
			return v
		}
		return goja.Undefined()
	})
}

// Hidden adds a property that is made when it is first read and that enumeration does
// not show: a global of a module that has a name.
func (e Exports) Hidden(name string, value func() goja.Value) {
	get := Func(e.vm, "get "+name, 0, func(goja.FunctionCall) goja.Value {
		v := value()
		Hide(e.Object, name, v)
		return v
	})
	Must(e.DefineAccessorProperty(name, get, nil, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

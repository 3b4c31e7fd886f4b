package engine

import (
	"strconv"

	"github.com/dop251/goja"
)

// installProxy repairs the traps apply and construct: goja gives them an array of arguments that lies on its stack, so
// that a trap that keeps it finds other values there, and one that adds to it writes over what is running. Proxies of
// functions get a handler that gives copies.
func (rt *Runtime) installProxy() {
	vm := rt.vm
	class := vm.Get("Proxy").(*goja.Object)
	revocable, _ := goja.AssertFunction(class.Get("revocable"))
	repaired := vm.NewProxy(class, &goja.ProxyTrapConfig{
		Construct: func(_ *goja.Object, args []goja.Value, _ *goja.Object) *goja.Object {
			o, err := vm.New(class, rt.handled(args)...)
			must(err)
			return o
		},
	})
	define(class, "revocable", rt.Function("revocable", func(c goja.FunctionCall) goja.Value {
		v, err := revocable(c.This, rt.handled(c.Arguments)...)
		must(err)
		return v
	}))
	must(class.DefineDataProperty("length", vm.ToValue(2), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	define(vm.GlobalObject(), "Proxy", vm.ToValue(repaired))
}

// handled puts a handler of ours into the arguments of a proxy of a function.
func (rt *Runtime) handled(args []goja.Value) []goja.Value {
	if len(args) < 2 {
		return args
	}
	handler, ok := args[1].(*goja.Object)
	if _, callable := goja.AssertFunction(args[0]); !ok || !callable {
		return args
	}
	return []goja.Value{args[0], rt.vm.NewDynamicObject(&traps{rt: rt, handler: handler, made: map[string]trap{}})}
}

// traps stands in front of the handler of a proxy of a function.
type traps struct {
	rt      *Runtime
	handler *goja.Object
	made    map[string]trap
}

// Handler is the handler as the script gave it, for those who show proxies.
func (t *traps) Handler() *goja.Object { return t.handler }

// trap is what is called in the place of a function of the handler.
type trap struct{ of, by goja.Value }

// Get returns the trap of that name.
func (t *traps) Get(name string) goja.Value {
	of := t.handler.Get(name)
	fn, ok := goja.AssertFunction(of)
	if !ok {
		return of
	}
	if made := t.made[name]; made.of == of {
		return made.by
	}
	list := -1 // which argument is a list
	switch name {
	case "apply":
		list = 2
	case "construct":
		list = 1
	}
	by := t.rt.Function(name, func(c goja.FunctionCall) goja.Value {
		if list >= 0 {
			c.Arguments[list] = t.rt.copied(c.Arguments[list].(*goja.Object))
		}
		v, err := fn(t.handler, c.Arguments...)
		must(err)
		return v
	})
	t.made[name] = trap{of, by}
	return by
}

// copied makes an array of the elements of another.
func (rt *Runtime) copied(array *goja.Object) *goja.Object {
	values := make([]goja.Value, array.Get("length").ToInteger())
	for i := range values {
		values[i] = array.Get(strconv.Itoa(i))
	}
	return rt.newArray(values)
}

// Set, Has, Delete and Keys are never asked for: the handler is out of reach of the script.

func (*traps) Set(string, goja.Value) bool { return false }
func (*traps) Has(string) bool             { return false }
func (*traps) Delete(string) bool          { return false }
func (*traps) Keys() []string              { return nil }

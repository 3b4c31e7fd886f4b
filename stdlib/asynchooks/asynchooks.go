// Package asynchooks is node:async_hooks as far as scripts use it: AsyncLocalStorage,
// whose value follows a script through awaits, timers and callbacks, and AsyncResource,
// which carries it to callbacks that the engine does not know of. Hooks that watch
// every asynchronous operation do not exist.
package asynchooks

import (
	_ "embed"
	"maps"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

//go:embed asynchooks.d.ts
var declarations string

// Module returns node:async_hooks.
func Module() engine.Module {
	return engine.Module{
		Name:         "node:async_hooks",
		Declarations: declarations,
		Make:         func(rt *engine.Runtime) *goja.Object { return (&hooks{rt: rt, vm: rt.VM()}).exports() },
	}
}

// hooks is the module in one runtime.
type hooks struct {
	rt        *engine.Runtime
	vm        *goja.Runtime
	storages  *native.Slot[*storage]
	resources *native.Slot[*resource]
	created   int64 // resources
	current   int64 // the resource in whose scope the script runs; 0 outside of any
}

// storage is what stands behind an AsyncLocalStorage. Its address is its identity.
type storage struct{ _ byte } // of a size, or two might share an address

// values are those of all storages at some point of the script. It is never changed.
type values map[*storage]goja.Value

func (h *hooks) values() values {
	v, _ := h.rt.AsyncContext().(values)
	return v
}

// with returns the present values with one changed.
func (h *hooks) with(s *storage, v goja.Value) values {
	changed := maps.Clone(h.values())
	if changed == nil {
		changed = values{}
	}
	changed[s] = v
	return changed
}

// within calls a function while the values are others.
func (h *hooks) within(v values, fn goja.Callable, this goja.Value, args []goja.Value) goja.Value {
	before := h.rt.AsyncContext()
	h.enter(v)
	defer h.rt.SetAsyncContext(before)
	return native.Call(fn, this, args...)
}

// enter changes the values for what follows.
func (h *hooks) enter(v values) {
	if v == nil {
		h.rt.SetAsyncContext(nil)
		return
	}
	h.rt.SetAsyncContext(v)
}

func rest(c goja.FunctionCall, from int) []goja.Value {
	if len(c.Arguments) <= from {
		return nil
	}
	return append([]goja.Value(nil), c.Arguments[from:]...)
}

func (h *hooks) exports() *goja.Object {
	h.storages, h.resources = native.NewSlot[*storage](), native.NewSlot[*resource]()
	o := h.vm.NewObject()
	native.Must(o.Set("AsyncLocalStorage", h.localStorage()))
	native.Must(o.Set("AsyncResource", h.resource()))
	native.Set(h.vm, o, "executionAsyncId", 0, func(goja.FunctionCall) goja.Value { return h.vm.ToValue(h.current) })
	native.Set(h.vm, o, "triggerAsyncId", 0, func(goja.FunctionCall) goja.Value { return h.vm.ToValue(0) })
	return o
}

func (h *hooks) localStorage() *goja.Object {
	c := native.NewClass(h.vm, "AsyncLocalStorage", 0, func(call goja.ConstructorCall) *goja.Object {
		h.storages.Set(call.This, &storage{})
		return nil
	}).Hidden()
	method := func(name string, length int, fn func(s *storage, c goja.FunctionCall) goja.Value) {
		c.Method(name, length, func(call goja.FunctionCall) goja.Value {
			s, ok := h.storages.Get(call.This)
			if !ok {
				panic(native.Error(h.vm, "TypeError", "ERR_INVALID_THIS", `Value of "this" must be of type AsyncLocalStorage`))
			}
			return fn(s, call)
		})
	}
	method("getStore", 0, func(s *storage, _ goja.FunctionCall) goja.Value { return h.values()[s] })
	method("run", 2, func(s *storage, c goja.FunctionCall) goja.Value {
		fn := native.Callback(h.vm, c.Argument(1), "callback")
		return h.within(h.with(s, c.Argument(0)), fn, goja.Undefined(), rest(c, 2))
	})
	method("exit", 1, func(s *storage, c goja.FunctionCall) goja.Value {
		fn := native.Callback(h.vm, c.Argument(0), "callback")
		return h.within(h.with(s, goja.Undefined()), fn, goja.Undefined(), rest(c, 1))
	})
	method("enterWith", 1, func(s *storage, c goja.FunctionCall) goja.Value {
		h.enter(h.with(s, c.Argument(0)))
		return nil
	})
	method("disable", 0, func(s *storage, _ goja.FunctionCall) goja.Value {
		h.enter(h.with(s, goja.Undefined()))
		return nil
	})
	c.Static("bind", 1, func(call goja.FunctionCall) goja.Value { return h.bind(call.Argument(0), nil) })
	c.Static("snapshot", 0, func(goja.FunctionCall) goja.Value {
		v := h.values()
		return native.Func(h.vm, "", 1, func(c goja.FunctionCall) goja.Value {
			return h.within(v, native.Callback(h.vm, c.Argument(0), "fn"), c.This, rest(c, 1))
		})
	})
	return c.Constructor
}

// bind makes a function that runs with the values of now. A this that is not nil is its
// receiver, whatever it is called on.
func (h *hooks) bind(v, this goja.Value) goja.Value {
	fn := native.Callback(h.vm, v, "fn")
	now := h.values()
	length := 0
	if n := v.(*goja.Object).Get("length"); n != nil {
		length = int(min(n.ToInteger(), 1<<16))
	}
	return native.Func(h.vm, "bound", length, func(c goja.FunctionCall) goja.Value {
		receiver := this
		if receiver == nil {
			receiver = c.This
		}
		return h.within(now, fn, receiver, rest(c, 0))
	})
}

// resource is what stands behind an AsyncResource.
type resource struct {
	id, trigger int64
	values      values
}

func (h *hooks) resource() *goja.Object {
	c := native.NewClass(h.vm, "AsyncResource", 1, func(call goja.ConstructorCall) *goja.Object {
		native.Text(h.vm, call.Argument(0), "type")
		h.created++
		r := &resource{id: h.created, trigger: h.current, values: h.values()}
		if o, ok := call.Argument(1).(*goja.Object); ok {
			if id := o.Get("triggerAsyncId"); id != nil && goja.IsNumber(id) {
				r.trigger = id.ToInteger()
			}
		} else if goja.IsNumber(call.Argument(1)) {
			r.trigger = call.Argument(1).ToInteger()
		}
		h.resources.Set(call.This, r)
		return nil
	}).Hidden()
	method := func(name string, length int, fn func(r *resource, c goja.FunctionCall) goja.Value) {
		c.Method(name, length, func(call goja.FunctionCall) goja.Value {
			r, ok := h.resources.Get(call.This)
			if !ok {
				panic(native.Error(h.vm, "TypeError", "ERR_INVALID_THIS", `Value of "this" must be of type AsyncResource`))
			}
			return fn(r, call)
		})
	}
	method("runInAsyncScope", 2, func(r *resource, c goja.FunctionCall) goja.Value {
		fn := native.Callback(h.vm, c.Argument(0), "fn")
		before := h.current
		h.current = r.id
		defer func() { h.current = before }()
		return h.within(r.values, fn, c.Argument(1), rest(c, 2))
	})
	method("emitDestroy", 0, func(_ *resource, c goja.FunctionCall) goja.Value { return c.This })
	method("asyncId", 0, func(r *resource, _ goja.FunctionCall) goja.Value { return h.vm.ToValue(r.id) })
	method("triggerAsyncId", 0, func(r *resource, _ goja.FunctionCall) goja.Value { return h.vm.ToValue(r.trigger) })
	method("bind", 2, func(r *resource, c goja.FunctionCall) goja.Value {
		before := h.rt.AsyncContext()
		h.enter(r.values)
		defer h.rt.SetAsyncContext(before)
		return h.bind(c.Argument(0), receiver(c, 1))
	})
	c.Static("bind", 3, func(c goja.FunctionCall) goja.Value { return h.bind(c.Argument(0), receiver(c, 2)) })
	return c.Constructor
}

// receiver is an argument that says what a bound function is called on; nil if it is not given.
func receiver(c goja.FunctionCall, at int) goja.Value {
	if v := c.Argument(at); !goja.IsUndefined(v) {
		return v
	}
	return nil
}

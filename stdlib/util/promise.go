package util

import (
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// promisify makes of a function that takes a callback one that returns a promise.
func (m *module) promisify(c goja.FunctionCall) any {
	original, ok := c.Argument(0).(*goja.Object)
	if !ok || !callable(original) {
		panic(native.InvalidType(m.vm, "original", "of type function", c.Argument(0)))
	}
	own := func(fn *goja.Object) {
		native.Must(fn.DefineDataPropertySymbol(m.promisifyCustom, fn, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
	if custom := original.GetSymbol(m.promisifyCustom); custom != nil && custom.ToBoolean() {
		fn, ok := custom.(*goja.Object)
		if !ok || !callable(fn) {
			panic(native.InvalidType(m.vm, "util.promisify.custom", "of type function", custom))
		}
		own(fn)
		return fn
	}
	call, _ := goja.AssertFunction(original)
	fn := native.Func(m.vm, original.Get("name").String(), int(orUndefined(original.Get("length")).ToInteger()), func(c goja.FunctionCall) goja.Value {
		promise, resolve, reject := m.vm.NewPromise()
		done := native.Func(m.vm, "", 2, func(c goja.FunctionCall) goja.Value {
			if err := c.Argument(0); err.ToBoolean() {
				_ = reject(err)
			} else {
				_ = resolve(c.Argument(1))
			}
			return nil
		})
		args := append(append([]goja.Value{}, c.Arguments...), done)
		if _, err := call(c.This, args...); err != nil {
			m.rejectWith(reject, err)
		}
		return m.vm.ToValue(promise)
	})
	m.copyProperties(fn, original)
	native.Must(fn.SetPrototype(original.Prototype()))
	own(fn)
	return fn
}

// rejectWith rejects a promise with what a call threw. An interrupt goes on.
func (m *module) rejectWith(reject func(any) error, err error) {
	ex, ok := err.(*goja.Exception) //nolint:errorlint // what a Callable returns is not wrapped
	if !ok {
		panic(err)
	}
	_ = reject(ex.Value())
}

// copyProperties gives a function the own properties of another.
func (m *module) copyProperties(to, from *goja.Object) {
	object := m.vm.Get("Object").(*goja.Object)
	descriptors, ok := goja.AssertFunction(object.Get("getOwnPropertyDescriptors"))
	define, defined := goja.AssertFunction(object.Get("defineProperties"))
	if ok && defined {
		native.Call(define, goja.Undefined(), to, native.Call(descriptors, goja.Undefined(), from))
	}
}

// callbackify makes of a function that returns a promise one that takes a callback.
func (m *module) callbackify(c goja.FunctionCall) any {
	original, ok := c.Argument(0).(*goja.Object)
	if !ok || !callable(original) {
		panic(native.InvalidType(m.vm, "original", "of type function", c.Argument(0)))
	}
	call, _ := goja.AssertFunction(original)
	name := orUndefined(original.Get("name")).String()
	length := orUndefined(original.Get("length")).ToInteger() + 1
	return native.Func(m.vm, name+"Callbackified", int(min(length, 1<<16)), func(c goja.FunctionCall) goja.Value {
		last := goja.Undefined()
		args := c.Arguments
		if n := len(args); n > 0 {
			args, last = args[:n-1], args[n-1]
		}
		callback := native.Callback(m.vm, last, "last argument")
		later := func(args ...goja.Value) { m.rt.NextTick(func() { m.rt.Call(callback, c.This, args...) }) }
		promise := native.Call(call, c.This, args...)
		o, ok := promise.(*goja.Object)
		if !ok {
			panic(m.vm.NewTypeError("Cannot read properties of %s (reading 'then')", strings.ToLower(promise.String())))
		}
		native.Invoke(m.vm, o, "then",
			native.Func(m.vm, "", 1, func(c goja.FunctionCall) goja.Value {
				later(goja.Null(), c.Argument(0))
				return nil
			}),
			native.Func(m.vm, "", 1, func(c goja.FunctionCall) goja.Value {
				reason := c.Argument(0)
				if !reason.ToBoolean() {
					e := native.Error(m.vm, "Error", "ERR_FALSY_VALUE_REJECTION", "Promise was rejected with falsy value")
					native.Must(e.Set("reason", reason))
					reason = e
				}
				later(reason)
				return nil
			}))
		return nil
	})
}

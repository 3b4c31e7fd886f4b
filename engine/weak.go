package engine

import (
	"runtime"
	"weak"

	"github.com/dop251/goja"
)

// weakNatives are what WeakRef and FinalizationRegistry are made of.
func weakNatives(rt *Runtime) natives {
	return natives{
		// hold(object) returns what held returns the object for, while it lives.
		"hold": func(c goja.FunctionCall) goja.Value {
			o := c.Argument(0).(*goja.Object)
			rt.keep(o)
			return rt.vm.ToValue(&weakReference{weak.Make(o)})
		},
		"held": func(c goja.FunctionCall) goja.Value {
			o := c.Argument(0).Export().(*weakReference).target.Value()
			if o == nil {
				return nil
			}
			rt.keep(o)
			return o
		},
		// watch(object, callback) calls back some time after the object has gone. That
		// keeps no run alive.
		"watch": func(c goja.FunctionCall) goja.Value {
			callback, _ := goja.AssertFunction(c.Argument(1))
			self := weak.Make(rt) // the runtime leads to its objects
			runtime.AddCleanup(c.Argument(0).(*goja.Object), func(callback goja.Callable) {
				if rt := self.Value(); rt != nil {
					rt.loop.post(func() { rt.Call(callback, goja.Undefined()) })
				}
			}, callback)
			return nil
		},
	}
}

// weakReference is a reference that does not keep its object.
type weakReference struct{ target weak.Pointer[goja.Object] }

// keep keeps an object until the callback that is running is over: what a script saw in
// it once is there until then.
func (rt *Runtime) keep(o *goja.Object) { rt.kept = append(rt.kept, o) }

// Package clone is how values are copied whole: structuredClone, and the message ports
// that hand copies over, MessageChannel, MessagePort and BroadcastChannel.
package clone

import (
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/source"
)

//go:embed clone.d.ts
var declarations string

// Module returns the global structuredClone.
func Module() engine.Module {
	return engine.Module{
		Globals:      []string{"structuredClone"},
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			in := capture(rt)
			o := rt.VM().NewObject()
			fn := rt.Function("structuredClone", func(c goja.FunctionCall) goja.Value {
				return structuredClone(in, c)
			})
			must(o.Set("structuredClone", fn))
			return o
		},
	}
}

func structuredClone(in *intrinsics, c goja.FunctionCall) goja.Value {
	if len(c.Arguments) == 0 {
		panic(in.coded("ERR_MISSING_ARGS", "The value argument must be specified"))
	}
	var list goja.Value
	switch o := c.Argument(1).(type) {
	case *goja.Object:
		list = o.Get("transfer")
	default:
		if !goja.IsUndefined(o) && !goja.IsNull(o) {
			panic(in.coded("ERR_INVALID_ARG_TYPE", "The options argument must be either an object or undefined"))
		}
	}
	cl := in.cloner()
	if list != nil && !goja.IsUndefined(list) {
		cl.transfer(list)
	}
	return cl.finish(c.Argument(0))
}

//go:embed ports.d.ts
var portDeclarations string

//go:embed ports.js
var portText string

var portScript = source.New("mcpx:ports", portText)

// Ports returns the globals that hand over messages.
func Ports() engine.Module {
	return engine.Module{
		Globals:      []string{"MessageChannel", "MessagePort", "BroadcastChannel"},
		Declarations: portDeclarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			in := capture(rt)
			return portScript.Make(rt, source.Natives{
				// clone(value, list, ports, successors) clones a message. Ports of the list
				// become their successors in it.
				"clone": func(c goja.FunctionCall) goja.Value {
					cl := in.cloner()
					from, to := elements(c.Argument(2)), elements(c.Argument(3))
					for i := range min(len(from), len(to)) {
						cl.seen[from[i]] = to[i]
					}
					cl.transfer(c.Argument(1))
					return cl.finish(c.Argument(0))
				},
				// later(fn) calls fn in a turn of its own, and keeps the run alive until then.
				"later": func(c goja.FunctionCall) goja.Value {
					fn, _ := goja.AssertFunction(c.Argument(0))
					rt.SetImmediate(func() { rt.Call(fn, goja.Undefined()) })
					return goja.Undefined()
				},
			})
		},
	}
}

// elements lists an array of ours.
func elements(v goja.Value) (list []*goja.Object) {
	array, _ := v.(*goja.Object)
	if array == nil {
		return nil
	}
	for _, key := range array.Keys() {
		list = append(list, array.Get(key).(*goja.Object))
	}
	return list
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Package events is node:events: EventEmitter as Node 20 has it, and what waits for
// events. EventTarget is no part of it, but its functions take one where Node's do.
package events

import (
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/inspect"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/source"
)

//go:embed events.d.ts
var declarations string

//go:embed events.js
var text string

var script = source.New("mcpx:events", text)

// Module returns node:events. What it exports is the class, as in Node.
func Module() engine.Module {
	return engine.Module{
		Name:         "node:events",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			vm := rt.VM()
			in := inspect.New(vm)
			return script.Make(rt, source.Natives{
				"inspect": func(c goja.FunctionCall) goja.Value {
					o := inspect.Default()
					if given, ok := c.Argument(1).(*goja.Object); ok {
						o = in.ReadOptions(given, o)
					}
					return vm.ToValue(in.Inspect(c.Argument(0), o))
				},
				"warn": func(c goja.FunctionCall) goja.Value {
					if process, ok := vm.Get("process").(*goja.Object); ok {
						native.Invoke(vm, process, "emitWarning", c.Argument(0))
					}
					return nil
				},
				"tick": func(c goja.FunctionCall) goja.Value {
					fn := native.Callback(vm, c.Argument(0), "callback")
					rt.NextTick(func() { rt.Call(fn, goja.Undefined()) })
					return nil
				},
				"microtask": func(c goja.FunctionCall) goja.Value {
					fn := native.Callback(vm, c.Argument(0), "callback")
					rt.Microtask(func() { rt.Call(fn, goja.Undefined()) })
					return nil
				},
				"targetListeners": func(goja.FunctionCall) goja.Value { return vm.NewArray() },
			})
		},
	}
}

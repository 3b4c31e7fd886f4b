package timers

import (
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/source"
)

//go:embed modules.d.ts
var moduleDeclarations string

//go:embed promises.d.ts
var promiseDeclarations string

//go:embed promises.js
var promiseText string

var promises = source.New("mcpx:timers", promiseText)

// Modules returns the global functions, node:timers and node:timers/promises.
func Modules() []engine.Module {
	return []engine.Module{
		Module(),
		{
			Name:         "node:timers",
			Declarations: moduleDeclarations,
			Make: func(rt *engine.Runtime) *goja.Object {
				o := rt.VM().NewObject()
				from := functions(rt)
				for _, name := range from.Keys() {
					if name != "queueMicrotask" {
						native.Must(o.Set(name, from.Get(name)))
					}
				}
				native.Lazy(rt.VM(), o, "promises", func() goja.Value { return rt.Require("node:timers/promises") })
				return o
			},
		},
		{
			Name:         "node:timers/promises",
			Declarations: promiseDeclarations,
			Make: func(rt *engine.Runtime) *goja.Object {
				return promises.Make(rt, source.Natives{
					"timers": func(goja.FunctionCall) goja.Value { return functions(rt) },
				})
			},
		},
	}
}

// functions are the global functions, also where the script has its own of their names.
func functions(rt *engine.Runtime) *goja.Object { return rt.Globals("setTimeout") }

// promisify makes util.promisify turn setTimeout and setImmediate into what
// node:timers/promises has.
func (t *timers) promisify(o *goja.Object, name string) {
	symbol, ok := goja.AssertFunction(t.vm.Get("Symbol").(*goja.Object).Get("for"))
	if !ok {
		return
	}
	custom := native.Call(symbol, goja.Undefined(), t.vm.ToValue("nodejs.util.promisify.custom")).(*goja.Symbol)
	get := native.Func(t.vm, "get", 0, func(goja.FunctionCall) goja.Value {
		if m := t.rt.Require("node:timers/promises"); m != nil {
			return m.Get(name)
		}
		return nil
	})
	must(o.Get(name).(*goja.Object).DefineAccessorPropertySymbol(custom, get, nil, goja.FLAG_TRUE, goja.FLAG_TRUE))
}

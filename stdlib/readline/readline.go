// Package readline is node:readline and node:readline/promises: streams line by line,
// questions on a terminal, and the sequences that move its cursor. Lines are edited by
// the terminal itself; history and completion do not exist.
package readline

import (
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/source"
)

//go:embed readline.d.ts
var declarations string

//go:embed promises.d.ts
var promiseDeclarations string

//go:embed readline.js
var text string

var script = source.New("mcpx:readline", text)

// Modules returns node:readline and node:readline/promises.
func Modules() []engine.Module {
	return []engine.Module{
		{Name: "node:readline", Declarations: declarations, Make: exports},
		{
			Name:         "node:readline/promises",
			Declarations: promiseDeclarations,
			Make: func(rt *engine.Runtime) *goja.Object {
				return rt.Require("node:readline").Get("promises").(*goja.Object)
			},
		},
	}
}

func exports(rt *engine.Runtime) *goja.Object {
	vm := rt.VM()
	return script.Make(rt, source.Natives{
		"events": func(goja.FunctionCall) goja.Value { return rt.Require("node:events") },
		"tick": func(c goja.FunctionCall) goja.Value {
			fn := native.Callback(vm, c.Argument(0), "callback")
			rt.NextTick(func() { rt.Call(fn, goja.Undefined()) })
			return nil
		},
	})
}

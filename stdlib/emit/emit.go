// Package emit is the global emit of a script: values that are given out while it runs.
//
//	op      head    body
//	emit            the value as JSON, in one line
//
// The answer comes when the value has its place among what the script prints.
package emit

import (
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

//go:embed emit.d.ts
var declarations string

// Module returns the global emit.
func Module() engine.Module {
	return engine.Module{
		Globals:      []string{"emit"},
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			e := native.NewExports(rt.VM())
			e.Func("emit", 1, func(call goja.FunctionCall) goja.Value {
				body, ok := engine.EncodeJSON(rt, call.Argument(0), engine.EncodeOptions{BigInt: true, Bytes: true})
				if !ok {
					panic(rt.VM().NewTypeError("emit wants a value that JSON has a form for, such as null instead of undefined"))
				}
				if _, _, err := rt.Host().Call(rt.Context(), "emit", nil, body); err != nil {
					panic(rt.NewError(err))
				}
				return nil
			})
			return e.Object
		},
	}
}

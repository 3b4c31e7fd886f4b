// Package input is the global input of a script: what the run was given to work on.
//
//	op       head      answer
//	input    {name}    body: its bytes; without a name all of standard input that is left
//
// What was read is kept: a script that asks again gets the same.
package input

import (
	_ "embed"
	"strings"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

//go:embed input.d.ts
var declarations string

type head struct {
	Name string `json:"name,omitempty"`
}

// Module returns the global input.
func Module() engine.Module {
	return engine.Module{
		Globals:      []string{"input"},
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			vm := rt.VM()
			read := map[string]goja.Value{}
			e := native.NewExports(vm)
			e.Func("input", 0, func(call goja.FunctionCall) goja.Value {
				var h head
				if v := call.Argument(0); !goja.IsUndefined(v) {
					if h.Name = native.Text(vm, v, "name").String(); h.Name == "" {
						panic(native.InvalidValue(vm, "name", v, "must be the name of an artifact"))
					}
				}
				if v, ok := read[h.Name]; ok {
					return v
				}
				_, body, err := rt.Host().Call(rt.Context(), "input", h, nil)
				if err != nil {
					panic(rt.NewError(err))
				}
				v := vm.ToValue(strings.TrimPrefix(octets.ValidUTF8(body), "\uFEFF"))
				read[h.Name] = v
				return v
			})
			return e.Object
		},
	}
}

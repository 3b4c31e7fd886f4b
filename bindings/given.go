package bindings

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/dop251/goja"

	"mcpx/engine"
)

// Given makes globals of values that come with a run, each a JSON text.
func Given(values map[string]json.RawMessage) engine.Module {
	return engine.Module{
		Globals: slices.Sorted(maps.Keys(values)),
		Make: func(rt *engine.Runtime) *goja.Object {
			o := rt.VM().NewObject()
			for name, text := range values {
				v, err := engine.DecodeJSON(rt, text)
				if err == nil {
					err = o.Set(name, v)
				}
				if err != nil {
					panic(rt.NewError(err))
				}
			}
			return o
		},
	}
}

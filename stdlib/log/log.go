// Package log is the global log of a script: words for whoever runs it, apart from what
// the script prints. They go to standard error, formatted as console.error formats.
//
//	op     head             body
//	log    {level}          the text
//
// The host is asked in order and without waiting for a person: a log line never holds
// up the script for longer than the host takes to accept it.
package log

import (
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/inspect"
)

//go:embed log.d.ts
var declarations string

type head struct {
	Level string `json:"level"`
}

// Module returns the global log.
func Module() engine.Module {
	return engine.Module{
		Globals:      []string{"log"},
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			vm := rt.VM()
			in := inspect.New(vm)
			level := func(name, level string) *goja.Object {
				return rt.Function(name, func(call goja.FunctionCall) goja.Value {
					text := in.Format(inspect.Default(), call.Arguments...)
					if _, _, err := rt.Host().Call(rt.Context(), "log", head{level}, []byte(text)); err != nil {
						panic(rt.NewError(err))
					}
					return nil
				})
			}
			log := level("log", "info")
			for _, name := range []string{"debug", "info", "warn", "error"} {
				if err := log.Set(name, level(name, name)); err != nil {
					panic(err)
				}
			}
			exports := vm.NewObject()
			if err := exports.Set("log", log); err != nil {
				panic(err)
			}
			return exports
		},
	}
}

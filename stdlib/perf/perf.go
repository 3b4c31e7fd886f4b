// Package perf is the global performance with its classes, and node:perf_hooks: how a
// script measures its own time. Times count from the start of the run. What measures Node
// itself (event loop, garbage collection, histograms) does not exist.
package perf

import (
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/source"
)

//go:embed perf.d.ts
var declarations string

//go:embed globals.d.ts
var globals string

//go:embed perf.js
var text string

var script = source.New("mcpx:perf", text)

// Modules returns the globals and node:perf_hooks.
func Modules() []engine.Module {
	return []engine.Module{
		{Name: "node:perf_hooks", Declarations: declarations, Make: exports},
		{
			Globals: []string{
				"performance", "Performance", "PerformanceEntry", "PerformanceMark", "PerformanceMeasure",
				"PerformanceObserver", "PerformanceObserverEntryList",
			},
			Declarations: globals,
			Make:         func(rt *engine.Runtime) *goja.Object { return rt.Require("node:perf_hooks") },
		},
	}
}

func exports(rt *engine.Runtime) *goja.Object {
	vm := rt.VM()
	return script.Make(rt, source.Natives{
		"now": func(goja.FunctionCall) goja.Value {
			return vm.ToValue(float64(rt.Age().Nanoseconds()) / 1e6)
		},
		"origin": func(goja.FunctionCall) goja.Value {
			return vm.ToValue(float64(rt.Began().UnixMicro()) / 1e3)
		},
		"later": func(c goja.FunctionCall) goja.Value {
			fn := native.Callback(vm, c.Argument(0), "callback")
			rt.SetImmediate(func() { rt.Call(fn, goja.Undefined()) })
			return nil
		},
	})
}

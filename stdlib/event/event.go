// Package event is what happens to a script, and how it is called off: Event and
// EventTarget with their kin, AbortController and AbortSignal, DOMException and
// reportError, as the standards of the Web and Node 20 have them.
package event

import (
	_ "embed"
	"time"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/source"
)

//go:embed event.d.ts
var declarations string

//go:embed event.js
var text string

var script = source.New("mcpx:event", text)

// Module returns the globals.
func Module() engine.Module {
	return engine.Module{
		Globals: []string{
			"Event", "EventTarget", "CustomEvent", "MessageEvent", "ErrorEvent",
			"AbortSignal", "AbortController", "DOMException", "reportError",
		},
		Declarations: declarations,
		Make:         exports,
	}
}

func exports(rt *engine.Runtime) *goja.Object {
	return script.Make(rt, source.Natives{
		// now is the time of an event, in milliseconds since the run began.
		"now": func(goja.FunctionCall) goja.Value {
			return rt.VM().ToValue(float64(rt.Age().Microseconds()) / 1000)
		},
		// timeout(ms, fn) calls fn later. Like Node's it does not keep the run alive.
		"timeout": func(c goja.FunctionCall) goja.Value {
			fn, _ := goja.AssertFunction(c.Argument(1))
			delay := time.Duration(source.Integer(c.Argument(0), 0, longest)) * time.Millisecond
			id := rt.SetTimer(delay, false, func() { rt.Call(fn, goja.Undefined()) })
			rt.RefTimer(id, false)
			return goja.Undefined()
		},
	})
}

// longest is the longest delay in milliseconds.
const longest = int64(1) << 42

// Package assert is node:assert and node:assert/strict: what a script claims to hold, and
// the AssertionError if it does not. It says what Node says, with the two values as lines
// that differ.
package assert

import (
	_ "embed"
	"strings"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/equal"
	"mcpx/stdlib/internal/inspect"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/source"
)

//go:embed assert.d.ts
var declarations string

//go:embed strict.d.ts
var strictDeclarations string

//go:embed assert.js
var text string

var script = source.New("mcpx:assert", text)

// Modules returns node:assert and node:assert/strict.
func Modules() []engine.Module {
	return []engine.Module{
		{Name: "node:assert", Declarations: declarations, Make: exports},
		{
			Name:         "node:assert/strict",
			Declarations: strictDeclarations,
			Make: func(rt *engine.Runtime) *goja.Object {
				return rt.Require("node:assert").Get("strict").(*goja.Object)
			},
		},
	}
}

func exports(rt *engine.Runtime) *goja.Object {
	vm := rt.VM()
	in, comparer := inspect.New(vm), equal.New(vm)
	return script.Make(rt, source.Natives{
		"inspect": func(c goja.FunctionCall) goja.Value {
			o := in.Defaults()
			if given, ok := c.Argument(1).(*goja.Object); ok {
				o = in.ReadOptions(given, o)
			}
			return vm.ToValue(in.Inspect(c.Argument(0), o))
		},
		"shown":    func(c goja.FunctionCall) goja.Value { return vm.ToValue(shown(in, c.Argument(0))) },
		"received": func(c goja.FunctionCall) goja.Value { return vm.ToValue(in.Received(c.Argument(0))) },
		"deep": func(c goja.FunctionCall) goja.Value {
			return vm.ToValue(comparer.Deep(c.Argument(0), c.Argument(1), c.Argument(2).ToBoolean()))
		},
		"diff": func(c goja.FunctionCall) goja.Value {
			d := &difference{
				actual: c.Argument(0), expected: c.Argument(1),
				same: c.Argument(2).String() == "strictEqual", heading: c.Argument(3).String(),
			}
			return vm.ToValue(d.text(shown(in, d.actual), shown(in, d.expected)))
		},
		"isPromise": func(c goja.FunctionCall) goja.Value {
			o, ok := c.Argument(0).(*goja.Object)
			return vm.ToValue(ok && in.Class(o) == "Promise")
		},
		// label changes the first line of an error's stack.
		"label": func(c goja.FunctionCall) goja.Value {
			e := c.Argument(0).(*goja.Object)
			message, stack := e.Get("message").String(), e.Get("stack")
			if stack == nil {
				return nil
			}
			if _, frames, ok := strings.Cut(stack.String(), message); ok {
				native.Hide(e, "stack", vm.ToValue(c.Argument(1).String()+frames))
			}
			return nil
		},
		"expression": func(goja.FunctionCall) goja.Value {
			code := callOf(rt)
			if code == "" {
				return nil
			}
			return vm.ToValue("The expression evaluated to a falsy value:\n\n  " + code + "\n")
		},
	})
}

// shown writes a value with everything that a comparison looks at, a line for each part.
func shown(in *inspect.Inspector, v goja.Value) string {
	o := inspect.Default()
	o.Compact, o.CustomInspect, o.Depth = inspect.CompactNever, false, 1000
	o.MaxArrayLength, o.BreakLength = inspect.Unlimited, inspect.Unlimited
	o.Sorted, o.Getters = true, "all"
	return in.Inspect(v, o)
}

// Package source runs the parts of the library that are written in JavaScript,
// because JavaScript is their natural form: hierarchies of classes, and streams.
//
// A text is one function expression of two parameters. The first is an object of native
// functions, which only the text sees. The second is the kit, what all texts have in
// common (kit.js). What the function returns is the exports of a module. A text is
// compiled once a process, when it is first needed, and run once a runtime.
package source

import (
	_ "embed"
	"math"
	"sync"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/inspect"
)

// Source is a text of ours.
type Source struct{ program func() *goja.Program }

// New returns the source with a text. The name is what stacks call it; it is no file of
// a script, so that reports leave its frames out.
func New(name, text string) *Source {
	return &Source{sync.OnceValue(func() *goja.Program { return goja.MustCompile(name, text, true) })}
}

// Natives are functions that a text is given.
type Natives map[string]func(goja.FunctionCall) goja.Value

//go:embed kit.js
var kitText string

var kit = New("mcpx:kit", kitText)

// Make runs the text and returns its exports.
func (s *Source) Make(rt *engine.Runtime, natives Natives) *goja.Object {
	vm := rt.VM()
	tools := kit.run(rt, object(rt, Natives{
		"received": func(c goja.FunctionCall) goja.Value {
			return vm.ToValue(inspect.New(vm).Received(c.Argument(0)))
		},
		"throwLater": func(c goja.FunctionCall) goja.Value {
			if fn, ok := goja.AssertFunction(c.Argument(0)); ok {
				rt.Microtask(func() { rt.Call(fn, goja.Undefined()) })
			}
			return goja.Undefined()
		},
	}), nil)
	return s.run(rt, object(rt, natives), tools)
}

func (s *Source) run(rt *engine.Runtime, natives, tools goja.Value) *goja.Object {
	function, err := rt.VM().RunProgram(s.program())
	if err != nil {
		panic(err)
	}
	fn, _ := goja.AssertFunction(function)
	exports, err := fn(goja.Undefined(), natives, tools)
	if err != nil {
		panic(err)
	}
	return exports.(*goja.Object)
}

func object(rt *engine.Runtime, natives Natives) *goja.Object {
	o := rt.VM().NewObject()
	for name, fn := range natives {
		if err := o.Set(name, rt.Function(name, fn)); err != nil {
			panic(err)
		}
	}
	return o
}

// Integer is v as an integer between low and high.
func Integer(v goja.Value, low, high int64) int64 {
	f := v.ToFloat()
	switch {
	case math.IsNaN(f) || f < float64(low):
		return low
	case f > float64(high):
		return high
	}
	return int64(f)
}

package engine

import (
	_ "embed"
	"encoding/json"
	"slices"
	"sync"

	"github.com/dop251/goja"

	"mcpx/internal/fault"
)

//go:embed errors.d.ts
var errorDeclarations string

// Errors is the module of the classes of errors that mcpx itself throws: ToolError,
// DeniedError and the others that a fault.Kind names.
func Errors() Module {
	m := Module{Declarations: errorDeclarations, Make: func(rt *Runtime) *goja.Object {
		o := rt.vm.NewObject()
		for _, k := range fault.Kinds() {
			if hasClass(k) {
				define(o, k.ErrorName(), rt.errorClass(k))
			}
		}
		return o
	}}
	for _, k := range fault.Kinds() {
		if hasClass(k) {
			m.Globals = append(m.Globals, k.ErrorName())
		}
	}
	return m
}

// hasClass reports whether the errors of a kind have a class of their own.
func hasClass(k fault.Kind) bool { return k != fault.Script && k != fault.Internal }

// errorClasses are those that were needed so far.
type errorClasses map[fault.Kind]*goja.Object

var errorClassProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("mcpx:errors", "(function (Error) { return class extends Error {} })", true)
})

// errorClass is the class of the errors of a kind, Error itself for those without one.
func (rt *Runtime) errorClass(k fault.Kind) *goja.Object {
	if !hasClass(k) {
		return rt.intrinsics.newErrorObject
	}
	if class, ok := rt.classes[k]; ok {
		return class
	}
	class := rt.runText(errorClassProgram(), rt.intrinsics.newErrorObject).(*goja.Object)
	name := rt.vm.ToValue(k.ErrorName())
	if err := class.DefineDataProperty("name", name, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		panic(err)
	}
	define(class.Get("prototype").(*goja.Object), "name", name)
	if rt.classes == nil {
		rt.classes = errorClasses{}
	}
	rt.classes[k] = class
	return class
}

// define makes a property that is not enumerable, as those of classes are.
func define(o *goja.Object, name string, v goja.Value) {
	if err := o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		panic(err)
	}
}

// NewError makes a JavaScript Error of a Go error, of the class of its fault.Kind: with
// its kind, its hint, and its details as fields. Its stack is that of the caller.
func (rt *Runtime) NewError(err error) *goja.Object { return rt.newError(err, rt.origin()) }

// originDepth is how many frames of the call that failed are kept.
const originDepth = 32

// origin is the stack of whoever is calling from JavaScript.
func (rt *Runtime) origin() []goja.StackFrame { return rt.vm.CaptureCallStack(originDepth, nil) }

func (rt *Runtime) newError(err error, origin []goja.StackFrame) *goja.Object {
	f := fault.From(err)
	o, failed := rt.vm.New(rt.errorClass(f.Kind), rt.vm.ToValue(f.Message))
	if failed != nil {
		panic(failed)
	}
	field := func(name string, v goja.Value) {
		if err := o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
			panic(err)
		}
	}
	name := f.Kind.ErrorName()
	if !hasClass(f.Kind) {
		define(o, "name", rt.vm.ToValue(name))
	}
	define(o, "stack", rt.vm.ToValue(rt.stackOf(name+": "+f.Message, framesOf(origin))))
	field("kind", rt.vm.ToValue(string(f.Kind)))
	if f.Hint != "" {
		field("hint", rt.vm.ToValue(f.Hint))
	}
	keys := make([]string, 0, len(f.Details))
	for k := range f.Details {
		if !slices.Contains(ownFields, k) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		b, err := json.Marshal(f.Details[k])
		if err != nil {
			continue
		}
		if v, err := DecodeJSON(rt, b); err == nil {
			field(k, v)
		}
	}
	if err := o.DefineDataPropertySymbol(rt.intrinsics.kind, rt.vm.ToValue(string(f.Kind)), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
		panic(err)
	}
	return o
}

// ownFields are the properties of an error that a report has fields for.
var ownFields = []string{"name", "message", "stack", "cause", "errors", "kind", "hint"}

// stackOf writes a stack as V8 does.
func (rt *Runtime) stackOf(head string, frames []stackFrame) string {
	if rt.program == nil {
		return head
	}
	return rt.program.stackText(head, frames)
}

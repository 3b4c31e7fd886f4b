package engine

import (
	"fmt"
	"math"
	"strings"

	"github.com/dop251/goja"
)

// stackLimit is how many calls Error.captureStackTrace notes if Error.stackTraceLimit
// says nothing else, and the most that it does.
const (
	stackLimit    = 10
	stackLimitMax = 200
	stackDepth    = 1000 // calls that are looked through for the function to start at
)

// installStackTrace adds what V8 has on Error and libraries make their errors with.
func (rt *Runtime) installStackTrace() {
	constructor := rt.intrinsics.newErrorObject
	toString, _ := goja.AssertFunction(constructor.Get("prototype").(*goja.Object).Get("toString"))
	capture := rt.Function("captureStackTrace", func(c goja.FunctionCall) goja.Value {
		target, ok := c.Argument(0).(*goja.Object)
		if !ok {
			panic(rt.vm.NewTypeError("Invalid argument"))
		}
		limit := 0
		if v := constructor.Get("stackTraceLimit"); v != nil && goja.IsNumber(v) {
			if f := v.ToFloat(); f > 0 {
				limit = int(math.Min(f, stackLimitMax))
			}
		}
		stack := rt.vm.CaptureCallStack(stackDepth, nil)
		if fn, ok := c.Argument(1).(*goja.Object); ok {
			stack = above(stack, fn)
		}
		frames := framesOf(stack)
		head, err := toString(target)
		if err != nil {
			panic(err)
		}
		text := rt.stackValue(target, head.String(), frames[:min(limit, len(frames))])
		if err := target.DefineDataProperty("stack", text, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			panic(err)
		}
		return nil
	})
	define := func(name string, v goja.Value, enumerable goja.Flag) {
		if err := constructor.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, enumerable); err != nil {
			panic(err)
		}
	}
	define("captureStackTrace", capture, goja.FLAG_FALSE)
	define("stackTraceLimit", rt.vm.ToValue(stackLimit), goja.FLAG_TRUE)
}

// stackValue is what the property stack of an error is to be: a text, or what the
// script's Error.prepareStackTrace makes of the calls.
func (rt *Runtime) stackValue(o *goja.Object, head string, frames []stackFrame) goja.Value {
	plain := rt.vm.ToValue(rt.stackOf(head, frames))
	prepare, ok := goja.AssertFunction(rt.intrinsics.newErrorObject.Get("prepareStackTrace"))
	if !ok || rt.preparing || rt.program == nil {
		return plain
	}
	rt.preparing = true // errors that it makes are not its business
	defer func() { rt.preparing = false }()
	sites := make([]any, 0, len(frames))
	for _, f := range frames {
		if rt.program.at(f.at) != nil {
			sites = append(sites, rt.callSite(f))
		}
	}
	define(o, "stack", plain)
	v, err := prepare(rt.intrinsics.newErrorObject, o, rt.vm.NewArray(sites...))
	must(err)
	return v
}

// callSite is one call as V8 hands it to Error.prepareStackTrace. What goja does not tell
// is null or undefined.
func (rt *Runtime) callSite(f stackFrame) *goja.Object {
	at, name := rt.program.at(f.at), rt.program.functionName(f.function)
	site := rt.vm.NewObject()
	method := func(name string, v any) {
		value := goja.Undefined()
		if v != nil {
			value = rt.vm.ToValue(v)
		}
		define(site, name, rt.Function(name, func(goja.FunctionCall) goja.Value { return value }))
	}
	called := goja.Null()
	text := fmt.Sprintf("%s:%d:%d", at.File, at.Line, at.Column)
	if name != "" {
		called = rt.vm.ToValue(name)
		text = name + " (" + text + ")"
	}
	method("getFileName", at.File)
	method("getScriptNameOrSourceURL", at.File)
	method("getLineNumber", at.Line)
	method("getColumnNumber", at.Column)
	method("getFunctionName", called)
	method("toString", text)
	for _, name := range []string{"getTypeName", "getMethodName", "getPromiseIndex"} {
		method(name, goja.Null())
	}
	for _, name := range []string{"getThis", "getFunction", "getEvalOrigin"} {
		method(name, nil)
	}
	method("isConstructor", strings.HasPrefix(name, constructed))
	for _, name := range []string{"isEval", "isNative", "isAsync", "isPromiseAll"} {
		method(name, false)
	}
	method("isToplevel", name == "")
	return site
}

// above returns the calls below the last one of a function in the text of a stack: those
// that led to it. Frames know functions by name only.
func above(stack []goja.StackFrame, fn *goja.Object) []goja.StackFrame {
	name := fn.Get("name")
	if name == nil || name.String() == "" {
		return stack
	}
	// esbuild gives a class that mentions itself another name, with _ in front.
	own := strings.TrimPrefix(name.String(), "_")
	for i := range stack {
		if called := strings.TrimPrefix(stack[i].FuncName(), constructed); called == name.String() || called == own {
			return stack[i+1:]
		}
	}
	return stack
}

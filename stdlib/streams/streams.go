// Package streams is what data flows through: the streams of the Web with those for text
// and compression, and the streams of Node on top of them, node:stream,
// node:stream/promises, node:stream/web and node:stream/consumers.
package streams

import (
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
	"mcpx/stdlib/internal/source"
)

//go:embed web.d.ts
var webDeclarations string

//go:embed node.d.ts
var nodeDeclarations string

//go:embed promises.d.ts
var promisesDeclarations string

//go:embed consumers.d.ts
var consumersDeclarations string

//go:embed web.js
var webText string

//go:embed node.js
var nodeText string

//go:embed consumers.js
var consumersText string

var (
	nodeScript      = source.New("mcpx:node-streams", nodeText)
	consumersScript = source.New("mcpx:consumers", consumersText)
)

var webScript = source.New("mcpx:streams", webText)

// Modules returns the globals, which are node:stream/web too, and Node's streams.
func Modules() []engine.Module {
	return []engine.Module{{
		Name: "node:stream/web",
		Globals: []string{
			"ReadableStream", "ReadableStreamDefaultReader", "ReadableStreamBYOBReader", "ReadableStreamBYOBRequest",
			"ReadableStreamDefaultController", "ReadableByteStreamController",
			"WritableStream", "WritableStreamDefaultWriter", "WritableStreamDefaultController",
			"TransformStream", "TransformStreamDefaultController", "ByteLengthQueuingStrategy", "CountQueuingStrategy",
			"TextEncoderStream", "TextDecoderStream", "CompressionStream", "DecompressionStream",
		},
		Declarations: webDeclarations,
		Make:         makeWeb,
	}, {
		Name:         "node:stream",
		Declarations: nodeDeclarations,
		Make:         func(rt *engine.Runtime) *goja.Object { return nodeScript.Make(rt, nodeNatives(rt)) },
	}, {
		Name:         "node:stream/promises",
		Declarations: promisesDeclarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			return rt.Require("node:stream").Get("promises").(*goja.Object)
		},
	}, {
		Name:         "node:stream/consumers",
		Declarations: consumersDeclarations,
		Make:         func(rt *engine.Runtime) *goja.Object { return consumersScript.Make(rt, nil) },
	}}
}

func nodeNatives(rt *engine.Runtime) source.Natives {
	vm := rt.VM()
	return source.Natives{
		// tick(fn) calls fn when what runs now has returned.
		"tick": func(call goja.FunctionCall) goja.Value {
			fn := native.Callback(vm, call.Argument(0), "callback")
			rt.NextTick(func() { rt.Call(fn, goja.Undefined()) })
			return goja.Undefined()
		},
		// require returns what another module exports.
		"require": func(call goja.FunctionCall) goja.Value {
			name := call.Argument(0).String()
			if o := rt.Require(name); o != nil {
				return o
			}
			panic(vm.NewTypeError("there is no module %q", name))
		},
	}
}

func makeWeb(rt *engine.Runtime) *goja.Object {
	vm := rt.VM()
	oc := octets.New(vm)
	opener := func(open func(format string) codec) native.Function {
		return func(call goja.FunctionCall) goja.Value {
			return native.Func(vm, "", 1, passer(vm, oc, open(call.Argument(0).String())))
		}
	}
	return webScript.Make(rt, source.Natives{
		// move gives the memory of an ArrayBuffer to a new one.
		"move": func(call goja.FunctionCall) goja.Value {
			o, _ := call.Argument(0).(*goja.Object)
			if !oc.IsArrayBuffer(o) {
				panic(native.InvalidType(vm, "buffer", "an instance of ArrayBuffer", call.Argument(0)))
			}
			buffer := o.Export().(goja.ArrayBuffer)
			if buffer.Detached() {
				panic(native.Error(vm, "TypeError", "ERR_INVALID_STATE", "Invalid state: the ArrayBuffer is detached"))
			}
			moved := oc.ArrayBuffer(buffer.Bytes())
			buffer.Detach()
			return moved
		},
		"compressor":   opener(newCompressor),
		"decompressor": opener(newDecompressor),
	})
}

// Package blob is how a script holds files: Blob and File, which are bytes in memory, and
// FormData, as the standards of the Web and Node 20 have them.
package blob

import (
	"bytes"
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
	"mcpx/stdlib/internal/source"
)

//go:embed blob.d.ts
var declarations string

//go:embed blob.js
var text string

var script = source.New("mcpx:blob", text)

// Module returns the globals.
func Module() engine.Module {
	return engine.Module{
		Globals:      []string{"Blob", "File", "FormData"},
		Declarations: declarations,
		Make:         makeModule,
	}
}

func makeModule(rt *engine.Runtime) *goja.Object {
	vm := rt.VM()
	oc := octets.New(vm)
	return script.Make(rt, source.Natives{
		// join(parts) copies texts, buffers and views into one Uint8Array.
		"join": func(call goja.FunctionCall) goja.Value {
			parts, _ := call.Argument(0).(*goja.Object)
			var joined bytes.Buffer
			for _, key := range parts.Keys() {
				part := parts.Get(key)
				b, ok := oc.Bytes(part)
				if !ok {
					b = octets.UTF8.Encode(part.ToString().(goja.String))
				}
				if int64(joined.Len())+int64(len(b)) > octets.MaxLength {
					panic(native.Error(vm, "RangeError", "ERR_BUFFER_TOO_LARGE", "the blob is too large"))
				}
				joined.Write(b)
			}
			return oc.Uint8Array(joined.Bytes())
		},
		// text(bytes) decodes UTF-8 without its byte order mark.
		"text": func(call goja.FunctionCall) goja.Value {
			b, _ := oc.Bytes(call.Argument(0))
			return octets.UTF8.Decode(vm, bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")))
		},
		// scalar(text) replaces lone surrogates.
		"scalar": func(call goja.FunctionCall) goja.Value {
			return vm.ToValue(string(octets.UTF8.Encode(call.Argument(0).ToString().(goja.String))))
		},
	})
}

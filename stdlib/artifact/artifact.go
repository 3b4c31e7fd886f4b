// Package artifact is the global artifact of a script: what is to be kept of a run beyond
// its end.
//
//	op         head                 answer
//	artifact   {name, mime, path}   {id, name, mime, size, sha256, uri}; the body of the request is what is
//	                                kept, unless path names a file that the run may read
package artifact

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
	"mcpx/stdlib/internal/source"
)

//go:embed artifact.d.ts
var declarations string

//go:embed artifact.js
var text string

var script = source.New("mcpx:artifact", text)

type head struct {
	Name string `json:"name"`
	MIME string `json:"mime,omitempty"`
	Path string `json:"path,omitempty"`
}

// Module returns the global artifact.
func Module() engine.Module {
	return engine.Module{
		Globals:      []string{"artifact"},
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			return script.Make(rt, source.Natives{"keep": func(call goja.FunctionCall) goja.Value { return keep(rt, call) }})
		},
	}
}

// keep(name, mime, path, text, bytes, base64) asks the host to keep one of the last four.
func keep(rt *engine.Runtime, call goja.FunctionCall) goja.Value {
	vm := rt.VM()
	h := head{Name: call.Argument(0).String(), MIME: call.Argument(1).String()}
	var body []byte
	switch {
	case !goja.IsUndefined(call.Argument(2)):
		h.Path = call.Argument(2).String()
	case !goja.IsUndefined(call.Argument(3)):
		body = octets.UTF8.Encode(native.String(vm, call.Argument(3)))
	case !goja.IsUndefined(call.Argument(4)):
		b, _ := octets.New(vm).Bytes(call.Argument(4))
		body = slices.Clone(b) // the script may change its own meanwhile
	default:
		var err error
		if body, err = decodeBase64(call.Argument(5).String()); err != nil {
			panic(vm.NewTypeError("the data of the block is not base64: %s", err.Error()))
		}
	}
	return engine.Async(rt, "artifact", func(ctx context.Context) (json.RawMessage, error) {
		answer, _, err := rt.Host().Call(ctx, "artifact", h, body)
		return answer, err
	}, func(answer json.RawMessage) goja.Value {
		v, err := engine.DecodeJSON(rt, answer)
		if err != nil {
			panic(rt.NewError(err))
		}
		return v
	})
}

// decodeBase64 reads base64 with or without its padding.
func decodeBase64(s string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(s), "="))
}

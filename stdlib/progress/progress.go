// Package progress is the global progress of a script: how far it is, for whoever watches.
//
//	op          head
//	progress    {done, total, message}    total and message may be absent
//
// A script may say it in a tight loop: what follows sooner than a person can read it is
// left out, unless it says that all is done.
package progress

import (
	_ "embed"
	"math"
	"time"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

//go:embed progress.d.ts
var declarations string

// head is that of the op.
type head struct {
	Done    float64  `json:"done"`
	Total   *float64 `json:"total,omitempty"`
	Message string   `json:"message,omitempty"`
}

const (
	// pause is how long nothing is said after something was.
	pause = 100 * time.Millisecond
	// maxMessage is how long a message may be.
	maxMessage = 1000
)

// Module returns the global progress.
func Module() engine.Module {
	return engine.Module{
		Globals:      []string{"progress"},
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			vm := rt.VM()
			var said time.Duration
			first, over := true, false
			e := native.NewExports(vm)
			e.Func("progress", 1, func(call goja.FunctionCall) goja.Value {
				h := head{Done: number(vm, call.Argument(0), "done")}
				if v := call.Argument(1); !goja.IsUndefined(v) && !goja.IsNull(v) {
					total := number(vm, v, "total")
					h.Total = &total
				}
				if v := call.Argument(2); !goja.IsUndefined(v) && !goja.IsNull(v) {
					h.Message = shortened(native.String(vm, v).String())
				}
				complete := h.Total != nil && h.Done >= *h.Total
				now := rt.Age()
				if !first && now-said < pause && (!complete || over) {
					return nil
				}
				first, over, said = false, complete, now
				if _, _, err := rt.Host().Call(rt.Context(), "progress", h, nil); err != nil {
					panic(rt.NewError(err))
				}
				return nil
			})
			return e.Object
		},
	}
}

func number(vm *goja.Runtime, v goja.Value, name string) float64 {
	if !goja.IsNumber(v) {
		panic(native.InvalidType(vm, name, "of type number", v))
	}
	f := v.ToFloat()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		panic(native.OutOfRange(vm, name, "a finite number", v))
	}
	return f
}

// shortened cuts a message that is too long to be one.
func shortened(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	end := 0
	for i := range s {
		if i > maxMessage {
			break
		}
		end = i
	}
	return s[:end] + "…"
}

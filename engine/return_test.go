package engine

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"mcpx/internal/fault"

	"github.com/dop251/goja"
)

// slowHost answers after a moment and counts what was begun and what was done.
type slowHost struct{ begun, done atomic.Int32 }

func (h *slowHost) Call(ctx context.Context, _ string, _ any, _ []byte) (json.RawMessage, []byte, error) {
	h.begun.Add(1)
	select {
	case <-time.After(20 * time.Millisecond):
		h.done.Add(1)
	case <-ctx.Done():
	}
	return nil, nil, nil
}

func TestATopLevelReturnIsTheEnd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, value string
		calls             int32
	}{
		{"what was begun takes place and nothing comes of it", `ask().then(() => ask()); return 1`, "1", 1},
		{"also what waits for room", `for (let i = 0; i < 9; i++) ask(); return 2`, "2", 9},
		{"timers do not", `setTimeout(ask, 1); return 3`, "3", 0},
		{"a bare return as well", `ask().then(() => ask()); return`, "", 1},
		{"what is returned is waited for", `return ask().then(() => ask()).then(() => 4)`, "4", 2},
		{"without a return everything runs", `ask().then(() => ask())`, "", 2},
		{"a return in a function is none", `function f() { return 5 } f(); ask().then(() => ask())`, "", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := &slowHost{}
			timers := Module{Globals: []string{"ask", "setTimeout"}, Make: func(rt *Runtime) *goja.Object {
				o := rt.VM().NewObject()
				_ = o.Set("ask", func(goja.FunctionCall) goja.Value {
					return Async(rt, "x", func(ctx context.Context) (int, error) {
						_, _, err := h.Call(ctx, "", nil, nil)
						return 0, err
					}, nil)
				})
				_ = o.Set("setTimeout", func(c goja.FunctionCall) goja.Value {
					fn, _ := goja.AssertFunction(c.Argument(0))
					rt.SetTimer(time.Millisecond, false, func() { rt.Call(fn, goja.Undefined()) })
					return nil
				})
				return o
			}}
			modules := []Module{timers}
			p, report := Compile(Source{Name: "t.ts", Text: test.text}, modules)
			if report != nil {
				t.Fatal(report.Text())
			}
			out := New(Options{Host: h, Modules: modules, InFlight: 2}).Run(t.Context(), p)
			if out.Report != nil || string(out.Value) != test.value {
				t.Errorf("the run ended with %q, %v, want %q", out.Value, out.Report, test.value)
			}
			if h.done.Load() != test.calls || h.begun.Load() != test.calls {
				t.Errorf("%d calls were begun and %d done, want %d", h.begun.Load(), h.done.Load(), test.calls)
			}
		})
	}
}

// TestWhatFailsAfterAReturnIsTold fails works that nothing waits for: the script cannot hear
// of it any more, and its caller does.
func TestWhatFailsAfterAReturnIsTold(t *testing.T) {
	t.Parallel()
	const notice = "files.read failed after the script had returned: no such file; await it to learn of that in time"
	for _, test := range []struct {
		name, text string
		notes      []string
	}{
		{"one", `fail(); return 1`, []string{notice}},
		{"one whose failure would be handled", `fail().catch(() => {}); return 1`, []string{notice}},
		{"one that was waited for", `await fail().catch(() => {}); return 1`, nil},
		{"without a return it is waited for", `fail().catch(() => {}); 1`, nil},
		{"many", `for (let i = 0; i < 5; i++) fail(); return 1`, []string{notice, notice, notice, "2 more failed likewise"}},
		{"nothing", `return 1`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			modules := []Module{{Globals: []string{"fail"}, Make: func(rt *Runtime) *goja.Object {
				o := rt.VM().NewObject()
				_ = o.Set("fail", func(goja.FunctionCall) goja.Value {
					return Async(rt, "x", func(context.Context) (int, error) {
						time.Sleep(5 * time.Millisecond)
						return 0, fault.New(fault.Tool, "no such file\nand more").With("server", json.RawMessage(`"files"`)).With("tool", "read")
					}, nil)
				})
				return o
			}}}
			p, report := Compile(Source{Name: "t.ts", Text: test.text}, modules)
			if report != nil {
				t.Fatal(report.Text())
			}
			out := New(Options{Host: &slowHost{}, Modules: modules}).Run(t.Context(), p)
			if out.Report != nil || !slices.Equal(out.Notes, test.notes) {
				t.Errorf("%v, notes %q, want %q", out.Report, out.Notes, test.notes)
			}
		})
	}
}

package progress_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/progress"
)

type host struct{ heads []string }

func (h *host) Call(_ context.Context, op string, head any, _ []byte) (json.RawMessage, []byte, error) {
	text, err := json.Marshal(head)
	h.heads = append(h.heads, op+" "+string(text))
	return nil, nil, err
}

func TestProgress(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, code, want string }{
		{"whole", `progress(1, 2, "half")`, `progress {"done":1,"total":2,"message":"half"}`},
		{"less", `progress(0.5)`, `progress {"done":0.5}`},
		{"nothing given", `progress(1, null, undefined)`, `progress {"done":1}`},
		{"the last is said, and once", `progress(0, 3); progress(3, 3); progress(3, 3)`, `progress {"done":0,"total":3} progress {"done":3,"total":3}`},
		{"long message", `progress(1, 2, "é".repeat(5000))`, `progress {"done":1,"total":2,"message":"` + strings.Repeat("é", 500) + `…"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := &host{}
			stdout, stderr := trial.Run(tt.code, h, console.Module(), progress.Module())
			if stdout+stderr != "" {
				t.Errorf("wrote %q", stdout+stderr)
			}
			if got := strings.Join(h.heads, " "); got != tt.want {
				t.Errorf("asked %s, want %s", got, tt.want)
			}
		})
	}
}

func TestATightLoopIsNotSaidWhole(t *testing.T) {
	t.Parallel()
	h := &host{}
	if stdout, stderr := trial.Run(`for (let i = 0; i <= 1000; i++) progress(i, 1000)`, h, progress.Module()); stdout+stderr != "" {
		t.Errorf("wrote %q", stdout+stderr)
	}
	if n := len(h.heads); n < 2 || n > 200 || !strings.Contains(h.heads[n-1], `"done":1000,`) {
		t.Errorf("asked %d times, the last %s", n, h.heads[n-1])
	}
}

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	stdout, stderr := trial.Run(`for (const a of [[], ["1"], [NaN], [1, "x"], [1, 2, Symbol()]]) try { progress(...a); console.log("?") } catch (e) { console.log(e.name) }`,
		&host{}, console.Module(), progress.Module())
	if want := "TypeError\nTypeError\nRangeError\nTypeError\nTypeError\n"; stdout+stderr != want {
		t.Errorf("wrote %q, want %q", stdout+stderr, want)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, progress.Module())
}

package input_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"mcpx/internal/fault"
	"mcpx/stdlib/console"
	"mcpx/stdlib/input"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
)

type host struct{ heads []string }

func (h *host) Call(_ context.Context, op string, head any, _ []byte) (json.RawMessage, []byte, error) {
	text, err := json.Marshal(head)
	h.heads = append(h.heads, op+" "+string(text))
	switch {
	case err != nil:
		return nil, nil, err
	case string(text) == `{"name":"none"}`:
		return nil, nil, fault.NotFoundf("no artifact %q", "none")
	}
	return nil, []byte("\uFEFFé\xFF" + string(text)), nil
}

func TestInput(t *testing.T) {
	t.Parallel()
	h := &host{}
	stdout, stderr := trial.Run(`console.log(input(), input() === input(), input("a.csv"), input.name, input.length);
		for (const name of ["none", "", 1, null]) try { input(name); console.log("?") } catch (e) { console.log(e.name, e.kind) }`,
		h, console.Module(), input.Module())
	want := "é\uFFFD{} true é\uFFFD{\"name\":\"a.csv\"} input 0\nNotFoundError not_found\nTypeError undefined\nTypeError undefined\nTypeError undefined\n"
	if stdout+stderr != want {
		t.Errorf("wrote %q, want %q", stdout+stderr, want)
	}
	if want := []string{`input {}`, `input {"name":"a.csv"}`, `input {"name":"none"}`}; !slices.Equal(h.heads, want) {
		t.Errorf("asked %q, want %q", h.heads, want)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, input.Module())
}

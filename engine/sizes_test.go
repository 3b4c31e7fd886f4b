package engine

import (
	"testing"

	"mcpx/internal/fault"
)

func TestImpossibleSizesAreErrorsOfTheScript(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		`return Array.prototype.sort.call({ length: 2 ** 53 - 1 })`,
		`return "x".padStart(2 ** 53 - 1, "ab").length`,
		`return (1n << (2n ** 62n)) > 0n`,
	} {
		p, r := Compile(Source{Name: "exec", Text: code}, nil)
		if r != nil {
			t.Fatal(r.Text())
		}
		if r := New(Options{}).Run(t.Context(), p).Report; r == nil || r.Kind != fault.Script || r.Name != "RangeError" {
			t.Errorf("%s: %+v, want a RangeError", code, r)
		}
	}
}

// A value is looked at to see whether it is a promise; nothing of it runs for that.
func TestTheGettersOfAValueRunOnce(t *testing.T) {
	t.Parallel()
	p, r := Compile(Source{Name: "exec", Text: `let n = 0; return { get x() { return ++n } }`}, nil)
	if r != nil {
		t.Fatal(r.Text())
	}
	if out := New(Options{}).Run(t.Context(), p); string(out.Value) != `{"x":1}` {
		t.Errorf("the value is %s, want 1: its getter ran once", out.Value)
	}
}

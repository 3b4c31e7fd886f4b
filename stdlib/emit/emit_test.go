package emit_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"mcpx/internal/fault"
	"mcpx/stdlib/console"
	"mcpx/stdlib/emit"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
)

type host struct {
	calls []string
	err   error
}

func (h *host) Call(_ context.Context, op string, head any, body []byte) (json.RawMessage, []byte, error) {
	text, err := json.Marshal(head)
	if err != nil {
		return nil, nil, err
	}
	h.calls = append(h.calls, op+" "+string(text)+" "+string(body))
	return nil, nil, h.err
}

func TestEmit(t *testing.T) {
	t.Parallel()
	h := &host{}
	stdout, stderr := trial.Run(`emit({b: 1, a: [undefined, "x\n"]}); emit(null); emit(9007199254740993n); emit(new Uint8Array([1]));
		const o = {}; o.o = o;
		for (const v of [undefined, () => 1, Symbol(), o]) try { emit(v) } catch (e) { console.log(e.name) }
		console.log(emit.name, emit.length, emit("s"))`, h, console.Module(), emit.Module())
	if want := "TypeError\nTypeError\nTypeError\nTypeError\nemit 1 undefined\n"; stdout+stderr != want {
		t.Errorf("wrote %q, want %q", stdout+stderr, want)
	}
	want := []string{`emit null {"b":1,"a":[null,"x\n"]}`, `emit null null`, `emit null 9007199254740993`, `emit null "AQ=="`, `emit null "s"`}
	if !slices.Equal(h.calls, want) {
		t.Errorf("asked %q, want %q", h.calls, want)
	}
}

func TestHostThatRefuses(t *testing.T) {
	t.Parallel()
	stdout, stderr := trial.Run(`try { emit(1) } catch (e) { console.log(e.kind, e.message) }`,
		&host{err: fault.Limitf("too much")}, console.Module(), emit.Module())
	if stdout+stderr != "limit too much\n" {
		t.Errorf("wrote %q, want the host's error", stdout+stderr)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, emit.Module())
}

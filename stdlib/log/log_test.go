package log_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"mcpx/engine"
	"mcpx/internal/fault"
	"mcpx/stdlib/log"
)

type host struct {
	lines []string
	err   error
}

func (h *host) Call(_ context.Context, op string, head any, body []byte) (json.RawMessage, []byte, error) {
	text, err := json.Marshal(head)
	if err != nil {
		return nil, nil, err
	}
	h.lines = append(h.lines, op+" "+string(text)+" "+string(body))
	return nil, nil, h.err
}

func run(t *testing.T, h *host, code string) *engine.Outcome {
	t.Helper()
	modules := []engine.Module{log.Module()}
	p, report := engine.Compile(engine.Source{Name: "test.ts", Text: code}, modules)
	if report != nil {
		t.Fatal(report.Text())
	}
	return engine.New(engine.Options{Host: h, Modules: modules}).Run(t.Context(), p)
}

func TestLevels(t *testing.T) {
	t.Parallel()
	h := &host{}
	out := run(t, h, `log("a %d", 1, { b: [2] }); log.debug("d"); log.info(); log.warn(null); log.error(new Map([[1, 2]])); return [log.name, log.warn.name]`)
	if out.Report != nil {
		t.Fatal(out.Report.Text())
	}
	want := []string{
		`log {"level":"info"} a 1 { b: [ 2 ] }`,
		`log {"level":"debug"} d`,
		`log {"level":"info"} `,
		`log {"level":"warn"} null`,
		`log {"level":"error"} Map(1) { 1 => 2 }`,
	}
	if !slices.Equal(h.lines, want) {
		t.Errorf("lines %q, want %q", h.lines, want)
	}
	if got := string(out.Value); got != `["log","warn"]` {
		t.Errorf("names %s", got)
	}
}

func TestHostThatRefuses(t *testing.T) {
	t.Parallel()
	out := run(t, &host{err: fault.Limitf("output limit exceeded")}, `try { log("x") } catch (e) { return e.kind }`)
	if string(out.Value) != `"limit"` {
		t.Errorf("value %s, want the host's error", out.Value)
	}
}

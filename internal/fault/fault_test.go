package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mcpx/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func TestEveryKindIsMapped(t *testing.T) {
	t.Parallel()
	want := map[fault.Kind][2]int{
		fault.Usage: {2, 400}, fault.Denied: {77, 403}, fault.NotFound: {2, 404}, fault.Unavailable: {69, 503},
		fault.InputRequired: {75, 202}, fault.Timeout: {124, 504}, fault.Limit: {125, 429}, fault.Tool: {1, 502},
		fault.Script: {1, 500}, fault.Internal: {70, 500},
	}
	if len(fault.Kinds()) != len(want) {
		t.Fatalf("%d kinds, want %d", len(fault.Kinds()), len(want))
	}
	names := map[string]fault.Kind{}
	for _, k := range fault.Kinds() {
		if got := [2]int{k.ExitCode(), k.HTTPStatus()}; got != want[k] {
			t.Errorf("%s: exit code and status %v, want %v", k, got, want[k])
		}
		if other, taken := names[k.ErrorName()]; taken || k.ErrorName() == "" {
			t.Errorf("%s and %s are both called %q", k, other, k.ErrorName())
		}
		names[k.ErrorName()] = k
	}
	if got := fault.Kind("nonsense").ExitCode(); got != 70 {
		t.Errorf("an unknown kind exits with %d, want 70", got)
	}
}

func TestKindSurvivesWrapping(t *testing.T) {
	t.Parallel()
	inner := fault.Deniedf("no").Hintf("ask %s", "nicely").With("grant", "net")
	wrapped := fmt.Errorf("calling x: %w", inner)
	if got := fault.KindOf(wrapped); got != fault.Denied {
		t.Errorf("KindOf(wrapped) = %s", got)
	}
	e := fault.From(wrapped)
	if e.Message != "calling x: no" || e.Hint != "ask nicely" || e.Details["grant"] != "net" {
		t.Errorf("From(wrapped) = %+v", e)
	}
	e.With("more", 1)
	if _, leaked := inner.Details["more"]; leaked {
		t.Error("a detail of the outer error reached the inner one")
	}
	outer := fault.New(fault.Unavailable, "starting y: %w", wrapped)
	if outer.Hint != "ask nicely" || fault.KindOf(outer) != fault.Unavailable || !errors.Is(outer, inner) {
		t.Errorf("New around a wrap = %+v", outer)
	}
	for err, want := range map[error]fault.Kind{
		nil: "", errors.New("x"): fault.Internal, context.DeadlineExceeded: fault.Timeout,
	} {
		if got := fault.KindOf(err); got != want {
			t.Errorf("KindOf(%v) = %q, want %q", err, got, want)
		}
	}
	if fault.From(nil) != nil || fault.ReportOf(nil) != nil {
		t.Error("no error became one")
	}
}

func TestWireForm(t *testing.T) {
	t.Parallel()
	e := fault.Usagef("bad").Hintf("good").With("line", 3)
	b, err := json.Marshal(e)
	if err != nil || string(b) != `{"kind":"usage","message":"bad","hint":"good","details":{"line":3}}` {
		t.Fatalf("Marshal = %s, %v", b, err)
	}
	var got fault.Error
	if err := json.Unmarshal(b, &got); err != nil || got.Kind != fault.Usage || got.Hint != "good" || got.Details["line"] != 3 {
		t.Errorf("Unmarshal = %+v, %v", got, err)
	}
	whole := fault.Usagef("bad").With("at", &fault.Position{File: "a", Line: 1, Column: 2}).With("near", []string{"b"}).
		With("yes", true).With("none", nil).With("n", 1<<40).With("x", json.RawMessage(`{"b":1e400,"a":[1]}`)).With("at line", "1")
	b, err = json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	var again fault.Error
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole.Details, again.Details); diff != "" {
		t.Errorf("details after a journey: %s", diff)
	}
	for _, odd := range []string{`{"at":1}`, `{"at":null}`, `{"at":{"line":"x"}}`, `{"a":[1,"b"]}`, `{"a":1.5}`} {
		var got fault.Error
		if err := json.Unmarshal([]byte(`{"kind":"usage","message":"m","details":`+odd+`}`), &got); err != nil {
			t.Fatal(err)
		}
		if back, err := json.Marshal(got.Details); err != nil || string(back) != odd {
			t.Errorf("details %s became %s, %v", odd, back, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"kind":"from the future","message":"m"}`), &got); err != nil || got.Kind != fault.Internal {
		t.Errorf("an unknown kind = %+v, %v", got, err)
	}
}

func TestReportText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		report fault.Report
		want   string
	}{
		{"a tool's words come first", fault.Report{Kind: fault.Tool, Name: "ToolError", Message: "repo not found", Hint: "look again"}, "repo not found\n  look again"},
		{
			"a tool is named after its words",
			fault.Report{Kind: fault.Tool, Name: "ToolError", Message: "no\nreally", Details: map[string]any{"server": "s", "tool": json.RawMessage(`"t.u"`)}},
			"no\nreally\n  from s.t.u",
		},
		{"nothing else has a tool", fault.Report{Kind: fault.Script, Name: "Error", Message: "no", Details: map[string]any{"server": "s", "tool": "t"}}, "Error: no"},
		{"a tool that is no text", fault.Report{Kind: fault.Tool, Name: "ToolError", Message: "no", Details: map[string]any{"server": "s", "tool": json.RawMessage(`{}`)}}, "no"},
		{
			"position, caret and stack",
			fault.Report{
				Kind: fault.Script, Name: "TypeError", Message: "no", At: &fault.Position{File: "a.ts", Line: 2, Column: 5, Text: "\tlet x = y"},
				Frames: []fault.Frame{{Function: "f", File: "a.ts", Line: 2, Column: 5}, {File: "a.ts", Line: 9, Column: 1}},
			},
			"TypeError: no\n  at f (a.ts:2:5)\n    let x = y\n       ^\n  at a.ts:9:1",
		},
		{
			"what else the error carries",
			fault.Report{Kind: fault.Script, Name: "ApiError", Message: "no", At: &fault.Position{File: "a.ts", Line: 1, Column: 1}, Details: map[string]any{"status": 404, "body": json.RawMessage(`{"a":[1]}`)}},
			"ApiError: no\n  at a.ts:1:1\n  body: {\"a\":[1]}\n  status: 404",
		},
		{"a thrown value", fault.Report{Kind: fault.Script, Message: "just text"}, "just text"},
		{"a name without a message", fault.Report{Kind: fault.Script, Name: "AbortError"}, "AbortError"},
		{
			"cause and members",
			fault.Report{Kind: fault.Script, Name: "AggregateError", Message: "all", Errors: []*fault.Report{{Kind: fault.Script, Name: "Error", Message: "one\ntwo"}}, Cause: &fault.Report{Kind: fault.Script, Name: "Error", Message: "why"}},
			"AggregateError: all\n  member:\n    Error: one\n    two\n  caused by:\n    Error: why",
		},
		{
			"further errors of a source",
			fault.Report{Kind: fault.Usage, Name: "UsageError", Message: "TS1: one", At: &fault.Position{File: "a.ts", Line: 1, Column: 4}, Errors: []*fault.Report{{Kind: fault.Usage, Name: "UsageError", Message: "TS2: two", At: &fault.Position{File: "a.ts", Line: 2, Column: 1}}}},
			"TS1: one\n  at a.ts:1:4\nTS2: two\n  at a.ts:2:1",
		},
		{
			"a column behind an astral character",
			fault.Report{Kind: fault.Usage, Name: "SyntaxError", Message: "x", At: &fault.Position{File: "a.ts", Line: 1, Column: 4, Text: "'😀;"}},
			"SyntaxError: x\n  at a.ts:1:4\n    '😀;\n      ^",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.report.Text()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReportOfACycleEnds(t *testing.T) {
	t.Parallel()
	r := &fault.Report{Kind: fault.Script, Name: "Error", Message: "me"}
	r.Cause = r
	if n := strings.Count(r.Text(), "me"); n < 2 || n > 20 {
		t.Errorf("a cause that is the error itself is written %d times", n)
	}
}

func TestLongLinesAreCutAroundTheCaret(t *testing.T) {
	t.Parallel()
	p := &fault.Position{File: "a.js", Line: 1, Column: 5001, Text: strings.Repeat("a", 5000) + "!" + strings.Repeat("b", 5000)}
	text := (&fault.Report{Kind: fault.Script, Name: "Error", Message: "x", At: p}).Text()
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || len(lines[2]) > 120 || lines[2][strings.IndexByte(lines[3], '^')] != '!' {
		t.Errorf("got\n%s", text)
	}
}

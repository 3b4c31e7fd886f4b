package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

func TestWhatARunIsGiven(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "sub", "report.ts")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("return 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	odd := []string{"--repo", "a/b", "two words", "--flag=x y", "-", "é☃", ""}
	tests := []struct {
		name  string
		args  []string
		want  api.ExecInput
		stdin string // what is left for the script
	}{
		{"code", []string{"exec", "return 1"}, api.ExecInput{Name: "exec", Code: "return 1", Expression: true}, "in"},
		{"code without a command", []string{"f(1)", "a"}, api.ExecInput{Name: "exec", Code: "f(1)", Expression: true, Args: []string{"a"}}, "in"},
		{"code with arguments", append([]string{"exec", "1", "--"}, odd...), api.ExecInput{Name: "exec", Code: "1", Expression: true, Args: odd}, "in"},
		{"code from standard input", []string{"exec", "-", "a"}, api.ExecInput{Name: "stdin", Code: "in", Expression: true, Args: []string{"a"}}, ""},
		{"a file", append([]string{"run", "sub/report.ts"}, odd...), api.ExecInput{Name: "sub/report.ts", Code: "return 1", File: file, Args: odd}, "in"},
		{"a file without a command", append([]string{"./sub/report.ts"}, odd...), api.ExecInput{Name: "./sub/report.ts", Code: "return 1", File: file, Args: odd}, "in"},
		{"a file by its whole path", []string{file}, api.ExecInput{Name: file, Code: "return 1", File: file}, "in"},
		{"a script from standard input", []string{"run", "-", "-"}, api.ExecInput{Name: "stdin", Code: "in", Args: []string{"-"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var left string
			d := &desk{run: func(_ context.Context, _ api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
				if s.Stdin != nil {
					b, _ := io.ReadAll(s.Stdin)
					left = string(b)
				}
				return &api.ExecOutput{}, nil
			}}
			driveIn(t, d, Program{Dir: dir, Stdin: strings.NewReader("in")}, tt.args...).want(t, 0, "", "")
			if len(d.script.Args) == 0 {
				d.script.Args = nil
			}
			if !reflect.DeepEqual(d.script, tt.want) {
				t.Errorf("mcpx %q ran %+v, want %+v", tt.args, d.script, tt.want)
			}
			if left != tt.stdin {
				t.Errorf("the script's standard input holds %q, want %q", left, tt.stdin)
			}
		})
	}
}

func TestWhatComesOfARun(t *testing.T) {
	t.Parallel()
	boom := &fault.Report{Kind: fault.Script, Name: "TypeError", Message: "x is not a function", At: &fault.Position{File: "exec", Line: 1, Column: 3, Text: "  x()"}}
	late := &fault.Report{Kind: fault.Timeout, Name: "TimeoutError", Message: "exec.timeout (5s) passed", Hint: "allow more with --timeout"}
	tests := []struct {
		name           string
		out            api.ExecOutput
		code           int
		stdout, stderr string
	}{
		{"nothing", api.ExecOutput{}, 0, "", ""},
		{"a string", api.ExecOutput{Value: json.RawMessage(`"a \"b\" <c> \n\u00e9"`)}, 0, "a \"b\" <c> \né\n", ""},
		{"a string that ends its line", api.ExecOutput{Value: json.RawMessage(`"a,b\n1,2\n"`)}, 0, "a,b\n1,2\n", ""},
		{"an empty string", api.ExecOutput{Value: json.RawMessage(`""`)}, 0, "\n", ""},
		{"null", api.ExecOutput{Value: json.RawMessage(`null`)}, 0, "null\n", ""},
		{"a number with all digits", api.ExecOutput{Value: json.RawMessage(`12345678901234567890.10`)}, 0, "12345678901234567890.10\n", ""},
		{"an object", api.ExecOutput{Value: json.RawMessage(`{"b":1,"a":["<",2]}`)}, 0, `{"b":1,"a":["<",2]}` + "\n", ""},
		{"an implied value", api.ExecOutput{Value: json.RawMessage(`2`), Implied: true}, 0, "2\n", ""},
		{"an implied value after output", api.ExecOutput{Value: json.RawMessage(`2`), Implied: true, Printed: true}, 0, "", ""},
		{"a returned value after output", api.ExecOutput{Value: json.RawMessage(`2`), Printed: true}, 0, "2\n", ""},
		{"a code of the script's own", api.ExecOutput{ExitCode: 3}, 3, "", ""},
		{"a value and a code", api.ExecOutput{ExitCode: 3, Value: json.RawMessage(`2`)}, 3, "2\n", ""},
		{"an error of the script", api.ExecOutput{ExitCode: 1, Error: boom}, 1, "", "TypeError: x is not a function\n  at exec:1:3\n    x()\n    ^\n"},
		{"a value that JSON cannot hold", api.ExecOutput{Value: json.RawMessage(`{}`), Notes: []string{"it is a Map", "or two"}}, 0, "{}\n", "mcpx: it is a Map\nmcpx: or two\n"},
		{"no value at all", api.ExecOutput{Notes: []string{"it is a function"}}, 0, "", "mcpx: it is a function\n"},
		{"the end of the time", api.ExecOutput{ExitCode: 124, Error: late}, 124, "", "mcpx: exec.timeout (5s) passed\n  allow more with --timeout\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{run: func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) {
				out := tt.out
				return &out, nil
			}}
			drive(t, d, "exec", "1").want(t, tt.code, tt.stdout, tt.stderr)

			s := drive(t, d, "exec", "1", "--json")
			var doc struct {
				Value    json.RawMessage
				ExitCode int
				Error    *fault.Report
			}
			if err := json.Unmarshal(s.stdout.Bytes(), &doc); err != nil || s.code != tt.code || doc.ExitCode != tt.code {
				t.Fatalf("with --json: exit %d, %v, stdout %s", s.code, err, s.stdout.String())
			}
			if string(doc.Value) != string(tt.out.Value) && tt.out.Value != nil && !json.Valid(doc.Value) || (doc.Error == nil) != (tt.out.Error == nil) {
				t.Errorf("with --json: %s", s.stdout.String())
			}
			if s.stderr.String() != tt.stderr {
				t.Errorf("with --json: stderr %q, want %q", s.stderr.String(), tt.stderr)
			}
		})
	}
}

func TestNotesComeWithTheValueOnly(t *testing.T) {
	t.Parallel()
	out := api.ExecOutput{Value: json.RawMessage(`{}`), Implied: true, Printed: true, Notes: []string{"it is a Map"}}
	d := &desk{run: func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) { return &out, nil }}
	drive(t, d, "exec", "1").want(t, 0, "", "")
	if s := drive(t, d, "exec", "1", "--json"); !strings.Contains(s.stdout.String(), `"notes":["it is a Map"]`) || s.stderr.String() != "mcpx: it is a Map\n" {
		t.Errorf("with --json: %s and %q", s.stdout.String(), s.stderr.String())
	}
}

func TestOneDocumentHoldsWhatAScriptPrinted(t *testing.T) {
	t.Parallel()
	d := &desk{run: func(_ context.Context, _ api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
		out := &api.ExecOutput{RunID: "r1", Millis: 7, Value: json.RawMessage(`{"b":1,"a":2}`), Implied: true, Printed: true}
		if s.Stdout == nil && s.Stderr == nil {
			out.Stdout, out.Stderr = "out <1>\n", "err\n"
			return out, nil
		}
		io.WriteString(s.Stdout, "out <1>\n")
		io.WriteString(s.Stderr, "err\n")
		return out, nil
	}}
	drive(t, d, "exec", "1", "--json").
		want(t, 0, `{"runId":"r1","value":{"b":1,"a":2},"exitCode":0,"durationMs":7,"stdout":"out <1>\n","stderr":"err\n"}`+"\n", "")
	drive(t, d, "exec", "1").want(t, 0, "out <1>\n", "err\n")
	if d.streams.Columns != 0 || d.streams.Color {
		t.Errorf("a script is told of a terminal that is not there: %+v", d.streams)
	}
}

func TestARunThatCannotTakePlace(t *testing.T) {
	t.Parallel()
	d := &desk{run: func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) {
		return nil, fault.Internalf("the worker did not start")
	}}
	drive(t, d, "exec", "1", "--json").want(t, 70,
		`{"error":{"kind":"internal","message":"the worker did not start"}}`+"\n", "mcpx: the worker did not start\n")
}

func TestAValueIsIndentedOnATerminal(t *testing.T) {
	t.Parallel()
	d := &desk{run: func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) {
		return &api.ExecOutput{Value: json.RawMessage(`{"b":[1,{}],"a":[]}`)}, nil
	}}
	driveIn(t, d, Program{Terminal: Terminal{Stdout: true}}, "exec", "1").
		want(t, 0, "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": []\n}\n", "")
}

func TestAScriptThatCannotBeRead(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root reads every file")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.ts"), []byte("1"), 0o000); err != nil {
		t.Fatal(err)
	}
	driveIn(t, &desk{}, Program{Dir: dir}, "x.ts").want(t, 2, "", "mcpx: script \"x.ts\" cannot be read: permission denied\n")
}

func TestStandardInputThatFails(t *testing.T) {
	t.Parallel()
	driveIn(t, &desk{}, Program{Stdin: io.MultiReader(strings.NewReader("x"), failing{})}, "exec", "-").
		want(t, 2, "", "mcpx: reading standard input: input/output error\n")
	drive(t, &desk{}, "exec", "-").want(t, 2, "", "mcpx: stdin: there is nothing to run\n  the script is empty\n")
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("input/output error") }

func TestAFlagBehindTheScriptIsNamedWhereItWouldHelp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rd.ts"), []byte("return 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		kind fault.Kind
		hint string
		want string // empty is hint
	}{
		{[]string{"run", "rd.ts", "--allow-read=."}, fault.Denied, "allow it", "--allow-read=. stands behind the script, so it is the script's; put it before rd.ts"},
		{[]string{"run", "rd.ts", "x", "-A"}, fault.Denied, "allow it", "-A stands behind the script, so it is the script's; put it before rd.ts"},
		{[]string{"exec", "1", "--", "--allow-read"}, fault.Denied, "allow it", "--allow-read stands behind the script, so it is the script's; put it before the code"},
		{[]string{"run", "--allow-read=.", "rd.ts", "x"}, fault.Denied, "allow it", ""},
		{[]string{"run", "rd.ts", "--allow-read=."}, fault.Script, "allow it", ""},
		{[]string{"run", "rd.ts", "--policy-write=allow"}, fault.Denied, "allow it with --policy-write=allow for this run", "--policy-write=allow stands behind the script, so it is the script's; put it before rd.ts"},
		{[]string{"run", "rd.ts", "--limits-tool-calls", "9"}, fault.Limit, "give it more with --limits-tool-calls=8", "--limits-tool-calls stands behind the script, so it is the script's; put it before rd.ts"},
		{[]string{"run", "rd.ts", "--limits"}, fault.Limit, "give it more with --limits-tool-calls=8", ""},
	} {
		d := &desk{run: func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) {
			return &api.ExecOutput{ExitCode: 77, Error: &fault.Report{Kind: tt.kind, Message: "no", Hint: tt.hint}}, nil
		}}
		want := cmp.Or(tt.want, tt.hint)
		if s := driveIn(t, d, Program{Dir: dir}, tt.args...); !strings.HasSuffix(s.stderr.String(), "no\n  "+want+"\n") {
			t.Errorf("mcpx %q says\n%s\nwant %s", tt.args, s.stderr.String(), want)
		}
	}
}

package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

func TestWhatAToolIsCalledWith(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name               string
		args               []string
		server, tool, want string
	}{
		{"nothing", []string{"demo.echo"}, "demo", "echo", ``},
		{"a pair", []string{"demo.echo", "message=hi"}, "demo", "echo", `{"message":"hi"}`},
		{"pairs in their order", []string{"demo.echo", "b=2", "--json", "a=true", "c="}, "demo", "echo", `{"b":"2","a":"true","c":""}`},
		{"values with everything in them", []string{"demo.echo", `q=a=b "c" <d> é`, "--", "--x=1"}, "demo", "echo", `{"q":"a=b \"c\" <d> é","--x":"1"}`},
		{"pairs of JSON", []string{"demo.echo", "n:=12345678901234567890", `l:=["a", 1]`, "z:=null", "o:= {}"}, "demo", "echo", `{"n":12345678901234567890,"l":["a", 1],"z":null,"o": {}}`},
		{"keys that are odd", []string{"demo.echo", "a.b=1", "c d=2", "e:f=3"}, "demo", "echo", `{"a.b":"1","c d":"2","e:f":"3"}`},
		{"an object as it is", []string{"demo.echo", ` {"b" : 1.50, "a":{"x":[]}} `}, "demo", "echo", `{"b" : 1.50, "a":{"x":[]}}`},
		{"an object from standard input", []string{"demo.echo", "-"}, "demo", "echo", `{"from":"stdin"}`},
		{"a tool with dots", []string{"x.y.z"}, "x", "y.z", ``},
		{"a server with a dot", []string{"a.b.tool"}, "a.b", "tool", ``},
		{"a server with dots and a tool with dots", []string{"a.b.c.d.e.f"}, "a.b.c.d", "e.f", ``},
		{"a server that is the beginning of another", []string{"a.b.c.d"}, "a.b", "c.d", ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got api.CallInput
			d := &desk{call: func(_ context.Context, in api.CallInput) (*api.CallOutput, error) {
				got = in
				return &api.CallOutput{IsText: true, Text: "done"}, nil
			}}
			s := driveIn(t, d, Program{Stdin: strings.NewReader("\uFEFF{\"from\":\"stdin\"}\n")}, append([]string{"call"}, tt.args...)...)
			if s.code != 0 || s.stderr.Len() > 0 {
				t.Fatalf("exit %d: %s", s.code, s.stderr.String())
			}
			if got.Server != tt.server || got.Tool != tt.tool || string(got.Arguments) != tt.want {
				t.Errorf("mcpx call %q called %s . %s with %s, want %s . %s with %s", tt.args, got.Server, got.Tool, got.Arguments, tt.server, tt.tool, tt.want)
			}
			if tt.want != "" && !json.Valid(got.Arguments) {
				t.Errorf("%s is not JSON", got.Arguments)
			}
		})
	}
}

func TestWhatAToolAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                 string
		out                  api.CallOutput
		code                 int
		stdout, stderr, json string
	}{
		{
			"text",
			api.CallOutput{Server: "demo", Tool: "echo", Result: json.RawMessage(`{"content":[]}`), IsText: true, Text: "007"},
			0,
			"007\n", "", `{"server":"demo","tool":"echo","result":{"content":[]},"isError":false,"text":"007","isText":true}`,
		},
		{
			"a value",
			api.CallOutput{Server: "demo", Tool: "structured", Result: json.RawMessage(`{}`), Value: json.RawMessage(`{"n": 42}`)},
			0,
			"{\"n\":42}\n", "", `{"server":"demo","tool":"structured","result":{},"isError":false,"value":{"n":42}}`,
		},
		{
			"an error",
			api.CallOutput{Server: "demo", Tool: "boom", Result: json.RawMessage(`{"isError":true}`), IsError: true, IsText: true, Text: "it went boom\n", Diagnostics: []string{"/a: required"}},
			1,
			"", "it went boom\n  demo.boom: /a: required\n",
			`{"server":"demo","tool":"boom","result":{"isError":true},"isError":true,"text":"it went boom\n","isText":true,"diagnostics":["/a: required"],` +
				`"error":{"kind":"tool","message":"it went boom\n","details":{"server":"demo","tool":"boom"}}}`,
		},
		{
			"an error without a word",
			api.CallOutput{Server: "demo", Tool: "boom", Result: json.RawMessage(`{}`), IsError: true},
			1,
			"", "demo.boom answered with an error and no message\n",
			`{"server":"demo","tool":"boom","result":{},"isError":true,` +
				`"error":{"kind":"tool","message":"demo.boom answered with an error and no message","details":{"server":"demo","tool":"boom"}}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{call: func(context.Context, api.CallInput) (*api.CallOutput, error) { return &tt.out, nil }}
			drive(t, d, "call", "demo.x").want(t, tt.code, tt.stdout, tt.stderr)
			drive(t, d, "call", "demo.x", "--json").want(t, tt.code, tt.json+"\n", tt.stderr)
		})
	}
	d := &desk{call: func(context.Context, api.CallInput) (*api.CallOutput, error) {
		return nil, fault.NotFoundf("there is no tool demo.ecko").Hintf("did you mean demo.echo?")
	}}
	drive(t, d, "call", "demo.ecko").want(t, 2, "", "mcpx: there is no tool demo.ecko\n  did you mean demo.echo?\n")
}

// FuzzArguments holds that whatever stands behind a tool's name is refused as a usage
// error or becomes one JSON object.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, "a=b", "a:=1\x00b=c", "-", "{", "\xff=\xfe", `:=1`, `a:="`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		v := &invocation{p: &Program{}}
		raw, err := v.arguments(t.Context(), strings.Split(joined, "\x00"))
		if err != nil {
			if fault.KindOf(err) != fault.Usage {
				t.Errorf("%q: %v", joined, err)
			}
			if text := errorText(fault.From(err)); text == "" {
				t.Errorf("%q: no sentence", joined)
			}
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Errorf("%q became %s: %v", joined, raw, err)
		}
	})
}

package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

// counter is a server whose tools say how often they were called.
type counter struct {
	mu    sync.Mutex
	calls int
}

func (c *counter) Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	switch in.Tool {
	case "fails":
		return nil, fault.New(fault.Tool, "it failed").Hintf("try again").With("code", 7)
	case "stalls":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	result := fmt.Sprintf(`{"content":[{"type":"text","text":"<%d>"}]}`, c.calls)
	return &api.CallOutput{Server: in.Server, Tool: strings.ReplaceAll(in.Tool, "someTool", "some-tool"), Result: json.RawMessage(result)}, nil
}

func (c *counter) Config(context.Context, api.ConfigInput) (*api.ConfigOutput, error) {
	return &api.ConfigOutput{Servers: []api.ConfigServer{{Name: "a"}, {Name: "off", Disabled: true}, {Name: "b"}}}, nil
}

func (c *counter) Tools(_ context.Context, in api.ToolsInput) (*api.ToolsOutput, error) {
	return &api.ToolsOutput{Tools: []api.Tool{{Namespace: in.Namespace, Name: "some-tool", InputSchema: json.RawMessage(`{"type":"object"}`)}}}, nil
}

func (c *counter) Types(context.Context, api.TypesInput) (*api.TypesOutput, error) {
	return nil, fault.NotFoundf("no such thing")
}

func (c *counter) Search(_ context.Context, in api.SearchInput) (*api.SearchOutput, error) {
	return &api.SearchOutput{Results: []api.SearchResult{{Name: in.Words}}}, nil
}

func call(t *testing.T, s Servers, server, tool, args string) (string, error) {
	t.Helper()
	out, err := s.Call(t.Context(), api.CallInput{Server: server, Tool: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return "", err
	}
	return string(out.Result), nil
}

func TestARecordingAnswersAsTheServersDid(t *testing.T) {
	t.Parallel()
	r := New(&counter{})
	if _, err := r.Config(t.Context(), api.ConfigInput{}); err != nil {
		t.Fatal(err)
	}
	type asked struct{ server, tool, args, result string }
	var made []asked
	for _, a := range []asked{
		{"a", "one", `{"x":1,"y":[1,2]}`, ""},
		{"a", "one", `{"x":2}`, ""},
		{"a", "one", `{"x":1,"y":[1,2]}`, ""},
		{"b", "one", "", ""},
		{"a", "someTool", `{"html":"<&>"}`, ""},
	} {
		var err error
		if a.result, err = call(t, r, a.server, a.tool, a.args); err != nil {
			t.Fatal(err)
		}
		made = append(made, a)
	}
	_, failure := call(t, r, "a", "fails", `{}`)
	listed, err := r.Tools(t.Context(), api.ToolsInput{Namespace: "a"})
	if err != nil || failure == nil {
		t.Fatal(err, failure)
	}
	found, err := r.Search(t.Context(), api.SearchInput{Words: "w", Grant: &api.ToolGrant{Allow: []string{"a"}}})
	if err != nil {
		t.Fatal(err)
	}
	_, unknown := r.Types(t.Context(), api.TypesInput{Name: "x"})
	text, err := r.Text()
	if err != nil || strings.Count(text, "\n") != 10 || r.Calls() != 6 || !strings.Contains(text, `"<&>"`) {
		t.Fatalf("Text() = %s, %v; %d calls", text, err, r.Calls())
	}
	p, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}

	config, err := p.Config(t.Context(), api.ConfigInput{})
	if err != nil || len(config.Servers) != 2 || config.Servers[1].Name != "b" {
		t.Errorf("Config() = %+v, %v, want a and b", config, err)
	}
	if got, err := p.Tools(t.Context(), api.ToolsInput{Namespace: "a"}); err != nil || string(got.Tools[0].InputSchema) != string(listed.Tools[0].InputSchema) {
		t.Errorf("Tools() = %+v, %v", got, err)
	}
	for range 3 { // questions may be asked again
		if got, err := p.Search(t.Context(), api.SearchInput{Words: "w"}); err != nil || got.Results[0].Name != found.Results[0].Name {
			t.Errorf("Search() = %+v, %v", got, err)
		}
	}
	if _, err := p.Types(t.Context(), api.TypesInput{Name: "x"}); err == nil || err.Error() != unknown.Error() {
		t.Errorf("Types() = %v, want %v", err, unknown)
	}
	if _, err := p.Types(t.Context(), api.TypesInput{Name: "y"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Types() of what was not asked = %v", err)
	}
	if n := p.Unused(); n != 6 {
		t.Errorf("Unused() = %d, want 6", n)
	}

	// In any order, but those that are alike in theirs; keys in any order; by either name.
	for _, i := range []int{3, 4, 0, 2, 1} {
		m := made[i]
		switch i {
		case 4:
			m.tool = "some-tool"
		case 0:
			m.args = ` { "y" : [1, 2], "x" : 1 } `
		case 3:
			m.args = "{}"
		}
		if got, err := call(t, p, m.server, m.tool, m.args); err != nil || got != m.result {
			t.Errorf("call %d = %s, %v, want %s", i, got, err, m.result)
		}
	}
	var e *fault.Error
	if _, err := call(t, p, "a", "fails", ""); !errors.As(err, &e) || e.Kind != fault.Tool || e.Message != "it failed" || e.Hint != "try again" {
		t.Errorf("the call that failed = %+v", err)
	}
	if n := p.Unused(); n != 0 {
		t.Errorf("Unused() = %d, want 0", n)
	}
	if _, err := call(t, p, "a", "one", `{"x":2}`); err == nil || !strings.Contains(err.Error(), "a.one has these arguments once in it, and this is one call more") {
		t.Errorf("one call more = %v", err)
	}
}

func TestAMissNamesTheNearestCall(t *testing.T) {
	t.Parallel()
	text := `{"op":"recording","version":1,"namespaces":["a"]}
{"op":"call","server":"a","tool":"write","arguments":{"path":"/x","opts":{"mode":1,"deep":[{"k":"v"}]}},"output":{"server":"a","tool":"write","result":{}}}
{"op":"call","server":"a","tool":"write","arguments":{"path":"/y","opts":null},"output":{"server":"a","tool":"write","result":{}}}
`
	for _, tt := range []struct{ name, tool, args, want, hint string }{
		{"another value", "write", `{"path":"/x","opts":{"mode":2,"deep":[{"k":"v"}]}}`, `the nearest has opts.mode 1 and this one 2`, ""},
		{"far down", "write", `{"path":"/x","opts":{"mode":1,"deep":[{"k":"w"}]}}`, `opts.deep[0].k "v" and this one "w"`, ""},
		{"one less", "write", `{"path":"/x","opts":{"mode":1}}`, `opts.deep [{"k":"v"}] and this one nothing`, ""},
		{"one more", "write", `{"path":"/y","opts":null,"a b":true}`, `["a b"] nothing and this one true`, ""},
		{"a longer list", "write", `{"path":"/x","opts":{"mode":1,"deep":[{"k":"v"},2]}}`, `opts.deep[1] nothing and this one 2`, ""},
		{"another type", "write", `{"path":"/y","opts":[]}`, `opts null and this one []`, ""},
		{"the nearest of several", "write", `{"path":"/z","opts":null}`, `path "/y" and this one "/z"`, ""},
		{"no object", "write", `[1]`, `arguments {"opts":`, ""},
		{"a number as it is written", "write", `{"path":"/x","opts":{"mode":1.0,"deep":[{"k":"v"}]}}`, `opts.mode 1 and this one 1.0`, ""},
		{"another tool", "wirte", `{}`, `a.wirte was not called when it was made`, "the nearest that was is a.write"},
		{"quite another tool", "zzzzzzzzzz", `{}`, `was not called`, "those that were are a.write"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := Read(text)
			if err != nil {
				t.Fatal(err)
			}
			_, err = call(t, p, "a", tt.tool, tt.args)
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != fault.NotFound || !strings.Contains(e.Message, tt.want) || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("Call() = %+v, want %q and the hint %q", e, tt.want, tt.hint)
			}
			if p.Unused() != 2 {
				t.Error("a call that missed has used one up")
			}
		})
	}
}

func TestWhatIsTakenAwayIsDeniedInAReplay(t *testing.T) {
	t.Parallel()
	p, err := Read(`{"op":"recording","version":1,"namespaces":["a"]}` + "\n" +
		`{"op":"call","server":"a","tool":"someTool","output":{"server":"a","tool":"some-tool","result":{}}}` + "\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*api.ToolGrant{{}, {Allow: []string{"b"}}, {Allow: []string{"*"}, Deny: []string{"a.some-tool"}}} {
		if _, err := p.Call(t.Context(), api.CallInput{Server: "a", Tool: "someTool", Grant: g}); fault.KindOf(err) != fault.Denied {
			t.Errorf("under %+v: %v, want denied", g, err)
		}
	}
	if _, err := p.Call(t.Context(), api.CallInput{Server: "a", Tool: "someTool", Grant: &api.ToolGrant{Allow: []string{"a:read"}}}); err != nil {
		t.Errorf("a denied call has used up what was recorded: %v", err)
	}
}

// A call that was given up goes on until it is given up again.
func TestACallThatWasGivenUpHasNoAnswer(t *testing.T) {
	t.Parallel()
	r := New(&counter{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.Call(ctx, api.CallInput{Server: "a", Tool: "stalls"})
		done <- err
	}()
	for r.Calls() == 0 {
		runtime.Gosched()
	}
	cancel()
	<-done
	text, err := r.Text()
	if err != nil || !strings.Contains(text, `"unfinished":true`) {
		t.Fatalf("Text() = %s, %v", text, err)
	}
	p, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("given up")
	again, stop := context.WithCancelCause(t.Context())
	stop(why)
	if _, err := p.Call(again, api.CallInput{Server: "a", Tool: "stalls"}); !errors.Is(err, why) {
		t.Errorf("Call() = %v, want what ended it", err)
	}
}

func TestWhatIsNoRecordingNamesTheLine(t *testing.T) {
	t.Parallel()
	const head = `{"op":"recording","version":1}` + "\n"
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "line 1"},
		{"blank lines", "\n\n", "nothing in it"},
		{"no JSON", "hello\n", "line 1"},
		{"no head", `{"op":"call","server":"a","tool":"b","output":{}}`, "does not say"},
		{"another version", `{"op":"recording","version":9}`, "version 9"},
		{"a broken line", head + "\n" + `{"op":"call"`, "line 3"},
		{"no answer", head + `{"op":"call","server":"a","tool":"b"}`, "line 2"},
		{"an unknown question", head + `{"op":"dance","output":{}}`, `"dance"`},
		{"an answer of another type", head + `{"op":"call","server":"a","tool":"b","output":[]}`, "line 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := Read(tt.text)
			if p != nil || fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read() = %v, %v, want %q", p, err, tt.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"op":"recording","version":1,"namespaces":["a"]}`+"\n"+`{"op":"call","server":"a","tool":"b","arguments":{"x":[1]},"output":{"server":"a","tool":"b","result":{}}}`, `{"x":[2]}`)
	f.Add(`{"op":"recording","version":1}`+"\n"+`{"op":"tools","input":{},"error":{"kind":"tool","message":"m"}}`, ``)
	f.Fuzz(func(t *testing.T, text, args string) {
		p, err := Read(text)
		if err != nil {
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // what is unfinished stays so
		_, _ = p.Call(ctx, api.CallInput{Server: "a", Tool: "b", Arguments: json.RawMessage(args)})
		_, _ = p.Tools(ctx, api.ToolsInput{})
	})
}

// wordy answers with a text as well, unless a call is bare.
type wordy struct{ Servers }

func (wordy) Call(_ context.Context, in api.CallInput) (*api.CallOutput, error) {
	out := &api.CallOutput{Server: in.Server, Tool: in.Tool, Result: json.RawMessage(`{"content":[{"type":"text","text":"x"}]}`)}
	if !in.Bare {
		out.Text, out.IsText = "x", true
	}
	return out, nil
}

// TestARecordingHasAllOfABareCall holds that whoever plays it gets what it wants.
func TestARecordingHasAllOfABareCall(t *testing.T) {
	t.Parallel()
	r := New(wordy{})
	if _, err := r.Call(t.Context(), api.CallInput{Server: "s", Tool: "t", Bare: true}); err != nil {
		t.Fatal(err)
	}
	text, err := r.Text()
	if err != nil || !strings.Contains(text, `"text":"x","isText":true`) {
		t.Errorf("the recording is %s, %v", text, err)
	}
}

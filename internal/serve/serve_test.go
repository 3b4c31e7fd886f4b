package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/catalog"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/gateway"
	"mcpx/internal/settings"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
	"mcpx/mcp/server"
	"mcpx/pool"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	os.Exit(m.Run())
}

// entry is a server of the configuration that behaves as script says.
func entry(name string, script mcptest.Script) *config.Server {
	cmd := mcptest.Command(script)
	s := &config.Server{Name: name, Transport: "stdio", Command: cmd.Path, Args: cmd.Args, Env: map[string]string{}, Origin: config.Origin{File: "/c.json", Line: 3}}
	for _, kv := range cmd.Env {
		k, v, _ := strings.Cut(kv, "=")
		s.Env[k] = strings.ReplaceAll(v, "$", "$$")
	}
	return s
}

// open makes a gateway over servers.
func open(t *testing.T, servers ...*config.Server) *gateway.Gateway {
	t.Helper()
	var set settings.Set
	if err := set.ApplyFlag("policy-write", "allow"); err != nil { // the tools of mcptest do not say what they do
		t.Fatal(err)
	}
	dir := t.TempDir()
	g := gateway.New(gateway.Options{
		Config:   &config.Config{Servers: servers},
		Env:      config.Env{Lookup: func(string) (string, bool) { return "", false }, Dir: dir},
		Settings: &set,
		Pool:     pool.New(pool.Options{Settings: &set, Environ: os.Environ()}),
		Catalog:  catalog.Open(dir),

		Artifacts: folderOf(dir),
	})
	t.Cleanup(g.Close)
	return g
}

// folderOf is where the artifacts of a gateway are kept.
func folderOf(dir string) string { return filepath.Join(dir, "artifacts") }

// caller is a client of one message.
type caller struct {
	era      mcp.Era
	revision string
	notified func(method string, params mcp.Raw)
}

func (c caller) Era() mcp.Era           { return c.era }
func (c caller) Revision() string       { return c.revision }
func (c caller) Capabilities() mcp.Raw  { return nil }
func (c caller) Logs(string) bool       { return false }
func (c caller) Level() string          { return "" }
func (c caller) Client() *server.Client { return nil }
func (c caller) Tell(method string, params mcp.Raw) {
	if c.notified != nil {
		c.notified(method, params)
	}
}

func (c caller) Notify(_ context.Context, method string, params mcp.Raw) error {
	c.notified(method, params)
	return nil
}

func (c caller) Request(context.Context, string, mcp.Raw) (mcp.Raw, error) {
	return nil, errors.New("nobody answers")
}

var (
	legacy    = caller{era: mcp.Legacy, revision: mcp.Revision20251125}
	modernOne = caller{era: mcp.Modern, revision: mcp.Revision20260728}
)

func ask(t *testing.T, h server.Handler, c server.Caller, method, params string) (string, error) {
	t.Helper()
	m := &mcp.Message{ID: mcp.Raw("1"), Method: method}
	if params != "" {
		m.Params = mcp.Raw(params)
	}
	raw, err := h.Serve(t.Context(), c, m)
	return string(raw), err
}

func must(t *testing.T, h server.Handler, c server.Caller, method, params string) string {
	t.Helper()
	raw, err := ask(t, h, c, method, params)
	if err != nil {
		t.Fatalf("%s %s: %v", method, params, err)
	}
	return raw
}

func offer(t *testing.T, o Options) *server.Server {
	t.Helper()
	o.Version, o.declareWait = "1.2.3", time.Minute
	h, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Definitions as a server might spell them: what is unknown, odd or superfluous stays.
const (
	oddTool   = `{"x-unknown": [1.0, 1e400],  "name":"find it", "inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}},"title":"\u00e9 <&>"}`
	otherTool = `{"name":"c","description":"two\nlines","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`
)

func raws(texts ...string) (out []json.RawMessage) {
	for _, t := range texts {
		out = append(out, json.RawMessage(t))
	}
	return out
}

func TestFullOffersEveryToolAsItIs(t *testing.T) {
	t.Parallel()
	g := open(t,
		entry("a", mcptest.Script{Tools: raws(oddTool, `{"name":"b__c","inputSchema":{},"annotations":null,"outputSchema":{"type":"object","properties":{"a":{"type":"str"}}}}`)}),
		entry("a__b", mcptest.Script{Tools: raws(otherTool)}),
		entry("broken", mcptest.Script{Exit: 3}))
	h := offer(t, Options{Mode: Full, Gateway: g})
	want := `{"tools":[` +
		`{"x-unknown":[1.0,1e400],"name":"a__find it","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}},"title":"\u00e9 <&>"},` +
		`{"name":"a__b__c","inputSchema":{"type":"object"}},` +
		`{"name":"a__b__c_2","description":"two\nlines","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}`
	// How the fixture encodes its answers is the one thing that changes them.
	var direct bytes.Buffer
	if err := json.Compact(&direct, []byte(want)); err != nil {
		t.Fatal(err)
	}
	if got := must(t, h, legacy, "tools/list", ""); unescaped(got) != unescaped(direct.String()) {
		t.Errorf("tools/list:\n%s\nwant\n%s", got, want)
	}
	if got := must(t, h, modernOne, "tools/list", ""); !strings.HasSuffix(got, `],"ttlMs":0,"cacheScope":"private","resultType":"complete"}`) {
		t.Errorf("modern tools/list ends %s", got)
	}
	if got := string(h.Definition(t.Context(), "a__find it")); !strings.Contains(got, "x-mcp-header") {
		t.Errorf("Definition: %s", got)
	}
	if got := h.Definition(t.Context(), "nope"); got != nil {
		t.Errorf("Definition of nothing: %s", got)
	}
	init := must(t, h, legacy, "initialize", `{}`)
	if !strings.Contains(init, `"capabilities":{"logging":{},"tools":{"listChanged":true}}`) || !strings.Contains(init, `"version":"1.2.3"`) {
		t.Errorf("initialize: %s", init)
	}
}

// What only the modern era has, only its clients see.
func TestEachEraGetsItsOwn(t *testing.T) {
	t.Parallel()
	h := offer(t, Options{Mode: Full, Gateway: open(t, entry("s", mcptest.Script{
		Tools: raws(`{"name":"list","inputSchema":{"type":"object","properties":{"any":true}},"outputSchema":{"type":"array"}}`, `{"name":"result","inputSchema":{"type":"object"}}`),
	}))})
	const result = `{"name":"s__result","arguments":{"value":{"content":[],"structuredContent":[1]}}}`
	for _, tt := range []struct {
		c            server.Caller
		tool, answer string
	}{
		{legacy, `{"name":"s__list","inputSchema":{"type":"object","properties":{"any":{}}}}`, `{"content":[]}`},
		{modernOne, `{"name":"s__list","inputSchema":{"type":"object","properties":{"any":true}},"outputSchema":{"type":"array"}}`, `"structuredContent":[1]`},
	} {
		if got := must(t, h, tt.c, "tools/list", ""); !strings.Contains(got, tt.tool) {
			t.Errorf("%s tools/list: %s, want %s", tt.c.Era(), got, tt.tool)
		}
		if got, err := ask(t, h, tt.c, "tools/call", result); !strings.Contains(got, tt.answer) || err != nil {
			t.Errorf("%s call: %s, %v, want %s", tt.c.Era(), got, err, tt.answer)
		}
	}
}

func unescaped(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(s)
}

func TestAnswersArePassedOnAsTheyCame(t *testing.T) {
	t.Parallel()
	g := open(t, entry("s", mcptest.Script{}))
	full := offer(t, Options{Mode: Full, Gateway: g})
	through := offer(t, Options{Mode: Passthrough, Gateway: g})
	code := offer(t, Options{Mode: Code, Gateway: g})
	call := func(h server.Handler, c server.Caller, tool, arguments string) (string, error) {
		switch h {
		case full:
			tool = "s__" + tool
		case code:
			arguments, tool = `{"server":"s","tool":"`+tool+`","arguments":`+arguments+`}`, "mcpx_call"
		}
		return ask(t, h, c, "tools/call", `{"name":"`+tool+`","arguments":`+arguments+`,"_meta":{"progressToken":1}}`)
	}
	const odd = `{"content":[{"type":"text","text":"x"}],"structuredContent":{"b":1e400,"a":12345678901234567890},"odd":[1.0]}`
	for name, h := range map[string]server.Handler{"full": full, "passthrough": through, "code": code} {
		if got, err := call(h, legacy, "result", `{"value":`+odd+`}`); got != odd || err != nil {
			t.Errorf("%s: %s, %v, want %s", name, got, err, odd)
		}
		// What the modern era wants on top is put there on the way out.
		params := map[string]string{"full": `{"name":"s__result","arguments":{"value":` + odd + `}}`, "passthrough": `{"name":"result","arguments":{"value":` + odd + `}}`}[name]
		if name == "code" {
			params = `{"name":"mcpx_call","arguments":{"server":"s","tool":"result","arguments":{"value":` + odd + `}}}`
		}
		if m := dial(t, h, true, "").once("tools/call", params, ""); string(m.Result) != odd[:len(odd)-1]+`,"resultType":"complete"}` {
			t.Errorf("%s, modern: %s", name, m.Encode())
		}
		if got, err := call(h, legacy, "result", `{"value":{"content":[{"type":"text","text":"x","_meta":null}],"structuredContent":null}}`); got != `{"content":[{"type":"text","text":"x"}]}` || err != nil {
			t.Errorf("%s, a result with nulls: %s, %v", name, got, err)
		}
		if got, err := call(h, legacy, "result", `{"value":null}`); got != `{"content":[]}` || err != nil {
			t.Errorf("%s, a result that is null: %s, %v", name, got, err)
		}
		if got, err := call(h, legacy, "fail", `{"message":"no"}`); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, `"no"`) || err != nil {
			t.Errorf("%s, fail: %s, %v", name, got, err)
		}
		got, err := call(h, legacy, "error", `{"code":-7,"message":"its words","data":{"a":[1.0]}}`)
		if name == "code" {
			if !strings.Contains(got, "its words") || !strings.Contains(got, `"isError":true`) || err != nil {
				t.Errorf("%s, error: %s, %v", name, got, err)
			}
			continue
		}
		var e *mcp.Error
		if !errors.As(err, &e) || e.Code != -7 || e.Message != "its words" || string(e.Data) != `{"a":[1.0]}` {
			t.Errorf("%s, error: %s, %#v", name, got, err)
		}
		if _, err := call(h, legacy, "nope", `{}`); !errors.As(err, &e) || e.Code != mcp.CodeInvalidParams {
			t.Errorf("%s, a tool that is not there: %v", name, err)
		}
	}
	if got, err := call(code, legacy, "ech", `{}`); err != nil || !strings.Contains(got, `did you mean echo?`) {
		t.Errorf("code, a tool that is not there: %s, %v", got, err)
	}
}

func TestServerThatDiesFailsTheCallAndNothingElse(t *testing.T) {
	t.Parallel()
	g := open(t, entry("s", mcptest.Script{}))
	h := offer(t, Options{Mode: Full, Gateway: g})
	got := must(t, h, legacy, "tools/call", `{"name":"s__crash","arguments":{"code":3}}`)
	if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "may have taken effect") {
		t.Errorf("crash: %s", got)
	}
	if got := must(t, h, legacy, "tools/call", `{"name":"s__echo","arguments":{"message":"hi"}}`); !strings.Contains(got, `"hi"`) {
		t.Errorf("the next call: %s", got)
	}
}

func TestWhatIsNotGrantedIsNotOffered(t *testing.T) {
	t.Parallel()
	g := open(t, entry("s", mcptest.Script{}), entry("other", mcptest.Script{}))
	grant := &api.ToolGrant{Allow: []string{"s"}, Deny: []string{"s.echo"}}
	for _, tt := range []struct {
		mode, denied, allowed string
	}{
		{Full, `{"name":"s__echo","arguments":{"message":"hi"}}`, `{"name":"s__pid"}`},
		{Passthrough, `{"name":"echo","arguments":{"message":"hi"}}`, `{"name":"pid"}`},
		{Code, `{"name":"mcpx_call","arguments":{"server":"s","tool":"echo","arguments":{"message":"hi"}}}`, `{"name":"mcpx_call","arguments":{"server":"s","tool":"pid"}}`},
		{Code, `{"name":"mcpx_call","arguments":{"server":"other","tool":"pid"}}`, `{"name":"mcpx_call","arguments":{"server":"s","tool":"pid"}}`},
	} {
		o := Options{Mode: tt.mode, Gateway: g, Grant: grant}
		if tt.mode == Passthrough {
			o.Server = "s"
		}
		h := offer(t, o)
		list := must(t, h, legacy, "tools/list", "")
		if tt.mode != Code && (strings.Contains(list, `echo"`) || strings.Contains(list, "other__") || !strings.Contains(list, `pid"`)) {
			t.Errorf("%s lists %s", tt.mode, list)
		}
		got, err := ask(t, h, legacy, "tools/call", tt.denied)
		if err == nil && !strings.Contains(got, `"isError":true`) || strings.Contains(got, `"hi"`) {
			t.Errorf("%s %s: %s, %v, want a denial", tt.mode, tt.denied, got, err)
		}
		if got, err := ask(t, h, legacy, "tools/call", tt.allowed); err != nil || strings.Contains(got, `"isError":true`) {
			t.Errorf("%s %s: %s, %v", tt.mode, tt.allowed, got, err)
		}
	}
}

func TestPassthroughNeedsToKnowTheServer(t *testing.T) {
	t.Parallel()
	two := open(t, entry("s", mcptest.Script{}), entry("other", mcptest.Script{}))
	for _, tt := range []struct {
		name string
		o    Options
		want string
		kind fault.Kind
	}{
		{"two of them", Options{Mode: Passthrough, Gateway: two}, "2 are configured", fault.Usage},
		{"none", Options{Mode: Passthrough, Gateway: open(t)}, "no server to pass through to", fault.Usage},
		{"one that is not there", Options{Mode: Passthrough, Gateway: two, Server: "x"}, `no server is called "x"`, fault.NotFound},
		{"another mode", Options{Mode: Full, Gateway: two, Server: "s"}, "--server", fault.Usage},
		{"no mode", Options{Mode: "x", Gateway: two}, `no mode "x"`, fault.Usage},
	} {
		if _, err := New(t.Context(), tt.o); err == nil || !strings.Contains(err.Error(), tt.want) || fault.KindOf(err) != tt.kind {
			t.Errorf("%s: %v, want %s (%s)", tt.name, err, tt.want, tt.kind)
		}
	}
	if _, err := New(t.Context(), Options{Mode: Passthrough, Gateway: two, Server: "other"}); err != nil {
		t.Error(err)
	}
}

// pretend is a gateway whose one server has more than tools.
type pretend struct {
	*gateway.Gateway
	mu    sync.Mutex
	asked []string
}

func (p *pretend) About(context.Context, string) (*gateway.About, error) {
	return &gateway.About{
		Info:         json.RawMessage(`{"name":"its","version":"own","icons":[]}`),
		Capabilities: json.RawMessage(`{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true,"listChanged":true},"completions":{}}`),
		Instructions: "its words",
	}, nil
}

func (p *pretend) Ask(_ context.Context, in gateway.AskInput) (json.RawMessage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, in.Server+" "+in.Method+" "+string(in.Params))
	if strings.Contains(string(in.Params), "gone") {
		return nil, &mcp.Error{Code: -32002, Message: "gone", Data: mcp.Raw(`{"a":1}`)}
	}
	return json.RawMessage(`{"odd":[1.0]}`), nil
}

func TestPassthroughDeclaresWhatItPassesOn(t *testing.T) {
	t.Parallel()
	p := &pretend{Gateway: open(t, entry("s", mcptest.Script{}))}
	h := offer(t, Options{Mode: Passthrough, Gateway: p})
	want := `{"capabilities":{"completions":{},"logging":{},"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}},"instructions":"its words","protocolVersion":"2025-11-25","serverInfo":{"name":"its","version":"own","icons":[]}}`
	if got := must(t, h, legacy, "initialize", `{}`); got != want {
		t.Errorf("initialize: %s\nwant %s", got, want)
	}
	for _, tt := range []struct{ method, params, asked, legacy, modern string }{
		{"resources/list", ``, `s resources/list `, `{"odd":[1.0]}`, `{"odd":[1.0],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`},
		{"resources/read", `{"_meta":{"x":1},"uri":"a:é"}`, `s resources/read {"uri":"a:é"}`, `{"odd":[1.0]}`, `{"odd":[1.0],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`},
		{"completion/complete", `{"ref":{ "a": 1 }}`, `s completion/complete {"ref":{ "a": 1 }}`, `{"odd":[1.0]}`, `{"odd":[1.0],"resultType":"complete"}`},
	} {
		if got := must(t, h, legacy, tt.method, tt.params); got != tt.legacy {
			t.Errorf("%s: %s, want %s", tt.method, got, tt.legacy)
		}
		if got := must(t, h, modernOne, tt.method, tt.params); got != tt.modern {
			t.Errorf("%s, modern: %s, want %s", tt.method, got, tt.modern)
		}
		if got := p.asked[len(p.asked)-1]; got != tt.asked {
			t.Errorf("the server was asked %s, want %s", got, tt.asked)
		}
	}
	before := len(p.asked)
	for _, method := range []string{"prompts/list", "prompts/get", "subscriptions/listen", "x"} {
		var e *mcp.Error
		if _, err := ask(t, h, legacy, method, `{}`); !errors.As(err, &e) || e.Code != mcp.CodeMethodNotFound {
			t.Errorf("%s: %v, want method not found", method, err)
		}
	}
	if len(p.asked) != before {
		t.Errorf("the server was asked %q", p.asked[before:])
	}
	var e *mcp.Error
	if _, err := ask(t, h, legacy, "resources/read", `{"uri":"gone"}`); !errors.As(err, &e) || e.Code != -32002 || string(e.Data) != `{"a":1}` {
		t.Errorf("an error: %#v", err)
	}
}

// runs answers runs as a test says.
type runs func(ctx context.Context, in api.ExecInput, s api.Streams) (*api.ExecOutput, error)

func (r runs) Run(ctx context.Context, in api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
	return r(ctx, in, s)
}

func exec(t *testing.T, h server.Handler, c server.Caller, arguments string) string {
	t.Helper()
	return must(t, h, c, "tools/call", `{"name":"mcpx_exec","arguments":`+arguments+`,"_meta":{"progressToken":"p"}}`)
}

// texts are the text blocks of a result.
func texts(result string) (out []string) {
	r, err := mcp.DecodeResult(mcp.Raw(result))
	if err != nil {
		return []string{err.Error()}
	}
	for _, block := range r.Content {
		var b struct{ Type, Text, URI string }
		_ = json.Unmarshal(block, &b)
		out = append(out, b.Text+b.URI)
	}
	return out
}

func TestExecGivesARunWhatTheServerWasGiven(t *testing.T) {
	t.Parallel()
	var got api.ExecInput
	h := offer(t, Options{
		Mode: Code, Gateway: open(t), Longest: time.Minute,
		Exec: api.ExecInput{Permissions: "read", Allow: map[string][]string{"net": {"a"}}, Deny: map[string][]string{"tools": {"b"}}},
		Runner: runs(func(_ context.Context, in api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
			got = in
			if s.Stdin != nil || s.Stdout != nil || s.Stderr != nil {
				t.Error("a run was given streams")
			}
			return &api.ExecOutput{}, nil
		}),
	})
	for _, tt := range []struct {
		arguments string
		timeout   time.Duration
	}{
		{`{"code":"1"}`, time.Minute},
		{`{"code":"1","timeoutMs":1500}`, 1500 * time.Millisecond},
		{`{"code":"1","timeoutMs":9223372036854775807}`, time.Minute},
	} {
		if text := exec(t, h, legacy, tt.arguments); !strings.Contains(text, "nothing was returned or printed") {
			t.Errorf("%s: %s", tt.arguments, text)
		}
		if got.Timeout != tt.timeout || got.Permissions != "read" || fmt.Sprint(got.Allow, got.Deny) != "map[net:[a]] map[tools:[b]]" || got.Code != "1" || !got.Expression || got.File != "" {
			t.Errorf("%s: the run was given %+v", tt.arguments, got)
		}
	}
	everything := `{"code":"1","args":["a"],"ns":["n"],"export":"e","placeholders":{"p":1},"phases":{"before":["b"]},"captureConsole":true}`
	exec(t, h, legacy, everything)
	if fmt.Sprintf("%v %v %s %s %v %t %s", got.Args, got.NS, got.Export, got.Placeholders["p"], got.Phases.Before, got.CaptureConsole, got.Output) != "[a] [n] e 1 [b] true structured" {
		t.Errorf("%s: the run was given %+v", everything, got)
	}
	// What a client asks for is bounded by what the server was given.
	narrowed := `{"code":"1","permissions":"none","allow":{"tools":["a"]},"deny":{"net":[]},"limits":{"memory":"64MiB"}}`
	exec(t, h, legacy, narrowed)
	if fmt.Sprintf("%v %v %v %v %v", got.Permissions, got.Allow, got.Deny, got.Limits, *got.Most) != "none map[tools:[a]] map[net:[]] map[memory:64MiB] {read map[net:[a]] map[tools:[b]]}" {
		t.Errorf("%s: the run was given %+v", narrowed, got)
	}
	for _, arguments := range []string{
		`{"code":"1","cwd":"/"}`, `{"code":"1","env":{"A":"b"}}`, `{"code":"1","typecheck":"on"}`, `{"code":"1","file":"/x"}`, `{"code":"1","most":{}}`,
		`{}`, `{"code":""}`, `{"code":7}`, `{"code":"1","permissions":7}`, `{"code":"1","timeoutMs":-1}`, `{"code":"1","limits":{"memory":1}}`,
	} {
		got = api.ExecInput{}
		if text := exec(t, h, legacy, arguments); !strings.Contains(text, `"isError":true`) || got.Code != "" {
			t.Errorf("%s: %s, and ran %q", arguments, text, got.Code)
		}
	}
}

func TestExecAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 40<<10)
	store := artifact.Store{Dir: t.TempDir()}
	for _, tt := range []struct {
		name  string
		out   api.ExecOutput
		store artifact.Store
		want  []string // of each block; the end of it if it begins with …
		fails bool
	}{
		{"a text", api.ExecOutput{Value: json.RawMessage(`"a\nb"`)}, store, []string{"a\nb"}, false},
		{"a value", api.ExecOutput{Value: json.RawMessage(`{"a":1}`), Stdout: "said\n", Stderr: "warn: x\n"}, store, []string{"said", `{"a":1}`, "log:\nwarn: x"}, false},
		{"an implied value beside what was printed", api.ExecOutput{Value: json.RawMessage(`1`), Implied: true, Printed: true, Stdout: "said\n"}, store, []string{"said"}, false},
		{"emitted", api.ExecOutput{Emits: []json.RawMessage{json.RawMessage(`1`), json.RawMessage(`{}`)}}, store, []string{"emitted:\n1\n{}"}, false},
		{"a variable that was not granted", api.ExecOutput{Denials: []api.Denial{{Grant: "env", Thing: "TOKEN", Flag: "--allow-env=TOKEN"}, {Grant: "net", Thing: "h"}}}, store, []string{"done: nothing was returned or printed", "note:\nthe script looked for variables that it was not granted, and found them not set: TOKEN"}, false},
		{"one that did not matter", api.ExecOutput{Value: json.RawMessage(`1`), Denials: []api.Denial{{Grant: "env", Thing: "TOKEN"}}}, store, []string{"1"}, false},
		{"a denial", api.ExecOutput{ExitCode: 77, Error: &fault.Report{Kind: fault.Denied, Message: "no", Hint: "allow it with --allow-net=h"}}, store, []string{"error:\nno\n  the user of mcpx can change that: allow it with --allow-net=h"}, true},
		{"notes", api.ExecOutput{Notes: []string{"n"}}, store, []string{"note:\nn"}, false},
		{"an error", api.ExecOutput{ExitCode: 1, Stdout: "before\n", Error: &fault.Report{Kind: fault.Script, Name: "TypeError", Message: "x is not a function"}}, store, []string{"error:\nTypeError: x is not a function", "before"}, true},
		{"an exit code", api.ExecOutput{ExitCode: 3, Stdout: "bad\n"}, store, []string{"bad"}, true},
		{"an artifact", api.ExecOutput{Artifacts: []api.Artifact{{ID: "i", Name: "n", MIME: "m", URI: "artifact://i/n", Path: "/secret"}}}, store, []string{"done: nothing was returned or printed", "artifact://i/n"}, false},
		{"too much", api.ExecOutput{Stdout: long}, store, []string{"é", "artifact://"}, false},
		{"too long a value", api.ExecOutput{Value: json.RawMessage(`"` + long + `"`)}, store, []string{"é", "artifact://"}, false},
		{"too much, kept nowhere", api.ExecOutput{Stdout: long}, artifact.Store{}, []string{"é"}, false},
	} {
		h := offer(t, Options{
			Mode: Code, Gateway: open(t), Longest: time.Minute, Artifacts: tt.store,
			Runner: runs(func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) { return &tt.out, nil }),
		})
		text := exec(t, h, legacy, `{"code":"1"}`)
		got := texts(text)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %d blocks, want %d: %.300q", tt.name, len(got), len(tt.want), got)
			continue
		}
		for i, want := range tt.want {
			exact := !strings.HasPrefix(tt.name, "too")
			if exact && got[i] != want || !exact && !strings.HasPrefix(got[i], want) {
				t.Errorf("%s: block %d is %.300q, want %q", tt.name, i, got[i], want)
			}
			if len(got[i]) > maxPart+500 {
				t.Errorf("%s: block %d has %d bytes", tt.name, i, len(got[i]))
			}
		}
		if len(text) > 4*maxPart || !json.Valid([]byte(text)) || strings.Contains(text, "/secret") {
			t.Errorf("%s: %d bytes: %.300s", tt.name, len(text), text)
		}
		if strings.Contains(text, `"isError":true`) != tt.fails {
			t.Errorf("%s: %.300s", tt.name, text)
		}
		if !strings.HasPrefix(tt.name, "too much") {
			continue
		}
		if !strings.Contains(got[0], "of 81920 bytes are left out here; the whole ") {
			t.Errorf("%s: nothing is said of what is left out: …%s…", tt.name, got[0][20<<10:])
		}
	}
}

// TestARunOverMCPIsItsAnswer holds that a loop over a hundred calls costs its client no more
// than what comes of it.
func TestARunOverMCPIsItsAnswer(t *testing.T) {
	t.Parallel()
	h := offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Runner: runs(func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) {
		return &api.ExecOutput{
			Value: json.RawMessage(`{"sum":5050}`), Stdout: "counted\n", Calls: make([]api.ToolCall, 100), Logs: make([]api.Log, 100),
			Limits: map[string]string{"memory": "64MiB"}, Sandbox: "landlock+seccomp", Profile: "tools", Artifacts: []api.Artifact{},
		}, nil
	})})
	answer := mcp.Member(mcp.Raw(exec(t, h, legacy, `{"code":"1"}`)), "structuredContent")
	if got, want := string(answer), `{"runId":"","value":{"sum":5050},"exitCode":0,"durationMs":0,"artifacts":[],"stdout":"counted\n","limits":{"memory":"64MiB"}}`; got != want {
		t.Errorf("structured content\n%s\nwant\n%s", got, want)
	}
}

// TestAClientIsToldOfItsOwnLimits: what it has asked for itself it can ask for otherwise.
func TestAClientIsToldOfItsOwnLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		arguments, limit string
		kind             fault.Kind
		want             string
	}{
		{`{"code":"1","timeoutMs":1000}`, "time", fault.Timeout, "give it more with timeoutMs, or leave that out"},
		{`{"code":"1"}`, "time", fault.Timeout, "the user of mcpx can change that: give it more with --x"},
		{`{"code":"1","limits":{"cpu":"1s"}}`, "cpu", fault.Limit, "give it more with limits.cpu, or leave that out"},
		{`{"code":"1","limits":{"cpu":"1s"}}`, "memory", fault.Limit, "the user of mcpx can change that: give it more with --x"},
	} {
		h := offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute, Runner: runs(func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) {
			return &api.ExecOutput{ExitCode: 1, Error: &fault.Report{Kind: tt.kind, Message: "too much", Hint: "give it more with --x", Details: map[string]any{"limit": tt.limit}}}, nil
		})})
		if got := texts(exec(t, h, legacy, tt.arguments)); len(got) != 1 || got[0] != "error:\ntoo much\n  "+tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.arguments, tt.limit, got, tt.want)
		}
	}
}

func TestWhatIsTooLongCanBeRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 10<<10)
	store := artifact.Store{Dir: t.TempDir()}
	picture, err := store.Put(t.Context(), "p.png", "image/png", []byte("\x89PNG\xff"))
	if err != nil {
		t.Fatal(err)
	}
	h := offer(t, Options{
		Mode: Code, Gateway: open(t), Longest: time.Minute, Artifacts: store,
		Runner: runs(func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) {
			return &api.ExecOutput{Stdout: long}, nil
		}),
	})
	if got := must(t, h, legacy, "initialize", `{}`); !strings.Contains(got, `"resources":{}`) {
		t.Errorf("initialize: %s", got)
	}
	if got := must(t, h, legacy, "resources/list", ``); got != `{"resources":[]}` {
		t.Errorf("resources/list before a run: %s", got)
	}
	blocks := texts(exec(t, h, legacy, `{"code":"1"}`))
	uri := blocks[len(blocks)-1]
	if got := must(t, h, modernOne, "resources/list", ``); !strings.Contains(got, `"uri":"`+uri+`"`) || !strings.Contains(got, `"cacheScope":"private"`) {
		t.Errorf("resources/list: %s", got)
	}
	if got := must(t, h, legacy, "resources/read", `{"uri":"`+uri+`"}`); !strings.Contains(got, `"text":"`+long+`"`) {
		t.Errorf("resources/read: %.200s", got)
	}
	if got := must(t, h, legacy, "resources/read", `{"uri":"`+picture.URI()+`"}`); !strings.Contains(got, `"blob":"iVBOR/8="`) {
		t.Errorf("resources/read of a picture: %s", got)
	}
	for params, code := range map[string]int{`{}`: -32602, `{"uri":7}`: -32602, `{"uri":"artifact://x/y"}`: -32002, `{"uri":"file:///etc/passwd"}`: -32002, `{"uri":"` + uri + `/../x"}`: -32002} {
		var e *mcp.Error
		if got, err := ask(t, h, legacy, "resources/read", params); !errors.As(err, &e) || e.Code != code {
			t.Errorf("resources/read %s: %s, %v, want %d", params, got, err, code)
		}
	}
	old := caller{era: mcp.Legacy, revision: mcp.Revision20241105}
	if got := exec(t, h, old, `{"code":"1"}`); strings.Contains(got, "resource_link") || !strings.Contains(got, "kept stdout.txt") {
		t.Errorf("an old client: …%s", got[len(got)-600:])
	}
	without := offer(t, Options{Mode: Code, Gateway: open(t), Longest: time.Minute})
	var e *mcp.Error
	if _, err := ask(t, without, legacy, "resources/list", ``); !errors.As(err, &e) || e.Code != mcp.CodeMethodNotFound {
		t.Errorf("resources/list where nothing is kept: %v", err)
	}
}

func TestProgressOfARunIsTold(t *testing.T) {
	t.Parallel()
	total := 4.0
	h := offer(t, Options{
		Mode: Code, Gateway: open(t), Longest: time.Minute,
		Runner: runs(func(_ context.Context, _ api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
			for _, done := range []float64{0, 1, 2} {
				s.Progress(api.Progress{Done: done, Total: &total, Message: "m"})
			}
			return &api.ExecOutput{}, nil
		}),
	})
	var got []string
	c := legacy
	c.notified = func(method string, params mcp.Raw) {
		got = append(got, method+string(mcp.Member(params, "progress"))+"/"+string(mcp.Member(params, "total"))+string(mcp.Member(params, "message")))
	}
	exec(t, h, c, `{"code":"1"}`)
	// The front gives it the client's token and leaves out what does not grow.
	if want := `[notifications/progress0/4"m" notifications/progress1/4"m" notifications/progress2/4"m"]`; fmt.Sprint(got) != want {
		t.Errorf("notified %v, want %s", got, want)
	}
}

func TestScriptsWaitForEachOther(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan bool, 2*maxRuns), make(chan bool)
	h := offer(t, Options{
		Mode: Code, Gateway: open(t), Longest: time.Minute,
		Runner: runs(func(context.Context, api.ExecInput, api.Streams) (*api.ExecOutput, error) {
			entered <- true
			<-leave
			return &api.ExecOutput{}, nil
		}),
	})
	var wg sync.WaitGroup
	for range maxRuns {
		wg.Go(func() { exec(t, h, legacy, `{"code":"1"}`) })
		<-entered
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := &mcp.Message{ID: mcp.Raw("1"), Method: "tools/call", Params: mcp.Raw(`{"name":"mcpx_exec","arguments":{"code":"1"}}`)}
	if _, err := h.Serve(ctx, legacy, m); !errors.Is(err, context.Canceled) {
		t.Errorf("one too many, cancelled: %v", err)
	}
	if len(entered) != 0 {
		t.Error("it ran all the same")
	}
	close(leave)
	wg.Wait()
}

func TestCodeFindsAndDescribes(t *testing.T) {
	t.Parallel()
	g := open(t, entry("s", mcptest.Script{}))
	h := offer(t, Options{Mode: Code, Gateway: g, Longest: time.Minute})
	var list struct {
		Tools []struct {
			Name, Description string
			InputSchema       struct{ Type string }
			Annotations       struct{ ReadOnlyHint, DestructiveHint, OpenWorldHint bool }
		}
	}
	if err := json.Unmarshal([]byte(must(t, h, legacy, "tools/list", "")), &list); err != nil {
		t.Fatal(err)
	}
	reads := map[string]bool{"mcpx_exec": false, "mcpx_search": true, "mcpx_types": true, "mcpx_call": false, "mcpx_catalog": true}
	if len(list.Tools) != len(reads) {
		t.Errorf("%d tools, want %d", len(list.Tools), len(reads))
	}
	for _, tool := range list.Tools {
		if only, ok := reads[tool.Name]; !ok || tool.Annotations.ReadOnlyHint != only || tool.Annotations.DestructiveHint == only || tool.InputSchema.Type != "object" {
			t.Errorf("%+v", tool)
		}
	}
	if d := list.Tools[0].Description; !strings.Contains(d, "echo({ message: string })") || strings.Contains(d, "mcpx types") {
		t.Errorf("mcpx_exec is described as\n%s", d)
	}
	for _, tt := range []struct{ tool, arguments, want string }{
		{"mcpx_search", `{"words":"echo"}`, "s.echo(args: { message: string })"},
		{"mcpx_search", `{"words":"zzzzzz"}`, "no tool fits"},
		{"mcpx_search", `{"words":"echo","namespace":"x"}`, `no server is called \"x\"`},
		{"mcpx_search", `{"word":"echo"}`, `mcpx_search has no argument \"word\": did you mean \"words\"? it has words, namespace, limit`},
		{"mcpx_exec", `{"cod":"1"}`, `mcpx_exec has no argument \"cod\": did you mean \"code\"? it has code, timeoutMs, args, stdin, ns, export,`},
		{"mcpx_exec", `{"code":"1","timeout":5}`, `no argument \"timeout\": did you mean \"timeoutMs\"?`},
		{"mcpx_exec", `{"code":"1","phases":{"befor":[]}}`, `mcpx_exec has no argument \"phases.befor\": did you mean \"before\"?`},
		{"mcpx_exec", `{"code":5}`, `mcpx_exec: argument \"code\": 5 is a number, not a string`},
		{"mcpx_exec", `{"script":"1"}`, `mcpx_exec has no argument \"script\": did you mean \"code\"? it has code, timeoutMs`},
		{"mcpx_search", `{"query":"echo"}`, `mcpx_search has no argument \"query\": did you mean \"words\"? it has words, namespace, limit`},
		{"mcpx_search", `{"words":"echo","max":5}`, `mcpx_search has no argument \"max\": it has words, namespace, limit`},
		{"mcpx_call", `{"tool":"s.echo","args":{"message":"hi"}}`, `mcpx_call has no argument \"args\": did you mean \"arguments\"?`},
		{"mcpx_call", `{"tool":"s.echo","input":{"message":"hi"}}`, `mcpx_call has no argument \"input\": it has server, tool, arguments`},
		{"mcpx_types", `{"name":"s.echo"}`, "echo(args:"},
		{"mcpx_types", `{"name":"s.nope"}`, `no tool called \"nope\"`},
		{"mcpx_types", `{}`, "needs a name"},
		{"mcpx_catalog", `{"budget":300}`, "s: "},
		{"mcpx_catalog", `{"budget":"x"}`, `"isError":true`},
		{"mcpx_call", `{"server":"s","tool":"echo","arguments":{"message":"hi"}}`, `"hi"`},
		{"mcpx_call", `{"server":"s","tool":"echo","arguments":[]}`, `"isError":true`},
		{"mcpx_call", `{"tool":"s.echo","arguments":{"message":"split"}}`, `"split"`},
		{"mcpx_call", `{"tool":"s.nope"}`, `s has no tool called \"nope\"`},
		{"mcpx_call", `{"tool":"echo"}`, `write server \"SERVER\", tool \"TOOL\"; mcpx_search finds tools`},
		{"mcpx_call", `{"tool":"s."}`, `needs a server and a tool`},
		{"mcpx_call", `{"server":"zzzzzz","tool":"echo"}`, `mcpx_catalog lists the servers`},
	} {
		if got := must(t, h, legacy, "tools/call", `{"name":"`+tt.tool+`","arguments":`+tt.arguments+`}`); !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %s, want %s in it", tt.tool, tt.arguments, got, tt.want)
		}
	}
	var e *mcp.Error
	if _, err := ask(t, h, legacy, "tools/call", `{"name":"mcpx_nope"}`); !errors.As(err, &e) || e.Code != mcp.CodeInvalidParams {
		t.Errorf("a tool that is none: %v", err)
	}
}

// TestCancelledCallReachesTheServer cancels a call over the wire and asks the upstream
// server what it heard.
func TestCancelledCallReachesTheServer(t *testing.T) {
	t.Parallel()
	g := open(t, entry("s", mcptest.Script{}))
	h := offer(t, Options{Mode: Passthrough, Gateway: g})
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	over := make(chan error, 1)
	go func() { over <- server.Serve(t.Context(), inR, outW, h); outW.Close() }()
	send := func(text string) { _, _ = io.WriteString(inW, text+"\n") }
	lines := bufio.NewReader(outR)
	send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pid"}}`)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"stall"}}`)
	// pid, stall and one for each question: with one fewer, stall is still under way here,
	// where a cancelled call is never sent at all.
	for heard, asked := "", 1; strings.Count(heard, "tools/call") < 1+asked; asked++ {
		if asked > 1000 {
			t.Fatalf("the server has heard %s", heard)
		}
		send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"received"}}`)
		heard, _ = lines.ReadString('\n')
	}
	send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	for heard, tries := "", 0; !strings.Contains(heard, "notifications/cancelled"); tries++ {
		if tries > 1000 {
			t.Fatalf("the server has heard %s", heard)
		}
		time.Sleep(time.Millisecond)
		send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"received"}}`)
		heard, _ = lines.ReadString('\n')
	}
	inW.Close()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// speechless is a gateway that has no overview.
type speechless struct{ *gateway.Gateway }

func (speechless) Catalog(context.Context, api.CatalogInput) (*api.CatalogOutput, error) {
	return nil, fault.Timeoutf("they are still starting")
}

func TestServersThatAreSlowHoldUpNoListing(t *testing.T) {
	t.Parallel()
	h := offer(t, Options{Mode: Code, Gateway: speechless{open(t)}, Longest: time.Minute})
	if list := must(t, h, legacy, "tools/list", ""); !strings.Contains(list, "mcpx_catalog lists them") || !strings.Contains(list, "await tools.NS.TOOL") {
		t.Errorf("tools/list: %s", list)
	}
}

// TestTheOverviewKeepsWithinItsTokens holds that clients read no more unasked than they are to.
func TestTheOverviewKeepsWithinItsTokens(t *testing.T) {
	t.Parallel()
	g := open(t, entry("s", mcptest.Script{}))
	if _, err := g.Tools(t.Context(), api.ToolsInput{Namespace: "s"}); err != nil {
		t.Fatal(err)
	}
	said := func(tokens int) string {
		return newCode(Options{Gateway: g, Longest: time.Minute, Overview: tokens}).tools[0].description(t.Context())
	}
	whole, short := said(0), said(40)
	if !strings.Contains(whole, "echo(") || strings.Contains(short, "echo(") || !strings.Contains(short, "in 1 namespace") {
		t.Errorf("within catalog.budget:\n%s\nwithin 40 tokens:\n%s", whole, short)
	}
}

func TestCancelledRunHasNoAnswer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the client has thought better of it")
	h := offer(t, Options{
		Mode: Code, Gateway: open(t), Longest: time.Minute,
		Runner: runs(func(ctx context.Context, _ api.ExecInput, _ api.Streams) (*api.ExecOutput, error) {
			cancel(why)
			<-ctx.Done()
			return &api.ExecOutput{ExitCode: 130}, nil
		}),
	})
	m := &mcp.Message{ID: mcp.Raw("1"), Method: "tools/call", Params: mcp.Raw(`{"name":"mcpx_exec","arguments":{"code":"1"}}`)}
	if raw, err := h.Serve(ctx, legacy, m); !errors.Is(err, why) {
		t.Errorf("%s, %v, want %v", raw, err, why)
	}
}

func TestHintsAreForWhoReadsThem(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind                 fault.Kind
		hint, inCode, inFull string
	}{
		{fault.NotFound, "mcpx ls lists its tools", "mcpx_catalog lists its tools, and mcpx_search finds tools by words", ""},
		{fault.NotFound, "did you mean echo?", "did you mean echo?", "did you mean echo?"},
		{fault.Denied, "allow it with --x", "the user of mcpx can change that: allow it with --x", "the user of mcpx can change that: allow it with --x"},
		{fault.Denied, "", "", ""},
		{fault.Limit, "give it more with --x", "the user of mcpx can change that: give it more with --x", "the user of mcpx can change that: give it more with --x"},
		{fault.Timeout, "see what it waits for", "see what it waits for", "see what it waits for"},
	} {
		r := &fault.Report{Kind: tt.kind, Message: "m", Hint: tt.hint}
		if got := told(r).Hint; got != tt.inCode {
			t.Errorf("%s %q: told %q, want %q", tt.kind, tt.hint, got, tt.inCode)
		}
		if got := passedOn(r).Hint; got != tt.inFull {
			t.Errorf("%s %q: passed on %q, want %q", tt.kind, tt.hint, got, tt.inFull)
		}
		if r.Hint != tt.hint {
			t.Errorf("%q has become %q: the report is its owner's", tt.hint, r.Hint)
		}
	}
}

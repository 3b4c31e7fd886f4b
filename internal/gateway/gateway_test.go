package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/catalog"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/gateway"
	"mcpx/internal/settings"
	"mcpx/mcp/mcptest"
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

type fixture struct {
	*gateway.Gateway
	pool *pool.Pool
	dir  string
	log  *record
}

// record is a log that can be read while it is written.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// settingsOf are settings that let everything be called. Flags come as name and value.
func settingsOf(t *testing.T, flags ...string) *settings.Set {
	t.Helper()
	set := &settings.Set{}
	flags = append([]string{"policy-write", "allow"}, flags...) // the tools of mcptest do not say what they do
	for i := 0; i < len(flags); i += 2 {
		if err := set.ApplyFlag(flags[i], flags[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

// open makes a gateway over servers. Flags come as name and value.
func open(t *testing.T, dir string, servers []*config.Server, flags ...string) *fixture {
	t.Helper()
	set := settingsOf(t, flags...)
	log := &record{}
	p := pool.New(pool.Options{Settings: set, Environ: os.Environ(), Log: slog.New(slog.NewTextHandler(log, nil))})
	g := gateway.New(gateway.Options{
		Config:   &config.Config{Servers: servers},
		Env:      config.Env{Lookup: func(string) (string, bool) { return "", false }, Dir: dir},
		Settings: set,
		Pool:     p,
		Catalog:  catalog.Open(dir),
		Log:      slog.New(slog.NewTextHandler(log, nil)),

		Artifacts: filepath.Join(dir, "artifacts"),
	})
	t.Cleanup(g.Close)
	return &fixture{Gateway: g, pool: p, dir: dir, log: log}
}

func one(t *testing.T, script mcptest.Script, flags ...string) *fixture {
	t.Helper()
	return open(t, t.TempDir(), []*config.Server{entry("s", script)}, flags...)
}

func call(t *testing.T, g api.Servers, server, tool, args string) (*api.CallOutput, error) {
	t.Helper()
	return g.Call(t.Context(), api.CallInput{Server: server, Tool: tool, Arguments: json.RawMessage(args)})
}

func tools(texts ...string) []json.RawMessage {
	var out []json.RawMessage
	for _, t := range texts {
		out = append(out, json.RawMessage(t))
	}
	return out
}

func TestCallReturnsWhatTheServerSent(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{})
	const result = `{"content":[{"type":"text","text":"x"}],"structuredContent":{"b":1e400,"a":12345678901234567890},"odd":[1.0]}`
	out, err := call(t, g, "s", "result", `{"value":`+result+`}`)
	if err != nil {
		t.Fatal(err)
	}
	if string(out.Result) != result {
		t.Errorf("result = %s, want %s", out.Result, result)
	}
	if string(out.Value) != `{"b":1e400,"a":12345678901234567890}` || out.IsText || out.IsError {
		t.Errorf("value = %s, text %v, error %v", out.Value, out.IsText, out.IsError)
	}
}

func TestABareCallHasTheResultAlone(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{})
	for _, result := range []string{
		`{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}`,
		`{"content":[{"type":"text","text":"x"}]}`,
		`{"content":[{"type":"text","text":"no"}],"isError":true}`,
	} {
		in := api.CallInput{Server: "s", Tool: "result", Arguments: json.RawMessage(`{"value":` + result + `}`)}
		whole, err := g.Call(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		in.Bare = true
		bare, err := g.Call(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if bare.Value != nil || bare.Text != "" || bare.IsText {
			t.Errorf("%s: value %s, text %q", result, bare.Value, bare.Text)
		}
		if whole.Value == nil && whole.Text == "" {
			t.Errorf("%s: a call that is not bare has neither value nor text", result)
		}
		if string(bare.Result) != result || string(whole.Result) != result || bare.IsError != whole.IsError {
			t.Errorf("the result is %s, want %s", bare.Result, result)
		}
	}
}

// TestArgumentsThatAreNoJSONAreRefused holds that no arguments become another message.
func TestArgumentsThatAreNoJSONAreRefused(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{})
	for _, args := range []string{`{`, `{"a":1},"name":"boom"`, "{}}\n{\"jsonrpc\":\"2.0\"}", `{"message":"` + "\n" + `"}`, `x`} {
		if out, err := call(t, g, "s", "echo", args); fault.KindOf(err) != fault.Usage {
			t.Errorf("arguments %s: %v, %v, want kind usage", args, out, err)
		}
	}
	// What is JSON goes there and back as it is.
	const odd = "{\"content\":[],\"odd\":[\"<b>&\u2028\\u003c\",1.0,1e400]}"
	out, err := call(t, g, "s", "result", `{"value":`+odd+`}`)
	if err != nil || string(out.Result) != odd {
		t.Errorf("the result is %s, %v, want %s", out.Result, err, odd)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	echo := `{"name":"read-only","inputSchema":{"type":"object"}}`
	disabled := entry("parked", mcptest.Script{})
	disabled.Disabled = true
	g := open(t, t.TempDir(), []*config.Server{entry("my-server", mcptest.Script{Tools: tools(echo, `{"name":"echo"}`)}), disabled})
	tests := []struct {
		name, server, tool string
		kind               fault.Kind
		message, hint      string
	}{
		{"own names", "my-server", "echo", "", "", ""},
		{"alias of the server", "my_server", "echo", "", "", ""},
		{"camel case alias", "myServer", "echo", "", "", ""},
		{"unknown server", "my-servr", "echo", fault.NotFound, `no server is called "my-servr"`, "did you mean my-server?"},
		{"unknown tool", "my-server", "ecko", fault.NotFound, `my-server has no tool called "ecko"`, "did you mean echo?"},
		{"nothing near", "my-server", "zzzzzzzzzz", fault.NotFound, `my-server has no tool called "zzzzzzzzzz"`, "it has read-only or echo"},
		{"disabled", "parked", "echo", fault.NotFound, `server "parked" is disabled`, "mcpx servers enable parked uses it again; its entry is in /c.json:3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := call(t, g, tt.server, tt.tool, `{"message":"hi"}`)
			if tt.kind == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			e := fault.From(err)
			if e == nil || e.Kind != tt.kind || e.Message != tt.message || e.Hint != tt.hint {
				t.Errorf("got %v (%q), want %s %q (%q)", err, e.Hint, tt.kind, tt.message, tt.hint)
			}
		})
	}
}

func TestArgumentsAreConvertedBySchemaAndReported(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{Tools: tools(`{"name":"slow","inputSchema":{"type":"object","properties":{"ms":{"type":"integer"}}}}`)})
	out, err := call(t, g, "s", "slow", `{"ms":"1"}`)
	if err != nil {
		t.Fatal(err)
	}
	if line := g.log.String(); !strings.Contains(line, "call.coerced server=s tool=slow arguments=[ms]") {
		t.Errorf("logged %q", line)
	}
	if len(out.Coerced) != 1 || !strings.Contains(out.Coerced[0], "ms") {
		t.Errorf("coerced = %q, want ms", out.Coerced)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	schema := `"inputSchema":{"type":"object","required":["message"],"properties":{"message":{"type":"string"}}}`
	g := one(t, mcptest.Script{Tools: tools(`{"name":"fail",`+schema+`}`, `{"name":"error",`+schema+`}`, `{"name":"crash"}`)})

	out, err := call(t, g, "s", "fail", `{"message":"repo not found"}`)
	if err != nil || !out.IsError || out.Text != "repo not found" || len(out.Diagnostics) != 0 {
		t.Errorf("isError: %+v, %v", out, err)
	}

	_, err = call(t, g, "s", "error", `{"code":-32602,"message":"quota","data":{"left":0}}`)
	e := fault.From(err)
	if e == nil || e.Kind != fault.Tool || e.Message != "quota" || fmt.Sprint(e.Details["code"]) != "-32602" || fmt.Sprintf("%s", e.Details["data"]) != `{"left":0}` {
		t.Errorf("JSON-RPC error: %v %v", err, e)
	}

	_, err = call(t, g, "s", "error", `{"code":-32042,"message":"sign in","data":{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://example.com/a?b=c","message":"Sign in to X"}]}}`)
	e = fault.From(err)
	if e == nil || e.Kind != fault.Tool || e.Message != "sign in" || !strings.Contains(e.Hint, "Sign in to X\n    to be opened in a browser: https://example.com/a?b=c") {
		t.Errorf("an error that names a page to open: %v hint %q", err, e.Hint)
	}

	_, err = call(t, g, "s", "error", `{"code":-32602,"text":"x"}`)
	e = fault.From(err)
	if found, ok := e.Details["diagnostics"].([]string); !ok || len(found) != 1 || !strings.Contains(found[0], "message") || !strings.Contains(e.Hint, found[0]) {
		t.Errorf("rejected arguments: %v hint %q, want the missing argument named", e, e.Hint)
	}

	_, err = call(t, g, "s", "crash", `{"code":7,"stderr":["boiler pressure"]}`)
	e = fault.From(err)
	if e == nil || e.Kind != fault.Unavailable || !strings.Contains(e.Message, "code 7") || e.Details["mayHaveRun"] != true {
		t.Errorf("crash: %v %v", err, e)
	}
}

func TestCatalogSparesAServerItsStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	servers := func() []*config.Server { return []*config.Server{entry("s", mcptest.Script{Instructions: "be kind"})} }
	first := open(t, dir, servers())
	out, err := first.Namespaces(t.Context(), api.NamespacesInput{})
	if err != nil || len(out.Namespaces) != 1 || len(out.Namespaces[0].Tools) == 0 || out.Namespaces[0].Instructions != "be kind" {
		t.Fatalf("first listing: %+v, %v", out, err)
	}
	if len(first.pool.Running()) != 1 {
		t.Error("the first listing did not ask the server")
	}
	second := open(t, dir, servers())
	again, err := second.Namespaces(t.Context(), api.NamespacesInput{})
	if err != nil || len(again.Namespaces[0].Tools) != len(out.Namespaces[0].Tools) {
		t.Fatalf("second listing: %+v, %v", again, err)
	}
	if got := second.pool.Running(); len(got) != 0 {
		t.Errorf("the second listing started %v", got)
	}
	if _, err := second.Namespaces(t.Context(), api.NamespacesInput{Refresh: true}); err != nil || len(second.pool.Running()) != 1 {
		t.Errorf("a refresh did not ask the server: %v", err)
	}
}

func TestOneServerIsListedAlone(t *testing.T) {
	t.Parallel()
	g := open(t, t.TempDir(), []*config.Server{entry("my server", mcptest.Script{}), entry("other", mcptest.Script{})})
	out, err := g.Namespaces(t.Context(), api.NamespacesInput{Namespace: "my_server"})
	if err != nil || len(out.Namespaces) != 1 || out.Namespaces[0].Name != "my server" || out.Namespaces[0].Alias != "my_server" {
		t.Fatalf("%+v, %v", out, err)
	}
	if n := len(g.pool.Running()); n != 1 {
		t.Errorf("%d servers were started, want 1", n)
	}
	if _, err := g.Namespaces(t.Context(), api.NamespacesInput{Namespace: "others"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown one: %v", err)
	}
}

func TestOneBadServerDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	unset := entry("unset", mcptest.Script{})
	unset.Args = []string{"${NO_SUCH_VARIABLE}"}
	bad := entry("bad", mcptest.Script{})
	bad.Problem = fault.Unavailablef("server bad has no command")
	g := open(t, t.TempDir(), []*config.Server{bad, entry("dead", mcptest.Script{Exit: 1}), entry("good", mcptest.Script{}), unset})
	out, err := g.Namespaces(t.Context(), api.NamespacesInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range out.Namespaces {
		if good := ns.Name == "good"; good != (ns.Error == nil) {
			t.Errorf("%s: error %v", ns.Name, ns.Error)
		}
	}
	if _, err := call(t, g, "good", "echo", `{"message":"x"}`); err != nil {
		t.Errorf("good: %v", err)
	}
	for _, name := range []string{"bad", "dead", "unset"} {
		if _, err := call(t, g, name, "echo", `{}`); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want unavailable naming it", name, err)
		}
	}
	if _, err := call(t, g, "unset", "echo", `{}`); !strings.Contains(err.Error(), "NO_SUCH_VARIABLE") {
		t.Errorf("unset: %v, want the variable named", err)
	}
}

func TestSilenceEndsACallAndProgressDoesNot(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{}, "pool-call-timeout", "400ms")
	begin := time.Now()
	_, err := call(t, g, "s", "stall", `{}`)
	e := fault.From(err)
	if e == nil || e.Kind != fault.Timeout || !strings.Contains(e.Message, "pool.callTimeout") || e.Details["mayHaveRun"] != true {
		t.Errorf("stall: %v, want a timeout naming pool.callTimeout", err)
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("stall took %s", took)
	}
	if _, err := call(t, g, "s", "progress", `{"count":8,"ms":100}`); err != nil {
		t.Errorf("a call that reports progress for longer than the timeout: %v", err)
	}
}

func TestLongestCall(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{}, "pool-call-max", "300ms")
	_, err := call(t, g, "s", "progress", `{"count":100,"ms":50}`)
	if e := fault.From(err); e == nil || e.Kind != fault.Timeout || !strings.Contains(e.Message, "pool.callMax") {
		t.Errorf("got %v, want a timeout naming pool.callMax", err)
	}
}

func TestCancelledCallReturnsAtOnce(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{})
	if _, err := call(t, g, "s", "echo", `{"message":"up"}`); err != nil {
		t.Fatal(err)
	}
	why := fault.Deniedf("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	_, err := g.Call(ctx, api.CallInput{Server: "s", Tool: "stall"})
	if err == nil || fault.KindOf(err) != fault.Denied {
		t.Errorf("got %v, want the cause of the cancellation", err)
	}
}

func TestServerThatListsNothingIsCalledAllTheSame(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{Tools: tools(`null`, `"text"`, `{"description":"no name"}`)})
	if _, err := call(t, g, "s", "echo", `{"message":"x"}`); err != nil {
		t.Errorf("got %v: only the server can say that it has no such tool", err)
	}
}

func TestTypesAndSearch(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{Tools: tools(
		`{"name":"create-issue","description":"Opens a ticket","inputSchema":{"type":"object","required":["title"],"properties":{"title":{"type":"string"}}}}`,
		`{"name":"list_files","description":"Lists a directory"}`)})
	types, err := g.Types(t.Context(), api.TypesInput{Name: "s.create_issue"})
	if err != nil || !strings.Contains(types.Declarations, "title: string") || strings.Contains(types.Declarations, "list_files") {
		t.Errorf("types of one tool: %+v, %v", types, err)
	}
	if _, err := g.Types(t.Context(), api.TypesInput{Name: "s.nope"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("types of an unknown tool: %v", err)
	}
	if _, err := g.Types(t.Context(), api.TypesInput{Name: "nope"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("types of an unknown server: %v", err)
	}
	found, err := g.Search(t.Context(), api.SearchInput{Words: "create issue"})
	if err != nil || len(found.Results) == 0 || found.Results[0].Name != "create-issue" || !strings.Contains(found.Results[0].Signature, "title") {
		t.Errorf("search: %+v, %v", found, err)
	}
	all, err := g.Tools(t.Context(), api.ToolsInput{Namespace: "s"})
	if err != nil || len(all.Tools) != 2 || len(all.Tools[0].Aliases) == 0 {
		t.Errorf("tools: %+v, %v", all, err)
	}
}

func TestDoctorNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	g := open(t, t.TempDir(), []*config.Server{entry("dead", mcptest.Script{Exit: 4}), entry("noisy", mcptest.Script{Noise: []string{"hello from me"}})})
	out, err := g.Doctor(t.Context(), api.DoctorInput{})
	if err != nil || out.Healthy {
		t.Fatalf("doctor: %+v, %v, want an unhealthy report", out, err)
	}
	text := fmt.Sprintf("%+v", out.Findings)
	for _, want := range []string{"server dead State:failed", "code 4", "server noisy State:ok", "skipped"} {
		if !strings.Contains(text, want) {
			t.Errorf("findings lack %q: %s", want, text)
		}
	}
}

func TestBrokenConfigurationStopsWhatNeedsServers(t *testing.T) {
	t.Parallel()
	broken := fault.Usagef("/c.json:4:2: a comma is missing")
	g := gateway.New(gateway.Options{
		Config:   &config.Config{Files: []config.File{{Path: "/c.json", State: config.Broken, Err: broken}}, Servers: []*config.Server{entry("s", mcptest.Script{})}},
		Settings: &settings.Set{}, Pool: pool.New(pool.Options{Settings: &settings.Set{}}), Catalog: catalog.Open(t.TempDir()),
	})
	defer g.Close()
	if _, err := call(t, g, "s", "echo", `{}`); fault.KindOf(err) != fault.Usage || err.Error() != broken.Error() {
		t.Errorf("call: %v, want %v", err, broken)
	}
	if _, err := g.Namespaces(t.Context(), api.NamespacesInput{}); fault.KindOf(err) != fault.Usage {
		t.Errorf("ls: %v", err)
	}
	shown, err := g.Config(t.Context(), api.ConfigInput{})
	if err != nil || len(shown.Files) != 1 || shown.Files[0].Error == nil {
		t.Errorf("config: %+v, %v, want the file with its error", shown, err)
	}
	out, err := g.Doctor(t.Context(), api.DoctorInput{})
	if err != nil || out.Healthy || !strings.Contains(fmt.Sprintf("%+v", out.Findings), "a comma is missing") {
		t.Errorf("doctor: %+v, %v, want the file named and the servers tried", out, err)
	}
}

// What the configuration warns of is said with the failure that it may explain.
func TestWarningsAreSaidWithTheFailure(t *testing.T) {
	t.Parallel()
	const twice, misspelled = `/c.json:4: the key "s" is written a second time`, `/c.json:1: the key "mcpservers" is not read`
	dead, alive := entry("dead", mcptest.Script{Exit: 1}), entry("alive", mcptest.Script{})
	dead.Warnings, alive.Warnings = []string{twice}, []string{twice}
	p := func() *pool.Pool { return pool.New(pool.Options{Settings: &settings.Set{}, Environ: os.Environ()}) }
	var writes settings.Set
	if err := writes.ApplyFlag("policy-write", "allow"); err != nil {
		t.Fatal(err)
	}
	full := gateway.New(gateway.Options{
		Config: &config.Config{Servers: []*config.Server{alive, dead}}, Settings: &writes, Pool: p(), Catalog: catalog.Open(t.TempDir()),
	})
	defer full.Close()
	empty := gateway.New(gateway.Options{
		Config: &config.Config{Unread: []string{misspelled}}, Settings: &settings.Set{}, Pool: p(), Catalog: catalog.Open(t.TempDir()),
	})
	defer empty.Close()
	carried := gateway.New(gateway.Options{
		Config: &config.Config{Unread: []string{misspelled}}, Carried: true, Settings: &settings.Set{}, Pool: p(), Catalog: catalog.Open(t.TempDir()),
	})
	defer carried.Close()
	tests := []struct {
		name, server, tool, hint string
		g                        *gateway.Gateway
	}{
		{"no server at all", "s", "a", "no server is configured; mcpx config shows where entries are looked for\n" + misspelled, empty},
		{"no server in a built program", "s", "a", "no server is configured here; build the program with mcpx build --config FILE, and it carries the configuration\n" + misspelled, carried},
		{"one that does not start", "dead", "echo", "\n" + twice, full},
		{"one without the tool", "alive", "ecko", "did you mean echo?\n" + twice, full},
		{"one that dies", "alive", "crash", "the next call starts the server again\n" + twice, full},
	}
	for _, tt := range tests {
		_, err := call(t, tt.g, tt.server, tt.tool, `{}`)
		e := fault.From(err)
		if e == nil || !strings.HasSuffix(e.Hint, tt.hint) || strings.Count(e.Hint, "/c.json") != 1 {
			t.Errorf("%s: %v, hint %q; want it to end with %q", tt.name, err, e.Hint, tt.hint)
		}
	}
	if _, err := call(t, full, "alive", "error", `{"message":"quota"}`); strings.Contains(fault.From(err).Hint, twice) {
		t.Errorf("an answer of the tool: hint %q", fault.From(err).Hint)
	}
}

func TestDoctorNamesABrokenFileOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  *fault.Error
		want string
	}{
		{"a place in it", fault.Usagef("/c.json:4:2: a comma is missing\n    x\n    ^").With("line", 4).With("column", 2), "line 4, column 2: a comma is missing\n    x\n    ^"},
		{"all of it", fault.Usagef("the configuration file /c.json cannot be read: it is a directory"), "cannot be read: it is a directory"},
	}
	for _, tt := range tests {
		g := gateway.New(gateway.Options{
			Config:   &config.Config{Files: []config.File{{Path: "/c.json", State: config.Broken, Err: tt.err}}},
			Settings: &settings.Set{}, Pool: pool.New(pool.Options{Settings: &settings.Set{}}), Catalog: catalog.Open(t.TempDir()),
		})
		defer g.Close()
		out, err := g.Doctor(t.Context(), api.DoctorInput{})
		if err != nil || len(out.Findings) != 1 || out.Findings[0].Subject != "config /c.json" || out.Findings[0].Message != tt.want {
			t.Errorf("%s: %+v, %v; want %q", tt.name, out, err, tt.want)
		}
	}
}

// BenchmarkCall is one tool call to a server process over stdio, the catalog known.
func BenchmarkCall(b *testing.B) {
	cmd := entry("s", mcptest.Script{})
	set := &settings.Set{}
	if err := set.ApplyFlag("policy-write", "allow"); err != nil {
		b.Fatal(err)
	}
	g := gateway.New(gateway.Options{
		Config:   &config.Config{Servers: []*config.Server{cmd}},
		Env:      config.Env{Dir: b.TempDir()},
		Settings: set,
		Pool:     pool.New(pool.Options{Settings: set, Environ: os.Environ()}),
		Catalog:  catalog.Open(b.TempDir()),
	})
	defer g.Close()
	in := api.CallInput{Server: "s", Tool: "echo", Arguments: json.RawMessage(`{"message":"hello"}`)}
	if _, err := g.Call(b.Context(), in); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Call(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

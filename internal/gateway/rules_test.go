package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/catalog"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/gateway"
	"mcpx/internal/rule"
	"mcpx/internal/schema"
	"mcpx/internal/settings"
	"mcpx/mcp/mcptest"
	"mcpx/pool"
)

// owner answers for the user, and remembers what they were asked.
type owner struct {
	mu     sync.Mutex
	answer bool
	err    error
	asked  []api.ConsentQuestion
}

func (p *owner) Consent(_ context.Context, q api.ConsentQuestion) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
	return p.answer, p.err
}

// ruled is a server of three tools, one for each thing that a tool may do, with rules.
func ruled(t *testing.T, rules *rule.Rules) *config.Server {
	t.Helper()
	const input = `"inputSchema":{"type":"object","properties":{"message":{"type":"string"},"n":{"type":"integer"}}}`
	s := entry("s", mcptest.Script{Tools: tools(
		`{"name":"echo","annotations":{"readOnlyHint":true},`+input+`}`,
		`{"name":"pid","annotations":{"readOnlyHint":false,"destructiveHint":false},`+input+`}`,
		`{"name":"received","description":"silent about what it does",`+input+`}`,
		`{"name":"delete-all","annotations":{"readOnlyHint":true,"destructiveHint":true},`+input+`}`,
	)})
	s.Rules = rules
	return s
}

func filters(t *testing.T, words ...string) []rule.Filter {
	t.Helper()
	out := []rule.Filter{}
	for _, w := range words {
		p, err := rule.Parse(w)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rule.Filter{Pattern: p, From: rule.Origin{File: "/c.json", Line: 7, Server: "s", Key: "mcpx.excludeTools"}})
	}
	return out
}

func argumentRules(t *testing.T, pattern, text string) *rule.Rules {
	t.Helper()
	p, err := rule.Parse(pattern)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.CompileRule(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	from := rule.Origin{File: "/c.json", Line: 9, Server: "s", Key: `mcpx.argumentRules["` + pattern + `"]`}
	return &rule.Rules{Own: &rule.Block{Arguments: []rule.Arguments{{Pattern: p, Schema: s, From: from}}}}
}

// governed makes a gateway over servers, without a write policy of its own.
func governed(t *testing.T, dir string, servers []*config.Server, flags ...string) *gateway.Gateway {
	t.Helper()
	set := &settings.Set{}
	for i := 0; i < len(flags); i += 2 {
		if err := set.ApplyFlag(flags[i], flags[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	g := gateway.New(gateway.Options{
		Config: &config.Config{Servers: servers}, Env: config.Env{Lookup: func(string) (string, bool) { return "", false }, Dir: dir},
		Settings: set, Pool: pool.New(pool.Options{Settings: set, Environ: os.Environ()}), Catalog: catalog.Open(dir),
	})
	t.Cleanup(g.Close)
	return g
}

func TestTheWritePolicyDecidesOnCallsThatMayWrite(t *testing.T) {
	t.Parallel()
	own := func(p rule.Policy, guest bool) *rule.Rules {
		return &rule.Rules{Own: &rule.Block{Guest: guest, Write: p, WriteFrom: rule.Origin{File: "/c.json", Line: 5, Server: "s", Key: "mcpx.writePolicy"}}}
	}
	yes, no, gone := func() *owner { return &owner{answer: true} }, func() *owner { return &owner{} }, func() *owner { return &owner{err: errors.New("the line is dead")} }
	tests := []struct {
		name  string
		tool  string
		flags []string
		rules *rule.Rules
		who   *owner
		asked int
		want  string // of the denial; empty if the call is made
		hint  string
	}{
		{name: "a tool that reads", tool: "echo", who: no()},
		{name: "a tool that reads, where nothing may write", tool: "echo", flags: []string{"policy-write", "deny"}},
		{name: "nobody can be asked", tool: "pid", want: "s.pid may change something, policy.write is ask, and nobody can be asked", hint: `--policy-write=allow for this run, with "mcpx servers trust s" for this server`},
		{name: "a tool that does not say what it does", tool: "received", want: "s.received may change something", hint: "--policy-write=allow"},
		{name: "yes", tool: "pid", who: yes(), asked: 1},
		{name: "no", tool: "pid", who: no(), asked: 1, want: "s.pid was not allowed: the answer was no"},
		{name: "the person is gone", tool: "pid", who: gone(), asked: 1, want: "nobody can be asked: the line is dead", hint: "--policy-write=allow"},
		{name: "denied", tool: "pid", flags: []string{"policy-write", "deny"}, who: yes(), want: "s.pid may change something, and policy.write is deny", hint: "leave it out"},
		{name: "allowed", tool: "received", flags: []string{"policy-write", "allow"}, who: no()},
		{name: "allowed for the server", tool: "pid", rules: own(rule.Allow, false), who: no()},
		{
			name: "denied for the server", tool: "pid", flags: []string{"policy-write", "allow"}, rules: own(rule.Deny, false), who: yes(),
			want: `and /c.json:5: server "s": mcpx.writePolicy is deny`, hint: `"mcpx servers trust s" has that say allow`,
		},
		{name: "a project's file loosens nothing", tool: "pid", rules: own(rule.Allow, true), who: no(), asked: 1, want: "the answer was no"},
		{name: "a project's file tightens", tool: "pid", flags: []string{"policy-write", "allow"}, rules: own(rule.Deny, true), who: yes(), want: "mcpx.writePolicy is deny"},
		{name: "for this run it is tightened", tool: "pid", flags: []string{"policy-write", "deny"}, rules: own(rule.Allow, false), who: yes(), want: "policy.write is deny"},
		{name: "what destroys, where writing is allowed", tool: "received", flags: []string{"policy-write", "allow", "elicit-confirm-destructive", "true"}, who: yes(), asked: 1},
		{
			name: "what destroys and nobody can be asked", tool: "received", flags: []string{"policy-write", "allow", "elicit-confirm-destructive", "true"},
			want: "elicit.confirmDestructive is true, and nobody can be asked", hint: "at a terminal",
		},
		{name: "what writes and destroys nothing", tool: "pid", flags: []string{"policy-write", "allow", "elicit-confirm-destructive", "true"}, who: no()},
		{name: "what destroys is asked about once", tool: "received", flags: []string{"elicit-confirm-destructive", "true"}, who: yes(), asked: 1},
		{name: "what says that it reads and destroys", tool: "delete-all", flags: []string{"elicit-confirm-destructive", "true"}, who: no(), asked: 1, want: "the answer was no"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := governed(t, t.TempDir(), []*config.Server{ruled(t, tt.rules)}, tt.flags...)
			in := api.CallInput{Server: "s", Tool: tt.tool, Arguments: json.RawMessage(`{"message":"hi"}`)}
			if tt.who != nil {
				in.Consent = tt.who
			}
			_, err := g.Call(t.Context(), in)
			e := fault.From(err)
			switch {
			case tt.want == "" && fault.KindOf(err) == fault.Denied:
				t.Errorf("denied: %v", err)
			case tt.want == "":
			case fault.KindOf(err) != fault.Denied || !strings.Contains(e.Message, tt.want) || !strings.Contains(e.Hint, tt.hint):
				t.Errorf("%v, hint %q; want %q, hint %q", err, e.Hint, tt.want, tt.hint)
			}
			if tt.who != nil && len(tt.who.asked) != tt.asked {
				t.Errorf("asked %d times, want %d", len(tt.who.asked), tt.asked)
			}
			if tt.who != nil && len(tt.who.asked) > 0 {
				q := tt.who.asked[0]
				if q.Server != "s" || q.Tool != tt.tool || string(q.Arguments) != `{"message":"hi"}` || q.Why == "" || q.Destructive != (tt.tool != "pid") {
					t.Errorf("the question is %+v", q)
				}
			}
		})
	}
}

func TestAGrantIsNoWritePolicy(t *testing.T) {
	t.Parallel()
	g := governed(t, t.TempDir(), []*config.Server{ruled(t, nil)})
	for _, words := range []*api.ToolGrant{{Allow: []string{"*"}}, {Allow: []string{"s.pid"}}} {
		if _, err := g.Call(t.Context(), api.CallInput{Server: "s", Tool: "pid", Grant: words}); fault.KindOf(err) != fault.Denied {
			t.Errorf("with the grant %v: %v", words, err)
		}
	}
	allowed := governed(t, t.TempDir(), []*config.Server{ruled(t, nil)}, "policy-write", "allow")
	if _, err := allowed.Call(t.Context(), api.CallInput{Server: "s", Tool: "pid", Grant: &api.ToolGrant{Allow: []string{"s:read"}}}); fault.KindOf(err) != fault.Denied {
		t.Errorf("a policy that allows writing is no grant: %v", err)
	}
}

func TestHiddenToolsAreNowhere(t *testing.T) {
	t.Parallel()
	rules := &rule.Rules{Own: &rule.Block{Exclude: filters(t, "delete-*")}}
	g := governed(t, t.TempDir(), []*config.Server{ruled(t, rules)})
	sees := map[string]func() (any, error){
		"ls":         func() (any, error) { return g.Namespaces(t.Context(), api.NamespacesInput{}) },
		"tools":      func() (any, error) { return g.Tools(t.Context(), api.ToolsInput{}) },
		"tools of s": func() (any, error) { return g.Tools(t.Context(), api.ToolsInput{Namespace: "s", Refresh: true}) },
		"types":      func() (any, error) { return g.Types(t.Context(), api.TypesInput{}) },
		"search":     func() (any, error) { return g.Search(t.Context(), api.SearchInput{Words: "delete all"}) },
		"catalog":    func() (any, error) { return g.Catalog(t.Context(), api.CatalogInput{}) },
		"history":    func() (any, error) { return g.Changes(t.Context(), api.ChangesInput{}) },
	}
	for name, see := range sees {
		out, err := see()
		text, encodeErr := json.Marshal(out)
		if err != nil || encodeErr != nil {
			t.Fatalf("%s: %v, %v", name, err, encodeErr)
		}
		if strings.Contains(string(text), "delete") {
			t.Errorf("%s shows a hidden tool: %s", name, text)
		}
		if name != "search" && name != "history" && !strings.Contains(string(text), "echo") {
			t.Errorf("%s shows nothing at all: %s", name, text)
		}
	}
	for _, name := range []string{"delete-all", "delete_all", "deleteAll"} {
		_, err := g.Call(t.Context(), api.CallInput{Server: "s", Tool: name})
		if fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), `s.delete-all is hidden by /c.json:7: server "s": mcpx.excludeTools "delete-*"`) {
			t.Errorf("a call of %s: %v", name, err)
		}
	}
	if _, err := g.Types(t.Context(), api.TypesInput{Name: "s.delete-all"}); fault.KindOf(err) != fault.Denied {
		t.Errorf("its declaration: %v", err)
	}
	if _, err := g.Changes(t.Context(), api.ChangesInput{Name: "s.delete-all"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("its history: %v", err)
	}
	if _, err := g.Call(t.Context(), api.CallInput{Server: "s", Tool: "dele"}); fault.KindOf(err) != fault.NotFound || strings.Contains(fault.From(err).Hint, "delete") {
		t.Errorf("a name near it: %v, %s", err, fault.From(err).Hint)
	}
	if _, err := call(t, g, "s", "echo", `{"message":"hi"}`); err != nil {
		t.Errorf("another tool: %v", err)
	}
	// Outside its grant a script is not told that there is such a tool, or a rule.
	_, err := g.Call(t.Context(), api.CallInput{Server: "s", Tool: "delete-all", Grant: &api.ToolGrant{Allow: []string{"s.echo"}}})
	if e := fault.From(err); e.Kind != fault.Denied || strings.Contains(e.Message, "hidden") {
		t.Errorf("outside a grant: %v", err)
	}
}

func TestAliasesDoNotLeadToHiddenTools(t *testing.T) {
	t.Parallel()
	s := entry("s", mcptest.Script{Tools: tools(
		`{"name":"get-thing","annotations":{"readOnlyHint":true}}`, `{"name":"get_thing","annotations":{"readOnlyHint":true}}`,
	)})
	s.Rules = &rule.Rules{Own: &rule.Block{Exclude: filters(t, "get_thing")}}
	g := governed(t, t.TempDir(), []*config.Server{s})
	if _, err := call(t, g, "s", "get_thing", `{}`); fault.KindOf(err) != fault.Denied {
		t.Errorf("the hidden tool by its own name: %v", err)
	}
	if _, err := call(t, g, "s", "get-thing", `{}`); fault.KindOf(err) == fault.Denied {
		t.Errorf("the other one: %v", err)
	}
}

func TestAServerThatListsNothingHidesNothing(t *testing.T) {
	t.Parallel()
	s := entry("s", mcptest.Script{Tools: tools(`{}`)})
	s.Rules = &rule.Rules{Own: &rule.Block{Exclude: filters(t, "pid"), Arguments: argumentRules(t, "echo", `{"required":["message"]}`).Own.Arguments}}
	g := governed(t, t.TempDir(), []*config.Server{s}, "policy-write", "allow")
	for range 2 { // before and after it was asked for its tools
		if _, err := call(t, g, "s", "echo", `{"message":"hi"}`); err != nil {
			t.Errorf("a tool that it does not list: %v", err)
		}
		if _, err := call(t, g, "s", "pid", `{}`); fault.KindOf(err) != fault.Denied {
			t.Errorf("a hidden tool that it does not list: %v", err)
		}
		if _, err := call(t, g, "s", "echo", `{}`); fault.KindOf(err) != fault.Denied {
			t.Errorf("a call that a rule refuses: %v", err)
		}
	}
}

func TestArgumentRulesDecideOnWhatIsSent(t *testing.T) {
	t.Parallel()
	const text = `{"properties":{"n":{"type":"integer","maximum":3},"message":{"not":{"pattern":"secret"}}}}`
	tests := []struct{ name, args, want string }{
		{"fits", `{"message":"hi","n":3}`, ""},
		{"too large", `{"message":"hi","n":4}`, `s.echo: argument "n": 4 is more than the maximum 3`},
		{"after it was converted", `{"message":"hi","n":"4"}`, `s.echo: argument "n": 4 is more than the maximum 3`},
		{"what fits after it was converted", `{"message":"hi","n":"2"}`, ""},
		{"twice", `{"message":"hi","n":4,"n":1}`, `s.echo: argument "n" is given twice`},
		{"excluded", `{"message":"a secret"}`, `s.echo: argument "message": "a secret" is what the rule excludes`},
	}
	for _, known := range []bool{false, true} {
		dir := t.TempDir()
		if known {
			g := governed(t, dir, []*config.Server{ruled(t, nil)})
			if _, err := g.Tools(t.Context(), api.ToolsInput{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, tt := range tests {
			where := t.TempDir()
			if known {
				where = dir
			}
			g := governed(t, where, []*config.Server{ruled(t, argumentRules(t, "e*", text))})
			_, err := call(t, g, "s", "echo", tt.args)
			switch e := fault.From(err); {
			case tt.want == "" && err != nil:
				t.Errorf("%s (known %v): %v", tt.name, known, err)
			case tt.want == "":
			case fault.KindOf(err) != fault.Denied || !strings.HasPrefix(e.Message, tt.want) || e.Hint != `the rule is in /c.json:9: server "s": mcpx.argumentRules["e*"]`:
				t.Errorf("%s (known %v): %v, hint %q; want %s", tt.name, known, err, e.Hint, tt.want)
			}
			if _, err := call(t, g, "s", "delete-all", tt.args); fault.KindOf(err) == fault.Denied {
				t.Errorf("%s: a tool that the rule does not mean: %v", tt.name, err)
			}
		}
	}
}

func TestRulesRefuseBeforeTheServerIsStarted(t *testing.T) {
	t.Parallel()
	s := entry("s", mcptest.Script{})
	s.Command = filepath.Join(t.TempDir(), "there-is-no-such-program")
	s.Rules = argumentRules(t, "echo", `{"required":["message"]}`)
	s.Rules.Own.Exclude = filters(t, "crash")
	g := governed(t, t.TempDir(), []*config.Server{s})
	for _, tool := range []string{"echo", "crash"} {
		if _, err := call(t, g, "s", tool, `{}`); fault.KindOf(err) != fault.Denied {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if _, err := call(t, g, "s", "echo", `{"message":"hi"}`); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("what the rules let through starts the server: %v", err)
	}
}

func TestTightenedSchemasAreShown(t *testing.T) {
	t.Parallel()
	rules := argumentRules(t, "echo", `{"properties":{"message":{"enum":["a","b"]}},"required":["message"]}`)
	rules.Own.Exclude = filters(t, "misspelled")
	g := governed(t, t.TempDir(), []*config.Server{ruled(t, rules)})
	out, err := g.Tools(t.Context(), api.ToolsInput{Namespace: "s"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `"allOf":[{"properties":{"message":{"enum":["a","b"]}},"required":["message"]}]}`
	for _, tool := range out.Tools {
		tight := strings.HasSuffix(string(tool.InputSchema), want) && strings.Contains(string(tool.Definition), want)
		if tight != (tool.Name == "echo") {
			t.Errorf("the schema of %s is %s, its definition %s", tool.Name, tool.InputSchema, tool.Definition)
		}
	}
	types, err := g.Types(t.Context(), api.TypesInput{Name: "s.echo"})
	if err != nil || !strings.Contains(types.Declarations, `message: "a" | "b"`) {
		t.Errorf("the declaration is %v\n%s", err, types.Declarations)
	}
	const unmatched = `/c.json:7: server "s": mcpx.excludeTools: "misspelled" matches no tool`
	spaces, err := g.Namespaces(t.Context(), api.NamespacesInput{})
	if err != nil || !slices.Contains(spaces.Namespaces[0].Warnings, unmatched) {
		t.Errorf("warnings of a listing: %v, %v", spaces.Namespaces[0].Warnings, err)
	}
	if notices := g.RuleNotices(); !slices.Equal(notices, []string{unmatched}) {
		t.Errorf("notices: %q", notices)
	}
}

func TestAToolThatChangedIsWarnedOfOrRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	with := func(description string, flags ...string) *gateway.Gateway {
		s := entry("s", mcptest.Script{Tools: tools(`{"name":"echo","description":"` + description + `","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}`)})
		return governed(t, dir, []*config.Server{s}, flags...)
	}
	list := func(g *gateway.Gateway) {
		t.Helper()
		if _, err := g.Tools(t.Context(), api.ToolsInput{Refresh: true}); err != nil {
			t.Fatal(err)
		}
	}
	first := with("as it was")
	list(first)
	if out, err := call(t, first, "s", "echo", `{"message":"hi"}`); err != nil || out.Warnings != nil {
		t.Errorf("a tool that did not change: %v, %+v", err, out)
	}
	changed := with("as it is")
	list(changed)
	out, err := call(t, changed, "s", "echo", `{"message":"hi"}`)
	if err != nil || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], `s.echo has changed since it was first seen: "mcpx history s.echo" shows how, "mcpx history accept s.echo" accepts it`) {
		t.Errorf("a tool that changed: %v, %+v", err, out)
	}
	if out, err := call(t, with("as it is", "policy-tool-change", "allow"), "s", "echo", `{"message":"hi"}`); err != nil || out.Warnings != nil {
		t.Errorf("where that is allowed: %v, %+v", err, out)
	}
	strict := with("as it is", "policy-tool-change", "refuse")
	_, err = call(t, strict, "s", "echo", `{"message":"hi"}`)
	if fault.KindOf(err) != fault.Denied || !strings.Contains(fault.From(err).Hint, `"mcpx history accept s.echo"`) {
		t.Errorf("where it is refused: %v, hint %q", err, fault.From(err).Hint)
	}
	history, err := strict.Changes(t.Context(), api.ChangesInput{Name: "s.echo"})
	if err != nil || !slices.Equal(history.Servers[0].Pending, []string{"echo"}) || len(history.Servers[0].Changes) != 1 {
		t.Errorf("its history: %+v, %v", history, err)
	}
	accepted, err := strict.Accept(t.Context(), api.AcceptInput{Name: "s.echo"})
	if err != nil || !slices.Equal(accepted.Accepted, []string{"s.echo"}) {
		t.Errorf("Accept = %+v, %v", accepted, err)
	}
	if _, err := call(t, strict, "s", "echo", `{"message":"hi"}`); err != nil {
		t.Errorf("after it was accepted: %v", err)
	}
	for name, kind := range map[string]fault.Kind{"": fault.Usage, "nobody": fault.NotFound, "s.nobody": fault.NotFound} {
		if _, err := strict.Accept(t.Context(), api.AcceptInput{Name: name}); fault.KindOf(err) != kind {
			t.Errorf("Accept(%q): %v", name, err)
		}
	}
}

// TestAnOldCatalogStillConfirms checks that what an older version wrote, without what is
// read today, lets nothing through that has to be asked about.
func TestAnOldCatalogStillConfirms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := governed(t, dir, []*config.Server{ruled(t, nil)})
	if _, err := g.Tools(t.Context(), api.ToolsInput{}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, old := range map[string]string{
		"of an older format":  strings.Replace(string(text), `"format":1`, `"format":0`, 1),
		"without annotations": strings.ReplaceAll(strings.ReplaceAll(string(text), `"annotations":`, `"was":`), `"readOnlyHint":true,`, ""),
	} {
		if old == string(text) {
			t.Fatalf("%s: nothing to change in %s", name, text)
		}
		if err := os.WriteFile(files[0], []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		again := governed(t, dir, []*config.Server{ruled(t, nil)}, "policy-write", "allow", "elicit-confirm-destructive", "true")
		for _, tool := range []string{"received", "delete-all"} {
			if _, err := call(t, again, "s", tool, `{}`); fault.KindOf(err) != fault.Denied {
				t.Errorf("%s: %s: %v", name, tool, err)
			}
		}
	}
}

// TestACallThatGoesOnIsAskedAboutOnce checks that the call which brings a server what it
// asked for is the one that was allowed, and that nothing else passes for it.
func TestACallThatGoesOnIsAskedAboutOnce(t *testing.T) {
	t.Parallel()
	g := governed(t, t.TempDir(), []*config.Server{entry("s", mcptest.Script{Discover: mcptest.DiscoverModern})})
	who := &owner{answer: true}
	in := api.CallInput{Server: "s", Tool: "need", Arguments: json.RawMessage(need + "}"), Peer: &person{unfinished: true}, Consent: who}
	out, err := g.Call(t.Context(), in)
	if err != nil || !strings.Contains(string(out.Result), "input_required") || len(who.asked) != 1 {
		t.Fatalf("%v, %+v, asked %d times", err, out, len(who.asked))
	}
	var unfinished struct{ RequestState json.RawMessage }
	if err := json.Unmarshal(out.Result, &unfinished); err != nil {
		t.Fatal(err)
	}
	goesOn := in
	goesOn.RequestState = unfinished.RequestState
	goesOn.InputResponses = json.RawMessage(`{"a":{"action":"accept","content":{}},"b":{"roots":[]}}`)
	forged := goesOn
	forged.Arguments = json.RawMessage(strings.Replace(need+"}", "Which branch?", "Which other?", 1))
	invented := in
	invented.RequestState = json.RawMessage(`"mine"`)
	for i, other := range []api.CallInput{forged, invented} {
		_, _ = g.Call(t.Context(), other) // what the server makes of it is its own business
		if len(who.asked) != 2+i {
			t.Errorf("call %d passes for another one: asked %d times", i, len(who.asked))
		}
	}
	asked := len(who.asked)
	if _, err := g.Call(t.Context(), goesOn); err != nil || len(who.asked) != asked {
		t.Errorf("the call that goes on: %v, asked %d times more", err, len(who.asked)-asked)
	}
	if _, _ = g.Call(t.Context(), goesOn); len(who.asked) != asked+1 {
		t.Error("what was allowed once can be used twice")
	}
}

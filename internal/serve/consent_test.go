package serve

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/catalog"
	"mcpx/internal/config"
	"mcpx/internal/gateway"
	"mcpx/internal/rule"
	"mcpx/internal/schema"
	"mcpx/internal/settings"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
	"mcpx/pool"
)

// user is a client whose user answers what is asked.
type user struct {
	caller
	answer string

	mu    sync.Mutex
	asked []string
}

func (u *user) Capabilities() mcp.Raw { return mcp.Raw(`{"elicitation":{}}`) }

func (u *user) Request(_ context.Context, method string, params mcp.Raw) (mcp.Raw, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, method+" "+string(params))
	return mcp.Raw(u.answer), nil
}

// governed makes a gateway with the default policy over a server that has rules: of its
// tools echo only reads, pid and received may write, crash is hidden, and the message of
// echo is bounded.
func governed(t *testing.T) *gateway.Gateway {
	t.Helper()
	s := entry("s", mcptest.Script{Tools: raws(
		`{"name":"echo","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}`,
		`{"name":"pid","annotations":{"destructiveHint":false}}`, `{"name":"received"}`, `{"name":"crash"}`,
	)})
	parse := func(text string) *rule.Pattern {
		p, err := rule.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	bound, err := schema.CompileRule(json.RawMessage(`{"properties":{"message":{"maxLength":5}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s.Rules = &rule.Rules{Own: &rule.Block{
		Exclude:   []rule.Filter{{Pattern: parse("crash"), From: rule.Origin{File: "/c.json", Line: 3, Server: "s", Key: "mcpx.excludeTools"}}},
		Arguments: []rule.Arguments{{Pattern: parse("echo"), Schema: bound, From: rule.Origin{File: "/c.json", Line: 4, Server: "s", Key: "mcpx.argumentRules"}}},
	}}
	set, dir := &settings.Set{}, t.TempDir()
	g := gateway.New(gateway.Options{
		Config:   &config.Config{Servers: []*config.Server{s}},
		Env:      config.Env{Lookup: func(string) (string, bool) { return "", false }, Dir: dir},
		Settings: set, Pool: pool.New(pool.Options{Settings: set, Environ: os.Environ()}), Catalog: catalog.Open(dir),
	})
	t.Cleanup(g.Close)
	return g
}

// surfaces are the ways in which a client calls echo, pid and crash of the server s.
var surfaces = []struct {
	mode string
	call func(tool, args string) string // params of tools/call
}{
	{Code, func(tool, args string) string {
		return `{"name":"mcpx_call","arguments":{"server":"s","tool":"` + tool + `","arguments":` + args + `}}`
	}},
	{Full, func(tool, args string) string { return `{"name":"s__` + tool + `","arguments":` + args + `}` }},
	{Passthrough, func(tool, args string) string { return `{"name":"` + tool + `","arguments":` + args + `}` }},
}

func TestRulesHoldForClients(t *testing.T) {
	t.Parallel()
	for _, surface := range surfaces {
		t.Run(surface.mode, func(t *testing.T) {
			t.Parallel()
			h := offer(t, Options{Mode: surface.mode, Gateway: governed(t)})
			if list := must(t, h, legacy, "tools/list", ""); strings.Contains(list, "crash") {
				t.Errorf("a hidden tool is offered: %s", list)
			} else if surface.mode != Code && !strings.Contains(list, `"allOf":[{"properties":{"message":{"maxLength":5}}}]`) {
				t.Errorf("the schema does not say what the rule wants: %s", list)
			}
			if got := must(t, h, legacy, "tools/call", surface.call("echo", `{"message":"short"}`)); !strings.Contains(got, "short") || strings.Contains(got, `"isError":true`) {
				t.Errorf("what is allowed: %s", got)
			}
			refused := map[string]string{ // by the call
				surface.call("echo", `{"message":"too long"}`): `has 8 characters, more than maxLength 5`,
				surface.call("pid", `{}`):                      `s.pid may change something, policy.write is ask, and nobody can be asked`,
			}
			if surface.mode == Code {
				refused[surface.call("crash", `{}`)] = "is hidden by"
			}
			for call, want := range refused {
				if got := must(t, h, legacy, "tools/call", call); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, want) {
					t.Errorf("%s: %s, want a result with isError that says %s", call, got, want)
				}
			}
			if surface.mode != Code {
				if got, err := ask(t, h, legacy, "tools/call", surface.call("crash", `{}`)); err == nil && !strings.Contains(got, `"isError":true`) {
					t.Errorf("a hidden tool: %s", got)
				}
			}
		})
	}
}

func TestClientsAreAskedForConsent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer, want string
	}{
		{"yes", `{"action":"accept","content":{"allow":true}}`, `"content":[`},
		{"no", `{"action":"accept","content":{"allow":false}}`, "s.pid was not allowed: the answer was no"},
		{"nothing", `{"action":"accept","content":{}}`, "the answer was no"},
		{"a word", `{"action":"accept","content":{"allow":"true"}}`, "the answer was no"},
		{"declined", `{"action":"decline"}`, "the answer was no"},
		{"cancelled, with a yes in it", `{"action":"cancel","content":{"allow":true}}`, "the answer was no"},
		{"nonsense", `[]`, "the answer was no"},
	}
	for _, surface := range surfaces {
		for _, tt := range tests {
			u := &user{caller: legacy, answer: tt.answer}
			h := offer(t, Options{Mode: surface.mode, Gateway: governed(t)})
			got := must(t, h, u, "tools/call", surface.call("pid", `{"x":"a\u202eb"}`))
			if !strings.Contains(got, tt.want) || strings.Contains(got, `"isError":true`) != (tt.name != "yes") {
				t.Errorf("%s, %s: %s, want %s", surface.mode, tt.name, got, tt.want)
			}
			if len(u.asked) != 1 {
				t.Errorf("%s, %s: asked %d times: %q", surface.mode, tt.name, len(u.asked), u.asked)
				continue
			}
			var q struct {
				Message         string
				RequestedSchema struct {
					Properties map[string]struct{ Type string }
				}
			}
			if err := json.Unmarshal([]byte(strings.TrimPrefix(u.asked[0], mcp.MethodElicitation+" ")), &q); err != nil {
				t.Fatal(err)
			}
			if q.RequestedSchema.Properties["allow"].Type != "boolean" || !strings.Contains(q.Message, "the tool pid of the server s") || !strings.Contains(q.Message, `{"x":"a`) || strings.Contains(q.Message, "\u202e") {
				t.Errorf("%s: the question is %s", surface.mode, u.asked[0])
			}
		}
	}
}

// TestConsentTravelsInBothEras checks that a client over a wire is asked, whichever era it
// speaks, and that an answer without a yes is none.
func TestConsentTravelsInBothEras(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		w := dial(t, offer(t, Options{Mode: Full, Gateway: governed(t)}), modern, declared)
		m := w.ask("tools/call", `{"name":"s__pid","arguments":{}}`)
		if !strings.Contains(string(m.Result), "the answer was no") {
			t.Errorf("modern %v: %s %v", modern, m.Result, m.Error)
		}
		if asked := w.questions(); len(asked) != 1 || !strings.Contains(asked[0], "the tool pid of the server s") {
			t.Errorf("modern %v: asked %q", modern, asked)
		}
	}
}

func TestScriptsOfAClientAskItsUser(t *testing.T) {
	t.Parallel()
	u := &user{caller: legacy, answer: `{"action":"accept","content":{"allow":true}}`}
	var got bool
	h := offer(t, Options{Mode: Code, Gateway: governed(t), Longest: 1e9, Runner: runs(func(ctx context.Context, _ api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
		var err error
		got, err = s.Consent.Consent(ctx, api.ConsentQuestion{Server: "s", Tool: "pid", Arguments: json.RawMessage(`{}`), Why: "w"})
		return &api.ExecOutput{}, err
	})})
	exec(t, h, u, `{"code":"1"}`)
	if !got || len(u.asked) != 1 {
		t.Errorf("allowed %v, asked %q", got, u.asked)
	}
}

// A question says how much of the arguments it does not show.
func TestAQuestionSaysWhatItDoesNotShow(t *testing.T) {
	t.Parallel()
	u := &user{caller: legacy, answer: `{"action":"accept","content":{"allow":true}}`}
	q := api.ConsentQuestion{Server: "s", Tool: "t", Arguments: json.RawMessage(`{"a":"` + strings.Repeat("x", 5000) + `","path":"/etc"}`)}
	if allowed, err := (consent{peer{c: u}}).Consent(t.Context(), q); err != nil || !allowed {
		t.Fatalf("Consent = %v, %v", allowed, err)
	}
	if got := strings.Join(u.asked, ""); !strings.Contains(got, "5022 bytes in all") || strings.Contains(got, "/etc") {
		t.Errorf("the question is %.100s… %s", got, got[max(0, len(got)-300):])
	}
}

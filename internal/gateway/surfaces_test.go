package gateway_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/gateway"
	"mcpx/internal/rule"
	"mcpx/mcp/mcptest"
)

// host has a gateway answer calls over HTTP, and nothing else.
type host struct {
	api.Service
	Gateway *gateway.Gateway
}

func (h host) For(api.Caller) api.Service { return h }

func (h host) Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	return h.Gateway.Call(ctx, in)
}

func (h host) Batch(ctx context.Context, in api.BatchInput) (*api.BatchOutput, error) {
	return h.Gateway.Batch(ctx, in)
}

// TestRulesHoldOnEverySurface makes one call against each kind of rule, in each way in which
// a call comes to a gateway. Scripts, the command line and clients of MCP are tried in
// testdata/script/rules.txtar and in internal/serve.
func TestRulesHoldOnEverySurface(t *testing.T) {
	t.Parallel()
	kinds := []struct {
		name, tool, args string
		rules            *rule.Rules
		flags            []string
		want             string
	}{
		{"excludeTools", "echo", `{}`, &rule.Rules{Own: &rule.Block{Exclude: filters(t, "e*")}}, nil, "is hidden by"},
		{"tools", "echo", `{}`, &rule.Rules{Own: &rule.Block{Tools: filters(t, "pid")}}, nil, "which does not name it"},
		{"a list for every server", "echo", `{}`, &rule.Rules{Pools: []*rule.Block{{Tools: filters(t, "pid")}}}, nil, "which does not name it"},
		{"extraIncludeTools", "echo", `{}`, &rule.Rules{Own: &rule.Block{Extra: filters(t, "pid")}}, nil, "is hidden by"},
		{"argumentRules", "echo", `{"message":"no"}`, argumentRules(t, "echo", `{"properties":{"message":{"const":"yes"}}}`), nil, `argument "message": "no" is not "yes"`},
		{"writePolicy", "pid", `{}`, &rule.Rules{Own: &rule.Block{Write: rule.Deny}}, []string{"policy-write", "allow"}, "may change something"},
		{"policy.write deny", "pid", `{}`, nil, []string{"policy-write", "deny"}, "policy.write is deny"},
		{"policy.write ask", "pid", `{}`, nil, nil, "nobody can be asked"},
		{"elicit.confirmDestructive", "received", `{}`, nil, []string{"policy-write", "allow", "elicit-confirm-destructive", "true"}, "nobody can be asked"},
		{"policy.toolChange", "echo", `{}`, nil, []string{"policy-tool-change", "refuse"}, "is not the tool that it was"},
	}
	surfaces := map[string]func(t *testing.T, g *gateway.Gateway, in api.CallInput) error{
		"call": func(t *testing.T, g *gateway.Gateway, in api.CallInput) error {
			t.Helper()
			_, err := g.Call(t.Context(), in)
			return err
		},
		"batch": func(t *testing.T, g *gateway.Gateway, in api.CallInput) error {
			t.Helper()
			out, err := g.Batch(t.Context(), api.BatchInput{Calls: []api.CallInput{in}})
			if err == nil && out.Results[0].Error != nil {
				err = out.Results[0].Error
			}
			return err
		},
		"HTTP": func(t *testing.T, g *gateway.Gateway, in api.CallInput) error {
			t.Helper()
			site := httptest.NewServer(api.Handler(host{Gateway: g}, api.HandlerOptions{}))
			defer site.Close()
			defer site.Client().CloseIdleConnections()
			_, err := api.NewRemote(site.Client(), site.URL, api.Caller{}).Call(t.Context(), in)
			return err
		},
		"a view for a caller": func(t *testing.T, g *gateway.Gateway, in api.CallInput) error {
			t.Helper()
			_, err := g.As(api.Caller{Dir: t.TempDir()}, nil).Call(t.Context(), in)
			return err
		},
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := ruled(t, kind.rules)
			if strings.Contains(kind.name, "toolChange") {
				was := entry("s", mcptest.Script{Tools: tools(`{"name":"echo","description":"was"}`)})
				for _, each := range []*config.Server{was, s} {
					if _, err := governed(t, dir, []*config.Server{each}).Tools(t.Context(), api.ToolsInput{Refresh: true}); err != nil {
						t.Fatal(err)
					}
				}
			}
			g := governed(t, dir, []*config.Server{s}, kind.flags...)
			in := api.CallInput{Server: "s", Tool: kind.tool, Arguments: json.RawMessage(kind.args)}
			for name, surface := range surfaces {
				if err := surface(t, g, in); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), kind.want) {
					t.Errorf("%s: %v, want a denial that says %q", name, err, kind.want)
				}
			}
		})
	}
}

// TestConsentIsAskedWhereTheCallerIs checks that a question comes through HTTP to whoever
// made the call, and the answer back.
func TestConsentIsAskedWhereTheCallerIs(t *testing.T) {
	t.Parallel()
	g := governed(t, t.TempDir(), []*config.Server{ruled(t, nil)})
	site := httptest.NewServer(api.Handler(host{Gateway: g}, api.HandlerOptions{}))
	defer site.Close()
	defer site.Client().CloseIdleConnections()
	remote := api.NewRemote(site.Client(), site.URL, api.Caller{})
	for _, allowed := range []bool{true, false} {
		who := &owner{answer: allowed}
		in := api.CallInput{Server: "s", Tool: "pid", Arguments: json.RawMessage(`{"message":"hi"}`), Consent: who}
		_, err := remote.Call(t.Context(), in)
		if (err == nil) != allowed || len(who.asked) != 1 || who.asked[0].Tool != "pid" || string(who.asked[0].Arguments) != `{"message":"hi"}` {
			t.Errorf("allowed %v: %v, asked %+v", allowed, err, who.asked)
		}
		out, err := remote.Batch(t.Context(), api.BatchInput{Calls: []api.CallInput{in, in}, Consent: who})
		if err != nil || (out.Failed == 0) != allowed || len(who.asked) != 3 {
			t.Errorf("allowed %v, in a batch: %+v, %v, asked %d times", allowed, out, err, len(who.asked))
		}
	}
	// Who can be told and asked otherwise is not taken for the user.
	peer := &person{}
	if _, err := remote.Call(t.Context(), api.CallInput{Server: "s", Tool: "pid", Peer: peer}); fault.KindOf(err) != fault.Denied || peer.times() != 0 {
		t.Errorf("a peer that is no user: %v, asked %d times", err, peer.times())
	}
	// Whoever hangs up is not waited for.
	ctx, cancel := context.WithCancel(t.Context())
	hung := hangs(cancel)
	if _, err := remote.Call(ctx, api.CallInput{Server: "s", Tool: "pid", Consent: hung}); err == nil {
		t.Error("a call whose caller is gone was made")
	}
}

// hangs is a person who leaves when they are asked.
type hangs context.CancelFunc

func (h hangs) Consent(ctx context.Context, _ api.ConsentQuestion) (bool, error) {
	h()
	<-ctx.Done()
	return true, ctx.Err()
}

//go:build unix

package run

import (
	"context"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/settings"
)

// TestARunHasNoMoreThanItsMost holds that a run for a caller whose permissions are bounded
// gets what it asks for within them, and is denied what it asks for beyond.
func TestARunHasNoMoreThanItsMost(t *testing.T) {
	t.Parallel()
	set := &settings.Set{}
	if err := set.ApplyFlag("limits-memory", "256MiB"); err != nil {
		t.Fatal(err)
	}
	// As the gateway does it, which is told what the run may call.
	r := stage{settings: set, call: func(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
		if g := in.Grant; g != nil && !grant.OpenTools(grant.Words{Allow: g.Allow, Deny: g.Deny}, []string{"demo"}).Allows(in.Server, in.Tool, false) {
			return nil, grant.Denied(grant.Tool, in.Server+"."+in.Tool)
		}
		return structured(ctx, in)
	}}.runner()
	most := &api.Permissions{Profile: "tools", Allow: map[string][]string{"env": {"A_*"}}, Deny: map[string][]string{"tools": {"demo.fancy-name"}}}
	const probe = `const tried = async f => { try { return await f() } catch (e) { return e.name } };
return [await tried(() => demo.echo({ a: 1 })), await tried(() => demo["fancy-name"]({})), await tried(() => artifact("x", "y"))]`
	for _, tt := range []struct {
		name string
		in   api.ExecInput
		want string
	}{
		{"nothing", api.ExecInput{}, `[{"a":1},"DeniedError","UnavailableError"]`},
		{"less", api.ExecInput{Permissions: "none", Allow: map[string][]string{"tools": {"demo"}}}, `[{"a":1},"DeniedError","DeniedError"]`},
		{"no tool", api.ExecInput{Deny: map[string][]string{"tools": {}}}, `["DeniedError","DeniedError","UnavailableError"]`},
		{"another tool alone", api.ExecInput{Allow: map[string][]string{"tools": {"demo.other"}}}, `["DeniedError","DeniedError","UnavailableError"]`},
		{"the same again", api.ExecInput{Permissions: "tools"}, `[{"a":1},"DeniedError","UnavailableError"]`},
	} {
		tt.in.Most = most
		out := exec(t, r, probe, tt.in)
		if string(out.Value) != tt.want {
			t.Errorf("%s: the script got %s, %v, want %s", tt.name, out.Value, out.Error, tt.want)
		}
	}
	for name, tt := range map[string]struct {
		in   api.ExecInput
		kind fault.Kind
		says string
	}{
		"a greater profile":     {api.ExecInput{Permissions: "net"}, fault.Denied, `denied: net "public": outside the run's grants`},
		"all":                   {api.ExecInput{Permissions: "all"}, fault.Denied, "outside the run's grants"},
		"a grant":               {api.ExecInput{Allow: map[string][]string{"read": {"/etc"}}}, fault.Denied, `denied: read "/etc": outside the run's grants`},
		"programs":              {api.ExecInput{Allow: map[string][]string{"run": nil}}, fault.Denied, `denied: run "*": outside the run's grants`},
		"more of a grant":       {api.ExecInput{Allow: map[string][]string{"env": {"*"}}}, fault.Denied, `denied: env "*": outside the run's grants`},
		"a profile that is not": {api.ExecInput{Permissions: "nope"}, fault.Usage, `there is no profile "nope"`},
		"a grant that is not":   {api.ExecInput{Allow: map[string][]string{"moon": {"x"}}}, fault.Usage, `there is no grant "moon"`},
		"more memory":           {api.ExecInput{Limits: map[string]string{"memory": "1GiB"}}, fault.Denied, "limits.memory"},
		"no limit at all":       {api.ExecInput{Limits: map[string]string{"toolCalls": "1000000"}}, fault.Denied, "limits.toolCalls"},
		"a limit that is not":   {api.ExecInput{Limits: map[string]string{"moon": "1"}}, fault.Usage, "limits.moon"},
		"a limit of nothing":    {api.ExecInput{Limits: map[string]string{"memory": "much"}}, fault.Usage, "limits.memory"},
	} {
		tt.in.Most, tt.in.Code = most, "1"
		out, err := r.Run(t.Context(), tt.in, api.Streams{})
		if fault.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %+v, %v, want %q", name, out, err, tt.says)
		}
	}
	less := api.ExecInput{Most: most, Limits: map[string]string{"toolCalls": "1", "memory": "128MiB"}}
	if out := exec(t, r, `await demo.echo({}); await demo.echo({})`, less); out.Error == nil || !strings.Contains(out.Error.Text(), "tool call limit of 1 exceeded") || out.Limits["memory"] != "128MiB" {
		t.Errorf("with one call: %+v, %v", out.Limits, out.Error)
	}
}

//go:build unix

package run

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"mcpx/internal/api"
	"mcpx/mcp"
)

// person is somebody who is told and answers everything.
type person struct{ told, asked int }

func (p *person) Notify(string, json.RawMessage) { p.told++ }
func (p *person) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	p.asked++
	return json.RawMessage(`{"action":"accept"}`), nil
}
func (p *person) TakesUnfinished() bool { return false }
func (p *person) Consent(context.Context, api.ConsentQuestion) (bool, error) {
	p.asked++
	return true, nil
}

// TestNobodyIsAskedForAScriptThatMayNotAsk calls a tool whose server has something to say
// and to ask, and whose call needs consent.
func TestNobodyIsAskedForAScriptThatMayNotAsk(t *testing.T) {
	t.Parallel()
	for profile, may := range map[string]bool{"tools": true, "none": false} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			var refused error
			consent := false
			r := stage{call: func(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
				if in.Consent != nil {
					consent, _ = in.Consent.Consent(ctx, api.ConsentQuestion{})
				}
				in.Peer.Notify("notifications/progress", nil)
				_, refused = in.Peer.Ask(ctx, mcp.MethodElicitation, nil)
				return &api.CallOutput{Result: in.Arguments}, nil
			}}.runner()
			t.Cleanup(func() { _ = r.Close() })
			p := &person{}
			out, err := r.Run(t.Context(), api.ExecInput{
				Name: "x", Code: `await tools.demo.echo({})`, Permissions: profile, Allow: map[string][]string{"tools": {"demo"}},
			}, api.Streams{Peer: p, Consent: p})
			if err != nil || out.Error != nil {
				t.Fatalf("%v, %+v", err, out)
			}
			var e *mcp.Error
			if errors.As(refused, &e) == may || consent != may || p.told != 1 || (p.asked == 2) != may || !may && p.asked != 0 {
				t.Errorf("refused %v, consent %v, told %d times, asked %d times; may ask: %v", refused, consent, p.told, p.asked, may)
			}
		})
	}
}

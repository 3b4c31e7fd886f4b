package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/mcp"
)

// wired returns a client of the gateway on the other side of HTTP, as a command has one of
// the daemon.
func wired(t *testing.T, g *fixture) *api.Remote {
	t.Helper()
	site := httptest.NewServer(api.Handler(host{Gateway: g.Gateway}, api.HandlerOptions{}))
	t.Cleanup(site.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return api.NewRemote(client, site.URL, api.Caller{})
}

// TestQuestionsCrossTheWire holds that whoever calls through a daemon is asked, and told,
// what they are without one.
func TestQuestionsCrossTheWire(t *testing.T) {
	t.Parallel()
	servers(t, func(t *testing.T, g *fixture, modern bool) {
		client := wired(t, g)
		tool, args, times := "ask", question, 1
		if modern {
			tool, args, times = "need", need+"}", 2
		}
		p := &person{}
		out, err := with(t, client, tool, args, p)
		if err != nil || p.times() != times || !strings.Contains(out.Text+string(out.Value), `{"n":1}`) {
			t.Errorf("asked %d times, answered %+v, %v", p.times(), out, err)
		}
		// Refusals and failures end as they do near by.
		for _, why := range []error{mcp.Errorf(-1, "not today"), errors.New("the terminal is gone"), fault.Deniedf("never")} {
			near, nearly := with(t, g, tool, args, &person{fails: why})
			far, farther := with(t, client, tool, args, &person{fails: why})
			if fault.KindOf(nearly) != fault.KindOf(farther) || fmt.Sprint(nearly) != fmt.Sprint(farther) {
				t.Errorf("a peer that says %v: near %v, far %v", why, nearly, farther)
			}
			if nearly == nil && farther == nil && near.Text+string(near.Value) != far.Text+string(far.Value) {
				t.Errorf("a peer that says %v: near %s%s, far %s%s", why, near.Text, near.Value, far.Text, far.Value)
			}
		}
		_, err = with(t, client, tool, args, nil)
		if e := fault.From(err); e == nil || e.Kind != fault.InputRequired || !strings.Contains(e.Message, "Which branch?") || e.Details["inputRequests"] == nil {
			t.Errorf("with nobody to ask: %v", err)
		}
	})
}

func TestAnUnfinishedResultCrossesTheWire(t *testing.T) {
	t.Parallel()
	servers(t, func(t *testing.T, g *fixture, modern bool) {
		if !modern {
			return // only the modern era has them
		}
		client := wired(t, g)
		p := &person{unfinished: true}
		out, err := with(t, client, "need", need+"}", p)
		if err != nil || !strings.Contains(string(out.Result), `"resultType":"input_required"`) || p.times() != 0 {
			t.Fatalf("got %+v, %v; asked %d times", out, err, p.times())
		}
		out, err = client.Call(t.Context(), api.CallInput{
			Server: "s", Tool: "need", Arguments: json.RawMessage(need + "}"), Peer: p,
			InputResponses: json.RawMessage(`{"a":7}`), RequestState: mcp.Member(out.Result, "requestState"),
		})
		if err != nil || out.Text+string(out.Value) != `[{"a":7}]` {
			t.Errorf("got %+v, %v", out, err)
		}
	})
}

// TestACallerThatLeavesTakesItsQuestionAlong cuts the connection while a question is open.
func TestACallerThatLeavesTakesItsQuestionAlong(t *testing.T) {
	t.Parallel()
	servers(t, func(t *testing.T, g *fixture, modern bool) {
		client := wired(t, g)
		tool, args := "ask", question
		if modern {
			tool, args = "need", need+"}"
		}
		p := &person{waits: make(chan struct{}), begun: make(chan string, 2), ended: make(chan error, 2)}
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		done := make(chan error, 1)
		go func() {
			_, err := client.Call(ctx, api.CallInput{Server: "s", Tool: tool, Arguments: json.RawMessage(args), Peer: p})
			done <- err
		}()
		taken(t, "the question", p.begun)
		cancel(enough)
		if err := taken(t, "the end of the call", done); !errors.Is(err, enough) {
			t.Errorf("the call ended with %v", err)
		}
		taken(t, "the end of the question", p.ended)
		until(t, "the end of the call in the gateway", func() bool { return underWay(g) == 0 })
	})
}

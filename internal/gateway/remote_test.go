package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
)

// far is a server behind a url, written by hand. Calls counts what it got of tools/call.
func far(t *testing.T, modern bool, tools func(calls int) string, call func(w http.ResponseWriter, r *http.Request, id mcp.Raw, calls int)) (*fixture, *atomic.Int32) {
	t.Helper()
	var calls atomic.Int32
	sv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := mcp.Split(body)
		if err != nil {
			if r.Header.Get("Last-Event-Id") != "" {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		result := func(text string) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "S")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, text)
		}
		switch {
		case m.Method == mcp.MethodInitialize && !modern:
			result(`{"protocolVersion":"2025-11-25","capabilities":{}}`)
		case m.Method == mcp.MethodDiscover && modern:
			result(`{"supportedVersions":["2026-07-28"],"capabilities":{}}`)
		case m.Method == mcp.MethodToolsList:
			result(`{"tools":[` + tools(int(calls.Load())) + `]}`)
		case m.Method == mcp.MethodToolsCall:
			call(w, r, m.ID, int(calls.Add(1)))
		case m.Kind() == mcp.Request:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(sv.Close)
	return open(t, t.TempDir(), []*config.Server{{Name: "far", Transport: config.HTTP, URL: sv.URL}}), &calls
}

func answer(w http.ResponseWriter, id mcp.Raw, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
}

func TestServerBehindAURLIsCalled(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]mcptest.HTTP{"Streamable HTTP": {}, "HTTP+SSE": {SSE: true}} {
		web := mcptest.Serve(o)
		t.Cleanup(web.Close)
		g := open(t, t.TempDir(), []*config.Server{{Name: "far", Transport: config.HTTP, Untyped: true, URL: web.URL}})
		out, err := g.Call(t.Context(), api.CallInput{Server: "far", Tool: "echo", Arguments: json.RawMessage(`{"message":"hi"}`)})
		if err != nil || out.Text != "hi" {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		g.Close()
	}
}

// A call that was under way when the session was lost is made again only if it changes
// nothing.
func TestCallOfALostSessionIsRepeatedIfItOnlyReads(t *testing.T) {
	t.Parallel()
	for _, readOnly := range []bool{true, false} {
		g, calls := far(t, false, func(int) string {
			return fmt.Sprintf(`{"name":"look","annotations":{"readOnlyHint":%t}}`, readOnly)
		}, func(w http.ResponseWriter, _ *http.Request, id mcp.Raw, calls int) {
			if calls > 1 {
				answer(w, id, "seen")
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: 1\nretry: 1\ndata:\n\n") // and no more: the rest is asked for, and refused
		})
		out, err := g.Call(t.Context(), api.CallInput{Server: "far", Tool: "look"})
		switch e := fault.From(err); {
		case readOnly && (err != nil || out.Text != "seen" || calls.Load() != 2):
			t.Errorf("a tool that reads: %v after %d calls", err, calls.Load())
		case !readOnly && (e == nil || e.Details["mayHaveRun"] != true || calls.Load() != 1):
			t.Errorf("a tool that writes: %v after %d calls, want one that may have run", err, calls.Load())
		}
	}
}

func TestCallThatIsRefusedIsNotRepeated(t *testing.T) {
	t.Parallel()
	g, calls := far(t, false, func(int) string { return `{"name":"look"}` }, func(w http.ResponseWriter, _ *http.Request, _ mcp.Raw, _ int) {
		w.WriteHeader(http.StatusUnauthorized)
	})
	_, err := g.Call(t.Context(), api.CallInput{Server: "far", Tool: "look"})
	if e := fault.From(err); e == nil || e.Kind != fault.Unavailable || e.Details["status"] != http.StatusUnauthorized || calls.Load() != 1 {
		t.Errorf("%v after %d calls, want the refusal of one", err, calls.Load())
	}
}

// The catalog may know an older schema than the server: then its headers are refused,
// and the tools are read again.
func TestHeadersThatAreRefusedAreMadeAnew(t *testing.T) {
	t.Parallel()
	g, calls := far(t, true, func(calls int) string {
		mark := ""
		if calls > 0 {
			mark = `,"x-mcp-header":"Region"`
		}
		return `{"name":"look","inputSchema":{"type":"object","properties":{"region":{"type":"string"` + mark + `}}}}`
	}, func(w http.ResponseWriter, r *http.Request, id mcp.Raw, _ int) {
		if r.Header.Get("Mcp-Param-Region") != "eu" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"Header mismatch"}}`, id)
			return
		}
		answer(w, id, "seen")
	})
	out, err := g.Call(t.Context(), api.CallInput{Server: "far", Tool: "look", Arguments: json.RawMessage(`{"region":"eu"}`)})
	if err != nil || out.Text != "seen" || calls.Load() != 2 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	// One that goes on refusing is not asked for ever.
	_, err = g.Call(t.Context(), api.CallInput{Server: "far", Tool: "look", Arguments: json.RawMessage(`{"region":"us"}`)})
	if err == nil || !strings.Contains(err.Error(), "Header mismatch") || calls.Load() != 4 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

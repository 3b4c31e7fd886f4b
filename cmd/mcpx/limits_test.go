package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/daemon"
)

// outcome is how a command ended: its code, and all that it said.
func (h *home) outcome(args ...string) (int, string) {
	h.t.Helper()
	c := h.command(args...)
	out, _ := c.CombinedOutput()
	return c.ProcessState.ExitCode(), string(out)
}

// A script that the daemon runs has the limits of the daemon, not those of a command.
func TestScriptsOfTheDaemonHaveItsLimits(t *testing.T) {
	t.Parallel()
	h, r := withPort(t)
	code, body := sendTo(t, r, map[string]any{"code": "return 1"}, "")
	var out api.ExecOutput
	want := map[string]string{"time": "2m", "memory": "128MiB", "cpu": "30s", "toolCalls": "500", "output": "16MiB"}
	if err := json.Unmarshal([]byte(body), &out); err != nil || code != http.StatusOK || !maps.Equal(out.Limits, want) {
		t.Errorf("%d %s: %v, want the limits %v", code, body, err, want)
	}
	const (
		hoards = `const all = []; for (let i = 0; i < 40; i++) { const a = new Uint8Array(5 << 20); a.fill(1); all.push(a) } return all.length` // 200 MiB
		prints = `const line = "x".repeat(1 << 16); for (let i = 0; i < 300; i++) console.log(line); return 1`                                  // 19 MiB
		calls  = `let n = 0; for (; n < 501; n++) await tools.one.echo({ message: "x" }); return n`
	)
	for limit, script := range map[string]string{"memory": hoards, "output": prints, "toolCalls": calls} {
		_, body := sendTo(t, r, map[string]any{"code": script}, "")
		if !strings.Contains(body, `"kind":"limit"`) || !strings.Contains(body, `"limit":"`+limit+`"`) || !strings.Contains(body, "with the setting daemon.limits."+limit+`"`) {
			t.Errorf("%s over TCP: %s", limit, body[:min(len(body), 2000)])
		}
		// As a default it gives way to the user, and to nobody else.
		more := map[string]string{"memory": "1GiB", "output": "64MiB", "toolCalls": "600"}[limit]
		if _, body := sendTo(t, r, map[string]any{"code": script, "limits": map[string]string{limit: more}}, ""); !strings.Contains(body, `"limit":"`+limit+`"`) {
			t.Errorf("%s, and more was asked for over TCP: %s", limit, body[:min(len(body), 2000)])
		}
		flag := map[string]string{"memory": "--limits-memory", "output": "--limits-output", "toolCalls": "--limits-tool-calls"}[limit]
		if code, said := h.outcome("exec", "--remote", flag+"="+more, script); code != 0 {
			t.Errorf("%s, and the user asks for more: exit code %d, %s", limit, code, said[:min(len(said), 2000)])
		}
		if code, said := h.outcome("exec", "--local", script); code != 0 {
			t.Errorf("%s here: exit code %d, %s", limit, code, said[:min(len(said), 2000)])
		}
	}
}

// Once a file has set them, nobody loosens the limits of the daemon, and everybody may ask
// for less. They are followed while it runs.
func TestTheLimitsOfTheDaemonAreACeiling(t *testing.T) {
	t.Parallel()
	h, r := withPort(t)
	h.write(`{"policy": {"write": "allow"}, "daemon": {"limits": {"timeout": "700ms", "toolCalls": 2, "inFlight": 1, "cpu": "40s"}},
		"mcpServers": {"one": {"command": "mcpx", "args": ["demo-server"]}}}`)
	const spins = "for (;;) await new Promise((go) => setTimeout(go, 10))"
	for _, args := range [][]string{{"--timeout=1m"}, {}} {
		code, said := h.outcome(append(append([]string{"exec", "--remote"}, args...), spins)...)
		if code != 124 || !strings.Contains(said, "time limit of 700ms exceeded") || !strings.Contains(said, "daemon.limits.timeout") {
			t.Errorf("%q: exit code %d, %s", args, code, said)
		}
	}
	if code, said := h.outcome("exec", "--remote", "--timeout=300ms", spins); code != 124 || !strings.Contains(said, "time limit of 300ms exceeded") || strings.Contains(said, "daemon.limits") {
		t.Errorf("less time: exit code %d, %s", code, said)
	}
	// The option of a request, over TCP and by the user's socket.
	for _, timeout := range []string{"1m", ""} {
		if _, body := sendTo(t, r, map[string]any{"code": spins, "timeout": timeout}, ""); !strings.Contains(body, "time limit of 700ms exceeded") {
			t.Errorf("timeout %q: %s", timeout, body)
		}
	}
	socket := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", strings.TrimPrefix(r.Endpoint, "unix:"))
	}}}
	defer socket.CloseIdleConnections()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, daemon.BaseURL+"/v1/exec", strings.NewReader(`{"timeout": "1m", "code": "`+spins+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := socket.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(body), "time limit of 700ms exceeded") {
		t.Errorf("timeout 1m on the socket: %s, %v", body, err)
	}
	c := h.command("exec", "--remote", "--json", "--limits-tool-calls=9", "--limits-cpu=1m", "return 1")
	text, err := c.Output()
	var out api.ExecOutput
	if json.Unmarshal(text, &out) != nil || out.Limits["toolCalls"] != "2" || out.Limits["cpu"] != "40s" || out.Limits["time"] != "700ms" {
		t.Errorf("%v: %s", err, text)
	}
	// One call at a time. What follows has to come to its end.
	h.write(`{"policy": {"write": "allow"}, "daemon": {"limits": {"timeout": "1m", "toolCalls": 2, "inFlight": 1, "cpu": "40s"}},
		"mcpServers": {"one": {"command": "mcpx", "args": ["demo-server"]}}}`)
	const two = `const begin = performance.now(); await Promise.all([tools.one.slow({ ms: 150 }), tools.one.slow({ ms: 150 })]); return performance.now() - begin`
	for _, limit := range []string{"1", "2"} {
		_, body := sendTo(t, r, map[string]any{"code": two, "limits": map[string]string{"inFlight": limit}}, "")
		var took float64
		if json.Unmarshal([]byte(body), &out) != nil || json.Unmarshal(out.Value, &took) != nil || took < 300 {
			t.Errorf("inFlight %s: %s, want at least 300 ms", limit, body)
		}
	}
	// What runs here is not theirs.
	if code, said := h.outcome("exec", "--local", "for (let i = 0; i < 3; i++) await tools.one.echo({ message: 'x' })"); code != 0 {
		t.Errorf("a script of a command: exit code %d, %s", code, said)
	}
	// At runtime they can only be tightened, too.
	if code, said := h.outcome("settings", "set", "daemon.limits.toolCalls", "3"); code != 2 || !strings.Contains(said, "can only be tightened") {
		t.Errorf("looser at runtime: exit code %d, %s", code, said)
	}
	h.run("settings", "set", "daemon.limits.toolCalls", "1")
	if _, body := sendTo(t, r, map[string]any{"code": "return 1"}, ""); !strings.Contains(body, `"toolCalls":"1"`) {
		t.Errorf("tighter at runtime: %s", body)
	}
}

// Scripts of MCP clients have them as well.
func TestScriptsOfMCPClientsHaveTheLimitsOfTheDaemon(t *testing.T) {
	t.Parallel()
	_, r := withPort(t)
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.HTTP+"/mcp", bytes.NewReader([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcpx_exec","arguments":{"code":"return 1","timeoutMs":900000},
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + r.Token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "mcpx_exec",
	} {
		q.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(answer.Body); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"time":"2m"`, `"memory":"128MiB"`, `"toolCalls":"500"`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%s %s, want %s", answer.Status, text.String(), want)
		}
	}
}

// What a request asks of settings and does not get is said in its answer.
func TestSettingsThatARequestDoesNotGetAreTold(t *testing.T) {
	t.Parallel()
	h, r := withPort(t)
	h.run("settings", "set", "exec.timeout", "1m")
	ask := func(method, path, body, asked string) (head http.Header, text string) {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), method, r.HTTP+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+r.Token)
		if asked != "" {
			q.Header.Set("X-Mcpx-Settings", asked)
		}
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		all, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s %v: %s", answer.Status, err, all)
		}
		return answer.Header, string(all)
	}
	const (
		less = "the caller asks for 5s of exec.timeout; 1m is in force, by mcpx settings set"
		more = "the caller asks for 9999 of limits.toolCalls; "
	)
	const asked = `{"exec.timeout": "5s", "limits.toolCalls": "9999", "pool.callTimeout": "3s"}`
	for _, tt := range []struct{ method, path, body string }{{http.MethodPost, "/v1/exec", `{"code": "return 1"}`}, {http.MethodGet, "/v1/namespaces", ""}} {
		head, body := ask(tt.method, tt.path, tt.body, asked)
		notices := head.Values("X-Mcpx-Notice")
		if len(notices) != 2 || notices[0] != less || !strings.HasPrefix(notices[1], more) {
			t.Errorf("%s: %q: %s", tt.path, notices, body)
		}
		if tt.path == "/v1/exec" {
			var out api.ExecOutput
			if err := json.Unmarshal([]byte(body), &out); err != nil || len(out.Warnings) != 2 || out.Warnings[0] != less || out.Warnings[1] != more+"500 is in force, by daemon.limits.toolCalls" || out.Limits["time"] != "1m" {
				t.Errorf("%v: %s", err, body)
			}
		}
		for _, asked := range []string{"", `{"pool.callTimeout": "3s"}`, `{"exec.timeout": "60s"}`, `{"script.permissions": "none"}`} {
			if head, body := ask(tt.method, tt.path, tt.body, asked); head.Values("X-Mcpx-Notice") != nil || strings.Contains(body, "asks for") {
				t.Errorf("%s with %q: %q, %s", tt.path, asked, head, body)
			}
		}
	}
	if code, said := h.outcome("exec", "--remote", "--timeout=5s", "return 1"); code != 0 || !strings.Contains(said, less) {
		t.Errorf("a command: exit code %d, %s", code, said)
	}
}

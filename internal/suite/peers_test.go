//go:build unix

package suite

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/mcp"
)

// TestTypeScriptClients lets clients of both TypeScript SDKs use the program, over both
// transports, in every mode, in every era that they know.
func TestTypeScriptClients(t *testing.T) {
	t.Parallel()
	node := node(t)
	peers, err := filepath.Abs(filepath.Join(root, "testdata", "npm", "peers"))
	if err != nil {
		t.Fatal(err)
	}
	npmFile(t, "@modelcontextprotocol", "client", "package.json")
	for _, mode := range []string{"code", "full", "passthrough"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := serve(t, "", "--mode", mode)
			var wg sync.WaitGroup
			for _, client := range [][]string{
				{"client-v1.mjs"}, {"client-v2.mjs", "legacy"}, {"client-v2.mjs", "auto"}, {"client-v2.mjs", mcp.Revision20260728},
			} {
				for _, transport := range [][]string{{"http", s.url, s.token}, {"stdio", program(t), "serve", "--mode", mode}} {
					wg.Go(func() {
						name := strings.Join(client, " ") + " " + transport[0]
						args := append([]string{filepath.Join(peers, client[0])}, append(client[1:len(client):len(client)], transport...)...)
						got := run(t, time.Minute, s.dir, environ(t, s.dir), node, args...)
						judgePeer(t, mode, name, client[len(client)-1], got)
					})
				}
			}
			wg.Wait()
			s.end()
		})
	}
}

func judgePeer(t *testing.T, mode, name, era string, got outcome) {
	var saw struct {
		Protocol string
		Tools    []string
		Results  map[string]struct {
			Text, Error string
			IsError     bool
		}
		Progress int
	}
	if err := json.Unmarshal([]byte(got.stdout), &saw); err != nil || got.exit != 0 {
		t.Errorf("%s: exit %d, %s%s", name, got.exit, got.stdout, got.stderr)
		return
	}
	want := map[string]string{"2026-07-28": mcp.Revision20260728, "auto": mcp.Revision20260728}[era]
	if want == "" {
		want = mcp.Revision20251125
	}
	if era != "client-v1.mjs" && saw.Protocol != want {
		t.Errorf("%s: they speak %s, want %s", name, saw.Protocol, want)
	}
	tool, text := "echo", "hi"
	switch mode {
	case "full":
		tool = "demo__echo"
	case "code":
		tool, text = "mcpx_exec", "42"
	}
	if r := saw.Results[tool]; r.Text != text || r.IsError || r.Error != "" {
		t.Errorf("%s: %s answered %+v, want %q", name, tool, r, text)
	}
	if r := saw.Results["nope"]; !strings.Contains(r.Error+r.Text, "nope") {
		t.Errorf("%s: a tool that is none answered %+v", name, r)
	}
	if mode == "code" && saw.Progress == 0 {
		t.Errorf("%s: no progress", name)
	}
}

// TestTypeScriptTasks lets a client of the TypeScript SDK have calls made as tasks, over both
// transports: to their ends, with a question on the way, and cancelled.
func TestTypeScriptTasks(t *testing.T) {
	t.Parallel()
	node := node(t)
	npmFile(t, "@modelcontextprotocol", "sdk", "package.json")
	peer, err := filepath.Abs(filepath.Join(root, "testdata", "npm", "peers", "tasks-v1.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, "", "--mode", "code")
	for _, transport := range [][]string{{"http", s.url, s.token}, {"stdio", program(t), "serve"}} {
		got := run(t, time.Minute, s.dir, environ(t, s.dir), node, append([]string{peer}, transport...)...)
		var saw struct {
			Statuses, Related       []string
			Support                 map[string]string
			Results                 map[string][]string
			Asked, Cancelled, After string
			Listed, Gone            int
		}
		if err := json.Unmarshal([]byte(got.stdout), &saw); err != nil || got.exit != 0 {
			t.Errorf("%s: exit %d, %s%s", transport[0], got.exit, got.stdout, got.stderr)
			continue
		}
		for name, want := range map[string][]string{
			"exec": {"created", "completed", "result: 42"},
			"call": {"created", "completed", "result: hi"},
			"asks": {"created", "input_required", "result: blue"},
		} {
			if seen := slices.DeleteFunc(slices.Clone(saw.Results[name]), func(s string) bool { return s == "working" }); !slices.Equal(seen, want) {
				t.Errorf("%s: %s went %q, want %q", transport[0], name, seen, want)
			}
		}
		if !slices.Equal(saw.Related, []string{saw.Asked}) || saw.Asked == "" {
			t.Errorf("%s: it was asked for %q, want %s", transport[0], saw.Related, saw.Asked)
		}
		if !slices.Contains(saw.Statuses, "input_required") || !slices.Contains(saw.Statuses, "cancelled") || saw.Listed != 3 ||
			saw.Cancelled != "cancelled" || saw.After != "cancelled" || saw.Gone != mcp.CodeInvalidParams {
			t.Errorf("%s: %+v", transport[0], saw)
		}
		if saw.Support["mcpx_exec"] != "optional" || saw.Support["mcpx_call"] != "optional" || saw.Support["mcpx_search"] != "forbidden" {
			t.Errorf("%s: tools that can be tasks: %v", transport[0], saw.Support)
		}
	}
	s.end()
}

// quietChrome keeps one of the servers from asking a registry whether it is the latest.
const quietChrome = "CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS"

// TestRealServersAreOfferedAsTheyAre holds what full mode offers of servers that others
// wrote against what they say themselves, byte for byte but for the name.
func TestRealServersAreOfferedAsTheyAre(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	servers := map[string][]string{
		"everything": {npmServer(t, "server-everything")},
		"files":      {npmServer(t, "server-filesystem"), dir},
		"memory":     {npmServer(t, "server-memory")},
		"playwright": {npmFile(t, "@playwright", "mcp", "cli.js")},
		"chrome":     {npmFile(t, "chrome-devtools-mcp", "build", "src", "bin", "chrome-devtools-mcp.js"), "--no-usage-statistics"},
	}
	entries := map[string]any{}
	for name, args := range servers {
		entries[name] = map[string]any{"command": node(t), "args": args, "env": map[string]string{quietChrome: "1"}}
	}
	config, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for name, args := range servers {
		enough := 1
		if name == "everything" {
			enough = 17
		}
		tools := listed(t, dir, enough, node(t), args...)
		if len(tools) < enough {
			t.Errorf("%s lists %d tools, want %d", name, len(tools), enough)
		}
		for _, tool := range tools {
			var own string
			if err := json.Unmarshal(mcp.Member(tool, "name"), &own); err != nil {
				t.Fatal(err)
			}
			named, err := mcp.SetMember(tool, "name", mcp.Raw(fmt.Sprintf("%q", name+"__"+own)))
			if err != nil {
				t.Fatal(err)
			}
			want[name+"__"+own] = string(named)
		}
	}
	// The second time the tools are known from the catalog.
	for _, start := range []string{"cold", "warm"} {
		offered(t, start, want, listed(t, dir, len(want), program(t), "serve", "--mode", "full"))
	}
}

// offered compares what is offered with what should be, by name.
func offered(t *testing.T, start string, want map[string]string, got []mcp.Raw) {
	t.Helper()
	if len(got) != len(want) || len(want) < 80 {
		t.Errorf("%s: %d tools are offered, want %d", start, len(got), len(want))
	}
	for _, tool := range got {
		var name string
		if err := json.Unmarshal(mcp.Member(tool, "name"), &name); err != nil || string(tool) != want[name] {
			t.Errorf("%s: offered %s\nwant    %s", start, tool, want[name])
		}
	}
}

// listed starts a server and returns the entries of its tools/list, as soon as they are
// enough of them: a server may find out only when it has started what it offers. After a
// minute they are what they are.
func listed(t *testing.T, dir string, enough int, name string, args ...string) []mcp.Raw {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(environ(t, dir), quietChrome+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	send := func(m string) {
		if _, err := io.WriteString(in, m+"\n"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	result := func(id string) mcp.Raw {
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			m, err := mcp.Split(line)
			switch {
			case err != nil:
			case m.Kind() == mcp.Request: // one that waits for the roots would wait for long
				send(string((&mcp.Message{ID: m.ID, Error: mcp.Errorf(mcp.CodeMethodNotFound, "not now")}).Encode()))
			case m.Kind() == mcp.Response && string(m.ID) == id:
				return m.Result
			}
		}
	}
	// A server may offer more to a client that can be asked, as mcpx can.
	send(strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}},"clientInfo":{"name":"t","version":"1"}`, 1))
	result("0")
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	var tools []mcp.Raw
	for id, deadline := 1, time.Now().Add(time.Minute); len(tools) < enough && time.Now().Before(deadline); id++ {
		if id > 1 {
			time.Sleep(50 * time.Millisecond)
		}
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, id))
		tools = slices.Collect(mcp.Elements(mcp.Member(result(strconv.Itoa(id)), "tools")))
	}
	in.Close()
	if name != program(t) {
		_ = cmd.Process.Kill() // one that has just asked for the roots would wait a minute for them
	}
	_, _ = io.Copy(io.Discard, lines)
	_ = cmd.Wait() // how a server of others ends is not looked at
	return tools
}

// sight is what a client that can be asked saw: see testdata/npm/peers/asked.mjs.
type sight struct {
	Protocol                  string
	Tools, Resources, Prompts int
	Results                   map[string]string
	Events                    map[string]int
}

// A sighting is something that a client must see of a server, through the program.
type sighting struct {
	server string
	eras   string // of the clients that must see it: legacy, modern, both
	name   string
	seen   func(sight) bool
}

// says is the result of a tool, and how often the client was asked, at least.
func says(server, eras, tool, text string, asked ...string) sighting {
	return sighting{server, eras, tool, func(s sight) bool {
		for _, method := range asked {
			if s.Events[method] == 0 {
				return false
			}
		}
		return strings.HasPrefix(s.Results[tool], text)
	}}
}

const (
	elicited = mcp.MethodElicitation
	sampled  = mcp.MethodSampling
	rooted   = mcp.MethodRootsList
)

var sightings = []sighting{
	says("sdk", "both", "test_simple_text", "This is a simple text"),
	{"sdk", "both", "lists", func(s sight) bool { return s.Tools == 28 && s.Resources == 3 && s.Prompts == 5 }},
	{"sdk", "both", "progress", func(s sight) bool { return s.Results["test_tool_with_progress"] != "" && s.Events["progress"] > 0 }},
	{"sdk", "legacy", "log", func(s sight) bool { return s.Events["notifications/message"] >= 3 }},
	{"sdk", "legacy", "update", func(s sight) bool { return s.Events["notifications/resources/updated"] > 0 }},
	says("sdk", "legacy", "test_sampling", "LLM response: sampled", sampled),
	says("sdk", "legacy", "test_elicitation", "Elicitation result: action=accept, content=map[username:Ann", elicited),
	says("sdk", "modern", "test_input_required_result_elicitation", "Hello, Ann!", elicited),
	says("sdk", "modern", "test_input_required_result_sampling", "Sampling response: sampled", sampled),
	says("sdk", "modern", "test_input_required_result_list_roots", "Client exposed 1 root(s): file:///tmp", rooted),
	says("sdk", "modern", "test_input_required_result_multiple_inputs", "sampled Ann — 1 root(s) visible", sampled, elicited, rooted),
	says("sdk", "modern", "test_input_required_result_multi_round", "Multi-round complete: Ann likes Ann", elicited),
	says("sdk", "modern", "test_input_required_result_request_state", "state-ok", elicited),

	says("everything", "both", "echo", "Echo: hi"),
	says("everything", "both", "trigger-elicitation-request", "✅ User provided the requested information!|User inputs:\n- Name: Ann", elicited),
	says("everything", "both", "trigger-sampling-request", "LLM sampling result: \n{\n  \"model\": \"m\"", sampled),
	says("everything", "both", "trigger-long-running-operation", "Long running operation completed.", "progress"),

	says("dual", "both", "echo", "hi"),
	says("dual", "both", "ask", "hi Ann", elicited),
}

// TestPeersAreAsked puts the program between clients of both TypeScript SDKs that can be
// asked, in every era, over both transports, and servers that ask: that of the Go SDK and
// the TypeScript SDK's v2, which speak both eras, and server-everything, which speaks the
// legacy one.
func TestPeersAreAsked(t *testing.T) {
	t.Parallel()
	node := node(t)
	peers, err := filepath.Abs(filepath.Join(root, "testdata", "npm", "peers"))
	if err != nil {
		t.Fatal(err)
	}
	npmFile(t, "@modelcontextprotocol", "client", "package.json")
	npmFile(t, "@modelcontextprotocol", "server", "package.json")
	servers := map[string][]string{
		"sdk":        {everythingServer(t)},
		"everything": {node, npmServer(t, "server-everything")},
		"dual":       {node, filepath.Join(peers, "server-v2.mjs")},
	}
	for server, command := range servers {
		config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{server: map[string]any{"command": command[0], "args": command[1:]}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, era := range []string{"v1", "legacy", "auto", mcp.Revision20260728} {
			for _, transport := range []string{"stdio", "http"} {
				var due []sighting
				for _, s := range sightings {
					modern := era == "auto" || era == mcp.Revision20260728
					if s.server == server && (s.eras == "both" || s.eras == "modern" == modern) {
						due = append(due, s)
					}
				}
				if len(due) == 0 {
					t.Fatalf("a client of %s has nothing to see", server)
				}
				t.Run(server+" "+era+" "+transport, func(t *testing.T) {
					t.Parallel()
					args := []string{filepath.Join(peers, "asked.mjs"), era, transport}
					dir := t.TempDir()
					if transport == "http" {
						s := serve(t, string(config), "--mode", "passthrough")
						defer s.end()
						dir, args = s.dir, append(args, s.url, s.token)
					} else {
						if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), config, 0o600); err != nil {
							t.Fatal(err)
						}
						args = append(args, program(t), "serve", "--mode", "passthrough")
					}
					got := run(t, 4*time.Minute, dir, environ(t, dir), node, args...)
					var saw sight
					broken := json.Unmarshal([]byte(got.stdout), &saw) != nil || got.exit != 0
					for _, s := range due {
						if broken || !s.seen(saw) {
							t.Errorf("%s: exit %d, saw %s%s", s.name, got.exit, got.stdout, got.stderr)
						}
					}
				})
			}
		}
	}
}

// everythingServer builds the test server of the Go SDK.
func everythingServer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "everything")
	compile := exec.Command("go", "build", "-o", path, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	compile.Dir = root
	if text, err := compile.CombinedOutput(); err != nil {
		missing(t, "building the test server of the Go SDK: %v\n%s", err, text)
	}
	return path
}

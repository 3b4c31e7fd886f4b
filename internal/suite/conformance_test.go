//go:build unix

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpx/mcp"
	"mcpx/mcp/client"
)

// conformanceCommand makes this test binary the client that the official conformance
// suite examines.
const conformanceCommand = "conformance-client"

// TestConformanceOfTheClient lets the official suite examine package client: each scored
// scenario, in each revision that it is part of, and those of older servers.
func TestConformanceOfTheClient(t *testing.T) {
	t.Parallel()
	node := node(t)
	dir, err := filepath.Abs(filepath.Join(root, "testdata", "conformance"))
	if err != nil {
		t.Fatal(err)
	}
	suite := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(suite); err != nil {
		missing(t, "%v: `npm ci` in testdata/conformance installs it", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(t *testing.T, args ...string) outcome {
		args = append([]string{"--import", filepath.Join(dir, "register.mjs"), suite}, args...)
		env := []string{"PATH=" + os.Getenv("PATH"), "MCPX_DAEMON_INLINE=always", "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "NO_COLOR=1"}
		return run(t, time.Minute, t.TempDir(), env, node, args...)
	}
	scenarios := map[string][]string{} // by the name that the list has
	for _, revision := range []string{mcp.Revision20251125, mcp.Revision20260728} {
		for _, name := range clientScenarios(t, ask(t, "list", "--requirements", revision)) {
			scenarios[revision+" "+name] = []string{"client", "--scenario", name, "--spec-version", revision, "--command", self + " " + conformanceCommand}
		}
	}
	for _, name := range clientScenarios(t, ask(t, "list", "--client", "--spec-version", mcp.Revision20250326)) {
		scenarios[mcp.Revision20250326+" "+name] = []string{"client", "--scenario", name, "--spec-version", mcp.Revision20250326, "--command", self + " " + conformanceCommand}
	}
	l := readList(t, "conformance.txt")
	var exist []string
	for name := range scenarios {
		exist = append(exist, name)
	}
	slices.Sort(exist)
	t.Cleanup(func() { l.finish(t, exist) })
	for _, name := range exist {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.judge(t, name, func(t *testing.T) string {
				got := ask(t, scenarios[name]...)
				if got.exit == 0 && strings.Contains(got.stdout+got.stderr, "0 failed") {
					return ""
				}
				return got.stdout + got.stderr
			})
		})
	}
}

// clientScenarios reads the names of the scenarios for clients off a listing.
func clientScenarios(t *testing.T, listing outcome) []string {
	t.Helper()
	_, list, found := strings.Cut(listing.stdout, "Client scenarios")
	list, _, _ = strings.Cut(list, "\n\n") // what follows is not scored
	if !found {
		t.Fatalf("the suite lists no scenarios for clients: %s%s", listing.stdout, listing.stderr)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\s+- (\S+)`).FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	return names
}

// conform is the client that is examined: it does with the server at url what the
// scenario is about.
func conform(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	o := client.Options{Name: "conformance", Version: "1", Capabilities: mcp.Raw(`{"elicitation":{"form":{}}}`), Sink: accepting{}}
	if slices.Contains(mcp.ModernRevisions(), os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION")) {
		o.Era = mcp.Modern
	}
	by, err := authorizer(os.Getenv("MCP_CONFORMANCE_SCENARIO"), url)
	if err != nil {
		return err
	}
	t, err := client.OpenHTTP(client.Endpoint{Name: "conformance", URL: url, Authorizer: by})
	if err != nil {
		return err
	}
	s, err := client.Connect(ctx, t, o)
	if err != nil {
		return err
	}
	defer s.Close()
	tools, warnings, err := s.Tools(ctx)
	for _, w := range warnings {
		fmt.Fprintln(os.Stderr, w)
	}
	if err != nil {
		return err
	}
	call := func(name string, arguments any) {
		params, err := json.Marshal(map[string]any{"name": name, "arguments": arguments})
		if err != nil {
			panic(err)
		}
		var schema mcp.Raw
		for _, tool := range tools {
			if tool.Name == name {
				schema = tool.InputSchema
			}
		}
		result, err := s.Call(ctx, mcp.MethodToolsCall, params, client.CallOptions{InputSchema: schema})
		fmt.Fprintf(os.Stderr, "%s: %.200s %v\n", name, result, err)
	}
	none := map[string]any{}
	switch scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO"); scenario {
	case "tools_call":
		call("add_numbers", map[string]any{"a": 5, "b": 3})
	case "http-custom-headers":
		var given struct {
			ToolCalls []struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &given); err != nil {
			return err
		}
		for _, c := range given.ToolCalls {
			call(c.Name, c.Arguments)
		}
	case "json-schema-2020-12-preservation":
		for _, tool := range tools {
			if tool.Name == "json_schema_2020_12_tool" {
				call("json_schema_echo", map[string]any{"schema": tool.InputSchema})
			}
		}
	case "sep-2322-client-request-state":
		for _, name := range []string{"test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"} {
			call(name, none)
		}
	case "http-standard-headers":
		call(tools[0].Name, none)
		for _, of := range []struct{ list, member, key, read string }{
			{"resources/list", "resources", "uri", mcp.MethodRead},
			{"prompts/list", "prompts", "name", mcp.MethodPromptsGet},
		} {
			listed, err := s.Call(ctx, of.list, nil)
			if err != nil {
				return err
			}
			for entry := range mcp.Elements(mcp.Member(listed, of.member)) {
				if _, err := s.Call(ctx, of.read, mcp.Raw(`{"`+of.key+`":`+string(mcp.Member(entry, of.key))+`}`)); err != nil {
					return err
				}
				break
			}
		}
	default:
		for _, tool := range tools {
			call(tool.Name, map[string]any{"region": "us-west1"})
		}
	}
	return nil
}

// accepting accepts whatever it is asked, with the defaults of the question.
type accepting struct{}

func (accepting) Notify(string, mcp.Raw) {}

func (accepting) Request(_ context.Context, method string, params mcp.Raw) (mcp.Raw, *mcp.Error) {
	if method != mcp.MethodElicitation {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s is not offered", method)
	}
	content := map[string]mcp.Raw{}
	for name, schema := range mcp.Members(mcp.Member(mcp.Member(params, "requestedSchema"), "properties")) {
		if value := mcp.Member(schema, "default"); value != nil {
			content[name] = value
		}
	}
	answer, err := json.Marshal(map[string]any{"action": "accept", "content": content})
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInternalError, "%v", err)
	}
	return answer, nil
}

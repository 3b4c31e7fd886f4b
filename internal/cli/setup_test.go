package cli

import (
	"encoding/json"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	out := &api.ConfigOutput{
		Files: []api.ConfigFile{
			{Path: "/w/.mcpx.json", State: "absent"},
			{Path: "/w/.mcp.json", State: "read"},
		},
		Servers: []api.ConfigServer{
			{Name: "files", Transport: "stdio", Command: []string{"mcp-files", "--root", "my docs", "it's", "${HOME}", ""}, Origin: "/w/.mcp.json:3", Ignored: []string{"alwaysAllow", "timeout"}},
			{Name: "remote", Transport: "http", URL: "https://example.com/mcp", Origin: "/w/.mcp.json:9", Disabled: true},
			{Name: "sad", Transport: "stdio", Command: []string{"x"}, Origin: "/w/.mcp.json:12", Error: fault.Unavailablef("the variable TOKEN is not set").Hintf("set it, or write ${TOKEN:-default}")},
		},
		Warnings: []string{"/w/.mcp.json names the server x twice"},
	}
	s := drive(t, &desk{config: out}, "config")
	golden(t, "config.txt", s.stdout.String())
	if s.code != 0 {
		t.Errorf("exit %d", s.code)
	}

	broken := &api.ConfigOutput{Demo: true, Files: []api.ConfigFile{{Path: "/w/.mcp.json", State: "broken", Error: fault.Usagef("/w/.mcp.json:3:7: a comma is missing")}}}
	s = drive(t, &desk{config: broken}, "config")
	s.want(t, 2, "Files, nearest first:\n  broken  /w/.mcp.json\n  error: /w/.mcp.json:3:7: a comma is missing\n\nServers:\n  none; the built-in demo server stands in\n", "")
	s = drive(t, &desk{config: broken}, "config", "--json")
	var doc api.ConfigOutput
	if err := json.Unmarshal(s.stdout.Bytes(), &doc); err != nil || s.code != 2 || doc.Files[0].Error.Kind != fault.Usage {
		t.Errorf("exit %d, %v: %s", s.code, err, s.stdout.String())
	}
	absent := &api.ConfigOutput{Files: []api.ConfigFile{{Path: "/w/.mcpx.json", State: "absent"}, {Path: "/w/.mcp.json", State: "absent"}}}
	drive(t, &desk{config: absent}, "config").want(t, 0, "Files, nearest first:\n  absent  /w/.mcpx.json\n  absent  /w/.mcp.json\n\nServers:\n  none\n", "")
	drive(t, &desk{config: &api.ConfigOutput{}}, "config").want(t, 0, "Files, nearest first:\n\nServers:\n  none\n", "")
}

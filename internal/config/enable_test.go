package config

import (
	"fmt"
	"testing"
)

func TestAServerIsEnabledAndDisabled(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, on, off string }{
		{
			"on lines of its own", "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\" // why\n    }\n  }\n}\n",
			"{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\", // why\n      \"disabled\": true\n    }\n  }\n}\n",
		},
		{"on one line", `{ "mcpServers": { "a": { "command": "x" } } }`, `{ "mcpServers": { "a": { "command": "x", "disabled": true } } }`},
		{"by another word", `{ "mcp": { "a": { "command": ["x"], "enabled": true /* yes */ } } }`, `{ "mcp": { "a": { "command": ["x"], "enabled": false /* yes */ } } }`},
		{
			"one of two that is in a file of VS Code", `{ "servers": { "b": { "command": "y" }, "a": { "command": "x" } } }`,
			`{ "servers": { "b": { "command": "y" }, "a": { "command": "x", "disabled": true } } }`,
		},
	}
	for _, tt := range tests {
		for _, turn := range []struct {
			from, to string
			on       bool
		}{{tt.on, tt.off, false}, {tt.off, tt.off, false}, {tt.off, tt.on, true}, {tt.on, tt.on, true}} {
			got, err := Enable("/c.json", []byte(turn.from), "a", turn.on)
			if err != nil || string(got) != turn.to {
				t.Errorf("%s, %t: %v\n%s\nwant\n%s", tt.name, turn.on, err, got, turn.to)
				continue
			}
			a, _ := newTree(t, map[string]string{"home/.mcpx.json": string(got)}).load("").Server("a")
			if a.Disabled == turn.on {
				t.Errorf("%s: disabled is %t in\n%s", tt.name, a.Disabled, got)
			}
		}
	}
	for _, text := range []string{`{ "mcp": { "mcpServers": { "a": { %s} } } }`, `{ "mcp_servers": { "a": { %s} } }`} {
		on, off := fmt.Sprintf(text, `"command": "x" `), fmt.Sprintf(text, `"command": "x", "disabled": true `)
		if got, err := Enable("/c.json", []byte(on), "a", false); err != nil || string(got) != off {
			t.Errorf("%v\n%s\nwant\n%s", err, got, off)
		}
	}
	// Each of the words leaves it out, and so none may be left that does.
	if got, err := Enable("/c.json", []byte(`{ "mcpServers": { "a": { "disabled": true, "command": "x", "enabled": false, "disabled": true } } }`), "a", true); err != nil ||
		string(got) != `{ "mcpServers": { "a": { "command": "x", "enabled": true } } }` {
		t.Errorf("%v\n%s", err, got)
	}
	// One that is wrong can be left out until it is mended.
	if _, err := Enable("/c.json", []byte(`{ "mcpServers": { "a": {} } }`), "a", false); err != nil {
		t.Error(err)
	}
	for _, text := range []string{`{}`, `{ "mcpServers": { "b": {} } }`, `{ "mcpServers": { "a": null } }`, `{`} {
		if _, err := Enable("/c.json", []byte(text), "a", false); err == nil {
			t.Errorf("%s was changed", text)
		}
	}
}

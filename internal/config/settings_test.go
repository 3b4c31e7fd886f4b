package config

import (
	"strings"
	"testing"

	"mcpx/internal/fault"
)

func TestSettingsAreWrittenIntoFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, path, value, want string }{
		{"no file yet", "", "pool.max", "3", "{\n  \"pool\": {\n    \"max\": 3\n  }\n}\n"},
		{"a text", "", "pool.idleTimeout", "10m", "{\n  \"pool\": {\n    \"idleTimeout\": \"10m\"\n  }\n}\n"},
		{"a boolean", "", "daemon.autostart", "false", "{\n  \"daemon\": {\n    \"autostart\": false\n  }\n}\n"},
		{
			"beside servers", "{\n  // mine\n  \"mcpServers\": {}, // none yet\n}\n", "exec.timeout", "20m",
			"{\n  // mine\n  \"mcpServers\": {}, // none yet\n  \"exec\": {\n    \"timeout\": \"20m\"\n  },\n}\n",
		},
		{
			"in a group", "{\n\t\"exec\": {\n\t\t\"max\": \"1h\" // an hour\n\t}\n}", "exec.timeout", "20m",
			"{\n\t\"exec\": {\n\t\t\"max\": \"1h\", // an hour\n\t\t\"timeout\": \"20m\"\n\t}\n}",
		},
		{"in a group on one line", `{"exec": {"max": "1h"}}`, "exec.timeout", "20m", `{"exec": {"max": "1h", "timeout": "20m"}}`},
		{"in a group on one line with space", `{ "exec": { "max": "1h" } }`, "exec.timeout", "20m", `{ "exec": { "max": "1h", "timeout": "20m" } }`},
		{"in place of another value", "{\n  \"pool\": { \"max\": 4 /* four */, \"busy\": 2 }\n}\n", "pool.max", "8", "{\n  \"pool\": { \"max\": 8 /* four */, \"busy\": 2 }\n}\n"},
		{"in place of a text", `{"pool": {"max": "4"}}`, "pool.max", "8", `{"pool": {"max": 8}}`},
		{"a group in a group", "", "daemon.limits.toolCalls", "3", "{\n  \"daemon\": {\n    \"limits\": { \"toolCalls\": 3 }\n  }\n}\n"},
		{
			"a group in a group that is there", "{\n  \"daemon\": {\n    \"idleExit\": \"1h\"\n  }\n}\n", "daemon.limits.cpu", "3s",
			"{\n  \"daemon\": {\n    \"idleExit\": \"1h\",\n    \"limits\": {\n      \"cpu\": \"3s\"\n    }\n  }\n}\n",
		},
		{"in a group in a group", `{"daemon": {"limits": {"cpu": "1s"}}}`, "daemon.limits.toolCalls", "3", `{"daemon": {"limits": {"cpu": "1s", "toolCalls": 3}}}`},
		{"a group that is null", "{\n  \"pool\": null\n}\n", "pool.max", "8", "{\n  \"pool\": {\n    \"max\": 8\n  }\n}\n"},
	} {
		got, err := SetSetting("/u/.mcpx.json", []byte(tt.text), tt.path, tt.value)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\ngot\n%s\nwant\n%s", tt.name, err, got, tt.want)
		}
		again, err := SetSetting("/u/.mcpx.json", got, tt.path, tt.value)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: set once more it is\n%s\n%v", tt.name, again, err)
		}
		out, was, err := UnsetSetting("/u/.mcpx.json", got, tt.path)
		if err != nil || !was {
			t.Errorf("%s: unset: %v, %v", tt.name, was, err)
		}
		if _, was, err := UnsetSetting("/u/.mcpx.json", out, tt.path); was || err != nil {
			t.Errorf("%s: unset twice: %v, %v", tt.name, was, err)
		}
		for comment := range strings.SplitSeq("// mine|// none yet|// an hour|/* four */", "|") {
			if strings.Contains(tt.text, comment) && (!strings.Contains(string(got), comment) || comment != "/* four */" && !strings.Contains(string(out), comment)) {
				t.Errorf("%s: the comment %s is gone:\n%s\n%s", tt.name, comment, got, out)
			}
		}
	}
}

func TestSettingsAreTakenOutOfFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, path, want string }{
		{"the last of its group", "{\n  \"mcpServers\": {},\n  \"pool\": {\n    \"max\": 3\n  }\n}\n", "pool.max", "{\n  \"mcpServers\": {}\n}\n"},
		{"one of two", `{"pool": {"max": 3, "busy": 2}}`, "pool.max", `{"pool": { "busy": 2}}`},
		{"the last of a group in a group", `{"daemon": {"limits": {"cpu": "1s"}}, "pool": {"max": 3}}`, "daemon.limits.cpu", `{ "pool": {"max": 3}}`},
		{"one of two groups in a group", `{"daemon": {"idleExit": "1h", "limits": {"cpu": "1s"}}}`, "daemon.limits.cpu", `{"daemon": {"idleExit": "1h"}}`},
		{"a group with a comment", "{\"pool\": {\n  // for later\n  \"max\": 3\n}}", "pool.max", "{\"pool\": {\n  // for later\n}}"},
	} {
		got, was, err := UnsetSetting("/u/.mcpx.json", []byte(tt.text), tt.path)
		if err != nil || !was || string(got) != tt.want {
			t.Errorf("%s: %v, %v\ngot\n%s\nwant\n%s", tt.name, was, err, got, tt.want)
		}
	}
}

func TestSettingsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, text, path, value, want string }{
		{"no such setting", ".mcpx.json", "", "pool.maxx", "1", "there is no setting pool.maxx"},
		{"none of its values", ".mcpx.json", "", "pool.max", "many", "pool.max: "},
		{"a broken file", ".mcpx.json", `{"a": `, "pool.max", "1", ".mcpx.json:1"},
		{"no object", ".mcpx.json", `[]`, "pool.max", "1", "where an object is needed"},
		{"a group that is none", ".mcpx.json", `{"pool": 5}`, "pool.max", "1", "pool is not an object"},
		{"a group in a group that is none", ".mcpx.json", `{"daemon": {"limits": 5}}`, "daemon.limits.cpu", "1s", "limits is not an object"},
		{"TOML", "config.toml", "[mcp_servers.a]\ncommand = \"x\"\n", "pool.max", "1", "TOML"},
		{"another host's", "mcp.json", `{"projects": {}}`, "pool.max", "1", "file of another host"},
		{"a list of files", ".mcpx.json", "", "paths.config", "a:b", "is a list in a file"},
	} {
		got, err := SetSetting("/u/"+tt.file, []byte(tt.text), tt.path, tt.value)
		if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %s, %v; want %s", tt.name, got, err, tt.want)
		}
	}
}

func FuzzSetSetting(f *testing.F) {
	f.Add("{}", "pool.max", "3")
	f.Add("{\"pool\": {\"max\": 1,},}", "pool.max", "3")
	f.Add("// c\n", "exec.timeout", "1s")
	f.Fuzz(func(t *testing.T, text, path, value string) {
		got, err := SetSetting("/u/.mcpx.json", []byte(text), path, value)
		if err != nil {
			return
		}
		out, was, err := UnsetSetting("/u/.mcpx.json", got, path)
		if err != nil || !was {
			t.Fatalf("set in %q it is %q, and unset %q: %v, %v", text, got, out, was, err)
		}
	})
}

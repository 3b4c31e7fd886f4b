package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/rule"
)

// What the mcpx block holds may stand on the entry itself, in files that are mcpx's alone. In others it is told of.
func TestKeysOfTheBlockOnTheEntryItself(t *testing.T) {
	t.Parallel()
	const entry = "{\"mcpServers\": {\n\"a\": {\"command\": \"x\",\n\"scope\": \"session\", \"sharing\": \"exclusive\", \"max\": 2, \"idleTimeout\": \"30m\", \"callTimeout\": \"5s\",\n" +
		`"inheritEnv": true, "tools": ["*"], "excludeTools": ["rm"], "extraIncludeTools": ["z"], "writePolicy": "deny", "argumentRules": {"get": {"required": ["p"]}}},` +
		"\n\"b\": {\"aliasOf\": \"a\"}}}"
	process := Process{Scope: "session", Sharing: "exclusive", Max: 2, IdleTimeout: 30 * time.Minute, CallTimeout: 5 * time.Second}
	for file, named := range map[string]string{
		"home/.mcpx.json": "", "home/.config/mcpx/config.json": "", "else/.mcpx.json": "else/.mcpx.json", "else/.mcpx/config.json": "else/.mcpx/config.json",
	} {
		tr := newTree(t, map[string]string{file: entry})
		c := tr.load(named)
		a, _ := c.Server("a")
		if a.Process != process || !a.InheritEnv || len(a.Ignored)+len(c.Warnings)+len(c.Astray) > 0 {
			t.Errorf("%s: %+v, inheritEnv %t, ignored %q, warnings %q", file, a.Process, a.InheritEnv, a.Ignored, c.Warnings)
		}
		equal(t, file+": hidden", hides(t, c, "a", "rm", "get"), "rm")
		if policy, _ := a.Rules.Writing(rule.Allow, ""); policy != rule.Deny || len(a.Rules.For("get")) != 1 {
			t.Errorf("%s: writes %s, rules %v", file, policy, a.Rules.For("get"))
		}
		if b, _ := c.Server("b"); b.Problem != nil || b.alias != a {
			t.Errorf("%s: the alias: %v", file, b.Problem)
		}
	}

	tr := newTree(t, map[string]string{".mcp.json": entry})
	c := tr.load("")
	a, _ := c.Server("a")
	if a.Process != (Process{}) || a.InheritEnv || len(a.Ignored) > 0 {
		t.Errorf("of .mcp.json: %+v, inheritEnv %t, ignored %q", a.Process, a.InheritEnv, a.Ignored)
	}
	equal(t, "what other hosts write too", hides(t, c, "a", "rm", "get"), "rm")
	equal(t, "what every command says", tr.relative(strings.Join(c.Astray, "\n")), `
/.mcp.json:3: server "a": "scope", "sharing", "max", "idleTimeout", "callTimeout", "inheritEnv", "extraIncludeTools", "writePolicy", "argumentRules" of the entry itself: nothing reads that in a file of other programs; write it under "mcpx"
/.mcp.json:5: server "b": "aliasOf" of the entry itself: nothing reads that in a file of other programs; write it under "mcpx"`)
	if strings.Join(c.Warnings, "\n") != strings.Join(c.Astray, "\n") {
		t.Errorf("warnings %q", c.Warnings)
	}
	c.Strict()
	if a.Problem == nil || !strings.Contains(a.Problem.Message, "scope") {
		t.Errorf("strictly: %v", a.Problem)
	}
}

func TestAKeyOfTheBlockIsSaidOnce(t *testing.T) {
	t.Parallel()
	for file, tests := range map[string]map[string]string{
		".mcpx.json": {
			`"mcpx": {"scope": "cwd"}, "scope": "session"`: "scope: mcpx.scope says the same, and both are in the entry",
			`"scope": "cwd", "mcpx": {"scope": "cwd"}`:     "mcpx.scope: scope says the same, and both are in the entry",
			`"max": 0`:                  `max: "0" is not a whole number of at least 1`,
			`"aliasOf": "b"`:            "aliasOf: an alias has a command or a url of its own",
			`"excludeTools": "rm"`:      "excludeTools: a string where a list is needed",
			`"argumentRules": {"x": 1}`: `argumentRules["x"]: a number where an object is needed`,
			`"inheritEnv": true, "mcpx": {"inheritEnv": false}`:  "mcpx.inheritEnv: inheritEnv says the same, and both are in the entry",
			`"tools": ["a"], "mcpx": {"tools": ["b"]}`:           "mcpx.tools: tools says the same, and both are in the entry",
			`"scope": null, "mcpx": {"scope": null, "max": 1}`:   "",
			`"scope": "cwd", "mcpx": {"scope": null, "max": 1} `: "",
		},
		".mcp.json": {
			`"disabledTools": ["a"], "mcpx": {"excludeTools": ["b"]}`: "mcpx.excludeTools: disabledTools says the same, and both are in the entry",
			`"enabled_tools": ["a"], "includeTools": ["b"]`:           "includeTools: enabled_tools says the same, and both are in the entry",
			`"scope": "cwd", "mcpx": {"scope": "repo"}`:               "",
			`"tools": [{"name": "a"}], "mcpx": {"tools": ["b"]}`:      "",
		},
	} {
		for keys, want := range tests {
			tr := newTree(t, map[string]string{
				file: "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n" + keys + "}}}", "home/.mcpx.json": `{"mcpServers": {"b": {"command": "y"}}}`,
			})
			c := tr.load("")
			got := ""
			if a, _ := c.Server("a"); a.Problem != nil {
				got = strings.TrimPrefix(tr.relative(a.Problem.Message), "/"+file+`:2: server "a": `)
			}
			if got != want {
				t.Errorf("%s: %s: %q, want %q", file, keys, got, want)
			}
			if b, _ := c.Server("b"); b.Problem != nil {
				t.Errorf("%s: %s: another server: %v", file, keys, b.Problem)
			}
		}
	}
	// Of two lists of what is hidden neither may be lost, also behind an entry that counts for more.
	tr := newTree(t, map[string]string{
		".mcpx.json":      `{"mcpServers": {"a": {"command": "x"}}}`,
		"home/.mcpx.json": `{"mcpServers": {"a": {"command": "x", "excludeTools": ["one"], "mcpx": {"excludeTools": ["two"]}}}}`,
	})
	if a, _ := tr.load("").Server("a"); a.Problem == nil || !strings.Contains(a.Problem.Message, "excludeTools says the same") {
		t.Errorf("a project's entry gets round the rules: %v", a.Problem)
	}
}

// one loads the text of one file and returns its entry of a name.
func one(t *testing.T, text, name string, environ map[string]string) (*Server, Env) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "c.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := Env{Dir: dir, Home: dir, Lookup: func(name string) (string, bool) { v, ok := environ[name]; return v, ok }}
	c, err := Load(Options{Env: env, File: file})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := c.Server(name)
	if !ok {
		t.Fatalf("no server %s in %s", name, text)
	}
	return s, env
}

func TestWhatAnEntrySaysAboutItsProcesses(t *testing.T) {
	t.Parallel()
	s, env := one(t, `{"mcpServers": {"a": {"command": "x", "mcpx": {
		"scope": "session", "sharing": "exclusive", "max": 2, "idleTimeout": "30m", "callTimeout": "5s"}}}}`, "a", nil)
	d, err := s.Resolve(env)
	want := Process{Scope: "session", Sharing: "exclusive", Max: 2, IdleTimeout: 30 * time.Minute, CallTimeout: 5 * time.Second}
	if err != nil || d.Process != want || len(s.Warnings) > 0 {
		t.Errorf("Process = %+v, %v, warnings %q, want %+v", d.Process, err, s.Warnings, want)
	}
	for _, tt := range []struct{ key, value, want, hint string }{
		{"scope", `"galaxy"`, `mcpx.scope: "galaxy" is not one of its values`, "call or pid or session"},
		{"scope", `1`, "mcpx.scope: a number where a string is needed", "double quotes"},
		{"sharing", `"both"`, `mcpx.sharing: "both" is not one of its values`, "exclusive or shared"},
		{"max", `0`, `mcpx.max: "0" is not a whole number of at least 1`, "a number"},
		{"max", `"2"`, "mcpx.max: a string where a number is needed", "a number"},
		{"idleTimeout", `"5"`, `mcpx.idleTimeout: "5" is a duration without a unit`, "10m"},
		{"callTimeout", `"soon"`, `mcpx.callTimeout: "soon" is not a duration`, "10m"},
		{"aliasOf", `""`, "mcpx.aliasOf: it names no server", "another server"},
	} {
		s, env := one(t, "{\"mcpServers\": {\n\"a\": {\"command\": \"x\", \"mcpx\": {\n\""+tt.key+"\": "+tt.value+"}}}}", "a", nil)
		_, err := s.Resolve(env)
		e := fault.From(err)
		if e == nil || e.Kind != fault.Usage || !strings.HasSuffix(e.Message, `c.json:3: server "a": `+tt.want) || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%s: %s: %v (%s), want %q and a hint of %q", tt.key, tt.value, err, e.Hint, tt.want, tt.hint)
		}
	}
}

func TestAnAliasSharesTheDefinition(t *testing.T) {
	t.Parallel()
	const text = `{"mcpServers": {"a": {"command": "x", "args": ["1"]}, "b": {"mcpx": {"aliasOf": "a"}}, "r": {"url": "https://h/m"}, "s": {"mcpx": {"aliasOf": "r"}}}}`
	for alias, other := range map[string]string{"b": "a", "s": "r"} {
		s, env := one(t, text, alias, nil)
		got, err := s.Resolve(env)
		if err != nil || got.Name != other || s.Transport != got.Transport {
			t.Errorf("%s resolves to %+v, %v, want the definition of %s", alias, got, err, other)
		}
	}
	for _, tt := range []struct{ name, text, want string }{
		{"of nobody", `{"mcpServers": {"b": {"mcpx": {"aliasOf": "a"}}}}`, `mcpx.aliasOf: no server is called "a"`},
		{"of itself", `{"mcpServers": {"b": {"mcpx": {"aliasOf": "b"}}}}`, `"b" is itself an alias`},
		{"of an alias", `{"mcpServers": {"a": {"command": "x"}, "c": {"mcpx": {"aliasOf": "a"}}, "b": {"mcpx": {"aliasOf": "c"}}}}`, `"c" is itself an alias`},
		{"with a command", `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y", "mcpx": {"aliasOf": "a"}}}}`, "an alias has a command or a url of its own"},
	} {
		s, env := one(t, tt.text, "b", nil)
		if _, err := s.Resolve(env); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	environ := map[string]string{"GIVEN": "value-of-given", "HOST": "api.example.com", "HOME": "/home/somebody", "SHORT": "abc", "KEY": "key-in-the-address", "API_KEY": "key-by-its-name"}
	tests := []struct{ name, entry, said, want string }{
		{"from a variable", `"command": "x", "env": {"A": "v:${GIVEN}"}`, "got v:value-of-given!", "got v:[redacted]!"},
		{"in an argument", `"command": "x", "args": ["--k=${env:GIVEN}"]`, "--k=value-of-given", "--k=[redacted]"},
		{"a header", `"url": "https://h", "headers": {"Authorization": "Bearer literal-token"}`, "token literal-token is wrong", "token [redacted] is wrong"},
		{"by its name", `"command": "x", "env": {"MY_TOKEN": "literal-token"}`, "literal-token", "[redacted]"},
		{"a plain literal", `"command": "x", "env": {"MODE": "production"}`, "production", "production"},
		{"a folder", `"command": "x", "args": ["${HOME}/x", "${workspaceFolder}"]`, "/home/somebody/x", "/home/somebody/x"},
		{"what is short", `"command": "x", "env": {"A": "${SHORT}"}`, "abc", "abc"},
		{"the host of an address", `"url": "https://${HOST}/m"`, "api.example.com", "api.example.com"},
		{"a key in an address", `"url": "https://h/m?key=${API_KEY}"`, "GET https://h/m?key=key-by-its-name", "GET https://h/m?key=[redacted]"},
		{"a default", `"command": "x", "args": ["${NONE:-something}"]`, "something", "something"},
	}
	for _, tt := range tests {
		s, env := one(t, `{"mcpServers": {"a": {`+tt.entry+`}}}`, "a", environ)
		d, err := s.Resolve(env)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := d.Redact(tt.said); got != tt.want {
			t.Errorf("%s: Redact(%q) = %q, want %q", tt.name, tt.said, got, tt.want)
		}
	}
}

func TestProcessKeyHasTheDirectoryOnlyIfItMatters(t *testing.T) {
	t.Parallel()
	here, there := t.TempDir(), t.TempDir()
	for _, dir := range []string{here, there} {
		if err := os.WriteFile(filepath.Join(dir, "server.js"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key := func(d Definition, dir string) string {
		d.Dir = dir
		return d.ProcessKey(os.Stat)
	}
	for _, tt := range []struct {
		name string
		def  Definition
		same bool
	}{
		{"a program of PATH", Definition{Command: "server"}, true},
		{"words that are no files", Definition{Command: "npx", Args: []string{"-y", "some-server"}}, true},
		{"a file beside", Definition{Command: "node", Args: []string{"server.js"}}, false},
		{"the folder itself", Definition{Command: "server", Args: []string{"."}}, false},
		{"a program beside", Definition{Command: "./server.js"}, false},
		{"cwd in the entry", Definition{Command: "server", ownDir: true}, false},
	} {
		if a, b := key(tt.def, here), key(tt.def, there); (a == b) != tt.same {
			t.Errorf("%s: the keys are equal: %t, want %t", tt.name, a == b, tt.same)
		}
	}
	a, b := Definition{Command: "x", Process: Process{Scope: "session"}}, Definition{Command: "x"}
	if a.ProcessKey(os.Stat) != b.ProcessKey(os.Stat) {
		t.Error("the scope is part of the key of the process")
	}
}

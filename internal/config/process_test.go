package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpx/internal/fault"
)

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

package config

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// FuzzLoad holds that no text in any of the places where files are looked for makes a load
// panic, that a broken file hides no server of another, and that what a host's file holds can
// be taken over or is refused.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		`{"paths": {"config": ["a.json", null, "~/x", "${HOME}/y", "./.mcpx.json"]}, "imports": ["vscode", "codex", "x", 1], "mcpServers": {"a": {"command": "x"}}}`,
		`{"paths.config": [null], "paths": 1, "inputs": [{"id": "i", "type": "pickString", "options": ["a", {"value": "b"}]}, 1], "servers": {"a": {"url": "http://h/${input:i}"}}}`,
		`{"imports": {}, "mcp": {"servers": {"a": null}, "excluded": [1]}, "exec": {"timeout": "1"}, "odd": {}}`,
		"[mcp_servers.a]\ncommand = 'x'\ndisabled_tools = ['y']\nenv_vars = ['A']\n[mcp_servers.a.mcpx]\nx = nan\n",
		`{"context_servers": {"a": {"settings": {}}, "b": {"command": {"path": "x"}, "auth": {"clientSecret": "s"}, "url": "http://h"}}}`, "\xFF\xFE{", "{",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tr := newTree(t, map[string]string{"home/.mcpx.json": `{"mcpServers": {"mine": {"command": "m"}}}`})
		tr.dir = "w"
		for _, name := range []string{"w/.mcpx.json", "w/.mcp.json", "w/a.json", "w/.vscode/mcp.json", "w/.codex/config.toml", "home/.cursor/mcp.json"} {
			tr.write(name, string(raw))
		}
		o := Options{Env: tr.env(), Trusted: everyone}
		o.Env.Input = func(string, string) (string, bool) { return "v", true }
		set, err := o.FileSet()
		if err != nil {
			t.Fatal(err)
		}
		c, err := Load(o)
		if err != nil {
			t.Fatal(err)
		}
		c.Strict()
		for _, s := range c.Servers {
			_, _ = s.Resolve(o.Env)
			_ = s.Inputs()
		}
		if _, ok := c.Server("mine"); !ok && c.Err() != nil && slices.Contains(set.Files, tr.path("home/.mcpx.json")) {
			if !bytes.Contains(raw, []byte("mine")) && !bytes.Contains(raw, []byte(`\u`)) {
				t.Errorf("a broken file hides the servers of another: %v", c.Err())
			}
		}
		for _, name := range HostNames() {
			for _, file := range o.HostFiles(name) {
				for _, e := range file.Entries {
					_, _ = e.New.Shown(), e.New.Plain()
					if e.Err != nil {
						continue
					}
					if text, _, err := Import(tr.path("out.json"), nil, []HostEntry{e}); err == nil && e.New.Name != "" {
						if _, err := Remove(tr.path("out.json"), text, e.New.Name); err != nil {
							t.Errorf("%q was taken over and cannot be removed: %v", e.New.Name, err)
						}
					}
				}
			}
		}
	})
}

// FuzzRead holds that no text makes the reader panic, and that every error is at a place
// inside the file.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"mcpServers": {"a": {"command": "x", "args": ["${A}", 1], "env": {"B": "$env:C"}, "mcpx": {"x": 1}}}}`,
		`{"servers": {"a": {"type": "http", "url": "http://h/"}}, "inputs": []}`,
		`{"mcp": {"a": {"command": ["x", "y"], "environment": {}, "enabled": false}}}`,
		`{"projects": {"/": {"mcpServers": {"a": null}}}, "mcpServers": {"a": "x"}}`,
		"// c\n{\"a\": [1,], /* */ \"exec\": {\"timeout\": \"1\"},}",
		`{"a": "\q"}`, "{\"a\": \"x\n", `{"a" 1}`, `{'a'}`, "\xFF\xFE{\x00}\x00", "\xEF\xBB\xBF{}", "{\"\xfc\"}", "", "null",
		"[mcp_servers.a]\ncommand = 'x'\nenv = { A = 1, B.c = [{}] }\n", "a = nope", "[[a]]\n[a.b]\nc = 1979-05-27\n", "a.b = 1\na = 2", "a = \"\"\"",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, asTOML bool) {
		p := place{path: "/dir/.mcpx.json", project: true}
		if asTOML {
			p.path = "/dir/c.toml"
		}
		env := Env{Dir: "/dir", Lookup: func(string) (string, bool) { return "v", true }}
		d, err := newDocument(p.path, raw)
		inside := func(e *fault.Error) {
			t.Helper()
			line, _ := e.Details["line"].(int)
			if line < 1 || line > len(d.lines) {
				t.Errorf("line %d of %d: %s", line, len(d.lines), e.Message)
				return
			}
			if column, ok := e.Details["column"].(int); ok {
				end := len(d.text)
				if line < len(d.lines) {
					end = d.lines[line]
				}
				if column < 1 || column > end-d.lines[line-1]+1 {
					t.Errorf("column %d of line %d: %s", column, line, e.Message)
				}
			}
			if !strings.HasPrefix(e.Message, p.path+":") {
				t.Errorf("the message does not begin with the place: %s", e.Message)
			}
		}
		if err != nil {
			inside(err)
			return
		}
		root, err := d.parse()
		if err != nil {
			inside(err)
			return
		}
		r := reader{place: p, doc: d, env: env}
		if err := r.read(root); err != nil {
			inside(err)
			return
		}
		for _, e := range r.entries {
			if e.server == nil {
				continue
			}
			if e.server.Problem != nil {
				inside(e.server.Problem)
			}
			definition, err := e.server.Resolve(env)
			switch {
			case err != nil:
				inside(fault.From(err))
			case definition.Transport == Stdio && definition.Command == "":
				t.Errorf("a definition without a command: %+v", definition)
			}
		}
		var set settings.Set
		_ = set.ApplyFile(r.settings)
	})
}

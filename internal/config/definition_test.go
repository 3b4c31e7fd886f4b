package config

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestAFingerprintIsThatOfTheResolvedDefinition(t *testing.T) {
	t.Parallel()
	base := func() *Definition {
		return &Definition{
			Name: "a", Transport: Stdio, Command: "x", Args: []string{"1", "2"},
			Env: map[string]string{"A": "1", "B": "2", "T": "secret"}, Dir: "/d",
		}
	}
	if first, second := base().Fingerprint(), base().Fingerprint(); first != second {
		t.Error("two fingerprints of one definition differ")
	}
	if f := base().Fingerprint(); len(f) != 64 || strings.Contains(f, "secret") {
		t.Errorf("Fingerprint() = %q", f)
	}
	seen := map[string]string{base().Fingerprint(): "nothing"}
	for what, change := range map[string]func(*Definition){
		"name":      func(d *Definition) { d.Name = "b" },
		"transport": func(d *Definition) { d.Transport = HTTP },
		"command":   func(d *Definition) { d.Command = "y" },
		"args":      func(d *Definition) { d.Args = []string{"1 2"} },
		"quotes":    func(d *Definition) { d.Args = []string{`1" "2`} },
		"bytes":     func(d *Definition) { d.Args = []string{"1", "\xff"} },
		"bytes too": func(d *Definition) { d.Args = []string{"1", "\xfe"} },
		"env":       func(d *Definition) { d.Env["A"] = "2" },
		"env name":  func(d *Definition) { delete(d.Env, "A"); d.Env["C"] = "1" },
		"headers":   func(d *Definition) { d.Headers = map[string]string{"A": "1"} },
		"dir":       func(d *Definition) { d.Dir = "/e" },
		"url":       func(d *Definition) { d.URL = "http://h/" },
		"untyped":   func(d *Definition) { d.Untyped = true },
		"inherit":   func(d *Definition) { d.InheritEnv = true },
	} {
		d := base()
		change(d)
		f := d.Fingerprint()
		if other, same := seen[f]; same {
			t.Errorf("a change of %s has the fingerprint of %s", what, other)
		}
		seen[f] = what
	}
}

func TestTheCatalogKeyFollowsTheFilesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{"a/server.js": "1", "b/server.js": "1", "run": "1"})
	key := func(dir string, ownDir bool, command string, args ...string) string {
		d := &Definition{Name: "a", Transport: Stdio, Command: command, Args: args, Dir: tr.path(dir), ownDir: ownDir}
		return d.CatalogKey(os.Stat)
	}
	touched := func(file string) {
		if err := os.Chtimes(tr.path(file), time.Time{}, time.Unix(12345, 0)); err != nil {
			t.Fatal(err)
		}
	}

	if key("a", false, "node", "--flag") != key("b", false, "node", "--flag") {
		t.Error("the caller's directory is part of a key to which it is nothing")
	}
	if key("a", true, "node") == key("b", true, "node") {
		t.Error("the entry's own directory is no part of the key")
	}
	if key("a", false, "node", "server.js") == key("b", false, "node", "server.js") {
		t.Error("two files of one name have one key")
	}
	if key("a", false, "node", ".") == key("b", false, "node", ".") {
		t.Error("two folders of one name have one key")
	}

	before := key("a", false, "node", "server.js")
	touched("a/server.js")
	if key("a", false, "node", "server.js") == before {
		t.Error("an edited file leaves the key as it was")
	}
	before = key("a", false, tr.path("run"))
	tr.write("run", "12")
	if key("a", false, tr.path("run")) == before {
		t.Error("an edited program leaves the key as it was")
	}
	before = key(".", false, "run") // found through PATH, whatever lies in the directory
	touched("run")
	if key(".", false, "run") != before {
		t.Error("a file that is not the program is part of the key")
	}
}

func TestByHandShowsNoSecret(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, entry, want string }{
		{"as it is", `{"command": "node", "args": ["a b.js", "it's", "$${X}", ""]}`, `cd / && node 'a b.js' 'it'\''s' '${X}' ''`},
		{"folders are no secrets", `{"command": "${workspaceFolder}/x", "args": ["${userHome}"]}`, "cd / && /x /home"},
		{"variables are as written", `{"command": "x", "args": ["--token=${TOKEN}", "a \"$env:TOKEN\"", "${NO:-n}"]}`, `cd / && x "--token=${TOKEN}" "a \"$env:TOKEN\"" "${NO:-n}"`},
		{"env and headers are left out", `{"command": "x", "env": {"K": "value"}}`, "cd / && x"},
		{"a folder of its own", `{"command": "x", "cwd": "sub dir"}`, "cd '/sub dir' && x"},
		{"a folder by variable", `{"command": "x", "cwd": "/w/${TOKEN}"}`, `cd "/w/${TOKEN}" && x`},
	}
	for _, c := range cases {
		tr := newTree(t, map[string]string{".mcp.json": `{"mcpServers": {"s": ` + c.entry + `}}`})
		tr.vars["TOKEN"] = "secret"
		s, _ := tr.load("").Server("s")
		d, err := s.Resolve(tr.env())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := d.ByHand()
		got = strings.ReplaceAll(strings.ReplaceAll(got, tr.root+"/", "/"), tr.root, "/")
		if got != c.want || strings.Contains(got, "secret") {
			t.Errorf("%s: ByHand() = %s, want %s", c.name, got, c.want)
		}
	}
	bare := Definition{Command: "x", Args: []string{"$Y"}, Env: map[string]string{"K": "secret"}}
	if got := bare.ByHand(); got != "x '$Y'" {
		t.Errorf("ByHand() = %s", got)
	}
}

package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

// tree is a folder with files, and an environment whose home and working directory are in it.
type tree struct {
	t    *testing.T
	root string
	vars map[string]string
	home string
	dir  string
}

func newTree(t *testing.T, files map[string]string) *tree {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr := &tree{t: t, root: root, vars: map[string]string{}, home: "home", dir: "."}
	for name, text := range files {
		tr.write(name, text)
	}
	return tr
}

func (tr *tree) path(name string) string { return filepath.Join(tr.root, name) }

func (tr *tree) write(name, text string) {
	tr.t.Helper()
	if err := os.MkdirAll(filepath.Dir(tr.path(name)), 0o700); err != nil {
		tr.t.Fatal(err)
	}
	text = strings.ReplaceAll(text, "ROOT", tr.root)
	if err := os.WriteFile(tr.path(name), []byte(text), 0o600); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *tree) env() Env {
	return Env{
		Home: tr.path(tr.home), Dir: tr.path(tr.dir),
		Lookup: func(name string) (string, bool) { v, ok := tr.vars[name]; return v, ok },
	}
}

// load loads what is in the tree, and nothing of the machine that the test runs on.
func (tr *tree) load(file string) *Config {
	tr.t.Helper()
	places, err := Options{Env: tr.env(), File: file}.places()
	if err != nil {
		tr.t.Fatalf("Load: %v", err)
	}
	return load(slices.DeleteFunc(places, func(p place) bool { return !strings.HasPrefix(p.path, tr.root) }), Options{Env: tr.env()})
}

// relative takes the machine's paths out of a text.
func (tr *tree) relative(text string) string { return strings.ReplaceAll(text, tr.root, "") }

// show writes the servers in one line each.
func (tr *tree) show(c *Config) string {
	var b strings.Builder
	for _, s := range c.Servers {
		d, err := s.Resolve(tr.env())
		fmt.Fprintf(&b, "%s", s.Name)
		if s.Disabled {
			b.WriteString(" (disabled)")
		}
		switch {
		case err != nil:
			fmt.Fprintf(&b, ": error")
		case d.Transport == Stdio:
			fmt.Fprintf(&b, ": %s", strings.Join(append([]string{d.Command}, d.Args...), " "))
			for _, name := range slices.Sorted(maps.Keys(d.Env)) {
				fmt.Fprintf(&b, " %s=%s", name, d.Env[name])
			}
			if d.Dir != tr.path(tr.dir) {
				fmt.Fprintf(&b, " in %s", d.Dir)
			}
		default:
			fmt.Fprintf(&b, ": %s %s", d.Transport, d.URL)
			for _, name := range slices.Sorted(maps.Keys(d.Headers)) {
				fmt.Fprintf(&b, " %s=%s", name, d.Headers[name])
			}
		}
		b.WriteString("\n")
	}
	return tr.relative(b.String())
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

func TestFilesAreSearchedUpwardNearestFirst(t *testing.T) {
	t.Parallel()
	only := func(command string) string {
		return `{"mcpServers": {"all": {"command": "` + command + `"}, "` + command + `": {"command": "` + command + `"}}}`
	}
	tr := newTree(t, map[string]string{
		"home/w/p/.mcpx.json":        only("one"),
		"home/w/p/.mcpx/config.json": only("two"),
		"home/w/p/.mcp.json":         only("three"),
		"home/w/.mcp.json":           only("four"),
		"home/.mcpx.json":            only("six"),
		"xdg/mcpx/config.json":       only("five"),
	})
	tr.dir = "home/w/p"
	tr.vars["XDG_CONFIG_HOME"] = tr.path("xdg")
	c := tr.load("")
	var read []string
	for _, f := range c.Files {
		if f.State == Read {
			read = append(read, tr.relative(f.Path))
		}
	}
	equal(t, "files read", strings.Join(read, "\n"), `
/home/w/p/.mcpx.json
/home/w/p/.mcpx/config.json
/home/w/p/.mcp.json
/home/w/.mcp.json
/home/.mcpx.json
/xdg/mcpx/config.json`)
	equal(t, "servers", tr.show(c), "all: one\nfive: five\nfour: four\none: one\nsix: six\nthree: three\ntwo: two\n")
	whole, err := Load(Options{Env: tr.env()})
	if err != nil {
		t.Fatal(err)
	}
	if last := whole.Files[len(whole.Files)-1].Path; last != systemFile {
		t.Errorf("the last place is %s, want %s", last, systemFile)
	}
	if !slices.ContainsFunc(whole.Files, func(f File) bool { return f.Path == "/.mcp.json" }) {
		t.Error("the search upward ends before the root")
	}
	if c.Explicit || c.Err() != nil || len(c.Warnings) > 0 {
		t.Errorf("Explicit %v, Err %v, Warnings %q", c.Explicit, c.Err(), c.Warnings)
	}

	tr.dir = "xdg" // beside the home
	equal(t, "servers from elsewhere", tr.show(tr.load("")), "all: five\nfive: five\nsix: six\n")
	if s, ok := tr.load("").Server("six"); !ok || tr.relative(s.Origin.String()) != "/home/.mcpx.json:1" {
		t.Errorf(`Server("six") = %+v, %v`, s, ok)
	}
	if _, ok := tr.load("").Server("seven"); ok {
		t.Error(`Server("seven") exists`)
	}
}

func TestOneFileIsNamedInstead(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		".mcp.json": `{"mcpServers": {"found": {"command": "x"}}}`,
		"a.json":    `{"mcpServers": {"a": {"command": "x"}}}`,
		"b.json":    `// nothing yet`,
	})
	equal(t, "by flag", tr.show(tr.load("a.json")), "a: x")
	tr.vars["MCPX_CONFIG"] = "b.json"
	c := tr.load("")
	if !c.Explicit || len(c.Servers) != 0 || len(c.Files) != 1 || c.Err() != nil {
		t.Errorf("an empty file by variable: %+v, %v", c, c.Err())
	}
	equal(t, "the flag before the variable", tr.show(tr.load(tr.path("a.json"))), "a: x")

	for variable, file := range map[string]string{"": "gone.json", "gone.json": ""} {
		tr.vars["MCPX_CONFIG"] = variable
		_, err := Load(Options{Env: tr.env(), File: file})
		e := fault.From(err)
		by := "--config names it"
		if variable != "" {
			by = "MCPX_CONFIG names it"
		}
		if e == nil || e.Kind != fault.Usage || tr.relative(e.Message) != "the configuration file /gone.json does not exist" || e.Hint != by {
			t.Errorf("a file that is not there: %+v", e)
		}
	}
}

func TestDialects(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, file, text, want string
	}{
		{
			name: "mcpServers with comments, trailing commas and another host's keys", file: "c.json",
			text: `{
				// "off": { "command": "no" },
				"mcpServers": {
					/* "old": { "command": "no" }, */
					"a": { "command": "x", "args": ["// kept", "y,]", 8080, true,], "alwaysAllow": ["z"], "timeout": 60, "icon": null, },
				},
				"globalShortcut": "",
			}`,
			want: "a: x // kept y,] 8080 true",
		},
		{
			name: "VS Code mcp.json", file: "c.json",
			text: `{"inputs": [{"id": "key", "type": "promptString"}], "servers": {
				"a": {"type": "stdio", "command": "x", "args": ["${workspaceFolder}/src"]},
				"b": {"type": "stdio", "command": "x", "env": {"K": "${input:key}"}}}}`,
			want: "a: x /src\nb: error",
		},
		{
			name: "VS Code settings.json", file: "c.json",
			text: `{"editor.tabSize": 2, "mcp": {"inputs": [], "servers": {"a": {"type": "stdio", "command": "x"}}}}`,
			want: "a: x",
		},
		{
			name: "opencode", file: "opencode.jsonc",
			text: `{"theme": "system", "mcp": {
				"a": {"type": "local", "command": ["x", "-y", "b c"], "environment": {"W": "1"}, "enabled": true},
				"b": {"type": "local", "command": ["x"], "enabled": false},
				"c": {"type": "remote", "url": "https://h/mcp", "headers": {"A": "{env:TOKEN}"}}}}`,
			want: "a: x -y b c W=1\nb (disabled): x\nc: http https://h/mcp A=secret",
		},
		{
			name: "Claude Code's state, in the project", file: "claude.json",
			text: `{"numStartups": 3, "cachedGates": {"command": true},
				"mcpServers": {"both": {"command": "user"}, "mine": {"type": "stdio", "command": "user"}},
				"projects": {
					"/": {"mcpServers": {"rootOnly": {"command": "no"}}},
					"ROOT": {"mcpServers": {"both": {"command": "project"}, "local": {"command": "project"}}},
					"ROOT/deeper": {"mcpServers": {"foreign": {"command": "no"}}},
					"ROOTx": {"mcpServers": {"sibling": {"command": "no"}}},
					"broken": 3}}`,
			want: "both: project\nlocal: project\nmine: user",
		},
		{
			name: "Codex", file: "config.toml",
			text: `# mine
model = "m"
[mcp_servers.a]
command = "x"
args = ["-y", 'p', 3]
env = { A = "1", B = 2 }
env_vars = ["TOKEN", "UNSET"]
startup_timeout_sec = 20
[mcp_servers."b c"]
url = "https://h/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { "X-A" = "1" }
env_http_headers = { "X-B" = "TOKEN" }
[mcp_servers.d]
command = "x"
enabled = false
[mcp_servers.d.env]
E = true
`,
			want: "a: x -y p 3 A=1 B=2 TOKEN=secret\nb c: http https://h/mcp Authorization=Bearer secret X-A=1 X-B=secret\nd (disabled): x E=true",
		},
		{name: "TOML under a name that does not say so", file: "config", text: "# c\n\n[mcp_servers.a]\ncommand = 'x'\n", want: "a: x"},
		{name: "JSON under a name that does not say so", file: "config", text: "// c = 1\n{\"mcpServers\": {\"a\": {\"command\": \"x=1\"}}}", want: "a: x=1"},
		{
			name: "Gemini", file: "settings.json",
			text: `{"mcp": {"allowed": ["a"]}, "mcpServers": {
				"a": {"url": "http://h/sse", "httpUrl": "http://h/mcp"}, "b": {"httpUrl": "http://h/b", "url": "http://h/sse"}}}`,
			want: "a: http http://h/mcp\nb: http http://h/b",
		},
		{name: "Windsurf", file: "c.json", text: `{"mcpServers": {"a": {"serverUrl": "http://h/x?y=%20"}}}`, want: "a: http http://h/x?y=%20"},
		{
			name: "Zed, new and old", file: "settings.json",
			text: `{"context_servers": {"a": {"source": "custom", "command": "x", "args": ["1"]},
				"b": {"command": {"path": "x", "args": ["2"], "env": {"E": "1"}}, "settings": {}}}}`,
			want: "a: x 1\nb: x 2 E=1",
		},
		{
			name: "names of the transports", file: "c.json",
			text: `{"mcpServers": {
				"a": {"url": "http://h/"}, "b": {"type": "http", "url": "http://h/"}, "c": {"type": "streamable-http", "url": "http://h/"},
				"d": {"type": "streamableHttp", "url": "http://h/"}, "e": {"transport": "http", "url": "http://h/"},
				"f": {"type": "SSE", "url": "http://h/"}, "g": {"transportType": "stdio", "command": "x", "url": "http://h/"},
				"h": {"type": "http", "command": "x", "url": "http://h/"}}}`,
			want: "a: http http://h/\nb: http http://h/\nc: http http://h/\nd: http http://h/\ne: http http://h/\n" +
				"f: sse http://h/\ng: x\nh: http http://h/",
		},
		{
			name: "further names of keys", file: "c.json",
			text: `{"mcpServers": {
				"a": {"cmd": "x", "envs": {"E": "1"}, "workingDirectory": "sub", "isActive": false},
				"b": {"transport": {"type": "stdio", "command": "x", "args": ["1"]}},
				"c": {"type": "http-stream", "url": "http://h/", "requestInit": {"headers": {"A": "b"}}},
				"d": {"baseUrl": "http://h/", "bearerToken": "${TOKEN}"}, "e": {"server_url": "http://h/", "bearerTokenEnv": "TOKEN"},
				"f": {"command": "x", "baseUrl": "http://h/"}, "g": {"command": "~/x", "args": ["~/y"], "cwd": "~/z"}}}`,
			want: "a (disabled): x E=1 in /sub\nb: x 1\nc: http http://h/ A=b\nd: http http://h/ Authorization=Bearer secret\n" +
				"e: http http://h/ Authorization=Bearer secret\nf: x\ng: /home/x ~/y in /home/z",
		},
		{
			name: "servers in a list, by their names", file: "c.json",
			text: `{"mcpServers": [{"name": "b", "command": "x"}, {"name": "a", "url": "http://h/"}]}`,
			want: "a: http http://h/\nb: x",
		},
		{name: "mcpServers within mcp", file: "c.json", text: `{"mcp": {"mcpServers": {"a": {"command": "x"}}}}`, want: "a: x"},
		{name: "opencode, with a server of that name", file: "c.json", text: `{"mcp": {"servers": {"type": "local", "command": ["x"]}}}`, want: "servers: x"},
		{
			name: "nothing but servers", file: "c.json",
			text: `{"$schema": "x", "a": {"command": "x"}, "b": {"type": "http", "url": "http://h/"}}`, want: "a: x\nb: http http://h/",
		},
		{name: "something beside what would be servers", file: "c.json", text: `{"a": {"command": "x"}, "b": {"c": 1}}`, want: ""},
		{name: "a setting beside what would be servers", file: "c.json", text: `{"a": {"command": "x"}, "http": {"url": "x"}}`, want: ""},
		{
			name: "Goose", file: "config.yaml",
			text: "GOOSE_PROVIDER: x\nextensions:\n  dev: {type: builtin, name: developer}\n  a: &a\n    cmd: x\n    args: [-y, 8080, 'true']\n    envs:\n      N: 1\n    type: stdio\n" +
				"  b:\n    <<: *a\n    cmd: y\n  c: {type: streamable_http, uri: 'http://h/', enabled: no}\n",
			want: "a: x -y 8080 true N=1\nb: y -y 8080 true N=1\nc: error",
		},
		{
			name: "a list in YAML", file: "c.yml",
			text: "# c\nmcpServers:\n  - name: a\n    command: x\n    env:\n      T: ${TOKEN}\n", want: "a: x T=secret",
		},
		{name: "YAML of nothing", file: "c.yaml", text: "# c\n", want: ""},
		{name: "no servers at all", file: "c.json", text: `{}`, want: ""},
		{name: "null for servers", file: "c.json", text: `{"mcpServers": null}`, want: ""},
		{
			name: "names that are no identifiers", file: "c.json",
			text: `{"mcpServers": {"__proto__": {"command": "x"}, "two words": {"command": "x"}, "知": {"command": "x"}, "a.b/c": {"command": "x"}}}`,
			want: "__proto__: x\na.b/c: x\ntwo words: x\n知: x",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := newTree(t, map[string]string{c.file: c.text})
			tr.vars["TOKEN"] = "secret"
			cfg := tr.load(c.file)
			if err := cfg.Err(); err != nil {
				t.Fatal(err)
			}
			equal(t, "servers", tr.show(cfg), c.want)
		})
	}
}

func TestVariablesOfFiles(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		"w/.mcp.json": `{"mcpServers": {
			"a": {"command": "x", "envFile": "sub/.env", "env": {"A": "mine"}},
			"b": {"command": "x", "envFile": ["${workspaceFolder}${/}sub/.env", "~/more.env"]},
			"c": {"command": "x", "args": ["{file:key}", "${workspaceFolderBasename}${pathSeparator}"]},
			"gone": {"command": "x", "envFile": "gone.env"},
			"far": {"url": "http://h/", "envFile": "gone.env"}}}`,
		"home/.mcpx.json": `{"mcpServers": {"mine": {"command": "x", "args": ["${file:key}"], "env": {"K": "{file:~/key}"}}, "none": {"command": "{file:nokey}"}}}`,
		"w/sub/.env":      "\ufeffA=file\nexport B='b c'\nSECRET=sesame-open\n",
		"home/more.env":   "B=other\nC=3", "home/key": " opened \n", "w/key": "no",
	})
	tr.dir = "w"
	c := tr.load("")
	equal(t, "servers", tr.show(c), "a: x A=mine B=b c SECRET=sesame-open\nb: x A=file B=b c C=3 SECRET=sesame-open\nc: error\nfar: http http://h/\ngone: error\n"+
		"mine: x opened K=opened\nnone: error")
	why := func(name string) string {
		s, _ := c.Server(name)
		_, err := s.Resolve(tr.env())
		return fmt.Sprint(err) + "; " + fault.From(err).Hint
	}
	for name, want := range map[string]string{
		"gone": "envFile: /w/gone.env cannot be read: no such file", "none": "command: /home/nokey cannot be read", "c": "unless you trust it; look at what it does, and trust it: mcpx config trust",
	} {
		if got := tr.relative(why(name)); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	a, _ := c.Server("a")
	d, err := a.Resolve(tr.env())
	if err != nil || d.Redact("sesame-open") != "[redacted]" {
		t.Errorf("%v: a secret of a file is shown", err)
	}
	if s, _ := c.Server("far"); !slices.Contains(s.Ignored, "envFile") {
		t.Errorf("far ignores %q", s.Ignored)
	}
	before := d.Fingerprint()
	tr.write("w/sub/.env", "B=changed")
	if d, err = a.Resolve(tr.env()); err != nil || d.Fingerprint() == before {
		t.Errorf("%v: another file makes the same server", err)
	}
	mine, _ := c.Server("mine")
	if d, err = mine.Resolve(tr.env()); err != nil || d.Redact("opened") != "[redacted]" {
		t.Errorf("%v: what a file holds is shown", err)
	}
}

func TestBrokenYAMLIsSaidWithItsPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mcpServers:\n  a: {command: x\n": "c.yaml:",
		"mcpServers:\n  a: 1\n  a: 2\n":   `c.yaml:3:3: the key "a" is written a second time`,
		"mcpServers:\n  [1, 2]: x\n":      "c.yaml:2:3: a key that is no text",
		"- a\n":                           "the file holds a list where an object is needed",
		"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n": "more here than a configuration has",
		"a: &a [*a]\n": "c.yaml:1:",
	} {
		tr := newTree(t, map[string]string{"c.yaml": text})
		if err := tr.load("c.yaml").Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	source := "{\r\n  \"mcpServers\": {\r\n    \"ü\": { \"command\": \"𝄞\" } // last line"
	sourceEnd := "\r\n  }\r\n}\r\n"
	utf16 := func(bom string, high, low int) string {
		out := []byte(bom)
		for _, u := range encode16(source + sourceEnd) {
			pair := [2]byte{}
			pair[high], pair[low] = byte(u>>8), byte(u)
			out = append(out, pair[:]...)
		}
		return string(out)
	}
	for name, text := range map[string]string{
		"UTF-8":              source + sourceEnd,
		"UTF-8 with a mark":  "\xEF\xBB\xBF" + source + sourceEnd,
		"UTF-16 from the PC": utf16("\xFF\xFE", 1, 0),
		"UTF-16 big-endian":  utf16("\xFE\xFF", 0, 1),
	} {
		tr := newTree(t, map[string]string{"c.json": text})
		c := tr.load("c.json")
		if err := c.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		equal(t, name, tr.show(c), "ü: 𝄞")
		if o := c.Servers[0].Origin; o.Line != 3 || o.Column != 5 {
			t.Errorf("%s: the entry is at %d:%d, want 3:5", name, o.Line, o.Column)
		}
	}
}

// A word of a grant must not mean two servers.
func TestANameThatIsAWordOfGrantsIsRefused(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{"c.json": `{"mcpServers": {"a": {"command": "x"}, "a:read": {"command": "y"}, "a:reads": {"command": "z"}}}`})
	cfg := tr.load("c.json")
	equal(t, "servers", tr.show(cfg), "a: x\na:read: error\na:reads: z")
	bad, _ := cfg.Server("a:read")
	_, err := bad.Resolve(tr.env())
	equal(t, "kind", string(fault.From(err).Kind), string(fault.Usage))
	if want := `where tools are granted, "a:read" means the reading tools of "a"`; !strings.Contains(fault.From(err).Message, want) {
		t.Errorf("%v does not say %s", err, want)
	}
}

func TestTheNearerEntryWinsWhole(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		"p/.mcpx.json": `{"mcpServers": {"a": {"command": "near"}, "gone": null, "off": {"command": "x", "disabled": true},
			"bad": {"command": 1}}}`,
		".mcp.json": `{"mcpServers": {"a": {"command": "far", "args": ["1"], "env": {"E": "1"}}, "gone": {"command": "far"},
			"off": {"command": "far"}, "bad": {"command": "far"}, "far": {"command": "far"}}}`,
	})
	tr.dir = "p"
	equal(t, "servers", tr.show(tr.load("")), "a: near\nbad: error\nfar: far\noff (disabled): x")
}

func TestOneBadEntryAffectsNoOther(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, entry, message, hint string }{
		{"a string", `"npx foo"`, `/c.json:3: server "bad": the entry is a string where an object is needed`, `write { "command": "PROGRAM", "args": […] } or { "url": "https://…" }`},
		{"a number for the command", `{"command": 123}`, `/c.json:3: server "bad": command: a number where a string is needed`, "write it in double quotes"},
		{"an empty command", `{"command": " "}`, `/c.json:3: server "bad": command: it is empty`, hintBoth},
		{"an empty list for the command", `{"command": []}`, `/c.json:3: server "bad": command: it is empty`, hintBoth},
		{"neither command nor url", `{"args": ["x"]}`, `/c.json:3: server "bad": neither a command nor a url`, hintBoth},
		{"nothing", `{}`, `/c.json:3: server "bad": neither a command nor a url`, hintBoth},
		{"an empty url", `{"url": ""}`, `/c.json:3: server "bad": url: it is empty`, hintBoth},
		{"a url of no scheme", `{"url": "localhost:80"}`, `/c.json:3: server "bad": url: it is not the address of an HTTP server`, "write http://… or https://…"},
		{"a header with a strange name", `{"url": "http://h/", "headers": {"A B": "x"}}`, `/c.json:3: server "bad": headers.A B: "A B" cannot be the name of a header`, ""},
		{"a header of two lines", `{"url": "http://h/", "headers": {"Authorization": "Bearer x\n"}}`, `/c.json:3: server "bad": headers.Authorization: its value holds a line break or another control character`, "a value that was read from a file may end with a line break"},
		{"both without a type", `{"command": "x", "url": "http://h/"}`, `/c.json:3: server "bad": both a command and a url`, `say which is meant with "type": "stdio" or "type": "http"`},
		{"a type without its url", `{"type": "http", "command": "x"}`, `/c.json:3: server "bad": it is of type http and has no url`, hintBoth},
		{"a type without its command", `{"type": "local", "url": "http://h/"}`, `/c.json:3: server "bad": it is of type local and has no command`, hintBoth},
		{"an unknown type", `{"type": "ws", "url": "http://h/"}`, `/c.json:3: server "bad": type: there is no transport "ws"`, `write "stdio", "http" or "sse"`},
		{"arguments in one string", `{"command": "x", "args": "-y p"}`, `/c.json:3: server "bad": args: a string where a list is needed`, `write ["FIRST", "SECOND"], one string an argument; nothing is split at spaces`},
		{"an argument that is a list", "{\"command\": \"x\",\n\"args\": [\"a\",\n[]]}", `/c.json:5: server "bad": args[1]: a list where a string is needed`, "write it in double quotes"},
		{"a value of env that is an object", `{"command": "x", "env": {"E": {}}}`, `/c.json:3: server "bad": env.E: an object where a string is needed`, "write it in double quotes"},
		{"a variable with a strange name", `{"command": "x", "env": {"A=B": "1"}}`, `/c.json:3: server "bad": env: "A=B" cannot be the name of a variable`, ""},
		{"a list for env", `{"command": "x", "env": ["E=1"]}`, `/c.json:3: server "bad": env: a list where an object is needed`, `write { "NAME": "VALUE" }`},
		{"a word for disabled", `{"command": "x", "disabled": "yes"}`, `/c.json:3: server "bad": disabled: a string where true or false is needed`, "write true or false"},
		{"a mistyped key of ours", `{"command": "x", "mcpx": {"excludeTool": []}}`, `/c.json:3: server "bad": mcpx.excludeTool: there is no such key`, "did you mean excludeTools?"},
		{"an unknown key of ours", `{"command": "x", "mcpx": {"mode": "session"}}`, `/c.json:3: server "bad": mcpx.mode: there is no such key`, "the keys of the mcpx block are inheritEnv, scope, sharing, max, idleTimeout, callTimeout, aliasOf, tools, excludeTools, extraIncludeTools, argumentRules, writePolicy"},
		{"a NUL", `{"command": "x", "args": ["a\u0000b"]}`, `/c.json:3: server "bad": args[0]: it holds a NUL character`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := newTree(t, map[string]string{"c.json": "{\"mcpServers\": {\n\"good\": {\"command\": \"x\"},\n\"bad\": " + c.entry + "\n}}"})
			cfg := tr.load("c.json")
			if err := cfg.Err(); err != nil {
				t.Fatalf("the file: %v", err)
			}
			equal(t, "servers", tr.show(cfg), "bad: error\ngood: x")
			bad, _ := cfg.Server("bad")
			_, err := bad.Resolve(tr.env())
			e := fault.From(err)
			if e.Kind != fault.Usage || tr.relative(e.Message) != c.message || e.Hint != c.hint {
				t.Errorf("got  %s: %s\n%s\nwant usage: %s\n%s", e.Kind, tr.relative(e.Message), e.Hint, c.message, c.hint)
			}
			if e.Details["server"] != "bad" || e.Details["file"] != tr.path("c.json") {
				t.Errorf("details %v", e.Details)
			}
		})
	}
}

const hintBoth = `write "command": "PROGRAM" for a server to be started, or "url": "https://…" for a remote one`

func TestABrokenFileIsSaidWithItsPlace(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, file, text, want, hint string }{
		{
			"a missing comma", "c.json",
			"{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"node\"\n      \"args\": [\"x.js\"]\n    }\n  }\n}\n",
			"/c.json:5:7: a comma or a } is missing before \"args\"\n    \"args\": [\"x.js\"]\n    ^", "",
		},
		{"a missing comma in a list", "c.json", `{"a": ["ü" 2]}`, "/c.json:1:12: a comma or a ] is missing before 2\n    {\"a\": [\"ü\" 2]}\n               ^", ""},
		{"a missing colon", "c.json", `{"a" 1}`, "/c.json:1:6: a colon is missing before 1\n    {\"a\" 1}\n         ^", ""},
		{"a key in single quotes", "c.json", `{'a': 1}`, "/c.json:1:2: a key in double quotes is needed in place of 'a'\n    {'a': 1}\n     ^", `keys stand in double quotes: "a"`},
		{"a value in single quotes", "c.json", `{"a": 'b'}`, "/c.json:1:7: a value is needed in place of 'b'\n    {\"a\": 'b'}\n          ^", "strings stand in double quotes"},
		{"a bare key", "c.json", `{a: 1}`, "/c.json:1:2: a key in double quotes is needed in place of a\n    {a: 1}\n     ^", `keys stand in double quotes: "a"`},
		{"a bare key and nothing else", "c.json", `{bad`, "/c.json:1:2: a key in double quotes is needed in place of bad\n    {bad\n     ^", `keys stand in double quotes: "bad"`},
		{"a bare key after a member and a comment", "c.json", `{"{[": [1, {}], /* " { */ b: 1}`, "/c.json:1:27: a key in double quotes is needed in place of b\n    {\"{[\": [1, {}], /* \" { */ b: 1}\n                              ^", `keys stand in double quotes: "b"`},
		{"a bare word in a list", "c.json", `{"a": [1, b]}`, "/c.json:1:11: this is no value: b\n    {\"a\": [1, b]}\n              ^", "values are strings in double quotes, numbers, true, false and null"},
		{"two commas", "c.json", `{"a": 1,, "b": 1}`, "/c.json:1:9: a key in double quotes is needed in place of ,\n    {\"a\": 1,, \"b\": 1}\n            ^", "keys stand in double quotes"},
		{"a number for a key", "c.json", `{1: 1}`, "/c.json:1:2: a key in double quotes is needed in place of 1\n    {1: 1}\n     ^", `keys stand in double quotes: "1"`},
		{"a word of Python", "c.json", `{"a": True}`, "/c.json:1:7: this is no value: True\n    {\"a\": True}\n          ^", "values are strings in double quotes, numbers, true, false and null"},
		{"a path of Windows", "c.json", `{"cwd": "C:\Users"}`, "/c.json:1:13: an escape that JSON does not have in a string\n    {\"cwd\": \"C:\\Users\"}\n                ^", `write a backslash as \\`},
		{"an open string", "c.json", "{\"a\": \"x\n}", "/c.json:2:1: the file ends before everything that was opened is closed\n    }\n    ^", "a ], a }, a quote or a */ is missing"},
		{"a string over two lines", "c.json", "{\"a\": \"x\n\"}", "/c.json:1:7: this string is not closed on its line\n    {\"a\": \"x\n          ^", ""},
		{"a tab in a string", "c.json", "{\"a\": \"x\ty\"}", "/c.json:1:9: a control character in a string\n    {\"a\": \"x y\"}\n            ^", `write it as \u00XX, a tab as \t`},
		{"cut short", "c.json", "{\"a\": {\n\n", "/c.json:1:7: the file ends before everything that was opened is closed\n    {\"a\": {\n          ^", "a ], a }, a quote or a */ is missing"},
		{"two documents", "c.json", "{} {}", "/c.json:1:4: more text after the end of the object: {\n    {} {}\n       ^", ""},
		{"a list", "c.json", "[1]", "/c.json:1:1: the file holds a list where an object is needed\n    [1]\n    ^", `write { "mcpServers": { … } }`},
		{"a list for the servers", "c.json", `{"mcpServers": []}`, "/c.json:1:16: mcpServers is a list where an object is needed\n    {\"mcpServers\": []}\n                   ^", `write "mcpServers": { "NAME": { "command": … } }`},
		{"Latin-1", "c.json", "{\n// \xfc\n}", "/c.json:2:4: a byte that is not UTF-8\n    // �\n       ^", "save the file as UTF-8"},
		{"UTF-16 without a mark", "c.json", "{\x00}\x00", "/c.json:1:2: a NUL character\n    { } \n     ^", "save the file as UTF-8 text"},
		{"UTF-16 cut short at once", "c.json", "\xFF\xFE{", "/c.json:1:1: half a character of UTF-16, where the file ends", "the file is cut short, or is no UTF-16; save it as UTF-8"},
		{"UTF-16 cut short behind an object", "c.json", "\xFE\xFF\x00{\x00}\x00", "/c.json:1:3: half a character of UTF-16, where the file ends\n    {}\n      ^", "the file is cut short, or is no UTF-16; save it as UTF-8"},
		{"nested without end", "c.json", strings.Repeat("[", 5000), "/c.json:1:1001: lists and objects are nested more than 1000 deep here", ""},
		{"TOML with a bare word", "c.toml", "[mcp_servers.a]\ncommand = npx\n", "/c.toml:2:11: this is no value\n    command = npx\n              ^", "strings stand in quotes"},
		{"TOML nested by dots", "c.toml", "[" + strings.Repeat("a.", 5000) + "a]\n", "/c.toml:1:1: lists and objects are nested more than 1000 deep here", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := newTree(t, map[string]string{c.file: c.text})
			cfg := tr.load(c.file)
			e := fault.From(cfg.Err())
			if e == nil {
				t.Fatal("no error")
			}
			got := tr.relative(e.Message)
			if strings.Contains(c.name, "nested") {
				got, _, _ = strings.Cut(got, "\n")
			}
			if e.Kind != fault.Usage || strings.ReplaceAll(got, " \n", "\n") != strings.ReplaceAll(c.want, " \n", "\n") || e.Hint != c.hint {
				t.Errorf("got  %s: %s\n%s\nwant usage: %s\n%s", e.Kind, got, e.Hint, c.want, c.hint)
			}
			if cfg.Files[0].State != Broken {
				t.Errorf("the file is %s", cfg.Files[0].State)
			}
		})
	}
}

func TestABrokenFileHidesNoOther(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		"a/b/.mcpx.json": `{"mcpServers": {`,
		"a/b/.mcp.json":  `{"mcpServers": {"near": {"command": "x"}}}`,
		"a/.mcp.json":    `{"mcpServers": {"far": {"command": "x"}}}`,
		".mcp.json":      `nonsense`,
	})
	if err := os.MkdirAll(tr.path("a/.mcpx.json"), 0o700); err != nil { // a folder where a file is looked for
		t.Fatal(err)
	}
	tr.dir = "a/b"
	c := tr.load("")
	equal(t, "servers", tr.show(c), "far: x\nnear: x")
	var broken []string
	for _, f := range c.Files {
		if f.State == Broken {
			broken = append(broken, tr.relative(strings.SplitN(f.Err.Message, "\n", 2)[0]))
		}
	}
	equal(t, "broken files", strings.Join(broken, "\n"), `
/a/b/.mcpx.json:1:16: the file ends before everything that was opened is closed
the configuration file /a/.mcpx.json cannot be read: it is a directory
/.mcp.json:1:1: this is no value: nonsense`)
	e := fault.From(c.Err())
	if e == nil || !strings.HasPrefix(tr.relative(e.Message), "/a/b/.mcpx.json:1:16: ") {
		t.Fatalf("Err() = %v", e)
	}
	if also := e.Details["alsoBroken"]; fmt.Sprint(also) != fmt.Sprint([]string{tr.path("a/.mcpx.json"), tr.path(".mcp.json")}) {
		t.Errorf("alsoBroken = %v", also)
	}
}

func TestWhatHasNoEffectIsSaid(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		".mcpx.json": `{ "$schema": "x",
"mcpServers": {
 "a": { "command": "1", "command": "2",
  "mcpx": { "excludeTools": ["x"], "inheritEnv": true } },
 "a": { "command": "3", "args": [], "icon": "i",
  "mcpx": { "writePolicy": "allow", "inheritEnv": true } } },
"pool": { "tools": ["get_*"], "callMax": "1m" },
"recipes": { "limit": 1 } }`,
		".mcp.json":       `{ "mcpserver": {}, "preferences": {} }`,
		"home/.mcpx.json": `{ "mcpServers": { "b": { "command": "x", "mcpx": { "inheritEnv": true } } } }`,
	})
	c := tr.load("")
	equal(t, "warnings", tr.relative(strings.Join(c.Warnings, "\n")), `
/.mcpx.json:3: the key "command" is written a second time; the first, at line 3, has no effect
/.mcpx.json:5: the key "a" is written a second time; the first, at line 3, has no effect
/.mcpx.json:8: the key "recipes" has no effect: nothing reads it
/.mcpx.json:6: server "a": writePolicy only tightens what you say yourself, from a file of the project that you do not trust: "mcpx config trust", or an entry in ~/.mcpx.json
/.mcpx.json:6: server "a": inheritEnv is not honoured from a file of the project unless you trust it: "mcpx config trust", or an entry in ~/.mcpx.json
/.mcp.json:1: the key "mcpserver" is not read; the servers stand under "mcpServers"`)
	a, _ := c.Server("a")
	if a.Command != "3" || a.InheritEnv || fmt.Sprint(a.Ignored) != "[icon]" {
		t.Errorf("a = %+v", a)
	}
	for _, f := range c.Files {
		if f.Path == tr.path(".mcp.json") && fmt.Sprint(f.Ignored) != "[preferences]" {
			t.Errorf("ignored keys of .mcp.json: %v", f.Ignored)
		}
	}

	tr.write("p/.mcpx.json", `{ "servers": {"s": {"command": "x"}}, "inputs": [], "mcp_servers": {} }`)
	tr.dir = "p"
	if w := tr.relative(strings.Join(tr.load("").Warnings, "\n")); strings.Contains(w, "/p/") {
		t.Errorf("warnings about another host's form under our name: %s", w)
	}

	tr.write("q/.mcp.json", `{ "servers": { "s": { "command": "x" } }, "mcp": { "t": { "url": "https://example.com" } }, "mcpServers": { "u": { "command": "x" } } }`)
	tr.dir = "q"
	equal(t, "servers beside mcpServers", tr.relative(strings.Join(tr.load("").Unread, "\n")), `
/q/.mcp.json:1: the servers under "servers" are not read: those under "mcpServers" count
/q/.mcp.json:1: the servers under "mcp" are not read: those under "mcpServers" count
/.mcp.json:1: the key "mcpserver" is not read; the servers stand under "mcpServers"`)

	tr.dir = "home"
	if b, _ := tr.load("").Server("b"); !b.InheritEnv {
		t.Error("inheritEnv in the user's own file is not honoured")
	}
}

func TestSettingsStandBesideTheServers(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		".mcp.json": `{"mcpServers": {},
  "exec": { "timeout": "5s", "deep": {"er": 1} },
  "limits": 7}`,
		"home/.mcpx.json": `{"pool": {"callMax": "1m"}}`,
		"opencode.json":   `{"mcp": {}, "exec": {"timeout": "1s"}}`,
	})
	tr.dir, tr.vars["XDG_CONFIG_HOME"] = ".", tr.path("none")
	var got strings.Builder
	for _, f := range tr.load("").Settings {
		fmt.Fprintf(&got, "project %v\n", f.Project)
		for _, e := range f.Entries {
			fmt.Fprintf(&got, "%s %s at %s\n", e.Path, e.Value, tr.relative(e.Origin))
		}
	}
	equal(t, "settings", got.String(), `
project true
exec.timeout "5s" at /.mcp.json:2:24
exec.deep.er 1 at /.mcp.json:2:45
limits 7 at /.mcp.json:3:13
project false
pool.callMax "1m" at /home/.mcpx.json:1:22`)
	if s := tr.load("opencode.json").Settings; len(s) != 0 {
		t.Errorf("settings in another host's file: %v", s)
	}
}

func TestASettingIsNotSpelledByItsPathInAFile(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		".mcpx.json":        "{\"exec\": { \"timeout\": \"5s\" },\n \"exec.timeout\": \"6s\", \"http.bodyLimit\": \"1\"}",
		".mcp.json":         `{"mcpServers": {}, "exec.timeout": "6s"}`, // other hosts read it, too
		"home/.mcpx.json":   `{"paths.config": ["x.json"]}`,             // the one that is
		".mcpx/config.json": `{"daemon": {"limits.cpu": "5s"}, "daemon.limits.memory": "1MiB"}`,
	})
	var got strings.Builder
	for _, e := range tr.load("").Faults {
		fmt.Fprintf(&got, "%s (%s)\n", tr.relative(e.Message), e.Hint)
	}
	equal(t, "faults", got.String(), `
/.mcpx.json:2:2: "exec.timeout" is no key of a file; the setting stands in its group, as "timeout" in "exec" (write "exec": { "timeout": … })
/.mcpx.json:2:24: "http.bodyLimit" is no key of a file; the setting stands in its group, as "bodyLimit" in "http" (write "http": { "bodyLimit": … })
/.mcpx/config.json:1:13: "limits.cpu" is no key of a file; the setting stands in its group, as "cpu" in "limits" (write "limits": { "cpu": … })
/.mcpx/config.json:1:34: "daemon.limits.memory" is no key of a file; the setting stands in its group, as "memory" in "daemon.limits" (write "daemon": { "limits": { "memory": … } })
`)
}

func TestWhereAServerRuns(t *testing.T) {
	t.Parallel()
	entries := `{"mcpServers": {
		"a": {"command": "x"}, "b": {"command": "x", "cwd": "."}, "c": {"command": "x", "cwd": "sub"},
		"d": {"command": "x", "cwd": "/abs"}, "e": {"command": "x", "args": ["${workspaceFolder}"]}}}`
	cases := []struct{ name, file, dir, want string }{
		{"a project's file", "p/.mcp.json", "p/deep", "a: x\nb: x in /p\nc: x in /p/sub\nd: x in /abs\ne: x /p"},
		{"a project's folder for mcpx", "p/.mcpx/config.json", "p/deep", "a: x\nb: x in /p\nc: x in /p/sub\nd: x in /abs\ne: x /p"},
		{"the user's file", "home/.mcpx.json", "p/deep", "a: x\nb: x in /home\nc: x in /home/sub\nd: x in /abs\ne: x /p/deep"},
		{"the user's configuration", "home/.config/mcpx/config.json", "p/deep", "a: x\nb: x in /p/deep\nc: x in /p/deep/sub\nd: x in /abs\ne: x /p/deep"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := newTree(t, map[string]string{c.file: entries})
			tr.dir = c.dir
			got := strings.ReplaceAll(tr.show(tr.load("")), "b: x\n", "b: x in /"+c.dir+"\n") // show leaves out the working directory
			equal(t, "servers", got, c.want)
		})
	}
}

// What a warning is about can be told from it, so that it can be said where it matters.
func TestWarningsAreKeptWithWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		"twice.json":  "{\"mcpServers\": {\n\"a\": {\"command\": \"1\"},\n\"b\": {\"command\": \"1\", \"command\": \"2\"},\n\"a\": {\"command\": \"2\"}}}",
		"case.json":   `{"mcpservers": {"s": {"command": "x"}}}`,
		"hidden.json": "{\"mcpServers\": {\"s\": {\"command\": \"x\"}},\n\"exec\": {}, \"exec\": {},\n\"mcpServers\": {}}",
	})
	c := tr.load("twice.json")
	var got strings.Builder
	for _, s := range c.Servers {
		fmt.Fprintf(&got, "%s: %s\n", s.Name, strings.Join(s.Warnings, "\n"))
	}
	equal(t, "of the entries", tr.relative(got.String()), `
a: /twice.json:4: the key "a" is written a second time; the first, at line 2, has no effect
b: /twice.json:3: the key "command" is written a second time; the first, at line 3, has no effect`)
	if len(c.Warnings) != 2 || len(c.Unread) != 0 {
		t.Errorf("Warnings %q, Unread %q; want the two of the entries, and none", c.Warnings, c.Unread)
	}
	equal(t, "of a misspelled key", tr.relative(strings.Join(tr.load("case.json").Unread, "\n")),
		`/case.json:1: the key "mcpservers" is not read; the servers stand under "mcpServers"`)
	equal(t, "of a list that hides another", tr.relative(strings.Join(tr.load("hidden.json").Unread, "\n")),
		`/hidden.json:3: the key "mcpServers" is written a second time; the first, at line 1, has no effect`)
}

func TestMentions(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		"c.json": `{"mcpServers": {
		"a": {"command": "x", "args": ["${OWN_ARG}"], "env": {"OWN_SET": "1", "T": "$env:OWN_VALUE"}},
		"b": {"url": "https://${OWN_HOST}/", "headers": {"A": "Bearer ${OWN_TOKEN}"}}}}`,
		"c.toml": "[mcp_servers.a]\ncommand = 'x'\nenv_vars = ['OWN_PASSED']\n",
	})
	for file, names := range map[string][]string{
		"c.json": {"OWN_ARG", "OWN_SET", "OWN_VALUE", "OWN_HOST", "OWN_TOKEN"}, "c.toml": {"OWN_PASSED"},
	} {
		c := tr.load(file)
		for _, name := range names {
			if !c.Mentions(name) {
				t.Errorf("%s: Mentions(%q) = false", file, name)
			}
		}
		if c.Mentions("OWN_OTHER") {
			t.Errorf("%s: Mentions of what is not there", file)
		}
	}
}

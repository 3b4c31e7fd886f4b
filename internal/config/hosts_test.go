package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

func TestHostFilesOfEachPlatform(t *testing.T) {
	t.Parallel()
	home := filepath.FromSlash("/h")
	vars := map[string]string{}
	e := Env{Home: home, Dir: home, Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }}
	tests := []struct{ host, goos, want string }{
		{"claude-code", "linux", "/h/.claude.json"},
		{"claude-desktop", "linux", "/h/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", "darwin", "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", "windows", "/h/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"codex", "darwin", "/h/.codex/config.toml"},
		{"cursor", "windows", "/h/.cursor/mcp.json"},
		{"gemini", "linux", "/h/.gemini/settings.json"},
		{"opencode", "darwin", "/h/.config/opencode/opencode.json"},
		{"vscode", "linux", "/h/.config/Code/User/mcp.json"},
		{"vscode", "darwin", "/h/Library/Application Support/Code/User/mcp.json"},
		{"vscode", "windows", "/h/AppData/Roaming/Code/User/mcp.json"},
		{"windsurf", "linux", "/h/.codeium/windsurf/mcp_config.json"},
		{"zed", "darwin", "/h/.config/zed/settings.json"},
		{"amazon-q", "linux", "/h/.aws/amazonq/mcp.json"},
		{"cline", "darwin", "/h/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
		{"continue", "linux", "/h/.continue/config.yaml"},
		{"copilot", "linux", "/h/.copilot/mcp-config.json"},
		{"goose", "darwin", "/h/.config/goose/config.yaml"},
		{"goose", "windows", "/h/AppData/Roaming/Block/goose/config/config.yaml"},
		{"junie", "linux", "/h/.junie/mcp/mcp.json"},
		{"kiro", "linux", "/h/.kiro/settings/mcp.json"},
		{"lm-studio", "linux", "/h/.lmstudio/mcp.json"},
		{"qwen", "linux", "/h/.qwen/settings.json"},
		{"roo", "linux", "/h/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"},
		{"zed", "windows", "/h/AppData/Roaming/Zed/settings.json"},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		seen[tt.host] = true
		if got := hostNamed(tt.host).user(e, tt.goos); len(got) == 0 || filepath.ToSlash(got[0]) != tt.want {
			t.Errorf("%s on %s: %q, want %s in front", tt.host, tt.goos, got, tt.want)
		}
	}
	for _, name := range HostNames() {
		if !seen[name] {
			t.Errorf("no test says where %s keeps its servers", name)
		}
	}
	for _, h := range Hosts() {
		if got := h.user(Env{}, "linux"); len(got) > 0 {
			t.Errorf("%s without a home directory: %q", h.Name, got)
		}
	}
}

// hostTree holds one file of each host, with servers in its way of writing.
func hostTree(t *testing.T) *tree {
	t.Helper()
	tr := newTree(t, map[string]string{
		"w/deep/file": "", "w/.mcp.json": `{"mcpServers": {"near": {"command": "n", "timeout": 3}}}`,
		"w/.vscode/mcp.json": `{ // VS Code
			"inputs": [{"id": "tok", "type": "promptString", "description": "the token", "password": true},
				{"id": "where", "type": "pickString", "options": ["eu", {"label": "America", "value": "us"}], "default": "eu"}],
			"servers": {"gh": {"type": "http", "url": "https://h/", "headers": {"Authorization": "Bearer ${input:tok}", "X": "${input:where}"}},
				"sh": {"type": "stdio", "command": "sh", "args": ["-c", "${workspaceFolder}"], "cwd": "sub"}}}`,
		"w/opencode.json": `{"mcp": {"local": {"type": "local", "command": ["oc", "a"], "environment": {"K": "{env:V}"}, "enabled": false},
			"far": {"type": "remote", "url": "https://o/", "headers": {"A": "b"}}}}`,
		"w/.zed/settings.json":          `{"theme": "x", "context_servers": {"z": {"source": "custom", "command": "zz", "args": []}, "ext": {"settings": {"a": 1}}, "old": {"command": {"path": "p", "args": ["q"], "env": {"E": "1"}}}}}`,
		"home/.cursor/mcp.json":         `{"mcpServers": {"c": {"command": "cc", "env": {"API_KEY": "written-out"}}, "bad": {"args": []}}}`,
		"home/.gemini/settings.json":    `{"mcpServers": {"g": {"httpUrl": "https://g/", "trust": true, "excludeTools": ["rm"], "includeTools": ["a", "rm"]}, "off": {"command": "x"}}, "mcp": {"excluded": ["off"]}, "tools": {}}`,
		"home/.codex/config.toml":       "model = 'x'\n[mcp_servers.t]\ncommand = 'tt'\nargs = ['--n', '1']\nenv_vars = ['HOME']\nenabled = false\ndisabled_tools = ['rm']\n[mcp_servers.t.env]\nA = 'b'\n[mcp_servers.u]\nurl = 'https://u/'\nbearer_token_env_var = 'TOK'\n",
		"home/.claude.json":             `{"numStartups": 1, "mcpServers": {"mine": {"type": "stdio", "command": "m", "args": [], "env": {}}, "no": {"type": "sse", "url": "https://s/"}}, "projects": {"ROOT/w": {"mcpServers": {"here": {"command": "h"}}, "disabledMcpServers": ["no"]}, "ROOT/other": {"mcpServers": {"elsewhere": {"command": "e"}}}}}`,
		"home/.codeium/windsurf/x.json": "",
		"w/.amazonq/mcp.json":           `{"mcpServers": {"aq": {"command": "aq", "autoApprove": ["x"], "timeout": 1000}}}`,
		"w/.kiro/settings/mcp.json":     `{"mcpServers": {"ki": {"command": "ki", "cwd": "sub", "disabledTools": ["rm"]}}}`,
		"w/.junie/mcp/mcp.json":         `{"mcpServers": {"ju": {"command": "ju", "envFile": ".env"}}}`,
		"w/.qwen/settings.json":         `{"mcpServers": {"qw": {"httpUrl": "https://q/"}}, "mcp": {"allowed": []}}`,
		"w/.roo/mcp.json":               `{"mcpServers": {"ro": {"type": "streamable-http", "url": "https://r/", "alwaysAllow": []}}}`,
		"home/.copilot/mcp-config.json": `{"mcpServers": {"co": {"type": "local", "command": "co", "args": [], "tools": ["*"]}}}`,
		"home/.lmstudio/mcp.json":       `{"mcpServers": {"lm": {"url": "https://l/"}}}`,
		"home/.continue/config.yaml":    "name: mine\nmcpServers:\n  - name: on\n    command: cn\n    args: [\"-y\", 8080]\n  - name: far\n    type: streamable-http\n    url: https://c/\n    requestOptions: {headers: {A: b}}\n",
	})
	tr.dir = "w/deep"
	for _, name := range []string{"claude-desktop", "windsurf", "cline", "goose"} {
		path := hostNamed(name).user(tr.env(), goos)[0]
		text := map[string]string{
			"claude-desktop": `{"mcpServers": {"d": {"command": "dd"}}, "globalShortcut": ""}`,
			"cline":          `{"mcpServers": {"cl": {"command": "cl", "transportType": "stdio", "timeout": 60}}}`,
			"goose": "GOOSE_MODE: auto\nextensions:\n  dev: {type: builtin, enabled: true, name: developer}\n" +
				"  go:\n    type: stdio\n    cmd: go\n    args:\n      - x\n    envs: {N: 1}\n    env_keys: [HOME]\n    enabled: false\n  up: {type: streamable_http, uri: \"https://g/\", enabled: true}\n",
			"windsurf": `{"mcpServers": {"w": {"serverUrl": "https://w/", "disabled": true, "disabledTools": ["rm"]}}}`,
		}[name]
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return tr
}

func TestEntriesOfEachHostAreTakenOver(t *testing.T) {
	t.Parallel()
	tr := hostTree(t)
	tests := map[string]map[string]string{ // by host and server: the entry, or what is wrong
		"claude-code": {
			"near": `{"command":"n"}`, "mine": `{"command":"m"}`, "here": `{"command":"h"}`,
			"no": `{"type":"sse","url":"https://s/","disabled":true}`,
		},
		"amazon-q":       {"aq": `{"command":"aq"}`},
		"claude-desktop": {"d": `{"command":"dd"}`},
		"cline":          {"cl": `{"command":"cl"}`},
		"continue":       {"on": `{"command":"cn","args":["-y","8080"]}`, "far": `{"type":"http","url":"https://c/","headers":{"A":"b"}}`},
		"copilot":        {"co": `{"command":"co","mcpx":{"tools":["*"]}}`},
		"goose": {
			"go": `{"command":"go","args":["x"],"env":{"N":"1"},"env_vars":["HOME"],"disabled":true}`,
			"up": `{"type":"http","url":"https://g/"}`,
		},
		"junie":     {"ju": `{"command":"ju","envFile":["ROOT/w/.env"]}`},
		"kiro":      {"ki": `{"command":"ki","cwd":"ROOT/w/sub","mcpx":{"excludeTools":["rm"]}}`},
		"lm-studio": {"lm": `{"url":"https://l/"}`},
		"qwen":      {"qw": `{"url":"https://q/","disabled":true}`},
		"roo":       {"ro": `{"type":"http","url":"https://r/"}`},
		"codex": {
			"t": `{"command":"tt","args":["--n","1"],"env":{"A":"b"},"env_vars":["HOME"],"disabled":true,"mcpx":{"excludeTools":["rm"]}}`,
			"u": `{"url":"https://u/","headers":{"Authorization":"Bearer ${TOK}"}}`,
		},
		"cursor": {"c": `{"command":"cc","env":{"API_KEY":"[not shown]"}}`, "bad": "neither a command nor a url"},
		"gemini": {
			"g":   `{"url":"https://g/","mcpx":{"excludeTools":["rm"],"tools":["a","rm"]}}`,
			"off": `{"command":"x","disabled":true}`,
		},
		"opencode": {
			"local": `{"command":"oc","args":["a"],"env":{"K":"{env:V}"},"disabled":true}`,
			"far":   `{"type":"http","url":"https://o/","headers":{"A":"b"}}`,
		},
		"vscode": {
			"gh": `{"type":"http","url":"https://h/","headers":{"Authorization":"Bearer ${input:tok}","X":"${input:where}"}}`,
			"sh": `{"command":"sh","args":["-c","${workspaceFolder}"],"cwd":"ROOT/w/sub"}`,
		},
		"windsurf": {"w": `{"url":"https://w/","disabled":true,"mcpx":{"excludeTools":["rm"]}}`},
		"zed":      {"z": `{"command":"zz"}`, "old": `{"command":"p","args":["q"],"env":{"E":"1"}}`},
	}
	for _, name := range HostNames() {
		want, got := tests[name], map[string]string{}
		for _, f := range (Options{Env: tr.env()}).HostFiles(name) {
			if f.Err != nil {
				t.Errorf("%s: %v", name, f.Err)
			}
			for _, e := range f.Entries {
				if e.Err != nil {
					got[e.New.Name] = e.Err.Message
					continue
				}
				var compact json.RawMessage
				if err := json.Unmarshal(e.New.Shown(), &compact); err != nil {
					t.Fatalf("%s: %s: %v", name, e.New.Shown(), err)
				}
				text, _ := json.Marshal(compact)
				got[e.New.Name] = string(text)
			}
		}
		for server, text := range want {
			text = strings.ReplaceAll(text, "ROOT", strings.ReplaceAll(tr.root, `\`, `\\`))
			if got[server] != text && (strings.HasPrefix(text, "{") || !strings.Contains(got[server], text)) {
				t.Errorf("%s of %s:\n got  %s\n want %s", server, name, got[server], text)
			}
		}
		if len(got) != len(want) || len(want) == 0 {
			t.Errorf("%s has %v, want %d servers", name, got, len(want))
		}
	}
}

func TestImportedEntriesLoadStrictly(t *testing.T) {
	t.Parallel()
	tr := hostTree(t)
	raw := []byte("// mine\n{\"mcpServers\": {\n  \"c\": {\"command\": \"stays\"}, // as it was\n}}\n")
	path := tr.path("out.json")
	for _, name := range HostNames() {
		for _, f := range (Options{Env: tr.env()}).HostFiles(name) {
			good := slices.DeleteFunc(slices.Clone(f.Entries), func(e HostEntry) bool { return e.Err != nil })
			text, taken, err := Import(path, raw, good)
			if err != nil {
				t.Fatalf("%s: %v", f.Path, err)
			}
			if want := name == "cursor" && len(good) > 0; want != slices.Equal(taken, []string{"c"}) {
				t.Errorf("%s: taken are %q", name, taken)
			}
			raw = text
			// What is there already is there once more.
			again, taken, err := Import(path, raw, good)
			if err != nil || string(again) != string(raw) || len(taken) != len(good) {
				t.Errorf("%s a second time: %q, %v", name, taken, err)
			}
		}
	}
	tr.write("out.json", string(raw))
	c := tr.load(tr.path("out.json"))
	c.Strict()
	if len(c.Faults) > 0 || len(c.Warnings) > 0 || len(c.Servers) != 28 {
		t.Errorf("%d servers, faults %v, warnings %q\n%s", len(c.Servers), c.Faults, c.Warnings, raw)
	}
	for _, s := range c.Servers {
		if s.Problem != nil {
			t.Errorf("%s: %v", s.Name, s.Problem)
		}
	}
	if s, _ := c.Server("c"); s.Command != "stays" {
		t.Errorf("c is overwritten: %+v", s)
	}
	gh, _ := c.Server("gh")
	got := gh.Inputs()
	if len(got) != 2 || got[0].ID != "tok" || got[0].Description != "the token" || !got[0].Password ||
		got[1].ID != "where" || !slices.Equal(got[1].Options, []string{"eu", "us"}) || got[1].Default != "eu" {
		t.Errorf("inputs of gh: %+v", got)
	}
	if !strings.HasPrefix(string(raw), "// mine\n") || !strings.Contains(string(raw), "// as it was") {
		t.Errorf("comments are lost:\n%s", raw)
	}
}

func TestHostsAreReadInPlace(t *testing.T) {
	t.Parallel()
	tr := hostTree(t)
	tr.write("home/.mcpx.json", `{"mcpServers": {"c": {"command": "mine"}}, "imports": ["cursor", "vscode", "nobody", 1]}`)
	c := tr.load("")
	names := map[string]string{}
	for _, s := range c.Servers {
		names[s.Name] = s.Command + s.URL
		if guest := s.Name == "gh" || s.Name == "sh" || s.Name == "near"; s.Guest != guest {
			t.Errorf("%s: Guest = %t", s.Name, s.Guest)
		}
	}
	if names["c"] != "mine" || names["gh"] != "https://h/" || names["sh"] != "sh" || names["z"] != "" {
		t.Errorf("servers %v", names)
	}
	if bad, ok := c.Server("bad"); !ok || bad.Problem == nil {
		t.Errorf("a bad entry of a host is %+v", bad)
	}
	warnings := strings.Join(c.Warnings, "\n")
	for _, want := range []string{`there is no host "nobody"`, "imports names hosts, and this is a number"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("no warning %q in\n%s", want, warnings)
		}
	}
	for _, f := range c.Files {
		if f.Host != "" && !strings.Contains(f.By, ".mcpx.json:1") {
			t.Errorf("%s of %s is named by %q", f.Path, f.Host, f.By)
		}
	}

	// A project that is not trusted names only files of its own.
	if err := os.Remove(tr.path("home/.mcpx.json")); err != nil {
		t.Fatal(err)
	}
	tr.write("w/.mcpx.json", `{"imports": ["cursor", "vscode"]}`)
	c = tr.load("")
	if _, ok := c.Server("c"); ok {
		t.Error("a project has the servers of the user's Cursor")
	}
	if s, ok := c.Server("gh"); !ok || !s.Guest {
		t.Errorf("the project's own VS Code: %+v", s)
	}
	if !strings.Contains(strings.Join(c.Warnings, "\n"), "only the project's own files of cursor") {
		t.Errorf("warnings %q", c.Warnings)
	}
	// One file that is named is read alone.
	c = tr.load(tr.path("w/.mcpx.json"))
	if len(c.Servers) > 0 || !strings.Contains(strings.Join(c.Warnings, "\n"), "read alone") {
		t.Errorf("servers %v, warnings %q", c.Servers, c.Warnings)
	}
}

// What an imports that is not followed leaves out is told by every command, and where a server is not found.
func TestImportsThatAreNotFollowedAreTold(t *testing.T) {
	t.Parallel()
	const guest = `/w/.mcpx.json:1: imports: from a file of the project only the project's own files of %s are read unless you trust it: "mcpx config trust"`
	cursor, gemini := strings.ReplaceAll(guest, "%s", "cursor"), strings.ReplaceAll(guest, "%s", "gemini")
	for _, tt := range []struct{ text, astray, unread string }{
		{`{"imports": ["zed"], "paths": {}}`, "", strings.ReplaceAll(guest, "%s", "zed")},
		{`{"imports": ["cursor", "gemini"]}`, cursor, cursor + "\n" + gemini}, // there is nothing of Gemini's
		{`{"imports": ["cursr"]}`, `/w/.mcpx.json:1: imports: there is no host "cursr"; did you mean cursor?`, ""},
		{`{"imports": ["nobody"]}`, `/w/.mcpx.json:1: imports: there is no host "nobody"; the hosts are `, ""},
		{`{"imports": "cursor"}`, `/w/.mcpx.json:1: imports is a string, and has no effect; write "imports": ["cursor"]`, ""},
		{`{"imports": [1]}`, `/w/.mcpx.json:1: imports names hosts, and this is a number`, ""},
		{`{"paths": {"config": ["x.json", null]}}`, `/w/.mcpx.json:1: paths.config is not followed in a file of the project unless you trust it: "mcpx config trust"`, ""},
		{`{"paths": ["x.json"]}`, `/w/.mcpx.json:1: paths is a list, and has no effect; write "paths": { "config": ["FILE", null] }`, ""},
	} {
		tr := newTree(t, map[string]string{"w/.mcpx.json": tt.text, "home/.cursor/mcp.json": `{"mcpServers": {"c": {"command": "x"}}}`})
		tr.dir = "w"
		c := tr.load("")
		cut := func(lines []string) string {
			text, _, _ := strings.Cut(tr.relative(strings.Join(lines, "\n")), strings.Join(HostNames(), ", "))
			return text
		}
		if tt.unread == "" {
			tt.unread = tt.astray
		}
		if cut(c.Astray) != tt.astray || cut(c.Unread) != tt.unread {
			t.Errorf("%s: Astray\n%s\nUnread\n%s", tt.text, cut(c.Astray), cut(c.Unread))
		}
		for _, w := range append(c.Astray, c.Unread...) {
			if !slices.Contains(c.Warnings, w) {
				t.Errorf("%s: %q is not among the warnings", tt.text, w)
			}
		}
	}
	tr := newTree(t, map[string]string{"c.json": `{"imports": ["cursor"], "paths": {"config": ["x"]}}`})
	if c := tr.load("c.json"); len(c.Unread) != 2 || len(c.Astray) != 0 {
		t.Errorf("of a file that is named: Unread %q, Astray %q", c.Unread, c.Astray)
	}
}

func TestABrokenFileOfAHostCostsItsServersAlone(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		"home/.mcpx.json":            `{"imports": ["claude-code", "cursor", "gemini"], "mcpServers": {"mine": {"command": "x"}}}`,
		"home/.cursor/mcp.json":      "{\"mcpServers\": {\n\"c\": {\"command\" \"x\"}}}",
		"home/.gemini/settings.json": `{"mcpServers": {"g": {"command": "x"}}}`,
	})
	c := tr.load("")
	if err := c.Err(); err != nil {
		t.Errorf("Err = %v", err)
	}
	equal(t, "servers", tr.show(c), "g: x\nmine: x")
	equal(t, "what every command says", tr.relative(strings.Join(c.Astray, "\n")),
		"/home/.cursor/mcp.json:2:17: a colon is missing before \"x\"; the servers that cursor has there are missing")
	if !slices.Equal(c.Unread, c.Astray) || len(c.Warnings) > 0 {
		t.Errorf("Unread %q, Warnings %q", c.Unread, c.Warnings)
	}
	for _, f := range c.Files {
		if broken := f.Host == "cursor" && f.State == Broken && f.Err != nil; broken != (f.Path == tr.path("home/.cursor/mcp.json")) {
			t.Errorf("%+v", f)
		}
	}
	for _, file := range []string{"home/.mcpx.json", ".mcp.json"} { // the latter is mcpx's too, whoever is imported
		strict := newTree(t, map[string]string{
			"home/.mcpx.json": `{"imports": ["claude-code"]}`, ".mcpx.json": `{"imports": ["claude-code"]}`, file: "{",
		})
		if c := strict.load(""); c.Err() == nil || len(c.Astray) > 0 {
			t.Errorf("%s is broken: Err = %v, Astray %q", file, c.Err(), c.Astray)
		}
	}
}

func TestServersOfAProjectInTheUsersFileAreTheProjects(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		"w/deep/file": "",
		"home/.claude.json": `{"mcpServers": {"mine": {"command": "m"}, "both": {"command": "of the user"}}, "projects": {
			"ROOT/w": {"mcpServers": {"here": {"command": "h"}, "both": {"command": "of the project"}}}, "ROOT/w/other": {"mcpServers": {"no": {"command": "n"}}}}}`,
	})
	got := func(dir string) string {
		tr.dir = dir
		var out []string
		for _, f := range (Options{Env: tr.env()}).HostFiles("claude-code") {
			for _, e := range f.Entries {
				out = append(out, e.New.Name+" "+e.New.Command[0]+": "+tr.relative(e.Project))
			}
		}
		return strings.Join(out, "\n")
	}
	equal(t, "below the project", got("w/deep"), "here h: /w\nboth of the project: /w\nmine m: \nboth of the user: ")
	equal(t, "elsewhere", got("home"), "mine m: \nboth of the user: ")
	tr.write("home/.claude.json", `{"projects": {"ROOT/home": {"mcpServers": {"all": {"command": "a"}}}}}`)
	equal(t, "the home directory is no project", got("home"), "all a: ")
}

func TestASketchLoadsStrictlyAndIsEmpty(t *testing.T) {
	t.Parallel()
	for _, imports := range [][]string{nil, {"cursor"}, HostNames()} {
		tr := newTree(t, map[string]string{".mcpx.json": string(Sketch(imports))})
		c := tr.load("")
		c.Strict()
		if err := c.Err(); err != nil || len(c.Faults)+len(c.Servers)+len(c.Settings) > 0 || len(c.Warnings) > 0 && imports == nil {
			t.Errorf("imports %q: %v, %+v", imports, err, c)
		}
		text, _, err := Add(".mcpx.json", Sketch(imports), NewServer{Name: "a", Command: []string{"x"}}, false)
		if err != nil || !strings.Contains(string(text), "// ") {
			t.Errorf("adding to it: %v\n%s", err, text)
		}
		if text, err := SetSetting(".mcpx.json", Sketch(imports), "exec.timeout", "60s"); err != nil {
			t.Errorf("setting in it: %v\n%s", err, text)
		}
	}
}

func TestStrictRefusesWhatMcpxDoesNotKnow(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		".mcp.json":       `{"mcpServers": {"a": {"command": "x", "alwaysAllow": []}, "b": {"command": "y"}}, "theirs": 1, "inputs": []}`,
		"home/.mcpx.json": "{\n\"mcpServers\": {},\n\"odd\": {}}",
	})
	c := tr.load("")
	if a, _ := c.Server("a"); a.Problem != nil || len(c.Faults) > 0 {
		t.Fatalf("refused without being asked to: %v %v", a.Problem, c.Faults)
	}
	c.Strict()
	a, _ := c.Server("a")
	b, _ := c.Server("b")
	if a.Problem == nil || !strings.Contains(a.Problem.Message, "alwaysAllow") || b.Problem != nil {
		t.Errorf("a: %v; b: %v", a.Problem, b.Problem)
	}
	if len(c.Faults) != 2 || !strings.Contains(c.Faults[0].Message, `"theirs"`) || !strings.Contains(c.Faults[1].Message, ".mcpx.json:3:1: ") {
		t.Errorf("faults %v", c.Faults)
	}
}

func TestAnInputIsFilledInAndHidden(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		"home/.mcpx.json": `{"inputs": [{"id": "pick", "type": "pickString", "options": ["eu", "us"]}],
			"mcpServers": {"a": {"command": "x", "args": ["${input:HOME}", "${input:pick}"]}, "u": {"url": "https://h/?k=${input:HOME}"}}}`,
		".mcp.json": `{"mcpServers": {"g": {"command": "x", "args": ["${input:HOME}"]}}}`,
	})
	c := tr.load("")
	var keys []string
	answers := map[string]string{"HOME": "hush-hush", "pick": "asia"}
	env := tr.env()
	env.Input = func(key, id string) (string, bool) {
		keys = append(keys, key)
		v, ok := answers[id]
		return v, ok
	}
	a, _ := c.Server("a")
	_, err := a.Resolve(env)
	if e := fault.From(err); err == nil || e.Details["input"] != "pick" || e.Details["server"] != "a" || !strings.Contains(e.Hint, "mcpx servers input a pick") {
		t.Errorf("a value that is not among the options: %v", err)
	}
	answers["pick"] = "us"
	d, err := a.Resolve(env)
	if err != nil || d.Args[0] != "hush-hush" || d.Args[1] != "us" {
		t.Fatalf("Resolve = %+v, %v", d, err)
	}
	if got := d.Redact("it says hush-hush"); strings.Contains(got, "hush") {
		t.Errorf("Redact leaves %q", got)
	}
	if strings.Contains(d.ByHand(), "hush") {
		t.Errorf("ByHand shows %q", d.ByHand())
	}
	u, _ := c.Server("u")
	if d, err = u.Resolve(env); err != nil || strings.Contains(d.Redact(d.URL), "hush") {
		t.Errorf("in an address: %v", err)
	}
	// An answer is one file's, and in a project's one server's.
	g, _ := c.Server("g")
	keys = nil
	if _, err := g.Resolve(env); err != nil || len(keys) != 1 || keys[0] == tr.path(".mcp.json") || !strings.HasPrefix(keys[0], tr.path(".mcp.json")) {
		t.Errorf("keys %q, %v", keys, err)
	}
	keys = nil
	if _, _ = a.Resolve(env); !slices.Contains(keys, tr.path("home/.mcpx.json")) {
		t.Errorf("keys %q", keys)
	}
}

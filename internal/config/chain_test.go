package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// files are those of a configuration that are there, relative to the tree.
func (tr *tree) files(o Options) []string {
	tr.t.Helper()
	o.Env = tr.env()
	set, err := o.FileSet()
	if err != nil {
		tr.t.Fatal(err)
	}
	var out []string
	for _, f := range set.Files {
		if rel, err := filepath.Rel(tr.root, f); err == nil && !strings.HasPrefix(rel, "..") {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

func everyone(string, []byte) bool { return true }

func TestPathsDecideWhichFilesAreRead(t *testing.T) {
	t.Parallel()
	list := string(filepath.ListSeparator)
	tests := []struct {
		name  string
		files map[string]string
		paths string
		guest bool
		want  string
	}{
		{
			"beside",
			map[string]string{"w/.mcpx.json": `{"paths": {"config": ["../a.json", null, "../b.json"]}}`},
			"", false,
			"w/.mcpx.json a.json w/.mcp.json home/.mcpx.json b.json",
		},
		{
			"in place of the farther ones",
			map[string]string{"w/.mcp.json": `{"paths": {"config": ["../a.json"]}}`},
			"", false,
			"w/.mcpx.json w/.mcp.json a.json",
		},
		{"an empty list", map[string]string{"w/.mcpx.json": `{"paths": {"config": []}}`}, "", false, "w/.mcpx.json"},
		{"null alone", map[string]string{"w/.mcpx.json": `{"paths": {"config": [null]}}`}, "", false, "w/.mcpx.json w/.mcp.json home/.mcpx.json"},
		{"null for the list", map[string]string{"w/.mcpx.json": `{"paths": {"config": null}}`}, "", false, "w/.mcpx.json w/.mcp.json home/.mcpx.json"},
		{"a word", map[string]string{"w/.mcpx.json": `{"paths": {"config": "../a.json"}}`}, "", false, "w/.mcpx.json a.json"},
		{"dotted", map[string]string{"w/.mcpx.json": `{"paths.config": ["../a.json"]}`}, "", false, "w/.mcpx.json a.json"},
		{"escaped", map[string]string{"w/.mcpx.json": `{"p\u0061ths": {"config": ["../a.json"]}}`}, "", false, "w/.mcpx.json a.json"},
		{"from home", map[string]string{"w/.mcpx.json": `{"paths": {"config": ["~/c.json", "${userHome}/.mcpx.json"]}}`}, "", false, "w/.mcpx.json home/c.json home/.mcpx.json"},
		{
			"the same twice",
			map[string]string{"w/.mcpx.json": `{"paths": {"config": ["../a.json", null, "../a.json", null]}}`},
			"", false,
			"w/.mcpx.json a.json w/.mcp.json home/.mcpx.json",
		},
		{"one within another", map[string]string{
			"w/.mcpx.json": `{"paths": {"config": [null, "../a.json"]}}`, "w/.mcp.json": `{"paths": {"config": ["../b.json"]}}`,
		}, "", false, "w/.mcpx.json w/.mcp.json b.json a.json"},
		{
			"of a listed file",
			map[string]string{"w/.mcpx.json": `{"paths": {"config": ["../a.json"]}}`, "a.json": `{"paths": {"config": ["b.json"]}}`},
			"", false,
			"w/.mcpx.json a.json",
		},
		{"of a guest", map[string]string{"w/.mcpx.json": `{"paths": {"config": ["../a.json"]}}`}, "", true, "w/.mcpx.json w/.mcp.json home/.mcpx.json"},
		{"the user's own", map[string]string{"home/.mcpx.json": `{"paths": {"config": ["../a.json"]}}`}, "", true, "w/.mcpx.json w/.mcp.json home/.mcpx.json a.json"},
		{"not there", map[string]string{"w/.mcpx.json": `{"paths": {"config": ["../nowhere.json", "../a.json"]}}`}, "", false, "w/.mcpx.json a.json"},
		{
			"a circle",
			map[string]string{"w/.mcpx.json": `{"paths": {"config": [null]}}`, "w/.mcp.json": `{"paths": {"config": ["./.mcpx.json"]}}`},
			"", false,
			"w/.mcpx.json w/.mcp.json home/.mcpx.json",
		},
		{"by the variable", nil, "a.json" + list + "null" + list + "b.json", true, "a.json w/.mcpx.json w/.mcp.json home/.mcpx.json b.json"},
		{"by the variable, with nothing for null", nil, list + "a.json", true, "w/.mcpx.json w/.mcp.json home/.mcpx.json a.json"},
		{"by the variable, in place", nil, "a.json", true, "a.json"},
		{"by the variable, which goes on in the file", map[string]string{"a.json": `{"paths": {"config": ["b.json"]}}`}, "a.json", true, "a.json b.json"},
		{"by the variable, a project's file", map[string]string{"w/.mcpx.json": `{"paths": {"config": ["../b.json"]}}`}, "w/.mcpx.json", true, "w/.mcpx.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tr := newTree(t, map[string]string{
				"w/.mcpx.json": "{}", "w/.mcp.json": "{}", "home/.mcpx.json": "{}", "home/c.json": "{}", "a.json": "{}", "b.json": "{}",
			})
			for name, text := range tt.files {
				tr.write(name, text)
			}
			tr.dir = "w"
			var o Options
			if tt.paths != "" {
				var words []string
				for word := range strings.SplitSeq(tt.paths, list) {
					if strings.HasSuffix(word, ".json") {
						word = tr.path(word)
					}
					words = append(words, word)
				}
				o.Paths = strings.Join(words, list)
			}
			if !tt.guest {
				o.Trusted = everyone
			}
			if got := strings.Join(tr.files(o), " "); got != tt.want {
				t.Errorf("files are %s\nwant      %s", got, tt.want)
			}
			// What is read is what the set says, and a daemon that was given the set reads it too.
			o.Env = tr.env()
			set, err := o.FileSet()
			if err != nil {
				t.Fatal(err)
			}
			o.Among = set.Files
			c, err := Load(o)
			if err != nil {
				t.Fatal(err)
			}
			var read []string
			for _, f := range c.Files {
				read = append(read, f.Path)
			}
			if !slices.Equal(read, set.Files) {
				t.Errorf("read are %q, and the set is %q", read, set.Files)
			}
		})
	}
}

func TestWrongListsAreToldWithTheirPlace(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{`{"paths": {"config": ["./.mcpx.json"]}}`, `/w/.mcpx.json:1:23: paths.config leads in a circle: /w/.mcpx.json → /w/.mcpx.json`},
		{`{"paths": {"config": [null]}, "paths.config": []}`, `/w/.mcpx.json:1:47: "paths": { "config": … } and "paths.config" are the same setting`},
		{`{"paths": {"config": 1}}`, `/w/.mcpx.json:1:22: paths.config is a number where a list is needed`},
		{`{"paths": {"config": [1]}}`, `/w/.mcpx.json:1:23: paths.config names files, and this is a number`},
		{`{"paths": {"config": ["${NO_SUCH}/x"]}}`, `/w/.mcpx.json:1:23: paths.config: NO_SUCH is not set`},
	}
	for _, tt := range tests {
		tr := newTree(t, map[string]string{"w/.mcpx.json": tt.text, "home/.mcpx.json": `{"mcpServers": {"far": {"command": "x"}}}`})
		tr.dir = "w"
		c, err := Load(Options{Env: tr.env(), Trusted: everyone})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Err(); err == nil || !strings.Contains(filepath.ToSlash(tr.relative(err.Error())), tt.want) {
			t.Errorf("%s\n got  %v\n want %s", tt.text, err, tt.want)
		}
		if _, ok := c.Server("far"); !ok {
			t.Errorf("%s hides the servers of other files", tt.text)
		}
	}
}

func TestAListThatIsNotFollowedIsSaid(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		"w/.mcpx.json": `{"paths": {"config": ["../a.json", "../gone.json"]}}`,
		"a.json":       "{\n\"paths\": {\"config\": []}, \"imports\": 1}",
	})
	tr.dir = "w"
	for _, tt := range []struct {
		o    Options
		want []string
	}{
		{Options{}, []string{"paths.config is not followed in a file of the project unless you trust it"}},
		{Options{Trusted: everyone}, []string{
			"/a.json:2: paths.config is not followed here, since ", "which does not exist", "imports is a number, and has no effect",
		}},
		{Options{File: tr.path("a.json")}, []string{"that file is read alone"}},
	} {
		o := tt.o
		o.Env = tr.env()
		c, err := Load(o)
		if err != nil {
			t.Fatal(err)
		}
		warnings := filepath.ToSlash(tr.relative(strings.Join(c.Warnings, "\n")))
		for _, want := range tt.want {
			if !strings.Contains(warnings, want) {
				t.Errorf("no warning %q in\n%s", want, warnings)
			}
		}
	}
}

func TestListedFilesOfAProjectHaveToBeTrustedThemselves(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		"w/.mcpx.json": `{"paths": {"config": ["more.json", null]}}`, "w/more.json": `{"mcpServers": {"g": {"command": "x"}}}`,
		"home/.mcpx.json": `{"paths": {"config": ["../mine.json"]}}`, "mine.json": `{"mcpServers": {"m": {"command": "x"}}}`,
	})
	tr.dir = "w"
	c, err := Load(Options{Env: tr.env(), Trusted: func(path string, _ []byte) bool { return filepath.Base(path) == ".mcpx.json" }})
	if err != nil {
		t.Fatal(err)
	}
	g, _ := c.Server("g")
	m, _ := c.Server("m")
	if g == nil || !g.Guest || m == nil || m.Guest {
		t.Errorf("g %+v\nm %+v", g, m)
	}
}

func TestAFileThatTheVariableNamesHasToExist(t *testing.T) {
	t.Parallel()
	tr := newTree(t, nil)
	if err := os.MkdirAll(tr.path("home"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Load(Options{Env: tr.env(), Paths: tr.path("gone.json")})
	if err == nil || !strings.Contains(err.Error(), "gone.json does not exist") {
		t.Errorf("Load = %v", err)
	}
}

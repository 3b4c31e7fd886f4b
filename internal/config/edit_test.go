package config

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpx/internal/fault"
)

var added = NewServer{Name: "new", Command: []string{"prog", "-x", "a b"}, Env: map[string]string{"B": "2", "A": "<1>"}}

func TestAddKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, before, after string }{
		{"no file", "", `{
  "mcpServers": {
    "new": {
      "command": "prog",
      "args": ["-x", "a b"],
      "env": {
        "A": "<1>",
        "B": "2"
      }
    }
  }
}
`},
		{"comments, order and tabs", `// mine
{
	// the servers
	"mcpServers": {
		"z": { "command": "z" }, // last letter
		/* first */ "a": {"command": "a"} // no comma
	},
	"exec": { "timeout": "60s" } // short
}
`, `// mine
{
	// the servers
	"mcpServers": {
		"z": { "command": "z" }, // last letter
		/* first */ "a": {"command": "a"}, // no comma
		"new": {
			"command": "prog",
			"args": ["-x", "a b"],
			"env": {
				"A": "<1>",
				"B": "2"
			}
		}
	},
	"exec": { "timeout": "60s" } // short
}
`},
		{"a trailing comma", `{
    "mcpServers": {
        "a": {"command": "a"},
        // "off": {"command": "off"},
    },
}`, `{
    "mcpServers": {
        "a": {"command": "a"},
        // "off": {"command": "off"},
        "new": {
            "command": "prog",
            "args": ["-x", "a b"],
            "env": {
                "A": "<1>",
                "B": "2"
            }
        },
    },
}`},
		{"settings only", "{\n  \"exec\": {\"timeout\": \"60s\"}\n}\n", `{
  "exec": {"timeout": "60s"},
  "mcpServers": {
    "new": {
      "command": "prog",
      "args": ["-x", "a b"],
      "env": {
        "A": "<1>",
        "B": "2"
      }
    }
  }
}
`},
		{"VS Code", "{\n  \"servers\": {}\n}\n", `{
  "servers": {
    "new": {
      "type": "stdio",
      "command": "prog",
      "args": ["-x", "a b"],
      "env": {
        "A": "<1>",
        "B": "2"
      }
    }
  }
}
`},
		{"null", "{\"mcpServers\": null}", "{\"mcpServers\": {\n    \"new\": {\n      \"command\": \"prog\",\n      \"args\": [\"-x\", \"a b\"],\n      \"env\": {\n        \"A\": \"<1>\",\n        \"B\": \"2\"\n      }\n    }\n  }}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, form := range []struct {
				name string
				of   func(string) []byte
			}{
				{"as it is", func(s string) []byte { return []byte(s) }},
				{"with a byte-order mark", func(s string) []byte { return []byte("\xEF\xBB\xBF" + s) }},
				{"with CRLF", func(s string) []byte { return []byte(strings.ReplaceAll(s, "\n", "\r\n")) }},
			} {
				if !strings.Contains(test.before, "\n") && form.name == "with CRLF" {
					continue // nothing says so
				}
				got, replaced, err := Add("/c.json", form.of(test.before), added, false)
				if err != nil || replaced {
					t.Fatalf("%s: Add = %v, %v", form.name, replaced, err)
				}
				if want := form.of(test.after); !bytes.Equal(got, want) {
					t.Errorf("%s: Add wrote\n%s\nwant\n%s", form.name, got, want)
				}
				// What was added goes without a trace, but for a file that was not there.
				back, err := Remove("/c.json", got, "new")
				if err != nil {
					t.Fatal(err)
				}
				again, _, err := Add("/c.json", back, added, false)
				if err != nil || !bytes.Equal(again, got) {
					t.Errorf("%s: added, removed and added, it is\n%s\n(%v) want\n%s", form.name, again, err, got)
				}
			}
		})
	}
}

func TestAddOfAURL(t *testing.T) {
	t.Parallel()
	got, _, err := Add("/c.json", nil, NewServer{Name: "r", URL: "https://example.com/mcp", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}}, false)
	want := `{
  "mcpServers": {
    "r": {
      "url": "https://example.com/mcp",
      "headers": {
        "Authorization": "Bearer ${TOKEN}"
      }
    }
  }
}
`
	if err != nil || string(got) != want {
		t.Errorf("Add = %s, %v, want %s", got, err, want)
	}
}

func TestPlaceholdersAreWrittenAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, s := range []NewServer{
		{Name: "a", URL: "${HOST}/mcp"},
		{Name: "a", URL: "https://x", Headers: map[string]string{"A": "${input:key}"}},
		{Name: "a", Command: []string{"${PROGRAM:-x}", "$$"}, Env: map[string]string{"A": "{env:B}"}},
	} {
		text, _, err := Add("/c.json", nil, s, false)
		if err != nil || !strings.Contains(string(text), "$") && !strings.Contains(string(text), "{env:B}") {
			t.Errorf("Add(%v) = %s, %v", s, text, err)
		}
	}
}

func TestReplaceStaysInItsPlace(t *testing.T) {
	t.Parallel()
	const before = `{"mcpServers": {
  // about new
  "new": {"url": "https://example.com"}, // behind
  "other": {"command": "x"}
}}`
	_, _, err := Add("/c.json", []byte(before), added, false)
	e := fault.From(err)
	if e == nil || e.Kind != fault.Usage || e.Message != `/c.json:3: there is a server "new" already` || !strings.Contains(e.Hint, "--replace") {
		t.Errorf("Add without replace = %+v", e)
	}
	got, replaced, err := Add("/c.json", []byte(before), NewServer{Name: "new", Command: []string{"p"}}, true)
	want := `{"mcpServers": {
  // about new
  "new": {
    "command": "p"
  }, // behind
  "other": {"command": "x"}
}}`
	if err != nil || !replaced || string(got) != want {
		t.Errorf("Add = %s, %v, %v, want %s", got, replaced, err, want)
	}
}

func TestRemoveKeepsTheRest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, before, remove, after string }{
		{"the first", "{\"mcpServers\": {\n  \"a\": {\"command\": \"a\"},\n  // about b\n  \"b\": {\"command\": \"b\"}\n}}", "a", "{\"mcpServers\": {\n  // about b\n  \"b\": {\"command\": \"b\"}\n}}"},
		{"the last", "{\"mcpServers\": {\n  \"a\": {\"command\": \"a\"}, // about a\n  \"b\": {\"command\": \"b\"}\n}}", "b", "{\"mcpServers\": {\n  \"a\": {\"command\": \"a\"} // about a\n}}"},
		{"with a trailing comma", "{\"mcpServers\": {\n  \"a\": {\"command\": \"a\"},\n  \"b\": {\"command\": \"b\"},\n}}", "b", "{\"mcpServers\": {\n  \"a\": {\"command\": \"a\"},\n}}"},
		{"the only one", `{"mcpServers": {"a": {"command": "a"}}}`, "a", `{"mcpServers": {}}`},
		{"twice", `{"mcpServers": {"a": {"command": "a"}, "a": {"command": "b"}, "c": null}}`, "a", `{"mcpServers": { "c": null}}`},
		{"opencode", `{"mcp": {"a": {"type": "local", "command": ["a"]}}, "theme": "dark"}`, "a", `{"mcp": {}, "theme": "dark"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := Remove("/c.json", []byte(test.before), test.remove)
			if err != nil || string(got) != test.after {
				t.Errorf("Remove = %s, %v, want %s", got, err, test.after)
			}
		})
	}
	if _, err := Remove("/c.json", []byte(`{"mcpServers": {}}`), "a"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Remove of a server that is not there = %v", err)
	}
}

func TestEditsAreRefused(t *testing.T) {
	t.Parallel()
	with := func(change func(*NewServer)) NewServer {
		s := NewServer{Name: "new", Command: []string{"p"}}
		change(&s)
		return s
	}
	plain := with(func(*NewServer) {})
	for _, test := range []struct {
		name, path, text string
		server           NewServer
		want             string
	}{
		{"TOML", "/config.toml", "[mcp_servers.a]\ncommand = \"a\"\n", plain, "is TOML"},
		{"a broken file", "/c.json", "{\"mcpServers\": {\n  oops }}", plain, "/c.json:2:3"},
		{"a list", "/c.json", "[]", plain, "where an object is needed"},
		{"servers that are a list", "/c.json", `{"mcpServers": []}`, plain, "mcpServers is not an object"},
		{"another host's", "/c.json", `{"mcp": {"a": {"type": "local", "command": ["a"]}}}`, plain, `stand under "mcp"`},
		{"UTF-16", "/c.json", "\xFF\xFE{\x00}\x00", plain, "UTF-16"},
		{"no name", "/c.json", "", with(func(s *NewServer) { s.Name = "" }), "the name of the server is empty"},
		{"nothing to reach", "/c.json", "", with(func(s *NewServer) { s.Command = nil }), "neither a command nor a URL"},
		{"two ways", "/c.json", "", with(func(s *NewServer) { s.URL = "https://x" }), "both a command and a URL"},
		{"headers of a command", "/c.json", "", with(func(s *NewServer) { s.Headers = map[string]string{"a": "b"} }), "headers are sent to a URL"},
		{"variables of a URL", "/c.json", "", NewServer{Name: "new", URL: "https://x", Env: map[string]string{"a": "b"}}, "variables are for a command"},
		{"no address", "/c.json", "", NewServer{Name: "new", URL: "nowhere"}, `--url "nowhere": it is not the address of an HTTP server`},
		{"no name of a header", "/c.json", "", NewServer{Name: "new", URL: "https://x", Headers: map[string]string{"A b": "c"}}, "cannot be the name of a header"},
		{"an empty command", "/c.json", "", with(func(s *NewServer) { s.Command = []string{""} }), "command: it is empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := Add(test.path, []byte(test.text), test.server, true)
			if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Add = %v, want …%s…", err, test.want)
			}
		})
	}
}

// Whatever a file holds, what Add and Remove write still loads, and keeps the others.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "// c", `{"mcpServers":{"a":{"command":"x"},},}`, "{\n\t\"servers\": {\"a\": null} // x\n}", `{"mcpServers":null,"exec":{"timeout":"1s"}}`,
		"{/*a*/\"mcpServers\"/*b*/:/*c*/{/*d*/\"a\"/*e*/:/*f*/{}/*g*/,/*h*/}/*i*/}/*j*/", `{"mcpServers":{"new":{},"new":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		names := func(text []byte) map[string]bool {
			doc, wrong := newDocument("/c.json", text)
			if wrong != nil {
				return nil
			}
			root, wrong := doc.parse()
			if wrong != nil {
				return nil
			}
			r := reader{place: place{path: "/c.json"}, doc: doc}
			if r.read(root) != nil {
				return nil
			}
			out := map[string]bool{}
			for _, e := range r.entries {
				out[e.name] = true
			}
			return out
		}
		had := names(raw)
		text, _, err := Add("/c.json", raw, added, true)
		if err != nil {
			return
		}
		had["new"] = true
		if got := names(text); !maps.Equal(got, had) {
			t.Fatalf("Add to %q wrote %q: it has %v, want %v", raw, text, got, had)
		}
		delete(had, "new")
		text, err = Remove("/c.json", text, "new")
		if err != nil {
			t.Fatalf("Remove from %q: %v", text, err)
		}
		if got := names(text); !maps.Equal(got, had) {
			t.Fatalf("Remove wrote %q: it has %v, want %v", text, got, had)
		}
	})
}

func TestAFileSetIsWhichFilesThereAre(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		"home/w/.mcp.json":   `{"mcpServers": {"a": {"command": "x"}}}`,
		"home/w/deep/er/f":   "",
		"home/v/.mcpx.json":  `{}`,
		"elsewhere/one.json": `{}`,
	})
	key := func(dir, file string) string {
		here := *tr
		here.dir = dir
		set, err := Options{Env: here.env(), File: file}.FileSet()
		if err != nil {
			t.Fatal(err)
		}
		return set.Key()
	}
	one := key("home/w", "")
	if other := key("home/w/deep/er", ""); other != one {
		t.Error("two folders of a project have two sets")
	}
	tr.write("home/w/.mcp.json", `{"mcpServers": {}}`)
	if other := key("home/w", ""); other != one {
		t.Error("what a file holds makes another set")
	}
	if other := key("home/v", ""); other == one {
		t.Error("two projects have one set")
	}
	tr.write("home/w/deep/.mcpx.json", "{}")
	if other := key("home/w/deep/er", ""); other == one {
		t.Error("a file more is the same set")
	}
	named := key("home/w", tr.path("elsewhere/one.json"))
	if named == one || named != key("home/v", tr.path("elsewhere/one.json")) {
		t.Error("the set of a file that is named depends on the folder")
	}
	if _, err := (Options{Env: tr.env(), File: "none.json"}).FileSet(); fault.KindOf(err) != fault.Usage {
		t.Errorf("FileSet of a file that is not there = %v", err)
	}

	here := *tr
	here.dir = "home/w/deep/er"
	c, err := Load(Options{Env: here.env(), Among: []string{tr.path("home/w/.mcp.json")}})
	if err != nil || len(c.Files) != 1 || c.Files[0].State != Read {
		t.Errorf("Load of one among them = %+v, %v", c, err)
	}
}

func TestAWatchNotices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(one, "1")
	w := NewWatch([]string{one, two})
	for _, step := range []struct {
		name   string
		change func()
		want   bool
	}{
		{"nothing", func() {}, false},
		{"a file that came", func() { write(two, "2") }, true},
		{"nothing again", func() {}, false},
		{"a longer text", func() { write(one, "11") }, true},
		{"a later time", func() {
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(one, later, later); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"another file of the same name", func() {
			info, err := os.Stat(one)
			if err != nil {
				t.Fatal(err)
			}
			write(one+".new", "12")
			if err := os.Chtimes(one+".new", info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(one+".new", one); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"a file that went", func() { _ = os.Remove(two) }, true},
		{"nothing at last", func() {}, false},
	} {
		step.change()
		if got := w.Changed(); got != step.want {
			t.Errorf("%s: Changed = %v, want %v", step.name, got, step.want)
		}
	}
}

func TestEntriesThatStartTheSameServer(t *testing.T) {
	t.Parallel()
	one := func(entry string) *Server {
		tr := newTree(t, map[string]string{".mcpx.json": `{"mcpServers": {"a": ` + entry + `}}`})
		s, ok := tr.load(tr.path(".mcpx.json")).Server("a")
		if !ok {
			t.Fatalf("no server in %s", entry)
		}
		s.base, s.workspace = "", "" // each is in a folder of its own
		return s
	}
	base := one(`{"command": "x", "env": {"A": "1"}}`)
	for entry, want := range map[string]bool{
		"{\n\"env\": {\"A\": \"1\"},\n\"command\": \"x\", \"alwaysAllow\": []}": true,
		`{"command": "x", "env": {"A": "1"}, "mcpx": {"excludeTools": ["y"]}}`:  true,
		`{"command": "x", "env": {"A": "2"}}`:                                   false,
		`{"command": "x", "env": {"A": "1"}, "args": ["y"]}`:                    false,
		`{"command": "x", "env": {"A": "1"}, "disabled": true}`:                 false,
		`{"command": "x", "env": {"A": "1"}, "mcpx": {"scope": "session"}}`:     false,
		`{"command": 7}`:                 false,
		`{"url": "https://example.com"}`: false,
	} {
		if got := base.Same(one(entry)); got != want {
			t.Errorf("Same(%s) = %v, want %v", entry, got, want)
		}
	}
}

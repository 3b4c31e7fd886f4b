package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

var paper = fstest.MapFS{
	"serve.md":        {Data: []byte("# mcpx as a server\n\n<!-- made -->\n\nIt serves.\n")},
	"permissions.md":  {Data: []byte("# Permissions\n\nWhat a script may do.\n")},
	"guide/README.md": {Data: []byte("# Guides\n")},
	"guide/ci.md":     {Data: []byte("# CI\n\n\x1b[2JNothing stays.\n")},
}

func TestDocs(t *testing.T) {
	t.Parallel()
	const list = "Guides, to be read and pasted:\n  guide     Guides\n  guide/ci  CI\n\nReference:\n  permissions  Permissions\n" +
		"  serve        mcpx as a server\n\n\"mcpx docs PAGE\" prints one, in Markdown.\n"
	tests := []struct {
		line   string
		code   int
		stdout string
		stderr string
	}{
		{"docs", 0, list, ""},
		{"docs serve", 0, "# mcpx as a server\n\nIt serves.\n", ""},
		{"docs guide", 0, "# Guides\n", ""},
		{"docs guide/ci", 0, "# CI\n\n\ufffd[2JNothing stays.\n", ""},
		{"docs ../permissions.md#words", 0, "# Permissions\n\nWhat a script may do.\n", ""},
		{"docs docs/guide/README.md", 0, "# Guides\n", ""},
		{"help permissions", 0, "# Permissions\n\nWhat a script may do.\n", ""},
		{"docs permision", 2, "", "mcpx: the documentation has no page \"permision\"\n  did you mean \"mcpx docs permissions\"? \"mcpx docs\" lists the pages\n"},
		{"help permision", 2, "", "mcpx: unknown command \"permision\"\n  did you mean \"mcpx help permissions\"? \"mcpx help\" lists the commands\n"},
		{"docs --json serve", 0, `{"name":"serve","text":"# mcpx as a server\n\nIt serves.\n"}` + "\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			driveIn(t, &desk{}, Program{Dir: t.TempDir(), Pages: paper}, strings.Fields(tt.line)...).want(t, tt.code, tt.stdout, tt.stderr)
		})
	}
	if s := driveIn(t, &desk{}, Program{Dir: t.TempDir(), Pages: paper}, "help", "serve"); !strings.HasPrefix(s.stdout.String(), "mcpx serve: ") {
		t.Errorf("the help of a command with a page of its name begins %.40q", s.stdout.String())
	}
	if s := driveIn(t, &desk{}, Program{Dir: t.TempDir(), Pages: paper}, "man"); !strings.Contains(s.stdout.String(), "guide, guide/ci, permissions, serve.") {
		t.Error("the manual does not name the pages")
	}
}

// TestHelpNamesPagesThatAreThere has help send nobody to a file that only the repository has.
func TestHelpNamesPagesThatAreThere(t *testing.T) {
	t.Parallel()
	pages := os.DirFS(filepath.Join("..", "..", "docs"))
	p := Program{Pages: pages}
	s := driveIn(t, &desk{}, Program{Dir: t.TempDir(), Pages: pages}, "docs", "--json")
	var doc struct{ Pages []pageInfo }
	if err := json.Unmarshal(s.stdout.Bytes(), &doc); err != nil || len(doc.Pages) < 20 {
		t.Fatalf("%d pages, %v: nothing is guarded", len(doc.Pages), err)
	}
	for _, i := range doc.Pages {
		if i.Title == "" || strings.HasPrefix(i.Title, "<") {
			t.Errorf("the page %s begins with no title", i.Name)
		}
	}
	file, page, named := regexp.MustCompile(`docs/\S*\.md`), regexp.MustCompile(`"mcpx docs ([a-z/-]+)"`), 0
	v := &invocation{p: &Program{}}
	for _, c := range v.app().Commands {
		if m := file.FindString(c.Description); m != "" {
			t.Errorf("the help of %s names %s, which is not where mcpx is", c.Name, m)
		}
		for _, m := range page.FindAllStringSubmatch(c.Description, -1) {
			named++
			if _, ok := p.page(m[1]); !ok {
				t.Errorf("the help of %s names the page %s, which is not there", c.Name, m[1])
			}
		}
	}
	if named < 8 {
		t.Errorf("help names %d pages: nothing is guarded", named)
	}
}

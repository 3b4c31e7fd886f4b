package pool

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

var update = flag.Bool("update", false, "rewrite the generated parts of docs/environment.md")

// The page lists what is in the code, and nothing else.
func TestEnvironmentIsDocumented(t *testing.T) {
	t.Parallel()
	const file = "../docs/environment.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	code := func(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
	handed := code(inherited) + ".\n\nOn Windows also " + code(inheritedWindows) + "."
	told := "| variable | for | what it says |\n| --- | --- | --- |"
	for _, v := range settings.Told() {
		told += "\n| `" + v.Name + "` | " + v.For + " | " + v.Doc + " |"
	}
	text := string(page)
	for name, want := range map[string]string{"inherited": handed, "told": told} {
		begin, end := "<!-- "+name+": generated -->\n", "<!-- "+name+": end -->"
		head, rest, ok := strings.Cut(text, begin)
		_, tail, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no part %s", file, name)
		}
		text = head + begin + want + "\n" + end + tail
	}
	switch {
	case text == string(page):
	case *update:
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // a page for everybody
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what the code says: go test ./pool -update", file)
	}
}

// Whatever is set for a child is in the table, and what is in the table is set somewhere.
func TestToldVariablesAreThoseThatAreSet(t *testing.T) {
	t.Parallel()
	names := map[string]string{} // of the constants, by what they hold
	files := token.NewFileSet()
	source, err := parser.ParseFile(files, "../internal/settings/variables.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(source, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Told") {
			value, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value) //nolint:forcetypeassert // constants are literals there
			names[value] = spec.Names[0].Name
		}
		return true
	})
	var text strings.Builder // of all other sources
	literal := regexp.MustCompile(`"MCPX_[A-Z0-9_]*=`)
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Base(filepath.Dir(path)) == "settings":
			return nil
		}
		b, err := os.ReadFile(path)
		for _, at := range literal.FindAllString(string(b), -1) {
			// The daemon is this program once more, and reads what any mcpx does.
			if at != `"MCPX_STATE_DIR=` && at != `"MCPX_CONFIG=` {
				t.Errorf("%s sets %s…: variables for children are the constants of settings.Told", path, at)
			}
		}
		text.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(settings.Told()) == 0 || len(names) != len(settings.Told()) {
		t.Errorf("%d constants, %d rows", len(names), len(settings.Told()))
	}
	for _, v := range settings.Told() {
		if name := names[v.Name]; name == "" || !strings.Contains(text.String(), "settings."+name) {
			t.Errorf("nothing sets %s", v.Name)
		}
		if strays := settings.Strays([]string{v.Name + "=x"}); len(strays) > 0 {
			t.Errorf("an mcpx that is told %s warns of it", v.Name)
		}
	}
}

func TestWhatMcpxTellsAServer(t *testing.T) {
	t.Parallel()
	environ := []string{"PATH=/bin", "MCPX_SESSION_ID=of the caller", "SECRET=x"}
	told := []string{"MCPX_SESSION_ID=mine", "MCPX_DAEMON_ENDPOINT=unix:/s"}
	tests := []struct {
		name string
		def  config.Definition
		told []string
		want string
	}{
		{"told", config.Definition{}, told, "MCPX_DAEMON_ENDPOINT=unix:/s MCPX_SESSION_ID=mine PATH=/bin"},
		{"the entry goes before", config.Definition{Env: map[string]string{"MCPX_SESSION_ID": "entry"}}, told, "MCPX_DAEMON_ENDPOINT=unix:/s MCPX_SESSION_ID=entry PATH=/bin"},
		{"it goes before what is inherited", config.Definition{InheritEnv: true}, told, "MCPX_DAEMON_ENDPOINT=unix:/s MCPX_SESSION_ID=mine PATH=/bin SECRET=x"},
		{"nothing", config.Definition{}, nil, "PATH=/bin"},
	}
	for _, tt := range tests {
		if got := strings.Join(childEnviron(environ, &tt.def, tt.told), " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Windows has one variable whatever the case of its name, and shells that write all in capitals.
func TestNamesOfVariablesOnWindows(t *testing.T) {
	t.Parallel()
	environ := []string{"SYSTEMROOT=c:", "Path=p", "Lc_All=x", "temp=t", "Secret=x", "Token=old", "SystemDrive=d"}
	def := &config.Definition{Env: map[string]string{"TOKEN": "new", "systemdrive": "e"}}
	for windows, want := range map[bool]string{
		true:  "Lc_All=x Path=p SYSTEMROOT=c: TOKEN=new systemdrive=e temp=t",
		false: "TOKEN=new systemdrive=e",
	} {
		if got := strings.Join(environOn(windows, environ, def, nil), " "); got != want {
			t.Errorf("on Windows %t: %s, want %s", windows, got, want)
		}
	}
}

func TestServerThatNamesAWithheldVariable(t *testing.T) {
	t.Parallel()
	environ := []string{"PATH=/bin", "API_TOKEN=x", "OTHER=y", "EMPTY=", "NO=z"}
	tests := []struct {
		name, said string
		def        config.Definition
		want       string
	}{
		{"in standard error", "Error: API_TOKEN is required", config.Definition{}, "it names API_TOKEN, which you have"},
		{"two", "set $OTHER or ${API_TOKEN}", config.Definition{}, "it names API_TOKEN, OTHER, which"},
		{"one that it has", "PATH is wrong", config.Definition{}, ""},
		{"one of its entry", "API_TOKEN is wrong", config.Definition{Env: map[string]string{"API_TOKEN": "v"}}, ""},
		{"one that nobody has", "NOBODY is missing, and EMPTY", config.Definition{}, ""},
		{"part of a word", "MY_API_TOKENS", config.Definition{}, ""},
		{"short words", "NO", config.Definition{}, ""},
		{"all are handed on", "API_TOKEN is wrong", config.Definition{InheritEnv: true}, ""},
	}
	for _, tt := range tests {
		e := fault.Unavailablef("s exited").With("stderr", tt.said)
		got := withheld(environ, &tt.def, e)
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) || got != "" && (!strings.Contains(got, "inheritEnv") || !strings.Contains(got, `"env"`)) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Package layers holds the shape of the repository: which package may import
// which, what each may touch, and that the documents that speak of the shape
// tell the truth. It has tests only. They parse the sources instead of asking
// the go command, so that the test cache sees every file that they depend on.
package layers

import (
	"flag"
	"path"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated parts of docs/architecture.md")

// A layer is a row of packages that do not import each other. They import only
// packages of the rows below.
type layer struct {
	does     string
	packages []string // as matches reads them
}

// table holds every package of the module, the lowest layer first.
var table = []layer{
	{"what went wrong, JSON and names as text, and pages to read", []string{"internal/fault", "internal/jsontext", "internal/spelling", "docs"}},
	{"values and the machine's primitives", []string{"internal/settings", "internal/schema", "mcp", "internal/process", "internal/dotenv", "internal/body", "engine/internal/*"}},
	{"rules about tools, as values", []string{"internal/rule"}},
	{"one mechanism each", []string{
		"engine", "mcp/client", "mcp/auth", "mcp/server", "mcp/mcptest",
		"internal/config", "internal/grant", "internal/sandbox", "internal/frame", "internal/store", "internal/api", "internal/scope", "internal/carry",
	}},
	{"mechanisms put together", []string{"pool", "internal/artifact", "internal/task", "internal/record", "internal/runtimes", "internal/effects/*", "internal/catalog", "internal/demo", "stdlib/internal/*"}},
	{"what a script finds", []string{"bindings", "stdlib/*"}},
	{"the two ends of a tool call", []string{"internal/worker", "internal/gateway"}},
	{"the one path of a script run", []string{"internal/run"}},
	{"what is offered to other programs", []string{"internal/serve", "internal/daemon"}},
	{"what is wrong", []string{"internal/diagnose"}},
	{"the command line", []string{"internal/cli"}},
	{"the process", []string{"cmd/mcpx"}},
}

// besides holds the packages that consist of tests. Nothing imports them.
var besides = []string{"internal/layers", "internal/suite"}

// narrow holds the packages that import less of ours than their layer allows.
var narrow = map[string][]string{
	"internal/cli": {"internal/api", "internal/fault", "internal/settings", "internal/spelling"},
}

// families holds the patterns whose packages may import each other although they
// are of one layer. The go command refuses cycles among them.
var families = []string{"stdlib/internal/*"}

// together holds the patterns whose tests may import each other, upward too: what
// modules share is tried in a script that has the modules.
var together = []string{"stdlib/..."}

// A door says which packages may import a module, or the packages below a path.
type door struct {
	module   string
	packages []string // as matches reads them
	tests    bool     // any test may
}

var doors = []door{
	{module: "github.com/dop251/goja", packages: []string{"engine", "bindings", "stdlib/..."}, tests: true},
	{module: "github.com/dop251/goja_nodejs", packages: []string{"engine", "stdlib/..."}},
	{module: "github.com/evanw/esbuild", packages: []string{"engine"}},
	{module: "github.com/urfave/cli/v2", packages: []string{"internal/cli", "cmd/mcpx"}},
	{module: "modernc.org/sqlite", packages: []string{"internal/store", "stdlib/sql"}},
	{module: "modernc.org/libc", packages: []string{"stdlib/sql"}},
	{module: "github.com/modelcontextprotocol/go-sdk", tests: true},
}

// pure holds the packages whose only way out is engine.Host. Neither they nor
// what they import of ours may import a package that reaches the machine.
var pure = []string{"engine", "bindings", "stdlib/..."}

// reaches reports whether a package of the standard library (or one that stands
// in for it) opens files, dials, starts processes or reads the environment.
func reaches(imported string) bool {
	switch imported {
	case "net/url", "net/netip", "net/textproto", "net/mail":
		return false
	case "syscall", "io/ioutil", "log", "plugin", "C", "testing", "go/build", "runtime/pprof", "runtime/trace", "expvar":
		return true
	}
	return within(imported, "os") || within(imported, "net") || within(imported, "log/syslog") || within(imported, "golang.org/x/sys")
}

// within reports whether p is the path root or lies below it.
func within(p, root string) bool {
	return p == root || strings.HasPrefix(p, root+"/")
}

// matches reports whether one of the patterns means the package: its folder,
// FOLDER/* for those in it, or FOLDER/... for it and all below it.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if above, ok := strings.CutSuffix(pattern, "/..."); ok {
			return within(name, above)
		}
		if above, ok := strings.CutSuffix(pattern, "/*"); ok {
			return path.Dir(name) == above
		}
		return pattern == name
	})
}

// level returns the layer of a package of ours.
func level(name string) (int, bool) {
	for i, l := range table {
		if matches(l.packages, name) {
			return i, true
		}
	}
	if slices.Contains(besides, name) {
		return len(table), true
	}
	return 0, false
}

// related reports whether one of the patterns means both packages.
func related(patterns []string, a, b string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return matches([]string{pattern}, a) && matches([]string{pattern}, b)
	})
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	tr := repository(t)
	if want := len(table); len(tr.packages) < want {
		t.Fatalf("%d packages found, want at least one in each of the %d layers: nothing is guarded", len(tr.packages), want)
	}
	for _, v := range tr.violations() {
		t.Error(v)
	}
	patterns := slices.Concat(pure, besides, families, together)
	for _, l := range table {
		patterns = append(patterns, l.packages...)
	}
	for _, pattern := range patterns {
		if len(tr.matching(pattern)) == 0 {
			t.Errorf("%s is in a table and not in the tree", pattern)
		}
	}
	for _, d := range doors {
		if tr.direct[d.module] && !tr.imported(d.module) {
			t.Errorf("no import of %s found: its rule guards nothing", d.module)
		}
	}
}

// TestEveryRuleCatches breaks each rule in a small tree of its own.
func TestEveryRuleCatches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		want  string // in the only violation; empty: there is none
	}{
		{
			name:  "a clean tree",
			files: map[string]string{"pool/pool.go": `import _ "mcpx/mcp/client"`},
		}, {
			name:  "an import that points up",
			files: map[string]string{"pool/pool.go": `import _ "mcpx/internal/run"`},
			want:  "pool/pool.go imports internal/run, which is not below it",
		}, {
			name:  "an import within a layer",
			files: map[string]string{"pool/pool.go": `import _ "mcpx/internal/catalog"`},
			want:  "pool/pool.go imports internal/catalog, which is not below it",
		}, {
			name:  "a family",
			files: map[string]string{"stdlib/internal/a/a.go": `import _ "mcpx/stdlib/internal/b"`, "stdlib/internal/b/b.go": ``},
		}, {
			name:  "modules are no family",
			files: map[string]string{"stdlib/a/a.go": `import _ "mcpx/stdlib/b"`, "stdlib/b/b.go": ``},
			want:  "stdlib/a/a.go imports stdlib/b, which is not below it",
		}, {
			name:  "a test may use its neighbours",
			files: map[string]string{"mcp/client/session_test.go": `import _ "mcpx/mcp/mcptest"`},
		}, {
			name:  "a test of what modules share uses a module",
			files: map[string]string{"stdlib/internal/a/a_test.go": `import _ "mcpx/stdlib/b"`, "stdlib/b/b.go": ``},
		}, {
			name:  "a test does not look up",
			files: map[string]string{"mcp/client/session_test.go": `import _ "mcpx/pool"`},
			want:  "mcp/client/session_test.go imports pool, which is above it",
		}, {
			name:  "a package that nobody placed",
			files: map[string]string{"internal/util/util.go": ``},
			want:  "internal/util is in no layer",
		}, {
			name:  "the command line takes what it needs as values",
			files: map[string]string{"internal/cli/cli.go": `import _ "mcpx/internal/gateway"`},
			want:  "internal/cli/cli.go imports internal/gateway; of ours it may import only internal/api, internal/fault, internal/settings, internal/spelling",
		}, {
			name:  "a module behind a door",
			files: map[string]string{"pool/pool.go": `import _ "github.com/dop251/goja/parser"`},
			want:  "pool/pool.go imports github.com/dop251/goja/parser, which is for bindings, engine, stdlib/..., tests only",
		}, {
			name:  "a module for tests",
			files: map[string]string{"mcp/client/client.go": `import _ "github.com/modelcontextprotocol/go-sdk/mcp"`},
			want:  "mcp/client/client.go imports github.com/modelcontextprotocol/go-sdk/mcp, which is for tests only",
		}, {
			name:  "a module for tests in a test",
			files: map[string]string{"mcp/client/peer_test.go": `import _ "github.com/modelcontextprotocol/go-sdk/mcp"`},
		}, {
			name:  "the engine opens a file",
			files: map[string]string{"engine/engine.go": `import _ "os"`},
			want:  "engine reaches the machine: engine/engine.go imports os",
		}, {
			name:  "a module of the engine dials",
			files: map[string]string{"stdlib/console/console.go": `import _ "net/http"`},
			want:  "stdlib/console reaches the machine: stdlib/console/console.go imports net/http",
		}, {
			name: "the bindings start a process through another package",
			files: map[string]string{
				"bindings/bindings.go":       `import _ "mcpx/internal/process"`,
				"internal/process/start.go":  `import _ "os/exec"`,
				"internal/process/ignore.go": `import _ "net/url"`,
			},
			want: "bindings reaches the machine: internal/process/start.go imports os/exec",
		}, {
			name:  "a test of the engine reads its golden files",
			files: map[string]string{"engine/golden_test.go": `import _ "os"`},
		}, {
			name:  "somebody imports a package of tests",
			files: map[string]string{"cmd/mcpx/main_test.go": `import _ "mcpx/internal/suite"`},
			want:  "cmd/mcpx/main_test.go imports internal/suite, which is above it",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := synthetic(t, tt.files).violations()
			switch {
			case tt.want == "" && len(got) == 0:
			case len(got) == 1 && got[0] == tt.want:
			default:
				t.Errorf("violations = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEveryPackageSaysWhatItProvides(t *testing.T) {
	t.Parallel()
	for _, name := range repository(t).names() {
		if wrong := repository(t).packages[name].undocumented(); wrong != "" {
			t.Error(wrong)
		}
	}
	for _, tt := range []struct{ file, source, want string }{
		{"pool/pool.go", "// Package pool is.\npackage pool", ""},
		{"pool/lease.go", "// Package pool is.\npackage pool", `pool: the package comment belongs in pool.go, not lease.go`},
		{"pool/pool.go", "package pool", `pool has no package comment; it belongs in pool.go`},
		{"pool/pool.go", "// A pool.\npackage pool", `pool: the package comment in pool.go begins "A pool.", want "Package pool"`},
		{"cmd/mcpx/main.go", "// Mcpx puts.\npackage main", ""},
		{"internal/suite/suite_test.go", "// Package suite runs.\npackage suite", ""},
	} {
		tr := parsed(t, map[string]string{tt.file: tt.source})
		if got := tr.packages[path.Dir(tt.file)].undocumented(); got != tt.want {
			t.Errorf("undocumented(%s, %q) = %q, want %q", tt.file, tt.source, got, tt.want)
		}
	}
}

package layers

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// A tree is the sources of a module, as far as its shape is concerned.
type tree struct {
	module   string
	direct   map[string]bool // modules that go.mod requires itself
	packages map[string]*pkg // by folder
}

type pkg struct {
	name  string // folder
	files []file
}

type file struct {
	name    string // without the folder
	test    bool
	pkg     string // as its package clause says
	doc     string // package comment
	imports []string
}

// root is the repository.
const root = "../.."

var load = sync.OnceValues(func() (*tree, error) { return parse(os.DirFS(root)) })

// repository is the tree that this test stands in.
func repository(t *testing.T) *tree {
	t.Helper()
	tr, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// parsed is a tree of the given sources.
func parsed(t *testing.T, files map[string]string) *tree {
	t.Helper()
	sources := fstest.MapFS{"go.mod": {Data: []byte("module mcpx\n")}}
	for name, source := range files {
		sources[name] = &fstest.MapFile{Data: []byte(source)}
	}
	tr, err := parse(sources)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// synthetic is parsed for sources without package clauses.
func synthetic(t *testing.T, files map[string]string) *tree {
	t.Helper()
	whole := map[string]string{}
	for name, body := range files {
		whole[name] = "package " + path.Base(path.Dir(name)) + "\n" + body
	}
	return parsed(t, whole)
}

// parse reads the imports and package comments of a module. Folders that the go
// command does not look into, and nested modules, are not part of it.
func parse(sources fs.FS) (*tree, error) {
	gomod, err := fs.ReadFile(sources, "go.mod")
	if err != nil {
		return nil, err
	}
	tr := &tree{packages: map[string]*pkg{}}
	tr.module, tr.direct = requirements(string(gomod))
	err = fs.WalkDir(sources, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			base := path.Base(name)
			_, err := fs.Stat(sources, path.Join(name, "go.mod"))
			if name != "." && (err == nil || base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(sources, name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		return tr.add(name, parsed)
	})
	return tr, err
}

func (tr *tree) add(name string, parsed *ast.File) error {
	f := file{
		name: path.Base(name),
		test: strings.HasSuffix(name, "_test.go"),
		pkg:  parsed.Name.Name,
		doc:  parsed.Doc.Text(),
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		f.imports = append(f.imports, imported)
	}
	folder := path.Dir(name)
	if tr.packages[folder] == nil {
		tr.packages[folder] = &pkg{name: folder}
	}
	tr.packages[folder].files = append(tr.packages[folder].files, f)
	return nil
}

// requirements reads the module path and the direct requirements of a go.mod.
func requirements(gomod string) (module string, direct map[string]bool) {
	direct = map[string]bool{}
	block := ""
	for line := range strings.Lines(gomod) {
		line, comment, _ := strings.Cut(line, "//")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			continue
		case len(fields) == 2 && fields[1] == "(":
			block = fields[0]
			continue
		case fields[0] == ")":
			block = ""
			continue
		case block != "":
			fields = append([]string{block}, fields...)
		}
		switch {
		case fields[0] == "module" && len(fields) == 2:
			module = fields[1]
		case fields[0] == "require" && len(fields) == 3 && !strings.Contains(comment, "indirect"):
			direct[fields[1]] = true
		}
	}
	return module, direct
}

// names lists the folders with packages.
func (tr *tree) names() []string {
	return slices.Sorted(maps.Keys(tr.packages))
}

// matching lists the packages that a pattern means.
func (tr *tree) matching(pattern string) []string {
	return slices.DeleteFunc(tr.names(), func(name string) bool { return !matches([]string{pattern}, name) })
}

// own returns the folder of an imported package of ours.
func (tr *tree) own(imported string) (string, bool) {
	return strings.CutPrefix(imported, tr.module+"/")
}

// imported reports whether any file imports a package of module.
func (tr *tree) imported(module string) bool {
	for _, p := range tr.packages {
		for _, f := range p.files {
			if slices.ContainsFunc(f.imports, func(imported string) bool { return within(imported, module) }) {
				return true
			}
		}
	}
	return false
}

// violations lists what breaks a rule of the tables, a sentence each.
func (tr *tree) violations() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, name := range tr.names() {
		at, placed := level(name)
		if !placed {
			say("%s is in no layer", name)
			continue
		}
		for _, f := range tr.packages[name].files {
			where := path.Join(name, f.name)
			if slices.Contains(besides, name) && !f.test {
				say("%s is no test", where)
			}
			for _, imported := range f.imports {
				if q, ok := tr.own(imported); ok {
					to, placed := level(q)
					allowed, isNarrow := narrow[name]
					switch {
					case !placed:
						say("%s imports %s, which is in no layer", where, q)
					case f.test && to > at && !related(together, name, q):
						say("%s imports %s, which is above it", where, q)
					case f.test || related(families, name, q):
					case to >= at:
						say("%s imports %s, which is not below it", where, q)
					case isNarrow && !slices.Contains(allowed, q):
						say("%s imports %s; of ours it may import only %s", where, q, strings.Join(allowed, ", "))
					}
					continue
				}
				for _, d := range doors {
					if !within(imported, d.module) || matches(d.packages, name) || d.tests && f.test {
						continue
					}
					say("%s imports %s, which is for %s only", where, imported, d.audience())
				}
			}
		}
		if matches(pure, name) {
			if how := tr.reach(name, map[string]bool{}); how != "" {
				say("%s reaches the machine: %s", name, how)
			}
		}
	}
	return out
}

// reach says by which import a package, or one of ours that it is built from,
// reaches the machine; it is empty if none does.
func (tr *tree) reach(name string, seen map[string]bool) string {
	if seen[name] || tr.packages[name] == nil {
		return ""
	}
	seen[name] = true
	for _, f := range tr.packages[name].files {
		if f.test {
			continue
		}
		for _, imported := range f.imports {
			if reaches(imported) {
				return path.Join(name, f.name) + " imports " + imported
			}
			if q, ok := tr.own(imported); ok {
				if how := tr.reach(q, seen); how != "" {
					return how
				}
			}
		}
	}
	return ""
}

func (d door) audience() string {
	who := slices.Sorted(slices.Values(d.packages))
	if d.tests {
		who = append(who, "tests")
	}
	return strings.Join(who, ", ")
}

// home is the file that the package comment belongs in.
func (p *pkg) home() string {
	base := path.Base(p.name) + ".go"
	switch {
	case slices.ContainsFunc(p.files, func(f file) bool { return f.pkg == "main" }):
		return "main.go"
	case !slices.ContainsFunc(p.files, func(f file) bool { return !f.test }):
		return path.Base(p.name) + "_test.go"
	}
	return base
}

// undocumented says what is wrong with the package comment; empty if nothing is.
func (p *pkg) undocumented() string {
	found := false
	for _, f := range p.files {
		switch {
		case f.doc == "":
			continue
		case f.name != p.home():
			return fmt.Sprintf("%s: the package comment belongs in %s, not %s", p.name, p.home(), f.name)
		}
		found = true
		if want := "Package " + f.pkg; f.pkg != "main" && !strings.HasPrefix(f.doc, want+" ") {
			return fmt.Sprintf("%s: the package comment in %s begins %q, want %q", p.name, f.name, strings.TrimSpace(f.doc), want)
		}
	}
	if !found {
		return fmt.Sprintf("%s has no package comment; it belongs in %s", p.name, p.home())
	}
	return ""
}

// synopsis is the first sentence of the package comment, without "Package x".
func (p *pkg) synopsis() string {
	for _, f := range p.files {
		if f.name == p.home() {
			text := new(doc.Package).Synopsis(f.doc)
			return strings.TrimPrefix(text, "Package "+f.pkg+" ")
		}
	}
	return ""
}

package settings

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sources calls visit for each Go source of the program outside this package.
func sources(t *testing.T, visit func(path string, file *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (slices.Contains([]string{"node_modules", "testdata", ".git", "tools"}, e.Name()) || path == filepath.Join("..", "settings")):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err == nil {
			visit(filepath.ToSlash(rel), file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// declaredNames are the variables of keys.go.
func declaredNames(t *testing.T, src any) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "keys.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				out = append(out, s.(*ast.ValueSpec).Names[0].Name) //nolint:forcetypeassert // a var has no others
			}
		}
	}
	return out
}

// readIn returns which variables of this package a source asks for their value.
func readIn(file *ast.File) []string {
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		if read, ok := n.(*ast.SelectorExpr); ok && (read.Sel.Name == "Get" || read.Sel.Name == "Said") {
			if key, ok := read.X.(*ast.SelectorExpr); ok {
				if p, ok := key.X.(*ast.Ident); ok && p.Name == "settings" {
					out = append(out, key.Sel.Name)
				}
			}
		}
		return true
	})
	return out
}

// A setting that parses, shows in help and changes nothing costs somebody an afternoon.
func TestEverySettingIsRead(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	sources(t, func(_ string, file *ast.File) {
		for _, name := range readIn(file) {
			read[name] = true
		}
	})
	names := declaredNames(t, nil)
	if len(names) != len(All()) || len(names) < 30 {
		t.Fatalf("%d variables in keys.go, and %d settings", len(names), len(All()))
	}
	for _, name := range names {
		if !read[name] {
			t.Errorf("nothing reads %s", name)
		}
	}
	// The guard itself.
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nvar x = settings.One.Get(s)\nvar y = settings.Two.Parse(s)\nvar z = other.Three.Get(s)", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := readIn(file); !slices.Equal(got, []string{"One"}) {
		t.Errorf("readIn = %v", got)
	}
}

// Where a number that somebody might want to be another one is a setting.
var tunable = []string{"cmd/mcpx", "internal/api", "internal/artifact", "internal/cli", "internal/daemon", "internal/gateway", "internal/run", "internal/serve", "pool"}

// TestNoNumberIsASettingInDisguise finds durations and sizes that are written into the
// sources of those packages. Each is a setting, or stands in untunable with the reason why
// it is none.
func TestNoNumberIsASettingInDisguise(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	n := 0
	sources(t, func(path string, file *ast.File) {
		pkg := path[:strings.LastIndex(path, "/")]
		if !slices.Contains(tunable, pkg) {
			return
		}
		n++
		for _, name := range literals(file) {
			key := pkg + "." + name
			found[key] = true
			if _, ok := untunable[key]; !ok {
				t.Errorf("%s: %s is a duration or a size in the source: make it a setting, or say in untunable why it is none", path, name)
			}
		}
	})
	if n < 40 {
		t.Fatalf("%d sources: nothing is guarded", n)
	}
	for _, key := range slices.Sorted(maps.Keys(untunable)) {
		if !found[key] {
			t.Errorf("untunable has %s, which is no more", key)
		}
	}
	const src = "package a\nconst grace = 5 * time.Second\nconst kept = n * time.Second\nfunc f() { wait(time.Minute); d.Round(time.Second); x := 1 << 20; y := 1 << 3; z := 3 }\n" +
		"func (r *T) g() { const most = 64 << 10 }\nvar h = time.Hour"
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := literals(file); !slices.Equal(got, []string{"grace", "f", "most", "h"}) {
		t.Errorf("literals = %v", got)
	}
}

// literals returns where durations and sizes are written: the constant or variable that has
// one as its value, or else the function, each once.
func literals(file *ast.File) []string {
	var out []string
	found := func(where string) {
		if !slices.Contains(out, where) {
			out = append(out, where)
		}
	}
	for _, d := range file.Decls {
		where := ""
		if f, ok := d.(*ast.FuncDecl); ok {
			where = f.Name.Name
		}
		var look func(where string) func(ast.Node) bool
		look = func(where string) func(ast.Node) bool {
			return func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ValueSpec:
					for i, v := range n.Values {
						ast.Inspect(v, look(n.Names[min(i, len(n.Names)-1)].Name))
					}
					return false
				case *ast.CallExpr:
					if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Round" || s.Sel.Name == "Truncate") {
						ast.Inspect(s.X, look(where))
						return false // a precision
					}
				case *ast.BinaryExpr:
					switch {
					case n.Op == token.SHL && number(n.X) > 0 && number(n.Y) >= 10:
						found(where)
						return false
					case (n.Op == token.MUL || n.Op == token.QUO) && (unit(n.X) || unit(n.Y)):
						if number(n.X) > 0 || number(n.Y) > 0 {
							found(where)
						}
						return false // otherwise a unit of what is counted elsewhere
					}
				case *ast.SelectorExpr:
					if unit(n) {
						found(where)
					}
				}
				return true
			}
		}
		ast.Inspect(d, look(where))
	}
	return out
}

// number is the value of a whole number that is written down; 0 of anything else.
func number(e ast.Expr) int {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.INT {
		return 0
	}
	n, err := strconv.Atoi(l.Value)
	if err != nil {
		return 0
	}
	return n
}

// unit reports whether e is one of package time.
func unit(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	p, ok := s.X.(*ast.Ident)
	return ok && p.Name == "time" && slices.Contains([]string{"Millisecond", "Second", "Minute", "Hour"}, s.Sel.Name)
}

// untunable says why durations and sizes that stand in sources are no settings.
var untunable = map[string]string{
	"cmd/mcpx.knock":    "longer than the login that it waits for by what the last answer takes",
	"cmd/mcpx.maxToken": "no token is as long",

	"internal/api.maxKnownBytes": "a header that is longer is read again each time",
	"internal/api.long":          "above it a text goes through whole; both ways say the same",
	"internal/api.readAhead":     "of a stream, for fewer reads",
	"internal/gateway.glance":    "for a burst of calls; an edit is seen by the next",
	"internal/run.maxQuestion":   "no form is as long",

	"internal/daemon.bridgeGrace": "for ssh, whose streams are closed, to see that",
	"internal/run.checkTimeout":   "for a compiler that hangs; within the time of whoever waits",
	"internal/run.run":            "for what is left of its output",
	"internal/run.maxHook":        "of a frame, half of which it is",
	"internal/run.chunk":          "of a frame, in base64",
	"internal/run.spillHead":      "as much as somebody reads to see what it is",
	"internal/run.spillTail":      "likewise",
	"internal/run.maxLine":        "of one log, so that a line without end has one",
	"internal/api.refusedFor":     "for somebody who may not ask at all",
	"internal/api.maxCaller":      "of a header; a daemon of another version must take it as well",
	"internal/api.maxAsked":       "of a header, likewise",
	"cmd/mcpx.patience":           "a word of daemons that nobody has asked for",
	"internal/cli.waitingAfter":   "a pause at a terminal that a person takes for no pause",
	"internal/cli.notedAfter":     "a pause elsewhere, which a note that stays ends",
	"internal/cli.lookAgain":      "how soon a line of a followed log is seen",
	"internal/api.patience":       "one write to a socket of this machine",

	"internal/artifact.strayEvery": "housekeeping that nobody sees",
	"internal/artifact.abandoned":  "a file that a run has left that was killed",

	"internal/cli.maxInput":  "a secret that a person pastes",
	"internal/cli.showEvery": "as often as a person sees a change",
	"internal/cli.maxScript": "a guard of memory far above limits.source, which the run holds",

	"internal/daemon.greetTimeout":  "clients of other versions wait as long",
	"internal/daemon.WaitGone":      "a look at a file, again and again",
	"internal/daemon.WaitAnother":   "likewise",
	"internal/daemon.startTimeout":  "how long a start may take on the slowest machine; then it has failed",
	"internal/daemon.start":         "a look at a file, again and again",
	"internal/daemon.startAlone":    "likewise",
	"internal/daemon.maxRecord":     "of a file that only mcpx writes",
	"internal/daemon.headerTimeout": "a guard against strangers",
	"internal/daemon.idleConn":      "clients of other versions count on it",
	"internal/daemon.maxHeader":     "clients of other versions count on it",
	"internal/daemon.linger":        "clients of other versions count on it",
	"internal/daemon.Serve":         "what tests leave out",
	"internal/daemon.watch":         "a look at the clock",

	"internal/gateway.span":       "units",
	"internal/gateway.quiet":      "so that changes that come together are told together",
	"internal/gateway.firstRetry": "the backoff of a connection that is listened on",
	"internal/gateway.lastRetry":  "likewise",
	"internal/gateway.openFor":    "a call that a client has left unfinished",
	"internal/gateway.lately":     "so that one broken server does not hold every listing up",

	"internal/api.shortBody":    "needs no room among longer ones",
	"internal/api.maxBodies":    "a guard of memory, beside http.callBodyLimit",
	"internal/api.bodyPatience": "for a client that sends nothing",

	"internal/run.maxZone":      "of a file of the system",
	"internal/run.stopGrace":    "between asking a worker to end and ending it",
	"internal/run.endGrace":     "likewise",
	"internal/run.maxHeldBytes": "a guard of memory, beside limits.inFlight",
	"internal/run.swallowGrace": "for the words of a script that was refused something",
	"internal/run.sizeText":     "units",
	"internal/run.fewBytes":     "below that a size was most likely meant in another unit",
	"internal/run.durationText": "units",
	"internal/run.inputChunk":   "a piece of a stream",
	"internal/run.outputChunk":  "likewise",
	"internal/run.refillAfter":  "a trick of scheduling",

	"internal/serve.catalogWait":  "a listing goes on without servers that have not answered by then",
	"internal/serve.declareWait":  "likewise",
	"internal/serve.declareAgain": "likewise",
	"internal/serve.maxPart":      "what clients show of a text",
	"internal/serve.shownTail":    "likewise",
	"internal/serve.maxRead":      "what clients take as one result",

	"pool.firstBackoff": "the design of restarts: from 2 s to 30 s",
	"pool.lastBackoff":  "likewise",
}

// Package declared checks, for the tests of the library, that a module exports what its
// TypeScript declarations say, and nothing else.
package declared

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"mcpx/engine"
)

// T is a test: *testing.T, which the library itself must not import.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Check fails if the module declares a name that it does not export, or the other way
// round. others are the modules that it needs.
func Check(t T, m engine.Module, others ...engine.Module) {
	t.Helper()
	if m.Name == "" && len(m.Globals) == 0 {
		t.Fatalf("the module has neither a name nor globals")
	}
	same(t, "globals", m.Globals, globals(m.Declarations))
	exported := exports(t, m, others)
	if m.Name == "" {
		same(t, "exports", exported, m.Globals)
		return
	}
	declared, ok := members(m.Declarations, m.Name)
	if !ok {
		t.Errorf("the declarations have no module %q", m.Name)
		return
	}
	same(t, "exports of "+m.Name, exported, declared)
}

func same(t T, what string, have, declared []string) {
	t.Helper()
	for _, name := range have {
		if !slices.Contains(declared, name) {
			t.Errorf("%s: %s is not declared", what, name)
		}
	}
	for _, name := range declared {
		if !slices.Contains(have, name) {
			t.Errorf("%s: %s is declared and not there", what, name)
		}
	}
}

// exports lists the enumerable properties of what the module makes.
func exports(t T, m engine.Module, others []engine.Module) []string {
	t.Helper()
	var keys []string
	inner := m
	inner.Make = func(rt *engine.Runtime) *goja.Object {
		o := m.Make(rt)
		keys = o.Keys()
		return o
	}
	code := "globalThis." + strings.Join(append(m.Globals, "undefined"), "; globalThis.")
	if m.Name != "" {
		code = "import * as m from '" + m.Name + "'; m;"
	}
	modules := append([]engine.Module{inner}, others...)
	p, report := engine.Compile(engine.Source{Name: "exec", Text: code}, modules)
	if report != nil {
		t.Fatalf("%s", report.Text())
	}
	if o := engine.New(engine.Options{Modules: modules}).Run(context.Background(), p); o.Report != nil {
		t.Fatalf("%s", o.Report.Text())
	}
	if len(keys) == 0 {
		t.Fatalf("the module exports nothing")
	}
	return keys
}

var (
	global = regexp.MustCompile(`(?m)^declare (?:abstract )?(?:class|function|var|let|const|namespace) (\w+)`)
	member = regexp.MustCompile(`(?m)^  export (?:abstract )?(?:class|function|import|var|let|const|namespace) (\w+)`)
	list   = regexp.MustCompile(`(?m)^  export \{([^}]*)\}`)
)

func globals(text string) (names []string) {
	for _, m := range global.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// members lists the values that the declaration of a module exports by name.
func members(text, module string) (names []string, ok bool) {
	_, body, ok := strings.Cut(text, "declare module \""+module+"\" {\n")
	if !ok {
		return nil, false
	}
	body, _, _ = strings.Cut(body, "\n}\n")
	for _, m := range member.FindAllStringSubmatch(body, -1) {
		names = append(names, m[1])
	}
	for _, m := range list.FindAllStringSubmatch(body, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			if i := strings.LastIndex(name, " as "); i >= 0 {
				name = name[i+4:]
			}
			if name = strings.TrimSpace(name); name != "" && name != "default" {
				names = append(names, name)
			}
		}
	}
	return names, true
}

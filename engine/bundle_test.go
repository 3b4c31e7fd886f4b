package engine

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"

	"mcpx/internal/fault"
)

// A bundle does what its sources do: the same output, value, exit code and error, at the
// same place.
func TestABundleDoesWhatItsSourcesDo(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"lib/helper.ts": "export interface Shape { n: number }\nexport const twice = (n: number): number => n * 2\n" +
			"export function fail(): never {\n  const text: string = 'from the helper'\n  throw new TypeError(text)\n}\n",
		"lib/meta.ts":                        "export const main = import.meta.main\nif (import.meta.main) throw new Error('this is not main')",
		"data.json":                          `{"list": [1, 2, 3]}`,
		"node_modules/common/index.js":       `const path = require("path"); exports.base = (p) => path.basename(p)`,
		"node_modules/events-like/index.mjs": `export default class { constructor(public_) { this.p = public_ } }`,
		"lib/state.ts":                       "let n = 0\nexport const next = () => ++n",
	})
	for _, tt := range []struct {
		name, code string
		args       []string
	}{
		{"statements", `print("a"); const x: number = 2; print(x as any)`, nil},
		{"a top-level return", `if (1 > 0) return { a: 1 }` + "\nprint('never')", nil},
		{"a return beside an import", "import { twice } from './lib/helper'\n/* é𝒳 */ return twice(await Promise.resolve(4))", nil},
		{"a bare return", "print(1)\nreturn", nil},
		{"a default export", `export default { v: 1 }`, nil},
		{"a default function with arguments", `export default async (a: string, b: string) => a + b`, []string{"x", "y"}},
		{"an arrow function as the whole text", `async (a: string) => a + "!"`, []string{"w"}},
		{"a function as the whole text", `function (a) { return [a] }`, []string{"w"}},
		{"a constant as the whole text", `42`, nil},
		{"an object as the whole text", `({ a: 1 })`, nil},
		{"main that nobody calls", `function main() { return "called" }`, nil},
		{"main beside an import", "import { twice } from './lib/helper'\nasync function main() { return twice(21) }", nil},
		{"functions that nobody calls", "function one() {}\nfunction two() {}", nil},
		{"named exports", `export const a = 1; export function b() {}`, nil},
		{"a package that requires a module of the runtime", `import { base } from "common"; print(base("/a/b.txt"))`, nil},
		{"a module of the runtime by name", `import { basename } from "node:path"; print(basename("a/b"))`, nil},
		{"a module of the runtime as a whole", `import * as p from "path"; import q from "node:path"; print(p.basename("/x/y"), q.basename("/z"))`, nil},
		{"an import of later", `const { twice } = await import("./lib/helper"); const p = await import("node:path"); print(twice(2), p.basename("/q"))`, nil},
		{"JSON", `import d from "./data.json"; return d.list`, nil},
		{"what imports share", "import { next } from './lib/state'\nimport { next as again } from './lib/state.js'\nnext(); return again()", nil},
		{"who is main", "import { main } from './lib/meta'\nprint(import.meta.main, main)", nil},
		{"decorators", "function up(_: any, c: any) { c.addInitializer(function (this: any) { print(this.name) }) }\n@up class Decorated { static x = 1 }\nprint(Decorated.x)", nil},
		{"an enum", "enum Color { Red, Green = 5 }\nprint(Color.Green, Color[0])", nil},
		{"a generator and the newest syntax", "async function* g() { yield 1; yield 2 }\nfor await (const n of g()) print(n)\nprint('x'.replace(/\\p{L}/u, 'y'))", nil},
		{"an error", "const a = 1\n  throw new RangeError(`no ${a}`)", nil},
		{"an error in what it imports", "import { fail } from './lib/helper'\nconst note = '𝒳'; fail()", nil},
		{"an error of later", "import { fail } from './lib/helper'\nawait Promise.resolve()\nawait (async () => { fail() })()", nil},
		{"a fence and a shebang", "```ts\nprint('fenced' as string)\n```", nil},
		{"names of functions", "class Named { static f = () => 1 }\nprint(Named.name, Named.f.name, (function inner() {}).name)", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := Source{Name: "scripts/main.ts", Text: tt.code, File: filepath.Join(dir, "main.ts"), Import: within(dir), Files: true}
			want := outcomeOf(t, src, tt.args)
			b, report := Bundle(src, bundleModules())
			if report != nil {
				t.Fatalf("Bundle() = %s", report.Text())
			}
			// Nothing is beside it, and it has another name.
			again := Source{Name: "out.js", Text: b.Code}
			if got := outcomeOf(t, again, tt.args); got != want {
				t.Errorf("the bundle does\n%s\nits sources do\n%s\n\n%s", got, want, b.Code)
			}
			// A bundle of a bundle still knows where its parts are from.
			if b, report = Bundle(again, bundleModules()); report != nil {
				t.Fatalf("Bundle() of a bundle = %s", report.Text())
			}
			if got := outcomeOf(t, Source{Name: "twice.js", Text: b.Code}, tt.args); got != want {
				t.Errorf("the bundle of the bundle does\n%s\nits sources do\n%s", got, want)
			}
		})
	}
}

// bundleModules are print and node:path, as far as these tests need it.
func bundleModules() []Module {
	function := func(name string, fn func(rt *Runtime, c goja.FunctionCall) goja.Value) func(*Runtime) *goja.Object {
		return func(rt *Runtime) *goja.Object {
			o := rt.VM().NewObject()
			_ = o.Set(name, rt.Function(name, func(c goja.FunctionCall) goja.Value { return fn(rt, c) }))
			return o
		}
	}
	return []Module{
		{Globals: []string{"print"}, Make: function("print", func(rt *Runtime, c goja.FunctionCall) goja.Value {
			rt.Write(Stdout, fmt.Appendln(nil, c.Arguments))
			return nil
		})},
		{Name: "node:path", Make: function("basename", func(rt *Runtime, c goja.FunctionCall) goja.Value {
			return rt.VM().ToValue(path.Base(c.Argument(0).String()))
		})},
	}
}

func outcomeOf(t *testing.T, src Source, args []string) string {
	t.Helper()
	var printed strings.Builder
	modules := bundleModules()
	p, report := Compile(src, modules)
	if report != nil {
		return report.Text()
	}
	output := func(_ int, text []byte) { printed.Write(text) }
	out := New(Options{Modules: modules, Ambient: Ambient{Args: args}, Output: output}).Run(context.Background(), p)
	text := fmt.Sprintf("printed %q value %s exit %d", printed.String(), out.Value, out.ExitCode)
	if out.Report != nil {
		text += "\n" + out.Report.Text()
	}
	return text
}

func TestABundleThatCannotBeMadeSaysWhy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, want string }{
		{"a syntax error", "const = 1", "main.ts:1:7"},
		{"no such module", "\nimport 'nowhere'", "main.ts:2:8"},
		{"a require of its own", "import { createRequire } from 'node:path'\nconst r = createRequire(import.meta.url); r('./x.json')", "import"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, r := Bundle(Source{Name: "main.ts", Text: tt.code}, bundleModules())
			if b != nil || r == nil || r.Kind != fault.Usage || !strings.Contains(r.Text(), tt.want) {
				t.Errorf("Bundle() = %v, %+v, want an error with %q", b, r, tt.want)
			}
		})
	}
}

// A last line that looks like the map of a bundle and is none is a comment.
func TestAMapThatIsNoneIsAComment(t *testing.T) {
	t.Parallel()
	for _, comment := range []string{
		mapComment + "!!!", mapComment, mapComment + "e30=", mapComment + "eyJ4X21jcHhfZW50cnkiOjd9",
		// {"version":3,"sources":["a"],"names":[],"mappings":"AAgggggggggggC","x_mcpx_entry":0}
		mapComment + "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEiXSwibmFtZXMiOltdLCJtYXBwaW5ncyI6IkFBZ2dnZ2dnZ2dnZ2dDIiwieF9tY3B4X2VudHJ5IjowfQ==",
		// {"version":3,"sources":["a"],"names":[],"mappings":"AEAA","x_mcpx_entry":0}: a source that is not there
		mapComment + "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEiXSwibmFtZXMiOltdLCJtYXBwaW5ncyI6IkFFQUEiLCJ4X21jcHhfZW50cnkiOjB9",
	} {
		got := outcomeOf(t, Source{Name: "main.ts", Text: "throw new Error('x')\n" + comment + "\n"}, nil)
		if !strings.Contains(got, "main.ts:1:7") {
			t.Errorf("with %s: %s, want the error at main.ts:1:7", comment, got)
		}
	}
}

// What another runtime gets is a function, and its map leads back.
func TestTranslateMakesAFunction(t *testing.T) {
	t.Parallel()
	src := Source{Name: "main.ts", Text: "import { basename } from 'path'\nfunction main(): string {\n  return basename('/a')\n}"}
	b, report := Translate(src, []string{"node:path"})
	if report != nil {
		t.Fatal(report.Text())
	}
	if !strings.HasPrefix(b.Code, bundleBefore) || !strings.Contains(b.Code, ";return main;})") || !b.Starts {
		t.Errorf("Translate() = %+v, want a function that returns main", b)
	}
	if len(b.Requires) != 1 || b.Requires[0] != "node:path" {
		t.Errorf("Translate() requires %q", b.Requires)
	}
	m, err := ReadMap(b.Map)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(b.Code, "\n") {
		if at := strings.Index(line, "return"); at >= 0 && strings.Contains(line, "basename") {
			if got := m.Find(i+1, at+1); got == nil || got.String() != "main.ts:3:3" || got.Text != "  return basename('/a')" {
				t.Errorf("Find() = %+v, want main.ts:3:3", got)
			}
			return
		}
	}
	t.Errorf("there is no return in\n%s", b.Code)
}

func TestATsconfigThatNamesAFileOutside(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	inside := filepath.Join(root, "in")
	c := &compiler{src: Source{Name: "a.ts", File: filepath.Join(inside, "a.ts"), Files: true, Import: func(file, specifier string) *fault.Error {
		if filepath.Dir(file) == inside {
			return nil
		}
		return fault.Deniedf("imports %q", specifier).Hintf("allow it")
	}}}
	r := c.report([]api.Message{{
		Text:     `Cannot read file "../out/base.json": permission denied`,
		Location: &api.Location{File: "tsconfig.json", Line: 1, Column: 11, Length: 18, LineText: `{"extends":"../out/base.json"}`},
	}})
	if r.Kind != fault.Denied || r.Hint != "allow it" || r.At == nil || r.At.File != "tsconfig.json" || r.At.Column != 12 {
		t.Errorf("report %+v", r)
	}
	if r = c.report([]api.Message{{Text: `Cannot read file "b.ts": permission denied`}}); r.Kind != fault.Usage {
		t.Errorf("report about a file of the script's own folder %+v", r)
	}
}

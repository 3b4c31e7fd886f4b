package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatTheAuthorWroteIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"reading too early", "const t = f => { try { return f() } catch (e) { return e.name } }; const r = [t(() => early), t(() => new Early()), t(() => typeof early), t(() => { ({ d: late } = { d: 1 }) })];\nlet early = 1; class Early {}\nlet { d: late } = { d: 2 };\nreturn [r, early, new Early() instanceof Early, late]", `[["ReferenceError","ReferenceError","ReferenceError","ReferenceError"],1,true,2]`},
		{"functions are there early", "const r = f(); function f() { return 1 } return r", `1`},
		{"var is there early", "const r = typeof v; var v = 1; return [r, v]", `["undefined",1]`},
		{"names of classes", "class S { static a = S.x; static n = S.name; m() { return S.name } }; abstract class T extends S { static y = T.name }; const U = class _U { static z = _U.name }; return [S.name, S.n, new S().m(), T.name, T.y, U.name, U.z, (class {}).name, (class N {}).name]", `["S","S","S","T","T","_U","_U","","N"]`},
		{"a class of a name in another", "class A { static make() { return class A { who() { return 'inner' } } } static self() { return A } }; return [new (A.make())().who(), A.self() === A]", `["inner",true]`},
		{"parameter properties before fields", "class B { n = this.a.n; constructor(public readonly a: { n: number }, private b = 2) {} sum() { return this.n + this.b } }; return [new B({ n: 1 }).sum(), Object.keys(new B({ n: 1 }))]", `[3,["a","b","n"]]`},
		{"names in a lowered class", "class B { n = this.a; constructor(public a: number) {} static s = B.name }; class C extends B {}; return [B.name, B.s, C.name, new C(4).n]", `["B","B","C",4]`},
		{"fields that do not wait", "class B { x = 1; f = () => this.x; constructor(public y: number) {} }; return new B(2).f()", `1`},
		{"fields that are no parameters", "class B { x = this.y ?? 'none'; y = 1; constructor(z: number) { this.y = z } }; return new B(2).x", `"none"`},
		{"decorators as first made", "const log = []; function cls(c) { log.push('cls ' + c.name) } function par(t, k, i) { log.push('par ' + k + i) } function prop(t, k) { log.push('prop ' + k) }; @cls class C { @prop p = 1; m(@par x: string) { return x } }; return [log, new C().m('v')]", `[["prop p","par m0","cls C"],"v"]`},
		{"decorators", "const log = []; function d(v, c) { log.push(c.kind + ' ' + c.name) }; @d class C { @d m() {} @d accessor a = 1; @d static s = 2 }; return [log, C.name, new C().a]", `[["method m","accessor a","field s","class C"],"C",1]`},
		{"async generators", "async function* g() { yield 1 }; const h = g(); const keys = Object.keys(h); return [Object.prototype.toString.call(h), keys, h[Symbol.asyncIterator]() === h, await h.next(), await h.return(9), (() => { try { h.next.call({}) } catch (e) { return e.name } })()]", `["[object AsyncGenerator]",[],true,{"value":1,"done":false},{"value":9,"done":true},"TypeError"]`},
		{"enums and namespaces", "enum E { A, B = 'b' } namespace N { export const a = E.A; export namespace M { export const b = E.B } } return [E.A, E[0], N.a, N.M.b]", `[0,"A",0,"b"]`},
		{"import.meta", "return [typeof import.meta.url, import.meta.url.startsWith('file:///'), import.meta.main, import.meta.resolve('./x.js').endsWith('/x.js'), import.meta.resolve('demo'), Object.getPrototypeOf(import.meta)]", `["string",true,true,true,"node:demo",null]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := testValue(t, c.text); got != c.want {
				t.Errorf("%s = %s, want %s", c.text, got, c.want)
			}
		})
	}
}

// runFile runs a file of a folder that has the given files.
func runFile(t *testing.T, name string, files map[string]string) *Outcome {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, report := Compile(Source{Name: name, Text: files[name], File: filepath.Join(dir, name), Import: anyFile, Files: true}, testModules())
	if report != nil {
		t.Fatal(report.Text())
	}
	o := New(Options{Modules: testModules()}).Run(t.Context(), p)
	if o.Value != nil {
		o.Value = []byte(strings.ReplaceAll(string(o.Value), filepath.ToSlash(dir), "DIR"))
	}
	return o
}

func TestFilesKnowWhereTheyAre(t *testing.T) {
	t.Parallel()
	o := runFile(t, "main.ts", map[string]string{
		"main.ts":  "import { url, main } from './lib/a'; return [import.meta.url, import.meta.filename, import.meta.dirname, import.meta.main, url, main]",
		"lib/a.ts": "export const { url, main } = import.meta",
	})
	if want := `["file://DIR/main.ts","DIR/main.ts","DIR",true,"file://DIR/lib/a.ts",false]`; string(o.Value) != want {
		t.Errorf("%s, %v, want %s", o.Value, o.Report, want)
	}
}

func TestModulesInACircle(t *testing.T) {
	t.Parallel()
	o := runFile(t, "main.ts", map[string]string{
		"main.ts": "import { a, readB } from './a'; return [a, readB()]",
		"a.ts":    "import { b } from './b'; export const a = 'a'; export function readB() { return b } export function early() { return a }",
		"b.ts":    "import { early } from './a'; let seen; try { seen = early() } catch (e) { seen = e.name } export const b = 'b:' + seen",
	})
	if want := `["a","b:ReferenceError"]`; string(o.Value) != want {
		t.Errorf("%s, %v, want %s", o.Value, o.Report, want)
	}
}

func TestARequireOfTheScriptsOwn(t *testing.T) {
	t.Parallel()
	src := Source{Name: "main.ts", Text: "const createRequire = u => mcpx; const req = createRequire(import.meta.url); function mcpx() {}\nlog(req('./a.cjs')); log(req(\"demo\")); log(other.req('./b.cjs'))"}
	s := newScript(src.Text)
	if got, want := s.requires(), ` function mcpx$files(name) { switch (name) { case "./a.cjs": return require("./a.cjs"); case "demo": return require("demo"); } }`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	o := runFile(t, "main.ts", map[string]string{
		"main.ts":                         "import { createRequire } from 'files'; const req = createRequire(import.meta.url); return req('./a.cjs').n",
		"a.cjs":                           "module.exports = { n: 42 }",
		"node_modules/files/package.json": `{"main": "i.js"}`,
		"node_modules/files/i.js":         "exports.createRequire = () => name => { throw new Error('the engine was not asked for ' + name) }",
	})
	if o.Report == nil || !strings.Contains(o.Report.Message, "was not asked for ./a.cjs") {
		t.Errorf("%s, %v", o.Value, o.Report)
	}
}

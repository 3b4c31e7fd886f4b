package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

func TestFormsOfScripts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, want string
		implied          bool
	}{
		{name: "top-level return", text: "return 1", want: "1"},
		{name: "return beside await", text: "const x = await Promise.resolve(5); return x + 1", want: "6"},
		{name: "returns in branches", text: "for (const x of [1, 2, 3]) { if (x === 2) { return { found: x } } }\nawait 0; return null", want: `{"found":2}`},
		{name: "bare return", text: "await 1; if (true) { return }\nreturn 2", want: ""},
		{name: "return before a comment", text: "await 1; return // nothing\n2", want: ""},
		{name: "return around a comment", text: "await 1; return /* two */ [1,\n 2]", want: "[1,2]"},
		{name: "two returns in a line", text: "const f = false; await 1; if (f) return 'é'; else return 'ü'", want: `"ü"`},
		{name: "return beside import", text: "import { twice } from 'node:demo'; return twice(4)", want: "8"},
		{name: "return beside export", text: "export const a = 1; return a", want: "1"},
		{name: "return of a comma expression", text: "await 1; return 1, 2", want: "2"},
		{name: "return of a function's call", text: "await 0; return (() => { return 3 })()", want: "3"},
		{name: "default value", text: "export default { a: [1, { b: null }] }", want: `{"a":[1,{"b":null}]}`},
		{name: "default function", text: "export default function () { return 'called' }", want: `"called"`},
		{name: "default async function", text: "export default async () => 'awaited'", want: `"awaited"`},
		{name: "default class", text: "export default class Store { static made = 1 }", want: ""},
		{name: "default promise", text: "export default Promise.resolve(3)", want: "3"},
		{name: "named exports", text: "export const a = 1; export { a as 'some name' }", want: ""},
		{name: "last expression", text: "const xs = [1, 2]; xs.map(x => x * 2)", want: "[2,4]", implied: true},
		{name: "last expression before a function", text: "twice(2)\nfunction twice(x: number) { return 2 * x }", want: "4", implied: true},
		{name: "last expression a promise", text: "Promise.resolve('settled')", want: `"settled"`, implied: true},
		{name: "constant", text: "1 + 1", want: "2", implied: true},
		{name: "constant after statements", text: "const a = 1\na", want: "1", implied: true},
		{name: "array of constants", text: "const a = 1; [a, 2]", want: "[1,2]", implied: true},
		{name: "enum member", text: "enum E { A = 3 }\nE.A;", want: "3", implied: true},
		{name: "string", text: `"hello"`, want: `"hello"`, implied: true},
		{name: "function last", text: "let n = 1; if (n) { n = f() }\nfunction f() { return 2 }", want: ""},
		{name: "statement last", text: "let n = 0; for (const x of [1, 2]) { n += x }", want: ""},
		{name: "arrow function", text: "async () => { return 42 }", want: "42"},
		{name: "arrow function with a semicolon", text: "// doc\n(a?: string) => a === undefined;\n", want: "true"},
		{name: "anonymous function", text: "function () { return typeof this }", want: `"undefined"`},
		{name: "anonymous async function", text: "/* doc */ async function () { return 1 }", want: "1"},
		{name: "uncalled main", text: "const N = 2\nasync function main() { return helper() }\nfunction helper() { return N }", want: "2"},
		{name: "uncalled arrow main", text: "const main = async () => 'arrow'", want: `"arrow"`},
		{name: "called main", text: "function main() { return 1 }\nconst r = main()", want: ""},
		{name: "one function", text: "async function report() { return 'only' }", want: `"only"`},
		{name: "fence", text: "```ts\nconst a: number = 1\nreturn a\n```\n", want: "1"},
		{name: "fence without language", text: "\n~~~\nreturn 2\n~~~", want: "2"},
		{name: "shebang", text: "#!/usr/bin/env -S mcpx run\nreturn 3", want: "3"},
		{name: "byte order mark and CRLF", text: "\ufeffconst a = 1\r\nreturn a\r\n", want: "1"},
		{name: "undefined", text: "void 0", want: "", implied: true},
		{name: "empty", text: "", want: ""},
		{name: "only types", text: "interface A { a: string }", want: ""},
		{name: "import default, named and namespace", text: "import d, { answer } from 'demo'; import * as n from 'node:demo'; return [d.answer, answer, n.twice(1)]", want: "[42,42,2]"},
		{name: "dynamic import", text: "const { answer } = await import('node:demo'); return answer", want: "42"},
		{name: "for await", text: "async function* g() { yield 1; yield 2 }\nlet n = 0; for await (const x of g()) n += x\nreturn n", want: "3"},
		{name: "for await after one that failed", text: "async function* bad() { yield 1; throw new Error('bad') }\nasync function* good() { yield 2 }\nconst l = []; for (const g of [bad, good]) { try { for await (const x of g()) l.push(x) } catch (e) { l.push(e.message) } }\ntry { for await (const x of bad()) break } catch { l.push('no') } for await (const x of good()) l.push(x); return l", want: `[1,"bad",2,2]`},
		{name: "a finally clause that throws", text: "const l = []; const f = (b) => { try { b() } catch (e) { l.push('caught ' + e); return 1 } finally { if (l.length < 3) throw 'f' + l.length; return 2 } }\nfor (const b of [() => 1, () => { throw 'b' }, () => 2, () => 3]) try { l.push(f(b)) } catch (e) { l.push(e) }\ntry { try { await 0 } catch { l.push('no') } finally { await 0; throw 'z' } } catch (e) { l.push(e) } return l", want: `["f0","caught b","f2",2,2,"z"]`},
		{name: "chains of relations", text: "let a = 1, b = 2, c = 3; class K {}; const t = { true: 1 }; const f = (x) => x; return [a < b < c, c > b > a, c > (b > a), (a < b) in t, 'a' in { a: 1 } in t, (c >= '5') instanceof K, a < b < c < 2, a < (b, 5) < 2, a < (() => 5)() < 0, f(a < b < 2), a < (b < (c < 4)), (f(')') < c) < 9, a < (b < c) < 1, (a < b) < (b < c), c > b === true]", want: `[true,false,true,true,true,false,true,true,false,true,false,true,true,false,true]`},
		{name: "an import by a name made at run time", text: "const n = ['node', 'demo'].join(':'); const m = await import(n); const e = await import(['no', 'pe'].join('')).catch((e) => e); return [m.answer, m.default.answer, e.name, e.code, e instanceof Error, await import(['./x', 'ts'].join('.')).catch((e) => e.code)]", want: `[42,42,"ImportError","ERR_MODULE_NOT_FOUND",true,"ERR_MODULE_NOT_FOUND"]`},
		{name: "fields with the names of modifiers", text: "class K { static = 1; async = 2; get = 3; set = 4; static static = 5; static async async() { return 6 } }; const k = new K(); return [k.static, k.async, k.get, k.set, K.static, await K.async()]", want: "[1,2,3,4,5,6]"},
		{name: "async iterator by hand", text: "const o = { async *[Symbol.asyncIterator]() { yield 7 } }; for await (const x of o) return x", want: "7"},
		{name: "using", text: "const l = []; { using x = { [Symbol.dispose]() { l.push('disposed') } }; l.push('used') }\nreturn l", want: `["used","disposed"]`},
		{name: "arguments in an arrow", text: "const f = function () { return (() => arguments.length)() }; return f(1, 2, 3)", want: "3"},
		{name: "debounce", text: "function d(fn) { return function () { return [0].map(() => fn(...arguments))[0] } }\nreturn d((a, b) => a + b)(1, 2)", want: "3"},
		{name: "arguments in a method's arrow", text: "class A { m(a, b) { const f = () => () => arguments[1]; return f()() } }\nreturn new A().m(1, 2)", want: "2"},
		{name: "super in a field", text: "class A { get y() { return 3 } }\nclass B extends A { x = super.y }\nreturn new B().x", want: "3"},
		{name: "super in an async generator", text: "class A { m(x) { return 'A' + x } get v() { return 5 } }\nclass B extends A { async *g() { yield super.m(1); yield await super.v; super.w = 7; super['w'] += 1; yield this.w; yield* (async () => [super.m(2)])() && [3] } }\nconst l = []; for await (const x of new B().g()) l.push(x)\nreturn l", want: `["A1",5,null,3]`},
		{name: "super in an async generator of an object", text: "const o = { __proto__: { m() { return this.n } }, n: 4, async *g() { yield super.m() } }; for await (const x of o.g()) return x", want: "4"},
		{name: "powers", text: "let x = 2; x **= 0.5; const o = { a: [3] }; o.a[0] **= 2; let n = 0; const q = { get z() { n++; return 3 }, set z(v) { n += v } }; q.z **= 2; return [x, o.a[0], n, 1.05 ** 10, String(2n ** 64n), '3' ** 2, (-8) ** (1 / 3)]", want: `[1.4142135623730951,9,10,1.628894626777442,"18446744073709551616",9,null]`},
		{name: "instanceof a proxy of a class", text: "class A {}; const P = new Proxy(A, {}); class B extends P {}; return [new P() instanceof P, new A() instanceof P, {} instanceof P, new B() instanceof P, new B() instanceof A, 1 instanceof P]", want: "[true,true,false,true,true,false]"},
		{name: "big integer", text: "return 10n ** 20n", want: "100000000000000000000"},
		{name: "members without a form in JSON", text: "return { a: undefined, b: () => 1, c: new Date(0), d: NaN, e: Symbol() }", want: `{"c":"1970-01-01T00:00:00.000Z","d":null}`},
		{name: "deep recursion", text: "function r(n) { return n ? 1 + r(n - 1) : 0 }\nreturn r(10000)", want: "10000"},
		{name: "defaults in arrays that have one", text: "const { a: [x = 1, y = ((s) => s + `],`)('[')] = [], b: { c: [[z = x] = []] = [] } = {} } = { a: [] }; const f = (n, [p = n, { q: [r = 2] = [] } = {}] = []) => [p, r]; for (const { d: [e = 7] = [] } of [{}]) return [x, y, z, ...f(5), e, ...f(6, [1])]", want: `[1,"[],",1,5,2,7,1,2]`},
		{name: "names that are used twice", text: "const item = 1, user = 2, go = 3\nfunction outer() { function go() { throw new Error() }; class user { static n = this.name; static m() { return user.name } }; const item = () => 1; let s; try { go() } catch (e) { s = e.stack.includes(`at go (`) } try { item.x() } catch (e) { return [go.name, user.name, user.n, user.m(), item.name, ({ f: function item() {} }).f.name, new user().constructor.name, s, e.message] } }\nreturn outer()", want: `["go","user","user","user","item","item","user",true,"item.x is not a function"]`},
		{name: "this", text: "return this === undefined", want: "true"},
		{name: "import.meta", text: "return typeof import.meta", want: `"object"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, _ := testRun(t, c.text)
			if o.Report != nil {
				t.Fatalf("%q: %s", c.text, o.Report.Text())
			}
			if string(o.Value) != c.want || o.Implied != (c.implied && c.want != "") {
				t.Errorf("%q = %s (implied %v), want %s (implied %v)", c.text, o.Value, o.Implied, c.want, c.implied)
			}
		})
	}
}

func TestArgumentsReachADefaultFunction(t *testing.T) {
	t.Parallel()
	p, report := Compile(Source{Name: "a.ts", Text: "export default (a: string, b: string) => [b, a]"}, nil)
	if report != nil {
		t.Fatal(report.Text())
	}
	o := New(Options{Ambient: Ambient{Args: []string{"x", "y"}}}).Run(t.Context(), p)
	if got := string(o.Value); got != `["y","x"]` {
		t.Errorf("value = %s", got)
	}
}

func TestOnlyExecHasTheLastExpressionsValue(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1 + 1", "const x = {}; x.y"} {
		p, report := Compile(Source{Name: "a.ts", Text: text}, nil)
		if report != nil {
			t.Fatal(report.Text())
		}
		if o := New(Options{}).Run(t.Context(), p); o.Value != nil || o.Report != nil {
			t.Errorf("%q = %s, %v, want nothing", text, o.Value, o.Report)
		}
	}
}

func TestAScriptThatCallsNoneOfItsFunctionsSaysSo(t *testing.T) {
	t.Parallel()
	o, out := testRun(t, "function a() { return 1 }\nfunction b() { return a() }")
	if o.ExitCode != 0 || !strings.Contains(out, "calls none of them") {
		t.Errorf("exit %d, output %q, want a word about it", o.ExitCode, out)
	}
	if _, out := testRun(t, "function a() {}\nfunction b() {}\nlog(1)"); out != "1\n" {
		t.Errorf("output %q, want only the script's", out)
	}
}

func TestErrorsOfSource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, message, at, line string }{
		{"token", "const a = 1\nlet b: = 2", "Unexpected \"=\"", "exec:2:8", "let b: = 2"},
		{"after non-ASCII", "const é = '𝄞', = 2", "Expected identifier but found \"=\"", "exec:1:17", "const é = '𝄞', = 2"},
		{"end", "let a: string = ", "Unexpected end of script", "exec:1:16", "let a: string ="},
		{"unclosed", "if (x) {\n  y(\n", "Unexpected end of script", "exec:2:5", "  y("},
		{"after a repaired return", "await 1; return 1; const = 2", "Expected identifier but found \"=\"", "exec:1:26", "await 1; return 1; const = 2"},
		{"in a fence", "```js\nlet 1\n```", "Expected \";\" but found \"1\"", "exec:2:5", "let 1"},
		{"unknown module", "log(1)\nimport { x } from 'node:nope'; x()", `there is no module "node:nope"`, "exec:2:19", "import { x } from 'node:nope'; x()"},
		{"unknown package", "import x from 'left-pad'; x()", `there is no module "left-pad"`, "exec:1:15", ""},
		{"relative from no file", "import x from './lib'; x()", `there is no file "./lib": a script that is no file itself imports none`, "exec:1:15", ""},
		{"URL", "import x from 'https://example.com/x.js'; x()", `there is no module "https://example.com/x.js"`, "exec:1:15", ""},
		{"constant", "const a = 1; await 0; a = 2", `Cannot assign to "a" because it is a constant`, "exec:1:23", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, r := Compile(Source{Name: "exec", Text: c.text}, testModules())
			if r == nil {
				t.Fatalf("%q compiles", c.text)
			}
			if r.Kind != fault.Usage || r.Message != c.message || r.At == nil || r.At.String() != c.at {
				t.Errorf("%q: %s %q at %v, want usage %q at %s", c.text, r.Kind, r.Message, r.At, c.message, c.at)
			}
			if c.line != "" && r.At != nil && r.At.Text != c.line {
				t.Errorf("%q: line %q, want %q", c.text, r.At.Text, c.line)
			}
		})
	}
}

func TestAMissingModuleListsThoseThatExist(t *testing.T) {
	t.Parallel()
	_, r := Compile(Source{Name: "exec", Text: "import x from 'node:fs'; x()"}, testModules())
	if r == nil || r.Hint != "there are node:demo" {
		t.Errorf("report %+v, want a hint that names node:demo", r)
	}
}

func TestImportsOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("lib/helper.ts", "import data from './data.json'\nexport function boom(): never {\n  throw new Error(data.text)\n}\n")
	write("lib/data.json", `{"text": "from a file"}`)
	write("lib/index.ts", "export * from './helper.js'\n")
	file := filepath.Join(dir, "main.ts")
	run := func(text string) *Outcome {
		t.Helper()
		p, report := Compile(Source{Name: "scripts/main.ts", Text: text, File: file, Import: anyFile, Files: true}, nil)
		if report != nil {
			return &Outcome{ExitCode: report.Kind.ExitCode(), Report: report}
		}
		return New(Options{}).Run(t.Context(), p)
	}
	o := run("import { boom } from './lib'\nfunction go() { boom() }\ngo()")
	if o.Report == nil || o.Report.Message != "from a file" {
		t.Fatalf("outcome %+v", o)
	}
	if got, want := o.Report.At.String(), "scripts/lib/helper.ts:3:9"; got != want {
		t.Errorf("at %s, want %s", got, want)
	}
	if got, want := o.Report.At.Text, "  throw new Error(data.text)"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	var places []string
	for _, f := range o.Report.Frames {
		places = append(places, f.Function+" "+fault.Position{File: f.File, Line: f.Line, Column: f.Column}.String())
	}
	if got, want := strings.Join(places, ", "), "boom scripts/lib/helper.ts:3:9, go scripts/main.ts:2:17,  scripts/main.ts:3:1"; got != want {
		t.Errorf("frames %s, want %s", got, want)
	}

	o = run("import data from './lib/data.json'\nreturn data")
	if got := string(o.Value); got != `{"text":"from a file"}` {
		t.Errorf("value %s, %v", got, o.Report)
	}

	o = run("const a = 1\nimport { nope } from './lib/nope'; nope(a)")
	if o.Report == nil || o.Report.Kind != fault.Usage || o.Report.At.String() != "scripts/main.ts:2:22" {
		t.Errorf("report %+v, want the place of the import", o.Report)
	}

	write("lib/broken.ts", "export const a = 1\nexport const b = ;\n")
	o = run("import { a } from './lib/broken'; log(a)")
	if o.Report == nil || o.Report.At.String() != "scripts/lib/broken.ts:2:18" {
		t.Errorf("report %+v, want the place in the imported file", o.Report)
	}
}

func TestColumnsSurviveTheRepairOfReturns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, at string }{
		{"await 0; if (false) return 'é'; nope()", "exec:1:33"},
		{"await 0; return nope()", "exec:1:17"},
		{"await 0; if (false) return; if (false) { return 1 } return /* é𝄞 */ nope()", "exec:1:70"},
		{"await 0;\n\n  if (true) return [1].map(() => nope())", "exec:3:34"},
	} {
		o, _ := testRun(t, c.text)
		if o.Report == nil || o.Report.At == nil || o.Report.At.String() != c.at {
			t.Errorf("%q: %+v, want a report at %s", c.text, o.Report, c.at)
		}
	}
}

func TestAScriptCannotLoadASourceMap(t *testing.T) {
	t.Parallel()
	o, _ := testRun(t, "try { eval('//# sourceMappingURL=file:///etc/passwd\\nnope()') } catch (e) { return e.message }")
	if got := string(o.Value); got != `"nope is not defined"` {
		t.Errorf("value %s, %v", got, o.Report)
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"return 1", "await 1; return", "async () => 1", "function () {}", "```\n1\n```", "export default 1", "import 'node:demo'", "const a = 1\na", "class A extends B { x = super.y }"} {
		f.Add(s)
	}
	modules := testModules()
	f.Fuzz(func(t *testing.T, text string) {
		p, r := Compile(Source{Name: "exec", Text: text, Expression: true}, modules)
		switch {
		case (p == nil) == (r == nil):
			t.Errorf("Compile(%q) = %v, %v, want one of them", text, p, r)
		case r != nil && r.Kind != fault.Usage:
			t.Errorf("Compile(%q): %s %s", text, r.Kind, r.Message)
		case r != nil && r.At != nil && r.At.Line > strings.Count(text, "\n")+1:
			t.Errorf("Compile(%q): line %d is none of the text", text, r.At.Line)
		}
	})
}

package inspect

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
)

// samples are expressions whose text is compared with Node's. Each is the body of an
// arrow function or a statement list that returns.
var samples = []string{
	// Primitives.
	`return 1`, `return -0`, `return 1.5e300`, `return NaN`, `return 10n`, `return true`, `return null`, `return undefined`,
	`return "plain"`, `return "it's"`, `return 'say "hi"'`, "return `it's \"so\"`", "return `'\"\\``", "return `'\" \\${`", `return "tab\tnl\nnul\0esc\x1b del\x7f nbsp\x85"`,
	`return "\ud83d"`, `return "\ud83d\ude00"`, `return ["\udc00x"]`, `return Symbol("q")`, `return Symbol()`, `return Symbol("it's\n")`,
	`return "x".repeat(12000)`, `return ["x".repeat(12000)]`, `return ["x".repeat(10001)]`, `return {a: "line one\nline two\nline three is longer than sixteen, and the whole is longer than a line of eighty"}`,
	// Objects.
	`return {}`, `return {a: 1, "b-c": 2, 3: 4, $d: 5, _e: 6, "é": 7, "it's": 8, "": 9}`, `return {a: {b: {c: {d: 1}}}}`, `return {a: {b: {c: {}}}}`,
	`return {f() {}, g: () => 1, h: function () {}, k: class {}, l: class A {}, m: function* gen() {}, n: async () => 1}`,
	`return {get a() { return 1 }, set b(v) {}, get c() { return 1 }, set c(v) {}}`,
	`return {[Symbol("s")]: 1, [Symbol.iterator]: 2}`, `return Object.defineProperty({}, "hidden", {value: 1})`,
	`return Object.create(null)`, `const o = Object.create(null); o.a = 1; return o`, `return Object.create({a: 1})`, `return Object.create(Object.create(null))`,
	`return Object.create(Object.create(Object.create(null)))`,
	`class P { constructor() { this.x = 1 } }; return new P()`, `class P {}; return [new P()]`, `class P {}; class Q extends P {}; return [new Q(), Q, P]`,
	`return new (class {})()`, `return new (class { constructor() { this.a = 1 } })()`,
	`class P { get [Symbol.toStringTag]() { return "T" } }; return new P()`, `return {[Symbol.toStringTag]: "T"}`, `return Object.create({[Symbol.toStringTag]: "T"})`,
	`const a = {}; a.self = a; return a`, `const a = {n: 1, b: {}}; a.b.a = a; a.b.b = a.b; return a`, `const a = [1]; a.push(a); return {a, b: a}`,
	`const a = {__proto__: null, ["__proto__"]: 1}; return a`,
	`return {a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 10, k: 11, l: 12, m: 13, n: 14, o: 15}`,
	`return {a: "aaaaaaaaaaaaaaaaaaaaaaaaa", b: "bbbbbbbbbbbbbbbbbbbbbbbbbbbbb", c: "ccccccccccc"}`,
	`return {a: "aaaaaaaaaaaaaaaaaaaaaaaaa", b: "bbbbbbbbbbbbbbbbbbbbbbbbbbbbb", c: "cccccccccccc"}`,
	`return {a: {b: {c: 1}}, d: {e: {f: {g: 1}}}}`, `return {a: [[[[1]]]], b: [[[]]], c: [{}]}`,
	`return {status: "ok", items: [{id: 1, name: "first item", tags: ["a", "b"]}, {id: 2, name: "second item", tags: []}], next: null}`,
	// Arrays.
	`return []`, `return [1, "a", null, undefined]`, `return [,1,,,2,]`, `return new Array(3)`, `return [1,2,3,4,5,6]`, `return [1,2,3,4,5,6,7]`,
	`return Array.from({length: 27}, (_, i) => i)`, `return Array.from({length: 101}, (_, i) => i)`, `return Array.from({length: 102}, (_, i) => i * 1000)`,
	`return Array.from({length: 30}, (_, i) => "item" + i)`, `return Array.from({length: 10}, (_, i) => "x".repeat(i * 3))`,
	`return Array.from({length: 8}, (_, i) => ({i}))`, `return Array.from({length: 20}, (_, i) => i % 3 ? i : -i * 1.5)`,
	`return Array.from({length: 12}, (_, i) => [i])`, `return Array.from({length: 9}, (_, i) => BigInt(i) ** 9n)`,
	`return Object.assign([1, 2], {a: 1, "-1": 2})`, `return Object.assign([1,2,3,4,5,6,7], {x: 1})`, `return ["漢字", "kana", "ひらがな", "e\u0301", "abc", "abcd", "abcde"]`,
	`class L extends Array {}; return L.from([1, 2])`, `return [undefined, , null]`, `const a = []; a[1000000] = 1; return a`,
	`const a = [1]; a[200] = 2; for (let i = 0; i < 150; i++) a[300 + i * 2] = i; return a`, `return Object.assign(new Array(5), {x: 1})`,
	`return [["a", 1], ["b", 2], ["c", 3], ["d", 4], ["e", 5], ["f", 6], ["g", 7]]`,
	`return "the quick brown fox jumps over the lazy dog and runs away from it as fast as it can".split(" ")`,
	// Collections.
	`return new Map()`, `return new Map([["a", 1], [{k: 1}, [2]]])`, `return new Set()`, `return new Set([1, "a", {}])`, `return new Map([[1, new Map([[2, new Map([[3, new Map()]])]])]])`,
	`return new Set(Array.from({length: 120}, (_, i) => i))`, `class M extends Map {}; return new M([[1, 2]])`, `return Object.assign(new Map([[1, 2]]), {x: 1})`,
	`const m = new Map(); m.set("self", m); return m`, `return new WeakMap()`, `return new WeakSet()`, `return [new Map([["k", {v: 1}]]), new Set([1])]`,
	`const m = new Map([[1, 2]]); Object.setPrototypeOf(m, null); return m`,
	`const m = new Map([["a", {x: 1}], [2, [1]]]), it = m.keys(); it.next(); return [it, m.values(), m.entries(), new Map().keys(), m[Symbol.iterator]()]`,
	`const s = new Set([1, {a: 1}]), it = s.values(); it.next(); it.next(); it.next(); return [it, s.keys(), s.entries()]`, `return new Map(Array.from({length: 120}, (_, i) => [i, i])).keys()`,
	`const m = new Map([[1, 1], [2, 2], [3, 3]]), it = m.keys(); it.next(); it.next(); m.delete(2); m.delete(3); m.set(4, 4); return it`, `return [1].values()`,
	`return "abc".match(/b/)`, `return [..."ab".matchAll(/(?<l>.)/g)]`, `return Object.assign(/b/.exec("abc"), {x: 1})`,
	`return {async f() {}}`, `class A { async m() {} static async s() {} }; return [new A().m, A.s, Object.assign(A.s, {x: 1})]`,
	// Binary.
	`return new Uint8Array([1, 2])`, `return new Uint8Array(0)`, `return new Float64Array([1.5, -0])`, `return new BigInt64Array([1n])`, `return new Uint8Array(200)`,
	`return new ArrayBuffer(4)`, `return new Uint8Array([1, 2, 255]).buffer`, `return new ArrayBuffer(120)`, `return new DataView(new ArrayBuffer(2), 1)`, `return new Uint8ClampedArray([300])`,
	`return {a: new Uint8Array(3)}`, `return Object.assign(new Uint8Array(1), {x: 1})`, `class B extends Uint8Array {}; return new B(2)`,
	// Functions.
	`return () => 1`, `return function named() {}`, `return class Q {}`, `return class extends Array {}`, `return class Q extends null {}`, `return function* g() {}`, `return async function a() {}`,
	`return Object.assign(function f() {}, {x: 1})`, `return Object.assign(class A {}, {x: 1})`, `return class A { static x = 1 }`, `function f() {}; f.self = f; return f`,
	`function classy() {}; return classy`, `const f = () => 1; Object.defineProperty(f, "name", {value: 7}); return f`, `const f = function x() {}; Object.setPrototypeOf(f, null); return f`,
	`return [Math.max, Map, Symbol, parseInt]`, `return (function () { return arguments })(1, "a")`, `return (function () { return arguments })()`, `return (function* g() {})()`,
	`const f = function f() {}; f.prototype.x = 1; return new f()`, `return Math`, `return JSON`, `return Reflect`, `return Function.prototype`, `return Object.prototype`,
	// Dates, expressions, boxes, promises.
	`return new Date(0)`, `return [new Date(NaN)]`, `return Object.assign(new Date(0), {x: 1})`, `class D extends Date {}; return new D(0)`,
	`return /re/gi`, `return [/a\/b/]`, `return Object.assign(/x/, {y: 1})`, `return new RegExp("")`,
	`return Object(1)`, `return Object("abc")`, `return Object(true)`, `return Object(1n)`, `return Object(Symbol("s"))`, `return Object.assign(Object("ab"), {x: 1})`, `return [Object(-0)]`,
	`return Promise.resolve(4)`, `return new Promise(() => {})`, `const p = Promise.reject(new Set([3])); p.catch(() => {}); return p`, `return Promise.resolve({a: {b: {c: {}}}})`,
	`return Object.assign(Promise.resolve("x"), {y: 1})`,
	// Proxies.
	`return new Proxy({a: 1}, {})`, `return new Proxy([1, 2], {})`, `return new Proxy(function f() {}, {})`, `return new Proxy({a: 1}, {get() { throw new Error("trap") }, ownKeys() { throw new Error("trap") }})`,
	`const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy`,
	// Errors.
	`const e = new Error("boom"); e.stack = "Error: boom\n    at x"; return e`, `const e = new Error("boom"); e.stack = "Error: boom\n    at x"; return [e]`,
	`const e = new Error("boom"); e.stack = "Error: boom\n    at x"; e.code = "E1"; return {e}`, `const e = new TypeError("two\nlines"); e.stack = "TypeError: two\nlines\n    at x\n    at y"; return {a: {e}}`,
	`const e = new Error("boom"); e.stack = undefined; return e`, `const e = new Error(""); e.stack = "Error"; return e`, `const e = new Error("x"); e.stack = "nonsense"; return e`,
	`const e = new Error("out", {cause: Object.assign(new Error("in"), {stack: "Error: in\n    at b"})}); e.stack = "Error: out\n    at a"; return e`,
	`const e = new Error("out", {cause: "text"}); e.stack = "Error: out\n    at a"; return e`,
	`const c = new Error("in"); c.stack = "Error: in\n    at b\n    at m1\n    at m2\n    at m3\n    at m4"; const e = new Error("out", {cause: c}); e.stack = "Error: out\n    at a\n    at m1\n    at m2\n    at m3\n    at m4"; return e`,
	`class E extends Error {}; const e = new E("x"); e.stack = "Error: x\n    at a"; return e`, `class MyError extends Error {}; const e = new MyError("x"); e.stack = "Error: x\n    at a"; return e`,
	`const e = new RangeError("x"); e.name = "Odd"; e.stack = "RangeError: x\n    at a"; return e`, `const e = new Error("x"); e.name = "CustomError"; e.stack = "Error: x\n    at a"; return e`,
	`const e = new Error("x"); e.stack = "Error: x\n    at a"; Object.setPrototypeOf(e, null); return e`,
	`const e = new AggregateError([1, 2], "many"); e.stack = "AggregateError: many\n    at a"; return e`,
	`const e = new Error("x"); e.message = "changed"; e.stack = "Error: x\n    at a"; return e`,
	`const e = new Error("x"); e.stack = "Error: x\n    at a"; e.self = e; return e`,
	// Custom inspection.
	`return {[Symbol.for("nodejs.util.inspect.custom")]() { return "custom" }}`, `return {a: {[Symbol.for("nodejs.util.inspect.custom")]() { return "two\nlines" }}}`,
	`return {[Symbol.for("nodejs.util.inspect.custom")]() { return {x: 1} }}`, `return {y: 1, [Symbol.for("nodejs.util.inspect.custom")]() { return this }}`,
	`return {a: {[Symbol.for("nodejs.util.inspect.custom")](depth, o) { return depth + " " + o.stylize("s", "string") + o.compact + o.breakLength } } }`,
	`return {a: {[Symbol.for("nodejs.util.inspect.custom")](depth, o, inspect) { return "<" + inspect({b: [1]}, o) + ">" } } }`,
	`return {[Symbol.for("nodejs.util.inspect.custom")]: 7}`,
}

// optioned are samples with options.
var optioned = []struct{ code, options string }{
	{`return {a: {b: {c: {d: {}}}}}`, `{depth: null}`},
	{`return {a: {b: {c: {d: {}}}}}`, `{depth: 0}`},
	{`return {a: 1}`, `{depth: -1}`},
	{`return [1, [2, [3]]]`, `{depth: 0}`},
	{`return {a: 1, b: [1, 2], c: {d: 1}}`, `{compact: false}`},
	{`return {a: 1, b: [1, 2], c: {d: 1}}`, `{compact: true}`},
	{`return {a: "x".repeat(70), b: new Map([[1, {a: "y".repeat(60)}]])}`, `{compact: true}`},
	{`return {a: {b: {c: {d: 1}}}}`, `{compact: 1}`},
	{`return {a: "aaaaaaaaaaaa", b: "bbbbbbbbbbbbb"}`, `{breakLength: 20}`},
	{`return {a: "x".repeat(100), b: "y".repeat(100)}`, `{breakLength: Infinity}`},
	{`return Array.from({length: 10}, (_, i) => i)`, `{maxArrayLength: 3}`},
	{`return [1]`, `{maxArrayLength: 0}`},
	{`return Array.from({length: 110}, (_, i) => i)`, `{maxArrayLength: null}`},
	{`return new Set([1, 2, 3])`, `{maxArrayLength: 1}`},
	{`return ["abcdef", "abc"]`, `{maxStringLength: 3}`},
	{`return {b: 1, a: 2}`, `{sorted: true}`},
	{`return {b: 1, a: 2, c: 3}`, `{sorted: (a, b) => a < b ? 1 : -1}`},
	{`return Object.assign([3, 1], {z: 1, y: 2})`, `{sorted: true}`},
	{`return {get a() { return 1 }, get b() { throw new Error("no") }, get c() { return {x: 1} }, get d() { return null }, set d(v) {}}`, `{getters: true}`},
	{`return {get a() { return 1 }, get d() { return 2 }, set d(v) {}}`, `{getters: "get"}`},
	{`return {get a() { return 1 }, get d() { return 2 }, set d(v) {}}`, `{getters: "set"}`},
	{`return [1234567.12345, 1000, 123456789n, -1234, 1e21]`, `{numericSeparator: true}`},
	{`return {a: 1, s: "x", n: null, u: undefined, y: Symbol("q"), d: new Date(0), r: /x/, f() {}, b: 1n, t: true}`, `{colors: true}`},
	{`return Array.from({length: 20}, (_, i) => i * i)`, `{colors: true}`},
	{`return new Proxy({a: 1}, {get: null})`, `{showProxy: true}`},
	{`return {[Symbol.for("nodejs.util.inspect.custom")]() { return "custom" }}`, `{customInspect: false}`},
	{`return [1, 2]`, `{showHidden: true}`},
	{`class P { get x() { return 1 } m() {} }; class Q extends P { constructor() { super(); this.a = 1 } get y() { return 2 } }; return new Q()`, `{showHidden: true}`},
	{`return Object.defineProperty({}, "it's", {value: 1})`, `{showHidden: true}`},
	{`return new Map([[1, 2]])`, `{showHidden: true}`},
	{`return new Uint8Array(2)`, `{showHidden: true}`},
}

// formats are argument lists of util.format.
var formats = []string{
	``, `"a"`, `"a", "b"`, `"%s", "x"`, `"%s"`, `"%s %s", "x"`, `"%%"`, `"%% %s", 1`, `"100%", 5`, `"a%sb", 5, 6`, `1, "%s", 2`,
	`"%s", {}`, `"%s", [1, [2]]`, `"%s", {toString() { return "own" }}`, `"%s", new Date(0)`, `"%s", () => 1`, `"%s", Symbol("a")`, `"%s", -0`, `"%s", 5n`, `"%s", null`, `"%s", undefined`,
	`"%s", new (class A { toString() { return "A!" } })()`, `"%s", new (class B {})()`, `"%s", new (class E extends Error {})("x").message`, `"%s", Object.create(null)`, `"%s", {a: {b: 1}}`,
	`"%d", 42.5`, `"%d", "0x10"`, `"%d", 5n`, `"%d", {}`, `"%d", Symbol()`, `"%d", -0`, `"%i", 42.9`, `"%i", "12px"`, `"%i", 7n`, `"%i", {}`, `"%f", "1.5x"`, `"%f", Symbol()`, `"%f", 3n`,
	`"%j", {a: 1}`, `"%j", undefined`, `"%j", "x"`, `(() => { const a = {}; a.a = a; return "%j" })(), (() => { const a = {}; a.a = a; return a })()`,
	`"%O", {a: {b: {c: {d: 1}}}}`, `"%o", [1]`, `"%o", {f: 1}`, `"%c styled", "color: red"`, `"%c"`, `"%x", 1`, `"%", 1`, `"%s%s", 1`, `"%d%%", 5`,
	`"a", {b: 1}, "c"`, `{a: 1}, [2]`, `"y".repeat(20000), 1`, `null, undefined`, `"%s", "x".repeat(20000)`, `"é%sü", "ñ"`,
}

// nodeResult is what Node said: its text, or the message that it threw.
type nodeResult struct{ Text, Thrown string }

// node runs a program in Node and decodes the JSON that it prints.
func node(t *testing.T, program string, out any) {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil || !strings.HasPrefix(string(version), "v20.") {
		t.Skipf("node is %s, %v; the texts are those of version 20", version, err)
	}
	cmd := exec.Command(path, "-")
	cmd.Stdin = strings.NewReader(program)
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatalf("node: %v: %s", err, b)
	}
}

func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

const nodeHead = `const util = require("util"); process.on("unhandledRejection", () => {});
const attempt = f => { try { return {Text: f()} } catch (e) { return {Thrown: String(e)} } };
`

// evaluate runs code as the body of a function.
func evaluate(t *testing.T, vm *goja.Runtime, code string) goja.Value {
	t.Helper()
	v, err := vm.RunString("(() => {" + code + "\n})()")
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return v
}

// contained runs f and returns what it threw, as text.
func contained(vm *goja.Runtime, f func()) string {
	if ex := vm.Try(f); ex != nil {
		return ex.Value().String()
	}
	return ""
}

func TestInspectIsNodes(t *testing.T) {
	t.Parallel()
	var want []nodeResult
	node(t, nodeHead+`console.log(JSON.stringify(`+quoted(samples)+`.map(s => attempt(() => util.inspect(new Function(s)())))))`, &want)
	for i, code := range samples {
		vm := goja.New()
		in := New(vm)
		v := evaluate(t, vm, code)
		var got nodeResult
		got.Thrown = contained(vm, func() { got.Text = in.Inspect(v, Default()) })
		if got != want[i] {
			t.Errorf("%s\n got %s%s\nwant %s%s", code, got.Text, got.Thrown, want[i].Text, want[i].Thrown)
		}
	}
}

func TestInspectWithOptionsIsNodes(t *testing.T) {
	t.Parallel()
	var cases [][2]string
	for _, o := range optioned {
		cases = append(cases, [2]string{o.code, o.options})
	}
	var want []nodeResult
	node(t, nodeHead+`console.log(JSON.stringify(`+quoted(cases)+`.map(([s, o]) => attempt(() => util.inspect(new Function(s)(), eval("(" + o + ")"))))))`, &want)
	for i, o := range optioned {
		vm := goja.New()
		in := New(vm)
		v := evaluate(t, vm, o.code)
		options := evaluate(t, vm, "return "+o.options).(*goja.Object)
		var got nodeResult
		got.Thrown = contained(vm, func() { got.Text = in.Inspect(v, in.ReadOptions(options, Default())) })
		if got != want[i] {
			t.Errorf("%s with %s\n got %s%s\nwant %s%s", o.code, o.options, got.Text, got.Thrown, want[i].Text, want[i].Thrown)
		}
	}
}

func TestFormatIsNodes(t *testing.T) {
	t.Parallel()
	var want []nodeResult
	node(t, nodeHead+`console.log(JSON.stringify(`+quoted(formats)+`.map(s => attempt(() => util.format(...eval("[" + s + "]"))))))`, &want)
	for i, code := range formats {
		vm := goja.New()
		in := New(vm)
		var args []goja.Value
		vm.ForOf(evaluate(t, vm, "return ["+code+"]"), func(v goja.Value) bool { args = append(args, v); return true })
		var got nodeResult
		got.Thrown = contained(vm, func() { got.Text = in.Format(Default(), args...) })
		if got != want[i] {
			t.Errorf("format(%s)\n got %q %s\nwant %q %s", code, got.Text, got.Thrown, want[i].Text, want[i].Thrown)
		}
	}
}

// TestHostileValues holds that nothing a script builds brings down more than itself.
func TestHostileValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, text, thrown string }{
		{name: "getter that throws", code: `return {get a() { throw new Error("no") }}`, text: "{ a: [Getter] }"},
		{name: "tag that throws", code: `return {get [Symbol.toStringTag]() { throw new Error("no") }}`, thrown: "Error: no"},
		{name: "constructor that throws", code: `return {get constructor() { throw new Error("no") }}`, text: "{ constructor: [Getter] }"},
		{name: "instanceof that throws", code: `function F() {}; Object.defineProperty(F, Symbol.hasInstance, {value() { throw new Error("no") }}); return new F()`, text: "{}"},
		{name: "custom that throws", code: `return {[Symbol.for("nodejs.util.inspect.custom")]() { throw new Error("no") }}`, thrown: "Error: no"},
		{name: "custom for ever", code: `const f = () => ({[Symbol.for("nodejs.util.inspect.custom")]: f}); return f()`, thrown: "RangeError: Maximum call stack size exceeded"},
		{name: "name that throws", code: `const e = new Error("x"); Object.defineProperty(e, "name", {get() { throw new Error("no") }}); return e`, thrown: "Error: no"},
		{name: "cause that throws", code: `const e = new Error("x"); e.stack = "Error: x\n    at a"; Object.defineProperty(e, "cause", {get() { throw new Error("no") }}); return e`, text: "Error: x\n    at a {\n  [cause]: [Getter]\n}"},
		{name: "stack that is an object", code: `const e = new Error("x"); e.stack = {toString() { return "odd" }}; return e`, text: "[odd]"},
		{name: "stack that throws", code: `const e = new Error("x"); e.stack = {toString() { throw new Error("no") }}; return e`, thrown: "Error: no"},
		{name: "symbol as name", code: `const f = function () {}; Object.defineProperty(f, "name", {value: Symbol("s")}); return f`, text: "[Function: Symbol(s)]"},
		{name: "proxy with traps that throw", code: `const no = () => { throw new Error("no") }; return new Proxy({a: 1}, new Proxy({}, {get: no}))`, text: "{ a: 1 }"},
		{name: "proxy of proxies", code: `let p = {a: 1}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); return p`, text: "{ a: 1 }"},
		{name: "revoked inside", code: `const r = Proxy.revocable({}, {}); const p = new Proxy(r.proxy, {}); r.revoke(); return [p]`, text: "[ <Revoked Proxy> ]"},
		{name: "revoked prototype", code: `const r = Proxy.revocable({}, {}); const o = Object.create(r.proxy); r.revoke(); return o`, thrown: "TypeError"},
		{name: "map with a size of its own", code: `const m = new Map([[1, 2]]); Object.defineProperty(m, "size", {value: 1e9}); return m`, text: "Map(1) { 1 => 2 }"},
		{name: "map with an iterator of its own", code: `const m = new Map([[1, 2]]); m[Symbol.iterator] = null; m.entries = null; return m`, text: "Map(1) { 1 => 2, entries: null, [Symbol(Symbol.iterator)]: null }"},
		{name: "looks like a map", code: `return Object.create(Map.prototype)`, text: "Map {}"},
		{name: "looks like a weak map", code: `return Object.create(WeakMap.prototype)`, text: "WeakMap {}"},
		{name: "looks like a typed array", code: `return Object.create(Uint8Array.prototype)`, text: "Uint8Array {}"},
		{name: "looks like a promise", code: `return Object.create(Promise.prototype)`, text: "Promise {}"},
		{name: "globals replaced", code: `Object.keys = Map.prototype.entries = Object.getOwnPropertyDescriptor = () => { throw new Error("no") }; return new Map([[{a: 1}, 1]])`, text: "Map(1) { { a: 1 } => 1 }"},
		{name: "polluted prototype", code: `Object.prototype.get = 1; Object.prototype.set = 2; return {a: 1}`, text: "{ a: 1 }"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			vm := goja.New()
			in := New(vm)
			v := evaluate(t, vm, tt.code)
			var got string
			thrown := contained(vm, func() { got = in.Inspect(v, Default()) })
			if got != tt.text || !strings.HasPrefix(thrown, tt.thrown) || (thrown == "") != (tt.thrown == "") {
				t.Errorf("%s\n got %q, thrown %q\nwant %q, thrown %q", tt.code, got, thrown, tt.text, tt.thrown)
			}
		})
	}
}

func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	in := New(vm)
	v := evaluate(t, vm, `let o = {}; for (let i = 0; i < 10000; i++) o = {o}; return o`)
	o := Default()
	o.Depth = Unlimited
	got := in.Inspect(v, o)
	if want := "[Object: Inspection interrupted prematurely. Maximum call stack size exceeded.]"; strings.Count(got, want) != 1 {
		t.Errorf("a value 10,000 deep is written in %d bytes without saying that it was cut", len(got))
	}
}

func TestInterruptEndsInspect(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	in := New(vm)
	v := evaluate(t, vm, `let o = []; for (let i = 0; i < 40; i++) o = [o, o]; return o`)
	o := Default()
	o.Depth = Unlimited
	run := func(goja.FunctionCall) goja.Value { return vm.ToValue(in.Inspect(v, o)) }
	if err := vm.Set("run", run); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(50*time.Millisecond, func() { vm.Interrupt("enough") })
	defer timer.Stop()
	_, err := vm.RunString("run()")
	if _, ok := err.(*goja.InterruptedError); !ok { //nolint:errorlint // goja's own
		t.Errorf("run() ended with %v, want an interrupt", err)
	}
}

func TestFunctionTakesOptions(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	in := New(vm)
	if err := vm.Set("inspect", in.Function()); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]string{
		`return inspect({a: {b: 1}}, {depth: 0})`:                                "{ a: [Object] }",
		`return inspect({a: {b: 1}}, false, 0)`:                                  "{ a: [Object] }",
		`return inspect(1, false, 0, true)`:                                      "\x1b[33m1\x1b[39m",
		`return inspect([1], true)`:                                              "[ 1, [length]: 1 ]",
		`return String(inspect.custom)`:                                          "Symbol(nodejs.util.inspect.custom)",
		`return inspect.name`:                                                    "inspect",
		`return inspect()`:                                                       "undefined",
		`return inspect({a: 1}, {stylize: (s, k) => k + ":" + s})`:               "{ name:a: number:1 }",
		`return inspect({[inspect.custom]: (d, o) => o.extra}, {extra: "mine"})`: "mine",
	} {
		if got := evaluate(t, vm, code).String(); got != want {
			t.Errorf("%s = %q, want %q", code, got, want)
		}
	}
}

func BenchmarkInspect(b *testing.B) {
	vm := goja.New()
	in := New(vm)
	v, err := vm.RunString(`({status: "ok", items: Array.from({length: 20}, (_, id) => ({id, name: "item " + id, tags: ["a", "b"]}))})`)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		in.Inspect(v, Default())
	}
}

// BenchmarkNew is what the first value costs that is no text.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		vm := goja.New()
		b.StartTimer()
		New(vm)
	}
}

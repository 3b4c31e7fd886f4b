package clone

import (
	"os/exec"
	"strings"
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/event"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/timers"
)

func modules() []engine.Module {
	return []engine.Module{Module(), Ports(), event.Module(), console.Module(), timers.Module()}
}

// scripts are compared with Node.
var scripts = []string{
	`const o = { d: new Date(5), m: new Map([[1, new Set([2])]]), r: /x/gi, u: new Uint8Array([1, 2]), e: new RangeError("r"), n: -0, und: undefined, big: 5n, arr: [1, , 3] }; o.self = o;
	 const c = structuredClone(o); let err = ""; try { structuredClone(() => 1) } catch (e) { err = e.name + e.code + e.message }
	 console.log(c !== o, c.self === c, c.d.getTime(), c.m.get(1).has(2), String(c.r), c.u.join(), c.e.name, c.e instanceof RangeError, Object.is(c.n, -0), "und" in c, c.big, 1 in c.arr, err, structuredClone(new (class K { x = 1 })()).constructor.name)`,
	`for (const v of [1, "s", true, null, undefined, NaN, -0, 10n, Infinity, "\ud800"]) console.log(Object.is(structuredClone(v), v))`,
	`for (const v of [Object(1), Object("ab"), Object(true), Object(5n), new Date(NaN), new Date(7), /a/giu, [1, [2, [3]]], {a: {b: {c: 1}}}, new Map([["k", {v: 1}]]), new Set([1, "a", {x: 1}]), new Float64Array([1.5, NaN]), new BigInt64Array([5n]), new Uint8ClampedArray([300]), new ArrayBuffer(3), new DataView(new ArrayBuffer(4), 1, 2)]) { const c = structuredClone(v); console.log(c, c !== v, Object.prototype.toString.call(c)) }`,
	`const t = f => { try { console.log(f()) } catch (e) { console.log(e.name, e.code, e.message) } };
	 t(() => structuredClone()); t(() => structuredClone(1, 1)); t(() => structuredClone(1, {transfer: [{}]})); t(() => structuredClone(1, {transfer: [1]})); t(() => { const b = new ArrayBuffer(8); return structuredClone(b, {transfer: [b, b]}) });
	 t(() => structuredClone(Symbol("x"))); t(() => structuredClone({a: [Promise.resolve()]})); t(() => structuredClone(new Proxy({}, {}))); t(() => structuredClone(new WeakMap)); t(() => structuredClone(new WeakSet));
	 t(() => structuredClone(parseInt)); t(() => structuredClone({get a() { throw new RangeError("mine") }})); t(() => structuredClone([].values()));
	 t(() => structuredClone(1, {})); t(() => structuredClone(1, {transfer: []})); t(() => structuredClone(1, null)); t(() => structuredClone.length + structuredClone.name); t(() => structuredClone(new MessageChannel().port1))`,
	`const e = new TypeError("x", {cause: {a: 1}}); e.code = 2; const c = structuredClone(e); console.log(c.name, c.message, c.cause, c.code, c.stack === e.stack, c instanceof TypeError, Object.getOwnPropertyNames(c).sort()); class E extends RangeError { name = "Mine" } const m = structuredClone(new E("m")); console.log(m.name, m.constructor.name, Object.keys(m)); console.log(structuredClone(new (class F extends SyntaxError {})("q")).name); const n = new Error; console.log(structuredClone(n).message === "", "message" in structuredClone(n))`,
	`const b = new ArrayBuffer(8); new Uint8Array(b)[1] = 7; const c = structuredClone({b, v: new Uint8Array(b, 1, 2)}, {transfer: [b]}); console.log(b.byteLength, c.b.byteLength, c.v.buffer === c.b, c.v.byteOffset, c.v.length, c.v[0]); try { structuredClone(b) } catch (e) { console.log(e.name, e.message) }`,
	`const b = new ArrayBuffer(8); try { structuredClone({b, f() {}}, {transfer: [b]}) } catch (e) { console.log(e.name, b.byteLength) }`,
	`const b = new ArrayBuffer(8); const c = structuredClone([new Uint8Array(b, 2, 3), new Uint16Array(b), new DataView(b, 1)]); console.log(c[0].buffer === c[1].buffer, c[2].buffer === c[0].buffer, c[0].byteOffset, c[0].length, c[2].byteLength); c[1][1] = 0x0505; console.log(c[0][0], new Uint8Array(b)[2])`,
	`console.log(structuredClone(Object.assign([1, , 3], {x: 1, [-1]: 2})), structuredClone(new Array(5)), structuredClone(Object.assign(/a/g, {lastIndex: 3})).lastIndex, structuredClone(Object.assign(new Map([[1, 2]]), {x: 1})), structuredClone(Object.assign(new Date(0), {x: 1})), structuredClone(new Set([new Set])))`,
	`const shared = {n: 1}; const c = structuredClone({a: shared, b: shared, m: new Map([[shared, shared]])}); console.log(c.a === c.b, c.m.get(c.a) === c.b, c.a !== shared); const m = new Map; m.set(m, m); const d = structuredClone(m); console.log(d.get(d) === d); const s = new Set; s.add(s); const u = structuredClone(s); console.log(u.has(u), u !== s)`,
	`console.log(structuredClone({get a() { return 1 }, [Symbol("s")]: 2}), structuredClone({__proto__: null, ["__proto__"]: 1}), structuredClone(Object.create({x: 1}, {y: {value: 1}, z: {value: 2, enumerable: true}})), structuredClone(Object.freeze([1])), Object.isFrozen(structuredClone(Object.freeze({}))))`,
	`const k = structuredClone(new (class K { a = 1; #p = 2; get b() { return 3 } m() {} })); console.log(k, Object.getPrototypeOf(k) === Object.prototype)`,
	`let deep = {}; for (let i = 0; i < 100000; i++) deep = {deep}; try { structuredClone(deep); console.log("ok") } catch (e) { console.log(e.name, e.message) }`,
	`const { port1, port2 } = new MessageChannel(); const got = new Promise(r => { port2.onmessage = e => r(e) }); port1.postMessage({ a: new Date(1) }); const e = await got; console.log(e.data.a instanceof Date, e.data.a.getTime(), e.type, e.target === port2, e.constructor.name, e.ports.length); port1.close()`,
	`const { port1, port2 } = new MessageChannel(); port1.postMessage(1); port1.postMessage(2); port2.addEventListener("message", e => { console.log(e.data); if (e.data === 3) port2.close() }); port2.start(); port1.postMessage(3); console.log("sync"); queueMicrotask(() => console.log("micro"))`,
	`const { port1, port2 } = new MessageChannel(); port2.on("message", v => { console.log(v); port2.close() }); port2.once("message", v => console.log("once", v)); port1.postMessage("hi")`,
	`const { port1, port2 } = new MessageChannel(); try { port1.postMessage(() => {}) } catch (e) { console.log(e.name) } try { port1.postMessage() } catch (e) { console.log(e.name) } const b = new ArrayBuffer(4); port2.onmessage = e => { console.log(e.data.byteLength, b.byteLength); port1.close() }; port1.postMessage(b, [b]); console.log(b.byteLength)`,
	`const a = new MessageChannel(), b = new MessageChannel(); b.port2.onmessage = e => { e.ports[0].postMessage("through"); console.log(e.data.p === e.ports[0]); e.ports[0].close(); b.port1.close() }; a.port2.onmessage = e => console.log(e.data); b.port1.postMessage({p: a.port1}, [a.port1])`,
	`const a = new BroadcastChannel("n"), b = new BroadcastChannel("n"), c = new BroadcastChannel("other"); let n = 0; const end = () => { if (++n === 1) { a.close(); b.close(); c.close() } }; b.onmessage = e => { console.log("b", e.data, b.name); end() }; c.onmessage = () => console.log("no"); a.onmessage = () => console.log("no"); a.postMessage({x: 1})`,
	`const a = new BroadcastChannel("n"); a.close(); try { a.postMessage(1) } catch (e) { console.log(e.name) }`,
}

func TestClonesAreNodes(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if version, _ := exec.Command(path, "--version").Output(); !strings.HasPrefix(string(version), "v20.") {
		t.Skipf("node is %s; the texts are those of version 20", version)
	}
	for _, code := range scripts {
		t.Run(code[:min(len(code), 40)], func(t *testing.T) {
			t.Parallel()
			want, err := exec.Command(path, "--input-type=module", "-e", code).Output()
			if err != nil {
				t.Fatalf("node: %v", err)
			}
			stdout, stderr := trial.Run(code, nil, modules()...)
			if stdout != string(want) || stderr != "" {
				t.Errorf("%s\nwrote\n%s%s\nNode wrote\n%s", code, stdout, stderr, want)
			}
		})
	}
}

func TestClones(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, stdout, stderr string }{
		{"a DOMException", `const e = structuredClone({e: new DOMException("m", "AbortError")}).e; console.log(e.name, e.code, e.message, e instanceof DOMException)`, "AbortError 20 m true\n", ""},
		{"a port that nobody closes does not keep the run alive", `const { port1, port2 } = new MessageChannel(); port2.onmessage = e => console.log(e.data); port1.postMessage(1)`, "1\n", ""},
		{"an error that is not caught", `structuredClone({f() {}})`, "", "uncaught DataCloneError: f() {\n} could not be cloned.\n"},
		{"an endless transfer list", `try { structuredClone(1, {transfer: (function* () { for (;;) yield new ArrayBuffer(1) })()}) } catch (e) { console.log(e.name) }`, "RangeError\n", ""},
		{"a huge sparse array", `console.log(structuredClone(new Array(4294967295)).length)`, "4294967295\n", ""},
		{"a prototype that throws", `try { structuredClone(Object.create(new Proxy({}, { get() { throw new RangeError("trap") } }))) } catch (e) { console.log(e.message) }`, "trap\n", ""},
		{"objects that lie about their class", `for (const tag of ["Blob", "File", "MessagePort", "DOMException"]) console.log(structuredClone(Object.create({ [Symbol.toStringTag]: tag })))`, "{}\n{}\n{}\n{}\n", ""},
		{"views that lie about their memory", `for (const [name, value] of [["buffer", 5], ["byteOffset", 1e9], ["length", -1]]) { const v = new Uint8Array(8); Object.defineProperty(v, name, { value }); try { structuredClone(v); console.log("ok") } catch (e) { console.log(e.name) } }`, "DataCloneError\nRangeError\nRangeError\n", ""},
		{"a map that changes while it is cloned", `const m = new Map([[1, { get x() { m.set(2, 2); m.delete(1); return 1 } }]]); console.log(structuredClone(m).size)`, "1\n", ""},
		{"changed built-ins", `const m0 = new Map([[1, new Set([2])]]); structuredClone(1); Map.prototype.forEach = Set.prototype.add = Map.prototype.set = null; globalThis.Map = null; console.log(structuredClone({m0}).m0.get(1).has(2))`, "true\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr := trial.Run(tt.code, nil, modules()...)
			if stdout != tt.stdout || stderr != tt.stderr {
				t.Errorf("wrote %q and %q, want %q and %q", stdout, stderr, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, Module(), event.Module())
	declared.Check(t, Ports(), event.Module())
}

func BenchmarkStructuredClone(b *testing.B) {
	code := `const rows = []; for (let i = 0; i < 1000; i++) rows.push({id: i, name: "n" + i, tags: ["a", "b"], at: new Date(i)});
		for (let i = 0; i < 10; i++) structuredClone(rows)`
	for b.Loop() {
		if _, stderr := trial.Run(code, nil, modules()...); stderr != "" {
			b.Fatal(stderr)
		}
	}
}

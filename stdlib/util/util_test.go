package util_test

import (
	"os/exec"
	"testing"
	"testing/synctest"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/events"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/process"
	"mcpx/stdlib/timers"
	"mcpx/stdlib/util"
)

func modules() []engine.Module {
	return append(append(util.Modules(), process.Modules()...), events.Module(), console.Module(), timers.Module())
}

const use = `const util = require("node:util"); const log = (...a) => console.log(...a); const t = f => { try { log(f()) } catch (e) { log(e.name, e.code, e.message) } }; `

// scripts are compared with Node.
var scripts = []string{
	use + `const p = util.promisify((x, cb) => cb(null, x + 1)); log(await p(4), p.length, p.name); const bad = util.promisify(cb => cb(new Error("no"))); try { await bad() } catch (e) { log(e.message) } const th = util.promisify(() => { throw new TypeError("sync") }); try { await th() } catch (e) { log(e.message) }`,
	use + `const o = {n: 2, get(x, cb) { cb(null, this.n * x) }}; log(await util.promisify(o.get).call(o, 5)); function f(cb) { cb() } f.extra = 7; f[util.promisify.custom] = async () => "own"; const g = util.promisify(f); log(await g(), g === f[util.promisify.custom], util.promisify(g) === g, util.promisify.custom)`,
	use + `function f(a, b, cb) { cb(null, a, b) } f.extra = 7; const g = util.promisify(f); log(await g(1, 2), g.extra, g.name, g.length, Object.getPrototypeOf(g) === Function.prototype)`,
	use + `const c = util.callbackify(async (a, b) => a + b); log(c.length); await new Promise(r => c(1, 2, (e, v) => { log(e, v); r() })); const d = util.callbackify(async function named() { throw null }); log(d.name); await new Promise(r => d(e => { log(e.code, e.message, e.reason); r() })); try { c(1, 2) } catch (e) { log(e.code, e.message) }`,
	use + `const c = util.callbackify(() => Promise.reject(new RangeError("x"))); await new Promise(r => c(e => { log(e.name, e.message); r() }))`,
	use + `function A() {} A.prototype.hi = function () { return "hi" }; function B() { A.call(this) } util.inherits(B, A); log(new B().hi(), B.super_ === A, new B() instanceof A)`,
	use + `for (const f of [() => util.promisify(5), () => util.promisify({}), () => util.callbackify(5), () => util.inherits(function () {}, 5), () => util.inherits(function () {}, () => {}), () => util.styleText("nope", "x"), () => util.styleText("red", 5), () => util.stripVTControlCharacters(5), () => util.formatWithOptions(5), () => util.getSystemErrorName(5), () => util.getSystemErrorName("a"), () => util.parseEnv(5)]) t(f)`,
	use + `log(util.format("%s=%d %i %f %j %o %O %%", "k", 3.5, 3.5, "2.5", {a: 1}, [1], {b: 2}), util.format("a", 1, "b", {c: 3}), util.format(1, 2), util.format("%s"), util.format("%s", undefined, Symbol("x")), util.format())`,
	use + `log(util.formatWithOptions({depth: 0}, "%O", {a: {b: 1}}), util.formatWithOptions({compact: false}, {a: 1}), util.inspect({a: 1, b: [1, {c: new Map([[1, 2]])}]}, {depth: 0}), util.inspect("s"), util.inspect({[util.inspect.custom]: () => "CUSTOM"}), util.inspect({[util.inspect.custom]: (d, o, i) => i === util.inspect}))`,
	use + `log(util.inspect(new Map([["a", {b: 1}]]), {showHidden: false, breakLength: 5}), util.inspect({a: 1n, b: Symbol("c"), d: undefined}, {sorted: true, colors: false}), util.inspect([1, 2, 3], {maxArrayLength: 1}), util.inspect("x".repeat(20), {maxStringLength: 3}))`,
	use + `log(util.inspect(new Proxy(function x() {}, {a: 1}), {showProxy: true}), util.inspect(new Proxy({}, {a: 1}), {showProxy: true}))`,
	use + `log(util.inspect.defaultOptions, util.inspect.styles, util.inspect.colors.red, util.inspect.custom)`,
	use + `log(util.isDeepStrictEqual({a: [1, {b: 2}]}, {a: [1, {b: 2}]}), util.isDeepStrictEqual([1], ["1"]), util.isDeepStrictEqual(new Set([1]), new Set([1])), util.isDeepStrictEqual(NaN, NaN), util.isDeepStrictEqual(0, -0))`,
	use + `log([["red"], ["bold"], ["gray"], ["bgBlue"], ["underline"]].map(([s]) => JSON.stringify(util.styleText(s, "x"))).join(), JSON.stringify(util.styleText(["red", "bold"], "x")), JSON.stringify(util.styleText([], "x")))`,
	use + `log(util.stripVTControlCharacters("\x1b[31mred\x1b[39m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x1b[1;2Hx \x1b[2K"), util.toUSVString("a\ud800b"), util.toUSVString(5))`,
	use + `log(util.getSystemErrorName(-2), util.getSystemErrorName(-13), util.getSystemErrorName(-99999), util.getSystemErrorMap().get(-2), util.getSystemErrorMap() instanceof Map)`,
	use + `const v = [1, "s", true, null, undefined, Symbol("s"), {}, [], () => {}, /r/, new Date(0), new Error("e"), new TypeError("e"), Object.create(Error.prototype)]; for (const n of ["isArray", "isBoolean", "isNull", "isNullOrUndefined", "isNumber", "isString", "isSymbol", "isUndefined", "isRegExp", "isObject", "isDate", "isError", "isFunction", "isPrimitive"]) log(n, v.map(x => util[n](x) ? 1 : 0).join(""))`,
	use + `const v = [new Date(), (function () { return arguments })(), Object(1n), Object(true), Object(1), Object("s"), Object(Symbol()), new Error(), /r/, async () => {}, function* () {}, (function* () {})(), Promise.resolve(), new Map(), new Set(), new Map().keys(), new Set().values(), new WeakMap(), new WeakSet(), new ArrayBuffer(1), new DataView(new ArrayBuffer(1)), new Proxy({}, {}), new Proxy(() => {}, {}), new Uint8Array(), new Int8Array(), new Float64Array(), new BigInt64Array(), new Uint8ClampedArray(), {}, [], null, 5, "s", undefined, Object.create(Date.prototype), {[Symbol.toStringTag]: "Date"}];
	 for (const n of Object.keys(util.types).filter(n => !["isKeyObject", "isCryptoKey", "isEventTarget"].includes(n)).sort()) log(n, v.map(x => util.types[n](x) ? 1 : 0).join(""))`,
	use + `log(util.parseEnv("A=1\nB=\"x y\"\n#c\nC='q' # z\nexport D=4\nE = spaced  \nF=\nG=a#b\nH=\"multi\nline\"\nI=\"a\\nb\"\nJ=` + "`tick`" + `\n"))`,
	use + `const p = c => t(() => JSON.stringify(util.parseArgs(c)));
	 const o = {f: {type: "boolean", short: "f"}, bar: {type: "string", short: "b"}, many: {type: "string", multiple: true, short: "m"}, d: {type: "string", default: "dd"}};
	 for (const args of [["-f", "--bar", "b"], ["--bar=b=c"], ["-b", "x"], ["-bx"], ["-fb", "x"], ["-fbx"], ["--many", "1", "--many=2", "-m3"], ["--d", "e"], ["--nope"], ["-z"], ["pos"], ["--bar"], ["--f=x"], ["--bar", "-x"], ["--bar", "-"], ["-b", "-x"], ["--bar="], ["-"], ["--"], ["--", "x"], ["-f", "-f"], ["--no-f"], ["---x"], ["--=x"]]) { p({args, options: o}); p({args, options: o, allowPositionals: true}); p({args, options: o, strict: false, tokens: true}); p({args, options: o, allowNegative: true, tokens: true}) }`,
	use + `for (const c of [5, [], {args: 5}, {options: 5}, {options: {x: 5}}, {options: {x: {}}}, {options: {x: {type: "nope"}}}, {options: {x: {type: "string", short: "ab"}}}, {options: {x: {type: "string", short: 5}}}, {options: {x: {type: "string", multiple: 5}}}, {options: {x: {type: "string", default: 5}}}, {options: {x: {type: "boolean", default: "s"}}}, {options: {x: {type: "string", multiple: true, default: "s"}}}, {options: {x: {type: "string", multiple: true, default: [5]}}}, {strict: 5}, {tokens: "x"}]) t(() => util.parseArgs(c))`,
	use + `log(util.parseArgs({args: ["a", "b"], allowPositionals: true}), util.parseArgs({args: ["--x", "y"], strict: false}))`,
	use + `const f = util.deprecate(function foo(a) { return a * 2 }, "old", "D1"); const w = []; process.noDeprecation = true; log(f(2), f(3)); await new Promise(r => setTimeout(r, 2)); log(w); process.removeAllListeners("warning")`,
	use + `log(util._extend({a: 1}, {b: 2}), util._extend({a: 1}, null), util.types === require("node:util/types"), util.debuglog("x").enabled, util.debug === util.debuglog, util.debuglog("x").name)`,
	use + `for (const n of ["format", "formatWithOptions", "promisify", "callbackify", "inherits", "isDeepStrictEqual", "deprecate", "stripVTControlCharacters", "parseEnv", "getSystemErrorMap", "aborted"]) log(n, util[n].name, util[n].length)`,
	use + `util.inspect.defaultOptions.depth = 0; log(util.format("%O", {a: {b: 1}}), util.inspect({a: {b: {}}})); util.inspect.defaultOptions.depth = 2`,
}

func TestUtilIsNodes(t *testing.T) {
	t.Parallel()
	node, err := exec.Command("node", "--no-warnings", "-e", trial.Program(scripts)).Output()
	if err != nil {
		t.Skip("Node 20 is not installed")
	}
	compare := trial.Comparison(t, scripts, node, modules()...)
	synctest.Test(t, func(t *testing.T) { compare(t) })
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	for i, m := range util.Modules() {
		declared.Check(t, m, util.Modules()[:i]...)
	}
}

package equal_test

import (
	"os/exec"
	"testing"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/equal"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/trial"
)

// module has what the scripts below ask Node's modules for.
var module = engine.Module{
	Name: "node:assert",
	Make: func(rt *engine.Runtime) *goja.Object {
		vm := rt.VM()
		o, c := vm.NewObject(), equal.New(vm)
		for name, strict := range map[string]bool{"deepEqual": false, "deepStrictEqual": true} {
			native.Set(vm, o, name, 2, func(call goja.FunctionCall) goja.Value {
				if !c.Deep(call.Argument(0), call.Argument(1), strict) {
					panic(vm.NewTypeError("not equal"))
				}
				return nil
			})
		}
		return o
	},
}

// pairs compares all values of a list with one another.
func pairs(list string) string {
	return `const a = require("assert"); const list = () => [` + list + `]; const x = list(), y = list();
const test = f => { try { f(); return 1 } catch (e) { return e.name === "AssertionError" || e.message === "not equal" ? 0 : String(e) } };
for (let i = 0; i < x.length; i++) { console.log(i, y.map(v => test(() => a.deepStrictEqual(x[i], v))).join(""), y.map(v => test(() => a.deepEqual(x[i], v))).join("")) }`
}

var scripts = []string{
	pairs(`undefined, null, 0, -0, 1, NaN, "", "1", "a", true, false, 1n, 0n, Symbol.iterator, {}, [], () => {}, Math.max, new Number(1), new String("1"), new Boolean(true), Object(1n), new Date(0), new Date(NaN), /a/, new Error("a")`),
	pairs(`{}, {a: 1}, {a: "1"}, {a: undefined}, {b: undefined}, {a: 1, b: 2}, {b: 2, a: 1}, Object.create(null), Object.assign(Object.create(null), {a: 1}), new (class X { a = 1 }), {a: {b: {c: [1]}}}, {a: {b: {c: [2]}}}, {get a() { return 1 }}, Object.defineProperty({}, "a", {value: 1}), {[Symbol.iterator]: 1}, {[Symbol.iterator]: 2}`),
	pairs(`[], [1], ["1"], [1, 2], [2, 1], [,], [undefined], [1, , 3], [1, undefined, 3], Object.assign([1], {x: 1}), Object.assign([1], {x: 2}), [[1]], [[[1]]], {0: 1, length: 1}, new (class extends Array {})(1), [NaN], [-0], [0], (function () { return arguments })(1), (function () { return arguments })(1, 2)`),
	pairs(`new Set(), new Set([1]), new Set(["1"]), new Set([1, 2]), new Set([2, 1]), new Set([{}]), new Set([{a: 1}, {a: 2}]), new Set([{a: 2}, {a: 1}]), new Set([[1], [1]]), new Set([NaN]), new Set([undefined]), new Set([null]), new Map(), Object.assign(new Set([1]), {x: 1}), new Set([1, {}]), new Set([{}, 1])`),
	pairs(`new Map(), new Map([[1, 1]]), new Map([["1", 1]]), new Map([[1, "1"]]), new Map([[{}, 1]]), new Map([[{}, 2]]), new Map([[{a: 1}, {b: 1}], [{a: 2}, {b: 2}]]), new Map([[{a: 2}, {b: 2}], [{a: 1}, {b: 1}]]), new Map([[1, {}], [2, []]]), new Map([[2, []], [1, {}]]), new Map([[NaN, 1]]), new Map([[undefined, 1]]), new Map([[null, 1]]), new Set([[1, 1]])`),
	pairs(`new Uint8Array([1, 2]), new Uint8Array([1, 3]), new Int8Array([1, 2]), new Uint8Array([1]), new Float32Array([0]), new Float32Array([-0]), new Float64Array([NaN]), new Float64Array([0]), new Uint8Array([1, 2]).buffer, new Uint8Array([1, 3]).buffer, new DataView(new Uint8Array([1, 2]).buffer), [1, 2], Object.assign(new Uint8Array([1, 2]), {x: 1})`),
	pairs(`new Error("a"), new Error("b"), new TypeError("a"), Object.assign(new Error("a"), {code: 1}), Object.assign(new Error("a"), {name: "X"}), {message: "a"}, new Error("a", {cause: 1}), /a/, /a/g, /b/, Object.assign(/a/g, {lastIndex: 1}), new Date(1), new Date(2), Object.assign(new Date(1), {x: 1}), new Number(1), new Number(2), Object(Symbol.iterator), Object("ab"), new WeakMap(), new WeakSet(), Promise.resolve(1)`),
	pairs(`(() => { const a = {}; a.a = a; return a })(), (() => { const a = {a: {}}; a.a.a = a; return a })(), (() => { const a = {}; a.a = {a: a}; return a })(), (() => { const a = []; a.push(a); return a })(), (() => { const s = new Set(); s.add(s); return s })(), new Proxy({a: 1}, {}), new Proxy([1], {}), {a: 1}, [1]`),
	`const a = require("assert"); const big = () => { const x = new Array(3e9 % 2 ** 32); x[5] = 1; return x }; a.deepStrictEqual(big(), big()); const other = big(); other[6] = 1; try { a.deepStrictEqual(big(), other); console.log("same") } catch { console.log("differ") }`,
}

func TestEqualityIsNodes(t *testing.T) {
	t.Parallel()
	node, err := exec.Command("node", "-e", trial.Program(scripts[:len(scripts)-1])).Output()
	if err != nil {
		t.Skip("Node 20 is not installed")
	}
	trial.Compare(t, scripts[:len(scripts)-1], node, module, console.Module())
}

func TestEqualityIsBounded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, stdout, stderr string }{
		{"sparse arrays", scripts[len(scripts)-1], "differ\n", ""},
		{"deep values", `const a = require("assert"); const deep = n => { let x = {}; for (let i = 0; i < n; i++) x = {x}; return x }; a.deepStrictEqual(deep(3000), deep(3000)); try { a.deepStrictEqual(deep(100000), deep(100000)) } catch (e) { console.log(e.name) }`, "RangeError\n", ""},
		{"traps throw", `const a = require("assert"); try { a.deepEqual(new Proxy({}, {ownKeys() { throw new EvalError("trap") }}), {}) } catch (e) { console.log(e.name) }`, "EvalError\n", ""},
		{"getters throw", `const a = require("assert"); try { a.deepEqual({get x() { throw new EvalError("get") }}, {x: 1}) } catch (e) { console.log(e.name) }`, "EvalError\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if stdout, stderr := trial.Run(tt.code, nil, module, console.Module()); stdout != tt.stdout || stderr != tt.stderr {
				t.Errorf("wrote %q and %q, want %q", stdout, stderr, tt.stdout)
			}
		})
	}
}

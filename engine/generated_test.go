package engine

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// FuzzGeneratedPrograms compares programs that are made of what the compiler rewrites
// with node: additions to texts, powers, instanceof, spreads and loops over arrays, try in
// functions that call themselves, arguments in arrow functions, regular expressions, super,
// generators, destructuring.
func FuzzGeneratedPrograms(f *testing.F) {
	theirs := startNode(f)
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		program := generate(seed)
		want := theirs.run(t, program)
		rt := make(chan string, 1)
		go func() {
			o, out := testRun(t, program)
			if o.Report != nil {
				out += "uncaught " + o.Report.Name + ": " + o.Report.Message + "\n"
			}
			rt <- out
		}()
		select {
		case got := <-rt:
			if got != want {
				t.Errorf("seed %d:\n%s\nprints\n%swant\n%s", seed, program, got, want)
			}
		case <-time.After(time.Minute):
			t.Errorf("seed %d does not end:\n%s", seed, program)
		}
	})
}

// nodeProcess is a node that runs programs one after the other.
type nodeProcess struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

const nodeServer = `
const lines = require("node:readline").createInterface({ input: process.stdin });
const AsyncFunction = (async () => {}).constructor;
(async () => {
  for await (const line of lines) {
    let out = "";
    const log = (x) => { out += String(x) + "\n" };
    try { await new AsyncFunction("log", '"use strict";' + JSON.parse(line))(log) } catch (e) { out += "uncaught " + e?.name + ": " + e?.message + "\n" }
    process.stdout.write(JSON.stringify(out) + "\n");
  }
})()`

func startNode(tb testing.TB) *nodeProcess {
	tb.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		tb.Skip("there is no node to compare with")
	}
	cmd := exec.Command(path, "-e", nodeServer)
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &nodeProcess{in: in, out: bufio.NewReader(out)}
}

// run returns what a program logs.
func (n *nodeProcess) run(t *testing.T, program string) (out string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	b, err := json.Marshal(program)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.in.Write(append(b, '\n')); err != nil {
		t.Fatal(err)
	}
	line, err := n.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// generator writes a program. Everything that it writes ends.
type generator struct {
	r     *rand.Rand
	b     strings.Builder
	depth int
	names int
	// What is in scope, by what it is.
	numbers, texts, arrays, functions []string
}

func generate(seed uint64) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, 7))}
	g.b.WriteString("const show = (x) => { try { return typeof x === 'bigint' ? x + 'n' : typeof x === 'function' ? 'function' : Object.is(x, -0) ? '-0' : x instanceof Error ? x.name : JSON.stringify(x) } catch (e) { return e.name } };\n")
	g.b.WriteString("let fuel = 300; const burn = () => { if (--fuel < 0) throw new RangeError('fuel') };\n")
	for range 6 + g.r.IntN(8) {
		g.statement()
	}
	for _, list := range [][]string{g.numbers, g.texts, g.arrays} {
		for _, name := range list {
			fmt.Fprintf(&g.b, "log(show(%s));\n", name)
		}
	}
	return g.b.String()
}

func (g *generator) one(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *generator) fresh(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// block writes statements in braces, whose names are gone after it.
func (g *generator) block() {
	numbers, texts, arrays, functions := len(g.numbers), len(g.texts), len(g.arrays), len(g.functions)
	g.b.WriteString("{\n")
	for range 1 + g.r.IntN(3) {
		g.statement()
	}
	g.b.WriteString("}\n")
	g.numbers, g.texts, g.arrays, g.functions = g.numbers[:numbers], g.texts[:texts], g.arrays[:arrays], g.functions[:functions]
}

func (g *generator) statement() {
	g.depth++
	defer func() { g.depth-- }()
	kind := g.r.IntN(36)
	if g.depth > 3 {
		kind = g.r.IntN(6)
	}
	switch kind {
	case 0:
		value := g.number()
		name := g.fresh("n")
		fmt.Fprintf(&g.b, "let %s = %s;\n", name, value)
		g.numbers = append(g.numbers, name)
	case 1:
		value := g.text()
		name := g.fresh("s")
		fmt.Fprintf(&g.b, "let %s = %s;\n", name, value)
		g.texts = append(g.texts, name)
	case 2:
		value := g.array()
		name := g.fresh("a")
		fmt.Fprintf(&g.b, "let %s = %s;\n", name, value)
		g.arrays = append(g.arrays, name)
	case 3:
		if len(g.texts) > 0 {
			name := g.one(g.texts...)
			fmt.Fprintf(&g.b, "%s;\n", g.one(name+" += "+g.any(), name+" = "+name+" + "+g.text()+" + "+g.any(), name+" += "+name+".length"))
		}
	case 4:
		if len(g.numbers) > 0 {
			name := g.one(g.numbers...)
			fmt.Fprintf(&g.b, "%s;\n", g.one(name+g.one(" += ", " -= ", " *= ", " %= ", " |= ", " <<= ", " ??= ", " ||= ")+g.number(), name+" **= 2"))
		}
	case 5:
		fmt.Fprintf(&g.b, "log(show(%s));\n", g.any())
	case 6:
		fmt.Fprintf(&g.b, "if (%s) ", g.any())
		g.block()
		if g.r.IntN(2) == 0 {
			g.b.WriteString("else ")
			g.block()
		}
	case 7:
		name := g.fresh("v")
		fmt.Fprintf(&g.b, "for (const %s of %s) { burn(); log(show(%s)); %s ", name, g.array(), name, g.one("", "", "if (fuel % 3 === 0) continue;", "if (fuel % 4 === 0) break;"))
		g.block()
		g.b.WriteString("}\n")
	case 8:
		name := g.fresh("i")
		fmt.Fprintf(&g.b, "for (let %s = 0; %s < %d; %s++) { burn(); ", name, name, 1+g.r.IntN(4), name)
		g.numbers = append(g.numbers, name)
		g.block()
		g.numbers = g.numbers[:len(g.numbers)-1]
		g.b.WriteString("}\n")
	case 9:
		g.b.WriteString("try { burn(); ")
		g.block()
		fmt.Fprintf(&g.b, "%s }", g.one("", "throw new TypeError('t');", "null.x;", "undefinedName;", "throw 5;", "fuel.nope();"))
		if g.r.IntN(3) > 0 {
			g.b.WriteString(g.one(" catch (e) { log(show(e)); ", " catch { ", " catch ({ message, name }) { log(name); "))
			g.block()
			g.b.WriteString("}")
		} else {
			g.b.WriteString(" catch (e) { log(e?.name) }")
		}
		if g.r.IntN(2) == 0 {
			g.b.WriteString(" finally ")
			g.block()
		}
		g.b.WriteString("\n")
	case 10:
		// A function that calls itself, with a try on the way.
		name := g.fresh("f")
		fmt.Fprintf(&g.b, "function %s(n, ...rest) { burn(); if (n <= 0) return %s; try { return %s(n - 1, n, ...rest) %s } catch (e) { return e.name } %s }\n",
			name, g.one("rest.length", "[...rest]", "rest.join('')", "arguments.length"), name, g.one("", "+ 1", "+ 's'"), g.one("", "finally { fuel-- }"))
		g.functions = append(g.functions, name)
		fmt.Fprintf(&g.b, "log(show(%s(%d)));\n", name, g.r.IntN(5))
	case 11:
		name := g.fresh("f")
		fmt.Fprintf(&g.b, "const %s = function (a, b = %s) { const inner = () => %s; return inner() };\nlog(show(%s(%s)));\n",
			name, g.number(), g.one("arguments.length", "arguments[0]", "[...arguments]", "b", "a"), name, g.any())
		g.functions = append(g.functions, name)
	case 12:
		class, heir := g.fresh("C"), g.fresh("D")
		fmt.Fprintf(&g.b, "class %s { #p = %s; v = %s; m(x) { return this.v + x } get p() { return this.#p } static s = %s; async *g() { yield this.m(1) } }\n", class, g.number(), g.any(), g.number())
		fmt.Fprintf(&g.b, "class %s extends %s { %s m(x) { return 'd' + super.m(x) } async *g() { yield* super.g(); yield super.p } }\n", heir, class, g.one("", "w = super.p;", "constructor() { super(); this.v = "+g.number()+" }"))
		fmt.Fprintf(&g.b, "{ const o = new %s(); log(show([o.m(%s), o.p, o instanceof %s, %s.s, o])); for await (const x of o.g()) log(show(x)); }\n", heir, g.any(), class, heir)
	case 13:
		fmt.Fprintf(&g.b, "log(show(%s.replace(%s, %s)));\n", g.text(), g.regexp(), g.one("'<$&>'", "(m, ...r) => m.length", "'$1'"))
	case 14:
		fmt.Fprintf(&g.b, "log(show([...%s.matchAll(%sg)].map((m) => m[0] + m.index)));\n", g.text(), strings.TrimRight(g.regexp(), "g"))
	case 15:
		name := g.fresh("gen")
		fmt.Fprintf(&g.b, "function* %s(xs) { try { for (const x of xs) { const got = yield x; if (got) log(show(got)) } } finally { log('done') } }\n", name)
		fmt.Fprintf(&g.b, "{ const it = %s(%s); it.next(); it.next(%s); log(show([...it])); const [first] = %s(%s); log(show(first)); }\n", name, g.array(), g.any(), name, g.array())
	case 16:
		fmt.Fprintf(&g.b, "{ const [x, , y = %s, ...z] = %s; const { length, [%s]: k, ...o } = %s; log(show([x, y, z, length, k, o])); }\n", g.any(), g.array(), g.text(), g.array())
	case 17:
		label := g.fresh("l")
		fmt.Fprintf(&g.b, "%s: for (const x of %s) { for (const y of %s) { burn(); if (x === y) continue %s; if (show(y).length > 3) break %s; log(show([x, y])) } }\n", label, g.array(), g.array(), label, label)
	case 18:
		fmt.Fprintf(&g.b, "log(show(await Promise.all([%s, (async () => { await 0; return %s })(), Promise.reject(%s).catch((e) => [e])])));\n", g.any(), g.any(), g.any())
	case 20:
		// Loops that are left in every way, through finally clauses that wait.
		name := g.fresh("f")
		fmt.Fprintf(&g.b, "const %s = async (xs) => { const seen = []; out: for (const x of xs) { for (const y of [1, 2]) { burn(); try { %s seen.push(y); await 0; %s } %s finally { seen.push('f'); %s } } } return seen };\n",
			name, g.leave(), g.leave(), g.one("", "catch (e) { seen.push(e.name); }", "catch { "+g.leave()+" }"), g.one("", "await 0;", g.leave()))
		fmt.Fprintf(&g.b, "try { log(show(await %s(%s))) } catch (e) { log(show(e)) }\n", name, g.array())
	case 21:
		fmt.Fprintf(&g.b, "{ const fs = []; for (let i = 0; i < 3; i++) { const j = i * 2; fs.push(() => [i++, j]); %s } log(show(fs.map((f) => [f(), f()]))); }\n", g.one("", "if (i === 1) continue;", "i += fuel % 2;"))
	case 22:
		fmt.Fprintf(&g.b, "{ const o = { _v: %s, get v() { return this._v }, set v(x) { this._v = [x] }, [%s]: %s, m() { return () => this.v } }; o.v %s %s; log(show([o, o.m()(), { ...o, z: 1 }, delete o._v, o.v])); }\n",
			g.number(), g.text(), g.any(), g.one("=", "+=", "??=", "||="), g.any())
	case 23:
		fmt.Fprintf(&g.b, "{ const o = %s; log(show([o?.a, o?.b?.[0], o?.b?.at?.(0), o?.nope?.x.y.z, o?.['a'] ?? %s])); }\n", g.one("null", "undefined", "{ a: 1, b: [2] }", "{ b: null }", "'text'"), g.any())
	case 24:
		fmt.Fprintf(&g.b, "{ const tag = (s, ...v) => [s.raw.join('|'), s.length, ...v]; log(show(tag`a${%s}\\n${%s}`)); }\n", g.any(), g.any())
	case 25:
		fmt.Fprintf(&g.b, "{ const m = new Map(%s.map((x, i) => [show(x), i])); m.set('k', %s); for (const [k, v] of m) { log(show([k, v])); if (k === 'k') m.delete(k) } log(show([m.size, [...m.keys()], new Set(%s).has(%s)])); }\n", g.array(), g.any(), g.array(), g.any2())
	case 26:
		fmt.Fprintf(&g.b, "log(show(%s.map(show).sort(%s)));\n", g.array(), g.one("", "(a, b) => a.length - b.length", "(a, b) => (a < b ? 1 : a > b ? -1 : 0)", "() => 0"))
	case 27:
		fmt.Fprintf(&g.b, "{ const f = (...a) => a.length + ':' + a.map(show); log(f(...%s, %s, ...%s)); log(show(Math.max(...%s.map((x) => +x || 0)))); log(show(Reflect.construct(Array, [...%s]))); }\n", g.array(), g.any(), g.text(), g.array(), g.array())
	case 28:
		// An iterator that is told when it is left.
		fmt.Fprintf(&g.b, "{ const it = { [Symbol.iterator]() { let i = 0; return { next: () => ({ value: i++, done: i > 4 }), return(v) { log('left'); return {} } } } }; const [a, b] = it; %s log(show([a, b, ...it])); }\n",
			g.one("", "for (const x of it) { if (x === 1) break; }", "for (const x of it) { if (x === 1) continue; log(x); }", "try { for (const x of it) { if (x === 1) throw 1; } } catch (e) { log(e) }", "(() => { for (const x of it) return x })();"))
	case 29:
		fmt.Fprintf(&g.b, "{ function* inner() { try { const x = yield 1; log(show(x)); yield 2; return 'r' } finally { log('fin') } } function* outer() { const r = yield* inner(); log(show(r)); yield 3 } const it = outer(); log(show([it.next(), %s, it.next(), it.next()])); }\n",
			g.one("it.next("+g.any()+")", "it.return(7)", "(() => { try { return it.throw(new TypeError('x')) } catch (e) { return e.name } })()"))
	case 30:
		fmt.Fprintf(&g.b, "{ class S { static n = %s; static #c = 0; static { S.#c = 5 } static inc() { return S.#c++ } [%s + 'k'] = 1; static [Symbol.hasInstance](x) { return x === 1 } } log(show([S.inc(), S.inc(), S.n, new S(), 1 instanceof S])); }\n", g.any(), g.text())
	case 31:
		fmt.Fprintf(&g.b, "{ class B {}; const P = new Proxy(B, { get: (t, k, r) => Reflect.get(t, k, r) }); log(show([new P() instanceof P, new B() instanceof P, %s instanceof P, typeof P])); }\n", g.any())
	case 32:
		fmt.Fprintf(&g.b, "log(show([(%s).toFixed(%d), (%s).toString(), String(%s), Number(%s), parseInt(%s), (%s).toString(2).length > 0, JSON.parse(JSON.stringify([%s]))]));\n", g.number(), g.r.IntN(4), g.number(), g.any(), g.text(), g.text(), g.one("5", "255", "1e3"), g.any())
	case 33:
		fmt.Fprintf(&g.b, "{ const u = new %s(4); u.set([1, 2]); u[2] = %s; u[9] = 1; log(show([...u, ...u.subarray(1, 3), u.length, u.at(-1), [...u.map((x) => x * 2)]])); }\n", g.one("Uint8Array", "Int16Array", "Float64Array", "Uint8ClampedArray", "Int32Array"), g.number())
	case 34:
		fmt.Fprintf(&g.b, "{ const tries = []; for (let i = 0; i < 3; i++) { try { for await (const x of (async function* () { yield i; if (i < %d) throw new Error('again'); yield 'ok' })()) tries.push(x); break } catch (e) { tries.push(e.message) } finally { tries.push('f') } } log(show(tries)); }\n", g.r.IntN(4))
	case 35:
		fmt.Fprintf(&g.b, "{ const order = []; const p = (async () => { order.push(1); await %s; order.push(2); return %s })(); order.push(3); Promise.resolve().then(() => order.push(4)).finally(() => order.push(5)); order.push(show(await p)); await 0; await 0; log(show(order)); }\n", g.one("0", "null", "Promise.resolve()", "{ then(r) { order.push('t'); r() } }"), g.one("7", "Promise.resolve(8)", "undefined"))
	case 19:
		fmt.Fprintf(&g.b, "switch (%s) { case %s: log('a'); case %s: log('b'); break; default: log('c') }\n", g.any(), g.any(), g.any())
	}
}

// leave is a statement that may leave a loop, or nothing.
func (g *generator) leave() string {
	return g.one("", "", "if (x === y) break;", "if (fuel % 3 === 0) continue;", "if (fuel % 5 === 0) continue out;", "if (fuel % 7 === 0) break out;", "if (fuel % 4 === 0) return seen;", "if (fuel % 2 === 0) throw new TypeError('l');")
}

func (g *generator) any() string {
	switch g.r.IntN(8) {
	case 0, 1:
		return g.number()
	case 2, 3:
		return g.text()
	case 4:
		return g.array()
	case 5:
		return g.one("null", "undefined", "true", "false", "NaN", "10n ** 3n", "{}", "{ a: 1, b: [2] }", "[,1]", "-0")
	case 6:
		return fmt.Sprintf("(%s %s %s)", g.any2(), g.one("===", "==", "<", ">=", "&&", "||", "+", ","), g.any2())
	}
	if len(g.functions) > 0 {
		return fmt.Sprintf("%s(%d)", g.one(g.functions...), g.r.IntN(3))
	}
	return g.number()
}

// any2 is any that nests no further.
func (g *generator) any2() string {
	switch g.r.IntN(3) {
	case 0:
		return g.text()
	case 1:
		return g.one("null", "undefined", "true", "0", "''", "'5'", "[]")
	}
	return g.number()
}

func (g *generator) number() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 5 || g.r.IntN(2) == 0 {
		if len(g.numbers) > 0 && g.r.IntN(2) == 0 {
			return g.one(g.numbers...)
		}
		return g.one("0", "1", "2", "3", "-1", "0.5", "1e3", "7", "100", "1.1", "-2.5")
	}
	switch g.r.IntN(5) {
	case 0:
		return fmt.Sprintf("(%s) ** %s", g.number(), g.one("2", "0.5", "0")) // other powers of node are not always the nearest number
	case 1:
		return fmt.Sprintf("%s.length", g.one(append(g.texts, "'text'", "[1, 2]")...))
	case 2:
		return fmt.Sprintf("Math.%s(%s)", g.one("round", "floor", "abs", "sign", "trunc", "max", "sqrt"), g.number())
	case 3:
		return fmt.Sprintf("[%s, %s].reduce((a, b) => a + b, 0)", g.number(), g.number())
	}
	return fmt.Sprintf("(%s %s %s)", g.number(), g.one("+", "-", "*", "/", "%", "&", "|", "^", ">>", ">>>"), g.number())
}

func (g *generator) text() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 5 || g.r.IntN(2) == 0 {
		if len(g.texts) > 0 && g.r.IntN(2) == 0 {
			return g.one(g.texts...)
		}
		return g.one("''", "'a'", "'abc'", "'Über'", "'a1b22c'", "'line\\nline'", "'x y z'", "'😀!'", "'É'")
	}
	switch g.r.IntN(5) {
	case 0:
		return "`" + g.one("", "t:") + "${" + g.any2() + "}${" + g.number() + "}`"
	case 1:
		return fmt.Sprintf("(%s + %s)", g.text(), g.any2())
	case 2:
		return fmt.Sprintf("%s.%s", g.one("'abc'", "'Über'", "'a,b'"), g.one("toUpperCase()", "slice(1)", "padStart(5, '-')", "split('').reverse().join('')", "repeat(2)", "at(-1)"))
	case 3:
		return fmt.Sprintf("String(%s)", g.number())
	}
	return fmt.Sprintf("%s.join(%s)", g.array(), g.one("'-'", "''"))
}

func (g *generator) array() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 5 || g.r.IntN(3) == 0 {
		if len(g.arrays) > 0 && g.r.IntN(3) > 0 {
			return g.one(g.arrays...)
		}
		return g.one("[]", "[1]", "[1, 2, 3]", "['a', 'b']", "[0, 'x', null]", "[[1], [2]]", "[3, 1, 2]")
	}
	switch g.r.IntN(6) {
	case 0:
		return fmt.Sprintf("[...%s, %s]", g.array(), g.any2())
	case 1:
		return fmt.Sprintf("[%s, ...%s, ...%s]", g.any2(), g.array(), g.text())
	case 2:
		return fmt.Sprintf("%s.map((x, i) => %s)", g.array(), g.one("x", "i", "[x]", "x + 1", "i ** 2", "typeof x"))
	case 3:
		return fmt.Sprintf("%s.%s", g.array(), g.one("slice(1)", "concat([9])", "toReversed()", "flat()", "filter((x) => x)", "toSorted()", "splice(0, 1)", "with(-1, 8).slice()")+".slice()")
	case 4:
		return fmt.Sprintf("Object.%s({ a: %s, b: %s })", g.one("keys", "values", "entries"), g.number(), g.text())
	}
	return fmt.Sprintf("[...new Set(%s)]", g.array())
}

func (g *generator) regexp() string {
	return g.one(`/a(b)?/`, `/\d+/`, `/\p{L}/u`, `/^./`, `/(?<x>[a-c])/`, `/\b\w/`, `/$/m`, `/[^a-z]/i`, `/(?:)/`, `/./su`, `/(.)\1?/`) + g.one("", "g")
}

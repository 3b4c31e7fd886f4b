package engine

import (
	"testing"
	"time"

	"github.com/dop251/goja"
)

func TestAnOverflowCanBeCaught(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"in a statement", "let d = 0; function down() { d++; return down() + 1 }\nlet n = 'none'; try { down() } catch (e) { n = [e.name, e.message, e instanceof RangeError] }\nreturn [n, d > 500, [1, 2].map(x => x + 1)]", `[["RangeError","Maximum call stack size exceeded",true],true,[2,3]]`},
		{"returned", "const f = n => f(n + 1); const t = g => { try { return g(0) } catch (e) { return e.name } }; return [t(f), t(x => x), t(() => undefined)]", `["RangeError",0,null]`},
		{"returned from a loop", "function f() { f() } function g(xs) { try { for (const x of xs) { if (x === 2) return 'two'; if (x === 3) f() } return } catch (e) { return e.name } finally { xs.push(0) } } return [g([1, 2]), g([3]), g([]) === undefined]", `["two","RangeError",true]`},
		{"beside an await", "function f() { f() } let r = []; try { await 0; const x = 1; f(); r.push('no') } catch (e) { r.push(e.name) } return r", `["RangeError"]`},
		{"in a method", "class A { m() { return this.m() } } try { new A().m() } catch { return 'caught' }", `"caught"`},
		{"by turns", "const a = () => b(), b = () => a(); try { a() } catch (e) { return e.name }", `"RangeError"`},
		{"through built-ins", "function f(x) { return [x].map(f)[0] } try { f(1) } catch (e) { return e.name }", `"RangeError"`},
		{"this and arguments", "class A { constructor() { this.v = 1 } f(n) { try { return [this.v, arguments.length, n ? this.f(0) : 0] } catch (e) { return e } } } return new A().f(1)", `[1,1,[1,1,0]]`},
		{"break and continue", "function f(n) { return n && f(n - 1) } const r = []; for (const x of [1, 2, 3]) { try { if (x === 1) continue; if (x === 3) break; f(3); r.push(x) } catch {} } return r", `[2]`},
		{"declarations", "function f(n) { return n && f(n - 1) } try { var v = f(2); function g() { return 5 } let l = g(); f(l) } catch {} return v", `0`},
		{"generators", "function f(n) { return n && f(n - 1) } function* g() { try { yield 1; f(1); yield 2 } catch {} } return [...g()]", `[1,2]`},
		{"errors pass", "function f(n) { if (!n) throw new TypeError('t'); return f(n - 1) } try { f(3) } catch (e) { return [e.name, e.message] }", `["TypeError","t"]`},
		{"again and again", "function f() { f() } let n = 0; for (let i = 0; i < 5; i++) try { f() } catch { n++ } return n", `5`},
		{"through conversions", "const a = { toString() { return '' + b } }, b = { toString() { return `${a}` } }, c = { toJSON() { return JSON.parse(JSON.stringify(c)) } }; const r = []; for (const f of [() => String(a), () => JSON.stringify(c)]) try { f() } catch (e) { r.push(e.name) } return r", `["RangeError","RangeError"]`},
		{"super", "class A { f(n) { return n && this.f(n - 1) } } class B extends A { constructor() { try { super(); this.x = super.f(2) } catch (e) { this.x = e.name } } } return new B().x", `0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := testValue(t, c.text); got != c.want {
				t.Errorf("%s = %s, want %s", c.text, got, c.want)
			}
		})
	}
}

func TestTheStackOfAnOverflow(t *testing.T) {
	t.Parallel()
	if got, want := testValue(t, "function f() {\n  f()\n}\ntry { f() } catch (e) { return e.stack.split('\\n').slice(0, 2) }"), `["RangeError: Maximum call stack size exceeded","    at f (exec:2:3)"]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// deep are the ways in which calls nest through what the language itself does.
var deep = []struct{ name, setup, overflow string }{
	{"calls", "const f = () => f()", "f"},
	{"map", "const f = () => [1].map(f)", "f"},
	{"sort", "const f = () => { [2, 1].sort(f); return 0 }", "f"},
	{"toSorted", "const f = () => { [2, 1].toSorted(f); return 0 }", "f"},
	{"flatMap", "const f = () => [1].flatMap(f)", "f"},
	{"replace", "const f = () => 'a'.replace(/a/, f)", "f"},
	{"replaceAll", "const f = () => 'a'.replaceAll('a', f)", "f"},
	{"JSON", "const o = { toJSON() { return JSON.stringify(o) } }", "() => JSON.stringify(o)"},
	{"a reviver", "const f = () => JSON.parse('[1]', f)", "f"},
	{"adding", "const o = { toString() { return '' + o } }", "() => '' + o"},
	{"a template", "const o = { toString() { return `${o}` } }", "() => `${o}`"},
	{"a number", "const o = { valueOf() { return +o } }", "() => o < 1"},
	{"getters", "const o = { get x() { return o.x } }", "() => o.x"},
	{"setters", "const o = { set x(v) { o.x = v } }", "() => { o.x = 1 }"},
	{"proxies", "const p = new Proxy({}, { get: (t, k, r) => r[k], has: (t, k) => k in p })", "() => p.x + ('x' in p)"},
	{"iterators", "const o = { [Symbol.iterator]() { return [...o][Symbol.iterator]() } }", "() => [...o]"},
	{"loops", "const o = { [Symbol.iterator]() { for (const x of o) return x } }", "() => { for (const x of o); }"},
	{"generators", "function* g() { yield* g() }", "() => [...g()]"},
	{"constructors", "class A { constructor() { new A() } }", "() => new A()"},
	{"fields", "class A { x = new A() }", "() => new A()"},
	{"call", "function f() { return f.call(1) }", "f"},
	{"apply", "function f() { return Reflect.apply(f, 1, []) }", "f"},
	{"bind", "function f() { return f.bind(1)() }", "f"},
	{"eval", "globalThis.f = () => eval('f()')", "f"},
	{"Function", "globalThis.f = new Function('return f()')", "f"},
	{"instanceof", "const o = { [Symbol.hasInstance]: () => 1 instanceof o }", "() => 1 instanceof o"},
	{"async functions", "const f = async () => f()", "() => { f().catch(() => {}); throw new RangeError('Maximum call stack size exceeded') }"},
}

// TestEveryOverflowCanBeCaught overflows at each of some neighbouring depths, because what
// goja is doing just then differs, and looks whether the engine goes on as if nothing was:
// at once and in a promise job.
func TestEveryOverflowCanBeCaught(t *testing.T) {
	t.Parallel()
	for _, d := range deep {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			text := d.setup + ";\n const overflow = " + d.overflow + `;
				const from = (n, f) => n ? from(n - 1, f) : f();
				function fine(x = 1) { const y = () => x + arguments.length; return [y(), [...(function* () { yield x })()].length, (new class { z = () => this }).z() !== this].join() }
				const all = [];
				const round = (depths) => {
					for (let n = 0; n < depths; n++) {
						let cleaned = 0, caught;
						try { try { from(n, overflow) } finally { cleaned++ } } catch (e) { caught = e }
						all.push([caught?.name, caught?.message, cleaned, fine()].join(" "));
					}
				};
				round(5); await null; round(1); await new Promise((r) => Promise.resolve().then(() => { round(1); r() }));
				return [all.length, [...new Set(all)]]`
			if got, want := testValue(t, text), `[7,["RangeError Maximum call stack size exceeded 1 1,1,true"]]`; got != want {
				t.Errorf("%s\n = %s, want %s", text, got, want)
			}
		})
	}
}

func TestAnOverflowRejects(t *testing.T) {
	t.Parallel()
	const text = `const f = () => f();
		const g = async () => { await null; return f() };
		const h = async (n) => n ? h(n - 1) : g();
		return Promise.all([g(), h(5), Promise.resolve().then(f), new Promise(f)].map((p) => p.catch((e) => e.name)))`
	if got, want := testValue(t, text), `["RangeError","RangeError","RangeError","RangeError"]`; got != want {
		t.Errorf("= %s, want %s", got, want)
	}
}

// TestOverflowsAreQuick overflows through native functions, where goja takes seconds by itself.
func TestOverflowsAreQuick(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	if got := testValue(t, "const f = () => [1].map(f); let n = 0; for (let i = 0; i < 20; i++) try { f() } catch { n++ } return n"); got != "20" {
		t.Errorf("%s overflows were caught", got)
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("twenty overflows take %s", took)
	}
}

// TestMachineLayout looks into a machine of goja's while it runs.
func TestMachineLayout(t *testing.T) {
	t.Parallel()
	l := machine()
	if !l.known {
		t.Fatal("goja has changed: an overflow of the stack ends the run")
	}
	sample := goja.New()
	var deep, waiting, tries []int
	must(sample.Set("look", func() {
		deep, waiting = append(deep, l.depth(sample)), append(waiting, len(*l.queue(sample)))
		tries = append(tries, (*anyList)(l.inside(sample, l.tries)).len)
	}))
	_, err := sample.RunString("look(); Promise.resolve().then(() => {}); (function f(n) { if (n) f(n - 1); else try { look() } finally {} })(3)")
	if err != nil || deep[1]-deep[0] != 4 || waiting[0] != 0 || waiting[1] != 1 || tries[1]-tries[0] != 1 {
		t.Errorf("the calls nest %v deep, %v jobs wait, %v catch: %v", deep, waiting, tries, err)
	}
	if l.depth(sample) != 0 || len(*l.queue(sample)) != 0 {
		t.Errorf("afterwards %d and %d", l.depth(sample), len(*l.queue(sample)))
	}
}

package engine

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

func TestAdditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"Object.groupBy", "return Object.groupBy([1, 2, 3], x => x % 2 ? 'odd' : 'even')", `{"odd":[1,3],"even":[2]}`},
		{"Object.groupBy has no prototype", "const g = Object.groupBy(['a', 'b'], (x, i) => i ? '__proto__' : 'toString'); return [Object.getPrototypeOf(g), Object.keys(g)]", `[null,["toString","__proto__"]]`},
		{"Object.groupBy by symbol", "const s = Symbol(); return Object.groupBy('ab', () => s)[s]", `["a","b"]`},
		{"Map.groupBy", "return [...Map.groupBy([1, 2, 3], x => x % 2)]", `[[1,[1,3]],[0,[2]]]`},
		{"getOrInsert", "const m = new Map([['a', 1]]); return [m.getOrInsert('a', 2), m.getOrInsert('b', 3), m.getOrInsertComputed('c', k => k + '!'), m.size]", `[1,3,"c!",3]`},
		{"getOrInsert of WeakMap", "const k = {}; return new WeakMap().getOrInsert(k, 7)", `7`},
		{"Promise.withResolvers", "const { promise, resolve } = Promise.withResolvers(); resolve(4); return promise", `4`},
		{"Promise.try", "return [await Promise.try((a, b) => a + b, 1, 2), await Promise.try(() => { throw new Error('x') }).catch(e => e.message)]", `[3,"x"]`},
		{"Promise.any", "const e = await Promise.any([Promise.reject(1), Promise.reject(2)]).catch(e => e); return [await Promise.any([Promise.reject(1), 2]), e.message, e.errors, e instanceof AggregateError, (await Promise.any([]).catch(e => e)).errors, await Promise.any(5).catch(e => e.name)]", `[2,"All promises were rejected",[1,2],true,[],"TypeError"]`},
		{"exact functions", "return [Math.sin(2), Math.cos(1), Math.tan(1), Math.pow(1.05, 10), Math.cbrt(0.5), Math.log10(3), Math.sinh(1), Math.atan2(3, 1000), Math.pow.length, Math.sin.name, Object.keys(Math).length, Math.sin('1') === Math.sin(1)]", `[0.9092974268256817,0.5403023058681398,1.5574077246549023,1.628894626777442,0.7937005259840998,0.47712125471966244,1.1752011936438014,0.0029999910000485996,2,"sin",0,true]`},
		{"Promise.try of a subclass", "class P extends Promise {}; return P.try(() => 1) instanceof P", `true`},
		{"Array.fromAsync", "async function* g() { yield 1; yield 2 }; return [await Array.fromAsync(g()), await Array.fromAsync([Promise.resolve(1), 2], x => x * 10), await Array.fromAsync({ length: 2, 0: 'a', 1: Promise.resolve('b') })]", `[[1,2],[10,20],["a","b"]]`},
		{"Array.fromAsync closes", "let closed = false; const it = { [Symbol.iterator]() { return { next: () => ({ value: 1, done: false }), return() { closed = true; return {} } } } }; const e = await Array.fromAsync(it, () => { throw 'no' }).catch(e => e); return [e, closed]", `["no",true]`},
		{"iterator helpers", "function* n() { let i = 0; for (;;) yield i++ }; return n().filter(x => x % 2).map(x => x * x).drop(1).take(3).toArray()", `[9,25,49]`},
		{"flatMap", "return [1, 2].values().flatMap(x => [x, [x]]).toArray()", `[1,[1],2,[2]]`},
		{"flatMap takes no strings", "try { [1].values().flatMap(() => 'ab').toArray() } catch (e) { return e.name }", `"TypeError"`},
		{"reduce, some, every, find", "const it = () => [1, 2, 3].values(); return [it().reduce((a, b) => a + b), it().reduce((a, b) => a + b, 10), it().some(x => x > 2), it().every(x => x > 2), it().find(x => x > 1), it().find(x => x > 5) === undefined]", `[6,16,true,false,2,true]`},
		{"forEach", "const seen = []; new Set(['a', 'b']).values().forEach((x, i) => seen.push(x + i)); return seen", `["a0","b1"]`},
		{"take closes at its end", "let closed = 0; const g = (function* () { try { yield 1; yield 2 } finally { closed++ } })(); const a = g.take(1).toArray(); return [a, closed]", `[[1],1]`},
		{"return closes what is below", "let closed = 0; const g = (function* () { try { yield 1; yield 2 } finally { closed++ } })(); const m = g.map(x => x); m.next(); m.return(); return [closed, m.next().done]", `[1,true]`},
		{"a helper is no generator that runs twice", "let h; h = [1].values().map(() => h.next()); try { h.next() } catch (e) { return e.message }", `"Generator is already running"`},
		{"negative limits", "return [NaN, -1].map(n => { try { [].values().take(n) } catch (e) { return e.name } })", `["RangeError","RangeError"]`},
		{"Iterator.from", "return [Iterator.from('ab').toArray(), Iterator.from({ next: () => ({ done: true }) }).toArray(), Iterator.from([1].values()) instanceof Iterator]", `[["a","b"],[],true]`},
		{"Iterator.concat", "return [...Iterator.concat([1, 2], new Set([3]), ['x'])]", `[1,2,3,"x"]`},
		{"class of iterators", "class I extends Iterator { #n = 0; next() { return { value: this.#n, done: this.#n++ > 2 } } }; return [new I().map(x => x * 2).toArray(), new I()[Symbol.toStringTag], (() => { try { new Iterator() } catch (e) { return e.name } })()]", `[[0,2,4],"Iterator","TypeError"]`},
		{"names and lengths", "const p = Iterator.prototype; return [p.map.name, p.map.length, p.reduce.length, Iterator.from.length, Object.groupBy.length, Promise.try.length, Array.fromAsync.length, Object.keys(p)]", `["map",1,1,1,2,1,1,[]]`},
		{"WeakRef", "const o = { v: 1 }; const r = new WeakRef(o); return [r.deref().v, Object.prototype.toString.call(r), (() => { try { new WeakRef(1) } catch (e) { return e.name } })()]", `[1,"[object WeakRef]","TypeError"]`},
		{"FinalizationRegistry", "const f = new FinalizationRegistry(() => {}); const o = {}, t = {}; f.register(o, 1, t); return [f.unregister(t), f.unregister(t)]", `[true,false]`},
		{"symbols as weak keys", "const s = Symbol('k'), w = new WeakMap([[s, 1]]); const set = new WeakSet([s]); return [w.get(s), w.has(s), w.delete(s), w.has(s), set.has(s), (() => { try { set.add(Symbol.for('x')) } catch (e) { return e.name } })(), w.get(1) === undefined]", `[1,true,true,false,true,"TypeError",true]`},
		{"DisposableStack", "const log = []; { using s = new DisposableStack(); s.defer(() => log.push('defer')); s.adopt(5, v => log.push('adopt' + v)); s.use({ [Symbol.dispose]() { log.push('use') } }) }\nreturn log", `["use","adopt5","defer"]`},
		{"DisposableStack moves", "const s = new DisposableStack(); let n = 0; s.defer(() => n++); const t = s.move(); s.dispose(); const before = n; t[Symbol.dispose](); return [before, n, s.disposed, t.disposed, (() => { try { t.defer(() => 1) } catch (e) { return e.name } })()]", `[0,1,true,true,"ReferenceError"]`},
		{"SuppressedError", "const s = new DisposableStack(); s.defer(() => { throw 1 }); s.defer(() => { throw 2 }); try { s.dispose() } catch (e) { return [e instanceof SuppressedError, e instanceof Error, e.name, e.error, e.suppressed] }", `[true,true,"SuppressedError",1,2]`},
		{"AsyncDisposableStack", "const log = []; { await using s = new AsyncDisposableStack(); s.use({ async [Symbol.asyncDispose]() { log.push('a') } }); s.use({ [Symbol.dispose]() { log.push('b') } }) }\nreturn log", `["b","a"]`},
		{"Error.captureStackTrace", "const o = {}; function make() { Error.captureStackTrace(o, make) }; function outer() { make() }; outer(); return [o.stack.split('\\n')[0], /make/.test(o.stack), /outer/.test(o.stack), typeof Error.stackTraceLimit, Object.keys(o)]", `["Error",false,true,"number",[]]`},
		{"Error.prepareStackTrace", "Error.prepareStackTrace = (e, calls) => calls.map(c => [c.getFunctionName(), c.getLineNumber(), c.getColumnNumber(), c.isNative(), new Error('x').message, typeof e.stack].join()); function inner() { return new Error('m').stack }\nconst made = inner(), o = {}; Error.captureStackTrace(o); Error.prepareStackTrace = undefined; return [made, o.stack, typeof new Error('x').stack]", `[["inner,1,207,false,x,string",",2,14,false,x,string"],[",2,37,false,x,string"],"string"]`},
		{"arguments of proxies of functions", "const kept = [], f = new Proxy(function () {}, { apply(t, self, args) { kept.push(args); args.push(`more`, `more`); return args.length }, construct(t, args) { kept.push(args); return { args } } }); const n = [f(1, 2), new f(3).args[0], f(...[4, 5]), f.call(null, 6), [7].map((x) => f(x))[0]]; return [n, kept]", `[[4,3,4,3,3],[[1,2,"more","more"],[3],[4,5,"more","more"],[6,"more","more"],[7,"more","more"]]]`},
		{"handlers of proxies of functions", "class H { #n = 0; apply() { return ++this.#n } get(t, key) { return key + this.#n } }; const h = new H(), f = new Proxy(() => 0, h); const l = [f(), f.x, f()]; h.apply = () => `new`; l.push(f()); h.apply = undefined; l.push(f()); const { proxy, revoke } = Proxy.revocable(() => 0, { apply: (t, self, args) => args }); l.push(proxy(1)); revoke(); try { proxy() } catch (e) { l.push(e.name) } return [...l, Proxy.length, Proxy.name, (() => { try { Proxy({}, {}) } catch (e) { return e.name } })()]", `[1,"x1",2,"new",0,[1],"TypeError",2,"Proxy","TypeError"]`},
		{"isWellFormed", "return ['a'.isWellFormed(), '\\ud800'.isWellFormed(), 'a\\ud800b\\udc00'.toWellFormed(), '😀'.toWellFormed(), '\\ufffd'.isWellFormed()]", `[true,false,"a�b�","😀",true]`},
		{"Math.sumPrecise", "return [Math.sumPrecise([1e20, 0.1, -1e20]), Math.sumPrecise([1e308, 1e308, -1e308]), Math.sumPrecise([Infinity, -Infinity]), Object.is(Math.sumPrecise([]), -0), Object.is(Math.sumPrecise([1, -1]), 0)]", `[0.1,1e+308,null,true,true]`},
		{"float16", "return [Math.f16round(5.05), Math.f16round(65520) === Infinity, Math.f16round(2 ** -25), new DataView(new ArrayBuffer(2)).getFloat16(0), (() => { const d = new DataView(new ArrayBuffer(2)); d.setFloat16(0, 1.337); return d.getFloat16(0) })()]", `[5.05078125,true,0,0,1.3369140625]`},
		{"Float16Array", "const a = new Float16Array([1.337, 2, 3]); a[1] = 5.05; return [a[0], a.length, a.byteLength, [...a.map(x => x * 2)], a.BYTES_PER_ELEMENT, String(a.subarray(1)), a.includes(3), Object.prototype.toString.call(a), new Float16Array(a.buffer, 2, 1)[0], a instanceof Float16Array]", `[1.3369140625,3,6,[2.673828125,10.1015625,6],2,"5.05078125,3",true,"[object Float16Array]",5.05078125,true]`},
		{"typed array from a text", "return [...Uint8Array.from('123', x => x * 2), Uint8Array.from.length, ...Uint16Array.from([4]), (() => { try { Uint8Array.from(null) } catch (e) { return e.name } })()]", `[2,4,6,1,4,"TypeError"]`},
		{"older times", "const o = {}; o.__defineGetter__('x', () => 4); return [o.x, typeof o.__lookupGetter__('x'), new Date(2020, 1).getYear(), 'a'.anchor('\"')]", `[4,"function",120,"\u003ca name=\"\u0026quot;\"\u003ea\u003c/a\u003e"]`},
		{"transfer", "const b = new Uint8Array([1, 2, 3]).buffer; const t = b.transfer(2); return [b.detached, b.byteLength, [...new Uint8Array(t)], t.resizable, (() => { try { b.transfer() } catch (e) { return e.name } })()]", `[true,0,[1,2],false,"TypeError"]`},
		{"large integers as numbers", "class X extends Number {}; return [Number(2n ** 64n), new Number(-(2n ** 65n)).valueOf(), [5n, 2n ** 66n].map(Number), Number(Object(2n ** 64n)), Number(10n ** 400n) === Infinity, Number(2n ** 53n + 1n), Number('7'), Number(), new X(2n ** 64n) instanceof Number, (5).constructor === Number, Number.name, Number.MAX_SAFE_INTEGER]", `[18446744073709552000,-36893488147419103000,[5,73786976294838210000],18446744073709552000,true,9007199254740992,7,0,true,true,"Number",9007199254740991]`},
		{"native callbacks and elements that are not there", "class A extends Array {}; return [Array.from({ length: 2 }, Boolean), Array.from({ length: 1, 0: 4 }, Math.sqrt), [, 1].find(Boolean), [, 1].findIndex(Boolean), [1, ,].findLast(String) === undefined, [1, ,].findLastIndex(isNaN), A.from([3]) instanceof A, Array.from({ length: 2 }, (x, i) => i), Array.from.length, [].find.name]", `[[false,false],[2],1,1,true,1,true,[0,1],1,"find"]`},
		{"callbacks with a toString of their own", "const f = Object.assign(x => x > 1, { toString() { throw 1 } }), g = Object.setPrototypeOf(() => 1, null), p = new Proxy(f, { get() { throw 2 } }); return [[1, 2].find(f), [, 2].find(p), Array.from({ length: 2 }, g), Array.from(new Set([2]), p)]", `[2,2,[1,1],[true]]`},
		{"members that are no functions", "class X {} const r = /a/; r.exec = undefined; return [() => RegExp.prototype[Symbol.replace].call({}, 'a'), () => RegExp.prototype[Symbol.split].call({ constructor: { [Symbol.species]: X } }, 'abc'), () => 'abc'.replace(r), () => Object.prototype.toLocaleString.call(Object.create(null)), () => [{ toString: null }].toLocaleString(), () => 'a'.replace(/a/, () => { throw new Error('mine') })].map(f => { try { f() } catch (e) { return e.name + ': ' + e.message } })", `["TypeError: exec is not a function","TypeError: exec is not a function","TypeError: exec is not a function","TypeError: toString is not a function","TypeError: toString is not a function","Error: mine"]`},
		{"methods that are careful", "class R extends RegExp { exec(s) { return super.exec(s) } } return ['a1b2'.replace(new R('[0-9]', 'g'), x => x + '!'), 'a1b2'.split(/[0-9]/), 'ab'.replace(/b/u, '$&$&'), ({}).toLocaleString(), RegExp.prototype[Symbol.split].length, Object.keys(Object.prototype)]", `["a1!b2!",["a","b",""],"abb","[object Object]",2,[]]`},
		{"iterators without next", "const bad = { [Symbol.iterator]() { return [1] } }, any = await Promise.any(bad).catch(e => e.name); return [() => { if (any !== 'TypeError') return; throw new TypeError() }, () => { for (const x of bad); }, () => [...bad], () => Math.max(...bad), () => { const [x] = bad }, () => Math.sumPrecise(bad), () => Object.groupBy(bad, x => x), () => { for (const x of { [Symbol.iterator]() { return 5 } }); }].map(f => { try { f() } catch (e) { return e.name } })", `["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"]`},
		{"iterators without the classes of the language", "delete globalThis.Set; delete globalThis.Map; return [Object.keys(Object.groupBy([1, 2], x => x % 2)), Math.sumPrecise([1, 2])]", `[["0","1"],3]`},
		{"iterators of a script", "const log = []; class I { n = 0; constructor(m) { this.m = m } next() { return { done: this.n >= this.m, value: this.n++ } } return() { log.push('closed'); return {} } [Symbol.iterator]() { log.push('begun'); return this } }; for (const x of new I(3)) { for (const y of new I(2)) log.push(x + y); if (x) break } const [a, ...r] = new I(3); return [log, a, r, [...new I(2), ...[...new I(1)]], Math.max(...new I(2), ...new I(5))]", `[["begun","begun",0,1,"begun",1,2,"closed","begun","begun","begun","begun","begun"],0,[1,2],[0,1,0],4]`},
		{"found by a name made at run time", "const f = eval('Object')['group' + 'By']; return typeof f", `"function"`},
		{"found in a list of names", "return 'groupBy fromAsync'.split(' ').map((n, i) => typeof [Object, Array][i][n])", `["function","function"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := testValue(t, c.text)
			want := c.want
			if strings.ContainsRune(want, '\\') {
				want = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(want)
			}
			if got != want {
				t.Errorf("%s = %s, want %s", c.text, got, want)
			}
		})
	}
}

func TestAScriptPaysForNoAdditionThatItDoesNotMention(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"const a = [1].map(x => x); return a":                  false,
		"const o = { toString() { return `${1}` } }; return o": false,
		"return Object.groupBy([], x => x)":                    true,
		"return typeof Iterator":                               true,
		"const { groupBy } = Object; return groupBy":           true,
		"function* g() { yield 1 }":                            true,
		"return Object['groupBy']":                             true,
		"return `${'x'} groupBy`":                              true,
	} {
		p, report := Compile(Source{Name: "exec", Text: text}, nil)
		if report != nil {
			t.Fatal(report.Text())
		}
		if got := p.wants != 0; got != want {
			t.Errorf("%s wants additions: %v", text, got)
		}
	}
}

// TestFinalization needs a collection, which may take its time.
func TestFinalizationRegistryTellsOfWhatIsGone(t *testing.T) {
	t.Parallel()
	modules := append(testModules(), Module{Globals: []string{"gc"}, Make: func(rt *Runtime) *goja.Object {
		o := rt.VM().NewObject()
		_ = o.Set("gc", rt.Function("gc", func(goja.FunctionCall) goja.Value {
			runtime.GC()
			return nil
		}))
		return o
	}})
	const text = `
		let gone = [];
		const f = new FinalizationRegistry(v => gone.push(v));
		const refs = [];
		(() => { for (let i = 0; i < 100; i++) { const o = { i }; f.register(o, i); refs.push(new WeakRef(o)) } })();
		for (let i = 0; i < 200 && !gone.length; i++) { await new Promise(r => setTimeout(r, 2)); gc() }
		return [gone.length > 0, refs.some(r => r.deref() === undefined)];`
	p, report := Compile(Source{Name: "exec", Text: text}, modules)
	if report != nil {
		t.Fatal(report.Text())
	}
	o := New(Options{Modules: modules}).Run(t.Context(), p)
	if string(o.Value) != "[true,true]" {
		t.Errorf("value %s, report %v", o.Value, o.Report)
	}
}

func TestAWeakReferenceHoldsUntilTheCallbackIsOver(t *testing.T) {
	t.Parallel()
	rt := New(Options{})
	rt.keep(rt.vm.NewObject())
	rt.enter(func() { rt.keep(rt.vm.NewObject()) })
	if rt.kept != nil {
		t.Errorf("%d objects are kept after the callback", len(rt.kept))
	}
}

func TestHalves(t *testing.T) {
	t.Parallel()
	for bits := range 1 << 16 {
		f := fromHalf(uint16(bits))
		if math.IsNaN(f) {
			continue
		}
		if got := toHalf(f); got != uint16(bits) {
			t.Fatalf("%#x is %v is %#x", bits, f, got)
		}
	}
	for f, want := range map[float64]uint16{65504: 0x7BFF, 65519.9: 0x7BFF, 65520: 0x7C00, 0x1p-25: 0, 0x1.8p-25: 1, 1.00048828125: 0x3C00, 2049: 0x6800} {
		if got := toHalf(f); got != want {
			t.Errorf("toHalf(%v) = %#x, want %#x", f, got, want)
		}
	}
}

func BenchmarkAdditions(b *testing.B) {
	for _, a := range additions {
		word, _, _ := strings.Cut(a.words, " ")
		b.Run(word, func(b *testing.B) {
			rts := make([]*Runtime, b.N)
			for i := range rts {
				rts[i] = New(Options{})
				rts[i].kit()
			}
			b.ResetTimer()
			for _, rt := range rts {
				a.install(rt)
			}
		})
	}
	b.Run("all", func(b *testing.B) {
		for range b.N {
			rt := New(Options{})
			rt.add(1<<len(additions) - 1)
		}
	})
}

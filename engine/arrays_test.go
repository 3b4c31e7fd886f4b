package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dop251/goja"
)

func TestTheLayoutOfArraysIsKnown(t *testing.T) {
	t.Parallel()
	if !layout().known {
		t.Error("goja's arrays are not what they were: their methods are slow")
	}
}

func TestArrayMethods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"queue", "const q = []; let n = 0; for (let i = 0; i < 100; i++) { q.push(i, i); n += q.shift() } return [n, q.length, q[0], q.at(-1)]", `[2450,100,50,99]`},
		{"shift to nothing and on", "const a = [1]; const r = [a.shift(), a.shift(), a.length]; a.push(2); a[3] = 5; return [r, a, 1 in a]", `[[1,null,0],[2,null,null,5],false]`},
		{"unshift", "const a = []; for (let i = 0; i < 50; i++) a.unshift(i, -i); a.push('end'); return [a.slice(0, 4), a.length, a.at(-2), a.at(-1), a.unshift()]", `[[49,-49,48,-48],101,0,"end",101]`},
		{"both ends", "const a = [1]; for (let i = 0; i < 30; i++) { a.unshift(i); a.unshift('x'); a.shift(); a.push(i) } return [a.length, a.slice(0, 3), a.slice(-3)]", `[61,[29,28,27],[27,28,29]]`},
		{"writing beyond the end after a shift", "const a = [1, 2, 3]; a.shift(); a.length = 1; a[2] = 9; return [a, Object.keys(a)]", `[[2,null,9],["0","2"]]`},
		{"slice", "const a = [1, 2, 3, 4]; return [a.slice(), a.slice(1), a.slice(-2), a.slice(1, -1), a.slice(3, 1), a.slice(NaN, Infinity), a.slice('1', null)]", `[[1,2,3,4],[2,3,4],[3,4],[2,3],[],[1,2,3,4],[]]`},
		{"splice", "const a = [1, 2, 3, 4, 5]; return [a.splice(1, 2), a, a.splice(1, 0, 'x', 'y', 'z'), a.slice(), a.splice(-1), a.splice(0, 1, 'q'), a, a.splice(), a.splice(1, -5)]", `[[2,3],["q","x","y","z",4],[],[1,"x","y","z",4,5],[5],[1],["q","x","y","z",4],[],[]]`},
		{"concat", "return [[1].concat([2, [3]], 4, 'ab', [[5]]), [].concat(), [1].concat({ length: 1, 0: 'a', [Symbol.isConcatSpreadable]: true }), [, 1].concat([2])]", `[[1,2,[3],4,"ab",[5]],[],[1,"a"],[null,1,2]]`},
		{"flat", "return [[1, [2, [3, [4]]]].flat(), [1, [2, [3, [4]]]].flat(Infinity), [[1, , 2]].flat(), [1, [2]].flat(0), [[new Proxy([7], {})]].flat(2)]", `[[1,2,[3,[4]]],[1,2,3,4],[1,2],[1,[2]],[7]]`},
		{"flatMap", "return [[1, 2].flatMap(x => [x, [x]]), ['a b', 'c'].flatMap(s => s.split(' ')), [1].flatMap(function () { return this.v }, { v: 3 }), [3, 1].flatMap((x, i, a) => x === 3 ? (a.push(9), [i]) : x)]", `[[1,[1],2,[2]],["a","b","c"],[3],[0,1]]`},
		{"sort", "return [[3, 1, 2].sort((a, b) => a - b), [3, 1, 2].sort((x, y) => y - x), [10, 9, 1, undefined, 'b', 'a'].sort(), ['é', 'z', 'a'].sort(), [3, undefined, 1].sort((a, b) => b - a), [[2], [1]].sort()]", `[[1,2,3],[3,2,1],[1,10,9,"a","b",null],["a","z","é"],[3,1,null],[[1],[2]]]`},
		{"sort is stable", "const a = Array.from({ length: 100 }, (_, i) => ({ k: i % 3, i })); a.sort((x, y) => x.k - y.k); return a.every((x, i) => !i || a[i - 1].k < x.k || a[i - 1].k === x.k && a[i - 1].i < x.i)", `true`},
		{"sort by what is odd", "return [[1, 2, 3].sort(() => 0), [1, 2, 3].sort((a, b) => a < b), [1, 2, 3].sort(() => NaN), [2n, 1n].sort((a, b) => a < b ? -1 : 1).map(String), (() => { try { [1].sort(5) } catch (e) { return e.name } })()]", `[[1,2,3],[3,2,1],[1,2,3],["1","2"],"TypeError"]`},
		{"sort that changes the array", "const a = [3, 1, 2]; a.sort((x, y) => { a.length = 0; return x - y }); return a", `[1,2,3]`},
		{"sort that throws", "const a = [3, 1, 2]; try { a.sort(() => { throw new Error('no') }) } catch (e) { return [e.message, a] }", `["no",[3,1,2]]`},
		{"toSorted leaves it", "const a = [3, 1, 2]; return [a.toSorted(), a, a.toSorted((a, b) => b - a)]", `[[1,2,3],[3,1,2],[3,2,1]]`},
		{"frozen and sealed", "const t = f => { try { f(); return 'no error' } catch (e) { return e.name } }; const f = Object.freeze([1, 2]), s = Object.seal([1, 2]), p = Object.preventExtensions([1, 2]); return [t(() => f.push(1)), t(() => f.shift()), t(() => s.unshift(1)), t(() => p.push(1)), t(() => p.splice(0, 0, 1)), p.shift(), p.length, f.slice(1)]", `["TypeError","TypeError","TypeError","TypeError","TypeError",1,1,[2]]`},
		{"length that cannot be written", "const a = [1]; Object.defineProperty(a, 'length', { writable: false }); try { a.push(1) } catch (e) { return [e.name, a.length] }", `["TypeError",1]`},
		{"heirs", "class A extends Array { sum() { return this.reduce((a, b) => a + b, 0) } }; const a = A.from([1, 2, 3]); a.push(4); return [a.slice(1) instanceof A, a.slice(1).sum(), a.concat([5]).sum(), a.flatMap(x => [x, x]).sum(), a.splice(0, 2) instanceof A]", `[true,9,15,20,true]`},
		{"accessors and holes", "const a = [1, , 3]; Object.defineProperty(a, 1, { get: () => 2, configurable: true }); return [a.slice(), a.concat([4]), [1, , 3].slice(1), 0 in [, 1].slice()]", `[[1,2,3],[1,2,3,4],[null,3],false]`},
		{"others as receivers", "const o = { length: 2, 0: 'a', 1: 'b' }; Array.prototype.push.call(o, 'c'); return [o, Array.prototype.shift.call(o), Array.prototype.slice.call('abc', 1), Array.prototype.concat.call(1, 2).length]", `[{"0":"b","1":"c","length":2},"a",["b","c"],2]`},
		{"names", "const p = Array.prototype; return ['shift', 'push', 'slice', 'splice', 'sort', 'flatMap'].map(n => [p[n].name, p[n].length]).flat().join() + Object.keys(p)", `"shift,0,push,1,slice,2,splice,2,sort,1,flatMap,1"`},
		{"a length that is too large", "const a = []; a.length = 4294967295; try { a.push(1) } catch (e) { return e.name }", `"RangeError"`},
		{"what is slow in goja", "const a = Array.from({ length: 20000 }, (_, i) => i); let n = 0; while (a.length) n += a.shift(); for (let i = 0; i < 20000; i++) a.unshift(i); for (let i = 0; i < 2000; i++) a.splice(10, 0, i); return [n, a.length, Math.max(...a)]", `[199990000,22000,19999]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := testValue(t, c.text); got != c.want {
				t.Errorf("%s = %s, want %s", c.text, got, c.want)
			}
		})
	}
}

func TestIteration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"for of", "let s = 0; for (const x of [1, 2, 3]) s += x; return s", `6`},
		{"nested over one", "const a = [1, 2], r = []; for (const x of a) for (const y of a) r.push([x, y]); return r", `[[1,1],[1,2],[2,1],[2,2]]`},
		{"an array that grows and shrinks", "const a = [1, 2, 3], r = []; for (const x of a) { r.push(x); if (x === 1) a.push(4); if (x === 3) a.length = 3 } return r", `[1,2,3]`},
		{"holes and accessors", "const a = [1, , 3]; Object.defineProperty(a, 0, { get: () => 'g' }); const r = []; for (const x of a) r.push(x); return [r, [...a]]", `[["g",null,3],["g",null,3]]`},
		{"break and on", "const a = [1, 2, 3]; let r = []; for (const x of a) { if (x === 2) break; r.push(x) } for (const x of a) r.push(x); return r", `[1,1,2,3]`},
		{"throw", "const a = [1, 2]; try { for (const x of a) throw x } catch (e) {} let r = []; for (const x of a) for (const y of a) r.push(x * y); return r", `[1,2,2,4]`},
		{"return inside", "function f(a) { for (const x of a) for (const y of a) if (x + y === 3) return [x, y] } return [f([1, 2]), f([1, 2])]", `[[1,2],[1,2]]`},
		{"two generators at once", "function* g(a) { for (const x of a) yield x } const a = [1, 2, 3], p = g(a), q = g(a); return [p.next().value, q.next().value, p.next().value, p.return(9).value, q.next().value, q.next().value, q.next().done]", `[1,1,2,9,2,3,true]`},
		{"await inside", "const r = []; for (const x of [1, 2]) { await 0; for (const y of [3, 4]) { await 0; r.push(x * y) } } return r", `[3,4,6,8]`},
		{"destructuring", "const [a, , b = 5, ...c] = [1, 2, undefined, 4]; const [d] = 'xy', [[e]] = [[6]]; let f, g; [f, g] = [1, 2]; [f, g] = [g, f]; return [a, b, c, d, e, f, g]", `[1,5,[4],"x",6,2,1]`},
		{"spread", "const a = [1, 2], f = (...x) => x; return [[...a, 3, ...a], [...'ab', ...new Set(a)], f(0, ...a, ...new Map([[1, 2]])), new Array(...[3, 4]), [...[], , 1].length]", `[[1,2,3,1,2],["a","b",1,2],[0,1,2,[1,2]],[3,4],2]`},
		{"order in a literal", "const a = [1], r = []; const x = [...a, a.push(2), ...a]; function* g() { r.push('g'); yield 1 } const y = [...g(), r.push('h')]; return [x, y, r]", `[[1,2,1,2],[1,2],["g","h"]]`},
		{"an iterator of one's own", "const a = [1, 2]; a[Symbol.iterator] = function* () { yield 'own' }; return [[...a], Math.max(...[1, 2]), (([x]) => x)(a)]", `[["own"],2,"own"]`},
		{"what is no iterable", "const t = f => { try { f() } catch (e) { return e.name } }; return [t(() => [...5]), t(() => { for (const x of null); }), t(() => Math.max(...undefined)), t(() => { const [x] = {} })]", `["TypeError","TypeError","TypeError","TypeError"]`},
		{"a changed iterator", "const p = Object.getPrototypeOf([][Symbol.iterator]()), next = p.next; p.next = function () { const r = next.call(this); return r.done ? r : { value: r.value * 10, done: false } }; const r = [...[1, 2]]; p.next = next; return r", `[10,20]`},
		{"a long array", "const a = Array.from({ length: 120000 }, (_, i) => i); const b = []; b.push(...a); return [Math.max(...a), b.length, [...a, ...a].length]", `[119999,120000,240000]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := testValue(t, c.text); got != c.want {
				t.Errorf("%s = %s, want %s", c.text, got, c.want)
			}
		})
	}
}

func TestMergeSort(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		want := make([]int, n)
		values := make([]goja.Value, n)
		for i := range want {
			want[i] = r.IntN(n/2 + 1)
			values[i] = vm.ToValue(want[i])
		}
		slices.Sort(want)
		mergeSort(values, func(a, b goja.Value) bool { return a.ToInteger() <= b.ToInteger() })
		for i, v := range values {
			if int(v.ToInteger()) != want[i] {
				t.Fatalf("%d numbers: %v, want %v", n, values, want)
			}
		}
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"(a, b) => a - b": "true false", "(x,y)=>y-x": "true true", "function (a, b) { return a - b; }": "true false", "function cmp(a,b){return b-a}": "false false",
		"(a, b) => a.x - b.x": "false false", "(a, b) => a - b || 1": "false false", "(a, b) => b - b": "false false", "async (a, b) => a - b": "false false", "(a, b) => a --b": "false false", "(a2, b2) => b2 - a2": "true true",
	} {
		descending, ok := difference(source)
		if got := fmt.Sprint(ok, descending); got != want {
			t.Errorf("difference(%s) = %s, want %s", source, got, want)
		}
	}
}

func BenchmarkArrays(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"shift 20000", "const a = Array.from({ length: 20000 }, (_, i) => i); while (a.length) a.shift()"},
		{"push 20000", "const a = []; for (let i = 0; i < 20000; i++) a.push(i)"},
		{"sort 300000", "Array.from({ length: 300000 }, (_, i) => (i * 7919) % 300007).sort((a, b) => a - b)"},
		{"sort 300000 otherwise", "Array.from({ length: 300000 }, (_, i) => (i * 7919) % 300007).sort((a, b) => a < b ? -1 : 1)"},
		{"for of 20000", "const a = Array.from({ length: 20000 }, (_, i) => i); let n = 0; for (const x of a) n += x"},
		{"spread 100000", "const a = Array.from({ length: 100000 }); for (let i = 0; i < 10; i++) [...a]"},
	} {
		b.Run(c.name, func(b *testing.B) {
			run := testProgram(b, c.text)
			for b.Loop() {
				if o, _ := run(context.Background()); o.Report != nil {
					b.Fatal(o.Report.Text())
				}
			}
		})
	}
}

package engine

import (
	"testing"
	"time"
)

func TestLongTextsMatchByMatch(t *testing.T) {
	t.Parallel()
	const texts = "const A = 'ab1 e2 '.repeat(60), U = 'ab1 é2 '.repeat(60), E = 'a😀1 '.repeat(100); "
	for _, c := range []struct{ name, text, want string }{
		{"global", "const r = /([a-zé])(\\d)/g, out = []; for (let m; m = r.exec(U);) out.push(m.index, m[1] + m[2], r.lastIndex); return [out.length, out.slice(0, 6), out.slice(-3), r.lastIndex]", `[360,[1,"b1",3,4,"é2",6],[417,"é2",419],0]`},
		{"sticky", "const r = [/[a-zé]+/y, /\\d/y, / /y], out = []; for (let p = 0; p < U.length;) for (const x of r) { x.lastIndex = p; if (x.test(U)) { out.push(U.slice(p, p = x.lastIndex)); break } } return [out.length, out.join('') === U, out.slice(0, 6)]", `[360,true,["ab","1"," ","é","2"," "]]`},
		{"no match leaves the beginning", "const r = /é/y; r.lastIndex = 300; return [r.exec(U), r.lastIndex, r.test(U)]", `[null,0,false]`},
		{"what is before counts", "const r = /(?<=b)1\\b/y, g = /^a/g; r.lastIndex = 2; g.lastIndex = 7; return [r.exec(U).index, g.test(U)]", `[2,false]`},
		{"alternatives are anchored together", "const r = /x|b1|é/y; r.lastIndex = 0; const a = r.test(U); r.lastIndex = 4; return [a, r.test(U), r.lastIndex]", `[false,true,5]`},
		{"code points", "const r = /😀(?<n>\\d)/gu, out = []; for (let m; m = r.exec(E);) out.push(m.index, m.groups.n); const y = /./yu; y.lastIndex = 6; y.test(E); return [out.length, out.slice(0, 4), y.lastIndex, [...E.matchAll(/./gu)].length, [...E.matchAll(/./g)].length]", `[200,[1,"1",6,"1"],8,400,500]`},
		{"two texts in turn", "const r = /b/g; r.lastIndex = 8; const a = r.exec(A).index; const V = 'bb'.repeat(210); return [a, r.exec(V).index, r.exec(A).index, r.exec('b')]", `[8,9,15,null]`},
		{"lastIndex of any kind", "const r = /b/g; r.lastIndex = 8; let n = 0; r.test(A); r.lastIndex = { valueOf() { n++; return 8 } }; const a = r.exec(A).index; r.lastIndex = -5; const b = r.exec(A).index; r.lastIndex = 1e9; const c = r.test(A); r.lastIndex = 8; Object.freeze(r); let d; try { r.exec(A) } catch (e) { d = e.name } return [a, n, b, c, d]", `[8,1,1,false,"TypeError"]`},
		{"a class", "class X extends RegExp { exec(s) { const m = super.exec(s); if (m) m.more = 1; return m } } return [...U.matchAll(new X('b', 'g'))].map((m) => m.more + m.index).slice(0, 3)", `[2,9,16]`},
		{"other flags for one pattern", "const d = new RegExp('b1', 'd'), g = new RegExp('b1', 'g'), p = new RegExp('(?:)b1', 'g'); return [d.exec(U).indices[0], [...U.matchAll(g)].length, U.match(p).length, 'indices' in g.exec(U), d.flags, g.flags, p.source, new RegExp('', 'd').exec('').indices[0], 'indices' in new RegExp('', 'g').exec(''), U.match(new RegExp('', 'g')).length]", `[[1,3],60,60,false,"d","g","(?:)b1",[0,0],false,421]`},
		{"names of groups beyond ASCII", "const r = /(?<n>é)(?<m>\\d)?/u; return [r.exec('é1').groups.n, 'é1'.match(r).groups.m, 'é1'.replace(r, '$<m>$<n>'), [...'é1é'.matchAll(/(?<n>é)/gu)].map((m) => m.groups.n), 'é1é2'.replace(/(?<n>é)/gu, (...a) => a.at(-1).n + '!'), 'aéb'.split(/(?<n>é)/u)]", `["é","1","1é",["é","é"],"é!1é!2",["a","é","b"]]`},
		{"where groups are", "const r = /(\\d)/dg; let n = 0; for (let m; m = r.exec(U);) n += m.indices[1][0]; r.lastIndex = -1; return [n, r.exec(U).index]", `[25200,2]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := testValue(t, texts+c.text); got != c.want {
				t.Errorf("%s = %s, want %s", c.text, got, c.want)
			}
		})
	}
}

func TestThePartsOfRegularExpressionsAreKnown(t *testing.T) {
	t.Parallel()
	if !regexpParts().known {
		t.Error("goja's regular expressions are not what they were: going through a long text takes the square of its length")
	}
}

// Ten times the text takes less than thirty times as long. On a machine that does other things
// too it may take another look to see that: what takes a hundred times as long never does.
func TestMatchingGrowsWithTheText(t *testing.T) {
	took := func(text string, times string) time.Duration {
		least := time.Hour
		for range 3 {
			start := time.Now()
			testValue(t, "const s = 'ab1 é2 '.repeat("+times+"); let n = 0; "+text+"; return n")
			least = min(least, time.Since(start))
		}
		return least
	}
	for _, text := range []string{
		"for (const r = /[a-zé]\\d/g; r.exec(s);) n++",
		"for (const r = /(?<=[a-zé])\\d/dg; r.exec(s);) n++",
		"for (const m of s.matchAll(/(?<x>[a-zé])\\d/gu)) n += m.index",
		"const l = [/q/y, /\\d+/y, /[a-zé]+/y, / /y]; for (let p = 0; p < s.length;) for (const r of l) { r.lastIndex = p; if (r.test(s)) { p = r.lastIndex; n++; break } }",
	} {
		for look := 1; ; look++ {
			short, long := took(text, "800"), took(text, "8000")
			if long <= 30*short {
				break
			}
			if look == 10 {
				t.Errorf("%s: %s for a text, %s for one that is ten times as long", text, short, long)
				break
			}
		}
	}
}

func BenchmarkMatchByMatch(b *testing.B) {
	for name, text := range map[string]string{
		"exec":   "const r = /[a-zé]\\d/g; let n = 0; while (r.exec(s)) n++; return n",
		"sticky": "const l = [/\\d+/y, /[a-zé]+/y, / /y]; let n = 0; for (let p = 0; p < s.length;) for (const r of l) { r.lastIndex = p; if (r.test(s)) { p = r.lastIndex; n++; break } } return n",
	} {
		b.Run(name, func(b *testing.B) {
			run := testProgram(b, "const s = 'ab1 é2 '.repeat(4000); "+text)
			for b.Loop() {
				run(b.Context())
			}
		})
	}
}

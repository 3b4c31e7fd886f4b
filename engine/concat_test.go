package engine

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestTextGrows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"+=", "let s = ''; for (let i = 0; i < 5000; i++) s += 'ab'; return [s.length, s.slice(-3), s === 'ab'.repeat(5000)]", `[10000,"bab",true]`},
		{"s = s + a + b", "let s = ''; for (let i = 0; i < 3000; i++) s = s + i + ','; let w = []; for (let i = 0; i < 3000; i++) w.push(i + ','); return s === w.join('')", `true`},
		{"of a property", "const o = { out: '' }; class A { #t = ''; u = ''; add(x) { this.#t += x; this.u += x; return this.#t === this.u } }; const a = new A; let ok = true; for (let i = 0; i < 2000; i++) { o.out += 'é' + i; ok = a.add('xyz') && ok } return [ok, o.out.length, a.u.length]", `[true,8890,6000]`},
		{"in a function before", "function add(x) { out += x } let out = ''; for (let i = 0; i < 2000; i++) add('abc'); return out.length", `6000`},
		{"ASCII, then not", "let s = ''; for (let i = 0; i < 1000; i++) s += 'a'; for (let i = 0; i < 1000; i++) s += 'é'; s += '😀'; for (let i = 0; i < 1000; i++) s += 'b'; return [s.length, s.charCodeAt(2000), s.codePointAt(2000), s[2002], s.indexOf('b')]", `[3002,55357,128512,"b",2002]`},
		{"a template that begins with it", "let s = ''; for (let i = 0; i < 2000; i++) s = `${s}${i},`; let o = { toString: () => 'text', valueOf: () => 5 }; o = `${o}!`; let n = 5; n = `${n}${n}`; let y = Symbol(); try { y = `${y}x` } catch (e) { y = e.name } const p = { t: 'a' }; p.t = `${p.t}b`; return [s.length, s.slice(-5), o, n, y, p.t]", `[8890,"1999,","text!","55","TypeError","ab"]`},
		{"two of one", "let s = ''; for (let i = 0; i < 1000; i++) s += 'a'; let t = s, u = s; t += 'x'; u += 'y'; s += 'z'; t += '1'; return [s.slice(-2), t.slice(-3), u.slice(-2), s.length]", `["az","ax1","ay",1001]`},
		{"many side by side", "const o = {}; for (let i = 0; i < 10; i++) o[i] = ''; for (let n = 0; n < 1000; n++) for (let i = 0; i < 10; i++) o[i] += i + '-'; let ok = true; for (let i = 0; i < 10; i++) ok = ok && o[i] === (i + '-').repeat(1000); return ok", `true`},
		{"of anything", "let s = 'x'.repeat(600); s += 1; s += null; s += undefined; s += true; s += 1.5; s += 10n; s += { toString: () => 'o' }; s += [1, 2]; s += new Date(NaN); return s.slice(600)", `"1nullundefinedtrue1.510o1,2Invalid Date"`},
		{"no symbol", "let s = 'x'; try { s += Symbol() } catch (e) { return e.name }", `"TypeError"`},
		{"numbers after all", "let s = ''; s = 1; s += 2; return s", `3`},
		{"a value and its order", "let s = ''; const r = s += (s = 'q', 'b'); return [r, s]", `["b","b"]`},
		{"a getter is read once", "let n = 0; const o = { get s() { n++; return 'a' }, set s(v) { this.v = v } }; o.s += 'b'; return [n, o.v]", `[1,"ab"]`},
		{"surrogates", "let s = 'a'.repeat(600); s += '\\ud83d'; s += '\\ude00'; return [s.slice(600), s.length]", `["😀",602]`},
		{"of what may be anything", "let s = JSON.parse('\"\"'); for (let i = 0; i < 2000; i++) s += i; let n = JSON.parse('1'); n += JSON.parse('2'); let o = JSON.parse('[1]'); o += 'x'; return [s.length, n, o]", `[6890,3,"1x"]`},
		{"a function in what is added", "let s = JSON.parse('\"a\"'); s += (() => { const f = x => x + 'b'; return f('c') })(); return s", `"acb"`},
		{"constant", "try { (0, eval)('const s = \"a\"; s += \"b\"') } catch (e) { return e.name }", `"TypeError"`},
		{"a key", "let s = ''; for (let i = 0; i < 600; i++) s += 'k'; const o = { [s]: 1 }, m = new Map([[s, 2]]); return [o['k'.repeat(600)], m.get('k'.repeat(600)), 'k'.repeat(600) === s]", `[1,2,true]`},
		{"concat", "let s = ''; for (let i = 0; i < 2000; i++) s = s.concat('é', i, null); const u = s.concat('1'), v = s.concat('2'); let n; try { s.concat(Symbol()) } catch (e) { n = e.name } let m; try { ''.concat.call(null) } catch (e) { m = e.message } return [s.length, u.slice(-2), v.slice(-2), s.concat(s) === s + s, ''.concat.call(5, [6, 7]), n, m, ''.concat.length, ''.concat.name]", `[16890,"l1","l2",true,"56,7","TypeError","String.prototype.concat called on null or undefined",1,"concat"]`},
		{"reduce", "const l = Array(2000).fill('ab'); return [l.reduce((a, b) => a + b, '') === 'ab'.repeat(2000), l.reduce((a, b) => a + b).length, l.reduce((a, b) => a ? a + ',' + b : b, '') === l.join(), l.reduce(function (a, b) { if (a === 'q') { return a } else return `${a}${b}` }, '').length, [1, 2].reduce((a, b) => a + b), [1, 'x'].reduce((a, b) => a + b, 0), ['x', 2n, 'y'].reduceRight((a, b) => a + b), [[1], [2]].reduce((a, b) => a + b)]", `[true,4000,true,4000,3,"1x","y2x","12"]`},
		{"of what may be missing", "const o = {}, m = new Map, k = 'k'; for (let i = 0; i < 2000; i++) { o[k] = (o[k] ?? '') + i; m.set(k, (m.get(k) || '') + i + ';'); o.t = o.t ? o.t + i : '' + i; o['u'] ??= ''; o['u'] = o['u'] + i } let n = 0; const g = { get k() { n++; return 1 }, set k(v) { this.v = v } }; g.k = (g.k ?? '') + 2; return [o.k === o.t, o.u === o.k, m.get(k) === Array.from({ length: 2000 }, (_, i) => i + ';').join(''), o.k.length, n, g.v, (null ?? '') + 1n + 2]", `[true,true,true,6890,1,3,"12"]`},
		{"of text from outside", "let s = ''; for (let i = 0; i < 40; i++) s += await echo('a longer text than goja looks into, é? no. '); return [s.length, s.endsWith('no. ')]", `[1720,true]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := testValue(t, c.text); got != c.want {
				t.Errorf("%s = %s, want %s", c.text, got, c.want)
			}
		})
	}
}

// A buffer is no longer used when its text is gone: the next may be at the same place.
func TestBuffersKeepNoTextAlive(t *testing.T) {
	t.Parallel()
	var b buffers[byte]
	text := bytesOf(strings.Repeat("x", concatFrom))
	for range 10 * buffersMin {
		if got := b.extend(b.extend(text, []byte("ab")), []byte("c")); string(got[len(text):]) != "abc" {
			t.Fatalf("%s behind a text of x", got[len(text):])
		}
		runtime.GC()
		if len(b.byStart) > 2*buffersMin {
			t.Fatalf("%d buffers are known", len(b.byStart))
		}
	}
}

func TestManyTextsGrowSideBySide(t *testing.T) {
	t.Parallel()
	var b buffers[uint16]
	texts := make([][]uint16, 2*buffersMin)
	for i := range texts {
		texts[i] = b.extend(make([]uint16, concatFrom), []uint16{'a'})
	}
	for i, text := range texts {
		if longer := b.extend(text, []uint16{'b'}); &longer[0] != &text[0] || longer[concatFrom+1] != 'b' {
			t.Errorf("text %d was copied", i)
		}
		if other := b.extend(text, []uint16{'c'}); &other[0] == &text[0] {
			t.Errorf("text %d was overwritten", i)
		}
	}
}

func TestTheFormsOfStringsAreKnown(t *testing.T) {
	t.Parallel()
	if !forms().known {
		t.Error("goja's strings are not what they were: text grows by copying")
	}
}

func TestAStringHasAnEnd(t *testing.T) {
	t.Parallel()
	rt := New(Options{})
	ex := rt.vm.Try(func() { rt.concats.check(concatMax + 1) })
	if ex == nil || !strings.Contains(ex.Error(), "Invalid string length") {
		t.Errorf("%v", ex)
	}
}

func BenchmarkAppend(b *testing.B) {
	for name, text := range map[string]string{
		"40000":         "let s = ''; for (let i = 0; i < 40000; i++) s += '0123456789'; return s.length",
		"40000 unicode": "let s = ''; for (let i = 0; i < 40000; i++) s += 'é123456789'; return s.length",
		"numbers":       "let s = 0; for (let i = 0; i < 40000; i++) s += i; return s",
		"short":         "let n = 0; for (let i = 0; i < 40000; i++) { let s = ''; s += 'a'; n += s.length } return n",
	} {
		b.Run(name, func(b *testing.B) {
			run := testProgram(b, text)
			for b.Loop() {
				run(b.Context())
			}
		})
	}
}

// What is added is of little matter for how long it takes.
func TestTextGrowsByAnythingAlike(t *testing.T) {
	took := func(statement string) time.Duration {
		least := time.Hour
		for range 3 {
			start := time.Now()
			testValue(t, "let s = ''; for (let i = 0; i < 60000; i++) "+statement+"; return s.length")
			least = min(least, time.Since(start))
		}
		return least
	}
	for _, statement := range []string{
		"s += i", "s = s + i", "s = s + 'a' + i", "s = `${s}abcde`", "s = `${s}${i}:`",
		"s = s.concat('abcde')", "globalThis[s[-1] ?? 'k'] = s = (s ?? '') + 'abcde'", "s = s ? s + 'abcde' : 'abcde'",
		"; s = Array(60000).fill('abcde').reduce((a, b) => a + b)",
	} {
		for look := 1; ; look++ { // a machine that does other things too may need another
			limit, d := 20*took("s += 'abcde'"), took(statement)
			if d <= limit {
				break
			}
			if look == 10 {
				t.Errorf("%s 60,000 times took %s, want less than %s, which is twenty times what s += 'abcde' takes", statement, d, limit)
				break
			}
		}
	}
}

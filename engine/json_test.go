package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// roundTrip decodes text and encodes what came of it.
func roundTrip(t testing.TB, text string) (string, error) {
	t.Helper()
	rt := New(Options{})
	v, err := DecodeJSON(rt, []byte(text))
	if err != nil {
		return "", err
	}
	b, ok := EncodeJSON(rt, v, EncodeOptions{})
	if !ok {
		t.Fatalf("%s decodes to undefined", text)
	}
	return string(b), nil
}

func TestDecodeJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`null`, `null`},
		{` true `, `true`},
		{"\t\r\n[ ]", `[]`},
		{`{ }`, `{}`},
		{`{"b":1,"a":2,"b":3}`, `{"b":3,"a":2}`},
		{`{"2":1,"1":2,"x":3}`, `{"1":2,"2":1,"x":3}`},
		{`{"__proto__":{"a":1},"constructor":2,"toString":3}`, `{"__proto__":{"a":1},"constructor":2,"toString":3}`},
		{`[0,-0,1.0,1e2,-1.5e-7,123456789012345678,1e21,5e-324]`, `[0,0,1,100,-1.5e-7,123456789012345680,1e+21,5e-324]`},
		{`[9007199254740991,-9007199254740993]`, `[9007199254740991,-9007199254740992]`},
		{`[1e400,-1e400]`, `[null,null]`},
		{`"\u00e9\ud834\udd1e\\\"\/\b\f\n\r\t\u0001"`, `"é𝄞\\\"/\b\f\n\r\t\u0001"`},
		{`"\ud834"`, `"\ud834"`},
		{`"\udd1e\ud834x"`, `"\udd1e\ud834x"`},
		{`"é\ud834\u0041"`, `"é\ud834A"`},
		{`{"\ud834":1,"a":2}`, `{"\ud834":1,"a":2}`},
		{"\"\xff\"", "\"\ufffd\""},
		{"\"a\xc3\\n\"", "\"a\ufffd\\n\""},
		{`"` + strings.Repeat("long text ", 10) + `"`, `"` + strings.Repeat("long text ", 10) + `"`},
		{strings.Repeat("[", 5000) + strings.Repeat("]", 5000), strings.Repeat("[", 5000) + strings.Repeat("]", 5000)},
	} {
		if got, err := roundTrip(t, c.text); got != c.want || err != nil {
			t.Errorf("%.60s → %.60s, %v, want %.60s", c.text, got, err, c.want)
		}
	}
}

func TestDecodeJSONKeepsNegativeZeroAndInfinity(t *testing.T) {
	t.Parallel()
	rt := New(Options{})
	for text, want := range map[string]float64{"-0": math.Copysign(0, -1), "1e999": math.Inf(1), "-0.0": math.Copysign(0, -1)} {
		v, err := DecodeJSON(rt, []byte(text))
		if err != nil || v.ToFloat() != want || math.Signbit(v.ToFloat()) != math.Signbit(want) {
			t.Errorf("%s = %v, %v, want %v", text, v, err, want)
		}
	}
}

func TestDecodeJSONErrors(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/json-errors.txt") // each text, and what node says
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		var c [2]string
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		n++
		if v, err := DecodeJSON(New(Options{}), []byte(c[0])); err == nil || err.Error() != c[1] {
			t.Errorf("%.40q = %v, %v, want error %s", c[0], v, err, c[1])
		}
	}
	if n < 50 {
		t.Errorf("only %d texts", n)
	}
	const deep = "JSON is nested more than 10000 deep"
	if v, err := DecodeJSON(New(Options{}), []byte(strings.Repeat("[", 20000))); err == nil || err.Error() != deep {
		t.Errorf("20000 brackets = %v, %v, want error %s", v, err, deep)
	}
}

// stringify calls JSON.stringify and EncodeJSON on the value of an expression.
func stringify(t *testing.T, expression, indent string) (theirs, ours string) {
	t.Helper()
	rt := New(Options{})
	v, err := rt.VM().RunString("(" + expression + ")")
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	show := func(fn func() (string, bool)) (s string) {
		if ex := rt.VM().Try(func() {
			text, ok := fn()
			if s = text; !ok {
				s = "undefined"
			}
		}); ex != nil {
			return "throws " + ex.Value().String()
		}
		return s
	}
	theirs = show(func() (string, bool) {
		fn, _ := goja.AssertFunction(rt.VM().Get("JSON").(*goja.Object).Get("stringify"))
		r, err := fn(nil, v, goja.Null(), rt.VM().ToValue(indent))
		if err != nil {
			panic(err)
		}
		return r.String(), !goja.IsUndefined(r)
	})
	ours = show(func() (string, bool) {
		b, ok := EncodeJSON(rt, v, EncodeOptions{Indent: indent})
		return string(b), ok
	})
	return theirs, ours
}

func TestEncodeJSONIsStringify(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{
		`1`, `-0`, `1e21`, `0.1 + 0.2`, `NaN`, `-Infinity`, `1/3`, `2**53`, `123456789012345680000`, `5e-324`, `true`, `null`, `undefined`, `"a\"\\\u0007é\u2028𝄞"`,
		`Symbol("s")`, `() => 1`, `function f() {}`, `class A {}`,
		`[undefined, () => 1, Symbol(), null, , 1]`, `[]`, `{}`, `[[], {}]`,
		`{ a: undefined, b: () => 1, [Symbol()]: 1, c: 1 }`, `{ 2: "b", 1: "a", x: 0 }`,
		`new Date(0)`, `new Date(NaN)`, `new Map([[1, 2]])`, `new Set([1])`, `/x/g`, `new Error("x")`,
		`new Number(3)`, `new String("s")`, `new Boolean(false)`,
		`{ toJSON(k) { return { key: k } } }`, `{ a: { toJSON(k) { return k } }, b: [{ toJSON(k) { return typeof k + k } }] }`, `{ toJSON: 1 }`, `{ toJSON() { return undefined } }`,
		`{ get a() { return 1 } }`, `Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true }, hidden: { value: 2 } })`,
		`new Proxy([1, 2], {})`, `new Proxy({ a: 1 }, { ownKeys: () => ["b", "a"], get: (o, k) => k + "!", getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }) })`,
		`new Uint8Array([1, 2])`, `Object.assign([1], { x: 1 })`, `(() => { return arguments })`, `Object("s")`,
		`1n`, `{ a: 1n }`, `(() => { const a = []; a.push(a); return a })()`, `(() => { const o = {}; o.a = { o }; return o })()`, `{ get a() { throw new TypeError("got") } }`, `{ toJSON() { throw 5 } }`,
		`"\ud834"`, `"\ud834é"`, `"é\udd1e\ud834\udd1e"`, `{ "\ud834": "\ud834", b: 1 }`,
		`(() => { const shared = { a: 1 }; return [shared, shared] })()`,
	} {
		theirs, ours := stringify(t, expression, "")
		if theirs != ours && !(strings.HasPrefix(theirs, "throws TypeError") && strings.HasPrefix(ours, "throws TypeError")) {
			t.Errorf("%s = %s, want %s", expression, ours, theirs)
		}
	}
}

func TestEncodeJSONIndents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expression, want string }{
		{`{ a: [], b: {}, c: [1, { d: 2 }] }`, "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": 2\n    }\n  ]\n}"},
		{`[[], 1]`, "[\n  [],\n  1\n]"},
		{`{ a: undefined }`, "{}"},
		{`[undefined]`, "[\n  null\n]"},
		{`"text"`, `"text"`},
	} {
		if _, ours := stringify(t, c.expression, "  "); ours != c.want {
			t.Errorf("%s =\n%s\nwant\n%s", c.expression, ours, c.want)
		}
	}
}

func TestEncodeJSONOptions(t *testing.T) {
	t.Parallel()
	rt := New(Options{})
	v, err := rt.VM().RunString(`({ big: 2n ** 70n, bytes: new Uint8Array([1, 2, 3]), buffer: new Uint8Array([255]).buffer,
		part: new Uint16Array(new Uint8Array([0, 0, 1, 2, 3, 4]).buffer, 2, 1), view: new DataView(new Uint8Array([9, 8, 7]).buffer, 1), plain: [1], empty: new Uint8Array(0) })`)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := EncodeJSON(rt, v, EncodeOptions{BigInt: true, Bytes: true})
	want := `{"big":1180591620717411303424,"bytes":"AQID","buffer":"/w==","part":"AQI=","view":"CAc=","plain":[1],"empty":""}`
	if string(b) != want {
		t.Errorf("got %s, want %s", b, want)
	}
}

func TestEncodeJSONOfDeepValuesIsAnError(t *testing.T) {
	t.Parallel()
	got := testValue(t, `let o = {}; for (let i = 0; i < 20000; i++) o = { o }
		return "made"`)
	if got != `"made"` {
		t.Errorf("value %s", got)
	}
	o, _ := testRun(t, `let o = {}; for (let i = 0; i < 20000; i++) o = { o }
		return o`)
	if o.ExitCode != 1 || o.Report == nil || o.Report.Name != "RangeError" {
		t.Errorf("exit %d, %+v", o.ExitCode, o.Report)
	}
}

func FuzzDecodeJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e3,"x\u00e9\ud834\udd1e",true,null]}`, `"\ud834"`, `[1e400]`, `{"__proto__":1}`, "\"\xff\"", `{"a":1,"a":2}`, `[[[[]]]]`, `-0`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rt := New(Options{})
		v, err := DecodeJSON(rt, b)
		if valid := json.Valid(b); valid != (err == nil) {
			t.Fatalf("DecodeJSON(%q): %v, but encoding/json says %v", b, err, valid)
		}
		if err != nil {
			return
		}
		out, ok := EncodeJSON(rt, v, EncodeOptions{})
		if !ok || !json.Valid(out) {
			t.Fatalf("EncodeJSON of %q = %q", b, out)
		}
		again, err := DecodeJSON(rt, out)
		if err != nil {
			t.Fatalf("what EncodeJSON wrote of %q does not decode: %v", b, err)
		}
		if twice, _ := EncodeJSON(rt, again, EncodeOptions{}); !bytes.Equal(out, twice) {
			t.Fatalf("%q → %q → %q", b, out, twice)
		}
		if bytes.Contains(b, []byte(`\u`)) || bytes.Contains(b, []byte("-0")) || !bytes.Equal(bytes.ToValidUTF8(b, nil), b) {
			return // encoding/json replaces lone surrogates, and writes -0
		}
		var theirs, ours any
		if json.Unmarshal(b, &theirs) != nil {
			return // a number out of range
		}
		if err := json.Unmarshal(out, &ours); err != nil {
			t.Fatal(err)
		}
		if got, want := jsonText(t, ours), jsonText(t, theirs); got != want {
			t.Fatalf("%q means %s, want %s", b, got, want)
		}
	})
}

// megabyte is JSON as tools answer it, about 1 MB.
func megabyte() []byte {
	var b bytes.Buffer
	b.WriteString(`{"items":[`)
	for i := 0; b.Len() < 1<<20; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"item number %d","open":%v,"ratio":%g,"labels":["bug","help wanted"],"text":"line one\nline two é","owner":{"login":"someone","id":%d}}`,
			i, i, i%2 == 0, float64(i)/7, i*31)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func BenchmarkDecodeJSON(b *testing.B) {
	text := megabyte()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	rt := New(Options{})
	for b.Loop() {
		if _, err := DecodeJSON(rt, text); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseOfGoja is what BenchmarkDecodeJSON is to be compared with.
func BenchmarkParseOfGoja(b *testing.B) {
	text := megabyte()
	b.SetBytes(int64(len(text)))
	vm := goja.New()
	parse, _ := goja.AssertFunction(vm.Get("JSON").(*goja.Object).Get("parse"))
	s := vm.ToValue(string(text))
	for b.Loop() {
		if _, err := parse(nil, s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeJSON(b *testing.B) {
	rt := New(Options{})
	text := megabyte()
	v, err := DecodeJSON(rt, text)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		EncodeJSON(rt, v, EncodeOptions{})
	}
}

func TestJSONOfScripts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"indent", "return JSON.stringify({ items: [], next: { page: 2 }, errors: {}, list: [1, [], [2]] }, null, 2)", "{\n  \"items\": [],\n  \"next\": {\n    \"page\": 2\n  },\n  \"errors\": {},\n  \"list\": [\n    1,\n    [],\n    [\n      2\n    ]\n  ]\n}"},
		{"indent of text", "return JSON.stringify([1, { a: 2 }], null, '--')", "[\n--1,\n--{\n----\"a\": 2\n--}\n]"},
		{"indent is bounded", "return [JSON.stringify([1], null, 99), JSON.stringify([1], null, new String('0123456789ab')), JSON.stringify([1], null, -1)].join()", "[\n          1\n],[\n01234567891\n],[1]"},
		{"replacer", "return JSON.stringify({ a: 1, b: [2, { c: 3 }], d: new Date(0) }, function (k, v) { return typeof v === 'number' ? v * 2 : k === 'd' ? typeof v + Array.isArray(this) : v })", `{"a":2,"b":[4,{"c":6}],"d":"stringfalse"}`},
		{"replacer of the whole", "return JSON.stringify(1, (k, v) => k === '' ? [v, v] : v === 1 ? 2 : v)", `[2,2]`},
		{"replacer drops", "return JSON.stringify({ a: 1, b: 2, c: [1, 2] }, (k, v) => v === 1 ? undefined : v)", `{"b":2,"c":[null,2]}`},
		{"a list of names", "return JSON.stringify({ a: 1, b: { a: 2, c: 3 }, 1: 4 }, ['b', 'a', 1, new String('b'), {}])", `{"b":{"a":2},"a":1,"1":4}`},
		{"nothing", "return String(JSON.stringify(undefined)) + JSON.stringify(() => 1) + JSON.stringify(Symbol())", `undefinedundefinedundefined`},
		{"lone surrogates", `return JSON.stringify("\ud800") + JSON.parse('"\\ud800"').charCodeAt(0) + JSON.parse('"\ud801"').charCodeAt(0) + Object.keys(JSON.parse('{"\ud802x":1}'))[0].charCodeAt(0)`, `"\ud800"552965529755298`},
		{"too large", "return [JSON.parse('1e400'), JSON.parse('[-1e400]')[0]].join()", "Infinity,-Infinity"},
		{"circle", "const a = { b: [{}] }; a.b[0].c = a; try { JSON.stringify(a) } catch (e) { return e.name + ': ' + e.message }", "TypeError: Converting circular structure to JSON\n    --> starting at object with constructor 'Object'\n    |     property 'b' -> object with constructor 'Array'\n    |     index 0 -> object with constructor 'Object'\n    --- property 'c' closes the circle"},
		{"small circle", "const a = { b: 1 }; const o = { a }; a.a = a; try { JSON.stringify(o) } catch (e) { return e.message }", "Converting circular structure to JSON\n    --> starting at object with constructor 'Object'\n    --- property 'a' closes the circle"},
		{"reviver in order", `const order = []; JSON.parse('{"a":[1,{"b":2}],"c":3}', function (k, v) { order.push(k); return v }); return order.join("|")`, "0|b|1|a|c|"},
		{"reviver deletes", "return JSON.stringify(JSON.parse('[1,2,3]', (k, v) => v === 2 ? undefined : v)) + JSON.stringify(JSON.parse('{\"a\":1,\"b\":2}', (k, v) => v === 1 ? undefined : v))", `[1,null,3]{"b":2}`},
		{"reviver sees the source", "return JSON.parse('[1.0, 12345678901234567890, {\"a\":\"x\",\"a\":-0}]', (k, v, { source }) => source === undefined ? v : source + '!').flatMap(x => typeof x === 'object' ? Object.entries(x) : x).join()", "1.0!,12345678901234567890!,a,-0!"},
		{"source of what was replaced", "return JSON.parse('{\"a\":1,\"b\":2}', function (k, v, c) { if (k === 'a') this.b = 3; return k ? String(c.source) : v }).b", "undefined"},
		{"raw", "return JSON.stringify({ n: JSON.rawJSON('12345678901234567890') })", `{"n":12345678901234567890}`},
		{"error", "try { JSON.parse('{a') } catch (e) { return e.constructor.name + e.message }", "SyntaxErrorExpected property name or '}' in JSON at position 1"},
		{"argument", "return JSON.parse(null) + String(JSON.parse({ toString: () => '5' })) + JSON.stringify.length + JSON.parse.name", "null53parse"},
		{"big integer", "try { JSON.stringify({ a: 1n }) } catch (e) { return e.message }", "Do not know how to serialize a BigInt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got string
			if err := json.Unmarshal([]byte(testValue(t, c.text)), &got); err != nil || got != c.want {
				t.Errorf("%s = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

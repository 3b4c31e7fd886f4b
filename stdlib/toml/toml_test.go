package toml_test

import (
	"testing"

	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/toml"
)

func TestTOML(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, code, want string }{
		{
			"order and tables", "p('z = 1\\na = \"x\"\\n[t.u]\\nb = true\\n[[l]]\\nn = 1\\n[[l]]\\n[l.s]\\nq = 2\\n[t]\\nc = 1.5')",
			`{"z":1,"a":"x","t":{"u":{"b":true},"c":1.5},"l":[{"n":1},{"s":{"q":2}}]}`,
		},
		{"dotted and inline", `p('a.b.c = 1\na.b.d = {x.y = 2, z = [1, "two", {k = 3}]}\n')`, `{"a":{"b":{"c":1,"d":{"x":{"y":2},"z":[1,"two",{"k":3}]}}}}`},
		{"numbers", `p('a = 0xFF\nb = 1_000\nc = -0o17\n')`, `SyntaxError`},
		{"bases", `p('a = 0xFF\nb = 1_000\nc = 0o17\nd = 0b101\ne = +7\nf = 1e3\ng = -0.0\nh = inf')`, `{"a":255,"b":1000,"c":15,"d":5,"e":7,"f":1000,"g":0,"h":null}`},
		{
			"large integers", `console.log(toml.parse('a = 9007199254740993\nb = 9007199254740991\nc = -9_223_372_036_854_775_808'))`,
			`{ a: 9007199254740993n, b: 9007199254740991, c: -9223372036854775808n }`,
		},
		{
			"dates are text", `p('a = 1979-05-27T07:32:00-08:00\nb = 1979-05-27\nc = 07:32:00.5\nd = 1979-05-27 07:32:00')`,
			`{"a":"1979-05-27T07:32:00-08:00","b":"1979-05-27","c":"07:32:00.5","d":"1979-05-27 07:32:00"}`,
		},
		{"strings", `p('a = """\nx\ny"""\nb = \'c:\\d\'\n"q k" = "\\u00e9"\n"" = \'\'')`, `{"a":"x\ny","b":"c:\\d","q k":"é","":""}`},
		{"comments", `p('# x\na = [ # y\n 1, # z\n 2 ]\n')`, `{"a":[1,2]}`},
		{"prototype", `p('__proto__.x = 1\n[constructor]\ny = 1')`, `{"__proto__":{"x":1},"constructor":{"y":1}}`},
		{"bytes", `p(new Uint8Array([97, 61, 49]))`, `{"a":1}`},
		{"nothing", `p('')`, `{}`},
		{"twice", `p('a = 1\n\n  a = 2')`, `SyntaxError`},
		{"place", `try { toml.parse('a = 1\nb = ?') } catch (e) { console.log(e instanceof SyntaxError, e.line, e.column, /^toml: .* \(line 2, column 5\)$/.test(e.message)) }`, `true 2 5 true`},
		{"table twice", `p('[a]\nx=1\n[a]\ny=2')`, `SyntaxError`},
		{"bad date", `p('a = 2021-13-01')`, `SyntaxError`},
		{"deep brackets", `p('a = ' + '['.repeat(1e6))`, `SyntaxError`},
		{"deep keys", `p(Array(1e5).fill("a").join(".") + ' = 1')`, `SyntaxError`},
		{"deep header", `p("[" + Array(1e5).fill("a").join(".") + ']')`, `SyntaxError`},

		{
			"stringify", `w({title: "x", t: {a: 1, u: {b: [1, 2.5, "q"]}}, l: [{n: 1}, {n: 2, d: {e: true}}], o: {p: {q: 1}}, z: 1n})`,
			"title = \"x\"\nz = 1\n\n[t]\na = 1\n\n[t.u]\nb = [1, 2.5, \"q\"]\n\n[[l]]\nn = 1\n\n[[l]]\nn = 2\n\n[l.d]\ne = true\n\n[o.p]\nq = 1\n",
		},
		{
			"stringify values", `w({d: new Date(0), u: undefined, e: [], m: [{a: 1}, 2], n: NaN, i: -Infinity, big: 1e21, f: 1e16, z: -0, "k k": "a\"\n\x01", empty: {}, map: new Map([["x", new Set([1])]])})`,
			"d = 1970-01-01T00:00:00.000Z\ne = []\nm = [{ a = 1 }, 2]\nn = nan\ni = -inf\nbig = 1e+21\nf = 10000000000000000.0\nz = -0.0\n\"k k\" = \"a\\\"\\n\\u0001\"\n\n[empty]\n\n[map]\nx = [1]\n",
		},
		{
			"round trip", `const v = {a: {"b.c": [{x: [{}]}, {y: "é\t\\"}], d: {}}, "": 1, e: [[{q: 1}]]}; p(toml.stringify(v)); p(toml.stringify(toml.parse(toml.stringify(v))))`,
			"{\"\":1,\"e\":[[{\"q\":1}]],\"a\":{\"b.c\":[{\"x\":[{}]},{\"y\":\"é\\t\\\\\"}],\"d\":{}}}\n{\"\":1,\"e\":[[{\"q\":1}]],\"a\":{\"b.c\":[{\"x\":[{}]},{\"y\":\"é\\t\\\\\"}],\"d\":{}}}",
		},
		{"null", `w({a: {"b c": [1, null]}})`, `TypeError: toml: a."b c".1 is null, and TOML has none; leave it out`},
		{"cycle", `const o = {}; o.o = o; w(o)`, `TypeError: toml: the value contains itself`},
		{"deep", `let o = {}; for (let i = 0; i < 2000; i++) o = {o}; w(o)`, `RangeError: toml: the value is nested more than 1000 deep`},
		{"no object", `w([1])`, `TypeError: The "value" argument must be of type object. Received an instance of Array`},
		{"no value", `w()`, `TypeError: The "value" argument must be of type object. Received undefined`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code := `import toml from "mcpx:toml";
				const p = text => console.log(JSON.stringify(toml.parse(text))), w = v => process(toml.stringify(v)), process = s => console.log(s.slice(0, -1));
				try { ` + tt.code + ` } catch (e) { console.log(e.name === "SyntaxError" && e.line > 0 && e.column > 0 ? e.name : String(e)) }`
			stdout, stderr := trial.Run(code, nil, console.Module(), toml.Module())
			if got := stdout + stderr; got != tt.want+"\n" && got != tt.want {
				t.Errorf("wrote %s want  %s", got, tt.want)
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, toml.Module())
}

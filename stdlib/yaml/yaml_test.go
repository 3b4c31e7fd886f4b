package yaml_test

import (
	"testing"

	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/yaml"
)

func TestYAML(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, code, want string }{
		{
			"order and kinds", `p("z: 1\na: [x, 'y', \"\\u00e9\"]\nm: {b: true, c: null, d: ~, e: }\nt: |\n  l1\n  l2\nf: >-\n  a\n  b\n")`,
			`{"z":1,"a":["x","y","é"],"m":{"b":true,"c":null,"d":null,"e":null},"t":"l1\nl2\n","f":"a b"}`,
		},
		{
			"words stay text", `p("[no, yes, on, off, y, N, 2001-01-01, 2001-12-14t21:59:43.10-05:00, 12:30:45, 1_000, 0b1, 1.2.3, +, ., 0o8, 1e, .e1, ++1]")`,
			`["no","yes","on","off","y","N","2001-01-01","2001-12-14t21:59:43.10-05:00","12:30:45","1_000","0b1","1.2.3","+",".","0o8","1e",".e1","++1"]`,
		},
		{"numbers", `p("[017, 0o17, 0x1F, +12, -3, 1.5, .5, 1., 1e3, -0, 6.02e+23, 1e400]")`, `[17,15,31,12,-3,1.5,0.5,1,1000,0,6.02e+23,null]`},
		{
			"large numbers", `console.log(yaml.parse("[12345678901234567890, 9007199254740991, -9007199254740993, .inf, -.Inf, .NaN]"))`,
			"[\n  12345678901234567890n,\n  9007199254740991,\n  -9007199254740993n,\n  Infinity,\n  -Infinity,\n  NaN\n]",
		},
		{"quoted is text", `p("['1', \"true\", ! 5, !!str 5, !!int '5', !!float 5, !Ref x, !!timestamp 2001-01-01]")`, `["1","true","5","5",5,5,"x","2001-01-01"]`},
		{"binary", `console.log(yaml.parse("!!binary aGk="))`, "Uint8Array(2) [ 104, 105 ]"},
		{"keys", `p("1.10: a\ntrue: b\n? x y\n: c\n'': d\n__proto__: e\n")`, `{"1.10":"a","true":"b","x y":"c","":"d","__proto__":"e"}`},
		{"anchors", `const v = yaml.parse("a: &x {n: [1]}\nb: *x\nc: &k key\n*k : 2\n"); console.log(JSON.stringify(v), v.a === v.b)`, `{"a":{"n":[1]},"b":{"n":[1]},"c":"key","key":2} true`},
		{"anchor redefined", `p("[&a 1, *a, &a 2, *a]")`, `[1,1,2,2]`},
		{"merge", `p("d: &d {a: 1, b: 2}\ne: &e {b: 3, c: 4}\nm: {b: 9, <<: [*d, *e], a: 8}\nq: {'<<': 1}\n")`, `{"d":{"a":1,"b":2},"e":{"b":3,"c":4},"m":{"b":9,"a":8,"c":4},"q":{"<<":1}}`},
		{"nothing", `p("")`, `null`},
		{"comments only", `p("# x\n")`, `null`},
		{"empty document", `p("---\n")`, `null`},
		{"crlf and mark", `p("\uFEFFa: 1\r\nb: |\r\n  x\r\n  y\r\n")`, `{"a":1,"b":"x\ny\n"}`},
		{"bytes", `p(new Uint8Array([97, 58, 32, 0xC3, 0xA9]))`, `{"a":"é"}`},
		{"documents", `console.log(JSON.stringify(yaml.parseAll("a: 1\n---\n- 2\n...\n---\n")), JSON.stringify(yaml.parseAll("")))`, `[{"a":1},[2],null] []`},

		{"second document", `p("a: 1\n---\nb: 2")`, `SyntaxError: yaml: a second document; parseAll reads them all (line 2, column 1)`},
		{"twice", `p("a: 1\nb:\n  c: 1\n  c: 2")`, `SyntaxError: yaml: the key "c" twice in one mapping (line 4, column 3)`},
		{"place", `p("a: b\nc: d: e\n")`, `SyntaxError: yaml: mapping values are not allowed in this context (line 2, column 5)`},
		{"open list", `p("a: [1, 2\nb: 3\n")`, `SyntaxError: yaml: while parsing a flow sequence: did not find expected ',' or ']' (line 2, column 2)`},
		{"unknown alias", `p("a: *b")`, `SyntaxError: yaml: unknown anchor 'b' referenced (line 1, column 4)`},
		{"complex key", `p("? [1]\n: 2")`, `SyntaxError: yaml: a key that is a list or a mapping has no place in an object (line 1, column 3)`},
		{"cycle", `p("&a [*a]")`, `SyntaxError: yaml: the anchor a contains itself (line 1, column 5)`},
		{"bad tag", `p("!!int x")`, `SyntaxError: yaml: "x" is no !!int (line 1, column 1)`},
		{"bad merge", `p("<<: 1")`, `SyntaxError: yaml: << wants a mapping or a list of them (line 1, column 1)`},
		{
			"laughs", `let s = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"; for (let i = 1; i < 60; i++) s += "a" + i + ": &a" + i + " [" + Array(10).fill("*a" + (i - 1)).join() + "]\n"; p(s)`,
			`SyntaxError: yaml: aliases make more than 10000000 values of the document (line 7, column 38)`,
		},
		{"deep flow", `p("[".repeat(1e6))`, `SyntaxError`},
		{"deep block", `p("- ".repeat(1e5))`, `SyntaxError`},

		{
			"stringify", `w({a: 1, l: [1, {x: "y", z: []}, [2]], o: {}, n: null, u: undefined, b: false, f: 1.5, big: 10n ** 20n, nan: NaN, i: -Infinity, z: -0, e: 1e21})`,
			"a: 1\nl:\n  - 1\n  - x: y\n    z: []\n  - - 2\no: {}\nn: null\nb: false\nf: 1.5\nbig: 100000000000000000000\nnan: .nan\ni: -.inf\nz: -0.0\ne: 1e+21",
		},
		{
			"stringify text", `w(["no", "1", "true", "", "null", "2001-01-01", "12:30:45", "017", "a: b", "# c", "- d", "x\ny\n", " s", "<<", "~", "é", "=", "yes"])`,
			"- 'no'\n- '1'\n- 'true'\n- ''\n- 'null'\n- '2001-01-01'\n- '12:30:45'\n- '017'\n- 'a: b'\n- '# c'\n- '- d'\n- |\n  x\n  y\n- ' s'\n- '<<'\n- '~'\n- é\n- =\n- 'yes'",
		},
		{
			"stringify other", `w({d: new Date(0), m: new Map([[1, "x"]]), s: new Set(["y"]), j: {toJSON() { return [1] }}, by: new Uint8Array([104, 105])})`,
			"d: '1970-01-01T00:00:00.000Z'\nm:\n  '1': x\ns:\n  - y\nj:\n  - 1\nby: !!binary aGk=",
		},
		{"stringify indent", `w({a: {b: [1]}}, {indent: 4})`, "a:\n    b:\n        - 1"},
		{"stringify long lines", `w("word ".repeat(50) + "end")`, "word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end"},
		{"stringify undefined", `console.log(yaml.stringify(undefined))`, `undefined`},
		{"stringify indent wrong", `w(1, {indent: 1})`, `RangeError: The value of "options.indent" is out of range. It must be >= 2 && <= 9. Received 1`},
		{"stringify cycle", `const a = []; a.push(a); w(a)`, `TypeError: yaml: the value contains itself`},
		{"stringify long", `const a = []; a.length = 4e9; w(a)`, `RangeError: yaml: more than 10000000 values`},
		{"round trip", `const texts = ["a\r\nb", "\ttab", "x\n\ny", "\n", " \n", "a\n ", "a \nb", "\n a", " a\nb", "a\n\n", "\u0085", "\u2028x", "\0", "\x1b[0m", "\u{1F600}", "-", "?", ":", "!x", "&a", "*a", "|", ">", "%", "@", "\x60", "[", "{", "]", ",", "a #b", "a:", "---", "...", "\"q\"", "'", "\\", "0x1f", "1e3", ".5", "+.inf", "-1", "true ", "y", "Null", "\uFEFFa", "k: v\n- x", "\uD800".toWellFormed?.() ?? "\uFFFD", "# c\n# d", "  indented\nless", "a\n\tb"];
			for (const t of texts) { for (const v of [t, [t], {k: t}, {[t]: 1}, [[{a: [t]}]]]) { const s = yaml.stringify(v); const r = JSON.stringify(yaml.parse(s)); if (r !== JSON.stringify(v)) console.log(JSON.stringify(v), JSON.stringify(s), r); } }
			console.log("done")`, `done`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code := `import yaml from "mcpx:yaml";
				const p = text => console.log(JSON.stringify(yaml.parse(text))), w = (...a) => console.log(yaml.stringify(...a).trimEnd());
				try { ` + tt.code + ` } catch (e) { console.log(String(e).length > 120 || /exceeded max depth/.test(e.message) ? e.name : String(e)) }`
			stdout, stderr := trial.Run(code, nil, console.Module(), yaml.Module())
			want := tt.want + "\n"
			if got := stdout + stderr; got != want {
				t.Errorf("wrote %s want  %s", got, want)
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, yaml.Module())
}

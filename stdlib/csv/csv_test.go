package csv_test

import (
	"testing"

	"mcpx/stdlib/console"
	"mcpx/stdlib/csv"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
)

func TestCSV(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, code, want string }{
		{"objects", `p("id,name\r\n007,\"Smith, J\"\r\n2,x\r\n")`, `[{"id":"007","name":"Smith, J"},{"id":"2","name":"x"}]`},
		{"byte order mark", `p("\uFEFFa\n1")`, `[{"a":"1"}]`},
		{"bytes", `p(new Uint8Array([0xEF, 0xBB, 0xBF, 97, 10, 0xC3, 0xA9]))`, `[{"a":"é"}]`},
		{"lone carriage returns", `p("a,b\r1,2\r3,4")`, `[{"a":"1","b":"2"},{"a":"3","b":"4"}]`},
		{"newline in quotes stays", `p("a\n\"x\r\ny\"\n")`, `[{"a":"x\r\ny"}]`},
		{"doubled quotes", `p('a\n"say ""hi"""')`, `[{"a":"say \"hi\""}]`},
		{"quotes in the middle", `p('a,b\n5" disk,"x"y"\n')`, `[{"a":"5\" disk","b":"x\"y"}]`},
		{"empty lines", `p("a\n\n1\n\r\n\n2\n\n")`, `[{"a":"1"},{"a":"2"}]`},
		{"short rows", `p("a,b,c\n1\n")`, `[{"a":"1","b":"","c":""}]`},
		{"trailing delimiters", `p("a,b\n1,2,,\n")`, `[{"a":"1","b":"2"}]`},
		{"names twice and none", `p("a,a,,a_2,a\n1,2,3,4,5")`, `[{"a":"1","a_3":"2","column3":"3","a_2":"4","a_4":"5"}]`},
		{"no text", `p("")`, `[]`},
		{"header only", `p("a,b\n")`, `[]`},
		{"prototype", `p("__proto__,constructor\n1,2")`, `[{"__proto__":"1","constructor":"2"}]`},
		{"arrays", `p("a,b\n1,2\n", {header: false})`, `[["a","b"],["1","2"]]`},
		{"names given", `p("1,2\n", {header: ["x", "y"]})`, `[{"x":"1","y":"2"}]`},
		{"delimiter", `p("a;b\n1;2", {delimiter: ";"})`, `[{"a":"1","b":"2"}]`},
		{"long delimiter", `p("a||b\n1|||2", {delimiter: "||"})`, `[{"a":"1","b":"|2"}]`},
		{"detects semicolon", `p("a;b;c\n1,5;2,5;3\n", {delimiter: "auto"})`, `[{"a":"1,5","b":"2,5","c":"3"}]`},
		{"detects tab", `p("a\tb\n\"x;y;z\"\t2\n", {delimiter: "auto"})`, `[{"a":"x;y;z","b":"2"}]`},
		{"detects behind comments", `p("#x\na;b\n1;2\n", {delimiter: "auto", comment: "#"})`, `[{"a":"1","b":"2"}]`},
		{"detects around trimmed quotes", `p("a;b\n1; \"x,\ny\"\n", {delimiter: "auto", trim: true})`, `[{"a":"1","b":"x,\ny"}]`},
		{"detects in no text", `p("", {delimiter: "auto"})`, `[]`},
		{"no names given", `p("1,2\n", {header: []})`, `SyntaxError: csv: a row has 2 fields, and the header 0; header: false gives rows as arrays (line 1, column 1) 1 1`},
		{"detects nothing", `p("a\n1\n", {delimiter: "auto"})`, `[{"a":"1"}]`},
		{"comments", `p("#x\na\n#y\n1\n# z", {comment: "#"})`, `[{"a":"1"}]`},
		{"trim", `p(" a , b\n 1 , \" 2 \" \n", {trim: true})`, `[{"a":"1","b":" 2 "}]`},
		{"no trim", `p("a, b\n1, 2\n")`, `[{"a":"1"," b":" 2"}]`},
		{"open quote", `p('a\nb\n x,"y\nz')`, `SyntaxError: csv: a quote that is never closed (line 3, column 4) 3 4`},
		{"long row", `p('a\n\n1,2')`, `SyntaxError: csv: a row has 2 fields, and the header 1; header: false gives rows as arrays (line 3, column 1) 3 1`},
		{"option", `p("a", {delimeter: ","})`, `TypeError: csv: parse has no option "delimeter"; it has header, delimiter, comment, trim`},
		{"bad delimiter", `p("a", {delimiter: ""})`, `TypeError: The property 'options.delimiter' must be text without quotes and line ends, or "auto". Received ''`},
		{"no text at all", `p(5)`, `TypeError: The "text" argument must be of type string or an instance of Buffer or Uint8Array. Received type number (5)`},

		{"stringify", `s([{a: 1, b: "x,y"}, {a: null, c: 'q"'}, {b: " s"}])`, `"a,b,c\n1,\"x,y\",\n,,\"q\"\"\"\n,\" s\",\n"`},
		{"stringify arrays", `s([["a", 1], [true, undefined]])`, `"a,1\ntrue,\n"`},
		{"stringify columns", `s([{a: 1, b: 2}], {columns: ["b"]})`, `"b\n2\n"`},
		{"stringify titles", `s([{a: 1, b: 2}], {columns: {b: "B", a: "A"}, delimiter: ";"})`, `"B;A\n2;1\n"`},
		{"stringify titled arrays", `s([[1, 2]], {columns: ["x", "y"]})`, `"x,y\n1,2\n"`},
		{"stringify values", `s([{d: new Date(0), o: {x: [1]}, n: 10n, i: 1e21, u: undefined}], {header: false})`, `"1970-01-01T00:00:00.000Z,\"{\"\"x\"\":[1]}\",10,1e+21,\n"`},
		{"stringify detects none", `s([[1]], {delimiter: "auto"})`, `TypeError: The property 'options.delimiter' must be text without quotes and line ends, and not "auto". Received 'auto'`},
		{"stringify empty cell", `s([{a: ""}, {a: "x"}])`, `"a\n\"\"\nx\n"`},
		{"stringify set of rows", `s(new Set([{a: 1}]), {quote: true, newline: "\r\n"})`, `"\"a\"\r\n\"1\"\r\n"`},
		{"stringify nothing", `s([])`, `""`},
		{"round trip", `const rows = [{"a,b": 'x\n"y"', "": "z"}, {"a,b": "\uFEFFq", "": ""}]; p(csv.stringify(rows))`, `[{"a,b":"x\n\"y\"","column2":"z"},{"a,b":"\uFEFFq","column2":""}]`},
		{"no rows", `s({a: 1})`, `TypeError: The "rows" argument must be an instance of Array. Received an instance of Object`},
		{"no row", `s([1])`, `TypeError: The "rows[0]" argument must be of type object. Received type number (1)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code := `import * as csv from "mcpx:csv";
				const p = (...a) => console.log(JSON.stringify(csv.parse(...a)).replaceAll("\uFEFF", "\\uFEFF")), s = (...a) => console.log(JSON.stringify(csv.stringify(...a)));
				try { ` + tt.code + ` } catch (e) { console.log(String(e), ...(e.line ? [e.line, e.column] : [])) }`
			stdout, stderr := trial.Run(code, nil, console.Module(), csv.Module())
			if got := stdout + stderr; got != tt.want+"\n" {
				t.Errorf("wrote %s want  %s", got, tt.want)
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, csv.Module())
}

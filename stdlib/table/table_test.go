package table_test

import (
	"strings"
	"testing"

	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/table"
)

func TestTable(t *testing.T) {
	t.Parallel()
	const rows = `[{id: 7, name: "Ada|L", ok: true}, {id: 123, name: "東京", note: "a\nb"}, {id: null, o: {x: 1}}]`
	tests := []struct{ name, code, want string }{
		{"text", `w(table.toText(` + rows + `))`, "" +
			" id  name   ok    note  o\n" +
			"---  -----  ----  ----  -------\n" +
			"  7  Ada|L  true\n" +
			"123  東京         a b\n" +
			"                        {\"x\":1}\n"},
		{"markdown", `w(table.toMarkdown(` + rows + `, {columns: {name: "Name", id: "#"}}))`, "" +
			"| Name   |   # |\n| ------ | --: |\n| Ada\\|L |   7 |\n| 東京   | 123 |\n|        |     |\n"},
		{"csv", `w(table.toCSV(` + rows + `, {columns: ["id", "note"]}))`, "id,note\n7,\n123,\"a\nb\"\n,\n"},
		{
			"stringify", `w(table.stringify([{a: 1}]) + table.stringify([{a: 1}], {format: "markdown"}) + table.stringify([{a: 1}], {format: "csv"}))`,
			"a\n-\n1\n|   a |\n| --: |\n|   1 |\na\n1\n",
		},
		{"arrays", `w(table.toText([["x", 10], ["yy", 2, "z"]]) + table.toMarkdown([["x", 10]]))`, "x   10\nyy   2  z\n|     |     |\n| --- | --: |\n| x   |  10 |\n"},
		{"no header", `w(table.toText([{long_name: "x"}], {header: false}))`, "x\n"},
		{"width", `w(table.toText([{a: "abcdef", b: "東京都"}], {maxWidth: 4, header: false}))`, "abc…  東…\n"},
		{"escapes take no room", `w(table.toText([{a: "\x1b[31mx\x1b[0m", b: 1}, {a: "yy", b: 2}], {header: false}))`, "\x1b[31mx\x1b[0m   1\nyy  2\n"},
		{"nothing", `w(table.toText([]) + table.toMarkdown([]) + table.toCSV([]) + table.toText([{}]))`, "\n"},
		{"only titles", `w(table.toText([], {columns: ["a", "bb"]}))`, "a  bb\n-  --\n"},
		{"maxWidth wrong", `w(table.toText([], {maxWidth: 0}))`, `RangeError: The value of "options.maxWidth" is out of range. It must be >= 1 && <= 1000000. Received 0`},
		{"format wrong", `w(table.stringify([], {format: "html"}))`, `TypeError: The property 'options.format' must be one of text, markdown, csv. Received 'html'`},
		{"format is no option", `w(table.toText([], {format: "csv"}))`, `TypeError: table: toText has no option "format"; it has columns, header, maxWidth`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code := `import table from "mcpx:table";
				const w = s => console.log(s.slice(0, -1));
				try { ` + tt.code + ` } catch (e) { console.log(String(e)) }`
			stdout, stderr := trial.Run(code, nil, console.Module(), table.Module())
			if got := stdout + stderr; strings.TrimSuffix(got, "\n") != strings.TrimSuffix(tt.want, "\n") {
				t.Errorf("wrote\n%s want\n%s", got, tt.want)
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, table.Module())
}

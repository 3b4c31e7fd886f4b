package catalog

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"mcpx/internal/schema"
	"mcpx/mcp"
)

var update = flag.Bool("update", false, "rewrite the table in docs/tokens.md")

// TestTokensPage counts what a client reads of 300 tools and holds the table of
// docs/tokens.md to it.
func TestTokensPage(t *testing.T) {
	t.Parallel()
	docs := servers(t)
	all, line := spaces(t)
	marshal := func(v any) string {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	type definition struct {
		Name        string  `json:"name"`
		Description string  `json:"description"`
		InputSchema mcp.Raw `json:"input_schema"`
	}
	var whole []*mcp.Tool
	var given []definition
	var signatures strings.Builder
	for _, d := range docs {
		whole = append(whole, d.Tool)
		given = append(given, definition{d.Tool.Name, d.Tool.Description, d.Tool.InputSchema})
		signatures.WriteString(schema.Call(d.Tool.Name, d.Tool.InputSchema, d.Tool.OutputSchema) + "\n")
	}
	ix := NewIndex(docs)
	search := func(words string, limit int) string {
		var b strings.Builder
		for _, h := range ix.Search(words, limit) {
			first, _ := sentence(h.Tool.Description)
			fmt.Fprintf(&b, "%s.%s\n  %s\n", h.Namespace, schema.Signature(h.Tool.Name, h.Tool.InputSchema, h.Tool.OutputSchema), first)
		}
		return b.String()
	}
	found := ix.Search("review a pull request", 1)
	one := schema.Outline([]schema.Namespace{{Name: found[0].Namespace, Tools: []schema.Tool{{
		Name: found[0].Tool.Name, Description: found[0].Tool.Description, Input: found[0].Tool.InputSchema,
	}}}})
	shown := func(budget int) (string, int) {
		s := Lay(all, budget, nil, line)
		n := 0
		for _, tools := range s.Shown {
			n += len(tools)
		}
		return s.Text, n
	}
	small, inSmall := shown(1000)
	usual, inUsual := shown(2000)

	var table strings.Builder
	table.WriteString("| what a client reads | tokens |\n| --- | ---: |\n")
	plain := Tokens(marshal(given))
	row := func(what string, n int) {
		fmt.Fprintf(&table, "| %s | %d |\n", what, n)
	}
	row(fmt.Sprintf("plain MCP: `tools/list` of all servers, %d tools, as they came", len(docs)), Tokens(marshal(whole)))
	row("plain MCP: of each tool name, description and input schema, which is what hosts hand to the model", plain)
	row("every tool in one line, as `mcpx catalog` writes it", Tokens(signatures.String()))
	row(fmt.Sprintf("`mcpx catalog`: every namespace, and %d signatures", inUsual), Tokens(usual))
	row(fmt.Sprintf("`mcpx catalog --budget 1000`: every namespace, and %d signatures", inSmall), Tokens(small))
	row("`mcpx search --limit 3 review a pull request`", Tokens(search("review a pull request", 3)))
	row("`mcpx search review a pull request`, ten tools", Tokens(search("review a pull request", 10)))
	row("`describe(\""+found[0].Namespace+"."+found[0].Tool.Name+"\")` in a script: one tool in full", Tokens(one))
	t.Logf("\n%s", table.String())

	const page, from, to = "../../docs/tokens.md", "<!-- tokens: generated -->\n", "<!-- tokens: end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), from)
	_, after, ended := strings.Cut(rest, to)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table", page)
	}
	want := before + from + table.String() + to + after
	if want == string(text) {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the table in %s is out of date: run with -update", page)
}

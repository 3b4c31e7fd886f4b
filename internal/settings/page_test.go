package settings

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/configuration.md")

// page is the generated part of docs/configuration.md.
func page() string {
	var b strings.Builder
	last := ""
	for _, i := range All() {
		group, _, _ := strings.Cut(i.Path, ".")
		if group != last {
			fmt.Fprintf(&b, "\n### %s\n\n| setting | default | | |\n| --- | --- | --- | --- |\n", group)
			last = group
		}
		def := "none"
		if i.Default != "" {
			def = "`" + i.Default + "`"
		}
		doc := i.Doc
		if i.Words != nil && !slices.Contains(i.Words, "true") {
			doc += " `" + strings.Join(i.Words, "`, `") + "`."
		}
		if i.Alias != "" {
			doc += " Also `--" + i.Alias + "`."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", i.Path, def, traits(i), strings.ReplaceAll(doc, "|", `\|`))
	}
	return b.String()
}

// traits says whose a setting is, and what a project's file can do with it.
func traits(i Info) string {
	out := []string{string(i.Scope)}
	if i.Scope == Daemon && !i.Hot {
		out = append(out, "cold")
	}
	switch {
	case i.Ceiling:
		out = append(out, "ceiling")
	case i.Project == Tightens:
		out = append(out, "a project tightens")
	case i.Project == Nothing:
		out = append(out, "not a project's")
	}
	return strings.Join(out, ", ")
}

func TestThePageOfSettingsIsMadeFromTheDeclarations(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "..", "docs", "configuration.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- settings: generated -->\n", "<!-- settings: end -->"
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the tables", name)
	}
	want := before + begin + page() + "\n" + end + after
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Error("docs/configuration.md is not what the declarations say; run `go test ./internal/settings -update` and read the difference")
	}
}

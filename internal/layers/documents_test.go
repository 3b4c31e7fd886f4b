package layers

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitectureIsDrawnFromTheTable holds the generated parts of
// docs/architecture.md; -update rewrites them.
func TestArchitectureIsDrawnFromTheTable(t *testing.T) {
	t.Parallel()
	name := filepath.Join(root, "docs", "architecture.md")
	text := read(t, name)
	tr := repository(t)
	want := text
	for _, part := range []struct{ name, text string }{
		{"layers", drawing()},
		{"packages", tr.listing()},
		{"doors", doorway()},
	} {
		begin, end := "<!-- "+part.name+": generated -->\n", "<!-- "+part.name+": end -->\n"
		before, rest, ok := strings.Cut(want, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("docs/architecture.md has no lines %q and %q", begin, end)
		}
		want = before + begin + part.text + end + after
	}
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != want {
		t.Errorf("docs/architecture.md is not what the table of the layer test says; run `go test ./internal/layers -update` and read the difference")
	}
}

// drawing is the table of layers, the highest first.
func drawing() string {
	const column, width = 5, 78
	var b strings.Builder
	b.WriteString("```text\n")
	for i, l := range slices.Backward(table) {
		line := fmt.Sprintf(" %d   ", i)
		for _, name := range l.packages {
			if len(line)+len(name) > width {
				fmt.Fprintln(&b, strings.TrimRight(line, " "))
				line = strings.Repeat(" ", column)
			}
			line += name + "   "
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
		fmt.Fprintf(&b, "%*s%s\n", column, "", "· "+l.does)
		if i > 0 {
			fmt.Fprintf(&b, "%*s│\n", column, "")
		}
	}
	b.WriteString("```\n")
	for _, name := range slices.Sorted(maps.Keys(narrow)) {
		fmt.Fprintf(&b, "\n`%s` sees less than its layer allows: only `%s`.\n", name, strings.Join(narrow[name], "`, `"))
	}
	for _, pattern := range families {
		fmt.Fprintf(&b, "\n`%s` may import each other: they are what the modules of a script share.\n", pattern)
	}
	return b.String()
}

// listing is a row for each package, with the first sentence of its comment.
func (tr *tree) listing() string {
	var b strings.Builder
	b.WriteString("| package | what it is |\n| --- | --- |\n")
	var patterns []string
	for _, l := range slices.Backward(table) {
		patterns = append(patterns, l.packages...)
	}
	for _, pattern := range append(patterns, besides...) {
		for _, name := range tr.matching(pattern) {
			fmt.Fprintf(&b, "| [`%s`](../%s) | %s |\n", name, name, strings.ReplaceAll(tr.packages[name].synopsis(), "|", "\\|"))
		}
	}
	return b.String()
}

// doorway is a row for each module that not every package may import.
func doorway() string {
	var b strings.Builder
	b.WriteString("| module | imported by |\n| --- | --- |\n")
	for _, d := range doors {
		fmt.Fprintf(&b, "| `%s` | %s |\n", d.module, d.audience())
	}
	return b.String()
}

// TestDependenciesAreJustified holds docs/dependencies.md equal to what go.mod
// requires directly.
func TestDependenciesAreJustified(t *testing.T) {
	t.Parallel()
	direct := repository(t).direct
	if len(direct) == 0 {
		t.Fatal("go.mod requires nothing directly: nothing is guarded")
	}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*) \\|$")
	said := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(read(t, filepath.Join(root, "docs", "dependencies.md")), -1) {
		said[m[1]] = true
		if !direct[m[1]] {
			t.Errorf("docs/dependencies.md has a row for %s, which go.mod does not require directly", m[1])
		}
		if len(strings.Fields(m[2])) < 4 {
			t.Errorf("docs/dependencies.md: the row of %s needs a sentence that justifies it", m[1])
		}
	}
	for _, module := range slices.Sorted(maps.Keys(direct)) {
		if !said[module] {
			t.Errorf("go.mod requires %s; docs/dependencies.md has no row for it", module)
		}
	}
}

func TestRequirementsAreReadFromAGoMod(t *testing.T) {
	t.Parallel()
	module, direct := requirements("module mcpx // the program\n\ngo 1.26\n\nrequire one.example/a v1.0.0\n\nrequire (\n\ttwo.example/b v2.0.0\n\tthree.example/c v3.0.0 // indirect\n)\n\nreplace (\n\ttwo.example/b => ./b\n)\n")
	if got := slices.Sorted(maps.Keys(direct)); module != "mcpx" || !slices.Equal(got, []string{"one.example/a", "two.example/b"}) {
		t.Errorf("requirements = %q, %q, want mcpx with one.example/a and two.example/b", module, got)
	}
}

// TestLinksLeadSomewhere follows the relative links of every page.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
	followed := 0
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			followed++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
	if followed == 0 {
		t.Error("no links found: nothing is guarded")
	}
}

// TestLockFilesNameNoRegistry keeps the place that packages come from out of
// the repository: it is the machine's business.
func TestLockFilesNameNoRegistry(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob(filepath.Join(root, "testdata", "*", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no lock files found: nothing is guarded")
	}
	for _, name := range found {
		for n, line := range strings.Split(read(t, name), "\n") {
			if strings.Contains(line, `"resolved"`) || strings.Contains(line, "registry") {
				t.Errorf("%s:%d names where a package was fetched from: %s", name, n+1, strings.TrimSpace(line))
			}
		}
	}
}

// pages lists the documents written for people.
func pages(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, name := range []string{"README.md", "CHANGELOG.md"} {
		out = append(out, filepath.Join(root, name))
	}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

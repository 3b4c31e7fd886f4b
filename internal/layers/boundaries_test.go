package layers

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/grant"
	"mcpx/internal/settings"
)

// TestEveryRestrictionIsEnforcedOrAdvisory holds docs/boundaries.md against what the
// program declares: each grant and each limit has its row, and each row that says
// enforced names tests that are there.
func TestEveryRestrictionIsEnforcedOrAdvisory(t *testing.T) {
	t.Parallel()
	top := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(top, "docs", "boundaries.md"))
	if err != nil {
		t.Fatal(err)
	}
	enforced, advisory := table3(string(text), "## Enforced"), table3(string(text), "## Advisory")
	if len(enforced) == 0 || len(advisory) == 0 {
		t.Fatalf("%d rows are enforced and %d advisory: nothing is guarded", len(enforced), len(advisory))
	}
	var declared []string
	for _, g := range slices.Concat(grant.Grants, []string{grant.Input, grant.Artifact, grant.Questions}) {
		declared = append(declared, "grant `"+g+"`")
	}
	for _, s := range settings.All() {
		if strings.HasPrefix(s.Path, "limits.") || s.Path == "exec.timeout" || strings.HasPrefix(s.Path, "artifacts.") || s.Path == "config.trust" ||
			strings.HasPrefix(s.Path, "policy.") || s.Path == "elicit.confirmDestructive" {
			declared = append(declared, "setting `"+s.Path+"`")
		}
	}
	for _, name := range declared {
		n := 0
		for _, row := range slices.Concat(enforced, advisory) {
			if strings.Contains(strings.Join(row, " "), name) {
				n++
			}
		}
		if n == 0 {
			t.Errorf("docs/boundaries.md has no row for the %s", name)
		}
	}
	tests := testNames(t, top)
	span := regexp.MustCompile("`([^`]+)`")
	for _, row := range enforced {
		if len(row) != 3 {
			t.Errorf("the row %q has %d cells, want three", row, len(row))
			continue
		}
		named := span.FindAllStringSubmatch(row[2], -1)
		if len(named) == 0 {
			t.Errorf("%q is said to be enforced and names no test", row[0])
		}
		for _, m := range named {
			if !isTest(top, m[1], tests) {
				t.Errorf("%q is said to be enforced by the test %s, which is not there", row[0], m[1])
			}
		}
	}
}

// table3 returns the rows of the table under a heading, without its head.
func table3(text, heading string) [][]string {
	_, text, ok := strings.Cut(text, "\n"+heading+"\n")
	if !ok {
		return nil
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var rows [][]string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "|") {
			var cells []string
			for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
				cells = append(cells, strings.TrimSpace(cell))
			}
			rows = append(rows, cells)
		}
	}
	if len(rows) < 2 {
		return nil
	}
	return rows[2:]
}

// testNames are the names of all tests of the repository.
func testNames(t *testing.T, top string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range declaration.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// isTest reports whether a word of the table is a test that is there: its name, a folder
// that holds some, a script, or a script of the hostile corpus.
func isTest(top, word string, tests map[string]bool) bool {
	if tests[word] {
		return true
	}
	if name, ok := strings.CutPrefix(word, "hostile "); ok {
		// Those of the suite are not everywhere; their class is in the name.
		return regexp.MustCompile(`^[a-z]+_[a-z_*]*$`).MatchString(name)
	}
	for _, pattern := range []string{"", "*_test.go"} {
		if found, err := filepath.Glob(filepath.Join(top, word, pattern)); err == nil && len(found) > 0 {
			info, err := os.Stat(found[0])
			if err == nil && !info.IsDir() {
				return true
			}
		}
	}
	return false
}

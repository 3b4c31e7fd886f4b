//go:build unix

package suite

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	update = flag.Bool("update", false, "add what passes to the lists under testdata/suite")
	shrink = flag.Bool("shrink", false, "with -update: also take away what no longer passes")
)

// A list names what must pass, one name a line. A line "NAME: reason" says why
// something is not expected to; lines that begin with # are for the reader.
type list struct {
	path    string
	head    []string
	must    map[string]bool
	open    map[string]string
	mu      sync.Mutex
	results map[string]bool
}

func readList(t *testing.T, name string) *list {
	t.Helper()
	l := &list{
		path: filepath.Join(root, "testdata", "suite", name),
		must: map[string]bool{}, open: map[string]string{}, results: map[string]bool{},
	}
	text, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	l.parse(string(text))
	return l
}

func (l *list) parse(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, reason, explained := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, "#"):
			l.head = append(l.head, line)
		case line == "":
		case explained:
			l.open[name] = reason
		default:
			l.must[line] = true
		}
	}
}

func (l *list) String() string {
	var b bytes.Buffer
	for _, line := range l.head {
		fmt.Fprintln(&b, line)
	}
	for _, name := range slices.Sorted(maps.Keys(l.must)) {
		fmt.Fprintln(&b, name)
	}
	for _, name := range slices.Sorted(maps.Keys(l.open)) {
		fmt.Fprintf(&b, "%s: %s\n", name, l.open[name])
	}
	return b.String()
}

// judge compares the result of one with the list. try runs it and says what went
// wrong; empty if nothing did.
func (l *list) judge(t *testing.T, name string, try func(t *testing.T) string) {
	t.Helper()
	wrong := try(t)
	if wrong == "" && !l.must[name] {
		wrong = try(t) // what passes once only is not ready for the list
	}
	l.mu.Lock()
	l.results[name] = wrong == ""
	l.mu.Unlock()
	switch {
	case *update && wrong == "":
	case *update && !*shrink && l.must[name]:
		t.Errorf("fails and stays in %s; -shrink would take it away\n%s", filepath.Base(l.path), wrong)
	case wrong != "" && l.must[name] && !*update:
		t.Error(wrong)
	case wrong != "":
		t.Skipf("open: %s\n%s", l.open[name], wrong)
	case !l.must[name]:
		t.Errorf("passes; add it to %s (go test ./internal/suite -update)", filepath.Base(l.path))
	}
}

// finish checks the list against the names that exist, reports the count, and
// writes the list if it was asked to. The caller registers it as a clean-up.
func (l *list) finish(t *testing.T, exist []string) {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(l.must)), slices.Collect(maps.Keys(l.open))) {
		if !slices.Contains(exist, name) {
			t.Errorf("%s names %s, which is not in the suite", filepath.Base(l.path), name)
		}
	}
	passed := 0
	for name, ok := range l.results {
		switch {
		case ok:
			passed++
			l.must[name] = true
			delete(l.open, name)
		case *shrink:
			delete(l.must, name)
		}
	}
	t.Logf("%d of %d passed", passed, len(l.results))
	if *update {
		if err := os.WriteFile(l.path, []byte(l.String()), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func TestListKeepsItsWords(t *testing.T) {
	t.Parallel()
	const text = "# what passes\n# and what does not\na\nb\nc: the engine lacks it\n"
	l := &list{must: map[string]bool{}, open: map[string]string{}}
	l.parse(text)
	if got := l.String(); got != text {
		t.Errorf("list = %q, want %q", got, text)
	}
}

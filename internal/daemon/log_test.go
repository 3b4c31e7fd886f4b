package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mcpx/internal/settings"
)

// logOf is the log of a place in a folder of its own, with settings.
func logOf(t *testing.T, flags map[string]string) (*LogFile, *settings.Set) {
	t.Helper()
	p := Place{Dir: t.TempDir(), Name: "x"}
	f, err := os.OpenFile(p.Log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	set := &settings.Set{}
	for name, value := range flags {
		if err := set.ApplyFlag(name, value); err != nil {
			t.Fatal(err)
		}
	}
	l := p.LogTo(f)
	l.Follow(set)
	return l, set
}

// kept are the lines of all logs, the oldest first, and the names of the files.
func kept(t *testing.T, l *LogFile, most int) (lines, names []string) {
	t.Helper()
	found, err := filepath.Glob(l.path + "*")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	for _, path := range slices.Backward(found) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > most {
			t.Errorf("%s has %d bytes, want at most %d", path, len(text), most)
		}
		if len(text) > 0 {
			lines = append(lines, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
		}
	}
	for _, path := range found {
		names = append(names, filepath.Base(path))
	}
	return lines, names
}

// A log that is full is put aside whole, a few are kept, and no line between is lost.
func TestALogThatIsFullIsPutAside(t *testing.T) {
	t.Parallel()
	l, set := logOf(t, map[string]string{"logging-max-bytes": "200", "logging-keep": "3"})
	const lines = 100
	for i := range lines {
		if _, err := fmt.Fprintf(l, "line %03d\n", i); err != nil { // of 9 bytes
			t.Fatal(err)
		}
	}
	got, names := kept(t, l, 200)
	if want := []string{"x.log", "x.log.1", "x.log.2", "x.log.3"}; !slices.Equal(names, want) {
		t.Errorf("there are %q, want %q", names, want)
	}
	if len(got) < 3*22 {
		t.Errorf("%d lines are left", len(got))
	}
	for i, line := range got {
		if want := fmt.Sprintf("line %03d", lines-len(got)+i); line != want {
			t.Fatalf("line %d is %q, want %q", i, line, want)
		}
	}
	// It follows the settings. What is more than is kept now goes.
	set.Override(map[string]string{"logging.keep": "1", "logging.maxBytes": "50"})
	l.Follow(set)
	for i := range 20 {
		fmt.Fprintf(l, "line %03d\n", i)
	}
	if _, names := kept(t, l, 50); !slices.Equal(names, []string{"x.log", "x.log.1"}) {
		t.Errorf("of one that is kept there are %q", names)
	}
	// One entry that is longer than all has a file for itself.
	fmt.Fprintln(l, strings.Repeat("x", 500))
	fmt.Fprintln(l, "after")
	if text, err := os.ReadFile(l.path); err != nil || string(text) != "after\n" {
		t.Errorf("after a long entry: %q, %v", text, err)
	}
}

// What the runtime writes goes into the same file, before and after it was put aside.
func TestALogIsWhatStandardErrorIs(t *testing.T) {
	t.Parallel()
	l, _ := logOf(t, map[string]string{"logging-max-bytes": "40", "logging-keep": "9"})
	var writing sync.WaitGroup
	for range 4 {
		writing.Go(func() {
			for range 5 {
				fmt.Fprintln(l, "entry")
			}
		})
	}
	writing.Wait()
	fmt.Fprintln(l.f, "panic: oh") // as the runtime does, which knows of no log
	if text, err := os.ReadFile(l.path); err != nil || !strings.HasSuffix(string(text), "panic: oh\n") || strings.Contains(string(text), "\x00") {
		t.Errorf("the log has %q, %v", text, err)
	}
	if lines, _ := kept(t, l, 60); len(lines) != 21 {
		t.Errorf("%d lines, want 21: %q", len(lines), lines)
	}
}

// Where it cannot be put aside it goes on, and is tried again later.
func TestALogThatCannotBePutAsideGoesOn(t *testing.T) {
	t.Parallel()
	l, _ := logOf(t, map[string]string{"logging-max-bytes": "40", "logging-keep": "2"})
	if err := os.MkdirAll(filepath.Join(l.path+".part", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := fmt.Fprintln(l, "entry"); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(l.path); err != nil || strings.Count(string(text), "entry\n") != 20 {
		t.Errorf("the log has %q, %v", text, err)
	}
	if err := os.RemoveAll(l.path + ".part"); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		fmt.Fprintln(l, "entry")
	}
	if _, names := kept(t, l, 1000); !slices.Equal(names, []string{"x.log", "x.log.1", "x.log.2"}) {
		t.Errorf("later there are %q", names)
	}
}

// A standard error that is no log, such as a terminal, is only written to.
func TestAnotherFileIsNotPutAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := Place{Dir: dir, Name: "x"}.LogTo(f)
	set := &settings.Set{}
	if err := set.ApplyFlag("logging-max-bytes", "10"); err != nil {
		t.Fatal(err)
	}
	l.Follow(set)
	for range 10 {
		fmt.Fprintln(l, "entry")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

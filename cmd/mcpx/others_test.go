//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mcpx/internal/daemon"
	"mcpx/internal/fault"
)

// TestADaemonThatDoesNotAnswerIsNotSaidToHaveEnded: the record names a process that is none of
// its business, and nothing listens.
func TestADaemonThatDoesNotAnswerIsNotSaidToHaveEnded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "daemon")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	place := daemon.Place{Dir: dir, Name: "x", Socket: filepath.Join(dir, "x.sock")}
	record := `{"pid":1,"version":"1","started":"2026-12-01T00:00:00Z","endpoint":"unix:` + place.Socket + `","token":"t"}`
	if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, end := range []bool{false, true} {
		if out, err := other(t.Context(), place, end); out != nil || err != nil {
			t.Errorf("one that is gone: %+v, %v", out, err)
		}
	}
	f, err := os.Create(filepath.Join(dir, "x.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	if out, err := other(t.Context(), place, false); out != nil || err != nil {
		t.Errorf("one that is looked at: %+v, %v", out, err)
	}
	if out, err := other(t.Context(), place, true); out != nil || fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "goes on") {
		t.Errorf("one that is to end: %+v, %v", out, err)
	}
}

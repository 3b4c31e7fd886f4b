package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mcpx/internal/fault"
)

func TestADatabaseIsMadeOnceAndGrows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new #?% dir", "x.db")
	steps := []string{"CREATE TABLE a (n INTEGER); INSERT INTO a VALUES (1)"}
	var opening sync.WaitGroup
	for range 8 { // as many processes may come at once
		opening.Go(func() {
			db, err := Database(t.Context(), path, steps...)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := db.ExecContext(t.Context(), "UPDATE a SET n = n + 1"); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
	later := append(steps, "ALTER TABLE a ADD COLUMN m INTEGER NOT NULL DEFAULT 5")
	db, err := Database(t.Context(), path, later...)
	if err != nil {
		t.Fatal(err)
	}
	var n, m int
	if err := db.QueryRowContext(t.Context(), "SELECT n, m FROM a").Scan(&n, &m); err != nil || n != 9 || m != 5 {
		t.Errorf("it holds %d and %d, %v, want 9 and 5", n, m, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("it is %v, %v", info, err)
	}
	// A version that knows fewer steps does not touch it.
	if _, err := Database(t.Context(), path, steps...); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "later version") {
		t.Errorf("an earlier version: %v", err)
	}
}

func TestADatabaseThatIsNoneSaysSo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Database(t.Context(), path, "CREATE TABLE a (n INTEGER)")
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Kind != fault.Unavailable || !strings.Contains(e.Message, path) || !strings.Contains(e.Hint, "remove it") {
		t.Errorf("opening it: %v", err)
	}
	if _, err := Database(t.Context(), filepath.Dir(path)); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a folder: %v", err)
	}
}

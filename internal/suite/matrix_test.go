//go:build unix

package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMatrix runs one script for each concept of the language and compares what
// it prints, byte for byte. MCPX_MATRIX_DIR names another folder of such scripts:
// of those only the ones that our list names must pass, the rest is counted.
func TestMatrix(t *testing.T) {
	source, foreign := os.Getenv("MCPX_MATRIX_DIR"), true
	if source == "" {
		source, foreign = folder(t, "matrix"), false
	}
	dir := filepath.Join(scratch, "matrix")
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	scripts := matrixScripts(t, dir)
	if len(scripts) == 0 {
		t.Fatalf("no script with a .out file in %s", source)
	}
	// A configuration without servers: nothing but the language is in question.
	config := filepath.Join(scratch, "matrix.json")
	if err := os.WriteFile(config, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	mcpx := program(t)

	l := readList(t, "matrix.txt")
	var exist []string
	for _, script := range scripts {
		exist = append(exist, concept(script))
	}
	t.Cleanup(func() {
		if foreign {
			l.count(t)
		} else {
			l.finish(t, exist)
		}
	})
	for _, script := range scripts {
		name := concept(script)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(filepath.Join(dir, name+".out"))
			if err != nil {
				t.Fatal(err)
			}
			try := func(t *testing.T) string {
				home := t.TempDir()
				env := []string{
					"PATH=" + os.Getenv("PATH"), "MCPX_DAEMON_INLINE=always", "HOME=" + home, "TMPDIR=" + home,
					"LANG=C.UTF-8", "TZ=America/New_York", "MCPX_CONFIG=" + config,
				}
				got := run(t, time.Minute, dir, env, mcpx, "run", "-A", script)
				if got.stdout == string(want) {
					return ""
				}
				return fmt.Sprintf("%s printed (-want +got):\n%s\nexit %d, standard error:\n%s", script, cmp.Diff(string(want), got.stdout), got.exit, got.stderr)
			}
			if foreign {
				l.observe(t, name, try)
			} else {
				l.judge(t, name, try)
			}
		})
	}
}

// observe is judge for a folder that the list was not made for: what passes
// there need not be in the list.
func (l *list) observe(t *testing.T, name string, try func(t *testing.T) string) {
	t.Helper()
	wrong := try(t)
	l.mu.Lock()
	l.results[name] = wrong == ""
	l.mu.Unlock()
	switch {
	case wrong != "" && l.must[name]:
		t.Error(wrong)
	case wrong != "":
		t.Skip(wrong)
	}
}

func (l *list) count(t *testing.T) {
	passed := 0
	for _, ok := range l.results {
		if ok {
			passed++
		}
	}
	t.Logf("%d of %d passed", passed, len(l.results))
}

// matrixScripts lists the scripts that have an expected output beside them.
func matrixScripts(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"*.ts", "*.tsx"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if _, err := os.Stat(strings.TrimSuffix(name, filepath.Ext(name)) + ".out"); err == nil {
				out = append(out, filepath.Base(name))
			}
		}
	}
	slices.Sort(out)
	return out
}

// concept is the name of a script without its extension.
func concept(script string) string {
	return strings.TrimSuffix(script, filepath.Ext(script))
}

//go:build unix

package suite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The command lines that the head of _tools/check.mjs asks for. A case may do everything.
const (
	runCase   = `mcpx run -A --policy-write allow ${CONFIG:+--config "$CONFIG"} "$CASE/script.ts"`
	typesCase = `mcpx types --config "$CONFIG" "$SERVER" --globals -o "$OUT"`
)

// TestCases runs the cases taken from bug reports by their own checker.
func TestCases(t *testing.T) {
	source, node := folder(t, "cases"), node(t)
	tsc, err := filepath.Abs(filepath.Join(root, "testdata", "npm", "node_modules", ".bin", "tsc"))
	if err != nil {
		t.Fatal(err)
	}
	// The checker works in copies that it makes beside nothing of ours, but from
	// a folder that it may write.
	dir := filepath.Join(scratch, "cases")
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	kinds := caseKinds(t, dir)
	if len(kinds) == 0 {
		t.Fatalf("no cases in %s", source)
	}
	path := filepath.Dir(program(t)) + string(os.PathListSeparator) + os.Getenv("PATH")

	l := readList(t, "cases.txt")
	var exist []string
	for id := range kinds {
		exist = append(exist, id)
	}
	t.Cleanup(func() { l.finish(t, exist) })
	for id, kind := range kinds {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			switch kind {
			case "policy":
				t.Skip("prose: what is expected is said in words and tested where it belongs")
			case "types":
				if _, err := os.Stat(tsc); err != nil {
					missing(t, "no TypeScript compiler: %v; `npm ci` in testdata/npm installs it", err)
				}
			}
			l.judge(t, id, func(t *testing.T) string {
				env := []string{"PATH=" + path, "MCPX_DAEMON_INLINE=always", "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "TSC=" + tsc}
				got := run(t, 2*time.Minute, dir, env, node, filepath.Join(dir, "_tools", "check.mjs"), "--cmd", runCase, "--types", typesCase, id)
				if got.exit == 0 && strings.Contains(got.stdout, "ok 1, failed 0, skipped 0") {
					return ""
				}
				return got.stdout + got.stderr
			})
		})
	}
}

// caseKinds reads how each case is run.
func caseKinds(t *testing.T, dir string) map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "case.json"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for _, name := range found {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var c struct{ Run string }
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kinds[filepath.Base(filepath.Dir(name))] = c.Run
	}
	return kinds
}

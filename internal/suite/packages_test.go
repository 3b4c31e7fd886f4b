//go:build unix

package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPackages runs scripts that import what npm has installed. Beside each is what Node
// printed for it, once esbuild had bundled it for Node.
func TestPackages(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join(root, "testdata", "npm", "scripts"))
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := filepath.Glob(filepath.Join(dir, "*.out"))
	if err != nil || len(outputs) == 0 {
		t.Fatalf("no script with a .out file in %s: %v", dir, err)
	}
	for _, output := range outputs {
		name := strings.TrimSuffix(filepath.Base(output), ".out")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "all" {
				npmFile(t, name, "package.json")
			}
			npmFile(t, "lodash", "package.json")
			want, err := os.ReadFile(output)
			if err != nil {
				t.Fatal(err)
			}
			home := t.TempDir()
			config := filepath.Join(home, "none.json")
			if err := os.WriteFile(config, []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			env := []string{"PATH=" + os.Getenv("PATH"), "MCPX_DAEMON_INLINE=always", "HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8", "TZ=America/New_York", "MCPX_CONFIG=" + config}
			got := run(t, time.Minute, dir, env, program(t), "run", name+".ts")
			if got.stdout != string(want) || got.exit != 0 {
				t.Errorf("%s.ts printed (-Node +mcpx):\n%s\nexit %d, standard error:\n%s", name, cmp.Diff(string(want), got.stdout), got.exit, got.stderr)
			}
		})
	}
}

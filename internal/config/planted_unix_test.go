//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatSomebodyElsePutThereIsNotTaken holds that nobody gives other users servers by a file
// in a folder that is everybody's.
func TestWhatSomebodyElsePutThereIsNotTaken(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const me, other, third = 0, 65534, 1
	for _, tt := range []struct {
		what         string
		mode         os.FileMode
		folder, file int
		refused      bool
	}{
		{"in a folder of everybody", 0o777 | os.ModeSticky, me, other, true},
		{"in one of a third", 0o777, third, other, true},
		{"by oneself", 0o777 | os.ModeSticky, me, me, false},
		{"in a folder of the same", 0o777, other, other, false},
		{"in a folder that others cannot write to", 0o775, me, other, false},
	} {
		for _, name := range []string{".mcp.json", filepath.Join(".mcpx", "config.json")} {
			shared := t.TempDir()
			file := filepath.Join(shared, name)
			dir := filepath.Join(shared, "work")
			for _, folder := range []string{dir, filepath.Dir(file)} {
				if err := os.MkdirAll(folder, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(file, []byte(`{"mcpServers": {"evil": {"command": "evil"}}}`), 0o644); err != nil {
				t.Fatal(err)
			}
			chown := func(path string, uid int) {
				if err := os.Chown(path, uid, uid); err != nil {
					t.Fatal(err)
				}
			}
			chown(file, tt.file)
			if folder := filepath.Dir(file); folder != shared {
				chown(folder, tt.file) // whoever writes the file makes its folder
			}
			chown(shared, tt.folder)
			if err := os.Chmod(shared, tt.mode); err != nil {
				t.Fatal(err)
			}
			c, err := Load(Options{Env: Env{Dir: dir}})
			if err != nil {
				t.Fatal(err)
			}
			var said string
			for _, f := range c.Files {
				if f.Path == file && f.Err != nil {
					said = f.Err.Message + "; " + f.Err.Hint
				}
			}
			if refused := strings.Contains(said, "everybody can write") && strings.Contains(said, "--config") && len(c.Servers) == 0; refused != tt.refused || !refused && said != "" {
				t.Errorf("%s, %s: %d servers, %q", name, tt.what, len(c.Servers), said)
			}
		}
	}
}

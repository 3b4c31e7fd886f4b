//go:build unix

package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

func TestLookPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, mode := range map[string]os.FileMode{"a/tool": 0o700, "b/tool": 0o700, "b/other": 0o700, "c/plain": 0o600, "here": 0o700} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "a/other"), 0o700); err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) string {
		for i, n := range names {
			names[i] = filepath.Join(dir, n)
		}
		return strings.Join(names, string(filepath.ListSeparator))
	}
	tests := []struct {
		name, path string
		want       string // below dir, or the error
		hint       string
	}{
		{"tool", in("none", "a", "b"), "a/tool", ""},
		{"other", in("a", "b"), "b/other", ""}, // a/other is a directory
		{"tool", "b:a", "b/tool", ""},          // relative directories
		{"here", ":" + in("a"), "here", ""},    // an empty one is the working directory
		{"./a/tool", "", "a/tool", ""},
		{"a/../b/tool", in("a"), "b/tool", ""},
		{in("b/tool"), "", "b/tool", ""},
		{"npx", in("a", "b"), `cannot find the program "npx" in PATH (` + in("a", "b") + `)`, "install npx"},
		{"npx", "", `cannot find the program "npx": PATH is empty`, "set PATH"},
		{"plain", in("a", "c"), "cannot run " + in("c/plain") + ": it is not executable", "chmod +x"},
		{"./nothing", "", "cannot run " + in("nothing") + ": no such file", "working directory"},
		{"./a", "", "cannot run " + in("a") + ": it is a directory", "program"},
		{"", in("a"), "no program is named", "command"},
		{"cmd", in("a"), `cannot find the program "cmd" in PATH (` + in("a") + `)`, "a name of Windows"},
		{"npx.CMD", in("a"), `cannot find the program "npx.CMD" in PATH (` + in("a") + `)`, "a name of Windows"},
		{`C:\Program Files\x.exe`, in("a"), `cannot find the program "C:\\Program Files\\x.exe" in PATH (` + in("a") + `)`, "a path of Windows"},
	}
	for _, tt := range tests {
		got, err := LookPath(tt.name, tt.path, dir)
		var e *fault.Error
		switch {
		case err == nil && got != filepath.Join(dir, tt.want):
			t.Errorf("LookPath(%q, %q) = %s, want %s", tt.name, tt.path, got, tt.want)
		case err != nil && (!errors.As(err, &e) || e.Kind != fault.Unavailable || e.Message != tt.want || tt.hint == "" || !strings.Contains(e.Hint, tt.hint)):
			t.Errorf("LookPath(%q, %q): %#v, want %q with a hint of %q", tt.name, tt.path, err, tt.want, tt.hint)
		}
	}
}

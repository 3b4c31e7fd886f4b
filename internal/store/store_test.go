package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestDir(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		env  map[string]string
		home string
		want string
	}{
		{"ours first", map[string]string{"MCPX_STATE_DIR": "/s", "XDG_STATE_HOME": "/x"}, "/h", "/s"},
		{"XDG", map[string]string{"XDG_STATE_HOME": "/x", "MCPX_STATE_DIR": ""}, "/h", "/x/mcpx"},
		{"a relative XDG counts as unset", map[string]string{"XDG_STATE_HOME": "x"}, "/h", "/h/.local/state/mcpx"},
		{"home", nil, "/h", "/h/.local/state/mcpx"},
		{"nowhere", nil, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Dir(func(name string) (string, bool) { v, ok := test.env[name]; return v, ok }, test.home)
			if got != test.want {
				t.Errorf("Dir = %q, want %q", got, test.want)
			}
		})
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b", "file")
	for _, content := range []string{"first", "second, which is longer", ""} {
		if err := WriteFile(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(path, 100)
		if err != nil || string(got) != content {
			t.Errorf("ReadFile = %q, %v, want %q", got, err, content)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode is %v, %v, want 0640", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory's mode is %v, %v, want 0700", info.Mode(), err)
	}
	onlyFile(t, path)
}

// onlyFile fails if anything is left beside a file.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("beside %s there is %v", path, entries)
	}
}

func TestWriteFileLeavesNothingWhenItFails(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(path, 0o700); err != nil { // a directory cannot be replaced by a file
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("x"), 0o600); err == nil {
		t.Fatal("WriteFile replaced a directory")
	}
	onlyFile(t, path)
	if err := WriteFile(filepath.Join(dir, "taken", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "taken", "x", "y"), nil, 0o600); err == nil {
		t.Error("WriteFile made a directory of a file")
	}
}

func TestReadersSeeWholeFilesOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	contents := [][]byte{bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<17)}
	if err := WriteFile(path, contents[0], 0o600); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, content := range contents {
		writers.Go(func() {
			for range 50 {
				if err := WriteFile(path, content, 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for {
		got, err := ReadFile(path, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1]) {
			t.Fatalf("read %d bytes that nobody wrote", len(got))
		}
		select {
		case <-done:
			onlyFile(t, path)
			return
		default:
		}
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(path, 5); err != nil || string(got) != "12345" {
		t.Errorf("ReadFile = %q, %v", got, err)
	}
	if _, err := ReadFile(path, 4); err == nil || !strings.Contains(err.Error(), "longer than 4 bytes") {
		t.Errorf("ReadFile of a longer file: %v", err)
	}
	if _, err := ReadFile(filepath.Join(dir, "none"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile of no file: %v", err)
	}
	if _, err := ReadFile(dir, 4); err == nil {
		t.Error("ReadFile read a directory")
	}
}

// Package store keeps what mcpx remembers between its processes: where the state
// directory is, and files that appear whole or not at all.
//
// What the files mean is decided by the packages that write them.
package store

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Dir returns the state directory: $MCPX_STATE_DIR, else mcpx below $XDG_STATE_HOME,
// else ~/.local/state/mcpx. As the XDG specification has it, a relative
// $XDG_STATE_HOME counts as unset. With neither of them and no home there is no
// state directory, and Dir returns "". Nothing is created.
func Dir(lookup func(name string) (string, bool), home string) string {
	if dir, ok := lookup("MCPX_STATE_DIR"); ok && dir != "" {
		return dir
	}
	if dir, ok := lookup("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "mcpx")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".local", "state", "mcpx")
}

// WriteFile makes path hold data. Whoever reads the path meanwhile, in this process
// or another, finds the old file or the new one and never a part; of two writers
// the later wins. Directories that are missing are made for the owner alone.
//
// The data is not forced to the disk: after a power failure the file may be damaged.
func WriteFile(path string, data []byte, mode fs.FileMode) (err error) {
	dir, name := filepath.Split(filepath.Clean(path))
	if dir == "" {
		dir = "."
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+name+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Chmod(mode); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// ReadFile returns the whole of a regular file of at most limit bytes. Anything
// else at the path, a pipe or a directory, is an error, and so is a longer file.
func ReadFile(path string, limit int64) ([]byte, error) {
	// Without the first look, opening a pipe that nobody writes to would wait.
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%s is longer than %d bytes", path, limit)
	}
	return data, nil
}

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"sync"

	"mcpx/internal/fault"
)

// Trust is what the user vouches for: configuration files of projects, each with the
// text that it had then. A file that has changed since is not trusted any more: whoever
// can write to a project must not be able to grant himself more.
type Trust struct {
	path string
	read func() (map[string]string, error)
}

// maxTrust bounds the file of what is trusted.
const maxTrust = 4 << 20

// OpenTrust reads nothing yet. state is the state directory; without one nothing is
// trusted, and nothing can be.
func OpenTrust(state string) *Trust {
	t := &Trust{}
	if state != "" {
		t.path = filepath.Join(state, "trust.json")
	}
	t.read = sync.OnceValues(t.load)
	return t
}

func (t *Trust) load() (map[string]string, error) {
	files := map[string]string{}
	if t.path == "" {
		return files, nil
	}
	text, err := ReadFile(t.path, maxTrust)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return files, nil
	case err != nil:
		return nil, err
	}
	var saved struct {
		Files map[string]string `json:"files"`
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", t.path, err)
	}
	maps.Copy(files, saved.Files)
	return files, nil
}

// Trusted reports whether the user vouches for a file with this text. A list that cannot
// be read vouches for nothing.
func (t *Trust) Trusted(path string, text []byte) bool {
	files, err := t.read()
	return err == nil && files[resolved(path)] == digest(text)
}

// Add vouches for files, by path, with their texts. The error's kind is unavailable.
func (t *Trust) Add(files map[string][]byte) error {
	return t.change(func(trusted map[string]string) {
		for path, text := range files {
			trusted[resolved(path)] = digest(text)
		}
	})
}

// Remove takes back what was said of files, by path, whether it was said or not.
func (t *Trust) Remove(paths []string) error {
	return t.change(func(trusted map[string]string) {
		for _, path := range paths {
			delete(trusted, resolved(path))
		}
	})
}

// change rewrites the list. Of two processes that do so at once the later wins.
func (t *Trust) change(edit func(map[string]string)) error {
	if t.path == "" {
		return fault.Unavailablef("there is no state directory to remember it in").Hintf("set MCPX_STATE_DIR or HOME")
	}
	files, err := t.load()
	if err != nil {
		return fault.Unavailablef("what is trusted cannot be read: %w", err).Hintf("remove the file; then nothing is trusted until you say so again")
	}
	edit(files)
	text, err := json.MarshalIndent(map[string]any{"files": files}, "", "  ")
	if err != nil {
		return fault.Internalf("encoding what is trusted: %w", err)
	}
	if err := WriteFile(t.path, append(text, '\n'), 0o600); err != nil {
		return fault.Unavailablef("what is trusted cannot be kept: %w", err).Hintf("set MCPX_STATE_DIR to a directory that can be written")
	}
	return nil
}

// resolved is the one name of a file: links on the way to it could be turned elsewhere. A
// file that is a link itself is not what it leads to: what it says is relative to its own
// folder, so that the same text means something else there.
func resolved(path string) string {
	path = filepath.Clean(path)
	if at, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(at, filepath.Base(path))
	}
	return path
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

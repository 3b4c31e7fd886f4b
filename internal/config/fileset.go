package config

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// FileSet is which files a configuration is made of. It does not depend on what they hold.
type FileSet struct {
	Files    []string // absolute, nearest first
	Explicit bool     // it is the one file that was named instead of searching
	dir      string   // where it is read from, if that decides what the file says
}

// FileSet looks for the files, and reads no more of them than which others they name. The error is that of Load for a file
// that was named and does not exist.
func (o Options) FileSet() (FileSet, error) {
	places, err := o.places()
	if err != nil {
		return FileSet{}, err
	}
	var set FileSet
	for _, p := range places {
		if !p.exists() {
			continue
		}
		set.Files = append(set.Files, p.path)
		set.Explicit = p.explicit
		if base := filepath.Base(p.path); p.explicit && strings.Contains(base, "claude") || base == ".claude.json" {
			set.dir = o.Env.Dir // it has servers for each project
		}
	}
	return set, nil
}

// Key is equal for equal sets.
func (s FileSet) Key() string {
	h := sha256.New()
	for _, word := range append([]string{strconv.FormatBool(s.Explicit), s.dir}, s.Files...) {
		h.Write([]byte(strconv.Itoa(len(word)) + ":" + word))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Watch notices when files change, by what the system says of them.
type Watch struct {
	files []string
	infos []fs.FileInfo // nil for a file that is not there
}

// NewWatch remembers how files are now.
func NewWatch(files []string) *Watch {
	w := &Watch{files: slices.Clone(files)}
	w.infos = w.look()
	return w
}

func (w *Watch) look() []fs.FileInfo {
	out := make([]fs.FileInfo, len(w.files))
	for i, path := range w.files {
		if info, err := os.Stat(path); err == nil {
			out[i] = info
		}
	}
	return out
}

// Changed reports whether a file is another than at the last call, and remembers how they
// are now.
func (w *Watch) Changed() bool {
	now := w.look()
	same := slices.EqualFunc(w.infos, now, func(a, b fs.FileInfo) bool {
		if a == nil || b == nil {
			return a == nil && b == nil
		}
		return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
	})
	w.infos = now
	return !same
}

// Same reports whether two entries start or reach the same server in the same way, wherever
// they are written, whoever vouches for them, and whatever rules they have about its tools.
func (s *Server) Same(other *Server) bool {
	bare := func(s *Server) Server {
		c := *s
		c.Origin, c.Guest, c.Ignored, c.Warnings, c.Rules = Origin{}, false, nil, nil, nil
		c.lines, c.alias, c.broken, c.inputs = nil, nil, nil, nil // the alias's target has an entry of its own
		c.misplaced, c.Problem = nil, nil
		return c
	}
	return (s.Problem == nil) == (other.Problem == nil) && reflect.DeepEqual(bare(s), bare(other)) //nolint:govet // the errors in them are gone
}

// UserFile is the file of the user's own servers: the first one that is there, or else the
// one to make. It is empty if there is no place for one.
func (e Env) UserFile() string {
	var candidates []string
	xdg, _ := e.variable("XDG_CONFIG_HOME")
	if !filepath.IsAbs(xdg) && e.Home != "" {
		xdg = filepath.Join(e.Home, ".config")
	}
	if filepath.IsAbs(xdg) {
		candidates = append(candidates, filepath.Join(xdg, "mcpx", "config.json"))
	}
	if e.Home != "" {
		candidates = append(candidates, filepath.Join(e.Home, ".mcpx.json"))
	}
	for _, path := range candidates {
		if (place{path: path}).exists() {
			return path
		}
	}
	return append(candidates, "")[0]
}

// ProjectFile is the file of the project's own servers: the nearest one that is there, in
// the working directory or above it as far as the repository and below the home directory,
// or else the one to make, at the top of the repository or in the working directory.
func (e Env) ProjectFile() string {
	top := filepath.Clean(e.Dir)
	for dir := top; dir != e.Home; dir = filepath.Dir(dir) {
		for _, path := range ProjectFiles(dir) {
			if filepath.Base(path) != ".mcp.json" && (place{path: path}).exists() {
				return path
			}
		}
		if (place{path: filepath.Join(dir, ".git")}).exists() {
			top = dir
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return filepath.Join(top, ".mcpx.json")
}

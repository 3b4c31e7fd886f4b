package grant

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// taken is a path that was taken away inside a grant, with all that is below it. It is
// known by what it is, not by its name: by what was there when the run began, and by
// what is there now. Where nothing is there, nothing may be made.
type taken struct {
	path string // without links
	was  []os.FileInfo
}

func takeAway(path string) *taken {
	t := &taken{path: resolve(path, maxLinks)}
	for _, look := range []func(string) (os.FileInfo, error){os.Stat, os.Lstat} {
		if info, err := look(path); err == nil {
			t.was = append(t.was, info)
		}
	}
	return t
}

// is reports whether something is what was taken away.
func (t *taken) is(info os.FileInfo) bool {
	if slices.ContainsFunc(t.was, func(was os.FileInfo) bool { return os.SameFile(was, info) }) {
		return true
	}
	now, err := os.Lstat(t.path)
	return err == nil && os.SameFile(now, info)
}

// deniesInfo reports whether something was taken away.
func (g *gate) deniesInfo(info os.FileInfo) bool {
	return slices.ContainsFunc(g.taken, func(t *taken) bool { return t.is(info) })
}

// deniesName reports whether what would be made under a name was taken away.
func (g *gate) deniesName(dir *os.Root, name string) bool {
	return slices.ContainsFunc(g.taken, func(t *taken) bool {
		if !strings.EqualFold(filepath.Base(t.path), name) {
			return false
		}
		above, err := os.Stat(filepath.Dir(t.path))
		if err != nil {
			return false
		}
		here, err := dir.Stat(".")
		return err != nil || os.SameFile(above, here)
	})
}

// holdsDenied reports whether something was taken away, or lies above what was.
func (g *gate) holdsDenied(info os.FileInfo) bool {
	return slices.ContainsFunc(g.taken, func(t *taken) bool {
		return t.is(info) || isAbove(t.path, info)
	})
}

// takes reports whether all of a path was taken away.
func (g *gate) takes(path string) bool {
	return slices.ContainsFunc(g.taken, func(t *taken) bool {
		return path == t.path || strings.HasPrefix(path, t.path+string(filepath.Separator)) || slices.ContainsFunc(t.was, func(was os.FileInfo) bool {
			at, err := os.Stat(path)
			return err == nil && os.SameFile(at, was) || isAbove(path, was)
		})
	})
}

// isAbove reports whether a folder is one of those above a path.
func isAbove(path string, folder os.FileInfo) bool {
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, folder) {
			return true
		}
		if filepath.Dir(at) == at {
			return false
		}
	}
}

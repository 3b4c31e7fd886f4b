package worker

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// importer decides which files a script may import. Directories count by the name that
// they were given by and by what they really are, so that both of a file's do.
type importer struct {
	imports, reads words
}

// words are the paths of a grant in both forms.
type words struct {
	all, none   bool
	allow, deny []string
}

func newImporter(imports, reads grant.Words) *importer {
	return &importer{imports: pathsOf(imports), reads: pathsOf(reads)}
}

func pathsOf(w grant.Words) words {
	forms := func(list []string) (out []string) {
		for _, path := range list {
			if path == grant.Any {
				continue
			}
			path = filepath.Clean(path)
			out = append(out, path)
			if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
				out = append(out, real)
			}
		}
		return out
	}
	return words{
		all: slices.Contains(w.Allow, grant.Any), none: w.None(),
		allow: forms(w.Allow), deny: forms(w.Deny),
	}
}

// under returns the longest of the directories that holds a path, or is it.
func under(path string, dirs []string) (dir string, ok bool) {
	for _, d := range dirs {
		inside := path == d || strings.HasPrefix(path, strings.TrimSuffix(d, string(filepath.Separator))+string(filepath.Separator))
		if inside && (!ok || len(d) > len(dir)) {
			dir, ok = d, true
		}
	}
	return dir, ok
}

// holds reports whether a path is granted, and below which directory.
func (w words) holds(path string) (dir string, ok bool) {
	if _, denied := under(path, w.deny); denied || w.none {
		return "", false
	}
	if dir, ok = under(path, w.allow); !ok && w.all {
		return filepath.VolumeName(path) + string(filepath.Separator), true
	}
	return dir, ok
}

// roots are the directories that have to be readable.
func (im *importer) roots() []string {
	if im.imports.all {
		return []string{string(os.PathSeparator)}
	}
	return im.imports.allow
}

// decide is engine.Source.Import.
func (im *importer) decide(file, specifier string) *fault.Error {
	dir, ok := im.imports.holds(file)
	if !ok {
		return refusedImport(grant.Import, folderOf(file), specifier)
	}
	if rest, err := filepath.Rel(dir, file); err == nil && hidden(rest) {
		if _, ok := im.reads.holds(file); !ok {
			return refusedImport(grant.Read, file, specifier)
		}
	}
	return nil
}

// hidden reports whether a path goes through a name that begins with a dot. Where pnpm
// keeps packages is none of those that people mean by it.
func hidden(path string) bool {
	for name := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if strings.HasPrefix(name, ".") && name != "." && name != ".." && name != ".pnpm" {
			return true
		}
	}
	return false
}

// folderOf is what to grant for a file: its folder, or where the packages are that it
// belongs to.
func folderOf(file string) string {
	const packages = string(filepath.Separator) + "node_modules"
	if i := strings.Index(file, packages+string(filepath.Separator)); i >= 0 {
		return file[:i+len(packages)]
	}
	return filepath.Dir(file)
}

// refusedImport says what was refused as the script spelled it, and what to grant.
func refusedImport(name, path, specifier string) *fault.Error {
	e, allow := grant.Denied(name, specifier), grant.Denied(name, path)
	e.Hint, e.Details["flag"] = allow.Hint, allow.Details["flag"]
	return e
}

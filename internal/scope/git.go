package scope

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcpx/internal/process"
)

// Repository is where a repository keeps itself. Paths are absolute and without links.
type Repository struct {
	// CommonDir is what all its worktrees share: PROJECT/.git, or the folder of a bare one.
	CommonDir string
	// Worktree is the top of the files that are checked out; empty if the directory
	// belongs to none.
	Worktree string
}

var errNone = errors.New("there is no repository here")

// None reports whether an error of Find says that there is no repository, rather than one
// that cannot be read.
func None(err error) bool { return errors.Is(err, errNone) }

// Find returns the repository of a directory, as git would find it with the variables of
// an environment (GIT_DIR, GIT_WORK_TREE, GIT_CEILING_DIRECTORIES and their kin). Who
// owns it does not matter: nothing of it is run. git itself is asked only if the
// repository is of a format that is not known here.
func Find(dir string, environ []string) (Repository, error) {
	f := finder{cwd: physical(dir), environ: environ}
	r, err := f.find()
	if errors.As(err, new(*formatError)) {
		asked, askErr := f.ask()
		if askErr != nil {
			return Repository{}, fmt.Errorf("%w, and %w", err, askErr)
		}
		return asked, nil
	}
	return r, err
}

// formatError says what of a repository is not known here.
type formatError struct{ what string }

func (e *formatError) Error() string { return e.what }

type finder struct {
	cwd     string
	environ []string
}

func (f *finder) env(name string) string { return process.Getenv(f.environ, name) }

// within makes a path absolute that is relative to dir.
func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func (f *finder) find() (Repository, error) {
	if named := f.env("GIT_DIR"); named != "" {
		return f.named(within(f.cwd, named))
	}
	across, err := f.across()
	if err != nil {
		return Repository{}, err
	}
	device := deviceOf(f.cwd)
	ceiling := f.ceiling()
	for dir := f.cwd; ; {
		gitDir, err := f.dotGit(filepath.Join(dir, ".git"))
		switch {
		case err != nil:
			return Repository{}, err
		case gitDir != "":
			return f.repository(gitDir, dir)
		case f.isGitDir(dir):
			return f.repository(dir, "")
		}
		up := filepath.Dir(dir)
		switch {
		case up == dir, len(up) <= ceiling:
			return Repository{}, errNone
		case !across && deviceOf(up) != device:
			return Repository{}, fmt.Errorf("%w up to the mount point %s", errNone, dir)
		}
		dir = up
	}
}

// across reports whether the search goes on beyond a mount point.
func (f *finder) across() (bool, error) {
	text := f.env("GIT_DISCOVERY_ACROSS_FILESYSTEM")
	yes, ok := truth(text)
	if !ok {
		return false, fmt.Errorf("GIT_DISCOVERY_ACROSS_FILESYSTEM is %q, which is neither true nor false", text)
	}
	return yes, nil
}

// ceiling is the length of the longest directory of GIT_CEILING_DIRECTORIES that is above
// the working directory; the search ends below it. It is 0 if there is none.
func (f *finder) ceiling() int {
	longest, follow := 0, true
	for _, dir := range filepath.SplitList(f.env("GIT_CEILING_DIRECTORIES")) {
		if dir == "" { // those behind it are taken as they are written
			follow = false
			continue
		}
		if !filepath.IsAbs(dir) {
			continue
		}
		if follow {
			dir = physical(dir)
		}
		dir = filepath.Clean(dir)
		if below(dir, f.cwd) && len(dir) > longest {
			longest = len(dir)
		}
	}
	return longest
}

// below reports whether path lies in dir and is not dir itself.
func below(dir, path string) bool {
	if dir == filepath.Dir(dir) {
		return len(path) > len(dir) && strings.HasPrefix(path, dir)
	}
	return strings.HasPrefix(path, dir+string(filepath.Separator))
}

// named is the repository that GIT_DIR names.
func (f *finder) named(path string) (Repository, error) {
	gitDir, err := f.dotGit(path)
	if err != nil {
		return Repository{}, err
	}
	if gitDir == "" {
		return Repository{}, fmt.Errorf("GIT_DIR names %s, which is not a repository", path)
	}
	r, c, err := f.open(gitDir)
	if err != nil {
		return Repository{}, err
	}
	r.Worktree = f.explicit(gitDir, c)
	return f.inside(r), nil
}

// explicit is the worktree of a repository that is not simply beside it.
func (f *finder) explicit(gitDir string, c gitConfig) string {
	switch named := f.env("GIT_WORK_TREE"); {
	case named != "":
		return physical(within(f.cwd, named))
	case c.bare:
		return ""
	case c.worktree != "":
		return physical(within(gitDir, c.worktree))
	case f.env("GIT_IMPLICIT_WORK_TREE") != "":
		if yes, ok := truth(f.env("GIT_IMPLICIT_WORK_TREE")); ok && !yes {
			return ""
		}
	}
	return f.cwd
}

// repository is one that was found, with its files in top unless it says otherwise; top
// is empty if the directory is inside the repository itself.
func (f *finder) repository(gitDir, top string) (Repository, error) {
	r, c, err := f.open(gitDir)
	if err != nil {
		return Repository{}, err
	}
	switch {
	case f.env("GIT_WORK_TREE") != "" || c.worktree != "":
		r.Worktree = f.explicit(gitDir, c)
	case !c.bare:
		r.Worktree = top
	}
	return f.inside(r), nil
}

// inside takes away a worktree that the working directory is not in.
func (f *finder) inside(r Repository) Repository {
	if r.Worktree != f.cwd && !below(r.Worktree, f.cwd) {
		r.Worktree = ""
	}
	return r
}

// open reads what a repository says of itself.
func (f *finder) open(gitDir string) (Repository, gitConfig, error) {
	common, linked, err := f.commonDir(gitDir)
	if err != nil {
		return Repository{}, gitConfig{}, err
	}
	c, err := readConfig(filepath.Join(common, "config"), false)
	if err != nil {
		return Repository{}, gitConfig{}, err
	}
	if c.perWorktree {
		own, err := readConfig(filepath.Join(gitDir, "config.worktree"), true)
		if err != nil {
			return Repository{}, gitConfig{}, err
		}
		if own.bareSaid {
			c.bare = own.bare
		}
		if own.worktree != "" {
			c.worktree = own.worktree
		}
	} else if linked {
		c.bare, c.worktree = false, "" // those of the main worktree
	}
	return Repository{CommonDir: physical(common)}, c, nil
}

// dotGit returns the repository that a .git is or leads to; empty if it is none.
func (f *finder) dotGit(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err != nil && isNotDir(err):
		return "", nil
	case err != nil:
		return "", nil //nolint:nilerr // git passes by what it cannot look at
	case info.IsDir() || !info.Mode().IsRegular():
		if f.isGitDir(path) {
			return physical(path), nil
		}
		return "", nil
	}
	text, err := readSmall(path, 1<<20)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	to, ok := strings.CutPrefix(text, "gitdir: ")
	to = strings.TrimRight(to, "\r\n")
	if !ok || to == "" {
		return "", fmt.Errorf("%s is a file without gitdir: in front", path)
	}
	to = within(filepath.Dir(path), to)
	if !f.isGitDir(to) {
		return "", fmt.Errorf("%s leads to %s, which is not a repository", path, to)
	}
	return physical(to), nil
}

// isGitDir reports whether a directory has what a repository must have.
func (f *finder) isGitDir(dir string) bool {
	if !validHead(filepath.Join(dir, "HEAD")) {
		return false
	}
	common, _, err := f.commonDir(dir)
	if err != nil {
		return false
	}
	objects := filepath.Join(common, "objects")
	if named := f.env("GIT_OBJECT_DIRECTORY"); named != "" {
		objects = within(f.cwd, named)
	}
	return accessible(objects) && accessible(filepath.Join(common, "refs"))
}

// commonDir is the repository that a linked worktree is of, or dir itself.
func (f *finder) commonDir(dir string) (common string, linked bool, err error) {
	if named := f.env("GIT_COMMON_DIR"); named != "" {
		return within(f.cwd, named), true, nil
	}
	text, err := readSmall(filepath.Join(dir, "commondir"), 1<<16)
	if errors.Is(err, fs.ErrNotExist) || err != nil && isNotDir(err) {
		return dir, false, nil
	}
	if err != nil {
		return "", false, err
	}
	return within(dir, strings.TrimRight(text, "\r\n")), true, nil
}

// validHead reports whether a HEAD names a reference or a commit.
func validHead(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(path)
		return err == nil && strings.HasPrefix(to, "refs/")
	}
	text, err := readSmall(path, 1<<16)
	if err != nil {
		return false
	}
	if ref, ok := strings.CutPrefix(text, "ref:"); ok {
		return strings.HasPrefix(strings.TrimLeft(ref, " \t\n\v\f\r"), "refs/")
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789abcdefABCDEF"))
	return digits == 40 || digits == 64
}

// readSmall reads a regular file of at most limit bytes.
func readSmall(path string, limit int64) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	switch {
	case err != nil:
		return "", err
	case int64(len(data)) > limit:
		return "", fmt.Errorf("%s is longer than %d bytes", path, limit)
	}
	return string(data), nil
}

// gitConfig is what of a repository's configuration decides where it is.
type gitConfig struct {
	bare, bareSaid bool
	worktree       string
	perWorktree    bool // each worktree has a file of its own beside
}

// The extensions that change nothing about where a repository is (worktreeConfig is read),
// and those of them that only a repository of the format 1 may have.
const (
	harmless  = " noop preciousobjects partialclone worktreeconfig "
	ofFormat1 = " noop-v1 objectformat compatobjectformat refstorage relativeworktrees "
)

// readConfig reads a configuration file of git; more says that it only adds to another.
// One that is not there says nothing. An error of type *formatError says that git must be
// asked.
func readConfig(path string, more bool) (gitConfig, error) {
	var c gitConfig
	text, err := readSmall(path, 16<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("reading %s: %w", path, err)
	}
	var version, unknown, newer string
	ok := parseConfig(text, func(section, key, value string, bare bool) bool {
		switch {
		case section == "core" && key == "repositoryformatversion":
			version = value
		case section == "core" && key == "bare":
			yes, ok := truth(value)
			c.bare, c.bareSaid = yes || bare, true
			return ok || bare
		case section == "core" && key == "worktree":
			c.worktree = value
		case section == "extensions" && key == "worktreeconfig":
			yes, ok := truth(value)
			c.perWorktree = yes || bare
			return ok || bare
		case section == "extensions" && strings.Contains(ofFormat1, " "+key+" "):
			newer = key
		case section == "extensions" && !strings.Contains(harmless, " "+key+" "):
			unknown = key
		}
		return true
	})
	switch {
	case !ok:
		return c, &formatError{path + " cannot be read here"}
	case version == "" && !more:
		return gitConfig{}, nil // git does not take the rest for settings of a repository
	case !more && version != "0" && version != "1":
		return c, &formatError{fmt.Sprintf("%s is of the format %q, which is not known here", path, version)}
	case unknown != "" && version == "1":
		return c, &formatError{fmt.Sprintf("%s has the extension %s, which is not known here", path, unknown)}
	case newer != "" && version == "0":
		return c, &formatError{fmt.Sprintf("%s has the extension %s, which the format 0 does not have", path, newer)}
	}
	return c, nil
}

// truth reads a boolean as git does; nothing is false.
func truth(text string) (yes, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off", "":
		return false, true
	}
	digits := strings.TrimLeft(strings.TrimSpace(text), "+-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return false, false
	}
	return strings.Trim(digits, "0") != "", true
}

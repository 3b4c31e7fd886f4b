package diagnose

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/daemon"
	"mcpx/internal/fault"
)

// maxFiles bounds how many files of one folder are looked at.
const maxFiles = 4096

// Files says who else can read or owns what mcpx keeps in its state directory: the
// directory, what lies in it, and the files of daemons, logins and answers. It says nothing if all is
// as it should be, or where permissions mean something else.
func Files(state string) []api.Finding {
	if state == "" {
		return nil
	}
	var open, foreign []string
	see := func(path string) {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return
		}
		if openTo(info) {
			open = append(open, path)
		}
		if !ours(info) {
			foreign = append(foreign, path)
		}
	}
	if at, err := filepath.EvalSymlinks(state); err == nil {
		see(at)
	}
	for _, dir := range []string{state, filepath.Join(state, "daemon"), filepath.Join(state, "auth"), filepath.Join(state, "inputs")} {
		for _, name := range names(dir) {
			see(filepath.Join(dir, name))
		}
	}
	outside := ""
	for _, p := range daemon.All(state) {
		if p.Socket != "" && !strings.HasPrefix(p.Socket, state+string(filepath.Separator)) {
			see(p.Socket)
			outside = " " + word(filepath.Dir(p.Socket))
		}
	}
	var out []api.Finding
	if len(foreign) > 0 {
		out = append(out, api.Finding{
			Subject: "state files", State: api.Failed,
			Message: fmt.Sprintf("%s to another user, so mcpx may not be able to change them", several(foreign, "belongs", "belong")),
			Hint:    fmt.Sprintf(`sudo chown -R "$(id -un)" %s%s`, word(state), outside),
		})
	}
	if len(open) > 0 {
		out = append(out, api.Finding{
			Subject: "state files", State: api.Warning,
			Message: several(open, "is", "are") + " open to other users of this machine",
			Hint:    fmt.Sprintf("chmod -R go-rwx %s%s", word(state), outside),
		})
	}
	return out
}

// names lists a folder; nothing if it cannot be read.
func names(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.Readdirnames(maxFiles) // what was read before an error counts
	return list
}

// several names the first of some files.
func several(paths []string, one, more string) string {
	switch n := len(paths); n {
	case 1:
		return paths[0] + " " + one
	case 2:
		return paths[0] + " and " + paths[1] + " " + more
	default:
		return fmt.Sprintf("%s and %d others %s", paths[0], n-1, more)
	}
}

// word is a path as a shell takes it.
func word(path string) string { return fault.ShellWord(path) }

// Package diagnose looks at what mcpx runs on and says what it finds: the repository of the
// working directory, the files that mcpx keeps, the daemons.
//
// A finding that is not fine has a hint that can be followed as it stands. Servers and
// configuration files are looked at by package gateway, settings by whoever reads them.
package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"mcpx/internal/api"
	"mcpx/internal/process"
	"mcpx/internal/scope"
)

// Program says which mcpx this is, and where it was started. It is always fine.
func Program(version, program string, c api.Caller) api.Finding {
	f := api.Finding{
		Subject: "mcpx", State: api.Fine, Message: fmt.Sprintf("%s on %s/%s", version, runtime.GOOS, runtime.GOARCH),
	}
	for _, d := range []api.Detail{
		{Name: "program", Value: program},
		{Name: "working directory", Value: c.Dir},
		{Name: "session", Value: c.Session},
		{Name: "HOME", Value: process.Getenv(c.Environ, "HOME")},
		{Name: "PATH", Value: process.Getenv(c.Environ, "PATH")},
		{Name: "CI", Value: process.Getenv(c.Environ, "CI")},
	} {
		if d.Value != "" {
			f.Details = append(f.Details, d)
		}
	}
	return f
}

// Repository says which repository a directory belongs to for servers of the scopes repo
// and worktree.
func Repository(c api.Caller) api.Finding {
	caller := scope.Caller{Dir: c.Dir, Session: c.Session, Pid: c.Pid, Environ: c.Environ}
	repo, worktree := scope.Resolve(scope.Repo, caller), scope.Resolve(scope.Worktree, caller)
	f := api.Finding{
		Subject: "repository", State: api.Fine, Message: repo.String(),
		Details: []api.Detail{{Name: "scope repo", Value: repo.String()}, {Name: "scope worktree", Value: worktree.String()}},
	}
	found, err := scope.Find(c.Dir, c.Environ)
	switch {
	case scope.None(err):
		f.Message = "none; servers of the scopes repo and worktree are shared in " + repo.String()
		f.Details = append(f.Details, api.Detail{Name: "why", Value: err.Error()})
	case err != nil:
		f.State, f.Message = api.Warning, err.Error()+"; servers of the scopes repo and worktree are shared in "+repo.String()
		f.Hint = "see what git says: git -C " + word(c.Dir) + " rev-parse --git-common-dir"
	default:
		f.Details = append(f.Details, api.Detail{Name: "found by", Value: how(found, c.Environ)})
		if worktree.Why != "" {
			f.Details = append(f.Details, api.Detail{Name: "why", Value: worktree.Why})
		}
	}
	return f
}

// how says what of a repository led to it.
func how(r scope.Repository, environ []string) string {
	if dir := process.Getenv(environ, "GIT_DIR"); dir != "" {
		return "GIT_DIR, which is " + dir
	}
	if r.Worktree == "" {
		return "the folder itself, which has no worktree"
	}
	at := filepath.Join(r.Worktree, ".git")
	switch info, err := os.Lstat(at); {
	case err != nil:
		return "core.worktree of " + r.CommonDir
	case info.Mode().IsRegular():
		return "the file " + at + ", which leads to another folder"
	default:
		return at
	}
}

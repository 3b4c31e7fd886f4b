// Package scope says which calls belong together: it turns the scope of a server and
// who calls into a key, such as repo:/src/x/.git or session:abc. Calls with one key may
// share a process of the server; what is shared and for how long is decided by pool.
//
// It finds the repository of a directory without running git, and the session of a
// caller in its environment.
package scope

import (
	"path/filepath"
	"strconv"
	"strings"

	"mcpx/internal/process"
)

// The scopes, the widest first.
const (
	Global   = "global"   // all callers
	Repo     = "repo"     // those in one repository, whichever of its worktrees they are in
	Worktree = "worktree" // those in one worktree
	Cwd      = "cwd"      // those in one directory
	Session  = "session"  // those of one session
	Pid      = "pid"      // one process
	Call     = "call"     // one call
)

// Caller is what a key depends on.
type Caller struct {
	Dir     string   // the working directory, absolute
	Session string   // empty for none
	Pid     int      // 0 for none
	Environ []string // NAME=VALUE; git's variables say where a repository is
}

// Key is a scope as one caller has it.
type Key struct {
	Scope string // the one that it came to, which need not be the one that was asked for
	Of    string // which one of that scope; empty for Global and Call
	// Why says why it is not the scope that was asked for; empty if it is.
	Why string
}

// String writes the key as it is shown: repo:/src/x/.git, global.
func (k Key) String() string {
	if k.Of == "" {
		return k.Scope
	}
	return k.Scope + ":" + k.Of
}

// Resolve returns the key of a caller. A scope that the caller has nothing for comes to
// Call, which shares with nobody; Repo and Worktree come to Cwd outside of repositories.
// The name of the scope is one of the constants.
func Resolve(name string, c Caller) Key {
	switch name {
	case Global, Call:
		return Key{Scope: name}
	case Session:
		if c.Session == "" {
			return Key{Scope: Call, Why: "the caller has no session"}
		}
		return Key{Scope: Session, Of: c.Session}
	case Pid:
		if c.Pid <= 0 {
			return Key{Scope: Call, Why: "the caller's process is not known"}
		}
		return Key{Scope: Pid, Of: strconv.Itoa(c.Pid)}
	}
	if !filepath.IsAbs(c.Dir) {
		return Key{Scope: Call, Why: "the caller's directory is not known"}
	}
	cwd := Key{Scope: Cwd, Of: physical(c.Dir)}
	if name == Cwd {
		return cwd
	}
	r, err := Find(c.Dir, c.Environ)
	switch {
	case err != nil:
		cwd.Why = err.Error()
	case name == Repo:
		return Key{Scope: Repo, Of: r.CommonDir}
	case r.Worktree == "":
		cwd.Why = "the repository " + r.CommonDir + " has no worktree here"
	default:
		return Key{Scope: Worktree, Of: r.Worktree}
	}
	return cwd
}

// physical is the path without links, or the path itself if it cannot be followed.
func physical(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// SessionOf finds the session of a caller in its environment: MCPX_SESSION_ID, else the
// first of variables (between spaces or commas) that has a value, else the terminal that
// it runs in. It is empty if there is none of them.
func SessionOf(environ []string, variables string) string {
	if id := process.Getenv(environ, "MCPX_SESSION_ID"); id != "" {
		return id
	}
	for _, name := range strings.FieldsFunc(variables, func(r rune) bool { return r == ' ' || r == ',' }) {
		if id := process.Getenv(environ, name); id != "" {
			return id
		}
	}
	for _, name := range []string{"TMUX_PANE", "STY", "TERM_SESSION_ID", "ITERM_SESSION_ID", "WT_SESSION", "KITTY_WINDOW_ID", "WEZTERM_PANE", "WINDOWID"} {
		if id := process.Getenv(environ, name); id != "" {
			return "terminal-" + strings.ToLower(name) + "-" + id
		}
	}
	return ""
}

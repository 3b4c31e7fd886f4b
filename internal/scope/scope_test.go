package scope

import (
	"path/filepath"
	"testing"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	here := []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}
	all := Caller{Dir: dir, Session: "abc", Pid: 7, Environ: here}
	tests := []struct {
		name   string
		scope  string
		caller Caller
		want   string
		why    bool
	}{
		{"global", Global, Caller{}, "global", false},
		{"call", Call, all, "call", false},
		{"session", Session, all, "session:abc", false},
		{"no session", Session, Caller{Dir: dir}, "call", true},
		{"pid", Pid, all, "pid:7", false},
		{"no pid", Pid, Caller{Dir: dir}, "call", true},
		{"cwd", Cwd, all, "cwd:" + dir, false},
		{"no cwd", Cwd, Caller{Session: "abc"}, "call", true},
		{"no cwd for a repository", Repo, Caller{}, "call", true},
		{"a relative cwd", Cwd, Caller{Dir: "x"}, "call", true},
		{"a cwd that is gone", Cwd, Caller{Dir: filepath.Join(dir, "gone", "..", "gone")}, "cwd:" + filepath.Join(dir, "gone"), false},
		{"no repository", Repo, all, "cwd:" + dir, true},
		{"no worktree", Worktree, all, "cwd:" + dir, true},
	}
	for _, tt := range tests {
		if got := Resolve(tt.scope, tt.caller); got.String() != tt.want || (got.Why != "") != tt.why {
			t.Errorf("%s: Resolve = %s (%s), want %s", tt.name, got, got.Why, tt.want)
		}
	}
}

func TestSessionOf(t *testing.T) {
	t.Parallel()
	const variables = "AGENT_A, AGENT_B"
	tests := []struct {
		name    string
		environ []string
		want    string
	}{
		{"ours", []string{"AGENT_A=a", "MCPX_SESSION_ID=s", "TMUX_PANE=%1"}, "s"},
		{"an agent's", []string{"TMUX_PANE=%1", "AGENT_B=b", "AGENT_A="}, "b"},
		{"the first of several agents", []string{"AGENT_B=b", "AGENT_A=a", "MCPX_SESSION_ID="}, "a"},
		{"a terminal", []string{"TMUX_PANE=%1"}, "terminal-tmux_pane-%1"},
		{"the last of two", []string{"MCPX_SESSION_ID=x", "MCPX_SESSION_ID=y"}, "y"},
		{"none", []string{"HOME=/h"}, ""},
	}
	for _, tt := range tests {
		if got := SessionOf(tt.environ, variables); got != tt.want {
			t.Errorf("%s: SessionOf = %q, want %q", tt.name, got, tt.want)
		}
	}
}

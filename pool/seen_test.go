//go:build unix

package pool_test

import (
	"strings"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/mcp/mcptest"
	"mcpx/pool"
)

// What is seen of a server is there for whoever has a lease of it.
func TestWhatIsSeenOfAServer(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	def := server("s", mcptest.Script{Stderr: []string{"listening"}, Noise: []string{"hello"}})
	l := acquire(t, p, def, api.Caller{Dir: t.TempDir()})
	defer l.Release()
	seen := l.Seen()
	if seen.Program != def.Command || seen.Took <= 0 || seen.Noise == 0 || !strings.HasPrefix(seen.Said.Stdout, "hello") {
		t.Errorf("seen: %+v, want the program %s, how long it took, and the noise", seen, def.Command)
	}
	for until := time.Now().Add(time.Minute); !strings.Contains(l.Seen().Said.Stderr, "listening"); {
		if time.Now().After(until) {
			t.Fatalf("said: %+v, want what is on standard error", l.Seen().Said)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestPathIsSaidWhereItDecides(t *testing.T) {
	t.Parallel()
	p := pool.New(pool.Options{Environ: []string{"PATH=/own", "TOKEN=x"}})
	t.Cleanup(p.Close)
	tests := []struct {
		name   string
		def    *config.Definition
		caller api.Caller
		want   string
	}{
		{"a name", &config.Definition{Transport: config.Stdio, Command: "node"}, api.Caller{}, "/own"},
		{"a name, for a caller", &config.Definition{Transport: config.Stdio, Command: "node"}, api.Caller{Environ: []string{"PATH=/theirs"}}, "/theirs"},
		{"the entry sets it", &config.Definition{Transport: config.Stdio, Command: "node", Env: map[string]string{"PATH": "/entry"}}, api.Caller{}, "/entry"},
		{"a file", &config.Definition{Transport: config.Stdio, Command: "./node"}, api.Caller{}, ""},
		{"behind a url", &config.Definition{Transport: config.HTTP, URL: "https://example.com"}, api.Caller{}, ""},
	}
	for _, tt := range tests {
		if got := p.Path(tt.def, tt.caller); got != tt.want {
			t.Errorf("%s: Path = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestUnsharedSaysWhatEndsWithTheCall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tests := []struct {
		name   string
		scope  string
		caller api.Caller
		flags  []string
		lost   bool
	}{
		{"a session", "session", api.Caller{Dir: dir, Session: "a"}, nil, false},
		{"no session", "session", api.Caller{Dir: dir}, nil, true},
		{"no session, by the setting", "", api.Caller{Dir: dir}, []string{"pool-scope", "session"}, true},
		{"a process", "pid", api.Caller{Dir: dir, Pid: 1}, nil, false},
		{"no process", "pid", api.Caller{Dir: dir}, nil, true},
		{"everybody", "", api.Caller{Dir: dir}, nil, false},
		{"each call, as it is meant", "call", api.Caller{Dir: dir}, nil, false},
		{"a directory", "repo", api.Caller{Dir: dir}, nil, false},
	}
	for _, tt := range tests {
		p := newPool(t, tt.flags...)
		def := &config.Definition{Name: "s", Process: config.Process{Scope: tt.scope}}
		if why := p.Unshared(def, tt.caller); (why != "") != tt.lost {
			t.Errorf("%s: Unshared = %q, want a reason: %t", tt.name, why, tt.lost)
		}
	}
}

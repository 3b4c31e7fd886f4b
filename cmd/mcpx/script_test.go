package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mcpx/internal/carry"
	"mcpx/internal/daemon"
	"mcpx/internal/worker"
	"mcpx/mcp/mcptest"
)

// TestMain makes this test binary mcpx itself when a script or a worker starts it.
func TestMain(m *testing.M) {
	if carry.Marked() { // a program that a test has built
		os.Exit(start())
	}
	worker.Dispatch(os.Args[1:])
	mcptest.Main()
	if len(os.Args) == 2 && os.Args[1] == demoCommand {
		os.Exit(start())
	}
	programs := browsers()
	programs["mcpx"] = func() { os.Exit(start()) }
	programs["mcptest"] = func() { os.Exit(2) } // Main takes it over where the environment holds a script
	testscript.Main(m, programs)
}

// TestScripts drives the command line as a person would.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, params("script"))
}

// TestEscapes tries to get round what a script may not do.
func TestEscapes(t *testing.T) {
	t.Parallel()
	testscript.Run(t, params("escape"))
}

func params(folder string) testscript.Params {
	return testscript.Params{
		Dir:           filepath.Join("..", "..", "testdata", folder),
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("MCPX_STATE_DIR", filepath.Join(e.WorkDir, "home", "state"))
			e.Setenv("MCPX_POLICY_WRITE", "allow")   // the tools of mcptest do not say what they do
			e.Setenv("MCPX_DAEMON_INLINE", "always") // no process outlives a script; those of the daemon say auto
			e.Setenv("TZ", "UTC")
			e.Setenv("LANG", "C.UTF-8")
			e.Defer(func() { endDaemons(filepath.Join(e.WorkDir, "home", "state")) })
			return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Condition: func(cond string) (bool, error) {
			if name, ok := strings.CutPrefix(cond, "has:"); ok {
				_, err := exec.LookPath(name)
				return err == nil, nil
			}
			return false, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"alone":    alone,
			"exits":    exits,
			"findings": findings,
			"follow":   follow,
			"guard":    guardSites,
			"paste":    paste,
			"serve":    serveSites,
		},
	}
}

// endDaemons ends the daemons of a state directory that a script has left, as one does that
// fails.
func endDaemons(state string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, place := range daemon.All(state) {
		if l, err := daemon.Find(ctx, place); err == nil {
			_, _ = l.Leave(ctx, false) // it is looked for below
			l.Close()
		}
		_ = daemon.WaitGone(ctx, place) // TestNoDaemonIsLeft counts
	}
}

// exits runs a command that must end with an exit code: exits CODE PROGRAM [args…].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [args…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// alone checks that no process started below the script's folder is left: one whose
// command line names it, or that runs in it.
func alone(ts *testscript.TestScript, _ bool, _ []string) {
	work := ts.Getenv("WORK")
	procs, err := filepath.Glob("/proc/[0-9]*")
	ts.Check(err)
	for _, p := range procs {
		if filepath.Base(p) == "self" {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		cwd, _ := os.Readlink(filepath.Join(p, "cwd"))
		if strings.Contains(string(cmdline), work) || strings.HasPrefix(cwd, work) {
			ts.Fatalf("still running: %s %q in %s", filepath.Base(p), cmdline, cwd)
		}
	}
}

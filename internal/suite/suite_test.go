//go:build unix

// Package suite runs the built program, one static file, against what was
// written down elsewhere: the cases taken from bug reports and the language
// matrix. It has tests only. Lists under testdata/suite name what must pass;
// they may only grow.
//
// The suite is looked for at ../shared/suite beside the repository, or where
// MCPX_SUITE_DIR says. What a machine lacks is skipped with the reason, and is a
// failure if MCPX_TEST_ALL is set.
package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	_ "time/tzdata" // as in the program: a worker reads no files

	"mcpx/internal/worker"
	"mcpx/mcp/mcptest"
)

// root is the repository.
const root = "../.."

// scratch is removed when all tests have ended.
var scratch string

func TestMain(m *testing.M) {
	worker.Dispatch(os.Args[1:])
	mcptest.Main()
	if len(os.Args) == 3 && os.Args[1] == probeCommand {
		os.Exit(serveProbe(os.Args[2]))
	}
	if len(os.Args) == 3 && os.Args[1] == conformanceCommand {
		if err := conform(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "mcpx-suite-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// copyProgram copies a program. It is not written by this process: a child that is forked
// meanwhile would hold the copy open for writing, and it could not be started.
func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// program is the path of the program, built from the sources as they are.
func program(tb testing.TB) string {
	tb.Helper()
	path, err := build()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

var build = sync.OnceValues(func() (string, error) {
	if err := observeSources(); err != nil {
		return "", err
	}
	path := filepath.Join(scratch, "bin", "mcpx")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "./cmd/mcpx")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return path, nil
})

// observeSources looks at every file that the program is built from, so that the
// test cache knows that results depend on them.
func observeSources() error {
	return filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && (entry.Name()[0] == '.' || entry.Name() == "testdata" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir() || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".md"):
			return nil
		}
		_, err = os.Stat(name)
		return err
	})
}

// folder finds a part of the suite.
func folder(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("MCPX_SUITE_DIR")
	if dir == "" {
		dir = filepath.Join(root, "..", "shared", "suite")
	}
	dir, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		missing(t, "no suite: %v; MCPX_SUITE_DIR names another place", err)
	}
	return dir
}

// node is the path of Node.js.
func node(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		missing(tb, "%v", err)
	}
	return path
}

// missing ends a test that lacks something of the machine.
func missing(tb testing.TB, format string, args ...any) {
	tb.Helper()
	if os.Getenv("MCPX_TEST_ALL") != "" {
		tb.Fatalf(format, args...)
	}
	tb.Skipf(format, args...)
}

// outcome is how a command ended.
type outcome struct {
	stdout, stderr string
	exit           int // -1 if it was killed
}

// run runs a command in a process group of its own, with nothing on standard
// input, and kills what is left of the group.
func run(tb testing.TB, limit time.Duration, dir string, env []string, name string, args ...string) outcome {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	if cmd.Process == nil {
		tb.Fatal(err)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		tb.Errorf("killing what %s left: %v", name, err)
	}
	if ctx.Err() != nil {
		fmt.Fprintf(&stderr, "[killed after %s]\n", limit)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

//go:build unix

package pool_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/config"
	"mcpx/internal/process"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
	"mcpx/pool"
)

// ownerRole holds the definition of a server: then this program owns a pool with it, tells
// the processes, and waits to be killed.
const ownerRole = "MCPX_TEST_CHILD"

func own(text string) {
	_ = os.Unsetenv(ownerRole)
	process.Keep(os.Executable)
	var def config.Definition
	if err := json.Unmarshal([]byte(text), &def); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	p := pool.New(pool.Options{Environ: os.Environ()})
	l, err := p.Acquire(context.Background(), pool.Request{Def: &def})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	raw, err := l.Session().Call(context.Background(), mcp.MethodToolsCall, mcp.Raw(`{"name":"pid","arguments":{}}`))
	fmt.Println(string(raw), err)
	_, _ = l.Session().Call(context.Background(), mcp.MethodToolsCall, mcp.Raw(`{"name":"stall","arguments":{}}`))
	time.Sleep(time.Hour)
}

// processesIn returns the numbers in an answer of the tool pid.
func processesIn(t *testing.T, raw string) []int {
	t.Helper()
	var out []int
	r, err := mcp.DecodeResult(mcp.Raw(raw))
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	for _, f := range strings.FieldsFunc(r.Text(), func(c rune) bool { return c < '0' || c > '9' }) {
		n := 0
		if _, err := fmt.Sscan(f, &n); err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// The owner is killed in the middle of a call. The server and its child ignore the end of
// their input and every signal that can be ignored.
func TestNothingOutlivesAnOwnerThatIsKilled(t *testing.T) {
	t.Parallel()
	def := server("s", mcptest.Script{Stubborn: true, Spawn: true})
	wrapped := server("w", mcptest.Script{Stubborn: true, Spawn: true})
	// As launchers do it: a shell in front, which ignores the signals as well.
	wrapped.Args = append([]string{"-c", `trap "" TERM INT HUP; "$0" "$@"; true`, wrapped.Command}, wrapped.Args...)
	wrapped.Command = "/bin/sh"
	for _, def := range []*config.Definition{def, wrapped} {
		t.Run(def.Name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(def)
			if err != nil {
				t.Fatal(err)
			}
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self)
			cmd.Env = append(slices.Clone(os.Environ()), ownerRole+"="+string(text))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(out).ReadString('\n')
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			answer, ok := strings.CutSuffix(strings.TrimSpace(line), " <nil>")
			if !ok {
				t.Fatalf("the owner said %q", line)
			}
			ids := processesIn(t, answer)
			if len(ids) != 2 {
				t.Fatalf("processes %v, want the server's and its child's", ids)
			}
			for _, pid := range ids {
				t.Cleanup(func() {
					if t.Failed() {
						_ = syscall.Kill(pid, syscall.SIGKILL)
					}
				})
				patiently(t, fmt.Sprintf("process %d ends", pid), func() bool { return !alive(pid) })
			}
		})
	}
}

// Whoever waits for a call leaves; what was started for it stays in the pool, and ends
// with that.
func TestCallerWhoIsGoneLeavesNothing(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	def := server("s", mcptest.Script{Stubborn: true, Spawn: true})
	ids := pids(t, p, def)
	ctx, cancel := context.WithCancel(t.Context())
	l, err := p.Acquire(ctx, pool.Request{Def: def})
	if err != nil {
		t.Fatal(err)
	}
	stalled := make(chan error, 1)
	go func() {
		_, err := l.Session().Call(ctx, mcp.MethodToolsCall, mcp.Raw(`{"name":"stall","arguments":{}}`))
		stalled <- err
	}()
	cancel()
	if err := <-stalled; err == nil {
		t.Error("a call that was given up has a result")
	}
	l.Release()
	p.Close()
	for _, pid := range ids {
		patiently(t, fmt.Sprintf("process %d ends", pid), func() bool { return !alive(pid) })
	}
}

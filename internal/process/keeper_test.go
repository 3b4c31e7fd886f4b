//go:build unix

package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// launcher is a shell that starts a child which ignores everything but SIGKILL, tells both
// ids, and is no better itself.
const launcher = `trap "" TERM HUP INT; sh -c 'trap "" TERM HUP INT; echo $$; exec >&-; while :; do sleep 0.1; done' & echo $$; exec >&-; wait; while :; do sleep 0.1; done`

func init() {
	// A program that has what it starts kept, starts a launcher, and waits to be killed.
	roles["owner"] = func() {
		Keep(os.Executable)
		if _, err := Start(Spec{Path: "/bin/sh", Args: []string{"-c", launcher}, Env: os.Environ(), Stdout: os.Stdout, Kept: true}); err != nil {
			fmt.Println(err)
			return
		}
		keeping.mu.Lock()
		proc := <-keeping.proc
		keeping.proc <- proc
		keeping.mu.Unlock()
		if proc == nil {
			fmt.Println("there is no keeper")
		} else {
			fmt.Println(proc.Pid)
		}
		time.Sleep(time.Hour)
	}
}

// A group whose members ignore all but SIGKILL dies with a process that is killed with
// it, and so does the keeper.
func TestGroupsDieWhenTheirOwnerIsKilled(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(self(t))
	cmd.Env = append(slices.Clone(os.Environ()), role+"=owner")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := []int{}
	for lines := bufio.NewScanner(out); len(pids) < 3 && lines.Scan(); {
		pid, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		if err != nil {
			_ = cmd.Process.Kill()
			t.Fatalf("the owner said %q", lines.Text())
		}
		pids = append(pids, pid)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if len(pids) != 3 {
		t.Fatalf("the owner told of %d processes, want 3", len(pids))
	}
	for _, pid := range pids {
		if !gone(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Errorf("process %d outlived its owner", pid)
		}
	}
}

// What is let go is not killed, and a keeper that was killed is replaced.
func TestKeeperKnowsWhatIsHeld(t *testing.T) {
	t.Parallel()
	var k keeper
	k.program = os.Executable
	asleep := func() *exec.Cmd {
		cmd := exec.Command("sleep", "1000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
		return cmd
	}
	free, first, second := asleep(), asleep(), asleep()
	k.hold(free.Process.Pid)
	k.hold(first.Process.Pid)
	k.let(free.Process.Pid)
	proc := <-k.proc
	if proc == nil {
		t.Fatal("there is no keeper")
	}
	_ = proc.Kill()
	_, _ = proc.Wait()
	k.proc <- nil // it has been waited for
	k.hold(second.Process.Pid)
	another := <-k.proc
	if another == nil || another.Pid == proc.Pid {
		t.Fatal("the keeper was not replaced")
	}
	_ = k.tell.Close() // as if this process had ended
	_, _ = another.Wait()
	for _, cmd := range []*exec.Cmd{first, second} {
		if err := cmd.Wait(); err == nil {
			t.Errorf("what was held ended with %v", err)
		}
	}
	if syscall.Kill(free.Process.Pid, 0) != nil {
		t.Error("what was let go is gone")
	}
}

func TestKeeperRests(t *testing.T) {
	t.Parallel()
	var k keeper
	k.rest() // there is none
	k.hold(1 << 30)
	if k.tell != nil {
		t.Fatal("a keeper without a program")
	}
	k.program = func() (string, error) { return "", os.ErrNotExist }
	k.hold(1 << 30)
	k.let(1 << 30)
	k.rest()
	if k.tell != nil || k.proc != nil {
		t.Error("the keeper that could not be started has left something")
	}
	k.program = os.Executable
	k.hold(1 << 30)
	proc := <-k.proc
	k.proc <- proc
	k.rest()
	if k.tell == nil {
		t.Fatal("the keeper rests although something is held")
	}
	k.let(1 << 30)
	k.rest()
	if !gone(proc.Pid) {
		t.Error("the keeper does not rest")
	}
}

func TestManyAreHeldAtOnce(t *testing.T) {
	t.Parallel()
	var k keeper
	k.program = os.Executable
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			for n := range 20 {
				group := 1<<30 + i*100 + n
				k.hold(group)
				k.let(group)
			}
		})
	}
	all.Wait()
	k.rest()
	if len(k.groups) != 0 || k.tell != nil {
		t.Errorf("%d groups are still held", len(k.groups))
	}
}

//go:build linux

package suite

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endsWithin is how soon a worker is gone when its command is: a second, and what a
// machine with other work takes.
func endsWithin() time.Duration { return time.Second + load() }

// TestWorkersEndWithTheirCommand ends commands from outside while their scripts do
// nothing to end by themselves, as root and as an unprivileged user.
func TestWorkersEndWithTheirCommand(t *testing.T) {
	t.Parallel()
	users := map[string]*syscall.Credential{"this user": nil}
	if os.Geteuid() == 0 {
		users["an unprivileged user"] = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	path := shared(t, program(t))
	for user, credential := range users {
		for _, end := range []struct {
			name string
			end  func(cmd *exec.Cmd, terminal *os.File) error
		}{
			{"Ctrl-C", func(_ *exec.Cmd, terminal *os.File) error { _, err := terminal.WriteString("\x03"); return err }},
			{"a closed terminal", func(_ *exec.Cmd, terminal *os.File) error { return terminal.Close() }},
			{"SIGTERM", func(cmd *exec.Cmd, _ *os.File) error { return cmd.Process.Signal(syscall.SIGTERM) }},
			{"SIGKILL", func(cmd *exec.Cmd, _ *os.File) error { return cmd.Process.Kill() }},
		} {
			for _, script := range []struct{ name, code string }{
				{"a loop", `console.log("here"); for (;;) {}`},
				{"a native loop", `console.log("here"); await null; [].includes.call({ length: 2 ** 53 - 1 }, 1)`},
				{"a wait", `console.log("here"); await new Promise((done) => setTimeout(done, 1e8))`},
				{"a call", `console.log("here"); await tools.demo.slow({ ms: 60_000 })`},
			} {
				t.Run(strings.Join([]string{end.name, script.name, user}, ", "), func(t *testing.T) {
					t.Parallel()
					master, slave := terminal(t)
					defer master.Close()
					cmd := exec.Command(path, "exec", script.code)
					cmd.Dir = "/"
					cmd.Env = []string{"MCPX_DAEMON_INLINE=always", "HOME=" + filepath.Dir(path), "MCPX_STATE_DIR=" + openDir(t)}
					cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
					cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Credential: credential}
					err := cmd.Start()
					_ = slave.Close()
					if err != nil {
						t.Fatal(err)
					}
					pids := make(chan []int, 1)
					go func() { // a terminal that is not read stops who writes to it
						lines := bufio.NewReader(master)
						for {
							line, err := lines.ReadString('\n')
							if strings.HasPrefix(line, "here") {
								pids <- family(cmd.Process.Pid)
								_, _ = io.Copy(io.Discard, lines)
								return
							}
							if err != nil {
								pids <- nil
								return
							}
						}
					}()
					children := <-pids
					if len(children) == 0 {
						_, _ = cmd.Process.Kill(), cmd.Wait()
						t.Fatal("the command had no worker: this shows nothing")
					}
					time.Sleep(50 * time.Millisecond) // the script is where it stays
					begin := time.Now()
					if err := end.end(cmd, master); err != nil {
						t.Fatal(err)
					}
					_ = cmd.Wait() // it ends by a signal or with a code
					for _, pid := range children {
						for alive(pid) {
							if time.Since(begin) > endsWithin() {
								_ = syscall.Kill(pid, syscall.SIGKILL)
								t.Fatalf("process %d is still there %s after its command was ended", pid, time.Since(begin))
							}
							time.Sleep(2 * time.Millisecond)
						}
					}
					t.Logf("%d processes gone after %s", len(children), time.Since(begin).Round(time.Millisecond))
				})
			}
		}
	}
}

// shared copies a program to where every user may run it.
func shared(t *testing.T, program string) string {
	t.Helper()
	path := filepath.Join(openDir(t), "mcpx")
	copyProgram(t, program, path)
	return path
}

// openDir is a directory that every user may write.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// family are the processes below one.
func family(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(append(all, child), family(child)...)
			}
		}
	}
	return all
}

// alive reports whether a process runs. One that is dead and that nobody has asked
// after does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, ok := strings.Cut(string(stat), ") ")
	return ok && state != "" && state[0] != 'Z' && state[0] != 'X'
}

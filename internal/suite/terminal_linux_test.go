package suite

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestATerminalIsASession holds that what is typed at one terminal belongs together, also
// where no variable tells which terminal it is, and that nothing else does.
func TestATerminalIsASession(t *testing.T) {
	t.Parallel()
	program := program(t)
	dir := t.TempDir()
	named := func(at *syscall.SysProcAttr, stderr *os.File) []string {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `"$0" session name; "$0" session name`, program)
		var out bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.SysProcAttr = dir, []string{"HOME=" + dir}, &out, at
		if stderr != nil {
			cmd.Stderr = stderr
		}
		_ = cmd.Run() // there may be none to name
		return strings.Fields(out.String())
	}
	var sessions []string
	for range 2 {
		master, slave := terminal(t)
		defer master.Close()
		got := named(&syscall.SysProcAttr{Setsid: true}, slave)
		slave.Close()
		if len(got) != 2 || got[0] != got[1] || !strings.HasPrefix(got[0], "terminal-") {
			t.Fatalf("two commands at one terminal are of the sessions %q", got)
		}
		sessions = append(sessions, got[0])
	}
	if sessions[0] == sessions[1] {
		t.Errorf("two terminals are the session %s", sessions[0])
	}
	if got := named(&syscall.SysProcAttr{Setsid: true}, nil); strings.Contains(strings.Join(got, " "), "terminal-") {
		t.Errorf("without a terminal the session is %q", got)
	}
}

// terminal makes a terminal: the end of whoever looks at it, and that of a program.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	raw, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	if cerr := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}); cerr != nil || err != nil {
		_ = master.Close()
		t.Skip(cerr, err)
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		_ = master.Close()
		t.Skip(err)
	}
	return master, slave
}

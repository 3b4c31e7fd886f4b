//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

type signalKind = syscall.Signal

const (
	terminate = syscall.SIGTERM
	kill      = syscall.SIGKILL
)

// signalGroup signals the group that proc leads, and reports whether anybody was
// there. The leader itself may have been reaped.
func signalGroup(proc *os.Process, s signalKind) bool {
	return syscall.Kill(-proc.Pid, s) == nil
}

func isExecFormat(err error) bool { return errors.Is(err, syscall.ENOEXEC) }

// Ended says how a process ended, as the end of a sentence: "exited with code 3",
// "was killed by SIGKILL".
func Ended(st *os.ProcessState) string {
	if st == nil {
		return "ended"
	}
	name := Signal(st)
	if name == "" {
		return fmt.Sprintf("exited with code %d", st.ExitCode())
	}
	if status, ok := st.Sys().(syscall.WaitStatus); ok && status.CoreDump() {
		name += " (core dumped)"
	}
	return "was killed by " + name
}

// Signal returns the name of the signal that a process was killed by; empty if it was not.
func Signal(st *os.ProcessState) string {
	if st == nil {
		return ""
	}
	status, ok := st.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	if name := unix.SignalName(status.Signal()); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(status.Signal()))
}

// Alive reports whether there is a process of that id, whoever's it is.
func Alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

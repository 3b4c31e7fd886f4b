package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

type signalKind int

const (
	terminate signalKind = iota
	kill
)

// signalGroup kills the child itself. Windows knows no signal that asks a program
// to end, and the children of the child are not reached.
func signalGroup(proc *os.Process, s signalKind) bool {
	return s == kill && proc.Kill() == nil
}

func isExecFormat(err error) bool { return errors.Is(err, syscall.Errno(193)) } // ERROR_BAD_EXE_FORMAT

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func spawn(path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	return os.StartProcess(path, argv, attr)
}

// Ended says how a process ended, as the end of a sentence: "exited with code 3".
func Ended(st *os.ProcessState) string {
	if st == nil {
		return "ended"
	}
	return fmt.Sprintf("exited with code %d", st.ExitCode())
}

// Signal returns the name of the signal that a process was killed by. Here there are none.
func Signal(*os.ProcessState) string { return "" }

// Alive reports whether there is a process of that id, whoever's it is.
func Alive(pid int) bool {
	const stillActive = 259
	h, err := syscall.OpenProcess(syscall.PROCESS_QUERY_INFORMATION, false, uint32(pid)) //nolint:gosec // ids are small
	if err != nil {
		return errors.Is(err, syscall.ERROR_ACCESS_DENIED)
	}
	defer func() { _ = syscall.CloseHandle(h) }()
	var code uint32
	return syscall.GetExitCodeProcess(h, &code) == nil && code == stillActive
}

func reaped(int) {}

// ReapOrphans does nothing here: this is never the first process of a container.
func ReapOrphans() (stop func()) { return func() {} }

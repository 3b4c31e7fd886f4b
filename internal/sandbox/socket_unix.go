//go:build unix

package sandbox

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"mcpx/internal/fault"
)

// socketPair makes the two ends of a connection. Neither is inherited by processes
// that are started meanwhile; ours does not block a thread.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // not every system can make them close-on-exec at once
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		_, _ = syscall.Close(fds[0]), syscall.Close(fds[1])
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fds[0]), "worker"), os.NewFile(uintptr(fds[1]), "broker"), nil
}

// inherited is the descriptor at which Spawn leaves the socket.
const inherited = 3

// Inherited returns the worker's end of the socket. The error's kind is Usage if this
// process was not started by Spawn.
func Inherited() (*os.File, error) {
	if _, err := unix.GetsockoptInt(inherited, unix.SOL_SOCKET, unix.SO_TYPE); err != nil {
		return nil, fault.Usagef("a worker is started by mcpx itself").
			Hintf("run a script with mcpx exec or mcpx run")
	}
	syscall.CloseOnExec(inherited)
	if err := syscall.SetNonblock(inherited, true); err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(inherited, "broker"), nil
}

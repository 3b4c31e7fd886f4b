//go:build unix

package programs

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalOf returns a signal by its name; 0 is the one that only asks.
func signalOf(name string) (os.Signal, bool) {
	switch name {
	case "0":
		return syscall.Signal(0), true
	case "SIGIOT":
		return syscall.SIGABRT, true
	case "SIGPOLL":
		return syscall.SIGIO, true
	}
	s := unix.SignalNum(name)
	return s, s != 0
}

//go:build unix

package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal reports whether f is a terminal: only one has a size.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// terminalSession names the session of POSIX that this process runs in, if it has a terminal:
// what is typed there belongs together. It is empty without one.
func terminalSession() string {
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		var at unix.Stat_t
		if !isTerminal(f) || unix.Fstat(int(f.Fd()), &at) != nil {
			continue
		}
		leader, err := unix.Getsid(0)
		if err != nil {
			return ""
		}
		return fmt.Sprintf("terminal-%d-%d", at.Rdev, leader)
	}
	return ""
}

// hideTyping has a terminal not show what is typed, until show is called.
func hideTyping(f *os.File) (show func(), err error) {
	fd := int(f.Fd())
	was, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, err
	}
	hidden := *was
	hidden.Lflag &^= unix.ECHO
	hidden.Lflag |= unix.ICANON | unix.ISIG
	if err := unix.IoctlSetTermios(fd, setTermios, &hidden); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, was) }, nil // the terminal may be gone
}

// columns is the width of the terminal f, or 0.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

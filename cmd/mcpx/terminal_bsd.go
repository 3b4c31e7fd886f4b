//go:build unix && !linux

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// forgetTyped drops what was typed at a terminal and not read yet.
func forgetTyped(f *os.File) {
	const input = 1                                                 // FREAD
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, input) // what is no terminal has nothing to drop
}

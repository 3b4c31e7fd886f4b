//go:build unix

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock locks an open file, if nobody else has it locked; closing it gives the lock back.
func TryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return false, err
		}
	}
}

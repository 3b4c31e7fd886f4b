//go:build unix

package mcptest

import (
	"os"
	"syscall"
)

// kill sends this process a signal.
func kill(sig syscall.Signal) error { return syscall.Kill(os.Getpid(), sig) }

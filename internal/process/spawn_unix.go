//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

// attributes puts the child in a group of its own. There is no parent-death signal
// here: a child learns of this process's death by the end of its standard input.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func spawn(path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	return os.StartProcess(path, argv, attr)
}

func reaped(int) {}

// ReapOrphans does nothing here: this is never the first process of a container.
func ReapOrphans() (stop func()) { return func() {} }

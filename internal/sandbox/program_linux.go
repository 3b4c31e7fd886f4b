package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"mcpx/internal/fault"
)

const atExecFn = 31 // AT_EXECFN of getauxval(3)

// startedBy returns the path that execve was given. The kernel leaves it on the stack
// of the new process, so that no /proc is needed to know it.
func startedBy() (string, error) {
	vector, err := unix.Auxv()
	if err != nil {
		return "", fault.Unavailablef("mcpx cannot find its own file to start a worker: no auxiliary vector: %w", err).
			Hintf("mount /proc")
	}
	for _, entry := range vector {
		if entry[0] == atExecFn {
			// The memory is the kernel's, not the collector's: reading the word as a
			// pointer is all that has to happen.
			return unix.BytePtrToString(*(**byte)(unsafe.Pointer(&entry[1]))), nil
		}
	}
	return "", fault.Unavailablef("mcpx cannot find its own file to start a worker: the system does not tell its path").
		Hintf("mount /proc")
}

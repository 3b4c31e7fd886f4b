//go:build unix

package sandbox

import (
	"os"
	"strconv"
	"sync"
	"syscall"
)

// sealDescriptors seals once: nothing is inherited later.
var sealDescriptors = sync.OnceFunc(seal)

// seal marks every descriptor that this process itself has inherited, besides the three
// streams, so that no worker inherits it in turn. What Go opens is marked already; a
// shell, a supervisor or a test runner may have left others.
func seal() {
	if sealRange() {
		return
	}
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // then there is no telling which they are
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

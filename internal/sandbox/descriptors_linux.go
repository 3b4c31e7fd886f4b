package sandbox

import "golang.org/x/sys/unix"

// sealRange does it in one call, where the kernel has it (5.11).
func sealRange() bool { return unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil }

package sandbox

import "golang.org/x/sys/unix"

const (
	architecture   = unix.AUDIT_ARCH_X86_64
	foreignNumbers = 0x4000_0000 // those of x32
	statAt         = unix.SYS_NEWFSTATAT
)

package sandbox

import "golang.org/x/sys/unix"

const (
	architecture   = unix.AUDIT_ARCH_AARCH64
	foreignNumbers = 0 // none within the architecture
	statAt         = unix.SYS_FSTATAT
)

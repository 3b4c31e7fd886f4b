//go:build unix

package worker

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is how much processor time this process has used.
func cpuTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

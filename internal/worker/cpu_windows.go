package worker

import (
	"time"

	"golang.org/x/sys/windows"
)

// cpuTime is how much processor time this process has used.
func cpuTime() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	spent := func(t windows.Filetime) time.Duration {
		return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100 // it counts hundreds of nanoseconds
	}
	return spent(kernel) + spent(user)
}

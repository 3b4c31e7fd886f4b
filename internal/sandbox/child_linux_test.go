package sandbox

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// timing is what a lockdown takes.
type timing struct {
	Level      Level
	Lock, Seal time.Duration
}

// childOfSystem is what children of tests do that are for this system only.
func childOfSystem(act string, socket *os.File) (done bool, code int) {
	if how, ok := strings.CutPrefix(act, "lock:"); ok {
		return true, locked(how, socket)
	}
	if without, ok := strings.CutPrefix(act, "without "); ok {
		_ = json.NewEncoder(socket).Encode(lockWithout(without))
		return true, 0
	}
	switch act {
	case "wall":
		return true, walled(socket)
	case "time":
		begin := time.Now()
		l := Lock(false)
		locked := time.Since(begin)
		err := l.Seal()
		if err != nil {
			l.Level = LevelNone
		}
		_ = json.NewEncoder(socket).Encode(timing{l.Level, locked, time.Since(begin) - locked})
	case "bounded":
		_ = json.NewEncoder(socket).Encode(limitBelow())
	case "space":
		_ = json.NewEncoder(socket).Encode([2]uint64{addressSpace(), probeAddressSpace()})
	case "foreign":
		Lock(false)
		_, _, _ = unix.RawSyscall(foreignNumbers+unix.SYS_GETPID, 0, 0, 0)
	default:
		return false, 0
	}
	return true, 0
}

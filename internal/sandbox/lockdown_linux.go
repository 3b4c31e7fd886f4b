package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockdown is what the steps know of each other.
type lockdown struct {
	reads             bool // files are left, until seal
	landlock, seccomp bool
	idle              uint64 // bytes of address space before there was a script
}

func (l *Lockdown) lock(reads bool) (missing []error) {
	l.state.reads = reads
	forgetCore()
	// If the kernel has to choose, it is to choose this. Anybody may raise it, and nobody
	// who cannot be dumped may write it.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	l.state.idle = addressSpace()
	// Neither a debugger of the same user nor /proc/PID/mem reaches it then.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		missing = append(missing, fmt.Errorf("prctl(PR_SET_DUMPABLE): %w", err))
	}
	if err := noNewPrivileges(); err != nil {
		missing = append(missing, err) // then the others say the same
	}
	keeps, f := uint64(0), waiting()
	if reads {
		keeps, f = readsOfFiles, reading()
	}
	err := restrict(keeps, nil)
	if l.state.landlock = err == nil; err != nil {
		missing = append(missing, err)
	}
	err = f.install()
	if l.state.seccomp = err == nil; err != nil {
		missing = append(missing, err)
	}
	l.Level = level(l.state.landlock, l.state.seccomp)
	return missing
}

func (l *Lockdown) wall(roots []string) error {
	if !l.state.landlock {
		return nil
	}
	if err := restrict(0, importRules(roots)); err != nil {
		return fmt.Errorf("walling off the imports: %w", err)
	}
	return nil
}

func (l *Lockdown) seal() error {
	if l.state.landlock && l.state.reads {
		if err := restrict(0, nil); err != nil {
			return fmt.Errorf("locking the worker: %w", err)
		}
	}
	if l.state.seccomp {
		if err := final().install(); err != nil {
			return fmt.Errorf("locking the worker: %w", err)
		}
	}
	return nil
}

// noNewPrivileges is what an unprivileged process has to promise before it may restrict
// itself. It is a promise of each thread.
func noNewPrivileges() error {
	_, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0)
	if errno == syscall.ENOTSUP {
		// With cgo: this thread promises, and the filter takes it to the others.
		runtime.LockOSThread() // for good: it is the thread that installs the filters
		return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	if errno != 0 {
		return os.NewSyscallError("prctl(PR_SET_NO_NEW_PRIVS)", errno)
	}
	return nil
}

// slack is what the address space may grow beyond the memory that a script is given, or
// a quarter of that if it is more. The heap is reserved in pieces of 64 MiB, of which an
// idle process has one that is almost empty: less than a piece is left for rounding up,
// or a script could have a whole one beyond its limit. Threads and tables take of it too.
//
// It is RLIMIT_AS and not RLIMIT_DATA: under that, a block is reserved first and then
// cannot be had, and the collector dies of it in a way that says nothing.
const slack = 56 << 20

// stacksOfC is what threads of the C library reserve for their stacks: 8 MiB each.
const stacksOfC = 32 * 8 << 20

func (l *Lockdown) limit(memory int64, seconds uint64) error {
	if memory > 0 && !raceDetector { // it needs four times what the program does
		most := l.state.idle + uint64(memory) + max(slack, uint64(memory)/4)
		if throughC {
			most += stacksOfC
		}
		if err := bound(unix.RLIMIT_AS, most); err != nil {
			return os.NewSyscallError("setrlimit(RLIMIT_AS)", err)
		}
	}
	if seconds > 0 {
		if err := bound(unix.RLIMIT_CPU, seconds); err != nil {
			return os.NewSyscallError("setrlimit(RLIMIT_CPU)", err)
		}
	}
	return nil
}

// bound sets a limit of this process, or keeps the one that it was started with if that is
// lower: nobody may raise what a shell or a supervisor has set.
func bound(resource int, most uint64) error {
	var has unix.Rlimit
	if err := unix.Prlimit(0, resource, nil, &has); err == nil {
		most = min(most, has.Cur, has.Max)
	}
	// With one number for both the process is killed: a warning would come first otherwise,
	// which the runtime dies of in its own way.
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most})
}

// addressSpace is how much of it the process has.
func addressSpace() uint64 {
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		pages, _, _ := strings.Cut(string(text), " ")
		if n, err := strconv.ParseUint(pages, 10, 64); err == nil {
			return n * uint64(os.Getpagesize()) //nolint:gosec // a page has some size
		}
	}
	return probeAddressSpace()
}

// probeAddressSpace finds out without /proc: it bounds the process far above what it can
// have, and looks how large a mapping still fits below. The answer is up to step too
// large.
func probeAddressSpace() uint64 {
	const (
		bound = 1 << 40
		step  = 4 << 20
		page  = 4 << 10
	)
	var before unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &before) != nil || before.Cur < bound ||
		unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: bound, Max: before.Max}) != nil {
		return usual
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_AS, &before) }()
	fits := func(size uint64) bool {
		at, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
		if err == nil {
			_ = unix.MunmapPtr(at, uintptr(size))
		}
		return err == nil
	}
	low, high := uint64(page), uint64(bound) // low fits, high does not
	for high-low > step {
		if middle := low + (high-low)/2/page*page; fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return bound - low
}

// usual is what an idle worker was seen to have, where nothing tells.
const usual = 1408 << 20

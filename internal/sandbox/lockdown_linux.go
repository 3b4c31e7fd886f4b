package sandbox

import (
	"errors"
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
	bounds            bool   // the system lets it limit itself
	idle              uint64 // bytes of address space before there was a script
}

func (l *Lockdown) lock(reads bool) (missing []error) {
	l.state.reads = reads
	forgetCore()
	// If the kernel has to choose, it is to choose this. Anybody may raise it, and nobody
	// who cannot be dumped may write it.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	l.state.idle = addressSpace()
	l.Room = room(l.state.idle)
	// Neither a debugger of the same user nor /proc/PID/mem reaches it then.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		missing = append(missing, fmt.Errorf("prctl(PR_SET_DUMPABLE): %w", err))
	}
	if err := noNewPrivileges(); err != nil {
		missing = append(missing, err) // then the others say the same
	}
	err := bound(unix.RLIMIT_AS, unix.RLIM_INFINITY)
	if l.state.bounds = err == nil; err != nil {
		missing = append(missing, os.NewSyscallError("setrlimit", err))
	}
	keeps, f := uint64(0), waiting()
	if reads {
		keeps, f = readsOfFiles, reading()
	}
	err = restrict(keeps, nil)
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
	err := onAllThreads("prctl(PR_SET_NO_NEW_PRIVS)", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1)
	if errors.Is(err, errThreads) || errors.Is(err, errSignals) {
		// This thread promises, and the filter takes it to the others.
		runtime.LockOSThread() // for good: it is the thread that installs the filters
		return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	return err
}

// Why a thread at a time is all that can be restricted.
var (
	errThreads = errors.New("the program is built with cgo, whose threads cannot be restricted together")
	errSignals = errors.New("too few signals can be queued to restrict all threads together (ulimit -i)")
)

// onAllThreads makes a system call on every thread of the process. An error is errThreads
// or errSignals if it was made on none.
func onAllThreads(name string, number, a, b uintptr) error {
	// The runtime sends a signal to each thread and waits for ever for one that gets none.
	if !throughC && !queues(16+4*runtime.GOMAXPROCS(0)) {
		return errSignals
	}
	_, _, errno := syscall.AllThreadsSyscall6(number, a, b, 0, 0, 0, 0)
	if errno == syscall.ENOTSUP {
		return errThreads
	}
	if errno != 0 {
		return os.NewSyscallError(name, errno)
	}
	return nil
}

// queues reports whether n signals of this process can wait at a time: a user can have so
// many altogether, and more of those that the runtime sends to its threads are lost.
func queues(n int) bool {
	const (
		nobodys = 64   // the runtime takes it and does nothing
		plenty  = 1024 // no user has as many waiting
	)
	var most unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_SIGPENDING, &most) == nil && most.Cur >= plenty {
		return true
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var set, before unix.Sigset_t
	set.Val[0] = 1 << (nobodys - 1)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &set, &before) != nil {
		return true
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }() // they come now
	for range n {
		if unix.Tgkill(os.Getpid(), unix.Gettid(), nobodys) == unix.EAGAIN {
			return false
		}
	}
	return true
}

// stacksOfC is what threads of the C library reserve for their stacks: 8 MiB each.
const stacksOfC = 32 * 8 << 20

// limit bounds RLIMIT_AS and not RLIMIT_DATA: under that, a block is reserved first and then
// cannot be had, and the collector dies of it in a way that says nothing.
func (l *Lockdown) limit(memory int64, seconds uint64) error {
	if !l.state.bounds {
		return nil
	}
	if memory > 0 && !raceDetector { // it needs four times what the program does
		most := l.state.idle + Reserve(memory)
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

// room is how much memory the limits that this process was started with leave one whose
// address space is idle. It is 0 if they bound none.
func room(idle uint64) uint64 {
	least := uint64(unix.RLIM_INFINITY)
	var has unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &has); err == nil && has.Cur != unix.RLIM_INFINITY {
		least = max(has.Cur, idle+1) - idle
	}
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &has); err == nil {
		least = min(least, max(has.Cur, 1))
	}
	if least == unix.RLIM_INFINITY {
		return 0
	}
	return least
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

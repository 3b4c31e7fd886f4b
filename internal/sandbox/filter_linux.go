package sandbox

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A filter is a program of the kernel's packet filter that decides about system calls.
// What it does not allow fails with EPERM. Filters add up: a call has to pass all.
type filter []unix.SockFilter

// Where seccomp_data has its parts. Both architectures have the low half of an argument
// first.
const (
	atNumber    = 0
	atArch      = 4
	atArguments = 16
)

const (
	load        = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	mask        = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	jumpIfEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpIfLarge = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	answer      = unix.BPF_RET | unix.BPF_K
)

// denied is the answer to what is not allowed.
const denied = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)

// test is a condition on the low half of an argument: the bits of mask are those of want.
type test struct {
	argument   uint32
	mask, want uint32
}

// newFilter begins a filter. Calls as another architecture would make them, whose numbers
// mean other things, end the process.
func newFilter() filter {
	f := filter{
		{Code: load, K: atArch},
		{Code: jumpIfEqual, K: architecture, Jt: 1},
		{Code: answer, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: load, K: atNumber},
	}
	if foreignNumbers != 0 {
		f = append(f,
			unix.SockFilter{Code: jumpIfLarge, K: foreignNumbers, Jf: 1},
			unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_KILL_PROCESS})
	}
	return f
}

// allow lets calls pass whatever their arguments.
func (f filter) allow(numbers ...uint32) filter {
	for _, n := range numbers {
		f = append(f,
			unix.SockFilter{Code: jumpIfEqual, K: n, Jf: 1},
			unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW})
	}
	return f
}

// allowIf lets a call pass if all tests hold, and refuses it otherwise.
func (f filter) allowIf(number uint32, tests ...test) filter {
	const perTest = 3
	f = append(f, unix.SockFilter{Code: jumpIfEqual, K: number, Jf: uint8(perTest*len(tests) + 2)}) //nolint:gosec // a few tests
	for i, t := range tests {
		f = append(f,
			unix.SockFilter{Code: load, K: atArguments + 8*t.argument},
			unix.SockFilter{Code: mask, K: t.mask},
			unix.SockFilter{Code: jumpIfEqual, K: t.want, Jf: uint8(perTest*(len(tests)-i-1) + 1)}) //nolint:gosec // a few tests
	}
	return append(f,
		unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: answer, K: denied})
}

// refuse lets a call fail with an error of its own.
func (f filter) refuse(number uint32, why unix.Errno) filter {
	return append(f,
		unix.SockFilter{Code: jumpIfEqual, K: number, Jf: 1},
		unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(why)})
}

// install puts all threads of the process behind the filter.
func (f filter) install() error {
	f = append(f, unix.SockFilter{Code: answer, K: denied})
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]} //nolint:gosec // some hundred
	// Not RawSyscall: the call waits for the other threads.
	thread, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	switch {
	case errno != 0:
		return os.NewSyscallError("seccomp", errno)
	case thread != 0:
		return fmt.Errorf("seccomp: thread %d stays outside", thread)
	}
	return nil
}

const (
	everyBit = 0xFFFF_FFFF
	// newNamespaces are the flags of clone that make more than a thread.
	newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	writing = unix.O_ACCMODE | unix.O_CREAT | unix.O_TRUNC | unix.O_APPEND | unix.O_TMPFILE&^unix.O_DIRECTORY
	naming  = 0x53564d41 // PR_SET_VMA: the runtime names its mappings
)

// bare is what the Go runtime itself calls once a program runs, and the threads of a C
// library where one is linked. It opens, dials, starts and signals nothing.
func bare() filter {
	return newFilter().
		allow(unix.SYS_FUTEX, unix.SYS_READ, unix.SYS_WRITE, unix.SYS_EPOLL_PWAIT, unix.SYS_NANOSLEEP,
			unix.SYS_MADVISE, unix.SYS_SCHED_YIELD, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_CLOCK_NANOSLEEP,
			unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGACTION, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
			unix.SYS_MUNMAP, unix.SYS_MINCORE, unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_SCHED_GETAFFINITY,
			unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_CREATE1, unix.SYS_EVENTFD2, unix.SYS_CLOSE, unix.SYS_FCNTL, unix.SYS_PREAD64,
			unix.SYS_GETRANDOM, unix.SYS_GETRUSAGE, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ).
		// Threads only, never a new process. What clone3 is asked for cannot be seen here;
		// a C library that is told it is not there takes clone.
		allowIf(unix.SYS_CLONE, test{0, unix.CLONE_THREAD, unix.CLONE_THREAD}, test{0, newNamespaces, 0}).
		refuse(unix.SYS_CLONE3, unix.ENOSYS).
		// Never executable memory.
		allowIf(unix.SYS_MMAP, test{2, unix.PROT_EXEC, 0}).
		allowIf(unix.SYS_MPROTECT, test{2, unix.PROT_EXEC, 0}).
		// Signals within the process.
		allowIf(unix.SYS_TGKILL, test{0, everyBit, uint32(os.Getpid())}) //nolint:gosec // the kernel's are 22 bits
}

// more is what a process needs besides to lock itself further and to bound itself.
func (f filter) more() filter {
	return f.allow(unix.SYS_SECCOMP).
		allowIf(unix.SYS_PRLIMIT64, test{0, everyBit, 0}).
		allowIf(unix.SYS_PRCTL, test{0, everyBit, naming})
}

// final is what a process may call while it runs a script.
func final() filter { return bare().allowIf(unix.SYS_PRCTL, test{0, everyBit, naming}) }

// waiting is what a process may call that waits for its script.
func waiting() filter { return bare().more() }

// reading is that with reading of files, and what Landlock needs.
func reading() filter {
	return bare().more().
		allowIf(unix.SYS_OPENAT, test{2, writing, 0}).
		allow(statAt, unix.SYS_FSTAT, unix.SYS_GETDENTS64, unix.SYS_READLINKAT, unix.SYS_LSEEK, unix.SYS_GETCWD,
			unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF)
}

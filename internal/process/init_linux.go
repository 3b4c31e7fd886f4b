package process

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// children are the processes that this one has started and not yet reaped. It is locked
// while one is started, so that no child is there that is not known here.
type children struct {
	mu   sync.Mutex
	pids map[int]bool
}

var ours children

// start starts a child by f and notes it.
func (c *children) start(f func() (*os.Process, error)) (*os.Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := f()
	if err == nil {
		if c.pids == nil {
			c.pids = map[int]bool{}
		}
		c.pids[p.Pid] = true
	}
	return p, err
}

// reaped notes that a child is not there any more.
func (c *children) reaped(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pids, pid)
}

// ReapOrphans has this process do what is left to the first process of a container: the
// children of children that have ended come to it, and somebody must ask how they ended,
// or they stay in the table of processes for good. It goes on until stop is called, which
// returns when it has ended. It does nothing in any other process.
func ReapOrphans() (stop func()) {
	if os.Getpid() != 1 {
		return func() {}
	}
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	ending, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			again := reapOrphans()
			var soon <-chan time.Time
			if again {
				soon = time.After(20 * time.Millisecond)
			}
			select {
			case <-died:
			case <-soon:
			case <-ending:
				signal.Stop(died)
				return
			}
		}
	}()
	return func() { close(ending); <-ended }
}

// reapOrphans reaps what has ended and is no child of ours. It reports whether one of our
// own is in the way, which somebody else is about to reap.
func reapOrphans() (again bool) {
	for {
		pid, own := ours.ended()
		switch {
		case pid == 0:
			return false
		case own:
			return true
		}
		_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
	}
}

// ended returns a process that has ended and that nobody has reaped, and whether this one
// has started it; 0 if there is none.
func (c *children) ended() (pid int, own bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var info unix.Siginfo
	if unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) != nil {
		return 0, false
	}
	// The union behind the code begins with the process, where a pointer may begin.
	const word = unsafe.Sizeof(uintptr(0))
	at := (unsafe.Offsetof(info.Code) + unsafe.Sizeof(info.Code) + word - 1) &^ (word - 1)
	pid = int(*(*int32)(unsafe.Add(unsafe.Pointer(&info), at)))
	return pid, c.pids[pid]
}

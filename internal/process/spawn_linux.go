package process

import (
	"math"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

type spawnRequest struct {
	path   string
	argv   []string
	attr   *os.ProcAttr
	answer chan<- spawnAnswer
}

type spawnAnswer struct {
	proc *os.Process
	err  error
}

// spawner returns the queue of the one thread that starts children. Linux sends the
// parent-death signal when the *thread* that forked ends, and the Go runtime ends
// threads as it likes; this one is locked to a goroutine that lives as long as the
// process does.
var spawner = sync.OnceValue(func() chan<- spawnRequest {
	requests := make(chan spawnRequest)
	go func() {
		runtime.LockOSThread()
		// Files that this process was itself started with are nobody's business below.
		_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) // Linux 5.11; older ones inherit them
		for r := range requests {
			proc, err := ours.start(func() (*os.Process, error) { return os.StartProcess(r.path, r.argv, r.attr) })
			r.answer <- spawnAnswer{proc, err}
		}
	}()
	return requests
})

func spawn(path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	answer := make(chan spawnAnswer, 1)
	spawner() <- spawnRequest{path, argv, attr, answer}
	a := <-answer
	return a.proc, a.err
}

func reaped(pid int) { ours.reaped(pid) }

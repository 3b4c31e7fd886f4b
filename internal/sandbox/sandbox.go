// Package sandbox starts the process that holds a script, and is where that process
// gives up what it does not need.
//
// A worker is this same program started again with three streams of its own, one end
// of a socket as descriptor 3, an empty environment and the working directory "/". It
// inherits nothing else. What the two say over the socket is the business of packages
// worker and run.
package sandbox

import (
	"io"
	"os"
	"sync"

	"mcpx/internal/fault"
	"mcpx/internal/process"
)

// Child is a process that was started to be a worker.
type Child struct {
	socket *os.File
	proc   *process.Process
	noise  noise
	heard  chan struct{} // closed when standard error is at its end
	once   sync.Once
}

// Spawn starts the program at path with args as a worker. The caller must Close the
// child. If it could not be started the error's kind is Unavailable.
func Spawn(path string, args ...string) (*Child, error) {
	sealDescriptors()
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, cramped(err)
	}
	defer theirs.Close() // the child has a copy
	heard, said, err := os.Pipe()
	if err != nil {
		_ = ours.Close()
		return nil, cramped(err)
	}
	defer said.Close() // the child has a copy
	proc, err := process.Start(process.Spec{
		Path:   path,
		Name:   startedName,
		Args:   args,
		Env:    environment(),
		Dir:    "/",
		Stdout: said,
		Stderr: said,
		Extra:  []*os.File{theirs},
	})
	if err != nil {
		_, _ = ours.Close(), heard.Close()
		return nil, err
	}
	c := &Child{socket: ours, proc: proc, heard: make(chan struct{})}
	go func() {
		defer close(c.heard)
		defer heard.Close()
		_, _ = io.Copy(&c.noise, heard)
	}()
	return c, nil
}

// cramped is the error for a system that gives no more descriptors.
func cramped(err error) error {
	return fault.Unavailablef("no process can be started for a script: %w", err).
		Hintf("raise the limit of open files: ulimit -n")
}

// environment is the whole environment of a worker.
func environment() []string {
	var env []string
	if raceDetector {
		// It would wait a second at exit for reports of other threads.
		env = append(env, "GORACE=atexit_sleep_ms=0")
	}
	if throughC {
		env = append(env, "MALLOC_ARENA_MAX=1") // one for each thread would fill the address space
	}
	return env
}

// Read and Write are the socket.
func (c *Child) Read(p []byte) (int, error)  { return c.socket.Read(p) }
func (c *Child) Write(p []byte) (int, error) { return c.socket.Write(p) }

// Pid returns the child's process id.
func (c *Child) Pid() int { return c.proc.Pid() }

// Kill ends the child at once, without waiting. Reads from the socket then return what
// it had written, and io.EOF.
func (c *Child) Kill() { c.proc.Kill() }

// Done is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.proc.Done() }

// Ended waits for the end of the child and says how it came: its state, and the first
// of what it wrote to its standard streams. An honest worker writes nothing there:
// these are the words of the Go runtime about a death that nothing recovers.
func (c *Child) Ended() (*os.ProcessState, string) {
	<-c.proc.Done()
	<-c.heard
	return c.proc.State(), c.noise.String()
}

// Close kills the child if it still runs, and leaves nothing of it behind: no process,
// no descriptor, no goroutine. It may be called more than once.
func (c *Child) Close() {
	c.once.Do(func() {
		c.proc.Kill()
		_ = c.socket.Close()
		<-c.proc.Done()
		<-c.heard
	})
}

// noise keeps the first of what is written to it.
type noise struct {
	mu   sync.Mutex
	kept []byte
}

const maxNoise = 32 << 10

func (n *noise) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kept = append(n.kept, p[:min(len(p), maxNoise-len(n.kept))]...)
	return len(p), nil
}

func (n *noise) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return string(n.kept)
}

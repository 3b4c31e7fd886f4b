package client

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"mcpx/internal/process"
)

const (
	// defaultMaxLine is the default of stdio.maxLine.
	defaultMaxLine = 64 << 20
	// tailSize is how much is kept of what a server writes beside the protocol.
	tailSize = 8 << 10
	// endGrace is how long a server may take to end once its standard input is closed,
	// the second half of it after SIGTERM.
	endGrace = 2 * time.Second
	// reapGrace is how long the end of a process may follow the end of its output.
	reapGrace = time.Second
	// drainGrace is how long output may still be read once the process is gone: what
	// was left in the pipe comes at once, and more can only come from a process that
	// left the group and kept the pipe.
	drainGrace = 200 * time.Millisecond
)

// Command is a server to start.
type Command struct {
	Name    string   // what errors call it
	Path    string   // absolute, as process.LookPath returns it
	Args    []string // after the program's name
	Env     []string // the whole environment, KEY=VALUE
	Dir     string   // empty is this process's own
	MaxLine int      // longest line in bytes; 0 means 64 MiB
	Room    *Room    // what long lines share; nil has no bounds
	// Redact takes out of what the server writes beside the protocol what must not be
	// shown; nil shows all of it.
	Redact func(text string) string
}

// Child is a server that runs as a child process and speaks over its standard input
// and output. Its process group ends with it.
type Child struct {
	proc    *process.Process
	stdin   *os.File
	direct  syscall.RawConn // to stdin; nil if there is none
	stdout  *os.File
	lines   *lineReader
	stderr  tail
	noise   tail
	redact  func(text string) string
	skipped atomic.Int64

	background sync.WaitGroup
	drained    chan struct{} // closed when standard error is at its end
	closing    sync.Once
	over       chan struct{} // closed when the client has closed
}

// StartCommand starts a server. The process does not end with ctx, but with Close,
// which is up to the caller until Connect has the child.
func StartCommand(ctx context.Context, cmd Command) (*Child, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var pipes [3][2]*os.File
	for i := range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(pipes[:i])
			return nil, fmt.Errorf("starting %s: %w", cmd.Name, err)
		}
		pipes[i] = [2]*os.File{r, w}
	}
	in, out, errs := pipes[0], pipes[1], pipes[2]
	proc, err := process.Start(process.Spec{
		Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir,
		Stdin: in[0], Stdout: out[1], Stderr: errs[1], Kept: true,
	})
	if err != nil {
		closeAll(pipes[:])
		return nil, err
	}
	for _, childs := range []*os.File{in[0], out[1], errs[1]} {
		_ = childs.Close()
	}
	if cmd.MaxLine <= 0 {
		cmd.MaxLine = defaultMaxLine
	}
	c := &Child{
		proc: proc, stdin: in[1], stdout: out[0], redact: cmd.Redact,
		lines: newLineReader(out[0], cmd.MaxLine), drained: make(chan struct{}),
	}
	c.direct, _ = c.stdin.SyscallConn() // without it Send does all
	c.over = make(chan struct{})
	c.lines.room, c.lines.done = cmd.Room, c.over
	c.background.Go(func() {
		defer close(c.drained)
		defer errs[0].Close()
		_, _ = errs[0].WriteTo(&c.stderr)
	})
	c.background.Go(func() {
		<-proc.Done()
		until := time.Now().Add(drainGrace)
		_, _ = out[0].SetReadDeadline(until), errs[0].SetReadDeadline(until)
	})
	return c, nil
}

func closeAll(pipes [][2]*os.File) {
	for _, p := range pipes {
		_, _ = p[0].Close(), p[1].Close()
	}
}

// Send writes one line to the server's standard input.
func (c *Child) Send(line []byte) error {
	_, err := c.stdin.Write(append(line, '\n'))
	return err
}

// Receive returns the next line of the server's standard output.
func (c *Child) Receive() ([]byte, error) { return c.lines.next() }

// Skip counts a line of standard output that was no message.
func (c *Child) Skip(line []byte) {
	c.skipped.Add(1)
	_, _ = c.noise.Write(append(line, '\n'))
}

// Noise returns how many lines of standard output were no messages.
func (c *Child) Noise() int { return int(c.skipped.Load()) }

// Pid returns the process id of the server, which is also its group's.
func (c *Child) Pid() int { return c.proc.Pid() }

// Ending says how the process ended and what it last said. It waits a moment for a
// process whose output has ended.
func (c *Child) Ending() Ending {
	t := time.NewTimer(reapGrace)
	defer t.Stop()
	how := "closed its standard output"
	select {
	case <-c.proc.Done():
		how = process.Ended(c.proc.State())
		select {
		case <-c.drained:
		case <-t.C:
		}
	case <-t.C:
	}
	e := c.Said()
	e.How = how
	return e
}

// Said returns the last of what the server wrote beside the protocol so far.
func (c *Child) Said() Ending {
	e := Ending{Stderr: c.stderr.String(), Stdout: c.noise.String()}
	if c.redact != nil {
		e.Stderr, e.Stdout = c.redact(e.Stderr), c.redact(e.Stdout)
	}
	return e
}

// Close closes the server's standard input, gives it a moment to leave by itself,
// then asks it to with SIGTERM, and kills what is left of its process group.
func (c *Child) Close() error {
	c.closing.Do(func() {
		close(c.over)
		_ = c.stdin.Close()
		c.proc.End(endGrace)
		c.background.Wait()
		_ = c.stdout.Close()
	})
	return nil
}

// tail is a writer that keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool // something before buf is gone
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if len(p) > tailSize {
		p, t.cut = p[len(p)-tailSize:], true
	}
	if over := len(t.buf) + len(p) - tailSize; over > 0 {
		t.buf, t.cut = append(t.buf[:0], t.buf[over:]...), true
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// String returns what was kept, from the first whole line on.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.buf)
	if t.cut {
		if _, rest, ok := strings.Cut(s, "\n"); ok {
			s = rest
		}
	}
	return strings.ToValidUTF8(strings.TrimSpace(s), "\ufffd")
}

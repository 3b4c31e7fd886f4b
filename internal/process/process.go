// Package process starts child processes that do not outlive their purpose: each
// leads a process group of its own, is told to die with this process, inherits only
// the files it was given, and takes the rest of its group along when it ends.
//
// If this process is killed itself, a keeper does so: the same program once more, which
// is told the groups and finds out when nobody is there to tell it (Keep, Dispatch).
//
// It needs neither a shell nor /dev/null nor /proc. What a child is for, and what is
// said to it, is the business of the packages above.
package process

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"mcpx/internal/fault"
)

// leftoverGrace is how long the rest of a group has, once its leader is gone,
// between being asked to end and being killed.
const leftoverGrace = 100 * time.Millisecond

// Spec says what to start.
type Spec struct {
	Path string   // of the program; absolute, as LookPath returns it
	Name string   // the program's name as it sees it; empty is Path
	Args []string // arguments after the program's name
	Env  []string // the whole environment, KEY=VALUE; nil is an empty one
	Dir  string   // working directory; empty is this process's own

	// The standard streams. A nil Stdin is at its end from the start; what is written
	// to a nil Stdout or Stderr is discarded. The caller keeps its copies.
	Stdin, Stdout, Stderr *os.File
	// Extra are the child's files from descriptor 3 on.
	Extra []*os.File
	// Kept has the child's group killed also if this process is (see Keep).
	Kept bool
}

// Process is a child that was started.
type Process struct {
	proc  *os.Process
	kept  bool
	done  chan struct{}
	state *os.ProcessState

	mu   sync.Mutex
	gone bool // the group has been killed for good: its number may belong to another
}

// Start starts a child. The error's kind is Unavailable if the program or its
// directory is at fault.
//
// The caller need not wait for the child, but what it starts it should End or Kill.
func Start(spec Spec) (*Process, error) {
	if spec.Dir != "" {
		if info, err := os.Stat(spec.Dir); err != nil || !info.IsDir() {
			return nil, fault.Unavailablef("cannot start %s in %s: no such directory", spec.Path, spec.Dir).
				Hintf("create the directory, or name another one as cwd")
		}
	}
	streams, err := standard(&spec)
	if err != nil {
		return nil, startError(spec.Path, err)
	}
	env := spec.Env
	if env == nil {
		env = []string{} // nil would mean this process's own
	}
	name := spec.Name
	if name == "" {
		name = spec.Path
	}
	proc, err := spawn(spec.Path, append([]string{name}, spec.Args...), &os.ProcAttr{
		Dir:   spec.Dir,
		Env:   env,
		Files: append([]*os.File{spec.Stdin, spec.Stdout, spec.Stderr}, spec.Extra...),
		Sys:   attributes(),
	})
	streams.closeChildSide()
	if err != nil {
		streams.closeOwnSide()
		return nil, startError(spec.Path, err)
	}
	p := &Process{proc: proc, kept: spec.Kept, done: make(chan struct{})}
	live.add(p)
	if p.kept {
		keeping.hold(proc.Pid)
	}
	go p.wait(streams)
	return p, nil
}

// group is the children that run.
type group struct {
	mu  sync.Mutex
	all map[*Process]struct{}
}

var live group

func (g *group) add(p *Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[*Process]struct{}{}
	}
	g.all[p] = struct{}{}
}

func (g *group) remove(p *Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.all, p)
}

// KillAll kills every child that runs, with its group, without waiting. It is for a
// program that ends at once: a child alone would die with it, but not those of the child.
func KillAll() {
	live.mu.Lock()
	defer live.mu.Unlock()
	for p := range live.all {
		p.Kill()
	}
}

// wait reaps the leader and then ends whatever is left of its group.
func (p *Process) wait(s *streams) {
	p.state, _ = p.proc.Wait()
	reaped(p.proc.Pid)
	if p.signal(terminate) {
		// A number stays taken as long as a group bears it, so this cannot hit strangers.
		<-time.After(leftoverGrace)
	}
	p.mu.Lock()
	signalGroup(p.proc, kill)
	p.gone = true
	p.mu.Unlock()
	if p.kept {
		keeping.let(p.proc.Pid)
	}
	live.remove(p)
	s.closeOwnSide()
	close(p.done)
}

// Pid returns the child's process id, which is also its group's.
func (p *Process) Pid() int { return p.proc.Pid }

// Done is closed when the child has ended and the rest of its group was killed.
func (p *Process) Done() <-chan struct{} { return p.done }

// State says how the child ended. It is nil before Done.
func (p *Process) State() *os.ProcessState {
	select {
	case <-p.done:
		return p.state
	default:
		return nil
	}
}

// Kill kills the child and its group, without waiting.
func (p *Process) Kill() { p.signal(kill) }

// Terminate asks the child and its group to end.
func (p *Process) Terminate() { p.signal(terminate) }

// Send sends a signal to the child alone, and reports whether it was there to take it.
func (p *Process) Send(s os.Signal) bool { return p.proc.Signal(s) == nil }

// signal reports whether there was a process to take the signal.
func (p *Process) signal(s signalKind) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.gone && signalGroup(p.proc, s)
}

// End ends a child whose standard input the caller has closed: it may leave by
// itself for half of grace, is then asked to for the other half, and then killed.
// When End returns, the child is reaped and its group is dead.
func (p *Process) End(grace time.Duration) {
	if p.ended(grace / 2) {
		return
	}
	p.Terminate()
	if p.ended(grace - grace/2) {
		return
	}
	p.Kill()
	<-p.done
}

func (p *Process) ended(within time.Duration) bool {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}

// streams are the pipes that stand in for standard streams that were not given.
type streams struct {
	child, own []*os.File
	drains     sync.WaitGroup
}

// standard fills in the streams that spec leaves out. A pipe does what /dev/null
// would, and is there in an empty root as well.
func standard(spec *Spec) (*streams, error) {
	s := &streams{}
	for _, stream := range []**os.File{&spec.Stdin, &spec.Stdout, &spec.Stderr} {
		if *stream != nil {
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			s.closeChildSide()
			s.closeOwnSide()
			return nil, err
		}
		if stream == &spec.Stdin {
			_ = w.Close()
			*stream = r
			s.child = append(s.child, r)
			continue
		}
		*stream = w
		s.child = append(s.child, w)
		s.own = append(s.own, r)
		s.drains.Go(func() { _, _ = io.Copy(io.Discard, r) })
	}
	return s, nil
}

func (s *streams) closeChildSide() {
	for _, f := range s.child {
		_ = f.Close()
	}
}

func (s *streams) closeOwnSide() {
	for _, f := range s.own {
		_ = f.Close()
	}
	s.drains.Wait()
}

// startError says in the user's terms why the system did not start a program.
func startError(path string, err error) error {
	cause := err
	if sys, ok := errors.AsType[*os.PathError](err); ok {
		cause = sys.Err
	} else if sys, ok := errors.AsType[*os.SyscallError](err); ok {
		cause = sys.Err
	}
	e := fault.Unavailablef("cannot start %s: %w", path, cause)
	switch {
	case errors.Is(cause, fs.ErrNotExist):
		if line := interpreter(path); line != "" {
			e = fault.Unavailablef("cannot start %s: its interpreter is missing (%s)", path, line).
				Hintf("install the interpreter, or name it as the command and the script as its argument")
		} else if _, err := os.Stat(path); err == nil {
			e.Hintf("the file is there, but the loader it asks for is not: it was built for another system")
		} else {
			e.Hintf("check the path of the command")
		}
	case errors.Is(cause, syscall.EMFILE), errors.Is(cause, syscall.ENFILE):
		e.Hintf("raise the limit of open files: ulimit -n")
	case errors.Is(cause, syscall.EAGAIN):
		e.Hintf("raise the limit of processes: ulimit -u, or that of the container")
	case errors.Is(cause, syscall.EPERM):
		e.Hintf("the system, or the container around mcpx, forbids it")
	case errors.Is(cause, fs.ErrPermission):
		e.Hintf("make the file executable: chmod +x %s", path)
	case isExecFormat(cause):
		e.Hintf("the file is for another architecture, or a script without #! in its first line")
	}
	return e
}

// interpreter returns the first line of a script that names one.
func interpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 128)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	if n < 2 || head[0] != '#' || head[1] != '!' {
		return ""
	}
	for i, c := range head {
		if c == '\n' || c == '\r' {
			head = head[:i]
			break
		}
	}
	return string(head)
}

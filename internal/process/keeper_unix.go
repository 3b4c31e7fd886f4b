//go:build unix

package process

import (
	"bufio"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// keeperCommand is the hidden command of the keeper.
const keeperCommand = "keeper"

// tellGrace is how long a keeper may take to read what it is told.
const tellGrace = time.Second

// Dispatch is the keeper, and does not return, if the arguments of this program say so.
func Dispatch(args []string) {
	if len(args) == 1 && args[0] == keeperCommand {
		keepGroups(os.Stdin)
		os.Exit(0)
	}
}

// keepGroups reads lines of +GROUP and -GROUP, and kills the groups that are left when
// there is no more: then whoever wrote them has ended.
func keepGroups(lines *os.File) {
	// It ends with its owner and not before, whatever happens to the terminal.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	groups := map[int]bool{}
	in := bufio.NewScanner(lines)
	for in.Scan() {
		n, err := strconv.Atoi(in.Text())
		switch {
		case err != nil || n == 0:
		case n > 0:
			groups[n] = true
		default:
			delete(groups, -n)
		}
	}
	for group := range groups {
		if group > 1 {
			_ = syscall.Kill(-group, kill)
		}
	}
}

// keeper is how this process tells another one which groups to kill if it dies itself
// without having done so.
type keeper struct {
	mu      sync.Mutex
	program func() (string, error)
	groups  map[int]bool
	tell    *os.File         // nil as long as no keeper was needed
	proc    chan *os.Process // receives the process, or nil if there is none
}

var keeping keeper

// Keep has the groups of children that are started with Spec.Kept killed also if this
// process is killed itself. program finds the file of this very program, whose main must
// begin with Dispatch. It is started once more, beside the first such child.
func Keep(program func() (string, error)) {
	keeping.mu.Lock()
	defer keeping.mu.Unlock()
	keeping.program = program
}

// RestKeeper ends the keeper if there is nothing to keep, and returns when it is gone. It
// is started again when it is needed.
func RestKeeper() { keeping.rest() }

// hold has a group killed if this process ends before let is called.
func (k *keeper) hold(group int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.program == nil {
		return
	}
	if k.groups == nil {
		k.groups = map[int]bool{}
	}
	k.groups[group] = true
	if k.tell == nil || !k.say(group) {
		k.start()
	}
}

func (k *keeper) let(group int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.groups[group] {
		delete(k.groups, group)
		k.say(-group)
	}
}

// say tells the keeper one number, and reports whether there is one to hear it.
func (k *keeper) say(n int) bool {
	if k.tell == nil {
		return false
	}
	_ = k.tell.SetWriteDeadline(time.Now().Add(tellGrace))
	_, err := k.tell.WriteString(strconv.Itoa(n) + "\n")
	return err == nil
}

// start starts a keeper and tells it all groups. It does not wait for the process: what
// is told stays in the pipe until it reads.
func (k *keeper) start() {
	k.end()
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	k.tell, k.proc = w, make(chan *os.Process, 1)
	program, proc := k.program, k.proc
	go func() {
		defer r.Close()
		path, err := program()
		var p *os.Process
		if err == nil {
			// Standard output and error need only be open.
			p, err = spawn(path, []string{"mcpx", keeperCommand}, &os.ProcAttr{
				Env: []string{}, Dir: "/", Files: []*os.File{r, r, r}, Sys: &syscall.SysProcAttr{Setsid: true},
			})
		}
		if err != nil {
			p = nil
		}
		proc <- p
	}()
	for group := range k.groups {
		k.say(group)
	}
}

// end ends the keeper, if there is one. Nothing may be left to keep, or another one must
// be told of it.
func (k *keeper) end() {
	if k.tell == nil {
		return
	}
	if p := <-k.proc; p != nil {
		_ = p.Kill() // it need not find out by itself
		_, _ = p.Wait()
		reaped(p.Pid)
	}
	_ = k.tell.Close()
	k.tell, k.proc = nil, nil
}

func (k *keeper) rest() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.groups) == 0 {
		k.end()
	}
}

//go:build linux

package childprocess_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"mcpx/internal/fault"
)

// host starts real programs, as a broker without gates would. A program with the word
// denied in its name is denied.
type host struct {
	input io.Reader

	mu       sync.Mutex
	programs map[int64]*program
	last     int64
}

type program struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	out    [3]io.ReadCloser
	exited chan struct{}
}

func newHost(input string) *host {
	return &host{input: strings.NewReader(input), programs: map[int64]*program{}}
}

type in struct {
	ID                                  int64
	File, Argv0, Cwd, Signal            string
	Args                                []string
	Env                                 map[string]string
	Inherit, Stdin, Stdout, Stderr, End bool
	Stream, Max                         int
}

func (h *host) Call(ctx context.Context, op string, head any, body []byte) (json.RawMessage, []byte, error) {
	text, err := json.Marshal(head)
	if err != nil {
		return nil, nil, err
	}
	var i in
	if err := json.Unmarshal(text, &i); err != nil {
		return nil, nil, err
	}
	answer, out, err := h.answer(ctx, op, i, body)
	if err != nil {
		return nil, nil, err
	}
	b, err := json.Marshal(answer)
	return b, out, err
}

func (h *host) answer(ctx context.Context, op string, i in, body []byte) (any, []byte, error) {
	if op == "run.start" {
		return h.start(i)
	}
	if op == "stdin" {
		p := make([]byte, i.Max)
		n, err := h.input.Read(p)
		return map[string]bool{"end": err != nil}, p[:n], nil
	}
	h.mu.Lock()
	p := h.programs[i.ID]
	h.mu.Unlock()
	if p == nil {
		return nil, nil, fault.Internalf("%s of no program", op)
	}
	switch op {
	case "run.write":
		defer context.AfterFunc(ctx, func() { _ = p.stdin.Close() })()
		if _, err := p.stdin.Write(body); err != nil {
			return nil, nil, fault.New(fault.Unavailable, "%v", err).With("code", "EPIPE")
		}
		if i.End {
			_ = p.stdin.Close()
		}
		return nil, nil, nil
	case "run.read":
		b := make([]byte, i.Max)
		defer context.AfterFunc(ctx, func() { _ = p.out[i.Stream].Close() })()
		n, err := p.out[i.Stream].Read(b)
		return map[string]bool{"end": err != nil}, b[:n], nil
	case "run.wait":
		select {
		case <-p.exited:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
		if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
			return map[string]string{"signal": signalNames[status.Signal()]}, nil, nil
		}
		return map[string]int{"code": p.cmd.ProcessState.ExitCode()}, nil, nil
	case "run.kill":
		for no, name := range signalNames {
			if name == i.Signal {
				return map[string]bool{"sent": p.cmd.Process.Signal(no) == nil}, nil, nil
			}
		}
		return map[string]bool{"sent": p.cmd.Process.Signal(syscall.Signal(0)) == nil}, nil, nil
	}
	return nil, nil, fault.Internalf("the host knows no request %q", op)
}

var signalNames = map[syscall.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGKILL: "SIGKILL", syscall.SIGINT: "SIGINT", syscall.SIGHUP: "SIGHUP"}

func (h *host) start(i in) (any, []byte, error) {
	if strings.Contains(i.File, "denied") {
		return nil, nil, fault.Deniedf("denied: run %q: outside the run's grants", i.File).With("grant", "run").With("thing", i.File)
	}
	cmd := exec.Command(i.File, i.Args...)
	cmd.Args[0], cmd.Dir = i.Argv0, i.Cwd
	if i.Inherit {
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	}
	for name, value := range i.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	p := &program{cmd: cmd, exited: make(chan struct{})}
	var err error
	var ours [2]*os.File
	if i.Stdin {
		p.stdin, err = cmd.StdinPipe()
	}
	if err == nil && i.Stdout {
		p.out[1], ours[0], err = os.Pipe()
		cmd.Stdout = ours[0]
	}
	if err == nil && i.Stderr {
		p.out[2], ours[1], err = os.Pipe()
		cmd.Stderr = ours[1]
	}
	if err == nil {
		err = cmd.Start()
	}
	for _, f := range ours {
		if f != nil {
			f.Close()
		}
	}
	if err != nil {
		code := "EACCES"
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			code = "ENOENT"
		}
		return nil, nil, fault.NotFoundf("%v", err).With("code", code)
	}
	go func() {
		cmd.ProcessState, _ = cmd.Process.Wait()
		close(p.exited)
	}()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	h.programs[h.last] = p
	return map[string]any{"id": h.last, "pid": cmd.Process.Pid}, nil, nil
}

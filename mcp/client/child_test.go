//go:build unix

package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
)

// childServer names, in the environment of a child, the server of this test binary
// that it is to be.
const childServer = "MCPX_TEST_CHILD"

func TestMain(m *testing.M) {
	mcptest.Main()
	if name, ok := os.LookupEnv(childServer); ok {
		childServers[name](&peer{in: bufio.NewReader(os.Stdin), out: os.Stdout})
		return
	}
	code := m.Run()
	if left := leftGoroutines(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines left behind by sessions that were closed:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leftGoroutines returns the stacks of goroutines that sessions and children started
// and that do not end.
func leftGoroutines() string {
	var left []string
	for range 3000 {
		buf := make([]byte, 1<<20)
		left = nil
		for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			for _, ours := range []string{"client.(*conn)", "client.StartCommand", "client.(*remote)", "client.(*HTTP)", "client.(*SSE)", "http.(*persistConn)"} {
				if strings.Contains(stack, ours) {
					left = append(left, stack)
					break
				}
			}
		}
		if left == nil {
			return ""
		}
		time.Sleep(10 * time.Millisecond)
	}
	return strings.Join(left, "\n\n")
}

// childServers are the servers that this test binary can be. They are real processes,
// for what only a process can do.
var childServers = map[string]func(p *peer){
	"plain": func(p *peer) { p.legacy(tricks(p)) },
	"exits at once": func(*peer) {
		fmt.Fprintln(os.Stderr, "FATAL: no API key")
		os.Exit(3)
	},
	"complains on the wrong stream": func(p *peer) {
		p.write("usage: server --mcp\n")
		os.Exit(2)
	},
	"dies of the unknown": func(p *peer) {
		for m := p.read(); m != nil; m = p.read() {
			switch {
			case m.Method == mcp.MethodInitialize:
				p.reply(m, `{}`)
			case m.Kind() == mcp.Request:
				os.Exit(1)
			}
		}
	},
	"says nothing": func(p *peer) {
		fmt.Fprintln(os.Stderr, "loading the index")
		_, _ = io.Copy(io.Discard, p.in)
	},
	"never ends": func(p *peer) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		p.legacy(nil)
		time.Sleep(time.Hour)
	},
}

// tricks are methods of the server "plain".
func tricks(p *peer) func(m *mcp.Message) bool {
	return func(m *mcp.Message) bool {
		switch m.Method {
		case "echo":
			p.reply(m, string(m.Params))
		case "hang":
		case "die":
			fmt.Fprintln(os.Stderr, "FATAL: out of cheese")
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case "leave": // its answer has no newline
			p.write(`{"jsonrpc":"2.0","id":%s,"result":"bye"}`, m.ID)
			os.Exit(0)
		case "blob":
			p.reply(m, `"`+strings.Repeat("b", int(mustInt(mcp.Member(m.Params, "n"))))+`"`)
		case "chatter":
			fmt.Fprint(os.Stderr, strings.Repeat("all work and no play\n", 100_000), "the end\n")
			p.reply(m, `"done"`)
		case "drip":
			for _, b := range []byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":"— 中文 😀 é \u2028 \u0000"}` + "\n") {
				_, _ = p.out.Write([]byte{b})
			}
		case "family": // a child of the server that keeps its streams and outlives signals
			child := exec.Command("/bin/sh", "-c", `trap "" TERM HUP INT; echo >&2 ready; while :; do sleep 1; done`)
			child.Stdout = os.Stdout
			ready, _ := child.StderrPipe()
			if err := child.Start(); err != nil {
				p.refuse(m, 1, err.Error(), "")
				return true
			}
			_, _ = ready.Read(make([]byte, 10))
			p.reply(m, strconv.Itoa(child.Process.Pid))
		default:
			return false
		}
		return true
	}
}

func start(t *testing.T, server string) (*Child, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := StartCommand(t.Context(), Command{Name: "stub", Path: self, Env: []string{childServer + "=" + server, "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}})
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, err
}

// openChild connects to a server of childServers.
func openChild(t *testing.T, server string, o Options) (*Session, *Child) {
	t.Helper()
	c, err := start(t, server)
	if err != nil {
		t.Fatal(err)
	}
	o.Name = "stub"
	s, err := Connect(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, c
}

func TestChildAnswers(t *testing.T) {
	t.Parallel()
	s, c := openChild(t, "plain", Options{})
	if got := ask(t, s, "drip", ""); got != `"— 中文 😀 é \u2028 \u0000"` {
		t.Errorf("drip = %s", got)
	}
	if got := ask(t, s, "blob", `{"n":12000000}`); len(got) != 12_000_002 {
		t.Errorf("blob has %d bytes", len(got))
	}
	big := `{"pad":"` + strings.Repeat("x", 5_000_000) + `"}`
	if got := ask(t, s, "echo", big); got != big {
		t.Errorf("echo gave back %d bytes of %d", len(got), len(big))
	}
	if got := ask(t, s, "chatter", ""); got != `"done"` {
		t.Errorf("chatter = %s", got)
	}
	s.Close()
	said := c.Said().Stderr
	if len(said) > tailSize || !strings.HasPrefix(said, "all work") || !strings.HasSuffix(said, "\nthe end") {
		t.Errorf("%d bytes of standard error were kept: %.50q…", len(said), said)
	}
	if st := c.proc.State(); st == nil || !st.Success() {
		t.Errorf("the server ended with %v, want a clean exit when its input ends", st)
	}
}

func TestChildThatDiesDuringACall(t *testing.T) {
	t.Parallel()
	s, _ := openChild(t, "plain", Options{})
	first := s.conn.begin("hang", parameters{}, CallOptions{}) // it goes before the other
	hang := make(chan error, 1)
	go func() { hang <- (<-first.reply).err }()
	began := time.Now()
	for name, done := range map[string]<-chan error{"hang": hang, "die": pending(t.Context(), s, "die", nil)} {
		err := <-done
		want := "stub was killed by SIGKILL during the request, which may have taken effect; the last on its standard error:\n  FATAL: out of cheese"
		if err == nil || err.Error() != want {
			t.Errorf("error of %s = %v, want %s", name, err, want)
			continue
		}
		var e *fault.Error
		if errors.As(err, &e); e.Details["exit"] != "was killed by SIGKILL" || e.Details["stderr"] != "FATAL: out of cheese" || e.Details["mayHaveRun"] != true || e.Details["server"] != "stub" {
			t.Errorf("details of %s = %v", name, e.Details)
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the calls took %s to fail", took)
	}
}

func TestChildsLastAnswerCounts(t *testing.T) {
	t.Parallel()
	s, _ := openChild(t, "plain", Options{})
	if got := ask(t, s, "leave", ""); got != `"bye"` {
		t.Errorf("answer = %s", got)
	}
	<-s.Done()
	if s.Err() == nil || s.Err().Error() != "stub exited with code 0" {
		t.Errorf("Err = %v", s.Err())
	}
}

func TestChildThatDoesNotStart(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{
		"exits at once":                 "stub exited with code 3 while it was starting; the last on its standard error:\n  FATAL: no API key",
		"complains on the wrong stream": "stub exited with code 2 while it was starting; the last on its standard output:\n  usage: server --mcp",
	} {
		c, err := start(t, server)
		if err != nil {
			t.Fatal(err)
		}
		restarts := 0
		_, err = Connect(t.Context(), c, Options{Name: "stub", Restart: func(context.Context) (Transport, error) {
			restarts++
			return start(t, server)
		}})
		if err == nil || err.Error() != want || fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s: error = %v, want %s", server, err, want)
		}
		if restarts != 1 {
			t.Errorf("%s: it was started again %d times, want once", server, restarts)
		}
	}
	c, err := start(t, "says nothing")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for !strings.Contains(c.Said().Stderr, "index") && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel(fault.Unavailablef("stub was too slow").Hintf("patience"))
	}()
	_, err = Connect(ctx, c, Options{Name: "stub", ProbeTimeout: 100 * time.Millisecond})
	var e *fault.Error
	if !errors.As(err, &e) || e.Message != "stub was too slow; the last on its standard error:\n  loading the index" || e.Hint != "patience" {
		t.Errorf("error = %#v", err)
	}
}

func TestChildThatTheProbeKilled(t *testing.T) {
	t.Parallel()
	s, _ := openChild(t, "dies of the unknown", Options{Restart: func(context.Context) (Transport, error) {
		return start(t, "dies of the unknown")
	}})
	if s.Era() != mcp.Legacy {
		t.Errorf("Era = %v", s.Era())
	}
}

func TestProgramThatDoesNotExist(t *testing.T) {
	t.Parallel()
	_, err := StartCommand(t.Context(), Command{Name: "stub", Path: "/nowhere/at/all"})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "/nowhere/at/all") {
		t.Errorf("error = %v", err)
	}
}

func TestCloseEndsAChildThatDoesNotWantTo(t *testing.T) {
	t.Parallel()
	s, c := openChild(t, "never ends", Options{})
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > endGrace+time.Minute {
		t.Errorf("Close took %s", took)
	}
	if got := c.Ending().How; got != "was killed by SIGKILL" {
		t.Errorf("the server %s, want it killed", got)
	}
}

func TestNothingOfTheServersFamilyIsLeft(t *testing.T) {
	t.Parallel()
	for _, end := range []struct {
		name string
		do   func(s *Session)
	}{
		{"after Close", func(s *Session) { s.Close() }},
		{"after a crash", func(s *Session) { _, _ = s.Call(context.Background(), "die", nil) }},
	} {
		t.Run(end.name, func(t *testing.T) {
			t.Parallel()
			s, _ := openChild(t, "plain", Options{})
			pid, err := strconv.Atoi(ask(t, s, "family", ""))
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			end.do(s)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %s", took)
			}
			if err := gone(pid); err != nil {
				t.Error(err)
			}
		})
	}
}

// gone waits for a process that is not ours to reap to disappear.
func gone(pid int) error {
	for range 3000 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return nil
		}
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if _, state, ok := strings.Cut(string(stat), ") "); ok && state[0] == 'Z' {
			return nil // dead; its reaper has not come yet
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("process %d is still there", pid)
}

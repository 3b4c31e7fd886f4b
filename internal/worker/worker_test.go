//go:build unix

package worker

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/frame"
)

func TestMain(m *testing.M) {
	Dispatch(os.Args[1:])
	os.Exit(m.Run())
}

func TestAWorkerIsNotStartedByHand(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(os.Args[0], Command).CombinedOutput()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 2 {
		t.Errorf("mcpx worker = %v, want exit code 2", err)
	}
	if want := "mcpx: a worker is started by mcpx itself\n  run a script with mcpx exec or mcpx run\n"; string(out) != want {
		t.Errorf("mcpx worker said %q, want %q", out, want)
	}
}

func TestAWorkerEndsWithItsBroker(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code string }{
		{"in a loop", `console.log("here"); for (;;) {}`},
		{"in a wait", `console.log("here"); await new Promise(r => setTimeout(r, 1e9))`},
		{"while it prints", `for (;;) console.log("here")`},
		{"before its script", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			syscall.ForkLock.RLock() // the workers beside this one are not to inherit it
			fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			if err == nil {
				syscall.CloseOnExec(fds[0])
				syscall.CloseOnExec(fds[1])
			}
			syscall.ForkLock.RUnlock()
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
			defer ours.Close()
			cmd := exec.Command(os.Args[0], Command)
			cmd.ExtraFiles = []*os.File{theirs}
			if err := errors.Join(cmd.Start(), theirs.Close()); err != nil {
				t.Fatal(err)
			}
			conn := frame.NewConn(ours, 1<<20)
			if f, err := conn.Receive(); err != nil || f.Type != frame.Ready {
				t.Fatalf("Receive() = %s, %v, want ready", f.Type, err)
			}
			if tt.code != "" {
				head, err := json.Marshal(Run{Name: "exec", InFlight: 4, MaxBody: 1 << 20})
				if err != nil {
					t.Fatal(err)
				}
				if err := conn.Send(frame.Frame{Type: frame.Run, Head: head, Body: []byte(tt.code)}); err != nil {
					t.Fatal(err)
				}
				if f, err := conn.Receive(); err != nil || f.Type != frame.Stdout {
					t.Fatalf("Receive() = %s, %v, want output", f.Type, err)
				}
			}
			if err := ours.Close(); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
			defer late.Stop()
			var status *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &status) || status.ExitCode() != exitOrphaned {
				t.Errorf("the worker ended with %v, want exit code %d", err, exitOrphaned)
			}
		})
	}
}

func TestServeWithoutAScriptIsTheEnd(t *testing.T) {
	t.Parallel()
	b := meet(t)
	_ = b.near.Close()
	if err := <-b.served; !errors.Is(err, io.EOF) {
		t.Errorf("Serve() = %v, want %v", err, io.EOF)
	}
}

func TestServeRefusesAnythingButAScript(t *testing.T) {
	t.Parallel()
	for _, f := range []frame.Frame{
		{Type: frame.Answer, ID: 1, Head: []byte("{}")},
		{Type: frame.Run, Head: []byte("{")},
	} {
		b := meet(t)
		if err := b.conn.Send(f); err != nil {
			t.Fatal(err)
		}
		if err := <-b.served; err == nil || !strings.Contains(err.Error(), "instead of a script") {
			t.Errorf("Serve() after a frame %s = %v, want an error", f.Type, err)
		}
	}
}

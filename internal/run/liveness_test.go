//go:build unix

package run

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/internal/api"
	"mcpx/internal/settings"
	"mcpx/internal/worker"
)

// flood is a module with one function, flood(n): n calls of a tool in one turn of the
// script, all with the same large arguments, so that the test measures the socket and
// not how fast JavaScript makes text. The promise of each has the size of the answer.
func flood(body []byte) engine.Module {
	return engine.Module{Globals: []string{"flood"}, Make: func(rt *engine.Runtime) *goja.Object {
		exports := rt.VM().NewObject()
		_ = exports.Set("flood", func(call goja.FunctionCall) goja.Value {
			promises := make([]any, call.Argument(0).ToInteger())
			for i := range promises {
				promises[i] = engine.Async(rt, "tool", func(ctx context.Context) (int, error) {
					_, answer, err := rt.Host().Call(ctx, "tool", map[string]string{"ns": "demo", "name": "echo"}, body)
					return len(answer), err
				}, func(size int) goja.Value { return rt.VM().ToValue(size) })
			}
			return rt.VM().ToValue(promises)
		})
		return exports
	}}
}

// local is a worker in this process, at the other end of a real socket. It implements
// peer.
type local struct {
	io.ReadWriter // the broker's end
	close         func()
	done          chan struct{}
}

func (l *local) Kill()                             { l.close() }
func (l *local) Done() <-chan struct{}             { return l.done }
func (l *local) Ended() (*os.ProcessState, string) { <-l.done; return nil, "" }

// connect runs a worker at the other end of a socket; wrap is put around both ends.
func connect(t *testing.T, wrap func(io.ReadWriter) io.ReadWriter, modules ...engine.Module) *local {
	t.Helper()
	syscall.ForkLock.RLock() // workers that other tests start are not to inherit it
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Skip(err)
	}
	var ends [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "socket")
		if ends[i], err = net.FileConn(f); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	l := &local{ReadWriter: wrap(ends[0]), done: make(chan struct{})}
	l.close = sync.OnceFunc(func() { _, _ = ends[0].Close(), ends[1].Close() })
	go func() {
		defer close(l.done)
		found := func(run worker.Run) []engine.Module { return append(worker.Modules(run.Namespaces), modules...) }
		if err := worker.Serve(wrap(ends[1]), worker.Process{Prepare: found}); err != nil {
			t.Errorf("the worker failed: %v", err)
		}
	}()
	t.Cleanup(func() { l.close(); <-l.done })
	return l
}

// delayed reads and writes pieces of random size, sometimes after a while.
type delayed struct{ io.ReadWriter }

func (d delayed) Read(p []byte) (int, error) {
	d.wait()
	return d.ReadWriter.Read(p[:d.piece(len(p))])
}

func (d delayed) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		d.wait()
		var m int
		m, err = d.ReadWriter.Write(p[:d.piece(len(p))])
		n, p = n+m, p[m:]
	}
	return n, err
}

func (delayed) wait() {
	if rand.IntN(20) == 0 {
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
	}
}

func (delayed) piece(n int) int {
	if n <= 1 || rand.IntN(4) > 0 {
		return n
	}
	return 1 + rand.IntN(n)
}

// TestTwentyThousandCallsInOneTurn is the promise that the socket never stalls: every
// call of a turn, large both ways, while the script prints, with and without delays at
// both ends, and with a reader of the output that is slow.
func TestTwentyThousandCallsInOneTurn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		calls, size int
		wrap        func(io.ReadWriter) io.ReadWriter
		slow        bool
	}{
		{"large", 20_000, 100 << 10, func(rw io.ReadWriter) io.ReadWriter { return rw }, false},
		{"delayed", 20_000, 300, func(rw io.ReadWriter) io.ReadWriter { return delayed{rw} }, true},
		{"large and delayed", 1_000, 100 << 10, func(rw io.ReadWriter) io.ReadWriter { return delayed{rw} }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				tt.calls /= 20
			}
			body := make([]byte, tt.size)
			for i := range body {
				body[i] = 'x'
			}
			body[0], body[len(body)-1] = '"', '"'
			var calls, printed atomic.Int64
			s := stage{call: func(_ context.Context, in api.CallInput) (*api.CallOutput, error) {
				calls.Add(1)
				return &api.CallOutput{Result: in.Arguments}, nil
			}}
			stdout := writerFunc(func(p []byte) (int, error) {
				if printed.Add(int64(len(p))); tt.slow && rand.IntN(10) == 0 {
					time.Sleep(time.Millisecond)
				}
				return len(p), nil
			})
			w := connect(t, tt.wrap, flood(body))
			head := worker.Run{Name: "exec", InFlight: 64, MaxBody: 1 << 20}
			b := newBroker(w, s, s, head, api.Streams{Stdout: stdout})
			b.effects = newEffects(s.granted(), nil, nil)
			b.build = worker.Build()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			out, err := b.run(ctx, head, fmt.Sprintf(`
				const all = flood(%d).map(async p => { const n = await p; console.log("x".repeat(99)); return n });
				for (let i = 0; i < %d; i++) console.log("y".repeat(99));
				return (await Promise.all(all)).reduce((sum, n) => sum + n, 0);`, tt.calls, tt.calls))
			if err != nil || out.Error != nil {
				t.Fatalf("the run ended with %+v, %v", out, err)
			}
			if got, want := string(out.Value), fmt.Sprint(tt.calls*tt.size); got != want {
				t.Errorf("%s bytes came back, want %s", got, want)
			}
			if got := calls.Load(); got != int64(tt.calls) {
				t.Errorf("%d calls arrived, want %d", got, tt.calls)
			}
			if got, want := printed.Load(), int64(2*100*tt.calls); got != want {
				t.Errorf("%d bytes were printed, want %d", got, want)
			}
		})
	}
}

// TestRealToolCallsCross drives the same through a process and the bindings.
func TestRealToolCallsCross(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ calls, size int }{{20_000, 10}, {500, 100 << 10}, {3, 6 << 20}} {
		t.Run(fmt.Sprint(tt.calls, " of ", tt.size), func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				tt.calls = tt.calls/20 + 1
			}
			set := &settings.Set{}
			if err := set.ApplyFlag("limits-tool-calls", fmt.Sprint(tt.calls)); err != nil {
				t.Fatal(err)
			}
			s := stage{settings: set, call: func(_ context.Context, in api.CallInput) (*api.CallOutput, error) {
				return &api.CallOutput{Result: fmt.Appendf(nil, `{"structuredContent":%s}`, in.Arguments)}, nil
			}}
			r := s.runner()
			r.Settings = given(t, "--limits-tool-calls=100000")
			out := exec(t, r, fmt.Sprintf(`
				const text = "x".repeat(%d);
				const all = Array.from({length: %d}, async () => { console.log("asking"); return (await demo.echo({text})).text.length });
				return (await Promise.all(all)).reduce((sum, n) => sum + n, 0);`, tt.size, tt.calls), api.ExecInput{})
			if out.Error != nil || string(out.Value) != fmt.Sprint(tt.calls*tt.size) || len(out.Stdout) != 7*tt.calls {
				t.Errorf("the run ended with %s and %+v and printed %d bytes", out.Value, out.Error, len(out.Stdout))
			}
		})
	}
}

package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/frame"
	"mcpx/internal/worker"
)

func TestAHostileWorkerIsEnded(t *testing.T) {
	t.Parallel()
	repeat := func(n int, what func(id uint32) error) error {
		for id := range uint32(n) {
			if err := what(id); err != nil {
				return err
			}
		}
		return nil
	}
	for _, tt := range []struct {
		name string
		act  func(a *actor) error
		want string // in the message
	}{
		{"bytes that are no frame", func(a *actor) error {
			_, err := io.WriteString(a.far, "fatal error: this is text\n")
			return err
		}, "malformed frame"},
		{"a body larger than any result", func(a *actor) error {
			return a.call(1, "tool", nil, strings.Repeat("x", 3<<20))
		}, "frame too large"},
		{"more calls than there is room for", func(a *actor) error {
			return repeat(inFlight+1, func(id uint32) error { return a.call(id, "tool", map[string]string{"ns": "x"}, "{}") })
		}, "more than 4 requests"},
		{"more listings than there is room for", func(a *actor) error {
			return repeat(inFlight+1, func(id uint32) error { return a.call(id, "tools", map[string]string{"ns": "x"}, "") })
		}, "more than 4 requests"},
		{"requests that carry something and wait for ever", func(a *actor) error {
			return a.call(1, "fetch.read", map[string]int{"id": 1}, "x")
		}, "with a request that waits"},
		{"requests that wait with a head of their own", func(a *actor) error {
			return a.call(1, "run.wait", strings.Repeat("x", worker.MaxPending), "")
		}, "with a request that waits"},
		{"questions that carry something", func(a *actor) error {
			return a.call(1, "search", map[string]string{"words": "x"}, strings.Repeat("x", 1<<20))
		}, "1048576 bytes with a question"},
		{"text in the level of a log, where it is not counted", func(a *actor) error {
			return a.call(1, "log", worker.Log{Level: strings.Repeat("x", 1<<10)}, "x")
		}, "a level of 1024 bytes"},
		{"one id twice", func(a *actor) error {
			return repeat(2, func(uint32) error { return a.call(7, "tool", map[string]string{"ns": "x"}, "{}") })
		}, "request 7 twice"},
		{"output that does not wait", func(a *actor) error {
			return repeat(1000, func(id uint32) error { return a.send(frame.Stdout, id, nil, "x") })
		}, "more than 64 requests"},
		{"logs that do not wait", func(a *actor) error {
			return repeat(1000, func(id uint32) error { return a.call(id, "log", worker.Log{Level: "info"}, "x") })
		}, "two emits or logs at a time"},
		{"a heap of output at once", func(a *actor) error {
			return a.send(frame.Stderr, 1, nil, strings.Repeat("x", worker.MaxOutput+1))
		}, "65537 bytes of output at once"},
		{"a request that is no JSON", func(a *actor) error {
			return a.conn.Send(frame.Frame{Type: frame.Call, Head: []byte("{")})
		}, "cannot be read"},
		{"a request nested too deeply", func(a *actor) error {
			return a.conn.Send(frame.Frame{Type: frame.Call, Head: bytes.Repeat([]byte("["), 100000)})
		}, "cannot be read"},
		{"a frame of the broker", func(a *actor) error {
			return a.conn.Send(frame.Frame{Type: frame.Interrupt})
		}, "a frame interrupt at the wrong time"},
		{"an end with a value longer than all", func(a *actor) error {
			return a.send(frame.End, 0, worker.End{Value: 9}, "1")
		}, "a value of 9 bytes in 1"},
		{"an end with a negative value", func(a *actor) error {
			return a.send(frame.End, 0, worker.End{Value: -1}, "1")
		}, "a value of -1 bytes in 1"},
		{"an end with a value that is no JSON", func(a *actor) error {
			return a.send(frame.End, 0, worker.End{Value: 1}, "}")
		}, "not JSON"},
		{"an end with a report that is none", func(a *actor) error {
			return a.send(frame.End, 0, worker.End{Value: 1, ExitCode: 3}, "1}")
		}, "invalid character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				hold := make(chan struct{})
				defer close(hold)
				s := stage{
					call: func(ctx context.Context, _ api.CallInput) (*api.CallOutput, error) {
						<-ctx.Done()
						return nil, ctx.Err()
					},
					list: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
				}
				s.streams.Stdout = writerFunc(func(p []byte) (int, error) { <-hold; return len(p), nil })
				s.streams.Stderr = s.streams.Stdout
				out, err := s.perform(t.Context(), func(a *actor) error {
					if err := a.greet(); err != nil {
						return err
					}
					if err := tt.act(a); err != nil {
						return err
					}
					_, err := a.conn.Receive() // an honest one would wait now
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if e := out.Error; e == nil || e.Kind != fault.Internal || !strings.Contains(e.Message, tt.want) || e.Hint == "" {
					t.Errorf("the run ended with %+v, want an internal error with %q and a hint", e, tt.want)
				}
				if out.ExitCode != 70 || out.Value != nil {
					t.Errorf("the run ended with code %d and value %s, want 70 and none", out.ExitCode, out.Value)
				}
			})
		})
	}
}

// A report is taken apart, which takes many times its size.
func TestAReportIsBounded(t *testing.T) {
	t.Parallel()
	b := &broker{log: slog.New(slog.DiscardHandler)}
	for _, tt := range []struct {
		zeros int
		want  string
	}{{10, ""}, {worker.MaxReport / 2, "a report of 8388"}} {
		body := `{"kind":"script","details":{"x":[` + strings.Repeat("0,", tt.zeros) + `0]}}`
		report, err := b.readEnd(t.Context(), frame.Frame{Type: frame.End, Head: []byte(`{"exitCode":3}`), Body: []byte(body)}, &api.ExecOutput{})
		if tt.want == "" && (err != nil || report.Kind != fault.Script) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%d zeros: %+v, %v, want %q", tt.zeros, report, err, tt.want)
		}
	}
}

// What a script sends is held until it is answered: together no more than some of the
// largest, whatever the number of classes and of requests in each.
func TestRequestsHoldABoundedNumberOfBytes(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	const calls = inFlight
	s := stage{room: calls << 20, call: func(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return &api.CallOutput{Result: []byte(`1`)}, nil
	}}
	large := `"` + strings.Repeat("x", 1<<20-2) + `"`
	out, err := s.perform(t.Context(), func(a *actor) error {
		if err := a.greet(); err != nil {
			return err
		}
		for id := range uint32(calls) {
			if err := a.call(id, "tool", map[string]string{"ns": "demo", "name": "x"}, large); err != nil {
				return err
			}
		}
		for id := range uint32(2) {
			id += 100
			if err := a.call(id, "fs.writeFile", map[string]string{"path": "x"}, large); err != nil {
				return err
			}
			f, err := a.conn.Receive()
			if err != nil {
				return err
			}
			if f.Type != frame.Refusal || f.ID != id || !strings.Contains(string(f.Body), "under way holds") {
				t.Errorf("request %d is answered by %s to %d: %s", id, f.Type, f.ID, f.Body)
			}
		}
		close(release)
		for range calls {
			if f, err := a.conn.Receive(); err != nil || f.Type != frame.Answer {
				t.Errorf("a call is answered by %s %s, %v", f.Type, f.Body, err)
			}
		}
		// The place of the last may be given back after its answer is out.
		for {
			if err := a.call(200, "artifact", map[string]string{"name": "x"}, large); err != nil {
				return err
			}
			f, err := a.conn.Receive()
			if err != nil {
				return err
			}
			if strings.Contains(string(f.Body), "denied") {
				return a.end()
			}
		}
	})
	if err != nil || out.Error != nil {
		t.Errorf("the run ended with %+v, %v", out, err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	s := stage{call: func(_ context.Context, in api.CallInput) (*api.CallOutput, error) {
		switch in.Tool {
		case "fails":
			return nil, fault.NotFoundf("no tool %s", in.Tool).Hintf("look again").With("nearest", []string{"echo"})
		case "panics in JSON":
			return nil, fault.Unavailablef("odd").With("detail", make(chan int))
		case "large":
			return &api.CallOutput{Result: make([]byte, 1<<20+1)}, nil
		}
		return &api.CallOutput{Result: fmt.Appendf(nil, "%s.%s(%s)", in.Server, in.Tool, in.Arguments)}, nil
	}}
	tool := func(name string) any { return map[string]string{"ns": "demo", "name": name} }
	for _, tt := range []struct {
		name string
		op   string
		head any
		body string
		want string // type, head and body of the answer
	}{
		{"a tool", "tool", tool("x"), `{"a":1}`, `answer  demo.x({"a":1})`},
		{"a tool without arguments", "tool", tool("x"), "", `answer  demo.x()`},
		{"an error", "tool", tool("fails"), "", `refusal  {"kind":"not_found","message":"no tool fails","hint":"look again","details":{"nearest":["echo"]}}`},
		{"an error with a detail that is no JSON", "tool", tool("panics in JSON"), "", `refusal  {"kind":"unavailable","message":"odd"}`},
		{"a result too large", "tool", tool("large"), "", `refusal  {"kind":"limit","message":"the answer has 1048577 bytes, 1048576 are allowed","hint":"ask for less, or raise limits.result","details":{"mayHaveRun":true}}`},
		{"arguments that are another message", "tool", tool("x"), "{}\n{}", `refusal  {"kind":"internal","message":"the arguments of demo.x are not JSON"}`},
		{"a listing", "tools", map[string]string{"ns": "demo"}, "", `answer {"tools":[{"name":"echo"},{"name":"fancy-name","aliases":["fancy_name","fancyName"]}]} `},
		{"a search", "search", map[string]any{"words": "w", "ns": "demo", "limit": 3.0}, "", `answer  [{"namespace":"","name":"w demo 3","signature":"","score":0}]`},
		{"a search that finds nothing", "search", map[string]any{"words": "nothing"}, "", `answer  []`},
		{"a declaration", "describe", map[string]string{"name": "demo.echo"}, "", `answer  declare const demo.echo`},
		{"a log", "log", worker.Log{Level: "warn"}, "careful", `answer  `},
		{"something else", "nonsense", nil, "", `refusal  {"kind":"internal","message":"the host knows no request \"nonsense\""}`},
		{"a head of the wrong form", "tools", []int{1}, "", `refusal  {"kind":"internal","message":"reading a request of the script: json: cannot unmarshal array into Go value of type struct { Namespace string \"json:\\\"ns\\\"\" }"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got string
			out, err := s.perform(t.Context(), func(a *actor) error {
				if err := a.greet(); err != nil {
					return err
				}
				if err := a.call(5, tt.op, tt.head, tt.body); err != nil {
					return err
				}
				f, err := a.conn.Receive()
				if err != nil || f.ID != 5 {
					return fmt.Errorf("answer to %d: %w", f.ID, err)
				}
				got = fmt.Sprintf("%s %s %s", f.Type, f.Head, f.Body)
				return a.end()
			})
			if err != nil || out.Error != nil {
				t.Fatalf("the run ended with %+v, %v", out, err)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestListingsAndOutputDoNotQueueBehindTools(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var stdout strings.Builder
		s := stage{
			call: func(ctx context.Context, _ api.CallInput) (*api.CallOutput, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			streams: api.Streams{Stdout: &stdout},
		}
		out, err := s.perform(t.Context(), func(a *actor) error {
			if err := a.greet(); err != nil {
				return err
			}
			for id := range uint32(inFlight) {
				if err := a.call(id, "tool", map[string]string{"ns": "x"}, "{}"); err != nil {
					return err
				}
			}
			if err := a.call(10, "describe", map[string]string{"name": "x"}, ""); err != nil {
				return err
			}
			if f, err := a.conn.Receive(); err != nil || f.ID != 10 {
				return fmt.Errorf("answer to %d: %w", f.ID, err)
			}
			if err := a.send(frame.Stdout, 11, nil, "printed"); err != nil {
				return err
			}
			if f, err := a.conn.Receive(); err != nil || f.ID != 11 {
				return fmt.Errorf("answer to %d: %w", f.ID, err)
			}
			return a.end()
		})
		if err != nil || out.Error != nil || string(out.Value) != "1" || stdout.String() != "printed" {
			t.Errorf("the run ended with %+v, %v and printed %q", out, err, stdout.String())
		}
	})
}

func TestToolsDoNotQueueBehindASlowReaderOfOutput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answered := make(chan struct{})
		var stdout strings.Builder
		s := stage{streams: api.Streams{Stdout: writerFunc(func(p []byte) (int, error) {
			<-answered
			return stdout.Write(p)
		})}}
		out, err := s.perform(t.Context(), func(a *actor) error {
			if err := a.greet(); err != nil {
				return err
			}
			for id := range uint32(20) {
				if err := a.send(frame.Stdout, id, nil, fmt.Sprintln(id)); err != nil {
					return err
				}
			}
			if err := a.call(100, "tool", map[string]string{"ns": "x"}, "{}"); err != nil {
				return err
			}
			if f, err := a.conn.Receive(); err != nil || f.ID != 100 {
				return fmt.Errorf("answer to %d: %w", f.ID, err)
			}
			close(answered)
			return a.end()
		})
		if err != nil || out.Error != nil || !out.Printed {
			t.Errorf("the run ended with %+v, %v", out, err)
		}
		if want := "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n"; stdout.String() != want {
			t.Errorf("printed %q, want %q", stdout.String(), want)
		}
	})
}

func TestCancelReachesTheCallAndTheAnswerStillComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := stage{call: func(ctx context.Context, _ api.CallInput) (*api.CallOutput, error) {
			<-ctx.Done()
			return nil, fault.New(fault.Script, "given up")
		}}
		var got frame.Frame
		out, err := s.perform(t.Context(), func(a *actor) error {
			if err := a.greet(); err != nil {
				return err
			}
			if err := a.call(3, "tool", map[string]string{"ns": "x"}, ""); err != nil {
				return err
			}
			for _, id := range []uint32{9, 3} { // 9 was never asked
				if err := a.send(frame.Cancel, id, nil, ""); err != nil {
					return err
				}
			}
			var err error
			if got, err = a.conn.Receive(); err != nil {
				return err
			}
			return a.end()
		})
		if err != nil || out.Error != nil {
			t.Fatalf("the run ended with %+v, %v", out, err)
		}
		if got.Type != frame.Refusal || got.ID != 3 || !strings.Contains(string(got.Body), "given up") {
			t.Errorf("the answer is %s to %d: %s, want a refusal to 3", got.Type, got.ID, got.Body)
		}
	})
}

// In real time: those that wait for a lock do not count as idle for synctest.
func TestAWorkerThatDoesNotReadIsKilledAtTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 50 * time.Millisecond
	begin := time.Now() // before the clock of the limit starts
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, fault.Timeoutf("time is up"))
	defer cancel()
	out, err := stage{}.perform(ctx, func(a *actor) error {
		if err := a.greet(); err != nil {
			return err
		}
		for id := range uint32(inFlight) {
			if err := a.call(id, "tool", map[string]string{"ns": "x"}, `"`+strings.Repeat("x", 1<<18)+`"`); err != nil {
				return err
			}
		}
		<-a.done
		return nil
	})
	if err != nil || out.Error == nil || out.Error.Message != "time is up" || out.ExitCode != 124 {
		t.Errorf("the run ended with %+v, %v, want a timeout", out, err)
	}
	if got := time.Since(begin); got < limit+stopGrace {
		t.Errorf("the run took %s, want at least %s: the worker has a grace", got, limit+stopGrace)
	}
}

func TestAnInterruptedWorkerMaySayWhereItWas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, fault.Timeoutf("time limit of 1s exceeded").Hintf("raise it"))
		defer cancel()
		begin := time.Now()
		out, err := stage{}.perform(ctx, func(a *actor) error {
			if err := a.greet(); err != nil {
				return err
			}
			f, err := a.conn.Receive()
			if err != nil || f.Type != frame.Interrupt {
				return fmt.Errorf("got %s: %w", f.Type, err)
			}
			e := &fault.Error{}
			if err := json.Unmarshal(f.Body, e); err != nil {
				return err
			}
			report := fault.ReportOf(e)
			report.Message = "in the words of the worker"
			report.At = &fault.Position{File: "loop.ts", Line: 3, Column: 5}
			b, err := json.Marshal(report)
			if err != nil {
				return err
			}
			return a.send(frame.End, 0, worker.End{ExitCode: 124}, string(b))
		})
		if err != nil || out.Error == nil {
			t.Fatalf("the run ended with %+v, %v, want a timeout", out, err)
		}
		if got, want := out.Error.Text(), "time limit of 1s exceeded\n  at loop.ts:3:5\n  raise it"; got != want {
			t.Errorf("the error reads %q, want %q", got, want)
		}
		if got := time.Since(begin); got != time.Second {
			t.Errorf("the run took %s, want 1s", got)
		}
	})
}

func TestWhoDecidesHowARunEnds(t *testing.T) {
	t.Parallel()
	wait := func(a *actor) error { _, err := a.conn.Receive(); return err }
	for _, tt := range []struct {
		name    string
		cause   error // of a cancelled context
		written error // what standard output says to a write
		act     func(a *actor) error
		exit    int
		want    string // the error, empty for none
	}{
		{name: "the script", act: func(a *actor) error { return a.end() }, exit: 0},
		{name: "the script, with a code", act: func(a *actor) error {
			return a.send(frame.End, 0, worker.End{ExitCode: 3}, "")
		}, exit: 3},
		{name: "the script, with an error", act: func(a *actor) error {
			return a.send(frame.End, 0, worker.End{}, `{"kind":"denied","name":"DeniedError","message":"no"}`)
		}, exit: 77, want: "no"},
		{name: "the caller", cause: context.Canceled, act: wait, exit: 130},
		{name: "the caller, although the script ended well", cause: context.Canceled, act: func(a *actor) error {
			if err := wait(a); err != nil {
				return err
			}
			return a.end()
		}, exit: 130},
		{name: "a deadline of the caller", cause: context.DeadlineExceeded, act: wait, exit: 124, want: "time limit exceeded"},
		{name: "the caller, for a reason", cause: fault.Limitf("enough"), act: wait, exit: 125, want: "enough"},
		{name: "the reader of standard output", written: &os.PathError{Err: syscall.EPIPE}, act: wait, exit: 141},
		{name: "the reader of a pipe", written: io.ErrClosedPipe, act: wait, exit: 141},
		{name: "a full disk", written: &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, act: wait, exit: 69, want: "writing standard output: write /dev/stdout: no space left on device"},
		{name: "the worker, that could not go on", act: func(a *actor) error {
			return a.send(frame.Fail, 0, worker.Stack{Stack: "goroutine 1"}, `{"kind":"internal","message":"panic: oh"}`)
		}, exit: 70, want: "the script engine crashed\n  " + pleaseReport},
		{name: "the worker, that could not be locked", act: func(a *actor) error {
			return a.send(frame.Fail, 0, worker.Stack{}, `{"kind":"unavailable","message":"seccomp: cannot allocate memory"}`)
		}, exit: 69, want: "the system did not let the script's process lock itself\n  the log, which -v shows, says"},
		{name: "the worker, in its last words", act: func(a *actor) error {
			a.words = "runtime: goroutine stack exceeds 67108864-byte limit\nfatal error: stack overflow\n"
			return nil
		}, exit: 1, want: "RangeError: nesting too deep"},
		{name: "the worker, that had no memory", act: func(a *actor) error {
			a.words = "runtime: out of memory: cannot allocate 536870912-byte block\nfatal error: out of memory\n"
			return nil
		}, exit: 125, want: "memory limit of 1 MiB exceeded"},
		{name: "the worker, over a limit", act: func(a *actor) error {
			return a.send(frame.Fail, 0, worker.Stack{}, `{"kind":"limit","message":"lies","details":{"limit":"cpu"}}`)
		}, exit: 125, want: "CPU limit of 2 s exceeded\n  give it more with --limits-cpu=4s"},
		{name: "the worker, over a limit, where it was", act: func(a *actor) error {
			return a.send(frame.End, 0, worker.End{ExitCode: 125},
				`{"kind":"limit","name":"LimitError","message":"lies","details":{"limit":"memory"},"at":{"file":"exec","line":2,"column":3}}`)
		}, exit: 125, want: "memory limit of 1 MiB exceeded\n  at exec:2:3\n"},
		{name: "nobody knows", act: func(*actor) error { return nil }, exit: 70, want: "the script engine crashed"},
		{name: "the caller, before a worker's last words", cause: context.Canceled, act: func(a *actor) error {
			a.words = "fatal error: out of memory"
			return wait(a)
		}, exit: 130},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				s := stage{streams: api.Streams{Stdout: writerFunc(func(p []byte) (int, error) { return len(p), tt.written })}}
				out, err := s.perform(ctx, func(a *actor) error {
					if err := a.greet(); err != nil {
						return err
					}
					if tt.cause != nil {
						time.AfterFunc(time.Second, func() { cancel(tt.cause) })
					}
					if tt.written != nil {
						if err := a.send(frame.Stdout, 1, nil, "x"); err != nil {
							return err
						}
						if _, err := a.conn.Receive(); err != nil {
							return err
						}
					}
					return tt.act(a)
				})
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				if out.Error != nil {
					got = out.Error.Text()
				}
				if out.ExitCode != tt.exit || !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
					t.Errorf("the run ended with code %d and %q, want %d and %q", out.ExitCode, got, tt.exit, tt.want)
				}
				if ok := out.ExitCode == 0; (out.Value != nil) != ok {
					t.Errorf("the run ended with code %d and the value %s", out.ExitCode, out.Value)
				}
			})
		})
	}
}

func TestAGoStackGoesToTheLogOnly(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := stage{log: slog.New(slog.NewTextHandler(&log, nil))}
	out, err := s.perform(t.Context(), func(a *actor) error {
		if err := a.greet(); err != nil {
			return err
		}
		return a.send(frame.Fail, 0, worker.Stack{Stack: "goroutine 1 [running]"}, `{"kind":"internal","message":"panic: oh"}`)
	})
	if err != nil || strings.Contains(out.Error.Text(), "goroutine") {
		t.Errorf("the run ended with %s, %v, want no stack", out.Error.Text(), err)
	}
	if !strings.Contains(log.String(), "goroutine 1 [running]") {
		t.Errorf("the log holds %s, want the stack", log.String())
	}
}

func TestNoRunTakesPlaceInAWorkerOfAnotherBuild(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		build string
		act   func(a *actor) error
		want  string
	}{
		{"another build", "protocol 0", (*actor).greet, "the worker is of another build than this process"},
		{"no worker", "", func(a *actor) error { return a.end() }, "what was started as a worker is not one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := newActor()
				a.build = tt.build
				out, err := stage{}.performAs(t.Context(), a, tt.act)
				if out != nil || fault.KindOf(err) != fault.Unavailable || !strings.Contains(fmt.Sprint(err), tt.want) || fault.From(err).Hint == "" {
					t.Errorf("run = %+v, %v, want an error of kind unavailable with %q and a hint", out, err, tt.want)
				}
			})
		})
	}
}

func TestAWriteThatHangsDoesNotHoldUpACancelledRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		defer close(hold)
		ctx, cancel := context.WithCancel(t.Context())
		s := stage{streams: api.Streams{Stdout: writerFunc(func(p []byte) (int, error) { <-hold; return len(p), nil })}}
		begin := time.Now()
		out, err := s.perform(ctx, func(a *actor) error {
			if err := a.greet(); err != nil {
				return err
			}
			if err := a.send(frame.Stdout, 1, nil, "x"); err != nil {
				return err
			}
			time.AfterFunc(time.Minute, cancel)
			return a.end()
		})
		if err != nil || out.ExitCode != exitInterrupted {
			t.Errorf("the run ended with %+v, %v, want it interrupted", out, err)
		}
		if got, want := time.Since(begin), time.Minute+endGrace; got != want {
			t.Errorf("the run took %s, want %s: its output waits for a reader until it is cancelled", got, want)
		}
	})
}

func TestOutputKeepsItsOrderAcrossStreams(t *testing.T) {
	t.Parallel()
	var got []string
	record := func(name string) io.Writer {
		return writerFunc(func(p []byte) (int, error) { got = append(got, name+string(p)); return len(p), nil })
	}
	s := stage{streams: api.Streams{Stdout: record("out:"), Stderr: record("err:")}}
	out, err := s.perform(t.Context(), func(a *actor) error {
		answered := make(chan uint32, 8)
		go func() {
			defer close(answered)
			for {
				f, err := a.conn.Receive()
				if err != nil {
					return
				}
				if f.Type == frame.Answer {
					answered <- f.ID
				}
			}
		}()
		// A worker waits for the answer to a log.
		logged := func(id uint32, level, text string) error {
			err := a.call(id, "log", worker.Log{Level: level}, text)
			for err == nil {
				if got, open := <-answered; !open || got == id {
					break
				}
			}
			return err
		}
		if err := a.send(frame.Ready, 0, worker.Ready{Build: a.build}, ""); err != nil {
			return err
		}
		return errors.Join(
			a.send(frame.Stdout, 1, nil, "one"),
			a.send(frame.Stderr, 2, nil, "two"),
			logged(3, "info", "three"),
			logged(4, "error", "four"),
			a.send(frame.Stdout, 5, nil, "five"),
			a.end(),
		)
	})
	if err != nil || out.Error != nil {
		t.Fatalf("the run ended with %+v, %v", out, err)
	}
	if want := []string{"out:one", "err:two", "err:three\n", "err:error: four\n", "out:five"}; !slices.Equal(got, want) {
		t.Errorf("written: %q, want %q", got, want)
	}
}

func TestStandardErrorMayBeClosed(t *testing.T) {
	t.Parallel()
	closed := writerFunc(func([]byte) (int, error) { return 0, syscall.EPIPE })
	out, err := stage{streams: api.Streams{Stderr: closed}}.perform(t.Context(), func(a *actor) error {
		if err := a.greet(); err != nil {
			return err
		}
		for id := range uint32(3) {
			if err := a.send(frame.Stderr, id, nil, "x"); err != nil {
				return err
			}
			if _, err := a.conn.Receive(); err != nil {
				return err
			}
		}
		if err := a.send(frame.Stdout, 9, nil, "still here"); err != nil {
			return err
		}
		if _, err := a.conn.Receive(); err != nil {
			return err
		}
		return a.end()
	})
	if err != nil || out.Error != nil || out.ExitCode != 0 || out.Stdout != "still here" {
		t.Errorf("the run ended with %+v, %v, want it well", out, err)
	}
}

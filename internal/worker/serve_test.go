package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/internal/fault"
	"mcpx/internal/frame"
)

// broker is the other end of Serve, in the hands of a test. What it does not receive,
// the worker cannot send: the pipe holds nothing.
type broker struct {
	near   net.Conn
	conn   *frame.Conn
	served chan error
	gone   chan struct{} // orphaned was called
}

// meet serves a script with more modules and takes the frame ready.
func meet(t *testing.T, more ...engine.Module) *broker {
	t.Helper()
	return meetWith(t, Process{Prepare: func(run Run) []engine.Module { return append(Modules(run.Namespaces), more...) }})
}

func meetWith(t *testing.T, p Process) *broker {
	t.Helper()
	near, far := net.Pipe()
	b := &broker{near: near, conn: frame.NewConn(near, 1<<30), served: make(chan error, 1), gone: make(chan struct{})}
	p.Exit = func(int) { close(b.gone) }
	go func() { b.served <- Serve(far, p) }()
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	if f := b.receive(t, frame.Ready); string(f.Head) == "" {
		t.Error("ready says nothing")
	}
	return b
}

func (b *broker) receive(t *testing.T, want frame.Type) frame.Frame {
	t.Helper()
	f, err := b.conn.Receive()
	if err != nil || f.Type != want {
		t.Fatalf("Receive() = %s %s %.100s, %v, want %s", f.Type, f.Head, f.Body, err, want)
	}
	return f
}

func (b *broker) send(t *testing.T, typ frame.Type, id uint32, head any, body string) {
	t.Helper()
	h, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.conn.Send(frame.Frame{Type: typ, ID: id, Head: h, Body: []byte(body)}); err != nil {
		t.Fatal(err)
	}
}

// inBubble is synctest.Test for tests that compile: esbuild leaves goroutines that
// sleep for a moment.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t)
		time.Sleep(time.Minute)
	})
}

const maxBody = 1 << 20

func (b *broker) run(t *testing.T, code string) {
	t.Helper()
	b.send(t, frame.Run, 0, Run{Name: "exec", Namespaces: []string{"demo"}, InFlight: 3, MaxBody: maxBody, Expression: true}, code)
}

// end receives the end of the script.
func (b *broker) end(t *testing.T) (End, string, *fault.Report) {
	t.Helper()
	return b.ended(t, b.receive(t, frame.End))
}

// ended reads the last frame and waits until the worker is done.
func (b *broker) ended(t *testing.T, f frame.Frame) (End, string, *fault.Report) {
	t.Helper()
	var e End
	if err := json.Unmarshal(f.Head, &e); err != nil {
		t.Fatal(err)
	}
	var r *fault.Report
	if len(f.Body) > e.Value {
		if err := json.Unmarshal(f.Body[e.Value:], &r); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-b.served; err != nil {
		t.Errorf("Serve() = %v", err)
	}
	return e, string(f.Body[:e.Value]), r
}

func TestOutputComesBeforeTheRequestAfterIt(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := meet(t)
		b.run(t, `console.log("one"); console.error("two"); describe("x"); console.log("three"); return 1`)
		for _, want := range []struct {
			typ  frame.Type
			text string
		}{{frame.Stdout, "one\n"}, {frame.Stderr, "two\n"}, {frame.Call, ""}} {
			f := b.receive(t, want.typ)
			if string(f.Body) != want.text {
				t.Errorf("the frame %s holds %q, want %q", f.Type, f.Body, want.text)
			}
			if f.Type == frame.Call {
				b.send(t, frame.Answer, f.ID, nil, "text")
			}
		}
		if f := b.receive(t, frame.Stdout); string(f.Body) != "three\n" {
			t.Errorf("the last output is %q", f.Body)
		}
		if _, value, r := b.end(t); value != "1" || r != nil {
			t.Errorf("the script ended with %s, %+v, want 1", value, r)
		}
	})
}

func TestOutputIsSentWhenNothingFollows(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := meet(t)
		begin := time.Now()
		b.run(t, `console.log("x"); await new Promise(r => setTimeout(r, 1000)); console.log("y")`)
		for _, want := range []struct {
			text  string
			after time.Duration
		}{{"x\n", flushEvery}, {"y\n", time.Second}} { // y goes with the end
			f := b.receive(t, frame.Stdout)
			if got := time.Since(begin); string(f.Body) != want.text || got != want.after {
				t.Errorf("after %s came %q, want %q after %s", got, f.Body, want.text, want.after)
			}
		}
		b.end(t)
	})
}

func TestMuchOutputIsFewFrames(t *testing.T) {
	t.Parallel()
	b := meet(t)
	b.run(t, `for (let i = 0; i < 50_000; i++) console.log("a line"); console.log("x".repeat(1_000_000))`)
	frames, bytes := 0, 0
	for {
		f, err := b.conn.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if f.Type == frame.End {
			break
		}
		if len(f.Body) > MaxOutput {
			t.Errorf("a frame holds %d bytes, want at most %d", len(f.Body), MaxOutput)
		}
		frames, bytes = frames+1, bytes+len(f.Body)
		b.send(t, frame.Answer, f.ID, nil, "")
	}
	if want := 50_000*7 + 1_000_001; bytes != want {
		t.Errorf("%d bytes came, want %d", bytes, want)
	}
	// One for every 32 KiB, and some because of the clock.
	if frames > 2000 {
		t.Errorf("the output came in %d frames", frames)
	}
}

func TestAScriptWaitsForAReaderOfItsOutputUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	b := meet(t)
	b.run(t, `for (;;) console.log("x".repeat(1000))`)
	for range outputFrames {
		b.receive(t, frame.Stdout)
	}
	// The room is used up. Nothing more comes, so that this does not wait for a read.
	body, err := json.Marshal(fault.Timeoutf("time is up"))
	if err != nil {
		t.Fatal(err)
	}
	b.send(t, frame.Interrupt, 0, nil, string(body))
	b.send(t, frame.Answer, 1, nil, "") // room for what is left, if anything is
	f, err := b.conn.Receive()
	for err == nil && f.Type == frame.Stdout {
		b.send(t, frame.Answer, f.ID, nil, "")
		f, err = b.conn.Receive()
	}
	if err != nil || f.Type != frame.End {
		t.Fatalf("Receive() = %s %s, %v, want the end", f.Type, f.Head, err)
	}
	e, value, r := b.ended(t, f)
	if value != "" || e.ExitCode != 124 || r == nil || r.Message != "time is up" {
		t.Errorf("the script ended with %s, %+v and %+v, want a timeout", value, e, r)
	}
}

func TestCallsBeyondTheRoomWaitInTheWorker(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := meet(t)
		b.run(t, `const all = Array.from({length: 5}, (_, n) => demo.echo({n}));
			describe("does not wait behind them");
			return (await Promise.all(all)).map(r => r.n)`)
		calls := map[uint32]string{}
		var describe uint32
		for range 4 { // three calls, and the one of another class
			f := b.receive(t, frame.Call)
			var c Call
			if err := json.Unmarshal(f.Head, &c); err != nil {
				t.Fatal(err)
			}
			if c.Op == "describe" {
				describe = f.ID
			} else {
				calls[f.ID] = string(f.Body)
			}
		}
		if describe == 0 || len(calls) != 3 {
			t.Fatalf("%d calls came, and describe as %d, want three and one", len(calls), describe)
		}
		b.send(t, frame.Answer, describe, nil, "text")
		for answered := range 5 {
			for id, args := range calls {
				delete(calls, id)
				b.send(t, frame.Answer, id, nil, fmt.Sprintf(`{"content":[],"structuredContent":%s}`, args))
				break
			}
			if answered < 2 { // the fourth and the fifth come one by one
				f := b.receive(t, frame.Call)
				calls[f.ID] = string(f.Body)
			}
		}
		if _, value, r := b.end(t); value != "[0,1,2,3,4]" {
			t.Errorf("the script ended with %s, %+v", value, r)
		}
	})
}

// asker is a module with one function, ask(ms): a request that the script gives up
// after so long.
var asker = engine.Module{Globals: []string{"ask"}, Make: func(rt *engine.Runtime) *goja.Object {
	o := rt.VM().NewObject()
	_ = o.Set("ask", func(call goja.FunctionCall) goja.Value {
		after := time.Duration(call.Argument(0).ToInteger()) * time.Millisecond
		return engine.Async(rt, "ask", func(ctx context.Context) (string, error) {
			ctx, cancel := context.WithTimeoutCause(ctx, after, errors.New("given up"))
			defer cancel()
			_, body, err := rt.Host().Call(ctx, "tool", nil, nil)
			return string(body), err
		}, func(s string) goja.Value { return rt.VM().ToValue(s) })
	})
	return o
}}

func TestARequestGivenUpKeepsItsRoomUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := meet(t, asker)
		b.run(t, `const said = async p => { try { return await p } catch (e) { return e.message } };
			const first = await Promise.all([ask(10), ask(10), ask(10)].map(said));
			return [...first, await said(ask(10)), await said(ask(60_000))]`)
		var ids []uint32
		for range 3 {
			ids = append(ids, b.receive(t, frame.Call).ID)
		}
		for range 3 {
			b.receive(t, frame.Cancel)
		}
		// The fourth is given up without having been sent; the fifth waits for room.
		begin := time.Now()
		time.AfterFunc(time.Second, func() { b.send(t, frame.Refusal, ids[1], nil, `{"kind":"internal","message":"late"}`) })
		f := b.receive(t, frame.Call)
		if got := time.Since(begin); got != time.Second {
			t.Errorf("the next request came after %s, want it when one was answered", got)
		}
		b.send(t, frame.Answer, f.ID, nil, "answered")
		if _, value, r := b.end(t); value != `["given up","given up","given up","given up","answered"]` {
			t.Errorf("the script ended with %s, %+v", value, r)
		}
	})
}

func TestABrokerThatIsGoneOrBreaksTheProtocolEndsTheScript(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		act  func(t *testing.T, b *broker, id uint32)
	}{
		{"gone", func(_ *testing.T, b *broker, _ uint32) { _ = b.near.Close() }},
		{"an answer to nothing", func(t *testing.T, b *broker, id uint32) { b.send(t, frame.Answer, id+1, nil, "") }},
		{"two answers", func(t *testing.T, b *broker, id uint32) {
			b.send(t, frame.Answer, id, nil, "{}")
			b.send(t, frame.Answer, id, nil, "{}")
		}},
		{"another script", func(t *testing.T, b *broker, _ uint32) { b.send(t, frame.Run, 0, Run{}, "1") }},
		{"an interrupt without a reason", func(t *testing.T, b *broker, _ uint32) { b.send(t, frame.Interrupt, 0, nil, "") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := meet(t)
			b.run(t, `await demo.echo(); await demo.echo(); return 1`)
			tt.act(t, b, b.receive(t, frame.Call).ID)
			<-b.gone
		})
	}
}

func TestWhatCannotLeaveIsSaid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code string
		exit       int
		want       string
	}{
		{"a large value", `return "x".repeat(2_000_000)`, 125, "the value of the run has 2000002 bytes, 1048576 are allowed"},
		{"a large argument", `await demo.echo({x: "x".repeat(2_000_000)})`, 125, "2000008 bytes are more than one request may hold (1048576)"},
		{"a large error", `throw new Error("x".repeat(3_000_000))`, 1, "xxx"},
		{"a large error of unusual form", `const e = new Error("é".repeat(3_000_000)); e.name = "N".repeat(3_000_000); throw e`, 1, "ééé"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := meet(t)
			b.run(t, tt.code)
			e, value, r := b.end(t)
			if value != "" || e.ExitCode != tt.exit || r == nil || !strings.Contains(r.Message, tt.want) {
				t.Errorf("the script ended with %.20s, %+v and %.200v, want code %d and %q", value, e, r, tt.exit, tt.want)
			}
		})
	}
}

func TestTheEndHasTheNotes(t *testing.T) {
	t.Parallel()
	b := meet(t)
	b.run(t, "return new Map()")
	if e, value, _ := b.end(t); value != "{}" || len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "is a Map") {
		t.Errorf("the script ended with %q and %+v", value, e)
	}
}

// leaver is a module with one function, leave(code), which does what process.exit does.
var leaver = engine.Module{Globals: []string{"leave"}, Make: func(rt *engine.Runtime) *goja.Object {
	o := rt.VM().NewObject()
	_ = o.Set("leave", func(call goja.FunctionCall) goja.Value {
		rt.Exit(int(call.Argument(0).ToInteger()))
		return goja.Undefined()
	})
	return o
}}

func TestAnExitKeepsWhatWasPrintedBeforeAndRunsNothingAfter(t *testing.T) {
	t.Parallel()
	b := meet(t, leaver)
	b.run(t, `demo.echo(); console.log("before");
		try { leave(7) } finally { console.log("after"); for (;;) demo.echo() }`)
	var text strings.Builder
	for {
		f, err := b.conn.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch f.Type {
		case frame.Stdout:
			text.Write(f.Body)
			continue
		case frame.Call, frame.Cancel:
			continue
		}
		var e End
		if err := json.Unmarshal(f.Head, &e); err != nil || f.Type != frame.End || e.ExitCode != 7 || len(f.Body) > 0 {
			t.Errorf("the script ended with %s %s %s, %v, want code 7", f.Type, f.Head, f.Body, err)
		}
		break
	}
	if text.String() != "before\n" {
		t.Errorf("the script printed %q, want %q", text.String(), "before\n")
	}
}

func TestAPanicIsSaidWithItsStackApart(t *testing.T) {
	t.Parallel()
	b := meetWith(t, Process{Prepare: func(Run) []engine.Module { panic("oh") }})
	b.run(t, "1")
	f := b.receive(t, frame.Fail)
	var s Stack
	e := &fault.Error{}
	if err := errors.Join(json.Unmarshal(f.Head, &s), json.Unmarshal(f.Body, e)); err != nil {
		t.Fatal(err)
	}
	if e.Kind != fault.Internal || e.Message != "panic: oh" || !strings.Contains(s.Stack, "serve_test.go") {
		t.Errorf("the worker failed with %+v and the stack %.100q", e, s.Stack)
	}
}

func TestTheBuildIsKnown(t *testing.T) {
	t.Parallel()
	if got := Build(); !strings.HasPrefix(got, "protocol "+protocol+" go") {
		t.Errorf("Build() = %q, want the protocol and Go's version", got)
	}
}

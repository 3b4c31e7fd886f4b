//go:build unix

package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

// run runs a script with the given streams.
func run(t *testing.T, code string, streams api.Streams) *api.ExecOutput {
	t.Helper()
	out, err := stage{}.runner().Run(t.Context(), api.ExecInput{Name: "exec", Code: code}, streams)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestInput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 100_000)
	tests := []struct {
		name  string
		stdin io.Reader
		code  string
		value string
	}{
		{"none", nil, `return input()`, `""`},
		{"text", iotest.OneByteReader(strings.NewReader("\uFEFFé\n1\n")), `return [input(), input()]`, `["é\n1\n","é\n1\n"]`},
		{"long", iotest.HalfReader(strings.NewReader(long)), `const s = input(); return [s.length, s.slice(-10)]`, `[1000000,"0123456789"]`},
		{"an end with text", iotest.DataErrReader(strings.NewReader("x")), `return input()`, `"x"`},
		{
			"an artifact", nil, `try { input("a.csv") } catch (e) { return [e.name, e.message, e.hint] }`,
			`["NotFoundError","no artifact \"a.csv\" came with this run","input() without a name is standard input"]`,
		},
		{
			"broken", io.MultiReader(strings.NewReader("x"), iotest.ErrReader(errors.New("disk on fire"))), `try { input() } catch (e) { return [e.name, e.message] }`,
			`["UnavailableError","reading standard input: disk on fire"]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := run(t, tt.code, api.Streams{Stdin: tt.stdin})
			if string(out.Value) != tt.value {
				t.Errorf("the value is %s, want %s (%+v)", out.Value, tt.value, out.Error)
			}
		})
	}
}

func TestInputHasALimit(t *testing.T) {
	t.Parallel()
	s := stage{streams: api.Streams{Stdin: strings.NewReader(strings.Repeat("x", 1<<20+1))}}
	got := answers(t, s, request{"input", nil, ""})
	if !strings.Contains(got, `"kind":"limit"`) {
		t.Errorf("more than allowed was answered by %.100s", got)
	}
}

func TestStandardInputInPieces(t *testing.T) {
	t.Parallel()
	s := stage{streams: api.Streams{Stdin: strings.NewReader("abcdefgh")}}
	most := func(n float64) any { return map[string]float64{"max": n} }
	got := answers(t, s, request{"stdin", most(3), ""}, request{"stdin", most(-1), ""}, request{"input", nil, ""}, request{"stdin", most(9), ""}, request{"input", nil, ""})
	if want := "answer {} abc\nanswer {} d\nanswer  efgh\nanswer {\"end\":true} \nanswer  \n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAReadThatIsGivenUpLosesNothing(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	in := newInput(r)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if b, err := in.next(ctx, 10); !errors.Is(err, why) {
		t.Fatalf("a read that was given up returned %q, %v", b, err)
	}
	go func() {
		io.WriteString(w, "late")
		w.Close()
	}()
	if b, err := in.next(t.Context(), 10); string(b) != "late" || err != nil {
		t.Errorf("the next read returned %q, %v", b, err)
	}
	if b, err := in.next(t.Context(), 10); !errors.Is(err, io.EOF) {
		t.Errorf("the end is %q, %v", b, err)
	}
}

func TestARunEndsAlthoughStandardInputDoesNot(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	s := stage{streams: api.Streams{Stdin: r}}
	out, err := s.perform(ctx, func(a *actor) error {
		if err := a.greet(); err != nil {
			return err
		}
		if err := a.call(1, "input", nil, ""); err != nil {
			return err
		}
		cancel(fault.Timeoutf("time is up"))
		_, err := a.conn.Receive()
		return err
	})
	if err != nil || out.Error == nil || out.Error.Kind != fault.Timeout {
		t.Errorf("the run ended with %+v, %v", out, err)
	}
}

// request is what a worker asks.
type request struct {
	op   string
	head any
	body string
}

// answers asks one after the other and returns a line for each answer.
func answers(t *testing.T, s stage, requests ...request) string {
	t.Helper()
	var got strings.Builder
	out, err := s.perform(t.Context(), func(a *actor) error {
		if err := a.greet(); err != nil {
			return err
		}
		for i, r := range requests {
			if r.head == nil {
				r.head = struct{}{}
			}
			if err := a.call(uint32(i), r.op, r.head, r.body); err != nil {
				return err
			}
			f, err := a.conn.Receive()
			if err != nil {
				return err
			}
			fmt.Fprintf(&got, "%s %s %s\n", f.Type, f.Head, f.Body)
		}
		return a.end()
	})
	if err != nil || out.Error != nil {
		t.Fatalf("the run ended with %+v, %v", out, err)
	}
	return got.String()
}

func TestEmitsStandInTheOrderOfTheOutput(t *testing.T) {
	t.Parallel()
	var stdout strings.Builder
	// More frames of output than there is room for come before.
	code := `for (let i = 0; i < 3000; i++) console.log("x".repeat(1000)); console.log("before"); emit({a: 1, b: "é\n"}); console.log("between"); emit([9007199254740993n]); console.log("after")`
	out := run(t, code, api.Streams{Stdout: &stdout})
	if _, got, _ := strings.Cut(stdout.String(), "before"); got != "\n{\"a\":1,\"b\":\"é\\n\"}\nbetween\n[9007199254740993]\nafter\n" {
		t.Errorf("printed %q after all", got)
	}
	if len(out.Emits) > 0 || !out.Printed || out.Error != nil {
		t.Errorf("the run ended with %+v", out)
	}
}

func TestEmitsWithoutStandardOutputAreKept(t *testing.T) {
	t.Parallel()
	out := run(t, `console.log("x"); for (let i = 0; i < 3; i++) emit({i}); emit(null); return 1`, api.Streams{})
	text, err := json.Marshal(out.Emits)
	if err != nil || string(text) != `[{"i":0},{"i":1},{"i":2},null]` || out.Stdout != "x\n" || string(out.Value) != "1" {
		t.Errorf("emitted %s and printed %q, %v", text, out.Stdout, err)
	}
}

func TestEmitsAreBounded(t *testing.T) {
	t.Parallel()
	half := `"` + strings.Repeat("x", 1<<19) + `"`
	got := answers(t, stage{}, request{"emit", nil, half}, request{"emit", nil, half}, request{"emit", nil, "{} {}"}, request{"emit", nil, ""})
	lines := strings.Split(got, "\n")
	if lines[0] != "answer  " || !strings.Contains(lines[1], `"kind":"limit"`) || !strings.Contains(lines[2], `"kind":"internal"`) || !strings.Contains(lines[3], `"kind":"internal"`) {
		t.Errorf("got %.500s", got)
	}
}

func TestTwoEmitsAtATimeAreHostile(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	s := stage{streams: api.Streams{Stdout: writerFunc(func(p []byte) (int, error) { <-hold; return len(p), nil })}}
	var once sync.Once
	out, err := s.perform(t.Context(), func(a *actor) error {
		defer once.Do(func() { close(hold) })
		if err := a.greet(); err != nil {
			return err
		}
		for id := range uint32(2) {
			if err := a.call(id, "emit", struct{}{}, "1"); err != nil {
				return err
			}
		}
		_, err := a.conn.Receive()
		return err
	})
	if err != nil || out.Error == nil || out.Error.Kind != fault.Internal || !strings.Contains(out.Error.Message, "two emits") {
		t.Errorf("the run ended with %+v, %v", out, err)
	}
}

func TestProgressReachesWhoeverWatches(t *testing.T) {
	t.Parallel()
	const code = `console.log("a"); progress(1, 2, "half"); console.log("b"); progress(2, 2); return "done"`
	var seen strings.Builder // written by the goroutine of the output alone
	out := run(t, code, api.Streams{
		Stdout: &seen,
		Progress: func(p api.Progress) {
			fmt.Fprintf(&seen, "<%g/%g %s>", p.Done, *p.Total, p.Message)
		},
	})
	if want := "a\n<1/2 half>b\n<2/2 >"; seen.String() != want || string(out.Value) != `"done"` {
		t.Errorf("seen %q, want %q; the run ended with %+v", seen.String(), want, out)
	}
	if out := run(t, code, api.Streams{}); out.Stdout != "a\nb\n" || out.Stderr != "" || out.Error != nil {
		t.Errorf("without anybody who watches the run ended with %+v", out)
	}
}

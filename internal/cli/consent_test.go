package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

// asks is a call that has to be asked about, and what came of the question.
func asks(tool, args string, allowed *bool, failure *error) func(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	return func(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
		if in.Consent == nil {
			*failure = errors.New("nobody can be asked")
		} else {
			*allowed, *failure = in.Consent.Consent(ctx, api.ConsentQuestion{
				Server: "s", Tool: tool, Arguments: json.RawMessage(args), Destructive: true, Why: "policy.write is ask",
			})
		}
		return &api.CallOutput{Text: "done", IsText: true}, nil
	}
}

func TestOnlyAYesAllowsACall(t *testing.T) {
	t.Parallel()
	both := Terminal{Stdin: true, Stderr: true}
	const question = "mcpx: s.wipe may destroy something (policy.write is ask)\n" +
		"  {\"a\":1}\n" +
		"mcpx: call it? y = yes, a = yes to this tool in this run, anything else = no: "
	tests := []struct {
		name     string
		terminal Terminal
		typed    string
		allowed  bool
		fails    bool
		stderr   string
	}{
		{"y", both, "y\n", true, false, question},
		{"yes, in capitals, with a carriage return", both, " YES \r\n", true, false, question},
		{"a", both, "a\n", true, false, question},
		{"y without the end of its line", both, "y", true, false, question},
		{"n", both, "n\n", false, false, question},
		{"nothing", both, "\n", false, false, question},
		{"another word", both, "yellow\n", false, false, question},
		{"a yes in the next line", both, "\ny\n", false, false, question},
		{"the end of input", both, "", false, true, question + "\n"},
		{"no terminal", Terminal{}, "y\n", false, true, ""},
		{"no terminal to type at", Terminal{Stdout: true, Stderr: true}, "y\n", false, true, ""},
		{"no terminal to read at", Terminal{Stdin: true, Stdout: true}, "y\n", false, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var allowed bool
			var failure error
			d := &desk{call: asks("wipe", `{"a": 1}`, &allowed, &failure)}
			s := driveIn(t, d, Program{Dir: t.TempDir(), Stdin: strings.NewReader(tt.typed), Terminal: tt.terminal}, "call", "s.wipe")
			if allowed != tt.allowed || (failure != nil) != tt.fails {
				t.Errorf("allowed %v, %v; want %v, %v", allowed, failure, tt.allowed, tt.fails)
			}
			if got := s.stderr.String(); got != tt.stderr {
				t.Errorf("standard error:\n%s\nwant:\n%s", got, tt.stderr)
			}
		})
	}
}

func TestAQuestionCannotBeForged(t *testing.T) {
	t.Parallel()
	text := consentText(api.ConsentQuestion{
		Server: "s\nmcpx: call it?", Tool: "t\x1b[2J\u202e", Why: "w",
		Arguments: json.RawMessage(`{"a":"x` + "\u202e\u200b" + `","b":"` + strings.Repeat("é", 3000) + `"}`),
	})
	if n := strings.Count(text, "\n"); n != 2 {
		t.Errorf("the question has %d lines:\n%s", n+1, text)
	}
	if strings.ContainsAny(text, "\x1b\u202e\u200b") {
		t.Errorf("a terminal would obey %q", text)
	}
	if !strings.Contains(text, "… (6") || len(text) > 2500 {
		t.Errorf("long arguments are not cut: %d bytes", len(text))
	}
}

func TestAlwaysHoldsForTheToolAndTheCommand(t *testing.T) {
	t.Parallel()
	var got []bool
	d := &desk{run: func(ctx context.Context, _ api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
		for _, tool := range []string{"one", "one", "two", "one"} {
			ok, err := s.Consent.Consent(ctx, api.ConsentQuestion{Server: "s", Tool: tool, Arguments: json.RawMessage(`{}`), Why: "w"})
			if err != nil {
				return nil, err
			}
			got = append(got, ok)
		}
		rest, err := io.ReadAll(s.Stdin)
		if string(rest) != "for the script\n" {
			t.Errorf("the script reads %q, %v", rest, err)
		}
		return &api.ExecOutput{Warnings: []string{"s.one has changed"}}, nil
	}}
	s := driveIn(t, d, Program{
		Dir: t.TempDir(), Stdin: strings.NewReader("a\nn\nfor the script\n"), Terminal: Terminal{Stdin: true, Stderr: true},
	}, "exec", "tools.s.one()")
	if s.code != 0 || len(got) != 4 || !got[0] || !got[1] || got[2] || !got[3] {
		t.Errorf("exit code %d, allowed %v", s.code, got)
	}
	if n := strings.Count(s.stderr.String(), "call it?"); n != 2 {
		t.Errorf("asked %d times:\n%s", n, &s.stderr)
	}
	if !strings.Contains(s.stderr.String(), "mcpx: s.one has changed\n") {
		t.Errorf("the warning is missing:\n%s", &s.stderr)
	}
}

// What was typed before a question is shown does not answer it: not the line that the
// terminal holds, nor one that was read for somebody else who has left.
func TestWhatWasTypedBeforeIsNoAnswer(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer w.Close()
	held := []string{"y\n"} // by the terminal
	k := newKeyboard(r, func() { held = nil })
	ctx, cancel := context.WithCancel(t.Context())
	shown := make(chan struct{})
	left := make(chan error, 1)
	go func() {
		_, err := k.ask(ctx, func() bool { close(shown); return true })
		left <- err
	}()
	<-shown
	cancel()
	<-left
	if _, err := io.WriteString(w, "y\n"); err != nil { // the read that was left takes it
		t.Fatal(err)
	}
	k.typed = []byte("y\n")
	for len(k.under) == 0 {
		time.Sleep(time.Millisecond)
	}
	answer := make(chan string, 1)
	asked := make(chan struct{})
	go func() {
		line, _ := k.ask(t.Context(), func() bool { k.forget(); close(asked); return true })
		answer <- line
	}()
	<-asked
	for _, line := range append(held, "n\n") {
		if _, err := io.WriteString(w, line); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-answer; got != "n" {
		t.Errorf("the answer is %q, which was typed before the question was shown", got)
	}
}

func TestReadersOfTheKeyboardTakeTurns(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	k := newKeyboard(r, nil)
	// A question that is given up leaves its read to whoever comes next.
	ctx, cancel := context.WithCancel(t.Context())
	shown := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, err := k.ask(ctx, func() bool { close(shown); return true })
		done <- err
	}()
	<-shown
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a question that was given up: %v", err)
	}
	var mu sync.Mutex
	answers := map[string]int{}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			line, err := k.ask(t.Context(), func() bool { return true })
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			answers[line]++
		})
	}
	for i := range 20 {
		if _, err := io.WriteString(w, strings.Repeat("x", i)+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if len(answers) != 20 {
		t.Errorf("20 lines gave the answers %v", answers)
	}
	go func() { io.WriteString(w, "rest\n"); w.Close() }()
	lines := bufio.NewReader(k)
	if line, err := lines.ReadString('\n'); line != "rest\n" || err != nil {
		t.Errorf("the script reads %q, %v", line, err)
	}
	if _, err := lines.ReadByte(); err != io.EOF {
		t.Errorf("at the end the script reads %v", err)
	}
}

func TestAnInterruptEndsAQuestion(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{})
	d := &desk{call: func(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
		close(asked)
		_, err := in.Consent.Consent(ctx, api.ConsentQuestion{Server: "s", Tool: "t", Arguments: json.RawMessage(`{}`)})
		return nil, err
	}}
	code := make(chan int, 1)
	p := Program{Dir: t.TempDir(), Stdin: r, Stdout: io.Discard, Stderr: io.Discard, Terminal: Terminal{Stdin: true, Stderr: true}, Args: []string{"call", "s.t"}, Open: d.open}
	go func() { code <- p.Run(ctx) }()
	<-asked
	cancel()
	select {
	case got := <-code:
		if got != exitInterrupted {
			t.Errorf("exit code %d, want %d", got, exitInterrupted)
		}
	case <-time.After(time.Minute):
		t.Fatal("the question is not ended by an interrupt")
	}
}

func TestWhatIsAllowedForGood(t *testing.T) {
	t.Parallel()
	drive(t, &desk{}, "history", "accept", "s.t").want(t, 0, "accepted as it is now: s.t\n", "")
	drive(t, &desk{}, "servers", "trust", "files").want(t, 0, "the tools of files may write: /h/.mcpx.json says so\n", "")
	drive(t, &desk{}, "history", "accept", "s.t", "--json").want(t, 0, "{\"accepted\":[\"s.t\"]}\n", "")
	for _, args := range [][]string{{"history", "accept"}, {"history", "accept", "a", "b"}, {"history", "accept", "."}, {"servers", "trust"}, {"servers", "trust", ""}} {
		if s := drive(t, &desk{}, args...); s.code != 2 {
			t.Errorf("mcpx %q ends with %d", args, s.code)
		}
	}
}

func TestANewServerIsAskedAboutOnce(t *testing.T) {
	t.Parallel()
	writes := &api.CheckOutput{Tools: 2, Write: []string{"wipe"}}
	tests := []struct {
		name     string
		typed    string
		terminal bool
		check    *api.CheckOutput
		args     []string
		trusted  bool
		asked    bool
	}{
		{"yes", "y\n", true, writes, nil, true, true},
		{"no", "n\n", true, writes, nil, false, true},
		{"nothing", "\n", true, writes, nil, false, true},
		{"the end of input", "", true, writes, nil, false, true},
		{"nobody", "y\n", false, writes, nil, false, false},
		{"one document is wanted", "y\n", true, writes, []string{"--json"}, false, false},
		{"it is said already", "y\n", true, writes, []string{"--write-policy", "deny"}, false, false},
		{"another file", "y\n", true, writes, []string{"--file", "x.json"}, false, false},
		{"all only read", "y\n", true, &api.CheckOutput{Tools: 2}, nil, false, false},
		{"it does not answer", "y\n", true, &api.CheckOutput{Error: fault.Unavailablef("gone"), Write: []string{"wipe"}}, nil, false, false},
		{"the file is not trusted", "y\n", true, &api.CheckOutput{Guest: true, Write: []string{"wipe"}}, nil, false, false},
		{"nobody looked", "y\n", true, writes, []string{"--no-check"}, false, false},
	}
	for _, tt := range tests {
		d := &desk{papers: papers{check: tt.check}}
		s := driveIn(t, d, Program{
			Dir: t.TempDir(), Stdin: strings.NewReader(tt.typed), Terminal: Terminal{Stdin: tt.terminal, Stderr: tt.terminal},
		}, append(append([]string{"servers", "add"}, tt.args...), "fresh", "--", "prog")...)
		if s.code != 0 || d.added.Name != "fresh" {
			t.Errorf("%s: exit code %d, added %+v", tt.name, s.code, d.added)
		}
		if asked := strings.Contains(s.stderr.String(), "may these tools of fresh change things without a question?"); asked != tt.asked {
			t.Errorf("%s: standard error %q", tt.name, &s.stderr)
		}
		said := s.stdout.String()
		if trusted := strings.HasSuffix(said, "the tools of fresh may write: /h/.mcpx.json says so\n"); trusted != tt.trusted {
			t.Errorf("%s: %q", tt.name, said)
		}
		if tt.asked && (!strings.Contains(said, "    wipe\n") || strings.Contains(said, "mcpx servers trust")) {
			t.Errorf("%s: %q is what the question is about", tt.name, said)
		}
	}
}

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/mcp"
)

// handle is a Handler that is a function.
type handle func(ctx context.Context, c Caller, m *mcp.Message) (mcp.Raw, error)

func (h handle) Serve(ctx context.Context, c Caller, m *mcp.Message) (mcp.Raw, error) {
	return h(ctx, c, m)
}

// peerLine is a connection that a test speaks on.
type peerLine struct {
	t    *testing.T
	conn *conn
	lot  *lot
	stop context.CancelCauseFunc

	mu   sync.Mutex
	told []string
}

func connect(t *testing.T, h Handler) *peerLine {
	t.Helper()
	ctx, stop := context.WithCancelCause(context.Background())
	l := &peerLine{t: t, lot: newLot(ctx, h), stop: stop}
	l.conn = newConn(ctx, h, l.lot, make(chan struct{}, maxListens), l.out)
	t.Cleanup(l.end)
	return l
}

func (l *peerLine) end() {
	l.stop(errGone)
	l.conn.shut()
	l.lot.close()
}

func (l *peerLine) out(m *mcp.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, string(m.Encode()))
	return nil
}

func (l *peerLine) heard() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.told)
}

// await waits until what was told fits.
func (l *peerLine) await(fits func(told []string) bool) []string {
	l.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		told := l.heard()
		if fits(told) {
			return told
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("told %q", told)
		}
	}
}

// outcome is the answer to a request.
type outcome struct {
	Result struct {
		ResultType    string
		RequestState  string
		InputRequests map[string]struct{ Method string }
		Text          string
	}
	Error *mcp.Error
}

func (l *peerLine) begin(text string) <-chan *mcp.Message {
	l.t.Helper()
	m, err := mcp.Split([]byte(text))
	if err != nil {
		l.t.Fatal(err)
	}
	answered := make(chan *mcp.Message, 1)
	l.conn.begin(m, l.out, func(a *mcp.Message) { answered <- a })
	return answered
}

func (l *peerLine) ask(text string) (o outcome) {
	l.t.Helper()
	select {
	case a := <-l.begin(text):
		if a == nil {
			l.t.Fatal("not answered")
		}
		if err := json.Unmarshal(a.Encode(), &o); err != nil {
			l.t.Fatal(err)
		}
		o.Error = a.Error
	case <-time.After(time.Minute):
		l.t.Fatalf("no answer to %s", text)
	}
	return o
}

// call is a request of a modern client: rest are members of its parameters.
func call(rest ...string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"b":1,"a":[2]},` +
		strings.Join(append(rest, modernMeta), ",") + `}}`
}

func state(o outcome) string { return fmt.Sprintf(`"requestState":%q`, o.Result.RequestState) }

// answers answers all questions of a round with their keys.
func answers(o outcome) string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(o.Result.InputRequests)) {
		list = append(list, fmt.Sprintf(`%q:{"key":%q}`, key, key))
	}
	return `"inputResponses":{` + strings.Join(list, ",") + `}`
}

// asking asks so often, one after the other, and answers with what it got.
func asking(times int) handle {
	return func(ctx context.Context, c Caller, _ *mcp.Message) (mcp.Raw, error) {
		var got []string
		for i := range times {
			r, err := c.Request(ctx, mcp.MethodElicitation, encode(object{"message": fmt.Sprint(i)}))
			if err != nil {
				return nil, err
			}
			got = append(got, textOf(mcp.Member(r, "key")))
		}
		return encode(object{"text": strings.Join(got, " ")}), nil
	}
}

func TestModernCallIsAskedInRounds(t *testing.T) {
	t.Parallel()
	for _, method := range []string{mcp.MethodToolsCall, mcp.MethodPromptsGet, mcp.MethodRead} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			l := connect(t, asking(3))
			send := func(rest ...string) outcome {
				return l.ask(strings.Replace(call(append(rest, `"uri":"a:"`)...), mcp.MethodToolsCall, method, 1))
			}
			o := send()
			for range 3 {
				if o.Result.ResultType != "input_required" || len(o.Result.InputRequests) != 1 {
					t.Fatalf("answered %+v, want a question", o)
				}
				o = send(state(o), answers(o))
			}
			if o.Result.Text != "question-1 question-2 question-3" {
				t.Errorf("the call ended with %+v", o)
			}
			if len(l.lot.parked) != 0 || l.lot.bytes != 0 {
				t.Errorf("%d calls still wait, with %d bytes", len(l.lot.parked), l.lot.bytes)
			}
		})
	}
}

func TestOtherRequestsAskNothing(t *testing.T) {
	t.Parallel()
	l := connect(t, asking(1))
	if o := l.ask(strings.Replace(call(), mcp.MethodToolsCall, "completion/complete", 1)); o.Error == nil || !strings.Contains(o.Error.Message, "cannot be asked") {
		t.Errorf("answered %+v", o)
	}
}

func TestModernCallAsksSeveralAtOnce(t *testing.T) {
	t.Parallel()
	l := connect(t, handle(func(ctx context.Context, c Caller, _ *mcp.Message) (mcp.Raw, error) {
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if r, err := c.Request(ctx, mcp.MethodSampling, nil); err != nil || mcp.Member(r, "key") == nil {
					t.Errorf("answered %s, %v", r, err)
				}
			})
		}
		wg.Wait()
		return encode(object{"text": "all"}), nil
	}))
	o := l.ask(call())
	for rounds := 0; o.Result.ResultType == "input_required"; rounds++ {
		if rounds == 5 {
			t.Fatal("it does not come to an end")
		}
		o = l.ask(call(state(o), answers(o)))
	}
	if o.Result.Text != "all" {
		t.Errorf("the call ended with %+v", o)
	}
}

func TestQuestionWithoutAnswerIsPutAgain(t *testing.T) {
	t.Parallel()
	l := connect(t, asking(1))
	first := l.ask(call())
	second := first
	for _, rest := range []string{`"inputResponses":{}`, `"inputResponses":{"other":{}}`, `"inputResponses":{"question-1":7}`, `"x":0`} {
		o := l.ask(call(state(second), rest))
		if o.Result.ResultType != "input_required" || o.Result.RequestState == second.Result.RequestState {
			t.Fatalf("%s: answered %+v, want the question once more", rest, o)
		}
		second = o
	}
	if o := l.ask(call(state(first), answers(first))); o.Error == nil || o.Error.Code != mcp.CodeInvalidParams || !strings.Contains(o.Error.Message, "earlier round") {
		t.Errorf("with the state of an earlier round: %+v", o)
	}
	if o := l.ask(call(state(second), answers(second))); o.Result.Text != "question-1" {
		t.Errorf("the call ended with %+v", o)
	}
	if o := l.ask(call(state(second), answers(second))); o.Error == nil || !strings.Contains(o.Error.Message, "over") {
		t.Errorf("once more: %+v", o)
	}
}

func TestStateOfAnotherCallIsRefused(t *testing.T) {
	t.Parallel()
	l := connect(t, asking(1))
	o := l.ask(call())
	good := o.Result.RequestState
	with := func(s string) string { return call(fmt.Sprintf(`"requestState":%q`, s), answers(o)) }
	parts := strings.Split(good, ".")
	other := connect(t, asking(1)).ask(call()).Result.RequestState
	for name, request := range map[string]string{
		"tampered":           with(good + "-TAMPERED"),
		"first byte of seal": with(strings.Join([]string{parts[0], parts[1], parts[2], parts[3], "A" + parts[4][1:] + "A"}, ".")),
		"other round":        with(strings.Replace(good, ".1.", ".2.", 1)),
		"longer":             with(strings.Replace(good, ".1.", ".1.9", 1)),
		"other id":           with(strings.Replace(good, parts[1], strings.ToLower(parts[1]), 1)),
		"no parts":           with("mcpx-parked."),
		"of another server":  with(other),
		"other arguments":    strings.Replace(with(good), `"b":1`, `"b":2`, 1),
		"other tool":         strings.Replace(with(good), `"name":"t"`, `"name":"u"`, 1),
		"other method":       strings.Replace(with(good), "tools/call", "prompts/get", 1),
	} {
		if o := l.ask(request); o.Error == nil || o.Error.Code != mcp.CodeInvalidParams || !strings.Contains(o.Error.Message, "requestState") {
			t.Errorf("%s: %+v", name, o)
		}
	}
	// Spelled in another way it is the same request.
	same := strings.Replace(with(good), `{"b":1,"a":[2]}`, `{ "a" : [ 2 ], "b":1 }`, 1)
	if o := l.ask(same); o.Result.Text != "question-1" {
		t.Errorf("the call ended with %+v", o)
	}
}

// waiting is how many calls are parked.
func (l *lot) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.parked)
}

func TestParkedCallExpires(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	ask := func(ctx context.Context, c Caller) (mcp.Raw, error) {
		_, err := c.Request(ctx, mcp.MethodElicitation, nil)
		ended <- err
		return nil, err
	}
	own := Of(&fixed{tools: map[string]Tool{"t": {Call: func(ctx context.Context, c *Call) (mcp.Raw, error) { return ask(ctx, c) }}}})
	own.Park = 3 * time.Hour
	for _, c := range []struct {
		h     Handler
		after time.Duration
	}{
		{handle(func(ctx context.Context, c Caller, _ *mcp.Message) (mcp.Raw, error) { return ask(ctx, c) }), parkFor},
		{own, own.Park},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := connect(t, c.h)
			o := l.ask(call())
			time.Sleep(c.after - 2*time.Second)
			synctest.Wait()
			if n := l.lot.waiting(); n != 1 {
				t.Errorf("%d calls wait before %s", n, c.after)
			}
			time.Sleep(4 * time.Second)
			synctest.Wait()
			if err := <-ended; !errors.Is(err, errExpired) {
				t.Errorf("the call ended with %v", err)
			}
			if o := l.ask(call(state(o), answers(o))); o.Error == nil || !strings.Contains(o.Error.Message, "expired") {
				t.Errorf("answered %+v", o)
			}
			if n := l.lot.waiting(); n != 0 {
				t.Errorf("%d calls still wait", n)
			}
			l.end()
		})
	}
}

func TestResultThatCameMeanwhileIsKept(t *testing.T) {
	t.Parallel()
	give, given := make(chan struct{}), make(chan struct{})
	l := connect(t, handle(func(ctx context.Context, c Caller, _ *mcp.Message) (mcp.Raw, error) {
		defer close(given)
		ctx, cancel := context.WithCancel(ctx)
		go func() { <-give; cancel() }()
		_, err := c.Request(ctx, mcp.MethodElicitation, nil)
		return encode(object{"text": fmt.Sprint(err)}), nil
	}))
	o := l.ask(call())
	close(give)
	<-given
	if o = l.ask(call(state(o), answers(o))); o.Result.Text != context.Canceled.Error() {
		t.Errorf("answered %+v", o)
	}
}

func TestParkedCallsAreBounded(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]func(l *lot){
		"places": func(l *lot) { l.places = 3 },
		"bytes":  func(l *lot) { l.bytes = maxParkedBytes - 3*len(mustParams(call())) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := connect(t, asking(1))
			bound(l.lot)
			first := l.ask(call())
			for range 2 {
				l.ask(call())
			}
			for range 10 {
				if o := l.ask(call()); o.Error == nil || !strings.Contains(o.Error.Message, "too many calls wait") {
					t.Errorf("answered %+v", o)
				}
			}
			if o := l.ask(call(state(first), answers(first))); o.Result.Text != "question-1" {
				t.Errorf("the first ended with %+v", o)
			}
			if o := l.ask(call()); o.Result.ResultType != "input_required" {
				t.Errorf("there is room again, and the answer is %+v", o)
			}
		})
	}
}

func mustParams(text string) mcp.Raw {
	m, err := mcp.Split([]byte(text))
	if err != nil {
		panic(err)
	}
	return m.Params
}

func TestCancelledRequestEndsTheCallThatWasParked(t *testing.T) {
	t.Parallel()
	ended, again := make(chan error, 1), make(chan struct{})
	l := connect(t, handle(func(ctx context.Context, c Caller, _ *mcp.Message) (mcp.Raw, error) {
		if _, err := c.Request(ctx, mcp.MethodElicitation, nil); err != nil {
			return nil, err
		}
		close(again)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	}))
	o := l.ask(call())
	answered := l.begin(call(state(o), answers(o)))
	<-again
	if o := l.ask(strings.Replace(call(state(o), answers(o)), `"id":1`, `"id":2`, 1)); o.Error == nil || !strings.Contains(o.Error.Message, "goes on already") {
		t.Errorf("a second request goes on with it: %+v", o)
	}
	l.begin(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if err := <-ended; !errors.Is(err, errCancelled) {
		t.Errorf("it ended with %v", err)
	}
	if a := <-answered; a != nil {
		t.Errorf("answered %s", a.Encode())
	}
}

func TestProgressGoesToTheRequestThatIsThere(t *testing.T) {
	t.Parallel()
	l := connect(t, handle(func(ctx context.Context, c Caller, _ *mcp.Message) (mcp.Raw, error) {
		say := func(n int, level string) {
			c.Tell(mcp.NotificationProgress, encode(object{"progress": n}))
			c.Tell(mcp.NotificationMessage, encode(object{"level": level, "data": n}))
		}
		say(1, "info")
		say(1, "debug") // does not grow, and is not wanted
		if _, err := c.Request(ctx, mcp.MethodElicitation, nil); err != nil {
			return nil, err
		}
		say(2, "info")
		return encode(object{"text": "done"}), nil
	}))
	with := func(token, level string, rest ...string) string {
		meta := strings.Replace(modernMeta, `{"io`, `{"progressToken":"`+token+`","io.modelcontextprotocol/logLevel":"`+level+`","io`, 1)
		return strings.Replace(call(rest...), modernMeta, meta, 1)
	}
	o := l.ask(with("a", "info"))
	if o = l.ask(with("b", "error", state(o), answers(o))); o.Result.Text != "done" {
		t.Fatalf("answered %+v", o)
	}
	got := l.heard()
	want := []string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":"a"}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1,"level":"info"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":2,"progressToken":"b"}}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("told %q\nwant %q", got, want)
	}
}

func TestLogMessageOfSeveralCallsIsToldOnce(t *testing.T) {
	t.Parallel()
	shared := encode(object{"level": "info", "data": "once"})
	both := make(chan struct{}, 2)
	l := connect(t, handle(func(_ context.Context, c Caller, _ *mcp.Message) (mcp.Raw, error) {
		both <- struct{}{}
		for len(both) < 2 {
			runtime.Gosched()
		}
		c.Tell(mcp.NotificationMessage, shared)
		return mcp.Raw("{}"), nil
	}))
	a := l.begin(callLine("1", "t", ""))
	b := l.begin(callLine("2", "t", ""))
	<-a
	<-b
	if got := l.heard(); len(got) != 1 {
		t.Errorf("told %q", got)
	}
}

func TestParkedCallsEndWithTheConnection(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		l := connect(t, asking(2))
		o := l.ask(call())
		l.ask(call(state(o), answers(o)))
		l.ask(call())
		l.end()
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

func TestFeedKeepsWhatIsNew(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	gate, entered := make(chan struct{}), make(chan struct{}, 1)
	var sent []string
	f := &feed{start: wg.Go, send: func(m *mcp.Message) {
		select {
		case entered <- struct{}{}:
		default:
		}
		<-gate
		sent = append(sent, m.Method)
	}}
	f.put("", &mcp.Message{Method: "first"})
	<-entered
	for i := range 10 * maxFed {
		f.put("", &mcp.Message{Method: fmt.Sprint(i)})
		f.put("key", &mcp.Message{Method: fmt.Sprint("key ", i)})
	}
	close(gate)
	f.flush(t.Context())
	wg.Wait()
	last := 10*maxFed - 1
	if len(sent) != maxFed+1 || sent[0] != "first" || !slices.Contains(sent, fmt.Sprint(last)) || !slices.Contains(sent, fmt.Sprint("key ", last)) {
		t.Errorf("sent %d: %q", len(sent), sent)
	}
	f.close()
	f.put("", &mcp.Message{Method: "late"})
	f.flush(t.Context())
	if len(sent) != maxFed+1 {
		t.Errorf("sent %q after the end", sent[maxFed+1:])
	}
}

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
)

// patience bounds what a test waits for that is bound to come.
const patience = 30 * time.Second

const everything = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"logging":{}}`

// kinds are the servers of both eras over both kinds of transport.
func kinds(t *testing.T, o Options, test func(t *testing.T, s *Session)) {
	t.Helper()
	for _, era := range []mcp.Era{mcp.Legacy, mcp.Modern} {
		for _, remote := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, over HTTP %v", era, remote), func(t *testing.T) {
				t.Parallel()
				script := mcptest.Script{Capabilities: json.RawMessage(everything)}
				if era == mcp.Modern {
					script.Discover = mcptest.DiscoverModern
				}
				o.Name, o.Era = "stub", era
				var transport Transport = mcptest.Start(script)
				if remote {
					transport.Close()
					site := mcptest.Serve(mcptest.HTTP{Script: script})
					t.Cleanup(site.Close)
					h, err := OpenHTTP(Endpoint{Name: "stub", URL: site.URL})
					if err != nil {
						t.Fatal(err)
					}
					transport = h
				}
				s, err := Connect(t.Context(), transport, o)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				if s.Era() != era {
					t.Fatalf("era = %s", s.Era())
				}
				test(t, s)
			})
		}
	}
}

// tool calls a built-in tool of mcptest and returns its text.
func tool(t *testing.T, s *Session, name, arguments string, options ...CallOptions) string {
	t.Helper()
	text, err := toolErr(t.Context(), s, name, arguments, options...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}

func toolErr(ctx context.Context, s *Session, name, arguments string, options ...CallOptions) (string, error) {
	raw, err := s.Call(ctx, mcp.MethodToolsCall, mcp.Raw(`{"name":"`+name+`","arguments":`+arguments+`}`), options...)
	if err != nil {
		return "", err
	}
	result, err := mcp.DecodeResult(raw)
	if err != nil {
		return "", err
	}
	return result.Text(), nil
}

// nextOf returns what comes over a channel, which must not take for ever.
func nextOf[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}

func TestWhoListensHearsWhatWasWantedAndNothingElse(t *testing.T) {
	t.Parallel()
	kinds(t, Options{}, func(t *testing.T, s *Session) {
		heard := make(chan string, 64)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got, err := s.Listen(ctx, Interest{Tools: true, URIs: []string{"x:/a"}}, func(method string, params mcp.Raw) {
			heard <- method + " " + string(params)
		})
		if err != nil || !got.Tools || got.Prompts || !slices.Equal(got.URIs, []string{"x:/a"}) {
			t.Fatalf("agreed to %+v, %v", got, err)
		}
		tool(t, s, "announce", `{"method":"notifications/prompts/list_changed","params":{}}`)
		tool(t, s, "announce", `{"method":"notifications/resources/updated","params":{"uri":"x:/b"}}`)
		tool(t, s, "announce", `{"method":"notifications/resources/updated","params":{"uri":"x:/a"}}`)
		if got := nextOf(t, "the update", heard); got != `notifications/resources/updated {"uri":"x:/a"}` {
			t.Errorf("heard %s", got)
		}
		tool(t, s, "announce", `{"method":"notifications/tools/list_changed","params":{}}`)
		if got := nextOf(t, "the change", heard); !strings.HasPrefix(got, "notifications/tools/list_changed") {
			t.Errorf("heard %s", got)
		}

		// Another listener hears on when the first has gone.
		other := make(chan string, 64)
		if _, err := s.Listen(t.Context(), Interest{Tools: true, URIs: []string{"x:/a"}}, func(method string, _ mcp.Raw) { other <- method }); err != nil {
			t.Fatal(err)
		}
		cancel()
		waitFor(t, "the first listener to be gone", func() bool { return listeners(s) == 1 })
		tool(t, s, "announce", `{"method":"notifications/tools/list_changed","params":{}}`)
		if got := nextOf(t, "the change", other); got != mcp.NotificationToolsListChanged {
			t.Errorf("heard %s", got)
		}
		if len(heard) != 0 {
			t.Errorf("heard %s after the end", <-heard)
		}
	})
}

// listeners counts who listens.
func listeners(s *Session) int {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	n := len(s.conn.listeners)
	for _, k := range s.conn.calls {
		if k.listener != nil {
			n++
		}
	}
	return n
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("waited for %s", what)
		}
	}
}

func TestALegacyServerIsToldOnceOfEachResource(t *testing.T) {
	t.Parallel()
	c := mcptest.Start(mcptest.Script{Capabilities: json.RawMessage(everything)})
	s, err := Connect(t.Context(), c, Options{Name: "stub", Era: mcp.Legacy})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	count := func(method string) int {
		var methods []string
		if err := json.Unmarshal([]byte(tool(t, s, "received", "{}")), &methods); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, m := range methods {
			if m == method {
				n++
			}
		}
		return n
	}
	var leave []context.CancelFunc
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		leave = append(leave, cancel)
		if _, err := s.Listen(ctx, Interest{URIs: []string{"x:/a"}}, func(string, mcp.Raw) {}); err != nil {
			t.Fatal(err)
		}
	}
	leave[0]()
	leave[1]()
	waitFor(t, "two to be gone", func() bool { return listeners(s) == 1 })
	if n, m := count(mcp.MethodSubscribe), count(mcp.MethodUnsubscribe); n != 1 || m != 0 {
		t.Errorf("%d times subscribed, %d times taken back; want 1 and 0", n, m)
	}
	leave[2]()
	waitFor(t, "it to be taken back", func() bool { return count(mcp.MethodUnsubscribe) == 1 })
}

func TestALevelIsAskedForOnce(t *testing.T) {
	t.Parallel()
	c := mcptest.Start(mcptest.Script{})
	s, err := Connect(t.Context(), c, Options{Name: "stub", Era: mcp.Legacy})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, level := range []string{"warning", "error", "warning", "loud", "", "debug", "info"} {
		if err := s.LogLevel(t.Context(), level); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(tool(t, s, "received", "{}"), mcp.MethodSetLevel); got != 2 {
		t.Errorf("asked %d times, want 2: for warning and for debug", got)
	}
}

func TestASubscriptionThatEndsIsOpenedAgain(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	s := open(t, Options{Era: mcp.Modern}, func(p *peer) {
		p.modern(func(m *mcp.Message) bool {
			switch m.Method {
			case mcp.MethodDiscover:
				p.reply(m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}`)
			case mcp.MethodListen:
				p.write(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`+"\n", m.ID)
				if opened.Add(1) == 1 {
					p.reply(m, `{"resultType":"complete"}`)
					return true
				}
				p.write(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`+"\n", m.ID)
			default:
				return false
			}
			return true
		})
	})
	heard := make(chan string, 8)
	if got, err := s.Listen(t.Context(), Interest{Tools: true, Prompts: true}, func(method string, _ mcp.Raw) { heard <- method }); err != nil || !got.Tools || got.Prompts {
		t.Fatalf("agreed to %+v, %v", got, err)
	}
	if got := nextOf(t, "the change", heard); got != mcp.NotificationToolsListChanged {
		t.Errorf("heard %s", got)
	}
}

func TestAServerThatRefusesASubscription(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		code int
		want bool // an error
	}{{"does not know it", mcp.CodeMethodNotFound, false}, {"will not", mcp.CodeInvalidParams, true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, Options{Era: mcp.Modern}, func(p *peer) {
				p.modern(func(m *mcp.Message) bool {
					switch m.Method {
					case mcp.MethodDiscover:
						p.reply(m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}`)
					case mcp.MethodListen:
						p.refuse(m, tt.code, "no", "")
					default:
						return false
					}
					return true
				})
			})
			got, err := s.Listen(t.Context(), Interest{Tools: true}, func(string, mcp.Raw) {})
			if (err != nil) != tt.want || got.Tools {
				t.Errorf("agreed to %+v, %v", got, err)
			}
		})
	}
}

// answers is a sink that answers each question with its params, or refuses.
type answers struct {
	refuse *mcp.Error
	asked  atomic.Int32
	notes  chan string
	hang   chan struct{} // if not nil, a question is told there and waits for its end
}

func (a *answers) Notify(method string, params mcp.Raw) {
	if a.notes != nil {
		a.notes <- method + " " + string(params)
	}
}

func (a *answers) Request(ctx context.Context, method string, params mcp.Raw) (mcp.Raw, *mcp.Error) {
	a.asked.Add(1)
	if a.hang != nil {
		a.hang <- struct{}{}
		<-ctx.Done()
		a.hang <- struct{}{}
		return nil, mcp.Errorf(mcp.CodeInternalError, "over")
	}
	if a.refuse != nil {
		return nil, a.refuse
	}
	return mcp.Raw(`{"of":` + string(params) + `}`), nil
}

func TestAnUnfinishedResultIsAnsweredAndTheCallMadeAgain(t *testing.T) {
	t.Parallel()
	connect := func(t *testing.T, sink Sink) *Session {
		s, err := Connect(t.Context(), mcptest.Start(mcptest.Script{Discover: mcptest.DiscoverModern}), Options{Name: "stub", Sink: sink})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	const two = `{"params":{"one":{"method":"elicitation/create","params":{"n":1}},"two":{"method":"roots/list","params":{"n":2}}}`
	tests := []struct {
		name, arguments, want string
		sink                  *answers
		asked                 int32
		kind                  fault.Kind
	}{
		{name: "once", arguments: two + `}`, want: `[{"one":{"of":{"n":1}},"two":{"of":{"n":2}}}]`, sink: &answers{}, asked: 2},
		{name: "three times", arguments: two + `,"count":3}`, want: strings.Replace(`[X,X,X]`, "X", `{"one":{"of":{"n":1}},"two":{"of":{"n":2}}}`, 3), sink: &answers{}, asked: 6},
		{name: "only to be made again", arguments: `{"count":2}`, want: `[null,null]`, sink: &answers{}, kind: ""},
		{name: "refused", arguments: two + `}`, sink: &answers{refuse: mcp.Errorf(-1, "no")}, asked: 1, kind: fault.InputRequired},
		{name: "nobody to ask", arguments: two + `}`, kind: fault.InputRequired},
		{name: "without end", arguments: two + `,"count":1000}`, sink: &answers{}, asked: 2 * (maxRounds + 1), kind: fault.Limit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var sink Sink
			if tt.sink != nil {
				sink = tt.sink
			}
			got, err := toolErr(t.Context(), connect(t, sink), "need", tt.arguments)
			if got != tt.want || fault.KindOf(err) != tt.kind {
				t.Errorf("got %s, %v; want %s, kind %q", got, err, tt.want, tt.kind)
			}
			if e := fault.From(err); tt.kind == fault.InputRequired && e.Details["inputRequests"] == nil {
				t.Errorf("the error does not say what was asked: %v", e.Details)
			}
			if tt.sink != nil && tt.sink.asked.Load() != tt.asked {
				t.Errorf("asked %d times, want %d", tt.sink.asked.Load(), tt.asked)
			}
		})
	}
	t.Run("who takes it gets it", func(t *testing.T) {
		t.Parallel()
		raw, err := connect(t, nil).Call(t.Context(), mcp.MethodToolsCall, mcp.Raw(`{"name":"need","arguments":`+two+`}}`), CallOptions{TakesUnfinished: true})
		if err != nil || text(mcp.Member(raw, "resultType")) != mcp.ResultInputRequired {
			t.Errorf("got %s, %v", raw, err)
		}
	})
}

func TestOverHTTPWhatComesInAnswerToACallBelongsToIt(t *testing.T) {
	t.Parallel()
	site := mcptest.Serve(mcptest.HTTP{})
	defer site.Close()
	transport, err := OpenHTTP(Endpoint{Name: "stub", URL: site.URL})
	if err != nil {
		t.Fatal(err)
	}
	common := &answers{notes: make(chan string, 8)}
	s, err := Connect(t.Context(), transport, Options{Name: "stub", Sink: common})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const calls = 20
	failed := make(chan error, calls)
	for i := range calls {
		go func() {
			own := &answers{notes: make(chan string, 8)}
			got, err := toolErr(t.Context(), s, "ask", fmt.Sprintf(`{"method":"elicitation/create","params":{"n":%d},"related":true}`, i), CallOptions{Sink: own})
			if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"result":{"of":{"n":%d}}}`, i); err == nil && (got != want || own.asked.Load() != 1) {
				err = fmt.Errorf("call %d: got %s, want %s; asked %d times", i, got, want, own.asked.Load())
			}
			if _, again := toolErr(t.Context(), s, "log", `{"lines":["mine"],"related":true}`, CallOptions{Sink: own}); err == nil {
				err = again
			}
			if err == nil && len(own.notes) != 1 {
				err = fmt.Errorf("call %d: heard %d messages of its log, want 1", i, len(own.notes))
			}
			failed <- err
		}()
	}
	for range calls {
		if err := nextOf(t, "a call", failed); err != nil {
			t.Error(err)
		}
	}
	if common.asked.Load() != 0 || len(common.notes) != 0 {
		t.Errorf("the session's sink was asked %d times and told %d", common.asked.Load(), len(common.notes))
	}
	tool(t, s, "log", `{"lines":["everybody's"]}`, CallOptions{Sink: &answers{}})
	if got := nextOf(t, "the message", common.notes); !strings.Contains(got, "everybody's") {
		t.Errorf("the session's sink heard %s", got)
	}
}

func TestAQuestionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	site := mcptest.Serve(mcptest.HTTP{})
	defer site.Close()
	transport, err := OpenHTTP(Endpoint{Name: "stub", URL: site.URL})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Connect(t.Context(), transport, Options{Name: "stub"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	own := &answers{hang: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := toolErr(ctx, s, "ask", `{"method":"elicitation/create","params":{},"related":true}`, CallOptions{Sink: own})
		failed <- err
	}()
	nextOf(t, "the question", own.hang)
	enough := errors.New("enough")
	cancel(enough)
	nextOf(t, "the end of the question", own.hang)
	if err := nextOf(t, "the end of the call", failed); !errors.Is(err, enough) {
		t.Errorf("the call ended with %v", err)
	}
}

func TestWhatALostSessionHadBeenToldIsToldAgain(t *testing.T) {
	t.Parallel()
	site := mcptest.Serve(mcptest.HTTP{Script: mcptest.Script{Capabilities: json.RawMessage(everything)}})
	defer site.Close()
	transport, err := OpenHTTP(Endpoint{Name: "stub", URL: site.URL})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Connect(t.Context(), transport, Options{Name: "stub"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	heard := make(chan string, 8)
	if _, err := s.Listen(t.Context(), Interest{URIs: []string{"x:/a"}}, func(_ string, params mcp.Raw) { heard <- string(params) }); err != nil {
		t.Fatal(err)
	}
	if err := s.LogLevel(t.Context(), "info"); err != nil {
		t.Fatal(err)
	}
	site.Forget()
	tool(t, s, "echo", `{"message":"x"}`)
	if got := nextOf(t, "word that something may have been missed", heard); got != `{"uri":"x:/a"}` {
		t.Errorf("heard %s", got)
	}
	if got := tool(t, s, "received", "{}"); !strings.Contains(got, mcp.MethodSubscribe) || !strings.Contains(got, mcp.MethodSetLevel) {
		t.Errorf("the new session was told %s", got)
	}
}

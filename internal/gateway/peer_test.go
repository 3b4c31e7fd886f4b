package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/gateway"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
)

// patience bounds what a test waits for that is bound to come.
const patience = 30 * time.Second

// asks is the built-in tool ask, with a question.
const question = `{"method":"elicitation/create","params":{"message":"Which branch?","requestedSchema":{"type":"object","required":["branch"],` +
	`"properties":{"branch":{"type":"string","title":"Branch"},"force":{"type":"boolean","default":false}}}}}`

// need is the built-in tool need, with two questions at once.
const need = `{"params":{"a":{"method":"elicitation/create","params":{"message":"Which branch?"}},"b":{"method":"roots/list","params":{}}}`

// person is a peer that answers each question with its number.
type person struct {
	unfinished bool
	fails      error         // in place of an answer
	waits      chan struct{} // an answer comes when something can be taken from it
	begun      chan string   // gets each question's message
	ended      chan error    // gets why the waiting for an answer was over, if it was

	mu    sync.Mutex
	asked []string
	told  []string
}

func (p *person) Notify(method string, params json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, method+" "+string(params))
}

func (p *person) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	p.mu.Lock()
	p.asked = append(p.asked, method+" "+string(params))
	n := len(p.asked)
	p.mu.Unlock()
	if p.begun != nil {
		p.begun <- method
	}
	if p.waits != nil {
		select {
		case <-p.waits:
		case <-ctx.Done():
			if p.ended != nil {
				p.ended <- context.Cause(ctx)
			}
			return nil, context.Cause(ctx)
		}
	}
	if p.fails != nil {
		return nil, p.fails
	}
	return json.RawMessage(fmt.Sprintf(`{"action":"accept","content":{"n":%d}}`, n)), nil
}

func (p *person) TakesUnfinished() bool { return p.unfinished }

func (p *person) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.told)
}

func (p *person) times() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

// taken takes what comes over a channel, which must not take for ever.
func taken[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}

// until waits until something is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for %s", what)
		}
	}
}

func with(t *testing.T, g api.Servers, tool, args string, peer api.Peer) (*api.CallOutput, error) {
	t.Helper()
	return g.Call(t.Context(), api.CallInput{Server: "s", Tool: tool, Arguments: json.RawMessage(args), Peer: peer})
}

// remote is an entry for a server behind HTTP.
func remote(t *testing.T, name string, o mcptest.HTTP) *config.Server {
	t.Helper()
	site := mcptest.Serve(o)
	t.Cleanup(site.Close)
	return &config.Server{Name: name, Transport: "http", URL: site.URL, Origin: config.Origin{File: "/c.json", Line: 3}}
}

// servers are the servers of both eras, near and far.
func servers(t *testing.T, test func(t *testing.T, g *fixture, modern bool)) {
	t.Helper()
	for _, modern := range []bool{false, true} {
		for _, far := range []bool{false, true} {
			t.Run(fmt.Sprintf("modern %v, over HTTP %v", modern, far), func(t *testing.T) {
				t.Parallel()
				var script mcptest.Script
				if modern {
					script.Discover = mcptest.DiscoverModern
				}
				entry := entry("s", script)
				if far {
					if modern {
						script.Revisions, script.Strict = []string{"none"}, true // else it is spoken to the legacy way
					}
					entry = remote(t, "s", mcptest.HTTP{Script: script})
				}
				test(t, open(t, t.TempDir(), []*config.Server{entry}), modern)
			})
		}
	}
}

func TestAQuestionReachesWhoeverCalled(t *testing.T) {
	t.Parallel()
	servers(t, func(t *testing.T, g *fixture, modern bool) {
		p := &person{}
		tool, args, want := "ask", question, `{"jsonrpc":"2.0","id":null,"result":{"action":"accept","content":{"n":1}}}`
		if modern {
			tool, args, want = "need", need+"}", `[{"a":{"action":"accept","content":{"n":1}},"b":{"action":"accept","content":{"n":2}}}]`
		}
		out, err := with(t, g, tool, args, p)
		if err != nil || out.Text+string(out.Value) != want {
			t.Fatalf("answered %+v, %v; want %s", out, err, want)
		}
		if got := p.asked[0]; !strings.HasPrefix(got, `elicitation/create {"message":"Which branch?"`) {
			t.Errorf("asked %s", got)
		}
	})
}

func TestSeveralQuestionsInOneCall(t *testing.T) {
	t.Parallel()
	servers(t, func(t *testing.T, g *fixture, modern bool) {
		for _, together := range []bool{false, true} {
			p := &person{}
			tool, args, want := "ask", fmt.Sprintf(`%s,"count":5,"together":%v}`, strings.TrimSuffix(question, "}"), together), 5
			if modern {
				tool, args, want = "need", need+`,"count":5}`, 10
			}
			out, err := with(t, g, tool, args, p)
			if err != nil || p.times() != want {
				t.Fatalf("asked %d times, want %d: %+v, %v", p.times(), want, out, err)
			}
			for i := range want {
				if answer := fmt.Sprintf(`{"n":%d}`, i+1); !strings.Contains(out.Text+string(out.Value), answer) {
					t.Errorf("answer %s is not in %s%s", answer, out.Text, out.Value)
				}
			}
		}
	})
}

func TestWithoutAnybodyToAskTheCallSaysWhatIsAsked(t *testing.T) {
	t.Parallel()
	servers(t, func(t *testing.T, g *fixture, modern bool) {
		tool, args := "ask", question
		if modern {
			tool, args = "need", need+"}"
		}
		_, err := with(t, g, tool, args, nil)
		e := fault.From(err)
		if e == nil || e.Kind != fault.InputRequired || !strings.Contains(e.Message, "s."+tool+" asks for input") ||
			!strings.Contains(e.Message, "Which branch?") || !strings.Contains(e.Hint, "at a terminal") || e.Details["inputRequests"] == nil {
			t.Fatalf("got %v (hint %q, details %v)", err, e.Hint, e.Details)
		}
		if !modern && !strings.Contains(e.Message, "branch: string — Branch\n    force: boolean, else false, optional") {
			t.Errorf("the message does not say in which form: %s", e.Message)
		}
		if out, err := with(t, g, "echo", `{"message":"still there"}`, nil); err != nil || out.Text != "still there" {
			t.Errorf("the next call: %+v, %v", out, err)
		}
	})
}

func TestWithoutAnybodyToAskOtherRequestsAreRefusedAndTheCallGoesOn(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{})
	for _, method := range []string{"sampling/createMessage", "roots/list", "tools/list"} {
		out, err := with(t, g, "ask", `{"method":"`+method+`","params":{}}`, nil)
		if err != nil || !strings.Contains(out.Text+string(out.Value), `"code":-32601`) {
			t.Errorf("%s: got %+v, %v", method, out, err)
		}
	}
}

func TestAPeerThatRefuses(t *testing.T) {
	t.Parallel()
	broken := errors.New("the terminal is gone")
	tests := []struct {
		name   string
		fails  error
		legacy string // answer of a legacy server; empty is the error
		kind   fault.Kind
	}{
		{"with an error of the protocol", mcp.Errorf(-1, "not today"), `"code":-1,"message":"not today"`, fault.InputRequired},
		{"with a failure", broken, "", fault.Internal},
		{"with a fault", fault.Deniedf("never"), "", fault.Denied},
	}
	servers(t, func(t *testing.T, g *fixture, modern bool) {
		for _, tt := range tests {
			tool, args := "ask", question
			if modern {
				tool, args = "need", need+"}"
			}
			out, err := with(t, g, tool, args, &person{fails: tt.fails})
			switch {
			case !modern && tt.legacy != "":
				if err != nil || !strings.Contains(out.Text+string(out.Value), tt.legacy) {
					t.Errorf("%s: got %+v, %v", tt.name, out, err)
				}
			case fault.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.fails.Error()):
				t.Errorf("%s: got %v, want kind %s", tt.name, err, tt.kind)
			}
		}
	})
}

func TestWhoTakesUnfinishedResultsGetsThemAndGoesOn(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{Discover: mcptest.DiscoverModern})
	p := &person{unfinished: true}
	out, err := with(t, g, "need", need+"}", p)
	if err != nil || !strings.Contains(string(out.Result), `"resultType":"input_required"`) || p.times() != 0 {
		t.Fatalf("got %+v, %v; asked %d times", out, err, p.times())
	}
	out, err = g.Call(t.Context(), api.CallInput{
		Server: "s", Tool: "need", Arguments: json.RawMessage(need + "}"), Peer: p,
		InputResponses: json.RawMessage(`{"a":7}`), RequestState: mcp.Member(out.Result, "requestState"),
	})
	if err != nil || out.Text+string(out.Value) != `[{"a":7}]` {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestAQuestionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	servers(t, func(t *testing.T, g *fixture, modern bool) {
		p := &person{waits: make(chan struct{}), begun: make(chan string, 1), ended: make(chan error, 1)}
		tool, args := "ask", question
		if modern {
			tool, args = "need", need+"}"
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		done := make(chan error, 1)
		go func() {
			_, err := g.Call(ctx, api.CallInput{Server: "s", Tool: tool, Arguments: json.RawMessage(args), Peer: p})
			done <- err
		}()
		taken(t, "the question", p.begun)
		cancel(enough)
		if err := taken(t, "the end of the call", done); !errors.Is(err, enough) {
			t.Errorf("the call ended with %v", err)
		}
		taken(t, "the end of the question", p.ended)
	})
}

func TestAQuestionEndsWithItsServer(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{})
	p := &person{waits: make(chan struct{}), begun: make(chan string, 1), ended: make(chan error, 1)}
	done := make(chan error, 1)
	go func() {
		_, err := with(t, g, "ask", question, p)
		done <- err
	}()
	taken(t, "the question", p.begun)
	if _, err := with(t, g, "crash", `{"code":4}`, nil); fault.KindOf(err) != fault.Unavailable {
		t.Fatalf("crash: %v", err)
	}
	taken(t, "the end of the question", p.ended)
	if err := taken(t, "the end of the call", done); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "code 4") {
		t.Errorf("the call ended with %v", err)
	}
}

func TestCallsOfOneCallerMayAskWhileOthersRun(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{})
	p := &person{}
	const calls = 10
	done := make(chan error, calls)
	for range calls {
		go func() {
			out, err := with(t, g, "ask", question, p)
			if err == nil && !strings.Contains(out.Text+string(out.Value), "accept") {
				err = fmt.Errorf("answered %s%s", out.Text, out.Value)
			}
			done <- err
		}()
	}
	for range calls {
		if err := taken(t, "a call", done); err != nil {
			t.Error(err)
		}
	}
	if p.times() != calls {
		t.Errorf("asked %d times", p.times())
	}
}

func TestAQuestionOfWhichItIsNotKnownWhoseItIsIsRefusedAndFromThenOnCallsTakeTurns(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{})
	first := &person{}
	held := make(chan error, 1)
	ctx, release := context.WithCancel(t.Context())
	defer release()
	go func() {
		_, err := g.Call(ctx, api.CallInput{Server: "s", Tool: "stall", Peer: first})
		held <- err
	}()
	until(t, "the first call to be under way", func() bool {
		out, err := with(t, g, "received", "{}", nil)
		return err == nil && strings.Count(out.Text+string(out.Value), "tools/call") >= 2 && stalls(t, g)
	})
	second := &person{}
	out, err := with(t, g, "ask", question, second)
	if err != nil || !strings.Contains(out.Text+string(out.Value), "calls of several callers are under way") {
		t.Fatalf("got %+v, %v", out, err)
	}
	if !strings.Contains(g.log.String(), "question.ambiguous server=s") || first.times()+second.times() != 0 {
		t.Errorf("asked %d and %d times; logged %s", first.times(), second.times(), g.log)
	}

	// The next call waits for the first one, and then its question is its own.
	next := make(chan error, 1)
	go func() {
		out, err := with(t, g, "ask", question, second)
		if err == nil && !strings.Contains(out.Text+string(out.Value), "accept") {
			err = fmt.Errorf("answered %s%s", out.Text, out.Value)
		}
		next <- err
	}()
	select {
	case err := <-next:
		t.Fatalf("the next call did not wait: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	release()
	taken(t, "the end of the first call", held)
	if err := taken(t, "the next call", next); err != nil {
		t.Error(err)
	}
	if first.times() != 0 || second.times() != 1 {
		t.Errorf("asked %d and %d times, want 0 and 1", first.times(), second.times())
	}

	// Who waits for a turn and gives up is told for what.
	ctx2, release2 := context.WithCancel(t.Context())
	defer release2()
	go func() {
		_, err := g.Call(ctx2, api.CallInput{Server: "s", Tool: "stall", Peer: first})
		held <- err
	}()
	until(t, "the call to be under way", func() bool { return underWay(g) >= 1 })
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := g.Call(short, api.CallInput{Server: "s", Tool: "echo", Peer: second}); err == nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who gave up got %v", err)
	}
	release2()
	taken(t, "the end", held)
}

// stalls reports whether the server is at work on a call that stalls.
func stalls(t *testing.T, g *fixture) bool {
	t.Helper()
	return underWay(g) >= 1
}

// underWay counts the calls under way.
func underWay(g *fixture) int {
	n := 0
	for _, i := range g.pool.Instances() {
		n += i.UnderWay
	}
	return n
}

func TestAServerThatAsksAfterItsCallIsRefused(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{Before: []mcptest.Ask{{ID: json.RawMessage(`"early"`), Method: mcp.MethodElicitation, Params: json.RawMessage(`{}`)}}})
	p := &person{}
	if _, err := with(t, g, "echo", "{}", p); err != nil {
		t.Fatal(err)
	}
	if p.times() != 0 {
		t.Errorf("asked %d times about no call", p.times())
	}
}

func TestProgressAndLogsReachWhoeverCalled(t *testing.T) {
	t.Parallel()
	servers(t, func(t *testing.T, g *fixture, modern bool) {
		p := &person{}
		if _, err := with(t, g, "progress", `{"count":500}`, p); err != nil {
			t.Fatal(err)
		}
		told := p.heard()
		if len(told) != 500 || told[0] != `notifications/progress {"progress":1,"total":500}` {
			t.Errorf("told %d times of progress, first %q", len(told), slices.Concat(told, []string{""})[0])
		}
		if _, err := with(t, g, "log", `{"lines":["one","two"],"related":true}`, p); err != nil {
			t.Fatal(err)
		}
		until(t, "the log", func() bool { return len(p.heard()) == 502 })
	})
}

func TestAListThatChangesIsReadAgainAndStormsAreToldTogether(t *testing.T) {
	t.Parallel()
	const caps = `{"tools":{"listChanged":true},"prompts":{"listChanged":true}}`
	for _, era := range []mcptest.Discover{mcptest.DiscoverUnknown, mcptest.DiscoverModern} {
		t.Run(string("era "+era), func(t *testing.T) {
			t.Parallel()
			g := one(t, mcptest.Script{Discover: era, Capabilities: json.RawMessage(caps)})
			heard := make(chan string, 10000)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			got, err := g.Listen(ctx, gateway.ListenInput{Server: "s", Tools: true, Prompts: true, Resources: true}, func(server, method string, _ json.RawMessage) {
				heard <- server + " " + method
			})
			if err != nil || !got.Tools || !got.Prompts || got.Resources {
				t.Fatalf("agreed to %+v, %v", got, err)
			}
			count := func() int {
				out, err := with(t, g, "received", "{}", nil)
				if err != nil {
					t.Fatal(err)
				}
				return strings.Count(out.Text+string(out.Value), "tools/list")
			}
			if era == mcptest.DiscoverModern {
				until(t, "the subscription", func() bool {
					out, err := with(t, g, "received", "{}", nil)
					return err == nil && strings.Contains(out.Text+string(out.Value), mcp.MethodListen)
				})
			}
			before := count()
			const storm = 2000
			if _, err := with(t, g, "announce", fmt.Sprintf(`{"method":"notifications/tools/list_changed","params":{},"count":%d}`, storm), nil); err != nil {
				t.Fatal(err)
			}
			if got := taken(t, "the change", heard); got != "s notifications/tools/list_changed" {
				t.Errorf("heard %s", got)
			}
			until(t, "the list to be read again", func() bool { return count() > before })
			if _, err := with(t, g, "announce", `{"method":"notifications/prompts/list_changed","params":{}}`, nil); err != nil {
				t.Fatal(err)
			}
			until(t, "the change of prompts", func() bool {
				select {
				case got := <-heard:
					return got == "s notifications/prompts/list_changed"
				default:
					return false
				}
			})
			if after := count(); after-before > storm/20 || len(heard) > storm/20 {
				t.Errorf("%d changes at once: the list was read %d times and %d notifications were passed on", storm, after-before, len(heard))
			}
			cancel()
		})
	}
}

func TestAServerThatIsStartedAgainIsSubscribedToAgain(t *testing.T) {
	t.Parallel()
	g := one(t, mcptest.Script{Capabilities: json.RawMessage(`{"tools":{},"resources":{"subscribe":true},"logging":{}}`)})
	heard := make(chan string, 100)
	got, err := g.Listen(t.Context(), gateway.ListenInput{Server: "s", URIs: []string{"x:/a"}, Level: "info"}, func(_, method string, params json.RawMessage) {
		heard <- method + " " + string(params)
	})
	if err != nil || !slices.Equal(got.URIs, []string{"x:/a"}) || !got.Logging {
		t.Fatalf("agreed to %+v, %v", got, err)
	}
	if _, err := with(t, g, "crash", `{"code":1}`, nil); err == nil {
		t.Fatal("the server did not crash")
	}
	if got := taken(t, "word that something may have been missed", heard); got != `notifications/resources/updated {"uri":"x:/a"}` {
		t.Errorf("heard %s", got)
	}
	if _, err := with(t, g, "announce", `{"method":"notifications/resources/updated","params":{"uri":"x:/a","again":1}}`, nil); err != nil {
		t.Fatal(err)
	}
	if got := taken(t, "the update", heard); got != `notifications/resources/updated {"uri":"x:/a","again":1}` {
		t.Errorf("heard %s", got)
	}
	if _, err := with(t, g, "log", `{"lines":["hello"]}`, nil); err != nil {
		t.Fatal(err)
	}
	if got := taken(t, "the message", heard); !strings.Contains(got, "hello") {
		t.Errorf("heard %s", got)
	}
}

func TestCallersSeeTheirOwnServers(t *testing.T) {
	t.Parallel()
	s := entry("s", mcptest.Script{})
	s.Env["WHO"] = "${env:WHO}"
	g := open(t, t.TempDir(), []*config.Server{s})
	if _, err := with(t, g, "pid", "{}", nil); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "WHO is not set") {
		t.Fatalf("without the variable: %v", err)
	}
	dir := t.TempDir()
	view := func(who string) *gateway.Gateway {
		return g.As(api.Caller{Dir: dir, Environ: []string{"WHO=" + who, "PATH=/bin"}}, nil)
	}
	pid := func(who string) string {
		out, err := with(t, view(who), "pid", "{}", nil)
		if err != nil {
			t.Fatal(err)
		}
		return out.Text + string(out.Value)
	}
	ann, bob := pid("ann"), pid("bob")
	if ann == bob {
		t.Errorf("two callers with different variables share the process %s", ann)
	}
	if again := pid("ann"); again != ann {
		t.Errorf("the same caller got %s and then %s", ann, again)
	}
}

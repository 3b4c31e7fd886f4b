package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/mcp"
)

// speaker is a Provider that says what a test has it say.
type speaker struct {
	fixed

	mu        sync.Mutex
	listeners map[*Filter]func(method string, params mcp.Raw)
	fails     error
	early     bool // it says something before it has agreed
}

func newSpeaker(tools ...Tool) *speaker {
	s := &speaker{listeners: map[*Filter]func(string, mcp.Raw){}}
	s.info = Info{
		Name: "speaker", Version: "1", Logs: true, Also: []string{"resources", "prompts"},
		ListChanged: []string{"tools", "resources"}, Subscribe: true,
	}
	s.tools = map[string]Tool{}
	for _, t := range tools {
		s.tools[textOf(mcp.Member(t.Definition, "name"))] = t
		s.list = append(s.list, t.Definition)
	}
	return s
}

func (s *speaker) Listen(ctx context.Context, _ Caller, f Filter, say func(string, mcp.Raw)) (Filter, error) {
	if s.fails != nil {
		return Filter{}, s.fails
	}
	s.mu.Lock()
	s.listeners[&f] = say
	s.mu.Unlock()
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, &f)
	})
	if s.early {
		say(mcp.NotificationToolsListChanged, nil)
	}
	got := f
	got.URIs = slices.DeleteFunc(slices.Clone(f.URIs), func(uri string) bool { return uri == "unknown:" })
	return got, nil
}

// filters are what is listened to.
func (s *speaker) filters() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.listeners {
		list = append(list, fmt.Sprintf("%v %v %v %v %s", f.Tools, f.Prompts, f.Resources, f.URIs, f.Level))
	}
	slices.Sort(list)
	return list
}

// say says to each listener what it wants to hear of.
func (s *speaker) say(method string, params mcp.Raw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f, hear := range s.listeners {
		if f.takes(method) || f.Level != "" && method == mcp.NotificationMessage {
			hear(method, params)
		}
	}
}

// awaitFilters waits until it is listened to in so many ways.
func (s *speaker) awaitFilters(t *testing.T, n int) []string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if list := s.filters(); len(list) == n {
			return list
		}
		if time.Now().After(deadline) {
			t.Fatalf("listened to: %q, want %d", s.filters(), n)
		}
	}
}

func listenLine(id, notifications string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":` + notifications + `,` + modernMeta + `}}`
}

func told(n int) func([]string) bool { return func(list []string) bool { return len(list) >= n } }

func TestListenAcknowledgesFirstAndTagsEverything(t *testing.T) {
	t.Parallel()
	s := newSpeaker()
	s.early = true
	l := connect(t, Of(s))
	answered := l.begin(listenLine(`"x"`, `{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:","unknown:"]}`))
	l.await(told(2))
	s.say(mcp.NotificationResourcesListChanged, nil) // which is not asked for
	s.say(mcp.NotificationResourcesUpdated, mcp.Raw(`{"uri":"a:","_meta":{"io.modelcontextprotocol/subscriptionId":7,"k":1}}`))
	got := l.await(told(3))
	want := []string{
		`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":["a:"],"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":"x"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"x"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:","_meta":{"io.modelcontextprotocol/subscriptionId":"x","k":1}}}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("told %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	l.begin(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`)
	if a := <-answered; a != nil {
		t.Errorf("a subscription that the client ends is answered with %s", a.Encode())
	}
	s.awaitFilters(t, 0)
}

func TestListenEndsWithTheServer(t *testing.T) {
	t.Parallel()
	l := connect(t, Of(newSpeaker()))
	answered := l.begin(listenLine("5", `{"toolsListChanged":true}`))
	l.await(told(1))
	l.stop(errClosing)
	if a := <-answered; a == nil || string(a.Encode()) != `{"jsonrpc":"2.0","id":5,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":5},"resultType":"complete"}}` {
		t.Errorf("the end is %v", a)
	}
}

func TestListenRefuses(t *testing.T) {
	t.Parallel()
	failing := newSpeaker()
	failing.fails = errors.New("the server is down")
	for _, tt := range []struct {
		name, send, want string
		s                Handler
	}{
		{"nothing wanted", listenLine("1", "null"), "needs notifications", Of(newSpeaker())},
		{"no object", listenLine("1", "[]"), "needs notifications", Of(newSpeaker())},
		{"too many resources", listenLine("1", `{"resourceSubscriptions":[`+strings.Repeat(`"a",`, maxHeld)+`"a"]}`), "more than one subscription has", Of(newSpeaker())},
		{"a server that fails", listenLine("1", `{"toolsListChanged":true}`), "the server is down", Of(failing)},
		{"a server that says nothing", listenLine("1", `{}`), "method not found", testServer(nil)},
		{"a resource without an address", `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{}}`, "needs the uri", Of(newSpeaker())},
		{"a resource of a server that fails", `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:"}}`, "the server is down", Of(failing)},
		{"a resource of a server that says nothing", `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:"}}`, "method not found", testServer(nil)},
		{"a modern client subscribes as legacy ones do", `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:",` + modernMeta + `}}`, "method not found", Of(newSpeaker())},
		{"a legacy client listens as modern ones do", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}`, "method not found", Of(newSpeaker())},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if o := connect(t, tt.s).ask(tt.send); o.Error == nil || !strings.Contains(o.Error.Message, tt.want) {
				t.Errorf("answered %+v, want %q", o, tt.want)
			}
		})
	}
}

func TestSubscriptionsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSpeaker()
	l := connect(t, Of(s))
	for i := range maxListens {
		l.begin(listenLine(fmt.Sprintf(`"l%d"`, i), `{"toolsListChanged":true}`))
	}
	l.await(told(maxListens))
	if o := l.ask(listenLine("1", `{}`)); o.Error == nil || !strings.Contains(o.Error.Message, "more are not taken") {
		t.Errorf("one more: %+v", o)
	}
	subscribe := func(i int) outcome {
		return l.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"a:%d"}}`, i))
	}
	for i := range maxHeld {
		if o := subscribe(i); o.Error != nil {
			t.Fatalf("resource %d: %v", i, o.Error)
		}
	}
	if o := subscribe(0); o.Error != nil {
		t.Errorf("one again: %v", o.Error)
	}
	if o := subscribe(maxHeld); o.Error == nil || !strings.Contains(o.Error.Message, "more are not taken") {
		t.Errorf("one more: %+v", o)
	}
	l.end()
	s.awaitFilters(t, 0)
}

func TestLegacyClientIsTold(t *testing.T) {
	t.Parallel()
	s := newSpeaker()
	l := connect(t, Of(s))
	for _, m := range []string{
		opening, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"warning"}}`,
	} {
		if o := l.ask(m); o.Error != nil {
			t.Fatal(o.Error)
		}
	}
	l.begin(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if got := s.awaitFilters(t, 3); !slices.Equal(got, []string{"false false false [] warning", "false false false [a:] ", "true false true [] "}) {
		t.Errorf("listened to: %q", got)
	}
	s.say(mcp.NotificationToolsListChanged, nil)
	s.say(mcp.NotificationMessage, mcp.Raw(`{"level":"info","data":1}`)) // which the client does not want
	s.say(mcp.NotificationMessage, mcp.Raw(`{"level":"error","data":2}`))
	s.say(mcp.NotificationResourcesUpdated, mcp.Raw(`{"uri":"a:"}`))
	want := []string{
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":2}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:"}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
	}
	if got := slices.Sorted(slices.Values(l.await(told(3)))); !slices.Equal(got, want) {
		t.Errorf("told %q\nwant %q", got, want)
	}
	if o := l.ask(`{"jsonrpc":"2.0","id":3,"method":"resources/unsubscribe","params":{"uri":"a:"}}`); o.Error != nil {
		t.Error(o.Error)
	}
	s.awaitFilters(t, 2)
	l.end()
	s.awaitFilters(t, 0)
}

func TestCapabilitiesAreWhatIsDelivered(t *testing.T) {
	t.Parallel()
	l := connect(t, Of(newSpeaker()))
	const want = `"capabilities":{"logging":{},"prompts":{},"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}}`
	for _, m := range []string{opening, `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`} {
		if a := <-l.begin(m); a == nil || !strings.Contains(string(a.Encode()), want) {
			t.Errorf("%s: %v, want %s", m, a, want)
		}
	}
}

// flow reads a stream of events, without what says only that the stream lives.
type flow struct {
	t *testing.T
	r *http.Response
	b *bufio.Reader
}

func (s *site) follow(method, body string, headers ...string) *flow {
	s.t.Helper()
	r, err := s.client.Do(s.request(method, body, append([]string{"Accept", "application/json, text/event-stream"}, headers...)...))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { r.Body.Close() })
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("%s %s: %s", method, body, r.Status)
	}
	return &flow{s.t, r, bufio.NewReader(r.Body)}
}

// next returns the id and the data of the next event; empty at the end.
func (e *flow) next() (id, data string) {
	e.t.Helper()
	seen := false
	for {
		line, err := e.b.ReadString('\n')
		if err != nil {
			return "", ""
		}
		line = strings.TrimSuffix(line, "\n")
		if v, ok := strings.CutPrefix(line, "id: "); ok {
			id = v
		}
		if v, ok := strings.CutPrefix(line, "data:"); ok {
			data, seen = strings.TrimSpace(v), true
		}
		if line == "" && seen {
			return id, data
		}
	}
}

func (e *flow) want(id, part string) {
	e.t.Helper()
	if gotID, data := e.next(); gotID != id || !strings.Contains(data, part) {
		e.t.Errorf("event %q: %q, want %q: %q", gotID, data, id, part)
	}
}

func TestHTTPTellsWhatBelongsToNoRequest(t *testing.T) {
	t.Parallel()
	p := newSpeaker()
	s := listen(t, HTTPOptions{Handler: Of(p)})
	session := s.open(mcp.Revision20251125)
	s.do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headerSession, session)
	p.awaitFilters(t, 1)
	p.say(mcp.NotificationToolsListChanged, nil) // before there is a stream
	first := s.follow(http.MethodGet, "", headerSession, session)
	first.want("0-0", "")
	first.want("0-1", "tools/list_changed")
	p.say(mcp.NotificationResourcesListChanged, nil)
	first.want("0-2", "resources/list_changed")
	first.r.Body.Close()

	p.say(mcp.NotificationToolsListChanged, mcp.Raw(`{"n":3}`))
	second := s.follow(http.MethodGet, "", headerSession, session, headerLast, "0-1")
	second.want("0-1", "")
	second.want("0-2", "resources/list_changed")
	second.want("0-3", `"n":3`)
	for _, last := range []string{"7-1", "x", "0", "-1-2", "0-x"} {
		if r, text := s.do(http.MethodGet, "", headerSession, session, "Accept", "text/event-stream", headerLast, last); r.StatusCode != http.StatusBadRequest {
			t.Errorf("after the event %q: %s %s", last, r.Status, text)
		}
	}
	s.do(http.MethodDelete, "", headerSession, session)
	p.awaitFilters(t, 0)
}

func TestHTTPOlderRevisionsGetNoEmptyEvents(t *testing.T) {
	t.Parallel()
	p := newSpeaker()
	s := listen(t, HTTPOptions{Handler: Of(p)})
	session := s.open(mcp.Revision20250618)
	s.do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headerSession, session)
	p.awaitFilters(t, 1)
	st := s.follow(http.MethodGet, "", headerSession, session)
	p.say(mcp.NotificationToolsListChanged, nil)
	st.want("0-1", "tools/list_changed")
}

func TestHTTPAnswerComesOnTheStreamThatIsTakenUp(t *testing.T) {
	t.Parallel()
	gone, finish := make(chan struct{}), make(chan struct{})
	tool := Tool{Definition: mcp.Raw(`{"name":"t","inputSchema":{}}`), Call: func(ctx context.Context, c *Call) (mcp.Raw, error) {
		if err := c.Log(ctx, "info", "t", 1); err != nil {
			return nil, err
		}
		<-gone
		if err := c.Log(ctx, "info", "t", 2); err != nil {
			return nil, err
		}
		<-finish
		return Text("done"), nil
	}}
	s := listen(t, HTTPOptions{Handler: Of(newSpeaker(tool))})
	session := s.open(mcp.Revision20251125)
	lost := s.follow(http.MethodPost, callLine("9", "t", ""), headerSession, session)
	lost.want("1-0", "")
	lost.want("1-1", `"data":1`)
	lost.r.Body.Close()
	close(gone)
	again := s.follow(http.MethodGet, "", headerSession, session, headerLast, "1-1")
	again.want("1-1", "")
	again.want("1-2", `"data":2`)
	close(finish)
	again.want("1-3", `"id":9`)
	again.want("", "")
	// The same once more, for a client that lost the end.
	more := s.follow(http.MethodGet, "", headerSession, session, headerLast, "1-2")
	more.want("1-2", "")
	more.want("1-3", `"id":9`)
	more.want("", "")
}

func TestHTTPListenTellsUntilTheServerEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newSpeaker()
		h := NewHTTP(HTTPOptions{Handler: Of(p), Hosts: []string{"here"}})
		headers := []string{headerRevision, mcp.Revision20260728, headerMethod, mcp.MethodListen}
		if r := inside(h, http.MethodPost, listenLine("1", `{"toolsListChanged":true}`), append(headers, "Accept", "application/json")...); r.Code != http.StatusNotAcceptable {
			t.Errorf("without events: %d %s", r.Code, r.Body)
		}
		answered := make(chan string)
		go func() {
			answered <- inside(h, http.MethodPost, listenLine("1", `{"toolsListChanged":true}`), append(headers, "Accept", "text/event-stream")...).Body.String()
		}()
		synctest.Wait()
		p.say(mcp.NotificationToolsListChanged, nil)
		synctest.Wait()
		go h.Close()
		text := <-answered
		at := -1
		for _, part := range []string{"notifications/subscriptions/acknowledged", "notifications/tools/list_changed", `"id":1,"result":{"_meta":`} {
			if next := strings.Index(text, part); next <= at {
				t.Errorf("%s does not come in its place: %s", part, text)
			} else {
				at = next
			}
		}
		synctest.Wait()
		if list := p.filters(); len(list) != 0 {
			t.Errorf("listened to after the end: %q", list)
		}
	})
}

func TestHTTPModernCallIsParkedBetweenRequests(t *testing.T) {
	t.Parallel()
	s := listen(t, HTTPOptions{Handler: asking(2)})
	headers := []string{headerRevision, mcp.Revision20260728, headerMethod, mcp.MethodToolsCall, headerName, "t"}
	_, text := s.do(http.MethodPost, call(), headers...)
	for range 2 {
		m, err := mcp.Split([]byte(text))
		if err != nil || !strings.Contains(text, `"resultType":"input_required"`) {
			t.Fatalf("answered %s, %v", text, err)
		}
		state := `"requestState":` + string(mcp.Member(m.Result, "requestState"))
		if r, text := s.do(http.MethodPost, call(strings.Replace(state, "mcpx-parked.", "mcpx-parked.A", 1)), headers...); r.StatusCode != http.StatusBadRequest {
			t.Errorf("with another state: %s %s", r.Status, text)
		}
		var key string
		for k := range mcp.Members(mcp.Member(m.Result, "inputRequests")) {
			key = k
		}
		_, text = s.do(http.MethodPost, call(state, fmt.Sprintf(`"inputResponses":{%q:{"key":%q}}`, key, key)), headers...)
	}
	if !strings.Contains(text, `"text":"question-1 question-2"`) {
		t.Errorf("the call ended with %s", text)
	}
}

func TestHTTPParkedCallsEndWithTheServer(t *testing.T) {
	before := runtime.NumGoroutine()
	ended := make(chan error, 8)
	s := listen(t, HTTPOptions{Handler: handle(func(ctx context.Context, c Caller, _ *mcp.Message) (mcp.Raw, error) {
		_, err := c.Request(ctx, mcp.MethodElicitation, nil)
		ended <- err
		return nil, err
	})})
	headers := []string{headerRevision, mcp.Revision20260728, headerMethod, mcp.MethodToolsCall, headerName, "t"}
	for range 8 {
		if _, text := s.do(http.MethodPost, call(), headers...); !strings.Contains(text, "input_required") {
			t.Fatal(text)
		}
	}
	_ = s.ended()
	for range 8 {
		if err := <-ended; !errors.Is(err, errClosing) {
			t.Errorf("a call ended with %v", err)
		}
	}
	s.client.CloseIdleConnections()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

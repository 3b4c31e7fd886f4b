package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

// desk is a Service that answers a few questions and remembers who asked.
type desk struct {
	Service // what is not answered here panics

	call   func(ctx context.Context, in CallInput) (*CallOutput, error)
	events *Events
	follow error // what following ends with at once

	mu     sync.Mutex
	caller Caller
	search SearchInput
	types  TypesInput
}

func (d *desk) For(c Caller) Service {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.caller = c
	return d
}

func (d *desk) Search(_ context.Context, in SearchInput) (*SearchOutput, error) {
	d.search = in
	return &SearchOutput{Results: []SearchResult{{Namespace: "a", Name: "b", Score: 0.5, Signature: "b<T>()"}}}, nil
}

func (d *desk) Types(_ context.Context, in TypesInput) (*TypesOutput, error) {
	d.types = in
	return &TypesOutput{Declarations: "declare const a: <T>() => T;\n"}, nil
}

func (d *desk) Call(ctx context.Context, in CallInput) (*CallOutput, error) { return d.call(ctx, in) }

func (d *desk) Batch(ctx context.Context, in BatchInput) (*BatchOutput, error) {
	return RunBatch(ctx, d, in)
}

func (d *desk) Status(context.Context, StatusInput) (*StatusOutput, error) {
	return &StatusOutput{Instances: []Instance{{Server: "a", Era: "modern"}, {Server: "a", Era: "modern"}, {Server: "b"}}}, nil
}

func (d *desk) Events(ctx context.Context, in EventsInput, deliver func(Event) error) error {
	if d.follow != nil {
		return d.follow
	}
	return d.events.Follow(ctx, in.After, deliver)
}

// listen serves d, and returns where, and a client that asks for c.
func listen(t *testing.T, d *desk, c Caller) (string, *Remote) {
	t.Helper()
	return listenAs(t, d, c)
}

// listenTo serves h, whoever asks.
func listenTo(t *testing.T, h Host) (string, *Remote) {
	t.Helper()
	return listenAs(t, h, Caller{})
}

func listenAs(t *testing.T, h Host, c Caller) (string, *Remote) {
	t.Helper()
	s := httptest.NewServer(Handler(h, HandlerOptions{Version: "1"}))
	t.Cleanup(s.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return s.URL, NewRemote(client, s.URL, c)
}

func TestAQuestionArrivesWhole(t *testing.T) {
	t.Parallel()
	who := Caller{Dir: "/w <&>", Session: "s", Lasting: true, Pid: 7, Environ: []string{"A=ü", "B="}, Settings: map[string]string{"pool.callMax": "3s"}}
	d := &desk{}
	_, client := listen(t, d, who)
	in := SearchInput{Words: "a <b>", Namespace: "n", Limit: 3, Grant: &ToolGrant{Allow: []string{"*"}}}
	found, err := client.Search(t.Context(), in)
	if err != nil || found.Results[0].Signature != "b<T>()" || found.Results[0].Score != 0.5 {
		t.Errorf("search = %+v, %v", found, err)
	}
	if diff := cmp.Diff(in, d.search); diff != "" {
		t.Errorf("the input on its way: %s", diff)
	}
	if diff := cmp.Diff(who, d.caller); diff != "" {
		t.Errorf("the caller on its way: %s", diff)
	}
	types := TypesInput{Name: "a b&c=d", Globals: true}
	if _, err := client.Types(t.Context(), types); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(types, d.types); diff != "" {
		t.Errorf("an input in the query: %s", diff)
	}
	out, err := Protocol.Do(t.Context(), d, ProtocolInput{})
	if err != nil || len(out.Servers) != 1 || out.Servers[0] != (ProtocolServer{"a", "modern"}) || out.Revisions[0] != mcp.Revision20260728 {
		t.Errorf("protocol = %+v, %v", out, err)
	}
}

func TestAnErrorIsTheSameOnTheOtherSide(t *testing.T) {
	t.Parallel()
	originals := []error{
		fault.Usagef("bad").Hintf("do <this>").With("at", &fault.Position{File: "a", Line: 1, Column: 2, Text: "x"}).With("near", []string{"b"}),
		fault.New(fault.InputRequired, "what?").With("inputRequests", json.RawMessage(`{"b":1,"a":[2]}`)),
		fault.New(fault.Tool, "no").With("code", -32000).With("sessionLost", true),
		errors.New("plain"),
	}
	for _, kind := range fault.Kinds() {
		originals = append(originals, fault.New(kind, "of kind %s", kind))
	}
	for _, original := range originals {
		d := &desk{call: func(context.Context, CallInput) (*CallOutput, error) { return nil, original }}
		_, client := listen(t, d, Caller{})
		for _, peer := range []Peer{nil, &person{}} { // with one the answer is a stream
			_, err := client.Call(t.Context(), CallInput{Server: "a", Tool: "b", Peer: peer})
			got, ok := errors.AsType[*fault.Error](err)
			want := fault.From(original)
			if !ok || got.Kind != want.Kind || got.Message != want.Message || got.Hint != want.Hint {
				t.Errorf("%v became %#v", original, err)
				continue
			}
			if diff := cmp.Diff(want.Details, got.Details); diff != "" {
				t.Errorf("details of %v: %s", original, diff)
			}
		}
	}
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	url, _ := listen(t, &desk{}, Caller{})
	tests := []struct {
		name, method, path, caller, body string
		status                           int
		message                          string
	}{
		{"a route that is not there", "GET", "/v1/nothing", "", "", 404, "there is no operation GET /v1/nothing"},
		{"another method", "PUT", "/v1/call", "", "", 404, "there is no operation PUT /v1/call"},
		{"no JSON", "POST", "/v1/search", "", "{", 400, "the body of POST /v1/search: unexpected EOF"},
		{"an unknown member", "POST", "/v1/search", "", `{"words":"a","x":1}`, 400, `unknown field "x"`},
		{"two values", "POST", "/v1/search", "", `{"words":"a"}{}`, 400, "something stands behind"},
		{"a list", "POST", "/v1/search", "", `[]`, 400, "cannot unmarshal array"},
		{"nothing", "POST", "/v1/search", "", ``, 400, "words is missing"},
		{"out of bounds", "POST", "/v1/search", "", `{"words":"a","limit":-1}`, 400, "limit: \"-1\" is not a whole number of at least 1"},
		{"a query with a body", "POST", "/v1/search?words=a", "", `{}`, 400, "takes no query"},
		{"an unknown parameter", "GET", "/v1/types?nom=a", "", "", 400, `there is no parameter "nom"`},
		{"a parameter twice", "GET", "/v1/types?name=a&name=b", "", "", 400, "the parameter name is given more than once"},
		{"a switch that is none", "GET", "/v1/types?globals=perhaps", "", "", 400, `the parameter globals: "perhaps" is neither`},
		{"a query that is none", "GET", "/v1/types?a=%zz", "", "", 400, "the query is not one"},
		{"a caller that is not base64", "GET", "/v1/types", "%%%", "", 400, "is not base64"},
		{"a caller that is no JSON", "GET", "/v1/types", "YQ==", "", 400, "holds no caller"},
		{"a caller that is too long", "GET", "/v1/types", strings.Repeat("YWFh", 200_000), "", 400, "is longer than"},
		{"an answer to nobody", "POST", "/v1/call/x/answers", "", `{"ask":1,"result":{}}`, 404, "nothing is under way"},
		{"an answer that is none", "POST", "/v1/call/x/answers", "", `{"ask":1}`, 400, "a result, an error or a failure"},
		{"two answers", "POST", "/v1/call/x/answers", "", `{"ask":1,"result":1,"error":{"code":1,"message":""}}`, 400, "only one of them"},
	}
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	for _, tt := range tests {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, url+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		if tt.caller != "" {
			r.Header.Set(callerHeader, tt.caller)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got wireFailure
		err = json.NewDecoder(response.Body).Decode(&got)
		response.Body.Close()
		if err != nil || response.StatusCode != tt.status || got.Error == nil || !strings.Contains(got.Error.Message, tt.message) {
			t.Errorf("%s: status %d, %v, %v; want %d and %q", tt.name, response.StatusCode, got.Error, err, tt.status, tt.message)
		}
	}
}

// person is a Peer that answers every question with its own parameters.
type person struct {
	mu    sync.Mutex
	told  []string
	asked func(ctx context.Context) error // may be nil
}

func (p *person) Notify(method string, params json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, method+string(params))
}

func (p *person) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if p.asked != nil {
		if err := p.asked(ctx); err != nil {
			return nil, err
		}
	}
	return json.RawMessage(`{"method":"` + method + `","params":` + string(params) + `}`), nil
}

func (p *person) For(server string) Peer { return &spokesman{p, server} }

// spokesman is a person who is told which server speaks.
type spokesman struct {
	*person
	server string
}

func (s *spokesman) Notify(method string, params json.RawMessage) {
	s.person.Notify(s.server+" says "+method, params)
}

func (s *spokesman) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return s.person.Ask(ctx, s.server+" asks "+method, params)
}

func (p *person) TakesUnfinished() bool { return true }

func TestAPeerIsToldAndAskedOverTheWire(t *testing.T) {
	t.Parallel()
	d := &desk{}
	_, client := listen(t, d, Caller{})
	d.call = func(ctx context.Context, in CallInput) (*CallOutput, error) {
		if !in.Peer.TakesUnfinished() {
			return nil, errors.New("an unfinished result would not be taken")
		}
		named := in.Peer.(interface{ For(string) Peer }).For("files")
		if k := named.(interface{ Same() any }); k.Same() != any(in.Peer) {
			return nil, errors.New("the peer of a server is somebody else")
		}
		named.Notify("notifications/message", json.RawMessage(`{}`))
		if reply, err := named.Ask(ctx, "roots/list", json.RawMessage(`0`)); err != nil || string(reply) != `{"method":"files asks roots/list","params":0}` {
			return nil, errors.New("the reply to a server that is known is " + string(reply))
		}
		in.Peer.Notify("notifications/progress", json.RawMessage(`{"progress":1}`))
		// Several questions are open at a time.
		replies := make(chan string)
		for _, q := range []string{"1", "2", "3"} {
			go func() {
				reply, err := in.Peer.Ask(ctx, "roots/list", json.RawMessage(q))
				if err != nil {
					reply = json.RawMessage(err.Error())
				}
				replies <- string(reply)
			}()
		}
		for range 3 {
			if got := <-replies; !strings.HasPrefix(got, `{"method":"roots/list","params":`) {
				return nil, errors.New("the reply is " + got)
			}
		}
		return &CallOutput{Server: in.Server, Tool: in.Tool, Text: "<done>", IsText: true, Result: json.RawMessage(`{"a":1e400}`)}, nil
	}
	p := &person{}
	out, err := client.Call(t.Context(), CallInput{Server: "s", Tool: "t", Peer: p})
	if err != nil || out.Text != "<done>" || !out.IsText || string(out.Result) != `{"a":1e400}` {
		t.Fatalf("call = %+v, %v", out, err)
	}
	if len(p.told) != 2 || p.told[0] != `files says notifications/message{}` || p.told[1] != `notifications/progress{"progress":1}` {
		t.Errorf("the peer was told %q", p.told)
	}
}

func TestAPeerThatRefuses(t *testing.T) {
	t.Parallel()
	d := &desk{}
	_, client := listen(t, d, Caller{})
	var heard error
	d.call = func(ctx context.Context, in CallInput) (*CallOutput, error) {
		_, heard = in.Peer.Ask(ctx, "elicitation/create", json.RawMessage(`{}`))
		return &CallOutput{}, nil
	}
	refuses := func(why error) *person { return &person{asked: func(context.Context) error { return why }} }
	for _, why := range []error{errors.New("odd"), fault.Deniedf("never").Hintf("ask again")} {
		if _, err := client.Call(t.Context(), CallInput{Server: "s", Tool: "t", Peer: refuses(why)}); err != nil {
			t.Fatal(err)
		}
		got, ok := errors.AsType[*fault.Error](heard)
		if want := fault.From(why); !ok || got.Kind != want.Kind || got.Message != want.Message || got.Hint != want.Hint {
			t.Errorf("a peer that fails with %v was heard to fail with %v", why, heard)
		}
	}
	for _, tt := range []struct {
		says error
		code int
		data string
	}{
		{&mcp.Error{Code: -1, Message: "no", Data: json.RawMessage(`{"a":1}`)}, -1, `{"a":1}`},
	} {
		p := refuses(tt.says)
		if _, err := client.Call(t.Context(), CallInput{Server: "s", Tool: "t", Peer: p}); err != nil {
			t.Fatal(err)
		}
		refusal, ok := errors.AsType[*mcp.Error](heard)
		if !ok || refusal.Code != tt.code || refusal.Message != tt.says.Error() || string(refusal.Data) != tt.data {
			t.Errorf("a peer that says %v was heard to say %v", tt.says, heard)
		}
	}
}

func TestAQuestionThatIsWithdrawnEndsOnTheOtherSide(t *testing.T) {
	t.Parallel()
	d := &desk{}
	_, client := listen(t, d, Caller{})
	open, ended := make(chan struct{}), make(chan struct{})
	d.call = func(ctx context.Context, in CallInput) (*CallOutput, error) {
		one, cancel := context.WithCancel(ctx)
		go func() {
			<-open
			cancel()
		}()
		_, err := in.Peer.Ask(one, "roots/list", json.RawMessage(`{}`))
		if !errors.Is(err, context.Canceled) {
			return nil, errors.New("the question was not withdrawn")
		}
		<-ended
		return &CallOutput{}, nil
	}
	p := &person{asked: func(ctx context.Context) error {
		close(open)
		<-ctx.Done()
		close(ended)
		return ctx.Err()
	}}
	if _, err := client.Call(t.Context(), CallInput{Server: "s", Tool: "t", Peer: p}); err != nil {
		t.Error(err)
	}
}

func TestACallEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	for name, peer := range map[string]Peer{"plain": nil, "stream": &person{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &desk{}
			_, client := listen(t, d, Caller{})
			begun, over := make(chan struct{}), make(chan struct{})
			d.call = func(ctx context.Context, _ CallInput) (*CallOutput, error) {
				close(begun)
				<-ctx.Done()
				close(over)
				return nil, ctx.Err()
			}
			gone := errors.New("the user has left")
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				<-begun
				cancel(gone)
			}()
			if _, err := client.Call(ctx, CallInput{Server: "s", Tool: "t", Peer: peer}); !errors.Is(err, gone) {
				t.Errorf("the call returned %v, want %v", err, gone)
			}
			<-over
		})
	}
}

func TestADaemonThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	client := NewRemote(s.Client(), s.URL, Caller{})
	_, err := client.Status(t.Context(), StatusInput{})
	if fault.KindOf(err) != fault.Unavailable || errors.Is(err, ErrUnreached) {
		t.Errorf("what is no daemon: %v", err)
	}
	s.Close()
	if _, err := client.Status(t.Context(), StatusInput{}); fault.KindOf(err) != fault.Unavailable || !errors.Is(err, ErrUnreached) {
		t.Errorf("nobody: %v", err)
	}
	broken := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer broken.Close()
	client = NewRemote(broken.Client(), broken.URL, Caller{})
	_, err = client.Call(t.Context(), CallInput{Server: "a", Tool: "b"})
	if e := fault.From(err); e.Kind != fault.Unavailable || e.Details["mayHaveRun"] != true {
		t.Errorf("one that ends during a call: %v %v", err, e.Details)
	}
	_, err = client.Status(t.Context(), StatusInput{})
	if e := fault.From(err); e.Kind != fault.Unavailable || e.Details["mayHaveRun"] != nil {
		t.Errorf("one that ends during a look: %v %v", err, e.Details)
	}
	client = NewRemote(broken.Client(), broken.URL, Caller{Environ: []string{strings.Repeat("x", maxCaller)}})
	if _, err := client.Status(t.Context(), StatusInput{}); fault.KindOf(err) != fault.Limit {
		t.Errorf("an environment that is too large: %v", err)
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	d := &desk{call: func(_ context.Context, in CallInput) (*CallOutput, error) {
		if in.Tool == "bad" {
			return nil, fault.Deniedf("no")
		}
		return &CallOutput{Tool: in.Tool, IsError: in.Tool == "sad"}, nil
	}}
	_, client := listen(t, d, Caller{})
	calls := []CallInput{{Server: "s", Tool: "a"}, {Server: "s", Tool: "bad"}, {Server: "s", Tool: "sad"}, {Server: "s", Tool: "z"}}
	for _, concurrent := range []int{0, 3} {
		out, err := client.Batch(t.Context(), BatchInput{Calls: calls, Concurrent: concurrent})
		if err != nil {
			t.Fatal(err)
		}
		if out.Failed != 2 || out.Results[0].Output.Tool != "a" || out.Results[1].Error.Kind != fault.Denied || !out.Results[2].Output.IsError || out.Results[3].Output.Tool != "z" {
			t.Errorf("batch = %+v", out)
		}
	}
	out, err := client.Batch(t.Context(), BatchInput{Calls: calls, Stop: true})
	if err != nil || out.Failed != 1 || !out.Results[2].Skipped || !out.Results[3].Skipped || out.Results[1].Skipped {
		t.Errorf("a batch that stops = %+v, %v", out, err)
	}
	if _, err := RunBatch(t.Context(), d, BatchInput{Calls: make([]CallInput, maxBatch+1)}); fault.KindOf(err) != fault.Limit {
		t.Errorf("a batch that is too large: %v", err)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	hub := &Events{epoch: "e", keep: 3, changed: make(chan struct{})}
	d := &desk{events: hub}
	_, client := listen(t, d, Caller{})
	enough := errors.New("enough")
	follow := func(after string, n int) (got []Event) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := client.Events(ctx, EventsInput{After: after}, func(e Event) error {
			if got = append(got, e); len(got) == n {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) {
			t.Fatalf("following from %q ended with %v", after, err)
		}
		return got
	}
	for _, kind := range []string{"a", "b", "c"} {
		hub.Publish(kind, map[string]string{"x": "<" + kind + ">"})
	}
	got := follow("e-1", 2)
	if got[0].ID != "e-2" || got[0].Kind != "b" || string(got[0].Data) != `{"x":"<b>"}` || got[1].ID != "e-3" {
		t.Errorf("events behind the first: %+v", got)
	}
	hub.Publish("d", nil)
	hub.Publish("e", nil)
	if got = follow("e-0", 4); got[0].Kind != "lost" || got[0].ID != "e-2" || string(got[0].Data) != `{"count":2}` || got[1].ID != "e-3" || got[3].Kind != "e" {
		t.Errorf("events that were missed: %+v", got)
	}
	if got = follow("other-1", 4); got[0].Kind != "lost" || got[0].Data != nil || got[1].ID != "e-3" {
		t.Errorf("events behind one of another daemon: %+v", got)
	}
	// Without a beginning there are only those to come.
	seen := make(chan string)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- client.Events(ctx, EventsInput{}, func(e Event) error { seen <- e.Kind; return nil })
	}()
	for kind := ""; kind == ""; {
		hub.Publish("new", nil)
		select {
		case kind = <-seen:
			if kind != "new" {
				t.Errorf("the first event is %q", kind)
			}
		case <-time.After(10 * time.Millisecond): // it does not follow yet
		}
	}
	cancel()
	for {
		select {
		case <-seen:
			continue
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("following ended with %v", err)
			}
		}
		break
	}
	silent := &desk{}
	url, _ := listen(t, silent, Caller{})
	silent.follow = fault.Unavailablef("nothing happens here")
	quiet := NewRemote(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, url, Caller{})
	if err := quiet.Events(t.Context(), EventsInput{}, nil); fault.KindOf(err) != fault.Unavailable || err.Error() != "nothing happens here" {
		t.Errorf("following what does not happen ended with %v", err)
	}
	var none *Events
	none.Publish("x", nil) // nobody follows
}

// A stranger is answered at once, and cannot hold a connection by sending a body slowly.
func TestAStrangerHoldsNoConnection(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(Access{Token: "secret"}.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body)
	})))
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /v1/call HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n\r\n{", s.Listener.Addr())
	said, err := io.ReadAll(conn) // until the server has closed it
	if err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 401") {
		t.Errorf("the answer is %q, %v", said, err)
	}
}

func TestAccess(t *testing.T) {
	t.Parallel()
	a := Access{Token: "secret", Hosts: []string{"box.example", "proxy.example:8443"}, Origins: []string{"https://console.example"}}
	s := httptest.NewServer(a.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "in") })))
	defer s.Close()
	at := s.Listener.Addr().String()
	_, port, _ := strings.Cut(at, ":")
	tests := []struct {
		name, host, origin, authorization string
		status                            int
	}{
		{"the user", at, "", "Bearer secret", 200},
		{"another case of the scheme", at, "", "bearer secret", 200},
		{"localhost", "localhost:" + port, "", "Bearer secret", 200},
		{"a name of its own", "box.example:" + port, "", "Bearer secret", 200},
		{"behind a proxy", "proxy.example:8443", "", "Bearer secret", 200},
		{"a page that is allowed", at, "https://console.example", "Bearer secret", 200},
		{"a page of its own", at, "http://" + at, "Bearer secret", 200},
		{"no token", at, "", "", 401},
		{"another token", at, "", "Bearer secre", 401},
		{"another scheme", at, "", "Basic secret", 401},
		{"a page that is not allowed", at, "https://evil.example", "Bearer secret", 403},
		{"a page without an address", at, "null", "Bearer secret", 403},
		{"a page of another port", at, "http://127.0.0.1:1", "Bearer secret", 403},
		{"a name that leads here", "evil.example:" + port, "", "Bearer secret", 403},
		{"a name that leads here without a port", "evil.example", "", "Bearer secret", 403},
		{"another address", "127.0.0.2:" + port, "", "Bearer secret", 403},
		{"another port", "127.0.0.1:1", "", "Bearer secret", 403},
	}
	for _, tt := range tests {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = tt.host
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		if tt.authorization != "" {
			r.Header.Set("Authorization", tt.authorization)
		}
		response, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != tt.status {
			t.Errorf("%s: status %d, want %d", tt.name, response.StatusCode, tt.status)
		}
	}
	nobody := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.Header.Set("Authorization", "Bearer ")
	Access{}.Guard(http.NotFoundHandler()).ServeHTTP(nobody, r)
	if nobody.Code == http.StatusNotFound {
		t.Error("without a token everybody is let in")
	}
}

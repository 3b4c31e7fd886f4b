package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/mcp"
)

// site is a front that listens, and a client of it.
type site struct {
	t       *testing.T
	url     string
	entered chan string
	client  *http.Client
	stop    context.CancelFunc
	over    chan error
}

func listen(t *testing.T, o HTTPOptions) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, url: "http://" + l.Addr().String() + Path, entered: make(chan string, 64), over: make(chan error, 1)}
	if o.Handler == nil {
		o.Handler = testServer(s.entered)
	}
	transport := &http.Transport{}
	s.client = &http.Client{Transport: transport, Timeout: time.Minute}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() { s.over <- ServeHTTP(ctx, l, o) }()
	t.Cleanup(func() {
		stop()
		<-s.over
		transport.CloseIdleConnections()
	})
	return s
}

// ended ends the front and says how that went.
func (s *site) ended() error {
	s.stop()
	err := <-s.over
	s.over <- err
	return err
}

// headers are pairs of a name and a value. A name of Host sets the host.
func (s *site) request(method, body string, headers ...string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	for i := 0; i < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			r.Host = headers[i+1]
		case headers[i+1] == "":
			r.Header.Del(headers[i])
		default:
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return r
}

// answer is a response that has been read.
type answer struct {
	StatusCode int
	Status     string
	Header     http.Header
}

func (s *site) do(method, body string, headers ...string) (answer, string) {
	s.t.Helper()
	r, err := s.client.Do(s.request(method, body, headers...))
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{r.StatusCode, r.Status, r.Header}, string(text)
}

const opening = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}}`

// open opens a session and returns its id.
func (s *site) open(revision string) string {
	s.t.Helper()
	r, text := s.do(http.MethodPost, strings.Replace(opening, "2025-11-25", revision, 1))
	id := r.Header.Get(headerSession)
	if r.StatusCode != http.StatusOK || id == "" || !strings.Contains(text, revision) {
		s.t.Fatalf("initialize: %s, session %q: %s", r.Status, id, text)
	}
	return id
}

func modernCall(id, method, params string) (body string) {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + modernMeta + `}}`
}

func TestHTTPAnswersInBothEras(t *testing.T) {
	t.Parallel()
	s := listen(t, HTTPOptions{})
	session := s.open(mcp.Revision20251125)
	batching := s.open(mcp.Revision20250326)
	const modern = mcp.Revision20260728
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, tt := range []struct {
		name    string
		method  string
		body    string
		headers []string
		status  int
		want    string
	}{
		{"a legacy request", "POST", ping, []string{headerSession, session}, 200, `"result":{}`},
		{"a legacy request that names its revision", "POST", ping, []string{headerSession, session, headerRevision, mcp.Revision20251125}, 200, `"result":{}`},
		{"a legacy notification", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, []string{headerSession, session}, 202, ``},
		{"a legacy error", "POST", `{"jsonrpc":"2.0","id":1,"method":"nope"}`, []string{headerSession, session}, 200, `-32601`},
		{"no session", "POST", list, nil, 400, `Mcp-Session-Id is missing`},
		{"a session that is none", "POST", list, []string{headerSession, "X"}, 404, `there is no such session`},
		{"a revision that is none", "POST", list, []string{headerSession, session, headerRevision, "1999-01-01"}, 400, `"supported":["2026-07-28"]`},
		{"not JSON", "POST", `{"jsonrpc"`, []string{headerSession, session}, 400, `-32700`},
		{"no message", "POST", `{"a":1}`, []string{headerSession, session}, 400, `-32600`},
		{"an id that is a list", "POST", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, []string{headerSession, session}, 200, `"id":null,"error":{"code":-32600`},
		{"an empty body", "POST", ``, []string{headerSession, session}, 400, `-32700`},
		{"a batch of a revision with batches", "POST", "[" + ping + `,{"jsonrpc":"2.0","method":"x"}]`, []string{headerSession, batching}, 200, `[{"jsonrpc":"2.0","id":1,"result":{}}]`},
		{"a batch with what is no message", "POST", "[" + ping + `,1,{"id":"q","method":"ping"}]`, []string{headerSession, batching}, 200, `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC message"}},{"jsonrpc":"2.0","id":"q","error":{"code":-32600,"message":"not a JSON-RPC message"}},{"jsonrpc":"2.0","id":1,"result":{}}]`},
		{"a batch of notifications, with what is no message", "POST", `[{"jsonrpc":"2.0","method":"x"},{"id":[]}]`, []string{headerSession, batching}, 200, `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600`},
		{"a request that does not say jsonrpc", "POST", `{"id":5,"method":"ping"}`, []string{headerSession, session}, 400, `{"jsonrpc":"2.0","id":5,"error":{"code":-32600`},
		{"a batch of notifications", "POST", `[{"jsonrpc":"2.0","method":"x"}]`, []string{headerSession, batching}, 202, ``},
		{"a batch of a revision without", "POST", "[" + ping + "]", []string{headerSession, session}, 400, `has no batches`},
		{"initialize in a batch", "POST", "[" + opening + "]", nil, 400, `comes alone`},
		{"a batch without end", "POST", "[" + strings.Repeat(ping+",", maxBatch) + ping + "]", []string{headerSession, batching}, 400, `at most 100`},
		{"an answer to nothing", "POST", `{"jsonrpc":"2.0","id":9,"result":{}}`, []string{headerSession, session}, 202, ``},
		{"only JSON", "POST", callLine("1", "log", `,"_meta":{"progressToken":1}`), []string{headerSession, session, "Accept", "application/json"}, 200, `"text":"logged"`},
		{"only events", "POST", ping, []string{headerSession, batching, "Accept", "text/event-stream"}, 200, "event: message\nid: 1-1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"},
		{"a batch with what is no message, as events", "POST", "[" + ping + `,{}]`, []string{headerSession, batching, "Accept", "text/event-stream"}, 200, `data: {"jsonrpc":"2.0","id":null,"error":{"code":-32600`},
		{"neither", "POST", ping, []string{headerSession, session, "Accept", "text/html"}, 406, `Accept takes neither`},
		{"JSON of no weight", "POST", ping, []string{headerSession, session, "Accept", "application/json;q=0"}, 406, `Accept takes neither`},
		{"anything", "POST", ping, []string{headerSession, session, "Accept", "*/*"}, 200, `"result":{}`},
		{"no word about it", "POST", ping, []string{headerSession, session, "Accept", ""}, 200, `"result":{}`},
		{"a form", "POST", ping, []string{headerSession, session, "Content-Type", "text/plain"}, 415, `must be application/json`},
		{"a compressed body", "POST", ping, []string{headerSession, session, "Content-Encoding", "gzip"}, 415, `"gzip\" is not read`},

		{"discover", "POST", modernCall("1", "server/discover", ""), []string{headerRevision, modern, headerMethod, "server/discover"}, 200, `"supportedVersions":["2026-07-28"]`},
		{"a modern call", "POST", modernCall("1", "tools/call", `"name":"echo"`), []string{headerRevision, modern, headerMethod, "tools/call", headerName, "echo"}, 200, `"resultType":"complete"`},
		{"a modern call with a name that headers cannot hold", "POST", modernCall("1", "tools/call", `"name":"écho"`), []string{headerRevision, modern, headerMethod, "tools/call", headerName, "=?base64?w6ljaG8=?="}, 400, `unknown tool: écho`},
		{"a name that is no base64", "POST", modernCall("1", "tools/call", `"name":"echo"`), []string{headerRevision, modern, headerMethod, "tools/call", headerName, "=?base64?!?="}, 400, `-32020`},
		{"another name", "POST", modernCall("1", "tools/call", `"name":"echo"`), []string{headerRevision, modern, headerMethod, "tools/call", headerName, "fail"}, 400, `-32020`},
		{"no name", "POST", modernCall("1", "tools/call", `"name":"echo"`), []string{headerRevision, modern, headerMethod, "tools/call"}, 400, `-32020`},
		{"a task by another name", "POST", modernCall("1", "tasks/get", `"taskId":"a"`), []string{headerRevision, modern, headerMethod, "tasks/get", headerName, "b"}, 400, `-32020`},
		{"a task by its name, where there are none", "POST", modernCall("1", "tasks/cancel", `"taskId":"a"`), []string{headerRevision, modern, headerMethod, "tasks/cancel", headerName, "a"}, 404, `method not found: tasks/cancel`},
		{"a task without its name, where there are none", "POST", modernCall("1", "tasks/update", `"taskId":"a"`), []string{headerRevision, modern, headerMethod, "tasks/update"}, 404, `method not found: tasks/update`},
		{"another method", "POST", modernCall("1", "tools/list", ""), []string{headerRevision, modern, headerMethod, "TOOLS/LIST"}, 400, `-32020`},
		{"a modern id that is a list", "POST", modernCall("[1]", "tools/list", ""), []string{headerRevision, modern, headerMethod, "tools/list"}, 400, `"id":null,"error":{"code":-32600`},
		{"no method", "POST", modernCall("1", "tools/list", ""), []string{headerRevision, modern}, 400, `-32020`},
		{"no header of the revision", "POST", modernCall("1", "tools/list", ""), []string{headerMethod, "tools/list"}, 400, `-32020`},
		{"another revision", "POST", modernCall("1", "tools/list", ""), []string{headerRevision, mcp.Revision20251125, headerMethod, "tools/list"}, 400, `-32020`},
		{"a revision to come", "POST", strings.ReplaceAll(modernCall("7", "tools/list", ""), modern, "2030-01-01"), []string{headerRevision, "2030-01-01", headerMethod, "tools/list"}, 400, `"id":7,"error":{"code":-32022`},
		{"no _meta", "POST", list, []string{headerRevision, modern, headerMethod, "tools/list"}, 400, `-32602`},
		{"no capabilities", "POST", strings.Replace(modernCall("1", "tools/list", ""), "clientCapabilities", "x", 1), []string{headerRevision, modern, headerMethod, "tools/list"}, 400, `-32602`},
		{"a modern method that is none", "POST", modernCall("1", "ping", ""), []string{headerRevision, modern, headerMethod, "ping"}, 404, `-32601`},
		{"listen, with nothing to hear", "POST", modernCall("1", "subscriptions/listen", ""), []string{headerRevision, modern, headerMethod, "subscriptions/listen"}, 404, `-32601`},
		{"a modern notification", "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, []string{headerRevision, modern}, 202, ``},
		{"a modern batch", "POST", "[" + modernCall("1", "tools/list", "") + "]", []string{headerRevision, modern}, 400, `has no batches`},
		{"a modern answer", "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, []string{headerRevision, modern}, 400, `do not answer`},
		{"a modern log", "POST", modernCall("1", "tools/call", `"name":"log"`), []string{headerRevision, modern, headerMethod, "tools/call", headerName, "log"}, 200, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"logged","type":"text"}],"resultType":"complete"}}`},

		{"modern GET", "GET", "", []string{headerRevision, modern, "Accept", "text/event-stream", headerSession, session}, 405, `not served`},
		{"modern DELETE", "DELETE", "", []string{headerRevision, modern, headerSession, session}, 405, `not served`},
		{"GET without a session", "GET", "", []string{"Accept", "text/event-stream"}, 405, `not served`},
		{"GET of no session", "GET", "", []string{"Accept", "text/event-stream", headerSession, "X"}, 404, `no such session`},
		{"GET of JSON", "GET", "", []string{headerSession, session}, 406, `Accept does not take it`},
		{"OPTIONS", "OPTIONS", "", []string{headerSession, session}, 405, `not served`},
		{"PUT", "PUT", ping, []string{headerSession, session}, 405, `not served`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := *s
			s.t = t
			r, text := s.do(tt.method, tt.body, tt.headers...)
			if r.StatusCode != tt.status || !strings.Contains(text, tt.want) || tt.want == "" && text != "" {
				t.Errorf("%s %s: %s\n%s\nwant %d with %s", tt.method, tt.body, r.Status, text, tt.status, tt.want)
			}
			if r.StatusCode == http.StatusMethodNotAllowed && r.Header.Get("Allow") != "POST" {
				t.Errorf("Allow: %q", r.Header.Get("Allow"))
			}
		})
	}
}

func TestHTTPRefusesWhoIsNotMeant(t *testing.T) {
	t.Parallel()
	const token = "abcdefghijklmnop"
	s := listen(t, HTTPOptions{Token: token, Hosts: []string{"mcp.example"}})
	at := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), Path)
	_, port, _ := net.SplitHostPort(at)
	for _, tt := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"the token", nil, 200},
		{"the token, scheme in small letters", []string{"Authorization", "bearer " + token}, 200},
		{"no token", []string{"Authorization", ""}, 401},
		{"another token", []string{"Authorization", "Bearer " + token + "x"}, 401},
		{"no scheme", []string{"Authorization", token}, 401},
		{"another scheme", []string{"Authorization", "Basic " + token}, 401},
		{"localhost", []string{"Host", "localhost:" + port}, 200},
		{"another loopback address", []string{"Host", "[::1]:" + port}, 200},
		{"a name that was given", []string{"Host", "MCP.example"}, 200},
		{"a name that was given, on another port", []string{"Host", "mcp.example:1"}, 200},
		{"a name that leads here", []string{"Host", "evil.example:" + port}, 403},
		{"a name that ends like one", []string{"Host", "evil.mcp.example:" + port}, 403},
		{"a name that begins like localhost", []string{"Host", "localhost.evil.example:" + port}, 403},
		{"no port", []string{"Host", "localhost"}, 403},
		{"another port", []string{"Host", "localhost:1"}, 403},
		{"no address", []string{"Host", "0.0.0.0:" + port}, 403},
		{"another address", []string{"Host", "192.0.2.1:" + port}, 403},
		{"its own page", []string{"Origin", "http://" + at}, 200},
		{"a page of a name that was given", []string{"Origin", "https://mcp.example"}, 200},
		{"a foreign page", []string{"Origin", "http://evil.example"}, 403},
		{"a page of this machine, on another port", []string{"Origin", "http://localhost:1"}, 403},
		{"a page of nowhere", []string{"Origin", "null"}, 403},
		{"a page of a file", []string{"Origin", "file://"}, 403},
		{"an origin that is none", []string{"Origin", "::"}, 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := *s
			s.t = t
			r, text := s.do(http.MethodPost, opening, append([]string{"Authorization", "Bearer " + token}, tt.headers...)...)
			if r.StatusCode != tt.status {
				t.Errorf("%s: %s, want %d", r.Status, text, tt.status)
			}
			if (r.Header.Get("Www-Authenticate") != "") != (tt.status == 401) {
				t.Errorf("WWW-Authenticate: %q", r.Header.Get("Www-Authenticate"))
			}
			if r.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("a page is told that it may read the answer")
			}
		})
	}
	r, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(s.url, Path)+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("/: %s, want 404", answer.Status)
	}
}

func TestHTTPRefusesLongBodies(t *testing.T) {
	t.Parallel()
	s := listen(t, HTTPOptions{})
	session := s.open(mcp.Revision20250326)
	for _, tt := range []struct {
		name string
		body io.Reader
	}{
		{"with a length", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping","params":"` + strings.Repeat("x", maxBody) + `"}`)},
		{"without end", io.MultiReader(strings.NewReader(`{"x":"`), &endless{})},
		{"a long batch", strings.NewReader("[" + strings.Repeat(" ", maxBatchBody) + "]")},
	} {
		r := s.request(http.MethodPost, "", headerSession, session)
		r.ContentLength = -1
		r.Body = io.NopCloser(tt.body)
		answer, err := s.client.Do(r)
		if err != nil {
			continue // the server has closed the connection before all was sent
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %s, want 413", tt.name, answer.Status)
		}
	}
	if _, text := s.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, headerSession, session); !strings.Contains(text, "result") {
		t.Errorf("the session does not answer any more: %s", text)
	}
}

type endless struct{}

func (*endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// events reads the messages of a stream of events.
func events(t *testing.T, body io.Reader) func() string {
	r := bufio.NewReader(body)
	return func() string {
		t.Helper()
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return err.Error()
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				return strings.TrimSpace(data)
			}
		}
	}
}

func TestHTTPStreamsWhatBelongsToACall(t *testing.T) {
	t.Parallel()
	s := listen(t, HTTPOptions{})
	session := s.open(mcp.Revision20251125)
	r, err := s.client.Do(s.request(http.MethodPost, callLine("1", "log", `,"_meta":{"progressToken":7}`), headerSession, session))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if got := r.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type: %q", got)
	}
	next := events(t, r.Body)
	for _, want := range []string{`"data":"debug"`, `"data":"warning"`, `"progressToken":7`, `"id":1,"result"`, "EOF"} {
		if got := next(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}

func TestHTTPAsksTheClient(t *testing.T) {
	t.Parallel()
	s := listen(t, HTTPOptions{})
	reply := func(session, question string) {
		t.Helper()
		if !strings.Contains(question, `"method":"roots/list"`) {
			t.Errorf("asked %s", question)
		}
		body := `{"jsonrpc":"2.0","id":` + string(mcp.Member(mcp.Raw(question), "id")) + `,"result":{"roots":[]}}`
		if r, text := s.do(http.MethodPost, body, headerSession, session); r.StatusCode != http.StatusAccepted || text != "" {
			t.Errorf("the answer: %s %s", r.Status, text)
		}
	}
	t.Run("in the answer to its call", func(t *testing.T) {
		session := s.open(mcp.Revision20251125)
		r, err := s.client.Do(s.request(http.MethodPost, callLine("1", "ask", ``), headerSession, session))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		next := events(t, r.Body)
		reply(session, next())
		if got := next(); !strings.Contains(got, `{\"roots\":[]}`) {
			t.Errorf("the result: %s", got)
		}
	})
	t.Run("on its stream, if it takes only JSON", func(t *testing.T) {
		session := s.open(mcp.Revision20251125)
		if _, text := s.do(http.MethodPost, callLine("1", "ask", ``), headerSession, session, "Accept", "application/json"); !strings.Contains(text, "the client cannot be asked") {
			t.Errorf("without a stream: %s", text)
		}
		stream, err := s.client.Do(s.request(http.MethodGet, "", headerSession, session, "Accept", "text/event-stream"))
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Body.Close()
		result := make(chan string, 1)
		go func() {
			r, err := s.client.Do(s.request(http.MethodPost, callLine("2", "ask", ``), headerSession, session, "Accept", "application/json"))
			if err != nil {
				result <- err.Error()
				return
			}
			defer r.Body.Close()
			text, _ := io.ReadAll(r.Body)
			result <- string(text)
		}()
		reply(session, events(t, stream.Body)())
		if got := <-result; !strings.Contains(got, `{\"roots\":[]}`) {
			t.Errorf("the result: %s", got)
		}
	})
}

func TestHTTPCallOfAModernClientEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	s := listen(t, HTTPOptions{})
	ctx, leave := context.WithCancel(context.Background())
	r := s.request(http.MethodPost, modernCall("1", "tools/call", `"name":"wait"`),
		headerRevision, mcp.Revision20260728, headerMethod, "tools/call", headerName, "wait").WithContext(ctx)
	go func() {
		if answer, err := s.client.Do(r); err == nil {
			answer.Body.Close()
		}
	}()
	<-s.entered
	leave()
	<-s.entered // it was cancelled, or this waits for ever
}

func TestHTTPCallOfALegacyClientSurvivesItsConnection(t *testing.T) {
	t.Parallel()
	s := listen(t, HTTPOptions{})
	session := s.open(mcp.Revision20251125)
	ctx, leave := context.WithCancel(context.Background())
	r := s.request(http.MethodPost, callLine("5", "wait", ``), headerSession, session).WithContext(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if answer, err := s.client.Do(r); err == nil {
			answer.Body.Close()
		}
	}()
	<-s.entered
	leave()
	<-gone
	if _, text := s.do(http.MethodPost, callLine("5", "echo", ``), headerSession, session); !strings.Contains(text, "a request with the id 5 is being served") {
		t.Errorf("the call is over: %s", text)
	}
	s.do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`, headerSession, session)
	if got, want := <-s.entered, "cancelled by the client"; got != want {
		t.Errorf("the call ended because %q, want %q", got, want)
	}
}

func TestHTTPCancelledRequestHasNoAnswer(t *testing.T) {
	t.Parallel()
	s := listen(t, HTTPOptions{})
	session := s.open(mcp.Revision20251125)
	status := make(chan string, 1)
	go func() {
		r, err := s.client.Do(s.request(http.MethodPost, callLine("5", "wait", ``), headerSession, session))
		if err != nil {
			status <- err.Error()
			return
		}
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		status <- r.Status + string(text)
	}()
	<-s.entered
	s.do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`, headerSession, session)
	if got, want := <-status, "202 Accepted"; got != want {
		t.Errorf("the request was answered with %s, want %s", got, want)
	}
}

func TestHTTPSessionIsOverAfterDelete(t *testing.T) {
	t.Parallel()
	s := listen(t, HTTPOptions{})
	session, other := s.open(mcp.Revision20251125), s.open(mcp.Revision20250618)
	stream, err := s.client.Do(s.request(http.MethodGet, "", headerSession, session, "Accept", "text/event-stream"))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	over := make(chan string, 1)
	go func() {
		r, err := s.client.Do(s.request(http.MethodPost, callLine("5", "wait", ``), headerSession, session))
		if err != nil {
			over <- err.Error()
			return
		}
		r.Body.Close()
		over <- r.Status
	}()
	<-s.entered
	if r, _ := s.do(http.MethodDelete, "", headerSession, session); r.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE: %s", r.Status)
	}
	if got, want := <-s.entered, "the client is gone"; got != want {
		t.Errorf("its call ended because %q, want %q", got, want)
	}
	if got := <-over; !strings.HasPrefix(got, "503") {
		t.Errorf("its call was answered with %s, want 503", got)
	}
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("its stream ended with %v", err)
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		if r, _ := s.do(method, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, headerSession, session); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s after DELETE: %s, want 404", method, r.Status)
		}
	}
	if r, _ := s.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, headerSession, other); r.StatusCode != http.StatusOK {
		t.Errorf("another session after DELETE: %s", r.Status)
	}
}

func TestHTTPNewStreamTakesThePlaceOfTheOld(t *testing.T) {
	t.Parallel()
	s := listen(t, HTTPOptions{})
	session := s.open(mcp.Revision20251125)
	first, err := s.client.Do(s.request(http.MethodGet, "", headerSession, session, "Accept", "text/event-stream"))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Body.Close()
	second, err := s.client.Do(s.request(http.MethodGet, "", headerSession, session, "Accept", "text/event-stream"))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Body.Close()
	if _, err := io.ReadAll(first.Body); err != nil {
		t.Errorf("the first stream ended with %v", err)
	}
}

// inside serves a request without a network.
func inside(h *HTTP, method, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://here"+Path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestHTTPSessionsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHTTP(HTTPOptions{Handler: testServer(make(chan string, 8)), Hosts: []string{"here"}})
		defer h.Close()
		h.sessionsN = 3
		var ids []string
		open := func() *httptest.ResponseRecorder { return inside(h, http.MethodPost, opening) }
		ping := func(id string) int {
			return inside(h, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, headerSession, id).Code
		}
		for range 4 {
			ids = append(ids, open().Header().Get(headerSession))
			time.Sleep(time.Second)
		}
		if ping(ids[0]) != http.StatusNotFound || ping(ids[1]) != http.StatusOK {
			t.Error("the session that was used least lately did not make room")
		}
		time.Sleep(idleSession + time.Minute)
		if got := ping(ids[3]); got != http.StatusNotFound {
			t.Errorf("a session that nothing happened in for an hour: %d, want 404", got)
		}

		ids = ids[:0]
		ctx, leave := context.WithCancel(context.Background())
		for i := range 3 {
			id := open().Header().Get(headerSession)
			ids = append(ids, id)
			if len(h.sessions) != i+1 { // those that are over do not take up room
				t.Errorf("%d sessions are kept, want %d", len(h.sessions), i+1)
			}
			r := httptest.NewRequest(http.MethodGet, "http://here"+Path, nil).WithContext(ctx)
			r.Header.Set(headerSession, id)
			r.Header.Set("Accept", "text/event-stream")
			go h.ServeHTTP(httptest.NewRecorder(), r)
		}
		synctest.Wait()
		time.Sleep(idleSession + time.Minute)
		if full := open(); full.Code != http.StatusServiceUnavailable || full.Header().Get("Retry-After") == "" || full.Header().Get(headerSession) != "" {
			t.Errorf("a session too many: %d %s", full.Code, full.Body)
		}
		for _, id := range ids {
			if got := ping(id); got != http.StatusOK {
				t.Errorf("a session with a stream: %d, want 200", got)
			}
		}
		leave()
		synctest.Wait()
	})
}

func TestHTTPLongAnswersShowSignsOfLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		entered := make(chan string, 8)
		h := NewHTTP(HTTPOptions{Handler: testServer(entered), Hosts: []string{"here"}})
		for accept, want := range map[string]string{
			"application/json, text/event-stream": "id: 1-0\nretry: 1000\ndata:\n\n: still here\n\n: still here\n\n",
			"application/json":                    `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the request was ended: the client is gone"}}`,
		} {
			id := inside(h, http.MethodPost, opening).Header().Get(headerSession)
			answer := make(chan *httptest.ResponseRecorder)
			go func() {
				answer <- inside(h, http.MethodPost, callLine("1", "wait", ""), headerSession, id, "Accept", accept)
			}()
			<-entered
			time.Sleep(2*keepAlive + time.Second)
			inside(h, http.MethodDelete, "", headerSession, id)
			if got := (<-answer).Body.String(); got != want {
				t.Errorf("%s: %q, want %q", accept, got, want)
			}
			<-entered
		}
		h.Close()
	})
}

func TestHTTPRequestsAreBounded(t *testing.T) {
	t.Parallel()
	entered := make(chan string, 2*maxPending+2)
	h := NewHTTP(HTTPOptions{Handler: testServer(entered), Hosts: []string{"here"}})
	id := inside(h, http.MethodPost, opening).Header().Get(headerSession)
	var codes atomic.Int64
	done := make(chan struct{})
	for i := range maxPending {
		go func() {
			codes.Add(int64(inside(h, http.MethodPost, callLine(fmt.Sprint(i), "wait", ""), headerSession, id).Code))
			done <- struct{}{}
		}()
		<-entered
	}
	more := inside(h, http.MethodPost, callLine("9999", "echo", ""), headerSession, id)
	if more.Code != http.StatusServiceUnavailable || more.Header().Get("Retry-After") == "" {
		t.Errorf("a request too many: %d %s", more.Code, more.Body)
	}
	h.Close()
	for range maxPending {
		<-done
	}
	if got := codes.Load(); got != maxPending*http.StatusServiceUnavailable {
		t.Errorf("the sum of the statuses is %d, want %d times 503", got, maxPending)
	}
	if len(h.slots) != 0 {
		t.Errorf("%d requests are still counted", len(h.slots))
	}
	if late := inside(h, http.MethodPost, opening); late.Code != http.StatusServiceUnavailable {
		t.Errorf("after Close: %d", late.Code)
	}
}

// refusing refuses to be initialized.
type refusing struct{ *Server }

func (refusing) Serve(context.Context, Caller, *mcp.Message) (mcp.Raw, error) {
	return nil, errors.New("not today")
}

func TestHTTPRefusedInitializeOpensNoSession(t *testing.T) {
	t.Parallel()
	h := NewHTTP(HTTPOptions{Handler: refusing{}, Hosts: []string{"here"}})
	defer h.Close()
	w := inside(h, http.MethodPost, opening)
	if id := w.Header().Get(headerSession); id != "" || !strings.Contains(w.Body.String(), "not today") || len(h.sessions) != 0 {
		t.Errorf("session %q, %d in all: %s", id, len(h.sessions), w.Body)
	}
}

// TestHTTPChecksHeadersThatToolsAskFor holds the headers of x-mcp-header against the
// arguments.
func TestHTTPChecksHeadersThatToolsAskFor(t *testing.T) {
	t.Parallel()
	h := NewHTTP(HTTPOptions{Hosts: []string{"here"}, Handler: New(Info{Name: "x", Version: "1"}, Tool{
		Definition: mcp.Raw(`{"name":"find","inputSchema":{"type":"object","properties":{
			"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"number","x-mcp-header":"N"},"on":{"type":"boolean","x-mcp-header":"On"},"q":{"type":"string"}}}}`),
		Call: func(context.Context, *Call) (mcp.Raw, error) { return Text("found"), nil },
	})})
	defer h.Close()
	for _, tt := range []struct {
		name, arguments string
		headers         []string
		ok              bool
	}{
		{"all of them", `{"region":"eu","n":1.50,"on":true,"q":"x"}`, []string{"Mcp-Param-Region", "eu", "Mcp-Param-N", "1.5", "Mcp-Param-On", "true"}, true},
		{"none, and no arguments", `{"q":"x"}`, nil, true},
		{"null", `{"region":null}`, nil, true},
		{"encoded", `{"region":"é"}`, []string{"Mcp-Param-Region", "=?base64?w6k=?="}, true},
		{"half an encoding", `{"region":"=?base64?w6k="}`, []string{"Mcp-Param-Region", "=?base64?w6k="}, true},
		{"a broken encoding", `{"region":"é"}`, []string{"Mcp-Param-Region", "=?base64?w6k?="}, false},
		{"missing", `{"region":"eu"}`, nil, false},
		{"another", `{"region":"eu"}`, []string{"Mcp-Param-Region", "us"}, false},
		{"of nothing", `{}`, []string{"Mcp-Param-Region", "us"}, false},
		{"another number", `{"n":1}`, []string{"Mcp-Param-N", "2"}, false},
		{"a number of a text", `{"region":"1"}`, []string{"Mcp-Param-Region", "1.0"}, false},
	} {
		w := inside(h, http.MethodPost, modernCall("1", "tools/call", `"name":"find","arguments":`+tt.arguments),
			append([]string{headerRevision, mcp.Revision20260728, headerMethod, "tools/call", headerName, "find"}, tt.headers...)...)
		want := http.StatusOK
		if !tt.ok {
			want = http.StatusBadRequest
		}
		if w.Code != want || !tt.ok && !strings.Contains(w.Body.String(), "-32020") {
			t.Errorf("%s: %d %s", tt.name, w.Code, w.Body)
		}
	}
}

func TestHTTPGivesEachCallItsOwnAnswer(t *testing.T) {
	t.Parallel()
	s := listen(t, HTTPOptions{})
	session := s.open(mcp.Revision20251125)
	const clients, calls = 32, 40
	failed := make(chan string, clients*calls)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for j := range calls {
				id := fmt.Sprint(i*calls + j)
				accept := "application/json"
				if j%2 == 1 { // an answer that is a stream
					accept = "text/event-stream"
				}
				r, err := s.client.Do(s.request(http.MethodPost, callLine(id, "echo", `,"arguments":{"n":`+id+`}`), headerSession, session, "Accept", accept))
				if err != nil {
					failed <- err.Error()
					continue
				}
				text, err := io.ReadAll(r.Body)
				r.Body.Close()
				if want := `"id":` + id + `,"result":{"content":[{"text":"{\"n\":` + id + `}"`; err != nil || !strings.Contains(string(text), want) {
					failed <- fmt.Sprintf("%s: %s %v", id, text, err)
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	for f := range failed {
		t.Error(f)
	}
}

func TestHTTPSaysWhatItRefuses(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := NewHTTP(HTTPOptions{Handler: testServer(nil), Log: slog.New(slog.NewTextHandler(&log, nil)), Token: "abc"})
	defer h.Close()
	inside(h, http.MethodPost, opening, "Authorization", "Bearer secret-of-somebody")
	if got := log.String(); !strings.Contains(got, "request.refused") || !strings.Contains(got, "status=403") || strings.Contains(got, "secret") {
		t.Errorf("logged %s", got)
	}
}

// TestHTTPDoesNotWaitForSlowClients lets one client not read its answer, and another not
// finish its request.
func TestHTTPDoesNotWaitForSlowClients(t *testing.T) {
	t.Parallel()
	const size = 24 << 20 // more than what two sockets hold
	h := NewHTTP(HTTPOptions{Handler: New(Info{Name: "big", Version: "1"}, Tool{
		Definition: mcp.Raw(`{"name":"big"}`),
		Call:       func(context.Context, *Call) (mcp.Raw, error) { return Text(strings.Repeat("x", size)), nil },
	})})
	h.bodyTimeout, h.writeTimeout = 500*time.Millisecond, 500*time.Millisecond
	answered := make(chan struct{}, 3)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		answered <- struct{}{}
	}))
	defer s.Close()
	defer h.Close()
	at := strings.TrimPrefix(s.URL, "http://")
	r, err := http.Post(s.URL+Path, "application/json", strings.NewReader(opening))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	<-answered
	body := callLine("1", "big", "")
	for _, tt := range []struct {
		name   string
		length int
		want   string
	}{
		{"does not read", len(body), "200 OK"},
		{"does not finish", len(body) + 1, "400 Bad Request"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := net.Dial("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s",
				Path, at, headerSession, r.Header.Get(headerSession), tt.length, body)
			select {
			case <-answered: // the server has given up
			case <-time.After(time.Minute):
				t.Fatal("the server waits for its client")
			}
			_ = c.SetReadDeadline(time.Now().Add(time.Minute))
			text, err := io.ReadAll(c)
			if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
				t.Error("the connection is still there")
			}
			if line, _, _ := strings.Cut(string(text), "\r\n"); !strings.HasSuffix(line, tt.want) || len(text) >= size {
				t.Errorf("%d bytes, which begin %q; want fewer than %d, with %s", len(text), line, size, tt.want)
			}
		})
	}
}

// TestHTTPLeavesNothing counts goroutines after a server has had clients of every kind:
// idle ones, ones that wait, that do not read, that do not finish what they send.
func TestHTTPLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	func() {
		big := New(Info{Name: "big", Version: "1"}, Tool{
			Definition: mcp.Raw(`{"name":"big"}`),
			Call: func(context.Context, *Call) (mcp.Raw, error) {
				return Text(strings.Repeat("x", 32<<20)), nil
			},
		}, Tool{
			Definition: mcp.Raw(`{"name":"wait"}`),
			Call: func(ctx context.Context, _ *Call) (mcp.Raw, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
		})
		s := listen(t, HTTPOptions{Handler: big})
		at := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), Path)
		session := s.open(mcp.Revision20251125)
		dial := func(text string) {
			c, err := net.Dial("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			if _, err := io.WriteString(c, text); err != nil {
				t.Fatal(err)
			}
		}
		post := func(body string, length int) string {
			return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s",
				Path, at, headerSession, session, length, body)
		}
		for range 3 {
			dial("")
			dial("POST /mc")
			dial(post(`{"jsonrpc`, 1000))
			for _, tool := range []string{"big", "wait"} {
				call := callLine(fmt.Sprint(time.Now().UnixNano()), tool, "")
				dial(post(call, len(call)))
			}
			dial(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n%s: %s\r\n\r\n", Path, at, headerSession, session))
		}
		time.Sleep(200 * time.Millisecond) // what they want is under way
		begin := time.Now()
		if err := s.ended(); !errors.Is(err, context.Canceled) {
			t.Errorf("ServeHTTP = %v, want context.Canceled", err)
		}
		if took := time.Since(begin); took > 2*closeGrace+30*time.Second {
			t.Errorf("the server needed %s to end", took)
		}
		s.client.CloseIdleConnections()
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			t.Error("somebody still listens")
		}
	}()
	deadline := time.Now().Add(time.Minute)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestHTTPListenerThatFailsEndsServe(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := ServeHTTP(context.Background(), l, HTTPOptions{Handler: testServer(nil)}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("ServeHTTP = %v, want net.ErrClosed", err)
	}
}

// FuzzHTTP sends a front any body under any headers: each is answered with a message, or
// several, or nothing, and nothing stays behind.
func FuzzHTTP(f *testing.F) {
	f.Add([]byte(opening), "", "", "application/json", "")
	f.Add([]byte(modernCall("1", "tools/call", `"name":"echo"`)), mcp.Revision20260728, "tools/call", "*/*", "echo")
	f.Add([]byte(modernCall("1", "tools/call", `"name":"log"`)), mcp.Revision20260728, "tools/call", "text/event-stream", "=?base64?bG9n?=")
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{}]`), mcp.Revision20250326, "", "", "")
	f.Add([]byte(`{"jsonrpc":"2.0","id":{"a":[]},"method":"server/discover","params":7}`), "x", "\x00", "a;b=;c", "=?base64?")
	f.Add([]byte("\xff{"), "", "", ";", "")
	f.Fuzz(func(t *testing.T, body []byte, revision, method, accept, name string) {
		h := NewHTTP(HTTPOptions{Handler: testServer(make(chan string, len(body)+2)), Hosts: []string{"here"}})
		session := inside(h, http.MethodPost, strings.Replace(opening, "2025-11-25", "2025-03-26", 1)).Header().Get(headerSession)
		if bytes.Contains(body, []byte("wait")) || bytes.Contains(body, []byte(`\u`)) {
			return // it waits to be cancelled
		}
		for _, id := range []string{"", session} {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			r := httptest.NewRequest(http.MethodPost, "http://here"+Path, bytes.NewReader(body)).WithContext(ctx)
			r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {accept}}
			for key, value := range map[string]string{headerSession: id, headerRevision: revision, headerMethod: method, headerName: name} {
				if value != "" {
					r.Header[http.CanonicalHeaderKey(key)] = []string{value}
				}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			cancel()
			text := w.Body.String()
			switch w.Header().Get("Content-Type") {
			case "application/json":
				if _, _, err := mcp.SplitBatch([]byte(text)); err != nil || !json.Valid([]byte(text)) {
					t.Errorf("answered %d %q: %v", w.Code, text, err)
				}
			case "text/event-stream":
				for event := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
					if data, ok := strings.CutPrefix(event, "event: message\ndata: "); event != "" && (!ok || !json.Valid([]byte(data))) {
						t.Errorf("sent the event %q", event)
					}
				}
			default:
				if text != "" {
					t.Errorf("answered %d %q", w.Code, text)
				}
			}
			if !slices.Contains([]int{200, 202, 400, 404, 406}, w.Code) {
				t.Errorf("status %d: %s", w.Code, text)
			}
		}
		h.Close()
		if len(h.slots) != 0 {
			t.Errorf("%d requests are still counted", len(h.slots))
		}
	})
}

package client_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
	"mcpx/mcp/client"
	"mcpx/mcp/mcptest"
)

// visit connects to a server at url and closes the session at the end of the test.
func visit(t *testing.T, e client.Endpoint, o client.Options) *client.Session {
	t.Helper()
	s, err := tryVisit(t, e, o)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	return s
}

func tryVisit(t *testing.T, e client.Endpoint, o client.Options) (*client.Session, error) {
	t.Helper()
	e.Name, o.Name = "web", "web"
	transport, err := client.OpenHTTP(e)
	if err != nil {
		t.Fatal(err)
	}
	o.Fallback = func(ctx context.Context) (client.Transport, error) {
		s, err := client.OpenSSE(ctx, e)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := client.Connect(t.Context(), transport, o)
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

func callTool(ctx context.Context, s *client.Session, name, arguments string, o ...client.CallOptions) (string, error) {
	raw, err := s.Call(ctx, mcp.MethodToolsCall, mcp.Raw(`{"name":"`+name+`","arguments":`+arguments+`}`), o...)
	if err != nil {
		return "", err
	}
	r, err := mcp.DecodeResult(raw)
	if err != nil {
		return "", err
	}
	return r.Text(), nil
}

// mustCall makes a call that must succeed.
func mustCall(t *testing.T, s *client.Session, name, arguments string) string {
	t.Helper()
	got, err := callTool(t.Context(), s, name, arguments)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return got
}

func site(t *testing.T, o mcptest.HTTP) *mcptest.Site {
	t.Helper()
	s := mcptest.Serve(o)
	t.Cleanup(s.Close)
	return s
}

type roots struct{ heard chan string }

func (r roots) Notify(method string, _ mcp.Raw) {
	select {
	case r.heard <- method:
	default:
	}
}

func (roots) Request(_ context.Context, method string, _ mcp.Raw) (mcp.Raw, *mcp.Error) {
	return mcp.Raw(`{"asked":"` + method + `"}`), nil
}

func TestServersOverHTTP(t *testing.T) {
	t.Parallel()
	modern := mcptest.Script{Discover: mcptest.DiscoverModern, Revisions: []string{}, Strict: true}
	tests := []struct {
		name string
		http mcptest.HTTP
		era  mcp.Era
		asks bool // the server can ask
	}{
		{"events", mcptest.HTTP{}, mcp.Legacy, true},
		{"JSON", mcptest.HTTP{JSON: true}, mcp.Legacy, true},
		{"without a stream of its own", mcptest.HTTP{Silent: true}, mcp.Legacy, true},
		{"without sessions", mcptest.HTTP{Stateless: true}, mcp.Legacy, true},
		{"an older revision", mcptest.HTTP{Script: mcptest.Script{Revisions: []string{"2025-03-26"}}}, mcp.Legacy, true},
		{"ids as text", mcptest.HTTP{Script: mcptest.Script{IDs: mcptest.IDsText}}, mcp.Legacy, true},
		{"answers twice", mcptest.HTTP{Script: mcptest.Script{IDs: mcptest.IDsTwice}}, mcp.Legacy, true},
		{"HTTP+SSE", mcptest.HTTP{SSE: true}, mcp.Legacy, true},
		{"modern", mcptest.HTTP{Script: modern}, mcp.Modern, false},
		{"modern, JSON", mcptest.HTTP{Script: modern, JSON: true}, mcp.Modern, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			web := site(t, tt.http)
			sink := roots{make(chan string, 100)}
			s := visit(t, client.Endpoint{URL: web.URL, Headers: map[string]string{"X-Key": "k"}}, client.Options{Sink: sink})
			if s.Era() != tt.era {
				t.Fatalf("era %v, want %v", s.Era(), tt.era)
			}
			tools, warnings, err := s.Tools(t.Context())
			if err != nil || len(tools) < 10 || len(warnings) > 0 {
				t.Fatalf("%d tools, %v, %v", len(tools), warnings, err)
			}
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					want := fmt.Sprint("call ", i)
					if got, err := callTool(t.Context(), s, "echo", `{"message":"`+want+`"}`); got != want {
						t.Errorf("echo = %q, %v", got, err)
					}
				})
			}
			all.Wait()
			if got := mustCall(t, s, "huge", `{"bytes":300000}`); len(got) != 300000 {
				t.Errorf("huge came as %d bytes", len(got))
			}
			var answer *mcp.Error
			if _, err := callTool(t.Context(), s, "error", `{"code":-5,"message":"no"}`); !errors.As(err, &answer) || answer.Code != -5 {
				t.Errorf("error = %v", err)
			}
			if !tt.http.JSON {
				reports := 0
				if _, err := callTool(t.Context(), s, "progress", `{"count":3}`, client.CallOptions{OnProgress: func(mcp.Raw) { reports++ }}); err != nil || reports != 3 {
					t.Errorf("%d reports of progress, %v", reports, err)
				}
			}
			if tt.asks {
				if got := mustCall(t, s, "ask", `{"method":"elicitation/create","params":{}}`); !strings.Contains(got, `"asked":"elicitation/create"`) {
					t.Errorf("the server heard %s", got)
				}
			}
			// Whoever gives up a call tells the server, and the session goes on.
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				defer cancel()
				for i := 0; i < 6000 && !underWay(web, "stall"); i++ {
					time.Sleep(5 * time.Millisecond)
				}
			}()
			if _, err := callTool(ctx, s, "stall", `{}`); !errors.Is(err, context.Canceled) {
				t.Errorf("stall = %v", err)
			}
			<-over
			for i := 0; mustCall(t, s, "cancelled", `{}`) == "[]"; i++ {
				if i == 6000 {
					t.Error("the server did not hear of the cancellation")
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
			s.Close()
			for i := 0; web.Sessions() > 0 && tt.era == mcp.Legacy && !tt.http.Stateless; i++ {
				if i == 6000 {
					t.Fatalf("%d sessions are left", web.Sessions())
				}
				time.Sleep(5 * time.Millisecond)
			}
			for _, r := range web.Requests() {
				if r.Header.Get("X-Key") != "k" {
					t.Errorf("%s %s came without the header of the entry", r.Method, r.Path)
				}
				if tt.era == mcp.Modern && (r.Method != http.MethodPost || r.Header.Get("Mcp-Session-Id") != "") {
					t.Errorf("a modern session made %s, with %v", r.Method, r.Header)
				}
			}
		})
	}
}

// underWay reports whether a call of a tool has arrived at a server.
func underWay(web *mcptest.Site, tool string) bool {
	return slices.ContainsFunc(web.Requests(), func(r mcptest.Request) bool { return strings.Contains(r.Body, `"`+tool+`"`) })
}

func TestSessionThatIsLostIsOpenedAgain(t *testing.T) {
	t.Parallel()
	web := site(t, mcptest.HTTP{})
	s := visit(t, client.Endpoint{URL: web.URL}, client.Options{})
	for range 2 {
		mustCall(t, s, "echo", `{"message":"a"}`)
		web.Forget()
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if got, err := callTool(t.Context(), s, "echo", `{"message":"b"}`); got != "b" {
					t.Errorf("a call after the session was lost: %q, %v", got, err)
				}
			})
		}
		all.Wait()
	}
	opened := 0
	for _, r := range web.Requests() {
		if strings.Contains(r.Body, `"method":"initialize"`) {
			opened++
			if r.Header.Get("Mcp-Session-Id") != "" {
				t.Error("initialize came with the old session")
			}
		}
	}
	if opened != 3 {
		t.Errorf("%d sessions were opened, want one and one for each that was lost", opened)
	}
	// What was under way may have run, and is not repeated.
	stalled := make(chan error, 1)
	go func() {
		_, err := callTool(context.Background(), s, "stall", `{}`)
		stalled <- err
	}()
	for !underWay(web, "stall") {
		time.Sleep(5 * time.Millisecond)
	}
	web.Forget()
	if e := fault.From(<-stalled); e == nil || e.Kind != fault.Unavailable || e.Details["mayHaveRun"] != true {
		t.Errorf("a call that was under way: %+v", e)
	}
	if got := mustCall(t, s, "echo", `{"message":"c"}`); got != "c" {
		t.Errorf("echo = %q", got)
	}
}

// script is a legacy server whose answers to calls are written by hand.
func script(t *testing.T, call func(w http.ResponseWriter, r *http.Request, id mcp.Raw)) *httptest.Server {
	t.Helper()
	return start(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := mcp.Split(body)
		switch {
		case r.Method == http.MethodPost && err == nil && m.Method == mcp.MethodInitialize:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "S")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`, m.ID)
		case r.Method == http.MethodPost && err == nil && m.Kind() != mcp.Request:
			w.WriteHeader(http.StatusAccepted)
		case r.Method == http.MethodPost && err == nil && strings.Contains(string(m.Params), `"good"`):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"good"}]}}`, m.ID)
		case r.Method == http.MethodPost && err == nil:
			call(w, r, m.ID)
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-Id") != "":
			call(w, r, nil)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
}

func start(t *testing.T, how func(http.Handler) *httptest.Server, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	sv := how(handler)
	sv.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(sv.Close)
	return sv
}

func events(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

func abort() { panic(http.ErrAbortHandler) }

// What goes wrong with one call is said of that call, and the next one is answered.
func TestBrokenAnswersLoseNothingElse(t *testing.T) {
	t.Parallel()
	const secret = "tok-very-secret"
	status := func(code int, kind, body string, header ...string) func(http.ResponseWriter, *http.Request, mcp.Raw) {
		return func(w http.ResponseWriter, _ *http.Request, _ mcp.Raw) {
			w.Header().Set("Content-Type", kind)
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	tests := []struct {
		name  string
		call  func(w http.ResponseWriter, r *http.Request, id mcp.Raw)
		want  string
		kind  fault.Kind
		ran   bool
		hint  string
		limit time.Duration
	}{
		{"a page with 500", status(500, "text/html", "<html><style>b{}</style><h1>Oh &no</h1></html>"), "web answered HTTP 500 Internal Server Error: Oh &no", fault.Unavailable, true, "may have taken effect", 0},
		{"a refusal with 501", status(501, "text/plain", "not here"), "web answered HTTP 501 Not Implemented: not here", fault.Unavailable, false, "whether the url", 0},
		{"a page with 200", status(200, "text/html", "<p>Please sign in"), "web answered with text/html where JSON is needed: HTTP 200 OK: Please sign in", fault.Unavailable, true, "login", 0},
		{"nothing with 200", status(200, "application/json", ""), "answered with nothing", fault.Unavailable, true, "", 0},
		{"accepted and no stream", status(202, "", ""), "no stream on which it could answer", fault.Unavailable, true, "", 0},
		{"other JSON", status(400, "application/json", `{"detail":"bad tenant"}`), "HTTP 400 Bad Request: bad tenant", fault.Unavailable, false, "", 0},
		{"401", status(401, "text/html", "<h1>401</h1>", "WWW-Authenticate", `Bearer realm="x", error="invalid_token", scope="read"`), "wants authorisation (Bearer), error: invalid_token, scope: read: it answered HTTP 401", fault.Unavailable, false, "does not accept", 0},
		{"403 that tells the token", status(403, "text/plain", "no access for "+secret), "HTTP 403 Forbidden: no access for •••", fault.Unavailable, false, "", 0},
		{"429 for long", status(429, "text/plain", "slow down", "Retry-After", "3600"), "HTTP 429 Too Many Requests: slow down", fault.Unavailable, false, "3600 s", 0},
		{"a cut text", func(w http.ResponseWriter, _ *http.Request, _ mcp.Raw) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`)
			_ = http.NewResponseController(w).Flush()
			abort()
		}, "broke off its answer", fault.Unavailable, true, "see whether it took effect", 0},
		{"no answer at all", func(http.ResponseWriter, *http.Request, mcp.Raw) { abort() }, "closed the connection", fault.Unavailable, true, "", 0},
		{"a cut stream", func(w http.ResponseWriter, _ *http.Request, _ mcp.Raw) {
			events(w, ": hello\n\ndata: {\"jsonrpc\"")
			abort()
		}, "ended the stream before the answer", fault.Unavailable, true, "", 0},
		{"a stream that says what is wrong, in its own way", func(w http.ResponseWriter, _ *http.Request, _ mcp.Raw) {
			events(w, "event: error\ndata: {\"message\":\"the upstream of "+secret+" is gone\"}\n\n")
		}, "ended the stream before the answer (the upstream of ••• is gone)", fault.Unavailable, true, "", 0},
		{"an empty stream", func(w http.ResponseWriter, _ *http.Request, _ mcp.Raw) { events(w, "") }, "ended the stream before the answer", fault.Unavailable, true, "", 0},
		{"the answer to something else", func(w http.ResponseWriter, _ *http.Request, _ mcp.Raw) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":99,"result":{}}`)
		}, "something that is no answer", fault.Unavailable, true, "", 0},
		{"strangers on the stream", func(w http.ResponseWriter, _ *http.Request, _ mcp.Raw) {
			events(w, "data: {\"jsonrpc\":\"2.0\",\"id\":98,\"result\":{}}\n\ndata: [1,2]\n\ndata: text\n\n")
		}, "ended the stream before the answer", fault.Unavailable, true, "", 0},
		{"no JSON on a stream that stays open", func(w http.ResponseWriter, r *http.Request, id mcp.Raw) {
			events(w, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":"+string(id)+",\"result\":{\"v\":NaN}}\n\n")
			<-r.Context().Done()
		}, "the answer of web is not JSON: invalid character 'N'", fault.Unavailable, true, "may have taken effect", 0},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request, id mcp.Raw) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, strings.Repeat("[", 10_001)+strings.Repeat("]", 10_001))
		}, "nests more than 10000 levels deep", fault.Limit, true, "ask for less", 0},
		{"comments for ever", func(w http.ResponseWriter, r *http.Request, _ mcp.Raw) {
			for r.Context().Err() == nil {
				events(w, ": still here\n\n")
			}
		}, "enough", fault.Timeout, true, "", 300 * time.Millisecond},
		{"one comment without end", func(w http.ResponseWriter, r *http.Request, _ mcp.Raw) {
			for events(w, ":"); r.Context().Err() == nil; {
				events(w, strings.Repeat("x", 1<<16))
			}
		}, "enough", fault.Timeout, true, "", 300 * time.Millisecond},
		{"too much JSON", func(w http.ResponseWriter, _ *http.Request, id mcp.Raw) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":"%s"}`, id, strings.Repeat("x", 2<<20))
		}, "longer than stdio.maxLine", fault.Limit, true, "", 0},
		{"too much in one event", func(w http.ResponseWriter, r *http.Request, id mcp.Raw) {
			events(w, "data: {\"result\":\""+strings.Repeat("x", 2<<20)+"\",\"id\":"+string(id)+"}\n\n")
			<-r.Context().Done()
		}, "longer than stdio.maxLine", fault.Limit, true, "", 0},
		{"a bomb", func(w http.ResponseWriter, _ *http.Request, _ mcp.Raw) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			zeros := make([]byte, 1<<20)
			for range 200 {
				if _, err := z.Write(zeros); err != nil {
					return
				}
			}
			_ = z.Close()
		}, "longer than stdio.maxLine", fault.Limit, true, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sv := script(t, tt.call)
			s := visit(t, client.Endpoint{URL: sv.URL + "/mcp?key=also-secret", MaxMessage: 1 << 20, Headers: map[string]string{"Authorization": "Bearer " + secret}}, client.Options{})
			ctx := t.Context()
			if tt.limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeoutCause(ctx, tt.limit, fault.Timeoutf("enough").With("mayHaveRun", true))
				defer cancel()
			}
			_, err := callTool(ctx, s, "bad", `{}`)
			e := fault.From(err)
			if e == nil || e.Kind != tt.kind || !strings.Contains(e.Message, tt.want) || e.Details["mayHaveRun"] != tt.ran || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("error %v (%+v)\nwant %s: %s, mayHaveRun %t, hint %q", err, e, tt.kind, tt.want, tt.ran, tt.hint)
			}
			if all := fmt.Sprintf("%v %+v", err, e); strings.Contains(all, secret) || strings.Contains(all, "also-secret") {
				t.Errorf("the error tells a secret: %s", all)
			}
			if got := mustCall(t, s, "good", `{}`); got != "good" {
				t.Errorf("the next call = %q", got)
			}
			if err := s.Err(); err != nil {
				t.Errorf("the session is over: %v", err)
			}
		})
	}
}

func TestErrorOfTheProtocolInAStatusIsTheServersOwn(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"%s", "null"} {
		sv := script(t, func(w http.ResponseWriter, _ *http.Request, call mcp.Raw) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":`+strings.ReplaceAll(id, "%s", string(call))+`,"error":{"code":-32602,"message":"bad cursor","data":7}}`)
		})
		s := visit(t, client.Endpoint{URL: sv.URL}, client.Options{})
		var answer *mcp.Error
		if _, err := callTool(t.Context(), s, "bad", `{}`); !errors.As(err, &answer) || answer.Code != -32602 || err.Error() != "bad cursor" || string(answer.Data) != "7" {
			t.Errorf("id %s: error %v", id, err)
		}
	}
}

func TestStreamThatBreaksOffIsResumed(t *testing.T) {
	t.Parallel()
	var id atomic.Value
	var broke, resumed atomic.Int64
	sv := script(t, func(w http.ResponseWriter, r *http.Request, call mcp.Raw) {
		if call != nil {
			id.Store(string(call))
			events(w, "id: e1\nretry: 300\ndata:\n\n")
			broke.Store(time.Now().UnixNano())
			abort()
		}
		switch r.Header.Get("Last-Event-Id") {
		case "e1":
			resumed.Store(time.Now().UnixNano())
			events(w, "id: e2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n")
		case "e2":
			events(w, fmt.Sprintf("id: e3\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"at last\"}]}}\n\n", id.Load()))
		}
	})
	s := visit(t, client.Endpoint{URL: sv.URL}, client.Options{})
	if got := mustCall(t, s, "bad", `{}`); got != "at last" {
		t.Errorf("answer = %q", got)
	}
	if waited := time.Duration(resumed.Load() - broke.Load()); waited < 290*time.Millisecond {
		t.Errorf("the stream was asked for again after %s, want the 300ms that the server asked for", waited)
	}
}

func TestStreamThatCannotBeResumedIsSaidSo(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{404: "lost the session", 405: "does not go on with it (HTTP 405"} {
		sv := script(t, func(w http.ResponseWriter, _ *http.Request, call mcp.Raw) {
			if call != nil {
				events(w, "id: e1\nretry: 1\ndata:\n\n")
				return
			}
			w.WriteHeader(code)
		})
		s := visit(t, client.Endpoint{URL: sv.URL}, client.Options{})
		_, err := callTool(t.Context(), s, "bad", `{}`)
		if e := fault.From(err); e == nil || !strings.Contains(e.Message, want) || e.Details["mayHaveRun"] != true || (e.Details["sessionLost"] == true) != (code == 404) {
			t.Errorf("%d: error %v, want %s", code, err, want)
		}
	}
}

func TestBusyServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	sv := script(t, func(w http.ResponseWriter, _ *http.Request, id mcp.Raw) {
		if calls.Add(1) < 3 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		events(w, "data: {\"jsonrpc\":\"2.0\",\"id\":"+string(id)+",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}\n\n")
	})
	if got := mustCall(t, visit(t, client.Endpoint{URL: sv.URL}, client.Options{}), "bad", `{}`); got != "done" || calls.Load() != 3 {
		t.Errorf("%q after %d calls", got, calls.Load())
	}
}

func TestRedirectsKeepWhatIsSecret(t *testing.T) {
	t.Parallel()
	web := site(t, mcptest.HTTP{})
	for _, code := range []int{307, 308} {
		sv := start(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, web.URL, code) })
		s := visit(t, client.Endpoint{URL: sv.URL, Headers: map[string]string{"Authorization": "Bearer x", "X-Key": "k"}}, client.Options{})
		if got := mustCall(t, s, "echo", `{"message":"there"}`); got != "there" {
			t.Errorf("%d: %q", code, got)
		}
	}
	for _, r := range web.Requests() {
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-Key") != "" {
			t.Errorf("%s came with the headers of the entry", r.Method)
		}
	}
	// On the server itself everything goes along, whatever the kind of redirect.
	inner := mcptest.HTTP{Stateless: true}
	same := mcptest.Serve(inner)
	t.Cleanup(same.Close)
	before := strings.TrimSuffix(same.URL, "/mcp")
	var seen atomic.Int32
	front := start(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			w.Header().Set("Location", "/mcp/")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		if r.Header.Get("X-Key") == "k" {
			seen.Add(1)
		}
		body, _ := io.ReadAll(r.Body)
		req, _ := http.NewRequestWithContext(r.Context(), r.Method, before+"/mcp", strings.NewReader(string(body)))
		req.Header = r.Header
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		if r.Method == http.MethodPost {
			_, _ = io.Copy(w, resp.Body)
		}
	})
	s := visit(t, client.Endpoint{URL: front.URL + "/mcp", Headers: map[string]string{"X-Key": "k"}}, client.Options{})
	if got := mustCall(t, s, "echo", `{"message":"here"}`); got != "here" || seen.Load() == 0 {
		t.Errorf("%q, %d requests with the header", got, seen.Load())
	}
	s.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func TestConnectSaysWhatIsWrongWithAnAddress(t *testing.T) {
	t.Parallel()
	plain := start(t, httptest.NewServer, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	locked := start(t, httptest.NewServer, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	})
	away := start(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, locked.URL+"/login", http.StatusFound)
	})
	beyond := start(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, locked.URL+"/mcp", http.StatusTemporaryRedirect)
	})
	circle := start(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
	})
	safe := start(t, httptest.NewTLSServer, func(http.ResponseWriter, *http.Request) {})
	elsewhere := start(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		events(w, "event: endpoint\ndata: "+plain.URL+"/messages\n\n")
		<-r.Context().Done()
	})
	gone := httptest.NewServer(nil)
	gone.Close()
	tests := []struct{ name, url, want, hint string }{
		{"nobody there", gone.URL, "the connection is refused", "whether the server runs"},
		{"no such page", plain.URL, "HTTP 404 Not Found; HTTP+SSE was tried as well", "the address of an MCP server"},
		{"locked", locked.URL, "HTTP 401 Unauthorized", `"headers": {"Authorization": "Bearer ${env:TOKEN}"}`},
		{"a page to log in", away.URL, "which is not followed: it may be a page to log in", "into the url"},
		{"locked, at another origin", beyond.URL, "redirects to " + locked.URL + ", which answered HTTP 401 Unauthorized", "into the url"},
		{"in a circle", circle.URL, "redirects without end", "is right"},
		{"an unknown authority", safe.URL, "an authority that this machine does not know", "SSL_CERT_FILE"},
		{"TLS where there is none", strings.Replace(plain.URL, "http:", "https:", 1), "speak", "http:// instead of https://"},
		{"no TLS where there is some", strings.Replace(safe.URL, "https:", "http:", 1), "HTTP request to an HTTPS server", ""},
		{"no such host", "http://no-such-host.invalid/mcp", "cannot be reached at http://no-such-host.invalid/mcp: ", "whether the url"},
		{"a key in the path", "http://no-such-host.invalid/api/key/v1/mcp/?k=key", "cannot be reached at http://no-such-host.invalid/api/…/v1/mcp/: ", "whether the url"},
		{"messages elsewhere", elsewhere.URL, "wants its messages sent elsewhere", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tryVisit(t, client.Endpoint{URL: tt.url}, client.Options{})
			e := fault.From(err)
			if e == nil || e.Kind != fault.Unavailable || !strings.Contains(e.Message, tt.want) || !strings.Contains(e.Hint, tt.hint) || e.Details["mayHaveRun"] != false {
				t.Errorf("error %v (%+v), want %s (%s)", err, e, tt.want, tt.hint)
			}
		})
	}
}

// A server that never answers, streams that never end: Close does not wait for them.
func TestCloseWaitsForNothing(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]mcptest.HTTP{"events": {}, "JSON": {JSON: true}, "HTTP+SSE": {SSE: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := site(t, o)
			s := visit(t, client.Endpoint{URL: web.URL}, client.Options{})
			var calls sync.WaitGroup
			for range 5 {
				calls.Go(func() {
					if _, err := callTool(context.Background(), s, "stall", `{}`); fault.KindOf(err) != fault.Unavailable {
						t.Errorf("a call under way: %v", err)
					}
				})
			}
			mustCall(t, s, "echo", `{"message":"x"}`)
			begin := time.Now()
			s.Close()
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("Close took %s", took)
			}
			calls.Wait()
			if _, err := callTool(t.Context(), s, "echo", `{}`); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("a call after Close: %v", err)
			}
		})
	}
}

func TestEndOfTheStreamEndsHTTPSSE(t *testing.T) {
	t.Parallel()
	web := site(t, mcptest.HTTP{SSE: true})
	s := visit(t, client.Endpoint{URL: web.URL}, client.Options{})
	mustCall(t, s, "echo", `{"message":"x"}`)
	web.Forget()
	select {
	case <-s.Done():
	case <-time.After(time.Minute):
		t.Fatal("the session goes on")
	}
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "ended its stream of events") {
		t.Errorf("Err() = %v", err)
	}
}

func TestBadMarksLeaveOutATool(t *testing.T) {
	t.Parallel()
	bad := mcp.Raw(`{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}}`)
	good := mcp.Raw(`{"name":"echo","inputSchema":{"type":"object","properties":{"message":{"type":"string","x-mcp-header":"Word"}}}}`)
	web := site(t, mcptest.HTTP{Script: mcptest.Script{Discover: mcptest.DiscoverModern, Revisions: []string{}, Strict: true, Tools: []mcp.Raw{bad, good}}})
	s := visit(t, client.Endpoint{URL: web.URL}, client.Options{})
	tools, warnings, err := s.Tools(t.Context())
	if err != nil || len(tools) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], `"bad"`) {
		t.Fatalf("%d tools, %v, %v", len(tools), warnings, err)
	}
	if _, err := callTool(t.Context(), s, "echo", `{"message":"hé"}`, client.CallOptions{InputSchema: tools[0].InputSchema}); err != nil {
		t.Fatal(err)
	}
	if got := web.Requests()[len(web.Requests())-1].Header.Get("Mcp-Param-Word"); got != "=?base64?aMOp?=" {
		t.Errorf("Mcp-Param-Word = %q", got)
	}
	_, err = callTool(t.Context(), s, "bad", `{}`, client.CallOptions{InputSchema: mcp.Member(bad, "inputSchema")})
	if fault.KindOf(err) != fault.Usage {
		t.Errorf("a call of a tool that cannot be called: %v", err)
	}
}

// Servers made after older examples say with a 400 that they do not know a session, and
// others in still other ways.
func TestSessionThatIsLostInOtherWordsIsOpenedAgain(t *testing.T) {
	t.Parallel()
	for said, code := range map[string]int{
		`{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`: http.StatusBadRequest,
		`{"error":"Session expired"}`: http.StatusBadRequest,
		`{"error":"Invalid session"}`: http.StatusUnauthorized,
		"unknown session":             http.StatusUnprocessableEntity,
		"":                            http.StatusGone,
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			sv := script(t, func(w http.ResponseWriter, _ *http.Request, id mcp.Raw) {
				w.Header().Set("Content-Type", "application/json")
				if calls.Add(1) == 1 {
					w.WriteHeader(code)
					_, _ = io.WriteString(w, said)
					return
				}
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"again"}]}}`, id)
			})
			s := visit(t, client.Endpoint{URL: sv.URL}, client.Options{})
			if got := mustCall(t, s, "bad", `{}`); got != "again" || calls.Load() != 2 {
				t.Errorf("%q after %d calls", got, calls.Load())
			}
		})
	}
}

// An answer counts whatever its type is called, and whatever it lacks.
func TestAnswersInOddDress(t *testing.T) {
	t.Parallel()
	const result = `"result":{"content":[{"type":"text","text":"odd"}]}`
	for name, tt := range map[string]struct{ kind, body string }{
		"JSON without a type":                {"", `{"jsonrpc":"2.0","id":ID,` + result + `}`},
		"JSON called text":                   {"text/plain", ` {"jsonrpc":"2.0","id":ID,` + result + `}`},
		"JSON called a stream":               {"text/event-stream", `{"jsonrpc":"2.0","id":ID,` + result + `}`},
		"a stream without a type":            {"", "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID," + result + "}\n\n"},
		"a stream called text":               {"text/plain", "data: {\"jsonrpc\":\"2.0\",\"id\":ID," + result + "}\n\n"},
		"a stream called JSON":               {"application/json", ": hello\n\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID," + result + "}\n\n"},
		"no id":                              {"application/json", `{"jsonrpc":"2.0",` + result + `}`},
		"a null id":                          {"application/json", `{"jsonrpc":"2.0","id":null,` + result + `}`},
		"an event of another name":           {"text/event-stream", "event: vendor\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\nevent: response\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID," + result + "}\n\n"},
		"a stream with other events at last": {"text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":ID," + result + "}\n\ndata: [DONE]\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sv := script(t, func(w http.ResponseWriter, _ *http.Request, id mcp.Raw) {
				w.Header()["Content-Type"] = nil
				if tt.kind != "" {
					w.Header().Set("Content-Type", tt.kind)
				}
				_, _ = io.WriteString(w, strings.ReplaceAll(tt.body, "ID", string(id)))
			})
			s := visit(t, client.Endpoint{URL: sv.URL}, client.Options{})
			if got := mustCall(t, s, "bad", `{}`); got != "odd" {
				t.Errorf("got %q", got)
			}
		})
	}
}

// A server behind a proxy names the address that it has there; nothing goes to it.
func TestMessagesOfHTTPSSEStayWithTheirServer(t *testing.T) {
	t.Parallel()
	var stray atomic.Int32
	inside := start(t, httptest.NewServer, func(http.ResponseWriter, *http.Request) { stray.Add(1) })
	for name, inBody := range map[string]bool{"answers on the stream": false, "answers to the messages": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := make(chan string, 10)
			sv := start(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				m, err := mcp.Split(body)
				switch {
				case r.Method == http.MethodGet:
					events(w, "event: endpoint\ndata: "+inside.URL+"/messages?id=1\n\n")
					for {
						select {
						case answer := <-said:
							events(w, "data: "+answer+"\n\n")
						case <-r.Context().Done():
							return
						}
					}
				case r.URL.RequestURI() != "/messages?id=1" || r.Header.Get("X-Key") != "k" || err != nil:
					w.WriteHeader(http.StatusMethodNotAllowed)
				case m.Kind() == mcp.Request:
					answer := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"protocolVersion":"2024-11-05","content":[{"type":"text","text":"here"}]}}`
					if inBody {
						w.Header().Set("Content-Type", "application/json")
						_, _ = io.WriteString(w, answer)
						return
					}
					w.WriteHeader(http.StatusAccepted)
					said <- answer
				}
			})
			s := visit(t, client.Endpoint{URL: sv.URL + "/sse", Headers: map[string]string{"X-Key": "k"}}, client.Options{})
			for range 2 {
				if got := mustCall(t, s, "x", `{}`); got != "here" {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	t.Cleanup(func() {
		if n := stray.Load(); n > 0 {
			t.Errorf("%d requests went to the address that the server named", n)
		}
	})
}

// A server that takes note of the opened session late, or never, is called all the same.
func TestANoticeThatIsNotAnsweredHoldsUpNothing(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	sv := start(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := mcp.Split(body)
		switch {
		case err != nil:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.Kind() != mcp.Request:
			<-over
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","content":[{"type":"text","text":"here"}]}}`, m.ID)
		}
	})
	t.Cleanup(func() { close(over) })
	s := visit(t, client.Endpoint{URL: sv.URL}, client.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := callTool(ctx, s, "x", `{}`); got != "here" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestSessionThatIsLostForEverIsGivenUp(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	sv := script(t, func(w http.ResponseWriter, _ *http.Request, _ mcp.Raw) {
		calls.Add(1)
		w.WriteHeader(http.StatusNotFound)
	})
	s := visit(t, client.Endpoint{URL: sv.URL}, client.Options{})
	_, err := callTool(t.Context(), s, "bad", `{}`)
	if e := fault.From(err); e == nil || e.Details["status"] != http.StatusNotFound || e.Details["mayHaveRun"] != false || calls.Load() != 2 {
		t.Errorf("%v after %d calls, want a refusal after 2", err, calls.Load())
	}
}

// What the server says of its own accord comes, also after its stream broke off; and
// servers that answer messages which need no answer with streams hold up nothing.
func TestServersOwnStream(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	over := make(chan struct{})
	sv := start(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := mcp.Split(body)
		switch {
		case r.Method == http.MethodGet:
			n := opened.Add(1)
			if want := map[int32]string{1: "", 2: "n1"}[n]; r.Header.Get("Last-Event-Id") != want {
				t.Errorf("stream %d was asked for after %q, want %q", n, r.Header.Get("Last-Event-Id"), want)
			}
			events(w, fmt.Sprintf("id: n%d\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/n%d\"}\n\n", n, n))
			if n == 1 {
				abort()
			}
			<-r.Context().Done()
		case err != nil:
		case m.Method == mcp.MethodInitialize:
			events(w, fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":\"2025-06-18\"}}\n\n", m.ID))
		case m.Method == mcp.NotificationInitialized:
			events(w, ": and nothing more\n\n")
			select {
			case <-r.Context().Done():
			case <-over:
			}
		default: // the answer comes on the server's own stream, or never
			w.WriteHeader(http.StatusAccepted)
		}
	})
	t.Cleanup(func() { close(over) })
	sink := roots{make(chan string, 100)}
	begin := time.Now()
	s := visit(t, client.Endpoint{URL: sv.URL}, client.Options{Sink: sink})
	for _, want := range []string{"notifications/n1", "notifications/n2"} {
		if got := <-sink.heard; got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := callTool(ctx, s, "x", `{}`); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call that is accepted and not answered: %v", err)
	}
	s.Close()
}

// Some servers say with 200, or 500, that they do not know a session. The words alone do not
// count: a tool may have sessions of its own.
func TestSessionThatIsLostAndSaidSoInAnAnswerIsOpenedAgain(t *testing.T) {
	t.Parallel()
	const rpc = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"Session not found"}}`
	tests := map[string]struct {
		said   func(w http.ResponseWriter, r *http.Request, id mcp.Raw)
		own    bool // what is lost is the tool's session, not the server's
		want   string
		opened int32
	}{
		"an error": {said: func(w http.ResponseWriter, _ *http.Request, id mcp.Raw) { fmt.Fprintf(w, rpc, id) }, want: "again", opened: 2},
		"an error on a stream": {said: func(w http.ResponseWriter, _ *http.Request, id mcp.Raw) {
			events(w, "data: "+fmt.Sprintf(rpc, id)+"\n\n")
		}, want: "again", opened: 2},
		"an error on a stream that stays open": {said: func(w http.ResponseWriter, r *http.Request, id mcp.Raw) {
			events(w, "data: "+fmt.Sprintf(rpc, id)+"\n\n")
			<-r.Context().Done()
		}, want: "again", opened: 2},
		"an error that is none of the protocol": {said: func(w http.ResponseWriter, _ *http.Request, _ mcp.Raw) {
			events(w, "event: message\ndata: {\"error\":\"Session not found\"}\n\n")
		}, want: "again", opened: 2},
		"500": {said: func(w http.ResponseWriter, _ *http.Request, _ mcp.Raw) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "session expired")
		}, want: "web answered HTTP 500 Internal Server Error: session expired", opened: 2},
		"the tool's own": {said: func(w http.ResponseWriter, _ *http.Request, id mcp.Raw) { fmt.Fprintf(w, rpc, id) }, own: true, want: "Session not found", opened: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var opened, valid atomic.Int32
			sv := start(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				m, err := mcp.Split(body)
				w.Header().Set("Content-Type", "application/json")
				switch {
				case err != nil:
					w.WriteHeader(http.StatusMethodNotAllowed)
				case m.Method == mcp.MethodInitialize:
					valid.Store(opened.Add(1))
					w.Header().Set("Mcp-Session-Id", fmt.Sprint("S", valid.Load()))
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`, m.ID)
				case m.Kind() != mcp.Request:
					w.WriteHeader(http.StatusAccepted)
				case r.Header.Get("Mcp-Session-Id") != fmt.Sprint("S", valid.Load()), tt.own && m.Method == mcp.MethodToolsCall && valid.Load() == 1:
					tt.said(w, r, m.ID)
				default:
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"again"}]}}`, m.ID)
				}
			})
			s := visit(t, client.Endpoint{URL: sv.URL}, client.Options{})
			if !tt.own {
				valid.Store(-1)
			}
			got, err := callTool(t.Context(), s, "x", `{}`)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) || opened.Load() != tt.opened {
				t.Errorf("the call gave %q, want %q; %d sessions were opened, want %d", got, tt.want, opened.Load(), tt.opened)
			}
			if !tt.own {
				if got := mustCall(t, s, "x", `{}`); got != "again" {
					t.Errorf("the next call = %q", got)
				}
			}
		})
	}
}

package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mcpx/internal/fault"
	"mcpx/stdlib/internal/trial"
)

// host answers the operations by HTTP, as a broker without gates would.
type host struct {
	mu        sync.Mutex
	last      int64
	exchanges map[int64]*served
	calls     []string // operations in order
}

// served is one exchange.
type served struct {
	response chan result
	upload   *io.PipeWriter
	cancel   context.CancelFunc
	body     io.ReadCloser
}

type result struct {
	r   *http.Response
	err error
}

func newHost() *host { return &host{exchanges: map[int64]*served{}} }

// open says how many exchanges were not read to their end, and not closed.
func (h *host) open() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.exchanges)
}

func (h *host) Call(ctx context.Context, op string, head any, body []byte) (json.RawMessage, []byte, error) {
	b, err := json.Marshal(head)
	if err != nil {
		return nil, nil, err
	}
	var in struct {
		ID       int64
		End      bool
		Max      int
		URL      string
		Method   string
		Headers  [][2]string
		Redirect string
		Stream   bool
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	h.calls = append(h.calls, op)
	x := h.exchanges[in.ID]
	h.mu.Unlock()
	if x == nil && op == "fetch.close" {
		return nil, nil, nil
	}
	if x == nil && op != "fetch.open" {
		return nil, nil, fault.Internalf("%s of an exchange that is over", op)
	}
	switch op {
	case "fetch.open":
		if strings.Contains(in.URL, "denied.example") {
			return nil, nil, fault.Deniedf("denied: net %q: outside the run's grants", "denied.example").Hintf("allow it with --allow-net=denied.example")
		}
		id, x := h.begin(in.Method, in.URL, in.Headers, in.Redirect, in.Stream, body)
		if in.Stream {
			return json.RawMessage(fmt.Sprintf(`{"id":%d}`, id)), nil, nil
		}
		return h.head(ctx, id, x)
	case "fetch.head":
		return h.head(ctx, in.ID, x)
	case "fetch.write":
		if _, err := x.upload.Write(body); err != nil {
			return nil, nil, fault.Unavailablef("sending: %w", err)
		}
		if in.End {
			return nil, nil, x.upload.Close()
		}
		return nil, nil, nil
	case "fetch.read":
		p := make([]byte, in.Max)
		n, err := x.body.Read(p)
		if err != nil && !errors.Is(err, io.EOF) {
			h.forget(in.ID)
			return nil, nil, fault.Unavailablef("reading: %w", err)
		}
		if err != nil {
			h.forget(in.ID)
		}
		return json.RawMessage(fmt.Sprintf(`{"end":%t}`, err != nil)), p[:n], nil
	case "fetch.close":
		h.forget(in.ID)
		return nil, nil, nil
	}
	return nil, nil, fault.Usagef("unknown operation %s", op)
}

func (h *host) begin(method, url string, headers [][2]string, redirect string, stream bool, body []byte) (int64, *served) {
	ctx, cancel := context.WithCancel(context.Background())
	x := &served{response: make(chan result, 1), cancel: cancel}
	var content io.Reader = bytes.NewReader(body)
	if stream {
		content, x.upload = io.Pipe()
	}
	request, err := http.NewRequestWithContext(ctx, method, url, content)
	if err != nil {
		x.response <- result{nil, err}
	} else {
		for _, pair := range headers {
			request.Header.Add(pair[0], pair[1])
		}
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			switch redirect {
			case "manual":
				return http.ErrUseLastResponse
			case "error":
				return errors.New("unexpected redirect")
			}
			return nil
		}}
		go func() {
			r, err := client.Do(request) //nolint:bodyclose // forget closes it
			x.response <- result{r, err}
		}()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	h.exchanges[h.last] = x
	return h.last, x
}

func (h *host) head(ctx context.Context, id int64, x *served) (json.RawMessage, []byte, error) {
	var got result
	select {
	case got = <-x.response:
	case <-ctx.Done():
		h.forget(id)
		return nil, nil, context.Cause(ctx)
	}
	if got.err != nil {
		h.forget(id)
		return nil, nil, fault.Unavailablef("%w", got.err)
	}
	x.body = got.r.Body
	a := answer{
		ID: id, Status: got.r.StatusCode, StatusText: strings.TrimPrefix(got.r.Status, fmt.Sprintf("%d ", got.r.StatusCode)),
		URL: got.r.Request.URL.String(), Redirected: got.r.Request.Response != nil, Headers: [][2]string{},
	}
	for name, values := range got.r.Header {
		for _, v := range values {
			a.Headers = append(a.Headers, [2]string{name, v})
		}
	}
	b, err := json.Marshal(a)
	return b, nil, err
}

func (h *host) forget(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.exchanges[id]; x != nil {
		x.cancel()
		if x.body != nil {
			_ = x.body.Close()
		}
		delete(h.exchanges, id)
	}
}

// site is what the scripts talk to. A request of /slow waits until its client has gone.
func site(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("X-Rate", "7")
		_ = json.NewEncoder(w).Encode(map[string]any{"q": r.URL.Query().Get("q"), "list": []int{1, 2}})
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "%s|%s|%s|%s", r.Method, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), b)
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/json?q=redirected", http.StatusFound)
	})
	mux.HandleFunc("/bin", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0, 1, 254, 255}) })
	mux.HandleFunc("/empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/cookies", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		for i := range 3 {
			fmt.Fprintf(w, "part %d\n", i)
			_ = http.NewResponseController(w).Flush()
		}
		if r.URL.Query().Has("hang") {
			<-r.Context().Done()
		}
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte("0123456789"), 200_000))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestExchange(t *testing.T) {
	t.Parallel()
	base := site(t)
	const try = `const tell = async p => { try { console.log("ok", await p) } catch (e) { console.log(e.name, "|", e.message, "|", e.cause?.name ?? e.cause) } };
`
	for _, tt := range []struct {
		name, code, stdout string
		open               int // exchanges whose response nobody reads to the end
	}{
		{"json", `const r = await fetch(base + "/json?q=a%20b", { headers: { Accept: "application/json" } }); console.log(r.ok, r.status, r.statusText, r.headers.get("X-Rate"), r.headers.get("nope"), r.type, r.url === base + "/json?q=a%20b", r.redirected); const j = await r.json(); console.log(j.q, j.list.length, r.bodyUsed)`, "true 200 OK 7 null basic true false\na b 2 true\n", 0},
		{"a body is read once", `const r = await fetch(base + "/json"); await r.json(); await tell(r.text())`, "TypeError | Body is unusable: Body has already been read | undefined\n", 0},
		{"post", `const r = await fetch(new URL("/echo", base), { method: "POST", headers: new Headers({ "Content-Type": "application/json", authorization: "Bearer t" }), body: JSON.stringify({ x: "é" }) }); console.log(r.status, r.statusText, await r.text())`, "201 Created POST|application/json|Bearer t|{\"x\":\"é\"}\n", 0},
		{
			"bodies", `for (const body of [new URLSearchParams({ a: "1 2" }), new Blob(["blob"], { type: "b/t" }), new Uint8Array([104, 105]), "text"]) console.log(await (await fetch(base + "/echo", { method: "PUT", body })).text()); const f = new FormData(); f.append("k", "v"); console.log((await (await fetch(base + "/echo", { method: "POST", body: f })).text()).replace(/-{4}formdata-mcpx-\d+/g, "B"))`,
			"PUT|application/x-www-form-urlencoded;charset=UTF-8||a=1+2\nPUT|b/t||blob\nPUT|||hi\nPUT|text/plain;charset=UTF-8||text\nPOST|multipart/form-data; boundary=B||--B\r\nContent-Disposition: form-data; name=\"k\"\r\n\r\nv\r\n--B--\r\n\n", 0,
		},
		{"a streamed body", `const body = new ReadableStream({ async pull(c) { if (!this.n) this.n = 0; if (this.n === 3) c.close(); else { await null; c.enqueue(new TextEncoder().encode("p" + this.n++)) } } }); console.log(await (await fetch(base + "/echo", { method: "POST", body, duplex: "half" })).text())`, "POST|||p0p1p2\n", 0},
		{"a streamed body that fails", `const body = new ReadableStream({ pull(c) { c.error(new RangeError("source")) } }); await tell(fetch(base + "/echo", { method: "POST", body, duplex: "half" }))`, "RangeError | source | undefined\n", 0},
		{"a request", `const q = new Request(base + "/echo", { method: "POST", body: "in request" }); const r = await fetch(q); console.log(await r.text(), q.bodyUsed); await tell(fetch(q))`, "POST|text/plain;charset=UTF-8||in request true\nTypeError | Cannot construct a Request with a Request object that has already been used. | undefined\n", 0},
		{"not found", `const r = await fetch(base + "/nothing"); console.log(r.ok, r.status, (await r.text()).trim())`, "false 404 404 page not found\n", 0},
		{"redirect", `const r = await fetch(base + "/moved"); console.log(r.redirected, r.status, r.url === base + "/json?q=redirected", (await r.json()).q); const m = await fetch(base + "/moved", { redirect: "manual" }); console.log(m.status, m.headers.get("location")); await tell(fetch(base + "/moved", { redirect: "error" }))`, "true 200 true redirected\n302 /json?q=redirected\nTypeError | fetch failed | UnavailableError\n", 1},
		{"bytes and nothing", `console.log([...new Uint8Array(await (await fetch(base + "/bin")).arrayBuffer())].join(), (await fetch(base + "/empty")).body, (await (await fetch(base + "/empty")).text()).length, (await fetch(base + "/json", { method: "HEAD" })).body)`, "0,1,254,255 null 0 null\n", 0},
		{"cookies", `const r = await fetch(base + "/cookies"); console.log(r.headers.getSetCookie(), r.headers.get("set-cookie"))`, "[ 'a=1', 'b=2' ] a=1, b=2\n", 1},
		{"headers of a response", `const r = await fetch(base + "/bin"); await tell((async () => r.headers.set("a", "b"))()); console.log(new Headers(r.headers).has("content-length"))`, "TypeError | immutable | undefined\ntrue\n", 1},
		{"as a stream", `const r = await fetch(base + "/drip"); let s = ""; for await (const c of r.body.pipeThrough(new TextDecoderStream())) s += c; console.log(JSON.stringify(s), r.bodyUsed)`, "\"part 0\\npart 1\\npart 2\\n\" true\n", 0},
		{"cloned", `const r = await fetch(base + "/drip"); const c = r.clone(); console.log((await r.text()).length, (await c.text()).length)`, "21 21\n", 0},
		{"large", `const r = await fetch(base + "/big"); console.log((await r.text()).length); let n = 0; for await (const c of (await fetch(base + "/big")).body) n += c.length; console.log(n)`, "2000000\n2000000\n", 0},
		{"nobody there", `await tell(fetch("http://127.0.0.1:1/"))`, "TypeError | fetch failed | UnavailableError\n", 0},
		{"denied", `try { await fetch("http://denied.example/") } catch (e) { console.log(e.name, e.kind, e.message, e.hint) }`, "DeniedError denied denied: net \"denied.example\": outside the run's grants allow it with --allow-net=denied.example\n", 0},
		{"time is up", `await tell(fetch(base + "/slow", { signal: AbortSignal.timeout(20) }))`, "TimeoutError | The operation was aborted due to timeout | undefined\n", 0},
		{"aborted", `const ac = new AbortController(); const p = fetch(base + "/slow", { signal: ac.signal }); setTimeout(() => ac.abort(), 5); await tell(p); await tell(fetch(base, { signal: ac.signal }))`, "AbortError | This operation was aborted | undefined\nAbortError | This operation was aborted | undefined\n", 0},
		{"aborted while it is read", `const ac = new AbortController(); const r = await fetch(base + "/drip?hang", { signal: ac.signal }); setTimeout(() => ac.abort("enough"), 5); try { await r.text() } catch (e) { console.log("text", e) } const bc = new AbortController(); const s = await fetch(base + "/drip?hang", { signal: bc.signal }); const reader = s.body.getReader(); await reader.read(); bc.abort("enough"); try { for (;;) await reader.read() } catch (e) { console.log("read", e) }`, "text enough\nread enough\n", 0},
		{"given up", `const r = await fetch(base + "/drip?hang"); await r.body.cancel(); const s = await fetch(base + "/drip?hang"); for await (const c of s.body) break; console.log(r.bodyUsed, s.bodyUsed)`, "true true\n", 0},
		{"cut off", `const r = await fetch(base + "/cut"); await tell(r.text()); const s = await fetch(base + "/cut"); try { for await (const c of s.body) console.log(c.length) } catch (e) { console.log(e.message) }`, "TypeError | fetch failed | UnavailableError\n4\nfetch failed\n", 0},
		{"many at once", `console.log((await Promise.all(Array.from({ length: 100 }, async (_, i) => (await (await fetch(base + "/json?q=" + i)).json()).q))).join().length)`, "289\n", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHost()
			stdout, stderr := trial.Run(`const base = "`+base+`"; `+try+tt.code, h, modules()...)
			if stdout != tt.stdout || stderr != "" {
				t.Errorf("wrote %q and %q, want %q", stdout, stderr, tt.stdout)
			}
			if n := h.open(); n != tt.open {
				t.Errorf("%d exchanges are open, want %d; the host was asked %v", n, tt.open, h.calls)
			}
		})
	}
}

// scarce is a host that has room for few exchanges, and wants no more of a streamed body
// than its first piece.
type scarce struct {
	*host
	room    int
	refused atomic.Int32
}

func newScarce(t *testing.T, room int) *scarce {
	t.Helper()
	s := &scarce{host: newHost(), room: room}
	t.Cleanup(func() {
		for id := range s.last + 1 {
			s.forget(id)
		}
	})
	return s
}

func (s *scarce) Call(ctx context.Context, op string, head any, body []byte) (json.RawMessage, []byte, error) {
	if op == "fetch.open" && s.open() >= s.room {
		s.refused.Add(1)
		return nil, nil, fault.Limitf("%d exchanges are open", s.room).With("busy", true)
	}
	answer, content, err := s.host.Call(ctx, op, head, body)
	if op == "fetch.write" && err == nil {
		answer = json.RawMessage(`{"over":true}`)
	}
	return answer, content, err
}

func TestResponsesThatAreLetGoOfAreClosed(t *testing.T) {
	t.Parallel()
	base := site(t)
	h := newScarce(t, 4)
	stdout, stderr := trial.Run(`let ok = 0; for (let i = 0; i < 20; i++) { const r = await fetch("`+base+`/drip?hang"); if (r.ok) ok++ } console.log(ok)`, h, modules()...)
	if stdout != "20\n" || stderr != "" || h.refused.Load() == 0 {
		t.Errorf("wrote %q and %q, %d requests were refused", stdout, stderr, h.refused.Load())
	}
	// Those that the script still has are not.
	h = newScarce(t, 4)
	stdout, stderr = trial.Run(`const kept = []; for (let i = 0; i < 4; i++) kept.push(await fetch("`+base+`/drip")); setTimeout(async () => { for (const r of kept) await r.text() }, 300); const last = await fetch("`+base+`/json"); console.log(last.status, kept.map(r => r.bodyUsed).join())`, h, modules()...)
	if !strings.HasPrefix(stdout, "200 true") || stderr != "" || h.refused.Load() == 0 {
		t.Errorf("wrote %q and %q, %d requests were refused", stdout, stderr, h.refused.Load())
	}
}

func TestAStreamThatNobodyWantsMoreOf(t *testing.T) {
	t.Parallel()
	base := site(t)
	h := newScarce(t, 100)
	stdout, stderr := trial.Run(`let n = 0; const body = new ReadableStream({ pull(c) { n++; c.enqueue(new Uint8Array(10)) }, cancel() { console.log("cancelled", n < 5) } });
		try { await fetch("`+base+`/echo", { method: "POST", body, duplex: "half", signal: AbortSignal.timeout(200) }) } catch (e) { console.log(e.name) }`, h, modules()...)
	if stdout != "cancelled true\nTimeoutError\n" || stderr != "" {
		t.Errorf("wrote %q and %q", stdout, stderr)
	}
}

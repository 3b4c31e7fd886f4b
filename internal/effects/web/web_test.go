package web

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"golang.org/x/net/dns/dnsmessage"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// open makes the network of a run with the words of a grant.
func open(t *testing.T, allow string, own ...netip.AddrPort) *Web {
	t.Helper()
	gate, err := grant.OpenNet(grant.Words{Allow: strings.Fields(allow)}, false, own)
	if err != nil {
		t.Fatal(err)
	}
	w := New(gate, 1<<20)
	t.Cleanup(w.Close)
	return w
}

// named makes names resolve to an address.
func named(t *testing.T, w *Web, address string) {
	t.Helper()
	at, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = at.Close()
		<-ended
	})
	go func() {
		defer close(ended)
		b := make([]byte, 1500)
		for {
			n, from, err := at.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			q := m.Questions[0]
			switch {
			case strings.HasPrefix(q.Name.String(), "nowhere."):
				m.RCode = dnsmessage.RCodeNameError
			case q.Type == dnsmessage.TypeA:
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type},
					Body:   &dnsmessage.AResource{A: netip.MustParseAddr(address).As4()},
				}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = at.WriteTo(out, from)
			}
		}
	}()
	w.gate.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", at.LocalAddr().String())
	}}
}

// call is an operation whose answer is read.
func call(ctx context.Context, w *Web, op string, head any, body []byte) (description, []byte, error) {
	text, err := json.Marshal(head)
	if err != nil {
		return description{}, nil, err
	}
	answer, content, err := w.Call(ctx, op, text, body)
	var d description
	if err == nil && answer != nil {
		err = json.Unmarshal(answer, &d)
	}
	return d, content, err
}

// fetch sends a request and reads its whole content.
func fetch(t *testing.T, w *Web, r request, body []byte) (description, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if r.Method == "" {
		r.Method = "GET"
	}
	d, all, err := call(ctx, w, "fetch.open", r, body)
	if err != nil {
		return d, string(all), err
	}
	text, err := whole(ctx, t, w, d, all)
	return d, text, err
}

// whole is the content of a response, of which some has come with its headers.
func whole(ctx context.Context, t *testing.T, w *Web, d description, begun []byte) (text string, err error) {
	t.Helper()
	all := slices.Clone(begun)
	for end := d.End; err == nil && !end; {
		var next description
		var b []byte
		next, b, err = call(ctx, w, "fetch.read", request{ID: d.ID, Max: 1 << 20}, nil)
		if err == nil && len(b) == 0 && !next.End {
			t.Fatal("fetch.read answers nothing, which is not the end")
		}
		all, end = append(all, b...), next.End
	}
	return string(all), err
}

func (d description) header(name string) string {
	var values []string
	for _, h := range d.Headers {
		if h[0] == name {
			values = append(values, h[1])
		}
	}
	return strings.Join(values, ", ")
}

// echo answers with what it was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s\n", r.Method, r.RequestURI)
	for _, name := range slices.Sorted(mapKeys(r.Header)) {
		fmt.Fprintf(w, "%s: %s\n", name, strings.Join(r.Header[name], ","))
	}
	fmt.Fprintf(w, "Host: %s\nLength: %d %v\n\n%s", r.Host, r.ContentLength, r.TransferEncoding, body)
}

func mapKeys(h http.Header) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range h {
			if !yield(k) {
				return
			}
		}
	}
}

// site serves handlers by path, and /to?URL redirects, with the status that code says.
func site(t *testing.T, handlers map[string]http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	if handlers["/"] == nil {
		mux.HandleFunc("/", echo)
	}
	mux.HandleFunc("/to/{code}", func(w http.ResponseWriter, r *http.Request) {
		to, _ := url.QueryUnescape(r.URL.RawQuery)
		w.Header().Set("Location", to)
		var code int
		_, _ = fmt.Sscan(r.PathValue("code"), &code)
		w.WriteHeader(code)
		fmt.Fprint(w, "moved")
	})
	for path, h := range handlers {
		mux.HandleFunc(path, h)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestRequest(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(server.Close)
	base := server.URL
	w := open(t, "127.0.0.1")
	host := strings.TrimPrefix(base, "http://")
	for _, tt := range []struct {
		name string
		r    request
		body string
		want string
	}{
		{"what is sent unasked", request{URL: base + "/p?q=1"}, "", "GET /p?q=1\nAccept-Encoding: gzip, deflate, br\nUser-Agent: mcpx\nHost: " + host + "\nLength: 0 []\n\n"},
		{"a body", request{URL: base, Method: "POST", Headers: [][2]string{{"content-type", "a/b"}, {"x-a", "1"}, {"X-A", "2"}}}, "body", "POST /\nAccept-Encoding: gzip, deflate, br\nContent-Length: 4\nContent-Type: a/b\nUser-Agent: mcpx\nX-A: 1,2\nHost: " + host + "\nLength: 4 []\n\nbody"},
		{"a method of one's own", request{URL: base, Method: "PURGE", Headers: [][2]string{{"user-agent", "own"}, {"accept-encoding", "br"}}}, "", "PURGE /\nAccept-Encoding: br\nUser-Agent: own\nHost: " + host + "\nLength: 0 []\n\n"},
		{"a part", request{URL: base, Headers: [][2]string{{"Range", "bytes=0-1"}}}, "", "GET /\nAccept-Encoding: identity\nRange: bytes=0-1\nUser-Agent: mcpx\nHost: " + host + "\nLength: 0 []\n\n"},
		{"a path as it is written", request{URL: base + "/a|b/'(x)/%2F?a b|c#frag"}, "", "GET /a|b/'(x)/%2F?a%20b|c\nAccept-Encoding: gzip, deflate, br\nUser-Agent: mcpx\nHost: " + host + "\nLength: 0 []\n\n"},
		{"a path that begins twice", request{URL: base + "//x"}, "", "GET //x\nAccept-Encoding: gzip, deflate, br\nUser-Agent: mcpx\nHost: " + host + "\nLength: 0 []\n\n"},
		{
			"headers that are not the script's to set", request{URL: base, Method: "POST", Headers: [][2]string{
				{"Host", "internal.admin"},
				{"Content-Length", "9"},
				{"Transfer-Encoding", "chunked"},
				{"Connection", "upgrade"},
				{"Keep-Alive", "1"},
				{"Upgrade", "h2c"},
				{"TE", "trailers"},
				{"Trailer", "x"},
				{"Expect", "100-continue"},
				{"HTTP2-Settings", "x"},
				{"Proxy-Authorization", "x"},
				{"Proxy-Connection", "x"},
				{"Sec-Fetch-Site", "none"},
				{"sec-websocket-key", "x"},
				{"X-Own", "é"},
			}}, "body", "POST /\nAccept-Encoding: gzip, deflate, br\nContent-Length: 4\nUser-Agent: mcpx\nX-Own: \xe9\nHost: " + host + "\nLength: 4 []\n\nbody",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var body []byte
			if tt.body != "" {
				body = []byte(tt.body)
			}
			d, got, err := fetch(t, w, tt.r, body)
			if err != nil || got != tt.want || d.Status != 200 || d.StatusText != "OK" || d.Redirected {
				t.Errorf("%v, %+v, the server saw\n%s want\n%s", err, d, got, tt.want)
			}
		})
	}
}

func TestRequestsThatAreNone(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	base := site(t, map[string]http.HandlerFunc{"/": func(http.ResponseWriter, *http.Request) { hits.Add(1) }})
	w := open(t, "*")
	for name, r := range map[string]request{
		"a line in a value": {URL: base, Headers: [][2]string{{"X-A", "1\r\nX-Injected: yes"}}},
		"NUL in a value":    {URL: base, Headers: [][2]string{{"X-A", "1\x00"}}},
		"more than a byte":  {URL: base, Headers: [][2]string{{"X-A", "ā"}}},
		"a line in a name":  {URL: base, Headers: [][2]string{{"X-A: 1\r\nX-B", "1"}}},
		"no name":           {URL: base, Headers: [][2]string{{"", "1"}}},
		"a line in method":  {URL: base, Method: "GET / HTTP/1.1\r\nX: "},
		"connect":           {URL: base, Method: "CONNECT"},
		"trace":             {URL: base, Method: "trace"},
		"no URL":            {URL: "nothing"},
		"a file":            {URL: "file:///etc/passwd"},
		"a socket":          {URL: "unix:///run/docker.sock"},
		"a socket's URL":    {URL: "http+unix://%2Frun%2Fdocker.sock/info"},
		"data":              {URL: "data:text/plain,x"},
		"gopher":            {URL: "gopher://127.0.0.1/"},
		"endless users":     {URL: "http://" + strings.Repeat("@", 60_000) + "h/"},
		"endless":           {URL: base + "/" + strings.Repeat("a", 1<<17)},
	} {
		if r.Method == "" {
			r.Method = "GET"
		}
		if _, _, err := call(t.Context(), w, "fetch.open", r, nil); fault.KindOf(err) != fault.Usage {
			t.Errorf("%s: %v, want an error of the kind usage", name, err)
		}
	}
	for _, port := range []string{"0", "22", "25", "6667"} {
		_, _, err := call(t.Context(), w, "fetch.open", request{URL: "http://127.0.0.1:" + port, Method: "GET"}, nil)
		if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "bad port") {
			t.Errorf("port %s: %v, want a bad port", port, err)
		}
	}
	for _, op := range []string{"fetch.read", "fetch.write", "fetch.head"} {
		if _, _, err := call(t.Context(), w, op, request{ID: 99}, nil); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s of nothing: %v", op, err)
		}
	}
	if _, _, err := w.Call(t.Context(), "fetch.open", []byte(`{"url":5}`), nil); fault.KindOf(err) != fault.Internal {
		t.Errorf("a malformed head: %v", err)
	}
	if _, _, err := call(t.Context(), w, "fetch.close", request{ID: 99}, nil); err != nil {
		t.Errorf("closing nothing: %v", err)
	}
	d, _, err := call(t.Context(), w, "fetch.open", request{URL: base, Method: "HEAD"}, nil)
	if err != nil || !d.End {
		t.Fatalf("%v, %+v", err, d)
	}
	if n := hits.Load(); n != 1 {
		t.Errorf("%d requests were sent, want the last", n)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	other := site(t, nil)
	base := site(t, map[string]http.HandlerFunc{
		"/loop": func(w http.ResponseWriter, r *http.Request) {
			var n int
			_, _ = fmt.Sscan(r.URL.RawQuery, &n)
			if n == 0 {
				fmt.Fprint(w, "there")
				return
			}
			http.Redirect(w, r, fmt.Sprintf("/loop?%d", n-1), http.StatusFound)
		},
		"/nowhere": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) },
	})
	private := [][2]string{
		{"Authorization", "Bearer c0ffee"},
		{"Cookie", "sid=c0ffee"},
		{"X-Api-Key", "c0ffee"},
		{"User-Agent", "c0ffee"},
		{"Referer", "http://c0ffee/"},
		{"Origin", "c0ffee"},
		{"Accept", "a/b"},
		{"Content-Type", "c/d"},
		{"Accept-Language", "de"},
	}
	authority, _ := url.Parse(base)
	for _, tt := range []struct {
		name, to, method, body, redirect string
		code                             int
		has, not                         string // what the last server saw
		fails                            string // or a part of the error, with its kind
		kind                             fault.Kind
	}{
		{name: "the same origin", code: 302, to: "/last?a#b", has: "GET /last?a\n;Authorization: Bearer c0ffee;X-Api-Key: c0ffee;Content-Type: c/d"},
		{name: "another port", code: 302, to: other + "/last", has: "Accept: a/b;Accept-Language: de;Content-Type: c/d;User-Agent: mcpx", not: "c0ffee"},
		{name: "another port and back", code: 302, to: other + "/to/302?" + url.QueryEscape(base+"/last"), has: "GET /last\n", not: "c0ffee"},
		{name: "a name of the same address", code: 307, to: strings.Replace(base, "127.0.0.1", "localhost", 1) + "/last", has: "GET /last\n", not: "c0ffee"},
		{name: "301 of a POST", code: 301, method: "POST", body: "body", to: "/last", has: "GET /last\n;Length: 0", not: "body;Content-Type"},
		{name: "302 of a POST", code: 302, method: "POST", body: "body", to: "/last", has: "GET /last\n;Length: 0", not: "body;Content-Type"},
		{name: "303 of a POST", code: 303, method: "POST", body: "body", to: "/last", has: "GET /last\n;Length: 0", not: "body;Content-Type"},
		{name: "303 of a PUT", code: 303, method: "PUT", body: "body", to: "/last", has: "GET /last\n", not: "body"},
		{name: "302 of a PUT", code: 302, method: "PUT", body: "body", to: "/last", has: "PUT /last\n;body;Content-Type: c/d"},
		{name: "307 of a POST", code: 307, method: "POST", body: "body", to: "/last", has: "POST /last\n;body;Content-Type: c/d;Length: 4"},
		{name: "308 of a POST to another origin", code: 308, method: "POST", body: "body", to: other + "/last", has: "POST /last\n;body;Content-Type: c/d", not: "c0ffee"},
		{name: "as the URL Standard reads it", code: 302, to: `\last/./x/../y z`, has: "GET /last/y%20z\n"},
		{name: "manual", code: 302, to: other, redirect: "manual", has: "moved"},
		{name: "error", code: 302, to: "/last", redirect: "error", fails: "unexpected redirect", kind: fault.Unavailable},
		{name: "300 is none", code: 300, to: "/last", has: "moved"},
		{name: "304 is none", code: 304, to: "/last"},
		{name: "to a file", code: 302, to: "file:///etc/passwd", fails: "scheme file", kind: fault.Unavailable},
		{name: "to data", code: 302, to: "data:text/plain,x", fails: "scheme data", kind: fault.Unavailable},
		{name: "to no URL", code: 302, to: "http://[", fails: "no URL", kind: fault.Unavailable},
		{name: "to a user elsewhere", code: 302, to: strings.Replace(other, "//", "//user:word@", 1), fails: "user name", kind: fault.Unavailable},
		{name: "to a user here", code: 302, to: strings.Replace(base, "//", "//user:word@", 1) + "/last", has: "GET /last\n", not: "Basic;word"},
		{name: "to what is not granted", code: 302, to: "http://127.0.0.2:" + authority.Port() + "/", fails: `denied: net "127.0.0.2:` + authority.Port() + `"`, kind: fault.Denied},
		{name: "to metadata", code: 302, to: "http://169.254.169.254/latest/", fails: `denied: net "169.254.169.254"`, kind: fault.Denied},
		{name: "to an odd spelling", code: 302, to: "http://0x7f.2/", fails: `denied: net "127.0.0.2"`, kind: fault.Denied},
		{name: "without a scheme", code: 302, to: "//127.0.0.3/", fails: `denied: net "127.0.0.3"`, kind: fault.Denied},
		{name: "to a name", code: 302, to: "http://c0ffee.exfil.invalid/", fails: `denied: net "c0ffee.exfil.invalid"`, kind: fault.Denied},
		{name: "to a bad port", code: 302, to: "http://127.0.0.1:22/", fails: "bad port", kind: fault.Unavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := open(t, "127.0.0.1")
			if tt.method == "" {
				tt.method = "GET"
			}
			var body []byte
			if tt.body != "" {
				body = []byte(tt.body)
			}
			d, got, err := fetch(t, w, request{URL: fmt.Sprintf("%s/to/%d?%s", base, tt.code, url.QueryEscape(tt.to)), Method: tt.method, Headers: private, Redirect: tt.redirect}, body)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) || fault.KindOf(err) != tt.kind {
					t.Errorf("%v (%s), want %q of the kind %s", err, fault.KindOf(err), tt.fails, tt.kind)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for has := range strings.SplitSeq(tt.has, ";") {
				if !strings.Contains(got, has) {
					t.Errorf("%q is not in\n%s", has, got)
				}
			}
			for not := range strings.SplitSeq(tt.not, ";") {
				if not != "" && strings.Contains(got, not) {
					t.Errorf("%q is in\n%s", not, got)
				}
			}
			if followed := tt.redirect != "manual" && tt.code != 300 && tt.code != 304; d.Redirected != followed || strings.Contains(d.URL, "#") {
				t.Errorf("redirected %v, URL %s", d.Redirected, d.URL)
			}
		})
	}
	t.Run("how often", func(t *testing.T) {
		t.Parallel()
		w := open(t, "127.0.0.1")
		if _, got, err := fetch(t, w, request{URL: base + "/loop?10"}, nil); err != nil || got != "there" {
			t.Errorf("10: %q, %v", got, err)
		}
		if _, got, err := fetch(t, w, request{URL: base + "/loop?11"}, nil); err == nil || !strings.Contains(err.Error(), "redirect count exceeded") {
			t.Errorf("11: %q, %v, want an error", got, err)
		}
		if d, _, err := fetch(t, w, request{URL: base + "/nowhere"}, nil); err != nil || d.Status != 302 {
			t.Errorf("without a location: %v, %v", d, err)
		}
	})
}

func pack(t *testing.T, coding, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zlib":
		w = zlib.NewWriter(&b)
	case "flate":
		w, _ = flate.NewWriter(&b, 9)
	case "br":
		w = brotli.NewWriter(&b)
	}
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.Bytes()
}

func TestContentIsDecoded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("some text, ", 20_000)
	gz := pack(t, "gzip", text)
	for _, tt := range []struct {
		name, coding string
		body         []byte
		want, code   string
	}{
		{"plain", "", []byte(text), text, ""},
		{"gzip", "gzip", gz, text, ""},
		{"x-gzip in capitals", "X-GZIP", gz, text, ""},
		{"zlib", "deflate", pack(t, "zlib", text), text, ""},
		{"deflate without a frame", "deflate", pack(t, "flate", text), text, ""},
		{"brotli", "br", pack(t, "br", text), text, ""},
		{"one in another", "deflate, gzip", pack(t, "gzip", string(pack(t, "zlib", text))), text, ""},
		{"not known", "zstd", []byte("as it is"), "as it is", ""},
		{"identity", "identity", []byte(text), text, ""},
		{"members", "gzip", append(slices.Clone(gz), pack(t, "gzip", "!")...), text + "!", ""},
		{"something behind", "gzip", append(slices.Clone(gz), "\x00\x00padding"...), text, ""},
		{"nothing", "gzip", nil, "", ""},
		{"cut off", "gzip", gz[:len(gz)-9], "", "UND_ERR_SOCKET"},
		{"not gzip", "gzip", []byte("plain text"), "", "Z_DATA_ERROR"},
		{"not brotli", "br", []byte("plain text, which is not brotli at all"), "", "Z_DATA_ERROR"},
		{"broken", "gzip", append(slices.Clone(gz[:len(gz)-8]), 1, 2, 3, 4, 5, 6, 7, 8), "", "Z_DATA_ERROR"},
		{"brotli in brotli", "br, br", pack(t, "br", string(pack(t, "br", text))), "", "UND_ERR_SOCKET"},
		{"too often", "gzip, gzip, gzip, gzip, gzip, gzip", gz, "", "UND_ERR_SOCKET"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := site(t, map[string]http.HandlerFunc{"/x": func(w http.ResponseWriter, _ *http.Request) {
				if tt.coding != "" {
					w.Header().Set("Content-Encoding", tt.coding)
				}
				_, _ = w.Write(tt.body)
			}})
			d, got, err := fetch(t, open(t, "127.0.0.1"), request{URL: base + "/x"}, nil)
			if tt.code != "" {
				if e := fault.From(err); e == nil || e.Details["code"] != tt.code {
					t.Errorf("%v, %+v, want the code %s", err, e, tt.code)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("%v, %d bytes, want %d", err, len(got), len(tt.want))
			}
			if d.header("content-encoding") != tt.coding {
				t.Errorf("content-encoding is %q: the headers are the server's", d.header("content-encoding"))
			}
		})
	}
}

func TestResponsesWithoutContent(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]http.HandlerFunc{"/{code}": func(w http.ResponseWriter, r *http.Request) {
		var code int
		_, _ = fmt.Sscan(r.PathValue("code"), &code)
		w.Header()["X-Latin"] = []string{"caf\xe9"}
		w.Header()["Set-Cookie"] = []string{"a=1", "b=2"}
		w.WriteHeader(code)
	}})
	w := open(t, "127.0.0.1")
	for _, path := range []string{"/204", "/205", "/304", "/200"} {
		for _, method := range []string{"GET", "HEAD"} {
			d, b, err := call(t.Context(), w, "fetch.open", request{URL: base + path, Method: method}, nil)
			if err != nil || !d.End || len(b) != 0 || fmt.Sprintf("/%d", d.Status) != path {
				t.Errorf("%s %s: %v, %+v, %q", method, path, err, d, b)
			}
			if d.header("x-latin") != "café" || d.header("set-cookie") != "a=1, b=2" {
				t.Errorf("headers are %v", d.Headers)
			}
		}
	}
	if n := len(w.exchanges); n != 0 {
		t.Errorf("%d exchanges are open", n)
	}
}

// endless writes until the client has gone, and says how much.
func endless(sent *atomic.Int64, gone chan<- struct{}, wrap func(io.Writer) io.Writer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		out := wrap(w)
		b := make([]byte, 64<<10)
		for r.Context().Err() == nil {
			n, err := out.Write(b)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
}

func TestAnEndlessResponseIsReadAsItIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, coding := range []string{"", "gzip"} {
		var sent atomic.Int64
		gone := make(chan struct{})
		base := site(t, map[string]http.HandlerFunc{"/x": func(w http.ResponseWriter, r *http.Request) {
			wrap := func(out io.Writer) io.Writer { return out }
			if coding != "" {
				w.Header().Set("Content-Encoding", coding)
				wrap = func(out io.Writer) io.Writer { return gzip.NewWriter(out) }
			}
			endless(&sent, gone, wrap)(w, r)
		}})
		w := open(t, "127.0.0.1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		d, b, err := call(ctx, w, "fetch.open", request{URL: base + "/x", Method: "GET"}, nil)
		if err != nil || d.End || len(b) > window {
			t.Fatalf("%v, %+v, %d bytes", err, d, len(b))
		}
		for range 100 {
			var next description
			next, b, err = call(ctx, w, "fetch.read", request{ID: d.ID, Max: 1 << 40}, nil)
			if err != nil || next.End || len(b) == 0 || len(b) > window {
				t.Fatalf("%q: %v, %+v, %d bytes", coding, err, next, len(b))
			}
		}
		time.Sleep(50 * time.Millisecond)
		w.mu.Lock()
		c := w.exchanges[d.ID].response.content
		w.mu.Unlock()
		c.mu.Lock()
		held := len(c.bytes)
		c.mu.Unlock()
		if held > window {
			t.Errorf("%d bytes are held", held)
		}
		if _, _, err := call(ctx, w, "fetch.close", request{ID: d.ID}, nil); err != nil {
			t.Fatal(err)
		}
		select {
		case <-gone:
		case <-ctx.Done():
			t.Fatalf("%q: the server still sends, %d bytes", coding, sent.Load())
		}
	}
}

func TestAnExchangeIsGivenUpAtOnce(t *testing.T) {
	t.Parallel()
	arrived, gone := make(chan string, 10), make(chan string, 10)
	hang := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
		}
		arrived <- r.URL.Path
		<-r.Context().Done()
		gone <- r.URL.Path
	}
	base := site(t, map[string]http.HandlerFunc{"/head": hang, "/body": hang})
	ends := func(what string) {
		t.Helper()
		select {
		case <-gone:
		case <-time.After(time.Minute):
			t.Errorf("%s: the server was not told", what)
		}
	}
	w := open(t, "127.0.0.1")
	why := errors.New("why")

	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-arrived; cancel(why) }()
	if _, _, err := call(ctx, w, "fetch.open", request{URL: base + "/head", Method: "GET"}, nil); !errors.Is(err, why) {
		t.Errorf("waiting for headers: %v", err)
	}
	ends("headers")

	d, _, err := call(t.Context(), w, "fetch.open", request{URL: base + "/body", Method: "GET"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-arrived
	ctx, cancel = context.WithCancelCause(t.Context())
	go cancel(why)
	if _, _, err := call(ctx, w, "fetch.read", request{ID: d.ID, Max: 10}, nil); !errors.Is(err, why) {
		t.Errorf("waiting for content: %v", err)
	}
	ends("content")

	w.idle = 200 * time.Millisecond
	if d, _, err = call(t.Context(), w, "fetch.open", request{URL: base + "/body", Method: "GET"}, nil); err != nil {
		t.Fatal(err)
	}
	<-arrived
	if _, _, err = call(t.Context(), w, "fetch.read", request{ID: d.ID, Max: 10}, nil); fault.From(err).Details["code"] != "UND_ERR_BODY_TIMEOUT" {
		t.Errorf("a response that stalls: %v", err)
	}
	ends("a stalled response")

	w.headers = time.Second // in which the request arrives
	if _, _, err = call(t.Context(), w, "fetch.open", request{URL: base + "/head", Method: "GET"}, nil); fault.From(err).Details["code"] != "UND_ERR_HEADERS_TIMEOUT" {
		t.Errorf("headers that do not come: %v", err)
	}
	ends("headers that do not come")
	w.headers = headersTimeout

	<-arrived
	failed := make(chan error)
	go func() {
		_, _, err := call(t.Context(), w, "fetch.open", request{URL: base + "/head", Method: "GET"}, nil)
		failed <- err
	}()
	<-arrived
	w.Close()
	if err := <-failed; fault.KindOf(err) != fault.Unavailable {
		t.Errorf("at the end of the run: %v", err)
	}
	ends("the end of the run")
	if _, _, err := call(t.Context(), w, "fetch.open", request{URL: base + "/head", Method: "GET"}, nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("after the end of the run: %v", err)
	}
}

func TestFailuresHaveNodesCodes(t *testing.T) {
	t.Parallel()
	raw := func(answer string) string {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var serving sync.WaitGroup
		t.Cleanup(func() {
			_ = l.Close()
			serving.Wait()
		})
		serving.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				serving.Go(func() {
					b := make([]byte, 4<<10)
					_, _ = c.Read(b)
					if answer == "RST" {
						_ = c.(*net.TCPConn).SetLinger(0)
					} else {
						_, _ = io.WriteString(c, answer)
					}
					_ = c.Close()
				})
			}
		})
		return "http://" + l.Addr().String()
	}
	secure := httptest.NewTLSServer(http.HandlerFunc(echo))
	secure.Config.ErrorLog = nil
	t.Cleanup(secure.Close)
	plain := site(t, nil)

	for _, tt := range []struct{ name, url, code string }{
		{"nobody listens", "http://127.0.0.1:2/", "ECONNREFUSED"},
		{"nobody by that name", "http://nowhere.test/", "ENOTFOUND"},
		{"a connection that is reset", raw("RST"), "ECONNRESET"},
		{"nothing comes", raw(""), "UND_ERR_SOCKET"},
		{"no HTTP", raw("hello, this is no HTTP\r\n\r\n"), "HPE_INVALID_CONSTANT"},
		{"a protocol that was not asked for", raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), ""},
		{"endless headers", raw("HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 200)), "UND_ERR_HEADERS_OVERFLOW"},
		{"endless interim answers", raw(strings.Repeat("HTTP/1.1 103 Early Hints\r\nX-A: "+strings.Repeat("a", 1000)+"\r\n\r\n", 200)), "UND_ERR_HEADERS_OVERFLOW"},
		{"content that is cut off", raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), "UND_ERR_SOCKET"},
		{"chunks that are none", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "HPE_INVALID_CONSTANT"},
		{"an authority that nobody trusts", strings.Replace(secure.URL, "127.0.0.1", "example.com", 1), "UNABLE_TO_VERIFY_LEAF_SIGNATURE"},
		{"no TLS", strings.Replace(plain, "http:", "https:", 1), "ERR_SSL_WRONG_VERSION_NUMBER"},
		{"TLS where none is spoken", strings.Replace(secure.URL, "https:", "http:", 1), "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := open(t, "127.0.0.1 *.test example.com")
			named(t, w, "127.0.0.1")
			spelled := strings.Replace(tt.url, "127.0.0.1", "server.test", 1)
			d, _, err := fetch(t, w, request{URL: spelled}, nil)
			if tt.code == "none" {
				if err != nil || d.Status != 400 {
					t.Errorf("%v, %+v, want the server's own answer", err, d)
				}
				return
			}
			e := fault.From(err)
			if e == nil || e.Kind != fault.Unavailable || tt.code != "" && e.Details["code"] != tt.code {
				t.Fatalf("%v, %+v, want the code %s", err, e, tt.code)
			}
			if text, _ := json.Marshal(e); strings.Contains(string(text), "127.0.0.1") || !strings.Contains(string(text), ".test") && !strings.Contains(string(text), "example.com") {
				t.Errorf("%s tells an address, or does not name the host", text)
			}
		})
	}
	t.Run("a certificate for another host", func(t *testing.T) {
		t.Parallel()
		w := open(t, "127.0.0.1 *.test example.com")
		named(t, w, "127.0.0.1")
		w.transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		w.transport.TLSClientConfig.RootCAs.AddCert(secure.Certificate())
		_, _, err := fetch(t, w, request{URL: strings.Replace(secure.URL, "127.0.0.1", "server.test", 1)}, nil)
		if e := fault.From(err); e == nil || e.Details["code"] != "ERR_TLS_CERT_ALTNAME_INVALID" {
			t.Errorf("%v, %+v", err, e)
		}
		// And the one that it is for, over TLS.
		d, got, err := fetch(t, w, request{URL: strings.Replace(secure.URL, "127.0.0.1", "example.com", 1) + "/p"}, nil)
		if err != nil || !strings.HasPrefix(got, "GET /p\n") || d.Status != 200 {
			t.Errorf("%v, %+v, %s", err, d, got)
		}
	})
}

func TestTheGateIsAsked(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	base := site(t, map[string]http.HandlerFunc{"/": func(http.ResponseWriter, *http.Request) { hits.Add(1) }})
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	own := netip.MustParseAddrPort(u.Host)
	port := u.Port()
	for _, tt := range []struct {
		name, allow, hosts string
		own                []netip.AddrPort
	}{
		{"nothing is granted", "", "127.0.0.1 localhost name.test", nil},
		{"public addresses", "public", "127.0.0.1 0x7f.1 2130706433 0177.0.0.1 127.1 [::ffff:127.0.0.1] [::1] [::] 0.0.0.0 localhost １２７.０.０.１ [::127.0.0.1] 169.254.169.254 name.test [fe80::1%25lo]", nil},
		{"a name", "name.test", "name.test 127.0.0.1 0x7f000001 017700000001 ⓛocalhost name.test@127.0.0.1", nil},
		{"this program", "* 127.0.0.0/8 localhost", "127.0.0.1 localhost name.test 0.0.0.0 0x7f.1", []netip.AddrPort{own, netip.AddrPortFrom(netip.IPv6Loopback(), own.Port())}},
	} {
		w := open(t, tt.allow, tt.own...)
		named(t, w, "127.0.0.1")
		for host := range strings.FieldsSeq(tt.hosts) {
			spelled := "http://" + host + ":" + port + "/"
			_, _, err := call(t.Context(), w, "fetch.open", request{URL: spelled, Method: "GET"}, nil)
			if kind := fault.KindOf(err); kind != fault.Denied && (kind != fault.Usage || !strings.Contains(host, "%")) {
				t.Errorf("%s: %s: %v, want a denial", tt.name, spelled, err)
			}
			if e := fault.From(err); host == "name.test" && e.Details["thing"] != host+":"+port {
				t.Errorf("the thing is %v, want what the script spelled", e.Details["thing"])
			}
			// Nor does a stream get further.
			if _, _, err := call(t.Context(), w, "fetch.open", request{URL: spelled, Method: "POST", Stream: true}, nil); host != "name.test" && err == nil {
				t.Errorf("%s: %s is opened for a stream", tt.name, spelled)
			}
		}
		w.Close()
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the server was reached %d times", n)
	}
}

// It changes the environment of the process, so it is not parallel.
func TestNoProxyOfTheEnvironmentIsUsed(t *testing.T) {
	var proxied atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	base := site(t, nil)
	w := open(t, "name.test 127.0.0.1")
	named(t, w, "127.0.0.1")
	_, got, err := fetch(t, w, request{URL: strings.Replace(base, "127.0.0.1", "name.test", 1) + "/direct"}, nil)
	if err != nil || !strings.HasPrefix(got, "GET /direct\n") || proxied.Load() != 0 {
		t.Errorf("%v, %q, %d requests to the proxy", err, got, proxied.Load())
	}
}

func TestStreamedRequests(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]http.HandlerFunc{"/early": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		fmt.Fprint(w, "enough")
	}})
	w := open(t, "127.0.0.1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	d, _, err := call(ctx, w, "fetch.open", request{URL: base + "/up", Method: "POST", Stream: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if _, _, err := call(ctx, w, "fetch.write", request{ID: d.ID, End: i == 3}, fmt.Appendf(nil, "p%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	// heads waits for the response, and reads all of it.
	heads := func(id int64) (description, string, error) {
		d, begun, err := call(ctx, w, "fetch.head", request{ID: id}, nil)
		if err != nil {
			return d, "", err
		}
		text, err := whole(ctx, t, w, d, begun)
		return d, text, err
	}
	d, b, err := heads(d.ID)
	if err != nil || !strings.HasPrefix(b, "POST /up\n") || !strings.HasSuffix(b, "Length: -1 [chunked]\n\np0p1p2p3") {
		t.Errorf("%v, %+v, the server saw %s", err, d, b)
	}

	// A server that has heard enough.
	if d, _, err = call(ctx, w, "fetch.open", request{URL: base + "/early", Method: "POST", Stream: true}, nil); err != nil {
		t.Fatal(err)
	}
	for over := false; !over; {
		answer, _, err := w.Call(ctx, "fetch.write", fmt.Appendf(nil, `{"id":%d}`, d.ID), make([]byte, 64<<10))
		if err != nil {
			t.Fatal(err)
		}
		over = bytes.Contains(answer, []byte("over"))
	}
	if d, b, err = heads(d.ID); err != nil || d.Status != 413 || b != "enough" {
		t.Errorf("%v, %+v, %s", err, d, b)
	}

	// A stream cannot be sent twice.
	for code, want := range map[int]string{307: "cannot be sent again", 302: "cannot be sent again", 303: ""} {
		if d, _, err = call(ctx, w, "fetch.open", request{URL: fmt.Sprintf("%s/to/%d?%%2Flast", base, code), Method: "POST", Stream: true}, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := call(ctx, w, "fetch.write", request{ID: d.ID, End: true}, []byte("x")); err != nil {
			t.Fatal(err)
		}
		_, b, err := heads(d.ID)
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) || want == "" && (err != nil || !strings.HasPrefix(b, "GET /last\n")) {
			t.Errorf("%d: %v, %s", code, err, b)
		}
	}

	// One that nobody reads holds nobody up.
	gate := make(chan struct{})
	defer close(gate)
	stuck := site(t, map[string]http.HandlerFunc{"/": func(http.ResponseWriter, *http.Request) { <-gate }})
	if d, _, err = call(ctx, w, "fetch.open", request{URL: stuck, Method: "POST", Stream: true}, nil); err != nil {
		t.Fatal(err)
	}
	why := errors.New("why")
	short, stop := context.WithTimeoutCause(ctx, 100*time.Millisecond, why)
	defer stop()
	for short.Err() == nil {
		if _, _, err := call(short, w, "fetch.write", request{ID: d.ID}, make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := call(ctx, w, "fetch.head", request{ID: d.ID}, nil); err == nil {
		t.Error("a request that was given up has an answer")
	}
}

func TestOpenResponsesAreCounted(t *testing.T) {
	t.Parallel()
	var serving atomic.Int32
	base := site(t, map[string]http.HandlerFunc{"/hang": func(w http.ResponseWriter, r *http.Request) {
		serving.Add(1)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}})
	w := open(t, "127.0.0.1")
	for range maxConnections {
		if _, _, err := call(t.Context(), w, "fetch.open", request{URL: base + "/hang", Method: "GET"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	// One more waits for a place, ...
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := call(ctx, w, "fetch.open", request{URL: base + "/hang", Method: "GET"}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want to wait", err)
	}
	// ... and has it when another is given up.
	time.AfterFunc(20*time.Millisecond, func() { _, _, _ = call(t.Context(), w, "fetch.close", request{ID: 1}, nil) })
	for {
		_, _, err := call(t.Context(), w, "fetch.open", request{URL: base + "/hang", Method: "GET"}, nil)
		if err != nil && fault.From(err).Details["busy"] == true {
			continue // as stdlib/fetch does
		}
		if err != nil {
			t.Error(err)
		}
		break
	}
	if n := serving.Load(); n != maxConnections+1 {
		t.Errorf("%d requests were served, want %d", n, maxConnections+1)
	}
	// Those that are whole hold no connection, but are counted.
	long := site(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 60<<10)) }})
	w = open(t, "127.0.0.1")
	var err error
	n := 0
	for ; err == nil && n <= maxExchanges; n++ {
		var d description
		if d, _, err = call(t.Context(), w, "fetch.open", request{URL: long, Method: "GET"}, nil); d.End {
			n-- // it came whole at once
			if w.last > 10*maxExchanges {
				t.Skip("every response came whole with its headers")
			}
		}
	}
	if fault.KindOf(err) != fault.Limit || n != maxExchanges+1 {
		t.Errorf("after %d: %v, want a limit", n, err)
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	var conns atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	w := open(t, "127.0.0.1")
	for range 20 {
		if _, _, err := fetch(t, w, request{URL: server.URL}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := conns.Load(); n > 3 {
		t.Errorf("20 requests made %d connections", n)
	}
}

// It counts the goroutines of the process, so it is not parallel.
func TestCloseLeavesNothingBehind(t *testing.T) {
	var mu sync.Mutex
	states := map[net.Conn]http.ConnState{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		echo(w, r)
	}))
	server.Config.ConnState = func(c net.Conn, s http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		states[c] = s
		if s == http.StateClosed {
			delete(states, c)
		}
	}
	server.Start()
	defer server.Close()
	before := runtime.NumGoroutine()
	gate, err := grant.OpenNet(grant.Words{Allow: []string{"127.0.0.1"}}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := New(gate, 1<<20)
	for range 10 {
		if _, _, err := fetch(t, w, request{URL: server.URL}, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := call(t.Context(), w, "fetch.open", request{URL: server.URL + "/hang", Method: "GET"}, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := call(t.Context(), w, "fetch.open", request{URL: server.URL, Method: "POST", Stream: true}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := fetch(t, w, request{URL: server.URL}, nil); err != nil { // whose connection is idle now
		t.Fatal(err)
	}
	w.Close()
	w.Close()
	if len(w.places) != 0 {
		t.Errorf("%d places are taken", len(w.places))
	}
	left := func() (int, int) {
		mu.Lock()
		defer mu.Unlock()
		return len(states), runtime.NumGoroutine() - before
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if c, g := left(); c == 0 && g <= 0 {
			return
		}
	}
	c, g := left()
	b := make([]byte, 1<<16)
	t.Errorf("%d connections and %d goroutines are left:\n%s", c, g, b[:runtime.Stack(b, true)])
}

func BenchmarkFetch(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"a":1}`) }))
	defer server.Close()
	gate, err := grant.OpenNet(grant.Words{Allow: []string{"127.0.0.1"}}, false, nil)
	if err != nil {
		b.Fatal(err)
	}
	w := New(gate, 1<<20)
	defer w.Close()
	whole := 0
	for b.Loop() {
		d, _, err := call(b.Context(), w, "fetch.open", request{URL: server.URL, Method: "GET"}, nil)
		if err != nil {
			b.Fatal(err)
		}
		if d.End {
			whole++
		} else if _, _, err := call(b.Context(), w, "fetch.read", request{ID: d.ID, Max: 1000}, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(whole)/float64(b.N), "whole/op")
}

func BenchmarkDownload(b *testing.B) {
	const size = 64 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		chunk := make([]byte, 1<<20)
		for range size / len(chunk) {
			_, _ = w.Write(chunk)
		}
	}))
	defer server.Close()
	gate, err := grant.OpenNet(grant.Words{Allow: []string{"127.0.0.1"}}, false, nil)
	if err != nil {
		b.Fatal(err)
	}
	w := New(gate, 1<<20)
	defer w.Close()
	b.SetBytes(size)
	for b.Loop() {
		d, _, err := call(b.Context(), w, "fetch.open", request{URL: server.URL, Method: "GET"}, nil)
		for err == nil && !d.End {
			id := d.ID
			d, _, err = call(b.Context(), w, "fetch.read", request{ID: id, Max: 256 << 10}, nil)
			d.ID = id
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

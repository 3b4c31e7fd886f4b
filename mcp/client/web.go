package client

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"mcpx/internal/fault"
)

const (
	maxRedirects = 5
	// dialTimeout bounds one attempt to connect, handshakeTimeout that to agree on TLS.
	dialTimeout      = 20 * time.Second
	handshakeTimeout = 15 * time.Second
	// idleTimeout is how long a connection is kept for the next request. Many servers close
	// theirs after 5 s, and a call that they get at that moment is lost.
	idleTimeout = 4 * time.Second
	// quietTimeout is how long an HTTP/2 connection may be silent before it is asked whether the
	// server is still there, and deadTimeout how long the answer may take: after a sleep, or in
	// another network, nothing else would tell that it is not.
	quietTimeout = 15 * time.Second
	deadTimeout  = 15 * time.Second
	// shortestSecret is the shortest value of a header that is taken out of what is quoted.
	shortestSecret = 4
)

// Endpoint is a server to be reached over HTTP.
type Endpoint struct {
	Name    string // what errors call it
	URL     string // used as it is written
	Headers map[string]string
	Version string // of this program, for User-Agent
	// Proxy says through which proxy an address is reached, as http.Transport has it; nil
	// is none.
	Proxy func(*url.URL) (*url.URL, error)
	// MaxMessage is the longest message in bytes; 0 means 64 MiB.
	MaxMessage int
	// Room is what long messages share; nil has no bounds.
	Room *Room
	// Authorizer says with which token the server is asked; nil is none. Its tokens go to
	// the origin of URL and nowhere else.
	Authorizer Authorizer
}

// web makes requests to one server.
type web struct {
	name    string
	url     *url.URL
	host    string      // in place of that of url
	headers http.Header // of the entry; they may be secret
	agent   string
	max     int
	room    *Room
	tokens  authorization
	client  http.Client
}

func newWeb(e Endpoint) (*web, error) {
	u, err := url.Parse(e.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fault.Unavailablef("the url of %s is not the address of an HTTP server", e.Name).With("server", e.Name).
			Hintf("write http://… or https://…")
	}
	w := &web{name: e.Name, url: u, headers: http.Header{}, agent: "mcpx", max: e.MaxMessage, room: e.Room}
	if e.Version != "" && headerText(e.Version) {
		w.agent += "/" + e.Version
	}
	if w.max <= 0 {
		w.max = defaultMaxLine
	}
	w.tokens.by = e.Authorizer
	for name, value := range e.Headers {
		if strings.EqualFold(name, "Host") {
			w.host = value
			continue
		}
		w.headers.Set(name, value)
	}
	proxy := func(r *http.Request) (*url.URL, error) {
		if e.Proxy == nil {
			return nil, nil //nolint:nilnil // as http.Transport has it: no proxy
		}
		return e.Proxy(r.URL)
	}
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	w.client = http.Client{
		Transport: &http.Transport{
			Proxy: proxy, DialContext: dialer.DialContext, TLSHandshakeTimeout: handshakeTimeout,
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: idleTimeout,
			HTTP2:                  &http.HTTP2Config{SendPingTimeout: quietTimeout, PingTimeout: deadTimeout},
			MaxResponseHeaderBytes: 1 << 20,
		},
		// Redirects are followed here, where it is known what may go along.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return w, nil
}

// where is the address of the server as it may be shown. What follows the host can be
// a key.
func (w *web) where() string { return origin(w.url) }

// address is where the server is, with those parts of the path that are no key.
func (w *web) address() string {
	segments := strings.Split(w.url.EscapedPath(), "/")
	for i, segment := range segments {
		switch segment {
		case "", "api", "http", "mcp", "message", "messages", "server", "sse", "stream", "v1", "v2", "v3":
		default:
			segments[i] = "…"
		}
	}
	return w.where() + strings.Join(segments, "/")
}

// origin is what two addresses have in common that belong to one server.
func origin(u *url.URL) string {
	port := u.Port()
	if port != "" && (u.Scheme != "http" || port != "80") && (u.Scheme != "https" || port != "443") {
		port = ":" + port
	} else {
		port = ""
	}
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return u.Scheme + "://" + host + port
}

// authorized reports whether the entry has something to show who asks.
func (w *web) authorized() bool { return w.headers.Get("Authorization") != "" || w.url.User != nil }

// redact takes out of a text what the entry sends in its headers and in its address.
func (w *web) redact(s string) string {
	hide := func(secret string) {
		if len(secret) >= shortestSecret {
			s = strings.ReplaceAll(s, secret, "•••")
		}
	}
	for _, values := range w.headers {
		for _, v := range values {
			hide(v)
			if _, token, ok := strings.Cut(v, " "); ok {
				hide(token)
			}
		}
	}
	for _, token := range w.tokens.secrets() {
		hide(token)
	}
	for _, values := range w.url.Query() {
		for _, v := range values {
			hide(v)
		}
	}
	if password, ok := w.url.User.Password(); ok {
		hide(password)
	}
	return s
}

// session is what a server calls a session, and whom it may be shown to.
type session struct{ id, origin string }

// request is one request to be made.
type request struct {
	method  string
	url     *url.URL
	body    []byte
	header  http.Header // of the protocol
	session session
}

// answer is the answer to a request; the caller closes its body.
type answer struct {
	*http.Response
	origin string // of whoever answered
}

// send makes a request, and follows redirects. What the entry sends along stays with the
// entry's own server, and so does the token. The error is a *fault.Error, or ctx's cause.
func (w *web) send(ctx context.Context, r request, token string) (*answer, error) {
	at := r.url
	for range maxRedirects + 1 {
		var connected atomic.Bool
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
		req, err := http.NewRequestWithContext(traced, r.method, at.String(), bytes.NewReader(r.body))
		if err != nil {
			return nil, w.failure(err, false)
		}
		w.dress(req, r, token)
		resp, err := w.client.Do(req)
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, w.failure(err, connected.Load())
		}
		next, err := w.redirected(resp, r.method)
		if next == nil && err == nil {
			return &answer{resp, origin(at)}, nil
		}
		discard(resp)
		if err != nil {
			return nil, err
		}
		at = next
	}
	return nil, w.about(fault.Unavailablef("%s redirects without end", w.name), false).
		With("status", http.StatusLoopDetected).Hintf("see whether the url of its entry is right")
}

// dress sets the headers of a request.
func (w *web) dress(req *http.Request, r request, token string) {
	req.Header.Set("User-Agent", w.agent)
	to := origin(req.URL)
	if to == origin(w.url) {
		maps.Copy(req.Header, w.headers)
		if w.host != "" {
			req.Host = w.host
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, r.header)
	req.Header.Del(headerSession)
	if r.session.id != "" && r.session.origin == to {
		req.Header.Set(headerSession, r.session.id)
	}
}

// redirected returns where an answer sends the request instead; nil if nowhere. The
// same request goes there, with its body. A message of the protocol means something
// only to a server of it: one of the redirects that browsers turn into a GET is followed
// on the server itself, where it mends a path, and refused elsewhere, where it shows a
// page to log in.
func (w *web) redirected(resp *http.Response, method string) (*url.URL, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil //nolint:nilnil // it is no redirect
	}
	s := &StatusError{Code: resp.StatusCode}
	next, err := resp.Location()
	if err != nil {
		return nil, w.about(fault.Unavailablef("%s answered %w, and does not say where to", w.name, s), false).With("status", s.Code)
	}
	from, to := origin(resp.Request.URL), origin(next)
	keeps := s.Code == http.StatusTemporaryRedirect || s.Code == http.StatusPermanentRedirect || method == http.MethodGet
	refuse := func(why string) (*url.URL, error) {
		return nil, w.about(fault.Unavailablef("%s answered %w to %s, %s", w.name, s, to, why), false).
			With("status", s.Code).Hintf("if that is where the server is, write it into the url of its entry")
	}
	switch {
	case next.Scheme != "http" && next.Scheme != "https" || next.Host == "":
		return refuse("which is no address of an HTTP server")
	case resp.Request.URL.Scheme == "https" && next.Scheme == "http":
		return refuse("which is not followed: it leads from HTTPS to HTTP")
	case s.Code == http.StatusSeeOther && !keeps, from != to && !keeps:
		return refuse("which is not followed: it may be a page to log in")
	}
	return next, nil
}

// discard ends an answer that nobody reads. One that is short is read all the same, so
// that its connection can be used again; a stream would be read for ever.
func discard(resp *http.Response) {
	if resp.ContentLength > 0 && resp.ContentLength <= maxRefusal {
		_, _ = io.CopyN(io.Discard, resp.Body, resp.ContentLength)
	}
	_ = resp.Body.Close()
}

// close gives up the connections that wait for the next request.
func (w *web) close() { w.client.CloseIdleConnections() }

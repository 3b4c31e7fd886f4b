package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/http/httpguts"

	"mcpx/internal/fault"
)

const (
	maxURL       = 64 << 10
	maxUser      = 4 << 10 // bytes before an @: the parser takes time by their square
	maxRedirects = 10
)

// message is a request as it is sent, and as redirects change it.
type message struct {
	to       *whatwg.Url
	method   string
	headers  http.Header
	redirect string

	body   []byte         // nil is none
	stream *io.PipeReader // instead of body
}

// newMessage reads what the script wants sent.
func newMessage(in request, body []byte) (*message, error) {
	to, err := readURL(in.URL, nil)
	if err != nil {
		return nil, err
	}
	m := &message{to: to, method: in.Method, headers: http.Header{}, redirect: in.Redirect, body: body}
	switch strings.ToUpper(m.method) {
	case "CONNECT", "TRACE", "TRACK":
		return nil, fault.Usagef("the method %s is not for scripts", m.method)
	}
	if !httpguts.ValidHeaderFieldName(m.method) {
		return nil, fault.Usagef("%q is not a method of HTTP", m.method)
	}
	for _, h := range in.Headers {
		value, ok := fieldValue(h[1])
		if !httpguts.ValidHeaderFieldName(h[0]) || !ok {
			return nil, fault.Usagef("the header %q, or its value, cannot be sent", h[0])
		}
		if !forbidden(strings.ToLower(h[0])) {
			m.headers.Add(h[0], value)
		}
	}
	for name, value := range map[string]string{"User-Agent": "mcpx", "Accept-Encoding": "gzip, deflate, br"} {
		if m.headers.Get(name) == "" {
			m.headers.Set(name, value)
		}
	}
	if m.headers.Get("Range") != "" {
		m.headers.Set("Accept-Encoding", "identity") // a part of an encoded content cannot be decoded
	}
	return m, nil
}

// readURL reads an address as the URL Standard has it. It is a usage error if it is none.
func readURL(text string, base *whatwg.Url) (u *whatwg.Url, err error) {
	malformed := fault.Usagef("%q is not a URL", clip(text))
	if len(text) > maxURL {
		return nil, fault.Usagef("the URL has %d bytes, %d are allowed", len(text), maxURL)
	}
	front, _, _ := strings.Cut(text, "?")
	if strings.LastIndexByte(front, '@') > maxUser {
		return nil, malformed
	}
	// The text may come from a server, and what reads it is not ours.
	defer func() {
		if recover() != nil {
			u, err = nil, malformed
		}
	}()
	if base != nil {
		u, err = base.Parse(text)
	} else {
		u, err = whatwg.Parse(text)
	}
	if err != nil {
		return nil, malformed
	}
	return u, nil
}

func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// location is where a URL leads, as net/url has it, without what follows the host.
func location(u *whatwg.Url) *url.URL {
	return &url.URL{Scheme: u.Scheme(), Host: u.Host()}
}

// origin tells servers apart.
func origin(u *whatwg.Url) string { return u.Scheme() + "://" + u.Host() }

// admit decides on a URL before anything is done about it.
func (w *Web) admit(u *whatwg.Url) error {
	if err := w.gate.CheckURL(location(u)); err != nil {
		return err
	}
	if port, err := strconv.Atoi(u.Port()); err == nil && badPort(port) {
		return fault.Unavailablef("bad port").Hintf("port %d belongs to another protocol than HTTP", port)
	}
	return nil
}

// follow sends a message and what its redirects make of it, as the Fetch Standard has it.
func (w *Web) follow(ctx context.Context, m *message) (*response, error) {
	for hops := 0; ; hops++ {
		if err := w.admit(m.to); err != nil {
			return nil, err
		}
		answer, err := w.roundTrip(ctx, m)
		if err != nil {
			return nil, failure(err, m.to)
		}
		r := &response{http: answer, method: m.method, to: m.to, redirected: hops > 0}
		text, redirects := redirection(answer)
		if !redirects || m.redirect == "manual" {
			if answer.StatusCode == http.StatusSwitchingProtocols {
				_ = answer.Body.Close()
				return nil, unavailable("", "%s speaks another protocol than HTTP", m.to.Host())
			}
			return r, nil
		}
		discard(answer.Body)
		switch {
		case m.redirect == "error":
			return nil, unavailable("", "unexpected redirect")
		case hops >= maxRedirects:
			return nil, unavailable("", "redirect count exceeded: %d were followed", maxRedirects)
		}
		if err := m.turn(answer.StatusCode, text); err != nil {
			return nil, err
		}
	}
}

// redirection returns where a response sends its request.
func redirection(r *http.Response) (location string, ok bool) {
	switch r.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		location = r.Header.Get("Location")
		return location, location != ""
	}
	return "", false
}

// discard reads a body that nobody wants if it is short, so that its connection can serve
// the next request.
func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 2<<10)
	_ = body.Close()
}

// turn makes the message what a redirect says.
func (m *message) turn(status int, text string) error {
	if !utf8.ValidString(text) {
		text = latin1(text)
	}
	to, err := readURL(text, m.to)
	if err != nil {
		return unavailable("", "the redirect leads to no URL")
	}
	if scheme := to.Scheme(); scheme != "http" && scheme != "https" {
		return unavailable("", "URL scheme must be a HTTP(S) scheme: the redirect leads to one of the scheme %s", clip(scheme))
	}
	other := origin(to) != origin(m.to)
	if other && (to.Username() != "" || to.Password() != "") {
		return unavailable("", "the redirect leads to another origin with a user name in its URL")
	}
	if status != http.StatusSeeOther && m.stream != nil {
		return unavailable("", "the request was redirected, and its body is a stream that cannot be sent again")
	}
	post := (status == http.StatusMovedPermanently || status == http.StatusFound) && m.method == http.MethodPost
	see := status == http.StatusSeeOther && m.method != http.MethodGet && m.method != http.MethodHead
	if post || see {
		m.method, m.body, m.stream = http.MethodGet, nil, nil
		for _, name := range []string{"Content-Encoding", "Content-Language", "Content-Location", "Content-Type"} {
			m.headers.Del(name)
		}
	}
	if other {
		for name := range m.headers {
			if !slices.Contains([]string{
				"Accept", "Accept-Encoding", "Accept-Language", "Content-Encoding", "Content-Language", "Content-Type", "Range", "User-Agent",
			}, name) {
				m.headers.Del(name)
			}
		}
		m.headers.Set("User-Agent", "mcpx") // the script's may say who it is
	}
	m.to = to
	return nil
}

// roundTrip sends one request.
func (w *Web) roundTrip(ctx context.Context, m *message) (*http.Response, error) {
	at, err := w.gate.Canonical(location(m.to))
	if err != nil {
		return nil, err
	}
	// The path goes out as it is written: net/url would spell some of it another way.
	path := m.to.Pathname()
	if strings.HasPrefix(path, "//") {
		if at.Path, err = url.PathUnescape(path); err != nil {
			return nil, fault.Usagef("the path of %q cannot be sent", clip(m.to.Href(true)))
		}
		at.RawPath = path
	} else {
		at.Opaque = path
	}
	at.RawQuery = strings.TrimPrefix(m.to.Search(), "?")
	r := (&http.Request{Method: m.method, URL: at, Header: m.headers.Clone(), Host: at.Host}).WithContext(ctx)
	switch {
	case m.stream != nil:
		r.Body, r.ContentLength = m.stream, -1
	case m.body != nil:
		body := m.body
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body, _ = r.GetBody()
		r.ContentLength = int64(len(body))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if stream := m.stream; stream != nil {
		// net/http returns only when its read of the stream does.
		context.AfterFunc(ctx, func() { _ = stream.CloseWithError(context.Cause(ctx)) })
	}
	t := time.AfterFunc(w.headers, func() { cancel(errHeadersTimeout) })
	answer, err := w.transport.RoundTrip(r.WithContext(ctx))
	if !t.Stop() && err == nil {
		_ = answer.Body.Close()
		err = errHeadersTimeout
	}
	if err != nil {
		cancel(nil)
		if cause := context.Cause(ctx); errors.Is(cause, errHeadersTimeout) {
			err = cause
		}
		return nil, err
	}
	answer.Body = &cancelling{answer.Body, cancel}
	return answer, nil
}

// cancelling is a body whose request is over when it is closed.
type cancelling struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

func (c *cancelling) Close() error {
	defer c.cancel(nil)
	return c.ReadCloser.Close()
}

// forbidden reports whether a header is not the script's to set.
func forbidden(name string) bool {
	switch name {
	case "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect", "http2-settings":
		return true
	}
	return strings.HasPrefix(name, "proxy-") || strings.HasPrefix(name, "sec-")
}

// fieldValue returns the bytes that a script's text stands for, one a character, if they
// can be the value of a header.
func fieldValue(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff || r == 0 || r == '\r' || r == '\n' {
			return "", false
		}
		b = append(b, byte(r))
	}
	return string(b), httpguts.ValidHeaderFieldValue(string(b))
}

// latin1 returns bytes as text, a character for each.
func latin1(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// response is an answer on its way to the script.
type response struct {
	http       *http.Response
	method     string
	to         *whatwg.Url
	redirected bool
	content    *content
}

// empty reports whether the response has no content, whatever its headers say.
func (r *response) empty() bool {
	switch r.http.StatusCode {
	case http.StatusNoContent, http.StatusResetContent, http.StatusNotModified:
		return true
	}
	return r.method == http.MethodHead || r.http.ContentLength == 0
}

// description is a response as the script's fetch is told of it.
type description struct {
	ID         int64       `json:"id"`
	Status     int         `json:"status"`
	StatusText string      `json:"statusText"`
	Headers    [][2]string `json:"headers"`
	URL        string      `json:"url"`
	Redirected bool        `json:"redirected"`
	End        bool        `json:"end"`
}

func (r *response) describe(id int64, end bool) description {
	_, reason, _ := strings.Cut(r.http.Status, " ")
	d := description{
		ID: id, Status: r.http.StatusCode, StatusText: latin1(reason), Headers: [][2]string{},
		URL: r.to.Href(true), Redirected: r.redirected, End: end,
	}
	for name, values := range r.http.Header {
		for _, v := range values {
			d.Headers = append(d.Headers, [2]string{strings.ToLower(latin1(name)), latin1(v)})
		}
	}
	slices.SortStableFunc(d.Headers, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return d
}

// failure is the error of content that did not come.
func (r *response) failure(err error) error {
	if wrong, ok := errors.AsType[codingError](err); ok {
		return unavailable("Z_DATA_ERROR", "the content of the response from %s cannot be decoded: %v", r.to.Host(), wrong.error)
	}
	return failure(err, r.to)
}

// badPort reports whether a port is one of those that the Fetch Standard blocks: what
// listens there could take a request for a message of its own protocol.
func badPort(port int) bool {
	switch port {
	case 0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119,
		123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
		995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080:
		return true
	}
	return false
}

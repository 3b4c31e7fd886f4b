package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

const (
	// maxRefusal is how much is read of an answer that is only quoted.
	maxRefusal = 16 << 10
	// maxQuote is how much of it a message quotes.
	maxQuote = 300
)

// perhaps ends the message of an error of a request that was sent.
const perhaps = " during the request, which may have taken effect"

// StatusError is an answer over HTTP that carries no answer of the protocol, or one
// with a status that says that it is a refusal.
type StatusError struct {
	Code int
	Text string     // what the body says, for people
	RPC  *mcp.Error // if the body holds one
}

// Error returns the server's own message, or else the status and what the body says.
func (e *StatusError) Error() string {
	if e.RPC != nil {
		return e.RPC.Error()
	}
	s := fmt.Sprintf("HTTP %d", e.Code)
	if name := http.StatusText(e.Code); name != "" {
		s += " " + name
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

// Unwrap returns the error of the protocol that the answer holds.
func (e *StatusError) Unwrap() error {
	if e.RPC == nil {
		return nil
	}
	return e.RPC
}

// status returns the status of the answer that an error is about, or 0.
func status(err error) int {
	if s, ok := errors.AsType[*StatusError](err); ok {
		return s.Code
	}
	return 0
}

// refusesAll reports whether a status says that nothing is answered, whatever is asked.
func refusesAll(code int) bool {
	switch code {
	case 0, http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests:
		return true
	}
	return false
}

// speaksOlder reports whether an error is one of those after which the specification has a client try
// HTTP+SSE.
func speaksOlder(err error) bool {
	s, ok := errors.AsType[*StatusError](err)
	if !ok {
		return false
	}
	switch s.Code {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return s.RPC == nil || s.RPC.Code > mcp.CodeHeaderMismatch || s.RPC.Code < mcp.CodeUnsupportedVersion
	}
	return false
}

// mayRun reports whether a server that answers with a status may have acted on the request.
func mayRun(code int) bool {
	return code < 400 || code == http.StatusRequestTimeout || code >= 500 && code != http.StatusNotImplemented
}

// quoted reads what is needed of an answer that refuses a request.
func quoted(resp *answer) []byte {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	return body
}

// refused makes the error of an answer that refuses a request, with its body.
func (w *web) refused(resp *answer, body []byte) error {
	s := &StatusError{Code: resp.StatusCode, Text: w.redact(quoteBody(body))}
	s.RPC = rpcError(body)
	switch s.Code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return w.unauthorized(resp, s)
	}
	if s.RPC != nil {
		return s
	}
	e := fault.Unavailablef("%s answered %w", w.name, s)
	switch s.Code {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		e.Hintf("try again later")
		if after := resp.Header.Get("Retry-After"); after != "" && len(after) < 64 && headerText(after) {
			e.Hintf("the server asks to wait until then: %s", after)
			if strings.Trim(after, "0123456789") == "" {
				e.Hintf("the server asks to wait %s s", after)
			}
		}
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
		e.Hintf("see whether the url of its entry is the address of an MCP server: %s", w.address())
	}
	return w.about(e, mayRun(s.Code)).With("status", s.Code)
}

// refusedCall is refused for the answer to a request: after a call of a tool it says so if
// the call may have taken effect all the same.
func (w *web) refusedCall(method string, resp *answer, body []byte) error {
	err := w.refused(resp, body)
	if e, ok := errors.AsType[*fault.Error](err); ok && method == mcp.MethodToolsCall && e.Hint == "" && e.Details["mayHaveRun"] == true {
		e.Hintf("the call may have taken effect: see whether it did before you repeat it")
	}
	return err
}

// unauthorized says what is missing for a server, or a proxy, to answer at all.
func (w *web) unauthorized(resp *answer, s *StatusError) error {
	if s.RPC != nil { // its message is as good as any, but the kind of error is known better
		s.Text, s.RPC = w.redact(s.RPC.Message), nil
	}
	challenge := resp.Header.Get("Www-Authenticate")
	if s.Code == http.StatusProxyAuthRequired {
		return w.about(fault.Unavailablef("the proxy before %s answered %w", w.name, s), false).With("status", s.Code).
			Hintf("write user and password into the proxy variable: http://USER:PASSWORD@HOST:PORT")
	}
	if resp.origin != origin(w.url) { // no token and no header of the entry goes there
		return w.about(fault.Unavailablef("%s redirects to %s, which answered %w", w.name, resp.origin, s), false).With("status", s.Code).
			Hintf("if that is where the server is, write it into the url of its entry")
	}
	want := "authorisation"
	if scheme, _, _ := strings.Cut(challenge, " "); scheme != "" && headerToken(scheme) {
		want += " (" + scheme + ")"
	}
	for _, key := range []string{"error_description", "error", "scope"} {
		if v := w.redact(challengeParam(challenge, key)); v != "" {
			want += fmt.Sprintf(", %s: %s", strings.ReplaceAll(key, "_", " "), v)
		}
	}
	e := fault.Unavailablef("%s at %s wants %s: it answered %w", w.name, w.where(), want, s)
	if w.authorized() {
		e.Hintf("its entry has an Authorization header, which the server does not accept: see whether the token is right, has not expired and allows this")
	} else if s.Code == http.StatusForbidden && w.tokens.secrets()[0] != "" {
		e.Hintf(`the login does not allow this; "mcpx auth status %s" shows what it does`, fault.ShellWord(w.name))
	} else if w.tokens.by == nil {
		e.Hintf(`get a token, and give the entry "headers": {"Authorization": "Bearer ${env:TOKEN}"}`)
	} else {
		e.Hintf(`log in with "mcpx auth login %s", or give the entry "headers": {"Authorization": "Bearer ${env:TOKEN}"}`, fault.ShellWord(w.name))
	}
	return w.about(e, false).With("status", s.Code)
}

// challengeParam returns a parameter of a WWW-Authenticate header.
func challengeParam(challenge, key string) string {
	at := strings.Index(challenge, key+`="`)
	if at < 0 || at > 0 && challenge[at-1] != ' ' && challenge[at-1] != ',' {
		return ""
	}
	value, _, _ := strings.Cut(challenge[at+len(key)+2:], `"`)
	return brief(mcp.Raw(value))
}

// rpcError returns the error that a body holds, if it is one of the protocol.
func rpcError(body []byte) *mcp.Error {
	m, _ := mcp.Split(body)
	// Bodies like {"error":"invalid_token"} are those of other protocols.
	if m != nil && m.Kind() == mcp.Response && mcp.Member(body, "jsonrpc") != nil {
		return m.Error
	}
	return nil
}

// quoteBody returns what a body says to people, on one line: the message of a JSON
// object, the text of a page, or the beginning of anything else.
func quoteBody(body []byte) string {
	said := ""
	for _, key := range []string{"error_description", "message", "detail", "error", "title"} {
		v := mcp.Member(body, key)
		if s := text(v); s != "" {
			said = s
		} else if s := text(mcp.Member(v, "message")); s != "" {
			said = s
		}
		if said != "" {
			break
		}
	}
	if said == "" || !json.Valid(body) {
		said = string(body)
		if t := strings.TrimSpace(said); strings.HasPrefix(t, "<") {
			said = pageText(t)
		}
	}
	printable := func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffd {
			return ' '
		}
		return r
	}
	said = strings.Join(strings.Fields(strings.Map(printable, said)), " ")
	if len(said) > maxQuote {
		said = strings.ToValidUTF8(said[:maxQuote], "") + "…"
	}
	return said
}

// pageText leaves out of a page what is not text: tags, scripts and styles.
func pageText(page string) string {
	var b strings.Builder
	for page != "" {
		before, rest, found := strings.Cut(page, "<")
		b.WriteString(before)
		b.WriteByte(' ')
		if !found {
			break
		}
		tag, after, _ := strings.Cut(rest, ">")
		page = after
		for _, hidden := range []string{"script", "style"} {
			if len(tag) >= len(hidden) && strings.EqualFold(tag[:len(hidden)], hidden) {
				_, page, _ = strings.Cut(page, "</"+tag[:len(hidden)])
				_, page, _ = strings.Cut(page, ">")
			}
		}
	}
	return b.String()
}

// about adds to an error what all errors of requests say.
func (w *web) about(e *fault.Error, mayHaveRun bool) *fault.Error {
	return e.With("server", w.name).With("mayHaveRun", mayHaveRun)
}

// failure makes the error of a request that got no answer. Connected says that a
// connection was there, so that the server may have seen the request.
func (w *web) failure(err error, connected bool) *fault.Error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // its text holds the whole address, with what is secret in it
	}
	if e := w.tlsFailure(err); e != nil {
		return w.about(e, false)
	}
	var dns *net.DNSError
	var op *net.OpError
	why := w.redact(err.Error())
	if errors.As(err, &op) && op.Err != nil {
		why = op.Err.Error()
		if op.Op == "proxyconnect" || op.Op == "socks connect" {
			return w.about(fault.Unavailablef("%s cannot be reached at %s: the proxy does not answer: %s", w.name, w.address(), w.redact(why)), false).
				Hintf("see what HTTP_PROXY and HTTPS_PROXY say, or put the host into NO_PROXY")
		}
	}
	switch {
	case errors.As(err, &dns):
		e := fault.Unavailablef("%s cannot be reached at %s: no address is known for %s", w.name, w.address(), dns.Name)
		if !dns.IsNotFound {
			e = fault.Unavailablef("%s cannot be reached at %s: looking up %s failed: %s", w.name, w.address(), dns.Name, dns.Err)
		}
		return w.about(e, false).Hintf("see whether the url of its entry is right, and whether there is a network")
	case errors.Is(err, syscall.ECONNREFUSED):
		return w.about(fault.Unavailablef("%s cannot be reached at %s: the connection is refused", w.name, w.address()), false).
			Hintf("see whether the server runs, and whether the url of its entry is right")
	case !connected:
		return w.about(fault.Unavailablef("%s cannot be reached at %s: %s", w.name, w.address(), why), false).
			Hintf("see whether the url of its entry is right, and whether there is a network")
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET):
		why = "closed the connection"
	case errors.Is(err, context.DeadlineExceeded):
		why = "gave no answer in time"
	default:
		why = "ended the connection (" + why + ")"
	}
	return w.cut(why)
}

// cut is the error of a request that was sent and whose answer did not come, or not whole.
func (w *web) cut(how string) *fault.Error {
	return w.about(fault.Unavailablef("%s %s%s", w.name, how, perhaps), true).
		Hintf("see whether it took effect before you repeat it")
}

// tlsFailure explains why no safe connection came about; nil if that is not the reason.
func (w *web) tlsFailure(err error) *fault.Error {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	unsafe := func(format string, args ...any) *fault.Error {
		return fault.Unavailablef("%s cannot be reached safely at %s: %s", w.name, w.address(), fmt.Sprintf(format, args...))
	}
	switch {
	case errors.As(err, &authority):
		return unsafe("its certificate is signed by an authority that this machine does not know").
			Hintf("if you trust it, name a file with the authority's certificate in the variable SSL_CERT_FILE")
	case errors.As(err, &host):
		return unsafe("%s", host.Error()).Hintf("write the name that the certificate is for into the url of its entry")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return unsafe("its certificate has expired or is not valid yet").Hintf("the server needs a new certificate, or the clock of this machine is wrong")
	case errors.As(err, &verify):
		return unsafe("%s", verify.Err).Hintf("the server needs another certificate")
	case errors.As(err, &record):
		return unsafe("it does not speak TLS").Hintf("write http:// instead of https:// in the url of its entry if that is meant")
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return unsafe("it speaks HTTP where HTTPS is asked for").Hintf("write http:// instead of https:// in the url of its entry if that is meant")
	case errors.As(err, &alert):
		return unsafe("%s", alert.Error()).Hintf("the server may want a client certificate, or speaks a version of TLS that is no longer safe")
	}
	return nil
}

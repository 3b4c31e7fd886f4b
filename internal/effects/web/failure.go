package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// errHeadersTimeout is the cause of a response whose headers do not come.
var errHeadersTimeout = errors.New("no headers came")

// unavailable makes an error with Node's code for it.
func unavailable(code, format string, args ...any) *fault.Error {
	e := fault.Unavailablef(format, args...)
	if code != "" {
		e.With("code", code)
	}
	return e
}

// failure makes of what went wrong an error that names the host as the script did, and
// nothing that was found out about it. Where net/http and crypto/tls have no type for what
// went wrong, it is told by their text.
func failure(err error, to *whatwg.Url) error {
	host := to.Host()
	if own, ok := errors.AsType[*fault.Error](err); ok {
		if own.Kind != fault.Denied {
			return own
		}
		if own.Details["address"] == true {
			return grant.DeniedAddress(host)
		}
		return grant.Denied(grant.Network, host)
	}
	var (
		lookup      *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
		operation   *net.OpError
	)
	text := err.Error()
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &operation) && !errors.As(err, &lookup):
		return err
	case errors.Is(err, errConnectTimeout):
		return unavailable("UND_ERR_CONNECT_TIMEOUT", "Connect Timeout Error: %s did not answer in %s", host, connectTimeout)
	case errors.Is(err, errHeadersTimeout):
		return unavailable("UND_ERR_HEADERS_TIMEOUT", "Headers Timeout Error: %s did not answer in %s", host, headersTimeout)
	case errors.Is(err, errBodyTimeout):
		return unavailable("UND_ERR_BODY_TIMEOUT", "Body Timeout Error: nothing came from %s for %s", host, bodyTimeout)
	case errors.Is(err, errCodings):
		return unavailable("UND_ERR_SOCKET", "the content of the response from %s is encoded more than %d times", host, maxCodings)
	case errors.As(err, &lookup):
		code := "EAI_AGAIN"
		if lookup.IsNotFound {
			code = "ENOTFOUND"
		}
		return unavailable(code, "getaddrinfo %s %s", code, to.Hostname()).With("syscall", "getaddrinfo").With("hostname", to.Hostname())
	case errors.As(err, &certificate):
		return untrusted(certificate.Err, host)
	case errors.As(err, &record):
		return unavailable("ERR_SSL_WRONG_VERSION_NUMBER", "%s does not speak TLS on this port", host).Hintf("if the server has no TLS, its URL begins with http://")
	case errors.As(err, &alert), strings.Contains(text, "tls: "):
		return unavailable("EPROTO", "%s and this program do not agree on TLS", host)
	}
	if code := systemCode(err); code != "" {
		syscall := "read"
		if errors.As(err, &operation) {
			switch operation.Op {
			case "dial":
				syscall = "connect"
			case "write":
				syscall = "write"
			}
		}
		return unavailable(code, "%s %s %s", syscall, code, host).With("syscall", syscall)
	}
	switch {
	case strings.Contains(text, "TLS handshake timeout"):
		return unavailable("UND_ERR_CONNECT_TIMEOUT", "Connect Timeout Error: %s did not agree on TLS in %s", host, connectTimeout)
	case strings.Contains(text, "server response headers exceeded"):
		return unavailable("UND_ERR_HEADERS_OVERFLOW", "Headers Overflow Error: the headers of the response from %s have more than %d bytes", host, maxHeaders)
	case slices.ContainsFunc([]string{"malformed", "net/http: invalid", "transfer encoding", "bad Content-Length", "chunk"}, func(sign string) bool { return strings.Contains(text, sign) }):
		return unavailable("HPE_INVALID_CONSTANT", "the answer of %s is not HTTP", host)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(text, "server closed"), strings.Contains(text, "connection broken"):
		return unavailable("UND_ERR_SOCKET", "other side closed: %s ended the connection", host)
	}
	return unavailable("UND_ERR_SOCKET", "the connection to %s failed", host)
}

// untrusted is the error of a server that TLS does not trust.
func untrusted(err error, host string) error {
	var (
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		unknown x509.UnknownAuthorityError
	)
	switch {
	case errors.As(err, &name):
		return unavailable("ERR_TLS_CERT_ALTNAME_INVALID", "the certificate of %s is for another host", host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return unavailable("CERT_HAS_EXPIRED", "the certificate of %s has expired, or is not valid yet", host)
	case errors.As(err, &unknown):
		return unavailable("UNABLE_TO_VERIFY_LEAF_SIGNATURE", "the certificate of %s is of an authority that this machine does not trust", host).
			Hintf("mcpx trusts the machine's roots: add the authority to them, or name a file that has it in SSL_CERT_FILE")
	}
	return unavailable("ERR_TLS_CERT_INVALID", "the certificate of %s is not valid", host)
}

package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/process"
)

// Endpoint is where a daemon is that was named: unix:PATH, http(s)://HOST or ssh://HOST.
type Endpoint struct {
	text   string
	scheme string
	path   string // of a socket
	url    *url.URL
}

// ParseEndpoint reads an endpoint. The error's kind is Usage.
func ParseEndpoint(text string) (*Endpoint, error) {
	bad := func(what string) error {
		return fault.Usagef("daemon.endpoint: %q %s", text, what).
			Hintf("write unix:PATH, http://HOST:PORT, https://HOST or ssh://HOST")
	}
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		path = strings.TrimPrefix(path, "//")
		if path == "" {
			return nil, bad("names no socket")
		}
		return &Endpoint{text: text, scheme: "unix", path: path}, nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, bad("is no address")
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ssh":
		return nil, bad("is none of those that a daemon can be at")
	case u.Host == "" || u.Hostname() == "":
		return nil, bad("names no host")
	case u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/":
		return nil, bad("has more than a host")
	}
	if u.Scheme == "ssh" {
		_, secret := u.User.Password()
		for _, word := range []string{u.Hostname(), u.User.Username()} {
			if !plainWord(word) {
				return nil, bad("holds what a name of a host or user does not")
			}
		}
		if secret {
			return nil, bad("holds a password, which ssh does not take")
		}
		return &Endpoint{text: text, scheme: "ssh", url: u}, nil
	}
	if u.User != nil {
		return nil, bad("holds a user: the token stands in the file that daemon.tokenFile names")
	}
	return &Endpoint{text: text, scheme: u.Scheme, url: u}, nil
}

// plainWord reports whether a word is a name and nothing that a program could take for
// something else, such as an option.
func plainWord(word string) bool {
	if strings.HasPrefix(word, "-") {
		return false
	}
	return strings.IndexFunc(word, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("._-:", c))
	}) < 0
}

// Here reports whether the daemon is on this machine, and sees what its caller sees.
func (e *Endpoint) Here() bool { return e.scheme == "unix" }

// Over reports whether tokens go to it.
func (e *Endpoint) Over() bool { return e.scheme == "http" || e.scheme == "https" }

// loopback reports whether what is sent does not leave this machine.
func (e *Endpoint) loopback() bool {
	if e.url.Hostname() == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(e.url.Hostname())
	return err == nil && a.IsLoopback()
}

// Reach is what Endpoint.Reach needs to know.
type Reach struct {
	Token   string   // for http and https
	Environ []string // in which ssh is started, and found
	Dir     string
	Stderr  io.Writer // where goes what ssh says is wrong; nil is nowhere
	// Command is what is run over there; empty is mcpx.
	Command string
}

// Reach connects to the daemon. The error's kind is Unavailable if nobody answers there.
func (e *Endpoint) Reach(ctx context.Context, o Reach) (*Link, string, error) {
	var l *Link
	base := BaseURL
	switch e.scheme {
	case "unix":
		l = &Link{Record: Record{Endpoint: e.text}, HTTP: client(e.path)}
	case "ssh":
		dial, err := e.ssh(o)
		if err != nil {
			return nil, "", err
		}
		l = &Link{Record: Record{Endpoint: e.text}, HTTP: clientOver(&http.Transport{DialContext: dial})}
	default:
		if o.Token == "" {
			return nil, "", fault.Usagef("the daemon at %s asks for a token, and there is none", e.text).
				Hintf("daemon.tokenFile names the file with it; the record of a daemon has it on its machine")
		}
		if e.scheme == "http" && !e.loopback() {
			return nil, "", fault.Deniedf("the token is not sent to %s: whoever listens on the way would have it", e.text).
				Hintf("use https://, or ssh://")
		}
		base = strings.TrimSuffix(e.url.String(), "/")
		l = &Link{Record: Record{Endpoint: e.text, HTTP: base}, HTTP: clientOver(&http.Transport{})}
		l.HTTP.Transport = bearer{o.Token, l.HTTP.Transport}
	}
	if err := l.greetAt(ctx, base); err != nil {
		l.Close()
		switch {
		case ctx.Err() != nil:
			return nil, "", context.Cause(ctx)
		case errors.Is(err, ErrNone):
			hint := "is it running there? daemon.endpoint says where it is looked for"
			if e.scheme == "ssh" {
				hint = "what ssh said stands above; over there mcpx must be on the PATH, and nothing else may print when a shell starts"
			}
			return nil, "", fault.Unavailablef("no daemon answers at %s", e.text).Hintf("%s", hint)
		}
		return nil, "", err
	}
	return l, base, nil
}

// bearer adds a token to every request.
type bearer struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// CloseIdleConnections closes those of the transport.
func (b bearer) CloseIdleConnections() {
	if c, ok := b.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// ssh makes connections that are the standard streams of a program on the other machine,
// which leads on to the daemon there.
func (e *Endpoint) ssh(o Reach) (func(context.Context, string, string) (net.Conn, error), error) {
	program, err := process.LookPath("ssh", process.Getenv(o.Environ, "PATH"), o.Dir)
	if err != nil {
		return nil, fault.Unavailablef("%s needs the program ssh: %w", e.text, err)
	}
	args := []string{"-T", "-o", "BatchMode=yes"}
	if port := e.url.Port(); port != "" {
		args = append(args, "-p", port)
	}
	host := e.url.Hostname()
	if user := e.url.User.Username(); user != "" {
		host = user + "@" + host
	}
	command := o.Command
	if command == "" {
		command = "mcpx"
	}
	args = append(args, "--", host, command, "daemon", "connect")
	return func(context.Context, string, string) (net.Conn, error) {
		return startBridge(process.Spec{Path: program, Args: args, Env: o.Environ, Dir: o.Dir}, o.Stderr)
	}, nil
}

// bridge is a connection over the standard streams of a program.
type bridge struct {
	r, w   *os.File
	said   *os.File      // its standard error
	heard  chan struct{} // closed when all of that is passed on
	p      *process.Process
	closed sync.Once
}

// startBridge starts a program whose standard streams are the connection. What it says on
// standard error goes to stderr. It is not given ours: ssh makes its streams such that they
// do not block, and whatever shares them with it, our standard output too, could fail then.
func startBridge(spec process.Spec, stderr io.Writer) (net.Conn, error) {
	var ends []*os.File // of three pipes
	shut := func(files ...*os.File) {
		for _, f := range files {
			_ = f.Close()
		}
	}
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			shut(ends...)
			return nil, err
		}
		ends = append(ends, r, w)
	}
	b := &bridge{w: ends[1], r: ends[2], said: ends[4], heard: make(chan struct{})}
	spec.Stdin, spec.Stdout, spec.Stderr = ends[0], ends[3], ends[5]
	p, err := process.Start(spec)
	shut(spec.Stdin, spec.Stdout, spec.Stderr)
	if err != nil {
		shut(b.w, b.r, b.said)
		return nil, err
	}
	b.p = p
	if stderr == nil {
		stderr = io.Discard
	}
	go func() {
		defer close(b.heard)
		_, _ = io.Copy(stderr, b.said)
	}()
	return b, nil
}

// Read reads what comes. Once the program has ended, what it said of that has been passed on.
func (b *bridge) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if errors.Is(err, io.EOF) {
		select {
		case <-b.heard:
		case <-time.After(bridgeGrace): // another program has its standard error, such as an ssh that stays for others
		}
	}
	return n, err
}

func (b *bridge) Write(p []byte) (int, error) { return b.w.Write(p) }

// bridgeGrace is how long a program has to end by itself once its streams are closed.
const bridgeGrace = time.Second

func (b *bridge) Close() error {
	b.closed.Do(func() {
		_ = b.w.Close()
		_ = b.r.Close()
		b.p.End(bridgeGrace)
		_ = b.said.Close()
		<-b.heard
	})
	return nil
}

func (*bridge) LocalAddr() net.Addr  { return bridgeAddr{} }
func (*bridge) RemoteAddr() net.Addr { return bridgeAddr{} }

func (b *bridge) SetDeadline(t time.Time) error {
	return errors.Join(b.r.SetDeadline(t), b.w.SetDeadline(t))
}
func (b *bridge) SetReadDeadline(t time.Time) error  { return b.r.SetReadDeadline(t) }
func (b *bridge) SetWriteDeadline(t time.Time) error { return b.w.SetWriteDeadline(t) }

type bridgeAddr struct{}

func (bridgeAddr) Network() string { return "stdio" }
func (bridgeAddr) String() string  { return "stdio" }

// Bridge joins a pair of streams with a connection until either side ends.
func Bridge(in io.Reader, out io.Writer, conn net.Conn) {
	ended := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(conn, in)
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		ended <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(out, conn)
		ended <- struct{}{}
	}()
	<-ended
	_ = conn.Close()
}

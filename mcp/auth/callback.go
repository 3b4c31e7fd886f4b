package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"html"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// callbackPath is where the browser comes back to, unless the configuration says otherwise.
const callbackPath = "/callback"

// callback is where the browser comes back to: a listener on this machine for one login.
type callback struct {
	redirect string
	path     string
	state    string
	said     chan url.Values
	server   *http.Server
	done     chan struct{}
}

// callback opens the listener. It takes the port that a client registered before, if it can.
func (h *Handler) callback(old *record) (*callback, error) {
	b := &callback{path: callbackPath, state: rand.Text(), said: make(chan url.Values, 1), done: make(chan struct{})}
	address := "127.0.0.1:0"
	fixed := h.o.Client.Redirect
	if fixed != "" {
		u, err := url.Parse(fixed)
		if err != nil || u.Scheme != "http" || !loopback(u) || u.Port() == "" {
			return nil, h.fail("the browser cannot come back to %s", shown(fixed)).
				Hintf("write an address of this machine with a port, such as http://127.0.0.1:33418/callback")
		}
		b.path, b.redirect = u.EscapedPath(), fixed
		host := u.Hostname()
		if strings.EqualFold(host, "localhost") {
			host = "127.0.0.1"
		}
		address = net.JoinHostPort(host, u.Port())
	} else if old != nil && old.Client.Own {
		if u, err := url.Parse(old.Client.Redirect); err == nil && u.Port() != "" {
			address = "127.0.0.1:" + u.Port()
		}
	}
	l, err := net.Listen("tcp", address)
	if err != nil && fixed == "" {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, h.fail("nothing can listen at %s, where the browser is to come back to: %w", address, err).
			Hintf("end what listens there, or have the client registered with another port")
	}
	if b.redirect == "" {
		b.redirect = "http://" + l.Addr().String() + callbackPath
	}
	b.server = &http.Server{Handler: http.HandlerFunc(b.come), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() {
		defer close(b.done)
		_ = b.server.Serve(l)
	}()
	return b, nil
}

// come answers the browser. What does not belong to this login changes nothing.
func (b *callback) come(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", "default-src 'none'")
	header.Set("Referrer-Policy", "no-referrer")
	page := func(status int, title, text string) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte("<!doctype html><title>" + html.EscapeString(title) + "</title><h1>" + html.EscapeString(title) + "</h1><p>" + html.EscapeString(text) + "</p>\n"))
	}
	said := r.URL.Query()
	switch {
	case r.URL.EscapedPath() != b.path && (b.path != "" || r.URL.Path != "/"):
		page(http.StatusNotFound, "Not found", "mcpx waits for the end of a login here, and for nothing else.")
	case r.Method != http.MethodGet:
		header.Set("Allow", http.MethodGet)
		page(http.StatusMethodNotAllowed, "Not allowed", "mcpx waits for the end of a login here.")
	case !b.ours(said):
		page(http.StatusBadRequest, "Not this login", "This answer does not belong to the login that mcpx waits for. Start again with mcpx auth login.")
	default:
		select {
		case b.said <- said:
			if said.Get("error") != "" {
				page(http.StatusOK, "Not logged in", "The terminal says why. You can close this page.")
			} else {
				page(http.StatusOK, "Almost done", "mcpx has the answer; the terminal says whether it can log in with it. You can close this page.")
			}
		default:
			page(http.StatusConflict, "Already answered", "mcpx has an answer to this login already.")
		}
	}
}

// ours reports whether an answer is to the question of this login.
func (b *callback) ours(said url.Values) bool {
	return len(said["state"]) == 1 && subtle.ConstantTimeCompare([]byte(said.Get("state")), []byte(b.state)) == 1
}

// pasted understands what a person copied out of a browser: the address it was sent to, the
// query of it, or the code alone, which is worth nothing to whoever did not ask for it.
func (b *callback) pasted(text string) (url.Values, bool) {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		text = "?" + u.RawQuery
	}
	if query, ok := strings.CutPrefix(text, "?"); ok || strings.Contains(text, "code=") && strings.Contains(text, "state=") {
		if !ok {
			query = text
		}
		said, err := url.ParseQuery(query)
		return said, err == nil && b.ours(said)
	}
	return url.Values{"code": {text}}, text != "" && !strings.ContainsAny(text, " \t\r\n")
}

// close ends the listener once the browser has its page.
func (b *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := b.server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		_ = b.server.Close()
	}
	<-b.done
}

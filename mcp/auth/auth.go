// Package auth logs in to MCP servers that want it, by OAuth as the protocol has it: it
// finds the authorisation server of a server, registers with it or uses a client that is
// registered already, has a person agree in a browser, keeps the tokens, replaces them
// before they expire, and asks for more when a server wants more.
//
// A Handler is the tokens of one server. It never asks a person unless it was made with a
// Login, which only `mcpx auth login` does: everybody else is told to run that. Where tokens
// are kept is decided by the Store that is handed in. No error and no text of this package
// holds a token, a code or a secret.
//
// Tokens are sent to the server that they are for and to the authorisation server that gave
// them, over HTTPS, or over HTTP within this machine.
package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"mcpx/internal/fault"
)

const (
	// margin is how long before its end a token is replaced.
	margin = time.Minute
	// requestTimeout bounds each request to an authorisation server.
	requestTimeout = 30 * time.Second
	// lockTimeout bounds the wait for another process that replaces the same token.
	lockTimeout = 2 * requestTimeout
	// maxLogins is how often one Handler asks a person.
	maxLogins = 3
)

// Options is what a Handler is made of. Server and URL are needed.
type Options struct {
	Server string // what errors and hints call it
	URL    string // where the server is
	Client Client
	// Store keeps what is known of logins; without one it is known as long as the Handler lives.
	Store Store
	// Proxy says through which proxy an address is reached, as http.Transport has it.
	Proxy   func(*url.URL) (*url.URL, error)
	Version string // of this program
	// Login is how a person is asked; nil if nobody can be.
	Login *Login
}

// Client is what the configuration says of the client that logs in. The zero Client
// registers itself.
type Client struct {
	// ID was given by the authorisation server, or is the https address of a document that
	// describes the client.
	ID     string
	Secret string
	// PrivateKey is a PEM text that the client signs with in place of a secret.
	PrivateKey string
	Issuer     string   // the only authorisation server that ID is for; empty if it does not matter
	Scopes     []string // asked for in place of what the server suggests
	Redirect   string   // where the browser comes back to; empty for a free port of this machine
	// Credentials says that the client logs in for itself: no person is asked.
	Credentials bool
}

// Store keeps texts by key. Its methods may be called at the same time.
type Store interface {
	// Load returns what is kept, or nil if there is nothing.
	Load(key string) ([]byte, error)
	Save(key string, data []byte) error
	// Delete forgets what is kept, if anything.
	Delete(key string) error
	// Lock keeps other processes from changing what is kept until unlock is called.
	Lock(ctx context.Context, key string) (unlock func(), err error)
}

// Handler holds the tokens of one server. It is an Authorizer of package client.
type Handler struct {
	o      Options
	server *url.URL
	unsafe error // why no token can be sent there
	client http.Client

	turn chan struct{} // holds a token while tokens are obtained

	mu     sync.Mutex
	kept   *record // what could not be stored, or what there is no store for
	logins int     // that a person was asked for
	fresh  bool    // one of them came out well
}

// New makes a Handler. Nothing is read or asked.
func New(o Options) *Handler {
	h := &Handler{o: o, turn: make(chan struct{}, 1)}
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "":
		u = &url.URL{}
		h.unsafe = h.fail("its url is no address")
	case u.Scheme != "https" && !loopback(u):
		h.unsafe = h.fail("it is reached over http, where others can read what it is sent: tokens go over https").
			Hintf("write https:// in the url of its entry")
	}
	h.server = u
	transport := &http.Transport{
		TLSHandshakeTimeout: requestTimeout, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Second,
		MaxResponseHeaderBytes: 1 << 18, DisableKeepAlives: true,
	}
	if o.Proxy != nil {
		transport.Proxy = func(r *http.Request) (*url.URL, error) { return o.Proxy(r.URL) }
	}
	h.client = http.Client{
		Transport: transport, Timeout: requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return h
}

// reachable reports whether tokens can be sent to the server.
func (h *Handler) reachable() bool { return h.unsafe == nil }

// fail makes an error about the server, which has not acted on anything.
func (h *Handler) fail(format string, args ...any) *fault.Error {
	return fault.Unavailablef("logging in to "+strings.ReplaceAll(h.o.Server, "%", "%%")+": "+format, args...).
		With("server", h.o.Server).With("mayHaveRun", false)
}

// needed is the error of a request that a person has to log in for.
func (h *Handler) needed(format string, args ...any) *fault.Error {
	return fault.Unavailablef(strings.ReplaceAll(h.o.Server, "%", "%%")+" "+format, args...).
		With("server", h.o.Server).With("mayHaveRun", false).With("status", http.StatusUnauthorized).With("login", true).
		Hintf("mcpx auth login %s", fault.ShellWord(h.o.Server))
}

// Token returns the token for the next request; empty if nobody has logged in. One that is
// about to expire is replaced first, by whichever process comes first.
func (h *Handler) Token(ctx context.Context) (string, error) {
	if !h.reachable() || h.o.Login != nil && !h.LoggedIn() {
		return "", nil
	}
	rec, err := h.current()
	if err != nil || rec == nil || rec.Access == "" {
		return "", err
	}
	if rec.lasts(margin) {
		return rec.Access, nil
	}
	next, err := h.renew(ctx, rec.Access)
	switch {
	case err == nil:
		return next.Access, nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case rec.lasts(0):
		return rec.Access, nil // it will do until it has expired
	}
	return "", err
}

// Refused finds another token after the server has refused one.
func (h *Handler) Refused(ctx context.Context, token string, status int, challenges []string) (again bool, err error) {
	c := bearer(challenges)
	if status == http.StatusForbidden && c["error"] != "insufficient_scope" {
		return false, nil
	}
	if h.unsafe != nil {
		return false, h.unsafe
	}
	if err := h.take(ctx); err != nil {
		return false, err
	}
	defer h.give()
	rec, err := h.current()
	if h.o.Login != nil && err != nil {
		rec, err = nil, nil // a login mends it
	}
	if err != nil {
		return false, err
	}
	if h.o.Login != nil && !h.LoggedIn() {
		return h.login(ctx, c, rec)
	}
	// Another request, or another process, may have been faster.
	if rec != nil && rec.Access != "" && rec.Access != token && rec.lasts(0) {
		return true, nil
	}
	more := strings.Fields(c["scope"])
	switch {
	case status == http.StatusForbidden && rec != nil && covers(rec.Asked, more):
		return false, nil // it was asked for, and was not given
	case h.o.Client.Credentials:
		err := h.obtain(ctx, c, rec)
		return err == nil, err
	case h.o.Login != nil:
		return h.login(ctx, c, rec)
	case status == http.StatusForbidden:
		return false, h.wants(ctx, rec, more)
	case rec == nil:
		return false, nil // what the server says is all there is to say
	case rec.Refresh == "" || rec.Access != token:
		return false, h.needed("does not accept the login any more")
	}
	_, err = h.renewNow(ctx, rec.Access)
	return err == nil, err
}

// wants remembers for the next login that a server wants more scopes.
func (h *Handler) wants(ctx context.Context, rec *record, more []string) error {
	e := h.needed("wants more than the login allows: %s", strings.Join(more, " "))
	if len(more) == 0 {
		e = h.needed("wants more than the login allows, and does not say what")
	}
	if rec == nil || covers(rec.Wanted, more) {
		return e
	}
	unlock, err := h.lock(ctx)
	if err != nil {
		return e
	}
	defer unlock()
	if now, err := h.current(); err == nil && now != nil {
		now.Wanted = union(now.Wanted, more)
		_ = h.save(now) // it is asked for again
	}
	return e
}

// take waits until nobody else obtains tokens.
func (h *Handler) take(ctx context.Context) error {
	select {
	case h.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *Handler) give() { <-h.turn }

// LoggedIn reports whether a person has logged in since the Handler was made.
func (h *Handler) LoggedIn() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.fresh
}

// renew replaces a token, unless that has been done meanwhile.
func (h *Handler) renew(ctx context.Context, old string) (*record, error) {
	if err := h.take(ctx); err != nil {
		return nil, err
	}
	defer h.give()
	return h.renewNow(ctx, old)
}

// renewNow is renew for those whose turn it is. No other process does the same meanwhile:
// a refresh token may be good for one use.
func (h *Handler) renewNow(ctx context.Context, old string) (*record, error) {
	unlock, err := h.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	rec, err := h.current()
	switch {
	case err != nil:
		return nil, err
	case rec == nil || rec.Access == "":
		return nil, h.needed("wants a login: somebody has logged out")
	case rec.Access != old && rec.lasts(0):
		return rec, nil
	case h.o.Client.Credentials:
		return h.obtainLocked(ctx, nil, rec)
	case rec.Refresh == "":
		return nil, h.needed("wants a new login: the last one has expired")
	}
	return h.refresh(ctx, rec)
}

// lock keeps other processes away.
func (h *Handler) lock(ctx context.Context) (unlock func(), err error) {
	if h.o.Store == nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockTimeout, h.fail("another process has been busy with the same login for %s", lockTimeout))
	defer cancel()
	unlock, err = h.o.Store.Lock(ctx, h.Key())
	if err != nil && ctx.Err() == nil {
		return nil, h.fail("%w", err)
	}
	return unlock, err
}

// Key is under what the store keeps the login. Two entries for one server with one client
// share it; an entry of another address never gets it.
func (h *Handler) Key() string {
	text, _ := json.Marshal([]any{h.server.String(), h.o.Client.ID, h.o.Client.Credentials}) // strings always encode
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// current returns what is known of the login, or nil.
func (h *Handler) current() (*record, error) {
	h.mu.Lock()
	kept := h.kept
	h.mu.Unlock()
	if h.o.Store == nil {
		return kept.copy(), nil
	}
	data, err := h.o.Store.Load(h.Key())
	if err != nil {
		return nil, h.fail("%w", err)
	}
	if data == nil {
		return kept.copy(), nil
	}
	rec := &record{}
	if err := json.Unmarshal(data, rec); err != nil {
		return nil, h.needed("wants a new login: what is known of the last one is damaged")
	}
	if want := h.o.Client.Issuer; rec.Server != h.server.String() || want != "" && !sameIssuer(rec.Issuer, want) {
		return kept.copy(), nil
	}
	if kept != nil && kept.Obtained.After(rec.Obtained) {
		return kept.copy(), nil
	}
	return rec, nil
}

// save keeps a record. If it cannot be stored it is good for this process all the same: the
// old one may be of no use any more.
func (h *Handler) save(rec *record) error {
	h.mu.Lock()
	h.kept = rec.copy()
	h.mu.Unlock()
	if h.o.Store == nil {
		return nil
	}
	data, err := json.Marshal(rec)
	if err == nil {
		err = h.o.Store.Save(h.Key(), data)
	}
	if err != nil {
		return h.fail("%w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = nil
	return nil
}

// record is what is kept of a login.
type record struct {
	Server     string     `json:"server"`   // its address
	Issuer     string     `json:"issuer"`   // the authorisation server
	Resource   string     `json:"resource"` // what the authorisation server calls the server
	Token      string     `json:"tokenEndpoint"`
	Revocation string     `json:"revocationEndpoint,omitempty"`
	Client     registered `json:"client"`
	Asked      []string   `json:"asked,omitempty"`  // scopes
	Scopes     []string   `json:"scopes,omitempty"` // that were given, if that was said
	Wanted     []string   `json:"wanted,omitempty"` // that the server wanted since
	Access     string     `json:"access,omitempty"`
	Refresh    string     `json:"refresh,omitempty"`
	Obtained   time.Time  `json:"obtained"`
	Expires    time.Time  `json:"expires,omitzero"` // zero if that is not known
}

// registered is a client as one authorisation server knows it.
type registered struct {
	ID       string    `json:"id"`
	Secret   string    `json:"secret,omitempty"`   // only of one that registered itself
	Method   string    `json:"method,omitempty"`   // how it shows who it is at the token endpoint
	Redirect string    `json:"redirect,omitempty"` // where it had the browser sent
	Own      bool      `json:"own,omitempty"`      // it registered itself
	Expires  time.Time `json:"expires,omitzero"`
}

func (r *record) copy() *record {
	if r == nil {
		return nil
	}
	c := *r
	return &c
}

// lasts reports whether the token is good for that long.
func (r *record) lasts(d time.Duration) bool {
	if r.Expires.IsZero() {
		return true
	}
	if whole := r.Expires.Sub(r.Obtained); d > whole/2 {
		d = whole / 2 // one that is short-lived by design is used for half of it
	}
	return time.Now().Add(d).Before(r.Expires)
}

// covers reports whether all of more are in some.
func covers(some, more []string) bool {
	for _, s := range more {
		if !slices.Contains(some, s) {
			return false
		}
	}
	return true
}

// union adds what is missing of b to a.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// loopback reports whether an address is of this machine.
func loopback(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

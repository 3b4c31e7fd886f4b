package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Login is how a person is asked.
type Login struct {
	// Show brings an address before the person: in a browser, or as text. It returns at once.
	Show func(address string) error
	// Paste, if there is one, waits for what a person copies out of the browser: the address
	// that it was sent to, or the code in it. It gives up when ctx is done; io.EOF means that
	// nothing will come.
	Paste func(ctx context.Context) (string, error)
	// Timeout bounds the wait for the person.
	Timeout time.Duration
}

// Login has the person log in, whether or not the server has asked for it.
func (h *Handler) Login(ctx context.Context) error {
	if h.unsafe != nil {
		return h.unsafe
	}
	if err := h.take(ctx); err != nil {
		return err
	}
	defer h.give()
	rec, err := h.current()
	if err != nil {
		rec = nil // the login mends it
	}
	if h.o.Client.Credentials {
		return h.obtain(ctx, nil, rec)
	}
	_, err = h.login(ctx, nil, rec)
	return err
}

// login has a person agree, and gets the tokens. Its caller has the turn; other processes go
// on with the old tokens meanwhile.
func (h *Handler) login(ctx context.Context, challenge map[string]string, old *record) (again bool, err error) {
	if h.o.Client.Credentials {
		err := h.obtain(ctx, challenge, old)
		if err == nil {
			h.loggedInNow()
		}
		return err == nil, err
	}
	t, err := h.discover(ctx, challenge)
	if err != nil {
		return false, err
	}
	if old != nil && old.Issuer != t.Issuer {
		old = nil // what one authorisation server gave is nothing to another
	}
	h.mu.Lock()
	refused := h.fresh && old != nil && challenge["error"] != "insufficient_scope"
	h.logins++
	tooMany := h.logins > maxLogins
	h.mu.Unlock()
	if refused || tooMany {
		return false, h.fail("it does not accept the token that its authorisation server %s has just given for it", shown(t.Issuer))
	}
	back, err := h.callback(old)
	if err != nil {
		return false, err
	}
	defer back.close()
	asked := h.scopes(challenge, t, old)
	c, err := h.clientFor(ctx, t, old, back.redirect, asked)
	if err != nil {
		return false, err
	}
	verifier := rand.Text() + rand.Text()
	address, err := h.question(t, c, asked, back.state, verifier)
	if err != nil {
		return false, err
	}
	code, err := h.answer(ctx, back, t, address)
	if err != nil {
		return false, err
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {c.Redirect}, "code_verifier": {verifier},
	}
	if t.resource != "" {
		form.Set("resource", t.resource)
	}
	got, err := h.grant(ctx, &t.metadata, c, form)
	if err != nil {
		return false, err
	}
	next := h.record(t, c, asked)
	next.take(got)
	unlock, err := h.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	if err := h.save(next); err != nil {
		return false, err // the person would find nothing of it
	}
	h.loggedInNow()
	return true, nil
}

func (h *Handler) loggedInNow() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fresh = true
}

// question is the address at which a person is asked.
func (h *Handler) question(t *target, c registered, asked []string, state, verifier string) (string, error) {
	u, err := h.safe(t.Authorization)
	if err != nil {
		return "", h.fail("the authorisation endpoint of %s cannot be used: %w", shown(t.Issuer), err)
	}
	sum := sha256.Sum256([]byte(verifier))
	q := u.Query()
	q.Set("response_type", "code")
	q.Set("client_id", c.ID)
	q.Set("redirect_uri", c.Redirect)
	q.Set("state", state)
	q.Set("code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]))
	q.Set("code_challenge_method", "S256")
	if t.resource != "" {
		q.Set("resource", t.resource)
	}
	if len(asked) > 0 {
		q.Set("scope", strings.Join(asked, " "))
		if slices.Contains(asked, offline) {
			q.Set("prompt", "consent") // OpenID Connect gives the scope only then
		}
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// answer waits until the browser comes back, or the person brings what it would have said.
func (h *Handler) answer(ctx context.Context, back *callback, t *target, address string) (code string, err error) {
	l := h.o.Login
	timeout := cmp.Or(l.Timeout, 5*time.Minute)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, h.fail("nobody has agreed within %s", timeout).
		Hintf("try again; auth.loginTimeout says how long to wait"))
	defer cancel()
	if err := l.Show(address); err != nil {
		return "", h.fail("%w", err)
	}
	pasted := make(chan url.Values)
	done := make(chan struct{})
	defer func() { cancel(); <-done }()
	go func() {
		defer close(done)
		h.paste(ctx, back, pasted)
	}()
	select {
	case said := <-back.said:
		return h.read(said, t)
	case said := <-pasted:
		return h.read(said, t)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// paste hands over what a person pastes, once it can be understood.
func (h *Handler) paste(ctx context.Context, back *callback, to chan<- url.Values) {
	if h.o.Login.Paste == nil {
		return
	}
	for ctx.Err() == nil {
		text, err := h.o.Login.Paste(ctx)
		if err != nil {
			return
		}
		said, ok := back.pasted(strings.TrimSpace(text))
		if !ok {
			continue
		}
		select {
		case to <- said:
		case <-ctx.Done():
		}
		return
	}
}

// read takes the code out of what the authorisation server had the browser say, if it is
// the right one that speaks: RFC 9207.
func (h *Handler) read(said url.Values, t *target) (string, error) {
	iss, named := said.Get("iss"), said.Has("iss")
	switch {
	case named && iss != t.Issuer:
		return "", h.fail("the answer comes from another authorisation server, %s in place of %s", shown(iss), shown(t.Issuer))
	case !named && t.NamesItself:
		return "", h.fail("the answer does not say which authorisation server it comes from, and %s always says so", shown(t.Issuer)).
			Hintf("paste the whole address that the browser was sent to")
	case said.Get("error") != "":
		return "", h.fail("%s answered %s", shown(t.Issuer), shownErr(said.Get("error"), said.Get("error_description")))
	case said.Get("code") == "":
		return "", h.fail("the answer of %s holds no code", shown(t.Issuer))
	}
	return said.Get("code"), nil
}

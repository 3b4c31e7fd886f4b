package auth

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Status is what may be told of a login.
type Status struct {
	Issuer   string    // the authorisation server
	Scopes   []string  // that were given, or asked for if that was not said
	Wanted   []string  // that the server wanted beyond those
	Client   string    // its id
	Obtained time.Time // when the token was given
	Expires  time.Time // zero if that is not known
	Renews   bool      // the token is replaced without a person
}

// Valid reports whether requests can be made without a person.
func (s *Status) Valid() bool { return s.Renews || s.Expires.IsZero() || time.Now().Before(s.Expires) }

// Status returns what is known of the login; nil if nobody has logged in.
func (h *Handler) Status() (*Status, error) {
	rec, err := h.current()
	if err != nil || rec == nil || rec.Access == "" {
		return nil, err
	}
	s := &Status{
		Issuer: rec.Issuer, Scopes: rec.Scopes, Wanted: rec.Wanted, Client: rec.Client.ID,
		Obtained: rec.Obtained, Expires: rec.Expires, Renews: rec.Refresh != "" || h.o.Client.Credentials,
	}
	if len(s.Scopes) == 0 {
		s.Scopes = rec.Asked
	}
	return s, nil
}

// Logout forgets the tokens, and has the authorisation server do so if it can: RFC 7009.
// Was is false if nobody was logged in. Revoked says that the authorisation server took them
// back; that it did not is no error, for nobody here knows them any more.
func (h *Handler) Logout(ctx context.Context) (was, revoked bool, err error) {
	if err := h.take(ctx); err != nil {
		return false, false, err
	}
	defer h.give()
	unlock, err := h.lock(ctx)
	if err != nil {
		return false, false, err
	}
	defer unlock()
	rec, loading := h.current()
	h.mu.Lock()
	h.kept, h.fresh = nil, false
	h.mu.Unlock()
	if h.o.Store != nil {
		if err := h.o.Store.Delete(h.Key()); err != nil {
			return false, false, h.fail("%w", err)
		}
	}
	if loading != nil {
		return true, false, nil // what could not be read is gone all the same
	}
	if rec == nil || rec.Access == "" {
		return false, false, nil
	}
	return true, h.revoke(ctx, rec), nil
}

// revoke has an authorisation server take tokens back, the one that gives others first.
func (h *Handler) revoke(ctx context.Context, rec *record) bool {
	endpoint, err := h.safe(rec.Revocation)
	if err != nil {
		return false
	}
	revoked := false
	for _, t := range []struct{ kind, token string }{{"refresh_token", rec.Refresh}, {"access_token", rec.Access}} {
		if t.token == "" {
			continue
		}
		req, err := h.form(ctx, endpoint, rec.Issuer, rec.Client, url.Values{"token": {t.token}, "token_type_hint": {t.kind}})
		if err != nil {
			return revoked
		}
		status, _, _, err := h.ask(ctx, req)
		revoked = err == nil && status == http.StatusOK
		if !revoked {
			return false
		}
	}
	return revoked
}

// Offers reports whether the server says of itself that it takes tokens.
func (h *Handler) Offers(ctx context.Context) (bool, error) {
	if !h.reachable() {
		return false, nil
	}
	t, _, err := h.resource(ctx, "")
	return t != nil, err
}

package auth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcpx/internal/fault"
)

// How a client shows who it is at a token endpoint.
const (
	methodNone   = "none"
	methodBasic  = "client_secret_basic"
	methodPost   = "client_secret_post"
	methodSigned = "private_key_jwt"
)

const (
	maxToken = 64 << 10
	// longest is the longest life of a token that is believed.
	longest = 10 * 365 * 24 * time.Hour
)

// tokens is what a token endpoint gives.
type tokens struct {
	Access      string          `json:"access_token"`
	Type        string          `json:"token_type"`
	Expires     json.RawMessage `json:"expires_in"` // some write the number as a string
	Refresh     string          `json:"refresh_token"`
	Scope       string          `json:"scope"`
	Error       string          `json:"error"`
	Description string          `json:"error_description"`
}

// refusal is the error of a token endpoint that has answered.
type refusal struct{ cause *fault.Error }

func (r *refusal) Error() string { return r.cause.Error() }

func (r *refusal) Unwrap() error { return r.cause }

// grant asks a token endpoint for tokens. Form says by what right.
func (h *Handler) grant(ctx context.Context, m *metadata, c registered, form url.Values) (*tokens, error) {
	endpoint, err := h.safe(m.Token)
	if err != nil {
		return nil, h.fail("the token endpoint of %s cannot be used: %w", shown(m.Issuer), err)
	}
	req, err := h.form(ctx, endpoint, m.Issuer, c, form)
	if err != nil {
		return nil, err
	}
	status, _, body, err := h.ask(ctx, req)
	if err != nil {
		return nil, err
	}
	var t tokens
	parsed := json.Unmarshal(body, &t) == nil
	switch {
	case t.Error != "":
		return nil, &refusal{h.fail("%s answered %s", origin(endpoint), shownErr(t.Error, t.Description))}
	case status >= 300 && status < 400:
		return nil, h.fail("the token endpoint %s redirects, which is not followed", origin(endpoint))
	case status != http.StatusOK && status != http.StatusCreated:
		return nil, h.fail("the token endpoint %s answered HTTP %d", origin(endpoint), status)
	case !parsed:
		return nil, h.fail("what the token endpoint %s answered makes no sense", origin(endpoint))
	case t.Type != "" && !strings.EqualFold(t.Type, "Bearer"):
		return nil, h.fail("%s gives tokens of type %s, and only Bearer can be sent", origin(endpoint), shown(t.Type))
	case !sendable(t.Access):
		return nil, h.fail("%s gave no token that can be sent", origin(endpoint))
	}
	return &t, nil
}

// sendable reports whether a text can stand in a header as a token.
func sendable(token string) bool {
	return token != "" && len(token) <= maxToken && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// form makes a request in which the client shows who it is.
func (h *Handler) form(ctx context.Context, endpoint *url.URL, issuer string, c registered, form url.Values) (*http.Request, error) {
	basic := ""
	switch secret := h.secret(c); c.Method {
	case methodSigned:
		signed, err := assertion(h.o.Client.PrivateKey, c.ID, issuer, time.Now())
		if err != nil {
			return nil, h.fail("the private key of its entry: %w", err)
		}
		form.Set("client_id", c.ID)
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", signed)
	case methodBasic:
		basic = base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(c.ID) + ":" + url.QueryEscape(secret)))
	default:
		form.Set("client_id", c.ID)
		if c.Method == methodPost && secret != "" {
			form.Set("client_secret", secret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, h.fail("%s is no address", origin(endpoint))
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if basic != "" {
		req.Header.Set("Authorization", "Basic "+basic)
	}
	return req, nil
}

// secret returns the secret of a client: its own, or the one of the configuration.
func (h *Handler) secret(c registered) string {
	if c.Own {
		return c.Secret
	}
	return h.o.Client.Secret
}

// method decides how a client shows who it is, by what the authorisation server takes.
// None said means client_secret_basic, the default of the standard.
func method(hasSecret, hasKey bool, takes []string) string {
	switch {
	case hasKey:
		return methodSigned
	case !hasSecret:
		return methodNone
	case slices.Contains(takes, methodPost) && !slices.Contains(takes, methodBasic):
		return methodPost
	}
	return methodBasic
}

// take puts tokens into a record.
func (r *record) take(t *tokens) {
	now := time.Now()
	r.Access, r.Obtained, r.Expires = t.Access, now, time.Time{}
	if s, err := strconv.ParseFloat(strings.Trim(string(t.Expires), `"`), 64); err == nil && s > 0 {
		r.Expires = now.Add(longest)
		if s < longest.Seconds() {
			r.Expires = now.Add(time.Duration(s * float64(time.Second)))
		}
	}
	if t.Refresh != "" { // otherwise the old one stays good
		r.Refresh = t.Refresh
	}
	if t.Scope != "" {
		r.Scopes = strings.Fields(t.Scope)
	}
}

// refresh replaces the tokens of a record whose lock is held.
func (h *Handler) refresh(ctx context.Context, rec *record) (*record, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {rec.Refresh}}
	if rec.Resource != "" {
		form.Set("resource", rec.Resource)
	}
	m := &metadata{Issuer: rec.Issuer, Token: rec.Token}
	t, err := h.grant(ctx, m, rec.Client, form)
	if r, ok := errors.AsType[*refusal](err); ok {
		return nil, h.needed("wants a new login: %w", r)
	}
	if err != nil {
		return nil, err
	}
	rec.take(t)
	_ = h.save(rec) // it serves this process in any case
	return rec, nil
}

// obtain gets a token for the client itself, without a person.
func (h *Handler) obtain(ctx context.Context, challenge map[string]string, rec *record) error {
	unlock, err := h.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if now, err := h.current(); err == nil && now != nil && now.Access != "" && (rec == nil || now.Access != rec.Access) && now.lasts(0) {
		return nil // another process was faster
	}
	_, err = h.obtainLocked(ctx, challenge, rec)
	return err
}

func (h *Handler) obtainLocked(ctx context.Context, challenge map[string]string, rec *record) (*record, error) {
	t, err := h.discover(ctx, challenge)
	if err != nil {
		return nil, err
	}
	if rec != nil && rec.Issuer != t.Issuer {
		rec = nil
	}
	c := registered{ID: h.o.Client.ID, Method: method(h.o.Client.Secret != "", h.o.Client.PrivateKey != "", t.Methods)}
	if c.ID == "" || c.Method == methodNone {
		return nil, h.fail("a client that logs in for itself needs a clientId, and a clientSecret or a privateKey").
			Hintf(`write them into "auth" of its entry`)
	}
	asked := h.scopes(challenge, t, rec)
	form := url.Values{"grant_type": {"client_credentials"}}
	if t.resource != "" {
		form.Set("resource", t.resource)
	}
	if len(asked) > 0 {
		form.Set("scope", strings.Join(asked, " "))
	}
	got, err := h.grant(ctx, &t.metadata, c, form)
	if err != nil {
		return nil, err
	}
	next := h.record(t, c, asked)
	next.take(got)
	next.Refresh = ""
	_ = h.save(next) // as in refresh
	return next, nil
}

// record is a login that has no tokens yet.
func (h *Handler) record(t *target, c registered, asked []string) *record {
	return &record{
		Server: h.server.String(), Issuer: t.Issuer, Resource: t.resource, Token: t.Token, Revocation: t.Revocation,
		Client: c, Asked: asked,
	}
}

// scopes decides what to ask for: what the configuration says, or what the challenge names,
// or what the server has; and what was asked for before, or wanted since, so that nothing is
// lost.
func (h *Handler) scopes(challenge map[string]string, t *target, rec *record) []string {
	named := strings.Fields(challenge["scope"])
	asked := named
	switch {
	case len(h.o.Client.Scopes) > 0:
		asked = union(h.o.Client.Scopes, nil)
		if challenge["error"] == "insufficient_scope" {
			asked = union(asked, named)
		}
	case len(asked) == 0:
		asked = t.scopes
	}
	if rec != nil {
		before := rec.Asked
		if len(h.o.Client.Scopes) > 0 {
			before = nil
		}
		asked = union(union(before, asked), rec.Wanted)
	}
	if !h.o.Client.Credentials && len(h.o.Client.Scopes) == 0 && slices.Contains(t.Scopes, offline) {
		asked = union(asked, []string{offline})
	}
	return asked
}

// offline is the scope with which some authorisation servers give refresh tokens.
const offline = "offline_access"

package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// clientFor decides as which client to log in: the one of the configuration, the one that
// registered itself here before, or one that does so now.
func (h *Handler) clientFor(ctx context.Context, t *target, old *record, redirect string, asked []string) (registered, error) {
	configured := h.o.Client
	if configured.ID != "" {
		c := registered{ID: configured.ID, Redirect: redirect}
		switch {
		case !describes(configured.ID):
			c.Method = method(configured.Secret != "", configured.PrivateKey != "", t.Methods)
			return c, nil
		case t.Documents || t.Registration == "":
			c.Method = method(false, configured.PrivateKey != "", t.Methods)
			return c, nil
		}
	}
	if old != nil && old.Client.Own && old.Client.Redirect == redirect && (old.Client.Expires.IsZero() || time.Now().Before(old.Client.Expires)) {
		return old.Client, nil
	}
	if t.Registration == "" {
		return registered{}, h.fail("clients cannot register themselves with %s", shown(t.Issuer)).
			Hintf(`register one there, with the redirect address http://127.0.0.1:33418/callback, and give the entry "auth": {"clientId": "…", "callbackPort": 33418}`)
	}
	return h.register(ctx, t, redirect, asked)
}

// describes reports whether a client's id is the address of a document about it.
func describes(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.Path != "" && u.Path != "/"
}

// register has the client registered: RFC 7591.
func (h *Handler) register(ctx context.Context, t *target, redirect string, asked []string) (registered, error) {
	endpoint, err := h.safe(t.Registration)
	if err != nil {
		return registered{}, h.fail("the registration endpoint of %s cannot be used: %w", shown(t.Issuer), err)
	}
	want := methodNone
	if len(t.Methods) > 0 && !slices.Contains(t.Methods, methodNone) {
		want = method(true, false, t.Methods)
	}
	about := map[string]any{
		"client_name": "mcpx", "redirect_uris": []string{redirect}, "application_type": "native",
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		"token_endpoint_auth_method": want,
	}
	if len(asked) > 0 {
		about["scope"] = strings.Join(asked, " ")
	}
	text, err := json.Marshal(about)
	if err != nil {
		return registered{}, h.fail("%w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.String(), bytes.NewReader(text))
	if err != nil {
		return registered{}, h.fail("%s is no address", origin(endpoint))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	status, _, body, err := h.ask(ctx, req)
	if err != nil {
		return registered{}, err
	}
	var said struct {
		ID          string  `json:"client_id"`
		Secret      string  `json:"client_secret"`
		Method      string  `json:"token_endpoint_auth_method"`
		Expires     float64 `json:"client_secret_expires_at"`
		Error       string  `json:"error"`
		Description string  `json:"error_description"`
	}
	err = json.Unmarshal(body, &said)
	switch {
	case said.Error != "":
		return registered{}, h.fail("%s does not register the client: %s", origin(endpoint), shownErr(said.Error, said.Description))
	case status != http.StatusCreated && status != http.StatusOK:
		return registered{}, h.fail("%s does not register the client: it answered HTTP %d", origin(endpoint), status).
			Hintf(`see whether the server logs in by OAuth at all; a token of another kind goes into "headers": {"Authorization": "Bearer ${env:TOKEN}"} of its entry`)
	case err != nil || said.ID == "":
		return registered{}, h.fail("what %s answered to the registration makes no sense", origin(endpoint))
	}
	c := registered{ID: said.ID, Secret: said.Secret, Method: said.Method, Redirect: redirect, Own: true}
	switch c.Method {
	case methodNone, methodBasic, methodPost:
	case "":
		c.Method = method(said.Secret != "", false, t.Methods)
		if said.Secret == "" {
			c.Method = methodNone
		}
	default:
		return registered{}, h.fail("%s wants the client to show who it is by %s, which it cannot", origin(endpoint), shown(c.Method))
	}
	if said.Secret != "" && said.Expires > 0 && said.Expires < 1e11 {
		c.Expires = time.Unix(int64(said.Expires), 0)
	}
	return c, nil
}

package auth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const (
	// maxDocument bounds what is read of a document about a server.
	maxDocument = 1 << 20
	// maxRedirects is how often the request for one is sent elsewhere.
	maxRedirects = 3
)

// metadata is what an authorisation server says of itself, as far as it matters here.
type metadata struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Registration  string   `json:"registration_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	Scopes        []string `json:"scopes_supported"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	Documents     bool     `json:"client_id_metadata_document_supported"`
	NamesItself   bool     `json:"authorization_response_iss_parameter_supported"`
}

// target is where to log in for a server.
type target struct {
	metadata
	resource string   // what tokens are asked for; empty if the authorisation server knows of no resources
	scopes   []string // that the server has, if it says so
}

// discover finds the authorisation server of the server: by the document that the challenge
// names, those at the well-known places, or, for servers of the first revision with
// authorisation, on the server itself.
func (h *Handler) discover(ctx context.Context, challenge map[string]string) (*target, error) {
	t, issuer, err := h.resource(ctx, challenge["resource_metadata"])
	if err != nil {
		return nil, err
	}
	old := t == nil
	if old {
		t, issuer = &target{}, origin(h.server)
		if want := h.o.Client.Issuer; want != "" && !sameIssuer(issuer, want) {
			return nil, h.fail("it does not name its authorisation server, and the client id of its entry is for %s", shown(want))
		}
	}
	m, err := h.authorizationServer(ctx, issuer)
	if other, ok := errors.AsType[*otherIssuer](err); ok && old {
		// The server was only taken to be the authorisation server too. It says which one is, and
		// that one has to say so itself.
		if named, wrong := h.authorizationServer(ctx, other.issuer); wrong == nil && named != nil {
			m, err = named, nil
		}
	}
	if err != nil {
		return nil, err
	}
	switch {
	case m != nil:
		t.metadata = *m
	case old && !h.o.Client.Credentials:
		t.metadata = metadata{
			Issuer: issuer, Authorization: issuer + "/authorize", Token: issuer + "/token", Registration: issuer + "/register",
			Challenges: []string{"S256"},
		}
	default:
		return nil, h.fail("the authorisation server %s does not say how it is spoken to: there is no document at its well-known addresses", issuer)
	}
	return t, nil
}

// resource reads what the server says of itself as something that tokens are for; nil if
// it says nothing.
func (h *Handler) resource(ctx context.Context, named string) (*target, string, error) {
	var places []string
	if named != "" {
		at, err := h.server.Parse(named)
		if err != nil {
			return nil, "", h.fail("the address of its metadata makes no sense")
		}
		places = append(places, at.String())
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	if path := strings.TrimSuffix(h.server.EscapedPath(), "/"); path != "" {
		places = append(places, origin(h.server)+wellKnown+path)
	}
	places = append(places, origin(h.server)+wellKnown)
	for i, place := range places {
		var doc struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
			Scopes   []string `json:"scopes_supported"`
		}
		found, err := h.document(ctx, place, &doc)
		switch {
		case err != nil && named != "" && i == 0:
			return nil, "", err
		case err != nil || !found:
			continue
		case !h.isAbout(doc.Resource):
			return nil, "", h.fail("its metadata is about another server, %s: a token for that is not to be sent here", shown(doc.Resource))
		case len(doc.Servers) == 0:
			return nil, "", h.fail("its metadata names no authorisation server")
		}
		issuer := doc.Servers[0]
		if want := h.o.Client.Issuer; want != "" {
			at := slices.IndexFunc(doc.Servers, func(s string) bool { return sameIssuer(s, want) })
			if at < 0 {
				return nil, "", h.fail("its authorisation server is %s, and the client id of its entry is for %s", shown(issuer), shown(want))
			}
			issuer = doc.Servers[at]
		}
		return &target{resource: doc.Resource, scopes: doc.Scopes}, issuer, nil
	}
	return nil, "", nil
}

// isAbout reports whether a resource is the server, or what it is part of.
func (h *Handler) isAbout(resource string) bool {
	u, err := url.Parse(resource)
	if err != nil || u.Host == "" || origin(u) != origin(h.server) || u.Fragment != "" {
		return false
	}
	part, whole := strings.TrimSuffix(h.server.EscapedPath(), "/"), strings.TrimSuffix(u.EscapedPath(), "/")
	return part == whole || strings.HasPrefix(part, whole+"/")
}

// authorizationServer reads what an authorisation server says of itself; nil if it says
// nothing. What it says has to be safe to act on. The error wraps an *otherIssuer if it calls
// itself otherwise.
func (h *Handler) authorizationServer(ctx context.Context, issuer string) (*metadata, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, h.fail("the address of its authorisation server makes no sense: %s", shown(issuer))
	}
	base, path := origin(u), strings.TrimSuffix(u.EscapedPath(), "/")
	places := []string{base + "/.well-known/oauth-authorization-server" + path, base + "/.well-known/openid-configuration" + path}
	if path != "" {
		places = append(places, base+path+"/.well-known/openid-configuration", base+path+"/.well-known/oauth-authorization-server")
	}
	var mismatch error
	for _, place := range places {
		m := &metadata{}
		found, err := h.document(ctx, place, m)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		if !sameIssuer(m.Issuer, issuer) {
			// What another one says of itself may be at one of the places, and this one's at the next.
			mismatch = &otherIssuer{h.fail("the authorisation server %s says that it is another one, %s", shown(issuer), shown(m.Issuer)), m.Issuer}
			continue
		}
		for _, e := range []struct {
			what, at string
			needed   bool
		}{
			{"token", m.Token, true},
			{"authorisation", m.Authorization, !h.o.Client.Credentials},
			{"registration", m.Registration, false},
			{"revocation", m.Revocation, false},
		} {
			if e.at == "" && !e.needed {
				continue
			}
			if _, err := h.safe(e.at); err != nil {
				return nil, h.fail("the %s endpoint of %s cannot be used: %w", e.what, shown(issuer), err)
			}
		}
		if !h.o.Client.Credentials && !slices.Contains(m.Challenges, "S256") {
			return nil, h.fail("the authorisation server %s does not offer PKCE with S256, without which others could take the login over", shown(issuer))
		}
		return m, nil
	}
	return nil, mismatch
}

// otherIssuer is the error of an authorisation server that calls itself otherwise than it was
// called.
type otherIssuer struct {
	error
	issuer string
}

// Unwrap returns the error as it is told.
func (e *otherIssuer) Unwrap() error { return e.error }

// sameIssuer compares the names of two authorisation servers. Some write a slash at the end
// in one place and leave it out in another.
func sameIssuer(a, b string) bool {
	return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
}

// safe parses an address that is about to be used.
func (h *Handler) safe(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return nil, errors.New("it is no address")
	case u.Scheme == "https":
		return u, nil
	case u.Scheme != "http":
		return nil, errors.New("it is no https address")
	case !loopback(u):
		return nil, errors.New("it is an http address, where others can read what is sent")
	case !loopback(h.server):
		return nil, errors.New("it is on this machine, and the server is not")
	}
	return u, nil
}

// document reads a JSON document. Found is false if there is none.
func (h *Handler) document(ctx context.Context, address string, to any) (found bool, err error) {
	for range maxRedirects + 1 {
		at, err := h.safe(address)
		if err != nil {
			return false, h.fail("%s cannot be read: %w", shown(address), err)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return false, h.fail("%s is no address", shown(address))
		}
		req.Header.Set("Accept", "application/json")
		status, header, body, err := h.ask(ctx, req)
		switch {
		case err != nil:
			return false, err
		case status >= 300 && status < 400 && header.Get("Location") != "":
			next, err := at.Parse(header.Get("Location"))
			if err != nil {
				return false, h.fail("%s redirects to what is no address", shown(address))
			}
			address = next.String()
			continue
		case status >= 500:
			return false, h.fail("%s answered HTTP %d", shown(address), status)
		case status != http.StatusOK:
			return false, nil
		}
		if err := json.Unmarshal(body, to); err != nil {
			if !strings.HasPrefix(strings.TrimSpace(string(body)), "{") {
				return false, nil // a page for people, as some servers have at every address
			}
			return false, h.fail("what %s says makes no sense", shown(address))
		}
		return true, nil
	}
	return false, h.fail("%s redirects without end", shown(address))
}

// ask makes a request of an authorisation server, and reads the answer.
func (h *Handler) ask(ctx context.Context, req *http.Request) (status int, header http.Header, body []byte, err error) {
	agent := "mcpx"
	if h.o.Version != "" {
		agent += "/" + h.o.Version
	}
	req.Header.Set("User-Agent", agent)
	resp, err := h.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return 0, nil, nil, context.Cause(ctx)
		}
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // its text holds the whole address
		}
		return 0, nil, nil, h.fail("%s cannot be reached: %w", origin(req.URL), err)
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case ctx.Err() != nil:
		return 0, nil, nil, context.Cause(ctx)
	case err != nil:
		return 0, nil, nil, h.fail("%s broke off its answer", origin(req.URL))
	case len(body) > maxDocument:
		return 0, nil, nil, h.fail("%s answered with more than %d bytes", origin(req.URL), maxDocument)
	}
	return resp.StatusCode, resp.Header, body, nil
}

// origin is what two addresses of one server have in common.
func origin(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && (u.Scheme != "http" || port != "80") && (u.Scheme != "https" || port != "443") {
		host += ":" + port
	}
	return u.Scheme + "://" + host
}

// shown is a text from outside as it may be quoted in an error: short, on one line, and an
// address without what can be secret in it.
func shown(s string) string {
	const most = 200
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		s = u.String()
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffd {
			return ' '
		}
		return r
	}, s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	if s == "" {
		return "nothing"
	}
	return s
}

// shownErr quotes an error of an authorisation server: its code, and what it says to people.
func shownErr(code, description string) string {
	if description == "" {
		return shown(code)
	}
	return shown(code) + " (" + shown(description) + ")"
}

package mcptest

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"mcpx/mcp"
)

// Login says how a server wants its clients to log in. The authorisation server is at the
// same address, and its user agrees to everything.
type Login struct {
	HTTP
	Scope     string            // that every request needs
	More      map[string]string // scopes that calls need besides, by the name of the tool
	Lifetime  time.Duration     // of tokens; 0 is not told, and is for ever
	Rotates   bool              // a refresh token is good once
	NoRefresh bool              // there are none
	Methods   []string          // how clients show who they are; nil for none, client_secret_basic and client_secret_post
	Clients   map[string]string // those that are registered, with their secrets
	Fixed     bool              // no other can register
	Names     bool              // answers say which authorisation server they come from
	Old       bool              // the server says nothing of itself, as in the first revision with authorisation

	// Document changes what a well-known address says; may be nil.
	Document func(path string, doc map[string]any)
	// Redirect changes what the browser takes back; may be nil.
	Redirect func(said url.Values)
	// Instead answers a request itself, or returns false; may be nil.
	Instead func(w http.ResponseWriter, r *http.Request) bool
}

// Guarded is a server that wants a login.
type Guarded struct {
	URL    string // of the server
	Issuer string // of the authorisation server

	o      Login
	site   *Site
	server http.Server
	served chan struct{}

	mu      sync.Mutex
	clients map[string]string // secrets by id; empty for a client without one
	codes   map[string]given
	access  map[string]given
	refresh map[string]given
	counts  map[string]int
	seen    []string // what was sent as a token, a code or a secret
}

// given is what a code or a token stands for.
type given struct {
	client, scope, resource, redirect, challenge string
	until                                        time.Time
}

// Guard starts a server at /mcp of a free port. The caller must Close it.
func Guard(o Login) *Guarded {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("mcptest: %v", err))
	}
	base := "http://" + listener.Addr().String()
	g := &Guarded{
		URL: base + "/mcp", Issuer: base + "/as", o: o, site: Serve(o.HTTP), served: make(chan struct{}),
		clients: map[string]string{}, codes: map[string]given{}, access: map[string]given{}, refresh: map[string]given{}, counts: map[string]int{},
	}
	if o.Old {
		g.Issuer = base
	}
	maps.Copy(g.clients, o.Clients)
	g.server.Handler = g
	g.server.ReadHeaderTimeout = 10 * time.Second
	go func() {
		defer close(g.served)
		_ = g.server.Serve(listener)
	}()
	return g
}

// Close ends the server.
func (g *Guarded) Close() {
	g.site.Close()
	_ = g.server.Close()
	<-g.served
}

// Count returns how often something was asked for: register, authorize, revoke, refused, or
// the name of a grant.
func (g *Guarded) Count(what string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.counts[what]
}

// Expire makes every access token worthless.
func (g *Guarded) Expire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.access)
}

// Forget makes every token worthless.
func (g *Guarded) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.access)
	clear(g.refresh)
}

// Secrets returns every token, code and secret there has been.
func (g *Guarded) Secrets() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.seen)
}

func (g *Guarded) count(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts[what]++
}

func (g *Guarded) secret() string {
	s := "secret-" + rand.Text()
	g.seen = append(g.seen, s)
	return s
}

// ServeHTTP is both servers.
func (g *Guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.o.Instead != nil && g.o.Instead(w, r) {
		return
	}
	path := strings.TrimPrefix(r.URL.Path, strings.TrimPrefix(g.Issuer, strings.TrimSuffix(g.URL, "/mcp")))
	switch {
	case r.URL.Path == "/mcp":
		g.guard(w, r)
	case strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") && !g.o.Old:
		if r.URL.Path != "/.well-known/oauth-protected-resource/mcp" {
			http.NotFound(w, r)
			return
		}
		doc := map[string]any{"resource": g.URL, "authorization_servers": []string{g.Issuer}}
		if g.o.Scope != "" {
			doc["scopes_supported"] = []string{g.o.Scope}
		}
		g.document(w, r, doc)
	case strings.HasPrefix(r.URL.Path, "/.well-known/oauth-authorization-server"):
		g.document(w, r, g.metadata())
	case path == "/register" && r.Method == http.MethodPost && !g.o.Fixed:
		g.register(w, r)
	case path == "/authorize":
		g.authorize(w, r)
	case path == "/token" && r.Method == http.MethodPost:
		g.token(w, r)
	case path == "/revoke" && r.Method == http.MethodPost:
		g.revoke(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (g *Guarded) methods() []string {
	if g.o.Methods == nil {
		return []string{"none", "client_secret_basic", "client_secret_post"}
	}
	return g.o.Methods
}

func (g *Guarded) metadata() map[string]any {
	doc := map[string]any{
		"issuer": g.Issuer, "authorization_endpoint": g.Issuer + "/authorize", "token_endpoint": g.Issuer + "/token",
		"revocation_endpoint": g.Issuer + "/revoke", "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": g.methods(), "response_types_supported": []string{"code"},
	}
	if !g.o.Fixed {
		doc["registration_endpoint"] = g.Issuer + "/register"
	}
	if g.o.Names {
		doc["authorization_response_iss_parameter_supported"] = true
	}
	return doc
}

func (g *Guarded) document(w http.ResponseWriter, r *http.Request, doc map[string]any) {
	if g.o.Document != nil {
		g.o.Document(r.URL.Path, doc)
	}
	say(w, http.StatusOK, doc)
}

func say(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc)
}

func wrong(w http.ResponseWriter, status int, code string) {
	say(w, status, map[string]any{"error": code, "error_description": "mcptest says " + code})
}

// guard lets requests through that have a token with what they need.
func (g *Guarded) guard(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	g.mu.Lock()
	has, ok := g.access[token]
	g.mu.Unlock()
	challenge := `Bearer resource_metadata="` + strings.TrimSuffix(g.URL, "/mcp") + `/.well-known/oauth-protected-resource/mcp"`
	if g.o.Old {
		challenge = "Bearer"
	}
	need := strings.Fields(g.o.Scope)
	if m, err := mcp.Split(body); err == nil && m.Method == mcp.MethodToolsCall {
		need = append(need, strings.Fields(g.o.More[member(m.Params, "name")])...)
	}
	switch {
	case !ok || !has.until.IsZero() && time.Now().After(has.until):
		g.count("refused")
		if g.o.Scope != "" {
			challenge += `, scope="` + g.o.Scope + `"`
		}
		if token != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		wrong(w, http.StatusUnauthorized, "invalid_token")
	case !covers(has.scope, need):
		g.count("refused")
		w.Header().Set("WWW-Authenticate", challenge+`, error="insufficient_scope", scope="`+strings.Join(need, " ")+`"`)
		wrong(w, http.StatusForbidden, "insufficient_scope")
	default:
		g.site.ServeHTTP(w, r)
	}
}

func covers(scope string, need []string) bool {
	has := strings.Fields(scope)
	return !slices.ContainsFunc(need, func(s string) bool { return !slices.Contains(has, s) })
}

func (g *Guarded) register(w http.ResponseWriter, r *http.Request) {
	g.count("register")
	var about struct {
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&about); err != nil || len(about.Redirects) == 0 {
		wrong(w, http.StatusBadRequest, "invalid_redirect_uri")
		return
	}
	if !slices.Contains(g.methods(), about.Method) {
		wrong(w, http.StatusBadRequest, "invalid_client_metadata")
		return
	}
	g.mu.Lock()
	id, secret := "client-"+rand.Text(), ""
	if about.Method != "none" {
		secret = g.secret()
	}
	g.clients[id] = secret
	g.mu.Unlock()
	doc := map[string]any{"client_id": id, "redirect_uris": about.Redirects, "token_endpoint_auth_method": about.Method}
	if secret != "" {
		doc["client_secret"] = secret
	}
	say(w, http.StatusCreated, doc)
}

// authorize is what the browser opens.
func (g *Guarded) authorize(w http.ResponseWriter, r *http.Request) {
	g.count("authorize")
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	g.mu.Lock()
	_, known := g.clients[q.Get("client_id")]
	g.mu.Unlock()
	if err != nil || back.Host == "" || !known || q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" ||
		q.Get("resource") != g.URL && !g.o.Old {
		wrong(w, http.StatusBadRequest, "invalid_request")
		return
	}
	said := url.Values{"state": {q.Get("state")}}
	g.mu.Lock()
	code := g.secret()
	g.codes[code] = given{
		client: q.Get("client_id"), scope: q.Get("scope"), resource: q.Get("resource"),
		redirect: q.Get("redirect_uri"), challenge: q.Get("code_challenge"),
	}
	g.mu.Unlock()
	said.Set("code", code)
	if g.o.Names {
		said.Set("iss", g.Issuer)
	}
	if g.o.Redirect != nil {
		g.o.Redirect(said)
	}
	back.RawQuery = said.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// client finds out who asks for tokens.
func (g *Guarded) client(r *http.Request) (id string, ok bool) {
	id, secret, basic := r.BasicAuth()
	method := "client_secret_basic"
	if basic {
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret, method = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret"), "client_secret_post"
	}
	if secret == "" && !basic {
		method = "none"
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	want, known := g.clients[id]
	return id, known && want == secret && slices.Contains(g.methods(), method)
}

func (g *Guarded) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		wrong(w, http.StatusBadRequest, "invalid_request")
		return
	}
	grant := r.PostForm.Get("grant_type")
	g.count(grant)
	id, ok := g.client(r)
	if !ok {
		wrong(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	if r.PostForm.Get("resource") != g.URL && !g.o.Old {
		wrong(w, http.StatusBadRequest, "invalid_target")
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var has given
	switch grant {
	case "authorization_code":
		code := r.PostForm.Get("code")
		has, ok = g.codes[code]
		delete(g.codes, code)
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		ok = ok && has.client == id && has.redirect == r.PostForm.Get("redirect_uri") && has.challenge == base64.RawURLEncoding.EncodeToString(sum[:])
	case "refresh_token":
		old := r.PostForm.Get("refresh_token")
		has, ok = g.refresh[old]
		if g.o.Rotates {
			delete(g.refresh, old)
		}
		ok = ok && has.client == id
	case "client_credentials":
		has, ok = given{client: id, scope: r.PostForm.Get("scope")}, g.clients[id] != ""
	default:
		wrong(w, http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	if !ok {
		wrong(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	doc := map[string]any{"token_type": "Bearer", "scope": has.scope}
	has.until = time.Time{}
	if g.o.Lifetime > 0 {
		has.until = time.Now().Add(g.o.Lifetime)
		doc["expires_in"] = g.o.Lifetime.Seconds()
	}
	access := g.secret()
	g.access[access] = has
	doc["access_token"] = access
	if !g.o.NoRefresh && grant != "client_credentials" && (grant == "authorization_code" || g.o.Rotates) {
		next := g.secret()
		g.refresh[next] = has
		doc["refresh_token"] = next
	}
	say(w, http.StatusOK, doc)
}

func (g *Guarded) revoke(w http.ResponseWriter, r *http.Request) {
	g.count("revoke")
	if err := r.ParseForm(); err != nil {
		return
	}
	if _, ok := g.client(r); !ok {
		wrong(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.access, r.PostForm.Get("token"))
	delete(g.refresh, r.PostForm.Get("token"))
	w.WriteHeader(http.StatusOK)
}

package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
	"mcpx/mcp/auth"
	"mcpx/mcp/client"
	"mcpx/mcp/mcptest"
)

// shelf is a store in memory, which two Handlers share as two processes share files.
type shelf struct {
	mu    sync.Mutex
	texts map[string][]byte
	lock  sync.Mutex
	full  bool // nothing can be saved
}

func newShelf() *shelf { return &shelf{texts: map[string][]byte{}} }

func (s *shelf) Load(key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts[key], nil
}

func (s *shelf) Save(key string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return errors.New("full")
	}
	s.texts[key] = data
	return nil
}

func (s *shelf) Delete(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.texts, key)
	return nil
}

func (s *shelf) Lock(context.Context, string) (func(), error) {
	s.lock.Lock()
	return s.lock.Unlock, nil
}

func guard(t *testing.T, o mcptest.Login) *mcptest.Guarded {
	t.Helper()
	g := mcptest.Guard(o)
	t.Cleanup(g.Close)
	return g
}

// browser opens addresses, and agrees to everything.
type browser struct {
	mu    sync.Mutex
	asked []url.Values // the questions
	pages []string     // where it ended
}

func (b *browser) open(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	resp, err := http.Get(address) //nolint:noctx // a browser has none
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, u.Query())
	b.pages = append(b.pages, fmt.Sprintf("%d %s", resp.StatusCode, text))
	return nil
}

func (b *browser) scopes() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, q := range b.asked {
		out = append(out, q.Get("scope"))
	}
	return out
}

// handler makes a Handler; b is nil if nobody can be asked.
func handler(g *mcptest.Guarded, s auth.Store, b *browser, change func(o *auth.Options)) *auth.Handler {
	o := auth.Options{Server: "guarded", URL: g.URL, Store: s, Version: "1"}
	if b != nil {
		o.Login = &auth.Login{Show: b.open, Timeout: 30 * time.Second}
	}
	if change != nil {
		change(&o)
	}
	return auth.New(o)
}

// call opens a session with the server and calls a tool.
func call(t *testing.T, g *mcptest.Guarded, h client.Authorizer, tool string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tr, err := client.OpenHTTP(client.Endpoint{Name: "guarded", URL: g.URL, Authorizer: h})
	if err != nil {
		t.Fatal(err)
	}
	s, err := client.Connect(ctx, tr, client.Options{Name: "guarded", Version: "1"})
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Call(ctx, mcp.MethodToolsCall, mcp.Raw(`{"name":"`+tool+`","arguments":{"message":"hi"}}`))
	return err
}

// quiet fails if an error or a text shows a secret.
func quiet(t *testing.T, g *mcptest.Guarded, texts ...any) {
	t.Helper()
	secrets := g.Secrets()
	if len(secrets) == 0 {
		t.Error("there are no secrets to look for")
	}
	for _, text := range texts {
		all := fmt.Sprintf("%+v", text)
		if e, ok := text.(error); ok {
			if f, ok := errors.AsType[*fault.Error](e); ok {
				all += fmt.Sprintf("%s %v", f.Hint, f.Details)
			}
		}
		for _, s := range secrets {
			if strings.Contains(all, s) {
				t.Errorf("%q shows a secret", all)
			}
		}
	}
}

func TestLoginIsUsedByOthers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		login  mcptest.Login
		change func(o *auth.Options)
	}{
		{"one that registers itself", mcptest.Login{}, nil},
		{"with client_secret_basic", mcptest.Login{Methods: []string{"client_secret_basic"}}, nil},
		{"with client_secret_post", mcptest.Login{Methods: []string{"client_secret_post"}}, nil},
		{
			"a client that is registered",
			mcptest.Login{Clients: map[string]string{"known": "s%e+c:ret"}, Fixed: true},
			func(o *auth.Options) { o.Client.ID, o.Client.Secret = "known", "s%e+c:ret" },
		},
		{
			"a public client that is registered",
			mcptest.Login{Clients: map[string]string{"known": ""}, Fixed: true},
			func(o *auth.Options) { o.Client.ID = "known" },
		},
		{"a client with a document", mcptest.Login{
			Clients:  map[string]string{"https://example.com/client.json": ""},
			Document: func(_ string, doc map[string]any) { doc["client_id_metadata_document_supported"] = true },
		}, func(o *auth.Options) { o.Client.ID = "https://example.com/client.json" }},
		{"a document where none are read", mcptest.Login{}, func(o *auth.Options) { o.Client.ID = "https://example.com/client.json" }},
		{"answers that say who they come from", mcptest.Login{Names: true}, nil},
		{"a server of the first revision", mcptest.Login{Old: true}, nil},
		{"scopes", mcptest.Login{Scope: "read"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, s, b := guard(t, tt.login), newShelf(), &browser{}
			if err := call(t, g, handler(g, s, nil, tt.change), "echo"); fault.KindOf(err) != fault.Unavailable ||
				!strings.Contains(hint(err), "mcpx auth login guarded") {
				t.Fatalf("before the login: %v (%s), want that it needs one", err, hint(err))
			}
			if err := call(t, g, handler(g, s, b, tt.change), "echo"); err != nil {
				t.Fatalf("with a person: %v", err)
			}
			if len(b.pages) != 1 || !strings.HasPrefix(b.pages[0], "200 ") || !strings.Contains(b.pages[0], "mcpx has the answer") {
				t.Errorf("the browser ends at %q", b.pages)
			}
			other := handler(g, s, nil, tt.change)
			if err := call(t, g, other, "echo"); err != nil {
				t.Fatalf("after the login: %v", err)
			}
			st, err := other.Status()
			if err != nil || st == nil || st.Issuer != g.Issuer || !st.Renews || !st.Valid() {
				t.Errorf("Status = %+v, %v", st, err)
			}
			if n := g.Count("authorize"); n != 1 {
				t.Errorf("a person was asked %d times, want once", n)
			}
			quiet(t, g, st, b.pages)
		})
	}
}

// TestTheDocumentThatIsAboutTheIssuerCounts is about servers that have those of others, too.
func TestTheDocumentThatIsAboutTheIssuerCounts(t *testing.T) {
	t.Parallel()
	const place = "/.well-known/oauth-authorization-server"
	renamed := func(doc map[string]any, more string) {
		doc["issuer"] = strings.TrimSuffix(fmt.Sprint(doc["issuer"]), "/as") + more
	}
	var own *mcptest.Guarded
	for _, tt := range []struct {
		name   string
		login  mcptest.Login
		issuer string // behind the address of the server, or the error
	}{
		{"a server of the first revision that names another one", mcptest.Login{Old: true, Document: func(_ string, doc map[string]any) {
			renamed(doc, "/as")
		}}, "/as"},
		{"one that calls itself otherwise", mcptest.Login{Old: true, Document: func(at string, doc map[string]any) {
			if renamed(doc, "/as"); strings.HasSuffix(at, "/as") {
				renamed(doc, "/third")
			}
		}}, "says that it is another one"},
		{"another one's in front", mcptest.Login{
			Document: func(at string, doc map[string]any) {
				if at == place+"/as" {
					renamed(doc, "/other")
				}
			},
			Instead: func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/as"+place {
					return false
				}
				r.URL.Path = place
				own.ServeHTTP(w, r)
				return true
			},
		}, "/as"},
	} {
		t.Run(tt.name, func(t *testing.T) { // one after the other, for own
			g, s := guard(t, tt.login), newShelf()
			own = g
			h := handler(g, s, &browser{}, nil)
			err := call(t, g, h, "echo")
			if !strings.HasPrefix(tt.issuer, "/") {
				if err == nil || !strings.Contains(err.Error(), tt.issuer) {
					t.Errorf("error %v, want %s", err, tt.issuer)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if st, err := h.Status(); err != nil || st == nil || st.Issuer != strings.TrimSuffix(g.URL, "/mcp")+tt.issuer {
				t.Errorf("Status = %+v, %v", st, err)
			}
		})
	}
}

func hint(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Hint
	}
	return ""
}

func TestLoginIsRefused(t *testing.T) {
	t.Parallel()
	document := func(path, key string, value any) mcptest.Login {
		return mcptest.Login{Document: func(at string, doc map[string]any) {
			if strings.Contains(at, path) {
				doc[key] = value
			}
		}}
	}
	redirect := func(change func(said url.Values)) mcptest.Login { return mcptest.Login{Redirect: change} }
	instead := func(path string, answer http.HandlerFunc) mcptest.Login {
		return mcptest.Login{Instead: func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, path) {
				return false
			}
			answer(w, r)
			return true
		}}
	}
	reply := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
	}
	names := func(l mcptest.Login) mcptest.Login { l.Names = true; return l }
	for _, tt := range []struct {
		name   string
		login  mcptest.Login
		change func(o *auth.Options)
		want   string
	}{
		{"metadata of another server", document("protected-resource", "resource", "https://elsewhere.example/mcp"), nil, "is about another server, https://elsewhere.example/mcp"},
		{"metadata of another path", document("protected-resource", "resource", "http://127.0.0.1/other"), nil, "is about another server"},
		{"metadata without an authorisation server", document("protected-resource", "authorization_servers", []string{}), nil, "names no authorisation server"},
		{"an authorisation server over http", document("protected-resource", "authorization_servers", []string{"http://as.example"}), nil, "an http address"},
		{"an authorisation server that is none", document("protected-resource", "authorization_servers", []string{"::"}), nil, "makes no sense"},
		{"an authorisation server that says it is another", document("authorization-server", "issuer", "https://attacker.example"), nil, "says that it is another one, https://attacker.example"},
		{"no PKCE", document("authorization-server", "code_challenge_methods_supported", []string{"plain"}), nil, "does not offer PKCE"},
		{"a token endpoint over http", document("authorization-server", "token_endpoint", "http://as.example/token"), nil, "token endpoint of"},
		{"an authorisation endpoint that is a script", document("authorization-server", "authorization_endpoint", "javascript:alert(1)"), nil, "authorisation endpoint of"},
		{"no registration and no client", mcptest.Login{Fixed: true}, nil, "cannot register themselves"},
		{"a client of another authorisation server", mcptest.Login{}, func(o *auth.Options) {
			o.Client.ID, o.Client.Issuer = "x", "https://as.example"
		}, "the client id of its entry is for https://as.example"},
		{"a server that names no authorisation server, for a client of another", mcptest.Login{Old: true}, func(o *auth.Options) {
			o.Client.ID, o.Client.Secret, o.Client.Issuer = "x", "secret", "https://as.example"
		}, "the client id of its entry is for https://as.example"},
		{"an answer of another authorisation server", redirect(func(said url.Values) { said.Set("iss", "https://attacker.example") }), nil, "comes from another authorisation server, https://attacker.example"},
		{"an answer with a slash more", names(redirect(func(said url.Values) { said.Set("iss", said.Get("iss")+"/") })), nil, "comes from another authorisation server"},
		{"an answer that does not say who it comes from", names(redirect(func(said url.Values) { said.Del("iss") })), nil, "does not say which authorisation server"},
		{"a person who declines", redirect(func(said url.Values) { said.Del("code"); said.Set("error", "access_denied") }), nil, "access_denied"},
		{"an answer without a code", redirect(func(said url.Values) { said.Del("code") }), nil, "holds no code"},
		{"a code that is not good", redirect(func(said url.Values) { said.Set("code", "x") }), nil, "invalid_grant (mcptest says invalid_grant)"},
		{"a token endpoint in trouble", instead("/token", reply(500, "oops")), nil, "answered HTTP 500"},
		{"a token endpoint that redirects", instead("/token", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://attacker.example", http.StatusTemporaryRedirect)
		}), nil, "redirects, which is not followed"},
		{"a token endpoint that speaks of something else", instead("/token", reply(200, "<html>")), nil, "makes no sense"},
		{"an error with status 200", instead("/token", reply(200, `{"error":"bad_verification_code"}`)), nil, "bad_verification_code"},
		{"tokens of another type", instead("/token", reply(200, `{"access_token":"x","token_type":"mac"}`)), nil, "only Bearer"},
		{"a token that would be two headers", instead("/token", reply(200, `{"access_token":"x\r\nHost: y","token_type":"Bearer"}`)), nil, "no token that can be sent"},
		{"a token that is not accepted", instead("/token", reply(200, `{"access_token":"worthless","token_type":"Bearer"}`)), nil, "does not accept the token"},
		{"a registration that fails", instead("/register", reply(400, `{"error":"invalid_redirect_uri","error_description":"no"}`)), nil, "does not register the client: invalid_redirect_uri (no)"},
		{"metadata that redirects without end", instead("/oauth-protected-resource/mcp", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}), nil, "redirects without end"},
		{"metadata that leads to http elsewhere", instead("/oauth-protected-resource/mcp", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.example/", http.StatusFound)
		}), nil, "an http address"},
		{"metadata that is too long", instead("/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"x":"` + strings.Repeat("x", 2<<20) + `"}`))
		}), nil, "more than 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, s, b := guard(t, tt.login), newShelf(), &browser{}
			err := call(t, g, handler(g, s, b, tt.change), "echo")
			if fault.KindOf(err) != fault.Unavailable || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("err = %v, want %q", err, tt.want)
			}
			if e, ok := errors.AsType[*fault.Error](err); !ok || e.Details["mayHaveRun"] != false {
				t.Errorf("err does not say that nothing has run: %v", err)
			}
			if len(s.texts) != 0 && tt.name != "a token that is not accepted" {
				t.Errorf("something is kept: %d texts", len(s.texts))
			}
		})
	}
}

// What a page of somebody else sends to the listener changes nothing: the login goes on.
func TestCallbackTakesOnlyItsOwnAnswer(t *testing.T) {
	t.Parallel()
	g, s := guard(t, mcptest.Login{}), newShelf()
	b := &browser{}
	h := handler(g, s, nil, func(o *auth.Options) {
		o.Login = &auth.Login{Timeout: 30 * time.Second, Show: func(address string) error {
			u, _ := url.Parse(address)
			back := u.Query().Get("redirect_uri")
			if r, _ := url.Parse(back); r.Hostname() != "127.0.0.1" {
				t.Errorf("the browser is to come back to %s", back)
			}
			for _, tt := range []struct {
				method, query string
				want          int
			}{
				{http.MethodGet, "?code=theirs&state=theirs", 400},
				{http.MethodGet, "?code=theirs", 400},
				{http.MethodGet, "?error=access_denied", 400},
				{http.MethodGet, "?code=theirs&state=" + u.Query().Get("state") + "&state=x", 400},
				{http.MethodPost, "?code=theirs&state=" + u.Query().Get("state"), 405},
				{http.MethodGet, "/other?code=theirs&state=" + u.Query().Get("state"), 404},
			} {
				req, err := http.NewRequestWithContext(t.Context(), tt.method, back+tt.query, nil)
				if err != nil {
					return err
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					return err
				}
				_ = resp.Body.Close()
				if resp.StatusCode != tt.want {
					t.Errorf("%s %s answers %d, want %d", tt.method, tt.query, resp.StatusCode, tt.want)
				}
			}
			return b.open(address)
		}}
	})
	if err := call(t, g, h, "echo"); err != nil {
		t.Errorf("the login: %v", err)
	}
}

func TestNobodyAgrees(t *testing.T) {
	t.Parallel()
	g := guard(t, mcptest.Login{})
	h := handler(g, newShelf(), nil, func(o *auth.Options) {
		o.Login = &auth.Login{Timeout: 50 * time.Millisecond, Show: func(string) error { return nil }}
	})
	if err := call(t, g, h, "echo"); !strings.Contains(fmt.Sprint(err), "nobody has agreed within 50ms") {
		t.Errorf("err = %v, want that nobody has agreed", err)
	}
}

func TestPastedAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		paste func(back *url.URL) []string // what is pasted, line by line
		names bool
		want  string // of the error
	}{
		{"the address", func(back *url.URL) []string { return []string{back.String() + "\n"} }, false, ""},
		{"its query", func(back *url.URL) []string { return []string{"?" + back.RawQuery} }, false, ""},
		{"the code", func(back *url.URL) []string { return []string{" " + back.Query().Get("code") + " \n"} }, false, ""},
		{"something else first", func(back *url.URL) []string { return []string{"\n", "what is this", back.String()} }, false, ""},
		{"an address of another login first", func(back *url.URL) []string {
			return []string{"http://127.0.0.1/callback?code=theirs&state=theirs\n", back.String()}
		}, false, ""},
		{"the code where it does not say enough", func(back *url.URL) []string { return []string{back.Query().Get("code")} }, true, "does not say which authorisation server"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := guard(t, mcptest.Login{Names: tt.names})
			var lines []string
			h := handler(g, newShelf(), nil, func(o *auth.Options) {
				o.Login = &auth.Login{
					Timeout: 30 * time.Second,
					Show: func(address string) error {
						// A browser on another machine: it cannot follow the redirect.
						c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
						resp, err := c.Get(address) //nolint:noctx // as above
						if err != nil {
							return err
						}
						defer resp.Body.Close()
						back, err := resp.Location()
						if err == nil {
							lines = tt.paste(back)
						}
						return err
					},
					Paste: func(context.Context) (string, error) {
						if len(lines) == 0 {
							return "", io.EOF
						}
						line := lines[0]
						lines = lines[1:]
						return line, nil
					},
				}
			})
			err := call(t, g, h, "echo")
			if tt.want == "" && err != nil || tt.want != "" && !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("err = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestTokensAreReplaced(t *testing.T) {
	t.Parallel()
	for _, rotates := range []bool{false, true} {
		t.Run(fmt.Sprintf("rotates %t", rotates), func(t *testing.T) {
			t.Parallel()
			g, s := guard(t, mcptest.Login{Rotates: rotates}), newShelf()
			if err := call(t, g, handler(g, s, &browser{}, nil), "echo"); err != nil {
				t.Fatal(err)
			}
			for i := 1; i <= 3; i++ {
				g.Expire()
				if err := call(t, g, handler(g, s, nil, nil), "echo"); err != nil {
					t.Fatalf("after %d losses: %v", i, err)
				}
				if n := g.Count("refresh_token"); n != i {
					t.Errorf("%d tokens were replaced, want %d", n, i)
				}
			}
			g.Forget()
			err := call(t, g, handler(g, s, nil, nil), "echo")
			if fault.KindOf(err) != fault.Unavailable || !strings.Contains(fmt.Sprint(err), "wants a new login") || hint(err) != "mcpx auth login guarded" {
				t.Errorf("after everything was lost: %v (%s)", err, hint(err))
			}
			quiet(t, g, err)
			if g.Count("authorize") != 1 {
				t.Error("a person was asked again")
			}
		})
	}
}

// A token that expires is replaced before it does, so that the server never sees an old one.
func TestTokenIsReplacedBeforeItExpires(t *testing.T) {
	t.Parallel()
	g, s := guard(t, mcptest.Login{Lifetime: time.Hour, Rotates: true}), newShelf()
	if err := call(t, g, handler(g, s, &browser{}, nil), "echo"); err != nil {
		t.Fatal(err)
	}
	age(t, s, 59*time.Minute+30*time.Second)
	refused := g.Count("refused")
	if err := call(t, g, handler(g, s, nil, nil), "echo"); err != nil {
		t.Fatal(err)
	}
	if g.Count("refresh_token") != 1 || g.Count("refused") != refused {
		t.Errorf("%d tokens were replaced, and %d requests refused; want 1 and none", g.Count("refresh_token"), g.Count("refused")-refused)
	}
}

// age makes what is kept older.
func age(t *testing.T, s *shelf, by time.Duration) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.texts) != 1 {
		t.Fatalf("%d logins are kept, want one", len(s.texts))
	}
	for key, text := range s.texts {
		var rec map[string]any
		if err := json.Unmarshal(text, &rec); err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"obtained", "expires"} {
			at, err := time.Parse(time.RFC3339Nano, rec[field].(string)) //nolint:forcetypeassert // as it is written
			if err != nil {
				t.Fatal(err)
			}
			rec[field] = at.Add(-by)
		}
		text, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		s.texts[key] = text
	}
}

// While the authorisation server is in trouble a token is used until its end.
func TestTokenIsUsedToItsEnd(t *testing.T) {
	t.Parallel()
	var trouble sync.Map
	g := guard(t, mcptest.Login{Lifetime: time.Hour, Instead: func(w http.ResponseWriter, r *http.Request) bool {
		_, broken := trouble.Load("token")
		if broken = broken && strings.HasSuffix(r.URL.Path, "/token"); broken {
			http.Error(w, "oops", http.StatusBadGateway)
		}
		return broken
	}})
	s := newShelf()
	if err := call(t, g, handler(g, s, &browser{}, nil), "echo"); err != nil {
		t.Fatal(err)
	}
	trouble.Store("token", true)
	age(t, s, 59*time.Minute+30*time.Second)
	if err := call(t, g, handler(g, s, nil, nil), "echo"); err != nil {
		t.Errorf("half a minute before the end: %v", err)
	}
	age(t, s, time.Minute)
	if err := call(t, g, handler(g, s, nil, nil), "echo"); !strings.Contains(fmt.Sprint(err), "HTTP 502") {
		t.Errorf("after the end: %v, want what the authorisation server says", err)
	}
}

// Many requests in two processes find an old token at once: one of them replaces it, for a
// refresh token that is shown twice is worthless.
func TestTwoProcessesReplaceOneToken(t *testing.T) {
	t.Parallel()
	g, s := guard(t, mcptest.Login{Lifetime: time.Hour, Rotates: true}), newShelf()
	if err := call(t, g, handler(g, s, &browser{}, nil), "echo"); err != nil {
		t.Fatal(err)
	}
	age(t, s, 2*time.Hour)
	processes := []*auth.Handler{handler(g, s, nil, nil), handler(g, s, nil, nil)}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			token, err := processes[i%2].Token(t.Context())
			if err != nil || token == "" {
				t.Errorf("Token = %t, %v", token != "", err)
			}
		})
	}
	wg.Wait()
	if n := g.Count("refresh_token"); n != 1 {
		t.Errorf("the token was replaced %d times, want once", n)
	}
}

// A token that cannot be stored any more still serves this process.
func TestTokenThatCannotBeKept(t *testing.T) {
	t.Parallel()
	g, s := guard(t, mcptest.Login{Rotates: true}), newShelf()
	if err := call(t, g, handler(g, s, &browser{}, nil), "echo"); err != nil {
		t.Fatal(err)
	}
	g.Expire()
	s.full = true
	h := handler(g, s, nil, nil)
	for range 3 {
		if err := call(t, g, h, "echo"); err != nil {
			t.Fatal(err)
		}
	}
	if n := g.Count("refresh_token"); n != 1 {
		t.Errorf("the token was replaced %d times, want once", n)
	}
}

func TestMoreScopes(t *testing.T) {
	t.Parallel()
	login := mcptest.Login{Scope: "read", More: map[string]string{"echo": "write"}}
	g, s, b := guard(t, login), newShelf(), &browser{}
	if err := call(t, g, handler(g, s, b, nil), "pid"); err != nil && !strings.Contains(err.Error(), "pid") {
		t.Fatal(err)
	}
	err := call(t, g, handler(g, s, nil, nil), "echo")
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(fmt.Sprint(err), "wants more than the login allows: read write") || hint(err) != "mcpx auth login guarded" {
		t.Fatalf("a call that needs more: %v (%s)", err, hint(err))
	}
	st, err := handler(g, s, nil, nil).Status()
	if err != nil || strings.Join(st.Wanted, " ") != "read write" {
		t.Errorf("Status = %+v, %v, want what the server wanted", st, err)
	}
	// The next login asks for it without being told.
	if err := handler(g, s, b, nil).Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := call(t, g, handler(g, s, nil, nil), "echo"); err != nil {
		t.Errorf("after a login with more: %v", err)
	}
	if got := b.scopes(); len(got) != 2 || got[0] != "read" || got[1] != "read write" {
		t.Errorf("asked for %q", got)
	}
}

// With a person there, more is asked for at once; and not for ever.
func TestMoreScopesAtOnce(t *testing.T) {
	t.Parallel()
	g, b := guard(t, mcptest.Login{Scope: "read", More: map[string]string{"echo": "write"}}), &browser{}
	if err := call(t, g, handler(g, newShelf(), b, nil), "echo"); err != nil {
		t.Errorf("a call that needs more: %v", err)
	}
	if got := b.scopes(); len(got) != 2 || got[1] != "read write" {
		t.Errorf("asked for %q", got)
	}
	// One that gives less than it is asked for.
	greedy := guard(t, mcptest.Login{Scope: "read", Instead: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/mcp" || r.Header.Get("Authorization") == "" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="read"`)
		w.WriteHeader(http.StatusForbidden)
		return true
	}})
	b = &browser{}
	err := call(t, greedy, handler(greedy, newShelf(), b, nil), "echo")
	if fault.KindOf(err) != fault.Unavailable || len(b.scopes()) != 1 {
		t.Errorf("err = %v after %d questions, want a refusal after one", err, len(b.scopes()))
	}
}

func TestConfiguredScopes(t *testing.T) {
	t.Parallel()
	g, b := guard(t, mcptest.Login{Document: func(path string, doc map[string]any) {
		if strings.Contains(path, "authorization-server") {
			doc["scopes_supported"] = []string{"a", "offline_access"}
		}
	}}), &browser{}
	if err := call(t, g, handler(g, newShelf(), b, func(o *auth.Options) { o.Client.Scopes = []string{"a", "b"} }), "echo"); err != nil {
		t.Fatal(err)
	}
	if err := call(t, g, handler(g, newShelf(), b, nil), "echo"); err != nil {
		t.Fatal(err)
	}
	if got := b.scopes(); len(got) != 2 || got[0] != "a b" || got[1] != "offline_access" {
		t.Errorf("asked for %q, want what the configuration says, and what the authorisation server needs for refresh tokens", got)
	}
}

func TestClientThatLogsInForItself(t *testing.T) {
	t.Parallel()
	g, s := guard(t, mcptest.Login{Clients: map[string]string{"robot": "secret"}, Scope: "read", Lifetime: time.Hour}), newShelf()
	robot := func(o *auth.Options) { o.Client = auth.Client{ID: "robot", Secret: "secret", Credentials: true} }
	for range 2 {
		if err := call(t, g, handler(g, s, nil, robot), "echo"); err != nil {
			t.Fatal(err)
		}
	}
	if n := g.Count("client_credentials"); n != 1 {
		t.Errorf("%d tokens were obtained, want one for both", n)
	}
	age(t, s, 2*time.Hour)
	if err := call(t, g, handler(g, s, nil, robot), "echo"); err != nil {
		t.Errorf("after it has expired: %v", err)
	}
	g.Expire()
	if err := call(t, g, handler(g, s, nil, robot), "echo"); err != nil {
		t.Errorf("after it was lost: %v", err)
	}
	if g.Count("authorize") != 0 {
		t.Error("a person was asked")
	}
	err := call(t, g, handler(g, newShelf(), nil, func(o *auth.Options) { robot(o); o.Client.Secret = "wrong" }), "echo")
	if !strings.Contains(fmt.Sprint(err), "invalid_client") {
		t.Errorf("with a wrong secret: %v", err)
	}
}

func TestLogout(t *testing.T) {
	t.Parallel()
	g, s := guard(t, mcptest.Login{}), newShelf()
	if was, revoked, err := handler(g, s, nil, nil).Logout(t.Context()); was || revoked || err != nil {
		t.Errorf("Logout of nobody = %t, %t, %v", was, revoked, err)
	}
	if err := call(t, g, handler(g, s, &browser{}, nil), "echo"); err != nil {
		t.Fatal(err)
	}
	running := handler(g, s, nil, nil)
	if err := call(t, g, running, "echo"); err != nil {
		t.Fatal(err)
	}
	if was, revoked, err := handler(g, s, nil, nil).Logout(t.Context()); !was || !revoked || err != nil {
		t.Errorf("Logout = %t, %t, %v", was, revoked, err)
	}
	if n := g.Count("revoke"); n != 2 {
		t.Errorf("%d tokens were taken back, want both", n)
	}
	if len(s.texts) != 0 {
		t.Error("something is kept")
	}
	if err := call(t, g, running, "echo"); err == nil {
		t.Error("another process goes on")
	}
}

// Tokens are for one address. Another, also on the same machine, never gets them, whether an
// entry names it or a redirect leads there.
// A login at one authorisation server is of no use, and its tokens go nowhere, once the entry
// says that its client is known to another.
func TestLoginElsewhereIsForgotten(t *testing.T) {
	t.Parallel()
	g, s := guard(t, mcptest.Login{Clients: map[string]string{"known": "secret"}, Fixed: true}), newShelf()
	known := func(o *auth.Options) { o.Client.ID, o.Client.Secret = "known", "secret" }
	if err := handler(g, s, &browser{}, known).Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := handler(g, s, nil, func(o *auth.Options) { known(o); o.Client.Issuer = "https://as.example" })
	if token, err := h.Token(t.Context()); token != "" || err != nil {
		t.Errorf("Token gives one, %v", err)
	}
	if status, err := h.Status(); status != nil || err != nil {
		t.Errorf("Status = %+v, %v", status, err)
	}
}

func TestTokensStayWithTheirServer(t *testing.T) {
	t.Parallel()
	var got sync.Map
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token := r.Header.Get("Authorization"); token != "" {
			got.Store(token, true)
		}
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(other.Close)
	var lead sync.Map
	g := guard(t, mcptest.Login{Instead: func(w http.ResponseWriter, r *http.Request) bool {
		_, away := lead.Load("away")
		if away = away && r.URL.Path == "/mcp"; away {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}
		return away
	}})
	s := newShelf()
	if err := call(t, g, handler(g, s, &browser{}, nil), "echo"); err != nil {
		t.Fatal(err)
	}
	lead.Store("away", true)
	if err := call(t, g, handler(g, s, nil, nil), "echo"); err == nil {
		t.Error("a call that was sent elsewhere came out well")
	}
	if token, err := handler(g, s, nil, func(o *auth.Options) { o.URL = other.URL }).Token(t.Context()); token != "" || err != nil {
		t.Errorf("another server gets a token: %t, %v", token != "", err)
	}
	if got.Range(func(any, any) bool { t.Error("another server got a token"); return false }); g.Count("authorize") != 1 {
		t.Error("nobody logged in")
	}
}

// A login is worth nothing to another authorisation server.
func TestServerMovesToAnotherAuthorisationServer(t *testing.T) {
	t.Parallel()
	g, s, b := guard(t, mcptest.Login{}), newShelf(), &browser{}
	next := guard(t, mcptest.Login{})
	if err := call(t, g, handler(g, s, b, nil), "echo"); err != nil {
		t.Fatal(err)
	}
	for key, text := range s.texts { // as if the login were of the other one
		s.texts[key] = []byte(strings.ReplaceAll(string(text), g.Issuer, next.Issuer))
	}
	g.Forget()
	if err := call(t, g, handler(g, s, b, nil), "echo"); err != nil {
		t.Fatal(err)
	}
	if n := g.Count("register"); n != 2 {
		t.Errorf("the client registered %d times, want once with each", n)
	}
}

func TestPlainHTTPGetsNoTokens(t *testing.T) {
	t.Parallel()
	h := auth.New(auth.Options{Server: "plain", URL: "http://server.example/mcp", Store: newShelf()})
	if token, err := h.Token(t.Context()); token != "" || err != nil {
		t.Errorf("Token = %t, %v", token != "", err)
	}
	again, err := h.Refused(t.Context(), "", http.StatusUnauthorized, []string{"Bearer"})
	if again || !strings.Contains(fmt.Sprint(err), "tokens go over https") {
		t.Errorf("Refused = %t, %v", again, err)
	}
	if err := h.Login(t.Context()); !strings.Contains(fmt.Sprint(err), "tokens go over https") {
		t.Errorf("Login = %v", err)
	}
}

// A refusal that no token changes is left to who asked.
func TestOtherRefusalsStand(t *testing.T) {
	t.Parallel()
	g := guard(t, mcptest.Login{})
	h := handler(g, newShelf(), &browser{}, nil)
	if again, err := h.Refused(t.Context(), "", http.StatusForbidden, []string{`Basic realm="x"`}); again || err != nil {
		t.Errorf("Refused = %t, %v", again, err)
	}
	if g.Count("authorize") != 0 {
		t.Error("a person was asked")
	}
}

func TestDamagedLogin(t *testing.T) {
	t.Parallel()
	g, s := guard(t, mcptest.Login{}), newShelf()
	h := handler(g, s, nil, nil)
	s.texts[h.Key()] = []byte(`{"server`)
	if _, err := h.Token(t.Context()); !strings.Contains(fmt.Sprint(err), "damaged") || hint(err) != "mcpx auth login guarded" {
		t.Errorf("Token = %v (%s)", err, hint(err))
	}
	if err := call(t, g, handler(g, s, &browser{}, nil), "echo"); err != nil {
		t.Errorf("a login does not mend it: %v", err)
	}
	s.texts[h.Key()] = []byte(`{"server`)
	if was, _, err := h.Logout(t.Context()); !was || err != nil {
		t.Errorf("Logout = %t, %v", was, err)
	}
}

func TestLoginThatCannotBeKept(t *testing.T) {
	t.Parallel()
	g, s := guard(t, mcptest.Login{}), newShelf()
	s.full = true
	if err := call(t, g, handler(g, s, &browser{}, nil), "echo"); fault.KindOf(err) != fault.Unavailable || !strings.Contains(fmt.Sprint(err), "full") {
		t.Errorf("err = %v, want why it cannot be kept", err)
	}
}

// Not parallel: it counts what the process has.
func TestLoginLeavesNothing(t *testing.T) { //nolint:paralleltest // see above
	g := guard(t, mcptest.Login{Rotates: true})
	round := func() {
		s := newShelf()
		if err := call(t, g, handler(g, s, &browser{}, nil), "echo"); err != nil {
			t.Fatal(err)
		}
		g.Expire()
		if err := call(t, g, handler(g, s, nil, nil), "echo"); err != nil {
			t.Fatal(err)
		}
		http.DefaultClient.CloseIdleConnections() // those of the browser
	}
	round()
	before := runtime.NumGoroutine()
	for range 10 {
		round()
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines after 10 logins, and %d before", runtime.NumGoroutine(), before)
		}
	}
}

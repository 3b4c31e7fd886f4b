package pool_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
	"mcpx/mcp/auth"
	"mcpx/mcp/mcptest"
	"mcpx/pool"
)

func TestAuthorizer(t *testing.T) {
	t.Parallel()
	const address = "https://host.example/mcp"
	for _, tt := range []struct {
		name string
		def  config.Definition
		want bool
	}{
		{"a url", config.Definition{Transport: "http", URL: address}, true},
		{"a url over HTTP+SSE", config.Definition{Transport: "sse", URL: address, Headers: map[string]string{"X-Key": "x"}}, true},
		{"a client of its own", config.Definition{Transport: "http", URL: address, Auth: &config.Auth{ClientID: "x"}}, true},
		{"a program", config.Definition{Transport: "stdio", Command: "x"}, false},
		{"a header", config.Definition{Transport: "http", URL: address, Headers: map[string]string{"authorization": "Bearer x"}}, false},
		{"a user", config.Definition{Transport: "http", URL: "https://me:secret@host.example/mcp"}, false},
		{"switched off", config.Definition{Transport: "http", URL: address, Auth: &config.Auth{Off: true}}, false},
	} {
		if got := pool.Authorizer(&tt.def, nil, auth.Options{}) != nil; got != tt.want {
			t.Errorf("%s: there is an Authorizer: %t, want %t", tt.name, got, tt.want)
		}
	}
}

// texts keeps logins in memory.
type texts struct{ m sync.Map }

func (s *texts) Load(key string) ([]byte, error) {
	if v, ok := s.m.Load(key); ok {
		return v.([]byte), nil //nolint:forcetypeassert // as Save stores it
	}
	return nil, nil
}

func (s *texts) Save(key string, data []byte) error { s.m.Store(key, data); return nil }

func (s *texts) Delete(key string) error { s.m.Delete(key); return nil }

func (s *texts) Lock(context.Context, string) (func(), error) { return func() {}, nil }

// A pool that could not start a server for want of a login does so as soon as somebody has
// logged in elsewhere: it does not wait as after other failures.
func TestLoginIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	g := mcptest.Guard(mcptest.Login{})
	t.Cleanup(g.Close)
	var set settings.Set
	store := &texts{}
	p := pool.New(pool.Options{Settings: &set, Tokens: store})
	t.Cleanup(p.Close)
	def := &config.Definition{Name: "guarded", Transport: "http", URL: g.URL}
	for range 2 {
		if _, _, err := open(t.Context(), p, def); fault.KindOf(err) != fault.Unavailable {
			t.Fatalf("without a login: %v", err)
		}
	}
	h := pool.Authorizer(def, nil, auth.Options{Store: store, Login: &auth.Login{Show: func(address string) error {
		resp, err := http.Get(address) //nolint:noctx // a browser has none
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}}})
	if err := h.Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(t.Context(), p, def); err != nil {
		t.Errorf("after a login: %v", err)
	}
}

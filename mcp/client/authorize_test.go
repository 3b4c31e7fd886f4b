package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

// clerk gives tokens that nobody accepts.
type clerk struct {
	mu      sync.Mutex
	told    int
	refused []string
	err     error
	stays   bool // it has no other token
}

func (c *clerk) Token(context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("token-%d", c.told), nil
}

func (c *clerk) Refused(_ context.Context, token string, status int, challenges []string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = append(c.refused, fmt.Sprint(token, " ", status, " ", challenges))
	c.told++
	return !c.stays, c.err
}

func TestAuthorizer(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var shown []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		shown = append(shown, r.Header.Get("Authorization"))
		mu.Unlock()
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"message":"I do not know %s"}`, r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	connect := func(c *clerk) error {
		tr, err := OpenHTTP(Endpoint{Name: "locked", URL: server.URL, Authorizer: c})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Connect(t.Context(), tr, Options{Name: "locked", Era: mcp.Legacy})
		return err
	}

	c := &clerk{}
	err := connect(c)
	if got := strings.Join(shown, ", "); got != "Bearer token-0, Bearer token-1, Bearer token-2" {
		t.Errorf("the server was shown %s", got)
	}
	if got := strings.Join(c.refused, ", "); got != `token-0 401 [Bearer error="invalid_token"], token-1 401 [Bearer error="invalid_token"]` {
		t.Errorf("refused were %s", got)
	}
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind != fault.Unavailable || strings.Contains(e.Message, "token-2") || !strings.Contains(e.Message, "I do not know Bearer •••") ||
		!strings.Contains(e.Hint, `"mcpx auth login locked"`) {
		t.Errorf("err = %v (%s)", err, hintOf(err))
	}

	shown = nil
	if err := connect(&clerk{stays: true}); err == nil || len(shown) != 1 {
		t.Errorf("without another token: %v after %d requests, want the refusal of one", err, len(shown))
	}
	wanted := fault.Unavailablef("log in first")
	if err := connect(&clerk{err: wanted}); !errors.Is(err, wanted) {
		t.Errorf("err = %v, want that of the Authorizer", err)
	}
}

func hintOf(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Hint
	}
	return ""
}

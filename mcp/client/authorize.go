package client

import (
	"context"
	"net/http"
	"sync"
)

// Authorizer says with which token a server is asked. Package auth has one. Its methods
// may be called at the same time.
type Authorizer interface {
	// Token returns the token for the next request; without one the request is sent as it
	// is. It may take the time of a request to have an old token replaced.
	Token(ctx context.Context) (string, error)
	// Refused is told of a request that the server answered with 401 or 403, of the token
	// that it was sent with, and of the values of WWW-Authenticate. Again says that there
	// is another token by now. With an error the request ends; with neither, the refusal
	// of the server stands.
	Refused(ctx context.Context, token string, status int, challenges []string) (again bool, err error)
}

// maxTokens is how many tokens one request is tried with: one that is too old, one in its
// place, and one that allows more.
const maxTokens = 3

// authorization is an Authorizer with what it has told of late.
type authorization struct {
	by Authorizer

	mu    sync.Mutex
	shown [maxTokens]string // tokens, the last one first: what a server says may repeat them
}

// token returns the token for the next request.
func (a *authorization) token(ctx context.Context) (string, error) {
	if a.by == nil {
		return "", nil
	}
	token, err := a.by.Token(ctx)
	if err != nil || token == "" {
		return "", err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shown[0] != token {
		copy(a.shown[1:], a.shown[:])
		a.shown[0] = token
	}
	return token, nil
}

// secrets are the tokens that may not be quoted.
func (a *authorization) secrets() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.shown[:]...)
}

// do makes a request, and makes it again with another token if the server wants one and
// there is one.
func (w *web) do(ctx context.Context, r request) (*answer, error) {
	for tried := 1; ; tried++ {
		token, err := w.tokens.token(ctx)
		if err != nil {
			return nil, err
		}
		resp, err := w.send(ctx, r, token)
		if err != nil || !w.wantsToken(resp) || tried == maxTokens {
			return resp, err
		}
		again, err := w.tokens.by.Refused(ctx, token, resp.StatusCode, resp.Header.Values("Www-Authenticate"))
		if err == nil && !again {
			return resp, nil
		}
		discard(resp.Response)
		if err != nil {
			return nil, err
		}
	}
}

// wantsToken reports whether the server itself, and not one to which it redirects,
// refuses a request for a reason that a token can change.
func (w *web) wantsToken(resp *answer) bool {
	return w.tokens.by != nil && (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden) && resp.origin == origin(w.url)
}

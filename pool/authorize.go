package pool

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/mcp/auth"
)

// Authorizer makes what logs in to the server of a definition. It is nil if the entry shows
// the server itself who asks, if it says that nobody logs in, and if it has no url. What the
// definition says is filled in; o says where tokens are kept and how a person is asked.
func Authorizer(def *config.Definition, environ []string, o auth.Options) *auth.Handler {
	u, err := url.Parse(def.URL)
	if def.Transport == config.Stdio || err != nil || u.User != nil {
		return nil
	}
	for name := range def.Headers {
		if strings.EqualFold(name, "Authorization") {
			return nil
		}
	}
	o.Server, o.URL, o.Proxy = def.Name, def.URL, proxies(environ)
	if a := def.Auth; a != nil {
		if a.Off {
			return nil
		}
		o.Client = auth.Client{
			ID: a.ClientID, Secret: a.ClientSecret, PrivateKey: a.PrivateKey, Issuer: a.Issuer,
			Scopes: a.Scopes, Redirect: a.RedirectURL, Credentials: a.Credentials,
		}
	}
	return auth.New(o)
}

// wantsLogin reports whether a start failed because nobody has logged in. It costs one
// request to find out whether somebody has since.
func wantsLogin(err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return ok && e.Details["status"] == http.StatusUnauthorized
}

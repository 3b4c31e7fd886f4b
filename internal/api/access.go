package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"mcpx/internal/fault"
)

// Access says who may ask over TCP, where neither a file's mode nor its owner decides. No
// web page can: a browser names the page in Origin, has no token, and a name that was
// made to lead here is not in Hosts.
type Access struct {
	Token   string   // what every request must carry as its bearer token; empty lets nobody in
	Hosts   []string // names that it may be called by, besides its address and, on a loopback address, localhost
	Origins []string // pages that may ask, such as https://console.example
}

// refusedFor is how long the rest of a request that is refused is waited for.
const refusedFor = time.Second

// Guard lets through to next only who may ask.
func (a Access) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse := func(w http.ResponseWriter, code int, err error) {
			// A stranger does not hold a connection with a body that never ends.
			w.Header().Set("Connection", "close")
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusedFor)) // what cannot have one is no connection
			refuseAs(w, code, err)
		}
		switch origin := r.Header.Values("Origin"); {
		case !a.called(r, r.Host):
			refuse(w, http.StatusForbidden, fault.Deniedf("the Host %q is not this daemon's", r.Host).Hintf("call it by its address"))
		case len(origin) > 1 || len(origin) == 1 && !a.allows(r, origin[0]):
			refuse(w, http.StatusForbidden, fault.Deniedf("the Origin %q is not allowed to ask", strings.Join(origin, ", ")).Hintf("web pages are kept out"))
		case !a.knows(r.Header.Values("Authorization")):
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, fault.Deniedf("the request has no bearer token, or not that of this daemon").
				Hintf("it stands in the daemon's record, in the state directory"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// knows reports whether the header holds the token. It takes as long whatever is wrong.
func (a Access) knows(authorization []string) bool {
	if a.Token == "" || len(authorization) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(authorization[0], " ")
	given, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(a.Token))
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// called reports whether host, with or without a port, is a name of this daemon.
func (a Access) called(r *http.Request, host string) bool {
	name, port := host, ""
	if h, p, err := net.SplitHostPort(host); err == nil {
		name, port = h, p
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false
	}
	if port != "" && port != portOf(at) {
		// Behind a name there may be a proxy with a port of its own.
		return slices.ContainsFunc(a.Hosts, func(h string) bool { return strings.EqualFold(h, net.JoinHostPort(name, port)) })
	}
	if slices.ContainsFunc(a.Hosts, func(h string) bool { return strings.EqualFold(h, name) || strings.EqualFold(h, host) }) {
		return true
	}
	if name == "localhost" {
		return at.Addr().Unmap().IsLoopback()
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.Unmap() == at.Addr().Unmap()
}

func portOf(at netip.AddrPort) string {
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return ""
	}
	return port
}

// allows reports whether a page may ask: one that is allowed, or one of this daemon.
func (a Access) allows(r *http.Request, origin string) bool {
	if slices.Contains(a.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && u.Host != "" && a.called(r, u.Host)
}

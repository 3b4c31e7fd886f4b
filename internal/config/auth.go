package config

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Auth is what an entry says about logging in to its server: the client of mcpx there, if
// it does not register itself. Placeholders are not expanded in that of a Server, and are in
// that of a Definition.
type Auth struct {
	ClientID     string
	ClientSecret string
	PrivateKey   string // PEM; the client signs with it in place of a secret
	Issuer       string // the authorisation server that the client is known to
	Scopes       []string
	RedirectURL  string // where the browser comes back to; empty for a free port
	Credentials  bool   // the client logs in for itself: no person is asked
	Off          bool   // do not log in, whatever the server says
}

// authKeys are those of the block, under the first name that each has.
const authKeys = "clientId, clientSecret, privateKey, issuer, scopes, callbackPort, redirectUrl, grant"

// auth reads the block "auth" of an entry, or what other hosts call it. What others write in
// it and mcpx does not need is left alone.
func (r *entryReader) auth(key string, n *node) {
	if n.kind == boolean { // opencode: false switches it off
		if n.text == "false" {
			r.s.Auth = &Auth{Off: true}
		}
		return
	}
	if !r.want(n, key, object, "write { … } with some of "+authKeys) {
		return
	}
	r.line("auth", n)
	a := r.s.Auth
	if a == nil {
		a = &Auth{}
		r.s.Auth = a
	}
	for _, m := range n.members {
		at, v := key+"."+m.key, m.value
		if v.kind == null {
			continue
		}
		switch m.key {
		case "clientId", "CLIENT_ID", "client_id": // ours and Claude Code's; Cursor's; others'
			a.ClientID = r.authText("auth.clientId", at, v)
		case "clientSecret", "CLIENT_SECRET", "client_secret":
			a.ClientSecret = r.authText("auth.clientSecret", at, v)
		case "privateKey":
			a.PrivateKey = r.authText("auth.privateKey", at, v)
		case "issuer":
			a.Issuer = r.authText("auth.issuer", at, v)
		case "scopes", "scope":
			if v.kind == text {
				a.Scopes = strings.Fields(r.authText("auth.scopes", at, v))
			} else {
				a.Scopes = r.texts(at, v)
				r.line("auth.scopes", v)
			}
		case "callbackPort":
			port, err := strconv.ParseUint(v.text, 10, 16)
			r.line(at, v)
			if (v.kind != number && v.kind != text) || err != nil || port == 0 {
				r.fail(at, "write a number from 1 to 65535", "it is no port")
				continue
			}
			if a.RedirectURL == "" {
				a.RedirectURL = "http://127.0.0.1:" + v.text + "/callback"
			}
		case "redirectUrl", "redirectUri": // ours; Gemini's
			a.RedirectURL = r.authText("auth.redirectUrl", at, v)
		case "grant":
			switch r.string(at, v) {
			case "authorization_code":
			case "client_credentials":
				a.Credentials = true
			default:
				r.fail(at, `write "authorization_code" or "client_credentials"`, "there is no such grant")
			}
		case "enabled":
			a.Off = !r.boolean(at, v, true)
		default:
			r.s.Ignored = append(r.s.Ignored, at)
		}
	}
	if a.Credentials && a.ClientID == "" {
		r.fail("auth.clientId", "write the id under which the authorisation server knows the client", "a client that logs in for itself needs one")
	}
}

// authText reads a string of the block, and keeps its line under the name that Resolve uses.
func (r *entryReader) authText(name, key string, n *node) string {
	value := r.string(key, n)
	r.line(name, n)
	return value
}

// auth replaces the placeholders of the block.
func (r *resolver) auth(a *Auth) *Auth {
	if a == nil {
		return nil
	}
	out := *a
	out.ClientID = r.text("auth.clientId", a.ClientID)
	out.ClientSecret = r.text("auth.clientSecret", a.ClientSecret)
	out.PrivateKey = r.text("auth.privateKey", a.PrivateKey)
	out.Issuer = r.text("auth.issuer", a.Issuer)
	out.RedirectURL = r.text("auth.redirectUrl", a.RedirectURL)
	out.Scopes = nil
	for _, s := range a.Scopes {
		out.Scopes = append(out.Scopes, strings.Fields(r.text("auth.scopes", s))...)
	}
	if r.err == nil && out.RedirectURL != "" && !ofThisMachine(out.RedirectURL) {
		r.err = r.s.fault("auth.redirectUrl", "the browser cannot come back there").
			Hintf("write an http address of this machine with a port, such as http://127.0.0.1:33418/callback")
	}
	r.hide(out.ClientSecret)
	r.hide(out.PrivateKey)
	return &out
}

// ofThisMachine reports whether something can be listened to at an address.
func ofThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.Port() == "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}

package api

import "time"

// Logging in is no operation of a Service: it belongs to the process of the command, with the
// person before it, and never to a daemon.

// The states of a Login.
const (
	LoggedIn  = "loggedIn"  // requests can be made
	Expired   = "expired"   // somebody was logged in, and has to log in again
	LoggedOut = "loggedOut" // nobody is logged in; whether the server wants it is not known
	OwnToken  = "ownToken"  // its entry shows the server itself who asks
	NoLogin   = "none"      // it is no server behind a url, its entry says that nobody logs in, or it does not ask for it
)

// LoginInput says where to log in.
type LoginInput struct {
	Server    string `json:"server"`
	NoBrowser bool   `json:"noBrowser,omitempty"` // print the address instead of opening it
}

// LogoutInput says where to log out.
type LogoutInput struct {
	Server string `json:"server"`
}

// LogoutOutput says what became of a login.
type LogoutOutput struct {
	Server  string `json:"server"`
	Was     bool   `json:"was"`     // somebody was logged in
	Revoked bool   `json:"revoked"` // the authorisation server took the tokens back
}

// LoginsInput asks for the login of one server, or of all.
type LoginsInput struct {
	Server string `json:"server,omitempty"`
}

// LoginsOutput holds the logins by server, in the order of their names.
type LoginsOutput struct {
	Logins []Login `json:"logins"`
}

// Login is what may be told of a login. The tokens may not.
type Login struct {
	Server  string     `json:"server"`
	State   string     `json:"state"`
	Issuer  string     `json:"issuer,omitempty"` // the authorisation server
	Client  string     `json:"client,omitempty"` // the id of mcpx there
	Scopes  []string   `json:"scopes,omitempty"`
	Wanted  []string   `json:"wanted,omitempty"`  // scopes that the server has wanted beyond those
	Expires *time.Time `json:"expires,omitempty"` // of the token; absent if that is not known
	Renews  bool       `json:"renews"`            // the token is replaced without a person
	Store   string     `json:"store,omitempty"`   // file or keyring
	Message string     `json:"message,omitempty"` // what else there is to say
}

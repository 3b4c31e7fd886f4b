package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestAuth(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN PRIVATE KEY-----"
	for _, tt := range []struct{ name, block, want, err string }{
		{"nothing", `"x": 1`, "<nil>", ""},
		{
			"whole", `"auth": {"clientId": "id", "clientSecret": "${SECRET}", "issuer": "https://as.example", "scopes": ["a", "b c"], "callbackPort": 33418}`,
			"&{id hidden  https://as.example [a b c] http://127.0.0.1:33418/callback false false}", "",
		},
		{
			"a client that logs in for itself", `"auth": {"grant": "client_credentials", "clientId": "id", "privateKey": "${env:KEY}"}`,
			"&{id  " + key + "  []  true false}", "",
		},
		{"Claude Code", `"oauth": {"clientId": "id", "callbackPort": "8080"}`, "&{id    [] http://127.0.0.1:8080/callback false false}", ""},
		{"Cursor", `"auth": {"CLIENT_ID": "id", "CLIENT_SECRET": "s", "scopes": ["a"]}`, "&{id s   [a]  false false}", ""},
		{
			"Gemini", `"oauth": {"enabled": true, "clientId": "id", "redirectUri": "http://localhost:7777/oauth/callback", "tokenUrl": "x"}`,
			"&{id    [] http://localhost:7777/oauth/callback false false}", "",
		},
		{"switched off", `"oauth": false`, "&{    []  false true}", ""},
		{"switched off at length", `"oauth": {"enabled": false}`, "&{    []  false true}", ""},
		{"left as it is", `"auth": true`, "<nil>", ""},
		{"scopes as one text", `"auth": {"scope": "a b"}`, "&{    [a b]  false false}", ""},
		{"a text", `"auth": "OAuth"`, "", "auth: a string where an object is needed"},
		{"a port that is none", `"auth": {"callbackPort": 70000}`, "", "auth.callbackPort: it is no port"},
		{"a grant that is none", `"auth": {"grant": "password"}`, "", "auth.grant: there is no such grant"},
		{"credentials without an id", `"auth": {"grant": "client_credentials"}`, "", "auth.clientId: a client that logs in for itself needs one"},
		{"a variable that is not set", `"auth": {"clientId": "${NOBODY}"}`, "", "auth.clientId: the variable NOBODY is not set"},
		{"a place elsewhere", `"auth": {"redirectUrl": "https://elsewhere.example/"}`, "", "auth.redirectUrl: the browser cannot come back there"},
		{"a place without a port", `"auth": {"redirectUrl": "http://127.0.0.1/callback"}`, "", "auth.redirectUrl: the browser cannot come back there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tr := newTree(t, map[string]string{"home/.mcpx.json": `{"mcpServers": {"s": {"url": "https://host.example/mcp", ` + tt.block + `}}}`})
			tr.vars["SECRET"], tr.vars["KEY"] = "hidden", key
			def, err := tr.load("").Servers[0].Resolve(tr.env())
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("err = %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(def.Auth); got != tt.want {
				t.Errorf("Auth = %s, want %s", got, tt.want)
			}
			if def.Auth != nil && def.Auth.ClientSecret == "hidden" && def.Redact("the secret is hidden") != "the secret is [redacted]" {
				t.Error("the secret is shown")
			}
		})
	}
}

package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
)

func TestBearer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		values []string
		want   string
	}{
		{nil, "map[]"},
		{[]string{"Bearer"}, "map[]"},
		{[]string{`Bearer scope="a b", error=invalid_token`}, "map[error:invalid_token scope:a b]"},
		{[]string{`bearer Scope = "a" ,, resource_metadata="https://x/?a=b,c"`}, "map[resource_metadata:https://x/?a=b,c scope:a]"},
		{[]string{`Basic realm="x, Bearer scope=\"no\"", Bearer scope="yes"`}, "map[scope:yes]"},
		{[]string{`Bearer scope="yes", Basic scope="no"`}, "map[scope:yes]"},
		{[]string{`Basic realm="x"`, `Bearer scope="second"`}, "map[scope:second]"},
		{[]string{`Negotiate abc==`, `Bearer scope="a"`}, "map[scope:a]"},
		{[]string{`Bearer scope="a", scope="b"`}, "map[scope:a]"},
		{[]string{`Bearer scope="never ends`}, "map[scope:never ends]"},
		{[]string{`Bearer error_description="a \"quote\" \\"`}, `map[error_description:a "quote" \]`},
		{[]string{`DPoP algs="ES256"`}, "map[]"},
		{[]string{"Bearer scope=\"" + strings.Repeat("x", maxChallenge) + "\""}, "map[]"},
	} {
		if got := fmt.Sprint(bearer(tt.values)); got != tt.want {
			t.Errorf("bearer(%.80q) = %s, want %s", tt.values, got, tt.want)
		}
	}
}

func FuzzBearer(f *testing.F) {
	for _, s := range []string{`Bearer scope="a b", error=x`, `Basic a==, Bearer x="\"`, `"`, `Bearer =`, `=,=`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name := range bearer([]string{s}) {
			if name == "" || name != strings.ToLower(name) {
				t.Errorf("bearer(%q) has the parameter %q", s, name)
			}
		}
	})
}

func TestAssertion(t *testing.T) {
	t.Parallel()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8 := func(key any) string {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	sec1, err := x509.MarshalECPrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	ecGood := func(text, signature []byte) bool {
		sum := sha256.Sum256(text)
		return len(signature) == 64 && ecdsa.Verify(&ec.PublicKey, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
	}
	rsGood := func(text, signature []byte) bool {
		sum := sha256.Sum256(text)
		return rsa.VerifyPKCS1v15(&rs.PublicKey, crypto.SHA256, sum[:], signature) == nil
	}
	for _, tt := range []struct {
		name, key, alg string
		good           func(text, signature []byte) bool
		err            string
	}{
		{"elliptic curve", pkcs8(ec), "ES256", ecGood, ""},
		{"elliptic curve, the older form", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1})), "ES256", ecGood, ""},
		{"RSA", pkcs8(rs), "RS256", rsGood, ""},
		{"RSA, the older form", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rs)})), "RS256", rsGood, ""},
		{"Ed25519", pkcs8(ed), "EdDSA", func(text, signature []byte) bool {
			return ed25519.Verify(ed.Public().(ed25519.PublicKey), text, signature) //nolint:forcetypeassert // as it is made
		}, ""},
		{"on one line, as in a variable", strings.ReplaceAll(pkcs8(ec), "\n", `\n`), "ES256", ecGood, ""},
		{"another curve", pkcs8(wide), "", nil, "P-256"},
		{"no PEM", "secret words", "", nil, "no PEM text"},
		{"a PEM of something else", string(pem.EncodeToMemory(&pem.Block{Type: "X", Bytes: []byte("x")})), "", nil, "no private key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			signed, err := assertion(tt.key, "robot", "https://as.example", now)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret words") {
					t.Errorf("err = %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.Split(signed, ".")
			if len(parts) != 3 {
				t.Fatalf("%d parts", len(parts))
			}
			decoded := make([][]byte, 3)
			for i, p := range parts {
				if decoded[i], err = base64.RawURLEncoding.DecodeString(p); err != nil {
					t.Fatal(err)
				}
			}
			var header, claims map[string]any
			if json.Unmarshal(decoded[0], &header) != nil || json.Unmarshal(decoded[1], &claims) != nil {
				t.Fatalf("%s.%s", decoded[0], decoded[1])
			}
			if header["alg"] != tt.alg || claims["iss"] != "robot" || claims["sub"] != "robot" || claims["aud"] != "https://as.example" ||
				claims["exp"].(float64)-claims["iat"].(float64) != assertionLife.Seconds() || claims["jti"] == "" { //nolint:forcetypeassert // numbers in JSON
				t.Errorf("%s.%s", decoded[0], decoded[1])
			}
			if !tt.good([]byte(parts[0]+"."+parts[1]), decoded[2]) {
				t.Error("the signature is not good")
			}
		})
	}
}

func TestTokensLast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		expires string
		lasts   time.Duration // roughly; 0 is for ever
	}{
		{"", 0},
		{"null", 0},
		{"3600", time.Hour},
		{`"3600"`, time.Hour},
		{"1.5e3", 25 * time.Minute},
		{"0", 0},
		{"-5", 0},
		{`"soon"`, 0},
		{"1e300", longest},
		{"{}", 0},
	} {
		r := &record{}
		r.take(&tokens{Access: "x", Expires: json.RawMessage(tt.expires)})
		switch {
		case tt.lasts == 0:
			if !r.Expires.IsZero() {
				t.Errorf("expires_in %s: until %v, want for ever", tt.expires, r.Expires)
			}
		case r.Expires.Sub(r.Obtained) != tt.lasts:
			t.Errorf("expires_in %s: %v, want %v", tt.expires, r.Expires.Sub(r.Obtained), tt.lasts)
		case !r.lasts(0) || r.lasts(0) != r.lasts(time.Second):
			t.Errorf("expires_in %s is over at once", tt.expires)
		}
	}
	// A token for half a minute is no reason to ask for another at every request.
	r := &record{Obtained: time.Now(), Expires: time.Now().Add(30 * time.Second)}
	if !r.lasts(margin) {
		t.Error("a token for half a minute is replaced at once")
	}
}

func TestIsAbout(t *testing.T) {
	t.Parallel()
	h := New(Options{Server: "s", URL: "https://Host.example/a/mcp?x=y"})
	for resource, want := range map[string]bool{
		"https://host.example/a/mcp": true, "https://host.example:443/a/mcp/": true, "https://host.example/a": true,
		"https://host.example": true, "https://host.example/": true,
		"https://host.example/a/mcp/deeper": false, "https://host.example/a/m": false, "http://host.example/a/mcp": false,
		"https://host.example:8443/a/mcp": false, "https://other.example/a/mcp": false, "": false, "mcp": false, "https://host.example/a#x": false,
	} {
		if got := h.isAbout(resource); got != want {
			t.Errorf("isAbout(%q) = %t, want %t", resource, got, want)
		}
	}
}

func TestSafe(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ server, address, want string }{
		{"https://host.example/mcp", "https://as.example/x", ""},
		{"https://host.example/mcp", "https://10.0.0.1/x", ""},
		{"https://host.example/mcp", "http://as.example/x", "an http address"},
		{"https://host.example/mcp", "http://127.0.0.1/x", "the server is not"},
		{"http://localhost:1/mcp", "http://127.0.0.1/x", ""},
		{"http://[::1]:1/mcp", "http://localhost/x", ""},
		{"http://localhost:1/mcp", "http://localhost.example/x", "an http address"},
		{"https://host.example/mcp", "javascript:alert(1)", "no address"},
		{"https://host.example/mcp", "file:///etc/passwd", "no address"},
		{"https://host.example/mcp", "ftp://host.example/x", "no https address"},
		{"https://host.example/mcp", "https://user:password@as.example/x", "no address"},
		{"https://host.example/mcp", "", "no address"},
	} {
		_, err := New(Options{Server: "s", URL: tt.server}).safe(tt.address)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("for %s, safe(%q) = %v, want %q", tt.server, tt.address, err, tt.want)
		}
	}
}

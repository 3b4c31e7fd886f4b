package web

import (
	"net/http"
	"strings"
	"testing"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// Whatever a server names as the next address, it is one of HTTP that the gate has its
// say about, in one spelling, and the headers of one origin stay there.
func FuzzRedirect(f *testing.F) {
	for _, s := range []string{
		"/last", "//127.0.0.1/", "http://0x7f.1:80", "file:///etc/passwd", `\\evil.test\x`, "http://a@b:c@d/", "https://[::1%25lo]/", "http://ａ.test", "?q#f", "http://x:99999/",
		"http://①②⑦.⓪.⓪.①", "\xff\xfe", "javascript:1", "http:///x", "HTTP://PRIVATE.test:80/%2e%2e/", "http://xn--a", "http://[", strings.Repeat("a", 1<<16),
	} {
		f.Add(s, 302)
	}
	gate, err := grant.OpenNet(grant.Words{Allow: []string{grant.Public}}, false, nil)
	if err != nil {
		f.Fatal(err)
	}
	w := New(gate, 1)
	f.Cleanup(w.Close)
	f.Fuzz(func(t *testing.T, text string, status int) {
		m, err := newMessage(request{URL: "http://home.test/from", Method: "POST", Headers: [][2]string{{"x-secret", "c0ffee"}}}, []byte("body"))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.turn(status, text); err != nil {
			if fault.KindOf(err) != fault.Unavailable {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if scheme := m.to.Scheme(); scheme != "http" && scheme != "https" {
			t.Errorf("%q leads to %s", text, m.to.Href(false))
		}
		if origin(m.to) != "http://home.test" && m.headers.Get("X-Secret") != "" {
			t.Errorf("%q takes headers to %s", text, m.to.Href(false))
		}
		if status == http.StatusSeeOther && m.method != http.MethodGet {
			t.Errorf("303 sends %s", m.method)
		}
		if w.admit(m.to) != nil {
			return
		}
		at, err := gate.Canonical(location(m.to))
		if err != nil {
			t.Fatalf("%q was admitted and is no address: %v", text, err)
		}
		if again, err := gate.Canonical(at); err != nil || again.Host != at.Host || gate.CheckURL(at) != nil {
			t.Errorf("%q is %s, which is %v: %v", text, at, again, err)
		}
	})
}

package grant

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"mcpx/internal/fault"
)

// nameServer answers queries for IPv4 addresses with what addresses says, and counts them.
func nameServer(t *testing.T, addresses func(name string) []string) (*net.Resolver, *atomic.Int32) {
	t.Helper()
	at, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = at.Close()
		<-ended
	})
	queries := new(atomic.Int32)
	go func() {
		defer close(ended)
		b := make([]byte, 1500)
		for {
			n, from, err := at.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			q := m.Questions[0]
			found := addresses(strings.TrimSuffix(q.Name.String(), "."))
			if len(found) == 0 {
				m.RCode = dnsmessage.RCodeNameError
			}
			if q.Type == dnsmessage.TypeA {
				queries.Add(1)
				for _, a := range found {
					m.Answers = append(m.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type},
						Body:   &dnsmessage.AResource{A: netip.MustParseAddr(a).As4()},
					})
				}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = at.WriteTo(out, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", at.LocalAddr().String())
	}}, queries
}

// listener accepts and closes connections, and counts them.
func listener(t *testing.T) (netip.AddrPort, *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	count := new(atomic.Int32)
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			_ = c.Close()
		}
	}()
	return netip.MustParseAddrPort(l.Addr().String()), count
}

func openNet(t *testing.T, w Words, everything bool, own ...netip.AddrPort) *Net {
	t.Helper()
	n, err := OpenNet(w, everything, own)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func words(s string) []string { return strings.Fields(s) }

func isDenied(err error) bool { return fault.KindOf(err) == fault.Denied }

func TestNetReadsItsWords(t *testing.T) {
	t.Parallel()
	for _, w := range words(`* public example.com EXAMPLE.com. *.example.com example.com:443 *.example.com:8443 bücher.de xn--bcher-kva.de db my_host r3---sn-x.example
		127.0.0.1 127.0.0.1:80 ::1 [::1] [::1]:80 ::ffff:10.0.0.1 10.0.0.0/8 fc00::/7 ::ffff:10.0.0.0/104 0.0.0.0/0 localhost localhost:3000 4f2a9c`) {
		if _, err := OpenNet(Words{Allow: []string{w}, Deny: []string{w}}, false, nil); err != nil {
			t.Errorf("%q: %v", w, err)
		}
	}
	for _, w := range []string{
		"", " ", "http://example.com", "https://example.com/", "example.com/path", "a b", "example.com:0", "example.com:65536", "example.com:https", "example.com:",
		"10.0.0.0/33", "10.0.0", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "fe80::1%eth0", "[::1", "::1]", "[127.0.0.1]", "a..b", ".", "*.", "*.*.com", "ex*mple.com",
		"user@example.com", "a\x00b", strings.Repeat("a", 64) + ".com", strings.Repeat("a.", 127) + "com", "example.com:80:80", "unix:/run/x", "\u00ad", "\xff",
	} {
		_, err := OpenNet(Words{Allow: []string{w}}, false, nil)
		_, denyErr := OpenNet(Words{Deny: []string{w}}, false, nil)
		if fault.KindOf(err) != fault.Usage || fault.KindOf(denyErr) != fault.Usage {
			t.Errorf("%q: %v and %v, want an error of the kind usage", w, err, denyErr)
		}
		if err != nil && len(w) > 1 && len(w) < 60 && !strings.ContainsFunc(w, func(r rune) bool { return r < ' ' || r > '~' }) && !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not named by %q", w, err)
		}
	}
}

func TestNetDecidesOnTheText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, allow, deny string
		admits, refuses   string // hosts of URLs
	}{
		{name: "nothing", refuses: "example.com 1.1.1.1 127.0.0.1 localhost"},
		{
			name: "public addresses", allow: "public",
			admits: "example.com example.com:8443 1.1.1.1 [2606:4700::1] 8.8.8.8:53 [::ffff:8.8.8.8]",
			refuses: `127.0.0.1 127.9.9.9:80 localhost LOCALHOST. a.localhost 0.0.0.0 [::] [::1] 10.1.2.3 100.64.0.1 169.254.169.254 172.16.0.1 172.31.255.255
				192.0.0.8 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.7 203.0.113.7 224.0.0.1 240.0.0.1 255.255.255.255
				[::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:10.0.0.1] [::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::1] [2002:7f00:1::] [2001::1] [2001:db8::1]
				[fc00::1] [fd12::1] [fe80::1] [fec0::1] [ff02::1] [100::1] [3fff::1] [5f00::1] [4000::1]`,
		},
		{
			name: "spellings of addresses", allow: "public 127.0.0.1",
			admits:  "127.0.0.1 [::ffff:127.0.0.1] [::ffff:7f00:1] 127.0.0.1:8080 0.0.0.0",
			refuses: "0x7f.1 0x7f000001 2130706433 017700000001 0177.0.0.1 127.1 127.0.1 127.0.0.01 127.0.0.1. 0 １２７.０.０.１ ①②⑦.⓪.⓪.① 127。0。0。1 [::127.0.0.1] [fe80::1%25lo] [::ffff:127.0.0.1%25lo] [::1]",
		},
		{
			name: "names", allow: "allowed.test *.wild.test bücher.de port.test:8080",
			admits: "allowed.test ALLOWED.test allowed.test. allowed.test:9 a.wild.test a.b.WILD.test bücher.de xn--bcher-kva.de BÜCHER.de ａllowed.test allowed。test port.test:8080",
			refuses: `xallowed.test allowed.test.evil.test allowed.tes wild.test xwild.test a.wild.test.evil.test allowed_test port.test port.test:8081 buecher.de
				1.1.1.1 allowed.test.. .allowed.test bad!.test ` + strings.Repeat("a", 64) + ".wild.test " + strings.Repeat("a.", 130) + "wild.test",
		},
		{name: "loopback by its name", allow: "localhost:3000 public", admits: "localhost:3000 127.0.0.1:3000 127.0.0.2:3000 [::1]:3000 LOCALHOST:3000 a.localhost:3000", refuses: "localhost localhost:3001 127.0.0.1 192.168.0.1:3000"},
		{name: "the name of a granted address", allow: "127.0.0.1", admits: "localhost 127.0.0.1", refuses: "[::1] 127.0.0.2 example.com"},
		{name: "ranges", allow: "10.0.0.0/8 fd00::/8 ::ffff:192.168.0.0/112", admits: "10.255.0.1 [fd00::1] 192.168.7.7 [::ffff:10.0.0.1]", refuses: "11.0.0.1 [fc00::1] 192.169.0.1 example.com 8.8.8.8"},
		{name: "ports", allow: "10.0.0.1:5432 [fd00::1]:80", admits: "10.0.0.1:5432 [fd00::1] [fd00::1]:80", refuses: "10.0.0.1 10.0.0.1:5433 [fd00::1]:81"},
		{name: "everything", allow: "*", admits: "example.com 127.0.0.1 169.254.169.254 [::1] localhost [fe80::1] 0.0.0.0", refuses: "2130706433 0x7f.1 127.1 [fe80::1%25eth0] bad!.test"},
		{name: "a name is taken away", allow: "*", deny: "evil.test *.evil.test exact.test:81", admits: "notevil.test exact.test 1.1.1.1", refuses: "evil.test EVIL.test. a.evil.test ｅvil.test exact.test:81"},
		{name: "an address is taken away", allow: "*", deny: "169.254.0.0/16 localhost 10.0.0.1:80", admits: "example.com 10.0.0.1:81 192.168.0.1", refuses: "169.254.169.254 [::ffff:169.254.169.254] 127.0.0.1 127.3.3.3 [::1] localhost a.localhost 0.0.0.0 [::] 10.0.0.1"},
		{name: "taking away wins", allow: "allowed.test 127.0.0.1", deny: "allowed.test:80 127.0.0.0/8", admits: "allowed.test:81", refuses: "allowed.test 127.0.0.1"},
		{name: "all is taken away", allow: "* allowed.test 127.0.0.1", deny: "*", refuses: "allowed.test 127.0.0.1 1.1.1.1 localhost"},
		{name: "public is taken away", allow: "*", deny: "public", admits: "127.0.0.1 10.0.0.1", refuses: "1.1.1.1 [2606:4700::1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := openNet(t, Words{Allow: words(tt.allow), Deny: words(tt.deny)}, false)
			for _, host := range words(tt.admits) {
				u, err := url.Parse("http://" + host + "/path?q")
				if err != nil {
					t.Fatal(err)
				}
				if err := n.CheckURL(u); err != nil {
					t.Errorf("%s is refused: %v", host, err)
				}
			}
			for _, host := range words(tt.refuses) {
				u, err := url.Parse("http://" + host + "/path?q")
				if err != nil {
					continue // it does not get as far
				}
				err = n.CheckURL(u)
				if want := Denied(Network, host).Error(); !isDenied(err) || !strings.Contains(host, "%") && err.Error() != want {
					t.Errorf("%s: %v, want %s", host, err, want)
				}
			}
		})
	}
}

func TestNetTakesOnlyAddressesOfTheWeb(t *testing.T) {
	t.Parallel()
	n := openNet(t, Words{Allow: []string{Any}}, true)
	for _, s := range []string{
		"file:///etc/passwd", "unix:///run/docker.sock", "http+unix://%2Frun%2Fdocker.sock/info", "data:text/plain,x", "gopher://127.0.0.1/",
		"ftp://127.0.0.1/", "http:opaque", "http:///etc/passwd", "//example.com/", "/etc/passwd", "javascript:1", "",
	} {
		u, err := url.Parse(s)
		if err != nil {
			continue // it does not get as far
		}
		if err := n.CheckURL(u); fault.KindOf(err) != fault.Usage {
			t.Errorf("%q: %v, want an error of the kind usage", s, err)
		}
	}
	for _, s := range []string{"http://example.com:99999/", "http://example.com:x/"} {
		u := &url.URL{Scheme: "http", Host: strings.TrimSuffix(strings.TrimPrefix(s, "http://"), "/")}
		if err := n.CheckURL(u); err == nil {
			t.Errorf("%q is admitted", s)
		}
	}
	// What follows user information, an escape or a backslash is not the host.
	n = openNet(t, Words{Allow: []string{"allowed.test"}}, false)
	for _, s := range []string{"http://allowed.test@127.0.0.1/", "http://allowed.test:x@evil.test/", `http://evil.test\@allowed.test/`, "http://127.0.0.1%2f.allowed.test/", "http://evil.test#allowed.test", "http://evil.test?allowed.test"} {
		u, err := url.Parse(s)
		if err == nil && n.CheckURL(u) == nil {
			t.Errorf("%q is admitted", s)
		}
	}
}

func TestNetSpellsAHostOneWay(t *testing.T) {
	t.Parallel()
	n := openNet(t, Words{Allow: []string{Any}}, false)
	for in, want := range map[string]string{
		"http://EXAMPLE.com./p?q":       "http://example.com/p?q",
		"https://ｅxample.com:8443/":     "https://example.com:8443/",
		"http://[::ffff:10.0.0.1]:80/":  "http://10.0.0.1:80/",
		"http://[2606:4700:0:0:0:0::1]": "http://[2606:4700::1]",
		"http://0.0.0.0:8000/":          "http://127.0.0.1:8000/",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := n.Canonical(u); err != nil || c.String() != want {
			t.Errorf("Canonical(%s) = %v, %v, want %s", in, c, err, want)
		}
	}
}

func dialTo(t *testing.T, n *Net, to string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := n.DialContext(ctx, "tcp", to)
	if err == nil {
		_, _ = c.Read(make([]byte, 1)) // until it was counted
		_ = c.Close()
	}
	return err
}

func TestANameThatIsNotGrantedIsAskedOfNobody(t *testing.T) {
	t.Parallel()
	resolver, queries := nameServer(t, func(string) []string { return []string{"127.0.0.1"} })
	for _, w := range []Words{{}, {Allow: words("allowed.test 127.0.0.1 *.wild.test")}, {Allow: words("* public"), Deny: words("*.exfil.test")}} {
		n := openNet(t, w, false)
		n.Resolver = resolver
		if err := dialTo(t, n, "c0ffee.exfil.test:80"); !isDenied(err) {
			t.Errorf("%v: %v, want a denial", w, err)
		}
	}
	n := openNet(t, Words{Allow: words("* localhost")}, false)
	n.Resolver = resolver
	if err := dialTo(t, n, "x.localhost:1"); err == nil || isDenied(err) {
		t.Errorf("localhost: %v, want a connection that is refused", err)
	}
	if q := queries.Load(); q != 0 {
		t.Errorf("the name server was asked %d times", q)
	}
}

func TestAGrantedNameDoesNotLeadInside(t *testing.T) {
	t.Parallel()
	at, count := listener(t)
	port := "80"
	if _, p, err := net.SplitHostPort(at.String()); err == nil {
		port = p
	}
	var last string
	for _, inside := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "0.0.0.0", "100.64.0.1", "224.0.0.1"} {
		for _, allow := range []string{"inner.test", "public", "*.test public"} {
			resolver, queries := nameServer(t, func(string) []string { return []string{inside} })
			n := openNet(t, Words{Allow: words(allow)}, false)
			n.Resolver = resolver
			err := dialTo(t, n, "inner.test:"+port)
			if !isDenied(err) || queries.Load() == 0 {
				t.Errorf("%s under %s: %v after %d queries, want a denial after one", inside, allow, err, queries.Load())
				continue
			}
			text := err.Error() + fault.From(err).Hint
			if strings.Contains(text, inside) || last != "" && text != last {
				t.Errorf("%s: %q tells what the address is: %q for another", inside, text, last)
			}
			last = text
		}
	}
	if n := count.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestRebinding(t *testing.T) {
	t.Parallel()
	at, count := listener(t)
	_, port, _ := net.SplitHostPort(at.String())
	answers := new(atomic.Int32)
	resolver, queries := nameServer(t, func(string) []string {
		if answers.Add(1) <= 2 { // the queries for IPv4 and for IPv6
			return []string{"192.0.2.1"}
		}
		return []string{"127.0.0.1"}
	})
	// A check that is not of the address that is dialled would pass, ...
	found, err := resolver.LookupNetIP(t.Context(), "ip4", "rebind.test")
	if err != nil || len(found) != 1 || found[0] != netip.MustParseAddr("192.0.2.1") {
		t.Fatalf("the trap is not set: %v, %v", found, err)
	}
	answers.Store(2)
	var naive net.Dialer
	naive.Resolver = resolver
	if c, err := naive.DialContext(t.Context(), "tcp", "rebind.test:"+port); err != nil {
		t.Fatalf("the trap does not work: %v", err)
	} else {
		_, _ = c.Read(make([]byte, 1)) // until it was counted
		_ = c.Close()
	}
	// ... the gate does not.
	reached := count.Load()
	n := openNet(t, Words{Allow: words("rebind.test public")}, false)
	n.Resolver = resolver
	asked := queries.Load()
	for range 3 {
		if err := dialTo(t, n, "rebind.test:"+port); !isDenied(err) {
			t.Errorf("%v, want a denial", err)
		}
	}
	if q := queries.Load() - asked; q != 3 {
		t.Errorf("3 connections made %d queries", q)
	}
	if got := count.Load(); got != reached {
		t.Errorf("the listener was reached %d times", got-reached)
	}
	// At the connect it is decided once more.
	if c, err := n.dial(t.Context(), at, true); !isDenied(err) {
		t.Errorf("connecting to %s: %v, %v, want a denial", at, c, err)
	}
}

func TestOnlyAdmittedAddressesOfANameAreDialled(t *testing.T) {
	t.Parallel()
	at, count := listener(t)
	_, port, _ := net.SplitHostPort(at.String())
	resolver, _ := nameServer(t, func(string) []string { return []string{"169.254.169.254", "127.0.0.2", "127.0.0.1"} })
	n := openNet(t, Words{Allow: words("many.test 127.0.0.1")}, false)
	n.Resolver = resolver
	if err := dialTo(t, n, "many.test:"+port); err != nil || count.Load() != 1 {
		t.Errorf("%v, %d connections, want one", err, count.Load())
	}
	// The next address is tried when one refuses.
	n = openNet(t, Words{Allow: words("many.test 127.0.0.0/8")}, false)
	n.Resolver = resolver
	if err := dialTo(t, n, "many.test:"+port); err != nil {
		t.Errorf("%v, want the connection to 127.0.0.1", err)
	}
	// With everything, a name leads where it leads.
	n = openNet(t, Words{Allow: words("many.test")}, true)
	n.Resolver, _ = nameServer(t, func(string) []string { return []string{"127.0.0.1"} })
	if err := dialTo(t, n, "many.test:"+port); err != nil {
		t.Errorf("with everything: %v", err)
	}
	if err := dialTo(t, n, "127.0.0.1:"+port); !isDenied(err) {
		t.Errorf("what is not named, with everything: %v, want a denial", err)
	}
}

func TestOwnListenersAreRefused(t *testing.T) {
	t.Parallel()
	at, count := listener(t)
	_, port, _ := net.SplitHostPort(at.String())
	resolver, _ := nameServer(t, func(string) []string { return []string{"127.0.0.1"} })
	for _, own := range []netip.AddrPort{
		at, netip.AddrPortFrom(netip.IPv4Unspecified(), at.Port()), netip.AddrPortFrom(netip.IPv6Unspecified(), at.Port()),
		netip.AddrPortFrom(netip.MustParseAddr("::ffff:127.0.0.1"), at.Port()),
	} {
		n := openNet(t, Words{Allow: words("* 127.0.0.0/8 localhost name.test 127.0.0.1:" + port)}, true, own)
		n.Resolver = resolver
		for _, host := range words("127.0.0.1 0.0.0.0 [::ffff:127.0.0.1] localhost name.test") {
			if host == "localhost" && !own.Addr().IsUnspecified() {
				n = openNet(t, Words{Allow: words("127.0.0.1")}, true, own) // ::1 is somebody else's
			}
			if err := dialTo(t, n, host+":"+port); !isDenied(err) {
				t.Errorf("own %s, dialled as %s: %v, want a denial", own, host, err)
			}
		}
	}
	if n := count.Load(); n != 0 {
		t.Errorf("the listener was reached %d times", n)
	}
	// One at all addresses is refused at each of them.
	n := openNet(t, Words{Allow: words("*")}, true, netip.AddrPortFrom(netip.IPv4Unspecified(), 7777))
	addresses, err := net.InterfaceAddrs()
	if err != nil || len(addresses) == 0 {
		t.Fatalf("this machine has no addresses: %v", err)
	}
	for _, a := range addresses {
		p, err := netip.ParsePrefix(a.String())
		if err != nil {
			t.Fatal(err)
		}
		if n.admitsAddress(p.Addr(), 7777, true) || !n.admitsAddress(p.Addr(), 7778, true) {
			t.Errorf("%s: port 7777 must be refused, and 7778 admitted", a)
		}
	}
	if !n.admitsAddress(netip.MustParseAddr("1.1.1.1"), 7777, true) {
		t.Error("another machine's port is refused")
	}
}

func TestDialingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	n := openNet(t, Words{Allow: words("public")}, false)
	over := make(chan struct{})
	defer close(over)
	n.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		select {
		case <-over:
		case <-time.After(time.Minute):
			t.Error("the context does not end the look-up")
		}
		return nil, errors.New("nobody answers")
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := n.DialContext(ctx, "tcp", "slow.test:80"); err == nil {
		t.Error("there is a connection")
	}
}

func TestAlternating(t *testing.T) {
	t.Parallel()
	list := []netip.Addr{}
	for _, s := range words("::1 ::2 ::3 1.1.1.1 1.1.1.2") {
		list = append(list, netip.MustParseAddr(s))
	}
	var got []string
	for _, a := range alternating(list) {
		got = append(got, a.String())
	}
	if s := strings.Join(got, " "); s != "::1 1.1.1.1 ::2 1.1.1.2 ::3" {
		t.Errorf("alternating = %s", s)
	}
	if _, err := new(Net).race(t.Context(), nil, 80, false); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("connecting to no address: %v", err)
	}
}

func FuzzHostName(f *testing.F) {
	for _, s := range []string{"example.com", "127.1", "①②⑦.⓪.⓪.①", "xn--bcher-kva.de", "bücher.de.", "0x7f.1", "a..b", "\xff", "127。0。0。1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, ok := hostName(s)
		if !ok {
			return
		}
		if again, ok := hostName(name); !ok || again != name {
			t.Errorf("hostName(%q) = %q, whose name is %q, %v", s, name, again, ok)
		}
		if a := addressOf(name); a.IsValid() {
			t.Errorf("hostName(%q) = %q, which is an address", s, name)
		}
	})
}

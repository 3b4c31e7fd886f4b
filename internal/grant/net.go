package grant

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"mcpx/internal/fault"
)

// Net is the gate of the network. A name is decided on before anybody is asked for its
// addresses, each of these before it is dialled, and the one that is dialled once more
// at the connect. An address that is not public (loopback, private, link-local, shared,
// multicast, those that stand for IPv4 addresses, ...) is reached only if the grant names
// it, as address or CIDR, or gives everything; the name of a host that leads to one does
// not do. The word localhost names the loopback addresses. What is taken away and the
// listeners of this program are out of reach whatever is granted.
//
// A name that is taken away is refused as a name: the same machine by its address, or by
// another name, is another thing.
type Net struct {
	// Resolver is asked for addresses; nil is the system's.
	Resolver *net.Resolver

	allow, deny netRules
	everywhere  bool // public addresses are no better than others
	own         []netip.AddrPort
}

// netRules is a list of words that were read.
type netRules struct {
	all, public bool
	names       []nameRule
	addresses   []addressRule
}

type nameRule struct {
	name  string // as hostName spells it
	below bool   // the names below it, and not itself
	port  uint16 // 0 is any
}

type addressRule struct {
	prefix netip.Prefix
	port   uint16 // 0 is any
}

// OpenNet makes the gate of a grant. With everything, which is Set.Everything, the name
// of a host and the word Public give addresses that are not public as well. own are the listeners of this program; one at the unspecified
// address stands for all addresses of this machine. A word that cannot be read is an
// error of the kind usage that names it.
func OpenNet(words Words, everything bool, own []netip.AddrPort) (*Net, error) {
	n := &Net{everywhere: everything}
	for _, w := range words.Allow {
		if err := n.allow.add(w); err != nil {
			return nil, err
		}
	}
	for _, w := range words.Deny {
		if err := n.deny.add(w); err != nil {
			return nil, err
		}
	}
	for _, a := range own {
		n.own = append(n.own, netip.AddrPortFrom(a.Addr().WithZone("").Unmap(), a.Port()))
	}
	return n, nil
}

// add reads one word.
func (r *netRules) add(word string) error {
	switch word {
	case Any:
		r.all = true
		return nil
	case Public:
		r.public = true
		return nil
	}
	if p, err := netip.ParsePrefix(word); err == nil {
		r.addresses = append(r.addresses, addressRule{prefix: plainPrefix(p)})
		return nil
	}
	host, port := word, uint16(0)
	if h, p, err := net.SplitHostPort(word); err == nil && !addressOf(word).IsValid() {
		no, err := strconv.ParseUint(p, 10, 16)
		if err != nil || no == 0 {
			return badNetWord(word, "the port is none")
		}
		host, port = h, uint16(no)
	}
	if a := addressOf(host); a.IsValid() {
		if a.Zone() != "" {
			return badNetWord(word, "an address here has no zone")
		}
		a = plainAddress(a)
		r.addresses = append(r.addresses, addressRule{netip.PrefixFrom(a, a.BitLen()), port})
		return nil
	}
	name, below := strings.CutPrefix(host, "*.")
	name, ok := hostName(name)
	switch {
	case strings.Contains(word, "/"):
		return badNetWord(word, "it is neither a host nor a CIDR")
	case !ok:
		return badNetWord(word, "it is neither a host nor an address")
	}
	r.names = append(r.names, nameRule{name, below, port})
	if isLoopbackName(name) {
		for _, p := range notPublic().loopback {
			r.addresses = append(r.addresses, addressRule{p, port})
		}
	}
	return nil
}

func badNetWord(word, why string) error {
	return fault.Usagef("%s %q cannot be read: %s", Network, word, why).
		Hintf("give a host such as api.example.com, *.example.com or localhost:8080, an IP address, a CIDR, public, or *")
}

// addressOf reads an IP address, which may stand in brackets; it is not valid if it is none.
func addressOf(s string) netip.Addr {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok || !strings.Contains(inner, ":") {
			return netip.Addr{}
		}
		s = inner
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}
	}
	return a
}

// plainAddress is an address as rules are compared with it: IPv4 as such, and the
// unspecified address as what connecting to it reaches, this machine.
func plainAddress(a netip.Addr) netip.Addr {
	switch a = a.WithZone("").Unmap(); a {
	case netip.IPv4Unspecified():
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case netip.IPv6Unspecified():
		return netip.IPv6Loopback()
	}
	return a
}

// plainPrefix is a CIDR whose IPv4 part is written as IPv4.
func plainPrefix(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked()
}

// byName reports whether the words name a host.
func (r *netRules) byName(name string, port uint16) bool {
	for _, rule := range r.names {
		if rule.port != 0 && rule.port != port {
			continue
		}
		if above, ok := strings.CutSuffix(name, rule.name); ok && (rule.below && strings.HasSuffix(above, ".") || !rule.below && above == "") {
			return true
		}
	}
	return false
}

// byAddress reports whether the words name an address.
func (r *netRules) byAddress(a netip.Addr, port uint16) bool {
	for _, rule := range r.addresses {
		if (rule.port == 0 || rule.port == port) && rule.prefix.Contains(a) {
			return true
		}
	}
	return false
}

// target is a place to connect to: an address, or the name of a host.
type target struct {
	name    string // as hostName spells it; empty if it is an address
	address netip.Addr
	port    uint16
}

// newTarget reads a host and port as a URL or net/http spells them.
func newTarget(host, port string) (target, bool) {
	no, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return target{}, false
	}
	t := target{port: uint16(no)}
	if a := addressOf(host); a.IsValid() {
		t.address = plainAddress(a)
		return t, a.Zone() == ""
	}
	name, ok := hostName(host)
	t.name = name
	return t, ok
}

// host is the target as a URL's host, without the port.
func (t target) host() string {
	switch {
	case t.name != "":
		return t.name
	case t.address.Is6():
		return "[" + t.address.String() + "]"
	}
	return t.address.String()
}

// CheckURL decides whether a URL may be asked for, as far as its text tells: nobody is
// asked for the addresses of a name. The error is a Denied whose thing is u.Host, or of
// the kind usage if the URL is none of http or https.
func (n *Net) CheckURL(u *url.URL) error {
	t, err := urlTarget(u)
	if err != nil {
		return err
	}
	if !n.admits(t) {
		return Denied(Network, u.Host)
	}
	return nil
}

// urlTarget reads where a URL leads.
func urlTarget(u *url.URL) (target, error) {
	if u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" || u.Host == "" {
		return target{}, fault.Usagef("%q is not an address with the scheme http or https", clip(u.Redacted()))
	}
	port := u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	t, ok := newTarget(u.Hostname(), port)
	if !ok {
		return target{}, Denied(Network, u.Host)
	}
	return t, nil
}

// Canonical returns u with its host in the one spelling that the gate decides on, so
// that nobody below reads another host from it. It is not admitted by that.
func (n *Net) Canonical(u *url.URL) (*url.URL, error) {
	t, err := urlTarget(u)
	if err != nil {
		return nil, err
	}
	c := *u
	c.Host = t.host()
	if port := u.Port(); port != "" {
		c.Host += ":" + port
	}
	return &c, nil
}

// admits decides on a target before its name is resolved.
func (n *Net) admits(t target) bool {
	switch {
	case t.name == "":
		return n.admitsAddress(t.address, t.port, false)
	case n.deny.all || n.deny.byName(t.name, t.port):
		return false
	case isLoopbackName(t.name):
		return len(n.loopback(t.port)) > 0
	}
	return n.allow.all || n.allow.public || n.allow.byName(t.name, t.port)
}

// loopback returns what of localhost may be reached.
func (n *Net) loopback(port uint16) []netip.Addr {
	var admitted []netip.Addr
	for _, a := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
		if n.admitsAddress(a, port, false) {
			admitted = append(admitted, a)
		}
	}
	return admitted
}

// admitsAddress decides on an address that is to be dialled. named says that the grant
// names the host that it was found for.
func (n *Net) admitsAddress(a netip.Addr, port uint16, named bool) bool {
	a = plainAddress(a)
	public := !notPublic().contains(a)
	switch {
	case n.isOwn(a, port):
		return false
	case n.deny.all || n.deny.public && public || n.deny.byAddress(a, port):
		return false
	case n.allow.all || n.allow.byAddress(a, port):
		return true
	}
	return (public || n.everywhere) && (n.allow.public || named)
}

// isOwn reports whether this program listens at an address.
func (n *Net) isOwn(a netip.Addr, port uint16) bool {
	for _, o := range n.own {
		if o.Port() == port && (o.Addr() == a || o.Addr().IsUnspecified() && isLocal(a)) {
			return true
		}
	}
	return false
}

// isLocal reports whether an address is one of this machine.
func isLocal(a netip.Addr) bool {
	if a.IsLoopback() {
		return true
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return true // it cannot be told, and a listener of ours is at stake
	}
	for _, i := range addresses {
		if p, err := netip.ParsePrefix(i.String()); err == nil && plainAddress(p.Addr()) == a {
			return true
		}
	}
	return false
}

const (
	maxAddresses = 16                     // of one name that are tried
	nextAddress  = 250 * time.Millisecond // until the next one is tried besides
)

// DialContext connects to a host and port, as net/http asks for it. The error is a
// Denied if the target is outside the grant; it is the same whether the host exists or
// not, and for a name that leads to addresses that are not granted, it is the same
// whatever they are.
func (n *Net) DialContext(ctx context.Context, _, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, Denied(Network, hostPort)
	}
	t, ok := newTarget(host, port)
	if !ok || !n.admits(t) {
		return nil, Denied(Network, hostPort)
	}
	named := false
	var addresses []netip.Addr
	switch {
	case t.name == "":
		addresses = []netip.Addr{t.address}
	case isLoopbackName(t.name):
		addresses = n.loopback(t.port)
	default:
		named = n.allow.byName(t.name, t.port)
		found, err := n.resolver().LookupNetIP(ctx, "ip", t.name)
		if err != nil {
			return nil, fmt.Errorf("looking up %s: %w", t.name, err)
		}
		for _, a := range found {
			if n.admitsAddress(a, t.port, named) {
				addresses = append(addresses, a.Unmap())
			}
		}
		if len(found) > 0 && len(addresses) == 0 {
			return nil, DeniedAddress(t.name)
		}
	}
	return n.race(ctx, addresses, t.port, named)
}

// DeniedAddress is the error for the name of a host that may be asked for but leads
// where the grant does not reach. host is as the script spelled it.
func DeniedAddress(host string) *fault.Error {
	e := Denied(Network, host)
	flag, _ := e.Details["flag"].(string)
	return e.Hintf("it leads to an address that is not public: allow that address as well, as in %s", fault.ShellWord(flag+",192.168.0.0/16")).
		With("address", true)
}

func (n *Net) resolver() *net.Resolver {
	if n.Resolver != nil {
		return n.Resolver
	}
	// On other systems the machine's own resolver knows of networks that Go's does not.
	return &net.Resolver{PreferGo: runtime.GOOS == "linux"}
}

// dialed is the outcome of one attempt.
type dialed struct {
	conn net.Conn
	err  error
}

// race connects to the first address that answers. An attempt is begun when the one
// before it has failed, or has taken long. None is under way any more when race returns.
func (n *Net) race(ctx context.Context, addresses []netip.Addr, port uint16, named bool) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	addresses = alternating(addresses[:min(len(addresses), maxAddresses)])
	outcomes := make(chan dialed, len(addresses))
	next := time.NewTimer(0)
	defer next.Stop()
	var first dialed
	for begun, ended := 0, 0; ended < len(addresses) && (ended < begun || first.conn == nil); {
		select {
		case <-next.C:
			if begun < len(addresses) && first.conn == nil {
				a := addresses[begun]
				begun++
				go func() {
					conn, err := n.dial(ctx, netip.AddrPortFrom(a, port), named)
					outcomes <- dialed{conn, err}
				}()
				next.Reset(nextAddress)
			}
		case o := <-outcomes:
			ended++
			switch {
			case o.err != nil:
				if first.err == nil {
					first.err = o.err
				}
				next.Reset(0)
			case first.conn != nil:
				_ = o.conn.Close() // it came second
			default:
				first.conn = o.conn
				cancel()
			}
		}
	}
	if first.conn != nil {
		return first.conn, nil
	}
	if first.err == nil {
		first.err = errors.New("there is no address")
	}
	return nil, first.err
}

// alternating orders addresses so that those of one family do not wait for all of the other.
func alternating(addresses []netip.Addr) []netip.Addr {
	var kinds [2][]netip.Addr
	for _, a := range addresses {
		kind := 0
		if a.Is4() != addresses[0].Is4() {
			kind = 1
		}
		kinds[kind] = append(kinds[kind], a)
	}
	ordered := make([]netip.Addr, 0, len(addresses))
	for i := range addresses {
		for _, k := range kinds {
			if i < len(k) {
				ordered = append(ordered, k[i])
			}
		}
	}
	return ordered
}

// dial connects to one address. Control sees what the system is asked to connect to.
func (n *Net) dial(ctx context.Context, to netip.AddrPort, named bool) (net.Conn, error) {
	d := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !n.admitsAddress(at.Addr(), at.Port(), named) {
			return Denied(Network, "")
		}
		return nil
	}}
	return d.DialContext(ctx, "tcp", to.String())
}

// hostName returns the one spelling of a host's name that rules are compared in: ASCII,
// lower case, no dot at the end. What a resolver could take for the number of an address
// is no name.
func hostName(h string) (string, bool) {
	h = strings.TrimSuffix(h, ".")
	if strings.ContainsFunc(h, func(r rune) bool { return r >= 0x80 }) {
		mapped, err := mapping().ToASCII(h)
		if err != nil || !utf8.ValidString(h) {
			return "", false
		}
		h = strings.TrimSuffix(mapped, ".")
	}
	h = strings.ToLower(h)
	if len(h) > 253 {
		return "", false
	}
	last := ""
	for label := range strings.SplitSeq(h, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, outsideName) {
			return "", false
		}
		last = label
	}
	return h, !isNumber(last)
}

func outsideName(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

// isNumber reports whether the last label of a host makes it an IPv4 address, as the URL
// Standard has it.
func isNumber(label string) bool {
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		label, digits = hex, "0123456789abcdef"
	}
	return strings.Trim(label, digits) == ""
}

// isLoopbackName reports whether a name means this machine and is asked of nobody.
func isLoopbackName(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// mapping turns names of other scripts into ASCII, as browsers do.
var mapping = sync.OnceValue(func() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false), idna.BidiRule())
})

// nonPublic are the addresses that are not public.
type nonPublic struct{ loopback, rest []netip.Prefix }

func (s *nonPublic) contains(a netip.Addr) bool {
	if a.Is6() && !s.rest[0].Contains(a) {
		return true
	}
	for _, list := range [][]netip.Prefix{s.loopback, s.rest[1:]} {
		for _, p := range list {
			if p.Contains(a) {
				return true
			}
		}
	}
	return false
}

var notPublic = sync.OnceValue(func() *nonPublic {
	parse := func(list ...string) []netip.Prefix {
		prefixes := make([]netip.Prefix, len(list))
		for i, s := range list {
			prefixes[i] = netip.MustParsePrefix(s)
		}
		return prefixes
	}
	return &nonPublic{
		loopback: parse("127.0.0.0/8", "::1/128"),
		rest: parse(
			// Of IPv6, only this is public, ...
			"2000::/3",
			// ... and of that not: protocols (with Teredo), examples, 6to4.
			"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
			// This network, private, shared, link-local, protocols, examples, 6to4 relays,
			// benchmarks, multicast, reserved, broadcast.
			"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
			"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
		),
	}
})

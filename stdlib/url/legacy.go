package url

import (
	"slices"
	"strings"
	"unicode"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// parts is a URL as url.parse takes it apart. A nil part is null.
type parts struct {
	protocol, auth, host, port, hostname, hash, search, query, pathname, path, href *string
	slashes                                                                         bool
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// slashed reports whether a protocol, with its colon, is one whose URLs have slashes.
func slashed(protocol string) bool {
	switch strings.TrimSuffix(protocol, ":") {
	case "http", "https", "ftp", "gopher", "file", "ws", "wss":
		return true
	}
	return false
}

// scripted reports whether what follows the protocol is code.
func scripted(protocol string) bool { return protocol == "javascript:" }

// takeProtocol splits a protocol with its colon off, as it was written.
func takeProtocol(text string) (protocol, rest string) {
	for i := range len(text) {
		switch c := text[i]; {
		case c == ':' && i > 0:
			return text[:i+1], text[i+1:]
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '+', c == '-':
		default:
			return "", text
		}
	}
	return "", text
}

// trimmed drops white space around a URL and turns the backslashes before its query.
func trimmed(text string) string {
	text = strings.TrimFunc(text, func(r rune) bool { return r < 33 || r == '\u00a0' || r == '\ufeff' })
	end := strings.IndexAny(text, "?#")
	if end < 0 {
		end = len(text)
	}
	return strings.ReplaceAll(text[:end], `\`, "/") + text[end:]
}

// parseLegacy takes a URL apart as Node did before there was a standard for it.
// slashesHost says that //a/b begins with a host.
func (m *module) parseLegacy(text string, slashesHost bool) *parts {
	p := &parts{}
	rest := trimmed(text)
	if !slashesHost && !strings.ContainsAny(rest, "#@") && p.simple(rest) {
		return p
	}
	written, after := takeProtocol(rest)
	lower := strings.ToLower(written)
	if written != "" {
		rest = after
		p.protocol = &lower
	}
	slashes := false
	if slashesHost || written != "" || hasHost(rest) {
		if slashes = strings.HasPrefix(rest, "//"); slashes && !scripted(lower) {
			rest = rest[2:]
			p.slashes = true
		}
	}
	if !scripted(lower) && (slashes || written != "" && !slashed(written)) {
		rest = m.takeHost(p, rest, text)
	}
	if !scripted(lower) {
		rest = escaped(rest)
	}
	p.takeQuery(rest, lower)
	p.href = new(p.format())
	return p
}

// simple takes a path with a query, which is what most relative URLs are.
func (p *parts) simple(text string) bool {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "///") || strings.ContainsFunc(text, unicode.IsSpace) {
		return false
	}
	name, query, found := strings.Cut(text, "?")
	p.path, p.href, p.pathname = &text, &text, &name
	if found {
		p.search, p.query = new("?"+query), &query
	}
	return true
}

// hasHost reports whether a text begins with //user@.
func hasHost(text string) bool {
	rest, ok := strings.CutPrefix(text, "//")
	if !ok {
		return false
	}
	authority, _, _ := strings.Cut(rest, "/")
	user, host, found := strings.Cut(authority, "@")
	return found && user != "" && host != "" && !strings.Contains(host, "@")
}

// takeHost takes what comes before the path. It throws if that can be in no URL.
func (m *module) takeHost(p *parts, rest, text string) string {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	// Line breaks are dropped up to the end of the host.
	authority := strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(rest[:end])
	rest = rest[end:]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		p.auth = new(m.decode(authority[:at]))
		authority = authority[at+1:]
	}
	if bad := strings.IndexAny(authority, " \"%';<>\\^`{|}"); bad >= 0 {
		authority, rest = authority[:bad], authority[bad:]+rest
	}
	host, port := splitPort(authority)
	if port != "" {
		p.port = &port
	}
	v6 := strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]")
	if !v6 {
		if bad := strings.IndexByte(host, ':'); bad >= 0 {
			host, rest = host[:bad], "/"+host[bad:]+rest
		}
	}
	if len(host) > 255 {
		host = ""
	}
	host = strings.ToLower(host)
	if host != "" && !v6 {
		if host = m.legacyHost(host); host == "" || strings.ContainsAny(host, "\x00\t\n\r #%/:<>?@[\\]^|") {
			panic(m.invalid(text))
		}
	}
	if v6 && strings.ContainsAny(host, "\x00\t\n\r #%/<>?@\\^|") {
		panic(m.invalid(text))
	}
	whole := host
	if p.port != nil {
		whole += ":" + port
	}
	p.host = &whole
	if v6 {
		host = host[1 : len(host)-1]
		if !strings.HasPrefix(rest, "/") {
			rest = "/" + rest
		}
	}
	p.hostname = &host
	return rest
}

// legacyHost turns a host with characters beyond ASCII into what DNS knows.
func (m *module) legacyHost(host string) string {
	if !strings.ContainsFunc(host, func(r rune) bool { return r > 0x7f }) {
		return host
	}
	return m.domainToASCII(host)
}

// splitPort splits a port off; an empty one is dropped.
func splitPort(host string) (name, port string) {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.Trim(host[i+1:], "0123456789") != "" {
		return host, ""
	}
	return host[:i], host[i+1:]
}

// escaped escapes what must not stand in a URL.
func escaped(text string) string {
	if !strings.ContainsAny(text, "\t\n\r \"'<>\\^`{|}") {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; strings.IndexByte("\t\n\r \"'<>\\^`{|}", c) >= 0 {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// takeQuery takes what follows the host.
func (p *parts) takeQuery(rest, protocol string) {
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		p.hash = new(rest[i:])
		rest = rest[:i]
	}
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		p.search, p.query = new(rest[i:]), new(rest[i+1:])
		rest = rest[:i]
	}
	if rest != "" {
		p.pathname = &rest
	} else if slashed(protocol) && value(p.hostname) != "" {
		p.pathname = new("/")
	}
	p.setPath()
}

func (p *parts) setPath() {
	if value(p.pathname) != "" || value(p.search) != "" {
		p.path = new(value(p.pathname) + value(p.search))
	}
}

// format puts the parts together.
func (p *parts) format() string {
	auth := ""
	if value(p.auth) != "" {
		auth = encodeAuth(*p.auth) + "@"
	}
	protocol, name, hash, search := value(p.protocol), value(p.pathname), value(p.hash), value(p.search)
	host := ""
	switch {
	case value(p.host) != "":
		host = auth + *p.host
	case value(p.hostname) != "":
		host = *p.hostname
		if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
			host = "[" + host + "]"
		}
		host = auth + host
		if value(p.port) != "" {
			host += ":" + *p.port
		}
	}
	if protocol != "" && !strings.HasSuffix(protocol, ":") {
		protocol += ":"
	}
	name = strings.NewReplacer("#", "%23", "?", "%3F").Replace(name)
	if p.slashes || slashed(protocol) {
		switch {
		case p.slashes || host != "":
			if name != "" && !strings.HasPrefix(name, "/") {
				name = "/" + name
			}
			host = "//" + host
		case strings.HasPrefix(protocol, "file"):
			host = "//"
		}
	}
	search = strings.ReplaceAll(search, "#", "%23")
	if hash != "" && !strings.HasPrefix(hash, "#") {
		hash = "#" + hash
	}
	if search != "" && !strings.HasPrefix(search, "?") {
		search = "?" + search
	}
	return protocol + host + name + search + hash
}

func encodeAuth(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!'()*-._~:", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		}
	}
	return b.String()
}

// legacyClass is the class of what url.parse returns.
func (m *module) legacyClass() *native.Class {
	if m.legacy != nil {
		return m.legacy
	}
	c := native.NewClass(m.vm, "Url", 0, func(call goja.ConstructorCall) *goja.Object {
		m.write(call.This, &parts{}, goja.Null())
		return nil
	})
	c.Method("parse", 3, func(call goja.FunctionCall) goja.Value {
		this := call.This.ToObject(m.vm)
		p, query := m.parsed(call)
		m.write(this, p, query)
		return this
	})
	c.Method("format", 0, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(m.partsOf(call.This.ToObject(m.vm)).format())
	})
	resolve := func(call goja.FunctionCall) *parts {
		return m.partsOf(call.This.ToObject(m.vm)).resolve(m.relative(call.Argument(0)))
	}
	c.Method("resolve", 1, func(call goja.FunctionCall) goja.Value { return m.vm.ToValue(resolve(call).format()) })
	c.Method("resolveObject", 1, func(call goja.FunctionCall) goja.Value { return m.object(resolve(call)) })
	m.legacy = c
	return c
}

// parsed reads the arguments of url.parse.
func (m *module) parsed(call goja.FunctionCall) (p *parts, query goja.Value) {
	text := native.Text(m.vm, call.Argument(0), "url").String()
	p = m.parseLegacy(text, call.Argument(2).ToBoolean())
	query = orNull(m.vm, p.query)
	if call.Argument(1).ToBoolean() {
		query = m.values(value(p.query))
	}
	return p, query
}

// values parses a query as node:querystring does.
func (m *module) values(query string) goja.Value {
	if qs := m.rt.Require("node:querystring"); qs != nil {
		return native.Invoke(m.vm, qs, "parse", m.vm.ToValue(query))
	}
	p := &params{}
	p.read(query)
	o := m.vm.CreateObject(nil)
	for _, pair := range p.pairs {
		native.Must(o.Set(pair.name, pair.value))
	}
	return o
}

func orNull(vm *goja.Runtime, s *string) goja.Value {
	if s == nil {
		return goja.Null()
	}
	return vm.ToValue(*s)
}

// write sets the properties of a Url.
func (m *module) write(o *goja.Object, p *parts, query goja.Value) {
	slashes := goja.Null()
	if p.slashes {
		slashes = m.vm.ToValue(true)
	}
	for _, part := range []struct {
		name  string
		value goja.Value
	}{
		{"protocol", orNull(m.vm, p.protocol)},
		{"slashes", slashes},
		{"auth", orNull(m.vm, p.auth)},
		{"host", orNull(m.vm, p.host)},
		{"port", orNull(m.vm, p.port)},
		{"hostname", orNull(m.vm, p.hostname)},
		{"hash", orNull(m.vm, p.hash)},
		{"search", orNull(m.vm, p.search)},
		{"query", query},
		{"pathname", orNull(m.vm, p.pathname)},
		{"path", orNull(m.vm, p.path)},
		{"href", orNull(m.vm, p.href)},
	} {
		native.Must(o.Set(part.name, part.value))
	}
}

func (m *module) object(p *parts) *goja.Object {
	o := m.legacyClass().New()
	m.write(o, p, orNull(m.vm, p.query))
	return o
}

func (m *module) legacyParse(call goja.FunctionCall) goja.Value {
	if o, ok := call.Argument(0).(*goja.Object); ok && m.vm.InstanceOf(o, m.legacyClass().Constructor) {
		return o
	}
	p, query := m.parsed(call)
	o := m.legacyClass().New()
	m.write(o, p, query)
	return o
}

// partsOf reads the parts of a URL from an object.
func (m *module) partsOf(o *goja.Object) *parts {
	p := &parts{}
	for name, part := range map[string]**string{
		"protocol": &p.protocol, "auth": &p.auth, "host": &p.host, "port": &p.port, "hostname": &p.hostname,
		"hash": &p.hash, "search": &p.search, "pathname": &p.pathname, "path": &p.path, "href": &p.href,
	} {
		if v := o.Get(name); v != nil && !goja.IsUndefined(v) && !goja.IsNull(v) {
			*part = new(native.String(m.vm, v).String())
		}
	}
	if v := o.Get("slashes"); v != nil {
		p.slashes = v.ToBoolean()
	}
	switch query := o.Get("query").(type) {
	case goja.String:
		p.query = new(query.String())
	case *goja.Object:
		if qs := m.rt.Require("node:querystring"); qs != nil && value(p.search) == "" {
			if text := native.Invoke(m.vm, qs, "stringify", query).String(); text != "" {
				p.search = new("?" + text)
			}
		}
	}
	return p
}

// relative reads a URL that is to be resolved.
func (m *module) relative(v goja.Value) *parts {
	if o, ok := v.(*goja.Object); ok {
		return m.partsOf(o)
	}
	return m.parseLegacy(native.Text(m.vm, v, "url").String(), true)
}

func (m *module) legacyResolve(call goja.FunctionCall) goja.Value {
	return m.vm.ToValue(m.relative(call.Argument(0)).resolve(m.relative(call.Argument(1))).format())
}

func (m *module) legacyResolveObject(call goja.FunctionCall) goja.Value {
	if !call.Argument(0).ToBoolean() {
		return call.Argument(1)
	}
	return m.object(m.relative(call.Argument(0)).resolve(m.relative(call.Argument(1))))
}

// resolve returns what a relative URL means at p.
func (p *parts) resolve(rel *parts) *parts {
	out := *p
	out.hash = rel.hash
	defer func() { out.href = new(out.format()) }()
	switch {
	case value(rel.href) == "":
		return &out
	case rel.slashes && rel.protocol == nil:
		protocol := out.protocol
		out = *rel
		out.protocol = protocol
		if slashed(value(protocol)) && value(out.hostname) != "" && value(out.pathname) == "" {
			out.pathname, out.path = new("/"), new("/")
		}
		return &out
	case rel.protocol != nil && *rel.protocol != value(out.protocol):
		out.otherProtocol(rel)
		return &out
	}
	out.resolvePath(rel)
	return &out
}

// otherProtocol replaces everything, but for the slashes.
func (p *parts) otherProtocol(rel *parts) {
	if !slashed(*rel.protocol) {
		protocol := rel.protocol
		*p = *rel
		p.protocol = protocol
		return
	}
	slashes := p.slashes || rel.slashes
	r := *rel
	if value(r.host) == "" && !strings.HasPrefix(*r.protocol, "file") {
		// The first word of the path is the host after all.
		words := strings.FieldsFunc(value(r.pathname), func(c rune) bool { return c == '/' })
		rest := strings.TrimLeft(value(r.pathname), "/")
		if len(words) > 0 {
			r.host = &words[0]
			rest = rest[len(words[0]):]
		} else {
			r.host = new("")
		}
		if !strings.HasPrefix(rest, "/") {
			rest = "/" + rest
		}
		r.pathname = &rest
	}
	if value(r.hostname) == "" {
		r.hostname = r.host
	}
	if r.host == nil {
		r.host = new("")
	}
	path := p.path
	*p = parts{
		protocol: r.protocol, auth: r.auth, host: r.host, port: r.port, hostname: r.hostname,
		hash: r.hash, search: r.search, query: r.query, pathname: r.pathname, path: path, slashes: slashes,
	}
	p.setPath()
}

func segments(path *string) []string {
	if value(path) == "" {
		return nil
	}
	return strings.Split(*path, "/")
}

func (p *parts) resolvePath(rel *parts) {
	rooted := func(path *string) bool { return strings.HasPrefix(value(path), "/") }
	relRooted := value(rel.host) != "" || rooted(rel.pathname)
	absolute := relRooted || rooted(p.pathname) || value(p.host) != "" && value(rel.pathname) != ""
	noDots := absolute
	from, to := segments(p.pathname), segments(rel.pathname)

	// Without slashes after the protocol the host is the first part of the path.
	hostInPath := value(p.protocol) != "" && !slashed(*p.protocol)
	r := *rel
	if hostInPath {
		from = withHost(from, value(p.host))
		p.host, p.hostname, p.port = new(""), new(""), nil
		if r.protocol != nil {
			to = withHost(to, value(r.host))
			r.host, r.hostname, r.port, p.auth = nil, nil, nil, nil
		}
		absolute = absolute && (len(to) > 0 && to[0] == "" || len(from) > 0 && from[0] == "")
	}
	switch {
	case relRooted:
		if r.host != nil {
			if value(p.host) != *r.host {
				p.auth = nil
			}
			p.host, p.port = r.host, r.port
		}
		if r.hostname != nil {
			if value(p.hostname) != *r.hostname {
				p.auth = nil
			}
			p.hostname = r.hostname
		}
		p.search, p.query = r.search, r.query
		from = to
	case len(to) > 0:
		if len(from) > 0 {
			from = from[:len(from)-1]
		}
		from = append(slices.Clone(from), to...)
		p.search, p.query = r.search, r.query
	case r.search != nil:
		if hostInPath {
			first := ""
			if len(from) > 0 {
				first = from[0]
			}
			p.hostFromPath(first)
		}
		p.search, p.query = r.search, r.query
		p.path = new(value(p.pathname) + value(p.search))
		return
	}
	if len(from) == 0 {
		p.pathname, p.path = nil, nil
		if value(p.search) != "" {
			p.path = new("/" + *p.search)
		}
		return
	}
	from = p.withoutDots(from, absolute, noDots, value(p.host) != "" || value(r.host) != "")
	isAbsolute := len(from) > 0 && (from[0] == "" || strings.HasPrefix(from[0], "/"))
	if hostInPath {
		host := ""
		if !isAbsolute && len(from) > 0 {
			host, from = from[0], from[1:]
		}
		p.hostFromPath(host)
	}
	if (absolute || value(p.host) != "" && len(from) > 0) && !isAbsolute {
		from = append([]string{""}, from...)
	}
	if len(from) == 0 {
		p.pathname, p.path = nil, nil
	} else {
		p.pathname = new(strings.Join(from, "/"))
	}
	if p.pathname != nil || p.search != nil {
		p.path = new(value(p.pathname) + value(p.search))
	}
	if value(r.auth) != "" {
		p.auth = r.auth
	}
	p.slashes = p.slashes || r.slashes
}

// withHost puts a host before a path.
func withHost(path []string, host string) []string {
	if host == "" {
		return path
	}
	path = slices.Clone(path)
	if len(path) > 0 && path[0] == "" {
		path[0] = host
		return path
	}
	return append([]string{host}, path...)
}

// hostFromPath takes a host that was a part of a path, which may have a user before it.
func (p *parts) hostFromPath(host string) {
	if user, name, found := strings.Cut(host, "@"); found && user != "" {
		p.auth = &user
		host, _, _ = strings.Cut(name, "@")
	}
	p.host, p.hostname = &host, &host
}

// withoutDots resolves . and .. in a path.
func (p *parts) withoutDots(path []string, absolute, noDots, hosted bool) []string {
	last := path[len(path)-1]
	trailing := last == "" || (hosted || len(path) > 1) && (last == "." || last == "..")
	var kept []string // backwards
	up := 0
	for _, part := range slices.Backward(path) {
		switch {
		case part == ".":
		case part == "..":
			up++
		case up > 0:
			up--
		default:
			kept = append(kept, part)
		}
	}
	slices.Reverse(kept)
	if !absolute && !noDots {
		for ; up > 0; up-- {
			kept = append([]string{".."}, kept...)
		}
	}
	if absolute && (len(kept) == 0 || kept[0] != "" && !strings.HasPrefix(kept[0], "/")) {
		kept = append([]string{""}, kept...)
	}
	if trailing && !strings.HasSuffix(strings.Join(kept, "/"), "/") {
		kept = append(kept, "")
	}
	return kept
}

package url

import (
	"strings"

	"github.com/dop251/goja"
	whatwg "github.com/nlnwa/whatwg-url/url"

	"mcpx/stdlib/internal/native"
)

// The parts of a URL that a pattern has a component for, in their order.
const (
	protocolPart = iota
	usernamePart
	passwordPart
	hostnamePart
	portPart
	pathnamePart
	searchPart
	hashPart
	partCount
)

var partNames = [partCount]string{"protocol", "username", "password", "hostname", "port", "pathname", "search", "hash"}

// pattern is what stands behind a URLPattern.
type pattern struct{ components [partCount]*component }

// component is the pattern of one part of a URL.
type component struct {
	text   string
	names  []string
	regexp *goja.Object
	exec   goja.Callable
	groups bool // it has regular expressions of the script's own
}

// initial is a URLPatternInit: a text for each part, nil where there is none.
type initial struct {
	parts   [partCount]*string
	baseURL *string
}

func (m *module) newPatternClass() goja.Value {
	c := native.NewClass(m.vm, "URLPattern", 0, func(call goja.ConstructorCall) *goja.Object {
		m.patterns.Set(call.This, m.newPattern(call))
		return nil
	})
	of := func(this goja.Value) *pattern {
		p, ok := m.patterns.Get(this)
		if !ok {
			panic(native.Error(m.vm, "TypeError", "ERR_INVALID_THIS", `Value of "this" must be of type URLPattern`))
		}
		return p
	}
	c.Tag("URLPattern")
	for i, name := range partNames {
		c.Getter(name, func(this goja.Value) goja.Value { return m.vm.ToValue(of(this).components[i].text) })
	}
	c.Getter("hasRegExpGroups", func(this goja.Value) goja.Value {
		for _, component := range of(this).components {
			if component.groups {
				return m.vm.ToValue(true)
			}
		}
		return m.vm.ToValue(false)
	})
	c.Method("test", 0, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(m.match(of(call.This), call) != nil)
	})
	c.Method("exec", 0, func(call goja.FunctionCall) goja.Value {
		if o := m.match(of(call.This), call); o != nil {
			return o
		}
		return goja.Null()
	})
	c.Inspected(0, func(this goja.Value) *goja.Object {
		o := m.vm.NewObject()
		for i, name := range partNames {
			native.Must(o.Set(name, of(this).components[i].text))
		}
		return o
	})
	return c.Constructor
}

func (m *module) wrongPattern(message string) *goja.Object {
	return native.Error(m.vm, "TypeError", "ERR_INVALID_URL_PATTERN", message)
}

// initialOf reads a URLPatternInit.
func (m *module) initialOf(o *goja.Object) *initial {
	in := &initial{}
	read := func(name string) *string {
		if v := o.Get(name); v != nil && !goja.IsUndefined(v) {
			return new(native.String(m.vm, v).String())
		}
		return nil
	}
	for i, name := range partNames {
		in.parts[i] = read(name)
	}
	in.baseURL = read("baseURL")
	return in
}

// patternArguments reads an input and a base URL. A URL is as good as its text.
func (m *module) patternArguments(input, base goja.Value) (text *string, in *initial, baseURL *string) {
	if !goja.IsUndefined(base) {
		baseURL = new(native.String(m.vm, base).String())
	}
	o, ok := input.(*goja.Object)
	if _, isURL := m.urls.Get(input); ok && !isURL {
		return nil, m.initialOf(o), baseURL
	}
	if goja.IsUndefined(input) {
		return nil, &initial{}, baseURL
	}
	return new(native.String(m.vm, input).String()), nil, baseURL
}

func (m *module) newPattern(call goja.ConstructorCall) *pattern {
	base, options := call.Argument(1), call.Argument(2)
	if _, ok := base.(*goja.Object); ok {
		base, options = goja.Undefined(), base
	}
	text, in, baseURL := m.patternArguments(call.Argument(0), base)
	switch {
	case text != nil:
		in = m.parsePattern(*text)
		if baseURL == nil && in.parts[protocolPart] == nil {
			panic(m.wrongPattern("a relative pattern needs a base URL"))
		}
		in.baseURL = baseURL
	case baseURL != nil:
		panic(m.wrongPattern("a base URL goes into the object that has the parts"))
	}
	ignoreCase := false
	if o, ok := options.(*goja.Object); ok {
		if v := o.Get("ignoreCase"); v != nil {
			ignoreCase = v.ToBoolean()
		}
	}
	whole := m.complete(in, true)
	for i, part := range whole {
		if part == nil {
			whole[i] = new("*")
		}
	}
	if port, ok := defaultPort(*whole[protocolPart]); ok && *whole[portPart] == port {
		whole[portPart] = new("")
	}
	p := &pattern{}
	compile := func(part int, o patternOptions, encode func(string) string) {
		p.components[part] = m.compilePattern(*whole[part], o, encode)
	}
	plain := patternOptions{}
	folded := patternOptions{ignoreCase: ignoreCase}
	compile(protocolPart, plain, m.encodeProtocol)
	compile(usernamePart, plain, m.encodeUser)
	compile(passwordPart, plain, m.encodePassword)
	encodeHost := m.encodeHost
	if isIPv6Pattern(*whole[hostnamePart]) {
		encodeHost = m.encodeIPv6
	}
	compile(hostnamePart, patternOptions{delimiter: "."}, encodeHost)
	compile(portPart, plain, func(s string) string { return m.encodePort(s, "") })
	if m.matchesSpecial(p.components[protocolPart]) {
		compile(pathnamePart, patternOptions{delimiter: "/", prefix: "/", ignoreCase: ignoreCase}, m.encodePath)
	} else {
		compile(pathnamePart, folded, m.encodeOpaque)
	}
	compile(searchPart, folded, m.encodeSearch)
	compile(hashPart, folded, m.encodeHash)
	return p
}

func isIPv6Pattern(text string) bool {
	return len(text) > 1 && (text[0] == '[' || strings.HasPrefix(text, "{[") || strings.HasPrefix(text, `\[`))
}

func defaultPort(protocol string) (string, bool) {
	switch protocol {
	case "http", "ws":
		return "80", true
	case "https", "wss":
		return "443", true
	case "ftp":
		return "21", true
	case "file":
		return "", true
	}
	return "", false
}

// matchesSpecial reports whether a protocol may be one whose URLs have slashes.
func (m *module) matchesSpecial(c *component) bool {
	for _, scheme := range []string{"http", "https", "ws", "wss", "ftp", "file"} {
		if m.execute(c, scheme) != nil {
			return true
		}
	}
	return false
}

// execute returns what a component's regular expression finds, or nil.
func (m *module) execute(c *component, text string) *goja.Object {
	found, _ := native.Call(c.exec, c.regexp, m.vm.ToValue(text)).(*goja.Object)
	return found
}

// complete fills in what a URLPatternInit leaves to its base URL. If it is for a pattern
// texts are patterns, else parts of a URL.
func (m *module) complete(in *initial, isPattern bool) [partCount]*string {
	var out [partCount]*string
	if !isPattern {
		for i := range out {
			out[i] = new("")
		}
	}
	var base *whatwg.Url
	if in.baseURL != nil {
		u, err := m.parser.Parse(*in.baseURL)
		if err != nil {
			panic(m.wrongPattern("the base URL is not valid"))
		}
		base = u
		inherit := func(part int, value string, unless ...int) {
			for _, i := range unless {
				if in.parts[i] != nil {
					return
				}
			}
			if isPattern {
				value = escapePattern(value)
			}
			out[part] = &value
		}
		inherit(protocolPart, u.Scheme(), protocolPart)
		if !isPattern {
			inherit(usernamePart, u.Username(), protocolPart, hostnamePart, portPart, usernamePart)
			inherit(passwordPart, u.Password(), protocolPart, hostnamePart, portPart, usernamePart, passwordPart)
		}
		inherit(hostnamePart, u.Hostname(), protocolPart, hostnamePart)
		inherit(portPart, u.Port(), protocolPart, hostnamePart, portPart)
		inherit(pathnamePart, u.Pathname(), protocolPart, hostnamePart, portPart, pathnamePart)
		inherit(searchPart, u.Query(), protocolPart, hostnamePart, portPart, pathnamePart, searchPart)
		inherit(hashPart, u.Fragment(), protocolPart, hostnamePart, portPart, pathnamePart, searchPart, hashPart)
	}
	set := func(part int, text func(string) string, encode func(string) string) {
		if in.parts[part] == nil {
			return
		}
		value := text(*in.parts[part])
		if !isPattern {
			value = encode(value)
		}
		out[part] = &value
	}
	same := func(s string) string { return s }
	set(protocolPart, func(s string) string { return strings.TrimSuffix(s, ":") }, m.encodeProtocol)
	protocol := value(out[protocolPart])
	set(usernamePart, same, m.encodeUser)
	set(passwordPart, same, m.encodePassword)
	set(hostnamePart, same, m.encodeHost)
	set(portPart, same, func(s string) string { return m.encodePort(s, protocol) })
	set(pathnamePart, func(s string) string {
		if base == nil || base.OpaquePath() || isAbsolute(s, isPattern) {
			return s
		}
		path := base.Pathname()
		if isPattern {
			path = escapePattern(path)
		}
		return path[:strings.LastIndexByte(path, '/')+1] + s
	}, func(s string) string {
		if _, special := defaultPort(protocol); special || protocol == "" {
			return m.encodePath(s)
		}
		return m.encodeOpaque(s)
	})
	set(searchPart, func(s string) string { return strings.TrimPrefix(s, "?") }, m.encodeSearch)
	set(hashPart, func(s string) string { return strings.TrimPrefix(s, "#") }, m.encodeHash)
	return out
}

func isAbsolute(path string, isPattern bool) bool {
	if strings.HasPrefix(path, "/") {
		return true
	}
	return isPattern && (strings.HasPrefix(path, `\/`) || strings.HasPrefix(path, "{/"))
}

// match is exec, with nil if there is no match.
func (m *module) match(p *pattern, call goja.FunctionCall) *goja.Object {
	text, in, baseURL := m.patternArguments(call.Argument(0), call.Argument(1))
	inputs := []any{call.Argument(0)}
	if goja.IsUndefined(call.Argument(0)) {
		inputs[0] = m.vm.NewObject()
	}
	var parts [partCount]*string
	switch {
	case text == nil && baseURL != nil:
		panic(m.wrongPattern("a base URL goes into the object that has the parts"))
	case text == nil:
		if m.vm.Try(func() { parts = m.complete(in, false) }) != nil {
			return nil // what cannot be a URL matches nothing
		}
	default:
		u, err := m.tryParse(*text, baseURL)
		if err != nil {
			return nil
		}
		if inputs[0] = *text; baseURL != nil {
			inputs = append(inputs, *baseURL)
		}
		parts = [partCount]*string{
			new(u.Scheme()), new(u.Username()), new(u.Password()), new(u.Hostname()), new(u.Port()), new(u.Pathname()), new(u.Query()), new(u.Fragment()),
		}
	}
	result := m.vm.NewObject()
	native.Must(result.Set("inputs", m.vm.NewArray(inputs...)))
	for i, c := range p.components {
		found := m.execute(c, *parts[i])
		if found == nil {
			return nil
		}
		groups := m.vm.NewObject()
		for j, name := range c.names {
			v := found.Get(m.vm.ToValue(j + 1).String())
			if v == nil {
				v = goja.Undefined()
			}
			native.Must(groups.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE))
		}
		o := m.vm.NewObject()
		native.Must(o.Set("input", *parts[i]))
		native.Must(o.Set("groups", groups))
		native.Must(result.Set(partNames[i], o))
	}
	return result
}

// The following bring a part into the form that it has in a URL, or throw.

func (m *module) dummy() *whatwg.Url {
	u, err := m.parser.Parse("https://dummy.invalid/")
	if err != nil {
		panic(m.wrongPattern(err.Error()))
	}
	return u
}

func (m *module) encodeProtocol(text string) string {
	if text == "" {
		return ""
	}
	u, err := m.parser.Parse(text + "://dummy.invalid/")
	if err != nil {
		panic(m.wrongPattern("invalid protocol '" + text + "'"))
	}
	return u.Scheme()
}

func (m *module) encodeUser(text string) string {
	u := m.dummy()
	u.SetUsername(text)
	return u.Username()
}

func (m *module) encodePassword(text string) string {
	u := m.dummy()
	u.SetPassword(text)
	return u.Password()
}

func (m *module) encodeHost(text string) string {
	if text == "" {
		return ""
	}
	u := m.dummy()
	if _, err := m.parser.BasicParser(text, nil, u, whatwg.StateHostname); err != nil || strings.ContainsAny(text, "/?#:") && text[0] != '[' {
		panic(m.wrongPattern("invalid hostname '" + text + "'"))
	}
	return u.Hostname()
}

func (m *module) encodeIPv6(text string) string {
	if strings.Trim(text, "0123456789abcdefABCDEF[]:") != "" {
		panic(m.wrongPattern("invalid hostname '" + text + "'"))
	}
	return strings.ToLower(text)
}

func (m *module) encodePort(text, protocol string) string {
	if text == "" {
		return ""
	}
	u := m.dummy()
	if protocol != "" {
		u.SetProtocol(protocol)
	}
	if strings.Trim(text, "0123456789") != "" {
		panic(m.wrongPattern("invalid port '" + text + "'"))
	}
	before := u.Port()
	u.SetPort(text)
	if port, known := defaultPort(protocol); u.Port() == before && !(known && port == text) && (protocol != "" || text != "443") {
		panic(m.wrongPattern("invalid port '" + text + "'"))
	} else if protocol == "" && text == "443" {
		return text
	}
	return u.Port()
}

func (m *module) encodePath(text string) string {
	if text == "" {
		return ""
	}
	u := m.dummy()
	if strings.HasPrefix(text, "/") {
		u.SetPathname(text)
		return u.Pathname()
	}
	u.SetPathname("/-" + text)
	return strings.TrimPrefix(u.Pathname(), "/-")
}

func (m *module) encodeOpaque(text string) string {
	return m.parser.PercentEncodeString(text, whatwg.C0PercentEncodeSet)
}

func (m *module) encodeSearch(text string) string {
	if text == "" {
		return ""
	}
	u := m.dummy()
	u.SetSearch("?" + text)
	return u.Query()
}

func (m *module) encodeHash(text string) string {
	if text == "" {
		return ""
	}
	u := m.dummy()
	u.SetHash("#" + text)
	return u.Fragment()
}

// Package url is the globals URL, URLSearchParams and URLPattern, and node:url with what
// it had before them.
//
// Parsing is that of the URL Standard, by a library. A script's functions that turn paths
// into URLs know of the machine only what engine.Ambient says: the platform and the
// working directory.
package url

import (
	_ "embed"
	"strings"

	"github.com/dop251/goja"
	whatwg "github.com/nlnwa/whatwg-url/url"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

//go:embed url.d.ts
var declarations string

// Module returns the globals and node:url.
func Module() engine.Module {
	return engine.Module{
		Name:         "node:url",
		Globals:      []string{"URL", "URLSearchParams", "URLPattern"},
		Declarations: declarations,
		Make:         func(rt *engine.Runtime) *goja.Object { return newModule(rt).exports() },
	}
}

type module struct {
	rt *engine.Runtime
	vm *goja.Runtime

	parser   whatwg.Parser
	urls     *native.Slot[*link]
	params   *native.Slot[*params]
	url      *native.Class
	search   *native.Class
	entries  *native.Iteration
	patterns *native.Slot[*pattern]
	legacy   *native.Class
}

// address is a URL that can be replaced, which a URL and its URLSearchParams share.
type address struct{ *whatwg.Url }

// link is what stands behind a URL.
type link struct {
	at     *address
	params *params      // once they were asked for
	object *goja.Object // of params
}

func newModule(rt *engine.Runtime) *module {
	m := &module{
		rt: rt, vm: rt.VM(), parser: whatwg.NewParser(),
		urls: native.NewSlot[*link](), params: native.NewSlot[*params](), patterns: native.NewSlot[*pattern](),
	}
	m.search = m.newSearchParams()
	m.url = m.newURL()
	return m
}

func (m *module) exports() *goja.Object {
	e := native.NewExports(m.vm)
	e.Lazy("Url", func() goja.Value { return m.legacyClass().Constructor })
	e.Func("parse", 3, func(call goja.FunctionCall) goja.Value { return m.legacyParse(call) })
	e.Func("resolve", 2, m.legacyResolve)
	e.Func("resolveObject", 2, m.legacyResolveObject)
	e.Func("format", 2, m.format)
	e.Value("URL", m.url.Constructor)
	e.Value("URLSearchParams", m.search.Constructor)
	e.Lazy("URLPattern", func() goja.Value { return m.newPatternClass() })
	e.Func("domainToASCII", 1, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(m.domainToASCII(native.String(m.vm, call.Argument(0)).String()))
	})
	e.Func("domainToUnicode", 1, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(domainToUnicode(m.domainToASCII(native.String(m.vm, call.Argument(0)).String())))
	})
	e.Func("pathToFileURL", 2, m.pathToFileURL)
	e.Func("fileURLToPath", 2, m.fileURLToPath)
	e.Func("urlToHttpOptions", 1, m.urlToHTTPOptions)
	return e.Object
}

// parse parses a URL, relative to base unless that is nil. It throws what the
// constructor throws.
func (m *module) parse(input string, base *string) *whatwg.Url {
	u, err := m.tryParse(input, base)
	if err != nil {
		e := m.invalid(input)
		if base != nil {
			native.Must(e.Set("base", *base))
		}
		panic(e)
	}
	return u
}

// invalid is the error about a text that is no URL.
func (m *module) invalid(input string) *goja.Object {
	e := native.Error(m.vm, "TypeError", "ERR_INVALID_URL", "Invalid URL")
	native.Must(e.Set("input", input))
	return e
}

func (m *module) tryParse(input string, base *string) (*whatwg.Url, error) {
	if base == nil {
		return m.parser.Parse(input)
	}
	b, err := m.parser.Parse(*base)
	if err != nil {
		return nil, err
	}
	return b.Parse(input)
}

// arguments reads those of the constructor, and of the functions that are like it.
func (m *module) arguments(list []goja.Value) (input string, base *string) {
	if len(list) == 0 {
		panic(m.missing(`The "url" argument must be specified`))
	}
	input = native.String(m.vm, list[0]).String()
	if len(list) > 1 && !goja.IsUndefined(list[1]) {
		text := native.String(m.vm, list[1]).String()
		base = &text
	}
	return input, base
}

func (m *module) missing(message string) *goja.Object {
	return native.Error(m.vm, "TypeError", "ERR_MISSING_ARGS", message)
}

// wrap returns the URL object of a parsed URL.
func (m *module) wrap(u *whatwg.Url) *goja.Object {
	o := m.url.New()
	m.urls.Set(o, &link{at: &address{u}})
	return o
}

func (m *module) newURL() *native.Class {
	c := native.NewClass(m.vm, "URL", 1, func(call goja.ConstructorCall) *goja.Object {
		input, base := m.arguments(call.Arguments)
		m.urls.Set(call.This, &link{at: &address{m.parse(input, base)}})
		return nil
	})
	c.Tag("URL")
	c.Static("parse", 1, func(call goja.FunctionCall) goja.Value {
		u, err := m.tryParse(m.arguments(call.Arguments))
		if err != nil {
			return goja.Null()
		}
		return m.wrap(u)
	})
	c.Static("canParse", 1, func(call goja.FunctionCall) goja.Value {
		_, err := m.tryParse(m.arguments(call.Arguments))
		return m.vm.ToValue(err == nil)
	})
	href := func(call goja.FunctionCall) goja.Value { return m.vm.ToValue(m.link(call.This).at.Href(false)) }
	c.Method("toString", 0, href)
	for _, p := range properties {
		get := func(this goja.Value) goja.Value { return m.vm.ToValue(p.get(m.link(this).at.Url)) }
		if p.set == nil {
			c.Getter(p.name, get)
			continue
		}
		c.Accessor(p.name, get, func(this, v goja.Value) {
			l := m.link(this)
			p.set(l.at.Url, native.String(m.vm, v).String())
			if p.name == "search" && l.params != nil {
				l.params.read(l.at.Query())
			}
		})
	}
	c.Accessor("href",
		func(this goja.Value) goja.Value { return m.vm.ToValue(m.link(this).at.Href(false)) },
		func(this, v goja.Value) {
			l := m.link(this)
			l.at.Url = m.parse(native.String(m.vm, v).String(), nil)
			if l.params != nil {
				l.params.read(l.at.Query())
			}
		})
	c.Getter("searchParams", func(this goja.Value) goja.Value { return m.searchParams(m.link(this)) })
	c.Method("toJSON", 0, href)
	c.Inspected(0, func(this goja.Value) *goja.Object {
		l := m.link(this)
		o := m.vm.NewObject()
		for _, name := range shown {
			native.Must(o.Set(name, m.show(l, name)))
		}
		return o
	})
	return c
}

// link returns what stands behind a URL.
func (m *module) link(this goja.Value) *link {
	l, ok := m.urls.Get(this)
	if !ok {
		panic(m.vm.NewTypeError("Receiver must be an instance of class URL"))
	}
	return l
}

// searchParams returns the URLSearchParams of a URL, the same each time.
func (m *module) searchParams(l *link) *goja.Object {
	if l.params == nil {
		l.params = &params{of: l.at}
		l.params.read(l.at.Query())
		l.object = m.search.New()
		m.params.Set(l.object, l.params)
	}
	return l.object
}

// shown are the properties that inspection shows.
var shown = [...]string{
	"href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "searchParams", "hash",
}

func (m *module) show(l *link, name string) any {
	switch name {
	case "href":
		return l.at.Href(false)
	case "searchParams":
		return m.searchParams(l)
	}
	for _, p := range properties {
		if p.name == name {
			return p.get(l.at.Url)
		}
	}
	return nil
}

// A property is a part of a URL, which can be written unless set is nil.
type property struct {
	name string
	get  func(*whatwg.Url) string
	set  func(*whatwg.Url, string)
}

var properties = [...]property{
	{"origin", origin, nil},
	{"protocol", (*whatwg.Url).Protocol, (*whatwg.Url).SetProtocol},
	{"username", (*whatwg.Url).Username, (*whatwg.Url).SetUsername},
	{"password", (*whatwg.Url).Password, (*whatwg.Url).SetPassword},
	{"host", (*whatwg.Url).Host, (*whatwg.Url).SetHost},
	{"hostname", (*whatwg.Url).Hostname, (*whatwg.Url).SetHostname},
	{"port", (*whatwg.Url).Port, (*whatwg.Url).SetPort},
	{"pathname", (*whatwg.Url).Pathname, (*whatwg.Url).SetPathname},
	{"search", (*whatwg.Url).Search, (*whatwg.Url).SetSearch},
	{"hash", (*whatwg.Url).Hash, (*whatwg.Url).SetHash},
}

// origin is where a URL comes from, "null" if that is nowhere in particular.
func origin(u *whatwg.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Protocol() + "//" + u.Host()
	case "blob":
		inner, err := whatwg.Parse(u.Pathname())
		if err == nil && strings.HasPrefix(inner.Scheme(), "http") {
			return origin(inner)
		}
	}
	return "null"
}

package url

import (
	"fmt"
	neturl "net/url"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"

	"mcpx/stdlib/internal/native"
)

// domainToASCII is a domain as a URL has it, or "" if it cannot be one.
func (m *module) domainToASCII(domain string) string {
	u, err := m.parser.Parse("ws://" + domain)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func domainToUnicode(domain string) string {
	text, err := idna.Display.ToUnicode(domain)
	if err != nil {
		return domain
	}
	return text
}

// windows reports whether paths are those of Windows.
func (m *module) windows(options goja.Value) bool {
	if o, ok := options.(*goja.Object); ok {
		if v := o.Get("windows"); v != nil && !goja.IsUndefined(v) && !goja.IsNull(v) {
			return v.ToBoolean()
		}
	}
	return m.rt.Ambient().Platform == "win32"
}

func (m *module) fileURLToPath(call goja.FunctionCall) goja.Value {
	var u *whatwg.Url
	if s, ok := call.Argument(0).(goja.String); ok {
		u = m.parse(s.String(), nil)
	} else if l, ok := m.urls.Get(call.Argument(0)); ok {
		u = l.at.Url
	} else {
		panic(native.InvalidType(m.vm, "path", "of type string or an instance of URL", call.Argument(0)))
	}
	if u.Scheme() != "file" {
		panic(native.Error(m.vm, "TypeError", "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file"))
	}
	wrong := func(what string) *goja.Object {
		return native.Error(m.vm, "TypeError", "ERR_INVALID_FILE_URL_PATH", "File URL path "+what)
	}
	name, lower := u.Pathname(), strings.ToLower(u.Pathname())
	if !m.windows(call.Argument(1)) {
		if u.Hostname() != "" {
			platform := m.rt.Ambient().Platform
			if platform == "" {
				platform = "linux"
			}
			panic(native.Error(m.vm, "TypeError", "ERR_INVALID_FILE_URL_HOST", `File URL host must be "localhost" or empty on `+platform))
		}
		if strings.Contains(lower, "%2f") {
			panic(wrong("must not include encoded / characters"))
		}
		return m.vm.ToValue(m.decode(name))
	}
	if strings.Contains(lower, "%2f") || strings.Contains(lower, "%5c") {
		panic(wrong(`must not include encoded \ or / characters`))
	}
	name = m.decode(strings.ReplaceAll(name, "/", `\`))
	if host := u.Hostname(); host != "" {
		return m.vm.ToValue(`\\` + domainToUnicode(host) + name)
	}
	if len(name) < 3 || name[1]|0x20 < 'a' || name[1]|0x20 > 'z' || name[2] != ':' {
		panic(wrong("must be absolute"))
	}
	return m.vm.ToValue(name[1:])
}

// decode is decodeURIComponent.
func (m *module) decode(text string) string {
	decoded, err := neturl.PathUnescape(text)
	if err != nil || !utf8.ValidString(decoded) {
		e, failed := m.vm.New(m.vm.Get("URIError"), m.vm.ToValue("URI malformed"))
		native.Must(failed)
		panic(e)
	}
	return decoded
}

func (m *module) pathToFileURL(call goja.FunctionCall) goja.Value {
	name := native.Text(m.vm, call.Argument(0), "path").String()
	windows := m.windows(call.Argument(1))
	host, resolved := "", ""
	if windows {
		slashed := strings.ReplaceAll(name, `\`, "/")
		rest, unc := strings.CutPrefix(slashed, "//")
		switch {
		case unc:
			rest = strings.TrimPrefix(rest, "?/UNC/")
			share := ""
			host, share, unc = strings.Cut(rest, "/")
			if !unc {
				panic(native.InvalidValue(m.vm, "path", call.Argument(0), "Missing UNC resource path"))
			}
			host, resolved = m.domainToASCII(host), "/"+share
		case len(slashed) > 1 && slashed[1] == ':':
			resolved = "/" + slashed[:2] + path.Join("/", slashed[2:])
		default:
			resolved = path.Join("/", strings.ReplaceAll(m.rt.Ambient().Cwd, `\`, "/"), slashed)
		}
		name = slashed
	} else {
		resolved = name
		if !path.IsAbs(name) {
			resolved = path.Join("/", m.rt.Ambient().Cwd, name)
		}
		resolved = path.Clean(resolved)
	}
	if strings.HasSuffix(name, "/") && !strings.HasSuffix(resolved, "/") {
		resolved += "/"
	}
	escape := []string{"%", "%25", "\n", "%0A", "\r", "%0D", "\t", "%09", "?", "%3F", "#", "%23", "|", "%7C", "^", "%5E", "[", "%5B", "]", "%5D", "~", "%7E"}
	if !windows {
		escape = append(escape, `\`, "%5C")
	}
	return m.wrap(m.parse("file://"+host+strings.NewReplacer(escape...).Replace(resolved), nil))
}

func (m *module) urlToHTTPOptions(call goja.FunctionCall) goja.Value {
	l, ok := m.urls.Get(call.Argument(0))
	if !ok {
		panic(native.InvalidType(m.vm, "url", "an instance of URL", call.Argument(0)))
	}
	u := l.at.Url
	o := m.vm.CreateObject(nil)
	set := func(name string, v any) { native.Must(o.Set(name, v)) }
	given := call.Argument(0).(*goja.Object)
	for _, key := range given.Keys() {
		set(key, given.Get(key))
	}
	host := u.Hostname()
	if strings.HasPrefix(host, "[") {
		host = strings.Trim(host, "[]")
	}
	set("protocol", u.Protocol())
	set("hostname", host)
	set("hash", u.Hash())
	set("search", u.Search())
	set("pathname", u.Pathname())
	set("path", u.Pathname()+u.Search())
	set("href", u.Href(false))
	if port, err := strconv.Atoi(u.Port()); err == nil {
		set("port", port)
	}
	if u.Username() != "" || u.Password() != "" {
		set("auth", m.decode(u.Username())+":"+m.decode(u.Password()))
	}
	return o
}

// format writes a URL, or an object that has the parts of one, as text.
func (m *module) format(call goja.FunctionCall) goja.Value {
	switch v := call.Argument(0).(type) {
	case goja.String:
		return m.vm.ToValue(m.parseLegacy(v.String(), false).format())
	case *goja.Object:
		if _, function := goja.AssertFunction(v); function {
			break
		}
		l, ok := m.urls.Get(v)
		if !ok {
			return m.vm.ToValue(m.partsOf(v).format())
		}
		return m.vm.ToValue(m.formatURL(l.at.Url, call.Argument(1)))
	}
	panic(native.InvalidType(m.vm, "urlObject", "one of type object or string", call.Argument(0)))
}

func (m *module) formatURL(u *whatwg.Url, options goja.Value) string {
	o, ok := options.(*goja.Object)
	if !ok && options.ToBoolean() {
		panic(native.InvalidType(m.vm, "options", "of type object", options))
	}
	option := func(name string, missing bool) bool {
		if o == nil {
			return missing
		}
		v := o.Get(name)
		if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
			return missing
		}
		return v.ToBoolean()
	}
	u, err := m.parser.Parse(u.Href(false)) // a copy to change
	if err != nil {
		return ""
	}
	if !option("fragment", true) {
		u.SetHash("")
	}
	if !option("search", true) {
		u.SetSearch("")
	}
	if !option("auth", true) {
		u.SetUsername("")
		u.SetPassword("")
	}
	href := u.Href(false)
	if option("unicode", false) && u.Host() != "" {
		host := u.Hostname()
		from := strings.Index(href, "//") + 2
		if at := strings.IndexByte(href[from:], '@'); u.Username()+u.Password() != "" && at >= 0 {
			from += at
		}
		if i := strings.Index(href[from:], host); i >= 0 {
			href = fmt.Sprint(href[:from+i], domainToUnicode(host), href[from+i+len(host):])
		}
	}
	return href
}

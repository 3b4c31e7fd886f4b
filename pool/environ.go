package pool

import (
	"cmp"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"mcpx/internal/config"
	"mcpx/internal/process"

	"golang.org/x/net/http/httpproxy"
)

// inherited names what a server gets of the caller's environment: what programs need
// to run, find their files and reach the network. Everything else, tokens above all,
// stays out unless the entry names it. A final * matches any rest.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TERM", "TZ", "TMPDIR", "TEMP", "TMP", "XDG_*",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
}

var inheritedWindows = []string{
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "APPDATA", "LOCALAPPDATA", "ProgramData",
	"ProgramFiles", "ProgramFiles(x86)", "ProgramW6432", "CommonProgramFiles", "USERPROFILE", "USERNAME",
	"HOMEDRIVE", "HOMEPATH", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "Path",
}

// childEnviron is the environment of a server: the allowed part of the caller's, or
// all of it with inheritEnv, over it what mcpx tells it, and over that what the entry sets.
func childEnviron(environ []string, def *config.Definition, told []string) []string {
	return environOn(runtime.GOOS == "windows", environ, def, told)
}

// environOn is childEnviron on Windows, where names are the same in capitals and not, or
// elsewhere.
func environOn(windows bool, environ []string, def *config.Definition, told []string) []string {
	same := func(a, b string) bool { return a == b || windows && strings.EqualFold(a, b) }
	set := func(name string) bool {
		for key := range def.Env {
			if same(key, name) {
				return true
			}
		}
		return false
	}
	ours := func(name string) bool {
		return slices.ContainsFunc(told, func(kv string) bool { key, _, _ := strings.Cut(kv, "="); return same(key, name) })
	}
	var out []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if !set(name) && !ours(name) && (def.InheritEnv || allowed(windows, name)) {
			out = append(out, kv)
		}
	}
	for _, kv := range told {
		name, _, _ := strings.Cut(kv, "=")
		if !set(name) {
			out = append(out, kv)
		}
	}
	for name, value := range def.Env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// allowed reports whether a variable of the caller is every server's to see.
func allowed(windows bool, name string) bool {
	if windows {
		return matches(inherited, strings.ToUpper(name)) || slices.ContainsFunc(inheritedWindows, func(p string) bool { return strings.EqualFold(p, name) })
	}
	return matches(inherited, name)
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, open := strings.CutSuffix(p, "*")
		return p == name || open && strings.HasPrefix(name, prefix)
	})
}

// proxies returns the proxy by which an address is reached, as the caller's environment
// says it to most programs: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY for what neither names,
// and NO_PROXY, in capitals or not. This machine itself is never reached by a proxy.
func proxies(environ []string) func(*url.URL) (*url.URL, error) {
	get := func(name string) string {
		return cmp.Or(process.Getenv(environ, name), process.Getenv(environ, strings.ToLower(name)))
	}
	all := get("ALL_PROXY")
	c := httpproxy.Config{
		HTTPProxy:  cmp.Or(get("HTTP_PROXY"), all),
		HTTPSProxy: cmp.Or(get("HTTPS_PROXY"), all),
		NoProxy:    get("NO_PROXY"),
	}
	return c.ProxyFunc()
}

package url

import (
	"os/exec"
	"strings"
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/buffer"
	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/querystring"
)

func modules() []engine.Module {
	return []engine.Module{Module(), querystring.Module(), buffer.Module(), console.Module()}
}

const prelude = `const url = require("node:url");
const attempt = f => { try { const v = f(); return v === undefined ? "undefined" : JSON.stringify(v) } catch (e) { return e.name + " " + e.code + " " + e.message } };
const parts = u => [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash].join(" | ");
`

// scripts are compared with Node.
var scripts = []string{
	`for (const s of ["http://example.com", "HTTP://EXAMPLE.com:80/%7Ea b?q=é ü#f g", "https://user:p%40ss@host:8443/a/../b/./c//d", "http://a/?x'y", "nope", "", "  http://a/b  ", "ht\ntp://a\t/b", "http://", "http:///a", "http:a", "http:/a/b", "http:\\\\a\\b", "//a/b", "file:///C|/x/../y", "file://host/share", "file:a", "file:/a/./b", "mailto:a@b?subject=x y", "data:text/plain,hello world#x", "javascript:alert(1)", "urn:isbn:1 2", "foo://HOST/Path", "foo:/a/../b", "foo:///", "http://[::1]:80/", "http://[2001:DB8::0:1]", "http://[::ffff:1.2.3.4]", "http://[1::2::3]", "http://1.2.3", "http://0x7f.1", "http://256.1.1.1", "http://1.2.3.4.5", "http://münchen.de/ä", "http://xn--mnchen-3ya.de", "http://日本.jp", "http://ａ.com", "http://a_b.com", "http://a b", "http://a%20b", "http://a%41", "http://a<b", "http://☃.net", "http://xn--a", "ws://a:80", "wss://a:443", "ftp://a:21/x", "http://a:65536", "http://a:0", "http://a:00080", "http://a:x", "http://a:", "http://u@a", "http://:p@a", "http://@a", "http://u:@a", "http://a@b@c", "http://a?b?c#d#e", "http://a#?x", "blob:https://a.com/uuid", "about:blank", "http://a/%", "http://a/%zz", "http://a/\u0001", "non-special:opaque ", "non-special:opaque ?q", "http://a//b", "http://a/..", "http://a/%2e%2E/b", "http://a/b/.%2e", "a:b:c", "1a:b", "a+b-c.d:e", "http://a.b.", "http://..", "http://ab\u00adc", "http://faß.de", "http://a\u200db", "https://example.com:443?x", "http://example.com\\@evil.com", "http://a/{b}|^` + "`" + `<>\"'", "http://a?{b}|^` + "`" + `<>\"'", "http://a#{b}|^` + "`" + `<>\"'"]) console.log(JSON.stringify(s), attempt(() => parts(new URL(s))))`,
	`for (const [s, b] of [["../p/./q?x=1", "https://h/a/b/c"], ["//cdn/f", "https://h/"], ["?y", "http://h/a/b?x#z"], ["#f", "http://h/a/b?x#z"], ["", "http://h/a/b?x#z"], ["/abs", "http://u:p@h:81/a"], ["x", "mailto:a"], ["#x", "mailto:a"], ["http:x", "http://h/a/b"], ["https:x", "http://h/a/b"], ["..", "http://h/a/b/c/"], [".", "http://h/a/b"], ["../../../..", "http://h/a"], ["c:/x", "file:///d:/y"], ["/x", "file:///d:/y"], ["\\x", "http://h/a"], ["x\\y", "http://h/a/"], ["//", "http://h"], ["a:b", "http://h"], ["é", "http://h/ü/"], ["x", "foo:///a/b"], ["x", "foo://h"], ["..", "foo:/a/b"], ["x", "data:a"], ["http://z", "nope"], ["x", ""], [" x ", " http://h "], ["?", "http://h/?a"], ["#", "http://h/#a"], ["file:x", "file:///a/b"], ["//h/x", "file:///a"]]) console.log(s, b, attempt(() => parts(new URL(s, b))), URL.canParse(s, b), URL.parse(s, b)?.href)`,
	`const set = (s, p, v) => { const u = new URL(s); try { u[p] = v } catch (e) { return e.code } return u.href }; const values = { protocol: ["https", "ftp:", "foo", "", "mailto", "http:x", "file", "1x", "WSS"], username: ["u", "", "a:b@c é", "/"], password: ["p", "", "a:b@c"], host: ["x", "x:81", "x:80", "", "x:x", "[::1]:5", "x/y", "x?y", "münchen.de", "a b", "x:", "@x", "1.2"], hostname: ["x", "x:81", "", "[::1]", "x/y", "X", "a b"], port: ["81", "80", "443", "", "65536", "8x", "x", "-1", "0", " 8", "0081"], pathname: ["x", "/x", "", "a b?c#d", "../y", "\\x", "%zz", "//x"], search: ["x", "?x", "", "?", "a b'#c", "é", "??"], hash: ["x", "#x", "", "#", "a b` + "`" + `", "é"], href: ["http://z", "nope", ""] }; for (const p in values) for (const v of values[p]) console.log(p, JSON.stringify(v), ["http://u:p@h:81/a/b?q#f", "http://h", "file:///a", "file://h/a", "mailto:x", "foo://h/a", "https://h:80/", "data:x  #f"].map(s => set(s, p, v)).join("  "))`,
	`const u = new URL("http://a/?x=1&y=2"); const p = u.searchParams; p.append("z", "a b&é"); console.log(u.href, u.search, p === u.searchParams); u.search = "?n=1"; console.log(p.toString(), p.get("n")); p.delete("n"); console.log(u.href); p.set("k", "v"); u.href = "http://b/?q=2"; console.log([...p].join(), u.href); p.sort(); u.hash = "h"; p.append("s", "'~*()!"); console.log(u.href); u.search = ""; console.log(p.size, u.href)`,
	`for (const i of ["", "?a=1&b=2", "??a", "a", "=", "=v", "a=", "&&a=1&&", "a=b=c", "a+b=c+d", "a%20b=%26", "%zz=%", "%E9=1", "a=%F0%9F%98%80", "a=é", "a=1#f", {a: 1, b: "x y", "é": null}, {}, [["a", "1"], ["a", "2"]], new Map([["m", "1"]]), new URLSearchParams("c=1"), undefined, null, 5, true, [["a", 1]], [new Set(["x", "y"])], {a: undefined}, {a: [1, 2]}]) console.log(attempt(() => String(new URLSearchParams(i))))`,
	`for (const f of [() => new URLSearchParams([1]), () => new URLSearchParams([["a"]]), () => new URLSearchParams([["a", "b", "c"]]), () => new URLSearchParams({[Symbol.iterator]: 5}), () => new URLSearchParams(Symbol("x")), () => new URLSearchParams("a").append("x"), () => new URLSearchParams("a").get(), () => new URLSearchParams("a").forEach(5), () => URLSearchParams.prototype.get.call({}, "a"), () => new URL(), () => URL.canParse(), () => new URL(Symbol()), () => new URLSearchParams().set("a"), () => new URLSearchParams().delete(), () => new URLSearchParams().has(), () => new URLSearchParams().getAll(), () => new URLSearchParams(["ab"])]) console.log(attempt(f))`,
	`const p = new URLSearchParams("a=1&b=2&a=3&c=4"); console.log(p.get("a"), p.get("z"), p.getAll("a").join(), p.getAll("z").length, p.has("a"), p.has("a", "3"), p.has("a", "9"), p.has("z"), p.size); p.set("a", "9"); console.log(String(p)); p.append("a", null); p.delete("a", "9"); console.log(String(p)); p.set("new", undefined); p.delete("b"); console.log(String(p), [...p.keys()].join(), [...p.values()].join(), [...p.entries()].join(";"), [...p].length); p.forEach(function (v, k, o) { console.log(k, v, o === p, this.t) }, {t: 1}); p.has("a", undefined)`,
	`const p = new URLSearchParams("z=1&a=2&é=3&😀=4&\ufffd=5&a=1&A=0&aa=1&=9"); p.sort(); console.log(String(p), [...p.keys()].join())`,
	`const p = new URLSearchParams("a=1&b=2&c=3"); const seen = []; for (const [k] of p) { seen.push(k); if (k === "a") p.delete("b") } console.log(seen.join()); const it = p.keys(); console.log(it.next(), it.next(), it.next(), it.next(), it[Symbol.iterator]() === it, Object.prototype.toString.call(it), it[Symbol.toStringTag])`,
	`const u = new URL("http://u:p@a:81/b?c=1#d"); console.log(u, [u], {u}, new URLSearchParams("a=1&b=2"), new URLSearchParams(), [new URLSearchParams("a=1")], new URLSearchParams("x=" + "y".repeat(80) + "&z=2")); console.log(JSON.stringify({u, p: u.searchParams}), u + "", String(u.searchParams), Object.prototype.toString.call(u), Object.prototype.toString.call(u.searchParams), Object.keys(u).length, "href" in u)`,
	`const keys = []; for (const k in new URL("http://a")) keys.push(k); console.log(keys.sort().join()); console.log(URL.length, URL.name, URLSearchParams.length, URL.prototype.toJSON.name, URL.canParse.name, typeof Object.getOwnPropertyDescriptor(URL.prototype, "href").get); class MyURL extends URL { get first() { return this.pathname.split("/")[1] } } const m = new MyURL("http://a/b/c"); console.log(m.first, m instanceof URL, m instanceof MyURL, m.constructor.name)`,
	`try { new URL("x", "nope") } catch (e) { console.log(e instanceof TypeError, e.code, e.input, e.base, e.message, Object.keys(e).join()) } try { new URL("nope") } catch (e) { console.log(e.input, "base" in e) }`,
	`const {fileURLToPath: p, pathToFileURL: q} = url; for (const f of [() => p("file:///a%20b/%C3%A9"), () => p(new URL("file:///x")), () => p("http://a"), () => p("file://host/a"), () => p("file://localhost/a"), () => p("file:///a%2fb"), () => p("file:///a%5Cb"), () => p("file:///%zz"), () => p(5), () => p("x"), () => p({}), () => q("/a b/?#%\\é\n\t\r").href, () => q("/a/").href, () => q("/a/../b/./c").href, () => q("/").href, () => q(5), () => q("/a:b;c=d&e'f\"g<h>{i}|j^k` + "`" + `l[m]").href]) console.log(attempt(f))`,
	`const {domainToASCII: a, domainToUnicode: b, format, urlToHttpOptions: h} = url; console.log(a("español.com"), a("中文.com"), a("xn--iñvalid.com"), a("EXAMPLE.com"), a(""), a("a b"), b("xn--espaol-zwa.com"), b("xn--fiq228c.com"), b("xn--iñvalid.com"), b("abc")); const u = new URL("http://u:p@測試/a?b#c"); for (const o of [undefined, {}, {fragment: false}, {search: false}, {auth: false}, {unicode: true}, {unicode: true, fragment: false, auth: false, search: false}, null]) console.log(attempt(() => format(u, o))); console.log(h(new URL("https://a%20:b@[::1]:81/p?q#h")), h(new URL("http://x")), attempt(() => format(u, 5)))`,
	`for (const s of ["http://user:pass@sub.host.com:8080/p/a/t/h?query=string#hash", "/a/b?c=d#e", "a/b", "?x=1", "#h", "", "http://host", "HTTP://HOST/Path", "//host/path", "mailto:a@b.com", "javascript:alert('x y')", "http://a.com/ b<c>", "http://a.com:80", "http://a.com:", "http://[::1]:3000/x", "http://[::1", "http://münchen.de/ä", "file:///etc/passwd", "file://host/x", "foo:bar", "foo://bar/baz", "http:/x", "http:x", "x:1", "localhost:3000/x", "/path with space", "\\a\\b?c\\d", "  http://a/ ", "http://a@b@c/", "http://a@b?@c", "http://a%20b@c/", "http://a.com?x", "http://a.com#x", "http://a;b/c", "http://a{b}/c", "http://a.com/x'y\"z", "/a;b,c=d", "coap:u:p@::1:1", "git+ssh://git@github.com:user/repo.git", "data:text/plain,x", "http://x:99999/", "ws://a", "http://a\nb/c", "..", "./x?y#z", "a@b", "//u@h/p", "///x", "http:///x", "x://", "http://-a.com", "http://a_b.c", "http://a.com/%zz", "http://a..b/"]) { console.log(s); for (const f of [() => url.parse(s), () => url.parse(s, true).query, () => url.parse(s, false, true), () => url.format(s)]) console.log("  " + attempt(f)) }`,
	`const from = ["http://a.com/b/c/d?q#f", "http://a.com", "http://u:p@a.com:81/b/", "/one/two/three", "mailto:x@y", "file:///a/b", "foo:bar", "", "one/two", "https://h/a/../b", "foo://h/a/b"]; const to = ["", "x", "/x", "../x", "../../../x", "./", ".", "..", "?y=1", "#z", "//h2/x", "http://b.com/x", "https://c", "mailto:z", "file:///z", "http:x", "x?y#z", "x/../y/.", "/a/./b/../c/", "foo:baz", "a:b@c:d/", "javascript:1"]; for (const a of from) for (const b of to) console.log(a, b, attempt(() => url.resolve(a, b)))`,
	`for (const o of [{}, {protocol: "http", host: "a.com", pathname: "x"}, {protocol: "http:", hostname: "a", port: 8, query: {q: "1 2", r: [1, 2]}}, {pathname: "/a?b#c", search: "x", hash: "y"}, {auth: "u:p@x", hostname: "h"}, {protocol: "mailto", auth: "a", host: "b"}, {protocol: "file", pathname: "/x"}, {slashes: true, hostname: "::1"}, {search: "?a#b"}, {query: {}}, {protocol: "foo", pathname: "x"}, {host: "h", pathname: "p", slashes: true}, {protocol: "http", pathname: "x"}]) console.log(attempt(() => url.format(o))); for (const f of [() => url.parse(5), () => url.format(5), () => url.format(null), () => url.parse(), () => url.resolve("a"), () => url.parse("http://\ud800"), () => url.resolveObject("http://a/b", "c").pathname, () => url.resolveObject("", "c"), () => new url.Url().href, () => url.parse(url.parse("/x")).href]) console.log(attempt(f)); console.log(url.parse("http://a/b?c=d", true), url.parse("/x") instanceof url.Url, url.URL === URL, Object.keys(url).filter(k => k !== "URLPattern").sort().join())`,
}

func TestURLIsNodes(t *testing.T) {
	t.Parallel()
	whole := make([]string, len(scripts))
	for i, s := range scripts {
		whole[i] = prelude + s
	}
	cmd := exec.Command("node", "--no-deprecation", "-")
	cmd.Stdin = strings.NewReader(trial.Program(whole))
	node, err := cmd.Output()
	if err != nil {
		t.Skipf("node 20 is not installed: %v", err)
	}
	trial.Compare(t, whole, node, modules()...)
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, Module(), modules()...)
}

func TestNothingButExceptions(t *testing.T) {
	t.Parallel()
	trial.Storm(t, `require("node:url")`, `new URL("http://a/b?c=d"), new URLSearchParams("a=1"), new URLPattern("http://a/:b"), require("node:url").parse("http://a/b")`, modules()...)
}

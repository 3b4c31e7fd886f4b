package url

import (
	"testing"

	"mcpx/stdlib/internal/trial"
)

// matches are patterns, what they are given, and what comes of it. Node 20 has no
// URLPattern; the expectations are from the tests of the standard.
var matches = []struct{ name, code, want string }{
	{"pathname", `const p = new URLPattern({pathname: "/books/:id"}); const r = p.exec("https://example.com/books/123"); console.log(p.test("https://example.com/books/123"), p.test("https://example.com/books"), r.pathname.groups.id, r.pathname.input, r.hostname.groups["0"])`, "true false 123 /books/123 example.com\n"},
	{"whole", `const p = new URLPattern("https://:sub.example.com/:path*\\?x=:x#h"); const r = p.exec("https://api.example.com/a/b?x=1#h"); console.log(r.hostname.groups.sub, r.pathname.groups.path, r.search.groups.x, p.hostname, p.pathname, p.search, p.hash, p.port === "")`, "api a/b 1 :sub.example.com /:path* x=:x h true\n"},
	{"base", `const p = new URLPattern("/foo/*", "https://example.com:8080/x?y"); console.log(p.protocol, p.hostname, p.port, p.pathname, p.search, p.hash, p.test("https://example.com:8080/foo/bar"), p.test("/foo/z", "https://example.com:8080"), p.test("https://example.com/foo/bar"))`, "https example.com 8080 /foo/* * * true true false\n"},
	{"relative path", `const p = new URLPattern({pathname: "b/:c", baseURL: "https://h/a/x"}); console.log(p.pathname, p.test("https://h/a/b/1"))`, "/a/b/:c true\n"},
	{"regexp", `const p = new URLPattern({pathname: "/:year(\\d{4})/:rest*"}); const r = p.exec({pathname: "/2024/a/b"}); console.log(r.pathname.groups.year, r.pathname.groups.rest, p.test({pathname: "/20x4/a"}), p.hasRegExpGroups, new URLPattern({pathname: "/:a"}).hasRegExpGroups)`, "2024 a/b false true false\n"},
	{
		"modifiers", `for (const [p, ...l] of [["/a{/b}?", "/a", "/a/b", "/a/c"], ["/a/:b?", "/a", "/a/x", "/a/"], ["/a/:b+", "/a", "/a/x/y"], ["/a/*", "/a/", "/a/b/c", "/a"], ["/(foo|bar)", "/foo", "/baz"], ["/:a-:b", "/x-y", "/x"], ["*", "", "/x"], ["{/a}+", "/a/a", "/ab"]]) console.log(p, l.map(t => new URLPattern({pathname: p}).test({pathname: t})).join())`,
		"/a{/b}? true,true,false\n/a/:b? true,true,false\n/a/:b+ false,true\n/a/* true,true,false\n/(foo|bar) true,false\n/:a-:b true,false\n* true,true\n{/a}+ true,false\n",
	},
	{"escapes", `console.log(new URLPattern({pathname: "/a\\:b"}).pathname, new URLPattern({pathname: "/a\\:b"}).test({pathname: "/a:b"}), new URLPattern({search: "a=\\?"}).test({search: "a=?"}), new URLPattern({pathname: "/é"}).pathname, new URLPattern({pathname: "/é"}).test("https://x/%C3%A9"))`, `/a\:b true true /%C3%A9 true` + "\n"},
	{"case", `console.log(new URLPattern({pathname: "/Foo"}, {ignoreCase: true}).test("https://x/fOO"), new URLPattern({pathname: "/Foo"}).test("https://x/foo"), new URLPattern("https://EXAMPLE.com/a", {}).hostname)`, "true false example.com\n"},
	{"ports", `console.log(new URLPattern("https://x:443/").port === "", new URLPattern("https://x:8443/").test("https://x:8443/"), new URLPattern({protocol: "http", port: "80"}).port === "", new URLPattern("https://x/").test("https://x:1/"))`, "true true true false\n"},
	{"protocols", `console.log(new URLPattern("http{s}?://x/*").test("https://x/a"), new URLPattern("http{s}?://x/*").test("http://x/a"), new URLPattern("data\\:text/*").exec("data:text/plain,x")?.pathname.groups[0], new URLPattern({protocol: "http*"}).test("https://a"))`, "true true plain,x true\n"},
	{"IPv6", `console.log(new URLPattern({hostname: "[\\:\\:1]"}).test({hostname: "[::1]"}), new URLPattern("http://[\\:\\:1]/").hostname, new URLPattern("http://[\\:\\:1]:90/").port)`, `true [\:\:1] 90` + "\n"},
	{"users", `const p = new URLPattern("https://:user\\::pass@h/*"); console.log(p.username, p.password, new URLPattern("https://u\\:p@h/").exec("https://u:p@h/").username.input)`, ":user :pass u\n"},
	{"inputs", `const p = new URLPattern({pathname: "/x"}); console.log(JSON.stringify(p.exec("/x", "https://h").inputs), JSON.stringify(p.exec({pathname: "/x"}).inputs), p.exec(new URL("https://h/x")).inputs.length, p.exec("nope"), p.test(), new URLPattern().test("https://a"), new URLPattern({}).pathname)`, `["/x","https://h"] [{"pathname":"/x"}] 1 null false true *` + "\n"},
	{"missing groups", `const r = new URLPattern({pathname: "/a/:b?"}).exec("https://h/a"); console.log("b" in r.pathname.groups, r.pathname.groups.b, Object.keys(r).join())`, "true undefined inputs,protocol,username,password,hostname,port,pathname,search,hash\n"},
	{
		"wrong", `for (const f of [() => new URLPattern("/a"), () => new URLPattern({pathname: "/:a/:a"}), () => new URLPattern({pathname: "(["}), () => new URLPattern({pathname: "/("}), () => new URLPattern({pathname: "{a"}), () => new URLPattern("/a", "nope"), () => new URLPattern({}, "https://x"), () => new URLPattern({port: "x"}), () => new URLPattern({hostname: "a b"}), () => new URLPattern({pathname: "/(a(b))"}), () => new URLPattern({pathname: "/a"}).test({}, "https://x"), () => URLPattern.prototype.test.call({})]) try { f(); console.log("no error") } catch (e) { console.log(e.name) }`,
		"TypeError\nTypeError\nTypeError\nTypeError\nTypeError\nTypeError\nTypeError\nTypeError\nTypeError\nTypeError\nTypeError\nTypeError\n",
	},
	{
		"written", `for (const p of ["/a/:b", "/a/:b(\\d+)", "/:a:b", "/{:a}b", "/:a{b}", "/a/(.*)", "/{a}?", "/:a.:b", "/:a?", "{/:a}?/b", "/(x)*"]) console.log(new URLPattern({pathname: p}).pathname)`,
		"/a/:b\n/a/:b(\\d+)\n/:a:b\n/{:a}b\n{/:a}b\n/a/*\n/{a}?\n/:a.:b\n/:a?\n/:a?/b\n/(x)*\n",
	},
	{"printed", `console.log(String(new URLPattern("https://a/b")), new URLPattern("https://a/b"))`, "[object URLPattern] URLPattern {\n  protocol: 'https',\n  username: '*',\n  password: '*',\n  hostname: 'a',\n  port: '',\n  pathname: '/b',\n  search: '*',\n  hash: '*'\n}\n"},
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, tt := range matches {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if stdout, stderr := trial.Run(tt.code, nil, modules()...); stdout != tt.want || stderr != "" {
				t.Errorf("%s\nwrote\n%s%s\nwant\n%s", tt.code, stdout, stderr, tt.want)
			}
		})
	}
}

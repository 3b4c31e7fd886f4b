package html_test

import (
	"testing"

	"mcpx/stdlib/console"
	"mcpx/stdlib/html"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
)

const page = "<!doctype html><html><head><title>T &amp; U</title><style>x{}</style></head><body>" +
	"<h1 id=top class='a b'>Hello  <b>World</b></h1><p>One<br>two\n three &nbsp;x</p><script>var s</script>" +
	"<ul><li>first<li><a href='/p?q=1'> a link </a></ul><pre>k\n  v</pre>" +
	"<table><tr><th>A<th>B</tr><tr><td rowspan=2>1</td><td>x|y</td></tr><tr><td>2 <table><tr><td>in</table></td></tr></table></body></html>"

func TestHTML(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, code, want string }{
		{"query", `p(d.query("h1").text, d.query("h1.a > b").textContent, d.query("h2"), d.query("title").textContent)`, `["Hello World","World",null,"T & U"]`},
		{"queryAll", `p(d.queryAll("li").map(e => e.text), d.queryAll("li:nth-child(2) a, h1").length, d.queryAll("x"))`, `[["first","a link"],2,[]]`},
		{"names of browsers", `p(d.querySelector("h1") === d.query("#top"), d.querySelectorAll("td").length, d.querySelector("a").getAttribute("HREF"))`, `[true,4,"/p?q=1"]`},
		{
			"element", `const h = d.query("h1"); p(h.tag, h.attributes, h.attribute("id"), h.attribute("none"), h.outerHTML, h.innerHTML, String(h) === h.outerHTML)`,
			`["h1",{"id":"top","class":"a b"},"top",null,"<h1 id=\"top\" class=\"a b\">Hello  <b>World</b></h1>","Hello  <b>World</b>",true]`,
		},
		{
			"tree", `const h = d.query("h1"); p(h.parent.tag, h.children.map(e => e.tag), h.next.tag, h.previous, h.next.previous === h, d.parent, d.children.map(e => e.tag))`,
			`["body",["b"],"p",null,true,null,["head","body"]]`,
		},
		{"matches and closest", `const b = d.query("b"); p(b.matches("h1 b"), b.matches("i"), b.closest("h1,body").tag, b.closest("ul"))`, `[true,false,"h1",null]`},
		{"text", `console.log(d.text)`, "Hello World\nOne\ntwo three \u00a0x\nfirst\na link\nk\n  v\nA\tB\n1\tx|y\n2\nin"},
		{"links", `p(d.links(), d.links("https://e.org/a/"))`, `[[{"text":"a link","href":"/p?q=1"}],[{"text":"a link","href":"https://e.org/p?q=1"}]]`},
		{"tables", `p(d.tables(), d.query("td table").table(), html.parse("<p>").table())`, `[[[["A","B"],["1","x|y"],["1","2\nin"]]],[["in"]],[]]`},
		{"spans", `p(html.parse("<table><tr><td colspan=2>a<td>b<tr><td>c<td>d<td>e</table>").table())`, `[[["a","a","b"],["c","d","e"]]]`},
		{"wide spans", `const r = html.parse("<table>" + ("<tr>" + "<td colspan=9999>x".repeat(20)).repeat(60)).table(); p(r[0].length <= 20000, r.flat().length <= 1e6)`, `[true,true]`},
		{"markdown", `console.log(d.query("body").toMarkdown())`, "# Hello **World**\n\nOne  \ntwo three \u00a0x\n\n- first\n- [a link](/p?q=1)\n\n```\nk\n  v\n```\n\n| A | B |\n| --- | --- |\n| 1 | x\\|y |\n| 1 | 2 in |"},
		{
			"markdown marks", "console.log(html.parse(`<p>a * b_c _d_ [x] <i> e </i>f<code>a\\`b</code> <del>g</del><img alt=A src='i (1).png'></p><p>1. x</p><p># y</p><blockquote><p>q<p>r</blockquote><hr><ol start=3><li>x<ul><li>y</ul><li>z</ol><div>in <span>line</span></div><pre><code class='hl language-go'>if x {\n}\n</code></pre><a href=u><h3>t</h3></a>`).toMarkdown())",
			"a \\* b_c \\_d\\_ \\[x\\] *e* f``a`b`` ~~g~~![A](<i (1).png>)\n\n1\\. x\n\n\\# y\n\n> q\n> \n> r\n\n---\n\n3. x\n   - y\n4. z\n\nin line\n\n```go\nif x {\n}\n```\n\n### t",
		},
		{"inspected", `console.log(d.query("b"))`, "Element { tag: 'b', attributes: {}, text: 'World' }"},
		{"escape", `p(html.escape("<a href=\"x\">'&'"), html.unescape("&lt;&eacute;&#x41;&amp;amp;"))`, `["&lt;a href=&#34;x&#34;&gt;&#39;&amp;&#39;","<éA&amp;"]`},
		{"empty", `p(html.parse("").tag, html.parse("").text, html.parse("plain").text)`, `["html","","plain"]`},
		{"noscript is parsed", `p(html.parse("<body><noscript><a href=x>y</a></noscript>").links().length)`, `[1]`},
		{"prototype", `p(Object.keys(html.parse("<p __proto__=1 constructor=2>").query("p").attributes))`, `[["__proto__","constructor"]]`},
		{"bytes", `p(html.parse(new Uint8Array([60, 112, 62, 0xC3, 0xA9])).text)`, `["é"]`},
		{"bad selector", `d.query("a[")`, `SyntaxError`},
		{"no selector", `d.query()`, `TypeError: The "selector" argument must be of type string. Received undefined`},
		{"bad base", `d.links("x")`, `TypeError: The argument 'base' must be an absolute URL. Received 'x'`},
		{"other this", `d.query.call({}, "a")`, `TypeError: html: this is no element`},
		{"not made", `new d.constructor()`, `TypeError: Illegal constructor`},
		{"deep", `html.parse("<div>".repeat(100000))`, `RangeError: html: open stack of elements exceeds 512 nodes`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code := `import html from "mcpx:html";
				const d = html.parse(` + "`" + page + "`" + `), p = (...a) => console.log(JSON.stringify(a));
				try { ` + tt.code + ` } catch (e) { console.log(e.name === "SyntaxError" ? e.name : String(e)) }`
			stdout, stderr := trial.Run(code, nil, console.Module(), html.Module())
			if got := stdout + stderr; got != tt.want+"\n" {
				t.Errorf("wrote\n%s want\n%s", got, tt.want)
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, html.Module())
}

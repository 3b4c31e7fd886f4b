package xml_test

import (
	"testing"

	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/xml"
)

func TestXML(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, code, want string }{
		{
			"shape", `p('<?xml version="1.0"?><!-- c --><a x="1" y="&lt;2&#x41;"><b>2</b><c/><b> 3 </b><d e="f">g</d></a>')`,
			`{"a":{"@x":"1","@y":"<2A","b":["2"," 3 "],"c":"","d":{"@e":"f","#text":"g"}}}`,
		},
		{"mixed", `p("<p> one <b>two</b> three </p>")`, `{"p":{"b":"two","#text":"one  three"}}`},
		{"cdata", `p("<a>x<![CDATA[<&]]>y</a>")`, `{"a":"x<&y"}`},
		{"prefixes", `p('<s:E xmlns:s="u" xmlns="v" s:k="1"><s:B/></s:E>')`, `{"s:E":{"@xmlns:s":"u","@xmlns":"v","@s:k":"1","s:B":""}}`},
		{"arrays", `p("<l><i>1</i><j>2</j></l>", {arrays: ["i"]})`, `{"l":{"i":["1"],"j":"2"}}`},
		{"ordered", `p('<a x="1">t<b/>u<b>v</b></a>', {ordered: true})`, `{"name":"a","attributes":{"x":"1"},"children":["t",{"name":"b","attributes":{},"children":[]},"u",{"name":"b","attributes":{},"children":["v"]}]}`},
		{"prototype", `p('<__proto__ __proto__="1"><__proto__>2</__proto__></__proto__>')`, `{"__proto__":{"@__proto__":"1","__proto__":"2"}}`},
		{"doctype and encoding", `p('\uFEFF<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE a [<!ENTITY x "y">]><a>é</a>\n')`, `{"a":"é"}`},
		{"bytes", `p(new TextBytes("<a>1</a>").bytes)`, `{"a":"1"}`},
		{"entities are not made", `p('<!DOCTYPE a [<!ENTITY x "xxxxxxxx">]><a>&x;</a>')`, `SyntaxError: xml: invalid character entity &x; (line 1, column 44)`},
		{"not closed", `p("<a>\n <b>")`, `SyntaxError: xml: the element b is never closed (line 2, column 5)`},
		{"wrong end", `p("<a>\n</b>")`, `SyntaxError: xml: </b> ends nothing that is open (line 2, column 1)`},
		{"two roots", `p("<a/><b/>")`, `SyntaxError: xml: a second root element (line 1, column 5)`},
		{"text outside", `p("<a/>x")`, `SyntaxError: xml: text outside of the root element (line 1, column 5)`},
		{"nothing", `p("")`, `SyntaxError: xml: no element (line 1, column 1)`},
		{"attribute twice", `p("<a b='1' b='2'/>")`, `SyntaxError: xml: the attribute b twice in one element (line 1, column 1)`},
		{"deep", `p("<a>".repeat(1e5))`, `SyntaxError: xml: elements are nested more than 1000 deep (line 1, column 3001)`},

		{
			"stringify", `w({a: {"@x": 1, "@n": null, b: ["2", 3n, null], c: {"#text": "<&>\"\r"}, u: undefined, e: [], d: new Date(0), y: true}})`,
			`<a x="1"><b>2</b><b>3</b><b/><c>&lt;&amp;&gt;"&#13;</c><d>1970-01-01T00:00:00.000Z</d><y>true</y></a>`,
		},
		{
			"stringify lines", `w({a: {"@x": "\"\n", b: {c: [1, 2]}, t: {"@q": 1, "#text": "z"}}}, {indent: 2, declaration: true})`,
			"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a x=\"&quot;&#10;\">\n  <b>\n    <c>1</c>\n    <c>2</c>\n  </b>\n  <t q=\"1\">z</t>\n</a>\n",
		},
		{
			"stringify ordered", `const s = '<a x="1"><l><m/></l><t>t<b/>u<b>v</b></t></a>'; const d = xml.parse(s, {ordered: true}); console.log(xml.stringify(d, {ordered: true}) === s); w(d, {ordered: true, indent: 1})`,
			"true\n<a x=\"1\">\n <l>\n  <m/>\n </l>\n <t>t<b/>u<b>v</b></t>\n</a>\n",
		},
		{"round trip", `const v = {r: {"@a": "\t\r\n\"'<", "x:y": ["", " s ", {"@k": "v"}, {z: "é"}], "#text": "tail"}}; console.log(JSON.stringify(v) === JSON.stringify(xml.parse(xml.stringify(v))))`, `true`},
		{"two members", `w({a: 1, b: 2})`, `TypeError: xml: a document is an object of one member, its root element`},
		{"bad name", `w({"a b": 1})`, `TypeError: xml: "a b" is no name for XML`},
		{"list in list", `w({a: {b: [[1]]}})`, `TypeError: xml: b is a list in a list, which XML cannot say`},
		{"object as attribute", `w({a: {"@b": {}}})`, `TypeError: xml: b is an object where XML has text`},
		{"no object", `w("x")`, `TypeError: The "value" argument must be of type object. Received type string ('x')`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code := `import xml from "mcpx:xml";
				class TextBytes { constructor(s) { this.bytes = Uint8Array.from([...s].map(c => c.charCodeAt(0))) } }
				const p = (...a) => console.log(JSON.stringify(xml.parse(...a))), w = (...a) => console.log(xml.stringify(...a));
				try { ` + tt.code + ` } catch (e) { console.log(String(e)) }`
			stdout, stderr := trial.Run(code, nil, console.Module(), xml.Module())
			if got := stdout + stderr; got != tt.want+"\n" {
				t.Errorf("wrote\n%s want\n%s", got, tt.want)
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, xml.Module())
}

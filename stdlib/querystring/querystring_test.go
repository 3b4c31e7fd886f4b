package querystring

import (
	"os/exec"
	"strings"
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/buffer"
	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
)

func modules() []engine.Module {
	return []engine.Module{Module(), buffer.Module(), console.Module()}
}

const prelude = `const qs = require("node:querystring");
const attempt = f => { try { return JSON.stringify(f()) } catch (e) { return e.name + " " + e.code + " " + e.message } };
`

// scripts are compared with Node.
var scripts = []string{
	`for (const s of ["", "a", "a=", "=a", "=", "&", "a=1&b=2", "a=1&a=2&a=3", "a=b=c", "&a=1&&b=2&", "a+b=c+d", "a%20b=c%26d", "x=%zz", "x=%", "x=%4", "x=%E9", "x=%C3%A9&y=é", "é%=1", "x=%E2%82", "__proto__=1&__proto__=2", "constructor=1&toString=2&hasOwnProperty=3", "a[]=1&a[]=2", "a&a=1&a", "%61=%62", "a=1;b=2", "a=😀", "a=%F0%9F%98%80", "==", "a==", "+=+", "length=1&pop=2", "1=2&0=1"]) console.log(JSON.stringify(s), JSON.stringify(qs.parse(s)))`,
	`for (const a of [["a:1;b:2", ";", ":"], ["a=1&b=2", null, null], ["a->1, b->2", ", ", "->"], ["a=1&b=2&c=3", "&", "=", {maxKeys: 2}], ["a=1&b=2", "&", "=", {maxKeys: 0}], ["a=1&&b=2", "&", "=", {maxKeys: 2}], ["a=b+c%20d", null, null, {decodeURIComponent: s => "<" + s + ">"}], ["a=%", null, null, {decodeURIComponent: decodeURIComponent}], ["a=1&b=2", "", ""], ["a=1", 5, 6], [5], [null], [{}], ["a=1&b", "&", "=", {maxKeys: "1"}]]) console.log(attempt(() => qs.parse(...a)))`,
	`console.log(Object.keys(qs.parse(Array.from({length: 1200}, (_, i) => "k" + i + "=1").join("&"))).length, Object.getPrototypeOf(qs.parse("a=1")))`,
	`for (const v of [{}, {a: 1}, {a: "b c"}, {a: [1, 2, "x y"]}, {a: []}, {a: [], b: 1}, {a: null, b: undefined, c: true, d: NaN, e: Infinity, f: 10n, g: {}, h: () => {}, i: Symbol("x"), j: 1e21, k: -0.5, l: ""}, {"ü&=": "é?😀"}, "text", 5, null, undefined, [1, 2], () => {}, {a: [[1]]}, {a: [null, undefined]}, Object.create({inherited: 1}), {"!'()*-._~": "!'()*-._~"}]) console.log(attempt(() => qs.stringify(v)))`,
	`for (const a of [[{a: 1, b: [2, 3]}, ";", ":"], [{a: 1, b: 2}, "", ""], [{"a b": "c d", n: 5}, null, null, {encodeURIComponent: s => "<" + s + ">"}], [{a: "é"}, "&", "=", {encodeURIComponent: 5}]]) console.log(attempt(() => qs.stringify(...a)))`,
	`console.log(qs.escape("a b&c=d/é😀"), qs.escape(5), qs.escape({toString: () => "o k"}), qs.escape(null), qs.escape(undefined), qs.escape(["a", "b"]), attempt(() => qs.escape("\ud800")), attempt(() => qs.escape(Symbol("x"))), attempt(() => qs.stringify({a: "\ud800"})))`,
	`console.log(qs.unescape("a%20b+c"), qs.unescape("%"), qs.unescape("%zz%41"), qs.unescape("é%"), qs.unescape("a+%", true), qs.unescapeBuffer("a%20b%zz+").toString(), qs.unescapeBuffer("+%41", true).toString(), qs.encode === qs.stringify, qs.decode === qs.parse, qs.parse.name, qs.parse.length)`,
	`const {escape, unescape} = qs; qs.escape = s => "[" + s + "]"; qs.unescape = s => "(" + s + ")"; console.log(qs.stringify({a: 1, b: "x"}), JSON.stringify(qs.parse("a=b+c"))); qs.escape = escape; qs.unescape = unescape; console.log(qs.stringify({a: "b c"}))`,
}

func TestQuerystringIsNodes(t *testing.T) {
	t.Parallel()
	whole := make([]string, len(scripts))
	for i, s := range scripts {
		whole[i] = prelude + s
	}
	cmd := exec.Command("node", "-")
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
	trial.Storm(t, `require("node:querystring")`, `{}`, modules()...)
}

package encoding

import (
	"os/exec"
	"strings"
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/event"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
)

func modules() []engine.Module {
	return []engine.Module{Module(), event.Module(), console.Module()}
}

// attempt and text are what the scripts have in common.
const prelude = `const attempt = f => { try { return JSON.stringify(f()) } catch (e) { return e.name + " " + e.code + " " + e.message } };
const bytes = (...b) => new Uint8Array(b);
const all = Array.from({length: 128}, (_, i) => 128 + i);
`

// scripts are compared with Node.
var scripts = []string{
	`for (const s of ["", "a", "é", "😀", "\ud800", "a\udc00b", "日本", "\0"]) console.log(new TextEncoder().encode(s).join())`,
	`console.log(new TextEncoder().encode().length, new TextEncoder().encode(undefined).length, new TextEncoder().encode(null).length, new TextEncoder().encode(12.5).join(), new TextEncoder().encoding)`,
	`for (const [s, n] of [["añ", 2], ["añ", 3], ["😀x", 3], ["😀x", 4], ["😀x", 5], ["\ud800", 3], ["abc", 0], ["", 4]]) { const b = new Uint8Array(n); console.log(JSON.stringify(new TextEncoder().encodeInto(s, b)), b.join()) }`,
	`for (const f of [() => new TextEncoder().encodeInto(5, new Uint8Array(3)), () => new TextEncoder().encodeInto("5", []), () => new TextEncoder().encodeInto("5", new Int8Array(3)), () => TextEncoder.prototype.encode.call({}), () => new TextEncoder().encode(Symbol("x"))]) console.log(attempt(f))`,
	`console.log(Object.prototype.toString.call(new TextEncoder()), Object.prototype.toString.call(new TextDecoder()), TextEncoder.name, TextDecoder.length, new TextDecoder().decode.name)`,
	`console.log(new TextDecoder("latin2", {fatal: true}), [new TextDecoder()])`,
	`const d = new TextDecoder(); for (const b of [[0xff], [0xe2, 0x82], [0xe2, 0x82, 0xac], [0xf0, 0x9f, 0x98], [0xf0, 0x9f, 0x41], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf4, 0x90, 0x80, 0x80], [0xe0, 0x80, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0x41, 0xc3, 0x42], [0xc3, 0xc3, 0xa9], [0xef, 0xbb, 0xbf, 0x41], [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], [0xef, 0xbb]]) console.log(JSON.stringify(d.decode(bytes(...b))))`,
	`for (const label of ["utf-8", "UTF8", " utf-8\n", "unicode-1-1-utf-8", "latin1", "ascii", "iso-8859-1", "windows-1252", "utf-16", "utf-16be", "ucs-2", "sjis", "gb2312", "GB18030", "big5-hkscs", "euc-kr", "koi8-u", "ibm866", "macintosh", "tis-620", "nope", "", "utf-7", "x-user-defined", "\u00a0utf-8", "logical", "ISO-8859-8-I"]) console.log(attempt(() => new TextDecoder(label).encoding))`,
	`for (const label of ["iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8", "iso-8859-10", "iso-8859-13", "iso-8859-14", "iso-8859-15", "koi8-r", "windows-1250", "windows-1251", "windows-1254", "windows-1256", "ibm866", "macintosh"]) console.log(label, JSON.stringify(new TextDecoder(label).decode(bytes(...all))))`,
	`console.log(new TextDecoder("shift_jis").decode(bytes(0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea, 0xb1)), new TextDecoder("euc-jp").decode(bytes(0xc6, 0xfc, 0xcb, 0xdc)), new TextDecoder("iso-2022-jp").decode(bytes(0x1b, 0x24, 0x42, 0x46, 0x7c, 0x1b, 0x28, 0x42, 0x41)))`,
	`console.log(new TextDecoder("gbk").decode(bytes(0xc4, 0xe3, 0xba, 0xc3)), new TextDecoder("gb18030").decode(bytes(0x81, 0x30, 0x84, 0x36)), new TextDecoder("big5").decode(bytes(0xa7, 0x41, 0xa6, 0x6e)), new TextDecoder("euc-kr").decode(bytes(0xbe, 0xc8, 0xb3, 0xe7)))`,
	`const d = new TextDecoder("shift_jis"); console.log(d.decode(bytes(0x93), {stream: true}) + d.decode(bytes(0xfa, 0x96), {stream: true}) + d.decode(bytes(0x7b)))`,
	`const d = new TextDecoder(); const euro = [0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80]; let s = ""; for (const b of euro) s += d.decode(bytes(b), {stream: true}) + "|"; console.log(s + d.decode()); console.log(d.decode(bytes(0x41)))`,
	`const d = new TextDecoder(); console.log(JSON.stringify(d.decode(bytes(0xe2, 0x82), {stream: true}) + d.decode()), JSON.stringify(d.decode(bytes(0xe2), {stream: true}) + d.decode(bytes(0x41))))`,
	`const d = new TextDecoder(); console.log(JSON.stringify(d.decode(bytes(0xef), {stream: true}) + d.decode(bytes(0xbb), {stream: true}) + d.decode(bytes(0xbf, 0x41), {stream: true}) + d.decode(bytes(0xef, 0xbb, 0xbf))), d.decode(bytes(0xef, 0xbb, 0xbf, 0x42)))`,
	`console.log(JSON.stringify(new TextDecoder("utf-8", {ignoreBOM: true}).decode(bytes(0xef, 0xbb, 0xbf, 65))), new TextDecoder("utf-8", {ignoreBOM: true}).ignoreBOM, new TextDecoder("utf-8", {fatal: 1}).fatal)`,
	`const d = new TextDecoder("utf-8", {fatal: true}); for (const b of [[0xff], [0xe2, 0x82], [0x41, 0xe9], [0x41]]) console.log(attempt(() => d.decode(bytes(...b)))); console.log(attempt(() => d.decode(bytes(0xe2), {stream: true})), attempt(() => d.decode(bytes(0x82, 0xac)))); console.log(attempt(() => d.decode(bytes(0xe2), {stream: true})), attempt(() => d.decode()))`,
	`for (const label of ["utf-16le", "utf-16be"]) { const d = new TextDecoder(label); for (const b of [[65, 0], [0, 65], [0xff, 0xfe, 65, 0], [0xfe, 0xff, 0, 65], [0x3d, 0xd8, 0x00, 0xde], [0xd8, 0x3d, 0xde, 0x00], [0x3d, 0xd8], [65], [0x00, 0xde, 65, 0]]) console.log(label, JSON.stringify(d.decode(bytes(...b)))) }`,
	`const d = new TextDecoder("utf-16le"); let s = ""; for (const b of [0x3d, 0xd8, 0x00, 0xde, 65]) s += d.decode(bytes(b), {stream: true}); console.log(JSON.stringify(s + d.decode(bytes(0))))`,
	`console.log(attempt(() => new TextDecoder("utf-16le", {fatal: true}).decode(bytes(0x3d, 0xd8))), attempt(() => new TextDecoder("iso-8859-6", {fatal: true}).decode(bytes(0xa1))), attempt(() => new TextDecoder("windows-1251", {fatal: true}).decode(bytes(0xa1))))`,
	`const b = new Uint8Array([0, 72, 105, 0]); console.log(new TextDecoder().decode(b.buffer).length, new TextDecoder().decode(new DataView(b.buffer, 1, 2)), new TextDecoder().decode(new Uint16Array(b.buffer)).length, new TextDecoder().decode(b.subarray(1, 3)), new TextDecoder().decode(new Uint8ClampedArray([65])), JSON.stringify(new TextDecoder().decode()), JSON.stringify(new TextDecoder().decode(undefined)))`,
	`for (const f of [() => new TextDecoder("utf-8", 5), () => new TextDecoder(Symbol()), () => TextDecoder.prototype.decode.call({}).x, () => new TextDecoder("utf-8", null).fatal]) console.log(attempt(f))`,
	`for (const s of ["a", "a=", "aGk=", "aGk", "aGk==", " aG k\t\n", "aG=k", "====", "=", "", "YQ==", "YR==", "@", "é", "aGk=\n", "YWJj=", "ab=c=", "a-_b", "AAECAwQFBgcICQoL", "/+8="]) console.log(JSON.stringify(s), attempt(() => atob(s)))`,
	`for (const s of ["", "a", "ab", "abc", "héllo", "\0\xff", "日", "😀", 12, null, undefined, true, [1, 2], {}]) console.log(attempt(() => btoa(s)))`,
	`for (const f of [() => atob(), () => btoa(), () => atob(null), () => btoa(Symbol("x")), () => atob(Symbol("x"))]) console.log(attempt(f)); console.log(atob.name, atob.length, btoa.name, btoa.length)`,
	`class D extends TextDecoder { constructor() { super("utf-8") } up(b) { return this.decode(b).toUpperCase() } } console.log(new D().up(bytes(104, 105)), new D() instanceof TextDecoder)`,
	`try { btoa("日") } catch (e) { console.log(e instanceof DOMException, e.name, e.code) }`,
}

func TestEncodingIsNodes(t *testing.T) {
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

func TestEncoding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, want string }{
		{"windows-1252 is not Latin-1", `console.log(new TextDecoder("latin1").decode(new Uint8Array([0x80, 0x81, 0x9f])) === "€\u0081Ÿ")`, "true\n"},
		{"wrong input", `try { new TextDecoder().decode("text") } catch (e) { console.log(e.code, e.message) }`, "ERR_INVALID_ARG_TYPE The \"input\" argument must be an instance of ArrayBuffer or ArrayBufferView. Received type string ('text')\n"},
		{"fatal stream starts again", `const d = new TextDecoder("utf-8", {fatal: true}); try { d.decode(new Uint8Array([0xe2, 0x41]), {stream: true}) } catch { console.log(d.decode(new Uint8Array([0x42]))) }`, "B\n"},
		{"a state for itself", `const a = new TextDecoder("iso-2022-jp"), b = new TextDecoder("iso-2022-jp"); a.decode(new Uint8Array([0x1b, 0x24, 0x42]), {stream: true}); console.log(b.decode(new Uint8Array([0x46, 0x7c])), a.decode(new Uint8Array([0x46, 0x7c])))`, "F| 日\n"},
		{"called on something", `try { TextDecoder.call({}) } catch (e) { console.log(e.name, e.message) }`, "TypeError Class constructor TextDecoder cannot be invoked without 'new'\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if stdout, stderr := trial.Run(tt.code, nil, modules()...); stdout != tt.want || stderr != "" {
				t.Errorf("%s\nwrote %q and %q\nwant  %q", tt.code, stdout, stderr, tt.want)
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, Module(), modules()...)
}

func TestNothingButExceptions(t *testing.T) {
	t.Parallel()
	trial.Storm(t, `TextEncoder, TextDecoder, [atob, btoa]`, `new TextDecoder(), new TextEncoder(), new TextDecoder("shift_jis")`, modules()...)
}

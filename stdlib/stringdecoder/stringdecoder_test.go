package stringdecoder

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

const prelude = `const { StringDecoder } = require("node:string_decoder");
const attempt = f => { try { return JSON.stringify(f()) } catch (e) { return e.name + " " + e.code + " " + e.message } };
`

// scripts are compared with Node.
var scripts = []string{
	`for (const e of ["utf8", "utf16le", "latin1", "ascii", "hex", "base64", "base64url", "UCS2", "binary", undefined, null, "", "utf-8"]) { const d = new StringDecoder(e); let s = ""; for (const b of Buffer.from("aé€😀z\ud83d")) s += d.write(Buffer.from([b])) + "|"; console.log(e, d.encoding, JSON.stringify(s + d.end())) }`,
	`for (const e of ["utf8", "utf16le", "base64"]) { const d = new StringDecoder(e); for (const n of [1, 2, 3, 4, 5, 7]) console.log(e, n, JSON.stringify(d.write(Buffer.from("€😀é日本", "utf8").subarray(0, n))), d.lastNeed, d.lastTotal); console.log(JSON.stringify(d.end())) }`,
	`const d = new StringDecoder("utf8"); console.log(JSON.stringify([d.write(Buffer.from([0xe2, 0x82])), d.lastNeed, d.lastTotal, d.lastChar.length, d.end(), d.lastNeed, d.end(), d.write(Buffer.from([0xac]))]))`,
	`const d = new StringDecoder("utf16le"); console.log(JSON.stringify([d.write(Buffer.from([0x3d, 0xd8])), d.lastNeed, d.write(Buffer.from([0x00, 0xde, 0x41])), d.lastNeed, d.end()]), JSON.stringify(new StringDecoder("utf16le").end(Buffer.from([0x3d, 0xd8]))))`,
	`const d = new StringDecoder(); console.log(d.write("text"), d.end("more"), d.end(), attempt(() => d.write(5)), attempt(() => d.write(null)), attempt(() => d.write()), attempt(() => new StringDecoder("nope")), attempt(() => new StringDecoder(1)), d.write(new Uint8Array([104, 105])), d.write(new DataView(new ArrayBuffer(1))).length, d.text(Buffer.from("hello"), 2))`,
	`for (const bytes of [[0xff], [0xc3, 0x28], [0xf0, 0x9f], [0xf0, 0x28], [0xed, 0xa0, 0x80], [0xe0, 0x80], [0xf8], [0x80, 0x80], [0xe2, 0x41], [0xc0], [0xf4, 0x90]]) { const d = new StringDecoder("utf8"); console.log(bytes.join(), JSON.stringify(d.write(Buffer.from(bytes)) + d.end())) }`,
	`console.log(StringDecoder.name, StringDecoder.length, Object.keys(new StringDecoder("hex")).filter(k => k !== "undefined").slice(0, 1).join())`,
}

func TestStringDecoderIsNodes(t *testing.T) {
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

func TestReceiver(t *testing.T) {
	t.Parallel()
	const code = prelude + `for (const name of ["write", "end"]) console.log(attempt(() => StringDecoder.prototype[name].call({})))`
	const want = "TypeError ERR_INVALID_THIS Value of \"this\" must be of type StringDecoder\n"
	if stdout, stderr := trial.Run(code, nil, modules()...); stdout != want+want || stderr != "" {
		t.Errorf("wrote %q and %q, want %q twice", stdout, stderr, want)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, Module(), modules()...)
}

func TestNothingButExceptions(t *testing.T) {
	t.Parallel()
	trial.Storm(t, `require("node:string_decoder")`, `new (require("node:string_decoder").StringDecoder)("utf8")`, modules()...)
}

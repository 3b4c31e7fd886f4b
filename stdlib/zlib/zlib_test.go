package zlib

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/buffer"
	"mcpx/stdlib/console"
	"mcpx/stdlib/encoding"
	"mcpx/stdlib/event"
	"mcpx/stdlib/events"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/process"
	"mcpx/stdlib/streams"
	"mcpx/stdlib/stringdecoder"
	"mcpx/stdlib/timers"
	"mcpx/stdlib/util"
)

func modules() []engine.Module {
	return slices.Concat(
		[]engine.Module{Module(), buffer.Module(), encoding.Module(), event.Module(), console.Module(), stringdecoder.Module(), events.Module()},
		streams.Modules(), timers.Modules(), process.Modules(), util.Modules(),
	)
}

const prelude = `const z = require("node:zlib"); const C = z.constants;
const attempt = f => { try { const v = f(); return v instanceof Uint8Array ? Buffer.from(v).toString("latin1") : JSON.stringify(v) } catch (e) { return [e.name, e.code, e.errno, e.message].join("|") } };
const big = Array.from({length: 5000}, (_, i) => "line " + i % 97 + " of some text\n").join("");
`

// scripts are compared with Node. What compressors write is not compared, only what
// becomes of it.
var scripts = []string{
	`for (const [c, d] of [["gzip", "gunzip"], ["deflate", "inflate"], ["deflateRaw", "inflateRaw"], ["gzip", "unzip"], ["deflate", "unzip"], ["brotliCompress", "brotliDecompress"]]) for (const text of ["", "a", "héllo €😀", big]) for (const o of c[0] === "b" ? [{}, {params: {[C.BROTLI_PARAM_QUALITY]: 3}}] : [undefined, {level: 0}, {level: 9}, {level: 1}, {strategy: C.Z_HUFFMAN_ONLY}]) { const b = z[c + "Sync"](text, o); console.log(c, d, Buffer.isBuffer(b), z[d + "Sync"](b).toString() === text, text.length < 1000 || o?.level === 0 || b.length < text.length) }`,
	`console.log(z.gunzipSync(Buffer.from("H4sIAAAAAAAAA0tMSgYAwkEkNQMAAAA=", "base64")).toString(), z.inflateSync(Buffer.from("eJxLTEoGAAJNASc=", "base64")).toString(), z.inflateRawSync(Buffer.from("S0xKBgA=", "base64")).toString(), z.brotliDecompressSync(Buffer.from("CwGAYWJjAw==", "base64")).toString())`,
	`const gz = z.gzipSync("a"); console.log(gz.subarray(0, 4).toString("hex"), gz[9], z.deflateSync("a").subarray(0, 2).toString("hex"), z.gzipSync(new Uint16Array([1])).length > 0, z.gunzipSync(z.gzipSync(new DataView(new Uint8Array([1, 2, 3]).buffer, 1))).join(), z.gunzipSync(z.gzipSync(new Uint8Array([5, 6]).buffer)).join())`,
	`for (const f of [() => z.gunzipSync("x"), () => z.gunzipSync(z.gzipSync("abc").subarray(0, 10)), () => z.inflateSync(Buffer.from("789c", "hex")), () => z.inflateSync(Buffer.from("abcd", "hex")), () => z.inflateRawSync(Buffer.from("ffff", "hex")), () => z.gzipSync(5), () => z.gzipSync(), () => z.gzipSync("a", {level: 10}), () => z.gzipSync("a", {level: "x"}), () => z.gunzipSync(z.gzipSync("a".repeat(100)), {maxOutputLength: 10}), () => z.gzipSync("a".repeat(100), {maxOutputLength: 1}), () => z.gunzipSync(Buffer.alloc(0)), () => z.inflateSync(Buffer.alloc(0)), () => z.inflateRawSync(Buffer.alloc(0)), () => z.unzipSync("x"), () => z.gunzipSync("hello"), () => { const b = z.gzipSync("abc"); b[b.length - 8] ^= 1; return z.gunzipSync(b) }, () => { const b = z.deflateSync("abc"); b[b.length - 1] ^= 1; return z.inflateSync(b) }, () => z.inflateSync(z.deflateSync("abc", {dictionary: Buffer.from("abc")})), () => z.inflateSync(z.deflateSync("abc", {dictionary: Buffer.from("abc")}), {dictionary: Buffer.from("abd")}), () => z.inflateSync(z.deflateSync("abcabc", {dictionary: Buffer.from("abc")}), {dictionary: Buffer.from("abc")}), () => z.inflateRawSync(z.deflateRawSync("abcabc", {dictionary: Buffer.from("abc")}), {dictionary: Buffer.from("abc")}), () => z.gzip("a"), () => z.gzipSync("a", {chunkSize: 1}), () => z.gzipSync("a", {windowBits: 5}), () => z.brotliDecompressSync("x"), () => z.gzipSync("a", {dictionary: 5}), () => z.gzipSync("a", {memLevel: 0}), () => z.gzipSync("a", {strategy: 9}), () => z.gzipSync("a", {level: NaN}).length > 0]) console.log(attempt(f))`,
	`console.log(attempt(() => z.gunzipSync(Buffer.concat([z.gzipSync("a"), z.gzipSync("b")]))), attempt(() => z.gunzipSync(Buffer.concat([z.gzipSync("a"), Buffer.alloc(20)]))), attempt(() => z.gunzipSync(Buffer.concat([z.gzipSync("a"), Buffer.from("garbage!!!")]))), attempt(() => z.inflateSync(Buffer.concat([z.deflateSync("a"), Buffer.from("garbage")]))), attempt(() => z.gunzipSync(z.gzipSync(big, {level: 0}).subarray(0, 20000), {finishFlush: C.Z_SYNC_FLUSH}).length > 15000))`,
	`const p = require("node:util").promisify; console.log((await p(z.gunzip)(await p(z.gzip)("later"))).toString(), await new Promise(r => z.inflate(z.deflateSync("cb"), (e, b) => r(e + b))), await new Promise(r => z.gzip("x", {level: 9}, (e, b) => r(e + z.gunzipSync(b).toString()))), await new Promise(r => z.gunzip("bad data", (e, b) => r([e.code, e.message, b].join()))), await p(z.brotliDecompress)(await p(z.brotliCompress)("br")) + "")`,
	`console.log(C.Z_BEST_COMPRESSION, z.Z_BEST_COMPRESSION, C.Z_MAX_CHUNK, Object.keys(C).length, z.codes[-3], z.codes.Z_OK, z.crc32("hello"), z.crc32(" world", z.crc32("hello")), z.crc32(Buffer.from("hello world")), Object.keys(z).sort().join(), JSON.stringify(C) === JSON.stringify(z.constants))`,
	`const { pipeline } = require("node:stream/promises"), { Readable } = require("node:stream"); for (const [c, d] of [["Gzip", "Gunzip"], ["Deflate", "Inflate"], ["DeflateRaw", "InflateRaw"], ["Gzip", "Unzip"], ["BrotliCompress", "BrotliDecompress"]]) { const out = []; await pipeline(Readable.from([Buffer.from(big.slice(0, 1000)), Buffer.from(big.slice(1000))]), z["create" + c](), z["create" + d](), async s => { for await (const b of s) out.push(b) }); console.log(c, Buffer.concat(out).toString() === big) }`,
	`const g = z.createGzip({level: 9}); const chunks = []; g.on("data", b => chunks.push(b)); const ended = new Promise(r => g.on("end", r)); g.write("hello "); g.end("world"); await ended; console.log(z.gunzipSync(Buffer.concat(chunks)).toString(), g.bytesWritten, g instanceof z.Gzip, g instanceof require("node:stream").Transform, g.constructor.name)`,
	`console.log([undefined, 5, {}].map(x => { try { z.createGzip().close.call(x) } catch (e) { return e.name } }))`,
	`const u = z.createGunzip(); const failed = new Promise(r => u.on("error", e => r([e.code, e.errno, e.message].join()))); u.end("this is no gzip"); console.log(await failed); const v = z.createGunzip(); const cut = new Promise(r => { v.on("error", e => r(e.code + e.message)); v.on("end", () => r("end")); v.resume() }); v.end(z.gzipSync(big).subarray(0, 100)); console.log(await cut)`,
	`const u = z.createInflate(); const got = []; u.on("data", b => got.push(b)); const end = new Promise(r => u.on("end", r)); const b = z.deflateSync(big); for (let i = 0; i < b.length; i += 37) u.write(b.subarray(i, i + 37)); u.end(); await end; console.log(Buffer.concat(got).toString() === big)`,
	`const d = z.createDeflate(); const parts = []; d.on("data", b => parts.push(b)); d.write("first"); await new Promise(r => d.flush(r)); console.log(z.inflateSync(Buffer.concat(parts), {finishFlush: C.Z_SYNC_FLUSH}).toString()); d.end("second"); await new Promise(r => d.on("end", r)); console.log(z.inflateSync(Buffer.concat(parts)).toString()); const n = z.createGzip(); n.close(() => console.log("closed")); await new Promise(r => setTimeout(r, 5))`,
	`const i = z.gzipSync("a", {info: true}); console.log(i.buffer.length > 10, i.engine.constructor.name, attempt(() => z.createGzip({level: 11})), z.gzip.length)`,
}

func TestZlibIsNodes(t *testing.T) {
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

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	const code = prelude + `const bomb = z.gzipSync(Buffer.alloc(3 << 20));
console.log(bomb.length < 10000, attempt(() => z.gunzipSync(bomb, {maxOutputLength: 1 << 20})));
const g = z.createGunzip({maxOutputLength: 1 << 20}); const failed = new Promise(r => g.on("error", e => r(e.code))); g.resume(); g.end(bomb); console.log(await failed);`
	const want = "true RangeError|ERR_BUFFER_TOO_LARGE||Cannot create a Buffer larger than 1048576 bytes\nERR_BUFFER_TOO_LARGE\n"
	if stdout, stderr := trial.Run(code, nil, modules()...); stdout != want || stderr != "" {
		t.Errorf("wrote %q and %q\nwant  %q", stdout, stderr, want)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, Module(), modules()[1:]...)
}

func TestNothingButExceptions(t *testing.T) {
	t.Parallel()
	trial.Storm(t, `require("node:zlib")`, `require("node:zlib").createGzip(), require("node:zlib").createInflate()`, modules()...)
}

package buffer

import (
	"os/exec"
	"strings"
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/encoding"
	"mcpx/stdlib/event"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
)

func modules() []engine.Module {
	return []engine.Module{Module(), encoding.Module(), event.Module(), console.Module()}
}

const prelude = `const attempt = f => { try { const v = f(); return typeof v === "bigint" ? v + "n" : JSON.stringify(v) } catch (e) { return e.name + " " + e.code + " " + e.message } };
`

// scripts are compared with Node.
var scripts = []string{
	`for (const [s, e] of [["héllo €😀", "utf8"], ["héllo", "latin1"], ["日本", "latin1"], ["héllo", "ascii"], ["hé😀", "utf16le"], ["hé", "ucs2"], ["deadBEEF", "hex"], ["abc", "hex"], ["61zz62", "hex"], ["é61", "hex"], ["aGVsbG8", "base64"], ["aGVsbG8=", "base64url"], ["_-8", "base64"], ["a G\nV", "base64"], ["YQ==YQ==", "base64"], ["=aa", "base64"], ["\ud800x", "utf8"], ["", "hex"], ["x", undefined], ["x", null], ["x", "UTF-8"], ["x", "BINARY"], ["x", ""], ["x", 5]]) { const b = Buffer.from(s, e); console.log(s, e, b.toString("hex"), b.length, Buffer.byteLength(s, e)) }`,
	`const b = Buffer.from([0xe2, 0x82, 0xac, 0xff, 0x41, 0xc3]); for (const e of ["utf8", "utf16le", "latin1", "binary", "ascii", "hex", "base64", "base64url", "ucs-2", undefined]) console.log(e, JSON.stringify(b.toString(e)), JSON.stringify(b.toString(e, 1, 4)))`,
	`const b = Buffer.from("hello world"); for (const a of [[], ["utf8"], ["utf8", 2], ["utf8", 2, 5], ["utf8", -3], ["utf8", 3, 1], ["utf8", 100], ["utf8", 0, 100], ["utf8", "1", "3"], ["utf8", 1.7, 3.9], ["utf8", NaN, 3], [undefined, 6], ["utf8", null, 4], ["utf8", 0, -1]]) console.log(attempt(() => b.toString(...a)))`,
	`for (const f of [() => Buffer.from("x", "nope"), () => Buffer.from("x").toString("nope"), () => Buffer.from(5), () => Buffer.from(null), () => Buffer.from(), () => Buffer.from(true), () => Buffer.from({}), () => Buffer.from(Symbol("x")), () => Buffer.alloc("5"), () => Buffer.alloc(-1), () => Buffer.alloc(NaN), () => Buffer.allocUnsafe(2 ** 40), () => new Buffer(5, "x"), () => Buffer.from(10n)]) console.log(attempt(f))`,
	`console.log(Buffer.from([1, 256, -1, 1.9, "7", "x", NaN, null, undefined, true]).join(), Buffer.from({length: 3, 0: 1, 2: 3}).join(), Buffer.from({type: "Buffer", data: [1, 2]}).join(), Buffer.from(new String("str")).toString(), Buffer.from({valueOf() { return "vo" }}).toString(), Buffer.from({[Symbol.toPrimitive]() { return "tp" }}).toString(), Buffer.from(new Uint16Array([1, 256, 65535])).join(), Buffer.from(new Set([1])).length)`,
	`console.log(Buffer.from({length: "5"}).length, Buffer.from({length: 0}).length, Buffer.from([]).length, Buffer.from(Buffer.from("abc")).toString(), Buffer.from(new Float64Array([1.5, 300])).join(), Buffer.from({length: 2.5, 0: 9}).length)`,
	`const ab = new ArrayBuffer(8); const b = Buffer.from(ab, 2, 4); b[0] = 9; console.log(new Uint8Array(ab).join(), b.length, b.byteOffset, b.offset, b.parent === ab, b.buffer === ab); for (const a of [[ab, 9], [ab, 0, 9], [ab, 4], [ab, "2", "3"], [ab, NaN, -1], [ab, 8]]) console.log(attempt(() => Buffer.from(...a).length))`,
	`const src = Buffer.from("abc"); const copy = Buffer.from(src); copy[0] = 120; console.log(src.toString(), copy.toString()); const s = src.slice(1); s[0] = 66; console.log(src.toString(), s.buffer === src.buffer)`,
	`console.log(Buffer.alloc(5).join(), Buffer.alloc(5, 1).join(), Buffer.alloc(5, "ab").toString(), Buffer.alloc(5, "YWI=", "base64").toString(), Buffer.alloc(5, Buffer.from("xyz")).toString(), Buffer.alloc(3, "").join(), Buffer.alloc(3, 257).join(), Buffer.alloc(3, true).join(), Buffer.alloc(2.9).length, Buffer.alloc(4, "é").toString("hex"), Buffer.allocUnsafe(3).length, Buffer.allocUnsafeSlow(3).length)`,
	`for (const f of [() => Buffer.alloc(3, Buffer.alloc(0)), () => Buffer.alloc(3, "zz", "hex"), () => Buffer.alloc(3, "x", "nope"), () => Buffer.alloc(3, "x", 5)]) console.log(attempt(f))`,
	`console.log(Buffer.concat([Buffer.from("a"), new Uint8Array([98]), Buffer.from("cd")]).toString(), Buffer.concat([]).length, Buffer.concat([Buffer.from("abc")], 2).toString(), Buffer.concat([Buffer.from("abc")], 5).toString("hex"), Buffer.concat([Buffer.from("abc")], 0).length); for (const a of [["x"], [[1]], [["x"]], [[Buffer.from("a")], -1], [[Buffer.from("a")], "x"], [[Buffer.from("a")], 1.5]]) console.log(attempt(() => Buffer.concat(...a)))`,
	`console.log(Buffer.isBuffer(Buffer.alloc(1)), Buffer.isBuffer(new Uint8Array(1)), Buffer.isBuffer(null), Buffer.isBuffer({}), Buffer.isEncoding("utf8"), Buffer.isEncoding("UTF-16LE"), Buffer.isEncoding("nope"), Buffer.isEncoding(""), Buffer.isEncoding(5), Buffer.isEncoding("utf/8"))`,
	`console.log(Buffer.compare(Buffer.from("a"), Buffer.from("b")), Buffer.compare(Buffer.from("b"), Buffer.from("a")), Buffer.compare(Buffer.from("a"), Buffer.from("a")), Buffer.compare(Buffer.from("a"), Buffer.from("ab")), [Buffer.from("c"), Buffer.from("a")].sort(Buffer.compare).join()); for (const f of [() => Buffer.compare("a", Buffer.from("b")), () => Buffer.compare(Buffer.from("b"), [])]) console.log(attempt(f))`,
	`const b = Buffer.from("hello"); console.log(b.compare(Buffer.from("help")), b.compare(Buffer.from("xhello"), 1), b.compare(Buffer.from("xhellox"), 1, 6), b.compare(Buffer.from("lo"), 0, 2, 3), b.compare(Buffer.from("a"), 1, 1, 5, 5), b.compare(Buffer.from("a"), 0, 0), b.compare(Buffer.from("abc"), 0, 3, 5)); for (const a of [["x"], [b, -1], [b, 0, 100], [b, 0, 1, "x"], [b, 0, 1, 0, 100], [b, 1.5]]) console.log(attempt(() => b.compare(...a)))`,
	`console.log(Buffer.from("a").equals(Buffer.from("a")), Buffer.from("a").equals(new Uint8Array([97])), Buffer.from("a").equals(Buffer.from("b")), attempt(() => Buffer.from("a").equals("a")), Buffer.alloc(0).equals(Buffer.alloc(0)))`,
	`const b = Buffer.from("this is a buffer, is it?"); for (const a of [["is"], ["is", 3], ["is", -5], ["is", 100], ["is", -100], ["x"], [""], ["", 5], ["", 100], ["", -3], [105], [105 + 256], [-151], [105.7], [Buffer.from("buffer")], [new Uint8Array([98, 117])], ["is", "utf8"], ["6973", "hex"], ["aXM=", "base64"], ["is", undefined], ["is", null], ["is", {}], ["is", "5"], ["is", 3, "latin1"], ["buffer, is it? and more"], ["is", Infinity], ["is", -Infinity], [Buffer.alloc(0), 4]]) console.log(attempt(() => [b.indexOf(...a), b.lastIndexOf(...a), b.includes(...a)]))`,
	`const b = Buffer.from("abab日ab", "utf16le"); console.log(b.indexOf("ab", 0, "utf16le"), b.indexOf("ab", 1, "utf16le"), b.indexOf("ab", 3, "utf16le"), b.lastIndexOf("ab", undefined, "utf16le"), b.lastIndexOf("ab", 9, "utf16le"), b.indexOf("日", 0, "ucs2"), b.indexOf("x", 0, "ucs2"), b.indexOf("日", "ucs2"))`,
	`for (const f of [() => Buffer.from("a").indexOf({}), () => Buffer.from("a").indexOf(), () => Buffer.from("a").indexOf(null), () => Buffer.from("a").indexOf("a", 0, "nope"), () => Buffer.from("a").includes(true)]) console.log(attempt(f))`,
	`const f = (...a) => attempt(() => Buffer.alloc(6).fill(...a).toString("hex")); for (const a of [[1], ["ab"], ["é"], ["ab", "utf16le"], ["6162", "hex"], ["a", 2], ["a", 2, 4], ["a", 2, 4, "latin1"], [Buffer.from("xyz")], [new Uint16Array([258])], [""], [0x1ff], [-1], [1.9], [true], [null], [undefined], [{}], ["a", 4, 2], ["a", 0, 100], ["a", -1], ["a", 7], ["a", "nope"], ["zz", "hex"], [Buffer.alloc(0)], ["a", 0, 6, 5], [1, 2, 4, "nope"], [1, "2"], ["ÿ", "latin1"], ["日", "latin1"], ["ab", 0, undefined, "hex"]]) console.log(a.map(String).join(), f(...a))`,
	`const f = (...a) => { const b = Buffer.alloc(8); const n = attempt(() => b.write(...a)); return n + " " + b.toString("hex") }; for (const a of [["abc"], ["abc", 2], ["abc", 2, 1], ["é€😀x"], ["😀😀😀"], ["abc", "latin1"], ["abcd", "hex"], ["abc", 1, "hex"], ["6162", 1, 1, "hex"], ["hé", 0, 3, "utf16le"], ["x", 8], ["x", 9], ["x", -1], ["x", 1.5], ["x", "nope"], [5], [null], ["abc", 0, 100], ["abc", 6, 8], ["YWJj", "base64"], ["abc", undefined, 1], ["日本", 0, 5], ["日本", 3, "ascii"], ["\ud800", 0], ["abcdefghijk", "ascii"], ["YWJjZGVmZ2hpamts", "base64url"], ["x", "1"], ["", 3]]) console.log(a.join(), f(...a))`,
	`const b = Buffer.from("abcdef"); const show = x => x.toString(); console.log(show(b.subarray()), show(b.subarray(1)), show(b.subarray(1, 3)), show(b.subarray(-2)), show(b.subarray(-4, -2)), show(b.subarray(4, 2)), show(b.subarray(0, 100)), show(b.slice("2", "4")), show(b.slice(1.9, 3.9)), show(b.slice(NaN, 2)), show(b.subarray(undefined, undefined)), show(b.subarray(null, 2)), show(b.slice(-100, 2)), b.subarray(1) instanceof Buffer, b.subarray(1).subarray(1).byteOffset - b.byteOffset)`,
	`const a = Buffer.from("abcdef"), b = Buffer.alloc(4, 45); console.log(a.copy(b), b.toString(), a.copy(b, 1), b.toString(), a.copy(b, 0, 3), b.toString(), a.copy(b, 2, 0, 1), b.toString(), a.copy(b, 100), a.copy(b, 0, 4, 2), a.copy(b, 0, 6), a.copy(b, 0, 0, 100)); a.copy(a, 2, 0, 4); console.log(a.toString()); for (const x of [[5], [b, -1], [b, 0, -1], [b, 0, 7], [b, 0, 0, -1], [b, "1"], [b, NaN], [b, {}], [new Uint8Array(3)]]) console.log(attempt(() => a.copy(...x)))`,
	`for (const n of [16, 32, 64]) { const b = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]); console.log(b["swap" + n]().join(), b["swap" + n]() === b, attempt(() => Buffer.alloc(9)["swap" + n]())) }`,
	`console.log(JSON.stringify(Buffer.from("hi")), JSON.stringify({b: Buffer.alloc(0)}), Buffer.from("hi").toJSON(), Buffer.from(JSON.parse(JSON.stringify(Buffer.from("round")))).toString())`,
	`console.log(Buffer.from("hello"), [Buffer.alloc(2)], {b: Buffer.from([255])}, Buffer.alloc(0), Buffer.alloc(51), Buffer.alloc(52)); const b = Buffer.from("x"); b.prop = {a: [1, {b: {c: 1}}]}; console.log(b); const c = Buffer.alloc(0); c.x = 1; c.y = "s"; console.log(c)`,
	`const b = Buffer.from([0xff, 0x80, 0x01, 0x7f, 0xfe, 0x00, 0x10, 0x9c, 0x40]); for (const m of Object.getOwnPropertyNames(Buffer.prototype).filter(n => /^read/.test(n)).sort()) { const sized = /^read[UI]+n?[it]*nt[LB]E$/i.test(m); const out = []; for (const o of sized ? [0, 1] : [undefined, 0, 1]) for (const n of sized ? [1, 2, 3, 4, 5, 6] : [0]) { const v = b[m](o, n); out.push(typeof v === "bigint" ? v + "n" : v) } console.log(m, out.join()) }`,
	`for (const m of ["readUInt8", "readInt8", "readUInt16LE", "readInt32BE", "readFloatLE", "readDoubleBE", "readBigInt64LE"]) for (const o of [-1, 1.5, "1", NaN, 100, 7, 8, Infinity, null, {}, 2 ** 40]) console.log(m, o, attempt(() => Buffer.alloc(8)[m](o)), attempt(() => Buffer.alloc(0)[m](o)))`,
	`for (const a of [[0, 0], [0, 7], [0, 1.5], [0, "2"], [0], [], [undefined, 2], [5, 6], [-1, 2], ["0", 2]]) console.log(attempt(() => Buffer.alloc(8).readUIntBE(...a)), attempt(() => Buffer.alloc(8).readIntLE(...a)), attempt(() => Buffer.alloc(8).writeUIntBE(1, ...a)), attempt(() => Buffer.alloc(8).writeIntLE(1, ...a)))`,
	`for (const m of Object.getOwnPropertyNames(Buffer.prototype).filter(n => /^write.*(8|16|32).*$/.test(n) && !/Big/.test(n)).sort()) for (const v of [0, 1, -1, 127, 128, 255, 256, -128, -129, 32767, 40000, 65535, 65536, -32769, 2147483647, 2147483648, 4294967295, 4294967296, -2147483649, 1.9, -1.9, NaN, "7", null, undefined, true, "x", 5e9]) { const b = Buffer.alloc(5); console.log(m, v, attempt(() => b[m](v, 1)), b.toString("hex")) }`,
	`for (const m of ["writeUIntLE", "writeUIntBE", "writeIntLE", "writeIntBE"]) for (const n of [1, 2, 3, 4, 5, 6]) for (const v of [0, 1, -1, 2 ** (8 * n) - 1, 2 ** (8 * n), 2 ** (8 * n - 1), -(2 ** (8 * n - 1)), -(2 ** (8 * n - 1)) - 1, 1.5]) { const b = Buffer.alloc(8); console.log(m, n, v, attempt(() => b[m](v, 1, n)), b.toString("hex")) }`,
	`for (const m of ["writeFloatLE", "writeFloatBE", "writeDoubleLE", "writeDoubleBE"]) for (const v of [0, -0, 1.5, -1e300, Infinity, NaN, "2", 0.1, 1e-45, 3.4028236e38, undefined]) { const b = Buffer.alloc(9); console.log(m, v, attempt(() => b[m](v, 1)), b.toString("hex")) }`,
	`for (const m of ["writeBigInt64LE", "writeBigInt64BE", "writeBigUInt64LE", "writeBigUint64BE"]) for (const v of [0n, 1n, -1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n, -(2n ** 63n), -(2n ** 63n) - 1n]) { const b = Buffer.alloc(9); console.log(m, v, attempt(() => b[m](v, 1)), b.toString("hex")) } console.log(attempt(() => Buffer.alloc(8).writeBigInt64LE(5)), attempt(() => Buffer.alloc(8).writeBigInt64LE(5n, 1)))`,
	`const b = Buffer.from([1, 2, 3, 4]); console.log(b.map(x => x * 2), b.filter(x => x > 2), [...b.entries()].join(";"), [...b.keys()].join(), [...b].join(), b.reverse().join(), b.find(x => x === 2), b.reduce((a, c) => a + c), b.at(-1), b.map(x => x) instanceof Buffer, Uint8Array.prototype.slice.call(b, 1) instanceof Buffer, b.with ? b.with(0, 9).constructor.name : "Uint8Array")`,
	`console.log(Buffer.from("a") instanceof Uint8Array, Object.getPrototypeOf(Buffer) === Uint8Array, Buffer.name, Buffer.length, Buffer.prototype.constructor === Buffer, Buffer.BYTES_PER_ELEMENT, Buffer.poolSize, Object.prototype.toString.call(Buffer.alloc(1)), String(Buffer.from("str")), Buffer.from("a") + "b", Buffer.from("12") * 2, typeof Buffer, Buffer.of(1, 257, "3").join(), Buffer.from.name, Buffer.from.length, Buffer.prototype.readUint8.name)`,
	`console.log(new Buffer(3).join(), new Buffer("abc").toString(), Buffer("x").toString(), new Buffer([1, 2]).join(), new Buffer("6869", "hex").toString()); class My extends Uint8Array {} console.log(Buffer.from(new My([1, 2])).join())`,
	`const b = require("node:buffer"); console.log(b.Buffer === Buffer, b.kMaxLength, b.constants.MAX_LENGTH, b.kStringMaxLength, b.constants.MAX_STRING_LENGTH, b.SlowBuffer(3).length, b.INSPECT_MAX_BYTES, b.isUtf8(Buffer.from([0xff])), b.isUtf8(Buffer.from("é")), b.isAscii(Buffer.from("é")), b.isAscii(new Uint8Array([1]).buffer), b.atob("YQ=="), b.btoa("a"), require("buffer") === b)`,
	`const { transcode } = require("node:buffer"); console.log(transcode(Buffer.from("€é"), "utf8", "latin1").toString("hex"), transcode(Buffer.from("€"), "utf8", "ascii").toString("hex"), transcode(Buffer.from("é", "latin1"), "latin1", "utf8").toString(), transcode(Buffer.from("hé"), "utf8", "utf16le").toString("hex"), transcode(Buffer.from("hé", "ucs2"), "ucs2", "utf8").toString())`,
	`const b = Buffer.from("héllo"); console.log(b.utf8Slice(0, 3), b.hexSlice(), b.latin1Slice(1, 3), b.base64Slice(0, 3), b.asciiSlice(0, 1), Buffer.alloc(4).utf8Write("ab", 1))`,
	`const u = new Uint8Array([104, 105]); console.log(Buffer.prototype.readUInt8.call(u, 1), Buffer.prototype.equals.call(u, u), Buffer.copyBytesFrom(new Uint16Array([1, 2, 3]), 1, 1).join(), Buffer.copyBytesFrom(new Uint8Array(0)).length, Buffer.copyBytesFrom(new Uint16Array([1, 2, 3]), 9).length); for (const a of [[5], [u, -1], [u, 0, 1.5]]) console.log(attempt(() => Buffer.copyBytesFrom(...a)))`,
	`const b = Buffer.from("0123456789"); b.set([65, 66], 2); b.fill("x", 8); console.log(b.toString(), b.copyWithin(0, 8).toString(), b.every(x => x > 0), b.join("").length); const d = new DataView(b.buffer, b.byteOffset, b.length); d.setUint16(0, 0x4142); console.log(b.toString("latin1", 0, 2))`,
	`console.log(Object.keys(Buffer.from("ab")), "length" in Buffer.from("a"), Buffer.from("a").hasOwnProperty("0"), Buffer.byteLength(new ArrayBuffer(7)), Buffer.byteLength(new DataView(new ArrayBuffer(3))), attempt(() => Buffer.byteLength(5)), attempt(() => Buffer.byteLength()), Buffer.byteLength("é", "nope"), Buffer.byteLength("==", "base64"), Buffer.byteLength("a==", "base64"), Buffer.byteLength("", "hex"))`,
}

func TestBufferIsNodes(t *testing.T) {
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

func TestBuffer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, want string }{
		{"memory that was given away", `const b = Buffer.from("abc"); if (b.buffer.transfer) { b.buffer.transfer(); console.log(b.length, b.toString() === "", b.indexOf("a")) } else console.log(0, true, -1)`, "0 true -1\n"},
		{"too much memory", `try { Buffer.alloc(2 ** 32) } catch (e) { console.log(e.name, e.message) }`, "RangeError Array buffer allocation failed\n"},
		{"endless list", `try { Buffer.from({length: 1e15}) } catch (e) { console.log(e.name) }`, "RangeError\n"},
		{"method of something else", `try { Buffer.prototype.toString.call({}) } catch (e) { console.log(e.code) }`, "ERR_INVALID_ARG_TYPE\n"},
		{"bytes that are no Uint8Array", `try { Buffer.prototype.toString.call(new Uint8ClampedArray(1)) } catch (e) { console.log(e.code) }`, "ERR_INVALID_ARG_TYPE\n"},
		{"heir", `class Mine extends Buffer { double() { return this.map(x => 2 * x) } } const m = new Mine([1, 2]); console.log(m instanceof Mine, m instanceof Buffer, m.double().join())`, "true true 2,4\n"},
		{"base64 of much", `const b = Buffer.alloc(3_000_000, "abc"); console.log(Buffer.from(b.toString("base64"), "base64").equals(b))`, "true\n"},
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
	trial.Storm(t, `require("node:buffer")`, `Buffer.from("hello"), new Uint8Array(4)`, modules()...)
}

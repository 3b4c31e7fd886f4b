//go:build linux

package fs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpx/engine"
	"mcpx/internal/grant"
	"mcpx/stdlib/blob"
	"mcpx/stdlib/buffer"
	"mcpx/stdlib/console"
	"mcpx/stdlib/encoding"
	"mcpx/stdlib/event"
	"mcpx/stdlib/events"
	"mcpx/stdlib/fs"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/path"
	"mcpx/stdlib/process"
	"mcpx/stdlib/readline"
	"mcpx/stdlib/streams"
	"mcpx/stdlib/stringdecoder"
	"mcpx/stdlib/timers"
	"mcpx/stdlib/url"
	"mcpx/stdlib/util"
)

func modules() []engine.Module {
	return slices.Concat(fs.Modules(), streams.Modules(), process.Modules(), path.Modules(), readline.Modules(), util.Modules(), []engine.Module{
		blob.Module(), buffer.Module(), console.Module(), encoding.Module(), event.Module(), events.Module(), stringdecoder.Module(), timers.Module(), url.Module(),
	})
}

const use = `const fs = require("node:fs"), fsp = require("node:fs/promises"), log = console.log;
	const says = e => log(e.name, "|", e.code, "|", e.message, "|", e.errno, e.syscall, e.path, e.dest, Object.keys(e).join());
	const t = f => { try { log(f()) } catch (e) { says(e) } };
	const ta = async f => { try { log(await f()) } catch (e) { says(e) } };
	const call = (f, ...args) => new Promise(r => f(...args, (...got) => r(got)));
	fs.rmSync("w", { recursive: true, force: true }); fs.mkdirSync("w"); fs.writeFileSync("w/f", "hello"); fs.mkdirSync("w/d");
	`

// scripts are compared with Node. Each has a folder w with a file f of five letters and
// an empty folder d.
var scripts = []string{
	`t(() => fs.readFileSync("w/f")); t(() => fs.readFileSync("w/f", "utf8")); t(() => fs.readFileSync("w/f", { encoding: "hex" })); t(() => fs.readFileSync("w/f", "base64")); t(() => fs.readFileSync(new Uint8Array([119, 47, 102]), "latin1")); t(() => fs.readFileSync("w/none")); t(() => fs.readFileSync("w/d")); t(() => fs.readFileSync("w/f/x")); t(() => fs.readFileSync("")); t(() => fs.readFileSync("w/f", { flag: "a+", encoding: "utf8" }))`,
	`t(() => fs.readFileSync("w/f", "zz")); t(() => fs.readFileSync("w/f", 5)); t(() => fs.readFileSync()); t(() => fs.readFileSync("a\0b")); t(() => fs.writeFileSync("w/f", 5)); t(() => fs.writeFileSync("w/f", {})); t(() => fs.writeFileSync("w/f", null)); t(() => fs.writeSync(1, 5)); t(() => fs.readSync(3, "x")); t(() => fs.readFile("w/f")); t(() => fs.readFile("w/f", "utf8")); t(() => fs.stat("w/f")); t(() => fs.closeSync("x")); t(() => fs.closeSync(-1)); t(() => fs.mkdirSync("w/d", "zz")); t(() => fs.mkdirSync("w/d", { recursive: 5 })); t(() => fs.accessSync("w/f", 9)); t(() => fs.openSync("w/f", "zz")); t(() => fs.openSync("w/f", 1.5)); t(() => fs.existsSync()); t(() => fs.exists("w/f")); t(() => fs.rmSync("w/none", { force: 5 })); t(() => fs.truncateSync("w/f", "x")); t(() => fs.renameSync("w/f")); t(() => fs.readFileSync("w/f", { flag: "zz" })); t(() => fs.readFileSync(-1)); t(() => fs.readFileSync(1.5)); t(() => fs.copyFileSync("w/f")); t(() => fs.readdirSync(5)); t(() => fs.mkdtempSync(5)); t(() => fs.appendFileSync("w/f")); t(() => fs.cpSync("w/f", "w/g", 5)); t(() => fs.createReadStream("w/f", { start: "a" })); t(() => fs.createReadStream("w/f", { start: 5, end: 2 })); t(() => fs.createReadStream()); t(() => fs.createWriteStream(5)); t(() => fs.stat("w/f", 5)); t(() => fs.readvSync(1, 5)); t(() => fs.openSync("w/f", "r", "9"))`,
	`t(() => fs.rmSync("w/d")); t(() => fs.rmSync("w/none")); t(() => fs.rmSync("w/none", { force: true })); t(() => fs.mkdirSync("w/d")); t(() => fs.mkdirSync("w/d", { recursive: true })); t(() => fs.mkdirSync("w/a/b/c", { recursive: true }).endsWith("w/a")); t(() => fs.mkdirSync("w/x/y")); t(() => fs.rmdirSync("w/a")); t(() => fs.rmdirSync("w/f")); t(() => fs.rmdirSync("w/d")); t(() => fs.unlinkSync("w/a")); t(() => fs.unlinkSync("w/f")); t(() => fs.unlinkSync("w/f")); t(() => fs.rmSync("w/a", { recursive: true })); t(() => fs.existsSync("w/a")); t(() => fs.rmdirSync("w/none"))`,
	`t(() => fs.truncateSync("w/none")); t(() => fs.realpathSync.native("w/none")); t(() => fs.realpathSync("w/f").endsWith("/w/f")); t(() => fs.opendirSync("w/d").path); t(() => fs.readSync(99, Buffer.alloc(1))); t(() => fs.closeSync(99)); t(() => fs.accessSync("w/none")); t(() => fs.accessSync("w/f", fs.constants.R_OK | fs.constants.W_OK)); t(() => fs.readdirSync("w/none")); t(() => fs.readdirSync("w/f")); t(() => fs.mkdtempSync("w/none/x")); t(() => fs.mkdtempSync("w/x").length); t(() => fs.renameSync("w/none", "w/y")); t(() => fs.renameSync("w/f", "w/y")); t(() => fs.readlinkSync("w/y")); t(() => fs.writeFileSync("w/d", "x")); t(() => fs.appendFileSync("w/none/x", "x")); t(() => fs.openSync("w/y", "wx")); t(() => fs.writeFileSync("w/y", "x", { flag: "wx" })); t(() => fs.statSync("w/none", { throwIfNoEntry: false })); t(() => fs.lstatSync("w/none")); t(() => fs.copyFileSync("w/y", "w/z")); t(() => fs.copyFileSync("w/y", "w/z", fs.constants.COPYFILE_EXCL)); t(() => fs.copyFileSync("w/none", "w/z")); t(() => fs.readFileSync("w/z", "utf8")); t(() => fs.truncateSync("w/z", 2)); t(() => fs.readFileSync("w/z", "utf8"))`,
	`fs.writeFileSync("w/a", "caf\u00e9"); fs.appendFileSync("w/a", Buffer.from("!")); fs.writeFileSync("w/b", "68656c6c6f", "hex"); fs.writeFileSync("w/c", new Uint16Array([1, 2])); fs.writeFileSync("w/v", new DataView(new ArrayBuffer(2))); log(fs.readFileSync("w/a", "utf8"), fs.readFileSync("w/b", "utf8"), fs.readFileSync("w/c"), fs.readFileSync("w/v")); fs.writeFileSync("w/a", ""); log(fs.readFileSync("w/a", "utf8") === "", fs.readFileSync("w/a")); fs.appendFileSync("w/new", "made", { mode: 0o600 }); log((fs.statSync("w/new").mode & 0o777).toString(8))`,
	`const s = fs.statSync("w/f"); log(s.isFile(), s.isDirectory(), s.isSymbolicLink(), s.size, s.constructor.name, s instanceof fs.Stats, typeof s.mtimeMs, s.mtime instanceof Date, Object.keys(s).join(), Math.abs(Date.now() - s.mtimeMs) < 60000, s.mtime.getTime() === Math.round(s.mtimeMs)); const b = fs.statSync("w/d", { bigint: true }); log(b.isDirectory(), typeof b.size, typeof b.mtimeNs, Object.keys(b).join(), b.mtimeMs === b.mtimeNs / 1000000n); log(fs.lstatSync("w/d").isDirectory(), (await fsp.stat("w/f")).size, (await call(fs.stat, "w/f"))[1].size, (await call(fs.stat, "w/f", { bigint: true }))[1].size)`,
	`fs.mkdirSync("w/d/e/g", { recursive: true }); fs.writeFileSync("w/d/z", ""); fs.writeFileSync("w/d/e/y", ""); log(fs.readdirSync("w"), fs.readdirSync("w/d", { recursive: true }).sort(), fs.readdirSync("w", "buffer").length, fs.readdirSync("w", { encoding: "hex" })); const list = fs.readdirSync("w", { withFileTypes: true }); log(list, list[0] instanceof fs.Dirent, list[0].isDirectory(), list[1].isFile(), list[1].isFIFO()); log((await fsp.readdir("w")).length, await call(fs.readdir, "w"), fs.readdirSync("w/d", { recursive: true, withFileTypes: true }).map(e => e.parentPath + ":" + e.name).sort())`,
	`const fd = fs.openSync("w/f", "r+"); const b = Buffer.alloc(8); log(fs.readSync(fd, b), b, fs.readSync(fd, b), fs.readSync(fd, b, 2, 3, 0), b, fs.readSync(fd, b, { position: 1, length: 2 }), b.toString("latin1")); log(fs.writeSync(fd, "XY", 1), fs.writeSync(fd, Buffer.from("abc"), 1, 1, 0), fs.writeSync(fd, "!", null, "utf8")); log(fs.readFileSync("w/f", "utf8"), fs.fstatSync(fd).size); fs.ftruncateSync(fd, 3); fs.fsyncSync(fd); fs.fdatasyncSync(fd); log(fs.readFileSync("w/f", "utf8")); log(fs.writevSync(fd, [Buffer.from("1"), Buffer.from("23")], 0), fs.readvSync(fd, [b.subarray(0, 1), b.subarray(1, 3)], 0), b.toString("latin1", 0, 3)); fs.closeSync(fd); t(() => fs.readSync(fd, b)); t(() => fs.readSync(fd, b, 9)); t(() => fs.readSync(fd, b, 0, 9)); t(() => fs.writeSync(1, b, 9)); t(() => fs.writeSync(1, b, 0, 9))`,
	`const fd = fs.openSync("w/f"); log(fs.readFileSync(fd, "utf8"), JSON.stringify(fs.readFileSync(fd, "utf8"))); fs.closeSync(fd); const w = fs.openSync("w/g", "w"); fs.writeFileSync(w, "one"); fs.writeFileSync(w, "two"); fs.appendFileSync(w, "3"); fs.closeSync(w); log(fs.readFileSync("w/g", "utf8"))`,
	`log(await call(fs.readFile, "w/f")); log(await call(fs.readFile, "w/f", "utf8")); const [e] = await call(fs.readFile, "w/none"); says(e); log(await call(fs.writeFile, "w/g", "x"), await call(fs.appendFile, "w/g", "y"), await call(fs.access, "w/g"), await call(fs.exists, "w/g"), await call(fs.exists, "w/none"), await call(fs.mkdir, "w/m"), await call(fs.rename, "w/g", "w/h"), await call(fs.unlink, "w/h"), await call(fs.rmdir, "w/m"), await call(fs.rm, "w/f"), await call(fs.realpath, "w").then(r => r.length), (await call(fs.mkdtemp, "w/t"))[1].length)`,
	`const order = []; const read = new Promise(r => fs.readFile("w/f", () => { order.push("cb"); r() })); fs.existsSync("w/f"); order.push("sync"); await null; order.push("micro"); await read; log(order.join()); await new Promise(r => fs.stat("w/f", function () { log(arguments.length, this === globalThis || this === undefined); r() }))`,
	`const [e0, fd] = await call(fs.open, "w/f", "r"); log(e0, typeof fd); const b = Buffer.alloc(3); log(await call(fs.read, fd, b, 0, 3, 1)); log(await call(fs.read, fd, { buffer: b, position: 0 })); log(await call(fs.fstat, fd).then(r => r[1].size), await call(fs.close, fd)); const { promisify } = require("node:util"); const fd2 = fs.openSync("w/g", "w+"); log(await promisify(fs.write)(fd2, Buffer.from("abc"))); log(await promisify(fs.read)(fd2, b, 0, 3, 0)); log(await promisify(fs.exists)("w/g"), await promisify(fs.readFile)("w/g", "utf8")); fs.closeSync(fd2)`,
	`await ta(() => fsp.readFile("w/f", "utf8")); await ta(() => fsp.readFile("w/none")); await ta(() => fsp.writeFile("w/p", "x")); await ta(() => fsp.writeFile("w/p", ["a", "b"])); await ta(() => fsp.writeFile("w/p", (async function* () { yield "c"; yield Buffer.from("d") })())); await ta(() => fsp.readFile("w/p", "utf8")); await ta(() => fsp.appendFile("w/p", "e")); await ta(() => fsp.readFile("w/p", { encoding: "utf8" })); await ta(() => fsp.mkdir("w/d")); await ta(() => fsp.mkdir("w/q/r", { recursive: true }).then(p => p.endsWith("w/q"))); await ta(() => fsp.rm("w/q")); await ta(() => fsp.rm("w/q", { recursive: true })); await ta(() => fsp.rename("w/p", "w/r")); await ta(() => fsp.copyFile("w/r", "w/s")); await ta(() => fsp.unlink("w/s")); await ta(() => fsp.unlink("w/s")); await ta(() => fsp.access("w/s")); await ta(() => fsp.truncate("w/r", 1)); await ta(() => fsp.rmdir("w/d")); await ta(() => fsp.realpath("w/none")); await ta(() => fsp.readFile()); await ta(() => fsp.readFile("w/f", "zz")); await ta(() => fsp.writeFile("w/f", 5)); await ta(() => fsp.readdir("w/none")); await ta(() => fsp.mkdtemp("w/k").then(p => p.length)); await ta(() => fsp.readFile("w/f", { signal: AbortSignal.abort() }).catch(e => [e.name, e.code, e.message].join()))`,
	`const h = await fsp.open("w/f", "r+"); log(typeof h.fd, h.constructor.name, (await h.stat()).size, await h.readFile("utf8"), JSON.stringify(await h.readFile("utf8"))); log(await h.read(Buffer.alloc(3), 0, 3, 0), await h.read({ buffer: Buffer.alloc(2), position: 3 })); log(await h.write("zz", 0), await h.write(Buffer.from("y"), 0, 1, 4)); await h.truncate(4); await h.sync(); await h.datasync(); h.on("close", () => log("closed")); await h.close(); log(h.fd, fs.readFileSync("w/f", "utf8")); await ta(() => h.read(Buffer.alloc(1)).catch(e => [e.code, e.message, e.syscall].join())); await h.close(); const g = await fsp.open("w/l", "w"); await g.writeFile("1\n2\n3"); await g.appendFile("\n4"); await g.close(); const r = await fsp.open("w/l"); const lines = []; for await (const l of r.readLines()) lines.push(l); log(lines); await ta(() => fsp.open("w/none")); const d = await fsp.open("w/l"); log(await fsp.readFile(d, "utf8")); await d[Symbol.asyncDispose]?.() ?? await d.close()`,
	`fs.mkdirSync("w/d/e", { recursive: true }); fs.writeFileSync("w/d/e/f", "deep"); t(() => fs.cpSync("w/d", "w/c")); t(() => fs.cpSync("w/d", "w/c", { recursive: true })); log(fs.readFileSync("w/c/e/f", "utf8")); t(() => fs.cpSync("w/none", "w/c")); t(() => fs.cpSync("w/f", "w/f")); t(() => fs.cpSync("w/f", "w/n/e/w")); log(fs.readFileSync("w/n/e/w", "utf8")); fs.writeFileSync("w/keep", "kept"); t(() => fs.cpSync("w/f", "w/keep", { force: false })); log(fs.readFileSync("w/keep", "utf8")); await ta(() => fsp.cp("w/d", "w/g", { recursive: true, filter: async s => !s.endsWith("/f") })); log(fs.readdirSync("w/g/e")); t(() => fs.cpSync("w/d", "w/d/x", { recursive: true }))`,
	`const dir = fs.opendirSync("w"); log(dir.path, dir instanceof fs.Dir); const names = []; for (let e; (e = dir.readSync());) names.push(e.name); log(names.sort()); dir.closeSync(); t(() => dir.readSync()); const seen = []; for await (const e of await fsp.opendir("w")) seen.push(e.name + e.isDirectory()); log(seen.sort()); const d2 = await fsp.opendir("w/d"); log(await d2.read()); await d2.close()`,
	`const parts = []; for await (const c of fs.createReadStream("w/f", { encoding: "utf8", highWaterMark: 2 })) parts.push(c); log(parts); const range = []; for await (const c of fs.createReadStream("w/f", { start: 1, end: 3 })) range.push(c.toString()); log(range); const events = []; const r = fs.createReadStream("w/f"); for (const n of ["open", "ready", "data", "end", "close"]) r.on(n, () => events.push(n)); await new Promise(d => r.on("close", d)); log(events.join(), r.bytesRead, r.path, r.pending, r.fd); const bad = fs.createReadStream("w/none"); await new Promise(d => bad.on("error", e => { says(e); d() }))`,
	`const w = fs.createWriteStream("w/out"); const ev = []; for (const n of ["open", "ready", "finish", "close"]) w.on(n, () => ev.push(n)); w.write("one\n"); w.write(Buffer.from("two\n")); w.end("three"); await new Promise(d => w.on("close", d)); log(ev.join(), w.bytesWritten, fs.readFileSync("w/out", "utf8")); const a = fs.createWriteStream("w/out", { flags: "a" }); a.end("+"); await new Promise(d => a.on("finish", d)); log(fs.readFileSync("w/out", "utf8").length); const p = fs.createWriteStream("w/out", { flags: "r+", start: 1 }); p.end("N"); await new Promise(d => p.on("close", d)); log(fs.readFileSync("w/out", "utf8").slice(0, 3)); const e = fs.createWriteStream("w/none/x"); await new Promise(d => e.on("error", x => { says(x); d() })); const { pipeline } = require("node:stream/promises"); await pipeline(fs.createReadStream("w/out"), fs.createWriteStream("w/copy")); log(fs.readFileSync("w/copy").equals(fs.readFileSync("w/out")), w instanceof fs.WriteStream, fs.ReadStream.name)`,
	`const rl = require("node:readline").createInterface({ input: fs.createReadStream("w/f") }); for await (const l of rl) log(l); const h = await fsp.open("w/f"); const s = h.createReadStream({ encoding: "utf8" }); for await (const c of s) log(c); log(h.fd); const b = await fs.openAsBlob("w/f", { type: "t/x" }); log(await b.text(), b.type, b.size)`,
	`log(Object.keys(fs).sort().join()); log(Object.keys(fsp).sort().join()); log(Object.keys(fs).filter(k => typeof fs[k] === "function").map(k => k + fs[k].name + fs[k].length).sort().join()); log(Object.keys(fsp).filter(k => typeof fsp[k] === "function").map(k => k + fsp[k].name + fsp[k].length).sort().join()); log(fs.constants, fs.promises === fsp, fsp.constants === fs.constants, Object.keys(new fs.Stats()).join())`,
	`fs.writeFileSync("w/big", Buffer.alloc(3 << 20, "ab")); log(fs.readFileSync("w/big").length, (await fsp.readFile("w/big", "latin1")).length); let n = 0; for await (const c of fs.createReadStream("w/big")) n += c.length; log(n); const all = await Promise.all(Array.from({ length: 200 }, (_, i) => fsp.writeFile("w/m" + i, String(i)).then(() => fsp.readFile("w/m" + i, "utf8")))); log(all.join() === Array.from({ length: 200 }, (_, i) => i).join())`,
	`const ac = new AbortController(); const p = fsp.readFile("w/f", { signal: ac.signal }); ac.abort(); await ta(() => p.catch(e => e.name + e.code)); await ta(() => fsp.readFile("w/f", { signal: AbortSignal.abort() }).catch(e => e.name + e.code)); const late = new AbortController(); log(await fsp.readFile("w/f", { signal: late.signal, encoding: "utf8" })); late.abort(); await ta(() => fsp.writeFile("w/n", "x", { signal: ac.signal }).catch(e => e.name)); log(fs.existsSync("w/n"))`,
	`const big = Buffer.alloc(17 << 20, "abc"); fs.writeFileSync("w/big", big); log(fs.readFileSync("w/big").equals(big)); fs.writeFileSync("w/big", big.subarray(1), { flag: "r+" }); log(fs.statSync("w/big").size, fs.readFileSync("w/big").subarray(0, 3).toString()); await fsp.appendFile("w/big", big); log(fs.statSync("w/big").size); t(() => fs.writeFileSync("w/big", big, { flag: "wx" })); fs.writeFileSync("w/x", big, { flag: "wx", mode: 0o400 }); log(fs.statSync("w/x").size, (fs.statSync("w/x").mode & 0o777).toString(8))`,
	`fs.writeFileSync("w/one", "1"); fs.cpSync("w/one", "w/new/er/two"); log(fs.readFileSync("w/new/er/two", "utf8")); await fsp.cp("w/new", "w/copy/of/it", { recursive: true }); log(fs.readFileSync("w/copy/of/it/er/two", "utf8")); t(() => fs.cpSync("w", "w/d/in", { recursive: true }))`,
	`t(() => fs._toUnixTimestamp(new Date(5000))); t(() => fs._toUnixTimestamp("7")); t(() => fs._toUnixTimestamp("x")); log(fs.createReadStream.length, new URL("file:///a%20b").pathname); t(() => fs.readFileSync(new URL("file:///none/a%20b"))); t(() => fs.readFileSync(new URL("http://a/b"))); log(fs.existsSync(new URL("file:///none")))`,
}

func TestFilesAreNodes(t *testing.T) {
	t.Parallel()
	texts := make([]string, len(scripts))
	for i, s := range scripts {
		texts[i] = use + s
	}
	cmd := exec.Command("node", "-e", trial.Program(texts))
	cmd.Dir = t.TempDir()
	node, err := cmd.Output()
	if err != nil {
		t.Skip("Node 20 is not installed")
	}
	var want []string
	if err := json.Unmarshal(node, &want); err != nil || len(want) != len(texts) {
		t.Fatalf("Node answered %d of %d scripts: %v", len(want), len(texts), err)
	}
	for i, text := range texts {
		for _, everything := range []bool{false, true} {
			dir := t.TempDir()
			words := grant.Words{Allow: []string{dir, "/none"}, Deny: []string{dir + "/denied"}}
			if everything {
				words = grant.Words{Allow: []string{grant.Any}}
			}
			h := newHostOf(t, dir, "", grant.Set{Read: words, Write: words, Everything: everything})
			stdout, stderr := trial.Run(text, h, modules()...)
			if got := stdout + stderr; got != want[i] {
				t.Errorf("%s\n(everything granted: %t)\n%s", scripts[i], everything, difference(got, want[i]))
			}
			if n := h.open.Load(); n > 0 {
				t.Errorf("%s\nleft %d files open", scripts[i], n)
			}
		}
	}
}

// difference shows the lines in which two texts differ.
func difference(got, want string) string {
	ours, theirs := strings.Split(got, "\n"), strings.Split(want, "\n")
	var b strings.Builder
	for i := range max(len(ours), len(theirs)) {
		at := func(lines []string) string {
			if i < len(lines) {
				return lines[i]
			}
			return ""
		}
		if o, w := at(ours), at(theirs); o != w {
			b.WriteString(" wrote      " + o + "\n Node wrote " + w + "\n")
		}
	}
	return b.String()
}

func TestStandardStreams(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ code, input, want string }{
		{`fs.readFileSync(0, "utf8")`, "piped", "piped"},
		{`fs.readFileSync("/dev/stdin", "utf8") + fs.readFileSync(0, "utf8")`, "once", "once"},
		{`(() => { const b = Buffer.alloc(3); return fs.readSync(0, b) + b.toString() + fs.readSync(0, b) + b.toString("utf8", 0, 2) })()`, "abcde", "3abc2de"},
		{`await fs.promises.readFile("/dev/stdin", "utf8")`, "later", "later"},
		{`await new Promise(r => fs.readFile(0, "utf8", (e, s) => r(s)))`, "called", "called"},
		{`(fs.writeSync(1, "w"), fs.writeFileSync(1, Buffer.from("f")), fs.appendFileSync("/dev/stdout", "a"), "")`, "", "wfa"},
		{`fs.fstatSync(0).isFIFO()`, "", "true"},
	} {
		stdout, stderr := trial.Run(`const fs = require("fs"); const v = `+test.code+`; console.log(v)`, newHost(t, t.TempDir(), test.input), modules()...)
		if strings.TrimSpace(stdout) != test.want || stderr != "" {
			t.Errorf("%s with %q wrote %q, %q, want %q", test.code, test.input, stdout, stderr, test.want)
		}
	}
}

func TestWhatIsNotGranted(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		`fs.readFileSync("denied")`, `await fs.promises.readFile("denied")`, `await new Promise((_, no) => fs.readFile("denied", e => no(e)))`,
		`fs.existsSync("denied")`, `fs.statSync("denied", { throwIfNoEntry: false })`, `fs.rmSync("denied", { force: true })`,
		`await new Promise((_, no) => fs.createReadStream("denied").on("error", no))`, `fs.cpSync("denied", "x")`,
		`await (await import("mcpx:fs")).exists("denied")`, `await (await import("mcpx:fs")).writeText("denied/x", "")`,
	} {
		stdout, _ := trial.Run(`const fs = require("fs"); try { `+code+` } catch (e) { console.log(e.name, e.kind, e.grant, e.thing, e.message) }`, newHost(t, t.TempDir(), ""), modules()...)
		if !strings.HasPrefix(strings.Replace(stdout, " write ", " read ", 1), `DeniedError denied read denied`) {
			t.Errorf("%s wrote %q, want a DeniedError", code, stdout)
		}
	}
}

func TestWhatIsNotAvailable(t *testing.T) {
	t.Parallel()
	for _, code := range []string{`fs.watch("x")`, `fs.watchFile("x", () => {})`, `fs.chmodSync("x", 1)`, `await fs.promises.symlink("x", "y")`, `fs.promises.watch("x")`} {
		stdout, stderr := trial.Run(`const fs = require("fs"); try { `+code+` } catch (e) { console.log(e.code, e.message) }`, newHost(t, t.TempDir(), ""), modules()...)
		if !strings.HasPrefix(stdout, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM fs.") || !strings.Contains(stdout, "a script cannot ") {
			t.Errorf("%s wrote %q, %q", code, stdout, stderr)
		}
	}
}

func TestErrorsHaveTheScriptsPlace(t *testing.T) {
	t.Parallel()
	stdout, stderr := trial.Run(`function read() {
  return require("fs").readFileSync("none");
}
try { read() } catch (e) { console.log(e.stack) }
try { await require("fs").promises.readFile("none") } catch (e) { console.log(e.stack) }`, newHost(t, t.TempDir(), ""), modules()...)
	if !strings.HasPrefix(stdout, "Error: ENOENT: no such file or directory, open 'none'\n    at ") || !strings.Contains(stdout, "read (") || strings.Contains(stdout, ".go") {
		t.Errorf("wrote %s%s", stdout, stderr)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stdout, stderr := trial.Run(`
import * as files from "mcpx:fs";
await files.writeText("a/b/one.txt", "1\r\n2\n");
await files.writeJSON("a/two.json", { n: [1] });
await files.writeBytes("a/.hidden", new Uint8Array([1]));
await files.appendText("a/b/one.txt", "3");
await files.writeText("a/b/c/deep.ts", "");
console.log(await files.readLines("a/b/one.txt"), await files.readJSON("a/two.json"), (await files.readBytes("a/.hidden")).length, await files.readText("a/two.json"));
console.log(await files.list("a"));
for (const p of ["a/*", "**/*.txt", "a/**", "a/{two,b/one}.*", "a/b/?ne.[st]xt", "a/.h*", "a/**/deep.ts", "none/**", "a/b/*"]) console.log(p, await files.glob(p));
console.log(await files.glob(["*.json", "b/*.txt"], { cwd: "a" }), await files.glob("a/*", { folders: true }));
await files.copy("a", "z/copy"); await files.move("z/copy/two.json", "moved/two.json"); await files.remove("a"); await files.remove("a");
console.log(await files.exists("a"), await files.exists("moved/two.json"), (await files.stat("z")).type, (await files.stat("moved/two.json")).size);
try { await files.writeText("bad.json", "{"); await files.readJSON("bad.json") } catch (e) { console.log(e.name, e.message.startsWith("bad.json: ")) }
`, newHost(t, dir, ""), modules()...)
	want := `[ '1', '2', '3' ] { n: [ 1 ] } 1 {
  "n": [
    1
  ]
}

[
  { name: '.hidden', path: 'a/.hidden', type: 'file' },
  { name: 'b', path: 'a/b', type: 'directory' },
  { name: 'two.json', path: 'a/two.json', type: 'file' }
]
a/* [ 'a/two.json' ]
**/*.txt [ 'a/b/one.txt' ]
a/** [ 'a/b/c/deep.ts', 'a/b/one.txt', 'a/two.json' ]
a/{two,b/one}.* [ 'a/b/one.txt', 'a/two.json' ]
a/b/?ne.[st]xt [ 'a/b/one.txt' ]
a/.h* [ 'a/.hidden' ]
a/**/deep.ts [ 'a/b/c/deep.ts' ]
none/** []
a/b/* [ 'a/b/one.txt' ]
[ 'b/one.txt', 'two.json' ] [ 'a/b', 'a/two.json' ]
false true directory 23
SyntaxError true
`
	if stdout != want || stderr != "" {
		t.Errorf("wrote %s%s, want %s", stdout, stderr, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "moved", "two.json")); err != nil {
		t.Error(err)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	for _, m := range fs.Modules() {
		others := slices.DeleteFunc(modules(), func(o engine.Module) bool { return o.Name == m.Name && m.Name != "" })
		declared.Check(t, m, others...)
	}
}

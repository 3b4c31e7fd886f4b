package streams

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"mcpx/engine"
	"mcpx/stdlib/blob"
	"mcpx/stdlib/buffer"
	"mcpx/stdlib/console"
	"mcpx/stdlib/encoding"
	"mcpx/stdlib/event"
	"mcpx/stdlib/events"
	"mcpx/stdlib/fetch"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/process"
	"mcpx/stdlib/stringdecoder"
	"mcpx/stdlib/timers"
)

func modules() []engine.Module {
	return slices.Concat(Modules(), process.Modules(), []engine.Module{
		event.Module(), blob.Module(), encoding.Module(), console.Module(), timers.Module(),
		buffer.Module(), events.Module(), stringdecoder.Module(),
	})
}

const (
	webUse = `const log = console.log; const wait = ms => new Promise(r => setTimeout(r, ms));
		const all = async s => { const a = []; for await (const x of s) a.push(x); return a };
		const fails = async f => { try { log("ok", await f()) } catch (e) { log(e?.name ?? e, e?.code, e?.message) } };
		const listed = (n, end = true) => new ReadableStream({ start(c) { for (let i = 1; i <= n; i++) c.enqueue(i); if (end) c.close() } });
		`
)

// webScripts are compared with Node.
var webScripts = []string{
	`const rs = new ReadableStream({ start(c) { c.enqueue("a"); c.enqueue("b"); c.close() } }).pipeThrough(new TransformStream({ transform(x, c) { c.enqueue(x + x) } })); log(await all(rs))`,
	`let n = 0; const rs = new ReadableStream({ pull(c) { log("pull", c.desiredSize); if (++n === 3) c.close(); else c.enqueue(n) }, cancel(r) { log("cancel", r) } }); log(await all(rs))`,
	`let n = 0; const rs = new ReadableStream({ pull(c) { c.enqueue(++n) }, cancel(r) { log("cancel", r) } }, { highWaterMark: 3 }); await wait(1); log(n); for await (const x of rs) { log(x); if (x === 4) break } log(rs.locked, n)`,
	`const rs = listed(3); const r = rs.getReader(); log(rs.locked, await r.read(), await r.read(), await r.read(), await r.read()); await r.closed; r.releaseLock(); log(rs.locked)`,
	`const rs = listed(3); for await (const x of rs.values({ preventCancel: true })) { log(x); break } log(rs.locked); const r = rs.getReader(); log(await r.read())`,
	`const rs = listed(2); rs.getReader(); await fails(() => rs.getReader()); await fails(() => rs.cancel()); await fails(() => rs.tee()); await fails(() => rs.pipeTo(new WritableStream())); await fails(() => rs.pipeThrough(new TransformStream())); await fails(() => all(rs))`,
	`const rs = new ReadableStream({ pull() { throw new RangeError("bad") } }); await fails(() => rs.getReader().read()); const q = new ReadableStream({ start(c) { c.enqueue(1); c.error("why") } }); await fails(() => q.getReader().read()); await fails(() => new ReadableStream({ start() { throw new TypeError("early") } })); await fails(() => new ReadableStream({ async start() { throw new TypeError("late") } }).getReader().read())`,
	`const rs = new ReadableStream({ start(c) { globalThis.c = c } }); const r = rs.getReader(); const p = r.read(); r.releaseLock(); await fails(() => p); await fails(() => r.read()); await fails(() => r.closed); c.enqueue(1); log(await rs.getReader().read())`,
	`const rs = new ReadableStream({ start(c) { globalThis.c = c } }); c.close(); await fails(() => c.enqueue(1)); await fails(() => c.close()); log(c.desiredSize, await rs.getReader().read()); const e = new ReadableStream({ start(c) { globalThis.c = c } }); c.error(7); log(c.desiredSize); await fails(() => c.enqueue(1))`,
	`for (const f of [() => new ReadableStream(null), () => new ReadableStream(5), () => new ReadableStream({ type: "x" }), () => new ReadableStream({ pull: 5 }), () => new ReadableStream({}, { highWaterMark: -1 }), () => new ReadableStream({}, { highWaterMark: NaN }), () => new ReadableStream({}, { size: 5 }), () => new ReadableStreamDefaultController(), () => new ReadableStreamDefaultReader({}), () => new ReadableStream().getReader({ mode: "x" }), () => new WritableStream(null), () => new WritableStream({ type: "x" }), () => new WritableStreamDefaultController(), () => new WritableStreamDefaultWriter({}), () => new TransformStream(null), () => new TransformStreamDefaultController(), () => new CountQueuingStrategy(), () => new CountQueuingStrategy({}), () => new ReadableStream().pipeThrough({})]) { try { f(); log("ok") } catch (e) { log(e.name, e.code) } }`,
	`const q = new ReadableStream({ start(c) { try { c.enqueue("abc") } catch (e) { log(e.name) } } }, { highWaterMark: 10, size: s => s.length === 3 ? -1 : 1 }); await fails(() => q.getReader().read()); const s = new ReadableStream({ start(c) { c.enqueue("abc"); log(c.desiredSize); c.enqueue("d"); log(c.desiredSize) } }, { highWaterMark: 10, size: s => s.length }); const b = new ByteLengthQueuingStrategy({ highWaterMark: 5 }); log(b.highWaterMark, b.size(new Uint8Array(3)), new CountQueuingStrategy({ highWaterMark: "2" }).highWaterMark, new CountQueuingStrategy({ highWaterMark: 2 }).size())`,
	`const [a, b] = listed(3).tee(); log(await all(a), await all(b)); const src = new ReadableStream({ start(c) { c.enqueue(1) }, cancel(r) { log("cancelled", r) } }); const [x, y] = src.tee(); const p = x.cancel("x"); await wait(1); await y.cancel("y"); await p; log(src.locked)`,
	`const [a, b] = new ReadableStream({ start(c) { c.enqueue(1); }, pull(c) { c.error(new Error("late")) } }).tee(); await fails(() => all(a)); await fails(() => all(b))`,
	`log(await all(ReadableStream.from([1, Promise.resolve(2), 3]))); log(await all(ReadableStream.from((async function* () { yield "a"; yield "b" })()))); log(await all(ReadableStream.from(new Set([1, 2])))); log(await all(ReadableStream.from("hi"))); const it = { i: 0, next() { return { value: this.i++, done: false } }, return(r) { log("return", r); return {} }, [Symbol.iterator]() { return this } }; for await (const v of ReadableStream.from(it)) { log(v); if (v === 2) break } await fails(() => ReadableStream.from(5)); await fails(() => all(ReadableStream.from((function* () { yield 1; throw new Error("gen") })())))`,
	`const out = []; const ws = new WritableStream({ start() { out.push("start") }, write(x) { out.push(x) }, close() { out.push("close") } }); const w = ws.getWriter(); log(ws.locked, w.desiredSize); w.write(1); log(w.desiredSize); await w.ready; await w.write(2); await w.close(); await w.closed; log(out, w.desiredSize)`,
	`const ws = new WritableStream({ write(x) { throw new Error("no " + x) }, abort(r) { log("abort", r) } }); const w = ws.getWriter(); w.closed.catch(e => log("closed", e.message)); await fails(() => w.write(1)); await fails(() => w.write(2)); await fails(() => w.ready); log(w.desiredSize)`,
	`const ws = new WritableStream({ async write(x) { await wait(2); log("wrote", x) }, abort(r) { log("abort", r) } }); const w = ws.getWriter(); const p = w.write(1); const q = w.write(2); const a = w.abort("stop"); await fails(() => p); await fails(() => q); log(await a); await fails(() => w.closed)`,
	`const ws = new WritableStream({ start(c) { globalThis.c = c } }); log(c.signal instanceof AbortSignal, c.signal.aborted); ws.abort("r"); log(c.signal.aborted, c.signal.reason); await fails(() => ws.getWriter().closed); const e = new WritableStream({ start(c) { c.error(new TypeError("mine")) } }); await fails(() => e.getWriter().write(1))`,
	`const ws = new WritableStream({}, { highWaterMark: 2 }); const w = ws.getWriter(); log(w.desiredSize); w.write(1); w.write(2); log(w.desiredSize); let ready = false; w.ready.then(() => { ready = true }); await null; log(ready); await w.ready; log(w.desiredSize); w.releaseLock(); log(ws.locked); await fails(() => w.write(1)); await fails(() => w.closed); await fails(() => w.desiredSize)`,
	`const log2 = []; await listed(3).pipeTo(new WritableStream({ write(x) { log2.push(x) }, close() { log2.push("close") } })); log(log2); const ws = new WritableStream({ write(x) { log(x) }, close() { log("close") } }); await listed(1).pipeTo(ws, { preventClose: true }); log(ws.locked); await listed(1).pipeTo(ws)`,
	`await fails(() => listed(3).pipeTo(new WritableStream({ write(x) { if (x === 2) throw new Error("sink") } }))); let reason; await fails(() => new ReadableStream({ start(c) { c.enqueue(1) }, cancel(r) { reason = r.message } }).pipeTo(new WritableStream({ write() { throw new Error("sink") } }))); log(reason); await fails(() => new ReadableStream({ pull() { throw new Error("source") } }).pipeTo(new WritableStream({ abort(e) { log("aborted", e.message) } })))`,
	`const ac = new AbortController(); const p = listed(3, false).pipeTo(new WritableStream({ write(x) { log(x) }, abort(r) { log("abort", r.name) } }), { signal: ac.signal }); await wait(3); ac.abort(); await fails(() => p); await fails(() => listed(1).pipeTo(new WritableStream(), { signal: AbortSignal.abort("before") })); await fails(() => listed(1).pipeTo(new WritableStream(), { signal: {} }));`,
	`const t = new TransformStream({ start(c) { c.enqueue("s") }, transform(x, c) { c.enqueue(x * 2) }, flush(c) { c.enqueue("f") } }); log(await all(listed(3).pipeThrough(t))); log(await all(listed(2).pipeThrough(new TransformStream()))); log(await all(listed(5).pipeThrough(new TransformStream({ transform(x, c) { if (x === 3) c.terminate(); else c.enqueue(x) } }))))`,
	`await fails(() => all(listed(3).pipeThrough(new TransformStream({ transform(x) { if (x === 2) throw new Error("t" + x) } })))); await fails(() => all(listed(3).pipeThrough(new TransformStream({ transform(x, c) { c.error(new Error("e" + x)) } })))); await fails(() => all(listed(1).pipeThrough(new TransformStream({ flush() { throw new Error("fl") } }))))`,
	`const t = new TransformStream({ transform(x, c) { c.enqueue(x) } }); const w = t.writable.getWriter(), r = t.readable.getReader(); log(w.desiredSize); const p = w.write("a"); log(w.desiredSize, await r.read()); await p; w.close(); log(await r.read()); log(t)`,
	`const t = new TransformStream(); const w = t.writable.getWriter(); w.write(1).catch(e => log("write", e)); await t.readable.cancel("gone"); await fails(() => w.write(2)); const u = new TransformStream(); u.writable.abort("ab"); await fails(() => u.readable.getReader().read())`,
	`const enc = await all(ReadableStream.from(["h\u00e9", "\ud83d", "\ude00", "\ud800"]).pipeThrough(new TextEncoderStream())); log(enc.map(b => [...b].join()).join("|")); log((await all(ReadableStream.from([new Uint8Array([0xe2, 0x82]), new Uint8Array([0xac, 65]), new Uint8Array([0xff])]).pipeThrough(new TextDecoderStream()))).join("|")); const d = new TextDecoderStream("utf-16le", { fatal: true }); log(d.encoding, d.fatal, d.ignoreBOM, new TextEncoderStream().encoding); await fails(() => all(ReadableStream.from([new Uint8Array([0xff])]).pipeThrough(new TextDecoderStream("utf-8", { fatal: true }))))`,
	`for (const f of ["gzip", "deflate", "deflate-raw"]) { const big = "compress me ".repeat(20000); const out = await all(ReadableStream.from([new TextEncoder().encode(big), new TextEncoder().encode("end")]).pipeThrough(new CompressionStream(f)).pipeThrough(new DecompressionStream(f)).pipeThrough(new TextDecoderStream())); log(f, out.join("") === big + "end") } await fails(() => new CompressionStream("zip")); await fails(() => new DecompressionStream()); try { await all(ReadableStream.from([new Uint8Array(20)]).pipeThrough(new DecompressionStream("gzip"))) } catch (e) { log(e instanceof Error, e.code) }`,
	`const z = await all(ReadableStream.from([new TextEncoder().encode("cut short")]).pipeThrough(new CompressionStream("gzip"))); const bytes = z.flatMap(b => [...b]); const half = new Uint8Array(bytes.slice(0, -6)); try { await all(ReadableStream.from([half]).pipeThrough(new DecompressionStream("gzip"))); log("no") } catch (e) { log(e.code, e.message) } log((await all(ReadableStream.from(bytes.map(b => new Uint8Array([b]))).pipeThrough(new DecompressionStream("gzip")).pipeThrough(new TextDecoderStream()))).join(""))`,
	`const rs = new ReadableStream({ type: "bytes", start(c) { c.enqueue(new Uint8Array([1, 2, 3, 4, 5])); c.close() } }); const r = rs.getReader({ mode: "byob" }); let v = (await r.read(new Uint8Array(2))); log(v.value, v.done); v = await r.read(new Uint8Array(v.value.buffer)); log(v.value); v = await r.read(new Uint16Array(4)); log(v.done, v.value)`,
	`const rs = new ReadableStream({ type: "bytes", pull(c) { const q = c.byobRequest; if (q) { q.view[0] = 7; q.view[1] = 8; q.respond(2) } else c.enqueue(new Uint8Array([9])) } }); const r = rs.getReader({ mode: "byob" }); log(await r.read(new Uint8Array(4))); r.releaseLock(); const d = rs.getReader(); log(await d.read())`,
	`const rs = new ReadableStream({ type: "bytes", autoAllocateChunkSize: 8, pull(c) { const v = c.byobRequest.view; v[0] = 5; c.byobRequest.respond(1) } }); const d = rs.getReader(); log(await d.read()); d.releaseLock(); log(rs)`,
	`const rs = new ReadableStream({ type: "bytes", start(c) { globalThis.c = c } }); const r = rs.getReader({ mode: "byob" }); const buf = new Uint8Array(4); const p = r.read(buf); log(buf.byteLength); c.enqueue(new Uint8Array([1, 2])); log(await p); const q = r.read(new Uint8Array(2)); c.close(); c.byobRequest.respond(0); log(await q, await r.closed)`,
	`const src = new Uint8Array([1, 2, 3]); const rs = new ReadableStream({ type: "bytes", start(c) { c.enqueue(src); c.close() } }); log(src.byteLength); const [a, b] = rs.tee(); const x = (await all(a))[0]; x[0] = 9; log(x, (await all(b))[0]); await fails(() => new ReadableStream({ type: "bytes" }).getReader({ mode: "byob" }).read()); await fails(() => new ReadableStream({ type: "bytes" }).getReader({ mode: "byob" }).read(new Uint8Array(0)))`,
	`const rs = new ReadableStream({ type: "bytes", start(c) { c.enqueue(new Uint8Array([1, 0, 2])); c.close() } }); const r = rs.getReader({ mode: "byob" }); log((await r.read(new DataView(new ArrayBuffer(2)))).value.getUint16(0, true)); log(await r.read(new Uint8Array(new ArrayBuffer(8), 3, 2)))`,
	`log(new ReadableStream(), new WritableStream(), String(new ReadableStream()), String(new TransformStream()), ReadableStream.name, ReadableStream.length, ReadableStream.prototype.getReader.name, ReadableStream.prototype[Symbol.asyncIterator] === ReadableStream.prototype.values, Object.keys(ReadableStream.prototype).join())`,
	`const rs = new ReadableStream({ start(c) { globalThis.c = c } }); const it = rs.values(); const a = it.next(), b = it.next(); c.enqueue(1); c.enqueue(2); c.close(); log(await a, await b, await it.next(), await it.next(), await it.return(5), typeof it[Symbol.asyncIterator], it[Symbol.asyncIterator]() === it)`,
	`const order = []; const rs = new ReadableStream({ start(c) { order.push("start"); c.enqueue(1); c.close() } }); rs.getReader().read().then(() => order.push("read")); Promise.resolve().then(() => order.push("micro")); order.push("sync"); await wait(1); log(order)`,
	`let n = 0; const rs = new ReadableStream({ async pull(c) { await wait(1); if (n === 50) c.close(); else c.enqueue(n++) } }); let sum = 0; await rs.pipeThrough(new TransformStream({ async transform(x, c) { await null; c.enqueue(x) } })).pipeTo(new WritableStream({ async write(x) { sum += x } })); log(sum)`,
	`const { ReadableStream: R, TransformStream: T } = require("node:stream/web"); log(R === ReadableStream, T === TransformStream)`,
	`const rs = listed(2); log(await rs.cancel("c"), await rs.getReader().read()); const e = new ReadableStream({ cancel() { throw new Error("in cancel") } }); await fails(() => e.cancel()); class Mine extends ReadableStream { constructor() { super({ start(c) { c.enqueue("m"); c.close() } }) } } log(await all(new Mine()), new Mine() instanceof ReadableStream)`,
}

func TestWebStreamsAreNodes(t *testing.T) {
	t.Parallel()
	scripts := make([]string, len(webScripts))
	for i, s := range webScripts {
		scripts[i] = webUse + s
	}
	compare := trial.Comparison(t, scripts, node(t, scripts), modules()...)
	synctest.Test(t, func(t *testing.T) { compare(t) })
}

// node is what Node makes of the scripts.
func node(t *testing.T, scripts []string) []byte {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if version, _ := exec.Command(path, "--version").Output(); !strings.HasPrefix(string(version), "v20.") {
		t.Skipf("node is %s; the texts are those of version 20", version)
	}
	var stderr strings.Builder
	cmd := exec.Command(path, "-e", trial.Program(scripts))
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.String())
	}
	return out
}

func TestHostileStreams(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, stdout string }{
		{"a thenable that throws", `await fails(() => new ReadableStream({ pull: () => ({ then() { throw new Error("then") } }) }).getReader().read())`, "Error undefined then\n"},
		{"a size that throws", `await fails(() => new ReadableStream({ start(c) { c.enqueue(1) } }, { size: () => ({ valueOf() { throw new Error("size") } }) }).getReader().read())`, "Error undefined size\n"},
		{
			"memory that was given away", `const b = new ArrayBuffer(8), u = new Uint8Array(b); new ReadableStream({ type: "bytes", start(c) { c.enqueue(u) } }); await fails(() => new ReadableStream({ type: "bytes", start(c) { c.enqueue(u) } })); await fails(() => new ReadableStream({ type: "bytes" }).getReader({ mode: "byob" }).read(u))`,
			"TypeError ERR_INVALID_STATE Invalid state: chunk ArrayBuffer is zero-length or detached\nTypeError ERR_INVALID_STATE Invalid state: View or Viewed ArrayBuffer is zero-length or detached\n",
		},
		{"decompressors left half way", `for (let i = 0; i < 100; i++) new DecompressionStream("gzip").writable.getWriter().write(new Uint8Array([0x1f, 0x8b])); log("done")`, "done\n"},
		{"much of little", `const z = await new Response(new Blob([new Uint8Array(5_000_000)]).stream().pipeThrough(new CompressionStream("gzip"))).bytes(); let n = 0; for await (const c of new Blob([z]).stream().pipeThrough(new DecompressionStream("gzip"))) n += c.length; log(n)`, "5000000\n"},
		{"changed built-ins", `const rs = listed(2); Promise.resolve = null; Array.prototype.shift = null; log(await rs.getReader().read())`, "{ value: 1, done: false }\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr := trial.Run(webUse+tt.code, nil, append(modules(), fetch.Module())...)
			if stdout != tt.stdout || stderr != "" {
				t.Errorf("wrote %q and %q, want %q", stdout, stderr, tt.stdout)
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	for _, m := range Modules() {
		var others []engine.Module
		for _, o := range modules() {
			if o.Name != m.Name || o.Name == "" {
				others = append(others, o)
			}
		}
		declared.Check(t, m, others...)
	}
}

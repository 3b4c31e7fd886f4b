package fetch

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/blob"
	"mcpx/stdlib/buffer"
	"mcpx/stdlib/console"
	"mcpx/stdlib/encoding"
	"mcpx/stdlib/event"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/streams"
	"mcpx/stdlib/timers"
	"mcpx/stdlib/url"
)

func modules() []engine.Module {
	return slices.Concat([]engine.Module{
		Module(), blob.Module(), buffer.Module(), console.Module(), encoding.Module(), event.Module(), timers.Module(), url.Module(),
	}, streams.Modules())
}

const use = `const log = console.log; const t = f => { try { log(f()) } catch (e) { log(e.name, e.code, e.message) } };
	const ta = async f => { try { log(await f()) } catch (e) { log(e.name, e.code, e.message, e.cause?.message) } };
	const stream = (...parts) => new ReadableStream({ start(c) { for (const p of parts) c.enqueue(new TextEncoder().encode(p)); c.close() } });
	`

// scripts are compared with Node. They need no network.
var scripts = []string{
	`const bad = { [Symbol.iterator]() { return {} } }; for (const x of [bad, [bad]]) try { new Headers(x) } catch (e) { log(e.name) } log([...new Headers(new Map([["a", "b"]]))])`,
	`const h = new Headers({ b: "2", A: "1" }); h.append("a", "x"); h.append("Set-Cookie", "c=1"); h.append("set-cookie", "d=2"); log([...h], h.get("A"), h.get("none"), h.has("B"), h.getSetCookie(), h.get("set-cookie")); h.set("b", "3"); h.delete("A"); log([...h.keys()], [...h.values()], [...h.entries()].length); h.forEach((v, k, o) => log(k, v, o === h))`,
	`t(() => new Headers({ "a b": 1 })); t(() => new Headers({ a: "x\ny" })); t(() => new Headers(5)); t(() => new Headers([["a"]])); t(() => new Headers(null)); t(() => new Headers().append("a")); t(() => new Headers().get()); t(() => new Headers().set("", "x")); t(() => new Headers({ a: "\u00e9" }).get("a")); t(() => new Headers({ a: "\u20ac" })); t(() => new Headers({ a: "  x\t " }).get("a")); t(() => new Headers([["a", 1], ["b", 2]])); t(() => new Headers(new Map([["m", "1"]]))); t(() => new Headers(new Headers({ z: "9" }))); t(() => new Headers(undefined)); t(() => Headers.prototype.get.call({}))`,
	`log(new Headers({ a: 1, B: "x" }), String(new Headers()), new Headers().entries(), new Headers()[Symbol.iterator] === Headers.prototype.entries, Headers.name, Headers.length, Object.keys(Headers.prototype).join())`,
	`const h = new Headers(); h.append("b", "1"); h.append("a", "2"); const seen = []; for (const [k] of h) { seen.push(k); if (k === "a") h.append("c", "3") } log(seen)`,
	`const r = new Response("x", { status: 201, statusText: "Made", headers: { a: 1 } }); log(r, r.ok, r.status, r.statusText, r.type, r.url, r.redirected, r.headers.get("content-type")); log(await r.text(), r.bodyUsed, r.body.locked)`,
	`log(await new Response().text(), new Response().body, new Response(null).bodyUsed, new Response("").body !== null, await new Response("h\u00e9\ud800").text(), await new Response(new Uint8Array([0xef, 0xbb, 0xbf, 65, 0xff])).text(), await new Response('{"a":[1,2,{"b":null}]}').json(), await new Response(new Uint8Array([1, 2, 3]).subarray(1)).arrayBuffer(), await new Response("abc").bytes(), await (await new Response("b", { headers: { "content-type": "X/Y" } }).blob()).type)`,
	`t(() => new Response("x", { status: 204 })); t(() => new Response(null, { status: 204 }).status); t(() => new Response("x", { status: 99 })); t(() => new Response("x", { status: 600 })); t(() => new Response("x", { statusText: "\n" })); t(() => Response.redirect("http://a", 200)); t(() => Response.redirect("http://a/b").headers.get("location")); t(() => Response.redirect("http://a").status); t(() => Response.json()); t(() => Response.json(undefined)); t(() => Response.json(() => 1)); t(() => Response.error().status + Response.error().type); t(() => Response.error().headers.set("a", "b")); t(() => Response.redirect("http://a").headers.append("a", "b")); t(() => new Response("x", { headers: { "Content-Type": "own" } }).headers.get("content-type"))`,
	`const j = Response.json({ a: 1 }, { status: 202, headers: { x: "y" } }); log(j.status, j.headers.get("content-type"), j.headers.get("x"), await j.json())`,
	`const r = new Response("x"); await r.text(); await ta(() => r.text()); await ta(() => r.json()); await ta(() => r.clone()); await ta(() => new Response("x").formData()); const rs = new ReadableStream(); rs.getReader(); await ta(() => new Response(rs)); const s = new Response(new ReadableStream({ start(c) { c.enqueue("str"); c.close() } })); await ta(() => s.text())`,
	`const r = new Response("twice"); const c = r.clone(); log(await r.text(), await c.text(), r.bodyUsed, c.bodyUsed); const s = new Response(stream("a", "b")); const d = s.clone(); log(await s.text(), await d.text()); const x = new Response("z"); const y = x.clone(); x.headers.set("only", "x"); log(y.headers.get("only"))`,
	`const r = new Response(stream("chunk1", "chunk2")); const parts = []; for await (const c of r.body) parts.push(new TextDecoder().decode(c)); log(parts, r.bodyUsed); await ta(() => r.text()); const [p, q] = new Response("tee").body.tee(); log((await new Response(p).text()) + (await new Response(q).text())); const b = new Response("by").body.getReader({ mode: "byob" }); log(await b.read(new Uint8Array(8)), (await b.read(new Uint8Array(1))).done)`,
	`const r = new Response("locked"); const reader = r.body.getReader(); log(r.bodyUsed); await ta(() => r.text()); await reader.read(); log(r.bodyUsed); const e = new Response(new ReadableStream({ pull(c) { c.error(new RangeError("broken")) } })); await ta(() => e.text()); const n = new Response("x"); await n.body.cancel(); log(n.bodyUsed)`,
	`log(await new Response(new URLSearchParams({ a: "1 2", b: "\u00e9" })).text(), new Response(new URLSearchParams()).headers.get("content-type"), new Response(new Blob(["x"], { type: "t/p" })).headers.get("content-type"), await new Response(new Blob(["bl", "ob"])).text(), new Response(new Uint8Array(1)).headers.get("content-type"), await new Response(5).text(), await new Response({}).text(), await new Response([1, 2]).text(), await new Response((async function* () { yield new Uint8Array([65]); yield new Uint8Array([66]) })()).text())`,
	`const f = new FormData(); f.append("a\"\n", "1\n2"); f.append("f", new Blob(["x\r\n--y"], { type: "a/b" }), "n\".txt"); f.append("e", ""); f.append("u", "\u00e9"); const r = new Response(f); const type = r.headers.get("content-type"); const b = type.split("boundary=")[1]; log(JSON.stringify((await r.clone().text()).replaceAll(b, "B"))); const back = await r.formData(); log([...back.keys()], back.get("a\"\r\n") ?? back.get("a\"\n"), back.get("f").name, back.get("f").type, await back.get("f").text(), JSON.stringify(back.get("e")), back.get("u"))`,
	`const make = (b, t) => new Response(b, { headers: { "content-type": t } }).formData(); log([...await make("a=1&b=%20x", "application/x-www-form-urlencoded")]); log([...await make('--x\r\nContent-Disposition: form-data; name="n"\r\n\r\nv\r\n--x--\r\n', 'multipart/form-data; boundary="x"')]); await ta(() => make("--x\r\nbad", "multipart/form-data; boundary=x")); await ta(() => make("", "multipart/form-data; boundary=x")); await ta(() => make("x", "multipart/form-data"))`,
	`const q = new Request("http://a/b?c#d", { method: "post", body: "x", headers: { k: "v" } }); log(q, q.method, q.url, q.bodyUsed, q.duplex, await q.text(), q.bodyUsed); for (const m of ["get", "delete", "patch", "PATCH", "head", "Put"]) log(new Request("http://a", { method: m }).method); const c = new Request(new Request("http://a", { method: "PUT", headers: { a: "1" } }), { headers: { b: "2" } }); log(c.method, [...c.headers])`,
	`t(() => new Request()); t(() => new Request("x")); t(() => new Request("http://u:p@a")); t(() => new Request("http://a", { method: "x y" })); t(() => new Request("http://a", { method: "trace" })); t(() => new Request("http://a", { body: "x" })); t(() => new Request("http://a", { method: "POST", body: new ReadableStream() })); t(() => new Request("http://a", { signal: 5 })); t(() => new Request("http://a", { redirect: "x" })); t(() => new Request("http://a", 5)); t(() => new Request("http://a", { signal: null }).signal.aborted); t(() => new Request(new URL("http://a/x")).url)`,
	`const ac = new AbortController(); const q = new Request("http://a", { signal: ac.signal }); log(q.signal.aborted, q.signal === ac.signal); ac.abort("why"); log(q.signal.aborted, q.signal.reason); const p = new Request("http://a", { method: "POST", body: "once" }); const c = p.clone(); log(await p.text(), await c.text()); const used = new Request("http://a", { method: "POST", body: "b" }); const taken = new Request(used); log(used.bodyUsed, await taken.text()); await ta(() => new Request(used)); const over = new Request(new Request("http://a", { method: "POST", body: "old" }), { body: "new" }); log(await over.text())`,
	`for (const u of ["data:,a%20b", "data:text/html;charset=utf-8,x", "data:;base64,aGk=", "data:;base64,aG k", "data:x,y", "data:text/plain;BASE64 , aGk", 'data:TEXT/Plain;a=b;C="d",x#f', "data:text/plain;charset=UTF-8;charset=x,%zz%4", "data:image/svg+xml,<svg/>", "data:;charset=x,"]) await ta(async () => { const r = await fetch(u); return [r.headers.get("content-type"), await r.text(), r.url, r.type, r.statusText, r.ok].join("|") }); await ta(() => fetch("data:text/plain;base64,a!")); await ta(() => fetch("data:x")); const r = await fetch("data:application/json;base64," + btoa('{"a":[1,2]}')); log(r.ok, r.status, (await r.json()).a.length, r.bodyUsed)`,
	`await ta(() => fetch("x")); await ta(() => fetch("ftp://a")); await ta(() => fetch("about:blank")); await ta(() => fetch("http://a", { signal: AbortSignal.abort() })); await ta(() => fetch("http://a", { signal: AbortSignal.abort("mine") }).catch(e => e)); await ta(() => fetch("http://a", { method: "TRACE" })); const p = fetch("nope:"); log(p instanceof Promise); p.catch(() => {}); log(fetch.name, fetch.length, Request.length, Response.length)`,
	`class Mine extends Response { get twice() { return this.status * 2 } } log(new Mine("x", { status: 210 }).twice, await new Mine("m").text(), new Mine() instanceof Response, String(new Response()), String(new Request("http://a")))`,
}

func TestFetchIsNodes(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if version, _ := exec.Command(path, "--version").Output(); !strings.HasPrefix(string(version), "v20.") {
		t.Skipf("node is %s; the texts are those of version 20", version)
	}
	all := make([]string, len(scripts))
	for i, s := range scripts {
		all[i] = use + s
	}
	out, err := exec.Command(path, "-e", trial.Program(all)).Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	trial.Compare(t, all, out, modules()...)
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, Module())
}

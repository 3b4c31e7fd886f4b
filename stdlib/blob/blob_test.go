package blob

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/buffer"
	"mcpx/stdlib/clone"
	"mcpx/stdlib/console"
	"mcpx/stdlib/encoding"
	"mcpx/stdlib/event"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/streams"
)

func modules() []engine.Module {
	return slices.Concat([]engine.Module{
		Module(), buffer.Module(), clone.Module(), console.Module(), encoding.Module(), event.Module(),
	}, streams.Modules())
}

const use = `const log = console.log; const { File } = require("node:buffer"); const t = f => { try { log(f()) } catch (e) { log(e.name, e.code, e.message) } };
	`

// scripts are compared with Node.
var scripts = []string{
	`const f = new FormData(); f.append("a", "1"); f.append("file", new Blob(["xyz"], { type: "text/plain" }), "n.txt"); const b = new Blob(["ab", new Uint8Array([99])]); log(f.get("a"), f.get("file").name, await f.get("file").text(), await b.text(), b.size, await b.slice(1).text(), new Uint8Array(await b.arrayBuffer()).join())`,
	`t(() => new Blob("a")); t(() => new Blob(5)); t(() => new Blob(null)); t(() => new Blob(undefined).size); t(() => new Blob(["a"], 5)); t(() => new Blob([], { endings: "x" })); t(() => Blob.prototype.size); t(() => new Blob([1, {}, "\u00e9", null, undefined]).size); t(() => new Blob(new Set(["a", "b"])).size); t(() => new Blob(["a"], { type: "Text/Plain" }).type); t(() => new Blob(["a"], { type: "\u00e9" }).type); t(() => new Blob(["a\r\nb\nc\r"], { endings: "native" }).size)`,
	`log(await new Blob(["a", new Uint16Array([0x6261]).buffer, new DataView(new ArrayBuffer(1)), new Blob(["in"]), Buffer.from("buf")]).text()); log(await new Blob([new Uint8Array([0xef, 0xbb, 0xbf, 65])]).text(), await new Blob([new Uint8Array([0xff, 0xe2, 0x82])]).text(), await new Blob(["\ud800x"]).text())`,
	`for (const c of [Blob, x => new File(x, "f")]) try { new c({ [Symbol.iterator]() { return {} } }) } catch (e) { log(e.name) } log(await new Blob(new Set(["a", "b"])).text())`,
	`const b = new Blob(["abcdef"], { type: "x/y" }); for (const a of [[], [2], [1, 3], [-2], [-3, -1], [5, 2], [10], [0, 100]]) log(await b.slice(...a).text(), b.slice(...a).type); log(b.slice(0, 1, "Q/R").type, b.slice(0, 1) instanceof Blob)`,
	`const src = new Uint8Array([1, 2]); const b = new Blob([src]); src[0] = 9; const x = new Uint8Array(await b.arrayBuffer()); x[1] = 9; log(new Uint8Array(await b.arrayBuffer()).join()); const chunks = []; for await (const c of new Blob(["z".repeat(200000)]).stream()) chunks.push(c.length); log(chunks.reduce((a, b) => a + b)); for await (const c of new Blob([]).stream()) log("none"); log(new Blob(["s"]).stream())`,
	`const f = new File(["a"], "n", { type: "T/P", lastModified: 5 }); log(f, f.name, f.type, f.lastModified, f.size, f instanceof Blob, String(f), String(new Blob([])), f.slice(0, 1) instanceof File); t(() => new File(["a"])); t(() => new File()); log(Math.abs(new File([], "x").lastModified - Date.now()) < 5000, new File([], "a\ud800").name === "a\ufffd", new File([], 5).name, new File([], "n", { lastModified: new Date(7) }).lastModified)`,
	`log(new Blob(["abc"]), [new Blob([])], Blob.name, Blob.length, File.name, File.length, FormData.name, "size" in new Blob([]), JSON.stringify(new Blob(["a"])))`,
	`const f = new FormData(); f.append("a", 1); f.append("a", "2"); f.append("b", "x"); f.set("c", true); f.set("a", "only"); log([...f], f.has("a"), f.has("z"), f.get("z"), f.getAll("a"), f.getAll("z")); f.delete("a"); log([...f.keys()], [...f.values()]); f.forEach(function (v, k, o) { log(v, k, o === f, this.x) }, { x: 1 }); log(f, String(f), f.entries(), f[Symbol.iterator] === f.entries)`,
	`t(() => new FormData(1)); t(() => new FormData().append("a")); t(() => new FormData().append()); t(() => new FormData().get()); t(() => new FormData().append("a", "b", "c")); t(() => new FormData().set("a", "b", "c")); t(() => new FormData().forEach(5)); log(new FormData().append.length, new FormData().get.length)`,
	`const f = new FormData(); f.append("b", new Blob(["x"], { type: "a/b" })); const v = f.get("b"); log(v.name, v.type, v instanceof File, v.size); const file = new File(["y"], "y.txt", { lastModified: 3 }); f.append("f", file); log(f.get("f") === file); f.append("g", file, "z.txt"); log(f.get("g").name, f.get("g").lastModified, await f.get("g").text())`,
	`const f = new FormData(); f.append("a", "1"); f.append("b", "2"); const seen = []; for (const [k] of f) { seen.push(k); if (k === "a") f.append("c", "3") } log(seen)`,
	`const c = structuredClone({ b: new Blob(["cl"], { type: "t/t" }) }); log(c.b.size, c.b.type, await c.b.text())`,
}

func TestBlobsAreNodes(t *testing.T) {
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

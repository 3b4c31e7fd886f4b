package asynchooks_test

import (
	"os/exec"
	"testing"
	"testing/synctest"

	"mcpx/engine"
	"mcpx/stdlib/asynchooks"
	"mcpx/stdlib/console"
	"mcpx/stdlib/events"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/process"
	"mcpx/stdlib/timers"
)

func modules() []engine.Module {
	return append(process.Modules(), asynchooks.Module(), events.Module(), console.Module(), timers.Module())
}

const use = `const { AsyncLocalStorage, AsyncResource, executionAsyncId } = require("node:async_hooks"); const als = new AsyncLocalStorage(); const log = (...a) => console.log(...a); const sleep = ms => new Promise(r => setTimeout(r, ms)); `

// scripts are compared with Node.
var scripts = []string{
	use + `const read = async () => { await null; await sleep(1); return als.getStore() }; log(await Promise.all([als.run("a", read), als.run("b", read)]), als.getStore())`,
	use + `log(als.run(1, (...a) => [als.getStore(), ...a], 2, 3), als.run(1, () => als.run(2, () => als.getStore())), als.run(1, () => als.exit(() => als.getStore())), als.getStore()); try { als.run(1, () => { throw new Error("x") }) } catch { log(als.getStore()) }`,
	use + `const out = []; als.run("s", () => { setTimeout(() => out.push("timeout" + als.getStore()), 1); setImmediate(() => out.push("immediate" + als.getStore())); process.nextTick(() => out.push("tick" + als.getStore())); queueMicrotask(() => out.push("micro" + als.getStore())); Promise.resolve().then(() => out.push("then" + als.getStore())) }); await sleep(10); log(out.sort().join())`,
	use + `let n = 0; await als.run("i", () => new Promise(r => { const t = setInterval(() => { log(als.getStore()); if (++n === 3) { clearInterval(t); r() } }, 1) })); log(als.getStore())`,
	use + `async function f() { als.enterWith("inside"); await null; log(als.getStore()); await sleep(1); log(als.getStore()) } await als.run("outer", async () => { await f(); log("after", als.getStore()) }); log(als.getStore())`,
	use + `const b = new AsyncLocalStorage(); als.run(1, () => b.run(2, () => { setTimeout(() => log(als.getStore(), b.getStore()), 1); als.exit(() => log(als.getStore(), b.getStore())) })); await sleep(5)`,
	use + `const o = {}; als.run(o, () => { als.getStore().x = 1 }); log(o); await als.run(new Map(), async () => { als.getStore().set("k", 1); await sleep(1); log(als.getStore().get("k")) })`,
	use + `const bound = als.run("bound", () => AsyncLocalStorage.bind((a, b) => [als.getStore(), a, b])); const snap = als.run("snap", () => AsyncLocalStorage.snapshot()); log(bound(1, 2), snap((x, y) => [als.getStore(), x, y], 3, 4), als.run("other", () => bound()), bound.length)`,
	use + `const r = als.run("res", () => new AsyncResource("R")); log(r.runInAsyncScope(function (a) { return [als.getStore(), this.me, a] }, {me: 7}, 1), r.asyncId() > 0, r.emitDestroy() === r, typeof r.triggerAsyncId()); const f = als.run("f", () => AsyncResource.bind(() => als.getStore())); log(f()); log(r.bind(() => als.getStore())())`,
	use + `class Pool extends AsyncResource { constructor() { super("Pool") } go(cb) { return this.runInAsyncScope(cb, null) } } const p = als.run("pool", () => new Pool()); log(p.go(() => als.getStore()), p instanceof AsyncResource); class Mine extends AsyncLocalStorage { hi() { return this.getStore() } } const m = new Mine(); log(m.run(5, () => m.hi()))`,
	use + `for (const f of [() => new AsyncResource(), () => AsyncLocalStorage.bind(5), () => AsyncResource.bind(5)]) try { f() } catch (e) { log(e.name, e.code, e.message) } log(AsyncLocalStorage.length, als.run.length, als.run.name, als.getStore.length)`,
	use + `const gen = async function* () { yield als.getStore(); await null; yield als.getStore() }; await als.run("g", async () => { for await (const v of gen()) log(v) })`,
	use + `als.run("d", () => { log(als.getStore()); als.disable(); log(als.getStore()) }); log(als.run(9, () => als.getStore()))`,
	use + `const EventEmitter = require("node:events"); const e = new EventEmitter(); als.run("on", () => e.on("x", () => log(als.getStore()))); als.run("emit", () => e.emit("x"))`,
	use + `const log2 = []; await als.run("t", async () => { try { await Promise.reject(new Error()) } catch { log2.push(als.getStore()) } finally { log2.push(als.getStore()) } await Promise.all([1, 2].map(async i => { await sleep(i); log2.push(als.getStore() + i) })) }); log(log2)`,
}

func TestLocalStorageIsNodes(t *testing.T) {
	t.Parallel()
	node, err := exec.Command("node", "-e", trial.Program(scripts)).Output()
	if err != nil {
		t.Skip("Node 20 is not installed")
	}
	compare := trial.Comparison(t, scripts, node, modules()...)
	synctest.Test(t, func(t *testing.T) { compare(t) })
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, asynchooks.Module())
}

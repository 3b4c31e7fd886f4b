package events_test

import (
	"os/exec"
	"testing"
	"testing/synctest"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/event"
	"mcpx/stdlib/events"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/process"
	"mcpx/stdlib/timers"
)

func modules() []engine.Module {
	return append(process.Modules(), event.Module(), events.Module(), console.Module(), timers.Module())
}

const use = `const EventEmitter = require("node:events"); const { once, on, errorMonitor, getEventListeners, addAbortListener } = EventEmitter; const e = new EventEmitter(); const log = (...a) => console.log(...a); `

// scripts are compared with Node.
var scripts = []string{
	use + `e.on("a", (...x) => log("on", x)); e.once("a", (...x) => log("once", x)); e.prependListener("a", () => log("first")); e.prependOnceListener("a", () => log("very first")); log(e.emit("a", 1, 2), e.emit("a"), e.emit("b"))`,
	use + `e.on("a", function () { log(this === e, arguments.length) }); e.emit("a", 1, 2, 3)`,
	use + `const f = () => log("f"); e.on("a", f); e.on("a", f); e.off("a", f); e.emit("a"); e.removeListener("a", f); log(e.emit("a"), e.listenerCount("a"), e.eventNames())`,
	use + `const f = () => {}; e.once("a", f); log(e.listeners("a")[0] === f, e.rawListeners("a")[0] === f, e.rawListeners("a")[0].listener === f, e.rawListeners("a")); e.off("a", f); log(e.listenerCount("a"))`,
	use + `e.on("a", () => { log(1); e.on("a", () => log("added")); e.removeAllListeners("b") }); e.on("a", () => log(2)); e.on("b", () => log("b")); e.emit("a"); e.emit("b"); e.emit("a")`,
	use + `const g = () => log("g"); e.on("a", () => { log("f"); e.off("a", g) }); e.on("a", g); e.emit("a"); e.emit("a")`,
	use + `e.on("newListener", (n, f) => log("new", n, typeof f)); e.on("removeListener", (n, f) => log("gone", n, typeof f)); const f = () => {}; e.on("x", f); e.once("y", f); e.off("x", f); e.emit("y"); e.on("z", f); e.removeAllListeners(); log(e.eventNames())`,
	use + `e.once("newListener", n => e.on(n, () => log("inner"))); e.on("x", () => log("outer")); e.emit("x")`,
	use + `try { e.emit("error", new TypeError("boom")) } catch (x) { log(x.name, x.message) } e.on("error", x => log("handled", x.message)); log(e.emit("error", new Error("m")))`,
	use + `for (const v of [undefined, null, 5, "text", {a: 1}, Symbol("s")]) try { e.emit("error", v) } catch (x) { log(x.name, x.code, x.message, x.context) }`,
	use + `e.on(errorMonitor, x => log("monitor", x.message)); try { e.emit("error", new Error("a")) } catch (x) { log("thrown", x.message) } e.on("error", () => log("on")); e.emit("error", new Error("b")); log(errorMonitor)`,
	use + `for (const f of [() => e.on("x"), () => e.on("x", 5), () => e.once("x", {}), () => e.prependListener("x", null), () => e.off("x", "s"), () => e.setMaxListeners(-1), () => e.setMaxListeners("5"), () => { EventEmitter.defaultMaxListeners = NaN }, () => new EventEmitter({captureRejections: 5}), () => { EventEmitter.captureRejections = 1 }, () => getEventListeners({}, "x"), () => EventEmitter.setMaxListeners(5, {}), () => EventEmitter.setMaxListeners(-5), () => on({}, "x")]) try { log(f()) } catch (x) { log(x.name, x.code, x.message) }`,
	use + `for (const f of [() => once({}, "x"), () => once(e, "x", {signal: {}}), () => once(e, "x", {signal: AbortSignal.abort("why")})]) try { await f() } catch (x) { log(x.name, x.code, x.message, x.cause) }`,
	use + `log(e.setMaxListeners(3) === e, e.getMaxListeners(), EventEmitter.defaultMaxListeners, EventEmitter.getMaxListeners(e)); EventEmitter.setMaxListeners(7, e); log(e.getMaxListeners())`,
	use + `class Bus extends EventEmitter { constructor() { super(); this.n = 0 } hit() { this.emit("hit", ++this.n) } } const b = new Bus(); b.on("hit", n => log(n)); b.hit(); b.hit(); log(b instanceof EventEmitter, b instanceof Bus, b)`,
	use + `function Old() { EventEmitter.call(this) } Object.setPrototypeOf(Old.prototype, EventEmitter.prototype); const o = new Old(); o.on("x", v => log(v)); o.emit("x", 1); log(o instanceof EventEmitter); const bare = Object.create(EventEmitter.prototype); bare.on("y", () => log("bare")); bare.emit("y")`,
	use + `const mixed = Object.assign({name: "m"}, EventEmitter.prototype); mixed.on("x", () => log("mixed")); mixed.emit("x"); log(mixed.listenerCount("x"))`,
	use + `log(e); e.on("a", () => {}); e.on("a", function named() {}); e.once("b", () => {}); log(e)`,
	use + `log(Object.keys(EventEmitter.prototype).join(), EventEmitter.length, EventEmitter.name, EventEmitter.EventEmitter === EventEmitter, EventEmitter.usingDomains, EventEmitter.captureRejectionSymbol, EventEmitter.on === on)`,
	use + `log(["setMaxListeners", "emit", "addListener", "on", "off", "once", "removeAllListeners", "listeners", "rawListeners", "listenerCount", "eventNames"].map(n => EventEmitter.prototype[n].name + EventEmitter.prototype[n].length).join())`,
	use + `const s = Symbol("s"); e.on(s, () => log("sym")); e.on("b", () => {}); e.on(1, () => log("one")); e.emit(s); e.emit("1"); log(e.eventNames(), e.listenerCount(s), EventEmitter.listenerCount(e, "b"))`,
	use + `const f = () => {}; e.on("a", f); e.on("a", f); e.once("a", f); e.on("a", () => {}); log(e.listenerCount("a"), e.listenerCount("a", f), e.listenerCount("nothing"))`,
	use + `e.on("a", () => log("a")); e.on("b", () => log("b")); e.removeAllListeners("a"); log(e.emit("a"), e.emit("b")); e.removeAllListeners(); log(e.emit("b"), e.eventNames().length)`,
	use + `setTimeout(() => e.emit("z", 9, 8), 1); log(await once(e, "z"), e.listenerCount("z"), e.listenerCount("error"))`,
	use + `setTimeout(() => e.emit("error", new Error("bad")), 1); try { await once(e, "z") } catch (x) { log(x.message) } log(e.eventNames()); setTimeout(() => e.emit("error", new Error("ok")), 1); const [x] = await once(e, "error"); log(x.message)`,
	use + `const ac = new AbortController(); const p = once(e, "q", {signal: ac.signal}); ac.abort("stop"); try { await p } catch (x) { log(x.name, x.code, x.message, x.cause, e.eventNames()) }`,
	use + `const t = new EventTarget(); setTimeout(() => t.dispatchEvent(new Event("go")), 1); const [ev] = await once(t, "go"); log(ev.type)`,
	use + `setTimeout(() => { e.emit("x", 1); e.emit("x", 2, 3); e.emit("other"); e.emit("x", "end") }, 1); for await (const v of on(e, "x")) { log(v); if (v[0] === "end") break } log(e.eventNames())`,
	use + `const it = on(e, "x"); e.emit("x", 1); e.emit("x", 2); log(await it.next(), await it.next()); const p = it.next(); await it.return(); log(await p, await it.next())`,
	use + `const it = on(e, "x"); e.emit("x", 1); e.emit("error", new Error("bad")); log(await it.next()); try { await it.next() } catch (x) { log(x.message) } log(await it.next())`,
	use + `const ac = new AbortController(); setTimeout(() => ac.abort(), 2); e.emit("x"); try { for await (const v of on(e, "x", {signal: ac.signal})) log(v) } catch (x) { log(x.name, x.code) } log(e.eventNames())`,
	use + `setTimeout(() => { e.emit("x", 1); e.emit("end"); e.emit("x", 2) }, 1); for await (const v of on(e, "x", {close: ["end"]})) log(v); log("closed")`,
	use + `const c = new EventEmitter({captureRejections: true}); c.on("error", x => log("captured", x.message)); c.on("x", async () => { throw new Error("async") }); c.emit("x"); await new Promise(r => setTimeout(r, 2)); c[Symbol.for("nodejs.rejection")] = (err, type, ...args) => log("own", err.message, type, args); c.emit("x", 1, 2); await new Promise(r => setTimeout(r, 2))`,
	use + `const ac = new AbortController(); const d = addAbortListener(ac.signal, () => log("aborted")); ac.abort(); addAbortListener(AbortSignal.abort(), () => log("late")); await null; log(typeof d[Symbol.dispose ?? "x"]); try { addAbortListener(undefined, () => {}) } catch (x) { log(x.code) }`,
	use + `const f = () => {}; e.on("x", f); e.once("x", f); log(getEventListeners(e, "x").length, getEventListeners(e, "x")[1] === f)`,
	use + `e.emit = function (n, ...a) { log("spied", n); return EventEmitter.prototype.emit.call(this, n, ...a) }; e.on("x", () => log("heard")); e.emit("x")`,
	use + `log(process.on("x", v => log(v)) === process, process.emit("x", 7), process.listenerCount("x"), process instanceof EventEmitter, process.eventNames().includes("x"))`,
}

func TestEmittersAreNodes(t *testing.T) {
	t.Parallel()
	node, err := exec.Command("node", "-e", trial.Program(scripts)).Output()
	if err != nil {
		t.Skip("Node 20 is not installed")
	}
	compare := trial.Comparison(t, scripts, node, modules()...)
	synctest.Test(t, func(t *testing.T) { compare(t) })
}

func TestEmitters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, stdout, stderr string }{
		{"what a listener throws reaches emit", `import { EventEmitter } from "node:events"; const e = new EventEmitter(); e.on("x", () => { throw new TypeError("boom") }); e.emit("x")`, "", "uncaught TypeError: boom\n"},
		{"an error that nobody listens to", `import E from "events"; setTimeout(() => new E().emit("error", new RangeError("alone")), 1)`, "", "uncaught RangeError: alone\n"},
		{"imports", `import E, { EventEmitter, once } from "node:events"; import * as all from "node:events"; console.log(E === EventEmitter, all.once === once, all.default === E)`, "true true true\n", ""},
		{"many listeners", `import E from "node:events"; const e = new E().setMaxListeners(0); let n = 0; for (let i = 0; i < 2000; i++) e.on("x", () => n++); e.emit("x"); console.log(n)`, "2000\n", ""},
		{"a warning", `import E from "node:events"; const e = new E(); for (let i = 0; i < 12; i++) e.on("x", () => {})`, "", "(mcpx) MaxListenersExceededWarning: Possible EventEmitter memory leak detected. 11 x listeners added to [EventEmitter]. MaxListeners is 10. Use emitter.setMaxListeners() to increase limit\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr := trial.Run(tt.code, nil, modules()...)
			if stdout != tt.stdout || stderr != tt.stderr {
				t.Errorf("wrote %q and %q, want %q and %q", stdout, stderr, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, events.Module(), modules()...)
}

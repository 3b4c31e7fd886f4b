package readline_test

import (
	"os/exec"
	"testing"
	"testing/synctest"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/encoding"
	"mcpx/stdlib/event"
	"mcpx/stdlib/events"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/process"
	"mcpx/stdlib/readline"
	"mcpx/stdlib/timers"
	"mcpx/stdlib/util"
)

func modules() []engine.Module {
	all := append(append(readline.Modules(), process.Modules()...), util.Modules()...)
	return append(all, events.Module(), event.Module(), encoding.Module(), console.Module(), timers.Module())
}

// use has a source of chunks that both here and in Node is a stream as far as a reader
// of lines can tell.
const use = `const readline = require("node:readline"); const promises = require("node:readline/promises"); const EventEmitter = require("node:events");
class Input extends EventEmitter { constructor(chunks) { super(); this.chunks = chunks; this.flowing = false } resume() { if (!this.flowing) { this.flowing = true; setTimeout(() => this.go(), 1) } return this } pause() { this.flowing = false; return this }
 go() { if (!this.flowing) return; if (this.chunks.length) { this.emit("data", this.chunks.shift()); setTimeout(() => this.go(), 1) } else if (!this.ended) { this.ended = true; this.emit("end") } } }
const input = (...chunks) => new Input(chunks.map(c => new TextEncoder().encode(c))); let out = ""; const output = {write(s, cb) { out += s; if (typeof cb === "function") process.nextTick(cb); return true }, on() {}, removeListener() {}, columns: 80 }; `

// scripts are compared with Node.
var scripts = []string{
	use + `const rl = readline.createInterface({input: input("a\nb", "c\r\n", "d\re\n\n", "f\r", "\ng\n", "last")}); rl.on("line", l => console.log(JSON.stringify(l))); await new Promise(r => rl.on("close", r)); console.log(rl.closed, rl instanceof readline.Interface)`,
	use + `const bytes = new TextEncoder().encode("é☃\n"); const i = new Input([bytes.slice(0, 1), bytes.slice(1, 3), bytes.slice(3)]); for await (const l of readline.createInterface({input: i})) console.log(l)`,
	use + `for await (const l of readline.createInterface({input: input("1\n2\n3")})) console.log(l); for await (const l of readline.createInterface({input: input()})) console.log("none"); console.log("end")`,
	use + `const rl = readline.createInterface({input: input("one\ntwo\n"), output}); rl.question("q? ", a => { console.log("answer", a); rl.question("r? ", b => { console.log("then", b); rl.close() }) }); await new Promise(r => rl.on("close", r)); console.log(JSON.stringify(out))`,
	use + `const rl = promises.createInterface({input: input("x\n", "y\n"), output}); console.log(await rl.question("a? "), await rl.question("b? ")); rl.close(); console.log(JSON.stringify(out)); try { await rl.question("c? ") } catch (e) { console.log(e.code, e.message) }`,
	use + `const rl = readline.createInterface({input: input("l\n"), output, prompt: "p> "}); console.log(rl.getPrompt()); rl.prompt(); rl.setPrompt("q> "); rl.prompt(); rl.on("line", l => { console.log(l, JSON.stringify(out)); rl.close() }); await new Promise(r => rl.on("close", r))`,
	use + `const rl = readline.createInterface({input: input("l\n")}); const ev = []; for (const n of ["pause", "resume", "close"]) rl.on(n, () => ev.push(n)); console.log(rl.pause() === rl, rl.pause(), rl.resume() === rl, rl.resume()); rl.close(); rl.close(); console.log(ev)`,
	use + `const rl = readline.createInterface({input: input()}); rl.close(); for (const f of [() => rl.question("x", () => {}), () => rl.setPrompt("a"), () => rl.close()]) try { f(); console.log("ok") } catch (e) { console.log(e.name, e.code, e.message) }`,
	use + `const ac = new AbortController(); const rl = promises.createInterface({input: input(), output}); const p = rl.question("q? ", {signal: ac.signal}); ac.abort(); try { await p } catch (e) { console.log(e.name, e.code) } rl.close()`,
	use + `const rl = readline.createInterface({input: input("a\nb\nc\n")}); for await (const l of rl) { console.log(l); if (l === "b") break } console.log(!!rl.closed)`,
	use + `for (const f of [() => readline.clearLine(output, 0), () => readline.clearLine(output, -1), () => readline.clearLine(output, 1), () => readline.cursorTo(output, 1, 2), () => readline.cursorTo(output, 3), () => readline.moveCursor(output, -1, 2), () => readline.moveCursor(output, 0, 0), () => readline.clearScreenDown(output), () => readline.cursorTo(output, "x", 1), () => readline.cursorTo(output, NaN), () => readline.clearLine(output, 0, 5)]) { out = ""; try { console.log(f(), JSON.stringify(out)) } catch (e) { console.log(e.name, e.code, e.message) } }`,
	use + `console.log(readline.promises === promises, readline.createInterface.name, readline.createInterface.length, readline.clearLine.length); const rl = readline.createInterface(input("x\n"), output); rl.on("line", l => console.log(l)); await new Promise(r => rl.on("close", r))`,
	use + `const util = require("util"); const rl = readline.createInterface({input: input("z\n"), output}); console.log(await util.promisify(rl.question).call(rl, "q? ")); rl.close()`,
}

func TestReadlineIsNodes(t *testing.T) {
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
	for i, m := range readline.Modules() {
		declared.Check(t, m, append(readline.Modules()[:i], events.Module())...)
	}
}

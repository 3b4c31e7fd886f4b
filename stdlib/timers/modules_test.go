package timers

import (
	"os/exec"
	"testing"
	"testing/synctest"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/event"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/process"
	"mcpx/stdlib/util"
)

func library() []engine.Module {
	all := append(Modules(), console.Module(), event.Module())
	return append(append(all, process.Modules()...), util.Modules()...)
}

// moduleScripts are compared with Node.
var moduleScripts = []string{
	`const { setTimeout: sleep, setImmediate: turn, setInterval: every, scheduler } = require("node:timers/promises"); console.log(await sleep(1, "slept"), await turn("turned"), await sleep(), await scheduler.wait(1), await scheduler.yield()); let n = 0; for await (const v of every(1, "v")) { console.log(v); if (++n === 3) break }`,
	`const { setTimeout: sleep } = require("timers/promises"); const ac = new AbortController(); const p = sleep(10000, "x", {signal: ac.signal}); ac.abort("why"); try { await p } catch (e) { console.log(e.name, e.code, e.message, e.cause) } try { await sleep(1, "x", {signal: AbortSignal.abort()}) } catch (e) { console.log(e.name, e.cause.name) }`,
	`const t = require("timers/promises"); for (const f of [() => t.setTimeout(1, 2, 5), () => t.setTimeout(1, 2, {signal: 5}), () => t.setTimeout(1, 2, {ref: 5}), () => t.setImmediate(1, null)]) try { await f(); console.log("ok") } catch (e) { console.log(e.name, e.code, e.message) }`,
	`const { setInterval: every } = require("timers/promises"); const ac = new AbortController(); let n = 0; try { for await (const _ of every(1, 0, {signal: ac.signal})) if (++n === 2) ac.abort() } catch (e) { console.log(n, e.name, e.code) }`,
	`const util = require("util"); console.log(await util.promisify(setTimeout)(1, "v"), await util.promisify(setImmediate)("w"), typeof setTimeout[util.promisify.custom], Object.keys(setTimeout))`,
	`const timers = require("node:timers"); console.log(timers.setTimeout === setTimeout, timers.clearImmediate === clearImmediate, timers.promises === require("timers/promises"), timers.queueMicrotask)`,
	`const { setInterval: every } = require("timers/promises"); const it = every(1, "x"); console.log(await it.next(), await it.return("r"), await it.next())`,
}

func TestTimerModulesAreNodes(t *testing.T) {
	t.Parallel()
	node, err := exec.Command("node", "-e", trial.Program(moduleScripts)).Output()
	if err != nil {
		t.Skip("Node 20 is not installed")
	}
	compare := trial.Comparison(t, moduleScripts, node, library()...)
	synctest.Test(t, func(t *testing.T) { compare(t) })
}

func TestUnreferencedSleepDoesNotKeepTheRunAlive(t *testing.T) {
	t.Parallel()
	const code = `import { setTimeout } from "node:timers/promises"; setTimeout(60000, 0, {ref: false}); console.log("end")`
	if stdout, stderr := trial.Run(code, nil, library()...); stdout != "end\n" || stderr != "" {
		t.Errorf("wrote %q and %q", stdout, stderr)
	}
}

func TestModuleDeclarations(t *testing.T) {
	t.Parallel()
	for i, m := range Modules()[1:] {
		declared.Check(t, m, append([]engine.Module{Module()}, Modules()[i+1:]...)...)
	}
}

package perf_test

import (
	"os/exec"
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/event"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/perf"
	"mcpx/stdlib/timers"
)

func modules() []engine.Module {
	return append(perf.Modules(), event.Module(), console.Module(), timers.Module())
}

// scripts are compared with Node.
var scripts = []string{
	`const a = performance.now(); await new Promise(r => setTimeout(r, 3)); const d = performance.now() - a; console.log(d >= 2 && d < 2000, Math.abs(performance.timeOrigin + performance.now() - Date.now()) < 1000, performance === require("perf_hooks").performance)`,
	`performance.mark("a", {startTime: 1, detail: {x: 1}}); performance.mark("b", {startTime: 5}); const m = performance.measure("m", "a", "b"); console.log(m.name, m.startTime, m.duration, m.detail, m.entryType, JSON.stringify(m)); console.log(performance.getEntries().map(e => e.name), performance.getEntriesByName("a").length, performance.getEntriesByType("mark").map(e => e.detail)); performance.clearMarks("a"); console.log(performance.getEntries().length); performance.clearMarks(); performance.clearMeasures(); console.log(performance.getEntries())`,
	`console.log(performance.measure("q", {start: 1, duration: 2}), performance.measure("q", {start: 1, end: 4, detail: [1]}), performance.measure("r", {end: 4, duration: 1}), performance.mark("x", {startTime: 2})); performance.clearMarks(); performance.clearMeasures()`,
	`for (const f of [() => performance.mark(), () => performance.measure(), () => performance.measure("x", "nope"), () => performance.mark("a", {startTime: -1}), () => performance.measure("q", {start: 1, duration: 2, end: 3}), () => performance.timerify(5), () => new performance.constructor(), () => new PerformanceEntry(), () => new PerformanceObserver(), () => new PerformanceObserver(() => {}).observe({})]) try { f(); console.log("ok") } catch (e) { console.log(e.name, e.code, e.message) }`,
	`const seen = []; const o = new PerformanceObserver((list, me) => seen.push(list.getEntries().map(e => e.name + e.entryType).join(), me === o)); o.observe({entryTypes: ["mark", "function"]}); performance.mark("one"); performance.mark("two"); performance.timerify(function f(a) { return a })(1); performance.measure("no"); await new Promise(r => setTimeout(r, 20)); console.log(seen); o.disconnect(); performance.mark("three"); await new Promise(r => setTimeout(r, 5)); console.log(seen.length); performance.clearMarks(); performance.clearMeasures()`,
	`const f = performance.timerify(function named(a, b) { return a + b }); console.log(f(1, 2), f.name, f.length, String(performance), performance.mark("x") instanceof PerformanceEntry, new PerformanceMark("y", {startTime: 1}).startTime, performance.getEntriesByName("y").length); performance.clearMarks()`,
}

func TestPerformanceIsNodes(t *testing.T) {
	t.Parallel()
	node, err := exec.Command("node", "-e", trial.Program(scripts)).Output()
	if err != nil {
		t.Skip("Node 20 is not installed")
	}
	trial.Compare(t, scripts, node, modules()...)
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	for i, m := range perf.Modules() {
		declared.Check(t, m, perf.Modules()[:i]...)
	}
}

package timers

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/engine"
	"mcpx/stdlib/console"
)

func modules() []engine.Module { return []engine.Module{Module(), console.Module()} }

func compile(t *testing.T, code string) *engine.Program {
	t.Helper()
	p, report := engine.Compile(engine.Source{Name: "exec", Text: code}, modules())
	if report != nil {
		t.Fatalf("%s\n%s", code, report.Text())
	}
	return p
}

// run runs a script and returns what it wrote, and how it ended if it failed.
func run(p *engine.Program) (stdout, stderr string) {
	var out, errs strings.Builder
	outcome := engine.New(engine.Options{
		Modules: modules(),
		Output: func(stream int, b []byte) {
			if stream == engine.Stdout {
				out.Write(b)
			} else {
				errs.Write(b)
			}
		},
	}).Run(context.Background(), p)
	if outcome.Report != nil {
		errs.WriteString("uncaught " + outcome.Report.Name + ": " + outcome.Report.Message + "\n")
	}
	return out.String(), errs.String()
}

// scripts are compared with Node.
var scripts = []string{
	`setTimeout(() => console.log("b"), 40); setTimeout(() => console.log("a"), 1); setTimeout(() => console.log("c"), 40)`,
	`setTimeout(console.log, 1, "x", 2, {y: 3}); setTimeout(console.log, 1)`, `setImmediate(console.log, "i", 1); setImmediate(() => console.log("i2"))`,
	`setTimeout(() => console.log("timeout"), 1); Promise.resolve().then(() => console.log("promise")); queueMicrotask(() => console.log("microtask")); console.log("sync")`,
	`setTimeout(() => { console.log(1); Promise.resolve().then(() => console.log("after 1")) }, 1); setTimeout(() => console.log(2), 1)`,
	`setImmediate(() => { console.log(1); queueMicrotask(() => console.log("after 1")); setImmediate(() => console.log(3)) }); setImmediate(() => console.log(2))`,
	`let n = 0; const t = setInterval(() => { console.log(++n); if (n === 3) clearInterval(t) }, 1)`,
	`let n = 0; setInterval(function () { console.log(++n); if (n === 2) clearTimeout(this) }, 1)`,
	`const t = setTimeout(() => console.log("no"), 1); clearTimeout(t); clearTimeout(t); clearTimeout(undefined); clearTimeout(null); clearTimeout({}); clearTimeout(987654); clearTimeout("x")`,
	`const t = setTimeout(() => console.log("no"), 1); clearTimeout(+t); const u = setTimeout(() => console.log("no"), 1); clearTimeout(String(+u))`,
	`const i = setImmediate(() => console.log("no")); clearImmediate(i); clearImmediate(i); clearImmediate(undefined)`,
	`const i = setInterval(() => console.log("no"), 1); clearTimeout(i); const t = setTimeout(() => console.log("no"), 1); clearInterval(t); t.close()`,
	`const a = setTimeout(() => { console.log("a"); clearTimeout(b) }, 1); const b = setTimeout(() => console.log("no"), 1)`,
	`const a = setImmediate(() => { console.log("a"); clearImmediate(b) }); const b = setImmediate(() => console.log("no"))`,
	`for (const bad of [undefined, null, 7, "code", {}, [], Symbol("s"), "x".repeat(40), new Map()]) { for (const f of [setTimeout, setInterval, setImmediate, queueMicrotask]) { try { f(bad, 1) } catch (e) { console.log(e.name, e.code, e.message) } } }`,
	`const t = setTimeout(() => {}, 1); console.log(t.hasRef(), t.unref() === t, t.hasRef(), t.ref() === t, t.hasRef(), t.refresh() === t, t.close() === t, typeof +t)`,
	`const i = setImmediate(() => {}); console.log(i.hasRef(), i.unref() === i, i.hasRef(), i.ref() === i, i.hasRef(), i.constructor.name); clearImmediate(i); console.log(i.hasRef())`,
	`setTimeout(() => console.log("never"), 100000).unref(); setInterval(() => console.log("never"), 100000).unref(); console.log("end")`,
	`const t = setTimeout(() => { console.log("again"); if (!t.done) { t.done = true; t.refresh() } }, 1)`,
	`setTimeout(function () { console.log(this.constructor.name, this === t) }, 1); const t = setTimeout(function () { console.log(this === t) }, 1)`,
	`setTimeout((...a) => console.log(a.length), 1); setTimeout((...a) => console.log(a.length), 1, undefined); setTimeout(() => console.log("text"), "1"); setTimeout(() => console.log("none"))`,
	`console.log(setTimeout.name, clearInterval.name, setImmediate.name, queueMicrotask.name, typeof setTimeout)`,
	`try { setTimeout(() => {}, Symbol()) } catch (e) { console.log(e.name) }; try { setTimeout(() => {}, 1n) } catch (e) { console.log(e.name) }; try { setTimeout(() => {}, {valueOf() { throw new RangeError("mine") }}) } catch (e) { console.log(e.message) }`,
	`setTimeout(() => console.log("t"), {valueOf() { return 1 }}); setTimeout(() => console.log("u"), NaN); setTimeout(() => console.log("v"), -5); setTimeout(() => console.log("w"), 1.9)`,
	`(async () => { await new Promise(r => setTimeout(r, 1)); console.log("slept"); await new Promise(r => setImmediate(r)); console.log("next") })()`,
}

// inNode runs one script after the other in one process, each when the one before has
// nothing left to do.
const inNode = `
const results = [];
const run = i => {
	if (i === scripts.length) return process.stdout.write(JSON.stringify(results));
	process.once("beforeExit", () => run(i + 1));
	results.push("");
	const stdout = new (require("stream").Writable)({write(b, _, done) { results[i] += b; done() }});
	new Function("console", scripts[i])(new console.Console({stdout}));
	setImmediate(() => {}); // beforeExit comes again only if something was left to do
};
run(0);
`

func TestTimersAreNodes(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if version, _ := exec.Command(path, "--version").Output(); !strings.HasPrefix(string(version), "v20.") {
		t.Skipf("node is %s; the texts are those of version 20", version)
	}
	list, err := json.Marshal(scripts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-")
	cmd.Stdin = strings.NewReader("const scripts = " + string(list) + inNode)
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	var want []string
	if err := json.Unmarshal(b, &want); err != nil || len(want) != len(scripts) {
		t.Fatalf("node printed %s, %v", b, err)
	}
	for i, code := range scripts {
		t.Run(code[:min(len(code), 40)], func(t *testing.T) {
			t.Parallel()
			stdout, stderr := run(compile(t, code))
			if stdout != want[i] || stderr != "" {
				t.Errorf("%s\nwrote\n%s%s\nNode wrote\n%s", code, stdout, stderr, want[i])
			}
		})
	}
}

func TestTimers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, stdout, stderr string }{
		{"exception in a timer", `setTimeout(() => { throw new TypeError("boom") }, 1); setTimeout(() => console.log("no"), 50)`, "", "uncaught TypeError: boom\n"},
		{"exception in an immediate", `setImmediate(() => { throw new TypeError("boom") })`, "", "uncaught TypeError: boom\n"},
		{"exception in a microtask", `queueMicrotask(() => { throw new TypeError("boom") }); setTimeout(() => console.log("no"), 50)`, "", "uncaught TypeError: boom\n"},
		{"method on something else", `const {unref} = Object.getPrototypeOf(setTimeout(() => {})); try { unref.call({}) } catch (e) { console.log(e.name, e.message) }`, "TypeError unref is a method of timers\n", ""},
		{"constructor", `try { new (setTimeout(() => {}).constructor)() } catch (e) { console.log(e.name) }`, "TypeError\n", ""},
		{"printed", `console.log(setTimeout(() => {}), setImmediate(() => {}))`, "Timeout {} Immediate {}\n", ""},
		{"too long", `setTimeout(() => console.log("at once"), 2 ** 31)`, "at once\n", "Warning: 2147483648 does not fit into a 32-bit signed integer. Timeout duration was set to 1.\n"},
		{"cleared does not come back", `const t = setTimeout(() => console.log("no"), 1); clearTimeout(t); t.refresh()`, "", ""},
		{"proxy of a timer", `clearTimeout(new Proxy(setTimeout(() => console.log("no"), 1), {}))`, "", ""},
		{"timer in disguise", `clearTimeout(Object.create(setTimeout(() => console.log("no"), 1)))`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr := run(compile(t, tt.code))
			if stdout != tt.stdout || stderr != tt.stderr {
				t.Errorf("%s\n wrote %q and %q\n want %q and %q", tt.code, stdout, stderr, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestDelaysAreKept(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code string
		want       time.Duration
	}{
		{"timeout", `setTimeout(() => {}, 1500)`, 1500 * time.Millisecond},
		{"interval", `let n = 0; const t = setInterval(() => { if (++n === 3) clearInterval(t) }, 1000)`, 3 * time.Second},
		{"refresh", `const t = setTimeout(() => {}, 1000); setTimeout(() => t.refresh(), 600)`, 1600 * time.Millisecond},
		{"refresh of an unref'd one", `const t = setTimeout(() => {}, 1000).unref(); setTimeout(() => t.refresh(), 600)`, 600 * time.Millisecond},
		{"longest", `const t = setTimeout(() => {}, 2 ** 31 - 1)`, (1<<31 - 1) * time.Millisecond},
		{"fraction", `setTimeout(() => {}, 2.9)`, 2 * time.Millisecond},
		{"negative", `setTimeout(() => {}, -1)`, time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := compile(t, tt.code) // outside the bubble: esbuild leaves a goroutine behind
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				run(p)
				if d := time.Since(began); d != tt.want {
					t.Errorf("%s took %s, want %s", tt.code, d, tt.want)
				}
			})
		})
	}
}

func TestDeclarationsNameEveryGlobal(t *testing.T) {
	t.Parallel()
	m := Module()
	if len(m.Globals) == 0 {
		t.Fatal("no globals")
	}
	for _, name := range m.Globals {
		if !strings.Contains(declarations, "declare function "+name) {
			t.Errorf("timers.d.ts does not declare %s", name)
		}
	}
}

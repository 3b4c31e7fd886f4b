package process_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"mcpx/engine"
	"mcpx/internal/fault"
	"mcpx/stdlib/buffer"
	"mcpx/stdlib/console"
	"mcpx/stdlib/encoding"
	"mcpx/stdlib/event"
	"mcpx/stdlib/events"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/process"
	"mcpx/stdlib/readline"
	"mcpx/stdlib/streams"
	"mcpx/stdlib/stringdecoder"
	"mcpx/stdlib/timers"
)

func modules() []engine.Module {
	return append(process.Modules(), events.Module(), console.Module(), timers.Module())
}

// scripts are compared with Node.
var scripts = []string{
	`process.env.ZZ_A = 5; const a = process.env.ZZ_A; delete process.env.ZZ_A; console.log(a, typeof a, "ZZ_A" in process.env, process.env.ZZ_NONE, process.env.toString())`,
	`process.env.U = undefined; process.env.N = null; process.env.O = {toString: () => "obj"}; console.log(process.env.U, process.env.N, process.env.O, Object.getOwnPropertyDescriptor(process.env, "U"), Object.keys(process.env).includes("U"))`,
	`for (const f of [() => { process.env.X = Symbol("s") }, () => { process.exitCode = "x" }, () => { process.exitCode = 1.5 }, () => { process.exitCode = {} }, () => { process.exitCode = true }, () => process.exit("abc"), () => process.nextTick(5), () => process.hrtime(5), () => process.hrtime([1]), () => process.stdout.write(5), () => process.stdout.write(null), () => process.stdout.write(undefined), () => process.emitWarning(5), () => process.emitWarning("x", 5), () => process.kill("a"), () => process.stdout.write("x", "nope")]) try { f(); console.log("ok") } catch (e) { console.log(e.name, e.code, e.message) }`,
	`process.exitCode = -1; console.log(process.exitCode); process.exitCode = "3"; console.log(process.exitCode); process.exitCode = null; console.log(process.exitCode); process.exitCode = undefined; console.log(process.exitCode)`,
	`console.log(process.nextTick.name, process.nextTick.length, process.exit.length, process.hrtime.length, process.cwd.length, process.hrtime.bigint.name, process.memoryUsage.rss.name)`,
	`console.log(Object.prototype.toString.call(process), Object.getPrototypeOf(process).constructor.name, process.argv0 === undefined, process.release.name, process.version.startsWith("v20."), process.versions.node === process.version.slice(1))`,
	`const t = process.hrtime(); const d = process.hrtime(t); console.log(d[0], typeof d[1], d[1] >= 0, Array.isArray(t), typeof process.hrtime.bigint(), process.hrtime.bigint() <= process.hrtime.bigint(), process.uptime() >= 0, typeof process.memoryUsage().heapUsed, process.memoryUsage.rss() > 0)`,
	`const log = []; process.nextTick((a, b) => log.push("tick", a, b), 1, 2); queueMicrotask(() => { log.push("micro"); process.nextTick(() => log.push("tick2")); queueMicrotask(() => log.push("micro2")) }); process.nextTick(() => { process.nextTick(() => log.push("nested")) }); await new Promise(r => setTimeout(r, 2)); console.log(log.sort().join())`,
	`const log = []; await new Promise(r => setTimeout(() => { Promise.resolve().then(() => log.push("p")); process.nextTick(() => { log.push("t1"); process.nextTick(() => log.push("t3")); Promise.resolve().then(() => log.push("p2")) }); process.nextTick(() => log.push("t2")); setImmediate(r) }, 1)); console.log(log.join())`,
	`const log = []; await new Promise(r => setTimeout(() => { Promise.resolve().then(() => { process.nextTick(() => log.push("tick")); Promise.resolve().then(() => log.push("deep")) }).then(() => log.push("then")); setImmediate(r) }, 1)); console.log(log.join())`,
	`const order = []; await new Promise(done => { setTimeout(() => { order.push("a"); process.nextTick(() => order.push("ta")) }, 1); setTimeout(() => { order.push("b"); process.nextTick(() => order.push("tb")); setImmediate(done) }, 1) }); console.log(order.join())`,
	`const got = []; process.on("unhandledRejection", (r, p) => got.push("unh:" + r.message + (p instanceof Promise))); Promise.reject(new Error("one")); Promise.reject(new Error("two")).catch(() => {}); await new Promise(r => setTimeout(r, 5)); console.log(got.join()); process.removeAllListeners("unhandledRejection")`,
	`const got = []; process.on("uncaughtExceptionMonitor", (e, o) => got.push("mon:" + e + o)); process.on("uncaughtException", (e, o) => got.push(String(e.message ?? e) + ":" + o)); setTimeout(() => { throw new TypeError("t") }, 1); setTimeout(() => { throw "text" }, 1); queueMicrotask(() => { throw new Error("m") }); process.nextTick(() => { throw new Error("n") }); Promise.reject(new Error("r")); await new Promise(r => setImmediate(() => { setImmediate(r); throw new Error("i") })); await new Promise(r => setTimeout(r, 10)); console.log(got.sort().join("\n")); process.removeAllListeners("uncaughtException"); process.removeAllListeners("uncaughtExceptionMonitor")`,
	`console.log(typeof global, global === globalThis, typeof process.stdout.write, process.stdout.fd, process.stderr.fd, process.stdout.writable, process.getBuiltinModule ? process.getBuiltinModule("events") === require("events") : true)`,
	`const w = []; process.on("warning", e => w.push([e.name, e.code, e.message, e.detail])); process.emitWarning("a"); process.emitWarning("b", "Custom", "C1"); process.emitWarning("c", {type: "T", code: "C2", detail: "D"}); process.emitWarning(new RangeError("d")); console.log(w.length); await new Promise(r => setTimeout(r, 2)); console.log(w); process.removeAllListeners("warning")`,
}

func TestProcessIsNodes(t *testing.T) {
	t.Parallel()
	node, err := exec.Command("node", "-e", trial.Program(scripts)).Output()
	if err != nil {
		t.Skip("Node 20 is not installed")
	}
	var want []string
	if err := json.Unmarshal(node, &want); err != nil {
		t.Fatal(err)
	}
	for i, s := range scripts {
		o := start(s, nil, engine.Ambient{Platform: "linux", Arch: "x64"})
		if o.stdout != want[i] || o.report != "" {
			t.Errorf("%s\n wrote\n%s%s Node wrote\n%s", s, o.stdout, o.report, want[i])
		}
	}
}

// ended is how a script ended.
type ended struct {
	stdout, stderr, report string
	code                   int
	value                  string
}

func start(code string, host engine.Host, ambient engine.Ambient) ended {
	p, report := engine.Compile(engine.Source{Name: "exec", Text: code}, modules())
	if report != nil {
		return ended{report: report.Text()}
	}
	var out, errs strings.Builder
	o := engine.New(engine.Options{
		Host: host, Modules: modules(), Ambient: ambient,
		Output: func(stream int, b []byte) {
			if stream == engine.Stdout {
				out.Write(b)
			} else {
				errs.Write(b)
			}
		},
	}).Run(context.Background(), p)
	e := ended{stdout: out.String(), stderr: errs.String(), code: o.ExitCode, value: string(o.Value)}
	if o.Report != nil {
		e.report = o.Report.Name + ": " + o.Report.Message
	}
	return e
}

func TestProcess(t *testing.T) {
	t.Parallel()
	ambient := engine.Ambient{Args: []string{"a", "two words", ""}, Cwd: "/granted", Platform: "linux", Arch: "arm64", Locale: "de-DE"}
	for _, tt := range []struct {
		name, code string
		want       ended
	}{
		{
			"facts", `console.log(process.argv, process.cwd(), process.platform, process.arch, process.pid, navigator.userAgent, navigator.language, navigator.hardwareConcurrency)`,
			ended{stdout: "[ 'mcpx', 'exec', 'a', 'two words', '' ] /granted linux arm64 1 mcpx Node.js/20 de-DE 1\n"},
		},
		{"exit", `process.on("exit", c => console.log("exit", c)); try { process.exit(3) } finally { console.log("no") }`, ended{stdout: "exit 3\n", code: 3}},
		{"exit with the code that was set", `process.exitCode = 4; setTimeout(() => process.exit(), 1); await new Promise(() => {})`, ended{code: 4}},
		{"exit in exit", `process.on("exit", () => process.exit(7)); process.exit(1)`, ended{code: 7}},
		{"exit code", `process.exitCode = 5; return {a: 1}`, ended{code: 5, value: `{"a":1}`}},
		{"exit code beyond a byte", `process.exitCode = 257`, ended{code: 1}},
		{"exit code below zero", `process.exit(-1)`, ended{code: 255}},
		{"exit code as text", `process.exit("2")`, ended{code: 2}},
		{
			"the end", `process.on("beforeExit", c => console.log("before", c)); process.on("exit", c => { console.log("exit", c); setTimeout(() => console.log("no"), 1); Promise.resolve().then(() => console.log("no")) }); setTimeout(() => console.log("timer"), 1)`,
			ended{stdout: "timer\nbefore 0\nexit 0\n"},
		},
		{
			"more before the end", `let n = 0; process.on("beforeExit", () => { if (n++ < 2) setTimeout(() => console.log("again", n), 1) }); process.on("exit", () => console.log("exit", n))`,
			ended{stdout: "again 1\nagain 2\nexit 3\n"},
		},
		{"exit code set at the end", `process.on("exit", () => { process.exitCode = 9 })`, ended{code: 9}},
		{"an error is told to exit", `process.on("exit", c => console.log("exit", c, process.exitCode)); throw new TypeError("boom")`, ended{stdout: "exit 1 1\n", code: 1, report: "TypeError: boom"}},
		{"an error in exit", `process.on("exit", () => { throw new RangeError("late") })`, ended{code: 1, report: "RangeError: late"}},
		{"an error in uncaughtException", `process.on("uncaughtException", () => { throw new RangeError("worse") }); setTimeout(() => { throw new Error("bad") }, 1)`, ended{code: 1, report: "RangeError: worse"}},
		{"an error after all listeners are gone", `process.once("uncaughtException", e => console.log(e.message)); setTimeout(() => { throw new Error("one") }, 1); setTimeout(() => { throw new Error("two") }, 2)`, ended{stdout: "one\n", code: 1, report: "Error: two"}},
		{"a rejection of the script itself", `process.on("uncaughtException", (e, o) => console.log(e.message, o)); await null; throw new Error("mine")`, ended{stdout: "mine unhandledRejection\n"}},
		{"unhandledRejection that throws", `process.on("unhandledRejection", e => { throw e }); Promise.reject(new TypeError("x")); setTimeout(() => console.log("no"), 20)`, ended{code: 1, report: "TypeError: x"}},
		{"the monitor handles nothing", `process.on("uncaughtExceptionMonitor", e => console.log("seen", e.message)); throw new Error("x")`, ended{stdout: "seen x\n", code: 1, report: "Error: x"}},
		{"nothing can settle", `process.on("exit", c => console.log("exit", c)); await new Promise(() => {})`, ended{stdout: "exit 1\n", code: 1, report: "DeadlockError: the script can never end: this await waits for a promise that nothing is left to settle"}},
		{
			"writing", `console.log(process.stdout.write("a"), process.stdout.write(new Uint8Array([98, 10])), process.stdout.write("63", "hex", () => console.log("|written"))); process.stderr.write("e\n"); process.stdout.end("d", () => console.log("|ended"))`,
			ended{stdout: "ab\nctrue true true\nd|written\n|ended\n", stderr: "e\n"},
		},
		{"finish", `process.stdout.on("finish", () => console.log("finished")); process.stdout.end(); console.log(process.stdout.writableEnded, process.stdout.write("x", e => console.log(e.code)))`, ended{stdout: "true false\nfinished\nERR_STREAM_WRITE_AFTER_END\n"}},
		{"a tick that throws", `process.nextTick(() => { throw new TypeError("tick") }); process.nextTick(() => console.log("no"))`, ended{code: 1, report: "TypeError: tick"}},
		{"abort", `process.abort(); console.log("no")`, ended{code: 134}},
		{"no terminal", `console.log(process.stdout.isTTY, process.stdout.columns)`, ended{stdout: "undefined undefined\n"}},
		{"kill", `console.log(process.kill(process.pid, 0)); try { process.kill(2) } catch (e) { console.log(e.code) }`, ended{stdout: "true\nEPERM\n"}},
		{"a script's own", `const process = 7, navigator = 8; console.log(process, navigator)`, ended{stdout: "7 8\n"}},
		{"import", `import p, { argv, env } from "node:process"; console.log(p === process, argv === process.argv, env === process.env)`, ended{stdout: "true true true\n"}},
		{"env without a host", `console.log(process.env, process.env.HOME, Object.keys(process.env))`, ended{stdout: "{} undefined []\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := start(tt.code, nil, ambient); got != tt.want {
				t.Errorf("%s\n got %+v\nwant %+v", tt.code, got, tt.want)
			}
		})
	}
	t.Run("terminal", func(t *testing.T) {
		t.Parallel()
		got := start(`const o = process.stdout; o.cursorTo(0); o.clearLine(0); o.moveCursor(-1, 2); console.log(o.isTTY, o.columns, o.getWindowSize()[0], o.hasColors(), o.getColorDepth())`, nil, engine.Ambient{Columns: 99, Color: true})
		if want := "\x1b[1G\x1b[2K\x1b[1D\x1b[2Btrue 99 99 true 8\n"; strings.ReplaceAll(strings.ReplaceAll(got.stdout, "\x1b[33m", ""), "\x1b[39m", "") != want {
			t.Errorf("wrote %q, want %q", got.stdout, want)
		}
	})
}

// granting is a host that answers env.
type granting map[string]string

func (g granting) Call(_ context.Context, op string, _ any, _ []byte) (json.RawMessage, []byte, error) {
	if op != "env" || g == nil {
		return nil, nil, fault.Deniedf("no %s", op)
	}
	b, err := json.Marshal(map[string]any{"env": map[string]string(g)})
	return b, nil, err
}

func TestEnvIsWhatTheHostGrants(t *testing.T) {
	t.Parallel()
	const code = `console.log(process.env, process.env.B, process.env.C, "A" in process.env, {...process.env, A: "mine"}.A); delete process.env.A; console.log(Object.entries(process.env).join(), JSON.stringify(process.env))`
	got := start(code, granting{"B": "2", "A": "1"}, engine.Ambient{})
	if want := "{ A: '1', B: '2' } 2 undefined true mine\nB,2 {\"B\":\"2\"}\n"; got.stdout != want {
		t.Errorf("wrote %q, want %q", got.stdout, want)
	}
	if got := start(`console.log(process.env)`, granting(nil), engine.Ambient{}); got.stdout != "{}\n" {
		t.Errorf("a refusal gives %q", got.stdout)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	for _, m := range process.Modules() {
		declared.Check(t, m, events.Module())
	}
}

// typing is a host whose standard input is what was typed.
type typing struct {
	chunks  []string
	forever bool // there is no end: the last read waits
	asked   chan struct{}
}

func (h *typing) Call(ctx context.Context, op string, _ any, _ []byte) (json.RawMessage, []byte, error) {
	if op != "stdin" {
		return nil, nil, fault.Deniedf("no %s", op)
	}
	if len(h.chunks) == 0 && h.forever {
		close(h.asked)
		<-ctx.Done()
		return nil, nil, context.Cause(ctx)
	}
	if len(h.chunks) == 0 {
		return json.RawMessage(`{"end":true}`), nil, nil
	}
	chunk := h.chunks[0]
	h.chunks = h.chunks[1:]
	return json.RawMessage(`{"end":false}`), []byte(chunk), nil
}

func library() []engine.Module {
	all := append(modules(), streams.Modules()...)
	all = append(all, readline.Modules()...)
	return append(all, event.Module(), encoding.Module(), buffer.Module(), stringdecoder.Module())
}

func TestStdin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code string
		chunks     []string
		stdout     string
	}{
		{"events", `process.stdin.setEncoding("utf8"); process.stdin.on("data", d => console.log(JSON.stringify(d))); process.stdin.on("end", () => console.log("end"))`, []string{"a\n", "b"}, "\"a\\n\"\n\"b\"\nend\n"},
		{"iteration", `let n = 0; for await (const c of process.stdin) n += c.length; console.log(n, process.stdin.fd)`, []string{"abc", "de"}, "5 0\n"},
		{"nothing", `let n = 0; for await (const c of process.stdin) n++; console.log(n)`, nil, "0\n"},
		{"lines", `import readline from "node:readline"; for await (const l of readline.createInterface({input: process.stdin})) console.log("line", l)`, []string{"one\ntw", "o\nthree"}, "line one\nline two\nline three\n"},
		{"a question", `import readline from "node:readline/promises"; const rl = readline.createInterface({input: process.stdin, output: process.stdout}); const name = await rl.question("who? "); rl.close(); console.log("hi " + name)`, []string{"Ann\n"}, "who? hi Ann\n"},
		{"piped", `import { Transform } from "node:stream"; process.stdin.pipe(new Transform({transform(c, e, cb) { cb(null, String(c).toUpperCase()) }})).pipe(process.stdout)`, []string{"shout"}, "SHOUT"},
		{"not touched", `console.log(typeof process)`, []string{"x"}, "object\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if stdout, stderr := trial.Run(tt.code, &typing{chunks: tt.chunks}, library()...); stdout != tt.stdout || stderr != "" {
				t.Errorf("wrote %q and %q, want %q", stdout, stderr, tt.stdout)
			}
		})
	}
}

func TestAReadThatNobodyWaitsForKeepsNothingAlive(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, stdout string }{
		{"closed after the answer", `import readline from "node:readline/promises"; const rl = readline.createInterface({input: process.stdin}); console.log(await rl.question("")); await new Promise(r => setTimeout(r, 20)); rl.close()`, "Ann\n"},
		{"paused", `process.stdin.once("data", () => { setTimeout(() => { process.stdin.pause(); console.log("paused") }, 20) })`, "paused\n"},
		{"not referenced", `const t = setInterval(() => {}, 1000); await new Promise(r => { process.stdin.on("data", d => { console.log(String(d).trim()); r() }); process.stdin.unref() }); clearInterval(t)`, "Ann\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			host := &typing{chunks: []string{"Ann\n"}, forever: true, asked: make(chan struct{})}
			if stdout, stderr := trial.Run(tt.code, host, library()...); stdout != tt.stdout || stderr != "" {
				t.Errorf("wrote %q and %q, want %q", stdout, stderr, tt.stdout)
			}
			<-host.asked // the read was under way
		})
	}
}

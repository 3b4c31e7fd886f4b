//go:build linux

package childprocess_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpx/engine"
	"mcpx/stdlib/buffer"
	"mcpx/stdlib/childprocess"
	"mcpx/stdlib/console"
	"mcpx/stdlib/event"
	"mcpx/stdlib/events"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/process"
	"mcpx/stdlib/streams"
	"mcpx/stdlib/stringdecoder"
	"mcpx/stdlib/timers"
	"mcpx/stdlib/url"
	"mcpx/stdlib/util"
)

func modules() []engine.Module {
	return slices.Concat(streams.Modules(), process.Modules(), util.Modules(), []engine.Module{
		childprocess.Module(), buffer.Module(), console.Module(), event.Module(), events.Module(), stringdecoder.Module(), timers.Module(), url.Module(),
	})
}

const use = `const cp = require("node:child_process"), log = console.log, { promisify } = require("node:util");
	const says = e => log(e.name, "|", e.code, "|", JSON.stringify(e.message), "|", Object.keys(e).join(), "|", e.errno, e.syscall, e.path, e.spawnargs, e.killed, e.signal, e.cmd, e.status);
	const t = f => { try { log(f()) } catch (e) { says(e) } };
	const back = (f, ...args) => new Promise(r => f(...args, (e, o, s) => { if (e) says(e); log([o, s]); r() }));
	const text = async s => { let all = ""; for await (const c of s) all += c; return all };
	const known = r => { r.pid = r.pid > 0; return r };
	`

// scripts are compared with Node.
var scripts = []string{
	`log(cp.execSync("printf hi").toString(), cp.execFileSync("printf", ["%s-%s", "a", "b"], { encoding: "utf8" }), cp.execSync("cat", { input: "in" }), cp.execSync("pwd", { cwd: "/", encoding: "utf8" }), cp.execFileSync("sh", ["-c", "echo $A"], { env: { A: "x" }, encoding: "utf8" })); process.env.OWN = "set"; log(cp.execSync("echo $OWN", { encoding: "utf8" }))`,
	`log(known(cp.spawnSync("sh", ["-c", "echo a; echo b >&2; exit 3"]))); log(known(cp.spawnSync("sh", ["-c", "kill -9 $$"]))); const r = cp.spawnSync("nope-x", ["a"]); says(r.error); log(r.status, r.output, r.pid); log(known(cp.spawnSync("echo a b", { shell: true, encoding: "utf8" }))); log(known(cp.spawnSync("cat", { input: Buffer.alloc(300000, "x"), maxBuffer: 1e9 })).stdout.length, known(cp.spawnSync("true", { stdio: "ignore" })))`,
	`t(() => cp.execSync("echo out; echo err >&2; exit 4", { stdio: "pipe" })); t(() => cp.execFileSync("nope-x")); t(() => cp.execSync("exec sleep 5", { timeout: 50, stdio: "pipe" })); t(() => cp.execSync("yes | head -c 3000000", { maxBuffer: 1000, stdio: "pipe" })); t(() => cp.execFileSync("sh", ["-c", "exit 2"])); try { cp.execSync("echo o; exit 7", { encoding: "utf8" }) } catch (e) { log(e.status, e.stdout, e.stderr, e.output, typeof e.pid) }`,
	`t(() => cp.spawn()); t(() => cp.spawn("")); t(() => cp.spawn("x", 5)); t(() => cp.spawn("x", [], 5)); t(() => cp.exec()); t(() => cp.exec(5)); t(() => cp.spawn("x", [], { cwd: 5 })); t(() => cp.spawnSync("x", { timeout: "x" })); t(() => cp.spawnSync("x", { maxBuffer: -1 })); t(() => cp.spawn("x", { stdio: "zz" })); t(() => cp.spawn("a\0")); t(() => cp.execFile("x", 5)); t(() => cp.spawn("x", ["a\0"])); t(() => cp.spawnSync("x", { killSignal: "zz" })); t(() => cp.spawn("x", { shell: 5 })); t(() => cp.spawn("x", { signal: 5 })); t(() => cp.execSync("true", { stdio: 5 })); t(() => cp.spawnSync("true", { input: 5 })); t(() => cp.execFile("x", [], {}, 5)); t(() => cp.fork(5))`,
	`await back(cp.exec, "echo o; echo e >&2; exit 2"); await back(cp.execFile, "nope-x"); await back(cp.exec, "echo hi"); await back(cp.exec, "exec sleep 3", { timeout: 40 }); await back(cp.execFile, "sh", ["-c", "printf abc"], { encoding: "buffer" }); await back(cp.exec, "printf hex", { encoding: "hex" }); await new Promise(r => cp.exec("exec yes", { maxBuffer: 10 }, (e, o) => { says(e); log(o.length); r() }))`,
	`await promisify(cp.exec)("echo p; exit 1").catch(e => { says(e); log(e.stdout, e.stderr) }); log(await promisify(cp.execFile)("echo", ["p"]), await promisify(cp.exec)("echo q >&2")); const p = promisify(cp.exec)("echo c"); log(typeof p.child.pid, await p)`,
	`const c = cp.spawn("sh", ["-c", "cat; exit 1"]); const ev = []; for (const n of ["spawn", "exit", "close", "error"]) c.on(n, (...a) => ev.push(n, ...a)); c.stdout.on("data", d => ev.push(d.toString())); c.stdin.end("x"); await new Promise(r => c.on("close", r)); log(ev.filter(x => x !== "x").join(), ev.includes("x"), c.exitCode, c.signalCode, c.killed, c.connected, c.spawnfile, c.spawnargs, typeof c.pid, c instanceof cp.ChildProcess, c.stdio.length, c.stdio[1] === c.stdout)`,
	`const k = cp.spawn("sleep", ["9"]); log(k.kill()); await new Promise(r => k.on("exit", (a, b) => { log(a, b, k.killed, k.kill()); r() })); const n = cp.spawn("nope-x", ["q"]); log(n.pid); n.on("error", e => says(e)); n.on("exit", () => log("exit")); await new Promise(r => n.on("close", (...a) => { log(a); r() })); const i = cp.spawn("sleep", ["9"]); i.kill("SIGINT"); await new Promise(r => i.on("close", (...a) => { log(a); r() })); t(() => i.kill("zz"))`,
	`const a = cp.spawn("cat"), b = cp.spawn("tr", ["a-z", "A-Z"]); a.stdout.pipe(b.stdin); a.stdin.write("one "); a.stdin.end("two"); log(await text(b.stdout)); const e = cp.spawn("sh", ["-c", "echo warn >&2; echo fine"]); log(await Promise.all([text(e.stdout), text(e.stderr)])); e.stdout.setEncoding("utf8"); const u = cp.spawn("sh", ["-c", "echo unread; exit 5"]); log(await new Promise(r => u.on("close", r)))`,
	`const ac = new AbortController(); const c = cp.spawn("sleep", ["9"], { signal: ac.signal }); c.on("error", e => log(e.name, e.code, e.message)); setTimeout(() => ac.abort(), 20); await new Promise(r => c.on("close", (...a) => { log(a); r() })); const d = cp.spawn("sleep", ["9"], { timeout: 30 }); await new Promise(r => d.on("exit", (...a) => { log(a, d.killed); r() })); await Promise.all(Array.from({ length: 12 }, (_, i) => promisify(cp.execFile)("echo", [String(i)]))).then(all => log(all.map(x => x.stdout.trim()).join()))`,
	`log(Object.keys(cp).filter(k => !k.startsWith("_")).sort().map(k => k + cp[k].name + cp[k].length).join())`,
}

func TestProgramsAreNodes(t *testing.T) {
	t.Parallel()
	texts := make([]string, len(scripts))
	for i, s := range scripts {
		texts[i] = use + s
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node, err := exec.CommandContext(ctx, "node", "-e", trial.Program(texts)).Output()
	if err != nil {
		t.Skip("Node 20 is not installed")
	}
	var want []string
	if err := json.Unmarshal(node, &want); err != nil || len(want) != len(texts) {
		t.Fatalf("Node answered %d of %d scripts: %v", len(want), len(texts), err)
	}
	for i, text := range texts {
		stdout, stderr := trial.Run(text, newHost(""), modules()...)
		if got := stdout + stderr; got != want[i] {
			t.Errorf("%s\n wrote\n%s Node wrote\n%s", scripts[i], got, want[i])
		}
	}
}

func TestWhatProgramsInherit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ code, input, stdout, stderr string }{
		{`cp.execSync("echo out; echo err >&2", { stdio: "inherit" })`, "", "out\n", "err\n"},
		{`cp.execSync("echo err >&2")`, "", "", "err\n"},
		{`cp.spawnSync("cat", { stdio: ["inherit", "inherit", "pipe"] })`, "from the run", "from the run", ""},
		{`await new Promise(r => cp.spawn("sh", ["-c", "cat; echo err >&2"], { stdio: "inherit" }).on("close", r))`, "piped", "piped", "err\n"},
		{`await new Promise(r => cp.spawn("sh", ["-c", "echo both >&2"], { stdio: ["ignore", 1, 1] }).on("close", r))`, "", "both\n", ""},
		{`cp.spawn("sleep", ["30"]).unref(); console.log("not held")`, "", "not held\n", ""},
		{`cp.spawn("echo", ["held"], { stdio: ["ignore", process.stdout, "ignore"] })`, "", "held\n", ""},
	} {
		stdout, stderr := trial.Run(`const cp = require("child_process"); `+test.code, newHost(test.input), modules()...)
		if stdout != test.stdout || stderr != test.stderr {
			t.Errorf("%s wrote %q, %q, want %q, %q", test.code, stdout, stderr, test.stdout, test.stderr)
		}
	}
}

func TestWhatIsNotGranted(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		`cp.spawn("denied")`, `cp.spawnSync("denied")`, `cp.execFileSync("denied")`, `cp.execFile("denied", () => {})`, `await util.promisify(cp.execFile)("denied")`,
		`cp.execSync("ls", { shell: "/denied" })`, `cp.exec("ls", { shell: "/denied" })`,
	} {
		stdout, stderr := trial.Run(`const cp = require("child_process"), util = require("util"); try { `+code+` } catch (e) { console.log(e.name, e.kind, e.grant, e.thing) }`, newHost(""), modules()...)
		if !strings.HasPrefix(stdout, `DeniedError denied run `) {
			t.Errorf("%s wrote %q, %q, want a DeniedError", code, stdout, stderr)
		}
	}
}

func TestWhatProgramsCannotHave(t *testing.T) {
	t.Parallel()
	for _, options := range []string{`{ uid: 0 }`, `{ gid: 0 }`, `{ stdio: [0, 1, 2, "pipe"] }`, `{ stdio: ["pipe", "pipe", "pipe", "ipc"] }`, `{ stdio: ["ignore", 5] }`} {
		for _, start := range []string{"spawn", "spawnSync", "execFileSync"} {
			code := `cp.` + start + `("true", [], ` + options + `)`
			stdout, stderr := trial.Run(`const cp = require("child_process"); try { `+code+`; console.log("started") } catch (e) { console.log(e.code) }`, newHost(""), modules()...)
			if stdout != "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM\n" {
				t.Errorf("%s wrote %q, %q", code, stdout, stderr)
			}
		}
	}
}

func TestManyProgramsAreHeard(t *testing.T) {
	t.Parallel()
	stdout, stderr := trial.Run(`const cp = require("child_process"), block = Buffer.alloc(1 << 17, "x"); const kids = Array.from({ length: 50 }, () => cp.spawn("cat"));
		const whole = await Promise.all(kids.map(k => new Promise(r => { let n = 0; k.stdout.on("data", d => { if ((n += d.length) === block.length) r(n) }); k.stdin.write(block) })));
		console.log(whole.length); kids.forEach(k => k.kill())`, newHost(""), modules()...)
	if stdout != "50\n" || stderr != "" {
		t.Errorf("wrote %q and %q", stdout, stderr)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, childprocess.Module(), slices.DeleteFunc(modules(), func(m engine.Module) bool { return m.Name == "node:child_process" })...)
}

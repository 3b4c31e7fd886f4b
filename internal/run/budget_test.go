//go:build unix

package run

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/sandbox"
	"mcpx/internal/settings"
	"mcpx/internal/worker"
)

// given holds settings that flags give.
func given(t testing.TB, flags ...string) *settings.Set {
	t.Helper()
	s := &settings.Set{}
	for _, f := range flags {
		name, value, _ := strings.Cut(f, "=")
		if err := s.ApplyFlag(strings.TrimPrefix(name, "--"), value); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestLimitsEndARunAndSayWhich(t *testing.T) {
	t.Parallel()
	var (
		memory = []string{"--limits-memory=64MiB"}
		cpu    = []string{"--limits-cpu=400ms"}
		output = []string{"--limits-output=64KiB"}
		calls  = []string{"--limits-tool-calls=20"}
	)
	for _, tt := range []struct {
		name   string
		flags  []string
		code   string
		limit  string
		value  string // as JSON
		says   string
		at     string // where it says the script was; empty: it need not know
		stdout int    // bytes
	}{
		{name: "values that grow", flags: memory, code: "const kept = [];\nfor (let i = 0; ; i++) kept.push({ i, s: 'x' + i });", limit: "memory", value: `"64MiB"`, says: "memory limit of 64 MiB exceeded", at: "exec:2:"},
		{name: "text that doubles", flags: memory, code: `let s = "x"; for (;;) s = s + s + "é";`, limit: "memory", value: `"64MiB"`, says: "memory limit of 64 MiB exceeded"},
		{name: "one large buffer", flags: memory, code: `const b = new Uint8Array(2 ** 31); return b.fill(1).length`, limit: "memory", value: `"64MiB"`, says: "memory limit of 64 MiB exceeded"},
		{name: "many buffers", flags: memory, code: `const kept = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(1))`, limit: "memory", value: `"64MiB"`, says: "memory limit of 64 MiB exceeded"},
		{name: "a native loop that grows", flags: memory, code: `return "a".repeat(1 << 22).replace(/a/g, "b".repeat(1 << 14)).length`, limit: "memory", value: `"64MiB"`, says: "memory limit of 64 MiB exceeded"},
		{name: "promises that grow", flags: memory, code: `const held = []; const flood = () => { for (let i = 0; i < 1000; i++) held.push(Promise.resolve(i).then(flood)) }; flood(); await new Promise(() => {})`, limit: "memory", value: `"64MiB"`, says: "memory limit of 64 MiB exceeded"},
		{name: "a loop", flags: cpu, code: "let n = 0;\nfor (;;) n++;", limit: "cpu", value: `"400ms"`, says: "CPU limit of 400 ms exceeded", at: "exec:2:"},
		{name: "a loop that catches", flags: cpu, code: "for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }", limit: "cpu", value: `"400ms"`, says: "CPU limit of 400 ms exceeded"},
		{name: "a native loop", flags: cpu, code: `return [].includes.call({ length: 2 ** 53 - 1 }, 1)`, limit: "cpu", value: `"400ms"`, says: "CPU limit of 400 ms exceeded"},
		{name: "a pattern that backtracks", flags: cpu, code: `return /^(a|aa)+\1?$/.test("a".repeat(64) + "b")`, limit: "cpu", value: `"400ms"`, says: "CPU limit of 400 ms exceeded"},
		{name: "microtasks", flags: cpu, code: `const again = () => Promise.resolve().then(again); await again()`, limit: "cpu", value: `"400ms"`, says: "CPU limit of 400 ms exceeded"},
		{name: "the value's own getter", flags: cpu, code: `return { get x() { for (;;); } }`, limit: "cpu", value: `"400ms"`, says: "CPU limit of 400 ms exceeded"},
		{name: "a source that takes long to parse", flags: append([]string{"--limits-source=16MiB"}, cpu...), code: "return [" + strings.Repeat("()=>1,", 1<<20) + "]", limit: "cpu", value: `"400ms"`, says: "CPU limit of 400 ms exceeded"},
		{name: "a flood of lines", flags: output, code: "for (;;)\n  console.log('y'.repeat(500));", limit: "output", value: `"64KiB"`, says: "output limit of 64 KiB exceeded", at: "exec:2:", stdout: 64 << 10},
		{name: "one large line", flags: output, code: `console.log("z".repeat(1 << 20)); return 1`, limit: "output", value: `"64KiB"`, says: "output limit of 64 KiB exceeded", stdout: 64 << 10},
		{name: "a flood to standard error", flags: output, code: `for (;;) console.error("y".repeat(500))`, limit: "output", value: `"64KiB"`, says: "output limit of 64 KiB exceeded"},
		{name: "a flood of logs", flags: output, code: `for (;;) log("y".repeat(500))`, limit: "output", value: `"64KiB"`, says: "output limit of 64 KiB exceeded"},
		{name: "a flood of emits", flags: output, code: `for (;;) emit("y".repeat(500))`, limit: "output", value: `"64KiB"`, says: "output limit of 64 KiB exceeded"},
		{name: "a flood of emits that catches", flags: output, code: `for (;;) try { emit("y".repeat(500)) } catch {}`, limit: "output", value: `"64KiB"`, says: "output limit of 64 KiB exceeded"},
		{name: "calls", flags: calls, code: "for (;;)\n  await demo.echo({});", limit: "toolCalls", value: `20`, says: "tool call limit of 20 exceeded", at: "exec:2:"},
		{name: "calls at once", flags: calls, code: `await Promise.all(Array.from({ length: 5000 }, () => demo.echo({})))`, limit: "toolCalls", value: `20`, says: "tool call limit of 20 exceeded"},
		{name: "calls whose error is swallowed", flags: calls, code: `for (;;) { try { await demo.echo({}) } catch {} }`, limit: "toolCalls", value: `20`, says: "tool call limit of 20 exceeded"},
		{name: "calls whose error is taken for an answer", flags: calls, code: `const all = await Promise.allSettled(Array.from({ length: 21 }, () => demo.echo({}))); return all.length`, limit: "toolCalls", value: `20`, says: "tool call limit of 20 exceeded"},
		{name: "calls whose error is thrown as another", flags: calls, code: `try { for (;;) await demo.echo({}) } catch (e) { throw new TypeError("mine") }`, limit: "toolCalls", value: `20`, says: "tool call limit of 20 exceeded"},
		{name: "a long source", flags: []string{"--limits-source=1KiB"}, code: "return 1;" + strings.Repeat(" ", 2000), limit: "source", value: `"1KiB"`, says: "source limit of 1 KiB exceeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if raceDetector && tt.limit == "memory" {
				t.Skip("the race detector's own memory is beyond any limit")
			}
			r := stage{call: structured}.runner()
			r.Settings = given(t, append(tt.flags, "--timeout=5m")...)
			out := exec(t, r, tt.code, api.ExecInput{})
			if out.Error == nil || out.Error.Kind != fault.Limit || out.ExitCode != 125 || out.Value != nil {
				t.Fatalf("the run ended with code %d, %s and %+v, want 125 and a limit", out.ExitCode, out.Value, out.Error)
			}
			if out.Error.Message != tt.says || !strings.Contains(out.Error.Hint, "give it more with --limits-") {
				t.Errorf("it says %q (%s), want %q and how to raise it", out.Error.Message, out.Error.Hint, tt.says)
			}
			value, err := json.Marshal(out.Error.Details["value"])
			if limit, _ := json.Marshal(out.Error.Details["limit"]); err != nil || string(limit) != `"`+tt.limit+`"` || string(value) != tt.value {
				t.Errorf("its details are %v, want limit %s and value %s", out.Error.Details, tt.limit, tt.value)
			}
			// A worker that is short of time or memory may die before it has said where it was.
			said := tt.limit != "memory" && tt.limit != "cpu"
			if at := out.Error.At; tt.at != "" && (at == nil && said || at != nil && !strings.HasPrefix(at.String(), tt.at)) {
				t.Errorf("it was at %v, want %s", at, tt.at)
			}
			if tt.stdout > 0 && len(out.Stdout) != tt.stdout {
				t.Errorf("%d bytes were printed, want the first %d", len(out.Stdout), tt.stdout)
			}
		})
	}
}

func TestWhatFitsTheLimitsRuns(t *testing.T) {
	t.Parallel()
	r := stage{call: structured}.runner()
	// The race detector makes the filling ten times slower: a minute of it is no fault of the limit's.
	r.Settings = given(t, "--limits-memory=128MiB", "--limits-cpu=5m", "--limits-output=64KiB", "--limits-tool-calls=20", "--limits-source=1KiB", "--timeout=5m")
	out := exec(t, r, `
		for (let i = 0; i < 150; i++) { const garbage = new Uint8Array(1 << 20).fill(i) }  // collected in time
		for (let i = 0; i < 20; i++) await demo.echo({ i });
		console.log("x".repeat((64 << 10) - 1));
		return "fits"`, api.ExecInput{})
	if out.Error != nil || string(out.Value) != `"fits"` || len(out.Stdout) != 64<<10 {
		t.Errorf("the run ended with %s and %+v after %d bytes", out.Value, out.Error, len(out.Stdout))
	}
}

func TestAScriptIsToldOfTheLastToolCall(t *testing.T) {
	t.Parallel()
	r := stage{call: structured}.runner()
	r.Settings = given(t, "--limits-tool-calls=2")
	out := exec(t, r, `
		try { for (;;) await demo.echo({}) } catch (e) { console.log(e.name, e.kind, e.limit, e.value, e instanceof LimitError) }`, api.ExecInput{})
	if want := "LimitError limit toolCalls 2 true\n"; out.Stdout != want || out.ExitCode != 125 {
		t.Errorf("the script printed %q and ended with code %d, want %q and 125", out.Stdout, out.ExitCode, want)
	}
}

func TestNoToolIsCalledBeyondTheLimit(t *testing.T) {
	t.Parallel()
	var called atomic.Int64
	r := stage{call: func(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
		called.Add(1)
		return structured(ctx, in)
	}}.runner()
	r.Settings = given(t, "--limits-tool-calls=7")
	exec(t, r, `for (;;) { try { await Promise.all([demo.echo({}), demo.echo({}), demo.echo({})]) } catch {} }`, api.ExecInput{})
	if got := called.Load(); got != 7 {
		t.Errorf("%d tools were called, want 7", got)
	}
}

// What a worker does when its script is over a limit and cannot be interrupted: nothing
// of the inside of mcpx or of the machine is in what the caller sees.
func TestDeathsHaveNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code string
		want       []string
	}{
		{"a generator that delegates to itself", `function* g() { yield* g() } for (const x of g()) {}`, []string{"nesting too deep", "Maximum call stack size exceeded", "time limit of"}},
		{"a proxy that is its own prototype", `const p = new Proxy({}, {}); p.__proto__ = p; return p.missing`, []string{"nesting too deep", "cyclic", "Maximum call stack size exceeded"}},
		{"deep JSON", `return JSON.parse("[".repeat(5e6) + "]".repeat(5e6)).length`, []string{"nesting too deep", "Maximum call stack size exceeded", "memory limit", "nested"}},
		{"a deep source", "return " + strings.Repeat("[", 300000) + strings.Repeat("]", 300000), []string{"nesting too deep"}},
		{"an allocation that nothing can hold", `return new Uint8Array(2 ** 40).length`, []string{"Array buffer allocation failed", "Invalid typed array length", "memory limit of 512 MiB exceeded"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if raceDetector {
				t.Skip("the race detector's own memory is beyond any limit")
			}
			out := exec(t, stage{}.runner(), tt.code, api.ExecInput{Timeout: time.Minute})
			if out.Error == nil {
				t.Fatalf("the run ended with %s", out.Value)
			}
			text := out.Error.Text()
			ok := false
			for _, w := range tt.want {
				ok = ok || strings.Contains(text, w)
			}
			if !ok {
				t.Errorf("the run ended with %q, want one of %q", text, tt.want)
			}
			for _, inside := range []string{"goroutine", "runtime:", "runtime error", "/usr/", ".go:", "0x"} {
				if strings.Contains(text, inside) {
					t.Errorf("the run ended with %q, which is about the inside of mcpx", text)
				}
			}
		})
	}
}

func TestTheLevelReachesTheCaller(t *testing.T) {
	t.Parallel()
	out := exec(t, stage{}.runner(), "return 1", api.ExecInput{})
	f := stage{}.runner().Examine(t.Context())
	if runtime.GOOS == "linux" && (!strings.Contains(out.Sandbox, "seccomp") || f.State != "ok") {
		t.Errorf("the run says %q and doctor %+v, want a lockdown", out.Sandbox, f)
	}
	if out.Sandbox == "" || !strings.HasPrefix(f.Message, out.Sandbox) {
		t.Errorf("the run says %q and doctor %q, want the same", out.Sandbox, f.Message)
	}
}

func TestDoctorSaysWhatTheSystemRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ready worker.Ready
		want  string
	}{
		{worker.Ready{Level: sandbox.LevelFull}, "ok: landlock+seccomp"},
		{worker.Ready{Level: sandbox.LevelSeccomp, Missing: "landlock: not there"}, "ok: seccomp (landlock: not there)"},
		{worker.Ready{Level: sandbox.LevelBestEffort, Missing: "seccomp: refused"}, "warning: best-effort (seccomp: refused): a script that breaks out of its engine can do what you can"},
	} {
		if f := examined(tt.ready); f.State+": "+f.Message != tt.want {
			t.Errorf("examined(%+v) = %s: %s, want %s", tt.ready, f.State, f.Message, tt.want)
		}
	}
}

func TestWarmWorkersTakeRunsAndComeAgain(t *testing.T) {
	t.Parallel()
	r := stage{call: structured}.runner()
	r.KeepWarm(2)
	defer r.Close()
	warm := func() int {
		r.workers.mu.Lock()
		defer r.workers.mu.Unlock()
		return len(r.workers.warm)
	}
	for i := range 5 {
		settleAt(t, "warm workers", 2, warm)
		out := exec(t, r, fmt.Sprintf(`globalThis.left = (globalThis.left ?? 0) + 1; console.log(left); return (await demo.echo({ n: %d })).n`, i), api.ExecInput{})
		if string(out.Value) != fmt.Sprint(i) || out.Stdout != "1\n" || !strings.Contains(out.Sandbox, "seccomp") && runtime.GOOS == "linux" {
			t.Errorf("run %d ended with %s, printed %q, level %s, %+v", i, out.Value, out.Stdout, out.Sandbox, out.Error)
		}
	}
	// One that was killed while it waited is not given a script.
	settleAt(t, "warm workers", 2, warm)
	r.workers.mu.Lock()
	victim := r.workers.warm[0]
	r.workers.mu.Unlock()
	if err := syscall.Kill(victim.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-victim.Done()
	if out := exec(t, r, "return 1", api.ExecInput{}); string(out.Value) != "1" {
		t.Errorf("after a warm worker was killed a run ended with %+v", out.Error)
	}
}

func settleAt(t *testing.T, what string, want int, count func() int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); count() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d %s, want %d", count(), what, want)
		}
	}
}

// A warm worker is as locked as any: it is asked for a file import and gets none.
func TestImportsOfAFile(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"app/lib.ts": `export const n: number = 1`, "app/.env.json": `{"token": "SECRET"}`, "app/data.json": `{"n": 2}`,
		"secret.ts": `export const s = "SECRET"`, "app/node_modules/.pnpm/p/index.js": `module.exports = 3`,
		"app/bad.ts": "\nexport * from '../secret'", "app/taken/x.ts": `export const n = 1`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"app/node_modules/p": ".pnpm/p", "app/out.ts": "../secret.ts"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	app := filepath.Join(dir, "app")
	for _, tt := range []struct {
		name, code string
		allow      map[string][]string
		deny       map[string][]string
		profile    string
		value      string
		fails      []string
	}{
		{name: "a file beside it", code: `import { n } from "./lib"; export default n`, value: `1`},
		{name: "JSON beside it", code: `import d from "./data.json"; export default d.n`, value: `2`},
		{name: "a package that pnpm installed", code: `import p from "p"; export default p`, value: `3`},
		{name: "no import", code: `return 4`, value: `4`},
		{name: "only the word", code: "// import\nreturn 5", value: `5`},
		{name: "a file above", code: "\nimport { s } from '../secret'; export default s", fails: []string{`denied: imports "../secret": outside the run's grants`, "main.ts:2:19", "allow it with --allow-imports=" + dir + "\n"}},
		{name: "no file above", code: "\nimport { s } from '../nothing'; export default s", fails: []string{`denied: imports "../nothing": outside the run's grants`, "allow it with --allow-imports=" + dir + "\n"}},
		{name: "a file above that is granted", code: "import { s } from '../secret'; export default s.length", allow: map[string][]string{grant.Import: {dir}}, value: `6`},
		{name: "a link to a file above", code: `import { s } from "./out"; export default s`, fails: []string{`denied: imports "./out"`, "main.ts:1:19"}},
		{name: "an import of an import", code: `import * as b from "./bad"; export default b`, fails: []string{`denied: imports "../secret"`, "bad.ts:2:15"}},
		{name: "a hidden file", code: `import d from "./.env.json"; export default d`, fails: []string{`denied: read "./.env.json"`, "main.ts:1:15", "--allow-read="}},
		{name: "a hidden file that may be read", code: `import d from "./.env.json"; export default d.token.length`, allow: map[string][]string{grant.Read: {app}}, value: `6`},
		{name: "what is taken away", code: `import { n } from "./taken/x"; export default n`, deny: map[string][]string{grant.Import: {filepath.Join(app, "taken")}}, fails: []string{`denied: imports "./taken/x"`}},
		{name: "anything", code: `import { s } from "../secret"; export default s.length`, allow: map[string][]string{grant.Import: {}}, value: `6`},
		{name: "a script that may only compute", code: `import { n } from "./lib"; export default n`, profile: "none", fails: []string{`denied: imports "./lib"`, "main.ts:1:19"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := stage{}.runner()
			r.Dir = app
			for range 2 { // without and with a worker that was started ahead, for another kind of script
				out, err := r.Run(t.Context(), api.ExecInput{
					Name: "main.ts", File: filepath.Join(app, "main.ts"), Code: tt.code, Allow: tt.allow, Deny: tt.deny, Permissions: tt.profile,
				}, api.Streams{})
				if err != nil {
					t.Fatal(err)
				}
				text := ""
				if out.Error != nil {
					text = out.Error.Text() + "\n"
				}
				if string(out.Value) != tt.value || (text == "") != (tt.fails == nil) {
					t.Errorf("the run ended with %s and %q, want %s", out.Value, text, tt.value)
				}
				for _, w := range tt.fails {
					if !strings.Contains(text, w) {
						t.Errorf("the run ended with %q, want %q in it", text, w)
					}
				}
				if tt.fails != nil && out.ExitCode != 77 || strings.Contains(text, "SECRET") {
					t.Errorf("the run ended with code %d and %q, want 77", out.ExitCode, text)
				}
				r.Start(false)
			}
			_ = r.Close()
		})
	}
}

func TestMayImport(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		`return 1`:                       false,
		`import x from "./x"`:            true,
		`await import("./x")`:            true,
		`const x = require("./x")`:       true,
		`export * from "./x"`:            true,
		`export{a}from"./x"`:             true,
		`export default 1`:               false,
		`Array.from([1])`:                false,
		`important(); requires(); from`:  false,
		`éimport()`:                      false,
		`(re\u0071uire)("./x")`:          true,
		`a.import`:                       true,
		strings.Repeat("importx ", 1000): false,
	} {
		if got := mayImport(code); got != want {
			t.Errorf("mayImport(%.40q) = %v, want %v", code, got, want)
		}
	}
}

func TestTextsOfLimits(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{128 << 20: "128 MiB", 1 << 30: "1 GiB", 1536 << 10: "1536 KiB", 1000: "1000 B"} {
		if got := sizeText(n); got != want {
			t.Errorf("sizeText(%d) = %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		30 * time.Second: "30 s", 5 * time.Minute: "5 min", 90 * time.Second: "90 s", 1500 * time.Millisecond: "1500 ms", time.Hour: "1 h", 1500 * time.Microsecond: "1.5ms",
	} {
		if got := durationText(d); got != want {
			t.Errorf("durationText(%s) = %s, want %s", d, got, want)
		}
	}
}

// Deaths that scripts cannot be made to bring about at will, with real states of dead
// processes.
func TestEveryDeathHasAName(t *testing.T) {
	t.Parallel()
	b := &broker{budget: budget{memory: 64 << 20, cpu: time.Hour}, level: sandbox.LevelFull, memory: 1 << 40}
	for _, tt := range []struct {
		script, words string
		kind          fault.Kind
		says          string
	}{
		{"kill -XCPU $$", "", fault.Limit, "CPU limit of 1 h exceeded"},
		{"kill -KILL $$", "", fault.Limit, "the script's process was killed by SIGKILL, and not by mcpx"},
		{"kill -SYS $$", "", fault.Internal, "the script's process asked the system for what it has given up"},
		{"kill -SEGV $$", "", fault.Internal, "the script engine crashed"},
		{"kill -ABRT $$", "runtime/cgo: pthread_create failed: Resource temporarily unavailable\n", fault.Limit, "memory limit of 64 MiB exceeded"},
		{"kill -ABRT $$", "SIGABRT: abort\nPC=0x1 m=0\n", fault.Internal, "the script engine crashed"},
		{"kill -TERM $$", "", fault.Internal, "the script's process was killed by SIGTERM, and not by mcpx"},
		{"exit 2", "fatal error: concurrent map writes\n\ngoroutine 1 [running]:\n", fault.Internal, "the script engine crashed"},
		{"exit 2", "panic: runtime error: index out of range [3] with length 2\n", fault.Internal, "the script engine crashed"},
		{"exit 2", "fatal error: runtime: out of memory\n", fault.Limit, "memory limit of 64 MiB exceeded"},
		{"exit 2", "runtime: out of memory: cannot allocate 4194304-byte block (66846720 in use)\nfatal error: out of memory\n", fault.Limit, "memory limit of 64 MiB exceeded"},
		{"exit 2", "panic: libc_musl.go:249:mustMalloc\n\t\tTODO OOM\n", fault.Limit, "memory limit of 64 MiB exceeded"},
		{"exit 2", "fatal error: failed to reserve page summary memory\n", fault.Limit, "memory limit of 64 MiB exceeded"},
		{"exit 2", "runtime: failed to create new OS thread (have 9 already; errno=12)\n", fault.Limit, "memory limit of 64 MiB exceeded"},
		{"exit 2", fmt.Sprintf("runtime: failed to create new OS thread (have 9 already; errno=%d)\n", syscall.EAGAIN), fault.Unavailable, "the system gave the script's process no more threads"},
		{"exit 2", "runtime: goroutine stack exceeds 67108864-byte limit\nfatal error: stack overflow\n", fault.Script, "nesting too deep"},
		{"exit 0", "", fault.Internal, "the script engine crashed"},
		// What a script could have printed itself is not taken for the runtime's words.
		{"exit 2", "he said: out of memory\n", fault.Internal, "the script engine crashed"},
	} {
		cmd := osexec.Command("/bin/sh", "-c", tt.script)
		_ = cmd.Run() // it fails in the way that is asked for
		e := b.autopsy(cmd.ProcessState, tt.words)
		if e.Kind != tt.kind || e.Message != tt.says || e.Hint == "" {
			t.Errorf("%s, %q: %s %q (%s), want %s %q", tt.script, tt.words, e.Kind, e.Message, e.Hint, tt.kind, tt.says)
		}
	}
	// What mcpx was started with may be less than what the script is given, or no more.
	for _, system := range []*broker{
		{budget: b.budget, level: sandbox.LevelFull, memory: 64 << 20},
		{budget: b.budget}, // it never was ready
		{level: sandbox.LevelFull},
	} {
		if e := system.autopsy(nil, "fatal error: out of memory\n"); e.Message != "the system gave the script's process no more memory" || !strings.Contains(e.Hint, "ulimit -v") {
			t.Errorf("out of memory at %+v: %q (%s), want it to be the system's limit", system.budget, e.Message, e.Hint)
		}
	}
	// The kernel ends it at the hard limit, when the worker's own watch has failed.
	b.budget.cpu = time.Nanosecond
	cmd := osexec.Command("/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; kill -KILL $$")
	_ = cmd.Run()
	if e := b.autopsy(cmd.ProcessState, ""); e.Message != "CPU limit of 1ns exceeded" {
		t.Errorf("killed after its time: %q", e.Message)
	}
}

func TestWhatALimitHintsAt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		flags   []string
		runtime map[string]string
		hint    func(*Runner) string
		want    string
	}{
		{
			"calls that settings set bounds",
			[]string{"--limits-tool-calls=6"},
			map[string]string{"limits.toolCalls": "3"},
			func(r *Runner) string { return r.budget().exceeded(limitCalls).Hint },
			"mcpx settings set says so; take it back with mcpx settings unset limits.toolCalls",
		},
		{
			"time that settings set bounds",
			[]string{"--timeout=5s"},
			map[string]string{"exec.timeout": "1s"},
			func(r *Runner) string { return r.longer(time.Second) },
			"mcpx settings set says so; take it back with mcpx settings unset exec.timeout",
		},
		{
			"time of which the caller asked for less", nil,
			map[string]string{"exec.timeout": "10s"},
			func(r *Runner) string { return r.longer(time.Second) },
			"give it longer with --timeout=2s or MCPX_EXEC_TIMEOUT=2s, or with the setting exec.timeout",
		},
		{
			"memory without a unit",
			[]string{"--limits-memory=32"},
			nil,
			func(r *Runner) string { return r.budget().exceeded(worker.LimitMemory).Hint },
			"a size without a unit is a number of bytes; give it more with --limits-memory=32MiB or MCPX_LIMITS_MEMORY=32MiB, or with the setting limits.memory",
		},
		{
			"memory with one",
			[]string{"--limits-memory=64MiB"},
			nil,
			func(r *Runner) string { return r.budget().exceeded(worker.LimitMemory).Hint },
			"give it more with --limits-memory=128MiB or MCPX_LIMITS_MEMORY=128MiB, or with the setting limits.memory",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := given(t, tt.flags...)
			set.Override(tt.runtime)
			if got := tt.hint(&Runner{Settings: set}); got != tt.want {
				t.Errorf("the hint is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestADenialOfWhatWasTakenAwaySaysSo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		set  grant.Set
		want string
	}{
		{"all else is allowed", grant.Set{Everything: true, Read: grant.Words{Allow: []string{grant.Any}, Deny: []string{"/d"}}}, "--deny-read or a profile takes it away, and no --allow-read gives it back"},
		{"something else is allowed", grant.Set{Read: grant.Words{Allow: []string{"/a"}, Deny: []string{"/a/b"}}}, "allow it with --allow-read=x; what --deny-read or a profile takes away stays away"},
		{"nothing was taken away", grant.Set{Read: grant.Words{Allow: []string{"/a"}}}, "allow it with --allow-read=x"},
	} {
		e := fault.From((&effects{set: tt.set}).explain(grant.Denied(grant.Read, "x")))
		if e.Hint != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, e.Hint, tt.want)
		}
	}
}

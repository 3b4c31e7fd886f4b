package console

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"mcpx/engine"
)

// run runs a script and returns what it wrote.
func run(t *testing.T, code string, ambient engine.Ambient) (stdout, stderr string) {
	t.Helper()
	p, report := engine.Compile(engine.Source{Name: "exec", Text: code}, []engine.Module{Module()})
	if report != nil {
		t.Fatalf("%s\n%s", code, report.Text())
	}
	var out, errs strings.Builder
	outcome := engine.New(engine.Options{
		Modules: []engine.Module{Module()},
		Ambient: ambient,
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

// scripts are compared with Node on both streams.
var scripts = []string{
	`console.log(); console.log("a", 1, {b: 2}); console.info("info"); console.debug("debug"); console.dirxml({x: 1}); console.error("error"); console.warn({w: 1});`,
	`console.log("%s is %d years and %i, %f, %j %o %%", "Bob", 42.5, 42.9, 1.5, {a: 1}, [1], "extra"); console.log("100%", "a%sb", 5); console.log("%c styled", "color: red")`,
	`console.group("G"); console.log("in\nner"); console.group(); console.info("deep"); console.error("deep error\nmore"); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log("out")`,
	`console.group("%s!", "a", {b: 1}); console.log({a: 1, b: {c: 2}}); console.groupCollapsed("b"); console.log([1]); console.groupEnd()`,
	`console.table([{a: 1, b: "x"}, {a: 2, c: true}]); console.table([[1, 2], [3, 4]]); console.table([1, "a", null]); console.table([]); console.table({r1: {c: 1}, r2: {c: 2}})`,
	`console.table([{a: 1, b: 2}], ["b"]); console.table([{a: 1}], [, "a"]); console.table([{a: 1}, 5], ["a", "z"]); console.table(new Map([["k", 1], [{a: 1}, [2]]])); console.table(new Set(["x", {y: 1}]))`,
	`console.table("text"); console.table(5); console.table(null); console.table(); console.table([{a: {b: {c: 1}}, l: [1, 2, 3, 4, 5], d: {a: 1, b: 2, c: 3}}])`,
	`console.table([{b: 1, 2: 2, a: 3, 1: 4}]); console.table(["漢字", "é"]); console.table([{a: 1, b: 2}, 7]); console.table([() => 1, function named() {}])`,
	`console.count(); console.count("k"); console.count(); console.countReset(); console.count(); console.count(null); console.count({toString() { return "own" }})`,
	`console.assert(true, "no"); console.assert(false); console.assert(false, "yes %s", "x", {a: 1}); console.assert(0, {a: 1}, 2); console.assert()`,
	`console.dir({a: {b: {c: {d: 1}}}}, {depth: 0}); console.dir({a: {b: {c: {d: 1}}}}, {depth: null}); console.dir({[Symbol.for("nodejs.util.inspect.custom")]() { return 1 }}, {}); console.dir("text"); console.dir()`,
	`const {log} = console; log("detached"); [1, 2].forEach(console.log); console.log(typeof console.log, console.log.name, Object.prototype.toString.call(console))`,
	`console.log("y".repeat(12000) + "END"); console.log(["y".repeat(12000)]); console.log("\ud83d|\ud83d\ude00")`,
	`console.log(new Proxy({a: 1}, {}), Promise.resolve(4), new WeakMap(), async () => 1, function* g() {}, class A {})`,
	`const e = new Error("boom"); e.stack = "Error: boom\n    at x"; e.code = "E1"; console.log(e); console.error({e})`,
	`try { console.count(Symbol("s")) } catch (e) { console.log(String(e)) }; try { console.table([1], 5) } catch (e) { console.log(e.name, e.message) }`,
	`try { console.log({get [Symbol.toStringTag]() { throw new RangeError("mine") }}) } catch (e) { console.log(e.name, e.message) }; console.log("after")`,
	`console.log({ a: 1, b: "two", c: [1, "x", null], d: { e: undefined, f: true } }); console.log(null, undefined, NaN, 10n, true, "str", 1.50); console.log("a\tb", "", "c")`,
	`console.log(-0, [-0], 1e21, 1e-7, 0.1 + 0.2, 2 ** 53, -1.5)`,
}

// inNode runs the scripts in one process, each with a console of its own.
const inNode = `
const {Writable} = require("stream");
const into = r => i => new Writable({write(b, _, done) { r[i] += b; done() }});
console.log(JSON.stringify(scripts.map(code => {
	const r = ["", ""], stream = into(r);
	new Function("console", code)(new console.Console({stdout: stream(0), stderr: stream(1)}));
	return r;
})));
`

func TestConsoleIsNodes(t *testing.T) {
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
	var want [][2]string
	if err := json.Unmarshal(b, &want); err != nil || len(want) != len(scripts) {
		t.Fatalf("node printed %s, %v", b, err)
	}
	for i, code := range scripts {
		t.Run(code[:min(len(code), 40)], func(t *testing.T) {
			t.Parallel()
			stdout, stderr := run(t, code, engine.Ambient{})
			if stdout != want[i][0] {
				t.Errorf("%s\nwrote\n%s\nNode wrote\n%s", code, stdout, want[i][0])
			}
			if stderr != want[i][1] {
				t.Errorf("%s\nwrote to standard error\n%s\nNode wrote\n%s", code, stderr, want[i][1])
			}
		})
	}
}

func TestConsole(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, stdout, stderr string }{
		{"unknown count", `console.countReset("k")`, "", "Warning: Count for 'k' does not exist\n"},
		{"unknown timer", `console.timeEnd("k"); console.timeLog()`, "", "Warning: No such label 'k' for console.timeEnd()\nWarning: No such label 'default' for console.timeLog()\n"},
		{"timer twice", `console.time("k"); console.time("k")`, "", "Warning: Label 'k' already exists for console.time()\n"},
		{"clear without a terminal", `console.clear()`, "", ""},
		{"assigned over", `console = {log: () => {}}; console.log("lost")`, "", ""},
		{"method replaced", `const log = console.log; console.log = s => log("<" + s + ">"); console.log("a"); console.count()`, "<a>\ndefault: 1\n", ""},
		{"built-ins removed", `Object.keys = undefined; try { console.log({}) } catch (e) { console.log(String(e)) }`, "TypeError: keys was removed by the script\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr := run(t, tt.code, engine.Ambient{})
			if stdout != tt.stdout || stderr != tt.stderr {
				t.Errorf("%s\n wrote %q and %q\n want %q and %q", tt.code, stdout, stderr, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestColoursOnlyOnATerminal(t *testing.T) {
	t.Parallel()
	const code = `console.log({a: 1, b: "x"}, "text"); console.error({a: 1}); console.clear()`
	stdout, stderr := run(t, code, engine.Ambient{Color: true})
	if want := "{ a: \x1b[33m1\x1b[39m, b: \x1b[32m'x'\x1b[39m } text\n\x1b[1;1H\x1b[0J"; stdout != want {
		t.Errorf("standard output is %q, want %q", stdout, want)
	}
	if want := "{ a: 1 }\n"; stderr != want {
		t.Errorf("standard error is %q, want %q: it may be no terminal", stderr, want)
	}
}

func TestErrorsAreInUserTerms(t *testing.T) {
	t.Parallel()
	stdout, stderr := run(t, "function inner(): Error {\n  return new Error('boom');\n}\nconsole.log(inner());\nconsole.trace('here %d', 1);\n[1].map(() => console.log(new Error('in')))", engine.Ambient{})
	if want := "Error: boom\n    at inner (exec:2:10)\n    at exec:4:13\n"; !strings.HasPrefix(stdout, want) {
		t.Errorf("standard output is\n%s\nwant it to begin with\n%s", stdout, want)
	}
	for _, foreign := range []string{"native", ".go", "goja", "(4)", "\t"} {
		if strings.Contains(stdout+stderr, foreign) {
			t.Errorf("%q is no term of a user:\n%s%s", foreign, stdout, stderr)
		}
	}
	if want := "Trace: here 1\n    at exec:5:"; !strings.HasPrefix(stderr, want) {
		t.Errorf("standard error is\n%s\nwant it to begin with\n%s", stderr, want)
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                                 "0ms",
		1234567 * time.Nanosecond:         "1.235ms",
		999999 * time.Microsecond:         "999.999ms",
		1500 * time.Millisecond:           "1.500s",
		62345 * time.Millisecond:          "1:02.345 (m:ss.mmm)",
		3*time.Hour + 4*time.Minute:       "3:04:00.000 (h:mm:ss.mmm)",
		59*time.Second + time.Duration(0): "59.000s",
	} {
		if got := duration(d); got != want {
			t.Errorf("duration(%s) = %s, want %s", d, got, want)
		}
	}
}

func TestTimersRun(t *testing.T) {
	t.Parallel()
	stdout, _ := run(t, `console.time(); console.timeLog("default", {a: 1}); console.timeEnd()`, engine.Ambient{})
	lines := strings.Split(stdout, "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "default: ") || !strings.HasSuffix(lines[0], "ms { a: 1 }") || !strings.HasSuffix(lines[1], "ms") {
		t.Errorf("standard output is %q", stdout)
	}
}

func TestDeclarationsNameEveryMethod(t *testing.T) {
	t.Parallel()
	stdout, _ := run(t, `console.log(JSON.stringify(Object.keys(console)))`, engine.Ambient{})
	var methods []string
	if err := json.Unmarshal([]byte(stdout), &methods); err != nil || len(methods) == 0 {
		t.Fatalf("the methods are %s, %v", stdout, err)
	}
	for _, m := range methods {
		if !strings.Contains(declarations, " "+m+"(") {
			t.Errorf("console.d.ts does not declare %s", m)
		}
	}
}

func TestSimpleLinesAreThoseOfTheInspector(t *testing.T) {
	t.Parallel()
	const values = `[undefined, null, true, false, 0, -0, 1.5, NaN, -Infinity, 1e21, 10n, "text", "", "%s", "100%"]`
	// The empty object keeps the second line from being simple.
	stdout, stderr := run(t, `for (const v of `+values+`) { console.log("a", v, 1); console.log("a", v, 1, {}); console.log(v); console.log(v, {}) }`, engine.Ambient{})
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if stderr != "" || len(lines) != 4*15 {
		t.Fatalf("%d lines, %s", len(lines), stderr)
	}
	for i := 0; i < len(lines); i += 2 {
		want := strings.TrimSuffix(lines[i+1], " {}")
		if lines[i+1] == "{}" || lines[i] == "%s" {
			continue // an empty text, and a placeholder that the object fills
		}
		if lines[i] != want {
			t.Errorf("simple: %q, inspector: %q", lines[i], want)
		}
	}
}

package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"mcpx/internal/fault"
)

func TestReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"thrown", "const a = 1\nthrow new Error('boom')", `
Error: boom
  at exec:2:7
    throw new Error('boom')
          ^`},
		{"in functions", "function inner(): never {\n  throw new RangeError('deep')\n}\nconst outer = () => inner()\nouter()", `
RangeError: deep
  at inner (exec:2:9)
    throw new RangeError('deep')
          ^
  at outer (exec:4:21)
  at exec:5:1`},
		{"after awaits", "async function inner() {\n  await echo('x')\n  throw new Error('later')\n}\nasync function outer() { await inner() }\nawait outer()", `
Error: later
  at inner (exec:3:9)
    throw new Error('later')
          ^
  at outer (exec:5:26)
  at exec:6:1`},
		{"in a timer", "setTimeout(function tick() {\n  null.x\n}, 1)", `
TypeError: Cannot read properties of null (reading 'x')
  at tick (exec:2:8)
    null.x
         ^`},
		{"in a callback", "[1].map(x => {\n  x.nope()\n})", `
TypeError: x.nope is not a function
  at exec:2:5
    x.nope()
      ^
  at exec:1:5`},
		{"a class of errors", "class MyError extends Error {\n  constructor(m) { super(m); this.name = 'MyError' }\n}\nfunction go() {\n  throw new MyError('mine')\n}\ngo()", `
MyError: mine
  at go (exec:5:9)
    throw new MyError('mine')
          ^
  at exec:7:1`},
		{"a text", "await 0\nif (true) throw 'just text'", `
the script threw just text
  at exec:2:11
    if (true) throw 'just text'
              ^`},
		{"an object", "throw { code: 7 }", `
the script threw {"code":7}
  at exec:1:1
    throw { code: 7 }
    ^`},
		{"undefined", "throw undefined", `
the script threw undefined
  at exec:1:1
    throw undefined
    ^`},
		{"an empty text", "throw ''", `
the script threw an empty text
  at exec:1:1
    throw ''
    ^`},
		{"rethrown", "try {\n  throw 5\n} catch (e) {\n  throw e\n}", `
the script threw 5
  at exec:2:3
    throw 5
    ^`},
		{"no message", "throw new TypeError()", `
TypeError
  at exec:1:7
    throw new TypeError()
          ^`},
		{"a cause", "try { JSON.parse('{') } catch (e) {\n  throw new Error('reading', { cause: e })\n}", `
Error: reading
  at exec:2:9
    throw new Error('reading', { cause: e })
          ^
  caused by:
    SyntaxError: Expected property name or '}' in JSON at position 1
      at exec:1:12
        try { JSON.parse('{') } catch (e) {
                   ^`},
		{"members", "await Promise.any([Promise.reject(new Error('a')), Promise.reject('b')])", `
AggregateError: All promises were rejected
  member:
    Error: a
      at exec:1:35
        await Promise.any([Promise.reject(new Error('a')), Promise.reject('b')])
                                          ^
  member:
    b`},
		{"a cycle of causes", "const e = new Error('round'); e.cause = e; throw e", `
Error: round
  at exec:1:11
    const e = new Error('round'); e.cause = e; throw e
              ^`},
		{"non-ASCII before", "const é = '𝄞'; throw new Error(é)", `
Error: 𝄞
  at exec:1:23
    const é = '𝄞'; throw new Error(é)
                         ^`},
		{"null", "throw null", `
the script threw null
  at exec:1:1
    throw null
    ^`},
		{"a symbol", "throw Symbol('s')", `
the script threw Symbol(s)
  at exec:1:1
    throw Symbol('s')
    ^`},
		{"a big integer", "throw 10n", `
the script threw 10n
  at exec:1:1
    throw 10n
    ^`},
		{"a cycle that is no error", "const o = {}; o.o = o; throw o", `
the script threw [object Object]
  at exec:1:24
    const o = {}; o.o = o; throw o
                           ^`},
		{"a rejection with nothing", "Promise.reject(null)\nawait echo(1)", `
unhandled rejection: null
  at exec:1:9
    Promise.reject(null)
            ^
  the promise was rejected and nothing handled it: await it, or add .catch`},
		{"a rejection with an error", "async function f() {\n  throw new Error('lost')\n}\nf(); await echo(1)", `
Error: lost
  at f (exec:2:9)
    throw new Error('lost')
          ^
  at exec:4:1
  the promise was rejected and nothing handled it: await it, or add .catch`},
		{"a stack that is gone", "const e = new Error('q'); e.stack = null; throw e", `
Error: q
  at exec:1:43
    const e = new Error('q'); e.stack = null; throw e
                                              ^`},
		{"a stack that throws", "throw Object.defineProperty(new Error('h'), 'stack', { get() { throw 1 } })", `
Error: h
  at exec:1:1
    throw Object.defineProperty(new Error('h'), 'stack', { get() { throw 1 } })
    ^`},
		{"a rejected error without a stack", "const e = new Error('r'); e.stack = 5; await Promise.reject(e)", `
Error: r
  at exec:1:54
    const e = new Error('r'); e.stack = 5; await Promise.reject(e)
                                                         ^`},
		{"a value that contains itself", "const o = {}; o.a = { b: o }\nawait 0; return o", `
TypeError: the value that the script returned cannot be JSON: Converting circular structure to JSON
    --> starting at object with constructor 'Object'
    |     property 'a' -> object with constructor 'Object'
    --- property 'b' closes the circle
  at exec:2:10
    await 0; return o
             ^`},
		{"a value nested too deeply", "let a = []; for (let i = 0; i < 20000; i++) a = [a]\na", `
RangeError: the value that the script returned cannot be JSON: the value is nested too deeply for JSON
  at exec:2:1
    a
    ^`},
		{"a text nested too deeply", "const deep = '['.repeat(20000)\nJSON.parse(deep)", `
SyntaxError: JSON is nested more than 10000 deep
  at exec:2:6
    JSON.parse(deep)
         ^`},
		{"a misspelt global", "setTimout(() => 1)", `
ReferenceError: setTimout is not defined
  at exec:1:1
    setTimout(() => 1)
    ^
  did you mean setTimeout?`},
		{"in eval", "eval('nope()')", `
ReferenceError: nope is not defined
  at exec:1:1
    eval('nope()')
    ^`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, _ := testRun(t, c.text)
			if o.ExitCode != 1 || o.Report == nil {
				t.Fatalf("exit %d, report %v", o.ExitCode, o.Report)
			}
			if got := o.Report.Text(); got != strings.TrimPrefix(c.want, "\n") {
				t.Errorf("reads\n%s\nwant%s", got, c.want)
			}
		})
	}
}

func TestDetailsOfAnError(t *testing.T) {
	t.Parallel()
	o, _ := testRun(t, `const e = Object.assign(new Error("x", { cause: 1 }), { code: "E", list: [1, 2n], fn() {}, undef: undefined, kind: "timeout" })
		Object.defineProperty(e, "bad", { enumerable: true, get() { throw 1 } })
		Object.defineProperty(e, "hidden", { value: 1 })
		throw e`)
	if got := jsonText(t, o.Report.Details); got != `{"code":"E","list":[1,2]}` {
		t.Errorf("details %s", got)
	}
	if o.ExitCode != 1 || o.Report.Kind != fault.Script {
		t.Errorf("exit %d, kind %s: a script cannot choose the kind", o.ExitCode, o.Report.Kind)
	}
}

func TestReportingIsBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"throw { get message() { for (;;) {} } }",
		"throw { toJSON() { for (;;) {} } }",
		"const e = new Error('slow'); Object.defineProperty(e, 'cause', { get() { for (;;) {} } }); throw e",
		"throw new Proxy(new Error('x'), { get() { for (;;) {} } })",
		"throw { get message() { throw new Error('again') } }",
	} {
		start := time.Now()
		o, _ := testRun(t, text)
		if o.ExitCode != 1 || o.Report == nil || o.Report.Message == "" {
			t.Errorf("%q: exit %d, %+v", text, o.ExitCode, o.Report)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%q took %s", text, took)
		}
	}
}

func TestEveryLoopHasAPlaceWhereItWasInterrupted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, at string }{
		{"for (;;);", "exec:1:1"},
		{"const a = 1\nwhile (true) {}", "exec:2:1"},
		{"await 0; do {} while (1)", "exec:1:10"},
		{"x: for (;;) { { continue x } }", "exec:1:4"},
		{"function f() {\n  for (;;);\n}\nf()", "exec:2:3"},
	} {
		t.Run(c.at, func(t *testing.T) {
			t.Parallel()
			run := testProgram(t, c.text)
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if o, _ := run(ctx); o.Report == nil || o.Report.Kind != fault.Timeout || o.Report.At == nil || o.Report.At.String() != c.at {
				t.Errorf("%q: %+v, want a timeout at %s", c.text, o.Report, c.at)
			}
		})
	}
}

func TestAStackCannotNameOtherFiles(t *testing.T) {
	t.Parallel()
	o, _ := testRun(t, `const e = new Error("x"); e.stack = "Error: x\n    at f (/etc/passwd:1:1)\n    at g (exec:1:27)\n    at h (exec:99:1)\n at exec:1"; throw e`)
	if o.Report == nil || len(o.Report.Frames) == 0 || o.Report.Frames[0].Function != "g" || o.Report.At.String() != "exec:1:27" {
		t.Errorf("report %+v", o.Report)
	}
}

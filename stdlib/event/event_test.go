package event

import (
	"os/exec"
	"strings"
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/timers"
)

func modules() []engine.Module {
	return []engine.Module{Module(), console.Module(), timers.Module()}
}

// scripts are compared with Node.
var scripts = []string{
	`const t = new EventTarget(); const log = []; t.addEventListener("x", e => log.push("1:" + e.detail), { once: true }); t.addEventListener("x", { handleEvent(e) { log.push("2:" + e.type + (this !== t)); e.preventDefault(); } });
	 const r = t.dispatchEvent(new CustomEvent("x", { detail: 5, cancelable: true })); t.dispatchEvent(new Event("x")); console.log(log.join(), r)`,
	`const e = new Event("a", {bubbles: true, cancelable: true, composed: true}); console.log(e.type, e.bubbles, e.cancelable, e.composed, e.defaultPrevented, e.returnValue, e.cancelBubble, e.eventPhase, e.target, e.currentTarget, e.srcElement, e.isTrusted, typeof e.timeStamp, e.composedPath()); e.preventDefault(); console.log(e.defaultPrevented, e.returnValue); e.stopPropagation(); console.log(e.cancelBubble, String(e))`,
	`console.log(Event.NONE, Event.CAPTURING_PHASE, Event.AT_TARGET, Event.BUBBLING_PHASE, Event.name, Event.length, EventTarget.length, EventTarget.prototype.addEventListener.name)`,
	`const t = new EventTarget(); t.addEventListener("x", function (e) { console.log(this === t, e.target === t, e.currentTarget === t, e.eventPhase, e.composedPath().length) }); const e = new Event("x"); t.dispatchEvent(e); console.log(e.target === t, e.currentTarget, e.eventPhase)`,
	`const t = new EventTarget(); const f = () => console.log("f"); t.addEventListener("x", f); t.addEventListener("x", f); t.addEventListener("x", f, true); t.addEventListener("x", f, {capture: true}); t.dispatchEvent(new Event("x")); t.removeEventListener("x", f); t.dispatchEvent(new Event("x")); t.removeEventListener("x", f, {capture: true}); t.dispatchEvent(new Event("x")); console.log("end")`,
	`const t = new EventTarget(); t.addEventListener("x", e => { console.log(1); e.stopImmediatePropagation() }); t.addEventListener("x", () => console.log(2)); t.dispatchEvent(new Event("x"))`,
	`const t = new EventTarget(); const g = () => console.log("g"); t.addEventListener("x", () => { t.removeEventListener("x", g) }); t.addEventListener("x", g); t.dispatchEvent(new Event("x")); console.log("end")`,
	`const t = new EventTarget(); const ac = new AbortController(); t.addEventListener("x", () => console.log("heard"), {signal: ac.signal}); t.dispatchEvent(new Event("x")); ac.abort(); t.dispatchEvent(new Event("x")); t.addEventListener("x", () => console.log("no"), {signal: ac.signal}); t.dispatchEvent(new Event("x"))`,
	`for (const f of [() => new Event(), () => new CustomEvent(), () => new EventTarget().dispatchEvent({}), () => new EventTarget().dispatchEvent(), () => new EventTarget().addEventListener("x"), () => new EventTarget().addEventListener("x", 5), () => new EventTarget().addEventListener("x", "f"), () => new AbortSignal(), () => AbortSignal.timeout(), () => AbortSignal.timeout("a"), () => AbortSignal.timeout(-1), () => AbortSignal.any(), () => EventTarget.prototype.addEventListener.call({}, "x", () => {}), () => new EventTarget().addEventListener("x", () => {}, {signal: {}})]) { try { f(); console.log("ok") } catch (e) { console.log(e.name, e.code) } }`,
	`const t = new EventTarget(); t.addEventListener("x", null); t.addEventListener("x", undefined); t.addEventListener("x", {}); console.log(t.dispatchEvent(new Event("x")))`,
	`const t = new EventTarget(); const e = new Event("x"); t.addEventListener("x", () => { try { t.dispatchEvent(e) } catch (err) { console.log(err.code, err.message) } }); t.dispatchEvent(e); t.dispatchEvent(e)`,
	`class Store extends EventTarget { #n = 0; bump() { this.#n++; this.dispatchEvent(new CustomEvent("bump", {detail: this.#n})) } } const s = new Store(); s.addEventListener("bump", e => console.log(e.detail, e.target === s, e instanceof Event)); s.bump(); s.bump(); console.log(s instanceof EventTarget)`,
	`class Mine extends Event { constructor(v) { super("mine"); this.v = v } } const t = new EventTarget(); t.addEventListener("mine", e => console.log(e.v, e.type, e.constructor.name)); t.dispatchEvent(new Mine(7))`,
	`const m = new MessageEvent("message", {data: {a: 1}, origin: "o", lastEventId: "7"}); console.log(m.data, m.origin, m.lastEventId, m.source, m.ports, m.type)`,
	`const ac = new AbortController(); const log = []; ac.signal.addEventListener("abort", () => log.push("ev")); ac.signal.onabort = e => log.push("on" + e.type + e.isTrusted);
	 const any = AbortSignal.any([ac.signal, AbortSignal.timeout(10000)]); ac.abort(); ac.abort(); let thrown = ""; try { ac.signal.throwIfAborted() } catch (e) { thrown = e.name + e.code + e.message }
	 const to = AbortSignal.timeout(1); await new Promise(r => setTimeout(r, 15)); console.log(ac.signal.aborted, ac.signal.reason.name, log.join(), thrown, any.aborted, any.reason === ac.signal.reason, to.aborted, to.reason.name, to.reason.code, to.reason.message, AbortSignal.abort("why").reason)`,
	`const ac = new AbortController(); ac.abort(undefined); console.log(ac.signal.reason.name); const b = new AbortController(); b.abort(null); console.log(b.signal.reason); console.log(AbortSignal.abort().reason.message, AbortSignal.abort().aborted)`,
	`const a = new AbortController(), b = new AbortController(); const any = AbortSignal.any([a.signal, b.signal]); const deep = AbortSignal.any([any]); deep.addEventListener("abort", () => console.log("deep", deep.reason)); any.addEventListener("abort", () => console.log("any", any.reason)); b.abort("b"); a.abort("a"); console.log(AbortSignal.any([a.signal, b.signal]).reason, AbortSignal.any([]).aborted)`,
	`const s = new AbortController().signal; s.onabort = () => {}; console.log(typeof s.onabort); s.onabort = null; console.log(s.onabort)`,
	`const ac = new AbortController(); console.log(ac, ac.signal, String(ac), String(ac.signal)); ac.abort(); console.log(ac.signal); console.log([ac])`,
	`const e = new DOMException("m", "AbortError"); console.log(e.name, e.code, e.message, e instanceof Error, e instanceof DOMException, String(e), Object.prototype.toString.call(e), e.stack.split("\n")[0], Object.keys(e))`,
	`const e = new DOMException(); console.log(e.name, e.code, JSON.stringify(e.message)); const f = new DOMException("x", {name: "DataCloneError", cause: 7}); console.log(f.name, f.code, f.cause); console.log(new DOMException("x", "Mine").code, "cause" in e)`,
	`console.log(Object.entries(DOMException).sort((a, b) => a[1] - b[1]).join(), DOMException.prototype.ABORT_ERR, new DOMException().TIMEOUT_ERR, DOMException.name)`,
	`for (const n of ["IndexSizeError","NotFoundError","NotSupportedError","InvalidStateError","SyntaxError","InvalidModificationError","NamespaceError","InvalidAccessError","TypeMismatchError","SecurityError","NetworkError","AbortError","URLMismatchError","QuotaExceededError","TimeoutError","InvalidNodeTypeError","DataCloneError","EncodingError","NotReadableError","UnknownError","OperationError","NotAllowedError"]) console.log(n, new DOMException("", n).code)`,
	`console.log(Object.keys(new Event("x")).filter(k => k !== "isTrusted"), "type" in new Event("x"), Object.prototype.toString.call(new Event("x")), Object.prototype.toString.call(new EventTarget()), String(new CustomEvent("x")))`,
	`const e = new Event("old"); console.log(new CustomEvent("x").detail, new CustomEvent("x", {detail: undefined}).detail, new CustomEvent("x", {detail: 0}).detail)`,
	`console.log(new EventTarget(), [new EventTarget()], new DOMException("a", "AbortError") instanceof DOMException, typeof reportError !== "boolean")`,
	`const f = async signal => { for (let i = 0; ; i++) { signal.throwIfAborted(); await new Promise(r => setTimeout(r, 1)) } }; const ac = new AbortController(); setTimeout(() => ac.abort(new Error("stop")), 5); try { await f(ac.signal) } catch (e) { console.log(e.message) }`,
	`const s = AbortSignal.timeout(100000); console.log(s.aborted)`,
}

func TestEventsAreNodes(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if version, _ := exec.Command(path, "--version").Output(); !strings.HasPrefix(string(version), "v20.") {
		t.Skipf("node is %s; the texts are those of version 20", version)
	}
	for _, code := range scripts {
		t.Run(code[:min(len(code), 40)], func(t *testing.T) {
			t.Parallel()
			want, err := exec.Command(path, "--input-type=module", "-e", code).Output()
			if err != nil {
				t.Fatalf("node: %v", err)
			}
			stdout, stderr := trial.Run(code, nil, modules()...)
			if stdout != string(want) || stderr != "" {
				t.Errorf("%s\nwrote\n%s%s\nNode wrote\n%s", code, stdout, stderr, want)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, stdout, stderr string }{
		{"what a listener throws ends the run", `const t = new EventTarget(); t.addEventListener("x", () => { throw new TypeError("boom") }); t.addEventListener("x", () => console.log("next")); t.dispatchEvent(new Event("x")); console.log("after"); setTimeout(() => console.log("no"), 50)`, "next\nafter\n", "uncaught TypeError: boom\n"},
		{"so does what an async listener rejects with", `const t = new EventTarget(); t.addEventListener("x", async () => { throw new TypeError("boom") }); t.dispatchEvent(new Event("x")); setTimeout(() => console.log("no"), 50)`, "", "uncaught TypeError: boom\n"},
		{"reportError", `reportError(new RangeError("told")); console.log("after"); setTimeout(() => console.log("no"), 50)`, "after\n", "uncaught RangeError: told\n"},
		{"an abort error that nobody catches", `AbortSignal.abort().throwIfAborted()`, "", "uncaught AbortError: This operation was aborted\n"},
		// Where Node is not as the standard says.
		{"passive", `const t = new EventTarget(); t.addEventListener("x", e => e.preventDefault(), {passive: true}); console.log(t.dispatchEvent(new Event("x", {cancelable: true})))`, "true\n", ""},
		{"a listener that a listener adds waits for the next event", `const t = new EventTarget(); t.addEventListener("x", () => t.addEventListener("x", () => console.log("late"))); t.addEventListener("x", () => {}); t.dispatchEvent(new Event("x")); console.log("--"); t.dispatchEvent(new Event("x"))`, "--\nlate\n", ""},
		{"initEvent", `const e = new Event("old"); e.initEvent("new", true, true); e.returnValue = false; console.log(e.type, e.bubbles, e.defaultPrevented)`, "new true true\n", ""},
		{"dependent signals abort together", `const a = new AbortController(); const any = AbortSignal.any([a.signal]); a.signal.onabort = () => console.log(any.aborted); a.abort()`, "true\n", ""},
		{"ErrorEvent", `const e = new ErrorEvent("error", {message: "m", filename: "f", lineno: 3, colno: 4, error: 5}); console.log(e.type, e.message, e.filename, e.lineno, e.colno, e.error)`, "error m f 3 4 5\n", ""},
		{"a script may have its own", `const Event = 7; globalThis.AbortSignal = 8; console.log(Event, AbortSignal, new AbortController().signal.aborted)`, "7 8 false\n", ""},
		{"changed built-ins", `const t = new EventTarget(); Array.prototype.some = Array.prototype.find = null; Map.prototype.has = null; t.addEventListener("x", () => console.log("heard")); t.dispatchEvent(new Event("x"))`, "heard\n", ""},
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
	declared.Check(t, Module())
}

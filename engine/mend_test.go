package engine

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestMessagesAreThoseOfV8(t *testing.T) {
	t.Parallel()
	const before = "const o = { user: undefined, n: 5, s: 'str', f() {}, a: [1] }; let und; const nul = null; class K { m() { return this.nope() } }; try { "
	for code, want := range map[string]string{
		"o.user.name":                      "Cannot read properties of undefined (reading 'name')",
		"null.name":                        "Cannot read properties of null (reading 'name')",
		"o.s.match(/x/).length":            "Cannot read properties of null (reading 'length')",
		"und[0]":                           "Cannot read properties of undefined (reading '0')",
		"o.user.x = 1":                     "Cannot set properties of undefined (setting 'x')",
		"o.nope()":                         "o.nope is not a function",
		"o.user()":                         "o.user is not a function",
		"und()":                            "und is not a function",
		"o.a.b.c()":                        "Cannot read properties of undefined (reading 'c')",
		"o.a[0]()":                         "o.a[0] is not a function",
		"o.f()()":                          "o.f(...) is not a function",
		"new K().m()":                      "this.nope is not a function",
		"o.n?.()":                          "o.n is not a function",
		"new o.user()":                     "o.user is not a constructor",
		"new (() => {})()":                 "(intermediate value) is not a constructor",
		"const { a } = o.user":             "Cannot destructure property 'a' of 'o.user' as it is undefined.",
		"let a; ({ a } = und)":             "Cannot destructure property 'a' of 'und' as it is undefined.",
		"const { ...r } = und":             "Cannot destructure 'und' as it is undefined.",
		"(function ({ x, y }) {})(und)":    "Cannot destructure property 'x' of 'undefined' as it is undefined.",
		"[und].map(({ z }) => z)":          "Cannot destructure property 'z' of 'undefined' as it is undefined.",
		"for (const { k } of [und]);":      "Cannot destructure property 'k' of 'undefined' as it is undefined.",
		"const [a] = und":                  "und is not iterable",
		"const [a] = o.n":                  "o.n is not iterable",
		"[...o.user]":                      "o.user is not iterable",
		"[...o.user, o.f()]":               "o.user is not iterable",
		"o.f(...und)":                      "und is not iterable",
		"for (const x of o.user);":         "o.user is not iterable",
		"new Map([1])":                     "Iterator value 1 is not an entry object",
		"new Promise(5)":                   "Promise resolver 5 is not a function",
		"o instanceof 5":                   "Right-hand side of 'instanceof' is not an object",
		"K()":                              "Class constructor K cannot be invoked without 'new'",
		"Object.freeze([1])[0] = 2":        "Cannot assign to read only property '0' of object '[object Array]'",
		"Object.freeze({ a: 1 }).a = 2":    "Cannot assign to read only property 'a' of object '#<Object>'",
		"q; let q = 1":                     "Cannot access 'q' before initialization",
		"xyzzy":                            "xyzzy is not defined",
		"[1].map(5)":                       "5 is not a function",
		"[1].map({})":                      "#<Object> is not a function",
		"new Uint8Array(2).set([1, 2, 3])": "offset is out of bounds",
		"Object.fromEntries(und)":          "undefined is not iterable",
		"class S { y = super.toString; #x = 1; get() { return this.#x } }; S.prototype.get.call({})": "Cannot read private member from an object whose class did not declare it",
		"[1].forEach(und)":                                      "undefined is not a function",
		"[].reduce((a, b) => a)":                                "Reduce of empty array with no initial value",
		"decodeURIComponent('%')":                               "URI malformed",
		"Object.create(null) + ''":                              "Cannot convert object to primitive value",
		"und[Symbol.iterator]":                                  "undefined is not iterable (cannot read property Symbol(Symbol.iterator))",
		"({}) instanceof (() => {})":                            "Function has non-object prototype 'undefined' in instanceof check",
		"'a' in o.n":                                            "Cannot use 'in' operator to search for 'a' in 5",
		"class E extends und {}":                                "Class extends value undefined is not a constructor or null",
		"class E extends K { constructor() {} }; new E()":       "Must call super constructor in derived class before accessing 'this' or returning from derived constructor",
		"class G { get size() { return 1 } }; new G().size = 2": "Cannot set property size of #<G> which has only a getter",
		"(1).toFixed(101)":                                      "toFixed() digits argument must be between 0 and 100",
		"'x'.repeat(-1)":                                        "Invalid count value: -1",
		"'x'.normalize('y')":                                    "The normalization form should be one of NFC, NFD, NFKC, NFKD.",
		"BigInt(1.5)":                                           "The number 1.5 cannot be converted to a BigInt because it is not an integer",
		"new BigInt64Array([1])":                                "Cannot convert 1 to a BigInt",
		"BigInt(`1.5`)":                                         "Cannot convert 1.5 to a BigInt",
		"o.s.x = 1":                                             "Cannot create property 'x' on string 'str'",
		"o.n['y'] = 1":                                          "Cannot create property 'y' on number '5'",
		"class P { #p = 1; static w(v) { v.#p = 2 } }; P.w({})":                "Cannot write private member #p to an object whose class did not declare it",
		"class E extends K { constructor() { this.x = 1; super() } }; new E()": "Must call super constructor in derived class before accessing 'this' or returning from derived constructor",
		"const { a: { b } } = {}":                                              "Cannot read properties of undefined (reading 'b')",
		"const [{ x: [y] }] = [{}]":                                            "undefined is not iterable (cannot read property Symbol(Symbol.iterator))",
		"for (const [k, { v }] of [[`k`]]);":                                   "Cannot read properties of undefined (reading 'v')",
		"(({ a: { b } }) => b)({})":                                            "Cannot read properties of undefined (reading 'b')",
		"const user = 1; (() => { let user; user() })()":                       "user is not a function",
		"new Function(`return (`)":                                             "Unexpected token '}'",
		"2n ** -1n":                                                            "Exponent must be non-negative",
		"new Uint32Array(new ArrayBuffer(3))":                                  "byte length of Uint32Array should be a multiple of 4",
		"new Uint8Array(-1)":                                                   "Invalid typed array length: -1",
		"[1].with(5, 1)":                                                       "Invalid index : 5",
		"new DataView(new ArrayBuffer(1)).getInt32(0)":                         "Offset is outside the bounds of the DataView",
		"delete Object.freeze({ a: 1 }).a":                                     "Cannot delete property 'a' of #<Object>",
		"Object.setPrototypeOf(Object.freeze({}), {})":                         "#<Object> is not extensible",
		"Map.prototype.get.call({})":                                           "Method Map.prototype.get called on incompatible receiver #<Object>",
		"Date.prototype.getTime.call({})":                                      "this is not a Date object.",
		"Number.prototype.toString.call('x')":                                  "Number.prototype.toString requires that 'this' be a Number",
		"Reflect.ownKeys(1)":                                                   "Reflect.ownKeys called on non-object",
		"Object.fromEntries([1])":                                              "Iterator value 1 is not an entry object",
		"new WeakMap().set(1, 1)":                                              "Invalid value used as weak map key",
		"Promise()":                                                            "Promise constructor cannot be invoked without 'new'",
		"const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); proxy.x": "Cannot perform 'get' on a proxy that has been revoked",
		"const g = (function* () { g.next() })(); g.next()":                    "Generator is already running",
		"throw new TypeError('Object has no member \\'x\\'')":                  "x is not a function",
		"throw new Error('Value is not an object: 5')":                         "Value is not an object: 5",
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			var got string
			text := before + code + "\n} catch (e) { return e.message }"
			if err := json.Unmarshal([]byte(testValue(t, text)), &got); err != nil || got != want {
				t.Errorf("%s: %q, want %q", code, got, want)
			}
		})
	}
}

func TestWhereErrorsAreMended(t *testing.T) {
	t.Parallel()
	const wrong = "const o = {};\n"
	const want = `"o.x is not a function"`
	for name, code := range map[string]string{
		"caught":                     "try { o.x() } catch (e) { return e.message }",
		"taken apart":                "try { o.x() } catch ({ message }) { return message }",
		"of a promise":               "return await (async () => { await 0; o.x() })().catch(e => e.message)",
		"of a reaction":              "return await Promise.resolve().then(() => o.x()).then(null, e => e.message)",
		"by a function":              "let m; const see = e => { m = Object.getOwnPropertyDescriptor(e, 'message').value }; await Promise.resolve().then(() => o.x()).catch(see); return m",
		"by a function of one's own": "return await Promise.resolve().then(() => o.x()).then(undefined, function (e) { return Object.getOwnPropertyDescriptor(e, 'message').value })",
		"as a text":                  "return (await Promise.resolve().then(() => o.x()).catch(e => `${e}`)).slice('TypeError: '.length)",
		"in a list":                  "return (await Promise.allSettled([Promise.resolve().then(() => o.x())]))[0].reason.message",
		"perhaps":                    "return (await Promise.resolve().then(() => o.x()).catch(e => e))?.message",
		"taken apart later":          "const { message } = await Promise.resolve().then(() => o.x()).catch(e => e); return message",
		"in the stack":               "return (await Promise.resolve().then(() => o.x()).catch(e => e.stack)).split('\\n')[0].slice('TypeError: '.length)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := testValue(t, wrong+code); got != want {
				t.Errorf("%s: %s, want %s", code, got, want)
			}
		})
	}
}

func TestStacksAreThoseOfV8(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{
			"functions", "function alpha() { beta() }\nfunction beta() {\n  throw new RangeError('deep')\n}\ntry { alpha() } catch (e) { return e.stack }",
			"RangeError: deep\n    at beta (exec:3:9)\n    at alpha (exec:1:20)\n    at exec:5:7",
		},
		{
			"through built-ins", "const f = x => { throw new Error('m\\nn') }\ntry { [1].map(f) } catch (e) { return e.stack }",
			"Error: m\nn\n    at f (exec:1:24)\n    at exec:2:11",
		},
		{
			"across an await", "async function inner() {\n  await null\n  throw new Error('later')\n}\nasync function outer() { await inner() }\nreturn outer().catch(e => e.stack)",
			"Error: later\n    at inner (exec:3:9)\n    at outer (exec:5:26)",
		},
		{"a limit", "Error.stackTraceLimit = 1; function f() { return new Error('x') }\nreturn f().stack", "Error: x\n    at f (exec:1:50)"},
		{"none", "Error.stackTraceLimit = 0; return new Error('x').stack", "Error: x"},
		{"written by the script", "const e = new Error('x'); e.stack = 'mine'; return e.stack + new Error('y').stack.split('\\n').length", "mine2"},
		{"of what is no error", "return String([{ stack: [1] }.stack, 'x'.message, (() => { try { return null.stack } catch (e) { return e.message } })(), void 0?.stack, [][0]?.message])", "1,,Cannot read properties of null (reading 'stack'),,"},
		{"of an error of the host", "return fail('no').catch(e => e.stack)", "ToolError: no\n    at exec:1:8"},
		{"is a plain property", "const e = new Error('x'); e.stack; return JSON.stringify(Object.getOwnPropertyDescriptor(e, 'stack').enumerable) + Object.keys(e)", "false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got string
			if err := json.Unmarshal([]byte(testValue(t, c.text)), &got); err != nil || got != c.want {
				t.Errorf("%s\nis   %q\nwant %q", c.text, got, c.want)
			}
		})
	}
}

func TestAReportUnderstandsAStackThatWasRead(t *testing.T) {
	t.Parallel()
	o, _ := testRun(t, "function f() {\n  throw new Error('x')\n}\ntry { f() } catch (e) { e.stack; throw e }")
	if o.Report == nil || o.Report.At == nil || o.Report.At.Line != 2 || len(o.Report.Frames) != 2 || strings.Contains(o.Report.Text(), "at at") {
		t.Errorf("%+v", o.Report)
	}
}

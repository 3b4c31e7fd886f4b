package assert_test

import (
	"os/exec"
	"testing"

	"mcpx/engine"
	"mcpx/stdlib/assert"
	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/process"
)

func modules() []engine.Module {
	return append(append(assert.Modules(), process.Modules()...), console.Module())
}

// scripts are compared with Node.
var scripts = []string{
	`const assert=require('assert'); const t=(f)=>{try{const r=f(); console.log('ok',r)}catch(e){console.log(e.name,e.code,JSON.stringify(e.message),e.generatedMessage,e.operator)}};
t(()=>assert(0,'m')); t(()=>assert()); t(()=>assert.ok(null,new TypeError('q'))); t(()=>assert.equal(1,2)); t(()=>assert.equal({a:1},{a:1})); t(()=>assert.notEqual(1,1)); t(()=>assert.fail()); t(()=>assert.fail('x')); t(()=>assert.fail(1,2)); t(()=>assert.fail(1,2,undefined,'>')); t(()=>assert.ifError(null)); t(()=>assert.ifError(new Error('boom'))); t(()=>assert.ifError('s')); t(()=>assert.ifError(0));
t(()=>assert.throws(()=>{})); t(()=>assert.throws(()=>{},TypeError)); t(()=>assert.throws(()=>{},'msg')); t(()=>assert.throws(()=>{throw new Error('abc')},/x/)); t(()=>assert.throws(()=>{throw new Error('abc')},TypeError)); t(()=>assert.throws(()=>{throw new Error('abc')},{message:'x'})); t(()=>assert.throws(()=>{throw new Error('abc')},{message:/b/,name:'Error'})); t(()=>assert.throws(()=>{throw new Error('abc')},(e)=>false)); t(()=>assert.throws(()=>{throw new Error('abc')},function validate(e){return false})); t(()=>assert.throws(()=>{throw new Error('abc')},'abc')); t(()=>assert.throws('x')); t(()=>assert.throws(()=>{throw 5},{})); t(()=>assert.throws(()=>{throw 5},5)); t(()=>assert.throws(()=>{throw new Error('abc')},{}));
t(()=>assert.doesNotThrow(()=>{throw new Error('abc')})); t(()=>assert.doesNotThrow(()=>{throw new Error('abc')},'whoops')); t(()=>assert.doesNotThrow(()=>{throw new Error('abc')},TypeError,'z'));
t(()=>assert.match('abc',/x/)); t(()=>assert.match(5,/x/)); t(()=>assert.doesNotMatch('abc',/b/)); t(()=>assert.match('a','b')); t(()=>assert.match('abc',/x/,'own'));
t(()=>assert.strictEqual(1,2)); t(()=>assert.strictEqual('a'.repeat(10),'b'.repeat(10))); t(()=>assert.strictEqual('aaaaaaab','aaaaaaac')); t(()=>assert.strictEqual({a:1},{a:1})); t(()=>assert.strictEqual([1,2],[1,2])); t(()=>assert.notStrictEqual(1,1)); t(()=>assert.notStrictEqual('a'.repeat(9),'a'.repeat(9))); const o={a:1}; t(()=>assert.notStrictEqual(o,o)); t(()=>assert.deepStrictEqual({a:1,b:{c:[1,2,3]}},{a:1,b:{c:[1,2,4]}})); t(()=>assert.deepEqual({a:1},{a:2})); t(()=>assert.notDeepEqual({a:1},{a:1})); t(()=>assert.notDeepStrictEqual([1],[1])); t(()=>assert.deepStrictEqual(new Map([[1,2]]),new Map([[1,3]]))); t(()=>assert.deepStrictEqual([1,2,3,4,5,6,7,8,9,10],[1,2,3,4,5,6,7,8,9,11])); t(()=>assert.strictEqual(1,2,'mm')); t(()=>assert.strictEqual(NaN,0)); t(()=>assert.strictEqual(-0,0)); t(()=>assert.deepStrictEqual(1)); t(()=>assert.strictEqual()); t(()=>assert.strictEqual('a\nb\nc','a\nb\nd')); t(()=>assert.equal(1)); t(()=>assert.deepStrictEqual({a:Symbol('x')},{a:Symbol('x')}));
t(()=>new assert.AssertionError()); t(()=>{throw new assert.AssertionError({message:'hi',actual:1,expected:2,operator:'op'})});`,
	`const assert=require('assert'); const t=(f)=>{try{const r=f(); console.log('ok',r)}catch(e){console.log(e.name,e.code,JSON.stringify(e.message),e.generatedMessage,e.operator)}};
t(()=>assert.deepStrictEqual({a:1},{a:2},'mm')); t(()=>assert.deepEqual({a:1},{a:2},'mm')); t(()=>assert.equal(1,2,'mm')); t(()=>assert.notStrictEqual(1,1,'mm'));t(()=>assert.strictEqual(1,2,new TypeError('x'))); t(()=>assert.strictEqual('a'.repeat(10),'b','mm'));t(()=>assert.strictEqual({a:1},{a:1},'mm'));
t(()=>assert.throws(()=>{throw new Error('abc')},{message:'x'},'mm'));t(()=>assert.match('abc',/x/,new RangeError('r')));t(()=>assert.deepStrictEqual(1,2,''));t(()=>assert.strictEqual(1,2,undefined));t(()=>assert.strictEqual(1,2,null));t(()=>assert.strictEqual(1,2,5));
t(()=>assert.throws(()=>{throw new Error('abc')},Error,'mm')); t(()=>assert.throws(()=>{throw null},/x/)); t(()=>assert.throws(()=>{throw Object.assign(new Error('abc'),{code:5})},{code:6,name:'Error'}));t(()=>assert.throws(()=>{throw {a:1}},{a:1}));t(()=>assert.throws(()=>{throw Object.assign(new Error('abc'),{code:5})},Object.assign(new Error('abc'),{code:6})));t(()=>assert.throws(()=>{throw new Error('abc')},class X extends Error{}));t(()=>assert.throws(()=>{throw 'str'},TypeError));t(()=>assert.throws(()=>{throw new Error('x')},{message:'x',foo:1}));
t(()=>assert.doesNotThrow(()=>{throw new Error('abc')},/abc/));t(()=>assert.doesNotThrow(()=>{throw new Error('abc')},/zzz/));t(()=>assert.doesNotThrow(5));t(()=>assert.doesNotThrow(()=>{throw 5}));t(()=>assert.notDeepStrictEqual({a:1},{a:1},'x'));t(()=>assert.deepEqual([1,2,[3]],[1,2,[4]]));t(()=>assert.deepEqual('a'.repeat(600),'b'));t(()=>assert.notDeepEqual({a:'b'.repeat(1100)},{a:'b'.repeat(1100)}));t(()=>assert.equal(null,undefined));t(()=>assert.equal(NaN,NaN));t(()=>assert.notEqual(NaN,NaN));t(()=>assert.equal('a\nb','c'));
 t(()=>assert.strictEqual(()=>{},()=>{}));t(()=>assert.strictEqual(Symbol('a'),Symbol('a')));t(()=>assert.ifError({message:''}));t(()=>assert.ifError({message:'q',constructor:function Foo(){}}));t(()=>assert.deepStrictEqual(Array.from({length:60},(_, i)=>i),Array.from({length:60},(_, i)=>i*2)));t(()=>assert.deepStrictEqual({a:1,b:2},{b:2,a:1,c:3}));t(()=>assert.deepStrictEqual([1,2,3],[1,2,3,4,5,6,7]));t(()=>assert.deepStrictEqual([1,2,3,4,5,6,7,8],[1,2,3]));t(()=>assert.deepStrictEqual(new Date(0),new Date(1)));t(()=>assert.deepStrictEqual(/a/,/a/g));t(()=>assert.deepStrictEqual({},Object.create(null)));t(()=>assert.notStrictEqual(Array.from({length:60},(_, i)=>i),1));const big=Array.from({length:60},(_, i)=>i);t(()=>assert.notStrictEqual(big,big));t(()=>assert.strictEqual(big,[...big]));
`,
	`const assert=require('assert');
for (const f of [()=>assert.rejects(Promise.resolve(1)),()=>assert.rejects(async()=>{throw new Error('x')},/y/),()=>assert.rejects(()=>5),()=>assert.rejects(5),()=>assert.doesNotReject(async()=>{throw new Error('x')}),()=>assert.rejects(async()=>{throw new TypeError('x')},TypeError)]) { try { console.log('ok', await f()) } catch(e){console.log(e.name,e.code,JSON.stringify(e.message))} }
console.log(assert.strict===require('assert/strict'), assert.strict.equal===assert.strictEqual, assert.strict.strict===assert.strict, Object.keys(assert.strict).filter(k => k !== 'CallTracker').join());
try { assert.strictEqual(1,2) } catch (e) { console.log(e.stack.split('\n')[0], Object.keys(e), String(e), e instanceof Error, JSON.stringify(e)) }
console.log(assert.name, assert.length, assert.equal.length, assert.throws.length, assert.AssertionError.name, assert.AssertionError.length);
`,
}

func TestAssertIsNodes(t *testing.T) {
	t.Parallel()
	node, err := exec.Command("node", "-e", trial.Program(scripts)).Output()
	if err != nil {
		t.Skip("Node 20 is not installed")
	}
	trial.Compare(t, scripts, node, modules()...)
}

func TestAssert(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, code, stdout, stderr string }{
		{"imports", `import assert, { AssertionError, equal } from "node:assert"; import strict from "assert/strict"; console.log(assert.equal === equal, strict === assert.strict, new AssertionError({message: "m"}) instanceof Error)`, "true true true\n", ""},
		{"uncaught", `import assert from "assert"; assert.deepStrictEqual({a: 1}, {a: 2})`, "", "uncaught AssertionError: Expected values to be strictly deep-equal:\n+ actual - expected\n\n  {\n+   a: 1\n-   a: 2\n  }\n"},
		{"the expression", "import assert from 'assert';\nlet x = 0;\ntry { assert(x > 1 && \"(\") } catch (e) { console.log(e.message) }\ntry { assert.ok(\n    x) } catch (e) { console.log(e.message) }", "The expression evaluated to a falsy value:\n\n  assert(x > 1 && \"(\")\n\nThe expression evaluated to a falsy value:\n\n  assert.ok(\n  x)\n\n", ""},
		{"in a string of code", `const assert = require("assert"); globalThis.a = assert; try { (0, eval)("a(0)") } catch (e) { console.log(e.message) }`, "0 == true\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if stdout, stderr := trial.Run(tt.code, nil, modules()...); stdout != tt.stdout || stderr != tt.stderr {
				t.Errorf("wrote %q and %q, want %q and %q", stdout, stderr, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	for i, m := range assert.Modules() {
		declared.Check(t, m, assert.Modules()[:i]...)
	}
}

package engine

import (
	"strings"
	"testing"

	"github.com/dop251/goja"

	"mcpx/internal/fault"
)

// errorModules throw errors of every kind: raise(kind).
func errorModules() []Module {
	return []Module{
		{Globals: []string{"raise", "DeniedError"}, Make: func(rt *Runtime) *goja.Object {
			o := rt.VM().NewObject()
			_ = o.Set("DeniedError", "taken")
			_ = o.Set("raise", rt.Function("raise", func(c goja.FunctionCall) goja.Value {
				panic(rt.NewError(fault.New(fault.Kind(c.Argument(0).String()), "no").With("server", "s").With("tool", "t")))
			}))
			return o
		}},
		Errors(),
	}
}

func runWith(t *testing.T, modules []Module, text string) *Outcome {
	t.Helper()
	p, report := Compile(Source{Name: "exec", Text: text, Expression: true}, modules)
	if report != nil {
		t.Fatal(report.Text())
	}
	return New(Options{Modules: modules}).Run(t.Context(), p)
}

func TestClassesOfErrors(t *testing.T) {
	t.Parallel()
	for _, k := range fault.Kinds() {
		name := k.ErrorName()
		text := "try { raise('" + string(k) + "') } catch (e) { return [e instanceof Error, e.name, e.constructor.name, String(e), Object.keys(e).join()] }"
		constructor := name
		if !hasClass(k) {
			constructor = "Error"
		}
		want := `[true,"` + name + `","` + constructor + `","` + name + `: no","kind,server,tool"]`
		if o := runWith(t, errorModules(), text); string(o.Value) != want {
			t.Errorf("%s: %s %+v, want %s", k, o.Value, o.Report, want)
		}
		if !hasClass(k) || k == fault.Denied {
			continue
		}
		text = "try { raise('" + string(k) + "') } catch (e) { return [e instanceof " + name + ", e.constructor === " + name + "] }"
		if o := runWith(t, errorModules(), text); string(o.Value) != "[true,true]" {
			t.Errorf("%s: %s %+v", k, o.Value, o.Report)
		}
	}
	for text, want := range map[string]string{
		"DeniedError": `"taken"`, // of a module before
		"class Mine extends ToolError {}\nconst e = new Mine('m'); return [e instanceof ToolError, e.name, e.message, String(e)]": `[true,"ToolError","m","ToolError: m"]`,
		"const ToolError = 3; return ToolError":                       "3",
		"Object.keys(globalThis).includes('ToolError')":               "false",
		"return new UsageError('a', { cause: 5 }).cause":              "5",
		"globalThis.Error = null; return new LimitError('x').message": `"x"`,
	} {
		if o := runWith(t, errorModules(), text); string(o.Value) != want {
			t.Errorf("%q = %s %+v, want %s", text, o.Value, o.Report, want)
		}
	}
	if o := runWith(t, errorModules(), "raise('tool')"); o.Report == nil || !strings.HasPrefix(o.Report.Text(), "no\n  from s.t\n  at exec:1:1\n") {
		t.Errorf("report %+v", o.Report)
	}
}

func TestImportsByName(t *testing.T) {
	t.Parallel()
	const rest = "; log(1)"
	for _, c := range []struct{ text, at, hint string }{
		{"import { twise } from 'node:demo'; twise(1)", "exec:1:10", "did you mean twice?"},
		{"log(1)\nimport d, {\n  answer as a,\n  zebra as z,\n} from \"demo\"\nlog(a + z + d)", "exec:4:3", "it has answer, twice"},
		{"import { answer } from 'demo'; import { nope } from 'demo'; log(answer + nope)", "exec:1:41", "it has answer, twice"},
		{"const a = 1; import { nope } from 'demo'; await 0; if (a) return nope", "exec:1:23", "it has answer, twice"},
		{"import { answer, twice as nope } from 'demo'; log(nope(answer))", "", ""},
		{"import { type Shape, answer } from 'demo'; let s: Shape; log(answer)", "", ""},
		{"import { Shape } from 'demo'; let s: Shape" + rest, "", ""},
		{"import * as d from 'demo'; log(typeof d.nope)", "", ""},
		{"import d from 'demo'; log(typeof d.nope)", "", ""},
		{"import { default as d } from 'demo'; log(d.answer)", "", ""},
		{"const { nope } = await import('demo'); log(typeof nope)", "", ""},
		{"import * as d from 'demo'; // import { nope } from 'other'\nlog(typeof d.nope)", "", ""},
	} {
		o, out := testRun(t, c.text)
		if c.at == "" {
			if o.Report != nil || out == "" {
				t.Errorf("%q: %+v, printed %q", c.text, o.Report, out)
			}
			continue
		}
		r := o.Report
		if r == nil || r.Kind != fault.Usage || o.ExitCode != 2 || r.At == nil || r.At.String() != c.at || r.Hint != c.hint || out != "" {
			t.Errorf("%q: exit %d, %+v at %v, printed %q, want a usage error at %s with %q", c.text, o.ExitCode, r, r.At, out, c.at, c.hint)
		}
	}
}

func TestNotesOfWhatJSONCannotHold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, value, note string }{
		{"return new Map([[1, 2]])", "{}", "is a Map, which JSON cannot hold: it is shown as {}; return Object.fromEntries(map)"},
		{"new Set([1])", "{}", "is a Set, which JSON cannot hold: it is shown as {}; return [...set]"},
		{"return { a: [1, new Map()] }", `{"a":[1,{}]}`, "has a Map at .a[1], which"},
		{"return new RangeError('x')", "{}", "is a RangeError, which JSON cannot hold: it is shown as {}; return its message, or throw it"},
		{"return Object.assign(new Error('x'), { code: 1 })", `{"code":1}`, `is an Error, which JSON cannot hold: it is shown as {"code":1}`},
		{"return { p: Promise.resolve(1) }", `{"p":{}}`, "has a Promise at .p, which JSON cannot hold: it is shown as {}; await it"},
		{"return () => 1", "", "is a function, which JSON cannot hold: it is left out; call it"},
		{"return Symbol('x')", "", "is a symbol, which"},
		{"return [Symbol()]", "[null]", "has a symbol at [0], which JSON cannot hold: it is shown as null"},
		{"class A { #x = 1 }; return new A()", "{}", "is an A, which JSON cannot hold"},
		{"function* g() {}\nreturn g()", "{}", "; return [...it]"},
		{"return /x/", "{}", "is a RegExp, which"},
		{"class A {}; Object.defineProperty(A.prototype, 'constructor', { get() { throw 1 } }); return new A()", "{}", "is an object, which"},
		{"const f = () => 1; f", "", ""}, // exec would print nothing
		{"const s = Symbol(); s", "", ""},
		{"class A { x = 1 }; return new A()", `{"x":1}`, ""},
		{"class A { toJSON() { return 1 } }; return new A()", "1", ""},
		{"return [{}, Object.create(null), [], new Date(0), 1n, Object('s'), undefined]", `[{},{},[],"1970-01-01T00:00:00.000Z",1,"s",null]`, ""},
		{"return JSON.stringify(new Map())", `"{}"`, ""},
	} {
		o, _ := testRun(t, c.text)
		if o.Report != nil || string(o.Value) != c.value {
			t.Errorf("%q = %s %+v, want %s", c.text, o.Value, o.Report, c.value)
		}
		switch {
		case c.note == "" && len(o.Notes) > 0, c.note != "" && (len(o.Notes) != 1 || !strings.Contains(o.Notes[0], c.note)):
			t.Errorf("%q: notes %q, want %q", c.text, o.Notes, c.note)
		}
	}
}

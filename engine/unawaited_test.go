package engine

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// asking has a global ask, whose results a script is expected to take.
func asking() []Module {
	return []Module{{Globals: []string{"ask"}, Make: func(rt *Runtime) *goja.Object {
		o := rt.VM().NewObject()
		_ = o.Set("ask", func(goja.FunctionCall) goja.Value {
			p := Async(rt, "x", func(context.Context) (int, error) { return 1, nil }, nil)
			rt.Expect(p, "ask")
			return p
		})
		return o
	}}}
}

func TestWhatIsNotAwaitedIsTold(t *testing.T) {
	t.Parallel()
	note := func(at string) string {
		return "the result of ask at t.ts:" + at + " was never awaited: write await ask(…)"
	}
	more := "the results of more calls were not awaited either"
	for _, test := range []struct {
		name, text string
		notes      []string
	}{
		{"forgotten", "const r = ask();\nreturn JSON.stringify(r)", []string{note("1:11")}},
		{"settled long since", "const r = ask(); await ask(); await ask(); String(r)", []string{note("1:11")}},
		{"in a loop, once", "for (let i = 0; i < 50; i++) ask(); 1", []string{note("1:30")}},
		{"many", "ask(); \nask();\nask();\nask();\nask();\n1", []string{note("1:1"), note("2:1"), note("3:1"), more}},
		{"a process that ends", "ask(); 1", []string{note("1:1")}},
		{"awaited", "await ask()", nil},
		{"awaited later", "const p = ask(); await ask(); await ask(); await p", nil},
		{"after many that were awaited", "for (let i = 0; i < 99; i++) await ask(); ask(); 1", []string{note("1:43")}},
		{"one by one, of many", "const all = Array.from({ length: 99 }, () => ask()); for (const p of all) await p", nil},
		{"together", "await Promise.all([ask(), ask()])", nil},
		{"then", "ask().then(() => {}); 1", nil},
		{"returned", "return ask()", nil},
		{"the last expression", "ask()", nil},
		{"of a function", "async function f() { return ask() } await f()", nil},
		{"not wanted", "void ask(); 1", nil},
		{"a value that is void", "const x = void ask(); return String(x)", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, report := Compile(Source{Name: "t.ts", Text: test.text, Expression: true}, asking())
			if report != nil {
				t.Fatal(report.Text())
			}
			out := New(Options{Host: &slowHost{}, Modules: asking()}).Run(t.Context(), p)
			if out.Report != nil || !slices.Equal(out.Notes, test.notes) {
				t.Errorf("%v, notes %q, want %q", out.Report, out.Notes, test.notes)
			}
		})
	}
}

func TestAnErrorNamesTheCallThatIsNotAwaited(t *testing.T) {
	t.Parallel()
	const blame = "the result of ask at t.ts:1:11 is not awaited: write await ask(…)"
	for _, test := range []struct{ text, hint string }{
		{"const r = ask(); r.a.b", blame},
		{"const r = ask(); for (const x of r) ;", blame},
		{"const r = ask(); r.map(x => x)", blame},
		{"const r = ask(); JSON.parse(r)", blame},
		{"const r = ask(); async function f() { null.x } f(); await 1", unhandledHint + "; " + blame},
		{"const r = ask(); throw new Error('x')", ""},
		{"const r = ask(); await r; null.x", ""},
	} {
		p, report := Compile(Source{Name: "t.ts", Text: test.text}, asking())
		if report != nil {
			t.Fatal(report.Text())
		}
		out := New(Options{Host: &slowHost{}, Modules: asking()}).Run(t.Context(), p)
		if out.Report == nil || out.Report.Hint != test.hint {
			t.Errorf("%s: %v, want the hint %q", test.text, out.Report, test.hint)
		}
	}
}

// What waits to be taken is held with its result.
func TestFewResultsAreHeldThatNothingTakes(t *testing.T) {
	t.Parallel()
	p, report := Compile(Source{Name: "t.ts", Text: strings.Repeat("ask(); await ask();\n", 200)}, asking())
	if report != nil {
		t.Fatal(report.Text())
	}
	rt := New(Options{Host: &slowHost{}, Modules: asking()})
	if out := rt.Run(t.Context(), p); out.Report != nil {
		t.Fatal(out.Report.Text())
	}
	if n := len(rt.expected.list); n == 0 || n > maxExpected {
		t.Errorf("%d are held, want 1 to %d", n, maxExpected)
	}
}

package engine

import "testing"

// What the compiler adds to a script must not make it pay for additions that it does not
// use: they take longer than the rest of the run.
func TestAScriptPaysForWhatItUses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]wants{
		"0":                                   0,
		"import d from 'node:demo'; d.answer": 0,
		"import * as d from 'node:demo'; log(d.answer)":                    0,
		"log(Object.keys({ a: 1 }).length, Object.entries({}))":            0,
		"class A { x = 1; get y() { return this.x } }; log(new A().y)":     0,
		"for await (const x of (async function* () { yield 1 })()) log(x)": 1, // what esbuild makes of it calls then
	} {
		p, r := Compile(Source{Name: "exec", Text: text}, testModules())
		if r != nil {
			t.Errorf("%s: %s", text, r.Text())
			continue
		}
		if p.wants != want {
			var names []string
			for i, a := range additions {
				if p.wants&(1<<i) != 0 {
					names = append(names, a.words)
				}
			}
			t.Errorf("%s: the script wants %q", text, names)
		}
	}
}

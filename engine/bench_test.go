package engine

import (
	"context"
	"testing"

	"github.com/dop251/goja"
)

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New(Options{})
	}
}

// BenchmarkNewOfGoja is what BenchmarkNew is to be compared with.
func BenchmarkNewOfGoja(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		goja.New()
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"expression", "1+1"},
		{"return", "return 1+1"},
		{"await", "const r = await echo('x'); log(r)"},
		{"await and return", "const r = await echo('x'); return r"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, r := Compile(Source{Name: "exec", Text: c.text, Expression: true}, nil); r != nil {
					b.Fatal(r.Text())
				}
			}
		})
	}
}

// BenchmarkScript is a whole run: compiling, a runtime, the script.
func BenchmarkScript(b *testing.B) {
	for b.Loop() {
		p, r := Compile(Source{Name: "exec", Text: "1+1", Expression: true}, nil)
		if r != nil {
			b.Fatal(r.Text())
		}
		if o := New(Options{}).Run(context.Background(), p); string(o.Value) != "2" {
			b.Fatal(o)
		}
	}
}

// benchmarkLoop runs body b.N times in one script.
func benchmarkLoop(b *testing.B, body string) {
	b.Helper()
	modules := testModules()
	modules = append(modules, Module{Globals: []string{"N"}, Make: func(rt *Runtime) *goja.Object {
		o := rt.VM().NewObject()
		_ = o.Set("N", b.N)
		return o
	}})
	p, r := Compile(Source{Name: "exec", Text: "const n = N; for (let i = 0; i < n; i++) { " + body + " }"}, modules)
	if r != nil {
		b.Fatal(r.Text())
	}
	rt := New(Options{Modules: modules})
	b.ReportAllocs()
	b.ResetTimer()
	if o := rt.Run(context.Background(), p); o.Report != nil {
		b.Fatal(o.Report.Text())
	}
}

func BenchmarkAsync(b *testing.B) { benchmarkLoop(b, "await echo('x')") }

func BenchmarkAwait(b *testing.B) { benchmarkLoop(b, "await 0") }

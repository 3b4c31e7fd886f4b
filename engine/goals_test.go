package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
)

// BenchmarkEngine measures what docs/performance.md has goals for.
func BenchmarkEngine(b *testing.B) {
	b.Run("fresh runtime", BenchmarkNew)
	b.Run("call with an object in and out", func(b *testing.B) {
		benchmarkLoop(b, "swap({ a: i, b: 'text' })")
	})
	b.Run("promise settled by a goroutine", BenchmarkAsync)
	b.Run("decode 6 MB", func(b *testing.B) {
		text, rt := sixMegabytes(), New(Options{})
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, err := DecodeJSON(rt, text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("JSON.parse of 6 MB", func(b *testing.B) {
		text := sixMegabytes()
		b.SetBytes(int64(len(text)))
		modules := []Module{{Globals: []string{"text"}, Make: func(rt *Runtime) *goja.Object {
			o := rt.VM().NewObject()
			_ = o.Set("text", string(text))
			return o
		}}}
		p, r := Compile(Source{Name: "exec", Text: "const t = performance(); JSON.parse(text).items.length; return performance() - t"}, append(modules, clock()))
		if r != nil {
			b.Fatal(r.Text())
		}
		var total float64
		for b.Loop() {
			total += runProgram(b, p, append(modules, clock()))
		}
		b.ReportMetric(total/float64(b.N), "script-ms/op")
	})
	for _, c := range []struct{ name, text string }{
		{"shift of 20000 elements", "const a = Array.from({ length: 20000 }, (_, i) => i); const t = performance(); while (a.length) a.shift(); return performance() - t"},
		{"sort of 300000 numbers", "const a = Array.from({ length: 300000 }, (_, i) => (i * 7919) % 300007); const t = performance(); a.sort((a, b) => a - b); return performance() - t"},
		{"40000 appends", "const t = performance(); let s = ''; for (let i = 0; i < 40000; i++) s += '01234'; return performance() - t"},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, r := Compile(Source{Name: "exec", Text: c.text}, []Module{clock()})
			if r != nil {
				b.Fatal(r.Text())
			}
			var total float64
			for b.Loop() {
				total += runProgram(b, p, []Module{clock()})
			}
			b.ReportMetric(total/float64(b.N), "script-ms/op")
		})
	}
}

// BenchmarkEngineSet runs the scripts that internal/suite compares with node, without the
// processes around them: for profiles.
func BenchmarkEngineSet(b *testing.B) {
	files, err := filepath.Glob("../testdata/bench/cpu/*.js")
	if err != nil || len(files) == 0 {
		b.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		b.Run(strings.TrimSuffix(filepath.Base(file), ".js"), func(b *testing.B) {
			text, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			code, _, ok := strings.Cut(string(text), "\nconst start =")
			if !ok {
				b.Fatalf("%s does not measure itself", file)
			}
			p, r := Compile(Source{Name: file, Text: code + "\nconst t = performance(); work(); return performance() - t"}, []Module{clock()})
			if r != nil {
				b.Fatal(r.Text())
			}
			var total float64
			for b.Loop() {
				total += runProgram(b, p, []Module{clock()})
			}
			b.ReportMetric(total/float64(b.N), "script-ms/op")
		})
	}
}

// sixMegabytes is the result of a tool that lists much.
func sixMegabytes() []byte {
	one := megabyte()
	items := bytes.TrimSuffix(bytes.TrimPrefix(one, []byte(`{"items":[`)), []byte(`]}`))
	return []byte(`{"items":[` + strings.Repeat(string(items)+",", 5) + string(items) + `]}`)
}

// clock is a module with a global that tells the time in milliseconds.
func clock() Module {
	start := time.Now()
	return Module{Globals: []string{"performance"}, Make: func(rt *Runtime) *goja.Object {
		o := rt.VM().NewObject()
		_ = o.Set("performance", func(goja.FunctionCall) goja.Value {
			return rt.VM().ToValue(float64(time.Since(start)) / float64(time.Millisecond))
		})
		return o
	}}
}

// runProgram runs p, whose value is a number, in a runtime of its own.
func runProgram(b *testing.B, p *Program, modules []Module) (value float64) {
	b.Helper()
	o := New(Options{Modules: modules}).Run(context.Background(), p)
	if o.Report != nil {
		b.Fatal(o.Report.Text())
	}
	if err := json.Unmarshal(o.Value, &value); err != nil {
		b.Fatal(err)
	}
	return value
}

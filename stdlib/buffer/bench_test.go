package buffer

import (
	"testing"

	"github.com/dop251/goja"

	"mcpx/engine"
)

func BenchmarkMake(b *testing.B) {
	for b.Loop() {
		newModule(engine.New(engine.Options{})).exports()
	}
}

func BenchmarkRuntime(b *testing.B) {
	for b.Loop() {
		engine.New(engine.Options{})
	}
}

func BenchmarkReadInteger(b *testing.B) { benchmark(b, `b.readUInt32LE(4)`) }
func BenchmarkFromString(b *testing.B)  { benchmark(b, `Buffer.from("hello world")`) }
func BenchmarkBase64(b *testing.B)      { benchmark(b, `big.toString("base64")`) }

func benchmark(b *testing.B, expression string) {
	rt := engine.New(engine.Options{Modules: []engine.Module{Module()}})
	vm := rt.VM()
	v, err := vm.RunString(`const b = Buffer.alloc(8), big = Buffer.alloc(1 << 20, "abc"); (n => { for (let i = 0; i < n; i++) ` + expression + ` })`)
	if err != nil {
		b.Fatal(err)
	}
	run, _ := goja.AssertFunction(v)
	b.ResetTimer()
	if _, err := run(goja.Undefined(), vm.ToValue(b.N)); err != nil {
		b.Fatal(err)
	}
}

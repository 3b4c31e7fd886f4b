package engine

import (
	"reflect"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// allForms has every construct whose parts can hold code.
const allForms = `(async (a = () => { throw p1 }, { b: [c = () => 1], ...d }, ...e) => {
	label: for (let i = await x1; await x2; await x3) { break label }
	for (var j of await x4) continue; for (const k in await x5) ; for (m.n of await x6) ; for (;;) break
	do { await x7 } while (await x8); while (await x9) { if (await x10) await x11; else await x12 }
	switch (await x13) { case await x14: await x15; default: await x16 }
	try { await x17 } catch ({ f = await x18 }) { await x19 } finally { await x20 }
	class A extends (await x21) { [await x22] = 1; static [await x23]() { throw x } static { throw y } g = () => { throw z }; #h = this.#h; get i() { throw x } }
	const o = { s, [await x24]: await x25, get t() { throw x }, u() { throw y }, ...await x26, v: async () => await x27 }
	x = y ? await x28 : await x29; x[await x30] = new (await x31)(await x32, ...await x33); (await x34)?.y?.[await x35]
	await x36, -(await x37), (await x38) + (await x39), tag` + "`a${await x40}b`" + `, function* () { yield n; yield* z }
	return (await x41).then(() => { throw n }), [await x42, , ...await x43], typeof (await x44)
})`

// TestTheWalkMeetsEveryNode compares the walk with one by reflection, which cannot
// forget a field.
func TestTheWalkMeetsEveryNode(t *testing.T) {
	t.Parallel()
	tree, err := parser.ParseFile(nil, "", allForms, 0, parser.WithDisableSourceMaps)
	if err != nil {
		t.Fatal(err)
	}
	counted := func(n any) string {
		switch n.(type) {
		case *ast.AwaitExpression, *ast.ThrowStatement, *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.YieldExpression, *ast.FieldDefinition, *ast.ClassStaticBlock:
			return reflect.TypeOf(n).Elem().Name()
		}
		return ""
	}
	want := map[string]int{}
	seen := map[uintptr]bool{}
	var reflected func(v reflect.Value)
	reflected = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface:
			reflected(v.Elem())
		case reflect.Pointer:
			if v.IsNil() || seen[v.Pointer()] {
				return
			}
			seen[v.Pointer()] = true
			if v.CanInterface() {
				want[counted(v.Interface())]++
			}
			reflected(v.Elem())
		case reflect.Struct:
			for _, field := range v.Fields() {
				reflected(field)
			}
		case reflect.Slice:
			for i := range v.Len() {
				reflected(v.Index(i))
			}
		}
	}
	reflected(reflect.ValueOf(tree.Body))
	got := map[string]int{}
	entered, left := 0, 0
	w := &walker{
		enter: func(n ast.Node) bool { got[counted(n)]++; entered++; return true },
		leave: func(ast.Node) { left++ },
	}
	w.statements(tree.Body)
	delete(want, "")
	delete(got, "")
	if want["AwaitExpression"] < 40 {
		t.Fatalf("the text has %d awaits: %v", want["AwaitExpression"], want)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the walk met %v, want %v", got, want)
	}
	if entered != left {
		t.Errorf("entered %d nodes and left %d", entered, left)
	}
}

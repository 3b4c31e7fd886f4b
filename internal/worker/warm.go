package worker

import (
	"context"
	"encoding/json"
	"runtime"
	"runtime/debug"

	"mcpx/engine"
	"mcpx/internal/fault"
)

// warming touches what most scripts do: the compiler with its common rewrites, the loop,
// a promise, an error, output.
const warming = `
type Item = { id: number; name?: string }
const list: Item[] = [1, 2, 3].map((id) => ({ id, name: ` + "`n${id}`" + ` }));
async function each(items: Item[]) {
  let sum = 0;
  for (const { id, name } of items) { try { sum += await id } catch (e) { throw new Error(name) } }
  return sum;
}
console.log(JSON.stringify(list), typeof tools, new Map([[1, { a: [1] }]]));
return { sum: await each(list), at: new Date(0).toISOString(), text: "x".padStart(3).replace(/x/, "y") };`

// warm compiles and runs a script, so that the next one finds everything in place, and
// gives back what that took.
func warm() {
	modules := Modules(nil)
	program, report := engine.Compile(engine.Source{Name: "warm", Text: warming}, modules)
	if report == nil {
		engine.New(engine.Options{
			Host: deaf{}, Modules: modules, InFlight: 1,
			Output: func(int, []byte) {},
		}).Run(context.Background(), program)
	}
	runtime.GC() // pools give up what they hold only at the second collection
	debug.FreeOSMemory()
}

// deaf is the host of a script that has none.
type deaf struct{}

func (deaf) Call(context.Context, string, any, []byte) (json.RawMessage, []byte, error) {
	return nil, nil, fault.Internalf("there is no host yet")
}

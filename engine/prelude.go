package engine

import "github.com/dop251/goja"

// installPrelude adds what ECMAScript has and goja lacks, and takes away what is goja's own.
func (rt *Runtime) installPrelude() {
	if err := rt.vm.GlobalObject().Delete("GoError"); err != nil {
		panic(err)
	}
	symbol := rt.vm.Get("Symbol").(*goja.Object)
	for _, name := range []string{"asyncIterator", "dispose", "asyncDispose"} {
		if symbol.Get(name) != nil {
			continue
		}
		if err := symbol.DefineDataProperty(name, goja.NewSymbol("Symbol."+name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
			panic(err)
		}
	}
}

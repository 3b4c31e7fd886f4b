// Package nodemodule is node:module: which modules there are, and a require that finds
// them. Files are found when a script is compiled, not while it runs: a require of one
// fails with the code that Node's has for a file that is not there.
package nodemodule

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

//go:embed nodemodule.d.ts
var declarations string

const scheme = "node:"

// Module returns node:module.
func Module() engine.Module {
	return engine.Module{Name: scheme + "module", Declarations: declarations, Make: exports}
}

// builtin are the names of the modules that there are, as require takes them.
func builtin(rt *engine.Runtime) []string {
	var names []string
	for _, name := range rt.Modules() {
		if name, ok := strings.CutPrefix(name, scheme); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func exports(rt *engine.Runtime) *goja.Object {
	vm := rt.VM()
	o := vm.NewObject()
	native.Lazy(vm, o, "builtinModules", func() goja.Value {
		var names []any
		for _, n := range builtin(rt) {
			names = append(names, n)
		}
		return vm.NewArray(names...)
	})
	native.Set(vm, o, "isBuiltin", 1, func(c goja.FunctionCall) goja.Value {
		name, ok := c.Argument(0).(goja.String)
		return vm.ToValue(ok && slices.Contains(builtin(rt), strings.TrimPrefix(name.String(), scheme)))
	})
	native.Set(vm, o, "createRequire", 1, func(c goja.FunctionCall) goja.Value {
		return newRequire(rt, base(rt, c.Argument(0)))
	})
	return o
}

// base is the file that a require belongs to.
func base(rt *engine.Runtime, v goja.Value) string {
	vm := rt.VM()
	text := ""
	switch v := v.(type) {
	case goja.String:
		text = v.String()
	case *goja.Object:
		if href, ok := v.Get("href").(goja.String); ok {
			text = href.String()
		}
	}
	windows := len(text) > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/')
	if !strings.HasPrefix(text, "file:") && !strings.HasPrefix(text, "/") && !windows {
		panic(native.InvalidValue(vm, "filename", v, "must be a file URL object, file URL string, or absolute path string"))
	}
	return text
}

func newRequire(rt *engine.Runtime, file string) *goja.Object {
	vm := rt.VM()
	find := func(v goja.Value) (name string, module goja.Value) {
		id := native.Text(vm, v, "id").String()
		if id == "" {
			panic(native.InvalidValue(vm, "id", v, "must be a non-empty string"))
		}
		for _, name := range []string{id, scheme + id} {
			if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
				break
			}
			if m := rt.Require(name); m != nil {
				return id, m
			}
		}
		if m := rt.RequireFile(id); m != nil {
			return id, m
		}
		e := native.Error(vm, "Error", "MODULE_NOT_FOUND", "Cannot find module '"+id+"'\nRequire stack:\n- "+strings.TrimPrefix(file, "file://"))
		native.Must(e.Set("requireStack", vm.NewArray(file)))
		panic(e)
	}
	require := native.Func(vm, "require", 1, func(c goja.FunctionCall) goja.Value {
		_, m := find(c.Argument(0))
		return m
	})
	resolve := native.Func(vm, "resolve", 2, func(c goja.FunctionCall) goja.Value {
		name, _ := find(c.Argument(0))
		return vm.ToValue(name)
	})
	native.Must(require.Set("resolve", resolve))
	native.Must(require.Set("main", goja.Undefined()))
	native.Must(require.Set("cache", vm.CreateObject(nil)))
	return require
}

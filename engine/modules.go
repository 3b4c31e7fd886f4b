package engine

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"
)

// modules is what a script finds besides the language. A module is made when the script
// first touches it, and once.
type modules struct {
	rt   *Runtime
	made map[int]*goja.Object // by index in Options.Modules
	// function is require as the bundle has it. A property of it requires files.
	function *goja.Object
}

// install puts the modules' globals in place.
func (m *modules) install(rt *Runtime) {
	m.rt, m.made = rt, map[int]*goja.Object{}
	global := rt.vm.GlobalObject()
	taken := map[string]bool{}
	for i, module := range rt.o.Modules {
		for _, name := range module.Globals {
			if taken[name] || global.Get(name) != nil {
				continue
			}
			taken[name] = true
			m.define(global, name, i)
		}
	}
	for _, module := range rt.o.Modules {
		if module.Init != nil {
			module.Init(rt)
		}
	}
}

// define makes a global that becomes a plain property when it is read or assigned.
func (m *modules) define(global *goja.Object, name string, index int) {
	settle := func(v goja.Value) {
		if err := global.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			panic(err)
		}
	}
	get := func(goja.FunctionCall) goja.Value {
		v := m.exports(index).Get(name)
		if v == nil {
			v = goja.Undefined()
		}
		settle(v)
		return v
	}
	set := func(c goja.FunctionCall) goja.Value {
		settle(c.Argument(0))
		return nil
	}
	getter, setter := m.rt.Function("get "+name, get), m.rt.Function("set "+name, set)
	if err := global.DefineAccessorProperty(name, getter, setter, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		panic(err)
	}
}

func (m *modules) exports(index int) *goja.Object {
	if o, ok := m.made[index]; ok {
		return o
	}
	o := m.rt.o.Modules[index].Make(m.rt)
	m.made[index] = o
	return o
}

// require returns the exports of an imported module. The compiler has checked that the
// name is known.
func (m *modules) require(c goja.FunctionCall) goja.Value {
	name := c.Argument(0).String()
	if o := m.find(name); o != nil {
		return o
	}
	panic(m.rt.vm.NewTypeError("there is no module %q", name))
}

func (m *modules) find(name string) *goja.Object {
	for i, module := range m.rt.o.Modules {
		if module.Name == name && name != "" {
			return m.exports(i)
		}
	}
	return nil
}

// late requires what the compiler did not see, because its name is made at run time or
// because there is nothing of that name.
func (m *modules) late(goja.FunctionCall) goja.Value {
	return m.rt.Function("require", func(c goja.FunctionCall) goja.Value {
		name := c.Argument(0).String()
		for _, name := range []string{name, "node:" + name} {
			if o := m.find(name); o != nil {
				return o
			}
		}
		text := fmt.Sprintf("there is no module %q", name)
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
			text = fmt.Sprintf("there is no file %q among those that the script imports: the name of a file has to stand in the import", name)
		}
		code := "MODULE_NOT_FOUND"
		if c.Argument(1).ToBoolean() {
			code = "ERR_" + code
		}
		e, err := m.rt.vm.New(m.rt.intrinsics.newErrorObject, m.rt.vm.ToValue(text))
		must(err)
		define(e, "name", m.rt.vm.ToValue("ImportError"))
		must(e.Set("code", code))
		panic(e)
	})
}

// defaults makes esbuild's function that imports what a package of the older form exports give all of it as the default,
// if the package says that it has been a module and has no default: as Node does.
func (rt *Runtime) defaults(c goja.FunctionCall) goja.Value {
	interop, _ := goja.AssertFunction(c.Argument(0))
	return rt.Function("", func(c goja.FunctionCall) goja.Value {
		v, err := interop(c.This, c.Arguments...)
		must(err)
		if target, ok := v.(*goja.Object); ok && target.Get("default") == nil {
			must(target.DefineDataProperty("default", c.Argument(0), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE))
		}
		return v
	})
}

// namespaces makes esbuild's function that gives an object the exports of a module give it
// the looks of a namespace.
func (rt *Runtime) namespaces(c goja.FunctionCall) goja.Value {
	export, _ := goja.AssertFunction(c.Argument(0))
	return rt.Function("", func(c goja.FunctionCall) goja.Value {
		_, err := export(c.This, c.Arguments...)
		must(err)
		if target, ok := c.Argument(0).(*goja.Object); ok {
			must(target.SetPrototype(nil))
			must(target.DefineDataPropertySymbol(goja.SymToStringTag, rt.vm.ToValue("Module"), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE))
		}
		return nil
	})
}

// RequireFile returns the exports of a file that the script requires by a require of its
// own making, nil if the compiler did not see the name.
func (rt *Runtime) RequireFile(name string) goja.Value {
	if rt.modules.function == nil {
		return nil
	}
	fn, ok := goja.AssertFunction(rt.modules.function.Get("files"))
	if !ok {
		return nil
	}
	v, err := fn(goja.Undefined(), rt.vm.ToValue(name))
	must(err)
	if goja.IsUndefined(v) {
		return nil
	}
	return v
}

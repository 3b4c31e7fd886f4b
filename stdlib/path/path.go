// Package path is node:path, node:path/posix and node:path/win32: paths as text, of this
// system or of a named one. No file is looked at; resolve starts at the directory that the
// run was given.
package path

import (
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

//go:embed path.d.ts
var declarations string

//go:embed posix.d.ts
var posixDeclarations string

//go:embed win32.d.ts
var win32Declarations string

// Modules returns node:path and its two halves.
func Modules() []engine.Module {
	half := func(name string) func(*engine.Runtime) *goja.Object {
		return func(rt *engine.Runtime) *goja.Object {
			// A runtime has one of each, whichever name it is imported by.
			return rt.Require("node:path").Get(name).(*goja.Object)
		}
	}
	return []engine.Module{
		{Name: "node:path", Declarations: declarations, Make: both},
		{Name: "node:path/posix", Declarations: posixDeclarations, Make: half("posix")},
		{Name: "node:path/win32", Declarations: win32Declarations, Make: half("win32")},
	}
}

// both makes the module for the platform of the run. Each half knows both.
func both(rt *engine.Runtime) *goja.Object {
	ambient := rt.Ambient()
	cwd := ambient.Cwd
	if cwd == "" {
		cwd = "/"
	}
	posix, win32 := object(rt, style{cwd: cwd}), object(rt, style{cwd: cwd, windows: true})
	for _, o := range []*goja.Object{posix, win32} {
		native.Must(o.Set("posix", posix))
		native.Must(o.Set("win32", win32))
		native.Must(o.Set("_makeLong", o.Get("toNamespacedPath")))
	}
	if ambient.Platform == "win32" {
		return win32
	}
	return posix
}

func object(rt *engine.Runtime, s style) *goja.Object {
	vm := rt.VM()
	o := vm.NewObject()
	text := func(v goja.Value, name string) string { return native.Text(vm, v, name).String() }
	texts := func(args []goja.Value, name string) []string {
		list := make([]string, len(args))
		for i, a := range args {
			list[i] = text(a, name)
		}
		return list
	}
	set := func(name string, length int, fn func(c goja.FunctionCall) any) {
		native.Set(vm, o, name, length, func(c goja.FunctionCall) goja.Value { return vm.ToValue(fn(c)) })
	}
	set("resolve", 0, func(c goja.FunctionCall) any {
		// From the right, as far as it matters: what is left of an absolute path may be anything.
		list, complete := make([]string, 0, len(c.Arguments)), false
		for i := len(c.Arguments) - 1; i >= 0 && !complete; i-- {
			list = append(list, text(c.Arguments[i], "paths["+itoa(i)+"]"))
			complete = !s.windows && s.isAbsolute(list[len(list)-1])
		}
		return s.resolve(list)
	})
	set("normalize", 1, func(c goja.FunctionCall) any { return s.normalize(text(c.Argument(0), "path")) })
	set("isAbsolute", 1, func(c goja.FunctionCall) any { return s.isAbsolute(text(c.Argument(0), "path")) })
	set("join", 0, func(c goja.FunctionCall) any { return s.join(texts(c.Arguments, "path")) })
	set("relative", 2, func(c goja.FunctionCall) any {
		return s.relative(text(c.Argument(0), "from"), text(c.Argument(1), "to"))
	})
	native.Set(vm, o, "toNamespacedPath", 1, func(c goja.FunctionCall) goja.Value {
		path, ok := c.Argument(0).(goja.String)
		if !ok || !s.windows || path.Length() == 0 {
			return c.Argument(0)
		}
		return vm.ToValue(s.namespaced(path.String()))
	})
	set("dirname", 1, func(c goja.FunctionCall) any { return s.dirname(text(c.Argument(0), "path")) })
	set("basename", 2, func(c goja.FunctionCall) any {
		suffix := ""
		if v := c.Argument(1); !goja.IsUndefined(v) {
			suffix = text(v, "suffix")
		}
		return s.basename(text(c.Argument(0), "path"), suffix)
	})
	set("extname", 1, func(c goja.FunctionCall) any { return s.extname(text(c.Argument(0), "path")) })
	set("format", 1, func(c goja.FunctionCall) any { return s.format(vm, c.Argument(0)) })
	set("parse", 1, func(c goja.FunctionCall) any {
		p := s.parse(text(c.Argument(0), "path"))
		parsed := vm.NewObject()
		for _, f := range [][2]string{{"root", p.root}, {"dir", p.dir}, {"base", p.base}, {"ext", p.ext}, {"name", p.name}} {
			native.Must(parsed.Set(f[0], f[1]))
		}
		return parsed
	})
	delimiter := ":"
	if s.windows {
		delimiter = ";"
	}
	native.Must(o.Set("sep", s.separator()))
	native.Must(o.Set("delimiter", delimiter))
	return o
}

// format puts the parts of a path together.
func (s style) format(vm *goja.Runtime, v goja.Value) string {
	o, ok := v.(*goja.Object)
	if !ok {
		panic(native.InvalidType(vm, "pathObject", "of type object", v))
	}
	part := func(name string) string {
		if v := o.Get(name); v != nil && v.ToBoolean() {
			return native.String(vm, v).String()
		}
		return ""
	}
	root, dir, base := part("root"), part("dir"), part("base")
	if base == "" {
		ext := part("ext")
		if ext != "" && ext[0] != '.' {
			ext = "." + ext
		}
		base = part("name") + ext
	}
	switch dir {
	case "":
		return root + base
	case root:
		return dir + base
	}
	return dir + s.separator() + base
}

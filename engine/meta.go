package engine

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/dop251/goja"
)

// meta makes the import.meta of a file, which is named as the script's positions name it.
func (rt *Runtime) meta(c goja.FunctionCall) goja.Value {
	name := c.Argument(0).String()
	src := rt.program.src
	main := name == src.Name
	file := src.File
	switch {
	case file == "": // a script that is no file: one where it runs
		file = path.Join("/", filepath.ToSlash(rt.o.Ambient.Cwd), path.Base(filepath.ToSlash(name)))
	case !main && filepath.IsAbs(name):
		file = name
	case !main:
		// Names of files and the script's own count from the same folder.
		file = filepath.Join(filepath.Dir(file), relativeTo(path.Dir(filepath.ToSlash(src.Name)), filepath.ToSlash(name)))
	}
	at := fileURL(file)
	o := rt.vm.CreateObject(nil)
	must(o.Set("url", at.String()))
	must(o.Set("filename", file))
	must(o.Set("dirname", filepath.Dir(file)))
	must(o.Set("main", main))
	must(o.Set("resolve", rt.Function("resolve", func(c goja.FunctionCall) goja.Value {
		specifier := rt.toText(c.Argument(0)).String()
		if strings.HasPrefix(specifier, ".") || strings.HasPrefix(specifier, "/") {
			if u, err := at.Parse(specifier); err == nil {
				return rt.vm.ToValue(u.String())
			}
		}
		for _, name := range []string{specifier, "node:" + specifier} {
			if rt.hasModule(name) {
				return rt.vm.ToValue(name)
			}
		}
		if u, err := url.Parse(specifier); err == nil && u.Scheme != "" {
			return rt.vm.ToValue(specifier)
		}
		panic(rt.vm.NewTypeError("Cannot find package '%s' imported from %s", specifier, file))
	})))
	return o
}

func (rt *Runtime) hasModule(name string) bool {
	for _, m := range rt.o.Modules {
		if m.Name == name && name != "" {
			return true
		}
	}
	return false
}

// fileURL is the address of a file.
func fileURL(file string) *url.URL {
	slashed := filepath.ToSlash(file)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive of Windows
	}
	return &url.URL{Scheme: "file", Path: slashed}
}

// relativeTo is name as seen from a folder.
func relativeTo(folder, name string) string {
	if rel, err := filepath.Rel(folder, name); err == nil {
		return rel
	}
	return name
}

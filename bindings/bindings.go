// Package bindings gives a script its tools: every MCP tool is a native function of
// the script, made when it is first touched.
//
// A script finds the object tools with one member for each namespace, each namespace
// again as a bare global where that hides nothing, and search and describe. The names
// of the namespaces come with the run; everything else is asked of engine.Host, so
// that a script pays for what it uses:
//
//	op          head            body            answer
//	tool        {ns, name}      the arguments   body: the CallToolResult, as the server sent it;
//	                                            head: {"diagnostics": […]} if it failed and mcpx knows why
//	tools       {ns}                            head: {"tools": [{"name", "aliases"}]}
//	search      {words, limit, ns}              body: a JSON array
//	describe    {name}                          body: text
//
// The package decides what a call looks like from JavaScript. Which tool a name means,
// whether it may be called and with which arguments is decided by whoever answers.
package bindings

import (
	"mcpx/engine"
	"mcpx/internal/schema"

	"github.com/dop251/goja"
)

// Modules returns what a script with these namespaces finds. The names are the
// configuration's own.
func Modules(namespaces []string) []engine.Module {
	aliases := schema.Aliases(namespaces)
	globals := []string{"tools", "search", "describe"}
	for _, ns := range namespaces {
		globals = append(globals, ns)
		globals = append(globals, aliases[ns]...)
	}
	return []engine.Module{{
		Name:    "mcpx:tools",
		Globals: identifiers(globals), Declarations: declarations,
		Spell: func(global string) string {
			if global == "tools" || global == "search" || global == "describe" {
				return global
			}
			return "tools." + global
		},
		Meant: map[string]string{"mcp": "tools", "mcpx": "tools"},
		Make: func(rt *engine.Runtime) *goja.Object {
			b := &binding{rt: rt, vm: rt.VM(), namespaces: namespaces, made: map[string]*namespaceObject{}}
			return b.exports(aliases)
		},
	}}
}

// binding is the tools of one run.
type binding struct {
	rt         *engine.Runtime
	vm         *goja.Runtime
	namespaces []string
	made       map[string]*namespaceObject // by raw name
	results    *resultProperties           // made at the first result that is an object
}

func (b *binding) exports(aliases map[string][]string) *goja.Object {
	o := b.vm.NewObject()
	taken := map[string]bool{}
	set := func(name string, v goja.Value) {
		if !taken[name] {
			taken[name] = true
			define(o, name, v, goja.FLAG_TRUE)
		}
	}
	set("tools", b.vm.NewDynamicObject(toolsObject{b}))
	set("search", b.rt.Function("search", b.search))
	set("describe", b.rt.Function("describe", b.describe))
	for _, ns := range b.namespaces {
		set(ns, b.namespace(ns))
	}
	for _, ns := range b.namespaces {
		for _, alias := range aliases[ns] {
			set(alias, b.namespace(ns))
		}
	}
	return o
}

// identifiers returns the names that can be a bare global, without repetition.
func identifiers(names []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, n := range names {
		if !seen[n] && schema.IsIdentifier(n) {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// define sets an own property whatever its name is: "__proto__" too.
func define(o *goja.Object, name string, v goja.Value, enumerable goja.Flag) {
	if err := o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, enumerable); err != nil {
		panic(err) // only a frozen object refuses, and ours are new
	}
}

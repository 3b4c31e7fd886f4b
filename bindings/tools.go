package bindings

import (
	"encoding/json"
	"slices"

	"mcpx/internal/fault"
	"mcpx/internal/schema"

	"github.com/dop251/goja"
)

// toolsObject is the global tools: a member for each namespace.
type toolsObject struct{ b *binding }

// Get finds a namespace under its own name or an alias. Any other name gives a
// namespace whose calls say that it does not exist, so that the mistake is named
// where it is made, but one that has a server and a tool in it is an error at once, since
// a namespace cannot be called; names that JavaScript itself asks for are left to the prototype.
func (t toolsObject) Get(name string) goja.Value {
	if raw, ok := schema.Resolve(t.b.namespaces, name); ok {
		return t.b.namespace(raw)
	}
	if isLanguageName(name) {
		return nil
	}
	for i := range name {
		if name[i] != '.' {
			continue
		}
		if _, ok := schema.Resolve(t.b.namespaces, name[:i]); ok {
			panic(t.b.rt.NewError(fault.NotFoundf("no server is called %q", name).With("server", name).
				Hintf("write %s", member(member("tools", name[:i]), name[i+1:]))))
		}
	}
	return t.b.namespace(name)
}

// member is how a script writes a member of an object.
func member(object, name string) string {
	if schema.IsIdentifier(name) {
		return object + "." + name
	}
	quoted, _ := json.Marshal(name) // a string
	return object + "[" + string(quoted) + "]"
}

func (t toolsObject) Has(name string) bool {
	_, ok := schema.Resolve(t.b.namespaces, name)
	return ok
}

func (t toolsObject) Keys() []string { return sorted(t.b.namespaces) }

func (t toolsObject) Set(string, goja.Value) bool { panic(t.b.fixed("tools")) }
func (t toolsObject) Delete(string) bool          { panic(t.b.fixed("tools")) }

// fixed is the error for whoever tries to change what the configuration and the servers say.
func (b *binding) fixed(what string) goja.Value {
	return b.vm.NewTypeError("%s cannot be changed", what)
}

func (b *binding) namespace(name string) *goja.Object {
	if n, ok := b.made[name]; ok {
		return n.object
	}
	n := &namespaceObject{b: b, name: name, made: map[string]*goja.Object{}}
	n.object = b.vm.NewDynamicObject(n)
	b.made[name] = n
	return n.object
}

// namespaceObject is tools.NAME. Its members are callable without asking anybody;
// the catalog is asked for listings, and for names that JavaScript itself looks up.
type namespaceObject struct {
	b       *binding
	name    string
	object  *goja.Object // what the script has
	made    map[string]*goja.Object
	listed  bool
	tools   []string
	aliases map[string]bool // every other spelling
}

func (n *namespaceObject) Get(name string) goja.Value {
	if f, ok := n.made[name]; ok {
		return f
	}
	if isLanguageName(name) && (n.list() != nil || !n.has(name)) {
		return nil
	}
	f := n.b.tool(n.name, name)
	n.made[name] = f
	return f
}

func (n *namespaceObject) Has(name string) bool {
	n.mustList()
	return n.has(name)
}

func (n *namespaceObject) Keys() []string {
	n.mustList()
	return sorted(n.tools)
}

func (n *namespaceObject) Set(string, goja.Value) bool { panic(n.b.fixed("the tools of " + n.name)) }

func (n *namespaceObject) Delete(string) bool { panic(n.b.fixed("the tools of " + n.name)) }

func (n *namespaceObject) has(name string) bool {
	return slices.Contains(n.tools, name) || n.aliases[name]
}

func (n *namespaceObject) mustList() {
	if err := n.list(); err != nil {
		panic(n.b.rt.NewError(err))
	}
}

// list asks the catalog once. A failure is not kept: the server may come up.
func (n *namespaceObject) list() error {
	if n.listed {
		return nil
	}
	head, _, err := n.b.rt.Host().Call(n.b.rt.Context(), "tools", map[string]string{"ns": n.name}, nil)
	if err != nil {
		return err
	}
	var answer struct {
		Tools []struct {
			Name    string   `json:"name"`
			Aliases []string `json:"aliases"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(head, &answer); err != nil {
		return fault.Internalf("reading the tools of %s: %w", n.name, err)
	}
	n.listed = true
	n.aliases = map[string]bool{}
	for _, t := range answer.Tools {
		n.tools = append(n.tools, t.Name)
		for _, a := range t.Aliases {
			n.aliases[a] = true
		}
	}
	return nil
}

// isLanguageName reports whether JavaScript looks the name up by itself, so that its
// mere mention says nothing about a tool.
func isLanguageName(name string) bool {
	switch name {
	case "then", "toJSON",
		"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString",
		"toString", "valueOf", "__proto__", "__defineGetter__", "__defineSetter__",
		"__lookupGetter__", "__lookupSetter__":
		return true
	}
	return false
}

// Package xml is mcpx:xml: a script reads XML with it, as objects by name or as a tree of
// nodes in their order, and writes it.
package xml

import (
	_ "embed"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/data"
	"mcpx/stdlib/internal/native"
)

//go:embed xml.d.ts
var declarations string

// Module returns mcpx:xml.
func Module() engine.Module {
	return engine.Module{
		Name:         "mcpx:xml",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{kit: data.New(rt, "xml")}
			e := native.NewExports(rt.VM())
			e.Func("parse", 2, m.parse)
			e.Func("stringify", 2, m.stringify)
			return e.Object
		},
	}
}

type module struct{ kit *data.Kit }

// Keys of an object that are no elements.
const (
	attributePrefix = "@"
	textKey         = "#text"
)

func (m *module) parse(call goja.FunctionCall) goja.Value {
	text := m.kit.Text(call.Argument(0))
	o := m.kit.Options("parse", call.Argument(1), "arrays", "ordered")
	names, _ := o.Strings("arrays")
	arrays := map[string]bool{}
	for _, name := range names {
		arrays[name] = true
	}
	r := newReader(m.kit, text)
	if o.Bool("ordered", false) {
		r.build = m.ordered
		_, root := r.read()
		return root
	}
	r.build = func(e *element) goja.Value { return m.plain(e, arrays) }
	name, root := r.read()
	document := m.kit.VM.NewObject()
	if arrays[name] {
		root = m.kit.VM.NewArray(root)
	}
	data.Define(document, name, root)
	return document
}

func (m *module) ordered(e *element) goja.Value {
	o, attributes := m.kit.VM.NewObject(), m.kit.VM.NewObject()
	for _, a := range e.attributes {
		data.Define(attributes, a.name, m.kit.VM.ToValue(a.value))
	}
	items := make([]goja.Value, len(e.content))
	for i, c := range e.content {
		if items[i] = c.value; c.name == "" {
			items[i] = m.kit.VM.ToValue(c.text)
		}
	}
	data.Define(o, "name", m.kit.VM.ToValue(e.name))
	data.Define(o, "attributes", attributes)
	data.Define(o, "children", m.kit.List(items))
	return o
}

func (m *module) plain(e *element, arrays map[string]bool) goja.Value {
	text, inner := e.text()
	if !inner && len(e.attributes) == 0 {
		return m.kit.VM.ToValue(text)
	}
	o := m.kit.VM.NewObject()
	for _, a := range e.attributes {
		data.Define(o, attributePrefix+a.name, m.kit.VM.ToValue(a.value))
	}
	byName := map[string][]goja.Value{}
	var names []string
	for _, c := range e.content {
		if c.name != "" {
			if byName[c.name] == nil {
				names = append(names, c.name)
			}
			byName[c.name] = append(byName[c.name], c.value)
		}
	}
	for _, name := range names {
		values := byName[name]
		if len(values) == 1 && !arrays[name] {
			data.Define(o, name, values[0])
		} else {
			data.Define(o, name, m.kit.List(values))
		}
	}
	if text != "" {
		data.Define(o, textKey, m.kit.VM.ToValue(text))
	}
	return o
}

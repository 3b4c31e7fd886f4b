// Package html is mcpx:html: pages read as browsers read them, searched by CSS
// selectors, and turned into what a script works with: text, links, tables, Markdown.
package html

import (
	_ "embed"
	"net/url"
	"strings"
	"weak"

	"github.com/andybalholm/cascadia"
	"github.com/dop251/goja"
	"golang.org/x/net/html"

	"mcpx/engine"
	"mcpx/stdlib/internal/data"
	"mcpx/stdlib/internal/native"
)

//go:embed html.d.ts
var declarations string

// Module returns mcpx:html.
func Module() engine.Module {
	return engine.Module{
		Name:         "mcpx:html",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{kit: data.New(rt, "html"), vm: rt.VM(), slot: native.NewSlot[element](), selectors: map[string]cascadia.SelectorGroup{}}
			e := native.NewExports(rt.VM())
			e.Func("parse", 1, m.parse)
			e.Func("escape", 1, func(call goja.FunctionCall) goja.Value {
				return m.vm.ToValue(html.EscapeString(native.String(m.vm, call.Argument(0)).String()))
			})
			e.Func("unescape", 1, func(call goja.FunctionCall) goja.Value {
				return m.vm.ToValue(html.UnescapeString(native.String(m.vm, call.Argument(0)).String()))
			})
			return e.Object
		},
	}
}

type module struct {
	kit       *data.Kit
	vm        *goja.Runtime
	class     *native.Class
	slot      *native.Slot[element]
	selectors map[string]cascadia.SelectorGroup
}

// page is one parsed text. It holds its objects weakly, since they hold it.
type page struct {
	objects map[*html.Node]weak.Pointer[goja.Object]
}

// element is what an object stands for.
type element struct {
	page *page
	node *html.Node
}

func (m *module) parse(call goja.FunctionCall) goja.Value {
	text := m.kit.Text(call.Argument(0))
	document, err := html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		panic(m.kit.RangeError(strings.TrimPrefix(err.Error(), "html: ")))
	}
	if m.class == nil {
		m.class = m.define()
	}
	for n := document.FirstChild; n != nil; n = n.NextSibling {
		if n.Type == html.ElementNode {
			return m.object(&page{map[*html.Node]weak.Pointer[goja.Object]{}}, n)
		}
	}
	return goja.Null() // a document always has an html element
}

// object returns the one object of a node, null for none.
func (m *module) object(p *page, n *html.Node) goja.Value {
	if n == nil || n.Type != html.ElementNode {
		return goja.Null()
	}
	if o := p.objects[n].Value(); o != nil {
		return o
	}
	o := m.class.New()
	p.objects[n] = weak.Make(o)
	m.slot.Set(o, element{p, n})
	return o
}

func (m *module) objects(p *page, nodes []*html.Node) goja.Value {
	items := make([]goja.Value, len(nodes))
	for i, n := range nodes {
		items[i] = m.object(p, n)
	}
	return m.kit.List(items)
}

// this is the element that a method is called on.
func (m *module) this(v goja.Value) element {
	e, ok := m.slot.Get(v)
	if !ok {
		panic(m.kit.TypeError("this is no element"))
	}
	return e
}

// define makes the class of elements.
func (m *module) define() *native.Class {
	c := native.NewAbstract(m.vm, "Element")
	c.Tag("Element")
	text := func(name string, of func(n *html.Node) string) {
		c.Getter(name, func(this goja.Value) goja.Value { return m.vm.ToValue(of(m.this(this).node)) })
	}
	text("tag", func(n *html.Node) string { return n.Data })
	text("text", visible)
	text("textContent", content)
	text("innerHTML", func(n *html.Node) string { return m.render(n, false) })
	text("outerHTML", func(n *html.Node) string { return m.render(n, true) })
	c.Getter("attributes", func(this goja.Value) goja.Value { return m.attributes(m.this(this).node) })
	node := func(name string, of func(n *html.Node) *html.Node) {
		c.Getter(name, func(this goja.Value) goja.Value {
			e := m.this(this)
			n := of(e.node)
			for n != nil && n.Type != html.ElementNode && n.Type != html.DocumentNode {
				n = of(n)
			}
			return m.object(e.page, n)
		})
	}
	node("parent", func(n *html.Node) *html.Node { return n.Parent })
	node("next", func(n *html.Node) *html.Node { return n.NextSibling })
	node("previous", func(n *html.Node) *html.Node { return n.PrevSibling })
	c.Getter("children", func(this goja.Value) goja.Value {
		e := m.this(this)
		return m.objects(e.page, elements(e.node))
	})

	attribute := c.Method("attribute", 1, func(call goja.FunctionCall) goja.Value {
		name := strings.ToLower(native.String(m.vm, call.Argument(0)).String())
		for _, a := range m.this(call.This).node.Attr {
			if strings.ToLower(attributeName(a)) == name {
				return m.vm.ToValue(a.Val)
			}
		}
		return goja.Null()
	})
	query := c.Method("query", 1, func(call goja.FunctionCall) goja.Value {
		e, s := m.this(call.This), m.selector(call.Argument(0))
		return m.object(e.page, cascadia.Query(e.node, s))
	})
	queryAll := c.Method("queryAll", 1, func(call goja.FunctionCall) goja.Value {
		e, s := m.this(call.This), m.selector(call.Argument(0))
		return m.objects(e.page, cascadia.QueryAll(e.node, s))
	})
	c.Alias("getAttribute", attribute)
	c.Alias("querySelector", query)
	c.Alias("querySelectorAll", queryAll)
	c.Method("matches", 1, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(m.selector(call.Argument(0)).Match(m.this(call.This).node))
	})
	c.Method("closest", 1, func(call goja.FunctionCall) goja.Value {
		e, s := m.this(call.This), m.selector(call.Argument(0))
		for n := e.node; n != nil; n = n.Parent {
			if n.Type == html.ElementNode && s.Match(n) {
				return m.object(e.page, n)
			}
		}
		return goja.Null()
	})
	c.Method("links", 0, m.links)
	c.Method("table", 0, func(call goja.FunctionCall) goja.Value {
		e := m.this(call.This)
		tables := tables(e.node)
		if len(tables) == 0 {
			return m.vm.NewArray()
		}
		return m.rows(tables[0])
	})
	c.Method("tables", 0, func(call goja.FunctionCall) goja.Value {
		var items []goja.Value
		for _, t := range tables(m.this(call.This).node) {
			items = append(items, m.rows(t))
		}
		return m.kit.List(items)
	})
	c.Method("toMarkdown", 0, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(markdown(m.this(call.This).node))
	})
	c.Method("toString", 0, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(m.render(m.this(call.This).node, true))
	})
	c.Inspected(0, func(this goja.Value) *goja.Object {
		o := m.vm.NewObject()
		if e, ok := m.slot.Get(this); ok {
			native.Must(o.Set("tag", e.node.Data))
			native.Must(o.Set("attributes", m.attributes(e.node)))
			native.Must(o.Set("text", visible(e.node)))
		}
		return o
	})
	return c
}

// maxSelectors bounds how many selectors are kept for their next use.
const maxSelectors = 256

func (m *module) selector(v goja.Value) cascadia.SelectorGroup {
	text := native.Text(m.vm, v, "selector").String()
	if s, ok := m.selectors[text]; ok {
		return s
	}
	if len(text) > 10_000 {
		panic(m.kit.RangeError("a selector of more than 10000 characters"))
	}
	s, err := cascadia.ParseGroup(text)
	if err != nil {
		panic(m.kit.SyntaxError(1, 1, "the selector "+text+" cannot be read: "+err.Error()))
	}
	if len(m.selectors) < maxSelectors {
		m.selectors[text] = s
	}
	return s
}

func (m *module) links(call goja.FunctionCall) goja.Value {
	e := m.this(call.This)
	var base *url.URL
	if v := call.Argument(0); !goja.IsUndefined(v) {
		var err error
		if base, err = url.Parse(native.String(m.vm, v).String()); err != nil || !base.IsAbs() {
			panic(native.InvalidValue(m.vm, "base", v, "must be an absolute URL"))
		}
	}
	var items []goja.Value
	walk(e.node, func(n *html.Node) bool {
		href, ok := attributeOf(n, "href")
		if n.Data != "a" && n.Data != "area" || !ok {
			return true
		}
		href = strings.TrimSpace(href)
		if base != nil {
			if target, err := base.Parse(href); err == nil {
				href = target.String()
			}
		}
		o := m.vm.NewObject()
		native.Must(o.Set("text", visible(n)))
		native.Must(o.Set("href", href))
		items = append(items, o)
		return true
	})
	return m.kit.List(items)
}

func (m *module) rows(table *html.Node) goja.Value {
	var items []goja.Value
	for _, row := range cells(table) {
		items = append(items, m.kit.Strings(row))
	}
	return m.kit.List(items)
}

func (m *module) attributes(n *html.Node) *goja.Object {
	o := m.vm.NewObject()
	for _, a := range n.Attr {
		data.Define(o, attributeName(a), m.vm.ToValue(a.Val))
	}
	return o
}

// render writes a node as HTML, or only what is inside.
func (m *module) render(n *html.Node, whole bool) string {
	var b strings.Builder
	var err error
	if whole {
		err = html.Render(&b, n)
	} else {
		for c := n.FirstChild; c != nil && err == nil; c = c.NextSibling {
			err = html.Render(&b, c)
		}
	}
	if err != nil {
		panic(m.kit.TypeError("%s", err))
	}
	return b.String()
}

package bindings

import (
	"encoding/json"
	"slices"

	"mcpx/mcp"

	"github.com/dop251/goja"
)

// resultProperties holds what every result object of a run shares.
type resultProperties struct {
	setters map[string]goja.Value
}

// hide puts the whole answer behind a result: raw, content, text and toString, not
// enumerable, decoded only when read. A member of the server's own wins, and a script
// may assign over them.
func (b *binding) hide(o *goja.Object, r *mcp.Result) {
	if b.results == nil {
		b.results = b.newResultProperties()
	}
	own := ownNames(o)
	accessor := func(name string, get func() goja.Value) {
		if slices.Contains(own, name) {
			return
		}
		var value goja.Value
		getter := b.rt.Function("get "+name, func(goja.FunctionCall) goja.Value {
			if value == nil {
				value = get()
			}
			return value
		})
		must(o.DefineAccessorProperty(name, getter, b.results.setters[name], goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
	accessor("raw", func() goja.Value { return b.decode(r.Raw) })
	accessor("content", func() goja.Value {
		content, err := json.Marshal(append([]mcp.Raw{}, r.Content...))
		must(err)
		return b.decode(content)
	})
	accessor("text", func() goja.Value { return b.vm.ToValue(r.Text()) })
	if !slices.Contains(own, "toString") {
		define(o, "toString", b.rt.Function("toString", func(goja.FunctionCall) goja.Value {
			if text := r.Text(); text != "" {
				return b.vm.ToValue(text)
			}
			v, _, _ := r.Value()
			return b.vm.ToValue(string(v))
		}), goja.FLAG_FALSE)
	}
}

func (b *binding) newResultProperties() *resultProperties {
	p := &resultProperties{setters: map[string]goja.Value{}}
	for _, name := range []string{"raw", "content", "text"} {
		p.setters[name] = b.rt.Function("set "+name, func(call goja.FunctionCall) goja.Value {
			if o, ok := call.This.(*goja.Object); ok {
				define(o, name, call.Argument(0), goja.FLAG_TRUE)
			}
			return goja.Undefined()
		})
	}
	return p
}

// ownNames lists the members that a server gave; an array of JSON has none with a name.
func ownNames(o *goja.Object) []string {
	if o.ClassName() == "Array" {
		return nil
	}
	return o.GetOwnPropertyNames()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

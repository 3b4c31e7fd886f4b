package xml

import (
	"encoding/base64"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/data"
	"mcpx/stdlib/internal/native"
)

func (m *module) stringify(call goja.FunctionCall) goja.Value {
	o := m.kit.Options("stringify", call.Argument(1), "indent", "declaration", "ordered")
	w := &writer{kit: m.kit, indent: o.Integer("indent", 0, 0, 10)}
	if o.Bool("declaration", false) {
		w.out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>`)
		w.newline(0)
	}
	plain, _ := m.kit.Plain(call.Argument(0))
	document, ok := plain.(data.Object)
	if !ok {
		panic(native.InvalidType(m.kit.VM, "value", "of type object", call.Argument(0)))
	}
	if o.Bool("ordered", false) {
		w.node(document, 0, false)
	} else {
		list, isList := []any(nil), false
		if len(document) == 1 {
			list, isList = document[0].Value.([]any)
		}
		if len(document) != 1 || isList && len(list) != 1 {
			panic(m.kit.TypeError("a document is an object of one member, its root element"))
		}
		w.member(document[0].Key, document[0].Value, 0)
	}
	w.newline(0)
	return m.kit.VM.ToValue(w.out.String())
}

// writer writes one document.
type writer struct {
	kit    *data.Kit
	indent int
	out    strings.Builder
}

// newline goes to a new line, if there are lines.
func (w *writer) newline(depth int) {
	if w.indent > 0 {
		w.out.WriteString("\n" + strings.Repeat(" ", w.indent*depth))
	}
}

// member writes the elements of a name.
func (w *writer) member(name string, v any, depth int) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for i, item := range list {
		if i > 0 {
			w.newline(depth)
		}
		if _, nested := item.([]any); nested {
			panic(w.kit.TypeError("%s is a list in a list, which XML cannot say", name))
		}
		w.element(name, item, depth)
	}
}

func (w *writer) element(name string, v any, depth int) {
	w.out.WriteString("<" + w.name(name))
	o, ok := v.(data.Object)
	if !ok {
		w.close(name, w.scalar(name, v))
		return
	}
	text, inner := "", data.Object{}
	for _, m := range o {
		switch attribute, isAttribute := strings.CutPrefix(m.Key, attributePrefix); {
		case isAttribute:
			if m.Value != nil {
				w.attribute(attribute, m.Value)
			}
		case m.Key == textKey:
			text = w.scalar(name, m.Value)
		default:
			if list, ok := m.Value.([]any); !ok || len(list) > 0 {
				inner = append(inner, m)
			}
		}
	}
	if len(inner) == 0 {
		w.close(name, text)
		return
	}
	w.out.WriteString(">" + escape(text, false))
	for _, m := range inner {
		w.newline(depth + 1)
		w.member(m.Key, m.Value, depth+1)
	}
	w.newline(depth)
	w.out.WriteString("</" + name + ">")
}

// node writes a Node. Nothing may be added beside text, so lines end there.
func (w *writer) node(o data.Object, depth int, inline bool) {
	var name string
	var attributes data.Object
	var children []any
	for _, m := range o {
		ok := true
		switch m.Key {
		case "name":
			name, ok = m.Value.(string)
		case "attributes":
			attributes, ok = m.Value.(data.Object)
		case "children":
			children, ok = m.Value.([]any)
		}
		if !ok && m.Value != nil {
			panic(w.kit.TypeError("a node has a name that is text, attributes that are an object and children that are a list"))
		}
	}
	w.out.WriteString("<" + w.name(name))
	for _, a := range attributes {
		if a.Value != nil {
			w.attribute(a.Key, a.Value)
		}
	}
	if len(children) == 0 {
		w.close(name, "")
		return
	}
	w.out.WriteByte('>')
	for _, c := range children {
		if _, ok := c.(data.Object); !ok {
			inline = true
		}
	}
	for _, c := range children {
		if node, ok := c.(data.Object); ok {
			if !inline {
				w.newline(depth + 1)
			}
			w.node(node, depth+1, inline)
		} else {
			w.out.WriteString(escape(w.scalar(name, c), false))
		}
	}
	if !inline {
		w.newline(depth)
	}
	w.out.WriteString("</" + name + ">")
}

// close ends a start tag, and the element with what text it has.
func (w *writer) close(name, text string) {
	if text == "" {
		w.out.WriteString("/>")
		return
	}
	w.out.WriteString(">" + escape(text, false) + "</" + name + ">")
}

func (w *writer) attribute(name string, v any) {
	w.out.WriteString(" " + w.name(name) + `="` + escape(w.scalar(name, v), true) + `"`)
}

// name checks a name.
func (w *writer) name(s string) string {
	for i, r := range s {
		first := unicode.IsLetter(r) || r == '_' || r == ':'
		if !first && (i == 0 || !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && r != '-' && r != '.' && r != '·') {
			panic(w.kit.TypeError("%q is no name for XML", s))
		}
	}
	if s == "" {
		panic(w.kit.TypeError("a name is empty"))
	}
	return s
}

func (w *writer) scalar(name string, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return w.kit.Number(v)
	case *big.Int:
		return v.String()
	case time.Time:
		return data.Timestamp(v)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	}
	panic(w.kit.TypeError("%s is an object where XML has text", name))
}

// escape writes text so that it is read back. What XML cannot hold becomes U+FFFD.
func escape(s string, attribute bool) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '\r' || attribute && (r == '\n' || r == '\t'):
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		case r == '"' && attribute:
			b.WriteString("&quot;")
		case r < ' ' && r != '\n' && r != '\t', r == 0xFFFE, r == 0xFFFF:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

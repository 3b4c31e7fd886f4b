package engine

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// loss is something in a value that JSON cannot hold.
type loss struct {
	what    string // with its article: "a Map"
	path    string // how to get there: ".a[0]"; empty for the value itself
	shown   string // what stands there instead; empty for nothing
	instead string // what the script could return
}

// note is a sentence about the loss.
func (l loss) note() string {
	text := "the value of the script is " + l.what
	if l.path != "" {
		text = "the value of the script has " + l.what + " at " + l.path
	}
	text += ", which JSON cannot hold: "
	if l.shown == "" {
		text += "it is left out"
	} else {
		text += "it is shown as " + l.shown
	}
	return text + "; " + l.instead
}

// lose tells of a value that is written as what the buffer has from start on.
func (e *encoder) lose(v goja.Value, key string, index, start int) {
	if e.lost == nil {
		return
	}
	l := loss{path: e.path(key, index), shown: string(e.buf[start:])}
	const most = 40
	if len(l.shown) > most {
		l.shown = "an object without it"
	}
	switch o := v.(type) {
	case *goja.Symbol:
		l.what, l.instead = "a symbol", "return its description"
	case *goja.Object:
		if _, callable := goja.AssertFunction(o); callable {
			l.what, l.instead = "a function", "call it, or leave it out"
			break
		}
		class, instead := "object", "return something else"
		_ = e.rt.vm.Try(func() { class, instead = classOf(o) }) // what throws keeps the words above
		l.what, l.instead = "a "+class, instead
		if strings.ContainsAny(class[:1], "AEIOUaeiou") {
			l.what = "an " + class
		}
	}
	if l.shown == "" && index >= 0 {
		l.shown = "null"
	}
	e.lost(l)
}

// classOf names the class of an object, and what to return instead of it.
func classOf(o *goja.Object) (class, instead string) {
	class, instead = "object of a class", "return a plain object with what matters of it, or give it a toJSON method"
	if c, ok := o.Get("constructor").(*goja.Object); ok && text(c.Get("name")) != "" && text(c.Get("name")) != "Object" {
		class = text(c.Get("name"))
	} else if tag := o.GetSymbol(goja.SymToStringTag); isText(tag) && tag.String() != "" {
		class = tag.String()
	}
	for _, known := range []struct{ class, instead string }{
		{"Map", "return Object.fromEntries(map)"},
		{"Set", "return [...set]"},
		{"Promise", "await it"},
		{"RegExp", "return String(it)"},
		{"Headers", "return Object.fromEntries(headers)"},
		{"Response", "return await response.json() or .text()"},
	} {
		if class == known.class {
			return class, known.instead
		}
	}
	switch {
	case o.ClassName() == "Error":
		instead = "return its message, or throw it"
	case strings.HasSuffix(class, "Iterator") || class == "Generator":
		instead = "return [...it]"
	}
	return class, instead
}

// isHollow reports whether o, which was written as an object without members, has some
// that JSON does not see: it is of a class.
func (e *encoder) isHollow(o *goja.Object) bool {
	proto := o.Prototype()
	return proto != nil && proto != e.rt.intrinsics.objectPrototype
}

// path is how to get to a member or element of what is being written.
func (e *encoder) path(key string, index int) string {
	var b strings.Builder
	step := func(key string, index int) {
		if index >= 0 {
			b.WriteString("[" + strconv.Itoa(index) + "]")
		} else {
			b.WriteString("." + key)
		}
	}
	if len(e.stack) == 0 {
		return ""
	}
	for _, n := range e.stack[1:] {
		step(n.key, n.index)
	}
	step(key, index)
	return b.String()
}

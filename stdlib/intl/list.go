package intl

import (
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// listFormat is an Intl.ListFormat.
type listFormat struct {
	locale      locale
	kind, style string
	between     []string // as in wordData
}

// maxList bounds what an iterable may yield.
const maxList = 1 << 20

func (m *module) listFormatClass() goja.Value {
	slot := native.NewSlot[*listFormat]()
	c := m.service("ListFormat", 0, false, func(object *goja.Object, locales, opts goja.Value) {
		requested := m.requested(locales)
		o := m.strict("Intl.ListFormat", opts)
		o.matcher()
		l := &listFormat{locale: m.resolve(requested, nil, nil)}
		l.kind = o.text("type", "conjunction", "conjunction", "disjunction", "unit")
		l.style = o.text("style", "long", "long", "short", "narrow")
		l.between = load[wordData](l.locale.source, "words").List[l.kind+" "+l.style]
		slot.Set(object, l)
	})
	format := func(call goja.FunctionCall, method string) []part {
		l := receiver(m, slot, call.This, "Intl.ListFormat.prototype."+method)
		var items []string
		if v := call.Argument(0); defined(v) {
			m.rt.ForOf(v, func(item goja.Value) bool {
				if !goja.IsString(item) {
					panic(m.vm.NewTypeError("Iterable yielded " + item.String() + " which is not a string"))
				}
				if len(items) == maxList {
					panic(m.rangeError("Invalid array length"))
				}
				items = append(items, item.String())
				return true
			})
		}
		return l.parts(items)
	}
	c.Method("format", 1, func(call goja.FunctionCall) goja.Value { return m.vm.ToValue(join(format(call, "format"))) })
	c.Method("formatToParts", 1, func(call goja.FunctionCall) goja.Value { return m.partsOf(format(call, "formatToParts")) })
	c.Method("resolvedOptions", 0, func(call goja.FunctionCall) goja.Value {
		l := receiver(m, slot, call.This, "Intl.ListFormat.prototype.resolvedOptions")
		return m.object(func(add func(name string, value any)) {
			add("locale", l.locale.tag.String())
			add("type", l.kind)
			add("style", l.style)
		})
	})
	return c.Constructor
}

func (l *listFormat) parts(items []string) []part {
	var parts []part
	for i, item := range items {
		if i > 0 {
			text := ""
			switch {
			case len(items) == 2:
				text = l.between[0]
			case i == len(items)-1:
				text = l.between[3]
			case i == 1:
				text = l.between[1]
			default:
				text = l.between[2]
			}
			if i == len(items)-1 {
				text = l.before(text, item)
			}
			parts = append(parts, part{kind: "literal", text: text})
		}
		parts = append(parts, part{kind: "element", text: item})
	}
	if len(parts) == 0 {
		return []part{}
	}
	return parts
}

// before changes the Spanish words for and and or where the next word begins with their
// sound.
func (l *listFormat) before(text, next string) string {
	if l.locale.tag.language != "es" {
		return text
	}
	next = strings.ToLower(next)
	begins := func(starts ...string) bool {
		for _, s := range starts {
			if strings.HasPrefix(next, s) {
				return true
			}
		}
		return false
	}
	switch {
	case strings.HasSuffix(text, " y ") && begins("i", "í", "hi", "hí") && !begins("hia", "hie"):
		return strings.TrimSuffix(text, " y ") + " e "
	case strings.HasSuffix(text, " o ") && (begins("o", "ó", "ho", "hó", "8") || next == "11" || begins("11 ", "11.000")):
		return strings.TrimSuffix(text, " o ") + " u "
	}
	return text
}

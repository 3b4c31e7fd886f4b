package intl

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// relativeTimeFormat is an Intl.RelativeTimeFormat.
type relativeTimeFormat struct {
	locale locale
	data   *wordData
	style  string
	auto   bool
	number *numberFormat
}

func (m *module) relativeTimeFormatClass() goja.Value {
	slot := native.NewSlot[*relativeTimeFormat]()
	c := m.service("RelativeTimeFormat", 0, false, func(object *goja.Object, locales, opts goja.Value) {
		requested := m.requested(locales)
		o := m.coerced("Intl.RelativeTimeFormat", opts)
		o.matcher()
		chosen := map[string]string{}
		o.numbering(chosen)
		r := &relativeTimeFormat{}
		r.locale = m.resolve(requested, chosen, func(_, v string) bool { return knownNumbering(v) }, "nu")
		r.style = o.text("style", "long", "long", "short", "narrow")
		r.auto = o.text("numeric", "always", "always", "auto") == "auto"
		r.data = load[wordData](r.locale.source, "words")
		r.number = m.newNumberFormat(m.vm.ToValue(r.locale.tag.String()), nil)
		slot.Set(object, r)
	})
	format := func(call goja.FunctionCall, method string) (parts []part, unit string) {
		name := "Intl.RelativeTimeFormat.prototype." + method
		r := receiver(m, slot, call.This, name)
		value := m.number(call.Argument(0))
		unit = native.String(m.vm, call.Argument(1)).String()
		singular := strings.TrimSuffix(unit, "s")
		data, ok := r.data.Relative[singular+" "+r.style]
		if !ok {
			panic(m.rangeError("Invalid unit argument for " + name + "() '" + unit + "'"))
		}
		d := decimalOf(value)
		if d.nan || d.inf {
			panic(m.rangeError("Value need to be finite number for " + name + "()"))
		}
		return r.parts(data, d), singular
	}
	c.Method("format", 2, func(call goja.FunctionCall) goja.Value {
		parts, _ := format(call, "format")
		return m.vm.ToValue(join(parts))
	})
	c.Method("formatToParts", 2, func(call goja.FunctionCall) goja.Value {
		parts, unit := format(call, "formatToParts")
		list := make([]any, len(parts))
		for i, p := range parts {
			list[i] = m.object(func(add func(name string, value any)) {
				add("type", p.kind)
				add("value", p.text)
				if p.kind != "literal" {
					add("unit", unit)
				}
			})
		}
		return m.vm.NewArray(list...)
	})
	c.Method("resolvedOptions", 0, func(call goja.FunctionCall) goja.Value {
		r := receiver(m, slot, call.This, "Intl.RelativeTimeFormat.prototype.resolvedOptions")
		return m.object(func(add func(name string, value any)) {
			add("locale", r.locale.tag.String())
			add("style", r.style)
			numeric := "always"
			if r.auto {
				numeric = "auto"
			}
			add("numeric", numeric)
			add("numberingSystem", r.number.numbering)
		})
	})
	return c.Constructor
}

func (r *relativeTimeFormat) parts(data relativeData, d decimal) []part {
	if r.auto {
		key := strconv.FormatFloat(d.float(), 'f', -1, 64)
		if name, ok := data.named[key]; ok {
			return []part{{kind: "literal", text: name}}
		}
	}
	patterns := data.future
	if d.negative {
		patterns = data.past
	}
	s := r.number.scale(d.abs())
	whole, fraction := s.text(1)
	number := r.number.parts(d.abs())
	before, after, found := strings.Cut(patterns.of(pluralCategory(r.locale.source, false, whole, fraction)), "{0}")
	var parts []part
	if before != "" {
		parts = append(parts, part{kind: "literal", text: before})
	}
	if found {
		parts = append(parts, number...)
	}
	if after != "" {
		parts = append(parts, part{kind: "literal", text: after})
	}
	return parts
}

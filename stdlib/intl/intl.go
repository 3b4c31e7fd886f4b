// Package intl is Intl, the methods of the language's own prototypes that depend on the
// locale, and the parts of Date that goja gets wrong.
//
// What is known of some fifty languages and their regions was read off the ICU of the Node
// whose behaviour this is and is packed into the program (see generate.mjs); the order of
// texts and the plural rules are those of golang.org/x/text, segments of text those of
// github.com/rivo/uniseg, and time zones those of Go. A locale of a language that
// is not among them falls back to the usual one, as ICU does with a language it does not
// know. Calendars are those that count Gregorian months and days: gregory, iso8601,
// buddhist, japanese and roc.
package intl

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

//go:embed intl.d.ts
var declarations string

// Module returns the global Intl. Where a runtime has it, the methods of numbers, texts,
// dates and lists that depend on the locale are right as well.
func Module() engine.Module {
	return engine.Module{
		Globals:      []string{"Intl"},
		Declarations: declarations,
		Init:         install,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := newModule(rt)
			exports := native.NewExports(rt.VM())
			exports.Value("Intl", m.namespace())
			native.Hide(exports.Object, hidden, rt.VM().ToValue(m))
			return exports.Object
		},
	}
}

// hidden is where the exports, which no script sees, keep the module for the methods.
const hidden = "module"

// of returns the module of a runtime.
func of(rt *engine.Runtime) *module {
	return rt.Globals("Intl").Get(hidden).Export().(*module)
}

// module is Intl in one runtime.
type module struct {
	rt              *engine.Runtime
	vm              *goja.Runtime
	rangeErrorClass *goja.Object
	usualTag        tag

	locales         *native.Slot[tag]
	numberFormats   *native.Slot[*numberFormat]
	dateTimeFormats *native.Slot[*dateTimeFormat]
	cached          cache
	joining         []*goja.Object // lists whose toLocaleString is running
}

func newModule(rt *engine.Runtime) *module {
	return &module{
		rt:              rt,
		vm:              rt.VM(),
		rangeErrorClass: rt.VM().Get("RangeError").(*goja.Object),
		locales:         native.NewSlot[tag](),
		numberFormats:   native.NewSlot[*numberFormat](),
		dateTimeFormats: native.NewSlot[*dateTimeFormat](),
	}
}

func (m *module) namespace() *goja.Object {
	o := m.vm.NewObject()
	native.Must(o.DefineDataPropertySymbol(goja.SymToStringTag, m.vm.ToValue("Intl"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	native.Hide(o, "getCanonicalLocales", native.Func(m.vm, "getCanonicalLocales", 1, func(call goja.FunctionCall) goja.Value {
		var list []string
		for _, t := range m.requested(call.Argument(0)) {
			list = append(list, t.String())
		}
		return m.strings(list)
	}))
	native.Hide(o, "supportedValuesOf", native.Func(m.vm, "supportedValuesOf", 1, m.supportedValuesOf))
	for _, class := range []struct {
		name string
		make func() goja.Value
	}{
		{"DateTimeFormat", m.dateTimeFormatClass},
		{"NumberFormat", m.numberFormatClass},
		{"Collator", m.collatorClass},
		{"PluralRules", m.pluralRulesClass},
		{"RelativeTimeFormat", m.relativeTimeFormatClass},
		{"ListFormat", m.listFormatClass},
		{"Locale", m.localeClass},
		{"DisplayNames", m.displayNamesClass},
		{"Segmenter", m.segmenterClass},
	} {
		m.lazy(o, class.name, class.make)
	}
	return o
}

// lazy adds a class that is made when it is first read. Like all of Intl's it does not
// show up in enumeration.
func (m *module) lazy(o *goja.Object, name string, value func() goja.Value) {
	settle := func(v goja.Value) { native.Hide(o, name, v) }
	get := native.Func(m.vm, "get "+name, 0, func(goja.FunctionCall) goja.Value {
		v := value()
		settle(v)
		return v
	})
	set := native.Func(m.vm, "set "+name, 1, func(call goja.FunctionCall) goja.Value {
		settle(call.Argument(0))
		return nil
	})
	native.Must(o.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

func (m *module) supportedValuesOf(call goja.FunctionCall) goja.Value {
	w := world()
	switch name := native.String(m.vm, call.Argument(0)).String(); name {
	case "calendar":
		return m.strings(strings.Fields(w.Calendars))
	case "collation":
		return m.strings(strings.Fields(w.Collations))
	case "currency":
		return m.strings(strings.Fields(w.Currencies))
	case "numberingSystem":
		return m.strings(strings.Fields(w.NumberingSystems))
	case "unit":
		return m.strings(strings.Fields(w.Units))
	case "timeZone":
		var zones []string
		for line := range strings.SplitSeq(w.Aliases, "\n") {
			zone, _, _ := strings.Cut(line, " ")
			zones = append(zones, zone)
		}
		return m.strings(zones)
	default:
		panic(m.rangeError("Invalid key : " + name))
	}
}

// service makes one of the classes of Intl, whose constructors take locales and options.
func (m *module) service(name string, length int, callable bool, construct func(o *goja.Object, locales, options goja.Value)) *native.Class {
	c := native.NewClass(m.vm, name, length, func(call goja.ConstructorCall) *goja.Object {
		construct(call.This, call.Argument(0), call.Argument(1))
		return call.This
	}).Hidden()
	if callable {
		c.Callable()
	}
	c.Tag("Intl." + name)
	if name != "Locale" {
		m.supportedLocalesOf(c)
	}
	return c
}

// receiver is the value behind this.
func receiver[T any](m *module, slot *native.Slot[T], this goja.Value, method string) T {
	v, ok := slot.Get(this)
	if !ok {
		panic(m.vm.NewTypeError("Method " + method + " called on incompatible receiver " + describe(this)))
	}
	return v
}

// describe is how V8 names a value in an error.
func describe(v goja.Value) string {
	if o, ok := v.(*goja.Object); ok {
		return "#<" + o.ClassName() + ">"
	}
	if v == nil {
		return "undefined"
	}
	return v.String()
}

// object makes an object of members in order.
func (m *module) object(fill func(add func(name string, value any))) *goja.Object {
	o := m.vm.NewObject()
	fill(func(name string, value any) { native.Must(o.Set(name, value)) })
	return o
}

func (m *module) strings(list []string) *goja.Object {
	items := make([]any, len(list))
	for i, s := range list {
		items[i] = s
	}
	return m.vm.NewArray(items...)
}

// partsOf is what formatToParts returns.
func (m *module) partsOf(parts []part) *goja.Object {
	list := make([]any, len(parts))
	for i, p := range parts {
		list[i] = m.object(func(add func(name string, value any)) {
			add("type", p.kind)
			add("value", p.text)
			if p.source != "" {
				add("source", p.source)
			}
		})
	}
	return m.vm.NewArray(list...)
}

func itoa(n int) string { return strconv.Itoa(n) }

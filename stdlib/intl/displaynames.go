package intl

import (
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// displayNames is an Intl.DisplayNames.
type displayNames struct {
	locale                              locale
	style, kind, fallback, languageForm string
}

var displayKinds = []string{"language", "region", "script", "currency", "calendar", "dateTimeField"}

func (m *module) displayNamesClass() goja.Value {
	slot := native.NewSlot[*displayNames]()
	c := m.service("DisplayNames", 2, false, func(object *goja.Object, locales, opts goja.Value) {
		requested := m.requested(locales)
		if !defined(opts) {
			panic(m.vm.NewTypeError("invalid_argument"))
		}
		o := m.strict("Intl.DisplayNames", opts)
		o.matcher()
		d := &displayNames{locale: m.resolve(requested, nil, nil)}
		d.style = o.text("style", "long", "narrow", "short", "long")
		d.kind = o.text("type", "", displayKinds...)
		if d.kind == "" {
			panic(m.vm.NewTypeError("Required option \"type\" must not be undefined"))
		}
		d.fallback = o.text("fallback", "code", "code", "none")
		d.languageForm = o.text("languageDisplay", "dialect", "dialect", "standard")
		slot.Set(object, d)
	})
	c.Method("of", 1, func(call goja.FunctionCall) goja.Value {
		d := receiver(m, slot, call.This, "Intl.DisplayNames.prototype.of")
		code, name, ok := d.of(native.String(m.vm, call.Argument(0)).String())
		switch {
		case !ok:
			panic(m.rangeError("invalid_argument"))
		case name == "" && d.fallback == "none":
			return goja.Undefined()
		case name == "":
			return m.vm.ToValue(code)
		}
		return m.vm.ToValue(name)
	})
	c.Method("resolvedOptions", 0, func(call goja.FunctionCall) goja.Value {
		d := receiver(m, slot, call.This, "Intl.DisplayNames.prototype.resolvedOptions")
		return m.object(func(add func(name string, value any)) {
			add("locale", d.locale.tag.String())
			add("style", d.style)
			add("type", d.kind)
			add("fallback", d.fallback)
			if d.kind == "language" {
				add("languageDisplay", d.languageForm)
			}
		})
	})
	return c.Constructor
}

// of names a code. It is false for what is no code, and the name is empty if there is
// none.
func (d *displayNames) of(s string) (code, name string, ok bool) {
	data := load[nameData](d.locale.source, "names")
	pick := func(code string, short map[string]string, long map[string]string) string {
		if name := short[code]; name != "" && d.style != "long" {
			return name
		}
		return long[code]
	}
	switch d.kind {
	case "region":
		code = strings.ToUpper(s)
		ok = len(s) == 2 && alphabetic(s) || len(s) == 3 && numeric(s)
		return code, pick(code, data.RegionShort, data.Region), ok
	case "script":
		if len(s) != 4 || !alphabetic(s) {
			return "", "", false
		}
		code = title(strings.ToLower(s))
		return code, data.Script[code], true
	case "currency":
		code = strings.ToUpper(s)
		if len(s) != 3 || !alphabetic(s) {
			return "", "", false
		}
		names := load[currencyData](d.locale.source, "currency").Currencies[code]
		if names == nil {
			return code, "", true
		}
		return code, names[2], true
	case "calendar":
		return strings.ToLower(s), data.Calendar[strings.ToLower(s)], isType(s)
	case "dateTimeField":
		_, ok = data.Field[s]
		if d.style == "narrow" && data.FieldNarrow[s] != "" {
			return s, data.FieldNarrow[s], ok
		}
		return s, pick(s, data.FieldShort, data.Field), ok
	}
	t, ok := parseTag(s)
	if !ok || len(t.keywords)+len(t.attributes)+len(t.others) > 0 || t.private != "" {
		return "", "", false
	}
	return t.base(), d.language(data, t), true
}

func (d *displayNames) language(data *nameData, t tag) string {
	short := func(code string) string {
		if name := data.LanguageShort[code]; name != "" && d.style != "long" {
			return name
		}
		return data.Language[code]
	}
	rest := t
	name := ""
	if head := (tag{language: t.language, script: t.script, region: t.region}); d.languageForm == "dialect" && head.base() != t.language {
		if name = short(head.base()); name != "" {
			rest.script, rest.region = "", ""
		}
	}
	if name == "" {
		name = short(t.language)
	}
	if name == "" {
		return ""
	}
	var more []string
	if rest.script != "" {
		more = append(more, named(data.Script, rest.script))
	}
	if rest.region != "" {
		region := named(data.Region, rest.region)
		if short := data.RegionShort[rest.region]; short != "" && d.style != "long" {
			region = short
		}
		more = append(more, region)
	}
	for _, v := range t.variants {
		more = append(more, strings.ToUpper(v))
	}
	if len(more) == 0 {
		return name
	}
	return strings.NewReplacer("{0}", name, "{1}", strings.Join(more, data.Several)).Replace(data.Combined)
}

func named(names map[string]string, code string) string {
	if name, ok := names[code]; ok {
		return name
	}
	return code
}

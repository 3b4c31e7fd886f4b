package intl

import (
	"slices"
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

func (m *module) localeClass() goja.Value {
	c := m.service("Locale", 1, false, func(object *goja.Object, value, opts goja.Value) {
		if !goja.IsString(value) && !isObject(value) {
			panic(m.vm.NewTypeError("First argument to Intl.Locale constructor can't be empty or missing"))
		}
		t := m.localeArgument(value)
		m.locales.Set(object, m.coerced("Intl.Locale", opts).override(t))
	})
	this := func(v goja.Value, member string) tag {
		return receiver(m, m.locales, v, "Intl.Locale.prototype."+member)
	}
	text := func(s string) goja.Value {
		if s == "" {
			return goja.Undefined()
		}
		return m.vm.ToValue(s)
	}
	same := func(change func(tag) tag) func(goja.FunctionCall) goja.Value {
		return func(call goja.FunctionCall) goja.Value {
			t := change(this(call.This, "maximize"))
			o := m.vm.CreateObject(c.Prototype)
			m.locales.Set(o, t)
			return o
		}
	}
	c.Method("toString", 0, func(call goja.FunctionCall) goja.Value { return text(this(call.This, "toString").String()) })
	c.Method("maximize", 0, same(tag.expand))
	c.Method("minimize", 0, same(tag.shorten))
	getter := func(name string, get func(tag) goja.Value) {
		c.Getter(name, func(v goja.Value) goja.Value { return get(this(v, name)) })
	}
	getter("language", func(t tag) goja.Value { return text(strings.TrimPrefix(t.language, "und")) })
	getter("script", func(t tag) goja.Value { return text(t.script) })
	getter("region", func(t tag) goja.Value { return text(t.region) })
	getter("baseName", func(t tag) goja.Value { return text(t.base()) })
	for _, k := range [][2]string{{"calendar", "ca"}, {"caseFirst", "kf"}, {"collation", "co"}, {"hourCycle", "hc"}, {"numberingSystem", "nu"}} {
		name, key := k[0], k[1]
		getter(name, func(t tag) goja.Value {
			value, ok := t.keyword(key)
			if !ok {
				return goja.Undefined()
			}
			return m.vm.ToValue(value)
		})
	}
	getter("numeric", func(t tag) goja.Value {
		value, ok := t.keyword("kn")
		return m.vm.ToValue(ok && value != "false")
	})
	m.localeInfo(getter)
	return c.Constructor
}

// override puts the options of Intl.Locale into a tag.
func (o options) override(t tag) tag {
	part := func(name string, valid func(string) bool) string {
		s := o.text(name, "")
		if o.value(name) != nil && !valid(s) {
			panic(o.m.rangeError("Incorrect locale information provided"))
		}
		return s
	}
	if s := part("language", func(s string) bool { return alphabetic(s) && len(s) > 1 && len(s) < 9 && len(s) != 4 }); s != "" {
		t.language = strings.ToLower(s)
	}
	if s := part("script", func(s string) bool { return alphabetic(s) && len(s) == 4 }); s != "" {
		t.script = title(strings.ToLower(s))
	}
	if s := part("region", func(s string) bool { return alphabetic(s) && len(s) == 2 || numeric(s) && len(s) == 3 }); s != "" {
		t.region = strings.ToUpper(s)
	}
	t.canonicalize()
	for _, k := range []struct{ name, key string }{{"calendar", "ca"}, {"collation", "co"}, {"numberingSystem", "nu"}} {
		if s := part(k.name, isType); s != "" {
			t = t.with(k.key, canonicalValue(k.key, strings.ToLower(s)))
		}
	}
	if s := o.text("hourCycle", "", cycleNames...); s != "" {
		t = t.with("hc", s)
	}
	if s := o.text("caseFirst", "", "upper", "lower", "false"); s != "" {
		t = t.with("kf", s)
	}
	if numeric, has := o.boolean("numeric"); has {
		t = t.with("kn", map[bool]string{true: "", false: "false"}[numeric])
	}
	return t
}

// localeInfo adds what Node tells of the customs of a locale.
func (m *module) localeInfo(getter func(name string, get func(tag) goja.Value)) {
	list := func(t tag, key string, usual ...string) goja.Value {
		if value, ok := t.keyword(key); ok {
			return m.strings([]string{value})
		}
		return m.strings(usual)
	}
	known := func(t tag) string {
		full := t.expand()
		for _, t := range []tag{{language: full.language, region: full.region}, t} {
			if found, ok := match(t); ok {
				return source(found)
			}
		}
		return "en"
	}
	getter("calendars", func(t tag) goja.Value { return list(t, "ca", load[dateData](known(t), "date").Calendar) })
	getter("collations", func(t tag) goja.Value { return list(t, "co", "emoji", "eor") })
	getter("hourCycles", func(t tag) goja.Value { return list(t, "hc", load[dateData](known(t), "date").Cycles[0]) })
	getter("numberingSystems", func(t tag) goja.Value { return list(t, "nu", load[numberData](known(t), "number").NU) })
	getter("timeZones", func(t tag) goja.Value {
		if t.region == "" {
			return goja.Undefined()
		}
		return m.strings(strings.Fields(world().ZonesOf[t.region]))
	})
	getter("textInfo", func(t tag) goja.Value {
		direction := "ltr"
		if slices.Contains([]string{"Arab", "Hebr", "Thaa", "Syrc", "Nkoo", "Adlm", "Rohg"}, t.expand().script) {
			direction = "rtl"
		}
		return m.object(func(add func(name string, value any)) { add("direction", direction) })
	})
	getter("weekInfo", func(t tag) goja.Value {
		first, weekend, minimal := weekOf(t.expand().region)
		return m.object(func(add func(name string, value any)) {
			add("firstDay", first)
			add("weekend", m.vm.NewArray(weekend...))
			add("minimalDays", minimal)
		})
	})
}

func weekOf(region string) (first int, weekend []any, minimal int) {
	for info, regions := range world().Week {
		if !strings.Contains(" "+regions+" ", " "+region+" ") {
			continue
		}
		fields := strings.Fields(info)
		for day := range strings.SplitSeq(fields[1], ",") {
			weekend = append(weekend, int(day[0]-'0'))
		}
		return int(fields[0][0] - '0'), weekend, int(fields[2][0] - '0')
	}
	return 1, []any{6, 7}, 1
}

// supportedLocalesOf lists the locales that are known of those that are asked for.
func (m *module) supportedLocalesOf(c *native.Class) {
	c.Static("supportedLocalesOf", 1, func(call goja.FunctionCall) goja.Value {
		requested := m.requested(call.Argument(0))
		m.coerced("Intl."+c.Name, call.Argument(1)).matcher()
		var list []string
		for _, t := range requested {
			if _, ok := match(t); ok {
				list = append(list, t.String())
			}
		}
		return m.strings(list)
	})
}

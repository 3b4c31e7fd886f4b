package intl

import (
	"slices"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"mcpx/stdlib/internal/native"
)

// categories are the names of plural forms.
var categories = [...]string{
	plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
}

// pluralCategory is the plural category of a number as it is written, in a locale that
// has data.
func pluralCategory(source string, ordinal bool, whole, fraction string) string {
	name, _, _ := strings.Cut(source, "-")
	t, _ := language.Raw.Parse(name)
	if source == "pt-PT" {
		t = language.EuropeanPortuguese
	}
	digits := make([]byte, 0, len(whole)+len(fraction))
	for _, c := range []byte(whole + fraction) {
		digits = append(digits, c-'0')
	}
	if n := len(fraction); n > 2 && name != "lv" {
		// The tables look at two digits of a fraction, and mistake more.
		digits = append(digits[:len(whole)], digits[len(digits)-2:]...)
		fraction = fraction[n-2:]
	}
	rules := plural.Cardinal
	if ordinal {
		rules = plural.Ordinal
	}
	category := categories[rules.MatchDigits(t, digits, len(whole), len(fraction))]
	if !ordinal && name == "he" && fraction != "" && strings.Trim(whole, "0") == "" {
		category = "one" // as below
	}
	if !ordinal && category == "other" && fraction == "" && strings.Contains(" ca es fr it pt ", " "+name+" ") &&
		strings.HasSuffix(whole, "000000") && len(whole) < 19 && strings.Trim(whole, "0") != "" {
		category = "many" // newer than the tables of x/text
	}
	words := load[wordData](source, "words")
	known := words.Cardinal
	if ordinal {
		known = words.Ordinal
	}
	if !slices.Contains(known, category) {
		return "other"
	}
	return category
}

// pluralRules is an Intl.PluralRules.
type pluralRules struct {
	locale  locale
	ordinal bool
	digits  digitOptions
}

func (p *pluralRules) selects(x decimal) string {
	if x.nan || x.inf {
		return "other"
	}
	whole, fraction := p.digits.round(x.abs()).text(p.digits.minInteger)
	return pluralCategory(p.locale.source, p.ordinal, whole, fraction)
}

func (m *module) pluralRulesClass() goja.Value {
	slot := native.NewSlot[*pluralRules]()
	c := m.service("PluralRules", 0, false, func(object *goja.Object, locales, opts goja.Value) {
		requested := m.requested(locales)
		o := m.coerced("Intl.PluralRules", opts)
		o.matcher()
		p := &pluralRules{ordinal: o.text("type", "cardinal", "cardinal", "ordinal") == "ordinal"}
		p.digits = o.digits(0, 3, false)
		p.locale = m.resolve(requested, nil, nil)
		slot.Set(object, p)
	})
	this := func(v goja.Value, method string) *pluralRules {
		return receiver(m, slot, v, "Intl.PluralRules.prototype."+method)
	}
	c.Method("select", 1, func(call goja.FunctionCall) goja.Value {
		p := this(call.This, "select")
		return m.vm.ToValue(p.selects(decimalOf(m.number(call.Argument(0)))))
	})
	c.Method("selectRange", 2, func(call goja.FunctionCall) goja.Value {
		p := this(call.This, "selectRange")
		if !defined(call.Argument(0)) || !defined(call.Argument(1)) {
			panic(m.vm.NewTypeError("Invalid start or end"))
		}
		x, y := decimalOf(m.number(call.Argument(0))), decimalOf(m.number(call.Argument(1)))
		if x.nan || y.nan {
			panic(m.rangeError("Invalid start or end : NaN"))
		}
		start, end := p.selects(x), p.selects(y)
		if category, ok := load[wordData](p.locale.source, "words").Ranges[start+" "+end]; ok && !p.ordinal {
			end = category
		}
		return m.vm.ToValue(end)
	})
	c.Method("resolvedOptions", 0, func(call goja.FunctionCall) goja.Value {
		p := this(call.This, "resolvedOptions")
		return m.object(func(add func(name string, value any)) {
			words := load[wordData](p.locale.source, "words")
			add("locale", p.locale.tag.language) // regions have no rules of their own
			kind, list := "cardinal", words.Cardinal
			if p.ordinal {
				kind, list = "ordinal", words.Ordinal
			}
			add("type", kind)
			p.digits.resolved(add)
			add("pluralCategories", m.strings(list))
		})
	})
	return c.Constructor
}

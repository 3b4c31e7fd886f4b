package intl

import (
	"math"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

func (m *module) rangeError(message string) *goja.Object {
	o, err := m.vm.New(m.rangeErrorClass, m.vm.ToValue(message))
	native.Must(err)
	return o
}

// primitive turns an object into the primitive that a number is made of.
func (m *module) primitive(o *goja.Object) goja.Value {
	if fn, ok := goja.AssertFunction(o.GetSymbol(goja.SymToPrimitive)); ok {
		if v := native.Call(fn, o, m.vm.ToValue("number")); !isObject(v) {
			return v
		}
		panic(m.vm.NewTypeError("Cannot convert object to primitive value"))
	}
	for _, name := range []string{"valueOf", "toString"} {
		if fn, ok := goja.AssertFunction(o.Get(name)); ok {
			if v := native.Call(fn, o); !isObject(v) {
				return v
			}
		}
	}
	panic(m.vm.NewTypeError("Cannot convert object to primitive value"))
}

func isObject(v goja.Value) bool {
	_, ok := v.(*goja.Object)
	return ok
}

func defined(v goja.Value) bool { return v != nil && !goja.IsUndefined(v) }

// maxLocales bounds a list of locales.
const maxLocales = 1 << 8

// requested reads the argument locales.
func (m *module) requested(v goja.Value) []tag {
	if !defined(v) {
		return nil
	}
	if goja.IsString(v) {
		return []tag{m.parse(v.String())}
	}
	if goja.IsNull(v) {
		panic(m.vm.NewTypeError("Cannot convert undefined or null to object"))
	}
	o := v.ToObject(m.vm)
	if l, ok := m.locales.Get(o); ok {
		return []tag{l}
	}
	var tags []tag
	length := v.ToObject(m.vm).Get("length")
	if !defined(length) {
		return nil
	}
	n := length.ToInteger()
	if n > maxLocales {
		panic(m.rangeError("Invalid array length"))
	}
	for i := range int(n) {
		element := o.Get(itoa(i))
		if element == nil {
			continue
		}
		t := m.localeArgument(element)
		if !slices.ContainsFunc(tags, func(x tag) bool { return x.String() == t.String() }) {
			tags = append(tags, t)
		}
	}
	return tags
}

func (m *module) localeArgument(v goja.Value) tag {
	if l, ok := m.locales.Get(v); ok {
		return l
	}
	if !goja.IsString(v) && !isObject(v) {
		panic(m.vm.NewTypeError("Language ID should be string or object."))
	}
	return m.parse(native.String(m.vm, v).String())
}

func (m *module) parse(s string) tag {
	t, ok := parseTag(s)
	if !ok {
		panic(m.rangeError("Incorrect locale information provided"))
	}
	return t
}

// locale is what became of the locales and options that were asked for.
type locale struct {
	tag    tag    // as resolvedOptions shows it
	source string // whose data it uses
	values map[string]string
}

// resolve picks the first locale that is known. keys are the keywords that matter to the
// service; a value of options wins over that of the tag; valid says which values are.
func (m *module) resolve(requested []tag, options map[string]string, valid func(key, value string) bool, keys ...string) locale {
	l := locale{values: map[string]string{}}
	asked := tag{}
	found := false
	for _, t := range requested {
		if l.tag, found = match(t); found {
			asked = t
			break
		}
	}
	if !found {
		l.tag = m.usual()
	}
	l.source = source(l.tag)
	for _, key := range keys {
		value, has := asked.keyword(key)
		if has && value == "" && (key == "kn") {
			value = "true"
		}
		if has && !valid(key, value) {
			has = false
		}
		if option, ok := options[key]; ok && valid(key, option) {
			if !has || option != value {
				has = false
			}
			value = option
			l.values[key] = value
		}
		if has {
			l.values[key] = value
			shown := value
			if shown == "true" {
				shown = ""
			}
			l.tag = l.tag.with(key, shown)
		}
	}
	return l
}

// usual is the locale of the run, as far as it is known.
func (m *module) usual() tag {
	if m.usualTag.language == "" {
		t, _ := parseTag("en-US")
		name, _, _ := strings.Cut(m.rt.Ambient().Locale, ".")
		if own, ok := parseTag(strings.ReplaceAll(name, "_", "-")); ok {
			if own, ok = match(own); ok {
				t = own
			}
		}
		m.usualTag = t
	}
	return m.usualTag
}

// options reads the members of an argument.
type options struct {
	m     *module
	class string // as errors call it: Intl.NumberFormat
	o     *goja.Object
}

// coerced takes any value but null, as the older services do.
func (m *module) coerced(class string, v goja.Value) options {
	if !defined(v) {
		return options{m, class, nil}
	}
	if goja.IsNull(v) {
		panic(m.vm.NewTypeError("Cannot convert undefined or null to object"))
	}
	return options{m, class, v.ToObject(m.vm)}
}

// strict takes objects only, as the newer services do.
func (m *module) strict(class string, v goja.Value) options {
	if !defined(v) {
		return options{m, class, nil}
	}
	o, ok := v.(*goja.Object)
	if !ok {
		panic(m.vm.NewTypeError("invalid_argument"))
	}
	return options{m, class, o}
}

func (o options) value(name string) goja.Value {
	if o.o == nil {
		return nil
	}
	v := o.o.Get(name)
	if !defined(v) {
		return nil
	}
	return v
}

// text reads a text, which must be one of values if there are any.
func (o options) text(name, fallback string, values ...string) string {
	v := o.value(name)
	if v == nil {
		return fallback
	}
	s := native.String(o.m.vm, v).String()
	if len(values) > 0 && !slices.Contains(values, s) {
		panic(o.invalid(name, s))
	}
	return s
}

func (o options) invalid(name, value string) *goja.Object {
	return o.m.rangeError("Value " + value + " out of range for " + o.class + " options property " + name)
}

func (o options) boolean(name string) (value, has bool) {
	v := o.value(name)
	if v == nil {
		return false, false
	}
	return v.ToBoolean(), true
}

// number reads an integer from low to high, or returns fallback.
func (o options) number(name string, low, high, fallback int) int {
	v := o.value(name)
	if v == nil {
		return fallback
	}
	return o.inRange(name, v, low, high)
}

func (o options) inRange(name string, v goja.Value, low, high int) int {
	f := o.m.number(v)
	if math.IsNaN(f) || f < float64(low) || f > float64(high) {
		panic(o.m.rangeError(name + " value is out of range."))
	}
	return int(math.Floor(f))
}

// number is the conversion of the language to a number.
func (m *module) number(v goja.Value) float64 {
	if v == nil {
		return math.NaN()
	}
	if o, ok := v.(*goja.Object); ok {
		v = m.primitive(o)
	}
	if _, ok := v.(*goja.Symbol); ok {
		panic(m.vm.NewTypeError("Cannot convert a Symbol value to a number"))
	}
	if goja.IsBigInt(v) {
		panic(m.vm.NewTypeError("Cannot convert a BigInt value to a number"))
	}
	return v.ToFloat()
}

func (o options) matcher() {
	o.text("localeMatcher", "best fit", "lookup", "best fit")
}

// numbering reads the option numberingSystem into the options of resolve.
func (o options) numbering(into map[string]string) {
	if s := o.text("numberingSystem", ""); s != "" {
		if !isType(s) {
			panic(o.m.rangeError("Invalid numberingSystem : " + s))
		}
		into["nu"] = strings.ToLower(s)
	}
}

// isType reports whether s can be the value of a keyword.
func isType(s string) bool {
	for part := range strings.SplitSeq(s, "-") {
		if len(part) < 3 || len(part) > 8 || strings.ContainsFunc(part, func(r rune) bool { return !isAlpha(r) && !isDigit(r) }) {
			return false
		}
	}
	return true
}

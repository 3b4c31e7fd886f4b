package intl

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// part is a piece of a formatted text.
type part struct{ kind, text, source string }

func join(parts []part) string {
	if len(parts) == 1 {
		return parts[0].text
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
	}
	return b.String()
}

// numberFormat is an Intl.NumberFormat.
type numberFormat struct {
	locale locale
	data   *numberData
	digits digitOptions

	style, currency, currencyDisplay, currencySign string
	unit, unitDisplay                              string
	notation, compactDisplay, signDisplay          string
	grouping                                       any // as resolvedOptions shows it: auto, always, min2 or false

	numbering string
	figures   []string // digits of the numbering system, nil for 0 to 9
	symbol    string   // of the currency
	names     []string // of the currency, as in currencyData
	bound     goja.Value
}

func (m *module) newNumberFormat(locales, opts goja.Value) *numberFormat {
	requested := m.requested(locales)
	if goja.IsNull(opts) && opts != nil {
		panic(m.vm.NewTypeError("Intl.NumberFormat called on null or undefined"))
	}
	o := m.coerced("Intl.NumberFormat", opts)
	o.matcher()
	chosen := map[string]string{}
	o.numbering(chosen)
	f := &numberFormat{}
	f.locale = m.resolve(requested, chosen, func(_, v string) bool { return knownNumbering(v) }, "nu")
	f.data = load[numberData](f.locale.source, "number")
	f.units(o)
	f.notation = o.text("notation", "standard", "standard", "scientific", "engineering", "compact")
	low, high := 0, 3
	switch f.style {
	case "currency":
		low = currencyDigits(f.currency)
		high = low
	case "percent":
		high = 0
	}
	f.digits = o.digits(low, high, f.notation == "compact")
	f.compactDisplay = o.text("compactDisplay", "short", "short", "long")
	f.readGrouping(o)
	f.signDisplay = o.text("signDisplay", "auto", "auto", "never", "always", "exceptZero", "negative")
	f.numerals()
	if f.style == "currency" {
		f.currencyWords()
	}
	return f
}

func (f *numberFormat) units(o options) {
	f.style = o.text("style", "decimal", "decimal", "percent", "currency", "unit")
	currency := o.text("currency", "")
	if currency != "" && (len(currency) != 3 || !alphabetic(currency)) || currency == "" && o.value("currency") != nil {
		panic(o.m.rangeError("Invalid currency code : " + currency))
	}
	display := o.text("currencyDisplay", "symbol", "code", "symbol", "narrowSymbol", "name")
	sign := o.text("currencySign", "standard", "standard", "accounting")
	unit := o.text("unit", "")
	if o.value("unit") != nil && !knownUnit(unit) {
		panic(o.m.rangeError("Invalid unit argument for Intl.NumberFormat() '" + unit + "'"))
	}
	unitDisplay := o.text("unitDisplay", "short", "short", "narrow", "long")
	switch f.style {
	case "currency":
		if currency == "" {
			panic(o.m.vm.NewTypeError("Currency code is required with currency style."))
		}
		f.currency, f.currencyDisplay, f.currencySign = strings.ToUpper(currency), display, sign
	case "unit":
		if unit == "" {
			panic(o.m.vm.NewTypeError("Invalid unit argument for Intl.NumberFormat() ''"))
		}
		f.unit, f.unitDisplay = unit, unitDisplay
	}
}

func (f *numberFormat) readGrouping(o options) {
	f.grouping = "auto"
	if f.notation == "compact" {
		f.grouping = "min2"
	}
	v := o.value("useGrouping")
	switch {
	case v == nil:
	case goja.IsString(v) && v.String() != "":
		if s := o.text("useGrouping", "", "auto", "always", "min2", "true", "false"); s != "true" && s != "false" {
			f.grouping = s
		}
	case v.ToBoolean():
		f.grouping = "always"
	default:
		f.grouping = false
	}
}

// numerals chooses the digits, and with them the signs where they are not those of the
// language.
func (f *numberFormat) numerals() {
	f.numbering = f.locale.values["nu"]
	if f.numbering == "" {
		f.numbering = f.data.NU
	}
	if f.numbering != "latn" {
		for _, r := range world().Digits[f.numbering] {
			f.figures = append(f.figures, string(r))
		}
	}
	if f.numbering == f.data.NU {
		return
	}
	data := *f.data
	switch f.numbering {
	case "latn":
		data.Decimal, data.Group, data.PercentSign, data.Exponent, data.NaN = ".", ",", "%", "E", "NaN"
		data.CurrencyDecimal, data.CurrencyGroup = ".", ","
	case "arab", "arabext":
		data.Decimal, data.Group, data.CurrencyDecimal, data.CurrencyGroup = "٫", "٬", "٫", "٬"
		data.PercentSign, data.Minus, data.Plus, data.Exponent = "٪\u061c", "\u061c-", "\u061c+", "أس"
		if f.numbering == "arabext" {
			data.PercentSign, data.Minus, data.Plus, data.Exponent = "٪", "\u200e-", "\u200e+", "×۱۰^"
		}
	}
	f.data = &data
}

// currencyDigits is how many digits a currency usually has after the point.
func currencyDigits(code string) int {
	if n, ok := world().Decimals[code]; ok {
		return n
	}
	return 2
}

func (f *numberFormat) currencyWords() {
	f.symbol = f.currency
	f.names = load[currencyData](f.locale.source, "currency").Currencies[f.currency]
	if f.names == nil || f.currencyDisplay == "code" {
		return
	}
	if f.names[0] != "" {
		f.symbol = f.names[0]
	}
	if f.currencyDisplay == "narrowSymbol" && f.names[1] != "" {
		f.symbol = f.names[1]
	}
}

// scaled is a number as it is written, with what was taken from it.
type scaled struct {
	rounded
	exponent int // of scientific notation, or digits that the compact word stands for
	size     int // power of ten of the compact word
}

func (f *numberFormat) scale(x decimal) scaled {
	if f.style == "percent" {
		x = x.shift(2)
	}
	if x.nan || x.inf || f.notation == "standard" {
		return scaled{rounded: f.digits.round(x)}
	}
	exponent := func(size int) int {
		switch f.notation {
		case "scientific":
			return size
		case "engineering":
			return size - ((size%3)+3)%3
		}
		return f.dropped(size)
	}
	size := x.magnitude()
	e := exponent(size)
	r := f.digits.round(x.shift(-e))
	if !r.zero() && r.magnitude()+e > size {
		size = r.magnitude() + e
		if next := exponent(size); next != e {
			e = next
			r = f.digits.round(x.shift(-e))
		}
	}
	return scaled{r, e, size}
}

// words are the patterns of compact numbers by power of ten.
func (f *numberFormat) words() map[string]plurals {
	switch {
	case f.style == "currency" && f.currencyDisplay != "name" && besides(f.symbol, f.data.CurrencySign[0]):
		return f.data.CurrencyShortLetters
	case f.style == "currency" && f.currencyDisplay != "name":
		return f.data.CurrencyShort
	case f.compactDisplay == "long":
		return f.data.Long
	}
	return f.data.Short
}

// maxCompact is the power of ten of the last word.
const maxCompact = 14

func (f *numberFormat) dropped(size int) int {
	n, _ := strconv.Atoi(f.words()[strconv.Itoa(min(size, maxCompact))]["drop"])
	return n
}

// besides reports whether a space goes between a currency and the digits, because it
// ends, or starts, with what is no symbol.
func besides(symbol, pattern string) bool {
	r, _ := utf8.DecodeLastRuneInString(symbol)
	if !strings.HasPrefix(pattern, "{$}") {
		r, _ = utf8.DecodeRuneInString(symbol)
	}
	return !unicode.IsSymbol(r) && !unicode.IsSpace(r)
}

// sign is the kind of the sign that a number is written with, empty for none.
func (f *numberFormat) sign(x decimal, r rounded) string {
	if x.nan {
		x.negative = false
	}
	switch f.signDisplay {
	case "never":
		return ""
	case "always":
	case "exceptZero":
		if r.zero() || x.nan {
			return ""
		}
	case "negative":
		if r.zero() {
			return ""
		}
		fallthrough
	default:
		if !x.negative {
			return ""
		}
	}
	if x.negative {
		return "minusSign"
	}
	return "plusSign"
}

// parts formats a number.
func (f *numberFormat) parts(x decimal) []part {
	s := f.scale(x)
	sign := f.sign(x, s.rounded)
	whole, fraction := "", ""
	var number []part
	switch {
	case x.nan:
		number = []part{{"nan", f.data.NaN, ""}}
	case x.inf:
		number = []part{{"infinity", f.data.Infinity, ""}}
	default:
		whole, fraction = s.text(f.digits.minInteger)
		number = f.number(whole, fraction)
		if f.notation == "scientific" || f.notation == "engineering" {
			number = append(number, f.exponent(s.exponent)...)
		}
	}
	category := func() string {
		if x.nan || x.inf {
			return "other"
		}
		if f.notation == "scientific" || f.notation == "engineering" {
			whole, fraction = rounded{s.shift(s.exponent), 0}.text(1)
		}
		return pluralCategory(f.locale.source, false, whole, fraction)
	}
	if f.notation == "compact" && !x.nan && !x.inf && s.size >= 3 {
		pattern := f.words()[strconv.Itoa(min(s.size, maxCompact))].of(category())
		if f.style == "currency" && f.currencyDisplay != "name" {
			return f.emit(f.signed(pattern, sign), number, sign)
		}
		number = f.emit(pattern, number, "")
	}
	switch {
	case f.style == "percent" && f.notation == "compact":
		return f.emit(f.data.CompactPercent, f.emit(choose(f.data.Number, sign), number, sign), "")
	case f.style == "percent":
		return f.emit(choose(f.data.Percent, sign), number, sign)
	case f.style == "unit":
		return f.emit(f.unitPattern(f.unit, f.unitDisplay, category()), f.emit(choose(f.data.Number, sign), number, sign), "")
	case f.style == "currency" && f.currencyDisplay == "name":
		c := category()
		symbol := f.symbol
		f.symbol = f.currencyName(c)
		parts := f.emit(f.data.CurrencyName.of(c), f.emit(choose(f.data.Number, sign), number, sign), "")
		f.symbol = symbol
		return parts
	case f.style == "currency":
		return f.emit(choose(f.currencyPatterns(!x.nan && !x.inf), sign), number, sign)
	}
	return f.emit(choose(f.data.Number, sign), number, sign)
}

// currencyPatterns are those of the currency. A space goes between letters and digits
// only.
func (f *numberFormat) currencyPatterns(digits bool) [2]string {
	spaced := digits && besides(f.symbol, f.data.CurrencySign[0])
	switch {
	case f.currencySign == "accounting" && spaced:
		return f.data.AccountingLetters
	case f.currencySign == "accounting":
		return f.data.AccountingSign
	case spaced:
		return f.data.CurrencyLetters
	}
	return f.data.CurrencySign
}

// signed puts the sign of a currency's pattern into one that has none.
func (f *numberFormat) signed(pattern, sign string) string {
	if sign == "" {
		return pattern
	}
	patterns := f.currencyPatterns(true)
	with := choose(patterns, sign)
	if before, after, ok := strings.Cut(with, patterns[0]); ok {
		return before + pattern + after
	}
	if strings.Contains(with, "{-}{n}") {
		return strings.Replace(pattern, "{n}", "{-}{n}", 1)
	}
	return "{-}" + pattern
}

// choose picks the pattern for a sign. A plus goes where a minus would.
func choose(patterns [2]string, sign string) string {
	switch {
	case sign == "":
		return patterns[0]
	case sign == "plusSign" && !strings.Contains(patterns[1], "{-}"):
		return "{-}" + patterns[0]
	}
	return patterns[1]
}

func (f *numberFormat) currencyName(category string) string {
	if f.names == nil {
		return f.currency
	}
	name := f.currency
	for i := 3; i+1 < len(f.names); i += 2 {
		if f.names[i] == category {
			return f.names[i+1]
		}
		if f.names[i] == "other" {
			name = f.names[i+1]
		}
	}
	return name
}

func (f *numberFormat) unitPattern(unit, display, category string) string {
	data := load[unitData](f.locale.source, "unit")
	if p, ok := data.Units[unit+" "+display]; ok {
		return p.of(category)
	}
	if p, ok := data.Compound[unit+" "+display]; ok {
		return p.of(category)
	}
	unit, per, _ := strings.Cut(unit, "-per-")
	pattern := data.Units[unit+" "+display].of(category)
	at := strings.LastIndex(pattern, "{u:")
	if at < 0 {
		return pattern
	}
	own, rest, _ := strings.Cut(pattern[at+3:], "}")
	return pattern[:at+3] + strings.Replace(data.Per[per+" "+display], "{0}", own, 1) + "}" + rest
}

// emit fills a pattern.
func (f *numberFormat) emit(pattern string, number []part, sign string) []part {
	if pattern == "{n}" {
		return number
	}
	var parts []part
	for pattern != "" {
		literal, rest, found := strings.Cut(pattern, "{")
		if literal != "" {
			parts = append(parts, part{kind: "literal", text: literal})
		}
		if !found {
			break
		}
		var field string
		field, pattern, _ = strings.Cut(rest, "}")
		switch field {
		case "n":
			parts = append(parts, number...)
		case "-":
			text := f.data.Minus
			if sign == "plusSign" {
				text = f.data.Plus
			}
			parts = append(parts, part{kind: sign, text: text})
		case "$":
			parts = append(parts, part{kind: "currency", text: f.symbol})
		case "%":
			parts = append(parts, part{kind: "percentSign", text: f.data.PercentSign})
		default:
			kind := "compact"
			if field[0] == 'u' {
				kind = "unit"
			}
			parts = append(parts, part{kind: kind, text: field[2:]})
		}
	}
	return parts
}

// number writes digits in groups.
func (f *numberFormat) number(whole, fraction string) []part {
	group, point := f.data.Group, f.data.Decimal
	if f.style == "currency" {
		group, point = f.data.CurrencyGroup, f.data.CurrencyDecimal
	}
	var parts []part
	least := 0
	switch f.grouping {
	case "always":
		least = 1
	case "min2":
		least = max(f.data.Minimum, 2)
	case "auto":
		least = f.data.Minimum
	}
	if least > 0 && f.data.Primary > 0 && len(whole) >= f.data.Primary+least {
		for i, piece := range groups(whole, f.data.Primary, f.data.Secondary) {
			if i > 0 {
				parts = append(parts, part{kind: "group", text: group})
			}
			parts = append(parts, part{kind: "integer", text: f.written(piece)})
		}
	} else {
		parts = append(parts, part{kind: "integer", text: f.written(whole)})
	}
	if fraction != "" {
		parts = append(parts, part{kind: "decimal", text: point}, part{kind: "fraction", text: f.written(fraction)})
	}
	return parts
}

func groups(digits string, primary, secondary int) []string {
	first := len(digits) - primary
	head := first % secondary
	var list []string
	if head > 0 {
		list = append(list, digits[:head])
	}
	for ; head < first; head += secondary {
		list = append(list, digits[head:head+secondary])
	}
	return append(list, digits[first:])
}

// written puts digits into the numbering system.
func (f *numberFormat) written(digits string) string { return figures(f.figures, digits) }

func figures(figures []string, text string) string {
	if len(figures) != 10 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isDigit(r) {
			b.WriteString(figures[r-'0'])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (f *numberFormat) exponent(n int) []part {
	parts := []part{{kind: "exponentSeparator", text: f.data.Exponent}}
	if n < 0 {
		parts = append(parts, part{kind: "exponentMinusSign", text: f.data.ExponentMinus})
		n = -n
	}
	return append(parts, part{kind: "exponentInteger", text: f.written(strconv.Itoa(n))})
}

// ranged formats what lies between two numbers.
func (f *numberFormat) ranged(x, y decimal) []part {
	a, b := f.parts(x), f.parts(y)
	if join(a) == join(b) {
		parts := []part{{kind: "approximatelySign", text: f.data.Approximately}}
		return mark(append(parts, a...), "shared")
	}
	before, from, after := affixes(a)
	before2, to, after2 := affixes(b)
	same := join(before) == join(before2) && join(after) == join(after2)
	if same && utf8.RuneCountInString(join(before)+join(after)) > 1 {
		parts := append(mark(before, "shared"), mark(from, "startRange")...)
		parts = append(append(parts, part{"literal", f.data.Range, "shared"}), mark(to, "endRange")...)
		return append(parts, mark(after, "shared")...)
	}
	gap := f.data.Range
	if len(before)+len(after) > 0 && strings.TrimSpace(gap) == gap {
		gap = " " + gap + " "
	}
	return append(append(mark(a, "startRange"), part{"literal", gap, "shared"}), mark(b, "endRange")...)
}

func mark(parts []part, source string) []part {
	out := make([]part, len(parts))
	for i, p := range parts {
		p.source = source
		out[i] = p
	}
	return out
}

// affixes splits what stands before and after the digits.
func affixes(parts []part) (before, number, after []part) {
	digit := func(p part) bool {
		switch p.kind {
		case "integer", "group", "decimal", "fraction", "infinity", "exponentSeparator", "exponentMinusSign", "exponentInteger":
			return true
		}
		return false
	}
	i, j := 0, len(parts)
	for i < j && !digit(parts[i]) {
		i++
	}
	for j > i && !digit(parts[j-1]) {
		j--
	}
	return parts[:i], parts[i:j], parts[j:]
}

func knownNumbering(name string) bool {
	return name == "latn" || utf8.RuneCountInString(world().Digits[name]) == 10
}

func knownUnit(unit string) bool {
	a, b, pair := strings.Cut(unit, "-per-")
	known := func(s string) bool {
		return s != "" && !strings.Contains(s, " ") && strings.Contains(" "+world().Units+" ", " "+s+" ")
	}
	return known(a) && (!pair || known(b))
}

func (m *module) numberFormatClass() goja.Value {
	c := m.service("NumberFormat", 0, true, func(o *goja.Object, locales, options goja.Value) {
		m.numberFormats.Set(o, m.newNumberFormat(locales, options))
	})
	this := func(v goja.Value, method string) *numberFormat {
		return receiver(m, m.numberFormats, v, "Intl.NumberFormat.prototype."+method)
	}
	c.Getter("format", func(v goja.Value) goja.Value {
		f := this(v, "format")
		if f.bound == nil {
			f.bound = native.Func(m.vm, "", 1, func(call goja.FunctionCall) goja.Value {
				return m.vm.ToValue(join(f.parts(m.decimal(call.Argument(0)))))
			})
		}
		return f.bound
	})
	c.Method("formatToParts", 1, func(call goja.FunctionCall) goja.Value {
		f := this(call.This, "formatToParts")
		return m.partsOf(f.parts(m.decimal(call.Argument(0))))
	})
	ends := func(call goja.FunctionCall) (x, y decimal) {
		for i, name := range []string{"start", "end"} {
			if !defined(call.Argument(i)) {
				panic(m.vm.NewTypeError("Invalid " + name + " : undefined"))
			}
		}
		x, y = m.decimal(call.Argument(0)), m.decimal(call.Argument(1))
		for i, d := range []decimal{x, y} {
			if d.nan {
				panic(m.rangeError("Invalid " + []string{"start", "end"}[i] + " : " + call.Argument(i).String()))
			}
		}
		return x, y
	}
	c.Method("formatRange", 2, func(call goja.FunctionCall) goja.Value {
		f := this(call.This, "formatRange")
		x, y := ends(call)
		return m.vm.ToValue(join(f.ranged(x, y)))
	})
	c.Method("formatRangeToParts", 2, func(call goja.FunctionCall) goja.Value {
		f := this(call.This, "formatRangeToParts")
		x, y := ends(call)
		return m.partsOf(f.ranged(x, y))
	})
	c.Method("resolvedOptions", 0, func(call goja.FunctionCall) goja.Value {
		return m.object(this(call.This, "resolvedOptions").resolved)
	})
	return c.Constructor
}

func (f *numberFormat) resolved(add func(name string, value any)) {
	add("locale", f.locale.tag.String())
	add("numberingSystem", f.numbering)
	add("style", f.style)
	switch f.style {
	case "currency":
		add("currency", f.currency)
		add("currencyDisplay", f.currencyDisplay)
		add("currencySign", f.currencySign)
	case "unit":
		add("unit", f.unit)
		add("unitDisplay", f.unitDisplay)
	}
	f.digits.resolved(add)
	add("useGrouping", f.grouping)
	add("notation", f.notation)
	if f.notation == "compact" {
		add("compactDisplay", f.compactDisplay)
	}
	add("signDisplay", f.signDisplay)
	add("roundingMode", f.digits.mode)
	add("roundingIncrement", f.digits.increment)
	add("trailingZeroDisplay", f.digits.trailing)
	add("roundingPriority", f.digits.shownPriority())
}

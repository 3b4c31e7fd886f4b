package intl

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// dateTimeFormat is an Intl.DateTimeFormat.
type dateTimeFormat struct {
	locale   locale
	data     *dateData
	zoneData *zoneData
	zone     zone
	calendar string
	cycle    string // of hours: h11, h12, h23, h24; empty if there are none

	fields               map[string]string // options by name: weekday … timeZoneName
	fractional           int
	dateStyle, timeStyle string

	numbering string
	figures   []string
	pattern   []token
	bound     goja.Value
}

// token is a piece of a pattern: a field with its letter, or a literal.
type token struct {
	letter byte // G y M d E h m s a z f, 0 for a literal, < > = for what follows in ranges
	width  int  // digits at least
	list   int  // names, -1 for digits
	text   string
}

// fieldNames are the options of fields, in the order of resolvedOptions.
var fieldNames = []string{"weekday", "era", "year", "month", "day", "dayPeriod", "hour", "minute", "second", "fractionalSecondDigits", "timeZoneName"}

var (
	textWidths    = []string{"", "narrow", "short", "long"}
	numericWidths = []string{"", "numeric", "2-digit"}
	monthWidths   = []string{"", "numeric", "2-digit", "narrow", "short", "long"}
	cycleNames    = []string{"h11", "h12", "h23", "h24"}
	styleNames    = []string{"full", "long", "medium", "short"}
	zoneStyles    = []string{"short", "long", "shortOffset", "longOffset", "shortGeneric", "longGeneric"}
)

// newDateTimeFormat makes a format. required and defaults are those of the language's
// ToDateTimeOptions: date, time, any; date, time, all.
func (m *module) newDateTimeFormat(locales, opts goja.Value, required, defaults string) *dateTimeFormat {
	requested := m.requested(locales)
	o := m.coerced("Intl.DateTimeFormat", opts)
	f := &dateTimeFormat{fields: map[string]string{}}
	read := func(name string, values ...string) {
		if v := o.text(name, "", values...); v != "" {
			f.fields[name] = v
		}
	}
	o.matcher()
	chosen := map[string]string{}
	if ca := o.text("calendar", ""); ca != "" {
		if !isType(ca) {
			panic(m.rangeError("Invalid calendar : " + ca))
		}
		chosen["ca"] = strings.ToLower(ca)
	}
	o.numbering(chosen)
	hour12, hasHour12 := o.boolean("hour12")
	hourCycle := o.text("hourCycle", "", cycleNames...)
	if hourCycle != "" && !hasHour12 {
		chosen["hc"] = hourCycle
	}
	zoneName := o.value("timeZone")
	read("weekday", textWidths[1:]...)
	read("era", textWidths[1:]...)
	read("year", numericWidths[1:]...)
	read("month", monthWidths[1:]...)
	read("day", numericWidths[1:]...)
	read("dayPeriod", textWidths[1:]...)
	read("hour", numericWidths[1:]...)
	read("minute", numericWidths[1:]...)
	read("second", numericWidths[1:]...)
	f.fractional = o.number("fractionalSecondDigits", 1, 3, 0)
	read("timeZoneName", zoneStyles...)
	o.text("formatMatcher", "best fit", "basic", "best fit")
	f.dateStyle = o.text("dateStyle", "", styleNames...)
	f.timeStyle = o.text("timeStyle", "", styleNames...)

	f.locale = m.resolve(requested, chosen, func(key, value string) bool {
		switch key {
		case "ca":
			return slices.Contains([]string{"gregory", "iso8601", "buddhist", "japanese", "roc"}, value)
		case "nu":
			return knownNumbering(value)
		}
		return slices.Contains(cycleNames, value)
	}, "ca", "nu", "hc")
	if hasHour12 {
		f.locale.tag = f.locale.tag.without("hc")
	}
	f.data = load[dateData](f.locale.source, "date")
	f.calendar = f.locale.values["ca"]
	if f.calendar == "" {
		f.calendar = f.data.Calendar
	}
	f.numbering = f.locale.values["nu"]
	if f.numbering == "" {
		f.numbering = load[numberData](f.locale.source, "number").NU
	}
	if f.numbering != "latn" {
		for _, r := range world().Digits[f.numbering] {
			f.figures = append(f.figures, string(r))
		}
	}
	f.zone = m.zoneOption(zoneName)
	f.useDefaults(m, required, defaults)
	f.chooseCycle(hour12, hasHour12)
	f.compile()
	return f
}

func (m *module) zoneOption(v goja.Value) zone {
	if v == nil {
		return m.local()
	}
	name := native.String(m.vm, v).String()
	z, ok := zoneOf(name)
	if !ok {
		panic(m.rangeError("Invalid time zone specified: " + name))
	}
	return z
}

func (f *dateTimeFormat) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.fields[name] != "" })
}

func (f *dateTimeFormat) useDefaults(m *module, required, defaults string) {
	if f.dateStyle != "" || f.timeStyle != "" {
		for _, name := range fieldNames {
			if f.has(name) || name == "fractionalSecondDigits" && f.fractional > 0 {
				style := "dateStyle"
				if f.dateStyle == "" {
					style = "timeStyle"
				}
				panic(m.vm.NewTypeError("Can't set option " + name + " when " + style + " is used"))
			}
		}
		if required == "date" && f.timeStyle != "" {
			panic(m.vm.NewTypeError("Invalid option : timeStyle"))
		}
		if required == "time" && f.dateStyle != "" {
			panic(m.vm.NewTypeError("Invalid option : dateStyle"))
		}
		return
	}
	if required != "time" && f.has("weekday", "year", "month", "day") {
		return
	}
	if required != "date" && (f.has("dayPeriod", "hour", "minute", "second") || f.fractional > 0) {
		return
	}
	if defaults != "time" {
		f.fields["year"], f.fields["month"], f.fields["day"] = "numeric", "numeric", "numeric"
	}
	if defaults != "date" {
		f.fields["hour"], f.fields["minute"], f.fields["second"] = "numeric", "numeric", "numeric"
	}
}

func (f *dateTimeFormat) chooseCycle(hour12, hasHour12 bool) {
	if !f.has("hour") && f.timeStyle == "" {
		return
	}
	switch {
	case hasHour12 && hour12:
		f.cycle = f.data.Cycles[1]
	case hasHour12:
		f.cycle = f.data.Cycles[2]
	default:
		f.cycle = f.locale.values["hc"]
		if f.cycle == "" {
			f.cycle = f.data.Cycles[0]
		}
	}
}

// at is the place of a value in a list of options; what it does not have is the first.
func at(list []string, value string) int { return max(slices.Index(list, value), 0) }

// The numbers of patterns stand in the order in which generate.mjs asks.

func (f *dateTimeFormat) datePattern() string {
	if !f.has("weekday", "era", "year", "month", "day") {
		return ""
	}
	i := at(textWidths, f.fields["weekday"])*4 + at(textWidths, f.fields["era"])
	i = (i*3+at(numericWidths, f.fields["year"]))*6 + at(monthWidths, f.fields["month"])
	return f.data.Patterns[f.data.Dates[i*3+at(numericWidths, f.fields["day"])]]
}

func (f *dateTimeFormat) timePattern() string {
	if !f.has("hour", "minute", "second", "dayPeriod") {
		return ""
	}
	clock := f.clock()*4 + at(cycleNames, f.cycle)
	period, zoned := at(textWidths, f.fields["dayPeriod"]), bit(f.has("timeZoneName"))
	if name := f.fields["timeZoneName"]; name == "long" || name == "longGeneric" {
		zoned = 2
	}
	if f.cycle == "h23" || f.cycle == "h24" {
		period = 0
	}
	if period > 0 && zoned > 0 {
		return f.data.Patterns[f.data.Times[(clock*4+period)*3]] + " {z}"
	}
	return f.data.Patterns[f.data.Times[(clock*4+period)*3+zoned]]
}

func (f *dateTimeFormat) clock() int {
	return (at(numericWidths, f.fields["hour"])*3+at(numericWidths, f.fields["minute"]))*3 + at(numericWidths, f.fields["second"])
}

// glue is what joins a date and a time.
func (f *dateTimeFormat) glue() string {
	if f.dateStyle != "" {
		return f.data.StyleGlue[at(styleNames, f.dateStyle)]
	}
	switch f.fields["month"] {
	case "long":
		return f.data.Glue[1-bit(f.has("weekday"))]
	case "short":
		return f.data.Glue[2]
	}
	return f.data.Glue[3]
}

// patterns are those of the date and of the time, empty for none.
func (f *dateTimeFormat) patterns() (date, clock string) {
	if f.dateStyle != "" {
		date = f.data.Patterns[f.data.DateStyles[at(styleNames, f.dateStyle)]]
	} else {
		date = f.datePattern()
	}
	if f.timeStyle != "" {
		clock = f.data.Patterns[f.data.TimeStyles[at(styleNames, f.timeStyle)*4+at(cycleNames, f.cycle)]]
	} else {
		clock = f.timePattern()
	}
	if f.fractional > 0 {
		clock = f.withFraction(clock)
	}
	return date, clock
}

func (f *dateTimeFormat) withFraction(clock string) string {
	for _, second := range []string{"{ss}", "{s}"} {
		if strings.Contains(clock, second) {
			return strings.Replace(clock, second, second+f.data.Decimal+"{f}", 1)
		}
	}
	switch {
	case clock != "":
		return clock + f.data.Decimal + "{f}"
	case f.has("timeZoneName"):
		return "{f} {z}"
	}
	return "{f}"
}

// compile makes the pattern of the format.
func (f *dateTimeFormat) compile() {
	date, clock := f.patterns()
	if clock == "" && f.has("timeZoneName") {
		clock = "{z}"
	}
	pattern := date + clock
	switch {
	case f.weekTime():
		i := (at(textWidths, f.fields["weekday"])-1)*18 + f.clock() - 9
		pattern = f.data.Patterns[f.data.WeekTimes[i*4+at(cycleNames, f.cycle)]]
	case date != "" && clock != "":
		pattern = strings.Replace(strings.Replace(f.glue(), "{1}", date, 1), "{0}", clock, 1)
	}
	f.pattern = tokens(pattern)
}

// weekTime reports whether the format is of a weekday and a time, which languages write in
// ways of their own.
func (f *dateTimeFormat) weekTime() bool {
	return f.has("weekday") && f.has("hour") && !f.has("era", "year", "month", "day", "dayPeriod", "timeZoneName") && f.fractional == 0
}

// tokens reads a pattern.
func tokens(pattern string) []token {
	var list []token
	for pattern != "" {
		literal, rest, found := strings.Cut(pattern, "{")
		if literal != "" {
			if n := len(list); n > 0 && list[n-1].letter == 0 {
				list[n-1].text += literal
			} else {
				list = append(list, token{text: literal})
			}
		}
		if !found {
			break
		}
		var field string
		field, pattern, _ = strings.Cut(rest, "}")
		t := token{letter: field[0], width: len(field), list: -1}
		if name, number, named := strings.Cut(field, ":"); named {
			t.width = len(name)
			t.list, _ = strconv.Atoi(number)
		}
		list = append(list, t)
	}
	return list
}

// partKinds are the types of parts by the letters of fields.
var partKinds = [...]string{
	'G': "era", 'y': "year", 'M': "month", 'd': "day", 'E': "weekday", 'h': "hour", 'm': "minute", 's': "second", 'a': "dayPeriod",
	'z': "timeZoneName", 'f': "fractionalSecond",
}

// fill writes a pattern. What belongs to the end of a range is taken from end.
func (f *dateTimeFormat) fill(pattern []token, start, end time.Time) []part {
	parts := make([]part, 0, len(pattern))
	t, source := start, ""
	for _, p := range pattern {
		switch p.letter {
		case 0:
			parts = append(parts, part{"literal", p.text, source})
		case '<':
			t, source = start, "startRange"
		case '>':
			t, source = end, "endRange"
		case '=':
			t, source = start, "shared"
		default:
			parts = append(parts, part{partKinds[p.letter], f.field(p, t), source})
		}
	}
	return parts
}

func (f *dateTimeFormat) field(p token, t time.Time) string {
	number, index := 0, 0
	switch p.letter {
	case 'G':
		year, era := f.year(t)
		if era != "" {
			return era
		}
		number, index = year, bit(t.Year() > 0)
	case 'y':
		number, _ = f.year(t)
		if p.width == 2 {
			number %= 100
		}
	case 'M':
		number, index = int(t.Month()), int(t.Month())-1
	case 'd':
		number = t.Day()
	case 'E':
		index = int(t.Weekday())
	case 'h':
		number = hourIn(f.cycle, t.Hour())
	case 'm':
		number = t.Minute()
	case 's':
		number = t.Second()
	case 'a':
		index = t.Hour()
		if t.Minute()+t.Second() > 0 {
			index += 24
		}
	case 'z':
		if f.zoneData == nil {
			f.zoneData = load[zoneData](f.locale.source, "zone")
		}
		return f.zoneData.display(f.zone, t, f.zoneStyle(), f.figures)
	case 'f':
		return figures(f.figures, fraction(t, f.fractional))
	}
	if p.list >= 0 && p.list < len(f.data.Lists) && index < len(f.data.Lists[p.list]) {
		return f.data.Lists[p.list][index]
	}
	text := strconv.Itoa(number)
	if p.width == 2 {
		text = two(number)
	}
	return figures(f.figures, text)
}

func fraction(t time.Time, digits int) string {
	ms := t.Nanosecond() / int(time.Millisecond)
	return (strings.Repeat("0", 3-len(strconv.Itoa(ms))) + strconv.Itoa(ms))[:digits]
}

func (f *dateTimeFormat) zoneStyle() string {
	switch {
	case f.has("timeZoneName"):
		return f.fields["timeZoneName"]
	case f.timeStyle == "full":
		return "long"
	}
	return "short"
}

func hourIn(cycle string, hour int) int {
	switch cycle {
	case "h11":
		return hour % 12
	case "h12":
		return (hour+11)%12 + 1
	case "h24":
		return (hour+23)%24 + 1
	}
	return hour
}

// emperors are the eras of Japan that civil dates have.
var emperors = []struct {
	year, month, day int
	name, japanese   string
}{
	{2019, 5, 1, "Reiwa", "令和"},
	{1989, 1, 8, "Heisei", "平成"},
	{1926, 12, 25, "Shōwa", "昭和"},
	{1912, 7, 30, "Taishō", "大正"},
	{1868, 10, 23, "Meiji", "明治"},
}

// year is the year of the era in the calendar. The name of the era is empty if it is that
// of the language's data.
func (f *dateTimeFormat) year(t time.Time) (year int, era string) {
	year = t.Year()
	switch f.calendar {
	case "buddhist":
		return year + 543, ""
	case "roc":
		if year > 1911 {
			return year - 1911, "Minguo"
		}
		return 1912 - year, "Before R.O.C."
	case "japanese":
		for _, e := range emperors {
			if !t.Before(time.Date(e.year, time.Month(e.month), e.day, 0, 0, 0, 0, t.Location())) {
				if f.locale.tag.language == "ja" {
					return year - e.year + 1, e.japanese
				}
				return year - e.year + 1, e.name
			}
		}
	}
	if year <= 0 {
		return 1 - year, ""
	}
	return year, ""
}

// parts formats a moment, in milliseconds.
func (f *dateTimeFormat) parts(ms float64) []part {
	t := f.time(ms)
	return f.fill(f.pattern, t, t)
}

// text is what format writes: where ICU puts a narrow space that does not break, V8 puts
// a plain one.
func (f *dateTimeFormat) text(parts []part) string {
	return strings.ReplaceAll(join(parts), "\u202f", " ")
}

func (f *dateTimeFormat) time(ms float64) time.Time {
	return time.UnixMilli(int64(ms)).In(f.zone.location)
}

// ranged formats what lies between two moments.
func (f *dateTimeFormat) ranged(a, b float64) []part {
	x, y := f.time(a), f.time(b)
	date, clock := f.patterns()
	different := largest(x, y)
	day := strings.Contains("yMd", different)
	start, end := f.fill(f.pattern, x, x), f.fill(f.pattern, y, y)
	if different == "" || join(start) == join(end) && (date != "" || !day) {
		return mark(start, "shared")
	}
	apart := func(start, end []part) []part {
		return append(append(mark(start, "startRange"), part{"literal", f.data.RangeGlue, "shared"}), mark(end, "endRange")...)
	}
	switch {
	case date == "" && day:
		with := *f
		with.fields = map[string]string{"year": "numeric", "month": "numeric", "day": "numeric"}
		usual := f.data.Patterns[f.data.TimeStyles[3*4+at(cycleNames, f.cycle)]]
		if f.has("minute") && (f.cycle == "h23" || f.cycle == "h24") && strings.Contains(usual, "{hh}") {
			padded := *f
			padded.fields = maps.Clone(f.fields)
			padded.fields["hour"] = "2-digit"
			_, clock = padded.patterns()
		}
		whole := strings.Replace(strings.Replace(f.data.Glue[3], "{1}", with.datePattern(), 1), "{0}", clock, 1)
		return apart(f.fill(tokens(whole), x, x), f.fill(tokens(whole), y, y))
	case date != "" && clock != "" && day:
		return apart(start, end)
	}
	pattern := ""
	switch {
	case day:
		pattern = f.dateRange(strings.Index("yMd", different))
	case strings.Contains("ahm", different):
		pattern = f.timeRange(strings.Index("ahm", different))
	}
	if pattern == "" {
		return apart(start, end)
	}
	if date != "" && clock != "" {
		pattern = "{=}" + strings.Replace(strings.Replace(f.glue(), "{1}", date, 1), "{0}", pattern+"{=}", 1)
	}
	return f.fill(tokens(pattern), x, y)
}

// largest is the letter of the largest field in which two moments are different, of
// y M d a h m s; none if they are the same to the second.
func largest(x, y time.Time) string {
	switch {
	case x.Year() != y.Year():
		return "y"
	case x.Month() != y.Month():
		return "M"
	case x.Day() != y.Day():
		return "d"
	case x.Hour()/12 != y.Hour()/12:
		return "a"
	case x.Hour() != y.Hour():
		return "h"
	case x.Minute() != y.Minute():
		return "m"
	case x.UnixMilli() != y.UnixMilli():
		return "s"
	}
	return ""
}

func (f *dateTimeFormat) dateRange(field int) string {
	if f.dateStyle != "" {
		return f.data.Patterns[f.data.DateStyleRanges[at(styleNames, f.dateStyle)*3+field]]
	}
	if f.has("era", "timeZoneName") {
		return ""
	}
	i := at(textWidths, f.fields["weekday"])*3 + at(numericWidths, f.fields["year"])
	i = (i*6+at(monthWidths, f.fields["month"]))*3 + at(numericWidths, f.fields["day"])
	return f.data.Patterns[f.data.DateRanges[i*3+field]]
}

func (f *dateTimeFormat) timeRange(field int) string {
	if f.timeStyle != "" {
		return f.data.Patterns[f.data.TimeStyleRanges[(at(styleNames, f.timeStyle)*4+at(cycleNames, f.cycle))*3+field]]
	}
	if f.has("dayPeriod", "timeZoneName") || f.fractional > 0 {
		return ""
	}
	return f.data.Patterns[f.data.TimeRanges[(f.clock()*4+at(cycleNames, f.cycle))*3+field]]
}

// moment reads a date or a number, in milliseconds.
func (m *module) moment(v goja.Value) float64 {
	if !defined(v) {
		return float64(time.Now().UnixMilli())
	}
	return m.clip(m.number(v))
}

func (m *module) clip(f float64) float64 {
	if math.IsNaN(f) || math.Abs(f) > maxMoment {
		panic(m.rangeError("Invalid time value"))
	}
	return math.Trunc(f)
}

func (m *module) dateTimeFormatClass() goja.Value {
	c := m.service("DateTimeFormat", 0, true, func(o *goja.Object, locales, options goja.Value) {
		m.dateTimeFormats.Set(o, m.newDateTimeFormat(locales, options, "any", "date"))
	})
	this := func(v goja.Value, method string) *dateTimeFormat {
		return receiver(m, m.dateTimeFormats, v, "Intl.DateTimeFormat.prototype."+method)
	}
	c.Getter("format", func(v goja.Value) goja.Value {
		f := this(v, "format")
		if f.bound == nil {
			f.bound = native.Func(m.vm, "", 1, func(call goja.FunctionCall) goja.Value {
				return m.vm.ToValue(f.text(f.parts(m.moment(call.Argument(0)))))
			})
		}
		return f.bound
	})
	c.Method("formatToParts", 1, func(call goja.FunctionCall) goja.Value {
		f := this(call.This, "formatToParts")
		return m.partsOf(f.parts(m.moment(call.Argument(0))))
	})
	ends := func(call goja.FunctionCall) (x, y float64) {
		if !defined(call.Argument(0)) || !defined(call.Argument(1)) {
			panic(m.vm.NewTypeError("Invalid time value"))
		}
		x, y = m.number(call.Argument(0)), m.number(call.Argument(1))
		return m.clip(x), m.clip(y)
	}
	c.Method("formatRange", 2, func(call goja.FunctionCall) goja.Value {
		f := this(call.This, "formatRange")
		x, y := ends(call)
		parts := f.ranged(x, y)
		if parts[0].source == "shared" && parts[len(parts)-1].source == "shared" && !slices.ContainsFunc(parts, func(p part) bool { return p.source == "endRange" }) {
			return m.vm.ToValue(f.text(parts))
		}
		return m.vm.ToValue(join(parts))
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

func (f *dateTimeFormat) resolved(add func(name string, value any)) {
	add("locale", f.locale.tag.String())
	add("calendar", f.calendar)
	add("numberingSystem", f.numbering)
	add("timeZone", f.zone.name)
	if f.cycle != "" {
		add("hourCycle", f.cycle)
		add("hour12", f.cycle == "h11" || f.cycle == "h12")
	}
	if f.dateStyle == "" && f.timeStyle == "" {
		for _, name := range fieldNames {
			switch {
			case name == "fractionalSecondDigits" && f.fractional > 0:
				add(name, f.fractional)
			case f.has(name):
				add(name, f.shown(name))
			}
		}
	}
	if f.dateStyle != "" {
		add("dateStyle", f.dateStyle)
	}
	if f.timeStyle != "" {
		add("timeStyle", f.timeStyle)
	}
}

// shown is the width of a field in the pattern, which need not be the one asked for.
func (f *dateTimeFormat) shown(name string) string {
	for _, t := range f.pattern {
		if t.letter == 0 || partKinds[t.letter] != name || t.list >= 0 || t.letter == 'z' {
			continue
		}
		if t.width == 2 {
			return "2-digit"
		}
		return "numeric"
	}
	return f.fields[name]
}

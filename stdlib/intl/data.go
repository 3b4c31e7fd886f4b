package intl

import (
	"compress/flate"
	_ "embed"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"sync"
)

// pack holds what ICU knows of languages. generate.mjs writes it and says how.
//
//go:generate node generate.mjs
//go:embed locales.pack
var pack string

// index is the head of the pack.
type index struct {
	supported string            // tags between spaces
	parents   map[string]string // by locales that have data; "-" is no parent
	parts     map[string]string // compressed, by "LOCALE SUBJECT"
}

var contents = sync.OnceValue(func() *index {
	x := &index{parents: map[string]string{}, parts: map[string]string{}}
	head, body, _ := strings.Cut(pack, "\n\n")
	for line := range strings.SplitSeq(head, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if word == "#" {
			continue
		}
		if word == "supported" {
			x.supported = " " + rest
			continue
		}
		if subject, size, isPart := strings.Cut(rest, " "); isPart {
			n, err := strconv.Atoi(size)
			if err != nil || n > len(body) {
				panic("intl: the pack of locales is broken at " + line)
			}
			x.parts[word+" "+subject], body = body[:n], body[n:]
			continue
		}
		x.parents[word] = rest
	}
	return x
})

// loaded are the parts that were read, by "LOCALE SUBJECT".
var loaded sync.Map

// load reads what the pack has for a locale and a subject. What it returns is shared.
func load[T any](locale, subject string) *T {
	key := locale + " " + subject
	if v, ok := loaded.Load(key); ok {
		return v.(*T)
	}
	v := new(T)
	read(v, locale, subject)
	actual, _ := loaded.LoadOrStore(key, v)
	return actual.(*T)
}

// read decodes the part of the parent first, over which goes that of the locale.
func read(v any, locale, subject string) {
	x := contents()
	if parent := x.parents[locale]; parent != "-" && parent != "" {
		read(v, parent, subject)
	}
	part, ok := x.parts[locale+" "+subject]
	if !ok {
		return
	}
	text, err := io.ReadAll(flate.NewReader(strings.NewReader(part)))
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		panic("intl: the pack of locales is broken at " + locale + " " + subject + ": " + err.Error())
	}
}

// numberData says how a language writes numbers. In patterns {n} is the number, {-} its
// sign, {$} the currency, {%} the sign of percent, {c:K} the word of a compact number,
// and {u:km} that of a unit.
type numberData struct {
	NU                                string
	Decimal, Group                    string
	CurrencyDecimal, CurrencyGroup    string
	Minus, Plus, PercentSign          string
	Exponent, ExponentMinus           string
	NaN, Infinity                     string
	Primary, Secondary, Minimum       int
	Number, Percent                   [2]string // positive and negative
	CompactPercent                    string
	CurrencySign, CurrencyLetters     [2]string // by what stands beside the number
	AccountingSign, AccountingLetters [2]string
	CurrencyName                      plurals
	Short, Long                       map[string]plurals // by the power of ten; "drop" is how many digits the word stands for
	CurrencyShort                     map[string]plurals
	CurrencyShortLetters              map[string]plurals
	Range, Approximately              string
}

// plurals are texts by plural category. A category that is missing is as "other".
type plurals map[string]string

func (p plurals) of(category string) string {
	for _, c := range []string{category, "other", "many", "few"} {
		if s, ok := p[c]; ok {
			return s
		}
	}
	return "{n}"
}

// currencyData has for each code: symbol, narrow symbol, name, and then the plural
// categories each followed by the name that a number has beside it. An empty symbol is
// the code, an empty narrow symbol is the symbol.
type currencyData struct {
	Currencies map[string][]string
}

type unitData struct {
	Units    map[string]plurals // patterns by "kilometer short"
	Per      map[string]string  // by "hour short", how it stands below the other unit {0}
	Compound map[string]plurals // pairs that are not what the above says
}

// dateData says how a language writes dates. In patterns {y} is the year, {yy} its last
// two digits; {M}, {d}, {h}, {m} and {s} are numbers, doubled with two digits; {M:3} is a
// name of Lists[3], by month; so are {E:n}, {G:n} and {a:n} by weekday, era and hour (and
// then hour with minutes); {z} is the zone. Other members are numbers of patterns, 0 for
// none. In patterns of ranges, what follows {<} is of the start, {>} of the end, {=} of
// both.
type dateData struct {
	Patterns           []string
	Lists              [][]string
	Dates, Times       []int
	WeekTimes          []int // of a weekday and a time
	DateStyles         []int
	TimeStyles         []int
	DateRanges         []int
	TimeRanges         []int
	DateStyleRanges    []int
	TimeStyleRanges    []int
	Glue, StyleGlue    []string
	RangeGlue, Decimal string
	Calendar           string
	Cycles             []string // usual, of hour12: true, of hour12: false
}

type zoneData struct {
	// Zones has long standard, long summer, long generic, short standard, short summer and
	// short generic name. An empty one is the offset.
	Zones      map[string][]string
	East, West string    // how offsets of nine hours and of seven are written
	Zero       [2]string // and none, short and long
	UTC        [2]string // short and long
}

type wordData struct {
	Relative          map[string]relativeData // by "day long"
	List              map[string][]string     // by "unit short": between two, after the first, between, before the last
	Cardinal, Ordinal []string
	Ranges            map[string]string // plural category of ranges, where it is not that of the end
}

// relativeData is written as an array: future, past, and names.
type relativeData struct {
	future, past plurals
	named        map[string]string
}

func (r *relativeData) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&r.future, &r.past, &r.named})
}

type nameData struct {
	Region, Language, Script                 map[string]string
	RegionShort, LanguageShort               map[string]string
	Calendar, Field, FieldShort, FieldNarrow map[string]string
	Combined, Several                        string
}

// worldData is what does not depend on the language.
type worldData struct {
	Aliases                                  string            // lines of a zone and its other names
	Week                                     map[string]string // regions by "firstDay weekend minimalDays"
	ZonesOf                                  map[string]string // by region
	Decimals                                 map[string]int    // of currencies, where it is not 2
	Digits                                   map[string]string // by numbering system
	Currencies, Units, Calendars, Collations string            // between spaces
	NumberingSystems                         string
}

var world = sync.OnceValue(func() *worldData { return load[worldData]("und", "world") })

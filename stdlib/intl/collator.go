package intl

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/dop251/goja"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"mcpx/stdlib/internal/native"
)

// collator is an Intl.Collator.
type collator struct {
	locale                                locale
	usage, sensitivity, caseFirst, tailor string
	ignorePunctuation, numeric            bool

	*order
	bound goja.Value
}

// order is how a language sorts, which collators share.
type order struct {
	collate *collate.Collator
	left    collate.Buffer
	right   collate.Buffer
	ascii   *[128]weight // nil if the language changes the order of ASCII
	// Primary weights of the letter a, and of the ends of the script that goes before it;
	// none if none does.
	latin, first, last string
}

type orderKey struct {
	locale, tailor string
	numeric        bool
}

// weight is how a character of ASCII sorts.
type weight struct {
	primary  uint16
	tertiary byte
	ignored  bool // with ignorePunctuation
}

func (m *module) newCollator(locales, opts goja.Value) *collator {
	requested := m.requested(locales)
	o := m.coerced("Intl.Collator", opts)
	c := &collator{usage: o.text("usage", "sort", "sort", "search")}
	o.matcher()
	chosen := map[string]string{}
	if co := o.text("collation", ""); co != "" {
		if !isType(co) {
			panic(m.rangeError("Invalid collation : " + co))
		}
		chosen["co"] = strings.ToLower(co)
	}
	if numeric, has := o.boolean("numeric"); has {
		chosen["kn"] = map[bool]string{true: "true", false: "false"}[numeric]
	}
	if first := o.text("caseFirst", "", "upper", "lower", "false"); first != "" {
		chosen["kf"] = first
	}
	c.locale = m.resolve(requested, chosen, func(key, value string) bool {
		switch key {
		case "co":
			return value != "standard" && value != "search" && strings.Contains(" "+world().Collations+" ", " "+value+" ")
		case "kn":
			return value == "true" || value == "false"
		}
		return value == "upper" || value == "lower" || value == "false"
	}, "co", "kn", "kf")
	c.numeric = c.locale.values["kn"] == "true"
	c.tailor = c.locale.values["co"]
	c.caseFirst = c.locale.values["kf"]
	if c.caseFirst == "" {
		c.caseFirst = "false"
		if name := c.locale.tag.language; name == "da" || name == "mt" {
			c.caseFirst = "upper"
		}
	}
	c.sensitivity = o.text("sensitivity", "variant", "base", "accent", "case", "variant")
	ignore, has := o.boolean("ignorePunctuation")
	c.ignorePunctuation = ignore || !has && c.locale.tag.language == "th"
	c.order = m.orderOf(c.locale.tag, c.tailor, c.numeric)
	return c
}

func (m *module) orderOf(t tag, tailor string, numeric bool) *order {
	key := orderKey{t.base(), tailor, numeric}
	if o, ok := m.cached.orders[key]; ok {
		return o
	}
	name := t.base()
	if t.language == "nb" || t.language == "nn" {
		name = "da" // whose alphabet it is; x/text has none for Norwegian
	}
	if tailor != "" {
		name += "-u-co-" + tailor
	}
	x := language.Make(name)
	options := []collate.Option{collate.OptionsFromTag(x)}
	if numeric {
		options = append(options, collate.Numeric)
	}
	o := &order{collate: collate.New(x, options...)}
	if strings.Contains(" en de fr it pt nl id ms ", " "+t.language+" ") && tailor == "" {
		o.ascii = asciiWeights()
	}
	if script, ok := firstScripts()[t.language]; ok && t.script != "Latn" {
		o.findBlock(script)
	}
	if len(m.cached.orders) >= maxCached || m.cached.orders == nil {
		m.cached.orders = map[orderKey]*order{}
	}
	m.cached.orders[key] = o
	return o
}

// asciiWeights reads how the characters of ASCII sort off their keys.
var asciiWeights = sync.OnceValue(func() *[128]weight {
	plain := collate.New(language.English)
	var table [128]weight
	var buffer collate.Buffer
	for i := range table {
		s := string(rune(i))
		k := splitKey(plain.KeyFromString(&buffer, s))
		if len(k.primary) == 2 && len(k.tertiary) == 1 {
			table[i] = weight{uint16(k.primary[0])<<8 | uint16(k.primary[1]), k.tertiary[0], punctuation(rune(i))}
		}
		buffer.Reset()
	}
	return &table
})

// punctuation is what ignorePunctuation ignores.
func punctuation(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) }

func withoutPunctuation(s string) string {
	return strings.Map(func(r rune) rune {
		if punctuation(r) {
			return -1
		}
		return r
	}, s)
}

// key is a sort key by its levels.
type key struct{ primary, secondary, tertiary []byte }

// splitKey takes a key apart: primary weights of two bytes, or of three if the first has
// its high bit, then secondary of two and tertiary of one, after two zeros each.
func splitKey(b []byte) key {
	i := 0
	for i+1 < len(b) && (b[i] != 0 || b[i+1] != 0) {
		i += 2 + int(b[i]>>7)
	}
	i = min(i, len(b))
	k := key{primary: b[:i]}
	rest := b[min(i+2, len(b)):]
	i = 0
	for i+1 < len(rest) && (rest[i] != 0 || rest[i+1] != 0) {
		i += 2
	}
	k.secondary = rest[:i]
	k.tertiary = rest[min(i+2, len(rest)):]
	return k
}

// compare orders two texts: -1, 0 or 1.
func (c *collator) compare(a, b string) int {
	if a == b {
		return 0
	}
	if c.ascii != nil {
		if order, ok := c.compareASCII(a, b); ok {
			return order
		}
	}
	if c.ignorePunctuation {
		a, b = withoutPunctuation(a), withoutPunctuation(b)
	}
	if c.sensitivity == "variant" && c.caseFirst != "upper" && c.latin == "" {
		return c.collate.CompareString(a, b)
	}
	c.left.Reset()
	c.right.Reset()
	x, y := splitKey(c.collate.KeyFromString(&c.left, a)), splitKey(c.collate.KeyFromString(&c.right, b))
	if n := c.comparePrimary(x.primary, y.primary); n != 0 {
		return n
	}
	if c.sensitivity == "accent" || c.sensitivity == "variant" {
		if n := bytes.Compare(x.secondary, y.secondary); n != 0 {
			return n
		}
	}
	if c.sensitivity == "case" || c.caseFirst == "upper" && c.sensitivity == "variant" {
		n := bytes.Compare(x.cases(), y.cases())
		if c.caseFirst == "upper" {
			n = -n
		}
		if n != 0 {
			return n
		}
	}
	if c.sensitivity == "variant" {
		return bytes.Compare(x.tertiary, y.tertiary)
	}
	return 0
}

// firstScripts are the letters of the scripts that languages put before the Latin one.
var firstScripts = sync.OnceValue(func() map[string][2]rune {
	cyrillic, arabic := [2]rune{0x400, 0x527}, [2]rune{0x621, 0x6d3}
	return map[string][2]rune{
		"ru": cyrillic, "uk": cyrillic, "be": cyrillic, "bg": cyrillic, "mk": cyrillic, "sr": cyrillic, "kk": cyrillic, "el": {0x3b1, 0x3c9},
		"he": {0x5d0, 0x5ea}, "ar": arabic, "fa": arabic, "ur": arabic, "hi": {0x905, 0x939}, "mr": {0x905, 0x939}, "bn": {0x985, 0x9b9},
		"ta": {0xb85, 0xbb9}, "te": {0xc05, 0xc39}, "th": {0xe01, 0xe2e}, "ko": {0xac00, 0xd7a3}, "zh": {},
	}
})

// comparePrimary orders primary weights. Where the language's own script goes first, its
// block moves before Latin.
func (o *order) comparePrimary(x, y []byte) int {
	if o.latin == "" {
		return bytes.Compare(x, y)
	}
	for len(x) > 1 && len(y) > 1 {
		n, m := min(2+int(x[0]>>7), len(x)), min(2+int(y[0]>>7), len(y))
		a, b := string(x[:n]), string(y[:m])
		if order := cmp.Or(o.place(a)-o.place(b), strings.Compare(a, b)); order != 0 {
			return sign(order)
		}
		x, y = x[n:], y[m:]
	}
	return sign(len(x) - len(y))
}

// findBlock finds the weights of the script that goes first.
func (o *order) findBlock(script [2]rune) {
	var buffer collate.Buffer
	weight := func(r rune) string {
		buffer.Reset()
		k := splitKey(o.collate.KeyFromString(&buffer, string(r)))
		if len(k.primary) == 0 {
			return ""
		}
		return string(k.primary[:min(2+int(k.primary[0]>>7), len(k.primary))])
	}
	o.latin = weight('a')
	if script[0] == 0 {
		o.first, o.last = "\x80", "\xff" // ideographs, which have long weights
		return
	}
	step := rune(1)
	if script[1]-script[0] > 1000 {
		step = script[1] - script[0]
	}
	for r := script[0]; r <= script[1]; r += step {
		w := weight(r)
		if !unicode.IsLetter(r) || w == "" || len(w) > 2 && step == 1 {
			continue // or unknown to the tables
		}
		if o.first == "" || w < o.first {
			o.first = w
		}
		o.last = max(o.last, w)
	}
}

// place is 0 for what is before letters, 1 for the first script and 2 for the others.
func (o *order) place(weight string) int {
	switch {
	case weight >= o.first && weight <= o.last:
		return 1
	case weight < o.latin:
		return 0
	}
	return 2
}

// cases tells capitals from other letters, leaving out accents.
func (k key) cases() []byte {
	list := make([]byte, 0, len(k.tertiary))
	for i, t := range k.tertiary {
		if j := 2 * i; j+1 < len(k.secondary) && (k.secondary[j] != 0 || k.secondary[j+1] != 0x20) {
			continue
		}
		list = append(list, byte(bit(upper(t))))
	}
	return list
}

func upper(tertiary byte) bool { return tertiary >= 8 && tertiary <= 0xc }

// compareASCII is the same for texts in ASCII, much faster. It is false for others.
func (c *collator) compareASCII(a, b string) (order int, ok bool) {
	i, j, first := 0, 0, 0
	for {
		for i < len(a) && a[i] < 128 && (c.ascii[a[i]].primary == 0 || c.ignorePunctuation && c.ascii[a[i]].ignored) {
			i++
		}
		for j < len(b) && b[j] < 128 && (c.ascii[b[j]].primary == 0 || c.ignorePunctuation && c.ascii[b[j]].ignored) {
			j++
		}
		if i == len(a) || j == len(b) {
			break
		}
		if a[i] >= 128 || b[j] >= 128 {
			return 0, false
		}
		if c.numeric && isDigit(rune(a[i])) && isDigit(rune(b[j])) {
			x, y := digitRun(a[i:]), digitRun(b[j:])
			i, j = i+len(x), j+len(y)
			if i < len(a) && a[i] >= 128 || j < len(b) && b[j] >= 128 {
				return 0, false
			}
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if len(x) != len(y) {
				return sign(len(x) - len(y)), true
			}
			if n := strings.Compare(x, y); n != 0 {
				return n, true
			}
			continue
		}
		x, y := c.ascii[a[i]], c.ascii[b[j]]
		i, j = i+1, j+1
		// An accent may follow, which belongs to the character.
		if i < len(a) && a[i] >= 128 || j < len(b) && b[j] >= 128 {
			return 0, false
		}
		if x.primary != y.primary {
			return sign(int(x.primary) - int(y.primary)), true
		}
		if first == 0 {
			first = sign(int(x.tertiary) - int(y.tertiary))
		}
	}
	if i < len(a) && a[i] >= 128 || j < len(b) && b[j] >= 128 {
		return 0, false
	}
	switch {
	case i < len(a):
		return 1, true
	case j < len(b):
		return -1, true
	case c.sensitivity == "base" || c.sensitivity == "accent":
		return 0, true
	case c.caseFirst == "upper":
		return -first, true
	}
	return first, true
}

func digitRun(s string) string {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return s[:i]
		}
	}
	return s
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func (m *module) collatorClass() goja.Value {
	slot := native.NewSlot[*collator]()
	class := m.service("Collator", 0, true, func(object *goja.Object, locales, opts goja.Value) {
		slot.Set(object, m.newCollator(locales, opts))
	})
	class.Getter("compare", func(v goja.Value) goja.Value {
		c := receiver(m, slot, v, "Intl.Collator.prototype.compare")
		if c.bound == nil {
			c.bound = native.Func(m.vm, "", 2, func(call goja.FunctionCall) goja.Value {
				a, b := native.String(m.vm, call.Argument(0)), native.String(m.vm, call.Argument(1))
				return m.vm.ToValue(c.compare(a.String(), b.String()))
			})
		}
		return c.bound
	})
	class.Method("resolvedOptions", 0, func(call goja.FunctionCall) goja.Value {
		c := receiver(m, slot, call.This, "Intl.Collator.prototype.resolvedOptions")
		return m.object(func(add func(name string, value any)) {
			shown := c.locale.tag
			if !slices.Contains([]string{"en-US", "fr-CA", "de-AT", "nb-NO"}, shown.base()) && shown.language != "zh" {
				shown.region = "" // it has no order of its own
			}
			add("locale", shown.String())
			add("usage", c.usage)
			add("sensitivity", c.sensitivity)
			add("ignorePunctuation", c.ignorePunctuation)
			collation := c.tailor
			if collation == "" {
				collation = "default"
			}
			add("collation", collation)
			add("numeric", c.numeric)
			add("caseFirst", c.caseFirst)
		})
	})
	return class.Constructor
}

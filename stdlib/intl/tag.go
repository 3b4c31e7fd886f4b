package intl

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// tag is a language tag, a unicode_locale_id of UTS 35, in canonical form.
type tag struct {
	language, script, region string
	variants                 []string
	attributes               []string
	keywords                 []keyword // of the extension u, sorted
	others                   []string  // other extensions, "t-en", sorted
	private                  string    // after x-
}

type keyword struct{ key, value string }

// base is the tag without extensions.
func (t tag) base() string {
	parts := []string{t.language}
	if t.script != "" {
		parts = append(parts, t.script)
	}
	if t.region != "" {
		parts = append(parts, t.region)
	}
	return strings.Join(append(parts, t.variants...), "-")
}

func (t tag) String() string {
	extensions := slices.Clone(t.others)
	if len(t.attributes)+len(t.keywords) > 0 {
		u := append([]string{"u"}, t.attributes...)
		for _, k := range t.keywords {
			u = append(u, k.key)
			if k.value != "" {
				u = append(u, k.value)
			}
		}
		extensions = append(extensions, strings.Join(u, "-"))
		slices.Sort(extensions)
	}
	s := strings.Join(append([]string{t.base()}, extensions...), "-")
	if t.private != "" {
		s += "-x-" + t.private
	}
	return s
}

// keyword returns the value of a key of the extension u; a key without one is "".
func (t tag) keyword(key string) (string, bool) {
	for _, k := range t.keywords {
		if k.key == key {
			return k.value, true
		}
	}
	return "", false
}

// with returns the tag with a keyword set.
func (t tag) with(key, value string) tag {
	t = t.without(key)
	t.keywords = append(t.keywords, keyword{key, value})
	slices.SortFunc(t.keywords, func(a, b keyword) int { return strings.Compare(a.key, b.key) })
	return t
}

func (t tag) without(key string) tag {
	t.keywords = slices.DeleteFunc(slices.Clone(t.keywords), func(k keyword) bool { return k.key == key })
	return t
}

// maxTag is longer than any tag that means something.
const maxTag = 1024

// parseTag reads a tag and makes it canonical. It is false for what is none.
func parseTag(s string) (t tag, ok bool) {
	if len(s) > maxTag {
		return t, false
	}
	p := tagParser{subtags: strings.Split(strings.ToLower(s), "-")}
	for _, sub := range p.subtags {
		if sub == "" || len(sub) > 8 || strings.ContainsFunc(sub, func(r rune) bool { return !isAlpha(r) && !isDigit(r) }) {
			return t, false
		}
	}
	if !p.head(&t) || !p.extensions(&t) || len(p.subtags) > 0 {
		return t, false
	}
	t.canonicalize()
	return t, true
}

type tagParser struct{ subtags []string }

// next is the next subtag, "" at the end.
func (p *tagParser) next() string {
	if len(p.subtags) == 0 {
		return ""
	}
	return p.subtags[0]
}

func (p *tagParser) take() string {
	s := p.subtags[0]
	p.subtags = p.subtags[1:]
	return s
}

func (p *tagParser) head(t *tag) bool {
	if s := p.next(); !alphabetic(s) || len(s) < 2 || len(s) == 4 {
		return false
	}
	t.language = p.take()
	if s := p.next(); len(s) == 4 && alphabetic(s) {
		t.script = title(p.take())
	}
	if s := p.next(); len(s) == 2 && alphabetic(s) || len(s) == 3 && numeric(s) {
		t.region = strings.ToUpper(p.take())
	}
	for s := p.next(); isVariant(s); s = p.next() {
		if slices.Contains(t.variants, s) {
			return false
		}
		t.variants = append(t.variants, p.take())
	}
	slices.Sort(t.variants)
	return true
}

func isVariant(s string) bool {
	return len(s) >= 5 || len(s) == 4 && s[0] >= '0' && s[0] <= '9'
}

func (p *tagParser) extensions(t *tag) bool {
	seen := ""
	for len(p.next()) == 1 {
		singleton := p.take()
		if strings.Contains(seen, singleton) {
			return false
		}
		seen += singleton
		switch singleton {
		case "x":
			t.private = strings.Join(p.subtags, "-")
			p.subtags = nil
			return t.private != ""
		case "u":
			if !p.unicode(t) {
				return false
			}
		default:
			var rest []string
			for len(p.next()) > 1 {
				rest = append(rest, p.take())
			}
			if len(rest) == 0 {
				return false
			}
			t.others = append(t.others, singleton+"-"+strings.Join(rest, "-"))
		}
	}
	slices.Sort(t.others)
	return true
}

func (p *tagParser) unicode(t *tag) bool {
	for len(p.next()) > 2 {
		t.attributes = append(t.attributes, p.take())
	}
	for s := p.next(); len(s) == 2; s = p.next() {
		if !alphabetic(s[1:]) {
			return false
		}
		key := p.take()
		var value []string
		for len(p.next()) > 2 {
			value = append(value, p.take())
		}
		if _, known := t.keyword(key); known {
			continue // the first one counts
		}
		text := strings.Join(value, "-")
		if text == "true" || text == "yes" && strings.Contains("kb kc kh kk kn", key) {
			text = ""
		}
		t.keywords = append(t.keywords, keyword{key, canonicalValue(key, text)})
	}
	slices.SortStableFunc(t.keywords, func(a, b keyword) int { return strings.Compare(a.key, b.key) })
	return len(t.attributes)+len(t.keywords) > 0
}

// canonicalValue replaces old names of calendars and collations.
func canonicalValue(key, value string) string {
	switch key + "-" + value {
	case "ca-gregorian":
		return "gregory"
	case "ca-ethiopic-amete-alem":
		return "ethioaa"
	case "ca-islamicc":
		return "islamic-civil"
	case "co-dictionary":
		return "dict"
	case "co-phonebook":
		return "phonebk"
	case "co-traditional":
		return "trad"
	}
	return value
}

// renamed are languages that have another code now. A second word is the script.
var renamed = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "tl": "fil", "tw": "ak", "sh": "sr Latn",
		"cmn": "zh", "arb": "ar", "swc": "sw CD", "tgl": "fil", "fra": "fr", "fre": "fr", "ger": "de", "zsm": "ms", "pes": "fa", "prs": "fa AF",
	}
})

var renamedRegions = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"UK": "GB", "DD": "DE", "SU": "RU", "YU": "RS", "CS": "RS", "TP": "TL", "BU": "MM", "ZR": "CD", "AN": "CW", "FX": "FR", "NT": "SA",
		"QU": "EU", "VD": "VN", "YD": "YE", "NH": "VU", "HV": "BF", "DY": "BJ", "RH": "ZW",
	}
})

func (t *tag) canonicalize() {
	if name, old := renamed()[t.language]; old {
		name, more, _ := strings.Cut(name, " ")
		t.language = name
		if len(more) == 4 && t.script == "" {
			t.script = more
		}
		if len(more) == 2 && t.region == "" {
			t.region = more
		}
	} else if len(t.language) == 3 {
		if b, err := language.ParseBase(t.language); err == nil && len(b.String()) == 2 {
			t.language = b.String()
		}
	}
	if name, old := renamedRegions()[t.region]; old {
		t.region = name
	} else if numeric(t.region) {
		if r, err := language.ParseRegion(t.region); err == nil && len(r.String()) == 2 {
			t.region = r.String()
		}
	}
}

// expand adds the script and the region that most who write the language use.
func (t tag) expand() tag {
	x, err := language.Raw.Parse(t.base())
	if err != nil {
		return t
	}
	x, err = language.Raw.Compose(x)
	if err != nil {
		return t
	}
	base, _ := x.Base()
	script, c := x.Script()
	region, d := x.Region()
	if t.language == "und" && base.String() != "und" {
		t.language = base.String()
	}
	if t.script == "" && c > language.No && script.String() != "Zzzz" {
		t.script = script.String()
	}
	if t.region == "" && d > language.No && region.String() != "ZZ" {
		t.region = region.String()
	}
	return t
}

// shorten drops what expand would add.
func (t tag) shorten() tag {
	full := t.expand()
	for _, shorter := range []tag{{language: full.language}, {language: full.language, region: full.region}, {language: full.language, script: full.script}} {
		if x := shorter.expand(); x.language == full.language && x.script == full.script && x.region == full.region {
			t.language, t.script, t.region = shorter.language, shorter.script, shorter.region
			return t
		}
	}
	t.language, t.script, t.region = full.language, full.script, full.region
	return t
}

func isAlpha(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func alphabetic(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !isAlpha(r) })
}

func numeric(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !isDigit(r) })
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

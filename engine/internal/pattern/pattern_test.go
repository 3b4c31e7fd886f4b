package pattern

import (
	"strings"
	"testing"
	"unicode/utf16"
)

func translate(t testing.TB, source, flags string) *Pattern {
	t.Helper()
	p, err := Translate(utf16.Encode([]rune(source)), flags)
	if err != nil {
		t.Fatalf("/%s/%s: %v", source, flags, err)
	}
	return p
}

func TestTranslate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, flags, want, wantFlags string }{
		{name: "as it is", source: `^a(b|c)*?[^\d-\b]{2,3}$`, flags: "gi", want: "", wantFlags: "gi"},
		{name: "nothing special under u", source: `(\d+)-.`, flags: "u", want: "", wantFlags: "u"},
		{name: "indices", source: `a\ud83d\ude00`, flags: "dgu", want: "a😀", wantFlags: "gu"},
		{name: "property", source: `\p{ASCII_Hex_Digit}`, flags: "u", want: "[0-9A-Fa-f]", wantFlags: "u"},
		{name: "property and its complement", source: `[\p{ASCII}\P{ASCII}]`, flags: "u", want: "[\\x00-\U0010FFFF]", wantFlags: "u"},
		{name: "lines", source: `^a$`, flags: "m", want: `(?:^|(?<=[\x0a\x0d\u2028-\u2029]))a(?:$|(?=[\x0a\x0d\u2028-\u2029]))`, wantFlags: "m"},
		{name: "difference", source: `[[a-z]--[aeiou]]`, flags: "v", want: "[b-df-hj-np-tv-z]", wantFlags: "u"},
		{name: "intersection", source: `[\w&&[^a-z]&&\p{L}]`, flags: "v", want: "[A-Z]", wantFlags: "u"},
		{name: "strings", source: `[\q{abc|d|}x]`, flags: "v", want: "(?:abc|[dx]|)", wantFlags: "u"},
		{name: "a group that ignores case", source: `a(?i:b-)c`, flags: "", want: `a(?:[Bb]-)c`, wantFlags: ""},
		{name: "a group that does not", source: `a(?-i:b)`, flags: "i", want: `[Aa](?:b)`, wantFlags: ""},
		{name: "a group with the dot", source: `.(?s:.)`, flags: "", want: `[^\x0a\x0d\u2028-\u2029]` + "(?:[\\x00-\uFFFF])", wantFlags: ""},
		{name: "edges of a word", source: `\b(?:\d+|foo)\b.\B`, flags: "", want: `(?<![0-9A-Z_a-z])(?:(?:[0-9])+|foo)(?![0-9A-Z_a-z])[^\x0a\x0d\u2028-\u2029](?:(?<=[0-9A-Z_a-z])(?=[0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?![0-9A-Z_a-z]))`},
		{name: "one name twice", source: `(?:(?<a>x)|(?<a>y))\k<a>`, flags: "", want: `(?:(x)|(y))(?:(?:\1)(?:\2))`, wantFlags: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := translate(t, c.source, c.flags)
			if p.Source != c.want || p.Flags != c.wantFlags {
				t.Errorf("/%s/%s = %q, %q, want %q, %q", c.source, c.flags, p.Source, p.Flags, c.want, c.wantFlags)
			}
		})
	}
}

func TestInvalidPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, flags, want string }{
		{"(", "", "Unterminated group"},
		{"[", "", "Unterminated character class"},
		{"*", "", "Nothing to repeat"},
		{"a**", "", "Nothing to repeat"},
		{"{1}", "", "Nothing to repeat"},
		{"{", "u", "Nothing to repeat"},
		{"}", "u", "Lone quantifier brackets"},
		{"a{", "u", "Incomplete quantifier"},
		{"a{2,1}", "", "numbers out of order in {} quantifier"},
		{")", "", "Unmatched ')'"},
		{"(?a)", "", "Invalid group"},
		{"(?-:a)", "", "Invalid group"},
		{"(?ii:a)", "", "Repeated flag in flag group"},
		{"(?<a>.)(?<a>.)", "", "Duplicate capture group name"},
		{"(?<1a>.)", "", "Invalid capture group name"},
		{`\k<a>`, "u", "Invalid named capture referenced"},
		{`(?<b>x)\k<a>`, "", "Invalid named capture referenced"},
		{`(?<b>x)\k`, "", "Invalid named reference"},
		{`\`, "", `\ at end of pattern`},
		{`\1`, "u", "Invalid escape"},
		{`\-`, "u", "Invalid escape"},
		{`\u{110000}`, "u", "Invalid Unicode escape"},
		{`\p{Foo}`, "u", "Invalid property name"},
		{`\p{Other_Math}`, "u", "Invalid property name"},
		{`\00`, "u", "Invalid decimal escape"},
		{`[b-a]`, "", "Range out of order in character class"},
		{`[\w-a]`, "u", "Invalid character class"},
		{`[a&&&b]`, "v", "Invalid character in character class"},
		{`[a--b&&c]`, "v", "Invalid set operation in character class"},
		{`[^\q{ab}]`, "v", "Negated character class may contain strings"},
		{"(?<=a)*", "", "Nothing to repeat"},
		{"(?=a)*", "u", "Nothing to repeat"},
		{strings.Repeat("(", 5000), "", "Regular expression too large"},
		{strings.Repeat(`\p{L}`, 5000), "u", "Regular expression too large"},
		{"(?<a>x)(?:b|(?<a>y))", "", "Duplicate capture group name"},
		{"(?:(?<a>x)|b)(?:(?<a>y)|c)", "", "Duplicate capture group name"},
	} {
		p, err := Translate(utf16.Encode([]rune(c.source)), c.flags)
		if err == nil {
			t.Errorf("/%s/%s = %q, want the error %q", c.source, c.flags, p.Source, c.want)
		} else if err.Error() != c.want && c.source != "[a&&&b]" {
			t.Errorf("/%s/%s: %v, want %s", c.source, c.flags, err, c.want)
		}
	}
}

// TestOddButValid has what the web's older grammar allows.
func TestOddButValid(t *testing.T) {
	t.Parallel()
	for _, source := range []string{`a{,2}`, `]`, `}`, `{`, `\k`, `\c`, `[\c]`, `\8`, `[\w-a]`, `\u12`, `\xg`, `(?=a)*`, `\1(a)`, `[]`, `[^]`, `x{99999999999}`, `\p{L}`, `\-`, ``} {
		if p := translate(t, source, ""); p.Source != "" {
			t.Errorf("/%s/ = %q, want it left alone", source, p.Source)
		}
	}
}

func TestProperties(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string
		has, not rune
	}{
		{"L", 'é', '1'},
		{"Letter", 'é', '1'},
		{"gc=Nd", '٣', 'a'},
		{"General_Category=Uppercase_Letter", 'É', 'é'},
		{"Script=Greek", 'α', 'a'},
		{"sc=Grek", 'α', 'a'},
		{"scx=Deva", '।', 'a'},
		{"Script_Extensions=Latin", 'a', 'α'},
		{"Emoji", '😀', 'a'},
		{"Emoji_Presentation", '😀', '☃'},
		{"EPres", '🎉', '1'},
		{"Extended_Pictographic", '☃', '1'},
		{"Alphabetic", 'ⅷ', '1'},
		{"Uppercase", 'Ⅷ', 'ⅷ'},
		{"Lower", 'ª', 'A'},
		{"White_Space", '\u3000', 'a'},
		{"IDS", 'a', '1'},
		{"ID_Continue", '1', ' '},
		{"Any", 0, -1},
		{"Assigned", 'a', '\u0378'},
		{"C", '\u0378', 'a'},
		{"Cased", 'a', '中'},
		{"Ideographic", '中', 'a'},
		{"Case_Ignorable", '\'', 'a'},
		{"Math", '+', 'a'},
		{"Common", 0, 0},
	} {
		s, ok := property(c.text)
		if c.text == "Common" {
			if ok {
				t.Errorf("a script without its key is a property")
			}
			continue
		}
		if !ok || !s.has(c.has) || c.not >= 0 && s.has(c.not) {
			t.Errorf("\\p{%s}: known %v, has %q %v, has %q %v", c.text, ok, c.has, s.has(c.has), c.not, s.has(c.not))
		}
	}
	for name := range short {
		if _, ok := property(name); !ok {
			t.Errorf("\\p{%s} is not known", name)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source, flags string
		want          bool
	}{
		{`^\w+$`, "gi", true},
		{`(?:a)(?=b)(?<!c)`, "", true},
		{`abc`, "u", true},
		{`\bé`, "u", false},
		{`^a`, "m", false},
		{`a`, "d", false},
		{`a`, "v", false},
		{`(?i:a)`, "", false},
		{`(?<n>a)`, "", false},
		{`(?`, "", false},
	} {
		if got := Plain(c.source, c.flags); got != c.want {
			t.Errorf("Plain(%q, %q) = %v", c.source, c.flags, got)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	for _, s := range []string{`\p{L}+`, `[\w--[a-f]&&\q{abc|d}]`, `(?<a>x)|(?<a>y)\k<a>`, `(?i-s:a.)`, `\u{1F600}`, `[^]`, `a{2,}`} {
		f.Add(s, "v")
		f.Add(s, "imsu")
		f.Add(s, "")
	}
	f.Fuzz(func(t *testing.T, source, flags string) {
		if len(source) > 200 || !Valid(flags) {
			return
		}
		p, err := Translate(utf16.Encode([]rune(source)), flags)
		if err != nil {
			return
		}
		if p.Source == "" {
			return
		}
		// What was written is a pattern again.
		if _, err := Translate(utf16.Encode([]rune(p.Source)), p.Flags); err != nil {
			t.Fatalf("/%s/%s became /%.300s/%s: %v", source, flags, p.Source, p.Flags, err)
		}
	})
}

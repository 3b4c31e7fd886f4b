package pattern

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

//go:embed properties.txt
var propertyText string

// properties is properties.txt by line: what package unicode does not have.
type properties struct {
	scripts    map[string]string // names of four letters → long names
	more, less map[string]string // script → code points
	binary     map[string]string // property → code points
}

var others = sync.OnceValue(func() *properties {
	p := &properties{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}}
	kinds := map[string]map[string]string{"script": p.scripts, "more": p.more, "less": p.less, "property": p.binary}
	for line := range strings.Lines(propertyText) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, value, _ := strings.Cut(rest, " ")
		kinds[kind][name] = value
	}
	return p
})

// decoded reads the code points of a line of properties.txt.
func decoded(text string) set {
	var s set
	end := rune(0)
	fields := strings.Fields(text)
	for i := 0; i+1 < len(fields); i += 2 {
		gap, _ := strconv.ParseInt(fields[i], 36, 32)
		length, _ := strconv.ParseInt(fields[i+1], 36, 32)
		low := end + rune(gap)
		end = low + rune(length)
		s = append(s, span{low, end - 1})
	}
	return s
}

// short holds the short names of binary properties.
var short = map[string]string{
	"AHex": "ASCII_Hex_Digit", "Alpha": "Alphabetic", "Bidi_C": "Bidi_Control", "Bidi_M": "Bidi_Mirrored", "CI": "Case_Ignorable",
	"CWCF": "Changes_When_Casefolded", "CWCM": "Changes_When_Casemapped", "CWKCF": "Changes_When_NFKC_Casefolded",
	"CWL": "Changes_When_Lowercased", "CWT": "Changes_When_Titlecased", "CWU": "Changes_When_Uppercased",
	"DI": "Default_Ignorable_Code_Point", "Dep": "Deprecated", "Dia": "Diacritic", "EBase": "Emoji_Modifier_Base",
	"EComp": "Emoji_Component", "EMod": "Emoji_Modifier", "EPres": "Emoji_Presentation", "Ext": "Extender",
	"ExtPict": "Extended_Pictographic", "Gr_Base": "Grapheme_Base", "Gr_Ext": "Grapheme_Extend", "Hex": "Hex_Digit",
	"IDC": "ID_Continue", "IDS": "ID_Start", "IDSB": "IDS_Binary_Operator", "IDST": "IDS_Trinary_Operator",
	"Ideo": "Ideographic", "Join_C": "Join_Control", "LOE": "Logical_Order_Exception", "Lower": "Lowercase",
	"NChar": "Noncharacter_Code_Point", "Pat_Syn": "Pattern_Syntax", "Pat_WS": "Pattern_White_Space",
	"QMark": "Quotation_Mark", "RI": "Regional_Indicator", "SD": "Soft_Dotted", "STerm": "Sentence_Terminal",
	"Term": "Terminal_Punctuation", "UIdeo": "Unified_Ideograph", "Upper": "Uppercase", "VS": "Variation_Selector",
	"XIDC": "XID_Continue", "XIDS": "XID_Start", "space": "White_Space",
}

// unnamed are properties of package unicode that patterns cannot name.
var unnamed = []string{
	"Hyphen", "Other_Alphabetic", "Other_Default_Ignorable_Code_Point", "Other_Grapheme_Extend", "Other_ID_Continue",
	"Other_ID_Start", "Other_Lowercase", "Other_Math", "Other_Uppercase", "Prepended_Concatenation_Mark", "STerm",
}

// property returns the characters that \p{text} means, and false if it means none.
func property(text string) (set, bool) {
	name, value, hasValue := strings.Cut(text, "=")
	if hasValue {
		switch name {
		case "General_Category", "gc":
			return category(value)
		case "Script", "sc":
			return script(value)
		case "Script_Extensions", "scx":
			return extensions(value)
		}
		return nil, false
	}
	if s, ok := category(name); ok {
		return s, true
	}
	return binary(name)
}

func category(name string) (set, bool) {
	if code, ok := unicode.CategoryAliases[name]; ok {
		name = code
	}
	t, ok := unicode.Categories[name]
	if !ok {
		return nil, false
	}
	if name == "C" {
		return union(ofTable(t), ofTable(unicode.Categories["Cn"])), true
	}
	return ofTable(t), true
}

// script finds a script by either of its names.
func script(name string) (set, bool) {
	t, ok := unicode.Scripts[scriptName(name)]
	if !ok {
		return nil, false
	}
	return ofTable(t), true
}

func scriptName(name string) string {
	if long, ok := others().scripts[name]; ok {
		return long
	}
	switch name {
	case "Qaac":
		return "Coptic"
	case "Qaai":
		return "Inherited"
	}
	return name
}

// extensions returns the characters that a script shares with others too.
func extensions(name string) (set, bool) {
	s, ok := script(name)
	if !ok {
		return nil, false
	}
	name = scriptName(name)
	return union(s.minus(decoded(others().less[name])), decoded(others().more[name])), true
}

func tables(names ...string) set {
	var sets []set
	for _, name := range names {
		t := unicode.Categories[name]
		if t == nil {
			t = unicode.Properties[name]
		}
		sets = append(sets, ofTable(t))
	}
	return union(sets...)
}

// cased returns the characters that have another case.
var cased = sync.OnceValue(func() set {
	return union(tables("Lu", "Ll", "Lt", "Nl", "Other_Uppercase", "Other_Lowercase"), set{{0x345, 0x345}})
})

func binary(name string) (set, bool) {
	if long, ok := short[name]; ok {
		name = long
	}
	if slices.Contains(unnamed, name) {
		return nil, false
	}
	switch name {
	case "Any":
		return set{{0, unicode.MaxRune}}, true
	case "ASCII":
		return set{{0, 0x7F}}, true
	case "Assigned":
		return ofTable(unicode.Categories["Cn"]).complement(unicode.MaxRune), true
	case "Alphabetic":
		return tables("L", "Nl", "Other_Alphabetic"), true
	case "Uppercase":
		return tables("Lu", "Other_Uppercase"), true
	case "Lowercase":
		return tables("Ll", "Other_Lowercase"), true
	case "Cased":
		return tables("Lu", "Ll", "Lt", "Other_Uppercase", "Other_Lowercase"), true
	case "Math":
		return tables("Sm", "Other_Math"), true
	case "Grapheme_Extend":
		return tables("Me", "Mn", "Other_Grapheme_Extend"), true
	case "ID_Start":
		return tables("L", "Nl", "Other_ID_Start").minus(tables("Pattern_Syntax", "Pattern_White_Space")), true
	case "ID_Continue":
		return tables("L", "Nl", "Other_ID_Start", "Mn", "Mc", "Nd", "Pc", "Other_ID_Continue").
			minus(tables("Pattern_Syntax", "Pattern_White_Space")), true
	}
	if t, ok := unicode.Properties[name]; ok {
		return ofTable(t), true
	}
	if text, ok := others().binary[name]; ok {
		return decoded(text), true
	}
	return nil, false
}

// emoji returns the patterns of the sequences that a property of strings means, the
// longest first. They describe how sequences are built, and so also match some that no
// one draws.
func emoji(name string) ([]string, bool) {
	class := func(name string) string {
		s, _ := binary(name)
		return s.class()
	}
	var (
		flags     = "[\U0001F1E6-\U0001F1FF]{2}"
		keycaps   = "[0-9#*]\uFE0F\u20E3"
		tags      = "\U0001F3F4[\U000E0020-\U000E007E]+\U000E007F"
		modifiers = func() string { return class("Emoji_Modifier_Base") + class("Emoji_Modifier") }
		basic     = func() string {
			s, _ := binary("Emoji_Presentation")
			return "(?:" + class("Emoji") + "\uFE0F|" + s.minus(set{{0x1F1E6, 0x1F1FF}}).class() + ")"
		}
		joined = func() string {
			element := "(?:" + modifiers() + "|" + class("Emoji") + "\uFE0F?)"
			return element + "(?:\u200D" + element + ")+"
		}
	)
	switch name {
	case "Basic_Emoji":
		return []string{basic()}, true
	case "Emoji_Keycap_Sequence":
		return []string{keycaps}, true
	case "RGI_Modifier_Sequence":
		return []string{modifiers()}, true
	case "RGI_Flag_Sequence":
		return []string{flags}, true
	case "RGI_Emoji_Tag_Sequence":
		return []string{tags}, true
	case "RGI_ZWJ_Sequence":
		return []string{joined()}, true
	case "RGI_Emoji":
		return []string{joined(), tags, keycaps, modifiers(), flags, basic()}, true
	}
	return nil, false
}

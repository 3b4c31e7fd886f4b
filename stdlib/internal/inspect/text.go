package inspect

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
	"golang.org/x/text/width"
)

func itoa(n int) string { return strconv.Itoa(n) }

// unitsOf returns the UTF-16 code units of a JavaScript string.
func unitsOf(s goja.String) []uint16 {
	units := make([]uint16, s.Length())
	for i := range units {
		units[i] = s.CharAt(i)
	}
	return units
}

// length is the length that JavaScript would give for s.
func length(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0xF0:
			n -= 2
		case c >= 0xE0:
			n -= 2
		case c >= 0xC0:
			n--
		}
	}
	return n
}

// Width is the number of columns that s takes on a terminal, escape sequences not counted.
func Width(s string) int {
	columns := 0
	for _, r := range stripEscapes(s) {
		columns += runeWidth(r)
	}
	return columns
}

func runeWidth(r rune) int {
	if r >= ' ' && r < 0x7F {
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	if r != 0xAD && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Me, unicode.Mn) {
		return 0
	}
	return 1
}

// stripEscapes removes the terminal escape sequences that set colours and the like.
func stripEscapes(s string) string {
	if !strings.Contains(s, "\x1b[") {
		return s
	}
	var b strings.Builder
	for {
		start := strings.Index(s, "\x1b[")
		if start < 0 {
			return b.String() + s
		}
		b.WriteString(s[:start])
		s = s[start+2:]
		for s != "" && (s[0] == ';' || s[0] >= '0' && s[0] <= '9') {
			s = s[1:]
		}
		if s != "" {
			s = s[1:]
		}
	}
}

// indentLines indents every line but the first.
func indentLines(s string, by int) string {
	if by == 0 || !strings.Contains(s, "\n") {
		return s
	}
	return strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", by))
}

// quote writes a string as a literal, in the quotes that need least escaping.
func quote(units []uint16) string {
	has := func(c uint16) bool {
		return slices.Contains(units, c)
	}
	mark := byte('\'')
	if has('\'') {
		switch {
		case !has('"'):
			mark = '"'
		case !has('`') && !strings.Contains(string(utf16.Decode(units)), "${"):
			mark = '`'
		}
	}
	var b strings.Builder
	b.Grow(len(units) + 2)
	b.WriteByte(mark)
	escape(&b, units, mark == '\'')
	b.WriteByte(mark)
	return b.String()
}

// escape writes units with control characters, backslashes and lone surrogates
// escaped, and single quotes if asked to.
func escape(b *strings.Builder, units []uint16, single bool) {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(units); i++ {
		switch u := units[i]; {
		case u == '\'' && single:
			b.WriteString(`\'`)
		case u == '\\':
			b.WriteString(`\\`)
		case u == '\b':
			b.WriteString(`\b`)
		case u == '\t':
			b.WriteString(`\t`)
		case u == '\n':
			b.WriteString(`\n`)
		case u == '\f':
			b.WriteString(`\f`)
		case u == '\r':
			b.WriteString(`\r`)
		case u < ' ' || u >= 0x7F && u < 0xA0:
			b.WriteString(`\x`)
			b.WriteByte(hex[u>>4])
			b.WriteByte(hex[u&15])
		case u < utf8.RuneSelf:
			b.WriteByte(byte(u))
		case !utf16.IsSurrogate(rune(u)):
			b.WriteRune(rune(u))
		default:
			if i+1 < len(units) {
				if r := utf16.DecodeRune(rune(u), rune(units[i+1])); r != unicode.ReplacementChar {
					b.WriteRune(r)
					i++
					continue
				}
			}
			b.WriteString(`\u` + strconv.FormatUint(uint64(u), 16))
		}
	}
}

func escaped(s goja.String) string {
	var b strings.Builder
	escape(&b, unitsOf(s), true)
	return b.String()
}

func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// minLineLength is how long a string must be before it is split at its newlines.
const minLineLength = 16

// styler marks up text of a style; plain does not.
type styler func(text, style string) string

func plain(text, _ string) string { return text }

// Simple writes a value that stands by itself in a line without colours, if it needs no
// Inspector: any primitive but a symbol. A string is written as it is.
func Simple(v goja.Value) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "undefined", true
	case *goja.Object, *goja.Symbol:
		return "", false
	case goja.String:
		return v.String(), true
	}
	switch {
	case goja.IsNumber(v):
		return numberText(v, false), true
	case goja.IsBigInt(v):
		return bigintText(v, false), true
	}
	return v.String(), true
}

// primitive writes a value that is no object.
func (p *printer) primitive(v goja.Value, style styler) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return style("undefined", "undefined")
	case goja.IsNull(v):
		return style("null", "null")
	case goja.IsNumber(v):
		return style(numberText(v, p.NumericSeparator), "number")
	case goja.IsBigInt(v):
		return style(bigintText(v, p.NumericSeparator), "bigint")
	}
	switch v := v.(type) {
	case goja.String:
		return p.stringLiteral(unitsOf(v), style)
	case *goja.Symbol:
		return style(text(p.own.symbolText, v), "symbol")
	}
	return style(v.String(), "boolean")
}

func (p *printer) stringLiteral(units []uint16, style styler) string {
	trailer := ""
	if more := len(units) - p.MaxStringLength; more > 0 {
		units = units[:max(0, p.MaxStringLength)]
		trailer = "... " + itoa(more) + " more character" + plural(more)
	}
	if p.Compact == CompactAlways || len(units) <= minLineLength || len(units) <= p.BreakLength-p.indent-4 {
		return style(quote(units), "string") + trailer
	}
	var lines []string
	for start := 0; start < len(units); {
		end := start
		for end < len(units) && units[end] != '\n' {
			end++
		}
		end = min(end+1, len(units))
		lines = append(lines, style(quote(units[start:end]), "string"))
		start = end
	}
	return strings.Join(lines, " +\n"+strings.Repeat(" ", p.indent+2)) + trailer
}

func plural(n int) string {
	if n > 1 {
		return "s"
	}
	return ""
}

// numberText writes a number as JavaScript does, but tells -0 from 0.
func numberText(v goja.Value, separate bool) string {
	f := v.ToFloat()
	if f == 0 && math.Signbit(f) {
		return "-0"
	}
	s := v.String()
	if !separate || math.IsNaN(f) || math.IsInf(f, 0) || strings.Contains(s, "e") {
		return s
	}
	whole, fraction, ok := strings.Cut(s, ".")
	if !ok {
		return separateWhole(whole)
	}
	var groups []string
	for len(fraction) > 3 {
		groups, fraction = append(groups, fraction[:3]), fraction[3:]
	}
	return separateWhole(whole) + "." + strings.Join(append(groups, fraction), "_")
}

func bigintText(v goja.Value, separate bool) string {
	if separate {
		return separateWhole(v.String()) + "n"
	}
	return v.String() + "n"
}

func separateWhole(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	var tail string
	for len(digits) > 3 {
		tail = "_" + digits[len(digits)-3:] + tail
		digits = digits[:len(digits)-3]
	}
	return sign + digits + tail
}

// style marks text up with the colours of Node's default styles, or with the
// stylize function that the script gave.
func (p *printer) style(s, style string) string {
	if p.stylize != nil && !p.Colors {
		return text(p.stylize, goja.Undefined(), p.vm.ToValue(s), p.vm.ToValue(style))
	}
	if !p.Colors {
		return s
	}
	from, to := styleCodes(style)
	if from == "" {
		return s
	}
	return "\x1b[" + from + "m" + s + "\x1b[" + to + "m"
}

func styleCodes(style string) (from, to string) {
	switch style {
	case "special":
		return "36", "39"
	case "number", "bigint", "boolean":
		return "33", "39"
	case "undefined":
		return "90", "39"
	case "null":
		return "1", "22"
	case "string", "symbol":
		return "32", "39"
	case "date":
		return "35", "39"
	case "regexp":
		return "31", "39"
	case "module":
		return "4", "24"
	}
	return "", ""
}

package schema

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quote writes a string as a TypeScript literal. What cannot be seen or would change
// how the rest of the line reads is escaped.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		if r, ok := surrogate(s[i:]); ok {
			fmt.Fprintf(&b, `\u%04x`, r)
			i += 3
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case isHidden(r) && r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		case isHidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isHidden reports whether a character shows nothing by itself: control characters,
// line separators, marks that turn the direction of writing, what is not assigned.
func isHidden(r rune) bool {
	return r == utf8.RuneError || r != ' ' && !unicode.IsPrint(r) && r != '\u200d' // which joins emoji
}

// propertyName writes a name as the key of a TypeScript type.
func propertyName(name string) string {
	if isPlain(name) {
		return name
	}
	return quote(name)
}

// isPlain reports whether a name can follow a dot and is plain ASCII, so that every
// version of TypeScript takes it for an identifier.
func isPlain(name string) bool {
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', c == '$':
		case '0' <= c && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return name != ""
}

// keyword is TypeScript's name of a kind.
func keyword(k kind) string {
	switch k {
	case kindNull:
		return "null"
	case kindBoolean:
		return "boolean"
	case kindString:
		return "string"
	}
	return "number"
}

// printable makes text from outside fit for one line of a comment: nothing in it ends
// the comment, speaks to the compiler or moves the terminal. It is cut at about
// limit bytes.
func printable(s string, limit int) string {
	var b strings.Builder
	space := false
	for escape := strings.Index(s, "\x1b["); escape >= 0; escape = strings.Index(s, "\x1b[") {
		end := escape + 2 // of a sequence that colours or moves
		for end < len(s) && s[end] >= ' ' && s[end] < '@' {
			end++
		}
		s = s[:escape] + s[min(end+1, len(s)):]
	}
	for _, r := range s {
		if b.Len() >= limit {
			b.WriteString("…")
			break
		}
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case isHidden(r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	// "*/" ends a comment, and "@ts-" begins an instruction to the compiler.
	return strings.NewReplacer("*/", `*\/`, "@ts-", "@ ts-").Replace(b.String())
}

// Bounds of descriptions.
const (
	maxDescription = 4000
	textWidth      = 80
	leastWidth     = 40
)

// paragraphs makes a description fit for a comment at an indentation, as lines that
// end within the width of the text where words allow it.
func paragraphs(s, indent string) []string {
	width := max(textWidth-len(indent)-len("/**  */"), leastWidth)
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	var out []string
	size := 0
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		if size += len(line) + 1; size > maxDescription {
			line = line[:max(0, len(line)-(size-maxDescription))] + "…"
		}
		own := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		own = strings.Repeat(" ", min(len(strings.ReplaceAll(own, "\t", "  ")), 8))
		text := printable(line, maxDescription)
		if text == "" && len(out) > 0 && out[len(out)-1] == "" {
			continue
		}
		out = append(out, wrap(own, text, width)...)
		if size > maxDescription {
			break
		}
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func wrap(indent, text string, width int) []string {
	var out []string
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		switch {
		case line == "":
			line = indent + word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			out = append(out, line)
			line = indent + word
		default:
			line += " " + word
		}
	}
	return append(out, strings.TrimRight(line, " "))
}

// docComment writes lines as a documentation comment at an indentation. It is empty
// if there are none.
func docComment(indent string, lines []string) string {
	switch {
	case len(lines) == 0:
		return ""
	case len(lines) == 1 && len(indent)+utf8.RuneCountInString(lines[0])+len("/**  */") <= textWidth:
		return indent + "/** " + lines[0] + " */\n"
	}
	var b strings.Builder
	b.WriteString(indent + "/**\n")
	for _, l := range lines {
		b.WriteString(strings.TrimRight(indent+" * "+l, " ") + "\n")
	}
	b.WriteString(indent + " */\n")
	return b.String()
}

// comment returns what people should know of a part besides its type.
func (d *document) comment(v *value) string {
	text := v.string("description")
	if text == "" {
		text = v.string("title")
	}
	if text == "" {
		if target := d.target(v); target != nil {
			text = target.string("description")
		}
	}
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if f := v.string("format"); f != "" {
		note("%s", printable(f, 40))
	}
	if p := v.string("pattern"); p != "" && len(p) <= 100 {
		note("matching %s", p)
	}
	for _, bound := range [...][3]string{
		{"minimum", "maximum", ""},
		{"exclusiveMinimum", "exclusiveMaximum", " exclusive"},
		{"minLength", "maxLength", " characters"},
		{"minItems", "maxItems", " items"},
	} {
		least, most := v.get(bound[0]), v.get(bound[1])
		switch hasLeast, hasMost := least.is(kindNumber) && (bound[0] == "minimum" || string(least.text) != "0"), most.is(kindNumber); {
		case hasLeast && hasMost:
			note("%s to %s%s", least.text, most.text, bound[2])
		case hasLeast:
			note("at least %s%s", least.text, bound[2])
		case hasMost:
			note("at most %s%s", most.text, bound[2])
		}
	}
	if m := v.get("multipleOf"); m.is(kindNumber) {
		note("a multiple of %s", m.text)
	}
	if m := v.get("default"); m != nil && len(m.text) <= 100 && !m.is(kindNull) {
		note("default %s", m.text)
	}
	if k, known := kindNamed(v.string("type")); known && k == kindInteger && (text != "" || len(notes) > 0) {
		notes = append([]string{"integer"}, notes...)
	}
	if len(notes) > 0 {
		extra := strings.Join(notes, ", ")
		if text == "" {
			text = extra
		} else {
			text = strings.TrimRight(text, " \t\r\n") + " (" + extra + ")"
		}
	}
	if v.get("deprecated").isTrue() {
		text = strings.TrimLeft(text+"\n@deprecated", "\n")
	}
	return text
}

package pattern

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// writer writes a pattern in the form of goja. What it writes holds for both engines
// that goja has: Go's, and one that can look around and back.
type writer struct {
	p *parser
	b strings.Builder
}

func (w *writer) text() string { return w.b.String() }

func (w *writer) node(n node) {
	switch n := n.(type) {
	case alternation:
		for i, m := range n {
			if i > 0 {
				w.b.WriteByte('|')
			}
			w.node(m)
		}
	case sequence:
		for i, m := range n {
			if a, ok := m.(assertion); ok && a.kind == 'b' && w.edgeOfWord(a, n[:i], n[i+1:]) {
				continue
			}
			w.node(m)
		}
	case character:
		writeCharacter(&w.b, rune(n), false)
	case class:
		w.class(n)
	case assertion:
		w.assertion(n)
	case look:
		w.b.WriteString("(?")
		if n.behind {
			w.b.WriteByte('<')
		}
		if n.negated {
			w.b.WriteByte('!')
		} else {
			w.b.WriteByte('=')
		}
		w.node(n.body)
		w.b.WriteByte(')')
	case group:
		w.group(n)
	case reference:
		w.reference(n)
	case repeat:
		w.repeat(n)
	}
}

func (w *writer) group(g group) {
	switch {
	case g.number == 0:
		w.b.WriteString("(?:")
	case g.name == "" || w.p.shared:
		w.b.WriteByte('(')
	default:
		w.b.WriteString("(?<" + g.name + ">")
	}
	w.node(g.body)
	w.b.WriteByte(')')
}

// reference repeats what a group matched. Of groups with one name at most one matched,
// and to repeat one that did not is to match nothing.
func (w *writer) reference(r reference) {
	if r.number > 0 {
		w.b.WriteString(`(?:\` + strconv.Itoa(r.number) + ")")
		return
	}
	if !w.p.shared {
		w.b.WriteString(`\k<` + r.name + ">")
		return
	}
	w.b.WriteString("(?:")
	for number, name := range w.p.names {
		if name == r.name {
			w.b.WriteString(`(?:\` + strconv.Itoa(number) + ")")
		}
	}
	w.b.WriteByte(')')
}

func (w *writer) repeat(r repeat) {
	w.b.WriteString("(?:")
	w.node(r.body)
	w.b.WriteByte(')')
	switch {
	case r.min == 0 && r.max == 1:
		w.b.WriteByte('?')
	case r.min == 0 && r.max < 0:
		w.b.WriteByte('*')
	case r.min == 1 && r.max < 0:
		w.b.WriteByte('+')
	case r.max < 0:
		fmt.Fprintf(&w.b, "{%d,}", r.min)
	default:
		fmt.Fprintf(&w.b, "{%d,%d}", r.min, r.max)
	}
	if r.lazy {
		w.b.WriteByte('?')
	}
}

func (w *writer) assertion(a assertion) {
	switch a.kind {
	case '^':
		w.edge("^", "(?<=", "(?<!", a.multiline)
	case '$':
		w.edge("$", "(?=", "(?!", a.multiline)
	default:
		word := a.word.class()
		if a.kind == 'b' {
			fmt.Fprintf(&w.b, "(?:(?<=%[1]s)(?!%[1]s)|(?<!%[1]s)(?=%[1]s))", word)
		} else {
			fmt.Fprintf(&w.b, "(?:(?<=%[1]s)(?=%[1]s)|(?<!%[1]s)(?!%[1]s))", word)
		}
	}
}

// edgeOfWord writes \b where what is beside it can only be part of a word: then it is
// enough to look to the other side.
func (w *writer) edgeOfWord(a assertion, before, after sequence) bool {
	switch {
	case len(after) > 0 && begins(after[0], a.word, false):
		w.b.WriteString("(?<!" + a.word.class() + ")")
	case len(before) > 0 && begins(before[len(before)-1], a.word, true):
		w.b.WriteString("(?!" + a.word.class() + ")")
	default:
		return false
	}
	return true
}

// begins reports whether all that n matches begins, or ends, with one of a set.
func begins(n node, word set, ends bool) bool {
	switch n := n.(type) {
	case character:
		return word.has(rune(n))
	case class:
		return !n.negated && len(n.patterns) == 0 && len(n.members) > 0 && len(n.members.minus(word)) == 0
	case repeat:
		return n.min > 0 && begins(n.body, word, ends)
	case group:
		return begins(n.body, word, ends)
	case alternation:
		return !slices.ContainsFunc(n, func(m node) bool { return !begins(m, word, ends) })
	case sequence:
		if len(n) == 0 {
			return false
		}
		if ends {
			return begins(n[len(n)-1], word, ends)
		}
		return begins(n[0], word, ends)
	}
	return false
}

// edge writes ^ or $. For goja a line ends with \n alone. All groups are closed, so the
// flags of the parser are those of the whole pattern.
func (w *writer) edge(sign, beside, notBeside string, multiline bool) {
	switch {
	case multiline:
		w.b.WriteString("(?:" + sign + "|" + beside + lineEnds().class() + "))")
	case w.p.flags.m:
		w.b.WriteString(notBeside + set(nil).complement(unicode.MaxRune).class() + ")")
	default:
		w.b.WriteString(sign)
	}
}

func (w *writer) class(c class) {
	last := rune(unicode.MaxRune)
	if !w.p.flags.u {
		last = maxUnit
	}
	members := c.members
	text := ""
	switch {
	case c.negated && (len(members) == 0 || w.p.flags.u):
		text = members.complement(last).class()
	case c.negated:
		text = "[^" + members.class()[1:]
	case len(members) > 0:
		text = members.class()
	}
	if len(c.patterns) == 0 {
		if text == "" {
			text = "(?!)"
		}
		w.b.WriteString(text)
		return
	}
	all := c.patterns
	if text != "" {
		at := len(all)
		for at > 0 && all[at-1] == "" {
			at--
		}
		all = append(append(append([]string{}, all[:at]...), text), all[at:]...)
	}
	w.b.WriteString("(?:" + strings.Join(all, "|") + ")")
}

// class writes a set, which has members, in brackets.
func (s set) class() string {
	if len(s) == 0 {
		return "(?!)"
	}
	var b strings.Builder
	b.WriteByte('[')
	for _, r := range s {
		writeCharacter(&b, r.low, true)
		if r.high > r.low || utf16.IsSurrogate(r.low) {
			// Two surrogates side by side would be read as one character.
			b.WriteByte('-')
			writeCharacter(&b, r.high, true)
		}
	}
	b.WriteByte(']')
	return b.String()
}

// syntax holds what means something unless it is escaped, in a class and outside.
const syntax = `^$\.*+?()[]{}|/-`

func writeCharacter(b *strings.Builder, r rune, inClass bool) {
	switch {
	case r < ' ' || r == 0x7F:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x80 && strings.ContainsRune(syntax, r) && (inClass || r != '-'):
		b.WriteByte('\\')
		b.WriteByte(byte(r))
	case utf16.IsSurrogate(r) || r >= 0x80 && r < 0xA0 || r == 0x2028 || r == 0x2029 || r == 0xFEFF:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		b.WriteRune(r)
	}
}

package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// page is text in lines, for people. Columns, if not 0, is the width of the terminal:
// rows that would be wider are cut.
type page struct {
	strings.Builder
	columns int
}

// String is the page, clean.
func (p *page) String() string { return clean(p.Builder.String()) }

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
}

// section begins a part of the page.
func (p *page) section(title string) { p.line("\n%s:", title) }

// widest is how wide a first column gets before longer words push their row apart.
const widest = 32

// rows writes pairs as two aligned columns.
func (p *page) rows(indent string, rows [][2]string) {
	width := 0
	for _, r := range rows {
		if w := cells(r[0]); w <= widest {
			width = max(width, w)
		}
	}
	for _, r := range rows {
		text := indent + r[0]
		if r[1] != "" {
			text = indent + padded(r[0], width) + "  " + r[1]
		}
		p.line("%s", cut(text, p.columns))
	}
}

// padded fills text up to a number of cells.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-cells(text)))
}

// block writes text of several lines, indented.
func (p *page) block(indent, text string) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		p.line("%s", strings.TrimRight(indent+line, " \t\r"))
	}
}

// folded writes a line. What a terminal has no room for goes on in lines below, further
// indented, and broken between words where there are some.
func (p *page) folded(text string) {
	body := strings.TrimLeft(text, " ")
	indent := text[:len(text)-len(body)]
	if p.columns <= 0 || cells(text) <= p.columns || p.columns < len(indent)+20 {
		p.line("%s", text)
		return
	}
	line, below := "", indent+"    "
	for word := range strings.SplitSeq(body, " ") {
		switch {
		case line == "":
			line = indent + word
		case cells(line)+1+cells(word) > p.columns:
			p.line("%s", line)
			line = below + word
		default:
			line += " " + word
		}
	}
	p.line("%s", line)
}

// oneLine is the first paragraph of text on one line.
func oneLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// summary is the first sentence of text on one line, or its first line if a sentence ends
// nowhere in the first paragraph.
func summary(text string) string {
	paragraph := oneLine(text)
	for i, r := range paragraph {
		end := i + utf8.RuneLen(r)
		switch {
		case r == '。':
			return paragraph[:end]
		case r != '.' && r != '!' && r != '?':
		case end == len(paragraph) || paragraph[end] == ' ' && beginsSentence(paragraph[end+1:]) && !abbreviated(paragraph[:i]):
			return paragraph[:end]
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return oneLine(first)
}

// beginsSentence reports whether a sentence may begin with text.
func beginsSentence(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return !unicode.IsLower(r)
}

// abbreviated reports whether text, before a full stop, ends as e.g. and Dr. do: in a
// single letter or a word that is always cut.
func abbreviated(text string) bool {
	last := text[strings.LastIndexAny(text, " (.")+1:]
	return utf8.RuneCountInString(last) == 1 && unicode.IsLetter([]rune(last)[0]) ||
		slices.Contains([]string{"etc", "vs", "approx", "incl", "no"}, strings.ToLower(last))
}

// cut shortens text to a number of cells; 0 means any.
func cut(text string, columns int) string {
	if columns <= 0 || cells(text) <= columns {
		return text
	}
	used := 0
	for i, r := range text {
		w := cellsOf(r)
		if used+w > columns-1 {
			return strings.TrimRight(text[:i], " ") + "…"
		}
		used += w
	}
	return text
}

// cells is the number of cells that text takes on a terminal.
func cells(text string) int {
	n := 0
	for _, r := range text {
		n += cellsOf(r)
	}
	return n
}

// cellsOf is 0 for a combining mark and 2 for what East Asian fonts and emoji draw wide.
func cellsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && r <= 0x115F, r >= 0x2E80 && r <= 0xA4CF, r >= 0xAC00 && r <= 0xD7A3,
		r >= 0xF900 && r <= 0xFAFF, r >= 0xFE30 && r <= 0xFE6F, r >= 0xFF00 && r <= 0xFF60,
		r >= 0xFFE0 && r <= 0xFFE6, r >= 0x1F300 && r <= 0x1F64F, r >= 0x1F900 && r <= 0x1F9FF,
		r >= 0x20000 && r <= 0x3FFFD:
		return 2
	}
	return 1
}

package html

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// markdown writes what a reader sees of n as Markdown.
func markdown(n *html.Node) string {
	return strings.Join(blocksOf([]*html.Node{n}), "\n\n")
}

// lineBreak stands for a line break in inline text: no page can hold this character.
const lineBreak = "\x00"

func children(n *html.Node) (list []*html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		list = append(list, c)
	}
	return list
}

// blocksOf writes nodes as blocks. What stands between them is a paragraph.
func blocksOf(nodes []*html.Node) (blocks []string) {
	var paragraph strings.Builder
	add := func(block string) {
		if block != "" {
			blocks = append(blocks, block)
		}
	}
	flush := func() {
		add(lineStart(tidy(paragraph.String())))
		paragraph.Reset()
	}
	for _, n := range nodes {
		switch {
		case n.Type == html.ElementNode && hidden(n):
		case n.Type == html.ElementNode && (isBlock(n) || hasBlock(n)):
			flush()
			for _, b := range block(n) {
				add(b)
			}
		default:
			paragraph.WriteString(inline(n))
		}
	}
	flush()
	return blocks
}

// hasBlock reports whether an inline element has a block right in it, as in a link
// around a heading.
func hasBlock(n *html.Node) bool {
	return slices.ContainsFunc(elements(n), isBlock)
}

// block writes an element that stands on lines of its own.
func block(n *html.Node) []string {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		text := strings.ReplaceAll(tidy(inlines(n)), "  \n", " ")
		if text == "" {
			return nil
		}
		return []string{strings.Repeat("#", int(n.Data[1]-'0')) + " " + text}
	case atom.Hr:
		return []string{"---"}
	case atom.Pre:
		return []string{fenced(n)}
	case atom.Blockquote:
		inner := strings.Join(blocksOf(children(n)), "\n\n")
		return []string{"> " + strings.ReplaceAll(inner, "\n", "\n> ")}
	case atom.Ul, atom.Ol, atom.Menu:
		return []string{list(n)}
	case atom.Table:
		return []string{tableOf(n)}
	case atom.Dt:
		return []string{"**" + tidy(inlines(n)) + "**"}
	}
	return blocksOf(children(n))
}

func list(n *html.Node) string {
	var items []string
	number := 1
	if start, ok := attributeOf(n, "start"); ok {
		if i, err := strconv.Atoi(start); err == nil && i >= 0 {
			number = i
		}
	}
	for _, item := range elements(n) {
		marker := "- "
		if n.DataAtom == atom.Ol {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		var text string
		if item.DataAtom == atom.Ul || item.DataAtom == atom.Ol {
			text = list(item) // a list right in a list, which pages have
		} else {
			parts := blocksOf(children(item))
			for i, part := range parts {
				switch {
				case i == 0:
				case strings.HasPrefix(part, "- ") || strings.HasPrefix(part, "1. "):
					text += "\n"
				default:
					text += "\n\n"
				}
				text += part
			}
		}
		indent := "\n" + strings.Repeat(" ", len(marker))
		items = append(items, marker+strings.ReplaceAll(text, "\n", indent))
	}
	return strings.Join(items, "\n")
}

// fenced writes preformatted text, with the language that its class names.
func fenced(n *html.Node) string {
	text := strings.TrimRight(content(n), "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	language := ""
	walk(n, func(n *html.Node) bool {
		class, _ := attributeOf(n, "class")
		for c := range strings.FieldsSeq(class) {
			if l, ok := strings.CutPrefix(c, "language-"); ok && language == "" {
				language = l
			}
		}
		return true
	})
	return fence + language + "\n" + text + "\n" + fence
}

// tableOf writes a table. Its first row is the header, since Markdown must have one.
func tableOf(n *html.Node) string {
	rows := cells(n)
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	if columns == 0 {
		return ""
	}
	var b strings.Builder
	for i, row := range rows {
		b.WriteByte('|')
		for c := range columns {
			text := ""
			if c < len(row) {
				text = strings.ReplaceAll(strings.Join(strings.Fields(row[c]), " "), "|", `\|`)
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteByte('\n')
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", columns) + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func inlines(n *html.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(inline(c))
	}
	return b.String()
}

// inline writes a node within a line.
func inline(n *html.Node) string {
	if n.Type == html.TextNode {
		return escaped(n.Data)
	}
	if n.Type != html.ElementNode || hidden(n) {
		return ""
	}
	switch n.DataAtom {
	case atom.Br:
		return lineBreak
	case atom.Strong, atom.B:
		return around(inlines(n), "**")
	case atom.Em, atom.I:
		return around(inlines(n), "*")
	case atom.Del, atom.S:
		return around(inlines(n), "~~")
	case atom.Code, atom.Kbd, atom.Samp:
		text := strings.Join(strings.FieldsFunc(content(n), isSpace), " ")
		fence := "`"
		for strings.Contains(text, fence) {
			fence += "`"
		}
		if text == "" {
			return ""
		}
		if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
			text = " " + text + " "
		}
		return fence + text + fence
	case atom.Img:
		source, _ := attributeOf(n, "src")
		alternative, _ := attributeOf(n, "alt")
		if source == "" {
			return ""
		}
		return "![" + escaped(alternative) + "](" + target(source) + ")"
	case atom.A:
		href, _ := attributeOf(n, "href")
		text := inlines(n)
		if strings.TrimFunc(text, isSpace) == "" || href == "" {
			return text
		}
		trimmed := strings.TrimFunc(text, isSpace)
		before, after, _ := strings.Cut(text, trimmed)
		return before + "[" + trimmed + "](" + target(href) + ")" + after
	}
	return inlines(n)
}

// around puts marks around text, spaces outside.
func around(text, mark string) string {
	trimmed := strings.TrimFunc(text, isSpace)
	if trimmed == "" {
		return text
	}
	before, after, _ := strings.Cut(text, trimmed)
	return before + mark + trimmed + mark + after
}

// target writes the address of a link so that it ends where it ends.
func target(href string) string {
	href = strings.TrimSpace(href)
	if strings.ContainsAny(href, " ()<>\n") {
		return "<" + strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "").Replace(href) + ">"
	}
	return href
}

// tidy makes spaces one, and line breaks what Markdown has for them.
func tidy(text string) string {
	lines := strings.Split(text, lineBreak)
	for i, line := range lines {
		lines[i] = strings.Join(strings.FieldsFunc(line, isSpace), " ")
	}
	return strings.Trim(strings.Join(lines, "  \n"), " \n")
}

// escaped writes text so that nothing in it is a mark.
func escaped(text string) string {
	if !strings.ContainsAny(text, "\\`*_[]<") {
		return text
	}
	var b strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		switch r {
		case '\\', '`', '*', '[', ']', '<':
			b.WriteByte('\\')
		case '_': // within a word it marks nothing
			word := func(i int) bool {
				return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
			}
			if !word(i-1) || !word(i+1) {
				b.WriteByte('\\')
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// lineStart escapes what would make a paragraph a heading, a list or a quote.
func lineStart(text string) string {
	if text == "" {
		return ""
	}
	switch text[0] {
	case '#', '>', '+', '-':
		return `\` + text
	}
	digits := strings.TrimLeft(text, "0123456789")
	if len(digits) < len(text) && len(digits) > 1 && (digits[0] == '.' || digits[0] == ')') && digits[1] == ' ' {
		return text[:len(text)-len(digits)] + `\` + digits
	}
	return text
}

package html

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// walk calls visit for each element below n, in the order of the page, and for n itself
// if it is one. It does not go into those for which visit returns false.
func walk(n *html.Node, visit func(*html.Node) bool) {
	if n.Type == html.ElementNode && !visit(n) {
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, visit)
	}
}

// elements lists the elements right below n.
func elements(n *html.Node) (list []*html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			list = append(list, c)
		}
	}
	return list
}

func attributeName(a html.Attribute) string {
	if a.Namespace != "" {
		return a.Namespace + ":" + a.Key
	}
	return a.Key
}

func attributeOf(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

// content is all text below n.
func content(n *html.Node) string {
	var b strings.Builder
	var add func(n *html.Node)
	add = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			add(c)
		}
	}
	add(n)
	return b.String()
}

// hidden reports whether a reader sees nothing of an element.
func hidden(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Head, atom.Noscript, atom.Iframe, atom.Svg, atom.Math, atom.Object, atom.Datalist:
		return true
	}
	_, yes := attributeOf(n, "hidden")
	return yes
}

// isBlock reports whether an element stands on lines of its own.
func isBlock(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center, atom.Dd, atom.Details, atom.Dialog,
		atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4,
		atom.H5, atom.H6, atom.Header, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.Option, atom.P, atom.Pre,
		atom.Section, atom.Summary, atom.Table, atom.Tbody, atom.Tfoot, atom.Thead, atom.Tr, atom.Ul:
		return true
	}
	return false
}

// visible is what a reader sees of n.
func visible(n *html.Node) string {
	f := &flow{}
	f.children(n, n.DataAtom == atom.Pre)
	return f.text()
}

// flow gathers text as a page shows it: spaces as one, blocks on lines of their own.
type flow struct {
	b     strings.Builder
	space bool // before the next word
	line  bool // before the next word, a line
}

func (f *flow) text() string { return strings.TrimRight(f.b.String(), " \n\t") }

func (f *flow) children(n *html.Node, keep bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		f.node(c, keep)
	}
}

func (f *flow) node(n *html.Node, keep bool) {
	switch n.Type {
	case html.TextNode:
		f.write(n.Data, keep)
	case html.ElementNode:
		switch {
		case hidden(n):
		case n.DataAtom == atom.Br:
			f.b.WriteByte('\n')
			f.space = false
		case n.DataAtom == atom.Td || n.DataAtom == atom.Th:
			if previous(n) {
				f.start()
				f.b.WriteByte('\t')
			}
			f.children(n, keep)
			f.space = false
		case isBlock(n):
			f.line = f.b.Len() > 0
			f.children(n, keep || n.DataAtom == atom.Pre)
			f.line = f.b.Len() > 0
		default:
			f.children(n, keep)
		}
	}
}

// previous reports whether a cell is not the first of its row.
func previous(n *html.Node) bool {
	for n = n.PrevSibling; n != nil; n = n.PrevSibling {
		if n.Type == html.ElementNode {
			return true
		}
	}
	return false
}

// start begins a line if one is due.
func (f *flow) start() {
	if f.line {
		if !strings.HasSuffix(f.b.String(), "\n") {
			f.b.WriteByte('\n')
		}
		f.line, f.space = false, false
	}
}

func (f *flow) write(text string, keep bool) {
	if keep {
		if text != "" {
			f.start()
			f.b.WriteString(text)
		}
		return
	}
	for i, word := range strings.FieldsFunc(text, isSpace) {
		f.space = f.space || i > 0 || isSpace(rune(text[0]))
		f.start()
		if f.space && f.b.Len() > 0 && !strings.HasSuffix(f.b.String(), "\n") && !strings.HasSuffix(f.b.String(), "\t") {
			f.b.WriteByte(' ')
		}
		f.space = false
		f.b.WriteString(word)
	}
	if text != "" && isSpace(rune(text[len(text)-1])) {
		f.space = true
	}
}

// isSpace reports whether HTML takes r for white space; a no-break space is none.
func isSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f' }

// tables lists the tables at and below n that are not inside of another.
func tables(n *html.Node) (list []*html.Node) {
	walk(n, func(n *html.Node) bool {
		if n.DataAtom == atom.Table {
			list = append(list, n)
			return false
		}
		return true
	})
	return list
}

const (
	// maxSpan is how many columns or rows one cell may span, as browsers have it.
	maxSpan = 1000
	// maxCells bounds a table, which spans can make much larger than its text.
	maxCells = 1_000_000
)

// cells is the text of a table's rows. A cell that spans others is repeated in them.
func cells(table *html.Node) [][]string {
	var rows [][]string
	type span struct {
		text string
		left int // rows
	}
	spans := map[int]span{} // by column
	total := 0
	walk(table, func(n *html.Node) bool {
		if n != table && n.DataAtom == atom.Table {
			return false
		}
		if n.DataAtom != atom.Tr {
			return true
		}
		var row []string
		below := func() {
			for s := spans[len(row)]; s.left > 0 && total < maxCells; s = spans[len(row)] {
				spans[len(row)] = span{s.text, s.left - 1}
				row = append(row, s.text)
				total++
			}
		}
		for _, cell := range elements(n) {
			if cell.DataAtom != atom.Td && cell.DataAtom != atom.Th {
				continue
			}
			below()
			text := visible(cell)
			for range spanOf(cell, "colspan") {
				if total++; total > maxCells {
					break
				}
				if down := spanOf(cell, "rowspan"); down > 1 {
					spans[len(row)] = span{text, down - 1}
				}
				row = append(row, text)
			}
		}
		below()
		if row != nil {
			rows = append(rows, row)
		}
		return false
	})
	return rows
}

func spanOf(n *html.Node, name string) int {
	v, _ := attributeOf(n, name)
	span, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil || span < 1 {
		return 1
	}
	return min(span, maxSpan)
}

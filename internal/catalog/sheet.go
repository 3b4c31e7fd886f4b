package catalog

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Space is a namespace as an overview shows it.
type Space struct {
	Name         string
	Spelled      string // as it stands in a script behind "tools.", if that is not Name
	Tools        int
	Instructions string // the server's own words
	Problem      string // why its tools are not known
}

// Sheet is an overview of namespaces in a bounded number of tokens.
type Sheet struct {
	Text   string
	Tokens int      // of the text
	Shown  [][]int  // for each namespace, the tools whose line is in the text
	Words  []string // for each namespace, as much of its instructions as is in the text
}

// Bounds of what one namespace takes of an overview.
const (
	maxInstructions = 90 // tokens
	perFirst        = 30 // that are kept for the first tool of each namespace
	minInstructions = 12 // fewer are not worth the place
	maxFirst        = 12 // tools that are tried as the first of a namespace
	maxMisfits      = 4  // lines of a namespace that do not fit before it gets no more
	maxProblem      = 160
)

// Lay fits an overview of namespaces into a budget of tokens: each one with its number
// of tools, some of its instructions, and as many lines of tools as there is room for,
// in turn, so that no namespace is starved. line returns the line of a tool. Those of
// favoured, pairs of a namespace and a tool, go before the others once every namespace
// has one.
//
// Where the budget does not hold the names of all namespaces, the text says how many
// are missing. It is never larger than the budget, unless that is less than a sentence.
func Lay(spaces []Space, budget int, favoured [][2]int, line func(space, tool int) string) Sheet {
	s := &sheet{spaces: spaces, shown: make([][]int, len(spaces)), words: make([]string, len(spaces)), line: line, lines: map[[2]int]string{}}
	for _, space := range spaces {
		s.tools += space.Tools
	}
	if Tokens(s.text()) > budget {
		return s.crowded(budget)
	}
	s.instruct(budget)
	s.left = budget - Tokens(s.text())
	s.fill(favoured)
	text := s.text()
	for n := Tokens(text); n > budget && len(s.order) > 0; n = Tokens(text) { // what is added up by lines is not exact
		s.drop()
		text = s.text()
	}
	return Sheet{Text: text, Tokens: Tokens(text), Shown: s.shown, Words: s.words}
}

type sheet struct {
	spaces []Space
	tools  int
	shown  [][]int
	words  []string
	order  [][2]int // of what is shown, as it was added
	line   func(space, tool int) string
	lines  map[[2]int]string
	left   int
}

// text writes what is shown.
func (s *sheet) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s", count(s.tools, "tool"), count(len(s.spaces), "namespace"))
	switch n := len(s.order); {
	case s.tools == 0:
		b.WriteString(".\n")
	case n < s.tools:
		fmt.Fprintf(&b, ", %d shown. In a script: await tools.NS.TOOL({ … }).\n", n)
		b.WriteString("mcpx search WORDS finds the others; mcpx types NS.TOOL declares one in full.\n")
	default:
		b.WriteString(". In a script: await tools.NS.TOOL({ … }).\nmcpx types NS.TOOL declares one in full.\n")
	}
	for i, space := range s.spaces {
		b.WriteString("\n" + oneLine(space.Name))
		if space.Spelled != "" && space.Spelled != space.Name {
			b.WriteString(" (tools." + space.Spelled + ")")
		}
		switch n := len(s.shown[i]); {
		case space.Problem != "":
			b.WriteString(": " + excerpt(space.Problem, maxProblem) + "\n")
			continue
		case n == 0:
			fmt.Fprintf(&b, ": %s\n", count(space.Tools, "tool"))
		case n < space.Tools:
			fmt.Fprintf(&b, ": %d of %d tools\n", n, space.Tools)
		default:
			fmt.Fprintf(&b, ": %s\n", count(space.Tools, "tool"))
		}
		if s.words[i] != "" {
			b.WriteString("  // " + s.words[i] + "\n")
		}
		for _, tool := range s.shown[i] {
			b.WriteString(s.of(i, tool))
		}
	}
	return b.String()
}

// of is the line of a tool, made once.
func (s *sheet) of(space, tool int) string {
	key := [2]int{space, tool}
	text, ok := s.lines[key]
	if !ok {
		text = "  " + oneLine(s.line(space, tool)) + "\n"
		s.lines[key] = text
	}
	return text
}

// instruct gives a quarter of what is left, once every namespace has a tool, to the words
// of the servers, to each alike.
func (s *sheet) instruct(budget int) {
	speakers := 0
	for _, space := range s.spaces {
		if space.Problem == "" && strings.TrimSpace(space.Instructions) != "" {
			speakers++
		}
	}
	if speakers == 0 {
		return
	}
	left := budget - Tokens(s.text()) - perFirst*len(s.spaces)
	each := min(maxInstructions, left/4/speakers)
	if each < minInstructions {
		return
	}
	for i, space := range s.spaces {
		if space.Problem == "" {
			s.words[i] = shorten(plainText(space.Instructions), each-4)
		}
	}
}

// fill adds lines while there is room.
func (s *sheet) fill(favoured [][2]int) {
	type state struct {
		next, misfits int
	}
	states := make([]state, len(s.spaces))
	tried := map[[2]int]bool{}
	try := func(space, tool int) bool {
		key := [2]int{space, tool}
		if tried[key] {
			return false
		}
		tried[key] = true
		cost := Tokens(s.of(space, tool))
		if cost > s.left {
			states[space].misfits++
			return false
		}
		s.left -= cost
		s.add(space, tool)
		return true
	}
	// turn adds the next line of a namespace, and reports whether it may have more.
	turn := func(space int) bool {
		st := &states[space]
		for st.next < s.spaces[space].Tools && st.misfits < maxMisfits {
			st.next++
			if try(space, st.next-1) {
				return true
			}
		}
		return false
	}
	best := map[int]int{}
	for _, f := range slices.Backward(favoured) {
		best[f[0]] = f[1]
	}
	for i, space := range s.spaces {
		if tool, ok := best[i]; ok && try(i, tool) {
			continue
		}
		// Where room is scarce none takes that of the namespaces behind it.
		share := s.left / (len(s.spaces) - i)
		for tool := range min(space.Tools, maxFirst) {
			if Tokens(s.of(i, tool)) <= share && try(i, tool) {
				break
			}
		}
	}
	for _, f := range favoured {
		try(f[0], f[1])
	}
	for i := range states {
		states[i].misfits = 0
	}
	for more := true; more && s.left > 0; {
		more = false
		for i := range s.spaces {
			more = turn(i) || more
		}
	}
}

// add shows a tool, in the order of the server.
func (s *sheet) add(space, tool int) {
	at, _ := slices.BinarySearch(s.shown[space], tool)
	s.shown[space] = slices.Insert(s.shown[space], at, tool)
	s.order = append(s.order, [2]int{space, tool})
}

// drop takes back what was added last.
func (s *sheet) drop() {
	last := s.order[len(s.order)-1]
	s.order = s.order[:len(s.order)-1]
	if at, ok := slices.BinarySearch(s.shown[last[0]], last[1]); ok {
		s.shown[last[0]] = slices.Delete(s.shown[last[0]], at, at+1)
	}
}

// crowded is the overview of more namespaces than there is room for: names and numbers
// in one paragraph.
func (s *sheet) crowded(budget int) Sheet {
	head := fmt.Sprintf("%s in %s: ", count(s.tools, "tool"), count(len(s.spaces), "namespace"))
	write := func(n int) string {
		var parts []string
		for _, space := range s.spaces[:n] {
			if space.Problem != "" {
				parts = append(parts, oneLine(space.Name)+" (not known)")
			} else {
				parts = append(parts, fmt.Sprintf("%s (%d)", oneLine(space.Name), space.Tools))
			}
		}
		switch left := len(s.spaces) - n; {
		case left == 0:
		case n == 0:
			return strings.TrimSuffix(head, ": ") + ".\n"
		default:
			parts = append(parts, fmt.Sprintf("… %d more", left))
		}
		return head + strings.Join(parts, ", ") + ".\n"
	}
	// The largest number that fits.
	fits, not := 0, len(s.spaces)+1
	for not-fits > 1 {
		if middle := (fits + not) / 2; Tokens(write(middle)) <= budget {
			fits = middle
		} else {
			not = middle
		}
	}
	text := write(fits)
	return Sheet{Text: text, Tokens: Tokens(text), Shown: s.shown, Words: s.words}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// oneLine makes text of others fit to stand in a line: space is folded, and what cannot
// be seen is left out.
func oneLine(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r == utf8.RuneError || !unicode.IsPrint(r):
			continue
		case space:
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plainText is Markdown as one line, without the marks of headings, lists and rules.
func plainText(s string) string {
	words := strings.Fields(oneLine(s))
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.Trim(w, "#*-=_") == "" }), " ")
}

// excerpt is one line of at most limit bytes.
func excerpt(s string, limit int) string {
	s = oneLine(s)
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return strings.TrimRight(s[:limit], " ") + "…"
}

// shorten cuts a line to a number of tokens, after a word.
func shorten(s string, tokens int) string {
	s = excerpt(s, 12*max(tokens, 1))
	if Tokens(s) <= tokens {
		return s
	}
	for s != "" {
		at := strings.LastIndexByte(s, ' ')
		if at < 0 {
			return excerpt(s, 3*tokens)
		}
		s = strings.TrimRight(s[:at], " ,;:…")
		if Tokens(s) < tokens {
			return s + " …"
		}
	}
	return ""
}

package pattern

import (
	"slices"
	"strings"
	"unicode"
)

// A node is a part of a pattern.
type (
	node        any
	alternation []node
	sequence    []node
	character   rune
	class       struct {
		members  set
		negated  bool
		patterns []string // of more than one character, the longest first, as goja takes them
	}
	// assertion is ^, $, \b or \B.
	assertion struct {
		kind      rune
		multiline bool
		word      set
	}
	look struct {
		behind, negated bool
		body            node
	}
	group struct {
		number int // 0: it does not capture
		name   string
		body   node
	}
	reference struct {
		number int // 0: by name
		name   string
	}
	repeat struct {
		body     node
		min, max int // max < 0: without end
		lazy     bool
	}
)

// maxDepth bounds how deep groups and classes may nest.
const maxDepth = 1000

// maxProperties bounds how many properties of Unicode a pattern uses: each may be
// hundreds of ranges. maxGroups bounds its groups with names.
const (
	maxProperties = 500
	maxGroups     = 5000
)

// maxCount is the largest number of repetitions that is told from infinity.
const maxCount = 1<<31 - 1

// parser reads one pattern.
type parser struct {
	src   []rune
	at    int
	depth int
	flags flagSet // those of the group being read

	needed  bool // the pattern has to be rewritten
	ownCase bool // letters are written in all their cases, as groups differ in the flag i
	named   bool // some group has a name
	groups  int  // that capture, in the whole pattern

	names  []string // by number
	shared bool     // two groups have the same name
	places [][]branch
	path   []branch
	splits int

	properties int
}

// branch says which alternative of an alternation something is in.
type branch struct{ alternation, alternative int }

func (p *parser) fail(text string) { panic(Error(text)) }

// parse reads the whole pattern.
func (p *parser) parse() (tree node, err error) {
	defer func() {
		if x := recover(); x != nil {
			e, ok := x.(Error)
			if !ok {
				panic(x)
			}
			tree, err = nil, e
		}
	}()
	p.survey()
	p.needed = p.needed || p.flags.v
	tree = p.alternation()
	if p.more() {
		p.fail("Unmatched ')'")
	}
	for _, r := range p.unresolved(tree) {
		if !slices.Contains(p.names, r.name) {
			p.fail("Invalid named capture referenced")
		}
	}
	return tree, nil
}

// survey finds out what an escape may depend on before it is read: how many groups
// there are, and whether one has a name.
func (p *parser) survey() {
	nested := 0
	for i := 0; i < len(p.src); i++ {
		switch p.src[i] {
		case '\\':
			i++
		case '[':
			if nested == 0 || p.flags.v {
				nested++
			}
		case ']':
			nested = max(nested-1, 0)
		case '(':
			if nested > 0 {
				continue
			}
			rest := p.src[i+1:]
			switch {
			case len(rest) == 0 || rest[0] != '?':
				p.groups++
			case len(rest) > 2 && rest[1] == '<' && rest[2] != '=' && rest[2] != '!':
				p.groups++
				p.named = true
			case len(rest) > 1 && (strings.ContainsRune("ims", rest[1]) || rest[1] == '-'):
				colon := slices.Index(rest, ':')
				p.ownCase = p.ownCase || colon > 0 && slices.Contains(rest[1:colon], 'i')
			}
		}
	}
	p.names = append(make([]string, 0, min(p.groups, len(p.src))+1), "")
	p.places = append(p.places, nil)
}

// unresolved lists the references by name.
func (p *parser) unresolved(n node) (refs []reference) {
	switch n := n.(type) {
	case alternation:
		for _, m := range n {
			refs = append(refs, p.unresolved(m)...)
		}
	case sequence:
		for _, m := range n {
			refs = append(refs, p.unresolved(m)...)
		}
	case look:
		return p.unresolved(n.body)
	case group:
		return p.unresolved(n.body)
	case repeat:
		return p.unresolved(n.body)
	case reference:
		if n.number == 0 {
			return []reference{n}
		}
	}
	return refs
}

func (p *parser) more() bool { return p.at < len(p.src) }

// peek returns the rune that is n ahead, -1 at the end.
func (p *parser) peek(n int) rune {
	if p.at+n < len(p.src) {
		return p.src[p.at+n]
	}
	return -1
}

func (p *parser) next() rune {
	r := p.peek(0)
	p.at++
	return r
}

// accept reads text if it is what comes.
func (p *parser) accept(text string) bool {
	i := 0
	for _, r := range text {
		if p.peek(i) != r {
			return false
		}
		i++
	}
	p.at += i
	return true
}

// deeper guards a recursion.
func (p *parser) deeper() (back func()) {
	if p.depth++; p.depth > maxDepth {
		p.fail("Regular expression too large")
	}
	return func() { p.depth-- }
}

// alternation reads up to a closing parenthesis or the end.
func (p *parser) alternation() node {
	defer p.deeper()()
	p.splits++
	here := len(p.path)
	p.path = append(p.path, branch{p.splits, 0})
	var all alternation
	for {
		all = append(all, p.sequence())
		if !p.accept("|") {
			break
		}
		p.path[here].alternative++
	}
	p.path = p.path[:here]
	if len(all) == 1 {
		return all[0]
	}
	return all
}

func (p *parser) sequence() node {
	var all sequence
	for p.more() && p.peek(0) != '|' && p.peek(0) != ')' {
		n, repeatable := p.term()
		if repeatable {
			n = p.quantified(n)
		}
		all = append(all, n)
	}
	return all
}

// term reads what a quantifier can follow, or an assertion.
func (p *parser) term() (n node, repeatable bool) {
	switch c := p.next(); c {
	case '^', '$':
		p.needed = p.needed || p.flags.m
		return assertion{kind: c, multiline: p.flags.m}, false
	case '(':
		return p.group()
	case '.':
		if p.flags.s {
			return class{negated: true}, true
		}
		return class{members: lineEnds(), negated: true}, true
	case '*', '+', '?':
		p.fail("Nothing to repeat")
	case '{':
		p.at--
		if _, _, ok := p.counts(); ok || p.flags.u {
			p.fail("Nothing to repeat")
		}
		p.at++
	case '}', ']':
		if p.flags.u {
			p.fail("Lone quantifier brackets")
		}
	case '[':
		return p.class(), true
	case '\\':
		return p.escape()
	default:
		return p.letter(c), true
	}
	return character(p.src[p.at-1]), true
}

// letter is one character under the flags that hold here.
func (p *parser) letter(r rune) node {
	if p.ownCase && p.flags.i {
		if s := single(r).folded(p.equal()); len(s) > 1 || s[0].low != s[0].high {
			return class{members: s}
		}
	}
	return character(r)
}

func (p *parser) equal() func(a, b rune) bool {
	if p.flags.u {
		return anyCase
	}
	return upperCase
}

// cases adds the other cases of a set if goja would not do it right: it would add them
// after the complement that the set may be part of.
func (p *parser) cases(s set) set {
	if p.flags.i && (p.ownCase || p.flags.u) {
		return s.folded(p.equal())
	}
	return s
}

// quantified reads the quantifier behind n, if there is one.
func (p *parser) quantified(n node) node {
	r := repeat{body: n}
	switch p.peek(0) {
	case '*':
		r.max = -1
		p.at++
	case '+':
		r.min, r.max = 1, -1
		p.at++
	case '?':
		r.max = 1
		p.at++
	case '{':
		low, high, ok := p.counts()
		if !ok {
			if p.flags.u {
				p.fail("Incomplete quantifier")
			}
			return n
		}
		if high >= 0 && high < low {
			p.fail("numbers out of order in {} quantifier")
		}
		r.min, r.max = low, high
	default:
		return n
	}
	r.lazy = p.accept("?")
	return r
}

// counts reads {n}, {n,} or {n,m}, or nothing at all.
func (p *parser) counts() (low, high int, ok bool) {
	start := p.at
	p.at++
	low, ok = p.number()
	high = low
	if ok && p.accept(",") {
		var bounded bool
		if high, bounded = p.number(); !bounded {
			high = -1
		}
	}
	if !ok || !p.accept("}") {
		p.at = start
		return 0, 0, false
	}
	return low, high, true
}

func (p *parser) number() (n int, ok bool) {
	for p.peek(0) >= '0' && p.peek(0) <= '9' {
		n = min(n*10+int(p.next()-'0'), maxCount)
		ok = true
	}
	return n, ok
}

// group reads what follows an opening parenthesis.
func (p *parser) group() (n node, repeatable bool) {
	outer := p.flags
	close := func(body node) node {
		if !p.accept(")") {
			p.fail("Unterminated group")
		}
		p.flags = outer
		return body
	}
	switch {
	case !p.accept("?"):
		g := group{number: p.capture("")}
		g.body = close(p.alternation())
		return g, true
	case p.accept(":"):
		return group{body: close(p.alternation())}, true
	case p.accept("="):
		return look{body: close(p.alternation())}, !p.flags.u
	case p.accept("!"):
		return look{negated: true, body: close(p.alternation())}, !p.flags.u
	case p.accept("<="):
		return look{behind: true, body: close(p.alternation())}, false
	case p.accept("<!"):
		return look{behind: true, negated: true, body: close(p.alternation())}, false
	case p.accept("<"):
		name := p.name("Invalid capture group name")
		g := group{number: p.capture(name), name: name}
		g.body = close(p.alternation())
		return g, true
	}
	p.modifiers()
	return group{body: close(p.alternation())}, true
}

// capture numbers a group.
func (p *parser) capture(name string) int {
	if name != "" {
		if len(p.names) > maxGroups {
			p.fail("Too many captures")
		}
		for i, other := range p.names {
			if other != name {
				continue
			}
			if !apart(p.places[i], p.path) {
				p.fail("Duplicate capture group name")
			}
			p.shared, p.needed = true, true
		}
	}
	p.names = append(p.names, name)
	p.places = append(p.places, slices.Clone(p.path))
	return len(p.names) - 1
}

// apart reports whether two places are in different alternatives, so that one match
// cannot have both.
func apart(a, b []branch) bool {
	for i := range min(len(a), len(b)) {
		if a[i].alternation != b[i].alternation {
			return false
		}
		if a[i].alternative != b[i].alternative {
			return true
		}
	}
	return false
}

// modifiers reads the flags of a group: i, m and s before a dash are set, and those
// behind it are not.
func (p *parser) modifiers() {
	p.needed = true
	seen := ""
	value := true
	for {
		c := p.next()
		switch {
		case c == ':':
			if seen == "" {
				p.fail("Invalid group")
			}
			return
		case c == '-' && value:
			value = false
			continue
		case c == '-':
			p.fail("Multiple dashes in flag group")
		case c < 0 || !strings.ContainsRune("ims", c):
			p.fail("Invalid group")
		case strings.ContainsRune(seen, c):
			p.fail("Repeated flag in flag group")
		}
		seen += string(c)
		switch c {
		case 'i':
			p.flags.i = value
		case 'm':
			p.flags.m = value
		case 's':
			p.flags.s = value
		}
	}
}

// name reads a name up to its closing bracket.
func (p *parser) name(problem string) string {
	var b strings.Builder
	for {
		c := p.next()
		if c == '>' && b.Len() > 0 {
			return b.String()
		}
		if c == '\\' {
			if p.next() != 'u' {
				p.fail("Invalid Unicode escape")
			}
			r, ok := p.unicodeEscape(true)
			if !ok {
				p.fail("Invalid Unicode escape")
			}
			c = r
		}
		c = p.pair(c)
		if c < 0 || !identifies(c, b.Len() == 0) {
			p.fail(problem)
		}
		b.WriteRune(c)
	}
}

// pair joins a surrogate with the one that follows it.
func (p *parser) pair(c rune) rune {
	if low := p.peek(0); c >= 0xD800 && c < 0xDC00 && low >= 0xDC00 && low < 0xE000 {
		p.at++
		return (c-0xD800)<<10 + low - 0xDC00 + 0x10000
	}
	return c
}

func identifies(c rune, first bool) bool {
	if c == '$' || c == '_' || unicode.IsLetter(c) || unicode.Is(unicode.Nl, c) || unicode.Is(unicode.Other_ID_Start, c) {
		return true
	}
	return !first && (c == 0x200C || c == 0x200D ||
		unicode.In(c, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue))
}

// escape reads what follows a backslash outside a class.
func (p *parser) escape() (n node, repeatable bool) {
	switch c := p.peek(0); {
	case c < 0:
		p.fail(`\ at end of pattern`)
	case c == 'b' || c == 'B':
		p.at++
		p.needed = true
		a := assertion{kind: c, word: words()}
		if p.flags.u {
			a.word = p.cases(a.word)
		}
		return a, false
	case c >= '1' && c <= '9':
		start := p.at
		number, _ := p.number()
		if number <= p.groups {
			return reference{number: number}, true
		}
		if p.flags.u {
			p.fail("Invalid escape")
		}
		p.at = start
		if c >= '8' {
			p.at++
			return p.letter(c), true
		}
	case c == 'k' && (p.flags.u || p.named):
		p.at++
		if !p.accept("<") {
			p.fail("Invalid named reference")
		}
		return reference{name: p.name("Invalid named reference")}, true
	}
	if c, ok := p.classEscape(); ok {
		return c, true
	}
	return p.letter(p.characterEscape(false)), true
}

// classEscape reads an escape that means a set, if one comes.
func (p *parser) classEscape() (c class, ok bool) {
	last := rune(unicode.MaxRune)
	if !p.flags.u {
		last = maxUnit
	}
	switch p.peek(0) {
	case 'd':
		c.members = digits()
	case 'D':
		c.members = digits().complement(last)
	case 's':
		c.members = spaces()
	case 'S':
		c.members = spaces().complement(last)
	case 'w', 'W':
		p.needed = p.needed || p.flags.u
		c.members = p.cases(words())
		if p.peek(0) == 'W' {
			if p.flags.i {
				// goja would add k and s, of which these are other cases.
				c.members = union(c.members, set{{0x17F, 0x17F}, {0x212A, 0x212A}})
			}
			c.members = c.members.complement(last)
		}
	case 'p', 'P':
		if !p.flags.u {
			return c, false
		}
		return p.property(), true
	default:
		return c, false
	}
	p.at++
	return c, true
}

// property reads p{…} or P{…}.
func (p *parser) property() class {
	p.needed = true
	if p.properties++; p.properties > maxProperties {
		p.fail("Regular expression too large")
	}
	negated := p.next() == 'P'
	start := p.at + 1
	if p.peek(0) != '{' {
		p.fail("Invalid property name")
	}
	for p.peek(0) != '}' {
		if p.next() < 0 {
			p.fail("Invalid property name")
		}
	}
	text := string(p.src[start:p.at])
	p.at++
	if p.flags.v {
		if patterns, ok := emoji(text); ok && !negated {
			return class{patterns: patterns}
		}
	}
	s, ok := property(text)
	if !ok {
		p.fail("Invalid property name")
	}
	switch {
	case !negated:
		s = p.cases(s)
	case p.flags.v:
		s = p.cases(s).complement(unicode.MaxRune)
	default:
		s = p.cases(s.complement(unicode.MaxRune))
	}
	return class{members: s}
}

// characterEscape reads an escape that means one character.
func (p *parser) characterEscape(inClass bool) rune {
	c := p.next()
	switch c {
	case -1:
		p.fail(`\ at end of pattern`)
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
	case 'c':
		next := p.peek(0)
		if next|0x20 >= 'a' && next|0x20 <= 'z' || !p.flags.u && inClass && (next == '_' || next >= '0' && next <= '9') {
			p.at++
			return next & 31
		}
		if p.flags.u {
			p.fail("Invalid Unicode escape")
		}
		p.at--
		return '\\'
	case 'x':
		if r, ok := p.hex(2); ok {
			return r
		}
		if p.flags.u {
			p.fail("Invalid escape")
		}
		return 'x'
	case 'u':
		if r, ok := p.unicodeEscape(p.flags.u); ok {
			return r
		}
		if p.flags.u {
			p.fail("Invalid Unicode escape")
		}
		return 'u'
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return p.octal(c, inClass)
	}
	switch {
	case p.flags.u && !strings.ContainsRune(`^$\.*+?()[]{}|/`, c) && (c != '-' || !inClass):
		p.fail("Invalid escape")
	case c == 'k' && p.named:
		p.fail("Invalid named reference")
	}
	return c
}

func (p *parser) octal(c rune, inClass bool) rune {
	next := p.peek(0)
	if p.flags.u {
		if c != '0' || next >= '0' && next <= '9' {
			if inClass {
				p.fail("Invalid class escape")
			}
			p.fail("Invalid decimal escape")
		}
		return 0
	}
	value := c - '0'
	for p.peek(0) >= '0' && p.peek(0) <= '7' && value*8+p.peek(0)-'0' <= 0o377 {
		value = value*8 + p.next() - '0'
	}
	return value
}

// hex reads n digits or nothing.
func (p *parser) hex(n int) (rune, bool) {
	value := rune(0)
	for i := range n {
		d := hexDigit(p.peek(i))
		if d < 0 {
			return 0, false
		}
		value = value<<4 | d
	}
	p.at += n
	return value, true
}

func hexDigit(c rune) rune {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return -1
}

// unicodeEscape reads what follows \u.
func (p *parser) unicodeEscape(full bool) (rune, bool) {
	start := p.at
	if full && p.accept("{") {
		value := rune(0)
		for d := hexDigit(p.peek(0)); d >= 0; d = hexDigit(p.peek(0)) {
			value = min(value<<4|d, unicode.MaxRune+1)
			p.at++
		}
		if p.at == start+1 || value > unicode.MaxRune || !p.accept("}") {
			p.at = start
			return 0, false
		}
		return value, true
	}
	high, ok := p.hex(4)
	if !ok || !full || high < 0xD800 || high >= 0xDC00 || p.peek(0) != '\\' || p.peek(1) != 'u' {
		return high, ok
	}
	before := p.at
	p.at += 2
	low, ok := p.hex(4)
	if !ok || low < 0xDC00 || low >= 0xE000 {
		p.at = before
		return high, true
	}
	return (high-0xD800)<<10 + low - 0xDC00 + 0x10000, true
}

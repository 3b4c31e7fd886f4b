package pattern

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// class reads what follows an opening bracket.
func (p *parser) class() class {
	defer p.deeper()()
	negated := p.accept("^")
	var c class
	if p.flags.v {
		c = p.contents()
	} else {
		c = p.ranges()
	}
	if !negated {
		return c
	}
	if len(c.patterns) > 0 {
		p.fail("Negated character class may contain strings")
	}
	c.negated = true
	if len(c.members) == 0 && p.flags.u {
		p.needed = true // goja's any character ends at U+1FFFF
	}
	return c
}

// ranges reads a class without set notation.
func (p *parser) ranges() class {
	var members []span
	for !p.accept("]") {
		low, lowSet := p.member()
		if p.peek(0) != '-' || p.peek(1) == ']' || p.peek(1) < 0 {
			members = append(members, p.spans(low, lowSet)...)
			continue
		}
		p.at++
		high, highSet := p.member()
		if lowSet != nil || highSet != nil {
			if p.flags.u {
				p.fail("Invalid character class")
			}
			members = slices.Concat(members, p.spans(low, lowSet), []span{{'-', '-'}}, p.spans(high, highSet))
			continue
		}
		if high < low {
			p.fail("Range out of order in character class")
		}
		members = append(members, p.cases(set{{low, high}})...)
	}
	return class{members: setOf(members...)}
}

func (p *parser) spans(r rune, s set) []span {
	if s != nil {
		return s
	}
	return p.cases(single(r))
}

// member reads one character, or a set.
func (p *parser) member() (rune, set) {
	switch c := p.next(); c {
	case -1:
		p.fail("Unterminated character class")
	case '\\':
		if p.peek(0) < 0 {
			p.fail(`\ at end of pattern`)
		}
		if p.accept("b") {
			return '\b', nil
		}
		if c, ok := p.classEscape(); ok {
			return 0, append(set{}, c.members...)
		}
		return p.characterEscape(true), nil
	default:
		return c, nil
	}
	return 0, nil
}

// Characters that mean something in set notation.
const (
	setSyntax      = "()[]{}/-|"
	setDoubled     = "&!#$%*+,.:;<=>?@^`~"
	setPunctuators = "&-!#%,:;<=>@`~"
)

// contents reads a class in set notation: a union, an intersection or a difference.
func (p *parser) contents() class {
	if p.accept("]") {
		return class{}
	}
	c, r := p.operand()
	switch {
	case p.peek(0) == '&' && p.peek(1) == '&' && p.peek(2) != '&':
		return p.combined(c, "&&", func(a, b class) class {
			patterns := slices.DeleteFunc(slices.Clone(a.patterns), func(s string) bool { return !slices.Contains(b.patterns, s) })
			return class{members: a.members.intersection(b.members), patterns: patterns}
		})
	case p.peek(0) == '-' && p.peek(1) == '-':
		return p.combined(c, "--", func(a, b class) class {
			patterns := slices.DeleteFunc(slices.Clone(a.patterns), func(s string) bool { return slices.Contains(b.patterns, s) })
			return class{members: a.members.minus(b.members), patterns: patterns}
		})
	}
	all := p.ranged(c, r)
	for !p.accept("]") {
		if p.peek(0) == '&' && p.peek(1) == '&' || p.peek(0) == '-' && p.peek(1) == '-' {
			p.fail("Invalid set operation in character class")
		}
		next := p.ranged(p.operand())
		all = class{members: union(all.members, next.members), patterns: append(all.patterns, next.patterns...)}
	}
	slices.SortStableFunc(all.patterns, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return all
}

// combined reads the further operands of an operation.
func (p *parser) combined(c class, operator string, apply func(a, b class) class) class {
	for !p.accept("]") {
		if !p.accept(operator) {
			if p.more() {
				p.fail("Invalid set operation in character class")
			}
			p.fail("Unterminated character class")
		}
		next, _ := p.operand()
		c = apply(c, next)
	}
	return c
}

// ranged reads on to the end of a range that r began, if it is one.
func (p *parser) ranged(c class, r rune) class {
	if r < 0 || p.peek(0) != '-' || p.peek(1) == '-' {
		return c
	}
	p.at++
	_, high := p.operand()
	if high < 0 {
		p.fail("Invalid character class")
	}
	if high < r {
		p.fail("Range out of order in character class")
	}
	return class{members: p.cases(set{{r, high}})}
}

// operand reads a nested class, an escape, or the one character r.
func (p *parser) operand() (c class, r rune) {
	r = p.next()
	switch {
	case r < 0:
		p.fail("Unterminated character class")
	case r == '[':
		c = p.class()
		if c.negated {
			c = class{members: c.members.complement(unicode.MaxRune)}
		}
		return c, -1
	case r == '\\':
		if p.accept("q{") {
			return p.literals(), -1
		}
		if c, ok := p.classEscape(); ok {
			return c, -1
		}
		r = p.setEscape()
	case strings.ContainsRune(setSyntax, r):
		p.fail("Invalid character in character class")
	case p.peek(0) == r && strings.ContainsRune(setDoubled, r):
		p.fail("Invalid set operation in character class")
	}
	return class{members: p.cases(single(r))}, r
}

func (p *parser) setEscape() rune {
	if p.accept("b") {
		return '\b'
	}
	if c := p.peek(0); c >= 0 && strings.ContainsRune(setPunctuators, c) {
		p.at++
		return c
	}
	return p.characterEscape(true)
}

// literals reads the strings of \q{…}.
func (p *parser) literals() class {
	var c class
	var text []rune
	end := func() {
		if len(text) == 1 {
			c.members = union(c.members, p.cases(single(text[0])))
		} else {
			var b strings.Builder
			w := &writer{p: p}
			for _, r := range text {
				w.node(p.letter(r))
			}
			b.WriteString(w.text())
			c.patterns = append(c.patterns, b.String())
		}
		text = nil
	}
	for {
		r := p.next()
		switch r {
		case -1:
			p.fail("Invalid escape")
		case '}':
			end()
			slices.SortStableFunc(c.patterns, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
			return c
		case '|':
			end()
			continue
		case '\\':
			r = p.setEscape()
		}
		text = append(text, r)
	}
}

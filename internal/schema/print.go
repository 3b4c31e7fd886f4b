package schema

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what is printed of one schema.
const (
	maxPrinted  = 128 << 10 // bytes
	inlineDepth = 8         // how deep objects stand within each other before a reference gets a name
	maxDepth    = 40        // and before what is within is cut
	maxProduct  = 1000      // arms that an intersection of unions multiplies to
	smallText   = 40        // a part of so few characters is repeated rather than named
)

// printer writes shapes as TypeScript.
type printer struct {
	c     *compiler
	any   string              // the type of what nothing is known of
	name  func(*value) string // the name of a part that is declared by itself, "" to have it printed in its place
	brief bool                // one line for people: descriptions and what stands deep within are left out
	deep  int                 // of brief: how deep
	left  int                 // bytes that may still be printed
	cut   int                 // parts that were not printed
	sizes map[*value]int      // arms of a part, for intersections
	open  map[*value]int      // references whose parts are being printed in their place
}

func newPrinter(c *compiler, anyType string, name func(*value) string) *printer {
	return &printer{c: c, any: anyType, name: name, left: maxPrinted, sizes: map[*value]int{}, open: map[*value]int{}}
}

// text writes a shape, over several lines if one of 80 characters does not hold it.
// Lines after the first begin with indent. The first begins after used characters.
func (p *printer) text(s *shape, indent string, used, depth int) string {
	if p.left <= 0 || depth > maxDepth {
		p.cut++
		return p.unknown("cut: the schema is too large")
	}
	if t, ok := p.line(s, max(textWidth-used, smallText/2), depth); ok {
		p.left -= len(t)
		return t
	}
	switch s.form {
	case object:
		return p.object(s, indent, depth)
	case list:
		return p.element(s.rest, indent, used, depth+1) + "[]"
	case tuple:
		return p.tuple(s, indent, depth)
	case union:
		return p.union(s, indent, depth)
	case intersection:
		var parts []string
		for _, part := range p.bounded(s) {
			parts = append(parts, p.element(part, indent, used, depth))
		}
		return strings.Join(parts, " & ")
	case named:
		if name := p.declared(s.target, depth); name != "" {
			p.left -= len(name)
			return name
		}
		behind, ok := p.c.behind(s)
		if !ok {
			return p.any
		}
		p.open[s.target]++
		defer func() { p.open[s.target]-- }()
		return p.text(behind, indent, used, depth)
	case anything, nothing, primitive, literal:
	}
	t, _ := p.line(s, maxPrinted, depth)
	p.left -= len(t)
	return t
}

// element is text, in parentheses where an operator that follows would bind tighter.
func (p *printer) element(s *shape, indent string, used, depth int) string {
	t := p.text(s, indent, used, depth)
	if p.isCompound(s, depth) {
		return "(" + t + ")"
	}
	return t
}

// isCompound reports whether a shape is printed with an operator at its top.
func (p *printer) isCompound(s *shape, depth int) bool {
	for s.form == named && p.declared(s.target, depth) == "" {
		behind, ok := p.c.behind(s)
		if !ok {
			return false
		}
		s = behind
	}
	return s.form == union || s.form == intersection && len(p.bounded(s)) > 1
}

func (p *printer) object(s *shape, indent string, depth int) string {
	inner := indent + "  "
	var b strings.Builder
	b.WriteString("{\n")
	for i, member := range s.props {
		if p.left <= 0 {
			p.cut += len(s.props) - i
			fmt.Fprintf(&b, "%s[key: string]: %s; // cut: %d more\n%s}", inner, p.any, len(s.props)-i, indent)
			return b.String()
		}
		doc := docComment(inner, paragraphs(member.doc, inner))
		key := member.key()
		p.left -= len(doc) + len(inner) + len(key) + 4
		b.WriteString(doc + inner + key + ":")
		if p.isLoose(member) {
			b.WriteString(" " + p.any)
		} else {
			t := p.text(member.shape, inner, len(inner)+len(key)+3, depth+1)
			b.WriteString(after(t))
		}
		b.WriteString(";\n")
	}
	if key := p.index(s, depth); key != "" {
		b.WriteString(inner + key + ";\n")
	}
	b.WriteString(indent + "}")
	return b.String()
}

// after writes a type after a colon or an equals sign: in the same line, unless it
// begins one itself.
func after(text string) string {
	if strings.HasPrefix(text, "\n") {
		return text
	}
	return " " + text
}

func (m *prop) key() string {
	if m.required {
		return propertyName(m.name)
	}
	return propertyName(m.name) + "?"
}

// isLoose reports whether a member cannot be given its type: TypeScript finds the
// methods of every object under these names, so an object that leaves the member out
// would not fit.
func (p *printer) isLoose(m prop) bool {
	return !m.required && isInherited(m.name) && m.name != "then" && m.name != "toJSON"
}

// index writes the index signature of an object, or "" if it has none. The type of
// each member that has a name must fit it too.
func (p *printer) index(s *shape, depth int) string {
	if s.rest == nil || s.rest.form == nothing && len(s.props) > 0 {
		return ""
	}
	const key = "[key: string]: "
	var types []string
	add := func(s *shape) bool {
		t, ok := p.line(s, 2*textWidth, depth+1)
		if ok && t != "never" && !slices.Contains(types, t) {
			types = append(types, t)
		}
		return ok && t != p.any && len(types) <= 5
	}
	if len(s.props) == 0 {
		t := p.text(s.rest, "  ", smallText, depth+1)
		return key + t
	}
	if s.rest.form == anything || !add(s.rest) {
		return key + p.any
	}
	optional := false
	for _, m := range s.props {
		optional = optional || !m.required
		if p.isLoose(m) || !add(m.shape) {
			return key + p.any
		}
	}
	if optional {
		types = append(types, "undefined")
	}
	return key + strings.Join(types, " | ")
}

func (p *printer) tuple(s *shape, indent string, depth int) string {
	inner := indent + "  "
	var b strings.Builder
	b.WriteString("[\n")
	for i, item := range s.items {
		item = p.untied(item)
		b.WriteString(inner)
		if i < s.least {
			b.WriteString(p.text(item, inner, len(inner), depth+1))
		} else {
			b.WriteString(p.element(item, inner, len(inner), depth+1) + "?")
		}
		b.WriteString(",\n")
	}
	if s.rest != nil && s.rest.form != nothing {
		b.WriteString(inner + "..." + p.element(p.untied(s.rest), inner, len(inner), depth+1) + "[]\n")
	}
	b.WriteString(indent + "]")
	return b.String()
}

// untied returns an element of a tuple, or nothing known in place of one that holds
// sequences of declared types: with those a compiler may find a circle.
func (p *printer) untied(element *shape) *shape {
	if !p.brief && p.ties(element, false, 0) {
		return anyShape
	}
	return element
}

func (p *printer) ties(s *shape, within bool, depth int) bool {
	if depth > maxDepth {
		return true
	}
	ties := func(part *shape) bool { return p.ties(part, within || s.isSequence(), depth+1) }
	switch s.form {
	case named:
		if p.declared(s.target, depth) != "" {
			return within
		}
		behind, ok := p.c.behind(s)
		return ok && p.ties(behind, within, depth+1)
	case list, tuple:
		return s.rest != nil && ties(s.rest) || slices.ContainsFunc(s.items, ties)
	case union, intersection:
		return slices.ContainsFunc(s.items, ties)
	case anything, nothing, primitive, literal, object:
	}
	return false
}

func (p *printer) union(s *shape, indent string, depth int) string {
	inner := indent + "  "
	var b strings.Builder
	column := textWidth // the first arm begins a line
	items := p.flattened(s.items, nil, depth)
	for i, arm := range items {
		if p.left <= 0 {
			p.cut += len(items) - i
			b.WriteString("\n" + inner + "| " + p.unknown(fmt.Sprintf("cut: %d more", len(items)-i)))
			break
		}
		t := p.text(arm, inner, len(inner)+2, depth+1)
		width := utf8.RuneCountInString(t)
		if strings.Contains(t, "\n") || arm.form == object || column+3+width > textWidth {
			b.WriteString("\n" + inner + "| " + t)
			column = len(inner) + 2 + width
			if strings.Contains(t, "\n") {
				column = textWidth
			}
			continue
		}
		b.WriteString(" | " + t)
		column += 3 + width
	}
	return b.String()
}

// flattened returns the arms of a union, those of unions within it in their place.
func (p *printer) flattened(arms, out []*shape, depth int) []*shape {
	for _, arm := range arms {
		inner := arm
		for inner.form == named && p.declared(inner.target, depth) == "" {
			behind, ok := p.c.behind(inner)
			if !ok {
				break
			}
			inner = behind
		}
		if inner.form == union {
			out = p.flattened(inner.items, out, depth)
		} else {
			out = append(out, arm)
		}
	}
	return out
}

// unknown is the type of what nothing is known of, with the reason.
func (p *printer) unknown(why string) string {
	if why == "" || p.brief {
		return p.any
	}
	return p.any + " /* " + why + " */"
}

// declared returns the name of a part that is declared by itself: one that contains
// itself, that several references lead to, or that stands too deep to be read.
func (p *printer) declared(target *value, depth int) string {
	if p.brief {
		return ""
	}
	d := p.c.doc
	if !d.ring[target] && depth <= inlineDepth && p.open[target] == 0 {
		if d.uses[target] < 2 {
			return ""
		}
		if s, ok := p.c.made[target]; !ok || s != nil {
			if isSmall(p.c.shape(target)) {
				return ""
			}
		}
	}
	return p.name(target)
}

// isSmall reports whether a shape is printed in a few characters, wherever it stands.
func isSmall(s *shape) bool {
	switch s.form {
	case anything, nothing, primitive:
		return true
	case literal:
		return len(s.text) <= smallText
	case list:
		return isSmall(s.rest)
	case union:
		size := 0
		for _, arm := range s.items {
			if !arm.isFlat() {
				return false
			}
			size += len(arm.text) + 3
		}
		return size <= smallText
	case object, tuple, intersection, named:
	}
	return false
}

// bounded returns the parts of an intersection that are printed: those that are
// objects, because a compiler may find a circle in what joins anything else to a part
// that contains itself, and no unions whose arms would multiply to more than a
// compiler takes.
func (p *printer) bounded(s *shape) []*shape {
	product := 1
	var out []*shape
	parts := slices.DeleteFunc(slices.Clone(s.items), func(part *shape) bool { return !p.c.isObject(part) })
	if len(parts) == 0 {
		return s.items[:1]
	}
	for _, part := range parts {
		n := p.size(part)
		if n > 1 && product*n > maxProduct {
			p.cut++
			continue
		}
		product *= n
		out = append(out, part)
	}
	if len(out) == 0 {
		return []*shape{unknown("cut: the schema is too large")}
	}
	return out
}

// size returns how many arms a shape has when every reference is looked through.
func (p *printer) size(s *shape) int {
	n := 1
	switch s.form {
	case union:
		n = 0
		for _, arm := range s.items {
			n = min(n+p.size(arm), maxProduct+1)
		}
	case intersection:
		for _, part := range s.items {
			n = min(n*p.size(part), maxProduct+1)
		}
	case named:
		if known, ok := p.sizes[s.target]; ok {
			return known
		}
		p.sizes[s.target] = 1
		if behind, ok := p.c.behind(s); ok {
			n = p.size(behind)
		}
		p.sizes[s.target] = n
	case anything, nothing, primitive, literal, object, list, tuple:
	}
	return n
}

// line writes a shape in one line of at most room bytes. It does not if the shape
// needs more or has descriptions to show.
func (p *printer) line(s *shape, room, depth int) (string, bool) {
	l := &liner{p: p, room: room}
	l.shape(s, depth)
	return l.b.String(), !l.over
}

// liner writes one line and stops when there is no more room.
type liner struct {
	p    *printer
	b    strings.Builder
	room int
	over bool
}

func (l *liner) put(parts ...string) {
	for _, s := range parts {
		if l.over = l.over || l.b.Len()+len(s) > l.room; l.over {
			return
		}
		l.b.WriteString(s)
	}
}

func (l *liner) shape(s *shape, depth int) {
	if l.over = l.over || depth > maxDepth; l.over {
		return
	}
	switch s.form {
	case anything:
		if s == tooLarge {
			l.p.cut++
		}
		l.put(l.p.unknown(s.text))
	case nothing:
		l.put("never")
	case primitive:
		l.put(keyword(s.kind))
		l.comment(s)
	case literal:
		l.put(s.text)
	case object:
		l.object(s, depth)
	case list:
		l.element(s.rest, depth+1)
		l.put("[]")
	case tuple:
		l.put("[")
		for i, item := range s.items {
			item = l.p.untied(item)
			if i > 0 {
				l.put(", ")
			}
			if i < s.least {
				l.shape(item, depth+1)
			} else {
				l.element(item, depth+1)
				l.put("?")
			}
		}
		if s.rest != nil && s.rest.form != nothing {
			if len(s.items) > 0 {
				l.put(", ")
			}
			l.put("...")
			l.element(l.p.untied(s.rest), depth+1)
			l.put("[]")
		}
		l.put("]")
	case union:
		for i, arm := range s.items {
			if i > 0 {
				l.put(" | ")
			}
			l.shape(arm, depth)
		}
		l.comment(s)
	case intersection:
		for i, part := range l.p.bounded(s) {
			if i > 0 {
				l.put(" & ")
			}
			l.element(part, depth)
		}
	case named:
		l.named(s, depth)
	}
}

func (l *liner) comment(s *shape) {
	if s.text != "" && !l.p.brief {
		l.put(" /* ", s.text, " */")
	}
}

func (l *liner) element(s *shape, depth int) {
	compound := l.p.isCompound(s, depth)
	if compound {
		l.put("(")
	}
	l.shape(s, depth)
	if compound {
		l.put(")")
	}
}

func (l *liner) named(s *shape, depth int) {
	if name := l.p.declared(s.target, depth); name != "" {
		l.put(name)
		return
	}
	behind, ok := l.p.c.behind(s)
	if !ok || l.p.brief && l.p.c.doc.ring[s.target] && (depth > 0 || l.p.open[s.target] > 0) {
		name := typeName(l.p.c.doc.at[s.target])
		switch name {
		case "":
			l.put("{ /* … */ }")
		default:
			l.put("{ /* ", name, " */ }")
		}
		return
	}
	l.p.open[s.target]++
	l.shape(behind, depth)
	l.p.open[s.target]--
}

func (l *liner) object(s *shape, depth int) {
	if l.p.brief && depth >= l.p.deep && len(s.props) > 0 {
		l.put("{ /* … */ }")
		return
	}
	var index string
	if s.rest != nil && (s.rest.form != nothing || len(s.props) == 0) {
		if len(s.props) == 0 && !(l.p.brief && s.rest.form == nothing) {
			l.put("{ [key: string]: ")
			l.shape(s.rest, depth+1)
			l.put(" }")
			return
		}
		if !l.p.brief && len(s.props) > 0 {
			index = l.p.index(s, depth)
		}
	}
	if len(s.props) == 0 {
		l.put("{}")
		return
	}
	l.put("{ ")
	for i, m := range s.props {
		if m.doc != "" && !l.p.brief {
			l.over = true
			return
		}
		if i > 0 {
			l.put("; ")
		}
		l.put(m.key(), ": ")
		if l.p.isLoose(m) {
			l.put(l.p.any)
		} else {
			l.shape(m.shape, depth+1)
		}
		if l.over {
			return
		}
	}
	if index != "" {
		l.put("; ", index)
	}
	l.put(" }")
}

// typeName makes a name for a type of a word from a pointer, in ASCII: every version
// of TypeScript takes it, and it is no keyword. It is empty if nothing of the word
// can be used.
func typeName(word string) string {
	var b strings.Builder
	upper := true
	for _, r := range word {
		switch {
		case 'a' <= r && r <= 'z' && upper:
			b.WriteRune(r - 'a' + 'A')
			upper = false
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			b.WriteRune(r)
			upper = false
		case '0' <= r && r <= '9':
			if b.Len() == 0 {
				b.WriteByte('N')
			}
			b.WriteRune(r)
			upper = true
		default:
			upper = true
		}
		if b.Len() >= 60 {
			break
		}
	}
	return b.String()
}

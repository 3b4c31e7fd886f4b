package url

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// Kinds of tokens of a pattern.
const (
	tokenChar = iota
	tokenEscaped
	tokenOpen
	tokenClose
	tokenRegexp
	tokenName
	tokenModifier
	tokenAsterisk
	tokenInvalid
	tokenEnd
)

type token struct {
	kind  int
	index int // in the pattern, in characters
	value string
}

// tokenize cuts a pattern into tokens. If it is lenient, what is wrong becomes a token.
func (m *module) tokenize(text []rune, lenient bool) []token {
	var tokens []token
	add := func(kind, index int, value string) { tokens = append(tokens, token{kind, index, value}) }
	for i := 0; i < len(text); {
		next, kind, value := i+1, tokenChar, string(text[i])
		wrong := ""
		switch text[i] {
		case '*':
			kind = tokenAsterisk
		case '+', '?':
			kind = tokenModifier
		case '{':
			kind = tokenOpen
		case '}':
			kind = tokenClose
		case '\\':
			if next == len(text) {
				wrong = "a backslash at the end"
				break
			}
			kind, value, next = tokenEscaped, string(text[next]), next+1
		case ':':
			end := next
			for end < len(text) && isNameRune(text[end], end == next) {
				end++
			}
			if end == next {
				wrong = "a colon without a name"
				break
			}
			kind, value, next = tokenName, string(text[next:end]), end
		case '(':
			end := regexpEnd(text, next)
			if end < 0 {
				wrong = "a regular expression that does not end or is not allowed"
				break
			}
			kind, value, next = tokenRegexp, string(text[next:end]), end+1
		}
		if wrong != "" {
			if !lenient {
				panic(m.wrongPattern("the pattern '" + string(text) + "' has " + wrong))
			}
			kind = tokenInvalid
		}
		add(kind, i, value)
		i = next
	}
	add(tokenEnd, len(text), "")
	return tokens
}

// isNameRune reports whether a name may have c, as its first character or later.
func isNameRune(c rune, first bool) bool {
	if c == '$' || c == '_' || unicode.IsLetter(c) || unicode.Is(unicode.Nl, c) || unicode.Is(unicode.Other_ID_Start, c) {
		return true
	}
	return !first && (unicode.In(c, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue) || c == 0x200c || c == 0x200d)
}

// regexpEnd returns where the parenthesis is that ends a regular expression, -1 if none.
func regexpEnd(text []rune, from int) int {
	depth := 1
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case c > unicode.MaxASCII, i == from && c == '?':
			return -1
		case c == '\\':
			if i++; i == len(text) || text[i] > unicode.MaxASCII {
				return -1
			}
		case c == ')':
			if depth--; depth == 0 {
				if i == from {
					return -1
				}
				return i
			}
		case c == '(':
			if depth++; i+1 == len(text) || text[i+1] != '?' {
				return -1
			}
		}
	}
	return -1
}

// patternReader takes a pattern of whole URLs apart.
type patternReader struct {
	m      *module
	text   []rune
	tokens []token
	out    *initial

	state     int // a part, or one of the following
	at, start int
	step      int
	depth     int
	brackets  int
	special   bool // the protocol may be one whose URLs have slashes
}

const (
	stateInit      = -1
	stateAuthority = -2
	stateDone      = -3
)

// parsePattern takes a pattern of whole URLs apart.
func (m *module) parsePattern(text string) *initial {
	runes := []rune(text)
	r := &patternReader{m: m, text: runes, tokens: m.tokenize(runes, true), out: &initial{}, state: stateInit}
	for r.at < len(r.tokens) {
		r.step = 1
		if r.tokens[r.at].kind == tokenEnd {
			if r.end() {
				break
			}
			r.at += r.step
			continue
		}
		switch r.tokens[r.at].kind {
		case tokenOpen:
			r.depth++
			r.at++
			continue
		case tokenClose:
			if r.depth > 0 {
				r.depth--
			}
		}
		if r.depth == 0 {
			r.next()
		}
		r.at += r.step
	}
	if r.out.parts[hostnamePart] != nil && r.out.parts[portPart] == nil {
		r.out.parts[portPart] = new("")
	}
	return r.out
}

// end handles the end of the text. It reports whether all is done.
func (r *patternReader) end() bool {
	switch r.state {
	case stateInit:
		r.rewind(stateInit)
		switch {
		case r.is(r.at, "#"):
			r.change(hashPart, 1)
		case r.isSearch():
			r.change(searchPart, 1)
		default:
			r.change(pathnamePart, 0)
		}
		return false
	case stateAuthority:
		r.rewind(hostnamePart)
		return false
	}
	r.change(stateDone, 0)
	return true
}

// next handles a token.
func (r *patternReader) next() {
	afterHost := func() {
		switch {
		case r.is(r.at, "/"):
			r.change(pathnamePart, 0)
		case r.isSearch():
			r.change(searchPart, 1)
		case r.is(r.at, "#"):
			r.change(hashPart, 1)
		}
	}
	switch r.state {
	case stateInit:
		if r.is(r.at, ":") {
			r.rewind(protocolPart)
		}
	case protocolPart:
		if !r.is(r.at, ":") {
			return
		}
		r.special = r.m.matchesSpecial(r.m.compilePattern(r.component(), patternOptions{}, r.m.encodeProtocol))
		switch {
		case r.is(r.at+1, "/") && r.is(r.at+2, "/"):
			r.change(stateAuthority, 3)
		case r.special:
			r.change(stateAuthority, 1)
		default:
			r.change(pathnamePart, 1)
		}
	case stateAuthority:
		switch {
		case r.is(r.at, "@"):
			r.rewind(usernamePart)
		case r.is(r.at, "/") || r.isSearch() || r.is(r.at, "#"):
			r.rewind(hostnamePart)
		}
	case usernamePart:
		switch {
		case r.is(r.at, ":"):
			r.change(passwordPart, 1)
		case r.is(r.at, "@"):
			r.change(hostnamePart, 1)
		}
	case passwordPart:
		if r.is(r.at, "@") {
			r.change(hostnamePart, 1)
		}
	case hostnamePart:
		switch {
		case r.is(r.at, "["):
			r.brackets++
		case r.is(r.at, "]"):
			r.brackets--
		case r.is(r.at, ":") && r.brackets == 0:
			r.change(portPart, 1)
		default:
			afterHost()
		}
	case portPart:
		afterHost()
	case pathnamePart:
		if r.isSearch() {
			r.change(searchPart, 1)
		} else if r.is(r.at, "#") {
			r.change(hashPart, 1)
		}
	case searchPart:
		if r.is(r.at, "#") {
			r.change(hashPart, 1)
		}
	}
}

// is reports whether the token at i is that character, meaning itself.
func (r *patternReader) is(i int, value string) bool {
	if i >= len(r.tokens) {
		return false
	}
	t := r.tokens[i]
	return t.value == value && (t.kind == tokenChar || t.kind == tokenEscaped || t.kind == tokenInvalid)
}

// isSearch reports whether a search begins here: the question mark is no modifier.
func (r *patternReader) isSearch() bool {
	if r.is(r.at, "?") {
		return true
	}
	if r.tokens[r.at].value != "?" {
		return false
	}
	if r.at == 0 {
		return true
	}
	switch r.tokens[r.at-1].kind {
	case tokenName, tokenRegexp, tokenClose, tokenAsterisk:
		return false
	}
	return true
}

// component is the text of the part that ends here.
func (r *patternReader) component() string {
	return string(r.text[r.tokens[r.start].index:r.tokens[r.at].index])
}

// rewind goes back to where the part began, and takes it for another.
func (r *patternReader) rewind(state int) {
	r.at, r.step, r.state = r.start, 0, state
}

// change ends a part and begins another behind the next skip tokens. Parts that were
// passed over are empty.
func (r *patternReader) change(state, skip int) {
	empty := func(part int, text string) {
		if r.out.parts[part] == nil {
			r.out.parts[part] = &text
		}
	}
	if r.state >= 0 {
		r.out.parts[r.state] = new(r.component())
	}
	if r.state != stateInit && state != stateDone {
		if (r.state == stateAuthority || r.state <= passwordPart) && state >= portPart {
			empty(hostnamePart, "")
		}
		if r.state <= portPart && (state == searchPart || state == hashPart) {
			path := ""
			if r.special {
				path = "/"
			}
			empty(pathnamePart, path)
		}
		if r.state <= pathnamePart && state == hashPart {
			empty(searchPart, "")
		}
	}
	r.state, r.step = state, 0
	r.at += skip
	r.start = r.at
}

// patternOptions are those of the parts of URLs.
type patternOptions struct {
	delimiter, prefix string
	ignoreCase        bool
}

// segment is the regular expression of a name without one.
func (o patternOptions) segment() string {
	if o.delimiter == "" {
		return "[^]+?"
	}
	return "[^" + escapeRegexp(o.delimiter) + "]+?"
}

const anything = ".*"

// Kinds of pieces of a pattern.
const (
	pieceText = iota
	pieceRegexp
	pieceSegment
	pieceAnything
)

type piece struct {
	kind                        int
	value, name, prefix, suffix string
	modifier                    string // "", "?", "*" or "+"
}

// pieceReader reads the pieces of a pattern.
type pieceReader struct {
	m       *module
	o       patternOptions
	encode  func(string) string
	tokens  []token
	at      int
	pieces  []piece
	pending strings.Builder
	number  int
}

// piecesOf reads the pieces of a pattern. encode brings its texts into the form that
// they have in a URL.
func (m *module) piecesOf(text string, o patternOptions, encode func(string) string) []piece {
	r := &pieceReader{m: m, o: o, encode: encode, tokens: m.tokenize([]rune(text), false)}
	for r.at < len(r.tokens) {
		char := r.take(tokenChar)
		name := r.take(tokenName)
		regexp := r.regexp(name)
		if name != nil || regexp != nil {
			prefix := ""
			if char != nil {
				prefix = char.value
			}
			if prefix != o.prefix {
				r.pending.WriteString(prefix)
				prefix = ""
			}
			r.flush()
			r.add(prefix, name, regexp, "", r.modifier())
			continue
		}
		if char == nil {
			char = r.take(tokenEscaped)
		}
		if char != nil {
			r.pending.WriteString(char.value)
			continue
		}
		if r.take(tokenOpen) != nil {
			prefix := r.words()
			name := r.take(tokenName)
			regexp := r.regexp(name)
			suffix := r.words()
			r.require(tokenClose, text)
			r.add(prefix, name, regexp, suffix, r.modifier())
			continue
		}
		r.flush()
		r.require(tokenEnd, text)
	}
	return r.pieces
}

func (r *pieceReader) take(kind int) *token {
	if r.at < len(r.tokens) && r.tokens[r.at].kind == kind {
		r.at++
		return &r.tokens[r.at-1]
	}
	return nil
}

func (r *pieceReader) require(kind int, text string) {
	if r.take(kind) == nil {
		panic(r.m.wrongPattern("the pattern '" + text + "' is not well formed at '" + r.tokens[r.at].value + "'"))
	}
}

func (r *pieceReader) regexp(name *token) *token {
	t := r.take(tokenRegexp)
	if t == nil && name == nil {
		t = r.take(tokenAsterisk)
	}
	return t
}

func (r *pieceReader) modifier() string {
	t := r.take(tokenModifier)
	if t == nil {
		t = r.take(tokenAsterisk)
	}
	if t == nil {
		return ""
	}
	return t.value
}

func (r *pieceReader) words() string {
	var b strings.Builder
	for {
		t := r.take(tokenChar)
		if t == nil {
			t = r.take(tokenEscaped)
		}
		if t == nil {
			return b.String()
		}
		b.WriteString(t.value)
	}
}

// flush makes a piece of the text that is pending.
func (r *pieceReader) flush() {
	if r.pending.Len() > 0 {
		r.pieces = append(r.pieces, piece{value: r.encode(r.pending.String())})
		r.pending.Reset()
	}
}

func (r *pieceReader) add(prefix string, name, regexp *token, suffix, modifier string) {
	if name == nil && regexp == nil && modifier == "" {
		r.pending.WriteString(prefix)
		return
	}
	r.flush()
	if name == nil && regexp == nil {
		if prefix != "" {
			r.pieces = append(r.pieces, piece{value: r.encode(prefix), modifier: modifier})
		}
		return
	}
	p := piece{kind: pieceRegexp, modifier: modifier}
	switch {
	case regexp == nil || regexp.value == r.o.segment():
		p.kind = pieceSegment
	case regexp.kind == tokenAsterisk || regexp.value == anything:
		p.kind = pieceAnything
	default:
		p.value = regexp.value
	}
	if name != nil {
		p.name = name.value
	} else {
		p.name = strconv.Itoa(r.number)
		r.number++
	}
	if slices.ContainsFunc(r.pieces, func(other piece) bool { return other.name == p.name && other.kind != pieceText }) {
		panic(r.m.wrongPattern("the name '" + p.name + "' is there twice"))
	}
	p.prefix, p.suffix = r.encode(prefix), r.encode(suffix)
	r.pieces = append(r.pieces, p)
}

// compilePattern makes the component of a pattern.
func (m *module) compilePattern(text string, o patternOptions, encode func(string) string) *component {
	pieces := m.piecesOf(text, o, encode)
	source, names := regexpOf(pieces, o)
	flags := "u"
	if o.ignoreCase {
		flags = "iu"
	}
	regexp, err := m.vm.New(m.vm.Get("RegExp"), m.vm.ToValue(source), m.vm.ToValue(flags))
	if err != nil {
		panic(m.wrongPattern("the pattern '" + text + "' has a regular expression that is not valid"))
	}
	c := &component{text: textOf(pieces, o), names: names, regexp: regexp}
	c.exec, _ = goja.AssertFunction(regexp.Get("exec"))
	c.groups = slices.ContainsFunc(pieces, func(p piece) bool { return p.kind == pieceRegexp })
	if c.exec == nil {
		panic(native.InvalidType(m.vm, "exec", "of type function", regexp.Get("exec")))
	}
	return c
}

// regexpOf writes pieces as a regular expression, and the names of its groups.
func regexpOf(pieces []piece, o patternOptions) (source string, names []string) {
	var b strings.Builder
	b.WriteByte('^')
	for _, p := range pieces {
		if p.kind == pieceText {
			if p.modifier == "" {
				b.WriteString(escapeRegexp(p.value))
			} else {
				b.WriteString("(?:" + escapeRegexp(p.value) + ")" + p.modifier)
			}
			continue
		}
		names = append(names, p.name)
		value := p.value
		switch p.kind {
		case pieceSegment:
			value = o.segment()
		case pieceAnything:
			value = anything
		}
		prefix, suffix := escapeRegexp(p.prefix), escapeRegexp(p.suffix)
		once := p.modifier == "" || p.modifier == "?"
		switch {
		case prefix == "" && suffix == "" && once:
			b.WriteString("(" + value + ")" + p.modifier)
		case prefix == "" && suffix == "":
			b.WriteString("((?:" + value + ")" + p.modifier + ")")
		case once:
			b.WriteString("(?:" + prefix + "(" + value + ")" + suffix + ")" + p.modifier)
		default:
			b.WriteString("(?:" + prefix + "((?:" + value + ")(?:" + suffix + prefix + "(?:" + value + "))*)" + suffix + ")")
			if p.modifier == "*" {
				b.WriteByte('?')
			}
		}
	}
	return b.String() + "$", names
}

// textOf writes pieces as a pattern, in the shortest form.
func textOf(pieces []piece, o patternOptions) string {
	var b strings.Builder
	for i, p := range pieces {
		if p.kind == pieceText {
			if p.modifier == "" {
				b.WriteString(escapePattern(p.value))
			} else {
				b.WriteString("{" + escapePattern(p.value) + "}" + p.modifier)
			}
			continue
		}
		var before, after *piece
		if i > 0 {
			before = &pieces[i-1]
		}
		if i+1 < len(pieces) {
			after = &pieces[i+1]
		}
		named := p.name[0] < '0' || p.name[0] > '9'
		grouped := p.suffix != "" || p.prefix != "" && p.prefix != o.prefix
		if !grouped && named && p.kind == pieceSegment && p.modifier == "" && after != nil && after.prefix == "" && after.suffix == "" {
			if after.kind == pieceText {
				grouped = isNameRune([]rune(after.value + " ")[0], false)
			} else {
				grouped = after.name[0] >= '0' && after.name[0] <= '9'
			}
		}
		if !grouped && p.prefix == "" && before != nil && before.kind == pieceText && o.prefix != "" && strings.HasSuffix(before.value, o.prefix) {
			grouped = true
		}
		if grouped {
			b.WriteByte('{')
		}
		b.WriteString(escapePattern(p.prefix))
		if named {
			b.WriteString(":" + p.name)
		}
		switch {
		case p.kind == pieceRegexp:
			b.WriteString("(" + p.value + ")")
		case p.kind == pieceSegment && !named:
			b.WriteString("(" + o.segment() + ")")
		case p.kind == pieceAnything && !named && (before == nil || before.kind == pieceText || before.modifier != "" || grouped || p.prefix != ""):
			b.WriteByte('*')
		case p.kind == pieceAnything:
			b.WriteString("(" + anything + ")")
		}
		if p.kind == pieceSegment && named && p.suffix != "" && isNameRune([]rune(p.suffix)[0], false) {
			b.WriteByte('\\')
		}
		b.WriteString(escapePattern(p.suffix))
		if grouped {
			b.WriteByte('}')
		}
		b.WriteString(p.modifier)
	}
	return b.String()
}

func escapeRegexp(text string) string { return escapeAny(text, `.+*?^${}()[]|/\`) }

func escapePattern(text string) string { return escapeAny(text, `+*?:{}()\`) }

// escapeAny puts a backslash before each of some characters.
func escapeAny(text, special string) string {
	if !strings.ContainsAny(text, special) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(special, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

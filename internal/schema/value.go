package schema

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"mcpx/internal/jsontext"
)

// kind is the kind of a JSON value. A kind is one bit, so that kinds can be sets.
type kind uint8

const (
	kindNull kind = 1 << iota
	kindBoolean
	kindNumber
	kindString
	kindArray
	kindObject
	kindInteger // of schemas only: a number without a fraction

	allKinds = kindNull | kindBoolean | kindNumber | kindString | kindArray | kindObject
)

// value is a JSON value together with its text, so that members keep their order and
// numbers their digits.
type value struct {
	kind    kind
	text    []byte // without space around it
	from    int    // where its text begins in the whole
	str     string // of a string; a lone surrogate is kept as its three WTF-8 bytes
	items   []value
	members []member       // in the order of the text, repetitions included
	index   map[string]int // of members, if they are many
}

type member struct {
	name  string
	key   []byte // the text of the name, with quotes
	value value
}

// parse reads one JSON value. Text that is not valid JSON has none.
func parse(text []byte) (*value, bool) {
	if !jsontext.Valid(text) { // also bounds the depth
		return nil, false
	}
	s := scanner{text: text}
	v := s.value()
	return &v, true
}

// outline reads a JSON value, which must be valid, without its strings: those are read by
// says, if they matter. Arguments can hold files.
func outline(text []byte) *value {
	s := scanner{text: text, outline: true}
	v := s.value()
	return &v
}

// says returns what a string says.
func (v *value) says() string {
	s := scanner{text: v.text}
	return s.string()
}

// maxValues is how many values arguments may have that are looked into. Those of more take
// many times their own size, and are left to the server.
const maxValues = 100_000

// manifold reports whether arguments may have more values than are looked into. Commas in
// strings count as well.
func manifold(args []byte) bool {
	return len(args) > maxValues && bytes.Count(args, []byte(","))+bytes.Count(args, []byte("["))+bytes.Count(args, []byte("{")) > maxValues
}

// get returns the member with a name, the last one if it is repeated, or nil.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	if v.index != nil {
		if i, ok := v.index[name]; ok {
			return &v.members[i].value
		}
		return nil
	}
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return &v.members[i].value
		}
	}
	return nil
}

// distinct returns the members without repetition, each at the place where it was
// first named, with the value that it was given last.
func (v *value) distinct() []*member {
	if v == nil {
		return nil
	}
	out := make([]*member, 0, len(v.members))
	at := make(map[string]int, len(v.members))
	for i := range v.members {
		m := &v.members[i]
		if j, ok := at[m.name]; ok {
			out[j] = m
			continue
		}
		at[m.name] = len(out)
		out = append(out, m)
	}
	return out
}

// string returns the text of a string member, or "".
func (v *value) string(name string) string {
	if m := v.get(name); m.is(kindString) {
		return m.str
	}
	return ""
}

func (v *value) is(k kind) bool { return v != nil && v.kind&k != 0 }

// isTrue reports whether v is the value true.
func (v *value) isTrue() bool { return v.is(kindBoolean) && v.text[0] == 't' }

// isFalse reports whether v is the value false.
func (v *value) isFalse() bool { return v.is(kindBoolean) && v.text[0] == 'f' }

// count returns the value of a member that is a whole number from 0 to a million, or
// the value that stands for an absent one.
func (v *value) count(name string, absent int) int {
	m := v.get(name)
	if !m.is(kindNumber) {
		return absent
	}
	n, err := strconv.ParseFloat(string(m.text), 64)
	if err != nil || n < 0 || n > 1e6 || n != float64(int(n)) {
		return absent
	}
	return int(n)
}

// scanner reads text that is known to be valid JSON.
type scanner struct {
	text    []byte
	at      int
	outline bool // strings are passed over
}

func (s *scanner) space() { s.at = jsontext.Space(s.text, s.at) }

// manyMembers is where a search from the end becomes slower than an index.
const manyMembers = 12

func (s *scanner) value() (v value) {
	s.space()
	start := s.at
	v.from = start
	defer func() { v.text = s.text[start:s.at] }()
	switch s.text[s.at] {
	case '{':
		v.kind = kindObject
		for s.at++; ; s.at++ {
			if s.space(); s.text[s.at] == '}' {
				break
			}
			var m member
			from := s.at
			m.name = s.string()
			m.key = s.text[from:s.at]
			s.space()
			s.at++ // the colon
			m.value = s.value()
			v.members = append(v.members, m)
			if s.space(); s.text[s.at] == '}' {
				break
			}
		}
		s.at++
		if len(v.members) > manyMembers {
			v.index = make(map[string]int, len(v.members))
			for i, m := range v.members {
				v.index[m.name] = i
			}
		}
	case '[':
		v.kind = kindArray
		for s.at++; ; s.at++ {
			if s.space(); s.text[s.at] == ']' {
				break
			}
			v.items = append(v.items, s.value())
			if s.space(); s.text[s.at] == ']' {
				break
			}
		}
		s.at++
	case '"':
		v.kind = kindString
		if s.outline {
			s.at = jsontext.String(s.text, s.at)
		} else {
			v.str = s.string()
		}
	case 't':
		v.kind = kindBoolean
		s.at += len("true")
	case 'f':
		v.kind = kindBoolean
		s.at += len("false")
	case 'n':
		v.kind = kindNull
		s.at += len("null")
	default:
		v.kind = kindNumber
		for s.at < len(s.text) && isNumberByte(s.text[s.at]) {
			s.at++
		}
	}
	return v
}

func isNumberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

func (s *scanner) string() string {
	s.at++
	start := s.at
	s.at = jsontext.Special(s.text, s.at)
	if s.text[s.at] == '"' && utf8.Valid(s.text[start:s.at]) {
		s.at++
		return string(s.text[start : s.at-1])
	}
	out := make([]byte, 0, 2*(s.at-start)+16)
	s.at = start
	for {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return string(out)
		case c == '\\':
			out = s.escape(out)
		case c < utf8.RuneSelf:
			out = append(out, c)
			s.at++
		default:
			r, n := utf8.DecodeRune(s.text[s.at:])
			out = utf8.AppendRune(out, r) // a byte that is not UTF-8 becomes U+FFFD
			s.at += n
		}
	}
}

// escape decodes the escape sequence at the scanner's place.
func (s *scanner) escape(out []byte) []byte {
	c := s.text[s.at+1]
	s.at += 2
	switch c {
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'u':
		r := s.hex()
		if isHighSurrogate(r) && s.text[s.at] == '\\' && s.text[s.at+1] == 'u' {
			back := s.at
			s.at += 2
			if low := s.hex(); isLowSurrogate(low) {
				return utf8.AppendRune(out, 0x10000+(r-0xD800)<<10+(low-0xDC00))
			}
			s.at = back
		}
		return appendUnit(out, r)
	default: // a quote, a slash or a backslash
		return append(out, c)
	}
}

func (s *scanner) hex() rune {
	n, _ := strconv.ParseUint(string(s.text[s.at:s.at+4]), 16, 32)
	s.at += 4
	return rune(n)
}

func isHighSurrogate(r rune) bool { return 0xD800 <= r && r < 0xDC00 }
func isLowSurrogate(r rune) bool  { return 0xDC00 <= r && r < 0xE000 }

// appendUnit appends a UTF-16 code unit, a lone surrogate as WTF-8 has it.
func appendUnit(out []byte, r rune) []byte {
	if isHighSurrogate(r) || isLowSurrogate(r) {
		return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0xBF, 0x80|byte(r)&0xBF)
	}
	return utf8.AppendRune(out, r)
}

// surrogate decodes the lone surrogate that s begins with, if it does.
func surrogate(s string) (rune, bool) {
	if len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
	}
	return 0, false
}

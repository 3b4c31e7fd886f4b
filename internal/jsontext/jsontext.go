// Package jsontext reads and writes JSON as text, without making values of it: whether a
// text is JSON, where a value in it ends, what a string says.
//
// It answers as encoding/json does, and passes over strings eight bytes at a time: what
// servers send is mostly strings, and some of them have many megabytes.
package jsontext

import "math/bits"

// MaxDepth is how deep values may nest, as in encoding/json.
const MaxDepth = 10_000

// Valid reports whether b is one JSON value. Whether its strings are UTF-8 is not asked.
func Valid(b []byte) bool {
	i := value(b, Space(b, 0), 0)
	return i >= 0 && Space(b, i) == len(b)
}

// value returns the index after the value that starts at i, or -1 if none does.
func value(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '{':
		return list(b, i, '}', depth+1)
	case '[':
		return list(b, i, ']', depth+1)
	case '"':
		return quoted(b, i)
	case 't':
		return word(b, i, "true")
	case 'f':
		return word(b, i, "false")
	case 'n':
		return word(b, i, "null")
	}
	return number(b, i)
}

// list is value for an object or array, which ends with end.
func list(b []byte, i int, end byte, depth int) int {
	if depth > MaxDepth {
		return -1
	}
	if i = Space(b, i+1); i < len(b) && b[i] == end {
		return i + 1
	}
	for {
		if end == '}' {
			if i = name(b, i); i < 0 {
				return -1
			}
		}
		if i = value(b, i, depth); i < 0 {
			return -1
		}
		switch i = Space(b, i); {
		case i >= len(b):
			return -1
		case b[i] == end:
			return i + 1
		case b[i] != ',':
			return -1
		}
		i = Space(b, i+1)
	}
}

// name passes over the name of a member and the colon.
func name(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	if i = quoted(b, i); i < 0 {
		return -1
	}
	if i = Space(b, i); i >= len(b) || b[i] != ':' {
		return -1
	}
	return Space(b, i+1)
}

func word(b []byte, i int, w string) int {
	if len(b)-i < len(w) || string(b[i:i+len(w)]) != w {
		return -1
	}
	return i + len(w)
}

func number(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	first := i
	if i = digits(b, i); i < 0 || b[first] == '0' && i > first+1 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = digits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i = digits(b, i)
	}
	return i
}

// digits passes over digits, of which there is at least one.
func digits(b []byte, i int) int {
	first := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	if i == first {
		return -1
	}
	return i
}

// quoted returns the index after the string that starts at i, or -1 if it is none.
func quoted(b []byte, i int) int {
	for i++; ; {
		if i = Special(b, i); i >= len(b) {
			return -1
		}
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			if i = escape(b, i); i < 0 {
				return -1
			}
		default:
			return -1 // a control character
		}
	}
}

// escape passes over an escape sequence.
func escape(b []byte, i int) int {
	if i+1 >= len(b) {
		return -1
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		if _, ok := hex(b, i+2); ok {
			return i + 6
		}
	}
	return -1
}

// hex reads four hexadecimal digits.
func hex(b []byte, i int) (r rune, ok bool) {
	if len(b)-i < 4 {
		return 0, false
	}
	for _, c := range b[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// Special returns the index, from i on, of the first byte that has a meaning in a string:
// a quote, a backslash, or a control character, which may not stand in one. Without any it
// is the length of s.
func Special[T ~string | ~[]byte](s T, i int) int {
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, backslash := w^('"'*lows), w^('\\'*lows)
		// Of each term the lowest high bit is right; those above it may come of a borrow.
		if found := ((w-' '*lows)&^w | (quote-lows)&^quote | (backslash-lows)&^backslash) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return len(s)
}

// Space returns the index, from i on, of the first byte that is no space between values.
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// String returns the index after the string that starts at i. Of one that does not end it
// is the length of b.
func String(b []byte, i int) int {
	for i++; i < len(b); i++ {
		if i = Special(b, i); i >= len(b) {
			break
		}
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// Value returns the index after the value that starts at i. The text should be valid; of
// one that is not, it is somewhere behind i, or i itself if no value starts there.
func Value(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = String(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i < len(b) && !endsScalar(b[i]) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return len(b)
}

func endsScalar(c byte) bool {
	switch c {
	case ',', ':', ']', '}', '[', '{', '"', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}

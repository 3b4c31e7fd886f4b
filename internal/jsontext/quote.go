package jsontext

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns what a JSON string says, or false if b is none. As in encoding/json a
// surrogate without its other half, and a byte that is not UTF-8, become U+FFFD.
func Unquote(b []byte) (string, bool) {
	b = bytes.Trim(b, " \t\r\n")
	if len(b) < 2 || b[0] != '"' {
		return "", false
	}
	i := Special(b, 1)
	if i == len(b)-1 && b[i] == '"' && utf8.Valid(b[1:i]) {
		return string(b[1:i]), true
	}
	var out strings.Builder
	out.Grow(len(b))
	for from := 1; ; i = Special(b, from) {
		writeText(&out, b[from:i])
		if i >= len(b) {
			return "", false
		}
		switch b[i] {
		case '"':
			return out.String(), i == len(b)-1
		case '\\':
			if from = unescape(b, i, &out); from < 0 {
				return "", false
			}
		default:
			return "", false
		}
	}
}

// writeText writes b with U+FFFD for each byte that is not UTF-8.
func writeText(out *strings.Builder, b []byte) {
	if utf8.Valid(b) {
		out.Write(b)
		return
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out.WriteRune(r)
		b = b[n:]
	}
}

// unescape writes what the escape sequence at i says, and returns the index after it, or -1
// if it is none.
func unescape(b []byte, i int, out *strings.Builder) int {
	end := escape(b, i)
	if end < 0 {
		return -1
	}
	switch c := b[i+1]; c {
	case 'b':
		out.WriteByte('\b')
	case 'f':
		out.WriteByte('\f')
	case 'n':
		out.WriteByte('\n')
	case 'r':
		out.WriteByte('\r')
	case 't':
		out.WriteByte('\t')
	case 'u':
		r, _ := hex(b, i+2)
		if utf16.IsSurrogate(r) && end+1 < len(b) && b[end] == '\\' && b[end+1] == 'u' {
			other, _ := hex(b, end+2)
			if pair := utf16.DecodeRune(r, other); pair != utf8.RuneError {
				r, end = pair, end+6
			}
		}
		out.WriteRune(r) // half of a pair is written as U+FFFD
	default:
		out.WriteByte(c)
	}
	return end
}

// AppendQuoted appends s as a JSON string. Only what must be escaped is, and the two
// separators of lines that JavaScript once took for ends of lines. Bytes that are not UTF-8
// become U+FFFD, written as an escape.
func AppendQuoted(b []byte, s string) []byte {
	const behind = 64 // for what is appended next, so that a long text is not copied for it
	size := len(s) + 2 + behind
	if Special(s, 0) < len(s) {
		size += strings.Count(s, `"`) + strings.Count(s, `\`) + strings.Count(s, "\n")
	}
	b = slices.Grow(b, size)
	const separators = 0xE2 // with which both begin
	plain := utf8.ValidString(s) && (strings.IndexByte(s, separators) < 0 || !strings.Contains(s, "\u2028") && !strings.Contains(s, "\u2029"))
	b = append(b, '"')
	for from := 0; ; from++ {
		i := Special(s, from)
		if plain {
			b = append(b, s[from:i]...)
		} else {
			b = appendEscaped(b, s[from:i])
		}
		if i == len(s) {
			return append(b, '"')
		}
		const digits = "0123456789abcdef"
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xF])
		}
		from = i
	}
}

// appendEscaped appends text without quotes, backslashes and control characters.
func appendEscaped(b []byte, s string) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\ufffd`...)
		case r == '\u2028':
			b = append(b, `\u2028`...)
		case r == '\u2029':
			b = append(b, `\u2029`...)
		default:
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return b
}

// AppendFlat appends JSON that may be spread over lines, as one line: the end of a line is
// never data.
func AppendFlat(b, text []byte) []byte {
	from := len(b)
	b = append(b, text...)
	for _, end := range [...]byte{'\n', '\r'} {
		for at := from; ; at++ {
			next := bytes.IndexByte(b[at:], end)
			if next < 0 {
				break
			}
			at += next
			b[at] = ' '
		}
	}
	return b
}

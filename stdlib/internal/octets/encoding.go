package octets

import (
	"encoding/base64"
	"encoding/hex"
	"reflect"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

var (
	typeBytes       = reflect.TypeFor[[]byte]()
	typeArrayBuffer = reflect.TypeFor[goja.ArrayBuffer]()
)

// Encoding is a way to write bytes as text, or text as bytes.
type Encoding int

// The encodings of Node.
const (
	UTF8 Encoding = iota
	UTF16LE
	Latin1
	ASCII
	Hex
	Base64
	Base64URL
)

var names = [...]string{"utf8", "utf16le", "latin1", "ascii", "hex", "base64", "base64url"}

func (e Encoding) String() string { return names[e] }

// Named returns the encoding of a name, in upper or lower case.
func Named(name string) (Encoding, bool) {
	if len(name) > len("base64url") {
		return 0, false
	}
	switch strings.ToLower(name) {
	case "utf8", "utf-8":
		return UTF8, true
	case "utf16le", "utf-16le", "ucs2", "ucs-2":
		return UTF16LE, true
	case "latin1", "binary":
		return Latin1, true
	case "ascii":
		return ASCII, true
	case "hex":
		return Hex, true
	case "base64":
		return Base64, true
	case "base64url":
		return Base64URL, true
	}
	return 0, false
}

// isASCII reports whether s has ASCII characters only, given its text as UTF-8: any
// other takes more bytes than code units.
func isASCII(s goja.String, text string) bool { return s.Length() == len(text) }

// Encode returns the bytes that s stands for.
func (e Encoding) Encode(s goja.String) []byte {
	text := s.String()
	switch e {
	case UTF8:
		if utf8.ValidString(text) {
			return []byte(text)
		}
		return utf8Of(s)
	case UTF16LE:
		return utf16Of(s, text)
	case Latin1, ASCII:
		if isASCII(s, text) {
			return []byte(text)
		}
		b := make([]byte, s.Length())
		for i := range b {
			b[i] = byte(s.CharAt(i))
		}
		return b
	case Hex:
		if !isASCII(s, text) {
			text = narrowed(s)
		}
		return fromHex(text)
	}
	if !isASCII(s, text) {
		text = narrowed(s)
	}
	return fromBase64(text)
}

// narrowed writes every code unit as a byte, those above ASCII as one that means nothing.
func narrowed(s goja.String) string {
	b := make([]byte, s.Length())
	for i := range b {
		if c := s.CharAt(i); c < utf8.RuneSelf {
			b[i] = byte(c)
		}
	}
	return string(b)
}

// utf8Of encodes a string that has lone surrogates, or that Go made of broken UTF-8.
func utf8Of(s goja.String) []byte {
	return []byte(string(utf16.Decode(units(s))))
}

func units(s goja.String) []uint16 {
	u := make([]uint16, s.Length())
	for i := range u {
		u[i] = s.CharAt(i)
	}
	return u
}

func utf16Of(s goja.String, text string) []byte {
	b := make([]byte, 2*s.Length())
	if isASCII(s, text) {
		for i := range len(text) {
			b[2*i] = text[i]
		}
		return b
	}
	for i := range s.Length() {
		c := s.CharAt(i)
		b[2*i], b[2*i+1] = byte(c), byte(c>>8)
	}
	return b
}

func fromHex(text string) []byte {
	b := make([]byte, len(text)/2)
	n, _ := hex.Decode(b, []byte(text[:len(b)*2]))
	return b[:n]
}

// noSextet is the value of a character that is in neither alphabet of base64.
const noSextet = 0xff

func sextet(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return c - 'A'
	case c >= 'a' && c <= 'z':
		return c - 'a' + 26
	case c >= '0' && c <= '9':
		return c - '0' + 52
	case c == '+' || c == '-':
		return 62
	case c == '/' || c == '_':
		return 63
	}
	return noSextet
}

// fromBase64 decodes as Node does: both alphabets, anything else skipped, an end at the
// first padding.
func fromBase64(text string) []byte {
	if b, err := base64.StdEncoding.Strict().DecodeString(text); err == nil {
		return b
	}
	b := make([]byte, 0, len(text)/4*3+3)
	var bits uint32
	n := 0
	for i := range len(text) {
		c := text[i]
		if c == '=' {
			break
		}
		v := sextet(c)
		if v == noSextet {
			continue
		}
		bits = bits<<6 | uint32(v)
		if n++; n == 4 {
			b = append(b, byte(bits>>16), byte(bits>>8), byte(bits))
			bits, n = 0, 0
		}
	}
	switch n {
	case 2:
		b = append(b, byte(bits>>4))
	case 3:
		b = append(b, byte(bits>>10), byte(bits>>2))
	}
	return b
}

// Decode returns b as text.
func (e Encoding) Decode(vm *goja.Runtime, b []byte) goja.Value {
	switch e {
	case UTF8:
		return vm.ToValue(ValidUTF8(b))
	case UTF16LE:
		u := make([]uint16, len(b)/2)
		for i := range u {
			u[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
		}
		return goja.StringFromUTF16(u)
	case Latin1:
		if plain(b) {
			return vm.ToValue(string(b))
		}
		u := make([]uint16, len(b))
		for i, c := range b {
			u[i] = uint16(c)
		}
		return goja.StringFromUTF16(u)
	case ASCII:
		low := make([]byte, len(b))
		for i, c := range b {
			low[i] = c & 0x7f
		}
		return vm.ToValue(string(low))
	case Hex:
		return vm.ToValue(hex.EncodeToString(b))
	case Base64:
		return vm.ToValue(base64.StdEncoding.EncodeToString(b))
	}
	return vm.ToValue(base64.RawURLEncoding.EncodeToString(b))
}

// Size is the length of the text that n bytes become, or less.
func (e Encoding) Size(n int) int {
	switch e {
	case Hex:
		return 2 * n
	case Base64, Base64URL:
		return n/3*4 + 4
	case UTF16LE:
		return n / 2
	case UTF8:
		return n / 4
	}
	return n
}

func plain(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

const replacement = "\uFFFD"

// ValidUTF8 decodes UTF-8. Each longest sequence that begins a character and does not
// end it becomes one replacement character, as the Encoding Standard has it.
func ValidUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	out.Grow(len(b) + len(b)/8)
	for len(b) > 0 {
		size, ok := Sequence(b)
		if ok {
			out.Write(b[:size])
		} else {
			out.WriteString(replacement)
		}
		b = b[size:]
	}
	return out.String()
}

// Sequence returns the length of the character at the start of b, which must not be
// empty, or, if there is none, of what is wrong there.
func Sequence(b []byte) (size int, ok bool) {
	need, low, high := lead(b[0])
	if need < 0 {
		return 1, false
	}
	for i := 1; i <= need; i++ {
		if i == len(b) || b[i] < low || b[i] > high {
			return i, false
		}
		low, high = 0x80, 0xbf
	}
	return need + 1, true
}

// lead says how many bytes follow a first byte, and in what range the next one is.
func lead(c byte) (need int, low, high byte) {
	switch {
	case c < 0x80:
		return 0, 0, 0
	case c < 0xc2 || c > 0xf4:
		return -1, 0, 0
	case c < 0xe0:
		return 1, 0x80, 0xbf
	case c == 0xe0:
		return 2, 0xa0, 0xbf
	case c == 0xed:
		return 2, 0x80, 0x9f
	case c < 0xf0:
		return 2, 0x80, 0xbf
	case c == 0xf0:
		return 3, 0x90, 0xbf
	case c == 0xf4:
		return 3, 0x80, 0x8f
	}
	return 3, 0x80, 0xbf
}

// Unfinished returns how many bytes at the end of b begin a character of UTF-8 that
// more bytes may finish, and how many of those are still to come.
func Unfinished(b []byte) (have, missing int) {
	for have = 1; have <= min(3, len(b)); have++ {
		c := b[len(b)-have]
		if c >= 0x80 && c < 0xc0 {
			continue
		}
		need, _, _ := lead(c)
		size, ok := Sequence(b[len(b)-have:])
		if need < have || ok || size != have {
			return 0, 0
		}
		return have, need + 1 - have
	}
	return 0, 0
}

// IsLatin1 reports whether every code unit of s fits into a byte.
func IsLatin1(s goja.String) bool {
	if isASCII(s, s.String()) {
		return true
	}
	for i := range s.Length() {
		if s.CharAt(i) > 0xff {
			return false
		}
	}
	return true
}

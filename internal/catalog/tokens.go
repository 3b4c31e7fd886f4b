package catalog

import (
	"unicode"
	"unicode/utf8"
)

// Tokens estimates how many tokens a model reads text as. It divides text as the
// tokenizer o200k_base does, into words with the character before them, groups of
// digits, runs of marks and space, and adds up what such pieces come to on average.
// For what mcpx prints and for schemas as JSON the estimate is within 10 % of that
// tokenizer; other languages than English are within 20 %. Other tokenizers differ from
// this one by more.
func Tokens(text string) int {
	cents := 0
	for len(text) > 0 {
		n, c := piece(text)
		text = text[n:]
		cents += c
	}
	return (cents + 50) / 100
}

// piece returns the length of the piece that text begins with, and what it costs in
// hundredths of a token.
func piece(text string) (size, cents int) {
	first, n := utf8.DecodeRuneInString(text)
	switch {
	case unicode.IsLetter(first) || unicode.Is(unicode.M, first):
		return word(text, 0)
	case unicode.IsNumber(first):
		size = n
		for range 2 {
			r, n := utf8.DecodeRuneInString(text[size:])
			if n == 0 || !unicode.IsNumber(r) {
				break
			}
			size += n
		}
		return size, 100
	}
	if next, _ := utf8.DecodeRuneInString(text[n:]); first != '\r' && first != '\n' && len(text) > n && (unicode.IsLetter(next) || unicode.Is(unicode.M, next)) {
		return word(text, n)
	}
	if unicode.IsSpace(first) {
		if next, _ := utf8.DecodeRuneInString(text[n:]); first != ' ' || len(text) == n || unicode.IsSpace(next) || unicode.IsNumber(next) {
			return space(text), 100
		}
	}
	return marks(text, n, first)
}

// word measures a word with the before bytes that go with it: capitals, then small
// letters.
func word(text string, before int) (size, cents int) {
	ascii, other, dense, small := 0, 0, 0, false
	size = before
	for size < len(text) {
		r, n := utf8.DecodeRuneInString(text[size:])
		upper := unicode.IsUpper(r) || unicode.IsTitle(r)
		if !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) || upper && small {
			break
		}
		// The last capital of HTTPServer begins a word.
		if next, m := utf8.DecodeRuneInString(text[size+n:]); upper && ascii+other > 0 && m > 0 && unicode.IsLower(next) && size > before {
			break
		}
		small = small || !upper
		switch {
		case r < utf8.RuneSelf:
			ascii++
		case isDense(r):
			dense++
		default:
			other++
		}
		size += n
	}
	if ascii+other+dense == 0 { // cannot be, and must not stand still
		return max(size, 1), 100
	}
	if end := suffix(text[size:]); end > 0 {
		size += end
	}
	if other+dense > 0 {
		return size, max(100, ascii*25+other*27+dense*62)
	}
	switch {
	case before == 0: // at the beginning of a line, or in an identifier
		cents = [...]int{0, 100, 101, 110, 102, 105, 105, 106, 107, 125, 115, 115}[min(ascii, 11)]
	case text[0] == ' ':
		cents = [...]int{0, 100, 100, 100, 101, 101, 101, 102, 103, 104, 112, 110}[min(ascii, 11)]
	default: // behind another mark
		cents = [...]int{0, 104, 106, 106, 116, 140, 120, 133, 146, 173, 185, 200}[min(ascii, 11)]
	}
	return size, cents + max(0, ascii-11)*16
}

// suffix is the length of an ending such as 's, which goes with the word before it.
func suffix(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	two := text[1:min(3, len(text))]
	switch {
	case two == "re" || two == "ve" || two == "ll":
		return 3
	case text[1] == 's' || text[1] == 't' || text[1] == 'm' || text[1] == 'd':
		return 2
	}
	return 0
}

// space measures a run of space: up to its last line end, or all but the one character
// that goes with the next word.
func space(text string) int {
	size, line, last := 0, 0, 0
	for size < len(text) {
		r, n := utf8.DecodeRuneInString(text[size:])
		if !unicode.IsSpace(r) {
			break
		}
		last = size
		size += n
		if r == '\n' || r == '\r' {
			line = size
		}
	}
	switch {
	case line > 0:
		return line
	case size < len(text) && last > 0:
		return last
	}
	return size
}

// marks measures a run of marks with the space before and the line ends behind it.
func marks(text string, size int, first rune) (int, int) {
	count, wide := 1, 0
	if first >= 0x2000 {
		wide++
	}
	for size < len(text) {
		r, n := utf8.DecodeRuneInString(text[size:])
		if unicode.IsSpace(r) || unicode.IsLetter(r) || unicode.IsNumber(r) {
			break
		}
		if r >= 0x2000 {
			wide++
		}
		count++
		size += n
	}
	for size < len(text) && (text[size] == '\n' || text[size] == '\r' || text[size] == '/') {
		size++
		count++
	}
	cents := [...]int{0, 100, 100, 101, 115, 175, 235}[min(count, 6)] + max(0, count-6)*60
	return size, cents + max(0, wide-1)*100
}

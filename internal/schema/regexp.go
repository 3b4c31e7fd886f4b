package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// Regexp is a regular expression of ECMA-262, with the flag u where that makes a
// difference. It is safe for concurrent use.
type Regexp struct {
	source string
	linear *regexp.Regexp  // if Go's own engine understands the same by it
	back   *regexp2.Regexp // otherwise: what looks around or refers back
}

// longestPattern bounds the text of a regular expression, and longestMatch the time that
// one match may take. Only those that go back can take long.
const (
	longestPattern = 10_000
	longestMatch   = time.Second
)

// CompileRegexp compiles a regular expression. The error is a sentence without the source.
func CompileRegexp(source string) (*Regexp, error) {
	if len(source) > longestPattern {
		return nil, fmt.Errorf("it has %d bytes, %d are allowed", len(source), longestPattern)
	}
	if text, ok := inGo(source); ok {
		if linear, err := regexp.Compile(text); err == nil {
			return &Regexp{source: source, linear: linear}, nil
		}
	}
	back, err := compileBack(source)
	if err != nil {
		return nil, err
	}
	back.MatchTimeout = longestMatch
	return &Regexp{source: source, back: back}, nil
}

// readable reports whether CompileRegexp takes source. It costs less to find out.
func readable(source string) bool {
	if text, ok := inGo(source); ok && len(source) <= longestPattern {
		if _, err := syntax.Parse(text, syntax.Perl); err == nil {
			return true
		}
	}
	_, err := CompileRegexp(source)
	return err == nil
}

// compileBack turns what the engine throws at odd sources into an error.
func compileBack(source string) (_ *regexp2.Regexp, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("it is not understood")
		}
	}()
	back, err := regexp2.Compile(bounded(source), regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		what := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		if head, _, ok := strings.Cut(what, " in `"); ok {
			what = head // the source stands beside it
		}
		return nil, errors.New(what)
	}
	return back, nil
}

// What ECMA-262 means by \b and \B. The engine takes letters of all scripts for those of words.
const (
	atWord    = `(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))`
	notAtWord = `(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_]))`
)

// bounded spells out \b and \B.
func bounded(source string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(source); i++ {
		text := source[i : i+1]
		switch {
		case text == `\` && i+1 < len(source):
			i++
			text = source[i-1 : i+1]
			switch {
			case class:
			case text == `\b`:
				text = atWord
			case text == `\B`:
				text = notAtWord
			}
		case text == "[":
			class = true
		case text == "]":
			class = false
		}
		b.WriteString(text)
	}
	return b.String()
}

// String is the source.
func (r *Regexp) String() string { return r.source }

// Match reports whether the expression is found anywhere in the text. The error says that
// it took too long to find out.
func (r *Regexp) Match(text string) (bool, error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if r.linear != nil {
		return r.linear.MatchString(text), nil
	}
	found, err := r.back.MatchString(text)
	if err != nil {
		return false, fmt.Errorf("the pattern %s takes too long to match", printable(r.source, 200))
	}
	return found, nil
}

// What ECMA-262 means by white space, and by a dot that matches no end of a line, inside
// a class of Go.
const (
	ecmaSpace   = `\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	ecmaNewline = `\n\r\x{2028}\x{2029}`
)

// inGo writes an expression of ECMA-262 as one of Go that means the same. It does not
// know all that there is, and says so.
func inGo(source string) (string, bool) {
	if !utf8.ValidString(source) {
		return "", false
	}
	var b strings.Builder
	class := false // within [ ]
	for i := 0; i < len(source); i++ {
		c, rest := source[i], source[i+1:]
		switch {
		case c == '\\':
			text, n, ok := escapeInGo(rest, class)
			if !ok {
				return "", false
			}
			b.WriteString(text)
			i += n
		case class && c == '[':
			b.WriteString(`\[`)
		case class:
			b.WriteByte(c)
			class = c != ']'
		case c == '[':
			if strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, "^]") {
				return "", false // nothing, and anything
			}
			class = true
			b.WriteByte(c)
			if strings.HasPrefix(rest, "^") {
				b.WriteByte('^')
				i++
			}
		case c == '.':
			b.WriteString("[^" + ecmaNewline + "]")
		case c == '(' && strings.HasPrefix(rest, "?") && !strings.HasPrefix(rest, "?:"):
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), !class
}

// escapeInGo writes what stands behind a backslash, and says how much of it that is.
func escapeInGo(rest string, class bool) (text string, n int, ok bool) {
	if rest == "" {
		return "", 0, false
	}
	hex := func(digits string, n int) (string, int, bool) {
		r, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || r > utf8.MaxRune || 0xD800 <= r && r < 0xE000 {
			return "", 0, false
		}
		return `\x{` + digits + "}", n, true
	}
	switch c := rest[0]; c {
	case 'd', 'D', 'w', 'W', 'n', 'r', 't', 'f', 'v':
		return `\` + rest[:1], 1, true
	case 'b', 'B':
		return `\` + rest[:1], 1, !class
	case 's':
		if class {
			return ecmaSpace, 1, true
		}
		return "[" + ecmaSpace + "]", 1, true
	case 'S':
		return "[^" + ecmaSpace + "]", 1, !class
	case 'u':
		if len(rest) >= 5 && rest[1] != '{' {
			return hex(rest[1:5], 5)
		}
		if digits, _, closed := strings.Cut(rest[1:], "}"); closed && strings.HasPrefix(digits, "{") && len(digits) > 1 {
			return hex(digits[1:], len(digits)+2)
		}
	case 'x':
		if len(rest) >= 3 {
			return hex(rest[1:3], 3)
		}
	case '0':
		if len(rest) == 1 || rest[1] < '0' || rest[1] > '9' {
			return `\x{0}`, 1, true
		}
	case '^', '$', '\\', '.', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '/', '-':
		return `\` + rest[:1], 1, true
	}
	return "", 0, false
}

package rule

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"mcpx/internal/schema"
)

// Pattern says which tools a rule is about: /REGEXP/ of ECMA-262, which need not match the
// whole name; a glob of * ? [..] over the whole name; or a name.
type Pattern struct {
	text string
	glob *regexp.Regexp
	re   *schema.Regexp
}

// maxPattern bounds the text of a pattern.
const maxPattern = 1000

// Parse reads a pattern. The error is a sentence about it, without its text.
func Parse(text string) (*Pattern, error) {
	p := &Pattern{text: text}
	switch {
	case text == "":
		return nil, errors.New("it is empty")
	case len(text) > maxPattern:
		return nil, fmt.Errorf("it has %d bytes, %d are allowed", len(text), maxPattern)
	case len(text) > 1 && text[0] == '/' && text[len(text)-1] == '/':
		if text == "//" {
			return nil, errors.New("there is nothing between the slashes")
		}
		re, err := schema.CompileRegexp(text[1 : len(text)-1])
		if err != nil {
			return nil, fmt.Errorf("it is no regular expression: %w", err)
		}
		p.re = re
	case strings.ContainsAny(text, "*?["):
		glob, err := globbed(text)
		if err != nil {
			return nil, err
		}
		p.glob = glob
	}
	return p, nil
}

// String is the pattern as it was written.
func (p *Pattern) String() string { return p.text }

// exact reports whether the pattern is a name.
func (p *Pattern) exact() bool { return p.re == nil && p.glob == nil }

// Match reports whether the pattern means a tool. Of a regular expression that takes too
// long to tell it says unsure.
func (p *Pattern) Match(name string, unsure bool) bool {
	switch {
	case p.re != nil:
		found, err := p.re.Match(name)
		return found || err != nil && unsure
	case p.glob != nil:
		return p.glob.MatchString(name)
	}
	return p.text == name
}

// globbed compiles a glob. A backslash takes the meaning of the next character away.
func globbed(text string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteString(".")
		case '\\':
			if i++; i == len(text) {
				return nil, errors.New("there is nothing behind the backslash")
			}
			b.WriteString(regexp.QuoteMeta(text[i : i+1]))
		case '[':
			n := strings.IndexByte(text[min(i+2, len(text)):], ']') // the first one may be meant
			if n < 0 {
				return nil, errors.New("a [ is not closed by ]")
			}
			inner := text[i+1 : i+2+n]
			b.WriteByte('[')
			if rest, negated := strings.CutPrefix(strings.Replace(inner, "!", "^", 1), "^"); negated && (inner[0] == '!' || inner[0] == '^') {
				inner = rest
				b.WriteByte('^')
			}
			if inner == "" {
				return nil, errors.New("there is nothing within [ ]")
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(inner))
			b.WriteByte(']')
			i += 2 + n
		default:
			b.WriteString(regexp.QuoteMeta(text[i : i+1]))
		}
	}
	b.WriteString(`\z`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, errors.New("what stands within [ ] is no range of characters")
	}
	return re, nil
}

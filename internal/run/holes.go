package run

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"mcpx/internal/fault"
	"mcpx/internal/schema"
)

// holeMark stands for the @ of a hole that was filled in: a letter as long as @ is for
// whoever counts columns, so that positions stay what they are.
const holeMark = "ᐅ"

// fill makes names of the holes @NAME of a source, which are globals of the run then. What
// stands in texts, comments and regular expressions is no hole.
func fill(code string, values map[string]json.RawMessage) (string, error) {
	for name, value := range values {
		switch {
		case !schema.IsIdentifier(name):
			return "", fault.Usagef("placeholders: %q is no name", name)
		case !json.Valid(value):
			return "", fault.Usagef("placeholders: the value of %s is not JSON", name)
		}
	}
	found := map[string]bool{}
	var out strings.Builder
	s := &holes{code: code}
	last := 0
	for s.next() {
		name := wordAt(code[s.at:])
		if _, ok := values[name]; !ok {
			continue
		}
		out.WriteString(code[last:s.at-1] + holeMark)
		last, found[name] = s.at, true
	}
	out.WriteString(code[last:])
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !found[name] && !strings.Contains(code, holeMark+name) { // a bundle has the names already
			return "", fault.Usagef("placeholders: nothing in the script is called @%s", name).
				Hintf("a hole is written @%s, outside of texts and comments", name)
		}
	}
	return out.String(), nil
}

// wordAt is the name at the beginning of text.
func wordAt(text string) string {
	n := 0
	for n < len(text) && identifier(text[n]) {
		n++
	}
	return text[:n]
}

// restore puts back what the user wrote into a report.
func restore(r *fault.Report, values map[string]json.RawMessage) {
	if r == nil || len(values) == 0 {
		return
	}
	back := func(text *string) { *text = strings.ReplaceAll(*text, holeMark, "@") }
	back(&r.Message)
	back(&r.Hint)
	if r.At != nil {
		back(&r.At.Text)
	}
	restore(r.Cause, values)
	for _, e := range r.Errors {
		restore(e, values)
	}
}

// holes finds each @ of a source that stands in code.
type holes struct {
	code  string
	at    int   // behind the @ that was found
	stack []int // of the braces in each template that is open
	value bool  // what stands before is a value, so that a slash divides
}

// next goes on to the next one, and reports whether there is one.
func (h *holes) next() bool {
	for h.at < len(h.code) {
		c := h.code[h.at]
		rest := h.code[h.at:]
		switch {
		case strings.HasPrefix(rest, "//"):
			h.skip("\n")
		case strings.HasPrefix(rest, "/*"):
			h.at += 2
			h.skip("*/")
		case c == '"' || c == '\'':
			h.text(c)
			h.value = true
		case c == '`':
			h.at++
			h.template()
		case c == '/' && !h.value:
			h.regexp()
			h.value = true
		case c == '{':
			if n := len(h.stack); n > 0 {
				h.stack[n-1]++
			}
			h.at++
			h.value = false
		case c == '}':
			h.at++
			h.value = false
			if n := len(h.stack); n > 0 {
				if h.stack[n-1]--; h.stack[n-1] < 0 {
					h.stack = h.stack[:n-1]
					h.template()
				}
			}
		case c == '@':
			h.at++
			h.value = true
			return true
		case identifier(c):
			word := wordAt(rest)
			h.at += len(word)
			h.value = !slices.Contains([]string{"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "await", "yield", "else", "do"}, word)
		default:
			h.at++
			if !strings.ContainsRune(" \t\r\n", rune(c)) {
				h.value = c == ')' || c == ']'
			}
		}
	}
	return false
}

// skip goes behind the next end, or to the end of all.
func (h *holes) skip(end string) {
	i := strings.Index(h.code[h.at:], end)
	if i < 0 {
		h.at = len(h.code)
		return
	}
	h.at += i + len(end)
}

// text goes behind a text in quotes, which ends with its line at the latest.
func (h *holes) text(quote byte) {
	for h.at++; h.at < len(h.code); h.at++ {
		switch h.code[h.at] {
		case '\\':
			h.at++
		case quote:
			h.at++
			return
		case '\n':
			return
		}
	}
	h.at = len(h.code)
}

// template goes on in a template, to its end or the next piece of code in it.
func (h *holes) template() {
	for ; h.at < len(h.code); h.at++ {
		switch {
		case h.code[h.at] == '\\':
			h.at++
		case h.code[h.at] == '`':
			h.at++
			h.value = true
			return
		case strings.HasPrefix(h.code[h.at:], "${"):
			h.at += 2
			h.stack = append(h.stack, 0)
			h.value = false
			return
		}
	}
	h.at = len(h.code)
}

// regexp goes behind a regular expression, which ends with its line at the latest.
func (h *holes) regexp() {
	class := false
	for h.at++; h.at < len(h.code); h.at++ {
		switch c := h.code[h.at]; {
		case c == '\\':
			h.at++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			h.at++
			return
		case c == '\n':
			return
		}
	}
	h.at = len(h.code)
}

package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"

	"mcpx/internal/fault"
)

// parseJSON reads JSON with comments and trailing commas.
func (d *document) parseJSON() (*node, *fault.Error) {
	if at, deep := firstTooDeep(d.text); deep {
		return nil, d.broken(at, tooDeep, "")
	}
	// The parser wants a line comment to end with its line, and writes nowhere.
	source := append(bytes.Clone(d.text), '\n')
	parsed, err := hujson.Parse(source)
	if err != nil {
		if _, err := hujson.Parse(append(source, "{}"...)); err == nil { // nothing but space and comments
			return &node{kind: object}, nil
		}
		return nil, d.jsonError(err)
	}
	return d.convert(&parsed), nil
}

func (d *document) convert(v *hujson.Value) *node {
	n := &node{at: v.StartOffset, end: v.EndOffset}
	switch value := v.Value.(type) {
	case hujson.Literal:
		n.text = value.String()
		switch value.Kind() {
		case 'n':
			n.kind = null
		case 't', 'f':
			n.kind = boolean
		case '0':
			n.kind = number
		default:
			n.kind = text
		}
	case *hujson.Array:
		n.kind = list
		for i := range value.Elements {
			n.list = append(n.list, d.convert(&value.Elements[i]))
		}
	case *hujson.Object:
		n.kind = object
		seen := make(map[string]int, len(value.Members))
		for i := range value.Members {
			name := &value.Members[i].Name
			m := member{name.Value.(hujson.Literal).String(), name.StartOffset, d.convert(&value.Members[i].Value)} //nolint:forcetypeassert // the parser takes nothing else for a name
			if at, twice := seen[m.key]; twice {
				d.warn(m.at, "the key %q is written a second time; the first, at line %d, has no effect", m.key, d.position(n.members[at].at).Line)
				n.members[at] = m
				continue
			}
			seen[m.key] = len(n.members)
			n.members = append(n.members, m)
		}
	}
	return n
}

// jsonError says in our words where the parser stopped and what it misses there.
func (d *document) jsonError(err error) *fault.Error {
	var line, column int
	if _, scan := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scan != nil {
		return d.broken(0, err.Error(), "")
	}
	at := d.offset(line, column)
	_, what, _ := strings.Cut(err.Error(), ": ")
	_, what, _ = strings.Cut(what, ": ")
	switch {
	case strings.Contains(what, "EOF"):
		// Whitespace at the end hides the line where something is missing.
		end := len(bytes.TrimRight(d.text, " \t\r\n"))
		return d.broken(max(0, end-1), "the file ends before everything that was opened is closed", "a ], a }, a quote or a */ is missing")
	case d.wantsKey(at):
		key := d.token(at)
		return d.broken(at, "a key in double quotes is needed in place of "+key, keyHint(key))
	case strings.HasPrefix(what, "invalid literal"):
		return d.literalError(at)
	case strings.Contains(what, "after object value"):
		return d.broken(at, "a comma or a } is missing before "+d.token(at), "")
	case strings.Contains(what, "after array value"):
		return d.broken(at, "a comma or a ] is missing before "+d.token(at), "")
	case strings.Contains(what, "after object name"):
		return d.broken(at, "a colon is missing before "+d.token(at), "")
	case strings.Contains(what, "at start of value"):
		return d.broken(at, "a value is needed in place of "+d.token(at), "strings stand in double quotes")
	case strings.Contains(what, "after top-level value"):
		return d.broken(at, "more text after the end of the object: "+d.token(at), "")
	}
	return d.broken(at, what, "")
}

// wantsKey reports whether only the key of a member can stand at an offset: before it
// is the { of an object, or a comma in one.
func (d *document) wantsKey(at int) bool {
	if at >= len(d.text) || d.text[at] == '"' {
		return false
	}
	var open []byte // the brackets around the place
	var last byte   // what stands before it
	for _, c := range bare(d.text[:at]) {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{', '[':
			open = append(open, c)
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		}
		last = c
	}
	return len(open) > 0 && open[len(open)-1] == '{' && (last == '{' || last == ',')
}

// keyHint shows the key as it has to be written.
func keyHint(key string) string {
	const hint = "keys stand in double quotes"
	name := strings.Trim(key, "'`")
	if strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) >= 0 || name == "" {
		return hint
	}
	return hint + `: "` + name + `"`
}

// literalError finds the place inside a string, number or word that makes it none.
func (d *document) literalError(at int) *fault.Error {
	literal := d.text[at:]
	isString := literal[0] == '"'
	if !isString {
		end := bytes.IndexAny(literal, " \t\r\n,:]}/")
		if end >= 0 {
			literal = literal[:end]
		}
		return d.broken(at, "this is no value: "+shorten(string(literal)), "values are strings in double quotes, numbers, true, false and null")
	}
	var syntax *json.SyntaxError
	var v any
	if err := json.Unmarshal(literal, &v); errors.As(err, &syntax) {
		inside := at + max(0, int(syntax.Offset)-1)
		switch c := d.text[min(inside, len(d.text)-1)]; {
		case c == '\n' || c == '\r':
			return d.broken(at, "this string is not closed on its line", "")
		case c < ' ':
			return d.broken(inside, "a control character in a string", `write it as \u00XX, a tab as \t`)
		default:
			return d.broken(inside, `an escape that JSON does not have in a string`, `write a backslash as \\`)
		}
	}
	return d.broken(at, "this string is not closed", "")
}

// token is what stands at an offset, short enough for a sentence.
func (d *document) token(at int) string {
	rest := d.text[min(at, len(d.text)):]
	if len(rest) > 0 && rest[0] == '"' {
		if end := bytes.IndexAny(rest[1:], "\"\n"); end >= 0 {
			rest = rest[:end+2]
		}
		return shorten(strings.TrimSpace(string(rest)))
	}
	if end := bytes.IndexAny(rest, " \t\r\n,:[]{}"); end >= 0 {
		rest = rest[:max(1, end)]
	}
	return shorten(string(rest))
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 30 {
		return string(r[:30]) + "…"
	}
	return s
}

// firstTooDeep finds where lists and objects are nested too deeply for a reader that calls
// itself for each.
func firstTooDeep(b []byte) (at int, deep bool) {
	depth := 0
	for i, c := range bare(b) {
		switch c {
		case '{', '[':
			if depth++; depth > maxDepth {
				return i, true
			}
		case '}', ']':
			depth--
		}
	}
	return 0, false
}

// bare yields the bytes of a JSON text that stand neither in a string nor in a comment;
// of a string it yields the quote that opens it.
func bare(b []byte) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		for i := 0; i < len(b); i++ {
			skip := func(end string, from int) {
				if n := bytes.Index(b[from:], []byte(end)); n >= 0 {
					i = from + n + len(end) - 1
				} else {
					i = len(b)
				}
			}
			switch {
			case bytes.HasPrefix(b[i:], []byte("//")):
				skip("\n", i+2)
				continue
			case bytes.HasPrefix(b[i:], []byte("/*")):
				skip("*/", i+2)
				continue
			}
			if !yield(i, b[i]) {
				return
			}
			if b[i] == '"' {
				for i++; i < len(b) && b[i] != '"'; i++ {
					if b[i] == '\\' {
						i++
					}
				}
			}
		}
	}
}

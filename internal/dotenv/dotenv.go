// Package dotenv reads the files in which variables stand one to a line, as NAME=value,
// the way Node reads them.
package dotenv

import (
	"iter"
	"strings"
)

// Parse yields the variables of a text in their order, repeated ones included. Lines
// without a name and a value, and comments, are passed over. A value in quotes may have
// several lines; in double quotes \n is the end of a line. Nothing in a value stands for
// something else.
func Parse(text string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		for text != "" {
			line, rest, _ := strings.Cut(text, "\n")
			name, value, ok := strings.Cut(line, "=")
			name = strings.TrimSpace(name)
			if !ok || name == "" || name[0] == '#' {
				text = rest
				continue
			}
			name = strings.TrimSpace(strings.TrimPrefix(name, "export "))
			inner, behind, quoted := quotes(text[strings.IndexByte(text, '=')+1:])
			if quoted {
				value, rest = inner, behind
			} else {
				value, _, _ = strings.Cut(value, "#")
				value = strings.TrimSpace(value)
			}
			if !yield(name, value) {
				return
			}
			text = rest
		}
	}
}

// quotes reads a value in quotes, and returns it with the lines behind it.
func quotes(text string) (value, rest string, ok bool) {
	text = strings.TrimLeft(text, " \t")
	if text == "" || strings.IndexByte("\"'`", text[0]) < 0 {
		return "", "", false
	}
	quote := text[0]
	end := strings.IndexByte(text[1:], quote)
	if end < 0 {
		return "", "", false
	}
	value = text[1 : end+1]
	_, rest, _ = strings.Cut(text[end+2:], "\n")
	if quote == '"' {
		value = strings.ReplaceAll(value, `\n`, "\n")
	}
	return value, rest, true
}

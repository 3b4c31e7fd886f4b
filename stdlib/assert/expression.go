package assert

import (
	"strings"

	"mcpx/engine"
)

// callOf returns the text of the call that the script is in, if it stands in the
// script's own text; empty otherwise.
func callOf(rt *engine.Runtime) string {
	source := rt.Source()
	for _, f := range rt.VM().CaptureCallStack(8, nil) {
		at := f.Position()
		if at.Line == 0 || strings.HasPrefix(at.Filename, "mcpx:") {
			continue
		}
		if at.Filename != source.Name && at.Filename != engine.ScriptFile {
			return ""
		}
		return callAt(source.Text, at.Line, at.Column)
	}
	return ""
}

// callAt returns the call at a place of a text, with the lines after the first indented
// by two.
func callAt(text string, line, column int) string {
	lines := strings.Split(text, "\n")
	if line > len(lines) {
		return ""
	}
	first := lines[line-1]
	at := min(max(column-1, 0), len(first))
	// The place may be the name of the method, or the bracket.
	for at > 0 && (word(first[at-1]) || first[at-1] == '.') {
		at--
	}
	rest := strings.Join(append([]string{first[at:]}, lines[line:]...), "\n")
	end := closing(rest)
	if end < 0 {
		return ""
	}
	code := strings.Split(rest[:end], "\n")
	for i, l := range code[1:] {
		code[i+1] = "  " + strings.TrimLeft(l, " \t")
	}
	return strings.Join(code, "\n")
}

func word(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// closing returns where the first call in a text ends; -1 if it does not.
func closing(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 && c == ')' {
				return i + 1
			}
			if depth < 0 {
				return -1
			}
		case '"', '\'', '`':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case ';', '\n':
			if depth == 0 {
				return -1
			}
		}
	}
	return -1
}

package config

import (
	"fmt"
	"strings"
)

// reference is a placeholder in a string of an entry.
type reference struct {
	form     string // env, input, folder or file
	name     string
	fallback bool // it has a default
}

// maxFallbacks bounds defaults inside defaults.
const maxFallbacks = 16

// expand replaces the placeholders of s, in one pass: what value returns is not looked
// at again. The forms are ${NAME}, ${NAME:-default}, ${env:NAME} with or without a
// default, $env:NAME, {env:NAME}, ${input:ID}, ${file:PATH}, {file:PATH}, ${workspaceFolder},
// ${workspaceFolderBasename}, ${userHome}, and ${pathSeparator}, which is ${/} too.
// Before a placeholder $$ is a dollar sign, so that $${NAME} is the text ${NAME}; a
// dollar sign that begins no placeholder is an ordinary character.
//
// value is asked for each reference. If it has no value, the default is expanded in its
// place; without a default value must return an error.
func expand(s string, value func(reference) (text string, ok bool, err error)) (string, error) {
	if !strings.Contains(s, "$") && !strings.Contains(s, "{env:") && !strings.Contains(s, "{file:") {
		return s, nil
	}
	x := expander{s: s, value: value, closing: closings(s)}
	err := x.run(0, len(s), 0)
	return x.out.String(), err
}

type expander struct {
	s       string
	closing map[int]int // of each { the place of its }
	value   func(reference) (string, bool, error)
	out     strings.Builder
}

// closings pairs the braces of s.
func closings(s string) map[int]int {
	pairs := map[int]int{}
	var open []int
	for i := range len(s) {
		switch {
		case s[i] == '{':
			open = append(open, i)
		case s[i] == '}' && len(open) > 0:
			pairs[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
	}
	return pairs
}

func (x *expander) run(from, to, depth int) error {
	if depth > maxFallbacks {
		return fmt.Errorf("defaults inside defaults, more than %d deep", maxFallbacks)
	}
	for i := from; i < to; {
		dollars := len(x.s[i:to]) - len(strings.TrimLeft(x.s[i:to], "$"))
		ref, body, end, ok := x.reference(i+dollars, to, dollars > 0)
		if !ok {
			n := max(dollars, 1)
			x.out.WriteString(x.s[i : i+n])
			i += n
			continue
		}
		x.out.WriteString(x.s[i : i+dollars/2])
		if dollars > 0 && dollars%2 == 0 { // escaped
			x.out.WriteString(x.s[i+dollars : end])
			i = end
			continue
		}
		text, found, err := x.value(ref)
		switch {
		case err != nil:
			return err
		case found:
			x.out.WriteString(text)
		default:
			if err := x.run(body, end-1, depth+1); err != nil {
				return err
			}
		}
		i = end
	}
	return nil
}

// reference reads a placeholder that begins at i, behind its dollar sign if it has one.
// body is where its default begins, and end is behind it.
func (x *expander) reference(i, to int, dollar bool) (ref reference, body, end int, ok bool) {
	rest := x.s[i:to]
	if dollar && strings.HasPrefix(rest, "env:") {
		n := nameLength(rest[len("env:"):])
		end = i + len("env:") + n
		return reference{form: "env", name: x.s[i+len("env:") : end]}, end, end, n > 0
	}
	closing, closed := x.closing[i]
	if !strings.HasPrefix(rest, "{") || !closed || closing >= to {
		return reference{}, 0, 0, false
	}
	inner := x.s[i+1 : closing]
	end = closing + 1
	if path, isFile := strings.CutPrefix(inner, "file:"); isFile {
		return reference{form: "file", name: path}, end, end, path != "" && !strings.ContainsAny(path, "{}$")
	}
	if !dollar {
		name, isEnv := strings.CutPrefix(inner, "env:")
		return reference{form: "env", name: name}, end, end, isEnv && name != "" && nameLength(name) == len(name)
	}
	switch inner {
	case "workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/":
		return reference{form: "folder", name: inner}, end, end, true
	}
	if id, isInput := strings.CutPrefix(inner, "input:"); isInput {
		return reference{form: "input", name: id}, end, end, id != "" && !strings.ContainsAny(id, "{}$")
	}
	name := strings.TrimPrefix(inner, "env:")
	n := nameLength(name)
	ref = reference{form: "env", name: name[:n]}
	switch rest := name[n:]; {
	case n == 0:
		return ref, 0, 0, false
	case rest == "":
		return ref, end, end, true
	case strings.HasPrefix(rest, ":-"):
		ref.fallback = true
		return ref, closing - len(rest) + len(":-"), end, true
	}
	return ref, 0, 0, false
}

// nameLength is the length of the variable's name that s begins with.
func nameLength(s string) int {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(s)
}

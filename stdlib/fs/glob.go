package fs

import (
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// maxAlternatives bounds what the braces of a pattern stand for.
const maxAlternatives = 1000

// matcher returns a pattern as an object: base, the folder above all that it can match,
// deep, whether it may match at any depth, and two functions of a path relative to base.
// matches tells whether the pattern means the path, enters whether it may mean something
// below it.
func matcher(vm *goja.Runtime, pattern string) *goja.Object {
	alternatives, ok := expand(pattern, nil)
	if !ok {
		panic(native.Error(vm, "RangeError", "ERR_OUT_OF_RANGE", "the braces of the pattern stand for more than 1000 patterns"))
	}
	base := ""
	split := make([][]string, len(alternatives))
	for i, a := range alternatives {
		split[i] = strings.Split(strings.TrimPrefix(a, "./"), "/")
	}
	for len(split[0]) > 1 && !special(split[0][0]) && shared(split) {
		base += split[0][0] + "/"
		for i := range split {
			split[i] = split[i][1:]
		}
	}
	any := func(test func(pattern, path []string) bool) native.Function {
		return func(call goja.FunctionCall) goja.Value {
			path := strings.Split(call.Argument(0).String(), "/")
			for _, p := range split {
				if test(p, path) {
					return vm.ToValue(true)
				}
			}
			return vm.ToValue(false)
		}
	}
	o := native.NewExports(vm)
	o.Value("base", base)
	o.Func("matches", 1, any(matchPath))
	o.Func("enters", 1, any(mayMatchBelow))
	return o.Object
}

// shared reports whether all patterns begin with the same part, and have more.
func shared(split [][]string) bool {
	for _, s := range split {
		if len(s) < 2 || s[0] != split[0][0] {
			return false
		}
	}
	return true
}

func special(part string) bool { return strings.ContainsAny(part, `*?[\`) }

// expand adds the patterns that the braces of one stand for.
func expand(pattern string, to []string) ([]string, bool) {
	open, depth, commas := -1, 0, []int(nil)
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			if depth == 0 {
				open = i
			}
			depth++
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth--; depth > 0 {
				continue
			}
			if depth < 0 || len(commas) == 0 {
				depth = max(depth, 0)
				commas = nil
				continue
			}
			from := open + 1
			for _, c := range append(commas, i) {
				var ok bool
				if to, ok = expand(pattern[:open]+pattern[from:c]+pattern[i+1:], to); !ok {
					return nil, false
				}
				from = c + 1
			}
			return to, true
		}
	}
	if len(to) >= maxAlternatives {
		return nil, false
	}
	return append(to, pattern), true
}

// matchPath reports whether the parts of a path are those of a pattern. Two stars stand
// for any number of them. It takes time in proportion to the product of both lengths.
func matchPath(pattern, path []string) bool {
	return walk(pattern, path, func(reached []bool) bool { return reached[len(pattern)] })
}

// mayMatchBelow reports whether something below the path may match.
func mayMatchBelow(pattern, path []string) bool {
	return walk(pattern, path, func(reached []bool) bool {
		for _, r := range reached[:len(pattern)] {
			if r {
				return true
			}
		}
		return false
	})
}

// walk follows every way through the pattern at once, and asks done which of its parts
// were reached at the end of the path.
func walk(pattern, path []string, done func(reached []bool) bool) bool {
	reached := make([]bool, len(pattern)+1)
	reached[0] = true
	skip := func() {
		for i, p := range pattern {
			if reached[i] && p == "**" {
				reached[i+1] = true
			}
		}
	}
	skip()
	for _, name := range path {
		next := make([]bool, len(reached))
		for i, p := range pattern {
			switch {
			case !reached[i]:
			case p == "**":
				next[i] = next[i] || !strings.HasPrefix(name, ".")
			case matchName(p, name):
				next[i+1] = true
			}
		}
		reached = next
		skip()
	}
	return done(reached)
}

// matchName reports whether a name is what one part of a pattern means. A name that
// begins with a dot is only meant by a pattern that does.
func matchName(pattern, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") {
		return false
	}
	p, n := []rune(pattern), []rune(name)
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(n) {
		if i < len(p) && p[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if i < len(p) {
			if width, ok := matchOne(p[i:], n[j]); ok {
				i, j = i+width, j+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// matchOne matches one character with the beginning of a pattern, and returns how long
// that is.
func matchOne(p []rune, c rune) (width int, ok bool) {
	switch p[0] {
	case '?':
		return 1, true
	case '\\':
		if len(p) > 1 {
			return 2, p[1] == c
		}
	case '[':
		if width, ok := matchClass(p, c); width > 0 {
			return width, ok
		}
	}
	return 1, p[0] == c
}

// matchClass matches a class in brackets; its width is 0 if the bracket is not closed.
func matchClass(p []rune, c rune) (width int, ok bool) {
	i, negated := 1, false
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		negated = true
		i++
	}
	for first := true; i < len(p) && (first || p[i] != ']'); first = false {
		low := p[i]
		high := low
		if i+2 < len(p) && p[i+1] == '-' && p[i+2] != ']' {
			high = p[i+2]
			i += 2
		}
		ok = ok || low <= c && c <= high
		i++
	}
	if i >= len(p) {
		return 0, false
	}
	return i + 1, ok != negated
}

package schema

import (
	"cmp"
	"slices"
	"strings"

	"mcpx/internal/spelling"
)

// Nearest returns at most n candidates that word may have been meant to be, the
// nearest first: those it differs from in a few letters or in how they are joined,
// and those that it is a part of.
func Nearest(word string, candidates []string, n int) []string {
	type near struct {
		name  string
		score int
	}
	plain := fold(word)
	if plain == "" || n <= 0 {
		return nil
	}
	var found []near
	for _, c := range candidates {
		other := fold(c)
		const far = 1 << 20
		score := far
		allowed := max(1, len(plain)/3)
		if len(plain) == 1 {
			allowed = 0 // any letter is near to any other
		}
		if d := spelling.Distance(plain, other, allowed); d <= allowed {
			score = d * 4
		}
		switch long := len(plain) >= 3; {
		case long && len(other) >= 3 && (strings.HasPrefix(other, plain) || strings.HasPrefix(plain, other)):
			score = min(score, 2)
		case long && strings.Contains(other, plain):
			score = min(score, 6)
		}
		if score < far {
			found = append(found, near{c, score})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, f := range found {
		if len(out) < n && !slices.Contains(out, f.name) {
			out = append(out, f.name)
		}
	}
	return out
}

// fold removes what people forget: capitals and the marks between words.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || !isPart(r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

package schema

import (
	"cmp"
	"slices"
	"strings"
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
		if d := Distance(plain, other, allowed); d <= allowed {
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

// Distance counts the letters to insert, delete, replace or swap with their
// neighbour to turn a into b. Above limit it only says so, with limit+1.
func Distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > limit || -d > limit {
		return limit + 1
	}
	older, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		older, last, row = last, row, older
		row[0] = i
		least := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, older[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least > limit {
			return limit + 1
		}
	}
	return min(row[len(y)], limit+1)
}

// Package spelling compares names as people write them: whether two are spellings of one, and
// how far a word is from a name that it may have been meant to be.
package spelling

import (
	"strings"
	"unicode"
)

// Same reports whether two names are spellings of one: they have the same letters and digits,
// whatever stands between them. Scripts write names otherwise that are no identifiers. Names
// without a letter or a digit are the same only if they are equal.
func Same(a, b string) bool {
	return a == b || plain(a) != "" && plain(a) == plain(b)
}

func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
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

package cli

import (
	"fmt"
	"slices"
	"strings"
)

// didYouMean is the part of a hint that names the candidate nearest to word, spelled
// by format; empty if none is near.
func didYouMean(word string, candidates []string, format string) string {
	best, ok := nearest(word, candidates)
	if !ok {
		return ""
	}
	return "did you mean " + fmt.Sprintf(format, best) + "? "
}

// nearest returns the candidate that word was most likely meant to be: one that it
// begins, or one at a distance of at most a third of its length. Dashes in front do not count.
func nearest(word string, candidates []string) (string, bool) {
	word = strings.ToLower(word)
	letters := len([]rune(strings.TrimLeft(word, "-")))
	best, least := "", max(1, letters/3)+1
	if letters < 2 {
		least = 1 // any letter is near to any other
	}
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		lower := strings.ToLower(c)
		d := distance([]rune(word), []rune(lower))
		if len(strings.Trim(word, "-")) >= 2 && strings.HasPrefix(lower, word) {
			d = min(d, 1)
		}
		if d < least {
			best, least = c, d
		}
	}
	return best, best != ""
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that
// turn a into b.
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range b {
		rows[0][j+1] = j + 1
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}

package cli

import (
	"fmt"
	"slices"
	"strings"

	"mcpx/internal/spelling"
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
// begins, or else one at a distance of at most a third of its length. Dashes in front do not count.
func nearest(word string, candidates []string) (string, bool) {
	word = strings.ToLower(word)
	letters := len([]rune(strings.TrimLeft(word, "-")))
	limit := max(1, letters/3)
	best, least := "", 2*(limit+1) // twice the distance: what it begins counts for less than one
	if letters < 2 {
		least = 1 // any letter is near to any other
	}
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		lower := strings.ToLower(c)
		d := 2 * spelling.Distance(word, lower, limit)
		if len(strings.Trim(word, "-")) >= 2 && strings.HasPrefix(lower, word) {
			d = min(d, 1)
		}
		if d < least {
			best, least = c, d
		}
	}
	return best, best != ""
}

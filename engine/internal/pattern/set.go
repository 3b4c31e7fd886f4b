package pattern

import (
	"slices"
	"unicode"
)

// maxUnit and unicode.MaxRune are the last characters of the two kinds of pattern: one
// without the flags u and v matches UTF-16 code units.
const maxUnit = 0xFFFF

// span is a range of characters, both ends included.
type span struct{ low, high rune }

// set is a set of characters: spans in order that neither overlap nor touch.
type set []span

func setOf(spans ...span) set {
	slices.SortFunc(spans, func(a, b span) int { return int(a.low) - int(b.low) })
	var s set
	for _, r := range spans {
		if last := len(s) - 1; last >= 0 && r.low <= s[last].high+1 {
			s[last].high = max(s[last].high, r.high)
			continue
		}
		s = append(s, r)
	}
	return s
}

// single returns the set of one character.
func single(r rune) set { return set{{r, r}} }

func union(sets ...set) set { return setOf(slices.Concat(sets...)...) }

// complement returns what is not in s, up to a last character.
func (s set) complement(last rune) set {
	var out set
	low := rune(0)
	for _, r := range s {
		if r.low > low {
			out = append(out, span{low, r.low - 1})
		}
		low = r.high + 1
	}
	if low <= last {
		out = append(out, span{low, last})
	}
	return out
}

func (s set) intersection(t set) set {
	var out set
	for i, j := 0, 0; i < len(s) && j < len(t); {
		low, high := max(s[i].low, t[j].low), min(s[i].high, t[j].high)
		if low <= high {
			out = append(out, span{low, high})
		}
		if s[i].high < t[j].high {
			i++
		} else {
			j++
		}
	}
	return out
}

func (s set) minus(t set) set { return s.intersection(t.complement(unicode.MaxRune)) }

func (s set) has(r rune) bool {
	_, found := slices.BinarySearchFunc(s, r, func(x span, r rune) int {
		switch {
		case x.high < r:
			return -1
		case x.low > r:
			return 1
		}
		return 0
	})
	return found
}

// folded adds to s the characters that differ from those in it by case alone. Those that
// have no case cost nothing.
func (s set) folded(equal func(a, b rune) bool) set {
	var more []span
	for _, r := range s.intersection(cased()) {
		for c := r.low; c <= r.high; c++ {
			for other := unicode.SimpleFold(c); other != c; other = unicode.SimpleFold(other) {
				if !s.has(other) && equal(c, other) {
					more = append(more, span{other, other})
				}
			}
		}
	}
	if more == nil {
		return s
	}
	return setOf(append(more, s...)...)
}

// anyCase is the equality of the flags i and u.
func anyCase(a, b rune) bool { return true }

// upperCase is the equality of the flag i alone: by the upper case, which never leads
// from beyond ASCII into it.
func upperCase(a, b rune) bool {
	upper := unicode.ToUpper(a)
	return upper == unicode.ToUpper(b) && (upper >= 0x80 || a < 0x80 && b < 0x80)
}

// ofTable returns the characters of a table of package unicode.
func ofTable(t *unicode.RangeTable) set {
	var spans []span
	add := func(low, high, stride rune) {
		if stride == 1 {
			spans = append(spans, span{low, high})
			return
		}
		for c := low; c <= high; c += stride {
			spans = append(spans, span{c, c})
		}
	}
	for _, r := range t.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range t.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return setOf(spans...)
}

// What the escapes of one letter mean.
func digits() set { return set{{'0', '9'}} }

func words() set { return set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}} }

func spaces() set {
	return set{
		{'\t', '\r'},
		{' ', ' '},
		{0xA0, 0xA0},
		{0x1680, 0x1680},
		{0x2000, 0x200A},
		{0x2028, 0x2029},
		{0x202F, 0x202F},
		{0x205F, 0x205F},
		{0x3000, 0x3000},
		{0xFEFF, 0xFEFF},
	}
}

// lineEnds is what the dot leaves out, and what ^ and $ look for under the flag m.
func lineEnds() set { return set{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}} }

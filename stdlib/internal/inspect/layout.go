package inspect

import (
	"math"
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// extras says what the entries of a value are besides its properties.
type extras int

const (
	extrasNone    extras = iota // properties with their keys
	extrasElement               // an element of an array, written without its index
	extrasOfArray               // elements followed by properties
)

// join puts the entries of an object between its brackets: on one line if they are
// few and short, in columns if it is a longer array, else one to a line. value is
// the array or typed array, or nil.
func (p *printer) join(entries []string, base, open, closing string, ex extras, depth int, value *goja.Object) string {
	lead := ""
	if base != "" {
		lead = base + " "
	}
	indentation := strings.Repeat(" ", p.indent)
	if p.Compact == CompactAlways {
		if p.fits(entries, 0, base) {
			if base != "" {
				base = " " + base
			}
			return open + base + " " + strings.Join(entries, ", ") + " " + closing
		}
		first := " "
		if base != "" || length(open) != 1 {
			if base != "" {
				base = " " + base
			}
			first = base + "\n" + indentation + "  "
		}
		return open + first + strings.Join(entries, ",\n"+indentation+"  ") + " " + closing
	}
	if p.Compact >= 1 {
		count := len(entries)
		if ex == extrasOfArray && count > 6 {
			entries = p.columns(entries, value)
		}
		if p.deepest-depth < p.Compact && count == len(entries) {
			start := len(entries) + p.indent + length(open) + length(base) + 10
			if p.fits(entries, start, base) {
				if line := strings.Join(entries, ", "); !strings.Contains(line, "\n") {
					return lead + open + " " + line + " " + closing
				}
			}
		}
	}
	br := "\n" + indentation
	return lead + open + br + "  " + strings.Join(entries, ","+br+"  ") + br + closing
}

// fits reports whether the entries, and start more, stay within the line width.
func (p *printer) fits(entries []string, start int, base string) bool {
	total := len(entries) + start
	if total+len(entries) > p.BreakLength {
		return false
	}
	for _, e := range entries {
		if len(e) > maxBytes(p.BreakLength) {
			return false // without counting the whole of a large one
		}
		if p.Colors {
			e = stripEscapes(e)
		}
		if total += length(e); total > p.BreakLength {
			return false
		}
	}
	return !strings.Contains(base, "\n")
}

// maxBytes is more than what a line of this width can take, however it is encoded and
// coloured.
func maxBytes(width int) int { return max(width, 64) * 64 }

// columns lines the elements of a longer array up in columns. It returns entries
// itself if they are too different in length for that.
func (p *printer) columns(entries []string, value *goja.Object) []string {
	count := len(entries)
	if p.MaxArrayLength < len(entries) {
		count-- // the line that says how many more there are
	}
	const separator = 2 // ", "
	widths := make([]int, count)
	total, longest := 0, 0
	for i := range widths {
		widths[i] = entryWidth(entries[i], p.Colors)
		total += widths[i] + separator
		longest = max(longest, widths[i])
	}
	widest := longest + separator
	if widest*3+p.indent >= p.BreakLength ||
		float64(total)/float64(widest) <= 5 && longest > 6 {
		return entries
	}

	// A square looks best, with letters 2.5 times as high as wide; short entries get
	// more columns.
	bias := math.Sqrt(float64(widest) - float64(total)/float64(len(entries)))
	biased := math.Max(float64(widest)-3-bias, 1)
	columns := min(
		int(math.Floor(math.Sqrt(2.5*biased*float64(count))/biased+0.5)),
		(p.BreakLength-p.indent)/widest,
		p.Compact*4,
		15,
	)
	if columns <= 1 {
		return entries
	}
	columnWidths := make([]int, columns)
	for i := range columnWidths {
		for j := i; j < count; j += columns {
			columnWidths[i] = max(columnWidths[i], widths[j])
		}
		columnWidths[i] += separator
	}

	right := value != nil && p.onlyNumbers(value, len(entries))
	var rows []string
	for start := 0; start < count; start += columns {
		end := min(start+columns, count)
		var row strings.Builder
		for i := start; i < end; i++ {
			cell, room := entries[i]+", ", columnWidths[i-start]-widths[i]-separator
			if i == end-1 {
				cell = entries[i]
			}
			pad := strings.Repeat(" ", room)
			switch {
			case right:
				row.WriteString(pad + cell)
			case i == end-1:
				row.WriteString(cell)
			default:
				row.WriteString(cell + pad)
			}
		}
		rows = append(rows, row.String())
	}
	if p.MaxArrayLength < len(entries) {
		rows = append(rows, entries[count])
	}
	return rows
}

func entryWidth(s string, colors bool) int {
	if colors {
		return Width(s)
	}
	columns := 0
	for _, r := range s {
		columns += runeWidth(r)
	}
	return columns
}

func (p *printer) onlyNumbers(value *goja.Object, n int) bool {
	for i := range n {
		if v := value.Get(itoa(i)); !goja.IsNumber(v) && !goja.IsBigInt(v) {
			return false
		}
	}
	return true
}

// sort orders the entries if asked to: all of them, or only the properties that
// follow the elements of an array.
func (p *printer) sort(entries []string, ex extras, keys int) {
	if !p.Sorted {
		return
	}
	if ex == extrasOfArray {
		entries = entries[len(entries)-keys:]
	}
	compare := p.Compare
	if compare == nil {
		compare = strings.Compare
	}
	slices.SortStableFunc(entries, compare)
}

package assert

import (
	"strings"

	"github.com/dop251/goja"
)

const (
	shortest = 12 // values that are as long as this together are written in one line
	terminal = 80 // columns in which a difference inside a line is pointed at
	most     = 50 // lines of a difference
)

const identical = "Values have same structure but are not reference-equal:"

// difference is what the message of a comparison shows.
type difference struct {
	actual, expected goja.Value
	same             bool // it is about being the same, not the same in content
	heading          string
}

func primitive(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok {
		return true
	}
	_, callable := goja.AssertFunction(o)
	return callable
}

func (d *difference) objects() bool {
	x, xOK := d.actual.(*goja.Object)
	y, yOK := d.expected.(*goja.Object)
	if !xOK || !yOK {
		return false
	}
	_, xCalls := goja.AssertFunction(x)
	_, yCalls := goja.AssertFunction(y)
	return xCalls == yCalls
}

// text compares two values, as shown, line by line.
func (d *difference) text(actual, expected string) string {
	have, want := strings.Split(actual, "\n"), strings.Split(expected, "\n")
	pointer := ""
	matched := 0 // lines at the end that are the same, as far as they are counted
	if len(have) == 1 && len(want) == 1 && have[0] != want[0] {
		length := len([]rune(have[0])) + len([]rune(want[0]))
		switch {
		case length <= shortest:
			if primitive(d.actual) && primitive(d.expected) && (!zero(d.actual) || !zero(d.expected)) {
				return d.heading + "\n\n" + have[0] + " !== " + want[0] + "\n"
			}
		case (!d.same || !d.objects()) && length < terminal:
			if at := sharedPrefix([]rune(have[0]), []rune(want[0])); at > 2 {
				pointer = "\n  " + strings.Repeat(" ", at) + "^"
			} else {
				matched = at
			}
		}
	}
	end, skipped := "", false
	other := ""
	for len(have) > 0 && len(want) > 0 && have[len(have)-1] == want[len(want)-1] {
		line := have[len(have)-1]
		if matched < 3 {
			end = "\n  " + line + end
		} else {
			other = line
		}
		matched++
		have, want = have[:len(have)-1], want[:len(want)-1]
	}
	if len(have) == 0 && len(want) == 0 {
		lines := strings.Split(actual, "\n")
		if len(lines) > most {
			lines = append(lines[:most-4], "...")
		}
		return identical + "\n\n" + strings.Join(lines, "\n") + "\n"
	}
	if matched >= 5 {
		end, skipped = "\n..."+end, true
	}
	if other != "" {
		end = "\n  " + other + end
	}
	w := &writer{have: have, want: want, skipped: skipped}
	body := w.write()
	heading := d.heading + "\n+ actual - expected"
	if w.skipped || w.full {
		heading += " ... Lines skipped"
	}
	if w.full {
		return heading + "\n" + body
	}
	return heading + "\n" + body + end + pointer
}

func zero(v goja.Value) bool { return goja.IsNumber(v) && v.ToFloat() == 0 }

func sharedPrefix(a, b []rune) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// writer writes the lines that differ, with a little of what surrounds them.
type writer struct {
	have, want []string
	skipped    bool
	full       bool // there were too many

	out, other strings.Builder // other holds the expected lines until the actual ones are written
	printed    int
	alike      int // lines in a row that are the same
}

// context writes the last lines before a difference, if they were left out.
func (w *writer) context(lines []string, i int) {
	if w.alike > 2 {
		if w.alike > 3 {
			if w.alike == 5 {
				w.line("  " + lines[i-3])
			} else if w.alike > 5 {
				w.out.WriteString("\n...")
				w.skipped = true
			}
			w.line("  " + lines[i-2])
		}
		w.line("  " + lines[i-1])
	}
	w.alike = 0
}

func (w *writer) line(s string) {
	w.out.WriteString("\n" + s)
	w.printed++
}

func (w *writer) write() string {
	longer, sign := w.have, "+ "
	if len(w.have) < len(w.want) {
		longer, sign = w.want, "- "
	}
	common := min(len(w.have), len(w.want))
	for i, line := range longer {
		if i >= common {
			w.context(longer, i)
			if sign == "+ " {
				w.line(sign + line)
			} else {
				w.other.WriteString("\n" + sign + line)
				w.printed++
			}
		} else {
			w.pair(longer, i)
		}
		if w.printed > most && i < len(longer)-2 {
			w.full = true
			return w.out.String() + "\n..." + w.other.String() + "\n..."
		}
	}
	return w.out.String() + w.other.String()
}

// pair writes two lines at the same place. Those that differ by a comma at their end are
// taken for the same.
func (w *writer) pair(longer []string, i int) {
	have, want := w.have[i], w.want[i]
	if want == have+"," {
		have = want
	}
	if have == want || have == want+"," {
		w.out.WriteString(w.other.String())
		w.other.Reset()
		w.alike++
		if w.alike <= 2 {
			w.line("  " + have)
		}
		return
	}
	w.context(longer, i)
	w.out.WriteString("\n+ " + have)
	w.other.WriteString("\n- " + want)
	w.printed += 2
}

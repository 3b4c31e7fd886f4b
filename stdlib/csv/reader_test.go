package csv

import (
	"slices"
	"strings"
	"testing"

	"mcpx/stdlib/internal/data"
)

func records(text, delimiter string) (rows [][]string, open bool) {
	r := &reader{text: text, delimiter: delimiter}
	for {
		fields, ok := r.record()
		if !ok || r.open >= 0 {
			return rows, ok
		}
		rows = append(rows, fields)
	}
}

// What is written is read back, whatever the cells are; and any text can be read.
func FuzzReader(f *testing.F) {
	f.Add("a,b\r\n\"x\"\"y\",\n", ",")
	f.Add("\"", ";")
	f.Add("a||\"b||c\"d|", "||")
	f.Add("\uFEFF \t", "\t")
	f.Fuzz(func(t *testing.T, text, delimiter string) {
		if delimiter == "" || strings.ContainsAny(delimiter, "\"\r\n") {
			t.Skip()
		}
		records(text, delimiter)
		cells := strings.Split(text, "\x00")
		written := data.CSV{Delimiter: delimiter, Newline: "\n"}.Write(&data.Rows{Cells: [][]string{cells, cells}})
		rows, open := records(written, delimiter)
		if open || len(rows) != 2 || !slices.Equal(rows[0], cells) || !slices.Equal(rows[1], cells) {
			t.Errorf("%q was written as %q and read as %q", cells, written, rows)
		}
	})
}

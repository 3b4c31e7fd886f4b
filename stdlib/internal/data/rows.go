package data

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

// Rows is a table of text.
type Rows struct {
	Header  []string // nil if the rows are lists and no columns were named
	Cells   [][]string
	Numeric []bool // by column: every cell that is not empty is a number
}

// Rows makes a table of a list of rows: objects, whose keys name the columns in the
// order in which they first appear, or lists. columns, if it is not undefined, says
// which columns there are: a list of keys, or an object of keys and titles.
func (k *Kit) Rows(list, columns goja.Value) *Rows {
	iterable, ok := list.(*goja.Object)
	if !ok || iterable.GetSymbol(goja.SymIterator) == nil {
		panic(native.InvalidType(k.VM, "rows", "an instance of Array", list))
	}
	var rows []goja.Value
	k.Runtime.ForOf(iterable, func(v goja.Value) bool {
		rows = append(rows, v)
		if len(rows) > maxValues {
			panic(k.RangeError("more than " + strconv.Itoa(maxValues) + " rows"))
		}
		return true
	})
	t := &Rows{}
	keys, titles := k.columns(columns)
	t.Header = titles
	if keys == nil {
		keys = k.keys(rows)
		t.Header = keys
	}
	cells := 0
	for i, row := range rows {
		o, ok := row.(*goja.Object)
		if !ok {
			panic(native.InvalidType(k.VM, "rows["+strconv.Itoa(i)+"]", "of type object", row))
		}
		var line []string
		add := func(at int, v goja.Value) {
			if cells++; cells > maxValues {
				panic(k.RangeError("more than " + strconv.Itoa(maxValues) + " cells"))
			}
			line = append(line, k.cell(v))
			for len(t.Numeric) <= at {
				t.Numeric = append(t.Numeric, true)
			}
			number := goja.IsNumber(v) || goja.IsBigInt(v)
			t.Numeric[at] = t.Numeric[at] && (number || line[at] == "")
		}
		if o.ClassName() == "Array" {
			for at := range int(o.Get("length").ToInteger()) {
				if titles != nil && at >= len(keys) {
					break
				}
				add(at, o.Get(strconv.Itoa(at)))
			}
		} else {
			for at, key := range keys {
				add(at, o.Get(key))
			}
		}
		t.Cells = append(t.Cells, line)
	}
	return t
}

// columns reads which columns are wanted; nil means those that there are.
func (k *Kit) columns(v goja.Value) (keys, titles []string) {
	if v == nil || goja.IsUndefined(v) {
		return nil, nil
	}
	o, ok := v.(*goja.Object)
	if !ok {
		panic(native.InvalidType(k.VM, "options.columns", "an instance of Array or of type object", v))
	}
	keys, titles = []string{}, []string{}
	if o.ClassName() == "Array" {
		k.VM.ForOf(o, func(item goja.Value) bool {
			keys = append(keys, native.Text(k.VM, item, "options.columns").String())
			return true
		})
		return keys, keys
	}
	for _, key := range o.Keys() {
		keys = append(keys, key)
		titles = append(titles, native.String(k.VM, o.Get(key)).String())
	}
	return keys, titles
}

// keys lists the keys of all rows that are objects; nil if none is.
func (k *Kit) keys(rows []goja.Value) (keys []string) {
	seen := map[string]bool{}
	var before []string
	for _, row := range rows {
		o, ok := row.(*goja.Object)
		if !ok || o.ClassName() == "Array" {
			continue
		}
		own := o.Keys()
		if slices.Equal(own, before) {
			continue // as in most tables
		}
		before = own
		for _, key := range own {
			if !seen[key] {
				seen[key] = true
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// cell is the text of a value: nothing for what is absent, JSON for an object.
func (k *Kit) cell(v goja.Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case goja.String:
		return v.String()
	case *goja.Object:
		if v.ClassName() == "Date" {
			if t, ok := v.Export().(time.Time); ok {
				return Timestamp(t)
			}
			return ""
		}
		b, _ := engine.EncodeJSON(k.Runtime, v, engine.EncodeOptions{BigInt: true, Bytes: true})
		if len(b) > 1 && b[0] == '"' { // toJSON made it text
			if s, err := engine.DecodeJSON(k.Runtime, b); err == nil {
				return s.String()
			}
		}
		return string(b)
	case *goja.Symbol:
		return v.String()
	}
	if goja.IsUndefined(v) || goja.IsNull(v) {
		return ""
	}
	return v.String()
}

// CSV says how a table is written as CSV.
type CSV struct {
	Delimiter, Newline string
	Header             bool // whether the table's header is written
	Quote              bool // every cell
}

// Write writes a table.
func (c CSV) Write(t *Rows) string {
	var b strings.Builder
	line := func(cells []string) {
		for i, cell := range cells {
			if i > 0 {
				b.WriteString(c.Delimiter)
			}
			if c.Quote || len(cells) == 1 && cell == "" || c.special(cell) {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			b.WriteString(cell)
		}
		b.WriteString(c.Newline)
	}
	if c.Header && t.Header != nil {
		line(t.Header)
	}
	for _, cells := range t.Cells {
		line(cells)
	}
	return b.String()
}

// special reports whether a cell must stand in quotes to be read back as it is.
func (c CSV) special(cell string) bool {
	if cell == "" {
		return false
	}
	return strings.ContainsAny(cell, "\"\r\n"+c.Delimiter) ||
		cell[0] == ' ' || cell[0] == '\t' || cell[len(cell)-1] == ' ' || cell[len(cell)-1] == '\t' || strings.HasPrefix(cell, "\uFEFF")
}

package console

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/inspect"
)

// column is one column of a table; cells that are missing are empty.
type column struct {
	head  string
	cells map[int]string
}

func newColumn(head string) *column { return &column{head: head, cells: map[int]string{}} }

// table writes an array, an object, a map or a set of rows as a table, and anything else
// as log does.
func (c *console) table(args []goja.Value) {
	data, tabular := argument(args, 0).(*goja.Object)
	if tabular {
		_, function := goja.AssertFunction(data)
		tabular = !function
	}
	wanted, given := argument(args, 1).(*goja.Object)
	if given && wanted.ClassName() != "Array" || !given && !goja.IsUndefined(argument(args, 1)) {
		panic(c.vm.NewTypeError(`The "properties" argument must be an instance of Array. ` + c.inspector().Received(argument(args, 1))))
	}
	if !tabular {
		c.write(engine.Stdout, c.format(engine.Stdout, []goja.Value{argument(args, 0)}))
		return
	}
	var rows int
	var columns []*column
	switch c.inspector().Class(data) {
	case "Map", "Set":
		columns, rows = c.collection(data)
	default:
		var names []string
		if given {
			names = []string{}
			for i := range int(wanted.Get("length").ToInteger()) {
				name := goja.Undefined()
				if v := wanted.Get(strconv.Itoa(i)); v != nil {
					name = v
				}
				names = append(names, name.String())
			}
		}
		columns, rows = c.records(data, names)
	}
	c.write(engine.Stdout, draw(columns, rows))
}

// cell writes one value in a cell.
func (c *console) cell(v goja.Value) string {
	o := c.options(engine.Stdout)
	o.Depth, o.MaxArrayLength, o.BreakLength = 0, 3, inspect.Unlimited
	if obj, ok := v.(*goja.Object); ok {
		switch c.inspector().Class(obj) {
		case "Array", "TypedArray", "Function":
		default:
			if len(obj.Keys()) > 2 {
				o.Depth = -1
			}
		}
	}
	return c.inspector().Inspect(v, o)
}

// collection makes the columns of a map or a set.
func (c *console) collection(data *goja.Object) (columns []*column, rows int) {
	index, keys, values := newColumn("(iteration index)"), newColumn("Key"), newColumn("Values")
	isMap := c.inspector().Class(data) == "Map"
	c.vm.ForOf(data, func(v goja.Value) bool {
		index.cells[rows] = c.cell(c.vm.ToValue(rows))
		if pair, ok := v.(*goja.Object); ok && isMap {
			keys.cells[rows] = c.cell(pair.Get("0"))
			v = pair.Get("1")
		}
		values.cells[rows] = c.cell(v)
		rows++
		return true
	})
	if isMap {
		return []*column{index, keys, values}, rows
	}
	return []*column{index, values}, rows
}

// records makes the columns of the rows that are the members of data: one for each of
// their properties, or for each of names if that is not nil, and one for rows that are no
// objects.
func (c *console) records(data *goja.Object, names []string) (columns []*column, rows int) {
	index, values := newColumn("(index)"), newColumn("Values")
	byName := map[string]*column{}
	var order []string
	at := func(name string) *column {
		if byName[name] == nil {
			byName[name] = newColumn(name)
			order = append(order, name)
		}
		return byName[name]
	}
	for _, key := range data.Keys() {
		index.cells[rows] = key
		item, isObject := data.Get(key).(*goja.Object)
		switch {
		case !isObject && names == nil:
			values.cells[rows] = c.cell(data.Get(key))
		case !isObject:
			for _, name := range names {
				at(name)
			}
		default:
			own := item.Keys()
			shown := names
			if names == nil {
				shown = own
			}
			for _, name := range shown {
				col := at(name)
				if names == nil || slices.Contains(item.GetOwnPropertyNames(), name) {
					col.cells[rows] = c.cell(item.Get(name))
				}
			}
		}
		rows++
	}
	// The order of a JavaScript object's keys: indices first.
	slices.SortStableFunc(order, func(a, b string) int {
		i, iErr := strconv.ParseUint(a, 10, 32)
		j, jErr := strconv.ParseUint(b, 10, 32)
		switch {
		case iErr == nil && jErr == nil:
			return int(int64(i) - int64(j))
		case iErr == nil:
			return -1
		case jErr == nil:
			return 1
		}
		return 0
	})
	columns = append(columns, index)
	for _, name := range order {
		columns = append(columns, byName[name])
	}
	if len(values.cells) > 0 {
		columns = append(columns, values)
	}
	return columns, rows
}

// draw draws a table.
func draw(columns []*column, rows int) string {
	widths := make([]int, len(columns))
	for i, col := range columns {
		widths[i] = inspect.Width(col.head)
		for _, cell := range col.cells {
			widths[i] = max(widths[i], inspect.Width(cell))
		}
	}
	var b strings.Builder
	rule := func(left, middle, right string) {
		for i, w := range widths {
			b.WriteString(left + strings.Repeat("─", w+2))
			left = middle
			if i == len(widths)-1 {
				b.WriteString(right)
			}
		}
	}
	row := func(cell func(*column) string) {
		for i, col := range columns {
			s := cell(col)
			b.WriteString("│ " + s + strings.Repeat(" ", widths[i]-inspect.Width(s)) + " ")
		}
		b.WriteString("│\n")
	}
	rule("┌", "┬", "┐\n")
	row(func(col *column) string { return col.head })
	rule("├", "┼", "┤\n")
	for i := range rows {
		row(func(col *column) string { return col.cells[i] })
	}
	rule("└", "┴", "┘")
	return b.String()
}

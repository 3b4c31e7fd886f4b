// Package table is mcpx:table: rows as text that a person reads.
package table

import (
	_ "embed"
	"strings"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/data"
	"mcpx/stdlib/internal/inspect"
	"mcpx/stdlib/internal/native"
)

//go:embed table.d.ts
var declarations string

// Module returns mcpx:table.
func Module() engine.Module {
	return engine.Module{
		Name:         "mcpx:table",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{kit: data.New(rt, "table")}
			e := native.NewExports(rt.VM())
			e.Func("stringify", 2, func(call goja.FunctionCall) goja.Value {
				o := m.kit.Options("stringify", call.Argument(1), "columns", "header", "maxWidth", "format")
				return m.write(o.OneOf("format", text, markdown, csv), call.Argument(0), o)
			})
			for name, format := range map[string]string{"toText": text, "toMarkdown": markdown, "toCSV": csv} {
				e.Func(name, 2, func(call goja.FunctionCall) goja.Value {
					return m.write(format, call.Argument(0), m.kit.Options(name, call.Argument(1), "columns", "header", "maxWidth"))
				})
			}
			return e.Object
		},
	}
}

// Formats.
const (
	text     = "text"
	markdown = "markdown"
	csv      = "csv"
)

type module struct{ kit *data.Kit }

func (m *module) write(format string, rows goja.Value, o data.Options) goja.Value {
	header, most := o.Bool("header", true), o.Integer("maxWidth", 0, 1, 1_000_000)
	t := m.kit.Rows(rows, o.Get("columns"))
	if most > 0 {
		for _, row := range t.Cells {
			for i, cell := range row {
				row[i] = shortened(cell, most)
			}
		}
	}
	var out string
	switch format {
	case csv:
		out = data.CSV{Delimiter: ",", Newline: "\n", Header: header}.Write(t)
	case markdown:
		out = grid{t, true}.markdown(header)
	default:
		out = grid{t, false}.text(header)
	}
	return m.kit.VM.ToValue(out)
}

// shortened cuts a cell that is wider than most.
func shortened(cell string, most int) string {
	if inspect.Width(cell) <= most {
		return cell
	}
	width := 0
	for i, r := range cell {
		if width += inspect.Width(string(r)); width > most-1 {
			return cell[:i] + "…"
		}
	}
	return cell
}

// grid lays a table out.
type grid struct {
	rows *data.Rows
	bars bool // what separates columns is a character that a cell may have
}

// cell is text that stays on its line.
func (g grid) cell(s string) string {
	if strings.ContainsAny(s, "\r\n\t") {
		s = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(s)
	}
	if g.bars {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	return s
}

// lines returns all cells, of which the first line is the header, and the width of each
// column.
func (g grid) lines(least int) (lines [][]string, widths []int) {
	for _, row := range append([][]string{g.rows.Header}, g.rows.Cells...) {
		line := make([]string, len(row))
		for i, s := range row {
			line[i] = g.cell(s)
			for len(widths) <= i {
				widths = append(widths, least)
			}
			widths[i] = max(widths[i], inspect.Width(line[i]))
		}
		lines = append(lines, line)
	}
	return lines, widths
}

func (g grid) right(column int) bool {
	return column < len(g.rows.Numeric) && g.rows.Numeric[column] && len(g.rows.Cells) > 0
}

// padded makes a cell as wide as its column.
func (g grid) padded(line []string, column, width int) string {
	s := ""
	if column < len(line) {
		s = line[column]
	}
	space := strings.Repeat(" ", width-inspect.Width(s))
	if g.right(column) {
		return space + s
	}
	return s + space
}

func (g grid) text(header bool) string {
	if !header {
		g.rows.Header = nil
	}
	lines, widths := g.lines(0)
	var b strings.Builder
	write := func(cell func(column int) string) {
		var line strings.Builder
		for i := range widths {
			if i > 0 {
				line.WriteString("  ")
			}
			line.WriteString(cell(i))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	for i, line := range lines {
		if i == 0 && g.rows.Header == nil {
			continue
		}
		write(func(column int) string { return g.padded(line, column, widths[column]) })
		if i == 0 {
			write(func(column int) string { return strings.Repeat("-", widths[column]) })
		}
	}
	return b.String()
}

func (g grid) markdown(header bool) string {
	if !header || g.rows.Header == nil {
		g.rows.Header = []string{}
	}
	const least = 3 // of the line below the header
	lines, widths := g.lines(least)
	if len(widths) == 0 {
		return ""
	}
	var b strings.Builder
	for i, line := range lines {
		b.WriteByte('|')
		for column, width := range widths {
			b.WriteString(" " + g.padded(line, column, width) + " |")
		}
		b.WriteByte('\n')
		if i > 0 {
			continue
		}
		b.WriteByte('|')
		for column, width := range widths {
			rule := strings.Repeat("-", width)
			if g.right(column) {
				rule = rule[1:] + ":"
			}
			b.WriteString(" " + rule + " |")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

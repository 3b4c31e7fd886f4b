// Package csv is mcpx:csv: tables of text with separated fields, as programs export
// them. It reads what is not quite right as people would: a byte order mark, any line
// ends, quotes in the middle of a field. Values are text, never numbers or dates.
//
// What reads is here (reader); what writes is shared with other modules, as data.CSV.
package csv

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/data"
	"mcpx/stdlib/internal/native"
)

//go:embed csv.d.ts
var declarations string

// Module returns mcpx:csv.
func Module() engine.Module {
	return engine.Module{
		Name:         "mcpx:csv",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{kit: data.New(rt, "csv")}
			e := native.NewExports(rt.VM())
			e.Func("parse", 2, m.parse)
			e.Func("stringify", 2, m.stringify)
			return e.Object
		},
	}
}

type module struct{ kit *data.Kit }

func (m *module) parse(call goja.FunctionCall) goja.Value {
	text := m.kit.Text(call.Argument(0))
	o := m.kit.Options("parse", call.Argument(1), "header", "delimiter", "comment", "trim")
	r := reader{text: text, comment: o.String("comment", ""), trim: o.Bool("trim", false)}
	if o.String("delimiter", ",") == auto {
		r.delimiter = detect(r)
	} else {
		r.delimiter = m.delimiter(o, `must be text without quotes and line ends, or "auto"`)
	}

	// The names of the columns are given, or those of the first row; or rows are arrays.
	var names []string
	named, arrays := false, false
	if v := o.Get("header"); !goja.IsUndefined(v) {
		if _, isObject := v.(*goja.Object); isObject {
			names, named = o.Strings("header")
		} else {
			arrays = !o.Bool("header", true)
		}
	}
	rows := []any{}
	for {
		at := r.at
		fields, ok := r.record()
		if r.open >= 0 {
			panic(m.kit.SyntaxErrorAt(text, r.open, "a quote that is never closed"))
		}
		switch {
		case !ok:
			return m.kit.VM.NewArray(rows...)
		case arrays:
			rows = append(rows, m.kit.Strings(fields))
		case !named:
			names, named = unique(fields), true
		default:
			rows = append(rows, m.object(&r, at, names, fields))
		}
	}
}

// object makes a row of its fields. at is where the record before it ends.
func (m *module) object(r *reader, at int, names, fields []string) *goja.Object {
	for i := len(names); i < len(fields); i++ {
		if fields[i] != "" {
			panic(m.kit.SyntaxErrorAt(r.text, r.start(at),
				"a row has "+strconv.Itoa(len(fields))+" fields, and the header "+strconv.Itoa(len(names))+"; header: false gives rows as arrays"))
		}
	}
	o := m.kit.VM.NewObject()
	for i, name := range names {
		field := ""
		if i < len(fields) {
			field = fields[i]
		}
		data.Define(o, name, m.kit.VM.ToValue(field))
	}
	return o
}

// unique gives every column a name of its own: an empty one becomes columnN, and one that
// repeats gets _2, _3 … behind it, unless another column has that name.
func unique(fields []string) []string {
	taken, count := map[string]bool{}, map[string]int{}
	for _, name := range fields {
		taken[name] = true
	}
	seen := map[string]bool{}
	names := make([]string, len(fields))
	for i, name := range fields {
		if name == "" {
			name = "column" + strconv.Itoa(i+1)
		}
		if seen[name] {
			base := name
			for count[base] = max(count[base], 1); taken[name] || seen[name]; {
				count[base]++
				name = base + "_" + strconv.Itoa(count[base])
			}
		}
		seen[name] = true
		names[i] = name
	}
	return names
}

// auto is the delimiter that has parse detect it.
const auto = "auto"

// delimiter reads the option delimiter. must says in the error what it may be.
func (m *module) delimiter(o data.Options, must string) string {
	d := o.String("delimiter", ",")
	if d == "" || d == auto || strings.ContainsAny(d, "\"\r\n") {
		panic(native.InvalidValue(m.kit.VM, "options.delimiter", o.Get("delimiter"), must))
	}
	return d
}

func (m *module) stringify(call goja.FunctionCall) goja.Value {
	o := m.kit.Options("stringify", call.Argument(1), "columns", "header", "delimiter", "quote", "newline")
	out := data.CSV{
		Delimiter: m.delimiter(o, `must be text without quotes and line ends, and not "auto"`),
		Newline:   o.OneOf("newline", "\n", "\r\n"),
		Header:    o.Bool("header", true),
		Quote:     o.Bool("quote", false),
	}
	return m.kit.VM.ToValue(out.Write(m.kit.Rows(call.Argument(0), o.Get("columns"))))
}

// detected are the delimiters that are tried, the likeliest first.
var detected = []string{",", ";", "\t", "|"}

// detect finds the delimiter of what r reads: the one that splits the first rows into the
// most fields, where the row with the fewest counts. r is a copy.
func detect(r reader) string {
	const sample = 20
	best, most := ",", 1
	for _, d := range detected {
		try := r
		try.delimiter = d
		fewest := 0
		for rows := range sample {
			fields, ok := try.record()
			if !ok || try.open >= 0 {
				break
			}
			if rows == 0 || len(fields) < fewest {
				fewest = len(fields)
			}
		}
		if fewest > most {
			best, most = d, fewest
		}
	}
	return best
}

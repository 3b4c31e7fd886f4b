package toml

import (
	"encoding/base64"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcpx/stdlib/internal/data"
)

// writer writes one document.
type writer struct {
	kit *data.Kit
	out strings.Builder
}

// table writes the members of a table: those that fit in a line, and then the tables
// below it.
func (w *writer) table(path []string, o data.Object) {
	for _, m := range o {
		if !isTable(m.Value) && !isTables(m.Value) {
			w.out.WriteString(key(m.Key) + " = ")
			w.value(append(path, m.Key), m.Value)
			w.out.WriteByte('\n')
		}
	}
	for _, m := range o {
		below := append(slices.Clip(path), m.Key)
		switch {
		case isTable(m.Value):
			inner := m.Value.(data.Object)
			if needsHeader(inner) {
				w.header("[", below, "]")
			}
			w.table(below, inner)
		case isTables(m.Value):
			for _, item := range m.Value.([]any) {
				w.header("[[", below, "]]")
				w.table(below, item.(data.Object))
			}
		}
	}
}

func (w *writer) header(open string, path []string, closing string) {
	if w.out.Len() > 0 {
		w.out.WriteByte('\n')
	}
	w.out.WriteString(open + dotted(path) + closing + "\n")
}

// dotted writes the keys that lead to a table.
func dotted(path []string) string {
	keys := make([]string, len(path))
	for i, k := range path {
		keys[i] = key(k)
	}
	return strings.Join(keys, ".")
}

func isTable(v any) bool {
	_, ok := v.(data.Object)
	return ok
}

// isTables reports whether v is a list of tables and of nothing else.
func isTables(v any) bool {
	list, ok := v.([]any)
	for _, item := range list {
		ok = ok && isTable(item)
	}
	return ok && len(list) > 0
}

// needsHeader reports whether a table has to be named itself: not if it only has tables.
func needsHeader(o data.Object) bool {
	for _, m := range o {
		if !isTable(m.Value) && !isTables(m.Value) {
			return true
		}
	}
	return len(o) == 0
}

// value writes a value within a line.
func (w *writer) value(path []string, v any) {
	switch v := v.(type) {
	case nil:
		panic(w.kit.TypeError("%s is null, and TOML has none; leave it out", dotted(path)))
	case string:
		w.out.WriteString(quote(v))
	case bool:
		w.out.WriteString(strconv.FormatBool(v))
	case float64:
		w.out.WriteString(w.number(v))
	case *big.Int:
		if !v.IsInt64() {
			panic(w.kit.TypeError("%s is %s, and TOML has no integer so large", dotted(path), v))
		}
		w.out.WriteString(v.String())
	case time.Time:
		w.out.WriteString(data.Timestamp(v))
	case []byte:
		w.out.WriteString(quote(base64.StdEncoding.EncodeToString(v)))
	case []any:
		w.out.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				w.out.WriteString(", ")
			}
			w.value(append(path, strconv.Itoa(i)), item)
		}
		w.out.WriteByte(']')
	case data.Object:
		w.out.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				w.out.WriteByte(',')
			}
			w.out.WriteString(" " + key(m.Key) + " = ")
			w.value(append(path, m.Key), m.Value)
		}
		if len(v) > 0 {
			w.out.WriteByte(' ')
		}
		w.out.WriteByte('}')
	}
}

func (w *writer) number(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case f == 0 && math.Signbit(f):
		return "-0.0"
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return strconv.FormatInt(int64(f), 10)
	}
	s := w.kit.Number(f)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// key writes a key, bare if it can be.
func key(k string) string {
	for i := range len(k) {
		c := k[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return quote(k)
		}
	}
	if k == "" {
		return `""`
	}
	return k
}

// quote writes a basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == 0x7F:
			b.WriteString(`\u00` + string("0123456789ABCDEF"[r>>4]) + string("0123456789ABCDEF"[r&15]))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

package toml

import (
	"github.com/pelletier/go-toml/v2/unstable"

	"mcpx/stdlib/internal/data"
)

// table is an object whose keys have an order. Values are *table, []any and scalar.
type table struct {
	keys   []string
	values map[string]any
}

func newTable() *table { return &table{values: map[string]any{}} }

func (t *table) set(key string, v any) {
	if _, known := t.values[key]; !known {
		t.keys = append(t.keys, key)
	}
	t.values[key] = v
}

// inner is the table of a key: the one that is there, or the last of a list of them, or
// a new one.
func (t *table) inner(key string) *table {
	switch v := t.values[key].(type) {
	case *table:
		return v
	case []any:
		if len(v) > 0 {
			if last, ok := v[len(v)-1].(*table); ok {
				return last
			}
		}
	}
	made := newTable()
	t.set(key, made)
	return made
}

// scalar is a value as it is written, strings without their quotes and escapes.
type scalar struct {
	kind unstable.Kind
	text string
}

// read makes tables of text, up to where it is no TOML any more. What a key may not
// mean twice is not looked at. tooDeep is where something is nested too deeply, -1 if
// nothing is.
func read(text string) (root *table, tooDeep int) {
	r := &reader{tooDeep: -1}
	r.parser.Reset([]byte(text))
	root = newTable()
	at, depth := root, 0
	for r.tooDeep < 0 && r.parser.NextExpression() {
		switch e := r.parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			outer, key, d := r.descend(root, e, 0)
			depth = d
			if e.Kind == unstable.Table {
				at = outer.inner(key)
				break
			}
			at = newTable()
			list, _ := outer.values[key].([]any)
			outer.set(key, append(list, at))
		case unstable.KeyValue:
			r.member(at, e, depth)
		}
	}
	return root, r.tooDeep
}

type reader struct {
	parser  unstable.Parser
	tooDeep int
}

// descend follows a dotted key to the table that has its last part.
func (r *reader) descend(t *table, e *unstable.Node, depth int) (*table, string, int) {
	key, first := "", true
	for it := e.Key(); it.Next() && r.tooDeep < 0; first = false {
		if !first {
			t = t.inner(key)
		}
		key = string(it.Node().Data)
		if depth++; depth > data.MaxDepth {
			r.tooDeep = int(it.Node().Raw.Offset)
		}
	}
	return t, key, depth
}

func (r *reader) member(t *table, e *unstable.Node, depth int) {
	t, key, depth := r.descend(t, e, depth)
	t.set(key, r.value(e.Value(), depth))
}

func (r *reader) value(n *unstable.Node, depth int) any {
	if depth > data.MaxDepth && r.tooDeep < 0 {
		r.tooDeep = int(n.Raw.Offset)
	}
	if r.tooDeep >= 0 {
		return nil
	}
	switch n.Kind {
	case unstable.Array:
		list := []any{}
		for it := n.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				list = append(list, r.value(it.Node(), depth+1))
			}
		}
		return list
	case unstable.InlineTable:
		inline := newTable()
		for it := n.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				r.member(inline, it.Node(), depth)
			}
		}
		return inline
	}
	return scalar{n.Kind, string(n.Data)}
}

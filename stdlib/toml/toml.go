// Package toml is mcpx:toml: a script reads and writes TOML with it.
package toml

import (
	_ "embed"
	"errors"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"mcpx/engine"
	"mcpx/stdlib/internal/data"
	"mcpx/stdlib/internal/native"
)

//go:embed toml.d.ts
var declarations string

// Module returns mcpx:toml.
func Module() engine.Module {
	return engine.Module{
		Name:         "mcpx:toml",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{kit: data.New(rt, "toml")}
			e := native.NewExports(rt.VM())
			e.Func("parse", 1, m.parse)
			e.Func("stringify", 1, m.stringify)
			return e.Object
		},
	}
}

type module struct{ kit *data.Kit }

func (m *module) parse(call goja.FunctionCall) goja.Value {
	text := m.kit.Text(call.Argument(0))
	// The decoder says what is wrong with the text; the parser below it knows the order
	// of the keys. It goes first, because the decoder follows keys of any length.
	root, tooDeep := read(text)
	if tooDeep >= 0 {
		panic(m.kit.SyntaxErrorAt(text, tooDeep, "tables are nested more than "+strconv.Itoa(data.MaxDepth)+" deep"))
	}
	var checked map[string]any
	if err := toml.Unmarshal([]byte(text), &checked); err != nil {
		line, column, message := 1, 1, strings.TrimPrefix(err.Error(), "toml: ")
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column = at.Position()
		}
		panic(m.kit.SyntaxError(line, column, message))
	}
	return m.object(root)
}

func (m *module) object(t *table) goja.Value {
	o := m.kit.VM.NewObject()
	for _, key := range t.keys {
		data.Define(o, key, m.value(t.values[key]))
	}
	return o
}

func (m *module) value(v any) goja.Value {
	switch v := v.(type) {
	case *table:
		return m.object(v)
	case []any:
		items := make([]goja.Value, len(v))
		for i, item := range v {
			items[i] = m.value(item)
		}
		return m.kit.List(items)
	case scalar:
		return m.scalar(v)
	}
	return goja.Undefined()
}

func (m *module) scalar(s scalar) goja.Value {
	switch s.kind {
	case unstable.Bool:
		return m.kit.VM.ToValue(s.text == "true")
	case unstable.Integer:
		digits, base := strings.ReplaceAll(s.text, "_", ""), 10
		if len(digits) > 1 && digits[0] == '0' {
			base = map[byte]int{'x': 16, 'o': 8, 'b': 2}[digits[1]]
			digits = digits[2:]
		}
		v, _ := m.kit.Integer(strings.TrimPrefix(digits, "+"), base)
		return v
	case unstable.Float:
		f, _ := strconv.ParseFloat(strings.ReplaceAll(s.text, "_", ""), 64) // beyond the range it is infinite
		return m.kit.VM.ToValue(f)
	}
	return m.kit.VM.ToValue(s.text)
}

func (m *module) stringify(call goja.FunctionCall) goja.Value {
	if _, ok := call.Argument(0).(*goja.Object); !ok {
		panic(native.InvalidType(m.kit.VM, "value", "of type object", call.Argument(0)))
	}
	plain, _ := m.kit.Plain(call.Argument(0))
	root, ok := plain.(data.Object)
	if !ok {
		panic(native.InvalidType(m.kit.VM, "value", "of type object", call.Argument(0)))
	}
	w := &writer{kit: m.kit}
	w.table(nil, root)
	return m.kit.VM.ToValue(w.out.String())
}

// Package yaml is mcpx:yaml: a script reads YAML with it, by the core schema of version 1.2,
// and writes it.
package yaml

import (
	_ "embed"
	"errors"
	"io"
	"strings"

	"github.com/dop251/goja"
	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"mcpx/engine"
	"mcpx/stdlib/internal/data"
	"mcpx/stdlib/internal/native"
)

//go:embed yaml.d.ts
var declarations string

// Module returns mcpx:yaml.
func Module() engine.Module {
	return engine.Module{
		Name:         "mcpx:yaml",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{kit: data.New(rt, "yaml")}
			e := native.NewExports(rt.VM())
			e.Func("parse", 1, m.parse)
			e.Func("parseAll", 1, m.parseAll)
			e.Func("stringify", 2, m.stringify)
			return e.Object
		},
	}
}

type module struct{ kit *data.Kit }

func (m *module) parse(call goja.FunctionCall) goja.Value {
	values := m.documents(m.kit.Text(call.Argument(0)), 1)
	if len(values) == 0 {
		return goja.Null()
	}
	return values[0]
}

func (m *module) parseAll(call goja.FunctionCall) goja.Value {
	return m.kit.List(m.documents(m.kit.Text(call.Argument(0)), -1))
}

// documents reads every document of a text, of which there may be most; any number if
// it is negative.
func (m *module) documents(text string, most int) (values []goja.Value) {
	limits := loaderlimits.New(loaderlimits.DepthValue(data.MaxDepth), loaderlimits.AliasNone()) // aliases are counted here
	loader, err := yaml.NewLoader(strings.NewReader(text), yaml.WithPlugin(limits))
	if err != nil {
		panic(m.fault(err))
	}
	for {
		var document yaml.Node
		err := loader.Load(&document)
		switch {
		case errors.Is(err, io.EOF):
			return values
		case err != nil:
			panic(m.fault(err))
		}
		if len(values) == most {
			panic(m.kit.SyntaxError(max(document.Line, 1), max(document.Column, 1), "a second document; parseAll reads them all"))
		}
		r := &reader{kit: m.kit, known: map[*yaml.Node]anchored{}}
		values = append(values, r.value(&document, 0))
	}
}

// fault is the error about a text that the loader cannot read.
func (m *module) fault(err error) *goja.Object {
	var at *yaml.LoadError
	if !errors.As(err, &at) {
		return m.kit.SyntaxError(1, 1, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	message := at.Message
	if at.ContextMsg != "" {
		message = at.ContextMsg + ": " + message
	}
	return m.kit.SyntaxError(max(at.Mark.Line, 1), max(at.Mark.Column, 1), message)
}

func (m *module) stringify(call goja.FunctionCall) goja.Value {
	o := m.kit.Options("stringify", call.Argument(1), "indent")
	indent := o.Integer("indent", 2, 2, 9)
	plain, ok := m.kit.Plain(call.Argument(0))
	if !ok {
		return goja.Undefined()
	}
	out, err := yaml.Dump(node(m.kit, plain), yaml.WithV4Defaults(), yaml.WithIndent(indent), yaml.WithCompactSeqIndent(false), yaml.WithLineWidth(-1))
	if err != nil {
		panic(m.kit.TypeError("%s", err.Error()))
	}
	return m.kit.VM.ToValue(string(out))
}

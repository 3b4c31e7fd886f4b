package engine

import (
	"fmt"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// A pattern inside a pattern is taken apart by goja without a place of its own: that there was nothing is reported for
// the outer one. So an inner pattern gets a default, which is looked at when there is nothing, and says so.

func (in *instrumenter) nestedInObject(n *ast.ObjectPattern) {
	for _, p := range n.Properties {
		if keyed, ok := p.(*ast.PropertyKeyed); ok {
			keyed.Value = in.nested(keyed.Value)
		}
	}
}

func (in *instrumenter) nestedInArray(n *ast.ArrayPattern) {
	for i, e := range n.Elements {
		n.Elements[i] = in.nested(e)
	}
}

func (in *instrumenter) nested(e ast.Expression) ast.Expression {
	var argument ast.Expression
	switch p := e.(type) {
	case *ast.ObjectPattern:
		key, ok := firstKey(p)
		if !ok {
			return e
		}
		argument = &ast.StringLiteral{Idx: p.LeftBrace, Value: key}
	case *ast.ArrayPattern:
		argument = &ast.BooleanLiteral{Idx: p.LeftBracket}
	default:
		return e
	}
	return &ast.AssignExpression{Operator: token.ASSIGN, Left: e, Right: in.call(nestedHelper, e.Idx0(), argument)}
}

// firstKey is the first property that a pattern takes, if its name is known.
func firstKey(p *ast.ObjectPattern) (unistring.String, bool) {
	if len(p.Properties) > 0 {
		switch first := p.Properties[0].(type) {
		case *ast.PropertyShort:
			return first.Name.Name, true
		case *ast.PropertyKeyed:
			if key, ok := first.Key.(*ast.StringLiteral); ok {
				return key.Value, true
			}
		}
	}
	return "", false
}

// nothingNested throws the error about an inner pattern of an object, whose first key it gets, or of an array.
func (rt *Runtime) nothingNested(c goja.FunctionCall) goja.Value {
	message := "undefined is not iterable (cannot read property Symbol(Symbol.iterator))"
	if key := c.Argument(0); goja.IsString(key) {
		message = fmt.Sprintf("Cannot read properties of undefined (reading '%s')", key)
	}
	panic(rt.vm.NewTypeError("%s", message))
}

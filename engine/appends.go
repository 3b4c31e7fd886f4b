package engine

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// appends finds the places of a script where text is likely to be built piece by piece.
// Those that turn out to add numbers work as well, only slower.
type appends struct {
	texts, numbers map[unistring.String]bool // variables and properties that were given one somewhere
	found          []*ast.AssignExpression
}

// note remembers a name that is given a text or a number.
func (a *appends) note(target ast.Node, value ast.Expression) {
	isText, isNumber := textual(value), numerical(value)
	if !isText && !isNumber {
		return
	}
	if name, ok := nameOf(target); ok {
		if a.texts == nil {
			a.texts, a.numbers = map[unistring.String]bool{}, map[unistring.String]bool{}
		}
		if isText {
			a.texts[name] = true
		} else {
			a.numbers[name] = true
		}
	}
}

// assignment notes an assignment that may add to a text.
func (a *appends) assignment(e *ast.AssignExpression) {
	switch e.Operator {
	case token.ASSIGN:
		a.note(e.Left, e.Right)
		if leftmost(e.Right, e.Left) != nil || beginsWith(e.Right, e.Left) != nil {
			a.found = append(a.found, e)
		}
	case token.PLUS:
		a.found = append(a.found, e)
	}
}

// nameOf is what an assignment assigns to, if it has a name.
func nameOf(target ast.Node) (unistring.String, bool) {
	switch t := target.(type) {
	case *ast.Identifier:
		return t.Name, true
	case *ast.DotExpression:
		return t.Identifier.Name, true
	case *ast.PrivateDotExpression:
		return t.Identifier.Name, true
	case *ast.PrivateIdentifier:
		return t.Name, true
	case *ast.StringLiteral:
		return t.Value, true
	}
	return "", false
}

// textual reports whether the value of an expression is certainly a text.
func textual(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return true
	case *ast.TemplateLiteral:
		return e.Tag == nil
	case *ast.BinaryExpression:
		return e.Operator == token.PLUS && (textual(e.Left) || textual(e.Right))
	case *ast.ConditionalExpression:
		return textual(e.Consequent) && textual(e.Alternate)
	}
	return false
}

// numerical reports whether the value of an expression is certainly a number, or meant to
// be one.
func numerical(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		return true
	case *ast.DotExpression:
		return e.Identifier.Name == "length"
	case *ast.UnaryExpression:
		return e.Operator == token.MINUS || e.Operator == token.PLUS || e.Operator == token.INCREMENT || e.Operator == token.DECREMENT
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER, token.EXPONENT, token.AND, token.OR, token.EXCLUSIVE_OR:
			return true
		case token.PLUS:
			return numerical(e.Left) && numerical(e.Right)
		}
	}
	return false
}

// small reports whether an expression may be compiled twice.
func small(e ast.Expression) bool {
	const most = 40
	nodes, ok := 0, true
	w := &walker{enter: func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.ClassLiteral, *ast.AssignExpression:
			ok = false
		}
		nodes++
		return false
	}}
	w.node(e)
	return ok && nodes < most
}

// repeatable reports whether evaluating a target twice does what evaluating it once does.
func repeatable(target ast.Expression) bool {
	switch t := target.(type) {
	case *ast.Identifier, *ast.ThisExpression, *ast.StringLiteral, *ast.NumberLiteral:
		return true
	case *ast.DotExpression:
		return repeatable(t.Left)
	case *ast.PrivateDotExpression:
		return repeatable(t.Left)
	case *ast.BracketExpression:
		return repeatable(t.Left) && repeatable(t.Member)
	}
	return false
}

// same reports whether two targets are written the same.
func same(a, b ast.Expression) bool {
	switch a := a.(type) {
	case *ast.Identifier:
		b, ok := b.(*ast.Identifier)
		return ok && a.Name == b.Name
	case *ast.ThisExpression:
		_, ok := b.(*ast.ThisExpression)
		return ok
	case *ast.DotExpression:
		b, ok := b.(*ast.DotExpression)
		return ok && a.Identifier.Name == b.Identifier.Name && same(a.Left, b.Left)
	case *ast.PrivateDotExpression:
		b, ok := b.(*ast.PrivateDotExpression)
		return ok && a.Identifier.Name == b.Identifier.Name && same(a.Left, b.Left)
	}
	return false
}

// leftmost finds the sum that begins with target: target + x + y, as its innermost part.
func leftmost(e, target ast.Expression) *ast.BinaryExpression {
	sum, ok := e.(*ast.BinaryExpression)
	for ok && sum.Operator == token.PLUS {
		if same(sum.Left, target) {
			return sum
		}
		sum, ok = sum.Left.(*ast.BinaryExpression)
	}
	return nil
}

// beginsWith is the template that begins with target: `${target}x`.
func beginsWith(e, target ast.Expression) *ast.TemplateLiteral {
	t, ok := e.(*ast.TemplateLiteral)
	if !ok || t.Tag != nil || len(t.Expressions) == 0 || t.Elements[0].Parsed != "" || !same(t.Expressions[0], target) {
		return nil
	}
	return t
}

// lengthen lets the places that were found use the helper that does not copy. A variable
// that may be anything is looked at first.
func (in *instrumenter) lengthen() {
	for _, e := range in.appends.found {
		name, named := nameOf(e.Left)
		_, variable := e.Left.(*ast.Identifier)
		certain := textual(e.Right) || named && in.appends.texts[name]
		possible := variable && e.Operator == token.PLUS && !numerical(e.Right) && !in.appends.numbers[name] && small(e.Right)
		switch {
		case !repeatable(e.Left) || !certain && !possible:
		case beginsWith(e.Right, e.Left) != nil && e.Operator == token.ASSIGN:
			e.Right = in.lengthened(beginsWith(e.Right, e.Left))
		case e.Operator != token.PLUS:
			e.Right = in.summed(e.Right, e.Left)
		default:
			at := e.Left.Idx0()
			sum := ast.Expression(in.call(concatHelper, at, e.Left, e.Right))
			if !certain {
				sum = &ast.ConditionalExpression{
					Test: &ast.BinaryExpression{
						Operator: token.STRICT_EQUAL, Comparison: true,
						Left:  &ast.UnaryExpression{Operator: token.TYPEOF, Idx: at, Operand: e.Left},
						Right: &ast.StringLiteral{Idx: at, Value: "string"},
					},
					Consequent: sum,
					Alternate:  &ast.BinaryExpression{Operator: token.PLUS, Left: e.Left, Right: e.Right},
				}
			}
			e.Operator, e.Right = token.ASSIGN, sum
		}
	}
}

// summed is target + x + y by the helper, piece by piece from the left.
func (in *instrumenter) summed(e, target ast.Expression) ast.Expression {
	sum := e.(*ast.BinaryExpression)
	left := sum.Left
	if !same(left, target) {
		left = in.summed(left, target)
	}
	return in.call(concatHelper, sum.Idx0(), left, sum.Right)
}

// lengthened is a template that adds to its first part, by the helper.
func (in *instrumenter) lengthened(t *ast.TemplateLiteral) ast.Expression {
	more := *t
	more.Elements, more.Expressions = t.Elements[1:], t.Expressions[1:]
	at := t.Expressions[0].Idx0()
	return in.call(concatHelper, at, t.Expressions[0], &more, &ast.BooleanLiteral{Idx: at, Value: true})
}

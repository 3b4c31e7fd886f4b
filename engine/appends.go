package engine

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// appends finds the places of a script where text is likely to be built piece by piece.
// Those that turn out to add numbers work as well, only slower.
type appends struct {
	texts, numbers map[unistring.String]bool // variables and properties that were given one somewhere
	found          []*ast.AssignExpression
	functions      []ast.Expression                  // that return something behind their first parameter
	start          map[ast.Expression]ast.Expression // what such a function begins with, if it is known
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
		if continues(e.Right, e.Left) {
			a.found = append(a.found, e)
		}
	case token.LOGICAL_OR, token.COALESCE:
		a.note(e.Left, e.Right)
	case token.PLUS:
		a.found = append(a.found, e)
	}
}

// function notes a function that may be one for reduce.
func (a *appends) function(e ast.Expression) {
	parameter, results := returned(e)
	if parameter != nil && slices.ContainsFunc(results, func(result *ast.Expression) bool { return continues(*result, parameter) }) {
		a.functions = append(a.functions, e)
	}
}

// reduction notes what the function that is given to reduce begins with.
func (a *appends) reduction(call *ast.CallExpression) {
	dot, ok := call.Callee.(*ast.DotExpression)
	if !ok || len(call.ArgumentList) != 2 || dot.Identifier.Name != "reduce" && dot.Identifier.Name != "reduceRight" {
		return
	}
	if a.start == nil {
		a.start = map[ast.Expression]ast.Expression{}
	}
	a.start[call.ArgumentList[0]] = call.ArgumentList[1]
}

// returned is the first parameter of a function, if it is no more than a name, and where
// what the function returns stands.
func returned(function ast.Expression) (parameter *ast.Identifier, results []*ast.Expression) {
	var list *ast.ParameterList
	var body ast.Node
	switch f := function.(type) {
	case *ast.ArrowFunctionLiteral:
		list, body = f.ParameterList, f.Body
	case *ast.FunctionLiteral:
		list, body = f.ParameterList, f.Body
	}
	if list == nil || len(list.List) == 0 || list.List[0].Initializer != nil {
		return nil, nil
	}
	parameter, _ = list.List[0].Target.(*ast.Identifier)
	if parameter == nil {
		return nil, nil
	}
	switch b := body.(type) {
	case *ast.ExpressionBody:
		results = append(results, &b.Expression)
	case *ast.BlockStatement:
		results = returns(results, b)
	}
	return parameter, results
}

// returns appends where what statements return stands.
func returns(results []*ast.Expression, statements ...ast.Statement) []*ast.Expression {
	for _, s := range statements {
		switch s := s.(type) {
		case *ast.ReturnStatement:
			if s.Argument != nil {
				results = append(results, &s.Argument)
			}
		case *ast.BlockStatement:
			results = returns(results, s.List...)
		case *ast.IfStatement:
			results = returns(results, s.Consequent, s.Alternate)
		}
	}
	return results
}

// continues reports whether an expression is, or may be, target with more behind it.
func continues(e, target ast.Expression) bool {
	if c, ok := e.(*ast.ConditionalExpression); ok {
		return continues(c.Consequent, target) || continues(c.Alternate, target)
	}
	return leftmost(e, target) != nil || beginsWith(e, target) != nil
}

// nameOf is what an assignment assigns to, if it has a name. An object whose properties are
// computed has one for all of them.
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
	case *ast.BracketExpression:
		if name, ok := nameOf(t.Left); ok {
			return name + "[]", true
		}
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
		switch e.Operator {
		case token.PLUS:
			return textual(e.Left) || textual(e.Right)
		case token.LOGICAL_OR, token.COALESCE:
			return textual(e.Left) && textual(e.Right)
		}
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
	case *ast.BracketExpression:
		b, ok := b.(*ast.BracketExpression)
		return ok && same(a.Left, b.Left) && same(a.Member, b.Member)
	case *ast.StringLiteral:
		b, ok := b.(*ast.StringLiteral)
		return ok && a.Value == b.Value
	case *ast.NumberLiteral:
		b, ok := b.(*ast.NumberLiteral)
		return ok && a.Value == b.Value
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
		certain := named && in.appends.texts[name]
		possible := !in.appends.numbers[name]
		if e.Operator != token.PLUS {
			e.Right = in.continued(e.Right, e.Left, certain, possible)
			continue
		}
		if repeatable(e.Left) {
			sum := &ast.BinaryExpression{Operator: token.PLUS, Left: e.Left, Right: e.Right}
			if longer := in.continued(sum, e.Left, certain, possible); longer != sum {
				e.Operator, e.Right = token.ASSIGN, longer
			}
		}
	}
	for _, function := range in.appends.functions {
		start := in.appends.start[function]
		certain := start != nil && textual(start)
		possible := start == nil || !numerical(start)
		parameter, results := returned(function)
		for _, result := range results {
			*result = in.continued(*result, parameter, certain, possible)
		}
	}
}

// continued is an expression with the helper in it where it is target with more behind it.
// certain says that target is a text, and possible that it may be one.
func (in *instrumenter) continued(e, target ast.Expression, certain, possible bool) ast.Expression {
	if c, ok := e.(*ast.ConditionalExpression); ok {
		c.Consequent = in.continued(c.Consequent, target, certain, possible)
		c.Alternate = in.continued(c.Alternate, target, certain, possible)
		return e
	}
	if t := beginsWith(e, target); t != nil {
		return in.lengthened(t)
	}
	sum := leftmost(e, target)
	if sum == nil {
		return e
	}
	if certain || textual(e) {
		return in.summed(e, target)
	}
	if _, variable := target.(*ast.Identifier); !variable || !possible || numerical(sum.Right) || !small(e) {
		return e
	}
	at := e.Idx0()
	return &ast.ConditionalExpression{
		Test: &ast.BinaryExpression{
			Operator: token.STRICT_EQUAL, Comparison: true,
			Left:  &ast.UnaryExpression{Operator: token.TYPEOF, Idx: at, Operand: target},
			Right: &ast.StringLiteral{Idx: at, Value: "string"},
		},
		Consequent: in.summed(e, target),
		Alternate:  e,
	}
}

// joined lets a sum use the helper that begins with a text for what may be missing:
// (m[k] ?? "") + x.
func (in *instrumenter) joined(e ast.Expression) ast.Expression {
	sum, ok := e.(*ast.BinaryExpression)
	if !ok || sum.Operator != token.PLUS {
		return e
	}
	switch left := sum.Left.(type) {
	case *ast.BinaryExpression:
		if left.Operator != token.LOGICAL_OR && left.Operator != token.COALESCE || !textual(left.Right) {
			return e
		}
	case *ast.CallExpression:
		if id, ok := left.Callee.(*ast.Identifier); !ok || id.Name != helpers[concatHelper].name {
			return e
		}
	default:
		return e
	}
	return in.call(concatHelper, sum.Idx0(), sum.Left, sum.Right)
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

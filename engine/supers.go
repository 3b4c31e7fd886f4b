package engine

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// The functions that stand for super in a method that is an async generator. What esbuild
// makes of it runs in a function of its own, where super means nothing; an arrow function
// beside that still knows it.
const (
	superGetter = "super get"
	superSetter = "super set"
)

// supers lets an async generator of a method use super. n may be the call that makes one.
func (in *instrumenter) supers(n *ast.CallExpression) {
	if id, ok := n.Callee.(*ast.Identifier); !ok || id.Name != "__asyncGenerator" || len(n.ArgumentList) != 3 {
		return
	}
	generator, ok := n.ArgumentList[2].(*ast.FunctionLiteral)
	in.async = generator
	i := len(in.functions) - 1
	if !ok || i < 0 || in.functions[i].body == nil {
		return
	}
	s := supers{}
	w := &walker{enter: s.enter, leave: func(ast.Node) { s.depth-- }, rewrite: s.rewrite}
	w.statements(generator.Body.List)
	if !s.found {
		return
	}
	method := in.functions[i].body
	method.List = append([]ast.Statement{superFunctions(method.LeftBrace)}, method.List...)
}

// supers replaces super in the body of one function.
type supers struct {
	depth int // of functions with a super of their own
	found bool
}

func (s *supers) enter(n ast.Node) (leave bool) {
	switch n := n.(type) {
	case *ast.FunctionLiteral, *ast.FieldDefinition, *ast.ClassStaticBlock:
		s.depth++
		return true
	case *ast.CallExpression:
		if get := s.get(n.Callee); get != nil {
			at := n.LeftParenthesis
			n.Callee = &ast.DotExpression{Left: get, Identifier: ast.Identifier{Name: "call", Idx: at}}
			n.ArgumentList = append([]ast.Expression{&ast.ThisExpression{Idx: at}}, n.ArgumentList...)
		}
	}
	return false
}

func (s *supers) rewrite(e ast.Expression) ast.Expression {
	if a, ok := e.(*ast.AssignExpression); ok {
		key, at := s.member(a.Left)
		if key == nil {
			return e
		}
		value := a.Right
		if a.Operator != token.ASSIGN {
			value = &ast.BinaryExpression{Operator: a.Operator, Left: s.get(a.Left), Right: value}
		}
		return superCall(superSetter, at, key, value)
	}
	if get := s.get(e); get != nil {
		return get
	}
	return e
}

// get reads a member of super, nil if e is none.
func (s *supers) get(e ast.Expression) ast.Expression {
	key, at := s.member(e)
	if key == nil {
		return nil
	}
	return superCall(superGetter, at, key)
}

// member is the key of a member of the super that is to be replaced.
func (s *supers) member(e ast.Expression) (key ast.Expression, at file.Idx) {
	if s.depth > 0 {
		return nil, 0
	}
	switch e := e.(type) {
	case *ast.DotExpression:
		if _, ok := e.Left.(*ast.SuperExpression); ok {
			key, at = &ast.StringLiteral{Idx: e.Identifier.Idx, Value: e.Identifier.Name}, e.Identifier.Idx
		}
	case *ast.BracketExpression:
		if _, ok := e.Left.(*ast.SuperExpression); ok {
			key, at = e.Member, e.LeftBracket
		}
	}
	s.found = s.found || key != nil
	return key, at
}

func superCall(function unistring.String, at file.Idx, arguments ...ast.Expression) ast.Expression {
	return &ast.CallExpression{
		Callee: &ast.Identifier{Name: function, Idx: at}, LeftParenthesis: at, ArgumentList: arguments, RightParenthesis: at,
	}
}

// superFunctions declares both functions: (k) => super[k] and (k, v) => super[k] = v.
func superFunctions(at file.Idx) *ast.LexicalDeclaration {
	id := func(name unistring.String) *ast.Identifier { return &ast.Identifier{Name: name, Idx: at} }
	arrow := func(body ast.Expression, parameters ...unistring.String) *ast.ArrowFunctionLiteral {
		list := make([]*ast.Binding, 0, len(parameters))
		for _, name := range parameters {
			list = append(list, &ast.Binding{Target: id(name)})
		}
		return &ast.ArrowFunctionLiteral{Start: at, ParameterList: &ast.ParameterList{Opening: at, List: list, Closing: at}, Body: &ast.ExpressionBody{Expression: body}}
	}
	member := func() *ast.BracketExpression {
		return &ast.BracketExpression{Left: &ast.SuperExpression{Idx: at}, Member: id("k"), LeftBracket: at, RightBracket: at}
	}
	return &ast.LexicalDeclaration{Idx: at, Token: token.CONST, List: []*ast.Binding{
		{Target: id(superGetter), Initializer: arrow(member(), "k")},
		{Target: id(superSetter), Initializer: arrow(&ast.AssignExpression{Operator: token.ASSIGN, Left: member(), Right: id("v")}, "k", "v")},
	}}
}

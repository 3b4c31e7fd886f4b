package engine

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"mcpx/engine/internal/pattern"
	"mcpx/internal/fault"
)

// repair puts an expression in the place of one that goja gets wrong or does slowly.
func (in *instrumenter) repair(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.RegExpLiteral:
		return in.regexp(e)
	case *ast.FunctionLiteral:
		if e.Name != nil {
			if original, renamed := in.functionOf(e.Name); renamed {
				return in.named(e, original)
			}
		}
	case *ast.ArrayLiteral:
		return in.spread(e)
	case *ast.BinaryExpression, *ast.AssignExpression:
		return in.joined(in.exponent(e))
	case *ast.DotExpression:
		return in.errorMember(e, e)
	case *ast.OptionalChain:
		if dot, ok := e.Expression.(*ast.DotExpression); ok {
			return in.errorMember(e, dot)
		}
	}
	return e
}

// errorMember reads the stack or message of what may be an error. e is the expression,
// and dot the member that it reads.
func (in *instrumenter) errorMember(e ast.Expression, dot *ast.DotExpression) ast.Expression {
	name := dot.Identifier.Name
	if name != "stack" && name != "message" {
		return e
	}
	left := dot.Left
	args := []ast.Expression{nil, &ast.StringLiteral{Idx: dot.Identifier.Idx, Value: name}}
	if optional, ok := left.(*ast.Optional); ok {
		left = optional.Expression
		args = append(args, &ast.BooleanLiteral{Idx: dot.Identifier.Idx, Value: true})
	}
	if _, ok := left.(*ast.SuperExpression); ok || chained(left) {
		return e
	}
	args[0] = left
	return in.call(memberHelper, dot.Identifier.Idx, args...)
}

// chained reports whether an expression is the inside of an optional chain, which cannot
// be taken out of it.
func chained(e ast.Expression) bool {
	for {
		switch n := e.(type) {
		case *ast.Optional:
			return true
		case *ast.DotExpression:
			e = n.Left
		case *ast.BracketExpression:
			e = n.Left
		case *ast.PrivateDotExpression:
			e = n.Left
		case *ast.CallExpression:
			e = n.Callee
		default:
			return false
		}
	}
}

// mentionsError reports whether a pattern takes the stack or message out of something.
func mentionsError(p *ast.ObjectPattern) bool {
	return slices.ContainsFunc(p.Properties, func(p ast.Property) bool {
		name := unistring.String("")
		switch p := p.(type) {
		case *ast.PropertyShort:
			name = p.Name.Name
		case *ast.PropertyKeyed:
			if key, ok := p.Key.(*ast.StringLiteral); ok {
				name = key.Value
			}
		}
		return name == "stack" || name == "message"
	})
}

// handler lets the run see what a promise was rejected with before the function does
// that handles it.
func (in *instrumenter) handler(n *ast.CallExpression) {
	callee := n.Callee
	if chain, ok := callee.(*ast.OptionalChain); ok {
		callee = chain.Expression
	}
	dot, ok := callee.(*ast.DotExpression)
	if !ok || len(n.ArgumentList) == 0 {
		return
	}
	last := len(n.ArgumentList) - 1
	if name := dot.Identifier.Name; !(name == "catch" && last == 0 || name == "then" && last == 1) {
		return
	}
	switch f := n.ArgumentList[last].(type) {
	case *ast.ArrowFunctionLiteral:
		id := onlyName(f.ParameterList)
		if id == nil {
			return
		}
		mend := in.call(caughtHelper, f.Start, &ast.Identifier{Name: id.Name, Idx: f.Start})
		switch body := f.Body.(type) {
		case *ast.ExpressionBody:
			body.Expression = &ast.SequenceExpression{Sequence: []ast.Expression{mend, body.Expression}}
		case *ast.BlockStatement:
			body.List = append([]ast.Statement{&ast.ExpressionStatement{Expression: mend}}, body.List...)
		}
	case *ast.FunctionLiteral:
		if id := onlyName(f.ParameterList); id != nil && !f.Generator {
			mend := in.call(caughtHelper, f.Function, &ast.Identifier{Name: id.Name, Idx: f.Function})
			f.Body.List = append([]ast.Statement{&ast.ExpressionStatement{Expression: mend}}, f.Body.List...)
		}
	case *ast.Identifier, *ast.DotExpression:
		n.ArgumentList[last] = in.call(handlerHelper, f.Idx0(), f)
	}
}

// onlyName is the parameter of a function that has one with a name and nothing else.
func onlyName(p *ast.ParameterList) *ast.Identifier {
	if len(p.List) != 1 || p.List[0].Initializer != nil {
		return nil
	}
	id, _ := p.List[0].Target.(*ast.Identifier)
	return id
}

// splitTry makes two statements of one with both a catch and a finally clause. goja lets
// the catch clause catch what the finally clause throws, if nothing was thrown before.
func splitTry(n *ast.TryStatement) {
	if n.Catch == nil || n.Finally == nil {
		return
	}
	inner := &ast.TryStatement{Try: n.Try, Body: n.Body, Catch: n.Catch}
	n.Body = &ast.BlockStatement{LeftBrace: n.Body.LeftBrace, List: []ast.Statement{inner}, RightBrace: n.Body.RightBrace}
	n.Catch = nil
}

// catch lets the run see what a clause catches before the script does.
func (in *instrumenter) catch(n *ast.CatchStatement) {
	switch target := n.Parameter.(type) {
	case *ast.Identifier:
		mend := &ast.ExpressionStatement{Expression: in.call(caughtHelper, n.Catch, &ast.Identifier{Name: target.Name, Idx: n.Catch})}
		n.Body.List = append([]ast.Statement{mend}, n.Body.List...)
	case *ast.ObjectPattern:
		const name = "caught error"
		n.Parameter = &ast.Identifier{Name: name, Idx: target.LeftBrace}
		declaration := &ast.LexicalDeclaration{Idx: target.LeftBrace, Token: token.LET, List: []*ast.Binding{{
			Target:      target,
			Initializer: in.call(caughtHelper, n.Catch, &ast.Identifier{Name: name, Idx: n.Catch}, &ast.BooleanLiteral{Value: true}),
		}}}
		n.Body.List = append([]ast.Statement{declaration}, n.Body.List...)
	}
}

// iterated iterates over arrays without an object for each element.
func (in *instrumenter) iterated(e ast.Expression) ast.Expression {
	return in.call(iterateHelper, offsetOf(e), e)
}

func (in *instrumenter) iterateArguments(list []ast.Expression) {
	for _, e := range list {
		if s, ok := e.(*ast.SpreadElement); ok {
			s.Expression = in.iterated(s.Expression)
		}
	}
}

// spread makes the array of a literal with spread elements in one go, if that is not
// noticed: what comes behind the first such element is evaluated before it is spread.
func (in *instrumenter) spread(e *ast.ArrayLiteral) ast.Expression {
	which := make([]byte, 0, len(e.Value))
	some, inert := false, true
	for _, v := range e.Value {
		s, ok := v.(*ast.SpreadElement)
		switch {
		case v == nil: // a hole
			return e
		case ok:
			inert = inert && (!some || passive(s.Expression))
			some = true
			which = append(which, '1')
		default:
			inert = inert && (!some || passive(v))
			which = append(which, '0')
		}
	}
	if !some {
		return e
	}
	if !inert {
		in.iterateArguments(e.Value)
		return e
	}
	args := []ast.Expression{&ast.StringLiteral{Idx: e.LeftBracket, Value: unistring.String(which)}}
	for _, v := range e.Value {
		if s, ok := v.(*ast.SpreadElement); ok {
			v = s.Expression
		}
		args = append(args, v)
	}
	return in.call(spreadHelper, e.LeftBracket, args...)
}

// passive reports whether evaluating an expression runs no code and changes nothing, as
// far as one can expect: a getter might.
func passive(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.Identifier, *ast.ThisExpression, *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral,
		*ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.RegExpLiteral:
		return true
	case *ast.DotExpression:
		return passive(e.Left)
	case *ast.TemplateLiteral:
		return e.Tag == nil && !slices.ContainsFunc(e.Expressions, func(v ast.Expression) bool { return !passive(v) })
	case *ast.ArrayLiteral:
		return !slices.ContainsFunc(e.Value, func(v ast.Expression) bool { return v == nil || !passive(v) })
	case *ast.ObjectLiteral:
		return !slices.ContainsFunc(e.Value, func(p ast.Property) bool {
			switch p := p.(type) {
			case *ast.PropertyShort:
				return false
			case *ast.PropertyKeyed:
				return p.Computed || !passive(p.Value)
			}
			return true
		})
	case *ast.BinaryExpression:
		return passive(e.Left) && passive(e.Right)
	case *ast.UnaryExpression:
		return (e.Operator == token.MINUS || e.Operator == token.NOT) && passive(e.Operand)
	}
	return false
}

// regexp gives goja a literal in a form that it understands.
func (in *instrumenter) regexp(e *ast.RegExpLiteral) ast.Expression {
	if strings.Contains(e.Pattern, "/") || strings.Contains(e.Flags, "u") && !strings.Contains(e.Flags, "g") {
		in.p.wants.mention("RegExp") // for its source, or for what it replaces
	}
	if pattern.Plain(e.Pattern, e.Flags) || !pattern.Valid(e.Flags) {
		return e
	}
	p, err := pattern.Translate(utf16.Encode([]rune(e.Pattern)), e.Flags)
	if err != nil {
		if in.problem == nil {
			in.problem = &fault.Report{
				Kind: fault.Usage, Name: "SyntaxError", Message: invalidPattern(e.Pattern, e.Flags, err.Error()),
				At: in.p.at(in.p.file.Position(int(e.Idx) - in.base)),
			}
		}
		return e
	}
	o := &regexpOrigin{source: escapedSource(e.Pattern), flags: sortedFlags(e.Flags), native: *p}
	switch {
	case o.special():
		return in.call(regexpHelper, e.Idx,
			&ast.StringLiteral{Idx: e.Idx, Value: unistring.NewFromString(e.Pattern)},
			&ast.StringLiteral{Idx: e.Idx, Value: unistring.String(e.Flags)})
	case p.Source == "":
		return e
	}
	if in.p.literals == nil {
		in.p.literals = map[string]*regexpOrigin{}
	}
	native := pattern.Mark + p.Source
	for {
		known := in.p.literals[native]
		if known == nil || known.source == o.source && known.flags == o.flags {
			break
		}
		native = pattern.Mark + native // as in regexps.compile
	}
	in.p.literals[native] = o
	e.Pattern, e.Flags = native, p.Flags
	return e
}

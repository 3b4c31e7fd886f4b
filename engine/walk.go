package engine

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// walker visits the nodes of goja's syntax tree that can hold code. enter is called
// for each before its children, and leave after them for those where enter said so.
// rewrite may put another expression in the place of one that is read as a value, when
// its children have been visited.
type walker struct {
	enter   func(n ast.Node) (leave bool)
	leave   func(n ast.Node)
	rewrite func(e ast.Expression) ast.Expression
}

func (w *walker) statements(list []ast.Statement) {
	for _, s := range list {
		w.node(s)
	}
}

// value visits an expression that is read, and returns what is to stand in its place.
func (w *walker) value(e ast.Expression) ast.Expression {
	w.node(e)
	if e == nil || w.rewrite == nil {
		return e
	}
	return w.rewrite(e)
}

func (w *walker) values(list []ast.Expression) {
	for i, e := range list {
		list[i] = w.value(e)
	}
}

// targets visits expressions that are assigned to.
func (w *walker) targets(list []ast.Expression) {
	for _, e := range list {
		w.node(e)
	}
}

func (w *walker) properties(list []ast.Property) {
	for _, p := range list {
		w.node(p)
	}
}

// patterns visits the properties of a pattern, whose values are assigned to.
func (w *walker) patterns(list []ast.Property) {
	for _, p := range list {
		if keyed, ok := p.(*ast.PropertyKeyed); ok {
			leave := w.enter(keyed)
			w.key(keyed)
			w.node(keyed.Value)
			if leave {
				w.leave(keyed)
			}
			continue
		}
		w.node(p)
	}
}

// key visits the name of a property, which is read if it is computed.
func (w *walker) key(p *ast.PropertyKeyed) {
	if p.Computed {
		p.Key = w.value(p.Key)
	} else {
		w.node(p.Key)
	}
}

func (w *walker) bindings(list []*ast.Binding) {
	for _, b := range list {
		w.node(b)
	}
}

func (w *walker) block(b *ast.BlockStatement) {
	if b != nil {
		w.node(b)
	}
}

func (w *walker) parameters(p *ast.ParameterList) {
	if p != nil {
		w.bindings(p.List)
		w.node(p.Rest)
	}
}

func (w *walker) node(n ast.Node) {
	if n == nil {
		return
	}
	if w.enter(n) {
		defer w.leave(n)
	}
	if !w.statement(n) {
		w.expression(n)
	}
}

func (w *walker) statement(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BlockStatement:
		w.statements(n.List)
	case *ast.CaseStatement:
		n.Test = w.value(n.Test)
		w.statements(n.Consequent)
	case *ast.CatchStatement:
		w.node(n.Parameter)
		w.block(n.Body)
	case *ast.ClassDeclaration:
		w.node(n.Class)
	case *ast.DoWhileStatement:
		w.node(n.Body)
		n.Test = w.value(n.Test)
	case *ast.ExpressionStatement:
		n.Expression = w.value(n.Expression)
	case *ast.ForInStatement:
		w.forInto(n.Into)
		n.Source = w.value(n.Source)
		w.node(n.Body)
	case *ast.ForOfStatement:
		w.forInto(n.Into)
		n.Source = w.value(n.Source)
		w.node(n.Body)
	case *ast.ForStatement:
		w.forInitializer(n.Initializer)
		n.Test = w.value(n.Test)
		n.Update = w.value(n.Update)
		w.node(n.Body)
	case *ast.FunctionDeclaration:
		w.node(n.Function)
	case *ast.IfStatement:
		n.Test = w.value(n.Test)
		w.node(n.Consequent)
		w.node(n.Alternate)
	case *ast.LabelledStatement:
		w.node(n.Statement)
	case *ast.LexicalDeclaration:
		w.bindings(n.List)
	case *ast.ReturnStatement:
		n.Argument = w.value(n.Argument)
	case *ast.SwitchStatement:
		n.Discriminant = w.value(n.Discriminant)
		for _, c := range n.Body {
			w.node(c)
		}
	case *ast.ThrowStatement:
		n.Argument = w.value(n.Argument)
	case *ast.TryStatement:
		w.block(n.Body)
		if n.Catch != nil {
			w.node(n.Catch)
		}
		w.block(n.Finally)
	case *ast.VariableStatement:
		w.bindings(n.List)
	case *ast.WhileStatement:
		n.Test = w.value(n.Test)
		w.node(n.Body)
	case *ast.WithStatement:
		n.Object = w.value(n.Object)
		w.node(n.Body)
	default:
		return false
	}
	return true
}

func (w *walker) forInto(into ast.ForInto) {
	switch into := into.(type) {
	case *ast.ForIntoVar:
		w.node(into.Binding)
	case *ast.ForDeclaration:
		w.node(into.Target)
	case *ast.ForIntoExpression:
		w.node(into.Expression)
	}
}

func (w *walker) forInitializer(i ast.ForLoopInitializer) {
	switch i := i.(type) {
	case *ast.ForLoopInitializerExpression:
		i.Expression = w.value(i.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		w.bindings(i.List)
	case *ast.ForLoopInitializerLexicalDecl:
		w.bindings(i.LexicalDeclaration.List)
	}
}

func (w *walker) expression(n ast.Node) {
	switch n := n.(type) {
	case *ast.ArrayLiteral:
		w.values(n.Value)
	case *ast.ArrayPattern:
		w.targets(n.Elements)
		w.node(n.Rest)
	case *ast.ArrowFunctionLiteral:
		w.parameters(n.ParameterList)
		if body, ok := n.Body.(*ast.ExpressionBody); ok {
			body.Expression = w.value(body.Expression)
		} else {
			w.node(n.Body)
		}
	case *ast.AssignExpression:
		w.node(n.Left)
		n.Right = w.value(n.Right)
	case *ast.AwaitExpression:
		n.Argument = w.value(n.Argument)
	case *ast.BinaryExpression:
		n.Left = w.value(n.Left)
		n.Right = w.value(n.Right)
	case *ast.Binding:
		w.node(n.Target)
		n.Initializer = w.value(n.Initializer)
	case *ast.BracketExpression:
		n.Left = w.value(n.Left)
		n.Member = w.value(n.Member)
	case *ast.CallExpression:
		w.node(n.Callee)
		w.values(n.ArgumentList)
	case *ast.ClassLiteral:
		n.SuperClass = w.value(n.SuperClass)
		for _, element := range n.Body {
			w.classElement(element)
		}
	case *ast.ConditionalExpression:
		n.Test = w.value(n.Test)
		n.Consequent = w.value(n.Consequent)
		n.Alternate = w.value(n.Alternate)
	case *ast.DotExpression:
		n.Left = w.value(n.Left)
	case *ast.FunctionLiteral:
		w.parameters(n.ParameterList)
		w.block(n.Body)
	case *ast.NewExpression:
		n.Callee = w.value(n.Callee)
		w.values(n.ArgumentList)
	case *ast.ObjectLiteral:
		w.properties(n.Value)
	case *ast.ObjectPattern:
		w.patterns(n.Properties)
		w.node(n.Rest)
	case *ast.Optional:
		n.Expression = w.value(n.Expression)
	case *ast.OptionalChain:
		w.node(n.Expression)
	case *ast.PrivateDotExpression:
		n.Left = w.value(n.Left)
	case *ast.PropertyKeyed:
		w.key(n)
		n.Value = w.value(n.Value)
	case *ast.PropertyShort:
		w.node(&n.Name)
		n.Initializer = w.value(n.Initializer)
	case *ast.SequenceExpression:
		w.values(n.Sequence)
	case *ast.SpreadElement:
		n.Expression = w.value(n.Expression)
	case *ast.TemplateLiteral:
		w.node(n.Tag)
		w.values(n.Expressions)
	case *ast.UnaryExpression:
		switch n.Operator {
		case token.DELETE, token.INCREMENT, token.DECREMENT:
			w.node(n.Operand)
		default:
			n.Operand = w.value(n.Operand)
		}
	case *ast.YieldExpression:
		n.Argument = w.value(n.Argument)
	}
}

// classElement visits the parts of a class body. A field's initialiser and a static
// block run as functions of their own, so they are entered as the nodes that they are.
func (w *walker) classElement(element ast.ClassElement) {
	if w.enter(element) {
		defer w.leave(element)
	}
	switch element := element.(type) {
	case *ast.FieldDefinition:
		w.node(element.Key)
		element.Initializer = w.value(element.Initializer)
	case *ast.MethodDefinition:
		w.node(element.Key)
		w.node(element.Body)
	case *ast.ClassStaticBlock:
		w.block(element.Block)
	}
}

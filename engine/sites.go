package engine

import (
	"strings"
	"sync"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
)

// sites finds what stands at a position of the source, for errors that have to name it.
// The tree is read again when the first such error comes up.
type sites struct {
	once  sync.Once
	nodes map[file.Position][]ast.Node
	// getters are the properties that the script defines with a getter: by name, the class,
	// or empty if it defines a setter or a plain property of the name as well.
	getters map[string]string
}

// at lists the nodes for which goja reports a position: calls at their parenthesis,
// members at their names, the rest where they begin. As only some places of the bundle
// have a position of their own in the source, there may be several.
func (s *sites) at(p *Program, pos file.Position) []ast.Node {
	s.once.Do(func() { s.read(p) })
	return s.nodes[bare(pos)]
}

// bare is a position without what does not identify it.
func bare(pos file.Position) file.Position {
	return file.Position{Filename: pos.Filename, Line: pos.Line, Column: pos.Column}
}

func (s *sites) read(p *Program) {
	s.nodes, s.getters = map[file.Position][]ast.Node{}, map[string]string{}
	tree, err := parser.ParseFile(nil, bundleName, p.file.Source(), 0, parser.WithDisableSourceMaps)
	if err != nil {
		return
	}
	base := tree.File.Base()
	add := func(n ast.Node, at file.Idx) {
		pos := bare(p.file.Position(int(at) - base))
		s.nodes[pos] = append(s.nodes[pos], n)
	}
	w := &walker{
		enter: func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ClassLiteral:
				s.accessors(n)
			case *ast.FunctionLiteral:
				add(n, n.Function)
			case *ast.ArrowFunctionLiteral:
				add(n, n.Start)
			case *ast.PropertyKeyed:
				if key, ok := n.Key.(*ast.StringLiteral); ok && !n.Computed {
					s.accessor(string(key.Value), "Object", n.Kind)
				}
			case *ast.CallExpression:
				add(n, n.LeftParenthesis)
			case *ast.NewExpression:
				add(n, n.New)
			case *ast.DotExpression:
				add(n, n.Identifier.Idx)
			case *ast.BracketExpression:
				add(n, n.LeftBracket)
			case *ast.Identifier:
				if original, renamed := p.original(int(n.Idx)-base, n.Name); renamed {
					n.Name = original
				}
				add(n, n.Idx)
			case *ast.BinaryExpression:
				add(n, n.Idx0())
			case *ast.ArrayLiteral:
				add(n, n.LeftBracket)
			case *ast.SpreadElement:
				add(n, offsetOf(n.Expression))
			case *ast.ForOfStatement:
				add(n, offsetOf(n.Source))
			case *ast.AssignExpression:
				add(n, offsetOf(n.Left))
				if isPattern(n.Left) {
					add(n, offsetOf(n.Right))
				}
			case *ast.Binding:
				if !isPattern(n.Target) {
					break
				}
				add(n, n.Target.Idx0())
				if n.Initializer != nil {
					add(n, offsetOf(n.Initializer))
				}
			}
			return false
		},
		leave: func(ast.Node) {},
	}
	w.statements(tree.Body)
}

// accessors notes the getters of a class.
func (s *sites) accessors(class *ast.ClassLiteral) {
	name := "Object"
	if class.Name != nil {
		name = strings.TrimPrefix(string(class.Name.Name), "_")
	}
	for _, element := range class.Body {
		if m, ok := element.(*ast.MethodDefinition); ok && !m.Computed && !m.Static {
			if key, ok := m.Key.(*ast.StringLiteral); ok {
				s.accessor(string(key.Value), name, m.Kind)
			}
		}
	}
}

func (s *sites) accessor(name, class string, kind ast.PropertyKind) {
	if _, known := s.getters[name]; known || kind != ast.PropertyKindGet {
		class = ""
	}
	s.getters[name] = class
}

// offsetOf is where goja reports an expression.
func offsetOf(e ast.Expression) file.Idx {
	switch e := e.(type) {
	case *ast.DotExpression:
		return e.Identifier.Idx
	case *ast.BracketExpression:
		return e.LeftBracket
	case *ast.CallExpression:
		return e.LeftParenthesis
	}
	return e.Idx0()
}

func isPattern(n ast.Node) bool {
	switch n.(type) {
	case *ast.ObjectPattern, *ast.ArrayPattern:
		return true
	}
	return false
}

// expressionText writes an expression as messages of errors name it: as V8 does.
func expressionText(e ast.Expression) string {
	const unnamed = "(intermediate value)"
	switch e := e.(type) {
	case *ast.Identifier:
		return string(e.Name)
	case *ast.ThisExpression:
		return "this"
	case *ast.NullLiteral:
		return "null"
	case *ast.BooleanLiteral:
		return e.Literal
	case *ast.NumberLiteral:
		return e.Literal
	case *ast.StringLiteral:
		return `"` + e.Value.String() + `"`
	case *ast.DotExpression:
		return expressionText(e.Left) + "." + string(e.Identifier.Name)
	case *ast.PrivateDotExpression:
		return expressionText(e.Left) + ".#" + string(e.Identifier.Name)
	case *ast.BracketExpression:
		member := expressionText(e.Member)
		if member == unnamed {
			member = "..."
		}
		return expressionText(e.Left) + "[" + member + "]"
	case *ast.CallExpression:
		return expressionText(e.Callee) + "(...)"
	case *ast.OptionalChain:
		return expressionText(e.Expression)
	case *ast.Optional:
		return expressionText(e.Expression) + "?"
	case *ast.BinaryExpression:
		if left, right := expressionText(e.Left), expressionText(e.Right); left != unnamed && right != unnamed {
			return "(" + left + " " + e.Operator.String() + " " + right + ")"
		}
	case *ast.UnaryExpression:
		if operand := expressionText(e.Operand); operand != unnamed && !e.Postfix && e.Operator != token.TYPEOF {
			if e.Operator == token.VOID {
				return "(void " + operand + ")"
			}
			return "(" + e.Operator.String() + operand + ")"
		}
	case *ast.AwaitExpression, *ast.SequenceExpression:
		return unnamed
	case *ast.ObjectLiteral:
		if len(e.Value) == 0 {
			return "{}"
		}
	}
	return unnamed
}

// calleeText is a callee as messages name it. Members of an import are as the author
// knows them.
func calleeText(e ast.Expression) string {
	text := strings.TrimSuffix(expressionText(e), "?")
	if s, ok := e.(*ast.SequenceExpression); ok && len(s.Sequence) == 2 {
		text = expressionText(s.Sequence[1]) // (0, import_x.name)
	}
	if rest, ok := strings.CutPrefix(text, "import_"); ok {
		if _, member, ok := strings.Cut(rest, "."); ok {
			return member
		}
	}
	return text
}

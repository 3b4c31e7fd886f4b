package engine

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// esbuild writes some things otherwise than the author did, and it shows: variables of
// the top level become var, so that they can be read before they have a value; a class
// that mentions itself gets another name. What was written is in the source.

// written is the text of the source, to the end of the line, where a node of the bundle
// comes from, and what is before it in the line.
func (in *instrumenter) written(at file.Idx) (before, text string) {
	pos := in.p.file.Position(int(at) - in.base)
	name, ok := in.p.names[pos.Filename]
	if !ok || name == bundleName {
		return "", ""
	}
	line := lineOf(in.p.texts[name], pos.Line)
	column := min(byteColumn(line, max(pos.Column-1, 0)), len(line))
	return line[:column], line[column:]
}

var lexicalForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:let|const)\s*([\w$]+|[{\[])|(?:export\s+|default\s+|abstract\s+)*class\s+([\w$]+))`)
})

// lexical turns variables of the top level back into what cannot be read too early.
func (in *instrumenter) lexical(run *ast.ArrowFunctionLiteral, body *ast.BlockStatement) {
	for i, s := range body.List {
		n, ok := s.(*ast.VariableStatement)
		if !ok || !in.wasLexical(n) {
			continue
		}
		body.List[i] = &ast.LexicalDeclaration{Idx: n.Var, Token: token.LET, List: n.List}
		run.DeclarationList = slices.DeleteFunc(run.DeclarationList, func(d *ast.VariableDeclaration) bool {
			return len(d.List) > 0 && d.List[0] == n.List[0]
		})
	}
}

func (in *instrumenter) wasLexical(n *ast.VariableStatement) bool {
	_, text := in.written(n.Var)
	m := lexicalForm().FindStringSubmatch(text)
	if m == nil {
		return false
	}
	switch target := n.List[0].Target.(type) {
	case *ast.Identifier:
		// Where names collide esbuild adds a number.
		return strings.HasPrefix(string(target.Name), m[1]+m[2])
	case *ast.ObjectPattern:
		return m[1] == "{"
	case *ast.ArrayPattern:
		return m[1] == "["
	}
	return false
}

// rename is another name for a variable inside a class.
type rename struct{ from, to unistring.String }

var classForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:export\s+|default\s+|abstract\s+)*class\s+([\w$]+)`)
})

// class gives a class its name back, and finds out whether its fields have to wait for
// the parameters of its constructor.
func (in *instrumenter) class(n *ast.ClassLiteral) {
	r := rename{}
	if n.Name != nil && strings.HasPrefix(string(n.Name.Name), "_") {
		_, text := in.written(n.Class)
		if m := classForm().FindStringSubmatch(text); m != nil && strings.HasPrefix(string(n.Name.Name), "_"+m[1]) {
			r = rename{n.Name.Name, unistring.String(m[1])}
			n.Name.Name = r.to
		}
	}
	in.renames = append(in.renames, r)
	in.p.lower = in.p.lower || in.fieldsNeedParameters(n)
}

// renamed is what a variable is called here.
func (in *instrumenter) renamed(name unistring.String) unistring.String {
	for _, r := range in.renames {
		if r.from == name && name != "" {
			name = r.to
		}
	}
	return name
}

var parameterProperty = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:public|private|protected|readonly|override)\s+$`)
})

// fieldsNeedParameters reports whether a class has properties that are parameters of its
// constructor, and fields whose values are made of this. TypeScript, as most people have
// it set up, assigns the parameters first.
func (in *instrumenter) fieldsNeedParameters(n *ast.ClassLiteral) bool {
	parameters, fields := false, false
	for _, element := range n.Body {
		switch e := element.(type) {
		case *ast.FieldDefinition:
			fields = fields || !e.Static && e.Initializer != nil && usesThis(e.Initializer)
		case *ast.MethodDefinition:
			if key, ok := e.Key.(*ast.StringLiteral); !ok || e.Static || e.Computed || key.Value != "constructor" {
				continue
			}
			for _, s := range e.Body.Body.List {
				if before, _ := in.written(s.Idx0()); parameterProperty().MatchString(before) {
					parameters = true
				}
			}
		}
	}
	return parameters && fields
}

// usesThis reports whether evaluating an expression reads this at once.
func usesThis(e ast.Expression) bool {
	found, inner := false, 0
	w := &walker{
		enter: func(n ast.Node) bool {
			switch n.(type) {
			case *ast.ThisExpression, *ast.SuperExpression:
				found = found || inner == 0
			case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.ClassLiteral:
				inner++
				return true
			}
			return false
		},
		leave: func(ast.Node) { inner-- },
	}
	w.node(e)
	return found
}

// metas lets each import.meta know its file.
func (in *instrumenter) metas(body *ast.BlockStatement) {
	for _, s := range body.List {
		n, ok := s.(*ast.VariableStatement)
		if !ok || len(n.List) != 1 {
			continue
		}
		id, ok := n.List[0].Target.(*ast.Identifier)
		if !ok || !strings.HasPrefix(string(id.Name), "import_meta") {
			continue
		}
		if o, ok := n.List[0].Initializer.(*ast.ObjectLiteral); !ok || len(o.Value) > 0 {
			continue
		}
		name, ok := in.p.names[in.p.file.Position(int(n.Var)-in.base).Filename]
		if !ok || name == bundleName || name == in.p.entry {
			name = in.p.src.Name
		}
		n.List[0].Initializer = in.call(metaHelper, n.Var, &ast.StringLiteral{Idx: n.Var, Value: unistring.NewFromString(name)})
	}
}

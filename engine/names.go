package engine

import (
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
)

// esbuild adds a number to a name that would hide another one. A function has the name that the author gave it all the
// same: in its property name, in stacks and in messages. Where esbuild renamed something the map to the sources tells.

// original is what the author called the variable that is called name at a place of the bundle, if esbuild renamed it.
func (p *Program) original(offset int, name unistring.String) (unistring.String, bool) {
	original, ok := p.renamed[offset]
	if !ok {
		return "", false
	}
	number, ok := strings.CutPrefix(name.String(), original)
	if !ok || number == "" || strings.Trim(number, "0123456789") != "" {
		return "", false
	}
	return unistring.NewFromString(original), true
}

// functionName is what the author calls a function: esbuild names an anonymous default export, too.
func (p *Program) functionName(name string) string {
	if name == "script_default" {
		return "default"
	}
	if original := p.functions[name]; original != "" {
		return original
	}
	return name
}

// noteFunction has the functions that are called name in stacks be known as original there, unless other functions are
// called so as well.
func (p *Program) noteFunction(name, original unistring.String) {
	if len(p.renamed) == 0 {
		return
	}
	if known, ok := p.functions[name.String()]; ok && known != original.String() {
		original = ""
	}
	if p.functions == nil {
		p.functions = map[string]string{}
	}
	p.functions[name.String()] = original.String()
}

// functionOf notes a function with a name, and returns the one that the author gave it if it is another.
func (in *instrumenter) functionOf(id *ast.Identifier) (original unistring.String, renamed bool) {
	original, renamed = in.p.original(int(id.Idx)-in.base, id.Name)
	if !renamed {
		original = id.Name
	}
	in.p.noteFunction(id.Name, original)
	return original, renamed
}

// named calls the helper that names a function.
func (in *instrumenter) named(f ast.Expression, name unistring.String) *ast.CallExpression {
	return in.call(nameHelper, f.Idx0(), f, &ast.StringLiteral{Idx: f.Idx0(), Value: name})
}

// nameDeclared returns the statements that name the functions that a list declares.
func (in *instrumenter) nameDeclared(list []ast.Statement) (out []ast.Statement) {
	for _, s := range list {
		d, ok := s.(*ast.FunctionDeclaration)
		if !ok {
			continue
		}
		id := d.Function.Name
		if original, renamed := in.functionOf(id); renamed {
			out = append(out, &ast.ExpressionStatement{Expression: in.named(&ast.Identifier{Name: id.Name, Idx: id.Idx}, original)})
		}
	}
	return out
}

// nameAssigned adds variables to a declaration, which stand for nothing, and whose values name the anonymous functions
// that it gives to others.
func (in *instrumenter) nameAssigned(n *ast.LexicalDeclaration) {
	for _, b := range n.List {
		id, ok := b.Target.(*ast.Identifier)
		if f, literal := b.Initializer.(*ast.FunctionLiteral); !ok || !isFunction(b.Initializer) || literal && f.Name != nil {
			continue
		}
		if original, renamed := in.functionOf(id); renamed {
			n.List = append(n.List, &ast.Binding{
				Target:      &ast.Identifier{Name: id.Name + " ", Idx: id.Idx},
				Initializer: in.named(&ast.Identifier{Name: id.Name, Idx: b.Initializer.Idx0()}, original),
			})
		}
	}
}

// nameClass gives a class that is in the variable id, or is called so, the name that the author gave it.
func (in *instrumenter) nameClass(class *ast.ClassLiteral, id *ast.Identifier) {
	original, renamed := in.p.original(int(id.Idx)-in.base, id.Name)
	if !renamed {
		nameConstructorOf(class, id.Name)
		return
	}
	nameConstructorOf(class, original)
	for _, element := range class.Body {
		if m, ok := element.(*ast.MethodDefinition); ok && m.Static {
			if key, ok := m.Key.(*ast.StringLiteral); ok && key.Value == "name" {
				return
			}
		}
	}
	at := class.Class
	block := &ast.BlockStatement{LeftBrace: at, RightBrace: at, List: []ast.Statement{
		&ast.ExpressionStatement{Expression: in.named(&ast.ThisExpression{Idx: at}, original)},
	}}
	class.Body = append([]ast.ClassElement{&ast.ClassStaticBlock{Static: at, Block: block}}, class.Body...)
}

// setName names a function.
func (rt *Runtime) setName(c goja.FunctionCall) goja.Value {
	must(c.Argument(0).(*goja.Object).DefineDataProperty("name", c.Argument(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return c.Argument(0)
}

package engine

import (
	"fmt"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
)

// redeclare lets a function have a var of the name that a parameter has which is taken apart,
// or the rest of them: goja takes two such names for a mistake. What is taken apart becomes
// a var as well, at the beginning of the body. It returns all vars of the function.
func redeclare(parameters *ast.ParameterList, body *ast.BlockStatement, vars []*ast.VariableDeclaration) []*ast.VariableDeclaration {
	var own binder
	for _, d := range vars {
		own.bindings(d.List)
	}
	if len(own.names) == 0 {
		return vars
	}
	var all binder
	var moved []*ast.Binding
	at := body.LeftBrace
	move := func(target ast.Expression) (stands *ast.Identifier) {
		var p binder
		p.target(target)
		if !slices.ContainsFunc(p.names, func(name unistring.String) bool { return slices.Contains(own.names, name) }) {
			return nil
		}
		// Neither name is one that a script can have.
		stands = &ast.Identifier{Idx: at, Name: unistring.String(fmt.Sprint("parameter ", len(moved)))}
		moved = append(moved, &ast.Binding{Target: target.(ast.BindingTarget), Initializer: &ast.Identifier{Idx: at, Name: stands.Name}})
		own.names = append(own.names, p.names...)
		return stands
	}
	stands := make([]*ast.Identifier, len(parameters.List)+1)
	all.bindings(parameters.List)
	for i, p := range parameters.List {
		if _, plain := p.Target.(*ast.Identifier); !plain {
			stands[i] = move(p.Target)
		}
	}
	if parameters.Rest != nil {
		all.target(parameters.Rest)
		stands[len(parameters.List)] = move(parameters.Rest)
	}
	// What is computed in the parameters does not see the vars of the body.
	if len(moved) == 0 || all.mentions(own.names) {
		return vars
	}
	// A function of the body counts more than a parameter, however late it is taken apart.
	for _, s := range body.List {
		if f, ok := s.(*ast.FunctionDeclaration); ok && slices.Contains(all.names, f.Function.Name.Name) {
			return vars
		}
	}
	for i, p := range parameters.List {
		if stands[i] != nil {
			p.Target = stands[i]
		}
	}
	if rest := stands[len(parameters.List)]; rest != nil {
		parameters.Rest = rest
	}
	body.List = append([]ast.Statement{&ast.VariableStatement{Var: at, List: moved}}, body.List...)
	return append([]*ast.VariableDeclaration{{Var: at, List: moved}}, vars...)
}

// binder takes bindings apart.
type binder struct {
	names    []unistring.String // that they bind
	computed []ast.Expression   // defaults and keys
}

func (p *binder) bindings(list []*ast.Binding) {
	for _, b := range list {
		p.target(b.Target)
		p.compute(b.Initializer)
	}
}

func (p *binder) compute(e ast.Expression) {
	if e != nil {
		p.computed = append(p.computed, e)
	}
}

func (p *binder) target(e ast.Expression) {
	switch e := e.(type) {
	case *ast.Identifier:
		p.names = append(p.names, e.Name)
	case *ast.AssignExpression:
		p.target(e.Left)
		p.compute(e.Right)
	case *ast.ArrayPattern:
		for _, element := range e.Elements {
			p.target(element)
		}
		p.target(e.Rest)
	case *ast.ObjectPattern:
		for _, property := range e.Properties {
			switch property := property.(type) {
			case *ast.PropertyShort:
				p.names = append(p.names, property.Name.Name)
				p.compute(property.Initializer)
			case *ast.PropertyKeyed:
				if property.Computed {
					p.compute(property.Key)
				}
				p.target(property.Value)
			}
		}
		p.target(e.Rest)
	}
}

// mentions reports whether what is computed mentions one of the names.
func (p *binder) mentions(names []unistring.String) bool {
	found := false
	w := &walker{enter: func(n ast.Node) bool {
		if id, ok := n.(*ast.Identifier); ok && slices.Contains(names, id.Name) {
			found = true
		}
		return false
	}}
	for _, e := range p.computed {
		w.node(e)
	}
	return found
}

package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"

	"mcpx/internal/fault"
	"mcpx/internal/schema"
	"mcpx/internal/spelling"
)

// link is an import of a module by name. esbuild checks those of files; what a module of
// the runtime exports is known when it is made.
type link struct {
	module, name string
	at           *fault.Position
}

// imports finds the links of a bundle, where esbuild writes a module as a function and
// an import as a member of what that returns. Members may also be those of a namespace,
// which need not exist: the text of the source tells them apart.
type imports struct {
	functions map[unistring.String]string // of modules, by the function's name
	objects   map[unistring.String]string // of modules, by the variable's name
	uses      []use
}

type use struct {
	module, name string
	at           file.Idx
}

// bound looks for  var require_x = __commonJS({"mcpx-native:x"(…) {…}})  and for
// var import_x = __toESM(require_x()).
func (im *imports) bound(b *ast.Binding) {
	id, ok := b.Target.(*ast.Identifier)
	call, isCall := b.Initializer.(*ast.CallExpression)
	if !ok || !isCall || len(call.ArgumentList) == 0 {
		return
	}
	callee, _ := call.Callee.(*ast.Identifier)
	switch argument := call.ArgumentList[0].(type) {
	case *ast.ObjectLiteral:
		if len(argument.Value) != 1 || callee == nil || callee.Name != "__commonJS" {
			return
		}
		if p, ok := argument.Value[0].(*ast.PropertyKeyed); ok {
			if key, ok := p.Key.(*ast.StringLiteral); ok {
				if module, ok := strings.CutPrefix(key.Value.String(), nativeNamespace+":"); ok {
					im.note(&im.functions, id.Name, module)
				}
			}
		}
	case *ast.CallExpression:
		if inner, ok := argument.Callee.(*ast.Identifier); ok && callee != nil && callee.Name == "__toESM" {
			if module, ok := im.functions[inner.Name]; ok {
				im.note(&im.objects, id.Name, module)
			}
		}
	}
}

func (im *imports) note(m *map[unistring.String]string, name unistring.String, module string) {
	if *m == nil {
		*m = map[unistring.String]string{}
	}
	(*m)[name] = module
}

// used notes a member of a module.
func (im *imports) used(e *ast.DotExpression) {
	if len(im.objects) == 0 {
		return
	}
	if id, ok := e.Left.(*ast.Identifier); ok {
		if module, ok := im.objects[id.Name]; ok {
			im.uses = append(im.uses, use{module, e.Identifier.Name.String(), e.Identifier.Idx})
		}
	}
}

// links returns the members that the sources import by name.
func (im *imports) links(in *instrumenter) (found []link) {
	type place struct{ module, name, file string }
	seen := map[place]bool{}
	for _, u := range im.uses {
		source := in.p.names[in.p.file.Position(int(u.at)-in.base).Filename]
		if p := (place{u.module, u.name, source}); u.name == "default" || seen[p] {
			continue
		}
		seen[place{u.module, u.name, source}] = true
		if at := importPosition(in.p.texts[source], u.module, u.name); at != nil {
			at.File = source
			found = append(found, link{u.module, u.name, at})
		}
	}
	return found
}

// importClause matches the part of an import or a re-export that has names, and the module.
var importClause = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)(?:^|[;}])[ \t]*(?:import|export)\b[^'";{]*\{([^}]*)\}\s*from\s*["']([^"'\n]*)["']`)
})

// importPosition is where text imports name from module by name; nil if it does not.
func importPosition(text, module, name string) *fault.Position {
	for _, m := range importClause().FindAllStringSubmatchIndex(text, -1) {
		if from := text[m[4]:m[5]]; from != module && "node:"+from != module {
			continue
		}
		for at := m[2]; at < m[3]; {
			rest := text[at:m[3]]
			item, _, _ := strings.Cut(rest, ",")
			words := strings.Fields(item)
			if len(words) > 1 && words[0] == "type" {
				words = words[1:]
			}
			if len(words) > 0 && words[0] == name {
				offset := at + strings.Index(item, name)
				line := strings.Count(text[:offset], "\n") + 1
				start := lineOffset(text, line)
				return &fault.Position{Line: line, Column: utf16Length(text[start:offset]) + 1, Text: lineOf(text, line)}
			}
			at += len(item) + 1
		}
	}
	return nil
}

// link reports the first import whose module does not have what it names. It makes the
// modules that are imported by name, as the script is about to.
func (rt *Runtime) link(p *Program) *fault.Report {
	for _, l := range p.links {
		exports := rt.Require(l.module)
		if exports == nil || exports.Get(l.name) != nil {
			continue
		}
		names := exports.GetOwnPropertyNames()
		if slices.Contains(names, l.name) {
			continue
		}
		r := &fault.Report{
			Kind: fault.Usage, Name: "ImportError", At: l.at,
			Message: fmt.Sprintf("%q has no export %q", l.module, l.name),
		}
		if near := schema.Nearest(l.name, names, 1); len(near) > 0 {
			r.Hint = "did you mean " + near[0] + "?"
		} else {
			slices.Sort(names)
			r.Hint = "it has " + strings.Join(names[:min(len(names), maxNames)], ", ")
			if len(names) > maxNames {
				r.Hint += ", …"
			}
		}
		return r
	}
	return nil
}

// maxNames is how many exports a hint lists.
const maxNames = 40

// nearestGlobal is what a hint calls the global that name may have been meant to be,
// empty if none is near.
func (rt *Runtime) nearestGlobal(name string) string {
	best, found := max(1, len(name)/3)+1, ""
	if len(name) < 3 {
		return ""
	}
	try := func(candidate string, spell func(string) string) {
		// What only differs in upper and lower case is no nearer than what begins so.
		d := max(1, spelling.Distance(strings.ToLower(name), strings.ToLower(candidate), best))
		if d < best || d == best && strings.HasPrefix(candidate, name) && !strings.HasPrefix(found, name) && found != "" {
			best, found = d, candidate
			if spell != nil {
				found = spell(candidate)
			}
		}
	}
	for _, m := range rt.o.Modules {
		if meant := m.Meant[name]; meant != "" {
			return meant
		}
		for _, candidate := range m.Globals {
			try(candidate, m.Spell)
		}
	}
	for _, candidate := range rt.vm.GlobalObject().GetOwnPropertyNames() {
		try(candidate, nil)
	}
	return found
}

// isModule reports whether a script can import a module by that name.
func (rt *Runtime) isModule(name string) bool {
	return slices.ContainsFunc(rt.o.Modules, func(m Module) bool { return m.Name == name })
}

// undefinedName is the name that a ReferenceError misses.
func undefinedName(r *fault.Report) string {
	name, ok := strings.CutSuffix(r.Message, " is not defined")
	if !ok || r.Name != "ReferenceError" || !schema.IsIdentifier(name) {
		return ""
	}
	return name
}

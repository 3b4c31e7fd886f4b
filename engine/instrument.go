package engine

import (
	"math/big"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"mcpx/internal/fault"
)

// helper is a function of the run that is added to a script as a further parameter of
// its function. Its name is no identifier, so no script can use or hide it.
type helper struct {
	name unistring.String
	make func(rt *Runtime) func(goja.FunctionCall) goja.Value
}

// The helpers, by index.
const (
	awaitHelper     = iota // (value, mark) → value, before an await
	throwHelper            // (value, mark) → value, before a throw
	valueHelper            // (value, mark) → value, of the last expression statement
	startHelper            // (function), called when the script has run
	regexpHelper           // (pattern, flags) → the regular expression of a literal
	returnHelper           // (value, mark) → value, of a top-level return
	concatHelper           // (a, b, template) → a + b
	iterateHelper          // (value) → what to iterate over in its place
	spreadHelper           // (which, ...values) → the array of a literal
	metaHelper             // (name) → import.meta of the file called so
	asyncHelper            // (make) → a function that makes async generators of what make makes
	caughtHelper           // (value, whole) → value, that was caught
	memberHelper           // (value, name, optional) → its stack or message
	handlerHelper          // (function) → a function that handles what a promise was rejected with
	powerHelper            // (a, b) → a ** b
	classHelper            // (class) → what instanceof is to look at
	nameHelper             // (function, name) → the function, which is called so
	defaultHelper          // (interop) → a function that makes modules of packages of the older form
	nestedHelper           // (key), when there is nothing for a pattern inside a pattern
	namespaceHelper        // (export) → a function that makes namespaces of modules
	voidHelper             // (value), that is not wanted
	requireHelper          // (shim) → a function that requires what the compiler did not see
)

var helpers = [...]helper{
	awaitHelper:  {"await ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.waits.before }},
	throwHelper:  {"throw ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.thrown.before }},
	valueHelper:  {"value ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.value.setLast }},
	startHelper:  {"start ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.value.setStart }},
	regexpHelper: {"regexp ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.regexps.literal }},
	returnHelper: {"return ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.value.setReturn }},
	concatHelper: {"concat ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.concats.concat }},
	iterateHelper: {"iterate ", func(rt *Runtime) func(goja.FunctionCall) goja.Value {
		rt.iterations.init()
		return rt.iterations.iterate
	}},
	spreadHelper: {"spread ", func(rt *Runtime) func(goja.FunctionCall) goja.Value {
		rt.iterations.init()
		return rt.iterations.literal
	}},
	metaHelper:    {"meta ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.meta }},
	asyncHelper:   {"async ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.asyncGenerators }},
	caughtHelper:  {"caught ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.caught }},
	memberHelper:  {"member ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.member }},
	handlerHelper: {"handler ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.handler }},
	powerHelper:   {"power ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.power }},
	voidHelper:    {"void ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.expected.unwanted }},
	classHelper:   {"class ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.instanceClass }},

	nameHelper:      {"name ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.setName }},
	nestedHelper:    {"nested ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.nothingNested }},
	defaultHelper:   {"default ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.defaults }},
	namespaceHelper: {"namespace ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.namespaces }},
	requireHelper:   {"require ", func(rt *Runtime) func(goja.FunctionCall) goja.Value { return rt.modules.late }},
}

// helperSet is a set of helpers.
type helperSet uint32

// mark is a place in the bundle that a run can refer to.
type mark struct {
	offset int
	top    bool // directly in the script, in no function
}

// shape is what a script consists of, as far as its value depends on it.
type shape struct {
	empty     bool // nothing that runs
	idle      bool // functions, none of which is called
	valueless bool // the last statement is no expression
}

// instrumenter adds to a bundle's tree what the run needs to know: which await waits,
// what was thrown where, the value of the last expression. It also repairs what goja
// compiles wrongly.
type instrumenter struct {
	p         *Program
	base      int
	functions []function // that enclose the node being visited
	names     map[unistring.String]int
	appends   appends
	instances []*ast.BinaryExpression // tests of what something is an instance of
	renames   []rename                // in the classes that enclose it
	problem   *fault.Report           // what makes the script invalid after all
	imports   imports
	own       bool                 // what is being visited is the compiler's
	async     *ast.FunctionLiteral // the generator that an async generator is made of
}

// function is an enclosing function, or a part of a class that runs as one.
type function struct {
	body  *ast.BlockStatement // nil of arrow functions and parts of classes
	arrow bool
	fixed bool
}

// instrument returns why the script is no program, if that shows here.
func (p *Program) instrument(tree *ast.Program) *fault.Report {
	run := tree.Body[0].(*ast.ExpressionStatement).Expression.(*ast.ArrowFunctionLiteral)
	body := run.Body.(*ast.BlockStatement)
	in := &instrumenter{p: p, base: tree.File.Base(), names: map[unistring.String]int{}}
	in.metas(body)
	in.lexical(run, body)
	w := &walker{enter: in.enter, leave: in.leave, rewrite: in.repair}
	for _, s := range body.List {
		in.own = in.ofCompiler(s)
		w.node(s)
	}
	in.lengthen()
	in.testInstances()
	p.shape = in.value(body)
	p.links = in.imports.links(in)
	body.List = append(in.nameDeclared(body.List), body.List...)
	for i, h := range helpers {
		if p.uses&(1<<i) != 0 {
			run.ParameterList.List = append(run.ParameterList.List, &ast.Binding{Target: &ast.Identifier{Name: h.name, Idx: run.Start}})
		}
	}
	return in.problem
}

func (in *instrumenter) enter(n ast.Node) (leave bool) {
	switch n := n.(type) {
	case *ast.FunctionLiteral:
		if n.Generator && n != in.async {
			in.mention(generatorWord)
		}
		n.DeclarationList = redeclare(n.ParameterList, n.Body, n.DeclarationList)
		in.functions = append(in.functions, function{body: n.Body})
		in.appends.function(n)
		return true
	case *ast.ArrowFunctionLiteral:
		if body, ok := n.Body.(*ast.BlockStatement); ok {
			n.DeclarationList = redeclare(n.ParameterList, body, n.DeclarationList)
		}
		in.appends.function(n)
		in.functions = append(in.functions, function{arrow: true})
		return true
	case *ast.NumberLiteral:
		if _, ok := n.Value.(*big.Int); ok {
			in.mention(bigIntWord)
		}
	case *ast.FieldDefinition:
		in.appends.note(n.Key, n.Initializer)
		in.functions = append(in.functions, function{})
		return true
	case *ast.ClassStaticBlock:
		in.functions = append(in.functions, function{})
		return true
	case *ast.ClassLiteral:
		if n.Name != nil {
			in.nameClass(n, n.Name)
		}
		in.class(n)
		return true
	case *ast.Binding:
		in.nameConstructor(n)
		in.runtimeFunction(n)
		in.imports.bound(n)
		in.appends.note(n.Target, n.Initializer)
		if _, ok := n.Target.(*ast.ArrayPattern); ok && n.Initializer != nil {
			n.Initializer = in.iterated(n.Initializer)
		}
		if p, ok := n.Target.(*ast.ObjectPattern); ok && n.Initializer != nil && mentionsError(p) {
			n.Initializer = in.call(caughtHelper, n.Initializer.Idx0(), n.Initializer, &ast.BooleanLiteral{Value: true})
		}
	case *ast.BlockStatement:
		n.List = append(in.nameDeclared(n.List), n.List...)
	case *ast.LexicalDeclaration:
		in.nameAssigned(n)
	case *ast.ArrayPattern:
		in.unbox(n)
		in.nestedInArray(n)
	case *ast.ObjectPattern:
		in.nestedInObject(n)
	case *ast.TryStatement:
		splitTry(n)
	case *ast.CatchStatement:
		in.catch(n)
	case *ast.ForOfStatement:
		n.Source = in.iterated(n.Source)
	case *ast.CallExpression:
		in.supers(n)
		importedLate(n)
		in.iterateArguments(n.ArgumentList)
		in.appends.reduction(n)
		in.handler(n)
	case *ast.NewExpression:
		in.iterateArguments(n.ArgumentList)
	case *ast.BinaryExpression:
		in.regroup(n)
		in.instanceTest(n)
	case *ast.AssignExpression:
		in.appends.assignment(n)
	case *ast.PropertyKeyed:
		in.appends.note(n.Key, n.Value)
	case *ast.AwaitExpression:
		n.Argument = in.marked(awaitHelper, n.Argument, n.Await)
	case *ast.UnaryExpression:
		if _, ok := n.Operand.(*ast.CallExpression); ok && n.Operator == token.VOID {
			n.Operand = in.call(voidHelper, n.Idx, n.Operand)
		}
	case *ast.ThrowStatement:
		n.Argument = in.marked(throwHelper, n.Argument, n.Throw)
	case *ast.ReturnStatement:
		if len(in.functions) == 0 {
			if n.Argument == nil {
				n.Argument = &ast.UnaryExpression{
					Operator: token.VOID, Idx: n.Return,
					Operand: &ast.NumberLiteral{Idx: n.Return, Literal: "0", Value: int64(0)},
				}
			}
			n.Argument = in.marked(returnHelper, n.Argument, n.Return)
		}
	case *ast.ForStatement:
		n.Body = placed(n.Body, n.For)
		startAfresh(n)
	case *ast.WhileStatement:
		n.Body = placed(n.Body, n.While)
	case *ast.DoWhileStatement:
		n.Body = placed(n.Body, n.Do)
	case *ast.DotExpression:
		in.imports.used(n)
		if id, ok := n.Left.(*ast.Identifier); !ok || id.Name != "Object" || !listing(n.Identifier.Name) {
			in.mention(n.Identifier.Name)
		}
	case *ast.StringLiteral:
		if !in.own {
			in.p.wants.mentionIn(string(n.Value))
		}
	case *ast.TemplateLiteral:
		for _, e := range n.Elements {
			in.p.wants.mentionIn(string(e.Parsed))
		}
	case *ast.Identifier:
		n.Name = in.renamed(n.Name)
		in.names[n.Name]++
		in.mention(n.Name)
		if n.Name == "arguments" {
			in.mentionArguments()
		}
	}
	return false
}

// ofCompiler reports whether a statement of the bundle is none of a source: one of the
// functions that esbuild brings.
func (in *instrumenter) ofCompiler(s ast.Statement) bool {
	v, ok := s.(*ast.VariableStatement)
	if !ok || len(v.List) == 0 {
		return false
	}
	id, ok := v.List[0].Target.(*ast.Identifier)
	if !ok || !strings.HasPrefix(string(id.Name), "__") {
		return false
	}
	name, known := in.p.names[in.p.file.Position(int(s.Idx0())-in.base).Filename]
	return !known || name == bundleName
}

func (in *instrumenter) mention(word unistring.String) {
	if in.own {
		in.p.wants.mentionOwn(word)
	} else {
		in.p.wants.mention(word)
	}
}

// listing reports whether a function of Object gives an array that has the name of a
// method that gives an iterator.
func listing(name unistring.String) bool {
	return name == "keys" || name == "values" || name == "entries"
}

// runtimeFunction gives functions of esbuild what they lack.
func (in *instrumenter) runtimeFunction(n *ast.Binding) {
	id, ok := n.Target.(*ast.Identifier)
	if !ok || n.Initializer == nil {
		return
	}
	helper, ok := map[unistring.String]int{
		"__asyncGenerator": asyncHelper, "__export": namespaceHelper, "__require": requireHelper, "__toESM": defaultHelper,
	}[id.Name]
	if ok {
		n.Initializer = in.call(helper, id.Idx, n.Initializer)
	}
}

// startAfresh lets a loop over an asynchronous iterator forget what went before. esbuild
// makes it a loop with variables for its state, an error among them, which it neither
// initialises nor keeps apart from those of other loops in the function.
func startAfresh(n *ast.ForStatement) {
	init, ok := n.Initializer.(*ast.ForLoopInitializerVarDeclList)
	if !ok || len(init.List) != 4 {
		return
	}
	call, ok := init.List[0].Initializer.(*ast.CallExpression)
	if !ok {
		return
	}
	if id, ok := call.Callee.(*ast.Identifier); !ok || id.Name != "__forAwait" {
		return
	}
	for _, b := range init.List[1:] {
		if b.Initializer == nil {
			b.Initializer = &ast.UnaryExpression{Operator: token.VOID, Idx: b.Idx0(), Operand: &ast.NumberLiteral{Idx: b.Idx0(), Literal: "0", Value: int64(0)}}
		}
	}
}

// importedLate tells the require of a dynamic import that it is one.
func importedLate(n *ast.CallExpression) {
	if id, ok := n.Callee.(*ast.Identifier); !ok || id.Name != "__toESM" || len(n.ArgumentList) == 0 {
		return
	}
	if inner, ok := n.ArgumentList[0].(*ast.CallExpression); ok {
		if id, ok := inner.Callee.(*ast.Identifier); ok && id.Name == "__require" {
			inner.ArgumentList = append(inner.ArgumentList, &ast.BooleanLiteral{Idx: id.Idx, Value: true})
		}
	}
}

// placed gives a body of a loop that has no expression one that does nothing: goja knows
// the places of expressions only, and could not tell where such a loop was interrupted.
func placed(body ast.Statement, at file.Idx) ast.Statement {
	if !silent(body) {
		return body
	}
	place := &ast.ExpressionStatement{Expression: &ast.Identifier{Name: exportsParameter, Idx: at}}
	return &ast.BlockStatement{LeftBrace: at, List: []ast.Statement{place, body}, RightBrace: at}
}

// silent reports whether a statement consists of no expression.
func silent(s ast.Statement) bool {
	switch s := s.(type) {
	case *ast.EmptyStatement, *ast.BranchStatement:
		return true
	case *ast.BlockStatement:
		return !slices.ContainsFunc(s.List, func(s ast.Statement) bool { return !silent(s) })
	}
	return false
}

func (in *instrumenter) leave(n ast.Node) {
	if _, ok := n.(*ast.ClassLiteral); ok {
		in.renames = in.renames[:len(in.renames)-1]
		return
	}
	in.functions = in.functions[:len(in.functions)-1]
}

// nameConstructor names the constructor of a class in a variable after the variable.
// esbuild declares classes so, and goja would leave the constructor without a name.
func (in *instrumenter) nameConstructor(b *ast.Binding) {
	if class, ok := b.Initializer.(*ast.ClassLiteral); ok {
		if id, ok := b.Target.(*ast.Identifier); ok {
			in.nameClass(class, id)
		}
	}
}

// constructed is in front of a class's name in the name of its constructor, so that a
// stack reads as that of V8.
const constructed = "new "

func nameConstructorOf(class *ast.ClassLiteral, name unistring.String) {
	for _, element := range class.Body {
		m, ok := element.(*ast.MethodDefinition)
		if !ok || m.Static || m.Computed || m.Body.Name != nil {
			continue
		}
		if key, ok := m.Key.(*ast.StringLiteral); ok && key.Value == "constructor" {
			m.Body.Name = &ast.Identifier{Name: constructed + name, Idx: m.Body.Function}
		}
	}
}

// marked wraps e in a call that tells the run where it is.
func (in *instrumenter) marked(helper int, e ast.Expression, at file.Idx) ast.Expression {
	id := int64(len(in.p.marks))
	in.p.marks = append(in.p.marks, mark{offset: int(at) - in.base, top: len(in.functions) == 0})
	return in.call(helper, at, e, &ast.NumberLiteral{Idx: at, Value: id})
}

// call makes a call of a helper.
func (in *instrumenter) call(helper int, at file.Idx, arguments ...ast.Expression) *ast.CallExpression {
	in.p.uses |= 1 << helper
	return &ast.CallExpression{
		Callee:           &ast.Identifier{Name: helpers[helper].name, Idx: at},
		LeftParenthesis:  at,
		ArgumentList:     arguments,
		RightParenthesis: at,
	}
}

// mentionArguments makes the function whose arguments an arrow function uses mention
// them itself. Without that goja reads them from a wrong slot of its stack, or panics.
func (in *instrumenter) mentionArguments() {
	i := len(in.functions) - 1
	if i < 0 || !in.functions[i].arrow {
		return
	}
	for i >= 0 && in.functions[i].arrow {
		i--
	}
	if i < 0 || in.functions[i].body == nil || in.functions[i].fixed {
		return
	}
	f := &in.functions[i]
	f.fixed = true
	mention := &ast.ExpressionStatement{Expression: &ast.Identifier{Name: "arguments", Idx: f.body.LeftBrace}}
	f.body.List = append([]ast.Statement{mention}, f.body.List...)
}

// value makes the script's last expression, or the function that is all there is, its
// value.
func (in *instrumenter) value(body *ast.BlockStatement) shape {
	list := body.List
	exported := len(list) > 0 && calls(list[len(list)-1], exportsParameter)
	if exported {
		list = list[:len(list)-1]
	}
	var own []int // indices of the script's statements
	for i, s := range list {
		if in.owns(s) {
			own = append(own, i)
		}
	}
	if len(own) == 0 {
		return shape{empty: !exported}
	}
	last := in.lastExpression(list, own)
	if last != nil {
		as := valueHelper
		if len(own) == 1 && isFunction(last.Expression) {
			as = startHelper
		}
		if at := last.Expression.Idx0(); as == valueHelper {
			last.Expression = in.marked(as, last.Expression, at)
		} else {
			last.Expression = in.call(as, at, last.Expression)
		}
	}
	if exported {
		return shape{}
	}
	start, idle := in.uncalled(list, own)
	if start != nil {
		in.p.start = string(start.Name)
		body.List = append(list, &ast.ExpressionStatement{
			Expression: in.call(startHelper, start.Idx, &ast.Identifier{Name: start.Name, Idx: start.Idx}),
		})
	}
	return shape{idle: idle, valueless: last == nil && start == nil}
}

// lastExpression is the statement whose value is the script's: the last but for functions.
func (in *instrumenter) lastExpression(list []ast.Statement, own []int) *ast.ExpressionStatement {
	for _, i := range slices.Backward(own) {
		switch s := list[i].(type) {
		case *ast.FunctionDeclaration, *ast.EmptyStatement:
		case *ast.ExpressionStatement:
			return s
		default:
			return nil
		}
	}
	return nil
}

func isFunction(e ast.Expression) bool {
	switch e.(type) {
	case *ast.ArrowFunctionLiteral, *ast.FunctionLiteral:
		return true
	}
	return false
}

// calls reports whether s is a call of the function called name.
func calls(s ast.Statement, name unistring.String) bool {
	if e, ok := s.(*ast.ExpressionStatement); ok {
		if c, ok := e.Expression.(*ast.CallExpression); ok {
			id, ok := c.Callee.(*ast.Identifier)
			return ok && id.Name == name
		}
	}
	return false
}

// uncalled returns the function that a script of nothing but declarations means to run:
// its only statement, or one named main that nothing mentions. The script is idle if it
// has functions, none of them is meant, and nothing else in it runs either.
func (in *instrumenter) uncalled(list []ast.Statement, own []int) (start *ast.Identifier, idle bool) {
	functions := 0
	idle = true
	for _, i := range own {
		d, ok := declarationOf(list[i])
		if !ok {
			return nil, false
		}
		idle = idle && !d.runs
		if d.function == nil {
			continue
		}
		functions++
		if d.function.Name == "main" && in.names["main"] == d.mentions || len(own) == 1 {
			start = d.function
		}
	}
	return start, idle && functions > 0 && start == nil
}

// declaration is a statement that declares.
type declaration struct {
	function *ast.Identifier // the name, if what it declares is a function
	mentions int             // how often the walk meets that name in the declaration itself
	runs     bool            // an initialiser may call something
}

func declarationOf(s ast.Statement) (d declaration, ok bool) {
	var bindings []*ast.Binding
	switch s := s.(type) {
	case *ast.FunctionDeclaration:
		return declaration{function: s.Function.Name}, true
	case *ast.ClassDeclaration, *ast.EmptyStatement:
		return declaration{}, true
	case *ast.VariableStatement:
		bindings = s.List
	case *ast.LexicalDeclaration:
		bindings = s.List
	default:
		return declaration{}, false
	}
	for _, b := range bindings {
		name, _ := b.Target.(*ast.Identifier)
		if isFunction(b.Initializer) {
			d.function, d.mentions = name, 1
			continue
		}
		switch b.Initializer.(type) {
		case nil, *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.ClassLiteral:
		default:
			d.runs = true
		}
	}
	return d, true
}

// owns reports whether a statement of the bundle is the script's, and no helper of
// esbuild and no part of an imported file.
func (in *instrumenter) owns(s ast.Statement) bool {
	if f, ok := s.(*ast.FunctionDeclaration); ok && f.Function.Name.Name == filesFunction {
		return false
	}
	pos := in.p.file.Position(int(s.Idx0()) - in.base)
	return in.p.names[pos.Filename] == in.p.entry
}

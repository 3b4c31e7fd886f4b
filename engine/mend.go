package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// Errors are mended before a script sees them: the stack becomes that of V8, in
// positions of the source and without frames of the engine, and messages of goja about
// the mistakes that everybody makes become those that everybody knows, which name what
// was written. A script sees an error where it catches one, reads a stack or a message,
// or makes a text of it.

// caught is called with what a catch clause caught, and with what is taken apart by a
// pattern that asks for a stack or message.
func (rt *Runtime) caught(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	if c.Argument(1).ToBoolean() {
		rt.mend(v)
	} else {
		rt.mendMessage(v)
	}
	return v
}

// handler is a function that mends what it is given and hands it on.
func (rt *Runtime) handler(c goja.FunctionCall) goja.Value {
	fn, ok := goja.AssertFunction(c.Argument(0))
	if !ok {
		return c.Argument(0)
	}
	return rt.Function("", func(c goja.FunctionCall) goja.Value {
		rt.mendMessage(c.Argument(0))
		v, err := fn(c.This, c.Arguments...)
		must(err)
		return v
	})
}

// mendMessage mends v if its message may be one of goja's. To do more takes time.
func (rt *Runtime) mendMessage(v goja.Value) {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Error" {
		return
	}
	message := text(o.Get("message"))
	for _, start := range mendable {
		if strings.HasPrefix(message, start) {
			rt.mend(v)
			return
		}
	}
	if _, ok := fixedMessages[message]; ok || message == "" {
		rt.mend(v)
	}
}

// mendable are the beginnings of the messages that betterMessage knows.
var mendable = []string{
	"Cannot read property '", "Object has no member '", "Value is not ", "Cannot assign to read only property '",
	"Cannot convert undefined or null to object", "object is not iterable", "Cannot access a variable", "Class constructor cannot",
	"Expecting a function", "Could not convert ", "prototype is not an object", "Invalid index ", "Invalid count", "Index ", "Byte length of ",
	"Start offset of ", "Method Date.", "Cannot convert ", "Cannot delete property", "[object Object] is not", "to", "Class extends", "Illegal generator",
	"Receiver is not an object: ", "Cannot write private member ", "SyntaxError: <eval>: Line ", "Proxy already", "Promise self-", "Constructor ", "exponent must", "The normalization", "Method ", "Dynamic object is not callable",
}

// mend mends v if it is an error as goja made it.
func (rt *Runtime) mend(v goja.Value) {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Error" || rt.program == nil {
		return
	}
	raw := ""
	if ex := rt.vm.Try(func() { raw = text(o.Get("stack")) }); ex != nil {
		return // a getter of the script's
	}
	if !strings.HasSuffix(raw, "\n") {
		return // goja ends each line; the script has written it, or we have
	}
	head, frames := splitStack(raw)
	if better := rt.betterMessage(o, frames); better != "" {
		if before := text(o.Get("message")); strings.HasSuffix(head, before) {
			head = head[:len(head)-len(before)]
			if before == "" && better != "" {
				head += ": "
			}
			head += better
		}
		define(o, "message", rt.vm.ToValue(better))
	}
	limit := stackLimit
	if v := rt.intrinsics.newErrorObject.Get("stackTraceLimit"); v != nil && goja.IsNumber(v) {
		limit = int(min(max(v.ToInteger(), 0), stackLimitMax))
	}
	list := rt.program.parseStack(frames, limit+constructorDepth)
	_ = rt.vm.Try(func() { list = outside(o, list) }) // a getter of the script's may throw
	list = list[:min(limit, len(list))]
	define(o, "stack", rt.stackValue(o, head, list))
}

// constructorDepth is how many classes of errors may extend one another before the stacks
// of their errors get shorter.
const constructorDepth = 8

// splitStack splits a stack as goja writes it into what it says and the frames.
func splitStack(raw string) (head, frames string) {
	const frame = "\n\tat "
	if i := strings.Index(raw, frame); i >= 0 {
		return raw[:i], raw[i+1:]
	}
	return strings.TrimSuffix(raw, "\n"), ""
}

// stackText writes a stack as V8 does.
func (p *Program) stackText(head string, frames []stackFrame) string {
	var b strings.Builder
	b.WriteString(head)
	for _, f := range frames {
		at := p.at(f.at)
		if at == nil {
			continue
		}
		place := fmt.Sprintf("%s:%d:%d", at.File, at.Line, at.Column)
		if name := p.functionName(f.function); name != "" {
			place = name + " (" + place + ")"
		}
		b.WriteString("\n    at " + place)
	}
	return b.String()
}

// native is the first frame of a stack if it is of a function of goja's own, and empty
// otherwise. Helpers of the engine have no name.
func native(frames string) string {
	line, _, _ := strings.Cut(frames, "\n")
	name, ok := strings.CutSuffix(strings.TrimPrefix(line, "\tat "), " (native)")
	if !ok {
		return ""
	}
	return name
}

// betterMessage is what V8 would say, or empty if that is not known or no better.
func (rt *Runtime) betterMessage(o *goja.Object, frames string) string {
	message := text(o.Get("message"))
	if fixed, ok := fixedMessages[message]; ok {
		return fixed
	}
	m := mender{rt: rt, name: text(o.Get("name")), message: message, native: native(frames)}
	if !slices.Contains([]string{"TypeError", "ReferenceError", "SyntaxError", "RangeError"}, m.name) {
		return ""
	}
	if list := rt.program.parseStack(frames, 1); len(list) > 0 {
		m.sites = rt.program.sites.at(rt.program, list[0].at)
	}
	return m.better()
}

// fixedMessages are those that need no more than other words.
var fixedMessages = map[string]string{
	"No initial value":                    "Reduce of empty array with no initial value",
	"Malformed URI":                       "URI malformed",
	"RegExp doesn't have global flag set": "String.prototype.matchAll called with a non-global RegExp argument",
	"Object with toJSON is not callable":  "toJSON is not a function",
	"Illegal generator state":             "Generator is already running",
	"Promise self-resolution":             "Chaining cycle detected for promise #<Promise>",
	"Constructor Promise requires 'new'":  "Promise constructor cannot be invoked without 'new'",
	"exponent must be positive":           "Exponent must be non-negative",
	"prototype is not an object":          "Function has non-object prototype 'undefined' in instanceof check",
	"[object Object] is not extensible":   "#<Object> is not extensible",
	"Source is too large":                 "offset is out of bounds",
	"Cannot read from private field":      "Cannot read private member from an object whose class did not declare it",
	"Cannot write to private field":       "Cannot write private member to an object whose class did not declare it",

	"toFixed() precision must be between 0 and 100":                                          "toFixed() digits argument must be between 0 and 100",
	"toPrecision() precision must be between 1 and 100":                                      "toPrecision() argument must be between 1 and 100",
	"toExponential() precision must be between 0 and 100":                                    "toExponential() argument must be between 0 and 100",
	"The normalization form should be one of NFC, NFD, NFKC, NFKD":                           "The normalization form should be one of NFC, NFD, NFKC, NFKD.",
	"Must call super constructor in derived class before accessing 'this'":                   superFirst,
	"Class extends value is not a constructor or null":                                       "Class extends value undefined is not a constructor or null",
	"Must call super constructor in derived class before returning from derived constructor": superFirst,
}

const superFirst = "Must call super constructor in derived class before accessing 'this' or returning from derived constructor"

// mender finds the message for one error.
type mender struct {
	rt      *Runtime
	name    string
	message string
	native  string     // the function of goja that threw
	sites   []ast.Node // what stands where the script was
}

// one returns the last node at the place for which match is true: the outermost begins
// first.
func one[T ast.Node](m *mender, match func(T) bool) (n T, ok bool) {
	for _, s := range slices.Backward(m.sites) {
		if t, is := s.(T); is && (match == nil || match(t)) {
			return t, true
		}
	}
	return n, false
}

func (m *mender) better() string {
	quoted := func(prefix, suffix string) (string, bool) {
		rest, ok := strings.CutPrefix(m.message, prefix)
		if !ok {
			return "", false
		}
		return strings.CutSuffix(rest, suffix)
	}
	if name, ok := quoted("Cannot read property '", "' of undefined"); ok {
		return m.read(name)
	}
	if name, ok := quoted("Cannot read property '", "' of undefined or null"); ok {
		return m.read(name)
	}
	if name, ok := quoted("Object has no member '", "'"); ok {
		return m.noMember(name)
	}
	if value, ok := strings.CutPrefix(m.message, "Value is not an object: "); ok {
		return m.noObject(value)
	}
	if name, ok := quoted("Cannot assign to read only property '", "'"); ok {
		return m.readOnly(name)
	}
	switch m.message {
	case "Value is not a constructor":
		return m.noConstructor()
	case "Dynamic object is not callable": // one of a module, such as a namespace of tools
		if call, ok := one[*ast.CallExpression](m, nil); ok {
			return calleeText(call.Callee) + " is not a function"
		}
	case "Value is not object coercible":
		return m.noPattern()
	case "Cannot convert undefined or null to object":
		return m.nothing()
	case "object is not iterable":
		return m.notIterable()
	case "":
		if _, ok := one[*ast.AssignExpression](m, nil); ok {
			return m.readOnly("")
		}
	case "Cannot access a variable before initialization":
		if id, ok := one[*ast.Identifier](m, nil); ok {
			return "Cannot access '" + string(id.Name) + "' before initialization"
		}
	case "Class constructor cannot be invoked without 'new'":
		if call, ok := one[*ast.CallExpression](m, nil); ok {
			return "Class constructor " + calleeText(call.Callee) + " cannot be invoked without 'new'"
		}
	}
	switch {
	case strings.HasPrefix(m.message, "Expecting a function in instanceof check"):
		return "Right-hand side of 'instanceof' is not callable"
	case strings.HasPrefix(m.message, "Could not convert "):
		return "Cannot convert object to primitive value"
	}
	return m.reworded()
}

// reworded is about what needs other words and no more than the message itself and the
// arguments of the call.
func (m *mender) reworded() string {
	message := m.message
	middle := func(prefix, suffix string) (string, bool) {
		rest, ok := strings.CutPrefix(message, prefix)
		if !ok {
			return "", false
		}
		return strings.CutSuffix(rest, suffix)
	}
	if n, ok := middle("Cannot convert ", " to a BigInt"); ok && m.name == "RangeError" {
		return "The number " + n + " cannot be converted to a BigInt because it is not an integer"
	}
	if member, ok := middle("Cannot write private member ", " from an object whose class did not declare it"); ok {
		return "Cannot write private member " + member + " to an object whose class did not declare it"
	}
	if value, ok := middle("Value is not callable: ", ""); ok {
		return strings.Replace(value, "[object Object]", "#<Object>", 1) + " is not a function"
	}
	if value, ok := middle("Receiver is not an object: ", ""); ok {
		return m.noProperty(value)
	}
	if what, ok := middle("SyntaxError: <eval>: Line ", ""); ok {
		_, what, _ = strings.Cut(what, " ")
		what, _, _ = strings.Cut(what, " (and ")
		if token, ok := strings.CutPrefix(what, "Unexpected token "); ok {
			return "Unexpected token '" + token + "'"
		}
		return what
	}
	if _, ok := middle("Method Date.prototype.", " is called on incompatible receiver"); ok {
		return "this is not a Date object."
	}
	if what, ok := middle("Method ", " called on incompatible receiver [object Object]"); ok {
		return "Method " + what + " called on incompatible receiver #<Object>"
	}
	if what, ok := middle("Cannot delete property '", " of [object Object]"); ok {
		return "Cannot delete property '" + what + " of #<Object>"
	}
	if n, ok := middle("Invalid index ", ""); ok {
		if m.native == "with" {
			return "Invalid index : " + n
		}
		return "Invalid typed array length: " + n
	}
	if _, ok := middle("Index ", " is out of bounds"); ok {
		return "Offset is outside the bounds of the DataView"
	}
	switch {
	case strings.HasPrefix(message, "Byte length of "), strings.HasPrefix(message, "Start offset of "):
		return strings.ToLower(message[:1]) + message[1:]
	case message == "Invalid count value":
		if call, ok := one[*ast.CallExpression](m, nil); ok && len(call.ArgumentList) > 0 {
			n := strings.Trim(expressionText(call.ArgumentList[0]), "()")
			if n == "Infinity" || n != "" && strings.Trim(n, "-.0123456789") == "" {
				return message + ": " + n
			}
		}
	case message == "Value is not a number":
		if name := m.method(); name != "" {
			return "Number.prototype." + name + " requires that 'this' be a Number"
		}
	case message == "Proxy already revoked":
		return "Cannot perform '" + m.trap() + "' on a proxy that has been revoked"
	}
	return ""
}

// method is the function of goja that was called, also by call or apply.
func (m *mender) method() string {
	if m.native != "call" && m.native != "apply" {
		return m.native
	}
	if call, ok := one[*ast.CallExpression](m, nil); ok {
		if by, ok := call.Callee.(*ast.DotExpression); ok {
			if of, ok := by.Left.(*ast.DotExpression); ok {
				return string(of.Identifier.Name)
			}
		}
	}
	return ""
}

// trap is what the script does to an object where it is.
func (m *mender) trap() string {
	if a, ok := one[*ast.AssignExpression](m, nil); ok && !isPattern(a.Left) {
		return "set"
	}
	if _, ok := one[*ast.CallExpression](m, nil); ok {
		return "apply"
	}
	if _, ok := one[*ast.NewExpression](m, nil); ok {
		return "construct"
	}
	if _, ok := one(m, func(n *ast.BinaryExpression) bool { return n.Operator == token.IN }); ok {
		return "has"
	}
	return "get"
}

// givesNull are methods that return null for nothing.
const givesNull = " match exec querySelector getElementById getAttribute getItem "

// read is about a property of undefined or null. goja does not say which it was.
func (m *mender) read(name string) string {
	value := "undefined"
	var of ast.Expression
	if dot, ok := one(m, func(n *ast.DotExpression) bool { return string(n.Identifier.Name) == name }); ok {
		of = dot.Left
	} else if bracket, ok := one[*ast.BracketExpression](m, nil); ok {
		of = bracket.Left
	}
	switch of := of.(type) {
	case *ast.NullLiteral:
		value = "null"
	case *ast.CallExpression:
		if method, ok := of.Callee.(*ast.DotExpression); ok && strings.Contains(givesNull, " "+string(method.Identifier.Name)+" ") {
			value = "null"
		}
	}
	if name == "Symbol.iterator" || name == "Symbol(Symbol.iterator)" {
		return value + " is not iterable (cannot read property Symbol(Symbol.iterator))"
	}
	if strings.HasPrefix(name, "Symbol.") {
		name = "Symbol(" + name + ")"
	}
	return fmt.Sprintf("Cannot read properties of %s (reading '%s')", value, name)
}

func (m *mender) noMember(name string) string {
	if name == "Symbol.iterator" {
		return "object is not iterable"
	}
	call, ok := one(m, func(n *ast.CallExpression) bool {
		dot, ok := n.Callee.(*ast.DotExpression)
		return ok && string(dot.Identifier.Name) == name
	})
	if !ok {
		call, ok = one[*ast.CallExpression](m, nil)
	}
	if ok {
		return calleeText(call.Callee) + " is not a function"
	}
	return name + " is not a function"
}

func (m *mender) noObject(value string) string {
	if m.native != "" {
		switch m.native {
		case "map", "forEach", "filter", "find", "findIndex", "findLast", "findLastIndex", "some", "every", "reduce", "reduceRight",
			"flatMap", "sort", "then", "call", "apply", "replace", "replaceAll", "from":
			return value + " is not a function"
		case "fromEntries":
			return "Iterator value " + value + " is not an entry object"
		case "ownKeys", "has", "get", "set", "defineProperty", "deleteProperty", "getPrototypeOf", "setPrototypeOf", "getOwnPropertyDescriptor", "isExtensible", "preventExtensions":
			return "Reflect." + m.native + " called on non-object"
		case "construct":
			return value + " is not a constructor"
		}
		return ""
	}
	if b, ok := one(m, func(n *ast.BinaryExpression) bool { return n.Operator == token.INSTANCEOF || n.Operator == token.IN }); ok {
		if b.Operator == token.IN {
			key := strings.Trim(expressionText(b.Left), `"`)
			return fmt.Sprintf("Cannot use 'in' operator to search for '%s' in %s", key, value)
		}
		return "Right-hand side of 'instanceof' is not an object"
	}
	if call, ok := one[*ast.CallExpression](m, nil); ok {
		return calleeText(call.Callee) + " is not a function"
	}
	if n, ok := one[*ast.NewExpression](m, nil); ok {
		switch name := calleeText(n.Callee); name {
		case "Promise":
			return "Promise resolver " + value + " is not a function"
		case "Map", "WeakMap":
			return "Iterator value " + value + " is not an entry object"
		default:
			return name + " is not a constructor"
		}
	}
	if _, ok := one[*ast.ForOfStatement](m, nil); ok {
		return "Result of the Symbol.iterator method is not an object"
	}
	return ""
}

func (m *mender) noConstructor() string {
	if n, ok := one[*ast.NewExpression](m, nil); ok {
		return calleeText(n.Callee) + " is not a constructor"
	}
	return ""
}

// readOnly is about a property that cannot be assigned.
func (m *mender) readOnly(name string) string {
	if class, ok := m.rt.program.sites.getters[name]; ok && class != "" {
		return fmt.Sprintf("Cannot set property %s of #<%s> which has only a getter", name, class)
	}
	of := "#<Object>"
	if a, ok := one[*ast.AssignExpression](m, nil); ok && name == "" {
		switch left := a.Left.(type) {
		case *ast.BracketExpression:
			name = strings.Trim(expressionText(left.Member), `"`)
			of = "[object Array]"
		case *ast.DotExpression:
			name = string(left.Identifier.Name)
		}
	}
	if name != "" && strings.Trim(name, "0123456789") == "" {
		of = "[object Array]"
	}
	return fmt.Sprintf("Cannot assign to read only property '%s' of object '%s'", name, of)
}

// noProperty is about a property that is given to a value which can have none.
func (m *mender) noProperty(value string) string {
	a, ok := one(m, func(n *ast.AssignExpression) bool { return !isPattern(n.Left) })
	if !ok {
		return ""
	}
	kind := "string"
	switch {
	case value == "true" || value == "false":
		kind = "boolean"
	case value != "" && strings.Trim(value, "-0123456789.e+") == "":
		kind = "number"
	}
	return fmt.Sprintf("Cannot create property '%s' on %s '%s'", memberText(a.Left), kind, value)
}

// memberText is which member of something an expression is, empty if it is none.
func memberText(e ast.Expression) string {
	switch e := e.(type) {
	case *ast.DotExpression:
		return string(e.Identifier.Name)
	case *ast.BracketExpression:
		return strings.Trim(expressionText(e.Member), `"`)
	}
	return ""
}

// noPattern is about undefined or null taken apart by the pattern of an object.
func (m *mender) noPattern() string {
	if m.native == "fromEntries" {
		return "undefined is not iterable"
	}
	if m.native != "" {
		return "String.prototype." + m.native + " called on null or undefined"
	}
	var pattern *ast.ObjectPattern
	var from ast.Expression
	for _, n := range m.sites {
		switch n := n.(type) {
		case *ast.Binding:
			if p, ok := n.Target.(*ast.ObjectPattern); ok {
				pattern, from = p, n.Initializer
			}
		case *ast.AssignExpression:
			if p, ok := n.Left.(*ast.ObjectPattern); ok {
				pattern, from = p, n.Right
			}
		case *ast.ForOfStatement:
			if d, ok := n.Into.(*ast.ForDeclaration); ok {
				pattern, _ = d.Target.(*ast.ObjectPattern)
			}
		case *ast.FunctionLiteral:
			pattern = parameterPattern(n.ParameterList)
		case *ast.ArrowFunctionLiteral:
			pattern = parameterPattern(n.ParameterList)
		}
	}
	source, value := "undefined", "undefined"
	if from != nil {
		source = expressionText(from)
		if _, ok := from.(*ast.NullLiteral); ok {
			value = "null"
		}
	}
	if pattern != nil && len(pattern.Properties) > 0 {
		key := ""
		switch p := pattern.Properties[0].(type) {
		case *ast.PropertyShort:
			key = string(p.Name.Name)
		case *ast.PropertyKeyed:
			key = strings.Trim(expressionText(p.Key), `"`)
		}
		return fmt.Sprintf("Cannot destructure property '%s' of '%s' as it is %s.", key, source, value)
	}
	return fmt.Sprintf("Cannot destructure '%s' as it is %s.", source, value)
}

// parameterPattern is the first parameter that is the pattern of an object.
func parameterPattern(list *ast.ParameterList) *ast.ObjectPattern {
	for _, b := range list.List {
		if p, ok := b.Target.(*ast.ObjectPattern); ok {
			return p
		}
	}
	return nil
}

// nothing is about undefined or null where an object is needed.
func (m *mender) nothing() string {
	if m.native != "" {
		return ""
	}
	if a, ok := one(m, func(n *ast.AssignExpression) bool { return !isPattern(n.Left) }); ok {
		if name := memberText(a.Left); name != "" {
			return fmt.Sprintf("Cannot set properties of undefined (setting '%s')", name)
		}
	}
	return m.notIterable()
}

func (m *mender) notIterable() string {
	for _, n := range slices.Backward(m.sites) {
		var e ast.Expression
		switch n := n.(type) {
		case *ast.ForOfStatement:
			e = n.Source
		case *ast.SpreadElement:
			e = n.Expression
		case *ast.Binding:
			if _, ok := n.Target.(*ast.ArrayPattern); ok {
				if e = n.Initializer; e == nil {
					return "undefined is not iterable"
				}
			}
		case *ast.AssignExpression:
			if _, ok := n.Left.(*ast.ArrayPattern); ok {
				e = n.Right
			}
		case *ast.ArrayLiteral:
			for _, v := range n.Value {
				if s, ok := v.(*ast.SpreadElement); ok && e == nil {
					e = s.Expression
				}
			}
		case *ast.NewExpression:
			if len(n.ArgumentList) > 0 {
				e = n.ArgumentList[0]
			}
		}
		if e != nil {
			return expressionText(e) + " is not iterable"
		}
	}
	return ""
}

// member reads the stack or the message of a value, which may be nothing if the third
// argument says so.
func (rt *Runtime) member(c goja.FunctionCall) goja.Value {
	v, name := c.Argument(0), c.Argument(1).String()
	if goja.IsUndefined(v) || goja.IsNull(v) {
		if c.Argument(2).ToBoolean() {
			return nil
		}
		panic(rt.vm.NewTypeError("Cannot read properties of %s (reading '%s')", v, name))
	}
	if name == "stack" {
		rt.mend(v)
	} else {
		rt.mendMessage(v)
	}
	return v.ToObject(rt.vm).Get(name)
}

// installMending mends errors that become texts.
func (rt *Runtime) installMending() {
	prototype := rt.intrinsics.newErrorObject.Get("prototype").(*goja.Object)
	plain, _ := goja.AssertFunction(prototype.Get("toString"))
	define(prototype, "toString", rt.Function("toString", func(c goja.FunctionCall) goja.Value {
		rt.mendMessage(c.This)
		v, err := plain(c.This)
		must(err)
		return v
	}))
}

// Package inspect writes JavaScript values as text for people, the way Node 20's
// util.inspect and util.format do, in Go over goja's public interface.
//
// It is what console and node:util have in common. It writes nothing anywhere and
// knows no streams.
//
// Script code runs while a value is looked at (custom inspect functions, a
// Symbol.toStringTag getter, the name of an error). What such code throws is thrown
// on, as Node does; nothing a script can build makes this package panic with
// anything but a JavaScript exception, recurse without end or write without end.
//
// Where it differs from Node: map and set iterators are shown without their entries,
// because looking would advance them; async generators compiled from TypeScript are
// plain functions; and named properties of arrays beyond 65,536 elements are not
// looked for.
package inspect

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// Unlimited, as a depth, length or width, stands for Infinity.
const Unlimited = math.MaxInt32

// Values of Options.Compact besides a number of levels.
const (
	CompactAlways = -1 // compact: true
	CompactNever  = 0  // compact: false
)

// Options are those of Node's util.inspect. Default has Node's defaults.
type Options struct {
	ShowHidden       bool
	Depth            int // levels below the value that are shown; Unlimited for all, -1 for none at all
	Colors           bool
	CustomInspect    bool
	ShowProxy        bool
	MaxArrayLength   int
	MaxStringLength  int
	BreakLength      int
	Compact          int
	Sorted           bool
	Compare          func(a, b string) int // order if Sorted; nil compares UTF-8 text
	Getters          string                // "": not read, "all", "get": only those without setter, "set": only those with one
	NumericSeparator bool

	stylize goja.Callable // a script's own, given as option
	user    *goja.Object  // what the script gave as options, passed on to custom inspect functions
}

// Default returns the options that apply when a script gives none.
func Default() Options {
	return Options{
		Depth:           2,
		CustomInspect:   true,
		MaxArrayLength:  100,
		MaxStringLength: 10000,
		BreakLength:     80,
		Compact:         3,
	}
}

// Inspector writes the values of one runtime. It belongs to the goroutine of that
// runtime. All methods panic with a JavaScript exception if script code throws.
type Inspector struct {
	vm       *goja.Runtime
	own      *intrinsics
	function *goja.Object
	defaults *goja.Object // util.inspect.defaultOptions, once a script asked for it
}

// Inspect writes one value, without a final newline.
func (in *Inspector) Inspect(v goja.Value, o Options) string {
	p := &printer{Inspector: in, Options: o}
	return p.value(v, 0, false)
}

// Class says what an object is by its internal slots, whatever its prototype says:
// "Map", "Array", "Function", …, "TypedArray" for any of those, "Proxy", and "Object"
// for everything else.
func (in *Inspector) Class(o *goja.Object) string {
	if _, ok := asProxy(o); ok {
		return "Proxy"
	}
	return string(in.own.kindOf(o))
}

// Received ends the message of an error about an argument of the wrong type, as Node
// words it.
func (in *Inspector) Received(v goja.Value) string {
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return "Received " + in.Inspect(v, Default())
	}
	o, ok := v.(*goja.Object)
	if !ok {
		const most = 25 // of a long string; no more is needed to recognise it
		if text, ok := v.(goja.String); ok && text.Length() > most+3 {
			v = text.Substring(0, most).Concat(in.vm.ToValue("...").(goja.String))
		}
		s := in.Inspect(v, Default())
		return "Received type " + typeOf(v) + " (" + s + ")"
	}
	if _, ok := goja.AssertFunction(o); ok {
		return strings.TrimSuffix("Received function "+text(in.own.str, goja.Undefined(), o.Get("name")), " ")
	}
	if constructor, ok := o.Get("constructor").(*goja.Object); ok {
		if name, ok := constructor.Get("name").(goja.String); ok && name.Length() > 0 {
			return "Received an instance of " + name.String()
		}
	}
	flat := Default()
	flat.Depth = -1
	return "Received " + in.Inspect(o, flat)
}

// typeOf is the operator typeof for a value that is no object.
func typeOf(v goja.Value) string {
	switch v.(type) {
	case goja.String:
		return "string"
	case *goja.Symbol:
		return "symbol"
	}
	switch {
	case goja.IsNumber(v):
		return "number"
	case goja.IsBigInt(v):
		return "bigint"
	}
	return "boolean"
}

// must passes on an exception that a call into the runtime returned as an error.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

const (
	// maxNesting bounds how deep values are followed whatever Depth says. Node's bound is
	// its stack. The work grows with the third power of it, because each level copies
	// what is below, indented.
	maxNesting = 500
	// maxOutput is how much one level may grow to before the rest is shown shallow.
	maxOutput = 1 << 26
	// pollEvery is after how many values an interrupt of the runtime is looked for.
	pollEvery = 1024
)

// printer is the state of one Inspect.
type printer struct {
	*Inspector
	Options

	indent   int // columns that the current value is indented by
	deepest  int // depth of the innermost object written last
	nesting  int
	visited  int
	seen     []*goja.Object // the objects around the current one
	circular map[*goja.Object]int
	written  map[int]int // text produced, by indentation
}

// value writes v at a depth. inView says that v is the buffer of a typed array whose
// contents have been shown already.
func (p *printer) value(v goja.Value, depth int, inView bool) string {
	o, ok := v.(*goja.Object)
	if !ok {
		return p.primitive(v, p.style)
	}
	p.nesting++
	defer func() { p.nesting-- }()
	if p.nesting > maxNesting+1 { // only custom functions that return one another get here
		panic(p.own.rangeError("Maximum call stack size exceeded"))
	}
	if p.visited++; p.visited%pollEvery == 0 {
		p.own.poll()
	}

	target := o
	if proxy, ok := asProxy(o); ok {
		if proxy.Target() == nil {
			return p.style("<Revoked Proxy>", "special")
		}
		if p.ShowProxy {
			return p.proxy(proxy, depth)
		}
		for ok {
			if target = proxy.Target(); target == nil {
				return p.style("<Revoked Proxy>", "special")
			}
			proxy, ok = asProxy(target)
		}
	}

	if p.CustomInspect {
		if text, ok := p.custom(o, target, depth); ok {
			return text
		}
	}
	if slices.Contains(p.seen, target) {
		return p.style("[Circular *"+itoa(p.reference(target))+"]", "special")
	}
	return p.object(target, depth, inView)
}

// reference numbers an object that contains itself.
func (p *printer) reference(o *goja.Object) int {
	if n, ok := p.circular[o]; ok {
		return n
	}
	if p.circular == nil {
		p.circular = map[*goja.Object]int{}
	}
	p.circular[o] = len(p.circular) + 1
	return len(p.circular)
}

// custom lets target's own inspect function write o, if it has one.
func (p *printer) custom(o, target *goja.Object, depth int) (string, bool) {
	method := target.GetSymbol(p.own.custom)
	fn, ok := goja.AssertFunction(method)
	if !ok || method == goja.Value(p.function) {
		return "", false
	}
	if ctor, ok := target.Get("constructor").(*goja.Object); ok && ctor.Get("prototype") == goja.Value(target) {
		return "", false // a prototype: its function is for its instances
	}
	var left goja.Value
	switch {
	case p.Depth >= Unlimited:
		left = p.vm.ToValue(math.Inf(1))
	default:
		left = p.vm.ToValue(p.Depth - depth)
	}
	result, err := fn(o, left, p.optionsObject(), p.function)
	must(err)
	if result == goja.Value(o) {
		return "", false
	}
	if text, ok := result.(goja.String); ok {
		return indentLines(text.String(), p.indent), true
	}
	return p.value(result, depth, false), true
}

// behind is implemented by a handler that stands in front of the script's own.
type behind interface{ Handler() *goja.Object }

func handlerOf(proxy goja.Proxy) *goja.Object {
	o := proxy.Handler()
	if o != nil && o.ExportType().Implements(reflect.TypeFor[behind]()) {
		return o.Export().(behind).Handler()
	}
	return o
}

func (p *printer) proxy(proxy goja.Proxy, depth int) string {
	if depth > p.Depth {
		return p.style("Proxy [Array]", "special")
	}
	depth++
	p.indent += 2
	entries := []string{
		p.value(proxy.Target(), depth, false),
		p.value(orNull(handlerOf(proxy)), depth, false),
	}
	p.indent -= 2
	return p.join(entries, "", "Proxy [", "]", extrasOfArray, depth, nil)
}

func orNull(o *goja.Object) goja.Value {
	if o == nil {
		return goja.Null()
	}
	return o
}

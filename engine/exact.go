package engine

import (
	"reflect"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"mcpx/engine/internal/elementary"
)

// mathWords are the functions of Math that goja computes less exactly than other engines.
const mathWords = "sin cos tan asin acos atan atan2 sinh cosh tanh exp log10 log2 cbrt pow"

// installMath replaces them.
func (rt *Runtime) installMath() {
	math := rt.vm.GlobalObject().Get("Math").(*goja.Object)
	of := func(name string, f func(float64) float64) {
		rt.replaceMath(math, name, 1, func(c goja.FunctionCall) goja.Value { return rt.vm.ToValue(f(c.Argument(0).ToFloat())) })
	}
	for name, f := range map[string]func(float64) float64{
		"sin": elementary.Sin, "cos": elementary.Cos, "tan": elementary.Tan,
		"asin": elementary.Asin, "acos": elementary.Acos, "atan": elementary.Atan,
		"sinh": elementary.Sinh, "cosh": elementary.Cosh, "tanh": elementary.Tanh,
		"exp": elementary.Exp, "log10": elementary.Log10, "log2": elementary.Log2, "cbrt": elementary.Cbrt,
	} {
		of(name, f)
	}
	for name, f := range map[string]func(x, y float64) float64{"atan2": elementary.Atan2, "pow": elementary.Pow} {
		rt.replaceMath(math, name, 2, func(c goja.FunctionCall) goja.Value {
			x := c.Argument(0).ToFloat()
			return rt.vm.ToValue(f(x, c.Argument(1).ToFloat()))
		})
	}
}

func (rt *Runtime) replaceMath(math *goja.Object, name string, length int, fn func(goja.FunctionCall) goja.Value) {
	f := rt.Function(name, fn)
	must(f.DefineDataProperty("length", rt.vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	define(math, name, f)
}

var powerProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("mcpx:power", "(function (a, b) { return a ** b })", true)
})

// power is a ** b.
func (rt *Runtime) power(c goja.FunctionCall) goja.Value {
	a, b := c.Argument(0), c.Argument(1)
	if isNumber(a) && isNumber(b) {
		return rt.vm.ToValue(elementary.Pow(a.ToFloat(), b.ToFloat()))
	}
	plain, err := rt.vm.RunProgram(powerProgram())
	must(err)
	fn, _ := goja.AssertFunction(plain)
	v, err := fn(goja.Undefined(), a, b)
	must(err)
	return v
}

func isNumber(v goja.Value) bool {
	switch v.(type) {
	case *goja.Object, *goja.Symbol, goja.String:
		return false
	}
	t := v.ExportType()
	return t != nil && (t.Kind() == reflect.Int64 || t.Kind() == reflect.Float64)
}

// exponent makes a power one of the helper, which is exact.
func (in *instrumenter) exponent(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.BinaryExpression:
		if e.Operator == token.EXPONENT {
			return in.call(powerHelper, e.Idx0(), e.Left, e.Right)
		}
	case *ast.AssignExpression:
		if e.Operator == token.EXPONENT && repeatable(e.Left) {
			e.Operator, e.Right = token.ASSIGN, in.call(powerHelper, e.Left.Idx0(), e.Left, e.Right)
		}
	}
	return e
}

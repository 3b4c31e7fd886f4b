package engine

import (
	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// Instances gives a class a way of its own to tell its instances, which its heirs have
// too. A class that a proxy stands for needs one, because goja does not look for the
// prototype through a proxy: instanceof would throw.
func (rt *Runtime) Instances(class *goja.Object) {
	test := rt.Function("[Symbol.hasInstance]", func(c goja.FunctionCall) goja.Value {
		this, _ := c.This.(*goja.Object)
		return rt.vm.ToValue(this != nil && rt.inherits(c.Argument(0), this))
	})
	must(class.DefineDataPropertySymbol(goja.SymHasInstance, test, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// inherits reports whether v has the prototype of a class, as instanceof does.
func (rt *Runtime) inherits(v goja.Value, class *goja.Object) bool {
	o, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	prototype, ok := class.Get("prototype").(*goja.Object)
	if !ok {
		panic(rt.vm.NewTypeError("Function has non-object prototype in instanceof check"))
	}
	for p := o.Prototype(); p != nil; p = p.Prototype() {
		if p == prototype {
			return true
		}
	}
	return false
}

// testInstances lets instanceof see through proxies, in a script that makes some.
func (in *instrumenter) testInstances() {
	if in.names["Proxy"] == 0 {
		return
	}
	for _, e := range in.instances {
		e.Right = in.call(classHelper, offsetOf(e.Right), e.Right)
	}
}

// instanceTest notes a test of that kind.
func (in *instrumenter) instanceTest(e *ast.BinaryExpression) {
	if e.Operator == token.INSTANCEOF {
		in.instances = append(in.instances, e)
	}
}

// instanceClass is what may stand on the right of instanceof in the place of a value: goja
// throws where that is a proxy of a function.
func (rt *Runtime) instanceClass(c goja.FunctionCall) goja.Value {
	class, ok := c.Argument(0).(*goja.Object)
	if !ok {
		return c.Argument(0)
	}
	if _, isProxy := class.Export().(goja.Proxy); !isProxy {
		return class
	}
	own := class.GetSymbol(goja.SymHasInstance)
	if _, callable := goja.AssertFunction(class); !callable || own == nil || own != rt.intrinsics.newErrorObject.Prototype().GetSymbol(goja.SymHasInstance) {
		return class
	}
	standIn := rt.vm.NewObject()
	must(standIn.DefineDataPropertySymbol(goja.SymHasInstance, rt.Function("", func(c goja.FunctionCall) goja.Value {
		return rt.vm.ToValue(rt.inherits(c.Argument(0), class))
	}), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE))
	return standIn
}

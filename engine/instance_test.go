package engine

import (
	"testing"

	"github.com/dop251/goja"
)

func TestInstancesOfAClassBehindAProxy(t *testing.T) {
	t.Parallel()
	rt := New(Options{})
	class, err := rt.vm.RunString(`(class Shape {})`)
	if err != nil {
		t.Fatal(err)
	}
	rt.Instances(class.(*goja.Object))
	must(rt.vm.Set("Shape", rt.vm.NewProxy(class.(*goja.Object), &goja.ProxyTrapConfig{})))
	for code, want := range map[string]bool{
		"new Shape() instanceof Shape":                                  true,
		"new (class Circle extends Shape {})() instanceof Shape":        true,
		"class Square extends Shape {}; new Square() instanceof Square": true,
		"class Line extends Shape {}; new Shape() instanceof Line":      false,
		"({}) instanceof Shape":                                         false,
		"1 instanceof Shape || null instanceof Shape":                   false,
		"/x/ instanceof RegExp && !('x' instanceof RegExp)":             true,
		"class Own extends RegExp {}; new Own('x') instanceof Own":      true,
	} {
		v, err := rt.vm.RunString("{ " + code + " }")
		if err != nil || v.ToBoolean() != want {
			t.Errorf("%s = %v, %v, want %v", code, v, err, want)
		}
	}
}

package native

import (
	"github.com/dop251/goja"

	"mcpx/stdlib/internal/inspect"
)

// Class is a class under construction. Its instances keep what Go needs in a Slot.
type Class struct {
	Name        string
	Constructor *goja.Object
	Prototype   *goja.Object

	vm         *goja.Runtime
	enumerable goja.Flag
	callable   bool
}

// NewClass makes a class. construct fills call.This, whose prototype is right for
// subclasses too, or returns another object. A call without new makes an instance as
// well, because goja does not tell; but nothing that exists becomes one.
func NewClass(vm *goja.Runtime, name string, length int, construct func(call goja.ConstructorCall) *goja.Object) *Class {
	c := &Class{Name: name, vm: vm, enumerable: goja.FLAG_TRUE}
	c.Constructor = vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		if call.NewTarget == nil && call.This.Prototype() != c.Prototype {
			if c.callable {
				call.This = c.New()
				return construct(call)
			}
			panic(vm.NewTypeError("Class constructor %s cannot be invoked without 'new'", name))
		}
		return construct(call)
	}).(*goja.Object)
	label(vm, c.Constructor, name, length)
	c.Prototype = c.Constructor.Get("prototype").(*goja.Object)
	Must(c.Constructor.DefineDataProperty("prototype", c.Prototype, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE))
	Must(c.Prototype.DefineDataProperty("constructor", c.Constructor, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return c
}

// NewAbstract makes a class that a script cannot make instances of: New does.
func NewAbstract(vm *goja.Runtime, name string) *Class {
	return NewClass(vm, name, 0, func(goja.ConstructorCall) *goja.Object {
		panic(Error(vm, "TypeError", "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor"))
	})
}

// Hidden makes the members that are defined from now on not enumerable, as those of a
// class statement are; those of the web's interfaces are enumerable.
func (c *Class) Hidden() *Class {
	c.enumerable = goja.FLAG_FALSE
	return c
}

// Callable makes the constructor a function as well that returns a new instance, whose
// construct must then return it. By default what is called on another object throws.
func (c *Class) Callable() *Class {
	c.callable = true
	return c
}

// Extends puts the class below another.
func (c *Class) Extends(parent *goja.Object) {
	Must(c.Constructor.SetPrototype(parent))
	Must(c.Prototype.SetPrototype(parent.Get("prototype").(*goja.Object)))
}

// New makes an instance without the constructor.
func (c *Class) New() *goja.Object { return c.vm.CreateObject(c.Prototype) }

// Tag sets Symbol.toStringTag.
func (c *Class) Tag(tag string) {
	Must(c.Prototype.DefineDataPropertySymbol(goja.SymToStringTag, c.vm.ToValue(tag), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// Method adds a method.
func (c *Class) Method(name string, length int, fn Function) *goja.Object {
	f := Func(c.vm, name, length, fn)
	Must(c.Prototype.DefineDataProperty(name, f, goja.FLAG_TRUE, goja.FLAG_TRUE, c.enumerable))
	return f
}

// Alias gives a member a second name.
func (c *Class) Alias(name string, member goja.Value) {
	Must(c.Prototype.DefineDataProperty(name, member, goja.FLAG_TRUE, goja.FLAG_TRUE, c.enumerable))
}

// Symbol adds a member under a symbol.
func (c *Class) Symbol(symbol *goja.Symbol, member goja.Value) {
	Must(c.Prototype.DefineDataPropertySymbol(symbol, member, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// Getter adds a property that can be read.
func (c *Class) Getter(name string, get func(this goja.Value) goja.Value) { c.Accessor(name, get, nil) }

// Accessor adds a property that can be read and, if set is not nil, written.
func (c *Class) Accessor(name string, get func(this goja.Value) goja.Value, set func(this, v goja.Value)) {
	getter := Func(c.vm, "get "+name, 0, func(call goja.FunctionCall) goja.Value { return get(call.This) })
	var setter goja.Value
	if set != nil {
		setter = Func(c.vm, "set "+name, 1, func(call goja.FunctionCall) goja.Value {
			set(call.This, call.Argument(0))
			return goja.Undefined()
		})
	}
	Must(c.Prototype.DefineAccessorProperty(name, getter, setter, goja.FLAG_TRUE, c.enumerable))
}

// Static adds a function to the constructor.
func (c *Class) Static(name string, length int, fn Function) *goja.Object {
	f := Func(c.vm, name, length, fn)
	Must(c.Constructor.DefineDataProperty(name, f, goja.FLAG_TRUE, goja.FLAG_TRUE, c.enumerable))
	return f
}

// Iteration makes iterators of one kind, such as those of URLSearchParams.
type Iteration struct {
	vm        *goja.Runtime
	prototype *goja.Object
	slot      *Slot[func() (goja.Value, bool)]
}

// NewIteration makes the prototype of iterators whose Symbol.toStringTag is tag.
func NewIteration(vm *goja.Runtime, tag string) *Iteration {
	it := &Iteration{vm: vm, slot: NewSlot[func() (goja.Value, bool)]()}
	list := vm.NewArray()
	values := Call(callable(list.GetSymbol(goja.SymIterator)), list).(*goja.Object)
	it.prototype = vm.CreateObject(values.Prototype().Prototype())
	next := Func(vm, "next", 0, func(call goja.FunctionCall) goja.Value {
		step, ok := it.slot.Get(call.This)
		if !ok {
			panic(Error(vm, "TypeError", "ERR_INVALID_THIS", `Value of "this" must be of type `+tag))
		}
		result := vm.NewObject()
		v, more := step()
		if !more {
			v = goja.Undefined()
		}
		Must(result.Set("value", v))
		Must(result.Set("done", !more))
		return result
	})
	Must(it.prototype.DefineDataProperty("next", next, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE))
	Must(it.prototype.DefineDataPropertySymbol(goja.SymToStringTag, vm.ToValue(tag), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return it
}

// New returns an iterator that asks next until it says that there is no more.
func (it *Iteration) New(next func() (goja.Value, bool)) *goja.Object {
	o := it.vm.CreateObject(it.prototype)
	over := false
	it.slot.Set(o, func() (goja.Value, bool) {
		if over {
			return nil, false
		}
		v, more := next()
		over = !more
		return v, more
	})
	return o
}

func callable(v goja.Value) goja.Callable {
	fn, _ := goja.AssertFunction(v)
	return fn
}

// Inspected makes console and util.inspect show an instance as its class's name before
// an object of the given properties. The depth that is shown is that of the properties,
// less the given one.
func (c *Class) Inspected(less int, properties func(this goja.Value) *goja.Object) {
	symbol := Call(callable(c.vm.Get("Symbol").(*goja.Object).Get("for")), c.vm.Get("Symbol"), c.vm.ToValue("nodejs.util.inspect.custom"))
	c.Symbol(symbol.(*goja.Symbol), Func(c.vm, "[nodejs.util.inspect.custom]", 2, func(call goja.FunctionCall) goja.Value {
		if depth := call.Argument(0); goja.IsNumber(depth) && depth.ToFloat() < 0 {
			return call.This
		}
		shown := properties(call.This)
		name := c.Name
		if o, ok := call.This.(*goja.Object); ok {
			if constructor, ok := o.Get("constructor").(*goja.Object); ok {
				name = constructor.Get("name").String()
			}
		}
		var text goja.Value
		if fn, ok := goja.AssertFunction(call.Argument(2)); ok {
			options := call.Argument(1)
			if o, ok := options.(*goja.Object); ok && less > 0 && goja.IsNumber(o.Get("depth")) {
				Must(o.Set("depth", o.Get("depth").ToFloat()-float64(less))) // ours alone
			}
			text = Call(fn, goja.Undefined(), shown, options)
		} else {
			text = c.vm.ToValue(inspect.New(c.vm).Inspect(shown, inspect.Default()))
		}
		return c.vm.ToValue(name + " " + text.String())
	}))
}

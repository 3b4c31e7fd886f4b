package engine

import (
	"slices"

	"github.com/dop251/goja"
)

// iterations makes for…of and … over arrays cheap. For each element goja makes an object
// with the properties value and done, of which the script never sees anything. Here one
// object serves all elements.
type iterations struct {
	rt        *Runtime
	prototype *goja.Object
	ready     bool
	next      *goja.Object
	finish    *goja.Object
	free      []*arrayIteration

	values       goja.Value   // Array.prototype.values, as it was
	iterator     *goja.Object // the prototype of its iterators
	iteratorNext goja.Value   // and their next

	natives []goja.Value // methods of the language that make iterators
	begin   *goja.Object // whose iterator is begun, until it is asked for
	begun   goja.Value
}

// maxFree bounds how many iterations are kept for their next use.
const maxFree = 16

func (it *iterations) init() {
	if it.ready {
		return
	}
	it.ready = true
	rt := it.rt
	it.values = rt.vm.Get("Array").ToObject(rt.vm).Get("prototype").ToObject(rt.vm).GetSymbol(goja.SymIterator)
	values, _ := goja.AssertFunction(it.values)
	iterator, err := values(rt.vm.NewArray())
	must(err)
	it.iterator = iterator.(*goja.Object).Prototype()
	it.iteratorNext = it.iterator.Get("next")
	it.natives = []goja.Value{it.values, it.iterator.GetSymbol(goja.SymIterator)}
	for _, class := range []string{"Set", "Map"} {
		it.natives = append(it.natives, rt.vm.Get(class).ToObject(rt.vm).Get("prototype").ToObject(rt.vm).GetSymbol(goja.SymIterator))
	}
	it.prototype = rt.vm.NewObject()
	must(it.prototype.SetSymbol(goja.SymIterator, rt.Function("", func(c goja.FunctionCall) goja.Value { return c.This })))
	it.next = rt.Function("next", func(c goja.FunctionCall) goja.Value {
		return c.This.(*goja.Object).Export().(*arrayIteration).step()
	})
	it.finish = rt.Function("return", func(c goja.FunctionCall) goja.Value {
		i := c.This.(*goja.Object).Export().(*arrayIteration)
		i.over()
		return i.result
	})
}

// plain returns the inside of an array that a script iterates over as one expects.
func (it *iterations) plain(v goja.Value) (array, bool) {
	a, ok := arrayOf(v)
	if !ok {
		return a, false
	}
	o := v.(*goja.Object)
	return a, o.GetSymbol(goja.SymIterator) == it.values && it.iterator.Get("next") == it.iteratorNext
}

// iterate returns what to iterate over in the place of a value.
func (it *iterations) iterate(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	if _, ok := it.plain(v); !ok {
		return it.iterable(v)
	}
	var i *arrayIteration
	if last := len(it.free) - 1; last >= 0 {
		i = it.free[last]
		it.free = it.free[:last]
	} else {
		i = &arrayIteration{all: it}
		i.self = it.rt.vm.NewDynamicObject(i)
		must(i.self.SetPrototype(it.prototype))
		i.result = it.rt.vm.NewDynamicObject(iterationResult{i})
		i.no, i.yes = it.rt.vm.ToValue(false), it.rt.vm.ToValue(true)
	}
	i.array, i.at = v.(*goja.Object), 0
	return i.self
}

// iterable is v, or what stands for it if its iterator is the script's: goja calls the next of an
// iterator without looking whether there is one.
func (it *iterations) iterable(v goja.Value) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok {
		return v
	}
	own := o.GetSymbol(goja.SymIterator)
	method, ok := goja.AssertFunction(orUndefined(own))
	if !ok || slices.ContainsFunc(it.natives, own.SameAs) {
		return v
	}
	if it.begin == nil {
		it.begin = it.rt.vm.NewObject()
		must(it.begin.SetSymbol(goja.SymIterator, it.rt.Function("", func(goja.FunctionCall) goja.Value {
			iterator := it.begun
			it.begun = nil
			return iterator
		})))
	}
	iterator, err := method(o)
	must(err)
	if i, ok := iterator.(*goja.Object); ok {
		if _, ok := goja.AssertFunction(orUndefined(i.Get("next"))); !ok {
			panic(it.rt.vm.NewTypeError("iterator.next is missing or not a function"))
		}
	}
	it.begun = iterator
	return it.begin
}

// ForOf calls step with what v iterates over until it returns false. It throws what a
// script's own loop would.
func (rt *Runtime) ForOf(v goja.Value, step func(goja.Value) bool) {
	rt.vm.ForOf(rt.iterations.iterable(v), step)
}

// iterableNatives has what a loop of ours over a script's value iterates over.
func iterableNatives(rt *Runtime) natives {
	return natives{"iterable": func(c goja.FunctionCall) goja.Value {
		return rt.iterations.iterable(c.Argument(0))
	}}
}

// literal makes the array of a literal with spread elements. The first argument says
// which of the others are to be spread.
func (it *iterations) literal(c goja.FunctionCall) goja.Value {
	spread := c.Argument(0).String()
	var values []goja.Value
	for i, v := range c.Arguments[1:] {
		if spread[i] == '0' {
			values = append(values, v)
		} else if a, ok := it.plain(v); ok {
			values = append(values, *a.values()...)
		} else {
			it.rt.ForOf(v, func(element goja.Value) bool {
				values = append(values, element)
				return true
			})
		}
	}
	return it.rt.newArray(values)
}

// arrayIteration is an iteration over an array, and its iterator.
type arrayIteration struct {
	all          *iterations
	self, result *goja.Object
	no, yes      goja.Value

	array       *goja.Object // nil when it is over
	at          int
	value, done goja.Value
}

func (i *arrayIteration) step() goja.Value {
	if i.array != nil {
		if a, ok := arrayOf(i.array); ok {
			if values := *a.values(); i.at < len(values) {
				i.value, i.done = values[i.at], i.no
				i.at++
				return i.result
			}
		} else if i.at < int(i.array.Get("length").ToInteger()) {
			i.value, i.done = orUndefined(i.array.Get(i.all.rt.vm.ToValue(i.at).String())), i.no
			i.at++
			return i.result
		}
		i.over()
	}
	i.value, i.done = goja.Undefined(), i.yes
	return i.result
}

// over lets the iteration be used for another array: nobody has it any more.
func (i *arrayIteration) over() {
	if i.array == nil {
		return
	}
	i.array = nil
	if len(i.all.free) < maxFree {
		i.all.free = append(i.all.free, i)
	}
}

// Get is a property of the iterator.
func (i *arrayIteration) Get(key string) goja.Value {
	switch key {
	case "next":
		return i.all.next
	case "return":
		return i.all.finish
	}
	return nil
}

func (i *arrayIteration) Set(string, goja.Value) bool { return false }
func (i *arrayIteration) Has(key string) bool         { return key == "next" }
func (i *arrayIteration) Delete(string) bool          { return false }
func (i *arrayIteration) Keys() []string              { return nil }

// iterationResult is what next returns.
type iterationResult struct{ *arrayIteration }

// Get is a property of the result.
func (r iterationResult) Get(key string) goja.Value {
	switch key {
	case "done":
		return r.done
	case "value":
		return r.value
	}
	return nil
}

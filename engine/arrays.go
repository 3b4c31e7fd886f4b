package engine

import (
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/dop251/goja"
)

// arrayMethods are methods of Array.prototype for ordinary arrays. Those of goja move
// one element at a time, by its name, as soon as an array has been shifted or is the
// result that has to be filled. Every other receiver gets the method of goja.
type arrayMethods struct {
	rt          *Runtime
	constructor goja.Value
	prototype   *goja.Object
	front       front
}

// front is the memory of the array that something was last put in front of, with room
// before its elements.
type front struct{ memory []goja.Value }

// start is where in the memory values are, -1 if they are elsewhere.
func (f *front) start(values []goja.Value) int {
	at, base := uintptr(unsafe.Pointer(unsafe.SliceData(values))), uintptr(unsafe.Pointer(unsafe.SliceData(f.memory)))
	size := unsafe.Sizeof(f.memory[0])
	if len(values) == 0 || at < base || at >= base+uintptr(cap(f.memory))*size {
		return -1
	}
	return int((at - base) / size)
}

func (rt *Runtime) installArrayMethods() {
	m := &arrayMethods{rt: rt, constructor: rt.vm.Get("Array")}
	m.prototype = m.constructor.ToObject(rt.vm).Get("prototype").ToObject(rt.vm)
	for _, method := range []struct {
		name   string
		length int
		fn     func(array, goja.FunctionCall) (goja.Value, bool)
	}{
		{"shift", 0, m.shift},
		{"unshift", 1, m.unshift},
		{"push", 1, m.push},
		{"slice", 2, m.slice},
		{"splice", 2, m.splice},
		{"concat", 1, m.concat},
		{"sort", 1, m.sort},
		{"toSorted", 1, m.toSorted},
		{"flat", 0, m.flat},
		{"flatMap", 1, m.flatMap},
	} {
		m.define(method.name, method.length, method.fn)
	}
}

// define puts a method in front of goja's, which is called if it returns false: then it
// has done nothing.
func (m *arrayMethods) define(name string, length int, method func(array, goja.FunctionCall) (goja.Value, bool)) {
	plain, _ := m.prototype.Get(name).Export().(func(goja.FunctionCall) goja.Value)
	if plain == nil {
		return
	}
	fn := m.rt.Function(name, func(c goja.FunctionCall) goja.Value {
		if a, ok := arrayOf(c.This); ok {
			if v, ok := method(a, c); ok {
				return v
			}
		}
		return plain(c)
	})
	must(fn.DefineDataProperty("length", m.rt.vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(m.prototype.DefineDataProperty(name, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// makesArrays reports whether methods of the array make ordinary arrays of their results.
func (m *arrayMethods) makesArrays(v goja.Value) bool {
	return v.(*goja.Object).Get("constructor") == m.constructor
}

func (m *arrayMethods) shift(a array, _ goja.FunctionCall) (goja.Value, bool) {
	values := *a.values()
	if len(values) == 0 || !*a.lengthWritable() {
		return nil, false
	}
	first := values[0]
	values[0] = nil
	a.set(values[1:])
	return first, true
}

func (m *arrayMethods) unshift(a array, c goja.FunctionCall) (goja.Value, bool) {
	values := *a.values()
	n, length := len(c.Arguments), len(c.Arguments)+len(*a.values())
	if n == 0 || !*a.lengthWritable() || !*a.extensible() || length >= math.MaxUint32 {
		return nil, false
	}
	f := &m.front
	start := f.start(values)
	if start < n {
		// Room for as much again, in front only.
		start = length
		f.memory = make([]goja.Value, start+len(values))
		copy(f.memory[start:], values)
	}
	start -= n
	copy(f.memory[start:], c.Arguments)
	a.set(f.memory[start : start+length])
	return m.rt.vm.ToValue(length), true
}

func (m *arrayMethods) push(a array, c goja.FunctionCall) (goja.Value, bool) {
	values := *a.values()
	if !*a.lengthWritable() || !*a.extensible() || len(values)+len(c.Arguments) >= math.MaxUint32 {
		return nil, false
	}
	a.set(append(values, c.Arguments...))
	return m.rt.vm.ToValue(len(values) + len(c.Arguments)), true
}

// relative is an index that counts from the end if it is negative.
func relative(v goja.Value, length, otherwise int) int {
	if goja.IsUndefined(v) {
		return otherwise
	}
	n := v.ToInteger()
	if n < 0 {
		return int(max(int64(length)+n, 0))
	}
	return int(min(n, int64(length)))
}

// numeric reports whether arguments convert to numbers without running code, so that the
// array is still what it was.
func numeric(args ...goja.Value) bool {
	return !slices.ContainsFunc(args, func(v goja.Value) bool {
		_, object := v.(*goja.Object)
		_, symbol := v.(*goja.Symbol)
		return object || symbol || goja.IsBigInt(v)
	})
}

func (m *arrayMethods) slice(a array, c goja.FunctionCall) (goja.Value, bool) {
	if !numeric(c.Argument(0), c.Argument(1)) || !m.makesArrays(c.This) {
		return nil, false
	}
	values := *a.values()
	from := relative(c.Argument(0), len(values), 0)
	to := max(relative(c.Argument(1), len(values), len(values)), from)
	return m.rt.newArray(slices.Clone(values[from:to])), true
}

func (m *arrayMethods) splice(a array, c goja.FunctionCall) (goja.Value, bool) {
	if len(c.Arguments) == 0 || !numeric(c.Argument(0), c.Argument(1)) || !m.makesArrays(c.This) || !*a.lengthWritable() {
		return nil, false
	}
	values := *a.values()
	from := relative(c.Argument(0), len(values), 0)
	count := len(values) - from
	var items []goja.Value
	if len(c.Arguments) > 1 {
		count = int(min(max(c.Argument(1).ToInteger(), 0), int64(count)))
		items = c.Arguments[2:]
	}
	if len(items) > count && !*a.extensible() {
		panic(m.rt.vm.NewTypeError("Cannot add property %d, object is not extensible", len(values)))
	}
	removed := slices.Clone(values[from : from+count])
	a.set(slices.Replace(values, from, from+count, items...))
	return m.rt.newArray(removed), true
}

func (m *arrayMethods) concat(a array, c goja.FunctionCall) (goja.Value, bool) {
	if !m.makesArrays(c.This) {
		return nil, false
	}
	parts := make([][]goja.Value, 0, len(c.Arguments)+1)
	total := 0
	for i := -1; i < len(c.Arguments); i++ {
		v := c.This
		if i >= 0 {
			v = c.Arguments[i]
		}
		part := []goja.Value{v}
		if o, ok := v.(*goja.Object); ok {
			spreadable := o.GetSymbol(goja.SymIsConcatSpreadable)
			if spreadable != nil && !goja.IsUndefined(spreadable) {
				return nil, false
			}
			if inside, ok := arrayOf(o); ok {
				part = *inside.values()
			} else if o.ClassName() == "Array" || isArrayProxy(o) {
				return nil, false
			}
		}
		parts = append(parts, part)
		total += len(part)
	}
	values := make([]goja.Value, 0, total)
	for _, part := range parts {
		values = append(values, part...)
	}
	return m.rt.newArray(values), true
}

func (m *arrayMethods) flat(a array, c goja.FunctionCall) (goja.Value, bool) {
	depth := 1.0
	if v := c.Argument(0); !goja.IsUndefined(v) {
		if !numeric(v) {
			return nil, false
		}
		depth = v.ToFloat()
	}
	if !m.makesArrays(c.This) {
		return nil, false
	}
	values, ok := flattened(make([]goja.Value, 0, len(*a.values())), *a.values(), min(depth, maxFlat))
	if !ok {
		return nil, false
	}
	return m.rt.newArray(values), true
}

// maxFlat is how deep arrays are flattened: deeper ones may contain themselves.
const maxFlat = 1000

// flattened appends values to out, and of arrays among them what is in them. It gives up
// on those that are not ordinary.
func flattened(out, values []goja.Value, depth float64) ([]goja.Value, bool) {
	for _, v := range values {
		o, isObject := v.(*goja.Object)
		if !isObject || !(depth >= 1) {
			out = append(out, v)
			continue
		}
		inside, ok := arrayOf(o)
		if !ok {
			if o.ClassName() == "Array" || isArrayProxy(o) {
				return nil, false
			}
			out = append(out, v)
			continue
		}
		if depth == maxFlat {
			return nil, false
		}
		if out, ok = flattened(out, *inside.values(), depth-1); !ok {
			return nil, false
		}
	}
	return out, true
}

func (m *arrayMethods) flatMap(a array, c goja.FunctionCall) (goja.Value, bool) {
	mapper := goFunction(c.Argument(0))
	if mapper == nil || !m.makesArrays(c.This) {
		return nil, false
	}
	out := make([]goja.Value, 0, len(*a.values()))
	length := len(*a.values())
	array := c.This.(*goja.Object)
	for i := range length {
		v, ok := element(m.rt, array, i)
		if !ok {
			continue
		}
		mapped := mapper(goja.FunctionCall{This: c.Argument(1), Arguments: []goja.Value{v, m.rt.vm.ToValue(i), array}})
		if inside, ok := arrayOf(mapped); ok {
			out = append(out, *inside.values()...)
			continue
		}
		if o, isObject := mapped.(*goja.Object); isObject && (o.ClassName() == "Array" || isArrayProxy(o)) {
			for j := range int(o.Get("length").ToInteger()) {
				if v, ok := element(m.rt, o, j); ok {
					out = append(out, v)
				}
			}
			continue
		}
		out = append(out, mapped)
	}
	return m.rt.newArray(out), true
}

// element is one of an array that a script may be changing.
func element(rt *Runtime, o *goja.Object, i int) (goja.Value, bool) {
	if a, ok := arrayOf(o); ok {
		if values := *a.values(); i < len(values) {
			return values[i], true
		}
		return nil, false
	}
	v := o.Get(rt.vm.ToValue(i).String())
	return v, v != nil
}

// goFunction is a function of a script as one of Go, which panics with what it throws.
func goFunction(v goja.Value) func(goja.FunctionCall) goja.Value {
	if o, ok := v.(*goja.Object); ok {
		fn, _ := o.Export().(func(goja.FunctionCall) goja.Value)
		return fn
	}
	return nil
}

func (m *arrayMethods) sort(a array, c goja.FunctionCall) (goja.Value, bool) {
	sorted, ok := m.sorted(a, c)
	if !ok {
		return nil, false
	}
	if now, ok := arrayOf(c.This); ok && len(*now.values()) == len(sorted) {
		copy(*now.values(), sorted)
		return c.This, true
	}
	for i, v := range sorted { // the comparison changed the array
		must(c.This.(*goja.Object).Set(m.rt.vm.ToValue(i).String(), v))
	}
	return c.This, true
}

func (m *arrayMethods) toSorted(a array, c goja.FunctionCall) (goja.Value, bool) {
	sorted, ok := m.sorted(a, c)
	if !ok {
		return nil, false
	}
	return m.rt.newArray(sorted), true
}

// sorted returns the elements in order, those that are undefined last.
func (m *arrayMethods) sorted(a array, c goja.FunctionCall) ([]goja.Value, bool) {
	by := c.Argument(0)
	compare := goFunction(by)
	if compare == nil && !goja.IsUndefined(by) {
		return nil, false
	}
	values := make([]goja.Value, 0, len(*a.values()))
	for _, v := range *a.values() {
		if !goja.IsUndefined(v) {
			values = append(values, v)
		}
	}
	undefined := len(*a.values()) - len(values)
	switch {
	case compare == nil:
		if values = m.byText(values); values == nil {
			return nil, false
		}
	case !byNumber(values, by):
		args := make([]goja.Value, 2)
		mergeSort(values, func(a, b goja.Value) bool {
			args[0], args[1] = a, b
			return !(compare(goja.FunctionCall{This: goja.Undefined(), Arguments: args}).ToNumber().ToFloat() > 0)
		})
	}
	for range undefined {
		values = append(values, goja.Undefined())
	}
	return values, true
}

// byText sorts by the texts of values, or returns nil if a text would have to be asked for.
func (m *arrayMethods) byText(values []goja.Value) []goja.Value {
	type keyed struct {
		text  string // if the value has only ASCII
		units goja.String
		value goja.Value
	}
	keys := make([]keyed, len(values))
	for i, v := range values {
		if !numeric(v) && !goja.IsBigInt(v) {
			return nil
		}
		units := m.rt.toText(v)
		keys[i] = keyed{text: units.String(), units: units, value: v}
		if !isASCII(keys[i].text) {
			keys[i].text = ""
		}
	}
	slices.SortStableFunc(keys, func(a, b keyed) int {
		if a.text != "" && b.text != "" {
			return strings.Compare(a.text, b.text)
		}
		return a.units.CompareTo(b.units)
	})
	for i, k := range keys {
		values[i] = k.value
	}
	return values
}

// byNumber sorts numbers if the comparison is the one that everybody writes for them.
func byNumber(values []goja.Value, by goja.Value) bool {
	descending, ok := difference(by.String())
	if !ok {
		return false
	}
	type placed struct {
		number float64
		at     int
	}
	order := make([]placed, len(values))
	for i, v := range values {
		if !goja.IsNumber(v) {
			return false
		}
		f := v.ToFloat()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
		if descending {
			f = -f
		}
		order[i] = placed{f, i}
	}
	slices.SortFunc(order, func(a, b placed) int {
		switch {
		case a.number < b.number:
			return -1
		case a.number > b.number:
			return 1
		}
		return a.at - b.at
	})
	sorted := make([]goja.Value, len(values))
	for i, o := range order {
		sorted[i] = values[o.at]
	}
	copy(values, sorted)
	return true
}

// difference recognises (a, b) => a - b and the like by their text.
func difference(source string) (descending, ok bool) {
	if len(source) > 80 {
		return false, false
	}
	text := strings.Join(strings.FieldsFunc(source, func(r rune) bool { return strings.ContainsRune(" \t\r\n(){};,", r) }), " ")
	words := strings.Fields(strings.NewReplacer("=>", " ", "-", " - ", "function ", "", "return ", "").Replace(text))
	if len(words) != 5 || words[3] != "-" || words[0] == words[1] || !isName(words[0]) || !isName(words[1]) {
		return false, false
	}
	switch {
	case words[2] == words[0] && words[4] == words[1]:
		return false, true
	case words[2] == words[1] && words[4] == words[0]:
		return true, true
	}
	return false, false
}

func isName(s string) bool {
	return s != "" && (s[0] < '0' || s[0] > '9') && strings.IndexFunc(s, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '_' && r != '$'
	}) < 0
}

// mergeSort sorts values with few comparisons; inOrder says that a may stand before b.
func mergeSort(values []goja.Value, inOrder func(a, b goja.Value) bool) {
	const run = 8 // sorted by insertion
	for from := 0; from < len(values); from += run {
		part := values[from:min(from+run, len(values))]
		for i := 1; i < len(part); i++ {
			v := part[i]
			low, high := 0, i-1 // where v belongs: behind all that may stand before it
			if inOrder(part[i-1], v) {
				continue
			}
			for low < high {
				if middle := (low + high) / 2; inOrder(part[middle], v) {
					low = middle + 1
				} else {
					high = middle
				}
			}
			copy(part[low+1:i+1], part[low:i])
			part[low] = v
		}
	}
	from, to := values, make([]goja.Value, len(values))
	for width := run; width < len(values); width *= 2 {
		for at := 0; at < len(from); at += 2 * width {
			middle, end := min(at+width, len(from)), min(at+2*width, len(from))
			merge(to[at:end], from[at:middle], from[middle:end], inOrder)
		}
		from, to = to, from
	}
	copy(values, from)
}

func merge(to, a, b []goja.Value, inOrder func(a, b goja.Value) bool) {
	if len(a) == 0 || len(b) == 0 || inOrder(a[len(a)-1], b[0]) {
		copy(to[copy(to, a):], b)
		return
	}
	i := 0
	for len(a) > 0 && len(b) > 0 {
		if inOrder(a[0], b[0]) {
			to[i], a = a[0], a[1:]
		} else {
			to[i], b = b[0], b[1:]
		}
		i++
	}
	copy(to[i+copy(to[i:], a):], b)
}

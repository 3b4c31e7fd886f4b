package engine

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/dop251/goja"
)

// arrayLayout is where goja keeps what makes an ordinary array. Its API only reaches one
// element at a time, by a name in decimal, which makes methods over whole arrays slow.
//
// The places are looked up by name and type in the goja that is linked, and nothing is
// assumed if they are not there: then scripts get the methods of goja, and a test fails.
type arrayLayout struct {
	known bool
	impl  unsafe.Pointer // the type word of an object that is an ordinary array

	self                       uintptr // in goja.Object: the implementation, an interface
	values, length             uintptr // in the implementation
	objects, accessors         uintptr // how many values there are, and how many properties with attributes among them
	extensible, lengthWritable uintptr
}

// layout finds it.
var layout = sync.OnceValue(func() *arrayLayout {
	l := &arrayLayout{}
	object := reflect.TypeFor[goja.Object]()
	self, ok := object.FieldByName("self")
	if !ok || self.Type.Kind() != reflect.Interface {
		return l
	}
	l.self = self.Offset
	sample := goja.New().NewArray(1, 2, 3)
	implementation := reflect.NewAt(self.Type, unsafe.Add(unsafe.Pointer(sample), l.self)).Elem().Elem()
	if implementation.Kind() != reflect.Pointer || implementation.Elem().Kind() != reflect.Struct {
		return l
	}
	t := implementation.Elem().Type()
	ok = true
	find := func(path string, want reflect.Type, in reflect.Type) uintptr {
		f, found := in.FieldByName(path)
		if !found || want != nil && f.Type != want {
			ok = false
			return 0
		}
		return f.Offset
	}
	l.values = find("values", reflect.TypeFor[[]goja.Value](), t)
	l.length = find("length", reflect.TypeFor[uint32](), t)
	l.objects = find("objCount", reflect.TypeFor[int](), t)
	l.accessors = find("propValueCount", reflect.TypeFor[int](), t)
	l.extensible = find("extensible", reflect.TypeFor[bool](), t)
	if base, found := t.FieldByName("baseObject"); found {
		l.extensible += base.Offset
	} else {
		ok = false
	}
	if property, found := t.FieldByName("lengthProp"); ok && found {
		l.lengthWritable = property.Offset + find("writable", reflect.TypeFor[bool](), property.Type)
	} else {
		ok = false
	}
	if !ok {
		return l
	}
	l.impl = (*[2]unsafe.Pointer)(unsafe.Add(unsafe.Pointer(sample), l.self))[0]
	// The sample is what it should look like.
	a := array{implementation.UnsafePointer(), l}
	l.known = len(*a.values()) == 3 && *a.length() == 3 && *a.objects() == 3 && *a.accessors() == 0 && *a.extensible() && *a.lengthWritable()
	return l
})

// array is the inside of an ordinary array.
type array struct {
	at     unsafe.Pointer
	layout *arrayLayout
}

func (a array) values() *[]goja.Value { return (*[]goja.Value)(unsafe.Add(a.at, a.layout.values)) }
func (a array) length() *uint32       { return (*uint32)(unsafe.Add(a.at, a.layout.length)) }
func (a array) objects() *int         { return (*int)(unsafe.Add(a.at, a.layout.objects)) }
func (a array) accessors() *int       { return (*int)(unsafe.Add(a.at, a.layout.accessors)) }
func (a array) extensible() *bool     { return (*bool)(unsafe.Add(a.at, a.layout.extensible)) }
func (a array) lengthWritable() *bool { return (*bool)(unsafe.Add(a.at, a.layout.lengthWritable)) }

// arrayOf returns the inside of v if it is an ordinary array without holes and without
// accessors.
func arrayOf(v goja.Value) (array, bool) {
	o, ok := v.(*goja.Object)
	if !ok {
		return array{}, false
	}
	l := layout()
	words := (*[2]unsafe.Pointer)(unsafe.Add(unsafe.Pointer(o), l.self))
	if !l.known || words[0] != l.impl {
		return array{}, false
	}
	a := array{words[1], l}
	values := *a.values()
	if *a.accessors() != 0 || int(*a.length()) != len(values) {
		return array{}, false
	}
	if *a.objects() != len(values) {
		// goja miscounts after shift and unshift. Only holes count.
		for _, v := range values {
			if v == nil {
				return array{}, false
			}
		}
		*a.objects() = len(values)
	}
	return a, true
}

// set replaces the elements.
func (a array) set(values []goja.Value) {
	*a.values() = values
	*a.length() = uint32(len(values))
	*a.objects() = len(values)
}

// newArray makes an array of values, which it keeps.
func (rt *Runtime) newArray(values []goja.Value) *goja.Object {
	o := rt.vm.NewArray()
	if a, ok := arrayOf(o); ok {
		a.set(values)
		return o
	}
	items := make([]any, len(values))
	for i, v := range values {
		items[i] = v
	}
	return rt.vm.NewArray(items...)
}

package inspect

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
)

// What the API of goja does not tell is read where goja keeps it. If an update changes
// that, iterators are written without what is left in them.

// implementation is what goja has behind an object, the zero Value if it is not known.
func implementation(o *goja.Object) reflect.Value {
	self := reflect.ValueOf(o).Elem().FieldByName("self")
	if !self.IsValid() || self.Kind() != reflect.Interface || self.IsNil() {
		return reflect.Value{}
	}
	v := self.Elem()
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.Elem()
}

// isAsyncMethod reports whether o is a method that is an async function, which goja does
// not give the prototype of one.
func isAsyncMethod(o *goja.Object) bool {
	v := implementation(o)
	return v.IsValid() && v.Type().Name() == "asyncMethodFuncObject"
}

// The kinds of iterators, as goja numbers them.
const (
	iteratesKeys = iota
	iteratesValues
	iteratesEntries
)

// iteration writes what an iterator of a map or a set has left. It is nil for anything
// else.
func (p *printer) iteration(o *goja.Object) (entries func(depth int) []string, open string) {
	v := implementation(o)
	if !v.IsValid() {
		return nil, ""
	}
	name := ""
	switch v.Type().Name() {
	case "mapIterObject":
		name = "Map"
	case "setIterObject":
		name = "Set"
	default:
		return nil, ""
	}
	kind := v.FieldByName("kind")
	if !kind.IsValid() || !kind.CanInt() {
		return nil, ""
	}
	left, ok := remaining(v.FieldByName("iter"))
	if !ok {
		return nil, ""
	}
	pairs := kind.Int() == iteratesEntries
	open = "[" + name + " Iterator] {"
	if pairs {
		open = "[" + name + " Entries] {"
	}
	return func(depth int) []string {
		shown := min(max(0, p.MaxArrayLength), len(left))
		entries := make([]string, 0, shown+1)
		p.indent += 2
		for _, e := range left[:shown] {
			if name == "Set" {
				e.value = e.key
			}
			switch {
			case pairs:
				entries = append(entries, "[ "+p.value(e.key, depth, false)+", "+p.value(e.value, depth, false)+" ]")
			case kind.Int() == iteratesKeys:
				entries = append(entries, p.value(e.key, depth, false))
			default:
				entries = append(entries, p.value(e.value, depth, false))
			}
		}
		p.indent -= 2
		if more := len(left) - shown; more > 0 {
			entries = append(entries, moreItems(more))
		}
		return entries
	}, open
}

type entry struct{ key, value goja.Value }

// remaining lists the entries that an iterator of goja has not come to.
func remaining(iter reflect.Value) (left []entry, ok bool) {
	if !iter.IsValid() || iter.Kind() != reflect.Pointer {
		return nil, false
	}
	if iter.IsNil() {
		return nil, true
	}
	m, at := iter.Elem().FieldByName("m"), iter.Elem().FieldByName("cur")
	if !m.IsValid() || !at.IsValid() || m.Kind() != reflect.Pointer || at.Kind() != reflect.Pointer {
		return nil, false
	}
	if m.IsNil() {
		return nil, true // it is through
	}
	for !at.IsNil() && field(at, "key") == nil {
		at = at.Elem().FieldByName("iterPrev") // removed meanwhile
	}
	next := m.Elem().FieldByName("iterFirst")
	if !at.IsNil() {
		next = at.Elem().FieldByName("iterNext")
	}
	for ; next.IsValid() && !next.IsNil(); next = next.Elem().FieldByName("iterNext") {
		left = append(left, entry{field(next, "key"), field(next, "value")})
	}
	return left, next.IsValid()
}

// field reads a value of JavaScript in what v points to.
func field(v reflect.Value, name string) goja.Value {
	f := v.Elem().FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[goja.Value]() || !f.CanAddr() {
		return nil
	}
	return *(*goja.Value)(unsafe.Pointer(f.UnsafeAddr()))
}

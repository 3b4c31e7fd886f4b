package native

import (
	"runtime"
	"sync"
	"weak"

	"github.com/dop251/goja"
)

// Slot keeps a Go value behind objects of JavaScript, as an internal slot does: a script
// neither sees nor copies it, and a proxy or an heir of the object does not have it. A
// value must not lead back to its object, which could then never be freed.
type Slot[T any] struct {
	mu     sync.Mutex // objects are freed on a goroutine of the Go runtime
	values map[weak.Pointer[goja.Object]]T
}

// NewSlot returns a slot that no object has yet.
func NewSlot[T any]() *Slot[T] {
	return &Slot[T]{values: map[weak.Pointer[goja.Object]]T{}}
}

// Set gives o a value.
func (s *Slot[T]) Set(o *goja.Object, value T) {
	p := weak.Make(o)
	s.mu.Lock()
	_, known := s.values[p]
	s.values[p] = value
	s.mu.Unlock()
	if !known {
		self := weak.Make(s)
		runtime.AddCleanup(o, func(p weak.Pointer[goja.Object]) {
			if s := self.Value(); s != nil {
				s.mu.Lock()
				delete(s.values, p)
				s.mu.Unlock()
			}
		}, p)
	}
}

// Get returns the value of v, if it is an object that has one.
func (s *Slot[T]) Get(v goja.Value) (value T, ok bool) {
	o, isObject := v.(*goja.Object)
	if !isObject {
		return value, false
	}
	s.mu.Lock()
	value, ok = s.values[weak.Make(o)]
	s.mu.Unlock()
	return value, ok
}

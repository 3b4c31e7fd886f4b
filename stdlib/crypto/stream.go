package crypto

import (
	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// streamed makes the instances of a class streams, as Node's are, once a script uses one
// as such: node:stream costs more than most digests. transform takes what is written and
// returns what can be read; flush returns the rest.
func (m *module) streamed(c *native.Class, transform func(this goja.Value, chunk, encoding goja.Value) []byte, flush func(this goja.Value) []byte) {
	s := &streaming{m: m, class: c, begun: native.NewSlot[struct{}]()}
	// finish calls back with what fn returns or throws.
	finish := func(callback goja.Value, fn func() []byte) goja.Value {
		done := native.Callback(m.vm, callback, "callback")
		var out []byte
		if ex := m.vm.Try(func() { out = fn() }); ex != nil {
			return native.Call(done, goja.Undefined(), ex.Value())
		}
		if len(out) == 0 {
			return native.Call(done, goja.Undefined())
		}
		return native.Call(done, goja.Undefined(), goja.Null(), m.octets.Buffer(out))
	}
	c.Method("_transform", 3, func(call goja.FunctionCall) goja.Value {
		return finish(call.Argument(2), func() []byte { return transform(call.This, call.Argument(0), call.Argument(1)) })
	})
	c.Method("_flush", 1, func(call goja.FunctionCall) goja.Value {
		return finish(call.Argument(0), func() []byte { return flush(call.This) })
	})
	s.gate()
}

// streaming is the way of a class's instances to become streams.
type streaming struct {
	m     *module
	class *native.Class
	super goja.Callable // node:stream's Transform, once the class is below it
	begun *native.Slot[struct{}]
}

// members are those of streams that a script, or another stream, touches first. While
// the class is not below Transform they lead there.
var members = [...]string{
	"on", "once", "off", "addListener", "removeListener", "removeAllListeners", "prependListener", "emit", "listeners", "listenerCount",
	"eventNames", "pipe", "unpipe", "read", "write", "end", "push", "destroy", "pause", "resume", "setEncoding", "cork", "uncork",
	"readable", "writable", "destroyed", "closed", "errored", "readableEnded", "writableEnded", "writableFinished", "writableNeedDrain",
	"readableFlowing", "readableObjectMode", "writableObjectMode", "readableLength", "writableLength", "toArray", "map", "forEach",
}

// states are where a stream keeps what it is about. Transform's constructor sets them.
var states = [...]string{"_readableState", "_writableState", "_events", "_eventsCount"}

func (s *streaming) gate() {
	vm := s.m.vm
	before := vm.NewObject()
	through := func(name string) goja.Value {
		return native.Func(vm, "get "+name, 0, func(call goja.FunctionCall) goja.Value {
			this, ok := call.This.(*goja.Object)
			if !ok || !s.open() {
				return goja.Undefined()
			}
			return this.Get(name)
		})
	}
	for _, name := range members {
		native.Must(before.DefineAccessorProperty(name, through(name), s.setter(name), goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
	iterate := native.Func(vm, "get [Symbol.asyncIterator]", 0, func(call goja.FunctionCall) goja.Value {
		this, ok := call.This.(*goja.Object)
		if !ok || !s.open() {
			return goja.Undefined()
		}
		return this.GetSymbol(s.asyncIterator())
	})
	native.Must(before.DefineAccessorPropertySymbol(s.asyncIterator(), iterate, nil, goja.FLAG_TRUE, goja.FLAG_FALSE))
	native.Must(s.class.Prototype.SetPrototype(before))
	for _, name := range states {
		get := native.Func(vm, "get "+name, 0, func(call goja.FunctionCall) goja.Value {
			this, ok := call.This.(*goja.Object)
			if !ok || !s.begin(this) {
				return goja.Undefined()
			}
			return this.Get(name)
		})
		native.Must(s.class.Prototype.DefineAccessorProperty(name, get, s.setter(name), goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
}

func (s *streaming) asyncIterator() *goja.Symbol {
	symbol, _ := s.m.vm.Get("Symbol").(*goja.Object).Get("asyncIterator").(*goja.Symbol)
	return symbol
}

// setter makes a property of the instance's own of what is assigned.
func (s *streaming) setter(name string) goja.Value {
	return native.Func(s.m.vm, "set "+name, 1, func(call goja.FunctionCall) goja.Value {
		if this, ok := call.This.(*goja.Object); ok {
			native.Must(this.DefineDataProperty(name, call.Argument(0), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		}
		return nil
	})
}

// open puts the class below Transform. It reports false where there are no streams.
func (s *streaming) open() bool {
	if s.super != nil {
		return true
	}
	stream := s.m.rt.Require("node:stream")
	if stream == nil {
		return false
	}
	transform, ok := stream.Get("Transform").(*goja.Object)
	super, callable := goja.AssertFunction(transform)
	if !ok || !callable {
		return false
	}
	s.super = super
	s.class.Extends(transform)
	return true
}

// begin makes an instance a stream. It reports false if it is none of the class's, or
// one already.
func (s *streaming) begin(this *goja.Object) bool {
	_, isHash := s.m.hashes.Get(this)
	_, isCipher := s.m.ciphers.Get(this)
	if _, begun := s.begun.Get(this); begun || !isHash && !isCipher || !s.open() {
		return false
	}
	s.begun.Set(this, struct{}{})
	native.Call(s.super, this)
	return true
}

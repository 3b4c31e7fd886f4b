// Package timers is what a script waits with: setTimeout, setInterval, setImmediate,
// what clears them, and queueMicrotask, node:timers and node:timers/promises, as Node 20
// has them. When callbacks run is the
// business of the engine's event loop.
package timers

import (
	_ "embed"
	"math"
	"strconv"
	"time"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/inspect"
)

//go:embed timers.d.ts
var declarations string

// Module returns the global functions.
func Module() engine.Module {
	return engine.Module{
		Globals: []string{
			"setTimeout", "setInterval", "setImmediate",
			"clearTimeout", "clearInterval", "clearImmediate", "queueMicrotask",
		},
		Declarations: declarations,
		Make:         func(rt *engine.Runtime) *goja.Object { return newTimers(rt).exports() },
	}
}

// timers are those of one runtime.
type timers struct {
	rt *engine.Runtime
	vm *goja.Runtime

	timeoutPrototype, immediatePrototype *goja.Object
	slot                                 *goja.Symbol // where an object keeps its timer
	created                              int
	numbered                             map[int]*timer // those whose number the script has asked for
}

// timer is what stands behind a Timeout or Immediate object.
type timer struct {
	number    int
	callback  goja.Callable
	this      *goja.Object
	args      []goja.Value
	delay     time.Duration
	repeat    bool
	immediate bool
	unref     bool

	id      int64 // of the engine's timer
	pending bool  // the engine's timer is still to run
	cleared bool  // for good: refresh does not bring it back
}

func newTimers(rt *engine.Runtime) *timers {
	t := &timers{rt: rt, vm: rt.VM(), slot: goja.NewSymbol("timer"), numbered: map[int]*timer{}}
	t.timeoutPrototype, t.immediatePrototype = t.prototype("Timeout"), t.prototype("Immediate")
	self := func(c goja.FunctionCall) goja.Value { return c.This }
	t.method(t.timeoutPrototype, "refresh", func(tm *timer, c goja.FunctionCall) goja.Value {
		t.refresh(tm)
		return self(c)
	})
	t.method(t.timeoutPrototype, "close", func(tm *timer, c goja.FunctionCall) goja.Value {
		t.clear(tm)
		return self(c)
	})
	number := t.receiver("[Symbol.toPrimitive]", func(tm *timer, _ goja.FunctionCall) goja.Value {
		if !tm.cleared {
			t.numbered[tm.number] = tm
		}
		return t.vm.ToValue(tm.number)
	})
	must(t.timeoutPrototype.DefineDataPropertySymbol(goja.SymToPrimitive, number, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return t
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// prototype makes the prototype of a class of timers, with what all of them can do.
func (t *timers) prototype(class string) *goja.Object {
	p := t.vm.NewObject()
	constructor := t.named(class, func(goja.ConstructorCall) *goja.Object {
		panic(t.vm.NewTypeError("Illegal constructor"))
	})
	must(constructor.Set("prototype", p))
	must(p.DefineDataProperty("constructor", constructor, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	ref := func(keep bool) func(*timer, goja.FunctionCall) goja.Value {
		return func(tm *timer, c goja.FunctionCall) goja.Value {
			tm.unref = !keep
			t.rt.RefTimer(tm.id, keep)
			return c.This
		}
	}
	t.method(p, "ref", ref(true))
	t.method(p, "unref", ref(false))
	t.method(p, "hasRef", func(tm *timer, _ goja.FunctionCall) goja.Value {
		return t.vm.ToValue(!tm.unref && (!tm.immediate || tm.pending))
	})
	return p
}

func (t *timers) named(name string, fn any) *goja.Object {
	f := t.vm.ToValue(fn).(*goja.Object)
	must(f.DefineDataProperty("name", t.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return f
}

// receiver makes a method that is called on a timer.
func (t *timers) receiver(name string, fn func(*timer, goja.FunctionCall) goja.Value) *goja.Object {
	return t.named(name, func(c goja.FunctionCall) goja.Value {
		tm := t.of(c.This)
		if tm == nil {
			panic(t.vm.NewTypeError("%s is a method of timers", name))
		}
		return fn(tm, c)
	})
}

func (t *timers) method(p *goja.Object, name string, fn func(*timer, goja.FunctionCall) goja.Value) {
	must(p.DefineDataProperty(name, t.receiver(name, fn), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// of returns the timer behind an object, or nil.
func (t *timers) of(v goja.Value) *timer {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	slot := o.GetSymbol(t.slot)
	if slot == nil {
		return nil
	}
	tm, _ := slot.Export().(*timer)
	return tm
}

func (t *timers) exports() *goja.Object {
	o := t.vm.NewObject()
	export := func(name string, fn func(goja.FunctionCall) goja.Value) {
		must(o.Set(name, t.named(name, fn)))
	}
	export("setTimeout", func(c goja.FunctionCall) goja.Value { return t.set(c, false) })
	export("setInterval", func(c goja.FunctionCall) goja.Value { return t.set(c, true) })
	export("setImmediate", t.setImmediate)
	t.promisify(o, "setTimeout")
	t.promisify(o, "setImmediate")
	for _, name := range []string{"clearTimeout", "clearInterval"} {
		export(name, t.clearTimeout)
	}
	export("clearImmediate", func(c goja.FunctionCall) goja.Value {
		if tm := t.of(c.Argument(0)); tm != nil && tm.immediate {
			t.clear(tm)
		}
		return goja.Undefined()
	})
	export("queueMicrotask", func(c goja.FunctionCall) goja.Value {
		callback := t.callback(c)
		t.rt.Microtask(func() { t.rt.Call(callback, goja.Undefined()) })
		return goja.Undefined()
	})
	return o
}

// callback reads the first argument, which must be a function.
func (t *timers) callback(c goja.FunctionCall) goja.Callable {
	fn, ok := goja.AssertFunction(c.Argument(0))
	if !ok {
		message := `The "callback" argument must be of type function. ` + inspect.New(t.vm).Received(c.Argument(0))
		e := t.vm.NewTypeError("%s", message)
		must(e.Set("code", "ERR_INVALID_ARG_TYPE"))
		panic(e)
	}
	return fn
}

func (t *timers) set(c goja.FunctionCall, repeat bool) goja.Value {
	tm := &timer{callback: t.callback(c), delay: t.delay(c.Argument(1)), repeat: repeat}
	if len(c.Arguments) > 2 {
		tm.args = append(tm.args, c.Arguments[2:]...)
	}
	t.create(tm, t.timeoutPrototype)
	t.start(tm)
	return tm.this
}

func (t *timers) setImmediate(c goja.FunctionCall) goja.Value {
	tm := &timer{callback: t.callback(c), immediate: true}
	if len(c.Arguments) > 1 {
		tm.args = append(tm.args, c.Arguments[1:]...)
	}
	t.create(tm, t.immediatePrototype)
	tm.pending = true
	tm.id = t.rt.SetImmediate(func() { t.fire(tm) })
	return tm.this
}

// create makes the object of a timer.
func (t *timers) create(tm *timer, prototype *goja.Object) {
	t.created++
	tm.number = t.created
	tm.this = t.vm.CreateObject(prototype)
	must(tm.this.DefineDataPropertySymbol(t.slot, t.vm.ToValue(tm), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE))
}

// longest is the longest delay of a timer in milliseconds; what is longer becomes 1.
const longest = math.MaxInt32

// delay reads the delay of a timer. Anything that is no delay is one millisecond.
func (t *timers) delay(v goja.Value) time.Duration {
	ms := v.ToNumber().ToFloat()
	if ms > longest {
		t.rt.Write(engine.Stderr, []byte("Warning: "+v.String()+" does not fit into a 32-bit signed integer. Timeout duration was set to 1.\n"))
	}
	if !(ms >= 1 && ms <= longest) {
		ms = 1
	}
	return time.Duration(math.Trunc(ms)) * time.Millisecond
}

// start hands the timer to the engine.
func (t *timers) start(tm *timer) {
	tm.pending = true
	tm.id = t.rt.SetTimer(tm.delay, tm.repeat, func() { t.fire(tm) })
	if tm.unref {
		t.rt.RefTimer(tm.id, false)
	}
}

func (t *timers) fire(tm *timer) {
	if !tm.repeat {
		tm.pending = false
		delete(t.numbered, tm.number)
	}
	t.rt.Call(tm.callback, tm.this, tm.args...)
}

func (t *timers) refresh(tm *timer) {
	if tm.cleared {
		return
	}
	t.rt.ClearTimer(tm.id)
	t.start(tm)
}

func (t *timers) clear(tm *timer) {
	tm.cleared, tm.pending = true, false
	delete(t.numbered, tm.number)
	t.rt.ClearTimer(tm.id)
}

// clearTimeout takes a timer, or the number that it became in a calculation, or that
// number as text. Anything else it ignores.
func (t *timers) clearTimeout(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	tm := t.of(v)
	if tm == nil && (goja.IsNumber(v) || goja.IsString(v)) {
		if n, err := strconv.Atoi(v.String()); err == nil {
			tm = t.numbered[n]
		}
	}
	if tm != nil && !tm.immediate {
		t.clear(tm)
	}
	return goja.Undefined()
}

package process

import (
	"math"
	"strconv"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

// exitAborted is the exit code of process.abort.
const exitAborted = 134

// setCode checks an exit code as Node does: an integer, or its text.
func (p *process) setCode(v goja.Value) {
	if goja.IsUndefined(v) || goja.IsNull(v) {
		p.code = v
		return
	}
	n := v
	if s, ok := v.(goja.String); ok && s.String() != "" {
		if f, err := strconv.ParseFloat(s.String(), 64); err == nil {
			n = p.vm.ToValue(f)
		}
	}
	if !goja.IsNumber(n) {
		panic(native.InvalidType(p.vm, "code", "of type number", v))
	}
	if f := n.ToFloat(); f != math.Trunc(f) || math.IsInf(f, 0) {
		panic(native.OutOfRange(p.vm, "code", "an integer", n))
	}
	p.code = v
}

// status is the exit code as the operating system has it, fallback if the script has not
// said any.
func (p *process) status(fallback int) int {
	if goja.IsUndefined(p.code) || goja.IsNull(p.code) {
		return fallback
	}
	return int(uint8(int64(math.Mod(p.code.ToFloat(), 256)))) //nolint:gosec // that is how exit codes wrap
}

// exit ends the run at once.
func (p *process) exit(c goja.FunctionCall) goja.Value {
	if v := c.Argument(0); !goja.IsUndefined(v) {
		p.setCode(v)
	}
	if !p.exiting {
		p.exiting = true
		p.emit("exit", p.vm.ToValue(p.status(0)))
	}
	p.rt.Exit(p.status(0))
	return nil
}

// end is told that the run ends otherwise.
func (p *process) end(code int) int {
	if p.exiting {
		return code
	}
	p.exiting = true
	if code != 0 {
		p.code = p.vm.ToValue(code)
	}
	code = p.status(code)
	p.guarded(func() { p.emit("exit", p.vm.ToValue(code)) })
	return p.status(code)
}

func (p *process) idle() {
	p.guarded(func() { p.emit("beforeExit", p.vm.ToValue(p.status(0))) })
}

func (p *process) rejected(reason, promise goja.Value) (handled bool) {
	p.guarded(func() { handled = p.emit("unhandledRejection", reason, promise) })
	return handled
}

func (p *process) uncaught(v goja.Value, rejection bool) (handled bool) {
	if p.handling {
		return false
	}
	p.handling = true
	defer func() { p.handling = false }()
	origin := p.vm.ToValue("uncaughtException")
	if rejection {
		origin = p.vm.ToValue("unhandledRejection")
	}
	p.guarded(func() {
		p.emit("uncaughtExceptionMonitor", v, origin)
		handled = p.emit("uncaughtException", v, origin)
	})
	return handled
}

// guarded calls fn, which runs listeners. What they throw is uncaught.
func (p *process) guarded(fn func()) {
	if p.emitter == nil {
		return // no one listens
	}
	call, _ := goja.AssertFunction(native.Func(p.vm, "", 0, func(goja.FunctionCall) goja.Value {
		fn()
		return nil
	}))
	p.rt.Call(call, goja.Undefined())
}

// emitWarning writes a warning to standard error, and then tells listeners of it.
func (p *process) emitWarning(c goja.FunctionCall) goja.Value {
	warning, kind, code := c.Argument(0), c.Argument(1), c.Argument(2)
	detail := goja.Undefined()
	if o, ok := kind.(*goja.Object); ok {
		if _, callable := goja.AssertFunction(kind); !callable && o.ClassName() != "Array" {
			kind, code, detail = property(o, "type"), property(o, "code"), property(o, "detail")
		}
	}
	if _, callable := goja.AssertFunction(kind); callable {
		kind, code = goja.Undefined(), goja.Undefined()
	}
	if _, callable := goja.AssertFunction(code); callable {
		code = goja.Undefined()
	}
	for name, v := range map[string]goja.Value{"type": kind, "code": code} {
		if !goja.IsUndefined(v) && !goja.IsNull(v) && !goja.IsString(v) {
			panic(native.InvalidType(p.vm, name, "of type string", v))
		}
	}
	e, ok := warning.(*goja.Object)
	switch {
	case goja.IsString(warning):
		var err error
		e, err = p.vm.New(p.vm.Get("Error"), warning)
		native.Must(err)
		name := "Warning"
		if goja.IsString(kind) && kind.String() != "" {
			name = kind.String()
		}
		native.Hide(e, "name", p.vm.ToValue(name))
		if goja.IsString(code) {
			native.Must(e.Set("code", code))
		}
		if goja.IsString(detail) {
			native.Must(e.Set("detail", detail))
		}
	case !ok || e.ClassName() != "Error":
		panic(native.InvalidType(p.vm, "warning", "of type string or an instance of Error", warning))
	}
	text := property(e, "name").String() + ": " + property(e, "message").String()
	if property(e, "name").String() == "DeprecationWarning" && p.object.Get("noDeprecation") != nil && p.object.Get("noDeprecation").ToBoolean() {
		return nil
	}
	if v := property(e, "code"); goja.IsString(v) {
		text = "[" + v.String() + "] " + text
	}
	if v := property(e, "detail"); goja.IsString(v) {
		text += "\n" + v.String()
	}
	p.rt.NextTick(func() {
		p.rt.Write(engine.Stderr, []byte("(mcpx) "+text+"\n"))
		p.guarded(func() { p.emit("warning", e) })
	})
	return nil
}

func property(o *goja.Object, name string) goja.Value {
	if v := o.Get(name); v != nil {
		return v
	}
	return goja.Undefined()
}

// inherit makes the prototype: that of an EventEmitter, once a method of one is used.
func (p *process) inherit() {
	c := native.NewAbstract(p.vm, "process").Hidden()
	c.Tag("process")
	p.prototype = c.Prototype
	p.borrow(c.Prototype)
	native.Must(p.object.SetPrototype(c.Prototype))
}

// emitterMethods are the methods of an EventEmitter.
var emitterMethods = []string{
	"on", "once", "off", "emit", "addListener", "removeListener", "removeAllListeners", "prependListener",
	"prependOnceListener", "listeners", "rawListeners", "listenerCount", "eventNames", "setMaxListeners", "getMaxListeners",
}

// borrow gives a prototype the methods of EventEmitter, and makes it inherit from it when
// the first is called.
func (p *process) borrow(prototype *goja.Object) {
	for _, name := range emitterMethods {
		native.Hide(prototype, name, native.Func(p.vm, name, 0, func(c goja.FunctionCall) goja.Value {
			if prototype.Prototype() != p.events() {
				for _, name := range emitterMethods {
					native.Must(prototype.Delete(name))
				}
				native.Must(prototype.SetPrototype(p.events()))
			}
			fn, _ := goja.AssertFunction(p.events().Get(name))
			return native.Call(fn, c.This, c.Arguments...)
		}))
	}
}

// events returns EventEmitter.prototype.
func (p *process) events() *goja.Object {
	if p.emitter == nil {
		events := p.rt.Require("node:events")
		if events == nil {
			panic(p.vm.NewTypeError("there is no module node:events"))
		}
		p.emitter = events.Get("prototype").(*goja.Object)
	}
	return p.emitter
}

// emit tells the listeners of process, and reports whether there are any.
func (p *process) emit(event string, args ...goja.Value) bool {
	if p.emitter == nil {
		return false
	}
	v := native.Invoke(p.vm, p.object, "emit", append([]goja.Value{p.vm.ToValue(event)}, args...)...)
	return v.ToBoolean()
}

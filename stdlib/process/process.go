// Package process is the global process and node:process of a script, and the global
// navigator.
//
// It knows the run, not the machine: argv holds the script and its arguments, env the
// variables that the run was granted, cwd() the directory that it was given. What
// identifies a process or a machine (pid, memory of others, users) is constant or not
// there. The version is that of the Node whose behaviour the library follows, since
// packages ask for it to choose what they use.
//
//	op       head     answer
//	env      {}       {env: {NAME: value}, all}, the variables that are granted, and whether that is all
//	env      {name}   {}, or a refusal: a variable that is not there was looked for
//	stdin    {max}    {end}, and at most max bytes of standard input as the body
//
// env is asked once, when the script first reads process.env, and a refusal means that
// nothing is granted. stdin waits for input; end says that there is no more.
//
// The methods of an EventEmitter come from node:events on first use.
package process

import (
	_ "embed"
	"math/big"
	goruntime "runtime"
	"time"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

// Version is the version of Node that process.version names.
const Version = "v20.20.2"

//go:embed process.d.ts
var declarations string

//go:embed globals.d.ts
var globals string

// Modules returns the globals and node:process.
func Modules() []engine.Module {
	made := func(rt *engine.Runtime) *goja.Object {
		if o := rt.Require("node:process"); o != nil {
			return o
		}
		return newProcess(rt).object
	}
	return []engine.Module{
		{
			Name:         "node:process",
			Declarations: declarations,
			Make:         func(rt *engine.Runtime) *goja.Object { return newProcess(rt).object },
		},
		{
			Globals:      []string{"process", "navigator"},
			Declarations: globals,
			Make: func(rt *engine.Runtime) *goja.Object {
				vm := rt.VM()
				o := vm.NewObject()
				native.Lazy(vm, o, "process", func() goja.Value { return made(rt) })
				native.Lazy(vm, o, "navigator", func() goja.Value { return navigator(rt) })
				return o
			},
		},
	}
}

// process is that of one runtime.
type process struct {
	rt        *engine.Runtime
	vm        *goja.Runtime
	object    *goja.Object
	prototype *goja.Object
	emitter   *goja.Object // EventEmitter.prototype, once something asked for it

	code     goja.Value // exitCode as it was assigned
	exiting  bool
	handling bool // an uncaughtException listener runs
}

func newProcess(rt *engine.Runtime) *process {
	vm := rt.VM()
	p := &process{rt: rt, vm: vm, object: vm.NewObject(), code: goja.Undefined()}
	p.inherit()
	p.facts()
	p.streams()
	p.functions()
	rt.SetLifecycle(engine.Lifecycle{Rejected: p.rejected, Uncaught: p.uncaught, Idle: p.idle, Exit: p.end})
	return p
}

// facts adds what does not change.
func (p *process) facts() {
	ambient, source := p.rt.Ambient(), p.rt.Source()
	script := source.File
	if script == "" {
		script = source.Name
	}
	array := func(items ...string) *goja.Object {
		values := make([]any, len(items))
		for i, s := range items {
			values[i] = s
		}
		return p.vm.NewArray(values...)
	}
	record := func(pairs ...string) *goja.Object {
		o := p.vm.NewObject()
		for i := 0; i < len(pairs); i += 2 {
			native.Must(o.Set(pairs[i], pairs[i+1]))
		}
		return o
	}
	set := func(name string, v any) { native.Must(p.object.Set(name, v)) }
	set("title", "mcpx")
	set("version", Version)
	set("versions", record("node", Version[1:], "modules", "115"))
	set("arch", ambient.Arch)
	set("platform", ambient.Platform)
	set("release", record("name", "node", "lts", "Iron"))
	set("argv", array(append([]string{"mcpx", script}, ambient.Args...)...))
	set("execArgv", array())
	native.Lazy(p.vm, p.object, "env", func() goja.Value { return newEnvironment(p.rt) })
	set("pid", 1)
	set("ppid", 0)
	set("execPath", "mcpx")
	set("argv0", "mcpx")
	set("features", p.vm.NewObject())
	set("config", p.vm.NewObject())
	code := func(c goja.FunctionCall) goja.Value {
		p.setCode(c.Argument(0))
		return nil
	}
	native.Must(p.object.DefineAccessorProperty("exitCode",
		native.Func(p.vm, "get exitCode", 0, func(goja.FunctionCall) goja.Value { return p.code }),
		native.Func(p.vm, "set exitCode", 1, code), goja.FLAG_TRUE, goja.FLAG_TRUE))
}

func (p *process) functions() {
	vm := p.vm
	set := func(name string, length int, fn native.Function) { native.Set(vm, p.object, name, length, fn) }
	set("cwd", 0, func(goja.FunctionCall) goja.Value {
		if cwd := p.rt.Ambient().Cwd; cwd != "" {
			return vm.ToValue(cwd)
		}
		return vm.ToValue("/")
	})
	set("chdir", 1, func(c goja.FunctionCall) goja.Value {
		directory := native.Text(vm, c.Argument(0), "directory").String()
		panic(native.Error(vm, "Error", "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "a script cannot change its directory: chdir "+directory))
	})
	set("umask", 1, func(goja.FunctionCall) goja.Value { return vm.ToValue(0o22) })
	set("uptime", 0, func(goja.FunctionCall) goja.Value { return vm.ToValue(p.rt.Age().Seconds()) })
	set("exit", 1, p.exit)
	set("abort", 0, func(goja.FunctionCall) goja.Value {
		p.rt.Exit(exitAborted)
		return nil
	})
	set("kill", 2, p.kill)
	set("nextTick", 1, func(c goja.FunctionCall) goja.Value {
		fn := native.Callback(vm, c.Argument(0), "callback")
		var args []goja.Value
		if len(c.Arguments) > 1 {
			args = append(args, c.Arguments[1:]...)
		}
		p.rt.NextTick(func() { p.rt.Call(fn, goja.Undefined(), args...) })
		return nil
	})
	set("emitWarning", 4, p.emitWarning)
	set("getBuiltinModule", 1, func(c goja.FunctionCall) goja.Value {
		id := native.Text(vm, c.Argument(0), "id").String()
		for _, name := range []string{id, "node:" + id} {
			if o := p.rt.Require(name); o != nil {
				return o
			}
		}
		return nil
	})
	hrtime := native.Func(vm, "hrtime", 1, p.hrtime)
	native.Must(hrtime.Set("bigint", native.Func(vm, "hrtimeBigInt", 0, func(goja.FunctionCall) goja.Value {
		return vm.ToValue(big.NewInt(int64(clock(p.rt))))
	})))
	native.Must(p.object.Set("hrtime", hrtime))
	memory := native.Func(vm, "memoryUsage", 0, func(goja.FunctionCall) goja.Value { return p.memory() })
	native.Set(vm, memory, "rss", 0, func(goja.FunctionCall) goja.Value { return p.memory().Get("rss") })
	native.Must(p.object.Set("memoryUsage", memory))
}

// clock is the time of hrtime. It starts at no time in particular.
func clock(rt *engine.Runtime) time.Duration { return rt.Age() + time.Hour }

func (p *process) hrtime(c goja.FunctionCall) goja.Value {
	now := clock(p.rt)
	seconds, nanoseconds := int64(now/time.Second), int64(now%time.Second)
	if before := c.Argument(0); !goja.IsUndefined(before) {
		o, ok := before.(*goja.Object)
		if !ok || o.ClassName() != "Array" {
			panic(native.InvalidType(p.vm, "time", "an instance of Array", before))
		}
		if n := o.Get("length"); n.ToInteger() != 2 {
			panic(native.OutOfRange(p.vm, "time", "2", n))
		}
		seconds -= o.Get("0").ToInteger()
		nanoseconds -= o.Get("1").ToInteger()
		if nanoseconds < 0 {
			seconds--
			nanoseconds += int64(time.Second)
		}
	}
	return p.vm.NewArray(seconds, nanoseconds)
}

// memory is what the whole process of the run uses, as far as Go knows.
func (p *process) memory() *goja.Object {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	o := p.vm.NewObject()
	for _, f := range []struct {
		name string
		n    uint64
	}{{"rss", m.Sys}, {"heapTotal", m.HeapSys}, {"heapUsed", m.HeapAlloc}, {"external", 0}, {"arrayBuffers", 0}} {
		native.Must(o.Set(f.name, f.n))
	}
	return o
}

// kill sends nothing: a script has no processes but its own, which it may only ask
// about, with the signal 0.
func (p *process) kill(c goja.FunctionCall) goja.Value {
	if !goja.IsNumber(c.Argument(0)) {
		panic(native.InvalidType(p.vm, "pid", "of type number", c.Argument(0)))
	}
	if pid, signal := c.Argument(0).ToInteger(), c.Argument(1); pid == 1 && goja.IsNumber(signal) && signal.ToInteger() == 0 {
		return p.vm.ToValue(true)
	}
	e := native.Error(p.vm, "Error", "EPERM", "kill EPERM")
	native.Must(e.Set("errno", -1))
	native.Must(e.Set("syscall", "kill"))
	panic(e)
}

// navigator is the global of that name.
func navigator(rt *engine.Runtime) goja.Value {
	vm, ambient := rt.VM(), rt.Ambient()
	c := native.NewAbstract(vm, "Navigator")
	c.Tag("Navigator")
	locale := ambient.Locale
	if locale == "" {
		locale = "en-US"
	}
	constant := func(name string, v goja.Value) { c.Getter(name, func(goja.Value) goja.Value { return v }) }
	constant("hardwareConcurrency", vm.ToValue(1))
	constant("language", vm.ToValue(locale))
	constant("languages", vm.NewArray(locale))
	constant("platform", vm.ToValue(ambient.Platform))
	constant("userAgent", vm.ToValue("mcpx Node.js/"+Version[1:3]))
	return c.New()
}

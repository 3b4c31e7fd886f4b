// Package childprocess is node:child_process: programs that a script starts. It asks
// engine.Host, which decides what may be started and looks the program up.
//
//	op         head                                  answer, and the body of either
//	run.start  {file, args, argv0, cwd, env,         {id, pid}
//	            inherit, stdin, stdout, stderr}
//	run.write  {id, end}, body                       nothing: the program took it; end says that
//	                                                 it was the last
//	run.read   {id, stream, max}                     {end}, body: at most max bytes of stream 1
//	                                                 or 2, and at least one, unless it has ended
//	run.wait   {id}                                  {code} or {signal}, once the program has ended
//	run.kill   {id, signal}                          {sent}: whether there was a program to send
//	                                                 the signal to
//
// stdin, stdout and stderr say which of them are pipes; the others are empty. env is all
// of the environment, and inherit says that the script gave none of its own: env is then
// its process.env, and the host adds what every program needs. An id is forgotten when
// run.wait was answered and every pipe for reading was read to its end. A program ends
// with the run at the latest, and what it leaves in its group with it.
//
// An error of the system is a fault.Error with the detail code, such as ENOENT when there
// is no such program, EPIPE when it no longer reads: a script sees Node's error for it.
// Any other error, such as one of the kind denied, it sees as it is, and at once.
//
// What a program inherits is the run's: its output is read here and written there, and
// standard input is asked of the op stdin, {max} → {end} and a body.
package childprocess

import (
	_ "embed"
	"encoding/json"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/internal/fault"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
	"mcpx/stdlib/internal/source"
)

//go:embed childprocess.d.ts
var declarations string

//go:embed childprocess.js
var text string

var script = source.New("mcpx:child-process", text)

// Module returns node:child_process.
func Module() engine.Module {
	return engine.Module{
		Name:         "node:child_process",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{rt: rt, vm: rt.VM(), octets: octets.New(rt.VM())}
			return script.Make(rt, m.natives())
		},
	}
}

// module is what the script's text needs of one runtime.
type module struct {
	rt     *engine.Runtime
	vm     *goja.Runtime
	octets *octets.Octets
}

func (m *module) natives() source.Natives {
	vm := m.vm
	return source.Natives{
		"start": m.start,
		"write": m.write,
		"read":  m.read,
		"wait":  m.wait,
		"kill":  m.kill,
		"input": m.input,
		"sync":  m.sync,
		"output": func(call goja.FunctionCall) goja.Value {
			b, _ := m.octets.Bytes(call.Argument(1))
			m.rt.Write(stream(call.Argument(0).ToInteger()), b)
			return nil
		},
		"hold": func(goja.FunctionCall) goja.Value {
			release := m.rt.Hold()
			return native.Func(vm, "release", 0, func(goja.FunctionCall) goja.Value {
				release()
				return nil
			})
		},
		"environment": func(goja.FunctionCall) goja.Value {
			process := m.rt.Require("node:process")
			if process == nil {
				return vm.NewObject()
			}
			return process.Get("env")
		},
		"bytes": func(call goja.FunctionCall) goja.Value {
			if b, ok := m.octets.Bytes(call.Argument(0)); ok && m.octets.IsView(call.Argument(0)) {
				return m.octets.Buffer(append([]byte(nil), b...))
			}
			return goja.Undefined()
		},
		"encode": func(call goja.FunctionCall) goja.Value {
			e, ok := octets.Named(call.Argument(1).String())
			if !ok {
				e = octets.UTF8
			}
			return m.octets.Buffer(e.Encode(native.String(vm, call.Argument(0))))
		},
		"decode": func(call goja.FunctionCall) goja.Value {
			b, _ := m.octets.Bytes(call.Argument(0))
			e, ok := octets.Named(call.Argument(1).String())
			if !ok {
				return call.Argument(0)
			}
			return e.Decode(vm, b)
		},
		"join": func(call goja.FunctionCall) goja.Value {
			list, _ := call.Argument(0).(*goja.Object)
			var joined []byte
			for _, key := range list.Keys() {
				b, _ := m.octets.Bytes(list.Get(key))
				joined = append(joined, b...)
			}
			return m.octets.Buffer(joined)
		},
		"tick": func(call goja.FunctionCall) goja.Value {
			fn := native.Callback(vm, call.Argument(0), "callback")
			m.rt.NextTick(func() { m.rt.Call(fn, goja.Undefined()) })
			return nil
		},
		"later": func(call goja.FunctionCall) goja.Value {
			fn := native.Callback(vm, call.Argument(0), "callback")
			id := m.rt.SetTimer(milliseconds(call.Argument(1)), false, func() { m.rt.Call(fn, goja.Undefined()) })
			return native.Func(vm, "clear", 0, func(goja.FunctionCall) goja.Value {
				m.rt.ClearTimer(id)
				return nil
			})
		},
		"require": func(call goja.FunctionCall) goja.Value {
			if o := m.rt.Require(call.Argument(0).String()); o != nil {
				return o
			}
			panic(vm.NewTypeError("there is no module %q", call.Argument(0).String()))
		},
		"invalidValue": func(call goja.FunctionCall) goja.Value {
			return native.InvalidValue(vm, call.Argument(0).String(), call.Argument(1), call.Argument(2).String())
		},
		"outOfRange": func(call goja.FunctionCall) goja.Value {
			return native.OutOfRange(vm, call.Argument(0).String(), call.Argument(1).String(), call.Argument(2))
		},
	}
}

// stream is the output of the run that a descriptor is.
func stream(fd int64) int {
	if fd == engine.Stderr {
		return engine.Stderr
	}
	return engine.Stdout
}

// decode reads the head of an answer.
func decode(op string, head json.RawMessage, into any) error {
	if err := json.Unmarshal(head, into); err != nil {
		return fault.Internalf("the answer to %s is malformed: %w", op, err)
	}
	return nil
}

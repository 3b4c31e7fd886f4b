package process

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
	"mcpx/stdlib/internal/source"
)

// streams adds stdout, stderr and stdin, each when it is first used.
func (p *process) streams() {
	native.Lazy(p.vm, p.object, "stdout", func() goja.Value { return p.output(engine.Stdout) })
	native.Lazy(p.vm, p.object, "stderr", func() goja.Value { return p.output(engine.Stderr) })
	native.Lazy(p.vm, p.object, "stdin", func() goja.Value { return p.input() })
}

// output makes stdout or stderr. What is written is handed on at once, so that neither
// is ever full, finished or in error, until the script ends it.
func (p *process) output(stream int) *goja.Object {
	vm := p.vm
	bytes := octets.New(vm)
	c := native.NewAbstract(vm, "WriteStream").Hidden()
	p.borrow(c.Prototype)
	o := c.New()
	ended := false
	later := func(fn goja.Value, args ...goja.Value) {
		if call, ok := goja.AssertFunction(fn); ok {
			p.rt.NextTick(func() { p.rt.Call(call, goja.Undefined(), args...) })
		}
	}
	emit := func(event string) {
		p.rt.NextTick(func() {
			if fn, ok := goja.AssertFunction(o.Get("emit")); ok && p.emitter != nil {
				p.rt.Call(fn, o, vm.ToValue(event))
			}
		})
	}
	write := func(chunk, encoding goja.Value) {
		switch v := chunk.(type) {
		case goja.String:
			e, ok := octets.UTF8, true
			if s, is := encoding.(goja.String); is {
				e, ok = octets.Named(s.String())
			}
			if !ok {
				panic(native.Error(vm, "TypeError", "ERR_UNKNOWN_ENCODING", "Unknown encoding: "+encoding.String()))
			}
			p.rt.Write(stream, e.Encode(v))
			return
		case *goja.Object:
			if b, ok := bytes.Bytes(v); ok && bytes.IsView(v) {
				p.rt.Write(stream, b)
				return
			}
		default:
			if goja.IsNull(chunk) {
				panic(native.Error(vm, "TypeError", "ERR_STREAM_NULL_VALUES", "May not write null values to stream"))
			}
		}
		panic(native.InvalidType(vm, "chunk", "of type string or an instance of Buffer, TypedArray, or DataView", chunk))
	}
	c.Method("write", 3, func(call goja.FunctionCall) goja.Value {
		encoding, done := call.Argument(1), call.Argument(2)
		if _, ok := goja.AssertFunction(encoding); ok {
			encoding, done = goja.Undefined(), encoding
		}
		if ended {
			e := native.Error(vm, "Error", "ERR_STREAM_WRITE_AFTER_END", "write after end")
			later(done, e)
			return vm.ToValue(false)
		}
		write(call.Argument(0), encoding)
		later(done, goja.Null())
		return vm.ToValue(true)
	})
	c.Method("end", 3, func(call goja.FunctionCall) goja.Value {
		args := call.Arguments
		var done goja.Value
		if n := len(args); n > 0 {
			if _, ok := goja.AssertFunction(args[n-1]); ok {
				done, args = args[n-1], args[:n-1]
			}
		}
		rest := goja.FunctionCall{Arguments: args}
		if chunk := rest.Argument(0); !ended && !goja.IsUndefined(chunk) && !goja.IsNull(chunk) {
			write(chunk, rest.Argument(1))
		}
		if !ended {
			ended = true
			emit("finish")
		}
		if done != nil {
			later(done)
		}
		return call.This
	})
	this := func(call goja.FunctionCall) goja.Value { return call.This }
	for _, name := range []string{"cork", "uncork", "ref", "unref", "setDefaultEncoding", "destroy"} {
		c.Method(name, 0, this)
	}
	ambient := p.rt.Ambient()
	set := func(name string, v any) { native.Must(o.Set(name, v)) }
	set("fd", stream)
	set("writable", true)
	set("writableHighWaterMark", 16384)
	set("writableLength", 0)
	set("writableObjectMode", false)
	set("destroyed", false)
	c.Getter("writableEnded", func(goja.Value) goja.Value { return vm.ToValue(ended) })
	c.Getter("writableFinished", func(goja.Value) goja.Value { return vm.ToValue(ended) })
	if stream == engine.Stdout && ambient.Columns > 0 {
		p.terminal(c, o)
	}
	return o
}

// terminal adds what a stream has that a terminal is behind.
func (p *process) terminal(c *native.Class, o *goja.Object) {
	vm, ambient := p.vm, p.rt.Ambient()
	set := func(name string, v any) { native.Must(o.Set(name, v)) }
	rows := 24
	set("isTTY", true)
	set("columns", ambient.Columns)
	set("rows", rows)
	c.Method("getWindowSize", 0, func(goja.FunctionCall) goja.Value { return vm.NewArray(ambient.Columns, rows) })
	depth := 1
	if ambient.Color {
		depth = 8
	}
	c.Method("getColorDepth", 0, func(goja.FunctionCall) goja.Value { return vm.ToValue(depth) })
	c.Method("hasColors", 0, func(call goja.FunctionCall) goja.Value {
		count := int64(16)
		if goja.IsNumber(call.Argument(0)) {
			count = call.Argument(0).ToInteger()
		}
		return vm.ToValue(count <= 1<<depth)
	})
	control := func(name string, length int, sequence func(args []goja.Value) string) {
		c.Method(name, length, func(call goja.FunctionCall) goja.Value {
			p.rt.Write(engine.Stdout, []byte(sequence(call.Arguments)))
			for _, a := range call.Arguments {
				if fn, ok := goja.AssertFunction(a); ok {
					p.rt.NextTick(func() { p.rt.Call(fn, goja.Undefined()) })
				}
			}
			return vm.ToValue(true)
		})
	}
	number := func(args []goja.Value, i int) (n int64, ok bool) {
		if i >= len(args) || !goja.IsNumber(args[i]) {
			return 0, false
		}
		return args[i].ToInteger(), true
	}
	control("clearLine", 2, func(args []goja.Value) string {
		switch n, _ := number(args, 0); {
		case n < 0:
			return "\x1b[1K"
		case n > 0:
			return "\x1b[0K"
		}
		return "\x1b[2K"
	})
	control("clearScreenDown", 1, func([]goja.Value) string { return "\x1b[0J" })
	control("cursorTo", 3, func(args []goja.Value) string {
		x, _ := number(args, 0)
		if y, ok := number(args, 1); ok {
			return fmt.Sprintf("\x1b[%d;%dH", y+1, x+1)
		}
		return fmt.Sprintf("\x1b[%dG", x+1)
	})
	control("moveCursor", 3, func(args []goja.Value) string {
		text := ""
		move := func(i int, back, forth byte) {
			switch n, _ := number(args, i); {
			case n < 0:
				text += fmt.Sprintf("\x1b[%d%c", -n, back)
			case n > 0:
				text += fmt.Sprintf("\x1b[%d%c", n, forth)
			}
		}
		move(0, 'D', 'C')
		move(1, 'A', 'B')
		return text
	})
}

//go:embed stdin.js
var stdinText string

var stdin = source.New("mcpx:stdin", stdinText)

// inputChunk is how much of standard input is asked for at a time.
const inputChunk = 64 << 10

// input makes stdin, a Readable of node:stream. A read that is under way keeps the run
// alive as long as the script wants it to.
func (p *process) input() *goja.Object {
	vm := p.vm
	stream := p.rt.Require("node:stream")
	if stream == nil {
		panic(vm.NewTypeError("there is no module node:stream"))
	}
	bytes := octets.New(vm)
	type chunk struct {
		b   []byte
		end bool
	}
	release := func() {}
	made := stdin.Make(p.rt, source.Natives{
		"stream": func(goja.FunctionCall) goja.Value { return stream },
		"read": func(goja.FunctionCall) goja.Value {
			return engine.Background(p.rt, "stdin", func(ctx context.Context) (chunk, error) {
				b, end, err := readInput(ctx, p.rt.Host(), inputChunk)
				return chunk{b, end}, err
			}, func(c chunk) goja.Value {
				if len(c.b) == 0 && c.end {
					return goja.Null()
				}
				return bytes.Buffer(c.b)
			})
		},
		"hold": func(goja.FunctionCall) goja.Value {
			release()
			release = p.rt.Hold()
			return nil
		},
		"release": func(goja.FunctionCall) goja.Value {
			release()
			return nil
		},
	})
	return made.Get("stdin").(*goja.Object)
}

// readInput asks a host for standard input. A host without any is at its end.
func readInput(ctx context.Context, host engine.Host, most int) (b []byte, end bool, err error) {
	if host == nil {
		return nil, true, nil
	}
	head, body, err := host.Call(ctx, "stdin", map[string]int{"max": most}, nil)
	if err != nil {
		return nil, false, fmt.Errorf("reading standard input: %w", err)
	}
	var answer struct {
		End bool `json:"end"`
	}
	if err := json.Unmarshal(head, &answer); err != nil {
		return nil, false, fmt.Errorf("reading standard input: %w", err)
	}
	return body, answer.End, nil
}

package zlib

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"runtime"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// pieceSize is how much a stream hands out at a time.
const pieceSize = 64 << 10

// flow is what stands behind a stream of a kind.
type flow struct {
	settings *settings
	written  int // bytes that came out
	taken    int // bytes that went in

	// Of compression.
	out    bytes.Buffer
	writer io.WriteCloser

	// Of decompression: the readers of the standard library ask for their input, so that
	// one runs as a coroutine, which stops where it needs more.
	feed   *feed
	resume func() ([]byte, bool)
}

// feed is the input of a coroutine.
type feed struct {
	in    []byte
	ended bool
	err   error
	more  func() bool // stops until there is more
}

func (f *feed) Read(p []byte) (int, error) {
	for len(f.in) == 0 {
		if f.ended || !f.more() {
			return 0, io.EOF
		}
	}
	n := copy(p, f.in)
	f.in = f.in[n:]
	return n, nil
}

func newFlow(s *settings) *flow {
	f := &flow{settings: s}
	f.reset()
	return f
}

func (f *flow) reset() {
	f.out.Reset()
	if !f.settings.kind.reads {
		f.writer = f.settings.writer(&f.out)
		return
	}
	in, s := &feed{}, f.settings
	resume, stop := iter.Pull(func(yield func([]byte) bool) {
		in.more = func() bool { return yield(nil) }
		r := s.reader(bufio.NewReaderSize(in, 4096))
		var err error
		for err == nil {
			piece := make([]byte, pieceSize)
			var n int
			n, err = r.Read(piece)
			if n > 0 && !yield(piece[:n]) {
				return
			}
		}
		if in.err = s.said(err); errors.Is(err, io.EOF) {
			in.err = nil
		}
	})
	f.feed, f.resume = in, resume
	runtime.AddCleanup(f, func(stop func()) { stop() }, stop) // a script may leave it half way
}

// pieces takes the next input, and hands out what comes of it.
func (f *flow) pieces(ctx context.Context, data []byte, last bool, push func([]byte)) error {
	f.taken += len(data)
	out := func(p []byte) error {
		if f.written += len(p); f.written > f.settings.most {
			return f.settings.tooLong()
		}
		push(p)
		return context.Cause(ctx)
	}
	if f.feed != nil {
		return f.decompress(data, last, out)
	}
	for chunk := range chunks(data) {
		if _, err := f.writer.Write(chunk); err != nil {
			return err
		}
		if err := f.drain(out); err != nil {
			return err
		}
	}
	if last {
		if err := f.writer.Close(); err != nil {
			return err
		}
	}
	return f.drain(out)
}

func (f *flow) drain(out func([]byte) error) error {
	for f.out.Len() > 0 {
		if err := out(bytes.Clone(f.out.Next(pieceSize))); err != nil {
			return err
		}
	}
	return nil
}

func (f *flow) decompress(data []byte, last bool, out func([]byte) error) error {
	f.feed.in, f.feed.ended = data, last
	if last && f.taken == 0 {
		return nil // nothing at all is nothing, decompressed
	}
	for {
		piece, running := f.resume()
		if len(piece) > 0 {
			if err := out(piece); err != nil {
				return err
			}
			continue
		}
		if !running || !last {
			return f.feed.err
		}
	}
}

// flush makes all that went in come out.
func (f *flow) flush(push func([]byte)) error {
	if w, ok := f.writer.(interface{ Flush() error }); ok {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return f.drain(func(p []byte) error {
		f.written += len(p)
		push(p)
		return nil
	})
}

// newClass makes the class of the streams of a kind.
func (m *module) newClass(k kind) *goja.Object {
	stream := m.rt.Require("node:stream")
	if stream == nil {
		panic(m.vm.NewTypeError("there are no streams here"))
	}
	transform, ok := stream.Get("Transform").(*goja.Object)
	super, callable := goja.AssertFunction(transform)
	if !ok || !callable {
		panic(m.vm.NewTypeError("there are no streams here"))
	}
	c := native.NewClass(m.vm, k.class, 1, func(call goja.ConstructorCall) *goja.Object {
		s := m.settings(k, call.Argument(0))
		m.flows.Set(call.This, newFlow(s))
		native.Call(super, call.This, call.Argument(0))
		return nil
	})
	c.Extends(transform)
	of := func(this goja.Value) *flow {
		f, ok := m.flows.Get(this)
		if !ok {
			panic(m.vm.NewTypeError("Illegal invocation"))
		}
		return f
	}
	// finish calls back, with an error if there is one.
	finish := func(callback goja.Value, err error) {
		fn, ok := goja.AssertFunction(callback)
		switch {
		case !ok:
		case err != nil:
			native.Call(fn, goja.Undefined(), m.thrown(err))
		default:
			native.Call(fn, goja.Undefined())
		}
	}
	pushTo := func(this goja.Value) func([]byte) {
		return func(p []byte) { native.Invoke(m.vm, this.(*goja.Object), "push", m.octets.Buffer(p)) }
	}
	c.Method("_transform", 3, func(call goja.FunctionCall) goja.Value {
		f := of(call.This)
		finish(call.Argument(2), f.pieces(m.rt.Context(), m.input(call.Argument(0), "chunk"), false, pushTo(call.This)))
		return nil
	})
	c.Method("_flush", 1, func(call goja.FunctionCall) goja.Value {
		f := of(call.This)
		finish(call.Argument(0), f.pieces(m.rt.Context(), nil, true, pushTo(call.This)))
		return nil
	})
	c.Method("flush", 2, func(call goja.FunctionCall) goja.Value {
		callback := call.Argument(0)
		if _, ok := goja.AssertFunction(callback); !ok {
			callback = call.Argument(1)
		}
		finish(callback, of(call.This).flush(pushTo(call.This)))
		return nil
	})
	c.Method("reset", 0, func(call goja.FunctionCall) goja.Value {
		of(call.This).reset()
		return nil
	})
	c.Method("params", 3, func(call goja.FunctionCall) goja.Value {
		finish(call.Argument(2), nil)
		return nil
	})
	c.Method("close", 1, func(call goja.FunctionCall) goja.Value {
		of(call.This)
		if _, ok := goja.AssertFunction(call.Argument(0)); ok {
			native.Invoke(m.vm, call.This.(*goja.Object), "once", m.vm.ToValue("close"), call.Argument(0))
		}
		native.Invoke(m.vm, call.This.(*goja.Object), "destroy")
		return nil
	})
	c.Getter("bytesWritten", func(this goja.Value) goja.Value {
		f, ok := m.flows.Get(this)
		if !ok {
			return goja.Undefined()
		}
		return m.vm.ToValue(f.taken)
	})
	return c.Constructor
}

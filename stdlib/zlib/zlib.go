// Package zlib is node:zlib: gzip, zlib, raw deflate and Brotli, at once, beside the
// script, and as streams of node:stream.
//
// Compressors are Go's: what they write is not byte for byte what Node writes. Of the
// options, those count that say what comes out: level, strategy, dictionary, finishFlush,
// maxOutputLength, and Brotli's quality and window; others are checked and have no
// effect. Nothing grows beyond maxOutput.
package zlib

import (
	"context"
	_ "embed"
	"errors"
	"hash/crc32"
	"math"
	"slices"
	"strconv"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

//go:embed zlib.d.ts
var declarations string

// Module returns node:zlib.
func Module() engine.Module {
	return engine.Module{
		Name:         "node:zlib",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{rt: rt, vm: rt.VM(), octets: octets.New(rt.VM()), flows: native.NewSlot[*flow](), classes: map[string]*goja.Object{}}
			return m.exports()
		},
	}
}

// maxOutput is how long an output may become.
const maxOutput = 1 << 30

type module struct {
	rt     *engine.Runtime
	vm     *goja.Runtime
	octets *octets.Octets
	flows  *native.Slot[*flow]

	classes map[string]*goja.Object // made so far
}

// kinds are the transformations, by the names of their classes.
var kinds = [...]kind{
	{"Deflate", "deflate", false},
	{"Inflate", "inflate", true},
	{"Gzip", "gzip", false},
	{"Gunzip", "gunzip", true},
	{"DeflateRaw", "deflateRaw", false},
	{"InflateRaw", "inflateRaw", true},
	{"Unzip", "unzip", true},
	{"BrotliCompress", "brotliCompress", false},
	{"BrotliDecompress", "brotliDecompress", true},
}

type kind struct {
	class, function string
	reads           bool // compressed data
}

func (k kind) brotli() bool { return k.class == "BrotliCompress" || k.class == "BrotliDecompress" }

func (m *module) exports() *goja.Object {
	e := native.NewExports(m.vm)
	e.Func("crc32", 2, func(call goja.FunctionCall) goja.Value {
		before := uint32(0)
		if v := call.Argument(1); !goja.IsUndefined(v) {
			before = uint32(native.Integer(m.vm, v, "value", 0, math.MaxUint32))
		}
		return m.vm.ToValue(int64(crc32.Update(before, crc32.IEEETable, m.input(call.Argument(0), "data"))))
	})
	for _, k := range kinds {
		e.Lazy(k.class, func() goja.Value { return m.class(k) })
		e.Func(k.function+"Sync", 2, func(call goja.FunctionCall) goja.Value {
			data := m.input(call.Argument(0), "buffer")
			s := m.settings(k, call.Argument(1))
			out, err := s.all(m.rt.Context(), data)
			if err != nil {
				panic(m.thrown(err))
			}
			if s.info {
				o := m.vm.NewObject()
				native.Must(o.Set("buffer", m.octets.Buffer(out)))
				native.Must(o.Set("engine", m.create(k, call.Argument(1))))
				return o
			}
			return m.octets.Buffer(out)
		})
		e.Func(k.function, 3, func(call goja.FunctionCall) goja.Value { return m.later(k, call) })
		e.Func("create"+k.class, 1, func(call goja.FunctionCall) goja.Value { return m.create(k, call.Argument(0)) })
	}
	e.Lazy("constants", func() goja.Value {
		o := m.vm.NewObject()
		for _, c := range constants {
			native.Must(o.DefineDataProperty(c.name, m.vm.ToValue(c.value), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE))
		}
		native.Must(o.DefineDataProperty("Z_MAX_CHUNK", m.vm.ToValue(math.Inf(1)), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE))
		return o
	})
	e.Lazy("codes", func() goja.Value {
		o := m.vm.NewObject()
		for _, c := range constants[codesFrom:codesTo] {
			native.Must(o.Set(c.name, c.value))
			native.Must(o.Set(strconv.Itoa(c.value), c.name))
		}
		return o
	})
	for _, c := range constants {
		if c.name[0] == 'Z' {
			native.Hide(e.Object, c.name, m.vm.ToValue(c.value))
		}
	}
	return e.Object
}

// create is new of a class.
func (m *module) create(k kind, options goja.Value) goja.Value {
	class := m.class(k)
	return native.Construct(class, class, options)
}

// class is the class of the streams of a kind.
func (m *module) class(k kind) *goja.Object {
	if m.classes[k.class] == nil {
		m.classes[k.class] = m.newClass(k)
	}
	return m.classes[k.class]
}

// input copies an argument that is to be transformed.
func (m *module) input(v goja.Value, name string) []byte {
	if s, ok := v.(goja.String); ok {
		return octets.UTF8.Encode(s)
	}
	b, ok := m.octets.Bytes(v)
	if !ok {
		panic(native.InvalidType(m.vm, name, "of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer", v))
	}
	return slices.Clone(b)
}

// later does the work beside the script and calls back.
func (m *module) later(k kind, call goja.FunctionCall) goja.Value {
	options, callback := call.Argument(1), call.Argument(2)
	if _, ok := goja.AssertFunction(options); ok {
		options, callback = goja.Undefined(), options
	}
	fn := native.Callback(m.vm, callback, "callback")
	data, s := m.input(call.Argument(0), "buffer"), m.settings(k, options)
	type outcome struct {
		out []byte
		err error
	}
	engine.Async(m.rt, "zlib", func(ctx context.Context) (outcome, error) {
		out, err := s.all(ctx, data)
		return outcome{out, err}, nil
	}, func(o outcome) goja.Value {
		if o.err != nil {
			m.rt.Call(fn, goja.Undefined(), m.thrown(o.err))
		} else {
			m.rt.Call(fn, goja.Undefined(), goja.Null(), m.octets.Buffer(o.out))
		}
		return nil
	})
	return goja.Undefined()
}

// failure is what zlib says went wrong.
type failure struct {
	code    string
	errno   int
	message string
}

func (f *failure) Error() string { return f.message }

// thrown makes the error that a script sees.
func (m *module) thrown(err error) *goja.Object {
	var f *failure
	if !errors.As(err, &f) {
		return m.rt.NewError(err)
	}
	if f.errno == 0 {
		return native.Error(m.vm, "RangeError", f.code, f.message)
	}
	e, failed := m.vm.New(m.vm.Get("Error"), m.vm.ToValue(f.message))
	native.Must(failed)
	native.Must(e.Set("errno", f.errno))
	native.Must(e.Set("code", f.code))
	return e
}

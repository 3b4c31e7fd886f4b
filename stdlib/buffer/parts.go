package buffer

import (
	"fmt"
	"math"
	"slices"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// parts adds the methods that copy, share and turn around bytes.
func (m *module) parts() {
	c := m.class
	share := func(call goja.FunctionCall) goja.Value {
		n := len(m.self(call))
		start := adjust(call.Argument(0), n, 0)
		end := adjust(call.Argument(1), n, n)
		offset := native.Call(m.offset, call.This).ToInteger()
		return m.octets.View(m.class.Constructor, native.Call(m.buffer, call.This),
			m.vm.ToValue(offset+int64(start)), m.vm.ToValue(max(end-start, 0)))
	}
	c.Method("subarray", 2, share)
	c.Method("slice", 2, share)
	c.Method("copy", 4, m.copy)
	for _, bits := range []int{16, 32, 64} {
		width := bits / 8
		c.Method(fmt.Sprintf("swap%d", bits), 0, func(call goja.FunctionCall) goja.Value {
			b := m.self(call)
			if len(b)%width != 0 {
				panic(native.Error(m.vm, "RangeError", "ERR_INVALID_BUFFER_SIZE", fmt.Sprintf("Buffer size must be a multiple of %d-bits", bits)))
			}
			for i := 0; i < len(b); i += width {
				slices.Reverse(b[i : i+width])
			}
			return call.This
		})
	}
	c.Getter("parent", func(this goja.Value) goja.Value {
		if !m.isBuffer(this) {
			return goja.Undefined()
		}
		return native.Call(m.buffer, this)
	})
	c.Getter("offset", func(this goja.Value) goja.Value {
		if !m.isBuffer(this) {
			return goja.Undefined()
		}
		return native.Call(m.offset, this)
	})
}

// adjust reads an offset into n bytes, which counts from the end if it is negative.
func adjust(v goja.Value, n, missing int) int {
	if goja.IsUndefined(v) {
		return missing
	}
	f := math.Trunc(v.ToNumber().ToFloat())
	switch {
	case math.IsNaN(f):
		return 0
	case f < 0:
		return int(max(f+float64(n), 0))
	}
	return int(min(f, float64(n)))
}

func (m *module) copy(call goja.FunctionCall) goja.Value {
	source := m.bytesOf(call.This, "source")
	target := m.bytesOf(call.Argument(0), "target")
	bound := func(i int, name string, missing float64, want string, most float64) float64 {
		v := call.Argument(i)
		if goja.IsUndefined(v) {
			return missing
		}
		f := math.Floor(v.ToNumber().ToFloat())
		if math.IsNaN(f) || math.Abs(f) > native.MaxSafe {
			f = 0
		}
		if f < 0 || f > most {
			panic(native.OutOfRange(m.vm, name, want, m.vm.ToValue(f)))
		}
		return f
	}
	n := float64(len(source))
	targetStart := bound(1, "targetStart", 0, ">= 0", math.Inf(1))
	start := bound(2, "sourceStart", 0, fmt.Sprintf(">= 0 && <= %d", len(source)), n)
	end := min(bound(3, "sourceEnd", n, ">= 0", math.Inf(1)), n)
	if targetStart >= float64(len(target)) || start >= end {
		return m.vm.ToValue(0)
	}
	return m.vm.ToValue(copy(target[int(targetStart):], source[int(start):int(end)]))
}

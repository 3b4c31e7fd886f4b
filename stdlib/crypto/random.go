package crypto

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

func (m *module) randomExports(e native.Exports) {
	e.Func("randomBytes", 2, func(call goja.FunctionCall) goja.Value {
		n := native.Integer(m.vm, call.Argument(0), "size", 0, math.MaxInt32)
		b := m.octets.Make(n)
		if !goja.IsUndefined(call.Argument(1)) {
			native.Callback(m.vm, call.Argument(1), "callback")
		}
		return answer(m, call.Argument(1), func(*run) ([]byte, error) { return b, fill(b) }, m.buffer)
	})
	e.Func("randomFillSync", 3, func(call goja.FunctionCall) goja.Value {
		m.random(m.part(call.Argument(0), call.Argument(1), call.Argument(2)))
		return call.Argument(0)
	})
	e.Func("randomFill", 4, func(call goja.FunctionCall) goja.Value {
		offset, size, callback := call.Argument(1), call.Argument(2), call.Argument(3)
		if _, ok := goja.AssertFunction(offset); ok {
			offset, size, callback = goja.Undefined(), goja.Undefined(), offset
		} else if _, ok := goja.AssertFunction(size); ok {
			size, callback = goja.Undefined(), size
		}
		native.Callback(m.vm, callback, "callback")
		m.random(m.part(call.Argument(0), offset, size))
		filled := call.Argument(0)
		return answer(m, callback, func(*run) (struct{}, error) { return struct{}{}, nil }, func(struct{}) []goja.Value { return []goja.Value{filled} })
	})
	e.Func("randomInt", 3, m.randomInt)
	e.Func("randomUUID", 1, func(goja.FunctionCall) goja.Value { return m.vm.ToValue(uuid()) })
	e.Func("timingSafeEqual", 2, func(call goja.FunctionCall) goja.Value {
		a, ok := m.octets.Bytes(call.Argument(0))
		if !ok {
			panic(m.error("TypeError", "ERR_INVALID_ARG_TYPE", `The "buf1" argument must be `+memory+"."))
		}
		b, ok := m.octets.Bytes(call.Argument(1))
		if !ok {
			panic(m.error("TypeError", "ERR_INVALID_ARG_TYPE", `The "buf2" argument must be `+memory+"."))
		}
		if len(a) != len(b) {
			panic(m.error("RangeError", "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", "Input buffers must have the same byte length"))
		}
		return m.vm.ToValue(subtle.ConstantTimeCompare(a, b) == 1)
	})
}

func (m *module) buffer(b []byte) []goja.Value { return []goja.Value{m.octets.Buffer(b)} }

func fill(b []byte) error {
	_, err := rand.Read(b)
	return err
}

func (m *module) random(b []byte) {
	if err := fill(b); err != nil {
		panic(m.thrown(err))
	}
}

// part reads a buffer and the part of it that is meant.
func (m *module) part(v, offset, size goja.Value) []byte {
	b, ok := m.octets.Bytes(v)
	if !ok {
		panic(native.InvalidType(m.vm, "buf", "an instance of ArrayBuffer or ArrayBufferView", v))
	}
	from, n := 0, len(b)
	if !goja.IsUndefined(offset) {
		from = int(native.Integer(m.vm, offset, "offset", 0, float64(len(b))))
		n = len(b) - from
	}
	if !goja.IsUndefined(size) {
		n = int(native.Integer(m.vm, size, "size", 0, float64(len(b)-from)))
	}
	return b[from : from+n]
}

// randomInt is an integer from min to below max.
func (m *module) randomInt(call goja.FunctionCall) goja.Value {
	low, high, callback := call.Argument(0), call.Argument(1), call.Argument(2)
	if _, ok := goja.AssertFunction(high); ok || goja.IsUndefined(high) {
		low, high, callback = m.vm.ToValue(0), low, high
	}
	read := func(v goja.Value, name string) float64 {
		f := math.NaN()
		if goja.IsNumber(v) {
			f = v.ToFloat()
		}
		if f != math.Trunc(f) || math.Abs(f) > native.MaxSafe {
			panic(native.InvalidType(m.vm, name, "a safe integer", v))
		}
		return f
	}
	from, to := read(low, "min"), read(high, "max")
	if to <= from {
		panic(native.OutOfRange(m.vm, "max", fmt.Sprintf(`greater than the value of "min" (%.0f)`, from), high))
	}
	const widest = 1<<48 - 1
	if to-from > widest {
		panic(native.OutOfRange(m.vm, "max - min", fmt.Sprintf("<= %d", widest), m.vm.ToValue(to-from)))
	}
	return answer(m, callback, func(*run) (int64, error) {
		n, err := below(uint64(to - from))
		return int64(from) + int64(n), err
	}, func(n int64) []goja.Value { return []goja.Value{m.vm.ToValue(n)} })
}

// below returns a number below n, each as likely as the other.
func below(n uint64) (uint64, error) {
	limit := math.MaxUint64 - math.MaxUint64%n
	var b [8]byte
	for {
		if err := fill(b[:]); err != nil {
			return 0, err
		}
		if x := binary.NativeEndian.Uint64(b[:]); x < limit {
			return x % n, nil
		}
	}
}

func uuid() string {
	var b [16]byte
	if fill(b[:]) != nil {
		return ""
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// maxRandomValues is how many bytes getRandomValues fills at most.
const maxRandomValues = 65536

// getRandomValues is the one of the web.
func (m *module) getRandomValues(call goja.FunctionCall) goja.Value {
	v := call.Argument(0)
	integers := false
	if o, ok := v.(*goja.Object); ok && m.octets.IsView(o) {
		switch o.GetSymbol(goja.SymToStringTag).String() {
		case "Float32Array", "Float64Array", "Float16Array", "DataView":
		default:
			integers = true
		}
	}
	if !integers {
		panic(native.DOMException(m.vm, "TypeMismatchError", "The data argument must be an integer-type TypedArray"))
	}
	b, _ := m.octets.Bytes(v)
	if len(b) > maxRandomValues {
		panic(native.DOMException(m.vm, "QuotaExceededError", "The requested length exceeds 65,536 bytes"))
	}
	m.random(b)
	return v
}

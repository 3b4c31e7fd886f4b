package buffer

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// numbers adds the methods that read and write numbers.
func (m *module) numbers() {
	for _, order := range []struct {
		suffix string
		little bool
	}{{"LE", true}, {"BE", false}} {
		for _, bits := range []int{16, 32} {
			for _, signed := range []bool{false, true} {
				m.integer(bits/8, signed, order.little, order.suffix)
			}
		}
		for _, signed := range []bool{false, true} {
			m.sized(signed, order.little, order.suffix)
			m.bigInteger(signed, order.little, order.suffix)
		}
		m.float(4, order.little, "Float"+order.suffix)
		m.float(8, order.little, "Double"+order.suffix)
	}
	m.integer(1, false, true, "")
	m.integer(1, true, true, "")
}

// kind names a kind of integer as it is in the names of methods.
func kind(signed bool) string {
	if signed {
		return "Int"
	}
	return "UInt"
}

// method adds a method under its name and, if that has UInt in it, with Uint too.
func (m *module) method(name string, length int, fn native.Function) {
	f := m.class.Method(name, length, fn)
	if strings.Contains(name, "UInt") {
		m.class.Alias(strings.Replace(name, "UInt", "Uint", 1), f)
	}
}

func (m *module) integer(width int, signed, little bool, suffix string) {
	name := fmt.Sprintf("%s%d%s", kind(signed), 8*width, suffix)
	m.method("read"+name, 0, func(call goja.FunctionCall) goja.Value {
		return m.readInteger(m.self(call), call.Argument(0), width, signed, little)
	})
	m.method("write"+name, 1, func(call goja.FunctionCall) goja.Value {
		return m.writeInteger(m.self(call), call.Argument(0), call.Argument(1), width, signed, little)
	})
}

// sized adds the methods for integers of one to six bytes.
func (m *module) sized(signed, little bool, suffix string) {
	name := kind(signed) + suffix
	width := func(v goja.Value) int {
		if !goja.IsNumber(v) {
			panic(native.InvalidType(m.vm, "byteLength", "of type number", v))
		}
		f := v.ToFloat()
		switch {
		case f != math.Trunc(f):
			panic(native.OutOfRange(m.vm, "byteLength", "an integer", v))
		case f < 1 || f > 6:
			panic(native.OutOfRange(m.vm, "byteLength", ">= 1 and <= 6", v))
		}
		return int(f)
	}
	m.method("read"+name, 2, func(call goja.FunctionCall) goja.Value {
		b := m.self(call)
		if goja.IsUndefined(call.Argument(0)) {
			panic(native.InvalidType(m.vm, "offset", "of type number", call.Argument(0)))
		}
		return m.readInteger(b, call.Argument(0), width(call.Argument(1)), signed, little)
	})
	m.method("write"+name, 3, func(call goja.FunctionCall) goja.Value {
		n := width(call.Argument(2))
		if goja.IsUndefined(call.Argument(1)) {
			panic(native.InvalidType(m.vm, "offset", "of type number", call.Argument(1)))
		}
		return m.writeInteger(m.self(call), call.Argument(0), call.Argument(1), n, signed, little)
	})
}

// at checks an offset at which width bytes of b are to be.
func (m *module) at(b []byte, v goja.Value, width int) int {
	if goja.IsUndefined(v) {
		v = m.vm.ToValue(0)
	}
	if !goja.IsNumber(v) {
		panic(native.InvalidType(m.vm, "offset", "of type number", v))
	}
	f := v.ToFloat()
	switch {
	case f != math.Trunc(f):
		panic(native.OutOfRange(m.vm, "offset", "an integer", v))
	case f >= 0 && f <= float64(len(b)-width):
		return int(f)
	case len(b) < width:
		panic(m.outOfBounds(outside))
	}
	panic(native.OutOfRange(m.vm, "offset", fmt.Sprintf(">= 0 and <= %d", len(b)-width), v))
}

func load(b []byte, little bool) (n uint64) {
	for i := range b {
		if little {
			n |= uint64(b[i]) << (8 * i)
		} else {
			n = n<<8 | uint64(b[i])
		}
	}
	return n
}

func store(b []byte, n uint64, little bool) {
	for i := range b {
		if little {
			b[i] = byte(n >> (8 * i))
		} else {
			b[len(b)-1-i] = byte(n >> (8 * i))
		}
	}
}

func (m *module) readInteger(b []byte, offset goja.Value, width int, signed, little bool) goja.Value {
	at := m.at(b, offset, width)
	n := load(b[at:at+width], little)
	if signed {
		shift := 64 - 8*width
		return m.vm.ToValue(int64(n<<shift) >> shift)
	}
	return m.vm.ToValue(int64(n))
}

func (m *module) writeInteger(b []byte, v, offset goja.Value, width int, signed, little bool) goja.Value {
	f := v.ToNumber().ToFloat()
	low, high := 0.0, math.Exp2(float64(8*width))-1
	if signed {
		low, high = -math.Exp2(float64(8*width-1)), math.Exp2(float64(8*width-1))-1
	}
	if f > high || f < low {
		want := fmt.Sprintf(">= %.0f and <= %.0f", low, high)
		switch {
		case width > 4 && signed:
			want = fmt.Sprintf(">= -(2 ** %d) and < 2 ** %[1]d", 8*width-1)
		case width > 4:
			want = fmt.Sprintf(">= 0 and < 2 ** %d", 8*width)
		}
		panic(native.OutOfRange(m.vm, "value", want, m.vm.ToValue(f)))
	}
	at := m.at(b, offset, width)
	if math.IsNaN(f) {
		f = 0
	}
	store(b[at:at+width], uint64(int64(f)), little)
	return m.vm.ToValue(at + width)
}

func (m *module) bigInteger(signed, little bool, suffix string) {
	name := "Big" + kind(signed) + "64" + suffix
	m.method("read"+name, 0, func(call goja.FunctionCall) goja.Value {
		b := m.self(call)
		at := m.at(b, call.Argument(0), 8)
		n := load(b[at:at+8], little)
		if signed {
			return m.vm.ToValue(big.NewInt(int64(n)))
		}
		return m.vm.ToValue(new(big.Int).SetUint64(n))
	})
	m.method("write"+name, 1, func(call goja.FunctionCall) goja.Value {
		b := m.self(call)
		n, ok := call.Argument(0).Export().(*big.Int)
		if !ok {
			panic(m.vm.NewTypeError("Cannot mix BigInt and other types, use explicit conversions"))
		}
		want, fits := ">= 0n and < 2n ** 64n", n.IsUint64()
		if signed {
			want, fits = ">= -(2n ** 63n) and < 2n ** 63n", n.IsInt64()
		}
		if !fits {
			panic(native.OutOfRange(m.vm, "value", want, call.Argument(0)))
		}
		at := m.at(b, call.Argument(1), 8)
		bits := n.Uint64()
		if signed {
			bits = uint64(n.Int64())
		}
		store(b[at:at+8], bits, little)
		return m.vm.ToValue(at + 8)
	})
}

func (m *module) float(width int, little bool, name string) {
	m.method("read"+name, 0, func(call goja.FunctionCall) goja.Value {
		b := m.self(call)
		at := m.at(b, call.Argument(0), width)
		n := load(b[at:at+width], little)
		if width == 4 {
			return m.vm.ToValue(float64(math.Float32frombits(uint32(n))))
		}
		return m.vm.ToValue(math.Float64frombits(n))
	})
	m.method("write"+name, 1, func(call goja.FunctionCall) goja.Value {
		b := m.self(call)
		f := call.Argument(0).ToNumber().ToFloat()
		at := m.at(b, call.Argument(1), width)
		n := math.Float64bits(f)
		if math.IsNaN(f) {
			n = 0x7ff8 << 48 // Go's own has another bit set
		}
		if width == 4 {
			n = uint64(math.Float32bits(float32(f)))
		}
		store(b[at:at+width], n, little)
		return m.vm.ToValue(at + width)
	})
}

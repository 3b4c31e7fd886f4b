package buffer

import (
	"bytes"
	"math"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

func compare(a, b []byte) int { return bytes.Compare(a, b) }

// searches adds the methods that look for bytes, compare and fill.
func (m *module) searches() {
	c := m.class
	c.Method("indexOf", 3, func(call goja.FunctionCall) goja.Value { return m.vm.ToValue(m.index(call, true)) })
	c.Method("lastIndexOf", 3, func(call goja.FunctionCall) goja.Value { return m.vm.ToValue(m.index(call, false)) })
	c.Method("includes", 3, func(call goja.FunctionCall) goja.Value { return m.vm.ToValue(m.index(call, true) >= 0) })
	c.Method("equals", 1, func(call goja.FunctionCall) goja.Value {
		b := m.self(call)
		return m.vm.ToValue(bytes.Equal(b, m.bytesOf(call.Argument(0), "otherBuffer")))
	})
	c.Method("compare", 5, m.compare)
	c.Method("fill", 4, m.fill)
}

func (m *module) compare(call goja.FunctionCall) goja.Value {
	b, target := m.self(call), m.bytesOf(call.Argument(0), "target")
	bound := func(i int, name string, missing int, most float64) int {
		if goja.IsUndefined(call.Argument(i)) {
			return missing
		}
		return int(native.Integer(m.vm, call.Argument(i), name, 0, most))
	}
	targetStart := bound(1, "targetStart", 0, octets.MaxLength)
	targetEnd := bound(2, "targetEnd", len(target), float64(len(target)))
	start := bound(3, "sourceStart", 0, octets.MaxLength)
	end := bound(4, "sourceEnd", len(b), float64(len(b)))
	result := 0
	switch {
	case start >= end && targetStart >= targetEnd:
	case start >= end:
		result = -1
	case targetStart >= targetEnd:
		result = 1
	default:
		result = bytes.Compare(b[start:end], target[targetStart:targetEnd])
	}
	return m.vm.ToValue(result)
}

// index returns where a value is, -1 if it is not there.
func (m *module) index(call goja.FunctionCall, forward bool) int {
	b := m.self(call)
	v, at, encoding := call.Argument(0), call.Argument(1), call.Argument(2)
	if goja.IsString(at) {
		at, encoding = goja.Undefined(), at
	}
	from := at.ToNumber().ToFloat()
	switch {
	case !math.IsNaN(from):
		from = min(max(math.Trunc(from), math.MinInt32), math.MaxInt32)
	case forward:
		from = 0
	default:
		from = float64(len(b))
	}
	if goja.IsNumber(v) {
		return find(b, []byte{toByte(v)}, int(from), forward, 1)
	}
	e, known := octets.UTF8, true
	if !goja.IsUndefined(encoding) {
		e, known = octets.Named(native.String(m.vm, encoding).String())
	}
	width := 1
	if e == octets.UTF16LE {
		width = 2
	}
	if s, ok := v.(goja.String); ok {
		if !known {
			m.encoding(encoding) // throws
		}
		return find(b, e.Encode(s), int(from), forward, width)
	}
	if !m.octets.IsUint8Array(v) {
		panic(native.InvalidType(m.vm, "value", "one of type number or string or an instance of Buffer or Uint8Array", v))
	}
	needle, _ := m.octets.Bytes(v)
	return find(b, needle, int(from), forward, width)
}

// find looks for needle from an offset on, which counts from the end if it is negative;
// a needle of characters that are width bytes wide is found at their boundaries only.
func find(b, needle []byte, from int, forward bool, width int) int {
	n := len(b)
	switch {
	case from < 0 && from+n >= 0:
		from += n
	case from < 0 && (forward || len(needle) == 0):
		from = 0
	case from < 0:
		return -1
	case from+len(needle) <= n:
	case len(needle) == 0:
		from = n
	case forward:
		return -1
	default:
		from = n - 1
	}
	if len(needle) == 0 {
		return from
	}
	if len(needle) > n {
		return -1
	}
	if width == 2 {
		return findWide(b, needle, from, forward)
	}
	if !forward {
		return bytes.LastIndex(b[:min(from+len(needle), n)], needle)
	}
	if i := bytes.Index(b[from:], needle); i >= 0 {
		return from + i
	}
	return -1
}

func findWide(b, needle []byte, from int, forward bool) int {
	needle = needle[:len(needle)&^1]
	if len(needle) == 0 {
		return -1
	}
	from &^= 1
	if forward {
		for from < len(b) {
			i := bytes.Index(b[from:], needle)
			if i < 0 || i%2 == 0 {
				if i >= 0 {
					i += from
				}
				return i
			}
			from += i + 1
		}
		return -1
	}
	end := min(from+len(needle), len(b))
	for {
		i := bytes.LastIndex(b[:end], needle)
		if i < 0 || i%2 == 0 {
			return i
		}
		end = i + len(needle) - 1
	}
}

func (m *module) fill(call goja.FunctionCall) goja.Value {
	b := m.self(call)
	v, offset, end, encoding := call.Argument(0), call.Argument(1), call.Argument(2), call.Argument(3)
	if goja.IsString(v) {
		switch {
		case goja.IsUndefined(offset) || goja.IsString(offset):
			encoding, offset, end = offset, goja.Undefined(), goja.Undefined()
		case goja.IsString(end):
			encoding, end = end, goja.Undefined()
		}
		if goja.IsUndefined(encoding) {
			encoding = m.vm.ToValue("utf8")
		}
		native.Text(m.vm, encoding, "encoding")
		m.encoding(encoding)
	}
	from, to := 0, len(b)
	if !goja.IsUndefined(offset) {
		from = int(native.Integer(m.vm, offset, "offset", 0, octets.MaxLength))
		if !goja.IsUndefined(end) {
			to = int(native.Integer(m.vm, end, "end", 0, float64(len(b))))
		}
		if from >= to {
			return call.This
		}
	}
	m.fillWith(b[from:to], v, encoding)
	return call.This
}

// fillWith fills b with a number, bytes or text, over and over.
func (m *module) fillWith(b []byte, v, encoding goja.Value) {
	var pattern []byte
	switch s, ok := v.(goja.String); {
	case ok && s.Length() == 0:
		pattern = []byte{0}
	case ok:
		pattern = m.encoding(encoding).Encode(s)
	default:
		bytes, ok := m.octets.Bytes(v)
		if !ok {
			bytes = []byte{toByte(v)}
		}
		pattern = bytes
	}
	if len(pattern) == 0 && len(b) > 0 {
		panic(native.InvalidValue(m.vm, "value", v, "is invalid"))
	}
	for n := copy(b, pattern); n < len(b) && n > 0; n *= 2 {
		copy(b[n:], b[:n])
	}
}

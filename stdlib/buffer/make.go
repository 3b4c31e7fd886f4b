package buffer

import (
	"math"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

// statics adds the functions of the constructor.
func (m *module) statics() {
	c := m.class
	native.Must(c.Constructor.Set("poolSize", 8192))
	c.Static("from", 3, func(call goja.FunctionCall) goja.Value {
		return m.from(call.Argument(0), call.Argument(1), call.Argument(2))
	})
	c.Static("copyBytesFrom", 3, m.copyBytesFrom)
	c.Static("of", 0, func(call goja.FunctionCall) goja.Value {
		b := m.octets.Make(int64(len(call.Arguments)))
		for i, v := range call.Arguments {
			b[i] = toByte(v)
		}
		return m.of(b)
	})
	c.Static("alloc", 3, m.alloc)
	for _, name := range []string{"allocUnsafe", "allocUnsafeSlow"} {
		c.Static(name, 1, func(call goja.FunctionCall) goja.Value { return m.make(m.size(call.Argument(0))) })
	}
	c.Static("isBuffer", 1, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(m.isBuffer(call.Argument(0)))
	})
	c.Static("isEncoding", 1, func(call goja.FunctionCall) goja.Value {
		s, ok := call.Argument(0).(goja.String)
		if ok {
			_, ok = octets.Named(s.String())
		}
		return m.vm.ToValue(ok)
	})
	c.Static("byteLength", 2, m.byteLength)
	c.Static("compare", 2, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(compare(m.bytesOf(call.Argument(0), "buf1"), m.bytesOf(call.Argument(1), "buf2")))
	})
	c.Static("concat", 2, m.concat)
}

func (m *module) isBuffer(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	for p := o.Prototype(); p != nil; p = p.Prototype() {
		if p == m.class.Prototype {
			return true
		}
	}
	return false
}

// toByte is how a typed array of bytes converts a value.
func toByte(v goja.Value) byte {
	f := v.ToNumber().ToFloat()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	f = math.Mod(math.Trunc(f), 256)
	if f < 0 {
		f += 256
	}
	return byte(f)
}

// from is Buffer.from.
func (m *module) from(v, second, third goja.Value) *goja.Object {
	if s, ok := v.(goja.String); ok {
		return m.fromString(s, second)
	}
	o, ok := v.(*goja.Object)
	if _, callable := goja.AssertFunction(v); !ok || callable {
		panic(m.notASource(v))
	}
	if m.octets.IsArrayBuffer(o) {
		return m.fromArrayBuffer(o, second, third)
	}
	if fn, ok := goja.AssertFunction(get(o, "valueOf")); ok {
		value := native.Call(fn, o)
		switch primitive := value.(type) {
		case goja.String:
			return m.from(primitive, second, third)
		case *goja.Object:
			if primitive != o {
				return m.from(primitive, second, third)
			}
		}
	}
	if b := m.fromObject(o); b != nil {
		return b
	}
	if fn, ok := goja.AssertFunction(o.GetSymbol(goja.SymToPrimitive)); ok {
		if s, ok := native.Call(fn, o, m.vm.ToValue("string")).(goja.String); ok {
			return m.fromString(s, second)
		}
	}
	panic(m.notASource(v))
}

func get(o *goja.Object, name string) goja.Value {
	if v := o.Get(name); v != nil {
		return v
	}
	return goja.Undefined()
}

func (m *module) notASource(v goja.Value) *goja.Object {
	return native.InvalidType(m.vm, "first argument",
		"of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object", v)
}

func (m *module) fromString(s goja.String, encoding goja.Value) *goja.Object {
	e := octets.UTF8
	if name, ok := encoding.(goja.String); ok && name.Length() > 0 {
		e = m.encoding(name)
	}
	return m.of(e.Encode(s))
}

// fromArrayBuffer is a Buffer that shares the memory.
func (m *module) fromArrayBuffer(o *goja.Object, offset, length goja.Value) *goja.Object {
	data, _ := m.octets.Bytes(o)
	number := func(v goja.Value) float64 {
		if f := v.ToNumber().ToFloat(); !math.IsNaN(f) {
			return f
		}
		return 0
	}
	from := 0.0
	if !goja.IsUndefined(offset) {
		from = number(offset)
	}
	most := float64(len(data)) - from
	if most < 0 {
		panic(m.outOfBounds(`"offset" is outside of buffer bounds`))
	}
	n := most
	if !goja.IsUndefined(length) {
		if n = max(number(length), 0); n > most {
			panic(m.outOfBounds(`"length" is outside of buffer bounds`))
		}
	}
	return m.octets.View(m.class.Constructor, o, m.vm.ToValue(from), m.vm.ToValue(n))
}

// fromObject copies what looks like an array, or returns nil.
func (m *module) fromObject(o *goja.Object) *goja.Object {
	if m.octets.IsUint8Array(o) {
		b, _ := m.octets.Bytes(o)
		return m.of(append(m.octets.Make(0), b...))
	}
	length := get(o, "length")
	if goja.IsUndefined(length) {
		if m.octets.IsArrayBuffer(get(o, "buffer")) {
			return m.make(0)
		}
		data, ok := get(o, "data").(*goja.Object)
		if !ok || get(o, "type").String() != "Buffer" || !m.isArray(data) {
			return nil
		}
		return m.fromArrayLike(data, get(data, "length"))
	}
	if !goja.IsNumber(length) {
		return m.make(0)
	}
	return m.fromArrayLike(o, length)
}

func (m *module) isArray(v goja.Value) bool {
	return native.Invoke(m.vm, m.vm.Get("Array").(*goja.Object), "isArray", v).ToBoolean()
}

// pollEvery is after how many elements that script code may provide the end of the run
// is looked for.
const pollEvery = 1 << 14

func (m *module) fromArrayLike(o *goja.Object, length goja.Value) *goja.Object {
	if !(length.ToFloat() > 0) {
		return m.make(0)
	}
	b := m.octets.Make(int64(min(length.ToFloat(), octets.MaxLength)))
	for i := range b {
		if i%pollEvery == pollEvery-1 && m.rt.Context().Err() != nil {
			break
		}
		if v := o.Get(m.vm.ToValue(i).String()); v != nil {
			b[i] = toByte(v)
		}
	}
	return m.of(b)
}

// copyBytesFrom copies the memory of some elements of a typed array.
func (m *module) copyBytesFrom(call goja.FunctionCall) goja.Value {
	view, _ := call.Argument(0).(*goja.Object)
	if view == nil || !m.octets.IsView(view) || view.Get("BYTES_PER_ELEMENT") == nil {
		panic(native.InvalidType(m.vm, "view", "an instance of TypedArray", call.Argument(0)))
	}
	data, _ := m.octets.Bytes(view)
	width := max(view.Get("BYTES_PER_ELEMENT").ToInteger(), 1)
	from, to := int64(0), int64(len(data))/width
	if v := call.Argument(1); !goja.IsUndefined(v) {
		from = min(native.Integer(m.vm, v, "offset", 0, native.MaxSafe), to)
	}
	if v := call.Argument(2); !goja.IsUndefined(v) {
		to = min(native.Integer(m.vm, v, "length", 0, native.MaxSafe), to-from) + from
	}
	return m.of(append(m.octets.Make(0), data[from*width:to*width]...))
}

func (m *module) alloc(call goja.FunctionCall) goja.Value {
	n := m.size(call.Argument(0))
	o := m.make(n)
	fill := call.Argument(1)
	if n > 0 && !goja.IsUndefined(fill) && !(goja.IsNumber(fill) && fill.ToFloat() == 0) {
		b, _ := m.octets.Bytes(o)
		encoding := call.Argument(2)
		if !goja.IsString(fill) || goja.IsUndefined(encoding) {
			encoding = m.vm.ToValue("utf8")
		}
		native.Text(m.vm, encoding, "encoding")
		m.fillWith(b, fill, encoding)
	}
	return o
}

func (m *module) byteLength(call goja.FunctionCall) goja.Value {
	v := call.Argument(0)
	s, ok := v.(goja.String)
	if !ok {
		b, ok := m.octets.Bytes(v)
		if !ok {
			panic(native.InvalidType(m.vm, "string", "of type string or an instance of Buffer or ArrayBuffer", v))
		}
		return m.vm.ToValue(len(b))
	}
	e := octets.UTF8
	if name, ok := call.Argument(1).(goja.String); ok {
		if named, ok := octets.Named(name.String()); ok {
			e = named
		}
	}
	return m.vm.ToValue(byteLength(s, e))
}

// byteLength returns how many bytes s becomes; for Base64 as if nothing in it were to be
// skipped.
func byteLength(s goja.String, e octets.Encoding) int {
	n := s.Length()
	switch e {
	case octets.UTF8:
		return len(s.String())
	case octets.UTF16LE:
		return 2 * n
	case octets.Hex:
		return n / 2
	case octets.Base64, octets.Base64URL:
		if n > 0 && s.CharAt(n-1) == '=' {
			n--
		}
		if n > 1 && s.CharAt(n-1) == '=' {
			n--
		}
		return n * 3 / 4
	}
	return n
}

func (m *module) concat(call goja.FunctionCall) goja.Value {
	list, ok := call.Argument(0).(*goja.Object)
	if !ok || !m.isArray(list) {
		panic(native.InvalidType(m.vm, "list", "an instance of Array", call.Argument(0)))
	}
	count := list.Get("length").ToInteger()
	parts := make([][]byte, 0, min(count, 1024))
	total := int64(0)
	for i := range count {
		name := m.vm.ToValue(i).String()
		part := m.bytesOf(get(list, name), "list["+name+"]")
		parts = append(parts, part)
		total += int64(len(part))
	}
	if v := call.Argument(1); !goja.IsUndefined(v) {
		total = native.Integer(m.vm, v, "length", 0, octets.MaxLength)
	}
	b := m.octets.Make(total)
	at := 0
	for _, part := range parts {
		at += copy(b[at:], part)
	}
	return m.of(b)
}

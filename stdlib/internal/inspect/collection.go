package inspect

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

func moreItems(n int) string { return "... " + itoa(n) + " more item" + plural(n) }

// elements writes the elements of an array or typed array, and how many there are
// besides.
func (p *printer) elements(o *goja.Object, k kind, count, depth int) []string {
	shown := min(max(0, p.MaxArrayLength), count)
	entries := make([]string, 0, shown+1)
	halves := k == kindTypedArray && isFloat16Array(o)
	for i := range shown {
		key := p.vm.ToValue(strconv.Itoa(i))
		if k == kindTypedArray {
			v := o.Get(key.String())
			if halves {
				v = p.vm.ToValue(half(uint16(v.ToInteger())))
			}
			entries = append(entries, p.primitive(v, p.style))
			continue
		}
		if !p.own.ownsProperty(o, key) {
			return p.sparse(o, count, depth, shown, entries)
		}
		entries = append(entries, p.property(o, depth, key, extrasElement))
	}
	if count > shown {
		entries = append(entries, moreItems(count-shown))
	}
	if k == kindTypedArray && p.ShowHidden {
		p.indent += 2
		for _, name := range []string{"BYTES_PER_ELEMENT", "length", "byteLength", "byteOffset", "buffer"} {
			entries = append(entries, "["+name+"]: "+p.value(o.Get(name), depth, true))
		}
		p.indent -= 2
	}
	return entries
}

// isFloat16Array reports whether o is what the engine's Float16Array keeps its bits in.
func isFloat16Array(o *goja.Object) bool {
	tag := o.GetSymbol(goja.SymToStringTag)
	return tag != nil && tag.String() == "Float16Array"
}

// half is the number that 16 bits stand for.
func half(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	var n float64
	switch exponent {
	case 0:
		n = math.Ldexp(fraction, -24)
	case 31:
		n = math.Inf(1)
		if fraction != 0 {
			n = math.NaN()
		}
	default:
		n = math.Ldexp(fraction+1024, exponent-25)
	}
	if bits>>15 == 1 {
		n = -n
	}
	return n
}

// sparse goes on with an array after its first hole. Runs of holes are one entry.
func (p *printer) sparse(o *goja.Object, count, depth, limit int, entries []string) []string {
	holes := func(n int) {
		if n > 0 {
			entries = append(entries, p.style("<"+itoa(n)+" empty item"+plural(n)+">", "undefined"))
		}
	}
	next := len(entries)
	for _, key := range list(p.own.keys, o) {
		if len(entries) >= limit || !isIndex(key) {
			break
		}
		index := int(key.ToInteger())
		if index < next {
			continue // written before the hole
		}
		holes(index - next)
		next = index
		if len(entries) >= limit {
			break
		}
		entries = append(entries, p.property(o, depth, key, extrasElement))
		next++
	}
	switch {
	case len(entries) < limit:
		holes(count - next)
	case count > next:
		entries = append(entries, moreItems(count-next))
	}
	return entries
}

// members writes what a set or a map holds.
func (p *printer) members(o *goja.Object, k kind, count, depth int) []string {
	start, next := p.own.setValues, p.own.setNext
	if k == kindMap {
		start, next = p.own.mapEntries, p.own.mapNext
	}
	shown := min(max(0, p.MaxArrayLength), count)
	entries := make([]string, 0, shown+1)
	p.indent += 2
	it := call(start, o)
	for range shown {
		step := call(next, it).(*goja.Object)
		if step.Get("done").ToBoolean() {
			break // it shrank while it was looked at
		}
		v := step.Get("value")
		if k == kindSet {
			entries = append(entries, p.value(v, depth, false))
			continue
		}
		pair := v.(*goja.Object)
		entries = append(entries, p.value(pair.Get("0"), depth, false)+" => "+p.value(pair.Get("1"), depth, false))
	}
	p.indent -= 2
	if count > shown {
		entries = append(entries, moreItems(count-shown))
	}
	return entries
}

// bytes writes the contents of an array buffer.
func (p *printer) bytes(o *goja.Object) []string {
	buffer := o.Export().(goja.ArrayBuffer)
	if buffer.Detached() {
		return []string{p.style("(detached)", "special")}
	}
	data := buffer.Bytes()
	shown := min(max(0, p.MaxArrayLength), len(data))
	var b strings.Builder
	for i, c := range data[:shown] {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(hex.EncodeToString([]byte{c}))
	}
	if more := len(data) - shown; more > 0 {
		b.WriteString(" ... " + itoa(more) + " more byte" + plural(more))
	}
	return []string{p.style("[Uint8Contents]", "special") + ": <" + b.String() + ">"}
}

func (p *printer) promise(promise *goja.Promise, depth int) []string {
	if promise.State() == goja.PromiseStatePending {
		return []string{p.style("<pending>", "special")}
	}
	p.indent += 2
	s := p.value(promise.Result(), depth, false)
	p.indent -= 2
	if promise.State() == goja.PromiseStateRejected {
		s = p.style("<rejected>", "special") + " " + s
	}
	return []string{s}
}

// boxedBase writes a primitive in an object: [Number: 3].
func (p *printer) boxedBase(o *goja.Object, n nature) string {
	valueOf := map[kind]goja.Callable{
		kindNumber: p.own.numberValue, kindString: p.own.stringValue, kindBoolean: p.own.boolValue,
		kindBigInt: p.own.bigintValue, kindSymbol: p.own.symbolValue,
	}[n.kind]
	s := "[" + string(n.kind)
	switch {
	case n.orphan:
		s += " (null prototype)"
	case n.constructor != string(n.kind):
		s += " (" + n.constructor + ")"
	}
	s += ": " + p.primitive(call(valueOf, o), plain) + "]"
	if n.tag != "" && n.tag != n.constructor {
		s += " [" + n.tag + "]"
	}
	return s
}

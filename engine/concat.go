package engine

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
	"weak"

	"github.com/dop251/goja"
)

// concats makes s += x take the time of x. goja copies both sides, so that a text that
// is built piece by piece costs the square of its length. Here the text ends up in a
// buffer with room behind it, and what is added is written there: a string of goja is a
// view of the buffer up to its own length, which nobody writes again. Whoever adds to a
// string that is not the whole of a buffer gets a copy.
type concats struct {
	rt    *Runtime
	plus  goja.Callable // + of the language
	ascii buffers[byte]
	units buffers[uint16] // UTF-16 behind a byte order mark
}

const (
	concatFrom = 512        // code units of a text from which on it gets a buffer
	concatMax  = 1<<29 - 24 // code units of a string, as in V8
)

// buffers are the texts that grow, in one of goja's two forms. They keep none alive.
type buffers[T byte | uint16] struct {
	byStart map[uintptr]buffer[T]
	sweepAt int // how many there are when those that are gone are looked for
}

// buffer is memory of which the first length units are a text, or were one, and the rest is free.
type buffer[T byte | uint16] struct {
	start        weak.Pointer[T]
	length, room int
}

// buffersMin is how many buffers there may be before those that are gone are looked for.
const buffersMin = 64

// extend is text with more behind it, in the memory of text if nothing else has been put there.
func (b *buffers[T]) extend(text, more []T) []T {
	start := unsafe.SliceData(text)
	at := uintptr(unsafe.Pointer(start))
	// Another text may have come to be where one was that is gone: then the pointer is nil.
	if known, ok := b.byStart[at]; ok && known.length == len(text) && known.start.Value() == start {
		if length := len(text) + len(more); length <= known.room {
			known.length = length
			b.byStart[at] = known
			return append(unsafe.Slice(start, known.room)[:len(text)], more...)
		}
		delete(b.byStart, at)
	}
	grown := make([]T, 0, 2*len(text)+len(more))
	grown = append(append(grown, text...), more...)
	b.sweep()
	start = unsafe.SliceData(grown)
	b.byStart[uintptr(unsafe.Pointer(start))] = buffer[T]{weak.Make(start), len(grown), cap(grown)}
	return grown
}

// sweep makes room for one more buffer.
func (b *buffers[T]) sweep() {
	if b.byStart == nil {
		b.byStart, b.sweepAt = map[uintptr]buffer[T]{}, buffersMin
	}
	if len(b.byStart) < b.sweepAt {
		return
	}
	maps.DeleteFunc(b.byStart, func(_ uintptr, known buffer[T]) bool { return known.start.Value() == nil })
	b.sweepAt = max(buffersMin, 2*len(b.byStart))
}

// stringForms are the types of goja's strings: of ASCII and of UTF-16.
type stringForms struct {
	known        bool // they are as expected
	ascii, units reflect.Type
}

var forms = sync.OnceValue(func() stringForms {
	ascii := reflect.TypeOf(goja.StringFromUTF16([]uint16{'a'}))
	units := reflect.TypeOf(goja.StringFromUTF16([]uint16{0xE9}))
	known := ascii.Kind() == reflect.String && units.Kind() == reflect.Slice && units.Elem().Kind() == reflect.Uint16
	if known {
		sample := reflect.ValueOf(goja.StringFromUTF16([]uint16{0xE9}))
		known = sample.Len() == 2 && sample.Index(0).Uint() == byteOrderMark
	}
	return stringForms{known, ascii, units}
})

const byteOrderMark = 0xFEFF

var plusProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("mcpx:plus", "(function (a, b) { return a + b })", true)
})

// concat is a + b where a is likely to be a long text. A third argument says that they are parts of a template.
func (t *concats) concat(c goja.FunctionCall) goja.Value {
	if o, ok := c.Argument(0).(*goja.Object); ok && c.Argument(2).ToBoolean() {
		return t.generic(o.ToString(), c.Argument(1))
	}
	a, aText := c.Argument(0).(goja.String)
	b, bText := c.Argument(1).(goja.String)
	if aText && !bText {
		switch v := c.Argument(1); v.(type) {
		case *goja.Object, *goja.Symbol:
		default:
			b, bText = t.rt.vm.ToValue(v.String()).(goja.String)
		}
	}
	if !aText || !bText {
		return t.generic(c.Argument(0), c.Argument(1))
	}
	return t.texts(a, b)
}

// texts is a + b of two texts.
func (t *concats) texts(a, b goja.String) goja.String {
	if f := forms(); f.known {
		switch reflect.TypeOf(a) {
		case f.ascii:
			if text := a.String(); len(text) >= concatFrom {
				return t.addASCII(text, b)
			}
		case f.units:
			if units := unitsOf(a); len(units) >= concatFrom {
				return t.addUnits(units, b)
			}
		default: // text from outside, in UTF-8
			if text := a.String(); len(text) >= concatFrom {
				if isASCII(text) {
					return t.addASCII(text, b)
				}
				return t.addUnits(marked(text), b)
			}
		}
	}
	return a.Concat(b)
}

// installTextConcat puts concat of texts over the same.
func (rt *Runtime) installTextConcat() {
	prototype := rt.vm.Get("String").ToObject(rt.vm).Get("prototype").ToObject(rt.vm)
	fn := rt.Function("concat", func(c goja.FunctionCall) goja.Value {
		if goja.IsUndefined(c.This) || goja.IsNull(c.This) {
			panic(rt.vm.NewTypeError("String.prototype.concat called on null or undefined"))
		}
		text := rt.toText(c.This)
		for _, v := range c.Arguments {
			text = rt.concats.texts(text, rt.toText(v))
		}
		return text
	})
	must(fn.DefineDataProperty("length", rt.vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(prototype.DefineDataProperty("concat", fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

func (t *concats) generic(a, b goja.Value) goja.Value {
	if t.plus == nil {
		fn, err := t.rt.vm.RunProgram(plusProgram())
		must(err)
		t.plus, _ = goja.AssertFunction(fn)
	}
	v, err := t.plus(goja.Undefined(), a, b)
	must(err)
	return v
}

// addASCII adds b to a text in ASCII.
func (t *concats) addASCII(text string, b goja.String) goja.String {
	var more string
	switch reflect.TypeOf(b) {
	case forms().ascii:
		more = b.String()
	case forms().units:
		return t.addUnits(marked(text), b)
	default:
		if more = b.String(); !isASCII(more) {
			return t.addUnits(marked(text), b)
		}
	}
	t.check(len(text) + len(more))
	return asciiText(t.ascii.extend(bytesOf(text), bytesOf(more)))
}

// addUnits adds b to a text in UTF-16.
func (t *concats) addUnits(text []uint16, b goja.String) goja.String {
	var more []uint16
	switch reflect.TypeOf(b) {
	case forms().units:
		more = unitsOf(b)[1:]
	default:
		more = marked(b.String())[1:]
	}
	t.check(len(text) + len(more))
	return unicodeText(t.units.extend(text, more))
}

func (t *concats) check(length int) {
	if length > concatMax {
		panic(t.rt.rangeError("Invalid string length"))
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// bytesOf is the memory of a text, which nobody may write.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// unitsOf is the memory of a string in UTF-16.
func unitsOf(s goja.String) []uint16 {
	v := reflect.ValueOf(s)
	return unsafe.Slice((*uint16)(v.UnsafePointer()), v.Len())
}

// marked is a text in UTF-16 behind a byte order mark.
func marked(s string) []uint16 {
	units := make([]uint16, 1, len(s)+1)
	units[0] = byteOrderMark
	for _, r := range s {
		units = utf16.AppendRune(units, r)
	}
	return units
}

// asciiText makes a string of goja that is a view of b.
func asciiText(b []byte) goja.String {
	return reflect.ValueOf(unsafe.String(unsafe.SliceData(b), len(b))).Convert(forms().ascii).Interface().(goja.String)
}

// unicodeText makes a string of goja that is a view of units.
func unicodeText(units []uint16) goja.String {
	return reflect.ValueOf(slices.Clip(units)).Convert(forms().units).Interface().(goja.String)
}

package engine

import (
	"reflect"
	"slices"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

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
	texts [concatBuffers]concatBuffer
	next  int
}

const (
	concatFrom    = 512        // bytes of a text from which on it gets a buffer
	concatBuffers = 4          // texts that can grow side by side
	concatMax     = 1<<29 - 24 // code units of a string, as in V8
)

// concatBuffer is the text that grows, in one of goja's two forms.
type concatBuffer struct {
	ascii []byte
	units []uint16 // UTF-16 behind a byte order mark
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
	if f := forms(); f.known {
		switch reflect.TypeOf(a) {
		case f.ascii:
			if text := a.String(); len(text) >= concatFrom {
				return t.ascii(text, b)
			}
		case f.units:
			if units := unitsOf(a); len(units) >= concatFrom {
				return t.unicode(units, b)
			}
		default: // text from outside, in UTF-8
			if text := a.String(); len(text) >= concatFrom {
				if isASCII(text) {
					return t.ascii(text, b)
				}
				return t.unicode(marked(text), b)
			}
		}
	}
	return a.Concat(b)
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

// ascii adds b to a text in ASCII.
func (t *concats) ascii(text string, b goja.String) goja.Value {
	var more string
	switch reflect.TypeOf(b) {
	case forms().ascii:
		more = b.String()
	case forms().units:
		return t.unicode(marked(text), b)
	default:
		if more = b.String(); !isASCII(more) {
			return t.unicode(marked(text), b)
		}
	}
	t.check(len(text) + len(more))
	for i := range t.texts {
		buffer := &t.texts[i]
		if len(buffer.ascii) == len(text) && unsafe.SliceData(buffer.ascii) == unsafe.StringData(text) {
			buffer.ascii = append(buffer.ascii, more...)
			return asciiText(buffer.ascii)
		}
	}
	grown := make([]byte, 0, 2*len(text)+len(more))
	grown = append(append(grown, text...), more...)
	t.keep(concatBuffer{ascii: grown})
	return asciiText(grown)
}

// unicode adds b to a text in UTF-16.
func (t *concats) unicode(text []uint16, b goja.String) goja.Value {
	var more []uint16
	switch reflect.TypeOf(b) {
	case forms().units:
		more = unitsOf(b)[1:]
	default:
		more = marked(b.String())[1:]
	}
	t.check(len(text) + len(more))
	for i := range t.texts {
		buffer := &t.texts[i]
		if len(buffer.units) == len(text) && unsafe.SliceData(buffer.units) == unsafe.SliceData(text) {
			buffer.units = append(buffer.units, more...)
			return unicodeText(buffer.units)
		}
	}
	grown := make([]uint16, 0, 2*len(text)+len(more))
	grown = append(append(grown, text...), more...)
	t.keep(concatBuffer{units: grown})
	return unicodeText(grown)
}

// keep remembers a buffer in the place of the one that was made before all others.
func (t *concats) keep(b concatBuffer) {
	t.texts[t.next] = b
	t.next = (t.next + 1) % concatBuffers
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
func asciiText(b []byte) goja.Value {
	return reflect.ValueOf(unsafe.String(unsafe.SliceData(b), len(b))).Convert(forms().ascii).Interface().(goja.Value)
}

// unicodeText makes a string of goja that is a view of units.
func unicodeText(units []uint16) goja.Value {
	return reflect.ValueOf(slices.Clip(units)).Convert(forms().units).Interface().(goja.Value)
}

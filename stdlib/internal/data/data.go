// Package data is what the modules that read and write data formats have in common:
// text and options as a script gives them, errors with a line and a column, objects
// whose keys can be any text, plain Go values of what is to be written, and rows.
package data

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/inspect"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

// MaxDepth is how deep what is read or written may nest.
const MaxDepth = 1000

// Kit makes and reads values for one module of one runtime.
type Kit struct {
	Runtime *engine.Runtime
	VM      *goja.Runtime
	Octets  *octets.Octets

	format  string
	inspect *inspect.Inspector
}

// New returns the kit of the module for a format, whose name begins its errors.
func New(rt *engine.Runtime, format string) *Kit {
	return &Kit{Runtime: rt, VM: rt.VM(), Octets: octets.New(rt.VM()), format: format, inspect: inspect.New(rt.VM())}
}

// Text is an argument that is a string, or the bytes of one in UTF-8, without a byte
// order mark.
func (k *Kit) Text(v goja.Value) string {
	var text string
	if s, ok := v.(goja.String); ok {
		text = s.String()
	} else if b, ok := k.Octets.Bytes(v); ok {
		text = octets.ValidUTF8(b)
	} else {
		panic(native.InvalidType(k.VM, "text", "of type string or an instance of Buffer or Uint8Array", v))
	}
	return strings.TrimPrefix(text, "\uFEFF")
}

// TypeError makes a TypeError about a value or an option.
func (k *Kit) TypeError(format string, args ...any) *goja.Object {
	return k.VM.NewTypeError(append([]any{k.format + ": " + format}, args...)...)
}

// SyntaxError makes the error about text that cannot be read, with its line and column.
func (k *Kit) SyntaxError(line, column int, message string) *goja.Object {
	text := k.format + ": " + message + " (line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column) + ")"
	o, err := k.VM.New(k.VM.Get("SyntaxError"), k.VM.ToValue(text))
	native.Must(err)
	native.Must(o.Set("line", line))
	native.Must(o.Set("column", column))
	return o
}

// SyntaxErrorAt is SyntaxError at a byte of the text.
func (k *Kit) SyntaxErrorAt(text string, offset int, message string) *goja.Object {
	line, column := Place(text, offset)
	return k.SyntaxError(line, column, message)
}

// Place returns the line of a byte of the text, and the column in characters; both
// begin with 1.
func Place(text string, offset int) (line, column int) {
	before := text[:max(0, min(offset, len(text)))]
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// Define sets an own property whatever its name is: "__proto__" too.
func Define(o *goja.Object, name string, v goja.Value) {
	native.Must(o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE))
}

// List makes an array.
func (k *Kit) List(items []goja.Value) *goja.Object {
	all := make([]any, len(items))
	for i, v := range items {
		all[i] = v
	}
	return k.VM.NewArray(all...)
}

// Strings makes an array of strings.
func (k *Kit) Strings(items []string) *goja.Object {
	all := make([]any, len(items))
	for i, s := range items {
		all[i] = s
	}
	return k.VM.NewArray(all...)
}

// maxDigits is how long an integer may be.
const maxDigits = 10_000

// Integer makes the value of an integer in the given base: a number, or a BigInt if a
// number would not hold it exactly. ok is false if the text is no integer or is longer
// than anybody writes.
func (k *Kit) Integer(text string, base int) (v goja.Value, ok bool) {
	if len(text) > maxDigits {
		return nil, false
	}
	if n, err := strconv.ParseInt(text, base, 64); err == nil && n >= -native.MaxSafe && n <= native.MaxSafe {
		return k.VM.ToValue(n), true
	}
	n, ok := new(big.Int).SetString(text, base)
	return k.VM.ToValue(n), ok
}

// Number writes a number as JavaScript does.
func (k *Kit) Number(f float64) string { return k.VM.ToValue(f).String() }

// Options is an argument that is an object of options, or absent.
type Options struct {
	kit      *Kit
	function string
	given    *goja.Object // nil if absent
}

// Options reads an argument of a function. An option that is none of known is an error:
// it would be without effect.
func (k *Kit) Options(function string, v goja.Value, known ...string) Options {
	o := Options{kit: k, function: function}
	switch given := v.(type) {
	case nil:
		return o
	case *goja.Object:
		o.given = given
		for _, name := range given.Keys() {
			if !slices.Contains(known, name) {
				panic(k.TypeError("%s has no option %q; it has %s", function, name, strings.Join(known, ", ")))
			}
		}
		return o
	}
	if !goja.IsUndefined(v) && !goja.IsNull(v) {
		panic(native.InvalidType(k.VM, "options", "of type object", v))
	}
	return o
}

// Get returns an option, undefined if it is absent.
func (o Options) Get(name string) goja.Value {
	if o.given != nil {
		if v := o.given.Get(name); v != nil {
			return v
		}
	}
	return goja.Undefined()
}

// Bool returns an option that is on or off.
func (o Options) Bool(name string, absent bool) bool {
	v := o.Get(name)
	if goja.IsUndefined(v) {
		return absent
	}
	if _, isObject := v.(*goja.Object); !isObject {
		if yes, ok := v.Export().(bool); ok {
			return yes
		}
	}
	panic(native.InvalidType(o.kit.VM, "options."+name, "of type boolean", v))
}

// String returns an option that is text.
func (o Options) String(name, absent string) string {
	v := o.Get(name)
	if goja.IsUndefined(v) {
		return absent
	}
	return native.Text(o.kit.VM, v, "options."+name).String()
}

// Integer returns an option that is a number from low to high.
func (o Options) Integer(name string, absent, low, high int) int {
	v := o.Get(name)
	if goja.IsUndefined(v) {
		return absent
	}
	return int(native.Integer(o.kit.VM, v, "options."+name, float64(low), float64(high)))
}

// OneOf returns an option that is one of the given words, of which the first is meant
// if it is absent.
func (o Options) OneOf(name string, words ...string) string {
	s := o.String(name, words[0])
	if !slices.Contains(words, s) {
		panic(native.InvalidValue(o.kit.VM, "options."+name, o.Get(name), "must be one of "+strings.Join(words, ", ")))
	}
	return s
}

// Strings returns an option that is a list of text. given is false if it is absent.
func (o Options) Strings(name string) (list []string, given bool) {
	v := o.Get(name)
	if goja.IsUndefined(v) {
		return nil, false
	}
	array, ok := v.(*goja.Object)
	if !ok || array.ClassName() != "Array" {
		panic(native.InvalidType(o.kit.VM, "options."+name, "an instance of Array", v))
	}
	o.kit.VM.ForOf(array, func(item goja.Value) bool {
		list = append(list, native.Text(o.kit.VM, item, "options."+name).String())
		return true
	})
	return list, true
}

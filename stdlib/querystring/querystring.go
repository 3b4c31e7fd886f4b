// Package querystring is node:querystring: query strings as they were before
// URLSearchParams.
package querystring

import (
	_ "embed"
	"math"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

//go:embed querystring.d.ts
var declarations string

// Module returns node:querystring.
func Module() engine.Module {
	return engine.Module{
		Name:         "node:querystring",
		Declarations: declarations,
		Make: func(rt *engine.Runtime) *goja.Object {
			m := &module{vm: rt.VM(), octets: octets.New(rt.VM())}
			return m.make()
		},
	}
}

type module struct {
	vm      *goja.Runtime
	octets  *octets.Octets
	exports native.Exports
	// The functions that a script may put others in the place of.
	escape, unescape *goja.Object
}

func (m *module) make() *goja.Object {
	e := native.NewExports(m.vm)
	m.exports = e
	e.Func("unescapeBuffer", 2, func(call goja.FunctionCall) goja.Value {
		s := native.String(m.vm, call.Argument(0))
		return m.octets.Buffer(unescapeBytes(s, call.Argument(1).ToBoolean()))
	})
	m.unescape = e.Func("unescape", 2, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(unescape(native.String(m.vm, call.Argument(0)), call.Argument(1).ToBoolean()))
	})
	m.escape = e.Func("escape", 1, func(call goja.FunctionCall) goja.Value {
		return m.vm.ToValue(m.escaped(native.String(m.vm, call.Argument(0))))
	})
	e.Value("encode", e.Func("stringify", 4, m.stringify))
	e.Value("decode", e.Func("parse", 4, m.parse))
	return e.Object
}

// escaped writes a text so that it can be a part of a query string.
func (m *module) escaped(s goja.String) string {
	text := s.String()
	if n := s.Length(); n > 0 && strings.HasSuffix(text, string(utf8.RuneError)) {
		if c := s.CharAt(n - 1); c >= 0xd800 && c < 0xdc00 {
			e := native.Error(m.vm, "URIError", "ERR_INVALID_URI", "URI malformed")
			panic(e)
		}
	}
	const upper = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!'()*-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', upper[c>>4], upper[c&15]})
		}
	}
	return b.String()
}

// unescape is decodeURIComponent, and where that throws it takes what there is.
func unescape(s goja.String, spaces bool) string {
	text, err := url.PathUnescape(s.String())
	if err == nil && utf8.ValidString(text) {
		return text
	}
	return octets.ValidUTF8(unescapeBytes(s, spaces))
}

// unescapeBytes leaves alone what is no escape.
func unescapeBytes(s goja.String, spaces bool) []byte {
	text := octets.Latin1.Encode(s)
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '+' && spaces:
			c = ' '
		case c == '%' && i+2 < len(text):
			if high, low := digit(text[i+1]), digit(text[i+2]); high >= 0 && low >= 0 {
				c = byte(high<<4 | low)
				i += 2
			}
		}
		out = append(out, c)
	}
	return out
}

func hasEscape(text string) bool {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == '%' && digit(text[i+1]) >= 0 && digit(text[i+2]) >= 0 {
			return true
		}
	}
	return false
}

func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// separators reads the two arguments that may replace & and =.
func separators(call goja.FunctionCall) (pair, value string) {
	pair, value = "&", "="
	if v := call.Argument(1); v.ToBoolean() {
		pair = v.String()
	}
	if v := call.Argument(2); v.ToBoolean() {
		value = v.String()
	}
	return pair, value
}

// coder is the function that a script gave for an option, or put in place of ours; nil
// if that is still there.
func (m *module) coder(options goja.Value, option, name string, own *goja.Object) goja.Callable {
	if o, ok := options.(*goja.Object); ok {
		if fn, ok := goja.AssertFunction(o.Get(option)); ok {
			return fn
		}
	}
	v := m.exports.Get(name)
	if v == goja.Value(own) {
		return nil
	}
	return native.Callback(m.vm, v, name)
}

func (m *module) stringify(call goja.FunctionCall) goja.Value {
	o, ok := call.Argument(0).(*goja.Object)
	if _, function := goja.AssertFunction(call.Argument(0)); !ok || function {
		return m.vm.ToValue("")
	}
	pair, eq := separators(call)
	encode := m.coder(call.Argument(3), "encodeURIComponent", "escape", m.escape)
	convert := func(v goja.Value) string { return m.convert(v, encode) }

	var b strings.Builder
	add := func(key string, v goja.Value) {
		if b.Len() > 0 {
			b.WriteString(pair)
		}
		b.WriteString(key + eq + convert(v))
	}
	isArray := m.vm.Get("Array").(*goja.Object)
	for _, key := range o.Keys() {
		v := o.Get(key)
		name := convert(m.vm.ToValue(key))
		list, ok := v.(*goja.Object)
		if !ok || !native.Invoke(m.vm, isArray, "isArray", list).ToBoolean() {
			add(name, v)
			continue
		}
		for i := range list.Get("length").ToInteger() {
			add(name, list.Get(m.vm.ToValue(i).String()))
		}
	}
	return m.vm.ToValue(b.String())
}

// convert writes a value, which is empty unless it is a primitive with a text.
func (m *module) convert(v goja.Value, encode goja.Callable) string {
	text := m.vm.ToValue("")
	switch s := v.(type) {
	case goja.String:
		text = s
	case nil, *goja.Object, *goja.Symbol:
	default:
		f := math.NaN()
		if goja.IsNumber(v) {
			f = v.ToFloat()
		}
		if !goja.IsUndefined(v) && !goja.IsNull(v) && (!goja.IsNumber(v) || !math.IsNaN(f) && !math.IsInf(f, 0)) {
			text = m.vm.ToValue(v.String())
		}
	}
	if encode != nil {
		return native.Call(encode, goja.Undefined(), text).String()
	}
	return m.escaped(text.(goja.String))
}

// defaultKeys is how many pairs are read at most if a script says nothing else.
const defaultKeys = 1000

func (m *module) parse(call goja.FunctionCall) goja.Value {
	result := m.vm.CreateObject(nil)
	text, ok := call.Argument(0).(goja.String)
	if !ok || text.Length() == 0 {
		return result
	}
	pair, eq := separators(call)
	most := float64(defaultKeys)
	options := call.Argument(3)
	if o, ok := options.(*goja.Object); ok {
		if v := o.Get("maxKeys"); goja.IsNumber(v) {
			if most = v.ToFloat(); !(most > 0) {
				most = math.Inf(1)
			}
		}
	}
	decode := m.coder(options, "decodeURIComponent", "unescape", m.unescape)
	read := float64(0)
	lists := map[string]*goja.Object{}
	for piece := range strings.SplitSeq(text.String(), pair) {
		if read++; read > most {
			break
		}
		if piece == "" {
			continue
		}
		name, value, _ := strings.Cut(piece, eq)
		m.add(result, lists, m.decoded(name, decode).String(), m.decoded(value, decode))
	}
	return result
}

func (m *module) decoded(text string, decode goja.Callable) goja.Value {
	if decode == nil {
		text = strings.ReplaceAll(text, "+", " ")
		if !hasEscape(text) {
			return m.vm.ToValue(text)
		}
		return m.vm.ToValue(unescape(m.vm.ToValue(text).(goja.String), true))
	}
	s := m.vm.ToValue(strings.ReplaceAll(text, "+", "%20"))
	if text == "" {
		return s
	}
	v, err := decode(goja.Undefined(), s)
	if err != nil {
		return m.vm.ToValue(unescape(s.(goja.String), true))
	}
	return v
}

// add sets a key, or makes its value a list.
func (m *module) add(o *goja.Object, lists map[string]*goja.Object, key string, v goja.Value) {
	if list := lists[key]; list != nil {
		native.Invoke(m.vm, list, "push", v)
		return
	}
	if before := o.Get(key); before != nil {
		list := m.vm.NewArray(before, v)
		lists[key] = list
		v = list
	}
	native.Must(o.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE))
}

package engine

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"

	"mcpx/internal/jsontext"
)

// DecodeJSON is JSON.parse: it makes native values of b, with the keys in their order,
// the last of equal keys, __proto__ as a key like any other, and numbers beyond the
// range as Infinity. An escaped lone surrogate stays one; bytes that are no UTF-8 become
// the replacement character. The error says where b is not JSON, in the words of V8.
func DecodeJSON(rt *Runtime, b []byte) (goja.Value, error) {
	d := &decoder{rt: rt, b: b}
	return d.decode()
}

// decoder reads one JSON text.
type decoder struct {
	rt   *Runtime
	b    []byte
	at   int
	text []byte // of the string being read, if it has escapes
	keys map[string]string

	observer observer
	wtf      bool // b is as wtf8 makes it
}

// observer is told what was read where, unless it is nil.
type observer interface {
	// value is called for each value, before the one that it is part of.
	value(v goja.Value, from, to int)
	// name is called with the name that the last value has.
	name(name string)
}

func (d *decoder) decode() (goja.Value, error) {
	d.space()
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.at < len(d.b) {
		return nil, d.problem("Unexpected non-whitespace character after JSON")
	}
	return v, nil
}

// maxKeys bounds how many different keys are kept for their next use.
const maxKeys = 1024

// key is b as a string. Objects in a list mostly have the same keys.
func (d *decoder) key(b []byte) string {
	if s, ok := d.keys[string(b)]; ok {
		return s
	}
	s := string(b)
	if d.keys == nil {
		d.keys = map[string]string{}
	}
	if len(d.keys) < maxKeys {
		d.keys[s] = s
	}
	return s
}

// jsonError says, in the words of V8, why a text is not JSON.
type jsonError string

func (e jsonError) Error() string { return string(e) }

// problem is an error about what comes next.
func (d *decoder) problem(text string) error {
	return jsonError(fmt.Sprintf("%s at position %d", text, utf16Length(string(d.b[:d.at]))))
}

// excerpt is how many characters around what was not expected an error shows.
const excerpt = 10

// unexpected is the error about something that could be no value and no part of one.
func (d *decoder) unexpected() error {
	if d.at >= len(d.b) {
		return jsonError("Unexpected end of JSON input")
	}
	switch c := d.b[d.at]; {
	case c == '"':
		return d.problem("Unexpected string in JSON")
	case c >= '0' && c <= '9' || c == '-':
		return d.problem("Unexpected number in JSON")
	}
	switch text := string(d.b); text {
	case "NaN", "Infinity", "undefined", "[object Object]":
		return jsonError(`"` + text + `" is not valid JSON`)
	}
	r, _ := utf8.DecodeRune(d.b[d.at:])
	before, after := "", ""
	from, to := d.at, d.at
	for range excerpt {
		_, back := utf8.DecodeLastRune(d.b[:from])
		_, ahead := utf8.DecodeRune(d.b[to:])
		from, to = from-back, to+ahead
	}
	if utf8.RuneCount(d.b) > 2*excerpt {
		if from > 0 {
			before = "..."
		}
		if to < len(d.b) {
			after = "..."
		}
	} else {
		from, to = 0, len(d.b)
	}
	return jsonError(fmt.Sprintf("Unexpected token '%c', %s\"%s\"%s is not valid JSON", r, before, d.b[from:to], after))
}

func (d *decoder) space() {
	for d.at < len(d.b) {
		switch d.b[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return
		}
	}
}

// peek returns the next byte after space, 0 at the end.
func (d *decoder) peek() byte {
	d.space()
	if d.at < len(d.b) {
		return d.b[d.at]
	}
	return 0
}

func (d *decoder) value(depth int) (goja.Value, error) {
	if depth == maxJSONDepth {
		return nil, fmt.Errorf("JSON is nested more than %d deep", maxJSONDepth)
	}
	if d.at >= len(d.b) {
		return nil, d.unexpected()
	}
	if d.observer == nil {
		return d.plain(depth)
	}
	from := d.at
	v, err := d.plain(depth)
	if err == nil {
		d.observer.value(v, from, d.at)
	}
	return v, err
}

func (d *decoder) plain(depth int) (goja.Value, error) {
	switch c := d.b[d.at]; c {
	case '{':
		return d.object(depth)
	case '[':
		return d.array(depth)
	case '"':
		return d.string()
	case 't':
		return d.literal("true", d.rt.vm.ToValue(true))
	case 'f':
		return d.literal("false", d.rt.vm.ToValue(false))
	case 'n':
		return d.literal("null", goja.Null())
	default:
		return d.number()
	}
}

func (d *decoder) literal(word string, v goja.Value) (goja.Value, error) {
	for i := range len(word) {
		if d.at >= len(d.b) || d.b[d.at] != word[i] {
			return nil, d.unexpected()
		}
		d.at++
	}
	return v, nil
}

func (d *decoder) object(depth int) (goja.Value, error) {
	o := d.rt.vm.NewObject()
	d.at++
	if d.peek() == '}' {
		d.at++
		return o, nil
	}
	for problem := "Expected property name or '}' in JSON"; ; problem = "Expected double-quoted property name in JSON" {
		if d.peek() != '"' {
			return nil, d.problem(problem)
		}
		key, units, err := d.content()
		if err != nil {
			return nil, err
		}
		if d.peek() != ':' {
			return nil, d.problem("Expected ':' after property name in JSON")
		}
		d.at++
		d.space()
		name := d.key(key) // key may be in d.text, which the value is going to use
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if d.observer != nil {
			d.observer.name(name)
		}
		if units != nil {
			d.rt.intrinsics.define(o, goja.StringFromUTF16(units), v)
		} else if err := o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
			return nil, err
		}
		switch d.peek() {
		case ',':
			d.at++
		case '}':
			d.at++
			return o, nil
		default:
			return nil, d.problem("Expected ',' or '}' after property value in JSON")
		}
	}
}

func (d *decoder) array(depth int) (goja.Value, error) {
	d.at++
	if d.peek() == ']' {
		d.at++
		return d.rt.vm.NewArray(), nil
	}
	var items []goja.Value
	for {
		d.space()
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
		switch d.peek() {
		case ',':
			d.at++
		case ']':
			d.at++
			return d.rt.newArray(items), nil
		default:
			return nil, d.problem("Expected ',' or ']' after array element in JSON")
		}
	}
}

func (d *decoder) string() (goja.Value, error) {
	text, units, err := d.content()
	switch {
	case err != nil:
		return nil, err
	case units != nil:
		return goja.StringFromUTF16(units), nil
	}
	return d.rt.vm.ToValue(string(text)), nil
}

// content reads a string: as UTF-8, which is valid until the next call, or as UTF-16 if
// it has lone surrogates.
func (d *decoder) content() (text []byte, units []uint16, err error) {
	d.at++
	start := d.at
	d.at = jsontext.Special(d.b, start)
	switch {
	case d.at == len(d.b):
		return nil, nil, d.problem("Unterminated string in JSON")
	case d.b[d.at] == '\\':
		return d.escaped(start)
	case d.b[d.at] < ' ':
		return nil, nil, d.problem("Bad control character in string literal in JSON")
	}
	text = d.b[start:d.at]
	d.at++
	if !utf8.Valid(text) {
		if d.wtf {
			return nil, wtf8ToUTF16(text), nil
		}
		text = []byte(string([]rune(string(text))))
	}
	return text, nil, nil
}

// escaped reads on from the first escape of a string that began at start.
func (d *decoder) escaped(start int) (text []byte, units []uint16, err error) {
	d.text = append(d.text[:0], d.b[start:d.at]...)
	lone := false
	for d.at < len(d.b) {
		c := d.b[d.at]
		switch {
		case c == '"':
			d.at++
			if lone || d.wtf {
				return nil, wtf8ToUTF16(d.text), nil
			}
			if !utf8.Valid(d.text) {
				return []byte(string([]rune(string(d.text)))), nil, nil
			}
			return d.text, nil, nil
		case c < ' ':
			return nil, nil, d.problem("Bad control character in string literal in JSON")
		case c != '\\':
			from := d.at
			d.at = jsontext.Special(d.b, from)
			d.text = append(d.text, d.b[from:d.at]...)
			continue
		}
		d.at++
		if d.at >= len(d.b) {
			return nil, nil, d.unexpected()
		}
		switch c = d.b[d.at]; c {
		case '"', '\\', '/':
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r, err := d.unicode()
			if err != nil {
				return nil, nil, err
			}
			if utf16.IsSurrogate(r) {
				lone = true
				d.text = appendSurrogate(d.text, r)
			} else {
				d.text = utf8.AppendRune(d.text, r)
			}
			continue
		default:
			return nil, nil, d.problem("Bad escaped character in JSON")
		}
		d.text = append(d.text, c)
		d.at++
	}
	return nil, nil, d.problem("Unterminated string in JSON")
}

// unicode reads an escape from its u on, and a second one if they are a pair.
func (d *decoder) unicode() (rune, error) {
	r, err := d.hex()
	if err != nil || r < 0xD800 || r >= 0xDC00 || d.at+1 >= len(d.b) || d.b[d.at] != '\\' || d.b[d.at+1] != 'u' {
		return r, err
	}
	before := d.at
	d.at++
	low, err := d.hex()
	if err != nil {
		return 0, err
	}
	if low < 0xDC00 || low >= 0xE000 {
		d.at = before
		return r, nil
	}
	return utf16.DecodeRune(r, low), nil
}

// hex reads u and four digits.
func (d *decoder) hex() (r rune, err error) {
	d.at++
	for range 4 {
		if d.at >= len(d.b) {
			return 0, d.problem("Bad Unicode escape in JSON")
		}
		switch c := d.b[d.at]; {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, d.problem("Bad Unicode escape in JSON")
		}
		d.at++
	}
	return r, nil
}

// appendSurrogate writes a surrogate as UTF-8 would if it could.
func appendSurrogate(b []byte, r rune) []byte {
	return append(b, 0xE0|byte(r>>12), 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
}

// wtf8ToUTF16 undoes appendSurrogate.
func wtf8ToUTF16(b []byte) []uint16 {
	units := make([]uint16, 0, len(b))
	for len(b) > 0 {
		if len(b) >= 3 && b[0] == 0xED && b[1] >= 0xA0 && b[1] < 0xC0 && b[2] >= 0x80 && b[2] < 0xC0 {
			units = append(units, 0xD000|uint16(b[1]&0x3F)<<6|uint16(b[2]&0x3F))
			b = b[3:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		units = utf16.AppendRune(units, r)
		b = b[size:]
	}
	return units
}

// exactDigits is how many digits an integer may have to be read without rounding.
const exactDigits = 15

func (d *decoder) number() (goja.Value, error) {
	start := d.at
	negative := d.b[d.at] == '-'
	if negative {
		d.at++
	}
	first := d.at
	if !d.digits() {
		if negative {
			return nil, d.problem("No number after minus sign in JSON")
		}
		return nil, d.unexpected()
	}
	if d.b[first] == '0' && d.at > first+1 {
		d.at = first + 1
		return nil, d.problem("Unexpected number in JSON")
	}
	whole := d.at
	if d.at < len(d.b) && d.b[d.at] == '.' {
		d.at++
		if !d.digits() {
			return nil, d.problem("Unterminated fractional number in JSON")
		}
	}
	if d.at < len(d.b) && d.b[d.at]|0x20 == 'e' {
		d.at++
		if d.at < len(d.b) && (d.b[d.at] == '+' || d.b[d.at] == '-') {
			d.at++
		}
		if !d.digits() {
			return nil, d.problem("Exponent part is missing a number in JSON")
		}
	}
	if whole == d.at && whole-first <= exactDigits && (!negative || d.b[first] != '0') {
		n := int64(0)
		for _, c := range d.b[first:whole] {
			n = n*10 + int64(c-'0')
		}
		if negative {
			n = -n
		}
		return d.rt.vm.ToValue(n), nil
	}
	f, err := strconv.ParseFloat(string(d.b[start:d.at]), 64)
	if err != nil && !math.IsInf(f, 0) {
		return nil, err
	}
	return d.rt.vm.ToValue(f), nil
}

func (d *decoder) digits() bool {
	start := d.at
	for d.at < len(d.b) && d.b[d.at] >= '0' && d.b[d.at] <= '9' {
		d.at++
	}
	return d.at > start
}

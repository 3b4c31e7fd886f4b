package api

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"sync"

	"mcpx/internal/jsontext"
	"mcpx/mcp"
)

// long is how long a member may be that is left to encoding/json, which reads each byte
// several times. Longer texts and JSON texts, such as a result of a tool, go through whole.
const long = 4 << 10

var longFieldsOf sync.Map // of reflect.Type: map[string]int

// longFields returns the fields of a struct that may be long, by their names in JSON.
func longFields(t reflect.Type) map[string]int {
	if known, ok := longFieldsOf.Load(t); ok {
		return known.(map[string]int)
	}
	out := map[string]int{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" && (f.Type == reflect.TypeFor[json.RawMessage]() || f.Type == reflect.TypeFor[string]()) {
			out[name] = i
		}
	}
	longFieldsOf.Store(t, out)
	return out
}

// message returns the struct that v is, or points to, if it is written and read by its fields.
func message(v any) (reflect.Value, bool) {
	_, writes := v.(json.Marshaler)
	_, reads := v.(json.Unmarshaler)
	if writes || reads {
		return reflect.Value{}, false
	}
	m := reflect.ValueOf(v)
	if m.Kind() == reflect.Pointer {
		m = m.Elem()
	}
	return m, m.Kind() == reflect.Struct
}

// encode writes JSON without escaping what only HTML needs escaped, on one line.
func encode(v any) ([]byte, error) {
	m, ok := message(v)
	if !ok {
		return encodeSlim(v)
	}
	// Each long member is written as a word that nothing else says, and put in afterwards.
	type cut struct {
		word string
		text func(b []byte) []byte
		size int
	}
	var cuts []cut
	slim := m
	for _, i := range longFields(m.Type()) {
		f := m.Field(i)
		if f.Len() <= long {
			continue
		}
		if cuts == nil {
			slim = reflect.New(m.Type()).Elem()
			slim.Set(m)
		}
		c := cut{word: rand.Text(), size: f.Len()}
		if f.Kind() == reflect.String {
			slim.Field(i).SetString(c.word)
			c.text = func(b []byte) []byte { return jsontext.AppendQuoted(b, f.String()) }
		} else {
			raw := f.Bytes()
			if !jsontext.Valid(raw) {
				return encodeSlim(v) // which says what is wrong
			}
			slim.Field(i).SetBytes([]byte(`"` + c.word + `"`))
			c.text = func(b []byte) []byte { return jsontext.AppendFlat(b, raw) }
		}
		cuts = append(cuts, c)
	}
	if cuts == nil {
		return encodeSlim(v)
	}
	rest, err := encodeSlim(slim.Interface())
	if err != nil {
		return nil, err
	}
	size := len(rest) + long
	for _, c := range cuts {
		size += c.size
	}
	out := make([]byte, 0, size)
	for len(rest) > 0 {
		next, at := -1, len(rest)
		for i, c := range cuts {
			if found := bytes.Index(rest, []byte(`"`+c.word+`"`)); found >= 0 && found < at {
				next, at = i, found
			}
		}
		out, rest = append(out, rest[:at]...), rest[at:]
		if next >= 0 {
			out, rest = cuts[next].text(out), rest[len(cuts[next].word)+2:]
		}
	}
	return out, nil
}

func encodeSlim(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decode reads one JSON value into v. Unless loose, all members must be known. Texts and
// JSON texts of v may share the memory of b.
func decode(b []byte, v any, loose bool) error {
	slim, whole := b, func() {}
	if m, ok := message(v); ok && len(b) > long && jsontext.Valid(b) {
		slim, whole = cutLong(b, m)
	}
	d := json.NewDecoder(bytes.NewReader(slim))
	if !loose {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(v); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind the JSON value")
	}
	whole()
	return nil
}

// cutLong returns an object without its long members, and what puts these into m. A name
// that comes more than once is left to encoding/json.
func cutLong(b []byte, m reflect.Value) (slim []byte, put func()) {
	fields := longFields(m.Type())
	cut := map[int]json.RawMessage{}
	seen := map[string]bool{}
	slim = append(slim, '{')
	for name, value := range mcp.Members(b) {
		folded := strings.ToLower(name)
		i, ok := fields[name]
		isText := ok && m.Field(i).Kind() == reflect.String
		if seen[folded] {
			return b, func() {}
		}
		seen[folded] = true
		if ok && len(value) > long && (!isText || value[0] == '"') {
			cut[i] = value
			continue
		}
		if len(slim) > 1 {
			slim = append(slim, ',')
		}
		slim = append(append(jsontext.AppendQuoted(slim, name), ':'), value...)
	}
	if len(cut) == 0 {
		return b, func() {}
	}
	return append(slim, '}'), func() {
		for i, value := range cut {
			if f := m.Field(i); f.Kind() == reflect.String {
				text, _ := jsontext.Unquote(value) // it is valid
				f.SetString(text)
			} else {
				f.SetBytes(value)
			}
		}
	}
}

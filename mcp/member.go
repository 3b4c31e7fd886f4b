package mcp

import (
	"bytes"
	"errors"
	"iter"

	"mcpx/internal/jsontext"
)

// Members yields the members of a JSON object in the order of the text, repeated
// keys included. It yields nothing for any other value. The values alias obj.
func Members(obj Raw) iter.Seq2[string, Raw] {
	return func(yield func(string, Raw) bool) {
		for m := range members(obj) {
			if !yield(m.key, obj[m.from:m.to]) {
				return
			}
		}
	}
}

// Member returns the value of a key of a JSON object: the last one, as JSON.parse
// would have it, or nil. The value aliases obj.
func Member(obj Raw, key string) (value Raw) {
	for k, v := range Members(obj) {
		if k == key {
			value = v
		}
	}
	return value
}

// SetMember returns obj with the member key set to value. A member that is there
// is replaced in its place, a new one comes last; every other byte stays as it is.
// An absent or null obj counts as an empty object.
func SetMember(obj Raw, key string, value Raw) (Raw, error) {
	var of Checked
	if !isNull(obj) {
		var err error
		if of, err = Check(obj); err != nil {
			return nil, err
		}
	}
	v, err := Check(value)
	if err != nil {
		return nil, errors.New("the value of " + key + " is not valid JSON")
	}
	with, err := of.With(key, v)
	return with.raw, err
}

// WithoutMember returns obj without the members of that key; the values of the others stay
// as they are, byte for byte. Of what is no object nothing is taken.
func WithoutMember(obj Raw, key string) Raw {
	return without(obj, func(name string, _ Raw) bool { return name == key })
}

// without is WithoutMember for every member that gone picks.
func without(obj Raw, gone func(key string, value Raw) bool) Raw {
	var b bytes.Buffer
	b.WriteByte('{')
	whole := true
	for name, value := range Members(obj) {
		if gone(name, value) {
			whole = false
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(quote(name))
		b.WriteByte(':')
		b.Write(value)
	}
	if whole {
		return obj
	}
	b.WriteByte('}')
	return b.Bytes()
}

// member is one member of an object; from and to enclose its value's text.
type member struct {
	key      string
	from, to int
}

// members walks an object without decoding its values. The text should be valid
// JSON; of text that is not, some members come out and some do not.
func members(b []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		i := jsontext.Space(b, 0)
		if i >= len(b) || b[i] != '{' {
			return
		}
		for i = jsontext.Space(b, i+1); i < len(b) && b[i] == '"'; i = jsontext.Space(b, i+1) {
			end := jsontext.String(b, i)
			key, ok := jsontext.Unquote(b[i:end])
			if i = jsontext.Space(b, end); !ok || i >= len(b) || b[i] != ':' {
				return
			}
			from := jsontext.Space(b, i+1)
			to := jsontext.Value(b, from)
			if from == to || !yield(member{key, from, to}) {
				return
			}
			if i = jsontext.Space(b, to); i >= len(b) || b[i] != ',' {
				return
			}
		}
	}
}

// elements yields the elements of an array; nothing for any other value.
func elements(b []byte) iter.Seq[Raw] {
	return func(yield func(Raw) bool) {
		i := jsontext.Space(b, 0)
		if i >= len(b) || b[i] != '[' {
			return
		}
		for i = jsontext.Space(b, i+1); i < len(b) && b[i] != ']'; i = jsontext.Space(b, i+1) {
			to := jsontext.Value(b, i)
			if i == to || !yield(b[i:to]) {
				return
			}
			if i = jsontext.Space(b, to); i >= len(b) || b[i] != ',' {
				return
			}
		}
	}
}

// Elements yields the elements of a JSON array in order, and nothing for any other
// value. The elements alias array.
func Elements(array Raw) iter.Seq[Raw] { return elements(array) }

func firstByte(b []byte) byte {
	if i := jsontext.Space(b, 0); i < len(b) {
		return b[i]
	}
	return 0
}

func isNull(b []byte) bool {
	t := bytes.TrimSpace(b)
	return len(t) == 0 || string(t) == "null"
}

package mcp

import (
	"bytes"
	"errors"
	"slices"

	"mcpx/internal/jsontext"
)

// Checked is JSON text that is known to be valid: it was held against the grammar once,
// where it came from outside, or is made of such. What is made of it goes out without being
// read again, so only this package makes one. The zero Checked is no value at all.
type Checked struct{ raw Raw }

// Check holds a text against the grammar.
func Check(raw Raw) (Checked, error) {
	if !jsontext.Valid(raw) {
		return Checked{}, errors.New("not valid JSON")
	}
	return Checked{raw}, nil
}

// CheckedResult returns the result of a response. That of a message which Split has read is
// not read again.
func (m *Message) CheckedResult() (Checked, error) {
	if m.split {
		return Checked{m.Result}, nil
	}
	return Check(m.Result)
}

// Raw returns the text, nil of no value.
func (c Checked) Raw() Raw { return c.raw }

// IsObject reports whether it is a JSON object.
func (c Checked) IsObject() bool { return firstByte(c.raw) == '{' }

// Member returns the value of a key of an object, as the function Member does.
func (c Checked) Member(key string) Checked { return Checked{Member(c.raw, key)} }

// With returns the object with the member key set to value, as SetMember does. The error is
// for what is neither an object nor null, nor no value at all.
func (c Checked) With(key string, value Checked) (Checked, error) {
	parts, err := c.with(key, value)
	if err != nil {
		return Checked{}, err
	}
	return Checked{slices.Concat(parts[:]...)}, nil
}

// with returns the object that With returns in three parts.
func (c Checked) with(key string, value Checked) (parts [3]Raw, err error) {
	obj := c.raw
	switch {
	case isNull(obj):
		obj = Raw("{}")
	case firstByte(obj) != '{':
		return parts, errors.New("not a JSON object")
	}
	from, to := -1, -1 // of the value that is there
	end := -1          // of the last value
	for m := range members(obj) {
		if end = m.to; m.key == key {
			from, to = m.from, m.to
		}
	}
	if from >= 0 {
		return [3]Raw{obj[:from], value.raw, obj[to:]}, nil
	}
	entry := make(Raw, 0, len(key)+len(value.raw)+8)
	if end < 0 {
		end = bytes.IndexByte(obj, '{') + 1
	} else {
		entry = append(entry, ',')
	}
	entry = append(append(jsontext.AppendQuoted(entry, key), ':'), value.raw...)
	return [3]Raw{obj[:end], entry, obj[end:]}, nil
}

// CallParams are the parameters of a call of a tool.
func CallParams(name string, arguments Checked) Checked {
	b := make(Raw, 0, len(name)+len(arguments.raw)+32)
	b = jsontext.AppendQuoted(append(b, `{"name":`...), name)
	b = append(append(b, `,"arguments":`...), arguments.raw...)
	return Checked{append(b, '}')}
}

package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mcpx/internal/fault"
)

// Field is one field of an operation's input, read off its tags:
//
//	Limit int `json:"limit,omitempty" flag:"limit" value:"N" min:"1" doc:"at most N tools"`
type Field struct {
	Name     string   // as JSON has it
	Flag     string   // its flag without dashes; empty if it has none
	Value    string   // what the flag's value is called; empty for a switch
	Doc      string   // one clause
	Kind     Kind     // how it is written
	Required bool     // there is no input without it
	Min, Max int      // of an integer; 0 is no bound
	Words    []string // what it may be; nil is no bound
	Hidden   bool     // it is no part of the operation's MCP tool
	Needed   bool     // the tool wants it, also where the others can do without
	index    int
}

// Kind says how a field is written.
type Kind int

// The kinds of fields. Value is any other JSON.
const (
	Text    Kind = iota // text
	Switch              // true or false
	Integer             // a whole number
	List                // several texts; a flag is given once for each
	Pairs               // texts by key; a flag is given as KEY=VALUE, once for each
	Value               // JSON
)

var knownFields sync.Map // of reflect.Type: []Field

// fieldsOf returns the fields of a struct, in a slice that belongs to all. A tag that makes
// no sense is an error of the program, which a test finds.
func fieldsOf(t reflect.Type) []Field {
	if known, ok := knownFields.Load(t); ok {
		return known.([]Field)
	}
	out := readFields(t)
	knownFields.Store(t, out)
	return out
}

func readFields(t reflect.Type) []Field {
	out := []Field{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		d := Field{
			Name: name, Flag: f.Tag.Get("flag"), Value: f.Tag.Get("value"), Doc: f.Tag.Get("doc"),
			Kind: kindOf(f.Type), Required: !strings.Contains(options, "omit"), Hidden: f.Tag.Get("tool") == "-", Needed: f.Tag.Get("tool") == "needed", index: i,
		}
		d.Min, d.Max = bound(f.Tag, "min"), bound(f.Tag, "max")
		if words := f.Tag.Get("words"); words != "" {
			d.Words = strings.Split(words, "|")
		}
		out = append(out, d)
	}
	return slices.Clip(out)
}

func bound(tag reflect.StructTag, key string) int {
	text, ok := tag.Lookup(key)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("api: the tag %s: %v", key, err))
	}
	return n
}

func kindOf(t reflect.Type) Kind {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return Value
	case t.Kind() == reflect.String:
		return Text
	case t.Kind() == reflect.Bool:
		return Switch
	case t.Kind() == reflect.Int:
		return Integer
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return List
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.String:
		return Pairs
	}
	return Value
}

// FromFlags reads an input off flags. given returns the values of a flag, none if it was
// not given.
func FromFlags[In any](given func(f Field) []string) (In, error) {
	var in In
	err := fill(reflect.ValueOf(&in).Elem(), func(f Field) ([]string, string) {
		if f.Flag == "" {
			return nil, ""
		}
		return given(f), "the flag --" + f.Flag
	})
	return in, err
}

// fill sets the fields of v to what given returns for them: values, and what to call the
// place that they come from.
func fill(v reflect.Value, given func(f Field) (values []string, place string)) error {
	for _, f := range fieldsOf(v.Type()) {
		values, place := given(f)
		if len(values) == 0 {
			continue
		}
		if err := f.set(v.Field(f.index), values, place); err != nil {
			return err
		}
	}
	return nil
}

func (f Field) set(v reflect.Value, values []string, place string) error {
	last := values[len(values)-1]
	if len(values) > 1 && f.Kind != List && f.Kind != Pairs {
		return fault.Usagef("%s is given more than once", place).Hintf("give it once")
	}
	switch f.Kind {
	case Text:
		if f.Words != nil && !slices.Contains(f.Words, last) {
			return fault.Usagef("%s: %q is not one of its values", place, last).Hintf("write %s", strings.Join(f.Words, " or "))
		}
		v.SetString(last)
	case Switch:
		b, err := strconv.ParseBool(last)
		if err != nil {
			return fault.Usagef("%s: %q is neither true nor false", place, last).Hintf("write true or false")
		}
		v.SetBool(b)
	case Integer:
		n, err := strconv.Atoi(last)
		if err != nil {
			return fault.Usagef("%s: %q is not a whole number%s", place, last, f.bounds()).Hintf("write a number such as %s", f.example(place))
		}
		if err := f.checkInteger(n, place); err != nil {
			return err
		}
		v.SetInt(int64(n))
	case List:
		v.Set(reflect.ValueOf(slices.Clone(values)).Convert(v.Type()))
	case Pairs:
		pairs := map[string]string{}
		for _, pair := range values {
			key, value, ok := strings.Cut(pair, "=")
			if !ok || key == "" {
				return fault.Usagef("%s: %q is not KEY=VALUE", place, pair).Hintf("write the name, an equals sign and the value")
			}
			if _, twice := pairs[key]; twice {
				return fault.Usagef("%s: %s is given twice", place, key).Hintf("give it once")
			}
			pairs[key] = value
		}
		v.Set(reflect.ValueOf(pairs).Convert(v.Type()))
	default:
		return fault.Internalf("%s stands for JSON", place)
	}
	return nil
}

func (f Field) bounds() string {
	switch {
	case f.Min != 0 && f.Max != 0:
		return fmt.Sprintf(" from %d to %d", f.Min, f.Max)
	case f.Min != 0:
		return fmt.Sprintf(" of at least %d", f.Min)
	case f.Max != 0:
		return fmt.Sprintf(" of at most %d", f.Max)
	}
	return ""
}

// example is a value that would do, spelled as a flag if it came as one.
func (f Field) example(place string) string {
	n := max(f.Min, 5)
	if f.Max != 0 {
		n = min(n, f.Max)
	}
	if flag, ok := strings.CutPrefix(place, "the flag "); ok {
		return fmt.Sprintf("%s %d", flag, n)
	}
	return strconv.Itoa(n)
}

func (f Field) checkInteger(n int, place string) error {
	if f.Min != 0 && n < f.Min || f.Max != 0 && n > f.Max {
		return fault.Usagef("%s: \"%d\" is not a whole number%s", place, n, f.bounds()).Hintf("write a number such as %s", f.example(place))
	}
	return nil
}

// check holds an input that came as JSON against its declaration: bounds, words, and that
// what is required is there.
func check(v reflect.Value) error {
	for _, f := range fieldsOf(v.Type()) {
		field := v.Field(f.index)
		switch {
		case f.Required && f.Kind != Switch && field.IsZero():
			return fault.Usagef("%s is missing", f.Name).Hintf("it is %s", f.Doc)
		case field.IsZero():
		case f.Kind == Integer:
			if err := f.checkInteger(int(field.Int()), f.Name); err != nil {
				return err
			}
		case f.Words != nil && !slices.Contains(f.Words, field.String()):
			return fault.Usagef("%s: %q is not one of its values", f.Name, field.String()).Hintf("write %s", strings.Join(f.Words, " or "))
		}
	}
	return nil
}

// query writes an input as the parameters of a URL, as fill reads them.
func query(v reflect.Value) map[string][]string {
	out := map[string][]string{}
	for _, f := range fieldsOf(v.Type()) {
		field := v.Field(f.index)
		if field.IsZero() {
			continue
		}
		switch f.Kind {
		case Text, Switch, Integer:
			out[f.Name] = []string{fmt.Sprint(field.Interface())}
		case List:
			for i := range field.Len() {
				out[f.Name] = append(out[f.Name], field.Index(i).String())
			}
		case Pairs:
			pairs, _ := reflect.TypeAssert[map[string]string](field)
			for _, key := range slices.Sorted(maps.Keys(pairs)) {
				out[f.Name] = append(out[f.Name], key+"="+pairs[key])
			}
		case Value:
			panic("api: " + f.Name + " cannot stand in a query")
		}
	}
	return out
}

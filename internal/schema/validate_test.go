package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mcpx/internal/fault"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, schema, args, want string }{
		{"fits", `{"type":"object","properties":{"ms":{"type":"integer","minimum":0}},"required":["ms"]}`, `{"ms":5}`, ""},
		{"minimum", `{"type":"object","properties":{"ms":{"type":"integer","minimum":0}}}`, `{"ms":-1}`, `argument "ms": -1 is less than the minimum 0`},
		{"maximum", `{"properties":{"n":{"maximum":1.5}}}`, `{"n":1.6}`, `argument "n": 1.6 is more than the maximum 1.5`},
		{"exclusive", `{"properties":{"n":{"exclusiveMinimum":3}}}`, `{"n":3}`, `argument "n": 3 is not more than 3`},
		{"exclusive in draft 4", `{"properties":{"n":{"minimum":3,"exclusiveMinimum":true}}}`, `{"n":3}`, `argument "n": 3 is not more than 3`},
		{"exclusive false in draft 4", `{"properties":{"n":{"minimum":3,"exclusiveMinimum":false}}}`, `{"n":3}`, ""},
		{"digits beyond a float", `{"properties":{"n":{"maximum":9007199254740992}}}`, `{"n":9007199254740993}`, `argument "n": 9007199254740993 is more than the maximum 9007199254740992`},
		{"an enum beyond a float is the server's business", `{"properties":{"n":{"enum":[9007199254740993]}}}`, `{"n":9007199254740993}`, ""},
		{"multiple", `{"properties":{"n":{"multipleOf":0.5}}}`, `{"n":1.25}`, `argument "n": 1.25 is not a multiple of 0.5`},
		{"type", `{"properties":{"ms":{"type":"integer"}}}`, `{"ms":"abc"}`, `argument "ms": "abc" is a string, not an integer`},
		{"types", `{"properties":{"ms":{"type":["integer","null"]}}}`, `{"ms":true}`, `argument "ms": true is a boolean, not an integer or null`},
		{"a fraction is no integer", `{"properties":{"ms":{"type":"integer"}}}`, `{"ms":1.5}`, `argument "ms": 1.5 is a number, not an integer`},
		{"a whole float is an integer", `{"properties":{"ms":{"type":"integer"}}}`, `{"ms":1.0}`, ""},
		{"null", `{"properties":{"s":{"type":"string"}}}`, `{"s":null}`, `argument "s": null is not a string`},
		{"nullable", `{"properties":{"s":{"type":"string","nullable":true}}}`, `{"s":null}`, ""},
		{"required", `{"required":["message"]}`, `{}`, `argument "message" is required`},
		{"required within", `{"properties":{"f":{"type":"object","required":["id"]}}}`, `{"f":{}}`, `argument "f.id" is required`},
		{"unknown", `{"properties":{"message":{}},"additionalProperties":false}`, `{"mesage":1}`, `argument "mesage" is not one that the tool knows`},
		{"enum", `{"properties":{"c":{"enum":["red","green"]}}}`, `{"c":"gren"}`, `argument "c": "gren" is none of "red", "green"`},
		{"const", `{"properties":{"c":{"const":{"a":[1]}}}}`, `{"c":{"a":[2]}}`, `argument "c": {"a":[2]} is not {"a":[1]}`},
		{"length", `{"properties":{"s":{"minLength":3}}}`, `{"s":"é"}`, `argument "s": "é" has 1 character, fewer than the minimum 3`},
		{"pattern", `{"properties":{"s":{"pattern":"^\\u0061+$"}}}`, `{"s":"b"}`, `argument "s": "b" does not match the pattern ^\u0061+$`},
		{"a pattern that Go does not know", `{"properties":{"s":{"pattern":"^(?!x)"},"n":{"type":"integer"}}}`, `{"s":"x","n":1}`, ""},
		{"the rest of a schema with such a pattern", `{"properties":{"s":{"pattern":"^(?!x)"},"n":{"type":"integer"}}}`, `{"s":"x","n":"y"}`, `argument "n": "y" is a string, not an integer`},
		{"items", `{"properties":{"a":{"items":{"type":"object","properties":{"id":{"type":"integer"}}}}}}`, `{"a":[{"id":1},{"id":"x"}]}`, `argument "a[1].id": "x" is a string, not an integer`},
		{"few items", `{"properties":{"a":{"minItems":2}}}`, `{"a":[1]}`, `argument "a" has 1 item, fewer than the minimum 2`},
		{"repeated items", `{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[1,1.0]}`, `argument "a" holds 1.0 twice, and its items must differ`},
		{"a tuple of draft 7", `{"properties":{"a":{"items":[{"type":"string"}],"additionalItems":{"type":"integer"}}}}`, `{"a":["x","y"]}`, `argument "a[1]": "y" is a string, not an integer`},
		{"reference", `{"properties":{"r":{"$ref":"#/definitions/R"}},"definitions":{"R":{"type":"integer"}},"$defs":{}}`, `{"r":"x"}`, `argument "r": "x" is a string, not an integer`},
		{"references to nothing", `{"properties":{"r":{"$ref":"#/definitions/R"},"q":{"$ref":"https://example.com/x"}}}`, `{"r":"x","q":1}`, ""},
		{"recursion", `{"properties":{"c":{"$ref":"#"},"n":{"type":"integer"}}}`, `{"c":{"c":{"n":"x"}}}`, `argument "c.c.n": "x" is a string, not an integer`},
		{"any of", `{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}`, `{"a":"x"}`, `argument "a": "x" fits none of the 2 forms it may have`},
		{"any of objects", `{"properties":{"a":{"anyOf":[{"type":"null"},{"type":"object","properties":{"n":{"type":"integer"}}}]}}}`, `{"a":{"n":"x"}}`, `argument "a.n": "x" is a string, not an integer`},
		{"what only the library knows", `{"not":{"required":["a"]}}`, `{"a":1}`, `the argument object does not fit the schema: not: validated against`},
		{"an odd name", `{"properties":{"a b":{"type":"integer"}}}`, `{"a b":"x"}`, `argument "["a b"]": "x" is a string, not an integer`},
		{"never", `{"properties":{"a":false}}`, `{"a":1}`, `argument "a" must not be given`},
		{"not JSON", `{}`, `{`, `the arguments are not valid JSON`},
		{"types of other languages", `{"properties":{"a":{"type":"int"},"b":{"type":"thing"}}}`, `{"a":1,"b":[]}`, ""},
		{"mistakes", `{"type":"object","properties":{"a":{"type":"integer","maximum":"10","required":true,"minLength":-1,"pattern":5,"enum":7},"required":["a"]},"required":"a","additionalProperties":3}`, `{"a":99}`, ""},
		{"says nothing", `{"$ref":"#","allOf":[{"$ref":"#"}]}`, `{"a":1}`, ""},
		{"says nothing in a circle that only a check walks", `{"not":{"$ref":"#"}}`, `{"a":1}`, ""},
		{"no schema", `"x"`, `{"a":1}`, ""},
		{"a number too large for anything", `{"properties":{"a":{"maximum":5}}}`, `{"a":1e999999999}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := Validate(json.RawMessage(test.schema), json.RawMessage(test.args))
			switch {
			case test.want == "" && err != nil:
				t.Errorf("Validate(%s) = %v, want nil", test.args, err)
			case test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)):
				t.Errorf("Validate(%s) = %v, want %s", test.args, err, test.want)
			}
		})
	}
}

func TestValidateSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ schema, args, path, hint string }{
		{`{"properties":{"message":{}},"additionalProperties":false}`, `{"mesage":1}`, "mesage", `did you mean "message"?`},
		{`{"properties":{"message":{},"to":{}},"additionalProperties":false}`, `{"xyz":1}`, "xyz", `it knows message, to`},
		{`{"properties":{},"additionalProperties":false}`, `{"xyz":1}`, "xyz", `it takes no arguments`},
		{`{"properties":{"c":{"enum":["red","green"]}}}`, `{"c":"gren"}`, "c", `did you mean "green"?`},
	} {
		var e *fault.Error
		if err := Validate(json.RawMessage(test.schema), json.RawMessage(test.args)); !errors.As(err, &e) {
			t.Errorf("Validate(%s) = %v, want a fault", test.args, err)
			continue
		}
		if e.Kind != fault.Tool || e.Hint != test.hint || e.Details["path"] != test.path {
			t.Errorf("Validate(%s) = %s, hint %q, details %v, want hint %q and path %q", test.args, e.Kind, e.Hint, e.Details, test.hint, test.path)
		}
	}
}

// hostile are pairs of schema and arguments that a careless check never finishes, or
// that end the process.
func hostile() map[string][2]string {
	deep := strings.Repeat(`{"c":`, 2000) + `1` + strings.Repeat(`}`, 2000)
	chain := `{"$ref":"#/$defs/d0","$defs":{`
	for i := range 60 {
		chain += fmt.Sprintf(`"d%[1]d":{"allOf":[{"$ref":"#/$defs/d%[2]d"},{"$ref":"#/$defs/d%[2]d"}]},`, i, i+1)
	}
	var layers strings.Builder // of two parts that each lead to both of the next
	for i := range 200 {
		fmt.Fprintf(&layers, `"a%[1]d":{"anyOf":[{"$ref":"#/$defs/a%[2]d"},{"$ref":"#/$defs/b%[2]d"}]},"b%[1]d":{"anyOf":[{"$ref":"#/$defs/b%[2]d"},{"$ref":"#/$defs/a%[2]d"}]},`, i, i+1)
	}
	var unions []string // whose arms multiply
	for i := range 40 {
		unions = append(unions, fmt.Sprintf(`{"anyOf":[{"properties":{"p%[1]d":{}},"required":["p%[1]d"]},{"properties":{"q%[1]d":{}},"required":["q%[1]d"]}]}`, i))
	}
	return map[string][2]string{
		"layers":       {`{"$ref":"#/$defs/a0","$defs":{` + layers.String() + `"a200":{"type":"array","items":{"$ref":"#"}},"b200":{"enum":[1,2]}}}`, deep},
		"unions":       {`{"type":"object","properties":{"x":{"allOf":[` + strings.Join(unions, ",") + `]}}}`, `{"x":{}}`},
		"nested lists": {strings.Repeat(`{"items":`, 4000) + `{}` + strings.Repeat(`}`, 4000), `{}`},
		"nested":       {strings.Repeat(`{"properties":{"a":`, 3000) + `{}` + strings.Repeat(`}}`, 3000), `{"a":1}`},
		"branches":     {`{"anyOf":[{"properties":{"c":{"$ref":"#"}}},{"properties":{"c":{"$ref":"#"},"d":{}}}],"oneOf":[{"properties":{"c":{"$ref":"#"}}},true]}`, deep},
		"a chain":      {chain + `"d60":{"type":"object"}}}`, `{"a":1}`},
		"deep":         {`{"properties":{"c":{"$ref":"#"}}}`, deep},
		"not itself":   {`{"not":{"not":{"$ref":"#"}}}`, `{}`},
		"if itself":    {`{"if":{"$ref":"#"},"then":{"$ref":"#"},"else":{"$ref":"#"}}`, `{}`},
		"two circles":  {`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#"}]},"b":{"oneOf":[{"$ref":"#/$defs/a"}]}}}`, `{}`},
		"dynamic":      {`{"$dynamicAnchor":"x","properties":{"c":{"$dynamicRef":"#x"}}}`, deep},
		"a huge count": {`{"properties":{"s":{"pattern":"(a{1000}){1000}"}}}`, `{"s":"a"}`},
	}
}

func TestHostileSchemasAreBounded(t *testing.T) {
	t.Parallel()
	for name, pair := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			schema, args := json.RawMessage(pair[0]), json.RawMessage(pair[1])
			_ = Validate(schema, args)
			Coerce(schema, args)
			text := Declarations([]Namespace{{Name: "x", Tools: []Tool{{Name: "t", Input: schema, Output: schema}}}})
			Signature("t", schema, schema)
			if len(text) > 4*maxPrinted {
				t.Errorf("%d bytes of TypeScript", len(text))
			}
			if d := time.Since(start); d > time.Minute {
				t.Errorf("took %v", d)
			}
		})
	}
}

// FuzzValidate checks that no schema and no arguments end the process, and that what
// has no trouble with a schema is not refused.
func FuzzValidate(f *testing.F) {
	for _, pair := range hostile() {
		f.Add(pair[0], pair[1])
	}
	f.Add(`{"properties":{"a":{"type":["integer","null"],"minimum":1}}}`, `{"a":0}`)
	f.Add(`{"patternProperties":{"^a":{"enum":[1]}},"additionalProperties":false,"dependencies":{"a":["b"]}}`, `{"ab":2}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		err := Validate(json.RawMessage(schema), json.RawMessage(args))
		if err == nil {
			return
		}
		var e *fault.Error
		if !errors.As(err, &e) || strings.ContainsAny(e.Message, "\n\x1b") {
			t.Errorf("Validate(%s, %s) = %q", schema, args, err)
		}
	})
}

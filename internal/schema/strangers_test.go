package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mcpx/internal/fault"
)

func TestStrangers(t *testing.T) {
	t.Parallel()
	const filter = `{"type":"object","properties":{"label":{"type":"string"},"state":{"type":"string"}}}`
	tests := []struct{ name, schema, args, want string }{
		{"near", `{"properties":{"perPage":{},"page":{}}}`, `{"per_pge":5}`, `per_pge: did you mean "perPage"?`},
		{"the one that is missing", `{"properties":{"message":{},"loud":{}},"required":["message"]}`, `{"msg":"hi"}`, `msg: did you mean "message"?`},
		{"an abbreviation", `{"properties":{"server":{"type":"string"},"arguments":{"type":"object"}},"required":["server"]}`, `{"args":{}}`, `args: did you mean "arguments"?`},
		{"the one that is missing is something else", `{"properties":{"server":{"type":"string"},"n":{}},"required":["server"]}`, `{"input":{}}`, `input: it knows server, n`},
		{"the one that is missing is a whole number", `{"properties":{"limit":{"type":"integer"},"n":{}},"required":["limit"]}`, `{"max":5}`, `max: did you mean "limit"?`},
		{"far", `{"properties":{"a":{},"b":{}}}`, `{"something":1}`, `something: it knows a, b`},
		{"within", `{"properties":{"filter":` + filter + `}}`, `{"filter":{"lable":"x"}}`, `filter.lable: did you mean "label"?`},
		{"in a list", `{"properties":{"all":{"items":` + filter + `}}}`, `{"all":[{"label":"x"},{"stat":"y"}]}`, `all[1].stat: did you mean "state"?`},
		{"by reference", `{"properties":{"f":{"$ref":"#/$defs/F"}},"$defs":{"F":` + filter + `}}`, `{"f":{"lable":"x"}}`, `f.lable: did you mean "label"?`},
		{"closed", `{"properties":{"a":{}},"additionalProperties":false}`, `{"b":1}`, `b: it knows a`},
		{"known", `{"properties":{"a":{}}}`, `{"a":{"b":1}}`, ""},
		{"nothing is named", `{"type":"object"}`, `{"a":1}`, ""},
		{"nothing is named at all", `{"properties":{}}`, `{"a":1}`, ""},
		{"others are welcome", `{"properties":{"a":{}},"additionalProperties":true}`, `{"b":1}`, ""},
		{"others have a form", `{"properties":{"a":{}},"additionalProperties":{"type":"string"}}`, `{"b":"1"}`, ""},
		{"by pattern", `{"properties":{"a":{}},"patternProperties":{"^b":{}}}`, `{"b":"1"}`, ""},
		{"in another form", `{"properties":{"a":{}},"anyOf":[{"properties":{"b":{}}}]}`, `{"b":"1"}`, ""},
		{"a reference to itself", `{"properties":{"a":{"$ref":"#/properties/a"}}}`, `{"a":{"b":1}}`, ""},
		{"no schema", `true`, `{"b":"1"}`, ""},
	}
	for _, tt := range tests {
		var got []string
		for _, s := range NewInput(json.RawMessage(tt.schema)).Strangers(json.RawMessage(tt.args)) {
			got = append(got, s.Path+": "+s.Hint)
		}
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf(`"x%d":1`, i))
	}
	if got := NewInput(json.RawMessage(`{"properties":{"a":{}}}`)).Strangers(json.RawMessage("{" + strings.Join(many, ",") + "}")); len(got) != maxStrangers {
		t.Errorf("%d strangers, want %d", len(got), maxStrangers)
	}
}

func TestAMissingArgumentNamesWhatWasMeantForIt(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"properties":{"message":{},"times":{}},"required":["message","times"]}`)
	for args, want := range map[string]string{
		`{"mesage":"x","times":1}`: `argument "message" is required; did you mean it by "mesage"?`,
		`{"msg":"x","times":1}`:    `argument "message" is required; did you mean it by "msg"?`,
		`{"msg":"x","time":1}`:     `argument "times" is required; did you mean it by "time"?`,
		`{"times":1}`:              `argument "message" is required`,
		`{"a":1,"b":2}`:            `argument "message" is required`,
	} {
		e := fault.From(Validate(schema, json.RawMessage(args)))
		got := strings.Join(slices.DeleteFunc([]string{e.Message, e.Hint}, func(s string) bool { return s == "" }), "; ")
		if got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

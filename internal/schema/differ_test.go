package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	object := func(properties, required string) string {
		return `{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`
	}
	for _, test := range []struct {
		name, before, after string
		want                string // kind field before > after, divided by "; "
	}{
		{"the same", object(`"a":{"type":"string"}`, ``), object(`"a":{"type":"string"}`, ``), ``},
		{"order and space", `{"type":"object","properties":{}}`, `{ "properties": {}, "type": "object" }`, ``},
		{"added", object(``, ``), object(`"a":{"type":"string"}`, ``), `added a > string`},
		{"added and required", object(``, ``), object(`"a":{"type":"string"}`, `"a"`), `required a > string`},
		{"removed", object(`"a":{"type":"string"}`, `"a"`), object(``, ``), `removed a string >`},
		{"retyped", object(`"a":{"type":"string"}`, ``), object(`"a":{"enum":["x","y"]}`, ``), `retyped a string > "x" | "y"`},
		{"must be given now", object(`"a":{"type":"string"}`, ``), object(`"a":{"type":"string"}`, `"a"`), `required a string > string`},
		{"need not be given now", object(`"a":{"type":"string"}`, `"a"`), object(`"a":{"type":"string"}`, ``), `optional a string > string`},
		{
			"within objects and lists", object(`"a":{"type":"array","items":`+object(`"b":{"type":"string"}`, ``)+`}`, ``),
			object(`"a":{"type":"array","items":`+object(`"b":{"type":"number"}`, ``)+`}`, ``), `retyped a[].b string > number`,
		},
		{
			"behind references", `{"$ref":"#/$defs/A","$defs":{"A":` + object(`"b":{"type":"string"}`, ``) + `}}`,
			object(`"b":{"type":"boolean"}`, ``), `retyped b string > boolean`,
		},
		{"words", object(`"a":{"type":"string","description":"x"}`, ``), object(`"a":{"type":"string","description":"y"}`, ``), `reworded  >`},
		{"integers are numbers", object(`"a":{"type":"integer"}`, ``), object(`"a":{"type":"number"}`, ``), `reworded  >`},
		{"members of any name", `{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":{"type":"number"}}`, `retyped * string > number`},
		{"what was no schema", ``, object(`"a":{"type":"string"}`, ``), `added  > { a?: string }`},
		{"what is none any more", object(`"a":{"type":"string"}`, ``), `7`, `removed  { a?: string } >`},
		{"neither", `1`, `2`, `reworded  >`},
		{"recursion", `{"properties":{"a":{"$ref":"#"}}}`, `{"properties":{"a":{"$ref":"#"},"b":{}}}`, `added b > unknown`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, d := range Differences(json.RawMessage(test.before), json.RawMessage(test.after)) {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Kind, d.Field, strings.TrimLeft(d.Before+" > "+d.After, " "))))
			}
			if strings.Join(got, "; ") != test.want {
				t.Errorf("Differences = %q, want %q", got, test.want)
			}
		})
	}
}

func TestDifferencesAreBounded(t *testing.T) {
	t.Parallel()
	huge := hugeSchema()
	if got := Differences(huge, json.RawMessage(`{"type":"object"}`)); len(got) != maxDifferences {
		t.Errorf("%d differences, want %d", len(got), maxDifferences)
	}
	if got := Differences(huge, huge); got != nil {
		t.Errorf("a schema differs from itself: %v", got)
	}
}

func FuzzDifferences(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"#"}}}`, `{"properties":{"a":{"items":{"$ref":"#"}}}}`)
	f.Add(`{"type":"object"}`, `true`)
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(Differences(json.RawMessage(before), json.RawMessage(after))) > maxDifferences {
			t.Error("too many")
		}
		if d := Differences(json.RawMessage(before), json.RawMessage(before)); d != nil {
			t.Errorf("%q differs from itself: %v", before, d)
		}
	})
}

func TestCall(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, input, output, want string }{
		{"echo", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`, ``, `echo({ message: string })`},
		{"now", `{"type":"object","properties":{},"additionalProperties":false}`, ``, `now()`},
		{"now", `{"type":"object","properties":{}}`, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, `now() → { n: number }`},
		{"any", ``, ``, `any({ … })`},
		{"map", `{"type":"object","additionalProperties":{"type":"string"}}`, ``, `map({ [key: string]: string })`},
		{
			"long", `{"properties":{"kinds":{"type":"array","items":{"enum":[` + strings.Repeat(`"a long enough word",`, 9) + `"b","c","d","e and so on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on"]}},"x":{"type":"string"}}}`, ``,
			`long({ kinds?: string[]; x?: string })`,
		},
	} {
		if got := Call(test.name, json.RawMessage(test.input), json.RawMessage(test.output)); got != test.want {
			t.Errorf("Call(%s) = %s, want %s", test.name, got, test.want)
		}
	}
}

package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestOddities holds what becomes of schemas as servers really write them: of one
// argument a, in a signature.
func TestOddities(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, schema, want string }{
		{"undefined as a generator writes it", `{"anyOf":[{"not":{}},{"type":"string"}]}`, `string`},
		{"not something", `{"not":{"type":"null"}}`, `unknown`},
		{"an empty enum", `{"type":"string","enum":[]}`, `never`},
		{"an enum of other kinds than its type", `{"type":"number","enum":["1","2"]}`, `"1" | "2"`},
		{"an enum with null", `{"type":["string","null"],"enum":["a",null]}`, `"a" | null`},
		{"nullable of OpenAPI", `{"type":"string","nullable":true}`, `string | null`},
		{"nullable as an extension", `{"type":"string","x-nullable":true}`, `string | null`},
		{"members under a condition", `{"type":"object","properties":{"k":{"type":"string"}},"if":{"required":["k"]},"then":{"properties":{"x":{"type":"number"}},"required":["x"]},"else":{"properties":{"k":{"type":"number"},"y":{}}}}`, `{ k?: string; x?: number; y?: unknown }`},
		{"members that depend", `{"type":"object","properties":{"k":{"type":"string"}},"dependentSchemas":{"k":{"properties":{"x":{"type":"number"}}}}}`, `{ k?: string; x?: number }`},
		{"dependencies of draft 7", `{"type":"object","properties":{"k":{"type":"string"}},"dependencies":{"k":{"properties":{"x":{"type":"number"}}},"x":["k"]}}`, `{ k?: string; x?: number }`},
		{"a condition that leads round", `{"type":"object","properties":{"k":{"type":"string"}},"then":{"$ref":"#"}}`, `{ k?: string }`},
		{"a definition that moved", `{"$ref":"#/definitions/A","definitions":{"A":{"type":"boolean"}}}`, `boolean`},
		{"a definition by its name alone", `{"$ref":"A","$defs":{"A":{"type":"boolean"}}}`, `boolean`},
		{"two definitions of one name", `{"allOf":[{"$defs":{"A":{"type":"boolean"}}},{"$defs":{"A":{"type":"string"}}}],"$ref":"#/$defs/A"}`, `unknown`},
		{"a document elsewhere", `{"$ref":"https://example.com/A.json","$defs":{"A":{"type":"boolean"}}}`, `unknown`},
		{"a definition of letters that are escaped", `{"$ref":"#/definitions/a%20b~1c","definitions":{"a b/c":{"type":"boolean"}}}`, `boolean`},
		{"nothing but references in a circle", `{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}`, `unknown`},
		{"an anchor", `{"$ref":"#x","$defs":{"A":{"$anchor":"x","type":"boolean"}}}`, `boolean`},
		{"capitals", `{"type":"OBJECT","properties":{"k":{"type":"STRING"}}}`, `{ k?: string }`},
		{"a list of types with schemas, draft 3", `{"type":[{"type":"string"},"number"]}`, `string | number`},
		{"required as a flag, draft 3", `{"type":"object","properties":{"k":{"type":"string","required":true}}}`, `{ k: string }`},
		{"required as one word", `{"type":"object","properties":{"k":{"type":"string"}},"required":"k"}`, `{ k?: string }`},
		{"exclusive as a flag, draft 4", `{"type":"integer","minimum":3,"exclusiveMinimum":true}`, `number`},
		{"items as a tuple, draft 7", `{"type":"array","items":[{"type":"string"},{"type":"number"}],"additionalItems":false}`, `[string?, number?]`},
		{"items as a tuple, 2020-12", `{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"number"},"minItems":1}`, `[string, ...number[]]`},
		{"other members that are not evaluated", `{"type":"object","unevaluatedProperties":{"type":"string"}}`, `{ [key: string]: string }`},
		{"constants with titles", `{"oneOf":[{"const":"a","title":"A one"},{"const":"b"}]}`, `"a" | "b"`},
		{"no schema at all", `"string"`, `unknown`},
		{"properties as a list", `{"type":"object","properties":[{"name":"k"}]}`, `{ [key: string]: unknown }`},
		{"a property that is null", `{"type":"object","properties":{"k":null}}`, `{ k?: unknown }`},
		{"a name given twice", `{"type":"object","properties":{"k":{"type":"string"},"k":{"type":"number"}}}`, `{ k?: number }`},
		{"__proto__", `{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["constructor"]}`, `{ __proto__?: unknown; constructor: string }`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			input := json.RawMessage(`{"type":"object","properties":{"a":` + test.schema + `}}`)
			if got, want := Signature("t", input, nil), "t(args?: { a?: "+test.want+" }): Promise<any>"; got != want {
				t.Errorf("Signature = %s, want %s", got, want)
			}
		})
	}
}

// TestSchemasThatMultiply holds that schemas which are small as text and huge when
// every reference is followed are read in bounded time to a bounded text.
func TestSchemasThatMultiply(t *testing.T) {
	t.Parallel()
	list := func(n int, format string) string {
		var parts []string
		for i := range n {
			parts = append(parts, strings.NewReplacer("NEXT", fmt.Sprint(i+1), "THIS", fmt.Sprint(i)).Replace(format))
		}
		return strings.Join(parts, ",")
	}
	chain := func(format string) string {
		return `{"$ref":"#/$defs/A0","$defs":{` + list(40, format) + `,"A40":{"type":"object","properties":{"z":{}}}}}`
	}
	for name, schema := range map[string]string{
		"alternatives that multiply": `{"allOf":[` + list(20, `{"anyOf":[`+list(10, `{"type":"object","properties":{"pTHIS":{"type":"string"}},"required":["pTHIS"]}`)+`]}`) + `]}`,
		"members that double":        chain(`"ATHIS":{"type":"object","properties":{"x":{"$ref":"#/$defs/ANEXT"},"y":{"$ref":"#/$defs/ANEXT"}}}`),
		"parts that double":          chain(`"ATHIS":{"allOf":[{"$ref":"#/$defs/ANEXT"},{"$ref":"#/$defs/ANEXT"},{"properties":{"kTHIS":{}}}]}`),
		"alternatives that double":   chain(`"ATHIS":{"anyOf":[{"$ref":"#/$defs/ANEXT"},{"type":"array","items":{"$ref":"#/$defs/ANEXT"}}]}`),
		"tuples that double":         chain(`"ATHIS":{"prefixItems":[{"$ref":"#/$defs/ANEXT"},{"$ref":"#/$defs/ANEXT"}]}`),
		"conditions that double":     chain(`"ATHIS":{"type":"object","properties":{"k":{}},"then":{"$ref":"#/$defs/ANEXT"},"else":{"$ref":"#/$defs/ANEXT"}}`),
		"a circle of alternatives":   `{"anyOf":[` + list(999, `{"$ref":"#/anyOf/NEXT"}`) + `,{"$ref":"#/anyOf/0"}]}`,
		"parts that hold the whole":  `{"type":"object","properties":{` + list(500, `"vTHIS":{"allOf":[{"$ref":"#"},{"properties":{"qTHIS":{}}}]}`) + `}}`,
		"depth":                      strings.Repeat(`{"type":"object","properties":{"a":`, 2000) + `{}` + strings.Repeat(`}}`, 2000),
		"more depth than JSON has":   strings.Repeat(`{"items":`, 100_000) + `{}` + strings.Repeat(`}`, 100_000),
		"one of very many":           `{"enum":[` + list(50_000, `"vTHIS"`) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, other := json.RawMessage(schema), json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"}}}`)
			start := time.Now()
			text := Declarations([]Namespace{{Name: "s", Tools: []Tool{{Name: "t", Input: raw, Output: raw}}}})
			line := Signature("t", raw, raw) + Call("t", raw, raw)
			differences := Differences(raw, other)
			WordsOf(raw)
			if took := time.Since(start); took > time.Minute { // some milliseconds on an idle machine
				t.Errorf("took %v", took)
			}
			if len(text) > 5*maxPrinted || len(line) > 2*(signatureArgs+signatureResult+callArgs+callResult) || len(differences) > maxDifferences {
				t.Errorf("%d bytes of declarations, %d of signatures, %d differences", len(text), len(line), len(differences))
			}
			if err := balanced(text); err != nil {
				t.Error(err)
			}
		})
	}
}

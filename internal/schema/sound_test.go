package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"type":"object"}`: true,
		`true`:              true,
		`{"type":"object","$defs":{"T":{"type":["object","null"],"properties":{"c":{"items":{"$ref":"#/$defs/T"}}}}},"properties":{"t":{"$ref":"#/$defs/T"}}}`: true,
		`{"properties":{"a":{"$ref":"#x"},"b":{"$anchor":"x"},"c":{"$ref":"#"},"d":{"$ref":"#/properties/a%20b"},"a b":{"pattern":"^a(?=b)"}}}`:                true,
		`{"items":[{"type":"string"},true],"enum":[null],"dependencies":{"a":["b"]},"nullable":true,"type":"string"}`:                                          true,
		`{"$defs":{"unused":{"type":"str"}}}`:              true,
		`{"oneOf":[{"$ref":"#/oneOf/1"},{"type":"null"}]}`: true,
		`null`: false,
		`[]`:   false,
		`{"properties":{"a":{"$ref":"#/$defs/Nope"}}}`:                                    false,
		`{"properties":{"a":{"$ref":"other.json"}}}`:                                      false,
		`{"p":{"$defs":{"A":{}}},"properties":{"a":{"$ref":"#A"}}}`:                       false,
		`{"properties":{"a":{"properties":{"b":{"$ref":"#/$defs/B"}},"$defs":{"B":{}}}}}`: false,
		`{"properties":{"a":{"type":"str"}}}`:                                             false,
		`{"type":[]}`:                                                                     false,
		`{"type":null}`:                                                                   false,
		`{"properties":{"a":{"required":true}}}`:                                          false,
		`{"required":[1]}`:                                                                false,
		`{"properties":[]}`:                                                               false,
		`{"properties":{"a":null}}`:                                                       false,
		`{"anyOf":[{"minimum":0,"exclusiveMinimum":true}]}`:                               false,
		`{"additionalProperties":{"enum":[]}}`:                                            false,
		`{"pattern":"["}`:                                                                 false,
		`{"nullable":true}`:                                                               false,
		`{"properties":{"t":{"$ref":"#/$defs/T"}},"$defs":{"T":{"type":"date"}}}`:         false,
	} {
		if got := Sound(json.RawMessage(text)); got != want {
			t.Errorf("Sound(%s) = %t", text, got)
		}
	}
	deep := strings.Repeat(`{"not":`, 5000) + `{}` + strings.Repeat(`}`, 5000)
	if !Sound(json.RawMessage(deep)) {
		t.Error("a deep schema is not sound")
	}
	// To compile each of these would take minutes.
	pattern := `{"pattern":"^(` + strings.Repeat("a?", 40) + `){1,900}$"}`
	if !Sound(json.RawMessage(`{"allOf":[` + strings.Repeat(pattern+",", 20_000) + pattern + `]}`)) {
		t.Error("a schema with many patterns is not sound")
	}
}

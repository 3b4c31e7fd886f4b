package schema

import (
	"encoding/json"
	"testing"
)

func TestWantsSecret(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, fields string
		want         bool
	}{
		{"a name", `"name": {"type": "string"}`, false},
		{"a number of tokens", `"maxTokens": {"type": "integer"}`, false},
		{"a password by its format", `"x": {"type": "string", "format": "password"}`, true},
		{"what is only written", `"x": {"type": "string", "writeOnly": true}`, true},
		{"a token by its name", `"githubToken": {"type": "string"}`, true},
		{"a code", `"passcode": {"type": "string"}`, true},
		{"a key of a cloud", `"awsAccessKeyId": {"type": "string"}`, true},
		{"a key by its title", `"x": {"type": "string", "title": "Your API key"}`, true},
		{"without a type", `"password": {}`, true},
		{"beside others", `"name": {"type": "string"}, "secret": {"type": "string"}`, true},
		{"in a field", `"login": {"type": "object", "properties": {"user": {"type": "string"}, "password": {"type": "string"}}}`, true},
		{"in a list", `"all": {"type": "array", "items": {"type": "object", "properties": {"x": {"format": "password"}}}}`, true},
		{"a list of what is only written", `"all": {"type": "array", "items": {"writeOnly": true}}`, true},
		{"a list in a field", `"a": {"properties": {"b": {"type": "array", "items": {"type": "string"}}}}`, false},
		{"a field that is no schema", `"password": true`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			form := json.RawMessage(`{"type": "object", "properties": {` + tt.fields + `}}`)
			if got := WantsSecret(form); got != tt.want {
				t.Errorf("WantsSecret(%s) = %v, want %v", form, got, tt.want)
			}
		})
	}
	for _, text := range []string{``, `{`, `7`, `{"properties": 7}`, `{"type": "object"}`} {
		if WantsSecret(json.RawMessage(text)) {
			t.Errorf("WantsSecret(%s) = true", text)
		}
	}
}

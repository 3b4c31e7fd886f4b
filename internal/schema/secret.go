package schema

import (
	"encoding/json"
	"strings"
)

// WantsSecret reports whether a form asks for a secret: one of its fields, or of those in
// them, is marked as one, or is a text that is called like one.
func WantsSecret(form json.RawMessage) bool {
	root, ok := parse(form)
	return ok && hasSecret(root)
}

// hasSecret reports whether a field of an object is a secret.
func hasSecret(object *value) bool {
	fields := object.get("properties")
	if !object.is(kindObject) || !fields.is(kindObject) {
		return false
	}
	for i := range fields.members {
		if isSecretField(fields.members[i].name, &fields.members[i].value) {
			return true
		}
	}
	return false
}

func isSecretField(name string, of *value) bool {
	if !of.is(kindObject) {
		return false
	}
	if of.get("writeOnly").isTrue() || of.string("format") == "password" || hasSecret(of) {
		return true
	}
	switch of.string("type") {
	case "boolean", "integer", "number":
		return false
	}
	return isSecret(name) || isSecret(strings.ReplaceAll(of.string("title"), " ", "")) || isSecretField(name, of.get("items"))
}

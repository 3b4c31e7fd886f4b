package mcp

import (
	"bytes"
	"slices"
	"strings"
)

// kinds is how the values of members begin that entries of lists may have.
var kinds = map[string]byte{
	"title": '"', "description": '"', "mimeType": '"',
	"annotations": '{', "outputSchema": '{', "execution": '{', "_meta": '{',
	"icons": '[', "arguments": '[',
}

// Sound returns an entry of a list, an object, without the members that are null or of a kind
// that the protocol does not know there: many clients refuse a whole list for one of them. Of
// an entry in which nothing is wrong every byte stays as it is.
func Sound(entry Raw) Raw {
	return without(entry, func(key string, value Raw) bool {
		kind, known := kinds[key]
		return string(value) == "null" || known && firstByte(value) != kind
	})
}

// SoundTool is Sound for an entry of tools/list. The schema of its arguments is one of objects.
func SoundTool(entry Raw) Raw {
	entry = Sound(entry)
	if hints := Member(entry, "annotations"); hints != nil {
		entry = setSound(entry, "annotations", hints, soundHints(hints))
	}
	in := Member(entry, "inputSchema")
	return setSound(entry, "inputSchema", in, soundSchema(in))
}

// LegacyTool returns an entry of tools/list as the legacy revisions want it: a schema of results is
// one of objects or is not there, and the properties of arguments have objects for schemas.
func LegacyTool(entry Raw) Raw {
	if out := Member(entry, "outputSchema"); out != nil && string(Member(out, "type")) != `"object"` {
		entry = WithoutMember(entry, "outputSchema")
	}
	in := Member(entry, "inputSchema")
	properties := Member(in, "properties")
	if firstByte(properties) != '{' {
		return entry
	}
	return setSound(entry, "inputSchema", in, setSound(in, "properties", properties, soundProperties(properties)))
}

// LegacyResult returns the result of a tool as the legacy revisions want it: its structured content
// is an object or is not there.
func LegacyResult(result Raw) Raw {
	if content := Member(result, "structuredContent"); content != nil && firstByte(content) != '{' {
		return WithoutMember(result, "structuredContent")
	}
	return result
}

// SoundResult returns the result of a tool without members that are null, and its content without
// such members: serialisers write what is absent so, and many clients refuse it. Every other
// result stays as it is, and so does what has neither content nor structured content. The
// structured content of a modern result, which says its type, may be null.
func SoundResult(result Raw) Raw {
	if !bytes.Contains(result, []byte("null")) {
		return result
	}
	content := Member(result, "content")
	if content == nil && Member(result, "structuredContent") == nil {
		return result
	}
	if string(content) == "null" {
		result = setSound(result, "content", content, Raw("[]"))
	}
	modern := Member(result, "resultType") != nil
	result = without(result, func(key string, value Raw) bool {
		return string(value) == "null" && (key != "structuredContent" || !modern)
	})
	if firstByte(content) != '[' {
		return result
	}
	var blocks [][]byte
	same := true
	for block := range Elements(content) {
		sound := without(block, func(_ string, value Raw) bool { return string(value) == "null" })
		same = same && len(sound) == len(block)
		blocks = append(blocks, sound)
	}
	if same {
		return result
	}
	return setSound(result, "content", content, slices.Concat(Raw("["), bytes.Join(blocks, []byte(",")), Raw("]")))
}

// setSound sets a member of an entry to what was made of its value, if that is another.
func setSound(entry Raw, key string, was, now Raw) Raw {
	if string(was) == string(now) {
		return entry
	}
	if set, err := SetMember(entry, key, now); err == nil {
		return set
	}
	return entry
}

func soundHints(hints Raw) Raw {
	return without(hints, func(key string, value Raw) bool {
		return strings.HasSuffix(key, "Hint") && string(value) != "true" && string(value) != "false" || key == "title" && firstByte(value) != '"'
	})
}

// soundSchema makes the schema of a tool's arguments one of objects.
func soundSchema(schema Raw) Raw {
	if firstByte(schema) != '{' {
		return Raw(`{"type":"object"}`)
	}
	if was := Member(schema, "type"); string(was) != `"object"` {
		schema = setSound(schema, "type", was, Raw(`"object"`))
	}
	if properties := Member(schema, "properties"); properties != nil && firstByte(properties) != '{' {
		schema = WithoutMember(schema, "properties")
	}
	if required := Member(schema, "required"); required != nil {
		names := firstByte(required) == '['
		for name := range Elements(required) {
			names = names && firstByte(name) == '"'
		}
		if !names {
			schema = WithoutMember(schema, "required")
		}
	}
	return schema
}

// soundProperties writes the schemas true and false as objects: some clients know no others.
func soundProperties(properties Raw) Raw {
	var b []byte
	done := 0
	for m := range members(properties) {
		value := properties[m.from:m.to]
		if firstByte(value) == '{' {
			continue
		}
		b = append(b, properties[done:m.from]...)
		if done = m.to; string(value) == "false" {
			b = append(b, `{"not":{}}`...)
		} else {
			b = append(b, "{}"...)
		}
	}
	return append(b, properties[done:]...)
}

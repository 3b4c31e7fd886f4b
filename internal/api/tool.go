package api

import (
	"encoding/json"
	"fmt"
)

// ToolSchema is the schema of the arguments of the operation's MCP tool: its input, but
// for what is between mcpx and its own programs.
func (o *Operation) ToolSchema() json.RawMessage {
	properties, need := object{}, []string{}
	for _, f := range o.Fields() {
		if f.Hidden {
			continue
		}
		s := f.schema()
		if f.Kind == Value {
			s["type"] = "object"
		}
		if f.Doc != "" {
			s["description"] = f.Doc
		}
		properties[f.Name] = s
		if f.Needed || f.Required && f.Kind != Switch {
			need = append(need, f.Name)
		}
	}
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(need) > 0 {
		out["required"] = need
	}
	return mustEncode(out)
}

// ToolAnnotations are the hints that MCP clients have of the operation's tool.
func (o *Operation) ToolAnnotations() json.RawMessage {
	out := object{"readOnlyHint": o.ReadOnly, "openWorldHint": o.Open}
	if !o.ReadOnly {
		out["destructiveHint"] = o.Destructive
	}
	return mustEncode(out)
}

func mustEncode(v any) json.RawMessage {
	b, err := encode(v)
	if err != nil {
		panic(fmt.Sprintf("api: %v", err)) // only declarations of our own come here
	}
	return b
}

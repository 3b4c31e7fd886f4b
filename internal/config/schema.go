package config

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"mcpx/internal/settings"
)

// Schema returns the JSON Schema of a configuration file of mcpx, for editors. It allows the
// keys of other hosts beside the servers and in their entries, and refuses what is unknown
// where only mcpx reads: in the groups of settings, in profiles and in the mcpx block.
func Schema() []byte {
	properties := form{
		"$schema":    form{"type": "string"},
		"mcpServers": form{"type": []string{"object", "null"}, "description": "The servers by name; null removes one that a farther file names.", "additionalProperties": form{"anyOf": []form{{"type": "null"}, {"$ref": "#/$defs/server"}}}},
		"imports":    form{"type": "array", "items": form{"type": "string"}, "description": "Other hosts whose servers are read as well."},
		"inputs":     form{"type": "array", "items": form{"type": "object"}, "description": "What servers ask a person for."},
	}
	groups := map[string]form{}
	for _, i := range settings.All() {
		group, key, _ := strings.Cut(i.Path, ".")
		if groups[group] == nil {
			groups[group] = form{}
		}
		into := groups[group]
		for inner, rest, ok := strings.Cut(key, "."); ok; inner, rest, ok = strings.Cut(key, ".") {
			if into[inner] == nil {
				into[inner] = form{"type": "object", "properties": form{}, "additionalProperties": false}
			}
			into, key = into[inner].(form)["properties"].(form), rest //nolint:forcetypeassert // made above
		}
		into[key] = settingSchema(i)
	}
	groups["paths"]["config"] = form{
		"type": "array", "items": form{"type": []string{"string", "null"}},
		"description": "Further configuration files; null stands for those that are searched for.",
	}
	groups["script"]["profiles"] = profilesSchema()
	for key, s := range rulesSchema() {
		if key != "writePolicy" {
			groups["pool"][key] = s
		}
	}
	for group, members := range groups {
		properties[group] = form{"type": "object", "properties": members, "additionalProperties": false}
	}
	text, err := json.MarshalIndent(form{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       "Configuration of mcpx",
		"description": "Which MCP servers there are, and settings beside them.",
		"type":        "object",
		"properties":  properties,
		"$defs":       form{"server": serverSchema()},
	}, "", "  ")
	if err != nil {
		panic("config: the schema is no JSON: " + err.Error())
	}
	return append(text, '\n')
}

// form is an object of a JSON Schema.
type form map[string]any

const (
	durationPattern = `^(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$`
	sizePattern     = `^[0-9]+ *([KkMmGg][Ii]?)?[Bb]?$`
)

// settingSchema says how a setting is written in a file.
func settingSchema(i settings.Info) form {
	out := form{"description": i.Doc}
	if i.Default != "" {
		out["default"] = i.Default
	}
	switch {
	case slices.Contains(i.Words, "true"):
		out["enum"] = []any{true, false, "true", "false"}
		out["default"] = i.Default == "true"
	case i.Words != nil:
		out["enum"] = i.Words
	case i.Type == "duration":
		out["type"], out["pattern"] = "string", durationPattern
	case i.Type == "size":
		out["anyOf"] = []form{{"type": "integer", "minimum": 1}, {"type": "string", "pattern": sizePattern}}
	case i.Type == "integer":
		out["anyOf"] = []form{{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^[0-9]+$"}}
		out["default"] = json.RawMessage(i.Default)
	case i.Type == "port":
		out["anyOf"] = []form{{"type": "integer", "minimum": 0, "maximum": 65535}, {"type": "string", "pattern": "^[0-9]+$"}}
		out["default"] = json.RawMessage(i.Default)
	default:
		out["type"] = "string"
	}
	return out
}

// words is true for all, false for nothing, or what is meant.
func words() form {
	return form{"anyOf": []form{{"type": []string{"boolean", "string"}}, {"type": "array", "items": form{"type": "string"}}}}
}

func profilesSchema() form {
	of := form{"extends": form{"type": "string", "description": "The profile that it begins with."}}
	deny := form{}
	for _, key := range wordKeys {
		of[key], deny[key] = words(), words()
	}
	for _, key := range plainKeys {
		of[key] = form{"type": "boolean"}
	}
	of["deny"] = form{"type": "object", "properties": deny, "additionalProperties": false}
	return form{
		"type": "object", "description": "Sets of permissions for scripts, by name.",
		"additionalProperties": form{"type": "object", "properties": of, "additionalProperties": false},
	}
}

func rulesSchema() map[string]form {
	patterns := func(doc string) form {
		return form{"type": "array", "items": form{"type": "string"}, "description": doc}
	}
	return map[string]form{
		"tools":             patterns("The tools that there are; all others are hidden. A name, a glob, or /REGEXP/."),
		"excludeTools":      patterns("The tools that are hidden."),
		"extraIncludeTools": patterns("Tools that are there besides those of tools."),
		"argumentRules":     {"type": "object", "additionalProperties": form{"type": []string{"object", "boolean"}}, "description": "JSON Schemas that the arguments of calls must keep to, by pattern of tools."},
		"writePolicy":       {"enum": []string{"allow", "ask", "deny"}, "description": "Whether tools that may change something can be called."},
	}
}

// serverSchema describes an entry. Hosts write more into it than mcpx reads.
func serverSchema() form {
	text := form{"type": "string"}
	scalar := form{"type": []string{"string", "number", "boolean"}}
	table := form{"type": "object", "additionalProperties": form{"type": []string{"string", "number", "boolean", "null"}}}
	block := form{}
	for key, s := range rulesSchema() {
		block[key] = s
	}
	for _, i := range settings.All() {
		for _, key := range processKeys {
			if i.Path == "pool."+key {
				block[key] = settingSchema(i)
			}
		}
	}
	block["aliasOf"] = form{"type": "string", "description": "Another server, whose process it uses under filters of its own."}
	block["inheritEnv"] = form{"type": "boolean", "description": "Whether the program is started with all variables."}
	for _, key := range append([]string{"aliasOf", "inheritEnv"}, processKeys...) {
		delete(block[key].(form), "default") //nolint:forcetypeassert // made above
	}
	block["max"] = form{"type": "integer", "minimum": 1, "description": "How many processes there may be for one scope."}
	properties := form{
		"type":     form{"type": "string", "enum": []string{"stdio", "local", "http", "streamable-http", "streamableHttp", "remote", "sse"}, "description": "How it is reached; told by command or url if it is left out."},
		"command":  form{"anyOf": []form{text, {"type": "array", "items": scalar}, {"type": "object"}}, "description": "The program."},
		"args":     form{"type": "array", "items": scalar, "description": "Its arguments. No shell sees them."},
		"env":      table,
		"envFile":  form{"anyOf": []form{text, {"type": "array", "items": text}}, "description": "Files with further variables, a line for each: NAME=value."},
		"cwd":      text,
		"url":      form{"type": "string", "description": "Where it runs, if not here."},
		"headers":  table,
		"auth":     form{"description": "How to log in."},
		"disabled": scalar,
		"enabled":  scalar,
		"mcpx":     form{"type": []string{"object", "null"}, "properties": block, "additionalProperties": false, "description": "What only mcpx reads."},
	}
	maps.Copy(properties, block) // in mcpx's own files they may stand beside it
	return form{"type": "object", "properties": properties}
}

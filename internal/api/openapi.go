package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"mcpx/internal/fault"
)

// OpenAPIInput asks for the description of the routes.
type OpenAPIInput struct{}

// OpenAPIOutput is that description: an OpenAPI document.
type OpenAPIOutput map[string]any

type object = map[string]any

// openapi answers with the description of the routes.
func (h *handler) openapi(w http.ResponseWriter, _ *http.Request) {
	answer(w, Document(h.o.Version))
}

// Document describes every route in OpenAPI 3.1.
func Document(version string) OpenAPIOutput {
	d := &describer{components: object{}}
	paths := object{}
	for _, o := range table {
		if o.Route == "" {
			continue
		}
		path, _ := paths[o.Path()].(object)
		if path == nil {
			path = object{}
			paths[o.Path()] = path
		}
		path[strings.ToLower(o.Method())] = d.operation(o)
	}
	d.components["Failure"] = object{
		"type": "object", "required": []string{"error"}, "properties": object{"error": d.schema(reflect.TypeFor[fault.Error]())},
	}
	return OpenAPIOutput{
		"openapi": "3.1.0",
		"info": object{
			"title": "mcpx", "version": version,
			"description": "Every MCP server behind one daemon. Who asks stands in the header " + callerHeader +
				": the caller as JSON, in base64. Over TCP every request needs the bearer token of the daemon's record.",
		},
		"servers":    []object{{"url": "/"}},
		"security":   []object{{}, {"token": []string{}}},
		"paths":      paths,
		"components": object{"schemas": d.components, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
	}
}

// describer collects the schemas of named types.
type describer struct{ components object }

func (d *describer) operation(o *Operation) object {
	out := object{"operationId": o.Name, "summary": o.Summary, "responses": d.responses(o)}
	if o.Description != "" {
		out["description"] = o.Description
	}
	parameters := []object{{
		"name": callerHeader, "in": "header", "required": false, "description": "Who asks.", "schema": object{"type": "string"},
	}, {
		"name": settingsHeader, "in": "header", "required": false, "description": "Settings for this request, by path: a JSON object of texts.", "schema": object{"type": "string"},
	}}
	for part := range strings.SplitSeq(o.Path(), "/") {
		if name := strings.Trim(part, "{}"); name != part {
			parameters = append(parameters, object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	switch {
	case inQuery(o.Method()):
		for _, f := range o.Fields() {
			if o.inPath(f.Name) {
				continue
			}
			parameters = append(parameters, object{
				"name": f.Name, "in": "query", "required": f.Required && f.Kind != Switch, "description": f.Doc, "schema": f.schema(),
			})
		}
	default:
		out["requestBody"] = object{"required": len(required(o.Fields())) > 0, "content": object{"application/json": object{"schema": d.schema(o.input)}}}
	}
	out["parameters"] = parameters
	return out
}

func (d *describer) responses(o *Operation) object {
	content := object{}
	if o.bytes {
		content["*/*"] = object{"schema": object{"type": "string", "contentMediaType": "application/octet-stream"}}
	} else if o.Name != "events" {
		content["application/json"] = object{"schema": d.schema(o.output)}
	}
	if o.streams {
		content[eventsType] = object{"schema": object{"type": "string"}}
	}
	out := object{"200": object{"description": "The answer.", "content": content}}
	for _, k := range fault.Kinds() {
		out[strconv.Itoa(k.HTTPStatus())] = object{
			"description": "An error.",
			"content":     object{"application/json": object{"schema": object{"$ref": "#/components/schemas/Failure"}}},
		}
	}
	return out
}

// schema describes a type. Types with a name are described once, among the components.
func (d *describer) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[time.Duration]():
		return object{"type": "integer", "description": "nanoseconds"}
	case reflect.TypeFor[OpenAPIOutput]():
		return object{"type": "object"}
	case reflect.TypeFor[fault.Kind]():
		return object{"type": "string", "enum": fault.Kinds()}
	case reflect.TypeFor[fault.Error]():
		// It writes itself, so its fields are not its members.
		if _, known := d.components["Error"]; !known {
			d.components["Error"] = object{
				"type": "object", "required": []string{"kind", "message"},
				"properties": object{
					"kind": d.schema(reflect.TypeFor[fault.Kind]()), "message": object{"type": "string"},
					"hint": object{"type": "string", "description": "the next step"}, "details": object{"type": "object"},
				},
			}
		}
		return object{"$ref": "#/components/schemas/Error"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.Struct:
		name := t.Name()
		if t.PkgPath() == reflect.TypeFor[fault.Report]().PkgPath() {
			name = "Fault" + name
		} else if t.PkgPath() != reflect.TypeFor[Operation]().PkgPath() {
			name = "RPC" + name
		}
		if _, known := d.components[name]; !known {
			described := object{"type": "object"}
			d.components[name] = described // before its members, which may be of the type
			properties, need := d.members(t)
			described["properties"] = properties
			if len(need) > 0 {
				described["required"] = need
			}
			if strings.HasSuffix(name, "Input") {
				described["additionalProperties"] = false
			}
		}
		return object{"$ref": "#/components/schemas/" + name}
	}
	return object{}
}

// members describes the fields of a struct, and those that are always there.
func (d *describer) members(t reflect.Type) (properties object, need []string) {
	properties = object{}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			inner, more := d.members(f.Type)
			maps.Copy(properties, inner)
			need = append(need, more...)
			continue
		case name == "-" || !f.IsExported():
			continue
		}
		s := d.schema(f.Type)
		if doc := f.Tag.Get("doc"); doc != "" {
			s["description"] = doc
		}
		properties[name] = s
		if !strings.Contains(options, "omit") {
			need = append(need, name)
		}
	}
	return properties, need
}

func required(fields []Field) []string {
	var out []string
	for _, f := range fields {
		if f.Required && f.Kind != Switch {
			out = append(out, f.Name)
		}
	}
	return out
}

// schema describes what a field may be.
func (f Field) schema() object {
	s := object{}
	switch f.Kind {
	case Text:
		s["type"] = "string"
		if f.Words != nil {
			s["enum"] = f.Words
		}
	case Switch:
		s["type"] = "boolean"
	case Integer:
		s["type"] = "integer"
		if f.Min != 0 {
			s["minimum"] = f.Min
		}
		if f.Max != 0 {
			s["maximum"] = f.Max
		}
	case List, Pairs:
		s["type"], s["items"] = "array", object{"type": "string"}
	case Value:
	}
	return s
}

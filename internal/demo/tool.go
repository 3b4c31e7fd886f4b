package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"mcpx/internal/jsontext"
	"mcpx/mcp"
	"mcpx/mcp/server"
)

// effect is what a tool does to the world, which its annotations say.
type effect int

const (
	reads    effect = iota // changes nothing
	adds                   // changes something, loses nothing
	destroys               // loses something
	asks                   // changes nothing, but reaches a person
)

func (e effect) annotations() map[string]any {
	a := map[string]any{"readOnlyHint": e == reads || e == asks, "openWorldHint": e == asks}
	if e == adds || e == destroys {
		a["destructiveHint"] = e == destroys
		a["idempotentHint"] = e == destroys
	}
	return a
}

// tool is one tool; its schema and the check of its arguments come from params.
type tool struct {
	name, title, description string
	effect                   effect
	params                   []param
	output                   mcp.Raw
	run                      func(ctx context.Context, c *server.Call, a arguments) (mcp.Raw, error)
}

func (t tool) serve() server.Tool {
	properties := map[string]any{}
	required := []string{}
	for _, p := range t.params {
		properties[p.name] = p.schema()
		if p.required {
			required = append(required, p.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	annotations := t.effect.annotations()
	annotations["title"] = t.title
	definition := struct {
		Name         string         `json:"name"`
		Title        string         `json:"title"`
		Description  string         `json:"description"`
		InputSchema  map[string]any `json:"inputSchema"`
		OutputSchema mcp.Raw        `json:"outputSchema,omitempty"`
		Annotations  map[string]any `json:"annotations"`
	}{t.name, t.title, t.description, schema, t.output, annotations}
	raw, err := json.Marshal(definition)
	if err != nil {
		panic(fmt.Sprintf("demo: %s: %v", t.name, err))
	}
	return server.Tool{
		Definition: raw,
		Call: func(ctx context.Context, c *server.Call) (mcp.Raw, error) {
			a, err := t.check(c.Arguments)
			if err != nil {
				return nil, err
			}
			return t.run(ctx, c, a)
		},
	}
}

// kind is the type of a parameter, as JSON Schema names it.
type kind string

const (
	text    kind = "string"
	integer kind = "integer"
)

// param is one parameter of a tool. Integers are at least 0 and at most max.
type param struct {
	name, description string
	kind              kind
	required          bool
	max               int
}

func (p param) schema() map[string]any {
	s := map[string]any{"type": p.kind, "description": p.description}
	if p.kind == integer {
		s["minimum"], s["maximum"] = 0, p.max
	}
	return s
}

// arguments are those of one call, checked: texts and integers as their parameters say.
type arguments map[string]any

func (a arguments) text(name string) string { s, _ := a[name].(string); return s }

func (a arguments) integer(name string) int { n, _ := a[name].(int); return n }

// check reads the arguments of a call. The error says all that the caller needs.
func (t tool) check(raw mcp.Raw) (arguments, error) {
	a := arguments{}
	for name, v := range mcp.Members(raw) {
		i := slices.IndexFunc(t.params, func(p param) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s has no parameter %q%s", t.name, name, t.takes())
		}
		value, err := t.params[i].read(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %q %w", t.name, name, err)
		}
		a[name] = value
	}
	for _, p := range t.params {
		if _, ok := a[p.name]; p.required && !ok {
			return nil, fmt.Errorf("%s: %q is missing; %s", t.name, p.name, p.wants())
		}
	}
	return a, nil
}

func (t tool) takes() string {
	if len(t.params) == 0 {
		return "; it takes none"
	}
	return fmt.Sprintf("; it takes %q", t.params[0].name)
}

func (p param) wants() string {
	if p.kind == integer {
		return fmt.Sprintf("it must be an integer from 0 to %d", p.max)
	}
	return "it must be a string"
}

func (p param) read(v mcp.Raw) (any, error) {
	switch p.kind {
	case text:
		if s, ok := jsontext.Unquote(v); ok {
			return s, nil
		}
	case integer:
		var f float64
		if v[0] != '"' && v[0] != 'n' && json.Unmarshal(v, &f) == nil && f >= 0 && f <= float64(p.max) && f == float64(int(f)) {
			return int(f), nil
		}
	}
	return nil, fmt.Errorf("is %s; %s", v, p.wants())
}

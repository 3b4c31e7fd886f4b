package client

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"mcpx/mcp"
)

const (
	headerSession  = "Mcp-Session-Id"
	headerRevision = "Mcp-Protocol-Version"
	headerLastID   = "Last-Event-Id"
	headerMethod   = "Mcp-Method"
	headerName     = "Mcp-Name"
	headerParam    = "Mcp-Param-"

	// mirrorKey marks the arguments of a tool that a modern server wants as headers too.
	mirrorKey = "x-mcp-header"
	// maxSchemaDepth bounds how deep a schema is searched for it.
	maxSchemaDepth = 64
	// maxSafeInteger is the greatest integer of which every JSON reader thinks the same.
	maxSafeInteger = 1<<53 - 1
)

// mirrored is an argument that is repeated as a header.
type mirrored struct {
	header string   // the whole name
	path   []string // of the argument
}

// mirrors returns the arguments that an input schema marks as headers. The error says
// what is wrong with a mark; such a tool cannot be called in a way that a server accepts.
func mirrors(schema mcp.Raw) ([]mirrored, error) {
	if !bytes.Contains(schema, []byte(mirrorKey)) {
		return nil, nil
	}
	m := mirrorFinder{seen: map[string]bool{}}
	if err := m.property(schema, nil, true, 0); err != nil {
		return nil, err
	}
	return m.found, nil
}

type mirrorFinder struct {
	found []mirrored
	seen  map[string]bool // names in lower case
}

// property looks at the schema of the argument at path and at what is below it. A mark
// counts only where plain properties lead.
func (m *mirrorFinder) property(schema mcp.Raw, path []string, reachable bool, depth int) error {
	if depth > maxSchemaDepth {
		return fmt.Errorf("it is nested more than %d deep", maxSchemaDepth)
	}
	for key, value := range mcp.Members(schema) {
		switch {
		case key == mirrorKey:
			if !reachable || path == nil {
				return fmt.Errorf("%s stands where no argument is", mirrorKey)
			}
			if err := m.mark(schema, value, path); err != nil {
				return err
			}
		case key == "properties" && reachable:
			for name, sub := range mcp.Members(value) {
				if err := m.property(sub, append(slices.Clone(path), name), true, depth+1); err != nil {
					return err
				}
			}
		case key == "properties", key == "patternProperties", key == "$defs", key == "definitions", key == "dependentSchemas":
			for _, sub := range mcp.Members(value) {
				if err := m.property(sub, nil, false, depth+1); err != nil {
					return err
				}
			}
		case isSchemaKeyword(key):
			if err := m.property(value, nil, false, depth+1); err != nil {
				return err
			}
			for sub := range mcp.Elements(value) {
				if err := m.property(sub, nil, false, depth+1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isSchemaKeyword reports whether the value of a keyword is a schema or a list of them.
func isSchemaKeyword(key string) bool {
	switch key {
	case "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "additionalProperties",
		"unevaluatedProperties", "propertyNames", "oneOf", "anyOf", "allOf", "not", "if", "then", "else":
		return true
	}
	return false
}

func (m *mirrorFinder) mark(schema, value mcp.Raw, path []string) error {
	name := text(value)
	at := strings.Join(path, ".")
	switch {
	case name == "":
		return fmt.Errorf("the %s of %s is not a name", mirrorKey, at)
	case !headerToken(name):
		return fmt.Errorf("the %s of %s cannot be the name of a header: %q", mirrorKey, at, name)
	case m.seen[strings.ToLower(name)]:
		return fmt.Errorf("the %s %q is there more than once", mirrorKey, name)
	}
	switch kind := text(mcp.Member(schema, "type")); kind {
	case "string", "integer", "boolean":
	default:
		return fmt.Errorf("the %s of %s is of type %q; it may be string, integer or boolean", mirrorKey, at, kind)
	}
	m.seen[strings.ToLower(name)] = true
	m.found = append(m.found, mirrored{headerParam + name, path})
	return nil
}

// headerToken reports whether a text can be the name of a header.
func headerToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// modernHeaders are those that the modern revision wants with a message.
func modernHeaders(m *mcp.Message, revision string, schema mcp.Raw) (http.Header, error) {
	h := http.Header{}
	h.Set(headerRevision, revision)
	h.Set(headerMethod, headerValue(m.Method))
	switch m.Method {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet:
		h.Set(headerName, headerValue(text(mcp.Member(m.Params, "name"))))
	case mcp.MethodRead:
		h.Set(headerName, headerValue(text(mcp.Member(m.Params, "uri"))))
	}
	if m.Method != mcp.MethodToolsCall {
		return h, nil
	}
	list, err := mirrors(schema)
	if err != nil {
		return nil, err
	}
	for _, arg := range list {
		value := mcp.Member(m.Params, "arguments")
		for _, name := range arg.path {
			value = mcp.Member(value, name)
		}
		s, ok, err := mirrorText(value)
		if err != nil {
			return nil, fmt.Errorf("the argument %s: %w", strings.Join(arg.path, "."), err)
		}
		if ok {
			h.Set(arg.header, headerValue(s))
		}
	}
	return h, nil
}

// mirrorText is an argument as the text of a header. One that is absent or null has
// none, and neither has a value that is no plain one: the server sees that it is wrong.
func mirrorText(value mcp.Raw) (s string, ok bool, err error) {
	trimmed := string(bytes.TrimSpace(value))
	switch {
	case trimmed == "" || trimmed == "null":
		return "", false, nil
	case trimmed == "true" || trimmed == "false":
		return trimmed, true, nil
	case trimmed[0] == '"':
		err = json.Unmarshal(value, &s)
		return s, err == nil, err
	case trimmed[0] == '{' || trimmed[0] == '[':
		return "", false, nil
	}
	var f float64
	if whole := json.Unmarshal(value, &f) == nil && f == math.Trunc(f); !whole {
		return trimmed, true, nil // the server says what it thinks of it
	}
	if math.Abs(f) > maxSafeInteger {
		return "", false, fmt.Errorf("%s is beyond the integers that can be sent exactly (±%d)", trimmed, int64(maxSafeInteger))
	}
	return strconv.FormatInt(int64(f), 10), true, nil
}

// headerValue writes a text so that it survives as the value of a header.
func headerValue(s string) string {
	const prefix, suffix = "=?base64?", "?="
	if headerText(s) && strings.TrimSpace(s) == s && (!strings.HasPrefix(s, prefix) || !strings.HasSuffix(s, suffix)) {
		return s
	}
	return prefix + base64.StdEncoding.EncodeToString([]byte(s)) + suffix
}

package mcp

import (
	"errors"

	"mcpx/internal/jsontext"
)

// Tool is an entry of tools/list: what mcpx reads of it, and the whole as it came.
type Tool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  Raw // an object, or nil
	OutputSchema Raw // an object, or nil
	Annotations  Raw // an object, or nil
	Raw          Raw
}

// ReadOnly reports whether the server says that the tool changes nothing
// (annotations.readOnlyHint). As the specification has it, a tool that says nothing does.
func (t *Tool) ReadOnly() bool { return string(Member(t.Annotations, "readOnlyHint")) == "true" }

// Destructive reports whether the tool may destroy something: the server says so
// (annotations.destructiveHint), or says neither that it does not nor that it changes
// nothing.
func (t *Tool) Destructive() bool {
	switch hint := Member(t.Annotations, "destructiveHint"); string(hint) {
	case "false":
		return false
	case "", "null":
		return !t.ReadOnly()
	}
	return true // or it says what it may not
}

// DecodeTool reads one entry. A tool needs only a name; members of the wrong type
// count as absent. The tool aliases raw.
func DecodeTool(raw Raw) (*Tool, error) {
	if !jsontext.Valid(raw) || firstByte(raw) != '{' {
		return nil, errors.New("a tool that is not an object")
	}
	t := &Tool{Raw: raw}
	for key, v := range Members(raw) {
		switch key {
		case "name":
			t.Name, _ = jsontext.Unquote(v)
		case "title":
			t.Title, _ = jsontext.Unquote(v)
		case "description":
			t.Description, _ = jsontext.Unquote(v)
		case "inputSchema":
			t.InputSchema = object(v)
		case "outputSchema":
			t.OutputSchema = object(v)
		case "annotations":
			t.Annotations = object(v)
		}
	}
	if t.Name == "" {
		return nil, errors.New("a tool without a name")
	}
	return t, nil
}

// MarshalJSON returns the tool as its server sent it.
func (t *Tool) MarshalJSON() ([]byte, error) { return t.Raw, nil }

// UnmarshalJSON is DecodeTool.
func (t *Tool) UnmarshalJSON(b []byte) error {
	d, err := DecodeTool(append(Raw(nil), b...))
	if err != nil {
		return err
	}
	*t = *d
	return nil
}

func object(v Raw) Raw {
	if firstByte(v) != '{' {
		return nil
	}
	return v
}

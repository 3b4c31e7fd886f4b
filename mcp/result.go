package mcp

import (
	"bytes"
	"errors"
	"strings"

	"mcpx/internal/jsontext"
)

// Result is the answer of a tool: what mcpx reads of it, and the whole as it came.
type Result struct {
	Content    []Raw // content blocks
	Structured Raw   // structuredContent, or nil
	IsError    bool
	Type       string // resultType; empty is complete
	Raw        Raw
}

// DecodeResult reads the result of tools/call. Null counts as an empty result, content
// that is a block or a text by itself as a list of one, and other members of the wrong
// type as absent. The result aliases raw.
func DecodeResult(raw Raw) (*Result, error) {
	if isNull(raw) {
		return &Result{Raw: Raw("{}")}, nil
	}
	c, err := Check(raw)
	if err != nil {
		return nil, errNotResult
	}
	return ReadResult(c)
}

var errNotResult = errors.New("the result of a tool is not a JSON object")

// ReadResult is DecodeResult of what is known to be JSON.
func ReadResult(c Checked) (*Result, error) {
	raw := c.raw
	r := &Result{Raw: raw}
	switch {
	case isNull(raw):
		r.Raw = Raw("{}")
		return r, nil
	case firstByte(raw) != '{':
		return nil, errNotResult
	}
	for key, v := range Members(raw) {
		switch key {
		case "content":
			r.Content = nil
			switch firstByte(v) {
			case '{':
				r.Content = []Raw{v}
			case '"': // a server that takes the protocol for simpler than it is
				r.Content = []Raw{Raw(`{"type":"text","text":` + string(v) + `}`)}
			}
			for block := range elements(v) {
				if firstByte(block) == '{' {
					r.Content = append(r.Content, block)
				}
			}
		case "structuredContent":
			r.Structured = v
		case "isError":
			r.IsError = string(v) == "true"
		case "resultType":
			r.Type, _ = jsontext.Unquote(v)
		}
	}
	// Serialisers that write every field write null for what is not there. Beside
	// content it means that; alone it is the value.
	if isNull(r.Structured) && len(r.Content) > 0 {
		r.Structured = nil
	}
	return r, nil
}

// Text returns the text blocks, joined by newlines.
func (r *Result) Text() string {
	text, _ := r.texts()
	return text
}

// texts joins the text blocks and says whether there are no other blocks.
func (r *Result) texts() (text string, only bool) {
	var parts []string
	for _, block := range r.Content {
		if s, ok := blockText(block); ok {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n"), len(parts) == len(r.Content)
}

func blockText(block Raw) (string, bool) {
	var kind, text Raw
	for key, v := range Members(block) {
		switch key {
		case "type":
			kind = v
		case "text":
			text = v
		}
	}
	if t, _ := jsontext.Unquote(kind); t != "text" {
		return "", false
	}
	return jsontext.Unquote(text)
}

// Value returns what a caller of the tool gets: the structured content if there is
// any; else, if all content is text, that text, or the value if the text is that of
// a JSON object or array; else the only block; else {"content": …, "text": …}.
// Text that looks like a number, a boolean or null stays text.
//
// If isText, the value is text; otherwise it is v.
func (r *Result) Value() (v Raw, text string, isText bool) {
	if r.Structured != nil {
		return r.Structured, "", false
	}
	text, only := r.texts()
	switch {
	case only:
		if v := container(text); v != nil {
			return v, "", false
		}
		return nil, text, true
	case len(r.Content) == 1:
		return r.Content[0], "", false
	}
	var b bytes.Buffer
	b.WriteString(`{"content":[`)
	for i, block := range r.Content {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(block)
	}
	b.WriteString(`],"text":`)
	b.Write(quote(text))
	b.WriteByte('}')
	return b.Bytes(), "", false
}

// container returns text as JSON if it is an object or an array.
func container(text string) Raw {
	t := strings.TrimSpace(text)
	if t == "" || t[0] != '{' && t[0] != '[' || !jsontext.Valid([]byte(t)) {
		return nil
	}
	return Raw(t)
}

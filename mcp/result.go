package mcp

import (
	"bytes"
	"errors"
	"fmt"
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

	instead Raw // of a result that has no content of any kind: what is there in its place, or nil
}

// DecodeResult reads the result of tools/call. Null counts as an empty result, content
// that is a block or a text by itself as a list of one, what is no block in that list as
// text, and other members of the wrong type as absent. A result may also be in the member
// toolResult, as it was in the first drafts of the protocol. The result aliases raw.
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
		return nil, fmt.Errorf("%w: %s", errNotResult, shortened(raw))
	}
	said := r.read(raw)
	if inner := Member(raw, "toolResult"); !said && inner != nil {
		raw, said = inner, firstByte(inner) == '{' && r.read(inner)
	}
	if !said {
		r.instead = others(raw)
	}
	// Serialisers that write every field write null for what is not there. Beside
	// content it means that; alone it is the value.
	if isNull(r.Structured) && len(r.Content) > 0 {
		r.Structured = nil
	}
	return r, nil
}

// read takes the members of a result, and reports whether there is content of any kind, if
// only an empty list.
func (r *Result) read(raw Raw) (said bool) {
	for key, v := range Members(raw) {
		switch key {
		case "content":
			r.Content = nil
			switch firstByte(v) {
			case '{':
				r.Content = []Raw{v}
			case '"': // a server that takes the protocol for simpler than it is
				r.Content = []Raw{textBlock(v)}
			case '[':
				r.Content = blocks(v)
			default:
				continue
			}
			said = true
		case "structuredContent":
			r.Structured, said = v, true
		case "isError":
			r.IsError = string(v) == "true" || string(v) == `"true"`
		case "resultType":
			r.Type, _ = jsontext.Unquote(v)
		}
	}
	return said
}

// blocks returns the content blocks of a list; what is none becomes one.
func blocks(list Raw) []Raw {
	var out []Raw
	for block := range elements(list) {
		switch firstByte(block) {
		case '{':
			out = append(out, block)
		case '"':
			out = append(out, textBlock(block))
		case 'n':
		default:
			out = append(out, textBlock(quote(string(block))))
		}
	}
	return out
}

func textBlock(text Raw) Raw { return Raw(`{"type":"text","text":` + string(text) + `}`) }

// others returns what a result holds that the protocol does not know: an object without
// the members that it does, or what is none; nil for nothing.
func others(raw Raw) Raw {
	if firstByte(raw) != '{' {
		if isNull(raw) {
			return nil
		}
		return raw
	}
	for _, key := range []string{"_meta", "isError", "resultType"} {
		raw = WithoutMember(raw, key)
	}
	if isNull(Member(raw, "content")) {
		raw = WithoutMember(raw, "content")
	}
	for range members(raw) {
		return raw
	}
	return nil
}

// shortened is the beginning of a value, for a sentence.
func shortened(raw Raw) string {
	const most = 200
	if len(raw) <= most {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:most]), "") + "…"
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

// Failure returns what a result with IsError says of the failure: its text, or else what it
// says in other forms, but for pictures and the like. It is empty if that is nothing.
func (r *Result) Failure() string {
	if text := r.Text(); strings.TrimSpace(text) != "" {
		return text
	}
	var said []string
	for _, block := range r.Content {
		inner := block
		if resource := Member(block, "resource"); firstByte(resource) == '{' {
			inner = resource
		}
		if text, ok := jsontext.Unquote(Member(inner, "text")); ok {
			said = append(said, text)
		} else if Member(inner, "data") == nil && Member(inner, "blob") == nil {
			said = append(said, string(block))
		}
	}
	for _, v := range []Raw{r.Structured, r.instead} {
		if text, ok := jsontext.Unquote(v); ok {
			said = append(said, text)
		} else if !isNull(v) {
			said = append(said, string(v))
		}
	}
	return strings.TrimSpace(strings.Join(said, "\n"))
}

// Value returns what a caller of the tool gets: the structured content if there is
// any; else, if all content is text, that text, or the value if the text is that of
// a JSON object or array; else the only block; else {"content": …, "text": …}. A result
// without content is the value itself, without what belongs to the protocol.
// Text that looks like a number, a boolean or null stays text.
//
// If isText, the value is text; otherwise it is v.
func (r *Result) Value() (v Raw, text string, isText bool) {
	if r.Structured != nil {
		return r.Structured, "", false
	}
	if r.instead != nil {
		if text, ok := jsontext.Unquote(r.instead); ok {
			return nil, text, true
		}
		return r.instead, "", false
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

package mcp

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzResult reads anything as the result of a tool: what comes of it is JSON, or text.
func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":null,"isError":true}`))
	f.Add([]byte(`{"content":{"type":"image","data":"x"}}`))
	f.Add([]byte(`{"content":"text","content":[7,{"type":"text","text":"\ud800"},{}]}`))
	f.Add([]byte("\n null "))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := DecodeResult(in)
		if err != nil {
			return
		}
		if len(in) > 0 && json.Valid(in) && !json.Valid(r.Raw) {
			t.Errorf("the whole is %q", r.Raw)
		}
		v, text, isText := r.Value()
		if isText == (v != nil) || !isText && !json.Valid(v) {
			t.Errorf("the value is %q, text %v", v, isText)
		}
		if utf8.Valid(in) && !utf8.ValidString(text) {
			t.Errorf("the text is %q", text)
		}
	})
}

// FuzzTool reads anything as an entry of tools/list: a tool has a name, and is what it was.
func FuzzTool(f *testing.F) {
	f.Add([]byte(`{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`))
	f.Add([]byte(`{"name":"a","name":7,"inputSchema":[],"title":{}}`))
	f.Add([]byte(` {"name":"\u0000"} `))
	f.Fuzz(func(t *testing.T, in []byte) {
		tool, err := DecodeTool(in)
		if err != nil {
			return
		}
		tool.ReadOnly()
		text, err := json.Marshal(tool)
		if err != nil || tool.Name == "" {
			t.Fatalf("%q: %v", tool.Name, err)
		}
		var again Tool
		if err := json.Unmarshal(text, &again); err != nil || again.Name != tool.Name {
			t.Errorf("%q became %q, %v", tool.Name, again.Name, err)
		}
		for _, part := range []Raw{tool.InputSchema, tool.OutputSchema, tool.Annotations} {
			if part != nil && (!json.Valid(part) || part[0] != '{') {
				t.Errorf("a schema is %q", part)
			}
		}
	})
}

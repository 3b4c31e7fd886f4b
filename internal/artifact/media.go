package artifact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	"mcpx/internal/jsontext"
	"mcpx/mcp"
)

// linker keeps what is to be linked to; false says that it stays where it is.
type linker func(name, kind string, data []byte) (Artifact, bool)

// most is how many links are put into one value. What it has beyond that stays: a server can
// send any number of small media, and each is a file.
const most = 1000

// Links puts links, blocks of the type resource_link, in the place of the media in a value:
// images, sounds, and resources that are no text. keep keeps what such a block holds under a
// name that it makes of what is proposed; if it returns false the block stays. So do all bytes
// beside such blocks.
func Links(value json.RawMessage, keep func(name, kind string, data []byte) (Artifact, bool)) json.RawMessage {
	if !bytes.Contains(value, []byte(`"data"`)) && !bytes.Contains(value, []byte(`"blob"`)) || !jsontext.Valid(value) {
		return value
	}
	left := most
	out, _ := linker(func(name, kind string, data []byte) (Artifact, bool) {
		if left--; left < 0 {
			return Artifact{}, false
		}
		return keep(name, kind, data)
	}).link(value, 0)
	return out
}

// deepest is how deep in a value media are looked for.
const deepest = 64

// link is Links for one value, which is valid. It reports whether anything has changed.
func (l linker) link(value json.RawMessage, depth int) (json.RawMessage, bool) {
	i := jsontext.Space(value, 0)
	if depth > deepest || value[i] != '{' && value[i] != '[' {
		return value, false
	}
	object := value[i] == '{'
	if object {
		if link := l.linkTo(value); link != nil {
			return link, true
		}
	}
	var out []byte
	from := 0 // what follows is not in out yet
	for i = jsontext.Space(value, i+1); value[i] != '}' && value[i] != ']'; {
		if object {
			i = jsontext.Space(value, jsontext.String(value, i))
			i = jsontext.Space(value, i+1) // the colon
		}
		end := jsontext.Value(value, i)
		if one, other := l.link(value[i:end], depth+1); other {
			out = append(append(out, value[from:i]...), one...)
			from = end
		}
		if i = jsontext.Space(value, end); value[i] == ',' {
			i = jsontext.Space(value, i+1)
		}
	}
	if from == 0 {
		return value, false
	}
	return append(out, value[from:]...), true
}

// block is what the members of a block of content say that make it media.
type block struct {
	kind, mime, uri string
	text            mcp.Raw // a JSON string
	resource        mcp.Raw
}

func blockOf(value mcp.Raw, text string) (b block) {
	for key, v := range mcp.Members(value) {
		switch key {
		case "type":
			b.kind, _ = jsontext.Unquote(v)
		case "mimeType":
			b.mime, _ = jsontext.Unquote(v)
		case "uri":
			b.uri, _ = jsontext.Unquote(v)
		case "resource":
			b.resource = v
		case text:
			b.text = v
		}
	}
	return b
}

// linkTo keeps what a block of content holds, and returns a link to it; nil if it is no such
// block.
func (l linker) linkTo(value json.RawMessage) json.RawMessage {
	b := blockOf(value, "data")
	name := b.kind
	switch b.kind {
	case "image", "audio":
		if _, sub, ok := strings.Cut(b.mime, "/"); ok {
			sub, _, _ = strings.Cut(sub, "+")
			sub, _, _ = strings.Cut(sub, ";")
			name += "." + sub
		}
	case "resource":
		b = blockOf(b.resource, "blob")
		name = cmp.Or(Clean(b.uri), name)
	default:
		return nil
	}
	text, ok := jsontext.Unquote(b.text)
	if !ok || text == "" {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	a, ok := l(name, b.mime, data)
	if !ok {
		return nil
	}
	link, err := json.Marshal(struct {
		Type string `json:"type"`
		URI  string `json:"uri"`
		Name string `json:"name"`
		MIME string `json:"mimeType"`
		Size int64  `json:"size"`
	}{"resource_link", a.URI(), a.Name, a.MIME, a.Size})
	if err != nil {
		return nil
	}
	return link
}

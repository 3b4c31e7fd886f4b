package xml

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/data"
)

// reader reads one document. build makes the value of an element when it ends.
type reader struct {
	kit     *data.Kit
	text    string
	decoder *xml.Decoder
	open    []*element
	build   func(*element) goja.Value
}

// element is one that is being read.
type element struct {
	name       string
	attributes []attribute
	content    []content
}

type attribute struct{ name, value string }

// content is an element, or text if it has no name.
type content struct {
	name, text string
	value      goja.Value
}

// text is the text right in an element: as it stands if there is nothing else, and
// without the spaces around it if there are elements.
func (e *element) text() (text string, inner bool) {
	var b strings.Builder
	for _, c := range e.content {
		b.WriteString(c.text)
		inner = inner || c.name != ""
	}
	if inner {
		return strings.TrimSpace(b.String()), true
	}
	return b.String(), false
}

func newReader(kit *data.Kit, text string) *reader {
	d := xml.NewDecoder(strings.NewReader(text))
	// The text has been decoded, whatever encoding it says it has.
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return &reader{kit: kit, text: text, decoder: d}
}

func (r *reader) fail(offset int64, message string) *goja.Object {
	return r.kit.SyntaxErrorAt(r.text, int(offset), message)
}

// read returns the name and the value of the root.
func (r *reader) read() (name string, root goja.Value) {
	for {
		at := r.decoder.InputOffset()
		token, err := r.decoder.RawToken()
		switch {
		case errors.Is(err, io.EOF):
			if len(r.open) > 0 {
				panic(r.fail(at, "the element "+r.open[len(r.open)-1].name+" is never closed"))
			}
			if root == nil {
				panic(r.fail(at, "no element"))
			}
			return name, root
		case err != nil:
			message := err.Error()
			if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
				message = syntax.Msg
			}
			panic(r.fail(r.decoder.InputOffset(), message))
		}
		switch t := token.(type) {
		case xml.StartElement:
			if root != nil {
				panic(r.fail(at, "a second root element"))
			}
			r.start(at, t)
		case xml.EndElement:
			if len(r.open) == 0 || r.open[len(r.open)-1].name != full(t.Name) {
				panic(r.fail(at, "</"+full(t.Name)+"> ends nothing that is open"))
			}
			e := r.open[len(r.open)-1]
			r.open = r.open[:len(r.open)-1]
			v := r.build(e)
			if len(r.open) == 0 {
				name, root = e.name, v
			} else {
				outer := r.open[len(r.open)-1]
				outer.content = append(outer.content, content{name: e.name, value: v})
			}
		case xml.CharData:
			r.characters(at, string(t))
		}
	}
}

func (r *reader) start(at int64, t xml.StartElement) {
	if len(r.open) == data.MaxDepth {
		panic(r.fail(at, "elements are nested more than "+strconv.Itoa(data.MaxDepth)+" deep"))
	}
	e := &element{name: full(t.Name)}
	seen := map[string]bool{}
	for _, a := range t.Attr {
		name := full(a.Name)
		if seen[name] {
			panic(r.fail(at, "the attribute "+name+" twice in one element"))
		}
		seen[name] = true
		e.attributes = append(e.attributes, attribute{name, a.Value})
	}
	r.open = append(r.open, e)
}

func (r *reader) characters(at int64, text string) {
	if len(r.open) == 0 {
		if strings.TrimSpace(text) != "" {
			panic(r.fail(at, "text outside of the root element"))
		}
		return
	}
	e := r.open[len(r.open)-1]
	if last := len(e.content) - 1; last >= 0 && e.content[last].name == "" {
		e.content[last].text += text // a section of CDATA beside text
		return
	}
	e.content = append(e.content, content{text: text})
}

// full is a name as it is written.
func full(n xml.Name) string {
	if n.Space != "" {
		return n.Space + ":" + n.Local
	}
	return n.Local
}

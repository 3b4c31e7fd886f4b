package fetch

import (
	"bytes"
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

// maxParts is how many parts a form may have.
const maxParts = 100_000

// field is one part of a form.
type field struct {
	name        string
	filename    string
	isFile      bool
	contentType string
	content     []byte
}

// parseForm(bytes, type) lists the fields of a body of the type multipart/form-data.
func (m *module) parseForm(call goja.FunctionCall) goja.Value {
	b, _ := m.octets.Bytes(call.Argument(0))
	fields, ok := parseForm(b, boundaryOf(call.Argument(1).String()))
	if !ok {
		panic(m.vm.NewTypeError("Failed to parse body as FormData."))
	}
	list := make([]any, len(fields))
	for i, f := range fields {
		o := m.vm.NewObject()
		native.Must(o.Set("name", f.name))
		if f.isFile {
			native.Must(o.Set("filename", f.filename))
		}
		native.Must(o.Set("type", f.contentType))
		native.Must(o.Set("bytes", m.octets.Uint8Array(bytes.Clone(f.content))))
		list[i] = o
	}
	return m.vm.NewArray(list...)
}

// boundaryOf is the parameter boundary of a MIME type, empty if it has none.
func boundaryOf(mediaType string) string {
	_, rest, _ := strings.Cut(mediaType, ";")
	for rest != "" {
		var name, value string
		if name, value, rest = parameter(rest); name == "boundary" {
			return value
		}
	}
	return ""
}

// parseForm reads the parts between the lines of the boundary.
func parseForm(b []byte, boundary string) (fields []field, ok bool) {
	if boundary == "" {
		return nil, false
	}
	delimiter := []byte("--" + boundary)
	end := append([]byte("\r\n"), delimiter...)
	_, b, ok = bytes.Cut(b, delimiter) // what comes before the first is not of the form
	for ok {
		if bytes.HasPrefix(b, []byte("--")) {
			return fields, true
		}
		line, after, found := bytes.Cut(b, []byte("\r\n"))
		if !found || len(bytes.Trim(line, " \t")) > 0 || len(fields) == maxParts {
			return nil, false
		}
		var part []byte
		if part, b, ok = bytes.Cut(after, end); !ok {
			return nil, false
		}
		f, good := parseField(part)
		if !good {
			return nil, false
		}
		fields = append(fields, f)
	}
	return nil, false
}

// parseField reads the headers of a part. One that does not say what it is called makes
// the whole form invalid.
func parseField(part []byte) (f field, ok bool) {
	head, content, found := bytes.Cut(part, []byte("\r\n\r\n"))
	if !found {
		return f, false
	}
	f.content = content
	for line := range strings.SplitSeq(octets.ValidUTF8(head), "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.Trim(value, " \t")
		switch strings.ToLower(strings.TrimRight(name, " \t")) {
		case "content-disposition":
			kind, rest, _ := strings.Cut(value, ";")
			if !strings.EqualFold(strings.TrimSpace(kind), "form-data") {
				return f, false
			}
			ok = f.disposition(rest)
		case "content-type":
			f.contentType = value
		}
	}
	if f.isFile && f.contentType == "" {
		f.contentType = "text/plain"
	}
	return f, ok
}

// disposition reads the names of a part, and reports whether it has one. Backslashes in
// them mean themselves.
func (f *field) disposition(rest string) (named bool) {
	for rest != "" {
		name, value, more := dispositionParameter(rest)
		switch name {
		case "name":
			f.name, named = unescapedName(value), true
		case "filename":
			f.filename, f.isFile = unescapedName(value), true
		}
		rest = more
	}
	return named
}

func dispositionParameter(s string) (name, value, rest string) {
	name, s, ok := strings.Cut(strings.TrimLeft(s, " \t;"), "=")
	if !ok {
		return "", "", ""
	}
	if quoted, ok := strings.CutPrefix(s, `"`); ok {
		value, rest, _ = strings.Cut(quoted, `"`)
	} else {
		value, rest, _ = strings.Cut(s, ";")
	}
	return strings.ToLower(strings.TrimSpace(name)), value, rest
}

// nameEscapes are the escapes of names in forms.
var nameEscapes = strings.NewReplacer("%0A", "\n", "%0a", "\n", "%0D", "\r", "%0d", "\r", "%22", `"`)

func unescapedName(s string) string { return nameEscapes.Replace(s) }

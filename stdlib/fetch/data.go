package fetch

import (
	"encoding/base64"
	"strings"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// dataURL(url) returns {type, bytes}, or undefined if the address is malformed.
func (m *module) dataURL(call goja.FunctionCall) goja.Value {
	url, _, _ := strings.Cut(call.Argument(0).String(), "#")
	_, data, _ := strings.Cut(url, ":")
	mediaType, text, ok := strings.Cut(data, ",")
	if !ok {
		return goja.Undefined()
	}
	mediaType = strings.Trim(mediaType, asciiSpace)
	body := unescaped(text)
	if rest, ok := cutBase64(mediaType); ok {
		if body, ok = forgiving(body); !ok {
			return goja.Undefined()
		}
		mediaType = rest
	}
	if strings.HasPrefix(mediaType, ";") {
		mediaType = "text/plain" + mediaType
	}
	parsed := parseMIME(mediaType)
	if parsed == "" {
		parsed = "text/plain;charset=US-ASCII"
	}
	o := m.vm.NewObject()
	native.Must(o.Set("type", parsed))
	native.Must(o.Set("bytes", m.octets.Uint8Array(body)))
	return o
}

// mime(text) is a MIME type in its normal form, empty if it is none.
func (m *module) mime(call goja.FunctionCall) goja.Value {
	return m.vm.ToValue(parseMIME(call.Argument(0).String()))
}

const asciiSpace = "\t\n\f\r "

// cutBase64 takes the word base64, with its semicolon, off the end of a media type.
func cutBase64(s string) (string, bool) {
	const word = "base64"
	if len(s) < len(word) || !strings.EqualFold(s[len(s)-len(word):], word) {
		return s, false
	}
	rest, ok := strings.CutSuffix(strings.TrimRight(s[:len(s)-len(word)], " "), ";")
	if !ok {
		return s, false
	}
	return rest, true
}

// unescaped decodes percent signs. What is not an escape stays.
func unescaped(s string) []byte {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			high, low := nibble(s[i+1]), nibble(s[i+2])
			if high >= 0 && low >= 0 {
				b = append(b, byte(high<<4|low))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return b
}

func nibble(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// forgiving decodes base64 as the Infra Standard has it: spaces and padding may be there.
func forgiving(b []byte) ([]byte, bool) {
	s := strings.Map(func(r rune) rune {
		if strings.ContainsRune(asciiSpace, r) {
			return -1
		}
		return r
	}, string(b))
	if len(s)%4 == 0 {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	}
	decoded, err := base64.RawStdEncoding.DecodeString(s)
	return decoded, err == nil && !strings.ContainsAny(s, "=\r\n")
}

// parseMIME writes a MIME type in its normal form: names in lower case, the first of
// equal parameters. It is empty if s is none.
func parseMIME(s string) string {
	s = strings.Trim(s, "\t\n\r ")
	essence, rest, _ := strings.Cut(s, ";")
	kind, subtype, ok := strings.Cut(strings.TrimRight(essence, "\t\n\r "), "/")
	if !ok || !isToken(kind) || !isToken(subtype) {
		return ""
	}
	var b strings.Builder
	b.WriteString(strings.ToLower(kind + "/" + subtype))
	seen := map[string]bool{}
	for rest != "" {
		var name, value string
		name, value, rest = parameter(rest)
		if !isToken(name) || seen[name] || strings.ContainsFunc(value, outsideQuoted) {
			continue
		}
		seen[name] = true
		if isToken(value) {
			b.WriteString(";" + name + "=" + value)
		} else {
			b.WriteString(";" + name + `="` + quoting.Replace(value) + `"`)
		}
	}
	return b.String()
}

var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// parameter reads NAME=VALUE, the value perhaps in quotes, and what follows its semicolon.
// A parameter without a value has no name.
func parameter(s string) (name, value, rest string) {
	s = strings.TrimLeft(s, "\t\n\r ")
	end := strings.IndexAny(s, ";=")
	if end < 0 {
		return "", "", ""
	}
	if s[end] == ';' {
		return "", "", s[end+1:]
	}
	name, s = strings.ToLower(s[:end]), s[end+1:]
	if !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, ";")
		value = strings.TrimRight(value, "\t\n\r ")
		if value == "" {
			name = ""
		}
		return name, value, rest
	}
	var b strings.Builder
	i := 1
	for ; i < len(s) && s[i] != '"'; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	_, rest, _ = strings.Cut(s[min(i, len(s)):], ";")
	return name, b.String(), rest
}

func isToken(s string) bool { return s != "" && !strings.ContainsFunc(s, outsideToken) }

func outsideToken(r rune) bool {
	return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
}

func outsideQuoted(r rune) bool {
	return !(r == '\t' || r >= ' ' && r <= '~' || r >= 0x80 && r <= 0xff)
}

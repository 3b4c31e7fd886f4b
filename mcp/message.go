package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcpx/internal/jsontext"
)

// Error is the error of a JSON-RPC response, as the other side worded it.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    Raw    `json:"data,omitempty"`
}

// Errorf makes an error with a code.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error returns the message, or the code if there is none.
func (e *Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("error %d", e.Code)
	}
	return e.Message
}

// Kind says what a message is.
type Kind int

// The kinds of messages.
const (
	Request Kind = iota + 1
	Notification
	Response
)

// Message is one JSON-RPC message, its members still raw.
type Message struct {
	ID     Raw // nil if absent or null
	Method string
	Params Raw
	Result Raw
	Error  *Error
	// Complete says of the result, an object, that it needs no input (resultType), which it
	// does not say itself.
	Complete bool

	split bool // out of text that was held against the grammar
}

// Kind returns what the message is, by the members that it has.
func (m *Message) Kind() Kind {
	switch {
	case m.Method == "":
		return Response
	case m.ID == nil:
		return Notification
	}
	return Request
}

var (
	errNotJSON    = errors.New("not JSON")
	errNotMessage = errors.New("not a JSON-RPC message")
)

// Split takes one message apart. Bytes that are not UTF-8 become U+FFFD; members
// that JSON-RPC does not know are ignored. The error means that the line holds no
// message: text for people, or JSON of another kind. The message may alias line.
func Split(line []byte) (*Message, error) {
	line, err := clean(line)
	if err != nil {
		return nil, err
	}
	return split(line)
}

// SplitBatch is Split for a line that may also hold several messages in an array,
// as revision 2025-03-26 allows. Elements that are no messages come back as others; the
// error means that there are no messages.
func SplitBatch(line []byte) (batch []*Message, others []Raw, err error) {
	line, err = clean(line)
	if err != nil {
		return nil, nil, err
	}
	if firstByte(line) != '[' {
		m, err := split(line)
		if err != nil {
			return nil, nil, err
		}
		return []*Message{m}, nil, nil
	}
	for e := range elements(line) {
		if m, err := split(e); err == nil {
			batch = append(batch, m)
		} else {
			others = append(others, e)
		}
	}
	if batch == nil {
		return nil, nil, errNotMessage
	}
	return batch, others, nil
}

// Hear is SplitBatch for a line of a server that may not keep to one message a line. It
// also returns the messages at the beginning of a line that is more than one, a response at
// its end that something is printed before, without the end of its line, a response from
// which an empty result was left out, and the messages of an array in which something else is
// not JSON. What a program quotes of messages in its log is not among them: that stands behind
// a space, a colon or the like. It returns nothing if there are no messages.
func Hear(line []byte) (found []*Message, others []Raw) {
	line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	if firstByte(line) == '[' {
		return hearBatch(line)
	}
	if m, err := Split(line); err == nil {
		return []*Message{m}, nil
	}
	i := jsontext.Space(line, 0)
	for i < len(line) && line[i] == '{' {
		end := jsontext.Value(line, i)
		m, err := Split(line[i:end])
		if err != nil {
			m = hollow(line[i:end])
		}
		if m == nil {
			break
		}
		found = append(found, m)
		i = jsontext.Space(line, end)
	}
	if m := atEnd(line[i:]); m != nil {
		found = append(found, m)
	}
	return found, nil
}

// hearBatch is Hear for a line that begins as an array does.
func hearBatch(line []byte) (found []*Message, others []Raw) {
	line = bytes.TrimSpace(line)
	if firstByte(line[1:]) == '{' || jsontext.Valid(line) { // no log line such as [INFO] …
		for e := range elements(line) {
			m, err := Split(e)
			if err != nil {
				m = hollow(e)
			}
			if m != nil {
				found = append(found, m)
			} else {
				others = append(others, e)
			}
		}
	}
	if found != nil {
		return found, others
	}
	if m := atEnd(line); m != nil {
		found = append(found, m)
	}
	return found, nil
}

// hollow reads a response that has neither a result nor an error: serialisers that leave
// out what is empty make one of an empty result.
func hollow(obj []byte) *Message {
	obj, err := clean(obj)
	if err != nil || Member(obj, "jsonrpc") == nil || Member(obj, "method") != nil || Member(obj, "params") != nil {
		return nil
	}
	if id := Member(obj, "id"); !isNull(id) {
		return &Message{ID: id, Result: Raw("null"), split: true}
	}
	return nil
}

// maxGlued is at how many places of a line a response is looked for.
const maxGlued = 16

// atEnd returns the response that a line ends with, directly behind something else.
func atEnd(line []byte) *Message {
	for i, tries := 1, 0; i < len(line) && tries < maxGlued; i++ {
		at := bytes.IndexByte(line[i:], '{')
		if at < 0 {
			return nil
		}
		i += at
		if bytes.IndexByte([]byte(" \t:=<>()[]{}'\"`,|/"), line[i-1]) >= 0 {
			continue
		}
		if next := jsontext.Space(line, i+1); next == len(line) || line[next] != '"' {
			continue
		}
		tries++
		if m, err := Split(line[i:]); err == nil && m.Kind() == Response {
			return m
		}
	}
	return nil
}

// byteOrderMark is what some consoles put before the first line.
const byteOrderMark = "\ufeff"

// clean returns the JSON text of a line, without a byte order mark.
func clean(line []byte) ([]byte, error) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte(byteOrderMark)))
	if len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return nil, errNotJSON
	}
	if !utf8.Valid(line) {
		line = replaceInvalid(line)
	}
	if !jsontext.Valid(line) {
		return nil, errNotJSON
	}
	return line, nil
}

// replaceInvalid puts one U+FFFD for each byte that is not part of a rune, as Go's
// range over a string does.
func replaceInvalid(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return out
}

func split(obj Raw) (*Message, error) {
	m := Message{split: true}
	var version, failed bool
	for key, v := range Members(obj) {
		switch key {
		case "jsonrpc":
			version = true
		case "id":
			if m.ID = v; string(v) == "null" {
				m.ID = nil
			}
		case "method":
			m.Method, _ = jsontext.Unquote(v)
		case "params":
			m.Params = v
		case "result":
			m.Result = v
		case "error":
			m.Error, failed = decodeError(v), string(v) != "null"
		}
	}
	if !failed {
		m.Error = nil
	}
	switch {
	// JSON that a program logs about HTTP also has a "method"; it has no "jsonrpc".
	case m.Method != "" && version:
		m.Result, m.Error = nil, nil
	case m.Method == "" && (m.Result != nil || m.Error != nil):
		m.Params = nil
		if m.Error != nil {
			m.Result = nil
		}
	default:
		return nil, errNotMessage
	}
	return &m, nil
}

// decodeError reads what a server gave as its error. The protocol wants an object
// with a number and a text; some send only a text, or the number as a text.
func decodeError(v Raw) *Error {
	e := &Error{Code: CodeInternalError}
	if s, ok := jsontext.Unquote(v); ok {
		e.Message = s
		return e
	}
	for key, v := range Members(v) {
		switch key {
		case "code":
			if n, err := strconv.ParseFloat(strings.Trim(string(v), `"`), 64); err == nil {
				e.Code = int(n)
			}
		case "message":
			if s, ok := jsontext.Unquote(v); ok {
				e.Message = s
			} else if !isNull(v) {
				e.Message = string(v)
			}
		case "data":
			e.Data = v
		}
	}
	if e.Message == "" && firstByte(v) != '{' {
		e.Message = string(v)
	}
	return e
}

// envelope is room for what a message has beside its members of any length, and for the
// end of a line.
const envelope = 128

// Encode returns the message as one line of JSON, without the newline, for which there is
// room behind it.
func (m *Message) Encode() []byte { return m.encode([3]Raw{m.Params}) }

// EncodeWith is Encode for a request or notification whose parameters, an object or none,
// also have the member key with a value. They are not made anew for it.
func (m *Message) EncodeWith(params Checked, key string, value Checked) ([]byte, error) {
	parts, err := params.with(key, value)
	if err != nil {
		return nil, err
	}
	return m.encode(parts), nil
}

// encode is Encode with parameters in parts.
func (m *Message) encode(params [3]Raw) []byte {
	size := envelope + len(m.ID) + len(m.Method) + len(m.Result)
	for _, part := range params {
		size += len(part)
	}
	if m.Error != nil {
		size += len(m.Error.Message) + len(m.Error.Data)
	}
	b := m.head(make([]byte, 0, size))
	switch {
	case m.Method != "":
		b = jsontext.AppendQuoted(append(b, `,"method":`...), m.Method)
		if params[0] != nil {
			b = append(b, `,"params":`...)
			for _, part := range params {
				b = jsontext.AppendFlat(b, part)
			}
		}
	case m.Error != nil:
		b = strconv.AppendInt(append(b, `,"error":{"code":`...), int64(m.Error.Code), 10)
		b = jsontext.AppendQuoted(append(b, `,"message":`...), m.Error.Message)
		if m.Error.Data != nil {
			b = jsontext.AppendFlat(append(b, `,"data":`...), m.Error.Data)
		}
		b = append(b, '}')
	default:
		result, end := m.result()
		b = append(jsontext.AppendFlat(append(b, `,"result":`...), result), end...)
	}
	return append(b, '}')
}

// head appends the beginning of the message.
func (m *Message) head(b []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0"`...)
	switch {
	case m.ID != nil:
		b = jsontext.AppendFlat(append(b, `,"id":`...), m.ID)
	case m.Method == "":
		b = append(b, `,"id":null`...)
	}
	return b
}

// result returns the result, and what comes behind it to complete it.
func (m *Message) result() (result Raw, end string) {
	if m.Result == nil {
		return Raw("null"), ""
	}
	result = bytes.TrimRight(m.Result, " \t\r\n")
	inside, isObject := bytes.CutSuffix(result, []byte("}"))
	if !m.Complete || !isObject {
		return result, ""
	}
	if bytes.HasSuffix(bytes.TrimRight(inside, " \t\r\n"), []byte("{")) {
		return inside, `"resultType":"` + ResultComplete + `"}`
	}
	return inside, `,"resultType":"` + ResultComplete + `"}`
}

// Line returns the message as one line of JSON with the newline, in parts to be written one
// after the other: a long result is not copied.
func (m *Message) Line() [][]byte {
	const long = 64 << 10
	if m.Method != "" || m.Error != nil || len(m.Result) < long || bytes.IndexByte(m.Result, '\n') >= 0 || bytes.IndexByte(m.Result, '\r') >= 0 {
		return [][]byte{append(m.Encode(), '\n')}
	}
	result, end := m.result()
	return [][]byte{append(m.head(make([]byte, 0, envelope+len(m.ID))), `,"result":`...), result, []byte(end + "}\n")}
}

// quote encodes a string as JSON, leaving <, > and & as they are.
func quote(s string) Raw { return jsontext.AppendQuoted(nil, s) }

// SameID reports whether two ids are the same one. Servers give numbers back as
// texts and as floats, so 3, 3.0 and "3" are the same.
func SameID(a, b Raw) bool { return IDKey(a) == IDKey(b) }

// IDKey returns a text that is equal for ids that SameID holds equal.
func IDKey(id Raw) string {
	s := string(bytes.TrimSpace(id))
	if t, ok := jsontext.Unquote(id); ok {
		if _, err := strconv.ParseFloat(t, 64); err != nil {
			return `"` + t // no number looks like this
		}
		s = t
	}
	if _, err := strconv.ParseInt(s, 10, 64); err == nil {
		return s
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && f == float64(int64(f)) {
		return strconv.FormatInt(int64(f), 10)
	}
	return s
}

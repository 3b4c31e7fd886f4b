package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"

	"mcpx/internal/jsontext"
	"mcpx/mcp"
)

// lineReader cuts a stream into lines of up to max bytes. A longer one is not kept, and
// reported as soon as it is known which response it is, at its end at the latest.
//
// A server may also put a header before each message, which says how long it is, as
// language servers do. Whether it does is settled by what comes first, a header or a line
// that begins as a message.
type lineReader struct {
	r       *bufio.Reader
	rest    bool // of a line that has been reported is still to come
	settled bool // whether there are headers
	headed  bool // there are
	max     int
	room    *Room           // nil has no bounds
	done    <-chan struct{} // closed when nobody wants to read any more; nil never is
}

func newLineReader(r io.Reader, maxLine int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: maxLine}
}

// next returns the next line without its end, or the next message behind a header. A last
// line that nothing ends counts.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.line()
	if err != nil || l.settled && !l.headed {
		return line, err
	}
	n, header := headed(line)
	switch {
	case header:
		l.settled, l.headed = true, true
		return l.body(n)
	case bytes.HasPrefix(line, []byte("{")):
		l.settled = true
	}
	return line, nil
}

// headed reads the header that says how long a message is.
func headed(line []byte) (n int, ok bool) {
	key, value, found := bytes.Cut(line, []byte(":"))
	if !found || !bytes.EqualFold(bytes.TrimSpace(key), []byte("Content-Length")) {
		return 0, false
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
	return n, err == nil && n >= 0
}

// body passes over the rest of a header, up to an empty line, and returns the message of
// n bytes that follows.
func (l *lineReader) body(n int) ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			break
		}
	}
	text := l.room.message(l.max, l.done)
	var failed *LongLineError
	var f idFinder
	part := make([]byte, min(n, 32<<10))
	for n > 0 {
		part = part[:min(n, len(part))]
		if _, err := io.ReadFull(l.r, part); err != nil {
			text.drop()
			return nil, err
		}
		n -= len(part)
		switch {
		case failed != nil:
			f.write(part)
		case text.n+len(part) > l.max:
			f.write(text.drop()...)
			f.write(part)
			failed = &LongLineError{Max: l.max}
		case text.add(part) != nil:
			f.write(text.drop()...)
			f.write(part)
			failed = &LongLineError{Max: l.max, Full: true}
		}
	}
	if failed != nil {
		failed.ID = f.response()
		return nil, failed
	}
	whole, full := text.end()
	if full != nil {
		return nil, &LongLineError{Max: l.max, Full: true}
	}
	return whole, nil
}

// line returns the next line without its end.
func (l *lineReader) line() ([]byte, error) {
	if l.rest {
		if err := l.pass(); err != nil {
			return nil, err
		}
	}
	line := l.room.message(l.max, l.done)
	for {
		part, err := l.r.ReadSlice('\n')
		if line.n+len(part) > l.max+1 { // the newline is not counted
			return nil, l.discard(line.drop(), part, err, false)
		}
		if line.add(part) != nil {
			return nil, l.discard(line.drop(), part, err, true)
		}
		switch {
		case err == nil:
			whole, full := line.end()
			if full != nil {
				return nil, &LongLineError{Max: l.max, Full: true}
			}
			return bytes.TrimSuffix(bytes.TrimSuffix(whole, []byte("\n")), []byte("\r")), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case line.n > 0:
			whole, full := line.end()
			if full != nil {
				return nil, &LongLineError{Max: l.max, Full: true}
			}
			return whole, nil // the error comes back with the next call
		default:
			return nil, err
		}
	}
}

// pass passes over what is left of a line.
func (l *lineReader) pass() error {
	for {
		_, err := l.r.ReadSlice('\n')
		if err == nil {
			l.rest = false
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// discard passes over a line that is too long, or for which there is no room, until the id
// of the response that it is has come.
func (l *lineReader) discard(line [][]byte, part []byte, err error, full bool) error {
	var f idFinder
	f.write(line...)
	f.write(part)
	for errors.Is(err, bufio.ErrBufferFull) && !f.certain() {
		part, err = l.r.ReadSlice('\n')
		f.write(part)
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		l.rest = true
		return &LongLineError{Max: l.max, ID: f.id, Full: full}
	}
	return &LongLineError{Max: l.max, ID: f.response(), Full: full}
}

// idFinder looks for the id of a message in a JSON object that is not kept, wherever
// in the object it stands.
type idFinder struct {
	depth           int
	quoted, escaped bool
	value           bool // after the colon of a top-level member
	key             string
	token           []byte // text of the top-level key or scalar at hand
	id              mcp.Raw
	request         bool
	answers         bool // there is a result or an error
	deepest         int  // depth was once
}

// longestToken bounds what is kept; ids and the keys that matter are shorter.
const longestToken = 256

func (f *idFinder) write(parts ...[]byte) {
	for _, p := range parts {
		for i := 0; i < len(p); i++ {
			if f.quoted && !f.escaped {
				from := i
				i = jsontext.Special(p, i)
				f.keep(p[from:i]...)
				if i == len(p) {
					break
				}
			}
			f.next(p[i])
		}
	}
}

// next takes one byte.
func (f *idFinder) next(c byte) {
	if f.quoted {
		f.keep(c)
		switch {
		case f.escaped:
			f.escaped = false
		case c == '\\':
			f.escaped = true
		case c == '"':
			f.quoted = false
		}
		return
	}
	switch c {
	case '"':
		f.quoted = true
		f.keep(c)
	case '{', '[':
		f.depth++
		f.deepest = max(f.deepest, f.depth)
	case '}', ']':
		f.endMember()
		f.depth--
	case ':':
		if f.depth == 1 {
			f.key, f.token, f.value = string(f.token), nil, true
			f.answers = f.answers || f.key == `"result"` || f.key == `"error"`
		}
	case ',':
		f.endMember()
	case ' ', '\t', '\r', '\n':
	default:
		f.keep(c)
	}
}

func (f *idFinder) keep(p ...byte) {
	if f.depth == 1 {
		f.token = append(f.token, p[:min(len(p), longestToken-len(f.token))]...)
	}
}

func (f *idFinder) endMember() {
	if f.depth != 1 {
		return
	}
	switch {
	case !f.value:
	case f.key == `"id"`:
		f.id = f.token
	case f.key == `"method"`:
		f.request = true
	}
	f.key, f.token, f.value = "", nil, false
}

// certain reports whether the id has come, and what is a response and nothing else: what
// comes now is its result, or its error.
func (f *idFinder) certain() bool {
	return len(f.id) > 0 && !f.request && f.depth > 0 && f.value && (f.key == `"result"` || f.key == `"error"`)
}

// response returns the id, unless the message was a request or the line no object.
func (f *idFinder) response() mcp.Raw {
	if f.request || f.depth != 0 || len(f.id) == 0 {
		return nil
	}
	return f.id
}

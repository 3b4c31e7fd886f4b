package client

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"strconv"
	"time"
)

const (
	// maxEventID bounds what is kept of an id; it goes back to the server as a header.
	maxEventID = 1 << 10
	// longestField is longer than every name of a field that means something.
	longestField = 8
)

// event is one server-sent event.
type event struct {
	name string // empty means message
	data []byte // its data lines, joined by newlines
}

// eventReader cuts a stream into server-sent events, as the HTML standard has them, of
// up to max bytes of data each. Comments and unknown fields are passed over without
// being kept, however long they are.
//
// Unlike a browser it also returns the event that the end of the stream cuts off: some
// servers leave out the last empty line.
type eventReader struct {
	r       *bufio.Reader
	max     int
	room    *Room           // nil has no bounds
	done    <-chan struct{} // closed when nobody wants to read any more; nil never is
	begun   bool
	afterCR bool // a newline that comes next belongs to the end of the last line

	lastID string        // the last id that came; empty if there was none
	retry  time.Duration // the last wait that the server asked for
	asked  bool          // it asked for one
}

func newEventReader(r io.Reader, maxData int) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 32<<10), max: maxData}
}

// next returns the next event that has data. A *LongLineError stands for an event that
// was too long, and the next one can be read; any other error is the end.
func (e *eventReader) next() (*event, error) {
	b := e.builder()
	for {
		var f field
		err := e.line(func(part []byte) { b.take(&f, part) })
		b.end(&f, e)
		if err == nil && !f.empty() {
			continue
		}
		switch {
		case b.long != nil:
			return nil, &LongLineError{Max: e.max, ID: b.long.response(), Full: b.full}
		case b.some:
			data, full := b.data.end()
			if full != nil {
				return nil, &LongLineError{Max: e.max, Full: true}
			}
			return &event{b.name, data}, nil
		case err != nil:
			return nil, err
		}
		b = e.builder()
	}
}

func (e *eventReader) builder() eventBuilder {
	return eventBuilder{max: e.max, data: e.room.message(e.max, e.done)}
}

// line hands the next line to take, part by part, without its end: a newline, a
// carriage return, or both. The error is that of the stream, after the last part.
func (e *eventReader) line(take func(part []byte)) error {
	if !e.begun {
		e.begun = true
		const mark = "\ufeff"
		if start, _ := e.r.Peek(len(mark)); string(start) == mark {
			_, _ = e.r.Discard(len(mark))
		}
	}
	for {
		if _, err := e.r.Peek(1); err != nil {
			return err
		}
		part, _ := e.r.Peek(e.r.Buffered())
		if e.afterCR {
			e.afterCR = false
			if part[0] == '\n' {
				_, _ = e.r.Discard(1)
				continue
			}
		}
		end := lineEnd(part)
		if end < 0 {
			take(part)
			_, _ = e.r.Discard(len(part))
			continue
		}
		take(part[:end])
		e.afterCR = part[end] == '\r'
		_, _ = e.r.Discard(end + 1)
		return nil
	}
}

// lineEnd returns the index of the first byte that ends a line, or -1.
func lineEnd(b []byte) int {
	end := bytes.IndexByte(b, '\n')
	if end >= 0 {
		b = b[:end]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return end
}

// field is one line of an event while it is read.
type field struct {
	name  []byte
	value bool   // the colon has come
	begun bool   // and the space that may follow it, or something else
	text  []byte // the beginning of a value other than data
}

func (f *field) empty() bool { return len(f.name) == 0 && !f.value }

// eventBuilder puts one event together.
type eventBuilder struct {
	max  int
	name string
	data *message
	some bool
	long *idFinder // in place of data, once that is too long
	full bool      // or there is no room for it
}

// take reads a part of a line.
func (b *eventBuilder) take(f *field, part []byte) {
	if !f.value {
		name, rest, found := bytes.Cut(part, []byte(":"))
		f.name = append(f.name, name[:min(len(name), longestField-min(longestField, len(f.name)))]...)
		if !found {
			return
		}
		f.value, part = true, rest
		if string(f.name) == "data" {
			b.beginLine()
		}
	}
	if len(part) == 0 {
		return
	}
	if !f.begun {
		f.begun = true
		part = bytes.TrimPrefix(part, []byte(" "))
	}
	switch string(f.name) {
	case "": // a comment
	case "data":
		b.add(part)
	default:
		f.text = append(f.text, part[:min(len(part), maxEventID+1-len(f.text))]...)
	}
}

// end takes note of a line that is over.
func (b *eventBuilder) end(f *field, e *eventReader) {
	switch string(f.name) {
	case "data":
		if !f.value {
			b.beginLine()
		}
	case "event":
		b.name = string(f.text)
	case "id":
		if id := string(f.text); len(id) <= maxEventID && headerText(id) {
			e.lastID = id
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(f.text), 10, 63); err == nil {
			e.retry, e.asked = time.Duration(min(ms, math.MaxInt64/uint64(time.Millisecond)))*time.Millisecond, true
		}
	}
}

func (b *eventBuilder) beginLine() {
	if b.some {
		b.add([]byte("\n"))
	}
	b.some = true
}

func (b *eventBuilder) add(part []byte) {
	if b.long == nil && b.data.n+len(part) <= b.max {
		if b.data.add(part) == nil {
			return
		}
		b.full = true
	}
	if b.long == nil {
		b.long = &idFinder{}
		b.long.write(b.data.drop()...)
	}
	b.long.write(part)
}

// headerText reports whether a text can stand in a header as it is.
func headerText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c > '~' {
			return false
		}
	}
	return true
}

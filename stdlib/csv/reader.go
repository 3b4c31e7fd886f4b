package csv

import "strings"

// reader splits text into records. A quoted field may hold anything; a quote inside it
// is doubled. A quote that neither ends a field nor is doubled is a character as any
// other, inside and outside.
type reader struct {
	text, delimiter string
	comment         string // what a line begins with that is left out; empty if there are none
	trim            bool   // spaces and tabs around fields are left out
	at              int    // how far text was read
	open            int    // where a quote stands that is never closed, after record; -1 if there is none
}

// record returns the next record that is not empty; ok is false at the end.
func (r *reader) record() (fields []string, ok bool) {
	r.open = -1
	r.at = r.start(r.at)
	if r.at >= len(r.text) {
		return nil, false
	}
	for {
		field, more := r.field()
		fields = append(fields, field)
		if !more || r.open >= 0 {
			return fields, true
		}
	}
}

// start returns where the next record begins: after empty lines and comments.
func (r *reader) start(at int) int {
	for at < len(r.text) {
		switch {
		case r.text[at] == '\n' || r.text[at] == '\r':
			at++
		case r.comment != "" && strings.HasPrefix(r.text[at:], r.comment):
			end := strings.IndexAny(r.text[at:], "\r\n")
			if end < 0 {
				return len(r.text)
			}
			at += end
		default:
			return at
		}
	}
	return at
}

// field reads one field and what ends it. more says that it is not the last of its
// record.
func (r *reader) field() (field string, more bool) {
	start := r.at
	if r.trim {
		for start < len(r.text) && (r.text[start] == ' ' || r.text[start] == '\t') && !strings.HasPrefix(r.text[start:], r.delimiter) {
			start++
		}
	}
	if start < len(r.text) && r.text[start] == '"' {
		field, end := r.quoted(start)
		if r.open < 0 {
			return field, r.leave(end)
		}
		return "", false
	}
	end := r.at
	for end < len(r.text) && !r.endsAt(end) {
		end++
	}
	field = r.text[r.at:end]
	if r.trim {
		field = strings.Trim(field, " \t")
	}
	return field, r.leave(end)
}

// quoted reads a field in quotes, and returns it and where it ends.
func (r *reader) quoted(start int) (string, int) {
	var b strings.Builder
	at := start + 1
	for {
		i := strings.IndexByte(r.text[at:], '"')
		if i < 0 {
			r.open = start
			return "", len(r.text)
		}
		b.WriteString(r.text[at : at+i])
		at += i + 1
		end := at
		if r.trim {
			for end < len(r.text) && (r.text[end] == ' ' || r.text[end] == '\t') && !r.endsAt(end) {
				end++
			}
		}
		switch {
		case at < len(r.text) && r.text[at] == '"':
			b.WriteByte('"')
			at++
		case end >= len(r.text) || r.endsAt(end):
			return b.String(), end
		default:
			b.WriteByte('"')
		}
	}
}

// endsAt reports whether what stands at at ends a field.
func (r *reader) endsAt(at int) bool {
	c := r.text[at]
	return c == '\n' || c == '\r' || c == r.delimiter[0] && strings.HasPrefix(r.text[at:], r.delimiter)
}

// leave steps over what ends a field at at. more says that it was a delimiter.
func (r *reader) leave(at int) (more bool) {
	r.at = at
	switch {
	case at >= len(r.text):
		return false
	case r.text[at] == '\r' && at+1 < len(r.text) && r.text[at+1] == '\n':
		r.at += 2
		return false
	case r.text[at] == '\r' || r.text[at] == '\n':
		r.at++
		return false
	}
	r.at += len(r.delimiter)
	return true
}

package encoding

import (
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"

	"mcpx/stdlib/internal/octets"
)

// decoder is the state behind a TextDecoder.
type decoder struct {
	name      string
	fatal     bool
	ignoreBOM bool

	form    form
	pending []byte // what the last chunk left over
	started bool   // something of the stream has come out, so that no BOM can follow
}

// form is an encoding's way to text. It decodes what it can of b, all of it if last, and
// returns what is left. It reports whether all of it was valid; if not, the text has
// replacement characters.
type form interface {
	decode(b []byte, last bool) (text string, rest []byte, ok bool)
	reset()
}

// newDecoder returns a decoder for a label, or nil if there is no such encoding.
func newDecoder(label string) *decoder {
	name := encodingOf(label)
	if name == "" {
		return nil
	}
	d := &decoder{name: name}
	switch name {
	case "utf-8":
		d.form = utf8Form{}
	case "utf-16le":
		d.form = utf16Form{low: 0}
	case "utf-16be":
		d.form = utf16Form{low: 1}
	default:
		switch e := legacy(name).(type) {
		case *charmap.Charmap:
			d.form = byteForm{e}
		default:
			d.form = multiForm{e.NewDecoder().Transformer}
		}
	}
	return d
}

// decode decodes the next chunk of a stream. The last one ends it.
func (d *decoder) decode(b []byte, last bool) (text string, ok bool) {
	if len(d.pending) > 0 {
		b = append(d.pending, b...)
	}
	text, rest, ok := d.form.decode(b, last)
	if !ok && d.fatal {
		d.end()
		return "", false
	}
	if !d.started && !d.ignoreBOM && strings.HasPrefix(d.name, "utf-") {
		text = d.withoutBOM(text)
	} else if text != "" {
		d.started = true
	}
	if last {
		d.end()
	} else {
		d.pending = append([]byte(nil), rest...)
	}
	return text, true
}

const byteOrderMark = "\uFEFF"

func (d *decoder) withoutBOM(text string) string {
	if text != "" {
		d.started = true
	}
	return strings.TrimPrefix(text, byteOrderMark)
}

func (d *decoder) end() {
	d.pending, d.started = nil, false
	d.form.reset()
}

type utf8Form struct{}

func (utf8Form) decode(b []byte, last bool) (string, []byte, bool) {
	var rest []byte
	if !last {
		have, _ := octets.Unfinished(b)
		b, rest = b[:len(b)-have], b[len(b)-have:]
	}
	return octets.ValidUTF8(b), rest, utf8.Valid(b)
}

func (utf8Form) reset() {}

// utf16Form has its less significant byte first if low is 0, else second.
type utf16Form struct{ low int }

func (f utf16Form) decode(b []byte, last bool) (string, []byte, bool) {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i+f.low]) | uint16(b[2*i+1-f.low])<<8
	}
	rest := b[2*len(units):]
	if n := len(units); n > 0 && isHigh(units[n-1]) {
		units, rest = units[:n-1], b[2*n-2:]
	}
	text, ok := string(utf16.Decode(units)), paired(units)
	if last && len(rest) > 0 {
		return text + string(utf8.RuneError), nil, false
	}
	return text, rest, ok
}

func (utf16Form) reset() {}

func isHigh(u uint16) bool { return u >= 0xd800 && u < 0xdc00 }

// paired reports whether every surrogate has its other half.
func paired(units []uint16) bool {
	for i := 0; i < len(units); i++ {
		switch {
		case !utf16.IsSurrogate(rune(units[i])):
		case i+1 < len(units) && isHigh(units[i]) && units[i+1] >= 0xdc00 && units[i+1] < 0xe000:
			i++
		default:
			return false
		}
	}
	return true
}

// byteForm has a character for each byte.
type byteForm struct{ table *charmap.Charmap }

func (f byteForm) decode(b []byte, _ bool) (string, []byte, bool) {
	var text strings.Builder
	text.Grow(len(b))
	ok := true
	for _, c := range b {
		r := f.table.DecodeByte(c)
		if r == utf8.RuneError {
			// The tables leave out the control characters that the standard puts there.
			if r = rune(c); c >= 0xa0 {
				r, ok = utf8.RuneError, false
			}
		}
		text.WriteRune(r)
	}
	return text.String(), nil, ok
}

func (byteForm) reset() {}

// multiForm has characters of several bytes.
type multiForm struct{ transform.Transformer }

func (f multiForm) decode(b []byte, last bool) (string, []byte, bool) {
	var text strings.Builder
	chunk := make([]byte, min(3*len(b)+16, 64<<10))
	for {
		written, read, err := f.Transform(chunk, b, last)
		text.Write(chunk[:written])
		b = b[read:]
		if !errors.Is(err, transform.ErrShortDst) {
			break
		}
	}
	out := text.String()
	return out, b, !strings.ContainsRune(out, utf8.RuneError)
}

func (f multiForm) reset() { f.Reset() }

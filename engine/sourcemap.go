package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-sourcemap/sourcemap"
)

// sourceMap is a source map taken apart, so that the positions on both sides can be
// moved. Lines and columns count from 0 and columns count UTF-16 code units, as in
// the text form.
type sourceMap struct {
	sources []string
	texts   []string    // of the sources, as far as they are known
	lines   [][]segment // by generated line
	entry   int         // which source is the script itself; of a map that a bundle carries
}

// segment maps a generated column to a place in a source.
type segment struct {
	column int
	source int
	line   int
	at     int
	name   string // of the variable there, if it is called otherwise in what was generated
	mapped bool   // false: generated code that stands for nothing in a source
}

// sourceMapText is the part of the JSON form that is used here.
type sourceMapText struct {
	Version        int      `json:"version"`
	Sources        []string `json:"sources"`
	SourcesContent []string `json:"sourcesContent,omitempty"`
	Names          []string `json:"names"`
	Mappings       string   `json:"mappings"`
	// Entry is which of the sources is the script itself, in a bundle of ours.
	Entry *int `json:"x_mcpx_entry,omitempty"`
}

func parseSourceMap(text []byte) (*sourceMap, error) {
	var t sourceMapText
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, err
	}
	m := &sourceMap{sources: t.Sources, texts: t.SourcesContent}
	var source, line, at, name int
	for generated := range strings.SplitSeq(t.Mappings, ";") {
		var segments []segment
		column := 0
		for field := range strings.SplitSeq(generated, ",") {
			if field == "" {
				continue
			}
			var v [5]int
			n, err := decodeVLQ(field, &v)
			if err != nil {
				return nil, err
			}
			column += v[0]
			s := segment{column: column}
			if n >= 4 {
				source, line, at = source+v[1], line+v[2], at+v[3]
				s = segment{column: column, source: source, line: line, at: at, mapped: true}
			}
			if n == 5 {
				if name += v[4]; name >= 0 && name < len(t.Names) {
					s.name = t.Names[name]
				}
			}
			segments = append(segments, s)
		}
		m.lines = append(m.lines, segments)
	}
	return m, nil
}

// consumer returns m in the form that goja reads. goja looks positions up by columns
// that count from 1 and takes what it finds as it stands, so that is how both sides
// are written here. It returns nil if nothing is mapped.
func (m *sourceMap) consumer() (*sourcemap.Consumer, error) {
	mappings, some := m.mappings(1)
	if !some {
		return nil, nil
	}
	text, err := json.Marshal(sourceMapText{Version: 3, Sources: m.sources, Names: []string{}, Mappings: mappings})
	if err != nil {
		return nil, err
	}
	return sourcemap.Parse("", text)
}

// text returns m in its usual form, with the texts of the sources. entry is the script's.
func (m *sourceMap) text(entry int) ([]byte, error) {
	mappings, _ := m.mappings(0)
	t := sourceMapText{Version: 3, Sources: m.sources, SourcesContent: m.texts, Names: []string{}, Mappings: mappings}
	if entry >= 0 {
		t.Entry = &entry
	}
	return json.Marshal(t)
}

// mappings writes the segments, with columns that count from first, and reports whether
// something is mapped. Segments without a source are only told where columns count from 0:
// goja takes no other.
func (m *sourceMap) mappings(first int) (text string, some bool) {
	var b strings.Builder
	var source, line, at int
	for i, segments := range m.lines {
		if i > 0 {
			b.WriteByte(';')
		}
		column, written := -first, false
		for _, s := range segments {
			if !s.mapped && first > 0 {
				continue
			}
			if written {
				b.WriteByte(',')
			}
			written = true
			encodeVLQ(&b, s.column-column)
			column = s.column
			if !s.mapped {
				continue
			}
			some = true
			encodeVLQ(&b, s.source-source)
			encodeVLQ(&b, s.line-line)
			encodeVLQ(&b, s.at+first-at)
			source, line, at = s.source, s.line, s.at+first
		}
	}
	return b.String(), some
}

const vlqDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// decodeVLQ reads the numbers of one segment and returns how many there are.
func decodeVLQ(field string, v *[5]int) (n int, err error) {
	value, shift := 0, 0
	for i := range len(field) {
		digit := strings.IndexByte(vlqDigits, field[i])
		if digit < 0 || n == len(v) || shift > 30 {
			return 0, fmt.Errorf("segment %q of the source map", field)
		}
		value |= digit & 31 << shift
		if digit&32 != 0 {
			shift += 5
			continue
		}
		if value&1 != 0 {
			v[n] = -(value >> 1)
		} else {
			v[n] = value >> 1
		}
		n++
		value, shift = 0, 0
	}
	return n, nil
}

func encodeVLQ(b *strings.Builder, n int) {
	value := n << 1
	if n < 0 {
		value = -n<<1 | 1
	}
	for {
		digit := value & 31
		value >>= 5
		if value != 0 {
			digit |= 32
		}
		b.WriteByte(vlqDigits[digit])
		if value == 0 {
			return
		}
	}
}

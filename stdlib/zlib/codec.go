package zlib

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
)

var (
	errEnd        = &failure{"Z_BUF_ERROR", -5, "unexpected end of file"}
	errHeader     = &failure{"Z_DATA_ERROR", -3, "incorrect header check"}
	errCheck      = &failure{"Z_DATA_ERROR", -3, "incorrect data check"}
	errData       = &failure{"Z_DATA_ERROR", -3, "invalid block type"}
	errDictionary = &failure{"Z_NEED_DICT", 2, "Bad dictionary"}
	errMissing    = &failure{"Z_NEED_DICT", 2, "Missing dictionary"}
	errBrotli     = &failure{"ERR__ERROR_FORMAT_PADDING_1", -2, "Decompression failed"}
)

func (s *settings) tooLong() error {
	return &failure{"ERR_BUFFER_TOO_LARGE", 0, fmt.Sprintf("Cannot create a Buffer larger than %d bytes", s.most)}
}

// all transforms data at once.
func (s *settings) all(ctx context.Context, data []byte) ([]byte, error) {
	out := &bounded{ctx: ctx, most: s.most}
	var err error
	if s.kind.reads {
		_, err = out.ReadFrom(s.reader(bufio.NewReader(bytes.NewReader(data))))
		err = s.said(err)
	} else {
		w := s.writer(out)
		for chunk := range chunks(data) {
			if _, err = w.Write(chunk); err != nil {
				break
			}
		}
		if err == nil {
			err = w.Close()
		}
	}
	switch {
	case errors.Is(err, errTooLong):
		return nil, s.tooLong()
	case err != nil:
		return nil, err
	}
	return out.Bytes(), nil
}

// pollEvery is how much is transformed between looks at the end of the run.
const pollEvery = 1 << 20

// chunks cuts data where one may want to stop.
func chunks(data []byte) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(data) > pollEvery {
			if !yield(data[:pollEvery]) {
				return
			}
			data = data[pollEvery:]
		}
		yield(data)
	}
}

var errTooLong = errors.New("the output is too long")

// bounded is an output that does not grow beyond most, and ends with the run.
type bounded struct {
	bytes.Buffer
	ctx  context.Context
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if err := context.Cause(b.ctx); err != nil {
		return 0, err
	}
	if b.Len()+len(p) > b.most {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}

// ReadFrom takes what r has to give.
func (b *bounded) ReadFrom(r io.Reader) (int64, error) {
	total := int64(0)
	piece := make([]byte, pieceSize)
	for {
		n, err := r.Read(piece)
		total += int64(n)
		if _, failed := b.Write(piece[:n]); failed != nil {
			return total, failed
		}
		if err != nil {
			return total, err
		}
	}
}

// writer returns what compresses into w.
func (s *settings) writer(w io.Writer) io.WriteCloser {
	level := s.level
	if s.huffman {
		level = flate.HuffmanOnly
	}
	var c io.WriteCloser
	var err error
	switch s.kind.class {
	case "Gzip":
		var g *gzip.Writer
		if g, err = gzip.NewWriterLevel(w, level); err == nil {
			g.OS = 3 // Unix, as Node writes it
			c = g
		}
	case "Deflate":
		c, err = zlib.NewWriterLevelDict(w, level, s.dictionary)
	case "DeflateRaw":
		c, err = flate.NewWriterDict(w, level, s.dictionary)
	default:
		c = brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: s.quality, LGWin: s.window})
	}
	if err != nil {
		panic(err) // the level has been checked
	}
	return c
}

// reader returns what decompresses data. It says io.EOF at the end of the data, and
// something that said knows when they are wrong.
func (s *settings) reader(data *bufio.Reader) io.Reader {
	switch s.kind.class {
	case "Gunzip":
		return &members{data: data}
	case "Inflate":
		return &opened{open: func() (io.Reader, error) { return s.inflate(data) }}
	case "InflateRaw":
		return &opened{open: func() (io.Reader, error) { return flate.NewReaderDict(data, s.dictionary), nil }}
	case "Unzip":
		return &opened{open: func() (io.Reader, error) {
			first, err := data.Peek(1)
			if err != nil {
				return nil, io.ErrUnexpectedEOF
			}
			if first[0] == magic[0] {
				return &members{data: data}, nil
			}
			return s.inflate(data)
		}}
	}
	return brotli.NewReader(data)
}

func (s *settings) inflate(data io.Reader) (io.Reader, error) {
	r, err := zlib.NewReaderDict(data, s.dictionary)
	if errors.Is(err, zlib.ErrDictionary) && s.dictionary == nil {
		return nil, errMissing
	}
	return r, err
}

// opened is a reader that reads its header when it is first read.
type opened struct {
	open func() (io.Reader, error)
	r    io.Reader
}

func (o *opened) Read(p []byte) (int, error) {
	if o.r == nil {
		r, err := o.open()
		if err != nil {
			return 0, whole(err)
		}
		o.r = r
	}
	return o.r.Read(p)
}

// whole makes of the end of the data an unexpected one.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// members reads the members of a gzip file. Zeros may follow them.
type members struct {
	data   *bufio.Reader
	reader *gzip.Reader
}

// magic is how a member begins.
var magic = []byte{0x1f, 0x8b}

func (m *members) Read(p []byte) (int, error) {
	if m.reader == nil {
		if err := m.open(); err != nil {
			return 0, err
		}
	}
	n, err := m.reader.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if next, err := m.data.Peek(1); err != nil || next[0] == 0 {
		return n, io.EOF
	}
	return n, m.open()
}

// open reads the header of the next member.
func (m *members) open() error {
	begins, _ := m.data.Peek(len(magic))
	switch {
	case len(begins) < len(magic):
		return io.ErrUnexpectedEOF
	case !bytes.Equal(begins, magic):
		return gzip.ErrHeader
	case m.reader == nil:
		r, err := gzip.NewReader(m.data)
		if err != nil {
			return whole(err)
		}
		m.reader = r
	default:
		if err := m.reader.Reset(m.data); err != nil {
			return whole(err)
		}
	}
	m.reader.Multistream(false)
	return nil
}

// said turns what a reader of Go's says at its end into what zlib says, nil if all is
// well.
func (s *settings) said(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		if s.partial {
			return nil
		}
		return errEnd
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zlib.ErrHeader):
		return errHeader
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrChecksum):
		return errCheck
	case errors.Is(err, zlib.ErrDictionary):
		return errDictionary
	case errors.As(err, &corrupt):
		return errData
	}
	var f *failure
	if s.kind.brotli() && !errors.As(err, &f) && !errors.Is(err, errTooLong) && !errors.Is(err, context.Canceled) {
		return errBrotli
	}
	return err
}

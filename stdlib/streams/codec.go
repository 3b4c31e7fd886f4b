package streams

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"iter"
	"runtime"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
	"mcpx/stdlib/internal/octets"
)

// A codec compresses or decompresses. It is fed, and then asked for pieces until it has
// no more.
type codec interface {
	feed(b []byte)
	end() // nothing more is fed
	// next does a bounded amount of work. It returns a piece; more says that it is to be
	// asked again.
	next() (piece []byte, more bool, err error)
}

const (
	pieceSize = 64 << 10  // of what a codec hands out
	workSize  = 256 << 10 // of what a compressor takes in at a time
)

// passer is a codec as a function of the script's: see web.js.
func passer(vm *goja.Runtime, oc *octets.Octets, c codec) native.Function {
	return func(call goja.FunctionCall) goja.Value {
		switch v := call.Argument(0); {
		case goja.IsUndefined(v):
			c.end()
		case !goja.IsNull(v):
			b, _ := oc.Bytes(v)
			c.feed(bytes.Clone(b))
		}
		piece, more, err := c.next()
		switch {
		case err != nil:
			panic(codecError(vm, err))
		case len(piece) > 0:
			return oc.Uint8Array(piece)
		case more:
			return goja.Null()
		}
		return goja.Undefined()
	}
}

func codecError(vm *goja.Runtime, err error) *goja.Object {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return native.Error(vm, "TypeError", "Z_BUF_ERROR", "unexpected end of file")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zlib.ErrHeader):
		return native.Error(vm, "TypeError", "Z_DATA_ERROR", "incorrect header check")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrChecksum):
		return native.Error(vm, "TypeError", "Z_DATA_ERROR", "incorrect data check")
	}
	return native.Error(vm, "TypeError", "Z_DATA_ERROR", "invalid compressed data")
}

// compressor is a codec that compresses.
type compressor struct {
	in    []byte
	out   bytes.Buffer
	w     io.WriteCloser
	ended bool // end was called
	done  bool
}

func newCompressor(format string) codec {
	c := &compressor{}
	switch format {
	case "gzip":
		c.w = gzip.NewWriter(&c.out)
	case "deflate":
		c.w = zlib.NewWriter(&c.out)
	default:
		c.w, _ = flate.NewWriter(&c.out, flate.DefaultCompression) // fails for other levels only
	}
	return c
}

func (c *compressor) feed(b []byte) { c.in = b }
func (c *compressor) end()          { c.ended = true }

func (c *compressor) next() ([]byte, bool, error) {
	if c.out.Len() == 0 {
		switch {
		case len(c.in) > 0:
			n := min(len(c.in), workSize)
			if _, err := c.w.Write(c.in[:n]); err != nil {
				return nil, false, err
			}
			c.in = c.in[n:]
		case c.ended && !c.done:
			c.done = true
			if err := c.w.Close(); err != nil {
				return nil, false, err
			}
		default:
			return nil, false, nil
		}
	}
	return bytes.Clone(c.out.Next(pieceSize)), true, nil
}

// decompressor is a codec that decompresses. The readers of the standard library ask for
// their input, so one runs as a coroutine, which stops where it needs more.
type decompressor struct {
	*decompression
	resume func() (piece []byte, running bool)
}

// decompression is what the coroutine shares with its codec.
type decompression struct {
	in    []byte
	ended bool
	err   error
	more  func() bool // stops until there is more; false if there will be none
}

func newDecompressor(format string) codec {
	shared := &decompression{}
	resume, stop := iter.Pull(func(yield func([]byte) bool) { shared.run(format, yield) })
	d := &decompressor{shared, resume}
	runtime.AddCleanup(d, func(stop func()) { stop() }, stop) // a script may leave it half way
	return d
}

func (d *decompressor) feed(b []byte) { d.in = b }
func (d *decompressor) end()          { d.ended = true }

func (d *decompressor) next() ([]byte, bool, error) {
	piece, running := d.resume()
	return piece, running && len(piece) > 0, d.err
}

// run decompresses. It yields pieces, and nil where it needs more input.
func (d *decompression) run(format string, yield func([]byte) bool) {
	d.more = func() bool { return yield(nil) }
	r, err := d.open(format)
	for err == nil {
		piece := make([]byte, pieceSize)
		var n int
		n, err = r.Read(piece)
		if n > 0 && !yield(piece[:n]) {
			return
		}
	}
	if !errors.Is(err, io.EOF) {
		d.err = err
	}
}

func (d *decompression) open(format string) (io.Reader, error) {
	switch format {
	case "gzip":
		r, err := gzip.NewReader(d)
		return r, whole(err)
	case "deflate":
		r, err := zlib.NewReader(d)
		return r, whole(err)
	}
	return flate.NewReader(d), nil
}

// whole makes of the end of the input an unexpected one.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Read implements io.Reader.
func (d *decompression) Read(p []byte) (int, error) {
	for len(d.in) == 0 {
		if d.ended || !d.more() {
			return 0, io.EOF
		}
	}
	n := copy(p, d.in)
	d.in = d.in[n:]
	return n, nil
}

// ReadByte implements io.ByteReader, so that nothing is read ahead.
func (d *decompression) ReadByte() (byte, error) {
	var b [1]byte
	_, err := d.Read(b[:])
	return b[0], err
}

package web

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
)

// window is how much of a response is read before the script asks for it. A response that
// fits holds no connection.
const window = 64 << 10

// content is the decoded content of a response on its way to the script.
type content struct {
	ctx  context.Context
	body io.ReadCloser
	r    io.Reader

	mu      sync.Mutex
	bytes   []byte
	err     error         // why no more come; io.EOF at the end
	changed chan struct{} // closed at the next change
}

// newContent makes the content of a response, which fill must read.
func newContent(ctx context.Context, r *response) *content {
	c := &content{ctx: ctx, body: r.http.Body, r: decoded(ctx, r.http.Body, r.http.Header), changed: make(chan struct{})}
	if r.empty() {
		_ = c.body.Close()
		c.err = io.EOF
	}
	return c
}

// fill reads until the end, as the script takes what is there.
func (c *content) fill() {
	defer c.body.Close()
	buf := make([]byte, window/2)
	for {
		room, err := c.room()
		if err != nil {
			return
		}
		n, err := c.r.Read(buf[:min(room, len(buf))])
		if cause := context.Cause(c.ctx); cause != nil {
			err = cause
		}
		c.mu.Lock()
		c.bytes = append(c.bytes, buf[:n]...)
		c.err = err
		c.tell()
		c.mu.Unlock()
	}
}

// room waits until there is room, and returns how much. The error is why there will be none.
func (c *content) room() (int, error) {
	for {
		c.mu.Lock()
		n, err, changed := window-len(c.bytes), c.err, c.changed
		c.mu.Unlock()
		if err != nil || n > 0 {
			return n, err
		}
		select {
		case <-changed:
		case <-c.ctx.Done():
			return 0, context.Cause(c.ctx)
		}
	}
}

// tell wakes who waits. c.mu must be held.
func (c *content) tell() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// errBodyTimeout is the error of a response that stalls.
var errBodyTimeout = errors.New("the response has stalled")

// take returns at most most of the next bytes, as many as are there, and whether they are
// the last. It waits until there is one, and gives up after idle, if that is not 0.
func (c *content) take(ctx context.Context, most int64, idle time.Duration) (b []byte, end bool, err error) {
	var stalled <-chan time.Time
	if idle > 0 {
		t := time.NewTimer(idle)
		defer t.Stop()
		stalled = t.C
	}
	for {
		c.mu.Lock()
		n := min(int64(len(c.bytes)), most)
		b, c.bytes = c.bytes[:n:n], c.bytes[n:]
		if len(c.bytes) == 0 {
			c.bytes = nil // what was taken is not to be written over
		}
		end = len(c.bytes) == 0 && errors.Is(c.err, io.EOF)
		err, changed := c.err, c.changed
		if n > 0 {
			c.tell()
		}
		c.mu.Unlock()
		switch {
		case n > 0 || end:
			return b, end, nil
		case err != nil:
			return nil, false, err
		}
		select {
		case <-changed:
		case <-stalled:
			return nil, false, errBodyTimeout
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}

// maxCodings is how many codings, one on top of the other, a response may have.
const maxCodings = 5

// errCodings is the error of a response that has more.
var errCodings = errors.New("the content is encoded too often")

// decoded undoes the codings of a response. One that is not known leaves the content as
// it is.
func decoded(ctx context.Context, body io.Reader, h http.Header) io.Reader {
	var names []string
	for name := range strings.SplitSeq(strings.Join(h.Values("Content-Encoding"), ","), ",") {
		if name = strings.ToLower(strings.Trim(name, " \t")); name != "" && name != "identity" {
			names = append(names, name)
		}
	}
	brotlis := len(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n != "br" }))
	if len(names) > maxCodings || brotlis > 1 {
		return failing{errCodings}
	}
	r := body
	for _, name := range slices.Backward(names) {
		d := &decoder{src: bufio.NewReader(r)}
		switch name {
		case "gzip", "x-gzip":
			d.open = gunzip
		case "deflate":
			d.open = inflate
		case "br":
			d.open = func(src *bufio.Reader) (io.Reader, error) { return unbrotli(ctx, src) }
		default:
			return body
		}
		r = d
	}
	return r
}

// failing is a reader that only fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// decoder opens its decompression when the first byte is there. No bytes at all decode to
// none, whatever the coding.
type decoder struct {
	src  *bufio.Reader
	open func(*bufio.Reader) (io.Reader, error)
	r    io.Reader
}

func (d *decoder) Read(p []byte) (int, error) {
	if d.r == nil {
		if _, err := d.src.Peek(1); err != nil {
			return 0, err
		}
		r, err := d.open(d.src)
		if err != nil {
			return 0, notDecoded(err)
		}
		d.r = r
	}
	n, err := d.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = notDecoded(err)
	}
	return n, err
}

const (
	// maxWindow is the largest window of brotli that any number of responses may have, as
	// the logarithm of its bytes: it is memory of this process, and whoever answers says how
	// much it is.
	maxWindow = 22
	// maxLarge is how many larger ones there may be at a time.
	maxLarge = 8
)

// large has a token for each larger window.
var large = make(chan struct{}, maxLarge)

var errWindow = errors.New("brotli: too many responses have windows above 4 MiB")

// unbrotli opens a decompression of brotli. ctx is that of the exchange: when it ends, the
// token of a larger window is given back.
func unbrotli(ctx context.Context, src *bufio.Reader) (io.Reader, error) {
	first, err := src.Peek(1)
	if err != nil {
		return nil, err
	}
	// RFC 7932, section 9.1: the three bits after a 1 are the window less 17.
	if first[0]&1 == 1 && 17+int(first[0]>>1&7) > maxWindow {
		select {
		case large <- struct{}{}:
			context.AfterFunc(ctx, func() { <-large })
		default:
			return nil, errWindow
		}
	}
	return brotli.NewReader(src), nil
}

// codingError says that content is not what its coding says.
type codingError struct{ error }

func (e codingError) Unwrap() error { return e.error }

// notDecoded tells content that is wrong from a connection that failed.
func notDecoded(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) ||
		errors.Is(err, zlib.ErrDictionary) || errors.As(err, &corrupt) || strings.HasPrefix(err.Error(), "brotli: ") {
		return codingError{err}
	}
	return err
}

// inflate opens a decompression of deflate.
func inflate(src *bufio.Reader) (io.Reader, error) {
	// The name means zlib, and some servers leave its frame out.
	if first, err := src.Peek(1); err == nil && first[0]&0x0f != 8 {
		return flate.NewReader(src), nil
	}
	return zlib.NewReader(src)
}

// members reads the members of a gzip stream. What follows the last one and is no member
// is passed over, as browsers do.
type members struct {
	src *bufio.Reader
	*gzip.Reader
}

// gunzip opens a decompression of gzip.
func gunzip(src *bufio.Reader) (io.Reader, error) {
	r, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	r.Multistream(false)
	return &members{src, r}, nil
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.Reader.Read(p)
		if n > 0 && errors.Is(err, io.EOF) {
			return n, nil
		}
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		next, peekErr := m.src.Peek(2)
		if peekErr != nil && !errors.Is(peekErr, io.EOF) {
			return 0, peekErr
		}
		if len(next) < 2 || next[0] != 0x1f || next[1] != 0x8b {
			return 0, io.EOF
		}
		if err := m.Reader.Reset(m.src); err != nil {
			return 0, err
		}
		m.Multistream(false)
	}
}

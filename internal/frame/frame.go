// Package frame carries messages over the socket between a worker and its broker.
//
// A frame is a header of fixed size, a small JSON head and a raw body:
//
//	byte  0       type
//	bytes 1–3     zero
//	bytes 4–7     id, big endian
//	bytes 8–11    length of the head
//	bytes 12–15   length of the body
//
// The other end is taken to be hostile: every length is bounded before anything is
// read, a buffer grows only as bytes arrive, and what is not a frame is an error. The
// package does not look inside heads and bodies; what they mean is said by the worker
// and the broker.
package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
)

// Type says what a frame is for. The set is closed.
type Type byte

// The frames of a run. Whoever asks chooses the id of a Call, Stdout or Stderr and
// must not use it again before it is answered; other frames have none.
const (
	Ready     Type = 1 + iota // worker: it stands, and which build it is
	Run                       // broker: the script and what surrounds it
	Call                      // worker: a request to the host
	Stdout                    // worker: bytes of standard output, answered when they are written
	Stderr                    // worker: bytes of standard error, answered likewise
	Answer                    // broker: the answer to the id
	Refusal                   // broker: the error that is the answer to the id
	Cancel                    // worker: the answer to the id is no longer wanted; it comes all the same
	Interrupt                 // broker: the script must end now, and why
	End                       // worker: the script has ended; nothing follows
	Fail                      // worker: it could not go on; nothing follows
	last      = Fail
)

var names = [...]string{
	"", "ready", "run", "call", "stdout", "stderr", "answer", "refusal", "cancel", "interrupt", "end", "fail",
}

// String returns the type's name.
func (t Type) String() string {
	if t >= Ready && t <= last {
		return names[t]
	}
	return fmt.Sprintf("type %d", byte(t))
}

// Sizes. MaxHead bounds every head; MaxBody is what a header can express.
const (
	headerSize = 16
	MaxHead    = 1 << 20
	MaxBody    = math.MaxUint32
)

// Frame is one message. Head is JSON or empty.
type Frame struct {
	Type Type
	ID   uint32
	Head []byte
	Body []byte
}

// ErrMalformed is the error for bytes that are no frame, and ErrTooLarge for a frame
// beyond its bounds. After either from Receive nothing more can be read.
var (
	ErrMalformed = errors.New("malformed frame")
	ErrTooLarge  = errors.New("frame too large")
)

// Conn sends and receives frames over a stream.
type Conn struct {
	r       *bufio.Reader
	maxBody int64

	mu  sync.Mutex // held across a write, so that frames do not mix
	w   io.Writer
	buf []byte // a small frame is put together here and written at once
	err error  // the first error of a write; the stream may hold half a frame
}

// NewConn makes a connection that receives bodies of at most maxBody bytes.
func NewConn(rw io.ReadWriter, maxBody int64) *Conn {
	return &Conn{r: bufio.NewReaderSize(rw, 64<<10), w: rw, maxBody: maxBody}
}

// smallBody is the largest body that is copied to be written together with its header.
const smallBody = 64 << 10

// Send writes a frame. It may be called from several goroutines, and waits as long as
// the other end does not read. A frame beyond the bounds of the format is ErrTooLarge
// and leaves the connection usable; any other error is final.
func (c *Conn) Send(f Frame) error {
	if len(f.Head) > MaxHead {
		return fmt.Errorf("%w: head of %d bytes, %d are allowed", ErrTooLarge, len(f.Head), MaxHead)
	}
	if int64(len(f.Body)) > MaxBody {
		return fmt.Errorf("%w: body of %d bytes", ErrTooLarge, len(f.Body))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	b := c.buf[:0]
	b = append(b, byte(f.Type), 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, f.ID)
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.Head)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.Body)))
	b = append(b, f.Head...)
	rest := f.Body
	if len(rest) <= smallBody {
		b, rest = append(b, rest...), nil
	}
	if cap(b) <= 2*smallBody {
		c.buf = b
	}
	_, c.err = c.w.Write(b)
	if c.err == nil && rest != nil {
		_, c.err = c.w.Write(rest)
	}
	return c.err
}

// Receive reads the next frame; head and body belong to the caller. Only one goroutine
// may receive. The error is io.EOF if the stream ended between two frames.
func (c *Conn) Receive() (Frame, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(c.r, h[:]); err != nil {
		return Frame{}, err
	}
	f := Frame{Type: Type(h[0]), ID: binary.BigEndian.Uint32(h[4:])}
	if f.Type < Ready || f.Type > last || h[1]|h[2]|h[3] != 0 {
		return Frame{}, fmt.Errorf("%w: header % x", ErrMalformed, h)
	}
	head, body := binary.BigEndian.Uint32(h[8:]), binary.BigEndian.Uint32(h[12:])
	if head > MaxHead {
		return Frame{}, fmt.Errorf("%w: %s with a head of %d bytes, %d are allowed", ErrTooLarge, f.Type, head, MaxHead)
	}
	if int64(body) > c.maxBody {
		return Frame{}, fmt.Errorf("%w: %s with a body of %d bytes, %d are allowed", ErrTooLarge, f.Type, body, c.maxBody)
	}
	var err error
	if f.Head, err = read(c.r, int(head)); err != nil {
		return Frame{}, err
	}
	if f.Body, err = read(c.r, int(body)); err != nil {
		return Frame{}, err
	}
	return f, nil
}

// firstRead is how much memory a length that nothing has backed yet may cost.
const firstRead = 64 << 10

// growth is how much more memory a body gets once what it has is full: it is copied as often
// as it grows.
const growth = 8

// read reads n bytes into a buffer that grows as they arrive.
func read(r io.Reader, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	b := make([]byte, min(n, firstRead))
	for have := 0; ; {
		m, err := io.ReadFull(r, b[have:])
		if have += m; err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if have == n {
			return b, nil
		}
		grown := make([]byte, min(n, growth*len(b)))
		copy(grown, b)
		b = grown
	}
}

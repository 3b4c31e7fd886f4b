package frame_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"mcpx/internal/frame"
)

// stream is a one-way connection: what is sent can be received.
func stream(b []byte) *frame.Conn { return frame.NewConn(bytes.NewBuffer(b), 64<<20) }

func equal(a, b frame.Frame) bool {
	return a.Type == b.Type && a.ID == b.ID && bytes.Equal(a.Head, b.Head) && bytes.Equal(a.Body, b.Body)
}

func TestFramesArriveAsTheyWereSent(t *testing.T) {
	t.Parallel()
	big := make([]byte, 5<<20+7)
	for i := range big {
		big[i] = byte(i * 31)
	}
	frames := []frame.Frame{
		{Type: frame.Ready, Head: []byte(`{"build":"x"}`)},
		{Type: frame.Call, ID: 1, Head: []byte(`{"op":"tool"}`), Body: []byte(`{}`)},
		{Type: frame.Answer, ID: 1<<32 - 1, Body: big},
		{Type: frame.Call, ID: 2, Head: bytes.Repeat([]byte(" "), frame.MaxHead), Body: big[:64<<10]},
		{Type: frame.Call, ID: 3, Body: big[:64<<10+1]},
		{Type: frame.End},
	}
	c := stream(nil)
	for _, f := range frames {
		if err := c.Send(f); err != nil {
			t.Fatalf("Send(%s) = %v", f.Type, err)
		}
	}
	for _, want := range frames {
		got, err := c.Receive()
		if err != nil || !equal(got, want) {
			t.Fatalf("Receive() = %s id %d, %d+%d bytes, %v, want %s id %d, %d+%d bytes",
				got.Type, got.ID, len(got.Head), len(got.Body), err, want.Type, want.ID, len(want.Head), len(want.Body))
		}
	}
	if _, err := c.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("Receive() at the end = %v, want %v", err, io.EOF)
	}
}

func header(typ byte, reserved byte, head, body uint32) []byte {
	b := []byte{typ, 0, reserved, 0, 0, 0, 0, 1}
	b = binary.BigEndian.AppendUint32(b, head)
	return binary.BigEndian.AppendUint32(b, body)
}

func TestHostileBytesAreAnError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		bytes []byte
		want  error
	}{
		{"half a header", header(3, 0, 0, 0)[:9], io.ErrUnexpectedEOF},
		{"type zero", header(0, 0, 0, 0), frame.ErrMalformed},
		{"a type that does not exist", header(12, 0, 0, 0), frame.ErrMalformed},
		{"reserved bytes in use", header(3, 1, 0, 0), frame.ErrMalformed},
		{"text instead of a frame", []byte("fatal error: something else"), frame.ErrMalformed},
		{"a head too large", header(3, 0, frame.MaxHead+1, 0), frame.ErrTooLarge},
		{"a body too large", header(3, 0, 0, 64<<20+1), frame.ErrTooLarge},
		{"a body of all ones", header(3, 0, 0, 1<<32-1), frame.ErrTooLarge},
		{"a head that does not come", header(3, 0, 10, 0), io.ErrUnexpectedEOF},
		{"half a head", append(header(3, 0, 10, 0), "abc"...), io.ErrUnexpectedEOF},
		{"half a body", append(header(3, 0, 1, 100000), make([]byte, 99999)...), io.ErrUnexpectedEOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if f, err := stream(tt.bytes).Receive(); !errors.Is(err, tt.want) {
				t.Errorf("Receive() = %v, %v, want %v", f, err, tt.want)
			}
		})
	}
}

// Not parallel: it counts what the whole process allocates.
func TestALengthAloneCostsNoMemory(t *testing.T) {
	claim := append(header(3, 0, frame.MaxHead, 64<<20), "only this much"...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		if _, err := stream(claim).Receive(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("Receive() = %v, want %v", err, io.ErrUnexpectedEOF)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("ten claims of 65 MiB allocated %d bytes, want less than 4 MiB", got)
	}
}

func TestSendRefusesWhatCannotBeReceivedAndGoesOn(t *testing.T) {
	t.Parallel()
	c := stream(nil)
	if err := c.Send(frame.Frame{Type: frame.Call, Head: make([]byte, frame.MaxHead+1)}); !errors.Is(err, frame.ErrTooLarge) {
		t.Fatalf("Send() = %v, want %v", err, frame.ErrTooLarge)
	}
	if err := c.Send(frame.Frame{Type: frame.End}); err != nil {
		t.Fatal(err)
	}
	if f, err := c.Receive(); err != nil || f.Type != frame.End {
		t.Errorf("Receive() = %v, %v, want the frame after the refused one", f, err)
	}
}

func TestNothingIsSentAfterHalfAFrame(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	c := frame.NewConn(a, 0)
	go func() {
		_, _ = io.ReadFull(b, make([]byte, 5))
		_ = b.Close()
	}()
	first := c.Send(frame.Frame{Type: frame.End, Body: make([]byte, 100)})
	if first == nil {
		t.Fatal("Send() to a closed pipe = nil, want an error")
	}
	if again := c.Send(frame.Frame{Type: frame.End}); !errors.Is(again, first) {
		t.Errorf("Send() after an error = %v, want %v", again, first)
	}
}

func TestFramesOfManyGoroutinesDoNotMix(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	send, receive := frame.NewConn(a, 0), frame.NewConn(b, 1<<20)
	const senders, each = 8, 50
	var wg sync.WaitGroup
	for id := range uint32(senders) {
		wg.Go(func() {
			for range each {
				n := rand.IntN(200 << 10) //nolint:gosec // any size will do
				if err := send.Send(frame.Frame{Type: frame.Call, ID: id, Body: bytes.Repeat([]byte{byte(id)}, n)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range senders * each {
		f, err := receive.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Trim(string(f.Body), string(rune(f.ID))) != "" {
			t.Fatalf("a body of sender %d holds bytes of another", f.ID)
		}
	}
	wg.Wait()
}

func TestTypesHaveNames(t *testing.T) {
	t.Parallel()
	for typ := frame.Ready; typ <= frame.Fail; typ++ {
		if s := typ.String(); s == "" || strings.HasPrefix(s, "type ") {
			t.Errorf("Type(%d).String() = %q, want a name", typ, s)
		}
	}
	if got := frame.Type(200).String(); got != "type 200" {
		t.Errorf("Type(200).String() = %q, want %q", got, "type 200")
	}
}

// FuzzReceive feeds the reader what a hostile worker could send. What it accepts must
// be exactly what Send would have written.
func FuzzReceive(f *testing.F) {
	f.Add(append(header(3, 0, 2, 3), "{}abc"...))
	f.Add(append(header(10, 0, 0, 0), header(1, 0, 0, 1)...))
	f.Add(header(3, 0, 1<<32-1, 1<<32-1))
	f.Add([]byte("runtime: out of memory"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c := frame.NewConn(bytes.NewBuffer(bytes.Clone(in)), 1<<20)
		var out bytes.Buffer
		echo := frame.NewConn(&out, 0)
		for {
			fr, err := c.Receive()
			if err != nil {
				break
			}
			if err := echo.Send(fr); err != nil {
				t.Fatalf("a received frame cannot be sent: %v", err)
			}
		}
		if !bytes.HasPrefix(in, out.Bytes()) {
			t.Errorf("received frames encode to % x, want a prefix of % x", out.Bytes(), in)
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	for _, size := range []int{100, 100 << 10, 6 << 20} {
		b.Run(byteCount(size), func(b *testing.B) {
			var buf bytes.Buffer
			c := frame.NewConn(&buf, 64<<20)
			f := frame.Frame{Type: frame.Answer, Head: []byte(`{}`), Body: make([]byte, size)}
			b.SetBytes(int64(size))
			for b.Loop() {
				if err := c.Send(f); err != nil {
					b.Fatal(err)
				}
				if _, err := c.Receive(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func byteCount(n int) string {
	switch {
	case n >= 1<<20:
		return "6MiB"
	case n >= 1<<10:
		return "100KiB"
	}
	return "100B"
}

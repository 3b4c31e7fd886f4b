package streams

import (
	"bytes"
	"compress/gzip"
	"runtime"
	"testing"
	"time"
)

// A coroutine that nobody resumes ends once its codec is garbage. This test is not
// parallel: it counts goroutines.
func TestDecompressorsEndWithTheirOwners(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 50 {
		d := newDecompressor("gzip")
		d.feed([]byte{0x1f, 0x8b})
		if _, _, err := d.next(); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

func FuzzDecompressor(f *testing.F) {
	var whole bytes.Buffer
	w := gzip.NewWriter(&whole)
	_, _ = w.Write(bytes.Repeat([]byte("seed "), 100))
	_ = w.Close()
	f.Add(whole.Bytes(), uint8(1))
	f.Add(whole.Bytes(), uint8(200))
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		var want bytes.Buffer
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err == nil {
			_, err = want.ReadFrom(r)
		}
		wantErr := err
		var got []byte
		var gotErr error
		d := newDecompressor("gzip")
		drain := func() {
			for gotErr == nil {
				piece, more, err := d.next()
				got, gotErr = append(got, piece...), err
				if !more {
					return
				}
			}
		}
		for len(b) > 0 {
			n := min(len(b), int(size)+1)
			d.feed(b[:n])
			drain()
			b = b[n:]
		}
		d.end()
		drain()
		if !bytes.Equal(got, want.Bytes()) || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("in pieces of %d: %d bytes and %v, want %d and %v", int(size)+1, len(got), gotErr, want.Len(), wantErr)
		}
	})
}

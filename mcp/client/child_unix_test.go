//go:build unix

package client

import (
	"bytes"
	"io"
	"os"
	"testing"
)

// TestTrySendWritesAllOrNothing fills a pipe that nobody reads.
func TestTrySendWritesAllOrNothing(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := &Child{stdin: w}
	if c.direct, err = w.SyscallConn(); err != nil {
		t.Fatal(err)
	}
	if c.TrySend(make([]byte, atomicWrite)) {
		t.Error("a line was sent that may be torn apart")
	}
	line := bytes.Repeat([]byte("x"), atomicWrite-7) // so that lines and the pipe end at different places
	sent := 0
	for c.TrySend(bytes.Clone(line)) {
		if sent++; sent > 1<<20 {
			t.Fatal("the pipe is never full")
		}
	}
	if sent == 0 {
		t.Fatal("nothing was sent")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(r)
	if want := bytes.Repeat(append(line, '\n'), sent); err != nil || !bytes.Equal(all, want) {
		t.Errorf("%d bytes came, %v, want %d lines, whole", len(all), err, sent)
	}
	if c.TrySend([]byte("late")) {
		t.Error("a line was sent to a server that is gone")
	}
}

package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/andybalholm/brotli"
)

// A response says how much memory its decoding takes: only some may say much at a time.
func TestLargeWindowsAreFew(t *testing.T) { // not parallel: it takes all there are
	packed := func(window int) *bufio.Reader {
		var b bytes.Buffer
		w := brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: 5, LGWin: window})
		if _, err := io.WriteString(w, strings.Repeat("some text, ", 1000)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return bufio.NewReader(&b)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		for range maxLarge {
			r, err := unbrotli(ctx, packed(24))
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(r); err != nil || len(text) != 11_000 {
				t.Errorf("%d bytes, %v", len(text), err)
			}
		}
		if _, err := unbrotli(ctx, packed(24)); !errors.Is(err, errWindow) {
			t.Errorf("one more is decoded: %v", err)
		}
		for _, window := range []int{10, 16, 17, 18, 22} {
			if _, err := unbrotli(ctx, packed(window)); err != nil {
				t.Errorf("a window of %d: %v", window, err)
			}
		}
		end() // as exchanges do
		synctest.Wait()
		ctx, end = context.WithCancel(t.Context())
		if _, err := unbrotli(ctx, packed(23)); err != nil {
			t.Errorf("what was taken is not given back: %v", err)
		}
		end()
		synctest.Wait()
	})
}

package body

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pieces is a body that does not say how long it is.
type pieces struct{ io.Reader }

func TestLongBodiesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const size, short, limit, patience = 1000, 10, 600, time.Minute
		room := NewRoom(size, short, patience)
		read := func(ctx context.Context, body io.Reader, want int) (func(), error) {
			text, done, err := room.Read(ctx, httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", body), limit)
			if err == nil && len(text) != want {
				t.Errorf("%d bytes of %d", len(text), want)
			}
			return done, err
		}
		of := func(n int) io.Reader { return strings.NewReader(strings.Repeat("x", n)) }
		first, err := read(t.Context(), of(limit), limit)
		if err != nil {
			t.Fatal(err)
		}
		for what, body := range map[string]io.Reader{"long": of(limit), "that does not say so": pieces{of(limit)}} {
			begin := time.Now()
			if done, err := read(t.Context(), body, limit); !errors.Is(err, ErrNoRoom) || time.Since(begin) != patience {
				t.Errorf("another one %s: %v after %s, want %v after %s", what, err, time.Since(begin), ErrNoRoom, patience)
			} else {
				done() // gives nothing back
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := read(ctx, of(limit), limit); !errors.Is(err, ErrNoRoom) {
			t.Errorf("one whose client is gone: %v", err)
		}
		for n, body := range map[int]io.Reader{short: of(short), size - limit: of(size - limit)} {
			done, err := read(t.Context(), body, n)
			if err != nil {
				t.Errorf("%d bytes beside it: %v", n, err)
			}
			done()
		}
		first()
		if _, err := read(t.Context(), io.MultiReader(of(short+1), broken{}), 0); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("one that breaks off: %v", err)
		}
		done, err := read(t.Context(), pieces{of(limit)}, limit)
		if err != nil {
			t.Errorf("when these are done: %v", err)
		}
		done()
	})
}

func TestABodyHasALimit(t *testing.T) {
	t.Parallel()
	room := NewRoom(1000, 10, time.Minute)
	for _, body := range []io.Reader{strings.NewReader(strings.Repeat("x", 101)), pieces{strings.NewReader(strings.Repeat("x", 101))}} {
		_, _, err := room.Read(t.Context(), httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", body), 100)
		if tooLong, ok := errors.AsType[*http.MaxBytesError](err); !ok || tooLong.Limit != 100 {
			t.Errorf("101 bytes of 100: %v", err)
		}
	}
}

// broken is the end of a body whose client is gone.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

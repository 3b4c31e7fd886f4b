package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/internal/body"
	"mcpx/internal/fault"
)

// However many send long requests at once, their bytes have a bound together.
func TestLongBodiesShareTheRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const room = 2 * shortBody
		h := &handler{bodies: body.NewRoom(room, shortBody, bodyPatience)}
		send := func(ctx context.Context, n int) error {
			r := httptest.NewRequest(http.MethodPost, "/v1/call", strings.NewReader(strings.Repeat("x", n))).WithContext(ctx)
			text, err := h.body(httptest.NewRecorder(), r, true)
			if err == nil && len(text) != n {
				t.Errorf("%d bytes of %d", len(text), n)
			}
			return err
		}
		first, over := context.WithCancel(t.Context())
		if err := send(first, room); err != nil {
			t.Fatal(err)
		}
		if err := send(t.Context(), shortBody); err != nil {
			t.Errorf("a short body beside a long one: %v", err)
		}
		begin := time.Now()
		if err := send(t.Context(), shortBody+1); fault.KindOf(err) != fault.Unavailable || time.Since(begin) != bodyPatience {
			t.Errorf("a second long body: %v after %s, want that there is no room after %s", err, time.Since(begin), bodyPatience)
		}
		over()
		synctest.Wait()
		if err := send(t.Context(), room); err != nil {
			t.Errorf("when the request is over: %v", err)
		}
	})
}

package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/internal/body"
	"mcpx/mcp"
)

// A client that sends long requests on many connections, or lets their calls go on, makes
// the next long one wait and no short one.
func TestHTTPLongBodiesShareTheRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		entered := make(chan string, 8)
		h := NewHTTP(HTTPOptions{Handler: testServer(entered), Hosts: []string{"here"}})
		const room = 4 * shortBody
		h.bodies = body.NewRoom(room, shortBody, bodyTimeout)
		free := func() bool {
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
			defer cancel()
			whole := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", room)))
			_, done, err := h.bodies.Read(ctx, httptest.NewRecorder(), whole, room)
			done()
			return err == nil
		}
		id := inside(h, http.MethodPost, opening).Header().Get(headerSession)
		long := func(tool string) string {
			return callLine("1", tool, `,"arguments":{"x":"`+strings.Repeat("x", room-1000)+`"}`)
		}
		post := func(text string) int {
			return inside(h, http.MethodPost, text, headerSession, id).Code
		}

		// One that is being sent takes the room of its length from the beginning.
		sent, rest := io.Pipe()
		slow := make(chan int)
		go func() {
			r := httptest.NewRequest(http.MethodPost, "http://here"+Path, sent)
			r.Header.Set("Content-Type", "application/json")
			r.ContentLength = room
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			slow <- w.Code
		}()
		_, _ = rest.Write(make([]byte, shortBody+1))
		if free() {
			t.Error("a long body takes no room")
		}
		if got := post(callLine("1", "echo", "")); got != http.StatusOK {
			t.Errorf("a short request beside it: %d", got)
		}
		begin := time.Now()
		if got := post(long("echo")); got != http.StatusServiceUnavailable || time.Since(begin) != bodyTimeout {
			t.Errorf("a long request beside it: %d after %s, want 503 after %s", got, time.Since(begin), bodyTimeout)
		}
		_ = rest.CloseWithError(io.ErrUnexpectedEOF)
		if got := <-slow; got != http.StatusBadRequest || !free() {
			t.Errorf("it broke off with %d, and its room is free: %t", got, free())
		}

		// One that is served has it until then, whether its client waits or not.
		if got := post(long("echo")); got != http.StatusOK || !free() {
			t.Errorf("a long request: %d, and its room is free: %t", got, free())
		}
		go post(long("wait"))
		<-entered
		if free() {
			t.Error("the room of a call that goes on is free")
		}
		inside(h, http.MethodDelete, "", headerSession, id)
		<-entered
		if !free() {
			t.Error("the room of a call that has ended is taken")
		}
		h.Close()
	})
}

// What is remembered of clients is short, however many there are.
func TestWhatIsKeptOfAClientIsShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxDeclared)
	l := connect(t, Of(newSpeaker()))
	if o := l.ask(strings.Replace(opening, `"elicitation":{}`, `"experimental":{"x":"`+long+`"}`, 1)); o.Error == nil || !strings.Contains(o.Error.Message, "more than a client can have") {
		t.Errorf("%d bytes of capabilities: %+v", len(long), o.Error)
	}
	if o := l.ask(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"` + long + `"}}`); o.Error == nil || o.Error.Code != mcp.CodeInvalidParams {
		t.Errorf("a subscription to a resource whose uri is long: %+v", o.Error)
	}
	for _, list := range []string{"resourceSubscriptions", "taskIds"} {
		if _, err := filter(mcp.Raw(`{"notifications":{"` + list + `":["` + long + `"]}}`)); err == nil {
			t.Errorf("a subscription to a name of %d bytes in %s is taken", len(long), list)
		}
	}
}

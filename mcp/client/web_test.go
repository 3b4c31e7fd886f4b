package client

import (
	"net/http"
	"testing"
	"time"
)

// TestIdleConnectionsAreGivenUpBeforeServersDo holds the client to less than the time after which
// Node, uvicorn and others close an idle connection.
func TestIdleConnectionsAreGivenUpBeforeServersDo(t *testing.T) {
	t.Parallel()
	w, err := newWeb(Endpoint{Name: "s", URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	transport, ok := w.client.Transport.(*http.Transport)
	if !ok || transport.IdleConnTimeout <= 0 || transport.IdleConnTimeout >= 5*time.Second {
		t.Errorf("idle connections are kept for %v, want less than 5 s", transport.IdleConnTimeout)
	}
	if transport.HTTP2 == nil || transport.HTTP2.SendPingTimeout <= 0 {
		t.Error("a dead HTTP/2 connection is not noticed")
	}
}

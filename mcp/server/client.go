package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"mcpx/mcp"
)

// maxHeld is how much one client may have the server listen to.
const maxHeld = 1000

// Client is whoever is at the other end of a connection. It is the same for all messages
// of one connection or session; a request that stands alone has one of its own.
type Client struct {
	conn *conn
	feed feed
	name func() string

	mu     sync.Mutex
	closed bool
	held   map[string]context.CancelFunc
	recent [32]*byte // log messages that it was told of
	next   int
	calls  int
}

func newClient(c *conn) *Client {
	cl := &Client{conn: c, held: map[string]context.CancelFunc{}, name: sync.OnceValue(rand.Text)}
	cl.feed.start = c.calls.Go
	cl.feed.send = func(m *mcp.Message) { _ = c.standing(m) } // who is gone misses it
	return cl
}

// close takes nothing more that is to be said. What is held ends with the context.
func (cl *Client) close() {
	cl.mu.Lock()
	cl.closed = true
	cl.mu.Unlock()
	cl.feed.close()
}

// ID is a text that no other client has, and that nobody can guess.
func (cl *Client) ID() string { return cl.name() }

// Tell sends a notification that belongs to no message, without waiting for the client. A
// modern client gets such only for what it listens to: there it does nothing.
func (cl *Client) Tell(method string, params mcp.Raw) {
	cl.feed.put("", &mcp.Message{Method: method, Params: params})
}

// tell sends what somebody listens for, without waiting for the client.
func (cl *Client) tell(method string, params mcp.Raw) {
	key := method + " " + string(mcp.Member(params, "uri"))
	if method == mcp.NotificationMessage {
		if !cl.conn.wants(textOf(mcp.Member(params, "level"))) || cl.isServing() || !cl.news(params) {
			return // or the calls under way tell it
		}
		key = ""
	}
	cl.feed.put(key, &mcp.Message{Method: method, Params: params})
}

// later runs f beside what is served, until the client is gone.
func (cl *Client) later(f func()) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if !cl.closed {
		cl.conn.calls.Go(f)
	}
}

var errHeld = errors.New("it is listened to already")

// hold calls start, whose work lasts until its context is done: when the client is gone, or
// drop is called with the same key. The error is that of start, or errHeld.
func (cl *Client) hold(key string, start func(ctx context.Context) error) error {
	ctx, err := cl.take(key)
	if err != nil {
		return err
	}
	if err := start(ctx); err != nil {
		cl.drop(key)
		return fmt.Errorf("listening: %w", err)
	}
	return nil
}

// take makes room for what is held under a key, and the context of it.
func (cl *Client) take(key string) (context.Context, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.held[key] != nil {
		return nil, errHeld
	}
	if len(cl.held) >= maxHeld {
		return nil, mcp.Errorf(mcp.CodeInvalidRequest, "there are %d subscriptions, and more are not taken", maxHeld)
	}
	ctx, cancel := context.WithCancel(cl.conn.ctx)
	cl.held[key] = cancel
	return ctx, nil
}

// drop ends what is held under a key, if anything is.
func (cl *Client) drop(key string) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cancel := cl.held[key]; cancel != nil {
		cancel()
		delete(cl.held, key)
	}
}

// serving counts the requests of the client that handlers serve.
func (cl *Client) serving(n int) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.calls += n
}

func (cl *Client) isServing() bool {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.calls > 0
}

// news reports whether a log message has not come yet. A server that does not say which
// call a message belongs to says it to all that are under way: the same bytes, not a copy.
func (cl *Client) news(params mcp.Raw) bool {
	if len(params) == 0 {
		return true
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	for _, at := range cl.recent {
		if at == &params[0] {
			return false
		}
	}
	cl.recent[cl.next] = &params[0] // which keeps it from being another message's
	cl.next = (cl.next + 1) % len(cl.recent)
	return true
}

package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

// peer is the server's end of a connection: the test writes whatever it likes.
type peer struct {
	in  *bufio.Reader
	mu  sync.Mutex
	out io.Writer
}

// read returns the next message, or nil when the client has closed its side.
func (p *peer) read() *mcp.Message {
	line, err := p.in.ReadBytes('\n')
	if err != nil {
		return nil
	}
	m, err := mcp.Split(line)
	if err != nil {
		panic(fmt.Sprintf("the client sent %q: %v", line, err))
	}
	return m
}

func (p *peer) write(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.out, format, args...)
}

func (p *peer) reply(m *mcp.Message, result string) {
	p.write(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
}

func (p *peer) refuse(m *mcp.Message, code int, message, data string) {
	if data == "" {
		data = "null"
	}
	p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q,"data":%s}}`+"\n", m.ID, code, message, data)
}

const modernDiscover = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":"be kind",` +
	`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"1"}},"ttlMs":0,"cacheScope":"public"}`

// legacy answers the way a plain legacy server does, and leaves what handle takes.
func (p *peer) legacy(handle func(m *mcp.Message) bool) {
	for m := p.read(); m != nil; m = p.read() {
		switch {
		case handle != nil && handle(m):
		case m.Kind() != mcp.Request:
		case m.Method == mcp.MethodInitialize:
			p.reply(m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`)
		default:
			p.refuse(m, mcp.CodeMethodNotFound, "Method not found", "")
		}
	}
}

// modern answers server/discover, and leaves what handle takes.
func (p *peer) modern(handle func(m *mcp.Message) bool) {
	for m := p.read(); m != nil; m = p.read() {
		switch {
		case handle != nil && handle(m):
		case m.Kind() != mcp.Request:
		case m.Method == mcp.MethodDiscover:
			p.reply(m, modernDiscover)
		default:
			p.refuse(m, mcp.CodeMethodNotFound, "Method not found", "")
		}
	}
}

// wire is a Transport to a peer in this process.
type wire struct {
	lines *lineReader
	out   *io.PipeWriter
	in    *io.PipeReader
	ended chan struct{}

	mu    sync.Mutex
	noise []string
}

// dial starts a server. It ends when the transport is closed.
func dial(server func(p *peer)) *wire {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	w := &wire{lines: newLineReader(toClient, 1<<20), out: fromClient, in: toClient, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		defer toServer.Close()
		defer fromServer.Close()
		server(&peer{in: bufio.NewReader(toServer), out: fromServer})
	}()
	return w
}

func (w *wire) Send(line []byte) error {
	_, err := w.out.Write(append(bytes.Clone(line), '\n'))
	return err
}

func (w *wire) Receive() ([]byte, error) { return w.lines.next() }

func (w *wire) Skip(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noise = append(w.noise, string(line))
}

func (w *wire) Close() error {
	_ = w.out.Close()
	_ = w.in.Close()
	<-w.ended
	return nil
}

// open connects to a server and closes the session at the end of the test.
func open(t *testing.T, o Options, server func(p *peer)) *Session {
	t.Helper()
	s, _ := openWire(t, o, server)
	return s
}

func openWire(t *testing.T, o Options, server func(p *peer)) (*Session, *wire) {
	t.Helper()
	o.Name = "stub"
	w := dial(server)
	s, err := Connect(t.Context(), w, o)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s, w
}

// ask makes a call that must succeed.
func ask(t *testing.T, s *Session, method, params string) string {
	t.Helper()
	var raw mcp.Raw
	if params != "" {
		raw = mcp.Raw(params)
	}
	result, err := s.Call(t.Context(), method, raw)
	if err != nil {
		t.Fatalf("Call(%s): %v", method, err)
	}
	return string(result)
}

// mayHaveRun returns that detail of the error of a connection that ended.
func mayHaveRun(t *testing.T, err error) bool {
	t.Helper()
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Unavailable {
		t.Fatalf("error = %v (%T), want one of kind unavailable", err, err)
	}
	ran, ok := e.Details["mayHaveRun"].(bool)
	if !ok {
		t.Fatalf("details of %q = %v, want mayHaveRun", err, e.Details)
	}
	return ran
}

// pending makes a call on another goroutine; its error comes on the channel.
func pending(ctx context.Context, s *Session, method string, params mcp.Raw) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := s.Call(ctx, method, params)
		done <- err
	}()
	return done
}

// Package demo is the MCP server that mcpx offers where none is configured, so that
// the first command works on a bare machine. It is a real server over standard
// streams, whose tools show one thing each: a result, an error, state, waiting,
// progress, an image, a question.
//
// Its tools and their answers are documented and relied on; they only ever grow.
package demo

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"mcpx/mcp"
	"mcpx/mcp/server"
)

const instructions = "A demonstration server built into mcpx. Start with echo; open and state show that a server keeps state between calls."

// Serve serves one client until in ends or ctx is done.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return server.Serve(ctx, in, out, New())
}

// New makes a demo server with a state of its own.
func New() *server.Server {
	var d demo
	tools := []tool{
		{
			name: "echo", title: "Echo", description: "Answers with the message it is given.",
			effect: reads,
			params: []param{{name: "message", kind: text, description: "What to answer", required: true}},
			run:    echo,
		},
		{
			name: "open", title: "Open a value", description: "Remembers a value for as long as the server runs. state tells what has been opened.",
			effect: adds,
			params: []param{{name: "value", kind: text, description: "The value to remember", required: true}},
			run:    d.open,
		},
		{
			name: "state", title: "State", description: "Tells the values opened since the server started, in their order.",
			effect: reads,
			output: mcp.Raw(`{"type":"object","properties":{"seen":{"type":"array","items":{"type":"string"}}},"required":["seen"]}`),
			run:    d.state,
		},
		{
			name: "structured", title: "Structured", description: "Answers with structured content.",
			effect: reads,
			output: mcp.Raw(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
			run:    structured,
		},
		{
			name: "slow", title: "Slow", description: "Answers after a while.",
			effect: reads,
			params: []param{{name: "ms", kind: integer, description: "How long to wait, in milliseconds", required: true, max: maxWait}},
			run:    slow,
		},
		{
			name: "boom", title: "Boom", description: "Always answers with an error.",
			effect: reads,
			run:    boom,
		},
		{
			name: "chatty", title: "Chatty", description: "Sends a progress and a log notification for each line before it answers.",
			effect: reads,
			params: []param{{name: "lines", kind: integer, description: "How many lines", required: true, max: maxLines}},
			run:    chatty,
		},
		{
			name: "fancy-name", title: "Fancy name", description: "Has a name that is no identifier.",
			effect: reads,
			run:    fancy,
		},
		{
			name: "wipe", title: "Wipe", description: "Forgets every value that was opened.",
			effect: destroys,
			run:    d.wipe,
		},
		{
			name: "image", title: "Image", description: "Answers with a small PNG image.",
			effect: reads,
			run:    image,
		},
		{
			name: "ask", title: "Ask", description: "Asks the user a question and answers with what they said.",
			effect: asks,
			params: []param{{name: "question", kind: text, description: "The question", required: true}},
			run:    ask,
		},
	}
	served := make([]server.Tool, len(tools))
	for i, t := range tools {
		served[i] = t.serve()
	}
	return server.New(server.Info{
		Name: "mcpx-demo", Title: "mcpx demo", Version: "1.0.0", Instructions: instructions, Logs: true,
	}, served...)
}

// demo is the state of one server.
type demo struct {
	mu   sync.Mutex
	seen []string
}

func echo(_ context.Context, _ *server.Call, a arguments) (mcp.Raw, error) {
	return server.Text(a.text("message")), nil
}

func (d *demo) open(_ context.Context, _ *server.Call, a arguments) (mcp.Raw, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = append(d.seen, a.text("value"))
	return server.Text("opened " + a.text("value")), nil
}

func (d *demo) state(context.Context, *server.Call, arguments) (mcp.Raw, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return server.Structured(map[string]any{"seen": append([]string{}, d.seen...)}), nil
}

func (d *demo) wipe(context.Context, *server.Call, arguments) (mcp.Raw, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.seen)
	d.seen = nil
	return server.Text(fmt.Sprintf("wiped %d", n)), nil
}

func structured(context.Context, *server.Call, arguments) (mcp.Raw, error) {
	return server.Structured(map[string]any{"n": 42}), nil
}

const (
	maxWait  = 10 * 60 * 1000 // ms
	maxLines = 10_000
)

func slow(ctx context.Context, _ *server.Call, a arguments) (mcp.Raw, error) {
	ms := a.integer("ms")
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return server.Text(fmt.Sprintf("waited %d ms", ms)), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func boom(context.Context, *server.Call, arguments) (mcp.Raw, error) {
	return server.Failure("boom: this tool always fails"), nil
}

func chatty(ctx context.Context, c *server.Call, a arguments) (mcp.Raw, error) {
	n := a.integer("lines")
	for i := 1; i <= n; i++ {
		line := fmt.Sprintf("line %d of %d", i, n)
		if err := c.Progress(ctx, float64(i), float64(n), line); err != nil {
			return nil, err
		}
		if err := c.Log(ctx, "info", "demo", line); err != nil {
			return nil, err
		}
	}
	return server.Text(fmt.Sprintf("said %d lines", n)), nil
}

func fancy(context.Context, *server.Call, arguments) (mcp.Raw, error) {
	return server.Text("fancy"), nil
}

// picture is a PNG of 16 by 16 pixels in two colours.
const picture = "" +
	"iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQMAAAAlPW0iAAAABlBMVEUbXpv/yD3Ex3kiAAAAJ0lEQVR42mKAggYG9g8M/D8Y5P9A" +
	"kf0/BJv/B0iWoYGBgQEQAAD//xw2DNxYrBkLAAAAAElFTkSuQmCC"

func image(context.Context, *server.Call, arguments) (mcp.Raw, error) {
	data, err := base64.StdEncoding.DecodeString(picture)
	if err != nil {
		return nil, err
	}
	return server.Image(data, "image/png"), nil
}

func ask(ctx context.Context, c *server.Call, a arguments) (mcp.Raw, error) {
	if !c.CanAsk() {
		return server.Failure("the question cannot be asked: this client does not offer elicitation"), nil
	}
	form := mcp.Raw(`{"type":"object","properties":{"answer":{"type":"string","description":"Your answer"}},"required":["answer"]}`)
	answer, err := c.Ask(ctx, a.text("question"), form)
	if err != nil {
		return nil, err
	}
	if answer.Action != "accept" {
		return server.Text("the question was not answered: " + answer.Action), nil
	}
	var content struct {
		Answer string `json:"answer"`
	}
	if err := json.Unmarshal(answer.Content, &content); err != nil {
		return nil, errors.New("the answer is not what was asked for: " + string(answer.Content))
	}
	return server.Text(content.Answer), nil
}

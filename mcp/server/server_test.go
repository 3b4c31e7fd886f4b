package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcpx/mcp"
)

// testServer has a tool for each thing that a call can do.
func testServer(entered chan<- string) *Server {
	tool := func(name string, call func(ctx context.Context, c *Call) (mcp.Raw, error)) Tool {
		return Tool{Definition: mcp.Raw(`{"name":"` + name + `","inputSchema":{"type":"object"}}`), Call: call}
	}
	return New(Info{Name: "test", Version: "1", Instructions: "be kind", Logs: true},
		tool("echo", func(_ context.Context, c *Call) (mcp.Raw, error) { return Text(string(c.Arguments)), nil }),
		tool("fail", func(context.Context, *Call) (mcp.Raw, error) { return nil, errors.New("it failed") }),
		tool("refuse", func(context.Context, *Call) (mcp.Raw, error) { return nil, mcp.Errorf(-5, "refused") }),
		tool("wait", func(ctx context.Context, _ *Call) (mcp.Raw, error) {
			entered <- "wait"
			<-ctx.Done()
			entered <- context.Cause(ctx).Error()
			return nil, context.Cause(ctx)
		}),
		tool("log", func(ctx context.Context, c *Call) (mcp.Raw, error) {
			for _, level := range []string{"debug", "warning"} {
				if err := c.Log(ctx, level, "test", level); err != nil {
					return nil, err
				}
			}
			return Text("logged"), c.Progress(ctx, 1, 0, "")
		}),
		tool("ask", func(ctx context.Context, c *Call) (mcp.Raw, error) {
			r, err := c.Request(ctx, mcp.MethodRootsList, nil)
			if err != nil {
				return nil, err
			}
			return Text(string(r)), nil
		}),
		tool("who", func(_ context.Context, c *Call) (mcp.Raw, error) {
			return Text(c.Era().String() + " " + c.Revision() + " " + string(c.Capabilities())), nil
		}),
	)
}

// peer is a client over pipes.
type peer struct {
	t       *testing.T
	in      *io.PipeWriter
	out     *bufio.Reader
	outR    *io.PipeReader
	entered chan string
	over    chan error
	stop    context.CancelFunc
}

func start(t *testing.T) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	p := &peer{t, inW, bufio.NewReader(outR), outR, make(chan string, 16), make(chan error, 1), stop}
	go func() { p.over <- Serve(ctx, inR, outW, testServer(p.entered)); outW.Close() }()
	t.Cleanup(func() { stop(); inW.Close(); outR.Close() })
	return p
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.in, line+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *peer) expect(parts ...string) {
	p.t.Helper()
	for _, part := range parts {
		line, err := p.out.ReadString('\n')
		if err != nil {
			p.t.Fatalf("waiting for %s: %v", part, err)
		}
		if !strings.Contains(line, part) {
			p.t.Errorf("got %s, want %s in it", line, part)
		}
	}
}

func callLine(id, tool, rest string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `"` + rest + `}}`
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, send, want string }{
		{"newest legacy", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, `{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"logging":{},"tools":{}},"instructions":"be kind","protocolVersion":"2025-11-25","serverInfo":{"name":"test","version":"1"}}}`},
		{"oldest legacy", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`, `"protocolVersion":"2024-11-05"`},
		{"modern by initialize", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2026-07-28"}}`, `"protocolVersion":"2025-11-25"`},
		{"unknown revision", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}`, `"protocolVersion":"2025-11-25"`},
		{"no revision", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, `"protocolVersion":"2025-11-25"`},
		{"discover", `{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{` + modernMeta + `}}`, `{"jsonrpc":"2.0","id":"d","result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}},"cacheScope":"public","capabilities":{"logging":{},"tools":{}},"instructions":"be kind","resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":3600000}}`},
		{"discover without revision", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, `"supportedVersions":["2026-07-28"]`},
		{"unknown modern revision", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01"}}}`, `{"code":-32022,"message":"unsupported protocol version: \"2030-01-01\"","data":{"requested":"2030-01-01","supported":["2026-07-28"]}}`},
		{"revision that is no text", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}`, `-32022`},
		{"ping", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `"result":{}`},
		{"modern ping", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + modernMeta + `}}`, `-32601`},
		{"legacy list", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}},`},
		{"modern list", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`, `],"ttlMs":3600000,"cacheScope":"public","resultType":"complete"}`},
		{"foreign cursor", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`, `{"code":-32602,"message":"invalid cursor: \"x\""}`},
		{"null cursor", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null}}`, `"tools":[`},
		{"legacy call", callLine("1", "echo", `,"arguments":{"a":1.0}`), `"result":{"content":[{"text":"{\"a\":1.0}","type":"text"}]}`},
		{"modern call", callLine("1", "echo", `,`+modernMeta), `"result":{"content":[{"text":"{}","type":"text"}],"resultType":"complete"}`},
		{"null arguments", callLine("1", "echo", `,"arguments":null`), `"text":"{}"`},
		{"arguments that are no object", callLine("1", "echo", `,"arguments":7`), `{"code":-32602,"message":"the arguments of echo are not an object: 7"}`},
		{"tool that fails", callLine("1", "fail", ``), `"result":{"content":[{"text":"it failed","type":"text"}],"isError":true}`},
		{"tool that refuses", callLine("1", "refuse", ``), `"error":{"code":-5,"message":"refused"}`},
		{"unknown tool", callLine("1", "nope", ``), `{"code":-32602,"message":"unknown tool: nope"}`},
		{"no tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{"code":-32602,"message":"tools/call needs the name of a tool"}`},
		{"legacy caller", callLine("1", "who", ``), `legacy 2025-11-25 `},
		{"modern caller", callLine("1", "who", `,`+modernMeta), `modern 2026-07-28 {\"roots\":{}}`},
		{"modern caller is asked by the result", callLine("1", "ask", `,`+modernMeta), `{"inputRequests":{"question-1":{"method":"roots/list"}},"requestState":"mcpx-parked.`},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"nope"}`, `{"code":-32601,"message":"method not found: nope"}`},
		{"unknown level", `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}`, `{"code":-32602,"message":"unknown log level: \"loud\""}`},
		{"malformed", `{"jsonrpc":`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}`},
		{"no message", `{"a":1}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC message"}}`},
		{"id that is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the id of a request is a text or a number"}}`},
		{"id that is a truth value", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600`},
		{"id below zero", `{"jsonrpc":"2.0","id":-1,"method":"ping"}`, `{"jsonrpc":"2.0","id":-1,"result":{}}`},
		{"id that is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"result":{}}`},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"}]`, `[{"jsonrpc":"2.0","id":1,"result":{}}]`},
		{"batch with what is no message", `[{"jsonrpc":"2.0","method":"notifications/initialized"},{"id":7,"method":"ping"}]`, `[{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"not a JSON-RPC message"}}]`},
		{"request that does not say jsonrpc", `{"id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"not a JSON-RPC message"}}`},
		{"after blank lines", "\n  \r\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r", `"result":{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			p.send(tt.send)
			p.expect(tt.want)
		})
	}
}

func TestRevisionAndCapabilitiesLast(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"sampling":{}}}}`,
		callLine("2", "who", ``))
	p.expect(`"2025-03-26"`, `legacy 2025-03-26 {\"sampling\":{}}`)
}

func TestCallsRunConcurrently(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send(callLine("1", "wait", ``), callLine("2", "wait", ``))
	<-p.entered
	<-p.entered
	p.send(callLine("3", "echo", ``))
	p.expect(`"id":3`)
}

func TestCancelledCallIsNotAnswered(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send(callLine("7", "wait", ``))
	<-p.entered
	// The same id, spelled as some clients do.
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}}`)
	if got, want := <-p.entered, "cancelled by the client"; got != want {
		t.Errorf("the call ended because %q, want %q", got, want)
	}
	p.send(callLine("8", "echo", ``))
	p.expect(`"id":8`)
}

func TestIDInUseIsRefused(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send(callLine("7", "wait", ``))
	<-p.entered
	p.send(callLine("7", "echo", ``))
	p.expect(`{"code":-32600,"message":"a request with the id 7 is being served"}`)
}

func TestLogAndProgress(t *testing.T) {
	t.Parallel()
	const setWarning = `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"warning"}}`
	for _, tt := range []struct {
		name string
		send []string
		want []string
	}{
		{"legacy client that says nothing", []string{callLine("2", "log", ``)}, []string{`"debug"`, `"warning"`, `"id":2`}},
		{"legacy client with a level", []string{setWarning, callLine("2", "log", ``)}, []string{`"id":1,"result":{}`, `{"data":"warning","level":"warning","logger":"test"}`, `"id":2`}},
		{"modern client that says nothing", []string{callLine("2", "log", `,`+modernMeta)}, []string{`"id":2`}},
		{"modern client with a level", []string{callLine("2", "log", `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/logLevel":"warning"}`)}, []string{`"warning"`, `"id":2`}},
		{"progress", []string{callLine("2", "log", `,"_meta":{"progressToken":9}`)}, []string{`"debug"`, `"warning"`, `"method":"notifications/progress","params":{"progress":1,"progressToken":9}`, `"id":2`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			p.send(tt.send[0])
			if len(tt.send) > 1 {
				p.expect(tt.want[0])
				tt.want = tt.want[1:]
				p.send(tt.send[1:]...)
			}
			p.expect(tt.want...)
		})
	}
}

func TestServerAsksTheClient(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send(callLine("1", "ask", ``))
	p.expect(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	p.send(`{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","id":"1","result":{"roots":[]}}`)
	p.expect(`{\"roots\":[]}`)

	p.send(callLine("2", "ask", ``))
	p.expect(`"id":2,"method":"roots/list"`)
	p.send(`{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no roots"}}`)
	p.expect(`"error":{"code":-1,"message":"no roots"}`)

	p.send(callLine("3", "ask", ``))
	p.expect(`"id":3,"method":"roots/list"`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	p.expect(`"method":"notifications/cancelled","params":{"requestId":3}`)
}

func TestEndOfInputEndsCalls(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send(callLine("1", "wait", ``))
	<-p.entered
	p.in.Close()
	if got, want := <-p.entered, "the client is gone"; got != want {
		t.Errorf("the call ended because %q, want %q", got, want)
	}
	if err := <-p.over; err != nil {
		t.Errorf("Serve = %v, want nil", err)
	}
	if rest, _ := io.ReadAll(p.out); len(rest) > 0 {
		t.Errorf("the server still said %s", rest)
	}
}

func TestQuickCallsAreAnsweredAfterTheEndOfInput(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	in := callLine("1", "echo", ``) + "\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}` // the last line has no end
	if err := Serve(context.Background(), strings.NewReader(in), &out, testServer(nil)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{`"id":1`, `"id":2`} {
		if !strings.Contains(out.String(), id) {
			t.Errorf("%s was not answered: %s", id, &out)
		}
	}
}

func TestContextEndsServe(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send(callLine("1", "wait", ``))
	<-p.entered
	p.stop()
	if err := <-p.over; !errors.Is(err, context.Canceled) {
		t.Errorf("Serve = %v, want context.Canceled", err)
	}
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error)  { return 0, b.err }
func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestBrokenStreamsEndServe(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk on fire")
	err := Serve(context.Background(), broken{cause}, io.Discard, testServer(nil))
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "reading from the client") {
		t.Errorf("Serve with a broken reader = %v", err)
	}
	r, w := io.Pipe()
	go func() { _, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n") }()
	err = Serve(context.Background(), r, broken{cause}, testServer(nil))
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "writing to the client") {
		t.Errorf("Serve with a broken writer = %v", err)
	}
}

func TestReadLine(t *testing.T) {
	t.Parallel()
	r := bufio.NewReaderSize(strings.NewReader("short\n"+strings.Repeat("x", 100)+"\r\nafter\nlast"), 16)
	for _, want := range []struct {
		text string
		err  error
	}{{"short", nil}, {"", errTooLong}, {"after", nil}, {"last", nil}, {"", io.EOF}} {
		text, err := readLine(r, 50)
		if string(text) != want.text || !errors.Is(err, want.err) {
			t.Errorf("readLine = %q, %v, want %q, %v", text, err, want.text, want.err)
		}
	}
}

func TestServeLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		inR, inW := io.Pipe()
		ctx, stop := context.WithCancel(context.Background())
		entered := make(chan string, 2)
		over := make(chan error, 1)
		go func() { over <- Serve(ctx, inR, io.Discard, testServer(entered)) }()
		_, _ = io.WriteString(inW, callLine("1", "wait", ``)+"\n")
		<-entered
		stop()
		<-over
	}
	deadline := time.Now().Add(time.Minute)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

// FuzzServe sends a client's bytes to a server: every request of them has at most one
// answer, the answers are messages, and Serve ends.
func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}` + "\n" + callLine("2", "echo", ``)))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{},[]]`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":{"a":1},"method":"tools/call","params":{"name":"log","_meta":{"progressToken":1}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	f.Add([]byte("\xff\x00{\n\r\n[]"))
	f.Add([]byte(callLine("1", "ask", `,`+modernMeta)))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if err := Serve(context.Background(), bytes.NewReader(in), &out, testServer(make(chan string, len(in)))); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) {
				t.Errorf("sent %q", line)
			} else if _, _, err := mcp.SplitBatch(line); err != nil {
				t.Errorf("sent %s: %v", line, err)
			}
		}
	})
}

//go:build unix

package suite

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpx/internal/api"
	"mcpx/internal/catalog"
	"mcpx/internal/config"
	"mcpx/internal/gateway"
	"mcpx/internal/settings"
	"mcpx/mcp"
	"mcpx/mcp/client"
	"mcpx/mcp/mcptest"
	"mcpx/mcp/server"
	"mcpx/pool"
)

// BenchmarkPeers calls a tool that answers with its message, by mcpx and by the official
// Go SDK, in one run: both ends of a connection in memory; a client of a server process
// over standard streams, the same process for both; and the gateway in front of that, which
// also finds the tool by its name and looks at the arguments and the result. 32 is as many
// calls under way at once.
func BenchmarkPeers(b *testing.B) {
	for _, way := range []struct {
		name string
		open func(b *testing.B) func(context.Context) (string, error)
	}{
		{"memory/mcpx", oursInMemory},
		{"memory/sdk", theirsInMemory},
		{"stdio/mcpx", oursOverStdio},
		{"stdio/sdk", theirsOverStdio},
		{"gateway/mcpx", oursThroughGateway},
	} {
		b.Run(way.name, func(b *testing.B) {
			call := way.open(b)
			b.ReportAllocs()
			for b.Loop() {
				judge(b, call)
			}
		})
		b.Run(way.name+"/32", func(b *testing.B) {
			call := way.open(b)
			b.ReportAllocs()
			b.ResetTimer()
			left := make(chan struct{}, b.N)
			for range b.N {
				left <- struct{}{}
			}
			close(left)
			var wg sync.WaitGroup
			for range 32 {
				wg.Go(func() {
					for range left {
						judge(b, call)
					}
				})
			}
			wg.Wait()
		})
	}
}

func judge(b *testing.B, call func(context.Context) (string, error)) {
	if got, err := call(b.Context()); err != nil || got != "hello" {
		b.Errorf("answered %q, %v, want hello", got, err)
	}
}

const echoSchema = `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`

// pipes is a transport of package client over two pipes.
type pipes struct {
	in  *bufio.Reader
	out io.WriteCloser
	end func()
}

func (p *pipes) Send(line []byte) error {
	_, err := p.out.Write(append(line, '\n'))
	return err
}

func (p *pipes) Receive() ([]byte, error) { return p.in.ReadBytes('\n') }

func (p *pipes) Close() error {
	p.end()
	return nil
}

// oursInMemory connects package client to package server.
func oursInMemory(b *testing.B) func(context.Context) (string, error) {
	h := server.New(server.Info{Name: "echo", Version: "1"}, server.Tool{
		Definition: mcp.Raw(`{"name":"echo","inputSchema":` + echoSchema + `}`),
		Call: func(_ context.Context, c *server.Call) (mcp.Raw, error) {
			return mcp.Raw(`{"content":[{"type":"text","text":` + string(mcp.Member(c.Arguments, "message")) + `}]}`), nil
		},
	})
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- server.Serve(ctx, inR, outW, h) }()
	t := &pipes{in: bufio.NewReader(outR), out: inW, end: func() { inW.Close(); outR.Close(); inR.Close() }}
	b.Cleanup(func() { stop(); t.end(); <-over })
	return oursOver(b, t)
}

func oursOver(b *testing.B, t client.Transport) func(context.Context) (string, error) {
	session, err := client.Connect(b.Context(), t, client.Options{Name: "echo", Version: "1", Era: mcp.Legacy})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { session.Close() })
	return func(ctx context.Context) (string, error) {
		raw, err := session.Call(ctx, mcp.MethodToolsCall, mcp.Raw(`{"name":"echo","arguments":{"message":"hello"}}`))
		if err != nil {
			return "", err
		}
		result, err := mcp.DecodeResult(raw)
		if err != nil {
			return "", err
		}
		return result.Text(), nil
	}
}

type echoArguments struct {
	Message string `json:"message"`
}

// theirsInMemory connects the SDK's client to the SDK's server.
func theirsInMemory(b *testing.B) func(context.Context) (string, error) {
	s := sdk.NewServer(&sdk.Implementation{Name: "echo", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, in echoArguments) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Message}}}, nil, nil
	})
	here, there := sdk.NewInMemoryTransports()
	session, err := s.Connect(b.Context(), there, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { session.Close() })
	return theirsOver(b, here)
}

func theirsOver(b *testing.B, t sdk.Transport) func(context.Context) (string, error) {
	c := sdk.NewClient(&sdk.Implementation{Name: "peer", Version: "1"}, nil)
	session, err := c.Connect(b.Context(), t, &sdk.ClientSessionOptions{ProtocolVersion: mcp.Revision20251125})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { session.Close() })
	return func(ctx context.Context) (string, error) {
		result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"message": "hello"}})
		if err != nil {
			return "", err
		}
		text, _ := result.Content[0].(*sdk.TextContent)
		return text.Text, nil
	}
}

func oursOverStdio(b *testing.B) func(context.Context) (string, error) {
	cmd := mcptest.Command(mcptest.Script{})
	child, err := client.StartCommand(b.Context(), client.Command{Name: "echo", Path: cmd.Path, Args: cmd.Args, Env: append(os.Environ(), cmd.Env...)})
	if err != nil {
		b.Fatal(err)
	}
	return oursOver(b, child)
}

func theirsOverStdio(b *testing.B) func(context.Context) (string, error) {
	script := mcptest.Command(mcptest.Script{})
	cmd := exec.Command(script.Path, script.Args...)
	cmd.Env = append(os.Environ(), script.Env...)
	return theirsOver(b, &sdk.CommandTransport{Command: cmd})
}

func oursThroughGateway(b *testing.B) func(context.Context) (string, error) {
	cmd := mcptest.Command(mcptest.Script{})
	entry := &config.Server{Name: "s", Transport: "stdio", Command: cmd.Path, Args: cmd.Args, Env: map[string]string{}}
	for _, kv := range cmd.Env {
		name, value, _ := strings.Cut(kv, "=")
		entry.Env[name] = strings.ReplaceAll(value, "$", "$$")
	}
	set := &settings.Set{}
	if err := set.ApplyFlag("policy-write", "allow"); err != nil {
		b.Fatal(err)
	}
	g := gateway.New(gateway.Options{
		Config:   &config.Config{Servers: []*config.Server{entry}},
		Env:      config.Env{Dir: b.TempDir()},
		Settings: set,
		Pool:     pool.New(pool.Options{Settings: set, Environ: os.Environ()}),
		Catalog:  catalog.Open(b.TempDir()),
	})
	b.Cleanup(g.Close)
	in := api.CallInput{Server: "s", Tool: "echo", Arguments: json.RawMessage(`{"message":"hello"}`)}
	if _, err := g.Call(b.Context(), in); err != nil {
		b.Fatal(err)
	}
	return func(ctx context.Context) (string, error) {
		out, err := g.Call(ctx, in)
		if err != nil {
			return "", err
		}
		return out.Text, nil
	}
}

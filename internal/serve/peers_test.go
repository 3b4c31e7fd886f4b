package serve

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpx/internal/api"
	"mcpx/mcp"
	"mcpx/mcp/mcptest"
	"mcpx/mcp/server"
)

// TestGoSDKClient lets the client of the official SDK find and call tools, in every
// revision that it speaks, over both transports, in every mode.
func TestGoSDKClient(t *testing.T) {
	t.Parallel()
	g := open(t, entry("s", mcptest.Script{}))
	handlers := map[string]server.Handler{
		Full:        offer(t, Options{Mode: Full, Gateway: g}),
		Passthrough: offer(t, Options{Mode: Passthrough, Gateway: g}),
		Code: offer(t, Options{
			Mode: Code, Gateway: g, Longest: time.Minute,
			Runner: runs(func(_ context.Context, in api.ExecInput, s api.Streams) (*api.ExecOutput, error) {
				s.Progress(api.Progress{Done: 1, Message: "half way"})
				return &api.ExecOutput{Value: json.RawMessage(`"ran ` + in.Code + `"`)}, nil
			}),
		}),
	}
	for mode, h := range handlers {
		for _, revision := range append(mcp.LegacyRevisions(), mcp.ModernRevisions()...) {
			for transport, connect := range map[string]func(*testing.T, server.Handler) sdk.Transport{"http": overHTTP, "stdio": overPipes} {
				if transport == "http" && revision == mcp.Revision20241105 {
					continue // it had HTTP with SSE instead
				}
				t.Run(mode+" "+revision+" "+transport, func(t *testing.T) {
					t.Parallel()
					talk(t, mode, revision, connect(t, h))
				})
			}
		}
	}
}

func talk(t *testing.T, mode, revision string, transport sdk.Transport) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	progress := make(chan string, 8)
	c := sdk.NewClient(&sdk.Implementation{Name: "peer", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			progress <- r.Params.Message
		},
	})
	session, err := c.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	defer session.Close()
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		t.Errorf("they speak %s, want %s", got, revision)
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatalf("ListTools: %v", err)
	}
	name, arguments, want := "echo", map[string]any{"message": "hi"}, "hi"
	switch mode {
	case Full:
		name = "s__echo"
	case Code:
		name, arguments, want = "mcpx_exec", map[string]any{"code": "1"}, "ran 1"
	}
	found := false
	for _, tool := range tools.Tools {
		found = found || tool.Name == name
	}
	if !found {
		t.Errorf("%s is not among the %d tools", name, len(tools.Tools))
	}
	params := &sdk.CallToolParams{Name: name, Arguments: arguments}
	params.SetProgressToken("p")
	result, err := session.CallTool(ctx, params)
	if err != nil {
		t.Fatalf("CallTool: %v", err)
	}
	text, ok := result.Content[0].(*sdk.TextContent)
	if !ok || text.Text != want || result.IsError {
		t.Errorf("CallTool: %+v, %+v", result, result.Content[0])
	}
	if mode == Code {
		select {
		case got := <-progress:
			if got != "half way" {
				t.Errorf("progress: %s", got)
			}
		case <-ctx.Done():
			t.Error("no progress")
		}
	}
	if _, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "nope"}); err == nil || !strings.Contains(err.Error(), "nope") {
		t.Errorf("a tool that is none: %v", err)
	}
}

func overHTTP(t *testing.T, h server.Handler) sdk.Transport {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const token = "a-token-for-this-test"
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- server.ServeHTTP(ctx, l, server.HTTPOptions{Handler: h, Token: token}) }()
	t.Cleanup(func() { stop(); <-over })
	return &sdk.StreamableClientTransport{
		Endpoint:   "http://" + l.Addr().String() + server.Path,
		HTTPClient: &http.Client{Transport: bearer(token)},
	}
}

// bearer adds a token to every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func overPipes(t *testing.T, h server.Handler) sdk.Transport {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- server.Serve(ctx, inR, outW, h); outW.Close() }()
	t.Cleanup(func() { stop(); outR.Close(); <-over })
	return &sdk.IOTransport{Reader: outR, Writer: inW}
}

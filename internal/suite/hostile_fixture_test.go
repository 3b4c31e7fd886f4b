//go:build unix

package suite

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"mcpx/mcp"
	"mcpx/mcp/server"
)

// secret is a word that no script may get hold of.
const secret = "PROBE-SECRET"

// fixture is the world that hostile scripts are let loose in.
type fixture struct {
	dir                 string
	http, other, daemon string // addresses of servers
	own                 netip.AddrPort
	resolver            *net.Resolver
	queries             atomic.Int32 // names that were asked of DNS
	forbidden           atomic.Int32 // requests that nobody may make
	environ             []string
}

// victims are files that no script may change, with what is in them.
var victims = map[string]string{"secret.txt": secret, "victim1": "KEEP", "victim2": "KEEP"}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{dir: dir}
	f.makeFiles(t)
	f.serveHTTP(t)
	f.serveNames(t)
	f.swap(t)
	f.environ = []string{
		"PATH=/usr/bin:/bin", "MCPX_DAEMON_INLINE=always", "HOME=" + dir, "PROBE_ALLOWED=1", "PROBE_TOKEN=" + secret,
	}
	return f
}

func (f *fixture) makeFiles(t *testing.T) {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(f.dir, name) }
	for _, name := range []string{"root/sub", "root/swap", "rootsecret", "wroot", "swapout", "probe"} {
		ok(os.MkdirAll(at(name), 0o755))
	}
	files := map[string]string{
		"secret.json":  `{"secret":"` + secret + `"}`,
		"map.json":     `{"version":3,"sources":["LEAKED_FROM_MAP.ts"],"names":[],"mappings":"AAAAA"}`,
		"rootsecret/x": secret, "swapout/f": secret, "root/swap/f": "OK", "root/ok.txt": "OK",
		"root/echo": "#!/bin/sh\n", "wroot/seed.txt": "seed",
	}
	maps.Copy(files, victims)
	for name, text := range files {
		ok(os.WriteFile(at(name), []byte(text), 0o644))
	}
	ok(os.Chmod(at("root/echo"), 0o755))
	for name, to := range map[string]string{
		"root/link_rel": "../secret.txt", "root/link_abs": at("secret.txt"), "root/link_up": "..", "root/link_proc": "/proc/self",
		"root/loop": "loop", "root/swaplink": "../swapout", "wroot/link_out": "../victim1", "wroot/dir_out": "..",
	} {
		ok(os.Symlink(to, at(name)))
	}
	ok(os.Link(at("victim2"), at("wroot/hard_out")))
	ok(syscall.Mkfifo(at("root/fifo"), 0o644))
	sparse, err := os.Create(at("root/sparse8g"))
	ok(err)
	ok(sparse.Truncate(8 << 30))
	ok(sparse.Close())
}

// swap lets a folder and a link out of the grants change places all the time.
func (f *fixture) swap(t *testing.T) {
	t.Helper()
	at := func(name string) string { return filepath.Join(f.dir, "root", name) }
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			default:
			}
			_ = os.Rename(at("swap"), at("swapdir"))
			_ = os.Rename(at("swaplink"), at("swap"))
			_ = os.Rename(at("swap"), at("swaplink"))
			_ = os.Rename(at("swapdir"), at("swap"))
			time.Sleep(20 * time.Microsecond)
		}
	}()
	t.Cleanup(func() { close(quit); <-done })
}

func (f *fixture) serveHTTP(t *testing.T) {
	t.Helper()
	mux := http.NewServeMux()
	say := func(path, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
	say("/ok", "OK")
	mux.HandleFunc("/forbidden", func(w http.ResponseWriter, _ *http.Request) {
		f.forbidden.Add(1)
		_, _ = io.WriteString(w, secret)
	})
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) {
		to := r.URL.Query().Get("to")
		if to == "/redirect" {
			to = "/redirect?to=/redirect"
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for b := bytes.Repeat([]byte("e"), 64<<10); ; {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/gzipbomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for b := make([]byte, 1<<20); ; {
			if _, err := z.Write(b); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		for {
			_, _ = io.WriteString(w, ".")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
	mux.HandleFunc("/headers", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, r.Host)
		_ = r.Header.Write(w)
	})
	serve := func(h http.Handler) *httptest.Server {
		s := httptest.NewServer(h)
		t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
		return s
	}
	trap := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		f.forbidden.Add(1)
		_, _ = io.WriteString(w, secret)
	})
	f.http, f.other = serve(mux).URL, serve(mux).URL
	daemon := serve(trap)
	f.daemon = daemon.URL
	f.own = netip.MustParseAddrPort(daemon.Listener.Addr().String())
	proxy := serve(trap).URL
	for _, name := range []string{"HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, proxy)
	}
}

// serveNames answers every name with 127.0.0.1, but rebind.test once with an address
// that is public and never answers.
func (f *fixture) serveNames(t *testing.T) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		asked := 0
		for b := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) == 0 {
				continue
			}
			f.queries.Add(1)
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				address := [4]byte{127, 0, 0, 1}
				if strings.HasPrefix(q.Name.String(), "rebind.") {
					if asked++; asked == 1 {
						address = [4]byte{192, 0, 2, 1}
					}
				}
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type},
					Body:   &dnsmessage.AResource{A: address},
				}}
			}
			if answer, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	f.resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// trace is where the probe server notes that a tool ran.
func (f *fixture) trace(tool string) string { return filepath.Join(f.dir, "probe", tool) }

// ran reports whether a tool that leaves a trace has run since it was last asked.
func (f *fixture) ran(tool string) bool {
	err := os.Remove(f.trace(tool))
	return !errors.Is(err, os.ErrNotExist)
}

// probeCommand makes a process the MCP server whose tools hostile scripts find.
const probeCommand = "probe-server"

// serveProbe is that server. dir is where it leaves traces.
func serveProbe(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	tool := func(name string, writes bool, call func(ctx context.Context, args json.RawMessage) (mcp.Raw, error)) server.Tool {
		definition, _ := json.Marshal(map[string]any{
			"name": name, "inputSchema": map[string]any{"type": "object"}, "annotations": map[string]any{"readOnlyHint": !writes},
		})
		return server.Tool{Definition: definition, Call: func(ctx context.Context, c *server.Call) (mcp.Raw, error) { return call(ctx, c.Arguments) }}
	}
	says := func(text string) func(context.Context, json.RawMessage) (mcp.Raw, error) {
		return func(context.Context, json.RawMessage) (mcp.Raw, error) { return server.Text(text), nil }
	}
	leaves := func(name string) func(context.Context, json.RawMessage) (mcp.Raw, error) {
		return func(context.Context, json.RawMessage) (mcp.Raw, error) {
			return server.Text("done"), os.WriteFile(filepath.Join(dir, name), nil, 0o600)
		}
	}
	s := server.New(server.Info{Name: "probe", Version: "1"},
		tool("echo", false, func(_ context.Context, args json.RawMessage) (mcp.Raw, error) { return server.Text(string(args)), nil }),
		tool("slow", false, func(ctx context.Context, args json.RawMessage) (mcp.Raw, error) {
			var in struct{ MS int }
			_ = json.Unmarshal(args, &in)
			select {
			case <-time.After(time.Duration(in.MS) * time.Millisecond):
			case <-ctx.Done():
			}
			return server.Text(`{"slept":true}`), nil
		}),
		tool("big", false, func(_ context.Context, args json.RawMessage) (mcp.Raw, error) {
			var in struct{ KiB int }
			_ = json.Unmarshal(args, &in)
			return server.Text(strings.Repeat("b", in.KiB<<10)), nil
		}),
		tool("proto", false, says(`{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"a":1}`)),
		tool("thenable", false, says(`{"then":"function(r){r(1)}"}`)),
		tool("ansi", false, says("{\"text\":\"\\u001b[2Jcleared\\u001b]0;title\\u0007\\u202e\\r\"}")),
		tool("fail", false, func(context.Context, json.RawMessage) (mcp.Raw, error) {
			return server.Failure("probe.fail failed"), nil
		}),
		tool("write", true, leaves("write")),
		tool("mark", true, leaves("mark")),
	)
	if err := server.Serve(ctx, os.Stdin, os.Stdout, s); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

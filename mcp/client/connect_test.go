package client

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

func TestConnectSettlesOnARevision(t *testing.T) {
	t.Parallel()
	versions := func(accepted string, refuse func(p *peer, m *mcp.Message)) func(p *peer) {
		return func(p *peer) {
			p.legacy(func(m *mcp.Message) bool {
				if m.Method != mcp.MethodInitialize {
					return false
				}
				if asked := text(mcp.Member(m.Params, "protocolVersion")); asked != accepted {
					refuse(p, m)
				} else {
					p.reply(m, `{"protocolVersion":"`+asked+`","capabilities":{}}`)
				}
				return true
			})
		}
	}
	tests := []struct {
		name     string
		o        Options
		server   func(p *peer)
		era      mcp.Era
		revision string
	}{
		{"modern", Options{}, func(p *peer) { p.modern(nil) }, mcp.Modern, "2026-07-28"},
		{"modern, remembered", Options{Era: mcp.Modern}, func(p *peer) { p.modern(nil) }, mcp.Modern, "2026-07-28"},
		{"legacy", Options{}, func(p *peer) { p.legacy(nil) }, mcp.Legacy, "2025-11-25"},
		{"legacy, remembered", Options{Era: mcp.Legacy}, func(p *peer) { p.legacy(nil) }, mcp.Legacy, "2025-11-25"},
		{"legacy once, modern now", Options{Era: mcp.Legacy}, func(p *peer) { p.modern(nil) }, mcp.Modern, "2026-07-28"},
		{"an empty answer to everything is no modern server", Options{}, func(p *peer) {
			for m := p.read(); m != nil; m = p.read() {
				if m.Kind() == mcp.Request {
					p.reply(m, `{}`)
				}
			}
		}, mcp.Legacy, "2025-11-25"},
		{"discover names no revision of ours", Options{}, func(p *peer) {
			p.legacy(func(m *mcp.Message) bool {
				if m.Method == mcp.MethodDiscover {
					p.reply(m, `{"supportedVersions":["2031-01-01"]}`)
				}
				return m.Method == mcp.MethodDiscover
			})
		}, mcp.Legacy, "2025-11-25"},
		{"discover refused with older revisions", Options{}, func(p *peer) {
			p.legacy(func(m *mcp.Message) bool {
				if m.Method == mcp.MethodDiscover {
					p.refuse(m, mcp.CodeUnsupportedVersion, "Unsupported protocol version", `{"supported":["2025-06-18"],"requested":"2026-07-28"}`)
				}
				return m.Method == mcp.MethodDiscover
			})
		}, mcp.Legacy, "2025-11-25"},
		{"discover never answered", Options{}, func(p *peer) {
			p.legacy(func(m *mcp.Message) bool { return m.Method == mcp.MethodDiscover })
		}, mcp.Legacy, "2025-11-25"},
		{"modern server that starts slowly and refuses initialize", Options{}, func(p *peer) {
			time.Sleep(10 * time.Second)
			p.modern(nil)
		}, mcp.Modern, "2026-07-28"},
		{"modern server that starts slowly and ignores initialize", Options{}, func(p *peer) {
			time.Sleep(10 * time.Second)
			p.modern(func(m *mcp.Message) bool { return m.Method == mcp.MethodInitialize })
		}, mcp.Modern, "2026-07-28"},
		{"server of both eras that starts slowly", Options{}, func(p *peer) {
			time.Sleep(10 * time.Second)
			p.legacy(func(m *mcp.Message) bool {
				if m.Method == mcp.MethodDiscover {
					p.reply(m, modernDiscover)
				}
				return m.Method == mcp.MethodDiscover
			})
		}, mcp.Legacy, "2025-11-25"},
		{"older answer", Options{}, func(p *peer) {
			p.legacy(func(m *mcp.Message) bool {
				if m.Method == mcp.MethodInitialize {
					p.reply(m, `{"protocolVersion":"2024-11-05","capabilities":{}}`)
				}
				return m.Method == mcp.MethodInitialize
			})
		}, mcp.Legacy, "2024-11-05"},
		{"refused with a list", Options{}, versions("2024-11-05", func(p *peer, m *mcp.Message) {
			p.refuse(m, mcp.CodeInvalidParams, "Unsupported protocol version", `{"supported":["2024-11-05"],"requested":"2025-11-25"}`)
		}), mcp.Legacy, "2024-11-05"},
		{"refused with a list in the text", Options{}, versions("2025-03-26", func(p *peer, m *mcp.Message) {
			p.refuse(m, mcp.CodeInvalidParams, "Bad version, want 2025-03-26", "")
		}), mcp.Legacy, "2025-03-26"},
		{"refused without a list", Options{}, versions("2024-11-05", func(p *peer, m *mcp.Message) {
			p.refuse(m, mcp.CodeInternalError, "protocolVersion mismatch", "")
		}), mcp.Legacy, "2024-11-05"},
		{"null for everything", Options{}, func(p *peer) {
			p.legacy(func(m *mcp.Message) bool {
				if m.Method == mcp.MethodInitialize {
					p.reply(m, `{"protocolVersion":null,"capabilities":null,"serverInfo":null,"instructions":null,"extra":[1]}`)
				}
				return m.Method == mcp.MethodInitialize
			})
		}, mcp.Legacy, "2025-11-25"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := open(t, tt.o, tt.server)
				if s.Era() != tt.era || s.Revision() != tt.revision {
					t.Errorf("session is %v %s, want %v %s", s.Era(), s.Revision(), tt.era, tt.revision)
				}
			})
		})
	}
}

func TestSessionTellsWhatTheServerSaidOfItself(t *testing.T) {
	t.Parallel()
	s := open(t, Options{}, func(p *peer) { p.modern(nil) })
	if got := string(s.ServerInfo()); got != `{"name":"new","version":"1"}` {
		t.Errorf("ServerInfo = %s", got)
	}
	if got := string(s.Capabilities()); got != `{"tools":{}}` {
		t.Errorf("Capabilities = %s", got)
	}
	if got := s.Instructions(); got != "be kind" {
		t.Errorf("Instructions = %q", got)
	}
}

func TestConnectAnswersWhatComesBeforeInitialize(t *testing.T) {
	t.Parallel()
	var pong, roots, sampling *mcp.Message
	open(t, Options{}, func(p *peer) {
		p.legacy(func(m *mcp.Message) bool {
			if m.Method != mcp.MethodInitialize {
				return false
			}
			p.write(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}` + "\n")
			p.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"booting"}}` + "\n")
			p.write(`{"jsonrpc":"2.0","id":"srv-1","method":"ping"}` + "\n")
			pong = p.read()
			p.write(`{"jsonrpc":"2.0","id":2,"method":"roots/list"}` + "\n")
			roots = p.read()
			p.write(`{"jsonrpc":"2.0","id":2.5,"method":"sampling/createMessage","params":{}}` + "\n")
			sampling = p.read()
			return false
		})
	})
	if string(pong.ID) != `"srv-1"` || string(pong.Result) != `{}` {
		t.Errorf("answer to ping = %s", pong.Encode())
	}
	if string(roots.ID) != `2` || string(roots.Result) != `{"roots":[]}` {
		t.Errorf("answer to roots/list = %s", roots.Encode())
	}
	if sampling.Error == nil || sampling.Error.Code != mcp.CodeMethodNotFound {
		t.Errorf("answer to sampling = %s", sampling.Encode())
	}
}

func TestConnectStartsAServerAgainThatTheProbeEnded(t *testing.T) {
	t.Parallel()
	for _, way := range []struct {
		name  string
		first func(p *peer)
	}{
		{"by dying of it", func(p *peer) { p.read() }},
		{"by losing its senses", func(p *peer) {
			for m := p.read(); m != nil; m = p.read() {
				if m.Kind() == mcp.Request {
					p.refuse(m, mcp.CodeInternalError, "confused", "")
				}
			}
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var methods []string
				s := open(t, Options{Restart: func(context.Context) (Transport, error) {
					return dial(func(p *peer) {
						p.legacy(func(m *mcp.Message) bool { methods = append(methods, m.Method); return false })
					}), nil
				}}, way.first)
				synctest.Wait()
				if got := strings.Join(methods, " "); got != "initialize notifications/initialized" {
					t.Errorf("the server's second life saw %q, want no probe", got)
				}
				if s.Era() != mcp.Legacy {
					t.Errorf("Era = %v", s.Era())
				}
			})
		})
	}
}

// initializes is a legacy server whose result of initialize is this.
func initializes(result string) func(p *peer) {
	return func(p *peer) {
		p.legacy(func(m *mcp.Message) bool {
			if m.Method == mcp.MethodInitialize {
				p.reply(m, result)
			}
			return m.Method == mcp.MethodInitialize
		})
	}
}

func TestConnectSaysWhyThereIsNoSession(t *testing.T) {
	t.Parallel()
	limit := fault.Unavailablef("stub did not answer within pool.startTimeout (1m0s)").Hintf("give it longer")
	tests := []struct {
		name   string
		server func(p *peer)
		want   string
		hint   string
	}{
		{"it ends", func(*peer) {}, "stub closed the connection while it was starting", "stays and waits for input"},
		{"it refuses", func(p *peer) {
			p.legacy(func(m *mcp.Message) bool {
				if m.Method == mcp.MethodInitialize {
					p.refuse(m, -32000, "API_KEY is not set", "")
				}
				return m.Method == mcp.MethodInitialize
			})
		}, "stub refused to open a session: API_KEY is not set", "a token in env"},
		{"it echoes", func(p *peer) { _, _ = io.Copy(p.out, p.in) }, "stub does not speak MCP: it sends back what it is sent", "starts the right program"},
		{"it asks what a client asks, and then refuses", func(p *peer) {
			p.legacy(func(m *mcp.Message) bool {
				if m.Method == mcp.MethodInitialize {
					p.write(`{"jsonrpc":"2.0","id":"mine","method":"initialize"}` + "\n")
					p.refuse(m, -32000, "no", "")
				}
				return m.Method == mcp.MethodInitialize
			})
		}, "stub refused to open a session: no", "a token in env"},
		{"it says nothing", func(p *peer) { _, _ = io.Copy(io.Discard, p.in) }, limit.Message, limit.Hint},
		{"it never reads", func(p *peer) { time.Sleep(2 * time.Minute) }, limit.Message, limit.Hint},
		{"it answers with a string", initializes(`"nope"`), `stub does not speak MCP: its answer to initialize is not a JSON object: "nope"`, "starts the right program"},
		{"it answers with a list", initializes(`[1,  2]`), `stub does not speak MCP: its answer to initialize is not a JSON object: [1, 2]`, "starts the right program"},
		{"it answers with null", initializes(`null`), `stub does not speak MCP: its answer to initialize is not a JSON object: null`, "starts the right program"},
		{"it answers with a long string and ends", func(p *peer) {
			m := p.read()
			p.reply(m, `"`+strings.Repeat("x", 100)+`"`)
			if m = p.read(); m.Method == mcp.MethodInitialize {
				p.reply(m, `"`+strings.Repeat("x", 100)+`"`)
			}
		}, `stub does not speak MCP: its answer to initialize is not a JSON object: "` + strings.Repeat("x", 59) + "…", "starts the right program"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, limit)
				defer cancel()
				_, err := Connect(ctx, dial(tt.server), Options{Name: "stub"})
				e := fault.From(err)
				if e == nil || e.Message != tt.want || e.Kind != fault.Unavailable || !strings.Contains(e.Hint, tt.hint) {
					t.Errorf("error = %v (%+v), want %s (%s)", err, e, tt.want, tt.hint)
				}
			})
		})
	}
}

func TestConnectStopsWhenItsContextIsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("the user pressed Ctrl-C")
		go func() {
			time.Sleep(time.Second)
			cancel(cause)
		}()
		_, err := Connect(ctx, dial(func(p *peer) { _, _ = io.Copy(io.Discard, p.in) }), Options{Name: "stub"})
		if !errors.Is(err, cause) {
			t.Errorf("error = %v, want %v", err, cause)
		}
	})
}

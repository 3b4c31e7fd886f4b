package client

import (
	"context"
	"testing"

	"mcpx/mcp"
)

// BenchmarkCall measures one call of an in-memory server that does nothing.
func BenchmarkCall(b *testing.B) {
	s, err := Connect(context.Background(), dial(func(p *peer) {
		p.legacy(func(m *mcp.Message) bool {
			if m.Method == mcp.MethodToolsCall {
				p.reply(m, `{"content":[{"type":"text","text":"hi"}]}`)
			}
			return m.Method == mcp.MethodToolsCall
		})
	}), Options{Name: "stub"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	params := mcp.Raw(`{"name":"hi","arguments":{}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Call(context.Background(), mcp.MethodToolsCall, params); err != nil {
			b.Fatal(err)
		}
	}
}

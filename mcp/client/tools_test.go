package client

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"mcpx/mcp"
)

// pages serves tools/list from a map of cursors (raw, "" for the first) to results;
// a result that starts with ! is an error, and one that is no JSON is sent as it is.
func pages(list map[string]string) func(p *peer) {
	return func(p *peer) {
		p.legacy(func(m *mcp.Message) bool {
			if m.Method != mcp.MethodToolsList {
				return false
			}
			page, ok := list[string(mcp.Member(m.Params, "cursor"))]
			switch {
			case !ok:
				p.refuse(m, mcp.CodeInvalidParams, "bad cursor", "")
			case strings.HasPrefix(page, "!"):
				p.refuse(m, mcp.CodeInternalError, page[1:], "")
			default:
				p.reply(m, page)
			}
			return true
		})
	}
}

func TestToolsReadsEveryPage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		pages    map[string]string
		want     string
		warnings int
	}{
		{"one page", map[string]string{"": `{"tools":[{"name":"a"},{"name":"b"}]}`}, "a b", 0},
		{"no tools", map[string]string{"": `{}`}, "", 0},
		{"no object", map[string]string{"": `"nope"`}, "", 1},
		{"no list of tools", map[string]string{"": `{"tools":{"a":{}}}`}, "", 1},
		{"null", map[string]string{"": `{"tools":null,"nextCursor":null}`}, "", 0},
		{"an empty page between and odd cursors", map[string]string{
			"":        `{"tools":[{"name":"a"}],"nextCursor":"x="}`,
			`"x="`:    `{"tools":[],"nextCursor":"p2 &?"}`,
			`"p2 &?"`: `{"tools":[{"name":"b"}],"nextCursor":" "}`,
			`" "`:     `{"tools":[{"name":"c"}],"nextCursor":7}`,
			`7`:       `{"tools":[{"name":"d"}],"nextCursor":""}`,
		}, "a b c d", 0},
		{"the cursor comes again", map[string]string{
			"":    `{"tools":[{"name":"a"}],"nextCursor":"x"}`,
			`"x"`: `{"tools":[{"name":"b"}],"nextCursor":"x"}`,
		}, "a b", 1},
		{"a later page fails", map[string]string{
			"":    `{"tools":[{"name":"a"}],"nextCursor":"x"}`,
			`"x"`: `!out of pages`,
		}, "a", 1},
		{"a later page cannot be read", map[string]string{
			"":    `{"tools":[{"name":"a"}],"nextCursor":"x"}`,
			`"x"`: `{"tools":[{"name":"b","weight":NaN}]}`,
		}, "a", 1},
		{"bad entries", map[string]string{
			"": `{"tools":[null,"x",{"description":"no name"},{"name":7},{"name":"a","inputSchema":"object"},{"name":"b","description":7},{"name":"a"}]}`,
		}, "a b", 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, Options{}, pages(tt.pages))
			tools, warnings, err := s.Tools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range tools {
				names = append(names, tool.Name)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("tools = %s, want %s", got, tt.want)
			}
			if len(warnings) != tt.warnings {
				t.Errorf("%d warnings, want %d: %q", len(warnings), tt.warnings, warnings)
			}
		})
	}
}

func TestToolsFailsWithTheFirstPage(t *testing.T) {
	t.Parallel()
	s := open(t, Options{}, pages(map[string]string{"": "!no tools today"}))
	if _, _, err := s.Tools(t.Context()); err == nil || err.Error() != "no tools today" {
		t.Errorf("error = %v", err)
	}
}

func TestToolsOfAnEndlessServerEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		s := open(t, Options{}, func(p *peer) {
			p.legacy(func(m *mcp.Message) bool {
				if m.Method == mcp.MethodToolsList {
					n++
					p.reply(m, fmt.Sprintf(`{"tools":[{"name":"t%d"}],"nextCursor":%d}`, n, n))
				}
				return m.Method == mcp.MethodToolsList
			})
		})
		tools, warnings, err := s.Tools(t.Context())
		if err != nil || len(tools) != maxPages || len(warnings) != 1 {
			t.Errorf("%d tools, warnings %q, error %v", len(tools), warnings, err)
		}
	})
}

func TestToolsOfAServerThatPagesInACircleEnd(t *testing.T) {
	t.Parallel()
	n := 0
	s := open(t, Options{}, func(p *peer) {
		p.legacy(func(m *mcp.Message) bool {
			if m.Method == mcp.MethodToolsList {
				n++
				p.reply(m, fmt.Sprintf(`{"tools":[{"name":"t%d"}],"nextCursor":%d}`, min(n, 3), n))
			}
			return m.Method == mcp.MethodToolsList
		})
	})
	tools, warnings, err := s.Tools(t.Context())
	if err != nil || len(tools) != 3 || n != 3+maxIdle || !strings.Contains(strings.Join(warnings, "\n"), "nothing new") {
		t.Errorf("%d tools of %d pages, warnings %q, error %v", len(tools), n, warnings, err)
	}
}

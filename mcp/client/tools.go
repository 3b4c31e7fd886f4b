package client

import (
	"bytes"
	"context"
	"fmt"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

const (
	// maxPages and maxTools end a listing that would not end by itself.
	maxPages = 1000
	maxTools = 20000
	// maxIdle is how many pages in a row may bring nothing new.
	maxIdle = 10
)

// Tools asks for all pages of tools/list and returns the tools in the server's order,
// and warnings.
// An entry without a name, a name that comes again, and pages after a fault cost a
// warning and nothing else. There is an error only if the first page cannot be had or
// the connection ends.
func (s *Session) Tools(ctx context.Context) ([]*mcp.Tool, []string, error) {
	l := listing{seen: map[string]bool{}, cursors: map[string]bool{}}
	_, l.mirrored = s.conn.t.(mirrorer)
	l.mirrored = l.mirrored && s.era == mcp.Modern
	var params mcp.Raw
	for range maxPages {
		page, err := s.Call(ctx, mcp.MethodToolsList, params)
		switch {
		case err != nil && params != nil && ctx.Err() == nil && s.Err() == nil:
			l.warn("tools/list failed after %d tools: %s", len(l.tools), fault.From(err).Message)
			return l.tools, l.warnings, nil
		case err != nil:
			return nil, nil, err
		}
		cursor := l.add(page)
		if cursor == nil {
			return l.tools, l.warnings, nil
		}
		if params, err = mcp.SetMember(nil, "cursor", cursor); err != nil {
			return nil, nil, err
		}
	}
	l.warn("tools/list did not end after %d pages; the rest was not read", maxPages)
	return l.tools, l.warnings, nil
}

// listing gathers pages.
type listing struct {
	tools    []*mcp.Tool
	warnings []string
	seen     map[string]bool // names
	cursors  map[string]bool
	idle     int  // pages that have brought nothing new, up to the last one
	mirrored bool // arguments are repeated as headers, and marks that cannot be are faults
}

func (l *listing) warn(format string, args ...any) {
	l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
}

// add takes one page and returns the cursor of the next, or nil after the last.
func (l *listing) add(page mcp.Raw) (cursor mcp.Raw) {
	tools := mcp.Member(page, "tools")
	switch {
	case object(page) == nil:
		l.warn("tools/list was answered with something that is no object: %s", brief(page))
	case tools != nil && string(tools) != "null" && !bytes.HasPrefix(tools, []byte("[")):
		l.warn("tools/list holds something that is no list of tools: %s", brief(tools))
	}
	before := len(l.seen)
	position := 0
	for entry := range mcp.Elements(tools) {
		position++
		tool, err := mcp.DecodeTool(entry)
		switch {
		case err != nil:
			l.warn("tools/list holds %v (entry %d of a page); it is left out", err, position)
		case l.seen[tool.Name]:
			l.warn("tools/list holds %q more than once; the first one counts", tool.Name)
		case len(l.tools) >= maxTools:
			l.warn("tools/list holds more than %d tools; the rest was not read", maxTools)
			return nil
		default:
			l.seen[tool.Name] = true
			if _, err := mirrors(tool.InputSchema); err != nil && l.mirrored {
				l.warn("tools/list holds %q, whose schema cannot be followed: %v; it is left out", tool.Name, err)
				continue
			}
			l.tools = append(l.tools, tool)
		}
	}
	if l.idle++; len(l.seen) > before {
		l.idle = 0
	}
	cursor = mcp.Member(page, "nextCursor")
	switch key := string(cursor); {
	case key == "", key == "null", key == `""`:
		return nil
	case l.cursors[key]:
		l.warn("tools/list gave the cursor %s again; what follows was not read", key)
		return nil
	case l.idle == maxIdle:
		l.warn("tools/list brought nothing new in %d pages; what follows was not read", maxIdle)
		return nil
	default:
		l.cursors[key] = true
		return cursor
	}
}

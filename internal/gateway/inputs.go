package gateway

import (
	"sync"

	"mcpx/internal/schema"
	"mcpx/mcp"
)

// inputs keeps what the schemas of the tools that were called ask of arguments.
type inputs struct {
	mu    sync.Mutex
	known map[*mcp.Tool]*schema.Input
}

// maxInputs bounds them: listings that are read anew have new tools.
const maxInputs = 256

// of returns what a tool asks.
func (i *inputs) of(t *mcp.Tool) *schema.Input {
	if t.InputSchema == nil {
		return schema.NewInput(nil)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if known := i.known[t]; known != nil {
		return known
	}
	if i.known == nil || len(i.known) >= maxInputs {
		i.known = map[*mcp.Tool]*schema.Input{}
	}
	made := schema.NewInput(t.InputSchema)
	i.known[t] = made
	return made
}

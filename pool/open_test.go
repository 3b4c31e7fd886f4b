package pool_test

import (
	"context"

	"mcpx/internal/config"
	"mcpx/mcp/client"
	"mcpx/pool"
)

// open acquires an instance whose lease lasts as long as the test.
func open(ctx context.Context, p *pool.Pool, def *config.Definition) (*client.Session, bool, error) {
	l, err := p.Acquire(ctx, pool.Request{Def: def})
	if err != nil {
		return nil, false, err
	}
	return l.Session(), l.Fresh(), nil
}

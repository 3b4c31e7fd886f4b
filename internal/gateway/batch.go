package gateway

import (
	"context"

	"mcpx/internal/api"
)

// Batch makes several calls.
func (g *Gateway) Batch(ctx context.Context, in api.BatchInput) (*api.BatchOutput, error) {
	return api.RunBatch(ctx, g, in)
}

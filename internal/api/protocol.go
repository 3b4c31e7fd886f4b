package api

import (
	"context"
	"slices"

	"mcpx/mcp"
)

// ProtocolInput asks what is spoken.
type ProtocolInput struct{}

// ProtocolOutput says what is spoken: the revisions of MCP, the newest first, and the
// family that each running server speaks.
type ProtocolOutput struct {
	Revisions []string         `json:"revisions"`
	Servers   []ProtocolServer `json:"servers"`
}

// ProtocolServer is what one running server speaks.
type ProtocolServer struct {
	Name string `json:"name"`
	Era  string `json:"era"` // legacy, modern
}

// protocol reads the answer off the status.
//
//nolint:revive // as method expressions of Service have it
func protocol(s Service, ctx context.Context, _ ProtocolInput) (*ProtocolOutput, error) {
	status, err := s.Status(ctx, StatusInput{})
	if err != nil {
		return nil, err
	}
	out := &ProtocolOutput{Revisions: append(mcp.ModernRevisions(), mcp.LegacyRevisions()...), Servers: []ProtocolServer{}}
	for _, i := range status.Instances {
		one := ProtocolServer{i.Server, i.Era}
		if i.Era != "" && !slices.Contains(out.Servers, one) {
			out.Servers = append(out.Servers, one)
		}
	}
	return out, nil
}

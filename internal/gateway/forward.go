package gateway

import (
	"context"
	"encoding/json"
	"errors"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/mcp"
	"mcpx/pool"
)

// About is what a server says of itself, as it says it.
type About struct {
	Info         json.RawMessage // name and version; nil if it does not say
	Capabilities json.RawMessage // nil if it declares none
	Instructions string
	Era          mcp.Era
}

// lease finds a server and leases an instance of it, starting one if none runs.
func (g *Gateway) lease(ctx context.Context, name string) (*server, *pool.Lease, error) {
	s, err := g.server(name)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.acquire(ctx, pool.Request{Look: true})
	return s, l, err
}

// acquire leases an instance of the server, starting one if none runs.
func (s *server) acquire(ctx context.Context, r pool.Request) (*pool.Lease, error) {
	def, err := s.definition()
	if err != nil {
		return nil, s.warned(err)
	}
	r.Def, r.Process, r.Era, r.Caller = def, s.resolved().process, s.era(), s.g.caller
	l, err := s.g.o.Pool.Acquire(ctx, r)
	if err != nil {
		return nil, s.warned(err)
	}
	if r.Want == mcp.Unknown {
		s.learned(l.Session().Era())
	}
	if l.Fresh() {
		s.freshen()
	}
	return l, nil
}

// About asks a server who it is, starting it if it does not run.
func (g *Gateway) About(ctx context.Context, name string) (*About, error) {
	_, l, err := g.lease(ctx, name)
	if err != nil {
		return nil, err
	}
	defer l.Release()
	session := l.Session()
	return &About{
		Info: session.ServerInfo(), Capabilities: session.Capabilities(), Instructions: session.Instructions(), Era: session.Era(),
	}, nil
}

// AskInput is a request to a server that is not about tools.
type AskInput struct {
	Server string
	Method string
	Params json.RawMessage // an object, or nil
	// Peer is told and asked what the server has to say and to ask while the request is
	// under way; nil is told nothing and cannot be asked.
	Peer api.Peer
}

// Ask sends a server a request that is not about tools, and returns the result as it came.
// The error is a *mcp.Error if the server answered with one.
func (g *Gateway) Ask(ctx context.Context, in AskInput) (json.RawMessage, error) {
	if in.Method == mcp.MethodToolsCall {
		return nil, fault.Internalf("a tool is called by Call")
	}
	s, err := g.server(in.Server)
	if err != nil {
		return nil, err
	}
	r := request{method: in.Method, what: in.Method, peer: in.Peer}
	if in.Params != nil {
		if r.params, err = mcp.Check(in.Params); err != nil {
			return nil, fault.Usagef("the parameters of %s are %w", in.Method, err)
		}
	}
	result, err := s.exchange(ctx, r)
	if errors.As(err, new(*mcp.Error)) {
		return nil, err
	}
	return result.Raw(), s.warned(err)
}

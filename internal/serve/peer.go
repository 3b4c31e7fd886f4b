package serve

import (
	"bytes"
	"context"
	"encoding/json"

	"mcpx/internal/api"
	"mcpx/mcp"
	"mcpx/mcp/server"
)

// peer is the client that a message came from, as the servers reach it that work on it:
// what they say goes to the client with the message, what they ask is asked of it.
type peer struct {
	c server.Caller
	// repeats says that the client's request is one call, which it can make again with the
	// answers: then a modern server's questions are the result.
	repeats bool
	// from is the server that asks, where the client is to be told.
	from  string
	named bool // whether the client cannot know
}

var _ api.Client = peer{}

// TakesUnfinished implements api.Peer.
func (p peer) TakesUnfinished() bool { return p.repeats && p.Modern() }

// Modern implements api.Client.
func (p peer) Modern() bool { return p.c.Era() == mcp.Modern }

// Capabilities implements api.Client: what the client declared, but for tasks. A server that
// heard of those would answer with one of its own, or ask with one, and nobody could get at
// it: requests about tasks are not passed on.
func (p peer) Capabilities() json.RawMessage {
	declared := mcp.WithoutMember(p.c.Capabilities(), "tasks")
	extensions := mcp.Member(declared, "extensions")
	if mcp.Member(extensions, mcp.ExtensionTasks) == nil {
		return declared
	}
	without, err := mcp.SetMember(declared, "extensions", mcp.WithoutMember(extensions, mcp.ExtensionTasks))
	if err != nil {
		return nil // what is no object declares nothing
	}
	return without
}

// LogLevel implements api.Client.
func (p peer) LogLevel() string { return p.c.Level() }

// Same is equal for the peers of one client.
func (p peer) Same() any { return p.c.Client() }

// For is the same peer for what one server says.
func (p peer) For(server string) api.Peer {
	if p.named {
		p.from = server
	}
	return p
}

// Notify implements api.Peer.
func (p peer) Notify(method string, params json.RawMessage) {
	switch method {
	case mcp.NotificationProgress, mcp.NotificationMessage:
		p.c.Tell(method, params)
	}
}

// Ask implements api.Peer. A client is asked only what it has declared that it answers.
func (p peer) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if err := p.can(method, params); err != nil {
		return nil, err
	}
	if p.from != "" && method == mcp.MethodElicitation {
		params = naming(params, p.from)
	}
	return p.c.Request(ctx, method, params)
}

// can is the refusal of a question that the client has not declared to answer.
func (p peer) can(method string, params json.RawMessage) error {
	declared := p.c.Capabilities()
	has := func(object mcp.Raw, name string) bool { return bytes.HasPrefix(mcp.Member(object, name), []byte("{")) }
	switch method {
	case mcp.MethodElicitation:
		elicitation := mcp.Member(declared, "elicitation")
		form := has(elicitation, "form") || !has(elicitation, "url") // before there were modes there were forms
		var mode string
		_ = json.Unmarshal(mcp.Member(params, "mode"), &mode) // without one it is a form
		switch {
		case !has(declared, "elicitation"):
		case mode == "url" && !has(elicitation, "url"), mode != "url" && !form:
			return mcp.Errorf(mcp.CodeInvalidParams, "the client does not take questions of the mode %q", mode)
		default:
			return nil
		}
	case mcp.MethodSampling:
		if has(declared, "sampling") {
			return nil
		}
	case mcp.MethodRootsList:
		if has(declared, "roots") {
			return nil
		}
	}
	return mcp.Errorf(mcp.CodeMethodNotFound, "the client does not answer %s", method)
}

// naming has a question say which server asks.
func naming(params json.RawMessage, from string) json.RawMessage {
	var message string
	if json.Unmarshal(mcp.Member(params, "message"), &message) != nil {
		return params
	}
	named, err := mcp.SetMember(params, "message", encode(from+" asks: "+message))
	if err != nil {
		return params
	}
	return named
}

// foreign refuses the state of a request to a server that gives out none: it is not one of
// its own, and those of calls that wait here are known before a request comes here.
func foreign(ctx context.Context, o Options, server string, params mcp.Raw) error {
	state := mcp.Member(params, "requestState")
	if state == nil {
		return nil
	}
	about, err := o.Gateway.About(ctx, server)
	if err != nil {
		return failure(err)
	}
	if about.Era == mcp.Legacy {
		return mcp.Errorf(mcp.CodeInvalidParams, "invalid requestState: it is not one of this server; make the call again without it")
	}
	return nil
}

package api

import (
	"context"
	"encoding/json"
	"errors"

	"mcpx/mcp"
)

// Consent is the person on whose behalf a call is made, as far as they can be asked now
// whether it may be. Its methods may be called from several goroutines.
type Consent interface {
	// Consent asks, and reports whether the call may be made. The error is about the
	// asking: nobody could be asked after all, or ctx is done.
	Consent(ctx context.Context, q ConsentQuestion) (bool, error)
}

// ConsentQuestion is a call that mcpx asks about. Its texts are a server's and a
// caller's: whoever shows them makes them harmless first.
type ConsentQuestion struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"` // the server's own name
	Arguments json.RawMessage `json:"arguments"`
	// Destructive says that the call may destroy something, as far as the server says.
	Destructive bool `json:"destructive,omitempty"`
	// Why is the setting or rule that wants the question.
	Why string `json:"why"`
}

// MethodConsent is the question of a Consent as it travels to a caller that is elsewhere:
// its params are a ConsentQuestion, its result a ConsentAnswer.
const MethodConsent = "mcpx/consent"

// ConsentAnswer says whether a call may be made.
type ConsentAnswer struct {
	Allow bool `json:"allow"`
}

// consented is an input with calls that may have to be allowed.
type consented interface{ consent() *Consent }

func (in *CallInput) consent() *Consent  { return &in.Consent }
func (in *BatchInput) consent() *Consent { return &in.Consent }

// reached is a Peer elsewhere that can also be asked for consent.
type reached struct {
	Peer         // nil if there is none
	of   Consent // nil if nobody can be asked
}

// reach returns whoever can be told and asked while an input is worked on elsewhere; nil if
// nobody can.
func reach(p Peer, in any) Peer {
	c, ok := in.(consented)
	if !ok || p == nil && *c.consent() == nil {
		return p
	}
	return reached{p, *c.consent()}
}

// For passes on who speaks.
func (r reached) For(server string) Peer {
	if r.Peer != nil {
		r.Peer = of(r.Peer, server)
	}
	return r
}

// Notify implements Peer.
func (r reached) Notify(method string, params json.RawMessage) {
	if r.Peer != nil {
		r.Peer.Notify(method, params)
	}
}

// Ask implements Peer.
func (r reached) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != MethodConsent {
		if r.Peer == nil {
			return nil, Nobody(method)
		}
		return r.Peer.Ask(ctx, method, params)
	}
	if r.of == nil {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "nobody can be asked for consent")
	}
	var q ConsentQuestion
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "a question that cannot be read")
	}
	allowed, err := r.of.Consent(ctx, q)
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInternalError, "%v", err)
	}
	return json.Marshal(ConsentAnswer{allowed})
}

// TakesUnfinished implements Peer.
func (r reached) TakesUnfinished() bool { return r.Peer != nil && r.Peer.TakesUnfinished() }

// distant asks a caller that is elsewhere.
type distant struct{ peer Peer }

// Consent implements Consent.
func (d distant) Consent(ctx context.Context, q ConsentQuestion) (bool, error) {
	params, err := json.Marshal(q)
	if err != nil {
		return false, err
	}
	result, err := d.peer.Ask(ctx, MethodConsent, params)
	if err != nil {
		if refused, ok := errors.AsType[*mcp.Error](err); ok {
			return false, errors.New(refused.Message)
		}
		return false, err
	}
	var a ConsentAnswer
	return json.Unmarshal(result, &a) == nil && a.Allow, nil
}

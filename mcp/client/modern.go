package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

var errNotObject = errors.New("not a JSON object")

// parameters are those of a message.
type parameters struct {
	of   mcp.Checked // an object, or nothing
	meta mcp.Checked // what its _meta is to be; nothing leaves it as it is
}

// with are the parameters with one more member of _meta. If that cannot be, they are as
// they were.
func (p parameters) with(key string, value mcp.Checked) parameters {
	if p.meta.Raw() == nil {
		p.meta = p.of.Member("_meta")
	}
	if meta, err := p.meta.With(key, value); err == nil {
		p.meta = meta
	}
	return p
}

// encode returns a message with the parameters.
func (p parameters) encode(m mcp.Message) []byte {
	if p.meta.Raw() != nil {
		if line, err := m.EncodeWith(p.of, "_meta", p.meta); err == nil {
			return line // it is an object, or nothing
		}
	}
	m.Params = p.of.Raw()
	return m.Encode()
}

// readParams holds the parameters of a message against the grammar.
func readParams(params mcp.Raw) (mcp.Checked, error) {
	if params == nil {
		return mcp.Checked{}, nil
	}
	return mcp.Check(params)
}

// prepare adds to the parameters of a message what the revision wants in every one, if the
// session is modern. Other members of a _meta that is there are kept.
func (s *Session) prepare(params mcp.Checked, more ...metaMember) (parameters, error) {
	if params.Raw() != nil && !params.IsObject() {
		return parameters{}, errNotObject
	}
	if s.era != mcp.Modern {
		return parameters{of: params}, nil
	}
	own := params.Member("_meta")
	if own.Raw() == nil && len(more) == 0 {
		return parameters{params, s.whole}, nil
	}
	meta, err := withMeta(own, append(slices.Clip(s.meta), more...))
	return parameters{params, meta}, err
}

// metaFor returns what a call of a modern session carries instead of what every call does,
// and beside it.
func (s *Session) metaFor(o CallOptions) ([]metaMember, error) {
	var more []metaMember
	if s.era != mcp.Modern {
		return nil, nil
	}
	if o.Capabilities != nil {
		capabilities, err := mcp.Check(o.Capabilities)
		if err != nil {
			return nil, err
		}
		more = append(more, metaMember{mcp.MetaClientCapabilities, capabilities})
	}
	if o.LogLevel != "" {
		more = append(more, metaMember{mcp.MetaLogLevel, checked(o.LogLevel)})
	}
	return more, nil
}

func withMeta(meta mcp.Checked, members []metaMember) (mcp.Checked, error) {
	for _, m := range members {
		var err error
		if meta, err = meta.With(m.key, m.value); err != nil {
			return mcp.Checked{}, err
		}
	}
	return meta, nil
}

// modernMeta returns the members of _meta that say who asks, in which revision, and these
// as an object.
func (o *Options) modernMeta(revision string) (members []metaMember, whole mcp.Checked, err error) {
	capabilities, err := mcp.Check(o.capabilities())
	if err != nil {
		return nil, whole, err
	}
	members = []metaMember{
		{mcp.MetaProtocolVersion, checked(revision)},
		{mcp.MetaClientInfo, checked(o.clientInfo())},
		{mcp.MetaClientCapabilities, capabilities},
	}
	whole, err = withMeta(whole, members)
	return members, whole, err
}

// checkComplete returns an error for a result that is no answer yet. A result without
// a type is complete.
func (s *Session) checkComplete(method, kind string, result mcp.Raw, unfinished bool) error {
	switch kind {
	case "", mcp.ResultComplete:
		return nil
	case mcp.ResultInputRequired:
		if unfinished {
			return nil
		}
		return s.unanswered(method, mcp.Member(result, "inputRequests"), nil)
	case mcp.ResultTask:
		// Whoever declares that it takes tasks knows what to do with one.
		declared := mcp.Member(s.whole.Raw(), mcp.MetaClientCapabilities)
		if mcp.Member(mcp.Member(declared, "extensions"), mcp.ExtensionTasks) != nil {
			return nil
		}
	}
	return fault.Unavailablef("%s answered %s with a result of type %q, which this version of mcpx does not know", s.conn.name, method, kind).
		With("server", s.conn.name).With("mayHaveRun", true)
}

const (
	// maxRounds bounds how often a server may ask for input within one call, maxInputs what
	// it may ask for at once.
	maxRounds = 32
	maxInputs = 64
	// firstAgain is how long a server is left alone that only wants the call made again; it
	// doubles each time, up to lastAgain.
	firstAgain = 100 * time.Millisecond
	lastAgain  = 5 * time.Second
)

// unanswered is the error of a call that cannot go on without an answer.
func (s *Session) unanswered(method string, asked mcp.Raw, why error) error {
	e := fault.New(fault.InputRequired, "%s asks for input before it goes on with %s", s.conn.name, method)
	if why != nil {
		e = fault.New(fault.InputRequired, "%s asks for input before it goes on with %s: %w", s.conn.name, method, why)
	}
	e.With("server", s.conn.name).With("mayHaveRun", true).Hintf("give the input as an argument if the tool takes it")
	if asked != nil {
		e.With("inputRequests", asked)
	}
	return e
}

// answered asks the sink for what an unfinished result wants, and returns the parameters
// with which the call is made again.
func (s *Session) answered(ctx context.Context, method string, p parameters, result mcp.Raw, sink Sink, round int) (parameters, error) {
	params, err := s.answers(ctx, method, p.of.Raw(), result, sink, round)
	if err != nil {
		return p, err
	}
	p.of, err = readParams(params)
	return p, err
}

// answers is answered for parameters without what every message has.
func (s *Session) answers(ctx context.Context, method string, params, result mcp.Raw, sink Sink, round int) (mcp.Raw, error) {
	if sink == nil {
		sink = s.conn.sink
	}
	asked, state := mcp.Member(result, "inputRequests"), mcp.Member(result, "requestState")
	answers := mcp.Raw("{}")
	n := 0
	for key, q := range mcp.Members(asked) {
		switch n++; {
		case sink == nil:
			return nil, s.unanswered(method, asked, nil)
		case n > maxInputs:
			return nil, fault.Limitf("%s asks for more than %d things at once", s.conn.name, maxInputs).With("server", s.conn.name).With("mayHaveRun", true)
		}
		given, refused := sink.Request(ctx, text(mcp.Member(q, "method")), mcp.Member(q, "params"))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if refused != nil {
			return nil, s.unanswered(method, asked, refused)
		}
		var err error
		if answers, err = mcp.SetMember(answers, key, given); err != nil {
			return nil, fault.Internalf("the answer to %s is %w", q, err)
		}
	}
	switch {
	case n == 0 && state == nil:
		return nil, fault.Unavailablef("%s asks for input before it goes on with %s, and does not say for which", s.conn.name, method).
			With("server", s.conn.name).With("mayHaveRun", true)
	case round >= maxRounds:
		return nil, fault.Limitf("%s has asked for input %d times before it goes on with %s", s.conn.name, maxRounds, method).
			With("server", s.conn.name).With("mayHaveRun", true)
	case n == 0:
		if err := wait(ctx, min(firstAgain<<min(round, 16), lastAgain)); err != nil {
			return nil, err
		}
	}
	params = mcp.WithoutMember(mcp.WithoutMember(params, "inputResponses"), "requestState")
	var err error
	if n > 0 {
		if params, err = mcp.SetMember(params, "inputResponses", answers); err != nil {
			return nil, err
		}
	}
	if state != nil {
		params, err = mcp.SetMember(params, "requestState", state)
	}
	return params, err
}

func (o *Options) clientInfo() mcp.Raw {
	version := o.Version
	if version == "" {
		version = "0"
	}
	return encode(map[string]string{"name": "mcpx", "version": version})
}

func (o *Options) capabilities() mcp.Raw {
	if o.Capabilities == nil {
		return mcp.Raw("{}")
	}
	return o.Capabilities
}

// encode returns a value of this package's own making as JSON.
func encode(v any) mcp.Raw {
	b, err := json.Marshal(v)
	if err != nil {
		panic("mcp/client: " + err.Error())
	}
	return b
}

// checked is encode for what goes into a message.
func checked(v any) mcp.Checked {
	c, err := mcp.Check(encode(v))
	if err != nil {
		panic("mcp/client: " + err.Error())
	}
	return c
}

// text returns the string that raw encodes, or "".
func text(raw mcp.Raw) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// brief is the beginning of a value, for a sentence.
func brief(raw mcp.Raw) string {
	const most = 60
	s := strings.Join(strings.Fields(string(raw)), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// object returns raw if it is a JSON object, else nil.
func object(raw mcp.Raw) mcp.Raw {
	if t := bytes.TrimSpace(raw); len(t) == 0 || t[0] != '{' {
		return nil
	}
	return raw
}

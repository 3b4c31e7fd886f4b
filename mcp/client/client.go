// Package client speaks to MCP servers: it settles with a server which revision of
// the protocol both speak, sends requests, and takes what comes back, in whatever
// order and shape it comes.
//
// A Session is the same over every Transport. Messages stay raw; the package reads
// what it needs to route them. When a server is started, ended or asked, and what
// becomes of its answers, is decided above.
package client

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

// Sink takes what a server says of its own accord.
type Sink interface {
	// Notify takes notifications in the order in which they came. It must not block:
	// nothing else is read from the server meanwhile.
	Notify(method string, params mcp.Raw)
	// Request answers a request of the server. It may take its time, and must return
	// when ctx is done: the server has taken the request back, or the session is over.
	Request(ctx context.Context, method string, params mcp.Raw) (mcp.Raw, *mcp.Error)
}

// Options says how to talk to a server.
type Options struct {
	// Name is what errors call the server.
	Name string
	// Version is that of this program, told to the server.
	Version string
	// Capabilities are declared to the server, a JSON object; nil declares none.
	Capabilities mcp.Raw
	// Era is what an earlier connection found; Unknown finds out.
	Era mcp.Era
	// ProbeTimeout is how long a server may take to say that it is modern before it is
	// also asked the legacy way; 0 means 2 s.
	ProbeTimeout time.Duration
	// Restart starts the server again. Some die of a request that they do not know; if
	// Restart is set they get a second life without it.
	Restart func(ctx context.Context) (Transport, error)
	// Fallback opens the transport before Streamable HTTP. It is tried if the server
	// refuses the newer one with a status after which the specification asks for that.
	Fallback func(ctx context.Context) (Transport, error)
	// Sink may be nil: notifications are dropped and requests answered with "none here".
	Sink Sink
	// Log may be nil.
	Log *slog.Logger
}

// CallOptions says how to make one call.
type CallOptions struct {
	// OnProgress is called with the parameters of each report of progress of the call. It
	// must not block. Setting it asks the server for such reports.
	OnProgress func(params mcp.Raw)
	// InputSchema is that of the tool that is called, if one is. Over HTTP a modern server
	// may want some arguments repeated as headers; the schema says which.
	InputSchema mcp.Raw
	// Sink takes what the server says and asks while the call is under way, as far as it
	// is known to belong to this call: over Streamable HTTP, what comes in answer to it. nil
	// leaves that to the sink of the session. A question ends with the call.
	Sink Sink
	// TakesUnfinished says that a result of a modern server that asks for input is a result.
	// Without it the sink is asked, and the call is made again with its answers; if it
	// refuses, or there is none, that is an error of kind InputRequired.
	TakesUnfinished bool
	// Capabilities are declared to a modern server for this call; nil declares those of
	// the session.
	Capabilities mcp.Raw
	// LogLevel asks a modern server for the messages of its log that belong to this call,
	// from this level on. Empty asks for none.
	LogLevel string

	listener *listener // of a call that subscribes
}

// Session is a connection to a server that has said who it is. Its methods may be
// called from many goroutines at once.
type Session struct {
	conn         *conn
	era          mcp.Era
	revision     string
	instructions string
	capabilities mcp.Raw
	serverInfo   mcp.Raw
	meta         []metaMember // what each request of a modern session carries
	whole        mcp.Checked  // that as an object

	closing sync.Once
}

type metaMember struct {
	key   string
	value mcp.Checked
}

// Era returns the era that the session speaks.
func (s *Session) Era() mcp.Era { return s.era }

// Revision returns the revision of the protocol that the session speaks.
func (s *Session) Revision() string { return s.revision }

// Instructions returns what the server says about its use, in its own words.
func (s *Session) Instructions() string { return s.instructions }

// Capabilities returns what the server declares: a JSON object, or nil.
func (s *Session) Capabilities() mcp.Raw { return s.capabilities }

// ServerInfo returns how the server names itself: a JSON object, or nil.
func (s *Session) ServerInfo() mcp.Raw { return s.serverInfo }

// Call sends a request and returns its result as it came. Params is a JSON object;
// nil sends none. At most one CallOptions may be given.
//
// The error wraps an *mcp.Error if the server answered with one. If the connection ends
// first it is a *fault.Error of kind Unavailable, whose details say how the server
// ended and whether the request may have taken effect (mayHaveRun). So it is if a server
// behind HTTP gives no answer to this request; then the session goes on, and if there was
// an answer over HTTP, its status is in the details (status). If ctx is done
// first the server is told, and the error is ctx's cause; Call does not wait for the
// server to react.
func (s *Session) Call(ctx context.Context, method string, params mcp.Raw, options ...CallOptions) (mcp.Raw, error) {
	of, err := readParams(params)
	if err != nil {
		return nil, unfit(method, err)
	}
	result, err := s.Request(ctx, method, of, options...)
	return result.Raw(), err
}

func unfit(method string, err error) error {
	return fault.Usagef("the parameters of %s are %w", method, err)
}

// Request is Call with parameters that are known to be JSON.
func (s *Session) Request(ctx context.Context, method string, params mcp.Checked, options ...CallOptions) (mcp.Checked, error) {
	var o CallOptions
	if len(options) > 0 {
		o = options[0]
	}
	more, err := s.metaFor(o)
	if err != nil {
		return mcp.Checked{}, unfit(method, err)
	}
	p, err := s.prepare(params, more...)
	if err != nil {
		return mcp.Checked{}, unfit(method, err)
	}
	for round := 0; ; round++ {
		result, err := s.conn.roundTrip(ctx, method, p, o)
		if err != nil || s.era != mcp.Modern {
			return result, err
		}
		kind := text(mcp.Member(result.Raw(), "resultType"))
		if o.TakesUnfinished || kind != mcp.ResultInputRequired {
			return result, s.checkComplete(method, kind, result.Raw(), o.TakesUnfinished)
		}
		if p, err = s.answered(ctx, method, p, result.Raw(), o.Sink, round); err != nil {
			return mcp.Checked{}, err
		}
	}
}

// Notify sends a notification. It returns when the message is queued.
func (s *Session) Notify(_ context.Context, method string, params mcp.Raw) error {
	of, err := readParams(params)
	if err != nil {
		return unfit(method, err)
	}
	p, err := s.prepare(of)
	if err != nil {
		return unfit(method, err)
	}
	return s.conn.notify(method, p)
}

// Close ends the session and its transport. Pending calls fail at once; Close returns
// when nothing of the session runs any more. A transport that cannot be ended in an
// orderly way is ended all the same: Close has no other result than that.
func (s *Session) Close() error {
	s.closing.Do(s.conn.close)
	return nil
}

// Answered returns how many requests the server has answered so far, those that open the
// session included.
func (s *Session) Answered() int64 { return s.conn.settled.Load() }

// Done is closed when the session is over: closed, or ended by the server.
func (s *Session) Done() <-chan struct{} { return s.conn.done }

// Err says why the session is over; it is nil as long as it is not.
func (s *Session) Err() error {
	select {
	case <-s.conn.done:
		return s.conn.ended()
	default:
		return nil
	}
}

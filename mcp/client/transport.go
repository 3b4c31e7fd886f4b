package client

import (
	"errors"
	"fmt"

	"mcpx/mcp"
)

// Transport carries messages to a server and back, one JSON text each. One that also
// has the methods of Child or HTTP makes for better errors; those three are all it takes.
type Transport interface {
	// Send hands over one message. It may block as long as the server does not read;
	// one goroutine at a time calls it.
	Send(line []byte) error
	// Receive waits for what comes next; the slice is the caller's. A *LongLineError
	// loses that one message and a *RequestError that one request, and nothing else; any
	// other error is the end.
	Receive() ([]byte, error)
	// Close ends the connection and whatever was started for it, and returns when it
	// is gone. A Send or Receive that waits returns with an error. It may be called
	// more than once and while the other methods run.
	Close() error
}

// Ending is what a transport knows of its own end.
type Ending struct {
	How    string // "exited with code 3"
	Stderr string // the last the server wrote to standard error
	Stdout string // the last it wrote to standard output that was no message
}

// An ender can say how it ended. Ending may wait a moment for the reason to be known.
type ender interface{ Ending() Ending }

// A correlator knows of what comes to which request it belongs: request is its id, or nil.
type correlator interface {
	ReceiveOf() (line []byte, request mcp.Raw, err error)
}

// A speaker can say what its server has said so far beside the protocol.
type speaker interface{ Said() Ending }

// A skipper wants to know of lines that were not messages.
type skipper interface{ Skip(line []byte) }

// A forgetter ends a request that nobody waits for any more. It must not block.
type forgetter interface{ Forget(id mcp.Raw) }

// A trier can send a message if that needs no waiting. TrySend reports whether the message is
// on its way, whole; if it is not, nothing of it is.
type trier interface{ TrySend(line []byte) bool }

// A settler wants to know what the session speaks, before anything is sent in it.
type settler interface {
	Settled(era mcp.Era, revision string)
}

// A mirrorer repeats arguments of a tool beside the message, as the tool's schema says.
type mirrorer interface {
	SendCall(line []byte, schema mcp.Raw) error
}

// errRenewed is what Receive returns when the server has lost the session and another one
// was opened in its place: what it had been told to remember is forgotten.
var errRenewed = errors.New("the session was opened again")

// RequestError is a request that got no answer, on a connection that goes on.
type RequestError struct {
	ID  mcp.Raw
	Err error
}

// Error says why there was no answer.
func (e *RequestError) Error() string { return e.Err.Error() }

// Unwrap returns why there was no answer.
func (e *RequestError) Unwrap() error { return e.Err }

// LongLineError is a message that was longer than the transport allows.
type LongLineError struct {
	Max  int
	ID   mcp.Raw // of the response that the line was, or nil
	Full bool    // it was not too long, but there was no room for it
}

// Error names the limit.
func (e *LongLineError) Error() string {
	if e.Full {
		return "a line for which there is no room beside other long ones"
	}
	return fmt.Sprintf("a line longer than stdio.maxLine (%d bytes)", e.Max)
}

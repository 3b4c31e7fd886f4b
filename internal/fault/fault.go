// Package fault is how mcpx says that something went wrong: an error with a kind.
//
// A kind is given where the meaning of an error is known, and becomes the exit
// code, the HTTP status and the name that a script sees, each mapped here and
// nowhere else. A Report is an error of a script as data: what was thrown, where
// in the user's source, and how it reads on a terminal.
//
// The package knows nothing of scripts, servers or files.
package fault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
)

// Kind says what an error means to whoever has to act on it. The set is closed.
type Kind string

// The kinds, with exit code, HTTP status and JavaScript error name in table.
const (
	Usage         Kind = "usage"          // the request makes no sense as written
	Denied        Kind = "denied"         // a grant, filter, rule or policy said no
	NotFound      Kind = "not_found"      // a server, tool or file named but not there
	Unavailable   Kind = "unavailable"    // a server or the daemon cannot be reached or started
	InputRequired Kind = "input_required" // a question waits for an answer
	Timeout       Kind = "timeout"        // a time limit passed
	Limit         Kind = "limit"          // another limit was reached
	Tool          Kind = "tool"           // the tool itself answered with an error
	Script        Kind = "script"         // the script threw, or can never settle
	Internal      Kind = "internal"       // a fault of mcpx
)

var table = map[Kind]struct {
	exit, status int
	name         string
}{
	Usage:         {2, 400, "UsageError"},
	Denied:        {77, 403, "DeniedError"},
	NotFound:      {2, 404, "NotFoundError"},
	Unavailable:   {69, 503, "UnavailableError"},
	InputRequired: {75, 202, "InputRequiredError"},
	Timeout:       {124, 504, "TimeoutError"},
	Limit:         {125, 429, "LimitError"},
	Tool:          {1, 502, "ToolError"},
	Script:        {1, 500, "Error"},
	Internal:      {70, 500, "InternalError"},
}

// Kinds returns every kind.
func Kinds() []Kind {
	return []Kind{Usage, Denied, NotFound, Unavailable, InputRequired, Timeout, Limit, Tool, Script, Internal}
}

// ExitCode is the exit status of a command that ended with an error of kind k.
func (k Kind) ExitCode() int { return k.row().exit }

// HTTPStatus is the status of an HTTP answer that carries an error of kind k.
func (k Kind) HTTPStatus() int { return k.row().status }

// ErrorName is the name property of the JavaScript error that a script sees.
func (k Kind) ErrorName() string { return k.row().name }

func (k Kind) row() struct {
	exit, status int
	name         string
} {
	if r, ok := table[k]; ok {
		return r
	}
	return table[Internal]
}

// Error is an error with a kind. Message is a sentence fragment without the hint;
// Hint is the next step, a whole clause without a final period; Details are the
// fields that a script finds on the error and a program finds in JSON, so their
// values must be encodable as JSON.
type Error struct {
	Kind    Kind
	Message string
	Hint    string
	Details map[string]any
	cause   error
}

// Error returns the message. The hint is not part of it.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the error that was wrapped with %w, if any.
func (e *Error) Unwrap() error { return e.cause }

// New makes an error of a kind. The format may wrap an error with %w; a hint and
// details of a wrapped *Error are taken over.
func New(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	e := &Error{Kind: kind, Message: err.Error(), cause: errors.Unwrap(err)}
	if inner, ok := errors.AsType[*Error](e.cause); ok {
		e.Hint = inner.Hint
		e.Details = maps.Clone(inner.Details)
	}
	return e
}

// Usagef, Deniedf and the others make an error of their kind, as New does.
func Usagef(format string, args ...any) *Error { return New(Usage, format, args...) }

// Deniedf makes an error of kind Denied.
func Deniedf(format string, args ...any) *Error { return New(Denied, format, args...) }

// NotFoundf makes an error of kind NotFound.
func NotFoundf(format string, args ...any) *Error { return New(NotFound, format, args...) }

// Unavailablef makes an error of kind Unavailable.
func Unavailablef(format string, args ...any) *Error { return New(Unavailable, format, args...) }

// Timeoutf makes an error of kind Timeout.
func Timeoutf(format string, args ...any) *Error { return New(Timeout, format, args...) }

// Limitf makes an error of kind Limit.
func Limitf(format string, args ...any) *Error { return New(Limit, format, args...) }

// Internalf makes an error of kind Internal.
func Internalf(format string, args ...any) *Error { return New(Internal, format, args...) }

// Hintf sets the next step and returns e.
func (e *Error) Hintf(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// With sets one detail and returns e.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
	return e
}

// KindOf returns the kind of the outermost *Error in err's chain. An error that
// has none is Timeout if it is a deadline, and Internal otherwise; nil has no kind.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Internal
}

// From returns err as an *Error whose Message is err's whole text: a wrap around
// an *Error keeps its kind, hint and details. From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok { //nolint:errorlint // only an unwrapped one already has the whole text
		return e
	}
	e := &Error{Kind: KindOf(err), Message: err.Error(), cause: err}
	if inner, ok := errors.AsType[*Error](err); ok {
		e.Hint, e.Details = inner.Hint, maps.Clone(inner.Details)
	}
	return e
}

type wireError struct {
	Kind    Kind           `json:"kind"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Details map[string]any `json:"details,omitempty"`
}

// MarshalJSON writes {"kind","message","hint","details"}, the form of every error
// that leaves the process.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireError{e.Kind, e.Message, e.Hint, e.Details})
}

// UnmarshalJSON reads what MarshalJSON wrote. An unknown kind becomes Internal. Details
// are what they were: text, whole numbers, truth values, lists of text, and a Position
// under "at"; what else they held stays JSON.
func (e *Error) UnmarshalJSON(b []byte) error {
	var w struct {
		Kind    Kind                       `json:"kind"`
		Message string                     `json:"message"`
		Hint    string                     `json:"hint"`
		Details map[string]json.RawMessage `json:"details"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	if _, ok := table[w.Kind]; !ok {
		w.Kind = Internal
	}
	*e = Error{Kind: w.Kind, Message: w.Message, Hint: w.Hint}
	for key, raw := range w.Details {
		e.With(key, detailOf(key, raw))
	}
	return nil
}

// detailOf reads one detail.
func detailOf(key string, raw json.RawMessage) any {
	if key == "at" {
		var at *Position
		if json.Unmarshal(raw, &at) == nil && at != nil && at.Line > 0 {
			return at
		}
	}
	var (
		text  string
		truth bool
		whole int
		list  []string
	)
	switch {
	case string(raw) == "null":
		return nil
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &truth) == nil:
		return truth
	case json.Unmarshal(raw, &whole) == nil:
		return whole
	case json.Unmarshal(raw, &list) == nil:
		return list
	}
	return raw
}

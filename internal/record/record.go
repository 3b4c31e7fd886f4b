// Package record keeps what the servers answered to a script, as text, and answers from
// such a text instead of the servers: a script with its recording is a test that needs no
// server and no configuration.
//
// A recording is JSON, a line each. The first line says that it is one and names the
// namespaces; every other is one question with its answer or its error, in the order in
// which the questions were asked. It holds the arguments and the answers as they were,
// with whatever secrets they have.
package record

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/fault"
)

// Servers answers what a script asks about tools. An api.Service is one.
type Servers interface {
	Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error)
	Config(ctx context.Context, in api.ConfigInput) (*api.ConfigOutput, error)
	Tools(ctx context.Context, in api.ToolsInput) (*api.ToolsOutput, error)
	Types(ctx context.Context, in api.TypesInput) (*api.TypesOutput, error)
	Search(ctx context.Context, in api.SearchInput) (*api.SearchOutput, error)
}

// version is that of the form of a recording.
const version = 1

// maxText is how large a recording may become.
const maxText = 256 << 20

// What a line is about.
const (
	opRecording = "recording" // the first line
	opCall      = "call"
	opTools     = "tools"
	opTypes     = "types"
	opSearch    = "search"
)

// line is one line of a recording.
type line struct {
	Op         string   `json:"op"`
	Version    int      `json:"version,omitempty"`
	Namespaces []string `json:"namespaces,omitempty"`

	Server    string          `json:"server,omitempty"` // as the script spelled it
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"` // of a question that is no call

	Output json.RawMessage `json:"output,omitempty"`
	Error  *fault.Error    `json:"error,omitempty"`
	// Unfinished says that the script gave up the call, or ended, before it was answered.
	Unfinished bool `json:"unfinished,omitempty"`
}

// Recorder passes questions on and keeps them with their answers. It may be used by
// several goroutines at once.
type Recorder struct {
	to Servers

	mu         sync.Mutex
	namespaces []string
	lines      []*line
	size       int64 // of what the lines hold
}

// New records what is asked of to.
func New(to Servers) *Recorder { return &Recorder{to: to} }

// Text is the recording of what was asked until now. What has no answer yet is
// unfinished. The error's kind is limit if it became too large.
func (r *Recorder) Text() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size > maxText {
		return "", fault.Limitf("the recording has more than %d MiB", maxText>>20).Hintf("record a run that reads less")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(&line{Op: opRecording, Version: version, Namespaces: r.namespaces}); err != nil {
		return "", fault.Internalf("encoding a recording: %w", err)
	}
	for _, l := range r.lines {
		if err := e.Encode(l); err != nil {
			return "", fault.Internalf("encoding a recording: %w", err)
		}
	}
	return b.String(), nil
}

// Calls counts the calls that were recorded.
func (r *Recorder) Calls() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lines {
		if l.Op == opCall {
			n++
		}
	}
	return n
}

// asked takes a place for a question.
func (r *Recorder) asked(l line) int {
	l.Unfinished = true
	r.mu.Lock()
	defer r.mu.Unlock()
	r.size += int64(len(l.Arguments) + len(l.Input))
	r.lines = append(r.lines, &l)
	return len(r.lines) - 1
}

// answered puts the answer to its question. One that was given up has none.
func (r *Recorder) answered(ctx context.Context, at int, output any, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	var text json.RawMessage
	if err == nil {
		if text, err = plainJSON(output); err != nil {
			err = fault.Internalf("recording an answer: %w", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := *r.lines[at]
	l.Unfinished = false
	if err != nil {
		l.Error = fault.From(err)
	} else if r.size += int64(len(text)); r.size <= maxText {
		l.Output = text // else Text says that it is too much
	}
	r.lines[at] = &l
}

// plainJSON encodes a value as people would.
func plainJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// question passes a question on that is no call.
func question[In, Out any](ctx context.Context, r *Recorder, op string, ask func(context.Context, In) (*Out, error), in In) (*Out, error) {
	input, err := plainJSON(in)
	if err != nil {
		return nil, fault.Internalf("recording a question: %w", err)
	}
	at := r.asked(line{Op: op, Input: input})
	out, err := ask(ctx, in)
	r.answered(ctx, at, out, err)
	return out, err
}

// Call implements Servers.
func (r *Recorder) Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	in.Bare = false // whoever plays it may want all
	args := in.Arguments
	if len(args) > 0 && !json.Valid(args) {
		args = nil // it fails
	}
	at := r.asked(line{Op: opCall, Server: in.Server, Tool: in.Tool, Arguments: args})
	out, err := r.to.Call(ctx, in)
	r.answered(ctx, at, out, err)
	return out, err
}

// Config implements Servers. Of the configuration only the namespaces are kept.
func (r *Recorder) Config(ctx context.Context, in api.ConfigInput) (*api.ConfigOutput, error) {
	out, err := r.to.Config(ctx, in)
	if err == nil {
		var names []string
		for _, s := range out.Servers {
			if !s.Disabled {
				names = append(names, s.Name)
			}
		}
		r.mu.Lock()
		r.namespaces = names
		r.mu.Unlock()
	}
	return out, err
}

// Tools implements Servers.
func (r *Recorder) Tools(ctx context.Context, in api.ToolsInput) (*api.ToolsOutput, error) {
	return question(ctx, r, opTools, r.to.Tools, in)
}

// Types implements Servers.
func (r *Recorder) Types(ctx context.Context, in api.TypesInput) (*api.TypesOutput, error) {
	return question(ctx, r, opTypes, r.to.Types, in)
}

// Search implements Servers.
func (r *Recorder) Search(ctx context.Context, in api.SearchInput) (*api.SearchOutput, error) {
	grant := in.Grant
	in.Grant = nil // the same question under other grants is the same
	return question(ctx, r, opSearch, func(ctx context.Context, in api.SearchInput) (*api.SearchOutput, error) {
		in.Grant = grant
		return r.to.Search(ctx, in)
	}, in)
}

var (
	_ Servers = (*Recorder)(nil)
	_ Servers = (*Player)(nil)
)

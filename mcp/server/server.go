// Package server is the serving side of the Model Context Protocol, for both eras:
// fronts that carry messages (Serve for standard streams, HTTP for Streamable HTTP), the
// Handler that answers them, and Server, a Handler for tools.
//
// A front knows connections: revisions, cancellation, which client a message came
// from. A handler knows meanings. Between them stands Caller, the way back to whoever
// sent one message, so that a handler need not know how it was reached.
package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"mcpx/mcp"
)

// Handler answers messages.
type Handler interface {
	// Serve returns the result of a request. An error that is a *mcp.Error is sent as
	// it is, any other as an internal error. Requests of one connection are served
	// concurrently; notifications one after the other, and their result is dropped.
	// ctx ends when the client cancels the request or is gone; then nobody waits for
	// the answer.
	Serve(ctx context.Context, c Caller, m *mcp.Message) (mcp.Raw, error)
}

// Caller is whoever sent one message, for as long as it is served.
type Caller interface {
	// Era and Revision are those that the message is to be understood in.
	Era() mcp.Era
	Revision() string
	// Capabilities are what the client declared; nil if it declared nothing.
	Capabilities() mcp.Raw
	// Logs reports whether the client wants log messages of a level. Level is the least
	// severe one that it asked for; empty if it did not say.
	Logs(level string) bool
	Level() string
	// Notify sends a notification that belongs to the message.
	Notify(ctx context.Context, method string, params mcp.Raw) error
	// Tell sends one as well, before the answer, but does not wait: what the client does
	// not take in time is lost. Progress gets the client's token and is sent only if it
	// has one and it grows; messages of a log are sent only if the client wants them.
	Tell(method string, params mcp.Raw)
	// Request asks the client and waits for its answer. The error is a *mcp.Error if the
	// client answered with one. A client of the modern era gets the question as the result
	// of its request and repeats that with the answer, as often as it takes: calls of
	// tools, prompts and reads of resources can ask, others cannot.
	Request(ctx context.Context, method string, params mcp.Raw) (mcp.Raw, error)
	// Client is whose message it is.
	Client() *Client
}

// Info is what a server says of itself.
type Info struct {
	Name         string
	Title        string
	Version      string
	Self         mcp.Raw // serverInfo as it is, instead of the three above; nil without
	Instructions string
	Logs         bool // it sends log messages
	// Also names capabilities besides that of tools; its Provider is an Asker then.
	Also []string
	// ListChanged names the capabilities of which it says that their list has changed, and
	// Subscribe says that resources can be subscribed to; its Provider is a Listener then.
	ListChanged []string
	Subscribe   bool
	// Tasks says that calls of tools can be tasks, which its Provider, an Asker, answers for.
	Tasks bool
	// Changes says that nobody should keep what the server says of its tools.
	Changes bool
}

// Tool is one tool of a Server.
type Tool struct {
	// Definition is its entry of tools/list, whole.
	Definition mcp.Raw
	// Call runs it and returns a CallToolResult. An error is shown to the caller as a
	// result with isError, unless it is a *mcp.Error.
	Call func(ctx context.Context, c *Call) (mcp.Raw, error)
}

// Server is a Handler for the tools of a Provider.
type Server struct {
	p Provider
	// Park is how long a call waits for the answers to its questions, if its client has to
	// fetch them; 0 is two minutes.
	Park time.Duration
}

// Provider is what a Server answers from.
type Provider interface {
	// Info is what the server says of itself. An error refuses the connection.
	Info(ctx context.Context) (*Info, error)
	// Tools are the definitions of the tools, entries of tools/list.
	Tools(ctx context.Context) ([]mcp.Raw, error)
	// Definition is that of one tool; nil if there is none, or it cannot be had at once.
	Definition(ctx context.Context, name string) mcp.Raw
	// Call calls a tool and returns a CallToolResult. An error is shown to the caller as a
	// result with isError, unless it is a *mcp.Error.
	Call(ctx context.Context, c *Call) (mcp.Raw, error)
}

// Lister is a Provider whose list of tools depends on who asks.
type Lister interface {
	// ToolsFor are the definitions of the tools for c.
	ToolsFor(ctx context.Context, c Caller) ([]mcp.Raw, error)
}

// Asker is a Provider that answers more than tools.
type Asker interface {
	// Ask answers a request that is not about tools. The error is mcp.CodeMethodNotFound
	// for what it does not answer.
	Ask(ctx context.Context, c Caller, m *mcp.Message) (mcp.Raw, error)
}

// New makes a server of a fixed list of tools. It panics if a definition is no tool or a
// name comes twice.
func New(info Info, tools ...Tool) *Server {
	f := &fixed{info: info, list: []mcp.Raw{}, tools: make(map[string]Tool, len(tools))}
	for _, t := range tools {
		d, err := mcp.DecodeTool(t.Definition)
		if err != nil {
			panic(fmt.Sprintf("server: %v: %s", err, t.Definition))
		}
		if _, ok := f.tools[d.Name]; ok {
			panic("server: two tools named " + d.Name)
		}
		f.list = append(f.list, t.Definition)
		f.tools[d.Name] = t
	}
	return Of(f)
}

// Of makes a server of a provider.
func Of(p Provider) *Server { return &Server{p: p} }

// fixed is the Provider of a list of tools.
type fixed struct {
	info  Info
	list  []mcp.Raw
	tools map[string]Tool
}

func (f *fixed) Info(context.Context) (*Info, error)               { return &f.info, nil }
func (f *fixed) Tools(context.Context) ([]mcp.Raw, error)          { return f.list, nil }
func (f *fixed) Definition(_ context.Context, name string) mcp.Raw { return f.tools[name].Definition }

func (f *fixed) Call(ctx context.Context, c *Call) (mcp.Raw, error) {
	t, ok := f.tools[c.Name]
	if !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown tool: %s", c.Name)
	}
	return t.Call(ctx, c)
}

type object map[string]any

// encode turns a value of this package's making into JSON.
func encode(v any) mcp.Raw {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("server: %v", err))
	}
	return b
}

// Serve answers a message of either era.
func (s *Server) Serve(ctx context.Context, c Caller, m *mcp.Message) (mcp.Raw, error) {
	if m.Kind() == mcp.Notification {
		if m.Method == mcp.NotificationInitialized && c.Era() == mcp.Legacy {
			s.initialized(c)
		}
		return nil, nil //nolint:nilnil // nobody waits for an answer
	}
	modern := c.Era() == mcp.Modern
	switch {
	case m.Method == mcp.MethodDiscover:
		info, err := s.p.Info(ctx)
		if err != nil {
			return nil, err
		}
		return complete(info.discover()), nil
	case m.Method == mcp.MethodInitialize && !modern:
		info, err := s.p.Info(ctx)
		if err != nil {
			return nil, err
		}
		return info.initialize(c.Revision()), nil
	case m.Method == mcp.MethodPing && !modern:
		return mcp.Raw("{}"), nil
	case m.Method == mcp.MethodSetLevel && !modern:
		return s.setLevel(ctx, c)
	case (m.Method == mcp.MethodSubscribe || m.Method == mcp.MethodUnsubscribe) && !modern:
		return s.subscribe(ctx, c, m)
	case m.Method == mcp.MethodListen && modern:
		return s.listen(ctx, c, m)
	case m.Method == mcp.MethodToolsList:
		return s.list(ctx, c, m)
	case m.Method == mcp.MethodToolsCall:
		return s.call(ctx, c, m)
	}
	if a, ok := s.p.(Asker); ok {
		return a.Ask(ctx, c, m)
	}
	return nil, NotFound(m.Method)
}

// NotFound is the error of a method that is not served.
func NotFound(method string) *mcp.Error {
	return mcp.Errorf(mcp.CodeMethodNotFound, "method not found: %s", method)
}

// Definition is that of a tool; nil if there is none.
func (s *Server) Definition(ctx context.Context, tool string) mcp.Raw {
	return s.p.Definition(ctx, tool)
}

func (s *Server) list(ctx context.Context, c Caller, m *mcp.Message) (mcp.Raw, error) {
	if cursor := mcp.Member(m.Params, "cursor"); cursor != nil && string(cursor) != "null" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "invalid cursor: %s", cursor)
	}
	list, err := s.tools(ctx, c)
	if err != nil {
		return nil, err
	}
	// Not through encoding/json, which would rewrite what servers have sent.
	var b bytes.Buffer
	b.WriteString(`{"tools":[`)
	for i, t := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		if c.Era() != mcp.Modern {
			t = mcp.LegacyTool(t)
		}
		b.Write(t)
	}
	b.WriteString(`]`)
	if c.Era() == mcp.Modern {
		info, err := s.p.Info(ctx)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, `,"ttlMs":%d,"cacheScope":"%s","resultType":"%s"`, info.ttl(), info.scope(), mcp.ResultComplete)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (s *Server) tools(ctx context.Context, c Caller) ([]mcp.Raw, error) {
	if l, ok := s.p.(Lister); ok {
		return l.ToolsFor(ctx, c)
	}
	return s.p.Tools(ctx)
}

// complete is a modern result that needs no input.
func complete(o object) mcp.Raw {
	o["resultType"] = mcp.ResultComplete
	return encode(o)
}

func (i *Info) identity() any {
	if i.Self != nil {
		return i.Self
	}
	o := object{"name": i.Name, "version": i.Version}
	if i.Title != "" {
		o["title"] = i.Title
	}
	return o
}

// capabilities are what a client of a revision is told: each has tasks its own way, or not
// at all.
func (i *Info) capabilities(revision string) object {
	o := object{"tools": object{}}
	if i.Logs {
		o["logging"] = object{}
	}
	for _, name := range i.Also {
		o[name] = object{}
	}
	for _, name := range i.ListChanged {
		if member, ok := o[name].(object); ok {
			member["listChanged"] = true
		}
	}
	if member, ok := o["resources"].(object); ok && i.Subscribe {
		member["subscribe"] = true
	}
	switch {
	case !i.Tasks:
	case revision == mcp.Revision20251125:
		o["tasks"] = object{"list": object{}, "cancel": object{}, "requests": object{"tools": object{"call": object{}}}}
	case slices.Contains(mcp.ModernRevisions(), revision):
		o["extensions"] = object{mcp.ExtensionTasks: object{}}
	}
	return o
}

// ttl is how many milliseconds the list of tools may be kept, and scope by whom.
func (i *Info) ttl() int {
	if i.Changes {
		return 0
	}
	return 3600_000
}

func (i *Info) scope() string {
	if i.Changes {
		return "private"
	}
	return "public"
}

func (i *Info) initialize(revision string) mcp.Raw {
	o := object{"protocolVersion": revision, "capabilities": i.capabilities(revision), "serverInfo": i.identity()}
	if i.Instructions != "" {
		o["instructions"] = i.Instructions
	}
	return encode(o)
}

func (i *Info) discover() object {
	o := object{
		"supportedVersions": mcp.ModernRevisions(),
		"capabilities":      i.capabilities(mcp.ModernRevisions()[0]),
		"_meta":             object{mcp.MetaServerInfo: i.identity()},
		"ttlMs":             i.ttl(),
		"cacheScope":        i.scope(),
	}
	if i.Instructions != "" {
		o["instructions"] = i.Instructions
	}
	return o
}

func (s *Server) call(ctx context.Context, c Caller, m *mcp.Message) (mcp.Raw, error) {
	call, err := newCall(c, m)
	if err != nil {
		return nil, err
	}
	r, err := s.p.Call(ctx, call)
	switch {
	case err == nil && c.Era() != mcp.Modern:
		return mcp.LegacyResult(r), nil
	case err == nil:
	case ctx.Err() != nil:
		return nil, err // nobody waits for it
	case errors.As(err, new(*mcp.Error)):
		return nil, err
	default:
		if question, ok := errors.AsType[*Question](err); ok {
			return question.result(), nil
		}
		r = Failure(err.Error())
	}
	return r, nil
}

// understand says in which era and revision a request is to be understood: its own if
// it carries one, as modern requests do, else that of the connection. The error is
// for a revision that is not served.
func understand(method string, meta mcp.Raw, connection string) (mcp.Era, string, error) {
	raw := mcp.Member(meta, mcp.MetaProtocolVersion)
	if raw == nil {
		if method == mcp.MethodDiscover {
			return mcp.Modern, mcp.ModernRevisions()[0], nil
		}
		return mcp.Legacy, connection, nil
	}
	var revision string
	if json.Unmarshal(raw, &revision) == nil && slices.Contains(mcp.ModernRevisions(), revision) {
		return mcp.Modern, revision, nil
	}
	e := mcp.Errorf(mcp.CodeUnsupportedVersion, "unsupported protocol version: %s", raw)
	e.Data = encode(object{"supported": mcp.ModernRevisions(), "requested": raw})
	return mcp.Unknown, "", e
}

// Negotiate returns the revision that initialize answers with: the one that was asked
// for if it is a legacy one, else the newest of those.
func Negotiate(asked string) string {
	legacy := mcp.LegacyRevisions()
	if slices.Contains(legacy, asked) {
		return asked
	}
	return legacy[0]
}

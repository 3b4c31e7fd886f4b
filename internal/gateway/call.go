package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/schema"
	"mcpx/internal/settings"
	"mcpx/mcp"
)

// Call calls one tool. A tool that answers with isError is no error of Call; a
// JSON-RPC error of the server is one of kind Tool, with the server's message first
// and whole.
func (g *Gateway) Call(ctx context.Context, in api.CallInput) (*api.CallOutput, error) {
	if err := takes(in.Artifacts); err != nil {
		return nil, err
	}
	s, err := g.server(in.Server)
	if err != nil {
		return nil, err
	}
	args := in.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	gate := g.gate(in.Grant)
	denied := func() error { return grant.Denied(grant.Tool, in.Server+"."+in.Tool) }
	if !gate.Touches(s.entry.Name) {
		return nil, denied()
	}
	if _, err := s.definition(); err != nil {
		return nil, s.warned(err)
	}
	if err := s.foreseen(in.Tool, args); err != nil && gate.Allows(s.entry.Name, in.Tool, true) {
		return nil, err
	}
	tool, err := s.tool(ctx, in.Tool)
	switch {
	case err != nil && (fault.KindOf(err) == fault.NotFound || fault.KindOf(err) == fault.Denied) && !gate.Allows(s.entry.Name, in.Tool, true):
		return nil, denied() // as if it were there
	case err != nil:
		return nil, err
	case !gate.Allows(s.entry.Name, tool.Name, tool.ReadOnly()) && !gate.Allows(s.entry.Name, tool.Name, tool.ReadOnly(), s.aliases(tool.Name)...):
		return nil, denied()
	}
	checked, err := mcp.Check(args)
	if err != nil {
		return nil, fault.Usagef("the arguments of %s.%s are not JSON", s.entry.Name, tool.Name)
	}
	args, coerced := g.inputs.of(tool).Coerce(args)
	if len(coerced) > 0 {
		if checked, err = mcp.Check(args); err != nil {
			return nil, fault.Internalf("the arguments of %s.%s were made no JSON", s.entry.Name, tool.Name)
		}
		g.o.Log.LogAttrs(ctx, slog.LevelInfo, "call.coerced",
			slog.String("server", s.entry.Name), slog.String("tool", tool.Name), slog.Any("arguments", coerced))
	}
	params, err := resumed(mcp.CallParams(tool.Name, checked), in)
	if err != nil {
		return nil, fault.Usagef("what %s.%s is given in answer is no JSON: %w", s.entry.Name, tool.Name, err)
	}
	p, err := s.permit(ctx, tool, args, in)
	if err != nil {
		return nil, err
	}
	r := request{method: mcp.MethodToolsCall, params: params, what: tool.Name, tool: tool, peer: in.Peer}
	answer, err := s.exchange(ctx, r)
	if (notSent(err) || tool.ReadOnly() && sessionLost(err)) && ctx.Err() == nil {
		// The server had ended unnoticed. Another instance takes the call, once.
		answer, err = s.exchange(ctx, r)
	}
	if outdated(err) && ctx.Err() == nil {
		// The server wants other headers than the schema that is known here says.
		if now, again := s.all(ctx, true); again == nil && now.Tool(tool.Name) != nil {
			tool = now.Tool(tool.Name)
			if again = s.permitStill(ctx, tool, args, in, p); again != nil {
				return nil, again // what it says of itself has changed
			}
			r.tool = tool
			answer, err = s.exchange(ctx, r)
		}
	}
	if err != nil {
		return nil, s.explain(tool, args, err)
	}
	raw := answer.Raw()
	if string(raw) == "null" { // to most clients that is no answer, and they wait on
		raw = mcp.Raw(`{"content":[]}`)
	}
	result, err := mcp.ReadResult(answer)
	if err == nil && result.Type == mcp.ResultInputRequired {
		s.g.permits.keep(p, s.entry.Name, tool.Name, args, raw)
		return &api.CallOutput{Server: s.entry.Name, Tool: tool.Name, Result: raw, Coerced: coerced, Warnings: p.warnings}, nil
	}
	if err != nil {
		return nil, fault.Unavailablef("%s.%s answered with something that is no tool result: %w", s.entry.Name, tool.Name, err).
			With("server", s.entry.Name).With("tool", tool.Name).With("mayHaveRun", true)
	}
	out := &api.CallOutput{Server: s.entry.Name, Tool: tool.Name, Result: raw, Coerced: coerced, IsError: result.IsError, Warnings: slices.Concat(p.warnings, s.fleeting())}
	if in.Artifacts != nil {
		if result, err = g.link(ctx, out, result); err != nil {
			return nil, err
		}
	}
	switch {
	case in.Bare:
	case result.IsError:
		out.Text, out.IsText = result.Failure(), true
	default:
		out.Value, out.Text, out.IsText = result.Value()
	}
	if result.IsError {
		out.Diagnostics = diagnostics(tool, args)
	}
	if len(out.Diagnostics) == 0 {
		for _, a := range g.inputs.of(tool).Strangers(args) {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s.%s has no argument %q: %s", s.entry.Name, tool.Name, a.Path, a.Hint))
		}
	}
	return out, nil
}

// aliases are the other spellings of one of the server's tools, as far as its tools are known.
func (s *server) aliases(tool string) []string {
	entry, ok := s.g.o.Catalog.Get(s.key)
	if !ok {
		return nil
	}
	return schema.Aliases(entry.Names())[tool]
}

// resumed adds to the parameters of a call what the caller has for a server that asked.
func resumed(params mcp.Checked, in api.CallInput) (mcp.Checked, error) {
	for _, m := range [...]struct {
		key   string
		value json.RawMessage
	}{{"inputResponses", in.InputResponses}, {"requestState", in.RequestState}} {
		if len(m.value) == 0 {
			continue
		}
		value, err := mcp.Check(m.value)
		if err != nil {
			return params, err
		}
		if params, err = params.With(m.key, value); err != nil {
			return params, err
		}
	}
	return params, nil
}

// gate is what a caller may call. Whoever is not bound may call everything.
func (g *Gateway) gate(w *api.ToolGrant) *grant.Tools {
	if w == nil {
		return g.ungated
	}
	return grant.OpenTools(grant.Words{Allow: w.Allow, Deny: w.Deny}, g.names)
}

// notSent reports whether a call failed before the server could have seen it. One that
// the server refused, with a status of HTTP, it would refuse again.
func notSent(err error) bool {
	var e *fault.Error
	return errors.As(err, &e) && e.Kind == fault.Unavailable && e.Details["mayHaveRun"] == false && e.Details["status"] == nil
}

// sessionLost reports whether a call was under way when the server lost the session.
func sessionLost(err error) bool {
	var e *fault.Error
	return errors.As(err, &e) && e.Details["sessionLost"] == true
}

// outdated reports whether a server refused a call because headers are missing or wrong.
func outdated(err error) bool {
	var answer *mcp.Error
	return errors.As(err, &answer) && answer.Code == mcp.CodeHeaderMismatch
}

// explain adds to a failed call what mcpx knows of it. The server's message stays
// first and whole; only an answer of the server is explained.
func (s *server) explain(tool *mcp.Tool, args json.RawMessage, err error) error {
	var answer *mcp.Error
	if !errors.As(err, &answer) {
		return s.warned(err)
	}
	e := fault.New(fault.Tool, "%s", answer.Message).
		With("server", s.entry.Name).With("tool", tool.Name).With("code", answer.Code).With("mayHaveRun", true)
	if answer.Message == "" {
		e.Message = "the server answered with an error and no message"
	}
	if len(answer.Data) > 0 {
		e = e.With("data", answer.Data)
	}
	if found := diagnostics(tool, args); len(found) > 0 {
		e = e.With("diagnostics", found).Hintf("%s.%s: %s", s.entry.Name, tool.Name, found[0])
	}
	if pages := toOpen(answer); len(pages) > 0 {
		e = e.Hintf("make the call again when that is done:\n%s", strings.Join(pages, "\n"))
	}
	return e
}

// toOpen says in words which pages an error asks a person to open first.
func toOpen(answer *mcp.Error) (pages []string) {
	if answer.Code != mcp.CodeURLRequired {
		return nil
	}
	for q := range mcp.Elements(mcp.Member(answer.Data, "elicitations")) {
		if len(pages) < maxPages {
			pages = append(pages, inWords(mcp.MethodElicitation, q))
		}
	}
	return pages
}

// diagnostics says what the tool's schema has against the arguments. The call was made
// all the same: the server decides what it accepts.
func diagnostics(tool *mcp.Tool, args json.RawMessage) []string {
	err := schema.Validate(tool.InputSchema, args)
	if err == nil {
		return nil
	}
	e := fault.From(err)
	if e.Hint != "" {
		return []string{e.Message + "; " + e.Hint}
	}
	return []string{e.Message}
}

// clock makes the clock of one request to the server.
func (s *server) clock(what string) *clock {
	idle := settings.PoolCallTimeout.Get(s.g.settings)
	silence := "pool.callTimeout"
	if v := s.resolved(); v != nil && v.def.Process.CallTimeout > 0 {
		idle, silence = v.def.Process.CallTimeout, "callTimeout of its entry"
	}
	longest := settings.PoolCallMax.Get(s.g.settings)
	failure := func(setting string, d time.Duration, happened string) *fault.Error {
		return fault.Timeoutf("%s.%s %s (%s = %s)", s.entry.Name, what, happened, setting, d).
			With("server", s.entry.Name).With("tool", what).With("mayHaveRun", true)
	}
	return &clock{
		idle: idle, longest: longest,
		silent: func() error {
			e := failure(silence, idle, "gave no answer and no progress")
			if silence != "pool.callTimeout" {
				return e.Hintf("give it longer in %s, or look at what the server waits for", s.entry.Origin)
			}
			return e.Hintf("give it longer with %s, or look at what the server waits for", settings.PoolCallTimeout.Give(2*idle))
		},
		long: func() error {
			return failure("pool.callMax", longest, "took too long").
				Hintf("give it longer with %s", settings.PoolCallMax.Give(2*longest))
		},
	}
}

// deadline bounds one request to the server.
func (s *server) deadline(ctx context.Context, what string) (context.Context, *clock) {
	c := s.clock(what)
	return c.start(ctx), c
}

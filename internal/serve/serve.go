// Package serve offers mcpx to other programs as an MCP server: its own tools, which find,
// describe and call the tools of all servers and run scripts against them (Code), the tools
// of all servers under names of their own (Full), or one server as it is (Passthrough).
//
// It decides what is offered and how answers read. How messages travel is the business of
// mcp/server, which tool a name means that of the gateway, what a script may do that of
// run: everything goes through their doors.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/fault"
	"mcpx/internal/gateway"
	"mcpx/mcp"
	"mcpx/mcp/server"
)

// Modes, by the words that users know them by.
const (
	Code        = "code"
	Full        = "full"
	Passthrough = "passthrough"
)

// Gateway reaches the servers. It is a *gateway.Gateway.
type Gateway interface {
	api.Servers
	api.Offers
	About(ctx context.Context, server string) (*gateway.About, error)
	Ask(ctx context.Context, in gateway.AskInput) (json.RawMessage, error)
	Listen(ctx context.Context, in gateway.ListenInput, hear func(server, method string, params json.RawMessage)) (gateway.Heard, error)
}

// Options is what is offered.
type Options struct {
	Mode    string
	Gateway Gateway
	Version string
	// Server is the one of Passthrough; empty means the only one that is configured.
	Server string
	// Grant bounds which tools are offered and called; nil is no bound.
	Grant *api.ToolGrant

	// For Code: what runs the scripts, with which permissions (Permissions, Allow and Deny
	// of Exec), how long they may take, and where artifacts are kept.
	Runner    api.Runner
	Exec      api.ExecInput
	Longest   time.Duration
	Artifacts artifact.Store
	// Tasks keeps calls that go on without their clients; nil: none do. TaskAfter is how long
	// a client of the modern era that takes tasks waits for an answer before it is given one.
	Tasks     Tasks
	TaskAfter time.Duration
	// Overview is how many tokens the overview in the description of mcpx_exec may take; 0 is
	// catalog.budget.
	Overview int

	// Questions is how long a call waits for the answers to its questions, if its client has to
	// come back with them; 0 is the time of server.Server.
	Questions time.Duration

	// declareWait is how long a client of Full waits for servers to say what they offer; 0
	// is the usual time. Tests change it.
	declareWait time.Duration
}

// New makes the handler of a mode. Nothing is started. The error is of kind Usage for a
// mode that is none, and for Passthrough if it is not clear which server is meant.
func New(ctx context.Context, o Options) (*server.Server, error) {
	config, err := o.Gateway.Config(ctx, api.ConfigInput{})
	if err != nil {
		return nil, err
	}
	if broken := config.Err(); broken != nil {
		return nil, broken // what it holds would be missing without a word
	}
	var names []string
	for _, s := range config.Servers {
		if !s.Disabled {
			names = append(names, s.Name)
		}
	}
	if o.Server != "" && o.Mode != Passthrough {
		return nil, fault.Usagef("--server names the one server of --mode passthrough, and the mode is %s", o.Mode)
	}
	of := func(p server.Provider) *server.Server {
		s := server.Of(p)
		s.Park = o.Questions
		return s
	}
	switch o.Mode {
	case Code:
		return of(newCode(o)), nil
	case Full:
		return of(newFull(o, names)), nil
	case Passthrough:
		switch {
		case o.Server != "":
		case len(names) == 1:
			o.Server = names[0]
		case len(names) == 0:
			return nil, fault.Usagef("there is no server to pass through to").Hintf("mcpx config shows where entries are looked for")
		default:
			return nil, fault.Usagef("passthrough offers one server, and %d are configured", len(names)).
				Hintf("name it with --server: %s", strings.Join(names, ", "))
		}
		if _, err := o.Gateway.Changes(ctx, api.ChangesInput{Name: o.Server}); err != nil {
			return nil, err // there is no such server
		}
		return of(&passthrough{o: o, names: names}), nil
	}
	return nil, fault.Usagef("there is no mode %q", o.Mode).Hintf("the modes are %s, %s and %s", Code, Full, Passthrough)
}

// failure is an error as a tool's answer tells it: the sentence, and the next step.
func failure(err error) error {
	return errors.New(passedOn(fault.ReportOf(err)).Text())
}

// answered is the same for a client that has the tools of mcpx itself.
func answered(err error) error {
	return errors.New(told(fault.ReportOf(err)).Text())
}

// inTools says with the tools of mcpx what hints say with its commands: who calls may have
// no shell.
var inTools = strings.NewReplacer(
	"mcpx ls lists its tools", "mcpx_catalog lists its tools, and mcpx_search finds tools by words",
	"mcpx ls lists the servers", "mcpx_catalog lists the servers",
	"mcpx ls lists those that are", "mcpx_catalog lists those that are",
	"mcpx ls asks the servers for their tools", "mcpx_catalog asks the servers for their tools",
)

// told is an error with next steps that a client of Code can take, or that are its user's to
// take.
func told(r *fault.Report) *fault.Report {
	own := *r
	own.Hint = inTools.Replace(r.Hint)
	return forUser(own)
}

// passedOn is the same for a client that has the tools of the servers alone, and their list.
func passedOn(r *fault.Report) *fault.Report {
	own := *r
	if inTools.Replace(r.Hint) != r.Hint {
		own.Hint = "" // there is no such tool here
	}
	return forUser(own)
}

// forUser says of what would lift a denial or a limit that it is not the client's to do: it is
// a flag, a setting or a command of whoever has started mcpx.
func forUser(r fault.Report) *fault.Report {
	bounded := (r.Kind == fault.Limit || r.Kind == fault.Timeout) && strings.Contains(r.Hint, " --")
	if r.Hint != "" && r.Kind == fault.Denied || bounded {
		r.Hint = "the user of mcpx can change that: " + r.Hint
	}
	return &r
}

// passed is the error of a call that was passed on. What the server answered with is
// answered unchanged; a tool that is not there is an error of the request.
func passed(err error) error {
	if answer, ok := errors.AsType[*mcp.Error](err); ok {
		return answer
	}
	e := fault.From(err)
	code, ok := e.Details["code"].(int)
	switch {
	case e.Kind == fault.Tool && ok:
		data, _ := e.Details["data"].(json.RawMessage)
		return &mcp.Error{Code: code, Message: e.Message, Data: data}
	case e.Kind == fault.NotFound:
		return mcp.Errorf(mcp.CodeInvalidParams, "%s", passedOn(fault.ReportOf(err)).Text())
	}
	return failure(err)
}

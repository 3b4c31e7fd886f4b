package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/schema"
	"mcpx/mcp"
	"mcpx/mcp/server"
)

// code offers the tools of mcpx itself.
type code struct {
	o     Options
	tools []tool
	desk  *desk         // nil if there are no tasks
	runs  chan struct{} // one for each script that runs
	waits chan struct{} // one for each question of a script

	mu   sync.Mutex
	kept []api.Artifact // of the scripts that were run here, the oldest first
}

const (
	// maxRuns is how many scripts run at a time; the others wait.
	maxRuns = 8
	// maxWaits is how many questions of scripts wait for answers at a time.
	maxWaits = 16
)

// tool is one tool of mcpx.
type tool struct {
	name        string
	title       string
	description func(ctx context.Context) string
	schema      string // of its arguments
	annotations string
	// call answers a call, or understand makes a job of one: then it can be a task.
	call       func(ctx context.Context, c *server.Call) (mcp.Raw, error)
	understand func(ctx context.Context, c *server.Call) (*job, error)
}

func newCode(o Options) *code {
	c := &code{o: o, runs: make(chan struct{}, maxRuns), waits: make(chan struct{}, maxWaits)}
	says := func(text string) func(context.Context) string { return func(context.Context) string { return text } }
	c.tools = []tool{
		{
			name: "mcpx_exec", title: "Run a script", description: c.describe, annotations: string(api.RunScript.ToolAnnotations()), understand: c.exec,
			schema: fmt.Sprintf(`{"type":"object","properties":{`+
				`"code":{"type":"string","description":"TypeScript or JavaScript"},`+
				`"timeoutMs":{"type":"integer","minimum":1,"description":"How long it may take; at most, and by default, %[1]d"},`+
				`"args":{"type":"array","items":{"type":"string"},"description":"What it finds in process.argv, from the third on"},`+
				`"stdin":{"type":"string","description":"What input() gives it"},`+
				`"ns":{"type":"array","items":{"type":"string"},"description":"The servers that it finds; without them all"},`+
				`"export":{"type":"string","description":"The export that is the value, called if it is a function"},`+
				`"placeholders":{"type":"object","description":"JSON values for @NAME in the code, by name"},`+
				`"phases":{"type":"object","properties":{"before":%[2]s,"prefix":%[2]s,"onSuccess":%[2]s,"onError":%[2]s,"suffix":%[2]s},"additionalProperties":false,"description":"Scripts around it"},`+
				`"captureConsole":{"type":"boolean","description":"Take what it prints for its log"},`+
				`"permissions":{"type":"string","description":"A profile that gives it less than it would have: none, tools, …"},`+
				`"allow":%[3]s,"deny":%[3]s,`+
				`"limits":{"type":"object","additionalProperties":{"type":"string"},"description":"Lower limits: memory, cpu, toolCalls, inFlight, output, as in 64MiB or 5s"},`+
				`"task":{"type":"object","properties":{"ttl":{"type":"string","description":"How long the result is kept, as in 1h"}},"additionalProperties":false,"description":"Make a task of it, which goes on by itself"}},`+
				`"required":["code"],"additionalProperties":false}`, o.Longest.Milliseconds(), `{"type":"array","items":{"type":"string"}}`,
				`{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}},"description":"Words by grant (tools, read, …), within what it would have"}`),
		},
		{
			name: "mcpx_search", title: "Find tools", annotations: string(api.SearchTools.ToolAnnotations()), call: c.search,
			description: says("Finds tools of all servers by words, best first, each with its signature."),
			schema:      string(api.SearchTools.ToolSchema()),
		},
		{
			name: "mcpx_types", title: "Declare tools in TypeScript", annotations: string(api.DeclareTypes.ToolAnnotations()), call: c.types,
			description: says("Declares one tool (NS.TOOL) or all tools of a server (NS) in TypeScript: their arguments, results and descriptions."),
			schema:      string(api.DeclareTypes.ToolSchema()),
		},
		{
			name: "mcpx_call", title: "Call one tool", annotations: string(api.CallTool.ToolAnnotations()), understand: c.call,
			description: says("Calls one tool of one server and answers with its result as it is. For more than one call, mcpx_exec is better."),
			schema:      string(api.CallTool.ToolSchema()),
		},
		{
			name: "mcpx_catalog", title: "List tools", annotations: string(api.ShowCatalog.ToolAnnotations()), call: c.catalog,
			description: says("An overview of all servers and as many of their tools as fit a number of tokens."),
			schema:      string(api.ShowCatalog.ToolSchema()),
		},
	}
	if o.Tasks != nil {
		c.desk = newDesk(o.Tasks, o.TaskAfter)
		c.tools = append(c.tools, c.taskTools()...)
	}
	return c
}

func (c *code) Info(context.Context) (*server.Info, error) {
	info := &server.Info{
		Name: "mcpx", Title: "mcpx", Version: c.o.Version, Changes: true, Tasks: c.desk != nil,
		Instructions: "Every configured MCP server behind a handful of tools. mcpx_exec runs TypeScript that calls any of their tools; " +
			"mcpx_search, mcpx_types and mcpx_catalog find and describe them; mcpx_call calls one.",
	}
	if c.o.Artifacts.Dir != "" {
		info.Also = []string{"resources"}
	}
	return info, nil
}

func (c *code) Tools(ctx context.Context) ([]mcp.Raw, error) { return c.list(ctx, false), nil }

// ToolsFor says which tools can be called as tasks to clients of the revision that has a
// place for it.
func (c *code) ToolsFor(ctx context.Context, caller server.Caller) ([]mcp.Raw, error) {
	return c.list(ctx, caller.Revision() == mcp.Revision20251125), nil
}

func (c *code) list(ctx context.Context, execution bool) []mcp.Raw {
	list := make([]mcp.Raw, 0, len(c.tools))
	for _, t := range c.tools {
		var runs mcp.Raw
		if execution && c.desk != nil && t.understand != nil {
			runs = mcp.Raw(`{"taskSupport":"optional"}`)
		}
		list = append(list, encode(struct {
			Name        string  `json:"name"`
			Title       string  `json:"title"`
			Description string  `json:"description"`
			InputSchema mcp.Raw `json:"inputSchema"`
			Execution   mcp.Raw `json:"execution,omitempty"`
			Annotations mcp.Raw `json:"annotations"`
		}{t.name, t.title, t.description(ctx), mcp.Raw(t.schema), runs, mcp.Raw(t.annotations)}))
	}
	return list
}

// Definition is nil: no tool of mcpx asks for headers.
func (c *code) Definition(context.Context, string) mcp.Raw { return nil }

func (c *code) Call(ctx context.Context, call *server.Call) (mcp.Raw, error) {
	i := slices.IndexFunc(c.tools, func(t tool) bool { return t.name == call.Name })
	if i < 0 {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown tool: %s", call.Name)
	}
	out, err := c.callTool(ctx, c.tools[i], call)
	if m, ok := errors.AsType[*misread](err); ok {
		return nil, m.explain(c.tools[i], call.Arguments)
	}
	return out, err
}

func (c *code) callTool(ctx context.Context, t tool, call *server.Call) (mcp.Raw, error) {
	switch {
	case t.understand != nil:
		j, err := t.understand(ctx, call)
		if err != nil {
			return nil, err
		}
		return c.perform(ctx, call, j)
	case c.desk != nil && call.Revision() == mcp.Revision20251125 && mcp.Member(call.Params, "task") != nil:
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s cannot be called as a task", t.name)
	}
	return t.call(ctx, call)
}

// encode turns a value into JSON without escaping what only HTML needs escaped.
func encode(v any) mcp.Raw {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("serve: %v", err)) // only values of our own come here
	}
	return bytes.TrimSpace(b.Bytes())
}

// arguments reads those of a call. An argument that the tool does not have is an error, so
// that a slip of the pen is not taken for the default.
func arguments[T any](c *server.Call) (T, error) {
	var in T
	d := json.NewDecoder(bytes.NewReader(c.Arguments))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return in, &misread{argumentNames(reflect.TypeFor[T]()), err}
	}
	return in, nil
}

// misread says that the arguments of a call are not those that its tool has.
type misread struct {
	known []string
	why   error
}

func (m *misread) Error() string { return strings.TrimPrefix(m.why.Error(), "json: ") }

// explain says what is wrong with the arguments of a tool, and what was meant.
func (m *misread) explain(t tool, given mcp.Raw) error {
	strangers := schema.NewInput(json.RawMessage(t.schema)).Strangers(given)
	strangers = slices.DeleteFunc(strangers, func(s schema.Stranger) bool { // those that are spelled otherwise are read
		return slices.ContainsFunc(m.known, func(k string) bool { return strings.EqualFold(k, s.Path) })
	})
	if len(m.known) == 0 {
		return fmt.Errorf("%s takes no arguments", t.name)
	}
	if len(strangers) == 0 {
		if err := schema.Validate(json.RawMessage(t.schema), given); err != nil {
			e := fault.From(err)
			return errors.New(strings.TrimSuffix(t.name+": "+e.Message+"; "+e.Hint, "; "))
		}
		return fmt.Errorf("the arguments of %s: %w", t.name, m)
	}
	s := strangers[0]
	hint := s.Hint + " "
	if !strings.HasPrefix(hint, "did you mean") {
		hint = "" // what there is follows, in an order that tells more
	}
	if strings.ContainsAny(s.Path, ".[") {
		return fmt.Errorf("%s has no argument %q: %s", t.name, s.Path, s.Hint)
	}
	return fmt.Errorf("%s has no argument %q: %sit has %s", t.name, s.Path, hint, strings.Join(m.known, ", "))
}

// argumentNames are the arguments that t has places for, as schemas spell them.
func argumentNames(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous || !f.IsExported() || name == "-":
			continue
		case name == "" && strings.ToUpper(f.Name) == f.Name:
			name = strings.ToLower(f.Name)
		case name == "":
			name = strings.ToLower(f.Name[:1]) + f.Name[1:]
		}
		names = append(names, name)
	}
	return names
}

// catalogWait is how long a listing waits for servers whose tools nobody knows yet.
const catalogWait = 5 * time.Second

// describe tells a model how scripts are written, and which tools there are.
func (c *code) describe(ctx context.Context) string {
	var b strings.Builder
	b.WriteString(`Runs TypeScript that calls the tools of all servers, and answers with what it returns or prints.

const { items } = await tools.NS.TOOL({ argument: "value" });   // every tool is an async function of one object
return items.map(i => i.title);                                 // return only what you need

Top-level await, loops and Promise.all work. A tool gives its structured result, JSON as a value, or text; a tool that fails throws. await artifact(name, data) keeps what is too large to return, and gives its uri. mcpx_search finds tools by words, mcpx_types declares their arguments.
`)
	wait, cancel := context.WithTimeout(ctx, catalogWait)
	defer cancel()
	out, err := c.o.Gateway.Catalog(wait, api.CatalogInput{Budget: c.o.Overview})
	if err != nil {
		b.WriteString("\nThe tools are not known yet; mcpx_catalog lists them.")
		return b.String()
	}
	// The overview speaks to somebody with a shell.
	fmt.Fprintf(&b, "\nTools, as members of tools:\n%s", strings.ReplaceAll(out.Text, "mcpx types NS.TOOL", "mcpx_types"))
	return strings.TrimRight(b.String(), "\n")
}

func (c *code) search(ctx context.Context, call *server.Call) (mcp.Raw, error) {
	in, err := arguments[struct {
		Words     string
		Namespace string
		Limit     int
	}](call)
	if err != nil {
		return nil, err
	}
	out, err := c.o.Gateway.Search(ctx, api.SearchInput{Words: in.Words, Namespace: in.Namespace, Limit: min(in.Limit, 100), Grant: c.o.Grant})
	if err != nil {
		return nil, answered(err)
	}
	var b strings.Builder
	for _, r := range out.Results {
		line, _, _ := strings.Cut(r.Description, "\n")
		fmt.Fprintf(&b, "%s.%s\n  %s\n", r.Namespace, r.Signature, line)
	}
	if len(out.Results) == 0 {
		b.WriteString("no tool fits these words")
	}
	return result(b.String(), encode(out)), nil
}

func (c *code) types(ctx context.Context, call *server.Call) (mcp.Raw, error) {
	in, err := arguments[struct{ Name string }](call)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Name) == "":
		return nil, fmt.Errorf("mcpx_types needs a name: NS or NS.TOOL")
	}
	out, err := c.o.Gateway.Types(ctx, api.TypesInput{Name: in.Name, Brief: true})
	if err != nil {
		return nil, answered(err)
	}
	return server.Text(out.Declarations), nil
}

// call understands a call of a tool.
func (c *code) call(ctx context.Context, call *server.Call) (*job, error) {
	in, err := arguments[struct {
		Server    string
		Tool      string
		Arguments json.RawMessage
		Artifacts *api.ArtifactWish
		Task      *api.TaskWish
	}](call)
	if err != nil {
		return nil, err
	}
	if in.Server == "" {
		if in.Server, in.Tool, err = c.split(ctx, in.Tool); err != nil {
			return nil, err
		}
	}
	if err := foreign(ctx, c.o, in.Server, call.Params); err != nil {
		return nil, err
	}
	return &job{kind: kindCall, what: in.Server + "." + in.Tool, wish: in.Task, do: func(ctx context.Context, call *server.Call) (*outcome, error) {
		// A task has no result that is unfinished: it asks, and goes on.
		_, task := call.Caller.(*errand)
		out, err := c.o.Gateway.Call(ctx, api.CallInput{
			Server: in.Server, Tool: in.Tool, Arguments: in.Arguments, Grant: c.o.Grant, Peer: peer{c: call, repeats: !task, named: true}, Consent: consent{peer{c: call}},
			InputResponses: mcp.Member(call.Params, "inputResponses"), RequestState: mcp.Member(call.Params, "requestState"),
			Artifacts: in.Artifacts, Bare: !task, // what is kept of a task is for every reader
		})
		if err != nil {
			return nil, err
		}
		c.keep(out.Artifacts)
		return &outcome{output: out, answer: readable(call.Revision(), mcp.SoundResult(out.Result), out.Artifacts), failed: out.IsError}, nil
	}}, nil
}

// split splits SERVER.TOOL, which a model may give as the tool: that is how scripts and
// listings spell it. Both names may hold dots: then the longest server that is configured
// wins, and else the first dot parts them.
func (c *code) split(ctx context.Context, name string) (server, tool string, err error) {
	server, tool, _ = strings.Cut(name, ".")
	if server == "" || tool == "" {
		return "", "", fmt.Errorf("mcpx_call needs a server and a tool: write server \"SERVER\", tool \"TOOL\"; mcpx_search finds tools")
	}
	out, err := c.o.Gateway.Config(ctx, api.ConfigInput{})
	if err != nil {
		return "", "", answered(err)
	}
	for _, s := range out.Servers {
		if rest, ok := strings.CutPrefix(name, s.Name+"."); ok && rest != "" && len(s.Name) > len(server) {
			server, tool = s.Name, rest
		}
	}
	return server, tool, nil
}

func (c *code) catalog(ctx context.Context, call *server.Call) (mcp.Raw, error) {
	in, err := arguments[struct {
		Budget int
		Bias   string
	}](call)
	if err != nil {
		return nil, err
	}
	out, err := c.o.Gateway.Catalog(ctx, api.CatalogInput{Budget: in.Budget, Bias: in.Bias})
	if err != nil {
		return nil, answered(err)
	}
	return server.Text(strings.ReplaceAll(out.Text, "mcpx types NS.TOOL", "mcpx_types")), nil
}

// result is a result of a text and the same as a value.
func result(text string, structured mcp.Raw) mcp.Raw {
	return encode(map[string]any{
		"content":           []any{map[string]string{"type": "text", "text": text}},
		"structuredContent": structured,
	})
}

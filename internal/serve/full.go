package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/gateway"
	"mcpx/internal/grant"
	"mcpx/internal/schema"
	"mcpx/mcp"
	"mcpx/mcp/server"
)

// separator stands between the names of a server and its tool.
const separator = "__"

// full offers every tool of every server as SERVER__TOOL, every prompt as SERVER__PROMPT,
// and every resource as it is.
type full struct {
	o     Options
	names []string // of the servers
	turn  chan struct{}

	mu       sync.Mutex
	known    map[string]offered // what the last listing offered
	prompts  map[string]offered
	declared map[string]mcp.Raw // what servers declared
	asked    time.Time          // when those were asked last that have not answered
}

// offered is a tool or a prompt under the name that it is offered by.
type offered struct {
	server, tool string
	definition   mcp.Raw
}

func newFull(o Options, names []string) *full {
	return &full{o: o, names: names, turn: make(chan struct{}, 1), declared: map[string]mcp.Raw{}}
}

func (f *full) Info(ctx context.Context) (*server.Info, error) {
	info := &server.Info{
		Name: "mcpx", Title: "mcpx", Version: f.o.Version, Changes: true, ListChanged: []string{"tools"},
		Instructions: "The tools and prompts of several MCP servers, each named SERVER" + separator + "TOOL, and their resources.",
	}
	for _, declared := range f.capabilities(ctx) {
		for _, name := range []string{"completions", "prompts", "resources"} {
			if mcp.Member(declared, name) != nil && !slices.Contains(info.Also, name) {
				info.Also = append(info.Also, name)
				if name != "completions" {
					info.ListChanged = append(info.ListChanged, name)
				}
			}
		}
		info.Logs = info.Logs || mcp.Member(declared, "logging") != nil
		info.Subscribe = info.Subscribe || string(mcp.Member(mcp.Member(declared, "resources"), "subscribe")) == "true"
	}
	return info, nil
}

const (
	// declareWait is how long a client waits for servers to say what they offer, and
	// declareAgain how long those are left alone that have not.
	declareWait  = 5 * time.Second
	declareAgain = time.Minute
)

// capabilities are what the servers declare that can be asked. Each is asked once.
func (f *full) capabilities(ctx context.Context) map[string]mcp.Raw {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(f.o.declareWait, declareWait))
	defer cancel()
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
	}
	f.mu.Lock()
	var missing []string
	if time.Since(f.asked) > declareAgain {
		gate := gateOf(f.o.Grant, f.names)
		for _, name := range f.names {
			if _, ok := f.declared[name]; !ok && gate.Touches(name) {
				missing = append(missing, name)
			}
		}
		f.asked = time.Now()
	}
	f.mu.Unlock()
	var wg sync.WaitGroup
	for _, name := range missing {
		wg.Go(func() {
			about, err := f.o.Gateway.About(ctx, name)
			if err != nil {
				return // its tools are left out as well
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			f.declared[name] = about.Capabilities
		})
	}
	wg.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.declared)
}

// Tools lists what can be called. A server that cannot be asked is left out; the others
// are not held up by it.
func (f *full) Tools(ctx context.Context) ([]mcp.Raw, error) {
	list, known, err := offers(ctx, f.o, "", f.names, func(t api.Tool) string { return t.Namespace + separator + t.Name })
	if err != nil {
		return nil, failure(err)
	}
	f.mu.Lock()
	f.known = known
	f.mu.Unlock()
	return list, nil
}

// offers lists the tools of one server, or of all, that the grant leaves, under names that
// named gives them. A name that is taken gets a number. What a client may refuse the whole list
// for is mended.
func offers(ctx context.Context, o Options, ns string, names []string, named func(api.Tool) string) ([]mcp.Raw, map[string]offered, error) {
	out, err := o.Gateway.Tools(ctx, api.ToolsInput{Namespace: ns})
	if err != nil {
		return nil, nil, err
	}
	gate := gateOf(o.Grant, names)
	list, known := []mcp.Raw{}, map[string]offered{}
	for _, t := range out.Tools {
		as := mcp.Tool{Name: t.Name, Annotations: t.Annotations}
		if !gate.Allows(t.Namespace, t.Name, as.ReadOnly(), t.Aliases...) {
			continue
		}
		name := named(t)
		for n := 2; known[name].definition != nil; n++ {
			name = fmt.Sprintf("%s_%d", named(t), n)
		}
		definition := mcp.SoundTool(t.Definition)
		if out := mcp.Member(definition, "outputSchema"); out != nil && !schema.Sound(out) {
			definition = mcp.WithoutMember(definition, "outputSchema")
		}
		if name != t.Name {
			text, err := json.Marshal(name)
			if err != nil {
				return nil, nil, err
			}
			if definition, err = mcp.SetMember(definition, "name", text); err != nil {
				return nil, nil, err
			}
		}
		known[name] = offered{server: t.Namespace, tool: t.Name, definition: definition}
		list = append(list, definition)
	}
	return list, known, nil
}

// gateOf is what clients may call of some servers.
func gateOf(g *api.ToolGrant, names []string) *grant.Tools {
	words := grant.Words{Allow: []string{grant.Any}}
	if g != nil {
		words = grant.Words{Allow: g.Allow, Deny: g.Deny}
	}
	return grant.OpenTools(words, names)
}

// find returns what is offered under a name. One that the last listing did not have is
// looked for once more.
func (f *full) find(ctx context.Context, name string) (offered, error) {
	for again := range 2 {
		f.mu.Lock()
		t, ok := f.known[name]
		f.mu.Unlock()
		switch {
		case ok:
			return t, nil
		case again == 1:
			return offered{}, mcp.Errorf(mcp.CodeInvalidParams, "unknown tool: %s", name)
		}
		if _, err := f.Tools(ctx); err != nil {
			return offered{}, err
		}
	}
	panic("unreachable")
}

func (f *full) Definition(ctx context.Context, name string) mcp.Raw {
	t, err := f.find(ctx, name)
	if err != nil {
		return nil // the call says why
	}
	return t.definition
}

func (f *full) Call(ctx context.Context, c *server.Call) (mcp.Raw, error) {
	t, err := f.find(ctx, c.Name)
	if err != nil {
		return nil, err
	}
	return passOn(ctx, f.o, t.server, t.tool, c, true)
}

// passOn calls a tool and returns its result as it came, but for nulls that clients refuse.
// named has a question of the server say who asks.
func passOn(ctx context.Context, o Options, server, tool string, c *server.Call, named bool) (mcp.Raw, error) {
	if err := foreign(ctx, o, server, c.Params); err != nil {
		return nil, err
	}
	out, err := o.Gateway.Call(ctx, api.CallInput{
		Server: server, Tool: tool, Arguments: c.Arguments, Grant: o.Grant, Peer: peer{c: c, repeats: true, named: named}, Consent: consent{peer{c: c}}, Bare: true,
		InputResponses: mcp.Member(c.Params, "inputResponses"), RequestState: mcp.Member(c.Params, "requestState"),
	})
	if err != nil {
		return nil, passed(err)
	}
	return mcp.SoundResult(out.Result), nil
}

// Listen hears what the servers that run say, and of resources their servers.
func (f *full) Listen(ctx context.Context, c server.Caller, want server.Filter, say func(method string, params mcp.Raw)) (server.Filter, error) {
	gate := gateOf(f.o.Grant, f.names)
	hear := func(server, method string, params json.RawMessage) {
		if gate.Touches(server) {
			say(method, params)
		}
	}
	var got server.Filter
	if want.Tools || want.Prompts || want.Resources || want.Level != "" {
		heard, err := f.o.Gateway.Listen(ctx, gateway.ListenInput{Tools: want.Tools, Prompts: want.Prompts, Resources: want.Resources, Level: want.Level}, hear)
		if err != nil {
			return got, passed(err)
		}
		got = filterOf(heard, want)
	}
	owners := map[string][]string{}
	for _, uri := range want.URIs {
		owner, err := f.owner(ctx, uri)
		if err != nil {
			return got, err
		}
		if owner != "" {
			owners[owner] = append(owners[owner], uri)
		}
	}
	for owner, uris := range owners {
		heard, err := f.o.Gateway.Listen(ctx, gateway.ListenInput{Server: owner, URIs: uris, Peer: peer{c: c}}, hear)
		if err != nil {
			return got, passed(err)
		}
		got.URIs = append(got.URIs, heard.URIs...)
	}
	if len(want.URIs) > 0 && len(got.URIs) == 0 && !want.Tools && !want.Prompts && !want.Resources {
		return got, mcp.Errorf(mcp.CodeInvalidParams, "there is no resource %s that says when it changes", strings.Join(want.URIs, ", "))
	}
	return got, nil
}

// filterOf is what is heard of what was wanted.
func filterOf(heard gateway.Heard, want server.Filter) server.Filter {
	f := server.Filter{Tools: heard.Tools, Prompts: heard.Prompts, Resources: heard.Resources, URIs: heard.URIs}
	if heard.Logging {
		f.Level = want.Level
	}
	return f
}

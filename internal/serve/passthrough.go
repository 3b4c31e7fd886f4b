package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"mcpx/internal/api"
	"mcpx/internal/gateway"
	"mcpx/mcp"
	"mcpx/mcp/server"
)

// passthrough offers one server as it is: its tools, resources, prompts and completions,
// and what it says of its own accord.
type passthrough struct {
	o     Options
	names []string
}

// passedMethods are the methods that are passed on, by the capability that they belong to.
func passedMethods(method string) (capability string, cached bool) {
	switch method {
	case "resources/list", "resources/templates/list", mcp.MethodRead:
		return "resources", true
	case "prompts/list":
		return "prompts", true
	case mcp.MethodPromptsGet:
		return "prompts", false
	case "completion/complete":
		return "completions", false
	}
	return "", false
}

const listChanged = "listChanged"

func (p *passthrough) Info(ctx context.Context) (*server.Info, error) {
	about, err := p.o.Gateway.About(ctx, p.o.Server)
	if err != nil {
		return nil, failure(err)
	}
	info := &server.Info{Name: p.o.Server, Version: p.o.Version, Instructions: about.Instructions, Changes: true}
	if bytes.HasPrefix(about.Info, []byte("{")) {
		info.Self = about.Info
	}
	info.Logs = mcp.Member(about.Capabilities, "logging") != nil
	is := func(capability, member string) bool {
		return string(mcp.Member(mcp.Member(about.Capabilities, capability), member)) == "true"
	}
	if is("tools", listChanged) {
		info.ListChanged = []string{"tools"}
	}
	if !gateOf(p.o.Grant, p.names).Touches(p.o.Server) {
		return info, nil // a client that may call nothing reads nothing either
	}
	for _, name := range []string{"completions", "prompts", "resources"} {
		if mcp.Member(about.Capabilities, name) != nil {
			info.Also = append(info.Also, name)
		}
		if is(name, listChanged) {
			info.ListChanged = append(info.ListChanged, name)
		}
	}
	info.Subscribe = is("resources", "subscribe")
	return info, nil
}

func (p *passthrough) offers(ctx context.Context) ([]mcp.Raw, map[string]offered, error) {
	return offers(ctx, p.o, p.o.Server, p.names, func(t api.Tool) string { return t.Name })
}

func (p *passthrough) Tools(ctx context.Context) ([]mcp.Raw, error) {
	list, _, err := p.offers(ctx)
	if err != nil {
		return nil, failure(err)
	}
	return list, nil
}

func (p *passthrough) Definition(ctx context.Context, name string) mcp.Raw {
	_, known, err := p.offers(ctx)
	if err != nil {
		return nil // the call says why
	}
	return known[name].definition
}

func (p *passthrough) Call(ctx context.Context, c *server.Call) (mcp.Raw, error) {
	return passOn(ctx, p.o, p.o.Server, c.Name, c, false)
}

// Listen hears what the server says.
func (p *passthrough) Listen(ctx context.Context, c server.Caller, want server.Filter, say func(method string, params mcp.Raw)) (server.Filter, error) {
	heard, err := p.o.Gateway.Listen(ctx, gateway.ListenInput{
		Server: p.o.Server, Tools: want.Tools, Prompts: want.Prompts, Resources: want.Resources, URIs: want.URIs, Level: want.Level, Peer: peer{c: c},
	}, func(_, method string, params json.RawMessage) { say(method, params) })
	if err != nil {
		return server.Filter{}, passed(err)
	}
	return filterOf(heard, want), nil
}

// Ask passes a request on, if the server declares that it answers such.
func (p *passthrough) Ask(ctx context.Context, c server.Caller, m *mcp.Message) (mcp.Raw, error) {
	capability, cached := passedMethods(m.Method)
	if capability == "" {
		return nil, server.NotFound(m.Method)
	}
	info, err := p.Info(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(info.Also, capability) {
		return nil, server.NotFound(m.Method)
	}
	raw, err := askOf(ctx, p.o, c, p.o.Server, m.Method, withoutMeta(m.Params), false)
	if err != nil {
		return nil, err
	}
	if c.Era() != mcp.Modern {
		return raw, nil
	}
	return modern(raw, cached)
}

// withoutMeta returns parameters without what concerns this connection only.
func withoutMeta(params mcp.Raw) mcp.Raw {
	if mcp.Member(params, "_meta") == nil {
		return params
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for key, value := range mcp.Members(params) {
		if key == "_meta" {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(key) // a text can always be encoded
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// modern adds to a result what the modern era wants of it.
func modern(raw mcp.Raw, cached bool) (mcp.Raw, error) {
	type member struct{ key, value string }
	members := []member{{"resultType", `"` + mcp.ResultComplete + `"`}}
	if cached {
		members = append(members, member{"ttlMs", "0"}, member{"cacheScope", `"private"`})
	}
	for _, add := range members {
		if mcp.Member(raw, add.key) != nil {
			continue
		}
		var err error
		if raw, err = mcp.SetMember(raw, add.key, mcp.Raw(add.value)); err != nil {
			return nil, mcp.Errorf(mcp.CodeInternalError, "the server's answer is %v", err)
		}
	}
	return raw, nil
}

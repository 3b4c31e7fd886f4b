package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/gateway"
	"mcpx/mcp"
	"mcpx/mcp/server"
)

// Ask answers for the prompts and resources of all servers.
func (f *full) Ask(ctx context.Context, c server.Caller, m *mcp.Message) (mcp.Raw, error) {
	var raw mcp.Raw
	var err error
	capability, cached := passedMethods(m.Method)
	switch {
	case capability == "" || !f.declares(ctx, capability):
		return nil, server.NotFound(m.Method)
	case strings.HasSuffix(m.Method, "/list"):
		raw, err = f.list(ctx, m)
	case m.Method == mcp.MethodPromptsGet:
		raw, err = f.prompt(ctx, c, m)
	case m.Method == mcp.MethodRead:
		raw, err = f.read(ctx, c, m)
	default:
		raw, err = f.complete(ctx, c, m)
	}
	if err != nil || c.Era() != mcp.Modern {
		return raw, err
	}
	return modern(raw, cached)
}

func (f *full) declares(ctx context.Context, capability string) bool {
	for _, declared := range f.capabilities(ctx) {
		if mcp.Member(declared, capability) != nil {
			return true
		}
	}
	return false
}

// list lists prompts, resources or templates of all servers.
func (f *full) list(ctx context.Context, m *mcp.Message) (mcp.Raw, error) {
	if cursor := mcp.Member(m.Params, "cursor"); cursor != nil && string(cursor) != "null" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "invalid cursor: %s", cursor)
	}
	var entries []mcp.Raw
	var err error
	member := "prompts"
	switch m.Method {
	case "prompts/list":
		entries, err = f.listPrompts(ctx)
	case "resources/list":
		member = "resources"
		entries, _, err = f.resources(ctx)
	default:
		member = "resourceTemplates"
		entries, _, err = f.templates(ctx)
	}
	if err != nil {
		return nil, failure(err)
	}
	// Not through encoding/json, which would rewrite what servers have sent.
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"%s":[`, member)
	for i, e := range entries {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(e)
	}
	b.WriteString("]}")
	return b.Bytes(), nil
}

// listPrompts lists prompts under the names that they are offered by.
func (f *full) listPrompts(ctx context.Context) ([]mcp.Raw, error) {
	out, err := f.o.Gateway.Prompts(ctx, api.PromptsInput{})
	if err != nil {
		return nil, err
	}
	gate := gateOf(f.o.Grant, f.names)
	var list []mcp.Raw
	known := map[string]offered{}
	for _, p := range out.Prompts {
		if !gate.Touches(p.Namespace) {
			continue
		}
		name := p.Namespace + separator + p.Name
		for n := 2; known[name].definition != nil; n++ {
			name = fmt.Sprintf("%s%s%s_%d", p.Namespace, separator, p.Name, n)
		}
		definition, err := mcp.SetMember(mcp.Sound(p.Definition), "name", encode(name))
		if err != nil {
			continue // one that is no object cannot be offered
		}
		known[name] = offered{server: p.Namespace, tool: p.Name, definition: definition}
		list = append(list, definition)
	}
	f.mu.Lock()
	f.prompts = known
	f.mu.Unlock()
	return list, nil
}

// findPrompt returns what is offered under a name. One that the last listing did not have
// is looked for once more.
func (f *full) findPrompt(ctx context.Context, name string) (offered, error) {
	for again := range 2 {
		f.mu.Lock()
		p, ok := f.prompts[name]
		f.mu.Unlock()
		if ok {
			return p, nil
		}
		if again == 0 {
			if _, err := f.listPrompts(ctx); err != nil {
				return offered{}, failure(err)
			}
		}
	}
	return offered{}, mcp.Errorf(mcp.CodeInvalidParams, "unknown prompt: %s", name)
}

func (f *full) prompt(ctx context.Context, c server.Caller, m *mcp.Message) (mcp.Raw, error) {
	var name string
	if json.Unmarshal(mcp.Member(m.Params, "name"), &name) != nil || name == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%s needs the name of a prompt", m.Method)
	}
	p, err := f.findPrompt(ctx, name)
	if err != nil {
		return nil, err
	}
	params, err := mcp.SetMember(withoutMeta(m.Params), "name", encode(p.tool))
	if err != nil {
		return nil, err
	}
	return askOf(ctx, f.o, c, p.server, m.Method, params, true)
}

// resources lists what there is to read, each address once: that of the first server that
// has it.
func (f *full) resources(ctx context.Context) (list []mcp.Raw, owners map[string]string, err error) {
	out, err := f.o.Gateway.Resources(ctx, api.ResourcesInput{})
	if err != nil {
		return nil, nil, err
	}
	gate := gateOf(f.o.Grant, f.names)
	owners = map[string]string{}
	for _, r := range out.Resources {
		if _, taken := owners[r.URI]; !taken && gate.Touches(r.Namespace) {
			owners[r.URI] = r.Namespace
			list = append(list, mcp.Sound(r.Definition))
		}
	}
	return list, owners, nil
}

// templates lists the patterns of addresses, each once.
func (f *full) templates(ctx context.Context) (list []mcp.Raw, owners map[string]string, err error) {
	out, err := f.o.Gateway.ResourceTemplates(ctx, api.ResourcesInput{})
	if err != nil {
		return nil, nil, err
	}
	gate := gateOf(f.o.Grant, f.names)
	owners = map[string]string{}
	for _, t := range out.Templates {
		if _, taken := owners[t.URITemplate]; !taken && gate.Touches(t.Namespace) {
			owners[t.URITemplate] = t.Namespace
			list = append(list, mcp.Sound(t.Definition))
		}
	}
	return list, owners, nil
}

// owner is the server that a resource is read from: the one that lists its address, else
// the one whose template begins like it, the longest first. It is empty if there is none.
func (f *full) owner(ctx context.Context, uri string) (string, error) {
	_, owners, err := f.resources(ctx)
	if err != nil {
		return "", failure(err)
	}
	if owner, ok := owners[uri]; ok {
		return owner, nil
	}
	_, templates, err := f.templates(ctx)
	if err != nil {
		return "", failure(err)
	}
	owner, longest := "", -1
	for template, of := range templates {
		fixed, _, _ := strings.Cut(template, "{")
		if strings.HasPrefix(uri, fixed) && (len(fixed) > longest || len(fixed) == longest && of < owner) {
			owner, longest = of, len(fixed)
		}
	}
	return owner, nil
}

func (f *full) read(ctx context.Context, c server.Caller, m *mcp.Message) (mcp.Raw, error) {
	var uri string
	if json.Unmarshal(mcp.Member(m.Params, "uri"), &uri) != nil || uri == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%s needs the uri of a resource", m.Method)
	}
	owner, err := f.owner(ctx, uri)
	switch {
	case err != nil:
		return nil, err
	case owner == "":
		return nil, noResource(uri, c.Era())
	}
	return askOf(ctx, f.o, c, owner, m.Method, withoutMeta(m.Params), true)
}

// complete asks the server whose prompt or template it is about.
func (f *full) complete(ctx context.Context, c server.Caller, m *mcp.Message) (mcp.Raw, error) {
	var in struct {
		Ref struct{ Type, Name, URI string }
	}
	if err := json.Unmarshal(m.Params, &in); err != nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%s: %v", m.Method, err)
	}
	params := withoutMeta(m.Params)
	if in.Ref.Name != "" {
		p, err := f.findPrompt(ctx, in.Ref.Name)
		if err != nil {
			return nil, err
		}
		ref, err := mcp.SetMember(mcp.Member(params, "ref"), "name", encode(p.tool))
		if err != nil {
			return nil, err
		}
		if params, err = mcp.SetMember(params, "ref", ref); err != nil {
			return nil, err
		}
		return askOf(ctx, f.o, c, p.server, m.Method, params, true)
	}
	_, templates, err := f.templates(ctx)
	if err != nil {
		return nil, failure(err)
	}
	owner, ok := templates[in.Ref.URI]
	if !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "there is no prompt and no template %q", in.Ref.URI)
	}
	return askOf(ctx, f.o, c, owner, m.Method, params, true)
}

// askOf passes a request on to a server. named has a question of the server say who asks.
func askOf(ctx context.Context, o Options, c server.Caller, name, method string, params mcp.Raw, named bool) (mcp.Raw, error) {
	if err := foreign(ctx, o, name, params); err != nil {
		return nil, err
	}
	raw, err := o.Gateway.Ask(ctx, gateway.AskInput{Server: name, Method: method, Params: params, Peer: peer{c: c, repeats: true, named: named}})
	if err != nil {
		return nil, passed(err)
	}
	return raw, nil
}

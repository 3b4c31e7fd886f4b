package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/catalog"
	"mcpx/internal/fault"
	"mcpx/internal/schema"
)

// Namespaces lists the servers with their tools, or one; those that must be asked are asked
// at the same time.
func (g *Gateway) Namespaces(ctx context.Context, in api.NamespacesInput) (*api.NamespacesOutput, error) {
	if err := g.o.Config.Err(); err != nil {
		return nil, err
	}
	servers := g.servers
	if in.Namespace != "" {
		s, err := g.server(in.Namespace)
		if err != nil {
			return nil, err
		}
		servers = []*server{s}
	}
	out := &api.NamespacesOutput{Namespaces: make([]api.Namespace, len(servers)), Demo: g.o.Demo}
	spaces := schema.Aliases(g.names)
	each(servers, func(i int, s *server) {
		ns := api.Namespace{Name: s.entry.Name, Alias: alias(s.entry.Name, spaces), Transport: s.entry.Transport, Origin: s.entry.Origin.String(), Tools: []api.ToolBrief{}}
		defer func() { out.Namespaces[i] = ns }()
		if s.entry.Disabled {
			ns.Disabled = true
			return
		}
		entry, err := s.tools(ctx, in.Refresh)
		if err != nil {
			ns.Error = fault.From(err)
			return
		}
		ns.Instructions, ns.Warnings = entry.Instructions, entry.Warnings
		aliases := schema.Aliases(entry.Names())
		for _, t := range entry.Tools {
			ns.Tools = append(ns.Tools, api.ToolBrief{Name: t.Name, Alias: alias(t.Name, aliases), Title: t.Title, Description: t.Description})
		}
	})
	return out, context.Cause(ctx)
}

// Tools lists the tools of one namespace, or of all that can be asked.
func (g *Gateway) Tools(ctx context.Context, in api.ToolsInput) (*api.ToolsOutput, error) {
	out := &api.ToolsOutput{Tools: []api.Tool{}}
	found, err := g.entries(ctx, in.Namespace, in.Refresh, nil)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		aliases := schema.Aliases(f.entry.Names())
		for _, t := range f.entry.Tools {
			out.Tools = append(out.Tools, api.Tool{
				Namespace: f.name, Name: t.Name, Aliases: aliases[t.Name], Title: t.Title, Description: t.Description,
				InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, Annotations: t.Annotations,
				Definition: t.Raw,
			})
		}
	}
	return out, nil
}

// Known are the names of a server's tools as far as they are known. Nothing is started or
// asked for that.
func (g *Gateway) Known(server string) []string {
	entry := g.cached(server)
	if entry == nil {
		return nil
	}
	return entry.Names()
}

// KnownInput is the schema of a tool's arguments as far as it is known. Nothing is started or
// asked for that.
func (g *Gateway) KnownInput(server, tool string) json.RawMessage {
	entry := g.cached(server)
	if entry == nil {
		return nil
	}
	name, ok := schema.Resolve(entry.Names(), tool)
	if !ok {
		return nil
	}
	return entry.Tool(name).InputSchema
}

// cached is what the catalog knows of a server's tools that can be seen; nil if nothing.
func (g *Gateway) cached(server string) *catalog.Entry {
	s, err := g.server(server)
	if err != nil {
		return nil
	}
	if _, err := s.definition(); err != nil {
		return nil
	}
	entry, ok := g.o.Catalog.Get(s.key)
	if !ok {
		return nil
	}
	return s.visible(entry)
}

// Types declares a tool, a namespace or everything in TypeScript.
func (g *Gateway) Types(ctx context.Context, in api.TypesInput) (*api.TypesOutput, error) {
	ns, tool, err := g.split(in.Name)
	if err != nil {
		return nil, err
	}
	var only string
	if tool != "" {
		s, err := g.server(ns)
		if err != nil {
			return nil, err
		}
		t, err := s.tool(ctx, tool)
		if err != nil {
			return nil, err
		}
		ns, only = s.entry.Name, t.Name
	}
	found, err := g.entries(ctx, ns, false, nil)
	if err != nil {
		return nil, err
	}
	var decls []schema.Namespace
	for _, f := range found {
		d := schema.Namespace{Name: f.name}
		if only == "" { // who asks for one tool has read of the server
			d.Description = f.entry.Instructions
		}
		aliases := schema.Aliases(f.entry.Names())
		for _, t := range f.entry.Tools {
			if only == "" || only == t.Name {
				d.Tools = append(d.Tools, schema.Tool{
					Name: t.Name, Aliases: aliases[t.Name], Title: t.Title, Description: t.Description,
					Input: t.InputSchema, Output: t.OutputSchema,
				})
			}
		}
		decls = append(decls, d)
	}
	text := ""
	if in.Brief {
		text = schema.Outline(decls)
	} else {
		text = schema.Declarations(decls)
	}
	if in.Globals && g.o.Globals != nil {
		text += "\n" + g.o.Globals()
	}
	return &api.TypesOutput{Declarations: text}, nil
}

// found is a namespace whose tools are known.
type found struct {
	name  string
	entry *catalog.Entry
}

// entries returns the tools of one namespace, or of all: then those that cannot be
// asked are left out, unless none can, and so are those that touches, if it is not nil,
// says no to.
func (g *Gateway) entries(ctx context.Context, ns string, refresh bool, touches func(server string) bool) ([]found, error) {
	if ns != "" {
		s, err := g.server(ns)
		if err != nil {
			return nil, err
		}
		entry, err := s.tools(ctx, refresh)
		if err != nil {
			return nil, err
		}
		return []found{{s.entry.Name, entry}}, nil
	}
	if err := g.o.Config.Err(); err != nil {
		return nil, err
	}
	entries := make([]*catalog.Entry, len(g.servers))
	errs := make([]error, len(g.servers))
	g.each(func(i int, s *server) {
		if s.entry.Disabled || touches != nil && !touches(s.entry.Name) {
			return
		}
		if !refresh {
			// Who asks again and again, such as a script that searches, does not wait
			// each time for the server that cannot be started.
			if errs[i] = s.failedLately(); errs[i] != nil {
				return
			}
		}
		entries[i], errs[i] = s.tools(ctx, refresh)
	})
	var out []found
	var failed error
	for i, s := range g.servers {
		switch {
		case errs[i] != nil:
			if failed == nil {
				failed = errs[i]
			}
		case entries[i] != nil:
			out = append(out, found{s.entry.Name, entries[i]})
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(out) == 0 && failed != nil {
		return nil, failed
	}
	return out, nil
}

// each calls f for every server, all at once, and waits.
func (g *Gateway) each(f func(i int, s *server)) { each(g.servers, f) }

func each(servers []*server, f func(i int, s *server)) {
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() { f(i, s) })
	}
	wg.Wait()
}

// split reads NS or NS.TOOL. Names may hold dots, so the longest server name wins.
func (g *Gateway) split(name string) (ns, tool string, err error) {
	if err := g.o.Config.Err(); err != nil {
		return "", "", err
	}
	for i := len(name); i > 0; i = strings.LastIndexByte(name[:i], '.') {
		if _, ok := schema.Resolve(g.names, name[:i]); ok {
			return name[:i], strings.TrimPrefix(name[i:], "."), nil
		}
	}
	if name == "" {
		return "", "", nil
	}
	ns, _, _ = strings.Cut(name, ".")
	_, err = g.server(ns)
	if err == nil {
		err = fault.Internalf("a server %q that is and is not there", ns)
	}
	return "", "", err
}

// Config says which files and servers are in force.
func (g *Gateway) Config(context.Context, api.ConfigInput) (*api.ConfigOutput, error) {
	out := &api.ConfigOutput{Files: []api.ConfigFile{}, Servers: []api.ConfigServer{}, Demo: g.o.Demo, Warnings: g.o.Config.Warnings}
	for _, f := range g.o.Config.Files {
		out.Files = append(out.Files, api.ConfigFile{
			Path: f.Path, State: string(f.State), Error: f.Err, Project: f.Project, Trusted: f.Trusted, By: f.By, Host: f.Host, Apart: f.Apart,
		})
	}
	for _, s := range g.servers {
		e := s.entry
		cs := api.ConfigServer{
			Name: e.Name, Transport: e.Transport, URL: e.URL, Origin: e.Origin.String(),
			Disabled: e.Disabled, Error: e.Problem, Ignored: e.Ignored,
		}
		if e.Command != "" {
			cs.Command = append([]string{e.Command}, e.Args...)
		}
		if cs.Error == nil && !e.Disabled {
			if _, err := s.definition(); err != nil {
				cs.Error = fault.From(err)
			}
		}
		out.Servers = append(out.Servers, cs)
	}
	return out, nil
}

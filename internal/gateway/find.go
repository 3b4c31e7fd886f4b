package gateway

import (
	"context"
	"slices"
	"sync"

	"mcpx/internal/api"
	"mcpx/internal/catalog"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/schema"
	"mcpx/internal/settings"
)

// shelf keeps what was made of the tools that were searched last, for whoever asks
// again: a script that searches in a loop pays for the index once.
type shelf struct {
	mu   sync.Mutex
	made map[string]*indexed // by the namespace that was searched; "" is all
}

// indexed is the index of some namespaces. It does not change.
type indexed struct {
	of      []found
	index   *catalog.Index
	aliases map[string]map[string][]string // by namespace and tool
}

// get returns the index of what was found under a name, made anew if that has changed.
func (s *shelf) get(ns string, of []found) *indexed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.made[ns]; known != nil && slices.Equal(known.of, of) {
		return known
	}
	made := &indexed{of: of, aliases: map[string]map[string][]string{}}
	var docs []catalog.Doc
	for _, f := range of {
		made.aliases[f.name] = schema.Aliases(f.entry.Names())
		for _, t := range f.entry.Tools {
			docs = append(docs, catalog.Doc{Namespace: f.name, Tool: t})
		}
	}
	made.index = catalog.NewIndex(docs)
	if s.made == nil {
		s.made = map[string]*indexed{}
	}
	s.made[ns] = made
	return made
}

// Search finds tools by words. Servers whose tools the catalog knows are not asked.
func (g *Gateway) Search(ctx context.Context, in api.SearchInput) (*api.SearchOutput, error) {
	gate := g.gate(in.Grant)
	ns := in.Namespace
	if ns != "" {
		s, err := g.server(ns)
		if err != nil {
			return nil, err
		}
		if ns = s.entry.Name; !gate.Touches(ns) {
			return nil, grant.Denied(grant.Tool, ns)
		}
	}
	of, err := g.entries(ctx, ns, false, gate.Touches)
	if err != nil {
		return nil, err
	}
	limit := in.Limit
	if limit <= 0 {
		limit = 10
	}
	made := g.shelf.get(ns, of)
	var keep func(catalog.Doc) bool
	if in.Grant != nil {
		keep = func(d catalog.Doc) bool {
			return gate.Allows(d.Namespace, d.Tool.Name, d.Tool.ReadOnly(), made.aliases[d.Namespace][d.Tool.Name]...)
		}
	}
	out := &api.SearchOutput{Results: []api.SearchResult{}}
	for _, hit := range made.index.SearchAmong(in.Words, limit, keep) {
		t := hit.Tool
		out.Results = append(out.Results, api.SearchResult{
			Namespace: hit.Namespace, Name: t.Name, Alias: alias(t.Name, made.aliases[hit.Namespace]), Description: t.Description,
			Signature: schema.Signature(spelled(t.Name, made.aliases[hit.Namespace]), t.InputSchema, t.OutputSchema), Score: hit.Score,
		})
	}
	return out, nil
}

// spelled is a name as it can stand behind a dot, if it has such a form.
func spelled(name string, aliases map[string][]string) string {
	if a := alias(name, aliases); a != "" {
		return a
	}
	return name
}

// alias is the form of a name that can stand behind a dot; empty if the name itself can, or
// there is none.
func alias(name string, aliases map[string][]string) string {
	if !schema.IsIdentifier(name) && len(aliases[name]) > 0 {
		return aliases[name][0]
	}
	return ""
}

// What the words of a bias put before others: tools that fit them half as well as the
// best one.
const (
	maxFavoured   = 100
	leastFavoured = 0.5
)

// Catalog fits the tools of all servers into a number of tokens.
func (g *Gateway) Catalog(ctx context.Context, in api.CatalogInput) (*api.CatalogOutput, error) {
	if err := g.o.Config.Err(); err != nil {
		return nil, err
	}
	budget := in.Budget
	if budget <= 0 {
		budget = settings.CatalogBudget.Get(g.settings)
	}
	out := &api.CatalogOutput{Budget: budget, Namespaces: []api.CatalogNamespace{}}
	entries := make([]*catalog.Entry, len(g.servers))
	errs := make([]error, len(g.servers))
	g.each(func(i int, s *server) {
		if !s.entry.Disabled {
			entries[i], errs[i] = s.tools(ctx, in.Refresh)
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	spaceAliases := schema.Aliases(g.names)
	var (
		spaces []catalog.Space
		known  []found
		place  = map[string]int{} // of a namespace among spaces
		of     []*catalog.Entry   // by space
	)
	for i, s := range g.servers {
		if s.entry.Disabled {
			continue
		}
		name := s.entry.Name
		ns := api.CatalogNamespace{Name: name, Shown: []api.CatalogTool{}}
		space := catalog.Space{Name: name, Spelled: spelled(name, spaceAliases)}
		if errs[i] != nil {
			ns.Error = fault.From(errs[i])
			space.Problem = ns.Error.Message
		} else {
			ns.Tools = len(entries[i].Tools)
			space.Tools, space.Instructions = ns.Tools, entries[i].Instructions
			place[name] = len(spaces)
			known = append(known, found{name, entries[i]})
		}
		out.Tools += ns.Tools
		out.Namespaces = append(out.Namespaces, ns)
		spaces = append(spaces, space)
		of = append(of, entries[i])
	}
	var favoured [][2]int
	if in.Bias != "" {
		hits := g.shelf.get("", known).index.Search(in.Bias, maxFavoured)
		for _, hit := range hits {
			if hit.Score < leastFavoured*hits[0].Score {
				break
			}
			space := place[hit.Namespace]
			favoured = append(favoured, [2]int{space, slices.Index(of[space].Tools, hit.Tool)})
		}
	}
	aliases := make([]map[string][]string, len(spaces))
	line := func(space, tool int) string {
		if aliases[space] == nil {
			aliases[space] = schema.Aliases(of[space].Names())
		}
		t := of[space].Tools[tool]
		return schema.Call(spelled(t.Name, aliases[space]), t.InputSchema, t.OutputSchema)
	}
	sheet := catalog.Lay(spaces, budget, favoured, line)
	out.Text, out.Tokens = sheet.Text, sheet.Tokens
	for i := range out.Namespaces {
		ns := &out.Namespaces[i]
		ns.Instructions = sheet.Words[i]
		for _, tool := range sheet.Shown[i] {
			ns.Shown = append(ns.Shown, api.CatalogTool{Name: of[i].Tools[tool].Name, Signature: line(i, tool)})
		}
		out.Shown += len(ns.Shown)
	}
	return out, nil
}

// Changes tells what changed in the tools of servers. It starts none.
func (g *Gateway) Changes(_ context.Context, in api.ChangesInput) (*api.ChangesOutput, error) {
	ns, tool, err := g.split(in.Name)
	if err != nil {
		return nil, err
	}
	servers := g.servers
	if ns != "" {
		s, err := g.server(ns)
		if err != nil {
			return nil, err
		}
		servers = []*server{s}
	}
	out := &api.ChangesOutput{Servers: []api.ServerChanges{}}
	for _, s := range servers {
		sc := api.ServerChanges{Namespace: s.entry.Name, Changes: []api.ToolChange{}}
		h, known := g.o.Catalog.History(s.identity())
		if known {
			sc.Since = &h.Since
		} else {
			h = &catalog.History{}
		}
		only := ""
		if tool != "" {
			if only, err = s.wasCalled(h, tool); err != nil {
				return nil, err
			}
		}
		sc.Pending = s.pending(only)
		for _, c := range h.Changes {
			if _, hidden := s.entry.Rules.Hidden(c.Tool); !hidden && (only == "" || c.Tool == only) {
				sc.Changes = append(sc.Changes, api.ToolChange{
					When: c.When, Tool: c.Tool, Kind: string(c.Kind), Arguments: differences(c.Arguments), Result: differences(c.Result),
					Reworded: c.Reworded, Was: c.Was,
				})
			}
		}
		// The newest listing first; of one listing the tools by name, as they are kept.
		slices.SortStableFunc(sc.Changes, func(a, b api.ToolChange) int { return b.When.Compare(a.When) })
		out.Servers = append(out.Servers, sc)
	}
	return out, nil
}

// wasCalled finds a tool by its own name or an alias, among those that the server has,
// as far as is known without asking it, and those that it had.
func (s *server) wasCalled(h *catalog.History, tool string) (string, error) {
	var names []string
	if _, err := s.definition(); err == nil {
		if entry, ok := s.g.o.Catalog.Get(s.key); ok {
			names = s.visible(entry).Names()
		}
	}
	for _, c := range h.Changes {
		if _, hidden := s.entry.Rules.Hidden(c.Tool); !hidden && !slices.Contains(names, c.Tool) {
			names = append(names, c.Tool)
		}
	}
	if raw, ok := schema.Resolve(names, tool); ok {
		return raw, nil
	}
	e := fault.NotFoundf("%s has no tool called %q, and had none", s.entry.Name, tool).With("server", s.entry.Name).With("tool", tool)
	if near := schema.Nearest(tool, names, 3); len(near) > 0 {
		return "", e.With("nearest", near).Hintf("did you mean %s?", list(near))
	}
	return "", e.Hintf("mcpx ls lists its tools")
}

func differences(of []schema.Difference) []api.SchemaChange {
	var out []api.SchemaChange
	for _, d := range of {
		out = append(out, api.SchemaChange{Kind: string(d.Kind), Field: d.Field, Before: d.Before, After: d.After})
	}
	return out
}

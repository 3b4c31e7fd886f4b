package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/schema"
	"mcpx/mcp"
	"mcpx/mcp/client"
	"mcpx/pool"
)

var _ api.Offers = (*Gateway)(nil)

// offerKind is one kind of what servers offer besides tools.
type offerKind struct {
	capability string // which a server declares that has some
	method     string // which lists them
	member     string // of the answer, that holds the list
	key        string // member of an entry that names it
}

var (
	resourceKind = offerKind{"resources", "resources/list", "resources", "uri"}
	templateKind = offerKind{"resources", "resources/templates/list", "resourceTemplates", "uriTemplate"}
	promptKind   = offerKind{"prompts", "prompts/list", "prompts", "name"}
)

// A listing ends here if it does not end by itself, as that of tools does.
const (
	maxOfferPages = 1000
	maxOffers     = 20000
)

// offering is what one server offers of a kind.
type offering struct {
	server   string
	declared bool // it has the kind at all
	entries  []mcp.Raw
	warnings []string
}

// Resources lists the resources of one server, or of all that can be asked.
func (g *Gateway) Resources(ctx context.Context, in api.ResourcesInput) (*api.ResourcesOutput, error) {
	heard, unheard, err := g.gather(ctx, in.Namespace, resourceKind)
	if err != nil {
		return nil, err
	}
	out := &api.ResourcesOutput{Resources: []api.Resource{}, Unheard: unheard}
	for _, h := range heard {
		out.Warnings = append(out.Warnings, h.warnings...)
		for _, raw := range h.entries {
			r := api.Resource{Namespace: h.server, Definition: raw}
			r.URI, r.Name, r.Title = text(raw, "uri"), text(raw, "name"), text(raw, "title")
			r.Description, r.MIME = text(raw, "description"), text(raw, "mimeType")
			if size := mcp.Member(raw, "size"); size != nil && string(size) != "null" && json.Unmarshal(size, &r.Size) != nil {
				r.Size = nil
			}
			out.Resources = append(out.Resources, r)
		}
	}
	return out, nil
}

// ResourceTemplates lists the templates of one server, or of all that can be asked.
func (g *Gateway) ResourceTemplates(ctx context.Context, in api.ResourcesInput) (*api.ResourceTemplatesOutput, error) {
	heard, unheard, err := g.gather(ctx, in.Namespace, templateKind)
	if err != nil {
		return nil, err
	}
	out := &api.ResourceTemplatesOutput{Templates: []api.ResourceTemplate{}, Unheard: unheard}
	for _, h := range heard {
		out.Warnings = append(out.Warnings, h.warnings...)
		for _, raw := range h.entries {
			out.Templates = append(out.Templates, api.ResourceTemplate{
				Namespace: h.server, URITemplate: text(raw, "uriTemplate"), Name: text(raw, "name"), Title: text(raw, "title"),
				Description: text(raw, "description"), MIME: text(raw, "mimeType"), Definition: raw,
			})
		}
	}
	return out, nil
}

// Prompts lists the prompts of one server, or of all that can be asked.
func (g *Gateway) Prompts(ctx context.Context, in api.PromptsInput) (*api.PromptsOutput, error) {
	heard, unheard, err := g.gather(ctx, in.Namespace, promptKind)
	if err != nil {
		return nil, err
	}
	out := &api.PromptsOutput{Prompts: []api.Prompt{}, Unheard: unheard}
	for _, h := range heard {
		out.Warnings = append(out.Warnings, h.warnings...)
		for _, raw := range h.entries {
			out.Prompts = append(out.Prompts, prompt(h.server, raw))
		}
	}
	return out, nil
}

func prompt(server string, raw mcp.Raw) api.Prompt {
	p := api.Prompt{
		Namespace: server, Name: text(raw, "name"), Title: text(raw, "title"), Description: text(raw, "description"), Definition: raw,
	}
	for a := range mcp.Elements(mcp.Member(raw, "arguments")) {
		if name := text(a, "name"); name != "" {
			p.Arguments = append(p.Arguments, api.PromptArgument{
				Name: name, Title: text(a, "title"), Description: text(a, "description"),
				Required: string(mcp.Member(a, "required")) == "true",
			})
		}
	}
	return p
}

// text returns a member that is a string, and "" for any other.
func text(obj mcp.Raw, key string) string {
	var s string
	if json.Unmarshal(mcp.Member(obj, key), &s) != nil {
		return ""
	}
	return s
}

// gather lists what one server, or each, offers of a kind. Servers are asked at the same
// time. Those that cannot be asked are returned beside the others; there is an error if
// the one that is named is among them, or if nobody could be asked.
func (g *Gateway) gather(ctx context.Context, ns string, kind offerKind) ([]offering, []api.Unheard, error) {
	if ns != "" {
		s, err := g.server(ns)
		if err != nil {
			return nil, nil, err
		}
		one, err := s.show(ctx, kind)
		if err != nil {
			return nil, nil, err
		}
		return []offering{*one}, nil, nil
	}
	if err := g.o.Config.Err(); err != nil {
		return nil, nil, err
	}
	all := make([]*offering, len(g.servers))
	errs := make([]error, len(g.servers))
	g.each(func(i int, s *server) {
		if !s.entry.Disabled {
			all[i], errs[i] = s.show(ctx, kind)
		}
	})
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	var heard []offering
	var unheard []api.Unheard
	for i, s := range g.servers {
		switch {
		case errs[i] != nil:
			unheard = append(unheard, api.Unheard{Namespace: s.entry.Name, Error: fault.From(errs[i])})
		case all[i] != nil:
			heard = append(heard, *all[i])
		}
	}
	if len(heard) == 0 && len(unheard) > 0 {
		return nil, nil, unheard[0].Error
	}
	return heard, unheard, nil
}

// show lists what the server offers of a kind. One that does not declare the kind has
// nothing, and so has one that does not know the method.
func (s *server) show(ctx context.Context, kind offerKind) (*offering, error) {
	l, err := s.acquire(ctx, pool.Request{Look: true})
	if err != nil {
		return nil, err
	}
	defer l.Release()
	session := l.Session()
	out := &offering{server: s.entry.Name}
	// A server that declares nothing at all may still have some: it is asked.
	if all := session.Capabilities(); bytes.HasPrefix(bytes.TrimSpace(all), []byte("{")) {
		if declared := mcp.Member(all, kind.capability); declared == nil || string(declared) == "null" {
			return out, nil
		}
	}
	ctx, clock := s.deadline(ctx, kind.method)
	defer clock.stop()
	if err := out.read(ctx, session, kind); err != nil {
		var answer *mcp.Error
		if errors.As(err, &answer) && answer.Code == mcp.CodeMethodNotFound {
			out.declared = false
			return out, nil
		}
		return nil, s.refused(err)
	}
	out.declared = true
	return out, nil
}

// read follows the pages of a listing to their end. The error is that of the first page;
// what fails later, and what is wrong with single entries, becomes a warning.
func (l *offering) read(ctx context.Context, session *client.Session, kind offerKind) error {
	warn := func(format string, args ...any) {
		l.warnings = append(l.warnings, l.server+": "+kind.method+" "+fmt.Sprintf(format, args...))
	}
	seen, cursors := map[string]bool{}, map[string]bool{}
	var params mcp.Raw
	for range maxOfferPages {
		page, err := session.Call(ctx, kind.method, params)
		switch {
		case err != nil && params == nil:
			return err
		case errors.As(err, new(*mcp.Error)):
			warn("failed after %d entries: %v", len(l.entries), err)
			return nil
		case err != nil:
			return err
		}
		for entry := range mcp.Elements(mcp.Member(page, kind.member)) {
			name := text(entry, kind.key)
			switch {
			case name == "":
				warn("holds an entry without %s; it is left out", kind.key)
			case seen[name]:
				warn("holds %q more than once; the first one counts", name)
			case len(l.entries) >= maxOffers:
				warn("holds more than %d entries; the rest was not read", maxOffers)
				return nil
			default:
				seen[name] = true
				l.entries = append(l.entries, bytes.Clone(entry))
			}
		}
		cursor := mcp.Member(page, "nextCursor")
		switch key := string(cursor); {
		case key == "", key == "null", key == `""`:
			return nil
		case cursors[key]:
			warn("gave the cursor %s again; what follows was not read", key)
			return nil
		default:
			cursors[key] = true
		}
		if params, err = mcp.SetMember(nil, "cursor", cursor); err != nil {
			return err
		}
	}
	warn("did not end after %d pages; the rest was not read", maxOfferPages)
	return nil
}

// codeResourceNotFound is what servers of the legacy era answer for an address that they
// do not know.
const codeResourceNotFound = -32002

// refused words an error that a server answered with: its message first and whole. Any
// other error stays as it is.
func (s *server) refused(err error) error {
	var answer *mcp.Error
	if !errors.As(err, &answer) {
		return s.warned(err)
	}
	kind := fault.Tool
	if answer.Code == codeResourceNotFound {
		kind = fault.NotFound
	}
	e := fault.New(kind, "%s", cmp.Or(answer.Message, "the server answered with an error and no message")).
		With("server", s.entry.Name).With("code", answer.Code)
	if len(answer.Data) > 0 {
		e = e.With("data", answer.Data)
	}
	return e
}

// ReadResource reads one resource.
func (g *Gateway) ReadResource(ctx context.Context, in api.ReadResourceInput) (*api.ReadResourceOutput, error) {
	if in.URI == "" {
		return nil, fault.Usagef("no address is given").Hintf("mcpx resources lists those that there are")
	}
	candidates, unheard, err := g.holders(ctx, in)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, s := range candidates {
		out, err := s.readResource(ctx, in)
		if err == nil {
			return out, nil
		}
		// Who does not know it may not be who has it; what else is wrong is the answer.
		if kind := fault.KindOf(err); ctx.Err() != nil || kind != fault.Tool && kind != fault.NotFound {
			return nil, err
		}
		if failed == nil {
			failed = err
		}
	}
	if len(candidates) == 1 && len(unheard) == 0 && failed != nil {
		return nil, failed
	}
	e := fault.NotFoundf("no server has a resource %q", in.URI).With("uri", in.URI).Hintf("mcpx resources lists those that there are")
	if failed != nil {
		e = fault.NotFoundf("no server has a resource %q: %w", in.URI, failed).With("uri", in.URI).Hintf("mcpx resources lists those that there are")
	}
	if len(unheard) > 0 {
		e = e.With("unheard", unheard).Hintf("%s could not be asked: %s", unheard[0].Namespace, unheard[0].Error.Message)
	}
	return nil, e
}

// holders returns the servers that may have a resource, those first that are likeliest to.
func (g *Gateway) holders(ctx context.Context, in api.ReadResourceInput) ([]*server, []api.Unheard, error) {
	if ns := in.Namespace; ns != "" || len(g.names) == 1 {
		s, err := g.server(cmp.Or(ns, strings.Join(g.names, "")))
		return []*server{s}, nil, err
	}
	heard, unheard, err := g.gather(ctx, "", resourceKind)
	if err != nil {
		return nil, nil, err
	}
	var rest []*server
	for _, h := range heard {
		if slices.ContainsFunc(h.entries, func(r mcp.Raw) bool { return text(r, "uri") == in.URI }) {
			return []*server{g.named(h.server)}, nil, nil
		}
		if h.declared {
			rest = append(rest, g.named(h.server))
		}
	}
	if len(rest) < 2 {
		return rest, unheard, nil
	}
	templates, _, err := g.gather(ctx, "", templateKind)
	if err != nil {
		return nil, nil, err
	}
	fits := map[string]int{} // by server, how much of the address a template has in common with it
	for _, h := range templates {
		for _, t := range h.entries {
			begin, _, _ := strings.Cut(text(t, "uriTemplate"), "{")
			if strings.HasPrefix(in.URI, begin) {
				fits[h.server] = max(fits[h.server], len(begin))
			}
		}
	}
	slices.SortStableFunc(rest, func(a, b *server) int { return cmp.Compare(fits[b.entry.Name], fits[a.entry.Name]) })
	return rest, unheard, nil
}

func (s *server) readResource(ctx context.Context, in api.ReadResourceInput) (*api.ReadResourceOutput, error) {
	params, err := json.Marshal(map[string]string{"uri": in.URI})
	if err != nil {
		return nil, fault.Usagef("the address cannot be sent: %w", err)
	}
	raw, err := s.g.Ask(ctx, AskInput{Server: s.entry.Name, Method: mcp.MethodRead, Params: params, Peer: in.Peer})
	if answer, ok := errors.AsType[*mcp.Error](err); ok && answer.Code == mcp.CodeMethodNotFound {
		return nil, fault.NotFoundf("%s offers no resources", s.entry.Name).With("server", s.entry.Name).With("uri", in.URI).
			Hintf("mcpx resources lists those that there are")
	}
	if err != nil {
		return nil, s.refused(err)
	}
	out := &api.ReadResourceOutput{Namespace: s.entry.Name, URI: in.URI, Contents: []api.Content{}, Result: raw}
	for part := range mcp.Elements(mcp.Member(raw, "contents")) {
		c := api.Content{URI: text(part, "uri"), MIME: text(part, "mimeType"), Text: text(part, "text")}
		if blob := mcp.Member(part, "blob"); blob != nil && string(blob) != "null" {
			c.Binary = true
			if c.Blob, err = decodeBlob(text(part, "blob")); err != nil {
				return nil, fault.New(fault.Tool, "%s answered with a blob that is not base64: %w", s.entry.Name, err).
					With("server", s.entry.Name).With("uri", in.URI)
			}
		}
		out.Contents = append(out.Contents, c)
	}
	return out, nil
}

// decodeBlob reads base64 in either alphabet, with its padding or without.
func decodeBlob(text string) ([]byte, error) {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(strings.TrimSpace(text), "="))
	return base64.RawStdEncoding.DecodeString(text)
}

// GetPrompt fills in one prompt.
func (g *Gateway) GetPrompt(ctx context.Context, in api.GetPromptInput) (*api.GetPromptOutput, error) {
	s, err := g.server(in.Server)
	if err != nil {
		return nil, err
	}
	given := in.Arguments
	if given == nil {
		given = map[string]string{}
	}
	params, err := json.Marshal(struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}{in.Prompt, given})
	if err != nil {
		return nil, fault.Usagef("the arguments cannot be sent: %w", err)
	}
	raw, err := g.Ask(ctx, AskInput{Server: s.entry.Name, Method: mcp.MethodPromptsGet, Params: params, Peer: in.Peer})
	if err != nil {
		return nil, s.explainPrompt(ctx, in, err)
	}
	out := &api.GetPromptOutput{
		Server: s.entry.Name, Prompt: in.Prompt, Description: text(raw, "description"), Messages: []api.PromptMessage{}, Result: raw,
	}
	for m := range mcp.Elements(mcp.Member(raw, "messages")) {
		content := mcp.Member(m, "content")
		out.Messages = append(out.Messages, api.PromptMessage{Role: text(m, "role"), Text: blockText(content), Content: content})
	}
	return out, nil
}

// blockText is the text of a content block, that of a resource that stands in it, or all
// there is of the blocks of a list.
func blockText(content mcp.Raw) string {
	if inner := mcp.Member(content, "resource"); inner != nil {
		return text(inner, "text")
	}
	var parts []string
	for block := range mcp.Elements(content) {
		if t := blockText(block); t != "" {
			parts = append(parts, t)
		}
	}
	return cmp.Or(text(content, "text"), strings.Join(parts, "\n"))
}

// explainPrompt adds to a refusal what the server's list of prompts says about it.
func (s *server) explainPrompt(ctx context.Context, in api.GetPromptInput, err error) error {
	refusal := s.refused(err)
	if !errors.As(err, new(*mcp.Error)) {
		return refusal
	}
	e := fault.From(refusal).With("prompt", in.Prompt)
	known, listed := s.show(ctx, promptKind)
	if listed != nil {
		return e // the server's own words remain
	}
	var names []string
	for _, raw := range known.entries {
		p := prompt(s.entry.Name, raw)
		if names = append(names, p.Name); p.Name != in.Prompt {
			continue
		}
		var lacking []string
		for _, a := range p.Arguments {
			if _, ok := in.Arguments[a.Name]; a.Required && !ok {
				lacking = append(lacking, a.Name)
			}
		}
		if len(lacking) > 0 {
			return e.With("missing", lacking).Hintf("%s.%s needs %s=…", s.entry.Name, p.Name, strings.Join(lacking, "=…, "))
		}
		return e
	}
	e = fault.NotFoundf("%s has no prompt called %q", s.entry.Name, in.Prompt).With("server", s.entry.Name).With("prompt", in.Prompt)
	if near := schema.Nearest(in.Prompt, names, 3); len(near) > 0 {
		return e.With("nearest", near).Hintf("did you mean %s?", list(near))
	}
	return e.Hintf("mcpx prompts %s lists its prompts", s.entry.Name)
}

// Complete asks a server for values of an argument. One that does not complete has none
// to propose.
func (g *Gateway) Complete(ctx context.Context, in api.CompleteInput) (*api.CompleteOutput, error) {
	s, err := g.server(in.Server)
	if err != nil {
		return nil, err
	}
	ref := map[string]string{"type": "ref/prompt", "name": in.Prompt}
	switch {
	case (in.Prompt == "") == (in.Template == ""):
		return nil, fault.Usagef("either a prompt or a template is completed")
	case in.Argument == "":
		return nil, fault.Usagef("no argument is named that is to be completed")
	case in.Template != "":
		ref = map[string]string{"type": "ref/resource", "uri": in.Template}
	}
	request := map[string]any{"ref": ref, "argument": map[string]string{"name": in.Argument, "value": in.Value}}
	if len(in.Given) > 0 {
		request["context"] = map[string]any{"arguments": in.Given}
	}
	params, err := json.Marshal(request)
	if err != nil {
		return nil, fault.Usagef("the arguments cannot be sent: %w", err)
	}
	raw, err := g.Ask(ctx, AskInput{Server: s.entry.Name, Method: "completion/complete", Params: params})
	var answer *mcp.Error
	switch {
	case errors.As(err, &answer) && answer.Code == mcp.CodeMethodNotFound:
		return &api.CompleteOutput{Values: []string{}}, nil
	case err != nil:
		return nil, s.refused(err)
	}
	completion := mcp.Member(raw, "completion")
	out := &api.CompleteOutput{Values: []string{}, HasMore: string(mcp.Member(completion, "hasMore")) == "true", Result: raw}
	for v := range mcp.Elements(mcp.Member(completion, "values")) {
		var value string
		if json.Unmarshal(v, &value) == nil {
			out.Values = append(out.Values, value)
		}
	}
	if total := mcp.Member(completion, "total"); total != nil && string(total) != "null" && json.Unmarshal(total, &out.Total) != nil {
		out.Total = nil
	}
	return out, nil
}

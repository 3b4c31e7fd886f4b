package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/catalog"
	"mcpx/internal/fault"
	"mcpx/internal/rule"
	"mcpx/internal/schema"
	"mcpx/internal/settings"
	"mcpx/mcp"
)

// tools returns the server's tools as rules leave them: without those that are hidden, and
// with schemas that say what argument rules want.
func (s *server) tools(ctx context.Context, refresh bool) (*catalog.Entry, error) {
	entry, err := s.all(ctx, refresh)
	if err != nil {
		return nil, err
	}
	return s.visible(entry), nil
}

// shown is what rules have made of an entry of the catalog.
type shown struct{ of, as *catalog.Entry }

// visible returns an entry as rules leave it. The same entry gives the same one again.
func (s *server) visible(entry *catalog.Entry) *catalog.Entry {
	if s.entry.Rules.None() {
		return entry
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	for _, known := range s.of.shown {
		if known.of == entry {
			return known.as
		}
	}
	as := *entry
	as.Tools = nil
	for _, t := range entry.Tools {
		if _, hidden := s.entry.Rules.Hidden(t.Name); !hidden {
			as.Tools = append(as.Tools, s.tightened(t))
		}
	}
	as.Warnings = slices.Clone(entry.Warnings)
	for _, u := range s.entry.Rules.Unmatched(entry.Names(), false) {
		as.Warnings = append(as.Warnings, u.String())
		s.g.o.Log.LogAttrs(s.g.ctx, slog.LevelWarn, "rule.unmatched", slog.String("server", s.entry.Name), slog.String("rule", u.String()))
	}
	s.of.shown = append([]shown{{entry, &as}}, s.of.shown[:min(len(s.of.shown), maxVariants-1)]...)
	return &as
}

// tightened returns a tool whose schema says what argument rules want.
func (s *server) tightened(t *mcp.Tool) *mcp.Tool {
	input := s.entry.Rules.Tighten(t.Name, t.InputSchema)
	if len(input) == 0 || len(t.InputSchema) == len(input) {
		return t
	}
	raw, err := mcp.SetMember(t.Raw, "inputSchema", input)
	if err != nil {
		return t // the catalog holds only objects
	}
	tight := *t
	tight.InputSchema, tight.Raw = input, raw
	return &tight
}

// find finds a tool that may be called by its own name or an alias, and returns the names
// of all such tools. A tool that is hidden is denied by each of its names that means no
// other one.
func (s *server) find(entry *catalog.Entry, name string) ([]string, *mcp.Tool, error) {
	all := entry.Names()
	names := all
	if !s.entry.Rules.None() {
		if slices.Contains(all, name) {
			if err := s.hidden(name); err != nil {
				return nil, nil, err
			}
		}
		names = slices.DeleteFunc(slices.Clone(all), func(n string) bool { return s.hidden(n) != nil })
	}
	if own, ok := schema.Resolve(names, name); ok {
		return names, entry.Tool(own), nil
	}
	if own, ok := schema.Resolve(all, name); ok {
		return nil, nil, s.hidden(own)
	}
	return names, nil, nil
}

// hidden is the denial of a tool that rules hide; nil if none does.
func (s *server) hidden(tool string) error {
	why, hidden := s.entry.Rules.Hidden(tool)
	if !hidden {
		return nil
	}
	return s.hiddenBy(tool, why)
}

func (s *server) hiddenBy(tool, why string) error {
	return fault.Deniedf("the tool %s.%s is hidden by %s", s.entry.Name, tool, why).
		Hintf("change the rule there to call it").With("server", s.entry.Name).With("tool", tool).With("rule", why)
}

// foreseen refuses, before a server is started only to be asked for its tools, what rules
// refuse whatever it answers.
func (s *server) foreseen(tool string, args json.RawMessage) error {
	if s.entry.Rules.None() {
		return nil
	}
	if _, known := s.g.o.Catalog.Get(s.key); known {
		return nil
	}
	if why, hidden := s.entry.Rules.Excluded(tool); hidden {
		return s.hiddenBy(tool, why)
	}
	for _, a := range s.entry.Rules.For(tool) {
		as, _ := schema.Coerce(a.Schema.Text(), args) // what the tool itself takes is not known yet
		if v := a.Schema.Check(as); v != nil {
			return s.violated(tool, v, a)
		}
	}
	return nil
}

func (s *server) violated(tool string, v *schema.Violation, a rule.Arguments) error {
	return v.Denial(s.entry.Name+"."+tool, a.From.String()).
		With("server", s.entry.Name).With("tool", tool).With("file", a.From.File).With("key", a.From.Key)
}

// permit is what was said when a call was allowed.
type permit struct {
	asked    bool // a person has allowed this very call
	warnings []string
}

// permit decides whether a call may be made: by the rules about its arguments, by whether
// the tool is what it was, and by the write policy. It is asked once for each call, with
// the arguments as they will be sent.
func (s *server) permit(ctx context.Context, tool *mcp.Tool, args json.RawMessage, in api.CallInput) (*permit, error) {
	for _, a := range s.entry.Rules.For(tool.Name) {
		if v := a.Schema.Check(args); v != nil {
			return nil, s.violated(tool.Name, v, a)
		}
	}
	p := &permit{}
	if err := s.unchanged(ctx, tool, p); err != nil {
		return nil, err
	}
	why, err := s.writes(tool)
	if err != nil || why == "" {
		return p, err
	}
	p.asked = true
	if s.g.permits.goesOn(s.entry.Name, tool.Name, args, in) {
		return p, nil // the same call, which was asked about before the server asked
	}
	return p, s.ask(ctx, tool, args, why, in.Consent)
}

// permitStill decides once more on a call whose tool turned out to be another than it was
// when p was given. Nobody is asked twice.
func (s *server) permitStill(ctx context.Context, tool *mcp.Tool, args json.RawMessage, in api.CallInput, p *permit) error {
	if p.asked {
		return s.unchanged(ctx, tool, p)
	}
	again, err := s.permit(ctx, tool, args, in)
	if err == nil {
		*p = *again
	}
	return err
}

// writes says why a call of the tool has to be asked about; empty if it need not be. The
// error is the denial of one that cannot be made at all.
func (s *server) writes(tool *mcp.Tool) (why string, err error) {
	policy, from := s.policy()
	why = "policy.write is " + string(policy)
	if from != nil {
		why = from.String() + " is " + string(policy)
	}
	destroys := tool.Destructive()
	confirm := destroys && settings.ElicitConfirmDestructive.Get(s.g.settings) == "true"
	switch {
	case tool.ReadOnly() && !confirm:
		return "", nil
	case !tool.ReadOnly() && policy == rule.Deny:
		e := fault.Deniedf("%s.%s may change something, and %s", s.entry.Name, tool.Name, why)
		return "", s.unallowed(e, tool, from == nil)
	case !tool.ReadOnly() && policy == rule.Ask:
		return why, nil
	case confirm:
		return "elicit.confirmDestructive is true", nil
	}
	return "", nil
}

// unallowed adds to a denial what would allow the call.
func (s *server) unallowed(e *fault.Error, tool *mcp.Tool, setting bool) *fault.Error {
	said := settings.PolicyWrite.Said(s.g.settings)
	flag, file := said.Asked, said.User
	inFile, trust := s.entry.Origin.Line > 0, `"mcpx servers trust `+fault.ShellWord(s.entry.Name)+`"`
	if s.entry.Guest {
		trust = `"mcpx config trust" and then ` + trust
	}
	switch {
	case !setting:
		e = e.Hintf("%s has that say allow", trust)
	case file != nil && file.Value != string(rule.Allow):
		e = e.Hintf("it is allowed by %s, or once %s says allow", trust, file.Origin)
	case flag != nil && flag.Value != string(rule.Allow):
		e = e.Hintf("--policy-write or MCPX_POLICY_WRITE says so: leave it out, or let it be allow")
	case !inFile:
		e = e.Hintf("allow it with --policy-write=allow for this run, or with the setting policy.write")
	default:
		e = e.Hintf("allow it with --policy-write=allow for this run, with %s for this server, or with the setting policy.write", trust)
	}
	return e.With("server", s.entry.Name).With("tool", tool.Name).With("policy", "write")
}

// ask asks the person on whose behalf the call is made.
func (s *server) ask(ctx context.Context, tool *mcp.Tool, args json.RawMessage, why string, c api.Consent) error {
	name := s.entry.Name + "." + tool.Name
	does := "may change something"
	if tool.ReadOnly() {
		does = "may destroy something"
	}
	cannot := func(reason string) error {
		e := fault.Deniedf("%s %s, %s, and %s", name, does, why, reason)
		if why == "elicit.confirmDestructive is true" {
			return e.Hintf("make the call at a terminal, or set elicit.confirmDestructive to false").
				With("server", s.entry.Name).With("tool", tool.Name).With("policy", "confirmDestructive")
		}
		_, own := s.policy()
		return s.unallowed(e, tool, own == nil)
	}
	if c == nil {
		return cannot("nobody can be asked")
	}
	allowed, err := c.Consent(ctx, api.ConsentQuestion{
		Server: s.entry.Name, Tool: tool.Name, Arguments: args, Destructive: tool.Destructive(), Why: why,
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return cannot("nobody can be asked: " + err.Error())
	}
	s.g.o.Log.LogAttrs(ctx, slog.LevelInfo, "call.consent", slog.String("server", s.entry.Name), slog.String("tool", tool.Name),
		slog.Bool("allowed", allowed), slog.String("arguments", fmt.Sprintf("%x", sha256.Sum256(args))))
	if !allowed {
		return fault.Deniedf("%s was not allowed: the answer was no", name).
			With("server", s.entry.Name).With("tool", tool.Name).With("policy", "write")
	}
	return nil
}

// policy is the write policy for the server, and where it stands if that is with the server.
func (s *server) policy() (rule.Policy, *rule.Origin) {
	asked := rule.Policy("")
	if said := settings.PolicyWrite.Said(s.g.settings); said.Asked != nil {
		asked = rule.Policy(said.Asked.Value)
	}
	return s.entry.Rules.Writing(rule.Policy(settings.PolicyWrite.Get(s.g.settings)), asked)
}

// unchanged looks whether a tool is what it was when it was first seen, or accepted.
func (s *server) unchanged(ctx context.Context, tool *mcp.Tool, p *permit) error {
	policy := settings.PolicyToolChange.Get(s.g.settings)
	if policy == "allow" || tool.Raw == nil {
		return nil
	}
	pin, pinned := s.g.o.Catalog.Pinned(s.identity(), tool.Name)
	if !pinned || pin == s.g.permits.shape(tool) {
		return nil
	}
	name := s.entry.Name + "." + tool.Name
	if policy == "refuse" {
		return fault.Deniedf("%s is not the tool that it was when it was first seen, and policy.toolChange is refuse", name).
			Hintf(`look at what changed with "mcpx history %s", and accept it with "mcpx history accept %s"`, fault.ShellWord(name), fault.ShellWord(name)).
			With("server", s.entry.Name).With("tool", tool.Name).With("policy", "toolChange")
	}
	s.g.o.Log.LogAttrs(ctx, slog.LevelWarn, "tool.changed", slog.String("server", s.entry.Name), slog.String("tool", tool.Name))
	p.warnings = append(p.warnings, fmt.Sprintf(`%s has changed since it was first seen: "mcpx history %s" shows how, "mcpx history accept %s" accepts it`,
		name, fault.ShellWord(name), fault.ShellWord(name)))
	return nil
}

// permits remembers what outlives one call.
type permits struct {
	mu     sync.Mutex
	shapes map[*mcp.Tool]string
	open   map[[sha256.Size]byte]time.Time // calls that were allowed, and whose server asks for more
}

// Bounds of it.
const (
	maxShapes = 4096
	maxOpen   = 1024
	openFor   = 30 * time.Minute
)

// shape is the digest of what a tool is.
func (p *permits) shape(t *mcp.Tool) string {
	p.mu.Lock()
	known, ok := p.shapes[t]
	p.mu.Unlock()
	if ok {
		return known
	}
	made := catalog.Shape(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shapes == nil || len(p.shapes) >= maxShapes {
		p.shapes = map[*mcp.Tool]string{}
	}
	p.shapes[t] = made
	return made
}

func callDigest(server, tool string, args, state json.RawMessage) [sha256.Size]byte {
	text, _ := json.Marshal([]string{server, tool, string(args), string(state)}) // strings can be encoded
	return sha256.Sum256(text)
}

// keep remembers a call that a person has allowed and that is made again with answers for
// the server: a call is asked about once. What shows that it is the same one is the state
// that the server has given out; without one the person is asked again.
func (p *permits) keep(allowed *permit, server, tool string, args, result json.RawMessage) {
	state := mcp.Member(result, "requestState")
	if !allowed.asked || len(state) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for key, at := range p.open {
		if now.Sub(at) > openFor || len(p.open) >= maxOpen {
			delete(p.open, key)
		}
	}
	if p.open == nil {
		p.open = map[[sha256.Size]byte]time.Time{}
	}
	p.open[callDigest(server, tool, args, state)] = now
}

// goesOn reports whether a call goes on with one that was allowed.
func (p *permits) goesOn(server, tool string, args json.RawMessage, in api.CallInput) bool {
	if len(in.RequestState) == 0 {
		return false
	}
	key := callDigest(server, tool, args, in.RequestState)
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.open[key]
	delete(p.open, key)
	return ok && time.Since(at) <= openFor
}

// Accept takes tools of a server for what they are now.
func (g *Gateway) Accept(_ context.Context, in api.AcceptInput) (*api.AcceptOutput, error) {
	ns, name, err := g.split(in.Name)
	if err != nil {
		return nil, err
	}
	if ns == "" {
		return nil, fault.Usagef("nothing is named that is to be accepted").Hintf("name a tool, NS.TOOL, or a server, NS")
	}
	s, err := g.server(ns)
	if err != nil {
		return nil, err
	}
	if _, err := s.definition(); err != nil {
		return nil, s.warned(err)
	}
	entry, known := g.o.Catalog.Get(s.key)
	if !known {
		return nil, fault.NotFoundf("the tools of %s are not known yet", s.entry.Name).Hintf("mcpx ls asks the servers for their tools")
	}
	only := ""
	if name != "" {
		_, tool, err := s.find(entry, name)
		switch {
		case err != nil:
			return nil, err
		case tool == nil:
			return nil, fault.NotFoundf("%s has no tool called %q", s.entry.Name, name).With("server", s.entry.Name).With("tool", name).
				Hintf("mcpx ls lists its tools")
		}
		only = tool.Name
	}
	accepted, err := g.o.Catalog.Accept(s.identity(), entry, only)
	if err != nil {
		return nil, fault.Unavailablef("what was accepted cannot be kept: %w", err).Hintf("look at the state directory with mcpx doctor")
	}
	out := &api.AcceptOutput{Accepted: []string{}}
	for _, tool := range accepted {
		out.Accepted = append(out.Accepted, s.entry.Name+"."+tool)
	}
	return out, nil
}

// pending are the tools of a server that have changed and were not accepted.
func (s *server) pending(only string) []string {
	if _, err := s.definition(); err != nil {
		return nil
	}
	entry, ok := s.g.o.Catalog.Get(s.key)
	if !ok {
		return nil
	}
	var out []string
	for _, t := range s.visible(entry).Tools {
		if only != "" && t.Name != only {
			continue
		}
		if pin, pinned := s.g.o.Catalog.Pinned(s.identity(), t.Name); pinned && pin != s.g.permits.shape(entry.Tool(t.Name)) {
			out = append(out, t.Name)
		}
	}
	return out
}

// RuleNotices says, a sentence each, which rules match none of the tools that the catalog
// knows: most likely a name is misspelled. Rules for every server are only judged if the
// tools of all are known.
func (g *Gateway) RuleNotices() []string {
	var out, all []string
	var pools *rule.Rules
	complete := true
	for _, s := range g.servers {
		if s.entry.Disabled || s.entry.Rules == nil {
			continue
		}
		var entry *catalog.Entry
		if _, err := s.definition(); err == nil {
			entry, _ = g.o.Catalog.Get(s.key)
		}
		if entry == nil {
			complete = false
			continue
		}
		pools, all = s.entry.Rules, append(all, entry.Names()...)
		for _, u := range s.entry.Rules.Unmatched(entry.Names(), false) {
			out = append(out, u.String())
		}
	}
	if complete {
		for _, u := range pools.Unmatched(all, true) {
			out = append(out, u.String())
		}
	}
	return out
}

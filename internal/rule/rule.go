// Package rule holds what a user says about tools, as values: which tools of a server can
// be seen and called (filters), which arguments a call may have (argument rules), and
// whether tools that write may be called at all (the write policy).
//
// It decides by names, arguments and annotations alone. Where the rules stand is known to
// package config, and when they are asked to package gateway.
package rule

import (
	"encoding/json"
	"fmt"
	"slices"

	"mcpx/internal/schema"
)

// Origin is where a rule stands.
type Origin struct {
	File   string
	Line   int
	Server string // empty in the block pool, which is about every server
	Key    string // mcpx.excludeTools, pool.argumentRules
}

// String is FILE:LINE: server "NAME": KEY.
func (o Origin) String() string {
	place := fmt.Sprintf("%s:%d", o.File, o.Line)
	if o.Server != "" {
		place += fmt.Sprintf(": server %q", o.Server)
	}
	return place + ": " + o.Key
}

// Filter is one entry of a list of tools.
type Filter struct {
	*Pattern
	From Origin
}

// Arguments is one argument rule.
type Arguments struct {
	*Pattern
	Schema *schema.Rule
	From   Origin
}

// Block is what stands in one place: the block of a server, or that of all servers in
// one file.
type Block struct {
	// Guest says that it stands in a file of a project that the user does not vouch for.
	// It only tightens what other blocks say.
	Guest     bool
	Tools     []Filter // nil if the key is not there; none allows nothing
	Exclude   []Filter
	Extra     []Filter
	Arguments []Arguments
	Write     Policy // empty if it says nothing
	WriteFrom Origin
}

// Rules are those of one server. The zero value allows everything.
type Rules struct {
	Own      *Block   // of the server's entry; nil if it has none
	Replaced []*Block // of farther entries with its name, nearest first
	Pools    []*Block // of the blocks for all servers, nearest first
}

// None reports whether there is no rule about names and arguments.
func (r *Rules) None() bool {
	return r == nil || !slices.ContainsFunc(r.blocks(), func(b *Block) bool {
		return b.Tools != nil || len(b.Exclude)+len(b.Extra)+len(b.Arguments) > 0
	})
}

func (r *Rules) blocks() []*Block {
	if r == nil {
		return nil
	}
	var out []*Block
	if r.Own != nil {
		out = append(out, r.Own)
	}
	return append(append(out, r.Replaced...), r.Pools...)
}

// Hidden reports whether a tool is not to be seen, and which rule says so. The name is
// the server's own.
func (r *Rules) Hidden(tool string) (string, bool) {
	if why, ok := r.Excluded(tool); ok {
		return why, true
	}
	// What the user's own lists allow, and then what is left of that by those of guests.
	for _, guest := range []bool{false, true} {
		if why, hidden := r.unlisted(tool, guest); hidden {
			return why, true
		}
	}
	return "", false
}

// Excluded reports whether a rule hides a tool by its name, wherever it is allowed.
func (r *Rules) Excluded(tool string) (string, bool) {
	for _, b := range r.blocks() {
		if f, ok := find(b.Exclude, tool, true); ok {
			return f.From.String() + " " + quote(f.Pattern), true
		}
	}
	return "", false
}

// unlisted reports whether a tool is missing in the allow lists of the user, or in those
// of guests.
func (r *Rules) unlisted(tool string, guest bool) (string, bool) {
	lists, listed := r.lists(guest)
	extra := ""
	for _, b := range r.blocks() {
		if b.Guest && !guest {
			continue
		}
		if _, ok := find(b.Extra, tool, false); ok {
			return "", false
		}
		if b.Guest == guest && len(b.Extra) > 0 && extra == "" {
			extra = b.Extra[0].From.String()
		}
	}
	if listed {
		for _, b := range lists {
			if _, ok := find(b.Tools, tool, false); !ok {
				return b.allowedAt(), true
			}
		}
		return "", false
	}
	if guest {
		if _, listed := r.lists(false); listed {
			return "", false // it adds to the user's list, which it cannot
		}
	}
	return extra, extra != ""
}

// lists are the allow lists that a tool has to be in, all of them. Those of entries stand
// in the place of those for all servers; of the latter the user's nearest counts. A guest's
// stands in the place of none.
func (r *Rules) lists(guest bool) (out []*Block, any bool) {
	if r == nil {
		return nil, false
	}
	has := func(b *Block) bool { return b != nil && b.Guest == guest && b.Tools != nil }
	for _, b := range append([]*Block{r.Own}, r.Replaced...) {
		if has(b) {
			out = append(out, b)
		}
	}
	if len(out) > 0 && !guest {
		return out, true
	}
	for _, b := range r.Pools {
		if has(b) {
			out = append(out, b)
			if !guest {
				break
			}
		}
	}
	return out, len(out) > 0
}

// allowedAt names the list that a tool is missing in.
func (b *Block) allowedAt() string {
	if len(b.Tools) == 0 {
		return "an empty list of tools"
	}
	return b.Tools[0].From.String() + ", which does not name it"
}

// find returns the first filter that means a tool; unsure counts where nobody can tell.
func find(filters []Filter, tool string, unsure bool) (Filter, bool) {
	i := slices.IndexFunc(filters, func(f Filter) bool { return f.Match(tool, unsure) })
	if i < 0 {
		return Filter{}, false
	}
	return filters[i], true
}

// For returns the argument rules of a tool. A call must satisfy them all.
func (r *Rules) For(tool string) []Arguments {
	var out []Arguments
	for _, b := range r.blocks() {
		for _, a := range b.Arguments {
			if a.Match(tool, true) {
				out = append(out, a)
			}
		}
	}
	return out
}

// Tighten returns the schema of a tool's arguments together with what the rules for it
// want. Without rules it is the schema as it was.
func (r *Rules) Tighten(tool string, input json.RawMessage) json.RawMessage {
	var rules []*schema.Rule
	for _, a := range r.For(tool) {
		rules = append(rules, a.Schema)
	}
	return schema.Tighten(input, rules)
}

// Unmatched returns the rules that most likely have a name misspelled, since they mean none
// of the tools: those of the server's own blocks, or argument rules for every server. A
// pattern that excludes what may come one day is none of them.
func (r *Rules) Unmatched(tools []string, pools bool) []Unmatched {
	if r == nil {
		return nil
	}
	var out []Unmatched
	look := func(p *Pattern, from Origin) {
		if !slices.ContainsFunc(tools, func(name string) bool { return p.Match(name, true) }) {
			out = append(out, Unmatched{p, from})
		}
	}
	for _, b := range r.blocks() {
		if slices.Contains(r.Pools, b) != pools {
			continue
		}
		for _, f := range slices.Concat(b.Tools, b.Extra, b.Exclude) {
			if !pools && (f.exact() || !slices.Contains(b.Exclude, f)) {
				look(f.Pattern, f.From)
			}
		}
		for _, a := range b.Arguments {
			look(a.Pattern, a.From)
		}
	}
	return out
}

// Unmatched is a rule that says something of no tool.
type Unmatched struct {
	Pattern *Pattern
	From    Origin
}

// String is a sentence about it.
func (u Unmatched) String() string {
	return fmt.Sprintf("%s: %s matches no tool", u.From, quote(u.Pattern))
}

func quote(p *Pattern) string { return fmt.Sprintf("%q", p.String()) }

package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"mcpx/internal/fault"
	"mcpx/internal/rule"
	"mcpx/internal/schema"
)

// ruleKeys are those of rules about tools, in the mcpx block of an entry or, but for the
// last, in the block pool for every server.
var ruleKeys = []string{"tools", "excludeTools", "extraIncludeTools", "argumentRules", "writePolicy"}

// rules reads a key of the mcpx block that is a rule about tools: one of ruleKeys, written as key.
func (r *entryReader) rules(key string, m member) {
	if r.s.Rules == nil {
		r.s.Rules = &rule.Rules{}
	}
	b := r.s.Rules.Own
	if b == nil {
		b = &rule.Block{Guest: r.guest}
	}
	rr := ruleReader{doc: r.doc, block: b, server: r.s.Name, key: key, fail: func(key string, n *node, hint, format string, args ...any) {
		r.line(key, n)
		r.fail(key, hint, format, args...)
		if r.s.broken == nil {
			r.s.broken = r.s.fault(key, format, args...).Hintf("%s", hint)
		}
	}}
	rr.read(m)
	r.s.Rules.Own = b
	if m.key == "writePolicy" && r.guest && b.Write == rule.Allow {
		r.note(m, `writePolicy only tightens what you say yourself, from a file of the project that you do not trust: "mcpx config trust", or an entry in ~/.mcpx.json`)
	}
}

// poolRules reads a key of the block pool that is a rule about the tools of every server.
func (r *reader) poolRules(m member) bool {
	b := r.contents.rules
	if b == nil {
		b = &rule.Block{Guest: r.guest}
	}
	rr := ruleReader{doc: r.doc, block: b, key: "pool." + m.key, fail: func(key string, n *node, hint, format string, args ...any) {
		if r.contents.rulesFault != nil {
			return
		}
		p := r.doc.position(n.at)
		e := fault.Unavailablef(format, args...)
		e.Message = p.String() + ": " + key + ": " + e.Message
		r.contents.rulesFault = e.Hintf("%s", hint).With("file", p.File).With("line", p.Line).With("key", key)
	}}
	if m.key == "writePolicy" || !rr.read(m) {
		return false
	}
	r.contents.rules = b
	return true
}

// ruleReader fills one block.
type ruleReader struct {
	doc    *document
	block  *rule.Block
	server string
	key    string // as it is written: mcpx.KEY, pool.KEY, or KEY on the entry
	fail   func(key string, n *node, hint, format string, args ...any)
}

func (r *ruleReader) origin(n *node) rule.Origin {
	return rule.Origin{File: r.doc.path, Line: r.doc.line(n.at), Server: r.server, Key: r.key}
}

// read reads one key, and reports whether it is one of a rule.
func (r *ruleReader) read(m member) bool {
	v := m.value
	switch m.key {
	case "tools":
		if list, ok := r.filters(v); ok {
			r.block.Tools = list
		}
	case "excludeTools":
		r.block.Exclude, _ = r.filters(v)
	case "extraIncludeTools":
		r.block.Extra, _ = r.filters(v)
	case "argumentRules":
		r.arguments(v)
	case "writePolicy":
		if v.kind != text || !rule.IsPolicy(v.text) {
			r.fail(r.key, v, `write "allow", "ask" or "deny"`, "%s is no policy", v.shown())
			break
		}
		r.block.Write, r.block.WriteFrom = rule.Policy(v.text), r.origin(v)
	default:
		return false
	}
	return true
}

const patternHint = `a pattern is a name, a glob such as "get_*", or "/REGEXP/"`

// filters reads a list of patterns.
func (r *ruleReader) filters(v *node) ([]rule.Filter, bool) {
	if v.kind != list {
		r.fail(r.key, v, `write a list of tools, such as ["get_*"]`, "%s where a list is needed", v.kind)
		return nil, false
	}
	out := []rule.Filter{}
	for i, n := range v.list {
		place := r.key + "[" + strconv.Itoa(i) + "]"
		if n.kind != text {
			r.fail(place, n, patternHint, "%s where a pattern is needed", n.kind)
			continue
		}
		p, err := rule.Parse(n.text)
		if err != nil {
			r.fail(place, n, patternHint, "the pattern %q cannot be used: %v", n.text, err)
			continue
		}
		out = append(out, rule.Filter{Pattern: p, From: r.origin(n)})
	}
	return out, true
}

// arguments reads argument rules: schemas by patterns.
func (r *ruleReader) arguments(v *node) {
	if v.kind != object {
		r.fail(r.key, v, `write { "TOOL": { "properties": { … } } }`, "%s where an object is needed", v.kind)
		return
	}
	for _, m := range v.members {
		place := r.key + "[" + strconv.Quote(m.key) + "]"
		p, err := rule.Parse(m.key)
		if err != nil {
			r.fail(place, m.value, patternHint, "the pattern %q cannot be used: %v", m.key, err)
			continue
		}
		if m.value.kind != object {
			r.fail(place, m.value, "a rule is a JSON Schema object, which the arguments have to fit", "%s where an object is needed", m.value.kind)
			continue
		}
		s, err := schema.CompileRule(m.value.whole())
		if err != nil {
			r.fail(place, m.value, "a rule is a JSON Schema (2020-12) whose patterns are of ECMA-262", "the schema cannot be used: %v", err)
			continue
		}
		from := r.origin(m.value)
		from.Key += "[" + strconv.Quote(m.key) + "]"
		r.block.Arguments = append(r.block.Arguments, rule.Arguments{Pattern: p, Schema: s, From: from})
	}
}

// shown is a value for a sentence about it.
func (n *node) shown() string {
	if n.kind == text {
		return strconv.Quote(n.text)
	}
	return string(n.kind)
}

// whole writes a value as JSON.
func (n *node) whole() json.RawMessage {
	var b bytes.Buffer
	n.write(&b)
	return b.Bytes()
}

func (n *node) write(b *bytes.Buffer) {
	word := func(s string) { b.WriteString(quoted(s)) }
	switch n.kind {
	case text:
		word(n.text)
	case list:
		b.WriteByte('[')
		for i, item := range n.list {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	case object:
		b.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				b.WriteByte(',')
			}
			word(m.key)
			b.WriteByte(':')
			m.value.write(b)
		}
		b.WriteByte('}')
	case null:
		b.WriteString("null")
	default:
		b.WriteString(n.text)
	}
}

// gathered is what files say about tools, besides the entries in force.
type gathered struct {
	pools    []*rule.Block
	broken   *fault.Error         // what is wrong with the first of pools that is
	replaced map[string][]*Server // farther entries by name, nearest first
}

func (g *gathered) add(found *contents) {
	if found.rules != nil {
		g.pools = append(g.pools, found.rules)
	}
	if g.broken == nil {
		g.broken = found.rulesFault
	}
}

// Stand puts a server that no file names in the place of those that files could name.
func (c *Config) Stand(s *Server) {
	c.Servers = []*Server{s}
	c.about.give(c)
}

// give gives each server in force the rules that hold for it. A rule that cannot be
// understood closes the servers that it is about.
func (g *gathered) give(c *Config) {
	for _, s := range c.Servers {
		behind, broken := g.replaced[s.Name], g.broken
		if s.Guest && s.alias != nil { // it does not get round the rules for what it leads to
			behind = append(slices.Clone(behind), s.alias)
			behind = append(behind, g.replaced[s.alias.Name]...)
		}
		rules := rule.Rules{Pools: g.pools}
		if s.Rules != nil {
			rules.Own = s.Rules.Own
		}
		for _, f := range behind {
			if broken == nil {
				broken = f.broken
			}
			if f.Rules != nil && f.Rules.Own != nil {
				rules.Replaced = append(rules.Replaced, f.Rules.Own)
			}
		}
		if broken != nil && s.Problem == nil {
			s.Problem = fault.New(fault.Usage, "%w", broken).With("server", s.Name)
		}
		if rules.Own != nil || len(rules.Replaced)+len(rules.Pools) > 0 {
			s.Rules = &rules
		}
	}
}

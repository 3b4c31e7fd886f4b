package schema

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Namespace is a server as TypeScript declares it.
type Namespace struct {
	Name        string
	Description string
	Tools       []Tool
}

// Tool is a tool as TypeScript declares it.
type Tool struct {
	Name        string
	Aliases     []string // as Aliases returned them for the names of the namespace
	Title       string
	Description string
	Input       json.RawMessage
	Output      json.RawMessage // nil if the server does not say
}

// argument and result are the types of what a schema says nothing of: an argument may
// be anything, and with a result a script may do anything.
const (
	argument = "unknown"
	result   = "any"
)

// prelude declares what a tool is besides its arguments and its result.
const prelude = `/** What the tools below have in common. */
declare namespace mcpx {
  /** The whole answer of a tool, as its server sent it. */
  interface ToolResult {
    content: { type: string; text?: string; [key: string]: any }[];
    structuredContent?: any;
    isError?: boolean;
    [key: string]: any;
  }
  /** What an object from a tool carries besides its own members. */
  interface Carried {
    readonly raw: ToolResult;
    readonly content: ToolResult["content"];
    readonly text: string;
  }
  type Value<R> = R extends object ? R & Omit<Carried, keyof R> : R;
  /** A tool. A call gives its value; raw() gives the whole answer. */
  type Tool<F> = F extends (...args: infer A) => Promise<infer R>
    ? { (...args: A): Promise<Value<R>>; raw(...args: A): Promise<ToolResult> }
    : never;
  /** The tools of a server, under their own names and under the aliases A. */
  type Server<T, A extends Record<string, keyof T> = {}> = {
    readonly [K in keyof T]: Tool<T[K]>;
  } & { readonly [K in keyof A]: Tool<T[A[K]]> };
  /** Servers, under their own names and under the aliases A. */
  type Servers<T, A extends Record<string, keyof T>> = T & {
    readonly [K in keyof A]: T[A[K]];
  };
}
`

// Declarations writes namespaces as a TypeScript declaration file that stands on its
// own: the global tools with a member for each namespace, and the namespaces that can
// be globals themselves. Whatever the schemas hold, the file compiles under
// tsc --strict, and its size is bounded.
func Declarations(namespaces []Namespace) string {
	tools, globals, types := declarations(namespaces)
	if globals != "" {
		tools += "\n" + globals
	}
	return tools + types + "\n" + prelude
}

// Outline is Declarations without what all tools have in common and without the global
// names of the namespaces: for a reader who knows those, or does not need to.
func Outline(namespaces []Namespace) string {
	tools, _, types := declarations(namespaces)
	return tools + types
}

func declarations(namespaces []Namespace) (declared, globals, types string) {
	var ofTypes, tools, ofGlobals strings.Builder
	names := make([]string, len(namespaces))
	for i, ns := range namespaces {
		names[i] = ns.Name
	}
	aliases := Aliases(names)
	blocks := map[string]bool{}
	taken := map[string]bool{"tools": true}
	seen := map[string]bool{}
	var spellings []string
	for _, ns := range namespaces {
		if seen[ns.Name] {
			continue
		}
		seen[ns.Name] = true
		d := &declarer{block: blockName(ns.Name, blocks), bodies: map[string]string{}}
		tools.WriteString(docComment("  ", paragraphs(ns.Description, "  ")))
		tools.WriteString("  " + propertyName(ns.Name) + ": ")
		d.namespace(&tools, ns)
		tools.WriteString(";\n")
		d.types(&ofTypes)

		member := "tools." + ns.Name
		if !isPlain(ns.Name) {
			member = "(typeof tools)[" + quote(ns.Name) + "]"
		} else {
			member = "typeof " + member
		}
		for _, global := range append([]string{ns.Name}, aliases[ns.Name]...) {
			if IsIdentifier(global) && !taken[global] && !isGlobal(global) {
				taken[global] = true
				fmt.Fprintf(&ofGlobals, "declare const %s: %s;\n", global, member)
			}
		}
		for _, alias := range aliases[ns.Name] {
			spellings = append(spellings, fmt.Sprintf("%s: %s", propertyName(alias), quote(ns.Name)))
		}
	}
	out := "declare const tools: {\n" + tools.String() + "};\n"
	if len(spellings) > 0 {
		out = "declare const tools: mcpx.Servers<{\n" + tools.String() + "}, { " + strings.Join(spellings, "; ") + " }>;\n"
	}
	return out, ofGlobals.String(), ofTypes.String()
}

// blockName returns the name under which the types of a server are declared.
func blockName(name string, taken map[string]bool) string {
	base := strings.Map(func(r rune) rune {
		if r > 0x7F || !isPart(r) {
			return '_'
		}
		return r
	}, name)
	if !isPlain(base) || isReserved(base) {
		base = "_" + base
	}
	block := base
	for i := 2; taken[block]; i++ {
		block = fmt.Sprintf("%s_%d", base, i)
	}
	taken[block] = true
	return block
}

// globals holds the names that TypeScript's own libraries, Node's or a script's
// surroundings give a value, one a line. A namespace of such a name is reached
// through tools alone.
//
//go:embed globals.txt
var globals string

var globalSet = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.Lines(globals) {
		set[strings.TrimSpace(name)] = true
	}
	return set
})

func isGlobal(name string) bool { return globalSet()[name] }

// declarer writes the tools of one namespace.
type declarer struct {
	block  string
	order  []string          // names of types, as they were declared
	bodies map[string]string // and what they stand for
}

func (d *declarer) namespace(b *strings.Builder, ns Namespace) {
	b.WriteString("mcpx.Server<{\n")
	var aliases []string
	seen := map[string]bool{}
	for _, t := range ns.Tools {
		if seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		d.tool(b, t)
	}
	for _, t := range ns.Tools {
		for _, alias := range t.Aliases {
			if !seen[alias] {
				seen[alias] = true
				aliases = append(aliases, fmt.Sprintf("    %s: %s;\n", propertyName(alias), quote(t.Name)))
			}
		}
	}
	b.WriteString("  }")
	if len(aliases) > 0 {
		b.WriteString(", {\n" + strings.Join(aliases, "") + "  }")
	}
	b.WriteString(">")
}

// tool writes one tool as a method, and keeps the types that it needs by name.
func (d *declarer) tool(b *strings.Builder, t Tool) {
	const indent = "    "
	var r *rendering
	bumped := map[*value]int{}
	input, output := compilerOf(t.Input), compilerOf(t.Output)
	for attempt := range 8 {
		r = &rendering{d: d, tool: t.Name, bumped: bumped, fresh: attempt == 7, names: map[*value]string{}, owners: map[string]*value{}}
		r.print(input, output, indent)
		if !r.conflicts() {
			break
		}
	}
	for _, name := range r.order {
		if _, known := d.bodies[name]; !known {
			d.order = append(d.order, name)
			d.bodies[name] = r.bodies[name]
		}
	}
	description := t.Description
	if strings.TrimSpace(description) == "" {
		description = t.Title
	}
	lines := paragraphs(description, indent)
	if r.cut > 0 {
		lines = append(lines, fmt.Sprintf("Cut: the schema is too large to be shown whole, %d parts of it are missing here.", r.cut))
	}
	b.WriteString(docComment(indent, lines))
	b.WriteString(indent + propertyName(t.Name) + r.signature + ";\n")
}

// types writes the types that the tools refer to.
func (d *declarer) types(b *strings.Builder) {
	if len(d.order) == 0 {
		return
	}
	fmt.Fprintf(b, "\ndeclare namespace mcpx.%s {\n", d.block)
	for _, name := range d.order {
		b.WriteString(d.bodies[name])
	}
	b.WriteString("}\n")
}

// compilerOf returns a compiler for a schema, or nil if there is none.
func compilerOf(schema json.RawMessage) *compiler {
	root, ok := parse(schema)
	if !ok || !isSchema(root) {
		return nil
	}
	doc := newDocument(root)
	doc.walk(root)
	return newCompiler(doc)
}

// rendering is one attempt to print a tool. Types of two tools share a name if they
// are the same; if they are not, the next attempt numbers the later one.
type rendering struct {
	d         *declarer
	tool      string
	bumped    map[*value]int // how many times a part must take another name
	fresh     bool           // no name is shared
	names     map[*value]string
	owners    map[string]*value
	order     []string
	bodies    map[string]string
	signature string
	cut       int
}

func (r *rendering) print(input, output *compiler, indent string) {
	r.bodies = map[string]string{}
	args, optional := r.arguments(input, indent)
	promise := result
	if output != nil {
		promise = r.schema(output, result, "Result", func(p *printer) string {
			before := args[strings.LastIndexByte(args, '\n')+1:] // on the same line
			if before == args {
				before += indent + propertyName(r.tool)
			}
			return p.text(rootOf(output), indent, len(before)+len("(args?: ): Promise<>"), 0)
		})
	}
	question := ""
	if optional {
		question = "?"
	}
	r.signature = "(args" + question + ":" + after(args) + "): Promise<" + promise + ">"
}

// anyArguments is the type of arguments that nothing is known of.
const anyArguments = "{ [key: string]: " + argument + " }"

func (r *rendering) arguments(input *compiler, indent string) (text string, optional bool) {
	if input == nil {
		return anyArguments, true
	}
	s := input.arguments()
	if s == nil {
		return anyArguments, true
	}
	text = r.schema(input, argument, "Args", func(p *printer) string {
		return p.text(s, indent, len(indent)+len(r.tool)+8, 0)
	})
	return text, !input.needs(s)
}

// arguments returns the shape of a tool's arguments, nil if the schema says nothing
// of them. Arguments are an object whatever else a schema allows.
func (c *compiler) arguments() *shape {
	s := rootOf(c)
	if behind, ok := c.behind(s); ok && s.form == named && !c.doc.ring[s.target] {
		s = behind
	}
	if s.form == union {
		var fit []*shape
		for _, arm := range s.items {
			if arm.admits(kindObject) {
				fit = append(fit, arm)
			}
		}
		s = join(fit)
	}
	if s.form == anything || s.form == nothing || !s.admits(kindObject) {
		return nil
	}
	return s
}

// rootOf returns the shape of a whole schema; a reference if it contains itself.
func rootOf(c *compiler) *shape {
	root := c.doc.root
	s := c.shape(root)
	if c.doc.ring[root] {
		return &shape{form: named, target: root}
	}
	return s
}

// needs reports whether an object of a shape must have some member.
func (c *compiler) needs(s *shape) bool {
	switch s.form {
	case object:
		return slices.ContainsFunc(s.props, func(m prop) bool { return m.required })
	case union:
		return !slices.ContainsFunc(s.items, func(arm *shape) bool { return !c.needs(arm) })
	case intersection:
		return slices.ContainsFunc(s.items, func(part *shape) bool { return c.needs(part) })
	case named:
		if is, ok := c.needing[s.target]; ok {
			return is
		}
		c.needing[s.target] = false // what contains itself in place needs what the rest of it needs
		if behind, ok := c.behind(s); ok {
			c.needing[s.target] = c.needs(behind)
		}
		return c.needing[s.target]
	case anything, nothing, primitive, literal, list, tuple:
	}
	return false
}

// schema prints with one compiler: what write returns, with qualified names, and the
// types that it and they refer to, with bare ones.
func (r *rendering) schema(c *compiler, anyType, role string, write func(*printer) string) string {
	var queue []*value
	prefix := "mcpx." + r.d.block + "."
	p := newPrinter(c, anyType, func(target *value) string {
		name, ok := r.names[target]
		if !ok {
			name = r.choose(c, target, role)
			queue = append(queue, target)
		}
		return prefix + name
	})
	text := write(p)
	prefix = ""
	for len(queue) > 0 {
		target := queue[0]
		queue = queue[1:]
		const indent = "  "
		name := r.names[target]
		head := docComment(indent, paragraphs(target.string("description"), indent)) + indent + "type " + name + " ="
		p.left -= len(head)
		r.bodies[name] = head + after(p.text(c.shape(target), indent, len(indent)+len(name)+8, 0)) + ";\n"
	}
	r.cut += p.cut
	return text
}

// choose names a part.
func (r *rendering) choose(c *compiler, target *value, role string) string {
	base := typeName(c.doc.at[target])
	if target == c.doc.root || base == "" {
		base = typeName(r.tool) + role
	}
	name := base
	for i, free := 1, r.bumped[target]; ; i++ {
		if i > 1 {
			name = fmt.Sprintf("%s_%d", base, i)
		}
		_, shared := r.d.bodies[name]
		if r.owners[name] != nil || r.fresh && shared {
			continue
		}
		if free == 0 {
			break
		}
		free--
	}
	r.names[target] = name
	r.owners[name] = target
	r.order = append(r.order, name)
	return name
}

// conflicts reports whether a type has the name of another one of the namespace, and
// sees to it that the next attempt avoids that.
func (r *rendering) conflicts() bool {
	found := false
	for name, body := range r.bodies {
		if known, ok := r.d.bodies[name]; ok && known != body {
			r.bumped[r.owners[name]]++
			found = true
		}
	}
	return found
}

// Bounds of a signature.
const (
	signatureArgs   = 260
	signatureResult = 140
)

// Signature writes a tool as one bounded line of TypeScript: its name, its arguments
// and its result. What stands deep within is left out and marked "…".
func Signature(name string, input, output json.RawMessage) string {
	args, optional := anyArguments, "?"
	if c := compilerOf(input); c != nil {
		if s := c.arguments(); s != nil {
			args = c.brief(s, argument, signatureArgs)
			if c.needs(s) {
				optional = ""
			}
		}
	}
	promise := result
	if c := compilerOf(output); c != nil {
		promise = c.brief(c.shape(c.doc.root), result, signatureResult)
	}
	return propertyName(name) + "(args" + optional + ": " + args + "): Promise<" + promise + ">"
}

// brief writes a shape in one line of about limit bytes, with as much depth as fits.
func (c *compiler) brief(s *shape, anyType string, limit int) string {
	p := newPrinter(c, anyType, nil)
	p.brief = true
	for p.deep = 6; p.deep > 0; p.deep-- {
		if t, ok := p.line(s, limit, 0); ok {
			return t
		}
	}
	behind, ok := c.behind(s)
	if !ok || behind.form != object {
		return anyType
	}
	return p.some(behind, limit)
}

// some writes an object of which one line holds only a part: required members first.
func (p *printer) some(s *shape, limit int) string {
	p.deep = 1
	props := slices.Clone(s.props)
	slices.SortStableFunc(props, func(a, b prop) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	var b strings.Builder
	b.WriteString("{ ")
	left := len(props)
	for _, m := range props {
		t, ok := p.line(m.shape, 60, 1)
		switch {
		case p.isLoose(m):
			t = p.any
		case !ok:
			t = p.coarse(m.shape, 0)
		}
		if b.Len()+len(m.key())+len(t) > limit {
			break
		}
		if left < len(props) {
			b.WriteString("; ")
		}
		b.WriteString(m.key() + ": " + t)
		left--
	}
	switch {
	case left == len(props):
		fmt.Fprintf(&b, "/* … %d more */", left)
	case left > 0:
		fmt.Fprintf(&b, "; /* … %d more */", left)
	}
	return b.String() + " }"
}

// coarse writes a shape that no short line holds by its kinds alone: string[] for a
// list of any of a hundred words.
func (p *printer) coarse(s *shape, depth int) string {
	if behind, ok := p.c.behind(s); ok && s.form == named && !p.c.doc.ring[s.target] {
		s = behind
	}
	switch {
	case depth > 3:
	case s.form == list && s.rest != nil:
		if t := p.coarse(s.rest, depth+1); !strings.Contains(t, "|") {
			return t + "[]"
		}
		return p.any + "[]"
	case s.form == object:
		return "{ /* … */ }"
	case s.form == union, s.isFlat():
		var kinds []string
		for _, arm := range arms(s) {
			if !arm.isFlat() {
				return p.any
			}
			if k := keyword(arm.kind); !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
		return strings.Join(kinds, " | ")
	}
	return p.any
}

// Bounds of a call.
const (
	callArgs   = 170
	callResult = 60
)

// Call writes a tool as one short line, as a call of it is written: its name, the
// types of its arguments, and behind an arrow what it gives, if the server says so.
func Call(name string, input, output json.RawMessage) string {
	args := "{ … }"
	if c := compilerOf(input); c != nil {
		if s := c.arguments(); s != nil {
			args = c.brief(s, argument, callArgs)
			if behind, ok := c.behind(s); ok && behind.form == object && len(behind.props) == 0 && (behind.rest == nil || behind.rest.form == nothing) {
				args = ""
			}
		}
	}
	line := name + "(" + args + ")"
	if c := compilerOf(output); c != nil {
		if t := c.brief(c.shape(c.doc.root), result, callResult); t != result {
			line += " → " + t
		}
	}
	return line
}

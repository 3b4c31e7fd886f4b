package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// demoStandsIn says whose tools are shown where no server is configured.
const demoStandsIn = "no server is configured, so this is the built-in demo server\n" + howToAdd

// standIn says that the demo server is what is shown, unless a server was named.
func (v *invocation) standIn(ctx context.Context, named string) {
	if named != "" {
		return
	}
	if out, err := v.backend.Config(ctx, api.ConfigInput{}); err == nil && out.Demo {
		v.say("%s", demoStandsIn)
	}
}

// howToAdd is the next step of whoever has no server yet.
const howToAdd = `add one: mcpx servers add NAME -- COMMAND ARGS…, or mcpx servers add NAME --url URL`

func (v *invocation) ls(c *cli.Context) error {
	ns, err := namespaceOf(c)
	if err != nil {
		return err
	}
	in, err := input[api.NamespacesInput](c)
	if err != nil {
		return err
	}
	in.Namespace = ns
	out, err := ask(v, c, api.ListNamespaces, in)
	if fault.KindOf(err) == fault.NotFound && strings.Contains(ns, ".") {
		return fault.From(err).Hintf(`it is the name of a server that ls takes; "mcpx types %s" declares one tool`, fault.ShellWord(ns))
	}
	if err != nil {
		return err
	}
	instances := v.running(c.Context)
	switch {
	case out.Demo:
		v.say("%s", demoStandsIn)
	case len(out.Namespaces) == 0:
		v.say("no server is configured\n%s", howToAdd)
	}
	err = v.answer(struct {
		*api.NamespacesOutput
		Instances []api.Instance `json:"instances,omitempty"`
	}{out, instances}, func() string {
		if !v.verbose {
			instances = nil
		}
		return namespacesText(out.Namespaces, instances, v.columns())
	})
	if failure := allFailed(out.Namespaces); err == nil && failure != nil {
		return status(failure.Kind.ExitCode())
	}
	return err
}

// allFailed is why one of the servers cannot be asked, if none can: one that does not start,
// before one whose entry is wrong.
func allFailed(namespaces []api.Namespace) *fault.Error {
	var why *fault.Error
	for _, ns := range namespaces {
		switch {
		case ns.Disabled:
		case ns.Error == nil:
			return nil
		case why == nil, ns.Error.Kind == fault.Unavailable && why.Kind != fault.Unavailable:
			why = ns.Error
		}
	}
	return why
}

// alsoSpelled is a name, and behind it how a script can write it, if it cannot be written so.
func alsoSpelled(name, alias string) string {
	if alias == "" {
		return word(name)
	}
	return word(name) + " (" + word(alias) + ")"
}

// running is what the process that has just answered runs, for those who want to see it.
func (v *invocation) running(ctx context.Context) []api.Instance {
	if !v.json && !v.verbose {
		return nil
	}
	status, err := api.Status.Do(ctx, v.backend, api.StatusInput{})
	if err != nil {
		v.say("what runs could not be learned: %s", errorText(fault.From(err)))
		return nil
	}
	return status.Instances
}

func namespacesText(namespaces []api.Namespace, instances []api.Instance, columns int) string {
	p := page{columns: columns}
	for i, ns := range namespaces {
		if i > 0 {
			p.line("")
		}
		if ns.Disabled {
			p.line("%s (disabled)", word(ns.Name))
		} else {
			p.line("%s", alsoSpelled(ns.Name, ns.Alias))
		}
		var rows [][2]string
		for _, t := range ns.Tools {
			rows = append(rows, [2]string{alsoSpelled(t.Name, t.Alias), word(summary(cmp.Or(t.Description, t.Title)))})
		}
		slices.SortStableFunc(rows, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
		p.rows("  ", rows)
		if ns.Error != nil {
			p.block("  ", "error: "+errorText(ns.Error))
		} else if len(rows) == 0 && !ns.Disabled {
			p.line("  no tools")
		}
		for _, w := range ns.Warnings {
			p.block("  ", "warning: "+w)
		}
		for _, i := range instances {
			if i.Server == ns.Name {
				p.line("  %s", word(instanceText(i)))
			}
		}
	}
	return p.String()
}

func (v *invocation) tools(c *cli.Context) error {
	if _, err := namespaceOf(c); err != nil {
		return err
	}
	in, err := input[api.ToolsInput](c)
	if err != nil {
		return err
	}
	b, err := v.open(c.Context)
	if err != nil {
		return err
	}
	var tool string
	if in.Namespace = c.Args().First(); strings.Contains(in.Namespace, ".") {
		config, err := b.Config(c.Context, api.ConfigInput{})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(config.Servers, func(s api.ConfigServer) bool { return s.Name == in.Namespace }) {
			if in.Namespace, tool, err = splitTool(c.Context, b, in.Namespace); err != nil {
				return err
			}
		}
	}
	end := v.waiting("asking the servers", boundedCall)
	out, err := api.ListTools.Do(c.Context, b, in)
	end()
	if err != nil {
		return err
	}
	if tool != "" {
		if out.Tools, err = only(out.Tools, in.Namespace, tool); err != nil {
			return err
		}
	}
	v.standIn(c.Context, in.Namespace)
	return v.answer(out, func() string { return toolsText(out.Tools) })
}

// only finds a tool of a server by its own name or an alias.
func only(tools []api.Tool, server, name string) ([]api.Tool, error) {
	var names []string
	for i, t := range tools {
		if t.Name == name || slices.Contains(t.Aliases, name) {
			return tools[i : i+1], nil
		}
		names = append(names, t.Name)
	}
	e := fault.NotFoundf("%s has no tool called %q", server, name).With("server", server).With("tool", name)
	return nil, e.Hintf(`%s"mcpx ls %s" lists its tools`, didYouMean(name, names, "%s"), fault.ShellWord(server))
}

func toolsText(tools []api.Tool) string {
	var p page
	for i, t := range tools {
		if i > 0 {
			p.line("")
		}
		head := word(t.Namespace + "." + t.Name)
		if marks := marks(t.Annotations); len(marks) > 0 {
			head += " (" + strings.Join(marks, ", ") + ")"
		}
		p.line("%s", head)
		if text := cmp.Or(t.Description, t.Title); strings.TrimSpace(text) != "" {
			p.block("  ", text)
		}
		var rows [][2]string
		for _, q := range parameters(t.InputSchema) {
			need := "optional"
			if q.required {
				need = "required"
			}
			rows = append(rows, [2]string{word(q.name), strings.TrimSpace(word(q.typ) + ", " + need + "  " + word(oneLine(q.description)))})
		}
		p.rows("    ", rows)
		if len(t.Aliases) > 0 {
			p.line("  also %s", word(strings.Join(t.Aliases, ", ")))
		}
	}
	return p.String()
}

// marks are the hints of a tool's annotations that are true.
func marks(annotations json.RawMessage) []string {
	var a struct {
		ReadOnly    bool `json:"readOnlyHint"`
		Destructive bool `json:"destructiveHint"`
		Idempotent  bool `json:"idempotentHint"`
	}
	if json.Unmarshal(annotations, &a) != nil {
		return nil
	}
	var out []string
	if a.ReadOnly {
		out = append(out, "read-only")
	}
	if a.Destructive {
		out = append(out, "destructive")
	}
	if a.Idempotent {
		out = append(out, "idempotent")
	}
	return out
}

// parameter is one property of an input schema, as far as a listing shows it.
type parameter struct {
	name, typ, description string
	required               bool
	values                 []string // texts that it may be; nil if it may be others
}

// parameters reads the properties at the top of an input schema, in its order. What it
// does not understand it leaves out: types and --json show schemas whole.
func parameters(schema json.RawMessage) []parameter { return parametersWithin(schema, 2) }

// parametersWithin is parameters whose types show members to a depth.
func parametersWithin(schema json.RawMessage, depth int) []parameter {
	var top struct {
		Properties json.RawMessage `json:"properties"`
		Required   json.RawMessage `json:"required"`
	}
	if json.Unmarshal(schema, &top) != nil {
		return nil
	}
	var required []string
	json.Unmarshal(top.Required, &required) //nolint:errcheck // what is no list requires nothing
	var out []parameter
	dec := json.NewDecoder(bytes.NewReader(top.Properties))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return out
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return out
		}
		name, _ := key.(string)
		var property struct {
			Description json.RawMessage `json:"description"`
			Enum        json.RawMessage `json:"enum"`
		}
		json.Unmarshal(raw, &property) //nolint:errcheck // true and false are schemas too
		q := parameter{name: name, typ: typeWithin(raw, depth), required: slices.Contains(required, name)}
		json.Unmarshal(property.Description, &q.description) //nolint:errcheck // no text, no description
		if json.Unmarshal(property.Enum, &q.values) != nil {
			q.values = nil // they are no texts
		}
		out = append(out, q)
	}
	return out
}

// What a listing shows of the values and the members that a parameter may have.
const (
	widestValues = 120
	mostMembers  = 8
)

// typeWithin names the type that a schema asks for, with that of a list's elements and, to a
// depth, the members of an object: string, integer|null, (string|number)[],
// {from: string, to?: string}, "a"|"b". What says nothing of types is any.
func typeWithin(schema json.RawMessage, depth int) string {
	var s struct {
		Type       json.RawMessage   `json:"type"`
		Items      json.RawMessage   `json:"items"`
		Enum       []json.RawMessage `json:"enum"`
		Properties json.RawMessage   `json:"properties"`
	}
	json.Unmarshal(schema, &s) //nolint:errcheck // true and false are schemas too
	if len(s.Enum) > 0 {
		return valuesText(s.Enum)
	}
	var types []string
	var one string
	switch {
	case json.Unmarshal(s.Type, &one) == nil && one != "":
		types = []string{one}
	case json.Unmarshal(s.Type, &types) != nil || len(types) == 0:
		return "any"
	}
	for i, t := range types {
		if t == "object" && depth > 0 && len(s.Properties) > 0 {
			types[i] = membersText(schema, depth-1)
		}
		if t != "array" {
			continue
		}
		element := typeWithin(s.Items, depth)
		if strings.Contains(element, "|") {
			element = "(" + element + ")"
		}
		types[i] = element + "[]"
	}
	return strings.Join(types, "|")
}

// valuesText lists values that a parameter may have.
func valuesText(values []json.RawMessage) string {
	var b strings.Builder
	for i, value := range values {
		if i > 0 {
			b.WriteByte('|')
		}
		if b.Len()+len(value) > widestValues {
			return b.String() + "…"
		}
		b.Write(value)
	}
	return b.String()
}

// membersText lists the members of an object with their types.
func membersText(schema json.RawMessage, depth int) string {
	var parts []string
	for i, q := range parametersWithin(schema, depth) {
		if i == mostMembers {
			parts = append(parts, "…")
			break
		}
		mark := "?"
		if q.required {
			mark = ""
		}
		parts = append(parts, q.name+mark+": "+q.typ)
	}
	if len(parts) == 0 {
		return "object"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (v *invocation) search(c *cli.Context) error {
	if err := takes(c, 1, c.NArg()); err != nil {
		return err
	}
	if strings.TrimSpace(strings.Join(c.Args().Slice(), "")) == "" {
		return fault.Usagef("search: the words are empty").Hintf("usage: %s", usage(c.Command))
	}
	in, err := input[api.SearchInput](c)
	if err != nil {
		return err
	}
	in.Words = strings.Join(c.Args().Slice(), " ")
	out, err := ask(v, c, api.SearchTools, in)
	if err != nil {
		return err
	}
	v.standIn(c.Context, "")
	if len(out.Results) == 0 {
		v.say("no tool fits %q\n\"mcpx ls\" lists them all", in.Words)
	}
	return v.answer(out, func() string { return searchText(out.Results, v.columns()) })
}

// widestSummary is how much of a description a result of search shows where no terminal
// bounds it: types shows it whole.
const widestSummary = 200

func searchText(results []api.SearchResult, columns int) string {
	p := page{columns: columns}
	for _, r := range results {
		line := word(r.Namespace + "." + r.Signature)
		if r.Alias != "" {
			line += "  // " + word(r.Name)
		}
		p.folded(line)
		if text := word(summary(r.Description)); text != "" {
			p.line("%s", cut(cut("  "+text, widestSummary), columns))
		}
	}
	return p.String()
}

func (v *invocation) types(c *cli.Context) error {
	if err := takes(c, 0, 1); err != nil {
		return err
	}
	if err := named(c, c.Args().Slice()...); err != nil {
		return err
	}
	if name := c.Args().First(); name != "" && !isDotted(name) {
		return notOfForm(c, "NS or NS.TOOL", name)
	}
	in, err := input[api.TypesInput](c)
	if err != nil {
		return err
	}
	in.Name = c.Args().First()
	out, err := ask(v, c, api.DeclareTypes, in)
	if err != nil {
		return err
	}
	if !in.Globals {
		v.standIn(c.Context, in.Name)
	}
	file := c.String("output")
	if file == "" || file == "-" {
		return v.answer(out, func() string { return out.Declarations })
	}
	if err := replaceFile(c.Context, v.path(file), []byte(out.Declarations)); err != nil {
		return fault.Usagef("writing %s: %w", file, err).Hintf("%s", v.wayToWrite(file, err))
	}
	return v.answer(struct {
		*api.TypesOutput
		File string `json:"file"`
	}{out, file}, func() string { return "" })
}

// wayToWrite is the next step for a file that could not be written.
func (v *invocation) wayToWrite(file string, err error) string {
	dir := filepath.Dir(v.path(file))
	switch {
	case errors.Is(err, fs.ErrNotExist) && v.kindOfPath(dir) == nowhere:
		return "there is no directory " + filepath.Dir(file) + ": make it, or name another file"
	case v.kindOfPath(file) == isDirectory:
		return "name a file in it"
	}
	return "name another file, or leave out -o to have it on standard output"
}

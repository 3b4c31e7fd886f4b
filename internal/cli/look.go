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

// howToAdd is the next step of whoever has no server yet.
const howToAdd = `add one: mcpx servers add NAME -- COMMAND ARGS…, or mcpx servers add NAME --url URL`

func (v *invocation) ls(c *cli.Context) error {
	if c.NArg() > 0 {
		return fault.Usagef("ls takes no arguments, and was given %q", c.Args().First()).
			Hintf(`"mcpx tools %s" lists the tools of one namespace`, c.Args().First())
	}
	in, err := input[api.NamespacesInput](c)
	if err != nil {
		return err
	}
	out, err := ask(v, c, api.ListNamespaces, in)
	if err != nil {
		return err
	}
	instances := v.running(c.Context)
	switch {
	case out.Demo:
		v.say("no server is configured, so this is the built-in demo server\n%s", howToAdd)
	case len(out.Namespaces) == 0:
		v.say("no server is configured\n%s", howToAdd)
	}
	return v.answer(struct {
		*api.NamespacesOutput
		Instances []api.Instance `json:"instances,omitempty"`
	}{out, instances}, func() string {
		if !v.verbose {
			instances = nil
		}
		return namespacesText(out.Namespaces, instances, v.columns())
	})
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
			p.line("%s", word(ns.Name))
		}
		var rows [][2]string
		for _, t := range ns.Tools {
			rows = append(rows, [2]string{word(t.Name), word(summary(cmp.Or(t.Description, t.Title)))})
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
	if err := takes(c, 0, 1); err != nil {
		return err
	}
	if err := named(c, c.Args().Slice()...); err != nil {
		return err
	}
	in, err := input[api.ToolsInput](c)
	if err != nil {
		return err
	}
	in.Namespace = c.Args().First()
	out, err := ask(v, c, api.ListTools, in)
	if err != nil {
		return err
	}
	return v.answer(out, func() string { return toolsText(out.Tools) })
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
}

// parameters reads the properties at the top of an input schema, in its order. What it
// does not understand it leaves out: types and --json show schemas whole.
func parameters(schema json.RawMessage) []parameter {
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
		}
		json.Unmarshal(raw, &property) //nolint:errcheck // true and false are schemas too
		q := parameter{name: name, typ: typeOf(raw), required: slices.Contains(required, name)}
		json.Unmarshal(property.Description, &q.description) //nolint:errcheck // no text, no description
		out = append(out, q)
	}
	return out
}

// typeOf names the type that a schema asks for, with that of a list's elements: string,
// integer|null, (string|number)[]. What says nothing of types is any.
func typeOf(schema json.RawMessage) string {
	var s struct {
		Type  json.RawMessage `json:"type"`
		Items json.RawMessage `json:"items"`
	}
	json.Unmarshal(schema, &s) //nolint:errcheck // true and false are schemas too
	var types []string
	var one string
	switch {
	case json.Unmarshal(s.Type, &one) == nil && one != "":
		types = []string{one}
	case json.Unmarshal(s.Type, &types) != nil || len(types) == 0:
		return "any"
	}
	for i, t := range types {
		if t != "array" {
			continue
		}
		element := typeOf(s.Items)
		if strings.Contains(element, "|") {
			element = "(" + element + ")"
		}
		types[i] = element + "[]"
	}
	return strings.Join(types, "|")
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
		p.folded(word(r.Namespace + "." + r.Signature))
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
	file := c.String("output")
	if file == "" || file == "-" {
		return v.answer(out, func() string { return out.Declarations })
	}
	if err := replaceFile(v.path(file), []byte(out.Declarations)); err != nil {
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
	return "name another file, or leave out -o to print the declarations"
}

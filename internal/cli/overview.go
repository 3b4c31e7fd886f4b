package cli

import (
	"fmt"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// catalog prints an overview of all tools.
func (v *invocation) catalog(c *cli.Context) error {
	if word := c.Args().First(); c.NArg() > 0 {
		return fault.Usagef("catalog: unknown word %q", word).
			Hintf(`%susage: %s`, didYouMean(word, []string{"history"}, `"mcpx catalog %s"`), usage(c.Command))
	}
	in, err := input[api.CatalogInput](c)
	if err != nil {
		return err
	}
	out, err := ask(v, c, api.ShowCatalog, in)
	if err != nil {
		return err
	}
	v.standIn(c.Context, "")
	return v.answer(out, func() string { return catalogText(out.Text, v.columns()) })
}

// catalogText is the overview for people: what is wider than a terminal goes on below.
func catalogText(text string, columns int) string {
	p := page{columns: columns}
	for line := range strings.Lines(text) {
		p.folded(strings.TrimSuffix(line, "\n"))
	}
	return p.String()
}

// changes prints what changed in the tools of servers.
func (v *invocation) changes(c *cli.Context) error {
	if err := takes(c, 0, 1); err != nil {
		return err
	}
	name := c.Args().First()
	if c.NArg() == 1 {
		if err := named(c, name); err != nil {
			return err
		}
		if !isDotted(name) {
			return notOfForm(c, "NS or NS.TOOL", name)
		}
	}
	out, err := ask(v, c, api.CatalogHistory, api.ChangesInput{Name: name})
	if err != nil {
		return err
	}
	return v.answer(out, func() string { return changesText(out.Servers, v.columns()) })
}

func changesText(servers []api.ServerChanges, columns int) string {
	p := page{columns: columns}
	for _, s := range servers {
		switch {
		case s.Since == nil:
			p.line("%s: its tools were never listed", word(s.Namespace))
			continue
		case len(s.Changes)+len(s.Pending) == 0:
			p.line("%s: nothing has changed since %s", word(s.Namespace), s.Since.Format("2006-01-02"))
			continue
		}
		p.line("%s: since %s", word(s.Namespace), s.Since.Format("2006-01-02"))
		for _, tool := range s.Pending {
			name := word(s.Namespace) + "." + word(tool)
			p.line("  %s is not as it was when it was first seen: mcpx history accept %s accepts it", name, fault.ShellWord(name))
		}
		for _, ch := range s.Changes {
			p.line("  %s  %s %s", ch.When.UTC().Format("2006-01-02T15:04Z"), word(ch.Tool), ch.Kind)
			for _, d := range ch.Arguments {
				p.folded("    " + word(changeText("argument", "arguments", d)))
			}
			for _, d := range ch.Result {
				p.folded("    " + word(changeText("result member", "result", d)))
			}
			if ch.Reworded {
				p.line("    description, title or annotations changed")
			}
		}
	}
	return p.String()
}

// changeText is one difference of a schema as a sentence. part is what a member is, and
// whole what the schema is of.
func changeText(part, whole string, d api.SchemaChange) string {
	subject := part + " " + d.Field
	if d.Field == "" {
		subject = whole
	}
	switch d.Kind {
	case "added":
		return fmt.Sprintf("%s is new: %s", subject, d.After)
	case "required":
		if d.Before == "" {
			return fmt.Sprintf("%s is new and required: %s", subject, d.After)
		}
		return subject + " is required now"
	case "optional":
		return subject + " is optional now"
	case "removed":
		return fmt.Sprintf("%s is gone; it was %s", subject, d.Before)
	case "retyped":
		return fmt.Sprintf("%s was %s and is %s", subject, d.Before, d.After)
	}
	return subject + ": descriptions, formats or bounds changed"
}

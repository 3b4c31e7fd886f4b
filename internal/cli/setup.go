package cli

import (
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// configuration shows the configuration in force, or says whether a project's is vouched for.
func (v *invocation) configuration(c *cli.Context) error {
	if err := takes(c, 0, 2); err != nil {
		return err
	}
	if part, err := oneOf(c, "path", "sources", "schema"); part != "" || err != nil {
		if err != nil {
			return err
		}
		return v.partOfConfig(c, part)
	}
	switch act := c.Args().First(); act {
	case "":
		return v.showConfig(c)
	case "trust", "untrust":
		return v.trust(c, act == "untrust")
	default:
		return fault.Usagef("config: unknown word %q", act).
			Hintf(`%susage: %s`, didYouMean(act, []string{"trust", "untrust"}, `"mcpx config %s"`), usage(c.Command))
	}
}

// trust vouches for the files of a folder, or takes that back.
func (v *invocation) trust(c *cli.Context, revoke bool) error {
	in := api.TrustInput{Revoke: revoke}
	if folder := c.Args().Get(1); folder != "" {
		in.Folder = v.path(folder)
	} else if c.NArg() == 2 {
		return named(c, folder)
	}
	b, err := v.openOwn(c.Context)
	if err != nil {
		return err
	}
	out, err := b.Trust(c.Context, in)
	if err != nil {
		return err
	}
	return v.answer(out, func() string {
		var p page
		for _, f := range out.Files {
			if revoke {
				p.line("not trusted any more: %s", word(f))
			} else {
				p.line("trusted as it is now: %s", word(f))
			}
		}
		return p.String()
	})
}

// showConfig lists the configuration in force.
func (v *invocation) showConfig(c *cli.Context) error {
	b, err := v.openOwn(c.Context)
	if err != nil {
		return err
	}
	out, err := b.Config(c.Context, api.ConfigInput{})
	if err != nil {
		return err
	}
	if err := v.answer(out, func() string { return configText(out) }); err != nil {
		return err
	}
	for _, f := range out.Files {
		if f.Error != nil {
			return status(f.Error.Kind.ExitCode())
		}
	}
	return nil
}

func configText(out *api.ConfigOutput) string {
	var p page
	// Where no file was found is worth reading only if none was found anywhere.
	none := !slices.ContainsFunc(out.Files, func(f api.ConfigFile) bool { return f.State != "absent" })
	p.line("Files, nearest first:")
	var rows [][2]string
	for _, f := range out.Files {
		if none || f.State != "absent" {
			rows = append(rows, [2]string{f.State, fileText(f)})
		}
	}
	p.rows("  ", rows)
	for _, f := range out.Files {
		if f.Error != nil {
			p.block("  ", "error: "+errorText(f.Error))
		}
	}
	p.section("Servers")
	switch {
	case out.Demo:
		p.line("  none; the built-in demo server stands in")
	case len(out.Servers) == 0:
		p.line("  none")
	}
	rows = nil
	for _, s := range out.Servers {
		if !out.Demo {
			rows = append(rows, [2]string{word(s.Name), word(serverText(s))})
		}
	}
	p.rows("  ", rows)
	for _, s := range out.Servers {
		if s.Error != nil {
			p.block("  ", s.Name+": error: "+errorText(s.Error))
		}
		if len(s.Ignored) > 0 {
			p.line("  %s: not read here: %s", s.Name, strings.Join(s.Ignored, ", "))
		}
	}
	for _, w := range out.Warnings {
		p.block("  ", "warning: "+w)
	}
	return p.String()
}

// serverText is an entry on one line: what it starts or calls, and where it stands.
func serverText(s api.ConfigServer) string {
	text := s.URL
	if len(s.Command) > 0 {
		var words []string
		for _, w := range s.Command {
			words = append(words, fault.ShellWord(w))
		}
		text = strings.Join(words, " ")
	}
	if s.Disabled {
		text = strings.TrimSpace(text + " (disabled)")
	}
	if s.Origin != "" {
		text = strings.TrimSpace(text + "  [" + s.Origin + "]")
	}
	return text
}

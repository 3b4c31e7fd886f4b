package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/settings"

	"github.com/urfave/cli/v2"
)

// serversList lists the entries in force.
func (v *invocation) serversList(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	out, err := askOf(v, c, OwnProcess, api.ListServers, api.ServersListInput{})
	if err != nil {
		return err
	}
	switch {
	case out.Demo:
		v.say("%s", demoStandsIn)
	case len(out.Servers) == 0:
		v.say("no server is configured\n%s", howToAdd)
	}
	return v.answer(out, func() string {
		var p page
		var rows [][2]string
		for _, s := range out.Servers {
			rows = append(rows, [2]string{word(s.Name), word(serverText(s))})
		}
		p.rows("", rows)
		for _, s := range out.Servers {
			if s.Error != nil {
				p.block("", s.Name+": error: "+errorText(s.Error))
			}
		}
		return p.String()
	})
}

// serversAdd writes an entry.
func (v *invocation) serversAdd(c *cli.Context) error {
	if err := takes(c, 1, c.NArg()); err != nil {
		return err
	}
	in, err := input[api.ServersAddInput](c)
	if err != nil {
		return err
	}
	if err := named(c, c.Args().First()); err != nil {
		return err
	}
	in.Name, in.Command = c.Args().First(), c.Args().Tail()
	switch {
	case len(in.Command) > 0 && strings.HasPrefix(in.Command[0], "-"):
		return fault.Usagef("servers add: %s is a flag, and no program", in.Command[0]).
			Hintf("%s stands before --, and the program behind it", in.Command[0])
	case len(in.Command) == 1 && in.URL == "" && strings.Contains(in.Command[0], "://"):
		return fault.Usagef("servers add: %s is an address, and no program", in.Command[0]).
			Hintf("mcpx servers add %s --url %s", fault.ShellWord(in.Name), fault.ShellWord(in.Command[0]))
	case len(in.Command) == 0 && in.URL == "":
		return fault.Usagef("servers add: %s has neither a command nor --url", in.Name).Hintf("usage: %s", usage(c.Command))
	case len(in.Command) > 0 && in.URL != "":
		return fault.Usagef("servers add: %s has a command and --url", in.Name).Hintf("a server is one or the other")
	case len(in.Command) > 0 && len(in.Headers) > 0:
		return fault.Usagef("--header is for a server with --url, and %s is a program", in.Name).Hintf("--env sets its variables")
	case in.URL != "" && len(in.Env) > 0:
		return fault.Usagef("--env is for a program, and %s has --url", in.Name).Hintf("--header sets headers of its requests")
	}
	if in.File, err = v.place(in.Project, in.User, in.File); err != nil {
		return err
	}
	out, err := askOf(v, c, OwnProcess, api.AddServer, in)
	if err != nil {
		return err
	}
	if out.HiddenBy != "" {
		v.say("%s has an entry of that name nearer by, which stays in force", out.HiddenBy)
	}
	if len(out.Plain) > 0 {
		v.say("the file is the project's, and others may read what stands in it now: %s\n%s", word(strings.Join(out.Plain, ", ")),
			"a value such as ${"+word(out.Plain[0])+"} is taken from the environment instead")
	}
	doc := struct {
		*api.ServersAddOutput
		Check *api.CheckOutput `json:"check,omitempty"`
	}{ServersAddOutput: out}
	if !c.Bool("no-check") && out.HiddenBy == "" {
		defer v.waiting("starting "+word(out.Name), boundedStart)()
		if doc.Check, err = v.backend.Check(c.Context, api.CheckInput{Server: out.Name}); err != nil {
			// The entry is written all the same, and that is said too.
			doc.Check = &api.CheckOutput{Error: fault.From(err)}
			return errors.Join(err, v.answer(doc, func() string { return addedText(out) }))
		}
	}
	ask := in.WritePolicy == "" && in.File == "" && v.mayAskPolicy(doc.Check)
	err = v.answer(doc, func() string {
		confirmed := settings.ElicitConfirmDestructive.Get(v.settings) == "true"
		return addedText(out) + checkText(doc.Check, in, confirmed, ask)
	})
	if err != nil || !ask {
		return err
	}
	if yes, err := v.askPolicy(c.Context, out.Name); !yes || err != nil {
		return err
	}
	return v.trustNamed(c.Context, v.backend, out.Name)
}

// addedText says where an entry is now.
func addedText(out *api.ServersAddOutput) string {
	what := "added"
	if out.Replaced {
		what = "replaced"
	}
	text := what + " " + word(out.Name) + " in " + word(out.File) + "\n"
	if out.Spelled != "" {
		text += "a script writes it " + word(out.Spelled) + "\n"
	}
	return text
}

// headers takes "NAME: VALUE", as headers are written elsewhere, for NAME=VALUE. No name holds
// either mark.
func headers(given []string) []string {
	out := slices.Clone(given)
	for i, h := range out {
		if at := strings.IndexAny(h, ":="); at > 0 && h[at] == ':' {
			out[i] = strings.TrimSpace(h[:at]) + "=" + strings.TrimSpace(h[at+1:])
		}
	}
	return out
}

// checkText says what a new server offers, and what to expect of it. Confirmed says that what
// may destroy something is asked about in any case, ask that the question comes next.
func checkText(out *api.CheckOutput, in api.ServersAddInput, confirmed, ask bool) string {
	var p page
	switch {
	case out == nil:
	case out.Error != nil:
		p.block("", "it does not answer yet: "+errorText(out.Error))
		p.line("the entry stays: mcpx doctor looks again, mcpx servers remove %s takes it out", fault.ShellWord(in.Name))
	case len(out.Write) == 0:
		p.line("it has %s, all of which only read", number(out.Tools, "tool"))
	default:
		what := "are asked about"
		switch {
		case in.WritePolicy == "allow" && !out.Guest && confirmed:
			what = "are called without a question unless they may destroy something, since elicit.confirmDestructive is true"
		case in.WritePolicy == "allow" && !out.Guest:
			what = "are called without a question"
		case in.WritePolicy == "deny":
			what = "are refused"
		}
		p.line("it has %s; the server does not say of %d that they only read, and those %s:", number(out.Tools, "tool"), len(out.Write), what)
		const shown = 8
		names := out.Write
		if len(names) > shown {
			names = append(slices.Clone(names[:shown]), fmt.Sprintf("and %d more", len(names)-shown))
		}
		p.line("    %s", word(strings.Join(names, ", ")))
		switch {
		case out.Guest && in.WritePolicy == "allow":
			p.line("read the file, which is the project's: once you trust it they need no question: mcpx config trust")
		case in.WritePolicy != "" && in.WritePolicy != "ask", ask:
		case out.Guest:
			p.line("read the file, which is the project's; to call them without a question:")
			p.line("    mcpx config trust && mcpx servers trust %s", fault.ShellWord(in.Name))
		default:
			p.line("mcpx servers trust %s lets them without a question", fault.ShellWord(in.Name))
		}
	}
	return p.String()
}

// place refuses more than one place, and makes a file's path absolute.
func (v *invocation) place(project, user bool, file string) (string, error) {
	n := 0
	for _, given := range []bool{project, user, file != ""} {
		if given {
			n++
		}
	}
	if n > 1 {
		return "", fault.Usagef("--project, --user and --file each name a place").Hintf("give one of them")
	}
	if file == "" {
		return "", nil
	}
	return v.path(file), nil
}

// serversRemove takes an entry out.
func (v *invocation) serversRemove(c *cli.Context) error {
	name, err := nameOf(c)
	if err != nil {
		return err
	}
	in, err := input[api.ServersRemoveInput](c)
	if err != nil {
		return err
	}
	in.Name = name
	if in.File, err = v.place(in.Project, in.User, in.File); err != nil {
		return err
	}
	out, err := askOf(v, c, OwnProcess, api.RemoveServer, in)
	if err != nil {
		return err
	}
	if out.Now != "" {
		v.say("from now on the entry of that name at %s is in force", out.Now)
	}
	return v.answer(out, func() string { return "removed " + word(out.Name) + " from " + word(out.File) + "\n" })
}

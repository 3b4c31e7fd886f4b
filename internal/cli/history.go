package cli

import (
	"context"

	"mcpx/internal/api"

	"github.com/urfave/cli/v2"
)

// ruleCommands are those by which the user allows something for good: they belong to this
// process, since nobody may ask for that from elsewhere.
func (v *invocation) ruleCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name: "history accept", Category: groupLook, Usage: "accept a tool as it is now", ArgsUsage: "NS.TOOL|NS",
			Description: "A tool is known by its description, schemas and annotations as they were when it was first\n" +
				"seen. Of one that has changed since, calls warn, or are refused (policy.toolChange), until it\n" +
				"is accepted as it is now; with NS alone, all tools of the server. It starts no server.",
			Flags:     settingFlags("config"),
			Action:    v.accept,
			UsageText: "mcpx history accept github.create_issue\nmcpx history accept github",
		},
		{
			Name: "servers trust", Category: groupSetUp, Usage: "let a server's tools change things without asking", ArgsUsage: "NAME",
			Description: "Writes \"writePolicy\": \"allow\" into the entry of the server, where it stands: its tools are\n" +
				"called without a question from now on, whatever policy.write is.\n" +
				"\"mcpx docs rules\" tells more.",
			Flags:     settingFlags("config"),
			Action:    v.trustServer,
			UsageText: "mcpx servers trust files",
		},
	}
}

// accept takes tools for what they are now.
func (v *invocation) accept(c *cli.Context) error {
	if err := takes(c, 1, 1); err != nil {
		return err
	}
	name := c.Args().First()
	if !isDotted(name) {
		return notOfForm(c, "NS.TOOL", name)
	}
	b, err := v.openFor(c.Context, OpenOptions{Config: v.config, Settings: v.settings, Daemon: OwnProcess})
	if err != nil {
		return err
	}
	out, err := b.Accept(c.Context, api.AcceptInput{Name: name})
	if err != nil {
		return err
	}
	return v.answer(out, func() string {
		var p page
		for _, tool := range out.Accepted {
			p.line("accepted as it is now: %s", word(tool))
		}
		if len(out.Accepted) == 0 {
			p.line("nothing has changed")
		}
		return p.String()
	})
}

// trustServer lets the tools of a server write.
func (v *invocation) trustServer(c *cli.Context) error {
	name, err := nameOf(c)
	if err != nil {
		return err
	}
	b, err := v.openFor(c.Context, OpenOptions{Config: v.config, Settings: v.settings, Daemon: OwnProcess})
	if err != nil {
		return err
	}
	return v.trustNamed(c.Context, b, name)
}

func (v *invocation) trustNamed(ctx context.Context, b Backend, name string) error {
	out, err := b.TrustServer(ctx, api.TrustServerInput{Name: name})
	if err != nil {
		return err
	}
	return v.answer(out, func() string {
		return "the tools of " + word(out.Name) + " may write: " + word(out.File) + " says so\n"
	})
}

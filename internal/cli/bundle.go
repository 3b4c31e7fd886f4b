package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// makeSettings are those that decide how other forms of a script are made.
var makeSettings = []string{"exec.timeout", "script", "limits", "config"}

// makeCommands are those that make other forms of scripts.
func (v *invocation) makeCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name: "bundle", Category: groupDo, Usage: "make one file of a script and what it imports", ArgsUsage: "FILE",
			Description: "The file is plain JavaScript and does what the script does: it runs with \"mcpx run\", and\n" +
				"its errors have the positions of the sources, which are in it.\n" +
				"\"mcpx docs build\" tells more.",
			Flags: slices.Concat([]cli.Flag{
				&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE` instead of standard output"},
			}, settingFlags(makeSettings...), grantFlags()),
			Action:    v.bundle,
			UsageText: "mcpx bundle report.ts -o report.js\nmcpx bundle report.ts | mcpx run - --since yesterday",
		},
		{
			Name: "build", Category: groupDo, Usage: "make a program of a script", ArgsUsage: "FILE | --show PROGRAM",
			Description: "The program is a copy of mcpx that carries the script with what it imports, what it may do,\n" +
				"and, with --config, the configuration of its servers as it stands, secrets included. All its\n" +
				"arguments are the script's. Nobody who runs it can give it more than it was built with; paths\n" +
				"and . mean where it is run. \"mcpx docs build\" tells more.",
			Flags: slices.Concat([]cli.Flag{
				&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the program to `FILE`; without it, to the name of the script without its ending"},
				&cli.StringFlag{Name: "target", Usage: "make it of `MCPX`, the file of an mcpx of this version, perhaps for another system"},
				&cli.BoolFlag{Name: "show", Usage: "say what PROGRAM carries, and build nothing"},
			}, settingFlags(makeSettings...), grantFlags()),
			Action:    v.build,
			UsageText: "mcpx build report.ts -o report\nmcpx build --config servers.json --permissions none --allow-tools=github:read report.ts -o report\nmcpx build --show report",
		},
	}
}

// source reads the script of a command that makes something of one, and opens what makes it.
func (v *invocation) source(c *cli.Context) (Backend, *api.ExecInput, error) {
	name := c.Args().First()
	if err := named(c, name); err != nil {
		return nil, nil, err
	}
	code, err := v.readScript(c.Context, name)
	if err != nil {
		return nil, nil, err
	}
	in := &api.ExecInput{Name: name, Code: code, File: v.path(name)}
	if err := runnable(*in); err != nil {
		return nil, nil, err
	}
	if err := v.permissions.apply(in, v.profileGiven); err != nil {
		return nil, nil, err
	}
	b, err := v.openFor(c.Context, OpenOptions{Config: v.config, Settings: v.settings, Script: true, File: true, Daemon: OwnProcess})
	return b, in, err
}

func (v *invocation) bundle(c *cli.Context) error {
	if err := takes(c, 1, 1); err != nil {
		return err
	}
	b, in, err := v.source(c)
	if err != nil {
		return err
	}
	out, err := b.Bundle(c.Context, *in)
	if err != nil {
		return err
	}
	if file := c.String("output"); file != "" {
		if err := replaceFile(c.Context, v.path(file), []byte(out.Code)); err != nil {
			return fault.Usagef("%s cannot be written: %w", file, err)
		}
		out.Code = ""
		return v.answer(struct {
			File string `json:"file"`
		}{v.path(file)}, func() string { return "" })
	}
	return v.answer(out, func() string { return out.Code })
}

func (v *invocation) build(c *cli.Context) error {
	if err := takes(c, 1, 1); err != nil {
		return err
	}
	if c.Bool("show") {
		if err := named(c, c.Args().First()); err != nil {
			return err
		}
		b, err := v.openOwn(c.Context)
		if err != nil {
			return err
		}
		out, err := b.Built(c.Context, api.BuiltInput{File: v.path(c.Args().First())})
		if err != nil {
			return err
		}
		return v.answer(out, func() string { return builtText(out) })
	}
	b, script, err := v.source(c)
	if err != nil {
		return err
	}
	in := api.BuildInput{Script: *script, Output: c.String("output")}
	if in.Output == "" {
		in.Output = strings.TrimSuffix(script.File, filepath.Ext(script.File))
		if runtime.GOOS == "windows" {
			in.Output += ".exe"
		}
	}
	in.Output = v.path(in.Output)
	if in.Output == script.File {
		return fault.Usagef("the program would take the place of its script").Hintf("name it with -o TOOL")
	}
	if v.config != "" {
		in.Config = v.path(v.config)
	}
	if target := c.String("target"); target != "" {
		in.Target = v.path(target)
	}
	out, err := b.Build(c.Context, in)
	if err != nil {
		return err
	}
	return v.answer(out, func() string {
		return fmt.Sprintf("built %s (%d bytes)\n", word(out.File), out.Size) + builtText(&out.BuiltOutput)
	})
}

// builtText is what a program carries, for people.
func builtText(b *api.BuiltOutput) string {
	var s strings.Builder
	row := func(name, value string) { fmt.Fprintf(&s, "  %-12s %s\n", name, value) }
	row("script", word(b.Script))
	may := []string{"--permissions=" + b.Permissions}
	for _, side := range []struct {
		flag  string
		words map[string][]string
	}{{"--allow-", b.Allow}, {"--deny-", b.Deny}} {
		for _, g := range sortedKeys(side.words) {
			flag := side.flag + g
			if w := side.words[g]; len(w) > 0 {
				flag += "=" + strings.Join(w, ",")
			}
			may = append(may, fault.ShellWord(flag))
		}
	}
	row("may", strings.Join(may, " "))
	if b.Config {
		row("servers", "those that it carries")
	} else {
		row("servers", "those of whoever runs it")
	}
	row("mcpx", b.Version)
	row("sha256", b.Digest)
	return s.String()
}

// sortedKeys are the keys of a map in order.
func sortedKeys(m map[string][]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Tool is the script that a program carries.
type Tool struct {
	Script api.ExecInput // what it may do is in it, and cannot be changed
	Config string        // the name of the configuration that it carries; empty for none
}

// tool runs the script that this program carries. All its arguments are the script's.
func (v *invocation) tool(ctx context.Context) (err error) {
	defer func() {
		if v.backend != nil {
			if failure := v.backend.Close(); err == nil {
				err = failure
			}
		}
	}()
	in := v.p.Tool.Script
	in.Args = v.p.Args
	v.permissions = permissions{allow: in.Allow, deny: in.Deny}
	v.config = v.p.Tool.Config
	return v.script(ctx, in, v.p.Stdin)
}

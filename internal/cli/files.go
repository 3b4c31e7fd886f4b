package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// Files is about configuration files, those of other hosts too, and what they ask a person
// for. It belongs to the process of the command.
type Files interface {
	// Import lists the servers of other hosts, and takes them over.
	Import(ctx context.Context, in api.ImportInput) (*api.ImportOutput, error)
	// Enable has the entry of a server say that it is in use, or left out.
	Enable(ctx context.Context, in api.EnableInput) (*api.EnableOutput, error)
	// Init makes a configuration file, and never changes one.
	Init(ctx context.Context, in api.InitInput) (*api.InitOutput, error)
	// Inputs lists what the entry of a server asks a person for.
	Inputs(ctx context.Context, in api.InputsInput) (*api.InputsOutput, error)
	// Give keeps the answer to an input, or forgets it.
	Give(ctx context.Context, in api.GiveInput) (*api.GivenInput, error)
	// Check starts a server once, by its entry as it is now. That it cannot be started is no
	// error but part of the answer.
	Check(ctx context.Context, in api.CheckInput) (*api.CheckOutput, error)
}

// fileCommands are about configuration files.
func (v *invocation) fileCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name: "init", Category: groupSetUp, Usage: "make a configuration file, with comments that show what can stand in it",
			Description: "Writes .mcpx.json of the project, or with --user a file of your own. A file that is there\n" +
				"already stays as it is. At a terminal it offers to use the servers of other programs that are\n" +
				"found on this machine (\"mcpx import\" lists them).",
			Flags: append([]cli.Flag{
				&cli.BoolFlag{Name: "user", Usage: "make your own file rather than the project's"},
			}, settingFlags("config")...),
			Action:    v.initialize,
			UsageText: "mcpx init\nmcpx init --user",
		},
		{
			Name: "import", Category: groupSetUp, Usage: "take over the servers of other programs: Claude Code, Cursor, VS Code, …", ArgsUsage: "[HOST]",
			Description: "A host is a program that uses MCP servers, and has a list of them. Without HOST it lists the\n" +
				"hosts, with the files where their servers were looked for. With HOST it shows what would be\n" +
				"written; --write writes it. Servers of a project go into the project's file and your own into\n" +
				"yours, unless a flag says otherwise. A server whose name is taken there is left out, and\n" +
				"nothing that stands there changes. To use the servers of a host without copying them, write\n" +
				"\"imports\": [\"HOST\"] into a file.\n" +
				"\"mcpx docs servers\" tells more.",
			Flags: append([]cli.Flag{
				&cli.BoolFlag{Name: "all", Usage: "those of every host that is found; of two servers of one name the first counts"},
				&cli.BoolFlag{Name: "write", Usage: "write the entries; without it they are only shown"},
				&cli.BoolFlag{Name: "project", Usage: "into .mcpx.json of the project"},
				&cli.BoolFlag{Name: "user", Usage: "into your own file"},
				&cli.StringFlag{Name: "file", Usage: "into `FILE`"},
			}, settingFlags("config")...),
			Action:    v.importHost,
			UsageText: "mcpx import\nmcpx import cursor\nmcpx import vscode --write --user\nmcpx import --all",
		},
		{
			Name: "servers disable", Category: groupSetUp, Usage: "leave a server out, and keep its entry", ArgsUsage: "NAME",
			Description: "Writes \"disabled\": true into the entry of the server, where it stands. Its tools are not\n" +
				"offered and cannot be called until \"mcpx servers enable\" takes that back.",
			Flags:     settingFlags("config"),
			Action:    func(c *cli.Context) error { return v.enable(c, false) },
			UsageText: "mcpx servers disable github",
		},
		{
			Name: "servers enable", Category: groupSetUp, Usage: "use a server again that was left out", ArgsUsage: "NAME",
			Description: "Takes \"disabled\" out of the entry of the server, where it stands.",
			Flags:       settingFlags("config"),
			Action:      func(c *cli.Context) error { return v.enable(c, true) },
			UsageText:   "mcpx servers enable github",
		},
		{
			Name: "servers input", Category: groupSetUp, Usage: "give a server what it asks a person for", ArgsUsage: "NAME [ID]",
			Description: "An entry refers to such a value as ${input:ID}. Without ID it lists those of the server. At a\n" +
				"terminal it asks for the value, and does not show what is typed if that is a password;\n" +
				"otherwise it reads standard input. The value is kept as logins are (auth.store), and is not\n" +
				"shown again.",
			Flags: append([]cli.Flag{
				&cli.BoolFlag{Name: "forget", Usage: "remove the value"},
			}, settingFlags("auth.store", "config")...),
			Action:    v.serversInput,
			UsageText: "mcpx servers input github\nmcpx servers input github token\nmcpx servers input github token < token.txt\nmcpx servers input github token --forget",
		},
	}
}

// enable puts a server to use, or leaves it out.
func (v *invocation) enable(c *cli.Context, on bool) error {
	name, err := nameOf(c)
	if err != nil {
		return err
	}
	b, err := v.openOwn(c.Context)
	if err != nil {
		return err
	}
	out, err := b.Enable(c.Context, api.EnableInput{Name: name, On: on})
	if err != nil {
		return err
	}
	return v.answer(out, func() string {
		if on {
			return "enabled " + word(out.Name) + " in " + word(out.File) + "\n"
		}
		return "disabled " + word(out.Name) + " in " + word(out.File) + "\n"
	})
}

func (v *invocation) initialize(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	b, err := v.openOwn(c.Context)
	if err != nil {
		return err
	}
	in := api.InitInput{User: c.Bool("user")}
	if _, err := b.Init(c.Context, api.InitInput{User: in.User, Look: true}); err != nil {
		return err // before anything is asked
	}
	if in.Imports, err = v.offerHosts(c.Context, b); err != nil {
		return err
	}
	out, err := b.Init(c.Context, in)
	if err != nil {
		return err
	}
	return v.answer(out, func() string { return "wrote " + word(out.File) + "\n" })
}

// offerHosts asks which hosts' servers are to be used. Without a terminal it is none.
func (v *invocation) offerHosts(ctx context.Context, b Backend) ([]string, error) {
	if v.json || v.keyboard() == nil {
		return nil, nil
	}
	found, err := b.Import(ctx, api.ImportInput{})
	if err != nil {
		return nil, err
	}
	var chosen []string
	for _, h := range found.Hosts {
		var names []string
		for _, f := range h.Files {
			names = append(names, f.Servers...)
		}
		if len(names) == 0 {
			continue
		}
		answer, err := v.typed(ctx, fmt.Sprintf("mcpx: %s has %s: %s\nmcpx: use them here? y = yes, anything else = no: ",
			h.Title, number(len(names), "server"), word(strings.Join(names, ", "))))
		if err != nil {
			return nil, err
		}
		if a := strings.ToLower(strings.TrimSpace(answer)); a == "y" || a == "yes" {
			chosen = append(chosen, h.Name)
		}
	}
	return chosen, nil
}

// typed asks for one line at the terminal.
func (v *invocation) typed(ctx context.Context, question string) (string, error) {
	answer, err := v.keyboard().ask(ctx, func() bool {
		v.stderr.clear()
		_, _ = io.WriteString(v.stderr, question) // without it nobody answers
		v.stderr.flush()
		return true
	})
	v.stderr.endLine()
	if errors.Is(err, io.EOF) {
		_, _ = io.WriteString(v.stderr, "\n")
		return "", nil // nobody answers: that is a no
	}
	return answer, err
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (v *invocation) importHost(c *cli.Context) error {
	if err := takes(c, 0, 1); err != nil {
		return err
	}
	in := api.ImportInput{
		Host: c.Args().First(), Write: c.Bool("write"),
		Project: c.Bool("project"), User: c.Bool("user"),
	}
	if c.NArg() == 1 {
		if err := named(c, in.Host); err != nil {
			return err
		}
	}
	var err error
	if in.File, err = v.place(in.Project, in.User, c.String("file")); err != nil {
		return err
	}
	all := c.Bool("all")
	switch {
	case all && in.Host != "":
		return fault.Usagef("import: --all means every host, and %s is one", in.Host).Hintf("give one of them")
	case !all && in.Host == "" && (in.Write || in.Project || in.User || in.File != ""):
		return fault.Usagef("import: whose servers are to be written?").Hintf(`name a host, or give --all; "mcpx import" lists the hosts`)
	}
	b, err := v.openOwn(c.Context)
	if err != nil {
		return err
	}
	var out *api.ImportOutput
	if all {
		out, err = importAll(c.Context, b, in)
	} else {
		out, err = b.Import(c.Context, in)
	}
	if err != nil {
		return err
	}
	if in.Host == "" && !all {
		return v.answer(out, func() string { return hostsText(out) })
	}
	if err := v.answer(out, func() string {
		if len(out.Hosts) == 0 {
			return "no other host was found on this machine\n"
		}
		return importText(out)
	}); err != nil {
		return err
	}
	for _, h := range out.Hosts {
		for _, f := range h.Files {
			if f.Error != nil { // its servers were asked for, and are not there
				return status(fault.Usage.ExitCode())
			}
		}
	}
	return nil
}

// importAll takes over the servers of every host that has some here, one host after the other.
func importAll(ctx context.Context, b Backend, in api.ImportInput) (*api.ImportOutput, error) {
	hosts, err := b.Import(ctx, api.ImportInput{})
	if err != nil {
		return nil, err
	}
	all := &api.ImportOutput{Hosts: []api.ImportHost{}, Written: in.Write}
	type place struct{ name, file string }
	taken := map[place]bool{}
	for _, h := range hosts.Hosts {
		if !slices.ContainsFunc(h.Files, func(f api.ImportFile) bool { return f.State != "absent" }) {
			continue
		}
		in.Host = h.Name
		out, err := b.Import(ctx, in)
		if err != nil {
			return nil, err
		}
		all.Hosts = append(all.Hosts, out.Hosts...)
		for _, e := range out.Entries {
			at := place{e.Name, e.To}
			if e.State == api.ImportNew && taken[at] { // by a host before it, once that is written
				e = api.ImportEntry{Name: e.Name, From: e.From, To: e.To, State: api.ImportTaken}
			}
			taken[at] = taken[at] || e.State == api.ImportNew
			all.Entries = append(all.Entries, e)
		}
	}
	return all, nil
}

// hostsText lists the hosts with what was found of them.
func hostsText(out *api.ImportOutput) string {
	var p page
	for _, h := range out.Hosts {
		found := false
		for _, f := range h.Files {
			switch {
			case f.State == "absent":
			case f.Error != nil:
				p.block("", h.Name+": error: "+errorText(f.Error))
			case len(f.Servers) == 0:
				p.line("%s: %s: no servers", h.Name, word(f.Path))
			default:
				p.line("%s: %s: %s", h.Name, word(f.Path), word(strings.Join(f.Servers, ", ")))
			}
			found = found || f.State != "absent"
		}
		if !found {
			var paths []string
			for _, f := range h.Files {
				paths = append(paths, word(f.Path))
			}
			p.block("", h.Name+": not found; looked for\n    "+strings.Join(paths, "\n    "))
		}
	}
	return p.String()
}

func importText(out *api.ImportOutput) string {
	var p page
	found, read := false, false
	for _, h := range out.Hosts {
		for _, f := range h.Files {
			found, read = found || f.State != "absent", read || f.State == "read"
			if f.Error != nil {
				p.block("", "error: "+errorText(f.Error))
			}
		}
	}
	if !found {
		p.line("no file of it was found; looked for")
		for _, h := range out.Hosts {
			for _, f := range h.Files {
				p.line("    %s", word(f.Path))
			}
		}
		return p.String()
	}
	if read && len(out.Entries) == 0 {
		p.line("its files name no servers")
	}
	fresh := 0
	for _, e := range out.Entries {
		switch e.State {
		case api.ImportNew, api.ImportWritten:
			verb := "would be written to"
			if e.State == api.ImportWritten {
				verb = "written to"
			}
			fresh++
			p.line("%s: %s %s", word(e.Name), verb, word(e.To))
			p.block("    ", pretty(e.Entry))
		case api.ImportTaken:
			p.line("%s: left out: %s has a server of that name already", word(e.Name), word(e.To))
		default:
			p.block("", e.Name+": left out: "+errorText(e.Error))
		}
		for _, n := range e.Notes {
			p.block("    ", n)
		}
		for _, id := range e.Inputs {
			p.line("    give it once: mcpx servers input %s %s", fault.ShellWord(e.Name), fault.ShellWord(id))
		}
	}
	if fresh > 0 && !out.Written {
		p.line("nothing is written yet: --write does it")
	}
	return p.String()
}

// pretty is JSON with lines; what a terminal would obey is escaped in JSON already.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

func (v *invocation) serversInput(c *cli.Context) error {
	if err := takes(c, 1, 2); err != nil {
		return err
	}
	name, id, forget := c.Args().Get(0), c.Args().Get(1), c.Bool("forget")
	if err := named(c, name); err != nil {
		return err
	}
	b, err := v.openOwn(c.Context)
	if err != nil {
		return err
	}
	inputs, err := b.Inputs(c.Context, api.InputsInput{Server: name})
	if err != nil {
		return err
	}
	if c.NArg() == 1 {
		if forget {
			return fault.Usagef("servers input: which input of %s is to be forgotten?", name).Hintf("usage: %s", usage(c.Command))
		}
		return v.answer(inputs, func() string { return inputsText(inputs) })
	}
	at := slices.IndexFunc(inputs.Inputs, func(i api.ServerInput) bool { return i.ID == id })
	if at < 0 {
		var known []string
		for _, i := range inputs.Inputs {
			known = append(known, i.ID)
		}
		e := fault.NotFoundf("the server %q has no input %q", name, id)
		if len(known) > 0 {
			return e.Hintf("its inputs are %s", strings.Join(known, ", "))
		}
		return e.Hintf("its entry holds no ${input:…}")
	}
	give := api.GiveInput{Server: name, ID: id, Forget: forget}
	if !forget {
		if give.Value, err = v.readInput(c.Context, name, inputs.Inputs[at]); err != nil {
			return err
		}
	}
	out, err := b.Give(c.Context, give)
	if err != nil {
		return err
	}
	return v.answer(out, func() string {
		if out.Store == "" {
			return "forgotten\n"
		}
		return "kept in the " + out.Store + "\n"
	})
}

func inputsText(out *api.InputsOutput) string {
	var p page
	if len(out.Inputs) == 0 {
		p.line("%s asks a person for nothing", word(out.Server))
	}
	for _, i := range out.Inputs {
		state := "not given"
		if i.Store != "" {
			state = "given, in the " + i.Store
		}
		p.line("%s: %s", word(i.ID), state)
		if i.Description != "" {
			p.block("    ", i.Description)
		}
		if len(i.Options) > 0 {
			p.line("    one of %s", word(strings.Join(i.Options, ", ")))
		}
	}
	return p.String()
}

// maxInput bounds a value that is read from standard input.
const maxInput = 64 << 10

// readInput gets a value from the person at the terminal, or else from standard input.
func (v *invocation) readInput(ctx context.Context, server string, in api.ServerInput) (string, error) {
	if v.keyboard() != nil {
		value, err := v.askInput(ctx, server, in)
		if err == nil && value == "" {
			return "", fault.New(fault.Usage, "no value was given")
		}
		return value, err
	}
	if v.p.Stdin == nil || v.p.Terminal.Stdin {
		return "", fault.Usagef("there is nobody to ask for %s", in.ID).Hintf("give the value on standard input")
	}
	text, err := io.ReadAll(io.LimitReader(bufio.NewReader(v.p.Stdin), maxInput+1))
	switch {
	case err != nil:
		return "", fault.Usagef("reading standard input: %w", err)
	case len(text) > maxInput:
		return "", fault.Usagef("the value on standard input is longer than %d bytes", maxInput)
	}
	value := strings.TrimRight(string(text), "\r\n")
	if value == "" {
		return "", fault.Usagef("standard input holds no value for %s", in.ID).Hintf("mcpx servers input %s %s < FILE", fault.ShellWord(server), fault.ShellWord(in.ID))
	}
	return value, nil
}

// askInput asks the person at the terminal. An empty line is the default.
func (v *invocation) askInput(ctx context.Context, server string, in api.ServerInput) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "mcpx: the server %s needs %s", word(server), word(in.ID))
	if in.Description != "" {
		fmt.Fprintf(&b, ": %s", word(in.Description))
	}
	b.WriteString("\n")
	for i, o := range in.Options {
		fmt.Fprintf(&b, "  %d  %s\n", i+1, word(o))
	}
	b.WriteString("mcpx: its value")
	if in.Default != "" && !in.Password {
		fmt.Fprintf(&b, " (without one %s)", word(in.Default))
	}
	b.WriteString(": ")
	if in.Password && v.p.Hide != nil {
		show, err := v.p.Hide()
		if err != nil {
			return "", fault.Unavailablef("the terminal cannot be told not to show what is typed: %w", err).
				Hintf("give the value on standard input: mcpx servers input %s %s < FILE", fault.ShellWord(server), fault.ShellWord(in.ID))
		}
		defer show()
		b.WriteString("(not shown) ")
	}
	answer, err := v.typed(ctx, b.String())
	if in.Password && v.p.Hide != nil {
		_, _ = io.WriteString(v.stderr, "\n") // the one that was typed is not to be seen
	}
	if err != nil {
		return "", err
	}
	if answer == "" {
		return in.Default, nil
	}
	for i, o := range in.Options {
		if answer == fmt.Sprint(i+1) && !slices.Contains(in.Options, answer) {
			return o, nil
		}
	}
	return answer, nil
}

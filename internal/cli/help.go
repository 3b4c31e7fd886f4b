package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// helpDocument is what help prints with --json: the whole program, or one command.
type helpDocument struct {
	Usage     []string      `json:"usage"`
	Summary   string        `json:"summary"`
	Commands  []commandHelp `json:"commands,omitempty"`
	Flags     []flagHelp    `json:"flags"` // of the command and, in the help of the program, of all
	ExitCodes []exitHelp    `json:"exitCodes,omitempty"`
	// Description and Examples are those of one command.
	Description string   `json:"description,omitempty"`
	Examples    []string `json:"examples,omitempty"`
}

type commandHelp struct {
	Name    string `json:"name"`
	Group   string `json:"group"`
	Usage   string `json:"usage"`
	Summary string `json:"summary"`
}

// flagHelp describes one flag. Value is what it takes; empty if it takes nothing.
type flagHelp struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Value   string   `json:"value,omitempty"`
	// Optional says that the flag may stand alone; its value stands behind "=".
	Optional bool   `json:"optional,omitempty"`
	Doc      string `json:"doc"`
	Default  string `json:"default,omitempty"`
	Env      string `json:"env,omitempty"`
	Setting  string `json:"setting,omitempty"` // its key in a configuration file
}

type exitHelp struct {
	Code    int    `json:"code"`
	Meaning string `json:"meaning"`
}

// exitCodes says what the exit codes mean. All but three are those of an error's kind.
func exitCodes() []exitHelp {
	return []exitHelp{
		{0, "done"},
		{fault.Script.ExitCode(), "the script threw or can never settle, the tool answered with an error, or standard output was full"},
		{fault.Usage.ExitCode(), "usage, or a server, tool or script that is not there, or a broken configuration"},
		{fault.Unavailable.ExitCode(), "something is needed that cannot be reached: a server, the daemon, a folder to write to"},
		{fault.Internal.ExitCode(), "a fault of mcpx itself"},
		{fault.InputRequired.ExitCode(), "a question waits for an answer"},
		{fault.Denied.ExitCode(), "denied"},
		{fault.Timeout.ExitCode(), "a time limit passed"},
		{fault.Limit.ExitCode(), "another limit was reached"},
		{exitInterrupted, "interrupted, or the task was cancelled"},
		{exitBrokenPipe, "standard output was closed before everything was written"},
	}
}

func (v *invocation) help(c *cli.Context) error {
	if err := takes(c, 0, 2); err != nil {
		return err
	}
	if c.NArg() == 0 {
		return v.answer(programHelp(c.App), func() string { return programText(c.App) })
	}
	name := strings.Join(c.Args().Slice(), " ")
	name = cmp.Or(shorthand(name), name)
	var family []*cli.Command
	var names []string
	for _, o := range c.App.Commands {
		names = append(names, o.Name)
		if strings.HasPrefix(o.Name, name+" ") {
			family = append(family, o)
		}
	}
	if command := c.App.Command(name); command != nil {
		return v.answer(commandDocument(command), func() string { return commandText(command, family, v.verbose) })
	}
	if family != nil {
		return v.answer(familyDocument(name, family), func() string { return familyText(name, family) })
	}
	if page, ok := v.p.page(name); ok {
		return v.printPage(page)
	}
	return fault.Usagef("unknown command %q", name).
		Hintf(`%s"mcpx help" lists the commands`, didYouMean(name, slices.Concat(names, v.p.pages()), `"mcpx help %s"`))
}

// familyDocument and familyText are the help of commands that have their first word in common.
func familyDocument(name string, family []*cli.Command) helpDocument {
	doc := helpDocument{Usage: []string{"mcpx " + name + " COMMAND"}, Summary: "commands about " + name, Flags: []flagHelp{}}
	for _, c := range family {
		doc.Commands = append(doc.Commands, commandHelp{c.Name, c.Category, usage(c), c.Usage})
	}
	return doc
}

func familyRows(family []*cli.Command) [][2]string {
	var rows [][2]string
	for _, c := range family {
		rows = append(rows, [2]string{strings.TrimSpace(c.Name + " " + c.ArgsUsage), c.Usage})
	}
	return rows
}

func familyText(name string, family []*cli.Command) string {
	var p page
	p.line("mcpx %s: the commands that begin so", name)
	p.line("")
	p.rows("  ", familyRows(family))
	p.line("")
	p.line(`"mcpx help %s" tells more about one.`, family[0].Name)
	return p.String()
}

func usage(c *cli.Command) string {
	parts := []string{"mcpx", c.Name}
	if len(c.Flags) > 0 {
		parts = append(parts, "[flags]")
	}
	if c.ArgsUsage != "" {
		parts = append(parts, c.ArgsUsage)
	}
	return strings.Join(parts, " ")
}

var programUsage = []string{
	"mcpx [flags] COMMAND [flags] [arguments]",
	"mcpx SCRIPT.ts [arguments]",
	"mcpx 'CODE'",
}

// programIntro says what the words mean that all help uses.
const programIntro = `An MCP server is a program that offers tools. mcpx starts a server when one of its tools is first
called. NS is the name of a server, and NS.TOOL a tool of it.`

var firstSteps = [][2]string{
	{"mcpx ls", "list what there is: a demo server, until you have one of your own"},
	{"mcpx call demo.echo message=hi", "call one tool"},
	{"mcpx exec 'return await tools.demo.echo({ message: \"hi\" })'", "call tools from TypeScript"},
	{"mcpx servers add NAME -- COMMAND ARGS…", "add a server"},
	{"mcpx import", "see which servers other programs have that can be taken over"},
}

func programHelp(app *cli.App) helpDocument {
	doc := helpDocument{Usage: programUsage, Summary: app.Usage, Flags: describeFlags(app.Flags), ExitCodes: exitCodes()}
	for _, c := range app.Commands {
		doc.Commands = append(doc.Commands, commandHelp{c.Name, c.Category, usage(c), c.Usage})
	}
	return doc
}

func commandDocument(c *cli.Command) helpDocument {
	return helpDocument{
		Usage: []string{usage(c)}, Summary: c.Usage, Flags: describeFlags(c.Flags),
		Description: c.Description, Examples: strings.Split(c.UsageText, "\n"),
	}
}

func programText(app *cli.App) string {
	var p page
	p.line("mcpx: %s", app.Usage)
	p.section("Usage")
	for _, u := range programUsage {
		p.line("  %s", u)
	}
	p.line("")
	p.line("%s", programIntro)
	p.section("First steps")
	for _, step := range firstSteps {
		p.line("  %s", step[0])
		p.line("      %s", step[1])
	}
	spelled := func(c *cli.Command) string { return strings.TrimSpace(c.Name + " " + c.ArgsUsage) }
	width := 0 // one for all groups
	for _, c := range app.Commands {
		width = max(width, cells(spelled(c)))
	}
	for _, group := range groups {
		p.section(group)
		for _, c := range app.Commands {
			if c.Category == group {
				p.line("  %s  %s", padded(spelled(c), width), c.Usage)
			}
		}
	}
	p.line("")
	p.line("stop, restart and events are short for daemon stop, daemon restart and daemon events.")
	p.section("Flags of every command, before or after it")
	p.rows("  ", flagRows(describeFlags(app.Flags)))
	p.section("Exit codes")
	var rows [][2]string
	for _, e := range exitCodes() {
		rows = append(rows, [2]string{fmt.Sprintf("%3d", e.Code), e.Meaning})
	}
	p.rows("  ", rows)
	p.line("  run and exec pass on the code that a script gives to process.exit.")
	p.line("")
	p.line(`"mcpx help COMMAND" tells more about a command, "mcpx docs" lists the pages of the documentation.`)
	return p.String()
}

// commandText is the help of a command. The settings that most commands read are only named,
// unless all of it is wanted.
func commandText(c *cli.Command, family []*cli.Command, all bool) string {
	var p page
	p.line("mcpx %s: %s", c.Name, c.Usage)
	p.section("Usage")
	p.line("  %s", usage(c))
	if c.Description != "" {
		p.line("")
		p.line("%s", c.Description)
	}
	var own, grants, settings []flagHelp
	var common []string
	for _, f := range describeFlags(c.Flags) {
		switch {
		case f.Setting != "" && !all && shared(c, f.Name):
			common = append(common, f.Name)
		case f.Setting != "":
			settings = append(settings, f)
		case !f.Optional:
			own = append(own, f)
		case !strings.HasPrefix(f.Name, "--deny-"):
			grants = append(grants, f)
		}
	}
	if len(own) > 0 {
		p.section("Flags")
		p.rows("  ", flagRows(own))
	}
	if len(grants) > 0 {
		p.section("Permissions, besides those of --permissions; words are separated by commas")
		p.rows("  ", append(flagRows(grants), [2]string{"--deny-…[=WORDS]", "the same names: take this away again; without words, all of it"}))
	}
	p.section("Examples")
	for line := range strings.SplitSeq(c.UsageText, "\n") {
		p.line("  %s", line)
	}
	if len(family) > 0 {
		p.section("Commands that begin so")
		p.rows("  ", familyRows(family))
	}
	if len(settings) > 0 {
		p.section("Settings, which a configuration file or a variable can hold as well")
		for _, f := range settings {
			spelled := strings.Join(append([]string{f.Name}, f.Aliases...), ", ") + " " + f.Value
			if f.Default != "" {
				spelled += " (default " + f.Default + ")"
			}
			for i, line := range wrapped(spelled, 100) {
				p.line("%s%s", strings.Repeat(" ", 2+2*min(i, 1)), line)
			}
			for _, line := range wrapped(f.Doc, 90) {
				p.line("      %s", line)
			}
			p.line("      %s, %s", f.Setting, f.Env)
		}
	}
	if len(common) > 0 {
		p.section("Settings that most commands read")
		for _, line := range wrapped(strings.Join(common, ", "), 90) {
			p.line("  %s", line)
		}
		p.line(`"mcpx help -v %s" explains them.`, c.Name)
	}
	return p.String()
}

// shared reports whether a flag is one of a setting that most commands read. To commands that
// are about these settings they are not.
func shared(c *cli.Command, name string) bool {
	switch c.Name {
	case "daemon start", "settings list", "settings get":
		return false
	}
	return slices.ContainsFunc(settingFlags(serverSettings...), func(f cli.Flag) bool { return dashed(f.Names()[0]) == name })
}

// wrapped breaks text between words into lines of at most width cells.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for w := range strings.FieldsSeq(text) {
		if line != "" && cells(line)+1+cells(w) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+w, " ")
	}
	return append(lines, line)
}

func flagRows(flags []flagHelp) [][2]string {
	var rows [][2]string
	for _, f := range flags {
		spelled := strings.Join(append([]string{f.Name}, f.Aliases...), ", ")
		switch {
		case f.Optional:
			spelled += "[=" + f.Value + "]"
		case f.Value != "":
			spelled += " " + f.Value
		}
		rows = append(rows, [2]string{spelled, f.Doc})
	}
	return rows
}

func describeFlags(flags []cli.Flag) []flagHelp {
	out := []flagHelp{}
	for _, f := range flags {
		out = append(out, describeFlag(f))
	}
	return out
}

// describeFlag reads a flag off its declaration: in the text of a flag that takes a
// value, backquotes mark what the value is called.
func describeFlag(f cli.Flag) flagHelp {
	names := f.Names()
	h := flagHelp{Name: dashed(names[0])}
	for _, alias := range names[1:] {
		h.Aliases = append(h.Aliases, dashed(alias))
	}
	slices.Sort(h.Aliases)
	h.Value = valueWord(f)
	if s, ok := f.(*settingFlag); ok {
		h.Doc, h.Default, h.Env, h.Setting = s.info.Doc, s.info.Default, s.info.Env, s.info.Path
		return h
	}
	if g, ok := f.(*grantFlag); ok {
		h.Doc, h.Optional = g.usage, true
		return h
	}
	d := f.(cli.DocGenerationFlag) //nolint:forcetypeassert // all flags of urfave/cli are
	h.Doc = strings.ReplaceAll(d.GetUsage(), "`", "")
	return h
}

// valueWord is what the value of a flag is called; empty if it takes none.
func valueWord(f cli.Flag) string {
	switch f := f.(type) {
	case *settingFlag:
		return strings.ToUpper(f.info.Type)
	case *grantFlag:
		return f.words
	case cli.DocGenerationFlag:
		if _, rest, ok := strings.Cut(f.GetUsage(), "`"); ok && f.TakesValue() {
			word, _, _ := strings.Cut(rest, "`")
			return word
		}
	}
	return ""
}

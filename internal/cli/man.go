package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// man prints the manual as a page for man(1), made of what help says.
func (v *invocation) man(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	text := manual(c.App, v.p.Version, v.p.pages())
	doc := struct {
		Page string `json:"page"`
	}{text}
	return v.answer(doc, func() string { return text })
}

func manual(app *cli.App, version string, pages []string) string {
	var b strings.Builder
	macro := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	flags := func(list []flagHelp) {
		for _, row := range flagRows(list) {
			macro(".TP\n.B %s\n%s", roff(row[0]), roff(row[1]))
		}
	}
	macro(`.TH MCPX 1 "" "mcpx %s" "User Commands"`, roff(version))
	macro(".SH NAME\nmcpx \\- %s", roff(app.Usage))
	macro(".SH SYNOPSIS")
	for i, u := range programUsage {
		if i > 0 {
			macro(".br")
		}
		macro("%s", roff(u))
	}
	macro(".SH COMMANDS")
	for _, group := range groups {
		macro(".SS %s", roff(group))
		for _, c := range app.Commands {
			if c.Category != group {
				continue
			}
			macro(".TP\n.B %s\n%s.", roff(usage(c)), roff(strings.ToUpper(c.Usage[:1])+c.Usage[1:]))
			if c.Description != "" {
				macro(".IP\n.nf\n%s\n.fi", roff(c.Description))
			}
			var own []flagHelp
			for _, f := range describeFlags(c.Flags) {
				if f.Setting == "" {
					own = append(own, f)
				}
			}
			if len(own) > 0 {
				macro(".RS")
				flags(own)
				macro(".RE")
			}
		}
	}
	macro(".SH FLAGS OF EVERY COMMAND")
	flags(describeFlags(app.Flags))
	macro(".SH SETTINGS\nA setting is a flag of the commands that read it, a variable, and a key of a configuration file.")
	for _, s := range describeFlags(everySettingFlags()) {
		macro(".TP\n.BR %s \", \" %s\n%s", roff(s.Setting), roff(s.Env), roff(s.Doc))
		if s.Default != "" {
			macro("Default: %s.", roff(s.Default))
		}
	}
	macro(".SH EXIT STATUS")
	for _, e := range exitCodes() {
		macro(".TP\n.B %d\n%s", e.Code, roff(e.Meaning))
	}
	macro(".PP\nrun and exec pass on the code that a script gives to process.exit.")
	if len(pages) > 0 {
		macro(".SH SEE ALSO\nPages of the documentation, which \"mcpx docs PAGE\" prints:\n.br\n%s.", roff(strings.Join(pages, ", ")))
	}
	return b.String()
}

// everySettingFlags are the flags of all settings.
func everySettingFlags() []cli.Flag {
	var out []cli.Flag
	for _, f := range everySettingFlag() {
		out = append(out, f)
	}
	return out
}

// roff writes text so that no character of it is an instruction.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

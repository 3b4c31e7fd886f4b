package cli

import (
	"fmt"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// doctor prints what is found of servers and machine, by this process: the one that is to
// find out why nothing works must not depend on another.
func (v *invocation) doctor(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	b, err := v.openFor(c.Context, OpenOptions{Config: v.config, Settings: v.settings, Daemon: OwnProcess, Survey: true})
	if err != nil {
		return err
	}
	end := v.waiting("trying the servers", boundedCall)
	out, err := b.Doctor(c.Context, api.DoctorInput{})
	end()
	if err != nil {
		return err
	}
	if err := v.answer(out, func() string { return doctorText(out, v.verbose) }); err != nil {
		return err
	}
	if !out.Healthy {
		return status(fault.Script.ExitCode())
	}
	return nil
}

// doctorText has a line for each finding, with its hint below it, and with details if they
// are wanted. The last line counts them unless all is well.
func doctorText(out *api.DoctorOutput, details bool) string {
	var p page
	count := map[string]int{}
	for _, f := range out.Findings {
		count[f.State]++
		p.block("", strings.TrimRight(padded(f.State, len(api.Warning))+"  "+f.Subject+": "+strings.ReplaceAll(f.Message, "\n", "\n    "), " "))
		if f.Hint != "" {
			p.block("    ", f.Hint)
		}
		if details {
			p.details(f.Details)
		}
	}
	if count[api.Failed]+count[api.Warning] > 0 {
		p.line("")
		p.line("%s", tally(count))
	}
	return p.String()
}

// details writes what was seen below a finding: what takes one line as a table, and the rest
// after it.
func (p *page) details(all []api.Detail) {
	var rows [][2]string
	for _, d := range all {
		if !strings.Contains(d.Value, "\n") {
			rows = append(rows, [2]string{d.Name, d.Value})
		}
	}
	p.rows("      ", rows)
	for _, d := range all {
		if strings.Contains(d.Value, "\n") {
			p.line("      %s:", d.Name)
			p.block("        ", d.Value)
		}
	}
}

// tally counts findings by their state, the worst first.
func tally(count map[string]int) string {
	var parts []string
	for _, s := range []struct{ state, one, more string }{
		{api.Failed, "failed", "failed"}, {api.Warning, "warning", "warnings"}, {api.Fine, "ok", "ok"},
	} {
		switch n := count[s.state]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+s.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, s.more))
		}
	}
	return strings.Join(parts, ", ")
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// sessionName prints the session that a command belongs to.
func (v *invocation) sessionName(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	name, err := v.p.Session(OpenOptions{Settings: v.settings, Session: v.session})
	if err != nil {
		return err
	}
	if name == "" {
		return fault.NotFoundf("there is no session: nothing here names one").
			Hintf("name one with --session NAME, or set MCPX_SESSION_ID")
	}
	doc := struct {
		Name string `json:"name"`
	}{name}
	return v.answer(doc, func() string { return word(name) + "\n" })
}

// status shows the process that holds the servers. It starts none for that.
func (v *invocation) status(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	v.quiet = true
	out, err := running(v, c, api.Status, api.StatusInput{})
	if v.backend != nil {
		for _, n := range v.backend.Notices() {
			if out == nil || out.Problem == nil || !strings.HasPrefix(n, out.Problem.Message) {
				v.say("%s", n)
			}
		}
	}
	if errors.Is(err, api.ErrNoDaemon) {
		out = &api.StatusOutput{
			HealthOutput: api.HealthOutput{Version: v.p.Version, Pid: os.Getpid(), Started: time.Now().UTC()},
			Files:        []api.ConfigFile{}, Instances: []api.Instance{},
		}
	} else if err != nil {
		return err
	}
	if out.Others, err = v.others(c, false); err != nil {
		return err
	}
	return v.answer(out, func() string { return statusText(out) })
}

// others are the daemons that stand for other configuration files.
func (v *invocation) others(c *cli.Context, end bool) ([]api.OtherDaemon, error) {
	if v.p.Others == nil {
		return nil, nil
	}
	return v.p.Others(c.Context, OpenOptions{Config: v.config, Settings: v.settings}, end)
}

func statusText(out *api.StatusOutput) string {
	var p page
	if out.Daemon {
		p.line("daemon %s, process %d, since %s", word(out.Version), out.Pid, out.Started.UTC().Format("2006-01-02T15:04Z"))
	} else {
		p.line("no daemon is running")
	}
	if out.Endpoint != "" {
		p.line("  at %s", word(out.Endpoint))
	}
	for _, f := range out.Files {
		if f.State != "absent" {
			p.line("  %s %s", word(f.State), word(f.Path))
		}
	}
	if out.Problem != nil {
		p.block("  ", "the files as they are now are not in force: "+errorText(out.Problem))
	}
	for _, w := range out.Warnings {
		p.block("  ", "warning: "+w)
	}
	if out.Daemon || len(out.Instances) > 0 {
		p.section("Servers that run")
		if len(out.Instances) == 0 {
			p.line("  none")
		}
		var rows [][2]string
		for _, i := range out.Instances {
			rows = append(rows, [2]string{word(i.Server), word(instanceText(i))})
		}
		p.rows("  ", rows)
	}
	if len(out.Others) > 0 {
		p.section("Daemons of other configuration files, which mcpx stop --all ends as well")
		for _, o := range out.Others {
			p.line("  %s", otherText(o))
		}
	}
	return p.String()
}

// otherText is a daemon that stands for other configuration files, on one line.
func otherText(o api.OtherDaemon) string {
	files := "no file"
	if len(o.Files) > 0 {
		files = strings.Join(o.Files, ", ")
	}
	return word(fmt.Sprintf("process %d, since %s, of %s", o.Pid, o.Started.UTC().Format("2006-01-02T15:04Z"), files))
}

// instanceText is an instance on one line: who shares it, which process it is, and what
// it has done.
func instanceText(i api.Instance) string {
	parts := []string{cmp.Or(i.State, "running"), "key " + cmp.Or(i.Key, "global")}
	if i.Pid != 0 {
		parts = append(parts, fmt.Sprintf("pid %d", i.Pid))
	}
	parts = append(parts, plural(i.Calls, "call"))
	if i.InFlight > 0 {
		parts = append(parts, fmt.Sprintf("%d under way", i.InFlight))
	} else {
		parts = append(parts, "idle "+(time.Duration(i.IdleMillis)*time.Millisecond).Round(time.Second).String())
	}
	if len(i.Holders) > 0 {
		parts = append(parts, "held by "+strings.Join(i.Holders, ", "))
	}
	if i.Noise > 0 {
		parts = append(parts, plural(int64(i.Noise), "line")+" that were no messages")
	}
	if i.Note != "" {
		parts = append(parts, i.Note)
	}
	return strings.Join(parts, ", ")
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// running asks a daemon that runs already, and no other.
func running[In, Out any](v *invocation, c *cli.Context, o *api.Op[In, Out], in In) (*Out, error) {
	return askOf(v, c, RunningDaemon, o, in)
}

func askOf[In, Out any](v *invocation, c *cli.Context, which Daemon, o *api.Op[In, Out], in In) (*Out, error) {
	b, err := v.openFor(c.Context, OpenOptions{Config: v.config, Settings: v.settings, Daemon: which})
	if err != nil {
		return nil, err
	}
	return o.Do(c.Context, b, in)
}

// refresh asks the servers again.
func (v *invocation) refresh(c *cli.Context) error {
	ns, err := namespaceOf(c)
	if err != nil {
		return err
	}
	out, err := ask(v, c, api.Refresh, api.RefreshInput{Server: ns})
	if err != nil {
		return err
	}
	err = v.answer(out, func() string {
		var p page
		for _, s := range out.Servers {
			if s.Error != nil {
				p.block("", s.Name+": error: "+errorText(s.Error))
			} else {
				p.line("%s: %s", word(s.Name), plural(int64(s.Tools), "tool"))
			}
		}
		return p.String()
	})
	if err != nil {
		return err
	}
	for _, s := range out.Servers {
		if s.Error != nil {
			return status(fault.Script.ExitCode())
		}
	}
	return nil
}

// sessionList lists the sessions of the daemon; without a daemon there are none.
func (v *invocation) sessionList(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	out, err := running(v, c, api.ListSessions, api.SessionListInput{})
	if errors.Is(err, api.ErrNoDaemon) {
		out, err = &api.SessionListOutput{Sessions: []api.Session{}}, nil
	}
	if err != nil {
		return err
	}
	return v.answer(out, func() string {
		if len(out.Sessions) == 0 {
			return "no sessions\n"
		}
		var p page
		for _, s := range out.Sessions {
			text := plural(s.Calls, "call") + ", last used " + s.Used.UTC().Format("2006-01-02T15:04Z")
			if s.Lasting {
				text += ", lasts"
			}
			if len(s.Servers) > 0 {
				text += ": " + strings.Join(s.Servers, ", ")
			}
			p.rows("", [][2]string{{word(s.Name), word(text)}})
		}
		return p.String()
	})
}

// nameOf is the one argument of a command: a name.
func nameOf(c *cli.Context) (string, error) {
	if err := takes(c, 1, 1); err != nil {
		return "", err
	}
	return c.Args().First(), named(c, c.Args().First())
}

func (v *invocation) sessionRelease(c *cli.Context) error {
	name, err := nameOf(c)
	if err != nil {
		return err
	}
	out, err := running(v, c, api.ReleaseSession, api.SessionReleaseInput{Name: name})
	if err != nil {
		return noSession(name, err)
	}
	return v.answer(out, func() string {
		return "released " + word(out.Name) + "; " + plural(int64(out.Ended), "server") + " ended\n"
	})
}

func (v *invocation) sessionRestart(c *cli.Context) error {
	name, err := nameOf(c)
	if err != nil {
		return err
	}
	out, err := running(v, c, api.RestartSession, api.SessionRestartInput{Name: name})
	if err != nil {
		return noSession(name, err)
	}
	return v.answer(out, func() string {
		return plural(int64(out.Ended), "server") + " of " + word(out.Name) + " ended; the next call starts them again\n"
	})
}

// noSession is the error of a session where there is no daemon, which has the sessions.
func noSession(name string, err error) error {
	if errors.Is(err, api.ErrNoDaemon) {
		return fault.NotFoundf("no session is called %q: %w", name, api.ErrNoDaemon)
	}
	return err
}

// daemonStart starts the daemon unless it runs.
func (v *invocation) daemonStart(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	out, err := askOf(v, c, StartedDaemon, api.Health, api.HealthInput{})
	if err != nil {
		return err
	}
	return v.answer(out, func() string {
		return fmt.Sprintf("the daemon runs: %s, process %d\n", word(out.Version), out.Pid)
	})
}

// daemonStop ends the daemon if one runs, and with --all those of other files.
func (v *invocation) daemonStop(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	v.quiet = true
	out, err := running(v, c, api.StopDaemon, api.ShutdownInput{})
	none := errors.Is(err, api.ErrNoDaemon)
	if none {
		out, err = &api.ShutdownOutput{}, nil
	}
	if err != nil {
		return err
	}
	others, err := v.others(c, c.Bool("all"))
	if err != nil {
		return err
	}
	if c.Bool("all") {
		out.Others = others
	} else if len(others) > 0 {
		text := "a daemon of other configuration files still runs"
		if len(others) > 1 {
			text = fmt.Sprintf("%d daemons of other configuration files still run", len(others))
		}
		v.say("%s\nmcpx status shows them, mcpx stop --all ends them as well", text)
	}
	return v.answer(out, func() string {
		var p page
		switch {
		case !none:
			p.line("the daemon has ended: process %d", out.Pid)
		case len(out.Others) == 0:
			p.line("no daemon is running")
		}
		for _, o := range out.Others {
			p.line("a daemon of other files has ended: %s", otherText(o))
		}
		return p.String()
	})
}

// daemonRestart puts another daemon in the place of the one that runs.
func (v *invocation) daemonRestart(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	v.quiet = true
	out, err := running(v, c, api.RestartDaemon, api.RestartInput{})
	v.quiet = false
	if errors.Is(err, api.ErrNoDaemon) {
		return v.daemonStart(c)
	}
	if err != nil {
		return err
	}
	return v.answer(out, func() string { return "the daemon has started again\n" })
}

// daemonEvents prints events as they come.
func (v *invocation) daemonEvents(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	in, err := input[api.EventsInput](c)
	if err != nil {
		return err
	}
	if v.json {
		return fault.Usagef("events prints documents until it is interrupted, and --json is one").
			Hintf("leave --json out: every line is a JSON document")
	}
	b, err := v.openFor(c.Context, OpenOptions{Config: v.config, Settings: v.settings, Daemon: RunningDaemon})
	if err != nil {
		return err
	}
	err = b.Events(c.Context, in, func(e api.Event) error { return v.jsonLine(e) })
	if errors.Is(err, context.Canceled) {
		return context.Cause(c.Context)
	}
	return err
}

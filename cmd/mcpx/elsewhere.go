package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/cli"
	"mcpx/internal/daemon"
	"mcpx/internal/fault"
	"mcpx/internal/run"
	"mcpx/internal/settings"
)

// maxToken is more than a token has.
const maxToken = 4 << 10

// endpoint is the daemon that daemon.endpoint names; nil if it names none, or the command is
// about this process or starts the daemon of this machine.
func (c *command) endpoint() (*daemon.Endpoint, error) {
	text := settings.DaemonEndpoint.Get(c.Settings)
	if text == "" || c.Daemon == cli.OwnProcess || c.Daemon == cli.StartedDaemon {
		return nil, nil
	}
	return daemon.ParseEndpoint(text)
}

// reachThere connects to the daemon of an endpoint, and returns what asks it for this
// command.
func (c *command) reachThere(ctx context.Context, e *daemon.Endpoint) (*daemon.Link, *api.Remote, error) {
	o := daemon.Reach{Environ: os.Environ(), Dir: c.env.Dir, Stderr: os.Stderr}
	if file := settings.DaemonTokenFile.Get(c.Settings); file != "" && e.Over() {
		if !filepath.IsAbs(file) {
			file = filepath.Join(c.env.Dir, file)
		}
		f, err := os.Open(file)
		if err != nil {
			return nil, nil, fault.Usagef("daemon.tokenFile: %w", err)
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, maxToken))
		if err != nil {
			return nil, nil, fault.Usagef("daemon.tokenFile: %w", err)
		}
		o.Token = strings.TrimSpace(string(text))
	}
	defer c.reaching()()
	link, base, err := e.Reach(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	caller := c.caller
	if !e.Here() {
		// Folders, variables and processes of this machine mean nothing there, and are no
		// business of whoever listens on the way.
		caller.Dir, caller.Environ, caller.Pid = "", nil, 0
	}
	return link, api.NewRemote(link.HTTP, base, caller), nil
}

// through has the daemon of an endpoint answer.
func (b *backend) through(ctx context.Context, e *daemon.Endpoint) error {
	link, remote, err := b.c.reachThere(ctx, e)
	if err != nil {
		return err
	}
	b.there, b.link, b.Service = e, link, remote
	b.notices = append(b.notices, link.Notices...)
	if release, _, _ := strings.Cut(link.Version, "+"); release != version { // another machine has a build of its own
		b.notices = append(b.notices, fmt.Sprintf("the daemon at %s is mcpx %s, and this is %s", link.Record.Endpoint, link.Version, version))
	}
	return nil
}

// led decides about a script for which a daemon was named, or the daemon is to run it, and
// reports whether that is the case.
func (b *backend) led(ctx context.Context) (bool, error) {
	c := b.c
	e, own, err := c.there()
	if err != nil {
		return false, err
	}
	switch {
	case e != nil:
		b.leads = true
		return true, b.through(ctx, e)
	case own && settings.DaemonInline.Get(c.Settings) == "always":
		return false, unled(c.without())
	case own:
		reached, err := c.reach(ctx, b.say)
		switch {
		case err != nil:
			return false, err
		case reached == nil:
			return false, unled(cmp.Or(c.without(), "none is running and none may be started"))
		}
		b.leads, b.link, b.place = true, reached.link, reached.place
		b.Service = api.NewRemote(b.link.HTTP, daemon.BaseURL, c.caller)
		b.notices = append(b.notices, reached.link.Notices...)
		return true, nil
	}
	if e, err = c.endpoint(); err != nil || e == nil {
		return false, err
	}
	if err := b.through(ctx, e); err != nil {
		return false, err
	}
	process, err := c.own()
	if err != nil {
		return false, err
	}
	process.runner.Caller, process.runner.Tools = asker{c, b.Service}, b.Service
	return true, nil
}

func unled(why string) error {
	return fault.Unavailablef("the script cannot run in the daemon: %s", why).
		Hintf("mcpx daemon start starts one; --local runs it here")
}

// elsewhere runs a script in a daemon: its text is sent with what it imports, and what it
// prints comes back as it happens.
func (b *backend) elsewhere(ctx context.Context, in api.ExecInput, streams api.Streams) (*api.ExecOutput, error) {
	own, err := b.c.own()
	if err != nil {
		return nil, err
	}
	here := b.there == nil || b.there.Here()
	if checked := in.Typecheck; checked != "" && checked != api.TypecheckOff {
		checker := own.runner.As(func(r *run.Runner) { r.Tools = b.Service })
		report, err := checker.Check(ctx, in)
		if err != nil {
			return nil, err
		}
		if report != nil {
			return &api.ExecOutput{Error: report, ExitCode: report.Kind.ExitCode()}, nil
		}
		in.Typecheck = ""
	}
	whole := in.Code // with what it imports
	if in.File != "" && run.MayImport(in.Code) && (!here || streams.Stdin != nil) {
		switch made, report, err := own.runner.Whole(ctx, in); {
		case err == nil && report == nil:
			whole = made
		case here: // it fails there in the same way
		case report != nil:
			return &api.ExecOutput{Error: report, ExitCode: report.Kind.ExitCode()}, nil
		default:
			return nil, err
		}
	}
	if !here {
		in.Code, in.File = whole, ""
	}
	if streams.Stdin != nil && readsInput(whole) {
		text, err := io.ReadAll(streams.Stdin)
		if err != nil {
			return nil, fault.Unavailablef("reading standard input: %w", err)
		}
		in.Stdin = string(text)
	}
	in.Output = api.OutputStructured
	var folder string // of this machine, into which artifacts are put
	if !here && in.Artifacts != nil && in.Artifacts.Dir != "" {
		if in.Task != nil {
			return nil, fault.Usagef("a task in a daemon elsewhere puts no artifacts onto this machine").Hintf("leave --artifacts out, and take them with mcpx artifact get ID")
		}
		wish := *in.Artifacts
		folder, wish.Dir, wish.SharedFS = wish.Dir, "", false
		in.Artifacts = &wish
	}
	if in.Task != nil {
		return b.Service.Exec(ctx, in)
	}
	in.Peer, in.Consent = streams.Peer, streams.Consent
	p := &printer{streams: streams, frames: in.Frames}
	if p.frames == nil {
		p.frames = streams.Frames
	}
	if streams.Stdout != nil || p.frames != nil || streams.Progress != nil {
		in.Frames = p.frame
	}
	if streams.Stdout != nil {
		in.Output = api.OutputStream
	}
	out, err := b.Service.Exec(ctx, in)
	if err != nil {
		return nil, err
	}
	out.Printed, out.Implied = p.printed, p.implied
	if !here {
		for i := range out.Artifacts {
			out.Artifacts[i].Path = "" // a path of that machine means nothing here
		}
	}
	if folder != "" {
		b.fetchAll(ctx, out, folder)
	}
	return out, nil
}

// readsInput reports whether a script may read standard input: it has one of the words
// that such a script has, or reads the file 0. Only then is it read, to be sent.
func readsInput(code string) bool {
	for _, word := range []string{"stdin", "input", "readline"} {
		if strings.Contains(code, word) {
			return true
		}
	}
	return regexp.MustCompile(`\bread(Sync|File|FileSync)?\s*\(\s*0\s*[,)]|\bfd:\s*0\b`).MatchString(code)
}

// printer writes what a script elsewhere prints to the streams of this command.
type printer struct {
	streams          api.Streams
	frames           func(api.Frame) error
	printed, implied bool
}

func (p *printer) frame(f api.Frame) error {
	if p.frames != nil {
		if err := p.frames(f); err != nil {
			return err
		}
	}
	stdout, stderr := p.streams.Stdout, p.streams.Stderr
	switch f.Type {
	case "stdout", "emit":
		p.printed = true
		if stdout == nil {
			return nil
		}
		text := []byte(f.Text)
		if f.Type == "emit" {
			text = append(bytes.Clone(f.Value), '\n')
		}
		_, err := stdout.Write(text)
		return err
	case "stderr", "log":
		if stderr == nil {
			return nil
		}
		text := f.Text
		if f.Type == "log" {
			text += "\n"
			if f.Level != "info" {
				text = f.Level + ": " + text
			}
		}
		_, _ = io.WriteString(stderr, text) // standard error may fail without harm
	case "progress":
		if p.streams.Progress != nil && f.Done != nil {
			p.streams.Progress(api.Progress{Done: *f.Done, Total: f.Total, Message: f.Message})
		}
	case "result":
		p.implied = f.Implied
	}
	return nil
}

// bridgeToDaemon is the process at the other end of ssh: it leads its standard streams to
// the daemon of this machine, which is started if none runs.
func bridgeToDaemon(ctx context.Context, dir string) int {
	failed := func(err error) int {
		e := fault.From(err)
		fmt.Fprintf(os.Stderr, "mcpx: %s\n", e.Message)
		if e.Hint != "" {
			fmt.Fprintf(os.Stderr, "  %s\n", e.Hint)
		}
		return e.Kind.ExitCode()
	}
	opened, err := open(ctx, cli.OpenOptions{Settings: &settings.Set{}, Daemon: cli.StartedDaemon}, dir, nil)
	if err != nil {
		return failed(err)
	}
	defer opened.Close()
	b, ok := opened.(*backend)
	if !ok || b.link == nil {
		return failed(fault.Unavailablef("there is no daemon to lead to"))
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", b.place.Socket)
	if err != nil {
		return failed(fault.Unavailablef("the daemon cannot be reached: %w", err))
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	daemon.Bridge(os.Stdin, os.Stdout, conn)
	return 0
}
